/**
 * @file sweep.h
 * Many points measured by one program, kept in a file of JSON lines, so that an
 * interrupted run goes on where it stopped.
 */
#ifndef KMB_SWEEP_H
#define KMB_SWEEP_H

#include <kmb/device.h>
#include <kmb/result.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup sweep Sweep
 *  @{ */

/** Finished points: results and the file that holds them, one JSON document a
 *  line. */
typedef struct kmb_sweep kmb_sweep;

/** Opens a file of results for going on, or creates it.
 *
 *  A last line that was cut short, as an interrupted run leaves it, is taken
 *  away (a warning is logged) and its point is not there. The file is locked:
 * no other sweep can be open on it.
 *  @param device  what is measured on; its hooks give memory and take the log.
 *                 It must stay open until kmb_sweep_close()
 *  @param path    the file
 *  @param[out] sweep  the new sweep; end it with kmb_sweep_close()
 *  @retval KMB_ERR_INVALID      NULL, or a point that was measured on another
 *                               device or twice: the message gives the line
 *  @retval KMB_ERR_IO           the file cannot be opened, read or shortened
 *  @retval KMB_ERR_BUSY         another sweep has it open
 *  @retval KMB_ERR_FORMAT       a line is not a document of results: the
 *                               message gives the line; nothing was changed
 *  @retval KMB_ERR_UNSUPPORTED  written by a newer schema
 *  @retval KMB_ERR_NOMEM        out of memory
 *  @return KMB_OK
 *  @thread the device's user
 *  @blocks while the file is read
 *  @since 0.1 */
KMB_API kmb_status kmb_sweep_open(kmb_device *device, const char *path,
                                  kmb_sweep **sweep);

/** Finds a finished point.
 *  @param sweep  a sweep or NULL
 *  @param name   as kmb_bench_params::name; NULL: none
 *  @param axes   as kmb_bench_params::axes, in any order
 *  @param count  number of axes
 *  @return its result, which the sweep owns; NULL if it is not there
 *  @thread one at a time
 *  @blocks no
 *  @since 0.1 */
KMB_API const kmb_result *kmb_sweep_find(const kmb_sweep *sweep,
                                         const char *name, const kmb_pair *axes,
                                         uint64_t count);

/** Adds a result: it is on the disk when this returns.
 *  @param sweep   a sweep
 *  @param result  in no list; belongs to the sweep on success
 *  @retval KMB_ERR_INVALID  NULL, a result that is in a list, a point that is
 *                           there already, or whose name or axes are redacted
 *                           since they read as a secret
 *  @retval KMB_ERR_FORKED   the sweep belongs to the parent process
 *  @retval KMB_ERR_IO       it could not be written whole: the file is as it
 * was
 *  @retval KMB_ERR_NOMEM    out of memory; the file is as it was
 *  @return KMB_OK
 *  @thread one at a time
 *  @blocks while it is written
 *  @since 0.1 */
KMB_API kmb_status kmb_sweep_add(kmb_sweep *sweep, kmb_result *result);

/** All finished points, those of earlier runs first: for one table
 *  (kmb_results_write_table()).
 *  @param sweep  a sweep or NULL
 *  @return a list that the sweep owns; NULL for NULL
 *  @thread one at a time
 *  @blocks no
 *  @since 0.1 */
KMB_API const kmb_results *kmb_sweep_results(const kmb_sweep *sweep);

/** Ends a sweep and frees its results. The file stays.
 *  @param sweep  a sweep or NULL
 *  @thread one at a time
 *  @blocks no
 *  @since 0.1 */
KMB_API void kmb_sweep_close(kmb_sweep *sweep);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
