/* Details of the engine that a number rests on: which samples, which round,
 * which copies. */
#include "engine.h"

#include "device.h"
#include "stats.h"

/* --- when it looks ------------------------------------------------------ */

enum { LOOKS = 64 };

typedef struct looks {
  uint64_t samples[LOOKS];
  size_t count;
} looks;

static void note_look(void *user, const kmb_progress *p) {
  looks *l = user;
  if (strcmp(p->stage, "measure") != 0 || !p->samples) return;
  REQUIRE(l->count < LOOKS);
  l->samples[l->count++] = p->samples;
}

static void watch_looks(trial *t, looks *l) {
  *l = (looks){.count = 0};
  t->h.device->hooks.progress = note_look;
  t->h.device->hooks.progress_user = l;
}

static void looks_come_when_they_are_due(void) {
  trial t;
  looks l;
  begin(&t, "noise=gauss:0.1");
  watch_looks(&t, &l);
  t.p.target_pct = 0.01;
  t.p.max_samples = 1000;
  run(&t);
  REQUIRE_EQ(l.samples[0], 50);
  for (size_t i = 1; i < l.count; i++)
    REQUIRE_EQ(l.samples[i], kmbi_next_look(l.samples[i - 1]));
  REQUIRE(l.count > 8);
  finish(&t);
}

/* A look that drops half leaves the rest, and the next look counts from it. */
static void a_drop_takes_the_first_half(void) {
  trial t;
  looks l;
  uint64_t dropped = 0;
  begin(&t, "drift=0.5:10e6,noise=gauss:0.01");
  watch_looks(&t, &l);
  t.p.flags = KMB_BENCH_NO_WARMUP;
  run(&t);
  for (size_t i = 0; i + 1 < l.count; i++) {
    uint64_t n = l.samples[i];
    if (l.samples[i + 1] == kmbi_next_look(n)) continue;
    REQUIRE_EQ(l.samples[i + 1], kmbi_next_look(n - n / 2));
    dropped += n / 2;
  }
  REQUIRE(dropped > 0);
  REQUIRE_EQ(u64(&t, KMB_VALUE_SAMPLES_DROPPED), dropped);
  finish(&t);
}

static void useless_samples_are_counted_in_the_message(void) {
  trial t;
  char *end = NULL;
  begin(&t, "record_invalid=0.97");
  fails(&t, KMB_ERR_VENDOR, "impossible timestamps");
  const char *of = strstr(kmb_last_error(NULL, NULL), "of ");
  REQUIRE(of);
  unsigned long long total = strtoull(of + strlen("of "), &end, 10);
  REQUIRE(strncmp(end, " samples ", strlen(" samples ")) == 0);
  unsigned long long invalid = strtoull(end + strlen(" samples "), &end, 10);
  REQUIRE(strncmp(end, " have impossible", strlen(" have impossible")) == 0);
  /* Ten useless ones for each that counts, and one more. */
  REQUIRE(total > invalid && invalid > 10 * (total - invalid + 1));
  finish(&t);
}

/* --- rounds ------------------------------------------------------------- */

typedef struct by_round {
  operation *op;
  const double *ns;
} by_round;

static void choose_duration(void *user, const kmb_progress *p) {
  const by_round *b = user;
  if (strcmp(p->stage, "prepare") == 0) b->op->ns = b->ns[p->round];
}

static void headline(uint32_t rounds, const double *ns, double want) {
  trial t;
  by_round b = {&t.op, ns};
  begin(&t, "tick=0");
  t.h.device->hooks.progress = choose_duration;
  t.h.device->hooks.progress_user = &b;
  t.p.rounds = rounds;
  t.p.flags = KMB_BENCH_NO_CONFIRM;
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), want, 1);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_MAX), want, 1); /* its samples too */
  finish(&t);
}

/* The headline is the round in the middle, the lower of two. */
static void the_middle_round_is_the_headline(void) {
  headline(2, (const double[]){40e3, 20e3}, 20e3);
  headline(2, (const double[]){20e3, 40e3}, 20e3);
  headline(3, (const double[]){30e3, 10e3, 20e3}, 20e3);
  headline(3, (const double[]){20e3, 10e3, 30e3}, 20e3);
  headline(4, (const double[]){40e3, 10e3, 30e3, 20e3}, 20e3);
  headline(5, (const double[]){50e3, 10e3, 30e3, 20e3, 40e3}, 30e3);
  headline(5, (const double[]){10e3, 30e3, 30e3, 40e3, 30e3}, 30e3);
  headline(5, (const double[]){30e3, 10e3, 10e3, 10e3, 40e3}, 10e3);
}

/* --- nothing is subtracted that is not known ------------------------------ */

static void the_host_clocks_reading_is_the_time(void) {
  trial t;
  begin(&t, "noise=gauss:0.02");
  t.p.timer = KMB_TIMER_HOST;
  t.p.cache = KMB_CACHE_WARM;
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), f64(&t, KMB_VALUE_RAW_MEDIAN), 0);
  finish(&t);
}

/* --- the check's copies --------------------------------------------------- */

static kmb_status look_at_copies(void *user, kmb_check *check) {
  trial *t = user;
  t->checks++;
  REQUIRE_EQ(check->count, 2);
  REQUIRE_EQ(check->bytes[0], MIB);
  REQUIRE_EQ(check->bytes[1], MIB);
  /* An input's two copies are one; an output has none from before. */
  REQUIRE(check->before[0] && check->after[0] == check->before[0]);
  REQUIRE(!check->before[1] && check->after[1]);
  REQUIRE(memcmp(check->before[0], check->after[1], MIB) == 0);
  return KMB_OK;
}

static void the_check_gets_copies(void) {
  trial t;
  double error = 0;
  begin(&t, "");
  with_buffers(&t, MIB);
  t.p.check = look_at_copies;
  run(&t);
  REQUIRE_EQ(t.checks, 2);
  /* It stored no error. */
  REQUIRE_STATUS(kmb_result_f64(t.r, KMB_VALUE_CHECK_ERROR, &error),
                 KMB_ERR_UNAVAILABLE);
  finish(&t);
}

/* The scratch buffer has no copies. */
static kmb_status look_for_scratch(void *user, kmb_check *check) {
  static const double errors[] = {0.25, 0.5};
  trial *t = user;
  REQUIRE(!check->before[0] && !check->after[0]);
  REQUIRE(check->after[1]);
  check->error = errors[t->checks++ % 2];
  return KMB_OK;
}

static kmb_status write_both(void *user, const kmb_launch *l) {
  const operation *o = user;
  sim_kernel kernel = {.write_count = 1, .writes = {{l->args[1], o->bytes}}};
  memset(l->args[1], 1, (size_t)o->bytes);
  return sim_enqueue(l->stream, &kernel);
}

static void the_largest_error_is_kept(void) {
  trial t;
  begin(&t, "");
  with_buffers(&t, MIB);
  t.descs[0].role = KMB_SCRATCH;
  t.p.launch = write_both;
  t.p.check = look_for_scratch;
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_CHECK_ERROR), 0.5, 0);
  finish(&t);
}

/* --- preparing ------------------------------------------------------------ */

static void a_read_that_fails_is_no_answer(void) {
  trial t;
  begin(&t, "fail=read@1");
  with_buffers(&t, MIB);
  fails(&t, KMB_ERR_VENDOR, "simulated fault in read");
  run(&t);
  finish(&t);
}

static kmb_status read_both(void *user, const kmb_launch *l) {
  const operation *o = user;
  sim_kernel kernel = {
      .read_count = 2,
      .reads = {{l->args[0], o->bytes}, {l->args[1], o->bytes}}};
  return sim_enqueue(l->stream, &kernel);
}

static void every_warm_input_is_warm(void) {
  trial t;
  begin(&t, "cold=30000");
  with_buffers(&t, MIB);
  t.descs[1].role = KMB_INPUT;
  t.p.check = NULL;
  t.p.launch = read_both;
  t.descs[1].residency = KMB_RESIDENT_WARM;
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 25000, 40);
  kmb_buffers_destroy(t.set);
  t.set = NULL;
  t.descs[0].residency = KMB_RESIDENT_WARM;
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 20000, 40);
  finish(&t);
}

/* Half of the output, by each launch. */
static kmb_status write_half(void *user, const kmb_launch *l) {
  static operation half;
  half = *(operation *)user;
  half.bytes /= 2;
  return operation_launch(&half, l);
}

static void what_each_round_sees_is_said_once(void) {
  trial t;
  begin(&t, "");
  with_buffers(&t, MIB);
  t.p.check = NULL;
  t.p.launch = write_half;
  t.p.rounds = 3;
  t.p.max_samples = 20;
  run(&t);
  int said = 0;
  for (uint64_t i = 0; i < kmb_result_finding_count(t.r); i++) {
    kmb_finding finding = kmb_finding_init();
    REQUIRE_OK(kmb_result_finding(t.r, i, &finding));
    said += finding.code == KMB_FINDING_STALE_OUTPUT;
  }
  REQUIRE_EQ(said, 1);
  finish(&t);
}

/* Impossible timestamps are no fast samples: they end no warm-up, and prove
 * nothing. */
static void impossible_samples_do_not_end_the_warm_up(void) {
  trial t;
  begin(&t, "record_invalid=0.3,drift=1:1000000");
  run(&t);
  REQUIRE(u64(&t, KMB_VALUE_WARMUP_ITERATIONS) > 60);
  finish(&t);
}

static void impossible_samples_prove_nothing(void) {
  trial t;
  begin(&t, "record_invalid=0.6,cold=30000,seed=2");
  with_buffers(&t, MIB);
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_CACHE_PROOF),
              "time: 1.50 times the warm time");
  finish(&t);
}

/* Enqueues, and fails. */
static kmb_status enqueue_and_fail(void *user, const kmb_launch *l) {
  kmb_status status = operation_launch(user, l);
  return status ? status : 45;
}

static void work_of_a_callback_that_fails_is_waited_for(void) {
  trial t;
  begin(&t, "");
  with_buffers(&t, MIB);
  t.p.launch = enqueue_and_fail;
  REQUIRE_EQ(attempt(&t), 45);
  REQUIRE_EQ(t.op.runs, 1);
  finish(&t);
}

enum { MOST = 65536 };

static kmb_status read_only(void *user, const kmb_launch *l) {
  const operation *o = user;
  sim_kernel kernel = {.read_count = 1, .reads = {{l->args[0], o->bytes}}};
  return sim_enqueue(l->stream, &kernel);
}

static void no_more_than_65536_slots_rotate(void) {
  static char memory[4096];
  static void *pointers[MOST + 1];
  trial t;
  memset(memory, 1, sizeof memory);
  for (int i = 0; i <= MOST; i++)
    pointers[i] = memory;
  begin(&t, "");
  with_buffers(&t, sizeof memory);
  t.descs[0].fill = KMB_FILL_CALLER;
  t.descs[0].pointers = pointers;
  t.descs[0].pointer_count = MOST + 1;
  t.descs[1].role = KMB_SCRATCH;
  t.rotation.slots = MOST + 1;
  t.p.check = NULL;
  t.p.launch = read_only;
  t.p.cache = KMB_CACHE_ROTATED;
  t.p.max_samples = 10;
  t.p.flags = KMB_BENCH_NO_CONFIRM | KMB_BENCH_NO_WARMUP;
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_SLOTS), MOST);
  REQUIRE(raised(&t, KMB_FINDING_NOT_COLD));
  finish(&t);
}

int main(void) {
  RUN(looks_come_when_they_are_due);
  RUN(a_drop_takes_the_first_half);
  RUN(useless_samples_are_counted_in_the_message);
  RUN(the_middle_round_is_the_headline);
  RUN(the_host_clocks_reading_is_the_time);
  RUN(the_check_gets_copies);
  RUN(the_largest_error_is_kept);
  RUN(a_read_that_fails_is_no_answer);
  RUN(every_warm_input_is_warm);
  RUN(what_each_round_sees_is_said_once);
  RUN(impossible_samples_do_not_end_the_warm_up);
  RUN(impossible_samples_prove_nothing);
  RUN(work_of_a_callback_that_fails_is_waited_for);
  RUN(no_more_than_65536_slots_rotate);
  return 0;
}
