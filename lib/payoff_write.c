/* A prediction for a person, a pull request and a program. */
#include "error.h"
#include "format.h"
#include "out.h"
#include "payoff.h"
#include "utf8.h"

#include <math.h>

/* Text. */

enum { LISTED = 10, LABEL = 26 };

static void put_label(kmbi_text *to, const char *label) {
  kmbi_text_format(to, "  %-*s", (int)LABEL, label);
}

static void put_between(kmbi_text *to, double low, double high) {
  kmbi_text_put(to, " [");
  kmbi_put_time(to, low);
  kmbi_text_put(to, ", ");
  kmbi_put_time(to, high);
  kmbi_text_put(to, "]");
}

/* A rest of rounding is none. */
static void put_signed(kmbi_text *to, double ns) {
  if (fabs(ns) < 0.5) {
    kmbi_text_put(to, "0 ns");
    return;
  }
  kmbi_text_put(to, ns < 0 ? "-" : "");
  kmbi_put_time(to, fabs(ns));
}

static void put_candidates(kmbi_text *to, const kmb_payoff *payoff) {
  const kmb_payoff_summary *s = &payoff->summary;
  for (uint64_t i = 0; i < s->candidates && i < LISTED; i++) {
    const kmb_payoff_candidate *c = &payoff->candidates[i];
    kmbi_text_format(to, "  %llu launch%s, ", (unsigned long long)c->launches,
                     c->launches == 1 ? "" : "es");
    kmbi_put_time(to, (double)c->total_ns);
    kmbi_text_put(to, "  ");
    kmbi_put_clean(to, c->name);
    kmbi_text_put(to, "\n");
  }
  if (s->candidates > LISTED)
    kmbi_text_format(to, "  and %llu more\n",
                     (unsigned long long)(s->candidates - LISTED));
}

/* Where there are several, or none is the wanted one. */
static void put_shapes(kmbi_text *to, const kmb_payoff *payoff) {
  const kmb_payoff_summary *s = &payoff->summary;
  char text[KMBI_PAYOFF_SHAPE_SIZE];
  double sum = 0;
  bool matched = s->flags & KMB_PAYOFF_MATCHED;
  if (!payoff->several && payoff->choice != KMBI_PAYOFF_NONE &&
      !s->other_launches && !s->other_code_launches &&
      !(payoff->has_code && !matched))
    return;
  for (uint64_t i = 0; i < s->shapes; i++)
    sum += (double)payoff->shapes[i].total_ns;
  for (uint64_t i = 0; i < s->shapes && i < LISTED; i++) {
    const kmb_payoff_shape *shape = &payoff->shapes[i];
    bool scaled = shape->flags & KMB_PAYOFF_SCALED;
    kmbi_text_format(to, "    %llu launch%s, ",
                     (unsigned long long)shape->launches,
                     shape->launches == 1 ? "" : "es");
    kmbi_put_time(to, (double)shape->total_ns);
    kmbi_text_put(to, ", ");
    kmbi_put_percent(to, 100 * (double)shape->total_ns / sum, 1);
    kmbi_text_format(to, "  %s%s", kmbi_payoff_shape_text(text, shape),
                     !matched ? ""
                     : scaled ? ", scaled"
                              : ", left as they were");
    if (payoff->has_code) kmbi_payoff_put_code(to, shape);
    if (s->candidates > 1) {
      kmbi_text_put(to, "  ");
      kmbi_put_clean(to, shape->name);
    }
    kmbi_text_put(to, "\n");
  }
  if (s->shapes > LISTED)
    kmbi_text_format(to, "    and %llu more shapes\n",
                     (unsigned long long)(s->shapes - LISTED));
}

static void put_launched(kmbi_text *to, const kmb_payoff *payoff) {
  kmb_payoff_shape shape;
  char text[KMBI_PAYOFF_SHAPE_SIZE];
  if (!kmbi_payoff_shape(payoff, &shape)) return;
  put_label(to, "launched with");
  kmbi_text_format(to, "%s\n", kmbi_payoff_shape_text(text, &shape));
}

static void put_code(kmbi_text *to, const kmb_payoff *payoff) {
  const kmb_payoff_summary *s = &payoff->summary;
  char text[KMBI_PAYOFF_CODE_SIZE];
  if (!payoff->has_code) return;
  put_label(to, "code");
  if (!s->code_launches) {
    kmbi_text_put(to, "unknown\n");
    return;
  }
  const char *code = kmbi_payoff_code(payoff);
  if (code) kmbi_text_format(to, "%s, ", kmbi_payoff_code_text(text, code));
  kmbi_text_format(to, "as measured in %llu of %llu launch%s\n",
                   (unsigned long long)s->code_launches,
                   (unsigned long long)s->launches,
                   s->launches == 1 ? "" : "es");
}

static void put_kernel(kmbi_text *to, const kmb_payoff *payoff) {
  const kmb_payoff_summary *s = &payoff->summary;
  const kmb_payoff_change *c = &payoff->change;
  put_launched(to, payoff);
  put_code(to, payoff);
  put_label(to, "in the step");
  kmbi_put_time(to, s->in_step_ns);
  if (s->flags & KMB_PAYOFF_HAS_STEP_INTERVAL)
    put_between(to, s->in_step_low_ns, s->in_step_high_ns);
  kmbi_text_put(to, " a launch, ");
  kmbi_put_percent(to, 100 * s->in_step_total_ns / s->step_ns, 1);
  kmbi_text_put(to, " of the step in sum\n");
  if (c->flags & KMB_PAYOFF_HAS_ISOLATED) {
    put_label(to, "alone");
    kmbi_put_time(to, c->isolated_ns);
    if (c->flags & KMB_PAYOFF_HAS_ISOLATED_INTERVAL)
      put_between(to, c->isolated_low_ns, c->isolated_high_ns);
    kmbi_text_put(to, "\n");
  }
  put_label(to, "new over old");
  kmbi_put_sig(to, c->ratio);
  if (s->flags & KMB_PAYOFF_HAS_RATIO_INTERVAL) {
    kmbi_text_put(to, " [");
    kmbi_put_sig(to, c->low);
    kmbi_text_put(to, ", ");
    kmbi_put_sig(to, c->high);
    kmbi_text_put(to, "]");
  }
  kmbi_text_put(to, "\n");
}

static void put_split(kmbi_text *to, const kmb_payoff_summary *s) {
  put_label(to, "its launches save");
  put_signed(to, s->gain_ns);
  kmbi_text_put(to, "\n");
  put_label(to, "  behind other work");
  put_signed(to, s->hidden_ns);
  kmbi_text_put(to, "\n");
  if (!(s->flags & KMB_PAYOFF_PREDICTED)) return;
  put_label(to, "  taken by the host");
  put_signed(to, s->host_ns);
  kmbi_text_put(to, "\n");
  put_label(to, "  left for the step");
  put_signed(to, s->saving_ns);
  kmbi_text_put(to, "\n");
}

static void put_step(kmbi_text *to, const kmb_payoff *payoff) {
  const kmb_payoff_summary *s = &payoff->summary;
  put_label(to, s->steps == 1 ? "step now" : "steps now, in sum");
  kmbi_put_time(to, s->step_ns);
  kmbi_text_put(to, "\n");
  put_label(to, "predicted");
  if (s->flags & KMB_PAYOFF_PREDICTED) {
    kmbi_put_time(to, s->predicted_ns);
    if (s->flags & KMB_PAYOFF_HAS_RATIO_INTERVAL)
      put_between(to, s->predicted_low_ns, s->predicted_high_ns);
  } else {
    kmbi_text_put(to, "between ");
    kmbi_put_time(to, s->predicted_low_ns);
    kmbi_text_put(to, " and ");
    kmbi_put_time(to, s->predicted_high_ns);
  }
  kmbi_text_put(to, "\n");
  put_split(to, s);
  put_label(to, "without the host's gaps");
  kmbi_put_time(to, s->graph_ns);
  kmbi_text_put(to, " with the old kernel, ");
  kmbi_put_time(to, s->graph_after_ns);
  kmbi_text_put(to, " with the new one\n");
}

static void put_sentence(kmbi_text *to, const char *mark, const char *text) {
  kmbi_text_put(to, mark);
  kmbi_put_wrapped(to, text, kmbi_utf8_width(mark), kmbi_utf8_width(mark));
  kmbi_text_put(to, "\n");
}

static void build_text(kmbi_text *to, const void *subject) {
  const kmb_payoff *payoff = subject;
  put_sentence(to, "", payoff->summary.verdict);
  kmbi_text_put(to, "\n");
  put_candidates(to, payoff);
  put_shapes(to, payoff);
  if (payoff->summary.flags & KMB_PAYOFF_MATCHED) {
    put_kernel(to, payoff);
    put_step(to, payoff);
  }
  for (uint64_t i = 0; i < payoff->note_count; i++)
    put_sentence(to, i ? "- " : "\n- ", payoff->notes[i]);
}

static kmb_status check(const kmb_payoff *payoff, kmb_write_fn write,
                        const char *what) {
  if (payoff && write) return KMB_OK;
  return kmbi_fail(KMB_ERR_INVALID, "%s: %s is NULL", what,
                   !payoff ? "payoff" : "write");
}

kmb_status kmb_payoff_write_text(const kmb_payoff *payoff, kmb_write_fn write,
                                 void *user) {
  kmb_status status = check(payoff, write, "kmb_payoff_write_text");
  if (status) return status;
  return kmbi_write_plain(&payoff->memory, build_text, payoff, write, user);
}

/* JSON. */

static void put_f64(kmbi_out *out, const char *name, double value) {
  kmbi_out_f64_member(out, ",\n ", name, value);
}

static void put_u64(kmbi_out *out, const char *name, uint64_t value) {
  kmbi_out_u64_member(out, ",\n ", name, value);
}

static void put_string(kmbi_out *out, const char *name, const char *text) {
  kmbi_out_text_member(out, ",\n ", name, text);
}

static void put_change(kmbi_out *out, const kmb_payoff *payoff) {
  const kmb_payoff_change *c = &payoff->change;
  put_string(out, "name", c->name);
  if (c->device) put_string(out, "device", c->device);
  put_f64(out, "ratio", c->ratio);
  if (c->high > 0) {
    put_f64(out, "ratio_low", c->low);
    put_f64(out, "ratio_high", c->high);
  }
  if (c->flags & KMB_PAYOFF_HAS_ISOLATED)
    put_f64(out, "isolated_ns", c->isolated_ns);
  if (c->flags & KMB_PAYOFF_HAS_ISOLATED_INTERVAL) {
    put_f64(out, "isolated_low_ns", c->isolated_low_ns);
    put_f64(out, "isolated_high_ns", c->isolated_high_ns);
  }
}

static void put_figures(kmbi_out *out, const kmb_payoff_summary *s) {
  bool predicted = s->flags & KMB_PAYOFF_PREDICTED;
  put_u64(out, "launches", s->launches);
  put_u64(out, "other_launches", s->other_launches);
  put_u64(out, "steps", s->steps);
  put_u64(out, "waits", s->waits);
  put_f64(out, "in_step_ns", s->in_step_ns);
  if (s->flags & KMB_PAYOFF_HAS_STEP_INTERVAL) {
    put_f64(out, "in_step_low_ns", s->in_step_low_ns);
    put_f64(out, "in_step_high_ns", s->in_step_high_ns);
  }
  put_f64(out, "in_step_total_ns", s->in_step_total_ns);
  put_f64(out, "overlapped_ns", s->overlapped_ns);
  put_f64(out, "step_ns", s->step_ns);
  put_f64(out, "recorded_ns", s->recorded_ns);
  if (predicted) put_f64(out, "predicted_ns", s->predicted_ns);
  put_f64(out, "predicted_low_ns", s->predicted_low_ns);
  put_f64(out, "predicted_high_ns", s->predicted_high_ns);
  if (predicted) put_f64(out, "saving_ns", s->saving_ns);
  put_f64(out, "saving_low_ns", s->saving_low_ns);
  put_f64(out, "saving_high_ns", s->saving_high_ns);
  put_f64(out, "gain_ns", s->gain_ns);
  put_f64(out, "hidden_ns", s->hidden_ns);
  if (predicted) put_f64(out, "host_ns", s->host_ns);
  put_f64(out, "graph_ns", s->graph_ns);
  put_f64(out, "graph_after_ns", s->graph_after_ns);
}

static void put_code_figures(kmbi_out *out, const kmb_payoff *payoff) {
  const kmb_payoff_summary *s = &payoff->summary;
  bool same = s->flags & KMB_PAYOFF_SAME_CODE;
  if (same) kmbi_out_key(out, ",\n ", "same_code");
  if (same) kmbi_out_put(out, "true");
  if (!payoff->has_code) return;
  if (s->flags & KMB_PAYOFF_MATCHED) {
    put_u64(out, "code_launches", s->code_launches);
    put_u64(out, "unknown_launches", s->unknown_launches);
  }
  put_u64(out, "other_code_launches", s->other_code_launches);
}

static void put_sizes(kmbi_out *out, const char *name, uint32_t x, uint32_t y,
                      uint32_t z) {
  kmbi_out_key(out, ", ", name);
  kmbi_out_format(out, "[%u, %u, %u]", (unsigned)x, (unsigned)y, (unsigned)z);
}

/* What these launches ran. */
static void put_shape_code(kmbi_out *out, const kmb_payoff_shape *shape) {
  kmbi_out_text_member(out, ", ", "code", kmbi_payoff_code_word(shape));
  if (!shape->code) return;
  kmbi_out_key(out, ", ", "hashes");
  for (const char *at = shape->code; *at;) {
    size_t digits = strcspn(at, " ");
    kmbi_out_format(out, "%s\"%.*s\"", at == shape->code ? "[" : ", ",
                    (int)digits, at);
    at += digits + (at[digits] == ' ');
  }
  kmbi_out_put(out, "]");
}

static void put_shape_list(kmbi_out *out, const kmb_payoff *payoff) {
  kmbi_out_key(out, ",\n ", "shapes");
  for (uint64_t i = 0; i < payoff->summary.shapes; i++) {
    const kmb_payoff_shape *s = &payoff->shapes[i];
    bool scaled = s->flags & KMB_PAYOFF_SCALED;
    kmbi_out_text_member(out, i ? ",\n  {" : "[\n  {", "name", s->name);
    if (s->grid_x) {
      put_sizes(out, "grid", s->grid_x, s->grid_y, s->grid_z);
      put_sizes(out, "block", s->block_x, s->block_y, s->block_z);
    }
    kmbi_out_u64_member(out, ", ", "launches", s->launches);
    kmbi_out_u64_member(out, ", ", "total_ns", s->total_ns);
    if (payoff->has_code) put_shape_code(out, s);
    kmbi_out_key(out, ", ", "scaled");
    kmbi_out_put(out, scaled ? "true}" : "false}");
  }
  kmbi_out_put(out, "]");
}

static void put_lists(kmbi_out *out, const kmb_payoff *payoff) {
  kmbi_out_key(out, ",\n ", "candidates");
  for (uint64_t i = 0; i < payoff->summary.candidates; i++) {
    const kmb_payoff_candidate *c = &payoff->candidates[i];
    kmbi_out_text_member(out, i ? ",\n  {" : "[\n  {", "name", c->name);
    kmbi_out_u64_member(out, ", ", "launches", c->launches);
    kmbi_out_u64_member(out, ", ", "total_ns", c->total_ns);
    kmbi_out_put(out, "}");
  }
  kmbi_out_put(out, "]");
  put_shape_list(out, payoff);
  kmbi_out_key(out, ",\n ", "notes");
  kmbi_out_put(out, "[");
  for (uint64_t i = 0; i < payoff->note_count; i++) {
    kmbi_out_put(out, i ? ",\n  " : "\n  ");
    kmbi_out_string(out, payoff->notes[i]);
  }
  kmbi_out_put(out, "]");
}

kmb_status kmb_payoff_write_json(const kmb_payoff *payoff, kmb_write_fn write,
                                 void *user) {
  kmbi_out out;
  kmb_status status = check(payoff, write, "kmb_payoff_write_json");
  if (!status) status = kmbi_out_begin(&out, write, user);
  if (status) return status;
  const kmb_payoff_summary *s = &payoff->summary;
  kmbi_out_put(&out, "{\"schema\": \"kmb-payoff\", \"version\": 1,\n "
                     "\"generator\": {\"name\": \"libkmb\", \"version\": "
                     "\"" KMB_VERSION "\"}");
  put_string(&out, "verdict", s->verdict);
  kmbi_out_key(&out, ",\n ", "matched");
  kmbi_out_put(&out, s->flags & KMB_PAYOFF_MATCHED ? "true" : "false");
  put_change(&out, payoff);
  if (s->flags & KMB_PAYOFF_MATCHED) put_figures(&out, s);
  put_code_figures(&out, payoff);
  put_lists(&out, payoff);
  kmbi_out_put(&out, "}\n");
  return kmbi_out_end(&out);
}
