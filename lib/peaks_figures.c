/* Figures of a part as ceilings, and what others reached on it. */
#include "error.h"
#include "peaks.h"
#include "structs.h"

#include <math.h>
#include <stdio.h>

/* Columns of a dtype; 0: none. */
typedef struct columns {
  kmb_part_value vector, matrix;
} columns;

static columns columns_of(kmb_dtype dtype) {
  switch (dtype) {
  case KMB_F64:
    return (columns){KMB_PART_FP64, KMB_PART_FP64_TENSOR};
  case KMB_F32:
    return (columns){KMB_PART_FP32, KMB_PART_FP32_MATRIX};
  case KMB_TF32:
    return (columns){0, KMB_PART_TF32};
  case KMB_F16:
    return (columns){0, KMB_PART_FP16};
  case KMB_BF16:
    return (columns){0, KMB_PART_BF16};
  case KMB_F8_E4M3:
  case KMB_F8_E5M2:
    return (columns){0, KMB_PART_FP8};
  case KMB_F4_E2M1:
    return (columns){0, KMB_PART_FP4};
  case KMB_I8:
  case KMB_U8:
    return (columns){0, KMB_PART_INT8};
  default:
    return (columns){0, 0};
  }
}

static const char *key_of(kmb_part_value value) {
  for (size_t i = 0; i < kmbi_part_table_count; i++)
    if (kmbi_part_table[i].value == value) return kmbi_part_table[i].key;
  return "figure";
}

/* The column of a kind and dtype that has a figure; the greater one for kind 0.
 * `numbers` is a part's or a rate's row. Sets `kind`. */
static kmb_part_value choose(const double *numbers, kmb_dtype dtype,
                             kmb_ceiling_kind *kind) {
  columns c = columns_of(dtype);
  double vector = c.vector ? numbers[c.vector] : 0;
  double matrix = c.matrix ? numbers[c.matrix] : 0;
  if (*kind != KMB_CEILING_FMA && matrix > 0 &&
      (*kind == KMB_CEILING_MATRIX || matrix >= vector)) {
    *kind = KMB_CEILING_MATRIX;
    return c.matrix;
  }
  if (*kind == KMB_CEILING_MATRIX || !(vector > 0)) return 0;
  *kind = KMB_CEILING_FMA;
  return c.vector;
}

static kmb_status check_request(const kmb_part *part, kmb_ceiling_kind kind,
                                kmb_dtype dtype, bool memory,
                                const kmb_ceiling *out, const char *what) {
  uint32_t bits = 0;
  if (!part || !out)
    return kmbi_fail(KMB_ERR_INVALID, "%s: %s is NULL", what,
                     part ? "ceiling" : "part");
  if (memory && kind == KMB_CEILING_MEMORY) return KMB_OK;
  if (kind && kind != KMB_CEILING_FMA && kind != KMB_CEILING_MATRIX)
    return kmbi_fail(KMB_ERR_INVALID,
                     "%s: no datasheet has a ceiling of kind %d; use "
                     "KMB_CEILING_MATRIX …",
                     what, (int)kind);
  if (kmb_dtype_bits(dtype, &bits))
    return kmbi_fail(KMB_ERR_INVALID, "%s: dtype %d is unknown", what,
                     (int)dtype);
  return KMB_OK;
}

static kmb_status no_figure(const kmb_part *part, kmb_dtype dtype,
                            const char *what) {
  return kmbi_fail(KMB_ERR_UNAVAILABLE, "the table of peaks has no %s%s of %s",
                   dtype ? kmb_dtype_name(dtype) : "", what,
                   part->text[KMB_PART_NAME]);
}

static kmb_ceiling figure_of(const kmb_part *part) {
  kmb_ceiling ceiling = kmb_ceiling_init();
  ceiling.source = part->users ? KMB_SOURCE_CALLER : KMB_SOURCE_DATASHEET;
  ceiling.variant = part->text[KMB_PART_NAME];
  ceiling.reference = part->text[KMB_PART_SOURCE];
  return ceiling;
}

static kmb_status store(const kmb_ceiling *ceiling, kmb_ceiling *out) {
  return kmbi_copy_out(out, ceiling, sizeof *ceiling, KMBI_CEILING_V1,
                       "kmb_ceiling");
}

kmb_status kmb_part_ceiling(const kmb_part *part, kmb_ceiling_kind kind,
                            kmb_dtype dtype, uint32_t flags, kmb_ceiling *out) {
  kmb_status status =
      check_request(part, kind, dtype, true, out, "kmb_part_ceiling");
  if (status) return status;
  if (flags & ~(uint32_t)KMB_CEILING_SPARSE)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_part_ceiling: unknown flags");
  kmb_ceiling ceiling = figure_of(part);
  if (kind == KMB_CEILING_MEMORY) {
    ceiling.value = part->number[KMB_PART_BANDWIDTH] * 1e9;
    ceiling.kind = kind;
    if (!(ceiling.value > 0)) return no_figure(part, 0, "memory bandwidth");
    return store(&ceiling, out);
  }
  kmb_part_value column = choose(part->number, dtype, &kind);
  if (!column) return no_figure(part, dtype, " peak");
  ceiling.value = part->number[column] * 1e12;
  if (flags & KMB_CEILING_SPARSE) {
    if (!kmbi_list_has(part->text[KMB_PART_SPARSE], key_of(column)))
      return no_figure(part, dtype, " peak with sparse operands");
    ceiling.value *= 2;
    ceiling.flags = KMB_CEILING_SPARSE;
  }
  ceiling.kind = kind;
  ceiling.dtype = dtype;
  return store(&ceiling, out);
}

/* Rates differ between GeForce and the other parts of an architecture. */
static const kmbi_rate *rate_of(const kmb_part *part) {
  const char *arch = part->text[KMB_PART_ARCH];
  const char *kind = part->text[KMB_PART_PART];
  char key[32];
  if (!arch) return NULL;
  snprintf(key, sizeof key, "%s%s", arch,
           kind && !strcmp(kind, "geforce") ? "g" : "");
  const kmbi_tables *t = kmbi_peaks_tables();
  for (size_t i = 0; i < t->rate_count; i++)
    if (!strcmp(t->rates[i].arch, key)) return &t->rates[i];
  return NULL;
}

static kmb_status never(const kmb_part *part, kmb_part_value column) {
  const char *list = part->text[KMB_PART_NEVER_FROM_RATES];
  if (!kmbi_list_has(list, "all") && !kmbi_list_has(list, key_of(column)))
    return KMB_OK;
  return kmbi_fail(KMB_ERR_UNAVAILABLE,
                   "%s is slower than its architecture's rates: its %s must "
                   "not be computed from them",
                   part->text[KMB_PART_NAME], key_of(column));
}

kmb_status kmb_part_rate(const kmb_part *part, kmb_ceiling_kind kind,
                         kmb_dtype dtype, uint64_t units, double clock_mhz,
                         kmb_ceiling *out) {
  kmb_status status =
      check_request(part, kind, dtype, false, out, "kmb_part_rate");
  if (status) return status;
  if (!(clock_mhz > 0) || !isfinite(clock_mhz))
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_part_rate: the clock must be above 0 MHz");
  const kmbi_rate *rate = rate_of(part);
  kmb_part_value column = rate ? choose(rate->number, dtype, &kind) : 0;
  if (!column) return no_figure(part, dtype, " rate");
  status = never(part, column);
  if (status) return status;
  double count = units ? (double)units : part->number[KMB_PART_UNITS];
  if (!(count > 0)) return no_figure(part, 0, "number of units");
  kmb_ceiling ceiling = figure_of(part);
  ceiling.value = rate->number[column] * count * clock_mhz * 1e6;
  if (!isfinite(ceiling.value))
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_part_rate: the rate of %g units at %g MHz is beyond "
                     "all numbers; give the clock in MHz",
                     count, clock_mhz);
  ceiling.source = KMB_SOURCE_RATE;
  ceiling.reference = rate->source;
  ceiling.kind = kind;
  ceiling.dtype = dtype;
  return store(&ceiling, out);
}

static bool is_of(const kmb_reference *reference, const kmb_part *part) {
  const char *name = part->text[KMB_PART_NAME];
  return (name && !strcmp(name, reference->hardware)) ||
         kmbi_list_has(part->text[KMB_PART_LABELS], reference->hardware);
}

uint64_t kmb_part_reference_count(const kmb_part *part) {
  const kmbi_tables *t = kmbi_peaks_tables();
  uint64_t count = 0;
  for (size_t i = 0; part && i < t->reference_count; i++)
    count += is_of(&t->references[i], part);
  return count;
}

static kmb_status store_reference(const kmb_reference *from,
                                  kmb_reference *out) {
  return kmbi_copy_out(out, from, sizeof *from, KMBI_REFERENCE_V1,
                       "kmb_reference");
}

kmb_status kmb_part_reference(const kmb_part *part, uint64_t index,
                              kmb_reference *out) {
  const kmbi_tables *t = kmbi_peaks_tables();
  for (size_t i = 0; part && i < t->reference_count; i++)
    if (is_of(&t->references[i], part) && !index--)
      return store_reference(&t->references[i], out);
  return kmbi_fail(KMB_ERR_INVALID, "kmb_part_reference: %s",
                   part ? "no such figure" : "part is NULL");
}

/* Both types of 8-bit floats are one in these tables. */
static kmb_dtype plain(kmb_dtype dtype) {
  return dtype == KMB_F8_E5M2 ? KMB_F8_E4M3 : dtype;
}

static bool suits(const kmb_reference *r, const kmb_work *work,
                  kmb_bound bound) {
  return r->bound == bound &&
         (!r->operation || r->operation == work->operation) &&
         (!r->dtype || r->dtype == plain(work->dtype));
}

kmb_status kmb_part_reference_for(const kmb_part *part, const kmb_work *caller,
                                  kmb_bound bound, kmb_reference *out) {
  kmb_work work;
  if (!part)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_part_reference_for: part is NULL");
  kmb_status status =
      kmbi_copy_in(&work, sizeof work, KMBI_WORK_V1, caller, "kmb_work");
  if (status) return status;
  const kmb_reference *best = NULL;
  const kmbi_tables *t = kmbi_peaks_tables();
  for (size_t i = 0; i < t->reference_count; i++) {
    const kmb_reference *r = &t->references[i];
    if (!is_of(r, part) || !suits(r, &work, bound)) continue;
    bool measured = !strncmp(r->kind, "measured", 8);
    if (!best || (measured && strncmp(best->kind, "measured", 8) != 0))
      best = r;
  }
  if (best) return store_reference(best, out);
  return kmbi_fail(KMB_ERR_UNAVAILABLE,
                   "no reference figure of %s is for such work",
                   part->text[KMB_PART_NAME]);
}
