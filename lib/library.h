/* Optional libraries, opened when a file needs them. */
#ifndef KMB_LIB_LIBRARY_H
#define KMB_LIB_LIBRARY_H

#include <kmb/base.h>

/* Says to packagers what may be opened at run time. */
#define KMBI_DLOPEN_NOTE(feature, what, soname)                             \
  __asm__(                                                                  \
      ".pushsection .note.dlopen, \"a\", %note\n"                           \
      ".p2align 2\n.long 4\n.long 2f - 1f\n.long 0x407c0c0a\n"              \
      ".asciz \"FDO\"\n1:\n.asciz \"[{\\\"feature\\\":\\\"" feature         \
      "\\\",\\\"description\\\":\\\"" what                                  \
      "\\\",\\\"priority\\\":\\\"suggested\\\",\\\"soname\\\":[\\\"" soname \
      "\\\"]}]\"\n2:\n.p2align 2\n.popsection\n")

typedef struct kmbi_symbol {
  const char *name;
  void *to; /* address of a function pointer */
} kmbi_symbol;

/* UNAVAILABLE, naming the Debian package, if the library or a symbol of it is
 * absent. Close with kmbi_library_close(), which accepts NULL. */
kmb_status kmbi_library_open(const char *soname, const char *package,
                             const kmbi_symbol *symbols, size_t count,
                             void **library);
void kmbi_library_close(void *library);

#endif
