/* A shared object that contains the whole static library, as an extension of
 * another program would. */
#include <kmb/kmb.h>

__attribute__((visibility("default"))) const char *extension_version(void);

const char *extension_version(void) {
  return kmb_version();
}
