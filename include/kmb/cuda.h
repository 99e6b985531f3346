/**
 * @file cuda.h
 * What a launch callback for CUDA needs: the status of a launch. Everything is
 * inline, so that neither this header nor libkmb needs CUDA to build. kmb.h
 * does not include it.
 */
#ifndef KMB_CUDA_H
#define KMB_CUDA_H

#include <kmb/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup cuda CUDA
 *  @{ */

/** The status for a result of the driver's or the runtime's functions, which
 *  share their numbers: of `cuLaunchKernel`, say, cast to int.
 *  @return KMB_OK for success; KMB_ERR_LOST where CUDA has given up the
 *  context. */
static inline kmb_status kmb_cuda_status(int result) {
  if (result == 0) return KMB_OK;
  if (result >= 900 && result <= 908) return KMB_ERR_CAPTURE;
  if (result >= 714 && result <= 719) return KMB_ERR_LOST;
  switch (result) {
  case 2: /* out of memory */
    return KMB_ERR_NOMEM;
  case 1:   /* invalid value */
  case 9:   /* invalid configuration */
  case 701: /* out of resources: too many threads or registers */
    return KMB_ERR_INVALID;
  case 3:   /* not initialised, or no longer */
  case 4:   /* the same, since the process ends */
  case 34:  /* a stub in place of the driver */
  case 35:  /* the driver is older than the runtime */
  case 100: /* no device */
  case 101: /* no such device */
  case 221: /* no compiler for PTX */
  case 802: /* the system is not ready */
    return KMB_ERR_UNAVAILABLE;
  case 46: /* somebody else has the device */
    return KMB_ERR_BUSY;
  case 98:  /* the kernel is not in the program */
  case 209: /* no code for this device */
  case 222: /* PTX of a newer version */
  case 801: /* not supported */
  case 803: /* the driver does not fit */
  case 804: /* no compatibility on this device */
    return KMB_ERR_UNSUPPORTED;
  case 800: /* not permitted */
    return KMB_ERR_PERM;
  case 214: /* ECC */
  case 220: /* NVLink */
  case 226: /* contained error */
  case 700: /* illegal address */
  case 702: /* launch timed out */
  case 709: /* the context is destroyed */
  case 710: /* assertion in a kernel */
  case 721: /* tensor memory leak */
    return KMB_ERR_LOST;
  default:
    return KMB_ERR_VENDOR;
  }
}

/** What a launch callback that uses the runtime's `<<<…>>>` returns at its end:
 *  the status of cudaGetLastError(), which forgets it. Include CUDA's
 *  cuda_runtime.h where it is used. */
#define kmb_cuda_launch_status() kmb_cuda_status((int)cudaGetLastError())

/** @} */

#ifdef __cplusplus
}
#endif

#endif
