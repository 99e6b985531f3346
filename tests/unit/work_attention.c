/* Work of attention: known answers, and every pair counted one by one. */
#include "require.h"

#include <kmb/work.h>

static kmb_attention_shape shape_of(uint64_t heads, uint64_t dim, uint64_t q,
                                    uint64_t kv, kmb_mask mask) {
  kmb_attention_shape s = kmb_attention_shape_init();
  s.batch = 1;
  s.q_heads = heads;
  s.qk_dim = dim;
  s.q_len = q;
  s.kv_len = kv;
  s.mask = mask;
  s.dtype = KMB_BF16;
  return s;
}

static kmb_work work_of(const kmb_attention_shape *shape) {
  kmb_work w = kmb_work_init();
  REQUIRE_OK(kmb_work_attention(shape, &w));
  return w;
}

/* Field case F34: H16, D128, 1024 queries, 2048 keys. */
static void f34_causal_attention_by_both_conventions(void) {
  kmb_attention_shape s =
      shape_of(16, 128, 1024, 2048, KMB_MASK_CAUSAL_BOTTOM_RIGHT);
  kmb_work w = work_of(&s);
  REQUIRE_EQ(w.flops, 12889096192);
  REQUIRE_HAS(w.convention, "exactly");
  s.pairs = KMB_PAIRS_AVERAGE;
  w = work_of(&s);
  REQUIRE_EQ(w.flops, 12884901888);
  REQUIRE_HAS(w.convention, "FlashAttention's average");
  s.mask = KMB_MASK_CAUSAL_TOP_LEFT;
  s.pairs = KMB_PAIRS_EXACT;
  REQUIRE_EQ(work_of(&s).flops, 4LL * 16 * 128 * (1024 * 1025 / 2));
  s.mask = KMB_MASK_NONE;
  REQUIRE_EQ(work_of(&s).flops, 2 * 8589934592);
}

/* Field case F34: dimensions of keys and values differ. */
static void f34_both_dimensions_count(void) {
  kmb_attention_shape s = shape_of(2, 192, 3, 5, KMB_MASK_NONE);
  s.v_dim = 128;
  kmb_work w = work_of(&s);
  REQUIRE_EQ(w.flops, 2 * 2 * 15 * (192 + 128));
  REQUIRE_EQ(w.read_bytes, 2 * 2 * (3 * 192 + 5 * 192 + 5 * 128));
  REQUIRE_EQ(w.write_bytes, 2 * 2 * 3 * 128);
}

/* Field case F35: in 32 bits this product is 0. */
static void f35_attention_does_not_wrap(void) {
  kmb_attention_shape s = shape_of(32, 128, 4096, 2048, KMB_MASK_NONE);
  REQUIRE_EQ(work_of(&s).flops, 137438953472);
}

static uint64_t visible(uint64_t q, uint64_t kv, kmb_mask mask) {
  uint64_t pairs = 0;
  for (uint64_t i = 0; i < q; i++)
    for (uint64_t k = 0; k < kv; k++)
      pairs += mask == KMB_MASK_NONE ||
               (mask == KMB_MASK_CAUSAL_TOP_LEFT ? k <= i : k + q <= i + kv);
  return pairs;
}

static void exact_pairs_are_those_that_are_visible(void) {
  for (kmb_mask mask = 0; mask <= KMB_MASK_CAUSAL_BOTTOM_RIGHT; mask++)
    for (uint64_t q = 1; q < 12; q++)
      for (uint64_t kv = 1; kv < 12; kv++) {
        kmb_attention_shape s = shape_of(1, 1, q, kv, mask);
        REQUIRE_EQ(work_of(&s).flops, 4 * visible(q, kv, mask));
      }
}

/* q · (max(0, kv − q) + kv) ÷ 2 pairs, also where some queries see nothing. */
static void average_pairs_are_flashattentions(void) {
  for (uint64_t q = 1; q < 12; q++)
    for (uint64_t kv = 1; kv < 12; kv++) {
      kmb_attention_shape s =
          shape_of(1, 1, q, kv, KMB_MASK_CAUSAL_BOTTOM_RIGHT);
      s.pairs = KMB_PAIRS_AVERAGE;
      uint64_t more = kv > q ? kv - q : 0;
      REQUIRE_EQ(work_of(&s).flops, 2 * q * (more + kv));
    }
  kmb_attention_shape s = shape_of(1, 1, 4, 4, KMB_MASK_NONE);
  s.pairs = KMB_PAIRS_AVERAGE; /* nothing to average */
  REQUIRE_EQ(work_of(&s).flops, 64);
  REQUIRE_HAS(work_of(&s).convention, "no mask");
}

static void backward_is_two_and_a_half_times_forward(void) {
  kmb_attention_shape s = shape_of(4, 8, 6, 6, KMB_MASK_CAUSAL_BOTTOM_RIGHT);
  s.kv_heads = 2;
  kmb_work forward = work_of(&s);
  REQUIRE_EQ(forward.flops, 4 * 4 * 8 * 21);
  s.pass = KMB_ATTENTION_BACKWARD;
  kmb_work w = work_of(&s);
  uint64_t q = 6ULL * 4 * 8 * 2, kv = 6ULL * 2 * 8 * 2;
  REQUIRE_EQ(w.flops, forward.flops / 2 * 5);
  REQUIRE_EQ(w.read_bytes, q + 2 * kv + q);
  REQUIRE_EQ(w.write_bytes, q + 2 * kv);
  s.pass = KMB_ATTENTION_BOTH;
  w = work_of(&s);
  REQUIRE_EQ(w.flops, forward.flops / 2 * 7);
  REQUIRE_EQ(w.read_bytes, 2 * (q + 2 * kv) + q);
  REQUIRE_EQ(w.write_bytes, q + q + 2 * kv);
  REQUIRE_HAS(w.convention, "3.5");
  /* An odd forward count: 3 FLOP, 7.5 back. */
  s = shape_of(1, 1, 1, 1, KMB_MASK_CAUSAL_BOTTOM_RIGHT);
  s.v_dim = 2;
  s.pairs = KMB_PAIRS_AVERAGE;
  s.pass = KMB_ATTENTION_BACKWARD;
  REQUIRE_EQ(work_of(&s).flops, 7);
}

static void grouped_queries_read_fewer_keys(void) {
  kmb_attention_shape s = shape_of(32, 128, 1, 1000, KMB_MASK_NONE);
  s.batch = 3;
  s.kv_heads = 8;
  s.kv_dtype = KMB_F8_E4M3;
  kmb_work w = work_of(&s);
  REQUIRE_EQ(w.flops, 4LL * 3 * 32 * 128 * 1000);
  REQUIRE_EQ(w.read_bytes, 3LL * (32LL * 128 * 2 + 2LL * 8 * 128 * 1000));
  REQUIRE_EQ(w.write_bytes, 3LL * 32 * 128 * 2);
}

static void ragged_sequences_are_added(void) {
  const uint64_t q[] = {2, 1, 4}, kv[] = {5, 3, 0};
  kmb_attention_shape s = shape_of(1, 1, 0, 0, KMB_MASK_CAUSAL_BOTTOM_RIGHT);
  s.batch = 3;
  s.q_lens = q;
  s.kv_lens = kv;
  kmb_work w = work_of(&s);
  REQUIRE_EQ(w.flops, 4 * (4 + 5 + 3));
  REQUIRE_EQ(w.read_bytes, 2 * (7 + 8 + 8));
  REQUIRE_EQ(w.write_bytes, 2 * 7);
}

static void paged_decode_counts_real_tokens(void) {
  const uint64_t lens[] = {100, 1, 17};
  kmb_attention_shape s = shape_of(8, 64, 1, 0, KMB_MASK_NONE);
  kmb_work w = kmb_work_init();
  s.batch = 3;
  s.kv_heads = 2;
  s.kv_lens = lens;
  REQUIRE_OK(kmb_work_paged_decode(&s, &w));
  REQUIRE_EQ(w.flops, 2 * 118 * 8 * 128);
  REQUIRE_EQ(w.read_bytes, 3072 + 118 * 2 * 64 * 2 * 2);
  REQUIRE_EQ(w.write_bytes, 3072);
  REQUIRE_HAS(w.convention, "paged decode");
  s.mask = KMB_MASK_CAUSAL_BOTTOM_RIGHT;
  REQUIRE_STATUS(kmb_work_paged_decode(&s, &w), KMB_ERR_INVALID);
  s.mask = 0;
  s.pass = KMB_ATTENTION_BACKWARD;
  REQUIRE_STATUS(kmb_work_paged_decode(&s, &w), KMB_ERR_INVALID);
  s.pass = 0;
  s.kv_lens = NULL;
  s.kv_len = 5;
  REQUIRE_STATUS(kmb_work_paged_decode(&s, &w), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "kv_lens");
}

static void latent_attention_shares_one_row(void) {
  const uint64_t lens[] = {10, 20};
  kmb_mla_shape s = kmb_mla_shape_init();
  kmb_work w = kmb_work_init();
  s.batch = 2;
  s.heads = 16;
  s.q_len = 1;
  s.kv_lens = lens;
  s.ckv_dim = 512;
  s.kpe_dim = 64;
  s.dtype = KMB_BF16;
  REQUIRE_OK(kmb_work_mla(&s, &w));
  REQUIRE_EQ(w.flops, 2 * 30 * 16 * (2 * 512 + 64));
  REQUIRE_EQ(w.read_bytes, 2 * 16 * 576 * 2 + 30 * 576 * 2);
  REQUIRE_EQ(w.write_bytes, 2 * 16 * 512 * 2);
  s.q_len = 2;
  s.mask = KMB_MASK_CAUSAL_BOTTOM_RIGHT;
  REQUIRE_OK(kmb_work_mla(&s, &w));
  REQUIRE_EQ(w.flops, 2 * (9 + 10 + 19 + 20) * 16 * 1088);
  REQUIRE_HAS(w.convention, "bottom-right");
  s.heads = 3; /* which no number of shared rows must divide */
  REQUIRE_OK(kmb_work_mla(&s, &w));
  s.heads = 16;
  s.struct_size = offsetof(kmb_mla_shape, mask);
  REQUIRE_STATUS(kmb_work_mla(&s, &w), KMB_ERR_INVALID);
  s.struct_size = sizeof s;
  s.mask = KMB_MASK_CAUSAL_TOP_LEFT;
  REQUIRE_STATUS(kmb_work_mla(&s, &w), KMB_ERR_INVALID);
  s.mask = 0;
  s.kpe_dim = 0;
  REQUIRE_STATUS(kmb_work_mla(&s, &w), KMB_ERR_INVALID);
  s.kpe_dim = 64;
  s.heads = 0;
  REQUIRE_STATUS(kmb_work_mla(&s, &w), KMB_ERR_INVALID);
}

static void refused(kmb_attention_shape s, const char *words) {
  kmb_work w = kmb_work_init();
  w.flops = 7;
  REQUIRE_STATUS(kmb_work_attention(&s, &w), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), words);
  REQUIRE_EQ(w.flops, 7);
}

static void refusals_name_the_cause(void) {
  const uint64_t none[] = {0};
  kmb_attention_shape good = shape_of(4, 8, 2, 2, KMB_MASK_NONE), s = good;
  s.kv_heads = 3;
  refused(s, "divide");
  s = good;
  s.mask = 3;
  refused(s, "mask");
  s = good;
  s.pass = -1;
  refused(s, "pass");
  s = good;
  s.pairs = 2;
  refused(s, "pairs");
  s = good;
  s.mask = KMB_MASK_CAUSAL_TOP_LEFT;
  s.pairs = KMB_PAIRS_AVERAGE;
  refused(s, "bottom-right");
  s = good;
  s.dtype = 0;
  refused(s, "dtype");
  s = good;
  s.batch = 0;
  refused(s, "batch");
  s = good;
  s.kv_len = 0;
  refused(s, "lengths");
  s = good;
  s.kv_lens = none;
  refused(s, "no query sees a key");
  s = good;
  s.q_len = s.kv_len = 1ULL << 32;
  refused(s, "64 bits");
  s = good;
  s.batch = 1ULL << 62;
  refused(s, "64 bits");
  kmb_work w = kmb_work_init();
  REQUIRE_STATUS(kmb_work_attention(NULL, &w), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_work_attention(&good, NULL), KMB_ERR_INVALID);
}

/* 2^63 FLOP forward: 2.5 times as many do not fit, and are not asked for. */
static void forward_fits_where_backward_does_not(void) {
  kmb_attention_shape s = shape_of(1, 1, 1ULL << 30, 1ULL << 31, 0);
  REQUIRE(work_of(&s).flops == 1ULL << 63);
  s.pass = KMB_ATTENTION_BACKWARD;
  refused(s, "64 bits");
  s.pass = KMB_ATTENTION_BOTH;
  refused(s, "64 bits");
  s.kv_len = 1ULL << 30;
  REQUIRE(work_of(&s).flops == 7ULL << 61);
}

int main(void) {
  RUN(f34_causal_attention_by_both_conventions);
  RUN(f34_both_dimensions_count);
  RUN(f35_attention_does_not_wrap);
  RUN(exact_pairs_are_those_that_are_visible);
  RUN(average_pairs_are_flashattentions);
  RUN(backward_is_two_and_a_half_times_forward);
  RUN(grouped_queries_read_fewer_keys);
  RUN(ragged_sequences_are_added);
  RUN(paged_decode_counts_real_tokens);
  RUN(latent_attention_shares_one_row);
  RUN(refusals_name_the_cause);
  RUN(forward_fits_where_backward_does_not);
  return 0;
}
