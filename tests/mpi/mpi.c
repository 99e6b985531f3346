/* Two MPI ranks that measure together, and what becomes of one that is missed.
 * The first argument names the test, the second a file for what is said of it:
 * a launcher may drop the output of ranks that it ends. */
#include "../plugin/engine.h"

#include <mpi.h>

#include <kmb/mpi.h>

#include <signal.h>
#include <unistd.h>

static int rank, size;
static const char *said_to;

static void end_with(const char *words) {
  FILE *file = fopen(said_to, "w");
  REQUIRE(file);
  REQUIRE(fprintf(file, "ok %s\n", words) > 0);
  REQUIRE_EQ(fclose(file), 0);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static kmb_comm *meet(double seconds) {
  kmb_comm_params p = kmb_comm_params_init();
  kmb_comm *comm = NULL;
  p.skew_samples = 5;
  p.deadline_ns = p.first_deadline_ns = seconds * 1e9;
  REQUIRE_OK(kmb_mpi_comm_create(MPI_COMM_WORLD, &p, &comm));
  REQUIRE_EQ(kmb_comm_rank(comm), rank);
  REQUIRE_EQ(kmb_comm_size(comm), size);
  return comm;
}

static void prepare(trial *t, kmb_comm *comm) {
  char spec[64];
  snprintf(spec, sizeof spec, "seed=%d,kernel=%d", rank + 1,
           20000 + 1000 * rank);
  begin(t, spec);
  with_buffers(t, MIB);
  t->p.comm = comm;
  t->p.max_samples = 20;
}

static void ranks_measure_together(void) {
  static trial t;
  kmb_comm *comm = meet(30);
  prepare(&t, comm);
  for (int i = 0; i < 2; i++) {
    run(&t);
    REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 21000, 40);
    REQUIRE_HAS(text(&t, KMB_VALUE_COMM), "MPI (");
    REQUIRE_EQ(u64(&t, KMB_VALUE_WORLD_SIZE), 2);
    REQUIRE_EQ(u64(&t, KMB_VALUE_NODES), 1);
  }
  finish(&t);
  char mine[700], all[1400];
  memset(mine, 'a' + rank, sizeof mine);
  REQUIRE_OK(kmb_comm_allgather(comm, mine, all, sizeof mine));
  REQUIRE_EQ(all[0], 'a');
  REQUIRE_EQ(all[699], 'a');
  REQUIRE_EQ(all[700], 'b');
  REQUIRE_EQ(all[1399], 'b');
  kmb_comm_destroy(comm);
}

static void a_failure_of_one_rank_is_everybodys(void) {
  static trial t;
  kmb_comm *comm = meet(30);
  prepare(&t, comm);
  if (rank == 1) {
    t.op.fail_at = 3;
    t.op.status = 42;
  }
  REQUIRE_STATUS(attempt(&t), 42);
  if (rank == 0) REQUIRE_HAS(kmb_last_error(NULL, NULL), "rank 1 failed");
  run(&t);
  finish(&t);
  kmb_comm_destroy(comm);
}

/* Rank 1 does not take part; rank 0 ends both with a status of its own. */
static void a_rank_that_is_missed_is_named(void) {
  static trial t;
  kmb_comm *comm = meet(0.3);
  prepare(&t, comm);
  if (rank == 1)
    for (;;)
      pause();
  REQUIRE_STATUS(attempt(&t), KMB_ERR_TIMEOUT);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "rank 1 did not come to step");
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "within 0.3 s");
  finish(&t);
  kmb_comm_destroy(comm);
  end_with("a_rank_that_is_missed_is_named");
}

/* Rank 1 is killed between two measurements. */
static void a_rank_that_is_killed_hangs_nobody(void) {
  static trial t;
  kmb_comm *comm = meet(2);
  prepare(&t, comm);
  run(&t);
  if (rank == 1) raise(SIGKILL);
  kmb_status status = attempt(&t);
  REQUIRE(status == KMB_ERR_TIMEOUT || status == KMB_ERR_LOST ||
          status == KMB_ERR_IO);
  end_with("a_rank_that_is_killed_hangs_nobody");
}

static void outside_of_mpi_it_is_refused(void) {
  kmb_comm *comm = NULL;
  REQUIRE_STATUS(kmb_mpi_comm_create(MPI_COMM_WORLD, NULL, &comm),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_mpi_comm_create(MPI_COMM_WORLD, NULL, NULL),
                 KMB_ERR_INVALID);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  said_to = argc > 2 ? argv[2] : "/dev/null";
  alarm(60);
  outside_of_mpi_it_is_refused();
  REQUIRE_EQ(MPI_Init(&argc, &argv), MPI_SUCCESS);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  REQUIRE_EQ(size, 2);
  if (strcmp(what, "missed") == 0) a_rank_that_is_missed_is_named();
  if (strcmp(what, "killed") == 0) a_rank_that_is_killed_hangs_nobody();
  RUN(ranks_measure_together);
  RUN(a_failure_of_one_rank_is_everybodys);
  MPI_Finalize();
  outside_of_mpi_it_is_refused();
  return 0;
}
