/* Text of others inside of ours: terminals, Markdown, HTML. */
#ifndef KMB_TOOLS_MARKUP_H
#define KMB_TOOLS_MARKUP_H

#include "results.h"

typedef enum markup { MARKUP_TEXT, MARKUP_MD, MARKUP_HTML } markup;

/* Writes text so that nothing in it is taken for markup or moves the cursor:
 * one line, control characters as spaces. */
void put_marked(FILE *to, markup how, const char *text);

/* Whether a stream takes colours: a terminal that knows them, and NO_COLOR is
 * not set. */
bool takes_colours(FILE *to);

/* "12.41 µs", with four digits, in the unit µs alone: columns compare. */
void time_text(double ns, char *text, size_t size);
/* Throughput by the bound: TFLOP/s if arithmetic binds, GB/s if memory does,
 * both if neither is known to; "-" if the work is unknown. */
void rate_text(const kmb_result *result, char *text, size_t size);

/* Distinct values of what a list of results was taken with: one line a fact,
 * such as "GPU NVIDIA H200". */
typedef struct fact {
  const char *label;
  char value[512];
} fact;
enum { FACTS = 8 };
void collect_facts(const kmb_result *const *items, size_t count,
                   fact facts[FACTS]);

#endif
