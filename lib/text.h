/* Text that grows. */
#ifndef KMB_LIB_TEXT_H
#define KMB_LIB_TEXT_H

#include "memory.h"

/* A failure is sticky, as in an arena; `data` ends in a zero once something was
 * put. */
typedef struct kmbi_text {
  const kmbi_memory *memory;
  char *data;
  size_t size, capacity;
  bool failed;
} kmbi_text;

void kmbi_text_init(kmbi_text *text, const kmbi_memory *memory);
/* Empty again, as after init. */
void kmbi_text_release(kmbi_text *text);
void kmbi_text_put(kmbi_text *text, const char *more);
void kmbi_text_put_n(kmbi_text *text, const char *more, size_t size);
void kmbi_text_repeat(kmbi_text *text, char c, size_t count);
void kmbi_text_format(kmbi_text *text, const char *format, ...)
    KMB_PRINTF(2, 3);
/* "" before something was put, and on failure. */
const char *kmbi_text_get(const kmbi_text *text);

#endif
