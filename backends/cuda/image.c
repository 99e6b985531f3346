/* Where a kernel's instructions stand in an image. A cubin is an ELF file of
 * 64 bits whose section .text.NAME holds them; of anything else nothing is
 * said. The driver has loaded it, and still no offset in it is trusted. */
#include "cupti_session.h"

#include <elf.h>

typedef struct image {
  const char *bytes;
  size_t size;
} image;

/* A copy, since nothing in an image need be aligned. */
static bool copy_at(const image *i, uint64_t offset, void *to, size_t size) {
  if (offset > i->size || size > i->size - offset) return false;
  memcpy(to, i->bytes + offset, size);
  return true;
}

static bool section_at(const image *i, const Elf64_Ehdr *head, uint64_t index,
                       Elf64_Shdr *section) {
  if (index >= head->e_shnum || head->e_shentsize != sizeof *section ||
      head->e_shoff > i->size)
    return false;
  return copy_at(i, head->e_shoff + index * sizeof *section, section,
                 sizeof *section);
}

static bool is_named(const image *i, const Elf64_Shdr *names,
                     const Elf64_Shdr *section, const char *name) {
  static const char before[] = ".text.";
  size_t prefix = sizeof before - 1, size = strlen(name) + 1;
  if (names->sh_offset > i->size || section->sh_name > i->size) return false;
  uint64_t at = names->sh_offset + section->sh_name;
  return at <= i->size && prefix + size <= i->size - at &&
         memcmp(i->bytes + at, before, prefix) == 0 &&
         memcmp(i->bytes + at + prefix, name, size) == 0;
}

bool kmbi_cuda_image_find(const void *bytes, size_t size, const char *name,
                          uint64_t *offset, uint64_t *length) {
  const image i = {bytes, size};
  Elf64_Ehdr head;
  Elf64_Shdr names, section;
  if (!copy_at(&i, 0, &head, sizeof head) ||
      memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 ||
      !section_at(&i, &head, head.e_shstrndx, &names))
    return false;
  for (uint64_t s = 0; section_at(&i, &head, s, &section); s++) {
    if (section.sh_type != SHT_PROGBITS ||
        !is_named(&i, &names, &section, name))
      continue;
    *offset = section.sh_offset;
    *length = section.sh_size;
    return section.sh_size && section.sh_offset <= size &&
           section.sh_size <= size - section.sh_offset;
  }
  return false;
}
