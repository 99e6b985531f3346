/* The table of peaks, and files that extend it. */
#include "require.h"

#include "memory.h"

#include <kmb/roofline.h>

#include <stdlib.h>

static const kmb_part *part_of(const char *name) {
  const kmb_part *part = NULL;
  REQUIRE_OK(kmb_peaks_lookup(NULL, name, &part));
  return part;
}

static double peak_of(const char *name, kmb_ceiling_kind kind, kmb_dtype dtype,
                      uint32_t flags) {
  kmb_ceiling c = kmb_ceiling_init();
  REQUIRE_OK(kmb_part_ceiling(part_of(name), kind, dtype, flags, &c));
  REQUIRE_EQ(c.source, KMB_SOURCE_DATASHEET);
  REQUIRE_EQ(c.flags, flags);
  REQUIRE(c.variant && c.reference);
  return c.value;
}

static double ridge_of(const char *name, kmb_dtype dtype) {
  return peak_of(name, KMB_CEILING_MATRIX, dtype, 0) /
         peak_of(name, KMB_CEILING_MEMORY, 0, 0);
}

static void ridges_are_those_of_the_datasheets(void) {
  REQUIRE_NEAR(ridge_of("H100 SXM", KMB_BF16), 295.3, 0.05);
  REQUIRE_NEAR(ridge_of("H200", KMB_BF16), 206, 0.2);
  REQUIRE_NEAR(ridge_of("B200", KMB_BF16), 292, 0.3);
  REQUIRE_NEAR(ridge_of("A100-SXM4-80GB", KMB_BF16), 153, 0.1);
  REQUIRE_NEAR(ridge_of("MI300X", KMB_BF16), 247, 0.4);
  REQUIRE_NEAR(ridge_of("MI355X", KMB_BF16), 315, 0.5);
  REQUIRE_NEAR(ridge_of("RTX 4090", KMB_BF16), 164, 0.2);
  REQUIRE_NEAR(ridge_of("RTX 5090", KMB_BF16), 117, 0.2);
}

/* Field case F30: dense unless sparse is asked for. */
static void f30_sparse_only_if_asked_for(void) {
  const kmb_ceiling_kind m = KMB_CEILING_MATRIX;
  REQUIRE_NEAR(peak_of("H100 SXM", m, KMB_BF16, 0), 989.4e12, 1e6);
  REQUIRE_NEAR(peak_of("H100 PCIe", m, KMB_BF16, 0), 756.5e12, 1e6);
  REQUIRE_NEAR(peak_of("H100 NVL", m, KMB_BF16, 0), 835.5e12, 1e6);
  REQUIRE_NEAR(peak_of("H100 SXM", m, KMB_BF16, KMB_CEILING_SPARSE), 1978.8e12,
               1e6);
  kmb_ceiling c = kmb_ceiling_init();
  REQUIRE_STATUS(
      kmb_part_ceiling(part_of("T4"), m, KMB_F16, KMB_CEILING_SPARSE, &c),
      KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "sparse");
  REQUIRE_STATUS(
      kmb_part_ceiling(part_of("B300"), m, KMB_F4_E2M1, KMB_CEILING_SPARSE, &c),
      KMB_ERR_UNAVAILABLE);
}

static void each_dtype_has_its_column(void) {
  const kmb_ceiling_kind m = KMB_CEILING_MATRIX, v = KMB_CEILING_FMA;
  const char *h = "H100 SXM";
  REQUIRE_NEAR(peak_of(h, v, KMB_F64, 0), 33.5e12, 1e6);
  REQUIRE_NEAR(peak_of(h, m, KMB_F64, 0), 66.9e12, 1e6);
  REQUIRE_NEAR(peak_of(h, v, KMB_F32, 0), 66.9e12, 1e6);
  REQUIRE_NEAR(peak_of(h, m, KMB_TF32, 0), 494.7e12, 1e6);
  REQUIRE_NEAR(peak_of(h, m, KMB_F16, 0), 989.4e12, 1e6);
  REQUIRE_NEAR(peak_of(h, m, KMB_F8_E4M3, 0), 1978.9e12, 1e6);
  REQUIRE_NEAR(peak_of(h, m, KMB_F8_E5M2, 0), 1978.9e12, 1e6);
  REQUIRE_NEAR(peak_of(h, m, KMB_I8, 0), 1978.9e12, 1e6);
  REQUIRE_NEAR(peak_of(h, m, KMB_U8, 0), 1978.9e12, 1e6);
  REQUIRE_NEAR(peak_of("B200", m, KMB_F4_E2M1, 0), 9000e12, 1e6);
  REQUIRE_NEAR(peak_of("MI250X", m, KMB_F32, 0), 47.9e12, 1e6);
  REQUIRE_NEAR(peak_of("MI250X", v, KMB_F32, 0), 23.9e12, 1e6);
  kmb_ceiling c = kmb_ceiling_init();
  REQUIRE_STATUS(kmb_part_ceiling(part_of(h), m, KMB_F32, 0, &c),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_STATUS(kmb_part_ceiling(part_of(h), v, KMB_BF16, 0, &c),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_STATUS(kmb_part_ceiling(part_of(h), m, KMB_F4_E2M1, 0, &c),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "f4_e2m1");
  REQUIRE_STATUS(kmb_part_ceiling(part_of(h), 0, KMB_I32, 0, &c),
                 KMB_ERR_UNAVAILABLE);
}

/* Kind 0 is the faster of vector and matrix units. */
static void without_a_kind_it_is_the_faster(void) {
  kmb_ceiling c = kmb_ceiling_init();
  REQUIRE_OK(kmb_part_ceiling(part_of("H100 SXM"), 0, KMB_F64, 0, &c));
  REQUIRE_EQ(c.kind, KMB_CEILING_MATRIX);
  REQUIRE_NEAR(c.value, 66.9e12, 1e6);
  REQUIRE_OK(kmb_part_ceiling(part_of("H100 SXM"), 0, KMB_F32, 0, &c));
  REQUIRE_EQ(c.kind, KMB_CEILING_FMA);
  REQUIRE_OK(kmb_part_ceiling(part_of("A10"), 0, KMB_F64, 0, &c));
  REQUIRE_EQ(c.kind, KMB_CEILING_FMA);
  REQUIRE_EQ(c.dtype, KMB_F64);
}

static void ceilings_refuse(void) {
  const kmb_part *part = part_of("H100 SXM");
  kmb_ceiling c = kmb_ceiling_init();
  REQUIRE_STATUS(kmb_part_ceiling(NULL, 0, KMB_F64, 0, &c), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_part_ceiling(part, 0, KMB_F64, 0, NULL), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_part_ceiling(part, 0, 99, 0, &c), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_part_ceiling(part, 0, KMB_F64, 2, &c), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_part_ceiling(part, KMB_CEILING_COPY, 0, 0, &c),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_part_rate(part, KMB_CEILING_MEMORY, 0, 0, 1, &c),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_part_rate(part, 0, KMB_BF16, 0, 0, &c), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "clock");
  REQUIRE_STATUS(kmb_part_rate(part, 0, KMB_BF16, 0, -1, &c), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_part_rate(part, 0, KMB_BF16, 0, 1.0 / 0.0, &c),
                 KMB_ERR_INVALID);
}

static void a_rate_beyond_all_numbers_is_invalid(void) {
  kmb_ceiling c = kmb_ceiling_init();
  REQUIRE_STATUS(kmb_part_rate(part_of("H100 SXM"), 0, KMB_BF16, 0, 1e305, &c),
                 KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "1e+305 MHz");
  REQUIRE_NEAR(c.value, 0, 0);
}

static double rate_of(const char *name, kmb_ceiling_kind kind, kmb_dtype dtype,
                      uint64_t units, double mhz) {
  kmb_ceiling c = kmb_ceiling_init();
  REQUIRE_OK(kmb_part_rate(part_of(name), kind, dtype, units, mhz, &c));
  REQUIRE_EQ(c.source, KMB_SOURCE_RATE);
  REQUIRE(c.reference);
  return c.value;
}

/* Clocks at which the datasheet's figures were made. */
static void rates_give_the_datasheets_figures_at_its_clocks(void) {
  const kmb_ceiling_kind m = KMB_CEILING_MATRIX, v = KMB_CEILING_FMA;
  REQUIRE_NEAR(rate_of("H100 SXM", m, KMB_BF16, 0, 1830), 989.4e12, 0.1e12);
  REQUIRE_NEAR(rate_of("H100 SXM", m, KMB_BF16, 0, 1980), 1070e12, 1e12);
  REQUIRE_NEAR(rate_of("H100 SXM", v, KMB_F32, 0, 1980), 66.9e12, 0.1e12);
  REQUIRE_NEAR(rate_of("A10", m, KMB_BF16, 0, 1695), 125e12, 0.1e12);
  REQUIRE_NEAR(rate_of("RTX 4090", m, KMB_BF16, 0, 2520), 165.2e12, 0.1e12);
  REQUIRE_NEAR(rate_of("RTX 5090", m, KMB_F4_E2M1, 0, 2407), 1676e12, 1e12);
  REQUIRE_NEAR(rate_of("MI300X", m, KMB_F8_E4M3, 0, 2100), 2614.9e12, 0.1e12);
  REQUIRE_NEAR(rate_of("MI250X", m, KMB_F32, 0, 1700), 47.9e12, 0.1e12);
  REQUIRE_NEAR(rate_of("H100 SXM", m, KMB_BF16, 66, 1830), 494.7e12, 0.1e12);
  /* No published figure, but a rate. */
  REQUIRE_NEAR(rate_of("RTX PRO 6000 Blackwell Server", m, KMB_BF16, 0, 2493),
               480e12, 1e12);
}

static void capped_parts_are_never_computed(void) {
  kmb_ceiling c = kmb_ceiling_init();
  REQUIRE_STATUS(kmb_part_rate(part_of("H20"), 0, KMB_BF16, 0, 1980, &c),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_STATUS(
      kmb_part_rate(part_of("H800 SXM"), KMB_CEILING_FMA, KMB_F64, 0, 1980, &c),
      KMB_ERR_UNAVAILABLE);
  REQUIRE_STATUS(kmb_part_rate(part_of("H800 SXM"), KMB_CEILING_MATRIX, KMB_F64,
                               0, 1980, &c),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "must not be computed");
  REQUIRE_OK(kmb_part_rate(part_of("H800 SXM"), 0, KMB_BF16, 0, 1830, &c));
  REQUIRE_STATUS(kmb_part_rate(part_of("T4"), 0, KMB_BF16, 0, 1500, &c),
                 KMB_ERR_UNAVAILABLE);
}

/* Whether the item stands in the list of one of the rows from `from` on. */
static bool listed(const char *item, kmb_part_value list, uint64_t from) {
  for (uint64_t i = from; i < kmb_peaks_count(NULL); i++) {
    const kmb_part *part = NULL;
    const char *text = NULL, *rev = NULL;
    char items[320], revised[64];
    REQUIRE_OK(kmb_peaks_get(NULL, i, &part));
    if (kmb_part_text(part, list, &text)) continue;
    if (kmb_part_text(part, KMB_PART_PCI_REV, &rev)) rev = "";
    snprintf(items, sizeof items, "%s", text);
    for (char *at = strtok(items, "|"); at; at = strtok(NULL, "|")) {
      bool pci = list == KMB_PART_PCI_IDS;
      snprintf(revised, sizeof revised, "%s%s", at, pci ? rev : "");
      if (strcmp(revised, item) == 0) return true;
    }
  }
  return false;
}

static void nothing_names_two_rows(void) {
  static const kmb_part_value lists[] = {KMB_PART_NAME, KMB_PART_DRIVER_NAMES,
                                         KMB_PART_PCI_IDS};
  uint64_t seen = 0;
  for (uint64_t i = 0; i < kmb_peaks_count(NULL); i++)
    for (int k = 0; k < 3; k++) {
      const kmb_part *part = NULL;
      const char *text = NULL, *rev = NULL;
      REQUIRE_OK(kmb_peaks_get(NULL, i, &part));
      REQUIRE_OK(kmb_part_text(part, lists[k], &text));
      if (lists[k] != KMB_PART_PCI_IDS ||
          kmb_part_text(part, KMB_PART_PCI_REV, &rev))
        rev = "";
      for (const char *at = text; *at;
           at += strcspn(at, "|"), at += *at == '|') {
        char item[96];
        snprintf(item, sizeof item, "%.*s%s", (int)strcspn(at, "|"), at, rev);
        REQUIRE(listed(item, lists[k], i));
        if (listed(item, lists[k], i + 1)) REQUIRE_STR(item, "of one row");
        seen++;
      }
    }
  REQUIRE(seen > 120);
}

static void people_say_the_whole_name(void) {
  const kmb_part *part = NULL;
  const char *name = NULL;
  const char *const known[][2] = {
      {"NVIDIA H200", "H200 SXM"},      {"H200", "H200 SXM"},
      {"H200 SXM", "H200 SXM"},         {"H100 SXM", "H100 SXM5 80GB"},
      {"GeForce RTX 4090", "RTX 4090"}, {"Tesla T4", "T4"},
      {"MI300X", "Instinct MI300X"}};
  for (int i = 0; i < 7; i++) {
    REQUIRE_OK(kmb_peaks_lookup(NULL, known[i][0], &part));
    REQUIRE_OK(kmb_part_text(part, KMB_PART_NAME, &name));
    REQUIRE_STR(name, known[i][1]);
  }
  const char *const unknown[] = {"", "H100", "A100", "h200", "NVIDIA", "RTX"};
  for (int i = 0; i < 6; i++) {
    REQUIRE_STATUS(kmb_peaks_lookup(NULL, unknown[i], &part),
                   KMB_ERR_UNAVAILABLE);
    REQUIRE(!part);
  }
  REQUIRE_STATUS(kmb_peaks_lookup(NULL, "A100 SXM", &part),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "A100 SXM4 40GB, A100 SXM4 80GB");
  REQUIRE_STATUS(kmb_peaks_lookup(NULL, NULL, &part), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_peaks_lookup(NULL, "x", NULL), KMB_ERR_INVALID);
}

static void finding_needs_something_to_find(void) {
  const kmb_part *part = NULL;
  REQUIRE_STATUS(kmb_peaks_find(NULL, NULL, NULL, &part), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_peaks_find(NULL, "x", NULL, NULL), KMB_ERR_INVALID);
  const char *const bad[] = {"",           "10de",        "10de:233",
                             "10de-2335",  "10de:233x",   "10de:23355",
                             "10de:2335:", "10de:2335:a", "10de:2335:a1x"};
  for (int i = 0; i < 9; i++)
    REQUIRE_STATUS(kmb_peaks_find(NULL, "NVIDIA H200", bad[i], &part),
                   KMB_ERR_INVALID);
  REQUIRE_OK(kmb_peaks_find(NULL, NULL, "10de:2335:a1", &part));
  REQUIRE_STATUS(kmb_peaks_find(NULL, NULL, "10de:0000", &part),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE(!part);
}

static void values_have_their_kinds(void) {
  const kmb_part *part = part_of("H200"), *none = NULL;
  double number = 0;
  const char *text = NULL;
  REQUIRE_OK(kmb_part_f64(part, KMB_PART_L2, &number));
  REQUIRE_NEAR(number, 60, 0);
  REQUIRE_STATUS(kmb_part_f64(part, KMB_PART_NAME, &number), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_part_text(part, KMB_PART_L2, &text), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_part_f64(part, 0, &number), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_part_f64(part, 99, &number), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_part_f64(NULL, KMB_PART_L2, &number), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_part_f64(part, KMB_PART_L2, NULL), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_part_f64(part, KMB_PART_FP4, &number),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "fp4");
  REQUIRE_STATUS(kmb_part_text(part, KMB_PART_PCI_REV, &text),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_STATUS(kmb_peaks_get(NULL, 40, &none), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_peaks_get(NULL, 0, NULL), KMB_ERR_INVALID);
}

static void references_are_found_by_what_the_work_is(void) {
  const kmb_part *part = part_of("B200");
  kmb_reference r = kmb_reference_init();
  kmb_work work = kmb_work_init();
  REQUIRE_OK(kmb_work_gemm(512, 512, 512, KMB_BF16, &work));
  REQUIRE_OK(kmb_part_reference_for(part, &work, KMB_BOUND_COMPUTE, &r));
  REQUIRE_NEAR(r.value, 1745e12, 1); /* measured, before the rough one */
  REQUIRE_STR(r.hardware, "B200");
  REQUIRE_OK(kmb_part_reference_for(part, &work, KMB_BOUND_MEMORY, &r));
  REQUIRE_NEAR(r.value, 6e12, 1);
  REQUIRE_STR(r.kind, "rough reference");
  REQUIRE_OK(kmb_work_gemm(512, 512, 512, KMB_F8_E5M2, &work));
  REQUIRE_OK(kmb_part_reference_for(part, &work, KMB_BOUND_COMPUTE, &r));
  REQUIRE_NEAR(r.value, 3432.5e12, 1);
  work.operation = KMB_OPERATION_ATTENTION;
  REQUIRE_STATUS(kmb_part_reference_for(part, &work, KMB_BOUND_COMPUTE, &r),
                 KMB_ERR_UNAVAILABLE);
  work.dtype = KMB_BF16;
  REQUIRE_OK(kmb_part_reference_for(part, &work, KMB_BOUND_COMPUTE, &r));
  REQUIRE_NEAR(r.value, 1.6e15, 1);
  REQUIRE_OK(kmb_work_copy(1, &work));
  REQUIRE_OK(
      kmb_part_reference_for(part_of("H200"), &work, KMB_BOUND_MEMORY, &r));
  REQUIRE_NEAR(r.value, 3.9e12, 1);
  REQUIRE_STATUS(
      kmb_part_reference_for(part_of("T4"), &work, KMB_BOUND_MEMORY, &r),
      KMB_ERR_UNAVAILABLE);
  REQUIRE_STATUS(kmb_part_reference_for(NULL, &work, KMB_BOUND_MEMORY, &r),
                 KMB_ERR_INVALID);
  REQUIRE_EQ(kmb_part_reference_count(part), 6);
  REQUIRE_EQ(kmb_part_reference_count(NULL), 0);
  for (uint64_t i = 0; i < 6; i++)
    REQUIRE_OK(kmb_part_reference(part, i, &r));
  REQUIRE_STATUS(kmb_part_reference(part, 6, &r), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_part_reference(NULL, 0, &r), KMB_ERR_INVALID);
}

/* Files. */

typedef struct file {
  const char *text;
  size_t size, at, step;
  kmb_status fail; /* at the end */
} file;

static kmb_status read_text(void *user, void *data, size_t size, size_t *got) {
  file *f = user;
  size_t left = f->size - f->at;
  if (f->step && left > f->step) left = f->step;
  *got = left < size ? left : size;
  memcpy(data, f->text + f->at, *got);
  f->at += *got;
  return *got ? KMB_OK : f->fail;
}

static kmb_status add(kmb_peaks *peaks, const char *text) {
  file f = {text, strlen(text), 0, 3, KMB_OK};
  return kmb_peaks_read_csv(peaks, "my.csv", read_text, &f);
}

static kmb_peaks *fresh(void) {
  kmb_peaks *peaks = NULL;
  REQUIRE_OK(kmb_peaks_create(NULL, &peaks));
  REQUIRE_EQ(kmb_peaks_count(peaks), 40);
  return peaks;
}

/* Quotes, CRLF, comments, empty lines, any order of columns, a byte order mark.
 */
static void a_file_adds_rows(void) {
  kmb_peaks *peaks = fresh();
  const kmb_part *part = NULL;
  const char *text = NULL;
  double number = 0;
  REQUIRE_OK(add(peaks,
                 "\xef\xbb\xbf"
                 "bf16,name,\"driver_names\",pci_ids,labels,source\r\n"
                 "# a comment, with \"a quote\r\n"
                 "\r\n"
                 "12.5,\"The \"\"X\"\", new\",X 1|X 2,,,\"of\na page\"\r\n"
                 ",Y,,abcd:ef01,\"Y one\",\n"
                 "3,Z,Z,abcd:ef02,,"));
  REQUIRE_EQ(kmb_peaks_count(peaks), 43);
  REQUIRE_OK(kmb_peaks_find(peaks, "X 2", NULL, &part));
  REQUIRE_OK(kmb_part_text(part, KMB_PART_NAME, &text));
  REQUIRE_STR(text, "The \"X\", new");
  REQUIRE_OK(kmb_part_text(part, KMB_PART_SOURCE, &text));
  REQUIRE_STR(text, "of\na page");
  REQUIRE_OK(kmb_part_text(part, KMB_PART_ORIGIN, &text));
  REQUIRE_STR(text, "my.csv");
  REQUIRE_OK(kmb_part_f64(part, KMB_PART_BF16, &number));
  REQUIRE_NEAR(number, 12.5, 0);
  REQUIRE_OK(kmb_peaks_find(peaks, "what", "ABCD:EF01", &part));
  REQUIRE_STATUS(kmb_part_f64(part, KMB_PART_BF16, &number),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_OK(kmb_part_text(part, KMB_PART_SOURCE, &text));
  REQUIRE_STR(text, "my.csv");
  REQUIRE_OK(kmb_peaks_lookup(peaks, "Y one", &part));
  REQUIRE_OK(kmb_peaks_get(peaks, 2, &part));
  REQUIRE_OK(kmb_part_text(part, KMB_PART_NAME, &text));
  REQUIRE_STR(text, "Z");
  REQUIRE_OK(kmb_peaks_find(peaks, "NVIDIA H200", NULL, &part));
  kmb_peaks_destroy(peaks);
}

static void has_same_text(const kmb_part *a, const kmb_part *b,
                          kmb_part_value value) {
  const char *one = NULL, *other = NULL;
  if (value == KMB_PART_ORIGIN) return;
  kmb_status status = kmb_part_text(a, value, &one);
  REQUIRE_EQ(kmb_part_text(b, value, &other), status);
  if (!status) REQUIRE_STR(one, other);
}

static void has_same_number(const kmb_part *a, const kmb_part *b,
                            kmb_part_value value) {
  double one = 0, other = 0;
  REQUIRE_EQ(kmb_part_f64(b, value, &other), kmb_part_f64(a, value, &one));
  REQUIRE_NEAR(one, other, 0);
}

/* To the last bit. */
static void what_is_compiled_in_is_the_file(void) {
  static char text[1 << 16];
  FILE *from = fopen(PEAKS_CSV, "r");
  REQUIRE(from);
  size_t size = fread(text, 1, sizeof text - 1, from);
  fclose(from);
  REQUIRE(size > 1000 && size < sizeof text - 1);
  kmb_peaks *peaks = fresh();
  REQUIRE_OK(add(peaks, text));
  REQUIRE_EQ(kmb_peaks_count(peaks), 80);
  for (uint64_t i = 0; i < 40; i++) {
    const kmb_part *read = NULL, *built_in = NULL;
    REQUIRE_OK(kmb_peaks_get(peaks, i, &read));
    REQUIRE_OK(kmb_peaks_get(peaks, 40 + i, &built_in));
#define SAME_TEXT has_same_text
#define SAME_F64 has_same_number
#define SAME(name, number, kind, key, unit) \
  SAME_##kind(read, built_in, KMB_PART_##name);
    KMB_PART_MAP(SAME)
#undef SAME
#undef SAME_TEXT
#undef SAME_F64
  }
  kmb_peaks_destroy(peaks);
}

/* By name or by PCI id, and the newest file first. */
static void a_file_overrides_rows(void) {
  kmb_peaks *peaks = fresh();
  const kmb_part *part = NULL;
  kmb_ceiling c = kmb_ceiling_init();
  REQUIRE_OK(add(peaks, "name,driver_names,mem_bw_gbs\n"
                        "mine,NVIDIA H200,1000\n"));
  REQUIRE_OK(kmb_peaks_find(peaks, "NVIDIA H200", "10de:2335", &part));
  REQUIRE_OK(kmb_part_ceiling(part, KMB_CEILING_MEMORY, 0, 0, &c));
  REQUIRE_NEAR(c.value, 1e12, 0);
  REQUIRE_EQ(c.source, KMB_SOURCE_CALLER);
  REQUIRE_STATUS(kmb_part_ceiling(part, 0, KMB_BF16, 0, &c),
                 KMB_ERR_UNAVAILABLE); /* whole: nothing is mixed in */
  REQUIRE_OK(add(peaks, "name,pci_ids,mem_bw_gbs\n"
                        "by id,10de:2335,2000\n"));
  REQUIRE_OK(kmb_peaks_find(peaks, "NVIDIA H200", "10de:2335", &part));
  REQUIRE_OK(kmb_part_ceiling(part, KMB_CEILING_MEMORY, 0, 0, &c));
  REQUIRE_NEAR(c.value, 2e12, 0);
  const char *const names[] = {"NVIDIA H200", "H200", "H200 SXM"};
  const char *text = NULL;
  for (int i = 0; i < 3; i++) { /* people's names follow */
    REQUIRE_OK(kmb_peaks_lookup(peaks, names[i], &part));
    REQUIRE_OK(kmb_part_text(part, KMB_PART_NAME, &text));
    REQUIRE_STR(text, i < 2 ? "mine" : "by id");
  }
  REQUIRE_OK(kmb_peaks_lookup(peaks, "H200 NVL", &part));
  REQUIRE_OK(kmb_part_text(part, KMB_PART_ORIGIN, &text));
  REQUIRE_STR(text, "compiled in");
  REQUIRE_OK(kmb_peaks_lookup(peaks, "mine", &part));
  REQUIRE_STATUS(kmb_part_rate(part, 0, KMB_BF16, 0, 1e3, &c),
                 KMB_ERR_UNAVAILABLE); /* no arch */
  kmb_peaks_destroy(peaks);
}

#define HEAD "name,driver_names,pci_ids,bf16,sparse,pci_rev,never_from_rates\n"

static void a_list_has_at_most_64_items(void) {
  for (int more = 0; more < 2; more++) {
    char items[2 * 64 + 1] = "", text[512];
    kmb_peaks *peaks = fresh();
    for (int i = 0; i < 2 * (63 + more); i++)
      items[i] = i % 2 ? 'b' : '|';
    snprintf(text, sizeof text, HEAD "a,a%s,,1,,,\n", items);
    REQUIRE_STATUS(add(peaks, text), more ? KMB_ERR_FORMAT : KMB_OK);
    if (more) {
      REQUIRE_HAS(kmb_last_error(NULL, NULL), "line 2, column 3");
      REQUIRE_HAS(kmb_last_error(NULL, NULL), "more than 64 items");
    }
    kmb_peaks_destroy(peaks);
  }
}

/* The message names the place; the table is as it was. */
static void mistakes_have_a_line_and_a_column(void) {
  static const struct {
    const char *text, *where, *what;
  } cases[] = {
      {"", "line 1, column 1", "no part"},
      {HEAD, "line 2, column 1", "no part"},
      {"# nothing\n\n" HEAD "a,a,,x,,,\n", "line 4, column 6", "bf16 is \"x\""},
      {"name,names\na,b\n", "line 1, column 6", "\"names\" is no column"},
      {"name,name\na,b\n", "line 1, column 6", "twice"},
      {"name,bf16\na,1\n", "line 1, column 1", "driver_names or pci_ids"},
      {"bf16,pci_ids\n1,abcd:ef01\n", "line 1, column 1", "name"},
      {"name,pci_ids,origin\n", "line 1, column 14", "no column"},
      {HEAD "a,a,,1,,\n", "line 2, column 9", "6 cells instead of 7"},
      {HEAD "a,a,,1,,,,\n", "line 2, column 11", "8 cells instead of 7"},
      {HEAD ",a,,1,,,\n", "line 2, column 1", "no name"},
      {HEAD "a,,,1,,,\n", "line 2, column 1", "neither"},
      {HEAD "a,a,,0,,,\n", "line 2, column 6", "above 0"},
      {HEAD "a,a,,-1,,,\n", "line 2, column 6", "above 0"},
      {HEAD "a,a,,1e3,,,\n", "line 2, column 6", "above 0"},
      {HEAD "a,a,,1.,,,\n", "line 2, column 6", "above 0"},
      {HEAD "a,a,,.5,,,\n", "line 2, column 6", "above 0"},
      {HEAD "a,a,,1.2.3,,,\n", "line 2, column 6", "above 0"},
      {HEAD "a,a,,1234567890123456,,,\n", "line 2, column 6", "above 0"},
      {HEAD "a,a,10de:233,1,,,\n", "line 2, column 5", "PCI id"},
      {HEAD "a,a,10de:2335|x,1,,,\n", "line 2, column 5", "\"x\" is no PCI"},
      {HEAD "a,a,,1,bf17,,\n", "line 2, column 8", "no figures"},
      {HEAD "a,a,,1,all,,\n", "line 2, column 8", "no figures"},
      {HEAD "a,a,,1,,c,\n", "line 2, column 9", "revision"},
      {HEAD "a,a,,1,,,sms\n", "line 2, column 10", "no figures"},
      {HEAD "a,a,,1,,,\nb,c|a,,1,,,\n", "line 3, column 3", "two rows"},
      {HEAD "a,a,,1,,,\na,b,,1,,,\n", "line 3, column 1", "two rows"},
      {HEAD "a,a,abcd:ef01,1,,,\nb,b,abcd:ef01,1,,,\n", "line 3, column 5",
       "two rows"},
      {HEAD "a,\"a,,1,,,\n", "line 2, column 3", "never closed"},
      {HEAD "a,\"a\"b,,1,,,\n", "line 2, column 6", "comma"},
      {HEAD "a,a\"b,,1,,,\n", "line 2, column 4", "comma"},
      {HEAD "a,\"a\nb\",,x,,,\n", "line 3, column 5", "bf16 is"},
      {HEAD "a\rb,a,,1,,,\n", "line 2, column 2", "carriage return"},
      {HEAD "a,a,,1,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,"
            ",,,,,\n",
       "line 2, column 68", "too many"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    kmb_peaks *peaks = fresh();
    REQUIRE_STATUS(add(peaks, cases[i].text), KMB_ERR_FORMAT);
    const char *said = kmb_last_error(NULL, NULL);
    REQUIRE_HAS(said, "my.csv");
    REQUIRE_HAS(said, cases[i].where);
    REQUIRE_HAS(said, cases[i].what);
    REQUIRE_EQ(kmb_peaks_count(peaks), 40);
    kmb_peaks_destroy(peaks);
  }
}

static void good_lists_are_taken(void) {
  kmb_peaks *peaks = fresh();
  const kmb_part *part = NULL;
  kmb_ceiling c = kmb_ceiling_init();
  REQUIRE_OK(add(peaks, "name,driver_names,bf16,sparse,never_from_rates,arch,"
                        "sms,part\n"
                        "a,a,1.5,fp64|bf16,all,9.0,2,\n"
                        "b,b,,,fp64|int8,9.0,2,geforce\n"
                        "c,c,,,fp64|int8,8.6,2,geforce\n"
                        "d,d,,,,8.6,,\n"));
  REQUIRE_OK(kmb_peaks_find(peaks, "a", NULL, &part));
  REQUIRE_OK(kmb_part_ceiling(part, 0, KMB_BF16, KMB_CEILING_SPARSE, &c));
  REQUIRE_NEAR(c.value, 3e12, 0);
  REQUIRE_STATUS(kmb_part_rate(part, 0, KMB_BF16, 0, 1000, &c),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_OK(kmb_peaks_find(peaks, "b", NULL, &part));
  REQUIRE_STATUS(kmb_part_rate(part, 0, KMB_BF16, 0, 1000, &c),
                 KMB_ERR_UNAVAILABLE); /* there is no GeForce of 9.0 */
  REQUIRE_OK(add(peaks, "name,driver_names,bf16\ne,e,123456789012.345\n"));
  REQUIRE_OK(kmb_peaks_find(peaks, "c", NULL, &part));
  REQUIRE_OK(kmb_part_rate(part, 0, KMB_BF16, 0, 1000, &c));
  REQUIRE_NEAR(c.value, 512.0 * 2 * 1e9, 0);
  REQUIRE_OK(kmb_peaks_find(peaks, "d", NULL, &part));
  REQUIRE_STATUS(kmb_part_rate(part, 0, KMB_BF16, 0, 1000, &c),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "units");
  REQUIRE_OK(kmb_part_rate(part, 0, KMB_BF16, 3, 1000, &c));
  REQUIRE_NEAR(c.value, 1024.0 * 3 * 1e9, 0);
  kmb_peaks_destroy(peaks);
}

static kmb_status read_too_much(void *user, void *data, size_t size,
                                size_t *got) {
  (void)user;
  memset(data, 'a', size);
  *got = size;
  return KMB_OK;
}

static kmb_status read_beyond(void *user, void *data, size_t size,
                              size_t *got) {
  (void)user;
  (void)data;
  *got = size + 1;
  return KMB_OK;
}

static void input_that_is_no_text_is_refused(void) {
  kmb_peaks *peaks = fresh();
  file zero = {"name\0", 5, 0, 0, KMB_OK};
  file broken = {HEAD, sizeof HEAD - 1, 0, 0, 7};
  REQUIRE_STATUS(kmb_peaks_read_csv(peaks, "f", read_text, &zero),
                 KMB_ERR_FORMAT);
  REQUIRE_STATUS(kmb_peaks_read_csv(peaks, "f", read_text, &broken), 7);
  REQUIRE_STATUS(kmb_peaks_read_csv(peaks, "f", read_too_much, NULL),
                 KMB_ERR_FORMAT);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "4 MiB");
  REQUIRE_STATUS(kmb_peaks_read_csv(peaks, "f", read_beyond, NULL),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_peaks_read_csv(NULL, "f", read_text, &zero),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_peaks_read_csv(peaks, NULL, read_text, &zero),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_peaks_read_csv(peaks, "f", NULL, &zero), KMB_ERR_INVALID);
  REQUIRE_EQ(kmb_peaks_count(peaks), 40);
  kmb_peaks_destroy(peaks);
  kmb_peaks_destroy(NULL);
  REQUIRE_STATUS(kmb_peaks_create(NULL, NULL), KMB_ERR_INVALID);
}

/* A table of parts is no database. */
static void too_many_parts_are_refused(void) {
  enum { LINE = 16, ROWS = 2001 };
  char *text = malloc((size_t)LINE * (ROWS + 2));
  REQUIRE(text);
  for (int rows = ROWS - 1; rows <= ROWS; rows++) {
    size_t used = (size_t)sprintf(text, "name,pci_ids\n");
    for (int i = 0; i < rows; i++)
      used += (size_t)sprintf(text + used, "%d,0000:%04x\n", i, (unsigned)i);
    kmb_peaks *peaks = fresh();
    file f = {text, used, 0, 0, KMB_OK};
    REQUIRE_STATUS(kmb_peaks_read_csv(peaks, "f", read_text, &f),
                   rows < ROWS ? KMB_OK : KMB_ERR_FORMAT);
    kmb_peaks_destroy(peaks);
  }
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "2000 parts");
  free(text);
}

/* Fails at the k-th allocation; counts bytes, by what is said at both ends. */
static int failing;
static long taken;

static void *take(void *user, size_t size, size_t align) {
  (void)user;
  (void)align;
  if (--failing == 0) return NULL;
  taken += (long)size;
  return malloc(size);
}

static void give(void *user, void *pointer, size_t size) {
  (void)user;
  if (pointer) taken -= (long)size;
  free(pointer);
}

static kmb_status open_and_read(kmb_peaks **peaks) {
  kmb_hooks hooks = kmb_hooks_init();
  hooks.alloc = take;
  hooks.free = give;
  kmb_status status = kmb_peaks_create(&hooks, peaks);
  if (!status)
    status = add(*peaks, "name,driver_names,bf16\n\"a\",b,1\n\"b\",c,2\n");
  return status;
}

static void every_allocation_may_fail(void) {
  int k = 0;
  kmb_status status = KMB_ERR_NOMEM;
  while (status == KMB_ERR_NOMEM) {
    kmb_peaks *peaks = NULL;
    failing = ++k;
    status = open_and_read(&peaks);
    REQUIRE_EQ(peaks ? kmb_peaks_count(peaks) : 40, status ? 40 : 42);
    kmb_peaks_destroy(peaks);
    REQUIRE_EQ(taken, 0);
  }
  REQUIRE_EQ(status, KMB_OK);
  REQUIRE(k > 3);
}

int main(void) {
  RUN(ridges_are_those_of_the_datasheets);
  RUN(f30_sparse_only_if_asked_for);
  RUN(each_dtype_has_its_column);
  RUN(without_a_kind_it_is_the_faster);
  RUN(ceilings_refuse);
  RUN(a_rate_beyond_all_numbers_is_invalid);
  RUN(rates_give_the_datasheets_figures_at_its_clocks);
  RUN(capped_parts_are_never_computed);
  RUN(nothing_names_two_rows);
  RUN(people_say_the_whole_name);
  RUN(finding_needs_something_to_find);
  RUN(values_have_their_kinds);
  RUN(references_are_found_by_what_the_work_is);
  RUN(a_file_adds_rows);
  RUN(what_is_compiled_in_is_the_file);
  RUN(a_file_overrides_rows);
  RUN(a_list_has_at_most_64_items);
  RUN(mistakes_have_a_line_and_a_column);
  RUN(good_lists_are_taken);
  RUN(input_that_is_no_text_is_refused);
  RUN(too_many_parts_are_refused);
  RUN(every_allocation_may_fail);
  return 0;
}
