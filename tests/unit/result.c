/* Building results and asking them. */
#include "samples.h"

#include "utf8.h"

#include <math.h>

static kmb_result *empty(void) {
  kmbi_memory memory = kmbi_memory_from(NULL);
  kmb_result *result = NULL;
  REQUIRE_OK(kmbi_result_create(&memory, &result));
  return result;
}

static void check_row(size_t *row, kmb_value value, kmbi_kind kind) {
  REQUIRE_EQ(kmbi_value_table[*row].value, value);
  REQUIRE_EQ(kmbi_value_table[*row].kind, kind);
  REQUIRE(kmbi_value_find(value) == kmbi_value_table + *row);
  *row += 1;
}

static void the_table_is_the_map(void) {
  size_t count = 0;
#define CHECK(id, number, type, json_key, si) \
  check_row(&count, KMB_VALUE_##id, KMBI_##type);
  KMB_VALUE_MAP(CHECK)
#undef CHECK
  REQUIRE_EQ(kmbi_value_count, count);
  REQUIRE(!kmbi_value_find(0));
  REQUIRE(!kmbi_value_find(-1));
  REQUIRE(!kmbi_value_find(9999));
}

static void every_key_is_used_once_and_none_is_structural(void) {
  static const char *const structural[] = {
      "axes", "absent",   "findings",       "samples_ns",
      "ops",  "metadata", "metadata_absent"};
  for (size_t i = 0; i < kmbi_value_count; i++) {
    for (size_t k = 0; k < i; k++)
      REQUIRE(strcmp(kmbi_value_table[i].key, kmbi_value_table[k].key) != 0);
    for (size_t k = 0; k < sizeof structural / sizeof structural[0]; k++)
      REQUIRE(strcmp(kmbi_value_table[i].key, structural[k]) != 0);
  }
}

static void values_come_back(void) {
  kmb_result *result = make_sample("q");
  double number = 0;
  uint64_t count = 0;
  const char *text = NULL;
  REQUIRE_OK(kmb_result_f64(result, KMB_VALUE_TIME, &number));
  REQUIRE_NEAR(number, 36130.12345678901, 0);
  REQUIRE_OK(kmb_result_u64(result, KMB_VALUE_SEED, &count));
  REQUIRE(count == UINT64_MAX);
  REQUIRE_OK(kmb_result_text(result, KMB_VALUE_READING, &text));
  REQUIRE_STR(text, "memory-bound: 87%");
  REQUIRE_STR(kmbi_result_get_text(result, KMB_VALUE_NAME), "q");
  REQUIRE(!kmbi_result_get_f64(result, KMB_VALUE_SUM, &number));
  REQUIRE(!kmbi_result_get_u64(result, KMB_VALUE_TIME, &count));
  REQUIRE(!kmbi_result_get_text(result, KMB_VALUE_FILL));
  kmb_result_destroy(result);
}

static void what_is_not_known_says_why(void) {
  kmb_result *result = make_sample("q");
  double number = 7;
  REQUIRE_STATUS(kmb_result_f64(result, KMB_VALUE_SUM, &number),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_STR(kmb_last_error(NULL, NULL),
              "sum_ns is not known: only TRACE sees them");
  REQUIRE_STATUS(kmb_result_f64(result, KMB_VALUE_MAD, &number),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "mad_ns is not known: it was not");
  REQUIRE_NEAR(number, 7, 0);
  kmb_result_destroy(result);
}

static void wrong_questions_are_invalid(void) {
  kmb_result *result = make_sample("q");
  double number = 0;
  uint64_t count = 0;
  const char *text = NULL;
  const double *ns = NULL;
  REQUIRE_STATUS(kmb_result_f64(result, KMB_VALUE_SEED, &number),
                 KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "KMB_VALUE_MAP");
  REQUIRE_STATUS(kmb_result_u64(result, KMB_VALUE_NAME, &count),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_result_text(result, 9999, &text), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_result_f64(NULL, KMB_VALUE_TIME, &number),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_result_f64(result, KMB_VALUE_TIME, NULL), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_result_samples(result, NULL, &count), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_result_samples(NULL, &ns, &count), KMB_ERR_INVALID);
  kmb_result_destroy(result);
  kmb_result_destroy(NULL);
}

static void a_number_that_is_none_becomes_an_absence(void) {
  kmb_result *result = empty();
  double number = 0;
  kmbi_result_set_f64(result, KMB_VALUE_TIME, 5);
  kmbi_result_set_f64(result, KMB_VALUE_TIME, NAN);
  kmbi_result_set_f64(result, KMB_VALUE_SOL_PCT, -INFINITY);
  kmbi_result_set_f64(result, KMB_VALUE_MEAN, -0.5);
  kmbi_result_set_f64(result, KMB_VALUE_DRIFT_PCT, -0.5);
  REQUIRE_STATUS(kmb_result_f64(result, KMB_VALUE_TIME, &number),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "not a number");
  REQUIRE_STATUS(kmb_result_f64(result, KMB_VALUE_SOL_PCT, &number),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "infinite");
  REQUIRE_STATUS(kmb_result_f64(result, KMB_VALUE_MEAN, &number),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "below zero");
  REQUIRE_OK(kmb_result_f64(result, KMB_VALUE_DRIFT_PCT, &number));
  kmbi_result_set_f64(result, KMB_VALUE_TIME, 6);
  REQUIRE_OK(kmb_result_f64(result, KMB_VALUE_TIME, &number));
  kmb_result_destroy(result);
}

static void a_value_of_another_kind_stays_unknown(void) {
  kmb_result *result = empty();
  double number = 0;
  kmbi_result_set_u64(result, KMB_VALUE_TIME, 5);
  kmbi_result_set_text(result, KMB_VALUE_TIME, "5");
  kmbi_result_format(result, KMB_VALUE_TIME, "%d", 5);
  kmbi_result_set_f64(result, 9999, 5);
  REQUIRE(!kmbi_result_get_f64(result, KMB_VALUE_TIME, &number));
  kmbi_result_set_text(result, KMB_VALUE_FILL, NULL);
  REQUIRE(!kmbi_result_get_text(result, KMB_VALUE_FILL));
  kmb_result_destroy(result);
}

static void axes_samples_findings_and_metadata_come_back(void) {
  kmb_result *result = make_sample("q");
  kmb_pair axis;
  REQUIRE_EQ(kmb_result_axis_count(result), 2);
  REQUIRE_OK(kmb_result_axis(result, 1, &axis));
  REQUIRE_STR(axis.key, "dtype");
  REQUIRE_STR(axis.value, "f32");
  REQUIRE_STATUS(kmb_result_axis(result, 2, &axis), KMB_ERR_INVALID);
  const double *ns = NULL;
  uint64_t count = 0;
  REQUIRE_OK(kmb_result_samples(result, &ns, &count));
  REQUIRE_EQ(count, 4);
  REQUIRE_NEAR(ns[1], 36130.25, 0);
  kmb_finding finding = kmb_finding_init();
  REQUIRE_EQ(kmb_result_finding_count(result), 2);
  REQUIRE_OK(kmb_result_finding(result, 1, &finding));
  REQUIRE_EQ(finding.code, KMB_FINDING_CHECK_SKIPPED);
  REQUIRE_EQ(finding.severity, KMB_NOTE);
  REQUIRE_EQ(finding.figure_count, 0);
  REQUIRE_OK(kmb_result_finding(result, 0, &finding));
  REQUIRE_STR(finding.message, "others took 3.5%");
  REQUIRE_EQ(finding.figure_count, 2);
  REQUIRE_STR(finding.figures[1].name, "overhead_ns");
  REQUIRE_STATUS(kmb_result_finding(result, 2, &finding), KMB_ERR_INVALID);
  finding.struct_size = 8;
  REQUIRE_STATUS(kmb_result_finding(result, 0, &finding), KMB_ERR_INVALID);
  kmb_metadata_entry entry = kmb_metadata_entry_init();
  REQUIRE_EQ(kmb_result_metadata_count(result), 3);
  REQUIRE_OK(kmb_result_metadata(result, 1, &entry));
  REQUIRE_STR(entry.key, "device.uuid");
  REQUIRE(!entry.value);
  REQUIRE_STR(entry.reason, "a host has none");
  REQUIRE_STATUS(kmb_result_metadata(result, 3, &entry), KMB_ERR_INVALID);
  const char *text = NULL;
  REQUIRE_OK(kmb_result_metadata_text(result, "host.os", &text));
  REQUIRE_STR(text, "Debian");
  REQUIRE_STATUS(kmb_result_metadata_text(result, "device.uuid", &text),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "a host has none");
  REQUIRE_STATUS(kmb_result_metadata_text(result, "host", &text),
                 KMB_ERR_UNAVAILABLE);
  kmb_result_destroy(result);
}

static void null_results_have_nothing(void) {
  REQUIRE_EQ(kmb_result_axis_count(NULL), 0);
  REQUIRE_EQ(kmb_result_finding_count(NULL), 0);
  REQUIRE_EQ(kmb_result_metadata_count(NULL), 0);
  REQUIRE_EQ(kmb_results_count(NULL), 0);
}

static void a_metadata_key_is_kept_once(void) {
  kmb_result *result = empty();
  const char *text = NULL;
  kmbi_result_meta(result, "a", "1", NULL);
  kmbi_result_meta(result, "b", NULL, NULL);
  kmbi_result_meta(result, "a", NULL, "gone");
  kmbi_result_meta(result, "b", "2", "ignored");
  REQUIRE_EQ(kmb_result_metadata_count(result), 2);
  REQUIRE_STATUS(kmb_result_metadata_text(result, "a", &text),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_OK(kmb_result_metadata_text(result, "b", &text));
  REQUIRE_STR(text, "2");
  kmb_metadata_entry entry = kmb_metadata_entry_init();
  REQUIRE_OK(kmb_result_metadata(result, 1, &entry));
  REQUIRE(!entry.reason);
  kmb_result_destroy(result);
}

static void figures_that_json_cannot_hold_are_left_out(void) {
  const kmb_figure figures[] = {
      {"a", 1}, {"b", NAN}, {"a", 2}, {"c", INFINITY}, {"d", 4}};
  kmb_result *result = empty();
  kmbi_result_find(result, KMB_FINDING_DRIFT, KMB_DOUBT, figures, 5, "x");
  kmb_finding finding = kmb_finding_init();
  REQUIRE_OK(kmb_result_finding(result, 0, &finding));
  REQUIRE_EQ(finding.figure_count, 2);
  REQUIRE_NEAR(finding.figures[0].value, 1, 0);
  REQUIRE_STR(finding.figures[1].name, "d");
  kmb_result_destroy(result);
}

static void findings_have_names(void) {
#define CHECK(name, value) REQUIRE_STR(kmb_finding_name(value), #name);
  KMB_FINDING_MAP(CHECK)
#undef CHECK
  REQUIRE_STR(kmb_finding_name(0), "UNKNOWN");
}

/* What is no UTF-8 stands between brackets; each bad byte is replaced. */
static void bad_bytes_are_replaced(void) {
#define R "\xEF\xBF\xBD"
  static const struct {
    const char *given, *kept;
  } cases[] = {{"plain", "plain"},
               {"", ""},
               {"\xC2\xB5s \xE2\x82\xAC \xF0\x9F\x98\x80",
                "\xC2\xB5s \xE2\x82\xAC \xF0\x9F\x98\x80"},
               {"[\xFF]", "[" R "]"},
               {"[\xC2]", "[" R "]"},
               {"\xC2", R},
               {"[\xC0\x80]", "[" R R "]"},
               {"[\xE0\x80\x80]", "[" R R R "]"},
               {"[\xED\xA0\x80]", "[" R R R "]"},
               {"[\xF4\x90\x80\x80]", "[" R R R R "]"},
               {"[\xF0\x9F\x98]", "[" R R R "]"},
               {"[\x80]", "[" R "]"},
               {"\xF4\x8F\xBF\xBF", "\xF4\x8F\xBF\xBF"}};
  kmbi_memory memory = kmbi_memory_from(NULL);
  kmbi_arena arena;
  kmbi_arena_init(&arena, &memory);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    REQUIRE_STR(kmbi_utf8_copy(&arena, cases[i].given), cases[i].kept);
  REQUIRE(!kmbi_utf8_copy(&arena, NULL));
  kmbi_arena_release(&arena);
  kmb_result *result = empty();
  const kmb_pair axis = {"k\xFF", NULL};
  kmbi_result_set_axes(result, &axis, 1);
  REQUIRE_STR(result->axes[0].key, "k" R);
  REQUIRE_STR(result->axes[0].value, "");
  kmbi_result_format(result, KMB_VALUE_NAME, "%s", "n\xFF");
  REQUIRE_STR(kmbi_result_get_text(result, KMB_VALUE_NAME), "n" R);
  kmbi_result_meta(result, "\xFF", "\xFF", NULL);
  REQUIRE_STR(result->metadata->key, R);
  REQUIRE_STR(result->metadata->value, R);
  kmb_result_destroy(result);
#undef R
}

static void columns_are_counted(void) {
  REQUIRE_EQ(kmbi_utf8_width("36 µs ± 1"), 9);
  REQUIRE_EQ(kmbi_utf8_width("e\xCC\x81"), 1);
  REQUIRE_EQ(kmbi_utf8_width("\xE6\xBC\xA2"), 2);
  REQUIRE_EQ(kmbi_utf8_width(""), 0);
}

static void a_list_grows_and_keeps_its_order(void) {
  kmb_results *results = NULL;
  const kmb_result *result = NULL;
  REQUIRE_OK(kmb_results_create(NULL, &results));
  for (int i = 0; i < 40; i++) {
    char name[8];
    snprintf(name, sizeof name, "%d", i);
    REQUIRE_OK(kmb_results_add(results, make_sample(name)));
  }
  REQUIRE_EQ(kmb_results_count(results), 40);
  REQUIRE_OK(kmb_results_get(results, 37, &result));
  REQUIRE_STR(kmbi_result_get_text(result, KMB_VALUE_NAME), "37");
  REQUIRE_STATUS(kmb_results_get(results, 40, &result), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_results_get(NULL, 0, &result), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_results_add(results, NULL), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_results_create(NULL, NULL), KMB_ERR_INVALID);
  kmb_results_destroy(results);
  kmb_results_destroy(NULL);
}

static void a_result_is_in_one_list_once(void) {
  kmb_results *results = NULL, *other = NULL;
  kmb_result *result = make_sample("q");
  REQUIRE_OK(kmb_results_create(NULL, &results));
  REQUIRE_OK(kmb_results_create(NULL, &other));
  REQUIRE_OK(kmb_results_add(results, result));
  REQUIRE_STATUS(kmb_results_add(results, result), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "in a list already");
  REQUIRE_STATUS(kmb_results_add(other, result), KMB_ERR_INVALID);
  REQUIRE_EQ(kmb_results_count(results), 1);
  REQUIRE_EQ(kmb_results_count(other), 0);
  kmb_results_destroy(results);
  kmb_results_destroy(other);
}

static void half_an_allocator_is_refused(void) {
  kmb_results *results = NULL;
  kmb_hooks hooks = kmb_hooks_init();
  hooks.free = (void (*)(void *, void *, size_t))abort;
  REQUIRE_STATUS(kmb_results_create(&hooks, &results), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "both alloc and free");
  hooks = kmb_hooks_init();
  hooks.struct_size = 3;
  REQUIRE_STATUS(kmb_results_create(&hooks, &results), KMB_ERR_INVALID);
  REQUIRE(!results);
}

int main(void) {
  RUN(the_table_is_the_map);
  RUN(every_key_is_used_once_and_none_is_structural);
  RUN(values_come_back);
  RUN(what_is_not_known_says_why);
  RUN(wrong_questions_are_invalid);
  RUN(a_number_that_is_none_becomes_an_absence);
  RUN(a_value_of_another_kind_stays_unknown);
  RUN(axes_samples_findings_and_metadata_come_back);
  RUN(null_results_have_nothing);
  RUN(a_metadata_key_is_kept_once);
  RUN(figures_that_json_cannot_hold_are_left_out);
  RUN(findings_have_names);
  RUN(bad_bytes_are_replaced);
  RUN(columns_are_counted);
  RUN(a_list_grows_and_keeps_its_order);
  RUN(a_result_is_in_one_list_once);
  RUN(half_an_allocator_is_refused);
  return 0;
}
