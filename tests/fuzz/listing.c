/* libFuzzer's entry (scripts/fuzz.sh builds and runs it). */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_listing(data, size);
  return 0;
}
