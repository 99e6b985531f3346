/* What a kernel's code gives reason to look at. */
#include "code_file.h"
#include "kmb.h"

#include <inttypes.h>

/* What the compiler itself counted. */
static bool has_spills_amd(const code_kernel *k, char *to) {
  if (!k->spilled.value && !k->spilled_scalars.value) return false;
  snprintf(to, CODE_WHY,
           "%" PRIu64 " VGPRs and %" PRIu64 " SGPRs were spilled, as the "
           "compiler counted; scratch takes %" PRIu64 " B a lane",
           k->spilled.value, k->spilled_scalars.value, k->stack_bytes.value);
  return true;
}

static bool has_scratch(const code_kernel *k, char *to) {
  if (!k->stack_bytes.value || k->spilled.value || k->spilled_scalars.value)
    return false;
  snprintf(to, CODE_WHY,
           "scratch takes %" PRIu64 " B a lane%s: an array that a variable "
           "indexes, or frames of calls",
           k->stack_bytes.value,
           k->spilled.known ? " and nothing was spilled" : "");
  return true;
}

static bool has_spills(const code_summary *s, const code_kernel *k, char *to) {
  if (!s->stack_loads && !s->stack_stores) return false;
  snprintf(to, CODE_WHY,
           "%" PRIu64 " loads and %" PRIu64 " stores of local memory at fixed "
           "places of the stack (%" PRIu64 " B): spilled registers, or a "
           "call's frame or an array that lies there",
           s->stack_loads, s->stack_stores, k->stack_bytes.value);
  return true;
}

static bool has_local_array(const code_summary *s, char *to) {
  if (!s->indexed_loads && !s->indexed_stores) return false;
  snprintf(to, CODE_WHY,
           "%" PRIu64 " loads and %" PRIu64 " stores of local memory at "
           "computed places: an array that a variable indexes",
           s->indexed_loads, s->indexed_stores);
  return true;
}

/* Narrow loads, and all loads, of global memory. What is loaded through a
 * descriptor is of it for sure where no scratch is. */
typedef struct loads {
  bool buffers;
  uint64_t narrow, all;
} loads;

static void add_loads(loads *l, int id, uint64_t count) {
  bool buffer = code_class_is_buffer_load(id);
  if (buffer ? !l->buffers : !code_class_is_global_load(id)) return;
  l->all += count;
  if (code_class_is_narrow_load(id)) l->narrow += count;
}

/* Where no loop loads, a thread handles its elements in one pass. */
static bool has_narrow_loads(const code_summary *s, const code_kernel *k,
                             char *to) {
  bool buffers = k->stack_bytes.known && !k->stack_bytes.value;
  uint64_t loading = 0, narrow_loops = 0;
  for (size_t i = 0; i < s->loop_count; i++) {
    const code_loop *l = &s->loops[i];
    loads found = {.buffers = buffers};
    if (!l->innermost) continue;
    for (int id = 0; id < CODE_CLASSES; id++)
      add_loads(&found, id, l->counts[id]);
    loading += found.all != 0;
    if (!found.narrow) continue;
    if (!narrow_loops++)
      snprintf(to, CODE_WHY,
               "%" PRIu64 " of %" PRIu64
               " global loads in the loop at 0x%" PRIx64 "-0x%" PRIx64
               " are narrower than 16 bytes a thread",
               found.narrow, found.all, l->from, l->to);
  }
  if (narrow_loops > 1) {
    size_t used = strlen(to);
    snprintf(to + used, CODE_WHY - used,
             "; so it is in %" PRIu64 " of %" PRIu64
             " innermost loops that load",
             narrow_loops, loading);
  }
  if (loading || s->loops_unknown) return narrow_loops != 0;
  loads whole = {.buffers = buffers};
  for (int id = 0; id < CODE_CLASSES; id++)
    add_loads(&whole, id, s->counts[id]);
  if (whole.narrow)
    snprintf(to, CODE_WHY,
             "%" PRIu64 " of %" PRIu64 " global loads are narrower than 16 "
             "bytes a thread; no loop loads",
             whole.narrow, whole.all);
  return whole.narrow != 0;
}

static uint64_t matrix_count(const code_summary *s) {
  uint64_t count = 0;
  for (int id = 0; id < CODE_CLASSES; id++)
    if (strcmp(code_class_group(id), "matrix") == 0) count += s->counts[id];
  return count;
}

static bool lacks_expected(const code_summary *s, int expect, char *to) {
  if (expect < 0) return false;
  bool any = expect == CODE_OTHER;
  if (any ? matrix_count(s) != 0 : s->counts[expect] != 0) return false;
  snprintf(to, CODE_WHY,
           "%s was expected and is not there: %" PRIu64 " other matrix "
           "instructions, arithmetic f32 %" PRIu64 ", f16 %" PRIu64
           ", bf16 %" PRIu64,
           any ? "a matrix instruction" : code_class_text(expect),
           matrix_count(s), s->counts[CODE_F32], s->counts[CODE_F16],
           s->counts[CODE_BF16]);
  return true;
}

/* The warp-wide unit on processors that have a wider one. */
static bool has_older_matrix(const char *arch, const code_summary *s,
                             char *to) {
  bool hopper = strncmp(arch, "sm_90", 5) == 0;
  bool blackwell = strncmp(arch, "sm_10", 5) == 0;
  uint64_t older = s->counts[CODE_HMMA] + s->counts[CODE_IMMA];
  uint64_t newer = s->counts[CODE_HGMMA] + s->counts[CODE_IGMMA] +
                   s->counts[CODE_QGMMA] + s->counts[CODE_BGMMA];
  if (blackwell) newer = s->counts[CODE_UTCMMA];
  if ((!hopper && !blackwell) || !older || newer) return false;
  snprintf(to, CODE_WHY,
           "HMMA %" PRIu64 ", IMMA %" PRIu64 " are a warp's; the wider matrix "
           "unit of %s (%s) is not used",
           s->counts[CODE_HMMA], s->counts[CODE_IMMA], arch,
           hopper ? "HGMMA, QGMMA, IGMMA" : "UTC*MMA");
  return true;
}

int code_flags(const code_file *file, const code_kernel *k,
               const code_summary *s, int expect,
               code_flag flags[CODE_FLAGS_MOST]) {
  int count = 0;
#define FLAG(flag, holds) \
  if (holds) flags[count++].name = (flag)
  FLAG("MATRIX_UNIT_UNUSED", lacks_expected(s, expect, flags[count].text));
  FLAG("OLDER_MATRIX_UNIT",
       has_older_matrix(file->image.arch, s, flags[count].text));
  FLAG("NARROW_LOADS", has_narrow_loads(s, k, flags[count].text));
  if (file->image.maker == CODE_AMD) {
    FLAG("SPILLS", has_spills_amd(k, flags[count].text));
    FLAG("LOCAL_ARRAY", has_scratch(k, flags[count].text));
  } else {
    FLAG("SPILLS", has_spills(s, k, flags[count].text));
    FLAG("LOCAL_ARRAY", has_local_array(s, flags[count].text));
  }
#undef FLAG
  return count;
}
