/* A code object is an ELF file of 64 bits: a symbol says where a kernel's
 * instructions stand, a note has the metadata. */
#include "image.h"

#include <elf.h>
#include <string.h>

enum { MACHINE = 224, NOTE_METADATA = 32 };

typedef struct image {
  const char *bytes;
  size_t size;
  Elf64_Ehdr head;
} image;

static bool is_within(const image *i, uint64_t offset, uint64_t size) {
  return offset <= i->size && size <= i->size - offset;
}

/* A copy, since nothing in an image need be aligned. */
static bool copy_at(const image *i, uint64_t offset, void *to, size_t size) {
  if (!is_within(i, offset, size)) return false;
  memcpy(to, i->bytes + offset, size);
  return true;
}

/* Of a table's rows. */
static bool row_at(const image *i, uint64_t table, uint64_t index, void *to,
                   size_t size) {
  return table <= i->size && copy_at(i, table + index * size, to, size);
}

static bool section_at(const image *i, uint64_t index, Elf64_Shdr *section) {
  return index < i->head.e_shnum &&
         row_at(i, i->head.e_shoff, index, section, sizeof *section);
}

static bool open_image(image *i) {
  return copy_at(i, 0, &i->head, sizeof i->head) &&
         memcmp(i->head.e_ident, ELFMAG, SELFMAG) == 0 &&
         i->head.e_ident[EI_CLASS] == ELFCLASS64 &&
         i->head.e_ident[EI_DATA] == ELFDATA2LSB &&
         i->head.e_machine == MACHINE && i->head.e_shnum &&
         i->head.e_shentsize == sizeof(Elf64_Shdr) &&
         (!i->head.e_phnum || i->head.e_phentsize == sizeof(Elf64_Phdr));
}

/* What is cut short is not read in part; and HIP's loader goes by what is in
 * there, whatever the image's size is. */
static bool is_whole(const image *i) {
  Elf64_Shdr section;
  Elf64_Phdr segment;
  for (uint64_t s = 0; s < i->head.e_shnum; s++)
    if (!section_at(i, s, &section) ||
        (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
         !is_within(i, section.sh_offset, section.sh_size)))
      return false;
  for (uint64_t s = 0; s < i->head.e_phnum; s++)
    if (!row_at(i, i->head.e_phoff, s, &segment, sizeof segment) ||
        !is_within(i, segment.p_offset, segment.p_filesz))
      return false;
  return true;
}

/* The function of this name, in a table of symbols. */
static bool find_symbol(const image *i, const Elf64_Shdr *table,
                        const char *kernel, Elf64_Sym *symbol) {
  Elf64_Shdr names;
  size_t size = strlen(kernel) + 1;
  if (!section_at(i, table->sh_link, &names) || names.sh_offset > i->size)
    return false;
  for (uint64_t s = 0; s < table->sh_size / sizeof *symbol; s++) {
    if (!row_at(i, table->sh_offset, s, symbol, sizeof *symbol)) return false;
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) continue;
    uint64_t at = names.sh_offset + symbol->st_name;
    if (is_within(i, at, size) && memcmp(i->bytes + at, kernel, size) == 0)
      return true;
  }
  return false;
}

/* All sections lie within the image. */
static void place(const image *i, const Elf64_Sym *symbol,
                  kmbi_hip_facts *facts) {
  Elf64_Shdr text;
  if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE ||
      !section_at(i, symbol->st_shndx, &text) || text.sh_type != SHT_PROGBITS)
    return;
  uint64_t at = symbol->st_value - text.sh_addr;
  if (at > text.sh_size || symbol->st_size > text.sh_size - at) return;
  facts->offset = text.sh_offset + at;
  facts->bytes = symbol->st_size;
}

static uint64_t padded(uint32_t size) {
  return ((uint64_t)size + 3) & ~UINT64_C(3);
}

/* Of all notes those of metadata. */
static void read_notes(const image *i, const Elf64_Shdr *section,
                       const char *kernel, kmbi_hip_facts *facts) {
  static const char owner[] = "AMDGPU";
  uint64_t at = section->sh_offset, left = section->sh_size;
  Elf64_Nhdr note;
  while (left >= sizeof note && copy_at(i, at, &note, sizeof note)) {
    uint64_t name = sizeof note, content = name + padded(note.n_namesz);
    uint64_t all = content + padded(note.n_descsz);
    if (content + note.n_descsz > left) return;
    if (note.n_type == NOTE_METADATA && note.n_namesz == sizeof owner &&
        memcmp(i->bytes + at + name, owner, sizeof owner) == 0)
      kmbi_hip_metadata_read(i->bytes + at + content, note.n_descsz, kernel,
                             facts);
    if (all > left) return;
    at += all;
    left -= all;
  }
}

void kmbi_hip_image_read(const void *bytes, size_t size, const char *kernel,
                         kmbi_hip_facts *facts) {
  image i = {.bytes = bytes, .size = size};
  Elf64_Shdr section;
  Elf64_Sym symbol;
  memset(facts, 0, sizeof *facts);
  facts->whole = open_image(&i) && is_whole(&i);
  if (!facts->whole) return;
  for (uint64_t s = 0; section_at(&i, s, &section); s++) {
    if (section.sh_type == SHT_NOTE) read_notes(&i, &section, kernel, facts);
    if ((section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) &&
        !facts->bytes && find_symbol(&i, &section, kernel, &symbol))
      place(&i, &symbol, facts);
  }
}
