/* What must hold of whatever is taken for a listing. */
#include "../../tools/kmb/code_listing.h"
#include "fuzz.h"

#include "require.h"

static void check_loop(const code_summary *s, const code_loop *l) {
  uint64_t sum = 0;
  for (int id = 0; id < CODE_CLASSES; id++) {
    REQUIRE(l->counts[id] <= s->counts[id]);
    sum += l->counts[id];
  }
  REQUIRE(sum == l->instructions && l->instructions > 1);
}

int fuzz_listing(const uint8_t *data, size_t size) {
  const char *text = (const char *)data;
  code_listing listing;
  REQUIRE(code_listing_read(text, size, &listing));
  size_t count = listing.function_count;
  for (size_t i = 0; i < count; i++) {
    const code_summary *s = &listing.functions[i];
    uint64_t sum = 0;
    for (int id = 0; id < CODE_CLASSES; id++)
      sum += s->counts[id];
    REQUIRE(sum == s->instructions && sum <= size);
    REQUIRE(s->text >= text && s->text_size <= size);
    REQUIRE(s->text + s->text_size <= text + size);
    REQUIRE(s->name >= text && s->name + s->name_size <= text + size);
    for (size_t k = 0; k < s->loop_count; k++)
      check_loop(s, &s->loops[k]);
  }
  code_listing_free(&listing);
  return count != 0;
}
