/* Entry of the host backend. */
#include <kmb/backend.h>

const kmb_backend_ops *kmbi_backend_host(void);

static const kmb_backend_ops ops = {
    .struct_size = sizeof(kmb_backend_ops),
    .abi = KMB_BACKEND_ABI,
    .timers = 1u << KMB_TIMER_HOST,
    .name = "host",
};

const kmb_backend_ops *kmbi_backend_host(void) {
  return &ops;
}
