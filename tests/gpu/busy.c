/* Somebody else holds CUPTI: BUSY where TRACE is required, else another timer,
 * and it says so. */
#include <dlfcn.h>

#include "../require.h"
#include "gpu.h"

#include "../../backends/cuda/cupti_api.h"

static void others(void *user, kmbi_cupti_enum domain, uint32_t id,
                   const void *data) {
  (void)user;
  (void)domain;
  (void)id;
  (void)data;
}

int main(void) {
  gpu g;
  kmbi_cupti_api cupti = {0};
  kmbi_cupti_subscriber subscriber = NULL;
  kmb_result *r = NULL;
  gpu_open(&g, "cuda:0", NULL);
  spin_work w = {&g, gpu_kernel(&g, "test_spin"), (uint64_t)(5e3 * g.ghz), 0,
                 0};
  kmb_bench_params p = kmb_bench_params_init();
  p.launch = spin_launch;
  p.launch_user = &w;
  /* The first measurement also loads CUPTI, which is then found loaded. */
  REQUIRE_OK(kmb_bench(g.device, &p, &r));
  if (gpu_cupti_is_busy()) {
    REQUIRE_STR(result_text(r, KMB_VALUE_TIMER), "EVENT");
    print_findings(r);
    kmb_result_destroy(r);
    gpu_close(&g);
    puts("ok another_process_wide_subscriber_is_passed_over");
    return 0;
  }
  if (strcmp(result_text(r, KMB_VALUE_TIMER), "TRACE") != 0) {
    print_findings(r);
    puts("SKIPPED: CUPTI is not to be had here");
    return 77;
  }
  kmb_result_destroy(r);
  void *library = dlopen("libcupti.so.13", RTLD_NOLOAD | RTLD_NOW);
  if (!library) library = dlopen("libcupti.so.12", RTLD_NOLOAD | RTLD_NOW);
  REQUIRE(library);
  *(void **)(&cupti.cuptiSubscribe) = dlsym(library, "cuptiSubscribe");
  *(void **)(&cupti.cuptiUnsubscribe) = dlsym(library, "cuptiUnsubscribe");
  REQUIRE_EQ(cupti.cuptiSubscribe(&subscriber, others, NULL), 0);
  p.timer = KMB_TIMER_TRACE;
  p.flags = KMB_BENCH_REQUIRE_TIMER;
  REQUIRE_STATUS(kmb_bench(g.device, &p, &r), KMB_ERR_BUSY);
  int64_t vendor = 0;
  printf("  %s\n", kmb_last_error(NULL, &vendor));
  REQUIRE_EQ(vendor, 39);
  p.flags = 0;
  p.timer = KMB_TIMER_AUTO;
  REQUIRE_OK(kmb_bench(g.device, &p, &r));
  REQUIRE_STR(result_text(r, KMB_VALUE_TIMER), "EVENT");
  print_findings(r);
  kmb_result_destroy(r);
  p.cache = KMB_CACHE_WARM;
  REQUIRE_OK(kmb_bench(g.device, &p, &r));
  REQUIRE_STR(result_text(r, KMB_VALUE_TIMER), "GRAPH");
  kmb_result_destroy(r);
  REQUIRE_EQ(cupti.cuptiUnsubscribe(subscriber), 0);
  /* Free again: TRACE works. */
  REQUIRE_OK(kmb_bench(g.device, &p, &r));
  REQUIRE_STR(result_text(r, KMB_VALUE_TIMER), "TRACE");
  kmb_result_destroy(r);
  gpu_close(&g);
  puts("ok a_second_subscriber_is_busy_then_free");
  return 0;
}
