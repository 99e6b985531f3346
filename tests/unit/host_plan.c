/* Plans of the host backend: order, slots, counts, failures, the sweep. */
#include "host_fixture.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LLC = 1 << 20 };

typedef struct record {
  char order[256];
  uint64_t iterations[64];
  uint32_t slots[64];
  void *const *args[64];
  uint32_t launches;
  uint32_t resets;
  uint32_t fail_at; /* launch, from 1 */
  uint32_t reset_fail_at;
  kmb_status status; /* of that launch or reset */
  bool records_error;
} record;

static fixture f;
static record seen;

static void note(char what) {
  size_t length = strlen(seen.order);
  if (length + 1 < sizeof seen.order) seen.order[length] = what;
}

static kmb_status launch(void *user, const kmb_launch *l) {
  REQUIRE(user == &seen);
  REQUIRE_EQ(l->struct_size, sizeof *l);
  uint32_t n = seen.launches++;
  note('L');
  if (n < 64) {
    seen.iterations[n] = l->iteration;
    seen.slots[n] = l->slot;
    seen.args[n] = l->args;
  }
  if (seen.launches != seen.fail_at) return KMB_OK;
  if (seen.records_error) kmb_dtype_bits(99, NULL);
  return seen.status;
}

static kmb_status reset(void *user, uint32_t slot, void *stream) {
  REQUIRE(user == &seen);
  REQUIRE(stream == (void *)&f);
  seen.slots[63] = slot;
  note('R');
  return ++seen.resets == seen.reset_fail_at ? seen.status : KMB_OK;
}

static kmb_plan_desc desc_of(kmb_cache_state cache, uint64_t batch,
                             uint32_t slots) {
  memset(&seen, 0, sizeof seen);
  return (kmb_plan_desc){.struct_size = sizeof(kmb_plan_desc),
                         .launch = launch,
                         .launch_user = &seen,
                         .stream = &f,
                         .batch = batch,
                         .slots = slots,
                         .config = 3,
                         .choice = {.timer = KMB_TIMER_HOST,
                                    .launch_mode = KMB_LAUNCH_PLAIN,
                                    .cache = cache}};
}

static void *plan_of(const kmb_plan_desc *desc) {
  void *plan = NULL;
  REQUIRE_EQ(f.ops->plan_create(f.self, desc, &plan), KMB_OK);
  REQUIRE(plan);
  return plan;
}

static kmb_request request_of(kmb_timer timer, kmb_launch_mode mode,
                              kmb_cache_state cache, uint64_t cold_bytes) {
  return (kmb_request){.struct_size = sizeof(kmb_request),
                       .cold_bytes = cold_bytes,
                       .timer = timer,
                       .launch_mode = mode,
                       .cache = cache};
}

static void propose_gives_the_cache_state(void) {
  static const int32_t cases[][3] = {
      /* asked, buffers, proposed */
      {KMB_CACHE_DEFAULT, 1, KMB_CACHE_ROTATED},
      {KMB_CACHE_DEFAULT, 0, KMB_CACHE_WARM},
      {KMB_CACHE_COLD, 1, KMB_CACHE_COLD},
      {KMB_CACHE_COLD, 0, KMB_CACHE_COLD},
      {KMB_CACHE_ROTATED, 1, KMB_CACHE_ROTATED},
      {KMB_CACHE_WARM, 1, KMB_CACHE_WARM},
      {KMB_CACHE_WARM, 0, KMB_CACHE_WARM},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    kmb_choice choices[2];
    uint32_t count = 9;
    kmb_request r = request_of(i % 2 ? KMB_TIMER_AUTO : KMB_TIMER_HOST,
                               i % 2 ? KMB_LAUNCH_AUTO : KMB_LAUNCH_PLAIN,
                               cases[i][0], cases[i][1] ? 4096 : 0);
    REQUIRE_EQ(f.ops->propose(f.self, &r, choices, 2, &count), KMB_OK);
    REQUIRE_EQ(count, 1);
    REQUIRE_EQ(choices[0].timer, KMB_TIMER_HOST);
    REQUIRE_EQ(choices[0].launch_mode, KMB_LAUNCH_PLAIN);
    REQUIRE_EQ(choices[0].cache, cases[i][2]);
    REQUIRE_EQ(choices[0].preference, 0);
  }
}

static void propose_refuses_with_a_reason(void) {
  kmb_choice choice;
  uint32_t count = 9;
  kmb_request r = request_of(KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH, 0, 0);
  /* What the host lacks it answers with what it has. */
  REQUIRE_EQ(f.ops->propose(f.self, &r, &choice, 1, &count), KMB_OK);
  REQUIRE_EQ(count, 1);
  REQUIRE_EQ(choice.timer, KMB_TIMER_HOST);
  REQUIRE_EQ(choice.launch_mode, KMB_LAUNCH_PLAIN);
  count = 9;
#define REFUSES(status, text)                                                 \
  do {                                                                        \
    REQUIRE_FAILS(&f, f.ops->propose(f.self, &r, &choice, 1, &count), status, \
                  text);                                                      \
    REQUIRE_EQ(count, 0);                                                     \
  } while (0)
  r = request_of(0, 0, KMB_CACHE_ROTATED, 0);
  REFUSES(KMB_ERR_UNAVAILABLE, "give buffers");
  r = request_of(0, 0, 17, 0);
  REFUSES(KMB_ERR_INVALID, "cache state");
  r = request_of(0, 0, 0, 0);
  REQUIRE_EQ(f.ops->propose(f.self, &r, &choice, 0, &count), KMB_OK);
  REQUIRE_EQ(count, 0);
}

static void no_plan(const kmb_plan_desc *desc, kmb_status status,
                    const char *text) {
  void *plan = &plan;
  REQUIRE_FAILS(&f, f.ops->plan_create(f.self, desc, &plan), status, text);
  REQUIRE(!plan);
}

static void plans_that_cannot_be_are_refused(void) {
  const kmb_plan_desc good = desc_of(KMB_CACHE_WARM, 1, 1);
  kmb_plan_desc d = good;
  d.launch = NULL;
  no_plan(&d, KMB_ERR_INVALID, "launch callback");
  d = good;
  d.slots = 0;
  no_plan(&d, KMB_ERR_INVALID, "slot");
  d = good;
  d.batch = 0;
  no_plan(&d, KMB_ERR_INVALID, "batch");
  d = good;
  d.choice.timer = KMB_TIMER_TRACE;
  no_plan(&d, KMB_ERR_UNSUPPORTED, "timer HOST");
  d = good;
  d.choice.launch_mode = KMB_LAUNCH_GRAPH;
  no_plan(&d, KMB_ERR_UNSUPPORTED, "plain");
  d = good;
  d.choice.cache = KMB_CACHE_COLD;
  d.batch = 2;
  no_plan(&d, KMB_ERR_INVALID, "must be 1");
  d = good;
  d.reset = reset;
  d.batch = 2;
  no_plan(&d, KMB_ERR_INVALID, "must be 1");
  d = good;
  d.arg_count = 1;
  no_plan(&d, KMB_ERR_INVALID, "not there");
  d = good;
  d.warm_count = 1;
  no_plan(&d, KMB_ERR_INVALID, "not there");
  void *one = NULL;
  kmb_span span = {NULL, 0};
  d = good;
  d.args = &one;
  d.arg_count = UINT64_MAX / 8;
  d.slots = 9;
  no_plan(&d, KMB_ERR_NOMEM, "fewer slots");
  d = good;
  d.warm = &span;
  d.warm_count = UINT64_MAX / 16;
  no_plan(&d, KMB_ERR_NOMEM, "fewer slots");
}

static void ring_runs_on_over_batches_and_runs(void) {
  kmb_sample samples[4];
  uint64_t got = 0;
  void *args[6];
  for (int i = 0; i < 6; i++)
    args[i] = &args[i];
  kmb_plan_desc d = desc_of(KMB_CACHE_ROTATED, 4, 3);
  d.args = args;
  d.arg_count = 2;
  void *plan = plan_of(&d);
  memset(args, 0, sizeof args); /* the plan has its own copy */
  for (int run = 0; run < 2; run++) {
    REQUIRE_EQ(f.ops->plan_run(f.self, plan, 2, INFINITY, samples, &got),
               KMB_OK);
    REQUIRE_EQ(got, 2);
    REQUIRE_EQ(samples[0].slot, run * 8 % 3);
    REQUIRE_EQ(samples[1].slot, (run * 8 + 4) % 3);
  }
  REQUIRE_EQ(seen.launches, 16);
  for (uint32_t i = 0; i < 16; i++) {
    REQUIRE_EQ(seen.slots[i], i % 3);
    REQUIRE_EQ(seen.iterations[i], i);
    REQUIRE(seen.args[i][0] == (void *)&args[(size_t)2 * (i % 3)]);
    REQUIRE(seen.args[i][1] == (void *)&args[(size_t)2 * (i % 3) + 1]);
  }
  f.ops->plan_destroy(f.self, plan);
}

static void one_slot_counts_iterations(void) {
  kmb_sample samples[3];
  uint64_t got = 0;
  void *arg = &arg;
  kmb_plan_desc d = desc_of(KMB_CACHE_WARM, 5, 1);
  d.args = &arg;
  d.arg_count = 1;
  void *plan = plan_of(&d);
  REQUIRE_EQ(f.ops->plan_run(f.self, plan, 3, INFINITY, samples, &got), KMB_OK);
  REQUIRE_EQ(got, 3);
  REQUIRE_EQ(seen.launches, 15);
  for (uint32_t i = 0; i < 15; i++) {
    REQUIRE_EQ(seen.iterations[i], i);
    REQUIRE_EQ(seen.slots[i], 0);
    REQUIRE(seen.args[i][0] == (void *)&arg);
  }
  for (int i = 0; i < 3; i++) {
    REQUIRE(samples[i].span_ns >= 0 && samples[i].flags == 0);
    REQUIRE(samples[i].busy_ns == 0 && samples[i].ops == 0);
    REQUIRE(i == 0 || samples[i].end_ns >= samples[i - 1].end_ns);
  }
  REQUIRE(f.ops->now(f.self) >= samples[2].end_ns);
  f.ops->plan_destroy(f.self, plan);
}

static void without_buffers_args_are_null(void) {
  kmb_sample sample;
  uint64_t got = 0;
  kmb_plan_desc d = desc_of(KMB_CACHE_WARM, 3, 2);
  void *plan = plan_of(&d);
  REQUIRE_EQ(f.ops->plan_run(f.self, plan, 1, INFINITY, &sample, &got), KMB_OK);
  for (int i = 0; i < 3; i++)
    REQUIRE(!seen.args[i]);
  f.ops->plan_destroy(f.self, plan);
}

static void reset_comes_before_each_launch(void) {
  kmb_sample samples[3];
  uint64_t got = 0;
  kmb_plan_desc d = desc_of(KMB_CACHE_WARM, 1, 2);
  d.reset = reset;
  d.reset_user = &seen;
  void *plan = plan_of(&d);
  REQUIRE_EQ(f.ops->plan_run(f.self, plan, 3, INFINITY, samples, &got), KMB_OK);
  REQUIRE_STR(seen.order, "RLRLRL");
  REQUIRE_EQ(seen.slots[63], 0);
  f.ops->plan_destroy(f.self, plan);
}

static void failing_reset_ends_the_run(void) {
  kmb_sample samples[3];
  uint64_t got = 0;
  kmb_plan_desc d = desc_of(KMB_CACHE_WARM, 1, 1);
  d.reset = reset;
  d.reset_user = &seen;
  seen.reset_fail_at = 2;
  seen.status = KMB_ERR_IO;
  void *plan = plan_of(&d);
  REQUIRE_FAILS(&f, f.ops->plan_run(f.self, plan, 3, INFINITY, samples, &got),
                KMB_ERR_IO, "reset callback returned -14 (ERR_IO)");
  REQUIRE_EQ(got, 1);
  REQUIRE_STR(seen.order, "RLR");
  f.ops->plan_destroy(f.self, plan);
}

static void failing_launch_ends_the_run(void) {
  for (uint32_t slots = 1; slots <= 2; slots++) {
    kmb_sample samples[3];
    uint64_t got = 9;
    kmb_plan_desc d = desc_of(KMB_CACHE_WARM, 4, slots);
    void *plan = plan_of(&d);
    seen.fail_at = 7;
    seen.status = 11;
    f.failures = 0;
    REQUIRE_FAILS(&f, f.ops->plan_run(f.self, plan, 3, INFINITY, samples, &got),
                  11, "launch callback returned 11 (CALLBACK) at iteration 6");
    REQUIRE_EQ(got, 1);
    REQUIRE_EQ(seen.launches, 7);
    seen.fail_at = 8;
    seen.status = KMB_ERR_LOST;
    REQUIRE_FAILS(&f, f.ops->plan_run(f.self, plan, 3, INFINITY, samples, &got),
                  KMB_ERR_LOST, "launch callback returned -8 (ERR_LOST)");
    REQUIRE_EQ(got, 0);
    /* The next run works. */
    REQUIRE_EQ(f.ops->plan_run(f.self, plan, 3, INFINITY, samples, &got),
               KMB_OK);
    REQUIRE_EQ(got, 3);
    f.ops->plan_destroy(f.self, plan);
  }
}

static void error_that_the_callback_recorded_is_kept(void) {
  kmb_sample sample;
  uint64_t got = 0;
  kmb_plan_desc d = desc_of(KMB_CACHE_WARM, 1, 1);
  void *plan = plan_of(&d);
  seen.fail_at = 1;
  seen.status = KMB_ERR_INVALID;
  seen.records_error = true;
  f.failures = 0;
  REQUIRE_EQ(f.ops->plan_run(f.self, plan, 1, INFINITY, &sample, &got),
             KMB_ERR_INVALID);
  REQUIRE_EQ(f.failures, 0);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "bits is NULL");
  /* An older error of the same status is not the callback's. */
  seen.fail_at = 2;
  seen.records_error = false;
  REQUIRE_FAILS(&f, f.ops->plan_run(f.self, plan, 1, INFINITY, &sample, &got),
                KMB_ERR_INVALID, "launch callback returned");
  f.ops->plan_destroy(f.self, plan);
}

static void cancelled_starts_no_further_sample(void) {
  kmb_sample samples[8];
  uint64_t got = 0;
  kmb_plan_desc d = desc_of(KMB_CACHE_WARM, 2, 1);
  void *plan = plan_of(&d);
  f.cancel_after = 3;
  REQUIRE_EQ(f.ops->plan_run(f.self, plan, 8, INFINITY, samples, &got), KMB_OK);
  REQUIRE_EQ(got, 3);
  REQUIRE_EQ(seen.launches, 6);
  f.cancel_after = -1;
  f.ops->plan_destroy(f.self, plan);
}

static void nothing_starts_after_until(void) {
  kmb_sample samples[8];
  uint64_t got = 9;
  kmb_plan_desc d = desc_of(KMB_CACHE_WARM, 2, 1);
  void *plan = plan_of(&d);
  double past = f.ops->now(f.self) - 1;
  REQUIRE_EQ(f.ops->plan_run(f.self, plan, 8, past, samples, &got), KMB_OK);
  REQUIRE_EQ(got, 0);
  REQUIRE_EQ(f.ops->plan_run(f.self, plan, 0, INFINITY, samples, &got), KMB_OK);
  REQUIRE_EQ(got, 0);
  REQUIRE_EQ(seen.launches, 0);
  f.ops->plan_destroy(f.self, plan);
}

static void cold_needs_a_prepared_sweep(void) {
  kmb_sample sample;
  uint64_t got = 9;
  fixture fresh;
  kmb_plan_desc d = desc_of(KMB_CACHE_COLD, 1, 1);
  void *plan = NULL;
  fixture_init(&fresh);
  REQUIRE_EQ(fixture_open(&fresh, LLC, 0, 0), KMB_OK);
  REQUIRE_EQ(fresh.ops->plan_create(fresh.self, &d, &plan), KMB_OK);
  REQUIRE_FAILS(
      &fresh, fresh.ops->plan_run(fresh.self, plan, 1, INFINITY, &sample, &got),
      KMB_ERR_INVALID, "sweep_prepare");
  REQUIRE_EQ(got, 0);
  fresh.ops->plan_destroy(fresh.self, plan);
  REQUIRE_FAILS(&fresh, fresh.ops->sweep_prepare(fresh.self, 0),
                KMB_ERR_INVALID, "no bytes");
  REQUIRE_FAILS(&fresh, fresh.ops->sweep_prepare(fresh.self, UINT64_MAX),
                KMB_ERR_NOMEM, "sweep");
  fixture_close(&fresh);
}

/* Pages that may not be read until they are: the first read is noted. */
typedef struct watched {
  unsigned char *pages;
  char name;
} watched;

static watched watches[2];
static size_t page;

static void on_fault(int number, siginfo_t *info, void *context) {
  unsigned char *at = info->si_addr;
  (void)number;
  (void)context;
  for (int i = 0; i < 2; i++)
    if (at >= watches[i].pages && at < watches[i].pages + page) {
      mprotect(watches[i].pages, page, PROT_READ | PROT_WRITE);
      note(watches[i].name);
      return;
    }
  abort();
}

static kmb_status reset_and_protect(void *user, uint32_t slot, void *stream) {
  for (int i = 0; i < 2; i++)
    REQUIRE_EQ(mprotect(watches[i].pages, page, PROT_NONE), 0);
  return reset(user, slot, stream);
}

static kmb_status give_watched(void *ctx, uint64_t size, uint64_t align,
                               void **pointer) {
  (void)align;
  *pointer = mmap(NULL, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(*pointer != MAP_FAILED);
  watches[0] = (watched){*pointer, 'S'};
  ((fixture *)ctx)->device.blocks_out++;
  return KMB_OK;
}

static void take_watched(void *ctx, void *pointer, uint64_t size) {
  ((fixture *)ctx)->device.blocks_out--;
  REQUIRE_EQ(munmap(pointer, size), 0);
}

static void cold_runs_reset_sweep_warm_touch_launch_in_this_order(void) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  struct sigaction before;
  fixture hooked;
  kmb_sample samples[2];
  uint64_t got = 0;
  void *plan = NULL;
  /* Valgrind does not resume a load with the registers that it had. */
  const char *preload = getenv("LD_PRELOAD");
  if (preload && strstr(preload, "vgpreload")) return;
  page = (size_t)sysconf(_SC_PAGESIZE);
  fixture_init(&hooked);
  hooked.host.device_alloc = give_watched;
  hooked.host.device_free = take_watched;
  REQUIRE_EQ(fixture_open(&hooked, 64 << 10, 1, 0), KMB_OK);
  REQUIRE_EQ(hooked.ops->sweep_prepare(hooked.self, 128 << 10), KMB_OK);
  unsigned char *warm_data = mmap(NULL, page, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(warm_data != MAP_FAILED);
  watches[1] = (watched){warm_data, 'W'};
  kmb_span warm[2] = {{warm_data, page}, {warm_data, 1}};
  kmb_plan_desc d = desc_of(KMB_CACHE_COLD, 1, 2);
  d.reset = reset_and_protect;
  d.reset_user = &seen;
  d.warm = warm;
  d.warm_count = 1;
  REQUIRE_EQ(hooked.ops->plan_create(hooked.self, &d, &plan), KMB_OK);
  REQUIRE_EQ(sigaction(SIGSEGV, &action, &before), 0);
  kmb_status status =
      hooked.ops->plan_run(hooked.self, plan, 2, INFINITY, samples, &got);
  REQUIRE_EQ(sigaction(SIGSEGV, &before, NULL), 0);
  REQUIRE_EQ(status, KMB_OK);
  REQUIRE_STR(seen.order, "RSWLRSWL");
  REQUIRE_EQ(got, 2);
  REQUIRE_EQ(samples[1].slot, 1);
  hooked.ops->plan_destroy(hooked.self, plan);
  REQUIRE_EQ(munmap(warm_data, page), 0);
  fixture_close(&hooked);
}

/* Field case F7: not an allocation for each flush. */
static void f7_one_flush_allocation_for_1000_cold_samples(void) {
  static kmb_sample samples[1000];
  fixture hooked;
  uint64_t got = 0;
  void *plan = NULL;
  fixture_init(&hooked);
  fixture_hook_device_memory(&hooked);
  REQUIRE_EQ(fixture_open(&hooked, 64 << 10, 1, 0), KMB_OK);
  hooked.device.fail_at = 1;
  REQUIRE_EQ(hooked.ops->sweep_prepare(hooked.self, 128 << 10), KMB_ERR_NOMEM);
  REQUIRE_EQ(hooked.device.blocks_out, 0);
  hooked.device.fail_at = hooked.device.calls = 0;
  REQUIRE_EQ(hooked.ops->sweep_prepare(hooked.self, 128 << 10), KMB_OK);
  kmb_plan_desc d = desc_of(KMB_CACHE_COLD, 1, 1);
  REQUIRE_EQ(hooked.ops->plan_create(hooked.self, &d, &plan), KMB_OK);
  uint64_t allocs = hooked.memory.calls;
  for (int run = 0; run < 10; run++) {
    REQUIRE_EQ(hooked.ops->sweep_prepare(hooked.self, 128 << 10), KMB_OK);
    REQUIRE_EQ(hooked.ops->plan_run(hooked.self, plan, 100, INFINITY,
                                    samples + (size_t)run * 100, &got),
               KMB_OK);
    REQUIRE_EQ(got, 100);
  }
  REQUIRE_EQ(seen.launches, 1000);
  REQUIRE_EQ(hooked.device.calls, 1);
  REQUIRE_EQ(hooked.memory.calls, allocs);
  REQUIRE(hooked.device.last_size >= 128 << 10);
  /* More is one more, and the first is given back. */
  REQUIRE_EQ(hooked.ops->sweep_prepare(hooked.self, 64 << 20), KMB_OK);
  REQUIRE_EQ(hooked.device.calls, 2);
  REQUIRE_EQ(hooked.device.blocks_out, 1);
  REQUIRE(hooked.device.last_size >= 64 << 20);
  hooked.ops->plan_destroy(hooked.self, plan);
  fixture_close(&hooked);
}

static void sweep_reaches_the_private_caches_of_every_core(void) {
  fixture hooked;
  uint64_t l1 = 0;
  uint64_t l2 = 0;
  uint64_t threads = 0;
  fixture_init(&hooked);
  fixture_hook_device_memory(&hooked);
  REQUIRE_EQ(fixture_open(&hooked, 4096, 0, 0), KMB_OK);
  kmb_status known =
      hooked.ops->attr_u64(hooked.self, KMB_DEVICE_L1_BYTES, &l1);
  if (!known)
    known = hooked.ops->attr_u64(hooked.self, KMB_DEVICE_L2_BYTES, &l2);
  REQUIRE_EQ(hooked.ops->attr_u64(hooked.self, KMB_DEVICE_THREADS, &threads),
             KMB_OK);
  REQUIRE_EQ(hooked.ops->sweep_prepare(hooked.self, 8192), KMB_OK);
  REQUIRE(hooked.device.last_size >= 8192);
  if (!known) REQUIRE(hooked.device.last_size >= threads * 2 * (l1 + l2));
  fixture_close(&hooked);
}

int main(void) {
  fixture_init(&f);
  REQUIRE_EQ(fixture_open(&f, LLC, 0, 0), KMB_OK);
  RUN(propose_gives_the_cache_state);
  RUN(propose_refuses_with_a_reason);
  RUN(plans_that_cannot_be_are_refused);
  RUN(ring_runs_on_over_batches_and_runs);
  RUN(one_slot_counts_iterations);
  RUN(without_buffers_args_are_null);
  RUN(reset_comes_before_each_launch);
  RUN(failing_reset_ends_the_run);
  RUN(failing_launch_ends_the_run);
  RUN(error_that_the_callback_recorded_is_kept);
  RUN(cancelled_starts_no_further_sample);
  RUN(nothing_starts_after_until);
  RUN(cold_needs_a_prepared_sweep);
  RUN(cold_runs_reset_sweep_warm_touch_launch_in_this_order);
  RUN(f7_one_flush_allocation_for_1000_cold_samples);
  RUN(sweep_reaches_the_private_caches_of_every_core);
  fixture_close(&f);
  return 0;
}
