/* What ends a device's use: kernels that never end or write nowhere, no memory;
 * and what is not there at all. */
#include "alone.h"
#include "bed.h"
#include "sim/costs.h"

static void start(bed *b, const char *name) {
  sim_reset();
  sim_set()->l2_bytes = 256 << 10;
  bed_set_up(b);
  REQUIRE_OK(bed_open(b, name));
}

static uint64_t driver_calls(void) {
  uint64_t calls = 0;
  for (sim_function f = 0; f < SIM_FUNCTIONS; f++)
    calls += sim_calls(f);
  return calls;
}

typedef struct bad {
  spin s;
  kmbi_cu_function kernel;
  kmbi_cu_pointer word;
  int calls, bad_at;
} bad;

static kmb_status launch_bad(void *user, const kmb_launch *l) {
  bad *w = user;
  void *arguments[] = {&w->word};
  if (++w->calls < w->bad_at) return bed_launch_spin(&w->s, l);
  return w->s.b->cu.cuLaunchKernel(w->kernel, 1, 1, 1, 1, 1, 1, 0, l->stream,
                                   arguments, NULL)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

/* Lost once, nothing waits again and nothing more is asked of the driver. */
static void lose(const char *kernel, kmb_timer timer, int bad_at,
                 int64_t code) {
  bed b;
  kmb_result *r = NULL;
  int64_t vendor = 0;
  start(&b, "cuda:0:deadline=0.01");
  bad w = {bed_spin(&b, 5, 1), bed_kernel(&b, kernel), 16, 0, bad_at};
  if (!code) {
    CU(&b, cuMemAlloc, &w.word, 4);
    memset((void *)(uintptr_t)w.word, 0, 4);
  }
  kmb_bench_params p = bed_params(timer, 0, KMB_CACHE_WARM);
  p.launch = launch_bad;
  p.launch_user = &w;
  uint64_t before = sim_now();
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_LOST);
  REQUIRE(sim_now() - before < 1000000000);
  REQUIRE_HAS(kmb_last_error(NULL, &vendor), "lost");
  REQUIRE_EQ(vendor, code);
  uint64_t calls = driver_calls();
  before = sim_now();
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_LOST);
  bed_close(&b);
  REQUIRE_EQ(driver_calls(), calls);
  REQUIRE(sim_now() - before < 1000000);
}

/* What is lost stays so: a process each. */
static struct {
  const char *kernel;
  int64_t code;
  kmb_timer timer;
  int bad_at;
} now;

static void lose_now(void) {
  lose(now.kernel, now.timer, now.bad_at, now.code);
}

static void lose_with_each_timer(const char *kernel, int64_t code) {
  int failed = 0;
  for (kmb_timer t = KMB_TIMER_TRACE; t <= KMB_TIMER_HOST; t++) {
    char name[64];
    now.kernel = kernel;
    now.code = code;
    now.timer = t;
    for (now.bad_at = 1; now.bad_at <= 40; now.bad_at += 39) {
      /* A replay has captured its launches by then. */
      if (t == KMB_TIMER_GRAPH && now.bad_at > 1) continue;
      snprintf(name, sizeof name, "  %s, timer %d, launch %d", kernel, (int)t,
               now.bad_at);
      failed += alone(lose_now, name);
    }
  }
  REQUIRE_EQ(failed, 0);
}

static void a_kernel_that_never_ends_is_lost(void) {
  lose_with_each_timer("test_hang", 0);
}

static void a_kernel_that_writes_nowhere_is_lost(void) {
  lose_with_each_timer("test_fault", KMBI_CU_ILLEGAL_ADDRESS);
}

static void no_memory_for_the_sweep_is_nomem(void) {
  bed b;
  kmb_result *r = NULL;
  start(&b, "cuda:0");
  sim_set()->memory_bytes = 256 << 10; /* the sweep wants 512 KiB */
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p = bed_params(0, 0, KMB_CACHE_COLD);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_NOMEM);
  p.cache = KMB_CACHE_WARM;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  kmb_result_destroy(r);
  bed_end(&b);
}

static void without_a_device_it_is_unavailable(void) {
  bed b;
  sim_reset();
  memset(&b, 0, sizeof b);
  sim_set()->devices = 0;
  REQUIRE_STATUS(bed_open(&b, "cuda:0"), KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "NO_DEVICE");
  REQUIRE_EQ(b.in_use, 0);
  REQUIRE_EQ(sim_held(), 0);
  /* There is one later, but no second one. */
  sim_set()->devices = 4;
  REQUIRE_STATUS(bed_open(&b, "cuda:1"), KMB_ERR_UNAVAILABLE);
  REQUIRE_OK(bed_open(&b, "cuda:0"));
  bed_close(&b);
  REQUIRE_EQ(sim_held(), 0);
}

static void an_old_driver_is_said_to_be_old(void) {
  bed b;
  sim_reset();
  memset(&b, 0, sizeof b);
  sim_set()->driver_version = 10020;
  REQUIRE_STATUS(bed_open(&b, "cuda:0"), KMB_ERR_UNSUPPORTED);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "10.2");
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "too old");
  REQUIRE_EQ(b.in_use, 0);
}

/* Each optional function of the driver can be absent. */
static void lacking(const char *name, kmb_timer timer, kmb_launch_mode mode,
                    kmb_status want) {
  bed b;
  kmb_result *r = NULL;
  sim_reset();
  sim_set()->l2_bytes = 256 << 10;
  sim_set()->missing = name;
  bed_set_up(&b);
  REQUIRE_OK(bed_open(&b, "cuda:0"));
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p = bed_params(timer, mode, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), want);
  kmb_result_destroy(r);
  bed_end(&b);
}

static void without_wait_values_events_have_no_gate(void) {
  lacking("cuStreamWaitValue32", KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN, KMB_OK);
}

static void without_graphs_launches_are_plain(void) {
  lacking("cuGraphLaunch", 0, 0, KMB_OK);
}

static void without_graphs_a_graph_cannot_be_required(void) {
  lacking("cuGraphLaunch", KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH,
          KMB_ERR_UNAVAILABLE);
}

/* TRACE takes single iterations: the batch for GRAPH does not stand against
 * that. */
static void without_graphs_a_callers_batch_is_dropped(void) {
  bed b;
  kmb_result *r = NULL;
  sim_reset();
  sim_set()->missing = "cuGraphLaunch";
  bed_set_up(&b);
  REQUIRE_OK(bed_open(&b, "cuda:0"));
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p = bed_params(0, 0, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  p.timer = KMB_TIMER_GRAPH;
  p.batch = 4;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_STR(bed_text(r, KMB_VALUE_TIMER), "TRACE");
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_BATCH), 1);
  REQUIRE_HAS(bed_finding(r, KMB_FINDING_FALLBACK_TIMER),
              "the batch of 4 is dropped");
  kmb_result_destroy(r);
  bed_end(&b);
}

static void without_an_upload_graphs_serve(void) {
  lacking("cuGraphUpload", KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, KMB_OK);
}

int main(void) {
  int failed = ALONE(a_kernel_that_never_ends_is_lost);
  failed += ALONE(a_kernel_that_writes_nowhere_is_lost);
  failed += ALONE(no_memory_for_the_sweep_is_nomem);
  failed += ALONE(without_a_device_it_is_unavailable);
  failed += ALONE(an_old_driver_is_said_to_be_old);
  failed += ALONE(without_wait_values_events_have_no_gate);
  failed += ALONE(without_graphs_launches_are_plain);
  failed += ALONE(without_graphs_a_graph_cannot_be_required);
  failed += ALONE(without_graphs_a_callers_batch_is_dropped);
  failed += ALONE(without_an_upload_graphs_serve);
  return failed != 0;
}
