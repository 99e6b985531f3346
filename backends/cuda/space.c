/* What we keep in one context: a stream, our kernels, the sweep's buffer, the
 * gate. Each is made when first needed. */
#include "cuda_backend.h"

#include "unpack.h"

enum { BLOCK = 256, BLOCKS_PER_UNIT = 8 };

kmb_status kmbi_cuda_space_stream(kmbi_cuda *self, kmbi_cu_stream *stream) {
  kmbi_cuda_space *space = self->space;
  kmb_status status = KMB_OK;
  if (!space->stream)
    status = KMBI_CU(self, cuStreamCreate, &space->stream,
                     KMBI_CU_STREAM_NON_BLOCKING);
  *stream = space->stream;
  return status;
}

kmb_status kmbi_cuda_load_packed(kmbi_cuda *self, const unsigned char *packed,
                                 kmbi_cu_module *module) {
  const kmb_host *host = self->host;
  size_t size = kmbi_cuda_unpacked_size(packed);
  char *text = host->alloc(host->ctx, size, 1);
  if (!text)
    return KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0,
                          "no memory for the text of our kernels");
  kmbi_cuda_unpack(packed, text);
  kmb_status status = KMBI_CU(self, cuModuleLoadData, module, text);
  host->free(host->ctx, text, size);
  return status;
}

kmb_status kmbi_cuda_space_module(kmbi_cuda *self) {
  static const char *const names[] = {
#define NAME(name) [KMBI_CUDA_##name] = "kmb_" #name,
      KMBI_CUDA_KERNEL_MAP(NAME)
#undef NAME
  };
  kmbi_cuda_space *space = self->space;
  if (space->module) return KMB_OK;
  kmbi_cu_module module = NULL;
  kmb_status status =
      kmbi_cuda_load_packed(self, kmbi_cuda_ptx_packed, &module);
  for (int i = 0; !status && i < KMBI_CUDA_KERNELS; i++)
    status = KMBI_CU(self, cuModuleGetFunction, &space->kernels[i], module,
                     names[i]);
  if (!status && !space->scratch)
    status = KMBI_CU(self, cuMemAlloc, &space->scratch, KMBI_CUDA_SCRATCH);
  if (status && module) (void)self->driver->cuModuleUnload(module);
  if (!status) space->module = module;
  return status;
}

kmb_status kmbi_cuda_space_gate(kmbi_cuda *self) {
  kmbi_cuda_space *space = self->space;
  if (space->gate) return KMB_OK;
  if (!self->driver->cuStreamWaitValue32)
    return KMBI_CUDA_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                          "the driver has no cuStreamWaitValue32 (CUDA 11.7)");
  void *memory = NULL;
  kmb_status status = KMBI_CU(self, cuMemHostAlloc, &memory, 4096,
                              KMBI_CU_HOST_PORTABLE | KMBI_CU_HOST_DEVICEMAP);
  if (status) return status;
  status =
      KMBI_CU(self, cuMemHostGetDevicePointer, &space->gate_device, memory, 0);
  if (status) {
    (void)self->driver->cuMemFreeHost(memory);
    return status;
  }
  memset(memory, 0, 4096);
  space->gate = memory;
  return KMB_OK;
}

void kmbi_cuda_space_close(kmbi_cuda *self, kmbi_cuda_space *space) {
  const kmbi_cu_driver *driver = self->driver;
  if (space->gate) (void)driver->cuMemFreeHost((void *)(uintptr_t)space->gate);
  if (space->sweep) (void)driver->cuMemFree(space->sweep);
  if (space->words) (void)driver->cuMemFree(space->words);
  if (space->scratch) (void)driver->cuMemFree(space->scratch);
  if (space->module) (void)driver->cuModuleUnload(space->module);
  if (space->stream) (void)driver->cuStreamDestroy(space->stream);
  *space = (kmbi_cuda_space){.context = space->context};
}

kmb_status kmbi_cuda_launch(kmbi_cuda *self, kmbi_cu_stream stream,
                            kmbi_cuda_kernel kernel, uint64_t work,
                            void **arguments) {
  kmb_status status = kmbi_cuda_space_module(self);
  if (status) return status;
  int units = 0;
  if (!kmbi_cuda_attribute(self, KMBI_CU_ATTR_MULTIPROCESSOR_COUNT, &units) ||
      units < 1)
    units = 1;
  uint64_t blocks = (work + BLOCK - 1) / BLOCK;
  uint64_t most = (uint64_t)units * BLOCKS_PER_UNIT;
  unsigned threads = work < BLOCK ? (unsigned)(work ? work : 1) : BLOCK;
  if (blocks > most) blocks = most;
  if (blocks < 1) blocks = 1;
  return KMBI_CU(self, cuLaunchKernel, self->space->kernels[kernel],
                 (unsigned)blocks, 1, 1, threads, 1, 1, 0, stream, arguments,
                 NULL);
}

/* The sweep. */

static kmb_status sweep_alloc(kmbi_cuda *self, uint64_t bytes) {
  kmbi_cuda_space *space = self->space;
  kmbi_cu_stream stream = NULL;
  kmb_status status = kmbi_cuda_space_stream(self, &stream);
  if (!status) status = kmbi_cuda_space_module(self);
  if (status) return status;
  if (space->sweep) {
    status = KMBI_CU(self, cuMemFree, space->sweep);
    space->sweep = 0;
    space->sweep_bytes = 0;
    if (status) return status;
  }
  status = KMBI_CU(self, cuMemAlloc, &space->sweep, (size_t)bytes);
  if (status == KMB_ERR_NOMEM)
    return KMBI_CUDA_FAIL(self, status, KMBI_CU_OUT_OF_MEMORY,
                          "cuda:%d has no %llu bytes left for the sweep that "
                          "makes it cold; free some, or measure ROTATED or "
                          "WARM",
                          self->ordinal, (unsigned long long)bytes);
  if (status) return status;
  /* Written once: memory that never was may be read from nowhere. */
  status = KMBI_CU(self, cuMemsetD32Async, space->sweep, 0x5eed5eedu,
                   (size_t)(bytes / 4), stream);
  if (!status) status = kmbi_cuda_finish(self, stream);
  if (!status) space->sweep_bytes = bytes;
  return status;
}

kmb_status kmbi_cuda_sweep_prepare(void *opened, uint64_t bytes) {
  kmbi_cuda *self = opened;
  kmbi_cu_context before = NULL;
  if (bytes > UINT64_MAX - 15)
    return KMBI_CUDA_FAIL(self, KMB_ERR_INVALID, 0,
                          "a sweep of %llu bytes is more than a device has",
                          (unsigned long long)bytes);
  bytes = (bytes + 15) & ~UINT64_C(15);
  kmb_status status = kmbi_cuda_enter(self, &before);
  if (!status && bytes > self->space->sweep_bytes)
    status = sweep_alloc(self, bytes);
  kmbi_cuda_leave(self, before);
  return status;
}

kmb_status kmbi_cuda_sweep(kmbi_cuda *self, kmbi_cu_stream stream) {
  kmbi_cuda_space *space = self->space;
  if (!space->sweep_bytes)
    return KMBI_CUDA_FAIL(self, KMB_ERR_INVALID, 0,
                          "COLD needs sweep_prepare() in the stream's context "
                          "before samples are taken");
  uint64_t count = space->sweep_bytes / 16;
  void *arguments[] = {&space->sweep, &count, &space->scratch};
  return kmbi_cuda_launch(self, stream, KMBI_CUDA_sweep, count, arguments);
}

kmb_status kmbi_cuda_touch(kmbi_cuda *self, kmbi_cu_stream stream,
                           const kmb_span *span) {
  kmb_status status = kmbi_cuda_space_module(self);
  if (status || !span->bytes) return status;
  kmbi_cu_pointer at = (kmbi_cu_pointer)(uintptr_t)span->pointer;
  uint64_t bytes = span->bytes;
  void *arguments[] = {&at, &bytes, &self->space->scratch};
  return kmbi_cuda_launch(self, stream, KMBI_CUDA_touch, bytes / 32 + 1,
                          arguments);
}

uint64_t kmbi_cuda_cycles(kmbi_cuda *self, double ns) {
  int khz = 0;
  if (!kmbi_cuda_attribute(self, KMBI_CU_ATTR_CLOCK_RATE, &khz) || khz <= 0)
    khz = 1000000;
  return (uint64_t)(ns * khz / 1e6);
}

kmb_status kmbi_cuda_spin(kmbi_cuda *self, kmbi_cu_stream stream,
                          uint64_t cycles, kmbi_cu_pointer out) {
  void *arguments[] = {&cycles, &out};
  return kmbi_cuda_launch(self, stream, KMBI_CUDA_spin, 1, arguments);
}
