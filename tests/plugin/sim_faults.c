/* The simulated device fails where it is told to, and complains of misuse. */
#include "drive.h"

#include <math.h>

static void a_specification_must_parse(void) {
  static const char *const bad[] = {
      "nonsense",      "nonsense=1",     "kernel",         "kernel=",
      "kernel=x",      "kernel=1x",      "kernel=-1",      "kernel=nan",
      "kernel=1:2",    "tail=0.1",       "tail=2:3",       "noise=0.1",
      "noise=gauss:",  "timers=",        "timers=sundial", "timers=trace+",
      "lie=event",     "lie=x:2",        "fail=alloc",     "fail=alloc@0",
      "fail=nobody@1", "fail=alloc@1:x", "seed=-1",        "seed=1.5",
      "graph_empty=2", "modes=1:2",      "ar=1:0.1",       "drift=1:0",
      "idle=0:1:1",    "throttle=1:0",   "compile=1:0",    "kernel=1,,",
      "overlap=1",
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    harness h;
    REQUIRE_STATUS(harness_open(&h, SIM, bad[i]), KMB_ERR_INVALID);
    REQUIRE_HAS(kmb_last_error(NULL, NULL), "cannot read");
  }
}

/* Calls each function that can fail, once. */
static kmb_status call(drive *d, const char *slot) {
  const kmb_backend_ops *ops = d->ops;
  char byte = 0;
  uint64_t u = 0;
  uint32_t n = 0;
  double f = 0;
  double g = 0;
  const char *text = NULL;
  kmb_choice choice[8];
  kmb_request request = {.struct_size = sizeof request};
  kmb_ceiling ceiling = kmb_ceiling_init();
  kmb_fill fill = {.struct_size = sizeof fill,
                   .pointer = d->memory,
                   .bytes = 4,
                   .dtype = KMB_F32};
  if (!strcmp(slot, "attr_u64"))
    return ops->attr_u64(d->self, KMB_DEVICE_LLC_BYTES, &u);
  if (!strcmp(slot, "attr_f64"))
    return ops->attr_f64(d->self, KMB_DEVICE_CLOCK_TICK_NS, &f);
  if (!strcmp(slot, "attr_text"))
    return ops->attr_text(d->self, KMB_DEVICE_NAME, &text);
  if (!strcmp(slot, "memory_available"))
    return ops->memory_available(d->self, &u);
  if (!strcmp(slot, "write")) return ops->write(d->self, d->memory, &byte, 1);
  if (!strcmp(slot, "read")) return ops->read(d->self, &byte, d->memory, 1);
  if (!strcmp(slot, "set")) return ops->set(d->self, d->memory, 0, 8);
  if (!strcmp(slot, "fill_random")) return ops->fill_random(d->self, &fill);
  if (!strcmp(slot, "stream_wait"))
    return ops->stream_wait(d->self, d->stream, 0);
  if (!strcmp(slot, "propose"))
    return ops->propose(d->self, &request, choice, 8, &n);
  if (!strcmp(slot, "sweep_prepare")) return ops->sweep_prepare(d->self, 8);
  if (!strcmp(slot, "bias"))
    return ops->bias(d->self, &d->desc.choice, 1, &f, &g);
  if (!strcmp(slot, "ceiling"))
    return ops->ceiling(d->self, KMB_CEILING_READ, 0, 1, &ceiling);
  REQUIRE(!"a slot that this test does not know");
  return KMB_OK;
}

static void each_function_can_fail_at_its_third_call(void) {
  static const char *const slots[] = {
      "attr_u64",      "attr_f64", "attr_text",   "memory_available", "write",
      "read",          "set",      "fill_random", "stream_wait",      "propose",
      "sweep_prepare", "bias",     "ceiling",
  };
  for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++) {
    char spec[64];
    drive d;
    int64_t vendor = 0;
    snprintf(spec, sizeof spec, "read=1e12,fail=%s@3", slots[i]);
    drive_open(&d, spec, KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
    drive_slots(&d, 1, 64);
    REQUIRE_OK(call(&d, slots[i]));
    REQUIRE_OK(call(&d, slots[i]));
    REQUIRE_STATUS(call(&d, slots[i]), KMB_ERR_VENDOR);
    REQUIRE_HAS(kmb_last_error(NULL, &vendor), slots[i]);
    REQUIRE_EQ(vendor, 77);
    REQUIRE_OK(call(&d, slots[i]));
    drive_close(&d);
  }
}

static void taking_functions_can_fail(void) {
  drive d;
  void *out = NULL;
  harness h;
  REQUIRE_STATUS(harness_open(&h, SIM, "fail=open@1:-6"), KMB_ERR_PERM);
  drive_open(&d, "fail=alloc@1,fail=stream_open@2,fail=plan_create@1",
             KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  REQUIRE_STATUS(d.ops->alloc(d.self, 8, 8, &out), KMB_ERR_VENDOR);
  REQUIRE_STATUS(d.ops->stream_open(d.self, NULL, &out), KMB_ERR_VENDOR);
  REQUIRE_STATUS(drive_start(&d), KMB_ERR_VENDOR);
  REQUIRE_OK(drive_start(&d));
  drive_close(&d);
}

static void a_fault_has_its_status_and_may_last(void) {
  drive d;
  uint64_t u = 0;
  drive_open(&d, "fail=memory_available@2+:-8", KMB_TIMER_TRACE,
             KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  REQUIRE_OK(d.ops->memory_available(d.self, &u));
  for (int i = 0; i < 3; i++)
    REQUIRE_STATUS(d.ops->memory_available(d.self, &u), KMB_ERR_LOST);
  drive_close(&d);
}

static void any_counts_every_call(void) {
  drive d;
  uint64_t u = 0;
  double f = 0;
  /* open and stream_open came before. */
  drive_open(&d, "fail=any@4", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN,
             KMB_CACHE_WARM);
  REQUIRE_OK(d.ops->memory_available(d.self, &u));
  REQUIRE_STATUS(d.ops->attr_f64(d.self, KMB_DEVICE_CLOCK_TICK_NS, &f),
                 KMB_ERR_VENDOR);
  drive_close(&d);
}

static void a_run_says_how_far_it_came(void) {
  drive d;
  kmb_sample s[10];
  uint64_t got = 0;
  drive_open(&d, "fail=kernel@4", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN,
             KMB_CACHE_WARM);
  REQUIRE_OK(drive_start(&d));
  REQUIRE_STATUS(d.ops->plan_run(d.self, d.plan, 10, 1e18, s, &got),
                 KMB_ERR_VENDOR);
  REQUIRE_EQ(got, 3);
  drive_close(&d);
}

static void a_callbacks_status_comes_back_unchanged(void) {
  drive d;
  kmb_sample s[10];
  uint64_t got = 0;
  drive_open(&d, "", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  d.op.fail_at = 3;
  d.op.status = 42;
  REQUIRE_OK(drive_start(&d));
  REQUIRE_EQ(d.ops->plan_run(d.self, d.plan, 10, 1e18, s, &got), 42);
  REQUIRE_EQ(got, 2);
  drive_stop(&d);
  d.desc.choice.launch_mode = KMB_LAUNCH_GRAPH;
  d.op.fail_at = d.op.calls + 1;
  REQUIRE_EQ(drive_start(&d), 42);
  drive_close(&d);
}

static void a_run_stops_in_time_and_when_cancelled(void) {
  drive d;
  kmb_sample s[100];
  uint64_t got = 0;
  drive_open(&d, "tick=0", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  REQUIRE_OK(drive_start(&d));
  double until = d.ops->now(d.self) + 10 * 24010;
  REQUIRE_OK(d.ops->plan_run(d.self, d.plan, 100, until, s, &got));
  REQUIRE_EQ(got, 10);
  d.op.cancel = &d.h.cancel;
  d.op.cancel_at = d.op.runs + 5;
  REQUIRE_OK(d.ops->plan_run(d.self, d.plan, 100, 1e18, s, &got));
  REQUIRE_EQ(got, 5);
  REQUIRE_OK(d.ops->plan_run(d.self, d.plan, 100, 1e18, s, &got));
  REQUIRE_EQ(got, 0);
  drive_close(&d);
}

static void waiting_for_what_never_ends_has_a_limit(void) {
  drive d;
  kmb_sample s[10];
  uint64_t got = 0;
  drive_open(&d, "hang=3,now=0", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN,
             KMB_CACHE_WARM);
  REQUIRE_OK(drive_start(&d));
  double before = d.ops->now(d.self);
  REQUIRE_STATUS(d.ops->plan_run(d.self, d.plan, 10, 1e18, s, &got),
                 KMB_ERR_LOST);
  REQUIRE_EQ(got, 2);
  REQUIRE_NEAR(d.ops->now(d.self) - before, 5e9, 1e6);
  before = d.ops->now(d.self);
  REQUIRE_STATUS(d.ops->stream_wait(d.self, d.stream, 7e9), KMB_ERR_TIMEOUT);
  REQUIRE_NEAR(d.ops->now(d.self) - before, 7e9, 1e-3);
  REQUIRE_STATUS(d.ops->stream_wait(d.self, d.stream, 0), KMB_ERR_LOST);
  drive_close(&d);
}

static void waiting_for_long_work_has_a_limit_too(void) {
  drive d;
  sim_kernel kernel = {.ns = 1e9};
  drive_open(&d, "", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  REQUIRE_OK(sim_enqueue(d.stream, &kernel));
  REQUIRE_STATUS(d.ops->stream_wait(d.self, d.stream, 0.5e9), KMB_ERR_TIMEOUT);
  REQUIRE_OK(d.ops->stream_wait(d.self, d.stream, 0.6e9));
  drive_close(&d);
}

/* Outputs are written by a graph's replays, not by its capture, unless the
 * graph is empty: then it is the other way round. */
static void graphs_record_or_do_not(void) {
  for (int empty = 0; empty < 2; empty++) {
    drive d;
    drive_open(&d, empty ? "graph_empty=1" : "", KMB_TIMER_GRAPH,
               KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
    d.desc.batch = 4;
    REQUIRE_OK(drive_start(&d));
    REQUIRE_EQ(d.op.calls, 4);
    REQUIRE_EQ(d.op.runs, empty ? 4 : 0);
    drive_span(&d);
    REQUIRE_EQ(d.op.calls, 4);
    REQUIRE_EQ(d.op.runs, 4);
    drive_close(&d);
  }
}

static void a_launch_of_nothing_cannot_be_captured(void) {
  drive d;
  kmb_sample s;
  drive_open(&d, "", KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
  d.op.idle = 1;
  REQUIRE_STATUS(drive_start(&d), KMB_ERR_CAPTURE);
  d.desc.choice.launch_mode = KMB_LAUNCH_PLAIN;
  REQUIRE_EQ(drive_run(&d, 1, &s), 1);
  REQUIRE_EQ(s.flags, KMB_SAMPLE_INVALID);
  REQUIRE_EQ(s.ops, 0);
  drive_close(&d);
}

static void timers_can_be_busy_and_capture_impossible(void) {
  drive d;
  drive_open(&d, "busy=trace+event,nocapture=1", KMB_TIMER_TRACE,
             KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  REQUIRE_STATUS(drive_start(&d), KMB_ERR_BUSY);
  d.desc.choice.timer = KMB_TIMER_EVENT;
  REQUIRE_STATUS(drive_start(&d), KMB_ERR_BUSY);
  d.desc.choice.timer = KMB_TIMER_HOST;
  d.desc.choice.launch_mode = KMB_LAUNCH_GRAPH;
  REQUIRE_STATUS(drive_start(&d), KMB_ERR_CAPTURE);
  d.desc.choice.timer = KMB_TIMER_GRAPH;
  d.desc.choice.launch_mode = KMB_LAUNCH_PLAIN;
  REQUIRE_STATUS(drive_start(&d), KMB_ERR_UNSUPPORTED);
  drive_close(&d);
}

static void records_get_lost_or_are_impossible(void) {
  static kmb_sample s[1000];
  drive d;
  int dropped = 0;
  int invalid = 0;
  drive_open(&d, "record_drop=0.2,record_invalid=0.1", KMB_TIMER_TRACE,
             KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  d.op.kernels = 2;
  REQUIRE_EQ(drive_run(&d, 1000, s), 1000);
  for (int i = 0; i < 1000; i++) {
    dropped += s[i].ops == 1;
    invalid += s[i].span_ns < 0;
    REQUIRE_EQ(s[i].span_ns < 0, s[i].flags == KMB_SAMPLE_INVALID);
  }
  REQUIRE_NEAR(dropped, 200, 60);
  REQUIRE_NEAR(invalid, 100, 40);
  drive_close(&d);
}

static void a_lone_record_that_is_lost_leaves_an_invalid_sample(void) {
  kmb_sample s;
  drive d;
  drive_open(&d, "record_drop=1", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN,
             KMB_CACHE_WARM);
  REQUIRE_EQ(drive_run(&d, 1, &s), 1);
  REQUIRE_EQ(s.flags, KMB_SAMPLE_INVALID);
  drive_close(&d);
}

typedef struct want {
  kmb_timer timer;
  kmb_launch_mode mode;
} want;

static void proposes(const char *spec, kmb_request request, const want *wants,
                     uint32_t count) {
  drive d;
  kmb_choice c[8];
  uint32_t n = 0;
  request.struct_size = sizeof request;
  drive_open(&d, spec, KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  REQUIRE_OK(d.ops->propose(d.self, &request, c, 8, &n));
  REQUIRE(n >= count);
  for (uint32_t i = 0; i < count; i++) {
    REQUIRE_EQ(c[i].timer, wants[i].timer);
    REQUIRE_EQ(c[i].launch_mode, wants[i].mode);
    REQUIRE_EQ(c[i].preference, i);
    REQUIRE_EQ(c[i].cache, request.cache ? request.cache : KMB_CACHE_COLD);
  }
  drive_close(&d);
}

static void auto_follows_the_rules_for_gpus(void) {
  const want plain_first[] = {{KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN},
                              {KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH}};
  const want graph_first[] = {{KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH},
                              {KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN}};
  const want event[] = {{KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN}};
  const want graph[] = {{KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH}};
  const want host[] = {{KMB_TIMER_HOST, KMB_LAUNCH_PLAIN},
                       {KMB_TIMER_HOST, KMB_LAUNCH_GRAPH},
                       {KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN}};
  const char *blind = "timers=host+event+graph";
  proposes("", (kmb_request){.device_ops = 1}, plain_first, 2);
  proposes("", (kmb_request){.device_ops = 5}, graph_first, 2);
  proposes(blind, (kmb_request){.cache = KMB_CACHE_COLD}, event, 1);
  proposes(blind, (kmb_request){.cache = KMB_CACHE_ROTATED}, graph, 1);
  proposes(blind, (kmb_request){.cache = KMB_CACHE_WARM}, graph, 1);
  proposes("", (kmb_request){.timer = KMB_TIMER_HOST}, host, 3);
  proposes("", (kmb_request){.launch_mode = KMB_LAUNCH_GRAPH}, graph_first, 1);
}

static void biases_are_true_wrong_or_unknown(void) {
  drive d;
  double ns = 0;
  double unc = 0;
  drive_open(&d, "bias_error=0.1,bias_unc=7", KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN,
             KMB_CACHE_WARM);
  kmb_choice c = d.desc.choice;
  REQUIRE_OK(d.ops->bias(d.self, &c, 1, &ns, &unc));
  REQUIRE_NEAR(ns, 4290, 1e-9);
  REQUIRE_NEAR(unc, 7, 0);
  c = (kmb_choice){KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, KMB_CACHE_WARM, 0};
  REQUIRE_OK(d.ops->bias(d.self, &c, 10, &ns, &unc));
  REQUIRE_NEAR(ns, 550, 1e-9);
  c.timer = KMB_TIMER_TRACE;
  REQUIRE_OK(d.ops->bias(d.self, &c, 1, &ns, &unc));
  REQUIRE_NEAR(ns, 220, 1e-9);
  c.launch_mode = KMB_LAUNCH_PLAIN;
  REQUIRE_OK(d.ops->bias(d.self, &c, 1, &ns, &unc));
  REQUIRE_NEAR(ns, 0, 0);
  c.timer = KMB_TIMER_HOST;
  REQUIRE_STATUS(d.ops->bias(d.self, &c, 1, &ns, &unc), KMB_ERR_UNAVAILABLE);
  drive_close(&d);
  drive_open(&d, "calibrated=0", KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN,
             KMB_CACHE_WARM);
  REQUIRE_STATUS(d.ops->bias(d.self, &d.desc.choice, 1, &ns, &unc),
                 KMB_ERR_UNAVAILABLE);
  drive_close(&d);
}

static void ceilings_are_as_specified(void) {
  drive d;
  kmb_ceiling c = kmb_ceiling_init();
  drive_open(&d, "read=3e12,fma=5e13", KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN,
             KMB_CACHE_WARM);
  REQUIRE_OK(d.ops->ceiling(d.self, KMB_CEILING_READ, 0, 1, &c));
  REQUIRE(c.value == 3e12);
  REQUIRE_OK(d.ops->ceiling(d.self, KMB_CEILING_FMA, KMB_F32, 1, &c));
  REQUIRE(c.value == 5e13);
  REQUIRE_STATUS(d.ops->ceiling(d.self, KMB_CEILING_COPY, 0, 1, &c),
                 KMB_ERR_UNSUPPORTED);
  drive_close(&d);
}

/* What telemetry said of one thing; below 0: not known. */
typedef struct said {
  kmb_telemetry id;
  double value;
} said;

static void listen(void *user, kmb_telemetry id, double value,
                   const char *reason) {
  said *s = user;
  if (id == s->id && !reason) s->value = value;
}

static double told(drive *d, kmb_telemetry id) {
  said s = {id, -1};
  d->ops->telemetry(d->self, listen, &s);
  return s.value;
}

static void telemetry_shows_what_slows(void) {
  drive d;
  drive_open(&d, "throttle=2e9:1.98,preempt=3,steal=2", KMB_TIMER_TRACE,
             KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  drive_span(&d);
  REQUIRE_NEAR(told(&d, KMB_TELEMETRY_CLOCK), 1980, 0);
  REQUIRE_NEAR(told(&d, KMB_TELEMETRY_THROTTLE), 0, 0);
  REQUIRE_NEAR(told(&d, KMB_TELEMETRY_PREEMPTIONS), 3, 0.01);
  REQUIRE_NEAR(told(&d, KMB_TELEMETRY_TEMPERATURE), -1, 0);
  d.ops->sleep(d.self, 1e9);
  drive_span(&d);
  REQUIRE_NEAR(told(&d, KMB_TELEMETRY_CLOCK), 1000, 0.01);
  REQUIRE_NEAR(told(&d, KMB_TELEMETRY_THROTTLE), KMB_THROTTLE_POWER_CAP, 0);
  REQUIRE_NEAR(told(&d, KMB_TELEMETRY_PREEMPTIONS), 6, 0.01);
  REQUIRE_NEAR(told(&d, KMB_TELEMETRY_STEAL), 4, 0.01);
  drive_close(&d);
}

static void a_reading_takes_its_time(void) {
  drive d;
  drive_open(&d, "telemetry_cost=5e5,now=0", KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN,
             KMB_CACHE_WARM);
  double before = d.ops->now(d.self);
  (void)told(&d, KMB_TELEMETRY_CLOCK);
  REQUIRE_NEAR(d.ops->now(d.self) - before, 5e5, 1e-6);
  drive_close(&d);
}

static void complains(harness *h, const char *words) {
  REQUIRE_EQ(h->complaints, 1);
  REQUIRE_HAS(h->complaint, words);
  h->complaints = 0;
  h->complaint[0] = '\0';
}

static void misuse_is_reported(void) {
  drive d;
  void *pointer = NULL;
  char byte[32];
  drive_open(&d, "", KMB_TIMER_HOST, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  d.ops->free(d.self, byte, 8);
  complains(&d.h, "memory that it does not have");
  REQUIRE_OK(d.ops->alloc(d.self, 16, 16, &pointer));
  REQUIRE_OK(d.ops->read(d.self, byte, (char *)pointer + 8, 8));
  REQUIRE_OK(d.ops->read(d.self, byte, (char *)pointer + 7, 8));
  REQUIRE_EQ(d.h.complaints, 0);
  d.ops->free(d.self, pointer, 15);
  complains(&d.h, "15 bytes");
  REQUIRE_OK(d.ops->alloc(d.self, 16, 3, &pointer));
  complains(&d.h, "aligned to 3");
  d.ops->free(d.self, pointer, 16);
  d.desc.slots = 0;
  REQUIRE_STATUS(drive_start(&d), KMB_ERR_INVALID);
  complains(&d.h, "required field");
  d.desc.slots = 1;
  d.desc.batch = 2;
  d.desc.choice.cache = KMB_CACHE_COLD;
  REQUIRE_STATUS(d.ops->plan_create(d.self, &d.desc, &d.plan), KMB_ERR_INVALID);
  complains(&d.h, "batch");
  d.desc.batch = 1;
  REQUIRE_OK(d.ops->plan_create(d.self, &d.desc, &d.plan));
  complains(&d.h, "sweep_prepare");
  drive_close(&d);
}

static void what_is_not_given_back_is_reported(void) {
  harness h;
  void *pointer = NULL;
  open_sim(&h, "");
  REQUIRE_OK(h.device->ops->alloc(h.device->self, 16, 16, &pointer));
  kmb_device_close(h.device);
  complains(&h, "1 allocations, 0 streams, 0 plans");
}

static void a_callers_stream_is_used(void) {
  drive d;
  drive_open(&d, "", KMB_TIMER_HOST, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  sim_stream mine = sim_stream_init();
  void *stream = NULL;
  REQUIRE_OK(d.ops->stream_open(d.self, &mine, &stream));
  REQUIRE(stream == &mine);
  sim_kernel kernel = {0};
  REQUIRE_OK(sim_enqueue(&mine, &kernel));
  d.ops->stream_close(d.self, stream);
  REQUIRE(mine.device == NULL);
  mine.magic = 0;
  REQUIRE_STATUS(d.ops->stream_open(d.self, &mine, &stream), KMB_ERR_INVALID);
  drive_close(&d);
}

static void the_bare_one_lacks_what_is_optional(void) {
  harness h;
  REQUIRE_OK(harness_open(&h, SIMBARE, ""));
  const kmb_backend_ops *ops = h.device->ops;
  REQUIRE(!KMBI_HAS(ops, sweep_prepare) && !KMBI_HAS(ops, bias));
  REQUIRE(!KMBI_HAS(ops, ceiling) && !KMBI_HAS(ops, telemetry));
  REQUIRE(KMBI_HAS(ops, now) && KMBI_HAS(ops, describe));
  close_sim(&h);
}

int main(void) {
  RUN(a_specification_must_parse);
  RUN(each_function_can_fail_at_its_third_call);
  RUN(taking_functions_can_fail);
  RUN(a_fault_has_its_status_and_may_last);
  RUN(any_counts_every_call);
  RUN(a_run_says_how_far_it_came);
  RUN(a_callbacks_status_comes_back_unchanged);
  RUN(a_run_stops_in_time_and_when_cancelled);
  RUN(waiting_for_what_never_ends_has_a_limit);
  RUN(waiting_for_long_work_has_a_limit_too);
  RUN(graphs_record_or_do_not);
  RUN(a_launch_of_nothing_cannot_be_captured);
  RUN(timers_can_be_busy_and_capture_impossible);
  RUN(records_get_lost_or_are_impossible);
  RUN(a_lone_record_that_is_lost_leaves_an_invalid_sample);
  RUN(auto_follows_the_rules_for_gpus);
  RUN(biases_are_true_wrong_or_unknown);
  RUN(ceilings_are_as_specified);
  RUN(telemetry_shows_what_slows);
  RUN(a_reading_takes_its_time);
  RUN(misuse_is_reported);
  RUN(what_is_not_given_back_is_reported);
  RUN(a_callers_stream_is_used);
  RUN(the_bare_one_lacks_what_is_optional);
  return 0;
}
