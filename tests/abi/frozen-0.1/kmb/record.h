/**
 * @file record.h
 * Recording what this process does on its devices: a trace without a profiler.
 */
#ifndef KMB_RECORD_H
#define KMB_RECORD_H

#include <kmb/device.h>
#include <kmb/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup record Recording
 *  A recording becomes a trace (kmb/trace.h). docs/gaps.md shows how.
 *  @{ */

typedef struct kmb_recording kmb_recording;

enum {
  /** Device operations alone: launches cost less, and causes of idle time and
   *  launch latency stay unknown. */
  KMB_RECORD_NO_CALLS = 1u << 0
};

/** How to record. */
typedef struct kmb_record_params {
  size_t struct_size;
  /** Operations and calls that are kept, together; what comes after them is
   *  counted as dropped. 0: 2^26, of at most 56 bytes each. */
  uint64_t row_limit;
  uint32_t flags; /**< KMB_RECORD_… */
  uint32_t reserved;
} kmb_record_params;

static inline kmb_record_params kmb_record_params_init(void) {
  kmb_record_params params;
  memset(&params, 0, sizeof params);
  params.struct_size = sizeof params;
  return params;
}

/** Begins to record what this process does on its devices, whatever thread and
 *  library starts it: kernels, those of graphs too, copies, memsets, and the
 *  host's calls of the runtime and the driver. A graph that was instantiated
 *  before shows its copies and memsets as kernels.
 *
 *  Until kmb_trace_end() the device is in use, and what else would trace or be
 *  disturbed by tracing answers KMB_ERR_BUSY.
 *  @param device  a device of a backend that can record (CUDA)
 *  @param params  NULL for the defaults
 *  @param[out] recording  the new handle; end it with kmb_trace_end() or
 *                         kmb_trace_abandon(); NULL on failure
 *  @retval KMB_ERR_INVALID      a NULL or malformed argument
 *  @retval KMB_ERR_UNSUPPORTED  the backend cannot record
 *  @retval KMB_ERR_UNAVAILABLE  the vendor's tracer (CUPTI) is absent
 *  @retval KMB_ERR_BUSY         the device is in use, or a measurement, another
 *                               recording or another tool traces this process
 *  @retval KMB_ERR_PERM         the driver reserves tracing for administrators
 *  @retval KMB_ERR_NOMEM        out of memory
 *  @retval KMB_ERR_FORKED       the device was opened by an ancestor
 *  @return KMB_OK, or what the backend returned
 *  @thread any; one call a device at a time
 *  @blocks up to two seconds, while a measurement of another thread ends
 *  @since 0.1 */
KMB_API kmb_status kmb_trace_begin(kmb_device *device,
                                   const kmb_record_params *params,
                                   kmb_recording **recording);

/** Begins a named range on the calling thread; ranges of a thread nest.
 *  @param recording  a recording
 *  @param name       UTF-8; copied
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @retval KMB_ERR_FORKED   the recording was begun by an ancestor
 *  @return KMB_OK, or what the backend returned
 *  @thread any, several at once
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_trace_range_begin(kmb_recording *recording,
                                         const char *name);

/** Ends the calling thread's latest range that is open.
 *  @param recording  a recording
 *  @retval KMB_ERR_INVALID  NULL, or this thread has no open range
 *  @retval KMB_ERR_NOMEM    out of memory
 *  @retval KMB_ERR_FORKED   the recording was begun by an ancestor
 *  @return KMB_OK, or what the backend returned
 *  @thread any, several at once
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_trace_range_end(kmb_recording *recording);

/** Ends a recording and gives what it holds. Wait for your work first: an
 *  operation that has not ended is not in it, or counts as invalid. Ranges that
 *  are open end here. The recording is gone whatever the status is.
 *  @param recording   a recording
 *  @param[out] trace  the new handle, of format KMB_TRACE_KMB; free it with
 *                     kmb_trace_destroy(); NULL on failure. Look at
 *                     kmb_trace_info::dropped.
 *  @retval KMB_ERR_INVALID  NULL
 *  @retval KMB_ERR_NOMEM    out of memory, now or while recording
 *  @retval KMB_ERR_LOST     the device was lost meanwhile
 *  @retval KMB_ERR_FORKED   the recording was begun by an ancestor
 *  @return KMB_OK, or what the backend returned
 *  @thread any; once, when no other thread uses the recording
 *  @blocks while records are fetched
 *  @since 0.1 */
KMB_API kmb_status kmb_trace_end(kmb_recording *recording, kmb_trace **trace);

/** Ends a recording and drops what it holds.
 *  @param recording  a recording or NULL
 *  @thread any; once, when no other thread uses the recording
 *  @blocks while records are fetched
 *  @since 0.1 */
KMB_API void kmb_trace_abandon(kmb_recording *recording);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
