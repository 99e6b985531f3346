/**
 * @file payoff.h
 * What a faster kernel is worth in a real step: the step's trace is replayed
 * with the kernel's launches scaled by a measured ratio.
 */
#ifndef KMB_PAYOFF_H
#define KMB_PAYOFF_H

#include <kmb/code.h>
#include <kmb/compare.h>
#include <kmb/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup payoff Payoff
 *  A step's new length follows from what waits for what: operations of one
 *  stream run in order, none starts before the host launched it, some wait for
 *  another stream, and a host that synchronises goes on once the device is
 *  done. docs/payoff.md says how each is found in a trace, and what none shows.
 *  @{ */

typedef struct kmb_payoff kmb_payoff;

enum {
  KMB_PAYOFF_HAS_ISOLATED = 1u << 0, /**< `isolated_ns` is known */
  KMB_PAYOFF_HAS_ISOLATED_INTERVAL = 1u << 1,
  KMB_PAYOFF_IS_COLD = 1u << 2,  /**< isolated, with cold caches */
  KMB_PAYOFF_IS_WARM = 1u << 3,  /**< isolated, with warm caches */
  KMB_PAYOFF_HAS_SHAPE = 1u << 4 /**< how the old one was launched is known */
};

/** A measured change of a kernel; strings are the caller's, and copied. */
typedef struct kmb_payoff_change {
  size_t struct_size;
  const char *name;   /**< of the new version, for the text; NULL: "new" */
  const char *kernel; /**< the old kernel's whole name in the trace; NULL: see
                           kmb_payoff_params::kernel */
  const char *device; /**< measured on, by the driver's name; NULL: unknown */
  double ratio;       /**< of times, new over old: below 1 is faster */
  double low, high;   /**< its interval; both 0: none is known */
  double isolated_ns; /**< time of the old one, alone */
  double isolated_low_ns;
  double isolated_high_ns;
  uint32_t flags; /**< KMB_PAYOFF_HAS_ISOLATED, … */
  uint32_t reserved;
  /* How the old one was launched where it was measured: only launches of this
   * grid and block are scaled. */
  uint32_t grid_x, grid_y, grid_z;
  uint32_t block_x, block_y, block_z;
  /* What the two versions were measured as: their code is looked up there; NULL
   * for either: it is not known. They have to stay until
   * kmb_payoff_evaluate() returns. */
  const kmb_result *before;
  const kmb_result *after;
} kmb_payoff_change;

static inline kmb_payoff_change kmb_payoff_change_init(void) {
  kmb_payoff_change change;
  memset(&change, 0, sizeof change);
  change.struct_size = sizeof change;
  return change;
}

enum {
  /** `kernel` may match several names: all of them are scaled. */
  KMB_PAYOFF_ALL_NAMES = 1u << 0,
  /** The change was measured on another device: scale all the same. */
  KMB_PAYOFF_ANY_DEVICE = 1u << 1,
  /** Launches of any grid and block are scaled. */
  KMB_PAYOFF_ALL_SHAPES = 1u << 2,
  /** Only launches of this grid and block, whatever the change says. */
  KMB_PAYOFF_ONE_SHAPE = 1u << 3
};

/** What to predict. */
typedef struct kmb_payoff_params {
  size_t struct_size;
  const kmb_hooks *hooks; /**< memory; copied; NULL for none */
  /** Launches to scale: a POSIX extended regular expression that some part of
   *  the name matches; NULL: kmb_payoff_change::kernel. */
  const char *kernel;
  /** A step is a range of this name; their lengths are added up. NULL: the
   *  whole trace is one step. */
  const char *range;
  uint32_t flags; /**< KMB_PAYOFF_ALL_NAMES, … */
  uint32_t reserved;
  /** What recording added to each call of the host, where that was measured;
   *  0: what the trace says of it. At most a millisecond. What is more than a
   *  call took comes off the host's time behind it, as far as there is any; a
   *  note then says of how many calls. */
  double added_ns;
  /* Of KMB_PAYOFF_ONE_SHAPE: blocks of the grid, threads of a block. */
  uint32_t grid_x, grid_y, grid_z;
  uint32_t block_x, block_y, block_z;
  /** What was captured while the step ran; NULL: see `listed`. */
  const kmb_code *code;
  /** Results that list the step's code; those of both count. NULL: none. */
  const kmb_result *const *listed;
  uint64_t listed_count;
} kmb_payoff_params;

static inline kmb_payoff_params kmb_payoff_params_init(void) {
  kmb_payoff_params params;
  memset(&params, 0, sizeof params);
  params.struct_size = sizeof params;
  return params;
}

enum {
  /** One kernel was found, of one shape or of all that were asked for: all but
   *  the candidates and shapes is known. */
  KMB_PAYOFF_MATCHED = 1u << 0,
  /** The trace holds calls of the host: the prediction is a number, and the
   *  saving is split. Without, only its bounds are known. */
  KMB_PAYOFF_PREDICTED = 1u << 1,
  KMB_PAYOFF_HAS_STEP_INTERVAL = 1u << 2,  /**< `in_step_low_ns`, … */
  KMB_PAYOFF_HAS_RATIO_INTERVAL = 1u << 3, /**< the change has one */
  /** In the step the old kernel takes another time than alone. */
  KMB_PAYOFF_STEP_DIFFERS = 1u << 4,
  /** The change was measured on another device than the trace's. */
  KMB_PAYOFF_OTHER_DEVICE = 1u << 5,
  /** The recording lost records: operations may be missing. */
  KMB_PAYOFF_RECORDS_DROPPED = 1u << 6,
  /** Several streams, and no wait of one for another is known. */
  KMB_PAYOFF_STREAMS_APART = 1u << 7,
  /** The trace says how at least one of the matching launches was launched. */
  KMB_PAYOFF_SHAPES_KNOWN = 1u << 8,
  /** Launches of one grid and block alone were scaled. */
  KMB_PAYOFF_BY_SHAPE = 1u << 9,
  /** What was scaled ran the code that was measured, all of it. */
  KMB_PAYOFF_BY_CODE = 1u << 10,
  /** The old and the new version are the same code. */
  KMB_PAYOFF_SAME_CODE = 1u << 11
};

/** A prediction; pointers belong to the payoff. Lengths of several steps are
 *  added up. `saving` is `step` minus `predicted`; a negative one is a loss. */
typedef struct kmb_payoff_summary {
  size_t struct_size;
  const char *verdict;     /**< one sentence */
  uint64_t candidates;     /**< names that match */
  uint64_t launches;       /**< that are scaled, in the steps */
  uint64_t steps;          /**< ranges, or 1 */
  uint64_t waits;          /**< of one stream for another, as found */
  double in_step_ns;       /**< median of the old kernel's launches */
  double in_step_low_ns;   /**< 99% interval of that median */
  double in_step_high_ns;  /**< */
  double in_step_total_ns; /**< sum of the launches */
  double overlapped_ns;    /**< of it, beside which something else ran */
  /** As it is; where the trace says what recording added to each call of the
   *  host, without that. */
  double step_ns;
  double predicted_ns;     /**< with the new kernel */
  double predicted_low_ns; /**< by the ratio's interval; without calls of the
                                host by what it may do, too */
  double predicted_high_ns;
  double saving_ns;
  double saving_low_ns;
  double saving_high_ns;
  double gain_ns;        /**< what the launches get shorter, in sum */
  double hidden_ns;      /**< of it, behind other work of the device */
  double host_ns;        /**< of it, taken back by the host */
  double graph_ns;       /**< the step without the host's gaps */
  double graph_after_ns; /**< the same with the new kernel */
  uint32_t flags;        /**< KMB_PAYOFF_MATCHED, … */
  uint32_t reserved;
  double recorded_ns;      /**< the step as it was recorded */
  uint64_t shapes;         /**< how many kmb_payoff_get_shape() can give */
  uint64_t other_launches; /**< of these names, of other shapes: left as they
                                were */
  /* Where the step's code was given. */
  uint64_t code_launches;       /**< scaled, and of the measured code */
  uint64_t unknown_launches;    /**< scaled, and of code that is not known */
  uint64_t other_code_launches; /**< of these names, of other code: left as they
                                     were */
} kmb_payoff_summary;

static inline kmb_payoff_summary kmb_payoff_summary_init(void) {
  kmb_payoff_summary summary;
  memset(&summary, 0, sizeof summary);
  summary.struct_size = sizeof summary;
  return summary;
}

/** A name that matches. The layout is final. */
typedef struct kmb_payoff_candidate {
  const char *name;
  uint64_t launches;
  uint64_t total_ns;
} kmb_payoff_candidate;

enum {
  KMB_PAYOFF_SCALED = 1u << 0, /**< these launches were scaled */
  /* Where the step's code was given; none of them: it is not known. */
  KMB_PAYOFF_CODE_SAME = 1u << 1,   /**< they ran what was measured */
  KMB_PAYOFF_CODE_OTHER = 1u << 2,  /**< they ran other code */
  KMB_PAYOFF_CODE_SEVERAL = 1u << 3 /**< some ran it, some other code: which
                                         did is not known */
};

/** Matching launches of one name, grid and block. */
typedef struct kmb_payoff_shape {
  size_t struct_size;
  const char *name;
  uint64_t launches;
  uint64_t total_ns;
  /* Blocks of the grid, threads of a block; all 0: the trace does not say. */
  uint32_t grid_x, grid_y, grid_z;
  uint32_t block_x, block_y, block_z;
  uint32_t flags; /**< KMB_PAYOFF_SCALED, … */
  uint32_t reserved;
  /** Hashes of what the step ran, with a space between: of the instructions, of
   *  the image where those are not known. NULL: not known. */
  const char *code;
} kmb_payoff_shape;

static inline kmb_payoff_shape kmb_payoff_shape_init(void) {
  kmb_payoff_shape shape;
  memset(&shape, 0, sizeof shape);
  shape.struct_size = sizeof shape;
  return shape;
}

/** The change between two results: the ratio of their medians, with the bounds
 *  that both intervals leave, the old time and cache state, the device, and the
 *  kernel's name, grid and block where the old one is a single traced kernel.
 *  @param before       result of the old version
 *  @param after        result of the new one
 *  @param[out] change  written up to its `struct_size`; strings belong to the
 *                      results, to which it points
 *  @retval KMB_ERR_INVALID      NULL; the two differ in cache state, timer or
 *                               launch mode: the message says how
 *  @retval KMB_ERR_UNAVAILABLE  one of them has no time
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_payoff_change_between(const kmb_result *before,
                                             const kmb_result *after,
                                             kmb_payoff_change *change);

/** The change that a comparison found: its paired ratio with its interval; the
 *  rest as from kmb_payoff_change_between().
 *  @param comparison   a comparison
 *  @param index        of a candidate that is not the baseline
 *  @param[out] change  written up to its `struct_size`; strings belong to the
 *                      comparison
 *  @retval KMB_ERR_INVALID      NULL, no such candidate, or the baseline
 *  @retval KMB_ERR_UNAVAILABLE  it has no ratio, or the baseline no time
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_payoff_change_compared(const kmb_comparison *comparison,
                                              uint64_t index,
                                              kmb_payoff_change *change);

/** Predicts a step with a changed kernel. What matches several kernels is no
 *  error: they are listed, and nothing is predicted. So it is where launches of
 *  one kernel have several shapes, and neither change nor parameters say which,
 *  or where none has the shape that the change says; and where all of them ran
 *  other code than was measured, or it is not known which of them did.
 *  @param trace   the step, from any source
 *  @param change  what was measured
 *  @param params  NULL for the defaults
 *  @param[out] payoff  the new handle; free it with kmb_payoff_destroy(); NULL
 *                      on failure
 *  @retval KMB_ERR_INVALID      NULL, a malformed argument, a ratio or interval
 *                               that is not positive, a change that was
 *                               measured on another device
 *  @retval KMB_ERR_UNAVAILABLE  no launch of that kernel, no such range, no
 *                               operations; graph launches hide theirs; the
 *                               parameters ask for a shape, and no launch has
 *                               it, or the trace says none
 *  @retval KMB_ERR_NOMEM        out of memory
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_payoff_evaluate(const kmb_trace *trace,
                                       const kmb_payoff_change *change,
                                       const kmb_payoff_params *params,
                                       kmb_payoff **payoff);

/** Frees a payoff.
 *  @param payoff  a handle or NULL
 *  @thread any, once nobody uses it
 *  @blocks no
 *  @since 0.1 */
KMB_API void kmb_payoff_destroy(kmb_payoff *payoff);

/** The figures.
 *  @param payoff        a payoff
 *  @param[out] summary  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_payoff_get_summary(const kmb_payoff *payoff,
                                          kmb_payoff_summary *summary);

/** A name that matches, that with the most time first.
 *  @param payoff          a payoff
 *  @param index           below kmb_payoff_summary::candidates
 *  @param[out] candidate  its name belongs to the payoff
 *  @retval KMB_ERR_INVALID  NULL, or no such candidate
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_payoff_get_candidate(const kmb_payoff *payoff,
                                            uint64_t index,
                                            kmb_payoff_candidate *candidate);

/** Matching launches by name, grid and block, those with the most time first.
 *  @param payoff      a payoff
 *  @param index       below kmb_payoff_summary::shapes
 *  @param[out] shape  written up to its `struct_size`; its name belongs to the
 *                     payoff
 *  @retval KMB_ERR_INVALID  NULL, or no such shape
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_payoff_get_shape(const kmb_payoff *payoff,
                                        uint64_t index,
                                        kmb_payoff_shape *shape);

/** Number of notes: what to know of the prediction.
 *  @param payoff  a payoff or NULL
 *  @return how many kmb_payoff_note() can give; 0 for NULL
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API uint64_t kmb_payoff_note_count(const kmb_payoff *payoff);

/** One note: a sentence.
 *  @param payoff  a payoff
 *  @param index   below kmb_payoff_note_count()
 *  @return owned by the payoff; NULL if there is none
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API const char *kmb_payoff_note(const kmb_payoff *payoff, uint64_t index);

/** Writes a payoff for a person.
 *  @param payoff  a payoff
 *  @param write   takes the output, UTF-8
 *  @param user    given to `write`
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @return KMB_OK, or what `write` returned
 *  @thread any
 *  @blocks as `write` does
 *  @since 0.1 */
KMB_API kmb_status kmb_payoff_write_text(const kmb_payoff *payoff,
                                         kmb_write_fn write, void *user);

/** Writes a payoff as a paragraph of Markdown, for a pull request.
 *  @param payoff  a payoff
 *  @param write   takes the output, UTF-8
 *  @param user    given to `write`
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @return KMB_OK, or what `write` returned
 *  @thread any
 *  @blocks as `write` does
 *  @since 0.1 */
KMB_API kmb_status kmb_payoff_write_markdown(const kmb_payoff *payoff,
                                             kmb_write_fn write, void *user);

/** Writes a payoff as JSON; what is not known has no key.
 *  @param payoff  a payoff
 *  @param write   takes the output, UTF-8
 *  @param user    given to `write`
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @return KMB_OK, or what `write` returned
 *  @thread any
 *  @blocks as `write` does
 *  @since 0.1 */
KMB_API kmb_status kmb_payoff_write_json(const kmb_payoff *payoff,
                                         kmb_write_fn write, void *user);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
