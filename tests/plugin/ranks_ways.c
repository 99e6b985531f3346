/* Ranks whose backends differ: in what they can have, in what they propose, and
 * in what they say of a device that does not end. */
#include "party.h"

#include "device.h"
#include "ranks.h"

/* A table of each rank's own over the simulated device's. */
typedef struct patched {
  party p;
  kmb_backend_ops ops[3];
} patched;

static const kmb_backend_ops *under;

static void begin_patched(patched *x, int size) {
  party_begin(&x->p, size, NULL, 0);
  for (int r = 0; r < size; r++) {
    kmb_device *device = x->p.guests[r].t.h.device;
    under = device->ops;
    x->ops[r] = *device->ops;
    device->ops = &x->ops[r];
  }
}

/* --- barriers ------------------------------------------------------------ */

static void leave_out(kmb_backend_ops *ops, int what) {
  if (what == 0) ops->barrier_open = NULL;
  if (what == 1) ops->barrier_enqueue = NULL;
  if (what == 2) ops->barrier_time = NULL;
  if (what == 3) ops->barrier_close = NULL;
  if (what == 4) ops->barriers = 0;
}

/* Each of its functions, on whichever rank. */
static void a_barrier_needs_all_its_functions_on_every_rank(void) {
  static patched x;
  for (int what = 0; what < 5; what++) {
    begin_patched(&x, 3);
    leave_out(&x.ops[what % 3], what);
    party_ok(&x.p);
    REQUIRE_STR(text(&x.p.guests[0].t, KMB_VALUE_BARRIER), "HOST");
    REQUIRE_STR(text(&x.p.guests[2].t, KMB_VALUE_BARRIER), "HOST");
    party_end(&x.p);
  }
}

/* What the backend lists is tried, and what it then refuses is told. */
static void barriers_are_tried_as_they_are_listed(void) {
  static patched x;
  const kmb_barrier listed[] = {KMB_BARRIER_STREAM, KMB_BARRIER_NCCL};
  const char *const want[] = {"STREAM, simulated (STREAM: released within ",
                              "HOST (NCCL: simulated device: no barrier 3)"};
  for (int i = 0; i < 2; i++) {
    begin_patched(&x, 2);
    x.ops[0].barriers = x.ops[1].barriers = 1u << listed[i];
    party_ok(&x.p);
    REQUIRE_EQ(strncmp(text(&x.p.guests[0].t, KMB_VALUE_BARRIER), want[i],
                       strlen(want[i])),
               0);
    party_end(&x.p);
  }
}

static void every_barrier_has_a_name(void) {
  REQUIRE_STR(kmbi_barrier_name(KMB_BARRIER_AUTO), "AUTO");
  REQUIRE_STR(kmbi_barrier_name(KMB_BARRIER_HOST), "HOST");
  REQUIRE_STR(kmbi_barrier_name(-1), "unknown");
  REQUIRE_STR(kmbi_barrier_name(KMB_BARRIER_HOST + 1), "unknown");
}

/* What a rank's barrier takes at each trial: ten that do not count, then eight
 * that do, of the one barrier and then of the other. */
enum { FIRST = 10, TRIALS = 8 };
static double skews[2][TRIALS];
static int trials[2], late; /* by rank; the one that takes longer */

static kmb_status time_of(int rank, double *ns) {
  int each = FIRST + TRIALS;
  int at = trials[rank]++;
  REQUIRE(at < 2 * each);
  double more = at % each < FIRST ? 1e6 : skews[at / each][at % each - FIRST];
  *ns = 1000 + (rank == late ? more : 0);
  return KMB_OK;
}

#define TIME(rank)                                                       \
  static kmb_status time_##rank(void *self, void *barrier, void *stream, \
                                const kmb_align *align, double *ns) {    \
    (void)self;                                                          \
    (void)barrier;                                                       \
    (void)stream;                                                        \
    (void)align;                                                         \
    return time_of(rank, ns);                                            \
  }
TIME(0)
TIME(1)

static void time_both(patched *x, kmb_barrier barrier) {
  begin_patched(x, 2);
  x->p.params.barrier = barrier;
  x->p.params.skew_samples = TRIALS;
  x->ops[0].barrier_time = time_0;
  x->ops[1].barrier_time = time_1;
  trials[0] = trials[1] = 0;
  party_ok(&x->p);
}

static void a_skew_is_how_much_longer_the_first_rank_waits(void) {
  static patched x;
  for (int i = 0; i < TRIALS; i++)
    skews[0][i] = 100. * ((i + 3) % TRIALS);
  for (late = 0; late < 2; late++) {
    time_both(&x, KMB_BARRIER_FLAG);
    for (int r = 0; r < 2; r++) {
      const trial *t = &x.p.guests[r].t;
      REQUIRE_EQ(trials[r], FIRST + TRIALS);
      REQUIRE_NEAR(f64(t, KMB_VALUE_RELEASE_SKEW), 350, 1e-9);
      REQUIRE_NEAR(f64(t, KMB_VALUE_RELEASE_SKEW_P99), 693, 1e-9);
    }
    party_end(&x.p);
  }
}

/* The larger of the two skews is told for each. */
static void best_of(double flag, double stream, const char *want) {
  static patched x;
  for (int i = 0; i < TRIALS; i++) {
    skews[0][i] = i < 4 ? 10 : flag;
    skews[1][i] = stream;
  }
  late = 0;
  time_both(&x, KMB_BARRIER_AUTO);
  REQUIRE_EQ(trials[0], 2 * (FIRST + TRIALS));
  const trial *t = &x.p.guests[1].t;
  const char *said = text(t, KMB_VALUE_BARRIER);
  REQUIRE_EQ(strncmp(said, want, strlen(want)), 0);
  REQUIRE_NEAR(f64(t, KMB_VALUE_RELEASE_SKEW_P99),
               strcmp(want, "FLAG") == 0 ? flag : stream, 1e-9);
  party_end(&x.p);
}

/* The ends count, not the middle; of equals the first. */
static void the_barrier_with_the_least_p99_is_taken(void) {
  best_of(900, 800, "STREAM");
  best_of(900, 1000, "FLAG");
  best_of(900, 900, "FLAG");
}

/* --- ways ---------------------------------------------------------------- */

typedef struct offer {
  uint32_t count;
  kmb_choice choices[3];
} offer;

#define EVENT_PLAIN \
  { .timer = KMB_TIMER_EVENT, .launch_mode = KMB_LAUNCH_PLAIN }
#define EVENT_GRAPH \
  { .timer = KMB_TIMER_EVENT, .launch_mode = KMB_LAUNCH_GRAPH }
#define HOST_PLAIN \
  { .timer = KMB_TIMER_HOST, .launch_mode = KMB_LAUNCH_PLAIN }
#define HOST_GRAPH \
  { .timer = KMB_TIMER_HOST, .launch_mode = KMB_LAUNCH_GRAPH }

static offer offers[2]; /* by rank */

static kmb_status give(const offer *o, kmb_choice *choices, uint32_t capacity,
                       uint32_t *count) {
  REQUIRE(o->count <= capacity);
  for (uint32_t i = 0; i < o->count; i++) {
    choices[i] = o->choices[i];
    choices[i].cache = KMB_CACHE_WARM;
    choices[i].preference = (int32_t)i;
  }
  *count = o->count;
  return KMB_OK;
}

static kmb_status propose_first(void *self, const kmb_request *request,
                                kmb_choice *choices, uint32_t capacity,
                                uint32_t *count) {
  (void)self;
  (void)request;
  return give(&offers[0], choices, capacity, count);
}

static kmb_status propose_second(void *self, const kmb_request *request,
                                 kmb_choice *choices, uint32_t capacity,
                                 uint32_t *count) {
  (void)self;
  (void)request;
  return give(&offers[1], choices, capacity, count);
}

static void offered(offer first, offer second, kmb_timer asked,
                    const char *timer, const char *mode) {
  static patched x;
  offers[0] = first;
  offers[1] = second;
  begin_patched(&x, 2);
  x.ops[0].propose = propose_first;
  x.ops[1].propose = propose_second;
  for (int r = 0; r < 2; r++) {
    x.p.guests[r].t.p.timer = asked;
    x.p.guests[r].t.p.cache = KMB_CACHE_WARM;
  }
  party_ok(&x.p);
  for (int r = 0; r < 2; r++) {
    REQUIRE_STR(text(&x.p.guests[r].t, KMB_VALUE_TIMER), timer);
    REQUIRE_STR(text(&x.p.guests[r].t, KMB_VALUE_LAUNCH_MODE), mode);
  }
  party_end(&x.p);
}

static void events_come_before_replays_on_the_hosts_clock(void) {
  const offer o = {2, {HOST_GRAPH, EVENT_PLAIN}};
  offered(o, o, KMB_TIMER_AUTO, "EVENT", "PLAIN");
  const offer more = {3, {HOST_GRAPH, EVENT_PLAIN, EVENT_GRAPH}};
  offered(more, more, KMB_TIMER_AUTO, "EVENT", "GRAPH");
}

static void what_was_asked_for_comes_first(void) {
  const offer o = {2, {EVENT_GRAPH, HOST_PLAIN}};
  offered(o, o, KMB_TIMER_HOST, "HOST", "PLAIN");
}

static void a_way_of_one_rank_alone_is_not_taken(void) {
  offered((offer){2, {EVENT_PLAIN, HOST_GRAPH}},
          (offer){2, {EVENT_GRAPH, HOST_GRAPH}}, KMB_TIMER_AUTO, "HOST",
          "GRAPH");
  offered((offer){2, {EVENT_GRAPH, HOST_PLAIN}},
          (offer){3, {EVENT_PLAIN, HOST_GRAPH, HOST_PLAIN}}, KMB_TIMER_AUTO,
          "HOST", "PLAIN");
  offered((offer){1, {HOST_PLAIN}}, (offer){1, {HOST_PLAIN}}, KMB_TIMER_AUTO,
          "HOST", "PLAIN");
}

/* --- a device that does not end ------------------------------------------ */

static const kmb_align *aligned[3]; /* by rank */
static int32_t missed[3]; /* whose device each of them misses; -1: unknown */

static kmb_status run_overdue(int rank) {
  const kmb_align *align = aligned[rank];
  kmb_status status = align->all_enqueued(align->ctx);
  return status ? status : align->overdue(align->ctx, missed[rank]);
}

#define OVERDUE(rank)                                                    \
  static kmb_status create_##rank(void *self, const kmb_plan_desc *desc, \
                                  void **plan) {                         \
    aligned[rank] = desc->align;                                         \
    return under->plan_create(self, desc, plan);                         \
  }                                                                      \
  static kmb_status run_##rank(void *self, void *plan, uint64_t count,   \
                               double until_ns, kmb_sample *samples,     \
                               uint64_t *got) {                          \
    (void)self;                                                          \
    (void)plan;                                                          \
    (void)count;                                                         \
    (void)until_ns;                                                      \
    (void)samples;                                                       \
    *got = 0;                                                            \
    return run_overdue(rank);                                            \
  }
OVERDUE(0)
OVERDUE(1)
OVERDUE(2)

static void begin_overdue(patched *x, int32_t missed_by_0) {
  begin_patched(x, 3);
  x->p.params.barrier = KMB_BARRIER_HOST;
  x->ops[0].plan_create = create_0;
  x->ops[1].plan_create = create_1;
  x->ops[2].plan_create = create_2;
  x->ops[0].plan_run = run_0;
  x->ops[1].plan_run = run_1;
  x->ops[2].plan_run = run_2;
  missed[0] = missed_by_0;
  missed[1] = missed[2] = 0;
}

/* Each rank says what its own device met. */
static void a_device_that_does_not_come_is_named(void) {
  static patched x;
  begin_overdue(&x, -1);
  party_run(&x.p);
  for (int r = 0; r < 3; r++) {
    REQUIRE_EQ(x.p.guests[r].status, KMB_ERR_TIMEOUT);
    REQUIRE_HAS(x.p.guests[r].words,
                r ? "the device of rank 0 did not come to the barrier"
                  : "a device is still at work that needs every rank");
    REQUIRE_HAS(x.p.guests[r].words, "at step \"warm up\", exchange");
  }
  /* Nobody waits again. */
  REQUIRE_STATUS(kmb_comm_allgather(x.p.guests[0].comm, NULL, NULL, 0),
                 KMB_ERR_TIMEOUT);
  party_end(&x.p);
}

int main(void) {
  RUN(a_barrier_needs_all_its_functions_on_every_rank);
  RUN(barriers_are_tried_as_they_are_listed);
  RUN(every_barrier_has_a_name);
  RUN(a_skew_is_how_much_longer_the_first_rank_waits);
  RUN(the_barrier_with_the_least_p99_is_taken);
  RUN(events_come_before_replays_on_the_hosts_clock);
  RUN(what_was_asked_for_comes_first);
  RUN(a_way_of_one_rank_alone_is_not_taken);
  RUN(a_device_that_does_not_come_is_named);
  return 0;
}
