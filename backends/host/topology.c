/* Cores, caches and binding, from hwloc. */
#define _GNU_SOURCE
#include "host.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* Only what is used: cores, PUs, caches, memory. I/O discovery alone would
 * cost more than all the rest. */
static int load(hwloc_topology_t topology) {
  static const hwloc_obj_type_t kept[] = {HWLOC_OBJ_CORE,    HWLOC_OBJ_L1CACHE,
                                          HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                          HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE};
  if (hwloc_topology_set_all_types_filter(topology,
                                          HWLOC_TYPE_FILTER_KEEP_NONE))
    return -1;
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
    if (hwloc_topology_set_type_filter(topology, kept[i],
                                       HWLOC_TYPE_FILTER_KEEP_ALL))
      return -1;
  return hwloc_topology_load(topology);
}

/* Private caches and the outermost one, walking up from a PU. */
static void read_caches(kmbi_host_core *core, hwloc_obj_t pu) {
  core->llc = KMBI_HOST_NO_LLC;
  for (hwloc_obj_t at = pu->parent; at; at = at->parent) {
    if (!hwloc_obj_type_is_dcache(at->type)) continue;
    uint64_t size = at->attr->cache.size;
    if (at->type == HWLOC_OBJ_L1CACHE) core->l1_bytes = size;
    if (at->type == HWLOC_OBJ_L2CACHE) core->l2_bytes = size;
    if (size == 0) continue;
    core->llc_bytes = size;
    /* Unique over levels: cores may differ in how many they have. */
    core->llc = (uint32_t)at->depth << 24 | (at->logical_index & 0xFFFFFFu);
  }
}

/* The cores with at least one PU in `allowed`; with `cores` NULL it counts. */
static uint32_t list_cores(hwloc_topology_t topology, hwloc_const_bitmap_t set,
                           kmbi_host_core *cores) {
  bool has_cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
  hwloc_obj_t last = NULL;
  hwloc_obj_t pu = NULL;
  uint32_t count = 0;
  while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu))) {
    if (!hwloc_bitmap_isset(set, pu->os_index)) continue;
    hwloc_obj_t core = pu;
    if (has_cores) {
      core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
      if (!core) core = pu;
    }
    /* PUs come in logical order: those of a core are neighbours. */
    if (core == last) continue;
    last = core;
    if (cores) {
      cores[count].object = core;
      cores[count].pu = pu->os_index;
      read_caches(&cores[count], pu);
    }
    count++;
  }
  return count;
}

static void describe_binding(kmbi_host *self, hwloc_const_bitmap_t allowed) {
  char list[KMBI_HOST_TEXT - 64];
  hwloc_bitmap_list_snprintf(list, sizeof list, allowed);
  snprintf(self->binding, sizeof self->binding,
           "not bound by libkmb; may run on PUs %s", list);
}

/* What this process may run on: the affinity of all its threads together,
 * since the calling one may have been bound to a single core. */
static kmb_status allowed_set(kmbi_host *self, hwloc_bitmap_t set) {
  if (hwloc_get_cpubind(self->topology, set, HWLOC_CPUBIND_PROCESS) &&
      hwloc_get_cpubind(self->topology, set, HWLOC_CPUBIND_THREAD))
    hwloc_bitmap_copy(set, hwloc_topology_get_topology_cpuset(self->topology));
  hwloc_bitmap_and(set, set,
                   hwloc_topology_get_topology_cpuset(self->topology));
  if (hwloc_bitmap_iszero(set))
    return KMBI_HOST_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                          "host: hwloc reports no processor that this process "
                          "may run on; check its affinity and cpuset");
  return KMB_OK;
}

static kmb_status take_cores(kmbi_host *self, uint32_t threads) {
  kmb_status status = allowed_set(self, self->scratch);
  if (status) return status;
  uint32_t count = list_cores(self->topology, self->scratch, NULL);
  if (threads > count)
    return KMBI_HOST_FAIL(self, KMB_ERR_INVALID, 0,
                          "host: %u threads asked for, but this process may "
                          "run on %u cores; ask for fewer or widen its "
                          "affinity",
                          (unsigned)threads, (unsigned)count);
  const kmb_host *host = self->host;
  self->cores = host->alloc(host->ctx, count * sizeof *self->cores,
                            _Alignof(kmbi_host_core));
  if (!self->cores)
    return KMBI_HOST_FAIL(self, KMB_ERR_NOMEM, 0,
                          "host: no memory for a list of %u cores",
                          (unsigned)count);
  memset(self->cores, 0, count * sizeof *self->cores);
  self->core_count = list_cores(self->topology, self->scratch, self->cores);
  self->threads = threads ? threads : count;
  describe_binding(self, self->scratch);
  return KMB_OK;
}

kmb_status kmbi_host_topology_open(kmbi_host *self, uint32_t threads) {
  errno = 0;
  if (hwloc_topology_init(&self->topology)) {
    self->topology = NULL;
    return KMBI_HOST_FAIL(self, KMB_ERR_UNAVAILABLE, errno,
                          "host: hwloc_topology_init failed (errno %d)", errno);
  }
  if (load(self->topology))
    return KMBI_HOST_FAIL(self, KMB_ERR_UNAVAILABLE, errno,
                          "host: hwloc could not load the topology (errno %d); "
                          "see what lstopo says",
                          errno);
  self->before = hwloc_bitmap_alloc();
  self->scratch = hwloc_bitmap_alloc();
  if (!self->before || !self->scratch)
    return KMBI_HOST_FAIL(self, KMB_ERR_NOMEM, 0,
                          "host: no memory for a processor set");
  return take_cores(self, threads);
}

void kmbi_host_topology_close(kmbi_host *self) {
  const kmb_host *host = self->host;
  if (self->bound_thread && self->bound_thread == gettid())
    hwloc_set_cpubind(self->topology, self->before, HWLOC_CPUBIND_THREAD);
  if (self->cores)
    host->free(host->ctx, self->cores, self->core_count * sizeof *self->cores);
  hwloc_bitmap_free(self->before);
  hwloc_bitmap_free(self->scratch);
  if (self->topology) hwloc_topology_destroy(self->topology);
}

kmb_status kmbi_host_bind(kmbi_host *self) {
  uint32_t pu = self->cores[0].pu;
  hwloc_bitmap_only(self->scratch, pu);
  if (hwloc_get_cpubind(self->topology, self->before, HWLOC_CPUBIND_THREAD) ||
      hwloc_set_cpubind(self->topology, self->scratch, HWLOC_CPUBIND_THREAD))
    return KMBI_HOST_FAIL(self, KMB_ERR_PERM, errno,
                          "host: binding the calling thread to PU %u failed "
                          "(errno %d); open without KMB_DEVICE_BIND",
                          (unsigned)pu, errno);
  self->bound_thread = gettid();
  snprintf(self->binding, sizeof self->binding,
           "calling thread bound to PU %u until the device is closed",
           (unsigned)pu);
  return KMB_OK;
}

int64_t kmbi_host_llc_known(const kmbi_host *self, uint32_t threads,
                            uint64_t *bytes) {
  *bytes = self->llc_given;
  if (self->llc_given) return -1;
  for (uint32_t i = 0; i < threads; i++) {
    const kmbi_host_core *core = &self->cores[i];
    if (core->llc == KMBI_HOST_NO_LLC) return i;
    bool seen = false;
    for (uint32_t j = 0; j < i && !seen; j++)
      seen = self->cores[j].llc == core->llc;
    if (!seen) *bytes += core->llc_bytes;
  }
  return -1;
}

kmb_status kmbi_host_llc(kmbi_host *self, uint32_t threads, uint64_t *bytes) {
  int64_t without = kmbi_host_llc_known(self, threads, bytes);
  if (without < 0) return KMB_OK;
  return KMBI_HOST_FAIL(self, KMB_ERR_UNAVAILABLE, 0,
                        "host: no cache is reported for the core of PU %u; "
                        "set kmb_device_params.llc_bytes to the size of the "
                        "last-level cache",
                        (unsigned)self->cores[without].pu);
}
