/* Listings of disassemblers: what a kernel's instructions are, by class. */
#ifndef KMB_TOOLS_CODE_LISTING_H
#define KMB_TOOLS_CODE_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Classes of memory instructions come in the widths of one thread's access. */
#define CODE_WIDTH_MAP(X, NAME, group, text) \
  X(NAME##_1, group, text " 1 B")            \
  X(NAME##_2, group, text " 2 B")            \
  X(NAME##_4, group, text " 4 B")            \
  X(NAME##_8, group, text " 8 B")            \
  X(NAME##_12, group, text " 12 B")          \
  X(NAME##_16, group, text " 16 B")          \
  X(NAME##_32, group, text " 32 B")

/* Every class: X(NAME, group, text). The name in small letters is its key. */
#define CODE_CLASS_MAP(X)                                     \
  X(HGMMA, "matrix", "HGMMA")                                 \
  X(QGMMA, "matrix", "QGMMA")                                 \
  X(IGMMA, "matrix", "IGMMA")                                 \
  X(BGMMA, "matrix", "BGMMA")                                 \
  X(UTCMMA, "matrix", "UTC*MMA")                              \
  X(HMMA, "matrix", "HMMA")                                   \
  X(QMMA, "matrix", "QMMA")                                   \
  X(OMMA, "matrix", "OMMA")                                   \
  X(IMMA, "matrix", "IMMA")                                   \
  X(BMMA, "matrix", "BMMA")                                   \
  X(DMMA, "matrix", "DMMA")                                   \
  X(MFMA, "matrix", "MFMA")                                   \
  X(SMFMAC, "matrix", "SMFMAC")                               \
  X(WMMA, "matrix", "WMMA")                                   \
  X(SWMMAC, "matrix", "SWMMAC")                               \
  CODE_WIDTH_MAP(X, GLOBAL_LOAD, "memory", "global load")     \
  CODE_WIDTH_MAP(X, GLOBAL_STORE, "memory", "global store")   \
  CODE_WIDTH_MAP(X, GENERIC_LOAD, "memory", "generic load")   \
  CODE_WIDTH_MAP(X, GENERIC_STORE, "memory", "generic store") \
  CODE_WIDTH_MAP(X, SHARED_LOAD, "memory", "shared load")     \
  CODE_WIDTH_MAP(X, SHARED_STORE, "memory", "shared store")   \
  CODE_WIDTH_MAP(X, BUFFER_LOAD, "memory", "buffer load")     \
  CODE_WIDTH_MAP(X, BUFFER_STORE, "memory", "buffer store")   \
  X(SCALAR_LOAD, "memory", "scalar load")                     \
  X(GLOBAL_ATOMIC, "memory", "global atomic")                 \
  X(SHARED_ATOMIC, "memory", "shared atomic")                 \
  X(LDSM, "memory", "shared matrix load (LDSM)")              \
  X(STSM, "memory", "shared matrix store (STSM)")             \
  CODE_WIDTH_MAP(X, LOCAL_LOAD, "local", "local load")        \
  CODE_WIDTH_MAP(X, LOCAL_STORE, "local", "local store")      \
  CODE_WIDTH_MAP(X, LDGSTS, "bulk", "LDGSTS")                 \
  CODE_WIDTH_MAP(X, TO_LDS, "bulk", "load to LDS")            \
  X(UBLKCP, "bulk", "UBLKCP")                                 \
  X(UBLKRED, "bulk", "UBLKRED")                               \
  X(UTMALDG, "bulk", "UTMALDG")                               \
  X(UTMASTG, "bulk", "UTMASTG")                               \
  X(UTMAREDG, "bulk", "UTMAREDG")                             \
  X(BAR, "barriers", "block (BAR)")                           \
  X(CLUSTER, "barriers", "cluster (UCGABAR)")                 \
  X(SYNCS, "barriers", "in memory (SYNCS)")                   \
  X(WARPSYNC, "barriers", "warp (WARPSYNC)")                  \
  X(MEMBAR, "barriers", "fence (MEMBAR)")                     \
  X(S_BARRIER, "barriers", "workgroup (s_barrier)")           \
  X(CACHE, "barriers", "cache write-back or invalidation")    \
  X(F64, "arithmetic", "f64")                                 \
  X(F32, "arithmetic", "f32")                                 \
  X(F16, "arithmetic", "f16")                                 \
  X(BF16, "arithmetic", "bf16")                               \
  X(INTEGER, "arithmetic", "integer")                         \
  X(SPECIAL, "arithmetic", "special functions")               \
  X(CONVERSION, "arithmetic", "conversions")                  \
  X(OTHER, "", "other")

enum {
#define CODE_CLASS_ENUM(name, group, text) CODE_##name,
  CODE_CLASS_MAP(CODE_CLASS_ENUM)
#undef CODE_CLASS_ENUM
      CODE_CLASSES
};

/* A loop whose body is entered at its first instruction alone. */
typedef struct code_loop {
  uint64_t from, to;     /* addresses of its first and last instruction */
  uint64_t instructions; /* of its body */
  bool innermost;        /* no other loop lies in it */
  uint32_t counts[CODE_CLASSES];
} code_loop;

/* A function's instructions, each counted once however often it runs. */
typedef struct code_summary {
  const char *name; /* in the listing; not terminated */
  size_t name_size;
  const char *text; /* its lines */
  size_t text_size;
  uint64_t instructions;
  /* AMD: what they take, and padding behind the last, which counts as none. */
  uint64_t bytes, pad_bytes;
  uint64_t counts[CODE_CLASSES];
  uint64_t stack_loads, stack_stores;     /* local memory at fixed places */
  uint64_t indexed_loads, indexed_stores; /* and at computed ones */
  code_loop *loops;                       /* in the order of their addresses */
  size_t loop_count;
  bool loops_unknown; /* too many to look at */
} code_summary;

typedef struct code_listing {
  code_summary *functions;
  size_t function_count;
} code_listing;

/* Reads what nvdisasm -c, cuobjdump -sass or, for AMD, llvm-objdump -d printed;
 * the text must stay. False: out of memory. A text that is no listing gives no
 * functions. */
bool code_listing_read(const char *text, size_t size, code_listing *listing);
void code_listing_free(code_listing *listing);
const code_summary *code_listing_find(const code_listing *listing,
                                      const char *name);

/* Of one class. */
const char *code_class_key(int id);
const char *code_class_group(int id);
const char *code_class_text(int id);
/* Whether it is a global or generic load narrower than 16 bytes. */
bool code_class_is_narrow_load(int id);
bool code_class_is_global_load(int id);

/* The class of an instruction: its operation with modifiers, and its operands;
 * neither is terminated. */
typedef struct code_words {
  const char *op;
  size_t op_size;
  const char *operands;
  size_t operands_size;
} code_words;

int code_classify(const code_words *words);
/* The same of AMD's. */
int code_classify_amd(const code_words *words);
/* Loads through a descriptor, of global memory or of scratch. */
bool code_class_is_buffer_load(int id);
/* Whether a local access is at a fixed place of the stack. */
bool code_is_at_stack(const code_words *words);

/* An instruction as its flow sees it. */
typedef struct code_step {
  uint64_t address;
  size_t target; /* index; CODE_NO_TARGET: none */
  int id;        /* class */
  bool ends;     /* nothing falls through */
} code_step;

#define CODE_NO_TARGET ((size_t)-1)

/* Finds the loops of a function. False: out of memory. */
bool code_find_loops(const code_step *steps, size_t count, code_summary *to);

#endif
