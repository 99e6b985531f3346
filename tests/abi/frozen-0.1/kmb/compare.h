/**
 * @file compare.h
 * Comparing: candidates measured in turns, so that clocks, heat and skew are
 * shared, and a verdict with its interval.
 */
#ifndef KMB_COMPARE_H
#define KMB_COMPARE_H

#include <kmb/bench.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup compare Comparison
 *  @{ */

/** A tuning parameter and the values that it may have, as people read them.
 *  The layout is final. */
typedef struct kmb_knob {
  const char *name;
  const char *const *values;
  uint64_t value_count; /**< at least 1 */
} kmb_knob;

/** Which value of a knob a configuration has. Configurations count like an
 *  odometer, the last knob fastest; callbacks get the number as `config`.
 *  @param knobs   knobs of a candidate
 *  @param count   their number
 *  @param config  number of a configuration
 *  @param knob    index of the knob
 *  @return index into kmb_knob::values; UINT64_MAX for NULL, a knob that is not
 *          below `count`, a knob without values
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API uint64_t kmb_knob_value(const kmb_knob *knobs, uint64_t count,
                                uint32_t config, uint64_t knob);

/** One of the things that are compared. */
typedef struct kmb_candidate {
  size_t struct_size;
  /** What to measure, as for kmb_bench(). `name` names the candidate. Several
   *  candidates may share buffers, or each has its own layout of the same
   *  inputs. `setup` is untimed: construction of plans. Of the wall times,
   *  `warmup_ns` and `idle_ns` count; how long is measured, and when it is
   *  enough, kmb_compare_params says. One round. */
  const kmb_bench_params *bench;
  /** Tuned before it is compared: each configuration is measured briefly, and
   *  checked, and the fastest is kept. NULL: `bench->config` is. At most 64
   *  knobs and 65536 configurations. */
  const kmb_knob *knobs;
  uint64_t knob_count;
  /** Points at which to tune: the configuration with the smallest geometric
   *  mean of times is kept. NULL: at `bench`. At most 64. */
  const kmb_bench_params *const *tune_at;
  uint64_t tune_at_count;
} kmb_candidate;

static inline kmb_candidate kmb_candidate_init(void) {
  kmb_candidate candidate;
  memset(&candidate, 0, sizeof candidate);
  candidate.struct_size = sizeof candidate;
  return candidate;
}

enum {
  KMB_COMPARE_SEED = 1u << 0, /**< `seed` counts even if it is 0 */
  /** Compare in spite of a difference; it is told beside the verdict. */
  KMB_COMPARE_ANY_TIMER = 1u << 1,
  KMB_COMPARE_ANY_LAUNCH = 1u << 2,
  KMB_COMPARE_ANY_CACHE = 1u << 3,
  KMB_COMPARE_ANY_WORK = 1u << 4,
  KMB_COMPARE_ANY_AXES = 1u << 5
};

/** How to compare. Everything may be left 0. */
typedef struct kmb_compare_params {
  size_t struct_size;
  const char *name;     /**< of the comparison; NULL: none */
  double threshold_pct; /**< within it, two times are the same; 0: 1 */
  double target_pct;    /**< half-width of the ratios' intervals to reach; 0: a
                             quarter of the threshold */
  double min_wall_ns;   /**< measure at least this long; 0: 25 ms */
  double max_wall_ns;   /**< start no turn after this; 0: 2 s */
  double tune_wall_ns;  /**< budget of tuning, each candidate; 0: 5 s */
  uint64_t min_cycles;  /**< 8 to 1000; 0: 16 */
  uint64_t max_cycles;  /**< at most 1000; 0: 1000 */
  uint64_t turn;        /**< samples a candidate takes in a turn, at most 128;
                             0: 8, or as many as leave time for min_cycles */
  uint64_t seed;        /**< of the dither */
  uint32_t baseline;    /**< candidate that the others are compared with */
  uint32_t flags;       /**< KMB_COMPARE_… */
} kmb_compare_params;

static inline kmb_compare_params kmb_compare_params_init(void) {
  kmb_compare_params params;
  memset(&params, 0, sizeof params);
  params.struct_size = sizeof params;
  return params;
}

/** What is said of a candidate beside the baseline. */
typedef int32_t kmb_verdict;

/** Every verdict: X(name, value, text). The values are pinned. */
#define KMB_VERDICT_MAP(X)   \
  X(BASELINE, 0, "baseline") \
  X(FASTER, 1, "faster")     \
  X(SLOWER, 2, "slower")     \
  X(SAME, 3, "same")         \
  X(UNRESOLVED, 4, "unresolved")

enum {
#define KMB_VERDICT_ENUM(name, value, text) KMB_VERDICT_##name = (value),
  KMB_VERDICT_MAP(KMB_VERDICT_ENUM)
#undef KMB_VERDICT_ENUM
};

/** Name of a verdict, such as "faster".
 *  @param verdict  any value
 *  @return a static string; "unknown" for a value that is not in
 *          KMB_VERDICT_MAP()
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API const char *kmb_verdict_name(kmb_verdict verdict);

enum {
  KMB_ROW_RATIO = 1u << 0,    /**< `ratio` is known */
  KMB_ROW_INTERVAL = 1u << 1, /**< `low`, `high` are known */
  KMB_ROW_TUNED = 1u << 2,    /**< it has knobs */
  /** Not every configuration was measured: the budget ended before. */
  KMB_ROW_UNTUNED = 1u << 3
};

/** A candidate in a comparison. Pointers belong to the comparison. */
typedef struct kmb_compare_row {
  size_t struct_size;
  const char *name;
  const kmb_result *result; /**< of its samples, as kmb_bench() gives it */
  const char *config_text;  /**< "block=128, stages=3"; NULL without knobs */
  /** The verdict in words: what it rests on, or what is in its way. */
  const char *reason;
  double ratio;     /**< of times: candidate over baseline; below 1 is faster */
  double low, high; /**< interval of the ratio, with `confidence` */
  double confidence;    /**< all rows together reach 99% */
  double design_effect; /**< by which the interval is widened, squared */
  double tuned_ns;      /**< of the kept configuration while tuning; 0 without
                             knobs */
  uint64_t cycles;      /**< pairs that the interval is of */
  uint64_t configs, configs_measured, configs_failed;
  uint32_t config; /**< number of the kept configuration */
  uint32_t flags;  /**< KMB_ROW_… */
  kmb_verdict verdict;
  int32_t reserved;
} kmb_compare_row;

static inline kmb_compare_row kmb_compare_row_init(void) {
  kmb_compare_row row;
  memset(&row, 0, sizeof row);
  row.struct_size = sizeof row;
  return row;
}

/** A configuration that was tried. Pointers belong to the comparison. */
typedef struct kmb_compare_arm {
  size_t struct_size;
  const char *config_text;
  const char *reason; /**< why there is no time; NULL if there is one */
  double ns;          /**< geometric mean over the points; 0: none */
  uint32_t config;
  kmb_status status; /**< KMB_OK, or why there is no time */
} kmb_compare_arm;

static inline kmb_compare_arm kmb_compare_arm_init(void) {
  kmb_compare_arm arm;
  memset(&arm, 0, sizeof arm);
  arm.struct_size = sizeof arm;
  return arm;
}

/** A finished comparison. It never changes: any thread may read it. */
typedef struct kmb_comparison kmb_comparison;

/** Compares candidates.
 *
 *  Each is tuned if it has knobs, then prepared, checked, warmed up and
 *  calibrated as by kmb_bench(); all of them are then measured in the same way,
 *  the best that works for each. Measuring goes in cycles: each candidate takes
 *  a turn of some samples, in one order and then in the opposite one, so that
 *  what changes steadily cancels. The first sample of a turn is thrown away: it
 *  finds the caches as another candidate left them.
 *
 *  A cycle gives one ratio: the geometric mean of both turns' medians over the
 *  baseline's. The interval of the median ratio is the exact one of order
 *  statistics, widened by the root of the design effect, by what the clock's
 *  step leaves open and by the uncertainty of the timers' bias. Measuring stops
 *  when all intervals are narrow enough or time is up, never because of a
 *  verdict. FASTER and SLOWER are said if the interval lies beyond the
 *  threshold, SAME if it lies within, else UNRESOLVED; a finding of severity
 *  KMB_DOUBT in either result leaves it UNRESOLVED.
 *  @param device      an open device
 *  @param candidates  `count` of them, `stride` bytes apart
 *  @param stride      sizeof of the caller's kmb_candidate
 *  @param count       2 to 64
 *  @param params      NULL: all defaults
 *  @param[out] comparison  the new comparison; free it with
 *                          kmb_comparison_destroy(); NULL on failure
 *  @retval KMB_ERR_INVALID  NULL, a value out of range, a repeated name,
 *                           candidates whose axes, work, timer, launch mode or
 *                           cache state differ without the flag that allows it:
 *                           the message names both and the flag
 *  @retval KMB_ERR_UNSUPPORTED  rounds or several ranks of a candidate
 *  @retval KMB_ERR_TIMEOUT  less than one cycle within `max_wall_ns`
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @return KMB_OK, or what kmb_bench() would return for a candidate: the
 *          message names it
 *  @thread the device's user
 *  @blocks until done: by default at most about 2.5 s, set-up, and for
 *          candidates with knobs 5 s each
 *  @since 0.1 */
KMB_API kmb_status kmb_compare(kmb_device *device,
                               const kmb_candidate *candidates, size_t stride,
                               uint64_t count, const kmb_compare_params *params,
                               kmb_comparison **comparison);

/** Frees a comparison and its results.
 *  @param comparison  a handle or NULL
 *  @thread any, once nobody uses it
 *  @blocks no
 *  @since 0.1 */
KMB_API void kmb_comparison_destroy(kmb_comparison *comparison);

/** Number of candidates.
 *  @param comparison  a comparison or NULL
 *  @return how many kmb_comparison_row() can give; 0 for NULL
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API uint64_t kmb_comparison_count(const kmb_comparison *comparison);

/** One candidate, in the order of the call.
 *  @param comparison  a comparison
 *  @param index       below kmb_comparison_count()
 *  @param[out] row    written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, or no such candidate
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_comparison_row(const kmb_comparison *comparison,
                                      uint64_t index, kmb_compare_row *row);

/** One configuration that was tried while tuning, in the order of trying.
 *  @param comparison  a comparison
 *  @param index       below kmb_comparison_count()
 *  @param arm         below configs_measured + configs_failed of that row
 *  @param[out] out    written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, or no such configuration
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_comparison_arm(const kmb_comparison *comparison,
                                      uint64_t index, uint64_t arm,
                                      kmb_compare_arm *out);

/** The ratios of the cycles, in the order in which they were taken: of the
 *  median times of the turns, dithered, corrected by the timers' bias.
 *  @param comparison   a comparison
 *  @param index        below kmb_comparison_count()
 *  @param[out] ratios  owned by the comparison; NULL if there are none
 *  @param[out] count   their number; 0 for the baseline, and where a turn's
 *                      time is not above 0
 *  @retval KMB_ERR_INVALID  NULL, or no such candidate
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units 1
 *  @since 0.1 */
KMB_API kmb_status kmb_comparison_ratios(const kmb_comparison *comparison,
                                         uint64_t index, const double **ratios,
                                         uint64_t *count);

/** Writes a comparison for a person: a row a candidate, reasons below.
 *  @param comparison  a comparison
 *  @param write       takes the output, UTF-8
 *  @param user        given to `write`
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @return KMB_OK, or what `write` returned
 *  @thread any
 *  @blocks as `write` does
 *  @since 0.1 */
KMB_API kmb_status kmb_comparison_write_text(const kmb_comparison *comparison,
                                             kmb_write_fn write, void *user);

/** Writes a comparison as JSON: rows, arms, ratios, and under "document" the
 *  results as kmb_results_write_json() writes them.
 *  @param comparison  a comparison
 *  @param write       takes the output, UTF-8
 *  @param user        given to `write`
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @return KMB_OK, or what `write` returned
 *  @thread any
 *  @blocks as `write` does
 *  @since 0.1 */
KMB_API kmb_status kmb_comparison_write_json(const kmb_comparison *comparison,
                                             kmb_write_fn write, void *user);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
