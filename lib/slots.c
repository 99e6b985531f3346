/* The memory of a set of buffers: taking, filling, poisoning, guarding. */
#include "buffers.h"
#include "error.h"
#include "format.h"

void *kmbi_buffers_at(const kmb_buffers *set, uint32_t slot, uint64_t index) {
  return set->args[(uint64_t)slot * set->count + index];
}

uint64_t kmbi_buffers_allocated(const kmb_buffers *set) {
  uint64_t bytes = 0;
  for (const kmbi_block *b = set->blocks; b; b = b->next)
    bytes += b->bytes;
  return bytes;
}

bool kmbi_buffers_cost(const kmb_buffers *set, uint32_t slots,
                       uint64_t *bytes) {
  *bytes = 0;
  if (slots <= set->slots) return true;
  uint64_t shared = set->slots ? 0 : set->shared_bytes;
  return kmbi_mul(set->slot_bytes, slots - set->slots, bytes) &&
         kmbi_add(*bytes, shared, bytes);
}

/* Gives back what was taken after `keep`; all of it for NULL. */
static void drop_blocks(kmb_buffers *set, const kmbi_block *keep) {
  kmb_device *device = set->device;
  while (set->blocks != keep) {
    kmbi_block *block = set->blocks;
    set->blocks = block->next;
    device->slot_bytes -= block->bytes;
    device->ops->free(device->self, block->memory, block->bytes);
    kmbi_free(&device->memory, block, 1, sizeof *block);
  }
}

void kmbi_buffers_release(kmb_buffers *set) {
  kmb_device *device = set->device;
  drop_blocks(set, NULL);
  kmbi_free(&device->memory, set->args,
            (size_t)set->args_capacity * (size_t)set->count, sizeof *set->args);
  set->args = NULL;
  set->args_capacity = 0;
  set->slots = 0;
}

/* Taking memory. */

static kmb_status take_block(kmb_buffers *set, uint64_t bytes, char **memory) {
  kmb_device *device = set->device;
  *memory = NULL;
  if (!bytes) return KMB_OK;
  kmbi_block *block = kmbi_alloc(&device->memory, 1, sizeof *block);
  if (!block) return kmbi_fail(KMB_ERR_NOMEM, "no memory for a block record");
  kmb_status status =
      device->ops->alloc(device->self, bytes, set->alignment, &block->memory);
  if (status) {
    kmbi_free(&device->memory, block, 1, sizeof *block);
    return status;
  }
  block->bytes = bytes;
  device->slot_bytes += bytes;
  block->next = set->blocks;
  set->blocks = block;
  *memory = block->memory;
  return KMB_OK;
}

static kmb_status grow_args(kmb_buffers *set, uint32_t slots) {
  if (slots <= set->args_capacity) return KMB_OK;
  const kmbi_memory *memory = &set->device->memory;
  uint64_t count = 0;
  void **args = NULL;
  if (kmbi_mul(slots, set->count, &count) && count <= SIZE_MAX)
    args = kmbi_alloc(memory, (size_t)count, sizeof *args);
  if (!args)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for the pointers of %u slots",
                     (unsigned)slots);
  size_t used = (size_t)set->slots * (size_t)set->count;
  if (used) memcpy(args, set->args, used * sizeof *args);
  kmbi_free(memory, set->args, (size_t)set->args_capacity * (size_t)set->count,
            sizeof *args);
  set->args = args;
  set->args_capacity = slots;
  return KMB_OK;
}

/* Filling. */

static kmb_status fill_from_callback(kmb_buffers *set, const kmb_buffer_desc *d,
                                     uint32_t slot, void *pointer) {
  kmb_device *device = set->device;
  size_t size = (size_t)d->bytes;
  void *data = kmbi_alloc(&device->memory, size, 1);
  if (!data)
    return kmbi_fail(KMB_ERR_NOMEM,
                     "no host memory for %zu bytes of buffer \"%s\"", size,
                     d->name);
  kmb_status status = d->fill_fn(d->fill_user, data, d->bytes, slot);
  if (!status) status = device->ops->write(device->self, pointer, data, size);
  kmbi_free(&device->memory, data, size, 1);
  return status;
}

static kmb_status fill_buffer(kmb_buffers *set, uint64_t index, uint32_t slot,
                              void *pointer) {
  kmb_device *device = set->device;
  const kmb_buffer_desc *d = &set->descs[index];
  bool random = d->fill == KMB_FILL_RANDOM ||
                (d->fill == KMB_FILL_DEFAULT &&
                 (d->role == KMB_INPUT || d->role == KMB_INOUT));
  if (random) {
    kmb_fill fill = {sizeof fill, pointer, d->bytes, d->seed,
                     d->low,      d->high, d->dtype, 0};
    return device->ops->fill_random(device->self, &fill);
  }
  if (d->fill == KMB_FILL_COPY)
    return device->ops->write(device->self, pointer, d->source, d->bytes);
  if (d->fill == KMB_FILL_CALLBACK)
    return fill_from_callback(set, d, slot, pointer);
  uint64_t pattern = d->fill == KMB_FILL_ZERO ? 0 : KMBI_POISON;
  return device->ops->set(device->self, pointer, pattern, d->bytes);
}

static kmb_status set_guards(kmb_buffers *set, uint64_t index, char *pointer) {
  kmb_device *device = set->device;
  kmb_status status = device->ops->set(device->self, pointer - KMBI_GUARD_BYTES,
                                       KMBI_GUARD, KMBI_GUARD_BYTES);
  if (status) return status;
  return device->ops->set(device->self, pointer + set->descs[index].bytes,
                          KMBI_GUARD, KMBI_GUARD_BYTES);
}

static void *callers_pointer(const kmb_buffer_desc *d, uint32_t slot) {
  return d->pointers[slot < d->pointer_count ? slot : 0];
}

static kmb_status fill_slot(kmb_buffers *set, uint32_t slot, char *memory,
                            char *shared) {
  void **args = set->args + (uint64_t)slot * set->count;
  kmb_status status = KMB_OK;
  for (uint64_t i = 0; i < set->count && !status; i++) {
    const kmb_buffer_desc *d = &set->descs[i];
    switch (set->places[i]) {
    case KMBI_CALLERS:
      args[i] = callers_pointer(d, slot);
      break;
    case KMBI_ALIAS:
      args[i] = (char *)args[d->alias_of] + d->alias_offset;
      break;
    case KMBI_SHARED:
      if (slot) {
        args[i] = set->args[i];
        break;
      }
      args[i] = shared + set->offsets[i];
      status = set_guards(set, i, args[i]);
      if (!status) status = fill_buffer(set, i, slot, args[i]);
      break;
    case KMBI_ROTATES:
      args[i] = memory + set->offsets[i];
      status = set_guards(set, i, args[i]);
      if (!status) status = fill_buffer(set, i, slot, args[i]);
      break;
    }
  }
  return status;
}

/* All of the new slots lie in one block. */
static kmb_status add_slots(kmb_buffers *set, uint32_t slots) {
  char *memory = NULL, *shared = NULL;
  uint64_t bytes = 0;
  kmb_status status = grow_args(set, slots);
  if (!status && !kmbi_mul(set->slot_bytes, slots - set->slots, &bytes))
    status =
        kmbi_fail(KMB_ERR_NOMEM, "%u slots exceed 64 bits", (unsigned)slots);
  if (!status && !set->slots)
    status = take_block(set, set->shared_bytes, &shared);
  if (!status) status = take_block(set, bytes, &memory);
  for (uint32_t s = set->slots; s < slots && !status; s++) {
    status = fill_slot(set, s, memory, shared);
    if (memory) memory += set->slot_bytes;
  }
  return status;
}

kmb_status kmbi_buffers_prepare(kmb_buffers *set, uint32_t slots,
                                uint64_t allowance) {
  if (slots <= set->slots) return KMB_OK;
  uint64_t bytes = 0;
  bool fits = kmbi_buffers_cost(set, slots, &bytes);
  if (!fits || bytes > allowance)
    return kmbi_fail(KMB_ERR_NOMEM,
                     "%u slot%s need%s %s%llu more bytes, %llu are allowed; "
                     "raise kmb_device_params.memory_budget or ask for fewer "
                     "slots",
                     (unsigned)slots, kmbi_plural(slots), slots == 1 ? "s" : "",
                     fits ? "" : "over ", (unsigned long long)bytes,
                     (unsigned long long)allowance);
  const kmbi_block *keep = set->blocks;
  kmb_status status = add_slots(set, slots);
  if (status) {
    drop_blocks(set, keep);
    return status;
  }
  set->slots = slots;
  return KMB_OK;
}

kmb_status kmb_buffers_prepare(kmb_buffers *set, uint32_t slots) {
  if (!set || !slots)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_buffers_prepare: a set and at least one slot");
  /* Another thread may be adding slots: look at the set only inside. */
  kmb_status status = kmbi_device_enter(set->device, "kmb_buffers_prepare");
  if (status) return status;
  kmbi_error_state before;
  kmbi_error_save(&before);
  uint64_t room = 0;
  uint32_t limit = kmbi_buffers_slots_limit(set);
  if (limit && slots > limit)
    status = kmbi_fail(KMB_ERR_INVALID,
                       "kmb_buffers_prepare: %u slots, but the caller's "
                       "pointers allow %u",
                       (unsigned)slots, (unsigned)limit);
  if (!status) status = kmbi_device_room(set->device, &room);
  if (!status) status = kmbi_buffers_prepare(set, slots, room);
  kmbi_device_note(set->device, status);
  kmbi_device_leave(set->device);
  return kmbi_callback_failed(status, &before);
}

/* Poison and guards. */

/* The fewest bytes that show by their value that they were not written: an
 * element that is NaN or no plausible integer, or several small ones. */
static uint64_t least_evidence(const kmb_buffer_desc *d) {
  uint32_t bits = 0;
  bool large = !kmb_dtype_bits(d->dtype, &bits) && bits >= 16;
  return large ? bits / 8 : 4;
}

bool kmbi_buffers_poisonable(const kmb_buffers *set, uint64_t index) {
  const kmb_buffer_desc *d = &set->descs[index];
  if (d->role != KMB_OUTPUT || d->bytes < least_evidence(d)) return false;
  if (!(d->flags & KMB_BUFFER_ALIAS)) return true;
  /* Inside an input, poison would destroy what the operation reads. */
  kmb_buffer_role base = set->descs[d->alias_of].role;
  return base == KMB_OUTPUT || base == KMB_SCRATCH;
}

kmb_status kmbi_buffers_poison(kmb_buffers *set, uint32_t slot) {
  kmb_device *device = set->device;
  kmb_status status = KMB_OK;
  for (uint64_t i = 0; i < set->count && !status; i++) {
    const kmb_buffer_desc *d = &set->descs[i];
    if (kmbi_buffers_poisonable(set, i))
      status = device->ops->set(device->self, kmbi_buffers_at(set, slot, i),
                                KMBI_POISON, d->bytes);
  }
  return status;
}

static void pattern_bytes(uint64_t pattern, unsigned char bytes[8]) {
  for (int i = 0; i < 8; i++)
    bytes[i] = (unsigned char)(pattern >> (8 * i));
}

static bool holds(const unsigned char *data, const unsigned char pattern[8],
                  uint64_t from, uint64_t end) {
  while (from < end && data[from] == pattern[from % 8])
    from++;
  return from == end;
}

uint64_t kmbi_poisoned_bytes(const kmb_buffer_desc *d, const void *data) {
  unsigned char pattern[8];
  pattern_bytes(KMBI_POISON, pattern);
  uint64_t bytes = d->bytes, least = least_evidence(d), same = 0, i = 0;
  /* Count whole words only where all eight bytes agree: one byte that happens
   * to equal the pattern's proves nothing. */
  for (; i < bytes && bytes - i >= 8; i += 8)
    if (holds(data, pattern, i, i + 8)) same += 8;
  /* What is left over counts with what goes before if it is too short. */
  uint64_t from = bytes - i < least ? bytes - least : i;
  if (i < bytes && bytes >= least && holds(data, pattern, from, bytes))
    same += bytes - i;
  return same;
}

static kmb_status check_zone(kmb_buffers *set, uint64_t index, uint32_t slot,
                             const char *zone, bool after) {
  kmb_device *device = set->device;
  unsigned char bytes[KMBI_GUARD_BYTES], pattern[8];
  kmb_status status =
      device->ops->read(device->self, bytes, zone, sizeof bytes);
  if (status) return status;
  pattern_bytes(KMBI_GUARD, pattern);
  for (int i = 0; i < KMBI_GUARD_BYTES; i++) {
    if (bytes[i] == pattern[i % 8]) continue;
    long long offset = after ? (long long)set->descs[index].bytes + i
                             : (long long)i - KMBI_GUARD_BYTES;
    return kmbi_fail(KMB_ERR_INCORRECT,
                     "buffer \"%s\" of slot %u was written outside its bounds, "
                     "at byte %lld of %llu",
                     set->descs[index].name, (unsigned)slot, offset,
                     (unsigned long long)set->descs[index].bytes);
  }
  return KMB_OK;
}

static bool has_guards(const kmb_buffers *set, uint32_t slot, uint64_t index) {
  kmbi_place place = set->places[index];
  return place == KMBI_ROTATES || (place == KMBI_SHARED && slot == 0);
}

/* After damage was reported, so that a later check accuses nobody wrongly. The
 * first failure's words stay. */
static void restore_guards(kmb_buffers *set, uint32_t slots) {
  kmbi_error_state report;
  kmbi_error_save(&report);
  for (uint32_t s = 0; s < slots; s++)
    for (uint64_t i = 0; i < set->count; i++)
      if (has_guards(set, s, i) &&
          set_guards(set, i, kmbi_buffers_at(set, s, i)))
        break;
  kmbi_error_restore(&report);
}

kmb_status kmbi_buffers_guards(kmb_buffers *set, uint32_t slots) {
  kmb_status status = KMB_OK;
  for (uint32_t s = 0; s < slots && !status; s++) {
    for (uint64_t i = 0; i < set->count && !status; i++) {
      if (!has_guards(set, s, i)) continue;
      const char *at = kmbi_buffers_at(set, s, i);
      status = check_zone(set, i, s, at - KMBI_GUARD_BYTES, false);
      if (!status)
        status = check_zone(set, i, s, at + set->descs[i].bytes, true);
    }
  }
  if (status == KMB_ERR_INCORRECT) restore_guards(set, slots);
  return status;
}
