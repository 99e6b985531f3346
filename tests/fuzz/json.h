/* One input to the JSON reader, and what must hold: what is accepted, written
 * again, read back and written once more is the same to the byte. */
#ifndef KMB_TESTS_FUZZ_JSON_H
#define KMB_TESTS_FUZZ_JSON_H

#include <stddef.h>
#include <stdint.h>

/* Whether it was accepted. Ends the process if the property does not hold. */
int fuzz_json(const uint8_t *data, size_t size);

#endif
