/* Where the bytes come from: callbacks that fail, cancelling, progress, limits,
 * files that only a path can serve. */
#include "load.h"

#include <stdbool.h>
#include <unistd.h>

#define SHORT "Start (ns),Duration (ns),Name\n"

/* A callback that does something else at its n-th call. */
typedef struct faulty {
  bytes from;
  int calls, fault_at;
  kmb_status status;
  size_t extra; /* bytes more than there is room for */
} faulty;

static kmb_status give_faulty(void *user, void *data, size_t size,
                              size_t *got) {
  faulty *f = user;
  if (f->calls++ == f->fault_at) {
    *got = size + f->extra;
    return f->status;
  }
  return give_bytes(&f->from, data, size, got);
}

static kmb_status read_faulty(faulty *f) {
  kmb_trace *trace = (kmb_trace *)&trace;
  kmb_status status = kmb_trace_read(give_faulty, f, NULL, &trace);
  REQUIRE(!status == !!trace);
  kmb_trace_destroy(trace);
  return status;
}

static faulty faulty_of(const char *text, int fault_at) {
  return (faulty){.from = {text, strlen(text), 0, 5}, .fault_at = fault_at};
}

static void a_failing_callback_ends_the_load(void) {
  const char *text = SHORT "1,1,k\n2,1,k\n";
  int calls = 0;
  for (int at = 0;; at++) {
    faulty f = faulty_of(text, at);
    f.status = at % 2 ? 42 : KMB_ERR_IO;
    kmb_status status = read_faulty(&f);
    if (f.calls <= at) break;
    REQUIRE_EQ(status, f.status);
    REQUIRE_HAS(kmb_last_error(NULL, NULL), "a callback returned");
    calls++;
  }
  REQUIRE(calls > 5);
}

static void a_callback_may_not_give_too_much(void) {
  faulty f = faulty_of(SHORT "1,1,k\n", 2);
  f.extra = 1;
  REQUIRE_STATUS(read_faulty(&f), KMB_ERR_INVALID);
}

static void a_load_can_be_cancelled(void) {
  bytes b = {SHORT, sizeof SHORT - 1, 0, 1};
  kmb_trace_params p = kmb_trace_params_init();
  kmb_hooks hooks = kmb_hooks_init();
  kmb_trace *trace = NULL;
  int32_t cancel = 1;
  hooks.cancel = &cancel;
  p.hooks = &hooks;
  REQUIRE_STATUS(kmb_trace_read(give_bytes, &b, &p, &trace), KMB_ERR_CANCELLED);
  REQUIRE(!trace);
  cancel = 0;
  REQUIRE_OK(kmb_trace_read(give_bytes, &b, &p, &trace));
  kmb_trace_destroy(trace);
}

typedef struct progress {
  uint64_t calls, done, total;
} progress;

static void see_progress(void *user, uint64_t done, uint64_t total) {
  progress *p = user;
  REQUIRE(done >= p->done);
  p->calls++;
  p->done = done;
  p->total = total;
}

static void write_temporary(char *path, const char *data, size_t size) {
  int file = mkstemp(path);
  REQUIRE(file >= 0);
  REQUIRE(write(file, data, size) == (ssize_t)size);
  close(file);
}

static void progress_counts_the_file(void) {
  char path[] = "kmb-trace-test-XXXXXX";
  const char *text = SHORT "1,1,k\n";
  progress seen = {0, 0, 0};
  kmb_trace_params p = kmb_trace_params_init();
  kmb_trace *trace = NULL;
  write_temporary(path, text, strlen(text));
  p.progress = see_progress;
  p.progress_user = &seen;
  REQUIRE_OK(kmb_trace_load(path, &p, &trace));
  unlink(path);
  REQUIRE(seen.calls);
  REQUIRE_EQ(seen.done, strlen(text));
  REQUIRE_EQ(seen.total, strlen(text));
  kmb_trace_destroy(trace);
}

static void files_that_cannot_be_read_are_named(void) {
  kmb_trace *trace = (kmb_trace *)&trace;
  REQUIRE_STATUS(kmb_trace_load("/nowhere/t.csv", NULL, &trace), KMB_ERR_IO);
  REQUIRE(!trace);
  REQUIRE_HAS(kmb_last_error(NULL, NULL),
              "cannot open /nowhere/t.csv: there is no such file");
  REQUIRE_STATUS(kmb_trace_load("/", NULL, &trace), KMB_ERR_IO);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "it is a folder");
}

static uint32_t crc_of(const char *data, size_t size) {
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < size; i++) {
    crc ^= (unsigned char)data[i];
    for (int bit = 0; bit < 8; bit++)
      crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

/* gzip without compression: one stored block. */
static size_t pack(const char *text, char *packed) {
  static const char head[] = "\x1F\x8B\x08\0\0\0\0\0\0\xFF\x01";
  size_t size = strlen(text), at = sizeof head - 1;
  uint32_t crc = crc_of(text, size);
  memcpy(packed, head, at);
  uint16_t lengths[2] = {(uint16_t)size, (uint16_t)~size};
  memcpy(packed + at, lengths, 4);
  for (size_t i = 0; i < size; i++)
    packed[at + 4 + i] = text[i];
  at += 4 + size;
  memcpy(packed + at, &crc, 4);
  uint32_t whole = (uint32_t)size;
  memcpy(packed + at + 4, &whole, 4);
  return at + 8;
}

static void packed_traces_load_in_pieces(void) {
  char packed[512];
  size_t size = pack(SHORT "1,1,k\n2,1,k\n", packed);
  kmb_trace *trace = load_n(packed, size);
  REQUIRE_EQ(info_of(trace).ops, 2);
  kmb_trace_destroy(trace);
  for (size_t cut = 3; cut < size; cut++)
    refused_n(packed, cut, KMB_ERR_FORMAT, "t:");
  packed[20] ^= 1; /* the checksum sees it */
  refused_n(packed, size, KMB_ERR_FORMAT, "gzip, byte");
}

static void unpacking_has_a_limit(void) {
  char packed[512];
  const char *text = SHORT "1,1,k\n";
  size_t size = pack(text, packed);
  kmb_trace_params p = kmb_trace_params_init();
  kmb_trace *trace = NULL;
  bytes b = {packed, size, 0, 0};
  p.unpacked_limit = strlen(text);
  REQUIRE_OK(kmb_trace_read(give_bytes, &b, &p, &trace));
  kmb_trace_destroy(trace);
  p.unpacked_limit--;
  b.at = 0;
  REQUIRE_STATUS(kmb_trace_read(give_bytes, &b, &p, &trace),
                 KMB_ERR_UNSUPPORTED);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "unpacks to more than 35 bytes");
}

static void free_nothing(void *user, void *pointer, size_t size) {
  (void)user;
  (void)pointer;
  (void)size;
}

static void params_are_checked(void) {
  kmb_trace_params p = kmb_trace_params_init();
  kmb_trace *trace = NULL;
  bytes b = {SHORT, sizeof SHORT - 1, 0, 0};
  REQUIRE_STATUS(kmb_trace_read(NULL, &b, &p, &trace), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_trace_read(give_bytes, &b, &p, NULL), KMB_ERR_INVALID);
  p.flags = 1u << 9;
  REQUIRE_STATUS(kmb_trace_read(give_bytes, &b, &p, &trace),
                 KMB_ERR_UNSUPPORTED);
  p = kmb_trace_params_init();
  p.struct_size--;
  REQUIRE_STATUS(kmb_trace_read(give_bytes, &b, &p, &trace), KMB_ERR_INVALID);
  kmb_hooks hooks = kmb_hooks_init();
  hooks.free = free_nothing;
  p = kmb_trace_params_init();
  p.hooks = &hooks;
  REQUIRE_STATUS(kmb_trace_read(give_bytes, &b, &p, &trace), KMB_ERR_INVALID);
  REQUIRE(!trace);
  kmb_trace_destroy(NULL);
  kmb_gaps_destroy(NULL);
}

int main(void) {
  RUN(a_failing_callback_ends_the_load);
  RUN(a_callback_may_not_give_too_much);
  RUN(a_load_can_be_cancelled);
  RUN(progress_counts_the_file);
  RUN(files_that_cannot_be_read_are_named);
  RUN(packed_traces_load_in_pieces);
  RUN(unpacking_has_a_limit);
  RUN(params_are_checked);
  return 0;
}
