/**
 * @file hip.h
 * What a launch callback for HIP needs: the status of a launch. Everything is
 * inline, so that neither this header nor libkmb needs ROCm to build. kmb.h
 * does not include it.
 */
#ifndef KMB_HIP_H
#define KMB_HIP_H

#include <kmb/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup hip HIP
 *  @{ */

/** The status for a result of HIP's functions: of `hipModuleLaunchKernel`, say,
 *  cast to int.
 *  @return KMB_OK for success; KMB_ERR_LOST where the device is of no use to
 *  the process any more. */
static inline kmb_status kmb_hip_status(int result) {
  if (result == 0) return KMB_OK;
  if (result >= 900 && result <= 908) return KMB_ERR_CAPTURE;
  switch (result) {
  case 2: /* out of memory */
    return KMB_ERR_NOMEM;
  case 9:   /* invalid configuration */
  case 701: /* out of resources: too many threads or registers */
    return KMB_ERR_INVALID;
  case 3:   /* not initialised, or no longer */
  case 4:   /* the same, since the process ends */
  case 35:  /* the driver is older than the runtime */
  case 100: /* no device */
  case 101: /* no such device */
  case 303: /* a shared object could not be initialised */
    return KMB_ERR_UNAVAILABLE;
  case 98:  /* the kernel is not in the program */
  case 209: /* no code for this device */
  case 801: /* not supported */
    return KMB_ERR_UNSUPPORTED;
  case 214:  /* ECC */
  case 700:  /* illegal address */
  case 702:  /* launch timed out */
  case 709:  /* the context is destroyed */
  case 710:  /* assertion in a kernel */
  case 719:  /* launch failure */
  case 1052: /* ROCr's memory */
  case 1053: /* ROCr, anything else */
    return KMB_ERR_LOST;
  default:
    return KMB_ERR_VENDOR;
  }
}

/** What a launch callback that uses `<<<…>>>` returns at its end: the status of
 *  hipGetLastError(), which forgets it. Include HIP's hip_runtime.h where it is
 *  used. */
#define kmb_hip_launch_status() kmb_hip_status((int)hipGetLastError())

/** @} */

#ifdef __cplusplus
}
#endif

#endif
