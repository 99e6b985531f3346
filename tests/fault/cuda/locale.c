/* Numbers in text are the same in a locale with a comma: what the caller
 * writes, what telemetry says, what a document holds. */
#include "../../comma.h"
#include "bed.h"

enum { SKIPPED = 77 };

typedef struct text {
  char data[1 << 18];
  size_t size, read;
} text;

static kmb_status append(void *user, const void *data, size_t size) {
  text *t = user;
  REQUIRE(t->size + size < sizeof t->data);
  memcpy(t->data + t->size, data, size);
  t->size += size;
  return KMB_OK;
}

static kmb_status give(void *user, void *data, size_t size, size_t *got) {
  text *t = user;
  *got = t->size - t->read < size ? t->size - t->read : size;
  memcpy(data, t->data + t->read, *got);
  t->read += *got;
  return KMB_OK;
}

/* A number is written with a point, whatever it is. */
static void numbers_have_points(const kmb_result *r) {
  for (uint64_t i = 0; i < kmb_result_metadata_count(r); i++) {
    kmb_metadata_entry e = kmb_metadata_entry_init();
    REQUIRE_OK(kmb_result_metadata(r, i, &e));
    if (!e.value || strncmp(e.key, "telemetry.", 10) != 0) continue;
    const char *at = e.value + strspn(e.value, "0123456789");
    if (at > e.value) REQUIRE(*at != ',');
  }
}

static void no_number_has_a_comma(void) {
  static text document;
  bed b;
  kmb_result *r = NULL;
  kmb_results *again = NULL;
  sim_reset();
  bed_set_up(&b);
  REQUIRE_OK(bed_open(&b, "cuda:0:deadline=0.25"));
  spin s = bed_spin(&b, 2.5, 1);
  kmb_bench_params p = bed_params(0, 0, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  numbers_have_points(r);
  REQUIRE_OK(kmb_result_write_json(r, append, &document));
  REQUIRE_OK(kmb_results_read_json(give, &document, NULL, &again));
  const kmb_result *read = NULL;
  REQUIRE_OK(kmb_results_get(again, 0, &read));
  REQUIRE_NEAR(bed_f64(read, KMB_VALUE_TIME), bed_f64(r, KMB_VALUE_TIME), 0);
  kmb_results_destroy(again);
  kmb_result_destroy(r);
  bed_end(&b);
}

int main(void) {
  if (!use_a_comma()) {
    printf("no localedef makes a locale with a comma here\n");
    return SKIPPED;
  }
  RUN(no_number_has_a_comma);
  return 0;
}
