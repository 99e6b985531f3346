/* The threads of examples/host_gemm's triad. */
#include "require.h"

#include "host_gemm/team.h"

enum { MOST = 5, RUNS = 2000 };

typedef struct tally {
  unsigned calls[MOST];
  unsigned count;
} tally;

/* No lock: team_run itself must order one run's writes before the next's. */
static void mark(void *user, unsigned number, unsigned count) {
  tally *t = user;
  t->calls[number]++;
  if (number == 0) t->count = count;
}

static void every_part_runs_once_a_run(void) {
  for (unsigned count = 1; count <= MOST; count++) {
    team *threads = team_create(count);
    REQUIRE(threads);
    tally t = {{0}, 0};
    for (unsigned run = 1; run <= RUNS; run++) {
      team_run(threads, mark, &t);
      for (unsigned i = 0; i < MOST; i++)
        REQUIRE_EQ(t.calls[i], i < count ? run : 0);
    }
    REQUIRE_EQ(t.count, count);
    team_destroy(threads);
  }
}

static void an_idle_team_can_be_destroyed(void) {
  team *threads = team_create(3);
  REQUIRE(threads);
  team_destroy(threads);
  team_destroy(NULL);
}

int main(void) {
  RUN(every_part_runs_once_a_run);
  RUN(an_idle_team_can_be_destroyed);
  return 0;
}
