/* Describing a set of buffers: validation, layout, sizes. */
#include "buffers.h"

#include "error.h"
#include "structs.h"

#include <stdio.h>

enum { DEFAULT_ALIGNMENT = 256 };
#define DEFAULT_REUSE_FACTOR 2.0
#define KNOWN_FLAGS \
  ((uint32_t)(KMB_BUFFER_SEED | KMB_BUFFER_RANGE | KMB_BUFFER_ALIAS))

bool kmbi_buffers_writes(const kmb_buffer_desc *desc) {
  return desc->role == KMB_OUTPUT || desc->role == KMB_INOUT;
}

static bool reads(const kmb_buffer_desc *desc) {
  return desc->role == KMB_INPUT || desc->role == KMB_INOUT;
}

static bool is_float(kmb_dtype dtype) {
  return dtype != KMB_U8 && dtype != KMB_I8 && dtype != KMB_I32 &&
         dtype != KMB_I64 && dtype != KMB_I4;
}

/* Validation, one question a function; `where` names the buffer. */

static kmb_status check_basics(const kmb_buffer_desc *d, const char *where) {
  uint32_t bits = 0;
  if (d->role < KMB_INPUT || d->role > KMB_SCRATCH)
    return kmbi_fail(KMB_ERR_INVALID, "%s: role %d is unknown; use KMB_INPUT …",
                     where, (int)d->role);
  if (kmb_dtype_bits(d->dtype, &bits))
    return kmbi_fail(KMB_ERR_INVALID, "%s: dtype %d is unknown", where,
                     (int)d->dtype);
  if (!d->bytes) return kmbi_fail(KMB_ERR_INVALID, "%s: bytes is 0", where);
  if (d->bytes > INT64_MAX || d->bytes > SIZE_MAX)
    return kmbi_fail(KMB_ERR_INVALID, "%s: %llu bytes is more than any memory",
                     where, (unsigned long long)d->bytes);
  if (d->touched_bytes > d->bytes)
    return kmbi_fail(KMB_ERR_INVALID, "%s: touched_bytes exceeds bytes", where);
  if (d->alignment & (d->alignment - 1) || d->alignment > (1u << 30))
    return kmbi_fail(KMB_ERR_INVALID,
                     "%s: alignment must be a power of two up to 1 GiB", where);
  if (d->flags & ~KNOWN_FLAGS)
    return kmbi_fail(KMB_ERR_UNSUPPORTED, "%s: unknown flags 0x%x", where,
                     (unsigned)d->flags);
  if (d->residency != KMB_RESIDENT_COLD && d->residency != KMB_RESIDENT_WARM)
    return kmbi_fail(KMB_ERR_INVALID, "%s: unknown residency %d", where,
                     (int)d->residency);
  return KMB_OK;
}

static kmb_status check_random(const kmb_buffer_desc *d, const char *where) {
  bool ranged = d->flags & KMB_BUFFER_RANGE;
  uint32_t bits = 0;
  if (kmb_dtype_bits(d->dtype, &bits) || (bits >= 8 && d->bytes % (bits / 8)))
    return kmbi_fail(KMB_ERR_INVALID,
                     "%s: %llu bytes are no whole number of %s", where,
                     (unsigned long long)d->bytes, kmb_dtype_name(d->dtype));
  if (ranged && !(d->low <= d->high && d->high - d->low <= 1e300))
    return kmbi_fail(KMB_ERR_INVALID,
                     "%s: range [low, high] is empty or not finite", where);
  if (!ranged && !is_float(d->dtype))
    return kmbi_fail(KMB_ERR_INVALID,
                     "%s: random %s needs a range; set low, high and "
                     "KMB_BUFFER_RANGE, or another fill",
                     where, kmb_dtype_name(d->dtype));
  return KMB_OK;
}

static kmb_status check_fill(const kmb_buffer_desc *d, const char *where) {
  switch (d->fill) {
  case KMB_FILL_DEFAULT:
    return reads(d) ? check_random(d, where) : KMB_OK;
  case KMB_FILL_RANDOM:
    return check_random(d, where);
  case KMB_FILL_ZERO:
    return KMB_OK;
  case KMB_FILL_COPY:
    if (d->source) return KMB_OK;
    return kmbi_fail(KMB_ERR_INVALID, "%s: KMB_FILL_COPY needs source", where);
  case KMB_FILL_CALLBACK:
    if (d->fill_fn) return KMB_OK;
    return kmbi_fail(KMB_ERR_INVALID, "%s: KMB_FILL_CALLBACK needs fill_fn",
                     where);
  case KMB_FILL_CALLER:
    if (!d->pointers || !d->pointer_count || d->pointer_count > UINT32_MAX)
      return kmbi_fail(KMB_ERR_INVALID,
                       "%s: KMB_FILL_CALLER needs pointers and pointer_count",
                       where);
    for (uint64_t i = 0; i < d->pointer_count; i++)
      if (!d->pointers[i])
        return kmbi_fail(KMB_ERR_INVALID, "%s: pointers[%llu] is NULL", where,
                         (unsigned long long)i);
    return KMB_OK;
  default:
    return kmbi_fail(KMB_ERR_INVALID, "%s: unknown fill %d", where,
                     (int)d->fill);
  }
}

static kmb_status check_alias(const kmb_buffers *set, uint64_t index,
                              const char *where) {
  const kmb_buffer_desc *d = &set->descs[index];
  if (!(d->flags & KMB_BUFFER_ALIAS)) return KMB_OK;
  if (d->alias_of >= index || set->descs[d->alias_of].flags & KMB_BUFFER_ALIAS)
    return kmbi_fail(KMB_ERR_INVALID,
                     "%s: alias_of must be an earlier buffer that is no alias",
                     where);
  if (reads(d) && set->descs[d->alias_of].role == KMB_OUTPUT)
    return kmbi_fail(KMB_ERR_INVALID,
                     "%s: reads from the output \"%s\", which is poisoned "
                     "before the check; give that the role KMB_INOUT",
                     where, set->descs[d->alias_of].name);
  if (d->fill != KMB_FILL_DEFAULT)
    return kmbi_fail(KMB_ERR_INVALID,
                     "%s: an alias has no fill of its own; fill \"%s\"", where,
                     set->descs[d->alias_of].name);
  uint64_t end = 0;
  if (!kmbi_add(d->alias_offset, d->bytes, &end) ||
      end > set->descs[d->alias_of].bytes)
    return kmbi_fail(KMB_ERR_INVALID, "%s: reaches beyond \"%s\"", where,
                     set->descs[d->alias_of].name);
  return KMB_OK;
}

static kmb_status check_desc(const kmb_buffers *set, uint64_t index) {
  const kmb_buffer_desc *d = &set->descs[index];
  char where[96];
  const char *name = d->name ? d->name : "";
  int shown = (int)strnlen(name, 48);
  snprintf(where, sizeof where, "buffer %llu \"%.*s\"",
           (unsigned long long)index, shown, name);
  if (!*name)
    return kmbi_fail(KMB_ERR_INVALID, "%s: a name is required", where);
  kmb_status status = check_basics(d, where);
  if (!status) status = check_alias(set, index, where);
  if (!status && !(d->flags & KMB_BUFFER_ALIAS)) status = check_fill(d, where);
  return status;
}

/* Layout. A slot is [guard] buffer [guard][guard] buffer … ; guards also keep
 * buffers of power-of-two size from all starting at one offset of a page. */

static kmbi_place place_of(const kmb_buffer_desc *d) {
  if (d->flags & KMB_BUFFER_ALIAS) return KMBI_ALIAS;
  if (d->fill == KMB_FILL_CALLER) return KMBI_CALLERS;
  if (d->role == KMB_SCRATCH || d->residency == KMB_RESIDENT_WARM)
    return KMBI_SHARED;
  return KMBI_ROTATES;
}

static bool place(uint64_t *used, const kmb_buffer_desc *d, uint64_t *offset) {
  uint64_t at = 0, end = 0;
  if (!kmbi_add(*used, KMBI_GUARD_BYTES + d->alignment - 1, &at)) return false;
  at = at / d->alignment * d->alignment;
  if (!kmbi_add(at, d->bytes, &end) || !kmbi_add(end, KMBI_GUARD_BYTES, &end))
    return false;
  *offset = at;
  *used = end;
  return end <= INT64_MAX;
}

static kmb_status lay_out(kmb_buffers *set) {
  set->alignment = KMBI_GUARD_BYTES;
  for (uint64_t i = 0; i < set->count; i++) {
    kmb_buffer_desc *d = &set->descs[i];
    bool fits = true;
    set->places[i] = place_of(d);
    if (set->places[i] == KMBI_ROTATES)
      fits = place(&set->slot_bytes, d, &set->offsets[i]);
    if (set->places[i] == KMBI_SHARED)
      fits = place(&set->shared_bytes, d, &set->offsets[i]);
    if (!fits)
      return kmbi_fail(KMB_ERR_INVALID,
                       "buffer %llu \"%s\": one slot exceeds 64 bits",
                       (unsigned long long)i, d->name);
    if (d->alignment > set->alignment) set->alignment = d->alignment;
  }
  /* Slots follow each other in one block, so their size keeps alignment. */
  uint64_t over = set->slot_bytes % set->alignment;
  if (over) set->slot_bytes += set->alignment - over;
  return KMB_OK;
}

/* Copying what the caller gave. */

static kmb_status copy_desc(kmb_buffers *set, uint64_t index, const void *from,
                            size_t stride) {
  kmb_buffer_desc *d = &set->descs[index];
  size_t size = 0;
  memcpy(&size, from, sizeof size);
  if (size > stride)
    return kmbi_fail(KMB_ERR_INVALID,
                     "buffer %llu: struct_size %zu exceeds the stride %zu",
                     (unsigned long long)index, size, stride);
  kmb_status status =
      kmbi_copy_in(d, sizeof *d, KMBI_BUFFER_DESC_V1, from, "kmb_buffer_desc");
  if (status) return status;
  status = check_desc(set, index);
  if (status) return status;
  if (!d->touched_bytes) d->touched_bytes = d->bytes;
  if (!d->alignment) d->alignment = DEFAULT_ALIGNMENT;
  if (!d->seed && !(d->flags & KMB_BUFFER_SEED)) d->seed = index + 1;
  if (!(d->flags & KMB_BUFFER_RANGE)) {
    d->low = -1;
    d->high = 1;
  }
  d->name = kmbi_arena_copy(&set->arena, d->name);
  if (d->fill == KMB_FILL_CALLER) {
    size_t n = (size_t)d->pointer_count;
    void **copy = kmbi_arena_alloc(&set->arena, n, sizeof *copy);
    if (copy) memcpy(copy, d->pointers, n * sizeof *copy);
    d->pointers = copy;
  }
  return KMB_OK;
}

static kmb_status copy_params(kmb_buffers *set,
                              const kmb_buffers_params *params) {
  set->params = kmb_buffers_params_init();
  if (params) {
    kmb_status status =
        kmbi_copy_in(&set->params, sizeof set->params, KMBI_BUFFERS_PARAMS_V1,
                     params, "kmb_buffers_params");
    if (status) return status;
  }
  double factor = set->params.reuse_factor;
  if (factor == 0)
    set->params.reuse_factor = DEFAULT_REUSE_FACTOR;
  else if (!(factor >= 1 && factor <= 1000))
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_buffers_params: reuse_factor must lie in [1, 1000]");
  if (set->params.flags)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "kmb_buffers_params: flags must be 0");
  return KMB_OK;
}

static kmb_status fill_set(kmb_buffers *set, const kmb_buffer_desc *descs,
                           size_t stride, const kmb_buffers_params *params) {
  kmb_status status = copy_params(set, params);
  if (status) return status;
  size_t n = (size_t)set->count;
  set->descs = kmbi_arena_alloc(&set->arena, n, sizeof *set->descs);
  set->places = kmbi_arena_alloc(&set->arena, n, sizeof *set->places);
  set->offsets = kmbi_arena_alloc(&set->arena, n, sizeof *set->offsets);
  if (!kmbi_arena_failed(&set->arena)) {
    const char *from = (const char *)descs;
    for (uint64_t i = 0; i < set->count && !status; i++)
      status = copy_desc(set, i, from + i * stride, stride);
  }
  if (status) return status;
  if (kmbi_arena_failed(&set->arena))
    return kmbi_fail(KMB_ERR_NOMEM, "no memory to describe %zu buffers", n);
  return lay_out(set);
}

kmb_status kmb_buffers_create(kmb_device *device, const kmb_buffer_desc *descs,
                              size_t stride, uint64_t count,
                              const kmb_buffers_params *params,
                              kmb_buffers **out) {
  if (!out)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_buffers_create: buffers is NULL");
  *out = NULL;
  kmb_status status = kmbi_device_check(device, "kmb_buffers_create");
  if (status) return status;
  if (!descs || !count)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_buffers_create: at least one descriptor is needed");
  if (stride < KMBI_BUFFER_DESC_V1 || stride > 65536 || count > UINT32_MAX)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_buffers_create: stride %zu or count %llu is out of "
                     "range; pass sizeof the descriptor and their number",
                     stride, (unsigned long long)count);
  kmb_buffers *set = kmbi_alloc(&device->memory, 1, sizeof *set);
  if (!set) return kmbi_fail(KMB_ERR_NOMEM, "no memory for a set of buffers");
  kmbi_arena_init(&set->arena, &device->memory);
  set->device = device;
  set->count = count;
  status = fill_set(set, descs, stride, params);
  if (status) {
    kmbi_arena_release(&set->arena);
    kmbi_free(&device->memory, set, 1, sizeof *set);
    return status;
  }
  kmbi_device_hold(device);
  *out = set;
  return KMB_OK;
}

void kmb_buffers_destroy(kmb_buffers *set) {
  if (!set) return;
  kmb_device *device = set->device;
  kmbi_buffers_release(set);
  kmbi_arena_release(&set->arena);
  kmbi_free(&device->memory, set, 1, sizeof *set);
  kmbi_device_drop(device);
}

/* Sizes. */

/* An alias counts where it is touched, not again in its host buffer: the host
 * buffer states its own touched bytes. */
static void sum_touched(const kmb_buffers *set, kmb_buffers_info *info) {
  uint64_t inputs = 0, outputs = 0;
  for (uint64_t i = 0; i < set->count; i++) {
    const kmb_buffer_desc *d = &set->descs[i];
    if (d->role == KMB_SCRATCH || d->flags & KMB_BUFFER_ALIAS) continue;
    info->touched_bytes += d->touched_bytes;
    if (d->residency == KMB_RESIDENT_WARM) continue;
    if (reads(d))
      inputs += d->touched_bytes;
    else
      outputs += d->touched_bytes;
  }
  info->cold_bytes = inputs ? inputs : outputs;
}

uint32_t kmbi_buffers_slots_limit(const kmb_buffers *set) {
  uint64_t limit = 0;
  for (uint64_t i = 0; i < set->count; i++) {
    const kmb_buffer_desc *d = &set->descs[i];
    if (set->places[i] != KMBI_CALLERS || d->role == KMB_SCRATCH ||
        d->residency == KMB_RESIDENT_WARM)
      continue;
    if (!limit || d->pointer_count < limit) limit = d->pointer_count;
  }
  return (uint32_t)limit;
}

kmb_status kmb_buffers_get_info(const kmb_buffers *set, kmb_buffers_info *out) {
  if (!set)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_buffers_get_info: buffers is NULL");
  kmb_status status = kmbi_device_check(set->device, "kmb_buffers_get_info");
  if (status) return status;
  kmb_buffers_info info = kmb_buffers_info_init();
  info.count = set->count;
  info.slots = set->slots;
  info.slots_limit = kmbi_buffers_slots_limit(set);
  info.allocated_bytes = kmbi_buffers_allocated(set);
  sum_touched(set, &info);
  if (set->slots > 1) info.reuse_bytes = info.cold_bytes * (set->slots - 1);
  return kmbi_copy_out(out, &info, sizeof info, KMBI_BUFFERS_INFO_V1,
                       "kmb_buffers_get_info: info");
}

kmb_status kmb_buffers_pointer(const kmb_buffers *set, uint32_t slot,
                               uint64_t index, void **pointer) {
  if (!set || !pointer)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_buffers_pointer: NULL argument");
  kmb_status status = kmbi_device_check(set->device, "kmb_buffers_pointer");
  if (status) return status;
  if (slot >= set->slots || index >= set->count)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_buffers_pointer: slot %u, buffer %llu of %u prepared "
                     "slots and %llu buffers",
                     (unsigned)slot, (unsigned long long)index,
                     (unsigned)set->slots, (unsigned long long)set->count);
  *pointer = kmbi_buffers_at(set, slot, index);
  return KMB_OK;
}
