/* Captures of code on the virtual AMD GPU, of a code object that Debian's LLVM
 * made of tests/data/code/amd.cl: what is in them, what is said of what is not,
 * who is kept out, and that nothing stays held.
 *
 * usage: code FOLDER    (tests/data/code) */
#define _GNU_SOURCE /* memmem */
#include "alone.h"
#include "bed.h"

#include <sys/stat.h>

/* The library's memory that is the C library's: the linker turns its calls to
 * ours. */
static uint64_t taken, taken_fails; /* the call that fails, from 1; 0: none */

void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size) {
  return ++taken == taken_fails ? NULL : __real_malloc(size);
}

void *__wrap_realloc(void *old, size_t size) {
  return ++taken == taken_fails ? NULL : __real_realloc(old, size);
}

/* The code object. */
static unsigned char object[1 << 14];
static size_t object_size;

static void load_object(const char *folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/amd.hsaco", folder);
  FILE *f = fopen(path, "rb");
  REQUIRE(f);
  object_size = fread(object, 1, sizeof object, f);
  REQUIRE(object_size > 5000 && object_size < sizeof object);
  fclose(f);
}

/* What a capture runs. */
typedef struct work {
  bed b;
  kmbi_hip_module module;
  kmbi_hip_function turn, spills, scale;
  kmbi_hip_stream stream;
  bool load;
  kmb_status result;
} work;

/* HIP failing is the callback's failing. */
static kmb_status launch_blocks(work *w, kmbi_hip_function f, unsigned grid,
                                unsigned block, unsigned shared) {
  void *from = NULL, *to = NULL;
  void *arguments[] = {&from, &to};
  return w->b.hip.hipModuleLaunchKernel(f, grid, 1, 1, block, 1, 1, shared,
                                        w->stream, arguments, NULL)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

static kmb_status launch(work *w, kmbi_hip_function f, unsigned grid,
                         unsigned shared) {
  return launch_blocks(w, f, grid, 256, shared);
}

static kmb_status load_module(work *w) {
  const kmbi_hip_api *hip = &w->b.hip;
  if (hip->hipModuleLoadData(&w->module, object)) return KMB_ERR_VENDOR;
  return hip->hipModuleGetFunction(&w->turn, w->module, "turn") ||
                 hip->hipModuleGetFunction(&w->spills, w->module, "spills") ||
                 hip->hipModuleGetFunction(&w->scale, w->module, "_Z5scalePff")
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

static kmb_status run(void *user) {
  work *w = user;
  kmb_status status = w->load ? load_module(w) : KMB_OK;
  if (!status) status = launch(w, w->turn, 2, 0);
  if (!status) status = launch(w, w->turn, 2, 0);
  if (!status) status = launch(w, w->turn, 2, 16384);
  if (!status) status = launch(w, w->spills, 3, 0);
  if (!status) status = launch(w, w->scale, 3, 0);
  if (!status) status = launch_blocks(w, w->scale, 3, 128, 0);
  return status ? status : w->result;
}

enum { KERNELS = 5 };

/* The device is opened before anything else calls HIP. */
static void open_as(work *w, const char *name) {
  memset(w, 0, sizeof *w);
  REQUIRE_OK(bed_open(&w->b, name));
  heap memory = w->b.memory;
  kmb_device *device = w->b.device;
  bed_set_up(&w->b);
  w->b.memory = memory;
  w->b.device = device;
  w->stream = w->b.stream;
  w->load = true;
}

static void reset(void) {
  sim_reset();
  sim_set()->l2_bytes = 64 << 10;
  sim_set()->mall_bytes = 1 << 20;
}

static work *start(void) {
  static work w;
  reset();
  open_as(&w, "hip:0:trace");
  return &w;
}

static void forget_module(work *w) {
  REQUIRE_EQ(bed_synchronize(), 0);
  if (w->module) HIP(&w->b, hipModuleUnload, w->module);
  w->module = NULL;
}

static void finish(work *w) {
  forget_module(w);
  bed_end(&w->b);
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
  REQUIRE_OK(kmb_code_capture(w->b.device, run, w, &code));
  REQUIRE(code);
  return code;
}

static void refused(work *w, kmb_status status, const char *why) {
  kmb_code *code = NULL;
  REQUIRE_STATUS(kmb_code_capture(w->b.device, run, w, &code), status);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), why);
  REQUIRE(!code);
}

static void all_is_known_of_the_first(const kmb_code *code) {
  char hash[KMB_CODE_HASH_SIZE];
  const void *image = NULL;
  uint64_t bytes = 0;
  kmb_code_kernel k = kernel_of(code, 0);
  REQUIRE_STR(k.name, "turn");
  REQUIRE(!k.demangled && !k.reason);
  REQUIRE_STR(k.arch, "gfx90a");
  REQUIRE_EQ(k.launches, 2);
  REQUIRE(k.grid_x == 2 && k.grid_y == 1 && k.grid_z == 1);
  REQUIRE(k.block_x == 256 && k.block_y == 1 && k.block_z == 1);
  REQUIRE_EQ(k.flags, KMB_CODE_HAS_ATTRIBUTES | KMB_CODE_HAS_OCCUPANCY |
                          KMB_CODE_HAS_SCALARS | KMB_CODE_HAS_SPILLS);
  REQUIRE_EQ(k.registers, 6);
  REQUIRE_EQ(k.scalar_registers, 9);
  REQUIRE_EQ(k.spilled_registers + k.spilled_scalar_registers, 0);
  REQUIRE_EQ(k.static_shared_bytes, 1024);
  REQUIRE_EQ(k.dynamic_shared_bytes, 0);
  REQUIRE_EQ(k.local_bytes, 0);
  REQUIRE_EQ(k.max_threads, 256);
  REQUIRE_EQ(k.blocks_per_unit, 8);
  REQUIRE_OK(kmb_code_get_image(code, 0, &image, &bytes));
  REQUIRE_EQ(bytes, object_size);
  REQUIRE(memcmp(image, object, object_size) == 0);
  REQUIRE_OK(kmb_code_hash(object, object_size, hash));
  REQUIRE_STR(k.hash, hash);
  REQUIRE_STR(k.file, "turn.hsaco");
  REQUIRE_EQ(k.code_bytes, 120);
  REQUIRE_OK(kmb_code_hash(object + k.code_offset, k.code_bytes, hash));
  REQUIRE_STR(k.code_hash, hash);
}

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

static void without_tracing_there_is_no_capture(void) {
  work w;
  reset();
  open_as(&w, "hip:0");
  refused(&w, KMB_ERR_UNAVAILABLE, "hip:0:trace");
  finish(&w);
}

static kmb_status trace_spins(bed *b) {
  kmb_result *r = NULL;
  spin s = bed_spin(b, 5, 1);
  kmb_bench_params p =
      bed_params(KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  kmb_status status = kmb_bench(b->device, &p, &r);
  kmb_result_destroy(r);
  return status;
}

static sim_function failing;
static uint64_t failing_at;

/* TRACE does without what a capture needs. */
static void one_that_captures_need_fails(void) {
  work w;
  reset();
  sim_fail(failing, failing_at, 99);
  open_as(&w, "hip:0:trace");
  REQUIRE(sim_failed());
  refused(&w, KMB_ERR_UNSUPPORTED, "(99)");
  REQUIRE_OK(trace_spins(&w.b));
  finish(&w);
}

static void what_cannot_be_configured_is_said(void) {
  static const struct {
    sim_function function;
    uint64_t at;
  } cases[] = {{SIM_prof_create_context, 2},
               {SIM_prof_create_context, 3},
               {SIM_prof_configure_callback, 1},
               {SIM_prof_configure_callback, 2},
               {SIM_prof_start, 1}};
  int failed = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    failing = cases[i].function;
    failing_at = cases[i].at;
    failed += alone(one_that_captures_need_fails, sim_name(failing));
  }
  REQUIRE_EQ(failed, 0);
}

/* Launches that nobody tells would make a capture that is empty. */
static void launches_that_are_not_told_are_noticed(void) {
  work *w = start();
  sim_set()->untold = true;
  refused(w, KMB_ERR_UNSUPPORTED, "none would be seen");
  sim_set()->untold = false;
  forget_module(w);
  kmb_code_destroy(capture(w));
  REQUIRE_OK(trace_spins(&w->b));
  finish(w);
}

static void what_the_callback_returns_comes_back(void) {
  work *w = start();
  kmb_code *code = NULL;
  w->result = 42;
  REQUIRE_EQ(kmb_code_capture(w->b.device, run, w, &code), 42);
  REQUIRE(!code);
  forget_module(w);
  w->result = KMB_OK;
  kmb_code_destroy(capture(w));
  finish(w);
}

static kmb_status measure_within(void *user) {
  work *w = user;
  kmb_device *other = NULL;
  kmb_code *code = NULL;
  kmb_result *r = NULL;
  spin s = bed_spin(&w->b, 5, 1);
  REQUIRE_OK(kmb_device_open("hip:0:trace", NULL, &other));
  for (kmb_timer t = KMB_TIMER_TRACE; t <= KMB_TIMER_GRAPH; t++) {
    kmb_bench_params p = bed_params(
        t, t == KMB_TIMER_GRAPH ? KMB_LAUNCH_GRAPH : KMB_LAUNCH_PLAIN,
        KMB_CACHE_WARM);
    p.launch = bed_launch_spin;
    p.launch_user = &s;
    REQUIRE_STATUS(kmb_bench(other, &p, &r), KMB_ERR_BUSY);
  }
  REQUIRE_STATUS(kmb_code_capture(other, run, w, &code), KMB_ERR_BUSY);
  REQUIRE_STATUS(kmb_code_capture(w->b.device, run, w, &code), KMB_ERR_BUSY);
  kmb_device_close(other);
  return run(w);
}

static void nothing_is_measured_meanwhile(void) {
  work *w = start();
  kmb_code *code = NULL;
  REQUIRE_OK(kmb_code_capture(w->b.device, measure_within, w, &code));
  bool found = false;
  for (uint64_t i = 0; i < info_of(code).kernels; i++)
    found = found || kernel_of(code, i).code_bytes == 120;
  REQUIRE(found);
  kmb_code_destroy(code);
  REQUIRE_OK(trace_spins(&w->b));
  finish(w);
}

/* Whatever call fails: a clean status or a kernel that says what is unknown,
 * nothing held, and the next capture works. */
static bool fails_once(work *w, sim_function function, uint64_t k) {
  kmb_code *code = NULL;
  sim_fail(function, k, 999);
  kmb_status status = kmb_code_capture(w->b.device, run, w, &code);
  bool hit = sim_failed();
  sim_fail(function, 0, 0);
  REQUIRE(!status == !!code);
  if (status && function != SIM_hipModuleLaunchKernel)
    REQUIRE(kmb_last_error(NULL, NULL)[0]);
  if (!status) {
    REQUIRE_EQ(info_of(code).kernels, KERNELS);
    REQUIRE_EQ(kernel_of(code, 0).registers, 6);
    bool fits = kernel_of(code, 0).flags & KMB_CODE_HAS_OCCUPANCY;
    REQUIRE(fits || hit);
    REQUIRE(fits || kernel_of(code, 0).reason);
  }
  kmb_code_destroy(code);
  forget_module(w);
  code = capture(w);
  all_is_known_of_the_first(code);
  kmb_code_destroy(code);
  forget_module(w);
  return hit;
}

static void each_vendor_call_fails_once(void) {
  work *w = start();
  unsigned failures = 0;
  for (sim_function f = 0; f < SIM_FUNCTIONS; f++)
    for (uint64_t k = 1; fails_once(w, f, k); k++)
      failures++;
  REQUIRE(failures > 20);
  finish(w);
}

/* What HIP keeps for hipGetLastError() is the caller's. */
static void no_error_of_ours_is_left_behind(void) {
  work *w = start();
  kmb_code_destroy(capture(w));
  forget_module(w);
  REQUIRE_EQ(bed_last_error(), 0);
  for (uint64_t k = 1; k <= KERNELS; k++) {
    sim_fail(SIM_hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, k, 999);
    kmb_code *code = capture(w);
    REQUIRE(sim_failed());
    REQUIRE_EQ(bed_last_error(), 0);
    REQUIRE(!(kernel_of(code, k - 1).flags & KMB_CODE_HAS_OCCUPANCY));
    kmb_code_destroy(code);
    forget_module(w);
  }
  finish(w);
}

/* The first capture of a process compiles, loads, makes a stream. */
static void one_of_the_first_fails(void) {
  work *w = start();
  kmb_code *code = NULL;
  sim_fail(failing, failing_at, 999);
  kmb_status status = kmb_code_capture(w->b.device, run, w, &code);
  bool hit = sim_failed();
  sim_fail(failing, 0, 0);
  REQUIRE(!status == !!code);
  kmb_code_destroy(code);
  forget_module(w);
  code = capture(w);
  all_is_known_of_the_first(code);
  kmb_code_destroy(code);
  finish(w);
  if (!hit) exit(3);
}

static void each_of_the_first_calls_fails_once(void) {
  static const sim_function functions[] = {
      SIM_hiprtcCreateProgram,      SIM_hiprtcCompileProgram,
      SIM_hiprtcGetCodeSize,        SIM_hiprtcGetCode,
      SIM_hipModuleGetFunction,     SIM_hipModuleLoadData,
      SIM_hipStreamCreateWithFlags, SIM_hipMalloc,
      SIM_hipStreamQuery,           SIM_prof_start};
  int failed = 0;
  failing_at = 1;
  for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
    failing = functions[f];
    failed += alone(one_of_the_first_fails, sim_name(failing));
  }
  REQUIRE_EQ(failed, 0);
}

/* Afterwards no more is asked of it. */
static void a_lost_device_is_said(void) {
  static const sim_function functions[] = {
      SIM_hipModuleLoadData, SIM_hipModuleGetFunction,
      SIM_hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,
      SIM_hipModuleUnload};
  for (int i = 0; i < 4; i++) {
    pid_t child = fork();
    if (child) {
      int status = 0;
      REQUIRE_EQ(waitpid(child, &status, 0), child);
      REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      continue;
    }
    work *w = start();
    kmb_code *code = NULL;
    w->load = false;
    REQUIRE_OK(load_module(w));
    kmb_code_destroy(capture(w));
    forget_module(w);
    w->load = true;
    /* Each is called once for each of three kernels, or once, by `run`. */
    static const uint64_t after[] = {2, 4, 1, 1};
    sim_fail(functions[i], after[i], KMBI_HIP_LaunchFailure);
    kmb_status status = kmb_code_capture(w->b.device, run, w, &code);
    REQUIRE(sim_failed());
    REQUIRE_STATUS(status, i < 3 ? KMB_ERR_LOST : KMB_OK);
    kmb_code_destroy(code);
    code = NULL;
    REQUIRE_STATUS(kmb_code_capture(w->b.device, run, w, &code), KMB_ERR_LOST);
    kmb_device_close(w->b.device);
    REQUIRE_EQ(w->b.memory.blocks_out, 0);
    exit(0);
  }
}

static void each_allocation_fails_once(void) {
  work *w = start();
  kmb_code_destroy(capture(w));
  forget_module(w);
  unsigned failed = 0;
  for (uint64_t k = 1; k < 200; k++) {
    kmb_code *code = NULL;
    w->b.memory.fail_at = w->b.memory.calls + k;
    kmb_status status = kmb_code_capture(w->b.device, run, w, &code);
    bool hit = w->b.memory.calls >= w->b.memory.fail_at;
    w->b.memory.fail_at = 0;
    REQUIRE_EQ(status, hit ? KMB_ERR_NOMEM : KMB_OK);
    kmb_code_destroy(code);
    forget_module(w);
    failed += hit;
    if (!hit) break;
  }
  REQUIRE(failed > 4);
  finish(w);
}

/* What callbacks keep: it is noticed at the end, or a name is missing. */
static void each_of_the_tracers_allocations_fails_once(void) {
  work *w = start();
  kmb_code_destroy(capture(w));
  forget_module(w);
  unsigned failed = 0;
  for (uint64_t k = 1; k < 200; k++) {
    kmb_code *code = NULL;
    taken_fails = taken + k;
    kmb_status status = kmb_code_capture(w->b.device, run, w, &code);
    bool hit = taken >= taken_fails;
    taken_fails = 0;
    REQUIRE(status == KMB_OK || (hit && status == KMB_ERR_NOMEM));
    if (status) REQUIRE_HAS(kmb_last_error(NULL, NULL), "no memory");
    failed += status != 0;
    kmb_code_destroy(code);
    forget_module(w);
    if (!hit) break;
  }
  /* Two lists and an image. */
  REQUIRE(failed >= 3);
  finish(w);
}

static kmb_status fork_within(void *user) {
  int status = 0;
  pid_t child = fork();
  if (!child) return KMB_OK;
  REQUIRE_EQ(waitpid(child, &status, 0), child);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  return run(user);
}

static void a_child_has_no_capture(void) {
  work *w = start();
  kmb_code *code = NULL;
  pid_t parent = getpid();
  kmb_status status = kmb_code_capture(w->b.device, fork_within, w, &code);
  if (getpid() != parent) {
    kmb_device_close(w->b.device);
    _exit(status == KMB_ERR_FORKED && !code && !sim_child_calls() &&
                  !w->b.memory.blocks_out
              ? 7
              : 8);
  }
  REQUIRE_OK(status);
  REQUIRE_EQ(info_of(code).kernels, KERNELS);
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
  failed += ALONE(without_tracing_there_is_no_capture);
  failed += ALONE(what_cannot_be_configured_is_said);
  failed += ALONE(launches_that_are_not_told_are_noticed);
  failed += ALONE(what_the_callback_returns_comes_back);
  failed += ALONE(nothing_is_measured_meanwhile);
  failed += ALONE(each_vendor_call_fails_once);
  failed += ALONE(no_error_of_ours_is_left_behind);
  failed += ALONE(each_of_the_first_calls_fails_once);
  failed += ALONE(a_lost_device_is_said);
  failed += ALONE(each_allocation_fails_once);
  failed += ALONE(each_of_the_tracers_allocations_fails_once);
  failed += ALONE(a_child_has_no_capture);
  failed += ALONE(a_result_lists_it_and_images_are_saved);
  return failed != 0;
}
