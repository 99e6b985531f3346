/* Names of statuses and types, and the thread-local last error. */
#include "error.h"

#include <stdio.h>

static _Thread_local kmbi_error_state last_error;

const char *kmb_status_name(kmb_status status) {
  switch (status) {
#define CASE(name, value, text) \
  case value:                   \
    return #name;
    KMB_STATUS_MAP(CASE)
#undef CASE
  default:
    return status > 0 ? "CALLBACK" : "UNKNOWN";
  }
}

const char *kmb_last_error(kmb_status *status, int64_t *vendor) {
  if (status) *status = last_error.status;
  if (vendor) *vendor = last_error.vendor;
  return last_error.message;
}

/* Cut at a character's start, so that what is left is valid UTF-8. */
static void trim_utf8(char *text, size_t length) {
  while (length > 0 && ((unsigned char)text[length] & 0xC0u) == 0x80u)
    length--;
  text[length] = '\0';
}

kmb_status kmbi_fail_vendor(kmb_status status, int64_t vendor,
                            const char *format, va_list arguments) {
  char message[sizeof last_error.message + 1];
  int length = vsnprintf(message, sizeof message, format, arguments);
  if (length >= (int)sizeof last_error.message)
    trim_utf8(message, sizeof last_error.message - 1);
  memcpy(last_error.message, message, strlen(message) + 1);
  last_error.status = status;
  last_error.count++;
  last_error.vendor = vendor;
  return status;
}

kmb_status kmbi_fail(kmb_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  kmbi_fail_vendor(status, 0, format, arguments);
  va_end(arguments);
  return status;
}

void kmbi_error_save(kmbi_error_state *state) {
  *state = last_error;
}

void kmbi_error_restore(const kmbi_error_state *state) {
  last_error = *state;
}

bool kmbi_failed_since(const kmbi_error_state *before) {
  return last_error.count != before->count;
}

kmb_status kmbi_callback_failed(kmb_status status,
                                const kmbi_error_state *before) {
  if (!status || kmbi_failed_since(before)) return status;
  return kmbi_fail(status, "a callback returned %d (%s)", (int)status,
                   kmb_status_name(status));
}

kmb_status kmbi_call_failed(const kmbi_error_state *before, const char *which,
                            kmb_status status, uint64_t iteration) {
  if (kmbi_failed_since(before) && last_error.status == status) return status;
  return kmbi_fail(status, "the %s callback returned %d (%s) at iteration %llu",
                   which, (int)status, kmb_status_name(status),
                   (unsigned long long)iteration);
}

const char *kmb_dtype_name(kmb_dtype dtype) {
  switch (dtype) {
#define CASE(name, value, bits, text) \
  case value:                         \
    return text;
    KMB_DTYPE_MAP(CASE)
#undef CASE
  default:
    return "unknown";
  }
}

kmb_status kmb_dtype_bits(kmb_dtype dtype, uint32_t *bits) {
  if (!bits) return kmbi_fail(KMB_ERR_INVALID, "kmb_dtype_bits: bits is NULL");
  switch (dtype) {
#define CASE(name, value, size, text) \
  case value:                         \
    *bits = size;                     \
    return KMB_OK;
    KMB_DTYPE_MAP(CASE)
#undef CASE
  default:
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_dtype_bits: no element type has number %d; see "
                     "KMB_DTYPE_MAP",
                     (int)dtype);
  }
}
