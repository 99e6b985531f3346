/* A program of 0.1 that counts work. Not edited once 0.1 is tagged. */
#include "check.h"

static void products_are_counted(void) {
  kmb_work work = kmb_work_init();
  kmb_matmul_shape matmul = kmb_matmul_shape_init();
  matmul.m = 2;
  matmul.n = 3;
  matmul.k = 4;
  matmul.dtype = KMB_F32;
  OK(kmb_work_matmul(&matmul, &work));
  HOLDS(work.flops == 48 && work.read_bytes == 80 && work.write_bytes == 24);
  const uint64_t rows[] = {3, 5};
  kmb_grouped_shape grouped = kmb_grouped_shape_init();
  grouped.groups = 2;
  grouped.n = 4;
  grouped.k = 2;
  grouped.rows = rows;
  grouped.dtype = KMB_BF16;
  OK(kmb_work_grouped(&grouped, &work));
  HOLDS(work.flops == 128 && work.convention);
  kmb_moe_shape moe = kmb_moe_shape_init();
  moe.tokens = 2;
  moe.hidden = 16;
  moe.intermediate = 32;
  moe.experts = 8;
  moe.top_k = 2;
  moe.dtype = KMB_BF16;
  OK(kmb_work_moe(&moe, &work));
  HOLDS(work.flops == 12288);
}

static void attention_is_counted(void) {
  const uint64_t lengths[] = {100, 18};
  kmb_work work = kmb_work_init();
  kmb_attention_shape shape = kmb_attention_shape_init();
  shape.batch = 1;
  shape.q_heads = 16;
  shape.q_len = 1024;
  shape.kv_len = 2048;
  shape.qk_dim = 128;
  shape.dtype = KMB_BF16;
  shape.mask = KMB_MASK_CAUSAL_BOTTOM_RIGHT;
  OK(kmb_work_attention(&shape, &work));
  HOLDS(work.flops == 12889096192);
  shape.pairs = KMB_PAIRS_AVERAGE;
  OK(kmb_work_attention(&shape, &work));
  HOLDS(work.flops == 12884901888);
  shape.mask = KMB_MASK_NONE;
  shape.batch = 2;
  shape.q_len = 1;
  shape.kv_lens = lengths;
  OK(kmb_work_paged_decode(&shape, &work));
  HOLDS(work.flops == 2ull * 118 * 16 * 256);
  kmb_mla_shape mla = kmb_mla_shape_init();
  mla.batch = 2;
  mla.heads = 16;
  mla.q_len = 1;
  mla.kv_lens = lengths;
  mla.ckv_dim = 512;
  mla.kpe_dim = 64;
  mla.dtype = KMB_BF16;
  OK(kmb_work_mla(&mla, &work));
  HOLDS(work.flops == 2ull * 118 * 16 * 1088);
}

static void rows_are_counted(void) {
  kmb_work work = kmb_work_init();
  kmb_norm_shape norm = kmb_norm_shape_init();
  norm.rows = 4;
  norm.hidden = 8;
  norm.norm = KMB_NORM_RMS;
  norm.dtype = KMB_BF16;
  OK(kmb_work_norm(&norm, &work));
  HOLDS(work.flops == 160 && work.read_bytes == 80);
  OK(kmb_work_softmax(3, 5, KMB_BF16, KMB_F32, &work));
  HOLDS(work.flops == 0 && work.read_bytes == 30 && work.write_bytes == 60);
  OK(kmb_work_activation(10, 1, KMB_BF16, 0, &work));
  HOLDS(work.read_bytes == 40 && work.write_bytes == 20);
  kmb_collective_work bus = kmb_collective_work_init();
  OK(kmb_work_collective(KMB_ALL_REDUCE, 1000, 8, &bus));
  HOLDS(bus.bytes == 1000 && bus.bus_factor == 1.75);
}

int main(void) {
  products_are_counted();
  attention_is_counted();
  rows_are_counted();
  return 0;
}
