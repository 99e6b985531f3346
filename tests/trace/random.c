/* The analysis agrees with the definitions, followed literally, on random
 * traces: several devices and streams, overlaps, equal times, gaps. */
#include "load.h"
#include "naive.h"

enum { TRACES = 1000, DEVICES = 2 };

static const char *const names[NAIVE_NAMES] = {"target", "other", "third",
                                               "[CUDA memcpy Host-to-Device]",
                                               "[CUDA memset]"};

static uint64_t state;

static uint64_t draw(uint64_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % below;
}

/* In the order of starts; dense or sparse. */
static int make(naive_op *ops) {
  int count = (int)draw(NAIVE_OPS) + 1;
  uint64_t time = 1, step = 1 + draw(9), length = 1 + draw(20);
  int stop = 0;
  for (; stop < count; stop++) {
    naive_op *op = &ops[stop];
    time += draw(step);
    op->start = time;
    op->end = time + 1 + draw(length);
    if (op->end > NAIVE_TIME) break;
    op->name = (int)draw(NAIVE_NAMES);
    op->device = draw(4) == 0;
    op->stream = (int)draw(3);
  }
  return stop;
}

static int name_index(const char *name) {
  for (int i = 0; i < NAIVE_NAMES; i++) {
    if (strcmp(names[i], name) == 0) return i;
  }
  REQUIRE(!"a name of the trace");
  return 0;
}

static void compare_transitions(const kmb_gaps *gaps, uint64_t index,
                                const kmb_gaps_device *device,
                                const naive_result *want) {
  uint64_t idle = 0, gap_count = 0, last = UINT64_MAX;
  for (uint64_t i = 0; i < device->transitions; i++) {
    kmb_gaps_transition t = kmb_gaps_transition_init();
    REQUIRE_OK(kmb_gaps_get_transition(gaps, index, i, &t));
    int from = name_index(t.from), to = name_index(t.to);
    REQUIRE_EQ(t.idle_ns, want->idle[from][to]);
    REQUIRE_EQ(t.count, want->count[from][to]);
    REQUIRE_EQ(t.unknown_ns, t.idle_ns);
    REQUIRE(t.idle_ns <= last);
    last = t.idle_ns;
    idle += t.idle_ns;
    gap_count += t.count;
  }
  REQUIRE_EQ(idle, device->idle_ns);
  REQUIRE_EQ(gap_count, device->gaps);
}

static void compare_target(const kmb_gaps *gaps, uint64_t index,
                           const naive_result *want) {
  kmb_gaps_target t = kmb_gaps_target_init();
  if (!want->targets) {
    REQUIRE_STATUS(kmb_gaps_get_target(gaps, index, &t), KMB_ERR_UNAVAILABLE);
    return;
  }
  REQUIRE_OK(kmb_gaps_get_target(gaps, index, &t));
  REQUIRE_EQ(t.count, want->targets);
  REQUIRE_EQ(t.intervals, want->intervals);
  REQUIRE_NEAR(t.mean_duration_ns,
               (double)want->durations / (double)want->targets, 0);
  REQUIRE_NEAR(t.median_duration_ns, want->median_duration, 0);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < want->intervals; i++) {
    kmb_gaps_interval row;
    REQUIRE_OK(kmb_gaps_get_interval(gaps, index, i, &row));
    REQUIRE_EQ(row.interval_ns, want->interval[i]);
    REQUIRE_EQ(row.work_ns, want->work[i]);
    REQUIRE_EQ(row.kernel_work_ns, want->kernel_work[i]);
    REQUIRE_EQ(row.idle_ns, row.interval_ns - row.work_ns);
    sum += row.interval_ns;
  }
  if (!want->intervals) return;
  REQUIRE_NEAR(t.mean_interval_ns, (double)sum / (double)want->intervals, 0);
  REQUIRE_NEAR(t.median_work_ns, want->median_work, 0);
  REQUIRE_NEAR(t.median_kernel_work_ns, want->median_kernel_work, 0);
}

static void compare(const kmb_gaps *gaps, const naive_op *ops, int count) {
  uint64_t index = 0;
  for (int d = 0; d < DEVICES; d++) {
    naive_result want;
    naive_analyse(ops, count, d, &want);
    if (!want.ops) continue;
    kmb_gaps_device device = device_of(gaps, index);
    double share = 0;
    REQUIRE_EQ(device.device, d);
    REQUIRE_EQ(device.ops, want.ops);
    REQUIRE_EQ(device.span_ns, want.span);
    REQUIRE_EQ(device.busy_ns, want.busy);
    REQUIRE_EQ(device.idle_ns, want.span - want.busy);
    REQUIRE_EQ(device.gaps, want.gaps);
    REQUIRE_OK(kmb_gaps_utilization(gaps, index, &share));
    REQUIRE_NEAR(share, (double)want.busy / (double)want.span, 0);
    compare_transitions(gaps, index, &device, &want);
    compare_target(gaps, index, &want);
    index++;
  }
  REQUIRE_EQ(kmb_gaps_device_count(gaps), index);
}

/* The rows in another order, where no two start together: the order of the
 * file decides between those. */
static void write_rows(const naive_op *ops, int count, char *text,
                       size_t size) {
  size_t used = (size_t)snprintf(text, size,
                                 "Start (ns),Duration (ns),Device,Strm,Name\n");
  bool shuffle = true;
  for (int i = 1; i < count; i++)
    shuffle = shuffle && ops[i].start != ops[i - 1].start;
  for (int i = 0; i < count; i++) {
    const naive_op *op = &ops[shuffle ? (i * 37) % count : i];
    if (shuffle && count % 37 == 0) op = &ops[i];
    used +=
        (size_t)snprintf(text + used, size - used, "%llu,%llu,GPU (%d),%d,%s\n",
                         (unsigned long long)op->start,
                         (unsigned long long)(op->end - op->start), op->device,
                         op->stream, names[op->name]);
  }
  REQUIRE(used < size);
}

int main(void) {
  static char text[1 << 14];
  naive_op ops[NAIVE_OPS];
  uint64_t rows = 0;
  for (int i = 0; i < TRACES; i++) {
    state = (uint64_t)i + 1;
    int count = make(ops);
    rows += (uint64_t)count;
    write_rows(ops, count, text, sizeof text);
    kmb_trace *trace = load(text);
    kmb_gaps *gaps = analyse(trace, "^target$");
    REQUIRE_EQ(info_of(trace).ops, count);
    compare(gaps, ops, count);
    kmb_gaps_destroy(gaps);
    kmb_trace_destroy(trace);
  }
  REQUIRE(rows > 10 * (uint64_t)TRACES);
  printf("%d traces, %llu rows\n", TRACES, (unsigned long long)rows);
  return 0;
}
