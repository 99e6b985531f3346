/* Causes agree with their definition, followed literally: each nanosecond of a
 * gap is charged to the outermost call that covers it. */
#include "load.h"

#include <stdbool.h>

enum { TRACES = 400, TIME = 600, THREADS = 3, CALLS = 40, OPS = 30 };
enum { DEVICES = 3, SYNC = 0, LAUNCH, OTHER, KINDS };

typedef struct call {
  uint64_t start, end;
  int thread, kind;
} call;

typedef struct op {
  uint64_t start, end;
  int device;
  int call; /* -1: not known */
} op;

typedef struct charged {
  uint64_t sync, launch, host, queued, unknown;
} charged;

static uint64_t state;

static uint64_t draw(uint64_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % below;
}

static int make_calls(call *calls) {
  int count = 1 + (int)draw(CALLS - 1);
  uint64_t length = 1 + draw(80);
  for (int i = 0; i < count; i++) {
    uint64_t start = 1 + draw(TIME);
    calls[i] = (call){start, start + draw(length), (int)draw(THREADS),
                      (int)draw(KINDS)};
  }
  return count;
}

static int make_ops(op *ops, int calls) {
  int count = 1 + (int)draw(OPS - 1);
  uint64_t time = 1;
  for (int i = 0; i < count; i++) {
    time += draw(2 * TIME / OPS);
    ops[i] = (op){time, time + 1 + draw(12), (int)draw(DEVICES),
                  (int)draw((uint64_t)calls + 2) - 2};
    if (ops[i].call < 0) ops[i].call = -1;
  }
  return count;
}

/* A call that starts earlier is further out; of two, the longer. */
static int kind_at(const call *calls, int count, int thread, uint64_t time) {
  int found = -1;
  for (int i = 0; i < count; i++) {
    const call *c = &calls[i];
    if (c->thread != thread || time < c->start || time >= c->end) continue;
    const call *f = found < 0 ? NULL : &calls[found];
    if (!f || c->start < f->start || (c->start == f->start && c->end > f->end))
      found = i;
  }
  return found < 0 ? OTHER : calls[found].kind;
}

static void charge(const call *calls, int count, const op *next, uint64_t start,
                   charged *sum) {
  if (next->call < 0) {
    sum->unknown += next->start - start;
    return;
  }
  const call *own = &calls[next->call];
  if (own->end <= start) {
    sum->queued += next->start - start;
    return;
  }
  for (uint64_t t = start; t < next->start; t++) {
    int kind = t >= own->start ? LAUNCH : kind_at(calls, count, own->thread, t);
    sum->sync += kind == SYNC;
    sum->launch += kind == LAUNCH;
    sum->host += kind == OTHER;
  }
}

/* False if the device has no operation. */
static bool naive(const call *calls, int call_count, const op *ops, int count,
                  int device, charged *sum) {
  uint64_t end = 0;
  *sum = (charged){0};
  for (int i = 0; i < count; i++) {
    if (ops[i].device != device) continue;
    if (end && ops[i].start > end) charge(calls, call_count, &ops[i], end, sum);
    if (ops[i].end > end) end = ops[i].end;
  }
  return end != 0;
}

static void write_text(const call *calls, int call_count, const op *ops,
                       int count, char *text) {
  text += sprintf(text, "{\"kmb_trace\": 1, \"names\": [\"k\"], \"threads\": "
                        "[[1, 1], [1, 2], [1, 3]],\n\"devices\": [[0, 0], [1, "
                        "0], [2, 0]],\n\"streams\": [[0, 1, 1, 7], [1, 1, 1, "
                        "7], [2, 1, 1, 7]],\n\"ops\": [");
  for (int i = 0; i < count; i++)
    text += sprintf(
        text, "%s[\"kernel\", %d, 0, %llu, %llu, %d, null]", i ? "," : "",
        ops[i].device, (unsigned long long)ops[i].start,
        (unsigned long long)(ops[i].end - ops[i].start), ops[i].call + 1);
  text += sprintf(text, "],\n\"calls\": [");
  for (int i = 0; i < call_count; i++)
    text += sprintf(text, "%s[\"%s\", %d, 0, %llu, %llu, %d]", i ? "," : "",
                    calls[i].kind == SYNC     ? "synchronisation"
                    : calls[i].kind == LAUNCH ? "launch"
                                              : "other",
                    calls[i].thread, (unsigned long long)calls[i].start,
                    (unsigned long long)(calls[i].end - calls[i].start), i + 1);
  sprintf(text, "]}");
}

static uint64_t compare(const char *text, const call *calls, int call_count,
                        const op *ops, int count) {
  kmb_trace *trace = load(text);
  kmb_gaps *gaps = analyse(trace, NULL);
  uint64_t row = 0, seen = 0;
  for (int i = 0; i < DEVICES; i++) {
    charged want;
    if (!naive(calls, call_count, ops, count, i, &want)) continue;
    kmb_gaps_device d = device_of(gaps, row++);
    REQUIRE_EQ(d.sync_ns, want.sync);
    REQUIRE_EQ(d.launch_ns, want.launch);
    REQUIRE_EQ(d.host_ns, want.host);
    REQUIRE_EQ(d.queued_ns, want.queued);
    REQUIRE_EQ(d.unknown_ns, want.unknown);
    seen += want.sync > 0 && want.launch > 0 && want.host > 0;
  }
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
  return seen;
}

static void random_calls_are_charged_as_defined(void) {
  static char text[1 << 14];
  call calls[CALLS];
  op ops[OPS];
  uint64_t seen = 0;
  for (int i = 0; i < TRACES; i++) {
    state = (uint64_t)i + 1;
    int call_count = make_calls(calls);
    int count = make_ops(ops, call_count);
    write_text(calls, call_count, ops, count, text);
    seen += compare(text, calls, call_count, ops, count);
  }
  REQUIRE(seen > TRACES / 4);
}

/* Many devices wait through the same calls: what one found helps the next, and
 * a gap that reaches far back is found too. */
static void many_devices_wait_through_the_same_calls(void) {
  enum { MANY = 3000 };
  static char text[MANY * 200];
  char *to = text;
  to += sprintf(to, "{\"kmb_trace\": 1, \"names\": [\"k\"], \"threads\": [[1, "
                    "1]],\n\"devices\": [");
  for (int i = 0; i < MANY; i++)
    to += sprintf(to, "%s[%d, 0]", i ? "," : "", i);
  to += sprintf(to, "],\n\"streams\": [");
  for (int i = 0; i < MANY; i++)
    to += sprintf(to, "%s[%d, 1, 1, 7]", i ? "," : "", i);
  to += sprintf(to, "],\n\"ops\": [");
  for (int i = 0; i < 2 * MANY; i++)
    to += sprintf(to, "%s[\"kernel\", %d, 0, %d, 1, %d, null]", i ? "," : "",
                  i % MANY, i < MANY ? 1 + i : 10 * MANY + i, i < MANY ? 0 : 7);
  to += sprintf(to, "],\n\"calls\": [");
  for (int i = 0; i < MANY; i++)
    to +=
        sprintf(to, "[\"synchronisation\", 0, 0, %d, 1, 0],", 2 * MANY + 2 * i);
  sprintf(to, "[\"launch\", 0, 0, %d, 5, 7]]}", 9 * MANY);
  kmb_trace *trace = load(text);
  kmb_gaps *gaps = analyse(trace, NULL);
  REQUIRE_EQ(kmb_gaps_device_count(gaps), MANY);
  for (uint64_t i = 0; i < MANY; i++) {
    kmb_gaps_device d = device_of(gaps, i);
    REQUIRE_EQ(d.sync_ns, MANY);
    REQUIRE_EQ(d.launch_ns, 2 * MANY + i);
    REQUIRE_EQ(d.host_ns, 8 * MANY - 2 - i);
  }
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

int main(void) {
  RUN(random_calls_are_charged_as_defined);
  RUN(many_devices_wait_through_the_same_calls);
  return 0;
}
