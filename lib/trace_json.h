/* A JSON reader that holds no more than it is asked to: tokens over a source.
 * Text that is kept ("pinned") stays in the source's buffer; a slice says
 * where.
 */
#ifndef KMB_LIB_TRACE_JSON_H
#define KMB_LIB_TRACE_JSON_H

#include "trace.h"

enum { KMBI_JSON_DEPTH = 64 };

typedef struct kmbi_jsonr {
  kmbi_source *source;
  size_t at;      /* from source->begin */
  size_t counted; /* lines are counted up to here, from the buffer's start */
  uint64_t line;  /* at `counted` */
  uint64_t line_bytes; /* between the line's start and `counted` */
  bool pinned;
} kmbi_jsonr;

typedef enum kmbi_slice_type {
  KMBI_SLICE_NONE,
  KMBI_SLICE_STRING,
  KMBI_SLICE_NUMBER,
  KMBI_SLICE_OTHER /* a literal, an object, an array */
} kmbi_slice_type;

/* Where a string's inside or a number lies, from source->begin. */
typedef struct kmbi_slice {
  size_t at, size;
  kmbi_slice_type type;
  bool escaped;
} kmbi_slice;

void kmbi_jsonr_init(kmbi_jsonr *r, kmbi_source *source);
/* FORMAT where the reader stands. */
kmb_status kmbi_jsonr_fail(const kmbi_jsonr *r, const char *format, ...)
    KMB_PRINTF(2, 3);
/* FORMAT where a slice begins. */
kmb_status kmbi_jsonr_fail_at(const kmbi_jsonr *r, const kmbi_slice *slice,
                              const char *format, ...) KMB_PRINTF(3, 4);

/* From here on text is kept, until unpin. */
void kmbi_jsonr_pin(kmbi_jsonr *r);
void kmbi_jsonr_unpin(kmbi_jsonr *r);

/* The next character that is no space; 0 at the end. It is not taken. */
kmb_status kmbi_jsonr_peek(kmbi_jsonr *r, char *c);
/* Takes this character or fails, naming `what` as expected. */
kmb_status kmbi_jsonr_take(kmbi_jsonr *r, char c, const char *what);
/* In an object or array: takes what is between its parts. `*first` is true
 * before the first part and becomes false; `*more` is false once `close` was
 * taken. */
kmb_status kmbi_jsonr_next(kmbi_jsonr *r, char close, bool *first, bool *more);
/* A key and its colon. The slice is valid while pinned. */
kmb_status kmbi_jsonr_key(kmbi_jsonr *r, kmbi_slice *key);
/* In an object: what is between its members, and the next one's key and colon.
 * `*more` is false once the object has ended. */
kmb_status kmbi_jsonr_member(kmbi_jsonr *r, bool *first, bool *more,
                             kmbi_slice *key);
/* Any value, whose slice is filled if it is a string or number, or if text is
 * pinned. `depth` counts what it is within. */
kmb_status kmbi_jsonr_value(kmbi_jsonr *r, int depth, kmbi_slice *slice);

static inline const char *kmbi_slice_text(const kmbi_jsonr *r,
                                          const kmbi_slice *slice) {
  return r->source->buffer + r->source->begin + slice->at;
}
bool kmbi_slice_is(const kmbi_jsonr *r, const kmbi_slice *slice,
                   const char *text);
/* A whole number of 64 bits, or a string that holds one, as our own files have
 * them above 2^53; FORMAT for anything else. */
kmb_status kmbi_slice_u64(const kmbi_jsonr *r, const kmbi_slice *slice,
                          uint64_t *value);
/* Replaces escapes, in place; FORMAT for one that is none and for a zero. */
kmb_status kmbi_slice_decode(const kmbi_jsonr *r, kmbi_slice *slice);

#endif
