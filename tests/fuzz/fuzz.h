/* One input to a reader, and what must hold. Each gives whether the input was
 * accepted, and ends the process if the property does not hold. */
#ifndef KMB_TESTS_FUZZ_FUZZ_H
#define KMB_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* What is accepted, written again, read back and written once more is the same
 * to the byte. */
int fuzz_json(const uint8_t *data, size_t size);
/* What is accepted is a table whose every part can be used; what is refused
 * leaves the table as it was, and says where. */
int fuzz_peaks(const uint8_t *data, size_t size);
/* What is accepted lies within the input, to the last byte of each kernel. */
int fuzz_cubin(const uint8_t *data, size_t size);
/* Each instruction has one class; loops and texts lie within their function. */
int fuzz_listing(const uint8_t *data, size_t size);

#endif
