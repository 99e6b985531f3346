/* A result while it is built and read. */
#ifndef KMB_LIB_RESULT_H
#define KMB_LIB_RESULT_H

#include "memory.h"

#include <kmb/metadata.h>
#include <kmb/result.h>

typedef enum kmbi_kind { KMBI_F64 = 1, KMBI_U64 = 2, KMBI_TEXT = 3 } kmbi_kind;

/* A row of KMB_VALUE_MAP. The texts are in it: pointers to them would be
 * relocated, one by one, in each program that starts. */
typedef struct kmbi_value_info {
  kmb_value value;
  uint8_t kind; /* kmbi_kind */
  char key[27];
  char unit[8];
} kmbi_value_info;

/* KMB_VALUE_MAP as a table, in its order; count 88 in 0.1. */
extern const kmbi_value_info kmbi_value_table[];
extern const size_t kmbi_value_count;
/* NULL if `value` is not in the map. */
const kmbi_value_info *kmbi_value_find(kmb_value value);

/* A value is known, or absent with a reason, or was never spoken of. */
typedef struct kmbi_value {
  double f64;
  uint64_t u64;
  const char *text;
  const char *reason;
  bool known;
} kmbi_value;

typedef struct kmbi_finding {
  const char *message;
  const char *name; /* as read, if this library does not know the code */
  kmb_figure *figures;
  uint64_t figure_count;
  kmb_finding_code code;
  kmb_severity severity;
  struct kmbi_finding *next;
} kmbi_finding;

/* A row of a device operation. */
typedef struct kmbi_result_op {
  kmb_op op;
  const char *kind_name; /* as read, if this library does not know the kind */
} kmbi_result_op;

typedef struct kmbi_entry {
  const char *key;
  const char *value;  /* NULL: absent */
  const char *reason; /* NULL: present */
  struct kmbi_entry *next;
} kmbi_entry;

struct kmb_result {
  kmbi_arena arena;   /* everything below lives in it */
  kmbi_memory memory; /* that the result itself came from */
  kmbi_value *values; /* by position in kmbi_value_table */
  kmb_pair *axes;
  uint64_t axis_count;
  const double *samples;
  uint64_t sample_count;
  kmbi_finding *findings; /* in the order in which they were raised */
  kmbi_finding **findings_end;
  uint64_t finding_count;
  kmbi_result_op *ops; /* in order of start */
  uint64_t op_count;
  kmb_rank *ranks; /* by rank */
  uint64_t rank_count;
  kmb_code_kernel *code; /* in the order of first launches */
  uint64_t code_count;
  kmbi_entry *metadata;
  kmbi_entry **metadata_end;
  uint64_t metadata_count;
  bool listed; /* belongs to a list, which frees it */
};

/* Building. Setters copy. Out of memory is sticky: build the whole result, then
 * kmbi_result_finish() says whether it is complete, and if not destroys it and
 * sets *result to NULL. */
kmb_status kmbi_result_create(const kmbi_memory *memory, kmb_result **result);
kmb_status kmbi_result_finish(kmb_result **result);
void kmbi_result_set_f64(kmb_result *result, kmb_value value, double number);
void kmbi_result_set_u64(kmb_result *result, kmb_value value, uint64_t number);
void kmbi_result_set_text(kmb_result *result, kmb_value value,
                          const char *text);
void kmbi_result_format(kmb_result *result, kmb_value value, const char *format,
                        ...) KMB_PRINTF(3, 4);
/* Not known, and why. */
void kmbi_result_absent(kmb_result *result, kmb_value value, const char *format,
                        ...) KMB_PRINTF(3, 4);
void kmbi_result_set_axes(kmb_result *result, const kmb_pair *axes,
                          uint64_t count);
void kmbi_result_set_samples(kmb_result *result, const double *ns,
                             uint64_t count);
/* One finding; `figures` are copied, their names must be static. */
void kmbi_result_find(kmb_result *result, kmb_finding_code code,
                      kmb_severity severity, const kmb_figure *figures,
                      uint64_t figure_count, const char *format, ...)
    KMB_PRINTF(6, 7);
/* One as read from a document: `name` may be one that a later version has. */
void kmbi_result_find_named(kmb_result *result, const char *name,
                            kmb_severity severity, const kmb_figure *figures,
                            uint64_t figure_count, const char *message);
/* Rows of device operations; all that they point to is copied. */
void kmbi_result_set_ops(kmb_result *result, const kmb_op *ops, uint64_t count);
/* Rows of ranks; all that they point to is copied. */
void kmbi_result_set_ranks(kmb_result *result, const kmb_rank *ranks,
                           uint64_t count);
/* Rows of what a capture holds, all copied, and how much it could not see. */
enum { KMBI_CODE_MOST = 256 };
/* A kmb_code begins with this, so that only who makes one links captures. */
typedef struct kmbi_code_head {
  void (*set)(kmb_result *result, const kmb_code *code);
} kmbi_code_head;
void kmbi_result_set_kernels(kmb_result *result, const kmb_code_kernel *rows,
                             uint64_t count);
/* code_match.c: two rows; `reason` is why it is not known, or NULL. */
kmb_code_match kmbi_code_match_two(const kmb_code_kernel *a,
                                   const kmb_code_kernel *b,
                                   const char **reason);
/* 0 for a name that is no kind's. */
kmb_op_kind kmbi_op_kind_of(const char *name);
/* A value, or NULL and a reason. A key that is there already is replaced. */
void kmbi_result_meta(kmb_result *result, const char *key, const char *value,
                      const char *reason);
/* The same for a key that is known to be new. */
void kmbi_result_meta_new(kmb_result *result, const char *key,
                          const char *value, const char *reason);
/* True for the times that a correction or an interval may carry below 0. */
bool kmbi_value_signed(const kmbi_value_info *info);

/* A document of these results, as kmb_results_write_json() gives it. */
kmb_status kmbi_results_write(const kmb_result *const *results, uint64_t count,
                              kmb_write_fn write, void *user);

/* NULL if there is no such value of this kind. */
kmbi_value *kmbi_result_slot(const kmb_result *result, kmb_value value,
                             kmbi_kind kind);
/* A finding without a code and a message; an entry of the metadata, whose key
 * is in the result's memory and new. */
kmbi_finding *kmbi_result_add(kmb_result *result, kmb_severity severity,
                              const kmb_figure *figures, uint64_t count);
void kmbi_result_append(kmb_result *result, const char *key, const char *value,
                        const char *reason);
/* NULL if there is no such key among the metadata. */
kmbi_entry *kmbi_result_entry(const kmb_result *result, const char *key);
/* For steps that need no status of absence. */
bool kmbi_result_get_f64(const kmb_result *result, kmb_value value,
                         double *number);
bool kmbi_result_get_u64(const kmb_result *result, kmb_value value,
                         uint64_t *number);
const char *kmbi_result_get_text(const kmb_result *result, kmb_value value);

/* An empty list; `hooks` may be NULL, `what` names the caller. */
kmb_status kmbi_results_open(const kmb_hooks *hooks, const char *what,
                             kmb_results **results);

struct kmb_results {
  kmbi_memory memory;
  kmb_result **items;
  uint64_t count, capacity;
};

#endif
