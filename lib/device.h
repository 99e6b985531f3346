/* An open device: the backend's table, the hooks, and what is kept for it. */
#ifndef KMB_LIB_DEVICE_H
#define KMB_LIB_DEVICE_H

#include "memory.h"

#include <kmb/backend.h>

#include <stdatomic.h>
#include <sys/types.h>

enum { KMBI_SPEC_SIZE = 1024 };

typedef struct kmbi_ceiling_entry {
  kmb_ceiling ceiling;
  struct kmbi_ceiling_entry *next;
} kmbi_ceiling_entry;

struct kmb_device {
  const kmb_backend_ops *ops;
  void *self;
  kmb_host host;
  kmb_hooks hooks;
  kmbi_memory memory;
  kmb_device_params params; /* complete; hooks point at `hooks` */
  kmbi_ceiling_entry *ceilings;
  pid_t pid;
  atomic_int busy;
  bool lost;          /* work on it did not end: no further call waits for it */
  bool defers_cancel; /* ranks agree on it, the backend must not act alone */
  uint64_t slot_bytes;  /* taken by all sets of buffers */
  uint64_t sweep_bytes; /* of the sweep that the backend holds */
  /* The caller's handle, each set of buffers, and each call or session that is
   * under way: the last one to go frees the device. */
  atomic_uint holders;
  atomic_bool closed; /* by the caller, while others still hold it */
  char spec[KMBI_SPEC_SIZE];
};

/* Optional slots of a table go through this one question. */
#define KMBI_HAS(ops, slot)                                 \
  (offsetof(kmb_backend_ops, slot) + sizeof((ops)->slot) <= \
       (ops)->struct_size &&                                \
   (ops)->slot)

/* Take the device for a call, and give it back. */
kmb_status kmbi_device_enter(kmb_device *device, const char *what);
void kmbi_device_leave(kmb_device *device);
void kmbi_device_hold(kmb_device *device);
void kmbi_device_drop(kmb_device *device);
/* Remembers a device that is lost; returns `status`. */
kmb_status kmbi_device_note(kmb_device *device, kmb_status status);
/* For calls that need not exclude others: NULL and fork only. */
kmb_status kmbi_device_check(const kmb_device *device, const char *what);

double kmbi_now(kmb_device *device);
void kmbi_sleep(kmb_device *device, double ns);
void kmbi_log(kmb_device *device, kmb_log_level level, const char *format, ...)
    KMB_PRINTF(3, 4);
int kmbi_cancelled(const kmb_device *device);
/* The caller's flag, whatever is deferred. */
int kmbi_cancel_asked(const kmb_device *device);
/* Bytes that slots and flush may take together, and what is left of them. */
kmb_status kmbi_device_budget(kmb_device *device, uint64_t *bytes);
kmb_status kmbi_device_room(kmb_device *device, uint64_t *bytes);
/* kmb_device_ceiling() for a caller that holds the device. */
kmb_status kmbi_device_ceiling(kmb_device *device, kmb_ceiling_kind kind,
                               kmb_dtype dtype, uint32_t threads,
                               kmb_ceiling *ceiling);

#endif
