/* Device memory: real memory of the host. */
#include "sim.h"

#include <math.h>
#include <stdlib.h>

kmb_status sim_memory_available(void *self, uint64_t *bytes) {
  sim_device *device = self;
  SIM_FAULT(device, memory_available);
  *bytes = device->config.memory - device->allocated;
  return KMB_OK;
}

static kmb_status take(sim_device *device, uint64_t bytes, uint64_t align,
                       void **pointer) {
  const kmb_host *host = &device->host;
  if (host->device_alloc)
    return host->device_alloc(host->ctx, bytes, align, pointer);
  if (align < sizeof(void *)) align = sizeof(void *);
  uint64_t rounded = (bytes + align - 1) / align * align;
  *pointer = aligned_alloc((size_t)align, (size_t)rounded);
  if (!*pointer)
    return host->fail(host->ctx, KMB_ERR_NOMEM, 0,
                      "simulated device: the host has no %llu bytes",
                      (unsigned long long)bytes);
  return KMB_OK;
}

static void give(sim_device *device, void *pointer, uint64_t bytes) {
  const kmb_host *host = &device->host;
  if (host->device_alloc)
    host->device_free(host->ctx, pointer, bytes);
  else
    free(pointer);
}

kmb_status sim_alloc(void *self, uint64_t bytes, uint64_t align,
                     void **pointer) {
  sim_device *device = self;
  const kmb_host *host = &device->host;
  SIM_FAULT(device, alloc);
  if (bytes == 0 || align == 0 || (align & (align - 1)))
    sim_misuse(device, "alloc of %llu bytes aligned to %llu",
               (unsigned long long)bytes, (unsigned long long)align);
  if (bytes > device->config.memory - device->allocated)
    return host->fail(
        host->ctx, KMB_ERR_NOMEM, 0,
        "simulated device: %llu bytes asked, %llu left",
        (unsigned long long)bytes,
        (unsigned long long)(device->config.memory - device->allocated));
  sim_block *block = host->alloc(host->ctx, sizeof *block, _Alignof(sim_block));
  if (!block)
    return host->fail(host->ctx, KMB_ERR_NOMEM, 0,
                      "simulated device: no memory for its bookkeeping");
  kmb_status status = take(device, bytes, align, pointer);
  if (status) {
    host->free(host->ctx, block, sizeof *block);
    return status;
  }
  *block = (sim_block){device->blocks, *pointer, bytes};
  device->blocks = block;
  device->allocated += bytes;
  return KMB_OK;
}

void sim_free(void *self, void *pointer, uint64_t bytes) {
  sim_device *device = self;
  const kmb_host *host = &device->host;
  sim_block **link = &device->blocks;
  while (*link && (*link)->pointer != pointer)
    link = &(*link)->next;
  sim_block *block = *link;
  if (!block) {
    sim_misuse(device, "free of memory that it does not have");
    return;
  }
  if (block->bytes != bytes)
    sim_misuse(device, "free of %llu bytes that were allocated as %llu",
               (unsigned long long)bytes, (unsigned long long)block->bytes);
  *link = block->next;
  device->allocated -= block->bytes;
  give(device, pointer, block->bytes);
  host->free(host->ctx, block, sizeof *block);
}

/* A caller's own memory is no block of ours and cannot be checked. */
static void check_range(sim_device *device, const void *pointer, uint64_t bytes,
                        const char *what) {
  const char *at = pointer;
  for (const sim_block *b = device->blocks; b; b = b->next) {
    const char *begin = b->pointer;
    if (at < begin || at >= begin + b->bytes) continue;
    if (bytes > b->bytes - (uint64_t)(at - begin))
      sim_misuse(device, "%s beyond the end of an allocation", what);
    return;
  }
}

/* Copies wait for what was enqueued, as the null stream does. */
static kmb_status transfer(sim_device *device, const void *on_device,
                           uint64_t bytes, const char *what) {
  check_range(device, on_device, bytes, what);
  kmb_status status = sim_wait(device);
  if (status) return status;
  return sim_touch(device, (uint64_t)(uintptr_t)on_device, bytes);
}

kmb_status sim_write(void *self, void *to, const void *from, uint64_t bytes) {
  sim_device *device = self;
  SIM_FAULT(device, write);
  kmb_status status = transfer(device, to, bytes, "write");
  if (!status && bytes) memcpy(to, from, (size_t)bytes);
  return status;
}

kmb_status sim_read(void *self, void *to, const void *from, uint64_t bytes) {
  sim_device *device = self;
  SIM_FAULT(device, read);
  kmb_status status = transfer(device, from, bytes, "read");
  if (!status && bytes) memcpy(to, from, (size_t)bytes);
  return status;
}

kmb_status sim_set(void *self, void *pointer, uint64_t pattern,
                   uint64_t bytes) {
  sim_device *device = self;
  SIM_FAULT(device, set);
  kmb_status status = transfer(device, pointer, bytes, "set");
  if (status) return status;
  unsigned char *at = pointer;
  unsigned char eight[8];
  for (int i = 0; i < 8; i++)
    eight[i] = (unsigned char)(pattern >> (8 * i));
  for (; bytes >= sizeof eight; bytes -= sizeof eight, at += sizeof eight)
    memcpy(at, eight, sizeof eight);
  memcpy(at, eight, (size_t)bytes);
  return KMB_OK;
}

static void store_f16(unsigned char *at, double value) {
  /* Flushes what is below the normal range to zero. */
  uint16_t bits = value < 0 ? 0x8000 : 0;
  int exponent = 0;
  double fraction = frexp(fabs(value), &exponent); /* [0.5, 1) */
  if (exponent > 16)
    bits |= 0x7c00;
  else if (value != 0 && exponent > -14)
    bits |=
        (uint16_t)((exponent + 14) << 10 | ((int)(fraction * 2048) & 0x3ff));
  memcpy(at, &bits, sizeof bits);
}

static void store_f32(unsigned char *at, double value, size_t bytes) {
  float f = (float)value;
  unsigned char raw[sizeof f];
  memcpy(raw, &f, sizeof f);
  memcpy(at, raw + sizeof f - bytes, bytes); /* bf16 is the upper half */
}

/* Bytes of an element; 0 for a type that it cannot fill. */
static size_t element_bytes(kmb_dtype dtype) {
  switch (dtype) {
  case KMB_U8:
  case KMB_I8:
    return 1;
  case KMB_F16:
  case KMB_BF16:
    return 2;
  case KMB_I32:
  case KMB_F32:
  case KMB_TF32:
    return 4;
  case KMB_I64:
  case KMB_F64:
    return 8;
  default:
    return 0;
  }
}

static void store(unsigned char *at, kmb_dtype dtype, double value) {
  int64_t whole = (int64_t)floor(value);
  switch (dtype) {
  case KMB_F16:
    store_f16(at, value);
    break;
  case KMB_BF16:
    store_f32(at, value, 2);
    break;
  case KMB_F32:
  case KMB_TF32:
    store_f32(at, value, 4);
    break;
  case KMB_F64:
    memcpy(at, &value, sizeof value);
    break;
  default:
    memcpy(at, &whole, element_bytes(dtype)); /* little-endian */
  }
}

static bool is_integer(kmb_dtype dtype) {
  return dtype >= KMB_U8 && dtype <= KMB_I64;
}

kmb_status sim_fill_random(void *self, const kmb_fill *fill) {
  sim_device *device = self;
  SIM_FAULT(device, fill_random);
  size_t size = element_bytes(fill->dtype);
  if (size == 0)
    return device->host.fail(device->host.ctx, KMB_ERR_UNSUPPORTED, 0,
                             "simulated device fills no elements of type %d",
                             (int)fill->dtype);
  kmb_status status =
      transfer(device, fill->pointer, fill->bytes, "fill_random");
  if (status) return status;
  sim_random random;
  sim_random_seed(&random, fill->seed);
  double span = fill->high - fill->low + (is_integer(fill->dtype) ? 1 : 0);
  unsigned char *at = fill->pointer;
  for (uint64_t i = 0; i + size <= fill->bytes; i += size)
    store(at + i, fill->dtype, fill->low + span * sim_uniform(&random));
  return KMB_OK;
}
