/* A set of buffers, as the engine sees it. */
#ifndef KMB_LIB_BUFFERS_H
#define KMB_LIB_BUFFERS_H

#include "device.h"
#include "memory.h"

#include <kmb/buffers.h>

/* Guard zones hold GUARD, outputs before a check hold POISON: NaN in every
 * float format, and no plausible integer. */
#define KMBI_POISON UINT64_C(0xfff5fff3fff5fff3)
#define KMBI_GUARD UINT64_C(0x5aa5c33c96696996)
enum { KMBI_GUARD_BYTES = 256 };

/* Where a buffer lies. */
typedef enum kmbi_place {
  KMBI_ROTATES, /* in each slot */
  KMBI_SHARED,  /* once for all slots */
  KMBI_CALLERS, /* in the caller's memory */
  KMBI_ALIAS    /* inside another buffer */
} kmbi_place;

typedef struct kmbi_block {
  void *memory;
  uint64_t bytes;
  struct kmbi_block *next;
} kmbi_block;

struct kmb_buffers {
  kmb_device *device;
  kmbi_arena arena; /* of the description */
  kmb_buffer_desc *descs;
  kmbi_place *places;
  uint64_t *offsets; /* in the slot or in the shared block */
  uint64_t count;
  kmb_buffers_params params;
  uint64_t slot_bytes, shared_bytes;
  uint64_t alignment; /* of a block: the strictest buffer's */
  kmbi_block *blocks;
  void **args; /* slot s, buffer i: args[s * count + i] */
  uint32_t slots;
  uint32_t args_capacity; /* in slots */
};

/* kmb_buffers_prepare() for a caller that holds the device. `allowance` is what
 * new slots may take. */
kmb_status kmbi_buffers_prepare(kmb_buffers *buffers, uint32_t slots,
                                uint64_t allowance);
/* Gives all memory back; the description stays. */
void kmbi_buffers_release(kmb_buffers *buffers);
/* Device memory that growing to `slots` takes; false if it does not fit into
 * 64 bits. */
bool kmbi_buffers_cost(const kmb_buffers *buffers, uint32_t slots,
                       uint64_t *bytes);
uint64_t kmbi_buffers_allocated(const kmb_buffers *buffers);
/* Most slots that the caller's pointers allow; 0: any. */
uint32_t kmbi_buffers_slots_limit(const kmb_buffers *buffers);
void *kmbi_buffers_at(const kmb_buffers *buffers, uint32_t slot,
                      uint64_t index);
bool kmbi_buffers_writes(const kmb_buffer_desc *desc); /* OUTPUT or INOUT */

/* An output that can be told from one that was not written. */
bool kmbi_buffers_poisonable(const kmb_buffers *set, uint64_t index);
/* Fill the outputs of a slot with the poison pattern. */
kmb_status kmbi_buffers_poison(kmb_buffers *buffers, uint32_t slot);
/* INCORRECT if a guard zone of the first `slots` slots was written, naming
 * buffer, slot and offset. */
kmb_status kmbi_buffers_guards(kmb_buffers *buffers, uint32_t slots);
/* Bytes of `data`, a copy of such a buffer, that still hold the pattern. */
uint64_t kmbi_poisoned_bytes(const kmb_buffer_desc *desc, const void *data);

#endif
