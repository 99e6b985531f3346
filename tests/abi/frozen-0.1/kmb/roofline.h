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
 *  Ceilings come in kinds that are never mixed: those *measured* on the device,
 *  those of a *datasheet*, *rates* × units × an observed clock, and those that
 *  the *caller* gives. *Reference* figures are what others reached: points to
 *  compare with, never limits.
 *  @{ */

/** What a ceiling limits. READ, COPY and TRIAD are bytes/s counted as STREAM
 *  counts them (a copied byte counts twice, once read and once written; the
 *  read of a write-allocate does not count); FMA and MATRIX are FLOP/s of the
 *  vector and the matrix units; MEMORY is bytes/s of the memory's interface,
 *  whatever is read and written. */
typedef int32_t kmb_ceiling_kind;
enum {
  KMB_CEILING_READ = 1,
  KMB_CEILING_COPY = 2,
  KMB_CEILING_TRIAD = 3,
  KMB_CEILING_FMA = 4,
  KMB_CEILING_MATRIX = 5,
  KMB_CEILING_MEMORY = 6
};

typedef int32_t kmb_ceiling_source;
enum {
  KMB_SOURCE_MEASURED = 1, /**< on this device, in this process */
  KMB_SOURCE_CALLER = 2,   /**< also: from the caller's file of peaks */
  KMB_SOURCE_DATASHEET = 3,
  KMB_SOURCE_RATE = 4,     /**< FLOP a clock and unit × units × a clock */
  KMB_SOURCE_REFERENCE = 5 /**< what others reached: no limit, and refused as
                                one */
};

enum {
  KMB_CEILING_SPARSE = 1u << 0 /**< of operands with two zeros in four */
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
  const char *reference; /**< where a figure that was not measured stands, with
                              how far it is to be trusted; NULL: not said */
  uint32_t flags;        /**< KMB_CEILING_SPARSE */
  uint32_t reserved;     /**< must be 0 */
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
 *  @param dtype      for KMB_CEILING_FMA (KMB_F32 or KMB_F64; on CUDA
 *                   also KMB_F16) and
 *                    KMB_CEILING_MATRIX; ignored for the others
 *  @param threads    cores used; 0: the device's; a GPU has none
 *  @param[out] ceiling  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID      NULL, an unknown kind, or more threads than
 *                               cores
 *  @retval KMB_ERR_UNSUPPORTED  the backend measures no such ceiling
 *  @retval KMB_ERR_UNAVAILABLE  the cache size is unknown, so that no working
 *                               set is surely beyond it, or the vendor's
 *                               library of matrix products is absent
 *  @retval KMB_ERR_NOMEM        no memory for the working set
 *  @retval KMB_ERR_BUSY         another thread is using the device
 *  @retval KMB_ERR_FORKED       the handle belongs to the parent process
 *  @return KMB_OK
 *  @thread the device's user
 *  @blocks up to some seconds, once for each kind, dtype and thread count
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

/** A figure that others reached on such a part, and where it stands. Strings
 * are static or the table's. */
typedef struct kmb_reference {
  size_t struct_size;
  const char *regime;   /**< such as "bf16 matmul achievable" */
  const char *hardware; /**< label of the parts that it is of */
  const char *kind;     /**< "measured", "measured by others", "rough
                             reference" */
  const char *source;
  double value;    /**< bytes/s or FLOP/s */
  kmb_bound bound; /**< KMB_BOUND_MEMORY: a bandwidth; KMB_BOUND_COMPUTE: a
                        rate */
  kmb_operation operation; /**< KMB_OPERATION_OTHER: any */
  kmb_dtype dtype;         /**< 0: any */
  int32_t reserved;
} kmb_reference;

static inline kmb_reference kmb_reference_init(void) {
  kmb_reference reference;
  memset(&reference, 0, sizeof reference);
  reference.struct_size = sizeof reference;
  return reference;
}

/** What to evaluate. `memory` and `compute` may each be NULL: unknown. */
typedef struct kmb_roofline_params {
  size_t struct_size;
  const kmb_work *work;
  const kmb_ceiling *memory;
  const kmb_ceiling *compute;
  double time_ns;                 /**< measured time; 0: predict only */
  const kmb_reference *reference; /**< to compare with; NULL: none */
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
  KMB_ROOFLINE_ABOVE_PEAK = 1u << 9,
  KMB_ROOFLINE_REFERENCE_PCT = 1u << 10
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
  double reference_pct;  /**< achieved rate ÷ the reference's; no limit */
} kmb_roofline;

static inline kmb_roofline kmb_roofline_init(void) {
  kmb_roofline roofline;
  memset(&roofline, 0, sizeof roofline);
  roofline.struct_size = sizeof roofline;
  return roofline;
}

/** Evaluates work against two ceilings. Work without FLOPs is judged by memory
 *  alone, work without bytes by arithmetic alone; of work that counts neither,
 *  every bound is KMB_BOUND_UNKNOWN.
 *  @param params         what to evaluate
 *  @param[out] roofline  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, a negative or non-finite time, a ceiling that
 *                           is not positive or does not belong in its place, a
 *                           reference figure as a ceiling, or two ceilings of
 *                           kinds that are not to be mixed (a caller's goes
 *                           with any)
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns, FLOP/s, bytes/s, percent
 *  @since 0.1 */
KMB_API kmb_status kmb_roofline_evaluate(const kmb_roofline_params *params,
                                         kmb_roofline *roofline);

/** What to check of a number above a ceiling, the likeliest first.
 *  @return a static string, never NULL
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API const char *kmb_roofline_above_peak_text(void);

/** @} */

/** @defgroup peaks Peaks
 *  A table of parts and their datasheet figures, compiled in (`data/peaks.csv`)
 *  and extended by files of the caller. Figures are dense and with 32-bit
 *  accumulation unless said otherwise.
 *  @{ */

/** A table. NULL stands for the one that is compiled in. */
typedef struct kmb_peaks kmb_peaks;
/** A row: one part. It belongs to its table. */
typedef struct kmb_part kmb_part;

/** Values of a part: X(name, number, kind, key, unit). `key` is the column of
 *  the file. Lists are separated by "|". Numbers are pinned. */
typedef int32_t kmb_part_value;
#define KMB_PART_MAP(X)                                 \
  X(VENDOR, 1, TEXT, "vendor", "")                      \
  X(NAME, 2, TEXT, "name", "")                          \
  X(LABELS, 3, TEXT, "labels", "")                      \
  X(DRIVER_NAMES, 4, TEXT, "driver_names", "")          \
  X(PCI_IDS, 5, TEXT, "pci_ids", "")                    \
  X(PCI_REV, 6, TEXT, "pci_rev", "")                    \
  X(ARCH, 7, TEXT, "arch", "")                          \
  X(PART, 8, TEXT, "part", "")                          \
  X(UNITS, 9, F64, "sms", "1")                          \
  X(BOOST_CLOCK, 10, F64, "boost_mhz", "MHz")           \
  X(TENSOR_CLOCK, 11, F64, "tensor_mhz", "MHz")         \
  X(MEMORY, 12, F64, "mem_gib", "GB as labelled")       \
  X(BANDWIDTH, 13, F64, "mem_bw_gbs", "GB/s")           \
  X(L2, 14, F64, "l2_mib", "MiB")                       \
  X(LLC, 15, F64, "llc_mib", "MiB")                     \
  X(FP64, 16, F64, "fp64", "TFLOP/s")                   \
  X(FP64_TENSOR, 17, F64, "fp64_tensor", "TFLOP/s")     \
  X(FP32, 18, F64, "fp32", "TFLOP/s")                   \
  X(FP32_MATRIX, 19, F64, "fp32_matrix", "TFLOP/s")     \
  X(TF32, 20, F64, "tf32", "TFLOP/s")                   \
  X(FP16, 21, F64, "fp16", "TFLOP/s")                   \
  X(BF16, 22, F64, "bf16", "TFLOP/s")                   \
  X(FP8, 23, F64, "fp8", "TFLOP/s")                     \
  X(FP6, 24, F64, "fp6", "TFLOP/s")                     \
  X(FP4, 25, F64, "fp4", "TFLOP/s")                     \
  X(INT8, 26, F64, "int8", "TOP/s")                     \
  X(SPARSE, 27, TEXT, "sparse", "")                     \
  X(NEVER_FROM_RATES, 28, TEXT, "never_from_rates", "") \
  X(SOURCE, 29, TEXT, "source", "")                     \
  X(ORIGIN, 30, TEXT, "origin", "")

enum {
#define KMB_PART_ENUM(name, number, kind, key, unit) KMB_PART_##name = (number),
  KMB_PART_MAP(KMB_PART_ENUM)
#undef KMB_PART_ENUM
};

/** Creates a table that starts as the compiled-in one.
 *  @param hooks       memory of the table; copied; NULL for none
 *  @param[out] peaks  the new table; free it with kmb_peaks_destroy()
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_peaks_create(const kmb_hooks *hooks, kmb_peaks **peaks);

/** Frees a table and its rows.
 *  @param peaks  a handle or NULL
 *  @thread any, once nobody uses the table or its rows
 *  @blocks no
 *  @since 0.1 */
KMB_API void kmb_peaks_destroy(kmb_peaks *peaks);

/** Adds the rows of a CSV file. They are found before those that were there: a
 *  row with a known name or PCI id overrides that part, whole. The first line
 *  names columns of KMB_PART_MAP() in any order; `name` and one of
 *  `driver_names` and `pci_ids` are needed; an empty cell is not known. Lines
 *  that start with "#" are skipped.
 *  @param peaks   a table of kmb_peaks_create()
 *  @param origin  what to call the file: its name; copied
 *  @param read    gives the input, at most 4 MiB in all
 *  @param user    given to `read`
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_FORMAT   not such a file: the message gives line and column;
 *                           the table is as it was
 *  @retval KMB_ERR_NOMEM    out of memory; the table is as it was
 *  @return KMB_OK, or what `read` returned
 *  @thread one at a time
 *  @blocks as `read` does
 *  @since 0.1 */
KMB_API kmb_status kmb_peaks_read_csv(kmb_peaks *peaks, const char *origin,
                                      kmb_read_fn read, void *user);

/** Number of rows.
 *  @param peaks  a table; NULL: the compiled-in one
 *  @return how many kmb_peaks_get() can give
 *  @thread any while nobody adds
 *  @blocks no
 *  @since 0.1 */
KMB_API uint64_t kmb_peaks_count(const kmb_peaks *peaks);

/** One row, in the order in which they are searched.
 *  @param peaks      a table; NULL: the compiled-in one
 *  @param index      below kmb_peaks_count()
 *  @param[out] part  belongs to the table
 *  @retval KMB_ERR_INVALID  NULL, or no such row
 *  @return KMB_OK
 *  @thread any while nobody adds
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_peaks_get(const kmb_peaks *peaks, uint64_t index,
                                 const kmb_part **part);

/** Recognises a part by what its driver says: by the exact name, else by the
 *  PCI id. Never by part of a name.
 *  @param peaks      a table; NULL: the compiled-in one
 *  @param name       as the driver gives it; NULL: not known
 *  @param pci_id     "vvvv:dddd", or "vvvv:dddd:rr" with the revision, which
 *                    some parts need to be told apart; NULL: not known
 *  @param[out] part  belongs to the table
 *  @retval KMB_ERR_INVALID      NULL, or a malformed PCI id
 *  @retval KMB_ERR_UNAVAILABLE  no such part, or a slice of one (MIG); the
 *                               reason is in kmb_last_error()
 *  @return KMB_OK
 *  @thread any while nobody adds
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_peaks_find(const kmb_peaks *peaks, const char *name,
                                  const char *pci_id, const kmb_part **part);

/** Finds a part by what a person calls it: its driver's name, with or without
 *  the vendor, its name in the table, or a label. Always the whole name.
 *  @param peaks      a table; NULL: the compiled-in one
 *  @param name       such as "NVIDIA H200", "H200", "H200 SXM"
 *  @param[out] part  belongs to the table
 *  @retval KMB_ERR_INVALID      NULL
 *  @retval KMB_ERR_UNAVAILABLE  no such part, or several; the message names
 *                               them
 *  @return KMB_OK
 *  @thread any while nobody adds
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_peaks_lookup(const kmb_peaks *peaks, const char *name,
                                    const kmb_part **part);

/** Recognises an open device.
 *  @param peaks      a table; NULL: the compiled-in one
 *  @param device     an open device
 *  @param[out] part  belongs to the table
 *  @retval KMB_ERR_INVALID      NULL
 *  @retval KMB_ERR_UNAVAILABLE  no such part; a slice of one (MIG, or a
 *                               partition with fewer units); the reason is in
 *                               kmb_last_error()
 *  @retval KMB_ERR_BUSY         another thread is using the device
 *  @retval KMB_ERR_FORKED       the handle belongs to the parent process
 *  @return KMB_OK
 *  @thread the device's user
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_peaks_of_device(const kmb_peaks *peaks,
                                       kmb_device *device,
                                       const kmb_part **part);

/** A value of kind F64.
 *  @param part        a row
 *  @param value       one of KMB_PART_MAP() of kind F64
 *  @param[out] number in the unit that the map names
 *  @retval KMB_ERR_INVALID      NULL, or a value of another kind
 *  @retval KMB_ERR_UNAVAILABLE  not published, or not known
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units as in KMB_PART_MAP()
 *  @since 0.1 */
KMB_API kmb_status kmb_part_f64(const kmb_part *part, kmb_part_value value,
                                double *number);

/** A value of kind TEXT; as kmb_part_f64(). KMB_PART_SOURCE says where the
 *  figures stand and how far each is to be trusted: [R] the vendor's text was
 *  read, [3] a third party's page, [M] recalled and unverified, [D] derived.
 *  @param part       a row
 *  @param value      one of KMB_PART_MAP() of kind TEXT
 *  @param[out] text  belongs to the table
 *  @retval KMB_ERR_INVALID      NULL, or a value of another kind
 *  @retval KMB_ERR_UNAVAILABLE  not known, or an empty list
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_part_text(const kmb_part *part, kmb_part_value value,
                                 const char **text);

/** A datasheet figure of a part as a ceiling; KMB_SOURCE_CALLER if the row is
 *  of a caller's file.
 *  @param part          a row
 *  @param kind          KMB_CEILING_MEMORY; KMB_CEILING_FMA for vector
 *                       arithmetic, KMB_CEILING_MATRIX for the matrix units, or
 *                       0 for the faster of the two
 *  @param dtype         of the arithmetic; ignored for memory
 *  @param flags         KMB_CEILING_SPARSE for the sparse figure
 *  @param[out] ceiling  written up to its `struct_size`; strings belong to the
 *                       table
 *  @retval KMB_ERR_INVALID      NULL, another kind, an unknown dtype or flag
 *  @retval KMB_ERR_UNAVAILABLE  the table has no such figure
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units bytes/s, FLOP/s
 *  @since 0.1 */
KMB_API kmb_status kmb_part_ceiling(const kmb_part *part, kmb_ceiling_kind kind,
                                    kmb_dtype dtype, uint32_t flags,
                                    kmb_ceiling *ceiling);

/** FLOPs a clock and unit × units × clock as a ceiling. It may exceed the
 *  datasheet's, whose clock can be lower. Parts that are slower than their
 *  architecture's rates are never computed.
 *  @param part          a row
 *  @param kind          as kmb_part_ceiling(), without memory
 *  @param dtype         of the arithmetic
 *  @param units         such as multiprocessors; 0: the part's
 *  @param clock_mhz     observed clock, above 0
 *  @param[out] ceiling  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID      NULL, another kind, an unknown dtype, a clock
 *                               or a rate that is not above 0 and finite
 *  @retval KMB_ERR_UNAVAILABLE  no rate is known, or the part must not be
 *                               computed from it
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units FLOP/s
 *  @since 0.1 */
KMB_API kmb_status kmb_part_rate(const kmb_part *part, kmb_ceiling_kind kind,
                                 kmb_dtype dtype, uint64_t units,
                                 double clock_mhz, kmb_ceiling *ceiling);

/** Number of reference figures of a part.
 *  @param part  a row or NULL
 *  @return how many kmb_part_reference() can give
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API uint64_t kmb_part_reference_count(const kmb_part *part);

/** One reference figure of a part.
 *  @param part            a row
 *  @param index           below kmb_part_reference_count()
 *  @param[out] reference  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, or no such figure
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_part_reference(const kmb_part *part, uint64_t index,
                                      kmb_reference *reference);

/** The reference figure to compare work with: of its operation, its dtype and
 *  what bounds it; measured ones before rough ones.
 *  @param part            a row
 *  @param work            its operation and dtype count
 *  @param bound           as predicted
 *  @param[out] reference  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID      NULL
 *  @retval KMB_ERR_UNAVAILABLE  none is known
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_part_reference_for(const kmb_part *part,
                                          const kmb_work *work, kmb_bound bound,
                                          kmb_reference *reference);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
