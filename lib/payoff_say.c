/* A prediction in words. */
#include "format.h"
#include "payoff.h"

#include <math.h>

static const char *time_text(kmb_payoff *payoff, double ns) {
  char text[KMBI_TIME_SIZE];
  const char *copy =
      kmbi_arena_copy(&payoff->arena, kmbi_time_string(text, ns));
  return copy ? copy : "";
}

static const char *percent_text(kmb_payoff *payoff, double part, double whole) {
  char text[KMBI_PERCENT_SIZE];
  double percent = whole > 0 ? 100 * part / whole : 0;
  const char *copy = kmbi_arena_copy(
      &payoff->arena, kmbi_percent_string(text, fabs(percent), 2));
  return copy ? copy : "";
}

static void note(kmb_payoff *payoff, const char *text) {
  if (text) payoff->notes[payoff->note_count++] = text;
}

/* The verdict. */

/* What becomes of a gain that the step does not see. */
static const char *lost_to(const kmb_payoff_summary *s) {
  return fabs(s->host_ns) >= fabs(s->hidden_ns)
             ? "this step is host-bound"
             : "the kernel runs beside other work that takes longer";
}

static const char *predicted_verdict(kmb_payoff *payoff) {
  const kmb_payoff_summary *s = &payoff->summary;
  kmbi_arena *arena = &payoff->arena;
  /* A thousandth of a step is not worth a decision. */
  bool nothing = fabs(s->saving_ns) < 1e-3 * s->step_ns;
  bool lost = fabs(s->gain_ns) >= 1e-3 * s->step_ns;
  if (nothing && lost)
    return kmbi_arena_format(arena,
                             "about 0: %s; of the %s that its launches %s, the "
                             "step sees %s",
                             lost_to(s), time_text(payoff, fabs(s->gain_ns)),
                             s->gain_ns >= 0 ? "save" : "lose",
                             time_text(payoff, fabs(s->saving_ns)));
  if (nothing)
    return kmbi_arena_format(
        arena,
        "about 0: its launches are %s of the step, and "
        "change by %s in sum",
        percent_text(payoff, s->in_step_total_ns, s->step_ns),
        time_text(payoff, fabs(s->gain_ns)));
  bool crosses = s->saving_low_ns < 0 && s->saving_high_ns > 0;
  return kmbi_arena_format(
      arena, "the step gets %s %s (%s): %s instead of %s%s",
      time_text(payoff, fabs(s->saving_ns)),
      s->saving_ns > 0 ? "shorter" : "longer",
      percent_text(payoff, s->saving_ns, s->step_ns),
      time_text(payoff, s->predicted_ns), time_text(payoff, s->step_ns),
      crosses ? "; the interval of the ratio leaves open whether it does" : "");
}

/* Less than a picosecond is what rounding left. */
static double rounded(double ns) {
  return fabs(ns) < 1e-3 ? 0 : ns;
}

static const char *bounds_verdict(kmb_payoff *payoff) {
  const kmb_payoff_summary *s = &payoff->summary;
  double low = rounded(s->saving_low_ns), high = rounded(s->saving_high_ns);
  const char *step = time_text(payoff, s->step_ns);
  static const char why[] = "the trace does not say when the host launched "
                            "what";
  if (low < 0 && high > 0)
    return kmbi_arena_format(
        &payoff->arena, "between a loss of %s and a saving of %s in %s: %s",
        time_text(payoff, -low), time_text(payoff, high), step, why);
  bool loss = low < 0;
  return kmbi_arena_format(&payoff->arena, "between %s and %s of %s are %s: %s",
                           time_text(payoff, fabs(loss ? high : low)),
                           time_text(payoff, fabs(loss ? low : high)), step,
                           loss ? "lost" : "saved", why);
}

static const char *wanted_text(const kmb_payoff *payoff,
                               char text[KMBI_PAYOFF_SHAPE_SIZE]) {
  const kmbi_shape *w = &payoff->wanted;
  kmb_payoff_shape shape = kmb_payoff_shape_init();
  shape.grid_x = w->grid[0];
  shape.grid_y = w->grid[1];
  shape.grid_z = w->grid[2];
  shape.block_x = w->block[0];
  shape.block_y = w->block[1];
  shape.block_z = w->block[2];
  return kmbi_payoff_shape_text(text, &shape);
}

static const char *other_code_verdict(kmb_payoff *payoff) {
  char text[KMBI_PAYOFF_SHAPE_SIZE];
  unsigned long long others = payoff->meant;
  bool some = payoff->live_shapes > 0;
  return kmbi_arena_format(
      &payoff->arena,
      "unknown: the step ran other code than was measured, in %s%llu launch%s"
      "%s%s; measure the kernel that it runs",
      others == 1 ? "" : "all ", others, others == 1 ? "" : "es",
      some ? " with " : "", some ? wanted_text(payoff, text) : "");
}

static const char *mixed_verdict(kmb_payoff *payoff) {
  return kmbi_arena_format(
      &payoff->arena,
      "unknown: which of %llu launches ran the measured code the trace does "
      "not say: the step ran several codes under one name, grid and block; "
      "without its code all of them are scaled",
      (unsigned long long)payoff->meant);
}

static const char *verdict(kmb_payoff *payoff) {
  const kmb_payoff_summary *s = &payoff->summary;
  char text[KMBI_PAYOFF_SHAPE_SIZE];
  bool names =
      payoff->live_names > 1 && !(payoff->params.flags & KMB_PAYOFF_ALL_NAMES);
  if (names)
    return kmbi_arena_format(&payoff->arena,
                             "unknown: %llu kernels match; name one of them",
                             (unsigned long long)payoff->live_names);
  if (payoff->choice == KMBI_PAYOFF_OTHER_CODE)
    return other_code_verdict(payoff);
  if (payoff->choice == KMBI_PAYOFF_MIXED) return mixed_verdict(payoff);
  if (payoff->choice == KMBI_PAYOFF_AMBIGUOUS)
    return kmbi_arena_format(
        &payoff->arena,
        "unknown: launches of %llu shapes match, and the change does not say "
        "which was measured; choose one (--shape) or scale all of them "
        "(--all-shapes)",
        (unsigned long long)payoff->live_shapes);
  if (payoff->choice == KMBI_PAYOFF_NONE)
    return kmbi_arena_format(
        &payoff->arena,
        "unknown: none of %llu launches has %s, as was measured; choose "
        "another (--shape) or scale all of them (--all-shapes)",
        (unsigned long long)s->launches, wanted_text(payoff, text));
  if (s->flags & KMB_PAYOFF_PREDICTED) return predicted_verdict(payoff);
  return bounds_verdict(payoff);
}

/* Isolated against in the step. */

/* What the evidence allows to differ. */
static const char *why_it_differs(kmb_payoff *payoff) {
  const kmb_payoff_summary *s = &payoff->summary;
  const kmb_payoff_change *c = &payoff->change;
  bool slower = s->in_step_ns > c->isolated_ns;
  if (slower && s->overlapped_ns > 0.1 * s->in_step_total_ns)
    return "other operations run beside it, which a benchmark alone does not "
           "have";
  if (slower && c->flags & KMB_PAYOFF_IS_WARM)
    return "it was measured warm: measure it COLD or ROTATED; or shape or "
           "clock differ";
  if (!slower && c->flags & KMB_PAYOFF_IS_COLD)
    return "it was measured cold, and what it reads may just have been "
           "written: measure it WARM, or with those inputs warm; or shape or "
           "clock differ";
  return "shape, clock or state of the caches differ: the trace does not say "
         "which";
}

static void note_difference(kmb_payoff *payoff) {
  const kmb_payoff_summary *s = &payoff->summary;
  if (!(s->flags & KMB_PAYOFF_STEP_DIFFERS)) return;
  double ratio = s->in_step_ns / payoff->change.isolated_ns;
  note(payoff,
       kmbi_arena_format(&payoff->arena,
                         "in the step the kernel takes %.3g times what it took "
                         "alone, beyond both intervals: %s. The ratio may not "
                         "hold there.",
                         ratio, why_it_differs(payoff)));
}

/* Of what was not scaled: because it ran other code, or for its shape. */
static double time_of_others(const kmb_payoff *payoff, bool live) {
  double sum = 0;
  for (uint64_t i = 0; i < payoff->summary.shapes; i++) {
    const kmb_payoff_shape *shape = &payoff->shapes[i];
    if (!(shape->flags & KMB_PAYOFF_SCALED) &&
        kmbi_payoff_is_live(shape) == live)
      sum += (double)shape->total_ns;
  }
  return sum;
}

static void note_shapes(kmb_payoff *payoff) {
  const kmb_payoff_summary *s = &payoff->summary;
  unsigned long long others = s->other_launches;
  if (others)
    note(payoff,
         kmbi_arena_format(
             &payoff->arena,
             "%llu launch%s of %s that matches, %s in sum, %s of other "
             "grid or block and left as %s: --all-shapes "
             "scales all",
             others, others == 1 ? "" : "es",
             s->candidates == 1 ? "the name" : "a name",
             time_text(payoff, time_of_others(payoff, true)),
             others == 1 ? "is" : "are", others == 1 ? "it was" : "they were"));
  else if (!(s->flags & KMB_PAYOFF_SHAPES_KNOWN))
    note(payoff, "the trace does not say how kernels were launched: launches "
                 "of several shapes may be among these");
  else if (payoff->several && payoff->choice == KMBI_PAYOFF_ALL)
    note(payoff, "launches of several shapes are scaled alike; the ratio was "
                 "measured at one of them at most");
}

static const char *added_text(kmb_payoff *payoff, const kmb_trace *trace) {
  const char *text =
      payoff->params.added_ns > 0
          ? kmbi_arena_format(&payoff->arena,
                              "%.15g ns to each call of the host",
                              payoff->params.added_ns)
          : kmbi_arena_format(
                &payoff->arena,
                "%llu ns to each call of the driver and %llu ns to each of the "
                "runtime",
                (unsigned long long)trace->driver_added,
                (unsigned long long)trace->runtime_added);
  return text ? text : "";
}

/* All of its devices. */
static bool is_named(const kmb_trace *trace) {
  for (uint32_t i = 0; i < trace->devices.count; i++) {
    const kmbi_trace_device *device = kmbi_rows_at(&trace->devices, i);
    if (!kmbi_name_at(trace, device->name)->size) return false;
  }
  return true;
}

static void note_limits(kmb_payoff *payoff) {
  kmb_payoff_summary *s = &payoff->summary;
  const kmb_trace *trace = payoff->select.trace;
  if (trace->lanes.count > 1 && !s->waits) s->flags |= KMB_PAYOFF_STREAMS_APART;
  if (trace->dropped) s->flags |= KMB_PAYOFF_RECORDS_DROPPED;
  if (s->flags & KMB_PAYOFF_OTHER_DEVICE)
    note(payoff, kmbi_arena_format(&payoff->arena,
                                   "the change was measured on %s, the step "
                                   "on another device: the ratio is assumed "
                                   "to hold there",
                                   payoff->change.device));
  else if (payoff->change.device && !is_named(trace))
    note(payoff, "the trace does not name its device: that the change was "
                 "measured on the same one is not known");
  if (!(s->flags & KMB_PAYOFF_PREDICTED))
    note(payoff, "without calls of the host it is unknown which gaps are its "
                 "own: load the SQLite export of nsys, a torch profiler's "
                 "trace or a recording");
  if (s->step_ns < s->recorded_ns)
    note(payoff,
         kmbi_arena_format(
             &payoff->arena,
             "recorded it took %s: recording adds %s, which is taken off",
             time_text(payoff, s->recorded_ns), added_text(payoff, trace)));
  else if (payoff->params.added_ns > 0)
    note(payoff, trace->calls.count
                     ? "of what recording added nothing is taken off: no call "
                       "of the host held up the step"
                     : "of what recording added nothing is taken off: the "
                       "trace has no calls of the host");
  if (payoff->short_calls)
    note(payoff,
         kmbi_arena_format(
             &payoff->arena,
             "%llu of %llu calls of the host took less than what recording "
             "added to them: in the replay the rest comes off the host's time "
             "behind them, as far as there is any",
             (unsigned long long)payoff->short_calls,
             (unsigned long long)payoff->calls));
  if (!(s->flags & KMB_PAYOFF_HAS_RATIO_INTERVAL))
    note(payoff, "the ratio came without an interval: the prediction has none "
                 "of its own");
  if (s->flags & KMB_PAYOFF_STREAMS_APART)
    note(payoff, "there are several streams, and the trace shows no wait of "
                 "one for another: they are taken to be independent");
  if (s->flags & KMB_PAYOFF_RECORDS_DROPPED)
    note(payoff, "the recording lost records: operations may be missing");
}

/* What of the step's code could not be told. */
static void note_unknown_code(kmb_payoff *payoff) {
  const kmb_payoff_summary *s = &payoff->summary;
  unsigned long long unknown = s->unknown_launches;
  if (!payoff->has_old_code)
    note(payoff,
         "the step's code is given, that of the measured kernel is not: hand "
         "its capture (kmb_code_capture()) to the measurement "
         "(kmb_bench_params::code); until then name, grid and block alone tell "
         "which launches are meant");
  else if (unknown)
    note(payoff, kmbi_arena_format(
                     &payoff->arena,
                     "of %llu of the %llu launches that are scaled it is not "
                     "known which code they ran: name, grid and block alone "
                     "tell that they are meant",
                     unknown, (unsigned long long)s->launches));
  if (payoff->unseen)
    note(payoff,
         kmbi_arena_format(
             &payoff->arena,
             "the capture of the step did not see %llu launches (graphs made "
             "before, other contexts, what a result left out): they may have "
             "run other code",
             (unsigned long long)payoff->unseen));
}

static void note_code(kmb_payoff *payoff) {
  const kmb_payoff_summary *s = &payoff->summary;
  unsigned long long others = s->other_code_launches;
  if (s->flags & KMB_PAYOFF_SAME_CODE)
    note(payoff, "the old and the new result list the same code: the "
                 "comparison compares the same code");
  if (!payoff->has_code) return;
  note_unknown_code(payoff);
  if (others && s->flags & KMB_PAYOFF_MATCHED)
    note(payoff,
         kmbi_arena_format(
             &payoff->arena,
             "%llu launch%s that match%s by name, %s in sum, ran other code "
             "than was measured: left as %s",
             others, others == 1 ? "" : "es", others == 1 ? "es" : "",
             time_text(payoff, time_of_others(payoff, false)),
             others == 1 ? "it was" : "they were"));
}

void kmbi_payoff_say(kmb_payoff *payoff) {
  const char *text = verdict(payoff);
  payoff->summary.verdict = text ? text : "";
  if (payoff->summary.flags & KMB_PAYOFF_MATCHED) {
    note_difference(payoff);
    note_limits(payoff);
    note_shapes(payoff);
  }
  note_code(payoff);
}
