/* What we keep on the device: a stream, our kernels, the sweep's buffer, the
 * gate. Each is made when first needed. */
#include "hip_backend.h"

enum { BLOCK = 256, BLOCKS_PER_UNIT = 8, SINK_BYTES = 256, SPIN_AT = 128 };

kmb_status kmbi_hip_space_stream(kmbi_hip *self, kmbi_hip_stream *stream) {
  kmbi_hip_space *space = &self->space;
  kmb_status status = KMB_OK;
  if (!space->stream)
    status = KMBI_HIP(self, hipStreamCreateWithFlags, &space->stream,
                      KMBI_HIP_STREAM_NON_BLOCKING);
  if (status) space->stream = NULL;
  *stream = space->stream;
  return status;
}

static kmb_status load_module(kmbi_hip *self, kmbi_hip_module *module) {
  const kmb_host *host = self->host;
  char *code = NULL;
  size_t size = 0;
  kmb_status status = kmbi_hip_compile(self, &code, &size);
  if (status) return status;
  status = KMBI_HIP(self, hipModuleLoadData, module, code);
  host->free(host->ctx, code, size);
  return status;
}

kmb_status kmbi_hip_space_module(kmbi_hip *self) {
  static const char *const names[] = {
#define NAME(name) [KMBI_HIP_##name] = "kmb_" #name,
      KMBI_HIP_KERNEL_MAP(NAME)
#undef NAME
  };
  kmbi_hip_space *space = &self->space;
  kmbi_hip_module module = NULL;
  if (space->module) return KMB_OK;
  kmb_status status = load_module(self, &module);
  if (status) return status;
  for (int i = 0; !status && i < KMBI_HIP_KERNELS; i++)
    status = KMBI_HIP(self, hipModuleGetFunction, &space->kernels[i], module,
                      names[i]);
  if (!status && !space->sink)
    status = KMBI_HIP(self, hipMalloc, &space->sink, SINK_BYTES);
  if (status)
    (void)self->api->hipModuleUnload(module);
  else
    space->module = module;
  return status;
}

kmb_status kmbi_hip_space_gate(kmbi_hip *self) {
  kmbi_hip_space *space = &self->space;
  void *memory = NULL;
  if (space->gate) return KMB_OK;
  kmb_status status = KMBI_HIP(self, hipHostMalloc, &memory, 4096,
                               KMBI_HIP_HOST_PORTABLE | KMBI_HIP_HOST_MAPPED);
  if (status) return status;
  status =
      KMBI_HIP(self, hipHostGetDevicePointer, &space->gate_device, memory, 0);
  if (status) {
    (void)self->api->hipHostFree(memory);
    return status;
  }
  memset(memory, 0, 8);
  space->gate_turn = 0;
  space->gate = memory;
  return KMB_OK;
}

void kmbi_hip_space_close(kmbi_hip *self) {
  const kmbi_hip_api *api = self->api;
  kmbi_hip_space *space = &self->space;
  if (space->gate) (void)api->hipHostFree((void *)(uintptr_t)space->gate);
  if (space->sweep) (void)api->hipFree(space->sweep);
  if (space->sink) (void)api->hipFree(space->sink);
  if (space->module) (void)api->hipModuleUnload(space->module);
  if (space->stream) (void)api->hipStreamDestroy(space->stream);
  memset(space, 0, sizeof *space);
}

kmb_status kmbi_hip_launch(kmbi_hip *self, kmbi_hip_stream stream,
                           kmbi_hip_kernel kernel, uint64_t work,
                           void **arguments) {
  kmb_status status = kmbi_hip_space_module(self);
  if (status) return status;
  int units = 0;
  if (!kmbi_hip_attribute(self, KMBI_HIP_ATTR_MultiprocessorCount, &units) ||
      units < 1)
    units = 1;
  uint64_t blocks = work / BLOCK + (work % BLOCK != 0);
  uint64_t most = (uint64_t)units * BLOCKS_PER_UNIT;
  unsigned threads = work < BLOCK ? (unsigned)(work ? work : 1) : BLOCK;
  if (blocks > most) blocks = most;
  if (blocks < 1) blocks = 1;
  return KMBI_HIP(self, hipModuleLaunchKernel, self->space.kernels[kernel],
                  (unsigned)blocks, 1, 1, threads, 1, 1, 0, stream, arguments,
                  NULL);
}

/* The sweep. */

static kmb_status sweep_alloc(kmbi_hip *self, uint64_t bytes) {
  kmbi_hip_space *space = &self->space;
  kmbi_hip_stream stream = NULL;
  kmb_status status = kmbi_hip_space_stream(self, &stream);
  if (!status) status = kmbi_hip_space_module(self);
  if (status) return status;
  if (space->sweep) {
    status = KMBI_HIP(self, hipFree, space->sweep);
    space->sweep = NULL;
    space->sweep_bytes = 0;
    if (status) return status;
  }
  status = KMBI_HIP(self, hipMalloc, &space->sweep, (size_t)bytes);
  if (status) {
    space->sweep = NULL;
    if (status == KMB_ERR_NOMEM)
      status = KMBI_HIP_FAIL(self, status, KMBI_HIP_OutOfMemory,
                             "no memory for a read sweep of %llu bytes, twice "
                             "the last-level cache; free some, or measure "
                             "ROTATED or WARM",
                             (unsigned long long)bytes);
    return status;
  }
  /* Written once: memory that never was may be read from nowhere. */
  status = KMBI_HIP(self, hipMemsetD32Async, space->sweep, 0x5eed5eed,
                    (size_t)(bytes / 4), stream);
  if (!status) status = kmbi_hip_finish(self, stream);
  if (!status) space->sweep_bytes = bytes;
  return status;
}

kmb_status kmbi_hip_sweep_prepare(void *opened, uint64_t bytes) {
  kmbi_hip *self = opened;
  int before = 0;
  if (bytes > UINT64_MAX - 15)
    return KMBI_HIP_FAIL(self, KMB_ERR_INVALID, 0,
                         "a sweep of %llu bytes is more than a device has",
                         (unsigned long long)bytes);
  bytes = (bytes + 15) & ~UINT64_C(15);
  kmb_status status = kmbi_hip_enter(self, &before);
  if (!status && bytes > self->space.sweep_bytes)
    status = sweep_alloc(self, bytes);
  kmbi_hip_leave(self, before);
  return status;
}

kmb_status kmbi_hip_sweep(kmbi_hip *self, kmbi_hip_stream stream) {
  kmbi_hip_space *space = &self->space;
  if (!space->sweep_bytes)
    return KMBI_HIP_FAIL(self, KMB_ERR_INVALID, 0,
                         "COLD needs sweep_prepare() before samples are taken");
  uint64_t count = space->sweep_bytes / 16;
  void *arguments[] = {&space->sweep, &count, &space->sink};
  return kmbi_hip_launch(self, stream, KMBI_HIP_sweep, count, arguments);
}

kmb_status kmbi_hip_touch(kmbi_hip *self, kmbi_hip_stream stream,
                          const kmb_span *span) {
  kmb_status status = kmbi_hip_space_module(self);
  if (status || !span->bytes) return status;
  void *at = span->pointer;
  uint64_t bytes = span->bytes;
  void *arguments[] = {(void *)&at, &bytes, &self->space.sink};
  return kmbi_hip_launch(self, stream, KMBI_HIP_touch, bytes / 32 + 1,
                         arguments);
}

kmb_status kmbi_hip_spin(kmbi_hip *self, kmbi_hip_stream stream,
                         uint64_t cycles, bool stores) {
  kmb_status status = kmbi_hip_space_module(self); /* and the sink with it */
  if (status) return status;
  void *out = stores ? (char *)self->space.sink + SPIN_AT : NULL;
  void *arguments[] = {&cycles, &out};
  return kmbi_hip_launch(self, stream, KMBI_HIP_spin, 1, arguments);
}
