/* A prediction as a paragraph for a pull request. Names are others': nothing in
 * them becomes markup. */
#include "error.h"
#include "format.h"
#include "payoff.h"

#include <math.h>

enum { NAMED = 5 };

static bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
         (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
}

/* Text between others; an underscore within a word marks nothing. */
static void put_escaped(kmbi_text *to, const char *text) {
  kmbi_text clean;
  kmbi_text_init(&clean, to->memory);
  kmbi_put_clean(&clean, text);
  const char *start = kmbi_text_get(&clean);
  for (const char *at = start; *at; at++) {
    bool within = *at == '_' && at > start && is_word(at[-1]) && is_word(at[1]);
    if (*at == '<' || *at == '>' || *at == '&') {
      kmbi_text_put(to, *at == '<' ? "&lt;" : *at == '>' ? "&gt;" : "&amp;");
      continue;
    }
    if (strchr("\\`*_[]#~|$", *at) && !within) kmbi_text_put(to, "\\");
    kmbi_text_put_n(to, at, 1);
  }
  to->failed = to->failed || clean.failed;
  kmbi_text_release(&clean);
}

/* As code: the fence is longer than any row of backticks in it. */
static void put_code(kmbi_text *to, const char *name) {
  size_t most = 0;
  for (const char *at = name; *at; at++) {
    size_t row = strspn(at, "`");
    if (row > most) most = row;
    at += row ? row - 1 : 0;
  }
  kmbi_text_repeat(to, '`', most + 1);
  kmbi_text_put(to, most ? " " : "");
  kmbi_put_clean(to, name);
  kmbi_text_put(to, most ? " " : "");
  kmbi_text_repeat(to, '`', most + 1);
}

static void put_times(kmbi_text *to, double low, double high) {
  kmbi_text_put(to, " [");
  kmbi_put_time(to, low);
  kmbi_text_put(to, ", ");
  kmbi_put_time(to, high);
  kmbi_text_put(to, "]");
}

static void put_ratio(kmbi_text *to, const kmb_payoff *payoff) {
  const kmb_payoff_change *c = &payoff->change;
  kmbi_text_put(to, ", new over old ");
  kmbi_put_sig(to, c->ratio);
  if (payoff->summary.flags & KMB_PAYOFF_HAS_RATIO_INTERVAL) {
    kmbi_text_put(to, " [");
    kmbi_put_sig(to, c->low);
    kmbi_text_put(to, ", ");
    kmbi_put_sig(to, c->high);
    kmbi_text_put(to, "]");
  }
  kmbi_text_put(to, ". ");
}

/* A rest of rounding is none. */
static void put_part(kmbi_text *to, double ns, const char *words) {
  kmbi_text_put(to, ns <= -0.5 ? "-" : "");
  kmbi_put_time(to, fabs(ns) < 0.5 ? 0 : fabs(ns));
  kmbi_text_put(to, words);
}

static void put_split(kmbi_text *to, const kmb_payoff_summary *s) {
  kmbi_text_put(to, "Its launches save ");
  put_part(to, s->gain_ns, ": ");
  put_part(to, s->hidden_ns, " behind other work");
  if (s->flags & KMB_PAYOFF_PREDICTED) {
    kmbi_text_put(to, ", ");
    put_part(to, s->host_ns, " taken back by the host, ");
    put_part(to, s->saving_ns, " left for the step");
  }
  kmbi_text_put(to, ". ");
}

static void put_prediction(kmbi_text *to, const kmb_payoff_summary *s) {
  kmbi_text_put(to, "Predicted step: ");
  if (s->flags & KMB_PAYOFF_PREDICTED)
    kmbi_put_time(to, s->predicted_ns);
  else
    kmbi_text_put(to, "unknown");
  if (!(s->flags & KMB_PAYOFF_PREDICTED) ||
      s->flags & KMB_PAYOFF_HAS_RATIO_INTERVAL)
    put_times(to, s->predicted_low_ns, s->predicted_high_ns);
  kmbi_text_put(to, " instead of ");
  kmbi_put_time(to, s->step_ns);
  kmbi_text_put(to, "; without the host's gaps ");
  kmbi_put_time(to, s->graph_after_ns);
  kmbi_text_put(to, " instead of ");
  kmbi_put_time(to, s->graph_ns);
  kmbi_text_put(to, ".");
}

static void put_names(kmbi_text *to, const kmb_payoff *payoff) {
  const kmb_payoff_summary *s = &payoff->summary;
  kmbi_text_put(to, s->candidates == 1 ? ". Kernel " : ". Kernels ");
  for (uint64_t i = 0; i < s->candidates && i < NAMED; i++) {
    kmbi_text_put(to, i ? ", " : "");
    put_code(to, payoff->candidates[i].name);
  }
  if (s->candidates > NAMED)
    kmbi_text_format(to, " and %llu more",
                     (unsigned long long)(s->candidates - NAMED));
}

/* What could be meant. */
static void put_shapes(kmbi_text *to, const kmb_payoff *payoff) {
  const kmb_payoff_summary *s = &payoff->summary;
  char text[KMBI_PAYOFF_SHAPE_SIZE];
  if (!(s->flags & KMB_PAYOFF_SHAPES_KNOWN) && !payoff->has_code) return;
  for (uint64_t i = 0; i < s->shapes && i < NAMED; i++) {
    const kmb_payoff_shape *shape = &payoff->shapes[i];
    kmbi_text_format(to, "%s%llu launch%s with %s", i ? "; " : ": ",
                     (unsigned long long)shape->launches,
                     shape->launches == 1 ? "" : "es",
                     kmbi_payoff_shape_text(text, shape));
    if (payoff->has_code) kmbi_payoff_put_code(to, shape);
  }
  if (s->shapes > NAMED)
    kmbi_text_format(to, "; and %llu more shapes",
                     (unsigned long long)(s->shapes - NAMED));
}

static void put_hash(kmbi_text *to, const kmb_payoff *payoff) {
  char text[KMBI_PAYOFF_CODE_SIZE];
  const char *code = kmbi_payoff_code(payoff);
  if (code) kmbi_text_format(to, " (%s)", kmbi_payoff_code_text(text, code));
}

static void put_launches(kmbi_text *to, const kmb_payoff *payoff) {
  const kmb_payoff_summary *s = &payoff->summary;
  const kmb_payoff_change *c = &payoff->change;
  kmb_payoff_shape shape;
  char text[KMBI_PAYOFF_SHAPE_SIZE];
  if (kmbi_payoff_shape(payoff, &shape))
    kmbi_text_format(to, ", %s", kmbi_payoff_shape_text(text, &shape));
  if (s->code_launches) {
    kmbi_text_format(to, ", code as measured in %llu of %llu",
                     (unsigned long long)s->code_launches,
                     (unsigned long long)s->launches);
    put_hash(to, payoff);
  }
  kmbi_text_format(to, ", %llu launch%s of ", (unsigned long long)s->launches,
                   s->launches == 1 ? "" : "es");
  kmbi_put_time(to, s->in_step_ns);
  if (!(c->flags & KMB_PAYOFF_HAS_ISOLATED)) return;
  kmbi_text_put(to, " (alone ");
  kmbi_put_time(to, c->isolated_ns);
  kmbi_text_put(to, ")");
}

static void build(kmbi_text *to, const void *subject) {
  const kmb_payoff *payoff = subject;
  kmbi_text_put(to, "**Payoff of ");
  put_escaped(to, payoff->change.name);
  kmbi_text_put(to, ":** ");
  put_escaped(to, payoff->summary.verdict);
  put_names(to, payoff);
  if (payoff->summary.flags & KMB_PAYOFF_MATCHED) {
    put_launches(to, payoff);
    put_ratio(to, payoff);
    put_split(to, &payoff->summary);
    put_prediction(to, &payoff->summary);
  } else {
    if (payoff->summary.candidates == 1) put_shapes(to, payoff);
    kmbi_text_put(to, ".");
  }
  for (uint64_t i = 0; i < payoff->note_count; i++) {
    size_t size = strlen(payoff->notes[i]);
    kmbi_text_put(to, " Note: ");
    put_escaped(to, payoff->notes[i]);
    kmbi_text_put(to, payoff->notes[i][size - 1] == '.' ? "" : ".");
  }
  kmbi_text_put(to, "\n");
}

kmb_status kmb_payoff_write_markdown(const kmb_payoff *payoff,
                                     kmb_write_fn write, void *user) {
  if (!payoff || !write)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_payoff_write_markdown: %s is NULL",
                     !payoff ? "payoff" : "write");
  return kmbi_write_plain(&payoff->memory, build, payoff, write, user);
}
