/* The replay: when each operation would start if launches of the target took
 * another time. Operations are met in the order in which they started, so that
 * what one waits for was met before it. */
#include "payoff.h"

#include <float.h>
#include <string.h>

static const double none = -DBL_MAX;

static double larger(double a, double b) {
  return a > b ? a : b;
}

static double smaller(double a, double b) {
  return a < b ? a : b;
}

static double start_of(const kmbi_replay *r, uint32_t rank) {
  return kmbi_replay_time(r, kmbi_op_at(r->trace, rank)->start);
}

static double end_of(const kmbi_replay *r, uint32_t rank) {
  return kmbi_replay_time(r, kmbi_op_at(r->trace, rank)->end);
}

static double call_start(const kmbi_replay *r, uint32_t rank) {
  return kmbi_replay_time(r, kmbi_call_at(r->trace, rank)->start);
}

static double call_end(const kmbi_replay *r, uint32_t rank) {
  return kmbi_replay_time(r, kmbi_call_at(r->trace, rank)->end);
}

/* The host. */

/* A synchronisation that waited ends `tail` after what it waited for; one that
 * did not takes its own time. */
static double sync_end(const kmbi_replay *r, uint32_t rank, double start,
                       double added) {
  double begun = call_start(r, rank), ended = call_end(r, rank);
  uint32_t done = r->done[rank];
  if (done == KMBI_NO_ROW) return start + (ended - begun) - added;
  double tail = ended - end_of(r, done);
  bool waited = end_of(r, done) > begun;
  double own = waited ? smaller(tail, ended - begun) : ended - begun;
  double lag = waited ? tail : smaller(tail, r->sync_lag);
  return larger(start + own - added, r->end[done] + lag);
}

/* Of a call's time, by recording it. */
static double added_to(const kmbi_replay *r, const kmbi_call *call) {
  const kmb_trace *trace = r->trace;
  if (!r->relieved) return 0;
  const kmbi_name *name = kmbi_name_at(trace, call->name);
  bool runtime = name->size >= 4 && memcmp(name->text, "cuda", 4) == 0;
  return runtime ? r->runtime_added : r->driver_added;
}

static bool is_within(const kmbi_call *call, const kmbi_call *outer) {
  return call->thread == outer->thread && call->end <= outer->end;
}

/* The thread's next call, which is no part of another: what lies between two
 * calls takes as long as it did. What recording added is partly in a call and
 * partly behind it: what is more than the call is taken off the time behind it.
 * There the next call follows at once if that is not enough either: none starts
 * before the one before it. */
static void replay_call(kmbi_replay *r, uint32_t rank, uint32_t thread) {
  const kmb_trace *trace = r->trace;
  const kmbi_call *call = kmbi_call_at(trace, rank);
  uint32_t last = r->last[thread];
  double begun = call_start(r, rank), start = begun;
  double added = added_to(r, call);
  if (last != KMBI_NO_ROW) {
    if (is_within(call, kmbi_call_at(trace, last))) {
      r->shift[rank] = r->shift[last];
      r->ready[thread] -= added;
      return;
    }
    start = larger(r->begun[thread],
                   r->ready[thread] + (begun - call_end(r, last)));
  }
  r->shift[rank] = start - begun;
  r->last[thread] = rank;
  r->begun[thread] = start;
  r->ready[thread] = kmbi_name_at(trace, call->name)->kind == KMB_CALL_SYNC
                         ? sync_end(r, rank, start, added)
                         : start + (call_end(r, rank) - begun) - added;
}

uint64_t kmbi_replay_short_calls(kmbi_replay *r, uint64_t *all) {
  const kmb_trace *trace = r->trace;
  const kmbi_call *outer = NULL;
  double left = 0; /* of the outer one, without what was added */
  uint64_t count = 0;
  *all = 0;
  r->relieved = true;
  for (uint32_t i = 0; i < trace->calls.count; i++) {
    const kmbi_call *call = kmbi_call_at(trace, i);
    if (!outer || !is_within(call, outer)) {
      count += left < 0;
      ++*all;
      outer = call;
      left = (double)(call->end - call->start);
    }
    left -= added_to(r, call);
  }
  return count + (left < 0);
}

/* When a call starts, as replayed. */
static double launched_at(kmbi_replay *r, uint32_t rank) {
  uint32_t thread = kmbi_call_at(r->trace, rank)->thread;
  while (r->next[thread] <= rank)
    replay_call(r, r->next[thread]++, thread);
  return call_start(r, rank) + r->shift[rank];
}

static void rewind_threads(kmbi_replay *r) {
  const kmb_trace *trace = r->trace;
  uint32_t thread = KMBI_NO_ROW;
  for (uint32_t i = 0; i < trace->threads.count; i++)
    r->last[i] = KMBI_NO_ROW;
  for (uint32_t i = 0; i < trace->calls.count; i++) {
    uint32_t of = kmbi_call_at(trace, i)->thread;
    if (of != thread) r->next[thread = of] = i;
  }
}

/* The device. */

/* A lag that is smaller than usual was possible too: operations overlap, or
 * clocks differ by a little. */
static double lag_of(double usual, double seen) {
  return smaller(usual, seen);
}

/* When an operation could start at the earliest, by those it follows. */
static double after_device(const kmbi_replay *r, uint32_t rank, double start) {
  double ready = none;
  uint32_t before = r->before[rank], wait = r->wait[rank];
  if (before != KMBI_NO_ROW)
    ready = r->end[before] + lag_of(r->stream_lag, start - end_of(r, before));
  if (wait != KMBI_NO_ROW)
    ready = larger(ready,
                   r->end[wait] + lag_of(r->wait_lag, start - end_of(r, wait)));
  return ready;
}

static double after_host(kmbi_replay *r, uint32_t rank, double start) {
  uint32_t call = r->call[rank];
  if (call == KMBI_NO_ROW) return none;
  return launched_at(r, call) +
         lag_of(r->launch_lag, start - call_start(r, call));
}

/* A gap of the host lasts longer than one between two kernels of a queue. */
static double gap_limit(const kmbi_replay *r) {
  return larger(2000, 2 * r->stream_lag);
}

static double starts_at(kmbi_replay *r, kmbi_replay_mode mode, uint32_t rank) {
  double start = start_of(r, rank), late = r->late[rank];
  double ready = after_device(r, rank, start);
  if (mode == KMBI_REPLAY_HOST || mode == KMBI_REPLAY_RECORDED)
    ready = larger(ready, after_host(r, rank, start));
  if (ready == none) return start;
  if (mode == KMBI_REPLAY_FIXED && late > gap_limit(r))
    return larger(ready, start);
  return ready + late;
}

/* Lengths of the steps. */

static void forget_bounds(kmbi_replay *r) {
  for (uint32_t i = 0; i < r->windows; i++) {
    r->bounds[2 * (size_t)i] = DBL_MAX;
    r->bounds[2 * (size_t)i + 1] = none;
  }
}

static void extend(kmbi_replay *r, uint32_t window, double start, double end) {
  double *bounds = &r->bounds[2 * ((size_t)window - 1)];
  bounds[0] = smaller(bounds[0], start);
  bounds[1] = larger(bounds[1], end);
}

static double sum_lengths(const kmbi_replay *r) {
  double sum = 0;
  for (uint32_t i = 0; i < r->windows; i++) {
    const double *bounds = &r->bounds[2 * (size_t)i];
    if (bounds[1] > bounds[0]) sum += bounds[1] - bounds[0];
  }
  return sum;
}

static uint32_t window_of(const kmbi_replay *r, uint32_t rank) {
  return r->window ? r->window[rank] : 1;
}

static double scaled(const kmbi_replay *r, const kmbi_op *op, double ratio) {
  double length = (double)(op->end - op->start);
  return kmbi_gaps_is_target(r->select, op) ? ratio * length : length;
}

/* Without the host each step begins once the one before it has ended; what is
 * no part of a step is left out. */
static double run_graph(kmbi_replay *r, double ratio) {
  const kmb_trace *trace = r->trace;
  double floor = 0, latest = 0;
  uint32_t current = 0;
  for (uint32_t i = 0; i < trace->ops.count; i++) {
    const kmbi_op *op = kmbi_op_at(trace, i);
    uint32_t window = window_of(r, i);
    r->end[i] = none;
    if (!window) continue;
    if (window != current) floor = latest;
    current = window;
    double start = larger(floor, after_device(r, i, start_of(r, i)));
    r->end[i] = start + scaled(r, op, ratio);
    latest = larger(latest, r->end[i]);
    extend(r, window, start, r->end[i]);
  }
  return sum_lengths(r);
}

double kmbi_replay_run(kmbi_replay *r, kmbi_replay_mode mode, double ratio) {
  const kmb_trace *trace = r->trace;
  forget_bounds(r);
  r->relieved = mode == KMBI_REPLAY_HOST;
  if (mode == KMBI_REPLAY_GRAPH) return run_graph(r, ratio);
  rewind_threads(r);
  for (uint32_t i = 0; i < trace->ops.count; i++) {
    const kmbi_op *op = kmbi_op_at(trace, i);
    double start = starts_at(r, mode, i);
    r->end[i] = start + scaled(r, op, ratio);
    uint32_t window = window_of(r, i);
    if (window) extend(r, window, start, r->end[i]);
  }
  return sum_lengths(r);
}

/* What is known before: who follows whom, and by how much. */

static bool allocate(kmbi_replay *r) {
  const kmbi_memory *m = r->memory;
  const kmb_trace *trace = r->trace;
  size_t ops = trace->ops.count, calls = trace->calls.count;
  size_t threads = trace->threads.count;
  r->before = kmbi_alloc(m, ops, sizeof *r->before);
  r->wait = kmbi_alloc(m, ops, sizeof *r->wait);
  r->call = kmbi_alloc(m, ops, sizeof *r->call);
  r->late = kmbi_alloc(m, ops, sizeof *r->late);
  r->end = kmbi_alloc(m, ops, sizeof *r->end);
  r->done = kmbi_alloc(m, calls, sizeof *r->done);
  r->shift = kmbi_alloc(m, calls, sizeof *r->shift);
  r->next = kmbi_alloc(m, threads, sizeof *r->next);
  r->last = kmbi_alloc(m, threads, sizeof *r->last);
  r->begun = kmbi_alloc(m, threads, sizeof *r->begun);
  r->ready = kmbi_alloc(m, threads, sizeof *r->ready);
  r->bounds = kmbi_alloc(m, 2 * (size_t)r->windows, sizeof *r->bounds);
  bool all = kmbi_gaps_all(r->select);
  if (!all) r->window = kmbi_alloc(m, ops, sizeof *r->window);
  return r->before && r->wait && r->call && r->late && r->end && r->done &&
         r->shift && r->next && r->last && r->begun && r->ready && r->bounds &&
         (all || r->window);
}

void kmbi_replay_release(kmbi_replay *r) {
  const kmbi_memory *m = r->memory;
  const kmb_trace *trace = r->trace;
  size_t ops = trace->ops.count, calls = trace->calls.count;
  size_t threads = trace->threads.count;
  kmbi_free(m, r->before, ops, sizeof *r->before);
  kmbi_free(m, r->wait, ops, sizeof *r->wait);
  kmbi_free(m, r->call, ops, sizeof *r->call);
  kmbi_free(m, r->late, ops, sizeof *r->late);
  kmbi_free(m, r->end, ops, sizeof *r->end);
  kmbi_free(m, r->window, ops, sizeof *r->window);
  kmbi_free(m, r->done, calls, sizeof *r->done);
  kmbi_free(m, r->shift, calls, sizeof *r->shift);
  kmbi_free(m, r->next, threads, sizeof *r->next);
  kmbi_free(m, r->last, threads, sizeof *r->last);
  kmbi_free(m, r->begun, threads, sizeof *r->begun);
  kmbi_free(m, r->ready, threads, sizeof *r->ready);
  kmbi_free(m, r->bounds, 2 * (size_t)r->windows, sizeof *r->bounds);
}

static bool find_before(kmbi_replay *r) {
  const kmb_trace *trace = r->trace;
  uint32_t lanes = trace->lanes.count;
  uint32_t *latest = kmbi_alloc(r->memory, lanes, sizeof *latest);
  if (!latest) return false;
  for (uint32_t i = 0; i < trace->ops.count; i++) {
    const kmbi_op *op = kmbi_op_at(trace, i);
    /* Counted from 1. */
    r->before[i] = latest[op->lane] ? latest[op->lane] - 1 : KMBI_NO_ROW;
    latest[op->lane] = i + 1;
    r->wait[i] = KMBI_NO_ROW;
    uint32_t call = kmbi_op_call(trace, op);
    /* One that seems to come later did not launch it. */
    if (call != KMBI_NO_ROW && kmbi_call_at(trace, call)->start > op->start)
      call = KMBI_NO_ROW;
    r->call[i] = call;
    if (r->window) r->window[i] = kmbi_gaps_window(r->select, op);
  }
  kmbi_free(r->memory, latest, lanes, sizeof *latest);
  return true;
}

/* The least that was seen where nothing else held the operation up: the launch
 * of one whose stream was idle, the gap before one that was queued. */
static void find_lags(kmbi_replay *r) {
  double stream = KMBI_REPLAY_STREAM_LAG, launch = KMBI_REPLAY_LAUNCH_LAG;
  bool idle = false, queued = false;
  for (uint32_t i = 0; i < r->trace->ops.count; i++) {
    uint32_t before = r->before[i], call = r->call[i];
    double start = start_of(r, i);
    double free = before == KMBI_NO_ROW ? none : end_of(r, before);
    double called = call == KMBI_NO_ROW ? none : call_start(r, call);
    if (call != KMBI_NO_ROW && free <= called) {
      launch = idle ? smaller(launch, start - called) : start - called;
      idle = true;
    }
    bool ready = call == KMBI_NO_ROW || call_end(r, call) < free;
    if (before != KMBI_NO_ROW && ready && start >= free) {
      stream = queued ? smaller(stream, start - free) : start - free;
      queued = true;
    }
  }
  r->stream_lag = stream;
  r->launch_lag = launch;
}

/* As it was, nothing is shifted. */
static void find_late(kmbi_replay *r) {
  bool host = r->trace->calls.count > 0;
  for (uint32_t i = 0; i < r->trace->ops.count; i++) {
    double start = start_of(r, i), ready = after_device(r, i, start);
    uint32_t call = r->call[i];
    if (host && call != KMBI_NO_ROW)
      ready =
          larger(ready, call_start(r, call) +
                            lag_of(r->launch_lag, start - call_start(r, call)));
    r->late[i] = ready == none ? 0 : start - ready;
    r->end[i] = end_of(r, i);
  }
}

static uint64_t origin_of(const kmb_trace *trace) {
  uint64_t origin = kmbi_op_at(trace, 0)->start;
  for (uint32_t i = 0; i < trace->calls.count; i++) {
    uint64_t start = kmbi_call_at(trace, i)->start;
    if (start < origin) origin = start;
  }
  return origin;
}

bool kmbi_replay_create(kmbi_replay *r, const kmb_gaps *select,
                        const kmb_payoff_params *params) {
  double added = params->added_ns;
  const kmb_trace *trace = select->trace;
  *r = (kmbi_replay){
      .trace = select->trace,
      .select = select,
      .memory = &select->memory,
      .windows = select->windows ? select->window_count : 1,
      .driver_added = added > 0 ? added : (double)trace->driver_added,
      .runtime_added = added > 0 ? added : (double)trace->runtime_added,
      .origin = origin_of(trace)};
  if (!allocate(r) || !find_before(r)) return false;
  for (uint32_t i = 0; i < r->trace->ops.count; i++)
    r->end[i] = end_of(r, i);
  find_lags(r);
  find_late(r);
  if (!kmbi_replay_find_waits(r)) return false;
  find_late(r);
  return true;
}
