/* Thread-local last error. */
#ifndef KMB_LIB_ERROR_H
#define KMB_LIB_ERROR_H

#include <kmb/backend.h>

#include <stdarg.h>
#include <stdbool.h>

/* Record a failure and return its status, so that `return kmbi_fail(…)` reads
 * as one thought. The message names the exact cause and what to do. */
kmb_status kmbi_fail(kmb_status status, const char *format, ...)
    KMB_PRINTF(2, 3);
kmb_status kmbi_fail_vendor(kmb_status status, int64_t vendor,
                            const char *format, va_list arguments)
    KMB_PRINTF(3, 0);

/* A call that succeeds leaves the last error as it was: a step that may fail
 * harmlessly inside such a call is put between these two. */
typedef kmb_error kmbi_error_state;

void kmbi_error_save(kmbi_error_state *state);
void kmbi_error_restore(const kmbi_error_state *state);
/* Whether a failure was recorded on this thread since `before`. */
bool kmbi_failed_since(const kmbi_error_state *before);
/* For a call that ran the caller's callbacks: if it fails with nothing recorded
 * since `before`, a callback returned `status`, and that is what is said. */
kmb_status kmbi_callback_failed(kmb_status status,
                                const kmbi_error_state *before);
/* The same for one call of which it is known which one it was: what was
 * recorded of another status is not what the callback says. */
kmb_status kmbi_call_failed(const kmbi_error_state *before, const char *which,
                            kmb_status status, uint64_t iteration);

#endif
