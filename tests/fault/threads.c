/* Two devices in two threads, each measuring, writing and closing, while a
 * third finds one of them busy and reads a result that all share. Run under the
 * thread sanitizer by the long set. */
#include "engine.h"

#include <pthread.h>

enum { TURNS = 3 };

/* What the threads share: results never change. */
static kmb_result *shared;
static char *shared_json;

typedef struct worker {
  const char *name;
  pthread_t thread;
} worker;

typedef struct sink {
  char *data;
  size_t size;
} sink;

static kmb_status put(void *user, const void *data, size_t size) {
  sink *s = user;
  s->data = realloc(s->data, s->size + size + 1);
  REQUIRE(s->data != NULL);
  memcpy(s->data + s->size, data, size);
  s->size += size;
  s->data[s->size] = '\0';
  return KMB_OK;
}

static kmb_status give(void *user, void *data, size_t size, size_t *got) {
  sink *s = user;
  *got = s->size < size ? s->size : size;
  memcpy(data, s->data, *got);
  s->data += *got;
  s->size -= *got;
  return KMB_OK;
}

static kmb_status copy_launch(void *user, const kmb_launch *l) {
  sim_kernel kernel = {.ns = 1000,
                       .read_count = 1,
                       .write_count = 1,
                       .reads = {{l->args[0], 4096}},
                       .writes = {{l->args[1], 4096}}};
  (void)user;
  memcpy(l->args[1], l->args[0], 4096);
  return l->stream ? sim_enqueue(l->stream, &kernel) : KMB_OK;
}

static kmb_buffers *make_set(kmb_device *device) {
  kmb_buffer_desc d[2] = {kmb_buffer_desc_init(), kmb_buffer_desc_init()};
  kmb_buffers *set = NULL;
  for (int i = 0; i < 2; i++) {
    d[i].name = i ? "y" : "x";
    d[i].role = i ? KMB_OUTPUT : KMB_INPUT;
    d[i].dtype = KMB_F32;
    d[i].bytes = 4096;
  }
  REQUIRE_OK(kmb_buffers_create(device, d, sizeof d[0], 2, NULL, &set));
  return set;
}

static kmb_device *open_small(const char *name) {
  kmb_device_params p = kmb_device_params_init();
  kmb_device *device = NULL;
  p.llc_bytes = 8192;
  p.threads = 1;
  REQUIRE_OK(kmb_device_open(name, &p, &device));
  return device;
}

static kmb_bench_params params_of(kmb_buffers *set) {
  kmb_bench_params p = kmb_bench_params_init();
  p.name = "copy";
  p.launch = copy_launch;
  p.buffers = set;
  p.min_wall_ns = p.warmup_ns = 1;
  p.min_samples = 10;
  p.max_samples = 50;
  return p;
}

static kmb_result *measure(kmb_device *device) {
  kmb_buffers *set = make_set(device);
  kmb_bench_params p = params_of(set);
  kmb_result *result = NULL;
  REQUIRE_OK(kmb_bench(device, &p, &result));
  kmb_buffers_destroy(set);
  return result;
}

/* Reads everything that is shared. */
static void read_shared(void) {
  sink s = {0};
  double time = 0;
  const double *ns = NULL;
  uint64_t count = 0;
  REQUIRE_OK(kmb_result_f64(shared, KMB_VALUE_TIME, &time));
  REQUIRE_OK(kmb_result_samples(shared, &ns, &count));
  REQUIRE(time > 0 && count > 0 && ns[count - 1] >= 0);
  REQUIRE_OK(kmb_result_write_text(shared, put, &s));
  s.size = 0;
  REQUIRE_OK(kmb_result_write_json(shared, put, &s));
  REQUIRE_STR(s.data, shared_json);
  free(s.data);
}

static void *work(void *argument) {
  const worker *w = argument;
  for (int turn = 0; turn < TURNS; turn++) {
    kmb_device *device = open_small(w->name);
    kmb_result *result = measure(device);
    kmb_results *again = NULL;
    sink s = {0};
    REQUIRE_OK(kmb_result_write_json(result, put, &s));
    sink in = s;
    REQUIRE_OK(kmb_results_read_json(give, &in, NULL, &again));
    REQUIRE_EQ(kmb_results_count(again), 1);
    free(s.data);
    kmb_results_destroy(again);
    kmb_device_close(device);
    kmb_result_destroy(result); /* outlives its device */
    read_shared();
    /* The last error is each thread's own. */
    REQUIRE_STATUS(kmb_device_open("", NULL, &device), KMB_ERR_INVALID);
    kmb_status status = KMB_OK;
    REQUIRE_HAS(kmb_last_error(&status, NULL), "kmb_device_open");
    REQUIRE_EQ(status, KMB_ERR_INVALID);
  }
  return NULL;
}

/* --- a device in use ---------------------------------------------------- */

/* The launch of the one that uses the device: the first waits until the other
 * thread has tried. */
typedef struct meeting {
  pthread_barrier_t inside, tried;
  kmb_device *device;
  bool met;
} meeting;

static kmb_status meeting_launch(void *user, const kmb_launch *l) {
  meeting *m = user;
  if (!m->met) {
    m->met = true;
    pthread_barrier_wait(&m->inside);
    pthread_barrier_wait(&m->tried);
  }
  return copy_launch(NULL, l);
}

static void *intrude(void *argument) {
  meeting *m = argument;
  kmb_bench_params p = params_of(NULL);
  const double ns[] = {1, 2, 3};
  kmb_ceiling ceiling = kmb_ceiling_init();
  kmb_session *session = NULL;
  kmb_result *result = NULL;
  pthread_barrier_wait(&m->inside);
  REQUIRE_STATUS(kmb_bench(m->device, &p, &result), KMB_ERR_BUSY);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "in use");
  REQUIRE_STATUS(kmb_session_begin(m->device, &p, &session), KMB_ERR_BUSY);
  REQUIRE_STATUS(kmb_result_from_samples(m->device, &p, ns, 3, 0, &result),
                 KMB_ERR_BUSY);
  REQUIRE_STATUS(
      kmb_device_ceiling(m->device, KMB_CEILING_READ, 0, 0, &ceiling),
      KMB_ERR_BUSY);
  read_shared();
  pthread_barrier_wait(&m->tried);
  return NULL;
}

static void start(worker *w, const char *name) {
  w->name = name;
  REQUIRE(pthread_create(&w->thread, NULL, work, w) == 0);
}

/* The main thread measures on a third device, which the intruder tries. */
static void together(const char *a, const char *b, const char *busy) {
  worker workers[2];
  meeting m = {.device = open_small(busy)};
  pthread_t intruder;
  REQUIRE(pthread_barrier_init(&m.inside, NULL, 2) == 0);
  REQUIRE(pthread_barrier_init(&m.tried, NULL, 2) == 0);
  start(&workers[0], a);
  start(&workers[1], b);
  REQUIRE(pthread_create(&intruder, NULL, intrude, &m) == 0);
  kmb_buffers *set = make_set(m.device);
  kmb_bench_params p = params_of(set);
  kmb_result *result = NULL;
  p.launch = meeting_launch;
  p.launch_user = &m;
  REQUIRE_OK(kmb_bench(m.device, &p, &result));
  kmb_result_destroy(result);
  REQUIRE(pthread_join(intruder, NULL) == 0);
  for (int i = 0; i < 2; i++)
    REQUIRE(pthread_join(workers[i].thread, NULL) == 0);
  /* Free again. */
  kmb_result_destroy(measure(m.device));
  kmb_buffers_destroy(set);
  kmb_device_close(m.device);
  pthread_barrier_destroy(&m.inside);
  pthread_barrier_destroy(&m.tried);
}

static void make_shared(void) {
  kmb_device *device = open_small("host");
  sink s = {0};
  shared = measure(device);
  kmb_device_close(device);
  REQUIRE_OK(kmb_result_write_json(shared, put, &s));
  shared_json = s.data;
}

static void two_hosts(void) {
  together("host", "host", "host");
}

static void two_simulated_devices(void) {
  together(SIM, SIM, SIM);
}

static void one_of_each(void) {
  together("host", SIM, "host");
}

int main(void) {
  make_shared();
  RUN(two_hosts);
  RUN(two_simulated_devices);
  RUN(one_of_each);
  kmb_result_destroy(shared);
  free(shared_json);
  return 0;
}
