/* What two results say of a change. */
#include "error.h"
#include "payoff.h"
#include "structs.h"

#include <kmb/metadata.h>

static const char *text_of(const kmb_result *result, kmb_value value) {
  const char *text = NULL;
  return kmb_result_text(result, value, &text) ? NULL : text;
}

/* Where the two differ in what makes their times comparable. */
static kmb_status check_alike(const kmb_result *before,
                              const kmb_result *after) {
  static const struct {
    kmb_value value;
    const char *name;
  } rows[] = {{KMB_VALUE_CACHE_STATE, "cache state"},
              {KMB_VALUE_TIMER, "timer"},
              {KMB_VALUE_LAUNCH_MODE, "launch mode"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *a = text_of(before, rows[i].value);
    const char *b = text_of(after, rows[i].value);
    if (a && b && strcmp(a, b) != 0)
      return kmbi_fail(KMB_ERR_INVALID,
                       "kmb_payoff_change_between: the results differ in %s "
                       "(%.40s, %.40s): their ratio means nothing",
                       rows[i].name, a, b);
  }
  return KMB_OK;
}

typedef struct timed {
  double ns, low, high;
  bool interval;
} timed;

static kmb_status time_of(const kmb_result *result, timed *time) {
  kmb_status status = kmb_result_f64(result, KMB_VALUE_TIME, &time->ns);
  if (status) return status;
  time->interval =
      !kmb_result_f64(result, KMB_VALUE_INTERVAL_LOW, &time->low) &&
      !kmb_result_f64(result, KMB_VALUE_INTERVAL_HIGH, &time->high) &&
      time->low > 0;
  return KMB_OK;
}

/* The one kernel that a result traced: its name, and how it was launched. */
static void set_kernel(const kmb_result *result, kmb_payoff_change *change) {
  kmb_op op = kmb_op_init();
  if (kmb_result_op_count(result) != 1 || kmb_result_op(result, 0, &op) ||
      op.kind != KMB_OP_KERNEL)
    return;
  if (op.name[0]) change->kernel = op.name;
  if (!(op.flags & KMB_OP_HAS_LAUNCH) || !op.grid_x || !op.grid_y ||
      !op.grid_z || !op.block_x || !op.block_y || !op.block_z)
    return;
  change->grid_x = op.grid_x;
  change->grid_y = op.grid_y;
  change->grid_z = op.grid_z;
  change->block_x = op.block_x;
  change->block_y = op.block_y;
  change->block_z = op.block_z;
  change->flags |= KMB_PAYOFF_HAS_SHAPE;
}

static void set_state(const kmb_result *before, kmb_payoff_change *change) {
  const char *cache = text_of(before, KMB_VALUE_CACHE_STATE);
  if (!cache) return;
  if (strcmp(cache, "WARM") == 0) change->flags |= KMB_PAYOFF_IS_WARM;
  if (strcmp(cache, "COLD") == 0 || strcmp(cache, "ROTATED") == 0)
    change->flags |= KMB_PAYOFF_IS_COLD;
}

/* What is known of the old version. */
static kmb_status describe(const kmb_result *before, timed *was,
                           kmb_payoff_change *change) {
  kmb_status status = time_of(before, was);
  if (status) return status;
  change->before = before;
  set_kernel(before, change);
  if (kmb_result_metadata_text(before, "device.name", &change->device))
    change->device = NULL;
  change->isolated_ns = was->ns;
  change->flags |= KMB_PAYOFF_HAS_ISOLATED;
  if (was->interval) {
    change->isolated_low_ns = was->low;
    change->isolated_high_ns = was->high;
    change->flags |= KMB_PAYOFF_HAS_ISOLATED_INTERVAL;
  }
  set_state(before, change);
  return KMB_OK;
}

static kmb_status between(const kmb_result *before, const kmb_result *after,
                          kmb_payoff_change *change) {
  timed was, is;
  kmb_status status = check_alike(before, after);
  if (!status) status = describe(before, &was, change);
  if (!status) status = time_of(after, &is);
  if (status) return status;
  change->after = after;
  change->name = text_of(after, KMB_VALUE_NAME);
  change->ratio = is.ns / was.ns;
  if (was.interval && is.interval) {
    change->low = is.low / was.high;
    change->high = is.high / was.low;
  }
  return KMB_OK;
}

/* NULL if there is none. */
static const kmb_result *baseline_of(const kmb_comparison *comparison) {
  for (uint64_t i = 0; i < kmb_comparison_count(comparison); i++) {
    kmb_compare_row row = kmb_compare_row_init();
    if (!kmb_comparison_row(comparison, i, &row) &&
        row.verdict == KMB_VERDICT_BASELINE)
      return row.result;
  }
  return NULL;
}

static kmb_status compared(const kmb_comparison *comparison, uint64_t index,
                           kmb_payoff_change *change) {
  timed was;
  kmb_compare_row row = kmb_compare_row_init();
  kmb_status status = kmb_comparison_row(comparison, index, &row);
  if (status) return status;
  if (row.verdict == KMB_VERDICT_BASELINE)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_payoff_change_compared: candidate %llu is the "
                     "baseline itself",
                     (unsigned long long)index);
  if (!(row.flags & KMB_ROW_RATIO))
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "the comparison has no ratio of \"%.80s\"", row.name);
  status = describe(baseline_of(comparison), &was, change);
  change->after = row.result;
  change->name = row.name;
  change->ratio = row.ratio;
  if (row.flags & KMB_ROW_INTERVAL) {
    change->low = row.low;
    change->high = row.high;
  }
  return status;
}

kmb_status kmb_payoff_change_compared(const kmb_comparison *comparison,
                                      uint64_t index, kmb_payoff_change *out) {
  kmb_payoff_change change = kmb_payoff_change_init();
  kmbi_error_state saved;
  if (!comparison || !out)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_payoff_change_compared: %s is NULL",
                     !comparison ? "comparison" : "change");
  kmbi_error_save(&saved);
  kmb_status status = compared(comparison, index, &change);
  if (status) return status;
  kmbi_error_restore(&saved);
  return kmbi_copy_out(out, &change, sizeof change, KMBI_PAYOFF_CHANGE_V1,
                       "kmb_payoff_change_compared: change");
}

kmb_status kmb_payoff_change_between(const kmb_result *before,
                                     const kmb_result *after,
                                     kmb_payoff_change *out) {
  kmb_payoff_change change = kmb_payoff_change_init();
  kmbi_error_state saved;
  if (!before || !after || !out)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_payoff_change_between: %s is NULL",
                     !before  ? "before"
                     : !after ? "after"
                              : "change");
  /* What is not known of a result is no failure. */
  kmbi_error_save(&saved);
  kmb_status status = between(before, after, &change);
  if (status) return status;
  kmbi_error_restore(&saved);
  return kmbi_copy_out(out, &change, sizeof change, KMBI_PAYOFF_CHANGE_V1,
                       "kmb_payoff_change_between: change");
}
