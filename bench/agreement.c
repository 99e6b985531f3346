/* What the agreement of ranks costs for each sample: threads of one process
 * that measure a function of no length on the host. More ranks than cores wait
 * for each other's turn, which is in the figure. */
#include "quiet.h"

#include <pthread.h>
#include <stdio.h>

enum { MOST = 16, KINDS = 3 };

typedef struct rank {
  kmb_comm *comm;
  pthread_t thread;
  double ns; /* agreement, for each sample */
} rank;

static kmb_status nothing(void *user, const kmb_launch *launch) {
  (void)user;
  (void)launch;
  return KMB_OK;
}

static void *measure(void *user) {
  rank *r = user;
  kmb_device *device = NULL;
  kmb_result *result = NULL;
  kmb_bench_params p = kmb_bench_params_init();
  p.name = "nothing";
  p.launch = nothing;
  p.cache = KMB_CACHE_WARM;
  p.flags = KMB_BENCH_NO_CONFIRM;
  p.max_samples = 2000;
  p.min_samples = 2000;
  p.comm = r->comm;
  must(kmb_device_open("host", NULL, &device), "opening the host");
  must(kmb_bench(device, &p, &result), "measuring nothing");
  must(kmb_result_f64(result, KMB_VALUE_AGREEMENT, &r->ns), "the agreement");
  kmb_result_destroy(result);
  kmb_device_close(device);
  return NULL;
}

static double agreement(int size) {
  static rank ranks[MOST];
  kmb_comm *comms[MOST];
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

int main(int argc, char **argv) {
  static const int sizes[KINDS] = {2, 4, 16};
  static const char *const names[KINDS] = {"agreement_2", "agreement_4",
                                           "agreement_16"};
  report r;
  report_open(&r, &argc, argv, "agreement");
  size_t runs = option(argc, argv, "runs", 7);
  double ns[KINDS][101];
  if (runs < 3 || runs > 101) give_up("agreement", "--runs is not 3 to 101");
  canary quiet;
  canary_start(&quiet);
  for (size_t i = 0; i < runs; i++) {
    for (int k = 0; k < KINDS; k++)
      ns[k][i] = agreement(sizes[k]);
    canary_spin(&quiet);
  }
  const char *why_not = canary_verdict(&quiet, &r);
  for (int k = 0; k < KINDS; k++) {
    middle m = middle_of(ns[k], runs);
    figure f = {.name = names[k],
                .unit = "ns",
                .value = m.median,
                .low = m.low,
                .high = m.high,
                .spread = "95% of the median",
                .bar_low = 0,
                .bar_high = 50e3 * sizes[k]};
    report_figure(&r, &f, why_not);
  }
  return report_close(&r);
}
