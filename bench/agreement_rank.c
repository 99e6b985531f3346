/* A rank that measures nothing. */
#include "agreement_rank.h"

#include "report.h"

static kmb_status nothing(void *user, const kmb_launch *launch) {
  (void)user;
  (void)launch;
  return KMB_OK;
}

double agreement_of_rank(kmb_comm *comm) {
  kmb_device *device = NULL;
  kmb_result *result = NULL;
  double ns = 0;
  kmb_bench_params p = kmb_bench_params_init();
  p.name = "nothing";
  p.launch = nothing;
  p.cache = KMB_CACHE_WARM;
  p.flags = KMB_BENCH_NO_CONFIRM;
  p.max_samples = 2000;
  p.min_samples = 2000;
  p.max_wall_ns = 0.5e9; /* of sixteen ranks it takes longer */
  p.comm = comm;
  must(kmb_device_open("host", NULL, &device), "opening the host");
  must(kmb_bench(device, &p, &result), "measuring nothing");
  must(kmb_result_f64(result, KMB_VALUE_AGREEMENT, &ns), "the agreement");
  kmb_result_destroy(result);
  kmb_device_close(device);
  return ns;
}
