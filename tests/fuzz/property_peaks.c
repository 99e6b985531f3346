#include "fuzz.h"

#include "require.h"

#include <kmb/roofline.h>

typedef struct bytes {
  const uint8_t *data;
  size_t size, at;
} bytes;

/* In pieces that end anywhere. */
static kmb_status give(void *user, void *data, size_t size, size_t *got) {
  bytes *b = user;
  size_t left = b->size - b->at;
  if (size > 61) size = 61;
  *got = left < size ? left : size;
  if (*got) memcpy(data, b->data + b->at, *got);
  b->at += *got;
  return KMB_OK;
}

/* What a measurement would do with a part. */
static void use(const kmb_peaks *peaks, const kmb_part *part) {
  static const kmb_dtype dtypes[] = {KMB_F64, KMB_F32, KMB_BF16, KMB_F8_E4M3,
                                     KMB_I8};
  const char *name = NULL;
  const kmb_part *found = NULL;
  kmb_reference reference = kmb_reference_init();
  REQUIRE_OK(kmb_part_text(part, KMB_PART_NAME, &name));
  REQUIRE(*name);
  kmb_peaks_lookup(peaks, name, &found);
  for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
    kmb_ceiling c = kmb_ceiling_init();
    if (!kmb_part_ceiling(part, 0, dtypes[i], KMB_CEILING_SPARSE, &c))
      REQUIRE(c.value > 0);
    if (!kmb_part_rate(part, 0, dtypes[i], 0, 1000, &c)) REQUIRE(c.value > 0);
  }
  for (uint64_t i = 0; i < kmb_part_reference_count(part); i++)
    REQUIRE_OK(kmb_part_reference(part, i, &reference));
}

int fuzz_peaks(const uint8_t *data, size_t size) {
  bytes input = {data, size, 0};
  kmb_peaks *peaks = NULL;
  const uint64_t before = kmb_peaks_count(NULL);
  REQUIRE_OK(kmb_peaks_create(NULL, &peaks));
  kmb_status status = kmb_peaks_read_csv(peaks, "input", give, &input);
  uint64_t count = kmb_peaks_count(peaks);
  if (status) {
    REQUIRE(status == KMB_ERR_FORMAT && count == before);
    REQUIRE_HAS(kmb_last_error(NULL, NULL), "input: ");
  } else {
    REQUIRE(count > before);
    for (uint64_t i = 0; i < count - before && i < 64; i++) {
      const kmb_part *part = NULL;
      REQUIRE_OK(kmb_peaks_get(peaks, i, &part));
      use(peaks, part);
    }
  }
  kmb_peaks_destroy(peaks);
  return !status;
}
