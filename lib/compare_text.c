/* A comparison for a person. */
#include "compare.h"
#include "format.h"
#include "utf8.h"

enum { CODE_SHOWN = 4 }; /* kernels of a row */
enum { CANDIDATE, TIME, RATIO, INTERVAL, VERDICT, CONFIG, COLUMNS };

typedef struct grid {
  const kmb_comparison *c;
  kmbi_text *to;
  kmbi_text *cells; /* (rows + 1) × COLUMNS */
  size_t widths[COLUMNS];
  bool tuned;
} grid;

static void put_cell(const grid *g, uint64_t row, int column) {
  static const char *const heads[] = {
      "candidate", "time", "ratio", "99% interval", "verdict", "configuration"};
  kmbi_text *cell = &g->cells[row * COLUMNS + (uint64_t)column];
  if (!row) {
    kmbi_text_put(cell, heads[column]);
    return;
  }
  const kmb_compare_row *r = &g->c->rows[row - 1];
  double ns = 0;
  switch (column) {
  case CANDIDATE:
    kmbi_put_clean(cell, r->name);
    break;
  case TIME:
    if (kmbi_result_get_f64(r->result, KMB_VALUE_TIME, &ns))
      kmbi_put_time(cell, ns);
    else
      kmbi_text_put(cell, "unknown");
    break;
  case RATIO:
    if (r->flags & KMB_ROW_RATIO) kmbi_text_format(cell, "%.4f", r->ratio);
    break;
  case INTERVAL:
    if (r->flags & KMB_ROW_INTERVAL)
      kmbi_text_format(cell, "[%.4f, %.4f]", r->low, r->high);
    break;
  case VERDICT:
    kmbi_text_put(cell, kmb_verdict_name(r->verdict));
    break;
  default:
    if (r->config_text) kmbi_put_clean(cell, r->config_text);
    break;
  }
}

static void fill(grid *g) {
  for (uint64_t row = 0; row <= g->c->count; row++)
    for (int column = 0; column < COLUMNS; column++) {
      kmbi_text *cell = &g->cells[row * COLUMNS + (uint64_t)column];
      kmbi_text_init(cell, g->to->memory);
      put_cell(g, row, column);
      size_t width = kmbi_utf8_width(kmbi_text_get(cell));
      if (width > g->widths[column]) g->widths[column] = width;
    }
}

static void put_line(const grid *g, uint64_t row) {
  int last = g->tuned ? CONFIG : VERDICT;
  while (!*kmbi_text_get(&g->cells[row * COLUMNS + (uint64_t)last]))
    last--;
  kmbi_text_put(g->to, "  ");
  for (int column = 0; column <= last; column++) {
    const char *text =
        kmbi_text_get(&g->cells[row * COLUMNS + (uint64_t)column]);
    kmbi_text_put(g->to, text);
    if (column < last)
      kmbi_text_repeat(g->to, ' ',
                       g->widths[column] - kmbi_utf8_width(text) + 2);
  }
  kmbi_text_put(g->to, "\n");
}

static void put_grid(kmbi_text *to, const kmb_comparison *c) {
  size_t cells = (size_t)(c->count + 1) * COLUMNS;
  grid g = {.c = c, .to = to};
  g.cells = kmbi_alloc(to->memory, cells, sizeof *g.cells);
  if (!g.cells) {
    to->failed = true;
    return;
  }
  for (uint64_t i = 0; i < c->count; i++)
    g.tuned = g.tuned || c->rows[i].config_text;
  fill(&g);
  for (uint64_t row = 0; row <= c->count; row++)
    put_line(&g, row);
  for (size_t i = 0; i < cells; i++) {
    to->failed = to->failed || g.cells[i].failed;
    kmbi_text_release(&g.cells[i]);
  }
  kmbi_free(to->memory, g.cells, cells, sizeof *g.cells);
}

static void put_sentence(kmbi_text *to, const char *name, kmbi_text *words) {
  kmbi_text line;
  kmbi_text_init(&line, to->memory);
  kmbi_put_clean(&line, name);
  kmbi_text_put(&line, ": ");
  kmbi_text_put(&line, kmbi_text_get(words));
  kmbi_text_put(to, "  ");
  kmbi_put_wrapped(to, kmbi_text_get(&line), 2, 4);
  kmbi_text_put(to, "\n");
  to->failed = to->failed || line.failed || words->failed;
  kmbi_text_release(&line);
  kmbi_text_release(words);
}

static void put_tuning(kmbi_text *to, const kmb_compare_row *row) {
  kmbi_text words;
  uint64_t tried = row->configs_measured + row->configs_failed;
  kmbi_text_init(&words, to->memory);
  kmbi_text_format(&words, "kept configuration %u of %llu, ",
                   (unsigned)row->config, (unsigned long long)row->configs);
  kmbi_put_time(&words, row->tuned_ns);
  kmbi_text_format(&words, " while tuning; %llu measured, %llu failed",
                   (unsigned long long)row->configs_measured,
                   (unsigned long long)row->configs_failed);
  if (row->flags & KMB_ROW_UNTUNED)
    kmbi_text_format(&words,
                     ", and the budget ended before %llu were tried: UNTUNED",
                     (unsigned long long)(row->configs - tried));
  put_sentence(to, row->name, &words);
}

static void put_reason(kmbi_text *to, const kmb_comparison *c,
                       const kmb_compare_row *row) {
  kmbi_text words;
  kmbi_text_init(&words, to->memory);
  kmbi_text_format(&words, "%s, ", kmb_verdict_name(row->verdict));
  kmbi_put_clean(&words, row->reason);
  kmbi_text_put(&words, " (±");
  kmbi_put_percent(&words, c->threshold_pct, 2);
  kmbi_text_put(&words, ")");
  put_sentence(to, row->name, &words);
}

/* Beside the baseline, where code was captured of either. */
static void put_code(kmbi_text *to, const kmb_comparison *c,
                     const kmb_compare_row *row) {
  kmbi_text words;
  const kmb_result *base = c->results[c->baseline];
  uint64_t count = kmb_result_code_pair_count(base, row->result);
  if (!count) return;
  kmbi_text_init(&words, to->memory);
  kmbi_text_put(&words,
                kmb_code_match_name(kmb_result_code_match(base, row->result)));
  for (uint64_t i = 0; i < count && i < CODE_SHOWN; i++) {
    kmb_code_pair pair = kmb_code_pair_init();
    if (kmb_result_code_pair(base, row->result, i, &pair)) continue;
    kmbi_text_put(&words, i ? "; " : ": ");
    kmbi_put_clean(&words, pair.b ? pair.b : pair.a);
    if (pair.a && pair.b && strcmp(pair.a, pair.b) != 0) {
      kmbi_text_put(&words, " and ");
      kmbi_put_clean(&words, pair.a);
    }
    kmbi_text_format(&words, " %s",
                     !pair.a   ? "is the candidate's alone"
                     : !pair.b ? "is the baseline's alone"
                               : kmb_code_match_name(pair.match));
    if (pair.reason) kmbi_text_format(&words, " (%s)", pair.reason);
  }
  if (count > CODE_SHOWN)
    kmbi_text_format(&words, "; and %llu more",
                     (unsigned long long)(count - CODE_SHOWN));
  put_sentence(to, row->name, &words);
}

static void put_way(kmbi_text *to, const kmb_comparison *c) {
  const kmb_result *base = c->results[c->baseline];
  const char *timer = kmbi_result_get_text(base, KMB_VALUE_TIMER);
  const char *mode = kmbi_result_get_text(base, KMB_VALUE_LAUNCH_MODE);
  const char *cache = kmbi_result_get_text(base, KMB_VALUE_CACHE_STATE);
  kmbi_text_format(to, "  %s on %s launches, cache %s; ", timer ? timer : "?",
                   mode ? mode : "?", cache ? cache : "?");
  kmbi_text_format(to,
                   "%llu cycle%s of two turns of %llu sample%s, stopped by "
                   "%s\n\n",
                   (unsigned long long)c->cycles, kmbi_plural(c->cycles),
                   (unsigned long long)c->turn, kmbi_plural(c->turn),
                   kmbi_stop_name(c->stop));
}

static void build(kmbi_text *to, const void *subject) {
  const kmb_comparison *c = subject;
  kmbi_put_clean(to, c->name && *c->name ? c->name : "comparison");
  kmbi_text_format(to, ": %llu candidates\n", (unsigned long long)c->count);
  put_way(to, c);
  put_grid(to, c);
  kmbi_text_put(to, "\n");
  for (uint64_t i = 0; i < c->count; i++) {
    if (i != c->baseline) put_reason(to, c, &c->rows[i]);
    if (i != c->baseline) put_code(to, c, &c->rows[i]);
    if (c->rows[i].flags & KMB_ROW_TUNED) put_tuning(to, &c->rows[i]);
  }
}

kmb_status kmb_comparison_write_text(const kmb_comparison *comparison,
                                     kmb_write_fn write, void *user) {
  if (!comparison || !write)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_comparison_write_text: %s is NULL",
                     !comparison ? "comparison" : "write");
  return kmbi_write_plain(&comparison->memory, build, comparison, write, user);
}
