/* libkmb's own JSON of a trace: what is read, what is refused, and that nothing
 * is lost on the way. */
#include "load.h"

#define TABLES                                                \
  "\"names\": [\"k\", \"launch\", \"step\", \"NVIDIA X\"],\n" \
  "\"devices\": [[0, 3], [null, 3]],\n"                       \
  "\"streams\": [[0, 50, 1, 7], [1, 50, null, null]],\n"      \
  "\"threads\": [[50, 51]],\n"                                \
  "\"shapes\": [[1, 1, 1, 1, 1, 1], [64, 2, 3, 128, 4, 1]],\n"
#define ROWS                                           \
  "\"ops\": [[\"kernel\", 0, 0, 5, 10, 9, null, 1],\n" \
  "[\"memcpy\", 1, 0, 20, 10, 0, 4096], "              \
  "[\"kernel\", 0, 0, 40, 0, 10, null]],\n"            \
  "\"calls\": [[\"launch\", 0, 1, 0, 3, 9]],\n"        \
  "\"ranges\": [[0, 2, 0, 30]]"
#define HEAD "{\"kmb_trace\": 1, "
#define BASE "\"base_ns\": \"1700000000000000000\", "
#define COUNTS                                        \
  "\"tick_ns\": 32, \"invalid\": 2, \"dropped\": 3, " \
  "\"driver_added_ns\": 7, \"runtime_added_ns\": 11, "
static const char whole[] = HEAD COUNTS BASE TABLES ROWS "}\n";

static void all_of_it_is_read(void) {
  kmb_trace *trace = load(whole);
  kmb_trace_info info = info_of(trace);
  REQUIRE_EQ(info.format, KMB_TRACE_KMB);
  REQUIRE_EQ(info.rows, 5);
  REQUIRE_EQ(info.invalid, 3); /* one of them has no length */
  REQUIRE_EQ(info.dropped, 3);
  REQUIRE_EQ(info.ops, 2);
  REQUIRE_EQ(info.calls, 1);
  REQUIRE_EQ(info.ranges, 1);
  REQUIRE_EQ(info.tick_ns, 32);
  kmb_trace_op op = op_of(trace, 0);
  REQUIRE_STR(op.name, "k");
  REQUIRE_STR(op.device_name, "NVIDIA X");
  REQUIRE_EQ(op.start_ns, 1700000000000000005);
  REQUIRE_EQ(op.end_ns, 1700000000000000015);
  REQUIRE_EQ(op.flags, KMB_OP_HAS_DEVICE | KMB_OP_HAS_STREAM |
                           KMB_OP_HAS_CORRELATION | KMB_OP_HAS_CALL |
                           KMB_OP_HAS_SHAPE);
  require_shape(op, SHAPE(64, 2, 3, 128, 4, 1));
  REQUIRE_EQ(op.stream, 7);
  op = op_of(trace, 1);
  REQUIRE_EQ(op.kind, KMB_OP_MEMCPY);
  REQUIRE_EQ(op.flags, KMB_OP_HAS_BYTES);
  REQUIRE_EQ(op.bytes, 4096);
  kmb_trace_destroy(trace);
}

static void same_rows(const kmb_trace *a, const kmb_trace *b) {
  kmb_trace_info x = info_of(a), y = info_of(b);
  x.format = y.format;
  REQUIRE(memcmp(&x, &y, sizeof x) == 0);
  for (uint64_t i = 0; i < x.ops; i++) {
    kmb_trace_op p = op_of(a, i), q = op_of(b, i);
    REQUIRE_STR(p.name, q.name);
    REQUIRE_STR(p.device_name, q.device_name);
    p.name = q.name;
    p.device_name = q.device_name;
    REQUIRE(memcmp(&p, &q, sizeof p) == 0);
  }
  for (uint64_t i = 0; i < x.calls; i++) {
    kmb_trace_call p = kmb_trace_call_init(), q = p;
    REQUIRE_OK(kmb_trace_get_call(a, i, &p));
    REQUIRE_OK(kmb_trace_get_call(b, i, &q));
    REQUIRE_STR(p.name, q.name);
    p.name = q.name;
    REQUIRE(memcmp(&p, &q, sizeof p) == 0);
  }
  for (uint64_t i = 0; i < x.ranges; i++) {
    kmb_trace_range p = kmb_trace_range_init(), q = p;
    REQUIRE_OK(kmb_trace_get_range(a, i, &p));
    REQUIRE_OK(kmb_trace_get_range(b, i, &q));
    REQUIRE_STR(p.name, q.name);
    p.name = q.name;
    REQUIRE(memcmp(&p, &q, sizeof p) == 0);
  }
}

static void written_and_read_nothing_is_lost(void) {
  kmb_trace *trace = load(whole);
  written once = {NULL, 0}, twice = {NULL, 0};
  REQUIRE_OK(kmb_trace_write_json(trace, take_bytes, &once));
  kmb_trace *again = load_n(once.data, once.size);
  same_rows(trace, again);
  REQUIRE_OK(kmb_trace_write_json(again, take_bytes, &twice));
  REQUIRE_STR(twice.data, once.data);
  REQUIRE_HAS(once.data, "{\"kmb_trace\": 1,");
  free(once.data);
  free(twice.data);
  kmb_trace_destroy(again);
  kmb_trace_destroy(trace);
}

/* Kineto's operations name no process, and are tied to calls all the same. */
static void ties_without_processes_stay(void) {
  kmb_trace *trace = load(
      "[{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"launch\", "
      "\"pid\": 50, \"tid\": 51, \"ts\": 1.5, \"dur\": 2, \"args\": "
      "{\"correlation\": 9}}, {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
      "\"k\", \"ts\": 4, \"dur\": 1, \"args\": {\"correlation\": 9}}]");
  REQUIRE(op_of(trace, 0).flags & KMB_OP_HAS_CALL);
  for (int i = 0; i < 2; i++) {
    written text = {NULL, 0};
    REQUIRE_OK(i ? kmb_trace_write_json(trace, take_bytes, &text)
                 : kmb_trace_write_chrome(trace, take_bytes, &text));
    kmb_trace *again = load_n(text.data, text.size);
    REQUIRE(op_of(again, 0).flags & KMB_OP_HAS_CALL);
    free(text.data);
    kmb_trace_destroy(again);
  }
  kmb_trace_destroy(trace);
}

/* In µs since 1970 a double is off by a quarter of a microsecond. */
static void chrome_counts_from_a_base(void) {
  kmb_trace *trace = load(whole);
  written text = {NULL, 0};
  REQUIRE_OK(kmb_trace_write_chrome(trace, take_bytes, &text));
  REQUIRE_HAS(text.data, "\"kmb_base_ns\": \"1700000000000000000\"");
  REQUIRE_HAS(text.data, "\"ts\": 0.005");
  kmb_trace *again = load_n(text.data, text.size);
  REQUIRE_EQ(op_of(again, 0).start_ns, 1700000000000000005);
  REQUIRE(op_of(trace, 0).device_name[0]);
  REQUIRE_STR(op_of(again, 0).device_name, op_of(trace, 0).device_name);
  REQUIRE_EQ(info_of(again).dropped, 3);
  REQUIRE_EQ(info_of(again).driver_added_ns, 7);
  REQUIRE_EQ(info_of(again).runtime_added_ns, 11);
  free(text.data);
  kmb_trace_destroy(again);
  refused("{\"traceEvents\": [], \"kmb_base_ns\": 1}", "behind the events");
  refused("{\"kmb_base_ns\": -1, \"traceEvents\": []}", "a whole number");
  kmb_trace_destroy(trace);
}

static void later_keys_are_skipped(void) {
  kmb_trace *trace =
      load(HEAD "\"later\": {\"a\": [1, {}]}, " TABLES ROWS ", \"z\": null}");
  REQUIRE_EQ(info_of(trace).ops, 2);
  REQUIRE_EQ(info_of(trace).tick_ns, 1);
  kmb_trace_destroy(trace);
}

static void an_empty_trace_is_one(void) {
  kmb_trace *trace = load("{\"kmb_trace\": 1, \"ops\": []}");
  written text = {NULL, 0};
  REQUIRE_EQ(info_of(trace).rows, 0);
  REQUIRE_OK(kmb_trace_write_json(trace, take_bytes, &text));
  kmb_trace *again = load_n(text.data, text.size);
  REQUIRE_EQ(info_of(again).rows, 0);
  free(text.data);
  kmb_trace_destroy(again);
  kmb_trace_destroy(trace);
}

#define WITH(rows) HEAD TABLES rows "}"

static void malformed_files_are_refused(void) {
  refused("{\"kmb_trace\": 2, \"ops\": []}", "version 2 of this format");
  refused("{\"kmb_trace\": \"x\", \"ops\": []}", "a whole number");
  refused("{\"kmb_trace\": 1}", "there is no \"ops\"");
  refused(HEAD "\"ops\": [], \"ops\": []}", "stands twice");
  refused(HEAD "\"ops\": []} x", "text after the end");
  refused(HEAD "\"ops\": {}}", "a list expected");
  refused(HEAD "\"tick_ns\": 0, \"ops\": []}", "a number above 0");
  refused(HEAD "\"one_process\": 1, \"ops\": []}", "true or false");
  refused(HEAD "\"ops\": [[\"kernel\", 0, 0, 5, 10, 9, null]]}",
          "there are 0 streams before");
  refused(WITH("\"ops\": [[\"kernel\", 2, 0, 5, 10, 9, null]]"),
          "there are 2 streams before");
  refused(WITH("\"ops\": [[\"kernel\", 0, 4, 5, 10, 9, null]]"),
          "there are 4 names before");
  refused(WITH("\"ops\": [[\"launch\", 0, 0, 5, 10, 9, null]]"),
          "a kind of operations");
  refused(WITH("\"ops\": [[1, 0, 0, 5, 10, 9, null]]"), "a kind of operations");
  refused(WITH("\"ops\": [[\"kernel\", 0, 0, 5, 10, 9]]"), "a row of 7 cells");
  refused(WITH("\"ops\": [[\"kernel\", 0, 0, 5, 10, 9, 1, 1, 1]]"),
          "a row of 8 cells");
  refused(WITH("\"ops\": [[\"kernel\", 0, 0, 5, 10, 9, 1, 2]]"),
          "there are 2 shapes before");
  refused(WITH("\"ops\": [[\"kernel\", 0, 0, 5, 10, 9, 1, null]]"),
          "a whole number of 64 bits");
  refused(WITH("\"ops\": [[\"memset\", 0, 0, 5, 10, 9, 1, 1]]"),
          "a shape of kernels alone");
  refused(HEAD "\"shapes\": [[1, 1, 1, 1, 1]], \"ops\": []}",
          "a row of 6 cells");
  refused(HEAD "\"shapes\": [[1, 1, 1, 1, 1, 1, 1]], \"ops\": []}",
          "a row of 6 cells");
  refused(HEAD "\"shapes\": [[1, 1, 0, 1, 1, 1]], \"ops\": []}",
          "a size above 0");
  refused(HEAD "\"shapes\": [[1, 1, 1, 1, 1, 4294967296]], \"ops\": []}",
          "a size above 0");
  refused(WITH("\"ops\": [[\"kernel\", 0, 0, -5, 10, 9, 1]]"),
          "a whole number of 64 bits");
  refused(WITH("\"ops\": [[\"kernel\", 0, 0, 1.5, 10, 9, 1]]"),
          "a whole number of 64 bits");
  refused(WITH("\"ops\": [[\"kernel\", 0, 0, 5, null, 9, 1]]"),
          "a whole number of 64 bits");
  refused(WITH("\"ops\": [[\"kernel\", 0, 0, 15e-1, 10, 9, 1]]"),
          "a whole number of 64 bits");
  refused(WITH("\"ops\": [[\"kernel\", 0, 0, 18446744073709551616, 1, 9, 1]]"),
          "a whole number of 64 bits");
  refused(WITH("\"calls\": [[\"kernel\", 0, 0, 5, 10, 9]], \"ops\": []"),
          "a kind of calls");
  refused(WITH("\"calls\": [[\"launch\", 1, 0, 5, 10, 9]], \"ops\": []"),
          "there are 1 threads before");
  refused(WITH("\"ranges\": [[0, 9, 5, 10]], \"ops\": []"),
          "there are 4 names before");
  refused(HEAD "\"names\": [1], \"ops\": []}", "a string expected");
  refused(HEAD "\"names\": [\"a\"], \"devices\": [[0, 1]], \"ops\": []}",
          "there are 1 names before");
  refused(HEAD "\"names\": [\"a\"], \"devices\": [[0, 0]], \"streams\": "
               "[[0, 1, null, 7]], \"ops\": []}",
          "a context with each stream");
  refused(HEAD "\"invalid\": \"18446744073709551615\"," TABLES ROWS "}",
          "more rows than 64 bits");
}

/* Nothing ends after 2^63 - 1 ns, however it comes to that. */
static void edges_of_64_bits(void) {
  static const char *const times[][2] = {
      {"1", "9223372036854775799"},  {"1", "9223372036854775800"},
      {"9223372036854775801", "1"},  {"18446744073709551615", "1"},
      {"1", "18446744073709551615"},
  };
  for (int i = 0; i < 5; i++) {
    char text[800];
    const char *start = times[i][0], *length = times[i][1];
    snprintf(text, sizeof text,
             HEAD "\"base_ns\": 7," TABLES
                  "\"ops\": [[\"kernel\", 0, 0, \"%s\", \"%s\", 9, null]],"
                  "\"calls\": [[\"launch\", 0, 1, \"%s\", \"%s\", 9]],"
                  "\"ranges\": [[0, 2, \"%s\", \"%s\"]]}",
             start, length, start, length, start, length);
    kmb_trace *trace = load(text);
    REQUIRE_EQ(info_of(trace).rows, 1);
    REQUIRE_EQ(info_of(trace).invalid, i > 0);
    REQUIRE_EQ(info_of(trace).calls, i == 0);
    REQUIRE_EQ(info_of(trace).ranges, i == 0);
    if (!i) REQUIRE_EQ(op_of(trace, 0).end_ns, INT64_MAX);
    kmb_trace_destroy(trace);
  }
  kmb_trace *trace =
      load("{\"kmb_base_ns\": \"18446744073709551615\", \"traceEvents\": "
           "[{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", "
           "\"ts\": 1, \"dur\": 1}]}");
  REQUIRE_EQ(info_of(trace).invalid, 1);
  kmb_trace_destroy(trace);
}

static void another_first_key_is_chromes(void) {
  kmb_trace *trace = NULL;
  static const char text[] = "{\"ops\": [], \"kmb_trace\": 1}";
  refused(text, "no \"traceEvents\"");
  REQUIRE_STATUS(load_as(text, sizeof text - 1, 0, KMB_TRACE_KMB, &trace),
                 KMB_ERR_FORMAT);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "is not the first key");
}

static void every_cut_is_refused(void) {
  size_t size = sizeof whole - 2; /* without the line's end */
  for (size_t i = 1; i < size; i++) {
    kmb_trace *trace = NULL;
    REQUIRE_STATUS(load_as(whole, i, 0, KMB_TRACE_AUTO, &trace),
                   KMB_ERR_FORMAT);
    REQUIRE(!trace);
  }
}

static void lost_records_are_a_finding(void) {
  kmb_trace *trace = load(whole);
  kmb_gaps *gaps = analyse(trace, NULL);
  written text = {NULL, 0};
  REQUIRE_OK(kmb_gaps_write_text(gaps, take_bytes, &text));
  REQUIRE_HAS(text.data, "RECORDS_DROPPED");
  REQUIRE_OK(kmb_gaps_write_json(gaps, take_bytes, &text));
  REQUIRE_HAS(text.data, "\"dropped\": 3");
  free(text.data);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
}

static kmb_status full(void *user, const void *data, size_t size) {
  (void)user;
  (void)data;
  (void)size;
  return 42;
}

static void arguments_are_checked(void) {
  kmb_trace *trace = load(whole);
  REQUIRE_STATUS(kmb_trace_write_json(NULL, full, NULL), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_trace_write_json(trace, NULL, NULL), KMB_ERR_INVALID);
  REQUIRE_EQ(kmb_trace_write_json(trace, full, NULL), 42);
  kmb_trace_destroy(trace);
}

/* Who does not need shapes does without, whatever the format. */
static void shapes_can_be_left_out(void) {
  static const char *const texts[] = {
      whole,
      "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
      "\"k\", "
      "\"ts\": 1, \"dur\": 1, \"args\": {\"grid\": [2, 1, 1], \"block\": [2, "
      "1, "
      "1]}}]}",
      "Start (ns),Duration (ns),GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Name\n"
      "10,5,2,1,1,2,1,1,k\n",
      "Kernel_Name,Start_Timestamp,End_Timestamp,Workgroup_Size_X,Workgroup_"
      "Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n"
      "k,10,15,2,1,1,4,1,1\n"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    for (uint32_t left_out = 0; left_out < 2; left_out++) {
      bytes b = {texts[i], strlen(texts[i]), 0, 0};
      kmb_trace_params p = kmb_trace_params_init();
      kmb_trace *trace = NULL;
      p.flags = left_out ? KMB_TRACE_NO_SHAPES : 0;
      REQUIRE_OK(kmb_trace_read(give_bytes, &b, &p, &trace));
      REQUIRE_EQ(!(op_of(trace, 0).flags & KMB_OP_HAS_SHAPE), left_out);
      kmb_trace_destroy(trace);
    }
  }
}

int main(void) {
  RUN(all_of_it_is_read);
  RUN(written_and_read_nothing_is_lost);
  RUN(ties_without_processes_stay);
  RUN(chrome_counts_from_a_base);
  RUN(later_keys_are_skipped);
  RUN(an_empty_trace_is_one);
  RUN(malformed_files_are_refused);
  RUN(edges_of_64_bits);
  RUN(another_first_key_is_chromes);
  RUN(every_cut_is_refused);
  RUN(lost_records_are_a_finding);
  RUN(arguments_are_checked);
  RUN(shapes_can_be_left_out);
  return 0;
}
