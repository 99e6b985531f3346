/* Results to test with, and callbacks that write into and read from memory. */
#ifndef KMB_TESTS_SAMPLES_H
#define KMB_TESTS_SAMPLES_H

#include "require.h"

#include "result.h"

/* Output of a write callback; `limit` bytes fit, then it returns `status`. */
typedef struct sink {
  char *data;
  size_t size, limit;
  kmb_status status;
} sink;

static inline kmb_status sink_write(void *user, const void *data, size_t size) {
  sink *s = user;
  if (s->status && s->size + size > s->limit) return s->status;
  s->data = realloc(s->data, s->size + size + 1);
  memcpy(s->data + s->size, data, size);
  s->size += size;
  s->data[s->size] = '\0';
  return KMB_OK;
}

/* Input of a read callback, in pieces of `piece` bytes (0: all). */
typedef struct source {
  const char *data;
  size_t size, at, piece;
} source;

static inline kmb_status source_read(void *user, void *data, size_t size,
                                     size_t *got) {
  source *s = user;
  size_t left = s->size - s->at;
  if (size > left) size = left;
  if (s->piece && size > s->piece) size = s->piece;
  memcpy(data, s->data + s->at, size);
  s->at += size;
  *got = size;
  return KMB_OK;
}

static inline kmb_status read_text(const char *text, size_t size,
                                   kmb_results **results) {
  source s = {text, size, 0, 7};
  return kmb_results_read_json(source_read, &s, NULL, results);
}

#define SAMPLE_HASH \
  "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f000"

/* One of which all is known, and one of which nothing is. */
static inline void fill_kernels(kmb_code_kernel kernels[2]) {
  kmb_code_kernel *k = &kernels[0];
  k->name = "_Z4gemmPf";
  k->demangled = "gemm(float*)";
  k->arch = "sm_90";
  k->hash = SAMPLE_HASH "00";
  k->code_hash = SAMPLE_HASH "ff";
  k->file = "_Z4gemmPf.cubin";
  k->launches = UINT64_MAX;
  k->registers = 168;
  k->static_shared_bytes = 1024;
  k->dynamic_shared_bytes = 65536;
  k->local_bytes = 16;
  k->max_threads = 384;
  k->blocks_per_unit = 1;
  k->code_offset = 64;
  k->code_bytes = 4096;
  k->scalar_registers = 96;
  k->accumulator_registers = 4;
  k->spilled_registers = 18;
  k->spilled_scalar_registers = 2;
  k->grid_x = UINT32_MAX, k->grid_y = 2, k->grid_z = 3;
  k->block_x = 384, k->block_y = 1, k->block_z = 1;
  k->flags = KMB_CODE_HAS_ATTRIBUTES | KMB_CODE_HAS_OCCUPANCY |
             KMB_CODE_HAS_SCALARS | KMB_CODE_HAS_ACCUMULATORS |
             KMB_CODE_HAS_SPILLS;
  kernels[1].name = "cop\xFFy";
  kernels[1].launches = 1;
  kernels[1].reason = "its image was loaded before the capture";
}

/* Sets something of every kind. */
static inline void fill_sample(kmb_result *result, const char *name) {
  const kmb_pair axes[] = {{"rows", "4096"}, {"dtype", "f32"}};
  const double ns[] = {0.1, 36130.25, 1e300, 5e-324};
  const kmb_figure figures[] = {{"share_pct", 3.5}, {"overhead_ns", 0.1}};
  kmbi_result_set_axes(result, axes, 2);
  kmbi_result_set_text(result, KMB_VALUE_NAME, name);
  kmbi_result_set_f64(result, KMB_VALUE_TIME, 36130.12345678901);
  kmbi_result_set_f64(result, KMB_VALUE_INTERVAL_LOW, -0.25);
  kmbi_result_set_f64(result, KMB_VALUE_BIAS, -1.0 / 3);
  kmbi_result_set_u64(result, KMB_VALUE_SAMPLES, 4);
  kmbi_result_set_u64(result, KMB_VALUE_SEED, UINT64_MAX);
  kmbi_result_set_u64(result, KMB_VALUE_FLOPS, (1ULL << 53) + 1);
  kmbi_result_set_u64(result, KMB_VALUE_LEAST_BYTES, 1ULL << 53);
  kmbi_result_format(result, KMB_VALUE_READING, "memory-bound: %d%%", 87);
  kmbi_result_absent(result, KMB_VALUE_SUM, "only %s sees them", "TRACE");
  kmbi_result_absent(result, KMB_VALUE_BUSY, "only %s sees them", "TRACE");
  kmb_op ops[] = {kmb_op_init(), kmb_op_init()};
  ops[0].name = "_Z4gemmPf";
  ops[0].duration_ns = 36000.5, ops[0].min_ns = 35000;
  ops[0].max_ns = 37000.25, ops[0].share_pct = 99.5;
  ops[0].kind = KMB_OP_KERNEL, ops[0].stream = 7;
  ops[0].grid_x = 132, ops[0].grid_y = 2, ops[0].grid_z = 3;
  ops[0].block_x = 256, ops[0].block_y = 4, ops[0].block_z = 1;
  ops[0].registers = 40, ops[0].local = 16;
  ops[0].static_shared = 128, ops[0].dynamic_shared = UINT32_MAX;
  ops[0].flags = KMB_OP_HAS_LAUNCH;
  ops[1].start_ns = 36000.5, ops[1].duration_ns = 0.1;
  ops[1].max_ns = 1e300, ops[1].share_pct = 5e-324;
  ops[1].bytes = UINT64_MAX;
  ops[1].kind = KMB_OP_MEMCPY, ops[1].stream = UINT32_MAX;
  kmbi_result_set_ops(result, ops, 2);
  const kmb_rank ranks[] = {
      {sizeof(kmb_rank), "A \"device\"", "GPU-1", 36130.25, 0.1, 1e300, 3, 12,
       UINT64_MAX, 0},
      {sizeof(kmb_rank), NULL, NULL, 36000.5, 5e-324, 36001, 1, 0, 0, 1}};
  kmbi_result_set_ranks(result, ranks, 2);
  kmb_code_kernel kernels[] = {kmb_code_kernel_init(), kmb_code_kernel_init()};
  fill_kernels(kernels);
  kmbi_result_set_kernels(result, kernels, 2);
  kmbi_result_set_u64(result, KMB_VALUE_CODE_OMITTED, 0);
  kmbi_result_set_u64(result, KMB_VALUE_CODE_UNSEEN, 3);
  kmbi_result_set_samples(result, ns, 4);
  kmbi_result_find(result, KMB_FINDING_NOT_QUIET, KMB_WARNING, figures, 2,
                   "others took %.1f%%", 3.5);
  kmbi_result_find(result, KMB_FINDING_CHECK_SKIPPED, KMB_NOTE, NULL, 0,
                   "no check was given");
  kmbi_result_meta(result, "host.cpu", "a \"quoted\"\n\tname", NULL);
  kmbi_result_meta(result, "device.uuid", NULL, "a host has none");
  kmbi_result_meta(result, "host.os", "Debian", NULL);
}

static inline kmb_result *make_sample(const char *name) {
  kmbi_memory memory = kmbi_memory_from(NULL);
  kmb_result *result = NULL;
  REQUIRE_OK(kmbi_result_create(&memory, &result));
  fill_sample(result, name);
  REQUIRE_OK(kmbi_result_finish(&result));
  return result;
}

#endif
