/* Sessions that the caller drives on the device's clock, over the simulated
 * device. */
#include "engine.h"

#include "device.h"

/* A session on a stream of the test's own. */
typedef struct driven {
  trial t;
  sim_stream stream;
  kmb_session *session;
} driven;

static void start(driven *d, const char *spec) {
  begin(&d->t, spec);
  d->stream = sim_stream_init();
  d->t.p.launch = NULL;
  d->t.p.stream = &d->stream;
}

static void begin_session(driven *d) {
  REQUIRE_OK(kmb_session_begin(d->t.h.device, &d->t.p, &d->session));
}

static kmb_status sample(driven *d, double ns, uint64_t iterations) {
  sim_kernel kernel = {.ns = ns};
  kmb_status status = kmb_session_sample_begin(d->session);
  for (uint64_t i = 0; !status && i < iterations; i++)
    status = sim_enqueue(&d->stream, &kernel);
  return status ? status : kmb_session_sample_end(d->session, iterations);
}

static void end_session(driven *d) {
  kmb_result_destroy(d->t.r);
  d->t.r = NULL;
  REQUIRE_OK(kmb_session_end(d->session, &d->t.r));
}

static void the_devices_clock_times_what_lies_between(void) {
  driven d;
  start(&d, "tick=0,event=0,launch=100");
  begin_session(&d);
  for (int i = 0; i < 60; i++)
    REQUIRE_OK(sample(&d, 50000, 1));
  end_session(&d);
  REQUIRE_STR(text(&d.t, KMB_VALUE_TIMER), "EVENT");
  REQUIRE_EQ(u64(&d.t, KMB_VALUE_SAMPLES), 60);
  REQUIRE_NEAR(f64(&d.t, KMB_VALUE_TIME), 50000, 200);
  REQUIRE_STR(text(&d.t, KMB_VALUE_ZERO_REFERENCE), "uncalibrated");
  REQUIRE_HAS(message(&d.t, KMB_FINDING_UNCALIBRATED), "neither gated");
  REQUIRE(!raised(&d.t, KMB_FINDING_FALLBACK_TIMER));
  double bias = 0;
  REQUIRE_STATUS(kmb_result_f64(d.t.r, KMB_VALUE_BIAS, &bias),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "calibrated");
  finish(&d.t);
}

static void iterations_share_a_samples_time(void) {
  driven d;
  start(&d, "tick=0,event=0,launch=1");
  begin_session(&d);
  for (int i = 0; i < 20; i++)
    REQUIRE_OK(sample(&d, 10000, i % 2 ? 4 : 2));
  end_session(&d);
  REQUIRE_NEAR(f64(&d.t, KMB_VALUE_TIME), 10000, 100);
  finish(&d.t);
}

static void a_sample_that_was_not_ended_is_said(void) {
  const char *text = NULL;
  for (int unfinished = 0; unfinished < 2; unfinished++) {
    driven d;
    start(&d, "");
    begin_session(&d);
    for (int i = 0; i < 8; i++)
      REQUIRE_OK(sample(&d, 10000, 1));
    if (unfinished) REQUIRE_OK(kmb_session_sample_begin(d.session));
    end_session(&d);
    REQUIRE_EQ(kmb_result_metadata_text(d.t.r, "session.unfinished", &text),
               unfinished ? KMB_OK : KMB_ERR_UNAVAILABLE);
    if (unfinished) REQUIRE_HAS(text, "begun and not ended");
    finish(&d.t);
  }
}

/* More than the ring holds: each comes once, in order. */
static void samples_outnumber_the_ring(void) {
  driven d;
  const double *ns = NULL;
  uint64_t count = 0;
  start(&d, "tick=0,event=0,launch=1");
  begin_session(&d);
  for (int i = 0; i < 1000; i++)
    REQUIRE_OK(sample(&d, 1000 + i, 1));
  end_session(&d);
  REQUIRE_OK(kmb_result_samples(d.t.r, &ns, &count));
  REQUIRE_EQ(count, 1000);
  for (int i = 0; i < 1000; i++)
    REQUIRE_NEAR(ns[i], 1000 + i, 5);
  finish(&d.t);
}

/* Marks do not wait: the host is done long before the device. */
static void marks_do_not_wait(void) {
  driven d;
  start(&d, "launch=100");
  begin_session(&d);
  double before = d.t.h.device->ops->now(d.t.h.device->self);
  for (int i = 0; i < 256; i++)
    REQUIRE_OK(sample(&d, 1e6, 1));
  double after = d.t.h.device->ops->now(d.t.h.device->self);
  REQUIRE(after - before < 1e6);
  /* The ring is full: the older half has to end now. */
  REQUIRE_OK(sample(&d, 1e6, 1));
  after = d.t.h.device->ops->now(d.t.h.device->self);
  REQUIRE(after - before > 127e6 && after - before < 130e6);
  end_session(&d);
  REQUIRE_EQ(u64(&d.t, KMB_VALUE_SAMPLES), 257);
  finish(&d.t);
}

static void host_time_is_taken_where_it_is_asked_for_or_all_there_is(void) {
  driven d;
  start(&d, "");
  d.t.p.timer = KMB_TIMER_HOST;
  begin_session(&d);
  REQUIRE_OK(kmb_session_sample_begin(d.session));
  REQUIRE_OK(kmb_session_sample_end(d.session, 1));
  end_session(&d);
  REQUIRE_STR(text(&d.t, KMB_VALUE_TIMER), "HOST");
  REQUIRE_STR(text(&d.t, KMB_VALUE_TIMER_REASON), "asked for");
  REQUIRE(!raised(&d.t, KMB_FINDING_UNCALIBRATED));
  d.t.p.timer = KMB_TIMER_AUTO;
  d.t.p.stream = NULL;
  begin_session(&d);
  REQUIRE_OK(kmb_session_sample_begin(d.session));
  REQUIRE_OK(kmb_session_sample_end(d.session, 1));
  end_session(&d);
  REQUIRE_STR(text(&d.t, KMB_VALUE_TIMER), "HOST");
  REQUIRE_HAS(text(&d.t, KMB_VALUE_TIMER_REASON), "stream");
  REQUIRE(!raised(&d.t, KMB_FINDING_FALLBACK_TIMER));
  d.t.p.timer = KMB_TIMER_EVENT;
  begin_session(&d);
  REQUIRE_OK(kmb_session_sample_begin(d.session));
  REQUIRE_OK(kmb_session_sample_end(d.session, 1));
  end_session(&d);
  REQUIRE_HAS(message(&d.t, KMB_FINDING_FALLBACK_TIMER), "stream");
  d.t.p.flags = KMB_BENCH_REQUIRE_TIMER;
  REQUIRE_STATUS(kmb_session_begin(d.t.h.device, &d.t.p, &d.session),
                 KMB_ERR_UNAVAILABLE);
  finish(&d.t);
}

static void other_timers_are_passed_over(void) {
  driven d;
  start(&d, "");
  d.t.p.timer = KMB_TIMER_TRACE;
  begin_session(&d);
  REQUIRE_OK(sample(&d, 0, 1));
  end_session(&d);
  REQUIRE_STR(text(&d.t, KMB_VALUE_TIMER), "EVENT");
  REQUIRE_HAS(message(&d.t, KMB_FINDING_FALLBACK_TIMER), "cannot use TRACE");
  d.t.p.flags = KMB_BENCH_REQUIRE_TIMER;
  REQUIRE_STATUS(kmb_session_begin(d.t.h.device, &d.t.p, &d.session),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "cannot use TRACE");
  finish(&d.t);
}

static void a_backend_without_marks_takes_host_time(void) {
  driven d;
  begin_on(&d.t, SIMBARE, "");
  d.stream = sim_stream_init();
  d.t.p.launch = NULL;
  d.t.p.stream = &d.stream;
  begin_session(&d);
  REQUIRE_OK(kmb_session_sample_begin(d.session));
  REQUIRE_OK(kmb_session_sample_end(d.session, 1));
  end_session(&d);
  REQUIRE_STR(text(&d.t, KMB_VALUE_TIMER), "HOST");
  REQUIRE_HAS(text(&d.t, KMB_VALUE_TIMER_REASON), "no sessions");
  finish(&d.t);
}

/* A clock that runs backwards. */
static void times_that_cannot_be_are_left_out_and_counted(void) {
  driven d;
  start(&d, "lie=event:-1");
  begin_session(&d);
  for (int i = 0; i < 3; i++)
    REQUIRE_OK(sample(&d, 1000, 1));
  REQUIRE_STATUS(kmb_session_end(d.session, &d.t.r), KMB_ERR_VENDOR);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "none of 3 samples");
  finish(&d.t);
}

static void misuse_is_invalid(void) {
  driven d;
  start(&d, "");
  begin_session(&d);
  REQUIRE_STATUS(kmb_session_sample_end(d.session, 1), KMB_ERR_INVALID);
  REQUIRE_OK(kmb_session_sample_begin(d.session));
  REQUIRE_STATUS(kmb_session_sample_begin(d.session), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_session_sample_end(d.session, 0), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_session_end(d.session, &d.t.r), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "no sample was completed");
  begin_session(&d);
  REQUIRE_OK(sample(&d, 0, 1));
  kmb_session_abandon(d.session);
  finish(&d.t);
}

static void each_failure_is_said_and_the_next_session_works(void) {
  static const char *const faults[] = {"session_mark@1", "session_mark@2",
                                       "session_read@1", "session_read@3"};
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    char spec[64];
    driven d;
    snprintf(spec, sizeof spec, "fail=%s", faults[i]);
    start(&d, spec);
    begin_session(&d);
    kmb_status status = KMB_OK;
    for (int k = 0; k < 5 && !status; k++)
      status = sample(&d, 0, 1);
    if (status) {
      kmb_session_abandon(d.session);
    } else {
      status = kmb_session_end(d.session, &d.t.r);
      REQUIRE(!d.t.r);
    }
    REQUIRE_STATUS(status, KMB_ERR_VENDOR);
    REQUIRE_HAS(kmb_last_error(NULL, NULL), "simulated fault in session_");
    begin_session(&d);
    REQUIRE_OK(sample(&d, 0, 1));
    end_session(&d);
    finish(&d.t);
  }
}

static void a_session_that_cannot_be_opened(void) {
  driven d;
  start(&d, "fail=session_open@1,fail=session_open@2:-5");
  REQUIRE_STATUS(kmb_session_begin(d.t.h.device, &d.t.p, &d.session),
                 KMB_ERR_VENDOR);
  begin_session(&d); /* busy: host time, and why */
  REQUIRE_OK(kmb_session_sample_begin(d.session));
  REQUIRE_OK(kmb_session_sample_end(d.session, 1));
  end_session(&d);
  REQUIRE_STR(text(&d.t, KMB_VALUE_TIMER), "HOST");
  REQUIRE_HAS(text(&d.t, KMB_VALUE_TIMER_REASON), "session_open");
  finish(&d.t);
}

static void what_never_ends_is_lost(void) {
  driven d;
  start(&d, "hang=2");
  begin_session(&d);
  for (int i = 0; i < 3; i++)
    REQUIRE_OK(sample(&d, 0, 1));
  REQUIRE_STATUS(kmb_session_end(d.session, &d.t.r), KMB_ERR_LOST);
  REQUIRE_STATUS(kmb_session_begin(d.t.h.device, &d.t.p, &d.session),
                 KMB_ERR_LOST);
  finish(&d.t);
}

int main(void) {
  RUN(the_devices_clock_times_what_lies_between);
  RUN(iterations_share_a_samples_time);
  RUN(a_sample_that_was_not_ended_is_said);
  RUN(samples_outnumber_the_ring);
  RUN(marks_do_not_wait);
  RUN(host_time_is_taken_where_it_is_asked_for_or_all_there_is);
  RUN(other_timers_are_passed_over);
  RUN(a_backend_without_marks_takes_host_time);
  RUN(times_that_cannot_be_are_left_out_and_counted);
  RUN(misuse_is_invalid);
  RUN(each_failure_is_said_and_the_next_session_works);
  RUN(a_session_that_cannot_be_opened);
  RUN(what_never_ends_is_lost);
  return 0;
}
