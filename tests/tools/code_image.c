/* Reading cubins: known answers, and what is cut or changed anywhere.
 *
 * usage: code_image FOLDER    (tests/data/code) */
#include "../../tools/kmb/code.h"
#include "../../tools/kmb/kmb.h"

#include "require.h"

/* The backends' own readers, which find a captured kernel's code. */
#include "../../backends/hip/image.h"
#include "cupti_session.h"

#include <gelf.h>

static uint8_t data[1 << 16];
static size_t size;

static void load(const char *folder, const char *file) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  FILE *f = fopen(path, "rb");
  REQUIRE(f);
  size = fread(data, 1, sizeof data, f);
  REQUIRE(size && size < sizeof data);
  fclose(f);
}

static void refused(const void *image, size_t bytes, const char *words) {
  code_image i;
  char why[CODE_WHY] = "";
  REQUIRE_EQ(code_image_read(image, bytes, &i, why), EXIT_FORMAT);
  REQUIRE_HAS(why, words);
  REQUIRE(!i.kernels && !i.kernel_count);
}

static const code_kernel *kernel(const code_image *image, const char *name) {
  for (size_t i = 0; i < image->kernel_count; i++)
    if (strcmp(image->kernels[i].name, name) == 0) return &image->kernels[i];
  REQUIRE(!"kernel");
  return NULL;
}

static void holds(code_number n, uint64_t value) {
  REQUIRE(n.known);
  REQUIRE_EQ(n.value, value);
}

/* The numbers are cuobjdump's (-res-usage). */
static void known_answers(const char *folder) {
  code_image image;
  char why[CODE_WHY];
  load(folder, "kernels.cubin");
  REQUIRE_EQ(code_image_read(data, size, &image, why), EXIT_DONE);
  REQUIRE_STR(image.arch, "sm_90a");
  REQUIRE_EQ(image.kernel_count, 5);
  REQUIRE_EQ(image.bytes, size);
  const code_kernel *k = kernel(&image, "_Z6spillsILi36EEvPKfPf");
  REQUIRE(k == &image.kernels[0]);
  holds(k->registers, 32);
  holds(k->stack_bytes, 80);
  holds(k->max_threads, 1024);
  holds(k->shared_bytes, 0);
  holds(k->local_bytes, 0);
  k = kernel(&image, "dot");
  holds(k->registers, 20);
  holds(k->shared_bytes, 1152);
  REQUIRE(!k->max_threads.known && !k->demangled);
  k = kernel(&image, "table");
  holds(k->stack_bytes, 128);
  holds(k->max_threads, 64);
  code_image_free(&image);
}

static void both_abis(const char *folder) {
  static const char *const files[] = {"tiny.cubin", "older.cubin"};
  for (int i = 0; i < 2; i++) {
    code_image image;
    char why[CODE_WHY];
    load(folder, files[i]);
    REQUIRE_EQ(code_image_read(data, size, &image, why), EXIT_DONE);
    REQUIRE_STR(image.arch, "sm_90a");
    REQUIRE_EQ(image.kernel_count, 1);
    REQUIRE_STR(image.kernels[0].demangled, "tiny(int*)");
    holds(image.kernels[0].registers, 12);
    holds(image.kernels[0].shared_bytes, 1056);
    holds(image.kernels[0].max_threads, 96);
    REQUIRE_EQ(image.kernels[0].code_bytes, 512);
    code_image_free(&image);
  }
}

/* The attribute of the only kernel of tiny.cubin that says its whole stack. */
static uint8_t *stack_attribute(void) {
  static const uint8_t head[] = {4, 0x12, 8, 0};
  uint8_t *found = NULL;
  for (size_t i = 0; i + 12 <= size; i++)
    if (memcmp(data + i, head, sizeof head) == 0) {
      REQUIRE(!found);
      found = data + i;
    }
  REQUIRE(found);
  return found;
}

static code_number stack_of(void) {
  code_image image;
  char why[CODE_WHY];
  REQUIRE_EQ(code_image_read(data, size, &image, why), EXIT_DONE);
  code_number stack = image.kernels[0].stack_bytes;
  code_image_free(&image);
  return stack;
}

static void a_stack_that_nobody_knows_is_not_zero(const char *folder) {
  load(folder, "tiny.cubin");
  uint8_t *attribute = stack_attribute();
  attribute[8] = 64;
  holds(stack_of(), 64);
  memset(attribute + 8, 0xff, 4);
  REQUIRE(!stack_of().known);
  /* Without it the frame's attribute, which is 0 here, is what is known. */
  attribute[1] = 0x7f;
  holds(stack_of(), 0);
}

static void an_attribute_ends_with_its_section(const char *folder) {
  load(folder, "tiny.cubin");
  stack_attribute()[2] = 0xff;
  refused(data, size, "longer than the section");
  load(folder, "tiny.cubin");
  stack_attribute()[2] = 6;
  refused(data, size, ".nv.info");
}

static void cut_short_at_every_byte(const char *folder) {
  static const char *const files[] = {"tiny.cubin", "older.cubin",
                                      "kernels.cubin"};
  for (int i = 0; i < 3; i++) {
    load(folder, files[i]);
    refused(data, 0, "empty");
    for (size_t n = 1; n < size; n++) {
      /* A buffer of its own: reading past its end is seen. */
      uint8_t *copy = malloc(n);
      REQUIRE(copy);
      memcpy(copy, data, n);
      refused(copy, n, n < 4 ? "neither" : "cut short");
      free(copy);
    }
  }
}

static void an_architecture_that_is_unknown(const char *folder) {
  load(folder, "tiny.cubin");
  data[49] = 211;
  refused(data, size, "unknown architecture, number 211");
  load(folder, "older.cubin");
  data[48] = 3;
  refused(data, size, "unknown architecture, number 3");
  load(folder, "tiny.cubin");
  data[8] = 9;
  refused(data, size, "ABI 9");
  load(folder, "tiny.cubin");
  data[18] = 62;
  refused(data, size, "machine 62");
  load(folder, "tiny.cubin");
  data[4] = 1;
  refused(data, size, "64-bit");
}

static void what_is_no_cubin(void) {
  static const uint8_t fat[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
  static const char ptx[] = "// c\n.version 9.0\n.target sm_90\n";
  refused(fat, sizeof fat, "fat binary");
  refused(ptx, strlen(ptx), "PTX");
  refused("hello", 5, "neither");
}

/* Whatever byte is changed, reading ends well; what is accepted is whole. */
static void changed_at_every_byte(const char *folder) {
  static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
  load(folder, "tiny.cubin");
  for (size_t n = 0; n < size; n++)
    for (size_t v = 0; v < sizeof values; v++) {
      code_image image;
      char why[CODE_WHY] = "";
      uint8_t before = data[n];
      data[n] = values[v];
      if (code_image_read(data, size, &image, why))
        REQUIRE(why[0]);
      else
        code_image_free(&image);
      data[n] = before;
    }
}

static void place_is(const char *name, bool want, uint64_t *offset,
                     uint64_t *bytes) {
  REQUIRE_EQ(kmbi_cuda_image_find(data, size, name, offset, bytes), want);
}

/* What a capture hashes is what kmb code does. */
static void both_readers_find_the_same_code(const char *folder) {
  static const char *const files[] = {"kernels.cubin", "matrix.cubin",
                                      "older.cubin"};
  uint64_t offset = 0, bytes = 0;
  for (int f = 0; f < 3; f++) {
    code_image image;
    char why[CODE_WHY];
    load(folder, files[f]);
    REQUIRE_EQ(code_image_read(data, size, &image, why), EXIT_DONE);
    for (size_t i = 0; i < image.kernel_count; i++) {
      const code_kernel *k = &image.kernels[i];
      place_is(k->name, true, &offset, &bytes);
      REQUIRE(data + offset == k->code);
      REQUIRE_EQ(bytes, k->code_bytes);
    }
    code_image_free(&image);
  }
  load(folder, "kernels.cubin");
  place_is("copy", false, &offset, &bytes);
  place_is("", false, &offset, &bytes);
  /* Cut anywhere, it is found whole or not at all. */
  for (size_t whole = size, n = 0; n < whole; n += 7) {
    uint8_t *copy = malloc(n + 1);
    REQUIRE(copy);
    memcpy(copy, data, n);
    if (kmbi_cuda_image_find(copy, n, "dot", &offset, &bytes))
      REQUIRE(bytes && offset + bytes <= n);
    free(copy);
  }
}

/* Whatever byte is changed, what is found lies in the image. */
static void the_backends_reader_trusts_nothing(const char *folder) {
  static const uint8_t values[] = {0, 1, 0x7f, 0xff};
  uint64_t offset = 0, bytes = 0;
  unsigned found = 0;
  load(folder, "tiny.cubin");
  for (size_t n = 0; n < size; n++)
    for (size_t v = 0; v < sizeof values; v++) {
      uint8_t before = data[n];
      data[n] = values[v];
      if (kmbi_cuda_image_find(data, size, "_Z4tinyPi", &offset, &bytes)) {
        REQUIRE(bytes && offset <= size && bytes <= size - offset);
        found++;
      }
      data[n] = before;
    }
  REQUIRE(found > size && found < 4 * size);
}

/* A section that takes no room in the file has no instructions in it. */
static void a_section_without_bytes_is_none(const char *folder) {
  uint64_t offset = 0, bytes = 0, start = 0, length = 0;
  GElf_Ehdr head;
  load(folder, "tiny.cubin");
  place_is("_Z4tinyPi", true, &offset, &bytes);
  memcpy(&head, data, sizeof head);
  for (unsigned i = 0; i < head.e_shnum; i++) {
    GElf_Shdr section;
    uint8_t *at = data + head.e_shoff + i * sizeof section;
    memcpy(&section, at, sizeof section);
    if (section.sh_offset != offset || section.sh_size != bytes) continue;
    section.sh_type = SHT_NOBITS;
    memcpy(at, &section, sizeof section);
  }
  place_is("_Z4tinyPi", false, &start, &length);
}

/* AMD. */

static void fact_is(const kmbi_hip_facts *f, unsigned which, code_number n) {
  REQUIRE_EQ((f->known >> which) & 1, n.known);
  if (n.known) REQUIRE_EQ(f->numbers[which], n.value);
}

/* What a capture says is what kmb code does. */
static void both_readers_say_the_same_of_amd(const char *folder) {
  code_image image;
  char why[CODE_WHY];
  kmbi_hip_facts f;
  load(folder, "amd.hsaco");
  REQUIRE_EQ(code_image_read(data, size, &image, why), EXIT_DONE);
  REQUIRE_EQ(image.kernel_count, 6);
  for (size_t i = 0; i < image.kernel_count; i++) {
    const code_kernel *k = &image.kernels[i];
    kmbi_hip_image_read(data, size, k->name, &f);
    REQUIRE(f.whole && !f.grows);
    REQUIRE(data + f.offset == k->code);
    REQUIRE_EQ(f.bytes, k->code_bytes);
    REQUIRE_STR(f.target, image.arch);
    fact_is(&f, KMBI_HIP_FACT_VGPRS, k->registers);
    fact_is(&f, KMBI_HIP_FACT_AGPRS, k->accumulators);
    fact_is(&f, KMBI_HIP_FACT_SGPRS, k->scalars);
    fact_is(&f, KMBI_HIP_FACT_SPILLED, k->spilled);
    fact_is(&f, KMBI_HIP_FACT_SPILLED_SCALARS, k->spilled_scalars);
    fact_is(&f, KMBI_HIP_FACT_GROUP, k->shared_bytes);
    fact_is(&f, KMBI_HIP_FACT_PRIVATE, k->stack_bytes);
    fact_is(&f, KMBI_HIP_FACT_THREADS, k->max_threads);
  }
  code_image_free(&image);
  kmbi_hip_image_read(data, size, "copy", &f);
  REQUIRE(f.whole && !f.bytes && !f.known && f.target[0]);
  load(folder, "tiny.cubin");
  kmbi_hip_image_read(data, size, "_Z4tinyPi", &f);
  REQUIRE(!f.whole && !f.bytes && !f.known);
}

/* Cut anywhere it is not read; whatever byte is changed, what is found lies in
 * the image. */
static void the_backend_trusts_no_code_object(const char *folder) {
  static const uint8_t values[] = {0, 0xff};
  kmbi_hip_facts f;
  unsigned found = 0;
  load(folder, "amd.hsaco");
  for (size_t n = 0; n < size; n++) {
    uint8_t *copy = malloc(n + !n);
    REQUIRE(copy);
    memcpy(copy, data, n);
    kmbi_hip_image_read(copy, n, "turn", &f);
    REQUIRE(!f.whole && !f.bytes && !f.known && !f.target[0]);
    free(copy);
  }
  for (size_t n = 0; n < size; n++)
    for (size_t v = 0; v < sizeof values; v++) {
      uint8_t before = data[n];
      data[n] = values[v];
      kmbi_hip_image_read(data, size, "turn", &f);
      REQUIRE(f.offset <= size && f.bytes <= size - f.offset);
      REQUIRE(strlen(f.target) < sizeof f.target);
      found += f.bytes != 0;
      data[n] = before;
    }
  REQUIRE(found > size && found < 2 * size);
}

/* What a changed part of the object does to what is said of "turn". */

static GElf_Ehdr amd_header(const char *folder) {
  GElf_Ehdr head;
  load(folder, "amd.hsaco");
  memcpy(&head, data, sizeof head);
  return head;
}

/* Where the header of the first section of a type stands. */
static uint8_t *amd_section(const GElf_Ehdr *head, unsigned type, size_t from,
                            GElf_Shdr *section) {
  for (size_t i = from; i < head->e_shnum; i++) {
    uint8_t *at = data + head->e_shoff + i * sizeof *section;
    memcpy(section, at, sizeof *section);
    if (section->sh_type == type) return at;
  }
  REQUIRE(!"section");
  return NULL;
}

static void turn_is(bool whole, bool placed, bool described) {
  kmbi_hip_facts f;
  kmbi_hip_image_read(data, size, "turn", &f);
  REQUIRE_EQ(f.whole, whole);
  REQUIRE_EQ(f.bytes != 0, placed);
  REQUIRE_EQ(f.known != 0, described);
}

enum { TEXT = 7 }; /* the section of instructions */

static void sections_say_where_code_is(const char *folder) {
  GElf_Ehdr head = amd_header(folder);
  GElf_Shdr section;
  turn_is(true, true, true);
  data[offsetof(Elf64_Ehdr, e_shentsize)]++;
  turn_is(false, false, false);
  amd_header(folder);
  uint8_t *at = amd_section(&head, SHT_PROGBITS, TEXT, &section);
  section.sh_type = SHT_NOBITS;
  memcpy(at, &section, sizeof section);
  turn_is(true, false, true);
  /* Of what takes no room in the file the size says nothing. */
  section.sh_size = UINT64_MAX;
  memcpy(at, &section, sizeof section);
  turn_is(true, false, true);
  /* A function alone is code. */
  amd_header(folder);
  for (int type = 0; type < 2; type++) {
    amd_section(&head, type ? SHT_SYMTAB : SHT_DYNSYM, 0, &section);
    for (size_t s = 0; s < section.sh_size / sizeof(Elf64_Sym); s++)
      data[section.sh_offset + s * sizeof(Elf64_Sym) +
           offsetof(Elf64_Sym, st_info)] = STB_GLOBAL << 4 | STT_OBJECT;
  }
  turn_is(true, false, true);
}

static void notes_are_read_within_their_section(const char *folder) {
  static const uint8_t names[] = {8, 6, 0};
  GElf_Ehdr head = amd_header(folder);
  GElf_Shdr section;
  amd_section(&head, SHT_NOTE, 0, &section);
  uint8_t *note = data + section.sh_offset;
  note[8] = 31; /* of another type */
  turn_is(true, true, false);
  note[8] = 32;
  turn_is(true, true, true);
  for (size_t i = 0; i < sizeof names; i++) {
    note[0] = names[i];
    turn_is(true, true, false);
  }
  note[0] = 7;
  note[5]++; /* longer than the section by 256 */
  turn_is(true, true, false);
}

static void target_is(const char *text, const char *want) {
  kmbi_hip_facts f = {.known = 0};
  char map[256];
  int n = snprintf(map, sizeof map,
                   "\x81\xad"
                   "amdhsa.target\xd9%c%s",
                   (int)strlen(text), text);
  kmbi_hip_metadata_read(map, (size_t)n, "k", &f);
  REQUIRE_STR(f.target, want);
}

#define LONGEST                       \
  "gfx900000000000000000000000000000" \
  "000000000000000000000000000000"

static void a_target_that_is_none_is_unknown(void) {
  target_is("amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-",
            "gfx942:sramecc+:xnack-");
  target_is("amdgcn-amd-amdhsa--gfx90a", "gfx90a");
  target_is("amdgcn-amd-amdhsa-gfx90a", "");
  target_is("gfx90a", "");
  target_is("amdgcn-amd-amdhsa--gfx 9", "");
  target_is("amdgcn-amd-amdhsa--gfx\x7f", "");
  target_is("amdgcn-amd-amdhsa--" LONGEST, LONGEST);
  target_is("amdgcn-amd-amdhsa--" LONGEST "0", "");
}

static bool grows(const char *value, size_t bytes) {
  static const char head[] = "\x81\xae"
                             "amdhsa.kernels\x91\x82\xb3"
                             ".uses_dynamic_stack";
  static const char tail[] = "\xa7.symbol\xa4k.kd";
  kmbi_hip_facts f = {.known = 0};
  char map[128];
  size_t size_of_head = sizeof head - 1;
  memcpy(map, head, size_of_head);
  memcpy(map + size_of_head, value, bytes);
  memcpy(map + size_of_head + bytes, tail, sizeof tail - 1);
  kmbi_hip_metadata_read(map, size_of_head + bytes + sizeof tail - 1, "k", &f);
  return f.grows;
}

static void a_stack_grows_where_it_is_true(void) {
  REQUIRE(grows("\xc3", 1));
  REQUIRE(!grows("\xc2", 1));
  REQUIRE(!grows("\x01", 1));
  REQUIRE(!grows("\xa4true", 5));
}

static void metadata_is(const void *text, size_t bytes, uint32_t known) {
  kmbi_hip_facts f = {.known = 0};
  uint8_t *copy = malloc(bytes + !bytes);
  REQUIRE(copy);
  memcpy(copy, text, bytes);
  kmbi_hip_metadata_read(copy, bytes, "k", &f);
  REQUIRE_EQ(f.known, known);
  if (known) REQUIRE_EQ(f.numbers[KMBI_HIP_FACT_VGPRS], 258);
  if (known) REQUIRE(f.grows);
  free(copy);
}

#define ONE_KERNEL                                             \
  "\xae"                                                       \
  "amdhsa.kernels"                                             \
  "\x92\x81\xa7.symbol\xa4j.kd\x83\xab.vgpr_count\xcd\x01\x02" \
  "\xb3.uses_dynamic_stack\xc3\xa7.symbol\xa4k.kd"

/* Each kind of value is passed over, and none reaches beyond the end. */
static void any_messagepack_is_passed_over(void) {
#define VALUE(text) \
  { "\x82\xa1x" text ONE_KERNEL, sizeof text - 1 }
  static const struct {
    const char *bytes;
    size_t size;
  } values[] = {VALUE("\x00"),
                VALUE("\xff"),
                VALUE("\xc0"),
                VALUE("\xc2"),
                VALUE("\xc4\x01z"),
                VALUE("\xc5\x00\x01z"),
                VALUE("\xc6\x00\x00\x00\x01z"),
                VALUE("\xc7\x01tz"),
                VALUE("\xc8\x00\x01tz"),
                VALUE("\xc9\x00\x00\x00\x01tz"),
                VALUE("\xca"
                      "abcd"),
                VALUE("\xcb"
                      "abcdefgh"),
                VALUE("\xcc"
                      "a"),
                VALUE("\xcd"
                      "ab"),
                VALUE("\xce"
                      "abcd"),
                VALUE("\xcf"
                      "abcdefgh"),
                VALUE("\xd0"
                      "a"),
                VALUE("\xd1"
                      "ab"),
                VALUE("\xd2"
                      "abcd"),
                VALUE("\xd3"
                      "abcdefgh"),
                VALUE("\xd4"
                      "ta"),
                VALUE("\xd5"
                      "tab"),
                VALUE("\xd6"
                      "tabcd"),
                VALUE("\xd7"
                      "tabcdefgh"),
                VALUE("\xd8"
                      "tabcdefghabcdefgh"),
                VALUE("\xd9\x01z"),
                VALUE("\xda\x00\x01z"),
                VALUE("\xdb\x00\x00\x00\x01z"),
                VALUE("\x92\x01\x91\x02"),
                VALUE("\x81\x01\x81\x02\x03"),
                VALUE("\xdc\x00\x01\x05"),
                VALUE("\xdd\x00\x00\x00\x01\x05"),
                VALUE("\xde\x00\x01\x05\x06"),
                VALUE("\xdf\x00\x00\x00\x01\x05\x06")};
#undef VALUE
  const uint32_t vgprs = 1u << KMBI_HIP_FACT_VGPRS;
  size_t more = sizeof ONE_KERNEL - 1 + 3;
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    metadata_is(values[i].bytes, values[i].size + more, vgprs);
    for (size_t n = 0; n < values[i].size + more; n++)
      metadata_is(values[i].bytes, n, 0);
  }
  /* What is none, and counts of what is not there. */
#define BAD(text) \
  { text ONE_KERNEL, sizeof text - 1 }
  static const struct {
    const char *bytes;
    size_t size;
  } bad[] = {BAD("\x82\xa1x\xc1"),
             BAD("\x92\xa1x\x00"),
             BAD("\x82\xa1x\xdd\xff\xff\xff\xff"),
             BAD("\x82\xa1x\xdf\xff\xff\xff\xff"),
             BAD("\x82\xa1x\xdb\xff\xff\xff\xff"),
             BAD("\x82\xa1x\xc6\xff\xff\xff\xff")};
#undef BAD
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    metadata_is(bad[i].bytes, bad[i].size + sizeof ONE_KERNEL - 1, 0);
}

int main(int argc, char **argv) {
  REQUIRE(argc == 2);
  known_answers(argv[1]);
  both_abis(argv[1]);
  a_stack_that_nobody_knows_is_not_zero(argv[1]);
  an_attribute_ends_with_its_section(argv[1]);
  cut_short_at_every_byte(argv[1]);
  an_architecture_that_is_unknown(argv[1]);
  what_is_no_cubin();
  changed_at_every_byte(argv[1]);
  both_readers_find_the_same_code(argv[1]);
  the_backends_reader_trusts_nothing(argv[1]);
  a_section_without_bytes_is_none(argv[1]);
  both_readers_say_the_same_of_amd(argv[1]);
  the_backend_trusts_no_code_object(argv[1]);
  sections_say_where_code_is(argv[1]);
  notes_are_read_within_their_section(argv[1]);
  a_target_that_is_none_is_unknown();
  a_stack_grows_where_it_is_true();
  any_messagepack_is_passed_over();
  return 0;
}
