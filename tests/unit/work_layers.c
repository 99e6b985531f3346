/* Work of the operations of a language model: known answers, counted by hand.
 */
#include "require.h"

#include <kmb/work.h>

static kmb_work matmul_of(const kmb_matmul_shape *shape) {
  kmb_work w = kmb_work_init();
  REQUIRE_OK(kmb_work_matmul(shape, &w));
  return w;
}

static kmb_matmul_shape matmul_2_3_4(uint32_t flags) {
  kmb_matmul_shape s = kmb_matmul_shape_init();
  s.m = 2;
  s.n = 3;
  s.k = 4;
  s.dtype = KMB_F32;
  s.flags = flags;
  return s;
}

static void a_plain_matmul_is_gemm(void) {
  kmb_matmul_shape s = matmul_2_3_4(0);
  kmb_work w = matmul_of(&s), gemm = kmb_work_init();
  REQUIRE_OK(kmb_work_gemm(2, 3, 4, KMB_F32, &gemm));
  REQUIRE_EQ(w.flops, 48);
  REQUIRE_EQ(w.read_bytes, 32 + 48);
  REQUIRE_EQ(w.write_bytes, 24);
  REQUIRE_EQ(gemm.flops, w.flops);
  REQUIRE_EQ(gemm.read_bytes, w.read_bytes);
  REQUIRE_EQ(gemm.write_bytes, w.write_bytes);
  REQUIRE_STR(gemm.convention, w.convention);
}

static void c_is_read_only_if_beta_is_not_zero(void) {
  kmb_matmul_shape s = matmul_2_3_4(KMB_MATMUL_BETA);
  kmb_work w = matmul_of(&s);
  REQUIRE_EQ(w.flops, 48);
  REQUIRE_EQ(w.read_bytes, 32 + 48 + 24);
  REQUIRE_EQ(w.write_bytes, 24);
  REQUIRE_HAS(w.convention, "C read once");
}

static void a_bias_adds_mn_and_a_row(void) {
  kmb_matmul_shape s = matmul_2_3_4(KMB_MATMUL_BIAS);
  kmb_work w = matmul_of(&s);
  REQUIRE_EQ(w.flops, 48 + 6);
  REQUIRE_EQ(w.read_bytes, 32 + 48 + 12);
  REQUIRE_HAS(w.convention, "bias");
  REQUIRE_HAS(w.convention, "no C");
}

static void cutlass_counts_the_epilogue_and_complex_by_four(void) {
  kmb_matmul_shape s = matmul_2_3_4(KMB_MATMUL_EPILOGUE);
  REQUIRE_EQ(matmul_of(&s).flops, 60);
  s = matmul_2_3_4(KMB_MATMUL_EPILOGUE | KMB_MATMUL_COMPLEX);
  kmb_work w = matmul_of(&s);
  REQUIRE_EQ(w.flops, 240);
  REQUIRE_EQ(w.read_bytes, 64 + 96);
  REQUIRE_EQ(w.write_bytes, 48);
  REQUIRE_HAS(w.convention, "complex");
  REQUIRE_HAS(w.convention, "CUTLASS");
}

static void a_batch_multiplies_flops_and_bytes(void) {
  kmb_matmul_shape s = matmul_2_3_4(KMB_MATMUL_BETA);
  s.batch = 5;
  kmb_work w = matmul_of(&s);
  REQUIRE_EQ(w.flops, 240);
  REQUIRE_EQ(w.read_bytes, 5 * 104);
  REQUIRE_EQ(w.write_bytes, 5 * 24);
}

/* Bytes of A (128×128) beyond those of B, whose type is 1 byte and has no
 * scales, and the other way round. */
static uint64_t a_bytes(kmb_dtype dtype, kmb_scales scales) {
  kmb_matmul_shape s = kmb_matmul_shape_init();
  s.m = s.n = s.k = 128;
  s.dtype = KMB_BF16;
  s.a_dtype = dtype;
  s.b_dtype = KMB_I8;
  s.a_scales = scales;
  kmb_work w = matmul_of(&s);
  REQUIRE_EQ(w.write_bytes, 2 * 16384);
  REQUIRE_EQ(w.dtype, KMB_BF16);
  return w.read_bytes - 16384;
}

static uint64_t b_bytes(kmb_scales scales) {
  kmb_matmul_shape s = kmb_matmul_shape_init();
  s.m = s.n = s.k = 128;
  s.dtype = KMB_F8_E4M3;
  s.b_scales = scales;
  return matmul_of(&s).read_bytes - 16384;
}

static void scales_are_counted_once_each(void) {
  REQUIRE_EQ(a_bytes(KMB_F4_E2M1, KMB_SCALES_NONE), 8192);
  REQUIRE_EQ(a_bytes(KMB_F4_E2M1, KMB_SCALES_NVFP4), 9216);      /* ½ + 1/16 */
  REQUIRE_EQ(a_bytes(KMB_F4_E2M1, KMB_SCALES_MX), 8704);         /* ½ + 1/32 */
  REQUIRE_EQ(a_bytes(KMB_F8_E4M3, KMB_SCALES_MX), 16896);        /* 1 + 1/32 */
  REQUIRE_EQ(a_bytes(KMB_F8_E4M3, KMB_SCALES_BLOCK_128), 16896); /* + 4/128 */
  REQUIRE_EQ(b_bytes(KMB_SCALES_BLOCK_128), 16388); /* 1 + 4/128² */
  REQUIRE_EQ(b_bytes(KMB_SCALES_NVFP4), 16384 + 1024);
  kmb_matmul_shape s = kmb_matmul_shape_init();
  s.m = 3;
  s.n = 130;
  s.k = 200;
  s.dtype = KMB_F8_E4M3;
  s.a_scales = s.b_scales = KMB_SCALES_BLOCK_128;
  REQUIRE_EQ(matmul_of(&s).read_bytes, 600 + 3 * 2 * 4 + 26000 + 2 * 2 * 4);
  REQUIRE_HAS(matmul_of(&s).convention, "scales once each");
}

/* Sizes at which a block of one more element would give another count. */
static void blocks_have_their_sizes(void) {
  static const struct {
    kmb_scales scales;
    uint64_t k, a, b;
  } cases[] = {{KMB_SCALES_NVFP4, 16ULL * 17, 17, 17},
               {KMB_SCALES_MX, 32ULL * 33, 33, 33},
               {KMB_SCALES_BLOCK_128, 128ULL * 129, 4ULL * 129, 4ULL * 129}};
  for (int i = 0; i < 3; i++) {
    kmb_matmul_shape s = kmb_matmul_shape_init();
    s.m = s.n = 1;
    s.k = cases[i].k;
    s.dtype = KMB_I8;
    s.a_scales = s.b_scales = cases[i].scales;
    REQUIRE_EQ(matmul_of(&s).read_bytes, 2 * s.k + cases[i].a + cases[i].b);
  }
  kmb_matmul_shape s = kmb_matmul_shape_init();
  s.m = s.k = 1;
  s.n = 128ULL * 129;
  s.dtype = KMB_I8;
  s.b_scales = KMB_SCALES_BLOCK_128;
  REQUIRE_EQ(matmul_of(&s).read_bytes, 1 + s.n + 4ULL * 129);
}

static void grouped_counts_valid_rows_and_every_b(void) {
  const uint64_t rows[] = {3, 0, 5};
  kmb_grouped_shape s = kmb_grouped_shape_init();
  kmb_work w = kmb_work_init();
  s.groups = 3;
  s.rows = rows;
  s.n = 4;
  s.k = 2;
  s.dtype = KMB_BF16;
  REQUIRE_OK(kmb_work_grouped(&s, &w));
  REQUIRE_EQ(w.flops, 2 * 8 * 4 * 2);
  REQUIRE_EQ(w.read_bytes, 8 * 2 * 2 + 3 * 8 * 2);
  REQUIRE_EQ(w.write_bytes, 8 * 4 * 2);
  REQUIRE_HAS(w.convention, "every group");
  s.flags = KMB_GROUPED_USED_B;
  REQUIRE_OK(kmb_work_grouped(&s, &w));
  REQUIRE_EQ(w.read_bytes, 8 * 2 * 2 + 2 * 8 * 2);
  s.rows = NULL;
  s.m = 4;
  REQUIRE_OK(kmb_work_grouped(&s, &w));
  REQUIRE_EQ(w.flops, 2 * 12 * 4 * 2);
  REQUIRE_EQ(w.read_bytes, 12 * 2 * 2 + 3 * 8 * 2);
}

static void grouped_refuses(void) {
  const uint64_t none[] = {0, 0}, much[] = {UINT64_MAX, 1};
  kmb_grouped_shape s = kmb_grouped_shape_init();
  kmb_work w = kmb_work_init();
  s.groups = 2;
  s.n = s.k = 1;
  s.dtype = KMB_F32;
  REQUIRE_STATUS(kmb_work_grouped(&s, &w), KMB_ERR_INVALID);
  s.rows = none;
  REQUIRE_STATUS(kmb_work_grouped(&s, &w), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "row");
  s.rows = much;
  REQUIRE_STATUS(kmb_work_grouped(&s, &w), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "64 bits");
  s.m = 1;
  REQUIRE_STATUS(kmb_work_grouped(&s, &w), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "not both");
}

/* 2 tokens to 2 of 8 experts: 4 experts at most have work. */
static void experts(void) {
  kmb_moe_shape s = kmb_moe_shape_init();
  kmb_work w = kmb_work_init();
  s.tokens = 2;
  s.top_k = 2;
  s.experts = 8;
  s.hidden = 16;
  s.intermediate = 32;
  s.dtype = KMB_BF16;
  REQUIRE_OK(kmb_work_moe(&s, &w));
  REQUIRE_EQ(w.flops, 4 * (2 * 16 * 64 + 2 * 32 * 16));
  REQUIRE_EQ(w.read_bytes, 64 + 64 + 4 * (64 * 16 + 16 * 32) * 2);
  REQUIRE_EQ(w.write_bytes, 64);
  s.active_experts = 3;
  REQUIRE_OK(kmb_work_moe(&s, &w));
  REQUIRE_EQ(w.read_bytes, 64 + 64 + 3 * 1536 * 2);
  s.active_experts = 0;
  s.flags = KMB_MOE_UNGATED;
  REQUIRE_OK(kmb_work_moe(&s, &w));
  REQUIRE_EQ(w.flops, 4 * (2 * 16 * 32 + 2 * 32 * 16));
  REQUIRE_EQ(w.read_bytes, 64 + 64 + 4 * (32 * 16 + 16 * 32) * 2);
  s.tokens = 100; /* every expert */
  s.flags = 0;
  s.dtype = KMB_F8_E4M3;
  s.compute_dtype = KMB_BF16;
  s.weight_dtype = KMB_F4_E2M1;
  s.weight_scales = KMB_SCALES_MX;
  s.out_dtype = KMB_BF16;
  s.logits_dtype = KMB_BF16;
  REQUIRE_OK(kmb_work_moe(&s, &w));
  REQUIRE_EQ(w.dtype, KMB_BF16);
  /* Rows of 16 have a scale each, rows of 32 as well. */
  REQUIRE_EQ(w.read_bytes,
             1600 + 100 * 8 * 2 + 8 * (64 * 8 + 64 + 16 * 16 + 16));
  REQUIRE_EQ(w.write_bytes, 3200);
}

/* Scales of activations lie along a row, those of weights in squares. */
static void blocks_of_activations_and_weights_differ(void) {
  kmb_grouped_shape g = kmb_grouped_shape_init();
  kmb_moe_shape s = kmb_moe_shape_init();
  kmb_work w = kmb_work_init();
  g.groups = 1;
  g.m = g.n = 130;
  g.k = 200;
  g.dtype = KMB_F8_E4M3;
  g.a_scales = KMB_SCALES_BLOCK_128;
  REQUIRE_OK(kmb_work_grouped(&g, &w));
  REQUIRE_EQ(w.read_bytes, 26000 + 130 * 2 * 4 + 26000);
  g.a_scales = 0;
  g.b_scales = KMB_SCALES_BLOCK_128;
  REQUIRE_OK(kmb_work_grouped(&g, &w));
  REQUIRE_EQ(w.read_bytes, 26000 + 26000 + 2 * 2 * 4);
  s.tokens = 2;
  s.hidden = 256;
  s.intermediate = 128;
  s.experts = s.top_k = 1;
  s.dtype = KMB_F8_E4M3;
  s.logits_dtype = KMB_I8;
  s.scales = KMB_SCALES_BLOCK_128;
  REQUIRE_OK(kmb_work_moe(&s, &w));
  REQUIRE_EQ(w.read_bytes, 512 + 2 * 2 * 4 + 2 + 65536 + 32768);
  s.scales = 0;
  s.weight_scales = KMB_SCALES_BLOCK_128;
  REQUIRE_OK(kmb_work_moe(&s, &w));
  REQUIRE_EQ(w.read_bytes, 512 + 2 + 65536 + 2 * 2 * 4 + 32768 + 2 * 4);
}

/* One zero at a time, no dtype, and structs that are too small. */
static void shapes_must_be_whole(void) {
  kmb_work w = kmb_work_init();
  for (int i = 0; i < 9; i++) {
    kmb_grouped_shape g = kmb_grouped_shape_init();
    kmb_moe_shape e = kmb_moe_shape_init();
    kmb_matmul_shape m = matmul_2_3_4(0);
    g.groups = i != 0;
    g.n = i != 1;
    g.k = i != 2;
    g.m = i != 3;
    g.dtype = i != 4 ? KMB_F32 : 0;
    if (i == 5) g.struct_size = offsetof(kmb_grouped_shape, reserved);
    REQUIRE_EQ(kmb_work_grouped(&g, &w), i < 6 ? KMB_ERR_INVALID : KMB_OK);
    e.tokens = i != 0;
    e.hidden = i != 1;
    e.intermediate = i != 2;
    e.experts = i != 3;
    e.top_k = i != 4;
    e.dtype = i != 5 ? KMB_F32 : 0;
    if (i == 6) e.struct_size = offsetof(kmb_moe_shape, flags);
    REQUIRE_EQ(kmb_work_moe(&e, &w), i < 7 ? KMB_ERR_INVALID : KMB_OK);
    m.m = i != 0;
    m.n = i != 1;
    m.k = i != 2;
    if (i == 3) m.struct_size = offsetof(kmb_matmul_shape, reserved);
    REQUIRE_EQ(kmb_work_matmul(&m, &w), i < 4 ? KMB_ERR_INVALID : KMB_OK);
  }
  kmb_norm_shape n = kmb_norm_shape_init();
  n.struct_size = offsetof(kmb_norm_shape, flags);
  REQUIRE_STATUS(kmb_work_norm(&n, &w), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "struct_size");
}

static void what_work_is_is_recorded(void) {
  kmb_matmul_shape m = matmul_2_3_4(0);
  m.b_scales = KMB_SCALES_MX;
  REQUIRE_HAS(matmul_of(&m).convention, "scales once each");
  REQUIRE_EQ(matmul_of(&m).operation, KMB_OPERATION_GEMM);
  kmb_work w = kmb_work_init();
  REQUIRE_OK(kmb_work_copy(1, &w));
  REQUIRE_EQ(w.operation, KMB_OPERATION_COPY);
  REQUIRE_OK(kmb_work_gemm(1, 1, 1, KMB_F32, &w));
  REQUIRE_EQ(w.operation, KMB_OPERATION_GEMM);
  REQUIRE_OK(kmb_work_softmax(1, 1, KMB_F32, 0, &w));
  REQUIRE_EQ(w.operation, KMB_OPERATION_OTHER);
}

static void experts_refuse(void) {
  kmb_moe_shape s = kmb_moe_shape_init();
  kmb_work w = kmb_work_init();
  s.tokens = s.hidden = s.intermediate = 4;
  s.experts = 2;
  s.top_k = 3;
  s.dtype = KMB_BF16;
  REQUIRE_STATUS(kmb_work_moe(&s, &w), KMB_ERR_INVALID);
  s.top_k = 2;
  s.active_experts = 1;
  REQUIRE_STATUS(kmb_work_moe(&s, &w), KMB_ERR_INVALID);
  s.active_experts = 3;
  REQUIRE_STATUS(kmb_work_moe(&s, &w), KMB_ERR_INVALID);
  s.active_experts = 2;
  REQUIRE_OK(kmb_work_moe(&s, &w));
  s.flags = 2;
  REQUIRE_STATUS(kmb_work_moe(&s, &w), KMB_ERR_UNSUPPORTED);
  s.flags = 0;
  s.hidden = 0;
  REQUIRE_STATUS(kmb_work_moe(&s, &w), KMB_ERR_INVALID);
}

static kmb_work norm_of(kmb_norm norm, uint32_t flags, kmb_dtype out_dtype) {
  kmb_norm_shape s = kmb_norm_shape_init();
  kmb_work w = kmb_work_init();
  s.rows = 4;
  s.hidden = 8;
  s.norm = norm;
  s.dtype = KMB_BF16;
  s.out_dtype = out_dtype;
  s.flags = flags;
  REQUIRE_OK(kmb_work_norm(&s, &w));
  REQUIRE_EQ(w.dtype, KMB_F32);
  REQUIRE_HAS(w.convention, "rough");
  return w;
}

static void norms(void) {
  kmb_work w = norm_of(KMB_NORM_RMS, 0, 0);
  REQUIRE_EQ(w.flops, 5 * 32);
  REQUIRE_EQ(w.read_bytes + w.write_bytes, (2 * 32 + 8) * 2);
  REQUIRE_EQ(w.write_bytes, 64);
  w = norm_of(KMB_NORM_RMS, KMB_NORM_RESIDUAL, 0);
  REQUIRE_EQ(w.flops, 6 * 32);
  REQUIRE_EQ(w.read_bytes + w.write_bytes, (4 * 32 + 8) * 2);
  REQUIRE_EQ(w.write_bytes, 128);
  w = norm_of(KMB_NORM_LAYER, 0, KMB_F8_E4M3);
  REQUIRE_EQ(w.flops, 7 * 32);
  REQUIRE_EQ(w.read_bytes, (32 + 16) * 2);
  REQUIRE_EQ(w.write_bytes, 32);
  REQUIRE_HAS(w.convention, "quantising LayerNorm");
  w = norm_of(KMB_NORM_LAYER, KMB_NORM_RESIDUAL, KMB_F8_E4M3);
  REQUIRE_EQ(w.flops, 8 * 32);
  REQUIRE_EQ(w.write_bytes, 32 + 64);
}

static void softmax_and_activation_count_no_flops(void) {
  kmb_work w = kmb_work_init();
  REQUIRE_OK(kmb_work_softmax(3, 5, KMB_BF16, KMB_F32, &w));
  REQUIRE_EQ(w.flops, 0);
  REQUIRE_EQ(w.read_bytes, 30);
  REQUIRE_EQ(w.write_bytes, 60);
  REQUIRE_OK(kmb_work_activation(10, 1, KMB_BF16, 0, &w));
  REQUIRE_EQ(w.flops, 0);
  REQUIRE_EQ(w.read_bytes, 40);
  REQUIRE_EQ(w.write_bytes, 20);
  REQUIRE_OK(kmb_work_activation(10, 0, KMB_BF16, KMB_F8_E5M2, &w));
  REQUIRE_EQ(w.read_bytes, 20);
  REQUIRE_EQ(w.write_bytes, 10);
}

static void bus_factor_is(kmb_collective collective, uint32_t ranks,
                          double factor, const char *words) {
  kmb_collective_work w = kmb_collective_work_init();
  REQUIRE_OK(kmb_work_collective(collective, 1000, ranks, &w));
  REQUIRE_NEAR(w.bus_factor, factor, 1e-12);
  REQUIRE_EQ(w.bytes, 1000);
  REQUIRE_EQ(w.ranks, ranks);
  REQUIRE_EQ(w.collective, collective);
  REQUIRE_HAS(w.convention, words);
}

static void collectives_by_bus_bandwidth(void) {
  bus_factor_is(KMB_ALL_REDUCE, 8, 1.75, "2(n−1)/n");
  bus_factor_is(KMB_ALL_REDUCE, 2, 1, "all-reduce");
  bus_factor_is(KMB_REDUCE_SCATTER, 8, 0.875, "whole input");
  bus_factor_is(KMB_ALL_GATHER, 4, 0.75, "whole output");
  bus_factor_is(KMB_ALL_TO_ALL, 4, 0.75, "all-to-all");
  bus_factor_is(KMB_BROADCAST, 8, 1, "broadcast");
  bus_factor_is(KMB_REDUCE, 8, 1, "reduce");
  bus_factor_is(KMB_ALL_REDUCE_IN_NETWORK, 8, 7.0 / 9, "(n−1)/(n+1)");
  kmb_collective_work w = kmb_collective_work_init();
  REQUIRE_STATUS(kmb_work_collective(0, 1, 2, &w), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_collective(8, 1, 2, &w), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_collective(KMB_REDUCE, 0, 2, &w), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_collective(KMB_REDUCE, 1, 1, &w), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_collective(KMB_REDUCE, 1, 2, NULL), KMB_ERR_INVALID);
}

static void matmul_refuses(void) {
  kmb_matmul_shape s = matmul_2_3_4(0);
  kmb_work w = kmb_work_init();
  w.flops = 7;
  s.n = 0;
  REQUIRE_STATUS(kmb_work_matmul(&s, &w), KMB_ERR_INVALID);
  s.n = 3;
  s.a_scales = 4;
  REQUIRE_STATUS(kmb_work_matmul(&s, &w), KMB_ERR_INVALID);
  s.a_scales = 0;
  s.b_scales = -1;
  REQUIRE_STATUS(kmb_work_matmul(&s, &w), KMB_ERR_INVALID);
  s.b_scales = 0;
  s.b_dtype = 99;
  REQUIRE_STATUS(kmb_work_matmul(&s, &w), KMB_ERR_INVALID);
  s.b_dtype = 0;
  s.flags = 1u << 4;
  REQUIRE_STATUS(kmb_work_matmul(&s, &w), KMB_ERR_UNSUPPORTED);
  s.flags = 0;
  s.reserved = 1;
  REQUIRE_STATUS(kmb_work_matmul(&s, &w), KMB_ERR_INVALID);
  s.reserved = 0;
  s.batch = 1ULL << 60;
  REQUIRE_STATUS(kmb_work_matmul(&s, &w), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "64 bits");
  s.dtype = 0;
  REQUIRE_STATUS(kmb_work_matmul(&s, &w), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_matmul(NULL, &w), KMB_ERR_INVALID);
  REQUIRE_EQ(w.flops, 7);
}

static void norm_and_rows_refuse(void) {
  kmb_norm_shape s = kmb_norm_shape_init();
  kmb_work w = kmb_work_init();
  s.rows = s.hidden = 1;
  s.dtype = KMB_F64;
  REQUIRE_STATUS(kmb_work_norm(&s, &w), KMB_ERR_INVALID);
  s.norm = KMB_NORM_LAYER + 1;
  REQUIRE_STATUS(kmb_work_norm(&s, &w), KMB_ERR_INVALID);
  s.norm = KMB_NORM_RMS;
  REQUIRE_OK(kmb_work_norm(&s, &w));
  REQUIRE_EQ(w.dtype, KMB_F64);
  s.flags = 2;
  REQUIRE_STATUS(kmb_work_norm(&s, &w), KMB_ERR_UNSUPPORTED);
  s.flags = 0;
  s.hidden = 0;
  REQUIRE_STATUS(kmb_work_norm(&s, &w), KMB_ERR_INVALID);
  s.hidden = s.rows = 1ULL << 32;
  REQUIRE_STATUS(kmb_work_norm(&s, &w), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_softmax(0, 1, KMB_F32, 0, &w), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_softmax(1ULL << 32, 1ULL << 32, KMB_F32, 0, &w),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_softmax(1, 1, KMB_F32, 99, &w), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_activation(0, 1, KMB_F32, 0, &w), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_activation(1, 1, 0, KMB_F32, &w), KMB_ERR_INVALID);
}

int main(void) {
  RUN(a_plain_matmul_is_gemm);
  RUN(c_is_read_only_if_beta_is_not_zero);
  RUN(a_bias_adds_mn_and_a_row);
  RUN(cutlass_counts_the_epilogue_and_complex_by_four);
  RUN(a_batch_multiplies_flops_and_bytes);
  RUN(scales_are_counted_once_each);
  RUN(blocks_have_their_sizes);
  RUN(grouped_counts_valid_rows_and_every_b);
  RUN(grouped_refuses);
  RUN(experts);
  RUN(blocks_of_activations_and_weights_differ);
  RUN(shapes_must_be_whole);
  RUN(what_work_is_is_recorded);
  RUN(experts_refuse);
  RUN(norms);
  RUN(softmax_and_activation_count_no_flops);
  RUN(collectives_by_bus_bandwidth);
  RUN(matmul_refuses);
  RUN(norm_and_rows_refuse);
  return 0;
}
