/* Field cases of launches, captures, clocks and processes, by their names in
 * the collection of public failures. */
#include <pthread.h>

#include "alone.h"
#include "bed.h"
#include "sim/costs.h"

static const kmb_timer timers[] = {KMB_TIMER_TRACE, KMB_TIMER_EVENT,
                                   KMB_TIMER_GRAPH, KMB_TIMER_HOST};
enum { TIMERS = sizeof timers / sizeof timers[0] };

static kmb_bench_params spinning(spin *s, kmb_timer timer, kmb_launch_mode mode,
                                 kmb_cache_state cache) {
  kmb_bench_params p = bed_params(timer, mode, cache);
  p.launch = bed_launch_spin;
  p.launch_user = s;
  return p;
}

static const char *telemetry(const kmb_result *r, const char *key) {
  const char *text = NULL;
  return kmb_result_metadata_text(r, key, &text) ? NULL : text;
}

/* 1 MiB in and out of a cache of 4 MiB. */
static double add_time(bed *b, kmb_timer timer, kmb_cache_state cache,
                       uint64_t batch) {
  kmb_result *r = NULL;
  kmb_buffers *buffers = bed_add_buffers(b, 256 << 10);
  add a = {b, bed_kernel(b, "test_add"), 256 << 10};
  kmb_bench_params p = bed_params(timer, 0, cache);
  p.launch = bed_launch_add;
  p.launch_user = &a;
  p.buffers = buffers;
  p.batch = batch;
  REQUIRE_OK(kmb_bench(b->device, &p, &r));
  double time = bed_f64(r, KMB_VALUE_TIME);
  uint64_t slots = bed_u64(r, KMB_VALUE_SLOTS);
  if (timer == KMB_TIMER_GRAPH)
    REQUIRE_EQ(bed_u64(r, KMB_VALUE_BATCH) % slots, 0);
  if (cache == KMB_CACHE_ROTATED) REQUIRE(slots > 4);
  kmb_result_destroy(r);
  kmb_buffers_destroy(buffers);
  return time;
}

/* A graph that unrolls fewer copies than there are runs warm. */
static void f2_a_replay_visits_every_slot(void) {
  bed b;
  bed_start(&b);
  sim_set()->l2_bytes = 4 << 20;
  double warm = add_time(&b, KMB_TIMER_GRAPH, KMB_CACHE_WARM, 8);
  double cold = add_time(&b, KMB_TIMER_TRACE, KMB_CACHE_ROTATED, 0);
  double rotated = add_time(&b, KMB_TIMER_GRAPH, KMB_CACHE_ROTATED, 2);
  REQUIRE(cold - warm > SIM_MIB_COLD - SIM_MIB_HOT); /* the input alone */
  REQUIRE_NEAR(rotated, cold, 2 * SIM_TICK);
  bed_end(&b);
}

static void f6_a_flush_is_not_timed(void) {
  bed b;
  bed_start(&b);
  sim_set()->l2_bytes = 16 << 20; /* its sweep takes longer than the kernel */
  spin s = bed_spin(&b, 4, 1);
  for (int t = 0; t < 2; t++) {
    kmb_result *r = NULL;
    kmb_bench_params p =
        spinning(&s, timers[t], KMB_LAUNCH_PLAIN, KMB_CACHE_COLD);
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    double wrong = bed_f64(r, KMB_VALUE_BIAS_UNCERTAINTY);
    REQUIRE_NEAR(bed_f64(r, KMB_VALUE_TIME), 4536, wrong + 3 * SIM_TICK);
    REQUIRE(wrong < 5 * SIM_FETCH); /* the sweep takes 8 us */
    kmb_result_destroy(r);
  }
  bed_end(&b);
}

typedef struct set_and_spin {
  spin s;
  kmbi_cu_pointer memory;
} set_and_spin;

static kmb_status launch_set_and_spin(void *user, const kmb_launch *l) {
  set_and_spin *w = user;
  if (w->s.b->cu.cuMemsetD32Async(w->memory, 7, 1024, l->stream))
    return KMB_ERR_VENDOR;
  return bed_launch_spin(&w->s, l);
}

static void f6_a_memset_of_the_timed_function_counts(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  set_and_spin w = {bed_spin(&b, 1, 1), 0};
  CU(&b, cuMemAlloc, &w.memory, 4096);
  kmb_bench_params p =
      bed_params(KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH, KMB_CACHE_COLD);
  p.launch = launch_set_and_spin;
  p.launch_user = &w;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_DEVICE_OPS), 2);
  REQUIRE(bed_f64(r, KMB_VALUE_TIME) > 1536 + SIM_KERNEL);
  kmb_result_destroy(r);
  CU(&b, cuMemFree, w.memory);
  bed_end(&b);
}

static void f19_a_forked_child_is_told_at_once(void) {
  bed b;
  kmb_result *r = NULL;
  int64_t vendor = 0;
  int status = 0;
  bed_start(&b);
  spin s = bed_spin(&b, 1, 1);
  kmb_bench_params p =
      spinning(&s, KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  kmb_result_destroy(r);
  fflush(NULL);
  pid_t child = fork();
  if (!child) {
    uint64_t start = sim_now();
    REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_FORKED);
    kmb_device_close(b.device);
    REQUIRE(sim_now() - start < 1000000000);
    REQUIRE_EQ(sim_child_calls(), 0);
    REQUIRE_EQ(b.memory.bytes_out, 0);
    /* The driver itself is of no use there. */
    REQUIRE_STATUS(bed_open(&b, "cuda:0"), KMB_ERR_FORKED);
    REQUIRE_HAS(kmb_last_error(NULL, &vendor), "forked");
    REQUIRE_EQ(vendor, 3);
    REQUIRE_EQ(b.memory.bytes_out, 0);
    _exit(0);
  }
  REQUIRE_EQ(waitpid(child, &status, 0), child);
  REQUIRE_EQ(status, 0);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  kmb_result_destroy(r);
  bed_end(&b);
}

static void f23_short_kernels_are_bound_by_the_host(void) {
  bed b;
  bed_start(&b);
  for (kmb_launch_mode m = KMB_LAUNCH_PLAIN; m <= KMB_LAUNCH_GRAPH; m++) {
    kmb_result *r = NULL;
    spin s = bed_spin(&b, 0.1, 3);
    kmb_bench_params p = spinning(&s, KMB_TIMER_TRACE, m, KMB_CACHE_WARM);
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    bool said = bed_finding(r, KMB_FINDING_HOST_BOUND) != NULL;
    REQUIRE_EQ(said, m == KMB_LAUNCH_PLAIN);
    kmb_result_destroy(r);
  }
  bed_end(&b);
}

static void f24_a_kernel_on_the_callers_stream_is_timed_there(void) {
  bed b;
  bed_start(&b);
  spin s = bed_spin(&b, 10000, 1);
  for (int t = 0; t < TIMERS; t++) {
    kmb_result *r = NULL;
    kmb_bench_params p = spinning(&s, timers[t], 0, KMB_CACHE_WARM);
    p.stream = b.stream;
    p.min_samples = 8;
    p.max_samples = 8;
    p.batch = timers[t] == KMB_TIMER_GRAPH ? 2 : 0;
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    REQUIRE(bed_f64(r, KMB_VALUE_TIME) >= 10e6);
    kmb_result_destroy(r);
  }
  bed_end(&b);
}

/* Loading a module waits for the device, which waits behind the gate. */
typedef struct lazy {
  spin s;
  int calls;
  bool always;
} lazy;

static kmb_status launch_lazily(void *user, const kmb_launch *l) {
  lazy *w = user;
  kmbi_cu_module module = NULL;
  if (w->calls++ == 0 || w->always) {
    if (w->s.b->cu.cuModuleLoadData(&module, ".version 6.0"))
      return KMB_ERR_VENDOR;
    CU(w->s.b, cuModuleUnload, module);
  }
  return bed_launch_spin(&w->s, l);
}

static void f25_a_cold_module_does_not_meet_a_closed_gate(void) {
  bed b;
  bed_start(&b);
  for (int always = 0; always < 2; always++) {
    kmb_result *r = NULL;
    lazy w = {bed_spin(&b, 5, 1), 0, always};
    kmb_bench_params p =
        bed_params(KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
    p.launch = launch_lazily;
    p.launch_user = &w;
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    REQUIRE_EQ(bed_finding(r, KMB_FINDING_FALLBACK_TIMER) != NULL, always);
    if (always)
      REQUIRE_HAS(bed_finding(r, KMB_FINDING_FALLBACK_TIMER),
                  "cannot be captured");
    kmb_result_destroy(r);
  }
  REQUIRE_EQ(b.ungated, 1);
  bed_end(&b);
}

/* Harmless at first; later on it waits for the device, which waits behind the
 * gate that only its caller opens. */
typedef struct waiting {
  spin s;
  int calls, since;
  enum { SYNCHRONISES, FREES, LOADS } how;
  uint64_t longest;
} waiting;

static void wait_for_device(waiting *w) {
  bed *b = w->s.b;
  kmbi_cu_pointer memory = 0;
  kmbi_cu_module module = NULL;
  if (w->how == SYNCHRONISES) {
    REQUIRE_EQ(b->synchronize(), 0);
  } else if (w->how == FREES) {
    CU(b, cuMemAlloc, &memory, 4096);
    CU(b, cuMemFree, memory);
  } else {
    CU(b, cuModuleLoadData, &module, ".version 6.0");
    CU(b, cuModuleUnload, module);
  }
}

static void maybe_wait(waiting *w) {
  if (++w->calls < w->since) {
    sim_pass(5000000); /* a gate is not closed since the run began */
    return;
  }
  uint64_t before = sim_now();
  wait_for_device(w);
  uint64_t waited = sim_now() - before;
  if (waited > w->longest) w->longest = waited;
}

static kmb_status launch_waiting(void *user, const kmb_launch *l) {
  kmb_status status = bed_launch_spin(user, l);
  maybe_wait(user);
  return status;
}

static kmb_status reset_waiting(void *user, uint32_t slot, void *stream) {
  (void)slot;
  (void)stream;
  maybe_wait(user);
  return KMB_OK;
}

static double spoiled_of(const kmb_result *r) {
  for (uint64_t i = 0; i < kmb_result_finding_count(r); i++) {
    kmb_finding f = kmb_finding_init();
    REQUIRE_OK(kmb_result_finding(r, i, &f));
    if (f.code != KMB_FINDING_FALLBACK_TIMER || !f.figure_count) continue;
    REQUIRE_STR(f.figures[0].name, "spoiled_samples");
    return f.figures[0].value;
  }
  return 0;
}

/* From its 10th call on that is in the warm-up, from its 60th in what is
 * measured. */
static void wait_behind_a_gate(waiting w, bool in_reset) {
  bed *b = w.s.b;
  kmb_result *r = NULL;
  kmb_bench_params p =
      spinning(&w.s, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.launch_user = &w;
  p.launch = in_reset ? bed_launch_spin : launch_waiting;
  p.reset = in_reset ? reset_waiting : NULL;
  p.reset_user = &w;
  p.min_samples = 60;
  p.warmup_ns = 1e8;
  uint64_t start = sim_now();
  REQUIRE_OK(kmb_bench(b->device, &p, &r));
  REQUIRE(w.calls > w.since);
  REQUIRE(w.longest > 970000000 && w.longest < 1001000000);
  /* It is held up once, not in each plan. */
  REQUIRE(sim_now() - start > 1000000000);
  REQUIRE(sim_now() - start < 2000000000);
  REQUIRE_HAS(bed_finding(r, KMB_FINDING_FALLBACK_TIMER),
              "held up for 1 s behind the closed gate");
  REQUIRE_HAS(bed_finding(r, KMB_FINDING_FALLBACK_TIMER), "without a gate");
  REQUIRE_EQ(spoiled_of(r) > 0, w.since > 50);
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_SAMPLES_INVALID), (uint64_t)spoiled_of(r));
  REQUIRE(!bed_finding(r, KMB_FINDING_INVALID_TIMESTAMPS));
  REQUIRE(bed_f64(r, KMB_VALUE_MAX) < 1e6);
  kmb_result_destroy(r);
  /* Other launches have their gate. */
  p = spinning(&w.s, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  REQUIRE_OK(kmb_bench(b->device, &p, &r));
  REQUIRE(!bed_finding(r, KMB_FINDING_FALLBACK_TIMER));
  kmb_result_destroy(r);
}

static void f25_who_waits_behind_a_closed_gate_is_let_through(void) {
  bed b;
  bed_start(&b);
  for (int since = 10; since <= 60; since += 50)
    for (int how = SYNCHRONISES; how <= LOADS; how++) {
      waiting w = {bed_spin(&b, 5, 1), 0, since, how, 0};
      wait_behind_a_gate(w, false);
      wait_behind_a_gate(w, true);
    }
  bed_end(&b);
}

/* More work than fits into the queue holds up whoever enqueues it. */
typedef struct growing {
  spin s;
  int calls;
} growing;

static kmb_status launch_growing(void *user, const kmb_launch *l) {
  growing *g = user;
  g->s.count = ++g->calls < 10 ? 1 : 600;
  return bed_launch_spin(&g->s, l);
}

static void f25_a_full_queue_behind_a_closed_gate_is_let_through(void) {
  bed b;
  bed_start(&b);
  sim_set()->queue_depth = 500; /* more than what is taken for sure */
  growing g = {bed_spin(&b, 1, 1), 0};
  for (int t = 0; t < 2; t++) {
    kmb_result *r = NULL;
    kmb_bench_params p =
        spinning(&g.s, t ? KMB_TIMER_GRAPH : KMB_TIMER_EVENT,
                 t ? KMB_LAUNCH_GRAPH : KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
    p.launch = t ? bed_launch_spin : launch_growing;
    p.launch_user = &g;
    p.batch = t ? 600 : 1;
    g.s.count = 1;
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    REQUIRE_HAS(bed_finding(r, KMB_FINDING_FALLBACK_TIMER),
                "held up for 1 s behind the closed gate");
    REQUIRE_EQ(spoiled_of(r), t);
    /* The launches that the biases come from still have a gate. */
    REQUIRE(sim_calls(SIM_cuStreamWaitValue32) > 50);
    kmb_result_destroy(r);
  }
  bed_end(&b);
}

static void f25_without_anybody_to_watch_there_is_no_gate(void) {
  bed b;
  bed_start(&b);
  spin s = bed_spin(&b, 5, 1);
  for (int none = 1; none >= 0; none--) {
    kmb_result *r = NULL;
    sim_set()->no_threads = none;
    kmb_bench_params p =
        spinning(&s, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    const char *said = bed_finding(r, KMB_FINDING_FALLBACK_TIMER);
    REQUIRE_EQ(said != NULL, none);
    if (none) REQUIRE_HAS(said, "no thread to watch the gate");
    kmb_result_destroy(r);
  }
  bed_end(&b);
}

/* So does each launch with CUDA_LAUNCH_BLOCKING, or under a sanitizer. */
static void f25_launches_that_block_meet_no_closed_gate(void) {
  static const kmb_timer gated[] = {KMB_TIMER_EVENT, KMB_TIMER_GRAPH};
  bed b;
  bed_start(&b);
  sim_set()->blocking = true;
  for (int t = 0; t < 2; t++) {
    kmb_result *r = NULL;
    spin s = bed_spin(&b, 5, 1);
    kmb_bench_params p = spinning(
        &s, gated[t], t ? KMB_LAUNCH_GRAPH : KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    REQUIRE_HAS(bed_finding(r, KMB_FINDING_FALLBACK_TIMER),
                "CUDA_LAUNCH_BLOCKING");
    kmb_result_destroy(r);
  }
  /* Said once, however many plans there were. */
  REQUIRE_EQ(b.ungated, 1);
  bed_end(&b);
}

static void f26_without_a_warm_up_one_launch_is_untimed(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p =
      spinning(&s, KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.flags |= KMB_BENCH_NO_WARMUP;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_WARMUP_ITERATIONS), 1);
  kmb_result_destroy(r);
  bed_end(&b);
}

static void f27_throttled_samples_are_kept_and_flagged(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  sim_set()->throttle = 0x4 | 0x20;
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p =
      spinning(&s, KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_HAS(bed_finding(r, KMB_FINDING_THROTTLED),
              "sw_power_cap+sw_thermal_slowdown");
  REQUIRE(bed_u64(r, KMB_VALUE_SAMPLES) >= 50);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_TIME), 5536, 2 * SIM_TICK);
  kmb_result_destroy(r);
  bed_end(&b);
}

/* CUDA shows the fourth device as its first; NVML's first one is idle. */
static void find_clocks(const char *missing) {
  bed b;
  kmb_result *r = NULL;
  sim_reset();
  sim_set()->missing = missing;
  sim_set()->l2_bytes = 256 << 10;
  bed_set_up(&b);
  REQUIRE_OK(bed_open(&b, "cuda:0"));
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p =
      spinning(&s, KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_STR(telemetry(r, "telemetry.before.clock_mhz"), "1980");
  REQUIRE_STR(telemetry(r, "telemetry.after.temperature_c"), "41");
  REQUIRE_STR(telemetry(r, "telemetry.after.power_w_1s_average"), "250.5");
  REQUIRE_STR(telemetry(r, "telemetry.after.energy_j"), "1000");
  REQUIRE_STR(telemetry(r, "telemetry.after.ecc_corrected"), "3");
  REQUIRE_STR(telemetry(r, "telemetry.after.ecc_uncorrected"), "0");
  REQUIRE_EQ(telemetry(r, "device.uuid") != NULL, !missing);
  kmb_result_destroy(r);
  bed_end(&b);
}

static void f28_clocks_are_of_the_device_that_works(void) {
  find_clocks(NULL);
}

/* The driver's table is the process's: another process. */
static void f28_without_a_uuid_the_bus_tells_the_device(void) {
  find_clocks("cuDeviceGetUuid");
}

/* Captures. */

static kmb_status launch_and_alloc(void *user, const kmb_launch *l) {
  spin *s = user;
  kmbi_cu_pointer memory = 0;
  kmb_status status = bed_launch_spin(user, l);
  if (s->b->cu.cuMemAlloc(&memory, 4096)) return KMB_ERR_VENDOR;
  CU(s->b, cuMemFree, memory);
  return status;
}

static kmb_status launch_legacy(void *user, const kmb_launch *l) {
  kmb_launch other = *l;
  other.stream = NULL;
  return bed_launch_spin(user, &other);
}

static kmb_status launch_and_wait(void *user, const kmb_launch *l) {
  spin *s = user;
  kmb_status status = bed_launch_spin(user, l);
  while (!status && s->b->cu.cuStreamQuery(l->stream)) {
    if (s->b->cu.cuStreamQuery(l->stream) != KMBI_CU_NOT_READY)
      return KMB_ERR_VENDOR;
  }
  return status;
}

static kmb_status launch_and_synchronise(void *user, const kmb_launch *l) {
  spin *s = user;
  kmb_status status = bed_launch_spin(user, l);
  return s->b->synchronize() ? KMB_ERR_VENDOR : status;
}

static void f37_what_cannot_be_captured_is_said(void) {
  static const struct {
    kmb_launch_fn launch;
    int64_t code;
  } bad[] = {{launch_and_alloc, KMBI_CU_STREAM_CAPTURE_INVALIDATED},
             {launch_legacy, 0}, /* nothing was captured */
             {launch_and_wait, KMBI_CU_STREAM_CAPTURE_INVALIDATED},
             {launch_and_synchronise, KMBI_CU_STREAM_CAPTURE_INVALIDATED}};
  bed b;
  bed_start(&b);
  spin s = bed_spin(&b, 5, 1);
  for (int i = 0; i < 4; i++)
    for (int t = 0; t < TIMERS; t++) {
      kmb_result *r = NULL;
      kmbi_cu_enum state = 9;
      int64_t vendor = 0;
      kmb_bench_params p =
          spinning(&s, timers[t], KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
      p.stream = b.stream;
      p.launch = bad[i].launch;
      REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_CAPTURE);
      REQUIRE_HAS(kmb_last_error(NULL, &vendor), "captured");
      REQUIRE_EQ(vendor, bad[i].code);
      CU(&b, cuStreamIsCapturing, b.stream, &state);
      REQUIRE_EQ(state, 0);
      p.launch = bed_launch_spin;
      REQUIRE_OK(kmb_bench(b.device, &p, &r));
      kmb_result_destroy(r);
    }
  bed_end(&b);
}

typedef struct disturbed {
  spin s;
  bool synchronises;
} disturbed;

static void *disturb(void *user) {
  disturbed *w = user;
  bed *b = w->s.b;
  CU(b, cuCtxSetCurrent, b->context);
  for (int i = 0; i < 10; i++) {
    kmbi_cu_pointer memory = 0;
    CU(b, cuMemAlloc, &memory, 4096);
    CU(b, cuMemFree, memory);
  }
  if (w->synchronises) (void)b->synchronize();
  return NULL;
}

static kmb_status launch_disturbed(void *user, const kmb_launch *l) {
  disturbed *w = user;
  pthread_t thread;
  kmb_status status = bed_launch_spin(&w->s, l);
  REQUIRE_EQ(pthread_create(&thread, NULL, disturb, w), 0);
  pthread_join(thread, NULL);
  return status;
}

static void f38_other_threads_may_allocate_but_not_synchronise(void) {
  bed b;
  bed_start(&b);
  for (int synchronises = 0; synchronises < 2; synchronises++) {
    kmb_result *r = NULL;
    int64_t vendor = 0;
    disturbed w = {bed_spin(&b, 5, 1), synchronises};
    kmb_bench_params p =
        bed_params(KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
    p.launch = launch_disturbed;
    p.launch_user = &w;
    if (synchronises) {
      REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_CAPTURE);
      REQUIRE_HAS(kmb_last_error(NULL, &vendor), "INVALIDATED");
      REQUIRE_EQ(vendor, KMBI_CU_STREAM_CAPTURE_INVALIDATED);
      p = spinning(&w.s, KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
    }
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    kmb_result_destroy(r);
  }
  bed_end(&b);
}

/* Its kernel runs while it is captured, elsewhere; a replay writes nothing. */
typedef struct stale {
  add a;
  kmbi_cu_pointer memory;
  bool in_graph; /* something else is recorded */
} stale;

static kmb_status launch_elsewhere(void *user, const kmb_launch *l) {
  stale *w = user;
  kmb_launch other = *l;
  kmbi_cu_enum state = 0;
  CU(w->a.b, cuStreamIsCapturing, l->stream, &state);
  if (state) other.stream = NULL;
  if (w->in_graph) CU(w->a.b, cuMemsetD32Async, w->memory, 1, 16, l->stream);
  return bed_launch_add(&w->a, &other);
}

static void f39_a_replay_that_writes_nothing_is_incorrect(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  stale w = {{&b, bed_kernel(&b, "test_add"), 256}, 0, false};
  CU(&b, cuMemAlloc, &w.memory, 64);
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
  CU(&b, cuMemFree, w.memory);
  bed_end(&b);
}

static void nvml_is_read_while_measuring(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  sim_set()->throttle = 0x4 | 0x40;
  spin s = bed_spin(&b, 200, 1);
  kmb_bench_params p =
      spinning(&s, KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.min_wall_ns = 100e6;
  p.max_samples = 1000;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_STR(telemetry(r, "telemetry.during.clock_mhz"), "1980");
  REQUIRE_STR(telemetry(r, "telemetry.during.memory_clock_mhz_min"), "3201");
  REQUIRE_STR(telemetry(r, "telemetry.during.power_w_1s_average_max"), "250.5");
  REQUIRE_STR(telemetry(r, "telemetry.during.throttle"),
              "sw_power_cap+hw_thermal_slowdown");
  REQUIRE_HAS(bed_finding(r, KMB_FINDING_THROTTLED),
              "sw_power_cap+hw_thermal_slowdown");
  kmb_result_destroy(r);
  bed_end(&b);
}

static void f45_what_nvml_does_not_support_is_absent(void) {
  for (int mig = 0; mig < 2; mig++) {
    bed b;
    kmb_result *r = NULL;
    bed_start(&b);
    sim_set()->mig = mig;
    sim_set()->no_measures = !mig;
    spin s = bed_spin(&b, 5, 1);
    kmb_bench_params p =
        spinning(&s, KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    REQUIRE(!telemetry(r, "telemetry.before.clock_mhz"));
    REQUIRE(!telemetry(r, "telemetry.before.throttle"));
    REQUIRE(!bed_finding(r, KMB_FINDING_THROTTLED));
    REQUIRE(!bed_finding(r, KMB_FINDING_CLOCK_DRIFT));
    const char *mode = telemetry(r, "device.mig");
    if (mig) REQUIRE_STR(mode, "on");
    if (!mig) REQUIRE(!mode);
    REQUIRE_EQ(bed_finding(r, KMB_FINDING_SHARED_DEVICE) != NULL, mig);
    REQUIRE(kmb_result_f64(r, KMB_VALUE_SOL_PCT, &(double){0}) != KMB_OK);
    kmb_result_destroy(r);
    bed_end(&b);
  }
}

/* Whatever is left to tell it by: CUDA's name, NVML's, the driver's word. */
static void share(bool named, bool mig, bool mps) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  bed_close(&b);
  sim_set()->mig = mig;
  sim_set()->mig_unnamed = !named;
  sim_set()->mps = mps;
  if (named) sim_fail(SIM_nvml_init, 1, 4); /* no permission */
  REQUIRE_OK(bed_open(&b, "cuda:0"));
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p =
      spinning(&s, KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  const char *said = bed_finding(r, KMB_FINDING_SHARED_DEVICE);
  REQUIRE_EQ(said != NULL, mig || mps);
  if (said) REQUIRE_HAS(said, mig ? "MIG" : "MPS");
  REQUIRE_STR(telemetry(r, "device.mps"), mps ? "on" : "off");
  kmb_result_destroy(r);
  bed_end(&b);
}

static void f45_a_slice_is_told_by_its_name_alone(void) {
  share(true, true, false);
}

static void f45_a_slice_is_told_by_nvml_alone(void) {
  share(false, true, false);
}

static void f45_mps_is_told(void) {
  share(false, false, false);
  share(false, false, true);
}

int main(void) {
  int failed = ALONE(f2_a_replay_visits_every_slot);
  failed += ALONE(f6_a_flush_is_not_timed);
  failed += ALONE(f6_a_memset_of_the_timed_function_counts);
  failed += ALONE(f19_a_forked_child_is_told_at_once);
  failed += ALONE(f23_short_kernels_are_bound_by_the_host);
  failed += ALONE(f24_a_kernel_on_the_callers_stream_is_timed_there);
  failed += ALONE(f25_a_cold_module_does_not_meet_a_closed_gate);
  failed += ALONE(f25_launches_that_block_meet_no_closed_gate);
  failed += ALONE(f25_who_waits_behind_a_closed_gate_is_let_through);
  failed += ALONE(f25_a_full_queue_behind_a_closed_gate_is_let_through);
  failed += ALONE(f25_without_anybody_to_watch_there_is_no_gate);
  failed += ALONE(f26_without_a_warm_up_one_launch_is_untimed);
  failed += ALONE(f27_throttled_samples_are_kept_and_flagged);
  failed += ALONE(f28_clocks_are_of_the_device_that_works);
  failed += ALONE(f28_without_a_uuid_the_bus_tells_the_device);
  failed += ALONE(f37_what_cannot_be_captured_is_said);
  failed += ALONE(f38_other_threads_may_allocate_but_not_synchronise);
  failed += ALONE(f39_a_replay_that_writes_nothing_is_incorrect);
  failed += ALONE(nvml_is_read_while_measuring);
  failed += ALONE(f45_what_nvml_does_not_support_is_absent);
  failed += ALONE(f45_a_slice_is_told_by_its_name_alone);
  failed += ALONE(f45_a_slice_is_told_by_nvml_alone);
  failed += ALONE(f45_mps_is_told);
  return failed != 0;
}
