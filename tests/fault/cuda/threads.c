/* Two devices in two threads that trace: the session is one, and neither may
 * take it away from the other. Wherever the first thread holds no lock of the
 * library's, the second begins a traced measurement, and goes on with it only
 * when the first has ended its own. */
#define _GNU_SOURCE /* RTLD_NEXT, dladdr */
#include <dlfcn.h>
#include <pthread.h>

#include "bed.h"

/* The process's locks: these definitions come before the C library's. */

static int (*real_lock)(pthread_mutex_t *);
static int (*real_unlock)(pthread_mutex_t *);
static _Thread_local int depth;
static _Thread_local uint64_t countdown; /* 0: not armed */
static void begin_other(void);

static void find_real(void) {
  *(void **)&real_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
  *(void **)&real_unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
}

/* Of the library or of the virtual GPU. */
static int is_in(const pthread_mutex_t *mutex, const char *name) {
  Dl_info info;
  return dladdr(mutex, &info) && strstr(info.dli_fname, name);
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  if (!real_lock) find_real();
  depth += is_in(mutex, "libkmb");
  return real_lock(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  if (!real_unlock) find_real();
  int result = real_unlock(mutex);
  if (!is_in(mutex, "libkmb")) return result;
  depth--;
  if (depth || !countdown || !is_in(mutex, "libkmb.so")) return result;
  if (--countdown == 0) begin_other();
  return result;
}

/* Where the second thread stands. */
enum { NOT_BEGUN, BEGUN, GOES_ON };
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;
static pthread_t other;
static spin kernel;

static void set_turn(int to) {
  pthread_mutex_lock(&turn_lock);
  turn = to;
  pthread_cond_broadcast(&turned);
  pthread_mutex_unlock(&turn_lock);
}

static void wait_for_turn(int at_least) {
  pthread_mutex_lock(&turn_lock);
  while (turn < at_least)
    pthread_cond_wait(&turned, &turn_lock);
  pthread_mutex_unlock(&turn_lock);
}

static kmb_status wait_once(void *user, const kmb_launch *launch) {
  if (turn == NOT_BEGUN) {
    set_turn(BEGUN);
    wait_for_turn(GOES_ON);
  }
  return bed_launch_spin(user, launch);
}

static void trace(kmb_launch_fn launch) {
  kmb_device *device = NULL;
  kmb_result *r = NULL;
  kmb_bench_params p =
      bed_params(KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.launch = launch;
  p.launch_user = &kernel;
  p.max_samples = 8;
  p.flags |= KMB_BENCH_NO_WARMUP;
  REQUIRE_OK(kmb_device_open("cuda:0", NULL, &device));
  REQUIRE_OK(kmb_bench(device, &p, &r));
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_SAMPLES), 8);
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_SAMPLES_INVALID), 0);
  kmb_result_destroy(r);
  kmb_device_close(device);
}

static void *trace_in_turn(void *unused) {
  (void)unused;
  trace(wait_once);
  return NULL;
}

static void begin_other(void) {
  REQUIRE_EQ(pthread_create(&other, NULL, trace_in_turn, NULL), 0);
  wait_for_turn(BEGUN);
}

static void the_session_stays_while_another_thread_traces(void) {
  bed b;
  uint64_t k = 0;
  sim_reset();
  bed_set_up(&b);
  kernel = bed_spin(&b, 1, 1);
  trace(bed_launch_spin); /* what is tried once a process is known */
  for (bool reached = true; reached; k++) {
    turn = NOT_BEGUN;
    countdown = k + 1;
    trace(bed_launch_spin);
    reached = countdown == 0;
    countdown = 0;
    if (!reached) break;
    set_turn(GOES_ON);
    REQUIRE_EQ(pthread_join(other, NULL), 0);
  }
  REQUIRE(k > 20);
  bed_tear_down(&b);
}

int main(void) {
  RUN(the_session_stays_while_another_thread_traces);
  return 0;
}
