/* HIP for tests, on an NVIDIA GPU: the subset that the HIP backend uses,
 * forwarded to CUDA's driver. Handles are CUDA's own, so that a test may launch
 * with either. It shows that the backend's logic works on a real device; it
 * shows nothing of AMD's hardware or software. */
#ifndef KMB_TESTS_HIP_ON_CUDA_FORWARD_H
#define KMB_TESTS_HIP_ON_CUDA_FORWARD_H

#include "../../backends/cuda/driver_api.h"
#include "../../backends/hip/hip_api.h"

/* Each function under the name that HIP exports. */
#define FORWARD_EXPORT(type, name, need, arguments) \
  type forward_##name arguments __asm__(#name);
KMBI_HIP_MAP(FORWARD_EXPORT)
#undef FORWARD_EXPORT

/* The driver's table, or NULL where there is no driver. */
const kmbi_cu_driver *forward_driver(void);
/* What HIP says of a result of CUDA's, kept for hipGetLastError(). */
kmbi_hip_result forward_result(kmbi_cu_result result);
/* The current device's primary context is made current if none is. */
kmbi_cu_result forward_enter(void);

/* Calls CUDA's `name` in HIP's current device. */
#define FORWARD(name, ...)                                      \
  do {                                                          \
    kmbi_cu_result entered_ = forward_enter();                  \
    if (entered_) return forward_result(entered_);              \
    return forward_result(forward_driver()->name(__VA_ARGS__)); \
  } while (0)

#endif
