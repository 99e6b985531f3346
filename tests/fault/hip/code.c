/* Captures of code on the virtual AMD GPU: what is in them, and what is said of
 * what is not.
 *
 * usage: code FOLDER    (tests/data/code) */
#define _GNU_SOURCE /* memmem */
#include "code_work.h"

#include <sys/stat.h>

static void kernels_have_their_configuration_and_image(void) {
  work *w = start();
  kmb_code *code = capture(w);
  REQUIRE_EQ(info_of(code).kernels, KERNELS);
  REQUIRE_EQ(info_of(code).images, 1);
  REQUIRE_EQ(info_of(code).graph_launches + info_of(code).elsewhere, 0);
  all_is_known_of_the_first(code);
  kmb_code_kernel k = kernel_of(code, 1);
  REQUIRE_STR(k.name, "turn");
  REQUIRE_EQ(k.launches, 1);
  REQUIRE_EQ(k.static_shared_bytes, 1024);
  REQUIRE_EQ(k.dynamic_shared_bytes, 16384);
  REQUIRE_EQ(k.blocks_per_unit, 3);
  k = kernel_of(code, 2);
  REQUIRE_STR(k.name, "spills");
  REQUIRE_EQ(k.grid_x, 3);
  REQUIRE_EQ(k.registers, 24);
  REQUIRE_EQ(k.scalar_registers, 14);
  REQUIRE_EQ(k.spilled_registers, 18);
  REQUIRE_EQ(k.spilled_scalar_registers, 0);
  REQUIRE_EQ(k.local_bytes, 68);
  k = kernel_of(code, 3);
  REQUIRE_STR(k.name, "_Z5scalePff");
  if (k.demangled) REQUIRE_STR(k.demangled, "scale(float*, float)");
  REQUIRE(!k.reason);
  REQUIRE_EQ(k.block_x, 256);
  k = kernel_of(code, 4);
  REQUIRE_STR(k.name, "_Z5scalePff");
  REQUIRE_EQ(k.block_x, 128);
  REQUIRE_EQ(k.grid_x, 3);
  kmb_code_destroy(code);
  finish(w);
}

static void what_older_versions_tell_is_read(void) {
  static work w;
  reset();
  sim_set()->prof_version = 600;
  open_as(&w, "hip:0:trace");
  kmb_code *code = capture(&w);
  all_is_known_of_the_first(code);
  kmb_code_destroy(code);
  finish(&w);
}

static void a_last_block_that_is_not_full_counts(void) {
  work *w = start();
  sim_set()->ragged = true;
  kmb_code *code = capture(w);
  REQUIRE_EQ(kernel_of(code, 0).grid_x, 2);
  REQUIRE_EQ(kernel_of(code, 2).grid_x, 3);
  kmb_code_destroy(code);
  finish(w);
}

/* Nothing of it stays on, and our own launch is in none. */
static void a_capture_ends(void) {
  work *w = start();
  kmb_code_destroy(capture(w));
  REQUIRE_EQ(sim_calls(SIM_prof_stop), 1);
  REQUIRE_OK(launch(w, w->turn, 1, 0));
  w->load = false;
  kmb_code *code = capture(w);
  REQUIRE_EQ(info_of(code).kernels, KERNELS);
  REQUIRE_EQ(info_of(code).images, 0);
  REQUIRE_EQ(kernel_of(code, 0).launches, 2);
  kmb_code_destroy(code);
  finish(w);
}

static void an_image_that_was_loaded_before_is_not_seen(void) {
  work *w = start();
  const void *image = NULL;
  uint64_t bytes = 0;
  w->load = false;
  REQUIRE_OK(load_module(w));
  kmb_code *code = capture(w);
  kmb_code_kernel k = kernel_of(code, 1);
  REQUIRE_STR(k.name, "turn");
  REQUIRE(!k.hash && !k.code_hash && !k.file && !k.flags);
  REQUIRE_EQ(k.dynamic_shared_bytes, 16384);
  REQUIRE_STR(k.arch, "");
  REQUIRE_HAS(k.reason, "loaded before");
  REQUIRE_STATUS(kmb_code_get_image(code, 0, &image, &bytes),
                 KMB_ERR_UNAVAILABLE);
  kmb_code_destroy(code);
  finish(w);
}

static void what_the_tracer_does_not_tell_is_said(void) {
  work *w = start();
  sim_set()->in_file = true;
  kmb_code *code = capture(w);
  REQUIRE_HAS(kernel_of(code, 0).reason, "where in memory");
  REQUIRE(!kernel_of(code, 0).hash);
  kmb_code_destroy(code);
  forget_module(w);
  sim_set()->in_file = false;
  sim_set()->nameless = true;
  code = capture(w);
  kmb_code_kernel k = kernel_of(code, 1);
  REQUIRE_STR(k.name, "");
  REQUIRE_HAS(k.reason, "did not tell its name");
  REQUIRE_HAS(k.reason, "holds all of its LDS");
  REQUIRE_EQ(k.dynamic_shared_bytes, 1024 + 16384);
  REQUIRE(!k.hash);
  kmb_code_destroy(code);
  finish(w);
}

/* What the loader would read lies beyond the end: HIP is given no copy. */
static void a_code_object_cut_short_is_said(void) {
  work *w = start();
  kmb_code_destroy(capture(w));
  forget_module(w);
  for (size_t cut = 1; cut < object_size; cut += 173) {
    sim_set()->cut = cut;
    uint64_t loads = sim_calls(SIM_hipModuleLoadData);
    kmb_code *code = capture(w);
    kmb_code_kernel k = kernel_of(code, 2);
    REQUIRE_EQ(sim_calls(SIM_hipModuleLoadData), loads + 1);
    REQUIRE_HAS(k.reason, "cut short");
    REQUIRE(k.hash);
    REQUIRE(!k.code_hash && !k.flags && !*k.arch);
    kmb_code_destroy(code);
    forget_module(w);
  }
  finish(w);
}

/* Where a text stands that is in there but once. */
static unsigned char *find(const char *text) {
  unsigned char *at = memmem(object, object_size, text, strlen(text));
  REQUIRE(at);
  REQUIRE(!memmem(at + 1, (size_t)(object + object_size - at - 1), text,
                  strlen(text)));
  return at;
}

/* LLVM 14 counts no AGPRs: here they stand where SGPRs did. */
static void accumulators_are_read(void) {
  work *w = start();
  unsigned char *at = object;
  while (
      (at = memmem(at, (size_t)(object + object_size - at), ".sgpr_count", 11)))
    at[1] = 'a';
  kmb_code *code = capture(w);
  kmb_code_kernel k = kernel_of(code, 0);
  REQUIRE_EQ(k.flags & (KMB_CODE_HAS_SCALARS | KMB_CODE_HAS_ACCUMULATORS),
             KMB_CODE_HAS_ACCUMULATORS);
  REQUIRE_EQ(k.accumulator_registers, 9);
  kmb_code_destroy(code);
  finish(w);
}

/* The value of a key that no one reads gives way. */
static void a_stack_that_grows_is_said(void) {
  static const char key[] = "\xb5.kernarg_segment_size";
  static const char grows[] = "\xda\x00\x13.uses_dynamic_stack\xc3";
  _Static_assert(sizeof grows == sizeof key + 1, "a key and a byte");
  work *w = start();
  unsigned char *at = object;
  while ((at = memmem(at, (size_t)(object + object_size - at), key,
                      sizeof key - 1)))
    memcpy(at, grows, sizeof grows - 1);
  kmb_code *code = capture(w);
  kmb_code_kernel k = kernel_of(code, 0);
  REQUIRE_EQ(k.registers, 6);
  REQUIRE_HAS(k.reason, "its stack grows");
  kmb_code_destroy(code);
  finish(w);
}

/* By the tracer's numbers, not by name. */
static kmb_status run_two(void *user) {
  work *w = user;
  static unsigned char other[sizeof object];
  kmbi_hip_module module = NULL;
  kmbi_hip_function turn = NULL;
  kmb_status status = load_module(w);
  memcpy(other, object, object_size);
  other[object_size / 2] ^= 1;
  HIP(&w->b, hipModuleLoadData, &module, other);
  HIP(&w->b, hipModuleGetFunction, &turn, module, "turn");
  if (!status) status = launch(w, turn, 1, 0);
  if (!status) status = launch(w, w->turn, 1, 0);
  REQUIRE_EQ(bed_synchronize(), 0);
  HIP(&w->b, hipModuleUnload, module);
  return status;
}

static void images_with_a_kernel_of_one_name_are_told_apart(void) {
  work *w = start();
  char hash[KMB_CODE_HASH_SIZE];
  kmb_code *code = NULL;
  REQUIRE_OK(kmb_code_capture(w->b.device, run_two, w, &code));
  REQUIRE_EQ(info_of(code).images, 2);
  REQUIRE_EQ(info_of(code).kernels, 2);
  REQUIRE_OK(kmb_code_hash(object, object_size, hash));
  REQUIRE(strcmp(kernel_of(code, 0).hash, hash) != 0);
  REQUIRE_STR(kernel_of(code, 1).hash, hash);
  REQUIRE_STR(kernel_of(code, 0).name, "turn");
  kmb_code_destroy(code);
  finish(w);
}

/* Of a version that has less in its records. */
static void short_records_are_not_read(void) {
  work *w = start();
  _Static_assert(sizeof(kmbi_prof_dispatch) == 96 &&
                     sizeof(kmbi_prof_object) == 88,
                 "as version 1.0 has them");
  sim_set()->record_bytes = sizeof(kmbi_prof_dispatch) - 4;
  refused(w, KMB_ERR_UNSUPPORTED, "none would be seen");
  finish(w);
}

static kmb_status run_short(void *user) {
  work *w = user;
  sim_set()->record_bytes = sizeof(kmbi_prof_object) - 1;
  kmb_status status = load_module(w);
  sim_set()->record_bytes = 0;
  return status ? status : launch(w, w->turn, 1, 0);
}

static void a_code_object_of_a_short_record_is_unknown(void) {
  work *w = start();
  kmb_code *code = NULL;
  REQUIRE_OK(kmb_code_capture(w->b.device, run_short, w, &code));
  REQUIRE(!kernel_of(code, 0).hash);
  REQUIRE_HAS(kernel_of(code, 0).reason, "where in memory");
  kmb_code_destroy(code);
  finish(w);
}

static void without_metadata_hip_is_asked(void) {
  work *w = start();
  unsigned char *owner = find("AMDGPU");
  *owner = 'B';
  kmb_code *code = capture(w);
  kmb_code_kernel k = kernel_of(code, 0);
  REQUIRE_EQ(k.flags, KMB_CODE_HAS_ATTRIBUTES | KMB_CODE_HAS_OCCUPANCY);
  REQUIRE_EQ(k.registers, 77);
  REQUIRE_EQ(k.static_shared_bytes, 640);
  REQUIRE_EQ(k.local_bytes, 24);
  REQUIRE_EQ(k.max_threads, 512);
  REQUIRE_STR(k.arch, "");
  REQUIRE_HAS(k.reason, "no metadata of it that can be read");
  REQUIRE(k.code_hash);
  kmb_code_destroy(code);
  forget_module(w);
  finish(w);
}

static void without_functions_that_tell_less_is_known(void) {
  static work w;
  reset();
  sim_set()->missing[0] = "hipFuncGetAttribute";
  sim_set()->missing[1] = "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor";
  open_as(&w, "hip:0:trace");
  kmb_code *code = capture(&w);
  kmb_code_kernel k = kernel_of(code, 0);
  REQUIRE_EQ(k.registers, 6);
  REQUIRE(!(k.flags & KMB_CODE_HAS_OCCUPANCY));
  REQUIRE_HAS(k.reason, "does not tell how many blocks fit");
  kmb_code_destroy(code);
  finish(&w);
}

/* Kernels of graphs are enqueued one by one. */
static kmb_status launch_graph(void *user) {
  work *w = user;
  kmbi_hip_graph graph = NULL;
  kmbi_hip_exec exec = NULL;
  REQUIRE_OK(load_module(w));
  HIP(&w->b, hipStreamBeginCapture, w->stream, KMBI_HIP_CAPTURE_THREAD_LOCAL);
  REQUIRE_OK(launch(w, w->turn, 5, 0));
  HIP(&w->b, hipStreamEndCapture, w->stream, &graph);
  HIP(&w->b, hipGraphInstantiate, &exec, graph, NULL, NULL, 0);
  for (int i = 0; i < 3; i++)
    HIP(&w->b, hipGraphLaunch, exec, w->stream);
  REQUIRE_EQ(bed_synchronize(), 0);
  HIP(&w->b, hipGraphExecDestroy, exec);
  HIP(&w->b, hipGraphDestroy, graph);
  return KMB_OK;
}

static void kernels_of_graphs_are_seen(void) {
  work *w = start();
  kmb_code *code = NULL;
  REQUIRE_OK(kmb_code_capture(w->b.device, launch_graph, w, &code));
  REQUIRE_EQ(info_of(code).kernels, 1);
  REQUIRE_EQ(info_of(code).graph_launches, 0);
  REQUIRE_EQ(kernel_of(code, 0).grid_x, 5);
  REQUIRE_EQ(kernel_of(code, 0).launches, 3);
  REQUIRE_EQ(kernel_of(code, 0).registers, 6);
  kmb_code_destroy(code);
  finish(w);
}

static kmb_status launch_elsewhere(void *user) {
  work *w = user;
  kmbi_hip_stream ours = w->stream;
  REQUIRE_OK(load_module(w));
  HIP(&w->b, hipSetDevice, 1);
  HIP(&w->b, hipStreamCreateWithFlags, &w->stream,
      KMBI_HIP_STREAM_NON_BLOCKING);
  kmb_status status = launch(w, w->turn, 1, 0);
  HIP(&w->b, hipStreamDestroy, w->stream);
  HIP(&w->b, hipSetDevice, 0);
  w->stream = ours;
  return status ? status : launch(w, w->spills, 1, 0);
}

static void launches_on_other_devices_are_counted(void) {
  work *w = start();
  kmb_code *code = NULL;
  REQUIRE_OK(kmb_code_capture(w->b.device, launch_elsewhere, w, &code));
  REQUIRE_EQ(info_of(code).elsewhere, 1);
  REQUIRE_EQ(info_of(code).kernels, 1);
  REQUIRE_STR(kernel_of(code, 0).name, "spills");
  kmb_code_destroy(code);
  finish(w);
}

static void a_result_lists_it_and_images_are_saved(void) {
  work *w = start();
  const double ns[] = {1, 2, 3};
  char folder[] = "/tmp/kmb-hip-code-XXXXXX", path[64];
  struct stat about;
  kmb_result *r = NULL;
  kmb_bench_params p = kmb_bench_params_init();
  kmb_code_kernel k = kmb_code_kernel_init();
  kmb_code *code = capture(w);
  p.flags = KMB_BENCH_NO_CEILINGS;
  p.code = code;
  REQUIRE_OK(kmb_result_from_samples(w->b.device, &p, ns, 3, 0, &r));
  REQUIRE_EQ(kmb_result_code_count(r), KERNELS);
  REQUIRE_OK(kmb_result_code(r, 2, &k));
  REQUIRE_EQ(k.spilled_registers, 18);
  REQUIRE_EQ(kmb_result_code_match(r, r), KMB_CODE_SAME);
  REQUIRE(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/turn.hsaco", folder);
  REQUIRE_OK(kmb_code_save(code, folder));
  REQUIRE_EQ(stat(path, &about), 0);
  REQUIRE_EQ((size_t)about.st_size, object_size);
  REQUIRE_EQ(remove(path) + rmdir(folder), 0);
  kmb_result_destroy(r);
  kmb_code_destroy(code);
  finish(w);
}

int main(int argc, char **argv) {
  int failed = 0;
  REQUIRE(argc == 2);
  load_object(argv[1]);
  failed += ALONE(kernels_have_their_configuration_and_image);
  failed += ALONE(what_older_versions_tell_is_read);
  failed += ALONE(a_last_block_that_is_not_full_counts);
  failed += ALONE(a_capture_ends);
  failed += ALONE(an_image_that_was_loaded_before_is_not_seen);
  failed += ALONE(what_the_tracer_does_not_tell_is_said);
  failed += ALONE(a_code_object_cut_short_is_said);
  failed += ALONE(accumulators_are_read);
  failed += ALONE(a_stack_that_grows_is_said);
  failed += ALONE(images_with_a_kernel_of_one_name_are_told_apart);
  failed += ALONE(short_records_are_not_read);
  failed += ALONE(a_code_object_of_a_short_record_is_unknown);
  failed += ALONE(without_metadata_hip_is_asked);
  failed += ALONE(without_functions_that_tell_less_is_known);
  failed += ALONE(kernels_of_graphs_are_seen);
  failed += ALONE(launches_on_other_devices_are_counted);
  failed += ALONE(a_result_lists_it_and_images_are_saved);
  return failed != 0;
}
