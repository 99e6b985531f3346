/* Names of C++ as people write them. */
#ifndef KMB_LIB_DEMANGLE_H
#define KMB_LIB_DEMANGLE_H

#include "memory.h"

/* A copy in the arena; NULL if it is no such name, if the process has loaded
 * nothing that reads them, or on failure, of which the arena tells. */
const char *kmbi_demangle(kmbi_arena *arena, const char *name);

#endif
