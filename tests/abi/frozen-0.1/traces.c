/* A program of 0.1 that uses all of trace.h, record.h and counters.h: built
 * against the frozen headers of that release and linked to the library of
 * today. Not edited once 0.1 is tagged. */
#include "check.h"

static const char table[] =
    "Start (ns),Duration (ns),CorrId,Device,Ctx,Strm,Name\n"
    "100,50,1,GPU (2),1,7,target\n"
    "160,20,2,GPU (2),1,7,[CUDA memcpy Host-to-Device]\n"
    "200,50,3,GPU (2),1,7,target\n"
    "0,50,3,GPU (2),1,7,target\n";

typedef struct text {
  char data[1 << 16];
  size_t size, taken;
} text;

static kmb_status append(void *user, const void *data, size_t size) {
  text *t = (text *)user;
  HOLDS(size < sizeof t->data - t->size);
  memcpy(t->data + t->size, data, size);
  t->size += size;
  t->data[t->size] = '\0';
  return KMB_OK;
}

static kmb_status give(void *user, void *data, size_t size, size_t *got) {
  text *t = (text *)user;
  *got = t->size - t->taken < size ? t->size - t->taken : size;
  memcpy(data, t->data + t->taken, *got);
  t->taken += *got;
  return KMB_OK;
}

static uint64_t progress_calls;

static void progress(void *user, uint64_t done, uint64_t total) {
  HOLDS(user == &progress_calls && (done || !total));
  progress_calls++;
}

static kmb_trace *load(text *from, kmb_trace_format format) {
  kmb_trace_params params = kmb_trace_params_init();
  kmb_trace *trace = NULL;
  params.name = "table";
  params.unpacked_limit = 1 << 20;
  params.progress = progress;
  params.progress_user = &progress_calls;
  params.format = format;
  OK(kmb_trace_read(give, from, &params, &trace));
  HOLDS(progress_calls);
  return trace;
}

static void names_of_numbers(void) {
  HOLDS(strcmp(kmb_trace_format_name(KMB_TRACE_NSYS_CSV), "nsys-csv") == 0);
  HOLDS(strcmp(kmb_op_kind_name(KMB_OP_MEMSET), "memset") == 0);
  kmb_trace *trace = NULL;
  HOLDS(kmb_trace_load("/nowhere/trace.csv", NULL, &trace) == KMB_ERR_IO);
  HOLDS(!trace);
}

static void a_trace_says_what_it_holds(const kmb_trace *trace) {
  kmb_trace_info info = kmb_trace_info_init();
  OK(kmb_trace_get_info(trace, &info));
  HOLDS(info.rows == 4 && info.invalid == 1 && info.ops == 3);
  HOLDS(info.tick_ns == 1 && info.format == KMB_TRACE_NSYS_CSV);
  kmb_trace_op op = kmb_trace_op_init();
  OK(kmb_trace_get_op(trace, 1, &op));
  HOLDS(op.kind == KMB_OP_MEMCPY && op.start_ns == 160 && op.end_ns == 180);
  HOLDS(op.device == 2 && op.context == 1 && op.stream == 7);
  HOLDS(strcmp(op.device_name, "GPU") == 0 && op.correlation == 2);
  HOLDS(op.flags ==
        (KMB_OP_HAS_DEVICE | KMB_OP_HAS_STREAM | KMB_OP_HAS_CORRELATION));
  kmb_trace_call call = kmb_trace_call_init();
  kmb_trace_range range = kmb_trace_range_init();
  HOLDS(!info.calls && kmb_trace_get_call(trace, 0, &call) == KMB_ERR_INVALID);
  HOLDS(!info.ranges &&
        kmb_trace_get_range(trace, 0, &range) == KMB_ERR_INVALID);
}

static void a_device_has_its_sums(const kmb_gaps *gaps) {
  kmb_gaps_device device = kmb_gaps_device_init();
  double share = 0;
  HOLDS(kmb_gaps_device_count(gaps) == 1);
  OK(kmb_gaps_get_device(gaps, 0, &device));
  HOLDS(device.flags == KMB_GAPS_HAS_DEVICE && device.device == 2);
  HOLDS(device.ops == 3 && device.first_ns == 100 && device.last_ns == 250);
  HOLDS(device.span_ns == 150 && device.busy_ns == 120 &&
        device.idle_ns == 30 && device.gaps == 2 && device.unknown_ns == 30);
  HOLDS(device.transitions == 2 && device.names == 2 && device.streams == 1);
  OK(kmb_gaps_utilization(gaps, 0, &share));
  HOLDS(share == 120.0 / 150);
}

static void lists_of_a_device(const kmb_gaps *gaps) {
  kmb_gaps_transition transition = kmb_gaps_transition_init();
  OK(kmb_gaps_get_transition(gaps, 0, 0, &transition));
  HOLDS(transition.from_kind == KMB_OP_MEMCPY && transition.idle_ns == 20);
  HOLDS(strcmp(transition.to, "target") == 0 && transition.count == 1);
  kmb_gaps_name name = kmb_gaps_name_init();
  OK(kmb_gaps_get_name(gaps, 0, 0, &name));
  HOLDS(name.count == 2 && name.total_ns == 100 && name.target == 1);
  kmb_gaps_stream stream = kmb_gaps_stream_init();
  OK(kmb_gaps_get_stream(gaps, 0, 0, &stream));
  HOLDS(stream.stream == 7 && stream.ops == 3 && stream.busy_ns == 120);
}

static void a_target_has_its_intervals(const kmb_gaps *gaps) {
  kmb_gaps_target target = kmb_gaps_target_init();
  kmb_gaps_interval interval;
  OK(kmb_gaps_get_target(gaps, 0, &target));
  HOLDS(target.count == 2 && target.intervals == 1);
  HOLDS(target.median_work_ns == 20 && target.median_kernel_work_ns == 0);
  HOLDS(target.utilization == 0.5 && target.potential_overlap == 1);
  OK(kmb_gaps_get_interval(gaps, 0, 0, &interval));
  HOLDS(interval.interval_ns == 50 && interval.work_ns == 20 &&
        interval.kernel_work_ns == 0 && interval.idle_ns == 30);
  kmb_gaps_latency latency = kmb_gaps_latency_init();
  HOLDS(kmb_gaps_get_latency(gaps, 0, &latency) == KMB_ERR_UNAVAILABLE);
}

static void findings_say_why(const kmb_gaps *gaps) {
  kmb_finding finding = kmb_finding_init();
  HOLDS(kmb_gaps_finding_count(gaps) == 2);
  OK(kmb_gaps_get_finding(gaps, 0, &finding));
  HOLDS(finding.code == KMB_FINDING_INVALID_TIMESTAMPS && finding.message[0]);
}

static kmb_status launch_nothing(void *user) {
  (void)user;
  return KMB_OK;
}

static void code_is_captured_where_it_can_be(kmb_device *device) {
  kmb_code *code = NULL;
  kmb_code_kernel kernel = kmb_code_kernel_init();
  kmb_code_info info = kmb_code_info_init();
  const void *image = NULL;
  uint64_t bytes = 0;
  HOLDS(kmb_code_capture(device, launch_nothing, NULL, &code) ==
        KMB_ERR_UNSUPPORTED);
  HOLDS(!code);
  HOLDS(kmb_code_get_info(code, &info) == KMB_ERR_INVALID);
  HOLDS(kmb_code_get_kernel(code, 0, &kernel) == KMB_ERR_INVALID);
  HOLDS(kmb_code_get_image(code, 0, &image, &bytes) == KMB_ERR_INVALID);
  kmb_code_pair pair = kmb_code_pair_init();
  HOLDS(kmb_result_code_count(NULL) == 0);
  HOLDS(kmb_result_code(NULL, 0, &kernel) == KMB_ERR_INVALID);
  HOLDS(kmb_result_code_pair_count(NULL, NULL) == 0);
  HOLDS(kmb_result_code_pair(NULL, NULL, 0, &pair) == KMB_ERR_INVALID);
  HOLDS(kmb_result_code_match(NULL, NULL) == KMB_CODE_UNKNOWN);
  HOLDS(strcmp(kmb_code_match_name(KMB_CODE_SAME), "same code") == 0);
  HOLDS(kmb_code_save(code, "result.d") == KMB_ERR_INVALID);
  kmb_code_destroy(code);
}

/* A host has none, and says so; a handle that is not there is no handle. */
static kmb_status nothing(void *user, const kmb_launch *launch) {
  (void)user;
  (void)launch;
  return KMB_OK;
}

static void counters(void) {
  kmb_counters_params params = kmb_counters_params_init();
  kmb_counters_info info = kmb_counters_info_init();
  kmb_bench_params bench = kmb_bench_params_init();
  kmb_op op = kmb_op_init();
  kmb_occupancy occupancy = kmb_occupancy_init();
  kmb_counters *read = NULL;
  kmb_device *device = NULL;
  const char *name = NULL;
  double value = 0;
  bench.launch = nothing;
  HOLDS(kmb_device_open("host", NULL, &device) == KMB_OK);
  HOLDS(kmb_counters_read(device, &bench, &params, &read) ==
        KMB_ERR_UNSUPPORTED);
  HOLDS(!read);
  HOLDS(kmb_counters_release(device) == KMB_OK);
  kmb_device_close(device);
  HOLDS(kmb_counters_get_info(NULL, &info) == KMB_ERR_INVALID);
  HOLDS(kmb_counters_row_count(NULL) == 0);
  HOLDS(kmb_counters_name(NULL, 0, &name) == KMB_ERR_INVALID);
  HOLDS(kmb_counters_value(NULL, 0, 0, &value) == KMB_ERR_INVALID);
  HOLDS(kmb_counters_launch(NULL, 0, &op) == KMB_ERR_INVALID);
  HOLDS(kmb_counters_occupancy(NULL, 0, &occupancy) == KMB_ERR_INVALID);
  kmb_counters_destroy(NULL);
}

static void recordings(void) {
  kmb_record_params params = kmb_record_params_init();
  kmb_device *device = NULL;
  kmb_recording *recording = NULL;
  kmb_trace *trace = NULL;
  params.row_limit = 10;
  params.flags = KMB_RECORD_NO_CALLS;
  OK(kmb_device_open("host", NULL, &device));
  HOLDS(kmb_trace_begin(device, &params, &recording) == KMB_ERR_UNSUPPORTED);
  HOLDS(!recording);
  HOLDS(kmb_trace_range_begin(NULL, "step") == KMB_ERR_INVALID);
  HOLDS(kmb_trace_range_end(NULL) == KMB_ERR_INVALID);
  HOLDS(kmb_trace_end(NULL, &trace) == KMB_ERR_INVALID);
  kmb_trace_abandon(NULL);
  code_is_captured_where_it_can_be(device);
  kmb_device_close(device);
}

static void own_json(const kmb_trace *trace) {
  static text json;
  kmb_trace_info info = kmb_trace_info_init(), again = info;
  OK(kmb_trace_write_json(trace, append, &json));
  kmb_trace *copy = load(&json, KMB_TRACE_KMB);
  OK(kmb_trace_get_info(trace, &info));
  OK(kmb_trace_get_info(copy, &again));
  HOLDS(again.ops == info.ops && again.invalid == info.invalid);
  HOLDS(again.dropped == 0);
  kmb_trace_destroy(copy);
}

int main(void) {
  static text from, again, json, words;
  OK(append(&from, table, sizeof table - 1));
  names_of_numbers();
  kmb_trace *trace = load(&from, KMB_TRACE_AUTO);
  a_trace_says_what_it_holds(trace);
  kmb_gaps_params params = kmb_gaps_params_init();
  kmb_gaps *gaps = NULL;
  params.kernel = "^target$";
  params.device = 2;
  params.from_ns = 1;
  params.to_ns = 1000;
  params.top = 1;
  params.flags = KMB_GAPS_DEVICE | KMB_GAPS_FROM | KMB_GAPS_TO;
  OK(kmb_gaps_analyse(trace, &params, &gaps));
  a_device_has_its_sums(gaps);
  lists_of_a_device(gaps);
  a_target_has_its_intervals(gaps);
  findings_say_why(gaps);
  OK(kmb_gaps_write_json(gaps, append, &json));
  HOLDS(strstr(json.data, "\"potential_overlap\": 1.0"));
  OK(kmb_gaps_write_text(gaps, append, &words));
  HOLDS(strstr(words.data, "utilization"));
  kmb_gaps_destroy(gaps);
  OK(kmb_trace_write_chrome(trace, append, &again));
  own_json(trace);
  recordings();
  counters();
  kmb_trace_destroy(trace);
  kmb_trace_destroy(load(&again, KMB_TRACE_CHROME_JSON));
  puts("ok");
  return 0;
}
