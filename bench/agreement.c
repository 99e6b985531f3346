/* What the agreement of ranks costs for each sample: threads of one process,
 * processes that share memory, and processes over each MPI that is installed,
 * which all measure a function of no length on the host. More ranks than cores
 * wait for each other's turn, which is in the figure. */
#include "agreement_rank.h"
#include "quiet.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 16, RUNS = 101, SIZES = 3 };

/* Threads. */

typedef struct rank {
  kmb_comm *comm;
  pthread_t thread;
  double ns; /* agreement, for each sample */
} rank;

static void *measure(void *user) {
  rank *r = user;
  r->ns = agreement_of_rank(r->comm);
  return NULL;
}

static double among_threads(int size, const char *unused) {
  static rank ranks[MOST];
  kmb_comm *comms[MOST];
  (void)unused;
  must(kmb_comm_threads_create(size, NULL, comms), "joining threads");
  for (int i = 0; i < size; i++) {
    ranks[i].comm = comms[i];
    if (pthread_create(&ranks[i].thread, NULL, measure, &ranks[i]))
      give_up("pthread_create", "no thread");
  }
  for (int i = 0; i < size; i++) {
    pthread_join(ranks[i].thread, NULL);
    kmb_comm_destroy(comms[i]);
  }
  return ranks[0].ns;
}

/* Processes: this one is rank 0. */

static double as_process(const char *name, int which, int size) {
  kmb_comm *comm = NULL;
  must(kmb_comm_shm_create(name, which, size, NULL, &comm),
       "joining processes");
  double ns = agreement_of_rank(comm);
  kmb_comm_destroy(comm);
  return ns;
}

static double among_processes(int size, const char *unused) {
  char name[64];
  pid_t children[MOST];
  (void)unused;
  snprintf(name, sizeof name, "/kmb-bench-agreement-%ld", (long)getpid());
  fflush(stdout);
  for (int i = 1; i < size; i++) {
    children[i] = fork();
    if (children[i] < 0) give_up("fork", "no process");
    if (children[i]) continue;
    (void)as_process(name, i, size);
    _exit(0);
  }
  double ns = as_process(name, 0, size);
  for (int i = 1; i < size; i++) {
    int status = 0;
    if (waitpid(children[i], &status, 0) != children[i] || status)
      give_up("a rank", "did not end well");
  }
  return ns;
}

/* MPI: a program of its own, under its launcher. */

static double over_mpi(int size, const char *launcher_and_program) {
  char command[1024], line[64] = "";
  char *end = line;
  /* More ranks than cores, and whoever runs this. */
  int length =
      snprintf(command, sizeof command,
               "OMPI_MCA_rmaps_base_oversubscribe=1 "
               "OMPI_ALLOW_RUN_AS_ROOT=1 "
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 %.*s -n %d %s",
               (int)strcspn(launcher_and_program, ":"), launcher_and_program,
               size, strchr(launcher_and_program, ':') + 1);
  if (length < 0 || length >= (int)sizeof command)
    give_up("MPI", "its launcher's name is too long");
  fflush(stdout);
  FILE *out = popen(command, "r"); /* NOLINT: the build's own words */
  if (!out) give_up(command, "cannot be run");
  if (!fgets(line, sizeof line, out)) line[0] = '\0';
  double ns = strtod(line, &end);
  if (pclose(out) || end == line) give_up(command, "failed");
  return ns;
}

static const struct kind {
  const char *name; /* with the number of ranks */
  double (*run)(int size, const char *with);
  const char *with;
  double bar; /* ns for each rank */
} kinds[] = {
    {"agreement", among_threads, NULL, 50e3},
    {"agreement_shm", among_processes, NULL, 50e3},
#ifdef WITH_OPENMPI
    {"agreement_openmpi", over_mpi, WITH_OPENMPI, 100e3},
#endif
#ifdef WITH_MPICH
    {"agreement_mpich", over_mpi, WITH_MPICH, 100e3},
#endif
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

int main(int argc, char **argv) {
  static const int sizes[SIZES] = {2, 4, 16};
  static double ns[KINDS][SIZES][RUNS];
  report r;
  report_open(&r, &argc, argv, "agreement");
  size_t runs = option(argc, argv, "runs", 7);
  if (runs < 3 || runs > RUNS) give_up("agreement", "--runs is not 3 to 101");
  canary quiet;
  canary_start(&quiet);
  for (size_t i = 0; i < runs; i++) {
    for (int k = 0; k < KINDS; k++)
      for (int s = 0; s < SIZES; s++)
        ns[k][s][i] = kinds[k].run(sizes[s], kinds[k].with);
    canary_spin(&quiet);
  }
  const char *why_not = canary_verdict(&quiet, &r);
  for (int k = 0; k < KINDS; k++)
    for (int s = 0; s < SIZES; s++) {
      char name[64];
      snprintf(name, sizeof name, "%s_%d", kinds[k].name, sizes[s]);
      middle m = middle_of(ns[k][s], runs);
      figure f = {.name = name,
                  .unit = "ns",
                  .value = m.median,
                  .low = m.low,
                  .high = m.high,
                  .spread = "95% of the median",
                  .bar_low = 0,
                  .bar_high = kinds[k].bar * sizes[s]};
      report_figure(&r, &f, why_not);
    }
  return report_close(&r);
}
