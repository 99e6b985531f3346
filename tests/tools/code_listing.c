/* Listings of our own kernels with known answers, and made-up ones.
 *
 * usage: code_listing FOLDER    (tests/data/code) */
#include "../../tools/kmb/code_listing.h"

#include "require.h"

static char text[1 << 17];
static size_t size;
static code_listing listing;

static void load(const char *folder, const char *file) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  FILE *f = fopen(path, "rb");
  REQUIRE(f);
  size = fread(text, 1, sizeof text, f);
  REQUIRE(size && size < sizeof text);
  fclose(f);
  REQUIRE(code_listing_read(text, size, &listing));
}

static const code_summary *find(const char *name) {
  const code_summary *s = code_listing_find(&listing, name);
  REQUIRE(s);
  return s;
}

/* Exactly these classes, beside what has no class: pairs that end with -1. */
static void holds(const uint64_t *counts, const int *want) {
  uint64_t left[CODE_CLASSES];
  memcpy(left, counts, sizeof left);
  left[CODE_OTHER] = 0;
  for (; *want >= 0; want += 2) {
    if (left[*want] != (uint64_t)want[1])
      fprintf(stderr, "%s: ", code_class_key(*want));
    REQUIRE_EQ(left[*want], want[1]);
    left[*want] = 0;
  }
  for (int id = 0; id < CODE_CLASSES; id++) {
    if (left[id]) fprintf(stderr, "%s: ", code_class_key(id));
    REQUIRE_EQ(left[id], 0);
  }
}

#define HOLDS(s, ...) holds((s)->counts, (const int[]){__VA_ARGS__, -1})

static void loop_is(const code_summary *s, size_t i, uint64_t from, uint64_t to,
                    uint64_t instructions, bool innermost) {
  REQUIRE(i < s->loop_count);
  REQUIRE_EQ(s->loops[i].from, from);
  REQUIRE_EQ(s->loops[i].to, to);
  REQUIRE_EQ(s->loops[i].instructions, instructions);
  REQUIRE_EQ(s->loops[i].innermost, innermost);
}

static void copies_by_both_disassemblers(const char *folder) {
  static const char *const files[] = {"kernels.sass", "copies.cuobjdump"};
  for (int i = 0; i < 2; i++) {
    load(folder, files[i]);
    const code_summary *wide = find("copy_wide"), *narrow = find("copy_narrow");
    HOLDS(wide, CODE_GLOBAL_LOAD_16, 1, CODE_GLOBAL_STORE_16, 1, CODE_INTEGER,
          15);
    HOLDS(narrow, CODE_GLOBAL_LOAD_4, 1, CODE_GLOBAL_STORE_4, 1, CODE_INTEGER,
          15);
    REQUIRE_EQ(wide->instructions, 48);
    REQUIRE_EQ(wide->loop_count, 1);
    loop_is(wide, 0, 0x130, 0x1f0, 13, true);
    REQUIRE_EQ(wide->loops[0].counts[CODE_GLOBAL_LOAD_16], 1);
    REQUIRE_EQ(narrow->loops[0].counts[CODE_GLOBAL_LOAD_4], 1);
    code_listing_free(&listing);
  }
}

static void spills_and_arrays(const char *folder) {
  load(folder, "kernels.sass");
  REQUIRE_EQ(listing.function_count, 5);
  const code_summary *s = find("_Z6spillsILi36EEvPKfPf");
  HOLDS(s, CODE_GLOBAL_LOAD_4, 36, CODE_GLOBAL_STORE_4, 36, CODE_LOCAL_LOAD_4,
        18, CODE_LOCAL_LOAD_8, 1, CODE_LOCAL_STORE_4, 18, CODE_LOCAL_STORE_8, 1,
        CODE_BAR, 1, CODE_F32, 36, CODE_INTEGER, 4);
  REQUIRE_EQ(s->stack_loads, 19);
  REQUIRE_EQ(s->stack_stores, 19);
  REQUIRE_EQ(s->indexed_loads + s->indexed_stores, 0);
  REQUIRE_EQ(s->loop_count, 0);
  s = find("table");
  REQUIRE_EQ(s->stack_loads + s->stack_stores, 0);
  REQUIRE_EQ(s->indexed_loads, 1);
  REQUIRE_EQ(s->indexed_stores, 1);
  s = find("dot");
  HOLDS(s, CODE_GLOBAL_LOAD_16, 2, CODE_GLOBAL_STORE_4, 1, CODE_SHARED_LOAD_4,
        1, CODE_SHARED_STORE_4, 1, CODE_BAR, 1, CODE_F32, 11, CODE_INTEGER, 20);
  REQUIRE_EQ(s->loop_count, 2);
  loop_is(s, 0, 0xe0, 0x1d0, 16, true);
  loop_is(s, 1, 0x3f0, 0x440, 6, true);
  REQUIRE_EQ(s->loops[1].counts[CODE_SHARED_LOAD_4], 1);
  REQUIRE(!code_listing_find(&listing, "do"));
  code_listing_free(&listing);
}

static void matrix_units_and_bulk_copies(const char *folder) {
  load(folder, "matrix.sass");
  HOLDS(find("mma_kinds"), CODE_HMMA, 1, CODE_IMMA, 1, CODE_DMMA, 1,
        CODE_GLOBAL_LOAD_4, 2, CODE_GLOBAL_STORE_4, 2, CODE_GLOBAL_STORE_8, 1,
        CODE_F64, 1, CODE_F32, 3, CODE_INTEGER, 7, CODE_CONVERSION, 2);
  HOLDS(find("wgmma_kinds"), CODE_HGMMA, 1, CODE_QGMMA, 1, CODE_GLOBAL_STORE_4,
        1, CODE_F32, 7, CODE_INTEGER, 7);
  REQUIRE_EQ(find("wgmma_kinds")->loops[0].counts[CODE_HGMMA], 1);
  HOLDS(find("bulk"), CODE_LDGSTS_16, 1, CODE_UBLKCP, 1, CODE_UTMALDG, 1,
        CODE_GLOBAL_STORE_4, 1, CODE_SHARED_LOAD_4, 4, CODE_BAR, 1, CODE_SYNCS,
        1, CODE_INTEGER, 13);
  HOLDS(find("arithmetic"), CODE_GLOBAL_LOAD_4, 7, CODE_GLOBAL_LOAD_8, 2,
        CODE_GLOBAL_STORE_4, 3, CODE_GLOBAL_STORE_8, 1, CODE_F64, 1, CODE_F32,
        1, CODE_F16, 1, CODE_INTEGER, 5);
  code_listing_free(&listing);
}

/* What has ".section…" in front of more than a section. */
static void a_listing_of_an_older_image(const char *folder) {
  load(folder, "older.sass");
  REQUIRE_EQ(listing.function_count, 1);
  HOLDS(find("_Z4tinyPi"), CODE_GLOBAL_STORE_4, 1, CODE_SHARED_LOAD_4, 1,
        CODE_SHARED_STORE_4, 1, CODE_BAR, 1, CODE_INTEGER, 3);
  REQUIRE_EQ(find("_Z4tinyPi")->instructions, 32);
  code_listing_free(&listing);
}

/* One function, k, of these lines. */
static const code_summary *made_of(const char *lines) {
  size = (size_t)snprintf(text, sizeof text, "\tFunction : k\n%s", lines);
  REQUIRE(code_listing_read(text, size, &listing));
  REQUIRE_EQ(listing.function_count, 1);
  return &listing.functions[0];
}

static void is_class(const char *line, int id) {
  char with[256];
  snprintf(with, sizeof with, "/*0000*/ %s ;\n", line);
  const code_summary *s = made_of(with);
  REQUIRE_EQ(s->instructions, 1);
  if (s->counts[id] != 1) fprintf(stderr, "%s: ", line);
  REQUIRE_EQ(s->counts[id], 1);
  code_listing_free(&listing);
}

static void widths_stand_in_the_modifiers(void) {
  is_class("LDG.E R0, desc[UR4][R2.64]", CODE_GLOBAL_LOAD_4);
  is_class("LDG.E.64 R0, desc[UR4][R2.64]", CODE_GLOBAL_LOAD_8);
  is_class("@!P0 LDG.E.128.CONSTANT R0, [R2]", CODE_GLOBAL_LOAD_16);
  is_class("LDG.E.U8 R0, [R2.64]", CODE_GLOBAL_LOAD_1);
  is_class("LDG.E.S16 R0, [R2.64]", CODE_GLOBAL_LOAD_2);
  is_class("LDG.E.ENL2.256 R8, R4, [R2.64]", CODE_GLOBAL_LOAD_32);
  is_class("LD.E.128 R0, [R2]", CODE_GENERIC_LOAD_16);
  is_class("ST.E R0, [R2]", CODE_GENERIC_STORE_4);
  is_class("STS.U16 [R0], R1", CODE_SHARED_STORE_2);
  is_class("LDSM.16.M88.4 R4, [R0]", CODE_LDSM);
  is_class("STL.128 [R1+0x10], R4", CODE_LOCAL_STORE_16);
  is_class("LDGSTS.E [R5], [R2.64]", CODE_LDGSTS_4);
}

static void names_decide_as_a_whole(void) {
  is_class("HFMA2.MMA R4, R0, R1, R2", CODE_F16);
  is_class("HFMA2.MMA R9, -RZ, RZ, 0, 0", CODE_OTHER);
  is_class("HFMA2.BF16_V2 R4, R0, R1, R2", CODE_BF16);
  is_class("IMAD.MOV.U32 R0, RZ, RZ, R1", CODE_OTHER);
  is_class("IMAD.WIDE R0, R2, R3, R4", CODE_INTEGER);
  is_class("LDGDEPBAR", CODE_OTHER);
  is_class("ATOMS.ADD R0, [R1], R2", CODE_SHARED_ATOMIC);
  is_class("ATOMG.E.ADD R0, [R1], R2", CODE_GLOBAL_ATOMIC);
  is_class("RED.E.ADD [R1], R2", CODE_GLOBAL_ATOMIC);
  is_class("UTCHMMA gdesc[UR4], gdesc[UR6], tmem[UR8]", CODE_UTCMMA);
  is_class("UTCBAR [UR4], URZ", CODE_OTHER);
  is_class("HMMA.16816.F32 R0, R4, R8, R0", CODE_HMMA);
  is_class("MUFU.RCP R0, R1", CODE_SPECIAL);
  is_class("FFMA2 R0, R2, R4, R6", CODE_F32);
  is_class("{ FADD R0, R1, R2", CODE_F32);
  is_class("CCTL.IVALL", CODE_OTHER);
}

static void nested_loops(void) {
  const code_summary *s = made_of("/*0000*/ MOV R0, RZ ;\n"
                                  "/*0010*/ IADD3 R1, R1, 1, RZ ;\n"
                                  "/*0020*/ LDG.E R2, [R4.64] ;\n"
                                  "/*0030*/ @P0 BRA 0x20 ;\n"
                                  "/*0040*/ @P1 BRA 0x10 ;\n"
                                  "/*0050*/ EXIT ;\n");
  REQUIRE_EQ(s->loop_count, 2);
  loop_is(s, 0, 0x10, 0x40, 4, false);
  loop_is(s, 1, 0x20, 0x30, 2, true);
  REQUIRE_EQ(s->loops[1].counts[CODE_GLOBAL_LOAD_4], 1);
  code_listing_free(&listing);
}

/* A rare path that stands behind the end and comes back is no loop; nor is the
 * branch to itself that follows the end. */
static void branches_back_that_are_no_loops(void) {
  const code_summary *s = made_of("/*0000*/ @P0 BRA 0x30 ;\n"
                                  "/*0010*/ LDG.E R2, [R4.64] ;\n"
                                  "/*0020*/ EXIT ;\n"
                                  "/*0030*/ FADD R2, R2, R2 ;\n"
                                  "/*0040*/ BRA 0x10 ;\n"
                                  "/*0050*/ BRA 0x50 ;\n"
                                  "/*0060*/ NOP ;\n");
  REQUIRE_EQ(s->loop_count, 0);
  code_listing_free(&listing);
}

/* The way round through a block that stands elsewhere is part of the loop;
 * what lies between but is never on it is not. */
static void a_loops_body_is_what_goes_round(void) {
  const code_summary *s = made_of("/*0000*/ MOV R0, RZ ;\n"
                                  "/*0010*/ LDG.E.128 R4, [R2.64] ;\n"
                                  "/*0020*/ @P0 BRA 0x50 ;\n"
                                  "/*0030*/ LDG.E R9, [R2.64] ;\n"
                                  "/*0040*/ EXIT ;\n"
                                  "/*0050*/ FADD R2, R2, R2 ;\n"
                                  "/*0060*/ BRA 0x10 ;\n");
  REQUIRE_EQ(s->loop_count, 1);
  loop_is(s, 0, 0x10, 0x60, 4, true);
  REQUIRE_EQ(s->loops[0].counts[CODE_GLOBAL_LOAD_4], 0);
  REQUIRE_EQ(s->loops[0].counts[CODE_GLOBAL_LOAD_16], 1);
  code_listing_free(&listing);
}

/* The first instruction may be a loop's head; one loop may come back in two
 * places; a condition may stand among the operands. */
static void heads_and_ways_back(void) {
  const code_summary *s = made_of("/*0000*/ LDG.E R4, [R2.64] ;\n"
                                  "/*0010*/ @P0 BRA `(.a) ;\n"
                                  "/*0020*/ BRA P1, `(.a) ;\n"
                                  "/*0030*/ EXIT ;\n");
  REQUIRE_EQ(s->loop_count, 0); /* a label that is not there */
  code_listing_free(&listing);
  s = made_of(".a:\n/*0000*/ LDG.E R4, [R2.64] ;\n"
              "/*0010*/ @P0 BRA `(.a) ;\n"
              "/*0020*/ BRA P1, `(.a) ;\n"
              "/*0030*/ @P2 EXIT ;\n"
              "/*0040*/ @P3 BRA `(.a) ;\n"
              "/*0050*/ EXIT ;\n");
  REQUIRE_EQ(s->loop_count, 1);
  loop_is(s, 0, 0, 0x40, 5, true);
  code_listing_free(&listing);
}

static void what_is_no_listing(void) {
  static const char *const texts[] = {
      "", "hello\n", "/*0000*/ LDG.E R0, [R2] ;\n", "\t.section\t.data\n"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    REQUIRE(code_listing_read(texts[i], strlen(texts[i]), &listing));
    REQUIRE_EQ(listing.function_count, 0);
    code_listing_free(&listing);
  }
}

static void too_many_loops_are_unknown(void) {
  enum { LINES = 3000 };
  size_t used = (size_t)snprintf(text, sizeof text, "Function : k\n");
  for (int i = 0; i < LINES; i++)
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "/*%x0*/ @P0 BRA 0x%x0 ;\n", i, i ? i - 1 : 0);
  REQUIRE(used < sizeof text);
  REQUIRE(code_listing_read(text, used, &listing));
  REQUIRE(listing.functions[0].loops_unknown);
  REQUIRE_EQ(listing.functions[0].instructions, LINES);
  code_listing_free(&listing);
}

/* AMD. */

static void kernels_of_amd(const char *folder) {
  load(folder, "amd.objdump");
  REQUIRE_EQ(listing.function_count, 6);
  const code_summary *s = find("copy_narrow");
  HOLDS(s, CODE_GLOBAL_LOAD_4, 1, CODE_GLOBAL_STORE_4, 1, CODE_SCALAR_LOAD, 2,
        CODE_F32, 1, CODE_INTEGER, 16);
  /* The padding behind it is not of it. */
  REQUIRE_EQ(s->instructions, 32);
  REQUIRE_EQ(s->bytes, 160);
  REQUIRE_EQ(s->pad_bytes, 96);
  loop_is(s, 0, 0x235c, 0x2398, 13, true);
  REQUIRE_EQ(s->loop_count, 1);
  s = find("copy_wide");
  HOLDS(s, CODE_GLOBAL_LOAD_16, 1, CODE_GLOBAL_STORE_16, 1, CODE_SCALAR_LOAD, 2,
        CODE_INTEGER, 16);
  s = find("matrix");
  HOLDS(s, CODE_MFMA, 1, CODE_GLOBAL_LOAD_8, 2, CODE_GLOBAL_STORE_16, 1,
        CODE_SCALAR_LOAD, 3, CODE_INTEGER, 21);
  REQUIRE_EQ(s->loops[0].counts[CODE_MFMA], 1);
  s = find("turn");
  HOLDS(s, CODE_GLOBAL_LOAD_4, 1, CODE_GLOBAL_STORE_4, 1, CODE_SHARED_LOAD_4, 1,
        CODE_SHARED_STORE_4, 1, CODE_SCALAR_LOAD, 1, CODE_S_BARRIER, 1,
        CODE_INTEGER, 8, CODE_SPECIAL, 1);
  s = find("spills");
  REQUIRE_EQ(s->counts[CODE_BUFFER_STORE_4], 18);
  REQUIRE_EQ(s->counts[CODE_BUFFER_LOAD_4], 18);
  REQUIRE_EQ(s->stack_loads + s->indexed_loads, 0);
  code_listing_free(&listing);
}

/* Names as gfx90a to gfx1200 have them. */
static void names_of_amd_have_classes(void) {
  static const struct {
    const char *op, *operands;
    int id;
  } cases[] = {
      {"v_mfma_f32_32x32x16_fp8_fp8", "", CODE_MFMA},
      {"v_mfma_i32_16x16x32_i8", "", CODE_MFMA},
      {"v_smfmac_f32_16x16x32_bf16", "", CODE_SMFMAC},
      {"v_wmma_f32_16x16x16_f16", "", CODE_WMMA},
      {"v_swmmac_f32_16x16x32_f16", "", CODE_SWMMAC},
      {"global_load_ubyte", "", CODE_GLOBAL_LOAD_1},
      {"global_load_short_d16_hi", "", CODE_GLOBAL_LOAD_2},
      {"global_load_dwordx3", "", CODE_GLOBAL_LOAD_12},
      {"global_load_b128", "", CODE_GLOBAL_LOAD_16},
      {"global_load_d16_b16", "", CODE_GLOBAL_LOAD_2},
      {"global_load_u8", "", CODE_GLOBAL_LOAD_1},
      {"global_load_lds_dword", "", CODE_TO_LDS_4},
      {"global_load_lds_dwordx4", "", CODE_TO_LDS_16},
      {"global_store_b96", "", CODE_GLOBAL_STORE_12},
      {"global_store_byte", "", CODE_GLOBAL_STORE_1},
      {"global_atomic_add_f32", "", CODE_GLOBAL_ATOMIC},
      {"global_wb", "", CODE_CACHE},
      {"flat_load_dwordx2", "", CODE_GENERIC_LOAD_8},
      {"flat_store_b64", "", CODE_GENERIC_STORE_8},
      {"scratch_load_dwordx4", "", CODE_LOCAL_LOAD_16},
      {"scratch_store_b32", "", CODE_LOCAL_STORE_4},
      {"buffer_load_dwordx4", " v[0:3], off, s[8:11], 0", CODE_BUFFER_LOAD_16},
      {"buffer_load_dword", " v0, s[8:11], 0 offen lds", CODE_TO_LDS_4},
      {"buffer_store_dwordx2", "", CODE_BUFFER_STORE_8},
      {"buffer_atomic_swap", "", CODE_GLOBAL_ATOMIC},
      {"buffer_wbl2", "", CODE_CACHE},
      {"buffer_gl0_inv", "", CODE_CACHE},
      {"buffer_wbinvl1", "", CODE_CACHE},
      {"ds_read_b128", "", CODE_SHARED_LOAD_16},
      {"ds_read2_b32", "", CODE_SHARED_LOAD_8},
      {"ds_read2st64_b64", "", CODE_SHARED_LOAD_16},
      {"ds_read_u16_d16", "", CODE_SHARED_LOAD_2},
      {"ds_load_2addr_b32", "", CODE_SHARED_LOAD_8},
      {"ds_read_b64_tr_b16", "", CODE_SHARED_LOAD_8},
      {"ds_write_b96", "", CODE_SHARED_STORE_12},
      {"ds_write2st64_b32", "", CODE_SHARED_STORE_8},
      {"ds_store_b8", "", CODE_SHARED_STORE_1},
      {"ds_add_rtn_u32", "", CODE_SHARED_ATOMIC},
      {"ds_bpermute_b32", "", CODE_OTHER},
      {"ds_swizzle_b32", "", CODE_OTHER},
      {"s_load_dwordx16", "", CODE_SCALAR_LOAD},
      {"s_buffer_load_dword", "", CODE_SCALAR_LOAD},
      {"s_barrier", "", CODE_S_BARRIER},
      {"s_barrier_signal", "", CODE_S_BARRIER},
      {"s_dcache_wb", "", CODE_CACHE},
      {"s_add_u32", "", CODE_INTEGER},
      {"s_mov_b64", "", CODE_OTHER},
      {"s_waitcnt", "", CODE_OTHER},
      {"s_cbranch_scc0", "", CODE_OTHER},
      {"s_and_saveexec_b64", "", CODE_OTHER},
      {"v_fma_f64", "", CODE_F64},
      {"v_pk_fma_f32", "", CODE_F32},
      {"v_fmac_f32_dpp", "", CODE_F32},
      {"v_cmp_lt_f32_e64", "", CODE_F32},
      {"v_pk_mul_f16", "", CODE_F16},
      {"v_dot2_bf16_bf16", "", CODE_BF16},
      {"v_add_co_u32_e32", "", CODE_INTEGER},
      {"v_mad_u64_u32", "", CODE_INTEGER},
      {"v_dot4_i32_i8", "", CODE_INTEGER},
      {"v_cvt_f16_f32_e32", "", CODE_CONVERSION},
      {"v_exp_f32_e32", "", CODE_SPECIAL},
      {"v_mov_b32_e32", "", CODE_OTHER},
      {"v_accvgpr_read_b32", "", CODE_OTHER},
      {"v_cndmask_b32_e64", "", CODE_OTHER},
      {"exp", "", CODE_OTHER},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const code_words w = {cases[i].op, strlen(cases[i].op), cases[i].operands,
                          strlen(cases[i].operands)};
    if (code_classify_amd(&w) != cases[i].id)
      fprintf(stderr, "%s: ", cases[i].op);
    REQUIRE_STR(code_class_key(code_classify_amd(&w)),
                code_class_key(cases[i].id));
  }
}

#define AMD_HEAD "0000000000001000 <k>:\n"

static void loops_of_amd(void) {
  static const char lines[] =
      AMD_HEAD "\ts_nop 0 // 000000001000: BF800000\n"
               "\tglobal_load_dword v1, v[4:5], off // 000000001004: DC508000 "
               "017F0004\n"
               "\ts_cbranch_scc1 65533 // 00000000100C: BF85FFFD <k+0x4>\n"
               "\ts_cbranch_scc1 7 // 000000001010: BF850007 <other+0x4>\n"
               "\ts_cbranch_scc1 7 // 000000001014: BF850007 <q+0x4>\n"
               "\tv_nop // 00000000101: 7E\n"
               "\tv_nop\n"
               "\ts_branch 65530 // 000000001018: BF82FFFA <k>\n"
               "\ts_nop 0 // 00000000101C: BF800000\n"
               "\ts_code_end // 000000001020: BF9F0000\n"
               "0000000000001100 <>:\n";
  REQUIRE(code_listing_read(lines, strlen(lines), &listing));
  REQUIRE_EQ(listing.function_count, 1);
  const code_summary *s = find("k");
  REQUIRE_EQ(s->instructions, 6);
  REQUIRE_EQ(s->bytes, 28);
  REQUIRE_EQ(s->pad_bytes, 8);
  REQUIRE_EQ(s->counts[CODE_OTHER], 5);
  REQUIRE_EQ(s->loop_count, 2);
  loop_is(s, 0, 0x1000, 0x1018, 6, false);
  loop_is(s, 1, 0x1004, 0x100c, 2, true);
  code_listing_free(&listing);
}

/* A part of a loop's body may lie behind what leaves it for good. */
static void what_follows_a_branch_is_not_reached_by_it(void) {
  static const char lines[] =
      AMD_HEAD "\tv_nop // 000000001000: 7E000000\n"
               "\tv_nop // 000000001004: 7E000000\n"
               "\ts_cbranch_scc1 1 // 000000001008: BF850001 <k+0x10>\n"
               "\ts_branch 2 // 00000000100C: BF820002 <k+0x18>\n"
               "\tv_nop // 000000001010: 7E000000\n"
               "\ts_branch 65531 // 000000001014: BF82FFFB <k+0x4>\n"
               "\ts_endpgm // 000000001018: BF810000\n";
  REQUIRE(code_listing_read(lines, strlen(lines), &listing));
  loop_is(find("k"), 0, 0x1004, 0x1014, 4, true);
  code_listing_free(&listing);
}

int main(int argc, char **argv) {
  REQUIRE(argc == 2);
  copies_by_both_disassemblers(argv[1]);
  spills_and_arrays(argv[1]);
  matrix_units_and_bulk_copies(argv[1]);
  a_listing_of_an_older_image(argv[1]);
  widths_stand_in_the_modifiers();
  names_decide_as_a_whole();
  nested_loops();
  branches_back_that_are_no_loops();
  a_loops_body_is_what_goes_round();
  heads_and_ways_back();
  what_is_no_listing();
  too_many_loops_are_unknown();
  kernels_of_amd(argv[1]);
  names_of_amd_have_classes();
  loops_of_amd();
  what_follows_a_branch_is_not_reached_by_it();
  return 0;
}
