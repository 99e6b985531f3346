/* What the engine says: counts and shares read as a person would write them,
 * and progress is told in the words of its header. */
#include "engine.h"

#include "device.h"

/* --- counts ------------------------------------------------------------- */

static void rotate_over(trial *t, uint32_t slots) {
  begin(t, "");
  with_buffers(t, MIB);
  t->rotation.slots = slots;
  t->p.cache = KMB_CACHE_ROTATED;
  run(t);
}

static void one_slot_is_no_slots(void) {
  trial t;
  rotate_over(&t, 1);
  REQUIRE_STR(text(&t, KMB_VALUE_CACHE_METHOD),
              "1 slot, 0 MiB of cold data between two uses");
  REQUIRE_STR(message(&t, KMB_FINDING_NOT_COLD),
              "1 slot was asked for: only 0 MiB lie between two uses of an "
              "input, and the cache may hold it");
  finish(&t);
  rotate_over(&t, 5);
  REQUIRE_STR(text(&t, KMB_VALUE_CACHE_METHOD),
              "5 slots, 4 MiB of cold data between two uses");
  REQUIRE_STR(message(&t, KMB_FINDING_NOT_COLD),
              "5 slots were asked for: only 4 MiB lie between two uses of an "
              "input, and the cache may hold it");
  finish(&t);
  begin(&t, "memory=4300000");
  with_buffers(&t, MIB);
  t.p.cache = KMB_CACHE_ROTATED;
  run(&t);
  REQUIRE_HAS(message(&t, KMB_FINDING_NOT_COLD),
              "1 of 17 slots could be had: only 0 MiB");
  finish(&t);
}

static void one_sample_is_no_samples(void) {
  trial t;
  begin(&t, "");
  t.p.max_samples = 1;
  run(&t);
  REQUIRE_STR(message(&t, KMB_FINDING_FEW_SAMPLES),
              "1 sample: too few for an interval");
  t.p.max_samples = 7;
  run(&t);
  REQUIRE_STR(message(&t, KMB_FINDING_FEW_SAMPLES),
              "7 samples: too few for an interval");
  finish(&t);
}

static void rounds_have_no_interval(trial *t, uint32_t rounds,
                                    const char *why) {
  double low = 0;
  t->p.rounds = rounds;
  run(t);
  REQUIRE_STATUS(kmb_result_f64(t->r, KMB_VALUE_ROUND_LOW, &low),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), why);
}

static void one_round_is_no_rounds(void) {
  trial t;
  begin(&t, "");
  rounds_have_no_interval(&t, 1, "1 round; five give a between-round interval");
  rounds_have_no_interval(&t, 2, "2 rounds; five give");
  finish(&t);
}

/* Some seed leaves out one sample, another more. */
static void left_out(const char *fault, uint32_t kernels, kmb_finding_code code,
                     const char *one, const char *more) {
  bool saw_one = false;
  bool saw_more = false;
  for (int seed = 1; seed <= 40; seed++) {
    trial t;
    char spec[64];
    snprintf(spec, sizeof spec, "%s,seed=%d", fault, seed);
    begin(&t, spec);
    t.op.kernels = kernels;
    t.p.max_samples = t.p.min_samples = 40;
    run(&t);
    uint64_t count = u64(&t, KMB_VALUE_SAMPLES_INVALID);
    REQUIRE_EQ(raised(&t, code), count > 0);
    if (count == 1) REQUIRE_STR(message(&t, code), one);
    if (count == 2) REQUIRE_STR(message(&t, code), more);
    saw_one = saw_one || count == 1;
    saw_more = saw_more || count == 2;
    finish(&t);
  }
  REQUIRE(saw_one && saw_more);
}

static void one_that_is_left_out_was(void) {
  left_out("record_invalid=0.03", 1, KMB_FINDING_INVALID_TIMESTAMPS,
           "1 sample had impossible timestamps and was left out",
           "2 samples had impossible timestamps and were left out");
  left_out("record_drop=0.03", 2, KMB_FINDING_RECORDS_MISSING,
           "1 sample lacked records of some of the launch's 2 device "
           "operations and was left out",
           "2 samples lacked records of some of the launch's 2 device "
           "operations and were left out");
}

/* --- shares ------------------------------------------------------------- */

/* Eight samples span their interval: five times the lower, and half of that.
 */
static void a_wide_interval_has_no_exponent(void) {
  trial t;
  begin(&t, "modes=0.2:5,seed=2");
  t.p.max_samples = 8;
  run(&t);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_NOT_CONVERGED, "interval_pct"), 250, 2);
  REQUIRE_STR(message(&t, KMB_FINDING_NOT_CONVERGED),
              "stopped by MAX_SAMPLES at ±250%, the target was ±0.5%");
  finish(&t);
}

/* A look that comes too early drops nothing. */
static double changes_by(const char *spec, char *words, size_t size) {
  trial t;
  begin(&t, spec);
  t.p.min_wall_ns = 1e12;
  t.p.max_samples = 4000;
  run(&t);
  double change = figure(&t, KMB_FINDING_DRIFT, "drift_pct");
  snprintf(words, size, "%s", message(&t, KMB_FINDING_DRIFT));
  finish(&t);
  return change;
}

static void a_change_has_its_sign(void) {
  char words[256];
  char want[128];
  double change =
      changes_by("drift=-0.9:1e8,noise=gauss:0.02", words, sizeof words);
  REQUIRE(change > 100);
  snprintf(want, sizeof want, "the time changed by +%.0f%%", change);
  REQUIRE_HAS(words, want);
  change = changes_by("drift=9:1e8,noise=gauss:0.02", words, sizeof words);
  REQUIRE(change < -100);
  snprintf(want, sizeof want, "the time changed by %.0f%%", change);
  REQUIRE_HAS(words, want);
}

/* All that the callback does is what the loop costs. */
static void all_of_the_time_is_a_hundred_percent(void) {
  trial t;
  begin(&t, "kernel=0,launch=0,call=50");
  t.p.timer = KMB_TIMER_HOST;
  t.p.cache = KMB_CACHE_WARM;
  run(&t);
  REQUIRE_NEAR(figure(&t, KMB_FINDING_OVERHEAD, "overhead_pct"), 100, 0.4);
  REQUIRE_HAS(message(&t, KMB_FINDING_OVERHEAD), ", 100% of the time;");
  finish(&t);
}

/* All but the first of a block of 256. */
static void nearly_all_is_not_all(void) {
  trial t;
  begin(&t, "overlap=0.2");
  t.p.cache = KMB_CACHE_WARM;
  t.p.max_samples = t.p.min_samples = 256;
  run(&t);
  REQUIRE_HAS(message(&t, KMB_FINDING_ITERATIONS_OVERLAP),
              "255 samples (99.6%) began before the one before ended");
  finish(&t);
}

static void a_ceiling_far_exceeded_has_no_exponent(void) {
  trial t;
  kmb_work work = kmb_work_init();
  work.read_bytes = 20000000; /* in 20 us: 1e12 bytes/s */
  begin(&t, "read=5e10");
  t.p.work = &work;
  run(&t);
  REQUIRE_HAS(text(&t, KMB_VALUE_READING), "2000% of the memory ceiling");
  work.flops = 20000000; /* 1e12 a second */
  work.dtype = KMB_F32;
  finish(&t);
  begin(&t, "read=3e12,fma=2.5e11");
  t.p.work = &work;
  run(&t);
  REQUIRE_HAS(text(&t, KMB_VALUE_READING),
              "33.3% of the memory ceiling, 400% of the compute ceiling");
  finish(&t);
}

/* --- progress ------------------------------------------------------------- */

typedef struct told {
  uint64_t calls, measured, below_eight;
  double last_ns;
} told;

static void hear(void *user, const kmb_progress *p) {
  told *s = user;
  s->calls++;
  REQUIRE_EQ(p->struct_size, sizeof *p);
  REQUIRE(p->elapsed_ns >= s->last_ns && p->elapsed_ns < 1e9);
  s->last_ns = p->elapsed_ns;
  /* Samples are those that count, and then there is a median. */
  if (strcmp(p->stage, "measure") != 0) REQUIRE_EQ(p->samples, 0);
  if (!p->samples) {
    REQUIRE_NEAR(p->median_ns, 0, 0);
    return;
  }
  REQUIRE_NEAR(p->median_ns, 20000, 40);
  s->measured = p->samples;
  s->below_eight += p->samples < 8;
}

static void progress_tells_of_samples_with_their_median(void) {
  trial t;
  told s = {0};
  begin(&t, "");
  with_buffers(&t, MIB);
  t.h.device->hooks.progress = hear;
  t.h.device->hooks.progress_user = &s;
  t.p.min_samples = 3;
  run(&t);
  REQUIRE(s.calls > 8);
  REQUIRE(s.below_eight > 2);
  REQUIRE_EQ(s.measured, u64(&t, KMB_VALUE_SAMPLES));
  finish(&t);
}

int main(void) {
  RUN(one_slot_is_no_slots);
  RUN(one_sample_is_no_samples);
  RUN(one_round_is_no_rounds);
  RUN(one_that_is_left_out_was);
  RUN(a_wide_interval_has_no_exponent);
  RUN(a_change_has_its_sign);
  RUN(all_of_the_time_is_a_hundred_percent);
  RUN(nearly_all_is_not_all);
  RUN(a_ceiling_far_exceeded_has_no_exponent);
  RUN(progress_tells_of_samples_with_their_median);
  return 0;
}
