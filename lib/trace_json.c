/* Tokens of JSON over a source. */
#define _GNU_SOURCE /* memrchr */
#include "trace_json.h"

#include "decimal.h"
#include "error.h"
#include "scan.h"

#include <stdio.h>

/* Whether a byte may be part of a number or literal. */
#define IS_WORD(c)                                             \
  (((c) >= '0' && (c) <= '9') || ((c) >= 'a' && (c) <= 'z') || \
   ((c) >= 'A' && (c) <= 'Z') || (c) == '+' || (c) == '-' || (c) == '.')
#define FOUR(c) IS_WORD(c), IS_WORD((c) + 1), IS_WORD((c) + 2), IS_WORD((c) + 3)
#define SIXTEEN(c) FOUR(c), FOUR((c) + 4), FOUR((c) + 8), FOUR((c) + 12)

static const bool words[256] = {SIXTEEN(0x00), SIXTEEN(0x10), SIXTEEN(0x20),
                                SIXTEEN(0x30), SIXTEEN(0x40), SIXTEEN(0x50),
                                SIXTEEN(0x60), SIXTEEN(0x70)};

void kmbi_jsonr_init(kmbi_jsonr *r, kmbi_source *source) {
  *r = (kmbi_jsonr){.source = source, .line = 1};
  if (source->end - source->begin >= 3 &&
      memcmp(source->buffer + source->begin, "\xEF\xBB\xBF", 3) == 0)
    source->begin += 3;
}

static const char *here(const kmbi_jsonr *r) {
  return r->source->buffer + r->source->begin + r->at;
}

static const char *end_of(const kmbi_jsonr *r) {
  return r->source->buffer + r->source->end;
}

/* Counts the lines before `to`. */
static void count_lines(const kmbi_jsonr *r, const char *to, uint64_t *line,
                        uint64_t *bytes) {
  const char *at = r->source->buffer + r->counted;
  size_t size = to > at ? (size_t)(to - at) : 0;
  const char *last = memrchr(at, '\n', size);
  *line = r->line + kmbi_scan_count(at, size, '\n');
  *bytes = last ? (uint64_t)(to - last) - 1 : r->line_bytes + size;
}

KMB_PRINTF(3, 0)
static kmb_status fail(const kmbi_jsonr *r, const char *at, const char *format,
                       va_list arguments) {
  char cause[160];
  uint64_t line = 0, column = 0;
  vsnprintf(cause, sizeof cause, format, arguments);
  count_lines(r, at, &line, &column);
  return kmbi_source_fail(r->source, line, column + 1, "%s", cause);
}

kmb_status kmbi_jsonr_fail(const kmbi_jsonr *r, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  kmb_status status = fail(r, here(r), format, arguments);
  va_end(arguments);
  return status;
}

kmb_status kmbi_jsonr_fail_at(const kmbi_jsonr *r, const kmbi_slice *slice,
                              const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  kmb_status status = fail(r, kmbi_slice_text(r, slice), format, arguments);
  va_end(arguments);
  return status;
}

/* Reads on; what lies before `begin` is given up. */
static kmb_status fill(kmbi_jsonr *r) {
  kmbi_source *source = r->source;
  if (!r->pinned) {
    source->begin += r->at;
    r->at = 0;
  }
  count_lines(r, source->buffer + source->begin, &r->line, &r->line_bytes);
  r->counted = source->begin;
  kmb_status status = kmbi_source_fill(source);
  r->counted = source->begin;
  return status;
}

void kmbi_jsonr_pin(kmbi_jsonr *r) {
  r->source->begin += r->at;
  r->at = 0;
  r->pinned = true;
}

void kmbi_jsonr_unpin(kmbi_jsonr *r) {
  r->pinned = false;
}

kmb_status kmbi_jsonr_peek(kmbi_jsonr *r, char *c) {
  for (;;) {
    const char *at = kmbi_scan_space(here(r));
    r->at = (size_t)(at - r->source->buffer) - r->source->begin;
    *c = *at;
    if (*at) return KMB_OK;
    if (at != end_of(r)) return kmbi_jsonr_fail(r, "a zero byte");
    if (r->source->ended) return KMB_OK;
    kmb_status status = fill(r);
    if (status) return status;
  }
}

/* The same; mostly there is no space, or a single one. */
static inline kmb_status peek(kmbi_jsonr *r, char *c) {
  const char *at = here(r);
  size_t space = *at == ' ';
  *c = at[space];
  if ((unsigned char)*c <= ' ') return kmbi_jsonr_peek(r, c);
  r->at += space;
  return KMB_OK;
}

kmb_status kmbi_jsonr_take(kmbi_jsonr *r, char c, const char *what) {
  char found = 0;
  kmb_status status = peek(r, &found);
  if (status) return status;
  if (found != c)
    return found ? kmbi_jsonr_fail(r, "%s expected", what)
                 : kmbi_jsonr_fail(r, "the text ends, %s expected", what);
  r->at++;
  return KMB_OK;
}

kmb_status kmbi_jsonr_next(kmbi_jsonr *r, char close, bool *first, bool *more) {
  char found = 0;
  kmb_status status = peek(r, &found);
  if (status) return status;
  *more = found != close;
  if (!*more || (!*first && found == ',')) {
    r->at++;
    return KMB_OK;
  }
  if (!*first) return kmbi_jsonr_take(r, ',', "a comma or the end of a list");
  *first = false;
  return KMB_OK;
}

/* At the opening quote of a string without escapes that ends in the buffer:
 * where it ends. NULL: it is not that. */
static inline const char *plain_string(const kmbi_jsonr *r, const char *at,
                                       kmbi_slice *slice) {
  const char *end = kmbi_scan_string(at + 1);
  if (*end != '"') return NULL;
  *slice =
      (kmbi_slice){r->at + 1, (size_t)(end - at) - 1, KMBI_SLICE_STRING, false};
  return end;
}

/* At the opening quote. */
static kmb_status read_string(kmbi_jsonr *r, kmbi_slice *slice) {
  size_t start = ++r->at;
  bool escaped = false;
  for (;;) {
    const char *at = kmbi_scan_string(here(r));
    r->at = (size_t)(at - r->source->buffer) - r->source->begin;
    if (*at == '"') break;
    if (at == end_of(r) || (*at == '\\' && at + 1 == end_of(r))) {
      if (r->source->ended)
        return kmbi_jsonr_fail(r, "the text ends within a string");
      size_t kept = r->at - start;
      kmb_status status = fill(r);
      if (status) return status;
      if (!r->pinned) start = r->at - kept;
      continue;
    }
    if (*at != '\\')
      return kmbi_jsonr_fail(r, *at ? "a control character in a string"
                                    : "a zero byte in a string");
    escaped = true;
    /* A zero or control character behind it is found in the next round. */
    r->at += (unsigned char)at[1] < 0x20 ? 1 : 2;
  }
  *slice = (kmbi_slice){start, r->at - start, KMBI_SLICE_STRING, escaped};
  r->at++;
  return KMB_OK;
}

/* A number or literal, whole in the buffer; `*size` of its bytes. */
static kmb_status read_word(kmbi_jsonr *r, size_t *size) {
  enum { LONGEST = 512 };
  for (;;) {
    const char *start = here(r), *at = start;
    while (words[(unsigned char)*at] && at - start < LONGEST)
      at++;
    if (at - start == LONGEST)
      return kmbi_jsonr_fail(r, "a number of more than %d characters",
                             (int)LONGEST - 1);
    *size = (size_t)(at - start);
    if (at != end_of(r) || r->source->ended) return KMB_OK;
    kmb_status status = fill(r);
    if (status) return status;
  }
}

static const char *skip_digits(const char *at) {
  while (*at >= '0' && *at <= '9')
    at++;
  return at;
}

/* Whether `size` bytes are a number by JSON's grammar. */
static bool is_number(const char *at, size_t size) {
  const char *end = at + size;
  if (*at == '-') at++;
  const char *digits = at;
  at = skip_digits(at);
  if (at == digits || (*digits == '0' && at - digits > 1)) return false;
  if (*at == '.') {
    digits = at + 1;
    at = skip_digits(digits);
    if (at == digits) return false;
  }
  if (*at == 'e' || *at == 'E') {
    at++;
    if (*at == '+' || *at == '-') at++;
    digits = at;
    at = skip_digits(at);
    if (at == digits) return false;
  }
  return at == end;
}

/* Bytes of a number without sign and exponent that ends in the buffer; 0 if it
 * is not that, or may be malformed. */
static size_t plain_number(const char *start) {
  const char *at = skip_digits(start), *point = at;
  if (at == start || (*start == '0' && at - start > 1)) return 0;
  if (*at == '.') at = skip_digits(at + 1);
  if (at == point + 1 || !*at || words[(unsigned char)*at]) return 0;
  return (size_t)(at - start);
}

static kmb_status read_scalar(kmbi_jsonr *r, kmbi_slice *slice) {
  static const char *const literals[] = {"true", "false", "null"};
  size_t size = plain_number(here(r));
  if (size) {
    *slice = (kmbi_slice){r->at, size, KMBI_SLICE_NUMBER, false};
    r->at += size;
    return KMB_OK;
  }
  kmb_status status = read_word(r, &size);
  if (status) return status;
  const char *text = here(r);
  *slice = (kmbi_slice){r->at, size, KMBI_SLICE_NUMBER, false};
  bool good = is_number(text, size);
  for (int i = 0; i < 3 && !good; i++) {
    good = size == strlen(literals[i]) && memcmp(text, literals[i], size) == 0;
    slice->type = KMBI_SLICE_OTHER;
  }
  if (!good)
    return kmbi_jsonr_fail(r, r->source->ended && text == end_of(r)
                                  ? "the text ends, a value expected"
                              : size ? "malformed number or literal"
                                     : "a value expected");
  r->at += size;
  return KMB_OK;
}

kmb_status kmbi_jsonr_key(kmbi_jsonr *r, kmbi_slice *key) {
  char c = 0;
  kmb_status status = peek(r, &c);
  if (!status && c != '"')
    status = c ? kmbi_jsonr_fail(r, "a key expected")
               : kmbi_jsonr_fail(r, "the text ends, a key expected");
  if (!status) status = read_string(r, key);
  if (!status) status = kmbi_jsonr_take(r, ':', "a colon");
  return status;
}

/* As most files have it: a comma, spaces, a plain key, a colon. False, and
 * nothing taken, if it is not that. */
static bool plain_member(kmbi_jsonr *r, kmbi_slice *key) {
  const char *start = here(r);
  if (*start != ',') return false;
  const char *at = start[1] == ' ' && start[2] == '"'
                       ? start + 2
                       : kmbi_scan_space(start + 1);
  if (*at != '"') return false;
  const char *end = kmbi_scan_string(at + 1);
  if (*end != '"' || end[1] != ':') return false;
  *key = (kmbi_slice){r->at + (size_t)(at + 1 - start), (size_t)(end - at) - 1,
                      KMBI_SLICE_STRING, false};
  r->at += (size_t)(end + 2 - start);
  return true;
}

kmb_status kmbi_jsonr_member(kmbi_jsonr *r, bool *first, bool *more,
                             kmbi_slice *key) {
  *more = true;
  if (!*first && plain_member(r, key)) return KMB_OK;
  kmb_status status = kmbi_jsonr_next(r, '}', first, more);
  return status || !*more ? status : kmbi_jsonr_key(r, key);
}

/* At the bracket of an array of plain numbers that ends in the buffer: what is
 * behind it. NULL: it is not that. */
static const char *plain_array(const char *at) {
  for (;;) {
    at += 1 + (at[1] == ' ');
    size_t size = plain_number(at);
    if (!size) return NULL;
    at += size;
    if (*at == ']') return at + 1;
    if (*at != ',') return NULL;
  }
}

/* An object or array, whose parts are looked at and forgotten. Where it lies is
 * known while text is pinned. */
static kmb_status skip_nested(kmbi_jsonr *r, int depth, char open,
                              kmbi_slice *slice) {
  bool first = true, more = true;
  kmbi_slice ignored;
  if (depth >= KMBI_JSON_DEPTH)
    return kmbi_jsonr_fail(r, "nested deeper than %d", (int)KMBI_JSON_DEPTH);
  const char *start = here(r), *end = open == '[' ? plain_array(start) : NULL;
  const size_t from = r->at;
  r->at += end ? (size_t)(end - start) : 1;
  while (!end) {
    kmb_status status = open == '{'
                            ? kmbi_jsonr_member(r, &first, &more, &ignored)
                            : kmbi_jsonr_next(r, ']', &first, &more);
    if (status) return status;
    if (!more) break;
    status = kmbi_jsonr_value(r, depth + 1, &ignored);
    if (status) return status;
  }
  if (r->pinned)
    *slice = (kmbi_slice){from, r->at - from, KMBI_SLICE_OTHER, false};
  return KMB_OK;
}

kmb_status kmbi_jsonr_value(kmbi_jsonr *r, int depth, kmbi_slice *slice) {
  char c = 0;
  *slice = (kmbi_slice){.type = KMBI_SLICE_OTHER};
  kmb_status status = peek(r, &c);
  if (status) return status;
  if (c == '"') {
    const char *at = here(r), *end = plain_string(r, at, slice);
    if (!end) return read_string(r, slice);
    r->at += (size_t)(end - at) + 1;
    return KMB_OK;
  }
  if (c == '{' || c == '[') return skip_nested(r, depth, c, slice);
  return read_scalar(r, slice);
}

bool kmbi_slice_is(const kmbi_jsonr *r, const kmbi_slice *slice,
                   const char *text) {
  return slice->size == strlen(text) &&
         memcmp(kmbi_slice_text(r, slice), text, slice->size) == 0;
}

/* Escapes. */

static bool hex4(const char *text, const char *end, uint32_t *code) {
  *code = 0;
  if (end - text < 4) return false;
  for (int i = 0; i < 4; i++) {
    char c = text[i];
    uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                     : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                     : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                            : 16;
    if (digit == 16) return false;
    *code = *code << 4 | digit;
  }
  return true;
}

static char *put_utf8(char *to, uint32_t code) {
  if (code < 0x80) {
    *to++ = (char)code;
    return to;
  }
  if (code < 0x800) {
    *to++ = (char)(0xC0u | code >> 6);
  } else {
    if (code < 0x10000) {
      *to++ = (char)(0xE0u | code >> 12);
    } else {
      *to++ = (char)(0xF0u | code >> 18);
      *to++ = (char)(0x80u | (code >> 12 & 0x3Fu));
    }
    *to++ = (char)(0x80u | (code >> 6 & 0x3Fu));
  }
  *to++ = (char)(0x80u | (code & 0x3Fu));
  return to;
}

/* At the 'u'; half of a pair that stands alone becomes U+FFFD. */
static const char *unicode(const char *at, const char *end, char **to) {
  uint32_t code = 0, low = 0;
  if (!hex4(at + 1, end, &code) || code == 0) return NULL;
  at += 5;
  if (code >= 0xD800 && code <= 0xDFFF) {
    bool pair = code <= 0xDBFF && end - at >= 6 && at[0] == '\\' &&
                at[1] == 'u' && hex4(at + 2, end, &low) && low >= 0xDC00 &&
                low <= 0xDFFF;
    if (pair) at += 6;
    code = pair ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : 0xFFFD;
  }
  *to = put_utf8(*to, code);
  return at;
}

kmb_status kmbi_slice_decode(const kmbi_jsonr *r, kmbi_slice *slice) {
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  if (!slice->escaped) return KMB_OK;
  char *start = r->source->buffer + r->source->begin + slice->at, *to = start;
  const char *at = start, *end = start + slice->size;
  while (at < end) {
    if (*at != '\\') {
      *to++ = *at++;
      continue;
    }
    const char *escape = ++at, *name = strchr(names, *at);
    if (*at == 'u') {
      at = unicode(at, end, &to);
    } else if (name) {
      *to++ = values[name - names];
      at++;
    } else {
      at = NULL;
    }
    if (!at)
      return kmbi_jsonr_fail_at(
          r, &(kmbi_slice){.at = slice->at + (size_t)(escape - start)},
          "an escape that is none, or stands for a zero");
  }
  slice->size = (size_t)(to - start);
  slice->escaped = false;
  return KMB_OK;
}

kmb_status kmbi_slice_u64(const kmbi_jsonr *r, const kmbi_slice *slice,
                          uint64_t *value) {
  kmbi_decimal n = {0};
  bool good =
      (slice->type == KMBI_SLICE_NUMBER || slice->type == KMBI_SLICE_STRING) &&
      kmbi_decimal_read(kmbi_slice_text(r, slice), slice->size, 0, &n) ==
          KMBI_DECIMAL_OK &&
      !n.negative && !n.decimals;
  if (!good)
    return kmbi_jsonr_fail_at(r, slice, "a whole number of 64 bits expected");
  *value = n.value;
  return KMB_OK;
}
