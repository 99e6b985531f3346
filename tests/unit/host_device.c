/* The host backend: opening, attributes, memory, helper threads, forks. */
#define _GNU_SOURCE
#include "host.h"
#include "host_fixture.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static fixture f;

static void open_default(void) {
  fixture_init(&f);
  REQUIRE_EQ(fixture_open(&f, 0, 0, 0), KMB_OK);
}

static uint64_t u64(kmb_device_attr attr) {
  uint64_t value = 0;
  REQUIRE_EQ(f.ops->attr_u64(f.self, attr, &value), KMB_OK);
  REQUIRE(value > 0);
  return value;
}

static const char *text(kmb_device_attr attr) {
  const char *value = NULL;
  REQUIRE_EQ(f.ops->attr_text(f.self, attr, &value), KMB_OK);
  REQUIRE(value && *value);
  return value;
}

static void spec_must_be_empty(void) {
  kmb_device_params params = kmb_device_params_init();
  fixture_init(&f);
  REQUIRE_FAILS(&f, f.ops->open(&f.host, "1", &params, &f.self),
                KMB_ERR_INVALID, "\"host\"");
  REQUIRE(!f.self);
  REQUIRE_EQ(f.memory.calls, 0);
}

static void more_threads_than_cores_is_invalid(void) {
  open_default();
  uint64_t cores = u64(KMB_DEVICE_UNITS);
  REQUIRE_EQ(u64(KMB_DEVICE_THREADS), cores);
  fixture_close(&f);
  fixture_init(&f);
  REQUIRE_FAILS(&f, fixture_open(&f, 0, (uint32_t)cores + 1, 0),
                KMB_ERR_INVALID, "widen its affinity");
  REQUIRE_EQ(f.memory.blocks_out, 0);
  REQUIRE_FAILS(&f, fixture_open(&f, 0, UINT32_MAX, 0), KMB_ERR_INVALID,
                "4294967295 threads");
  REQUIRE_EQ(fixture_open(&f, 0, 1, 0), KMB_OK);
  REQUIRE_EQ(u64(KMB_DEVICE_THREADS), 1);
  REQUIRE_EQ(u64(KMB_DEVICE_UNITS), cores);
  fixture_close(&f);
}

static void attributes_are_told_or_refused(void) {
  uint64_t value = 0;
  const char *words = NULL;
  double tick = 0;
  open_default();
  text(KMB_DEVICE_NAME);
  text(KMB_DEVICE_ARCH);
  text(KMB_DEVICE_ISA);
  REQUIRE_HAS(text(KMB_DEVICE_BINDING), "not bound");
  REQUIRE(u64(KMB_DEVICE_MEMORY_BYTES) > 1 << 20);
  REQUIRE_EQ(f.ops->attr_f64(f.self, KMB_DEVICE_CLOCK_TICK_NS, &tick), KMB_OK);
  REQUIRE(tick > 0 && tick < 1e8);
  double again = 0;
  REQUIRE_EQ(f.ops->attr_f64(f.self, KMB_DEVICE_CLOCK_TICK_NS, &again), KMB_OK);
  REQUIRE_NEAR(again, tick, 0);
#define NO_TEXT(attr, part)                                 \
  REQUIRE_FAILS(&f, f.ops->attr_text(f.self, attr, &words), \
                KMB_ERR_UNAVAILABLE, part)
  NO_TEXT(KMB_DEVICE_UUID, "UUID");
  NO_TEXT(KMB_DEVICE_PCI_ID, "PCI");
  NO_TEXT(KMB_DEVICE_UNITS, "no attribute 6");
  REQUIRE_FAILS(&f, f.ops->attr_u64(f.self, 999, &value), KMB_ERR_UNAVAILABLE,
                "no attribute 999");
  REQUIRE_FAILS(&f, f.ops->attr_f64(f.self, 999, &tick), KMB_ERR_UNAVAILABLE,
                "no attribute 999");
  fixture_close(&f);
}

static void callers_cache_size_wins(void) {
  fixture_init(&f);
  REQUIRE_EQ(fixture_open(&f, 12345, 0, 0), KMB_OK);
  REQUIRE_EQ(u64(KMB_DEVICE_LLC_BYTES), 12345);
  REQUIRE_STR(text(KMB_DEVICE_LLC_SOURCE), "caller");
  fixture_close(&f);
}

/* A device whose cores were laid out by hand. */
static kmbi_host invented(kmbi_host_core *cores, uint32_t count) {
  return (kmbi_host){
      .host = &f.host, .cores = cores, .core_count = count, .threads = count};
}

static void llc_is_the_sum_over_distinct_caches_of_used_cores(void) {
  kmbi_host_core cores[] = {{.llc_bytes = 32, .llc = 1},
                            {.llc_bytes = 32, .llc = 2},
                            {.llc_bytes = 32, .llc = 1},
                            {.llc_bytes = 7, .llc = 3}};
  uint64_t bytes = 0;
  fixture_init(&f);
  kmbi_host host = invented(cores, 4);
  REQUIRE_EQ(kmbi_host_llc(&host, 1, &bytes), KMB_OK);
  REQUIRE_EQ(bytes, 32);
  REQUIRE_EQ(kmbi_host_llc(&host, 3, &bytes), KMB_OK);
  REQUIRE_EQ(bytes, 64);
  REQUIRE_EQ(kmbi_host_llc(&host, 4, &bytes), KMB_OK);
  REQUIRE_EQ(bytes, 71);
}

static void unreported_cache_asks_for_it(void) {
  kmbi_host_core cores[] = {{.llc_bytes = 32, .llc = 1},
                            {.llc = KMBI_HOST_NO_LLC, .pu = 5}};
  uint64_t bytes = 0;
  fixture_init(&f);
  kmbi_host host = invented(cores, 2);
  REQUIRE_FAILS(&f, kmbi_host_llc(&host, 2, &bytes), KMB_ERR_UNAVAILABLE,
                "kmb_device_params.llc_bytes");
  REQUIRE_HAS(f.message, "PU 5");
  REQUIRE_FAILS(&f, kmbi_host_attr_u64(&host, KMB_DEVICE_L1_BYTES, &bytes),
                KMB_ERR_UNAVAILABLE, "no L1");
  host.llc_given = 64;
  REQUIRE_EQ(kmbi_host_llc(&host, 2, &bytes), KMB_OK);
  REQUIRE_EQ(bytes, 64);
}

static void private_caches_must_be_alike(void) {
  kmbi_host_core cores[] = {{.l2_bytes = 32}, {.l2_bytes = 64}};
  uint64_t bytes = 0;
  fixture_init(&f);
  kmbi_host host = invented(cores, 2);
  REQUIRE_FAILS(&f, kmbi_host_attr_u64(&host, KMB_DEVICE_L2_BYTES, &bytes),
                KMB_ERR_UNAVAILABLE, "differ in the size of L2");
  host.threads = 1;
  REQUIRE_EQ(kmbi_host_attr_u64(&host, KMB_DEVICE_L2_BYTES, &bytes), KMB_OK);
  REQUIRE_EQ(bytes, 32);
}

static int bound_pus(void) {
  cpu_set_t set;
  REQUIRE_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return CPU_COUNT(&set);
}

static void binding_lasts_until_close(void) {
  int before = bound_pus();
  fixture_init(&f);
  REQUIRE_EQ(fixture_open(&f, 0, 0, KMB_DEVICE_BIND), KMB_OK);
  REQUIRE_EQ(bound_pus(), 1);
  REQUIRE_HAS(text(KMB_DEVICE_BINDING), "bound to PU");
  uint64_t node = 0;
  REQUIRE_EQ(f.ops->attr_u64(f.self, KMB_DEVICE_NUMA_NODE, &node), KMB_OK);
  uint64_t available = 0;
  REQUIRE_EQ(f.ops->memory_available(f.self, &available), KMB_OK);
  REQUIRE_EQ(f.ops->sweep_prepare(f.self, 1 << 20), KMB_OK);
  REQUIRE_EQ(bound_pus(), 1);
  fixture_close(&f);
  REQUIRE_EQ(bound_pus(), before);
}

static void runs_leave_the_callers_affinity(void) {
  int before = bound_pus();
  open_default();
  REQUIRE_EQ(f.ops->sweep_prepare(f.self, 1 << 20), KMB_OK);
  REQUIRE_EQ(bound_pus(), before);
  fixture_close(&f);
}

static int thread_count(void) {
  char line[256];
  int count = 0;
  FILE *file = fopen("/proc/self/status", "r");
  REQUIRE(file);
  while (fgets(line, sizeof line, file))
    if (strncmp(line, "Threads:", 8) == 0)
      count = (int)strtol(line + 8, NULL, 10);
  fclose(file);
  return count;
}

static void opening_starts_no_thread_and_closing_leaves_none(void) {
  int before = thread_count();
  open_default();
  uint64_t cores = u64(KMB_DEVICE_THREADS);
  REQUIRE_EQ(thread_count(), before);
  REQUIRE_EQ(f.ops->sweep_prepare(f.self, 1 << 20), KMB_OK);
  /* The caller does the part of its own core. */
  REQUIRE(thread_count() >= before + (int)cores - 1);
  REQUIRE(thread_count() <= before + (int)cores);
  fixture_close(&f);
  REQUIRE_EQ(thread_count(), before);
}

typedef struct visit {
  int parts[64];
  uint32_t of;
} visit;

static void visit_part(void *arg, uint32_t part, uint32_t parts) {
  visit *v = arg;
  REQUIRE(part < parts && parts <= 64);
  v->parts[part]++; /* each part writes its own element alone */
  if (part == 0) v->of = parts;
  REQUIRE_EQ(bound_pus(), 1);
}

static void pool_runs_each_part_once_bound(void) {
  open_default();
  uint32_t cores = (uint32_t)u64(KMB_DEVICE_THREADS);
  if (cores > 64) cores = 64;
  for (uint32_t parts = 1; parts <= cores; parts++)
    for (int repeat = 0; repeat < 100; repeat++) {
      visit v = {{0}, 0};
      REQUIRE_EQ(kmbi_host_pool_run(f.self, parts, visit_part, &v), KMB_OK);
      REQUIRE_EQ(v.of, parts);
      for (uint32_t i = 0; i < 64; i++)
        REQUIRE_EQ(v.parts[i], i < parts);
    }
  fixture_close(&f);
}

static void cuts_cover_everything_once(void) {
  static const uint64_t counts[] = {0, 1, 63, 64, 65, 1000, UINT64_MAX};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
    for (uint32_t parts = 1; parts < 9; parts++) {
      REQUIRE_EQ(kmbi_host_cut(counts[i], 64, 0, parts), 0);
      REQUIRE(kmbi_host_cut(counts[i], 64, parts, parts) == counts[i]);
      for (uint32_t p = 0; p < parts; p++) {
        uint64_t from = kmbi_host_cut(counts[i], 64, p, parts);
        uint64_t to = kmbi_host_cut(counts[i], 64, p + 1, parts);
        REQUIRE(from <= to && from % 64 == 0);
        REQUIRE((to - from) / 64 <= counts[i] / parts / 64 + 2);
      }
    }
}

static void blocks_are_aligned_and_writable(void) {
  static const uint64_t sizes[] = {1,      63, 4096, 1 << 20, (2 << 20) + 1,
                                   5 << 20};
  open_default();
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    for (uint64_t align = 0; align <= 1 << 16; align = align ? align * 16 : 1) {
      void *block = NULL;
      REQUIRE_EQ(f.ops->alloc(f.self, sizes[i], align, &block), KMB_OK);
      REQUIRE_EQ((uintptr_t)block % 64, 0);
      REQUIRE_EQ((uintptr_t)block % (align ? align : 1), 0);
      if (sizes[i] >= 2 << 20) REQUIRE_EQ((uintptr_t)block % (2 << 20), 0);
      memset(block, 1, sizes[i]);
      f.ops->free(f.self, block, sizes[i]);
    }
  f.ops->free(f.self, NULL, 0);
  fixture_close(&f);
}

static void bad_blocks_are_refused(void) {
  void *block = &block;
  open_default();
#define NO_BLOCK(bytes, align, status, part)                              \
  do {                                                                    \
    REQUIRE_FAILS(&f, f.ops->alloc(f.self, bytes, align, &block), status, \
                  part);                                                  \
    REQUIRE(!block);                                                      \
  } while (0)
  NO_BLOCK(0, 64, KMB_ERR_INVALID, "no bytes");
  NO_BLOCK(64, 48, KMB_ERR_INVALID, "power of two");
  NO_BLOCK(UINT64_MAX, 64, KMB_ERR_NOMEM, "18446744073709551615 bytes");
  NO_BLOCK(1ULL << 62, 64, KMB_ERR_NOMEM, "4611686018427387904");
  uint64_t room = 0;
  REQUIRE_EQ(f.ops->memory_available(f.self, &room), KMB_OK);
  NO_BLOCK(room + room / 4, 64, KMB_ERR_NOMEM, "available");
  NO_BLOCK(64, 1ULL << 63, KMB_ERR_NOMEM, "64 bytes");
  fixture_close(&f);
}

static void callers_device_memory_is_used(void) {
  void *block = NULL;
  fixture_init(&f);
  fixture_hook_device_memory(&f);
  REQUIRE_EQ(fixture_open(&f, 0, 0, 0), KMB_OK);
  REQUIRE_EQ(f.ops->alloc(f.self, 100, 0, &block), KMB_OK);
  REQUIRE_EQ(f.device.calls, 1);
  REQUIRE_EQ(f.device.last_size, 100);
  f.device.fail_at = 2;
  void *second = &second;
  REQUIRE_EQ(f.ops->alloc(f.self, 100, 0, &second), KMB_ERR_NOMEM);
  REQUIRE(!second);
  f.ops->free(f.self, block, 100);
  fixture_close(&f);
}

static void set_repeats_the_pattern_little_endian(void) {
  enum { BIG = (3 << 20) + 5 };
  unsigned char *data = malloc(BIG + 1);
  REQUIRE(data);
  open_default();
  for (uint64_t bytes = 0; bytes < 20; bytes++) {
    memset(data, 0xEE, 32);
    REQUIRE_EQ(f.ops->set(f.self, data + 1, 0x0807060504030201ULL, bytes),
               KMB_OK);
    for (uint64_t i = 0; i < bytes; i++)
      REQUIRE_EQ(data[1 + i], i % 8 + 1);
    REQUIRE_EQ(data[0], 0xEE);
    REQUIRE_EQ(data[1 + bytes], 0xEE);
  }
  data[BIG] = 0xEE;
  REQUIRE_EQ(f.ops->set(f.self, data, 0x0807060504030201ULL, BIG), KMB_OK);
  for (uint64_t i = 0; i < BIG; i++)
    REQUIRE_EQ(data[i], i % 8 + 1);
  REQUIRE_EQ(data[BIG], 0xEE);
  fixture_close(&f);
  free(data);
}

static void copies_arrive(void) {
  char from[] = "one two";
  char there[8] = "";
  char back[8] = "";
  open_default();
  REQUIRE_EQ(f.ops->write(f.self, there, from, 8), KMB_OK);
  REQUIRE_EQ(f.ops->read(f.self, back, there, 8), KMB_OK);
  REQUIRE_STR(back, "one two");
  REQUIRE_EQ(f.ops->write(f.self, NULL, NULL, 0), KMB_OK);
  fixture_close(&f);
}

static void stream_is_the_callers(void) {
  void *stream = &stream;
  open_default();
  REQUIRE_EQ(f.ops->stream_open(f.self, &f, &stream), KMB_OK);
  REQUIRE(stream == (void *)&f);
  REQUIRE_EQ(f.ops->stream_wait(f.self, stream, 1), KMB_OK);
  f.ops->stream_close(f.self, stream);
  REQUIRE_EQ(f.ops->stream_open(f.self, NULL, &stream), KMB_OK);
  REQUIRE(!stream);
  fixture_close(&f);
}

/* Everything once: used with the k-th allocation failing. */
static kmb_status use_all(void) {
  static unsigned char data[3 << 20];
  kmb_fill fill = {.struct_size = sizeof fill,
                   .pointer = data,
                   .bytes = sizeof data,
                   .low = -1,
                   .high = 1,
                   .dtype = KMB_F32};
  kmb_status status = f.ops->fill_random(f.self, &fill);
  if (!status) status = f.ops->set(f.self, data, 1, sizeof data);
  if (!status) status = f.ops->sweep_prepare(f.self, 1 << 16);
  if (!status) status = f.ops->sweep_prepare(f.self, 8 << 20);
  return status;
}

static void every_failing_allocation_is_clean(void) {
  for (uint64_t k = 1;; k++) {
    fixture_init(&f);
    fixture_hook_device_memory(&f);
    f.memory.fail_at = k;
    kmb_status status = fixture_open(&f, 1 << 16, 0, 0);
    if (status) {
      REQUIRE_EQ(status, KMB_ERR_NOMEM);
      REQUIRE_HAS(f.message, "memory");
      REQUIRE_EQ(f.memory.blocks_out, 0);
      continue;
    }
    status = use_all();
    if (status) {
      REQUIRE_EQ(status, KMB_ERR_NOMEM);
      REQUIRE_EQ(f.last, KMB_ERR_NOMEM);
      REQUIRE_EQ(use_all(), KMB_OK); /* the next call works */
    }
    fixture_close(&f);
    if (f.memory.calls < k) break;
  }
  for (uint64_t k = 1; k <= 2; k++) {
    fixture_init(&f);
    fixture_hook_device_memory(&f);
    f.device.fail_at = k;
    REQUIRE_EQ(fixture_open(&f, 1 << 16, 0, 0), KMB_OK);
    REQUIRE_EQ(use_all(), KMB_ERR_NOMEM);
    REQUIRE_EQ(use_all(), KMB_OK);
    fixture_close(&f);
  }
}

static void forked_child_closes_without_waiting(void) {
  open_default();
  REQUIRE_EQ(f.ops->sweep_prepare(f.self, 1 << 20), KMB_OK);
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(4);
    f.ops->close(f.self);
    _exit(f.memory.blocks_out == 0 && f.device.blocks_out == 0 ? 0 : 1);
  }
  int status = 0;
  REQUIRE_EQ(waitpid(child, &status, 0), child);
  REQUIRE(WIFEXITED(status));
  REQUIRE_EQ(WEXITSTATUS(status), 0);
  /* The parent's threads go on. */
  REQUIRE_EQ(f.ops->sweep_prepare(f.self, 4 << 20), KMB_OK);
  fixture_close(&f);
}

typedef struct fake_clock {
  double now;
  double steps[4];
  int count;
} fake_clock;

static double fake_now(void *self) {
  fake_clock *clock = self;
  return clock->now += clock->steps[clock->count++ % 4];
}

static void tick_is_the_smallest_step(void) {
  fake_clock clock = {0, {0, 0, 40, 80}, 0};
  REQUIRE_NEAR(kmbi_host_tick(fake_now, &clock, 1e9), 40, 0);
  fake_clock stuck = {5, {0, 0, 0, 0}, 0};
  REQUIRE_NEAR(kmbi_host_tick(fake_now, &stuck, 1e9), 0, 0);
  fake_clock coarse = {0, {0, 0, 0, 4e6}, 0};
  REQUIRE_NEAR(kmbi_host_tick(fake_now, &coarse, 1e6), 4e6, 0);
}

typedef struct emitted {
  int keys, absent;
  char all[1024];
} emitted;

static void emit(void *user, const char *key, const char *value,
                 const char *reason) {
  emitted *e = user;
  REQUIRE(key && *key);
  REQUIRE(!value == (reason && *reason)); /* one of the two */
  e->keys++;
  e->absent += !value;
  strncat(e->all, key, sizeof e->all - strlen(e->all) - 1);
  strncat(e->all, " ", sizeof e->all - strlen(e->all) - 1);
}

static void hear(void *user, kmb_telemetry id, double value,
                 const char *reason) {
  kmb_telemetry *read = user;
  REQUIRE(reason ? *reason : value >= 0);
  while (*read)
    read++;
  *read = id;
}

static void metadata_has_a_value_or_a_reason(void) {
  emitted e = {0, 0, ""};
  open_default();
  f.ops->describe(f.self, emit, &e);
  REQUIRE_STR(e.all, "host.cpu host.cores host.l1_bytes host.l2_bytes "
                     "host.llc_bytes host.numa_nodes host.smt host.hugepages "
                     "host.governor host.virtualized ");
  kmb_telemetry read[3] = {0, 0, 0};
  f.ops->telemetry(f.self, hear, read);
  REQUIRE_EQ(read[0], KMB_TELEMETRY_CORE0_CLOCK);
  REQUIRE_EQ(read[1], KMB_TELEMETRY_STEAL);
  REQUIRE_EQ(read[2], KMB_TELEMETRY_LOAD);
  fixture_close(&f);
}

/* Machines that hwloc makes up: nothing is bound on them. */
static void open_synthetic(const char *machine, uint64_t llc_bytes,
                           uint32_t threads) {
  fixture_init(&f);
  REQUIRE_EQ(setenv("HWLOC_SYNTHETIC", machine, 1), 0);
  kmb_status status = fixture_open(&f, llc_bytes, threads, 0);
  REQUIRE_EQ(unsetenv("HWLOC_SYNTHETIC"), 0);
  REQUIRE_EQ(status, KMB_OK);
}

#define TWO_SOCKETS                                      \
  "pack:2 numa:1 l3:1(size=8388608) l2:4(size=1048576) " \
  "l1d:1(size=32768) core:1 pu:2"

static void cores_count_once_whatever_their_threads(void) {
  open_synthetic(TWO_SOCKETS, 0, 0);
  REQUIRE_EQ(u64(KMB_DEVICE_UNITS), 8);
  REQUIRE_EQ(u64(KMB_DEVICE_THREADS), 8);
  REQUIRE_EQ(u64(KMB_DEVICE_L1_BYTES), 32768);
  REQUIRE_EQ(u64(KMB_DEVICE_L2_BYTES), 1048576);
  REQUIRE_EQ(u64(KMB_DEVICE_LLC_BYTES), 2 * 8388608);
  REQUIRE_EQ(u64(KMB_DEVICE_NUMA_NODES), 2);
  REQUIRE_STR(text(KMB_DEVICE_LLC_SOURCE), "hwloc");
  uint64_t node = 0;
  REQUIRE_FAILS(&f, f.ops->attr_u64(f.self, KMB_DEVICE_NUMA_NODE, &node),
                KMB_ERR_UNAVAILABLE, "several NUMA nodes");
  fixture_close(&f);
}

static void used_cores_decide_the_cache(void) {
  open_synthetic(TWO_SOCKETS, 0, 4);
  REQUIRE_EQ(u64(KMB_DEVICE_LLC_BYTES), 8388608);
  fixture_close(&f);
  open_synthetic(TWO_SOCKETS, 0, 5);
  REQUIRE_EQ(u64(KMB_DEVICE_LLC_BYTES), 2 * 8388608);
  fixture_close(&f);
}

/* Five cores, one of them alone behind the second cache: it reads as much of
 * that cache as the four read of theirs. */
static void sweep_covers_each_cache_whoever_shares_it(void) {
  open_synthetic(TWO_SOCKETS, 0, 5);
  REQUIRE_EQ(f.ops->sweep_prepare(f.self, 4ULL * 8388608), KMB_OK);
  const kmbi_host *host = f.self;
  for (uint32_t i = 0; i < 5; i++) {
    uint64_t start = i ? host->sweep_ends[i - 1] : 0;
    uint64_t share = host->sweep_ends[i] - start;
    uint64_t want = i < 4 ? 4 * 1048576 : 16 * 1048576;
    REQUIRE(share >= want && share <= want + 8192);
  }
  REQUIRE_EQ(host->sweep_ends[4], host->sweep_size);
  REQUIRE_EQ(kmbi_host_sweep(f.self), KMB_OK);
  fixture_close(&f);
}

static void machine_without_caches_asks_for_them(void) {
  uint64_t bytes = 0;
  const char *words = NULL;
  open_synthetic("numa:1 core:2 pu:1", 0, 0);
  REQUIRE_FAILS(&f, f.ops->attr_u64(f.self, KMB_DEVICE_LLC_BYTES, &bytes),
                KMB_ERR_UNAVAILABLE, "set kmb_device_params.llc_bytes");
  REQUIRE_FAILS(&f, f.ops->attr_text(f.self, KMB_DEVICE_LLC_SOURCE, &words),
                KMB_ERR_UNAVAILABLE, "llc_bytes");
  REQUIRE_FAILS(&f, f.ops->attr_u64(f.self, KMB_DEVICE_L2_BYTES, &bytes),
                KMB_ERR_UNAVAILABLE, "no L2");
  kmb_ceiling ceiling = kmb_ceiling_init();
  REQUIRE_FAILS(&f, f.ops->ceiling(f.self, KMB_CEILING_READ, 0, 0, &ceiling),
                KMB_ERR_UNAVAILABLE, "llc_bytes");
  fixture_close(&f);
  open_synthetic("numa:1 core:2 pu:1", 65536, 0);
  REQUIRE_EQ(u64(KMB_DEVICE_LLC_BYTES), 65536);
  REQUIRE_EQ(f.ops->sweep_prepare(f.self, 131072), KMB_OK);
  fixture_close(&f);
}

static void count_part(void *arg, uint32_t part, uint32_t parts) {
  visit *v = arg;
  v->parts[part]++;
  if (part == 0) v->of = parts;
}

static void pool_of_more_threads_than_cores_works(void) {
  open_synthetic(TWO_SOCKETS, 0, 0);
  for (int repeat = 0; repeat < 50; repeat++)
    for (uint32_t parts = 1; parts <= 8; parts += 1 + (uint32_t)repeat % 3) {
      visit v = {{0}, 0};
      REQUIRE_EQ(kmbi_host_pool_run(f.self, parts, count_part, &v), KMB_OK);
      REQUIRE_EQ(v.of, parts);
      for (uint32_t i = 0; i < 64; i++)
        REQUIRE_EQ(v.parts[i], i < parts);
    }
  fixture_close(&f);
}

int main(void) {
  RUN(spec_must_be_empty);
  RUN(more_threads_than_cores_is_invalid);
  RUN(attributes_are_told_or_refused);
  RUN(callers_cache_size_wins);
  RUN(llc_is_the_sum_over_distinct_caches_of_used_cores);
  RUN(unreported_cache_asks_for_it);
  RUN(private_caches_must_be_alike);
  RUN(binding_lasts_until_close);
  RUN(runs_leave_the_callers_affinity);
  RUN(opening_starts_no_thread_and_closing_leaves_none);
  RUN(pool_runs_each_part_once_bound);
  RUN(cuts_cover_everything_once);
  RUN(blocks_are_aligned_and_writable);
  RUN(bad_blocks_are_refused);
  RUN(callers_device_memory_is_used);
  RUN(set_repeats_the_pattern_little_endian);
  RUN(copies_arrive);
  RUN(stream_is_the_callers);
  RUN(every_failing_allocation_is_clean);
  RUN(forked_child_closes_without_waiting);
  RUN(tick_is_the_smallest_step);
  RUN(metadata_has_a_value_or_a_reason);
  RUN(cores_count_once_whatever_their_threads);
  RUN(used_cores_decide_the_cache);
  RUN(sweep_covers_each_cache_whoever_shares_it);
  RUN(machine_without_caches_asks_for_them);
  RUN(pool_of_more_threads_than_cores_works);
  return 0;
}
