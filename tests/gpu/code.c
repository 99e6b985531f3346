/* Captures of code on one GPU: whether an image is the file that was loaded,
 * whether the driver's attributes are those that the file states, and whether
 * measuring is as before afterwards. JSON to the file that is named.
 *
 * usage: gpu_code [OUTPUT.json [KERNELS.cubin [NAME.d]]]
 *
 * NAME.d gets the captured image, and NAME.json a result that lists it, for
 * `kmb code NAME.json`. */
#include <stdlib.h>

#include "../require.h"
#include "gpu.h"
#include "report.h"

enum { REGISTERS = 32, STACK = 80, THREADS = 1024, FILE_MOST = 1 << 16 };
static const char spills[] = "_Z6spillsILi36EEvPKfPf";

static gpu g;
static char file[FILE_MOST];

typedef struct work {
  kmbi_cu_module module;
  kmbi_cu_function function;
  kmbi_cu_pointer data;
} work;

static void wait(void) {
  while (g.cu.cuStreamQuery(g.stream) == KMBI_CU_NOT_READY) {
  }
}

static uint64_t load(const char *path) {
  FILE *f = path ? fopen(path, "rb") : NULL;
  if (!f) return 0;
  size_t size = fread(file, 1, sizeof file, f);
  fclose(f);
  REQUIRE(size && size < sizeof file);
  return size;
}

static kmb_status launch(void *user) {
  work *w = user;
  kmbi_cu_pointer from = w->data, to = w->data;
  void *arguments[] = {&from, &to};
  if (!w->module) {
    CU(&g, cuModuleLoadData, &w->module, file);
    CU(&g, cuModuleGetFunction, &w->function, w->module, spills);
  }
  CU(&g, cuLaunchKernel, w->function, 1, 1, 1, THREADS, 1, 1, 0, g.stream,
     arguments, NULL);
  wait();
  return KMB_OK;
}

static kmb_code_kernel only_kernel(const kmb_code *code) {
  kmb_code_info info = kmb_code_info_init();
  kmb_code_kernel k = kmb_code_kernel_init();
  REQUIRE_OK(kmb_code_get_info(code, &info));
  REQUIRE_EQ(info.kernels, 1);
  REQUIRE_EQ(info.graph_launches + info.elsewhere, 0);
  REQUIRE_OK(kmb_code_get_kernel(code, 0, &k));
  return k;
}

static kmb_status put(void *user, const void *data, size_t bytes) {
  return fwrite(data, 1, bytes, user) == bytes ? KMB_OK : KMB_ERR_IO;
}

/* FOLDER is NAME.d. */
static void save(const kmb_code *code, const char *folder) {
  const double ns[] = {1};
  kmb_bench_params p = kmb_bench_params_init();
  kmb_code_kernel k = kmb_code_kernel_init();
  kmb_result *r = NULL;
  char path[4096];
  REQUIRE_OK(kmb_code_save(code, folder));
  p.name = "captured";
  p.flags = KMB_BENCH_NO_CEILINGS;
  p.code = code;
  REQUIRE_OK(kmb_result_from_samples(g.device, &p, ns, 1, 0, &r));
  REQUIRE_EQ(kmb_result_code_count(r), 1);
  REQUIRE_OK(kmb_result_code(r, 0, &k));
  REQUIRE(k.file && k.code_hash);
  REQUIRE_EQ(kmb_result_code_match(r, r), KMB_CODE_SAME);
  REQUIRE(strlen(folder) > 2);
  snprintf(path, sizeof path, "%.*s.json", (int)strlen(folder) - 2, folder);
  FILE *to = fopen(path, "w");
  REQUIRE(to);
  REQUIRE_OK(kmb_result_write_json(r, put, to));
  REQUIRE_EQ(fclose(to), 0);
  kmb_result_destroy(r);
}

/* The captured image is the file to the byte; what the driver says is what
 * cuobjdump reads in it. */
static void a_cubin_is_captured(uint64_t size, const char *folder) {
  work w = {.module = NULL};
  kmb_code *code = NULL;
  char hash[KMB_CODE_HASH_SIZE];
  CU(&g, cuMemAlloc, &w.data, sizeof(float) * 36 * 1024);
  REQUIRE_OK(kmb_code_capture(g.device, launch, &w, &code));
  kmb_code_kernel k = only_kernel(code);
  printf("%s on %s: %llu registers, %llu B local, %llu threads at most, %llu "
         "blocks a multiprocessor, image %s%s%s\n",
         k.name, k.arch, (unsigned long long)k.registers,
         (unsigned long long)k.local_bytes, (unsigned long long)k.max_threads,
         (unsigned long long)k.blocks_per_unit, k.hash ? k.hash : "none",
         k.reason ? ": " : "", k.reason ? k.reason : "");
  REQUIRE_STR(k.name, spills);
  REQUIRE_OK(kmb_code_hash(file, size, hash));
  REQUIRE_STR(k.hash, hash);
  REQUIRE(k.flags & KMB_CODE_HAS_ATTRIBUTES);
  REQUIRE_EQ(k.registers, REGISTERS);
  REQUIRE(k.local_bytes >= STACK);
  REQUIRE_EQ(k.max_threads, THREADS);
  REQUIRE_EQ(k.block_x, THREADS);
  REQUIRE(k.flags & KMB_CODE_HAS_OCCUPANCY);
  REQUIRE(k.blocks_per_unit >= 1);
  /* Where its instructions stand, as kmb code reads the file. */
  REQUIRE_EQ(k.code_bytes % 128, 0);
  REQUIRE(k.code_bytes && k.code_offset + k.code_bytes <= size);
  REQUIRE_OK(kmb_code_hash(file + k.code_offset, k.code_bytes, hash));
  REQUIRE_STR(k.code_hash, hash);
  REQUIRE_STR(k.file, "_Z6spillsILi36EEvPKfPf.cubin");
  if (folder) save(code, folder);
  kmb_code_destroy(code);
  /* Again: its image was loaded before now. */
  REQUIRE_OK(kmb_code_capture(g.device, launch, &w, &code));
  k = only_kernel(code);
  REQUIRE(!k.hash);
  REQUIRE_HAS(k.reason, "loaded before");
  REQUIRE_EQ(k.registers, REGISTERS);
  kmb_code_destroy(code);
  CU(&g, cuModuleUnload, w.module);
  CU(&g, cuMemFree, w.data);
}

static kmb_status spin_once(void *user) {
  const kmb_launch l = {.struct_size = sizeof l, .stream = g.stream};
  kmb_status status = spin_launch(user, &l);
  wait();
  return status;
}

/* The middle of several measurements, each with events of its own: what a pair
 * costs differs by 0.1 us from one to the next. */
static double middle(spin_work *w) {
  enum { ROUNDS = 9 };
  double ns[ROUNDS];
  kmb_bench_params p = kmb_bench_params_init();
  p.launch = spin_launch;
  p.launch_user = w;
  p.timer = KMB_TIMER_EVENT;
  p.cache = KMB_CACHE_WARM;
  for (int i = 0; i < ROUNDS; i++) {
    kmb_result *r = NULL;
    REQUIRE_OK(kmb_bench(g.device, &p, &r));
    REQUIRE_OK(kmb_result_f64(r, KMB_VALUE_TIME, &ns[i]));
    kmb_result_destroy(r);
  }
  return median(ns, ROUNDS);
}

static double change(spin_work *w) {
  double before = middle(w);
  kmb_code *code = NULL;
  REQUIRE_OK(kmb_code_capture(g.device, spin_once, w, &code));
  kmb_code_destroy(code);
  double after = middle(w);
  printf("EVENT before %.1f ns, after a capture %.1f ns: %+.3f%%\n", before,
         after, 100 * (after / before - 1));
  return after / before - 1;
}

int main(int argc, char **argv) {
  gpu_open(&g, "cuda:0", NULL);
  if (gpu_cupti_is_busy()) {
    puts("SKIPPED: another tool holds CUPTI");
    gpu_close(&g);
    return 77;
  }
  kmbi_cu_pointer out = 0;
  CU(&g, cuMemAlloc, &out, 2 * sizeof(uint64_t));
  spin_work w = {.g = &g,
                 .kernel = gpu_kernel(&g, "test_spin"),
                 .cycles = (uint64_t)(20000 * g.ghz),
                 .out = out};
  double shift = change(&w);
  uint64_t size = load(argc > 2 ? argv[2] : NULL);
  if (size)
    a_cubin_is_captured(size, argc > 3 ? argv[3] : NULL);
  else
    puts("no cubin was named: its capture was not tried");
  FILE *json = argc > 1 ? fopen(argv[1], "w") : NULL;
  if (json) {
    fprintf(json, "{\"change_pct\": %.4f, \"cubin\": %s}\n", 100 * shift,
            size ? "true" : "false");
    REQUIRE_EQ(fclose(json), 0);
  }
  CU(&g, cuMemFree, out);
  gpu_close(&g);
  REQUIRE(shift < 0.005 && shift > -0.005);
  return 0;
}
