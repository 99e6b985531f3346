/* Prepare: how to measure, with how many slots, in what memory. */
#include "error.h"
#include "metadata.h"
#include "rotation.h"
#include "run.h"
#include "structs.h"

#include <stdio.h>

/* A sweep reads this many times the last-level cache. */
#define SWEEP_FACTOR 2.0
/* Beyond this many slots, bookkeeping costs more cache than it clears. */
enum { SLOTS_LIMIT = 65536, SCAN_BYTES = 1 << 16 };

/* Choices. */

static bool violates(const kmb_bench_params *p, const kmb_choice *choice) {
  if (p->flags & KMB_BENCH_REQUIRE_TIMER && p->timer != KMB_TIMER_AUTO &&
      choice->timer != p->timer)
    return true;
  if (p->flags & KMB_BENCH_REQUIRE_LAUNCH &&
      p->launch_mode != KMB_LAUNCH_AUTO &&
      choice->launch_mode != p->launch_mode)
    return true;
  return p->flags & KMB_BENCH_REQUIRE_CACHE && p->cache != KMB_CACHE_DEFAULT &&
         choice->cache != p->cache;
}

/* Prebuilt graphs are of one iteration and cannot be taken apart. */
static bool serves_graphs(kmbi_run *run, const kmb_choice *choice) {
  if (!run->p.graphs) return true;
  if (choice->timer != KMB_TIMER_GRAPH)
    return choice->launch_mode == KMB_LAUNCH_GRAPH;
  if (run->p.timer == KMB_TIMER_GRAPH)
    snprintf(run->passed_over, sizeof run->passed_over, "GRAPH: %s",
             KMBI_GRAPH_REFUSED);
  return false;
}

bool kmbi_is_asked(const kmb_bench_params *p, const kmb_choice *choice) {
  return (p->timer == KMB_TIMER_AUTO || p->timer == choice->timer) &&
         (p->launch_mode == KMB_LAUNCH_AUTO ||
          p->launch_mode == choice->launch_mode);
}

/* Of a way that was not even proposed there is no failure to tell. */
static void note_not_proposed(kmbi_run *run, const kmb_choice *proposed,
                              uint32_t count) {
  const kmb_bench_params *p = &run->p;
  char timer[32] = "";
  const char *mode = "";
  run->not_proposed[0] = '\0';
  for (uint32_t i = 0; i < count; i++)
    if (kmbi_is_asked(p, &proposed[i])) return;
  if (p->timer != KMB_TIMER_AUTO)
    snprintf(timer, sizeof timer, " with timer %s", kmbi_timer_name(p->timer));
  if (p->launch_mode != KMB_LAUNCH_AUTO)
    mode = p->launch_mode == KMB_LAUNCH_GRAPH ? " on graph launches"
                                              : " on plain launches";
  snprintf(run->not_proposed, sizeof run->not_proposed,
           "backend %.40s proposed no way%s%s for cache state %s",
           run->device->ops->name, timer, mode,
           kmbi_cache_name(proposed[0].cache));
}

const char *kmbi_passed_over(const kmbi_run *run,
                             char text[KMBI_PASSED_OVER_SIZE]) {
  bool both = run->not_proposed[0] && run->passed_over[0];
  snprintf(text, KMBI_PASSED_OVER_SIZE, "%s%s%s", run->not_proposed,
           both ? "; " : "", run->passed_over);
  if (!text[0] && !kmbi_is_asked(&run->p, &run->choice))
    snprintf(text, KMBI_PASSED_OVER_SIZE,
             "backend %.40s puts it before what was asked for",
             run->device->ops->name);
  return text;
}

/* The ways of this rank. */
static kmb_status choose(kmbi_run *run) {
  kmb_device *device = run->device;
  const kmb_bench_params *p = &run->p;
  kmb_request request = {
      .struct_size = sizeof request,
      .cold_bytes = run->buffers.cold_bytes,
      .device_ops = run->device_ops,
      .timer = p->timer,
      .launch_mode = p->launch_mode,
      .cache = p->cache,
  };
  kmb_choice proposed[KMBI_CHOICES];
  uint32_t count = 0;
  if (run->ranks.comm && !KMBI_HAS(device->ops, aligned))
    return kmbi_fail(KMB_ERR_UNSUPPORTED, "backend %s measures one rank alone",
                     device->ops->name);
  kmb_status status = device->ops->propose(device->self, &request, proposed,
                                           KMBI_CHOICES, &count);
  if (status) return status;
  if (!count || count > KMBI_CHOICES)
    return kmbi_fail(KMB_ERR_INTERNAL, "backend %s proposed %u choices",
                     device->ops->name, (unsigned)count);
  note_not_proposed(run, proposed, count);
  run->choice_count = run->choice_index = 0;
  for (uint32_t i = 0; i < count; i++)
    if (!violates(p, &proposed[i]) && serves_graphs(run, &proposed[i]) &&
        kmbi_ranks_serves(run, &proposed[i]))
      run->choices[run->choice_count++] = proposed[i];
  if (!run->choice_count)
    return kmbi_fail(
        KMB_ERR_UNAVAILABLE,
        "timer %s, launch mode %s and cache state %s are required%s; "
        "the best to be had is %s, %s, %s",
        kmbi_timer_name(p->timer), kmbi_launch_mode_name(p->launch_mode),
        kmbi_cache_name(p->cache),
        run->ranks.comm ? " of aligned ranks"
        : p->graphs     ? " of prebuilt graphs"
                        : "",
        kmbi_timer_name(proposed[0].timer),
        kmbi_launch_mode_name(proposed[0].launch_mode),
        kmbi_cache_name(proposed[0].cache));
  return KMB_OK;
}

kmb_status kmbi_choose(kmbi_run *run) {
  return kmbi_ranks_choose(run, choose(run));
}

bool kmbi_is_local(kmb_status status) {
  return status == KMB_ERR_BUSY || status == KMB_ERR_UNAVAILABLE ||
         status == KMB_ERR_UNSUPPORTED || status == KMB_ERR_PERM ||
         status == KMB_ERR_CAPTURE;
}

kmb_status kmbi_next_choice(kmbi_run *run, kmb_status status,
                            kmbi_stage *next) {
  /* Rounds are compared: all of them are timed in the same way. */
  bool another = !run->round && run->choice_index + 1 < run->choice_count;
  if (!another || !kmbi_is_local(status)) return status;
  size_t used = strlen(run->passed_over);
  snprintf(run->passed_over + used, sizeof run->passed_over - used,
           "%s%s on %s launches: %s (%s)", used ? "; " : "",
           kmbi_timer_name(run->choice.timer),
           run->choice.launch_mode == KMB_LAUNCH_GRAPH ? "graph" : "plain",
           kmb_status_name(status), kmb_last_error(NULL, NULL));
  run->choice_index++;
  *next = KMBI_PREPARE;
  return KMB_OK;
}

/* Cache state. */

static kmb_status need_llc(const kmbi_run *run) {
  if (run->llc_bytes) return KMB_OK;
  return kmbi_fail(KMB_ERR_UNAVAILABLE,
                   "cache state %s needs the last-level cache's size, which "
                   "this device does not report; set "
                   "kmb_device_params.llc_bytes",
                   kmbi_cache_name(run->choice.cache));
}

static kmb_status prepare_sweep(kmbi_run *run) {
  kmb_device *device = run->device;
  kmb_status status = need_llc(run);
  if (status) return status;
  if (!KMBI_HAS(device->ops, sweep_prepare))
    return kmbi_fail(KMB_ERR_UNSUPPORTED, "backend %s has no read sweep",
                     device->ops->name);
  uint64_t room = 0;
  if (!kmbi_scale_bytes(run->llc_bytes, SWEEP_FACTOR, &run->sweep_bytes))
    return kmbi_fail(KMB_ERR_INVALID, "a last-level cache of %llu bytes",
                     (unsigned long long)run->llc_bytes);
  if (run->sweep_bytes <= device->sweep_bytes)
    return device->ops->sweep_prepare(device->self, run->sweep_bytes);
  status = kmbi_device_room(device, &room);
  if (status) return status;
  if (device->params.memory_budget &&
      run->sweep_bytes - device->sweep_bytes > room)
    return kmbi_fail(KMB_ERR_NOMEM,
                     "the sweep reads %llu bytes, %llu are left of "
                     "kmb_device_params.memory_budget; raise it, destroy "
                     "buffers, or measure ROTATED or WARM",
                     (unsigned long long)run->sweep_bytes,
                     (unsigned long long)room);
  status = device->ops->sweep_prepare(device->self, run->sweep_bytes);
  if (!status) device->sweep_bytes = run->sweep_bytes;
  return status;
}

/* Slots that the state ROTATED needs, whatever may be had. */
static kmb_status slots_needed(kmbi_run *run, uint64_t *slots) {
  const kmb_buffers_params *params = &run->p.buffers->params;
  uint64_t cold = run->buffers.cold_bytes, distance = 0;
  *slots = params->slots;
  if (*slots) return KMB_OK;
  if (params->rotation_bytes) {
    *slots = kmbi_rotation_sets(params->rotation_bytes, cold);
    return KMB_OK;
  }
  kmb_status status = need_llc(run);
  if (status) return status;
  if (!kmbi_scale_bytes(run->llc_bytes, params->reuse_factor, &distance))
    return kmbi_fail(KMB_ERR_INVALID, "reuse_factor times the last-level cache "
                                      "exceeds 64 bits");
  *slots = kmbi_rotation_slots(distance, cold);
  return KMB_OK;
}

/* The most slots up to `wanted` that memory and the caller's pointers allow. */
static kmb_status slots_possible(kmbi_run *run, uint64_t wanted,
                                 uint32_t *slots) {
  const kmb_buffers *set = run->p.buffers;
  uint64_t most = wanted < SLOTS_LIMIT ? wanted : SLOTS_LIMIT;
  uint64_t limit = run->buffers.slots_limit, budget = 0, bytes = 0;
  if (limit && most > limit) most = limit;
  if (run->p.graphs && most > run->p.graph_count) most = run->p.graph_count;
  kmb_status status = kmbi_device_room(run->device, &budget);
  if (status) return status;
  while (most > 1 &&
         (!kmbi_buffers_cost(set, (uint32_t)most, &bytes) || bytes > budget)) {
    uint64_t fit = set->slots;
    if (set->slot_bytes) fit += budget / set->slot_bytes;
    most = fit < most - 1 ? fit : most - 1;
    if (most < 1) most = 1;
  }
  *slots = (uint32_t)most;
  return KMB_OK;
}

static kmb_status prepare_rotation(kmbi_run *run) {
  if (!run->p.buffers || !run->buffers.cold_bytes)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "cache state ROTATED needs buffers with cold inputs or "
                     "outputs; without them measure COLD or WARM");
  kmb_status status = slots_needed(run, &run->wanted_slots);
  if (!status) status = slots_possible(run, run->wanted_slots, &run->slots);
  if (status) return status;
  run->reuse_bytes = run->buffers.cold_bytes * (run->slots - 1);
  run->not_cold = run->slots < run->wanted_slots ||
                  (run->llc_bytes && run->reuse_bytes < run->llc_bytes);
  if (run->not_cold && run->p.flags & KMB_BENCH_REQUIRE_CACHE)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "ROTATED is required: it needs %llu slots, %u can be had "
                     "(memory budget or caller's pointers), so that %llu bytes "
                     "lie between two uses",
                     (unsigned long long)run->wanted_slots,
                     (unsigned)run->slots,
                     (unsigned long long)run->reuse_bytes);
  return KMB_OK;
}

static kmb_status prepare_cache(kmbi_run *run) {
  run->slots = 1;
  run->wanted_slots = 1;
  run->sweep_bytes = 0;
  run->reuse_bytes = 0;
  run->not_cold = false;
  run->next_slot = 0;
  if (run->choice.cache == KMB_CACHE_COLD) return prepare_sweep(run);
  if (run->choice.cache == KMB_CACHE_ROTATED) return prepare_rotation(run);
  if (run->p.flags & KMB_BENCH_REQUIRE_CACHE && run->llc_bytes &&
      run->buffers.touched_bytes > run->llc_bytes)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "WARM is required: an iteration touches %llu bytes, more "
                     "than the last-level cache's %llu",
                     (unsigned long long)run->buffers.touched_bytes,
                     (unsigned long long)run->llc_bytes);
  return KMB_OK;
}

/* Memory. */

static kmb_status list_warm(kmbi_run *run) {
  const kmb_buffers *set = run->p.buffers;
  const kmbi_memory *memory = &run->device->memory;
  uint64_t count = 0;
  for (uint64_t i = 0; i < set->count; i++)
    count += set->descs[i].residency == KMB_RESIDENT_WARM &&
             set->places[i] != KMBI_ALIAS;
  if (!count) return KMB_OK;
  kmb_span *span = NULL;
  /* At most 2^32 buffers (kmb_buffers_create) in SLOTS_LIMIT slots. */
  run->warm = kmbi_alloc(memory, (size_t)(count * run->slots), sizeof *span);
  if (!run->warm)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for the list of warm buffers");
  run->warm_count = count;
  span = run->warm;
  for (uint32_t s = 0; s < run->slots; s++)
    for (uint64_t i = 0; i < set->count; i++)
      if (set->descs[i].residency == KMB_RESIDENT_WARM &&
          set->places[i] != KMBI_ALIAS)
        *span++ =
            (kmb_span){kmbi_buffers_at(set, s, i), set->descs[i].touched_bytes};
  return KMB_OK;
}

static void drop_warm(kmbi_run *run, uint32_t slots) {
  kmbi_free(&run->device->memory, run->warm,
            (size_t)slots * (size_t)run->warm_count, sizeof *run->warm);
  run->warm = NULL;
  run->warm_count = 0;
}

static kmb_status prepare_slots(kmbi_run *run) {
  uint64_t budget = 0;
  if (run->p.buffers) {
    kmb_status status = kmbi_device_room(run->device, &budget);
    if (!status)
      status = kmbi_buffers_prepare(run->p.buffers, run->slots, budget);
    if (!status) status = list_warm(run);
    if (status) return status;
  }
  for (; run->p.setup && run->slots_set_up < run->slots; run->slots_set_up++) {
    kmb_status status =
        run->p.setup(run->p.setup_user, run->slots_set_up, run->p.config);
    if (status) return status;
  }
  return KMB_OK;
}

/* Zeros run faster than data: say so wherever an input holds nothing else. */
static kmb_status all_zero(kmbi_run *run, uint64_t index, bool *zero) {
  const kmb_buffers *set = run->p.buffers;
  kmb_device *device = run->device;
  const char *from = kmbi_buffers_at(set, 0, index);
  uint64_t left = set->descs[index].bytes;
  unsigned char *copy = kmbi_alloc(&device->memory, SCAN_BYTES, 1);
  if (!copy) return kmbi_fail(KMB_ERR_NOMEM, "no memory to look at a buffer");
  kmb_status status = KMB_OK;
  *zero = true;
  while (left && *zero) {
    size_t part = left < SCAN_BYTES ? (size_t)left : SCAN_BYTES;
    status = device->ops->read(device->self, copy, from, part);
    if (status) break;
    for (size_t i = 0; i < part && *zero; i++)
      *zero = copy[i] == 0;
    from += part;
    left -= part;
  }
  kmbi_free(&device->memory, copy, SCAN_BYTES, 1);
  return status;
}

static kmb_status find_zeros(kmbi_run *run) {
  const kmb_buffers *set = run->p.buffers;
  for (uint64_t i = 0; set && i < set->count; i++) {
    const kmb_buffer_desc *d = &set->descs[i];
    bool input = d->role == KMB_INPUT || d->role == KMB_INOUT;
    if (!input || set->places[i] == KMBI_ALIAS) continue;
    bool zero = false;
    kmb_status status = all_zero(run, i, &zero);
    if (status) return status;
    if (zero)
      kmbi_result_find(run->result, KMB_FINDING_ZERO_DATA, KMB_WARNING, NULL, 0,
                       "input \"%s\" holds only zeros, which can run faster "
                       "than real data",
                       d->name);
  }
  return KMB_OK;
}

/* The step. */

static bool is_unknown(kmb_status status) {
  return status == KMB_ERR_UNAVAILABLE || status == KMB_ERR_UNSUPPORTED;
}

/* Unknown is an answer here: it leaves 0, and the last error as it was. */
static kmb_status read_attributes(kmbi_run *run) {
  kmb_device *device = run->device;
  kmbi_error_state before;
  kmbi_error_save(&before);
  kmb_status status = device->ops->attr_u64(device->self, KMB_DEVICE_LLC_BYTES,
                                            &run->llc_bytes);
  if (status && !is_unknown(status)) return status;
  if (status) run->llc_bytes = 0;
  status = device->ops->attr_f64(device->self, KMB_DEVICE_CLOCK_TICK_NS,
                                 &run->tick_ns);
  if (status && !is_unknown(status)) return status;
  if (status) run->tick_ns = 0;
  kmbi_error_restore(&before);
  return KMB_OK;
}

static kmb_status first_time(kmbi_run *run) {
  kmb_device *device = run->device;
  kmb_status status = read_attributes(run);
  if (!status && run->p.buffers) {
    run->buffers = kmb_buffers_info_init();
    status = kmb_buffers_get_info(run->p.buffers, &run->buffers);
  }
  if (!status) status = kmbi_choose(run);
  if (!status) status = kmbi_take_ceilings(run);
  if (!status)
    status =
        device->ops->stream_open(device->self, run->p.stream, &run->stream);
  if (!status) run->stream_open = true;
  return status ? status : kmbi_ranks_barrier(run);
}

kmb_status kmbi_prepare(kmbi_run *run, kmbi_stage *next) {
  bool first = !run->stream_open;
  kmb_status status = first ? first_time(run) : KMB_OK;
  if (status) return status;
  if (run->plan) {
    kmbi_plan_close(run, run->plan);
    run->plan = NULL;
  }
  drop_warm(run, run->slots);
  if (run->round > run->allocated_round) {
    run->allocated_round = run->round;
    run->slots_set_up = 0;
    if (run->p.buffers) kmbi_buffers_release(run->p.buffers);
  }
  run->choice = run->choices[run->choice_index];
  status = kmbi_ranks_cache(run, prepare_cache(run));
  if (status) return kmbi_next_choice(run, status, next);
  status = prepare_slots(run);
  if (!status && !run->scanned) status = find_zeros(run);
  run->scanned = true;
  if (status) return status;
  if (run->p.buffers)
    status = kmb_buffers_get_info(run->p.buffers, &run->buffers);
  *next = KMBI_CHECK;
  return status;
}
