/* Captures of code on the virtual GPU: what is in them, what is said of what is
 * not, who is kept out, and that nothing stays held. */
#include "alone.h"
#include "bed.h"

#include <sys/stat.h>

/* What a capture runs. */
typedef struct work {
  bed *b;
  kmbi_cu_module module; /* its own; NULL: the bed's */
  kmbi_cu_function spin, add;
  unsigned launches;
  bool load, unload, elsewhere;
  kmb_status result;
} work;

static void launch(work *w, kmbi_cu_function f, unsigned grid,
                   unsigned shared) {
  uint64_t cycles = 1000;
  kmbi_cu_pointer out = 0;
  void *arguments[] = {&cycles, &out};
  CU(w->b, cuLaunchKernel, f, grid, 1, 1, 64, 1, 1, shared, w->b->stream,
     arguments, NULL);
}

static kmb_status run(void *user) {
  work *w = user;
  if (w->load) {
    CU(w->b, cuModuleLoadData, &w->module, ".version 6.0");
    CU(w->b, cuModuleGetFunction, &w->spin, w->module, "test_spin");
  }
  for (unsigned i = 0; i < w->launches; i++)
    launch(w, w->spin, 2, 0);
  launch(w, w->spin, 3, 4096);
  if (w->unload) {
    REQUIRE_EQ(w->b->synchronize(), 0);
    CU(w->b, cuModuleUnload, w->module);
    w->module = NULL;
  }
  return w->result;
}

static work start(bed *b) {
  bed_start(b);
  return (work){.b = b, .load = true, .launches = 2};
}

static void finish(work *w) {
  REQUIRE_EQ(w->b->synchronize(), 0);
  if (w->module) CU(w->b, cuModuleUnload, w->module);
  bed_end(w->b);
}

static kmb_code_info info_of(const kmb_code *code) {
  kmb_code_info info = kmb_code_info_init();
  REQUIRE_OK(kmb_code_get_info(code, &info));
  return info;
}

static kmb_code_kernel kernel_of(const kmb_code *code, uint64_t index) {
  kmb_code_kernel k = kmb_code_kernel_init();
  REQUIRE_OK(kmb_code_get_kernel(code, index, &k));
  return k;
}

static kmb_code *capture(work *w) {
  kmb_code *code = NULL;
  REQUIRE_OK(kmb_code_capture(w->b->device, run, w, &code));
  REQUIRE(code);
  return code;
}

static void kernels_have_their_configuration_and_image(void) {
  bed b;
  work w = start(&b);
  char hash[KMB_CODE_HASH_SIZE];
  const void *image = NULL, *again = NULL;
  uint64_t bytes = 0;
  kmb_code *code = capture(&w);
  kmb_code_info info = info_of(code);
  REQUIRE_EQ(info.kernels, 2);
  REQUIRE_EQ(info.images, 1);
  REQUIRE_EQ(info.graph_launches + info.elsewhere, 0);
  kmb_code_kernel k = kernel_of(code, 0);
  REQUIRE_STR(k.name, "test_spin");
  REQUIRE_STR(k.arch, "sm_90");
  REQUIRE_EQ(k.launches, 2);
  REQUIRE_EQ(k.grid_x, 2);
  REQUIRE_EQ(k.block_x, 64);
  REQUIRE_EQ(k.grid_y * k.grid_z * k.block_y * k.block_z, 1);
  REQUIRE_EQ(k.flags, KMB_CODE_HAS_ATTRIBUTES | KMB_CODE_HAS_OCCUPANCY);
  REQUIRE_EQ(k.registers, 38);
  REQUIRE_EQ(k.static_shared_bytes, 128);
  REQUIRE_EQ(k.local_bytes, 16);
  REQUIRE_EQ(k.max_threads, 1024);
  REQUIRE_EQ(k.dynamic_shared_bytes, 0);
  REQUIRE_EQ(k.blocks_per_unit, 24);
  REQUIRE(!k.reason);
  REQUIRE_OK(kmb_code_get_image(code, 0, &image, &bytes));
  REQUIRE_OK(kmb_code_hash(image, bytes, hash));
  REQUIRE_STR(k.hash, hash);
  REQUIRE_STR(k.file, "test_spin.cubin");
  /* Of that kernel, not of one whose name begins alike. */
  REQUIRE_EQ(k.code_bytes, 16);
  REQUIRE_STR((const char *)image + k.code_offset, "1 of 0");
  REQUIRE_OK(
      kmb_code_hash((const char *)image + k.code_offset, k.code_bytes, hash));
  REQUIRE_STR(k.code_hash, hash);
  REQUIRE(!k.demangled);
  k = kernel_of(code, 1);
  REQUIRE_EQ(k.launches, 1);
  REQUIRE_EQ(k.grid_x, 3);
  REQUIRE_EQ(k.dynamic_shared_bytes, 4096);
  REQUIRE_OK(kmb_code_get_image(code, 1, &again, &bytes));
  REQUIRE(again == image);
  kmb_code_destroy(code);
  finish(&w);
}

/* Nothing of it stays on: what is launched later is in no capture. */
static void a_capture_ends(void) {
  bed b;
  work w = start(&b);
  kmb_code_destroy(capture(&w));
  unsigned calls = (unsigned)sim_calls(SIM_cuFuncGetAttribute);
  launch(&w, w.spin, 1, 0);
  REQUIRE_EQ(sim_calls(SIM_cuFuncGetAttribute), calls);
  w.load = false;
  kmb_code *code = capture(&w);
  REQUIRE_EQ(info_of(code).kernels, 2);
  REQUIRE_EQ(info_of(code).images, 0);
  kmb_code_destroy(code);
  finish(&w);
}

static void an_image_that_was_loaded_before_is_not_seen(void) {
  bed b;
  work w = start(&b);
  const void *image = NULL;
  uint64_t bytes = 0;
  w.load = false;
  w.spin = bed_kernel(&b, "test_spin");
  kmb_code *code = capture(&w);
  kmb_code_kernel k = kernel_of(code, 0);
  REQUIRE(!k.hash);
  REQUIRE_HAS(k.reason, "loaded before");
  REQUIRE_EQ(k.registers, 38);
  REQUIRE_STATUS(kmb_code_get_image(code, 0, &image, &bytes),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "test_spin: its image was loaded");
  kmb_code_destroy(code);
  finish(&w);
}

static kmb_status load_two(void *user) {
  work *w = user;
  kmbi_cu_module other = NULL;
  CU(w->b, cuModuleLoadData, &other, ".version 6.0");
  kmb_status status = run(w);
  REQUIRE_EQ(w->b->synchronize(), 0);
  CU(w->b, cuModuleUnload, other);
  return status;
}

static void two_images_with_the_kernel_are_told_apart_by_nothing(void) {
  for (int distinct = 0; distinct < 2; distinct++) {
    bed b;
    kmb_code *code = NULL;
    work w = start(&b);
    sim_set()->distinct_images = distinct;
    REQUIRE_OK(kmb_code_capture(b.device, load_two, &w, &code));
    kmb_code_kernel k = kernel_of(code, 0);
    REQUIRE_EQ(k.hash == NULL, distinct);
    if (distinct) REQUIRE_HAS(k.reason, "several images");
    REQUIRE_EQ(info_of(code).images, 2);
    kmb_code_destroy(code);
    finish(&w);
  }
}

/* The function is gone with its module: the driver is not asked. */
static void a_place_that_is_not_found_gives_no_hash(void) {
  bed b;
  work w = start(&b);
  sim_set()->no_sections = true;
  kmb_code *code = capture(&w);
  kmb_code_kernel k = kernel_of(code, 0);
  REQUIRE(k.hash);
  REQUIRE(!k.code_hash);
  REQUIRE_EQ(k.code_offset + k.code_bytes, 0);
  kmb_code_destroy(code);
  finish(&w);
}

/* A result of given samples that lists this code. */
static kmb_result *result_with(bed *b, const kmb_code *code) {
  const double ns[] = {1, 2, 3};
  kmb_bench_params p = kmb_bench_params_init();
  kmb_result *result = NULL;
  p.flags = KMB_BENCH_NO_CEILINGS;
  p.code = code;
  REQUIRE_OK(kmb_result_from_samples(b->device, &p, ns, 3, 0, &result));
  return result;
}

/* Captures anew, from a module that is loaded anew. */
static kmb_result *capture_result(work *w) {
  kmb_code *code = capture(w);
  kmb_result *result = result_with(w->b, code);
  kmb_code_destroy(code);
  REQUIRE_EQ(w->b->synchronize(), 0);
  CU(w->b, cuModuleUnload, w->module);
  w->module = NULL;
  return result;
}

static void a_result_lists_code_and_is_compared_by_it(void) {
  bed b;
  work w = start(&b);
  kmb_result *none = result_with(&b, NULL), *first = capture_result(&w);
  kmb_code_kernel k = kmb_code_kernel_init();
  sim_set()->distinct_images = true;
  kmb_result *built_anew = capture_result(&w);
  sim_set()->distinct_code = true;
  kmb_result *other = capture_result(&w);
  REQUIRE_EQ(kmb_result_code_count(first), 2);
  REQUIRE_OK(kmb_result_code(first, 1, &k));
  REQUIRE_STR(k.name, "test_spin");
  REQUIRE_STR(k.arch, "sm_90");
  REQUIRE_STR(k.file, "test_spin.cubin");
  REQUIRE_EQ(k.dynamic_shared_bytes, 4096);
  REQUIRE_EQ(k.registers, 38);
  REQUIRE_EQ(bed_u64(first, KMB_VALUE_CODE_OMITTED), 0);
  REQUIRE_EQ(bed_u64(first, KMB_VALUE_CODE_UNSEEN), 0);
  REQUIRE_EQ(kmb_result_code_match(first, built_anew), KMB_CODE_SAME);
  REQUIRE_EQ(kmb_result_code_match(first, other), KMB_CODE_DIFFERENT);
  REQUIRE_EQ(kmb_result_code_match(first, none), KMB_CODE_UNKNOWN);
  REQUIRE_EQ(kmb_result_code_count(none), 0);
  kmb_result *const all[] = {none, first, built_anew, other};
  for (int i = 0; i < 4; i++)
    kmb_result_destroy(all[i]);
  finish(&w);
}

static void an_unloaded_modules_attributes_are_not_asked(void) {
  bed b;
  work w = start(&b);
  w.unload = true;
  uint64_t before = sim_calls(SIM_cuFuncGetAttribute);
  kmb_code *code = capture(&w);
  REQUIRE_EQ(sim_calls(SIM_cuFuncGetAttribute), before);
  kmb_code_kernel k = kernel_of(code, 0);
  REQUIRE_EQ(k.flags, 0);
  REQUIRE(k.hash);
  REQUIRE_HAS(k.reason, "unloaded");
  kmb_code_destroy(code);
  finish(&w);
}

static void a_kernel_of_a_library_is_found(void) {
  bed b;
  work w = start(&b);
  sim_set()->library_kernels = true;
  kmb_code *code = capture(&w);
  REQUIRE_EQ(kernel_of(code, 0).registers, 38);
  REQUIRE_EQ(kernel_of(code, 0).blocks_per_unit, 24);
  kmb_code_destroy(code);
  finish(&w);
}

static void what_the_callback_returns_comes_back(void) {
  bed b;
  work w = start(&b);
  kmb_code *code = NULL;
  w.result = 42;
  REQUIRE_EQ(kmb_code_capture(b.device, run, &w, &code), 42);
  REQUIRE(!code);
  REQUIRE_EQ(b.synchronize(), 0);
  CU(&b, cuModuleUnload, w.module);
  w.result = KMB_OK;
  kmb_code_destroy(capture(&w));
  finish(&w);
}

static kmb_status measure_within(void *user) {
  work *w = user;
  kmb_recording *recording = NULL;
  kmb_device *other = NULL;
  kmb_code *code = NULL;
  REQUIRE_STATUS(kmb_code_capture(w->b->device, run, w, &code), KMB_ERR_BUSY);
  REQUIRE_OK(kmb_device_open("cuda:0", NULL, &other));
  REQUIRE_STATUS(kmb_trace_begin(other, NULL, &recording), KMB_ERR_BUSY);
  REQUIRE_STATUS(kmb_code_capture(other, run, w, &code), KMB_ERR_BUSY);
  kmb_device_close(other);
  return run(w);
}

static void nothing_else_traces_meanwhile(void) {
  bed b;
  work w = start(&b);
  kmb_code *code = NULL;
  kmb_recording *recording = NULL;
  kmb_device *other = NULL;
  REQUIRE_OK(kmb_code_capture(b.device, measure_within, &w, &code));
  REQUIRE_EQ(info_of(code).kernels, 2);
  kmb_code_destroy(code);
  REQUIRE_OK(kmb_device_open("cuda:0", NULL, &other));
  REQUIRE_OK(kmb_trace_begin(other, NULL, &recording));
  w.load = false;
  REQUIRE_STATUS(kmb_code_capture(b.device, run, &w, &code), KMB_ERR_BUSY);
  kmb_trace_abandon(recording);
  kmb_device_close(other);
  sim_set()->other_subscriber = true;
  REQUIRE_STATUS(kmb_code_capture(b.device, run, &w, &code), KMB_ERR_BUSY);
  sim_set()->other_subscriber = false;
  kmb_code_destroy(capture(&w));
  finish(&w);
}

/* Whatever call fails: a clean status or a kernel that says what is unknown,
 * nothing held, and the next capture works. */
static void each_vendor_call_fails_once(void) {
  static const sim_function functions[] = {
      SIM_cuptiSubscribe,      SIM_cuptiActivityRegisterCallbacks,
      SIM_cuptiEnableCallback, SIM_cuptiActivityFlushAll,
      SIM_cuptiUnsubscribe,    SIM_cuFuncGetAttribute,
      SIM_cuKernelGetFunction, SIM_cuOccupancyMaxActiveBlocksPerMultiprocessor,
      SIM_cuCtxGetCurrent,     SIM_cuCtxSetCurrent};
  bed b;
  work w = start(&b);
  kmb_code_destroy(capture(&w));
  w.load = false;
  unsigned failures = 0;
  for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++)
    for (uint64_t k = 1; k < 64; k++) {
      kmb_code *code = NULL;
      sim_fail(functions[f], k, 999);
      kmb_status status = kmb_code_capture(b.device, run, &w, &code);
      bool hit = sim_failed();
      sim_fail(functions[f], 0, 0);
      REQUIRE(!status == !!code);
      if (status) REQUIRE_HAS(kmb_last_error(NULL, NULL), "999");
      if (!status && hit && functions[f] == SIM_cuFuncGetAttribute)
        REQUIRE(info_of(code).kernels == 2);
      kmb_code_destroy(code);
      code = capture(&w);
      REQUIRE_EQ(info_of(code).kernels, 2);
      REQUIRE_EQ(kernel_of(code, 0).registers, 38);
      kmb_code_destroy(code);
      failures += hit;
      if (!hit) break;
    }
  REQUIRE(failures > 20);
  finish(&w);
}

static void each_allocation_fails_once(void) {
  bed b;
  work w = start(&b);
  kmb_code_destroy(capture(&w));
  REQUIRE_EQ(b.synchronize(), 0);
  CU(&b, cuModuleUnload, w.module);
  w.module = NULL;
  unsigned failed = 0;
  for (uint64_t k = 1; k < 100; k++) {
    kmb_code *code = NULL;
    b.memory.fail_at = b.memory.calls + k;
    kmb_status status = kmb_code_capture(b.device, run, &w, &code);
    bool hit = b.memory.calls >= b.memory.fail_at;
    b.memory.fail_at = 0;
    REQUIRE_EQ(status, hit ? KMB_ERR_NOMEM : KMB_OK);
    kmb_code_destroy(code);
    REQUIRE_EQ(b.synchronize(), 0);
    if (w.module) CU(&b, cuModuleUnload, w.module);
    w.module = NULL;
    failed += hit;
    if (!hit) break;
  }
  REQUIRE(failed > 4);
  finish(&w);
}

static kmb_status launch_graph(void *user) {
  work *w = user;
  kmbi_cu_graph graph = NULL;
  kmbi_cu_exec exec = NULL;
  CU(w->b, cuStreamBeginCapture, w->b->stream, KMBI_CU_CAPTURE_THREAD_LOCAL);
  launch(w, w->spin, 5, 0);
  CU(w->b, cuStreamEndCapture, w->b->stream, &graph);
  CU(w->b, cuGraphInstantiateWithFlags, &exec, graph, 0);
  CU(w->b, cuGraphLaunch, exec, w->b->stream);
  CU(w->b, cuGraphLaunch, exec, w->b->stream);
  REQUIRE_EQ(w->b->synchronize(), 0);
  CU(w->b, cuGraphExecDestroy, exec);
  CU(w->b, cuGraphDestroy, graph);
  return KMB_OK;
}

/* What goes into a graph is seen, what a graph then runs is counted. */
static void graphs_are_counted(void) {
  bed b;
  work w = start(&b);
  kmb_code *code = NULL;
  w.spin = bed_kernel(&b, "test_spin");
  REQUIRE_OK(kmb_code_capture(b.device, launch_graph, &w, &code));
  REQUIRE_EQ(info_of(code).kernels, 1);
  REQUIRE_EQ(info_of(code).graph_launches, 2);
  REQUIRE_EQ(kernel_of(code, 0).grid_x, 5);
  REQUIRE_EQ(kernel_of(code, 0).launches, 1);
  kmb_result *r = result_with(&b, code);
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_CODE_UNSEEN), 2);
  REQUIRE_EQ(kmb_result_code_match(r, r), KMB_CODE_UNKNOWN);
  kmb_result_destroy(r);
  kmb_code_destroy(code);
  finish(&w);
}

static void images_are_saved(void) {
  bed b;
  work w = start(&b);
  char folder[] = "/tmp/kmb-code-XXXXXX", inside[64], path[128];
  const void *image = NULL;
  uint64_t bytes = 0;
  struct stat about;
  REQUIRE(mkdtemp(folder));
  snprintf(inside, sizeof inside, "%s/result.d", folder);
  snprintf(path, sizeof path, "%s/test_spin.cubin", inside);
  kmb_code *code = capture(&w);
  for (int i = 0; i < 2; i++) {
    REQUIRE_OK(kmb_code_save(code, inside));
    REQUIRE_OK(kmb_code_get_image(code, 0, &image, &bytes));
    REQUIRE_EQ(stat(path, &about), 0);
    REQUIRE_EQ((uint64_t)about.st_size, bytes);
  }
  REQUIRE_STATUS(kmb_code_save(code, path), KMB_ERR_IO);
  REQUIRE_STATUS(kmb_code_save(code, "/nowhere/result.d"), KMB_ERR_IO);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "/nowhere/result.d");
  REQUIRE_STATUS(kmb_code_save(code, NULL), KMB_ERR_INVALID);
  kmb_code_destroy(code);
  REQUIRE_EQ(remove(path) + rmdir(inside) + rmdir(folder), 0);
  finish(&w);
}

static void wrong_arguments_are_refused(void) {
  bed b;
  work w = start(&b);
  kmb_code *code = NULL;
  kmb_code_kernel k = kmb_code_kernel_init();
  kmb_code_info info = kmb_code_info_init();
  kmb_device *host = NULL;
  const void *image = NULL;
  uint64_t bytes = 0;
  REQUIRE_STATUS(kmb_code_capture(NULL, run, &w, &code), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_code_capture(b.device, NULL, &w, &code), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_code_capture(b.device, run, &w, NULL), KMB_ERR_INVALID);
  REQUIRE_OK(kmb_device_open("host", NULL, &host));
  REQUIRE_STATUS(kmb_code_capture(host, run, &w, &code), KMB_ERR_UNSUPPORTED);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "backend host captures no code");
  kmb_device_close(host);
  code = capture(&w);
  REQUIRE_STATUS(kmb_code_get_kernel(code, 2, &k), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_code_get_kernel(NULL, 0, &k), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_code_get_image(code, 2, &image, &bytes), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_code_get_image(code, 0, NULL, &bytes), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_code_get_image(code, 0, &image, NULL), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_code_get_info(NULL, &info), KMB_ERR_INVALID);
  info.struct_size = 8;
  REQUIRE_STATUS(kmb_code_get_info(code, &info), KMB_ERR_INVALID);
  kmb_code_destroy(code);
  kmb_code_destroy(NULL);
  finish(&w);
}

static void lack(const char *name) {
  bed b;
  work w = {.b = &b, .load = true};
  kmb_code *code = NULL;
  sim_reset();
  sim_set()->missing = name;
  bed_set_up(&b);
  REQUIRE_OK(bed_open(&b, "cuda:0"));
  REQUIRE_STATUS(kmb_code_capture(b.device, run, &w, &code),
                 KMB_ERR_UNSUPPORTED);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), name);
  bed_end(&b);
}

static void without_attributes_there_is_no_capture(void) {
  lack("cuFuncGetAttribute");
}

int main(void) {
  int failed = 0;
  failed += ALONE(kernels_have_their_configuration_and_image);
  failed += ALONE(a_capture_ends);
  failed += ALONE(an_image_that_was_loaded_before_is_not_seen);
  failed += ALONE(two_images_with_the_kernel_are_told_apart_by_nothing);
  failed += ALONE(a_place_that_is_not_found_gives_no_hash);
  failed += ALONE(a_result_lists_code_and_is_compared_by_it);
  failed += ALONE(an_unloaded_modules_attributes_are_not_asked);
  failed += ALONE(a_kernel_of_a_library_is_found);
  failed += ALONE(what_the_callback_returns_comes_back);
  failed += ALONE(nothing_else_traces_meanwhile);
  failed += ALONE(each_vendor_call_fails_once);
  failed += ALONE(each_allocation_fails_once);
  failed += ALONE(graphs_are_counted);
  failed += ALONE(images_are_saved);
  failed += ALONE(wrong_arguments_are_refused);
  failed += ALONE(without_attributes_there_is_no_capture);
  return failed != 0;
}
