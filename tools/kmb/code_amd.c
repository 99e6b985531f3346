/* What stands in a code object for AMD's GPUs: a kernel is a descriptor NAME.kd
 * and the function NAME; what it takes the note of metadata says. Nothing in it
 * is trusted. */
#include "code_elf.h"
#include "code_pack.h"

#include <stdlib.h>

enum {
  OS_HSA = 64,
  NOTE_METADATA = 32,
  DESCRIPTOR_BYTES = 64,
  LDS_AT = 0, /* in a descriptor */
  SCRATCH_AT = 4
};

/* Numbers of processors in the low byte of e_flags. */
static const struct {
  uint8_t number;
  const char *name;
} processors[] = {
    {0x2c, "gfx900"},  {0x2d, "gfx902"},  {0x2e, "gfx904"},  {0x2f, "gfx906"},
    {0x30, "gfx908"},  {0x31, "gfx909"},  {0x32, "gfx90c"},  {0x33, "gfx1010"},
    {0x34, "gfx1011"}, {0x35, "gfx1012"}, {0x36, "gfx1030"}, {0x37, "gfx1031"},
    {0x38, "gfx1032"}, {0x39, "gfx1033"}, {0x3d, "gfx1035"}, {0x3e, "gfx1034"},
    {0x3f, "gfx90a"},  {0x40, "gfx940"},  {0x41, "gfx1100"}, {0x42, "gfx1013"},
    {0x43, "gfx1150"}, {0x44, "gfx1103"}, {0x45, "gfx1036"}, {0x46, "gfx1101"},
    {0x47, "gfx1102"}, {0x48, "gfx1200"}, {0x4a, "gfx1151"}, {0x4b, "gfx941"},
    {0x4c, "gfx942"},  {0x4e, "gfx1201"}, {0x4f, "gfx950"}};

static int read_arch(elf_reading *r) {
  unsigned number = r->header.e_flags & 0xff;
  if (r->header.e_ident[EI_OSABI] != OS_HSA)
    return elf_refuse(r, EXIT_FORMAT,
                      "it is an ELF file for AMD GPUs, but not of HSA's ABI "
                      "(amdgcn-amd-amdhsa), which HIP uses");
  for (size_t i = 0; i < sizeof processors / sizeof processors[0]; i++) {
    if (processors[i].number != number) continue;
    snprintf(r->image->arch, sizeof r->image->arch, "%s", processors[i].name);
    return EXIT_DONE;
  }
  return elf_refuse(r, EXIT_FORMAT,
                    "it is a code object of an unknown architecture, number "
                    "0x%x",
                    number);
}

/* Kernels. */

typedef struct function {
  const char *name;
  GElf_Sym symbol;
} function;

static int by_function(const void *a, const void *b) {
  return strcmp(((const function *)a)->name, ((const function *)b)->name);
}

static bool is_here(const GElf_Sym *symbol) {
  return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE;
}

/* Of NAME.kd the size of NAME, 0 for another symbol. */
static size_t descriptor_of(const GElf_Sym *symbol, const char *name) {
  size_t size = name ? strlen(name) : 0;
  bool good = size > 3 && strcmp(name + size - 3, ".kd") == 0 &&
              GELF_ST_TYPE(symbol->st_info) == STT_OBJECT && is_here(symbol);
  return good ? size - 3 : 0;
}

static int add_kernel(elf_reading *r, const GElf_Sym *descriptor,
                      const char *name, const function *functions,
                      size_t count) {
  elf_part code, bytes;
  function wanted = {.name = name};
  const function *f =
      count ? bsearch(&wanted, functions, count, sizeof *functions, by_function)
            : NULL;
  if (!f)
    return elf_refuse(r, EXIT_FORMAT,
                      "kernel %.100s has a descriptor and no function", name);
  int wrong = elf_code(r, descriptor, name, &bytes);
  if (!wrong) wrong = elf_code(r, &f->symbol, name, &code);
  if (wrong) return wrong;
  if (!bytes.at || bytes.size != DESCRIPTOR_BYTES)
    return elf_refuse(r, EXIT_FORMAT,
                      "the descriptor of kernel %.100s takes %llu bytes, not "
                      "64",
                      name, (unsigned long long)bytes.size);
  wrong = elf_add_kernel(r, name, code);
  if (wrong) return wrong;
  code_kernel *k = &r->image->kernels[r->image->kernel_count - 1];
  k->shared_bytes = (code_number){elf_word(bytes.at + LDS_AT), true};
  k->stack_bytes = (code_number){elf_word(bytes.at + SCRATCH_AT), true};
  return EXIT_DONE;
}

/* Functions, ordered by name, and how many descriptors there are. */
static size_t list_functions(const elf_reading *r, function *functions,
                             size_t *descriptors) {
  size_t count = 0;
  *descriptors = 0;
  for (size_t i = 0; i < r->symbol_count; i++) {
    GElf_Sym symbol;
    const char *name = elf_symbol(r, i, &symbol);
    if (name && GELF_ST_TYPE(symbol.st_info) == STT_FUNC && is_here(&symbol))
      functions[count++] = (function){name, symbol};
    *descriptors += descriptor_of(&symbol, name) != 0;
  }
  qsort(functions, count, sizeof *functions, by_function);
  return count;
}

static int add_kernels(elf_reading *r, const function *functions,
                       size_t count) {
  int wrong = EXIT_DONE;
  for (size_t i = 0; i < r->symbol_count && !wrong; i++) {
    GElf_Sym symbol;
    const char *full = elf_symbol(r, i, &symbol);
    size_t size = descriptor_of(&symbol, full);
    if (!size) continue;
    char *name = strndup(full, size);
    wrong = name ? add_kernel(r, &symbol, name, functions, count)
                 : elf_no_memory(r);
    free(name);
  }
  return wrong;
}

static int read_kernels(elf_reading *r) {
  size_t descriptors = 0;
  if (!r->symbol_count) return EXIT_DONE;
  function *functions = calloc(r->symbol_count, sizeof *functions);
  if (!functions) return elf_no_memory(r);
  size_t count = list_functions(r, functions, &descriptors);
  int wrong = EXIT_DONE;
  if (descriptors > CODE_KERNELS_MOST)
    wrong = elf_refuse(r, EXIT_FORMAT, "it claims %zu kernels", descriptors);
  if (!wrong && descriptors) {
    r->image->kernels = calloc(descriptors, sizeof *r->image->kernels);
    wrong =
        r->image->kernels ? add_kernels(r, functions, count) : elf_no_memory(r);
  }
  free(functions);
  return wrong;
}

/* The note. */

static int by_name(const void *a, const void *b) {
  return strcmp(((const code_kernel *)a)->name, ((const code_kernel *)b)->name);
}

static code_kernel *find(const elf_reading *r, const pack_value *symbol) {
  if (symbol->kind != PACK_TEXT || symbol->size < 4 ||
      memcmp(symbol->text + symbol->size - 3, ".kd", 3) != 0)
    return NULL;
  size_t low = 0, high = r->image->kernel_count, size = symbol->size - 3;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const char *name = r->image->kernels[middle].name;
    int order = strncmp(name, symbol->text, size);
    if (!order && !name[size]) return &r->image->kernels[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

static const struct {
  const char *key;
  size_t offset;
} numbers[] = {
    {".vgpr_count", offsetof(code_kernel, registers)},
    {".agpr_count", offsetof(code_kernel, accumulators)},
    {".sgpr_count", offsetof(code_kernel, scalars)},
    {".vgpr_spill_count", offsetof(code_kernel, spilled)},
    {".sgpr_spill_count", offsetof(code_kernel, spilled_scalars)},
    {".max_flat_workgroup_size", offsetof(code_kernel, max_threads)},
    {".wavefront_size", offsetof(code_kernel, wavefront)},
};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

/* One map of the list of kernels. */
static bool take_kernel(const elf_reading *r, pack *p) {
  pack_value map, key, value, symbol = {.kind = PACK_OTHER};
  code_number found[NUMBERS] = {{0, false}};
  if (!pack_take(p, &map) || map.kind != PACK_MAP) return false;
  for (uint64_t i = 0; i < map.count; i++) {
    if (!pack_take(p, &key) || !pack_pass(p, &key) || !pack_take(p, &value) ||
        !pack_pass(p, &value))
      return false;
    if (pack_is(&key, ".symbol")) symbol = value;
    for (size_t n = 0; n < NUMBERS; n++)
      if (value.kind == PACK_COUNT && pack_is(&key, numbers[n].key))
        found[n] = (code_number){value.count, true};
  }
  code_kernel *k = find(r, &symbol);
  for (size_t n = 0; k && n < NUMBERS; n++)
    memcpy((char *)k + numbers[n].offset, &found[n], sizeof found[n]);
  return true;
}

/* "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-": what follows the processor are
 * settings that the code was made for. */
static void take_target(const elf_reading *r, const pack_value *target) {
  size_t size = strlen(r->image->arch), room = sizeof r->image->arch;
  for (size_t i = 0; i + size <= target->size; i++) {
    if (memcmp(target->text + i, r->image->arch, size) != 0) continue;
    size_t left = target->size - i;
    if (left >= room || (left > size && target->text[i + size] != ':')) return;
    for (size_t c = 0; c < left; c++)
      if (target->text[i + c] <= ' ' || target->text[i + c] > '~') return;
    memcpy(r->image->arch, target->text + i, left);
    r->image->arch[left] = '\0';
    return;
  }
}

static bool take_metadata(const elf_reading *r, elf_part bytes) {
  pack p = {bytes.at, bytes.at + bytes.size};
  pack_value map, key, value;
  if (!pack_take(&p, &map) || map.kind != PACK_MAP) return false;
  for (uint64_t i = 0; i < map.count; i++) {
    if (!pack_take(&p, &key) || !pack_pass(&p, &key) || !pack_take(&p, &value))
      return false;
    if (pack_is(&key, "amdhsa.kernels") && value.kind == PACK_LIST) {
      for (uint64_t k = 0; k < value.count; k++)
        if (!take_kernel(r, &p)) return false;
      continue;
    }
    if (pack_is(&key, "amdhsa.target") && value.kind == PACK_TEXT)
      take_target(r, &value);
    if (!pack_pass(&p, &value)) return false;
  }
  return true;
}

static uint64_t padded(uint32_t size) {
  return ((uint64_t)size + 3) & ~UINT64_C(3);
}

/* Of all notes that of the metadata. */
static int read_notes(const elf_reading *r, elf_part notes) {
  while (notes.size >= 12) {
    uint64_t name = padded(elf_word(notes.at));
    uint64_t bytes = elf_word(notes.at + 4);
    uint64_t all = 12 + name + padded((uint32_t)bytes);
    if (12 + name + bytes > notes.size)
      return elf_refuse(r, EXIT_FORMAT, "a note is longer than its section");
    bool ours = elf_word(notes.at + 8) == NOTE_METADATA && name == 8 &&
                memcmp(notes.at + 12, "AMDGPU", 7) == 0;
    if (ours && !take_metadata(r, (elf_part){notes.at + 12 + name, bytes}))
      return elf_refuse(r, EXIT_FORMAT,
                        "its note of metadata is malformed or cut short");
    if (all >= notes.size) break;
    notes.at += all;
    notes.size -= all;
  }
  return EXIT_DONE;
}

int code_read_amd(elf_reading *r) {
  r->image->maker = CODE_AMD;
  int wrong = read_arch(r);
  if (!wrong) wrong = read_kernels(r);
  if (!wrong && r->image->kernel_count)
    qsort(r->image->kernels, r->image->kernel_count, sizeof *r->image->kernels,
          by_name);
  for (size_t i = 0; i < r->section_count && !wrong; i++)
    if (r->sections[i].header.sh_type == SHT_NOTE)
      wrong = read_notes(r, elf_bytes(r, &r->sections[i].header));
  return wrong;
}
