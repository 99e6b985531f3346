/* The roofline: known answers, unknowns that stay unknown, refusals. */
#include "require.h"

#include <kmb/roofline.h>

static kmb_work work_of(uint64_t flops, uint64_t reads, uint64_t writes) {
  kmb_work work = kmb_work_init();
  work.flops = flops;
  work.read_bytes = reads;
  work.write_bytes = writes;
  work.dtype = KMB_F32;
  return work;
}

static kmb_ceiling ceiling_of(double value) {
  kmb_ceiling ceiling = kmb_ceiling_init();
  ceiling.value = value;
  ceiling.source = KMB_SOURCE_CALLER;
  return ceiling;
}

static kmb_roofline evaluate(const kmb_work *work, double memory,
                             double compute, double time_ns) {
  kmb_ceiling m = ceiling_of(memory), c = ceiling_of(compute);
  kmb_roofline_params params = kmb_roofline_params_init();
  kmb_roofline roofline = kmb_roofline_init();
  params.work = work;
  params.memory = memory > 0 ? &m : NULL;
  params.compute = compute > 0 ? &c : NULL;
  params.time_ns = time_ns;
  REQUIRE_OK(kmb_roofline_evaluate(&params, &roofline));
  return roofline;
}

/* 2e9 FLOP over 1e9 bytes at 100 GB/s and 1 TFLOP/s: 10 ms by memory, 2 ms by
 * arithmetic. */
static void memory_bound_work(void) {
  kmb_work work = work_of(2000000000, 900000000, 100000000);
  kmb_roofline r = evaluate(&work, 100e9, 1e12, 12.5e6);
  REQUIRE_NEAR(r.intensity, 2, 1e-12);
  REQUIRE_NEAR(r.ridge, 10, 1e-12);
  REQUIRE_NEAR(r.sol_time_ns, 10e6, 1e-3);
  REQUIRE_NEAR(r.attainable_flops, 200e9, 1);
  REQUIRE_NEAR(r.sol_pct, 80, 1e-9);
  REQUIRE_NEAR(r.memory_pct, 80, 1e-9);
  REQUIRE_NEAR(r.compute_pct, 16, 1e-9);
  REQUIRE_NEAR(r.achieved_flops, 160e9, 1);
  REQUIRE_NEAR(r.achieved_bytes, 80e9, 1);
  REQUIRE_EQ(r.predicted, KMB_BOUND_MEMORY);
  REQUIRE_EQ(r.observed, KMB_BOUND_MEMORY);
  REQUIRE_EQ(r.flags, 0);
}

static void compute_bound_work(void) {
  kmb_work work = work_of(20000000000, 900000000, 100000000);
  kmb_roofline r = evaluate(&work, 100e9, 1e12, 25e6);
  REQUIRE_EQ(r.predicted, KMB_BOUND_COMPUTE);
  REQUIRE_EQ(r.observed, KMB_BOUND_COMPUTE);
  REQUIRE_NEAR(r.sol_time_ns, 20e6, 1e-3);
  REQUIRE_NEAR(r.attainable_flops, 1e12, 1);
  REQUIRE_NEAR(r.sol_pct, 80, 1e-9);
}

static void below_both_is_neither_and_the_border_counts(void) {
  kmb_work work = work_of(2000000000, 900000000, 100000000);
  REQUIRE_EQ(evaluate(&work, 100e9, 1e12, 20e6).observed, KMB_BOUND_NEITHER);
  REQUIRE_EQ(evaluate(&work, 100e9, 1e12, 10e6 / 0.59).observed,
             KMB_BOUND_NEITHER);
  REQUIRE_EQ(evaluate(&work, 100e9, 1e12, 10e6 / 0.61).observed,
             KMB_BOUND_MEMORY);
}

static void without_a_time_there_is_only_a_prediction(void) {
  kmb_work work = work_of(2000000000, 900000000, 100000000);
  kmb_roofline r = evaluate(&work, 100e9, 1e12, 0);
  REQUIRE_EQ(r.known, KMB_ROOFLINE_INTENSITY | KMB_ROOFLINE_RIDGE |
                          KMB_ROOFLINE_SOL_TIME |
                          KMB_ROOFLINE_ATTAINABLE_FLOPS);
  REQUIRE_EQ(r.observed, KMB_BOUND_UNKNOWN);
  REQUIRE_EQ(r.predicted, KMB_BOUND_MEMORY);
}

/* A missing ceiling is no reason to guess from the other one. */
static void an_unknown_ceiling_stays_unknown(void) {
  kmb_work work = work_of(2000000000, 900000000, 100000000);
  kmb_roofline r = evaluate(&work, 100e9, 0, 12.5e6);
  REQUIRE_EQ(r.predicted, KMB_BOUND_UNKNOWN);
  REQUIRE_EQ(r.known & (KMB_ROOFLINE_SOL_TIME | KMB_ROOFLINE_SOL_PCT |
                        KMB_ROOFLINE_RIDGE | KMB_ROOFLINE_COMPUTE_PCT),
             0);
  REQUIRE_NEAR(r.memory_pct, 80, 1e-9);
  REQUIRE_EQ(r.observed, KMB_BOUND_MEMORY);
  r = evaluate(&work, 100e9, 0, 40e6);
  REQUIRE_EQ(r.observed, KMB_BOUND_UNKNOWN); /* compute may still bind */
}

static void what_does_not_count_cannot_bind(void) {
  kmb_work copy = work_of(0, 500000000, 500000000);
  kmb_roofline r = evaluate(&copy, 100e9, 0, 12.5e6);
  REQUIRE_EQ(r.predicted, KMB_BOUND_MEMORY);
  REQUIRE_NEAR(r.sol_pct, 80, 1e-9);
  REQUIRE_EQ(r.known & (KMB_ROOFLINE_INTENSITY | KMB_ROOFLINE_ACHIEVED_FLOPS),
             0);
  kmb_work spin = work_of(1000000000, 0, 0);
  r = evaluate(&spin, 0, 1e12, 1e6);
  REQUIRE_EQ(r.predicted, KMB_BOUND_COMPUTE);
  REQUIRE_NEAR(r.sol_pct, 100, 1e-9);
}

static void above_a_ceiling_is_said_and_not_clamped(void) {
  kmb_work work = work_of(0, 1000000000, 0);
  kmb_roofline r = evaluate(&work, 100e9, 0, 5e6);
  REQUIRE_EQ(r.flags, KMB_ROOFLINE_ABOVE_PEAK);
  REQUIRE_NEAR(r.memory_pct, 200, 1e-9);
  REQUIRE_NEAR(r.sol_pct, 200, 1e-9);
  r = evaluate(&work, 100e9, 0, 10e6);
  REQUIRE_EQ(r.flags, 0);
}

static void refusals(void) {
  kmb_work work = work_of(1, 1, 1);
  kmb_work huge = work_of(1, UINT64_MAX, 1);
  kmb_ceiling zero = ceiling_of(0), infinite = ceiling_of(1.0 / 0.0);
  kmb_roofline_params p = kmb_roofline_params_init();
  kmb_roofline r = kmb_roofline_init();
  REQUIRE_STATUS(kmb_roofline_evaluate(NULL, &r), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, &r), KMB_ERR_INVALID);
  p.work = &huge;
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, &r), KMB_ERR_INVALID);
  p.work = &work;
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, NULL), KMB_ERR_INVALID);
  p.time_ns = -1;
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, &r), KMB_ERR_INVALID);
  p.time_ns = 0.0 / 0.0;
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, &r), KMB_ERR_INVALID);
  p.time_ns = 1;
  p.memory = &zero;
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, &r), KMB_ERR_INVALID);
  p.memory = &infinite;
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, &r), KMB_ERR_INVALID);
  p.memory = NULL;
  REQUIRE_OK(kmb_roofline_evaluate(&p, &r));
}

static void a_ceiling_must_fit_its_place(void) {
  kmb_work work = work_of(1, 1, 1);
  kmb_ceiling c = ceiling_of(1e9);
  kmb_roofline_params p = kmb_roofline_params_init();
  kmb_roofline r = kmb_roofline_init();
  p.work = &work;
  c.kind = KMB_CEILING_FMA;
  p.memory = &c;
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, &r), KMB_ERR_INVALID);
  p.memory = NULL;
  p.compute = &c;
  REQUIRE_OK(kmb_roofline_evaluate(&p, &r));
  c.dtype = KMB_F64;
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, &r), KMB_ERR_INVALID);
  c.dtype = KMB_F32;
  REQUIRE_OK(kmb_roofline_evaluate(&p, &r));
  c.kind = KMB_CEILING_READ;
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, &r), KMB_ERR_INVALID);
  c.kind = KMB_CEILING_MATRIX;
  REQUIRE_OK(kmb_roofline_evaluate(&p, &r));
  c.kind = KMB_CEILING_MEMORY;
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, &r), KMB_ERR_INVALID);
  c.kind = KMB_CEILING_MEMORY + 1;
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, &r), KMB_ERR_INVALID);
  p.compute = NULL;
  work.flags = 1;
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, &r), KMB_ERR_UNSUPPORTED);
  work.flags = 0;
  work.dtype = 99;
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, &r), KMB_ERR_INVALID);
}

/* Neither a bound nor a division by zero. */
static void work_that_counts_nothing_has_no_bound(void) {
  kmb_work nothing = work_of(0, 0, 0);
  kmb_roofline r = evaluate(&nothing, 100e9, 1e12, 1e6);
  REQUIRE_EQ(r.predicted, KMB_BOUND_UNKNOWN);
  REQUIRE_EQ(r.observed, KMB_BOUND_UNKNOWN);
  REQUIRE_EQ(r.known, KMB_ROOFLINE_RIDGE);
}

static kmb_status mix(kmb_ceiling_source memory, kmb_ceiling_source compute) {
  kmb_work work = work_of(1, 1, 1);
  kmb_ceiling m = ceiling_of(1e9), c = ceiling_of(1e9);
  kmb_roofline_params p = kmb_roofline_params_init();
  kmb_roofline r = kmb_roofline_init();
  m.source = memory;
  c.source = compute;
  p.work = &work;
  p.memory = &m;
  p.compute = &c;
  return kmb_roofline_evaluate(&p, &r);
}

static void kinds_of_ceilings_are_never_mixed(void) {
  const kmb_ceiling_source kinds[] = {KMB_SOURCE_MEASURED, KMB_SOURCE_DATASHEET,
                                      KMB_SOURCE_RATE};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      REQUIRE_EQ(mix(kinds[i], kinds[k]), i == k ? KMB_OK : KMB_ERR_INVALID);
  REQUIRE_STATUS(mix(KMB_SOURCE_MEASURED, KMB_SOURCE_DATASHEET),
                 KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "measured");
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "datasheet");
  REQUIRE_OK(mix(KMB_SOURCE_CALLER, KMB_SOURCE_DATASHEET));
  REQUIRE_OK(mix(KMB_SOURCE_MEASURED, KMB_SOURCE_CALLER));
  REQUIRE_OK(mix(KMB_SOURCE_MEASURED, 0));
  REQUIRE_STATUS(mix(KMB_SOURCE_REFERENCE, KMB_SOURCE_REFERENCE),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(mix(KMB_SOURCE_CALLER, KMB_SOURCE_REFERENCE), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "no limit");
}

/* 2e9 FLOP over 1e9 bytes in 12.5 ms: 160 GFLOP/s, 80 GB/s. */
static void a_reference_is_a_share_and_no_limit(void) {
  kmb_work work = work_of(2000000000, 900000000, 100000000);
  kmb_ceiling m = ceiling_of(100e9), c = ceiling_of(1e12);
  kmb_reference reference = kmb_reference_init();
  kmb_roofline_params p = kmb_roofline_params_init();
  kmb_roofline r = kmb_roofline_init();
  p.work = &work;
  p.memory = &m;
  p.compute = &c;
  p.time_ns = 12.5e6;
  p.reference = &reference;
  reference.bound = KMB_BOUND_MEMORY;
  reference.value = 40e9;
  REQUIRE_OK(kmb_roofline_evaluate(&p, &r));
  REQUIRE(r.known & KMB_ROOFLINE_REFERENCE_PCT);
  REQUIRE_NEAR(r.reference_pct, 200, 1e-9);
  REQUIRE_EQ(r.flags, 0);
  reference.bound = KMB_BOUND_COMPUTE;
  reference.value = 320e9;
  REQUIRE_OK(kmb_roofline_evaluate(&p, &r));
  REQUIRE_NEAR(r.reference_pct, 50, 1e-9);
  p.time_ns = 0;
  REQUIRE_OK(kmb_roofline_evaluate(&p, &r));
  REQUIRE_EQ(r.known & KMB_ROOFLINE_REFERENCE_PCT, 0);
  reference.bound = KMB_BOUND_NEITHER;
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, &r), KMB_ERR_INVALID);
  reference.bound = KMB_BOUND_MEMORY;
  reference.value = 0;
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, &r), KMB_ERR_INVALID);
  p.reference = NULL;
  m.flags = 2;
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, &r), KMB_ERR_UNSUPPORTED);
  m.flags = KMB_CEILING_SPARSE;
  REQUIRE_OK(kmb_roofline_evaluate(&p, &r));
  m.reserved = 1;
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, &r), KMB_ERR_UNSUPPORTED);
  m.reserved = 0;
  work.reserved = 1;
  REQUIRE_STATUS(kmb_roofline_evaluate(&p, &r), KMB_ERR_UNSUPPORTED);
}

/* Field case F1: 64 MiB in 13.37 µs on a part of 1792 GB/s. */
static void f1_above_the_peak_is_said_and_not_clamped(void) {
  const kmb_part *part = NULL;
  kmb_ceiling memory = kmb_ceiling_init();
  kmb_work work = work_of(0, 67108864, 0);
  kmb_roofline_params p = kmb_roofline_params_init();
  kmb_roofline r = kmb_roofline_init();
  REQUIRE_OK(kmb_peaks_find(NULL, "NVIDIA GeForce RTX 5090", NULL, &part));
  REQUIRE_OK(kmb_part_ceiling(part, KMB_CEILING_MEMORY, 0, 0, &memory));
  p.work = &work;
  p.memory = &memory;
  p.time_ns = 13370;
  REQUIRE_OK(kmb_roofline_evaluate(&p, &r));
  REQUIRE_EQ(r.flags, KMB_ROOFLINE_ABOVE_PEAK);
  REQUIRE_NEAR(r.memory_pct, 280.1, 0.05);
  REQUIRE_NEAR(r.sol_pct, 280.1, 0.05);
  REQUIRE_NEAR(r.achieved_bytes, 5019.4e9, 0.1e9);
  const char *const checks[] = {"units",  "formula", "skipped",
                                "sparse", "cache",   "baseline"};
  const char *at = kmb_roofline_above_peak_text();
  for (int i = 0; i < 6; i++) {
    REQUIRE_HAS(at, checks[i]); /* in this order */
    at = strstr(at, checks[i]);
  }
}

static void what_overflows_is_not_known(void) {
  kmb_work work = work_of(1ULL << 40, 1ULL << 40, 0);
  kmb_roofline r = evaluate(&work, 1e9, 1e9, 5e-324);
  REQUIRE_EQ(r.known &
                 (KMB_ROOFLINE_ACHIEVED_FLOPS | KMB_ROOFLINE_ACHIEVED_BYTES |
                  KMB_ROOFLINE_MEMORY_PCT | KMB_ROOFLINE_SOL_PCT),
             0);
}

int main(void) {
  RUN(memory_bound_work);
  RUN(compute_bound_work);
  RUN(below_both_is_neither_and_the_border_counts);
  RUN(without_a_time_there_is_only_a_prediction);
  RUN(an_unknown_ceiling_stays_unknown);
  RUN(what_does_not_count_cannot_bind);
  RUN(above_a_ceiling_is_said_and_not_clamped);
  RUN(refusals);
  RUN(a_ceiling_must_fit_its_place);
  RUN(what_overflows_is_not_known);
  RUN(work_that_counts_nothing_has_no_bound);
  RUN(kinds_of_ceilings_are_never_mixed);
  RUN(a_reference_is_a_share_and_no_limit);
  RUN(f1_above_the_peak_is_said_and_not_clamped);
  return 0;
}
