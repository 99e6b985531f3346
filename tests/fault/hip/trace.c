/* TRACE through a simulated rocprofiler-sdk, which has to be configured before
 * HIP starts. */
#include "alone.h"
#include "bed.h"
#include "sim/costs.h"

/* The device is opened before anything else calls HIP. */
static void start(bed *b, const char *name) {
  kmb_device *device = NULL;
  sim_reset();
  sim_set()->l2_bytes = 64 << 10;
  sim_set()->mall_bytes = 1 << 20;
  REQUIRE_OK(kmb_device_open(name, NULL, &device));
  bed_set_up(b);
  b->device = device;
}

static kmb_bench_params tracing(spin *s, kmb_cache_state cache) {
  kmb_bench_params p = bed_params(KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, cache);
  p.launch = bed_launch_spin;
  p.launch_user = s;
  return p;
}

static void kernels_are_traced_against_the_replays_zero(void) {
  static const double lengths[] = {0, 1, 20};
  bed b;
  start(&b, "hip:0:trace:deadline=5");
  for (int i = 0; i < 3; i++)
    for (kmb_cache_state c = KMB_CACHE_COLD; c <= KMB_CACHE_WARM; c += 2) {
      kmb_result *r = NULL;
      spin s = bed_spin(&b, lengths[i], 1);
      kmb_bench_params p = tracing(&s, c);
      REQUIRE_OK(kmb_bench(b.device, &p, &r));
      REQUIRE_STR(bed_text(r, KMB_VALUE_TIMER), "TRACE");
      REQUIRE_HAS(bed_text(r, KMB_VALUE_ZERO_REFERENCE), "GRAPH");
      REQUIRE_EQ(bed_u64(r, KMB_VALUE_DEVICE_OPS), 1);
      REQUIRE_NEAR(bed_f64(r, KMB_VALUE_RAW_MEDIAN),
                   lengths[i] * 1e3 + SIM_KERNEL, 2 * SIM_TICK);
      REQUIRE_NEAR(bed_f64(r, KMB_VALUE_TIME),
                   lengths[i] * 1e3 + SIM_KERNEL - SIM_NODE_SAVES,
                   2 * SIM_TICK);
      kmb_result_destroy(r);
    }
  bed_end(&b);
}

static void operations_of_an_iteration_are_told_apart(void) {
  bed b;
  kmb_result *r = NULL;
  start(&b, "hip:0:trace");
  spin s = bed_spin(&b, 2, 3);
  kmb_bench_params p = tracing(&s, KMB_CACHE_WARM);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_DEVICE_OPS), 3);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_BUSY), 3 * (2000 + SIM_KERNEL),
               4 * SIM_TICK);
  kmb_result_destroy(r);
  bed_end(&b);
}

/* A row for each operation, by the kernel's name. */

typedef struct both {
  spin s;
  void *memory;
} both;

static kmb_status launch_both(void *user, const kmb_launch *l) {
  both *w = user;
  static char copied[256];
  kmb_status status = bed_launch_spin(&w->s, l);
  if (!status && w->s.b->hip.hipMemcpyAsync(copied, w->memory, sizeof copied,
                                            KMBI_HIP_COPY_TO_HOST, l->stream))
    status = KMB_ERR_VENDOR;
  return status;
}

static kmb_op row(const kmb_result *r, uint64_t index) {
  kmb_op op = kmb_op_init();
  REQUIRE_OK(kmb_result_op(r, index, &op));
  return op;
}

static void rows_name_each_kernel(void) {
  bed b;
  kmb_result *r = NULL;
  start(&b, "hip:0:trace");
  both w = {.s = bed_spin(&b, 2, 2)};
  HIP(&b, hipMalloc, &w.memory, 4096);
  kmb_bench_params p = tracing(&w.s, KMB_CACHE_COLD);
  p.launch = launch_both;
  p.launch_user = &w;
  p.max_samples = 500; /* several portions */
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_EQ(kmb_result_op_count(r), 3);
  for (uint64_t i = 0; i < 2; i++) {
    REQUIRE_EQ(row(r, i).kind, KMB_OP_KERNEL);
    REQUIRE_STR(row(r, i).name, "test_spin");
    REQUIRE_NEAR(row(r, i).duration_ns, 2000 + SIM_KERNEL, 2 * SIM_TICK);
    REQUIRE_NEAR(row(r, i).start_ns,
                 (double)i * (2000 + SIM_KERNEL + SIM_WRITE_BACK),
                 4 * SIM_TICK);
  }
  REQUIRE_EQ(row(r, 2).kind, KMB_OP_MEMCPY);
  REQUIRE_EQ(row(r, 2).bytes, 256);
  REQUIRE_STR(row(r, 2).name, "");
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_OP_SAMPLES), bed_u64(r, KMB_VALUE_SAMPLES));
  kmb_result_destroy(r);
  HIP(&b, hipFree, w.memory);
  bed_end(&b);
}

/* Older versions place what callbacks are given elsewhere. */
static void names_of_older_versions_are_read(void) {
  bed b;
  kmb_result *r = NULL;
  kmb_device *device = NULL;
  sim_reset();
  sim_set()->mall_bytes = 1 << 20;
  sim_set()->prof_version = 600;
  REQUIRE_OK(kmb_device_open("hip:0:trace", NULL, &device));
  bed_set_up(&b);
  b.device = device;
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p = tracing(&s, KMB_CACHE_WARM);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_STR(row(r, 0).name, "test_spin");
  kmb_result_destroy(r);
  bed_end(&b);
}

/* Rows stay, without names. */
static void names_that_cannot_be_had_are_absent(void) {
  bed b;
  kmb_result *r = NULL;
  kmb_device *device = NULL;
  sim_reset();
  sim_set()->mall_bytes = 1 << 20;
  sim_fail(SIM_prof_configure_callback, 1, 99);
  REQUIRE_OK(kmb_device_open("hip:0:trace", NULL, &device));
  REQUIRE(sim_failed());
  bed_set_up(&b);
  b.device = device;
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p = tracing(&s, KMB_CACHE_WARM);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_EQ(kmb_result_op_count(r), 1);
  REQUIRE_STR(row(r, 0).name, "");
  kmb_result_destroy(r);
  bed_end(&b);
}

static void f9_records_without_times_are_invalid(void) {
  bed b;
  kmb_result *r = NULL;
  start(&b, "hip:0:trace");
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p = tracing(&s, KMB_CACHE_WARM);
  sim_set()->timeless_every = 3;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE(bed_u64(r, KMB_VALUE_SAMPLES_INVALID) > 0);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_RAW_MEDIAN), 5000 + SIM_KERNEL,
               2 * SIM_TICK);
  kmb_result_destroy(r);
  bed_end(&b);
}

static void dropped_records_are_said(void) {
  bed b;
  kmb_result *r = NULL;
  start(&b, "hip:0:trace");
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p = tracing(&s, KMB_CACHE_WARM);
  sim_set()->lose_every = 7;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE(bed_finding(r, KMB_FINDING_RECORDS_DROPPED));
  REQUIRE(bed_u64(r, KMB_VALUE_SAMPLES_INVALID) > 0);
  kmb_result_destroy(r);
  bed_end(&b);
}

static void refused(bed *b, kmb_status status, const char *why) {
  kmb_result *r = NULL;
  spin s = bed_spin(b, 5, 1);
  kmb_bench_params p = tracing(&s, KMB_CACHE_WARM);
  REQUIRE_STATUS(kmb_bench(b->device, &p, &r), status);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), why);
  p.flags = KMB_BENCH_NO_CONFIRM;
  p.launch_mode = 0;
  REQUIRE_OK(kmb_bench(b->device, &p, &r));
  REQUIRE_STR(bed_text(r, KMB_VALUE_TIMER), "GRAPH");
  REQUIRE(bed_finding(r, KMB_FINDING_FALLBACK_TIMER));
  kmb_result_destroy(r);
}

static void not_asked_for_it_cannot_be_had_later(void) {
  bed b;
  start(&b, "hip:0");
  refused(&b, KMB_ERR_UNAVAILABLE, "hip:0:trace");
  bed_end(&b);
}

static void too_late_is_said(void) {
  bed b;
  bed_start(&b); /* HIP is there already */
  bed_close(&b);
  REQUIRE_OK(bed_open(&b, "hip:0:trace"));
  refused(&b, KMB_ERR_UNAVAILABLE, "started before tracing was configured");
  bed_end(&b);
}

static void another_profiler_is_said(void) {
  bed b;
  kmb_device *device = NULL;
  sim_reset();
  sim_set()->mall_bytes = 1 << 20;
  sim_set()->locked = true;
  REQUIRE_OK(kmb_device_open("hip:0:trace", NULL, &device));
  bed_set_up(&b);
  b.device = device;
  refused(&b, KMB_ERR_BUSY, "configured already");
  bed_end(&b);
}

/* Each call fails once: a clean status, and the next measurement works if the
 * tracer could be configured. */
static sim_function failing;

static void fail_one(void) {
  bed b;
  kmb_result *r = NULL;
  kmb_device *device = NULL;
  bool for_good = failing <= SIM_prof_is_valid;
  sim_reset();
  sim_set()->mall_bytes = 1 << 20;
  if (for_good) sim_fail(failing, 1, 99);
  REQUIRE_OK(kmb_device_open("hip:0:trace", NULL, &device));
  bed_set_up(&b);
  b.device = device;
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p = tracing(&s, KMB_CACHE_WARM);
  if (!for_good) sim_fail(failing, 3, 99);
  kmb_status status = kmb_bench(b.device, &p, &r);
  kmb_result_destroy(r);
  REQUIRE(sim_failed());
  REQUIRE(status == KMB_OK || kmb_last_error(NULL, NULL)[0]);
  REQUIRE(status != KMB_ERR_INTERNAL && status != KMB_ERR_INVALID);
  status = kmb_bench(b.device, &p, &r);
  bool refuses = failing == SIM_prof_force_configure;
  kmb_status unusable = refuses ? KMB_ERR_BUSY : KMB_ERR_UNAVAILABLE;
  if (for_good) REQUIRE_STATUS(status, unusable);
  if (!for_good) REQUIRE_OK(status);
  kmb_result_destroy(r);
  bed_end(&b);
}

static void each_call_of_rocprofiler_fails_once(void) {
  int failed = 0;
  for (failing = SIM_prof_force_configure; failing <= SIM_prof_pop; failing++)
    if (failing != SIM_prof_configure_callback) /* has a test of its own */
      failed += alone(fail_one, sim_name(failing));
  REQUIRE_EQ(failed, 0);
}

int main(void) {
  int failed = ALONE(kernels_are_traced_against_the_replays_zero);
  failed += ALONE(operations_of_an_iteration_are_told_apart);
  failed += ALONE(rows_name_each_kernel);
  failed += ALONE(names_of_older_versions_are_read);
  failed += ALONE(names_that_cannot_be_had_are_absent);
  failed += ALONE(f9_records_without_times_are_invalid);
  failed += ALONE(dropped_records_are_said);
  failed += ALONE(not_asked_for_it_cannot_be_had_later);
  failed += ALONE(too_late_is_said);
  failed += ALONE(another_profiler_is_said);
  failed += ALONE(each_call_of_rocprofiler_fails_once);
  return failed != 0;
}
