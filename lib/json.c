/* A strict JSON parser. */
#include "json.h"

#include "error.h"
#include "utf8.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH_LIMIT = 64 };

typedef struct parser {
  kmbi_arena *arena;
  char *at, *end;
  const char *line_start;
  uint64_t line;
  int depth;
} parser;

static kmb_status fail_at(const parser *p, const char *what) {
  return kmbi_fail(KMB_ERR_FORMAT, "JSON line %llu, column %llu: %s",
                   (unsigned long long)p->line,
                   (unsigned long long)(p->at - p->line_start) + 1, what);
}

static kmb_status no_memory(void) {
  return kmbi_fail(KMB_ERR_NOMEM, "no memory to hold a JSON document");
}

static void skip_space(parser *p) {
  for (;; p->at++) {
    if (*p->at == '\n') {
      p->line++;
      p->line_start = p->at + 1;
    } else if (*p->at != ' ' && *p->at != '\t' && *p->at != '\r') {
      return;
    }
  }
}

/* What stands at `at` where something else was expected. */
static kmb_status unexpected(const parser *p, const char *expected) {
  char what[96];
  if (p->at == p->end)
    snprintf(what, sizeof what, "the text ends, %s expected", expected);
  else if (*p->at == '\0')
    snprintf(what, sizeof what, "a zero byte, %s expected", expected);
  else
    snprintf(what, sizeof what, "%s expected", expected);
  return fail_at(p, what);
}

/* Strings. */

static bool hex4(const char *text, uint32_t *code) {
  *code = 0;
  for (int i = 0; i < 4; i++) {
    char c = text[i];
    uint32_t digit = 0;
    if (c >= '0' && c <= '9')
      digit = (uint32_t)(c - '0');
    else if (c >= 'a' && c <= 'f')
      digit = (uint32_t)(c - 'a') + 10;
    else if (c >= 'A' && c <= 'F')
      digit = (uint32_t)(c - 'A') + 10;
    else
      return false;
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

/* At the 'u' of an escape. */
static kmb_status unicode_escape(parser *p, char **to) {
  uint32_t code = 0, low = 0;
  if (!hex4(p->at + 1, &code)) return fail_at(p, "four hex digits expected");
  if (code == 0) return fail_at(p, "a zero character in a string");
  if (code >= 0xDC00 && code <= 0xDFFF)
    return fail_at(p, "the second half of a surrogate pair stands alone");
  p->at += 5;
  if (code >= 0xD800 && code <= 0xDBFF) {
    if (p->at[0] != '\\' || p->at[1] != 'u' || !hex4(p->at + 2, &low) ||
        low < 0xDC00 || low > 0xDFFF)
      return fail_at(p, "the second half of a surrogate pair is missing");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    p->at += 6;
  }
  *to = put_utf8(*to, code);
  return KMB_OK;
}

/* At the character after a backslash. */
static kmb_status escape(parser *p, char **to) {
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  if (*p->at == 'u') return unicode_escape(p, to);
  const char *name = *p->at ? strchr(names, *p->at) : NULL;
  if (!name) return fail_at(p, "unknown escape in a string");
  *(*to)++ = values[name - names];
  p->at++;
  return KMB_OK;
}

/* What stands for itself: most of all text. */
static bool is_plain(char c) {
  unsigned char u = (unsigned char)c;
  return u >= 0x20 && u < 0x80 && u != '"' && u != '\\';
}

/* At the opening quote. Decoded text is never longer than its source, so it is
 * written over it. */
static kmb_status parse_string(parser *p, const char **text) {
  char *to = ++p->at;
  *text = to;
  for (;;) {
    const char *run = p->at;
    while (is_plain(*p->at))
      p->at++;
    size_t plain = (size_t)(p->at - run);
    if (plain && to != run) memmove(to, run, plain);
    to += plain;
    if (*p->at == '"') break;
    if (p->at == p->end) return fail_at(p, "the text ends within a string");
    if ((unsigned char)*p->at < 0x20)
      return fail_at(p, "a control character in a string");
    if (*p->at == '\\') {
      p->at++;
      kmb_status status = escape(p, &to);
      if (status) return status;
      continue;
    }
    size_t length = kmbi_utf8_char(p->at, NULL);
    if (!length) return fail_at(p, "invalid UTF-8 in a string");
    memmove(to, p->at, length);
    to += length;
    p->at += length;
  }
  p->at++;
  *to = '\0';
  return KMB_OK;
}

/* Numbers. */

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *at) {
  while (is_digit(*at))
    at++;
  return at;
}

/* End of a number by JSON's grammar, NULL if there is none at `at`. */
static const char *number_end(const char *at, bool *integral) {
  *integral = true;
  if (*at == '-') at++;
  if (!is_digit(*at)) return NULL;
  if (*at == '0' && is_digit(at[1])) return NULL;
  at = skip_digits(at);
  if (*at == '.') {
    *integral = false;
    if (!is_digit(*++at)) return NULL;
    at = skip_digits(at);
  }
  if (*at == 'e' || *at == 'E') {
    *integral = false;
    at++;
    if (*at == '+' || *at == '-') at++;
    if (!is_digit(*at)) return NULL;
    at = skip_digits(at);
  }
  return at;
}

static bool magnitude(const char *at, const char *end, uint64_t *value) {
  *value = 0;
  for (; at < end; at++) {
    if (!kmbi_mul(*value, 10, value) ||
        !kmbi_add(*value, (uint64_t)(*at - '0'), value))
      return false;
  }
  return true;
}

/* Few digits and no exponent, as times mostly are: both the digits and the
 * power of ten are exact in a double, so that their quotient is rounded once.
 */
static bool short_number(const char *at, const char *end, double *number) {
  static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  enum { DIGITS = 15 };
  bool negative = *at == '-';
  uint64_t digits = 0;
  const char *point = NULL;
  at += negative;
  if (FLT_EVAL_METHOD != 0 || end - at > DIGITS + 1) return false;
  for (; at < end; at++) {
    if (*at == '.')
      point = at + 1;
    else if (is_digit(*at))
      digits = 10 * digits + (uint64_t)(*at - '0');
    else
      return false;
  }
  if (!point && digits >= UINT64_C(1000000000000000)) return false;
  double value = (double)digits / powers[point ? end - point : 0];
  *number = negative ? -value : value;
  return true;
}

static kmb_status parse_number(parser *p, kmbi_json *node) {
  bool integral = false;
  const char *end = number_end(p->at, &integral);
  if (!end) return fail_at(p, "malformed number");
  char *stop = p->at + (end - p->at);
  if (!short_number(p->at, end, &node->number))
    node->number = strtod(p->at, &stop);
  if (stop != end) return fail_at(p, "malformed number");
  if (!isfinite(node->number))
    return fail_at(p, "a number too large for a double");
  node->negative = *p->at == '-';
  const char *digits = p->at + node->negative;
  node->type = integral && magnitude(digits, end, &node->as.u64)
                   ? KMBI_JSON_INTEGER
                   : KMBI_JSON_REAL;
  p->at = stop;
  return KMB_OK;
}

/* Containers. */

static int by_key(const void *a, const void *b) {
  const char *const *x = a, *const *y = b;
  return strcmp(*x, *y);
}

const char *kmbi_repeated_key(const char **keys, size_t count) {
  qsort(keys, count, sizeof *keys, by_key);
  for (size_t i = 1; i < count; i++) {
    if (strcmp(keys[i - 1], keys[i]) == 0) return keys[i];
  }
  return NULL;
}

kmb_status kmbi_json_repeated(const kmbi_memory *memory, const kmbi_json *a,
                              const kmbi_json *b, const char **key) {
  size_t count = (size_t)a->count + (b ? (size_t)b->count : 0), filled = 0;
  *key = NULL;
  if (count < 2) return KMB_OK;
  const char **keys = kmbi_alloc(memory, count, sizeof(char *));
  if (!keys) return no_memory();
  for (const kmbi_json *at = a->as.child; at; at = at->next)
    keys[filled++] = at->key;
  for (const kmbi_json *at = b ? b->as.child : NULL; at; at = at->next)
    keys[filled++] = at->key;
  *key = kmbi_repeated_key(keys, count);
  kmbi_free(memory, keys, count, sizeof(char *));
  return KMB_OK;
}

/* A key as it may stand in a message: whole characters, on one line. */
static void print_key(char *to, size_t size, const char *key) {
  for (size_t length; (length = kmbi_utf8_char(key, NULL)) && length < size;
       key += length) {
    memcpy(to, key, length);
    if ((unsigned char)*to < 0x20) *to = ' ';
    to += length;
    size -= length;
  }
  *to = '\0';
}

static kmb_status reject_duplicates(const parser *p, const kmbi_json *object) {
  const char *key = NULL;
  kmb_status status = kmbi_json_repeated(&p->arena->memory, object, NULL, &key);
  if (status || !key) return status;
  char shown[48], what[128];
  print_key(shown, sizeof shown, key);
  snprintf(what, sizeof what, "the object that ends here has two keys \"%s\"",
           shown);
  return fail_at(p, what);
}

static kmb_status parse_value(parser *p, kmbi_json *node);

static kmb_status parse_key(parser *p, const char **key) {
  if (*p->at != '"') return unexpected(p, "a key");
  kmb_status status = parse_string(p, key);
  if (status) return status;
  skip_space(p);
  if (*p->at != ':') return unexpected(p, "':'");
  p->at++;
  skip_space(p);
  return KMB_OK;
}

static kmb_status parse_items(parser *p, kmbi_json *node, char close) {
  kmbi_json **link = &node->as.child;
  skip_space(p);
  if (*p->at == close) return KMB_OK;
  for (;;) {
    const char *key = NULL;
    kmb_status status = close == '}' ? parse_key(p, &key) : KMB_OK;
    if (status) return status;
    kmbi_json *item = kmbi_arena_alloc(p->arena, 1, sizeof *item);
    if (!item) return no_memory();
    item->key = key;
    *link = item;
    link = &item->next;
    node->count++;
    status = parse_value(p, item);
    if (status) return status;
    skip_space(p);
    if (*p->at == close) return KMB_OK;
    if (*p->at != ',')
      return unexpected(p, close == '}' ? "',' or '}'" : "',' or ']'");
    p->at++;
    skip_space(p);
  }
}

static kmb_status parse_container(parser *p, kmbi_json *node) {
  char close = *p->at == '{' ? '}' : ']';
  node->type = close == '}' ? KMBI_JSON_OBJECT : KMBI_JSON_ARRAY;
  if (++p->depth > DEPTH_LIMIT)
    return fail_at(p, "nested more deeply than 64 levels");
  p->at++;
  kmb_status status = parse_items(p, node, close);
  if (!status && close == '}') status = reject_duplicates(p, node);
  if (status) return status;
  p->at++;
  p->depth--;
  return KMB_OK;
}

static kmb_status parse_word(parser *p, kmbi_json *node) {
  static const struct {
    const char *word;
    kmbi_json_type type;
  } words[] = {{"null", KMBI_JSON_NULL},
               {"false", KMBI_JSON_FALSE},
               {"true", KMBI_JSON_TRUE}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    size_t length = strlen(words[i].word);
    if (strncmp(p->at, words[i].word, length) == 0) {
      node->type = words[i].type;
      p->at += length;
      return KMB_OK;
    }
  }
  return unexpected(p, "a value");
}

static kmb_status parse_value(parser *p, kmbi_json *node) {
  switch (*p->at) {
  case '{':
  case '[':
    return parse_container(p, node);
  case '"':
    node->type = KMBI_JSON_STRING;
    return parse_string(p, &node->as.text);
  default:
    if (*p->at == '-' || is_digit(*p->at)) return parse_number(p, node);
    return parse_word(p, node);
  }
}

static kmb_status parse_document(parser *p, kmbi_json *root) {
  skip_space(p);
  kmb_status status = parse_value(p, root);
  if (status) return status;
  skip_space(p);
  return p->at == p->end ? KMB_OK : unexpected(p, "the document's end");
}

kmb_status kmbi_json_parse(kmbi_arena *arena, char *text, size_t size,
                           kmbi_json **root) {
  parser p = {.arena = arena, .line_start = text, .line = 1};
  p.at = text;
  p.end = text + size;
  *root = kmbi_arena_alloc(arena, 1, sizeof **root);
  /* The caller's locale may have another decimal point. */
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!*root || !plain) {
    if (plain) freelocale(plain);
    return no_memory();
  }
  locale_t callers = uselocale(plain);
  kmb_status status = parse_document(&p, *root);
  uselocale(callers);
  freelocale(plain);
  return status;
}

const kmbi_json *kmbi_json_member(const kmbi_json *object, const char *key) {
  for (const kmbi_json *at = object->as.child; at; at = at->next) {
    if (strcmp(at->key, key) == 0) return at;
  }
  return NULL;
}
