/* Ceilings of a device: measured once, kept until it is closed. */
#include "device.h"
#include "error.h"
#include "structs.h"

static kmb_status check_kind(kmb_ceiling_kind kind) {
  if (kind < KMB_CEILING_READ || kind > KMB_CEILING_MEMORY)
    return kmbi_fail(KMB_ERR_INVALID,
                     "no ceiling of kind %d; use "
                     "KMB_CEILING_READ …",
                     (int)kind);
  return KMB_OK;
}

static const kmb_ceiling *find(const kmb_device *device, kmb_ceiling_kind kind,
                               kmb_dtype dtype, uint32_t threads) {
  const kmbi_ceiling_entry *entry = device->ceilings;
  for (; entry; entry = entry->next) {
    const kmb_ceiling *c = &entry->ceiling;
    if (c->kind == kind && c->dtype == dtype && c->threads == threads) return c;
  }
  return NULL;
}

static kmb_status keep(kmb_device *device, const kmb_ceiling *ceiling) {
  kmbi_ceiling_entry *entry = kmbi_alloc(&device->memory, 1, sizeof *entry);
  if (!entry) return kmbi_fail(KMB_ERR_NOMEM, "no memory to keep a ceiling");
  entry->ceiling = *ceiling;
  entry->next = device->ceilings;
  device->ceilings = entry;
  return KMB_OK;
}

kmb_status kmbi_device_ceiling(kmb_device *device, kmb_ceiling_kind kind,
                               kmb_dtype dtype, uint32_t threads,
                               kmb_ceiling *ceiling) {
  kmb_status status = check_kind(kind);
  if (status) return status;
  if (kind != KMB_CEILING_FMA && kind != KMB_CEILING_MATRIX) dtype = 0;
  if (!threads) {
    uint64_t all = 0;
    kmbi_error_state before;
    kmbi_error_save(&before);
    status = device->ops->attr_u64(device->self, KMB_DEVICE_THREADS, &all);
    if (status && status != KMB_ERR_UNAVAILABLE) return status;
    /* A GPU uses no core of the host. */
    if (status) kmbi_error_restore(&before);
    threads = (uint32_t)all;
  }
  const kmb_ceiling *known = find(device, kind, dtype, threads);
  if (known) {
    *ceiling = *known;
    return KMB_OK;
  }
  if (!KMBI_HAS(device->ops, ceiling))
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "backend %s measures no ceilings; give your own",
                     device->ops->name);
  kmb_ceiling fresh = kmb_ceiling_init();
  /* What a backend tried in vain on the way to success is nobody's failure. */
  kmbi_error_state before;
  kmbi_error_save(&before);
  status = device->ops->ceiling(device->self, kind, dtype, threads, &fresh);
  if (status) return status;
  kmbi_error_restore(&before);
  if (!(fresh.value > 0))
    return kmbi_fail(KMB_ERR_INTERNAL,
                     "backend %s measured a ceiling that is not positive",
                     device->ops->name);
  fresh.kind = kind;
  fresh.dtype = dtype;
  fresh.threads = threads;
  fresh.source = KMB_SOURCE_MEASURED;
  status = keep(device, &fresh);
  if (!status) *ceiling = fresh;
  return status;
}

kmb_status kmb_device_ceiling(kmb_device *device, kmb_ceiling_kind kind,
                              kmb_dtype dtype, uint32_t threads,
                              kmb_ceiling *out) {
  if (!out)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_device_ceiling: ceiling is NULL");
  kmb_status status = kmbi_device_enter(device, "kmb_device_ceiling");
  if (status) return status;
  kmb_ceiling ceiling = kmb_ceiling_init();
  status = kmbi_device_ceiling(device, kind, dtype, threads, &ceiling);
  kmbi_device_note(device, status);
  kmbi_device_leave(device);
  if (status) return status;
  return kmbi_copy_out(out, &ceiling, sizeof ceiling, KMBI_CEILING_V1,
                       "kmb_device_ceiling: ceiling");
}
