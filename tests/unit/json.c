/* Results to JSON and back, and what is refused. */
#include "samples.h"

#include "json.h"
#include "stats.h"

static char *to_json(const kmb_results *results) {
  sink s = {0};
  REQUIRE_OK(kmb_results_write_json(results, sink_write, &s));
  return s.data;
}

static kmb_results *sample_list(void) {
  kmb_results *results = NULL;
  REQUIRE_OK(kmb_results_create(NULL, &results));
  REQUIRE_OK(kmb_results_add(results, make_sample("q_proj")));
  REQUIRE_OK(kmb_results_add(results, make_sample("\xC2\xB5\xFF\x01\"\\/")));
  return results;
}

static void read_back_and_written_again_it_is_the_same(void) {
  kmb_results *first = sample_list(), *second = NULL;
  char *a = to_json(first);
  REQUIRE_OK(read_text(a, strlen(a), &second));
  char *b = to_json(second);
  REQUIRE_STR(b, a);
  free(a);
  free(b);
  kmb_results_destroy(first);
  kmb_results_destroy(second);
}

/* NaN apart, doubles are the same if their bits are. */
static uint64_t bits_of(double value) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static void require_same(const double *a, const double *b, size_t count) {
  for (size_t i = 0; i < count; i++)
    REQUIRE(bits_of(a[i]) == bits_of(b[i]));
}

static void doubles_and_counts_come_back_bit_by_bit(void) {
  kmb_results *first = sample_list(), *second = NULL;
  char *a = to_json(first);
  REQUIRE_OK(read_text(a, strlen(a), &second));
  const kmb_result *x = NULL, *y = NULL;
  REQUIRE_OK(kmb_results_get(first, 0, &x));
  REQUIRE_OK(kmb_results_get(second, 0, &y));
  for (size_t i = 0; i < kmbi_value_count; i++) {
    const kmbi_value *p = &x->values[i], *q = &y->values[i];
    REQUIRE_EQ(p->known, q->known);
    require_same(&p->f64, &q->f64, 1);
    REQUIRE(p->u64 == q->u64);
    if (p->text) REQUIRE_STR(q->text, p->text);
    if (p->reason) REQUIRE_STR(q->reason, p->reason);
  }
  REQUIRE_EQ(y->sample_count, x->sample_count);
  require_same(x->samples, y->samples, 4);
  REQUIRE_HAS(a, "\"seed\": \"18446744073709551615\"");
  REQUIRE_HAS(a, "\"flops\": \"9007199254740993\"");
  REQUIRE_HAS(a, "\"least_bytes\": 9007199254740992");
  free(a);
  kmb_results_destroy(first);
  kmb_results_destroy(second);
}

static void an_empty_result_and_an_empty_list_come_back(void) {
  kmbi_memory memory = kmbi_memory_from(NULL);
  kmb_result *result = NULL;
  kmb_results *list = NULL, *again = NULL;
  REQUIRE_OK(kmb_results_create(NULL, &list));
  char *a = to_json(list);
  REQUIRE_OK(read_text(a, strlen(a), &again));
  REQUIRE_EQ(kmb_results_count(again), 0);
  free(a);
  kmb_results_destroy(again);
  REQUIRE_OK(kmbi_result_create(&memory, &result));
  REQUIRE_OK(kmb_results_add(list, result));
  a = to_json(list);
  REQUIRE_OK(read_text(a, strlen(a), &again));
  REQUIRE_EQ(kmb_results_count(again), 1);
  free(a);
  kmb_results_destroy(again);
  kmb_results_destroy(list);
}

static void operations_come_back_with_every_figure(void) {
  kmb_results *first = sample_list(), *second = NULL;
  char *a = to_json(first);
  REQUIRE_OK(read_text(a, strlen(a), &second));
  const kmb_result *r = NULL;
  REQUIRE_OK(kmb_results_get(second, 0, &r));
  REQUIRE_EQ(kmb_result_op_count(r), 2);
  kmb_op kernel = kmb_op_init(), copy = kmb_op_init();
  REQUIRE_OK(kmb_result_op(r, 0, &kernel));
  REQUIRE_OK(kmb_result_op(r, 1, &copy));
  REQUIRE_STR(kernel.name, "_Z4gemmPf");
  REQUIRE_EQ(kernel.kind, KMB_OP_KERNEL);
  REQUIRE_EQ(kernel.stream, 7);
  const double want[] = {0, 36000.5, 35000, 37000.25, 99.5};
  const double got[] = {kernel.start_ns, kernel.duration_ns, kernel.min_ns,
                        kernel.max_ns, kernel.share_pct};
  require_same(got, want, 5);
  REQUIRE_STR(copy.name, "");
  REQUIRE_EQ(copy.kind, KMB_OP_MEMCPY);
  REQUIRE(copy.bytes == UINT64_MAX);
  REQUIRE(copy.stream == UINT32_MAX);
  REQUIRE_HAS(a, "\"bytes\": \"18446744073709551615\"");
  free(a);
  kmb_results_destroy(first);
  kmb_results_destroy(second);
}

/* A document of one result with these operations. */
static kmb_status read_ops_text(const char *ops, kmb_results **list) {
  char text[1024];
  snprintf(text, sizeof text,
           "{\"schema\": \"kmb-result\", \"version\": 1, \"results\": "
           "[{\"axes\": [], \"absent\": {}, \"findings\": [], "
           "\"samples_ns\": [], \"metadata\": {}, \"metadata_absent\": {}, "
           "\"ops\": %s}]}",
           ops);
  return read_text(text, strlen(text), list);
}

#define OP_HEAD "[{\"kind\": \"memset\", \"name\": \"\", "
#define OP_COUNTS "\"stream\": 1, \"bytes\": 2, "
#define OP_TIMES                                                        \
  "\"start_ns\": 0, \"duration_ns\": 1, \"min_ns\": 1, \"max_ns\": 1, " \
  "\"share_pct\": 5}]"

static void operations_that_are_none_are_refused(void) {
  static const struct {
    const char *ops, *words;
  } bad[] = {
      {"{}", "not an array"},
      {"[1]", "not objects"},
      {"[{}]", "a kind and a name"},
      {"[{\"kind\": 1, \"name\": \"\"}]", "a kind and a name"},
      {OP_HEAD OP_TIMES, "the counts stream and bytes"},
      {OP_HEAD "\"stream\": 4294967296, \"bytes\": 2, " OP_TIMES,
       "the counts stream and bytes"},
      {OP_HEAD "\"stream\": 1, \"bytes\": -2, " OP_TIMES,
       "the counts stream and bytes"},
      {OP_HEAD OP_COUNTS "\"start_ns\": 0}]", "none below zero"},
      {OP_HEAD OP_COUNTS "\"start_ns\": \"0\", \"duration_ns\": 1, "
                         "\"min_ns\": 1, \"max_ns\": 1, \"share_pct\": 5}]",
       "none below zero"},
      {OP_HEAD OP_COUNTS "\"start_ns\": 0, \"duration_ns\": -1, "
                         "\"min_ns\": 1, \"max_ns\": 1, \"share_pct\": 5}]",
       "none below zero"},
  };
  kmb_results *list = NULL;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    REQUIRE_STATUS(read_ops_text(bad[i].ops, &list), KMB_ERR_FORMAT);
    REQUIRE_HAS(kmb_last_error(NULL, NULL), "results[0].ops: ");
    REQUIRE_HAS(kmb_last_error(NULL, NULL), bad[i].words);
  }
  REQUIRE_OK(read_ops_text(OP_HEAD OP_COUNTS OP_TIMES, &list));
  kmb_results_destroy(list);
}

static kmb_status read_ranks_text(const char *ranks, kmb_results **list) {
  char text[640];
  snprintf(text, sizeof text, "[], \"ranks\": %s", ranks);
  return read_ops_text(text, list);
}

#define RANK_HEAD "[{\"device\": \"H\", \"id\": \"\", "
#define RANK_TIMES "\"median_ns\": 2, \"min_ns\": 1, \"max_ns\": 3, "
#define RANK_COUNTS \
  "\"slowest\": 4, \"flops\": 5, \"bytes\": \"18446744073709551615\", "

static void ranks_that_are_none_are_refused(void) {
  static const struct {
    const char *ranks, *words;
  } bad[] = {
      {"1", "not an array"},
      {"[1]", "not objects"},
      {"[{\"device\": \"H\"}]", "the strings device and id"},
      {"[{\"device\": 1, \"id\": \"\"}]", "the strings device and id"},
      {RANK_HEAD RANK_COUNTS "\"node\": 0}]", "none below zero"},
      {RANK_HEAD "\"median_ns\": -2, \"min_ns\": 1, \"max_ns\": 3, " RANK_COUNTS
                 "\"node\": 0}]",
       "none below zero"},
      {RANK_HEAD RANK_TIMES RANK_COUNTS "\"node\": -1}]", "the counts slowest"},
      {RANK_HEAD RANK_TIMES "\"node\": 0}]", "the counts slowest"},
  };
  kmb_results *list = NULL;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    REQUIRE_STATUS(read_ranks_text(bad[i].ranks, &list), KMB_ERR_FORMAT);
    REQUIRE_HAS(kmb_last_error(NULL, NULL), "results[0].ranks: ");
    REQUIRE_HAS(kmb_last_error(NULL, NULL), bad[i].words);
  }
}

static void ranks_come_back_as_they_were(void) {
  kmb_results *list = NULL;
  const kmb_result *r = NULL;
  kmb_rank rank = kmb_rank_init();
  REQUIRE_OK(
      read_ranks_text(RANK_HEAD RANK_TIMES RANK_COUNTS "\"node\": 6}]", &list));
  REQUIRE_OK(kmb_results_get(list, 0, &r));
  REQUIRE_EQ(kmb_result_rank_count(r), 1);
  REQUIRE_EQ(kmb_result_rank_count(NULL), 0);
  REQUIRE_OK(kmb_result_rank(r, 0, &rank));
  REQUIRE_STR(rank.device, "H");
  REQUIRE_STR(rank.id, "");
  REQUIRE_NEAR(rank.median_ns, 2, 0);
  REQUIRE_NEAR(rank.min_ns, 1, 0);
  REQUIRE_NEAR(rank.max_ns, 3, 0);
  REQUIRE_EQ(rank.slowest, 4);
  REQUIRE_EQ(rank.flops, 5);
  REQUIRE(rank.bytes == UINT64_MAX);
  REQUIRE_EQ(rank.node, 6);
  REQUIRE_STATUS(kmb_result_rank(r, 1, &rank), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_result_rank(NULL, 0, &rank), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_result_rank(r, 0, NULL), KMB_ERR_INVALID);
  char *again = to_json(list);
  REQUIRE_HAS(again, "\"node\": 6");
  free(again);
  kmb_results_destroy(list);
}

static void a_kind_of_a_later_version_is_kept(void) {
  kmb_results *list = NULL;
  const kmb_result *r = NULL;
  kmb_op op = kmb_op_init();
  REQUIRE_OK(read_ops_text(
      "[{\"kind\": \"teleport\", \"name\": \"\", " OP_COUNTS OP_TIMES, &list));
  REQUIRE_OK(kmb_results_get(list, 0, &r));
  REQUIRE_OK(kmb_result_op(r, 0, &op));
  REQUIRE_EQ(op.kind, 0);
  REQUIRE_STR(kmb_op_kind_name(op.kind), "unknown");
  char *again = to_json(list);
  REQUIRE_HAS(again, "\"kind\": \"teleport\"");
  free(again);
  kmb_results_destroy(list);
}

static void one_result_is_a_document_of_one(void) {
  kmb_result *result = make_sample("q");
  kmb_results *list = NULL;
  sink s = {0};
  REQUIRE_OK(kmb_result_write_json(result, sink_write, &s));
  REQUIRE_OK(read_text(s.data, s.size, &list));
  REQUIRE_EQ(kmb_results_count(list), 1);
  free(s.data);
  kmb_results_destroy(list);
  kmb_result_destroy(result);
}

static void many_samples_are_streamed(void) {
  enum { COUNT = 5003 };
  static double ns[COUNT];
  for (int i = 0; i < COUNT; i++)
    ns[i] = 100 + i / 7.0;
  kmb_result *result = make_sample("q");
  kmbi_result_set_samples(result, ns, COUNT);
  sink s = {0};
  kmb_results *list = NULL;
  const kmb_result *again = NULL;
  REQUIRE_OK(kmb_result_write_json(result, sink_write, &s));
  REQUIRE_OK(read_text(s.data, s.size, &list));
  REQUIRE_OK(kmb_results_get(list, 0, &again));
  REQUIRE_EQ(again->sample_count, COUNT);
  require_same(again->samples, ns, COUNT);
  free(s.data);
  kmb_results_destroy(list);
  kmb_result_destroy(result);
}

static void a_write_callback_has_the_last_word(void) {
  kmb_results *list = sample_list();
  static const kmb_status statuses[] = {42, KMB_ERR_IO, -999};
  const size_t size = 1500; /* less than the document needs */
  for (size_t i = 0; i < 3; i++) {
    for (size_t limit = 0; limit <= size; limit += size) {
      sink s = {.limit = limit, .status = statuses[i]};
      REQUIRE_STATUS(kmb_results_write_json(list, sink_write, &s), statuses[i]);
      free(s.data);
    }
  }
  REQUIRE_STATUS(kmb_results_write_json(list, NULL, NULL), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_results_write_json(NULL, sink_write, NULL),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_result_write_json(NULL, sink_write, NULL),
                 KMB_ERR_INVALID);
  kmb_results_destroy(list);
}

static kmb_status refuse(void *user, void *data, size_t size, size_t *got) {
  (void)data;
  (void)size;
  *got = 0;
  return *(const kmb_status *)user;
}

static kmb_status overfill(void *user, void *data, size_t size, size_t *got) {
  (void)user;
  (void)data;
  *got = size + 1;
  return KMB_OK;
}

static kmb_status endless(void *user, void *data, size_t size, size_t *got) {
  uint64_t *total = user;
  memset(data, ' ', size);
  *got = size;
  *total += size;
  return KMB_OK;
}

static void a_read_callback_is_not_trusted(void) {
  kmb_results *list = NULL;
  kmb_status status = 7;
  REQUIRE_STATUS(kmb_results_read_json(refuse, &status, NULL, &list), 7);
  status = KMB_ERR_PERM;
  REQUIRE_STATUS(kmb_results_read_json(refuse, &status, NULL, &list),
                 KMB_ERR_PERM);
  REQUIRE_STATUS(kmb_results_read_json(overfill, NULL, NULL, &list),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_results_read_json(NULL, NULL, NULL, &list),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_results_read_json(refuse, &status, NULL, NULL),
                 KMB_ERR_INVALID);
  REQUIRE(!list);
}

/* A document whose one result holds `members` beside what it must have. */
#define REST                                                             \
  "\"axes\": [], \"absent\": {}, \"findings\": [], \"samples_ns\": [], " \
  "\"metadata\": {}, \"metadata_absent\": {}"
#define DOCUMENT(results) \
  "{\"schema\": \"kmb-result\", \"version\": 1, \"results\": [" results "]}"
#define RESULT(members) DOCUMENT("{" members "}")

static kmb_status read_string(const char *text) {
  kmb_results *list = NULL;
  kmb_status status = read_text(text, strlen(text), &list);
  REQUIRE(!status == !!list);
  kmb_results_destroy(list);
  return status;
}

static void counts_are_read_from_both_forms(void) {
  static const struct {
    const char *text;
    uint64_t count;
  } good[] = {{"12", 12},
              {"\"12\"", 12},
              {"18446744073709551615", UINT64_MAX},
              {"\"18446744073709551615\"", UINT64_MAX},
              {"9223372036854775808", 1ULL << 63}};
  static const char *const bad[] = {"-1",
                                    "1.5",
                                    "1e3",
                                    "\"\"",
                                    "\"-1\"",
                                    "\" 1\"",
                                    "\"1x\"",
                                    "true",
                                    "18446744073709551616",
                                    "\"18446744073709551616\"",
                                    "null",
                                    "[1]"};
  char text[512];
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    kmb_results *list = NULL;
    const kmb_result *result = NULL;
    uint64_t count = 0;
    snprintf(text, sizeof text, RESULT("\"flops\": %s, " REST), good[i].text);
    REQUIRE_OK(read_text(text, strlen(text), &list));
    REQUIRE_OK(kmb_results_get(list, 0, &result));
    REQUIRE_OK(kmb_result_u64(result, KMB_VALUE_FLOPS, &count));
    REQUIRE(count == good[i].count);
    kmb_results_destroy(list);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    snprintf(text, sizeof text, RESULT("\"flops\": %s, " REST), bad[i]);
    REQUIRE_STATUS(read_string(text), KMB_ERR_FORMAT);
    REQUIRE_HAS(kmb_last_error(NULL, NULL), "results[0].flops");
  }
}

static void what_a_later_version_adds_is_ignored(void) {
  REQUIRE_OK(read_string(
      "{\"schema\": \"kmb-result\", \"version\": 1, \"more\": [1, {}], "
      "\"results\": [{\"later_ns\": -1, " REST "}]}"));
}

#define COMPARISON(document) \
  "{\"schema\": \"kmb-comparison\", \"version\": 1" document "}"

/* What a library would not write, nobody must draw conclusions from. */
static void a_time_lies_in_its_interval(void) {
  static const char *const wrong[] = {
      RESULT("\"interval_low_ns\": 3, \"interval_high_ns\": 2, " REST),
      RESULT("\"time_ns\": 1, \"interval_low_ns\": 2, "
             "\"interval_high_ns\": 3, " REST),
      RESULT("\"time_ns\": 1e308, \"interval_low_ns\": 2, "
             "\"interval_high_ns\": 3, " REST)};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    REQUIRE_STATUS(read_string(wrong[i]), KMB_ERR_FORMAT);
  REQUIRE_OK(read_string(RESULT("\"time_ns\": 2, \"interval_low_ns\": 2, "
                                "\"interval_high_ns\": 2, " REST)));
}

static void the_results_of_a_comparison_are_read(void) {
  static const char *const wrong[] = {
      COMPARISON(""), COMPARISON(", \"document\": 3"),
      COMPARISON(", \"document\": {}"),
      COMPARISON(", \"document\": " COMPARISON("")),
      COMPARISON(", \"document\": {\"schema\": \"kmb-result\"}")};
  REQUIRE_OK(read_string(
      COMPARISON(", \"document\": {\"schema\": \"kmb-result\", \"version\": 1, "
                 "\"results\": [{" REST "}]}")));
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    REQUIRE_STATUS(read_string(wrong[i]), KMB_ERR_FORMAT);
  REQUIRE_STATUS(read_string("{\"schema\": \"kmb-comparison\", \"version\": 2, "
                             "\"document\": {}}"),
                 KMB_ERR_UNSUPPORTED);
}

static void a_finding_of_a_later_version_is_kept(void) {
  static const char text[] = RESULT(
      "\"axes\": [], \"absent\": {}, \"findings\": [{\"code\": \"NEWER\", "
      "\"severity\": \"doubt\", \"message\": \"m\", \"figures\": {}}], "
      "\"samples_ns\": [], \"metadata\": {}, \"metadata_absent\": {}");
  kmb_results *list = NULL;
  const kmb_result *result = NULL;
  kmb_finding finding = kmb_finding_init();
  REQUIRE_OK(read_text(text, strlen(text), &list));
  REQUIRE_OK(kmb_results_get(list, 0, &result));
  REQUIRE_OK(kmb_result_finding(result, 0, &finding));
  REQUIRE_EQ(finding.code, 0);
  REQUIRE_EQ(finding.severity, KMB_DOUBT);
  char *again = to_json(list);
  REQUIRE_HAS(again, "\"code\": \"NEWER\"");
  free(again);
  kmb_results_destroy(list);
}

typedef struct stranger {
  const char *text, *message;
  kmb_status status;
} stranger;

static void refuse_all(const stranger *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    REQUIRE_STATUS(read_string(cases[i].text), cases[i].status);
    REQUIRE_HAS(kmb_last_error(NULL, NULL), cases[i].message);
  }
}

static void strangers_are_refused_with_the_key(void) {
  static const stranger cases[] = {
      {"[]", "not an object", KMB_ERR_FORMAT},
      {"{}", "schema", KMB_ERR_FORMAT},
      {"{\"schema\": 1}", "schema", KMB_ERR_FORMAT},
      {"{\"schema\": \"other\", \"version\": 1, \"results\": []}", "\"other\"",
       KMB_ERR_FORMAT},
      {"{\"schema\": \"kmb-result\", \"results\": []}", "version",
       KMB_ERR_FORMAT},
      {"{\"schema\": \"kmb-result\", \"version\": 0, \"results\": []}",
       "version", KMB_ERR_FORMAT},
      {"{\"schema\": \"kmb-result\", \"version\": -2, \"results\": []}",
       "version", KMB_ERR_FORMAT},
      {"{\"schema\": \"kmb-result\", \"version\": 1.0, \"results\": []}",
       "version", KMB_ERR_FORMAT},
      {"{\"schema\": \"kmb-result\", \"version\": 2, \"results\": []}",
       "newer libkmb", KMB_ERR_UNSUPPORTED},
      {"{\"schema\": \"kmb-result\", \"version\": 1}", "results",
       KMB_ERR_FORMAT},
      {DOCUMENT("1"), "results[0]", KMB_ERR_FORMAT},
      {DOCUMENT("{" REST "}, {}"), "results[1].axes: missing", KMB_ERR_FORMAT},
      {RESULT("\"time_ns\": \"5\", " REST), "results[0].time_ns: not a number",
       KMB_ERR_FORMAT},
      {RESULT("\"time_ns\": -5, " REST), "time below zero", KMB_ERR_FORMAT},
      {RESULT("\"name\": 5, " REST), "results[0].name: not a string",
       KMB_ERR_FORMAT},
      {RESULT("\"axes\": {}, \"absent\": {}"), "axes: not an array",
       KMB_ERR_FORMAT},
      {RESULT("\"axes\": [1], \"absent\": {}"), "axes", KMB_ERR_FORMAT},
      {RESULT("\"axes\": [{\"key\": \"a\"}], \"absent\": {}"), "axes",
       KMB_ERR_FORMAT},
      {RESULT("\"axes\": [{\"key\": \"n\", \"value\": \"1\"}, "
              "{\"key\": \"m\", \"value\": \"1\"}, "
              "{\"key\": \"n\", \"value\": \"2\"}], \"absent\": {}"),
       "results[0].axes: two axes have the key \"n\"", KMB_ERR_FORMAT},
      {RESULT("\"axes\": [], \"absent\": []"), "absent: not an object",
       KMB_ERR_FORMAT},
      {RESULT("\"axes\": [], \"absent\": {\"time_ns\": 1}"), "reason",
       KMB_ERR_FORMAT},
      {RESULT("\"time_ns\": 1, \"axes\": [], \"absent\": {\"time_ns\": \"\"}"),
       "both given and absent", KMB_ERR_FORMAT},
  };
  refuse_all(cases, sizeof cases / sizeof cases[0]);
}

static void strange_findings_samples_and_metadata_are_refused(void) {
  static const stranger cases[] = {
      {RESULT("\"axes\": [], \"absent\": {}, \"findings\": [1]"), "findings",
       KMB_ERR_FORMAT},
      {RESULT("\"axes\": [], \"absent\": {}, \"findings\": [{}]"), "findings",
       KMB_ERR_FORMAT},
      {RESULT("\"axes\": [], \"absent\": {}, \"findings\": [{\"code\": \"X\", "
              "\"severity\": \"bad\", \"message\": \"\", \"figures\": {}}]"),
       "severity", KMB_ERR_FORMAT},
      {RESULT("\"axes\": [], \"absent\": {}, \"findings\": [{\"code\": \"X\", "
              "\"severity\": \"note\", \"message\": \"\", "
              "\"figures\": {\"a\": \"1\"}}]"),
       "figure", KMB_ERR_FORMAT},
      {RESULT("\"axes\": [], \"absent\": {}, \"findings\": [], "
              "\"samples_ns\": [1, \"2\"]"),
       "samples_ns: not numbers", KMB_ERR_FORMAT},
      {RESULT("\"axes\": [], \"absent\": {}, \"findings\": [], "
              "\"samples_ns\": [1, -2]"),
       "samples_ns: a time below zero", KMB_ERR_FORMAT},
      {RESULT("\"axes\": [], \"absent\": {}, \"findings\": [], "
              "\"samples_ns\": [], \"metadata\": {\"a\": 1}, "
              "\"metadata_absent\": {}"),
       "results[0].a: metadata", KMB_ERR_FORMAT},
      {RESULT("\"axes\": [], \"absent\": {}, \"findings\": [], "
              "\"samples_ns\": [], \"metadata\": {}, "
              "\"metadata_absent\": {\"a\": null}"),
       "reason", KMB_ERR_FORMAT},
      {RESULT("\"axes\": [], \"absent\": {}, \"findings\": [], "
              "\"samples_ns\": [], \"metadata\": {\"a\": \"\"}, "
              "\"metadata_absent\": {\"a\": \"\"}"),
       "both given and absent", KMB_ERR_FORMAT},
      {RESULT("\"axes\": [], \"absent\": {}, \"findings\": [], "
              "\"samples_ns\": [], \"metadata\": {}"),
       "metadata_absent: missing", KMB_ERR_FORMAT},
  };
  refuse_all(cases, sizeof cases / sizeof cases[0]);
}

/* The parser alone. */

static kmb_status parse(const char *text, size_t size) {
  kmbi_memory memory = kmbi_memory_from(NULL);
  kmbi_arena arena;
  kmbi_json *root = NULL;
  /* A heap block of the exact size, so that sanitizers see each step beyond. */
  char *copy = malloc(size + 1);
  memcpy(copy, text, size);
  copy[size] = '\0';
  kmbi_arena_init(&arena, &memory);
  kmb_status status = kmbi_json_parse(&arena, copy, size, &root);
  kmbi_arena_release(&arena);
  free(copy);
  return status;
}

static void malformed_json_is_refused(void) {
  static const char *const bad[] = {"",
                                    " ",
                                    "{",
                                    "}",
                                    "[1,]",
                                    "[1 2]",
                                    "{\"a\"}",
                                    "{\"a\":}",
                                    "{\"a\":1,}",
                                    "{a:1}",
                                    "01",
                                    "-",
                                    "+1",
                                    ".5",
                                    "1.",
                                    "1e",
                                    "1e+",
                                    "0x10",
                                    "1e999",
                                    "-1e999",
                                    "NaN",
                                    "Infinity",
                                    "-Infinity",
                                    "nul",
                                    "True",
                                    "\"",
                                    "\"\\",
                                    "\"\\x\"",
                                    "\"\\u12\"",
                                    "\"\\u00g0\"",
                                    "\"\\u0000\"",
                                    "\"\\ud800\"",
                                    "\"\\udc00\"",
                                    "\"\\ud800\\u0041\"",
                                    "\"\xFF\"",
                                    "\"\xC0\x80\"",
                                    "\"\xED\xA0\x80\"",
                                    "\"\t\"",
                                    "\"\n\"",
                                    "[1]]",
                                    "1 2",
                                    "\xEF\xBB\xBF{}",
                                    "'a'",
                                    "/**/1",
                                    "{\"a\":1,\"b\":2,\"a\":3}",
                                    "[{\"\":1,\"\":1}]"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    if (parse(bad[i], strlen(bad[i])) != KMB_ERR_FORMAT) {
      fprintf(stderr, "accepted: %s\n", bad[i]);
      exit(1);
    }
    REQUIRE_HAS(kmb_last_error(NULL, NULL), "JSON line ");
  }
  REQUIRE_STATUS(parse("[1]\0", 4), KMB_ERR_FORMAT);
  REQUIRE_STATUS(parse("\"a\0b\"", 5), KMB_ERR_FORMAT);
  REQUIRE_STATUS(parse("\"\xF0\x9F", 3), KMB_ERR_FORMAT);
}

static void every_prefix_of_a_document_is_refused(void) {
  kmb_results *list = sample_list();
  char *text = to_json(list);
  size_t size = strlen(text) - 1; /* the final newline may be missing */
  REQUIRE_OK(parse(text, size));
  for (size_t cut = 0; cut < size; cut++)
    REQUIRE_STATUS(parse(text, cut), KMB_ERR_FORMAT);
  free(text);
  kmb_results_destroy(list);
}

static void errors_name_line_and_column(void) {
  REQUIRE_STATUS(parse("{\n \"a\": x}", 10), KMB_ERR_FORMAT);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "line 2, column 7: a value");
  REQUIRE_STATUS(parse("{\"a\\n\\n\": 1,\n\"a\\n\\n\": 1}", 25),
                 KMB_ERR_FORMAT);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "line 2, column 11");
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "two keys \"a  \"");
}

static void nesting_is_bounded(void) {
  char text[200001];
  memset(text, '[', 64);
  memset(text + 64, ']', 64);
  REQUIRE_OK(parse(text, 128));
  memset(text, '[', 65);
  memset(text + 65, ']', 65);
  REQUIRE_STATUS(parse(text, 130), KMB_ERR_FORMAT);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "64 levels");
  memset(text, '[', sizeof text);
  REQUIRE_STATUS(parse(text, sizeof text), KMB_ERR_FORMAT);
  for (size_t i = 0; i < sizeof text; i++)
    text[i] = "{\"a\":"[i % 5];
  REQUIRE_STATUS(parse(text, sizeof text), KMB_ERR_FORMAT);
}

static void siblings_do_not_nest(void) {
  char text[1024] = "[";
  size_t size = 1;
  for (int i = 0; i < 100; i++, size += 6)
    snprintf(text + size, sizeof text - size, "[],{},");
  size += (size_t)snprintf(text + size, sizeof text - size, "0]");
  REQUIRE_OK(parse(text, size));
}

static void escapes_are_decoded(void) {
  kmbi_memory memory = kmbi_memory_from(NULL);
  kmbi_arena arena;
  kmbi_json *root = NULL;
  char text[] = "{\"\\u0061\": \"\\\"\\\\\\/\\b\\f\\n\\r\\t|\\u00b5|\\u20AC|"
                "\\ud83d\\ude00|\xC2\xB5\"}";
  kmbi_arena_init(&arena, &memory);
  REQUIRE_OK(kmbi_json_parse(&arena, text, strlen(text), &root));
  const kmbi_json *node = kmbi_json_member(root, "a");
  REQUIRE(node && node->type == KMBI_JSON_STRING);
  REQUIRE_STR(node->as.text, "\"\\/\b\f\n\r\t|\xC2\xB5|\xE2\x82\xAC|"
                             "\xF0\x9F\x98\x80|\xC2\xB5");
  REQUIRE(!kmbi_json_member(root, "b"));
  kmbi_arena_release(&arena);
}

static void is_as_strtod_has_it(const char *number) {
  kmbi_memory memory = kmbi_memory_from(NULL);
  kmbi_arena arena;
  kmbi_json *root = NULL;
  char text[64];
  double want = strtod(number, NULL);
  snprintf(text, sizeof text, "%s", number);
  kmbi_arena_init(&arena, &memory);
  REQUIRE_OK(kmbi_json_parse(&arena, text, strlen(text), &root));
  if (memcmp(&root->number, &want, sizeof want) != 0)
    fprintf(stderr, "%s: %a, not %a\n", number, root->number, want);
  REQUIRE(memcmp(&root->number, &want, sizeof want) == 0);
  kmbi_arena_release(&arena);
}

/* Few digits have a shorter way: all lengths around its end, every place of the
 * point, both signs. */
static void numbers_are_rounded_once(void) {
  static const char *const odd[] = {"0",
                                    "-0",
                                    "0.0",
                                    "-0.0",
                                    "0.1",
                                    "1.1e5",
                                    "9007199254740993",
                                    "0.3",
                                    "1e22",
                                    "999999999999999",
                                    "1000000000000000",
                                    "9999999999999999",
                                    "12345678901234567890",
                                    "4.35",
                                    "0.000000000000001",
                                    "123456789012345.5",
                                    "5e-324",
                                    "1e-400"};
  uint64_t seed = 1;
  char digits[24], number[32];
  for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
    is_as_strtod_has_it(odd[i]);
  for (int length = 1; length <= 18; length++)
    for (int point = 0; point < length; point++)
      for (int again = 0; again < 20; again++) {
        for (int i = 0; i < length; i++)
          digits[i] = (char)('0' + (int)(10 * kmbi_uniform(&seed)));
        if (digits[0] == '0' && point != 1) digits[0] = '1';
        digits[length] = '\0';
        snprintf(number, sizeof number, "%s%.*s%s%s", again % 2 ? "-" : "",
                 point, digits, point ? "." : "", digits + point);
        is_as_strtod_has_it(number);
      }
}

/* Not in the quick set: a GiB of memory. */
static void more_than_a_gib_is_refused(void) {
  kmb_results *list = NULL;
  uint64_t total = 0;
  REQUIRE_STATUS(kmb_results_read_json(endless, &total, NULL, &list),
                 KMB_ERR_FORMAT);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "1 GiB");
  REQUIRE(total <= (1ULL << 31));
}

int main(void) {
  RUN(read_back_and_written_again_it_is_the_same);
  RUN(doubles_and_counts_come_back_bit_by_bit);
  RUN(an_empty_result_and_an_empty_list_come_back);
  RUN(operations_come_back_with_every_figure);
  RUN(operations_that_are_none_are_refused);
  RUN(ranks_that_are_none_are_refused);
  RUN(ranks_come_back_as_they_were);
  RUN(a_kind_of_a_later_version_is_kept);
  RUN(one_result_is_a_document_of_one);
  RUN(many_samples_are_streamed);
  RUN(a_write_callback_has_the_last_word);
  RUN(a_read_callback_is_not_trusted);
  RUN(counts_are_read_from_both_forms);
  RUN(what_a_later_version_adds_is_ignored);
  RUN(a_time_lies_in_its_interval);
  RUN(the_results_of_a_comparison_are_read);
  RUN(a_finding_of_a_later_version_is_kept);
  RUN(strangers_are_refused_with_the_key);
  RUN(strange_findings_samples_and_metadata_are_refused);
  RUN(malformed_json_is_refused);
  RUN(every_prefix_of_a_document_is_refused);
  RUN(errors_name_line_and_column);
  RUN(nesting_is_bounded);
  RUN(siblings_do_not_nest);
  RUN(escapes_are_decoded);
  RUN(numbers_are_rounded_once);
  const char *set = getenv("KMB_TEST");
  if (set && strcmp(set, "full") == 0) RUN(more_than_a_gib_is_refused);
  return 0;
}
