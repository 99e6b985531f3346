/* The simulated device keeps its word on caches and memory: what was touched
 * is warm, what was pushed out is cold. */
#include "drive.h"

#include <math.h>

enum { MIB = 1 << 20 };

/* 8 MiB of cache. */
#define SPEC "tick=0,cold=30000,"

static void open_rotating(drive *d, uint32_t slots, kmb_cache_state cache) {
  drive_open(d, SPEC, KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, cache);
  drive_slots(d, slots, MIB);
}

static void the_first_use_is_cold_and_the_next_warm(void) {
  drive d;
  open_rotating(&d, 1, KMB_CACHE_WARM);
  REQUIRE_NEAR(drive_span(&d), 30000, 1e-3);
  REQUIRE_NEAR(drive_span(&d), 20000, 1e-3);
  drive_close(&d);
}

static void enough_slots_are_cold(void) {
  drive d;
  kmb_sample s[30];
  open_rotating(&d, 9, KMB_CACHE_ROTATED);
  REQUIRE_EQ(drive_run(&d, 30, s), 30);
  for (int i = 0; i < 30; i++) {
    REQUIRE_EQ(s[i].slot, i % 9);
    REQUIRE_NEAR(s[i].span_ns, 30000, 1e-3);
  }
  drive_close(&d);
}

static void too_few_slots_are_warm(void) {
  drive d;
  kmb_sample s[30];
  open_rotating(&d, 8, KMB_CACHE_ROTATED);
  REQUIRE_EQ(drive_run(&d, 30, s), 30);
  for (int i = 0; i < 30; i++)
    REQUIRE_NEAR(s[i].span_ns, i < 8 ? 30000 : 20000, 1e-3);
  drive_close(&d);
}

/* Field case F2 as the device sees it: slots that a graph does not visit do
 * not push anything out. */
static void a_graph_visits_only_what_it_unrolls(void) {
  drive d;
  drive_open(&d, SPEC, KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, KMB_CACHE_ROTATED);
  drive_slots(&d, 16, MIB);
  d.desc.batch = 5;
  drive_span(&d);
  REQUIRE_NEAR(drive_span(&d), 5 * 20000 + 5000, 1e-3);
  drive_stop(&d);
  d.desc.batch = 16;
  drive_span(&d);
  REQUIRE_NEAR(drive_span(&d), 16 * 30000 + 5000, 1e-3);
  drive_close(&d);
}

static void a_sweep_makes_cold(void) {
  drive d;
  open_rotating(&d, 1, KMB_CACHE_COLD);
  drive_span(&d);
  REQUIRE_NEAR(drive_span(&d), 30000, 1e-3);
  drive_close(&d);
}

static void too_small_a_sweep_leaves_some_warm(void) {
  drive d;
  open_rotating(&d, 1, KMB_CACHE_COLD);
  REQUIRE_OK(d.ops->sweep_prepare(d.self, 7 * MIB + MIB / 2));
  REQUIRE_OK(d.ops->plan_create(d.self, &d.desc, &d.plan));
  drive_span(&d);
  REQUIRE_NEAR(drive_span(&d), 25000, 1e-3);
  drive_close(&d);
}

static void warm_spans_are_touched_after_the_sweep(void) {
  drive d;
  open_rotating(&d, 1, KMB_CACHE_COLD);
  kmb_span warm = {d.memory, MIB / 4};
  d.desc.warm = &warm;
  d.desc.warm_count = 1;
  drive_span(&d);
  REQUIRE_NEAR(drive_span(&d), 27500, 1e-3);
  drive_close(&d);
}

static void writing_and_filling_warm(void) {
  drive d;
  static char zeros[MIB];
  open_rotating(&d, 2, KMB_CACHE_WARM);
  REQUIRE_OK(d.ops->write(d.self, d.args[0], zeros, MIB));
  REQUIRE_NEAR(drive_span(&d), 20000, 1e-3);
  drive_close(&d);
}

static void outputs_decide_where_nothing_is_read(void) {
  drive d;
  kmb_sample s;
  open_rotating(&d, 1, KMB_CACHE_WARM);
  sim_kernel kernel = {.write_count = 1, .writes = {{d.memory, MIB}}};
  REQUIRE_OK(drive_start(&d));
  REQUIRE_OK(sim_enqueue(d.stream, &kernel));
  REQUIRE_OK(d.ops->stream_wait(d.self, d.stream, 0));
  REQUIRE_EQ(drive_run(&d, 1, &s), 1);
  REQUIRE_NEAR(s.span_ns, 20000, 1e-3);
  drive_close(&d);
}

/* A range that lies inside another one cuts it in two. */
static void overlapping_ranges_count_once(void) {
  drive d;
  drive_open(&d, SPEC "llc=1000", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN,
             KMB_CACHE_WARM);
  char *base = (char *)16;
  sim_kernel all = {.read_count = 1, .reads = {{base, 1000}}};
  sim_kernel middle = {.read_count = 1, .reads = {{base + 400, 200}}};
  sim_kernel other = {.read_count = 1, .reads = {{base + 5000, 400}}};
  REQUIRE_OK(sim_enqueue(d.stream, &all));
  REQUIRE_OK(sim_enqueue(d.stream, &middle));
  /* Pushes out the 400 bytes before the middle, which was used later. */
  REQUIRE_OK(sim_enqueue(d.stream, &other));
  REQUIRE_OK(d.ops->stream_wait(d.self, d.stream, 0));
  double before = d.ops->now(d.self);
  REQUIRE_OK(sim_enqueue(d.stream, &all));
  REQUIRE_OK(d.ops->stream_wait(d.self, d.stream, 0));
  /* now, launch, sync, and 400 of 1000 bytes missed */
  REQUIRE_NEAR(d.ops->now(d.self) - before, 20 + 2000 + 1000 + 24000, 1e-3);
  drive_close(&d);
}

static void the_callers_word_on_the_cache_changes_nothing(void) {
  kmb_device_params params = kmb_device_params_init();
  kmb_device *device = NULL;
  uint64_t bytes = 0;
  params.llc_bytes = 123;
  REQUIRE_OK(
      kmb_device_open(SIM ":llc=1000,l2=10,llc_known=0", &params, &device));
  REQUIRE_OK(kmb_device_attr_u64(device, KMB_DEVICE_LLC_BYTES, &bytes));
  REQUIRE_EQ(bytes, 123);
  kmb_device_close(device);
  REQUIRE_OK(kmb_device_open(SIM ":llc=1000,l2=10", NULL, &device));
  REQUIRE_OK(kmb_device_attr_u64(device, KMB_DEVICE_L2_BYTES, &bytes));
  REQUIRE_EQ(bytes, 10);
  REQUIRE_OK(kmb_device_attr_u64(device, KMB_DEVICE_LLC_BYTES, &bytes));
  REQUIRE_EQ(bytes, 1000);
  kmb_device_close(device);
  REQUIRE_OK(kmb_device_open(SIM ":llc_known=0", NULL, &device));
  REQUIRE_STATUS(kmb_device_attr_u64(device, KMB_DEVICE_LLC_BYTES, &bytes),
                 KMB_ERR_UNAVAILABLE);
  kmb_device_close(device);
}

static void memory_has_an_end(void) {
  drive d;
  void *pointer = NULL;
  uint64_t bytes = 0;
  drive_open(&d, "memory=1000", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN,
             KMB_CACHE_WARM);
  REQUIRE_OK(d.ops->alloc(d.self, 600, 256, &pointer));
  REQUIRE_EQ((uintptr_t)pointer % 256, 0);
  REQUIRE_OK(d.ops->memory_available(d.self, &bytes));
  REQUIRE_EQ(bytes, 400);
  void *more = NULL;
  REQUIRE_STATUS(d.ops->alloc(d.self, 401, 256, &more), KMB_ERR_NOMEM);
  REQUIRE_STATUS(d.ops->sweep_prepare(d.self, 401), KMB_ERR_NOMEM);
  REQUIRE_OK(d.ops->sweep_prepare(d.self, 400));
  REQUIRE_OK(d.ops->sweep_prepare(d.self, 300));
  REQUIRE_STATUS(d.ops->alloc(d.self, 1, 256, &more), KMB_ERR_NOMEM);
  d.ops->free(d.self, pointer, 600);
  drive_close(&d);
}

static void memory_is_real(void) {
  drive d;
  unsigned char back[16];
  drive_open(&d, "", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  drive_slots(&d, 1, 16);
  REQUIRE_OK(d.ops->set(d.self, d.memory, 0x1122334455667788ULL, 12));
  REQUIRE_OK(d.ops->write(d.self, (char *)d.memory + 12, "abcd", 4));
  REQUIRE_OK(d.ops->read(d.self, back, d.memory, 16));
  REQUIRE(memcmp(back,
                 "\x88\x77\x66\x55\x44\x33\x22\x11\x88\x77\x66\x55"
                 "abcd",
                 16) == 0);
  drive_close(&d);
}

static double half_value(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  double fraction = (bits & 1023) / 1024.0;
  double size =
      exponent ? ldexp(1 + fraction, exponent - 15) : ldexp(fraction, -14);
  return bits & 0x8000 ? -size : size;
}

/* Value of an element of a filled buffer. */
static double element(const void *data, size_t i, kmb_dtype dtype) {
  const unsigned char *at = data;
  uint16_t half = 0;
  uint32_t word = 0;
  float f = 0;
  double wide = 0;
  switch (dtype) {
  case KMB_F16:
    memcpy(&half, at + 2 * i, 2);
    return half_value(half);
  case KMB_BF16:
    memcpy(&half, at + 2 * i, 2);
    word = (uint32_t)half << 16;
    memcpy(&f, &word, 4);
    return f;
  case KMB_F32:
    memcpy(&f, at + 4 * i, 4);
    return f;
  case KMB_F64:
    memcpy(&wide, at + 8 * i, 8);
    return wide;
  default:
    return ((const signed char *)data)[i];
  }
}

static void check_fill(drive *d, kmb_dtype dtype, size_t size, double low,
                       double high) {
  enum { BYTES = 8000 };
  kmb_fill fill = {.struct_size = sizeof fill,
                   .pointer = d->memory,
                   .bytes = BYTES,
                   .seed = 5,
                   .low = low,
                   .high = high,
                   .dtype = dtype};
  double mean = 0;
  double least = INFINITY;
  double most = -INFINITY;
  REQUIRE_OK(d->ops->fill_random(d->self, &fill));
  size_t n = BYTES / size;
  for (size_t i = 0; i < n; i++) {
    double x = element(d->memory, i, dtype);
    mean += x / (double)n;
    least = fmin(least, x);
    most = fmax(most, x);
  }
  REQUIRE(least >= low && most <= high);
  REQUIRE_NEAR(least, low, (high - low) * 0.02);
  REQUIRE_NEAR(most, high, (high - low) * 0.02);
  REQUIRE_NEAR(mean, (low + high) / 2, (high - low) * 0.04);
}

static void random_fill_covers_the_range(void) {
  drive d;
  drive_open(&d, "", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  drive_slots(&d, 1, 8000);
  check_fill(&d, KMB_F16, 2, -1, 1);
  check_fill(&d, KMB_BF16, 2, -1, 1);
  check_fill(&d, KMB_F32, 4, -1, 1);
  check_fill(&d, KMB_F64, 8, -1, 1);
  check_fill(&d, KMB_I8, 1, -100, 100);
  kmb_fill fill = {.struct_size = sizeof fill,
                   .pointer = d.memory,
                   .bytes = 8,
                   .dtype = KMB_F4_E2M1};
  REQUIRE_STATUS(d.ops->fill_random(d.self, &fill), KMB_ERR_UNSUPPORTED);
  drive_close(&d);
}

int main(void) {
  RUN(the_first_use_is_cold_and_the_next_warm);
  RUN(enough_slots_are_cold);
  RUN(too_few_slots_are_warm);
  RUN(a_graph_visits_only_what_it_unrolls);
  RUN(a_sweep_makes_cold);
  RUN(too_small_a_sweep_leaves_some_warm);
  RUN(warm_spans_are_touched_after_the_sweep);
  RUN(writing_and_filling_warm);
  RUN(outputs_decide_where_nothing_is_read);
  RUN(overlapping_ranges_count_once);
  RUN(the_callers_word_on_the_cache_changes_nothing);
  RUN(memory_has_an_end);
  RUN(memory_is_real);
  RUN(random_fill_covers_the_range);
  return 0;
}
