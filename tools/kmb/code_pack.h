/* MessagePack, as far as the notes of AMD's code objects use it. */
#ifndef KMB_TOOLS_CODE_PACK_H
#define KMB_TOOLS_CODE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pack {
  const uint8_t *at, *end;
} pack;

typedef enum pack_kind {
  PACK_OTHER, /* nothing that is looked for: nil, a negative number, bytes */
  PACK_BOOL,
  PACK_COUNT,
  PACK_TEXT,
  PACK_LIST, /* its items follow */
  PACK_MAP   /* its keys and values follow */
} pack_kind;

typedef struct pack_value {
  pack_kind kind;
  uint64_t count;   /* of a BOOL 0 or 1, of a LIST items, of a MAP pairs */
  const char *text; /* not terminated */
  size_t size;
} pack_value;

/* Takes one value, of a list or map its head. False: what is there ends too
 * early, or is no MessagePack. */
bool pack_take(pack *p, pack_value *value);
/* Passes what belongs to a value that was taken. */
bool pack_pass(pack *p, const pack_value *value);
bool pack_is(const pack_value *value, const char *text);

#endif
