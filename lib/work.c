/* Work of the simplest operations, and of rows: counts by stated conventions.
 */
#include "error.h"
#include "structs.h"
#include "work_count.h"

kmb_status kmb_work_gemm(uint64_t m, uint64_t n, uint64_t k, kmb_dtype dtype,
                         kmb_work *out) {
  kmbi_count c = {.what = "kmb_work_gemm"};
  kmb_status status = kmbi_work_dtype(&c, &dtype, 0);
  if (status) return status;
  if (!m || !n || !k) return kmbi_work_bad(&c, "m, n and k must be at least 1");
  kmb_work work = kmb_work_init();
  uint64_t mn = kmbi_times(&c, m, n);
  uint64_t a = kmbi_bytes(&c, kmbi_times(&c, m, k), dtype);
  uint64_t b = kmbi_bytes(&c, kmbi_times(&c, k, n), dtype);
  work.flops = kmbi_times(&c, 2, kmbi_times(&c, mn, k));
  work.read_bytes = kmbi_plus(&c, a, b);
  work.write_bytes = kmbi_bytes(&c, mn, dtype);
  work.dtype = dtype;
  work.operation = KMB_OPERATION_GEMM;
  work.convention = "GEMM: 2mnk FLOP; A, B and D once each, no C";
  return kmbi_work_store(&c, &work, out);
}

kmb_status kmb_work_elementwise(uint64_t n, uint32_t inputs, uint32_t outputs,
                                uint32_t flops_per_element, kmb_dtype dtype,
                                kmb_work *out) {
  kmbi_count c = {.what = "kmb_work_elementwise"};
  kmb_status status = kmbi_work_dtype(&c, &dtype, 0);
  if (status) return status;
  if (!n) return kmbi_work_bad(&c, "n must be at least 1");
  if (!inputs && !outputs)
    return kmbi_work_bad(&c, "neither inputs nor outputs");
  kmb_work work = kmb_work_init();
  uint64_t one = kmbi_bytes(&c, n, dtype);
  work.read_bytes = kmbi_times(&c, one, inputs);
  work.write_bytes = kmbi_times(&c, one, outputs);
  work.flops = kmbi_times(&c, n, flops_per_element);
  work.dtype = dtype;
  work.convention = "element-wise: each array once (as STREAM counts); the "
                    "read of a write-allocate is not counted";
  return kmbi_work_store(&c, &work, out);
}

kmb_status kmb_work_copy(uint64_t bytes, kmb_work *out) {
  kmbi_count c = {.what = "kmb_work_copy"};
  if (!bytes) return kmbi_work_bad(&c, "bytes must be at least 1");
  kmb_work work = kmb_work_init();
  work.read_bytes = bytes;
  work.write_bytes = bytes;
  work.dtype = KMB_U8;
  work.operation = KMB_OPERATION_COPY;
  work.convention = "copy: bytes read plus bytes written; the read of a "
                    "write-allocate is not counted";
  return kmbi_work_store(&c, &work, out);
}

static const char *norm_text(bool layer, bool residual, bool quantised) {
#define NORM(name, flops)                                              \
  name ": " flops " FLOP an element, rough; input, weight and output " \
       "once each"
#define ADDED(name, flops) \
  NORM(name " after a residual", flops) ", the residual read and written"
  static const char *const texts[2][2][2] = {
      {{NORM("RMSNorm", "5"), NORM("quantising RMSNorm", "6")},
       {ADDED("RMSNorm", "6"), ADDED("quantising RMSNorm", "7")}},
      {{NORM("LayerNorm", "6"), NORM("quantising LayerNorm", "7")},
       {ADDED("LayerNorm", "7"), ADDED("quantising LayerNorm", "8")}}};
#undef ADDED
#undef NORM
  return texts[layer][residual][quantised];
}

kmb_status kmb_work_norm(const kmb_norm_shape *caller, kmb_work *out) {
  kmbi_count c = {.what = "kmb_work_norm"};
  kmb_norm_shape s;
  kmb_status status =
      kmbi_copy_in(&s, sizeof s, KMBI_NORM_SHAPE_V1, caller, "kmb_norm_shape");
  if (!status) status = kmbi_work_dtype(&c, &s.dtype, 0);
  if (!status) status = kmbi_work_dtype(&c, &s.out_dtype, s.dtype);
  if (!status) status = kmbi_work_flags(&c, s.flags, KMB_NORM_RESIDUAL);
  if (status) return status;
  if (s.norm != KMB_NORM_RMS && s.norm != KMB_NORM_LAYER)
    return kmbi_work_bad(&c, "%d is no norm; use KMB_NORM_…", (int)s.norm);
  if (!s.rows || !s.hidden)
    return kmbi_work_bad(&c, "rows and hidden must be at least 1");
  bool layer = s.norm == KMB_NORM_LAYER;
  bool residual = s.flags & KMB_NORM_RESIDUAL;
  bool quantised = s.out_dtype != s.dtype;
  kmb_work work = kmb_work_init();
  uint64_t n = kmbi_times(&c, s.rows, s.hidden);
  uint64_t in = kmbi_bytes(&c, n, s.dtype);
  uint64_t weight = kmbi_bytes(&c, s.hidden, s.dtype);
  work.flops = kmbi_times(&c, n, 5u + layer + residual + quantised);
  work.read_bytes = kmbi_plus(&c, kmbi_times(&c, in, 1u + residual),
                              kmbi_times(&c, weight, 1u + layer));
  work.write_bytes =
      kmbi_plus(&c, kmbi_bytes(&c, n, s.out_dtype), residual ? in : 0);
  /* Such kernels compute in f32, whatever they read. */
  work.dtype = s.dtype == KMB_F64 ? KMB_F64 : KMB_F32;
  work.convention = norm_text(layer, residual, quantised);
  return kmbi_work_store(&c, &work, out);
}

/* Reads `reads` elements and writes `writes`, without FLOPs. */
static kmb_status moved(kmbi_count *c, uint64_t reads, kmb_dtype dtype,
                        uint64_t writes, kmb_dtype out_dtype,
                        const char *convention, kmb_work *out) {
  kmb_status status = kmbi_work_dtype(c, &dtype, 0);
  if (!status) status = kmbi_work_dtype(c, &out_dtype, dtype);
  if (status) return status;
  kmb_work work = kmb_work_init();
  work.read_bytes = kmbi_bytes(c, reads, dtype);
  work.write_bytes = kmbi_bytes(c, writes, out_dtype);
  work.dtype = dtype;
  work.convention = convention;
  return kmbi_work_store(c, &work, out);
}

kmb_status kmb_work_softmax(uint64_t rows, uint64_t columns, kmb_dtype dtype,
                            kmb_dtype out_dtype, kmb_work *out) {
  kmbi_count c = {.what = "kmb_work_softmax"};
  if (!rows || !columns)
    return kmbi_work_bad(&c, "rows and columns must be at least 1");
  uint64_t n = kmbi_times(&c, rows, columns);
  return moved(&c, n, dtype, n, out_dtype,
               "softmax: input read and output written once; no FLOP, since "
               "exponentials are not counted",
               out);
}

kmb_status kmb_work_activation(uint64_t n, int gated, kmb_dtype dtype,
                               kmb_dtype out_dtype, kmb_work *out) {
  kmbi_count c = {.what = "kmb_work_activation"};
  if (!n) return kmbi_work_bad(&c, "n must be at least 1");
  return moved(&c, kmbi_times(&c, n, gated ? 2 : 1), dtype, n, out_dtype,
               gated ? "gated activation: 2 elements read for each one "
                       "written; no FLOP counted"
                     : "activation: input read and output written once; no "
                       "FLOP counted",
               out);
}

/* The factor is (a·n + b) ÷ (n + c). */
typedef struct bus {
  double a, b, c;
  const char *convention;
} bus;

static const bus buses[] = {
    [KMB_ALL_REDUCE] = {2, -2, 0,
                        "all-reduce: bytes of a rank's array; bus = "
                        "algorithm × 2(n−1)/n"},
    [KMB_REDUCE_SCATTER] = {1, -1, 0,
                            "reduce-scatter: bytes of the whole input; bus = "
                            "algorithm × (n−1)/n"},
    [KMB_ALL_GATHER] = {1, -1, 0,
                        "all-gather: bytes of the whole output; bus = "
                        "algorithm × (n−1)/n"},
    [KMB_ALL_TO_ALL] = {1, -1, 0,
                        "all-to-all: bytes of a rank's array; bus = "
                        "algorithm × (n−1)/n"},
    [KMB_BROADCAST] = {1, 0, 0,
                       "broadcast: bytes of the array; bus = algorithm"},
    [KMB_REDUCE] = {1, 0, 0,
                    "reduce: bytes of a rank's array; bus = algorithm"},
    [KMB_ALL_REDUCE_IN_NETWORK] = {1, -1, 1,
                                   "all-reduce in the network: bytes of a "
                                   "rank's array; bus = algorithm × "
                                   "(n−1)/(n+1)"},
};

kmb_status kmb_work_collective(kmb_collective collective, uint64_t bytes,
                               uint32_t ranks, kmb_collective_work *out) {
  kmbi_count c = {.what = "kmb_work_collective"};
  if (collective < KMB_ALL_REDUCE || collective > KMB_ALL_REDUCE_IN_NETWORK)
    return kmbi_work_bad(&c, "%d is no collective; use KMB_ALL_REDUCE …",
                         (int)collective);
  if (!bytes) return kmbi_work_bad(&c, "bytes must be at least 1");
  if (ranks < 2)
    return kmbi_work_bad(&c, "%u rank: at least 2 are needed", (unsigned)ranks);
  const bus *b = &buses[collective];
  kmb_collective_work work = kmb_collective_work_init();
  work.bytes = bytes;
  work.bus_factor = (b->a * ranks + b->b) / (ranks + b->c);
  work.convention = b->convention;
  work.ranks = ranks;
  work.collective = collective;
  return kmbi_copy_out(out, &work, sizeof work, KMBI_COLLECTIVE_WORK_V1,
                       "kmb_work_collective: work");
}
