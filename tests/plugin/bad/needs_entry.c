/* A shared object without an entry whose dependency has one. */
#include <kmb/backend.h>

const void *kmb_test_use_dependency(void);

const void *kmb_test_use_dependency(void) {
  return kmb_backend_entry_1();
}
