/* Devices over the host backend: hooks that misbehave, calls out of order. */
#include "require.h"

#include <kmb/kmb.h>

#include <pthread.h>

typedef struct memory {
  char block[8192];
  uint64_t offset, frees; /* offset: of what is given from an aligned place */
  kmb_status status;
} memory;

static kmb_status give(void *user, uint64_t size, uint64_t align,
                       void **pointer) {
  memory *m = user;
  REQUIRE(size + align + m->offset <= sizeof m->block);
  uintptr_t at = ((uintptr_t)m->block + align - 1) / align * align;
  if (m->offset < sizeof m->block / 2) *pointer = (void *)(at + m->offset);
  return m->status;
}

static kmb_status give_nothing(void *user, uint64_t size, uint64_t align,
                               void **pointer) {
  (void)user;
  (void)size;
  (void)align;
  (void)pointer;
  return KMB_OK;
}

static void take_back(void *user, void *pointer, uint64_t size) {
  memory *m = user;
  (void)size;
  REQUIRE(pointer != NULL);
  m->frees++;
}

static int complaints;

static void count_errors(void *user, kmb_log_level level, const char *message) {
  (void)user;
  (void)message;
  complaints += level == KMB_LOG_ERROR;
}

static kmb_device *open_with(const kmb_hooks *hooks) {
  kmb_device_params params = kmb_device_params_init();
  kmb_device *device = NULL;
  params.hooks = hooks;
  REQUIRE_OK(kmb_device_open("host", &params, &device));
  return device;
}

static kmb_buffers *small_set(kmb_device *device) {
  kmb_buffer_desc d = kmb_buffer_desc_init();
  kmb_buffers *set = NULL;
  d.name = "x";
  d.role = KMB_INPUT;
  d.dtype = KMB_F32;
  d.bytes = 64;
  REQUIRE_OK(kmb_buffers_create(device, &d, sizeof d, 1, NULL, &set));
  return set;
}

static void device_memory_that_the_hook_does_not_give(void) {
  static memory m;
  kmb_hooks hooks = kmb_hooks_init();
  hooks.device_alloc = give_nothing;
  hooks.device_free = take_back;
  hooks.device_alloc_user = &m;
  kmb_device *device = open_with(&hooks);
  kmb_buffers *set = small_set(device);
  REQUIRE_STATUS(kmb_buffers_prepare(set, 1), KMB_ERR_NOMEM);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "device_alloc hook gave no");
  kmb_buffers_destroy(set);
  kmb_device_close(device);
  REQUIRE_EQ(m.frees, 0);
}

static void device_memory_must_be_aligned(void) {
  static memory m = {.offset = 8};
  kmb_hooks hooks = kmb_hooks_init();
  hooks.device_alloc = give;
  hooks.device_free = take_back;
  hooks.device_alloc_user = &m;
  kmb_device *device = open_with(&hooks);
  kmb_buffers *set = small_set(device);
  REQUIRE_STATUS(kmb_buffers_prepare(set, 1), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "not aligned to");
  REQUIRE_EQ(m.frees, 1); /* what was given is given back */
  m.offset = 0;
  REQUIRE_OK(kmb_buffers_prepare(set, 1));
  kmb_buffers_destroy(set);
  REQUIRE_EQ(m.frees, 2);
  kmb_device_close(device);
}

/* The set still holds the device: a second close must not free it. */
static void closing_twice_frees_once(void) {
  kmb_hooks hooks = kmb_hooks_init();
  hooks.log = count_errors;
  kmb_device *device = open_with(&hooks);
  kmb_buffers *set = small_set(device);
  complaints = 0;
  kmb_device_close(device);
  REQUIRE_EQ(complaints, 1);
  kmb_device_close(device);
  REQUIRE_EQ(complaints, 2);
  REQUIRE_STATUS(kmb_buffers_prepare(set, 1), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "was closed");
  kmb_buffers_destroy(set);
}

static void slots_are_not_prepared_while_the_device_is_busy(void) {
  kmb_device *device = open_with(NULL);
  kmb_buffers *set = small_set(device);
  kmb_bench_params params = kmb_bench_params_init();
  kmb_session *session = NULL;
  REQUIRE_OK(kmb_session_begin(device, &params, &session));
  REQUIRE_STATUS(kmb_buffers_prepare(set, 1), KMB_ERR_BUSY);
  kmb_session_abandon(session);
  REQUIRE_OK(kmb_buffers_prepare(set, 1));
  kmb_buffers_destroy(set);
  kmb_device_close(device);
}

/* Opens another device, which fails, and returns that failure. */
static kmb_status open_another(void *user, const kmb_launch *launch) {
  kmb_device *device = NULL;
  (void)user;
  (void)launch;
  return kmb_device_open("host:nothing", NULL, &device);
}

/* In a thread of its own, since how many failures it had before matters. */
static void *fail_inside(void *unused) {
  (void)unused;
  kmb_device *device = open_with(NULL);
  kmb_bench_params params = kmb_bench_params_init();
  kmb_result *result = NULL;
  params.launch = open_another;
  REQUIRE_STATUS(kmb_bench(NULL, &params, &result), KMB_ERR_INVALID);
  REQUIRE(kmb_bench(device, &params, &result) < 0);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "host");
  REQUIRE(!strstr(kmb_last_error(NULL, NULL), "a callback returned"));
  kmb_device_close(device);
  return NULL;
}

static void a_failing_open_inside_a_callback_keeps_its_words(void) {
  pthread_t thread;
  REQUIRE_EQ(pthread_create(&thread, NULL, fail_inside, NULL), 0);
  REQUIRE_EQ(pthread_join(thread, NULL), 0);
}

int main(void) {
  RUN(device_memory_that_the_hook_does_not_give);
  RUN(device_memory_must_be_aligned);
  RUN(closing_twice_frees_once);
  RUN(slots_are_not_prepared_while_the_device_is_busy);
  RUN(a_failing_open_inside_a_callback_keeps_its_words);
  return 0;
}
