/**
 * @file roofline.h
 * Ceilings of a device and where a measured time stands below them.
 */
#ifndef KMB_ROOFLINE_H
#define KMB_ROOFLINE_H

#include <kmb/device.h>
#include <kmb/work.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup roofline Roofline
 *  Ceilings come in kinds that are never mixed: this version has those
 *  *measured* on the device and those the *caller* gives.
 *  @{ */

/** What a ceiling limits. READ, COPY and TRIAD are bytes/s counted as STREAM
 *  counts them (a copied byte counts twice, once read and once written; the
 *  read of a write-allocate does not count); FMA is FLOP/s. */
typedef int32_t kmb_ceiling_kind;
enum {
  KMB_CEILING_READ = 1,
  KMB_CEILING_COPY = 2,
  KMB_CEILING_TRIAD = 3,
  KMB_CEILING_FMA = 4
};

typedef int32_t kmb_ceiling_source;
enum {
  KMB_SOURCE_MEASURED = 1, /**< on this device, in this process */
  KMB_SOURCE_CALLER = 2
};

/** One ceiling and where it comes from. */
typedef struct kmb_ceiling {
  size_t struct_size;
  double value; /**< bytes/s or FLOP/s */
  /** Lowest and highest of the best variant's repetitions; 0 if the caller
   *  gave the ceiling. */
  double low, high;
  uint64_t bytes;      /**< working set of the measurement; 0 for FMA */
  const char *variant; /**< the kernel that reached it; static string or the
                            caller's; NULL: not named */
  kmb_ceiling_kind kind;
  kmb_dtype dtype; /**< FMA: of the arithmetic; else 0 */
  uint32_t threads;
  kmb_ceiling_source source;
} kmb_ceiling;

static inline kmb_ceiling kmb_ceiling_init(void) {
  kmb_ceiling ceiling;
  memset(&ceiling, 0, sizeof ceiling);
  ceiling.struct_size = sizeof ceiling;
  return ceiling;
}

/** A ceiling of the device: the best of several kernels, measured when it is
 *  first asked for and kept until the device is closed. A measured ceiling is
 *  what was reached, not a proof that no more can be.
 *  @param device     an open device
 *  @param kind       what to limit
 *  @param dtype      for KMB_CEILING_FMA: KMB_F32 or KMB_F64 on the host;
 *                    ignored for the others
 *  @param threads    cores used; 0: the device's
 *  @param[out] ceiling  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID      NULL, an unknown kind, or more threads than
 *                               cores
 *  @retval KMB_ERR_UNSUPPORTED  the backend measures no such ceiling
 *  @retval KMB_ERR_UNAVAILABLE  the cache size is unknown, so that no working
 *                               set is surely beyond it
 *  @retval KMB_ERR_NOMEM        no memory for the working set
 *  @retval KMB_ERR_BUSY         another thread is using the device
 *  @retval KMB_ERR_FORKED       the handle belongs to the parent process
 *  @return KMB_OK
 *  @thread the device's user
 *  @blocks up to about a second, once for each kind, dtype and thread count
 *  @units bytes/s, FLOP/s
 *  @since 0.1 */
KMB_API kmb_status kmb_device_ceiling(kmb_device *device, kmb_ceiling_kind kind,
                                      kmb_dtype dtype, uint32_t threads,
                                      kmb_ceiling *ceiling);

typedef int32_t kmb_bound;
enum {
  KMB_BOUND_UNKNOWN = 0,
  KMB_BOUND_MEMORY = 1,
  KMB_BOUND_COMPUTE = 2,
  KMB_BOUND_NEITHER = 3 /**< observed only: below KMB_BOUND_REACHED of both */
};

/** A resource counts as the observed bound from this share of its ceiling on.
 */
#define KMB_BOUND_REACHED 0.60

/** What to evaluate. `memory` and `compute` may each be NULL: unknown. */
typedef struct kmb_roofline_params {
  size_t struct_size;
  const kmb_work *work;
  const kmb_ceiling *memory;
  const kmb_ceiling *compute;
  double time_ns; /**< measured time; 0: predict only */
} kmb_roofline_params;

static inline kmb_roofline_params kmb_roofline_params_init(void) {
  kmb_roofline_params params;
  memset(&params, 0, sizeof params);
  params.struct_size = sizeof params;
  return params;
}

enum {
  KMB_ROOFLINE_INTENSITY = 1u << 0,
  KMB_ROOFLINE_RIDGE = 1u << 1,
  KMB_ROOFLINE_ATTAINABLE_FLOPS = 1u << 2,
  KMB_ROOFLINE_SOL_TIME = 1u << 3,
  KMB_ROOFLINE_SOL_PCT = 1u << 4,
  KMB_ROOFLINE_ACHIEVED_FLOPS = 1u << 5,
  KMB_ROOFLINE_ACHIEVED_BYTES = 1u << 6,
  KMB_ROOFLINE_MEMORY_PCT = 1u << 7,
  KMB_ROOFLINE_COMPUTE_PCT = 1u << 8,
  KMB_ROOFLINE_ABOVE_PEAK = 1u << 9
};

/** Where the work stands. A field counts only if its bit is in `known`. */
typedef struct kmb_roofline {
  size_t struct_size;
  double intensity;        /**< FLOP per least byte */
  double ridge;            /**< FLOP per byte at which the bounds meet */
  double attainable_flops; /**< FLOP/s at this intensity */
  double sol_time_ns;    /**< the longer of bytes ÷ memory ceiling and FLOPs ÷
                              compute ceiling; with one ceiling unknown, a
                              lower limit from the other is not given */
  double sol_pct;        /**< 100 · sol_time_ns ÷ time_ns, never clamped */
  double achieved_flops; /**< FLOP/s */
  double achieved_bytes; /**< bytes/s, least bytes */
  double memory_pct;     /**< achieved_bytes ÷ memory ceiling */
  double compute_pct;    /**< achieved_flops ÷ compute ceiling */
  uint32_t known;        /**< KMB_ROOFLINE_… of the fields that count */
  kmb_bound predicted;   /**< from counts and ceilings alone */
  kmb_bound observed;    /**< from the measured time */
  uint32_t flags;        /**< KMB_ROOFLINE_ABOVE_PEAK or 0 */
} kmb_roofline;

static inline kmb_roofline kmb_roofline_init(void) {
  kmb_roofline roofline;
  memset(&roofline, 0, sizeof roofline);
  roofline.struct_size = sizeof roofline;
  return roofline;
}

/** Evaluates work against two ceilings. Work without FLOPs is judged by memory
 *  alone, work without bytes by arithmetic alone.
 *  @param params         what to evaluate
 *  @param[out] roofline  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, a negative or non-finite time, a ceiling that
 *                           is not positive, work that counts nothing
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns, FLOP/s, bytes/s, percent
 *  @since 0.1 */
KMB_API kmb_status kmb_roofline_evaluate(const kmb_roofline_params *params,
                                         kmb_roofline *roofline);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
