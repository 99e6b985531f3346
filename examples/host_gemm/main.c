/* The main job of libkmb on a machine without a GPU: how fast does this CPU run
 * the matrix products of a language model's layer, and what limits it? */
#include "layer.h"
#include "options.h"
#include "screen.h"
#include "triad.h"

#include <cblas.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile int32_t cancel;

static void on_interrupt(int signal) {
  (void)signal;
  cancel = 1;
}

typedef struct job {
  options options;
  screen screen;
  kmb_device *device;
  kmb_results *results;
  FILE *json; /* NULL: not wanted */
  kmb_metadata_params metadata;
  unsigned threads;
  uint64_t llc_bytes;
  unsigned failed;
} job;

static int complain(const char *what) {
  fprintf(stderr, "host_gemm: %s: %s\n", what, kmb_last_error(NULL, NULL));
  return 1;
}

static kmb_status write_file(void *file, const void *data, size_t size) {
  return fwrite(data, 1, size, file) == size ? KMB_OK : KMB_ERR_IO;
}

static int open_device(job *j) {
  kmb_hooks hooks = kmb_hooks_init();
  hooks.progress = screen_progress;
  hooks.progress_user = &j->screen;
  hooks.cancel = &cancel;
  kmb_device_params params = kmb_device_params_init();
  params.hooks = &hooks;
  params.threads = j->options.threads;
  params.llc_bytes = j->options.llc_bytes;
  if (kmb_device_open("host", &params, &j->device))
    return complain("opening the host");
  uint64_t threads;
  if (kmb_device_attr_u64(j->device, KMB_DEVICE_THREADS, &threads))
    return complain("number of cores");
  if (kmb_device_attr_u64(j->device, KMB_DEVICE_LLC_BYTES, &j->llc_bytes))
    return complain("size of the last-level cache (give it with --llc MIB)");
  j->threads = (unsigned)threads;
  return 0;
}

static const char *device_text(const job *j, kmb_device_attr attr) {
  const char *text;
  return kmb_device_attr_text(j->device, attr, &text) ? "unknown" : text;
}

/* OpenBLAS knows processors by model number. One that is newer than the library
 * gets the kernels of a Pentium 4. */
static void warn_of_old_kernels(const char *core) {
#if defined(__x86_64__)
  if (strcmp(core, "Prescott") != 0 || !__builtin_cpu_supports("avx2")) return;
  printf("OpenBLAS does not know this processor and uses SSE3 kernels, which "
         "lose a third\nto a half. Run with OPENBLAS_CORETYPE=%s to choose "
         "better ones.\n",
         __builtin_cpu_supports("avx512f") ? "SkylakeX" : "Haswell");
#else
  (void)core;
#endif
}

/* OpenBLAS may have been built for fewer threads than there are cores. */
static int open_blas(job *j) {
  openblas_set_num_threads((int)j->threads);
  int got = openblas_get_num_threads();
  if (got == (int)j->threads) return 0;
  fprintf(stderr,
          "host_gemm: OpenBLAS takes %d threads, not %u; give --threads %d\n",
          got, j->threads, got);
  return 1;
}

static void keep(job *j, kmb_status status, kmb_result *result) {
  screen_clear(&j->screen);
  if (!status) status = kmb_results_add(j->results, result);
  if (!status) return;
  kmb_result_destroy(result);
  if (status == KMB_ERR_CANCELLED) return;
  char at[32] = "";
  if (j->screen.tokens) snprintf(at, sizeof at, " at %u", j->screen.tokens);
  fprintf(stderr, "host_gemm: %s%s: %s\n", j->screen.name, at,
          kmb_last_error(NULL, NULL));
  j->failed++;
}

static void next_point(job *j, const char *name, unsigned tokens) {
  j->screen.point++;
  j->screen.name = name;
  j->screen.tokens = tokens;
}

static void measure(job *j) {
  const options *o = &j->options;
  unsigned wanted = 0;
  for (unsigned i = 0; i < PROJECTIONS; i++)
    wanted += options_wants(o, layer_projections[i].name);
  bool triad = options_wants(o, "triad");
  j->screen.points = wanted * o->token_counts + triad;
  for (unsigned t = 0; t < o->token_counts; t++)
    for (unsigned i = 0; i < PROJECTIONS && !cancel; i++) {
      const projection *p = &layer_projections[i];
      if (!options_wants(o, p->name)) continue;
      next_point(j, p->name, o->tokens[t]);
      kmb_result *result = NULL;
      kmb_status status = layer_measure(j->device, p, o->tokens[t], j->threads,
                                        &j->metadata, &result);
      keep(j, status, result);
    }
  if (triad && !cancel) {
    next_point(j, "triad", 0);
    kmb_result *result = NULL;
    kmb_status status = triad_measure(j->device, j->llc_bytes, j->threads,
                                      &j->metadata, &result);
    keep(j, status, result);
  }
}

static int complain_of_json(const job *j) {
  fprintf(stderr, "host_gemm: %s: %s\n", j->options.json, strerror(errno));
  return 1;
}

/* Before minutes of measuring, not after. What the file holds stays until there
 * is something better. */
static int open_json(job *j) {
  if (strcmp(j->options.json, "-") == 0) return 0;
  j->json = fopen(j->options.json, "a");
  return j->json ? 0 : complain_of_json(j);
}

static int write_json(job *j) {
  const char *path = j->options.json;
  if (!j->json) return 0;
  /* EINVAL: a pipe or a device, which has nothing to cut. */
  if (ftruncate(fileno(j->json), 0) && errno != EINVAL)
    return complain_of_json(j);
  kmb_status status = kmb_results_write_json(j->results, write_file, j->json);
  if (fclose(j->json) && !status) status = KMB_ERR_IO;
  j->json = NULL;
  if (status) {
    fprintf(stderr, "host_gemm: %s: %s\n", path, kmb_status_text(status));
    return 1;
  }
  printf("\nAll values, samples and metadata: %s\n", path);
  return 0;
}

static int report(job *j) {
  if (!kmb_results_count(j->results)) {
    fprintf(stderr, "host_gemm: nothing was measured\n");
    return 1;
  }
  if (kmb_results_write_table(j->results, write_file, stdout))
    return complain("table");
  return write_json(j);
}

static int run(job *j) {
  if (open_json(j) || open_device(j) || open_blas(j)) return 1;
  if (kmb_results_create(NULL, &j->results)) return complain("results");
  char threads[16];
  snprintf(threads, sizeof threads, "%d", openblas_get_num_threads());
  const char *core = openblas_get_corename();
  const kmb_pair pairs[] = {{"openblas_core", core},
                            {"openblas_config", openblas_get_config()},
                            {"openblas_threads", threads}};
  j->metadata = kmb_metadata_params_init();
  j->metadata.pairs = pairs;
  j->metadata.pair_count = sizeof pairs / sizeof *pairs;
  printf("One Llama-3.1-8B layer in fp32 on %s\n"
         "%u core%s, last-level cache %.0f MiB (%s), OpenBLAS with %s "
         "kernels\n",
         device_text(j, KMB_DEVICE_NAME), j->threads,
         j->threads == 1 ? "" : "s", (double)j->llc_bytes / 0x1p20,
         device_text(j, KMB_DEVICE_LLC_SOURCE), core);
  warn_of_old_kernels(core);
  printf("\n");
  fflush(stdout);
  measure(j);
  int bad = report(j);
  if (cancel) return 130;
  return bad || j->failed;
}

int main(int argc, char **argv) {
  job j = {.failed = 0};
  switch (options_read(argc, argv, &j.options)) {
  case OPTIONS_HELP:
    return 0;
  case OPTIONS_BAD:
    return 2;
  case OPTIONS_RUN:
    break;
  }
  struct sigaction action = {.sa_handler = on_interrupt,
                             .sa_flags = SA_RESETHAND};
  sigaction(SIGINT, &action, NULL);
  screen_open(&j.screen);
  int status = run(&j);
  if (j.json) fclose(j.json);
  kmb_results_destroy(j.results);
  kmb_device_close(j.device);
  return status;
}
