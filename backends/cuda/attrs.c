/* What the device says of itself. */
#include "cuda_backend.h"

#include <stdio.h>

bool kmbi_cuda_attribute(kmbi_cuda *self, int attribute, int *value) {
  return self->driver->cuDeviceGetAttribute(value, (kmbi_cu_enum)attribute,
                                            self->device) == KMBI_CU_SUCCESS;
}

static void write_uuid(const unsigned char *bytes, char *text, size_t size) {
  static const int ends[] = {4, 6, 8, 10, 16};
  size_t used = (size_t)snprintf(text, size, "GPU");
  int at = 0;
  for (int group = 0; group < 5; group++) {
    used += (size_t)snprintf(text + used, size - used, "-");
    for (; at < ends[group]; at++)
      used += (size_t)snprintf(text + used, size - used, "%02x", bytes[at]);
  }
}

kmb_status kmbi_cuda_identify(kmbi_cuda *self) {
  const kmbi_cu_driver *driver = self->driver;
  unsigned char uuid[16] = {0};
  int major = 0;
  int minor = 0;
  int pci = 0;
  kmb_status status = KMBI_CU(self, cuDeviceGetName, self->name,
                              (int)sizeof self->name, self->device);
  if (!status)
    status = KMBI_CU(self, cuDeviceGetPCIBusId, self->pci_bus,
                     (int)sizeof self->pci_bus, self->device);
  if (status) return status;
  if (driver->cuDeviceGetUuid &&
      !driver->cuDeviceGetUuid((struct CUuuid_st *)(void *)uuid, self->device))
    write_uuid(uuid, self->uuid, sizeof self->uuid);
  if (kmbi_cuda_attribute(self, KMBI_CU_ATTR_COMPUTE_CAPABILITY_MAJOR,
                          &major) &&
      kmbi_cuda_attribute(self, KMBI_CU_ATTR_COMPUTE_CAPABILITY_MINOR, &minor))
    snprintf(self->arch, sizeof self->arch, "sm_%d%d", major, minor);
  /* The device's half is above the vendor's. */
  if (kmbi_cuda_attribute(self, KMBI_CU_ATTR_GPU_PCI_DEVICE_ID, &pci))
    snprintf(self->pci_id, sizeof self->pci_id, "%04x:%04x",
             (unsigned)pci & 0xffffu, (unsigned)pci >> 16);
  return KMB_OK;
}

static kmb_status unavailable(kmbi_cuda *self, const char *why) {
  return KMBI_CUDA_FAIL(self, KMB_ERR_UNAVAILABLE, 0, "cuda:%d: %s",
                        self->ordinal, why);
}

static kmb_status unknown(kmbi_cuda *self, kmb_device_attr attr) {
  return KMBI_CUDA_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                        "cuda:%d has no attribute %d", self->ordinal,
                        (int)attr);
}

static kmb_status attribute(kmbi_cuda *self, int which, uint64_t *value,
                            const char *absent) {
  int got = 0;
  if (!kmbi_cuda_attribute(self, which, &got) || got <= 0)
    return unavailable(self, absent);
  *value = (uint64_t)got;
  return KMB_OK;
}

kmb_status kmbi_cuda_attr_u64(void *opened, kmb_device_attr attr,
                              uint64_t *value) {
  kmbi_cuda *self = opened;
  size_t bytes = 0;
  int node = 0;
  kmb_status status = KMB_OK;
  switch (attr) {
  case KMB_DEVICE_UNITS:
    return attribute(self, KMBI_CU_ATTR_MULTIPROCESSOR_COUNT, value,
                     "the driver gives no number of multiprocessors");
  case KMB_DEVICE_MEMORY_BYTES:
    status = KMBI_CU(self, cuDeviceTotalMem, &bytes, self->device);
    *value = bytes;
    return status;
  case KMB_DEVICE_L2_BYTES:
    return attribute(self, KMBI_CU_ATTR_L2_CACHE_SIZE, value,
                     "the driver gives no size of the L2 cache");
  case KMB_DEVICE_LLC_BYTES:
    *value = self->llc_given;
    if (self->llc_given) return KMB_OK;
    return attribute(self, KMBI_CU_ATTR_L2_CACHE_SIZE, value,
                     "the driver gives no size of the L2 cache, which is the "
                     "last level; set kmb_device_params.llc_bytes");
  case KMB_DEVICE_NUMA_NODE:
    if (!kmbi_cuda_attribute(self, KMBI_CU_ATTR_HOST_NUMA_ID, &node) ||
        node < 0)
      return unavailable(self, "the driver knows no NUMA node nearest to it");
    *value = (uint64_t)node;
    return KMB_OK;
  case KMB_DEVICE_L1_BYTES:
    return unavailable(self, "the L1 cache shares its memory with shared "
                             "memory; each kernel has another size of it");
  case KMB_DEVICE_NUMA_NODES:
    return unavailable(self, "NUMA nodes are counted by the host");
  case KMB_DEVICE_THREADS:
    return unavailable(self, "the work of a GPU uses no core of the host");
  default:
    return unknown(self, attr);
  }
}

/* The clock that kernels and the tracer read, which steps by some ns. */
static kmb_status measure_tick(kmbi_cuda *self) {
  uint64_t steps[KMBI_CUDA_STEPS] = {0};
  uint32_t count = KMBI_CUDA_STEPS;
  kmbi_cu_stream stream = NULL;
  kmb_status status = kmbi_cuda_space_stream(self, &stream);
  if (!status) status = kmbi_cuda_space_module(self);
  if (status) return status;
  kmbi_cu_pointer out = self->space->scratch + KMBI_CUDA_OUT;
  void *arguments[] = {&out, &count};
  status = KMBI_CU(self, cuMemsetD32Async, out, 0, sizeof steps / 4, stream);
  if (!status)
    status = kmbi_cuda_launch(self, stream, KMBI_CUDA_tick, 1, arguments);
  if (!status)
    status = KMBI_CU(self, cuMemcpyDtoHAsync, steps, out, sizeof steps, stream);
  if (!status) status = kmbi_cuda_finish(self, stream);
  if (status) return status;
  uint64_t least = 0;
  for (uint32_t i = 1; i < count; i++)
    if (steps[i] && (!least || steps[i] < least)) least = steps[i];
  if (!least) return unavailable(self, "the device's clock does not advance");
  self->tick_ns = (double)least;
  return KMB_OK;
}

kmb_status kmbi_cuda_attr_f64(void *opened, kmb_device_attr attr,
                              double *value) {
  kmbi_cuda *self = opened;
  kmb_status status = KMB_OK;
  if (attr != KMB_DEVICE_CLOCK_TICK_NS) return unknown(self, attr);
  if (self->tick_ns == 0) {
    kmbi_cu_context before = NULL;
    status = kmbi_cuda_enter(self, &before);
    if (!status) status = measure_tick(self);
    kmbi_cuda_leave(self, before);
  }
  *value = self->tick_ns;
  return status;
}

static kmb_status text_of(kmbi_cuda *self, const char *have, const char *absent,
                          const char **text) {
  *text = have;
  return *have ? KMB_OK : unavailable(self, absent);
}

kmb_status kmbi_cuda_attr_text(void *opened, kmb_device_attr attr,
                               const char **text) {
  kmbi_cuda *self = opened;
  uint64_t bytes = 0;
  switch (attr) {
  case KMB_DEVICE_NAME:
    return text_of(self, self->name, "the driver gives no name", text);
  case KMB_DEVICE_ARCH:
  case KMB_DEVICE_ISA:
    return text_of(self, self->arch, "the driver gives no compute capability",
                   text);
  case KMB_DEVICE_UUID:
    return text_of(self, self->uuid, "the driver (before 11.4) gives no UUID",
                   text);
  case KMB_DEVICE_PCI_ID:
    return text_of(self, self->pci_id,
                   "the driver gives no PCI vendor and device number", text);
  case KMB_DEVICE_LLC_SOURCE:
    *text = self->llc_given ? "caller" : "driver's L2 size";
    return kmbi_cuda_attr_u64(self, KMB_DEVICE_LLC_BYTES, &bytes);
  case KMB_DEVICE_BINDING:
    return unavailable(self, "a GPU has no cores to be bound to");
  default:
    return unknown(self, attr);
  }
}
