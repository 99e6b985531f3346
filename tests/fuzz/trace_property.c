/* What must hold of whatever an importer accepts. */
#include "trace.h"

#include "require.h"

#include <stdbool.h>

enum { UNPACKED_LIMIT = 1 << 22 };

typedef struct input {
  const uint8_t *data;
  size_t size, at;
} input;

static kmb_status give(void *user, void *data, size_t size, size_t *got) {
  input *in = user;
  size_t left = in->size - in->at;
  *got = left < size ? left : size;
  /* Pieces of several sizes; the first is large enough to tell the format. */
  if (in->at && *got > 1000 && in->at % 3) *got = 1 + in->at % 1000;
  memcpy(data, in->data + in->at, *got);
  in->at += *got;
  return KMB_OK;
}

typedef struct output {
  char *data;
  size_t size;
} output;

static kmb_status take(void *user, const void *data, size_t size) {
  output *out = user;
  out->data = realloc(out->data, out->size + size + 1);
  REQUIRE(out->data);
  memcpy(out->data + out->size, data, size);
  out->size += size;
  return KMB_OK;
}

static kmb_status read_trace(kmb_trace_format format, const void *data,
                             size_t size, kmb_trace **trace) {
  input in = {data, size, 0};
  kmb_trace_params p = kmb_trace_params_init();
  p.format = format;
  p.unpacked_limit = UNPACKED_LIMIT;
  kmb_status status = kmb_trace_read(give, &in, &p, trace);
  REQUIRE(!status == !!*trace);
  REQUIRE(!status || kmb_last_error(NULL, NULL)[0]);
  return status;
}

static void check_ops(const kmb_trace *trace, const kmb_trace_info *info) {
  kmb_trace_op op = kmb_trace_op_init();
  uint64_t last = 0;
  REQUIRE(info->ops + info->invalid == info->rows);
  for (uint64_t i = 0; i < info->ops; i++) {
    REQUIRE_OK(kmb_trace_get_op(trace, i, &op));
    REQUIRE(op.start_ns && op.end_ns > op.start_ns && op.start_ns >= last);
    REQUIRE(strcmp(kmb_op_kind_name(op.kind), "unknown") != 0);
    if (op.flags & KMB_OP_HAS_CALL) REQUIRE(op.call < info->calls);
    bool shape = op.flags & KMB_OP_HAS_SHAPE;
    REQUIRE(shape == (op.grid_x && op.grid_y && op.grid_z && op.block_x &&
                      op.block_y && op.block_z));
    REQUIRE(!shape || op.kind == KMB_OP_KERNEL);
    last = op.start_ns;
  }
}

static void check_device(const kmb_gaps *gaps, uint64_t index) {
  kmb_gaps_device d = kmb_gaps_device_init();
  kmb_gaps_transition t = kmb_gaps_transition_init();
  uint64_t idle = 0, count = 0;
  double share = 0.5;
  REQUIRE_OK(kmb_gaps_get_device(gaps, index, &d));
  REQUIRE(d.ops && d.busy_ns && d.busy_ns <= d.span_ns);
  REQUIRE(d.idle_ns == d.span_ns - d.busy_ns);
  REQUIRE(d.launch_ns + d.sync_ns + d.host_ns + d.queued_ns + d.unknown_ns ==
          d.idle_ns);
  kmb_status status = kmb_gaps_utilization(gaps, index, &share);
  REQUIRE(status == KMB_OK || status == KMB_ERR_UNAVAILABLE);
  REQUIRE(share > 0 && share <= 1);
  for (uint64_t i = 0; i < d.transitions; i++) {
    REQUIRE_OK(kmb_gaps_get_transition(gaps, index, i, &t));
    REQUIRE(t.longest_ns <= t.idle_ns && t.count);
    idle += t.idle_ns;
    count += t.count;
  }
  REQUIRE(idle == d.idle_ns && count == d.gaps);
}

static void check_target(const kmb_gaps *gaps, uint64_t device) {
  kmb_gaps_target t = kmb_gaps_target_init();
  kmb_gaps_interval row;
  if (kmb_gaps_get_target(gaps, device, &t)) return;
  REQUIRE(t.count > t.intervals);
  for (uint64_t i = 0; i < t.intervals; i++) {
    REQUIRE_OK(kmb_gaps_get_interval(gaps, device, i, &row));
    REQUIRE(row.kernel_work_ns <= row.work_ns &&
            row.work_ns <= row.interval_ns);
  }
  if (!t.intervals) return;
  REQUIRE(t.potential_utilization <= t.potential_overlap);
  REQUIRE(t.utilization > 0 && t.potential_overlap <= 1);
}

static void check_gaps(const kmb_trace *trace) {
  kmb_gaps_params p = kmb_gaps_params_init();
  kmb_gaps *gaps = NULL;
  output out = {NULL, 0};
  p.kernel = "[a-k]";
  kmb_status status = kmb_gaps_analyse(trace, &p, &gaps);
  if (status == KMB_ERR_UNSUPPORTED) return; /* sums of more than 64 bits */
  REQUIRE_OK(status);
  for (uint64_t i = 0; i < kmb_gaps_device_count(gaps); i++) {
    check_device(gaps, i);
    check_target(gaps, i);
  }
  REQUIRE_OK(kmb_gaps_write_json(gaps, take, &out));
  REQUIRE_OK(kmb_gaps_write_text(gaps, take, &out));
  free(out.data);
  kmb_gaps_destroy(gaps);
}

static void check_copy(const kmb_trace *trace, const kmb_trace_info *info,
                       bool own) {
  kmb_trace *copy = NULL;
  kmb_trace_info again = kmb_trace_info_init();
  kmb_trace_op a = kmb_trace_op_init(), b = kmb_trace_op_init();
  output out = {NULL, 0};
  REQUIRE_OK(own ? kmb_trace_write_json(trace, take, &out)
                 : kmb_trace_write_chrome(trace, take, &out));
  REQUIRE_OK(read_trace(KMB_TRACE_AUTO, out.data, out.size, &copy));
  REQUIRE_OK(kmb_trace_get_info(copy, &again));
  REQUIRE(again.ops == info->ops);
  REQUIRE(again.invalid == (own ? info->invalid : 0));
  REQUIRE(again.dropped == info->dropped);
  REQUIRE(again.calls == info->calls && again.ranges == info->ranges);
  for (uint64_t i = 0; i < info->ops; i++) {
    REQUIRE_OK(kmb_trace_get_op(trace, i, &a));
    REQUIRE_OK(kmb_trace_get_op(copy, i, &b));
    REQUIRE(a.start_ns == b.start_ns && a.end_ns == b.end_ns);
    REQUIRE(a.kind == b.kind && a.correlation == b.correlation);
    REQUIRE(!own || a.flags == b.flags);
    REQUIRE(memcmp(&a.grid_x, &b.grid_x, 6 * sizeof a.grid_x) == 0);
    REQUIRE_STR(a.name, b.name);
  }
  free(out.data);
  kmb_trace_destroy(copy);
}

int fuzz_trace(kmb_trace_format format, const uint8_t *data, size_t size) {
  kmb_trace *trace = NULL;
  kmb_trace_info info = kmb_trace_info_init();
  if (read_trace(format, data, size, &trace)) return 0;
  REQUIRE_OK(kmb_trace_get_info(trace, &info));
  check_ops(trace, &info);
  check_gaps(trace);
  check_copy(trace, &info, false);
  check_copy(trace, &info, true);
  kmb_trace_destroy(trace);
  return 1;
}
