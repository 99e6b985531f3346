/* The version, and statuses in words. */
#include <kmb/base.h>

const char *kmb_version(void) {
  return KMB_VERSION;
}

uint32_t kmb_abi_major(void) {
  return KMB_ABI_MAJOR;
}

const char *kmb_status_text(kmb_status status) {
  switch (status) {
#define CASE(name, value, text) \
  case value:                   \
    return text;
    KMB_STATUS_MAP(CASE)
#undef CASE
  default:
    return status > 0 ? "returned by a callback" : "unknown status";
  }
}
