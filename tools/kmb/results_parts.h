/* Below results.c: memory of a file's results, and where documents of JSON end,
 * which only they know that read all of it. */
#ifndef KMB_TOOLS_RESULTS_PARTS_H
#define KMB_TOOLS_RESULTS_PARTS_H

#include "kmb.h"

/* results_memory.c: NULL if there is none. */
struct results_memory *results_memory_open(void);
void results_memory_close(struct results_memory *memory);
void results_memory_hooks(struct results_memory *memory, kmb_hooks *hooks);

/* results_parts.c */
const char *skip_space(const char *at, const char *end);
/* Where the object or array that starts at `at` ends; NULL if
 * it does not. Lines are counted on the way, if `line` is not NULL. */
const char *end_of_container(const char *at, const char *end, uint64_t *line);

/* Behind the opening bracket of the array "results" of the object that `data`
 * is; NULL if it is not plain that there is one, after little else. */
const char *find_elements(const char *data, const char *end);
/* The next object of an array, from behind its bracket or the object before;
 * `at` stands on it, and what follows it is returned. NULL at the end, and `at`
 * on the closing bracket, or NULL if something is odd. */
const char *next_element(const char **at, const char *end, bool first);

#endif
