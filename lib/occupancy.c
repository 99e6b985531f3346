/* Theoretical occupancy: the backend says how many blocks of a kernel each part
 * of a unit suffices for; the driver's own count, where a launch could be seen,
 * is the judge of it. */
#include "occupancy.h"

#include "error.h"

#include <stdio.h>

void kmbi_op_set_shape(kmb_op *op, const kmb_shape *s) {
  if (!s->block_x) return;
  op->grid_x = s->grid_x, op->grid_y = s->grid_y, op->grid_z = s->grid_z;
  op->block_x = s->block_x, op->block_y = s->block_y, op->block_z = s->block_z;
  op->registers = s->registers, op->local = s->local;
  op->static_shared = s->static_shared;
  op->dynamic_shared = s->dynamic_shared;
  op->flags |= KMB_OP_HAS_LAUNCH;
}

kmb_shape kmbi_op_shape(const kmb_op *op) {
  return (kmb_shape){op->grid_x,        op->grid_y,  op->grid_z,
                     op->block_x,       op->block_y, op->block_z,
                     op->registers,     op->local,   op->static_shared,
                     op->dynamic_shared};
}

/* Which limits are the least, by name; the others' figures are the caller's. */
static void find_least(kmb_occupancy *o, kmbi_arena *arena) {
  const struct {
    const char *name;
    uint64_t blocks;
  } limits[] = {{"registers", o->limit_registers},
                {"shared memory", o->limit_shared},
                {"warps", o->limit_warps},
                {"blocks", o->limit_blocks}};
  enum { COUNT = sizeof limits / sizeof limits[0] };
  char text[48] = "";
  size_t used = 0;
  o->blocks = limits[0].blocks;
  for (size_t i = 1; i < COUNT; i++)
    if (limits[i].blocks < o->blocks) o->blocks = limits[i].blocks;
  for (size_t i = 0; i < COUNT; i++)
    if (limits[i].blocks == o->blocks)
      used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                               used ? ", " : "", limits[i].name);
  o->limit = kmbi_arena_copy(arena, text);
}

/* What is given out is what the code needs, rounded up to a step: a tracer may
 * tell the one where the driver's attributes tell the other. */
static bool agree(const kmb_occupancy *o, uint64_t needed, uint64_t given) {
  uint64_t step = o->register_step;
  return needed == given ||
         (step && given > needed && given % step == 0 && given - needed < step);
}

/* Where they differ both are told: the launch's registers are those given. */
static const char *explain(const kmb_op *op, const kmbi_driver_count *driver,
                           kmbi_arena *arena) {
  if (driver->registers == op->registers) return "";
  const char *text = kmbi_arena_format(
      arena,
      "; a thread is given %u registers (the trace), its code needs %llu (the "
      "driver's attributes)",
      (unsigned)op->registers, (unsigned long long)driver->registers);
  return text ? text : ""; /* the arena knows */
}

/* The driver knows more than the four limits, such as clusters and barriers. */
static void judge(kmb_occupancy *o, const kmb_op *op,
                  const kmbi_driver_count *driver, kmbi_arena *arena) {
  if (driver->why) {
    o->check = driver->why;
    return;
  }
  if (!agree(o, driver->registers, op->registers) ||
      driver->static_shared != op->static_shared) {
    o->check = kmbi_arena_format(
        arena,
        "not compared: the driver's attributes have %llu registers and %llu B "
        "of static shared memory, the trace %u and %u B",
        (unsigned long long)driver->registers,
        (unsigned long long)driver->static_shared, (unsigned)op->registers,
        (unsigned)op->static_shared);
    return;
  }
  const char *more = explain(op, driver, arena);
  if (driver->blocks == o->blocks) {
    o->flags |= KMB_OCCUPANCY_CHECKED;
    o->check =
        kmbi_arena_format(arena, "the driver counts as many blocks%s", more);
    return;
  }
  o->check = kmbi_arena_format(
      arena,
      "the driver counts %llu blocks a unit, registers, shared memory, warps "
      "and blocks suffice for %llu: something else binds%s",
      (unsigned long long)driver->blocks, (unsigned long long)o->blocks, more);
  o->blocks = driver->blocks;
  o->limit = NULL;
}

static kmb_status derive(kmb_occupancy *o, const kmb_op *op, uint64_t units) {
  double grid = (double)op->grid_x * op->grid_y * op->grid_z;
  if (!o->blocks || !o->unit_warps || !units)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "by what is known of it a unit holds no block of this "
                     "kernel, and yet it ran");
  o->pct =
      100 * (double)o->blocks * (double)o->block_warps / (double)o->unit_warps;
  o->waves = grid / ((double)o->blocks * (double)units);
  return KMB_OK;
}

kmb_status kmbi_occupancy(kmb_device *device, const kmb_op *op,
                          const kmbi_driver_count *driver, kmbi_arena *arena,
                          kmb_occupancy *o) {
  const kmb_backend_ops *ops = device->ops;
  const kmb_shape shape = kmbi_op_shape(op);
  uint64_t units = 0;
  *o = kmb_occupancy_init();
  if (!KMBI_HAS(ops, occupancy))
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "backend %s does not tell what limits the blocks of a "
                     "unit",
                     ops->name);
  kmb_status status = ops->occupancy(device->self, &shape, o);
  if (!status) status = ops->attr_u64(device->self, KMB_DEVICE_UNITS, &units);
  if (status) return status;
  o->flags = KMB_OCCUPANCY_HAS_LIMITS;
  find_least(o, arena);
  judge(o, op, driver, arena);
  return derive(o, op, units);
}

/* Asking the driver. */

typedef struct asking {
  const kmb_op *ops;
  uint64_t count;
  kmbi_driver_count *counts;
} asking;

static bool is_same(const kmb_op *op, const kmb_code_kernel *k) {
  return strcmp(op->name, k->name) == 0 && op->grid_x == k->grid_x &&
         op->grid_y == k->grid_y && op->grid_z == k->grid_z &&
         op->block_x == k->block_x && op->block_y == k->block_y &&
         op->block_z == k->block_z &&
         op->dynamic_shared == k->dynamic_shared_bytes;
}

static void note(kmbi_driver_count *c, const kmb_code_kernel *k) {
  const uint32_t both = KMB_CODE_HAS_ATTRIBUTES | KMB_CODE_HAS_OCCUPANCY;
  if ((k->flags & both) != both) {
    c->why = "not compared: the driver does not tell this kernel's attributes";
  } else if (c->known &&
             (c->blocks != k->blocks_per_unit || c->registers != k->registers ||
              c->static_shared != k->static_shared_bytes)) {
    c->why = "not compared: several kernels of this name were launched alike";
  } else {
    c->blocks = k->blocks_per_unit;
    c->registers = k->registers;
    c->static_shared = k->static_shared_bytes;
    c->known = true;
  }
}

static kmb_status take_kernel(void *ctx, const kmb_code_kernel *kernel,
                              const void *image, uint64_t bytes) {
  asking *a = ctx;
  (void)image;
  (void)bytes;
  for (uint64_t i = 0; i < a->count; i++)
    if (is_same(&a->ops[i], kernel)) note(&a->counts[i], kernel);
  return KMB_OK;
}

static void take_info(void *ctx, const kmb_code_info *info) {
  (void)ctx;
  (void)info;
}

static kmb_status launch(kmbi_run *run) {
  const kmb_choice choice = {KMB_TIMER_HOST, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM,
                             0};
  double until = kmbi_now(run->device) + run->p.max_wall_ns;
  uint64_t got = 0;
  void *plan = NULL;
  kmb_status status = kmbi_plan_open(run, &choice, 1, run->p.launch, &plan);
  if (status) return status;
  status = kmbi_plan_take(run, plan, 1, 1, until, &got);
  kmbi_plan_close(run, plan);
  return status;
}

static kmb_status watch(kmbi_run *run, asking *a) {
  const kmb_backend_ops *ops = run->device->ops;
  const kmb_code_sink sink = {.struct_size = sizeof sink,
                              .ctx = a,
                              .kernel = take_kernel,
                              .info = take_info};
  void *capture = NULL;
  kmb_status status = ops->code_begin(run->device->self, &capture);
  if (status) return status;
  status = launch(run);
  kmbi_error_state said;
  kmbi_error_save(&said);
  kmb_status ended =
      ops->code_end(run->device->self, capture, status ? NULL : &sink);
  if (status) kmbi_error_restore(&said);
  return status ? status : ended;
}

static void give_reason(const asking *a, const char *why) {
  for (uint64_t i = 0; i < a->count; i++)
    if (!a->counts[i].known && !a->counts[i].why) a->counts[i].why = why;
}

kmb_status kmbi_ask_driver(kmbi_run *run, const kmb_op *ops, uint64_t count,
                           kmbi_arena *arena, kmbi_driver_count *counts) {
  const kmb_backend_ops *table = run->device->ops;
  asking a = {ops, count, counts};
  kmbi_error_state before;
  if (!KMBI_HAS(table, code_begin) || !KMBI_HAS(table, code_end)) {
    give_reason(&a, "not compared: the backend sees no single launches");
    return KMB_OK;
  }
  if (run->p.graphs) {
    give_reason(&a, "not compared: launches inside a prebuilt graph are not "
                    "seen");
    return KMB_OK;
  }
  if (run->ranks.comm) {
    give_reason(&a, "not compared: several ranks measure together");
    return KMB_OK;
  }
  kmbi_error_save(&before);
  kmb_status status = watch(run, &a);
  if (status && !kmbi_is_reason(status)) return status;
  if (status)
    give_reason(&a, kmbi_arena_format(arena, "not compared: %s",
                                      kmb_last_error(NULL, NULL)));
  kmbi_error_restore(&before);
  give_reason(&a, "not compared: its launch was not seen");
  return KMB_OK;
}

/* In a result. */

void kmbi_no_launch(kmb_result *result, const char *why) {
  kmbi_result_absent(result, KMB_VALUE_LAUNCH_KERNEL, "%s", why);
  kmbi_result_absent(result, KMB_VALUE_THEORETICAL, "%s", why);
}

static void set_limit(kmb_result *result, const kmb_occupancy *o) {
  if (!o->limit) {
    kmbi_result_absent(result, KMB_VALUE_OCCUPANCY_LIMIT, "%s", o->check);
    return;
  }
  kmbi_result_format(result, KMB_VALUE_OCCUPANCY_LIMIT,
                     "%s (blocks a unit by registers %llu, shared memory %llu, "
                     "warps %llu, blocks %llu)",
                     o->limit, (unsigned long long)o->limit_registers,
                     (unsigned long long)o->limit_shared,
                     (unsigned long long)o->limit_warps,
                     (unsigned long long)o->limit_blocks);
}

void kmbi_set_launch(kmb_result *result, const kmb_op *op,
                     const kmb_occupancy *o, const char *why) {
  kmbi_result_set_text(result, KMB_VALUE_LAUNCH_KERNEL, op->name);
  kmbi_result_format(result, KMB_VALUE_LAUNCH_GRID, "%u × %u × %u",
                     (unsigned)op->grid_x, (unsigned)op->grid_y,
                     (unsigned)op->grid_z);
  kmbi_result_format(result, KMB_VALUE_LAUNCH_BLOCK, "%u × %u × %u",
                     (unsigned)op->block_x, (unsigned)op->block_y,
                     (unsigned)op->block_z);
  kmbi_result_set_u64(result, KMB_VALUE_REGISTERS, op->registers);
  kmbi_result_set_u64(result, KMB_VALUE_LOCAL_BYTES, op->local);
  kmbi_result_set_u64(result, KMB_VALUE_STATIC_SHARED, op->static_shared);
  kmbi_result_set_u64(result, KMB_VALUE_DYNAMIC_SHARED, op->dynamic_shared);
  if (!o) {
    kmbi_result_absent(result, KMB_VALUE_THEORETICAL, "%s", why);
    return;
  }
  kmbi_result_set_f64(result, KMB_VALUE_WAVES, o->waves);
  kmbi_result_set_u64(result, KMB_VALUE_BLOCKS_PER_UNIT, o->blocks);
  kmbi_result_set_f64(result, KMB_VALUE_THEORETICAL, o->pct);
  set_limit(result, o);
  kmbi_result_set_text(result, KMB_VALUE_OCCUPANCY_CHECK, o->check);
}
