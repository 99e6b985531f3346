/* A forked child: each function that takes a device, buffers or a session says
 * FORKED at once and calls no backend; freeing frees; and the child may open,
 * measure and close anew. */
#include "engine.h"

#include "device.h"

#include <sys/wait.h>
#include <unistd.h>

/* What the parent had when it forked. */
typedef struct inherited {
  const char *name;
  kmb_device *device, *occupied, *other; /* the latter two in a session */
  kmb_buffers *set;
  kmb_session *session, *timing; /* `timing`: in a sample */
} inherited;

static uint64_t launches;

static kmb_status count_launch(void *user, const kmb_launch *l) {
  sim_kernel kernel = {.ns = 1000};
  (void)user;
  launches++;
  return l->stream ? sim_enqueue(l->stream, &kernel) : KMB_OK;
}

static kmb_bench_params params_of(void) {
  kmb_bench_params p = kmb_bench_params_init();
  p.launch = count_launch;
  p.cache = KMB_CACHE_WARM;
  p.min_wall_ns = p.warmup_ns = 1;
  p.min_samples = p.max_samples = 10;
  return p;
}

/* --- the table of calls ------------------------------------------------- */

static kmb_status call_attr_u64(inherited *i) {
  uint64_t value = 0;
  return kmb_device_attr_u64(i->device, KMB_DEVICE_LLC_BYTES, &value);
}

static kmb_status call_budget(inherited *i) {
  uint64_t value = 0;
  return kmb_device_attr_u64(i->device, KMB_DEVICE_MEMORY_BUDGET, &value);
}

static kmb_status call_attr_f64(inherited *i) {
  double value = 0;
  return kmb_device_attr_f64(i->device, KMB_DEVICE_CLOCK_TICK_NS, &value);
}

static kmb_status call_attr_text(inherited *i) {
  const char *value = NULL;
  return kmb_device_attr_text(i->device, KMB_DEVICE_NAME, &value);
}

static kmb_status call_ceiling(inherited *i) {
  kmb_ceiling ceiling = kmb_ceiling_init();
  return kmb_device_ceiling(i->device, KMB_CEILING_READ, 0, 0, &ceiling);
}

static kmb_buffer_desc desc_of(void) {
  kmb_buffer_desc d = kmb_buffer_desc_init();
  d.name = "x";
  d.role = KMB_INPUT;
  d.dtype = KMB_F32;
  d.bytes = 4096;
  return d;
}

static kmb_status call_buffers_create(inherited *i) {
  const kmb_buffer_desc d = desc_of();
  kmb_buffers *set = NULL;
  return kmb_buffers_create(i->device, &d, sizeof d, 1, NULL, &set);
}

static kmb_status call_buffers_prepare(inherited *i) {
  return kmb_buffers_prepare(i->set, 3);
}

static kmb_status call_buffers_pointer(inherited *i) {
  void *pointer = NULL;
  return kmb_buffers_pointer(i->set, 0, 0, &pointer);
}

static kmb_status call_buffers_info(inherited *i) {
  kmb_buffers_info info = kmb_buffers_info_init();
  return kmb_buffers_get_info(i->set, &info);
}

static kmb_status call_bench(inherited *i) {
  kmb_bench_params p = params_of();
  kmb_result *result = NULL;
  p.buffers = i->set;
  return kmb_bench(i->device, &p, &result);
}

static kmb_status call_from_samples(inherited *i) {
  const kmb_bench_params p = params_of();
  const double ns[] = {1, 2, 3};
  kmb_result *result = NULL;
  return kmb_result_from_samples(i->device, &p, ns, 3, 0, &result);
}

static kmb_status call_session_begin(inherited *i) {
  const kmb_bench_params p = params_of();
  kmb_session *session = NULL;
  return kmb_session_begin(i->device, &p, &session);
}

/* In use in the parent: the child hears of the fork, not of that. */
static kmb_status call_occupied(inherited *i) {
  const kmb_bench_params p = params_of();
  kmb_session *session = NULL;
  return kmb_session_begin(i->occupied, &p, &session);
}

static kmb_status call_sample_begin(inherited *i) {
  return kmb_session_sample_begin(i->session);
}

static kmb_status call_sample_end(inherited *i) {
  return kmb_session_sample_end(i->timing, 1);
}

/* Frees the session in any case: the last one. */
static kmb_status call_session_end(inherited *i) {
  kmb_result *result = NULL;
  return kmb_session_end(i->session, &result);
}

typedef struct call {
  const char *name;
  kmb_status (*make)(inherited *i);
} call;

static const call calls[] = {
    {"kmb_device_attr_u64", call_attr_u64},
    {"kmb_device_attr_u64 of the budget", call_budget},
    {"kmb_device_attr_f64", call_attr_f64},
    {"kmb_device_attr_text", call_attr_text},
    {"kmb_device_ceiling", call_ceiling},
    {"kmb_buffers_create", call_buffers_create},
    {"kmb_buffers_prepare", call_buffers_prepare},
    {"kmb_buffers_pointer", call_buffers_pointer},
    {"kmb_buffers_get_info", call_buffers_info},
    {"kmb_bench", call_bench},
    {"kmb_result_from_samples", call_from_samples},
    {"kmb_session_begin", call_session_begin},
    {"kmb_session_begin on a device in use", call_occupied},
    {"kmb_session_sample_begin", call_sample_begin},
    {"kmb_session_sample_end", call_sample_end},
    {"kmb_session_end", call_session_end},
};

/* A backend that must not be called: every function that the library could
 * reach before it looks at the process ends the test. */
static double forbidden_now(void *self) {
  (void)self;
  fprintf(stderr, "the backend's clock was read in a forked child\n");
  _exit(3);
}

/* alarm() ends a child that waits. */
static void each_call_says_forked(inherited *i) {
  kmb_backend_ops guarded = *i->device->ops;
  const kmb_backend_ops *real = i->device->ops;
  guarded.now = forbidden_now;
  i->device->ops = i->occupied->ops = i->other->ops = &guarded;
  for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
    alarm(1);
    kmb_status status = calls[c].make(i);
    alarm(0);
    if (status == KMB_ERR_FORKED) continue;
    fprintf(stderr, "%s on %s gave %s in a forked child\n", calls[c].name,
            i->name, kmb_status_name(status));
    _exit(2);
  }
  REQUIRE_EQ(launches, 0);
  i->device->ops = i->occupied->ops = i->other->ops = real;
}

static void measure(kmb_device *device, kmb_buffers *set) {
  kmb_bench_params p = params_of();
  kmb_result *result = NULL;
  p.buffers = set;
  REQUIRE_OK(kmb_bench(device, &p, &result));
  REQUIRE(launches > 0);
  kmb_result_destroy(result);
}

static void open_anew(const char *name) {
  const kmb_buffer_desc d = desc_of();
  kmb_device *device = NULL;
  kmb_buffers *set = NULL;
  REQUIRE_OK(kmb_device_open(name, NULL, &device));
  REQUIRE_OK(kmb_buffers_create(device, &d, sizeof d, 1, NULL, &set));
  measure(device, set);
  kmb_buffers_destroy(set);
  kmb_device_close(device);
}

static void in_child(inherited *i) {
  each_call_says_forked(i);
  open_anew(i->name);
  /* Freeing frees, and waits for nothing. */
  alarm(1);
  kmb_session_abandon(i->timing);
  kmb_buffers_destroy(i->set);
  kmb_device_close(i->device);
  alarm(0);
}

static void wait_for(pid_t child) {
  int status = 0;
  REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status))
    fprintf(stderr, "the child was ended by signal %d\n", WTERMSIG(status));
  REQUIRE(WIFEXITED(status));
  REQUIRE_EQ(WEXITSTATUS(status), 0);
}

static void fork_with(const char *name) {
  const kmb_buffer_desc d = desc_of();
  const kmb_bench_params p = params_of();
  inherited i = {.name = name};
  launches = 0;
  REQUIRE_OK(kmb_device_open(name, NULL, &i.device));
  REQUIRE_OK(kmb_device_open(name, NULL, &i.occupied));
  REQUIRE_OK(kmb_device_open(name, NULL, &i.other));
  REQUIRE_OK(kmb_buffers_create(i.device, &d, sizeof d, 1, NULL, &i.set));
  REQUIRE_OK(kmb_buffers_prepare(i.set, 2));
  REQUIRE_OK(kmb_session_begin(i.occupied, &p, &i.session));
  REQUIRE_OK(kmb_session_begin(i.other, &p, &i.timing));
  REQUIRE_OK(kmb_session_sample_begin(i.timing));
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    in_child(&i);
    fflush(NULL);
    _exit(0);
  }
  wait_for(child);
  /* The parent's go on. */
  REQUIRE_OK(kmb_session_sample_end(i.timing, 1));
  kmb_session_abandon(i.timing);
  kmb_session_abandon(i.session);
  measure(i.device, i.set);
  kmb_buffers_destroy(i.set);
  kmb_device_close(i.device);
  kmb_device_close(i.occupied);
  kmb_device_close(i.other);
}

static void the_host(void) {
  fork_with("host");
}

static void the_simulated_device(void) {
  fork_with(SIM);
}

/* A child that opens its own may fork in turn. */
static void a_grandchild_too(void) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    fork_with("host");
    fork_with(SIM);
    fflush(NULL);
    _exit(0);
  }
  wait_for(child);
}

int main(void) {
  RUN(the_host);
  RUN(the_simulated_device);
  RUN(a_grandchild_too);
  return 0;
}
