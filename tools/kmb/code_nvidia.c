/* What stands in a cubin. Nothing in it is trusted. */
#include "code_elf.h"

#include <stdlib.h>

enum {
  ABI_FLAGS_LOW = 7,        /* the processor's number in the low byte */
  ABI_FLAGS_HIGH = 8,       /* in the second */
  FLAG_ACCELERATED = 0x800, /* sm_90a; of the older ABI */
  ENTRY = 0x10              /* st_other of what can be launched */
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

/* A kernel's symbol, for what names kernels by it. */
typedef struct owner {
  size_t symbol, kernel;
} owner;

typedef struct owners {
  owner *list; /* in the order of the symbols */
  size_t count;
} owners;

static code_number number(uint64_t value) {
  return (code_number){value, true};
}

/* Takes one attribute of a kernel. */
static void take_attribute(code_kernel *k, size_t symbol, int id,
                           elf_part value) {
  bool of_symbol = value.size >= 8 && elf_word(value.at) == symbol;
  if (id == ATTR_REGISTERS && of_symbol)
    k->registers = number(elf_word(value.at + 4));
  /* The whole stack, where the compiler could tell; before linking its own
   * frame is all that is known. */
  if (id == ATTR_STACK_SIZE && of_symbol) {
    k->stack_bytes = number(elf_word(value.at + 4));
    k->stack_bytes.known = k->stack_bytes.value != UINT32_MAX;
    k->stack_stated = true;
  }
  if (id == ATTR_FRAME_SIZE && of_symbol && !k->stack_stated)
    k->stack_bytes = number(elf_word(value.at + 4));
  if ((id != ATTR_MAX_THREADS && id != ATTR_REQUIRED_THREADS) ||
      value.size < 12)
    return;
  uint64_t threads = elf_word(value.at);
  for (size_t i = 1; i < 3; i++) {
    uint64_t factor = elf_word(value.at + 4 * i);
    if (factor && threads > UINT32_MAX / factor) return;
    threads *= factor;
  }
  if (threads) k->max_threads = number(threads);
}

/* What an attribute is of: the kernel that it names by its symbol, or the one
 * whose section it stands in. */
static code_kernel *owner_of(const elf_reading *r, const owners *all,
                             elf_part value) {
  size_t low = 0, high = all->count;
  if (value.size < 4) return NULL;
  size_t symbol = elf_word(value.at);
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (all->list[middle].symbol < symbol)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == all->count || all->list[low].symbol != symbol) return NULL;
  return &r->image->kernels[all->list[low].kernel];
}

/* Walks a section of attributes, of one kernel or of all; what it holds beyond
 * its end is refused. */
static int read_attributes(const elf_reading *r, const owners *all,
                           const elf_section *section, const owner *one) {
  elf_part p = elf_bytes(r, &section->header);
  while (p.size >= 4) {
    uint64_t size = (uint64_t)p.at[2] | (uint64_t)p.at[3] << 8;
    int format = p.at[0], id = p.at[1];
    if (format != FORMAT_SIZED) size = 0;
    if (size > p.size - 4)
      return elf_refuse(r, EXIT_FORMAT,
                        "an attribute in %.150s is longer than the section",
                        section->name);
    elf_part value = {p.at + 4, size};
    code_kernel *k =
        one ? &r->image->kernels[one->kernel] : owner_of(r, all, value);
    bool of_block = id == ATTR_MAX_THREADS || id == ATTR_REQUIRED_THREADS;
    /* Those name no kernel: they stand in its own section. */
    if (format == FORMAT_SIZED && k && (one || !of_block))
      take_attribute(k, one ? one->symbol : elf_word(value.at), id, value);
    p.at += 4 + size;
    p.size -= 4 + size;
  }
  if (p.size)
    return elf_refuse(r, EXIT_FORMAT, "%.150s ends within an attribute",
                      section->name);
  return EXIT_DONE;
}

static code_number section_size(const elf_reading *r, const char *prefix,
                                const char *name) {
  const elf_section *section = elf_find(r, prefix, name);
  return number(section ? section->header.sh_size : 0);
}

static int add_kernel(elf_reading *r, const GElf_Sym *symbol,
                      const char *name) {
  elf_part code;
  int wrong = elf_code(r, symbol, name, &code);
  if (!wrong) wrong = elf_add_kernel(r, name, code);
  if (wrong) return wrong;
  code_kernel *k = &r->image->kernels[r->image->kernel_count - 1];
  k->shared_bytes = section_size(r, ".nv.shared.", name);
  k->local_bytes = section_size(r, ".nv.local.", name);
  return EXIT_DONE;
}

static bool is_kernel(const GElf_Sym *symbol) {
  return GELF_ST_TYPE(symbol->st_info) == STT_FUNC &&
         (symbol->st_other & ENTRY) && symbol->st_shndx != SHN_UNDEF &&
         symbol->st_shndx < SHN_LORESERVE;
}

static int count_kernels(const elf_reading *r, size_t *count) {
  GElf_Sym symbol;
  *count = 0;
  for (size_t i = 0; i < r->symbol_count; i++)
    *count += gelf_getsym(r->symbols, (int)i, &symbol) && is_kernel(&symbol);
  if (*count <= CODE_KERNELS_MOST) return EXIT_DONE;
  return elf_refuse(r, EXIT_FORMAT, "it claims %zu kernels", *count);
}

static int read_kernels(elf_reading *r, owners *all) {
  GElf_Sym symbol;
  for (size_t i = 0; i < r->symbol_count; i++) {
    const char *name = elf_symbol(r, i, &symbol);
    if (!gelf_getsym(r->symbols, (int)i, &symbol) || !is_kernel(&symbol))
      continue;
    if (!name || !*name)
      return elf_refuse(r, EXIT_FORMAT, "a kernel has no name");
    all->list[all->count++] = (owner){i, r->image->kernel_count};
    int wrong = add_kernel(r, &symbol, name);
    if (wrong) return wrong;
  }
  const elf_section *common = elf_find(r, ".nv.info", "");
  int wrong = common ? read_attributes(r, all, common, NULL) : EXIT_DONE;
  for (size_t i = 0; i < all->count && !wrong; i++) {
    const elf_section *own =
        elf_find(r, ".nv.info.", r->image->kernels[i].name);
    if (own && r->walked[own - r->sections]++)
      return elf_refuse(r, EXIT_FORMAT, "two kernels have the name %.100s",
                        r->image->kernels[i].name);
    if (own) wrong = read_attributes(r, all, own, &all->list[i]);
  }
  return wrong;
}

/* Whether the code is for one processor's own instructions (sm_90a). */
static bool is_accelerated(const elf_reading *r) {
  const elf_section *section = elf_find(r, ".nv.compat", "");
  if (!section) return false;
  elf_part p = elf_bytes(r, &section->header);
  return p.size >= 4 && p.at[0] == 2 && p.at[1] == 9 && p.at[2];
}

static int read_arch(const elf_reading *r) {
  unsigned abi = r->header.e_ident[EI_ABIVERSION];
  unsigned sm = r->header.e_flags & 0xff;
  bool own = r->header.e_flags & FLAG_ACCELERATED;
  if (abi == ABI_FLAGS_HIGH) {
    sm = r->header.e_flags >> 8 & 0xff;
    own = is_accelerated(r);
  } else if (abi != ABI_FLAGS_LOW) {
    return elf_refuse(
        r, EXIT_FORMAT,
        "it is a cubin of ABI %u, whose architecture cannot be read "
        "here; 7 and 8 can",
        abi);
  }
  if (sm < 50 || sm > 199)
    return elf_refuse(r, EXIT_FORMAT,
                      "it is a cubin of an unknown architecture, number %u",
                      sm);
  snprintf(r->image->arch, sizeof r->image->arch, "sm_%u%s", sm,
           own ? "a" : "");
  return EXIT_DONE;
}

int code_read_nvidia(elf_reading *r) {
  size_t count = 0;
  owners all = {NULL, 0};
  int wrong = read_arch(r);
  if (!wrong) wrong = count_kernels(r, &count);
  if (wrong || !count) return wrong;
  r->image->kernels = calloc(count, sizeof *r->image->kernels);
  all.list = calloc(count, sizeof *all.list);
  wrong =
      r->image->kernels && all.list ? read_kernels(r, &all) : elf_no_memory(r);
  free(all.list);
  return wrong;
}
