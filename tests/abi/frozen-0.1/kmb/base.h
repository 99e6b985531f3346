/**
 * @file base.h
 * Version, export macro, status codes, last error, and the small types that
 * the other headers share.
 *
 * Conventions of the whole interface:
 * - Times are `double` nanoseconds. Bytes and counts are 64-bit.
 * - A value that is not known is a status (::KMB_ERR_UNAVAILABLE, with the
 *   reason in kmb_last_error()), never NaN and never 0.
 * - A struct that starts with `size_t struct_size` may grow at its end. Start
 *   from its `…_init()` function, which fills in the size and zeroes the rest;
 *   zero means the default.
 * - Handles are opaque. `…_create` and `…_open` return one through their last
 *   argument; `…_destroy` and `…_close` accept NULL.
 */
#ifndef KMB_BASE_H
#define KMB_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** @defgroup base Base: version, status, shared types
 *  @{ */

#define KMB_VERSION_MAJOR 0
#define KMB_VERSION_MINOR 1
#define KMB_VERSION_PATCH 0
/** Version of these headers; kmb_version() gives the loaded library's. */
#define KMB_VERSION "0.1.0"
/** Number in the soname. Libraries with the same number are compatible. */
#define KMB_ABI_MAJOR 0

#if defined(KMB_STATIC) || !defined(__GNUC__)
#define KMB_API
#else
#define KMB_API __attribute__((visibility("default")))
#endif

#if defined(__GNUC__)
#define KMB_PRINTF(format_index, first_argument) \
  __attribute__((format(printf, format_index, first_argument)))
#else
#define KMB_PRINTF(format_index, first_argument)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What a call came to. 0 is success, negative values are the library's own
 *  (the list is KMB_STATUS_MAP()), positive values are what a callback of the
 *  caller returned and pass through unchanged. */
typedef int32_t kmb_status;

/** Every status: X(name, value, text). The values are pinned. */
#define KMB_STATUS_MAP(X)                                                   \
  X(OK, 0, "success")                                                       \
  X(ERR_INVALID, -1, "invalid argument")                                    \
  X(ERR_UNSUPPORTED, -2, "not supported by this build, backend or version") \
  X(ERR_NOMEM, -3, "out of memory")                                         \
  X(ERR_UNAVAILABLE, -4, "library, device or value absent")                 \
  X(ERR_BUSY, -5, "in use by somebody else")                                \
  X(ERR_PERM, -6, "not permitted")                                          \
  X(ERR_TIMEOUT, -7, "deadline passed")                                     \
  X(ERR_LOST, -8, "device lost")                                            \
  X(ERR_INCORRECT, -9, "wrong result")                                      \
  X(ERR_CAPTURE, -10, "graph capture failed")                               \
  X(ERR_STALE, -11, "outdated pointer or graph")                            \
  X(ERR_FORKED, -12, "handle belongs to the parent process")                \
  X(ERR_CANCELLED, -13, "cancelled")                                        \
  X(ERR_IO, -14, "reading or writing failed")                               \
  X(ERR_FORMAT, -15, "malformed input")                                     \
  X(ERR_VENDOR, -16, "error from a vendor library")                         \
  X(ERR_INTERNAL, -17, "internal error")

enum {
#define KMB_STATUS_ENUM(name, value, text) KMB_##name = (value),
  KMB_STATUS_MAP(KMB_STATUS_ENUM)
#undef KMB_STATUS_ENUM
};

/** Element types. Values are pinned. */
typedef int32_t kmb_dtype;

/** Every element type: X(name, value, bits, text). */
#define KMB_DTYPE_MAP(X)       \
  X(U8, 1, 8, "u8")            \
  X(I8, 2, 8, "i8")            \
  X(I32, 3, 32, "i32")         \
  X(I64, 4, 64, "i64")         \
  X(F16, 5, 16, "f16")         \
  X(BF16, 6, 16, "bf16")       \
  X(F32, 7, 32, "f32")         \
  X(F64, 8, 64, "f64")         \
  X(TF32, 9, 32, "tf32")       \
  X(F8_E4M3, 10, 8, "f8_e4m3") \
  X(F8_E5M2, 11, 8, "f8_e5m2") \
  X(F4_E2M1, 12, 4, "f4_e2m1") \
  X(I4, 13, 4, "i4")

enum {
#define KMB_DTYPE_ENUM(name, value, bits, text) KMB_##name = (value),
  KMB_DTYPE_MAP(KMB_DTYPE_ENUM)
#undef KMB_DTYPE_ENUM
};

/** A key and its value, both UTF-8. The layout is final. */
typedef struct kmb_pair {
  const char *key;
  const char *value;
} kmb_pair;

/** Takes `size` bytes of output. Anything but ::KMB_OK ends the writing call
 *  with that status. */
typedef kmb_status (*kmb_write_fn)(void *user, const void *data, size_t size);

/** Gives up to `size` bytes of input: stores them at `data` and their number
 *  in `*got`; `*got` == 0 means the end. */
typedef kmb_status (*kmb_read_fn)(void *user, void *data, size_t size,
                                  size_t *got);

/** Version string of the loaded library, such as "0.1.0".
 *  @return a static string, never NULL
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API const char *kmb_version(void);

/** ::KMB_ABI_MAJOR of the loaded library.
 *  @return the number in the library's soname
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API uint32_t kmb_abi_major(void);

/** Short name of a status, such as "ERR_NOMEM"; "CALLBACK" for a positive
 *  value and "UNKNOWN" for one that this version does not define.
 *  @param status  any value
 *  @return a static string, never NULL
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API const char *kmb_status_name(kmb_status status);

/** One sentence about a status in general. For the cause of one failure, see
 *  kmb_last_error().
 *  @param status  any value
 *  @return a static string, never NULL
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API const char *kmb_status_text(kmb_status status);

/** The last failure on the calling thread: its exact cause and what to do.
 *  A call that succeeds leaves it as it was.
 *  @param[out] status  the status of that failure, KMB_OK if there was none;
 *                      may be NULL
 *  @param[out] vendor  the vendor library's own code, 0 if none; may be NULL
 *  @return the message, at most 255 bytes, "" if there was no failure; valid
 *          until the next failure on this thread; owned by the library
 *  @thread any; each thread sees its own
 *  @blocks no
 *  @since 0.1 */
KMB_API const char *kmb_last_error(kmb_status *status, int64_t *vendor);

/** Name of an element type, such as "bf16".
 *  @param dtype  any value
 *  @return a static string; "unknown" for a value that is not in
 *          KMB_DTYPE_MAP()
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API const char *kmb_dtype_name(kmb_dtype dtype);

/** Bits of one element.
 *  @param dtype      any value
 *  @param[out] bits  bits of one element, such as 16 for KMB_BF16
 *  @retval KMB_ERR_INVALID  `dtype` is unknown or `bits` is NULL
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units bits
 *  @since 0.1 */
KMB_API kmb_status kmb_dtype_bits(kmb_dtype dtype, uint32_t *bits);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
