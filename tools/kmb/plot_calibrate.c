/* Bias and floor of each timer as a picture. */
#include "calibrate.h"
#include "plot.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 1200, TOP = 112, ROW = 52, FOOT = 62 };
enum { NAMES = 16, BIAS = 190, BIAS_END = 560, FLOOR = 704, FLOOR_END = 1080 };
#define TEXT 15.0
#define SMALL 13.0

static const rgb black = {0.1, 0.1, 0.1}, grey = {0.42, 0.42, 0.42};
static const rgb grid = {0.90, 0.90, 0.90};
static const rgb dot = {0.10, 0.40, 0.65}, bars = {0.62, 0.76, 0.88};

/* A linear scale of one column. */
typedef struct scale {
  double from, to;   /* pixels */
  double low, high;  /* ns */
  double unit;       /* ns */
  const char *units; /* its name */
} scale;

static double to_x(const scale *s, double ns) {
  return s->from + (ns - s->low) / (s->high - s->low) * (s->to - s->from);
}

static void set_scale(scale *s, double low, double high) {
  double room = fmax(0.06 * (high - low), 0.5);
  s->low = low < 0 ? low - room : 0;
  s->high = high + room;
  bool micro = fmax(-s->low, s->high) >= 2000;
  s->unit = micro ? 1e3 : 1;
  s->units = micro ? "µs" : "ns";
}

static void set_scales(const reading *readings, int count, scale *bias,
                       scale *floor) {
  double low = 0, high = 0, top = 0;
  for (int i = 0; i < count; i++) {
    const reading *r = &readings[i];
    if (!r->works) continue;
    if (r->has_bias) {
      low = fmin(low, r->bias_ns - r->bias_uncertainty_ns);
      high = fmax(high, r->bias_ns + r->bias_uncertainty_ns);
    } else if (r->has_overhead) {
      high = fmax(high, r->overhead_ns);
    }
    top = fmax(top, r->has_interval ? r->above_ns : r->raw_ns);
  }
  set_scale(bias, low, high);
  set_scale(floor, 0, top);
}

static double step_of(double span) {
  double step = pow(10, floor(log10(span / 3)));
  if (span / step > 10) return 5 * step;
  return span / step > 5 ? 2 * step : step;
}

static void draw_scale(canvas *c, const scale *s, const char *title,
                       double bottom) {
  double step = step_of((s->high - s->low) / s->unit);
  double first = ceil(s->low / s->unit / step) * step;
  char text[64];
  snprintf(text, sizeof text, "%s, %s", title, s->units);
  canvas_colour(c, black);
  canvas_text(c, s->from, TOP - 16, TEXT, true, 0, text);
  for (int k = 0; k < 16 && (first + k * step) * s->unit <= s->high; k++) {
    double at = first + k * step, x = to_x(s, at * s->unit);
    bool zero = fabs(at) < step / 2;
    canvas_colour(c, zero ? grey : grid);
    canvas_line(c, x, TOP, x, bottom, 1, false);
    snprintf(text, sizeof text, "%.6g", zero ? 0 : at);
    canvas_colour(c, black);
    canvas_text(c, x - canvas_text_width(c, SMALL, false, text) / 2,
                bottom + 18, SMALL, false, 0, text);
  }
}

static void whisker(canvas *c, const scale *s, double low, double high,
                    double y) {
  double from = to_x(s, low), to = to_x(s, high);
  canvas_colour(c, dot);
  canvas_line(c, from, y, to, y, 2, false);
  canvas_line(c, from, y - 5, from, y + 5, 2, false);
  canvas_line(c, to, y - 5, to, y + 5, 2, false);
}

static void mark(canvas *c, double x, double y) {
  canvas_colour(c, dot);
  cairo_new_sub_path(c->cairo);
  cairo_arc(c->cairo, x, y, 4, 0, 6.2832);
  cairo_fill(c->cairo);
}

static void draw_bias(canvas *c, const scale *s, const reading *r, double y) {
  char text[96];
  if (r->has_bias) {
    whisker(c, s, r->bias_ns - r->bias_uncertainty_ns,
            r->bias_ns + r->bias_uncertainty_ns, y);
    mark(c, to_x(s, r->bias_ns), y);
    snprintf(text, sizeof text, "%.1f ± %.1f ns",
             fabs(r->bias_ns) < 0.05 ? 0 : r->bias_ns, r->bias_uncertainty_ns);
  } else if (r->has_overhead) {
    double end = to_x(s, r->overhead_ns);
    canvas_colour(c, dot);
    canvas_line(c, to_x(s, 0), y, end, y, 2, true);
    canvas_line(c, end, y - 5, end, y + 5, 2, false);
    snprintf(text, sizeof text, "at most %.3g ns", r->overhead_ns);
  } else {
    snprintf(text, sizeof text, "unknown");
  }
  canvas_colour(c, black);
  canvas_text(c, BIAS_END + 8, y + 5, SMALL, false, 0, text);
}

static void draw_floor(canvas *c, const scale *s, const reading *r, double y) {
  char text[64];
  if (!r->has_raw) return;
  canvas_colour(c, bars);
  cairo_rectangle(c->cairo, to_x(s, 0), y - 9, to_x(s, r->raw_ns) - to_x(s, 0),
                  18);
  cairo_fill(c->cairo);
  if (r->has_interval)
    whisker(c, s, fmax(0, r->below_ns), fmax(0, r->above_ns), y);
  snprintf(text, sizeof text, "%.4g ns", r->raw_ns);
  canvas_colour(c, black);
  canvas_text(c, FLOOR_END + 8, y + 5, SMALL, false, 0, text);
}

static void draw_row(canvas *c, const scale *bias, const scale *floor,
                     const reading *r, double y) {
  char text[PROBE_WHY + 8];
  snprintf(text, sizeof text, "%s, %s", r->timer_name, r->mode_name);
  canvas_colour(c, r->works ? black : grey);
  canvas_text(c, NAMES, y + 5, TEXT, false, 0, text);
  if (r->works) {
    draw_bias(c, bias, r, y);
    draw_floor(c, floor, r, y);
    return;
  }
  snprintf(text, sizeof text, "no: %s", r->why);
  canvas_fit(c, SMALL, WIDTH - BIAS - 12, text);
  /* No line runs through the reason. */
  canvas_colour(c, (rgb){1, 1, 1});
  cairo_rectangle(c->cairo, BIAS - 4, y - ROW / 2.0 + 6,
                  canvas_text_width(c, SMALL, false, text) + 12, ROW - 12.0);
  cairo_fill(c->cairo);
  canvas_colour(c, grey);
  canvas_text(c, BIAS, y + 5, SMALL, false, 0, text);
}

int check_drawing(const char *path) {
  int code = canvas_check(path);
  return code ? code : out_check(path);
}

int draw_calibration(const char *path, const char *device, const char *what,
                     const reading *readings, int count) {
  scale bias = {.from = BIAS, .to = BIAS_END};
  scale floor = {.from = FLOOR, .to = FLOOR_END};
  double bottom = TOP + (double)ROW * count;
  char text[320];
  canvas *c = calloc(1, sizeof *c);
  if (!c) return no_memory();
  int code = canvas_open(c, path, WIDTH, bottom + FOOT);
  if (!code) {
    set_scales(readings, count, &bias, &floor);
    snprintf(text, sizeof text, "Timers of %.200s", device);
    canvas_colour(c, black);
    canvas_fit(c, TEXT * 1.2, WIDTH - 32, text);
    canvas_text(c, NAMES, 30, TEXT * 1.2, true, 0, text);
    snprintf(text, sizeof text,
             "timer and launch mode; the floor is the raw median of %s", what);
    canvas_colour(c, grey);
    canvas_text(c, NAMES, 54, SMALL, false, 0, text);
    draw_scale(c, &bias, "bias, subtracted", bottom);
    draw_scale(c, &floor, "floor", bottom);
    for (int i = 0; i < count; i++)
      draw_row(c, &bias, &floor, &readings[i], TOP + ROW * (i + 0.5));
    canvas_colour(c, grey);
    canvas_text(c, NAMES, bottom + 44, SMALL, false, 0,
                "whiskers: uncertainty of the bias, 99% within-run interval of "
                "the floor; a dashed line ends at an upper bound, which is not "
                "subtracted");
    code = canvas_close(c);
  }
  free(c);
  return code;
}
