/* Work of attention. Pairs of query and key are counted doubled, so that
 * FlashAttention's halves stay whole numbers. */
#include "structs.h"
#include "work_count.h"

/* Over all sequences. */
typedef struct totals {
  uint64_t queries, keys, pairs2; /* pairs2: twice the pairs */
} totals;

static uint64_t twice_pairs(kmbi_count *c, uint64_t q, uint64_t kv,
                            kmb_mask mask, kmb_pairs how) {
  /* Exactly, a query sees its diagonal whole; on average, half of it. */
  uint64_t diagonal = how == KMB_PAIRS_EXACT ? 1 : 0;
  if (mask == KMB_MASK_NONE) return kmbi_times(c, 2, kmbi_times(c, q, kv));
  bool top_left = mask == KMB_MASK_CAUSAL_TOP_LEFT;
  uint64_t sum = 0;
  if (q <= kv) {
    sum = top_left ? q : kmbi_plus(c, kv, kv - q);
    return kmbi_times(c, q, kmbi_plus(c, sum, diagonal));
  }
  /* More queries than keys: top-left, the last ones see every key;
   * bottom-right, the first ones see none, which the average overlooks. */
  sum = top_left ? kmbi_plus(c, q, q - kv) : kv;
  if (!top_left && !diagonal) sum = q;
  return kmbi_times(c, kv, kmbi_plus(c, sum, diagonal));
}

static void add_up(kmbi_count *c, const kmb_attention_shape *s, totals *t) {
  bool same = !s->q_lens && !s->kv_lens;
  uint64_t count = same ? 1 : s->batch;
  for (uint64_t i = 0; i < count && !c->over; i++) {
    uint64_t q = s->q_lens ? s->q_lens[i] : s->q_len;
    uint64_t kv = s->kv_lens ? s->kv_lens[i] : s->kv_len;
    t->queries = kmbi_plus(c, t->queries, q);
    t->keys = kmbi_plus(c, t->keys, kv);
    t->pairs2 =
        kmbi_plus(c, t->pairs2, twice_pairs(c, q, kv, s->mask, s->pairs));
  }
  if (!same) return;
  t->queries = kmbi_times(c, t->queries, s->batch);
  t->keys = kmbi_times(c, t->keys, s->batch);
  t->pairs2 = kmbi_times(c, t->pairs2, s->batch);
}

static kmb_status check_kinds(const kmbi_count *c,
                              const kmb_attention_shape *s) {
  if (s->mask < KMB_MASK_NONE || s->mask > KMB_MASK_CAUSAL_BOTTOM_RIGHT)
    return kmbi_work_bad(c, "%d is no mask; use KMB_MASK_…", (int)s->mask);
  if (s->pass < KMB_ATTENTION_FORWARD || s->pass > KMB_ATTENTION_BOTH)
    return kmbi_work_bad(c, "%d is no pass; use KMB_ATTENTION_…", (int)s->pass);
  if (s->pairs != KMB_PAIRS_EXACT && s->pairs != KMB_PAIRS_AVERAGE)
    return kmbi_work_bad(c, "pairs is %d; use KMB_PAIRS_…", (int)s->pairs);
  if (s->pairs == KMB_PAIRS_AVERAGE && s->mask == KMB_MASK_CAUSAL_TOP_LEFT)
    return kmbi_work_bad(c, "FlashAttention's average is of the bottom-right "
                            "mask; use KMB_PAIRS_EXACT for top-left");
  return KMB_OK;
}

/* Completes the shape. */
static kmb_status check_shape(const kmbi_count *c, kmb_attention_shape *s) {
  kmb_status status = kmbi_work_dtype(c, &s->dtype, 0);
  if (!status) status = kmbi_work_dtype(c, &s->kv_dtype, s->dtype);
  if (!status) status = kmbi_work_dtype(c, &s->out_dtype, s->dtype);
  if (!status) status = check_kinds(c, s);
  if (status) return status;
  if (!s->kv_heads) s->kv_heads = s->q_heads;
  if (!s->v_dim) s->v_dim = s->qk_dim;
  if (!s->batch || !s->q_heads || !s->qk_dim)
    return kmbi_work_bad(c, "batch, heads and dimensions must be at least 1");
  if ((!s->q_lens && !s->q_len) || (!s->kv_lens && !s->kv_len))
    return kmbi_work_bad(c, "lengths must be at least 1");
  if (s->q_heads % s->kv_heads)
    return kmbi_work_bad(c, "kv_heads does not divide q_heads");
  return KMB_OK;
}

/* Sets the FLOPs; `dims` is the sum of both products' inner sizes. */
static kmb_status count_flops(kmbi_count *c, const kmb_attention_shape *s,
                              uint64_t dims, totals *t, kmb_work *work) {
  add_up(c, s, t);
  if (!c->over && !t->pairs2)
    return kmbi_work_bad(c, "no query sees a key: every length is 0");
  uint64_t forward = kmbi_times(c, t->pairs2, kmbi_times(c, s->q_heads, dims));
  work->flops = forward;
  if (s->pass == KMB_ATTENTION_FORWARD) return KMB_OK;
  /* Half a FLOP of an odd average is dropped. */
  uint64_t backward =
      kmbi_plus(c, kmbi_times(c, forward / 2, 5), forward % 2 * 2);
  work->flops = s->pass == KMB_ATTENTION_BACKWARD
                    ? backward
                    : kmbi_plus(c, forward, backward);
  return KMB_OK;
}

static const char *attention_text(const kmb_attention_shape *s) {
#define BYTES_FORWARD "Q, K, V and O once each"
#define BYTES_BACKWARD "Q, K, V, dO, dQ, dK and dV once each"
#define MASKS(how, bytes)                                                    \
  {                                                                          \
    "attention, no mask: " how " · pairs · heads · (qk + v) FLOP; " bytes,   \
        "attention, causal top-left, pairs counted exactly: " how            \
        " · pairs · heads · (qk + v) FLOP; " bytes,                          \
        "attention, causal bottom-right, pairs counted exactly: " how        \
        " · pairs · heads · (qk + v) FLOP; " bytes,                          \
        "attention, causal bottom-right, pairs by FlashAttention's average " \
        "(half a key a query less): " how                                    \
        " · pairs · heads · (qk + v) FLOP; " bytes                           \
  }
  static const char *const texts[3][4] = {
      MASKS("2", BYTES_FORWARD), MASKS("backward, 2.5 × 2", BYTES_BACKWARD),
      MASKS("forward and backward, 3.5 × 2",
            BYTES_FORWARD ", and " BYTES_BACKWARD)};
#undef MASKS
  bool average =
      s->mask == KMB_MASK_CAUSAL_BOTTOM_RIGHT && s->pairs == KMB_PAIRS_AVERAGE;
  return texts[s->pass][average ? 3 : s->mask];
}

static kmb_status count_attention(kmbi_count *c, const kmb_attention_shape *s,
                                  const char *convention, kmb_work *out) {
  totals t = {0};
  kmb_work work = kmb_work_init();
  kmb_status status =
      count_flops(c, s, kmbi_plus(c, s->qk_dim, s->v_dim), &t, &work);
  if (status) return status;
  uint64_t rows = kmbi_times(c, t.queries, s->q_heads);
  uint64_t slots = kmbi_times(c, t.keys, s->kv_heads);
  uint64_t q = kmbi_bytes(c, kmbi_times(c, rows, s->qk_dim), s->dtype);
  uint64_t o = kmbi_bytes(c, kmbi_times(c, rows, s->v_dim), s->out_dtype);
  uint64_t k = kmbi_bytes(c, kmbi_times(c, slots, s->qk_dim), s->kv_dtype);
  uint64_t v = kmbi_bytes(c, kmbi_times(c, slots, s->v_dim), s->kv_dtype);
  uint64_t qkv = kmbi_plus(c, q, kmbi_plus(c, k, v));
  if (s->pass != KMB_ATTENTION_BACKWARD) {
    work.read_bytes = qkv;
    work.write_bytes = o;
  }
  if (s->pass != KMB_ATTENTION_FORWARD) {
    work.read_bytes = kmbi_plus(c, work.read_bytes, kmbi_plus(c, qkv, o));
    work.write_bytes = kmbi_plus(c, work.write_bytes, qkv);
  }
  work.dtype = s->dtype;
  work.operation = KMB_OPERATION_ATTENTION;
  work.convention = convention;
  return kmbi_work_store(c, &work, out);
}

kmb_status kmb_work_attention(const kmb_attention_shape *caller,
                              kmb_work *out) {
  kmbi_count c = {.what = "kmb_work_attention"};
  kmb_attention_shape s;
  kmb_status status = kmbi_copy_in(&s, sizeof s, KMBI_ATTENTION_SHAPE_V1,
                                   caller, "kmb_attention_shape");
  if (!status) status = check_shape(&c, &s);
  if (status) return status;
  return count_attention(&c, &s, attention_text(&s), out);
}

kmb_status kmb_work_paged_decode(const kmb_attention_shape *caller,
                                 kmb_work *out) {
  kmbi_count c = {.what = "kmb_work_paged_decode"};
  kmb_attention_shape s;
  kmb_status status = kmbi_copy_in(&s, sizeof s, KMBI_ATTENTION_SHAPE_V1,
                                   caller, "kmb_attention_shape");
  if (status) return status;
  if (!s.kv_lens)
    return kmbi_work_bad(&c, "kv_lens is NULL; the real lengths are needed");
  if (s.mask || s.pass)
    return kmbi_work_bad(&c, "decoding has no mask and no backward pass");
  status = check_shape(&c, &s);
  if (status) return status;
  return count_attention(&c, &s,
                         "paged decode: 2 · pairs · heads · (qk + v) FLOP by "
                         "the real lengths; Q, O and the cached tokens once "
                         "each, no page table",
                         out);
}

kmb_status kmb_work_mla(const kmb_mla_shape *caller, kmb_work *out) {
  kmbi_count c = {.what = "kmb_work_mla"};
  kmb_mla_shape m;
  kmb_status status =
      kmbi_copy_in(&m, sizeof m, KMBI_MLA_SHAPE_V1, caller, "kmb_mla_shape");
  if (status) return status;
  if (!m.ckv_dim || !m.kpe_dim)
    return kmbi_work_bad(&c, "ckv_dim and kpe_dim must be at least 1");
  if (m.mask == KMB_MASK_CAUSAL_TOP_LEFT)
    return kmbi_work_bad(&c, "latent attention has no top-left mask");
  /* All heads share one key, whose first part is the value. */
  uint64_t row = kmbi_plus(&c, m.ckv_dim, m.kpe_dim);
  kmb_attention_shape s = {.batch = m.batch,
                           .q_heads = m.heads,
                           .q_len = m.q_len,
                           .kv_len = m.kv_len,
                           .qk_dim = row,
                           .v_dim = m.ckv_dim,
                           .kv_heads = 1,
                           .kv_lens = m.kv_lens,
                           .dtype = m.dtype,
                           .kv_dtype = m.kv_dtype,
                           .out_dtype = m.out_dtype,
                           .mask = m.mask};
  status = check_shape(&c, &s);
  if (status) return status;
  totals t = {0};
  kmb_work work = kmb_work_init();
  status = count_flops(&c, &s, kmbi_plus(&c, row, m.ckv_dim), &t, &work);
  if (status) return status;
  uint64_t rows = kmbi_times(&c, t.queries, m.heads);
  uint64_t q = kmbi_bytes(&c, kmbi_times(&c, rows, row), s.dtype);
  uint64_t cache = kmbi_bytes(&c, kmbi_times(&c, t.keys, row), s.kv_dtype);
  work.read_bytes = kmbi_plus(&c, q, cache);
  work.write_bytes =
      kmbi_bytes(&c, kmbi_times(&c, rows, m.ckv_dim), s.out_dtype);
  work.dtype = s.dtype;
  work.operation = KMB_OPERATION_ATTENTION;
  work.convention =
      m.mask ? "latent attention, causal bottom-right, pairs counted exactly: "
               "2 · pairs · heads · (2 ckv + kpe) FLOP; Q, O and the cached "
               "tokens once each"
             : "latent attention, no mask: 2 · pairs · heads · (2 ckv + kpe) "
               "FLOP; Q, O and the cached tokens once each";
  return kmbi_work_store(&c, &work, out);
}
