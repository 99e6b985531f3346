/* The metadata of a code object: MessagePack, a map with a list of kernels.
 * Whatever a count in it claims, each item takes a byte that is there. */
#include "image.h"

#include <string.h>

typedef struct pack {
  const uint8_t *at, *end;
} pack;

typedef enum kind { OTHER, COUNT, BOOL, TEXT, LIST, MAP } kind;

typedef struct item {
  kind kind;
  uint64_t count;   /* the number; of a text bytes, of a list or map items */
  const char *text; /* not terminated */
} item;

static size_t left(const pack *p) {
  return (size_t)(p->end - p->at);
}

static bool take_number(pack *p, unsigned width, uint64_t *number) {
  *number = 0;
  if (width > left(p)) return false;
  while (width--)
    *number = *number << 8 | *p->at++;
  return true;
}

static bool take_bytes(pack *p, uint64_t size, item *i) {
  if (size > left(p)) return false;
  i->text = (const char *)p->at;
  p->at += size;
  return true;
}

/* Heads that say how many bytes of a number follow. */
static const struct {
  uint8_t first, last, width; /* of `first`; doubled with each one after it */
  kind kind;
} heads[] = {{0xc4, 0xc6, 1, OTHER}, {0xc7, 0xc9, 1, OTHER},
             {0xcc, 0xcf, 1, COUNT}, {0xd9, 0xdb, 1, TEXT},
             {0xdc, 0xdd, 2, LIST},  {0xde, 0xdf, 2, MAP}};

static bool take_headed(pack *p, uint8_t b, item *i) {
  for (size_t h = 0; h < sizeof heads / sizeof heads[0]; h++) {
    if (b < heads[h].first || b > heads[h].last) continue;
    i->kind = heads[h].kind;
    if (!take_number(p, (unsigned)heads[h].width << (b - heads[h].first),
                     &i->count))
      return false;
    if (i->kind == COUNT || i->kind == LIST || i->kind == MAP) return true;
    /* What is extended has a byte more, which says of what. */
    uint64_t more = b >= 0xc7 && b <= 0xc9;
    return take_bytes(p, i->count + more, i);
  }
  /* Numbers with a sign or a point, and what is extended to 1, 2, 4 … bytes. */
  if (b == 0xca || b == 0xcb) return take_bytes(p, 4u << (b - 0xca), i);
  if (b >= 0xd0 && b <= 0xd3) return take_bytes(p, 1u << (b - 0xd0), i);
  return b >= 0xd4 && b <= 0xd8 && take_bytes(p, 1 + (1u << (b - 0xd4)), i);
}

/* One item, of a list or map its head. */
static bool take(pack *p, item *i) {
  *i = (item){OTHER, 0, NULL};
  if (p->at == p->end) return false;
  uint8_t b = *p->at++;
  if (b < 0x80) {
    *i = (item){COUNT, b, NULL};
  } else if (b < 0xa0) {
    *i = (item){b < 0x90 ? MAP : LIST, b & 15, NULL};
  } else if (b < 0xc0) {
    *i = (item){TEXT, b & 31, NULL};
    return take_bytes(p, i->count, i);
  } else if (b == 0xc2 || b == 0xc3) {
    *i = (item){BOOL, b & 1, NULL};
  } else if (b != 0xc0 && b < 0xe0) {
    return take_headed(p, b, i);
  }
  return true;
}

/* Passes what is in a list or map whose head was taken. The sum of counts does
 * not run over: a note has fewer than 2^32 bytes. */
static bool pass(pack *p, const item *of) {
  uint64_t wait = of->kind == LIST  ? of->count
                  : of->kind == MAP ? 2 * of->count
                                    : 0;
  item i;
  for (; wait; wait--) {
    if (!take(p, &i)) return false;
    if (i.kind == LIST) wait += i.count;
    if (i.kind == MAP) wait += 2 * i.count;
  }
  return true;
}

static bool is(const item *i, const char *text) {
  return i->kind == TEXT && i->count == strlen(text) &&
         memcmp(i->text, text, (size_t)i->count) == 0;
}

/* NAME.kd */
static bool is_descriptor(const item *i, const char *kernel) {
  size_t size = strlen(kernel);
  return i->kind == TEXT && i->count == size + 3 &&
         memcmp(i->text, kernel, size) == 0 &&
         memcmp(i->text + size, ".kd", 3) == 0;
}

static void take_fact(const item *key, const item *value,
                      kmbi_hip_facts *facts) {
  static const char *const keys[] = {
#define KEY(name, key) key,
      KMBI_HIP_FACT_MAP(KEY)
#undef KEY
  };
  if (is(key, ".uses_dynamic_stack") && value->kind == BOOL)
    facts->grows = value->count;
  for (size_t k = 0; k < KMBI_HIP_FACTS && value->kind == COUNT; k++) {
    if (!is(key, keys[k])) continue;
    facts->numbers[k] = value->count;
    facts->known |= 1u << k;
  }
}

/* One map of the list of kernels. */
static bool take_kernel(pack *p, const char *kernel, kmbi_hip_facts *facts) {
  item map, key, value;
  kmbi_hip_facts found = *facts;
  bool wanted = false;
  if (!take(p, &map) || map.kind != MAP) return false;
  for (uint64_t i = 0; i < map.count; i++) {
    if (!take(p, &key) || !pass(p, &key) || !take(p, &value) ||
        !pass(p, &value))
      return false;
    if (is(&key, ".symbol")) wanted = is_descriptor(&value, kernel);
    take_fact(&key, &value, &found);
  }
  if (wanted) *facts = found;
  return true;
}

/* "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-": four parts and the processor. */
static void take_target(const item *value, kmbi_hip_facts *facts) {
  uint64_t at = 0, dashes = 0;
  if (value->kind != TEXT) return;
  while (at < value->count && dashes < 4)
    dashes += value->text[at++] == '-';
  size_t size = (size_t)(value->count - at);
  if (size >= sizeof facts->target) return;
  for (size_t i = 0; i < size; i++)
    if (value->text[at + i] <= ' ' || value->text[at + i] > '~') return;
  memcpy(facts->target, value->text + at, size);
  facts->target[size] = '\0';
}

void kmbi_hip_metadata_read(const void *bytes, size_t size, const char *kernel,
                            kmbi_hip_facts *facts) {
  pack p = {bytes, (const uint8_t *)bytes + size};
  item map, key, value;
  if (!take(&p, &map) || map.kind != MAP) return;
  for (uint64_t i = 0; i < map.count; i++) {
    if (!take(&p, &key) || !pass(&p, &key) || !take(&p, &value)) return;
    if (is(&key, "amdhsa.target")) take_target(&value, facts);
    if (!is(&key, "amdhsa.kernels") || value.kind != LIST) {
      if (!pass(&p, &value)) return;
      continue;
    }
    for (uint64_t k = 0; k < value.count; k++)
      if (!take_kernel(&p, kernel, facts)) return;
  }
}
