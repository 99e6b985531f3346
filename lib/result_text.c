/* One result as a block of lines. */
#include "format.h"

#include "error.h"
#include "utf8.h"

enum { LABEL = 13 };                     /* column at which values start */
enum { OPS_SHOWN = 8, NAME_WIDTH = 48 }; /* of device operations */
enum { RANKS_SHOWN = 16 };

/* A line is put together in `to`, then broken to the width of a page. */
typedef struct block {
  kmbi_text *to;
  kmbi_text *page;
  const kmb_result *result;
} block;

static void start_line(const block *b, const char *label) {
  kmbi_text_put(b->page, "  ");
  kmbi_text_put(b->page, label);
  size_t width = kmbi_utf8_width(label) + 2;
  kmbi_text_repeat(b->page, ' ', width < LABEL ? LABEL - width : 1);
}

static void end_line_at(const block *b, size_t indent) {
  kmbi_put_wrapped(b->page, kmbi_text_get(b->to), LABEL, indent);
  kmbi_text_put(b->page, "\n");
  b->page->failed = b->page->failed || b->to->failed;
  kmbi_text_release(b->to);
}

static void end_line(const block *b) {
  end_line_at(b, LABEL);
}

static const char *text_of(const block *b, kmb_value value) {
  return kmbi_result_get_text(b->result, value);
}

static bool f64_of(const block *b, kmb_value value, double *number) {
  return kmbi_result_get_f64(b->result, value, number);
}

static bool u64_of(const block *b, kmb_value value, uint64_t *number) {
  return kmbi_result_get_u64(b->result, value, number);
}

/* `before` and the text, if there is one. */
static bool put_text(const block *b, const char *before, kmb_value value,
                     const char *after) {
  const char *text = text_of(b, value);
  if (!text || !*text) return false;
  kmbi_text_put(b->to, before);
  kmbi_put_clean(b->to, text);
  kmbi_text_put(b->to, after);
  return true;
}

static void put_head(const block *b) {
  const char *name = text_of(b, KMB_VALUE_NAME);
  kmbi_put_clean(b->page, name && *name ? name : "(no name)");
  for (uint64_t i = 0; i < b->result->axis_count; i++) {
    kmbi_text_put(b->page, i ? ", " : "  ");
    kmbi_put_clean(b->page, b->result->axes[i].key);
    kmbi_text_put(b->page, "=");
    kmbi_put_clean(b->page, b->result->axes[i].value);
  }
  kmbi_text_put(b->page, "\n");
}

static void put_range(const block *b, const char *before, kmb_value low_value,
                      kmb_value high_value) {
  double low = 0, high = 0;
  if (!f64_of(b, low_value, &low) || !f64_of(b, high_value, &high)) return;
  kmbi_text_put(b->to, before);
  kmbi_text_put(b->to, "[");
  kmbi_put_time(b->to, low);
  kmbi_text_put(b->to, ", ");
  kmbi_put_time(b->to, high);
  kmbi_text_put(b->to, "]");
}

static void put_time(const block *b) {
  double time = 0, percent = 0, raw = 0, bias = 0;
  start_line(b, "time");
  if (!f64_of(b, KMB_VALUE_TIME, &time)) {
    kmbi_text_put(b->to, "not known");
    end_line(b);
    return;
  }
  kmbi_put_time(b->to, time);
  if (f64_of(b, KMB_VALUE_INTERVAL_PCT, &percent)) {
    kmbi_text_put(b->to, " ± ");
    kmbi_put_percent(b->to, percent, 2);
  }
  put_range(b, ", 99% within-run interval ", KMB_VALUE_INTERVAL_LOW,
            KMB_VALUE_INTERVAL_HIGH);
  end_line(b);
  if (f64_of(b, KMB_VALUE_BIAS, &bias) &&
      f64_of(b, KMB_VALUE_RAW_MEDIAN, &raw) && bias != 0) {
    start_line(b, "");
    kmbi_put_time(b->to, raw);
    kmbi_text_put(b->to, " by the clock, less ");
    kmbi_put_time(b->to, bias);
    kmbi_text_put(b->to, " of the timer's own");
    end_line(b);
  }
}

static void put_rounds(const block *b) {
  uint64_t rounds = 0;
  double low = 0;
  if (!u64_of(b, KMB_VALUE_ROUNDS, &rounds) || rounds < 2) return;
  start_line(b, "rounds");
  kmbi_text_format(b->to, "%llu", (unsigned long long)rounds);
  if (f64_of(b, KMB_VALUE_ROUND_LOW, &low))
    put_range(b, ", between-round interval ", KMB_VALUE_ROUND_LOW,
              KMB_VALUE_ROUND_HIGH);
  end_line(b);
}

static void put_samples(const block *b) {
  uint64_t count = 0, batch = 0, dropped = 0;
  double target = 0;
  if (!u64_of(b, KMB_VALUE_SAMPLES, &count)) return;
  start_line(b, "samples");
  kmbi_text_format(b->to, "%llu", (unsigned long long)count);
  if (u64_of(b, KMB_VALUE_BATCH, &batch))
    kmbi_text_format(b->to, " of %llu iteration%s", (unsigned long long)batch,
                     batch == 1 ? "" : "s");
  if (u64_of(b, KMB_VALUE_SAMPLES_DROPPED, &dropped) && dropped)
    kmbi_text_format(b->to, ", %llu dropped as warm-up",
                     (unsigned long long)dropped);
  if (u64_of(b, KMB_VALUE_SAMPLES_INVALID, &dropped) && dropped)
    kmbi_text_format(b->to, ", %llu invalid", (unsigned long long)dropped);
  if (put_text(b, "; stop ", KMB_VALUE_STOP_REASON, "") &&
      f64_of(b, KMB_VALUE_TARGET_PCT, &target)) {
    kmbi_text_put(b->to, ", target ± ");
    kmbi_put_percent(b->to, target, 2);
  }
  end_line(b);
}

static void put_timer(const block *b) {
  double overhead = 0;
  if (!text_of(b, KMB_VALUE_TIMER)) return;
  start_line(b, "timer");
  put_text(b, "", KMB_VALUE_TIMER, "");
  put_text(b, ", launch ", KMB_VALUE_LAUNCH_MODE, "");
  put_text(b, ", zero at ", KMB_VALUE_ZERO_REFERENCE, "");
  if (f64_of(b, KMB_VALUE_OVERHEAD, &overhead)) {
    kmbi_text_put(b->to, ", overhead at most ");
    kmbi_put_time(b->to, overhead);
  }
  put_text(b, "; ", KMB_VALUE_TIMER_REASON, "");
  end_line(b);
}

static void put_op(const block *b, const kmb_op *op, const char *kind) {
  size_t fit = kmbi_utf8_fit(op->name, NAME_WIDTH);
  start_line(b, "");
  kmbi_put_percent(b->to, op->share_pct, 1);
  kmbi_text_put(b->to, " ");
  kmbi_put_time(b->to, op->duration_ns);
  kmbi_text_put(b->to, " [");
  kmbi_put_time(b->to, op->min_ns);
  kmbi_text_put(b->to, ", ");
  kmbi_put_time(b->to, op->max_ns);
  kmbi_text_put(b->to, "] from ");
  kmbi_put_time(b->to, op->start_ns);
  kmbi_text_format(b->to, " on stream %u: %s", (unsigned)op->stream, kind);
  if (op->bytes) {
    kmbi_text_put(b->to, " of ");
    kmbi_put_bytes(b->to, op->bytes);
  }
  if (op->name[0]) kmbi_text_format(b->to, " %.*s", (int)fit, op->name);
  if (op->name[fit]) kmbi_text_put(b->to, "…");
  end_line_at(b, LABEL + 2);
}

/* How many operations come before this one by share. */
static uint64_t rank_of(const kmb_result *result, uint64_t index) {
  double share = result->ops[index].op.share_pct;
  uint64_t rank = 0;
  for (uint64_t i = 0; i < result->op_count; i++) {
    double other = result->ops[i].op.share_pct;
    rank += other > share || (other == share && i < index);
  }
  return rank;
}

/* Of several operations those with the largest shares, in order of start. */
static void put_ops(const block *b) {
  const kmb_result *result = b->result;
  uint64_t count = result->op_count, samples = 0, other = 0, omitted = 0;
  double gaps = 0, shown = 0, all = 0;
  if (count < 2) return;
  start_line(b, "operations");
  u64_of(b, KMB_VALUE_OPS_OMITTED, &omitted);
  kmbi_text_format(b->to, "%llu an iteration",
                   (unsigned long long)count + omitted);
  if (u64_of(b, KMB_VALUE_OP_SAMPLES, &samples))
    kmbi_text_format(b->to, ", over %llu samples", (unsigned long long)samples);
  if (u64_of(b, KMB_VALUE_OP_SAMPLES_OTHER, &other) && other)
    kmbi_text_format(b->to, " (%llu had other operations)",
                     (unsigned long long)other);
  if (f64_of(b, KMB_VALUE_GAPS, &gaps)) {
    kmbi_text_put(b->to, ", gaps of ");
    kmbi_put_time(b->to, gaps);
  }
  end_line(b);
  for (uint64_t i = 0; i < count; i++) {
    const kmbi_result_op *row = &result->ops[i];
    all += row->op.share_pct;
    if (rank_of(result, i) >= OPS_SHOWN) continue;
    shown += row->op.share_pct;
    put_op(b, &row->op,
           row->kind_name ? row->kind_name : kmb_op_kind_name(row->op.kind));
  }
  uint64_t more = count > OPS_SHOWN ? count - OPS_SHOWN : 0;
  if (!more && !omitted) return;
  start_line(b, "");
  if (more) {
    kmbi_put_percent(b->to, all - shown, 1);
    kmbi_text_format(b->to, " %llu more", (unsigned long long)more);
  }
  if (omitted)
    kmbi_text_format(b->to, "%s%llu without a row", more ? ", and " : "",
                     (unsigned long long)omitted);
  end_line(b);
}

static void put_count(const block *b, const char *before, kmb_value value,
                      const char *after) {
  uint64_t count = 0;
  if (u64_of(b, value, &count))
    kmbi_text_format(b->to, "%s%llu%s", before, (unsigned long long)count,
                     after);
}

/* How the kernel that takes longest was launched, and what that allows. */
static void put_launch(const block *b) {
  double waves = 0, percent = 0;
  if (!text_of(b, KMB_VALUE_LAUNCH_GRID)) return;
  start_line(b, "launch");
  put_text(b, "", KMB_VALUE_LAUNCH_KERNEL, "");
  put_text(b, ": ", KMB_VALUE_LAUNCH_GRID, " blocks of ");
  put_text(b, "", KMB_VALUE_LAUNCH_BLOCK, " threads");
  put_count(b, ", ", KMB_VALUE_REGISTERS, " registers a thread");
  put_count(b, ", ", KMB_VALUE_STATIC_SHARED, " B of static");
  put_count(b, " and ", KMB_VALUE_DYNAMIC_SHARED,
            " B of dynamic shared memory");
  if (f64_of(b, KMB_VALUE_WAVES, &waves)) {
    kmbi_text_put(b->to, ", ");
    kmbi_put_sig(b->to, waves);
    kmbi_text_put(b->to, " waves");
  }
  end_line(b);
  if (!f64_of(b, KMB_VALUE_THEORETICAL, &percent)) return;
  start_line(b, "occupancy");
  kmbi_put_percent(b->to, percent, 1);
  kmbi_text_put(b->to, " theoretical");
  put_text(b, ", limited by ", KMB_VALUE_OCCUPANCY_LIMIT, "");
  put_text(b, "; ", KMB_VALUE_OCCUPANCY_CHECK, "");
  end_line(b);
}

static void put_size(const block *b, const char *before, kmb_value value) {
  uint64_t bytes = 0;
  if (!u64_of(b, value, &bytes)) return;
  kmbi_text_put(b->to, before);
  kmbi_put_bytes(b->to, bytes);
}

static void put_cache(const block *b) {
  const char *state = text_of(b, KMB_VALUE_CACHE_STATE);
  const char *asked = text_of(b, KMB_VALUE_CACHE_REQUESTED);
  if (!state) return;
  start_line(b, "cache");
  put_text(b, "", KMB_VALUE_CACHE_STATE, "");
  if (asked && strcmp(asked, "DEFAULT") != 0 && strcmp(asked, state) != 0)
    put_text(b, " (asked for: ", KMB_VALUE_CACHE_REQUESTED, ")");
  /* The method of rotation names the bytes itself. */
  if (!put_text(b, ", ", KMB_VALUE_CACHE_METHOD, ""))
    put_size(b, ", reuse after ", KMB_VALUE_REUSE_BYTES);
  put_size(b, ", sweep ", KMB_VALUE_SWEEP_BYTES);
  put_size(b, ", last-level cache ", KMB_VALUE_LLC_BYTES);
  put_text(b, ", ", KMB_VALUE_CACHE_PROOF, "");
  end_line(b);
}

static void put_work(const block *b) {
  uint64_t flops = 0, bytes = 0;
  bool has_flops = u64_of(b, KMB_VALUE_FLOPS, &flops);
  bool has_bytes = u64_of(b, KMB_VALUE_LEAST_BYTES, &bytes);
  if (!has_flops && !has_bytes) return;
  start_line(b, "work");
  if (has_flops) kmbi_put_si(b->to, (double)flops, "FLOP");
  if (has_bytes) {
    kmbi_text_put(b->to, has_flops ? ", at least " : "at least ");
    kmbi_put_si(b->to, (double)bytes, "B");
  }
  put_text(b, ", ", KMB_VALUE_WORK_DTYPE, "");
  put_text(b, " (", KMB_VALUE_WORK_CONVENTION, ")");
  end_line(b);
}

typedef struct resource {
  const char *label, *unit;
  kmb_value achieved, percent, ceiling, name;
} resource;

static void put_resource(const block *b, const resource *r) {
  double achieved = 0, percent = 0, ceiling = 0;
  if (!f64_of(b, r->achieved, &achieved)) return;
  start_line(b, r->label);
  kmbi_put_si(b->to, achieved, r->unit);
  if (f64_of(b, r->percent, &percent) && f64_of(b, r->ceiling, &ceiling)) {
    kmbi_text_put(b->to, ", ");
    kmbi_put_percent(b->to, percent, 1);
    kmbi_text_put(b->to, " of ");
    kmbi_put_si(b->to, ceiling, r->unit);
    put_text(b, " (", r->name, ")");
  }
  end_line(b);
}

static void put_roofline(const block *b) {
  static const resource memory = {"memory",
                                  "B/s",
                                  KMB_VALUE_ACHIEVED_BYTES,
                                  KMB_VALUE_MEMORY_PCT,
                                  KMB_VALUE_MEMORY_CEILING,
                                  KMB_VALUE_MEMORY_CEILING_NAME};
  static const resource compute = {"compute",
                                   "FLOP/s",
                                   KMB_VALUE_ACHIEVED_FLOPS,
                                   KMB_VALUE_COMPUTE_PCT,
                                   KMB_VALUE_COMPUTE_CEILING,
                                   KMB_VALUE_COMPUTE_CEILING_NAME};
  double percent = 0, predicted = 0;
  put_resource(b, &compute);
  put_resource(b, &memory);
  if (text_of(b, KMB_VALUE_PREDICTED_BOUND)) {
    start_line(b, "bound");
    put_text(b, "predicted ", KMB_VALUE_PREDICTED_BOUND, "");
    if (f64_of(b, KMB_VALUE_PREDICTED_TIME, &predicted)) {
      kmbi_text_put(b->to, " (");
      kmbi_put_time(b->to, predicted);
      kmbi_text_put(b->to, ")");
    }
    put_text(b, ", observed ", KMB_VALUE_OBSERVED_BOUND, "");
    if (f64_of(b, KMB_VALUE_SOL_PCT, &percent)) {
      kmbi_text_put(b->to, "; ");
      kmbi_put_percent(b->to, percent, 1);
      kmbi_text_put(b->to, " of the ceiling");
    }
    end_line(b);
  }
}

/* Beside the ceilings that bind: what follows the clock, what others reached.
 */
static void put_beside(const block *b) {
  double percent = 0, rate = 0;
  if (f64_of(b, KMB_VALUE_RATE_CEILING, &rate)) {
    start_line(b, "rate");
    if (f64_of(b, KMB_VALUE_RATE_PCT, &percent)) {
      kmbi_put_percent(b->to, percent, 1);
      kmbi_text_put(b->to, " of ");
    }
    kmbi_put_si(b->to, rate, "FLOP/s");
    put_text(b, " (", KMB_VALUE_RATE_CEILING_NAME, ")");
    end_line(b);
  }
  if (f64_of(b, KMB_VALUE_REFERENCE_PCT, &percent)) {
    start_line(b, "others");
    kmbi_put_percent(b->to, percent, 1);
    put_text(b, " of ", KMB_VALUE_REFERENCE_NAME, "");
    end_line(b);
  }
}

/* In a fixed order; what is not known is said to be so. */
static void put_reading(const block *b) {
  static const struct {
    kmb_value value;
    const char *name;
  } steps[] = {{KMB_VALUE_READING_PREDICTION, "prediction: "},
               {KMB_VALUE_READING_SOL, "speed of light: "},
               {KMB_VALUE_READING_MEMORY, "memory workload: "},
               {KMB_VALUE_READING_OCCUPANCY, "occupancy: "},
               {KMB_VALUE_READING, ""}};
  const char *label = "reading";
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    const char *text = text_of(b, steps[i].value);
    const char *reason =
        b->result->values[kmbi_value_find(steps[i].value) - kmbi_value_table]
            .reason;
    if (text ? !*text : !reason) continue;
    start_line(b, label);
    kmbi_text_put(b->to, steps[i].name);
    kmbi_put_clean(b->to, text ? text : "not known, ");
    if (!text) kmbi_put_clean(b->to, reason);
    end_line_at(b, LABEL + 2);
    label = "";
  }
}

static void put_check(const block *b) {
  double error = 0, tolerance = 0;
  if (!text_of(b, KMB_VALUE_CHECK)) return;
  start_line(b, "check");
  put_text(b, "", KMB_VALUE_CHECK, "");
  if (f64_of(b, KMB_VALUE_CHECK_ERROR, &error))
    kmbi_text_format(b->to, ", largest error %.3g", error);
  if (f64_of(b, KMB_VALUE_TOLERANCE, &tolerance))
    kmbi_text_format(b->to, ", tolerance %.3g", tolerance);
  end_line(b);
}

static void put_confirm(const block *b) {
  double time = 0;
  if (!f64_of(b, KMB_VALUE_CONFIRM_TIME, &time)) return;
  start_line(b, "confirm");
  kmbi_put_time(b->to, time);
  put_range(b, " ", KMB_VALUE_CONFIRM_LOW, KMB_VALUE_CONFIRM_HIGH);
  put_text(b, ", ", KMB_VALUE_CONFIRM_METHOD, "");
  end_line(b);
}

static const char *put_severity(const block *b, const char *severity,
                                const char *label) {
  for (const kmbi_finding *at = b->result->findings; at; at = at->next) {
    if (strcmp(kmbi_severity_name(at->severity), severity) != 0) continue;
    start_line(b, label);
    kmbi_text_format(b->to, "%s %s: %s", severity,
                     at->name ? at->name : kmb_finding_name(at->code),
                     at->message);
    end_line_at(b, LABEL + 2);
    label = "";
  }
  return label;
}

/* The gravest first, as below a table. */
static void put_findings(const block *b) {
  const char *label = put_severity(b, "doubt", "findings");
  label = put_severity(b, "warning", label);
  put_severity(b, "note", label);
}

/* The reason of a value that is not known; NULL for the others, and for those
 * that the reading speaks of. */
static const char *reason_of(const block *b, size_t position) {
  const kmbi_value *value = &b->result->values[position];
  kmb_value which = kmbi_value_table[position].value;
  if (which == KMB_VALUE_READING_MEMORY || which == KMB_VALUE_READING_OCCUPANCY)
    return NULL;
  return value->known ? NULL : value->reason;
}

static bool told_before(const block *b, size_t position) {
  const char *reason = reason_of(b, position);
  for (size_t i = 0; i < position; i++) {
    const char *other = reason_of(b, i);
    if (other && strcmp(other, reason) == 0) return true;
  }
  return false;
}

/* One line a reason, with the keys of all that it explains. */
static void put_unknown(const block *b) {
  const char *label = "not known";
  for (size_t i = 0; i < kmbi_value_count; i++) {
    const char *reason = reason_of(b, i);
    if (!reason || told_before(b, i)) continue;
    start_line(b, label);
    kmbi_text_put(b->to, kmbi_value_table[i].key);
    for (size_t k = i + 1; k < kmbi_value_count; k++) {
      const char *other = reason_of(b, k);
      if (other && strcmp(other, reason) == 0)
        kmbi_text_format(b->to, ", %s", kmbi_value_table[k].key);
    }
    kmbi_text_format(b->to, ": %s", reason);
    end_line_at(b, LABEL + 2);
    label = "";
  }
}

/* Of many ranks the first ones; JSON has them all. */
static void put_ranks(const block *b) {
  const kmb_result *result = b->result;
  if (!result->rank_count) return;
  start_line(b, "ranks");
  kmbi_text_format(b->to, "%llu", (unsigned long long)result->rank_count);
  put_text(b, " over ", KMB_VALUE_COMM, "");
  put_text(b, "; barrier ", KMB_VALUE_BARRIER, "");
  end_line(b);
  for (uint64_t i = 0; i < result->rank_count && i < RANKS_SHOWN; i++) {
    const kmb_rank *rank = &result->ranks[i];
    start_line(b, "");
    kmbi_text_format(b->to, "%llu  ", (unsigned long long)i);
    kmbi_put_time(b->to, rank->median_ns);
    kmbi_text_format(b->to, ", slowest in %llu  ",
                     (unsigned long long)rank->slowest);
    kmbi_put_clean(b->to, rank->device);
    end_line(b);
  }
}

/* What of its registers only AMD's code objects tell. */
static void put_amd_registers(const block *b, const kmb_code_kernel *k) {
  if (k->flags & KMB_CODE_HAS_SCALARS)
    kmbi_text_format(b->to, ", %llu scalar",
                     (unsigned long long)k->scalar_registers);
  if (k->flags & KMB_CODE_HAS_ACCUMULATORS)
    kmbi_text_format(b->to, ", %llu accumulator",
                     (unsigned long long)k->accumulator_registers);
  if (k->flags & KMB_CODE_HAS_SPILLS)
    kmbi_text_format(b->to, ", %llu and %llu scalar spilled",
                     (unsigned long long)k->spilled_registers,
                     (unsigned long long)k->spilled_scalar_registers);
}

static void put_kernel(const block *b, const kmb_code_kernel *k) {
  const char *name = k->demangled ? k->demangled : k->name;
  size_t fit = kmbi_utf8_fit(name, NAME_WIDTH);
  start_line(b, "");
  kmbi_text_format(b->to, "%.*s%s", (int)fit, name, name[fit] ? "…" : "");
  if (*k->arch) kmbi_text_format(b->to, " for %s", k->arch);
  if (k->flags & KMB_CODE_HAS_ATTRIBUTES) {
    kmbi_text_format(b->to, ": %llu registers",
                     (unsigned long long)k->registers);
    put_amd_registers(b, k);
    kmbi_text_format(b->to, ", local %llu B, shared %llu B",
                     (unsigned long long)k->local_bytes,
                     (unsigned long long)k->static_shared_bytes);
    kmbi_text_format(b->to, " and %llu B dynamic",
                     (unsigned long long)k->dynamic_shared_bytes);
  }
  if (k->flags & KMB_CODE_HAS_OCCUPANCY)
    kmbi_text_format(b->to, ", %llu block%s a multiprocessor",
                     (unsigned long long)k->blocks_per_unit,
                     kmbi_plural(k->blocks_per_unit));
  if (k->hash) kmbi_text_format(b->to, "; sha256 %.12s…", k->hash);
  if (k->file) kmbi_text_format(b->to, " in %s", k->file);
  if (k->reason) kmbi_text_format(b->to, "; %s", k->reason);
  end_line_at(b, LABEL + 2);
}

/* Of many kernels the first ones; JSON has more. */
static void put_code(const block *b) {
  const kmb_result *result = b->result;
  uint64_t omitted = 0, unseen = 0;
  u64_of(b, KMB_VALUE_CODE_OMITTED, &omitted);
  bool captured = u64_of(b, KMB_VALUE_CODE_UNSEEN, &unseen);
  if (!captured && !result->code_count) return;
  uint64_t all = result->code_count + omitted;
  start_line(b, "code");
  kmbi_text_format(b->to, "%llu kernel%s captured", (unsigned long long)all,
                   kmbi_plural(all));
  if (unseen)
    kmbi_text_format(b->to,
                     "; %llu launch%s of graphs or in other contexts, whose "
                     "kernels were not seen",
                     (unsigned long long)unseen, unseen == 1 ? "" : "es");
  end_line(b);
  for (uint64_t i = 0; i < result->code_count && i < OPS_SHOWN; i++)
    put_kernel(b, &result->code[i]);
}

static void build(kmbi_text *to, const void *subject) {
  kmbi_text line;
  kmbi_text_init(&line, to->memory);
  block b = {&line, to, subject};
  put_head(&b);
  put_time(&b);
  put_rounds(&b);
  put_samples(&b);
  put_timer(&b);
  put_ops(&b);
  put_launch(&b);
  put_ranks(&b);
  put_code(&b);
  put_cache(&b);
  put_work(&b);
  put_roofline(&b);
  put_beside(&b);
  put_reading(&b);
  put_check(&b);
  put_confirm(&b);
  put_findings(&b);
  put_unknown(&b);
}

kmb_status kmb_result_write_text(const kmb_result *result, kmb_write_fn write,
                                 void *user) {
  if (!result || !write)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_result_write_text: %s is NULL",
                     !result ? "result" : "write");
  return kmbi_write_plain(&result->memory, build, result, write, user);
}
