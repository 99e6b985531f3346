/* One input to an importer of traces, and what must hold: parts add up to the
 * whole, shares are between 0 and 1, and what is accepted and written as Chrome
 * JSON is read back with the same operations. */
#ifndef KMB_TESTS_FUZZ_TRACE_H
#define KMB_TESTS_FUZZ_TRACE_H

#include <kmb/trace.h>

/* Whether it was accepted. Ends the process if the property does not hold. */
int fuzz_trace(kmb_trace_format format, const uint8_t *data, size_t size);

#endif
