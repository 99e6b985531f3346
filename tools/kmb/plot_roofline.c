/* kmb plot roofline: results below their ceilings, both axes logarithmic. */
#include "kmb.h"

void plot_roofline_help(FILE *to) {
  fputs("usage: kmb plot roofline RESULT.json... -o FILE.svg|.png|.pdf\n"
        "\n"
        "Draws results below their ceilings: intensity to the right, FLOP/s "
        "upwards,\n"
        "both logarithmic. Each ceiling says of which kind it is. Results "
        "without FLOPs\n"
        "or bytes have no place in the picture and are named below it. A file "
        "may hold\n"
        "JSON lines.\n"
        "\n"
        "  -o FILE  the picture: SVG, PNG or PDF\n",
        to);
}

#ifdef KMB_HAS_CAIRO

#include "plot.h"

#include <math.h>
#include <stdlib.h>

/* Sizes in pixels; the whole is WIDTH wide. */
enum { WIDTH = 1200, LEFT = 100, RIGHT = 30, TOP = 60, PLOT = 560 };
enum { AXIS = 64, ROW = 22, FOOT = 18, FILES = 256 };
#define TEXT 14.0
#define SMALL 13.0

static const rgb black = {0.1, 0.1, 0.1}, grey = {0.45, 0.45, 0.45};
static const rgb grid = {0.90, 0.90, 0.90}, minor = {0.96, 0.96, 0.96};
static const rgb memory_colour = {0.05, 0.35, 0.65};
static const rgb compute_colour = {0.70, 0.30, 0.05};
static const rgb point_colour = {0.10, 0.45, 0.25};
static const rgb alarm = {0.80, 0.05, 0.10};

/* The plot's area and the decades it shows. */
typedef struct frame {
  canvas *canvas;
  const chart *chart;
  box area;
  double x0, x1, y0, y1;  /* log10 */
  double bandwidth, peak; /* the highest ceilings; 0: none */
} frame;

static double to_x(const frame *f, double intensity) {
  double share = (log10(intensity) - f->x0) / (f->x1 - f->x0);
  return f->area.left + share * (f->area.right - f->area.left);
}

static double to_y(const frame *f, double flops) {
  double share = (log10(flops) - f->y0) / (f->y1 - f->y0);
  return f->area.bottom - share * (f->area.bottom - f->area.top);
}

static void widen(double *low, double *high, double value) {
  if (!(value > 0) || !isfinite(value)) return;
  *low = fmin(*low, value);
  *high = fmax(*high, value);
}

/* Whole decades at the borders, two at least, and room for what stands there.
 */
static void set_decades(double low, double high, double *from, double *to) {
  *from = floor(log10(low));
  *to = ceil(log10(high));
  while (*to - *from < 2) {
    *from -= 0.5;
    *to += 0.5;
  }
}

/* False if there is nothing to draw. */
static bool set_range(frame *f) {
  const chart *c = f->chart;
  double xl = INFINITY, xh = 0, yl = INFINITY, yh = 0;
  for (int i = 0; i < c->roof_count; i++) {
    const roof *r = &c->roofs[i];
    double *best = r->memory ? &f->bandwidth : &f->peak;
    *best = fmax(*best, r->value);
  }
  for (int i = 0; i < c->point_count; i++) {
    const point *p = &c->points[i];
    if (!(p->intensity > 0) || !(p->flops > 0)) continue;
    widen(&xl, &xh, p->intensity / 1.5);
    widen(&xl, &xh, p->intensity * 1.5);
    widen(&yl, &yh, p->flops / 1.5);
    widen(&yl, &yh, p->flops * 1.5);
  }
  for (int i = 0; i < c->roof_count; i++) {
    const roof *r = &c->roofs[i];
    if (!r->memory) widen(&yl, &yh, r->value * 1.6);
    if (!r->memory && f->bandwidth > 0) {
      widen(&xl, &xh, r->value / f->bandwidth * 6);
      widen(&xl, &xh, r->value / f->bandwidth / 6);
    }
  }
  if (!(xh > 0) || !(yh > 0)) return false;
  if (f->bandwidth > 0) widen(&yl, &yh, f->bandwidth * xl);
  set_decades(xl, xh, &f->x0, &f->x1);
  set_decades(yl, yh, &f->y0, &f->y1);
  return true;
}

/* "10 G" for 1e10. */
static void si_text(double value, const char *unit, char *text, size_t size) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  int i = 0;
  for (; value >= 999.95 && i < 6; i++)
    value /= 1000;
  snprintf(text, size, "%.4g %s%s", value, prefixes[i], unit);
}

static void draw_decade(const frame *f, int decade, bool vertical) {
  canvas *c = f->canvas;
  const box *a = &f->area;
  for (int step = 1; step < 10; step++) {
    double value = step * pow(10, decade);
    double at = vertical ? to_x(f, value) : to_y(f, value);
    bool outside = vertical ? at < a->left - 0.5 || at > a->right + 0.5
                            : at < a->top - 0.5 || at > a->bottom + 0.5;
    if (outside) continue;
    canvas_colour(c, step == 1 ? grid : minor);
    if (vertical)
      canvas_line(c, at, a->top, at, a->bottom, 1, false);
    else
      canvas_line(c, a->left, at, a->right, at, 1, false);
    if (step != 1) continue;
    char text[32];
    if (decade < 3 && vertical)
      snprintf(text, sizeof text, "%.10g", value);
    else
      si_text(value, "", text, sizeof text);
    double width = canvas_text_width(c, TEXT, false, text);
    canvas_colour(c, black);
    if (vertical)
      canvas_text(c, at - width / 2, a->bottom + 20, TEXT, false, 0, text);
    else
      canvas_text(c, a->left - 8 - width, at + 5, TEXT, false, 0, text);
  }
}

static void draw_axes(const frame *f) {
  canvas *c = f->canvas;
  const box *a = &f->area;
  for (int d = (int)floor(f->x0); d <= (int)ceil(f->x1); d++)
    draw_decade(f, d, true);
  for (int d = (int)floor(f->y0); d <= (int)ceil(f->y1); d++)
    draw_decade(f, d, false);
  canvas_colour(c, grey);
  canvas_line(c, a->left, a->bottom, a->right, a->bottom, 1.2, false);
  canvas_line(c, a->left, a->top, a->left, a->bottom, 1.2, false);
  canvas_colour(c, black);
  const char *x = "intensity: FLOP per least byte";
  canvas_text(c,
              (a->left + a->right - canvas_text_width(c, TEXT, false, x)) / 2,
              a->bottom + 44, TEXT, false, 0, x);
  const char *y = "FLOP/s";
  canvas_text(c, 24, (a->top + a->bottom) / 2 + 24, TEXT, false, -M_PI / 2, y);
}

static void roof_text(const roof *r, char *text, size_t size) {
  char value[32];
  si_text(r->value, r->memory ? "B/s" : "FLOP/s", value, sizeof value);
  snprintf(text, size, "%s %s", value, r->name);
}

/* A to Z, then A1 and so on. */
static void letter_of(int number, char text[16]) {
  if (number < 26)
    snprintf(text, 16, "%c", 'A' + number);
  else
    snprintf(text, 16, "%c%d", 'A' + number % 26, number / 26);
}

static void draw_tag(canvas *c, double x, double y, const roof *r, int number) {
  char text[16];
  letter_of(number, text);
  double width = canvas_text_width(c, 12, true, text);
  canvas_colour(c, r->memory ? memory_colour : compute_colour);
  cairo_rectangle(c->cairo, x - width / 2 - 5, y - 9, width + 10, 18);
  cairo_fill(c->cairo);
  canvas_colour(c, (rgb){1, 1, 1});
  canvas_text(c, x - width / 2, y + 4.5, 12, true, 0, text);
}

/* A ceiling's line, in pixels; where it binds: up to the highest ceiling of the
 * other kind. False if that is outside. */
typedef struct line {
  double x0, y0, x1, y1;
} line;

static bool line_of(const frame *f, const roof *r, line *out) {
  double xl = pow(10, f->x0), xh = pow(10, f->x1);
  double from = xl, to = xh;
  if (r->memory) {
    from = fmax(from, pow(10, f->y0) / r->value);
    to = fmin(to, pow(10, f->y1) / r->value);
    if (f->peak > 0) to = fmin(to, f->peak / r->value);
  } else if (f->bandwidth > 0) {
    from = fmax(from, r->value / f->bandwidth);
  }
  if (!(to > from)) return false;
  double slope = r->memory ? r->value : 0, level = r->memory ? 0 : r->value;
  *out = (line){to_x(f, from), to_y(f, slope * from + level), to_x(f, to),
                to_y(f, slope * to + level)};
  return true;
}

/* How many ceilings of the same kind come before this one. */
static int place_of(const chart *c, int index) {
  int place = 0;
  for (int i = 0; i < index; i++)
    place += c->roofs[i].memory == c->roofs[index].memory;
  return place;
}

/* Where a ceiling's letter stands on its line. */
static void tag_place(const frame *f, int index, const line *l, double *x,
                      double *y) {
  const roof *r = &f->chart->roofs[index];
  double length = hypot(l->x1 - l->x0, l->y1 - l->y0);
  double back = (r->memory ? 50 : 16) + 34 * place_of(f->chart, index);
  double share = fmax(0, 1 - back / length);
  *x = l->x0 + share * (l->x1 - l->x0);
  *y = l->y0 + share * (l->y1 - l->y0);
}

/* Whether a memory ceiling runs within a line of text of this one. */
static bool is_crowded(const frame *f, const roof *r, bool above) {
  for (int i = 0; i < f->chart->roof_count; i++) {
    const roof *o = &f->chart->roofs[i];
    double gap = to_y(f, r->value) - to_y(f, o->value);
    if (!o->memory || o == r) continue;
    if (above ? gap >= 0 && gap < 26 : gap <= 0 && gap > -26) return true;
  }
  return false;
}

/* Tries places along the line, above it, then below; the list below the plot
 * has it in any case. */
static void label_memory(const frame *f, const roof *r, const line *l) {
  canvas *c = f->canvas;
  char text[NAME + 64];
  double angle = atan2(l->y1 - l->y0, l->x1 - l->x0);
  double length = hypot(l->x1 - l->x0, l->y1 - l->y0) - 60;
  roof_text(r, text, sizeof text);
  if (length < 120) return;
  canvas_fit(c, SMALL, length - 30, text);
  double width = canvas_text_width(c, SMALL, false, text);
  for (int below = 0; below < 2; below++) {
    double off = below ? 17 : -7;
    if (is_crowded(f, r, !below)) continue;
    for (int i = 0; 10 + 12 * i + width < length; i++) {
      double at = 10 + 12 * i;
      double x = l->x0 + at * cos(angle) - off * sin(angle);
      double y = l->y0 + at * sin(angle) + off * cos(angle);
      if (!canvas_take_text(c, &f->area, x, y, SMALL, angle, text)) continue;
      canvas_colour(c, memory_colour);
      canvas_text(c, x, y, SMALL, false, angle, text);
      return;
    }
  }
}

/* Left of the letter, above the line, then below: whole where there is room,
 * also left of where the line begins, else cut. */
static void label_compute(const frame *f, const roof *r, const line *l,
                          double end) {
  canvas *c = f->canvas;
  char text[NAME + 64];
  const double room[] = {end - f->area.left - 20, end - l->x0 - 20};
  for (int i = 0; i < 4; i++) {
    double y = i % 2 ? l->y0 + 17 : l->y0 - 7;
    if (room[i / 2] < 80) continue;
    roof_text(r, text, sizeof text);
    canvas_fit(c, SMALL, room[i / 2], text);
    double x = end - canvas_text_width(c, SMALL, false, text);
    if (!canvas_take_text(c, &f->area, x, y, SMALL, 0, text)) continue;
    canvas_colour(c, compute_colour);
    canvas_text(c, x, y, SMALL, false, 0, text);
    return;
  }
}

/* Keeps what is written later off a line. */
static void reserve_line(canvas *c, const line *l) {
  int count = (int)(hypot(l->x1 - l->x0, l->y1 - l->y0) / 8) + 1;
  double dx = (l->x1 - l->x0) / count, dy = (l->y1 - l->y0) / count;
  for (int i = 0; i < count; i++) {
    double x = l->x0 + i * dx, y = l->y0 + i * dy;
    canvas_take(c, (box){x, fmin(y, y + dy) - 1, x + dx, fmax(y, y + dy) + 1});
  }
}

static void draw_lines(const frame *f) {
  for (int i = 0; i < f->chart->roof_count; i++) {
    const roof *r = &f->chart->roofs[i];
    line l;
    double x = 0, y = 0;
    if (!line_of(f, r, &l)) continue;
    canvas_colour(f->canvas, r->memory ? memory_colour : compute_colour);
    canvas_line(f->canvas, l.x0, l.y0, l.x1, l.y1, 2, r->rate);
    tag_place(f, i, &l, &x, &y);
    canvas_take(f->canvas, (box){x - 12, y - 10, x + 12, y + 10});
    if (!r->memory)
      canvas_take(f->canvas, (box){l.x0, l.y0 - 1, l.x1, l.y0 + 1});
  }
}

/* Along the memory's lines first: their labels need them free. */
static void label_roofs(const frame *f, bool memory) {
  for (int i = 0; i < f->chart->roof_count; i++) {
    const roof *r = &f->chart->roofs[i];
    line l;
    double x = 0, y = 0;
    if (r->memory != memory || !line_of(f, r, &l)) continue;
    tag_place(f, i, &l, &x, &y);
    if (memory)
      label_memory(f, r, &l);
    else
      label_compute(f, r, &l, x - 16);
    draw_tag(f->canvas, x, y, r, i);
  }
  for (int i = 0; memory && i < f->chart->roof_count; i++) {
    line l;
    if (f->chart->roofs[i].memory && line_of(f, &f->chart->roofs[i], &l))
      reserve_line(f->canvas, &l);
  }
}

static bool is_drawn(const point *p) {
  return p->intensity > 0 && p->flops > 0;
}

static void make_groups(const frame *f, groups *g) {
  g->count = 0;
  for (int i = 0; i < f->chart->point_count; i++) {
    const point *p = &f->chart->points[i];
    g->of[i] = -1;
    if (!is_drawn(p)) continue;
    groups_add(g, i, to_x(f, p->intensity), to_y(f, p->flops), p->above);
  }
  groups_number(g, f->chart->point_count);
}

/* Half of what a marker is wider than a disc. */
static double half_width(canvas *c, const char *numbers) {
  return fmax(0, canvas_text_width(c, 12, true, numbers) / 2 - 6);
}

static void draw_marker(canvas *c, double x, double y, const char *numbers,
                        bool above) {
  double half = half_width(c, numbers);
  double width = canvas_text_width(c, 12, true, numbers);
  cairo_set_line_cap(c->cairo, CAIRO_LINE_CAP_ROUND);
  canvas_colour(c, (rgb){1, 1, 1});
  canvas_line(c, x - half, y, x + half, y, 22, false);
  canvas_colour(c, above ? alarm : point_colour);
  canvas_line(c, x - half, y, x + half, y, 20, false);
  cairo_set_line_cap(c->cairo, CAIRO_LINE_CAP_BUTT);
  canvas_colour(c, (rgb){1, 1, 1});
  canvas_text(c, x - width / 2, y + 4.5, 12, true, 0, numbers);
}

/* The name beside its point, if there is room; it stands below in any case. Of
 * several points the first one's. */
static void name_group(const frame *f, const group *g) {
  char text[NAME], more[24] = "";
  double side = 14 + half_width(f->canvas, g->numbers);
  chart_brief(f->chart, g->first, text);
  canvas_fit(f->canvas, SMALL, 260, text);
  if (g->points > 1) snprintf(more, sizeof more, " and %d more", g->points - 1);
  strncat(text, more, sizeof text - strlen(text) - 1);
  double width = canvas_text_width(f->canvas, SMALL, false, text);
  const double places[][2] = {{g->x + side, g->y + 5},
                              {g->x - side - width, g->y + 5},
                              {g->x - width / 2, g->y + 26},
                              {g->x - width / 2, g->y - 15}};
  canvas_colour(f->canvas, g->above ? alarm : black);
  for (int i = 0; i < 4; i++) {
    if (!canvas_take_text(f->canvas, &f->area, places[i][0], places[i][1],
                          SMALL, 0, text))
      continue;
    canvas_text(f->canvas, places[i][0], places[i][1], SMALL, false, 0, text);
    return;
  }
}

static void draw_points(const frame *f, const groups *g) {
  for (int i = 0; i < g->count; i++)
    name_group(f, &g->all[i]);
  for (int i = 0; i < g->count; i++)
    draw_marker(f->canvas, g->all[i].x, g->all[i].y, g->all[i].numbers,
                g->all[i].above);
}

/* Points are not written over. */
static void reserve(const frame *f, const groups *g) {
  for (int i = 0; i < g->count; i++) {
    const group *at = &g->all[i];
    double side = 12 + half_width(f->canvas, at->numbers);
    canvas_take(f->canvas,
                (box){at->x - side, at->y - 12, at->x + side, at->y + 12});
  }
}

static void draw_row(canvas *c, const chart *of, int index, double y) {
  char text[NAME], value[48], number[16];
  const point *p = &of->points[index];
  snprintf(number, sizeof number, "%d", index + 1);
  draw_marker(c, LEFT - 20, y - 5, number, p->above);
  chart_brief(of, index, text);
  canvas_fit(c, TEXT, 520, text);
  canvas_colour(c, black);
  canvas_text(c, LEFT, y, TEXT, false, 0, text);
  if (!is_drawn(p)) {
    snprintf(text, sizeof text, "not drawn: %.150s", p->why);
    canvas_text(c, 640, y, TEXT, false, 0, text);
    return;
  }
  snprintf(value, sizeof value, "%.4g FLOP/B", p->intensity);
  canvas_text(c, 640, y, TEXT, false, 0, value);
  si_text(p->flops, "FLOP/s", value, sizeof value);
  canvas_text(c, 770, y, TEXT, false, 0, value);
  if (p->sol_pct > 0) {
    snprintf(value, sizeof value, "%.4g%% of SOL", p->sol_pct);
    canvas_colour(c, p->above ? alarm : black);
    canvas_text(c, 905, y, TEXT, false, 0, value);
  }
  canvas_colour(c, grey);
  if (p->above)
    canvas_text(c, 1035, y, TEXT, false, 0, "ABOVE_PEAK");
  else if (p->reference_pct > 0) {
    snprintf(value, sizeof value, "%.3g%% of reference", p->reference_pct);
    canvas_text(c, 1035, y, TEXT, false, 0, value);
  }
}

/* Bytes of the text that fit, up to a space; all of it if it has none. */
static size_t fitting(canvas *c, const char *text, double width) {
  char head[SOURCE + 32];
  size_t size = strlen(text);
  while (size > 0) {
    snprintf(head, sizeof head, "%.*s", (int)size, text);
    if (canvas_text_width(c, 12, false, head) <= width) return size;
    do
      size--;
    while (size > 0 && text[size] != ' ');
  }
  return strlen(text);
}

/* Where a datasheet's figures stand, in two lines; what is longer, `kmb peaks`
 * has. */
static void draw_source(canvas *c, const char *source, double y) {
  const double width = WIDTH - LEFT - RIGHT;
  char text[SOURCE + 32], head[SOURCE + 32];
  snprintf(text, sizeof text, "figures of %s", source);
  size_t first = fitting(c, text, width);
  canvas_colour(c, grey);
  snprintf(head, sizeof head, "%.*s", (int)first, text);
  canvas_text(c, LEFT, y, 12, false, 0, head);
  if (!text[first]) return;
  canvas_fit(c, 12, width, text + first + 1);
  canvas_text(c, LEFT, y + 15, 12, false, 0, text + first + 1);
}

static void draw_lists(canvas *to, const chart *of) {
  double y = TOP + PLOT + AXIS;
  char text[NAME + 64];
  for (int i = 0; i < of->point_count; i++)
    draw_row(to, of, i, y += ROW);
  y += ROW / 2.0;
  for (int i = 0; i < of->roof_count; i++) {
    const roof *r = &of->roofs[i];
    draw_tag(to, LEFT - 20, (y += ROW) - 5, r, i);
    roof_text(r, text, sizeof text);
    canvas_fit(to, TEXT, WIDTH - LEFT - RIGHT, text);
    canvas_colour(to, black);
    canvas_text(to, LEFT, y, TEXT, false, 0, text);
  }
  for (int i = 0; i < of->source_count; i++)
    draw_source(to, of->sources[i], (y += 2 * ROW) - ROW);
}

void draw_roofline(canvas *to, const chart *of) {
  frame f = {.canvas = to, .chart = of};
  f.area = (box){LEFT, TOP, WIDTH - RIGHT, TOP + PLOT};
  char title[NAME + 32];
  snprintf(title, sizeof title, "Roofline%s%s", *of->devices ? ": " : "",
           of->devices);
  canvas_fit(to, 18, WIDTH - LEFT - RIGHT, title);
  canvas_colour(to, black);
  canvas_text(to, LEFT, 32, 18, true, 0, title);
  chart_shared(of, title);
  canvas_fit(to, TEXT, WIDTH - LEFT - RIGHT, title);
  canvas_colour(to, grey);
  canvas_text(to, LEFT, 51, TEXT, false, 0, title);
  if (set_range(&f)) {
    groups g;
    draw_axes(&f);
    make_groups(&f, &g);
    reserve(&f, &g);
    draw_lines(&f);
    label_roofs(&f, true);
    label_roofs(&f, false);
    draw_points(&f, &g);
  }
  draw_lists(to, of);
}

double roofline_height(const chart *of) {
  return TOP + PLOT + AXIS + FOOT +
         ROW * (of->point_count + of->roof_count + 2 * of->source_count + 1.5);
}

static int plot(const chart *of, const char *output) {
  static canvas c;
  int status = canvas_open(&c, output, WIDTH, roofline_height(of));
  if (status) return status;
  draw_roofline(&c, of);
  return canvas_close(&c);
}

int plot_roofline_main(int argc, char **argv) {
  const char *output = NULL;
  int file_count = 0;
  char *files[FILES] = {0};
  for (int at = 0; at < argc; at++) {
    if (strcmp(argv[at], "-o") == 0) {
      output = option_value("plot roofline", argc, argv, &at);
      if (!output) return EXIT_USAGE;
    } else if (argv[at][0] == '-' && argv[at][1]) {
      return usage("plot roofline", "there is no option \"%s\"", argv[at]);
    } else if (file_count == FILES) {
      return usage("plot roofline", "too many files");
    } else {
      files[file_count++] = argv[at];
    }
  }
  if (!output || !file_count)
    return usage("plot roofline", "results and -o FILE are needed");
  chart *read = calloc(1, sizeof *read);
  if (!read) return no_memory();
  int status = EXIT_DONE;
  for (int i = 0; i < file_count && !status; i++)
    status = chart_read(read, files[i]);
  if (!status) status = plot(read, output);
  free(read);
  return status;
}

#else

int plot_roofline_main(int argc, char **argv) {
  (void)argc;
  (void)argv;
  return usage("plot roofline",
               "this kmb was built without cairo; install it (Debian package "
               "libcairo2-dev) and build again");
}

#endif
