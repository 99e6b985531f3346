/* What a person reads. */
#include "samples.h"

#include "format.h"
#include "utf8.h"

static void numbers_have_four_digits_and_a_unit(void) {
  static const struct {
    double ns;
    const char *text;
  } times[] = {{0, "0 ns"},
               {-0.0, "0 ns"},
               {-0.25, "-0.2500 ns"},
               {0.30123, "0.3012 ns"},
               {0.0123456, "0.01235 ns"},
               {1, "1.000 ns"},
               {9.9996, "10.00 ns"},
               {99.996, "100.0 ns"},
               {999.94, "999.9 ns"},
               {999.96, "1.000 µs"},
               {36130, "36.13 µs"},
               {1.2345e6, "1.234 ms"},
               {1.5e9, "1.500 s"},
               {1.2e13, "12000 s"},
               {-36130, "-36.13 µs"}};
  static const struct {
    double value;
    const char *text;
  } rates[] = {{210.34e9, "210.3 GB/s"},
               {5, "5.000 B/s"},
               {2.5e3, "2.500 kB/s"},
               {3.3e12, "3.300 TB/s"},
               {0, "0 B/s"}};
  static const struct {
    uint64_t bytes;
    const char *text;
  } sizes[] = {{0, "0 B"},
               {1023, "1023 B"},
               {1024, "1 KiB"},
               {272629760, "260 MiB"},
               {1600000000, "1.5 GiB"},
               {1ULL << 50, "1024 TiB"}};
  kmbi_memory memory = kmbi_memory_from(NULL);
  kmbi_text text;
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
    kmbi_text_init(&text, &memory);
    kmbi_put_time(&text, times[i].ns);
    REQUIRE_STR(kmbi_text_get(&text), times[i].text);
    kmbi_text_release(&text);
  }
  for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
    kmbi_text_init(&text, &memory);
    kmbi_put_si(&text, rates[i].value, "B/s");
    REQUIRE_STR(kmbi_text_get(&text), rates[i].text);
    kmbi_text_release(&text);
  }
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    kmbi_text_init(&text, &memory);
    kmbi_put_bytes(&text, sizes[i].bytes);
    REQUIRE_STR(kmbi_text_get(&text), sizes[i].text);
    kmbi_text_release(&text);
  }
}

static kmb_result *projection(const char *name, const char *tokens, double ns) {
  kmbi_memory memory = kmbi_memory_from(NULL);
  kmb_result *r = NULL;
  const kmb_pair axes[] = {{"rows", "4096"}, {"tokens", tokens}};
  REQUIRE_OK(kmbi_result_create(&memory, &r));
  kmbi_result_set_axes(r, axes, 2);
  kmbi_result_set_text(r, KMB_VALUE_NAME, name);
  kmbi_result_set_f64(r, KMB_VALUE_TIME, ns);
  kmbi_result_set_f64(r, KMB_VALUE_INTERVAL_LOW, ns * 0.99);
  kmbi_result_set_f64(r, KMB_VALUE_INTERVAL_HIGH, ns * 1.01);
  kmbi_result_set_f64(r, KMB_VALUE_INTERVAL_PCT, 1);
  kmbi_result_set_u64(r, KMB_VALUE_SAMPLES, 412);
  kmbi_result_set_u64(r, KMB_VALUE_BATCH, 1);
  kmbi_result_set_text(r, KMB_VALUE_STOP_REASON, "CONVERGED");
  kmbi_result_set_f64(r, KMB_VALUE_TARGET_PCT, 0.5);
  kmbi_result_set_text(r, KMB_VALUE_TIMER, "HOST");
  kmbi_result_set_text(r, KMB_VALUE_LAUNCH_MODE, "PLAIN");
  kmbi_result_set_text(r, KMB_VALUE_CACHE_STATE, "ROTATED");
  kmbi_result_set_text(r, KMB_VALUE_CACHE_REQUESTED, "COLD");
  kmbi_result_set_u64(r, KMB_VALUE_REUSE_BYTES, 1 << 29);
  kmbi_result_set_f64(r, KMB_VALUE_ACHIEVED_BYTES, 18.58e9);
  kmbi_result_set_f64(r, KMB_VALUE_MEMORY_PCT, 87.25);
  kmbi_result_set_f64(r, KMB_VALUE_SOL_PCT, 87.25);
  kmbi_result_set_f64(r, KMB_VALUE_MEMORY_CEILING, 21.3e9);
  kmbi_result_set_text(r, KMB_VALUE_MEMORY_CEILING_NAME, "read, measured");
  kmbi_result_set_text(r, KMB_VALUE_PREDICTED_BOUND, "memory");
  kmbi_result_set_text(r, KMB_VALUE_OBSERVED_BOUND, "memory");
  kmbi_result_meta(r, "device.name", "Some CPU", NULL);
  kmbi_result_meta(r, "caller.blas", "OpenBLAS", NULL);
  return r;
}

static char *text_of(const kmb_result *result) {
  sink s = {0};
  REQUIRE_OK(kmb_result_write_text(result, sink_write, &s));
  return s.data;
}

static char *table_of(const kmb_results *results) {
  sink s = {0};
  REQUIRE_OK(kmb_results_write_table(results, sink_write, &s));
  return s.data;
}

static void one_result_is_a_readable_block(void) {
  kmb_result *r = projection("q_proj", "1", 36130);
  kmbi_result_absent(r, KMB_VALUE_SUM, "only TRACE sees device operations");
  kmbi_result_absent(r, KMB_VALUE_FILL, "no buffers");
  kmbi_result_absent(r, KMB_VALUE_BUSY, "only TRACE sees device operations");
  kmbi_result_find(r, KMB_FINDING_NOT_COLD, KMB_WARNING, NULL, 0, "too warm");
  char *text = text_of(r);
  REQUIRE_STR(
      text,
      "q_proj  rows=4096, tokens=1\n"
      "  time       36.13 µs ± 1.00%, 99% within-run interval [35.77 µs, "
      "36.49 µs]\n"
      "  samples    412 of 1 iteration; stop CONVERGED, target ± 0.50%\n"
      "  timer      HOST, launch PLAIN\n"
      "  cache      ROTATED (asked for: COLD), reuse after 512 MiB\n"
      "  memory     18.58 GB/s, 87.2% of 21.30 GB/s (read, measured)\n"
      "  bound      predicted memory, observed memory; 87.2% of the ceiling\n"
      "  findings   warning NOT_COLD: too warm\n"
      "  not known  busy_ns, sum_ns: only TRACE sees device operations\n"
      "             fill: no buffers\n");
  free(text);
  kmb_result_destroy(r);
}

static void a_result_without_a_time_says_so(void) {
  kmbi_memory memory = kmbi_memory_from(NULL);
  kmb_result *r = NULL;
  REQUIRE_OK(kmbi_result_create(&memory, &r));
  kmbi_result_absent(r, KMB_VALUE_TIME, "no sample was taken");
  char *text = text_of(r);
  REQUIRE_STR(text, "(no name)\n  time       not known\n"
                    "  not known  time_ns: no sample was taken\n");
  free(text);
  kmb_result_destroy(r);
}

static void every_section_shows(void) {
  kmb_result *r = projection("q", "1", 100);
  kmbi_result_set_f64(r, KMB_VALUE_BIAS, 3.5);
  kmbi_result_set_f64(r, KMB_VALUE_RAW_MEDIAN, 103.5);
  kmbi_result_set_u64(r, KMB_VALUE_ROUNDS, 5);
  kmbi_result_set_f64(r, KMB_VALUE_ROUND_LOW, 99);
  kmbi_result_set_f64(r, KMB_VALUE_ROUND_HIGH, 101);
  kmbi_result_set_u64(r, KMB_VALUE_SAMPLES_DROPPED, 7);
  kmbi_result_set_text(r, KMB_VALUE_TIMER_REASON, "the only one here");
  kmbi_result_set_f64(r, KMB_VALUE_OVERHEAD, 0.25);
  kmbi_result_set_u64(r, KMB_VALUE_FLOPS, 33554432);
  kmbi_result_set_u64(r, KMB_VALUE_LEAST_BYTES, 67141632);
  kmbi_result_set_text(r, KMB_VALUE_WORK_CONVENTION, "2mnk");
  kmbi_result_set_text(r, KMB_VALUE_READING, "as predicted");
  kmbi_result_set_text(r, KMB_VALUE_CHECK, "passed");
  kmbi_result_set_f64(r, KMB_VALUE_CHECK_ERROR, 1.2e-6);
  kmbi_result_set_f64(r, KMB_VALUE_TOLERANCE, 1e-4);
  kmbi_result_set_f64(r, KMB_VALUE_CONFIRM_TIME, 100.5);
  kmbi_result_set_f64(r, KMB_VALUE_CONFIRM_LOW, 100);
  kmbi_result_set_f64(r, KMB_VALUE_CONFIRM_HIGH, 101);
  kmbi_result_set_text(r, KMB_VALUE_CONFIRM_METHOD, "HOST, batch 4");
  char *text = text_of(r);
  REQUIRE_HAS(text, "103.5 ns by the clock, less 3.500 ns of the timer's own");
  REQUIRE_HAS(text,
              "rounds     5, between-round interval [99.00 ns, 101.0 ns]");
  REQUIRE_HAS(text, "7 dropped as warm-up");
  REQUIRE_HAS(text, "overhead at most 0.2500 ns; the only one here");
  REQUIRE_HAS(text, "work       33.55 MFLOP, at least 67.14 MB (2mnk)");
  REQUIRE_HAS(text, "reading    as predicted");
  REQUIRE_HAS(text,
              "check      passed, largest error 1.2e-06, tolerance 0.0001");
  REQUIRE_HAS(text, "confirm    100.5 ns [100.0 ns, 101.0 ns], HOST, batch 4");
  free(text);
  kmb_result_destroy(r);
}

/* Five steps; what is not known stands in its place, not at the end. */
static void the_reading_has_a_fixed_order(void) {
  kmb_result *r = projection("q", "1", 100);
  kmbi_result_set_text(r, KMB_VALUE_READING, "the sentence");
  kmbi_result_set_text(r, KMB_VALUE_READING_SOL, "60% of it");
  kmbi_result_set_text(r, KMB_VALUE_READING_PREDICTION, "memory-bound");
  kmbi_result_absent(r, KMB_VALUE_READING_MEMORY, "no counters");
  kmbi_result_absent(r, KMB_VALUE_READING_OCCUPANCY, "no counters");
  kmbi_result_set_f64(r, KMB_VALUE_RATE_CEILING, 9.5e14);
  kmbi_result_set_f64(r, KMB_VALUE_RATE_PCT, 75);
  kmbi_result_set_text(r, KMB_VALUE_RATE_CEILING_NAME, "at a clock");
  kmbi_result_set_f64(r, KMB_VALUE_REFERENCE_PCT, 97.25);
  kmbi_result_set_text(r, KMB_VALUE_REFERENCE_NAME, "theirs");
  char *text = text_of(r);
  REQUIRE_HAS(text, "  reading    prediction: memory-bound\n"
                    "             speed of light: 60% of it\n"
                    "             memory workload: not known, no counters\n"
                    "             occupancy: not known, no counters\n"
                    "             the sentence\n");
  REQUIRE_HAS(text, "  rate       75.0% of 950.0 TFLOP/s (at a clock)\n"
                    "  others     97.2% of theirs\n");
  REQUIRE(!strstr(text, "reading_memory"));
  free(text);
  kmbi_result_absent(r, KMB_VALUE_RATE_CEILING, "no clock");
  text = text_of(r);
  REQUIRE_HAS(text, "rate_ceiling: no clock");
  free(text);
  kmb_result_destroy(r);
}

static void several_operations_have_a_short_table(void) {
  kmb_result *r = projection("a", "1", 100);
  kmb_op ops[12];
  for (int i = 0; i < 12; i++) {
    ops[i] = kmb_op_init();
    ops[i].kind = KMB_OP_KERNEL;
    ops[i].name = i == 3
                      ? "a_name_of_a_kernel_that_is_so_long_that_nobody_has_a"
                        "_line_for_all_of_it"
                      : "k";
    ops[i].start_ns = 10.0 * i;
    ops[i].duration_ns = 5;
    ops[i].min_ns = 4;
    ops[i].max_ns = 6;
    ops[i].share_pct = i < 4 ? 1 : 10 + i;
  }
  ops[11].kind = KMB_OP_MEMCPY;
  ops[11].name = NULL;
  ops[11].bytes = 2048;
  ops[11].stream = 9;
  kmbi_result_set_ops(r, ops, 12);
  kmbi_result_set_u64(r, KMB_VALUE_OP_SAMPLES, 57);
  kmbi_result_set_u64(r, KMB_VALUE_OP_SAMPLES_OTHER, 3);
  kmbi_result_set_u64(r, KMB_VALUE_OPS_OMITTED, 0);
  kmbi_result_set_f64(r, KMB_VALUE_GAPS, 12);
  char *text = text_of(r);
  REQUIRE_HAS(text, "operations 12 an iteration, over 57 samples (3 had other "
                    "operations), gaps of 12.00 ns\n");
  REQUIRE_HAS(text, "\n             14.0% 5.000 ns [4.000 ns, 6.000 ns] from "
                    "40.00 ns on stream 0: kernel k\n");
  REQUIRE_HAS(text, "21.0% 5.000 ns [4.000 ns, 6.000 ns] from 110.0 ns on "
                    "stream 9: memcpy of 2 KiB\n");
  REQUIRE_HAS(text, "\n             4.0% 4 more\n");
  REQUIRE(!strstr(text, "from 30.00 ns"));
  free(text);
  kmbi_result_set_u64(r, KMB_VALUE_OPS_OMITTED, 44);
  text = text_of(r);
  REQUIRE_HAS(text, "operations 56 an iteration");
  REQUIRE_HAS(text, "4.0% 4 more, and 44 without a row\n");
  free(text);
  kmbi_result_set_ops(r, ops + 3, 2);
  text = text_of(r);
  REQUIRE_HAS(text, "kernel\n               "
                    "a_name_of_a_kernel_that_is_so_long_that_nobody_h…\n");
  free(text);
  kmbi_result_set_ops(r, ops, 1);
  text = text_of(r);
  REQUIRE(!strstr(text, "operations"));
  free(text);
  kmb_result_destroy(r);
}

static void the_gravest_finding_comes_first(void) {
  kmb_result *r = projection("a", "1", 100);
  kmbi_result_find(r, KMB_FINDING_DRIFT, KMB_NOTE, NULL, 0, "n1");
  kmbi_result_find(r, KMB_FINDING_NOT_COLD, KMB_WARNING, NULL, 0, "w1");
  kmbi_result_find(r, KMB_FINDING_ABOVE_PEAK, KMB_DOUBT, NULL, 0, "d1");
  kmbi_result_find(r, KMB_FINDING_NOT_QUIET, KMB_WARNING, NULL, 0, "w2");
  char *text = text_of(r);
  REQUIRE_HAS(text, "\n  findings   doubt ABOVE_PEAK: d1\n"
                    "             warning NOT_COLD: w1\n"
                    "             warning NOT_QUIET: w2\n"
                    "             note DRIFT: n1\n");
  free(text);
  kmb_result_destroy(r);
}

static void an_interval_below_zero_is_not_clamped(void) {
  kmb_result *r = projection("a", "1", 0);
  kmbi_result_set_f64(r, KMB_VALUE_INTERVAL_LOW, -0.25);
  kmbi_result_set_f64(r, KMB_VALUE_INTERVAL_HIGH, 0.5);
  char *text = text_of(r);
  REQUIRE_HAS(text, "time       0 ns ± 1.00%, 99% within-run interval "
                    "[-0.2500 ns, 0.5000 ns]");
  free(text);
  kmb_result_destroy(r);
}

static void a_share_in_a_message_has_no_exponent(void) {
  static const struct {
    double percent;
    int digits;
    const char *text;
  } rows[] = {{0, 2, "0%"},
              {0.5, 2, "0.5%"},
              {1.26, 2, "1.3%"},
              {99.4, 2, "99%"},
              {99.5, 2, "100%"},
              {-99.6, 2, "-100%"},
              {150, 2, "150%"},
              {99.62, 3, "99.6%"},
              {999.4, 3, "999%"},
              {999.5, 3, "1000%"},
              {1e11, 2, "100000000000%"},
              {1e300, 2, "1.000e+300%"}};
  char buffer[KMBI_PERCENT_SIZE];
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *got =
        kmbi_percent_string(buffer, rows[i].percent, rows[i].digits);
    REQUIRE_STR(got, rows[i].text);
    REQUIRE(got == buffer);
  }
}

static void a_huge_percentage_stays_readable(void) {
  kmb_result *r = projection("a", "1", 100);
  kmbi_result_set_f64(r, KMB_VALUE_INTERVAL_PCT, 1e300);
  kmbi_result_set_f64(r, KMB_VALUE_TARGET_PCT, 100);
  kmbi_result_set_f64(r, KMB_VALUE_MEMORY_PCT, 12345678.9);
  char *text = text_of(r);
  REQUIRE_HAS(text, "± 1.000e+300%,");
  REQUIRE_HAS(text, "target ± 100.00%");
  REQUIRE_HAS(text, "12345679% of");
  free(text);
  kmb_result_destroy(r);
}

static void the_distance_of_reuse_is_said_once(void) {
  kmb_result *r = projection("a", "1", 100);
  kmbi_result_set_text(r, KMB_VALUE_CACHE_METHOD,
                       "9 slots, 512 MiB of cold data between two uses");
  char *text = text_of(r);
  REQUIRE_HAS(text, "9 slots, 512 MiB of cold data between two uses\n");
  REQUIRE(!strstr(text, "reuse after"));
  free(text);
  kmb_result_destroy(r);
}

static void long_names_are_short_in_the_grid_alone(void) {
  char name[130] = "", whole[80], cut[80];
  for (int i = 0; i < 64; i++)
    strcat(name, "µ");
  kmb_results *list = NULL;
  REQUIRE_OK(kmb_results_create(NULL, &list));
  kmb_result *r = projection(name, "1", 100); /* 64 columns: whole */
  REQUIRE_OK(kmb_results_add(list, r));
  memset(whole, 'n', 65);
  whole[65] = '\0';
  r = projection(whole, whole, 200);
  kmbi_result_find(r, KMB_FINDING_DRIFT, KMB_NOTE, NULL, 0, "by 1");
  REQUIRE_OK(kmb_results_add(list, r));
  char *text = table_of(list);
  snprintf(cut, sizeof cut, "%.63s…  ", whole);
  REQUIRE_HAS(text, name);
  REQUIRE_HAS(text, cut);
  REQUIRE_EQ(strstr(text, cut)[-1], '\n'); /* 64 columns, no more */
  char *below = strstr(text, "\n\n");
  REQUIRE(below);
  REQUIRE(strstr(text, whole) > below);              /* its label */
  REQUIRE_HAS(strstr(text, cut) + strlen(cut), cut); /* the axis */
  free(text);
  text = text_of(r);
  REQUIRE_HAS(text, whole);
  free(text);
  kmb_results_destroy(list);
}

static kmb_results *projections(void) {
  kmb_results *list = NULL;
  REQUIRE_OK(kmb_results_create(NULL, &list));
  kmb_result *r = projection("q_proj", "1", 36130);
  kmbi_result_set_text(r, KMB_VALUE_READING, "memory-bound: 40%");
  kmbi_result_find(r, KMB_FINDING_UNCALIBRATED, KMB_NOTE, NULL, 0, "no zero");
  REQUIRE_OK(kmb_results_add(list, r));
  r = projection("k_proj", "1", 9130);
  kmbi_result_set_text(r, KMB_VALUE_READING, "memory-bound: 41%");
  kmbi_result_find(r, KMB_FINDING_UNCALIBRATED, KMB_NOTE, NULL, 0, "no zero");
  kmbi_result_find(r, KMB_FINDING_ABOVE_PEAK, KMB_DOUBT, NULL, 0, "too fast");
  REQUIRE_OK(kmb_results_add(list, r));
  r = projection("q_proj", "8", 1234567);
  kmbi_result_set_text(r, KMB_VALUE_READING, "neither");
  kmbi_result_absent(r, KMB_VALUE_SOL_PCT, "the cache's size is unknown");
  kmbi_result_find(r, KMB_FINDING_UNCALIBRATED, KMB_NOTE, NULL, 0, "no zero");
  REQUIRE_OK(kmb_results_add(list, r));
  return list;
}

static void a_list_is_an_aligned_table(void) {
  kmb_results *list = projections();
  char *text = table_of(list);
  REQUIRE_HAS(text,
              "In every row: rows 4096, predict memory, observed memory, cache "
              "ROTATED, timer HOST\n\n"
              "name    tokens      time   ±99%  samples   GB/s  %ceil  "
              "findings\n----");
  REQUIRE_HAS(
      text,
      "\nq_proj       1  36.13 µs  1.00%      412  18.58  87.2%  UNCALIBRATED\n"
      "k_proj       1  9.130 µs  1.00%      412  18.58  87.2%  ABOVE_PEAK "
      "UNCALIBRATED\n"
      "q_proj       8  1.235 ms  1.00%      412  18.58      ?  "
      "UNCALIBRATED\n\n");
  REQUIRE(!strstr(text, "GFLOP/s"));
  free(text);
  kmb_results_destroy(list);
}

static size_t widest_line(const char *text) {
  char line[1024];
  size_t widest = 0;
  for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
    size_t length = strcspn(text, "\n");
    REQUIRE(length < sizeof line);
    memcpy(line, text, length);
    line[length] = '\0';
    size_t width = kmbi_utf8_width(line);
    if (width > widest) widest = width;
  }
  return widest;
}

static void findings_stand_below_rows_that_have_no_room(void) {
  kmb_results *list = NULL;
  REQUIRE_OK(kmb_results_create(NULL, &list));
  for (int i = 0; i < 2; i++) {
    const kmb_pair axes[] = {{"tokens", i ? "8" : "1"},
                             {"shape", i ? "4096x4096" : "14336x4096"},
                             {"routine", i ? "sgemm" : "sgemv"}};
    kmb_result *r = projection("gate", "1", 8050000);
    kmbi_result_set_axes(r, axes, 3);
    kmbi_result_set_f64(r, KMB_VALUE_ACHIEVED_FLOPS, 14.59e9);
    kmbi_result_set_text(r, KMB_VALUE_OBSERVED_BOUND, i ? "neither" : "memory");
    if (i == 0) {
      kmbi_result_find(r, KMB_FINDING_NOT_QUIET, KMB_NOTE, NULL, 0, "a");
      kmbi_result_find(r, KMB_FINDING_NOT_QUIET, KMB_WARNING, NULL, 0, "b");
      kmbi_result_find(r, KMB_FINDING_DRIFT, KMB_WARNING, NULL, 0, "c");
      kmbi_result_find(r, KMB_FINDING_DRIFT, KMB_WARNING, NULL, 0, "d");
      kmbi_result_find(r, KMB_FINDING_ABOVE_PEAK, KMB_DOUBT, NULL, 0, "e");
    }
    REQUIRE_OK(kmb_results_add(list, r));
  }
  char *text = table_of(list);
  REQUIRE_HAS(text, "87.2%  memory\n    ABOVE_PEAK NOT_QUIET DRIFT\ngate");
  REQUIRE_HAS(text, "87.2%  neither\n\n");
  REQUIRE(widest_line(text) <= KMBI_LINE_WIDTH);
  free(text);
  kmb_results_destroy(list);
}

static void what_rows_share_is_said_once(void) {
  kmb_results *list = projections();
  char *text = table_of(list);
  REQUIRE_HAS(text, "Readings\n"
                    "  q_proj tokens=1, k_proj: memory-bound: 40% (figures of "
                    "q_proj tokens=1; the others differ only in\n    theirs)\n"
                    "  q_proj tokens=8: neither\n");
  REQUIRE_HAS(text, "\nFindings\n"
                    "  doubt ABOVE_PEAK (k_proj): too fast\n"
                    "  note UNCALIBRATED (all rows): no zero\n");
  REQUIRE_HAS(text, "\nNot known\n"
                    "  %ceil (q_proj tokens=8): the cache's size is unknown\n");
  REQUIRE_HAS(text, "\nMeasured on\n  Some CPU\n  blas OpenBLAS\n");
  REQUIRE_HAS(text, "binds: memory 21.30 GB/s (read, measured)\n");
  free(text);
  kmb_results_destroy(list);
}

/* Four rows with a finding are named, five counted; of what stands in no row,
 * all are. */
static void many_rows_with_a_finding_are_counted(void) {
  kmb_results *list = NULL;
  REQUIRE_OK(kmb_results_create(NULL, &list));
  static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
  for (int i = 0; i < 6; i++) {
    kmb_result *r = projection(names[i], "1", 100);
    if (i < 4)
      kmbi_result_find(r, KMB_FINDING_DRIFT, KMB_NOTE, NULL, 0, "slow");
    if (i < 5) {
      kmbi_result_set_text(r, KMB_VALUE_READING, "same");
      kmbi_result_find(r, KMB_FINDING_BIMODAL, KMB_WARNING, NULL, 0, "two");
    }
    REQUIRE_OK(kmb_results_add(list, r));
  }
  char *text = table_of(list);
  REQUIRE_HAS(text, "  a, b, c, d, e: same\n");
  REQUIRE_HAS(text, "  warning BIMODAL (5 of 6 rows): two\n");
  REQUIRE_HAS(text, "  note DRIFT (a, b, c, d): slow\n");
  free(text);
  kmb_results_destroy(list);
}

static void rows_of_one_axis_are_named_by_it(void) {
  kmb_results *list = NULL;
  REQUIRE_OK(kmb_results_create(NULL, &list));
  static const char *const names[] = {"a", "b", "c", "d"};
  for (int i = 0; i < 8; i++) {
    kmb_result *r = projection(names[i % 4], i < 4 ? "1" : "8", 100);
    if (i < 4) kmbi_result_set_text(r, KMB_VALUE_READING, "same");
    if (i == 1 || i == 2 || i == 5)
      kmbi_result_find(r, KMB_FINDING_DRIFT, KMB_NOTE, NULL, 0, "by %d ms", i);
    REQUIRE_OK(kmb_results_add(list, r));
  }
  char *text = table_of(list);
  REQUIRE_HAS(text, "  all rows with tokens=1: same\n");
  REQUIRE_HAS(text, "note DRIFT (b tokens=1, c tokens=1, b tokens=8): by 1 ms "
                    "(figures of b tokens=1;");
  free(text);
  kmb_results_destroy(list);
}

static void two_findings_of_a_row_are_one_row(void) {
  kmb_results *list = NULL;
  REQUIRE_OK(kmb_results_create(NULL, &list));
  kmb_result *r = projection("a", "1", 100);
  kmbi_result_find(r, KMB_FINDING_DRIFT, KMB_NOTE, NULL, 0, "by 1");
  kmbi_result_find(r, KMB_FINDING_DRIFT, KMB_NOTE, NULL, 0, "by 2");
  REQUIRE_OK(kmb_results_add(list, r));
  REQUIRE_OK(kmb_results_add(list, projection("b", "1", 100)));
  char *text = table_of(list);
  REQUIRE_HAS(text, "note DRIFT (a): by 1");
  free(text);
  kmb_results_destroy(list);
}

static void one_row_is_called_by_its_name(void) {
  kmb_results *list = NULL;
  REQUIRE_OK(kmb_results_create(NULL, &list));
  kmb_result *r = projection("a", "1", 100);
  kmbi_result_find(r, KMB_FINDING_DRIFT, KMB_NOTE, NULL, 0, "by 1");
  kmbi_result_find(r, KMB_FINDING_DRIFT, KMB_NOTE, NULL, 0, "by ");
  kmbi_result_find(r, KMB_FINDING_DRIFT, KMB_NOTE, NULL, 0, "by x");
  REQUIRE_OK(kmb_results_add(list, r));
  char *text = table_of(list);
  REQUIRE_HAS(text, "  note DRIFT (a): by 1\n"
                    "  note DRIFT (a): by\n"
                    "  note DRIFT (a): by x\n");
  free(text);
  kmb_results_destroy(list);
}

static void rows_that_differ_are_not_summed_up(void) {
  kmb_results *list = NULL;
  REQUIRE_OK(kmb_results_create(NULL, &list));
  kmb_result *r = projection("a", "1", 100);
  kmbi_result_set_u64(r, KMB_VALUE_LLC_BYTES, 2 << 20);
  REQUIRE_OK(kmb_results_add(list, r));
  r = projection("b", "1", 100);
  kmbi_result_meta(r, "device.name", "Other CPU", NULL);
  kmbi_result_set_u64(r, KMB_VALUE_LLC_BYTES, 1 << 20);
  REQUIRE_OK(kmb_results_add(list, r));
  char *text = table_of(list);
  REQUIRE_HAS(text, "Some CPU (rows differ)");
  REQUIRE_HAS(text, "last-level cache 2 MiB (rows differ)");
  free(text);
  kmb_results_destroy(list);
}

static void names_cannot_steer_the_terminal(void) {
  kmb_results *list = NULL;
  REQUIRE_OK(kmb_results_create(NULL, &list));
  kmb_result *r = projection("a\x1b[2J\nb\xC2\x9B"
                             "c",
                             "1\t", 100);
  kmbi_result_find(r, KMB_FINDING_DRIFT, KMB_NOTE, NULL, 0, "x\x1b[2J");
  char *text = text_of(r);
  REQUIRE(!strchr(text, 0x1b) && !strstr(text, "\xC2\x9B"));
  free(text);
  REQUIRE_OK(kmb_results_add(list, r));
  text = table_of(list);
  REQUIRE(!strchr(text, 0x1b) && !strstr(text, "\xC2\x9B"));
  REQUIRE_HAS(text, "\na [2J b c  4096");
  free(text);
  kmb_results_destroy(list);
}

static void an_empty_list_is_said_to_be_empty(void) {
  kmb_results *list = NULL;
  REQUIRE_OK(kmb_results_create(NULL, &list));
  char *text = table_of(list);
  REQUIRE_STR(text, "no results\n");
  free(text);
  kmb_results_destroy(list);
}

static void lines_are_broken_at_spaces(void) {
  kmb_result *r = projection("a", "1", 100);
  char words[400];
  for (size_t i = 0; i < sizeof words; i++)
    words[i] = i % 8 == 7 ? ' ' : 'w';
  words[sizeof words - 1] = '\0';
  kmbi_result_set_text(r, KMB_VALUE_READING, words);
  char *text = text_of(r);
  char *line = strtok(strstr(text, "  reading"), "\n");
  for (int i = 0; i < 4; i++, line = strtok(NULL, "\n"))
    REQUIRE(line && strlen(line) <= KMBI_LINE_WIDTH && strlen(line) > 80);
  free(text);
  kmb_result_destroy(r);
}

static void callbacks_decide_the_status(void) {
  kmb_results *list = projections();
  const kmb_result *r = NULL;
  REQUIRE_OK(kmb_results_get(list, 0, &r));
  sink s = {.status = 42};
  REQUIRE_STATUS(kmb_result_write_text(r, sink_write, &s), 42);
  REQUIRE_STATUS(kmb_results_write_table(list, sink_write, &s), 42);
  s.status = KMB_ERR_IO;
  REQUIRE_STATUS(kmb_results_write_table(list, sink_write, &s), KMB_ERR_IO);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "write callback");
  REQUIRE_STATUS(kmb_result_write_text(NULL, sink_write, &s), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_result_write_text(r, NULL, &s), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_results_write_table(NULL, sink_write, &s),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_results_write_table(list, NULL, &s), KMB_ERR_INVALID);
  kmb_results_destroy(list);
}

int main(void) {
  RUN(numbers_have_four_digits_and_a_unit);
  RUN(one_result_is_a_readable_block);
  RUN(a_result_without_a_time_says_so);
  RUN(every_section_shows);
  RUN(the_reading_has_a_fixed_order);
  RUN(several_operations_have_a_short_table);
  RUN(the_gravest_finding_comes_first);
  RUN(an_interval_below_zero_is_not_clamped);
  RUN(a_share_in_a_message_has_no_exponent);
  RUN(a_huge_percentage_stays_readable);
  RUN(the_distance_of_reuse_is_said_once);
  RUN(long_names_are_short_in_the_grid_alone);
  RUN(a_list_is_an_aligned_table);
  RUN(findings_stand_below_rows_that_have_no_room);
  RUN(what_rows_share_is_said_once);
  RUN(many_rows_with_a_finding_are_counted);
  RUN(rows_of_one_axis_are_named_by_it);
  RUN(two_findings_of_a_row_are_one_row);
  RUN(one_row_is_called_by_its_name);
  RUN(rows_that_differ_are_not_summed_up);
  RUN(names_cannot_steer_the_terminal);
  RUN(an_empty_list_is_said_to_be_empty);
  RUN(lines_are_broken_at_spaces);
  RUN(callbacks_decide_the_status);
  return 0;
}
