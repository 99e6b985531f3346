/* Field cases on the virtual AMD GPU, by their names in the collection of
 * public failures, and what else captures and last errors are good for. */

#include "alone.h"
#include "bed.h"
#include "sim/costs.h"

static const kmb_timer timers[] = {KMB_TIMER_GRAPH, KMB_TIMER_EVENT,
                                   KMB_TIMER_HOST};
enum { TIMERS = sizeof timers / sizeof timers[0] };

static kmb_bench_params spinning(spin *s, kmb_timer timer, kmb_launch_mode mode,
                                 kmb_cache_state cache) {
  kmb_bench_params p = bed_params(timer, mode, cache);
  p.launch = bed_launch_spin;
  p.launch_user = s;
  return p;
}

/* F3: the last-level cache. */

static uint64_t llc_of(bed *b, const char **source) {
  uint64_t bytes = 0;
  *source = "";
  if (kmb_device_attr_u64(b->device, KMB_DEVICE_LLC_BYTES, &bytes)) return 0;
  REQUIRE_OK(kmb_device_attr_text(b->device, KMB_DEVICE_LLC_SOURCE, source));
  return bytes;
}

static void open_llc(bed *b, bool kfd, bool hsa, bool smi, const char *isa,
                     uint64_t given) {
  sim_reset();
  sim_set()->kfd = kfd;
  sim_set()->hsa = hsa;
  sim_set()->smi = smi;
  sim_set()->isa = isa;
  bed_set_up(b);
  b->llc_given = given;
  REQUIRE_OK(bed_open(b, "hip:0"));
}

static void f3_the_size_is_the_infinity_caches(void) {
  static const struct {
    bool kfd, hsa, smi;
    const char *isa, *source;
    uint64_t given, bytes;
  } cases[] = {{true, true, true, "gfx942", "KFD topology", 0, 268435456},
               {false, true, true, "gfx942", "HSA agent", 0, 268435456},
               {false, false, true, "gfx942", "amd-smi", 0, 268435456},
               {false, false, false, "gfx942:xnack-", "table", 0, 268435456},
               {false, false, false, "gfx950", "table", 0, 268435456},
               {false, false, false, "gfx90a", "table", 0, 8 << 20},
               {true, true, true, "gfx942", "caller", 12345678, 12345678},
               {false, false, false, "gfx9999", "", 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    bed b;
    const char *source = NULL;
    uint64_t l2 = 0;
    open_llc(&b, cases[i].kfd, cases[i].hsa, cases[i].smi, cases[i].isa,
             cases[i].given);
    REQUIRE_EQ(llc_of(&b, &source), cases[i].bytes);
    REQUIRE_HAS(source, cases[i].source);
    REQUIRE_OK(kmb_device_attr_u64(b.device, KMB_DEVICE_L2_BYTES, &l2));
    REQUIRE_EQ(l2, 4 << 20);
    bed_end(&b);
  }
}

/* One of so many has a size, all of them have none. */
static void f3_a_cache_of_no_known_count_has_no_size(void) {
  bed b;
  const char *source = NULL;
  sim_reset();
  sim_set()->kfd = sim_set()->hsa = false;
  sim_set()->smi = sim_set()->uncounted = true;
  sim_set()->isa = "gfx90a";
  bed_set_up(&b);
  REQUIRE_OK(bed_open(&b, "hip:0"));
  REQUIRE_EQ(llc_of(&b, &source), 8 << 20);
  REQUIRE_HAS(source, "table");
  bed_end(&b);
}

static void f3_an_unknown_size_is_never_the_l2s(void) {
  bed b;
  kmb_result *r = NULL;
  open_llc(&b, false, false, false, "gfx9999", 0);
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p =
      spinning(&s, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_COLD);
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "llc_bytes");
  p.cache = KMB_CACHE_WARM;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  kmb_result_destroy(r);
  bed_end(&b);
}

/* 256e6 bytes would not do, nor would twice the L2. */
static void f3_a_sweep_reads_twice_the_infinity_cache(void) {
  bed b;
  kmb_result *r = NULL;
  open_llc(&b, true, true, true, "gfx942", 0);
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p =
      spinning(&s, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_COLD);
  p.min_samples = 8;
  p.max_samples = 8;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE(sim_swept() >= 8 * UINT64_C(2) * 268435456);
  REQUIRE_EQ(sim_swept() % (UINT64_C(2) * 268435456), 0);
  kmb_result_destroy(r);
  bed_end(&b);
}

static kmb_result *rotate(bed *b, uint32_t flags, kmb_status want) {
  kmb_result *r = NULL;
  kmb_buffers *buffers = bed_add_buffers(b, 16 << 10);
  add a = {b, bed_kernel(b, "test_add"), 16 << 10};
  kmb_bench_params p =
      bed_params(KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, KMB_CACHE_ROTATED);
  p.launch = bed_launch_add;
  p.launch_user = &a;
  p.buffers = buffers;
  p.flags = flags;
  REQUIRE_STATUS(kmb_bench(b->device, &p, &r), want);
  kmb_buffers_destroy(buffers);
  return r;
}

static void f3_rotation_goes_past_the_infinity_cache(void) {
  bed b;
  bed_start(&b);
  kmb_result *r = rotate(&b, KMB_BENCH_REQUIRE_CACHE, KMB_OK);
  REQUIRE_STR(bed_text(r, KMB_VALUE_CACHE_STATE), "ROTATED");
  REQUIRE(bed_u64(r, KMB_VALUE_REUSE_BYTES) > sim_set()->mall_bytes);
  /* Each input comes from memory, each output finds no room. */
  double zero = SIM_KERNEL - SIM_NODE_SAVES;
  REQUIRE(bed_f64(r, KMB_VALUE_TIME) >
          zero + 2 * SIM_READ + 2 * SIM_MIB_COLD / 16.0);
  kmb_result_destroy(r);
  bed_end(&b);
}

/* Rotation never stops in silence, whatever the limit. */
static void memory_short_of_rotation_is_said(void) {
  bed b;
  bed_start(&b);
  sim_set()->memory_bytes = 1 << 20;
  kmb_result *r = rotate(&b, KMB_BENCH_REQUIRE_CACHE, KMB_ERR_UNAVAILABLE);
  REQUIRE(!r);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "memory budget");
  r = rotate(&b, 0, KMB_OK);
  REQUIRE_STR(bed_text(r, KMB_VALUE_CACHE_STATE), "NOT_COLD");
  REQUIRE(bed_finding(r, KMB_FINDING_NOT_COLD));
  kmb_result_destroy(r);
  bed_end(&b);
}

/* F20: {-1.78 ms, 5, 5} is one invalid sample and a median of 5. */
static void f20_negative_and_zero_times_are_invalid(void) {
  for (int i = 0; i < 4; i++) {
    bed b;
    kmb_result *r = NULL;
    bed_start(&b);
    spin s = bed_spin(&b, 5, 1);
    kmb_bench_params p =
        spinning(&s, timers[i % 2], KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
    sim_set()->negative_every = i < 2 ? 3 : 0;
    sim_set()->zero_every = i < 2 ? 0 : 3;
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    uint64_t invalid = bed_u64(r, KMB_VALUE_SAMPLES_INVALID);
    uint64_t samples = bed_u64(r, KMB_VALUE_SAMPLES);
    REQUIRE(invalid * 8 > samples && samples > invalid);
    REQUIRE(bed_finding(r, KMB_FINDING_INVALID_TIMESTAMPS));
    REQUIRE_NEAR(bed_f64(r, KMB_VALUE_TIME), 5000 + SIM_KERNEL - SIM_NODE_SAVES,
                 2 * SIM_TICK);
    kmb_result_destroy(r);
    bed_end(&b);
  }
}

/* F41: captures that fail. */

static kmb_status launch_and_alloc(void *user, const kmb_launch *l) {
  spin *s = user;
  void *memory = NULL;
  kmb_status status = bed_launch_spin(user, l);
  if (s->b->hip.hipMalloc(&memory, 4096)) return KMB_ERR_VENDOR;
  HIP(s->b, hipFree, memory);
  return status;
}

static kmb_status launch_null(void *user, const kmb_launch *l) {
  kmb_launch other = *l;
  other.stream = NULL;
  return bed_launch_spin(user, &other);
}

static kmb_status launch_and_wait(void *user, const kmb_launch *l) {
  spin *s = user;
  kmb_status status = bed_launch_spin(user, l);
  while (!status && s->b->hip.hipStreamQuery(l->stream)) {
    if (s->b->hip.hipStreamQuery(l->stream) != KMBI_HIP_NotReady)
      return KMB_ERR_VENDOR;
  }
  return status;
}

static void f41_a_failed_capture_leaves_the_next_clean(void) {
  static const kmb_launch_fn bad[] = {launch_and_alloc, launch_null,
                                      launch_and_wait};
  bed b;
  bed_start(&b);
  spin s = bed_spin(&b, 5, 1);
  for (int i = 0; i < 6; i++)
    for (int t = 0; t < TIMERS; t++) {
      kmb_result *r = NULL;
      kmbi_hip_enum state = 9;
      sim_set()->sticky_captures = i >= 3;
      kmb_bench_params p =
          spinning(&s, timers[t], KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
      p.stream = b.stream;
      p.launch = bad[i % 3];
      REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_CAPTURE);
      REQUIRE(kmb_last_error(NULL, NULL)[0]);
      HIP(&b, hipStreamIsCapturing, b.stream, &state);
      REQUIRE_EQ(state, 0);
      REQUIRE_EQ(bed_last_error(), 0);
      p.launch = bed_launch_spin;
      REQUIRE_OK(kmb_bench(b.device, &p, &r));
      kmb_result_destroy(r);
    }
  bed_end(&b);
}

static void f41_events_stay_outside_the_graphs(void) {
  bed b;
  bed_start(&b);
  for (int t = 0; t < TIMERS; t++) {
    kmb_result *r = NULL;
    spin s = bed_spin(&b, 5, 2);
    kmb_bench_params p =
        spinning(&s, timers[t], KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    REQUIRE_EQ(sim_events_in_captures(), 0);
    kmb_result_destroy(r);
  }
  bed_end(&b);
}

/* A launch that waits for the device behind a closed gate. */
static kmb_status launch_after_a_wait(void *user, const kmb_launch *l) {
  spin *s = user;
  kmbi_hip_module module = NULL;
  if (s->b->hip.hipModuleLoadData(&module, SIM_CODE)) return KMB_ERR_VENDOR;
  HIP(s->b, hipModuleUnload, module);
  return bed_launch_spin(user, l);
}

static void f25_a_launch_that_waits_outlasts_the_gate(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p =
      spinning(&s, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.launch = launch_after_a_wait;
  p.max_wall_ns = 60e9;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_HAS(b.log, "the gate gave up");
  REQUIRE_HAS(bed_finding(r, KMB_FINDING_FALLBACK_TIMER), "without a gate");
  REQUIRE(bed_f64(r, KMB_VALUE_TIME) < 1e6);
  kmb_result_destroy(r);
  bed_end(&b);
}

/* Replays write nothing that a capture did not see. */
typedef struct stale {
  add a;
  void *memory;
  bool in_graph; /* something else is recorded */
} stale;

static kmb_status launch_elsewhere(void *user, const kmb_launch *l) {
  stale *w = user;
  kmb_launch other = *l;
  kmbi_hip_enum state = 0;
  HIP(w->a.b, hipStreamIsCapturing, l->stream, &state);
  if (state) other.stream = NULL;
  if (w->in_graph) HIP(w->a.b, hipMemsetD32Async, w->memory, 1, 16, l->stream);
  return bed_launch_add(&w->a, &other);
}

static void f39_a_replay_that_writes_nothing_is_incorrect(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  stale w = {{&b, bed_kernel(&b, "test_add"), 256}, NULL, false};
  HIP(&b, hipMalloc, &w.memory, 64);
  kmb_buffers *buffers = bed_add_buffers(&b, 256);
  kmb_bench_params p =
      bed_params(KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
  p.launch = launch_elsewhere;
  p.launch_user = &w;
  p.buffers = buffers;
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_CAPTURE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "enqueued nothing");
  w.in_graph = true;
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_INCORRECT);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "not written at all");
  kmb_buffers_destroy(buffers);
  HIP(&b, hipFree, w.memory);
  bed_end(&b);
}

/* What HIP keeps for hipGetLastError() is the caller's alone. */
static kmb_status launch_and_look(void *user, const kmb_launch *l) {
  REQUIRE_EQ(bed_last_error(), 0);
  return bed_launch_spin(user, l);
}

static void no_error_of_ours_is_left_behind(void) {
  for (int keeps = 0; keeps < 2; keeps++)
    for (int t = 0; t < TIMERS; t++) {
      bed b;
      kmb_result *r = NULL;
      bed_start(&b);
      sim_set()->keeps_errors = keeps;
      sim_set()->no_fence_flag = true;
      spin s = bed_spin(&b, 5, 1);
      kmb_bench_params p = spinning(&s, timers[t], 0, KMB_CACHE_WARM);
      p.launch = launch_and_look;
      REQUIRE_OK(kmb_bench(b.device, &p, &r));
      REQUIRE_EQ(bed_last_error(), 0);
      kmb_result_destroy(r);
      bed_end(&b);
    }
}

/* The caller's current device is put back. */
static void the_current_device_stays_the_callers(void) {
  bed b;
  kmb_result *r = NULL;
  int current = 9;
  bed_start(&b);
  HIP(&b, hipSetDevice, 1);
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p = spinning(&s, 0, 0, KMB_CACHE_WARM);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  HIP(&b, hipGetDevice, &current);
  REQUIRE_EQ(current, 1);
  kmb_result_destroy(r);
  bed_end(&b);
}

static void f19_a_forked_child_is_told_at_once(void) {
  bed b;
  kmb_result *r = NULL;
  int status = 0;
  bed_start(&b);
  spin s = bed_spin(&b, 1, 1);
  kmb_bench_params p =
      spinning(&s, KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  kmb_result_destroy(r);
  fflush(NULL);
  pid_t child = fork();
  if (!child) {
    REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_FORKED);
    kmb_device_close(b.device);
    REQUIRE_EQ(sim_child_calls(), 0);
    REQUIRE_EQ(b.memory.bytes_out, 0);
    _exit(0);
  }
  REQUIRE_EQ(waitpid(child, &status, 0), child);
  REQUIRE_EQ(status, 0);
  bed_end(&b);
}

int main(void) {
  int failed = ALONE(f3_the_size_is_the_infinity_caches);
  failed += ALONE(f3_a_cache_of_no_known_count_has_no_size);
  failed += ALONE(f3_an_unknown_size_is_never_the_l2s);
  failed += ALONE(f3_a_sweep_reads_twice_the_infinity_cache);
  failed += ALONE(f3_rotation_goes_past_the_infinity_cache);
  failed += ALONE(memory_short_of_rotation_is_said);
  failed += ALONE(f19_a_forked_child_is_told_at_once);
  failed += ALONE(f20_negative_and_zero_times_are_invalid);
  failed += ALONE(f25_a_launch_that_waits_outlasts_the_gate);
  failed += ALONE(f39_a_replay_that_writes_nothing_is_incorrect);
  failed += ALONE(f41_a_failed_capture_leaves_the_next_clean);
  failed += ALONE(f41_events_stay_outside_the_graphs);
  failed += ALONE(no_error_of_ours_is_left_behind);
  failed += ALONE(the_current_device_stays_the_callers);
  return failed != 0;
}
