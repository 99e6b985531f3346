/* Several ranks, and one of them fails, vanishes or does something else. */
#include "party.h"

#include "ranks.h"

/* A failed measurement leaves the communicator of use. */
static void works_again(party *p) {
  for (int r = 0; r < p->size; r++)
    REQUIRE_EQ(p->guests[r].t.h.cancel, 0);
  party_ok(p);
}

/* --- different parameters ------------------------------------------------ */

static void ranks_of_different_points_are_refused(void) {
  static party p;
  const kmb_pair axes[2][1] = {{{"rows", "64"}}, {{"rows", "65"}}};
  party_begin(&p, 3, NULL, 0);
  for (int r = 0; r < 3; r++) {
    p.guests[r].t.p.axes = axes[r == 2];
    p.guests[r].t.p.axis_count = 1;
  }
  party_fails(&p, KMB_ERR_INVALID, "ranks 0 and 2 were given different");
  REQUIRE_HAS(p.guests[1].words, "name, axes or boundary");
  p.guests[2].t.p.axes = axes[0];
  works_again(&p);
  /* In any order. */
  const kmb_pair one[] = {{"m", "1"}, {"n", "2"}},
                 other[] = {{"n", "2"}, {"m", "1"}},
                 crossed[] = {{"m", "2"}, {"n", "1"}};
  for (int r = 0; r < 3; r++) {
    p.guests[r].t.p.axes = r == 1 ? other : one;
    p.guests[r].t.p.axis_count = 2;
  }
  party_ok(&p);
  p.guests[1].t.p.axes = crossed;
  party_fails(&p, KMB_ERR_INVALID, "ranks 0 and 1 were given different");
  party_end(&p);
}

static void ranks_with_different_ways_are_refused(void) {
  static party p;
  party_begin(&p, 2, NULL, 0);
  p.guests[1].t.p.timer = KMB_TIMER_EVENT;
  party_fails(&p, KMB_ERR_INVALID, "timer, launch mode");
  p.guests[1].t.p.timer = KMB_TIMER_AUTO;
  p.guests[1].t.p.target_pct = 0.4;
  party_fails(&p, KMB_ERR_INVALID, "limits, batch");
  p.guests[1].t.p.target_pct = 0;
  works_again(&p);
  party_end(&p);
}

static kmb_status no_reset(void *user, uint32_t slot, void *stream) {
  (void)user;
  (void)slot;
  (void)stream;
  return KMB_OK;
}

static void ranks_with_different_hooks_are_refused(void) {
  static party p;
  party_begin(&p, 2, NULL, 0);
  p.guests[0].t.p.reset = no_reset;
  party_fails(&p, KMB_ERR_INVALID, "callbacks or work");
  party_end(&p);
}

/* Registered and symmetric memory must be made alike everywhere. */
static void ranks_with_different_buffers_are_refused(void) {
  static party p;
  party_begin(&p, 2, NULL, 0);
  with_buffers(&p.guests[0].t, MIB);
  with_buffers(&p.guests[1].t, MIB);
  p.guests[1].t.descs[0].name = "y";
  p.guests[1].t.descs[1].name = "x";
  party_fails(&p, KMB_ERR_INVALID, "buffers, in their order");
  party_end(&p);
  party_begin(&p, 2, NULL, 0);
  with_buffers(&p.guests[0].t, MIB);
  with_buffers(&p.guests[1].t, MIB);
  p.guests[1].t.descs[0].alignment = 4096;
  party_fails(&p, KMB_ERR_INVALID, "buffers, in their order");
  party_end(&p);
  party_begin(&p, 2, NULL, 0);
  with_buffers(&p.guests[0].t, MIB);
  with_buffers(&p.guests[1].t, 2 * MIB);
  party_fails(&p, KMB_ERR_INVALID, "buffers, in their order");
  party_end(&p);
}

static void seeds_may_differ_by_rank(void) {
  static party p;
  party_begin(&p, 2, NULL, 0);
  for (int r = 0; r < 2; r++) {
    with_buffers(&p.guests[r].t, MIB);
    p.guests[r].t.descs[0].seed = 7u + (uint64_t)r;
  }
  party_ok(&p);
  party_end(&p);
}

static void two_ranks_on_one_device_are_refused(void) {
  static party p;
  const char *const specs[] = {"", "uuid=GPU-1", "uuid=GPU-1"};
  party_begin(&p, 3, specs, 3);
  party_fails(&p, KMB_ERR_INVALID, "ranks 1 and 2 have the same device");
  REQUIRE_HAS(p.guests[0].words, "GPU-1");
  party_end(&p);
  const char *const first[] = {"uuid=GPU-1", "uuid=GPU-1", ""};
  party_begin(&p, 3, first, 3);
  party_fails(&p, KMB_ERR_INVALID, "ranks 0 and 1 have the same device");
  party_end(&p);
}

static void a_rank_with_bad_parameters_tells_the_others(void) {
  static party p;
  party_begin(&p, 3, NULL, 0);
  p.guests[1].t.p.launch = NULL;
  party_fails(&p, KMB_ERR_INVALID, "launch is NULL");
  REQUIRE_HAS(p.guests[0].words, "rank 1 failed");
  REQUIRE_HAS(p.guests[2].words, "rank 1 failed");
  p.guests[1].t.p.launch = operation_launch;
  works_again(&p);
  party_end(&p);
}

static void a_backend_of_one_rank_alone_says_so(void) {
  static party p;
  party_begin_on(&p, SIMBARE, 2, NULL, 0);
  party_fails(&p, KMB_ERR_UNSUPPORTED, "measures one rank alone");
  party_end(&p);
}

/* --- one rank fails ------------------------------------------------------ */

static kmb_status wrong_check(void *user, kmb_check *check) {
  (void)user;
  check->error = 3;
  return KMB_ERR_INCORRECT;
}

static void a_check_that_fails_on_one_rank_fails_on_all(void) {
  static party p;
  party_begin(&p, 3, NULL, 0);
  for (int r = 0; r < 3; r++)
    with_buffers(&p.guests[r].t, MIB);
  p.guests[2].t.p.check = wrong_check;
  party_fails(&p, KMB_ERR_INCORRECT, "largest error 3");
  REQUIRE_HAS(p.guests[0].words, "rank 2 failed at step \"check\"");
  p.guests[2].t.p.check = trial_check;
  works_again(&p);
  party_end(&p);
}

static void a_callback_that_fails_on_one_rank_fails_on_all(void) {
  for (uint64_t at = 1; at < 100; at += 14) {
    static party p;
    party_begin(&p, 2, NULL, 0);
    p.params.skew_samples = 1;
    p.guests[0].t.op.fail_at = at;
    p.guests[0].t.op.status = 42;
    for (int r = 0; r < 2; r++) {
      with_buffers(&p.guests[r].t, MIB);
      p.guests[r].t.p.launch_mode = KMB_LAUNCH_PLAIN;
    }
    party_run(&p);
    for (int r = 0; r < 2; r++)
      REQUIRE_EQ(p.guests[r].status, 42);
    REQUIRE_HAS(p.guests[1].words, "rank 0 failed");
    works_again(&p);
    party_end(&p);
  }
}

/* Whatever function of the backend fails on one rank at whichever call: every
 * rank ends with that failure, or all have a result, and the next call works.
 */
static void any_failing_function_of_one_rank_is_everybodys(void) {
  static const char *const slots[] = {"alloc",         "write",
                                      "read",          "stream_open",
                                      "stream_wait",   "propose",
                                      "sweep_prepare", "plan_create",
                                      "plan_run",      "bias",
                                      "barrier_open",  "barrier_enqueue",
                                      "barrier_time",  "memory_available",
                                      "kernel"};
  for (size_t s = 0; s < sizeof slots / sizeof slots[0]; s++) {
    bool failed = true;
    for (int at = 1; failed && at < 200; at += at / 2 + 1) {
      static party p;
      char spec[64];
      snprintf(spec, sizeof spec, "fail=%s@%d:-16", slots[s], at);
      const char *const specs[] = {"", spec, ""};
      party_begin(&p, 3, specs, 3);
      p.params.skew_samples = 1;
      for (int r = 0; r < 3; r++) {
        with_buffers(&p.guests[r].t, MIB);
        p.guests[r].t.p.max_samples = 10;
      }
      party_run(&p);
      failed = p.guests[1].status != KMB_OK;
      for (int r = 0; r < 3; r++)
        if (p.guests[r].status != p.guests[1].status)
          fprintf(stderr, "%s, rank %d: %s\n", spec, r, p.guests[r].words);
      for (int r = 0; r < 3; r++)
        REQUIRE_EQ(p.guests[r].status, p.guests[1].status);
      if (failed) {
        REQUIRE_EQ(p.guests[0].status, KMB_ERR_VENDOR);
        REQUIRE_HAS(p.guests[0].words, "rank 1 failed at step");
        REQUIRE_HAS(p.guests[2].words, slots[s]);
        if (at == 1 || at > 8) works_again(&p);
      }
      party_end(&p);
    }
    REQUIRE(!failed || strcmp(slots[s], "kernel") == 0 ||
            strcmp(slots[s], "plan_run") == 0 ||
            strcmp(slots[s], "barrier_time") == 0 ||
            strcmp(slots[s], "barrier_enqueue") == 0);
  }
}

static void memory_that_one_rank_lacks_is_everybodys_failure(void) {
  static party p;
  bool failed = true;
  for (uint64_t at = 1; failed; at += heap_step()) {
    party_begin(&p, 2, NULL, 0);
    p.params.skew_samples = 1;
    p.params.barrier = KMB_BARRIER_FLAG;
    for (int r = 0; r < 2; r++) {
      with_buffers(&p.guests[r].t, 4096);
      p.guests[r].t.p.max_samples = 10;
    }
    heap *memory = &p.guests[1].t.h.memory;
    /* Making the buffers is no part of the measurement. */
    for (int r = 0; r < 2; r++) {
      trial *t = &p.guests[r].t;
      REQUIRE_OK(kmb_buffers_create(t->h.device, t->descs, sizeof t->descs[0],
                                    2, &t->rotation, &t->set));
      t->p.buffers = t->set;
    }
    memory->fail_at = memory->calls + at;
    party_run(&p);
    failed = memory->failed;
    memory->fail_at = 0;
    for (int r = 0; r < 2; r++) {
      if (failed != (p.guests[r].status == KMB_ERR_NOMEM))
        fprintf(stderr, "allocation %d, rank %d: %s\n", (int)at, r,
                p.guests[r].words);
      REQUIRE_EQ(p.guests[r].status, failed ? KMB_ERR_NOMEM : KMB_OK);
    }
    if (at % 4 == 1) works_again(&p);
    party_end(&p);
  }
}

/* A device that hangs in the operation is lost; the others need not wait. */
static void a_device_that_hangs_on_one_rank_is_told_of(void) {
  static party p;
  const char *const specs[] = {"", "hang=60", ""};
  party_begin(&p, 3, specs, 3);
  p.params.deadline_ns = p.params.first_deadline_ns = 10e9;
  party_run(&p);
  REQUIRE_EQ(p.guests[1].status, KMB_ERR_LOST);
  for (int r = 0; r < 3; r += 2) {
    REQUIRE(p.guests[r].status != KMB_OK);
    REQUIRE_HAS(p.guests[r].words, "rank 1");
    REQUIRE(p.guests[r].took_s < 9);
  }
  party_end(&p);
}

/* Only what cannot be read at all is refused without a word to the others. */
static void a_rank_that_cannot_even_begin_tells_the_others(void) {
  static party p;
  for (int size = 2; size <= 3; size++) {
    party_begin(&p, size, NULL, 0);
    party_join(&p);
    guest *bad = &p.guests[1];
    bad->t.p.comm = bad->comm;
    for (int i = 0; i < 2; i++) {
      for (int r = 0; r < size; r += 2)
        REQUIRE_EQ(pthread_create(&p.guests[r].thread, NULL, party_guest,
                                  &p.guests[r]),
                   0);
      bad->t.p.struct_size = i ? sizeof bad->t.p + 1 : sizeof bad->t.p;
      struct {
        kmb_bench_params p;
        char unknown[8];
      } more = {bad->t.p, {1}};
      const kmb_status want = i ? KMB_ERR_UNSUPPORTED : KMB_ERR_INVALID;
      REQUIRE_STATUS(kmb_bench(bad->t.h.device, &more.p, i ? &bad->t.r : NULL),
                     want);
      for (int r = 0; r < size; r += 2) {
        REQUIRE_EQ(pthread_join(p.guests[r].thread, NULL), 0);
        REQUIRE_EQ(p.guests[r].status, want);
        REQUIRE_HAS(p.guests[r].words, "rank 1 failed");
      }
    }
    party_end(&p);
  }
}

static void a_communicator_is_for_benchmarks_alone(void) {
  static party p;
  party_begin(&p, 2, NULL, 0);
  party_join(&p);
  trial *t = &p.guests[0].t;
  kmb_session *session = NULL;
  const double ns[] = {1, 2, 3};
  t->p.comm = p.guests[0].comm;
  REQUIRE_STATUS(kmb_result_from_samples(t->h.device, &t->p, ns, 3, 0, &t->r),
                 KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "comm is for kmb_bench() alone");
  REQUIRE_STATUS(kmb_session_begin(t->h.device, &t->p, &session),
                 KMB_ERR_INVALID);
  party_end(&p);
}

/* --- one rank vanishes --------------------------------------------------- */

static void stall(void *user, const kmb_progress *progress) {
  party_stall(user, progress->stage);
}

/* Opens a rank's device again, with a hook that stops at a stage. */
static void reopen_with_stall(guest *g) {
  char name[2048];
  kmb_hooks hooks = heap_hooks(&g->t.h.memory);
  kmb_device_params params = kmb_device_params_init();
  kmb_device_close(g->t.h.device);
  hooks.progress = stall;
  hooks.progress_user = g;
  hooks.cancel = &g->t.h.cancel;
  params.hooks = &hooks;
  snprintf(name, sizeof name, "%s:seed=%d", SIM, g->rank + 1);
  REQUIRE_OK(kmb_device_open(name, &params, &g->t.h.device));
}

static void lose(const char *stage) {
  static party p;
  party_begin(&p, 3, NULL, 0);
  p.lost = 1;
  p.lost_at = stage;
  /* Until the ranks are warm it is the longer one that counts. */
  bool warm = strcmp(stage, "measure") == 0 || strcmp(stage, "confirm") == 0 ||
              strcmp(stage, "summarise") == 0;
  p.params.first_deadline_ns = warm ? 100e9 : 0.2e9;
  p.params.deadline_ns = warm ? 0.2e9 : 100e9;
  reopen_with_stall(&p.guests[1]);
  for (int r = 0; r < 3; r++)
    with_buffers(&p.guests[r].t, MIB);
  party_run(&p);
  for (int r = 0; r < 3; r++) {
    if (p.guests[r].status != KMB_ERR_TIMEOUT)
      fprintf(stderr, "%s, rank %d: %s\n", stage, r, p.guests[r].words);
    REQUIRE_EQ(p.guests[r].status, KMB_ERR_TIMEOUT);
    REQUIRE_HAS(p.guests[r].words, "rank 1");
    REQUIRE_HAS(p.guests[r].words, "exchange");
    if (r == 1) continue;
    REQUIRE_HAS(p.guests[r].words, "rank 1 did not come to step");
    REQUIRE(p.guests[r].took_s < 20);
  }
  /* Poisoned: nobody waits again. */
  p.params.deadline_ns = 100e9;
  for (int r = 0; r < 3; r++) {
    REQUIRE_STATUS(
        kmb_bench(p.guests[r].t.h.device, &p.guests[r].t.p, &p.guests[r].t.r),
        KMB_ERR_TIMEOUT);
    REQUIRE_STATUS(kmb_comm_allgather(p.guests[r].comm, NULL, NULL, 0),
                   KMB_ERR_TIMEOUT);
  }
  party_end(&p);
}

static void a_rank_lost_at_any_stage_is_named_by_the_others(void) {
  static const char *const all[] = {"prepare",   "check",   "warm up",
                                    "calibrate", "measure", "confirm",
                                    "summarise"};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    lose(all[i]);
}

static void a_rank_that_never_calls_is_missed(void) {
  static party p;
  party_begin(&p, 2, NULL, 0);
  p.params.first_deadline_ns = 0.1e9;
  party_join(&p);
  p.guests[0].t.p.comm = p.guests[0].comm;
  REQUIRE_STATUS(attempt(&p.guests[0].t), KMB_ERR_TIMEOUT);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "rank 1 did not come");
  party_end(&p);
}

static void a_rank_that_closed_its_communicator_is_missed_at_once(void) {
  static party p;
  party_begin(&p, 2, NULL, 0);
  party_join(&p);
  kmb_comm_destroy(p.guests[1].comm);
  p.guests[1].comm = NULL;
  p.guests[0].t.p.comm = p.guests[0].comm;
  REQUIRE_STATUS(attempt(&p.guests[0].t), KMB_ERR_LOST);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "rank 1 has closed");
  party_end(&p);
}

static void a_device_in_use_is_told_to_the_others(void) {
  static party p;
  party_begin(&p, 2, NULL, 0);
  kmb_session *session = NULL;
  kmb_bench_params params = kmb_bench_params_init();
  REQUIRE_OK(kmb_session_begin(p.guests[1].t.h.device, &params, &session));
  party_fails(&p, KMB_ERR_BUSY, "");
  REQUIRE_HAS(p.guests[0].words, "rank 1 failed");
  kmb_session_abandon(session);
  works_again(&p);
  party_end(&p);
}

static void one_rank_that_cancels_stops_all(void) {
  static party p;
  party_begin(&p, 3, NULL, 0);
  for (int r = 0; r < 3; r++) {
    p.guests[r].t.p.launch_mode = KMB_LAUNCH_PLAIN;
    p.guests[r].t.p.max_samples = 100000;
    p.guests[r].t.p.target_pct = 1e-9;
  }
  p.guests[2].t.op.cancel = &p.guests[2].t.h.cancel;
  p.guests[2].t.op.cancel_at = 300;
  party_ok(&p);
  for (int r = 0; r < 3; r++)
    REQUIRE_STR(text(&p.guests[r].t, KMB_VALUE_STOP_REASON), "CANCELLED");
  REQUIRE_EQ(u64(&p.guests[0].t, KMB_VALUE_SAMPLES),
             u64(&p.guests[2].t, KMB_VALUE_SAMPLES));
  party_end(&p);
  party_begin(&p, 2, NULL, 0);
  p.guests[1].t.h.cancel = 1;
  party_fails(&p, KMB_ERR_CANCELLED, "cancelled before");
  party_end(&p);
}

/* --- communicators that misbehave ---------------------------------------- */

/* The functions of a rank's communicator, with something changed. */
typedef struct changed {
  kmb_comm *comm;
  kmb_comm_ops under;
  uint64_t starts, at; /* the start that is changed */
  bool stuck;          /* it is never done from then on */
  bool fails;
  kmb_status aborted;
  char record[KMB_COMM_RECORD];
  size_t offset; /* of the byte that is changed */
} changed;

static kmb_status changed_start(void *ctx, const void *send, void *receive,
                                size_t bytes, void **request) {
  changed *c = ctx;
  if (++c->starts == c->at && c->fails) return KMB_ERR_IO;
  if (c->starts != c->at || c->stuck)
    return c->under.start(c->under.ctx, send, receive, bytes, request);
  memcpy(c->record, send, bytes);
  c->record[c->offset] ^= 1;
  return c->under.start(c->under.ctx, c->record, receive, bytes, request);
}

static kmb_status changed_test(void *ctx, void *request, int32_t *done) {
  changed *c = ctx;
  *done = 0;
  if (c->stuck && c->starts >= c->at) return KMB_OK;
  return c->under.test(c->under.ctx, request, done);
}

static void changed_release(void *ctx, void *request) {
  changed *c = ctx;
  c->under.release(c->under.ctx, request);
}

static kmb_status changed_arrived(void *ctx, void *request, int32_t rank,
                                  int32_t *yes) {
  changed *c = ctx;
  return c->under.arrived(c->under.ctx, request, rank, yes);
}

static void changed_abort(void *ctx, kmb_status why, const char *message) {
  changed *c = ctx;
  c->aborted = why;
  c->under.abort(c->under.ctx, why, message);
}

/* Puts itself between a rank and its communicator; `p` has joined. */
static void change(party *p, int rank, changed *c) {
  guest *g = &p->guests[rank];
  kmb_comm_ops ops = kmb_comm_ops_init();
  c->comm = g->comm;
  c->under = g->comm->ops;
  ops.ctx = c;
  ops.start = changed_start;
  ops.test = changed_test;
  ops.release = changed_release;
  ops.arrived = changed_arrived;
  ops.abort = changed_abort;
  ops.rank = rank;
  ops.size = p->size;
  REQUIRE_OK(kmb_comm_create(&ops, &p->params, &g->comm));
}

static void end_changed(party *p, changed *c) {
  kmb_comm_destroy(c->comm);
  party_end(p);
}

/* Bytes of a record that tell counts, kinds, versions and numbers apart; of the
 * first one, hosts and groups of parameters. */
enum {
  MAGIC_AT = 0,
  SEQUENCE_AT = 8,
  SAME_AT = 16,
  SAY_AT = 32,
  HOST_AT = offsetof(kmbi_record, payload) + offsetof(kmbi_entrance, host),
  HASHES_AT = offsetof(kmbi_record, payload) + offsetof(kmbi_entrance, hashes)
};

static void ranks_that_disagree_are_named(size_t offset, kmb_status want,
                                          const char *words) {
  static party p;
  /* Late enough to be among samples. */
  changed c = {.at = 60, .offset = offset};
  party_begin(&p, 3, NULL, 0);
  p.params.deadline_ns = p.params.first_deadline_ns = 2e9;
  party_join(&p);
  change(&p, 1, &c);
  party_run(&p);
  REQUIRE_EQ(p.guests[0].status, want);
  REQUIRE_HAS(p.guests[0].words, words);
  REQUIRE_HAS(p.guests[0].words, "1");
  REQUIRE(p.guests[1].status < 0);
  REQUIRE_EQ(p.guests[2].status, want);
  end_changed(&p, &c);
}

static void the_group_of_parameters_that_differs_is_named(void) {
  static const char *const groups[KMBI_GROUPS] = {
      "name, axes or boundary",  "backend, timer, launch mode",
      "limits, batch, seed",     "callbacks or work",
      "buffers, in their order", "barrier, multicast state or collective"};
  for (size_t g = 0; g < KMBI_GROUPS; g++) {
    static party p;
    changed c = {.at = 1, .offset = HASHES_AT + 8 * g};
    party_begin(&p, 3, NULL, 0);
    party_join(&p);
    change(&p, 2, &c);
    party_run(&p);
    for (int r = 0; r < 3; r++) {
      REQUIRE_EQ(p.guests[r].status, KMB_ERR_INVALID);
      REQUIRE_HAS(p.guests[r].words, "ranks 0 and 2 were given different");
      REQUIRE_HAS(p.guests[r].words, groups[g]);
    }
    end_changed(&p, &c);
  }
}

static bool is_known(const trial *t, kmb_value value) {
  const char *out = NULL;
  return kmb_result_text(t->r, value, &out) == KMB_OK;
}

/* The last of `size` ranks is on a host of its own. */
static void on_two_hosts(int size, const char *allocation) {
  static party p;
  changed c = {.at = 1, .offset = HOST_AT};
  uint64_t per_node = 0;
  party_begin(&p, size, NULL, 0);
  p.params.fabric = "InfiniBand";
  party_join(&p);
  change(&p, size - 1, &c);
  party_ok(&p);
  const trial *t = &p.guests[0].t;
  REQUIRE_EQ(u64(t, KMB_VALUE_NODES), 2);
  for (int r = 0; r < size; r++) {
    kmb_rank rank = kmb_rank_init();
    REQUIRE_OK(kmb_result_rank(t->r, (uint64_t)r, &rank));
    REQUIRE_EQ(rank.node, r == size - 1);
  }
  kmb_status status = kmb_result_u64(t->r, KMB_VALUE_GPUS_PER_NODE, &per_node);
  REQUIRE_EQ(status, size == 2 ? KMB_OK : KMB_ERR_UNAVAILABLE);
  if (size == 2) REQUIRE_EQ(per_node, 1);
  if (size != 2) REQUIRE_HAS(kmb_last_error(NULL, NULL), "it differs: 1 to 2");
  REQUIRE_STR(text(t, KMB_VALUE_FABRIC), "InfiniBand");
  REQUIRE_EQ(is_known(t, KMB_VALUE_ALLOCATION), allocation != NULL);
  if (allocation) REQUIRE_STR(text(t, KMB_VALUE_ALLOCATION), allocation);
  end_changed(&p, &c);
}

static void hosts_are_told_apart(void) {
  static party p;
  unsetenv("SLURM_JOB_ID");
  unsetenv("PBS_JOBID");
  unsetenv("LSB_JOBID");
  unsetenv("FLUX_JOB_ID");
  unsetenv("SLURM_JOB_NUM_NODES");
  on_two_hosts(2, NULL);
  REQUIRE_EQ(setenv("FLUX_JOB_ID", "f9", 1), 0);
  on_two_hosts(2, "Flux job f9");
  REQUIRE_EQ(setenv("SLURM_JOB_ID", "", 1), 0); /* says nothing */
  REQUIRE_EQ(setenv("PBS_JOBID", "5", 1), 0);
  on_two_hosts(2, "PBS job 5");
  REQUIRE_EQ(setenv("SLURM_JOB_ID", "17", 1), 0);
  REQUIRE_EQ(setenv("SLURM_JOB_NUM_NODES", "2", 1), 0);
  on_two_hosts(3, "SLURM job 17, 2 nodes");
  /* Of one host neither is told. */
  party_begin(&p, 2, NULL, 0);
  p.params.fabric = "InfiniBand";
  party_ok(&p);
  REQUIRE(!is_known(&p.guests[0].t, KMB_VALUE_FABRIC));
  REQUIRE(!is_known(&p.guests[0].t, KMB_VALUE_ALLOCATION));
  party_end(&p);
  unsetenv("FLUX_JOB_ID");
  unsetenv("PBS_JOBID");
  unsetenv("SLURM_JOB_ID");
  unsetenv("SLURM_JOB_NUM_NODES");
}

static void disagreeing_counts_are_an_error_of_all(void) {
  ranks_that_disagree_are_named(SAME_AT, KMB_ERR_INTERNAL, "ranks 1 and 0");
}

static void ranks_out_of_step_are_an_error_of_all(void) {
  ranks_that_disagree_are_named(SEQUENCE_AT, KMB_ERR_INTERNAL,
                                "rank 1 is at exchange");
  ranks_that_disagree_are_named(SAY_AT, KMB_ERR_INTERNAL, "disagree about");
}

static void another_version_is_an_error_of_all(void) {
  ranks_that_disagree_are_named(MAGIC_AT, KMB_ERR_UNSUPPORTED,
                                "another version");
}

static void note_abort(void *user, kmb_status why, const char *message) {
  (void)message;
  atomic_int *times = user;
  if (why == KMB_ERR_TIMEOUT) atomic_fetch_add(times, 1);
}

static void a_test_that_never_completes_ends_by_the_deadline(void) {
  static party p;
  static atomic_int aborts; /* of the caller's collectives, one a rank */
  changed c = {.at = 30, .stuck = true};
  party_begin(&p, 2, NULL, 0);
  p.params.abort = note_abort;
  p.params.abort_user = &aborts;
  p.params.deadline_ns = p.params.first_deadline_ns = 0.2e9;
  party_join(&p);
  change(&p, 0, &c);
  party_run(&p);
  REQUIRE_EQ(p.guests[0].status, KMB_ERR_TIMEOUT);
  REQUIRE_HAS(p.guests[0].words, "within 0.2 s");
  REQUIRE_EQ(c.aborted, KMB_ERR_TIMEOUT);
  REQUIRE_EQ(aborts, 2);
  REQUIRE_EQ(p.guests[1].status, KMB_ERR_TIMEOUT);
  REQUIRE_HAS(p.guests[1].words, "rank 0");
  end_changed(&p, &c);
}

static void a_start_that_fails_poisons(void) {
  static party p;
  changed c = {.at = 30, .fails = true};
  party_begin(&p, 2, NULL, 0);
  party_join(&p);
  change(&p, 0, &c);
  party_run(&p);
  REQUIRE_EQ(p.guests[0].status, KMB_ERR_IO);
  REQUIRE_HAS(p.guests[0].words, "start returned ERR_IO");
  REQUIRE_EQ(p.guests[1].status, KMB_ERR_IO);
  end_changed(&p, &c);
}

static void a_benchmark_and_an_allgather_do_not_mix(void) {
  static party p;
  party_begin(&p, 2, NULL, 0);
  party_join(&p);
  REQUIRE_EQ(
      pthread_create(&p.guests[0].thread, NULL, party_guest, &p.guests[0]), 0);
  char mine = 0, all[2];
  REQUIRE_STATUS(kmb_comm_allgather(p.guests[1].comm, &mine, all, 1),
                 KMB_ERR_INTERNAL);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "rank 0 is in kmb_bench()");
  REQUIRE_EQ(pthread_join(p.guests[0].thread, NULL), 0);
  REQUIRE_EQ(p.guests[0].status, KMB_ERR_INTERNAL);
  REQUIRE_HAS(p.guests[0].words, "ranks 1 and 0 disagree");
  party_end(&p);
}

int main(void) {
  RUN(ranks_of_different_points_are_refused);
  RUN(ranks_with_different_ways_are_refused);
  RUN(ranks_with_different_hooks_are_refused);
  RUN(ranks_with_different_buffers_are_refused);
  RUN(seeds_may_differ_by_rank);
  RUN(two_ranks_on_one_device_are_refused);
  RUN(a_rank_with_bad_parameters_tells_the_others);
  RUN(a_backend_of_one_rank_alone_says_so);
  RUN(a_check_that_fails_on_one_rank_fails_on_all);
  RUN(a_callback_that_fails_on_one_rank_fails_on_all);
  RUN(any_failing_function_of_one_rank_is_everybodys);
  RUN(memory_that_one_rank_lacks_is_everybodys_failure);
  RUN(a_device_that_hangs_on_one_rank_is_told_of);
  RUN(a_rank_that_cannot_even_begin_tells_the_others);
  RUN(a_communicator_is_for_benchmarks_alone);
  RUN(a_rank_lost_at_any_stage_is_named_by_the_others);
  RUN(a_rank_that_never_calls_is_missed);
  RUN(a_rank_that_closed_its_communicator_is_missed_at_once);
  RUN(a_device_in_use_is_told_to_the_others);
  RUN(one_rank_that_cancels_stops_all);
  RUN(the_group_of_parameters_that_differs_is_named);
  RUN(hosts_are_told_apart);
  RUN(disagreeing_counts_are_an_error_of_all);
  RUN(ranks_out_of_step_are_an_error_of_all);
  RUN(another_version_is_an_error_of_all);
  RUN(a_test_that_never_completes_ends_by_the_deadline);
  RUN(a_start_that_fails_poisons);
  RUN(a_benchmark_and_an_allgather_do_not_mix);
  return 0;
}
