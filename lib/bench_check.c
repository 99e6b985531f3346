/* Check: is the operation right, and did it write what it claims to? Once
 * before timing on a plain launch, once after on what the timed plan wrote. */
#include "error.h"
#include "run.h"

#include <stdio.h>

/* First use may load and compile code. */
#define FIRST_USE_LIMIT_NS 60e9
/* For work to end that others were told not to wait for. */
#define OVERDUE_LIMIT_NS 0.5e9

/* Host copies for one check. */
typedef struct copies {
  const kmbi_memory *memory;
  kmb_buffers *set;
  void **before, **after;
  uint64_t *bytes;
  uint32_t slot;
} copies;

static void copies_release(copies *c) {
  size_t n = (size_t)c->set->count;
  for (size_t i = 0; i < n; i++) {
    size_t size = (size_t)c->set->descs[i].bytes;
    if (c->after && c->before && c->after[i] != c->before[i])
      kmbi_free(c->memory, c->after[i], size, 1);
    if (c->before) kmbi_free(c->memory, c->before[i], size, 1);
  }
  kmbi_free(c->memory, c->before, n, sizeof *c->before);
  kmbi_free(c->memory, c->after, n, sizeof *c->after);
  kmbi_free(c->memory, c->bytes, n, sizeof *c->bytes);
}

static kmb_status copies_take(copies *c, kmbi_run *run, uint32_t slot) {
  size_t n = (size_t)run->p.buffers->count;
  *c = (copies){
      .memory = &run->device->memory, .set = run->p.buffers, .slot = slot};
  c->before = kmbi_alloc(c->memory, n, sizeof *c->before);
  c->after = kmbi_alloc(c->memory, n, sizeof *c->after);
  c->bytes = kmbi_alloc(c->memory, n, sizeof *c->bytes);
  if (!c->before || !c->after || !c->bytes) {
    copies_release(c);
    return kmbi_fail(KMB_ERR_NOMEM, "no memory to check the outputs");
  }
  for (size_t i = 0; i < n; i++)
    c->bytes[i] = c->set->descs[i].bytes;
  return KMB_OK;
}

static kmb_status copy_one(copies *c, uint64_t i, void **copy) {
  const kmb_buffer_desc *d = &c->set->descs[i];
  kmb_device *device = c->set->device;
  *copy = kmbi_alloc(c->memory, (size_t)d->bytes, 1);
  if (!*copy)
    return kmbi_fail(KMB_ERR_NOMEM,
                     "no host memory for a copy of buffer \"%s\" (%llu bytes)",
                     d->name, (unsigned long long)d->bytes);
  return device->ops->read(device->self, *copy,
                           kmbi_buffers_at(c->set, c->slot, i), d->bytes);
}

/* Inputs only matter to a callback that compares; what the operation changes in
 * place is needed to put it back. */
static kmb_status copy_before(copies *c, bool inputs) {
  kmb_status status = KMB_OK;
  for (uint64_t i = 0; i < c->set->count && !status; i++) {
    kmb_buffer_role role = c->set->descs[i].role;
    if (role == KMB_INOUT || (inputs && role == KMB_INPUT))
      status = copy_one(c, i, &c->before[i]);
  }
  return status;
}

static kmb_status copy_after(copies *c) {
  kmb_status status = KMB_OK;
  for (uint64_t i = 0; i < c->set->count && !status; i++) {
    kmb_buffer_role role = c->set->descs[i].role;
    if (role == KMB_INPUT) c->after[i] = c->before[i];
    if (role == KMB_INOUT || role == KMB_OUTPUT)
      status = copy_one(c, i, &c->after[i]);
  }
  return status;
}

static kmb_status restore_inout(const copies *c) {
  kmb_device *device = c->set->device;
  kmb_status status = KMB_OK;
  for (uint64_t i = 0; i < c->set->count && !status; i++)
    if (c->set->descs[i].role == KMB_INOUT)
      status =
          device->ops->write(device->self, kmbi_buffers_at(c->set, c->slot, i),
                             c->before[i], c->set->descs[i].bytes);
  return status;
}

/* Advice is of what the caller gave: a graph has no launch->args. */
static kmb_status unwritten(const kmbi_run *run, uint32_t slot,
                            const char *name, const char *when) {
  if (run->p.graphs)
    return kmbi_fail(KMB_ERR_INCORRECT,
                     "output \"%s\" was not written at all %s; the graph of "
                     "slot %u writes to other memory or was captured with "
                     "other pointers than those of its slot",
                     name, when, (unsigned)slot);
  return kmbi_fail(KMB_ERR_INCORRECT,
                   "output \"%s\" was not written at all %s; does the "
                   "callback use launch->args and launch->stream?",
                   name, when);
}

/* An input that shares memory with something written may change. */
static bool must_stay(const kmb_buffers *set, uint64_t i) {
  if (set->descs[i].role != KMB_INPUT || set->places[i] == KMBI_ALIAS)
    return false;
  for (uint64_t k = 0; k < set->count; k++)
    if (set->places[k] == KMBI_ALIAS && set->descs[k].alias_of == i &&
        kmbi_buffers_writes(&set->descs[k]))
      return false;
  return true;
}

/* Inputs that were copied are as they were: what changes them changes what the
 * next iteration works on, and what others do that share them. */
static kmb_status judge_inputs(copies *c, const char *when) {
  kmb_status status = KMB_OK;
  for (uint64_t i = 0; i < c->set->count && !status; i++) {
    const kmb_buffer_desc *d = &c->set->descs[i];
    void *now = NULL;
    if (!c->before[i] || !must_stay(c->set, i)) continue;
    status = copy_one(c, i, &now);
    if (!status && memcmp(now, c->before[i], (size_t)d->bytes) != 0)
      status = kmbi_fail(KMB_ERR_INCORRECT,
                         "input \"%s\" was written %s; an operation that "
                         "works in place has the role INOUT",
                         d->name, when);
    kmbi_free(c->memory, now, (size_t)d->bytes, 1);
  }
  return status;
}

/* What the library itself can see: outputs that were never written. A part
 * that was not is said once, by the first check. */
static kmb_status judge_untouched(kmbi_run *run, const copies *c,
                                  const char *when) {
  for (uint64_t i = 0; i < c->set->count; i++) {
    const kmb_buffer_desc *d = &c->set->descs[i];
    if (!kmbi_buffers_poisonable(c->set, i)) continue;
    uint64_t left = kmbi_poisoned_bytes(d, c->after[i]);
    if (left == d->bytes) return unwritten(run, c->slot, d->name, when);
    if (left == 0 || d->touched_bytes < d->bytes || run->check_text) continue;
    kmb_figure figures[] = {{"unwritten_bytes", (double)left},
                            {"output_bytes", (double)d->bytes}};
    kmbi_result_find(
        run->result, KMB_FINDING_STALE_OUTPUT, KMB_WARNING, figures, 2,
        "%llu of %llu bytes of output \"%s\" were not written %s",
        (unsigned long long)left, (unsigned long long)d->bytes, d->name, when);
  }
  return KMB_OK;
}

static kmb_status judge_values(kmbi_run *run, const copies *c,
                               const char *when) {
  if (!run->p.check) return KMB_OK;
  kmb_check check = {
      .struct_size = sizeof check,
      .before = (const void *const *)c->before,
      .after = (const void *const *)c->after,
      .bytes = c->bytes,
      .count = c->set->count,
      .tolerance = run->p.tolerance,
      .error = -1,
      .slot = c->slot,
      .config = run->p.config,
  };
  kmb_status status = run->p.check(run->p.check_user, &check);
  if (check.error > run->check_error) run->check_error = check.error;
  if (status != KMB_ERR_INCORRECT) return status;
  if (check.error >= 0)
    return kmbi_fail(status,
                     "the check failed on what was written %s: largest error "
                     "%g, tolerance %g",
                     when, check.error, run->p.tolerance);
  return kmbi_fail(status, "the check failed on what was written %s", when);
}

static kmb_status run_reset(kmbi_run *run, uint32_t slot) {
  if (!run->p.reset) return KMB_OK;
  return run->p.reset(run->p.reset_user, slot, run->stream);
}

/* Work that waits for a rank that failed or ended is late: the caller can end
 * it once it is told. */
static kmb_status wait_for_launch(kmbi_run *run) {
  kmb_device *device = run->device;
  const kmb_backend_ops *ops = device->ops;
  bool alone = !run->ranks.comm;
  double limit = alone ? FIRST_USE_LIMIT_NS : kmbi_ranks_patience(run);
  run->ranks.failed = false;
  kmb_status status = ops->stream_wait(device->self, run->stream, limit);
  if (alone || status != KMB_ERR_TIMEOUT) return status;
  kmb_status late = kmbi_ranks_overdue(run, -1);
  kmbi_error_state said;
  kmbi_error_save(&said);
  status = ops->stream_wait(device->self, run->stream, OVERDUE_LIMIT_NS);
  if (!status) kmbi_error_restore(&said);
  if (!status) return late;
  return kmbi_fail(KMB_ERR_LOST, "the device is lost: %.200s", said.message);
}

kmb_status kmbi_launch_once(kmbi_run *run, uint32_t slot) {
  kmb_device *device = run->device;
  const kmb_buffers *set = run->p.buffers;
  void **args = set ? set->args + (uint64_t)slot * set->count : NULL;
  kmb_launch launch = {
      .struct_size = sizeof launch,
      .stream = run->stream,
      .args = (void *const *)args,
      .arg_count = set ? set->count : 0,
      .slot = slot,
      .config = run->p.config,
  };
  kmb_status status = run->p.launch(run->p.launch_user, &launch);
  kmbi_error_state said;
  kmbi_error_save(&said);
  /* A callback that fails may have enqueued something before. */
  kmb_status waited = wait_for_launch(run);
  /* What still runs uses the buffers: nothing more can be done here. */
  if (waited == KMB_ERR_TIMEOUT) kmbi_device_note(device, KMB_ERR_LOST);
  kmbi_device_note(device, waited);
  if (status) kmbi_error_restore(&said);
  return status ? status : waited;
}

static kmb_status judge(kmbi_run *run, copies *c, bool after, bool values) {
  const char *when = after ? "by the timed plan" : "by a plain launch";
  kmb_status status = kmbi_buffers_guards(c->set, run->slots);
  if (!status) status = copy_after(c);
  if (!status) status = judge_inputs(c, when);
  if (!status) status = judge_untouched(run, c, when);
  if (!status && values) status = judge_values(run, c, when);
  return status;
}

static kmb_status check_before(kmbi_run *run, copies *c) {
  kmb_status status = kmbi_buffers_poison(c->set, c->slot);
  if (!status) status = run_reset(run, c->slot);
  if (!status) status = copy_before(c, run->p.check != NULL);
  status = kmbi_ranks_settle_stream(run, status);
  status = kmbi_ranks_agree(run, KMBI_SAY_READY, status);
  if (status) return status;
  status = kmbi_launch_once(run, c->slot);
  if (!status) status = judge(run, c, false, true);
  if (run->device->lost) return status;
  /* Whatever came out of it: the set is used again. */
  kmbi_error_state said;
  kmbi_error_save(&said);
  kmb_status restored = restore_inout(c);
  if (status) kmbi_error_restore(&said);
  return status ? status : restored;
}

/* Steps. */

static uint64_t count_roles(const kmb_buffers *set, bool inout_only) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < set->count; i++)
    count += inout_only ? set->descs[i].role == KMB_INOUT
                        : kmbi_buffers_writes(&set->descs[i]);
  return count;
}

kmb_status kmbi_check(kmbi_run *run, kmbi_stage *next) {
  *next = KMBI_WARM_UP;
  kmb_buffers *set = run->p.buffers;
  if (!set || !count_roles(set, false)) {
    snprintf(run->check_skipped, sizeof run->check_skipped, "%s",
             set ? "no buffer is an output" : "there are no buffers");
    if (run->p.flags & KMB_BENCH_REQUIRE_CHECK)
      return kmbi_fail(KMB_ERR_UNAVAILABLE,
                       "a check is required and cannot be made: %s",
                       run->check_skipped);
    return KMB_OK;
  }
  copies c;
  kmb_status status = copies_take(&c, run, 0);
  if (status) return status;
  status = check_before(run, &c);
  copies_release(&c);
  if (status) return status;
  if (!run->p.check)
    snprintf(run->check_skipped, sizeof run->check_skipped,
             "no check callback: the outputs were written, but not compared");
  run->check_text = "passed before timing";
  return KMB_OK;
}

/* In place without a reset hook, the timed iterations ran on their own
 * results: there is nothing that one launch could be compared with. */
static bool comparable(const kmbi_run *run) {
  return run->p.reset || !count_roles(run->p.buffers, true);
}

static kmb_status check_after(kmbi_run *run, copies *c, bool *ran) {
  kmb_status status = KMB_OK;
  for (uint32_t s = 0; s < run->slots && !status; s++)
    status = kmbi_buffers_poison(c->set, s);
  if (!status) status = run_reset(run, c->slot);
  bool values = comparable(run);
  if (!status && values) status = copy_before(c, run->p.check != NULL);
  status = kmbi_ranks_agree(run, KMBI_SAY_READY, status);
  uint64_t got = 0;
  double until = kmbi_clock(run) + FIRST_USE_LIMIT_NS;
  if (!status)
    status = kmbi_plan_take(run, run->plan, run->batch, 1, until, &got);
  *ran = got == 1;
  if (!status && *ran) status = judge(run, c, true, values);
  if (!status && *ran && values)
    run->check_text = "passed before and after timing";
  return status;
}

kmb_status kmbi_recheck(kmbi_run *run, kmbi_stage *next) {
  *next = run->round + 1 < run->p.rounds ? KMBI_PREPARE : KMBI_CONFIRM;
  if (run->rounds[run->round].stop == KMBI_STOP_CANCELLED)
    *next = KMBI_SUMMARISE;
  kmb_status status = KMB_OK;
  if (run->check_text && *next != KMBI_SUMMARISE) {
    copies c;
    bool ran = false;
    status = copies_take(&c, run, run->next_slot);
    if (status) return status;
    status = check_after(run, &c, &ran);
    copies_release(&c);
  } else if (run->p.buffers) {
    status = kmbi_buffers_guards(run->p.buffers, run->slots);
  }
  if (!status && *next == KMBI_PREPARE) run->round++;
  return status;
}
