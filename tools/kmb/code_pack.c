/* MessagePack. A list's length is nothing but a claim: it is held against the
 * bytes that are left, of which each item takes one at least. */
#include "code_pack.h"

#include <string.h>

static bool take_number(pack *p, size_t size, uint64_t *number) {
  if ((size_t)(p->end - p->at) < size) return false;
  *number = 0;
  for (size_t i = 0; i < size; i++)
    *number = *number << 8 | *p->at++;
  return true;
}

static bool take_bytes(pack *p, uint64_t size, pack_value *value) {
  if ((uint64_t)(p->end - p->at) < size) return false;
  value->text = (const char *)p->at;
  value->size = (size_t)size;
  p->at += size;
  return true;
}

static bool claim(const pack *p, pack_kind kind, uint64_t count,
                  pack_value *value) {
  uint64_t left = (uint64_t)(p->end - p->at);
  *value = (pack_value){.kind = kind, .count = count};
  return count <= left / (kind == PACK_MAP ? 2 : 1);
}

/* What a head of more than one byte is: so many bytes of a number, which then
 * is the value, its size or its count. */
typedef struct head {
  pack_kind kind;
  uint8_t first, size;
  uint8_t extra; /* of what is sized: so many bytes more */
  bool sized;    /* the number counts bytes that follow */
} head;

static const head heads[] = {
    {PACK_OTHER, 0xc4, 1, 0, true},  {PACK_OTHER, 0xc5, 2, 0, true},
    {PACK_OTHER, 0xc6, 4, 0, true},  {PACK_OTHER, 0xc7, 1, 1, true},
    {PACK_OTHER, 0xc8, 2, 1, true},  {PACK_OTHER, 0xc9, 4, 1, true},
    {PACK_OTHER, 0xca, 4, 0, false}, {PACK_OTHER, 0xcb, 8, 0, false},
    {PACK_COUNT, 0xcc, 1, 0, false}, {PACK_COUNT, 0xcd, 2, 0, false},
    {PACK_COUNT, 0xce, 4, 0, false}, {PACK_COUNT, 0xcf, 8, 0, false},
    {PACK_OTHER, 0xd0, 1, 0, false}, {PACK_OTHER, 0xd1, 2, 0, false},
    {PACK_OTHER, 0xd2, 4, 0, false}, {PACK_OTHER, 0xd3, 8, 0, false},
    {PACK_TEXT, 0xd9, 1, 0, true},   {PACK_TEXT, 0xda, 2, 0, true},
    {PACK_TEXT, 0xdb, 4, 0, true},   {PACK_LIST, 0xdc, 2, 0, false},
    {PACK_LIST, 0xdd, 4, 0, false},  {PACK_MAP, 0xde, 2, 0, false},
    {PACK_MAP, 0xdf, 4, 0, false}};

static bool take_headed(pack *p, uint8_t first, pack_value *value) {
  for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
    const head *h = &heads[i];
    uint64_t number = 0;
    if (h->first != first) continue;
    if (!take_number(p, h->size, &number)) return false;
    if (h->kind == PACK_LIST || h->kind == PACK_MAP)
      return claim(p, h->kind, number, value);
    *value = (pack_value){.kind = h->kind, .count = number};
    return !h->sized || take_bytes(p, number + h->extra, value);
  }
  /* fixext: 1, 2, 4 … bytes, and one that says of what. */
  if (first < 0xd4 || first > 0xd8) return false;
  *value = (pack_value){.kind = PACK_OTHER};
  return take_bytes(p, (UINT64_C(1) << (first - 0xd4)) + 1, value);
}

bool pack_take(pack *p, pack_value *value) {
  if (p->at == p->end) return false;
  uint8_t first = *p->at++;
  if (first < 0x80) {
    *value = (pack_value){.kind = PACK_COUNT, .count = first};
    return true;
  }
  if (first < 0x90) return claim(p, PACK_MAP, first & 0x0f, value);
  if (first < 0xa0) return claim(p, PACK_LIST, first & 0x0f, value);
  if (first < 0xc0) {
    *value = (pack_value){.kind = PACK_TEXT};
    return take_bytes(p, first & 0x1f, value);
  }
  if (first == 0xc0 || first >= 0xe0) {
    *value = (pack_value){.kind = PACK_OTHER};
    return true;
  }
  if (first == 0xc2 || first == 0xc3) {
    *value = (pack_value){.kind = PACK_BOOL, .count = first & 1};
    return true;
  }
  return take_headed(p, first, value);
}

bool pack_pass(pack *p, const pack_value *value) {
  uint64_t left = value->kind == PACK_LIST  ? value->count
                  : value->kind == PACK_MAP ? 2 * value->count
                                            : 0;
  while (left) {
    pack_value inner;
    if (!pack_take(p, &inner)) return false;
    left--;
    if (inner.kind == PACK_LIST) left += inner.count;
    if (inner.kind == PACK_MAP) left += 2 * inner.count;
    /* No more values than bytes: the sum does not run over. */
    if (left > (uint64_t)(p->end - p->at)) return false;
  }
  return true;
}

bool pack_is(const pack_value *value, const char *text) {
  return value->kind == PACK_TEXT && value->size == strlen(text) &&
         memcmp(value->text, text, value->size) == 0;
}
