/* Files of results: what a program wrote at once or line by line. */
#ifndef KMB_TOOLS_RESULTS_H
#define KMB_TOOLS_RESULTS_H

#include "kmb.h"

/* A document of kmb_comparison_write_json() within a file; a row of it is of
 * the item `first` and so on. */
typedef struct results_comparison {
  json_t *document, *rows;
  size_t first, count, baseline;
} results_comparison;

/* The results of a file, in its order. */
typedef struct results_file {
  const char *path;
  results_comparison *comparisons; /* by results_read_compared() alone */
  size_t comparison_count;
  kmb_results **lists; /* one a document */
  size_t list_count, list_capacity;
  const kmb_result **items;
  size_t count;
  struct results_memory *memory;
  uint64_t cut_line; /* where a last document starts that has no end; 0: none */
  char wrong[512];   /* "" if all is well */
  bool compared;     /* comparisons are kept */
  bool unreadable;   /* `wrong` is of the file, not of what is in it */
} results_file;

/* Reads a file: one JSON document, or several one after another, such as JSON
 * lines. A last one that is cut short is left out and `cut_line` says so; that
 * is an error only where nothing precedes it. False if `wrong` is set. */
bool results_read(const char *path, results_file *f);
/* The same, and keeps what comparisons say beside their results. */
bool results_read_compared(const char *path, results_file *f);
/* Two files at a time. */
bool results_read_both(const char *a, const char *b, results_file *x,
                       results_file *y);
/* Says on stderr what is wrong, and that a file was cut short. */
void results_say(const results_file *f);
void results_free(results_file *f);

/* Values of a result; "" or 0 if it is not known. */
const char *result_text(const kmb_result *result, kmb_value value);
double result_f64(const kmb_result *result, kmb_value value);
uint64_t result_u64(const kmb_result *result, kmb_value value);
const char *result_meta(const kmb_result *result, const char *key);
/* "gemm m=1 n=2" */
void point_text(const kmb_result *result, char *text, size_t size);
/* The configuration that a sweep of knobs kept: its knobs, or its number. False
 * if there is none. */
bool config_text(const kmb_result *r, char *text, size_t size);
/* "?" for a result without a name. */
const char *result_name(const kmb_result *result);

#endif
