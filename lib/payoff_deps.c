/* What waits for what, as far as a trace shows it: a stream for another, the
 * host for the device. */
#include "payoff.h"

#include <float.h>
#include <stdlib.h>

enum {
  /* A stream that waits for another starts so soon after it, in ns. */
  WAIT_MOST = 10000,
  /* Calls and operations that are looked through for what a wait is for. */
  LOOK_BACK = 64
};

typedef struct ending {
  uint64_t end;
  uint32_t rank, reserved;
} ending;

static int by_end(const void *a, const void *b) {
  const ending *x = a, *y = b;
  if (x->end != y->end) return x->end < y->end ? -1 : 1;
  return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* All operations in the order of their ends. NULL without memory. */
static ending *list_endings(const kmbi_replay *r) {
  const kmb_trace *trace = r->trace;
  uint32_t count = trace->ops.count;
  ending *list = kmbi_alloc(r->memory, count, sizeof *list);
  bool sorted = true;
  if (!list) return NULL;
  for (uint32_t i = 0; i < count; i++) {
    list[i] = (ending){kmbi_op_at(trace, i)->end, i, 0};
    sorted = sorted && (!i || list[i - 1].end <= list[i].end);
  }
  if (!sorted) qsort(list, count, sizeof *list, by_end);
  return list;
}

/* How many end no later than `time`. */
static uint32_t ended_by(const ending *list, uint32_t count, uint64_t time) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (list[middle].end <= time)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The host. */

/* The last operation to end before a synchronisation did, of those launched
 * when it began. */
static uint32_t waited_for(const kmbi_replay *r, const ending *list,
                           const kmbi_call *sync) {
  uint32_t at = ended_by(list, r->trace->ops.count, sync->end);
  for (int i = 0; i < LOOK_BACK && at > 0; i++) {
    uint32_t rank = list[--at].rank, call = r->call[rank];
    if (call != KMBI_NO_ROW &&
        kmbi_call_at(r->trace, call)->start <= sync->start)
      return rank;
  }
  return KMBI_NO_ROW;
}

static void find_syncs(kmbi_replay *r, const ending *list) {
  const kmb_trace *trace = r->trace;
  double least = DBL_MAX;
  for (uint32_t i = 0; i < trace->calls.count; i++) {
    const kmbi_call *call = kmbi_call_at(trace, i);
    r->done[i] = KMBI_NO_ROW;
    if (kmbi_name_at(trace, call->name)->kind != KMB_CALL_SYNC) continue;
    r->done[i] = waited_for(r, list, call);
    if (r->done[i] == KMBI_NO_ROW) continue;
    uint64_t end = kmbi_op_at(trace, r->done[i])->end;
    if (end > call->start && (double)(call->end - end) < least)
      least = (double)(call->end - end);
  }
  r->sync_lag = least < DBL_MAX ? least : KMBI_REPLAY_SYNC_LAG;
}

/* Streams. */

static bool is_call(const kmbi_replay *r, uint32_t rank, const char *part) {
  const kmbi_call *call = kmbi_call_at(r->trace, rank);
  return strstr(kmbi_name_at(r->trace, call->name)->text, part) != NULL;
}

static bool is_launch(const kmbi_replay *r, uint32_t rank) {
  const kmbi_call *call = kmbi_call_at(r->trace, rank);
  kmb_call_kind kind = kmbi_name_at(r->trace, call->name)->kind;
  return kind == KMB_CALL_LAUNCH || kind == KMB_CALL_GRAPH_LAUNCH;
}

/* The call `back` before `rank` of the same thread; false if there is none. */
static bool call_before(const kmbi_replay *r, uint32_t rank, uint32_t back,
                        uint32_t *at) {
  if (back > rank) return false;
  *at = rank - back;
  return kmbi_call_at(r->trace, *at)->thread ==
         kmbi_call_at(r->trace, rank)->thread;
}

/* Between its launch and the one before, the thread let a stream wait for an
 * event: `*record` is the call that recorded it, as far as one is found. */
static bool has_wait(const kmbi_replay *r, uint32_t launch, uint32_t *record) {
  bool found = false;
  uint32_t at = 0;
  for (uint32_t i = 1; i < LOOK_BACK && call_before(r, launch, i, &at); i++) {
    if (!found && is_launch(r, at)) return false;
    if (is_call(r, at, "StreamWaitEvent")) found = true;
    if (found && is_call(r, at, "EventRecord")) {
      *record = at;
      return true;
    }
  }
  *record = KMBI_NO_ROW;
  return found;
}

/* The first operation of each call, counted from 1. */
static uint32_t *list_first(const kmbi_replay *r) {
  uint32_t calls = r->trace->calls.count;
  uint32_t *first = kmbi_alloc(r->memory, calls, sizeof *first);
  for (uint32_t i = r->trace->ops.count; first && i-- > 0;) {
    if (r->call[i] != KMBI_NO_ROW) first[r->call[i]] = i + 1;
  }
  return first;
}

static bool may_wait_for(const kmbi_replay *r, uint32_t rank, uint32_t other) {
  const kmbi_op *op = kmbi_op_at(r->trace, rank);
  const kmbi_op *of = kmbi_op_at(r->trace, other);
  return of->lane != op->lane && of->end <= op->start;
}

/* The last that was launched before the event was recorded. */
static uint32_t recorded_op(const kmbi_replay *r, uint32_t rank,
                            uint32_t record, const uint32_t *first) {
  uint32_t at = 0;
  for (uint32_t i = 1; i < LOOK_BACK && call_before(r, record, i, &at); i++) {
    if (first[at] && may_wait_for(r, rank, first[at] - 1)) return first[at] - 1;
  }
  return KMBI_NO_ROW;
}

/* By how much it started later than what is known of it says: all of it for the
 * first of a stream whose launch is not known. */
static double unexplained(const kmbi_replay *r, uint32_t rank) {
  bool known = r->before[rank] != KMBI_NO_ROW || r->call[rank] != KMBI_NO_ROW;
  return known ? r->late[rank] : WAIT_MOST;
}

/* The last of another stream to end before it starts, if that is soon. */
static uint32_t just_ended(const kmbi_replay *r, uint32_t rank,
                           const ending *list) {
  const kmbi_op *op = kmbi_op_at(r->trace, rank);
  uint32_t at = ended_by(list, r->trace->ops.count, op->start);
  for (int i = 0; i < LOOK_BACK && at > 0; i++) {
    const ending *e = &list[--at];
    double since = (double)(op->start - e->end);
    if (since > WAIT_MOST || since > unexplained(r, rank)) break;
    if (may_wait_for(r, rank, e->rank)) return e->rank;
  }
  return KMBI_NO_ROW;
}

static bool is_in_graph(const kmbi_replay *r, uint32_t rank) {
  uint32_t call = r->call[rank];
  return call != KMBI_NO_ROW &&
         kmbi_name_at(r->trace, kmbi_call_at(r->trace, call)->name)->kind ==
             KMB_CALL_GRAPH_LAUNCH;
}

/* Where calls are known, a wait is one that was asked for, or an edge of a
 * graph; else it is known by its time alone. */
static uint32_t wait_of(const kmbi_replay *r, uint32_t rank, const ending *list,
                        const uint32_t *first) {
  uint32_t record = KMBI_NO_ROW, found = KMBI_NO_ROW;
  bool host = r->trace->calls.count > 0;
  if (host && !is_in_graph(r, rank)) {
    if (r->call[rank] == KMBI_NO_ROW || !has_wait(r, r->call[rank], &record))
      return KMBI_NO_ROW;
    if (record != KMBI_NO_ROW) found = recorded_op(r, rank, record, first);
  }
  if (found == KMBI_NO_ROW && unexplained(r, rank) > 0)
    found = just_ended(r, rank, list);
  return found;
}

static void find_streams(kmbi_replay *r, const ending *list,
                         const uint32_t *first) {
  double least = DBL_MAX;
  for (uint32_t i = 0; i < r->trace->ops.count; i++) {
    r->wait[i] = wait_of(r, i, list, first);
    if (r->wait[i] == KMBI_NO_ROW) continue;
    r->waits++;
    double lag = (double)(kmbi_op_at(r->trace, i)->start -
                          kmbi_op_at(r->trace, r->wait[i])->end);
    /* Where nothing else held it up. */
    if (unexplained(r, i) > 0 && lag < least) least = lag;
  }
  r->wait_lag = least < DBL_MAX ? least : KMBI_REPLAY_WAIT_LAG;
}

bool kmbi_replay_find_waits(kmbi_replay *r) {
  const kmb_trace *trace = r->trace;
  bool several = trace->lanes.count > 1, host = trace->calls.count > 0;
  if (!several && !host) return true;
  ending *list = list_endings(r);
  uint32_t *first = list_first(r);
  bool good = list && first;
  if (good) find_syncs(r, list);
  if (good && several) find_streams(r, list, first);
  kmbi_free(r->memory, list, trace->ops.count, sizeof *list);
  kmbi_free(r->memory, first, trace->calls.count, sizeof *first);
  return good;
}
