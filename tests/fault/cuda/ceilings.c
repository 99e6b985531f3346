/* Measured ceilings on the virtual GPU. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>

#include "bed.h"
#include "sim/costs.h"

static bool absent;

/* The machine may have the vendor's own library. */
void *dlopen(const char *name, int mode) {
  void *(*real)(const char *, int);
  *(void **)(&real) = dlsym(RTLD_NEXT, "dlopen");
  if (absent && name && strstr(name, "cublasLt")) return NULL;
  return real(name, mode);
}

static void start(bed *b) {
  sim_reset();
  sim_set()->l2_bytes = 256 << 10;
  sim_set()->memory_bytes = UINT64_C(256) << 20;
  bed_set_up(b);
  REQUIRE_OK(bed_open(b, "cuda:0"));
}

static kmb_ceiling ask(bed *b, kmb_ceiling_kind kind, kmb_dtype dtype) {
  kmb_ceiling c = kmb_ceiling_init();
  kmb_status status = kmb_device_ceiling(b->device, kind, dtype, 0, &c);
  if (status) fprintf(stderr, "%s\n", kmb_last_error(NULL, NULL));
  REQUIRE_OK(status);
  REQUIRE_EQ(c.source, KMB_SOURCE_MEASURED);
  REQUIRE_EQ(c.kind, kind);
  REQUIRE_EQ(c.threads, 0);
  REQUIRE(c.low > 0 && c.low <= c.value && c.value == c.high);
  REQUIRE(c.variant);
  return c;
}

/* Over and over, and yet from memory: the array is that much larger. */
static void a_result_says_how_much_was_read(bed *b, const kmb_ceiling *read) {
  char of[64];
  kmb_result *r = NULL;
  kmb_work work = kmb_work_init();
  spin s = bed_spin(b, 50, 1);
  kmb_bench_params p = bed_params(0, 0, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  work.read_bytes = 4096;
  p.work = &work;
  p.memory_ceiling = read;
  REQUIRE_OK(kmb_bench(b->device, &p, &r));
  snprintf(of, sizeof of, "measured read of %.4g GiB, warm (",
           (double)read->bytes / (1 << 30));
  REQUIRE_HAS(bed_text(r, KMB_VALUE_MEMORY_CEILING_NAME), of);
  kmb_result_destroy(r);
}

/* The device's rule of traffic, at most the launch and drain away from it. */
static void memory_is_measured_beyond_the_cache(void) {
  bed b;
  start(&b);
  kmb_ceiling read = ask(&b, KMB_CEILING_READ, 0);
  kmb_ceiling copy = ask(&b, KMB_CEILING_COPY, 0);
  REQUIRE(read.bytes >= 8 * sim_set()->l2_bytes);
  REQUIRE_EQ(copy.bytes, 2 * read.bytes);
  /* Copies count both ways. */
  REQUIRE(read.value > 1e12 && read.value < 6e12);
  REQUIRE(copy.value > 1e12 && copy.value < 6e12);
  a_result_says_how_much_was_read(&b, &read);
  bed_end(&b);
}

static void arithmetic_is_measured_by_type(void) {
  bed b;
  start(&b);
  double f32 = ask(&b, KMB_CEILING_FMA, KMB_F32).value;
  double f64 = ask(&b, KMB_CEILING_FMA, KMB_F64).value;
  double f16 = ask(&b, KMB_CEILING_FMA, KMB_F16).value;
  double peak = 132 * 256 * (double)SIM_CLOCK_KHZ * 1e3;
  REQUIRE_NEAR(f32 / peak, 1, 0.01);
  REQUIRE_NEAR(f64 / peak, 0.5, 0.01);
  REQUIRE_NEAR(f16 / peak, 2, 0.02);
  bed_end(&b);
}

/* The third is the fastest that can be launched. */
static void matrix_units_take_the_best_candidate(void) {
  static const kmb_dtype types[] = {KMB_BF16, KMB_F16, KMB_F8_E4M3, KMB_I8,
                                    KMB_TF32, KMB_F32, KMB_F64};
  bed b;
  start(&b);
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    kmb_ceiling c = ask(&b, KMB_CEILING_MATRIX, types[i]);
    REQUIRE_EQ(c.dtype, types[i]);
    REQUIRE_NEAR(c.value / (0.8 * 989.4e12), 1, 0.2);
    REQUIRE(c.value > 0.76 * 989.4e12 || i > 3);
    /* Larger elements, a smaller product: the launch counts. */
    REQUIRE_HAS(c.variant, "best of cuBLASLt's own candidates");
    REQUIRE_HAS(c.variant, "not a limit");
  }
  bed_end(&b);
}

static void a_ceiling_is_measured_once(void) {
  bed b;
  start(&b);
  double first = ask(&b, KMB_CEILING_COPY, 0).value;
  uint64_t launches = sim_calls(SIM_cuLaunchKernel);
  REQUIRE(ask(&b, KMB_CEILING_COPY, 0).value == first);
  REQUIRE_EQ(sim_calls(SIM_cuLaunchKernel), launches);
  bed_end(&b);
}

/* Without a tracer events serve, which read a little more. */
static void without_a_tracer_events_measure(void) {
  bed b;
  start(&b);
  sim_set()->other_subscriber = true;
  double slow = ask(&b, KMB_CEILING_FMA, KMB_F32).value;
  REQUIRE_NEAR(slow / (132 * 256 * (double)SIM_CLOCK_KHZ * 1e3), 1, 0.02);
  bed_end(&b);
}

static void refused(bed *b, kmb_ceiling_kind kind, kmb_dtype dtype,
                    uint32_t threads, kmb_status wanted, const char *why) {
  kmb_ceiling c = kmb_ceiling_init();
  REQUIRE_STATUS(kmb_device_ceiling(b->device, kind, dtype, threads, &c),
                 wanted);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), why);
}

static void what_is_not_measured_says_so(void) {
  bed b;
  start(&b);
  refused(&b, KMB_CEILING_TRIAD, 0, 0, KMB_ERR_UNSUPPORTED, "READ, COPY");
  refused(&b, KMB_CEILING_FMA, KMB_BF16, 0, KMB_ERR_UNSUPPORTED, "bf16");
  refused(&b, KMB_CEILING_MATRIX, KMB_F4_E2M1, 0, KMB_ERR_UNSUPPORTED,
          "not in");
  refused(&b, KMB_CEILING_READ, 0, 4, KMB_ERR_INVALID, "0 threads");
  sim_set()->no_candidates = true;
  refused(&b, KMB_CEILING_MATRIX, KMB_BF16, 0, KMB_ERR_UNSUPPORTED,
          "no candidate");
  sim_set()->memory_bytes = 8 << 20;
  refused(&b, KMB_CEILING_READ, 0, 0, KMB_ERR_NOMEM, "free memory");
  refused(&b, KMB_CEILING_MATRIX, KMB_BF16, 0, KMB_ERR_NOMEM, "free memory");
  bed_end(&b);
}

static void without_cublaslt_the_reason_is_said(void) {
  bed b;
  start(&b);
  absent = true;
  for (int i = 0; i < 2; i++)
    refused(&b, KMB_CEILING_MATRIX, KMB_BF16, 0, KMB_ERR_UNAVAILABLE,
            "cuBLASLt is absent");
  /* The others need none. */
  (void)ask(&b, KMB_CEILING_FMA, KMB_F32);
  bed_end(&b);
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "absent")) {
    RUN(without_cublaslt_the_reason_is_said);
    return 0;
  }
  RUN(memory_is_measured_beyond_the_cache);
  RUN(arithmetic_is_measured_by_type);
  RUN(matrix_units_take_the_best_candidate);
  RUN(a_ceiling_is_measured_once);
  RUN(without_a_tracer_events_measure);
  RUN(what_is_not_measured_says_so);
  return 0;
}
