/* Where a measured time stands below the ceilings. */
#include <kmb/roofline.h>

#include "error.h"
#include "memory.h"
#include "run.h"
#include "structs.h"

#include <math.h>

typedef struct inputs {
  double flops, bytes;    /* 0: does not count */
  double memory, compute; /* ceilings; 0: unknown */
  double time_ns;         /* 0: predict only */
  /* What others reached; one of them at most. */
  double reference_bytes, reference_flops;
} inputs;

static bool is_compute(kmb_ceiling_kind kind) {
  return kind == KMB_CEILING_FMA || kind == KMB_CEILING_MATRIX;
}

/* A kind or element type of 0 is one that the caller does not name. */
static kmb_status check_ceiling(const kmb_ceiling *c, const kmb_work *work,
                                bool compute, const char *what) {
  if (c->kind < 0 || c->kind > KMB_CEILING_MEMORY ||
      (c->kind && is_compute(c->kind) != compute))
    return kmbi_fail(KMB_ERR_INVALID, "%s: kind %d does not belong here", what,
                     (int)c->kind);
  if (c->flags & ~(uint32_t)KMB_CEILING_SPARSE || c->reserved)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "%s: flags or reserved are set that "
                     "this libkmb does not know",
                     what);
  if (c->source == KMB_SOURCE_REFERENCE)
    return kmbi_fail(KMB_ERR_INVALID,
                     "%s: a reference figure is no limit; give it as "
                     "kmb_roofline_params::reference",
                     what);
  if (compute && c->dtype && work->dtype && c->dtype != work->dtype)
    return kmbi_fail(KMB_ERR_INVALID, "%s is of %s, the work is in %s", what,
                     kmb_dtype_name(c->dtype), kmb_dtype_name(work->dtype));
  return KMB_OK;
}

static kmb_status read_ceiling(const kmb_ceiling *from, const kmb_work *work,
                               bool compute, kmb_ceiling *ceiling) {
  const char *what = compute ? "compute ceiling" : "memory ceiling";
  if (!from) return KMB_OK;
  kmb_status status =
      kmbi_copy_in(ceiling, sizeof *ceiling, KMBI_CEILING_V1, from, what);
  if (status) return status;
  if (!(ceiling->value > 0) || !isfinite(ceiling->value))
    return kmbi_fail(KMB_ERR_INVALID, "%s is not positive and finite", what);
  return check_ceiling(ceiling, work, compute, what);
}

/* A ridge between a measured and a promised figure would mean nothing. */
static kmb_status check_sources(const kmb_ceiling *a, const kmb_ceiling *b) {
  bool free = !a->source || !b->source || a->source == KMB_SOURCE_CALLER ||
              b->source == KMB_SOURCE_CALLER;
  if (free || a->source == b->source) return KMB_OK;
  return kmbi_fail(KMB_ERR_INVALID,
                   "kmb_roofline_evaluate: the memory ceiling is %s, the "
                   "compute ceiling %s; give two of one kind",
                   kmbi_source_name(a->source), kmbi_source_name(b->source));
}

static kmb_status read_reference(const kmb_reference *from, inputs *in) {
  kmb_reference reference;
  if (!from) return KMB_OK;
  kmb_status status = kmbi_copy_in(&reference, sizeof reference,
                                   KMBI_REFERENCE_V1, from, "kmb_reference");
  if (status) return status;
  bool memory = reference.bound == KMB_BOUND_MEMORY;
  if ((!memory && reference.bound != KMB_BOUND_COMPUTE) ||
      !(reference.value > 0) || !isfinite(reference.value))
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_reference: its value must be positive and finite, "
                     "its bound memory or compute");
  *(memory ? &in->reference_bytes : &in->reference_flops) = reference.value;
  return KMB_OK;
}

static kmb_status read_inputs(const kmb_roofline_params *caller, inputs *in) {
  kmb_roofline_params params;
  kmb_status status =
      kmbi_copy_in(&params, sizeof params, KMBI_ROOFLINE_PARAMS_V1, caller,
                   "kmb_roofline_params");
  if (status) return status;
  kmb_work work;
  status = kmbi_copy_in(&work, sizeof work, KMBI_WORK_V1, params.work,
                        "kmb_roofline_params: work");
  if (status) return status;
  uint32_t bits = 0;
  if (work.flags || work.reserved)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "kmb_work: flags and reserved must be 0");
  if (work.dtype && kmb_dtype_bits(work.dtype, &bits))
    return kmbi_fail(KMB_ERR_INVALID, "kmb_work: dtype %d is unknown",
                     (int)work.dtype);
  uint64_t bytes = 0;
  if (!kmbi_add(work.read_bytes, work.write_bytes, &bytes))
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_roofline_evaluate: bytes exceed 64 bits");
  if (!(params.time_ns >= 0) || !isfinite(params.time_ns))
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_roofline_evaluate: time_ns is negative or not "
                     "finite");
  in->flops = (double)work.flops;
  in->bytes = (double)bytes;
  in->time_ns = params.time_ns;
  kmb_ceiling memory = kmb_ceiling_init(), compute = kmb_ceiling_init();
  status = read_ceiling(params.memory, &work, false, &memory);
  if (!status) status = read_ceiling(params.compute, &work, true, &compute);
  if (!status) status = check_sources(&memory, &compute);
  if (!status) status = read_reference(params.reference, in);
  in->memory = memory.value;
  in->compute = compute.value;
  return status;
}

/* What overflows is not known. */
static void set(double *field, kmb_roofline *out, uint32_t bit, double value) {
  if (!isfinite(value)) return;
  *field = value;
  out->known |= bit;
}

static void predict(const inputs *in, kmb_roofline *out) {
  if (in->flops > 0 && in->bytes > 0)
    set(&out->intensity, out, KMB_ROOFLINE_INTENSITY, in->flops / in->bytes);
  if (in->memory > 0 && in->compute > 0)
    set(&out->ridge, out, KMB_ROOFLINE_RIDGE, in->compute / in->memory);
  /* Work that counts nothing says nothing. */
  if (in->flops == 0 && in->bytes == 0) return;
  /* What does not count cannot bind; what counts needs its ceiling. */
  bool memory_known = in->memory > 0 || in->bytes == 0;
  bool compute_known = in->compute > 0 || in->flops == 0;
  if (!memory_known || !compute_known) return;
  double memory_s = in->bytes > 0 ? in->bytes / in->memory : 0;
  double compute_s = in->flops > 0 ? in->flops / in->compute : 0;
  bool by_memory = memory_s >= compute_s;
  double sol_s = by_memory ? memory_s : compute_s;
  out->predicted = by_memory ? KMB_BOUND_MEMORY : KMB_BOUND_COMPUTE;
  set(&out->sol_time_ns, out, KMB_ROOFLINE_SOL_TIME, sol_s * 1e9);
  if (in->flops > 0)
    set(&out->attainable_flops, out, KMB_ROOFLINE_ATTAINABLE_FLOPS,
        in->flops / sol_s);
}

static kmb_bound observe(const kmb_roofline *out) {
  double memory = out->known & KMB_ROOFLINE_MEMORY_PCT ? out->memory_pct : 0;
  double compute = out->known & KMB_ROOFLINE_COMPUTE_PCT ? out->compute_pct : 0;
  double most = memory >= compute ? memory : compute;
  if (most < 100 * KMB_BOUND_REACHED) {
    /* Neither can be said only if every resource that counts was judged. */
    return out->known & KMB_ROOFLINE_SOL_PCT ? KMB_BOUND_NEITHER
                                             : KMB_BOUND_UNKNOWN;
  }
  return memory >= compute ? KMB_BOUND_MEMORY : KMB_BOUND_COMPUTE;
}

static void judge(const inputs *in, kmb_roofline *out) {
  double seconds = in->time_ns / 1e9;
  if (in->flops > 0)
    set(&out->achieved_flops, out, KMB_ROOFLINE_ACHIEVED_FLOPS,
        in->flops / seconds);
  if (in->bytes > 0)
    set(&out->achieved_bytes, out, KMB_ROOFLINE_ACHIEVED_BYTES,
        in->bytes / seconds);
  if (out->known & KMB_ROOFLINE_ACHIEVED_BYTES && in->memory > 0)
    set(&out->memory_pct, out, KMB_ROOFLINE_MEMORY_PCT,
        100 * out->achieved_bytes / in->memory);
  if (out->known & KMB_ROOFLINE_ACHIEVED_FLOPS && in->compute > 0)
    set(&out->compute_pct, out, KMB_ROOFLINE_COMPUTE_PCT,
        100 * out->achieved_flops / in->compute);
  if (out->known & KMB_ROOFLINE_SOL_TIME)
    set(&out->sol_pct, out, KMB_ROOFLINE_SOL_PCT,
        100 * out->sol_time_ns / in->time_ns);
  double reference =
      in->reference_bytes > 0   ? out->achieved_bytes / in->reference_bytes
      : in->reference_flops > 0 ? out->achieved_flops / in->reference_flops
                                : 0;
  if (reference > 0)
    set(&out->reference_pct, out, KMB_ROOFLINE_REFERENCE_PCT, 100 * reference);
  if (out->memory_pct > 100 || out->compute_pct > 100) {
    out->known |= KMB_ROOFLINE_ABOVE_PEAK;
    out->flags |= KMB_ROOFLINE_ABOVE_PEAK;
  }
  out->observed = observe(out);
}

kmb_status kmb_roofline_evaluate(const kmb_roofline_params *params,
                                 kmb_roofline *out) {
  inputs in = {0};
  kmb_status status = read_inputs(params, &in);
  if (status) return status;
  kmb_roofline roofline = kmb_roofline_init();
  predict(&in, &roofline);
  if (in.time_ns > 0) judge(&in, &roofline);
  return kmbi_copy_out(out, &roofline, sizeof roofline, KMBI_ROOFLINE_V1,
                       "kmb_roofline_evaluate: roofline");
}

const char *kmb_roofline_above_peak_text(void) {
  return "check in this order: units; the formula of the work; work that was "
         "skipped; sparse against dense operations (also what they accumulate "
         "in); inputs still in a cache; the baseline, that is the ceiling "
         "itself";
}
