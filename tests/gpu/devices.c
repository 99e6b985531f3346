/* Two GPUs in one process: each has its own context, biases and kernels, one
 * session of CUPTI serves both, and the caller's context stays current. */
#include <pthread.h>

#include "../require.h"
#include "gpu.h"

enum { GPUS = 2, ROUNDS = 5, US = 20 };
static gpu gpus[GPUS];

static const struct way {
  kmb_timer timer;
  kmb_launch_mode mode;
} ways[] = {{KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN},
            {KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH},
            {KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH},
            {KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN}};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* A kernel that spins `us` takes that long and what every kernel takes; the
 * other GPU's would take twice that. What a thread in the way of a calibration
 * leaves uncorrected is a few us. */
static kmb_status time_spin(int at, const struct way *way, double us) {
  gpu *g = &gpus[at];
  kmb_result *r = NULL;
  spin_work w = {g, gpu_kernel(g, "test_spin"), (uint64_t)(us * 1e3 * g->ghz),
                 0, 0};
  kmb_bench_params p = kmb_bench_params_init();
  p.timer = way->timer;
  p.launch_mode = way->mode;
  p.cache = KMB_CACHE_WARM;
  p.flags = KMB_BENCH_REQUIRE_TIMER | KMB_BENCH_NO_CONFIRM;
  p.launch = spin_launch;
  p.launch_user = &w;
  p.stream = g->stream;
  p.max_wall_ns = 200e6;
  kmb_status status = kmb_bench(g->device, &p, &r);
  if (status) return status;
  double took = result_f64(r, KMB_VALUE_TIME, 0) / 1e3;
  printf("  cuda:%d %s on %s: %.3f us for %.0f\n", at,
         result_text(r, KMB_VALUE_TIMER), result_text(r, KMB_VALUE_LAUNCH_MODE),
         took, us);
  REQUIRE(took > us && took < us + 5);
  kmb_result_destroy(r);
  return KMB_OK;
}

static void they_are_different_devices(void) {
  const char *uuid[GPUS] = {NULL, NULL};
  for (int i = 0; i < GPUS; i++)
    REQUIRE_OK(kmb_device_attr_text(gpus[i].device, KMB_DEVICE_UUID, &uuid[i]));
  printf("  %s\n  %s\n", uuid[0], uuid[1]);
  REQUIRE(strcmp(uuid[0], uuid[1]) != 0);
}

static void each_is_timed_in_turn_whatever_context_is_current(void) {
  for (int w = 0; w < WAYS; w++)
    for (int i = 0; i < 2 * GPUS; i++) {
      gpu *others = &gpus[i / GPUS];
      kmbi_cu_context current = NULL;
      CU(others, cuCtxSetCurrent, others->context);
      REQUIRE_OK(time_spin(i % GPUS, &ways[w], US * (1 + i % GPUS)));
      CU(others, cuCtxGetCurrent, &current);
      REQUIRE(current == others->context);
    }
}

typedef struct task {
  int gpu;
  const struct way *way;
  int measured, busy;
} task;

static void *measure(void *user) {
  task *t = user;
  gpu *g = &gpus[t->gpu];
  CU(g, cuCtxSetCurrent, g->context);
  for (int i = 0; i < ROUNDS; i++) {
    kmb_status status = time_spin(t->gpu, t->way, US * (1 + t->gpu));
    REQUIRE(status == KMB_OK || status == KMB_ERR_BUSY);
    if (status) t->busy++;
    if (!status) t->measured++;
  }
  return NULL;
}

/* Two threads that both trace, or neither, are never in each other's way; where
 * one traces and the other must not, one of them is told that it is busy. */
static void two_threads_measure_at_once(void) {
  for (int first = 0; first < WAYS; first++)
    for (int second = 0; second < WAYS; second++) {
      pthread_t threads[GPUS];
      task tasks[GPUS] = {{0, &ways[first], 0, 0}, {1, &ways[second], 0, 0}};
      bool alike = (ways[first].timer == KMB_TIMER_TRACE) ==
                   (ways[second].timer == KMB_TIMER_TRACE);
      for (int i = 0; i < GPUS; i++)
        REQUIRE_EQ(pthread_create(&threads[i], NULL, measure, &tasks[i]), 0);
      for (int i = 0; i < GPUS; i++)
        REQUIRE_EQ(pthread_join(threads[i], NULL), 0);
      printf("  measured %d and %d, busy %d and %d\n", tasks[0].measured,
             tasks[1].measured, tasks[0].busy, tasks[1].busy);
      REQUIRE(tasks[0].measured + tasks[1].measured >= ROUNDS);
      if (alike) REQUIRE_EQ(tasks[0].busy + tasks[1].busy, 0);
    }
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  /* The second first: where there is one GPU only, nothing was opened. */
  gpu_open(&gpus[1], "cuda:1", NULL);
  gpu_open(&gpus[0], "cuda:0", NULL);
  RUN(they_are_different_devices);
  RUN(each_is_timed_in_turn_whatever_context_is_current);
  RUN(two_threads_measure_at_once);
  for (int i = 0; i < GPUS; i++)
    gpu_close(&gpus[i]);
  return 0;
}
