/* kmb plot samples: samples in order, how often each time came, and drift. */
#include "kmb.h"

void plot_samples_help(FILE *to) {
  fputs(
      "usage: kmb plot samples RESULT.json [--result N] -o FILE.svg|.png|.pdf\n"
      "\n"
      "Draws the samples of each result in the order in which they were taken, "
      "how\n"
      "often each time came, and how the medians of 16 contiguous blocks "
      "differ from\n"
      "the median of all. Samples beyond the picture are marked at its border "
      "and\n"
      "counted. A file may hold JSON lines.\n"
      "\n"
      "  --result N  only this result of the file, from 1\n"
      "  -o FILE     the picture: SVG, PNG or PDF\n",
      to);
}

#ifdef KMB_HAS_CAIRO

#include "plot_samples.h"

#include <math.h>
#include <stdlib.h>

enum { LEFT = 84, SPLIT = 850, HIST = 880, RIGHT = 1176 };
enum { TOP = 66, MIDDLE = 316, DRIFT = 352, BOTTOM = 424 };
enum { BLOCKS = 16, BINS = 50, RESULTS = 60 };
#define TEXT 15.0
#define SMALL 13.0

static const rgb black = {0.1, 0.1, 0.1}, grey = {0.42, 0.42, 0.42};
static const rgb grid = {0.90, 0.90, 0.90}, edge = {0.70, 0.70, 0.70};
static const rgb dot = {0.10, 0.40, 0.65}, bars = {0.62, 0.76, 0.88};
static const rgb band = {0.98, 0.90, 0.76}, line = {0.80, 0.33, 0.00};

typedef struct samples {
  canvas *canvas;
  const kmb_result *result;
  const double *ns;
  double *sorted;
  size_t count;
  double top;          /* of the whole picture on the canvas */
  double low, high;    /* of the times shown */
  double median;       /* raw */
  double below, above; /* interval around it; 0: none */
  size_t beyond_low, beyond_high;
  double unit; /* ns in the unit shown */
  const char *unit_name;
} samples;

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double q) {
  double at = (double)(n - 1) * q;
  size_t i = (size_t)at;
  if (i + 1 >= n) return sorted[n - 1];
  return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

/* Far samples would press all others into a line: the picture shows the middle
 * 98% and half as much again on either side, or all if that is no more. */
static void set_range(samples *s) {
  const double *x = s->sorted;
  size_t n = s->count;
  double p1 = quantile(x, n, 0.01), p99 = quantile(x, n, 0.99);
  double room = fmax((p99 - p1) / 2, fmax(s->median * 2e-3, 1e-3));
  s->low = fmax(0, fmax(p1 - room, x[0] - room / 4));
  s->high = fmin(p99 + room, x[n - 1] + room / 4);
  for (size_t i = 0; i < n; i++) {
    s->beyond_low += x[i] < s->low;
    s->beyond_high += x[i] > s->high;
  }
}

static void set_unit(samples *s) {
  static const struct {
    double ns;
    const char *name;
  } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
  int i = 0;
  while (i < 3 && s->median < units[i].ns)
    i++;
  s->unit = units[i].ns;
  s->unit_name = units[i].name;
}

static void set_interval(samples *s) {
  double low = 0, high = 0, time = 0;
  if (kmb_result_f64(s->result, KMB_VALUE_TIME, &time) ||
      kmb_result_f64(s->result, KMB_VALUE_INTERVAL_LOW, &low) ||
      kmb_result_f64(s->result, KMB_VALUE_INTERVAL_HIGH, &high))
    return;
  /* Samples are uncorrected, the interval is not. */
  s->below = s->median - (time - low);
  s->above = s->median + (high - time);
}

static double to_y(const samples *s, double ns) {
  double share = (ns - s->low) / (s->high - s->low);
  return s->top + MIDDLE - share * (MIDDLE - TOP);
}

static double to_x(const samples *s, double index) {
  double last = s->count > 1 ? (double)(s->count - 1) : 1;
  return LEFT + 6 + index / last * (SPLIT - LEFT - 12);
}

static void text_right(canvas *c, double x, double y, const char *text) {
  canvas_text(c, x - canvas_text_width(c, SMALL, false, text), y, SMALL, false,
              0, text);
}

/* 1, 2 or 5 times a power of ten, five steps or so. */
static double step_of(double span) {
  double step = pow(10, floor(log10(span / 4)));
  if (span / step > 12) return 5 * step;
  return span / step > 6 ? 2 * step : step;
}

static int digits_of(double step) {
  int digits = (int)-floor(log10(step) + 1e-9);
  return digits < 0 ? 0 : digits > 9 ? 9 : digits;
}

static void fill(canvas *c, double x0, double y0, double x1, double y1) {
  cairo_rectangle(c->cairo, x0, y0, x1 - x0, y1 - y0);
  cairo_fill(c->cairo);
}

static void frame(canvas *c, double x0, double y0, double x1, double y1) {
  canvas_colour(c, edge);
  canvas_line(c, x0, y0, x0, y1, 1, false);
  canvas_line(c, x0, y1, x1, y1, 1, false);
}

/* Lines and labels of the times, in both upper parts. */
static void draw_times(const samples *s) {
  canvas *c = s->canvas;
  double step = step_of((s->high - s->low) / s->unit);
  int digits = digits_of(step);
  double first = ceil(s->low / s->unit / step) * step;
  for (int k = 0; (first + k * step) * s->unit <= s->high && k < 20; k++) {
    char text[48];
    double y = to_y(s, (first + k * step) * s->unit);
    canvas_colour(c, grid);
    canvas_line(c, LEFT, y, SPLIT, y, 1, false);
    canvas_line(c, HIST, y, RIGHT, y, 1, false);
    snprintf(text, sizeof text, "%.*f", digits, first + k * step);
    canvas_colour(c, black);
    text_right(c, LEFT - 8, y + 4.5, text);
  }
  canvas_colour(c, grey);
  text_right(c, LEFT - 8, s->top + TOP - 2, s->unit_name);
}

static void draw_band(const samples *s) {
  canvas *c = s->canvas;
  if (!(s->above > s->below)) return;
  double high = fmax(to_y(s, fmin(s->above, s->high)), s->top + TOP);
  double low = fmin(to_y(s, fmax(s->below, s->low)), s->top + MIDDLE);
  canvas_colour(c, band);
  fill(c, LEFT, high, SPLIT, fmax(low, high + 1.5));
  fill(c, HIST, high, RIGHT, fmax(low, high + 1.5));
}

static void draw_median(const samples *s) {
  double y = to_y(s, s->median);
  canvas_colour(s->canvas, line);
  canvas_line(s->canvas, LEFT, y, SPLIT, y, 1, false);
  canvas_line(s->canvas, HIST, y, RIGHT, y, 1, true);
}

/* Points that share a pixel are drawn once: a million are a picture as well. */
static void draw_dots(const samples *s) {
  canvas *c = s->canvas;
  double size = s->count > 5000 ? 1.4 : s->count > 1000 ? 1.8 : 2.4;
  long last_x = -1, last_y = -1;
  for (size_t i = 0; i < s->count; i++) {
    double x = to_x(s, (double)i), y = to_y(s, s->ns[i]);
    bool beyond = s->ns[i] < s->low || s->ns[i] > s->high;
    if (beyond) y = s->ns[i] > s->high ? s->top + TOP : s->top + MIDDLE;
    if (lrint(x) == last_x && lrint(y) == last_y) continue;
    last_x = lrint(x);
    last_y = lrint(y);
    if (beyond) {
      double tip = s->ns[i] > s->high ? -5 : 5;
      canvas_colour(c, line);
      cairo_move_to(c->cairo, x - 3.5, y);
      cairo_line_to(c->cairo, x + 3.5, y);
      cairo_line_to(c->cairo, x, y + tip);
      cairo_close_path(c->cairo);
    } else {
      canvas_colour(c, dot);
      cairo_new_sub_path(c->cairo);
      cairo_arc(c->cairo, x, y, size, 0, 6.2832);
    }
    cairo_fill(c->cairo);
  }
}

/* A bin narrower than the clock's step, or one that holds now two of its
 * steps and now three, makes modes of nothing. */
static double bin_width(const samples *s) {
  double width = (s->high - s->low) / BINS, tick = 0;
  uint64_t batch = 0;
  if (kmb_result_f64(s->result, KMB_VALUE_CLOCK_TICK, &tick) ||
      kmb_result_u64(s->result, KMB_VALUE_BATCH, &batch) || !batch)
    return width;
  tick /= (double)batch;
  return tick > width / 8 ? tick * ceil(width / tick) : width;
}

static void draw_histogram(const samples *s) {
  canvas *c = s->canvas;
  size_t bins[BINS + 2] = {0}, most = 1;
  double width = bin_width(s);
  double from = (floor(s->low / width) - 0.5) * width;
  for (size_t i = 0; i < s->count; i++) {
    double at = (s->ns[i] - from) / width;
    if (s->ns[i] < s->low || s->ns[i] > s->high || at >= BINS + 2) continue;
    size_t bin = (size_t)at;
    if (++bins[bin] > most) most = bins[bin];
  }
  canvas_colour(c, bars);
  for (int i = 0; i < BINS + 2; i++) {
    if (!bins[i]) continue;
    double length = (double)bins[i] / (double)most * (RIGHT - HIST - 8);
    double low = fmax(from + width * i, s->low);
    double high = fmin(from + width * (i + 1), s->high);
    double y = to_y(s, high) + 0.5;
    fill(c, HIST, y, HIST + fmax(length, 1.5), fmax(to_y(s, low) - 0.5, y + 1));
  }
  char text[96];
  snprintf(text, sizeof text,
           "how often; the longest bar is %zu of %zu samples", most, s->count);
  canvas_colour(c, grey);
  canvas_text(c, HIST, s->top + MIDDLE + 20, SMALL, false, 0, text);
}

static size_t block_end(size_t n, size_t b) {
  return n / BLOCKS * (b + 1) + n % BLOCKS * (b + 1) / BLOCKS;
}

/* Medians of contiguous blocks, in percent off the median of all. */
static bool block_medians(const samples *s, double off[BLOCKS]) {
  double *copy = malloc(s->count * sizeof *copy);
  if (!copy) return false;
  for (size_t b = 0, from = 0; b < BLOCKS; b++) {
    size_t to = block_end(s->count, b), n = to - from;
    memcpy(copy, s->ns + from, n * sizeof *copy);
    qsort(copy, n, sizeof *copy, by_value);
    off[b] = 100 * (quantile(copy, n, 0.5) / s->median - 1);
    from = to;
  }
  free(copy);
  return true;
}

static void draw_drift_axis(const samples *s, double most) {
  canvas *c = s->canvas;
  double middle = s->top + (DRIFT + BOTTOM) / 2.0;
  double half = (BOTTOM - DRIFT) / 2.0;
  frame(c, LEFT, s->top + DRIFT, SPLIT, s->top + BOTTOM);
  for (int k = -1; k <= 1; k++) {
    char text[48];
    double y = middle - k * half * 0.8;
    canvas_colour(c, k ? grid : line);
    canvas_line(c, LEFT, y, SPLIT, y, 1, false);
    snprintf(text, sizeof text, "%+.*f%%", digits_of(most) + 1, k * most);
    canvas_colour(c, black);
    text_right(c, LEFT - 8, y + 4.5, k ? text : "0");
  }
}

static void draw_drift_text(const samples *s, const char *why) {
  canvas *c = s->canvas;
  double drift = 0, x = HIST, y = s->top + DRIFT + 14;
  char text[160];
  canvas_colour(c, grey);
  if (why) {
    canvas_text(c, LEFT, y + 10, SMALL, false, 0, why);
    return;
  }
  canvas_text(c, x, y, SMALL, false, 0, "medians of 16 blocks in order,");
  canvas_text(c, x, y + 18, SMALL, false, 0, "off the median of all samples");
  if (!kmb_result_f64(s->result, KMB_VALUE_DRIFT_PCT, &drift))
    snprintf(text, sizeof text, "last quarter over the first: %+.2f%%", drift);
  else
    snprintf(text, sizeof text, "the file states no drift");
  canvas_text(c, x, y + 36, SMALL, false, 0, text);
}

static bool draw_drift(const samples *s) {
  canvas *c = s->canvas;
  double off[BLOCKS], most = 0.01;
  if (s->count < (size_t)2 * BLOCKS) {
    draw_drift_text(s, "fewer than 32 samples: no blocks to compare");
    return true;
  }
  if (!(s->median > 0)) {
    draw_drift_text(s, "the median is 0: no share of it");
    return true;
  }
  if (!block_medians(s, off)) return false;
  for (int b = 0; b < BLOCKS; b++)
    most = fmax(most, fabs(off[b]));
  draw_drift_axis(s, most);
  double middle = s->top + (DRIFT + BOTTOM) / 2.0;
  double scale = (BOTTOM - DRIFT) / 2.0 * 0.8 / most;
  for (size_t b = 0, from = 0; b < BLOCKS; b++) {
    size_t to = block_end(s->count, b);
    double x0 = to_x(s, (double)from), x1 = to_x(s, (double)to - 1);
    double y = middle - off[b] * scale;
    canvas_colour(c, bars);
    fill(c, x0, fmin(y, middle), x1, fmax(y, middle));
    canvas_colour(c, dot);
    canvas_line(c, x0, y, x1, y, 2, false);
    from = to;
  }
  char last[32];
  snprintf(last, sizeof last, "%zu", s->count);
  canvas_colour(c, black);
  canvas_text(c, LEFT + 2, s->top + BOTTOM + 18, SMALL, false, 0, "sample 1");
  text_right(c, SPLIT, s->top + BOTTOM + 18, last);
  draw_drift_text(s, NULL);
  return true;
}

static void put_part(char *text, size_t size, const char *before,
                     const char *part) {
  size_t used = strlen(text);
  if (*part && used < size)
    snprintf(text + used, size - used, "%s%s", before, part);
}

/* One line without control characters, and no part of a character at a cut. */
static void clean(char *text) {
  size_t size = strlen(text), lead = size;
  for (char *at = text; *at; at++)
    if ((unsigned char)*at < 0x20 || *at == 0x7f) *at = ' ';
  while (lead && ((unsigned char)text[lead - 1] & 0xc0) == 0x80)
    lead--;
  if (!lead || (unsigned char)text[lead - 1] < 0xc0) return;
  unsigned char first = (unsigned char)text[lead - 1];
  size_t wanted = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (size - lead + 1 < wanted) text[lead - 1] = '\0';
}

static void draw_title(const samples *s) {
  canvas *c = s->canvas;
  const kmb_result *r = s->result;
  char text[512] = "", number[160];
  put_part(text, sizeof text, "", result_name(r));
  for (uint64_t i = 0; i < kmb_result_axis_count(r); i++) {
    kmb_pair axis = {"", ""};
    kmb_result_axis(r, i, &axis);
    put_part(text, sizeof text, "  ", axis.key);
    put_part(text, sizeof text, "=", axis.value);
  }
  clean(text);
  canvas_fit(c, TEXT * 1.1, RIGHT - 12, text);
  canvas_colour(c, black);
  canvas_text(c, 12, s->top + 22, TEXT, true, 0, text);
  if (s->count)
    snprintf(text, sizeof text, "%zu sample%s, median %.5g %s", s->count,
             s->count == 1 ? "" : "s", s->median / s->unit, s->unit_name);
  else
    snprintf(text, sizeof text, "no samples");
  if (s->above > s->below) {
    snprintf(number, sizeof number, ", 99%% within-run interval %.5g to %.5g",
             s->below / s->unit, s->above / s->unit);
    put_part(text, sizeof text, "", number);
  }
  put_part(text, sizeof text, "; ", result_text(r, KMB_VALUE_TIMER));
  put_part(text, sizeof text, ", ", result_text(r, KMB_VALUE_LAUNCH_MODE));
  put_part(text, sizeof text, ", ", result_text(r, KMB_VALUE_CACHE_STATE));
  put_part(text, sizeof text, "; ", result_meta(r, "device.name"));
  clean(text);
  canvas_fit(c, SMALL, RIGHT - 12, text);
  canvas_colour(c, grey);
  canvas_text(c, 12, s->top + 42, SMALL, false, 0, text);
}

static void draw_order(const samples *s) {
  canvas *c = s->canvas;
  char text[200], more[96];
  snprintf(text, sizeof text,
           "in the order in which they were taken, as the clock said");
  if (s->beyond_high + s->beyond_low) {
    snprintf(more, sizeof more, "; ▲ %zu above and ▼ %zu below the picture",
             s->beyond_high, s->beyond_low);
    put_part(text, sizeof text, "", more);
  }
  canvas_colour(c, grey);
  canvas_text(c, LEFT, s->top + MIDDLE + 20, SMALL, false, 0, text);
}

bool draw_samples(canvas *c, const kmb_result *result, double top) {
  samples s = {.canvas = c, .result = result, .top = top};
  uint64_t count = 0;
  kmb_result_samples(result, &s.ns, &count);
  s.count = (size_t)count;
  s.unit = 1;
  s.unit_name = "ns";
  if (!s.count) {
    draw_title(&s);
    canvas_text(c, LEFT, top + TOP + 30, SMALL, false, 0,
                "the file holds no samples of this result");
    return true;
  }
  s.sorted = malloc(s.count * sizeof *s.sorted);
  if (!s.sorted) {
    fputs("kmb: out of memory\n", stderr);
    return false;
  }
  memcpy(s.sorted, s.ns, s.count * sizeof *s.sorted);
  qsort(s.sorted, s.count, sizeof *s.sorted, by_value);
  s.median = quantile(s.sorted, s.count, 0.5);
  set_range(&s);
  set_unit(&s);
  set_interval(&s);
  draw_title(&s);
  draw_times(&s);
  draw_band(&s);
  draw_histogram(&s);
  draw_median(&s);
  frame(c, LEFT, top + TOP, SPLIT, top + MIDDLE);
  frame(c, HIST, top + TOP, RIGHT, top + MIDDLE);
  draw_dots(&s);
  draw_order(&s);
  bool good = draw_drift(&s);
  free(s.sorted);
  if (!good) fputs("kmb: out of memory\n", stderr);
  return good;
}

static const char name[] = "plot samples";

typedef struct options {
  const char *path, *out;
  uint64_t result; /* 0: all */
} options;

static int read_options(int argc, char **argv, options *o) {
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i], *value = NULL;
    bool output = strcmp(word, "-o") == 0;
    bool one = strcmp(word, "--result") == 0;
    if (output || one) {
      value = option_value(name, argc, argv, &i);
      if (!value) return EXIT_USAGE;
      if (output) o->out = value;
      if (one && (!read_number(value, &o->result) || !o->result))
        return usage(name, "--result cannot be \"%s\"", value);
    } else if (*word == '-' && word[1]) {
      return usage(name, "there is no option \"%s\"", word);
    } else if (o->path) {
      return usage(name, "one file at a time");
    } else {
      o->path = word;
    }
  }
  if (o->path && o->out) return EXIT_DONE;
  return usage(name, "a file of results and -o with a file to write are "
                     "needed");
}

static int draw_file(const options *o, const results_file *f) {
  size_t first = 0, count = f->count;
  if (o->result > f->count)
    return usage(name, "--result is %llu, %s has %zu results",
                 (unsigned long long)o->result, f->path, f->count);
  if (o->result) {
    first = (size_t)o->result - 1;
    count = 1;
  }
  if (count > RESULTS)
    return usage(name,
                 "%s: %zu results are too many for a picture, %d the most; "
                 "choose one with --result",
                 f->path, count, RESULTS);
  canvas *c = calloc(1, sizeof *c);
  if (!c) return usage(name, "out of memory");
  int code =
      canvas_open(c, o->out, SAMPLES_WIDTH, (double)count * SAMPLES_HEIGHT);
  if (!code) {
    bool good = true;
    for (size_t i = 0; i < count && good; i++)
      good = draw_samples(c, f->items[first + i], (double)i * SAMPLES_HEIGHT);
    if (!good) canvas_spoil(c);
    code = canvas_close(c);
  }
  free(c);
  return code;
}

int plot_samples_main(int argc, char **argv) {
  options o = {.path = NULL};
  results_file f;
  int code = read_options(argc, argv, &o);
  if (code) return code;
  bool good = results_read(o.path, &f);
  results_say(&f);
  if (good)
    code = draw_file(&o, &f);
  else
    code = f.unreadable ? EXIT_USAGE : EXIT_FORMAT;
  results_free(&f);
  return code;
}

#else

int plot_samples_main(int argc, char **argv) {
  (void)argc;
  (void)argv;
  return usage("plot samples",
               "this kmb was built without cairo; install it (Debian package "
               "libcairo2-dev) and build again");
}

#endif
