/* A capture on the virtual AMD GPU of what launches kernels of a code object,
 * which Debian's LLVM made of tests/data/code/amd.cl. */
#ifndef KMB_TESTS_HIP_CODE_WORK_H
#define KMB_TESTS_HIP_CODE_WORK_H

#include "alone.h"
#include "bed.h"

/* The code object. */
static unsigned char object[1 << 14];
static size_t object_size;

static inline void load_object(const char *folder) {
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
static inline kmb_status launch_blocks(work *w, kmbi_hip_function f,
                                       unsigned grid, unsigned block,
                                       unsigned shared) {
  void *from = NULL, *to = NULL;
  void *arguments[] = {&from, &to};
  return w->b.hip.hipModuleLaunchKernel(f, grid, 1, 1, block, 1, 1, shared,
                                        w->stream, arguments, NULL)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

static inline kmb_status launch(work *w, kmbi_hip_function f, unsigned grid,
                                unsigned shared) {
  return launch_blocks(w, f, grid, 256, shared);
}

static inline kmb_status load_module(work *w) {
  const kmbi_hip_api *hip = &w->b.hip;
  if (hip->hipModuleLoadData(&w->module, object)) return KMB_ERR_VENDOR;
  return hip->hipModuleGetFunction(&w->turn, w->module, "turn") ||
                 hip->hipModuleGetFunction(&w->spills, w->module, "spills") ||
                 hip->hipModuleGetFunction(&w->scale, w->module, "_Z5scalePff")
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

static inline kmb_status run(void *user) {
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
static inline void open_as(work *w, const char *name) {
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

static inline void reset(void) {
  sim_reset();
  sim_set()->l2_bytes = 64 << 10;
  sim_set()->mall_bytes = 1 << 20;
}

static inline work *start(void) {
  static work w;
  reset();
  open_as(&w, "hip:0:trace");
  return &w;
}

static inline void forget_module(work *w) {
  REQUIRE_EQ(bed_synchronize(), 0);
  if (w->module) HIP(&w->b, hipModuleUnload, w->module);
  w->module = NULL;
}

static inline void finish(work *w) {
  forget_module(w);
  bed_end(&w->b);
}

static inline kmb_code_info info_of(const kmb_code *code) {
  kmb_code_info info = kmb_code_info_init();
  REQUIRE_OK(kmb_code_get_info(code, &info));
  return info;
}

static inline kmb_code_kernel kernel_of(const kmb_code *code, uint64_t index) {
  kmb_code_kernel k = kmb_code_kernel_init();
  REQUIRE_OK(kmb_code_get_kernel(code, index, &k));
  return k;
}

static inline kmb_code *capture(work *w) {
  kmb_code *code = NULL;
  REQUIRE_OK(kmb_code_capture(w->b.device, run, w, &code));
  REQUIRE(code);
  return code;
}

static inline void refused(work *w, kmb_status status, const char *why) {
  kmb_code *code = NULL;
  REQUIRE_STATUS(kmb_code_capture(w->b.device, run, w, &code), status);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), why);
  REQUIRE(!code);
}

static inline void all_is_known_of_the_first(const kmb_code *code) {
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

#endif
