/* What `kmb work` was asked to count. */
#ifndef KMB_TOOLS_WORK_H
#define KMB_TOOLS_WORK_H

#include "kmb.h"

/* Operations, one bit each, so that an option can say whose it is. */
enum {
  WORK_GEMM = 1 << 0,
  WORK_GROUPED = 1 << 1,
  WORK_ATTENTION = 1 << 2,
  WORK_DECODE = 1 << 3,
  WORK_MLA = 1 << 4,
  WORK_MOE = 1 << 5,
  WORK_NORM = 1 << 6,
  WORK_SOFTMAX = 1 << 7,
  WORK_ACTIVATION = 1 << 8,
  WORK_ELEMENTWISE = 1 << 9,
  WORK_COPY = 1 << 10,
  WORK_COLLECTIVE = 1 << 11
};

enum { WORK_LIST = 4096 };

typedef struct work_list {
  uint64_t count;
  uint64_t items[WORK_LIST];
} work_list;

/* Every option has a place here; 0 or "" is what was not given. */
typedef struct work_options {
  uint32_t operation;
  bool json;
  uint64_t m, n, k, batch, groups, rows, columns, hidden, intermediate, experts;
  uint64_t top_k, active_experts, tokens, heads, kv_heads, q_len, kv_len, dim;
  uint64_t v_dim, ckv_dim, kpe_dim, bytes, ranks, inputs, outputs;
  uint64_t flops_per_element;
  work_list row_list, q_list, kv_list;
  kmb_dtype dtype, a_dtype, b_dtype, out_dtype, kv_dtype, weight_dtype;
  kmb_dtype compute_dtype, logits_dtype;
  kmb_scales a_scales, b_scales;
  kmb_mask mask;
  kmb_pairs pairs;
  kmb_attention_pass pass;
  kmb_norm norm;
  kmb_collective collective;
  bool bias, beta, epilogue, complex, used_only, ungated, gated, residual;
} work_options;

/* The bit of an operation's name; 0: there is none. */
uint32_t work_operation(const char *name);
const char *work_operation_name(uint32_t operation);
/* Reads the words after the operation's name. An exit status, reported. */
int read_work_options(work_options *options, int argc, char **argv);
void list_work_options(FILE *to);

#endif
