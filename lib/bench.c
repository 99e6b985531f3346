/* The engine: an explicit state machine over the backend's table. Each step
 * names the next; whatever step fails, kmbi_run_release() gives back all that
 * was taken. */
#include "error.h"
#include "metadata.h"
#include "run.h"

typedef struct step {
  kmb_status (*run)(kmbi_run *run, kmbi_stage *next);
  const char *name; /* as kmb_progress::stage */
} step;

static const step steps[] = {
    [KMBI_PREPARE] = {kmbi_prepare, "prepare"},
    [KMBI_CHECK] = {kmbi_check, "check"},
    [KMBI_WARM_UP] = {kmbi_warm_up, "warm up"},
    [KMBI_CALIBRATE] = {kmbi_calibrate, "calibrate"},
    [KMBI_MEASURE] = {kmbi_measure, "measure"},
    [KMBI_RECHECK] = {kmbi_recheck, "check"},
    [KMBI_CONFIRM] = {kmbi_confirm, "confirm"},
    [KMBI_SUMMARISE] = {kmbi_summarise_run, "summarise"},
};

/* While samples are taken, cancelling keeps what there is; anywhere else there
 * is nothing to keep. */
static kmb_status cancelled_before(const kmbi_run *run, kmbi_stage stage) {
  if (stage >= KMBI_RECHECK || !kmbi_stopped(run)) return KMB_OK;
  return kmbi_fail(KMB_ERR_CANCELLED,
                   "cancelled before the step \"%s\"; no sample was taken",
                   steps[stage].name);
}

kmb_status kmbi_run_steps(kmbi_run *run, kmbi_stage from, kmbi_stage until) {
  kmbi_stage stage = from;
  while (stage != until) {
    kmbi_stage next = KMBI_DONE;
    run->stage_name = steps[stage].name;
    kmbi_ranks_begin(run, stage);
    kmbi_progress(run, 0, 0);
    kmb_status status = cancelled_before(run, stage);
    if (!status) status = steps[stage].run(run, &next);
    status = kmbi_ranks_step(run, status);
    if (status) return status;
    stage = next;
  }
  return KMB_OK;
}

static kmb_status take_memory(kmbi_run *run) {
  const kmbi_memory *memory = &run->device->memory;
  run->overhead_ns = -1;
  run->check_error = -1;
  run->block = kmbi_alloc(memory, KMBI_BLOCK, sizeof *run->block);
  run->rounds = kmbi_alloc(memory, run->p.rounds, sizeof *run->rounds);
  if (!run->block || !run->rounds)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for a measurement");
  return kmbi_result_create(memory, &run->result);
}

kmb_status kmbi_run_begin(kmbi_run *run, kmb_device *device,
                          const kmb_bench_params *params) {
  *run = (kmbi_run){.device = device};
  run->entered_ns = kmbi_now(device);
  kmb_status status = kmbi_bench_params(params, true, run);
  if (status) return status;
  if (run->p.graphs) {
    run->p.launch = kmbi_launch_graph;
    run->p.launch_user = run;
  }
  return take_memory(run);
}

kmb_status kmbi_bench(kmb_device *device, const kmb_bench_params *params,
                      kmb_result **out) {
  kmbi_run run;
  kmbi_error_state before;
  kmbi_error_save(&before);
  kmb_status status = kmbi_run_begin(&run, device, params);
  /* Parameters that were not even taken over. */
  if (status && !run.p.comm) kmbi_ranks_refuse(params, status);
  status = kmbi_ranks_enter(&run, status);
  if (!status) status = kmbi_run_steps(&run, KMBI_PREPARE, KMBI_DONE);
  if (!status) status = kmbi_result_finish(&run.result);
  status = kmbi_ranks_leave(&run, status);
  if (!status) {
    *out = run.result;
    run.result = NULL;
  }
  kmbi_callback_failed(status, &before);
  kmbi_device_note(device, status);
  kmbi_run_release(&run);
  return status;
}

kmb_status kmb_bench(kmb_device *device, const kmb_bench_params *params,
                     kmb_result **out) {
  kmb_status status = KMB_OK;
  if (!out) {
    status = kmbi_fail(KMB_ERR_INVALID, "kmb_bench: result is NULL");
    kmbi_ranks_refuse(params, status);
    return status;
  }
  *out = NULL;
  status = kmbi_device_enter(device, "kmb_bench");
  if (status) {
    kmbi_ranks_refuse(params, status);
    return status;
  }
  /* Success leaves the last error alone, whatever was tried on the way. */
  kmbi_error_state before;
  kmbi_error_save(&before);
  status = kmbi_bench(device, params, out);
  if (!status) kmbi_error_restore(&before);
  kmbi_device_leave(device);
  return status;
}

void kmbi_run_release(kmbi_run *run) {
  kmb_device *device = run->device;
  const kmbi_memory *memory = &device->memory;
  if (run->plan) kmbi_plan_close(run, run->plan);
  kmbi_ranks_barrier_close(run);
  if (run->stream_open) device->ops->stream_close(device->self, run->stream);
  kmbi_free(memory, run->warm, (size_t)run->slots * (size_t)run->warm_count,
            sizeof *run->warm);
  for (uint32_t r = 0; run->rounds && r < run->p.rounds; r++) {
    kmbi_free(memory, run->rounds[r].samples, run->rounds[r].count,
              sizeof(double));
    kmbi_op_rows_release(memory, &run->rounds[r].rows);
    kmbi_free(memory, run->rounds[r].ranks, run->ranks.size,
              sizeof *run->rounds[r].ranks);
  }
  kmbi_ops_release(&run->ops);
  kmbi_ranks_release(run);
  kmbi_free(memory, run->rounds, run->p.rounds, sizeof *run->rounds);
  kmbi_free(memory, run->block, KMBI_BLOCK, sizeof *run->block);
  kmbi_free(memory, run->scratch, 2 * run->scratch_size, sizeof(double));
  kmbi_free(memory, run->samples, KMBI_COLUMNS * run->sample_capacity,
            sizeof(double));
  kmb_result_destroy(run->result);
}

/* Services that several steps use. */

void kmbi_progress(kmbi_run *run, uint64_t samples, double median_ns) {
  const kmb_hooks *hooks = &run->device->hooks;
  if (!hooks->progress) return;
  kmb_progress progress = {
      .struct_size = sizeof progress,
      .name = run->p.name,
      .stage = run->stage_name,
      .samples = samples,
      .elapsed_ns = kmbi_clock(run) - run->entered_ns,
      .limit_ns = run->p.max_wall_ns,
      .median_ns = median_ns,
      .round = run->round,
      .rounds = run->p.rounds,
  };
  hooks->progress(hooks->progress_user, &progress);
}

bool kmbi_grow_scratch(kmbi_run *run, size_t samples) {
  if (samples <= run->scratch_size) return true;
  const kmbi_memory *memory = &run->device->memory;
  size_t size = samples + samples / 2 + 64;
  double *fresh = kmbi_alloc(memory, size, 2 * sizeof *fresh);
  if (!fresh) return false;
  kmbi_free(memory, run->scratch, 2 * run->scratch_size, sizeof *fresh);
  run->scratch = fresh;
  run->scratch_size = size;
  return true;
}

void kmbi_plan_describe(kmbi_run *run, kmb_launch_fn launch,
                        kmb_plan_desc *desc) {
  kmb_buffers *buffers = run->p.buffers;
  *desc = (kmb_plan_desc){
      .struct_size = sizeof *desc,
      .launch = launch,
      .launch_user = run->p.launch_user,
      .reset = launch == run->p.launch ? run->p.reset : NULL,
      .reset_user = run->p.reset_user,
      .stream = run->stream,
      .args = buffers ? (void *const *)buffers->args : NULL,
      .arg_count = buffers ? buffers->count : 0,
      .warm = run->warm,
      .warm_count = run->warm_count,
      .graphs = launch == kmbi_launch_graph ? run->p.graphs : NULL,
      .slots = run->slots,
      .config = run->p.config,
      .first_slot = run->next_slot,
  };
}

kmb_status kmbi_plan_open(kmbi_run *run, const kmb_choice *choice,
                          uint64_t batch, kmb_launch_fn launch, void **plan) {
  kmb_device *device = run->device;
  kmb_plan_desc desc;
  kmbi_plan_describe(run, launch, &desc);
  desc.batch = batch;
  desc.choice = *choice;
  desc.align = run->ranks.comm ? &run->ranks.align : NULL;
  kmb_status own = device->ops->plan_create(device->self, &desc, plan);
  kmb_status status = kmbi_ranks_agree(run, KMBI_SAY_PLAN, own);
  if (status && !own) kmbi_plan_close(run, *plan);
  if (status) *plan = NULL;
  return status;
}

kmb_status kmbi_plan_take(kmbi_run *run, void *plan, uint64_t batch,
                          uint64_t count, double until_ns, uint64_t *got) {
  kmb_device *device = run->device;
  *got = 0;
  if (count > KMBI_BLOCK) count = KMBI_BLOCK;
  kmb_status status =
      run->ranks.comm ? kmbi_ranks_take(run, plan, batch, count, until_ns, got)
                      : device->ops->plan_run(device->self, plan, count,
                                              until_ns, run->block, got);
  /* The ring goes on where it stopped, whichever plan comes next. */
  uint64_t moved = *got % run->slots * (batch % run->slots);
  run->next_slot = (uint32_t)((run->next_slot + moved) % run->slots);
  if (status == KMB_OK && *got > count)
    return kmbi_fail(KMB_ERR_INTERNAL,
                     "backend %s gave more samples than asked",
                     device->ops->name);
  return status;
}

/* With fewer operations than a launch has, a trace says too little. */
bool kmbi_sample_ns(const kmbi_run *run, const kmb_sample *sample,
                    kmb_timer timer, uint64_t batch, double *ns) {
  *ns = sample->span_ns / (double)batch;
  if (sample->flags & (KMB_SAMPLE_INVALID | KMB_SAMPLE_SPOILED)) return false;
  return timer != KMB_TIMER_TRACE || sample->ops >= run->device_ops * batch;
}

kmb_status kmbi_launch_graph(void *user, const kmb_launch *launch) {
  const kmbi_run *run = user;
  kmb_device *device = run->device;
  return device->ops->graph_launch(device->self, run->p.graphs[launch->slot],
                                   launch->stream);
}

void kmbi_plan_close(kmbi_run *run, void *plan) {
  run->device->ops->plan_destroy(run->device->self, plan);
}

/* Nothing is ever subtracted from the host's clock. */
kmb_status kmbi_bias(kmbi_run *run, const kmb_choice *choice, uint64_t batch,
                     double *ns, double *uncertainty) {
  kmb_device *device = run->device;
  *ns = *uncertainty = 0;
  if (choice->timer == KMB_TIMER_HOST) return KMB_OK;
  if (!KMBI_HAS(device->ops, bias))
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "backend %s has no reference for its timers",
                     device->ops->name);
  kmb_status status =
      device->ops->bias(device->self, choice, batch, ns, uncertainty);
  return kmbi_ranks_bias(run, status, ns, uncertainty);
}
