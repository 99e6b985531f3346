/* Other threads, on the virtual AMD GPU: what they may do while a stream is
 * captured, and several that measure at once. */
#include <dlfcn.h>
#include <pthread.h>

#include "alone.h"
#include "bed.h"

static kmb_bench_params spinning(spin *s) {
  kmb_bench_params p =
      bed_params(KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = s;
  return p;
}

/* F38: other threads. */

typedef struct disturbed {
  spin s;
  kmbi_hip_event event;
  enum { ALLOCATES, SYNCHRONISES, WATCHES } how;
} disturbed;

static void *disturb(void *user) {
  disturbed *w = user;
  bed *b = w->s.b;
  for (int i = 0; i < 10; i++) {
    void *memory = NULL;
    HIP(b, hipMalloc, &memory, 4096);
    HIP(b, hipFree, memory);
  }
  if (w->how == SYNCHRONISES) (void)bed_synchronize();
  if (w->how == WATCHES) (void)bed_query(w->event);
  return NULL;
}

static kmb_status launch_disturbed(void *user, const kmb_launch *l) {
  disturbed *w = user;
  pthread_t thread;
  kmb_status status = bed_launch_spin(&w->s, l);
  if (w->how == WATCHES && w->s.b->hip.hipEventRecord(w->event, l->stream))
    return KMB_ERR_VENDOR;
  REQUIRE_EQ(pthread_create(&thread, NULL, disturb, w), 0);
  pthread_join(thread, NULL);
  return status;
}

static void f38_other_threads_may_allocate_but_not_synchronise(void) {
  bed b;
  bed_start(&b);
  for (int how = ALLOCATES; how <= SYNCHRONISES; how++) {
    kmb_result *r = NULL;
    int64_t vendor = 0;
    disturbed w = {.s = bed_spin(&b, 5, 1), .how = how};
    kmb_bench_params p =
        bed_params(KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
    p.launch = launch_disturbed;
    p.launch_user = &w;
    if (how == SYNCHRONISES) {
      REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_CAPTURE);
      REQUIRE_HAS(kmb_last_error(NULL, &vendor), "Invalidated");
      REQUIRE(!strstr(kmb_last_error(NULL, NULL), "TORCH"));
      REQUIRE_EQ(vendor, KMBI_HIP_StreamCaptureInvalidated);
      p = spinning(&w.s);
    }
    REQUIRE_OK(kmb_bench(b.device, &p, &r));
    kmb_result_destroy(r);
  }
  bed_end(&b);
}

/* With RCCL loaded the error names what helps against PyTorch's watchdog, and a
 * warning comes before, for the watchdog may end the process. */
static void f38_a_watchdog_of_nccl_is_named_with_its_cure(void) {
  bed b;
  kmb_result *r = NULL;
  REQUIRE(dlopen("librccl.so.1", RTLD_NOW));
  bed_start(&b);
  disturbed w = {.s = bed_spin(&b, 5, 1), .how = WATCHES};
  HIP(&b, hipEventCreateWithFlags, &w.event, 0);
  kmb_bench_params p =
      bed_params(KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
  p.launch = launch_disturbed;
  p.launch_user = &w;
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_CAPTURE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "TORCH_NCCL_BLOCKING_WAIT=1");
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "before torch is imported");
  REQUIRE_HAS(b.log, "TORCH_NCCL_BLOCKING_WAIT=1");
  REQUIRE(!strstr(strstr(b.log, "TORCH_NCCL") + 1, "captures may end"));
  p = spinning(&w.s);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  kmb_result_destroy(r);
  HIP(&b, hipEventDestroy, w.event);
  bed_end(&b);
}

static void with_the_cure_there_is_no_warning(void) {
  bed b;
  kmb_result *r = NULL;
  REQUIRE(dlopen("librccl.so.1", RTLD_NOW));
  REQUIRE_EQ(setenv("TORCH_NCCL_BLOCKING_WAIT", "1", 1), 0);
  bed_start(&b);
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p = spinning(&s);
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_STR(b.log, "");
  kmb_result_destroy(r);
  bed_end(&b);
}

/* Several threads, a device each, one of which traces: each is told that
 * another measures, or measures. */

typedef struct worker {
  bed *b;
  kmb_timer timer;
} worker;

static void *measure(void *user) {
  const worker *w = user;
  kmb_device *device = NULL;
  kmb_device_params params = kmb_device_params_init();
  REQUIRE_OK(kmb_device_open("hip:0:trace", &params, &device));
  for (int i = 0; i < 3; i++) {
    kmb_result *r = NULL;
    spin s = {w->b, bed_kernel(w->b, "test_spin"), 1000, 1};
    kmb_bench_params p = spinning(&s);
    p.timer = w->timer;
    p.launch_mode =
        w->timer == KMB_TIMER_GRAPH ? KMB_LAUNCH_GRAPH : KMB_LAUNCH_PLAIN;
    p.max_samples = 16;
    p.max_wall_ns = 3600e9; /* all threads move the one virtual clock */
    kmb_status status = kmb_bench(device, &p, &r);
    if (status != KMB_ERR_BUSY && status != KMB_ERR_UNAVAILABLE)
      REQUIRE_OK(status);
    kmb_result_destroy(r);
  }
  kmb_device_close(device);
  return NULL;
}

static void threads_that_measure_at_once_disturb_nothing(void) {
  static const kmb_timer timers[] = {KMB_TIMER_TRACE, KMB_TIMER_EVENT,
                                     KMB_TIMER_GRAPH};
  bed b;
  pthread_t threads[3];
  worker workers[3];
  kmb_device *first = NULL;
  sim_reset();
  sim_set()->mall_bytes = 1 << 20;
  REQUIRE_OK(kmb_device_open("hip:0:trace", NULL, &first)); /* before HIP */
  bed_set_up(&b);
  for (int i = 0; i < 3; i++) {
    workers[i] = (worker){&b, timers[i]};
    REQUIRE_EQ(pthread_create(&threads[i], NULL, measure, &workers[i]), 0);
  }
  for (int i = 0; i < 3; i++)
    REQUIRE_EQ(pthread_join(threads[i], NULL), 0);
  kmb_device_close(first);
  bed_tear_down(&b);
}

int main(void) {
  int failed = ALONE(f38_other_threads_may_allocate_but_not_synchronise);
  failed += ALONE(f38_a_watchdog_of_nccl_is_named_with_its_cure);
  failed += ALONE(with_the_cure_there_is_no_warning);
  failed += ALONE(threads_that_measure_at_once_disturb_nothing);
  return failed != 0;
}
