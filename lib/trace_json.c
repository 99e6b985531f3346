/* Tokens of JSON over a source. */
#include "trace_json.h"

#include "decimal.h"
#include "error.h"

#include <stdio.h>

/* What a byte may be part of. SPECIAL ends a plain stretch of a string. */
enum { SPACE = 1, SPECIAL = 2, WORD = 4 };

#define IS_SPACE(c) ((c) == ' ' || (c) == '\t' || (c) == '\n' || (c) == '\r')
#define IS_SPECIAL(c) ((c) < 0x20 || (c) == '"' || (c) == '\\')
#define IS_WORD(c)                                             \
  (((c) >= '0' && (c) <= '9') || ((c) >= 'a' && (c) <= 'z') || \
   ((c) >= 'A' && (c) <= 'Z') || (c) == '+' || (c) == '-' || (c) == '.')
#define CLASS(c)                                              \
  (IS_SPACE(c) ? SPACE : 0) | (IS_SPECIAL(c) ? SPECIAL : 0) | \
      (IS_WORD(c) ? WORD : 0)
#define FOUR(c) CLASS(c), CLASS((c) + 1), CLASS((c) + 2), CLASS((c) + 3)
#define SIXTEEN(c) FOUR(c), FOUR((c) + 4), FOUR((c) + 8), FOUR((c) + 12)

static const unsigned char classes[256] = {
    SIXTEEN(0x00), SIXTEEN(0x10), SIXTEEN(0x20), SIXTEEN(0x30),
    SIXTEEN(0x40), SIXTEEN(0x50), SIXTEEN(0x60), SIXTEEN(0x70)};

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
  *line = r->line;
  *bytes = r->line_bytes;
  for (const char *newline = NULL;
       at < to && (newline = memchr(at, '\n', (size_t)(to - at)));
       at = newline + 1) {
    ++*line;
    *bytes = 0;
  }
  *bytes += (uint64_t)(to - at);
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
    const char *at = here(r);
    while (classes[(unsigned char)*at] & SPACE)
      at++;
    r->at = (size_t)(at - r->source->buffer) - r->source->begin;
    *c = *at;
    if (*at) return KMB_OK;
    if (at != end_of(r)) return kmbi_jsonr_fail(r, "a zero byte");
    if (r->source->ended) return KMB_OK;
    kmb_status status = fill(r);
    if (status) return status;
  }
}

kmb_status kmbi_jsonr_take(kmbi_jsonr *r, char c, const char *what) {
  char found = 0;
  kmb_status status = kmbi_jsonr_peek(r, &found);
  if (status) return status;
  if (found != c)
    return found ? kmbi_jsonr_fail(r, "%s expected", what)
                 : kmbi_jsonr_fail(r, "the text ends, %s expected", what);
  r->at++;
  return KMB_OK;
}

kmb_status kmbi_jsonr_next(kmbi_jsonr *r, char close, bool *first, bool *more) {
  char found = 0;
  kmb_status status = kmbi_jsonr_peek(r, &found);
  if (status) return status;
  *more = found != close;
  if (!*more) {
    r->at++;
    return KMB_OK;
  }
  if (!*first) return kmbi_jsonr_take(r, ',', "a comma or the end of a list");
  *first = false;
  return KMB_OK;
}

/* At the opening quote. */
static kmb_status read_string(kmbi_jsonr *r, kmbi_slice *slice) {
  size_t start = ++r->at;
  bool escaped = false;
  for (;;) {
    const char *at = here(r);
    while (!(classes[(unsigned char)*at] & SPECIAL))
      at++;
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
    while ((classes[(unsigned char)*at] & WORD) && at - start < LONGEST)
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

static kmb_status read_scalar(kmbi_jsonr *r, kmbi_slice *slice) {
  static const char *const literals[] = {"true", "false", "null"};
  size_t size = 0;
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
  kmb_status status = kmbi_jsonr_peek(r, &c);
  if (!status && c != '"')
    status = c ? kmbi_jsonr_fail(r, "a key expected")
               : kmbi_jsonr_fail(r, "the text ends, a key expected");
  if (!status) status = read_string(r, key);
  if (!status) status = kmbi_jsonr_take(r, ':', "a colon");
  return status;
}

/* An object or array, whose parts are looked at and forgotten. */
static kmb_status skip_nested(kmbi_jsonr *r, int depth, char open) {
  bool first = true, more = true;
  char close = open == '{' ? '}' : ']';
  kmbi_slice ignored;
  if (depth >= KMBI_JSON_DEPTH)
    return kmbi_jsonr_fail(r, "nested deeper than %d", (int)KMBI_JSON_DEPTH);
  r->at++;
  for (;;) {
    kmb_status status = kmbi_jsonr_next(r, close, &first, &more);
    if (status || !more) return status;
    if (open == '{') status = kmbi_jsonr_key(r, &ignored);
    if (!status) status = kmbi_jsonr_value(r, depth + 1, &ignored);
    if (status) return status;
  }
}

kmb_status kmbi_jsonr_value(kmbi_jsonr *r, int depth, kmbi_slice *slice) {
  char c = 0;
  *slice = (kmbi_slice){.type = KMBI_SLICE_OTHER};
  kmb_status status = kmbi_jsonr_peek(r, &c);
  if (status) return status;
  if (c == '"') return read_string(r, slice);
  if (c == '{' || c == '[') return skip_nested(r, depth, c);
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
