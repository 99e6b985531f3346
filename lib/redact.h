/* Keeping secrets out of what is recorded. */
#ifndef KMB_LIB_REDACT_H
#define KMB_LIB_REDACT_H

#include "text.h"

#define KMBI_REDACTED "[redacted]"

/* Appends `value`, or KMBI_REDACTED if `name` looks like a secret's; secrets
 * inside of the value are replaced too. `name` may be NULL. */
void kmbi_redact_value(kmbi_text *to, const char *name, const char *value);

/* Appends a command line, each argument as a shell would take it, from
 * arguments that end in a zero each. */
void kmbi_redact_arguments(kmbi_text *to, const char *arguments, size_t size);

#endif
