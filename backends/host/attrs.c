/* What the host says of itself. */
#include "host.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>

#include "available.h"
#include "kernels.h"

static kmb_status unavailable(kmbi_host *self, const char *reason) {
  return KMBI_HOST_FAIL(self, KMB_ERR_UNAVAILABLE, 0, "host: %s", reason);
}

static kmb_status unknown(kmbi_host *self, kmb_device_attr attr) {
  return KMBI_HOST_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                        "host: has no attribute %d of this kind", (int)attr);
}

/* Private cache sizes are told only if every used core has the same. */
static kmb_status private_cache(kmbi_host *self, int level, uint64_t *value) {
  for (uint32_t i = 0; i < self->threads; i++) {
    const kmbi_host_core *core = &self->cores[i];
    uint64_t bytes = level == 1 ? core->l1_bytes : core->l2_bytes;
    if (bytes == 0)
      return KMBI_HOST_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                            "host: no L%d data cache is reported for the core "
                            "of PU %u",
                            level, (unsigned)core->pu);
    if (i > 0 && bytes != *value)
      return KMBI_HOST_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                            "host: the used cores differ in the size of L%d; "
                            "use cores of one kind",
                            level);
    *value = bytes;
  }
  return KMB_OK;
}

static kmb_status numa_node(kmbi_host *self, uint64_t *value) {
  hwloc_bitmap_t set = self->scratch;
  if (hwloc_get_cpubind(self->topology, set, HWLOC_CPUBIND_THREAD))
    return unavailable(self, "the binding of the calling thread is unknown");
  hwloc_obj_t found = NULL;
  hwloc_obj_t node = NULL;
  while ((node = hwloc_get_next_obj_by_type(self->topology, HWLOC_OBJ_NUMANODE,
                                            node))) {
    if (!hwloc_bitmap_intersects(node->cpuset, set)) continue;
    if (found)
      return unavailable(self, "the calling thread may run on several NUMA "
                               "nodes; bind it (KMB_DEVICE_BIND)");
    found = node;
  }
  if (!found) return unavailable(self, "hwloc reports no NUMA node");
  *value = found->os_index;
  return KMB_OK;
}

kmb_status kmbi_host_attr_u64(void *opened, kmb_device_attr attr,
                              uint64_t *value) {
  kmbi_host *self = opened;
  int nodes = 0;
  switch (attr) {
  case KMB_DEVICE_UNITS:
    *value = self->core_count;
    return KMB_OK;
  case KMB_DEVICE_THREADS:
    *value = self->threads;
    return KMB_OK;
  case KMB_DEVICE_L1_BYTES:
    return private_cache(self, 1, value);
  case KMB_DEVICE_L2_BYTES:
    return private_cache(self, 2, value);
  case KMB_DEVICE_LLC_BYTES:
    return kmbi_host_llc(self, self->threads, value);
  case KMB_DEVICE_MEMORY_BYTES:
    /* hwloc sums what the nodes had at boot, which need not be all. */
    if (kmbi_host_meminfo("", "MemTotal", value)) return KMB_OK;
    return unavailable(self, "/proc/meminfo has no MemTotal");
  case KMB_DEVICE_NUMA_NODES:
    nodes = hwloc_get_nbobjs_by_type(self->topology, HWLOC_OBJ_NUMANODE);
    *value = nodes > 0 ? (uint64_t)nodes : 0;
    return nodes > 0 ? KMB_OK : unavailable(self, "hwloc reports no NUMA node");
  case KMB_DEVICE_NUMA_NODE:
    return numa_node(self, value);
  default:
    return unknown(self, attr);
  }
}

double kmbi_host_tick(double (*now)(void *), void *self, double limit_ns) {
  enum { READS = 4096, STEPS = 64 };
  double start = now(self);
  double last = start;
  double least = 0;
  int steps = 0;
  /* A coarse clock needs more reads until it has stepped often enough. */
  for (int i = 0; i < READS || steps < STEPS; i++) {
    double t = now(self);
    double step = t - last;
    last = t;
    if (!(step > 0)) {
      if (steps == 0 && i > 100 * READS) return 0;
      continue;
    }
    steps++;
    if (least == 0 || step < least) least = step;
    if (t - start > limit_ns) break;
  }
  return least;
}

kmb_status kmbi_host_attr_f64(void *opened, kmb_device_attr attr,
                              double *value) {
  kmbi_host *self = opened;
  if (attr != KMB_DEVICE_CLOCK_TICK_NS) return unknown(self, attr);
  if (self->tick_ns == 0)
    self->tick_ns = kmbi_host_tick(kmbi_host_now, self, 1e6);
  if (self->tick_ns == 0)
    return unavailable(self, "CLOCK_MONOTONIC does not advance");
  *value = self->tick_ns;
  return KMB_OK;
}

static kmb_status arch(kmbi_host *self, const char **text) {
  struct utsname system;
  if (!self->arch[0] && uname(&system) == 0)
    snprintf(self->arch, sizeof self->arch, "%s", system.machine);
  *text = self->arch;
  return self->arch[0] ? KMB_OK : unavailable(self, "uname failed");
}

kmb_status kmbi_host_attr_text(void *opened, kmb_device_attr attr,
                               const char **text) {
  kmbi_host *self = opened;
  uint64_t bytes = 0;
  switch (attr) {
  case KMB_DEVICE_NAME:
    *text = kmbi_host_cpu_name(self);
    return *text ? KMB_OK
                 : unavailable(self, "the processor's name is neither in CPUID "
                                     "nor in /proc/cpuinfo");
  case KMB_DEVICE_ARCH:
    return arch(self, text);
  case KMB_DEVICE_ISA:
    *text = kmbi_host_isa_name(kmbi_host_isa_best());
    return KMB_OK;
  case KMB_DEVICE_LLC_SOURCE:
    *text = self->llc_given ? "caller" : "hwloc";
    return kmbi_host_llc(self, self->threads, &bytes);
  case KMB_DEVICE_BINDING:
    *text = self->binding;
    return KMB_OK;
  case KMB_DEVICE_UUID:
    return unavailable(self, "a host has no UUID that programs may read");
  case KMB_DEVICE_PCI_ID:
    return unavailable(self, "a host is no PCI device");
  default:
    return unknown(self, attr);
  }
}
