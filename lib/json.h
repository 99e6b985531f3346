/* A strict JSON parser. jansson writes our documents but does not read them:
 * where its memory runs out inside a token, it goes on with a shortened number
 * or key, and a wrong number must not pass for a right one. */
#ifndef KMB_LIB_JSON_H
#define KMB_LIB_JSON_H

#include "memory.h"

typedef enum kmbi_json_type {
  KMBI_JSON_NULL,
  KMBI_JSON_FALSE,
  KMBI_JSON_TRUE,
  KMBI_JSON_INTEGER, /* no point, no exponent, fits into u64 or is negative */
  KMBI_JSON_REAL,    /* any other number; finite */
  KMBI_JSON_STRING,
  KMBI_JSON_ARRAY,
  KMBI_JSON_OBJECT
} kmbi_json_type;

typedef struct kmbi_json {
  const char *key;        /* in an object */
  struct kmbi_json *next; /* sibling, in the order of the text */
  double number;          /* INTEGER, REAL */
  union {
    uint64_t u64;            /* INTEGER: the magnitude */
    const char *text;        /* STRING */
    struct kmbi_json *child; /* ARRAY, OBJECT */
  } as;
  uint64_t count; /* ARRAY, OBJECT */
  kmbi_json_type type;
  bool negative; /* INTEGER */
} kmbi_json;

/* Parses `size` bytes at `text`, which are followed by a zero. Strings are
 * decoded in place, so `text` must live as long as the tree; nodes come from
 * `arena`. FORMAT, with line and column, for anything but one well-formed value
 * of valid UTF-8 without duplicate keys, zero characters and numbers that a
 * double cannot hold. */
kmb_status kmbi_json_parse(kmbi_arena *arena, char *text, size_t size,
                           kmbi_json **root);

/* A key that occurs twice, NULL if there is none. Sorts `keys`. */
const char *kmbi_repeated_key(const char **keys, size_t count);

/* A key that occurs twice in `a` and `b` together, NULL if there is none; `b`
 * may be NULL. */
kmb_status kmbi_json_repeated(const kmbi_memory *memory, const kmbi_json *a,
                              const kmbi_json *b, const char **key);

/* NULL if the object has no such member. */
const kmbi_json *kmbi_json_member(const kmbi_json *object, const char *key);

#endif
