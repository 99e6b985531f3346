/* Samples that the caller takes, and what outlives a device. */
#include "heap.h"

#include <kmb/kmb.h>

#include <stdbool.h>

static kmb_device *device;

static const char *text(const kmb_result *r, kmb_value value) {
  const char *t = "";
  REQUIRE_OK(kmb_result_text(r, value, &t));
  return t;
}

static uint64_t count_of(const kmb_result *r, kmb_value value) {
  uint64_t n = 0;
  REQUIRE_OK(kmb_result_u64(r, value, &n));
  return n;
}

static bool found(const kmb_result *r, kmb_finding_code code) {
  for (uint64_t i = 0; i < kmb_result_finding_count(r); i++) {
    kmb_finding finding = kmb_finding_init();
    REQUIRE_OK(kmb_result_finding(r, i, &finding));
    if (finding.code == code) return true;
  }
  return false;
}

static kmb_device *open_with(kmb_hooks *hooks, uint64_t llc) {
  kmb_device_params params = kmb_device_params_init();
  kmb_device *opened = NULL;
  params.hooks = hooks;
  params.llc_bytes = llc;
  REQUIRE_OK(kmb_device_open("host", &params, &opened));
  return opened;
}

static kmb_buffers *make_buffers(kmb_device *on) {
  kmb_buffer_desc d = kmb_buffer_desc_init();
  d.name = "x";
  d.role = KMB_INPUT;
  d.dtype = KMB_F32;
  d.bytes = 4096;
  kmb_buffers *set = NULL;
  REQUIRE_OK(kmb_buffers_create(on, &d, sizeof d, 1, NULL, &set));
  return set;
}

static void samples_from_elsewhere(void) {
  kmb_bench_params b = kmb_bench_params_init();
  b.name = "given";
  double ns[20];
  for (int i = 0; i < 20; i++)
    ns[i] = 100 + (i * 7) % 20;
  kmb_result *r = NULL;
  REQUIRE_OK(kmb_result_from_samples(device, &b, ns, 20, 0, &r));
  double time = 0;
  REQUIRE_OK(kmb_result_f64(r, KMB_VALUE_TIME, &time));
  REQUIRE_NEAR(time, 109.5, 1e-12);
  REQUIRE_STR(text(r, KMB_VALUE_STOP_REASON), "GIVEN");
  REQUIRE_STATUS(kmb_result_f64(r, KMB_VALUE_BIAS, &time), KMB_ERR_UNAVAILABLE);
  kmb_result_destroy(r);
  ns[3] = -1;
  REQUIRE_STATUS(kmb_result_from_samples(device, &b, ns, 20, 0, &r),
                 KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "sample 3");
  REQUIRE_STATUS(kmb_result_from_samples(device, &b, ns, 0, 0, &r),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_result_from_samples(device, &b, NULL, 3, 0, &r),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_result_from_samples(device, &b, ns, 3, -1, &r),
                 KMB_ERR_INVALID);
}

static void zeros_are_no_measurement(void) {
  kmb_bench_params b = kmb_bench_params_init();
  double ns[20] = {0};
  kmb_result *r = NULL;
  REQUIRE_OK(kmb_result_from_samples(device, &b, ns, 20, 0, &r));
  REQUIRE(found(r, KMB_FINDING_RESOLUTION));
  kmb_result_destroy(r);
}

static void count_errors(void *user, kmb_log_level level, const char *text) {
  if (level == KMB_LOG_ERROR && strstr(text, "kmb_device_close"))
    ++*(int *)user;
}

/* Closed too early, a device stays until the last that uses it has gone. */
static void a_device_outlives_those_that_use_it(void) {
  int errors = 0;
  kmb_hooks hooks = kmb_hooks_init();
  hooks.log = count_errors;
  hooks.log_user = &errors;
  kmb_bench_params b = kmb_bench_params_init();
  kmb_session *s = NULL;
  kmb_result *r = NULL;
  kmb_device *d = open_with(&hooks, 65536);
  kmb_buffers *set = make_buffers(d);
  REQUIRE_OK(kmb_session_begin(d, &b, &s));
  kmb_device_close(d);
  REQUIRE_EQ(errors, 1);
  REQUIRE_STATUS(kmb_session_sample_begin(s), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "was closed");
  REQUIRE_STATUS(kmb_session_end(s, &r), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_buffers_prepare(set, 1), KMB_ERR_INVALID);
  kmb_buffers_destroy(set);
  d = open_with(&hooks, 65536);
  kmb_device_close(d);
  REQUIRE_EQ(errors, 1);
}

static void a_session_collects_marked_samples(void) {
  kmb_bench_params b = kmb_bench_params_init();
  kmb_session *s = NULL;
  kmb_result *r = NULL;
  REQUIRE_OK(kmb_session_begin(device, &b, &s));
  REQUIRE_STATUS(kmb_session_sample_end(s, 1), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_bench(device, &b, &r), KMB_ERR_BUSY);
  for (int i = 0; i < 3000; i++) {
    REQUIRE_OK(kmb_session_sample_begin(s));
    REQUIRE_STATUS(kmb_session_sample_begin(s), KMB_ERR_INVALID);
    REQUIRE_OK(kmb_session_sample_end(s, 2));
  }
  REQUIRE_OK(kmb_session_end(s, &r));
  REQUIRE_EQ(count_of(r, KMB_VALUE_SAMPLES), 3000);
  kmb_result_destroy(r);
  REQUIRE_OK(kmb_session_begin(device, &b, &s));
  REQUIRE_STATUS(kmb_session_end(s, &r), KMB_ERR_INVALID);
  REQUIRE(r == NULL);
  REQUIRE_OK(kmb_session_begin(device, &b, &s));
  kmb_session_abandon(s);
  kmb_session_abandon(NULL);
  REQUIRE_STATUS(kmb_session_end(NULL, &r), KMB_ERR_INVALID);
}

typedef kmb_status (*taker)(kmb_device *on, heap *h, kmb_result **r);

enum { MANY = 1000 };

static kmb_status take_given(kmb_device *on, heap *h, kmb_result **r) {
  (void)h;
  kmb_bench_params b = kmb_bench_params_init();
  static double ns[MANY];
  for (int i = 0; i < MANY; i++)
    ns[i] = 100 + (i * 7) % 20;
  return kmb_result_from_samples(on, &b, ns, MANY, 0, r);
}

/* Only the end fails: what comes before gets its memory. */
static kmb_status take_session(kmb_device *on, heap *h, kmb_result **r) {
  kmb_bench_params b = kmb_bench_params_init();
  kmb_session *s = NULL;
  uint64_t fail_at = h->fail_at;
  h->fail_at = 0;
  REQUIRE_OK(kmb_session_begin(on, &b, &s));
  for (int i = 0; i < MANY; i++) {
    REQUIRE_OK(kmb_session_sample_begin(s));
    REQUIRE_OK(kmb_session_sample_end(s, 1));
  }
  h->fail_at = fail_at;
  h->calls = 0;
  return kmb_session_end(s, r);
}

/* The heap compares the size of each block that is freed. */
static uint64_t fail_each(taker take) {
  heap h = {0};
  kmb_hooks hooks = heap_hooks(&h);
  kmb_device *d = open_with(&hooks, 65536);
  uint64_t k = 0;
  do {
    int64_t blocks = h.blocks_out, bytes = h.bytes_out;
    kmb_result *r = NULL;
    h.failed = false;
    h.calls = 0;
    h.fail_at = ++k;
    kmb_status status = take(d, &h, &r);
    h.fail_at = 0;
    REQUIRE_STATUS(status, h.failed ? KMB_ERR_NOMEM : KMB_OK);
    REQUIRE_EQ(r == NULL, h.failed);
    kmb_result_destroy(r);
    REQUIRE_EQ(h.blocks_out, blocks);
    REQUIRE_EQ(h.bytes_out, bytes);
  } while (h.failed);
  kmb_device_close(d);
  REQUIRE_EQ(h.blocks_out, 0);
  return k - 1;
}

static void each_allocation_of_given_samples_may_fail(void) {
  REQUIRE(fail_each(take_given) > 3);
}

static void each_allocation_of_a_sessions_end_may_fail(void) {
  REQUIRE(fail_each(take_session) > 3);
}

int main(void) {
  device = open_with(NULL, 65536);
  RUN(samples_from_elsewhere);
  RUN(zeros_are_no_measurement);
  RUN(a_session_collects_marked_samples);
  RUN(a_device_outlives_those_that_use_it);
  RUN(each_allocation_of_given_samples_may_fail);
  RUN(each_allocation_of_a_sessions_end_may_fail);
  kmb_device_close(device);
  return 0;
}
