/* Fail the k-th allocation, for every k, over the whole life of a measurement:
 * open, describe, measure, list, write, read back, compare, destroy. Each time
 * a clean status, nothing leaked, and the next call works. */
#include "heap_jansson.h"

#include <kmb/kmb.h>

static kmb_status copy_first(void *user, const kmb_launch *l) {
  (void)user;
  memcpy(l->args[1], l->args[0], 4096);
  return KMB_OK;
}

static kmb_status compare(void *user, kmb_check *c) {
  (void)user;
  c->error = 0;
  return memcmp(c->before[0], c->after[1], 4096) ? KMB_ERR_INCORRECT : KMB_OK;
}

static kmb_status fill(void *user, void *data, uint64_t bytes, uint32_t slot) {
  (void)user;
  (void)slot;
  memset(data, 7, bytes);
  return KMB_OK;
}

/* A text in memory, of the test's own. */
typedef struct text {
  char data[1 << 18];
  size_t size, read;
} text;

static kmb_status append(void *user, const void *data, size_t size) {
  text *t = user;
  REQUIRE(t->size + size <= sizeof t->data);
  memcpy(t->data + t->size, data, size);
  t->size += size;
  return KMB_OK;
}

static kmb_status give(void *user, void *data, size_t size, size_t *got) {
  text *t = user;
  *got = t->size - t->read < size ? t->size - t->read : size;
  memcpy(data, t->data + t->read, *got);
  t->read += *got;
  return KMB_OK;
}

static kmb_status measure(kmb_device *device, const kmb_buffers *set,
                          kmb_result **result) {
  kmb_work work = kmb_work_init();
  kmb_ceiling roof = kmb_ceiling_init();
  const kmb_pair axes[] = {{"bytes", "4096"}};
  const kmb_pair pairs[] = {{"library", "none"}};
  kmb_metadata_params m = kmb_metadata_params_init();
  kmb_bench_params b = kmb_bench_params_init();
  REQUIRE_OK(kmb_work_copy(4096, &work));
  roof.value = 1e12;
  roof.source = KMB_SOURCE_CALLER;
  m.pairs = pairs;
  m.pair_count = 1;
  m.commit = "abc";
  b.name = "copy";
  b.axes = axes;
  b.axis_count = 1;
  b.launch = copy_first;
  b.check = compare;
  b.buffers = (kmb_buffers *)(uintptr_t)set;
  b.work = &work;
  b.memory_ceiling = &roof;
  b.metadata = &m;
  b.min_wall_ns = 1;
  b.warmup_ns = 1;
  b.min_samples = 8;
  b.max_samples = 16;
  b.batch = 1;
  b.rounds = 5;
  return kmb_bench(device, &b, result);
}

static kmb_status describe(kmb_device *device, kmb_buffers **set) {
  kmb_buffer_desc d[3] = {kmb_buffer_desc_init(), kmb_buffer_desc_init(),
                          kmb_buffer_desc_init()};
  const char *names[] = {"in", "out", "warm"};
  for (int i = 0; i < 3; i++) {
    d[i].name = names[i];
    d[i].role = i == 1 ? KMB_OUTPUT : KMB_INPUT;
    d[i].dtype = KMB_F32;
    d[i].bytes = 4096;
  }
  d[0].fill = KMB_FILL_CALLBACK;
  d[0].fill_fn = fill;
  d[2].residency = KMB_RESIDENT_WARM;
  return kmb_buffers_create(device, d, sizeof d[0], 3, NULL, set);
}

static kmb_status list(const kmb_hooks *hooks, kmb_result **result,
                       kmb_results **results) {
  kmb_status status = kmb_results_create(hooks, results);
  if (status) return status;
  status = kmb_results_add(*results, *result);
  if (!status) *result = NULL; /* the list's now */
  return status;
}

static kmb_status print(const kmb_hooks *hooks, const kmb_result *one,
                        const kmb_results *results) {
  static text json, words;
  kmb_results *again = NULL;
  json.size = json.read = words.size = 0;
  kmb_status status = kmb_results_write_json(results, append, &json);
  if (!status) status = kmb_results_read_json(give, &json, hooks, &again);
  if (!status) status = kmb_results_write_table(again, append, &words);
  if (!status && one) status = kmb_result_write_text(one, append, &words);
  kmb_results_destroy(again);
  return status;
}

static kmb_status whole_life(const kmb_hooks *hooks) {
  kmb_device_params p = kmb_device_params_init();
  kmb_device *device = NULL;
  kmb_buffers *set = NULL;
  kmb_result *result = NULL;
  kmb_results *results = NULL;
  const kmb_result *one = NULL;
  p.hooks = hooks;
  p.llc_bytes = 8192;
  kmb_status status = kmb_device_open("host", &p, &device);
  if (!status) status = describe(device, &set);
  if (!status) status = measure(device, set, &result);
  if (!status) status = list(hooks, &result, &results);
  if (!status) status = kmb_results_get(results, 0, &one);
  if (!status) status = print(hooks, one, results);
  kmb_result_destroy(result);
  kmb_results_destroy(results);
  kmb_buffers_destroy(set);
  kmb_device_close(device);
  return status;
}

static kmb_hooks hooks_of(heap *host, heap *memory) {
  kmb_hooks hooks = heap_hooks(host);
  hooks.device_alloc = heap_device_alloc;
  hooks.device_free = heap_device_free;
  hooks.device_alloc_user = memory;
  return hooks;
}

/* Runs the whole life with the k-th allocation of `victim` failing, for every
 * k that there is. */
static void fail_each(heap *victim, heap *host, heap *memory,
                      const char *name) {
  uint64_t k = 1 - heap_step();
  do {
    *host = *memory = json_heap = (heap){0};
    victim->fail_at = k += heap_step();
    kmb_hooks hooks = hooks_of(host, memory);
    kmb_status status = whole_life(&hooks);
    if (victim->failed && status != KMB_ERR_NOMEM) {
      fprintf(stderr, "%s allocation %llu failed and gave %s (%s)\n", name,
              (unsigned long long)k, kmb_status_name(status),
              kmb_last_error(NULL, NULL));
      exit(1);
    }
    if (host->blocks_out || host->bytes_out || memory->blocks_out ||
        memory->bytes_out || json_heap.blocks_out) {
      fprintf(stderr,
              "%s allocation %llu failed and left %lld + %lld + %lld "
              "blocks\n",
              name, (unsigned long long)k, (long long)host->blocks_out,
              (long long)memory->blocks_out, (long long)json_heap.blocks_out);
      exit(1);
    }
  } while (victim->failed);
  REQUIRE(k > 3);
  printf("%s: each %llu. of %llu allocations failed in turn\n", name,
         (unsigned long long)heap_step(), (unsigned long long)k - 1);
}

int main(void) {
  static heap host, memory;
  json_set_alloc_funcs(json_alloc, json_release);
  fail_each(&host, &host, &memory, "host");
  fail_each(&memory, &host, &memory, "device");
  fail_each(&json_heap, &host, &memory, "JSON");
  return 0;
}
