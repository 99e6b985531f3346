/* In processes of their own: a kernel that never ends, and one that writes
 * nowhere. usage: lost hang|fault TIMER */
#include <unistd.h>

#include "../require.h"
#include "gpu.h"

typedef struct lost_work {
  gpu *g;
  kmbi_cu_function kernel, good;
  kmbi_cu_pointer word;
  int calls, bad_at;
} lost_work;

static kmb_status launch(void *user, const kmb_launch *l) {
  lost_work *w = user;
  uint64_t cycles = 1000;
  kmbi_cu_pointer none = 0;
  void *bad[] = {&w->word};
  void *good[] = {&cycles, &none};
  bool now = ++w->calls >= w->bad_at;
  return w->g->cu.cuLaunchKernel(now ? w->kernel : w->good, 1, 1, 1, 1, 1, 1, 0,
                                 l->stream, now ? bad : good, NULL)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

int main(int argc, char **argv) {
  gpu g;
  bool hang = argc > 1 && strcmp(argv[1], "hang") == 0;
  kmb_result *r = NULL;
  gpu_open(&g, "cuda:0:deadline=2", NULL);
  lost_work w = {.g = &g,
                 .kernel = gpu_kernel(&g, hang ? "test_hang" : "test_fault"),
                 .good = gpu_kernel(&g, "test_spin"),
                 .bad_at = 100,
                 .word = 16};
  if (hang) {
    CU(&g, cuMemAlloc, &w.word, 4);
    CU(&g, cuMemsetD32Async, w.word, 0, 1, g.stream);
  }
  kmb_bench_params p = kmb_bench_params_init();
  p.launch = launch;
  p.launch_user = &w;
  p.cache = KMB_CACHE_WARM;
  p.timer = argc > 2 ? (int)strtol(argv[2], NULL, 10) : KMB_TIMER_TRACE;
  if (p.timer == KMB_TIMER_GRAPH) w.bad_at = 1;
  p.flags = KMB_BENCH_REQUIRE_TIMER;
  double start = gpu_now();
  REQUIRE_STATUS(kmb_bench(g.device, &p, &r), KMB_ERR_LOST);
  double seconds = (gpu_now() - start) / 1e9;
  int64_t vendor = 0;
  const char *text = kmb_last_error(NULL, &vendor);
  printf("  after %.2f s: [%lld] %s\n", seconds, (long long)vendor, text);
  REQUIRE(seconds < 20);
  if (!hang) REQUIRE_EQ(vendor, 700);
  start = gpu_now();
  REQUIRE_STATUS(kmb_bench(g.device, &p, &r), KMB_ERR_LOST);
  kmb_device_close(g.device);
  REQUIRE((gpu_now() - start) / 1e9 < 1);
  printf("ok %s_is_lost_and_closes_at_once\n", hang ? "hang" : "fault");
  fflush(stdout);
  if (hang) {
    uint32_t one = 1; /* lets the kernel end, for the machine's sake */
    kmbi_cu_stream other = NULL;
    CU(&g, cuStreamCreate, &other, KMBI_CU_STREAM_NON_BLOCKING);
    (void)g.cu.cuMemcpyHtoDAsync(w.word, &one, 4, other);
  }
  _exit(0);
}
