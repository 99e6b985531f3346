/* UTF-8. */
#include "utf8.h"

static bool continues(unsigned char byte) {
  return (byte & 0xC0u) == 0x80u;
}

static size_t length_by_first(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xC0) return 0;
  if (first < 0xE0) return 2;
  if (first < 0xF0) return 3;
  return first < 0xF8 ? 4 : 0;
}

size_t kmbi_utf8_char(const char *text, uint32_t *code) {
  /* Smallest code of each length: what is below it is overlong. */
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  unsigned char first = (unsigned char)*text;
  size_t length = length_by_first(first);
  if (first == 0 || length == 0) return 0;
  uint32_t value = length == 1 ? first : first & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; i++) {
    unsigned char byte = (unsigned char)text[i];
    if (!continues(byte)) return 0;
    value = value << 6 | (byte & 0x3Fu);
  }
  if (value < least[length] || value > 0x10FFFF) return 0;
  if (value >= 0xD800 && value <= 0xDFFF) return 0;
  if (code) *code = value;
  return length;
}

char *kmbi_utf8_copy(kmbi_arena *arena, const char *text) {
  static const char replacement[] = "\xEF\xBF\xBD";
  enum { REPLACEMENT = sizeof replacement - 1 };
  if (!text) return NULL;
  size_t ascii = 0;
  while (text[ascii] && (unsigned char)text[ascii] < 0x80)
    ascii++;
  if (!text[ascii]) {
    char *same = kmbi_arena_alloc(arena, ascii + 1, 1);
    if (same) memcpy(same, text, ascii + 1);
    return same;
  }
  size_t size = 1;
  for (const char *at = text; *at;) {
    size_t length = kmbi_utf8_char(at, NULL);
    size_t add = length ? length : REPLACEMENT;
    if (size > SIZE_MAX - add) return NULL;
    size += add;
    at += length ? length : 1;
  }
  char *copy = kmbi_arena_alloc(arena, size, 1);
  if (!copy) return NULL;
  char *to = copy;
  for (const char *at = text; *at;) {
    size_t length = kmbi_utf8_char(at, NULL);
    memcpy(to, length ? at : replacement, length ? length : REPLACEMENT);
    to += length ? length : REPLACEMENT;
    at += length ? length : 1;
  }
  *to = '\0';
  return copy;
}

typedef struct code_range {
  uint32_t first, last;
} code_range;

static bool within(const code_range *ranges, size_t count, uint32_t code) {
  for (size_t i = 0; i < count; i++) {
    if (code >= ranges[i].first && code <= ranges[i].last) return true;
  }
  return false;
}

/* The blocks that matter in names: combining marks take no column, East Asian
 * wide characters and emoji take two. */
static size_t columns(uint32_t code) {
  static const code_range none[] = {{0x0000, 0x001F}, {0x007F, 0x009F},
                                    {0x0300, 0x036F}, {0x200B, 0x200F},
                                    {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}};
  static const code_range wide[] = {
      {0x1100, 0x115F},   {0x2E80, 0x303E},  {0x3041, 0xA4CF},
      {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},  {0xFE30, 0xFE6F},
      {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F},
      {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
  if (within(none, sizeof none / sizeof none[0], code)) return 0;
  return within(wide, sizeof wide / sizeof wide[0], code) ? 2 : 1;
}

size_t kmbi_utf8_width(const char *text) {
  size_t width = 0;
  uint32_t code = 0;
  for (size_t length; (length = kmbi_utf8_char(text, &code)); text += length)
    width += columns(code);
  return width;
}

size_t kmbi_utf8_fit(const char *text, size_t width) {
  size_t used = 0, bytes = 0;
  uint32_t code = 0;
  for (size_t length; (length = kmbi_utf8_char(text + bytes, &code));
       bytes += length) {
    used += columns(code);
    if (used > width) break;
  }
  return bytes;
}
