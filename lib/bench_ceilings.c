/* The ceilings that a measurement is judged by, chosen before it begins:
 * those of the datasheet, or where the device has none (a host, a slice, a part
 * that no table knows), measured ones. The two are never mixed. */
#include "error.h"
#include "peaks.h"
#include "run.h"
#include "structs.h"

#include <stdio.h>

/* One of the two ceilings that work can need. */
typedef struct wanted {
  kmb_ceiling *ceiling;
  bool *has;
  bool needed; /* and not given by the caller */
  kmb_ceiling_kind measured, published;
  const char *name; /* for messages */
  char why[256];    /* there is none */
} wanted;

/* By the share of writes: a sum reads only, a triad writes a third of its
 * bytes, a copy half. The borders lie halfway between. */
static kmb_ceiling_kind memory_kind(const kmb_work *work) {
  double bytes = (double)work->read_bytes + (double)work->write_bytes;
  double writes = (double)work->write_bytes / bytes;
  if (writes < 1.0 / 6) return KMB_CEILING_READ;
  return writes < 5.0 / 12 ? KMB_CEILING_TRIAD : KMB_CEILING_COPY;
}

static kmb_ceiling_kind compute_kind(const kmb_work *work) {
  return work->dtype == KMB_F32 || work->dtype == KMB_F64 ? KMB_CEILING_FMA
                                                          : KMB_CEILING_MATRIX;
}

static bool is_absent(kmb_status status) {
  return status == KMB_ERR_UNSUPPORTED || status == KMB_ERR_UNAVAILABLE ||
         status == KMB_ERR_NOMEM;
}

static void note_why(char *why, size_t size) {
  snprintf(why, size, "%s", kmb_last_error(NULL, NULL));
}

/* The device's part, for its figures; unknown is no failure. */
static void find_part(kmbi_run *run) {
  kmbi_error_state before;
  kmbi_error_save(&before);
  if (kmbi_peaks_of_device(run->p.peaks, run->device, &run->part)) {
    run->part = NULL;
    note_why(run->no_part, sizeof run->no_part);
  }
  kmbi_error_restore(&before);
}

static kmb_status take_callers(const kmb_ceiling *callers, wanted *w) {
  if (!callers) return KMB_OK;
  kmb_status status = kmbi_copy_in(w->ceiling, sizeof *w->ceiling,
                                   KMBI_CEILING_V1, callers, "kmb_ceiling");
  *w->has = !status;
  w->needed = false;
  return status;
}

/* Absent ceilings are no failure: the roofline then says what is unknown. */
static kmb_status measure(kmbi_run *run, wanted *w) {
  if (!w->needed) return KMB_OK;
  kmbi_error_state before;
  kmbi_error_save(&before);
  *w->ceiling = kmb_ceiling_init();
  kmb_status status = kmbi_device_ceiling(
      run->device, w->measured, run->work.dtype, run->p.threads, w->ceiling);
  *w->has = !status;
  if (!is_absent(status)) return status;
  note_why(w->why, sizeof w->why);
  kmbi_error_restore(&before);
  return KMB_OK;
}

static bool publish(kmbi_run *run, wanted *w, kmb_ceiling *ceiling) {
  if (!w->needed) return true;
  kmbi_error_state before;
  kmbi_error_save(&before);
  *ceiling = kmb_ceiling_init();
  kmb_status status =
      kmb_part_ceiling(run->part, w->published, run->work.dtype, 0, ceiling);
  if (status) note_why(w->why, sizeof w->why);
  kmbi_error_restore(&before);
  return !status;
}

/* True if nothing that is needed is unknown then. */
static bool take_published(kmbi_run *run, wanted *memory, wanted *compute) {
  kmb_ceiling m, c;
  if (!run->part) return false;
  bool has_m = publish(run, memory, &m);
  bool has_c = publish(run, compute, &c);
  if (memory->needed) *memory->has = has_m;
  if (compute->needed) *compute->has = has_c;
  if (memory->needed && has_m) *memory->ceiling = m;
  if (compute->needed && has_c) *compute->ceiling = c;
  return has_m && has_c;
}

/* Measures both, and keeps what was published if that does not help. */
static kmb_status take_measured(kmbi_run *run, wanted *memory,
                                wanted *compute) {
  kmb_ceiling m = run->memory, c = run->compute;
  bool had_m = run->has_memory, had_c = run->has_compute;
  kmb_status status = measure(run, memory);
  if (!status) status = measure(run, compute);
  bool all =
      run->has_memory >= memory->needed && run->has_compute >= compute->needed;
  if (status || all || !(had_m || had_c)) return status;
  run->memory = m;
  run->compute = c;
  run->has_memory = had_m;
  run->has_compute = had_c;
  return KMB_OK;
}

static void raise_unknown(kmbi_run *run, const wanted *w) {
  if (!w->needed || *w->has) return;
  kmbi_result_find(run->result, KMB_FINDING_UNKNOWN_PEAK, KMB_NOTE, NULL, 0,
                   "no %s ceiling: %s%s%s", w->name, w->why,
                   run->no_part[0] ? "; " : "", run->no_part);
}

/* What others reached with such work, if it is known. */
static void take_reference(kmbi_run *run) {
  kmbi_error_state before;
  if (!run->part) return;
  kmbi_error_save(&before);
  run->reference = kmb_reference_init();
  run->has_reference = !kmb_part_reference_for(run->part, &run->work,
                                               run->predicted, &run->reference);
  kmbi_error_restore(&before);
}

/* Said before anything is measured, so that the measurement can disagree. */
static kmb_status predict(kmbi_run *run) {
  kmb_roofline_params params = kmb_roofline_params_init();
  kmb_roofline roofline = kmb_roofline_init();
  params.work = &run->work;
  params.memory = run->has_memory ? &run->memory : NULL;
  params.compute = run->has_compute ? &run->compute : NULL;
  kmb_status status = kmb_roofline_evaluate(&params, &roofline);
  if (status) return status;
  run->predicted = roofline.predicted;
  take_reference(run);
  kmbi_set_prediction(run, &roofline);
  return KMB_OK;
}

kmb_status kmbi_take_ceilings(kmbi_run *run) {
  if (!run->has_work) return KMB_OK;
  const kmb_work *work = &run->work;
  bool bytes = work->read_bytes || work->write_bytes;
  bool warm = run->choices[0].cache == KMB_CACHE_WARM && run->p.buffers &&
              run->llc_bytes && run->buffers.touched_bytes <= run->llc_bytes;
  wanted memory = {.ceiling = &run->memory,
                   .has = &run->has_memory,
                   .needed = bytes && !warm,
                   .measured = memory_kind(work),
                   .published = KMB_CEILING_MEMORY,
                   .name = kmbi_ceiling_name(memory_kind(work))};
  wanted compute = {.ceiling = &run->compute,
                    .has = &run->has_compute,
                    .needed = work->flops != 0,
                    .measured = compute_kind(work),
                    .name = kmbi_ceiling_name(compute_kind(work))};
  kmb_status status =
      take_callers(bytes ? run->p.memory_ceiling : NULL, &memory);
  if (!status)
    status =
        take_callers(work->flops ? run->p.compute_ceiling : NULL, &compute);
  if (status) return status;
  if (warm && !run->p.memory_ceiling)
    kmbi_result_find(run->result, KMB_FINDING_UNKNOWN_PEAK, KMB_NOTE, NULL, 0,
                     "the data are warm: the ceiling of memory does not apply, "
                     "and none of the caches' is measured");
  if (run->p.flags & KMB_BENCH_NO_CEILINGS) return predict(run);
  find_part(run);
  if (!take_published(run, &memory, &compute)) {
    status = take_measured(run, &memory, &compute);
    if (status) return status;
  }
  raise_unknown(run, &memory);
  raise_unknown(run, &compute);
  return predict(run);
}
