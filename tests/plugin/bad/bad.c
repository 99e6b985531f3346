/* Plugins that the loader must refuse, or whose open fails: one object for each
 * KIND. */
#include <kmb/backend.h>

enum {
  ABI = 1,  /* built for another backend ABI */
  EMPTY,    /* its entry returns NULL */
  SLOT,     /* a required function is NULL */
  CUT,      /* the table ends before a required function */
  TINY,     /* not even room for a name */
  NAME,     /* a name that is none */
  NAMELESS, /* no name at all */
  OTHER,    /* another name than the file's */
  HOST,     /* the name of a built-in backend */
  CLOCK,    /* a clock that cannot sleep */
  GROUP,    /* counters that nobody can close */
  SILENT,   /* open fails and says nothing */
  SPEAKS    /* open fails and says why */
};

static int kind = KIND;

static kmb_status open_device(const kmb_host *host, const char *spec,
                              const kmb_device_params *params, void **self) {
  (void)params;
  *self = NULL;
  if (kind == SILENT) return KMB_ERR_PERM;
  return host->fail(host->ctx, KMB_ERR_UNAVAILABLE, 35, "no device \"%s\"",
                    spec);
}

/* Stands for every function that must be there: open fails, so none of them
 * runs. */
static void never_called(void) {}

#define STUB(slot) \
  .slot = (__typeof__(((kmb_backend_ops *)NULL)->slot))never_called

static kmb_backend_ops table = {
    .struct_size = sizeof table,
    .abi = KMB_BACKEND_ABI,
    .name = KIND_NAME,
    .open = open_device,
    STUB(close),
    STUB(attr_u64),
    STUB(attr_f64),
    STUB(attr_text),
    STUB(memory_available),
    STUB(alloc),
    STUB(free),
    STUB(write),
    STUB(read),
    STUB(set),
    STUB(fill_random),
    STUB(stream_open),
    STUB(stream_close),
    STUB(stream_wait),
    STUB(propose),
    STUB(plan_create),
    STUB(plan_run),
    STUB(plan_destroy),
    STUB(describe),
};

/* Before anybody has the table: opening may happen in several threads. */
__attribute__((constructor)) static void spoil(void) {
  if (kind == ABI) table.abi = KMB_BACKEND_ABI + 1;
  if (kind == SLOT) table.plan_run = NULL;
  if (kind == CUT)
    table.struct_size = offsetof(kmb_backend_ops, stream_wait) + 4;
  if (kind == TINY) table.struct_size = sizeof(size_t);
  if (kind == NAME) table.name = "Bad-Name";
  if (kind == NAMELESS) table.name = NULL;
  if (kind == OTHER) table.name = "another";
  if (kind == HOST) table.name = "host";
  if (kind == GROUP) {
    table.counters_open = (__typeof__(table.counters_open))never_called;
    table.counters_collect = (__typeof__(table.counters_collect))never_called;
  }
  if (kind == CLOCK) table.now = (__typeof__(table.now))never_called;
}

const kmb_backend_ops *kmb_backend_entry_1(void) {
  return kind == EMPTY ? NULL : &table;
}
