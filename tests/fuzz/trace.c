/* libFuzzer's entry for the importer of FUZZ_FORMAT (scripts/fuzz.sh builds and
 * runs it). */
#include "trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_trace(FUZZ_FORMAT, data, size);
  return 0;
}
