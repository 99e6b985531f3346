/* Numbers and lines for people. All of it appends. */
#ifndef KMB_LIB_FORMAT_H
#define KMB_LIB_FORMAT_H

#include "result.h"
#include "text.h"

/* Four significant digits, no exponent within reason: 0.3012, 36.13, 52310. */
void kmbi_put_sig(kmbi_text *to, double value);
/* With so many decimals, fewer from a million on, and "%". */
void kmbi_put_percent(kmbi_text *to, double percent, int decimals);
/* With the unit in which it reads best: ns, µs, ms or s. */
void kmbi_put_time(kmbi_text *to, double ns);
/* The same in a buffer, for messages; returns `text`. */
enum { KMBI_TIME_SIZE = 32 };
const char *kmbi_time_string(char text[KMBI_TIME_SIZE], double ns);
/* A share with so many significant digits, all of its whole ones, and "%", for
 * messages; returns `text`. */
enum { KMBI_PERCENT_SIZE = 32 };
const char *kmbi_percent_string(char text[KMBI_PERCENT_SIZE], double percent,
                                int digits);
/* What follows a noun that is counted. */
static inline const char *kmbi_plural(uint64_t count) {
  return count == 1 ? "" : "s";
}
/* SI, such as "210.3 GB/s"; `unit` is "B/s", "FLOP/s", "B" or "FLOP". */
void kmbi_put_si(kmbi_text *to, double value, const char *unit);
/* Sizes of memory: KiB, MiB, GiB. */
void kmbi_put_bytes(kmbi_text *to, uint64_t bytes);
/* A caller's text on one line: control characters, with which a name could
 * steer the terminal, become spaces. */
void kmbi_put_clean(kmbi_text *to, const char *text);
/* The same, broken at spaces to lines of KMBI_LINE_WIDTH columns; `column` is
 * where the text stands, `indent` where later lines start. */
void kmbi_put_wrapped(kmbi_text *to, const char *text, size_t column,
                      size_t indent);
enum { KMBI_LINE_WIDTH = 100 };

const char *kmbi_severity_name(kmb_severity severity);

/* Text is written with the point of the "C" locale whatever the caller's is:
 * `build` fills a text under it, which then goes to `write` in one piece. */
kmb_status kmbi_write_plain(const kmbi_memory *memory,
                            void (*build)(kmbi_text *to, const void *subject),
                            const void *subject, kmb_write_fn write,
                            void *user);

#endif
