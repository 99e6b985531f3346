/* A prediction while it is made and written; and the replay that makes it. */
#ifndef KMB_LIB_PAYOFF_H
#define KMB_LIB_PAYOFF_H

#include "gaps.h"

#include <kmb/payoff.h>

/* Times are doubles of ns from the trace's first: those are exact for months.
 */
typedef struct kmbi_replay {
  const kmb_trace *trace;
  const kmb_gaps *select; /* targets and windows */
  const kmbi_memory *memory;
  uint64_t origin;
  /* Of each operation, by rank. */
  uint32_t *before; /* the one before it on its stream */
  uint32_t *wait;   /* one of another stream that it waits for */
  uint32_t *call;   /* that launched it */
  uint32_t *window; /* 0: no part of a step */
  double *late;     /* how much later it started than it had to */
  double *end;      /* as replayed */
  /* Of each call of the host. */
  uint32_t *done; /* of a synchronisation: the operation that it waited for */
  double *shift;  /* as replayed: how much later it starts */
  /* Of each thread. */
  uint32_t *next; /* call to replay */
  uint32_t *last; /* what a thread replayed last, no part of another call */
  double *begun;  /* when that started, as replayed */
  double *ready;  /* when that ended */
  double *bounds; /* first and last of each window */
  uint32_t windows;
  uint64_t waits;
  /* What each kind of dependency takes at least. */
  double stream_lag, launch_lag, wait_lag, sync_lag;
  double driver_added, runtime_added; /* to a call, by recording */
  bool relieved;                      /* that is taken off */
} kmbi_replay;

/* Where none is seen to hold an operation up, in ns. */
enum {
  KMBI_REPLAY_STREAM_LAG = 1000,
  KMBI_REPLAY_LAUNCH_LAG = 5000,
  KMBI_REPLAY_WAIT_LAG = 2000,
  KMBI_REPLAY_SYNC_LAG = 5000
};

typedef enum kmbi_replay_mode {
  KMBI_REPLAY_RECORDED, /* the host's own times are kept */
  KMBI_REPLAY_HOST,     /* the same without what recording added to its calls */
  KMBI_REPLAY_FREE,     /* gaps keep their lengths */
  KMBI_REPLAY_FIXED,    /* gaps end when they ended */
  KMBI_REPLAY_GRAPH     /* there are none of the host's */
} kmbi_replay_mode;

/* False without memory; release it even so. */
bool kmbi_replay_create(kmbi_replay *replay, const kmb_gaps *select,
                        const kmb_payoff_params *params);
void kmbi_replay_release(kmbi_replay *replay);
/* The steps' length with launches of the target scaled. */
double kmbi_replay_run(kmbi_replay *replay, kmbi_replay_mode mode,
                       double ratio);

/* How many calls took less than what recording added to them and to those that
 * they made; `all` are those that are no part of another. */
uint64_t kmbi_replay_short_calls(kmbi_replay *replay, uint64_t *all);

/* payoff_deps.c: waits of streams and of the host, once `before` and `call` are
 * filled. False without memory. */
bool kmbi_replay_find_waits(kmbi_replay *replay);

static inline double kmbi_replay_time(const kmbi_replay *replay, uint64_t ns) {
  return ns >= replay->origin ? (double)(ns - replay->origin)
                              : -(double)(replay->origin - ns);
}

/* As many as payoff_say.c may make. */
enum { KMBI_PAYOFF_NOTES = 14 };

/* Which shapes of the matching launches are scaled. */
typedef enum kmbi_payoff_choice {
  KMBI_PAYOFF_ALL,
  KMBI_PAYOFF_ONE,        /* that of kmb_payoff::wanted */
  KMBI_PAYOFF_NONE,       /* no launch has that one */
  KMBI_PAYOFF_AMBIGUOUS,  /* some name has several, and nobody says which */
  KMBI_PAYOFF_OTHER_CODE, /* all that would be scaled ran other code */
  KMBI_PAYOFF_MIXED /* some of it did, and it is not known which launches */
} kmbi_payoff_choice;

/* Launches of one name and shape, as the trace numbers them. */
typedef struct kmbi_payoff_pair {
  uint32_t name, shape;
  uint64_t launches, total;
} kmbi_payoff_pair;

struct kmb_payoff {
  kmbi_memory memory;
  kmbi_arena arena;
  /* What is looked at: its trace (while it is evaluated), targets and windows.
   */
  kmb_gaps select;
  uint32_t names; /* size of the targets */
  kmb_payoff_change change;
  kmb_payoff_params params;
  kmb_payoff_summary summary;
  kmb_payoff_candidate *candidates;
  kmb_payoff_shape *shapes;
  kmbi_shape wanted;
  kmbi_payoff_choice choice;
  bool several; /* shapes of one name, without what ran other code */
  /* Where the step's code was given. */
  bool has_code, has_old_code;
  kmbi_rows left; /* kmbi_payoff_pair: of other code */
  kmbi_map left_map;
  uint64_t live_names, live_shapes; /* without those of other code */
  uint64_t unseen;                  /* launches that the captures did not see */
  uint64_t meant; /* launches that were of other code, or of several */
  uint64_t calls, short_calls; /* of the host: kmbi_replay_short_calls() */
  const char *notes[KMBI_PAYOFF_NOTES];
  uint64_t note_count;
};

/* payoff_shapes.c: names and shapes of the matching launches. False without
 * memory. */
bool kmbi_payoff_list(kmb_payoff *payoff);
kmb_status kmbi_payoff_choose_shape(kmb_payoff *payoff);
/* Whether what is scaled is of one known shape, which goes to `shape`. */
bool kmbi_payoff_shape(const kmb_payoff *payoff, kmb_payoff_shape *shape);
/* "grid 64 × 1 × 1, block 128 × 1 × 1", or that it is not known. */
enum { KMBI_PAYOFF_SHAPE_SIZE = 128 };
const char *kmbi_payoff_shape_text(char text[KMBI_PAYOFF_SHAPE_SIZE],
                                   const kmb_payoff_shape *shape);

/* payoff_code.c. */
void kmbi_payoff_code_init(kmb_payoff *payoff);
void kmbi_payoff_code_release(kmb_payoff *payoff);
/* Which pairs ran what was measured, in kmb_payoff::shapes,
 * which are still in their order; those that did not are no targets any more.
 * False without memory. */
bool kmbi_payoff_match_code(kmb_payoff *payoff, const kmbi_rows *pairs);
/* The hashes that all scaled launches share; NULL: there are none. */
const char *kmbi_payoff_code(const kmb_payoff *payoff);
/* "same", "other", "several" or "unknown". */
const char *kmbi_payoff_code_word(const kmb_payoff_shape *shape);
/* The first digits of hashes, two of them at most. */
enum { KMBI_PAYOFF_CODE_SIZE = 48 };
const char *kmbi_payoff_code_text(char text[KMBI_PAYOFF_CODE_SIZE],
                                  const char *code);
/* ", code 0a1b2c3d4e5f as measured" */
void kmbi_payoff_put_code(kmbi_text *to, const kmb_payoff_shape *shape);

static inline bool kmbi_payoff_is_live(const kmb_payoff_shape *shape) {
  return !(shape->flags & KMB_PAYOFF_CODE_OTHER);
}

/* payoff_say.c: the verdict and notes. */
void kmbi_payoff_say(kmb_payoff *payoff);

#endif
