/* Reading images: what both makers' files have in common. */
#ifndef KMB_TOOLS_CODE_ELF_H
#define KMB_TOOLS_CODE_ELF_H

#include "code.h"
#include "kmb.h"

#include <gelf.h>

enum { CODE_KERNELS_MOST = 65536 };

typedef struct elf_part {
  const uint8_t *at;
  uint64_t size;
} elf_part;

typedef struct elf_section {
  const char *name;
  GElf_Shdr header;
} elf_section;

typedef struct elf_reading {
  const uint8_t *data;
  size_t size;
  Elf *elf;
  GElf_Ehdr header;
  elf_section *sections; /* by name */
  size_t section_count;
  uint8_t *walked; /* of each section: whether its attributes were taken */
  Elf_Data *symbols;
  size_t symbol_names, symbol_count;
  uint64_t hashed; /* bytes of code so far */
  char *why;
  code_image *image;
} elf_reading;

/* Says why, and gives `code` back. */
int elf_refuse(const elf_reading *r, int code, const char *format, ...)
    KMB_PRINTF(3, 4);
int elf_no_memory(const elf_reading *r);

static inline uint32_t elf_word(const uint8_t *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
         (uint32_t)at[3] << 24;
}

/* The bytes of a section; none of one that takes no room in the file. */
elf_part elf_bytes(const elf_reading *r, const GElf_Shdr *header);
/* A section by its name, and NAME of a kernel after it; NULL: none. */
const elf_section *elf_find(const elf_reading *r, const char *prefix,
                            const char *kernel);
/* The name of a symbol, NULL if there is none. */
const char *elf_symbol(const elf_reading *r, size_t index, GElf_Sym *symbol);
/* Where a symbol's bytes lie; `what` names it. An exit status, said. */
int elf_code(const elf_reading *r, const GElf_Sym *symbol, const char *name,
             elf_part *code);
/* The image's next kernel, with its names and hash. An exit status, said. */
int elf_add_kernel(elf_reading *r, const char *name, elf_part code);

/* The kernels of a file for either maker, ordered by name, and the
 * architecture. An exit status, said. */
int code_read_nvidia(elf_reading *r);
int code_read_amd(elf_reading *r);

#endif
