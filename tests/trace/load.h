/* Loading traces from memory, in pieces of any size. */
#ifndef KMB_TESTS_TRACE_LOAD_H
#define KMB_TESTS_TRACE_LOAD_H

#include "require.h"

#include <kmb/trace.h>

typedef struct bytes {
  const char *data;
  size_t size, at, piece; /* piece 0: as much as is asked for */
} bytes;

static inline kmb_status give_bytes(void *user, void *data, size_t size,
                                    size_t *got) {
  bytes *b = user;
  size_t left = b->size - b->at;
  *got = left < size ? left : size;
  if (b->piece && *got > b->piece) *got = b->piece;
  memcpy(data, b->data + b->at, *got);
  b->at += *got;
  return KMB_OK;
}

static inline kmb_status load_as(const char *data, size_t size, size_t piece,
                                 kmb_trace_format format, kmb_trace **trace) {
  bytes b = {data, size, 0, piece};
  kmb_trace_params p = kmb_trace_params_init();
  p.name = "t";
  p.format = format;
  return kmb_trace_read(give_bytes, &b, &p, trace);
}

/* Must load; with any size of pieces the same. */
static inline kmb_trace *load_n(const char *data, size_t size) {
  static const size_t pieces[] = {1, 7, 0};
  kmb_trace *trace = NULL;
  kmb_trace_info first = kmb_trace_info_init(), info = kmb_trace_info_init();
  for (int i = 0; i < 3; i++) {
    kmb_trace_destroy(trace);
    REQUIRE_OK(load_as(data, size, pieces[i], KMB_TRACE_AUTO, &trace));
    REQUIRE_OK(kmb_trace_get_info(trace, i ? &info : &first));
    REQUIRE(!i || memcmp(&first, &info, sizeof info) == 0);
  }
  return trace;
}

static inline kmb_trace *load(const char *text) {
  return load_n(text, strlen(text));
}

/* Must be refused, and the message must say this. */
static inline void refused_n(const char *data, size_t size, kmb_status want,
                             const char *part) {
  static const size_t pieces[] = {1, 7, 0};
  for (int i = 0; i < 3; i++) {
    kmb_trace *trace = (kmb_trace *)&trace;
    REQUIRE_STATUS(load_as(data, size, pieces[i], KMB_TRACE_AUTO, &trace),
                   want);
    REQUIRE(!trace);
    REQUIRE_HAS(kmb_last_error(NULL, NULL), part);
  }
}

static inline void refused(const char *text, const char *part) {
  refused_n(text, strlen(text), KMB_ERR_FORMAT, part);
}

static inline kmb_trace_info info_of(const kmb_trace *trace) {
  kmb_trace_info info = kmb_trace_info_init();
  REQUIRE_OK(kmb_trace_get_info(trace, &info));
  return info;
}

static inline kmb_trace_op op_of(const kmb_trace *trace, uint64_t index) {
  kmb_trace_op op = kmb_trace_op_init();
  REQUIRE_OK(kmb_trace_get_op(trace, index, &op));
  return op;
}

/* How a kernel was launched; `want` is NULL where nobody knows. */
static inline void require_shape(kmb_trace_op op, const uint32_t want[6]) {
  static const uint32_t none[6];
  const uint32_t got[6] = {op.grid_x,  op.grid_y,  op.grid_z,
                           op.block_x, op.block_y, op.block_z};
  REQUIRE_EQ(op.flags & KMB_OP_HAS_SHAPE, want ? KMB_OP_HAS_SHAPE : 0);
  REQUIRE(memcmp(got, want ? want : none, sizeof got) == 0);
}
#define SHAPE(...)      \
  (const uint32_t[6]) { \
    __VA_ARGS__         \
  }

static inline kmb_gaps *analyse(const kmb_trace *trace, const char *kernel) {
  kmb_gaps_params p = kmb_gaps_params_init();
  kmb_gaps *gaps = NULL;
  p.kernel = kernel;
  REQUIRE_OK(kmb_gaps_analyse(trace, &p, &gaps));
  return gaps;
}

static inline kmb_gaps_device device_of(const kmb_gaps *gaps, uint64_t index) {
  kmb_gaps_device device = kmb_gaps_device_init();
  REQUIRE_OK(kmb_gaps_get_device(gaps, index, &device));
  return device;
}

/* What is written, in memory. */
typedef struct written {
  char *data;
  size_t size;
} written;

static inline kmb_status take_bytes(void *user, const void *data, size_t size) {
  written *w = user;
  w->data = realloc(w->data, w->size + size + 1);
  REQUIRE(w->data);
  memcpy(w->data + w->size, data, size);
  w->size += size;
  w->data[w->size] = '\0';
  return KMB_OK;
}

#endif
