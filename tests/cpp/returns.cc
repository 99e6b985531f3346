/* The part of throws_cases.hpp that returns errors. */
#define KMB_NO_EXCEPTIONS 1
#include <kmb/kmb.hpp>

kmb_status opens_without_exceptions(const char *name);

kmb_status opens_without_exceptions(const char *name) {
  return kmb::device::open(name).status();
}
