/* The analysis: sums, causes, graphs, ranges, the target. */
#include "load.h"

#include <stdbool.h>

#define SHORT "Start (ns),Duration (ns),Device,Strm,Name\n"
#define EVENT(cat, name, tid, ts, dur, args)                        \
  "{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name         \
  "\", \"pid\": 9, \"tid\": " tid ", \"ts\": " ts ", \"dur\": " dur \
  ", \"args\": {" args "}}"
#define CALL(name, tid, ts, dur, id) \
  EVENT("cuda_runtime", name, tid, ts, dur, "\"correlation\": " id)
#define OP(name, ts, dur, id)         \
  EVENT("kernel", name, "7", ts, dur, \
        "\"device\": 0, \"stream\": 7, \"correlation\": " id)
#define RANGE(name, tid, ts, dur) \
  EVENT("user_annotation", name, tid, ts, dur, "")

static kmb_gaps *analyse_with(const kmb_trace *trace,
                              const kmb_gaps_params *p) {
  kmb_gaps *gaps = NULL;
  REQUIRE_OK(kmb_gaps_analyse(trace, p, &gaps));
  return gaps;
}

static bool has_finding(const kmb_gaps *gaps, kmb_finding_code code,
                        double *value) {
  for (uint64_t i = 0; i < kmb_gaps_finding_count(gaps); i++) {
    kmb_finding f = kmb_finding_init();
    REQUIRE_OK(kmb_gaps_get_finding(gaps, i, &f));
    if (f.code != code) continue;
    if (value) *value = f.figures[0].value;
    return true;
  }
  return false;
}

/* Durations added up would say 112.5%, gaps by stream would find idle time
 * where there is none. */
static void F46_unions_not_sums(void) {
  kmb_trace *trace = load(SHORT "1000,9000,G (0),7,a\n1000,9000,G (0),8,b\n"
                                "10030,7000,G (0),7,a\n");
  kmb_gaps *gaps = analyse(trace, NULL);
  kmb_gaps_device d = device_of(gaps, 0);
  REQUIRE_EQ(d.span_ns, 16030);
  REQUIRE_EQ(d.busy_ns, 16000);
  REQUIRE_EQ(d.idle_ns, 30);
  REQUIRE_EQ(d.gaps, 1);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);

  /* Stream 7 idles for 49 ms while stream 8 works: the device does not. */
  trace = load(SHORT "1,1000000,G (0),7,a\n1000001,49000000,G (0),8,b\n"
                     "50000001,1000000,G (0),7,a\n");
  gaps = analyse(trace, NULL);
  d = device_of(gaps, 0);
  REQUIRE_EQ(d.idle_ns, 0);
  REQUIRE_EQ(d.gaps, 0);
  REQUIRE_EQ(d.streams, 2);
  kmb_gaps_stream s = kmb_gaps_stream_init();
  REQUIRE_OK(kmb_gaps_get_stream(gaps, 0, 0, &s));
  REQUIRE_EQ(s.stream, 7);
  REQUIRE_EQ(s.span_ns, 51000000);
  REQUIRE_EQ(s.busy_ns, 2000000);
  double share = 0;
  REQUIRE_OK(kmb_gaps_utilization(gaps, 0, &share));
  REQUIRE_NEAR(share, 1, 0);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

/* 2008.6 ns of which 30.3 are idle, in tenths. */
static void F46_share_of_the_span(void) {
  kmb_trace *trace = load(SHORT "100,10000,G (0),7,a\n10403,9783,G (0),7,b\n");
  kmb_gaps *gaps = analyse(trace, NULL);
  kmb_gaps_device d = device_of(gaps, 0);
  double share = 0;
  REQUIRE_EQ(d.span_ns, 20086);
  REQUIRE_EQ(d.idle_ns, 303);
  REQUIRE_OK(kmb_gaps_utilization(gaps, 0, &share));
  REQUIRE_NEAR(share, 0.985, 0.0005);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

static void a_gap_is_charged_to_what_ended_last(void) {
  kmb_trace *trace = load(SHORT "10,100,G (0),7,long\n20,10,G (0),8,short\n"
                                "200,10,G (0),7,next\n200,5,G (0),8,same\n");
  kmb_gaps *gaps = analyse(trace, NULL);
  kmb_gaps_transition t = kmb_gaps_transition_init();
  REQUIRE_EQ(device_of(gaps, 0).transitions, 1);
  REQUIRE_OK(kmb_gaps_get_transition(gaps, 0, 0, &t));
  REQUIRE_STR(t.from, "long");
  REQUIRE_STR(t.to, "next");
  REQUIRE_EQ(t.idle_ns, 90);
  REQUIRE_EQ(t.longest_ns, 90);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

static void devices_are_apart_and_in_order(void) {
  kmb_trace *trace = load(SHORT "10,10,G (3),7,a\n15,10,G (1),7,b\n"
                                "40,10,G (3),7,a\n");
  kmb_gaps *gaps = analyse(trace, NULL);
  REQUIRE_EQ(kmb_gaps_device_count(gaps), 2);
  REQUIRE_EQ(device_of(gaps, 0).device, 1);
  REQUIRE_EQ(device_of(gaps, 0).names, 1);
  REQUIRE_EQ(device_of(gaps, 0).idle_ns, 0);
  REQUIRE_EQ(device_of(gaps, 1).device, 3);
  REQUIRE_EQ(device_of(gaps, 1).idle_ns, 20);
  kmb_gaps_destroy(gaps);
  kmb_gaps_params p = kmb_gaps_params_init();
  p.flags = KMB_GAPS_DEVICE;
  p.device = 3;
  gaps = analyse_with(trace, &p);
  REQUIRE_EQ(kmb_gaps_device_count(gaps), 1);
  REQUIRE_EQ(device_of(gaps, 0).device, 3);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

static void time_limits_are_half_open(void) {
  kmb_trace *trace = load(SHORT "10,5,G (0),7,a\n20,5,G (0),7,b\n"
                                "30,5,G (0),7,c\n");
  kmb_gaps_params p = kmb_gaps_params_init();
  p.flags = KMB_GAPS_FROM | KMB_GAPS_TO;
  p.from_ns = 20;
  p.to_ns = 30;
  kmb_gaps *gaps = analyse_with(trace, &p);
  kmb_gaps_name name = kmb_gaps_name_init();
  REQUIRE_EQ(device_of(gaps, 0).ops, 1);
  REQUIRE_OK(kmb_gaps_get_name(gaps, 0, 0, &name));
  REQUIRE_STR(name.name, "b");
  kmb_gaps_destroy(gaps);
  p.to_ns = 20;
  gaps = analyse_with(trace, &p);
  REQUIRE_EQ(kmb_gaps_device_count(gaps), 0);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

/* One gap of 100 µs: 20 µs of synchronisation, 30 µs of other code, 10 µs in an
 * unrelated launch, 25 µs of another call, then its own launch. */
static const char causes[] =
    "[" CALL("cudaLaunchKernel", "1", "90", "5", "1") ","     //
    OP("a", "100", "100", "1") ","                            //
    CALL("cudaStreamSynchronize", "1", "150", "70", "2") ","  //
    CALL("cudaLaunchKernel", "1", "230", "10", "8") ","       //
    CALL("cudaMalloc", "1", "245", "25", "9") ","             //
    CALL("cudaDeviceSynchronize", "2", "200", "100", "3") "," //
    CALL("cudaLaunchKernel", "1", "285", "5", "4") ","        //
    OP("b", "300", "10", "4") ","                             //
    CALL("cudaLaunchKernel", "1", "292", "2", "5") ","        //
    OP("c", "312", "10", "5") "," OP("d", "330", "1", "77") "]";

static void causes_add_up(void) {
  kmb_trace *trace = load(causes);
  kmb_gaps *gaps = analyse(trace, NULL);
  kmb_gaps_device d = device_of(gaps, 0);
  REQUIRE(d.flags & KMB_GAPS_HAS_CAUSES);
  REQUIRE_EQ(d.idle_ns, 110000);
  REQUIRE_EQ(d.sync_ns, 20000);   /* 200 to 220 */
  REQUIRE_EQ(d.launch_ns, 25000); /* 230 to 240, 285 to 300 */
  REQUIRE_EQ(d.host_ns, 55000);   /* the rest before 285 */
  REQUIRE_EQ(d.queued_ns, 2000);  /* 310 to 312 */
  REQUIRE_EQ(d.unknown_ns, 8000); /* 322 to 330 */
  REQUIRE(!has_finding(gaps, KMB_FINDING_CAUSE_UNKNOWN, NULL));
  kmb_gaps_latency l = kmb_gaps_latency_init();
  REQUIRE_OK(kmb_gaps_get_latency(gaps, 0, &l));
  REQUIRE_EQ(l.count, 3);
  REQUIRE_EQ(l.shortest_ns, 10000);
  REQUIRE_EQ(l.longest_ns, 20000);
  REQUIRE_NEAR(l.median_ns, 15000, 0);
  REQUIRE_NEAR(l.mean_ns, 15000, 0);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

/* A launch that began before the gap and ended in it is a launch throughout. */
static void a_slow_launch_is_a_launch(void) {
  kmb_trace *trace = load("[" OP("a", "100", "10", "1") ","                   //
                          CALL("cudaLaunchKernel", "1", "105", "20", "2") "," //
                          OP("b", "130", "10", "2") "]");
  kmb_gaps *gaps = analyse(trace, NULL);
  REQUIRE_EQ(device_of(gaps, 0).launch_ns, 20000);
  REQUIRE_EQ(device_of(gaps, 0).queued_ns, 0);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

/* One that ended as the gap began held nothing up. */
static void a_launch_that_returned_in_time_is_queued(void) {
  kmb_trace *trace = load("[" OP("a", "100", "10", "1") ","                  //
                          CALL("cudaLaunchKernel", "1", "105", "5", "2") "," //
                          OP("b", "130", "10", "2") "]");
  kmb_gaps *gaps = analyse(trace, NULL);
  REQUIRE_EQ(device_of(gaps, 0).queued_ns, 20000);
  REQUIRE_EQ(device_of(gaps, 0).launch_ns, 0);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

/* The driver's call within the runtime's is part of it. */
static void nested_calls_count_once(void) {
  kmb_trace *trace = load(
      "[" OP("a", "100", "10", "1") "," //
      CALL("cudaStreamSynchronize", "1", "105", "45", "3") "," EVENT(
          "cuda_driver", "cuStreamSynchronize", "1", "106", "43",
          "\"correlation\": 4") "," CALL("cudaLaunchKernel", "1", "160", "5",
                                         "2") "," EVENT("cuda_driver",
                                                        "cuLaunchKernel", "1",
                                                        "161", "3",
                                                        "\"correlation\": "
                                                        "2") "," OP("b", "170",
                                                                    "10",
                                                                    "2") "]");
  kmb_gaps *gaps = analyse(trace, NULL);
  kmb_gaps_device d = device_of(gaps, 0);
  REQUIRE_EQ(d.sync_ns, 40000);
  REQUIRE_EQ(d.host_ns, 10000);
  REQUIRE_EQ(d.launch_ns, 10000);
  kmb_gaps_latency l = kmb_gaps_latency_init();
  REQUIRE_OK(kmb_gaps_get_latency(gaps, 0, &l));
  REQUIRE_EQ(l.shortest_ns, 10000);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

static void kinds_of_calls(void) {
  static const struct {
    const char *name;
    kmb_call_kind kind;
  } calls[] = {{"cudaLaunchKernel_v7000", KMB_CALL_LAUNCH},
               {"cuLaunchKernelEx", KMB_CALL_LAUNCH},
               {"cudaMemcpyAsync_v3020", KMB_CALL_LAUNCH},
               {"cudaMemcpy_v3020", KMB_CALL_SYNC},
               {"cudaMemsetAsync", KMB_CALL_LAUNCH},
               {"cudaGraphLaunch_v10000", KMB_CALL_GRAPH_LAUNCH},
               {"hipGraphLaunch", KMB_CALL_GRAPH_LAUNCH},
               {"hipStreamSynchronize", KMB_CALL_SYNC},
               {"cudaEventQuery", KMB_CALL_SYNC},
               {"cudaStreamWaitEvent", KMB_CALL_OTHER},
               {"cudaMalloc", KMB_CALL_OTHER}};
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    char text[256];
    kmb_trace_call call = kmb_trace_call_init();
    snprintf(text, sizeof text, "[" CALL("%s", "1", "5", "5", "1") "]",
             calls[i].name);
    kmb_trace *trace = load(text);
    REQUIRE_OK(kmb_trace_get_call(trace, 0, &call));
    REQUIRE_EQ(call.kind, calls[i].kind);
    kmb_trace_destroy(trace);
  }
}

/* A graph launch without operations: the device was busier than it seems. */
static void untraced_graphs_withhold_utilization(void) {
  kmb_trace *trace =
      load("[" OP("a", "100", "10", "1") ","                //
           OP("b", "200", "10", "2") ","                    //
           CALL("cudaGraphLaunch", "1", "50", "9", "1") "," //
           CALL("cudaGraphLaunch", "1", "120", "9",
                "3") "," EVENT("cuda_driver", "cuGraphLaunch", "1", "121", "5",
                               "\"correlation\": 4") "]");
  kmb_gaps *gaps = analyse(trace, NULL);
  double share = 7, count = 0;
  REQUIRE(has_finding(gaps, KMB_FINDING_GRAPHS_NOT_TRACED, &count));
  REQUIRE_NEAR(count, 1, 0);
  REQUIRE_STATUS(kmb_gaps_utilization(gaps, 0, &share), KMB_ERR_UNAVAILABLE);
  REQUIRE_NEAR(share, 7, 0);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "--cuda-graph-trace=node");
  written json = {NULL, 0}, words = {NULL, 0};
  REQUIRE_OK(kmb_gaps_write_json(gaps, take_bytes, &json));
  REQUIRE(!strstr(json.data, "\"utilization\":"));
  REQUIRE_HAS(json.data, "\"utilization_absent\":");
  REQUIRE_OK(kmb_gaps_write_text(gaps, take_bytes, &words));
  REQUIRE_HAS(words.data, "utilization is withheld");
  REQUIRE(!strstr(words.data, "%)"));
  free(json.data);
  free(words.data);
  kmb_gaps_destroy(gaps);
  /* Not if that launch is not asked about. */
  kmb_gaps_params p = kmb_gaps_params_init();
  p.flags = KMB_GAPS_TO;
  p.to_ns = 120000;
  gaps = analyse_with(trace, &p);
  REQUIRE_OK(kmb_gaps_utilization(gaps, 0, &share));
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

static void graph_spans_are_said_to_hide_kernels(void) {
  kmb_trace *trace =
      load("[" EVENT("gpu_graph", "g", "7", "100", "10", "\"device\": 0") "," //
           OP("k", "120", "10", "2") "]");
  kmb_gaps *gaps = analyse(trace, "k");
  double count = 0;
  REQUIRE(has_finding(gaps, KMB_FINDING_GRAPHS_AS_SPANS, &count));
  REQUIRE_NEAR(count, 1, 0);
  REQUIRE_EQ(op_of(trace, 0).kind, KMB_OP_GRAPH);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

/* Time between two ranges is no gap, and no interval of the target. */
static void ranges_select_by_launch(void) {
  kmb_trace *trace = load(
      "[" RANGE("step", "1", "10", "20") "," RANGE("step", "1", "100", "20") "," RANGE("step", "1", "105", "5") "," RANGE(
          "other", "1", "50",
          "10") "," CALL("cudaLaunchKernel", "1", "11", "1",
                         "1") "," CALL("cudaLaunchKernel", "1", "12", "1",
                                       "2") "," CALL("cudaLaunchKernel", "1",
                                                     "55", "1",
                                                     "3") "," CALL("cudaLaunchK"
                                                                   "ernel",
                                                                   "2", "56",
                                                                   "1",
                                                                   "6") "," CALL("cudaLaunchKernel",
                                                                                 "1",
                                                                                 "101",
                                                                                 "1",
                                                                                 "4") "," CALL("cudaLaunchKernel",
                                                                                               "1",
                                                                                               "119",
                                                                                               "1",
                                                                                               "5") "," OP("k",
                                                                                                           "20",
                                                                                                           "5",
                                                                                                           "1") "," OP("k",
                                                                                                                       "40",
                                                                                                                       "5",
                                                                                                                       "2") "," //
      OP("k", "60", "5", "3") "," OP("k", "70", "5", "6") "," //
      OP("k", "110", "5", "4") "," OP("k", "125", "5", "5") "]");
  kmb_gaps_params p = kmb_gaps_params_init();
  p.range = "step";
  p.kernel = "k";
  kmb_gaps *gaps = analyse_with(trace, &p);
  kmb_gaps_device d = device_of(gaps, 0);
  kmb_gaps_target t = kmb_gaps_target_init();
  REQUIRE_EQ(d.ops, 4);
  REQUIRE_EQ(d.span_ns, 45000); /* 20 to 45, 110 to 130 */
  REQUIRE_EQ(d.busy_ns, 20000);
  REQUIRE_EQ(d.gaps, 2);
  REQUIRE_EQ(d.idle_ns, 25000);
  REQUIRE_OK(kmb_gaps_get_target(gaps, 0, &t));
  REQUIRE_EQ(t.count, 4);
  REQUIRE_EQ(t.intervals, 2);
  REQUIRE_NEAR(t.mean_interval_ns, 12500, 0);
  kmb_gaps_destroy(gaps);
  p.range = "nothing";
  REQUIRE_STATUS(kmb_gaps_analyse(trace, &p, &gaps), KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "no range \"nothing\"; it has 4");
  kmb_trace_destroy(trace);
}

/* Without calls a range is a time. */
static void ranges_select_by_time_without_calls(void) {
  kmb_trace *trace =
      load("[" RANGE("step", "2", "10", "20") "," //
           RANGE("step", "1", "25", "20") ","     //
           OP("k", "9", "5", "1") "," OP("k", "20", "5",
                                         "2") "," OP("k", "44", "5", "3") "," //
           OP("k", "45", "5", "4") "]");
  kmb_gaps_params p = kmb_gaps_params_init();
  p.range = "step";
  kmb_gaps *gaps = analyse_with(trace, &p);
  REQUIRE_EQ(device_of(gaps, 0).ops, 2);
  REQUIRE_EQ(device_of(gaps, 0).idle_ns, 19000);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

/* One call starts work on all devices, and each has a latency of its own. */
static void each_device_has_its_latency(void) {
  enum { DEVICES = 2000, OPS = 3 };
  static char text[DEVICES * OPS * 128 + 256];
  char *to = text;
  to += sprintf(to, "{\"kmb_trace\": 1, \"names\": [\"k\", \"cuGraphLaunch\"], "
                    "\"threads\": [[1, 2]],\n\"devices\": [");
  for (int i = 0; i < DEVICES; i++)
    to += sprintf(to, "%s[%d, 0]", i ? "," : "", DEVICES - i);
  to += sprintf(to, "],\n\"streams\": [");
  for (int i = 0; i < DEVICES; i++)
    to += sprintf(to, "%s[%d, 1, 1, 7]", i ? "," : "", i);
  to += sprintf(to, "],\n\"ops\": [");
  for (int i = 0; i < DEVICES * OPS; i++)
    to += sprintf(to, "%s[\"kernel\", %d, 0, %d, 5, %d, null]", i ? "," : "",
                  i % DEVICES, 100 + i, i < DEVICES ? 9 : 0);
  sprintf(to, "],\n\"calls\": [[\"graph launch\", 0, 1, 90, 3, 9]]}");
  kmb_trace *trace = load_n(text, strlen(text));
  kmb_gaps *gaps = analyse(trace, "k");
  REQUIRE_EQ(kmb_gaps_device_count(gaps), DEVICES);
  for (uint64_t i = 0; i < DEVICES; i++) {
    kmb_gaps_latency latency = kmb_gaps_latency_init();
    kmb_gaps_target target = kmb_gaps_target_init();
    REQUIRE_OK(kmb_gaps_get_latency(gaps, i, &latency));
    REQUIRE_EQ(latency.count, 1);
    /* They come by number, the last of the file first. */
    REQUIRE_EQ(latency.longest_ns, 10 + DEVICES - 1 - i);
    REQUIRE_OK(kmb_gaps_get_target(gaps, i, &target));
    REQUIRE_EQ(target.count, OPS);
    REQUIRE(target.median_duration_ns == 5);
  }
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

static void overlapping_launches_have_no_interval_between(void) {
  kmb_trace *trace = load(SHORT "10,100,G (0),7,k\n20,10,G (0),8,k\n"
                                "50,10,G (0),8,k\n200,10,G (0),7,k\n");
  kmb_gaps *gaps = analyse(trace, "k");
  kmb_gaps_interval row;
  REQUIRE_OK(kmb_gaps_get_interval(gaps, 0, 0, &row));
  REQUIRE_EQ(row.interval_ns, 0);
  /* The first launch runs beside the third: that is work. */
  REQUIRE_OK(kmb_gaps_get_interval(gaps, 0, 1, &row));
  REQUIRE_EQ(row.interval_ns, 20);
  REQUIRE_EQ(row.kernel_work_ns, 20);
  REQUIRE_EQ(row.idle_ns, 0);
  REQUIRE_OK(kmb_gaps_get_interval(gaps, 0, 2, &row));
  REQUIRE_EQ(row.interval_ns, 140);
  REQUIRE_EQ(row.work_ns, 50);
  REQUIRE_STATUS(kmb_gaps_get_interval(gaps, 0, 3, &row), KMB_ERR_INVALID);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

static void only_kernels_are_targets(void) {
  kmb_trace *trace = load(SHORT "10,5,G (0),7,[CUDA memcpy Host-to-Device]\n"
                                "20,5,G (0),7,memcpy_kernel\n");
  kmb_gaps *gaps = analyse(trace, "memcpy");
  kmb_gaps_target t = kmb_gaps_target_init();
  REQUIRE_OK(kmb_gaps_get_target(gaps, 0, &t));
  REQUIRE_EQ(t.count, 1);
  REQUIRE_EQ(t.intervals, 0);
  kmb_gaps_destroy(gaps);
  gaps = analyse(trace, "nothing");
  REQUIRE_STATUS(kmb_gaps_get_target(gaps, 0, &t), KMB_ERR_UNAVAILABLE);
  written words = {NULL, 0};
  REQUIRE_OK(kmb_gaps_write_text(gaps, take_bytes, &words));
  REQUIRE_HAS(words.data, "no kernel matches \"nothing\"");
  free(words.data);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

static void wrong_arguments_are_refused(void) {
  kmb_trace *trace = load(SHORT "10,5,G (0),7,k\n");
  kmb_gaps *gaps = NULL;
  kmb_gaps_params p = kmb_gaps_params_init();
  REQUIRE_STATUS(kmb_gaps_analyse(NULL, NULL, &gaps), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_gaps_analyse(trace, NULL, NULL), KMB_ERR_INVALID);
  p.kernel = "(";
  REQUIRE_STATUS(kmb_gaps_analyse(trace, &p, &gaps), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "no regular expression");
  p = kmb_gaps_params_init();
  p.flags = 8;
  REQUIRE_STATUS(kmb_gaps_analyse(trace, &p, &gaps), KMB_ERR_UNSUPPORTED);
  p = kmb_gaps_params_init();
  p.struct_size = 8;
  REQUIRE_STATUS(kmb_gaps_analyse(trace, &p, &gaps), KMB_ERR_INVALID);
  REQUIRE(!gaps);
  kmb_trace_destroy(trace);
  REQUIRE_STATUS(kmb_trace_load(NULL, NULL, &trace), KMB_ERR_INVALID);
  REQUIRE(!trace);
}

static void sums_that_overflow_are_refused(void) {
  kmb_trace *trace = load(SHORT "1,9223372036854775800,G (0),7,k\n"
                                "2,9223372036854775800,G (0),7,k\n"
                                "3,9223372036854775800,G (0),7,k\n");
  kmb_gaps *gaps = NULL;
  REQUIRE_STATUS(kmb_gaps_analyse(trace, NULL, &gaps), KMB_ERR_UNSUPPORTED);
  REQUIRE(!gaps);
  kmb_trace_destroy(trace);
}

static void the_text_says_what_fits(void) {
  kmb_trace *trace = load(causes);
  kmb_gaps *gaps = analyse(trace, NULL);
  written words = {NULL, 0};
  REQUIRE_OK(kmb_gaps_write_text(gaps, take_bytes, &words));
  REQUIRE_HAS(words.data, "host code 55.00 µs (50.0%)");
  REQUIRE_HAS(words.data, "move the loop out of Python");
  REQUIRE(!strstr(words.data, "drop the wait")); /* 18% */
  free(words.data);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

static void words_of(const char *csv, written *words) {
  kmb_trace *trace = load(csv);
  kmb_gaps *gaps = analyse(trace, NULL);
  REQUIRE_OK(kmb_gaps_write_text(gaps, take_bytes, words));
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

static void one_is_no_plural(void) {
  written words = {NULL, 0};
  words_of(SHORT "10,5,G (0),7,k\n", &words);
  REQUIRE_HAS(words.data, "  1 operation in ");
  REQUIRE_HAS(words.data, " in 0 gaps\n");
  free(words.data);
  words = (written){NULL, 0};
  words_of(SHORT "10,5,G (0),7,k\n20,5,G (0),7,k\n", &words);
  REQUIRE_HAS(words.data, "  2 operations in ");
  REQUIRE_HAS(words.data, " in 1 gap\n");
  free(words.data);
}

static kmb_status full(void *user, const void *data, size_t size) {
  (void)user;
  (void)data;
  (void)size;
  return 42;
}

static void write_callbacks_end_the_call(void) {
  kmb_trace *trace = load(causes);
  kmb_gaps *gaps = analyse(trace, NULL);
  REQUIRE_EQ(kmb_gaps_write_json(gaps, full, NULL), 42);
  REQUIRE_EQ(kmb_gaps_write_text(gaps, full, NULL), 42);
  REQUIRE_EQ(kmb_trace_write_chrome(trace, full, NULL), 42);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

int main(void) {
  RUN(F46_unions_not_sums);
  RUN(F46_share_of_the_span);
  RUN(a_gap_is_charged_to_what_ended_last);
  RUN(devices_are_apart_and_in_order);
  RUN(time_limits_are_half_open);
  RUN(causes_add_up);
  RUN(a_slow_launch_is_a_launch);
  RUN(a_launch_that_returned_in_time_is_queued);
  RUN(nested_calls_count_once);
  RUN(kinds_of_calls);
  RUN(untraced_graphs_withhold_utilization);
  RUN(graph_spans_are_said_to_hide_kernels);
  RUN(ranges_select_by_launch);
  RUN(ranges_select_by_time_without_calls);
  RUN(each_device_has_its_latency);
  RUN(overlapping_launches_have_no_interval_between);
  RUN(only_kernels_are_targets);
  RUN(wrong_arguments_are_refused);
  RUN(sums_that_overflow_are_refused);
  RUN(the_text_says_what_fits);
  RUN(one_is_no_plural);
  RUN(write_callbacks_end_the_call);
  return 0;
}
