/* What stands in a cubin, through libelf. Nothing in it is trusted. */
#include "code.h"
#include "kmb.h"

#include <gelf.h>
#include <stdarg.h>
#include <stdlib.h>

enum {
  MACHINE_CUDA = 190,
  ABI_FLAGS_LOW = 7,        /* the processor's number in the low byte */
  ABI_FLAGS_HIGH = 8,       /* in the second */
  FLAG_ACCELERATED = 0x800, /* sm_90a; of the older ABI */
  ENTRY = 0x10,             /* st_other of what can be launched */
  KERNELS_MOST = 65536
};

/* Attributes of .nv.info, and how each is written. */
enum {
  FORMAT_SIZED = 4,
  ATTR_MAX_THREADS = 0x05,
  ATTR_REQUIRED_THREADS = 0x10,
  ATTR_FRAME_SIZE = 0x11,
  ATTR_STACK_SIZE = 0x12,
  ATTR_REGISTERS = 0x2f
};

typedef struct part {
  const uint8_t *at;
  uint64_t size;
} part;

typedef struct reading {
  const uint8_t *data;
  size_t size;
  Elf *elf;
  size_t names; /* index of the section that names the sections */
  Elf_Data *symbols;
  size_t symbol_names, symbol_count;
  char *why;
  code_image *image;
} reading;

static int refuse(const reading *r, int code, const char *format, ...)
    KMB_PRINTF(3, 4);
static int refuse(const reading *r, int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(r->why, CODE_WHY, format, arguments);
  va_end(arguments);
  return code;
}

static int no_memory(const reading *r) {
  return refuse(r, EXIT_FAILED, "out of memory");
}

static uint32_t word_at(const uint8_t *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
         (uint32_t)at[3] << 24;
}

static bool lies_within(const reading *r, uint64_t offset, uint64_t size) {
  return offset <= r->size && size <= r->size - offset;
}

/* The bytes of a section; none of one that takes no room in the file. */
static part bytes_of(const reading *r, const GElf_Shdr *header) {
  part p = {r->data + header->sh_offset, header->sh_size};
  if (header->sh_type == SHT_NOBITS) p = (part){NULL, 0};
  return p;
}

/* A section by its name, and NAME of a kernel after it. */
static bool find_section(const reading *r, const char *prefix,
                         const char *kernel, GElf_Shdr *header) {
  size_t size = strlen(prefix);
  for (Elf_Scn *s = elf_nextscn(r->elf, NULL); s; s = elf_nextscn(r->elf, s)) {
    if (!gelf_getshdr(s, header)) continue;
    const char *name = elf_strptr(r->elf, r->names, header->sh_name);
    if (name && strncmp(name, prefix, size) == 0 &&
        strcmp(name + size, kernel) == 0)
      return true;
  }
  return false;
}

static code_number number(uint64_t value) {
  return (code_number){value, true};
}

/* Takes one attribute of a kernel. */
static void take_attribute(code_kernel *k, size_t symbol, int id, part value) {
  bool of_symbol = value.size >= 8 && word_at(value.at) == symbol;
  if (id == ATTR_REGISTERS && of_symbol)
    k->registers = number(word_at(value.at + 4));
  /* The whole stack, where the compiler could tell; before linking its own
   * frame is all that is known. */
  if (id == ATTR_STACK_SIZE && of_symbol) {
    k->stack_bytes = number(word_at(value.at + 4));
    k->stack_bytes.known = k->stack_bytes.value != UINT32_MAX;
    k->stack_stated = true;
  }
  if (id == ATTR_FRAME_SIZE && of_symbol && !k->stack_stated)
    k->stack_bytes = number(word_at(value.at + 4));
  if ((id != ATTR_MAX_THREADS && id != ATTR_REQUIRED_THREADS) ||
      value.size < 12)
    return;
  uint64_t threads = word_at(value.at);
  for (size_t i = 1; i < 3; i++) {
    uint64_t factor = word_at(value.at + 4 * i);
    if (factor && threads > UINT32_MAX / factor) return;
    threads *= factor;
  }
  if (threads) k->max_threads = number(threads);
}

/* Walks a section of attributes; what it holds beyond its end is refused. */
static int read_attributes(const reading *r, const char *prefix,
                           const char *name, code_kernel *k, size_t symbol) {
  GElf_Shdr header;
  if (!find_section(r, prefix, name, &header)) return EXIT_DONE;
  part p = bytes_of(r, &header);
  while (p.size >= 4) {
    uint64_t size = (uint64_t)p.at[2] | (uint64_t)p.at[3] << 8;
    int format = p.at[0], id = p.at[1];
    if (format != FORMAT_SIZED) size = 0;
    if (size > p.size - 4)
      return refuse(r, EXIT_FORMAT,
                    "an attribute in %s%s is longer than the section", prefix,
                    name);
    if (format == FORMAT_SIZED)
      take_attribute(k, symbol, id, (part){p.at + 4, size});
    p.at += 4 + size;
    p.size -= 4 + size;
  }
  if (p.size)
    return refuse(r, EXIT_FORMAT, "%s%s ends within an attribute", prefix,
                  name);
  return EXIT_DONE;
}

static code_number section_size(const reading *r, const char *prefix,
                                const char *name) {
  GElf_Shdr header;
  return number(find_section(r, prefix, name, &header) ? header.sh_size : 0);
}

static int add_kernel(reading *r, const GElf_Sym *symbol, size_t index,
                      const char *name) {
  code_image *image = r->image;
  code_kernel *k = &image->kernels[image->kernel_count];
  GElf_Shdr header;
  Elf_Scn *section = elf_getscn(r->elf, symbol->st_shndx);
  if (!section || !gelf_getshdr(section, &header))
    return refuse(r, EXIT_FORMAT, "kernel %.100s has no section", name);
  part code = bytes_of(r, &header);
  if (symbol->st_value > code.size ||
      symbol->st_size > code.size - symbol->st_value)
    return refuse(r, EXIT_FORMAT, "kernel %.100s does not fit its section",
                  name);
  *k = (code_kernel){.name = strdup(name),
                     .demangled = code_demangle(name),
                     .code = code.at ? code.at + symbol->st_value : NULL,
                     .code_bytes = symbol->st_size,
                     .shared_bytes = section_size(r, ".nv.shared.", name),
                     .local_bytes = section_size(r, ".nv.local.", name)};
  image->kernel_count++;
  if (!k->name) return no_memory(r);
  kmb_code_hash(k->code, k->code_bytes, k->hash);
  int wrong = read_attributes(r, ".nv.info", "", k, index);
  return wrong ? wrong : read_attributes(r, ".nv.info.", name, k, index);
}

static bool is_kernel(const GElf_Sym *symbol) {
  return GELF_ST_TYPE(symbol->st_info) == STT_FUNC &&
         (symbol->st_other & ENTRY) && symbol->st_shndx != SHN_UNDEF &&
         symbol->st_shndx < SHN_LORESERVE;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const code_kernel *)a)->name, ((const code_kernel *)b)->name);
}

static int read_kernels(reading *r) {
  size_t count = 0;
  GElf_Sym symbol;
  for (size_t i = 0; i < r->symbol_count; i++)
    count += gelf_getsym(r->symbols, (int)i, &symbol) && is_kernel(&symbol);
  if (!count) return EXIT_DONE;
  if (count > KERNELS_MOST)
    return refuse(r, EXIT_FORMAT, "it claims %zu kernels", count);
  r->image->kernels = calloc(count, sizeof *r->image->kernels);
  if (!r->image->kernels) return no_memory(r);
  for (size_t i = 0; i < r->symbol_count; i++) {
    if (!gelf_getsym(r->symbols, (int)i, &symbol) || !is_kernel(&symbol))
      continue;
    const char *name = elf_strptr(r->elf, r->symbol_names, symbol.st_name);
    if (!name || !*name) return refuse(r, EXIT_FORMAT, "a kernel has no name");
    int wrong = add_kernel(r, &symbol, i, name);
    if (wrong) return wrong;
  }
  qsort(r->image->kernels, r->image->kernel_count, sizeof *r->image->kernels,
        by_name);
  return EXIT_DONE;
}

/* Every part that the headers name lies in the file: what was cut short is
 * never read as if it were whole. */
static int check_extent(reading *r) {
  GElf_Ehdr header;
  GElf_Shdr section;
  size_t sections = 0;
  static const char cut[] = "it is cut short: %zu bytes, and its %s go on";
  if (!gelf_getehdr(r->elf, &header))
    return refuse(r, EXIT_FORMAT, cut, r->size, "header");
  if (!lies_within(r, header.e_phoff,
                   (uint64_t)header.e_phnum * header.e_phentsize))
    return refuse(r, EXIT_FORMAT, cut, r->size, "program headers");
  if (!header.e_shoff || elf_getshdrnum(r->elf, &sections) ||
      sections > r->size ||
      !lies_within(r, header.e_shoff, sections * header.e_shentsize))
    return refuse(r, EXIT_FORMAT, cut, r->size, "section headers");
  if (elf_getshdrstrndx(r->elf, &r->names))
    return refuse(r, EXIT_FORMAT, "its sections have no names");
  for (Elf_Scn *s = elf_nextscn(r->elf, NULL); s; s = elf_nextscn(r->elf, s)) {
    if (!gelf_getshdr(s, &section))
      return refuse(r, EXIT_FORMAT, cut, r->size, "section headers");
    if (section.sh_type != SHT_NOBITS &&
        !lies_within(r, section.sh_offset, section.sh_size))
      return refuse(r, EXIT_FORMAT, cut, r->size, "sections");
    if (section.sh_type != SHT_SYMTAB || r->symbols) continue;
    if (section.sh_entsize == 0)
      return refuse(r, EXIT_FORMAT, "its symbols have no size");
    r->symbols = elf_getdata(s, NULL);
    r->symbol_names = section.sh_link;
    r->symbol_count = r->symbols ? section.sh_size / section.sh_entsize : 0;
  }
  return EXIT_DONE;
}

/* Whether the code is for one processor's own instructions (sm_90a). */
static bool is_accelerated(const reading *r) {
  GElf_Shdr header;
  if (!find_section(r, ".nv.compat", "", &header)) return false;
  part p = bytes_of(r, &header);
  return p.size >= 4 && p.at[0] == 2 && p.at[1] == 9 && p.at[2];
}

static int read_arch(const reading *r) {
  GElf_Ehdr header;
  if (!gelf_getehdr(r->elf, &header))
    return refuse(r, EXIT_FORMAT, "its header cannot be read");
  if (header.e_machine != MACHINE_CUDA)
    return refuse(r, EXIT_FORMAT,
                  "it is an ELF file for machine %u, not for a GPU that is "
                  "known here; a program's cubins come out with cuobjdump "
                  "-xelf all",
                  header.e_machine);
  unsigned abi = header.e_ident[EI_ABIVERSION];
  unsigned sm = header.e_flags & 0xff;
  bool own = header.e_flags & FLAG_ACCELERATED;
  if (abi == ABI_FLAGS_HIGH) {
    sm = header.e_flags >> 8 & 0xff;
    own = is_accelerated(r);
  } else if (abi != ABI_FLAGS_LOW) {
    return refuse(r, EXIT_FORMAT,
                  "it is a cubin of ABI %u, whose architecture cannot be read "
                  "here; 7 and 8 can",
                  abi);
  }
  if (sm < 50 || sm > 199)
    return refuse(r, EXIT_FORMAT,
                  "it is a cubin of an unknown architecture, number %u", sm);
  snprintf(r->image->arch, sizeof r->image->arch, "sm_%u%s", sm,
           own ? "a" : "");
  return EXIT_DONE;
}

static bool contains(const reading *r, const char *word) {
  size_t size = strlen(word);
  for (size_t i = 0; i + size <= r->size; i++)
    if (memcmp(r->data + i, word, size) == 0) return true;
  return false;
}

/* What people hand in in place of a cubin. */
static int check_kind(const reading *r) {
  static const uint8_t fat[] = {0x50, 0xed, 0x55, 0xba};
  if (!r->size) return refuse(r, EXIT_FORMAT, "it is empty");
  if (r->size >= sizeof fat && memcmp(r->data, fat, sizeof fat) == 0)
    return refuse(r, EXIT_FORMAT,
                  "it is a fat binary: take its cubins out with cuobjdump "
                  "-xelf all");
  if (r->size >= SELFMAG && memcmp(r->data, ELFMAG, SELFMAG) == 0)
    return EXIT_DONE;
  if (contains(r, ".version") && contains(r, ".target"))
    return refuse(r, EXIT_FORMAT,
                  "it is PTX, which the driver has yet to compile: what runs "
                  "is the cubin (ptxas -arch=sm_90, say)");
  return refuse(r, EXIT_FORMAT, "it is neither a cubin nor another ELF file");
}

static int read_all(reading *r) {
  int wrong = check_kind(r);
  if (wrong) return wrong;
  if (r->size < sizeof(Elf64_Ehdr))
    return refuse(r, EXIT_FORMAT, "it is cut short: %zu bytes", r->size);
  if (r->data[EI_CLASS] != ELFCLASS64 || r->data[EI_DATA] != ELFDATA2LSB)
    return refuse(r, EXIT_FORMAT, "it is no 64-bit little-endian ELF file");
  elf_version(EV_CURRENT);
  /* libelf reads through a pointer that is not const. */
  char *data = NULL;
  memcpy(&data, &r->data, sizeof data);
  r->elf = elf_memory(data, r->size);
  if (!r->elf || elf_kind(r->elf) != ELF_K_ELF)
    return refuse(r, EXIT_FORMAT, "it cannot be read as ELF: %s",
                  elf_errmsg(-1));
  wrong = check_extent(r);
  if (!wrong) wrong = read_arch(r);
  return wrong ? wrong : read_kernels(r);
}

int code_image_read(const void *data, size_t size, code_image *image,
                    char why[CODE_WHY]) {
  reading r = {.data = data, .size = size, .image = image};
  r.why = why;
  *image = (code_image){.bytes = size};
  int wrong = read_all(&r);
  if (r.elf) elf_end(r.elf);
  if (!wrong && kmb_code_hash(data, size, image->hash))
    wrong = refuse(&r, EXIT_FAILED, "it has no hash");
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
