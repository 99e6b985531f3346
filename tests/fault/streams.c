/* What callbacks that write and read can do wrong: a full disk, a failure at
 * the k-th call for every k, a byte at a time, more than was asked for. Each
 * status comes back as it was given, nothing leaks, and the next call works. */
#include "heap.h"

#include <kmb/kmb.h>

#include <errno.h>

/* Host memory, counted. */
static heap memory;

/* Output in memory; call number `fail_at` returns `status`. */
typedef struct output {
  char *data;
  size_t size;
  uint64_t calls, fail_at;
  kmb_status status;
} output;

static kmb_status put(void *user, const void *data, size_t size) {
  output *o = user;
  REQUIRE(size > 0);
  if (++o->calls == o->fail_at) return o->status;
  REQUIRE(!o->fail_at || o->calls < o->fail_at); /* no call after a failure */
  o->data = realloc(o->data, o->size + size);
  REQUIRE(o->data != NULL);
  memcpy(o->data + o->size, data, size);
  o->size += size;
  return KMB_OK;
}

/* As a program writes to a file; -1 stands for what errno says. */
static kmb_status put_file(void *user, const void *data, size_t size) {
  FILE *file = user;
  if (fwrite(data, 1, size, file) == size && fflush(file) == 0) return KMB_OK;
  REQUIRE_EQ(errno, ENOSPC);
  return KMB_ERR_IO;
}

typedef struct input {
  const char *data;
  size_t size, at, piece;
  uint64_t calls, fail_at;
  kmb_status status;
  size_t lie; /* so many more are claimed at the call `fail_at` */
} input;

static kmb_status take(void *user, void *data, size_t size, size_t *got) {
  input *in = user;
  size_t left = in->size - in->at;
  REQUIRE(size > 0);
  if (++in->calls == in->fail_at) {
    *got = in->lie ? size + in->lie : 0;
    return in->status;
  }
  *got = left < size ? left : size;
  if (in->piece && *got > in->piece) *got = in->piece;
  memcpy(data, in->data + in->at, *got);
  in->at += *got;
  return KMB_OK;
}

/* --- what is written ---------------------------------------------------- */

static kmb_result *result; /* of the list */
static kmb_results *results;

static void make_results(void) {
  enum { COUNT = 4000 }; /* so that the JSON takes several writes */
  static double ns[COUNT];
  const kmb_pair axes[] = {{"rows", "4096"}, {"dtype", "f32"}};
  kmb_hooks hooks = heap_hooks(&memory);
  kmb_device_params open = kmb_device_params_init();
  kmb_bench_params params = kmb_bench_params_init();
  kmb_device *device = NULL;
  open.hooks = &hooks;
  params.name = "stream";
  params.axes = axes;
  params.axis_count = 2;
  for (int i = 0; i < COUNT; i++)
    ns[i] = 100 + i % 7 / 3.0;
  REQUIRE_OK(kmb_device_open("host", &open, &device));
  REQUIRE_OK(kmb_results_create(&hooks, &results));
  for (int i = 0; i < 3; i++) {
    REQUIRE_OK(kmb_result_from_samples(device, &params, ns, COUNT, 1, &result));
    REQUIRE_OK(kmb_results_add(results, result));
  }
  kmb_device_close(device);
}

typedef kmb_status (*writing)(kmb_write_fn write, void *user);

static kmb_status write_one_json(kmb_write_fn write, void *user) {
  return kmb_result_write_json(result, write, user);
}

static kmb_status write_json(kmb_write_fn write, void *user) {
  return kmb_results_write_json(results, write, user);
}

static kmb_status write_text(kmb_write_fn write, void *user) {
  return kmb_result_write_text(result, write, user);
}

static kmb_status write_table(kmb_write_fn write, void *user) {
  return kmb_results_write_table(results, write, user);
}

static const writing writings[] = {write_one_json, write_json, write_text,
                                   write_table};
enum { WRITINGS = sizeof writings / sizeof writings[0] };

static void a_write_may_fail_at_any_call(void) {
  const kmb_status statuses[] = {42, INT32_MAX, KMB_ERR_IO, KMB_ERR_NOMEM,
                                 -999};
  int64_t held = memory.blocks_out;
  for (int w = 0; w < WRITINGS; w++) {
    output whole = {0};
    REQUIRE_OK(writings[w](put, &whole));
    REQUIRE(whole.calls > (w < 2 ? 5u : 0u));
    for (uint64_t at = 1; at <= whole.calls; at++) {
      output o = {.fail_at = at, .status = statuses[at % 5]};
      REQUIRE_STATUS(writings[w](put, &o), o.status);
      REQUIRE_EQ(o.calls, at);
      REQUIRE(o.size < whole.size &&
              !memcmp(o.data ? o.data : "", whole.data, o.size));
      free(o.data);
      REQUIRE_EQ(memory.blocks_out, held);
    }
    output again = {0};
    REQUIRE_OK(writings[w](put, &again));
    REQUIRE(again.size == whole.size &&
            memcmp(again.data, whole.data, whole.size) == 0);
    free(again.data);
    free(whole.data);
  }
}

static void a_full_disk_is_told(void) {
  int64_t held = memory.blocks_out;
  for (int w = 0; w < WRITINGS; w++) {
    FILE *full = fopen("/dev/full", "w");
    REQUIRE(full != NULL);
    REQUIRE_STATUS(writings[w](put_file, full), KMB_ERR_IO);
    REQUIRE_HAS(kmb_last_error(NULL, NULL), "write callback");
    fclose(full);
    REQUIRE_EQ(memory.blocks_out, held);
    FILE *file = tmpfile();
    REQUIRE(file != NULL);
    REQUIRE_OK(writings[w](put_file, file));
    REQUIRE(ftell(file) > 0);
    fclose(file);
  }
}

/* --- what is read ------------------------------------------------------- */

static kmb_status read_from(input *in) {
  kmb_hooks hooks = heap_hooks(&memory);
  kmb_results *list = (kmb_results *)in;
  int64_t held = memory.blocks_out;
  kmb_status status = kmb_results_read_json(take, in, &hooks, &list);
  REQUIRE(!status == !!list);
  if (!status) REQUIRE_EQ(kmb_results_count(list), 3);
  kmb_results_destroy(list);
  REQUIRE_EQ(memory.blocks_out, held);
  return status;
}

static void a_read_may_fail_at_any_call(void) {
  const kmb_status statuses[] = {42, KMB_ERR_IO, -999};
  output o = {0};
  REQUIRE_OK(write_json(put, &o));
  input whole = {.data = o.data, .size = o.size, .piece = 4096};
  REQUIRE_OK(read_from(&whole));
  REQUIRE(whole.calls > 20);
  for (uint64_t at = 1; at <= whole.calls; at++) {
    input in = {.data = o.data, .size = o.size, .piece = 4096, .fail_at = at};
    in.status = statuses[at % 3];
    REQUIRE_STATUS(read_from(&in), in.status);
    REQUIRE_EQ(in.calls, at);
  }
  free(o.data);
}

static void a_byte_at_a_time_is_enough(void) {
  output o = {0};
  REQUIRE_OK(write_json(put, &o));
  input in = {.data = o.data, .size = o.size, .piece = 1};
  REQUIRE_OK(read_from(&in));
  REQUIRE_EQ(in.calls, o.size + 1);
  free(o.data);
}

/* By one byte, or by so many that a sum would overflow. */
static void more_than_there_was_room_for_is_refused(void) {
  const size_t lies[] = {1, 1u << 20, SIZE_MAX / 2};
  output o = {0};
  REQUIRE_OK(write_json(put, &o));
  for (uint64_t at = 1; at <= 5; at++) {
    for (size_t i = 0; i < 3; i++) {
      input in = {.data = o.data,
                  .size = o.size,
                  .piece = 4096,
                  .fail_at = at,
                  .lie = lies[i]};
      REQUIRE_STATUS(read_from(&in), KMB_ERR_INVALID);
      REQUIRE_HAS(kmb_last_error(NULL, NULL), "asked for");
      REQUIRE_EQ(in.calls, at);
    }
  }
  free(o.data);
}

/* An end in the middle is a document that ends there. */
static void an_early_end_is_malformed(void) {
  output o = {0};
  REQUIRE_OK(write_json(put, &o));
  for (size_t size = 0; size < o.size - 2; size += 1 + size / 50) {
    input in = {.data = o.data, .size = size};
    REQUIRE_STATUS(read_from(&in), KMB_ERR_FORMAT);
    REQUIRE_HAS(kmb_last_error(NULL, NULL), "JSON line");
  }
  free(o.data);
}

int main(void) {
  make_results();
  RUN(a_write_may_fail_at_any_call);
  RUN(a_full_disk_is_told);
  RUN(a_read_may_fail_at_any_call);
  RUN(a_byte_at_a_time_is_enough);
  RUN(more_than_there_was_room_for_is_refused);
  RUN(an_early_end_is_malformed);
  kmb_results_destroy(results);
  REQUIRE_EQ(memory.blocks_out, 0);
  return 0;
}
