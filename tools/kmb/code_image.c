/* What stands in an image, through libelf. Nothing in it is trusted. */
#include "code_elf.h"

#include <stdarg.h>
#include <stdlib.h>

enum { MACHINE_CUDA = 190, MACHINE_AMD = 224 };

int elf_refuse(const elf_reading *r, int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(r->why, CODE_WHY, format, arguments);
  va_end(arguments);
  return code;
}

int elf_no_memory(const elf_reading *r) {
  return elf_refuse(r, EXIT_FAILED, "out of memory");
}

static bool lies_within(const elf_reading *r, uint64_t offset, uint64_t size) {
  return offset <= r->size && size <= r->size - offset;
}

elf_part elf_bytes(const elf_reading *r, const GElf_Shdr *header) {
  elf_part p = {r->data + header->sh_offset, header->sh_size};
  if (header->sh_type == SHT_NOBITS) p = (elf_part){NULL, 0};
  return p;
}

/* Sections, by name. */

static int by_section(const void *a, const void *b) {
  return strcmp(((const elf_section *)a)->name, ((const elf_section *)b)->name);
}

/* `wanted` is in two parts. */
static int compare_name(const char *name, const char *prefix,
                        const char *rest) {
  size_t size = strlen(prefix);
  int order = strncmp(name, prefix, size);
  return order ? order : strcmp(name + size, rest);
}

const elf_section *elf_find(const elf_reading *r, const char *prefix,
                            const char *kernel) {
  size_t low = 0, high = r->section_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_name(r->sections[middle].name, prefix, kernel) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  bool found = low < r->section_count &&
               !compare_name(r->sections[low].name, prefix, kernel);
  return found ? &r->sections[low] : NULL;
}

/* Symbols and kernels. */

const char *elf_symbol(const elf_reading *r, size_t index, GElf_Sym *symbol) {
  if (!gelf_getsym(r->symbols, (int)index, symbol)) return NULL;
  return elf_strptr(r->elf, r->symbol_names, symbol->st_name);
}

int elf_code(const elf_reading *r, const GElf_Sym *symbol, const char *name,
             elf_part *code) {
  GElf_Shdr header;
  Elf_Scn *section = elf_getscn(r->elf, symbol->st_shndx);
  if (!section || !gelf_getshdr(section, &header))
    return elf_refuse(r, EXIT_FORMAT, "kernel %.100s has no section", name);
  *code = elf_bytes(r, &header);
  uint64_t at = symbol->st_value - header.sh_addr;
  if (symbol->st_value < header.sh_addr || at > code->size ||
      symbol->st_size > code->size - at)
    return elf_refuse(r, EXIT_FORMAT, "kernel %.100s does not fit its section",
                      name);
  if (code->at) code->at += at;
  code->size = symbol->st_size;
  return EXIT_DONE;
}

int elf_add_kernel(elf_reading *r, const char *name, elf_part code) {
  code_image *image = r->image;
  code_kernel *k = &image->kernels[image->kernel_count];
  /* Kernels may lie over each other, but not without end. */
  r->hashed += code.size;
  if (r->hashed > 4 * (uint64_t)r->size)
    return elf_refuse(r, EXIT_FORMAT,
                      "its kernels claim more code than the file holds");
  *k = (code_kernel){.name = strdup(name),
                     .demangled = code_demangle(name),
                     .code = code.at,
                     .code_bytes = code.size};
  image->kernel_count++;
  if (!k->name) return elf_no_memory(r);
  kmb_code_hash(k->code, k->code_bytes, k->hash);
  return EXIT_DONE;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const code_kernel *)a)->name, ((const code_kernel *)b)->name);
}

/* Headers. */

static int take_section(elf_reading *r, Elf_Scn *s, size_t names,
                        const GElf_Shdr *header) {
  const char *name = elf_strptr(r->elf, names, header->sh_name);
  if (name) r->sections[r->section_count++] = (elf_section){name, *header};
  /* A file without its full table of symbols has that of the loader. */
  bool symbols = header->sh_type == SHT_SYMTAB ||
                 (header->sh_type == SHT_DYNSYM && !r->symbols);
  if (!symbols) return EXIT_DONE;
  if (header->sh_entsize == 0)
    return elf_refuse(r, EXIT_FORMAT, "its symbols have no size");
  r->symbols = elf_getdata(s, NULL);
  r->symbol_names = header->sh_link;
  r->symbol_count = r->symbols ? header->sh_size / header->sh_entsize : 0;
  return EXIT_DONE;
}

/* Every part that the headers name lies in the file: what was cut short is
 * never read as if it were whole. */
static int check_extent(elf_reading *r) {
  GElf_Shdr section;
  size_t count = 0, names = 0;
  static const char cut[] = "it is cut short: %zu bytes, and its %s go on";
  if (!gelf_getehdr(r->elf, &r->header))
    return elf_refuse(r, EXIT_FORMAT, cut, r->size, "header");
  if (!lies_within(r, r->header.e_phoff,
                   (uint64_t)r->header.e_phnum * r->header.e_phentsize))
    return elf_refuse(r, EXIT_FORMAT, cut, r->size, "program headers");
  if (!r->header.e_shoff || elf_getshdrnum(r->elf, &count) || count > r->size ||
      count < r->header.e_shnum ||
      !lies_within(r, r->header.e_shoff, count * r->header.e_shentsize))
    return elf_refuse(r, EXIT_FORMAT, cut, r->size, "section headers");
  if (elf_getshdrstrndx(r->elf, &names))
    return elf_refuse(r, EXIT_FORMAT, "its sections have no names");
  r->sections = calloc(count + 1, sizeof *r->sections);
  r->walked = calloc(count + 1, 1);
  if (!r->sections || !r->walked) return elf_no_memory(r);
  for (Elf_Scn *s = elf_nextscn(r->elf, NULL); s; s = elf_nextscn(r->elf, s)) {
    if (!gelf_getshdr(s, &section) || r->section_count > count)
      return elf_refuse(r, EXIT_FORMAT, cut, r->size, "section headers");
    if (section.sh_type != SHT_NOBITS &&
        !lies_within(r, section.sh_offset, section.sh_size))
      return elf_refuse(r, EXIT_FORMAT, cut, r->size, "sections");
    int wrong = take_section(r, s, names, &section);
    if (wrong) return wrong;
  }
  qsort(r->sections, r->section_count, sizeof *r->sections, by_section);
  return EXIT_DONE;
}

static bool contains(const elf_reading *r, const char *word) {
  size_t size = strlen(word);
  for (size_t i = 0; i + size <= r->size; i++)
    if (memcmp(r->data + i, word, size) == 0) return true;
  return false;
}

/* What people hand in in place of a cubin. */
static int check_kind(const elf_reading *r) {
  static const char bundle[] = "__CLANG_OFFLOAD_BUNDLE__";
  static const uint8_t fat[] = {0x50, 0xed, 0x55, 0xba};
  if (!r->size) return elf_refuse(r, EXIT_FORMAT, "it is empty");
  if (r->size >= sizeof fat && memcmp(r->data, fat, sizeof fat) == 0)
    return elf_refuse(r, EXIT_FORMAT,
                      "it is a fat binary: take its cubins out with cuobjdump "
                      "-xelf all");
  if (r->size >= SELFMAG && memcmp(r->data, ELFMAG, SELFMAG) == 0)
    return EXIT_DONE;
  if (r->size >= sizeof bundle - 1 &&
      memcmp(r->data, bundle, sizeof bundle - 1) == 0)
    return elf_refuse(r, EXIT_FORMAT,
                      "it is a bundle of code for several targets: take one "
                      "out with clang-offload-bundler --unbundle");
  if (contains(r, ".version") && contains(r, ".target"))
    return elf_refuse(
        r, EXIT_FORMAT,
        "it is PTX, which the driver has yet to compile: what runs "
        "is the cubin (ptxas -arch=sm_90, say)");
  return elf_refuse(r, EXIT_FORMAT,
                    "it is neither a cubin nor another ELF file");
}

static int read_machine(elf_reading *r) {
  switch (r->header.e_machine) {
  case MACHINE_CUDA:
    return code_read_nvidia(r);
  case MACHINE_AMD:
    return code_read_amd(r);
  default:
    return elf_refuse(r, EXIT_FORMAT,
                      "it is an ELF file for machine %u, not for a GPU that is "
                      "known here; a program's cubins come out with cuobjdump "
                      "-xelf all",
                      r->header.e_machine);
  }
}

static int read_all(elf_reading *r) {
  int wrong = check_kind(r);
  if (wrong) return wrong;
  if (r->size < sizeof(Elf64_Ehdr))
    return elf_refuse(r, EXIT_FORMAT, "it is cut short: %zu bytes", r->size);
  if (r->data[EI_CLASS] != ELFCLASS64 || r->data[EI_DATA] != ELFDATA2LSB)
    return elf_refuse(r, EXIT_FORMAT, "it is no 64-bit little-endian ELF file");
  elf_version(EV_CURRENT);
  /* libelf reads through a pointer that is not const. */
  char *data = NULL;
  memcpy(&data, &r->data, sizeof data);
  r->elf = elf_memory(data, r->size);
  if (!r->elf || elf_kind(r->elf) != ELF_K_ELF)
    return elf_refuse(r, EXIT_FORMAT, "it cannot be read as ELF: %s",
                      elf_errmsg(-1));
  wrong = check_extent(r);
  if (!wrong) wrong = read_machine(r);
  if (!wrong && r->image->kernel_count)
    qsort(r->image->kernels, r->image->kernel_count, sizeof *r->image->kernels,
          by_name);
  return wrong;
}

int code_image_read(const void *data, size_t size, code_image *image,
                    char why[CODE_WHY]) {
  elf_reading r = {.data = data, .size = size, .image = image};
  r.why = why;
  *image = (code_image){.bytes = size};
  int wrong = read_all(&r);
  free(r.sections);
  free(r.walked);
  if (r.elf) elf_end(r.elf);
  if (!wrong && kmb_code_hash(data, size, image->hash))
    wrong = elf_refuse(&r, EXIT_FAILED, "it has no hash");
  if (wrong) code_image_free(image);
  return wrong;
}

void code_kernel_free(code_kernel *kernel) {
  free(kernel->name);
  free(kernel->demangled);
}

void code_image_free(code_image *image) {
  for (size_t i = 0; i < image->kernel_count; i++)
    code_kernel_free(&image->kernels[i]);
  free(image->kernels);
  *image = (code_image){.kernels = NULL};
}
