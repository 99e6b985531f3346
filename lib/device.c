/* Opening devices, and the services that a backend gets from the library. */
#include "device.h"

#include "backends.h"
#include "error.h"
#include "steady.h"
#include "structs.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Services for the backend; ctx is the device. */

static void *service_alloc(void *ctx, size_t size, size_t align) {
  kmb_device *device = ctx;
  return device->memory.alloc(device->memory.user, size, align);
}

static void service_free(void *ctx, void *pointer, size_t size) {
  kmb_device *device = ctx;
  if (pointer) device->memory.free(device->memory.user, pointer, size);
}

static kmb_status service_device_alloc(void *ctx, uint64_t size, uint64_t align,
                                       void **pointer) {
  kmb_device *device = ctx;
  void *user = device->hooks.device_alloc_user;
  *pointer = NULL;
  kmb_status status = device->hooks.device_alloc(user, size, align, pointer);
  if (status < 0 || (!status && !*pointer))
    return kmbi_fail(status ? status : KMB_ERR_NOMEM,
                     "the caller's device_alloc hook gave no %llu bytes (%s)",
                     (unsigned long long)size, kmb_status_name(status));
  if (status || align < 2 || (uintptr_t)*pointer % align == 0) return status;
  device->hooks.device_free(user, *pointer, size);
  *pointer = NULL;
  return kmbi_fail(KMB_ERR_INVALID,
                   "the caller's device_alloc hook gave memory that is not "
                   "aligned to %llu bytes",
                   (unsigned long long)align);
}

static void service_device_free(void *ctx, void *pointer, uint64_t size) {
  kmb_device *device = ctx;
  device->hooks.device_free(device->hooks.device_alloc_user, pointer, size);
}

static void service_log(void *ctx, kmb_log_level level, const char *message) {
  kmb_device *device = ctx;
  if (device->hooks.log)
    device->hooks.log(device->hooks.log_user, level, message);
}

KMB_PRINTF(4, 5)
static kmb_status service_fail(void *ctx, kmb_status status, int64_t vendor,
                               const char *format, ...) {
  (void)ctx;
  va_list arguments;
  va_start(arguments, format);
  kmbi_fail_vendor(status, vendor, format, arguments);
  va_end(arguments);
  return status;
}

static int service_cancelled(void *ctx) {
  return kmbi_cancelled(ctx);
}

static void service_error_save(void *ctx, kmb_error *error) {
  (void)ctx;
  kmbi_error_save(error);
}

static void service_error_restore(void *ctx, const kmb_error *error) {
  (void)ctx;
  kmbi_error_restore(error);
}

static kmb_status service_callback_failed(void *ctx, const kmb_error *before,
                                          const char *which, kmb_status status,
                                          uint64_t iteration) {
  (void)ctx;
  return kmbi_call_failed(before, which, status, iteration);
}

static void fill_services(kmb_device *device) {
  device->host = (kmb_host){
      .struct_size = sizeof device->host,
      .ctx = device,
      .alloc = service_alloc,
      .free = service_free,
      .log = service_log,
      .fail = service_fail,
      .cancelled = service_cancelled,
      .error_save = service_error_save,
      .error_restore = service_error_restore,
      .callback_failed = service_callback_failed,
  };
  if (device->hooks.device_alloc) {
    device->host.device_alloc = service_device_alloc;
    device->host.device_free = service_device_free;
  }
}

/* Opening. */

static kmb_status read_params(const kmb_device_params *caller,
                              kmb_device_params *params, kmb_hooks *hooks) {
  *params = kmb_device_params_init();
  *hooks = kmb_hooks_init();
  if (caller) {
    kmb_status status =
        kmbi_copy_in(params, sizeof *params, KMBI_DEVICE_PARAMS_V1, caller,
                     "kmb_device_params");
    if (status) return status;
  }
  if (params->hooks) {
    kmb_status status = kmbi_copy_in(hooks, sizeof *hooks, KMBI_HOOKS_V1,
                                     params->hooks, "kmb_hooks");
    if (status) return status;
  }
  if (params->flags & ~(uint32_t)KMB_DEVICE_BIND)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "kmb_device_params: flags 0x%x are not known to libkmb %s",
                     (unsigned)params->flags, KMB_VERSION);
  if (!hooks->alloc != !hooks->free)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_hooks: give both alloc and free, or neither");
  if (!hooks->device_alloc != !hooks->device_free)
    return kmbi_fail(
        KMB_ERR_INVALID,
        "kmb_hooks: give both device_alloc and device_free, or neither");
  return KMB_OK;
}

/* A backend that fails says why; one that does not is named at least. */
static kmb_status open_backend(kmb_device *device, const char *spec) {
  kmbi_error_state before;
  kmbi_error_save(&before);
  kmb_status status =
      device->ops->open(&device->host, spec, &device->params, &device->self);
  if (!status) kmbi_error_restore(&before);
  if (status && !kmbi_failed_since(&before))
    kmbi_fail(status, "backend \"%s\" did not open and gave no reason (%s)",
              device->ops->name, kmb_status_name(status));
  return status;
}

static kmb_status open_with(const kmb_backend_ops *ops, const char *spec,
                            const kmb_device_params *params,
                            const kmb_hooks *hooks, kmb_device **out) {
  kmbi_memory memory = kmbi_memory_from(hooks);
  kmb_device *device = kmbi_alloc(&memory, 1, sizeof *device);
  if (!device) return kmbi_fail(KMB_ERR_NOMEM, "no memory for a device handle");
  device->ops = ops;
  device->memory = memory;
  device->hooks = *hooks;
  device->params = *params;
  device->params.hooks = &device->hooks;
  device->pid = getpid();
  device->holders = 1;
  int length = snprintf(device->spec, sizeof device->spec, "%s%s%s", ops->name,
                        *spec ? ":" : "", spec);
  kmb_status status = KMB_OK;
  if (length >= (int)sizeof device->spec)
    status =
        kmbi_fail(KMB_ERR_INVALID, "device name is longer than %d characters",
                  KMBI_SPEC_SIZE - 1);
  fill_services(device);
  if (!status) status = open_backend(device, spec);
  if (status) {
    kmbi_free(&memory, device, 1, sizeof *device);
    return status;
  }
  *out = device;
  return KMB_OK;
}

static kmb_status open_first(const kmb_device_params *params,
                             const kmb_hooks *hooks, kmb_device **out) {
  kmb_status status = KMB_ERR_UNAVAILABLE;
  kmbi_error_state before;
  kmbi_error_save(&before);
  for (size_t i = 0; kmbi_backend_at(i); i++) {
    status = open_with(kmbi_backend_at(i), "", params, hooks, out);
    if (!status) {
      kmbi_error_restore(&before);
      return KMB_OK;
    }
  }
  return status;
}

kmb_status kmb_device_open(const char *name, const kmb_device_params *caller,
                           kmb_device **out) {
  if (!out)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_device_open: device is NULL");
  *out = NULL;
  if (!name || !*name)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_device_open: name is NULL or empty; "
                                      "use \"host\" or \"auto\"");
  kmb_device_params params;
  kmb_hooks hooks;
  kmb_status status = read_params(caller, &params, &hooks);
  if (status) return status;
  if (strcmp(name, "auto") == 0) return open_first(&params, &hooks, out);
  const kmb_backend_ops *ops = NULL;
  const char *spec = NULL;
  status = kmbi_backend_find(name, kmbi_plugin_directory(), &ops, &spec);
  if (status) return status;
  return open_with(ops, spec, &params, &hooks, out);
}

static void destroy(kmb_device *device) {
  kmbi_memory memory = device->memory;
  device->ops->close(device->self);
  kmbi_ceiling_entry *entry = device->ceilings;
  while (entry) {
    kmbi_ceiling_entry *next = entry->next;
    kmbi_free(&memory, entry, 1, sizeof *entry);
    entry = next;
  }
  kmbi_free(&memory, device, 1, sizeof *device);
}

void kmbi_device_hold(kmb_device *device) {
  atomic_fetch_add(&device->holders, 1);
}

void kmbi_device_drop(kmb_device *device) {
  if (atomic_fetch_sub(&device->holders, 1) == 1) destroy(device);
}

void kmb_device_close(kmb_device *device) {
  if (!device) return;
  if (atomic_exchange(&device->closed, true)) {
    kmbi_log(device, KMB_LOG_ERROR,
             "kmb_device_close: device %s was closed already; what still uses "
             "it keeps it",
             device->spec);
    return;
  }
  unsigned others = atomic_load(&device->holders) - 1;
  if (others)
    kmbi_log(device, KMB_LOG_ERROR,
             "kmb_device_close: %u buffer sets, sessions or calls still use "
             "device %s; it is freed when the last of them ends",
             others, device->spec);
  kmbi_device_drop(device);
}

/* Entering. */

kmb_status kmbi_device_check(const kmb_device *device, const char *what) {
  if (!device) return kmbi_fail(KMB_ERR_INVALID, "%s: device is NULL", what);
  if (device->pid != getpid())
    return kmbi_fail(KMB_ERR_FORKED,
                     "%s: this device was opened by process %ld, which forked; "
                     "open one in this process",
                     what, (long)device->pid);
  if (atomic_load(&device->closed))
    return kmbi_fail(KMB_ERR_INVALID, "%s: device %s was closed", what,
                     device->spec);
  return KMB_OK;
}

kmb_status kmbi_device_enter(kmb_device *device, const char *what) {
  kmb_status status = kmbi_device_check(device, what);
  if (status) return status;
  if (atomic_exchange(&device->busy, 1))
    return kmbi_fail(KMB_ERR_BUSY,
                     "%s: device %s is in use by another thread, a session or "
                     "a benchmark whose callback made this call",
                     what, device->spec);
  kmbi_device_hold(device);
  if (!device->lost) return KMB_OK;
  kmbi_device_leave(device);
  return kmbi_fail(KMB_ERR_LOST,
                   "%s: work on device %s did not end, so that it is lost; "
                   "close it and open another",
                   what, device->spec);
}

kmb_status kmbi_device_note(kmb_device *device, kmb_status status) {
  if (status == KMB_ERR_LOST) device->lost = true;
  return status;
}

void kmbi_device_leave(kmb_device *device) {
  atomic_store(&device->busy, 0);
  kmbi_device_drop(device);
}

/* Services for the engine. */

double kmbi_now(kmb_device *device) {
  if (KMBI_HAS(device->ops, now)) return device->ops->now(device->self);
  return kmbi_steady_ns();
}

void kmbi_sleep(kmb_device *device, double ns) {
  if (!(ns > 0)) return;
  if (KMBI_HAS(device->ops, sleep)) {
    device->ops->sleep(device->self, ns);
    return;
  }
  struct timespec t;
  t.tv_sec = (time_t)(ns / 1e9);
  t.tv_nsec = (long)(ns - (double)t.tv_sec * 1e9);
  nanosleep(&t, NULL);
}

void kmbi_log(kmb_device *device, kmb_log_level level, const char *format,
              ...) {
  if (!device->hooks.log) return;
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  device->hooks.log(device->hooks.log_user, level, message);
}

int kmbi_cancelled(const kmb_device *device) {
  return !device->defers_cancel && kmbi_cancel_asked(device);
}

int kmbi_cancel_asked(const kmb_device *device) {
  const volatile int32_t *flag = device->hooks.cancel;
  return flag && __atomic_load_n(flag, __ATOMIC_RELAXED) != 0;
}

kmb_status kmbi_device_budget(kmb_device *device, uint64_t *bytes) {
  if (device->params.memory_budget) {
    *bytes = device->params.memory_budget;
    return KMB_OK;
  }
  uint64_t available = 0;
  kmb_status status = device->ops->memory_available(device->self, &available);
  if (status) return status;
  *bytes = available / 2;
  return KMB_OK;
}

kmb_status kmbi_device_room(kmb_device *device, uint64_t *bytes) {
  kmb_status status = kmbi_device_budget(device, bytes);
  /* Without a budget the backend counts what is taken. */
  if (status || !device->params.memory_budget) return status;
  uint64_t used = 0;
  bool fits = kmbi_add(device->slot_bytes, device->sweep_bytes, &used);
  *bytes = fits && used < *bytes ? *bytes - used : 0;
  return KMB_OK;
}

/* Attributes. */

typedef enum attr_kind { ATTR_NONE, ATTR_U64, ATTR_F64, ATTR_TEXT } attr_kind;

static attr_kind kind_of(kmb_device_attr attr) {
  switch (attr) {
#define CASE(name, value, kind, key) \
  case value:                        \
    return ATTR_##kind;
    KMB_DEVICE_ATTR_MAP(CASE)
#undef CASE
  default:
    return ATTR_NONE;
  }
}

static kmb_status check_attr(const kmb_device *device, kmb_device_attr attr,
                             attr_kind kind, const void *out,
                             const char *what) {
  kmb_status status = kmbi_device_check(device, what);
  if (status) return status;
  if (!out) return kmbi_fail(KMB_ERR_INVALID, "%s: nowhere to store it", what);
  if (kind_of(attr) != kind)
    return kmbi_fail(KMB_ERR_INVALID,
                     "%s: attribute %d is not of this kind; see "
                     "KMB_DEVICE_ATTR_MAP",
                     what, (int)attr);
  return KMB_OK;
}

kmb_status kmb_device_attr_u64(kmb_device *device, kmb_device_attr attr,
                               uint64_t *value) {
  kmb_status status =
      check_attr(device, attr, ATTR_U64, value, "kmb_device_attr_u64");
  if (status) return status;
  if (attr == KMB_DEVICE_MEMORY_BUDGET)
    return kmbi_device_budget(device, value);
  return device->ops->attr_u64(device->self, attr, value);
}

kmb_status kmb_device_attr_f64(kmb_device *device, kmb_device_attr attr,
                               double *value) {
  kmb_status status =
      check_attr(device, attr, ATTR_F64, value, "kmb_device_attr_f64");
  if (status) return status;
  return device->ops->attr_f64(device->self, attr, value);
}

kmb_status kmb_device_attr_text(kmb_device *device, kmb_device_attr attr,
                                const char **text) {
  kmb_status status =
      check_attr(device, attr, ATTR_TEXT, text, "kmb_device_attr_text");
  if (status) return status;
  if (attr == KMB_DEVICE_BACKEND) *text = device->ops->name;
  if (attr == KMB_DEVICE_SPEC) *text = device->spec;
  if (attr == KMB_DEVICE_BACKEND || attr == KMB_DEVICE_SPEC) return KMB_OK;
  return device->ops->attr_text(device->self, attr, text);
}
