/* Code that a result lists: to JSON and back, what is refused, its text, and
 * when two results' code is the same. */
#include "samples.h"

static char *to_json(const kmb_results *results) {
  sink s = {0};
  REQUIRE_OK(kmb_results_write_json(results, sink_write, &s));
  return s.data;
}

static void every_member_comes_back(void) {
  kmb_results *first = NULL, *second = NULL;
  const kmb_result *r = NULL;
  kmb_code_kernel want[] = {kmb_code_kernel_init(), kmb_code_kernel_init()};
  kmb_code_kernel got = kmb_code_kernel_init();
  fill_kernels(want);
  REQUIRE_OK(kmb_results_create(NULL, &first));
  REQUIRE_OK(kmb_results_add(first, make_sample("a")));
  char *text = to_json(first);
  REQUIRE_OK(read_text(text, strlen(text), &second));
  REQUIRE_OK(kmb_results_get(second, 0, &r));
  REQUIRE_EQ(kmb_result_code_count(r), 2);
  REQUIRE_OK(kmb_result_code(r, 0, &got));
  REQUIRE_STR(got.name, want[0].name);
  REQUIRE_STR(got.demangled, want[0].demangled);
  REQUIRE_STR(got.arch, want[0].arch);
  REQUIRE_STR(got.hash, want[0].hash);
  REQUIRE_STR(got.code_hash, want[0].code_hash);
  REQUIRE_STR(got.file, want[0].file);
  REQUIRE(!got.reason);
  REQUIRE(got.launches == UINT64_MAX);
  REQUIRE_EQ(got.registers, 168);
  REQUIRE_EQ(got.static_shared_bytes, 1024);
  REQUIRE_EQ(got.dynamic_shared_bytes, 65536);
  REQUIRE_EQ(got.local_bytes, 16);
  REQUIRE_EQ(got.max_threads, 384);
  REQUIRE_EQ(got.blocks_per_unit, 1);
  REQUIRE_EQ(got.code_offset, 64);
  REQUIRE_EQ(got.code_bytes, 4096);
  REQUIRE_EQ(got.scalar_registers, 96);
  REQUIRE_EQ(got.accumulator_registers, 4);
  REQUIRE_EQ(got.spilled_registers, 18);
  REQUIRE_EQ(got.spilled_scalar_registers, 2);
  REQUIRE(got.grid_x == UINT32_MAX && got.grid_y == 2 && got.grid_z == 3);
  REQUIRE(got.block_x == 384 && got.block_y == 1 && got.block_z == 1);
  REQUIRE_EQ(got.flags, want[0].flags);
  REQUIRE_OK(kmb_result_code(r, 1, &got));
  REQUIRE_STR(got.name, "cop\xEF\xBF\xBDy");
  REQUIRE_STR(got.reason, want[1].reason);
  REQUIRE_STR(got.arch, "");
  REQUIRE(!got.hash && !got.code_hash && !got.file && !got.demangled);
  REQUIRE_EQ(got.flags, 0);
  REQUIRE_STATUS(kmb_result_code(r, 2, &got), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_result_code(NULL, 0, &got), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_result_code(r, 0, NULL), KMB_ERR_INVALID);
  REQUIRE_EQ(kmb_result_code_count(NULL), 0);
  char *again = to_json(second);
  REQUIRE_STR(again, text);
  free(again);
  free(text);
  kmb_results_destroy(first);
  kmb_results_destroy(second);
}

static kmb_status read_code(const char *code, kmb_results **list) {
  char text[2048];
  snprintf(text, sizeof text,
           "{\"schema\": \"kmb-result\", \"version\": 1, \"results\": "
           "[{\"axes\": [], \"absent\": {}, \"findings\": [], "
           "\"samples_ns\": [], \"metadata\": {}, \"metadata_absent\": {}, "
           "\"code\": %s}]}",
           code);
  return read_text(text, strlen(text), list);
}

#define HEAD "[{\"name\": \"k\", "
#define SIZES "\"grid\": [1, 1, 1], \"block\": [32, 1, 1], "
#define COUNTS "\"launches\": 1, \"dynamic_shared_bytes\": 0"
#define HASH "\"sha256\": \"" SAMPLE_HASH "00\""

static void what_is_no_code_is_refused(void) {
  static const struct {
    const char *code, *words;
  } bad[] = {
      {"{}", "not an array"},
      {"[1]", "not objects"},
      {HEAD COUNTS "}]", "grid and block"},
      {HEAD "\"grid\": [1, 1], \"block\": [1, 1, 1], " COUNTS "}]",
       "grid and block"},
      {HEAD "\"grid\": [1, 1, 4294967296], \"block\": [1, 1, 1], " COUNTS "}]",
       "grid and block"},
      {"[{" SIZES COUNTS "}]", "needs a name"},
      {HEAD SIZES COUNTS ", \"file\": 1}]", "are strings"},
      {HEAD SIZES "\"launches\": 1}]", "launches and dynamic_shared_bytes"},
      {HEAD SIZES COUNTS ", \"registers\": 1}]", "together or not at all"},
      {HEAD SIZES COUNTS ", \"local_bytes\": 1}]", "together or not at all"},
      {HEAD SIZES COUNTS ", \"blocks_per_unit\": -1}]", "the counts"},
      {HEAD SIZES COUNTS ", \"code_bytes\": 1}]", "together or not at all"},
      {HEAD SIZES COUNTS ", \"spilled_registers\": 1}]",
       "together or not at all"},
      {HEAD SIZES COUNTS ", \"scalar_registers\": -1}]", "the counts"},
      {HEAD SIZES COUNTS ", \"sha256\": \"00ff\"}]", "64 hexadecimal digits"},
      {HEAD SIZES COUNTS ", \"sha256\": \"" SAMPLE_HASH "0G\"}]",
       "64 hexadecimal digits"},
      {HEAD SIZES COUNTS ", \"file\": \"k.cubin\"}]", "need sha256"},
      {HEAD SIZES COUNTS ", \"file\": \"../k.cubin\", " HASH "}]",
       "without a folder"},
      {HEAD SIZES COUNTS ", \"file\": \"a/k.cubin\", " HASH "}]",
       "without a folder"},
      {HEAD SIZES COUNTS ", \"file\": \"\", " HASH "}]", "without a folder"},
      {HEAD SIZES COUNTS ", \"file\": \"..\", " HASH "}]", "without a folder"},
      {HEAD SIZES COUNTS ", \"code_sha256\": \"" SAMPLE_HASH "00\", " HASH "}]",
       "needs code_offset"},
  };
  kmb_results *list = NULL;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    REQUIRE_STATUS(read_code(bad[i].code, &list), KMB_ERR_FORMAT);
    REQUIRE_HAS(kmb_last_error(NULL, NULL), "results[0].code: ");
    REQUIRE_HAS(kmb_last_error(NULL, NULL), bad[i].words);
  }
  REQUIRE_OK(read_code(HEAD SIZES COUNTS ", \"file\": \"k.cubin\", "
                                         "\"later\": [], " HASH "}]",
                       &list));
  kmb_results_destroy(list);
}

static void what_is_known_of_a_kernel_comes_back_alone(void) {
  static const char *const parts[] = {
      (", \"registers\": 1, \"static_shared_bytes\": 2, \"local_bytes\": 3, "
       "\"max_threads\": 4}]"),
      ", \"blocks_per_unit\": 5}]", ", \"scalar_registers\": 6}]",
      ", \"accumulator_registers\": 7}]",
      ", \"spilled_registers\": 8, \"spilled_scalar_registers\": 9}]"};
  static const char *const other[] = {"blocks_per_unit", "\"registers",
                                      "accumulator", "scalar", "accumulator"};
  const uint32_t flags[] = {KMB_CODE_HAS_ATTRIBUTES, KMB_CODE_HAS_OCCUPANCY,
                            KMB_CODE_HAS_SCALARS, KMB_CODE_HAS_ACCUMULATORS,
                            KMB_CODE_HAS_SPILLS};
  for (int i = 0; i < 5; i++) {
    char code[1024];
    kmb_results *list = NULL;
    const kmb_result *r = NULL;
    kmb_code_kernel k = kmb_code_kernel_init();
    snprintf(code, sizeof code, "%s%s", HEAD SIZES COUNTS, parts[i]);
    REQUIRE_OK(read_code(code, &list));
    REQUIRE_OK(kmb_results_get(list, 0, &r));
    REQUIRE_OK(kmb_result_code(r, 0, &k));
    REQUIRE_EQ(k.flags, flags[i]);
    char *text = to_json(list);
    REQUIRE(!strstr(text, other[i]));
    free(text);
    kmb_results_destroy(list);
  }
}

static void a_list_may_be_full_and_no_fuller(void) {
  static const char one[] = "{\"name\": \"k\", " SIZES COUNTS "}";
  for (size_t count = 256; count <= 257; count++) {
    sink s = {0};
    kmb_results *list = NULL;
    char head[] = "{\"schema\": \"kmb-result\", \"version\": 1, \"results\": "
                  "[{\"axes\": [], \"absent\": {}, \"findings\": [], "
                  "\"samples_ns\": [], \"metadata\": {}, \"metadata_absent\": "
                  "{}, \"code\": [";
    sink_write(&s, head, strlen(head));
    for (size_t i = 0; i < count; i++) {
      if (i) sink_write(&s, ",", 1);
      sink_write(&s, one, strlen(one));
    }
    sink_write(&s, "]}]}", 4);
    REQUIRE_EQ(read_text(s.data, s.size, &list),
               count == 256 ? KMB_OK : KMB_ERR_FORMAT);
    kmb_results_destroy(list);
    free(s.data);
  }
}

static void a_text_tells_the_code(void) {
  sink s = {0};
  kmb_result *r = make_sample("a");
  REQUIRE_OK(kmb_result_write_text(r, sink_write, &s));
  REQUIRE_HAS(s.data, "2 kernels captured; 3 launches of graphs or in other");
  REQUIRE_HAS(s.data, "gemm(float*) for sm_90: 168 registers, 96 scalar,");
  REQUIRE_HAS(s.data, "4 accumulator, 18 and 2 scalar");
  REQUIRE_HAS(s.data, "spilled, local 16 B, shared 1024 B");
  REQUIRE_HAS(s.data, "in _Z4gemmPf.cubin");
  REQUIRE_HAS(s.data, "its image was loaded before the capture");
  free(s.data);
  kmb_result_destroy(r);
}

/* Matches. */

typedef struct row {
  const char *name, *image, *code; /* last digits of the hashes */
} row;

static const char *hash_of(const char *digits, char text[65]) {
  if (!digits) return NULL;
  snprintf(text, 65, "%s%s", SAMPLE_HASH, digits);
  return text;
}

static kmb_result *with(const row *rows, size_t count, uint64_t omitted,
                        uint64_t unseen) {
  kmbi_memory memory = kmbi_memory_from(NULL);
  kmb_result *result = NULL;
  kmb_code_kernel kernels[4];
  char hashes[8][65];
  REQUIRE_OK(kmbi_result_create(&memory, &result));
  for (size_t i = 0; i < count; i++) {
    kernels[i] = kmb_code_kernel_init();
    kernels[i].name = rows[i].name;
    kernels[i].arch = "";
    kernels[i].hash = hash_of(rows[i].image, hashes[2 * i]);
    kernels[i].code_hash = hash_of(rows[i].code, hashes[2 * i + 1]);
  }
  if (count) kmbi_result_set_kernels(result, kernels, count);
  kmbi_result_set_u64(result, KMB_VALUE_CODE_OMITTED, omitted);
  kmbi_result_set_u64(result, KMB_VALUE_CODE_UNSEEN, unseen);
  REQUIRE_OK(kmbi_result_finish(&result));
  return result;
}

/* Of one kernel each. */
static kmb_code_match match(row a, row b) {
  kmb_result *x = with(&a, 1, 0, 0), *y = with(&b, 1, 0, 0);
  kmb_code_match found = kmb_result_code_match(x, y);
  kmb_code_pair pair = kmb_code_pair_init();
  REQUIRE_EQ(kmb_result_code_match(y, x), found);
  REQUIRE_EQ(kmb_result_code_pair_count(x, y), 1);
  REQUIRE_OK(kmb_result_code_pair(x, y, 0, &pair));
  REQUIRE_EQ(pair.match, found);
  REQUIRE_EQ(pair.reason != NULL, found == KMB_CODE_UNKNOWN);
  REQUIRE_STR(pair.a, a.name);
  REQUIRE_STR(pair.b, b.name);
  kmb_result_destroy(x);
  kmb_result_destroy(y);
  return found;
}

static void hashes_tell_the_same_code(void) {
  /* Instructions decide; images may differ beside them. */
  REQUIRE_EQ(match((row){"k", "00", "0a"}, (row){"k", "11", "0a"}),
             KMB_CODE_SAME);
  REQUIRE_EQ(match((row){"k", "00", "0a"}, (row){"k", "00", "0b"}),
             KMB_CODE_DIFFERENT);
  REQUIRE_EQ(match((row){"k", "00", "0a"}, (row){"q", "11", "0a"}),
             KMB_CODE_SAME);
  /* Without them an image is the same, or nothing is known. */
  REQUIRE_EQ(match((row){"k", "00", NULL}, (row){"k", "00", NULL}),
             KMB_CODE_SAME);
  REQUIRE_EQ(match((row){"k", "00", NULL}, (row){"k", "00", "0a"}),
             KMB_CODE_SAME);
  REQUIRE_EQ(match((row){"k", "00", NULL}, (row){"q", "00", NULL}),
             KMB_CODE_UNKNOWN);
  REQUIRE_EQ(match((row){"k", "00", NULL}, (row){"k", "11", NULL}),
             KMB_CODE_UNKNOWN);
  REQUIRE_EQ(match((row){"k", NULL, NULL}, (row){"k", "00", "0a"}),
             KMB_CODE_UNKNOWN);
  REQUIRE_EQ(match((row){"k", NULL, NULL}, (row){"k", NULL, NULL}),
             KMB_CODE_UNKNOWN);
}

static void kernels_of_one_name_are_partners(void) {
  const row a[] = {{"k", "00", "0a"}, {"k", "00", "0a"}, {"q", "00", "0b"}};
  const row b[] = {{"q", "11", "0b"}, {"k", "11", "0c"}, {"z", "11", "0d"}};
  kmb_result *x = with(a, 3, 0, 0), *y = with(b, 3, 0, 0);
  kmb_code_pair pair = kmb_code_pair_init();
  REQUIRE_EQ(kmb_result_code_pair_count(x, y), 3);
  REQUIRE_OK(kmb_result_code_pair(x, y, 0, &pair));
  REQUIRE_STR(pair.b, "k");
  REQUIRE_EQ(pair.match, KMB_CODE_DIFFERENT);
  REQUIRE_OK(kmb_result_code_pair(x, y, 1, &pair));
  REQUIRE_STR(pair.a, "q");
  REQUIRE_EQ(pair.match, KMB_CODE_SAME);
  REQUIRE_OK(kmb_result_code_pair(x, y, 2, &pair));
  REQUIRE(!pair.a);
  REQUIRE_STR(pair.b, "z");
  REQUIRE_EQ(pair.match, KMB_CODE_DIFFERENT);
  REQUIRE_OK(kmb_result_code_pair(y, x, 2, &pair));
  REQUIRE(!pair.b);
  REQUIRE_STR(pair.a, "z");
  REQUIRE_STATUS(kmb_result_code_pair(x, y, 3, &pair), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_result_code_pair(x, NULL, 0, &pair), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_result_code_pair(x, y, 0, NULL), KMB_ERR_INVALID);
  REQUIRE_EQ(kmb_result_code_match(x, y), KMB_CODE_DIFFERENT);
  REQUIRE_EQ(kmb_result_code_match(x, x), KMB_CODE_SAME);
  /* Only where each has one alone, other names are partners. */
  kmb_result *one = with(&(row){"other", "00", "0a"}, 1, 0, 0);
  REQUIRE_EQ(kmb_result_code_pair_count(one, x), 3);
  REQUIRE_EQ(kmb_result_code_pair_count(x, one), 3);
  kmb_result_destroy(one);
  kmb_result_destroy(x);
  kmb_result_destroy(y);
}

/* What was not seen may be what is missed, and may be another. */
static void what_was_not_seen_leaves_it_open(void) {
  const row a[] = {{"k", "00", "0a"}, {"q", "00", "0b"}};
  kmb_code_pair pair = kmb_code_pair_init();
  kmb_result *x = with(a, 2, 0, 0);
  for (uint64_t omitted = 0; omitted < 2; omitted++) {
    kmb_result *same = with(a, 2, omitted, !omitted);
    kmb_result *less = with(a, 1, omitted, !omitted);
    REQUIRE_EQ(kmb_result_code_match(x, same), KMB_CODE_UNKNOWN);
    REQUIRE_EQ(kmb_result_code_match(same, x), KMB_CODE_UNKNOWN);
    REQUIRE_EQ(kmb_result_code_match(x, less), KMB_CODE_UNKNOWN);
    REQUIRE_OK(kmb_result_code_pair(x, less, 1, &pair));
    REQUIRE_EQ(pair.match, KMB_CODE_UNKNOWN);
    REQUIRE_HAS(pair.reason, "does not list all");
    REQUIRE_OK(kmb_result_code_pair(x, less, 0, &pair));
    REQUIRE_EQ(pair.match, KMB_CODE_SAME);
    kmb_result_destroy(same);
    kmb_result_destroy(less);
  }
  kmb_result *none = with(a, 0, 0, 0);
  REQUIRE_EQ(kmb_result_code_match(x, none), KMB_CODE_UNKNOWN);
  REQUIRE_EQ(kmb_result_code_match(none, none), KMB_CODE_UNKNOWN);
  REQUIRE_EQ(kmb_result_code_match(NULL, x), KMB_CODE_UNKNOWN);
  REQUIRE_EQ(kmb_result_code_pair_count(x, NULL), 0);
  REQUIRE_OK(kmb_result_code_pair(none, x, 0, &pair));
  REQUIRE_EQ(pair.match, KMB_CODE_UNKNOWN);
  kmb_result_destroy(x);
  kmb_result_destroy(none);
}

static void a_name_of_several_codes_is_not_told(void) {
  const row a[] = {{"k", "00", "0a"}, {"k", "11", "0b"}};
  const row half[] = {{"k", "00", "0a"}, {"k", NULL, NULL}};
  const row b[] = {{"k", "00", "0a"}};
  kmb_code_pair pair = kmb_code_pair_init();
  kmb_result *x = with(a, 2, 0, 0), *y = with(b, 1, 0, 0);
  kmb_result *z = with(half, 2, 0, 0);
  REQUIRE_OK(kmb_result_code_pair(x, y, 0, &pair));
  REQUIRE_EQ(pair.match, KMB_CODE_UNKNOWN);
  REQUIRE_HAS(pair.reason, "several images");
  REQUIRE_EQ(kmb_result_code_match(y, x), KMB_CODE_UNKNOWN);
  REQUIRE_EQ(kmb_result_code_match(y, z), KMB_CODE_UNKNOWN);
  kmb_result_destroy(x);
  kmb_result_destroy(y);
  kmb_result_destroy(z);
}

static void matches_have_names(void) {
  REQUIRE_STR(kmb_code_match_name(KMB_CODE_SAME), "same code");
  REQUIRE_STR(kmb_code_match_name(KMB_CODE_DIFFERENT), "different code");
  REQUIRE_STR(kmb_code_match_name(KMB_CODE_UNKNOWN), "unknown code");
  REQUIRE_STR(kmb_code_match_name(77), "unknown code");
}

int main(void) {
  RUN(every_member_comes_back);
  RUN(what_is_no_code_is_refused);
  RUN(what_is_known_of_a_kernel_comes_back_alone);
  RUN(a_list_may_be_full_and_no_fuller);
  RUN(a_text_tells_the_code);
  RUN(hashes_tell_the_same_code);
  RUN(kernels_of_one_name_are_partners);
  RUN(what_was_not_seen_leaves_it_open);
  RUN(a_name_of_several_codes_is_not_told);
  RUN(matches_have_names);
  return 0;
}
