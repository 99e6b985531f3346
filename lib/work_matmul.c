/* Work of matrix products: plain, batched, grouped, and of experts. */
#include "structs.h"
#include "work_count.h"

/* What matmul and grouped products have in common. */
typedef struct operands {
  kmb_dtype dtype, a, b, out;
  kmb_scales a_scales, b_scales;
} operands;

static kmb_status check_operands(const kmbi_count *c, operands *o) {
  kmb_status status = kmbi_work_dtype(c, &o->dtype, 0);
  if (!status) status = kmbi_work_dtype(c, &o->a, o->dtype);
  if (!status) status = kmbi_work_dtype(c, &o->b, o->dtype);
  if (!status) status = kmbi_work_dtype(c, &o->out, o->dtype);
  if (!status) status = kmbi_work_scales(c, o->a_scales);
  if (!status) status = kmbi_work_scales(c, o->b_scales);
  return status;
}

static const char *matmul_text(uint32_t flags, bool scales) {
#define SCALES(x) \
  { x, x "; scales once each" }
#define BETA(x) \
  { SCALES(x ", no C"), SCALES(x ", C read once") }
#define BIAS(x)                                     \
  {                                                 \
    BETA(x "; A, B and D once each"),               \
        BETA(x " + mn; A, B, bias and D once each") \
  }
#define EPILOGUE(x, y) \
  { BIAS(x), BIAS(y) }
  static const char *const texts[2][2][2][2][2] = {
      EPILOGUE("GEMM: 2mnk FLOP", "GEMM: 2(mnk + mn) FLOP as CUTLASS counts"),
      EPILOGUE("complex GEMM: 4 · 2mnk FLOP",
               "complex GEMM: 4 · 2(mnk + mn) FLOP as CUTLASS counts")};
#undef EPILOGUE
#undef BIAS
#undef BETA
#undef SCALES
  return texts[(flags & KMB_MATMUL_COMPLEX) != 0]
              [(flags & KMB_MATMUL_EPILOGUE) != 0]
              [(flags & KMB_MATMUL_BIAS) != 0][(flags & KMB_MATMUL_BETA) != 0]
              [scales];
}

static void count_matmul(kmbi_count *c, const kmb_matmul_shape *s,
                         const operands *o, kmb_work *work) {
  bool bias = s->flags & KMB_MATMUL_BIAS;
  /* A complex element is two of its dtype. */
  uint64_t parts = s->flags & KMB_MATMUL_COMPLEX ? 2 : 1;
  uint64_t mn = kmbi_times(c, s->m, s->n);
  uint64_t flops = kmbi_times(c, mn, s->k);
  if (s->flags & KMB_MATMUL_EPILOGUE) flops = kmbi_plus(c, flops, mn);
  flops = kmbi_plus(c, kmbi_times(c, flops, 2), bias ? mn : 0);
  work->flops = kmbi_times(c, flops, parts * parts);
  uint64_t a = kmbi_rows_bytes(c, s->m, kmbi_times(c, s->k, parts), o->a,
                               o->a_scales, false);
  uint64_t b = kmbi_rows_bytes(c, s->n, kmbi_times(c, s->k, parts), o->b,
                               o->b_scales, true);
  uint64_t d = kmbi_bytes(c, kmbi_times(c, mn, parts), o->out);
  work->read_bytes = kmbi_plus(c, a, b);
  if (bias)
    work->read_bytes = kmbi_plus(
        c, work->read_bytes, kmbi_bytes(c, kmbi_times(c, s->n, parts), o->out));
  if (s->flags & KMB_MATMUL_BETA)
    work->read_bytes = kmbi_plus(c, work->read_bytes, d);
  work->write_bytes = d;
}

kmb_status kmb_work_matmul(const kmb_matmul_shape *caller, kmb_work *out) {
  kmbi_count c = {.what = "kmb_work_matmul"};
  kmb_matmul_shape s;
  kmb_status status = kmbi_copy_in(&s, sizeof s, KMBI_MATMUL_SHAPE_V1, caller,
                                   "kmb_matmul_shape");
  if (status) return status;
  operands o = {s.dtype,     s.a_dtype,  s.b_dtype,
                s.out_dtype, s.a_scales, s.b_scales};
  status = check_operands(&c, &o);
  if (!status)
    status = kmbi_work_flags(&c, s.flags,
                             KMB_MATMUL_BETA | KMB_MATMUL_BIAS |
                                 KMB_MATMUL_EPILOGUE | KMB_MATMUL_COMPLEX);
  if (status) return status;
  if (s.reserved) return kmbi_work_bad(&c, "reserved must be 0");
  if (!s.m || !s.n || !s.k)
    return kmbi_work_bad(&c, "m, n and k must be at least 1");
  kmb_work one = kmb_work_init();
  count_matmul(&c, &s, &o, &one);
  uint64_t batch = s.batch ? s.batch : 1;
  one.flops = kmbi_times(&c, one.flops, batch);
  one.read_bytes = kmbi_times(&c, one.read_bytes, batch);
  one.write_bytes = kmbi_times(&c, one.write_bytes, batch);
  one.dtype = o.dtype;
  one.operation = KMB_OPERATION_GEMM;
  one.convention = matmul_text(s.flags, o.a_scales || o.b_scales);
  return kmbi_work_store(&c, &one, out);
}

kmb_status kmb_work_grouped(const kmb_grouped_shape *caller, kmb_work *out) {
  kmbi_count c = {.what = "kmb_work_grouped"};
  kmb_grouped_shape s;
  kmb_status status = kmbi_copy_in(&s, sizeof s, KMBI_GROUPED_SHAPE_V1, caller,
                                   "kmb_grouped_shape");
  if (status) return status;
  operands o = {s.dtype,     s.a_dtype,  s.b_dtype,
                s.out_dtype, s.a_scales, s.b_scales};
  status = check_operands(&c, &o);
  if (!status) status = kmbi_work_flags(&c, s.flags, KMB_GROUPED_USED_B);
  if (status) return status;
  if (s.reserved) return kmbi_work_bad(&c, "reserved must be 0");
  if (!s.groups || !s.n || !s.k)
    return kmbi_work_bad(&c, "groups, n and k must be at least 1");
  if (s.rows && s.m) return kmbi_work_bad(&c, "give rows or m, not both");
  uint64_t rows = 0, used = 0;
  if (s.rows) {
    for (uint64_t i = 0; i < s.groups; i++) {
      rows = kmbi_plus(&c, rows, s.rows[i]);
      used += s.rows[i] != 0;
    }
  } else {
    rows = kmbi_times(&c, s.m, s.groups);
    used = s.groups;
  }
  if (!rows && !c.over) return kmbi_work_bad(&c, "no group has a row");
  bool used_only = s.flags & KMB_GROUPED_USED_B;
  kmb_work work = kmb_work_init();
  uint64_t nk = kmbi_times(&c, s.n, s.k);
  work.flops = kmbi_times(&c, 2, kmbi_times(&c, rows, nk));
  uint64_t a = kmbi_rows_bytes(&c, rows, s.k, o.a, o.a_scales, false);
  uint64_t b = kmbi_rows_bytes(&c, s.n, s.k, o.b, o.b_scales, true);
  b = kmbi_times(&c, b, used_only ? used : s.groups);
  work.read_bytes = kmbi_plus(&c, a, b);
  work.write_bytes = kmbi_bytes(&c, kmbi_times(&c, rows, s.n), o.out);
  work.dtype = o.dtype;
  work.operation = KMB_OPERATION_GEMM;
  work.convention =
      used_only ? "grouped GEMM: 2 · valid rows · nk FLOP; valid rows of A and "
                  "D, B of the groups that have rows"
                : "grouped GEMM: 2 · valid rows · nk FLOP; valid rows of A and "
                  "D, B of every group";
  return kmbi_work_store(&c, &work, out);
}

static kmb_status check_moe(kmbi_count *c, kmb_moe_shape *s) {
  kmb_status status = kmbi_work_dtype(c, &s->dtype, 0);
  if (!status) status = kmbi_work_dtype(c, &s->compute_dtype, s->dtype);
  if (!status) status = kmbi_work_dtype(c, &s->weight_dtype, s->dtype);
  if (!status) status = kmbi_work_dtype(c, &s->out_dtype, s->dtype);
  if (!status) status = kmbi_work_dtype(c, &s->logits_dtype, KMB_F32);
  if (!status) status = kmbi_work_scales(c, s->scales);
  if (!status) status = kmbi_work_scales(c, s->weight_scales);
  if (!status) status = kmbi_work_flags(c, s->flags, KMB_MOE_UNGATED);
  if (status) return status;
  if (!s->tokens || !s->hidden || !s->intermediate || !s->experts || !s->top_k)
    return kmbi_work_bad(c, "tokens, hidden, intermediate, experts and top_k "
                            "must be at least 1");
  if (s->top_k > s->experts)
    return kmbi_work_bad(c, "top_k is more than experts");
  uint64_t routed = 0;
  uint64_t most = kmbi_mul(s->tokens, s->top_k, &routed) && routed < s->experts
                      ? routed
                      : s->experts;
  if (!s->active_experts) s->active_experts = most;
  if (s->active_experts > most || s->active_experts < s->top_k)
    return kmbi_work_bad(c, "active_experts must lie between top_k and the "
                            "smaller of experts and tokens × top_k");
  return KMB_OK;
}

kmb_status kmb_work_moe(const kmb_moe_shape *caller, kmb_work *out) {
  kmbi_count c = {.what = "kmb_work_moe"};
  kmb_moe_shape s;
  kmb_status status =
      kmbi_copy_in(&s, sizeof s, KMBI_MOE_SHAPE_V1, caller, "kmb_moe_shape");
  if (!status) status = check_moe(&c, &s);
  if (status) return status;
  bool gated = !(s.flags & KMB_MOE_UNGATED);
  kmb_work work = kmb_work_init();
  uint64_t up = kmbi_times(&c, s.intermediate, gated ? 2 : 1);
  uint64_t wide = kmbi_plus(&c, up, s.intermediate);
  uint64_t routed = kmbi_times(&c, s.tokens, s.top_k);
  work.flops =
      kmbi_times(&c, kmbi_times(&c, routed, 2), kmbi_times(&c, s.hidden, wide));
  uint64_t input =
      kmbi_rows_bytes(&c, s.tokens, s.hidden, s.dtype, s.scales, false);
  uint64_t logits =
      kmbi_bytes(&c, kmbi_times(&c, s.tokens, s.experts), s.logits_dtype);
  uint64_t one = kmbi_plus(
      &c,
      kmbi_rows_bytes(&c, up, s.hidden, s.weight_dtype, s.weight_scales, true),
      kmbi_rows_bytes(&c, s.hidden, s.intermediate, s.weight_dtype,
                      s.weight_scales, true));
  uint64_t weights = kmbi_times(&c, one, s.active_experts);
  work.read_bytes = kmbi_plus(&c, kmbi_plus(&c, input, logits), weights);
  work.write_bytes =
      kmbi_bytes(&c, kmbi_times(&c, s.tokens, s.hidden), s.out_dtype);
  work.dtype = s.compute_dtype;
  work.operation = KMB_OPERATION_GEMM;
  work.convention =
      gated ? "gated experts: tokens · k · 2 · 3 · hidden · intermediate FLOP; "
              "input, logits, weights of the active experts and output once"
            : "experts: tokens · k · 2 · 2 · hidden · intermediate FLOP; "
              "input, logits, weights of the active experts and output once";
  return kmbi_work_store(&c, &work, out);
}
