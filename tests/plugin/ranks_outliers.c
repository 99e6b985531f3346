/* Samples of one rank that stand out. */
#include "party.h"

static const kmb_rank *row(const guest *g, uint64_t index) {
  static kmb_rank rank;
  rank = kmb_rank_init();
  REQUIRE_OK(kmb_result_rank(g->t.r, index, &rank));
  return &rank;
}

static double sample(const trial *t, size_t index) {
  const double *samples = NULL;
  uint64_t count = 0;
  REQUIRE_OK(kmb_result_samples(t->r, &samples, &count));
  REQUIRE(index < count);
  return samples[index];
}

static size_t worst_sample(const trial *t) {
  return (size_t)figure(t, KMB_FINDING_SYNC_OUTLIER, "worst_sample");
}

/* A rank's kernel takes longer at one or two of its calls. */
typedef struct stutter {
  uint64_t calls, at[2];
  double ns[2];
} stutter;

static kmb_status stuttering(void *user, const kmb_launch *launch) {
  stutter *s = user;
  sim_kernel kernel = {.ns = 0};
  s->calls++;
  for (int i = 0; i < 2; i++)
    if (s->calls == s->at[i]) kernel.ns = s->ns[i];
  return sim_enqueue(launch->stream, &kernel);
}

static void stutter_together(party *p, stutter *stutters, const char *spec) {
  const char *const specs[] = {spec};
  party_begin(p, 3, specs, 1);
  for (int r = 0; r < 3; r++) {
    p->guests[r].t.p.launch = stuttering;
    p->guests[r].t.p.launch_user = &stutters[r];
    p->guests[r].t.p.launch_mode = KMB_LAUNCH_PLAIN;
    p->guests[r].t.p.flags = KMB_BENCH_NO_WARMUP;
  }
  party_ok(p);
}

static void a_millisecond_alone_is_a_sync_outlier(void) {
  static party p;
  stutter stutters[3] = {{0}, {.at = {40}, .ns = {3e6}}, {0}};
  stutter_together(&p, stutters, "");
  for (int r = 0; r < 3; r++) {
    const trial *t = &p.guests[r].t;
    REQUIRE(raised(t, KMB_FINDING_SYNC_OUTLIER));
    REQUIRE_HAS(message(t, KMB_FINDING_SYNC_OUTLIER), "1 sample stands out");
    REQUIRE_HAS(message(t, KMB_FINDING_SYNC_OUTLIER), "rank 1");
    REQUIRE_HAS(message(t, KMB_FINDING_SYNC_OUTLIER), "step \"measure\"");
    REQUIRE_NEAR(figure(t, KMB_FINDING_SYNC_OUTLIER, "outliers"), 1, 0);
    REQUIRE_NEAR(figure(t, KMB_FINDING_SYNC_OUTLIER, "rank"), 1, 0);
    REQUIRE_NEAR(figure(t, KMB_FINDING_SYNC_OUTLIER, "worst_ns"), 3003900, 40);
    REQUIRE_NEAR(row(&p.guests[r], 1)->max_ns, 3003900, 40);
    REQUIRE_NEAR(row(&p.guests[r], 1)->min_ns, 23900, 40);
    REQUIRE_NEAR(row(&p.guests[r], 2)->max_ns, 23900, 40);
    REQUIRE_NEAR(sample(t, worst_sample(t)), 3003900, 40);
  }
  party_end(&p);
}

/* Whether the worst comes first or last, and of ranks the one that was. */
static void the_worst_sync_outlier_is_named(void) {
  for (int first = 0; first < 2; first++) {
    static party p;
    stutter stutters[3] = {{0},
                           {.at = {42, 44}, .ns = {4e6, 2.5e6}},
                           {.at = {42, 40}, .ns = {3.5e6, 2e6}}};
    if (first) stutters[1].at[0] = stutters[2].at[0] = 38;
    stutter_together(&p, stutters, "");
    const trial *t = &p.guests[0].t;
    REQUIRE_HAS(message(t, KMB_FINDING_SYNC_OUTLIER), "3 samples stand out");
    REQUIRE_NEAR(figure(t, KMB_FINDING_SYNC_OUTLIER, "outliers"), 3, 0);
    REQUIRE_NEAR(figure(t, KMB_FINDING_SYNC_OUTLIER, "rank"), 1, 0);
    REQUIRE_NEAR(figure(t, KMB_FINDING_SYNC_OUTLIER, "worst_ns"), 4003900, 40);
    REQUIRE(row(&p.guests[0], 1)->slowest >= 2);
    party_end(&p);
  }
}

static void the_first_of_equal_outliers_is_named(void) {
  static party p;
  stutter stutters[3] = {{.at = {40, 44}, .ns = {3e6, 3e6}}};
  stutter_together(&p, stutters, "tick=0");
  const trial *t = &p.guests[0].t;
  size_t worst = worst_sample(t);
  REQUIRE_NEAR(sample(t, worst), sample(t, worst + 4), 0);
  REQUIRE_NEAR(figure(t, KMB_FINDING_SYNC_OUTLIER, "rank"), 0, 0);
  kmb_finding f = kmb_finding_init();
  for (uint64_t i = 0; f.code != KMB_FINDING_SYNC_OUTLIER; i++)
    REQUIRE_OK(kmb_result_finding(t->r, i, &f));
  REQUIRE_EQ(f.figure_count, 4);
  REQUIRE_EQ(f.severity, KMB_WARNING);
  party_end(&p);
}

/* A rank's largest and least sample may be its first or second. */
static void the_first_samples_count_too(void) {
  static party p;
  stutter stutters[3] = {{.at = {40}, .ns = {3e6}}};
  stutter_together(&p, stutters, "");
  size_t worst = worst_sample(&p.guests[0].t);
  party_end(&p);
  for (int i = 0; i < 4; i++) {
    const bool low = i < 2;
    const double ns = low ? 10 : 3e6;
    stutter first[3] = {{.at = {40 - worst + (size_t)(i % 2)}, .ns = {ns}}};
    stutter_together(&p, first, "tick=0");
    const kmb_rank *r = row(&p.guests[0], 0);
    REQUIRE_NEAR(low ? r->min_ns : r->max_ns, ns + 3900, 1e-6);
    if (!low) REQUIRE_EQ(worst_sample(&p.guests[0].t), (size_t)(i % 2));
    party_end(&p);
  }
}

/* A rank's figures are of the samples that were kept. */
static void ranks_are_told_of_what_is_kept(void) {
  static party p;
  const char *const specs[] = {"",
                               "kernel=40000,noise=gauss:0.01,drift=0.5:10e6"};
  party_begin(&p, 2, specs, 2);
  for (int r = 0; r < 2; r++) {
    p.guests[r].t.p.max_samples = 0;
    p.guests[r].t.p.flags = KMB_BENCH_NO_WARMUP;
  }
  party_ok(&p);
  const trial *t = &p.guests[0].t;
  const uint64_t kept = u64(t, KMB_VALUE_SAMPLES);
  double least = sample(t, 0), most = least;
  for (size_t i = 1; i < kept; i++) {
    if (sample(t, i) < least) least = sample(t, i);
    if (sample(t, i) > most) most = sample(t, i);
  }
  REQUIRE(u64(t, KMB_VALUE_SAMPLES_DROPPED) > 0);
  REQUIRE_NEAR(row(&p.guests[0], 1)->min_ns, least, 0);
  REQUIRE_NEAR(row(&p.guests[0], 1)->max_ns, most, 0);
  REQUIRE_EQ(row(&p.guests[0], 1)->slowest, kept);
  party_end(&p);
}

/* Less than a millisecond, or than half of what is usual. */
static void small_outliers_are_not_told(void) {
  static party p;
  stutter less[3] = {{.at = {40}, .ns = {1.01e6}}};
  stutter_together(&p, less, "");
  REQUIRE(!raised(&p.guests[0].t, KMB_FINDING_SYNC_OUTLIER));
  party_end(&p);
  stutter half[3] = {{.at = {40}, .ns = {29e6}}};
  stutter_together(&p, half, "kernel=20e6");
  REQUIRE(!raised(&p.guests[0].t, KMB_FINDING_SYNC_OUTLIER));
  party_end(&p);
  stutter more[3] = {{.at = {40}, .ns = {31e6}}};
  stutter_together(&p, more, "kernel=20e6");
  REQUIRE(raised(&p.guests[0].t, KMB_FINDING_SYNC_OUTLIER));
  party_end(&p);
}

static void steady_milliseconds_are_no_outliers(void) {
  static party p;
  const char *const specs[] = {"kernel=20e6,noise=gauss:0.05"};
  party_begin(&p, 2, specs, 1);
  party_ok(&p);
  REQUIRE(!raised(&p.guests[0].t, KMB_FINDING_SYNC_OUTLIER));
  party_end(&p);
}

int main(void) {
  RUN(a_millisecond_alone_is_a_sync_outlier);
  RUN(the_worst_sync_outlier_is_named);
  RUN(the_first_of_equal_outliers_is_named);
  RUN(the_first_samples_count_too);
  RUN(ranks_are_told_of_what_is_kept);
  RUN(small_outliers_are_not_told);
  RUN(steady_milliseconds_are_no_outliers);
  return 0;
}
