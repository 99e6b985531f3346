/* Collecting metadata and keeping secrets out of it. */
#ifndef KMB_LIB_METADATA_H
#define KMB_LIB_METADATA_H

#include "result.h"

struct kmb_device;

/* Everything that does not change while measuring: library, host, device,
 * command line, environment, and what the caller passed. `params` may be NULL
 * and is complete otherwise. */
void kmbi_metadata_collect(struct kmb_device *device,
                           const kmb_metadata_params *params,
                           kmb_result *result);
/* True if a name (of a variable, option or key) looks like a secret's. */
bool kmbi_is_secret(const char *name);

#endif
