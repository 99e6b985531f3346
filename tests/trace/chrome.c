/* Chrome JSON: what is read, what is refused, and that what is written is read
 * back. */
#include "load.h"

#define TOP "{\"schemaVersion\": 1, \"traceEvents\": ["
#define END "]}"
#define KERNEL(name, ts, dur, args)                                          \
  "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name                   \
  "\", \"pid\": 0, \"tid\": 7, \"ts\": " ts ", \"dur\": " dur ", \"args\": " \
  "{" args "}}"

static void kineto_kernels_and_copies(void) {
  kmb_trace *trace = load(TOP KERNEL(
      "k", "1.001", "2.5",
      "\"External id\": 4, \"queued\": 0, \"device\": 1, \"context\": 2, "
      "\"stream\": 7, \"correlation\": 9, \"grid\": [1, 2, 3], \"graph id\": "
      "0") ", {\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy "
           "HtoD\", \"pid\": 1, \"tid\": 7, \"ts\": 5.000, \"dur\": 1.000, "
           "\"args\": {\"device\": 1, \"context\": 2, \"stream\": 7, "
           "\"correlation\": 10, \"bytes\": 4096, \"memory bandwidth (GB/s)\": "
           "\"N/A\"}}" END);
  kmb_trace_op op = op_of(trace, 0);
  REQUIRE_STR(op.name, "k");
  REQUIRE_EQ(op.start_ns, 1001);
  REQUIRE_EQ(op.end_ns, 3501);
  REQUIRE_EQ(op.device, 1);
  REQUIRE_EQ(op.context, 2);
  REQUIRE_EQ(op.stream, 7);
  REQUIRE_EQ(op.correlation, 9);
  REQUIRE_EQ(op.flags,
             KMB_OP_HAS_DEVICE | KMB_OP_HAS_STREAM | KMB_OP_HAS_CORRELATION);
  op = op_of(trace, 1);
  REQUIRE_EQ(op.kind, KMB_OP_MEMCPY);
  REQUIRE_EQ(op.bytes, 4096);
  REQUIRE_EQ(info_of(trace).format, KMB_TRACE_CHROME_JSON);
  REQUIRE_EQ(info_of(trace).tick_ns, 1);
  kmb_trace_destroy(trace);
}

/* However the file is cut into pieces, and whatever else stands there. */
static void kineto_says_how_kernels_were_launched(void) {
  const struct {
    const char *args;
    const uint32_t *want;
  } cases[] = {
      {"\"grid\": [64, 2, 3], \"block\": [128, 4, 1]",
       SHAPE(64, 2, 3, 128, 4, 1)},
      {"\"block\":[128,4,1],\"grid\":[4294967295,2,3]",
       SHAPE(4294967295, 2, 3, 128, 4, 1)},
      {"\"grid\": [ 64 ,\n2,\t3 ], \"block\" : [\r128, 4, 1\n]",
       SHAPE(64, 2, 3, 128, 4, 1)},
      {"\"grid\": [64, 2, 3]", NULL},
      {"\"block\": [64, 2, 3]", NULL},
      {"\"grid\": [64, 2], \"block\": [128, 4, 1]", NULL},
      {"\"grid\": [64, 2, 3, 4], \"block\": [128, 4, 1]", NULL},
      {"\"grid\": [64, 2, 0], \"block\": [128, 4, 1]", NULL},
      {"\"grid\": [64, 2, -3], \"block\": [128, 4, 1]", NULL},
      {"\"grid\": [64, 2, 3.0], \"block\": [128, 4, 1]", NULL},
      {"\"grid\": [64, 2, 1e2], \"block\": [128, 4, 1]", NULL},
      {"\"grid\": [4294967296, 2, 3], \"block\": [128, 4, 1]", NULL},
      {"\"grid\": [18446744073709551617, 2, 3], \"block\": [1, 4, 1]", NULL},
      {"\"grid\": [\"64\", 2, 3], \"block\": [128, 4, 1]", NULL},
      {"\"grid\": [[64, 2, 3]], \"block\": [128, 4, 1]", NULL},
      {"\"grid\": [], \"block\": [128, 4, 1]", NULL},
      {"\"grid\": {}, \"block\": [128, 4, 1]", NULL},
      {"\"grid\": null, \"block\": [128, 4, 1]", NULL},
      {"\"grid\": 64, \"block\": \"x\"", NULL},
      /* Which of two is meant nobody knows. */
      {"\"grid\": [64, 2, 3], \"block\": [128, 4, 1], \"grid\": [1, 2, 3]",
       NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[600];
    snprintf(text, sizeof text, TOP "%s%s%s" END,
             "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"ts\": 1, "
             "\"dur\": 1, \"args\": {",
             cases[i].args, "}}");
    for (size_t piece = 1; piece < 40; piece++) {
      kmb_trace *trace = NULL;
      REQUIRE_OK(load_as(text, strlen(text), piece, KMB_TRACE_AUTO, &trace));
      require_shape(op_of(trace, 0), cases[i].want);
      kmb_trace_destroy(trace);
    }
  }
  refused(TOP KERNEL("k", "1", "1", "\"grid\": [64, 2, 3") END, "comma");
}

/* Older traces: whole microseconds, other letters, no object around. */
static void older_traces_are_coarse(void) {
  kmb_trace *trace =
      load("[{\"args\": {\"stream\": 7}, \"dur\": 3, \"ts\": 1600000000000001, "
           "\"cat\": \"Kernel\", \"ph\": \"X\", \"name\": \"k\"}]");
  REQUIRE_EQ(op_of(trace, 0).start_ns, 1600000000000001000);
  REQUIRE_EQ(info_of(trace).tick_ns, 1000);
  REQUIRE_EQ(op_of(trace, 0).flags, KMB_OP_HAS_STREAM);
  kmb_trace_destroy(trace);
}

/* Kineto writes 0 where a time would be negative. */
static void F9_zero_times_are_invalid(void) {
  kmb_trace *trace =
      load(TOP KERNEL("k", "0", "5", "") "," KERNEL("k", "9.5", "0", "") "," //
           KERNEL("k", "-1.5", "5", "") "," KERNEL("k", "3", "-1", "") ","   //
           KERNEL("k", "3", "1", "") END);
  REQUIRE_EQ(info_of(trace).rows, 5);
  REQUIRE_EQ(info_of(trace).invalid, 4);
  kmb_trace_destroy(trace);
}

#define CALL(ts, dur)                                            \
  "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"c\", " \
  "\"ts\": " ts ", \"dur\": " dur "}"

/* Nothing ends after 2^63 - 1 ns, however it comes to that. */
static void edges_of_64_bits(void) {
  kmb_trace *trace =
      load(TOP KERNEL("k", "0.001", "9223372036854775.806", "") "," KERNEL(
          "k", "0.001", "9223372036854775.807",
          "") "," KERNEL("k", "9223372036854775.807", "0.001",
                         "") "," KERNEL("k", "18446744073709551.615", "0.001",
                                        "") "," CALL("9223372036854775.806",
                                                     "0.001") "," CALL("9223372"
                                                                       "0368547"
                                                                       "75.807",
                                                                       "0.001")
               END);
  REQUIRE_EQ(info_of(trace).rows, 4);
  REQUIRE_EQ(info_of(trace).invalid, 3);
  REQUIRE_EQ(info_of(trace).calls, 1);
  REQUIRE_EQ(op_of(trace, 0).end_ns, INT64_MAX);
  kmb_trace_destroy(trace);
}

/* A number that is none, or not whole, is not known. */
static void numbers_that_are_not_whole_are_unknown(void) {
  static const char *const values[] = {
      "1.5",  "15e-1", "-1",  "\"4x\"",
      "\"\"", "null",  "[4]", "36893488147419103232"};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    char text[400];
    snprintf(text, sizeof text,
             TOP KERNEL("k", "1", "1",
                        "\"device\": %s, \"stream\": %s, \"bytes\": %s, "
                        "\"correlation\": %s") END,
             values[i], values[i], values[i], values[i]);
    kmb_trace *trace = load(text);
    REQUIRE_EQ(op_of(trace, 0).flags, 0);
    kmb_trace_destroy(trace);
  }
}

/* gpu_user_annotation spans kernels; flows and metadata are no operations. */
static void other_events_are_left_out(void) {
  kmb_trace *trace = load(
      TOP
      "{\"ph\": \"X\", \"cat\": \"gpu_user_annotation\", \"name\": \"a\", "
      "\"ts\": 1, \"dur\": 99}, {\"ph\": \"s\", \"cat\": \"ac2g\", "
      "\"name\": \"ac2g\", \"id\": 3}, {\"ph\": \"M\", \"name\": "
      "\"process_name\", \"args\": {\"name\": \"python\"}}, "
      "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", "
      "\"ts\": 1, \"dur\": 9}, {\"ph\": \"B\", \"cat\": \"kernel\"}, {}" END);
  REQUIRE_EQ(info_of(trace).rows, 0);
  REQUIRE_EQ(info_of(trace).calls, 0);
  REQUIRE_EQ(info_of(trace).ranges, 0);
  kmb_trace_destroy(trace);
}

static void calls_and_ranges_are_taken(void) {
  kmb_trace *trace = load(
      TOP "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": "
          "\"cudaLaunchKernel\", \"pid\": 50, \"tid\": 51, \"ts\": 1.5, "
          "\"dur\": 2, \"args\": {\"correlation\": 9}}, "
          "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": "
          "\"ProfilerStep#1\", \"pid\": 50, \"tid\": 51, \"ts\": 1, \"dur\": "
          "7}, " KERNEL("k", "9", "1", "\"correlation\": 9") END);
  kmb_trace_call call = kmb_trace_call_init();
  kmb_trace_range range = kmb_trace_range_init();
  REQUIRE_OK(kmb_trace_get_call(trace, 0, &call));
  REQUIRE_STR(call.name, "cudaLaunchKernel");
  REQUIRE_EQ(call.kind, KMB_CALL_LAUNCH);
  REQUIRE_EQ(call.start_ns, 1500);
  REQUIRE_EQ(call.end_ns, 3500);
  REQUIRE_EQ(call.process, 50);
  REQUIRE_EQ(call.thread, 51);
  REQUIRE_OK(kmb_trace_get_range(trace, 0, &range));
  REQUIRE_STR(range.name, "ProfilerStep#1");
  REQUIRE_EQ(range.end_ns, 8000);
  REQUIRE(op_of(trace, 0).flags & KMB_OP_HAS_CALL);
  REQUIRE_EQ(op_of(trace, 0).call, 0);
  kmb_trace_destroy(trace);
}

static void escapes_are_decoded(void) {
  kmb_trace *trace = load(
      TOP KERNEL("a\\\"b\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\ud83d\\ude00\\ud83dz",
                 "1", "1", "") END);
  REQUIRE_STR(op_of(trace, 0).name,
              "a\"b\\/\b\f\n\r\t\xC3\xA4\xF0\x9F\x98\x80\xEF\xBF\xBDz");
  kmb_trace_destroy(trace);
}

static void other_members_are_skipped(void) {
  kmb_trace *trace =
      load("\xEF\xBB\xBF {\"deviceProperties\": [{\"id\": 0, \"a\": [[], {}, "
           "-1.5e-3, "
           "true, false, null, \"\\u0041\"]}], \"traceEvents\":\n["           //
           KERNEL("k", "1e3", "1.5E+0", "\"device\": 0, \"x\": {\"y\": [1]}") //
           "], \"traceName\": \"t\"}\n ");
  REQUIRE_EQ(op_of(trace, 0).start_ns, 1000000);
  REQUIRE_EQ(op_of(trace, 0).end_ns, 1001500);
  kmb_trace_destroy(trace);
}

static void check_device(const char *properties, const char *name) {
  char text[1024];
  for (int behind = 0; behind < 2; behind++) {
    snprintf(text, sizeof text, "{%s%s\"traceEvents\": [%s]%s%s}",
             behind ? "" : properties, behind ? "" : ", ",
             KERNEL("k", "1", "1", "\"device\": 3"), behind ? ", " : "",
             behind ? properties : "");
    kmb_trace *trace = load(text);
    REQUIRE_STR(op_of(trace, 0).device_name, name);
    kmb_trace_destroy(trace);
  }
}

static void devices_have_the_names_of_their_properties(void) {
#define LIST "\"deviceProperties\": "
  check_device(LIST "[{\"id\": 1, \"name\": \"A\"}, {\"id\": 3, \"name\": "
                    "\"B \\u00e4\", \"x\": [{}]}]",
               "B \xC3\xA4");
  check_device(LIST "[{\"name\": \"B\", \"id\": 3}, {\"id\": 3, \"name\": "
                    "\"B\"}]",
               "B");
  check_device(LIST "[{\"id\": 3, \"name\": \"B\"}, {\"id\": 3, \"name\": "
                    "\"C\"}]",
               "");
  check_device(LIST "[{\"id\": 3.5, \"name\": \"B\"}, {\"id\": -3, \"name\": "
                    "\"B\"}, {\"id\": \"3\", \"name\": \"B\"}]",
               "");
  check_device(LIST "[{\"id\": 3, \"name\": 3}, {\"id\": 3}, 3, [], null, {}]",
               "");
  check_device(LIST "{\"id\": 3, \"name\": \"B\"}", "");
  check_device(LIST "[]", "");
#undef LIST
}

static void long_names_pass_the_buffer(void) {
  enum { LENGTH = 3 << 20 };
  char *text = malloc(LENGTH + 512), *name = malloc(LENGTH + 1);
  REQUIRE(text && name);
  memset(name, 'n', LENGTH);
  name[LENGTH] = '\0';
  int size =
      snprintf(text, LENGTH + 512, TOP KERNEL("%s", "1", "1", "") END, name);
  kmb_trace *trace = NULL;
  REQUIRE_OK(load_as(text, (size_t)size, 0, KMB_TRACE_AUTO, &trace));
  REQUIRE_STR(op_of(trace, 0).name, name);
  kmb_trace_destroy(trace);
  free(text);
  free(name);
}

static void depth_has_a_limit(void) {
  char text[512] = "{\"a\": ";
  size_t used = strlen(text);
  memset(text + used, '[', 200);
  refused(text, "nested deeper than 64");
}

static void malformed_json_is_refused(void) {
  refused("{", "t: line 1, column 2: the text ends, a key expected");
  refused("{\"a\": 1}", "there is no \"traceEvents\"");
  refused("{\"traceEvents\": 1}", "a list of events expected");
  refused("{\"traceEvents\": [1]}", "line 1, column 18: an event expected");
  refused(TOP END "x", "text after the end");
  refused("{\"traceEvents\": [], \"traceEvents\": []}", "stands twice");
  refused(TOP "{\"ph\": \"X\", \"ph\": \"X\"}" END, "\"ph\" stands twice");
  refused(TOP "{\"ph\": \"X\"\n\"cat\": 1}" END,
          "line 2, column 1: a comma or the end of a list expected");
  refused(TOP "{\"ph\" 1}" END, "a colon expected");
  refused(TOP "{ph: 1}" END, "a key expected");
  refused(TOP "{\"a\": tru}" END, "malformed number or literal");
  refused(TOP "{\"a\": 01}" END, "malformed number or literal");
  refused(TOP "{\"a\": 1.}" END, "malformed number or literal");
  refused(TOP "{\"a\": +1}" END, "malformed number or literal");
  refused(TOP "{\"a\": }" END, "a value expected");
  refused(TOP "{\"a\": \"x", "the text ends within a string");
  refused(TOP "{\"a\": \"x\ty\"}" END, "a control character in a string");
  refused(TOP "{\"a\": 1}", "the text ends, a comma or the end of a list");
  refused(TOP "{\"a\": ", "the text ends, a value expected");
  refused(TOP KERNEL("a\\q", "1", "1", "") END, "an escape that is none");
  refused(TOP KERNEL("a\\u0000", "1", "1", "") END, "stands for a zero");
  refused(TOP KERNEL("k", "\"1\"", "1", "") END, "\"ts\" is no number");
  refused(TOP KERNEL("k", "1e30", "1", "") END, "\"ts\" does not fit");
  refused(
      TOP
      "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"ts\": 1}" END,
      "the event has no \"dur\"");
  refused(TOP "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\": 1}" END,
          "has no \"name\"");
}

static void zero_bytes_are_refused(void) {
  static const char a[] = TOP "{\"a\": \"x\0y\"}" END, b[] = TOP "\0" END;
  refused_n(a, sizeof a - 1, KMB_ERR_FORMAT, "a zero byte in a string");
  refused_n(b, sizeof b - 1, KMB_ERR_FORMAT, "a zero byte");
}

/* A file that was cut anywhere is never half a trace. */
/* In arrays and objects that nobody wants, as in those that somebody does. */
static void what_is_skipped_is_checked(void) {
  static const struct {
    const char *value, *part;
  } bad[] = {{"[1, 2", "a comma or the end of a list"},
             {"[1 2]", "a comma or the end of a list"},
             {"[1,]", "a value expected"},
             {"[, 1]", "a value expected"},
             {"[01]", "malformed number or literal"},
             {"[1, 2., 3]", "malformed number or literal"},
             {"[1x]", "malformed number or literal"},
             {"[1}", "a comma or the end of a list"},
             {"{\"a\": 1, \"b\" 2}", "a colon expected"},
             {"{\"a\": 1, b: 2}", "a key expected"},
             {"{\"a\": 1,}", "a key expected"},
             {"{\"a\": 1, \"b\n\": 2}", "a control character in a string"}};
  static const char *const good[] = {"[]",
                                     "[ ]",
                                     "[1]",
                                     "[1,2 , 3]",
                                     "[-1, 2e3]",
                                     "[0, 0.5, 10]",
                                     "[[1], {}, 2]",
                                     "[1, \"]\", null]",
                                     "[1,\n 2\n]",
                                     "{\"a\" : [1]}",
                                     "{\"a\":1,\t\"\\\"\":2\r\n}"};
  char text[300];
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    snprintf(text, sizeof text, TOP "{\"args\": {\"a\": %s}}" END,
             bad[i].value);
    refused(text, bad[i].part);
  }
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    snprintf(text, sizeof text,
             TOP "{\"a\": %s, \"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
                 "\"k\", \"ts\": 1.5, \"args\": {\"grid\": %s, \"stream\": 7}, "
                 "\"dur\": 1}" END,
             good[i], good[i]);
    kmb_trace *trace = load(text);
    REQUIRE_EQ(op_of(trace, 0).stream, 7);
    REQUIRE_EQ(op_of(trace, 0).end_ns, 2500);
    kmb_trace_destroy(trace);
  }
}

/* Wherever they lie in what is looked at in one go. */
static void spaces_and_strings_of_any_length(void) {
  static const char spaces[] = " \n\t\r";
  char space[80], fill[80], text[2000];
  for (int length = 0; length < 70; length++) {
    for (int i = 0; i < length; i++)
      space[i] = spaces[(i + length) % 4];
    memset(fill, 'x', sizeof fill);
    snprintf(text, sizeof text,
             "{%.*s\"traceEvents\"%.*s:%.*s[{\"ph\": \"X\",%.*s\"cat\":%.*s"
             "\"kernel\"%.*s,\"%.*s\\n\": 0, \"name\": \"%.*s\\\"%.*s\", "
             "\"ts\":%.*s1%.*s,\"dur\": 2%.*s}]}",
             length, space, length, space, length, space, length, space, length,
             space, length, space, length, fill, length, fill, length, fill,
             length, space, length, space, length, space);
    kmb_trace *trace = load(text);
    kmb_trace_op op = op_of(trace, 0);
    REQUIRE_EQ(op.start_ns, 1000);
    REQUIRE_EQ(op.end_ns, 3000);
    REQUIRE_EQ(strlen(op.name), 2 * length + 1);
    REQUIRE_EQ(op.name[length], '"');
    kmb_trace_destroy(trace);
  }
}

/* More lines than a part of the sum holds, in one look and in many. */
static void lines_are_counted(void) {
  enum { LINES = 20000 };
  static char text[LINES + 100];
  char want[64];
  for (int lines = LINES - 40; lines < LINES; lines++) {
    size_t size = (size_t)snprintf(text, sizeof text, "{\"traceEvents\": [");
    memset(text + size, '\n', (size_t)lines);
    snprintf(text + size + lines, sizeof text - size - (size_t)lines, "  x]}");
    snprintf(want, sizeof want, "line %d, column 3: an event expected",
             lines + 1);
    refused(text, want);
  }
}

static void every_cut_is_refused(void) {
  const char *text = TOP KERNEL(
      "k\\n", "1.5", "1",
      "\"device\": 0, \"a\": [{}, null]") ",\n" KERNEL("k", "3", "1",
                                                       "") "], \"x\": {\"y\": "
                                                           "\"z\"}}";
  size_t size = strlen(text);
  kmb_trace *trace = NULL;
  REQUIRE_OK(load_as(text, size, 0, KMB_TRACE_AUTO, &trace));
  kmb_trace_destroy(trace);
  for (size_t i = 1; i < size; i++) {
    REQUIRE_STATUS(load_as(text, i, 0, KMB_TRACE_AUTO, &trace), KMB_ERR_FORMAT);
    REQUIRE(!trace);
  }
}

static void what_is_written_reads_back(void) {
  kmb_trace *trace = load(
      TOP "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": "
          "\"cudaGraphLaunch\", \"pid\": 50, \"tid\": 51, \"ts\": 1.5, "
          "\"dur\": 2, \"args\": {\"correlation\": 9}}, {\"ph\": \"X\", "
          "\"cat\": \"user_annotation\", \"name\": \"r\", \"pid\": 50, "
          "\"tid\": 51, \"ts\": 1, \"dur\": 7}, " KERNEL(
              "k \\\"1\\\" \\u0001", "9.001", "1.002",
              "\"device\": 2, \"stream\": 7, \"context\": 1, \"process\": 50, "
              "\"correlation\": 9, \"bytes\": 12, \"block\": [128, 2, 1], "
              "\"grid\": [64, 1, 4294967295]") ", " KERNEL("k", "12", "1",
                                                           "\"process\": 50")
              END);
  require_shape(op_of(trace, 0), SHAPE(64, 1, 4294967295, 128, 2, 1));
  written once = {NULL, 0}, twice = {NULL, 0};
  REQUIRE_OK(kmb_trace_write_chrome(trace, take_bytes, &once));
  kmb_trace *again = load_n(once.data, once.size);
  REQUIRE_OK(kmb_trace_write_chrome(again, take_bytes, &twice));
  REQUIRE_STR(twice.data, once.data);
  kmb_trace_op a = op_of(trace, 0), b = op_of(again, 0);
  REQUIRE_STR(a.name, b.name);
  a.name = b.name;
  a.device_name = b.device_name;
  REQUIRE(memcmp(&a, &b, sizeof a) == 0);
  REQUIRE(a.flags & KMB_OP_HAS_CALL);
  REQUIRE_EQ(info_of(again).calls, 1);
  REQUIRE_EQ(info_of(again).ranges, 1);
  free(once.data);
  free(twice.data);
  kmb_trace_destroy(trace);
  kmb_trace_destroy(again);
}

int main(void) {
  RUN(kineto_kernels_and_copies);
  RUN(kineto_says_how_kernels_were_launched);
  RUN(older_traces_are_coarse);
  RUN(F9_zero_times_are_invalid);
  RUN(edges_of_64_bits);
  RUN(numbers_that_are_not_whole_are_unknown);
  RUN(other_events_are_left_out);
  RUN(calls_and_ranges_are_taken);
  RUN(escapes_are_decoded);
  RUN(other_members_are_skipped);
  RUN(devices_have_the_names_of_their_properties);
  RUN(long_names_pass_the_buffer);
  RUN(depth_has_a_limit);
  RUN(malformed_json_is_refused);
  RUN(zero_bytes_are_refused);
  RUN(what_is_skipped_is_checked);
  RUN(spaces_and_strings_of_any_length);
  RUN(lines_are_counted);
  RUN(every_cut_is_refused);
  RUN(what_is_written_reads_back);
  return 0;
}
