/* UTF-8: what callers give may be anything, what the library keeps is valid. */
#ifndef KMB_LIB_UTF8_H
#define KMB_LIB_UTF8_H

#include "memory.h"

/* Length of the well-formed character at `text`, 0 if there is none (no
 * overlong form, no surrogate, nothing above U+10FFFF); stores its code. Stops
 * at the terminating zero. `code` may be NULL. */
size_t kmbi_utf8_char(const char *text, uint32_t *code);

/* A copy in which U+FFFD stands for each byte that is in no character. NULL for
 * NULL, and on failure. */
char *kmbi_utf8_copy(kmbi_arena *arena, const char *text);

/* Columns that a terminal needs for valid text. */
size_t kmbi_utf8_width(const char *text);
/* Bytes of the longest beginning that needs no more than `width` columns. */
size_t kmbi_utf8_fit(const char *text, size_t width);

#endif
