/* An analysis of a trace while it is made and written. */
#ifndef KMB_LIB_GAPS_H
#define KMB_LIB_GAPS_H

#include "text.h"
#include "trace.h"

#include <regex.h>

/* Idle time and its parts by cause. */
typedef struct kmbi_idle {
  uint64_t count, total, longest;
  uint64_t launch, sync, host, queued, unknown;
} kmbi_idle;

static inline void kmbi_idle_add(kmbi_idle *to, const kmbi_idle *more) {
  to->count += more->count;
  to->total += more->total;
  if (more->longest > to->longest) to->longest = more->longest;
  to->launch += more->launch;
  to->sync += more->sync;
  to->host += more->host;
  to->queued += more->queued;
  to->unknown += more->unknown;
}

typedef struct kmbi_transition {
  uint32_t device, from, to; /* names */
  uint32_t reserved;
  kmbi_idle idle;
} kmbi_transition;

typedef struct kmbi_share {
  uint32_t device, name;
  uint64_t count, total, shortest, longest;
} kmbi_share;

/* A union of intervals that come in the order of their starts. */
typedef struct kmbi_union {
  uint64_t closed;     /* length of what lies before `start` */
  uint64_t start, end; /* the last part; start 0: none yet */
} kmbi_union;

typedef struct kmbi_stream {
  uint32_t device, lane;
  uint64_t first, ops;
  kmbi_union busy;
} kmbi_stream;

typedef struct kmbi_between {
  uint64_t interval, work, kernel_work;
} kmbi_between;

typedef struct kmbi_target {
  uint64_t count;
  uint64_t total_duration, total_interval;
  double median_duration, median_work, median_kernel_work;
} kmbi_target;

typedef struct kmbi_latency {
  uint64_t count, total, shortest, longest;
  double median;
} kmbi_latency;

/* A row of this library's list of devices. Lists of one device lie together in
 * the analysis' own: [first, first + count). */
typedef struct kmbi_device_gaps {
  uint32_t device; /* in kmb_trace::devices */
  uint32_t window; /* of the last operation */
  uint64_t ops, first, last;
  uint64_t span;         /* of the windows before the current */
  uint64_t window_first; /* start of the current */
  kmbi_union busy, kernels;
  uint64_t last_end; /* of the operation that ended last */
  uint32_t last_name;
  uint32_t target_window; /* of the last launch of the target; 0: none */
  uint64_t target_end, target_busy, target_kernels;
  kmbi_idle idle;
  kmbi_rows intervals; /* kmbi_between */
  kmbi_rows durations; /* uint64_t, of the target; while it is analysed */
  kmbi_target target;
  kmbi_latency latency;
  uint32_t first_op, all_ops; /* in kmb_gaps::by_device, wanted or not */
  uint32_t first_transition, transitions;
  uint32_t first_share, shares;
  uint32_t first_stream, streams;
} kmbi_device_gaps;

/* Launches within a range: a window. */
typedef struct kmbi_window {
  uint64_t start, end;
  uint32_t thread;
  uint32_t reserved;
} kmbi_window;

enum { KMBI_GAPS_FINDINGS = 8, KMBI_GAPS_FIGURES = 2 };

typedef struct kmbi_gaps_finding {
  const char *message;
  kmb_figure figures[KMBI_GAPS_FIGURES];
  uint64_t figure_count;
  kmb_finding_code code;
  kmb_severity severity;
} kmbi_gaps_finding;

struct kmb_gaps {
  kmbi_memory memory;
  kmbi_arena arena;
  const kmb_trace *trace;
  kmb_gaps_params params; /* strings are copies; hooks are gone */
  kmbi_rows devices;      /* kmbi_device_gaps */
  uint32_t *device_rows;  /* of each device of the trace; KMBI_NO_ROW */
  /* Ranks of operations, those of a device together and in order; NULL: there
   * is but one device. */
  uint32_t *by_device;
  kmbi_rows transitions, shares, streams;
  uint32_t *transition_order, *share_order, *stream_order;
  unsigned char *is_target; /* of each name */
  bool has_target;          /* some kernel of the trace matches */
  uint32_t shape;           /* only launches of it are targets; 0: of any */
  const kmbi_map *left;     /* names and shapes that are none; NULL: none */
  kmbi_window *windows;
  uint32_t window_count;
  uint64_t untraced_graphs;
  kmbi_gaps_finding findings[KMBI_GAPS_FINDINGS];
  uint64_t finding_count;
};

static inline bool kmbi_gaps_is_target(const kmb_gaps *gaps,
                                       const kmbi_op *op) {
  return gaps->is_target[op->name] &&
         (!gaps->shape || op->shape == gaps->shape) &&
         !(gaps->left &&
           kmbi_map_find(gaps->left, (kmbi_map_key){op->name, op->shape, 0}) !=
               KMBI_NO_ROW);
}

/* gaps_select.c */
kmb_status kmbi_gaps_match_target(kmb_gaps *gaps);
kmb_status kmbi_gaps_find_windows(kmb_gaps *gaps);
/* Whether each operation is wanted: then there is but one window, 1. */
static inline bool kmbi_gaps_all(const kmb_gaps *gaps) {
  return !gaps->params.flags && !gaps->windows;
}
/* Number of the window that an operation belongs to; 0: it is not wanted. */
uint32_t kmbi_gaps_window(const kmb_gaps *gaps, const kmbi_op *op);
/* The same for a call. */
uint32_t kmbi_gaps_call_window(const kmb_gaps *gaps, const kmbi_call *call);

/* gaps_causes.c */

/* What a thread did: its calls without those within them, in order. `sync` and
 * `launch` are the lengths of such calls up to the end of this one. */
typedef struct kmbi_stretch {
  uint64_t start, end;
  uint64_t sync, launch;
} kmbi_stretch;

typedef struct kmbi_causes {
  const kmb_trace *trace;
  const kmbi_memory *memory;
  kmbi_stretch *stretches; /* by thread; as many as there are calls, or fewer */
  uint32_t *first;         /* stretch of each thread, and behind the last */
  uint32_t *hint;          /* of each thread: what was found last */
} kmbi_causes;
/* False without memory. */
bool kmbi_causes_init(kmbi_causes *causes, const kmb_trace *trace,
                      const kmbi_memory *memory);
void kmbi_causes_release(kmbi_causes *causes);
/* Splits the gap [start, end) before `next`. */
void kmbi_causes_split(kmbi_causes *causes, uint64_t start, uint64_t end,
                       const kmbi_op *next, kmbi_idle *idle);
/* Graph launches without operations, among those that are wanted. */
kmb_status kmbi_count_untraced_graphs(kmb_gaps *gaps);
kmb_status kmbi_gaps_latencies(kmb_gaps *gaps);

/* gaps_find.c */
kmb_status kmbi_gaps_findings(kmb_gaps *gaps);

/* Values without a copy of them: of the indices below `count`, those for which
 * `get` is true. */
typedef struct kmbi_values {
  bool (*get)(const void *user, uint32_t index, uint64_t *value);
  const void *user;
  uint32_t count;
} kmbi_values;
/* The median, the mean of the middle two where their number is even; 0 if there
 * are none. */
double kmbi_median_of(const kmbi_values *values);

/* The operation at `index` below kmbi_device_gaps::all_ops. */
const kmbi_op *kmbi_gaps_op_of(const kmb_gaps *gaps,
                               const kmbi_device_gaps *device, uint32_t index);
const kmbi_device_gaps *kmbi_gaps_device_at(const kmb_gaps *gaps,
                                            uint32_t index);
uint64_t kmbi_gaps_span(const kmbi_device_gaps *device);
uint64_t kmbi_gaps_busy(const kmbi_device_gaps *device);
const kmbi_transition *kmbi_transition_at(const kmb_gaps *gaps,
                                          const kmbi_device_gaps *device,
                                          uint32_t index);
const kmbi_share *kmbi_share_at(const kmb_gaps *gaps,
                                const kmbi_device_gaps *device, uint32_t index);
enum { KMBI_OP_KINDS = 4 };
/* Transitions by kind: [from - 1][to - 1]. */
typedef kmbi_idle kmbi_kind_table[KMBI_OP_KINDS][KMBI_OP_KINDS];
void kmbi_gaps_by_kind(const kmb_gaps *gaps, const kmbi_device_gaps *device,
                       kmbi_kind_table table);
kmb_gaps_target kmbi_target_figures(const kmbi_device_gaps *device);

#endif
