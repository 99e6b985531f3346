/* kmb plot timeline: streams of each device over time, gaps shaded. */
#include "out.h"

#include <stdlib.h>

static const char name[] = "plot timeline";

void plot_timeline_help(FILE *to) {
  fputs(
      "usage: kmb plot timeline FILE [--kernel REGEX] [--device N] [--from "
      "TIME]\n"
      "                         [--to TIME] [--format F] -o OUT.svg|.png|.pdf\n"
      "\n"
      "Draws a row for each stream of each device. The time in which a device "
      "does\n"
      "nothing at all is shaded over all its rows. Operations that are "
      "narrower than\n"
      "a pixel are drawn as one.\n"
      "\n"
      "  --kernel REGEX  marks a kernel (POSIX extended)\n"
      "  --device N      only this device\n"
      "  --from TIME     only what starts then or later, in the trace's own "
      "time:\n"
      "                  92.982s, 17ms, 138us, 40ns\n"
      "  --to TIME       only what starts before this\n"
      "  --format F      what FILE is, as for kmb gaps\n"
      "  -o OUT          the picture: SVG, PNG or PDF\n",
      to);
}

#ifdef KMB_HAS_CAIRO

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

enum {
  WIDTH = 1200,
  LEFT = 150,
  RIGHT = 64,
  TOP = 34,
  LANE = 26,
  LANE_GAP = 6,
  HEAD = 30,
  AXIS = 34,
  LEGEND = 20,
  COLOURS = 6, /* names with a colour of their own */
  LANES_MOST = 400,
  SMALL = 11, /* sizes of letters */
  LARGE = 13
};

typedef struct colour {
  double red, green, blue;
} colour;

/* Told apart by most eyes, and in grey. */
static const colour palette[COLOURS] = {{0.00, 0.45, 0.70}, {0.90, 0.62, 0.00},
                                        {0.00, 0.62, 0.45}, {0.80, 0.47, 0.65},
                                        {0.34, 0.71, 0.91}, {0.84, 0.37, 0.00}};
static const colour other_colour = {0.62, 0.62, 0.62};
static const colour gap_colour = {0.99, 0.87, 0.86};
static const colour ink = {0.15, 0.15, 0.15};
static const colour pale = {0.80, 0.80, 0.80};
static const colour lane_colour = {0.96, 0.96, 0.96};

typedef struct lane {
  uint64_t process, context, stream;
  uint32_t device;    /* among those of the analysis */
  bool known;         /* the source says which stream */
  double y, drawn_to; /* the last pixel that is filled */
} lane;

typedef struct named {
  const char *text;
  kmb_op_kind kind;
} named;

typedef struct picture {
  const kmb_trace *trace;
  kmb_gaps *gaps;
  uint64_t ops, devices;
  uint64_t first, last; /* ns */
  lane *lanes;
  size_t lane_count;
  named legend[COLOURS];
  int legend_count;
  bool others; /* names without a colour of their own */
  double height;
  cairo_t *cairo;
} picture;

static void set_colour(cairo_t *c, colour to) {
  cairo_set_source_rgb(c, to.red, to.green, to.blue);
}

static double x_of(const picture *p, uint64_t ns) {
  double share = (double)(ns - p->first) / (double)(p->last - p->first);
  return LEFT + share * (WIDTH - LEFT - RIGHT);
}

/* The beginning of a text that is no wider than `width`; whole characters. */
static void put_text(cairo_t *c, double x, double y, double width,
                     const char *text) {
  char part[256];
  cairo_text_extents_t size;
  size_t length = strlen(text);
  bool cut = length >= sizeof part - 4;
  if (cut) length = sizeof part - 4;
  for (;;) {
    while (cut && length && ((unsigned char)text[length] & 0xC0u) == 0x80u)
      length--;
    snprintf(part, sizeof part, "%.*s%s", (int)length, text, cut ? "…" : "");
    for (char *at = part; *at; at++) {
      if ((unsigned char)*at < 0x20) *at = ' ';
    }
    cairo_text_extents(c, part, &size);
    if (size.x_advance <= width) break;
    if (length < 5) return;
    length--;
    cut = true;
  }
  cairo_move_to(c, x, y);
  cairo_show_text(c, part);
}

/* Collecting. */

static bool is_wanted(const trace_options *o, const kmb_trace_op *op) {
  const kmb_gaps_params *g = &o->gaps;
  return !((g->flags & KMB_GAPS_FROM) && op->start_ns < g->from_ns) &&
         !((g->flags & KMB_GAPS_TO) && op->start_ns >= g->to_ns) &&
         !((g->flags & KMB_GAPS_DEVICE) &&
           (!(op->flags & KMB_OP_HAS_DEVICE) || op->device != g->device));
}

/* The device's row in the analysis. */
static uint32_t device_of(const picture *p, const kmb_trace_op *op) {
  for (uint32_t i = 0; i < p->devices; i++) {
    kmb_gaps_device d = kmb_gaps_device_init();
    if (kmb_gaps_get_device(p->gaps, i, &d)) break;
    bool known = d.flags & KMB_GAPS_HAS_DEVICE;
    if (known == !!(op->flags & KMB_OP_HAS_DEVICE) &&
        (known ? d.device == op->device : strcmp(d.name, op->device_name) == 0))
      return i;
  }
  return 0;
}

static bool same_lane(const lane *l, const kmb_trace_op *op, uint32_t device) {
  return l->device == device && l->process == op->process &&
         l->context == op->context && l->stream == op->stream;
}

/* NULL if there are too many streams to draw. */
static lane *lane_of(picture *p, const kmb_trace_op *op) {
  static lane *last;
  uint32_t device = device_of(p, op);
  if (last && last >= p->lanes && last < p->lanes + p->lane_count &&
      same_lane(last, op, device))
    return last;
  for (size_t i = 0; i < p->lane_count; i++) {
    if (same_lane(&p->lanes[i], op, device)) return last = &p->lanes[i];
  }
  if (p->lane_count == LANES_MOST) return NULL;
  lane *l = &p->lanes[p->lane_count++];
  *l = (lane){op->process,
              op->context,
              op->stream,
              device,
              op->flags & KMB_OP_HAS_STREAM,
              0,
              0};
  return last = l;
}

static int by_device(const void *a, const void *b) {
  const lane *x = a, *y = b;
  if (x->device != y->device) return x->device < y->device ? -1 : 1;
  if (x->process != y->process) return x->process < y->process ? -1 : 1;
  return x->stream < y->stream ? -1 : x->stream > y->stream;
}

static void place_lanes(picture *p) {
  double y = TOP;
  qsort(p->lanes, p->lane_count, sizeof *p->lanes, by_device);
  for (size_t i = 0; i < p->lane_count; i++) {
    if (!i || p->lanes[i].device != p->lanes[i - 1].device) y += HEAD;
    p->lanes[i].y = y;
    y += LANE + LANE_GAP;
  }
  int rows = p->legend_count / 2 + 2;
  p->height = y + AXIS + LEGEND * rows;
}

/* The names with most time, over all devices, the target first. */
static void choose_legend(picture *p) {
  for (uint32_t targets = 2; targets-- > 0;) {
    for (uint64_t rank = 0; rank < COLOURS; rank++) {
      for (uint64_t d = 0; d < p->devices; d++) {
        kmb_gaps_name n = kmb_gaps_name_init();
        bool seen = p->legend_count == COLOURS;
        if (kmb_gaps_get_name(p->gaps, d, rank, &n) || n.target != targets)
          continue;
        for (int i = 0; i < p->legend_count && !seen; i++)
          seen = p->legend[i].kind == n.kind &&
                 strcmp(p->legend[i].text, n.name) == 0;
        if (!seen) p->legend[p->legend_count++] = (named){n.name, n.kind};
      }
    }
  }
}

/* Its place from 1; 0 if it has none. */
static int in_legend(const picture *p, const kmb_trace_op *op) {
  for (int i = 0; i < p->legend_count; i++) {
    if (p->legend[i].kind == op->kind &&
        strcmp(p->legend[i].text, op->name) == 0)
      return i + 1;
  }
  return 0;
}

static colour colour_of(const picture *p, const kmb_trace_op *op) {
  int place = in_legend(p, op);
  return place ? palette[place - 1] : other_colour;
}

/* Drawing. */

static void draw_heads(picture *p) {
  cairo_t *c = p->cairo;
  for (size_t i = 0; i < p->lane_count; i++) {
    const lane *l = &p->lanes[i];
    kmb_gaps_device d = kmb_gaps_device_init();
    char text[160];
    double share = 0;
    set_colour(c, lane_colour);
    cairo_rectangle(c, LEFT, l->y, WIDTH - LEFT - RIGHT, LANE);
    cairo_fill(c);
    set_colour(c, ink);
    cairo_set_font_size(c, SMALL);
    if (l->known)
      snprintf(text, sizeof text, "stream %llu", (unsigned long long)l->stream);
    else
      snprintf(text, sizeof text, "stream unknown");
    put_text(c, 16, l->y + LANE * 0.65, LEFT - 24, text);
    if ((i && l->device == p->lanes[i - 1].device) ||
        kmb_gaps_get_device(p->gaps, l->device, &d))
      continue;
    int used = d.flags & KMB_GAPS_HAS_DEVICE
                   ? snprintf(text, sizeof text, "Device %llu%s%.80s",
                              (unsigned long long)d.device, *d.name ? ": " : "",
                              d.name)
                   : snprintf(text, sizeof text, "Device of unknown number");
    if (kmb_gaps_utilization(p->gaps, l->device, &share))
      snprintf(text + used, sizeof text - (size_t)used,
               ", utilization withheld");
    else
      snprintf(text + used, sizeof text - (size_t)used, ", busy %.1f%%",
               100 * share);
    cairo_set_font_size(c, LARGE);
    put_text(c, 16, l->y - 9, WIDTH - 40, text);
  }
}

/* From the first row of a device to its last. */
static void shade(picture *p, uint32_t device, uint64_t start, uint64_t end) {
  double from = 0, to = 0, x = x_of(p, start);
  for (size_t i = 0; i < p->lane_count; i++) {
    if (p->lanes[i].device != device) continue;
    if (to == 0) from = p->lanes[i].y;
    to = p->lanes[i].y + LANE;
  }
  if (x_of(p, end) - x < 0.3) return;
  set_colour(p->cairo, gap_colour);
  cairo_rectangle(p->cairo, x, from, x_of(p, end) - x, to - from);
  cairo_fill(p->cairo);
}

static bool draw_gaps(picture *p, const trace_options *o) {
  uint64_t *ends = calloc(p->devices, sizeof *ends);
  if (!ends) return false;
  for (uint64_t i = 0; i < p->ops; i++) {
    kmb_trace_op op = kmb_trace_op_init();
    if (kmb_trace_get_op(p->trace, i, &op) || !is_wanted(o, &op)) continue;
    uint32_t d = device_of(p, &op);
    if (ends[d] && op.start_ns > ends[d]) shade(p, d, ends[d], op.start_ns);
    if (op.end_ns > ends[d]) ends[d] = op.end_ns;
  }
  free(ends);
  return true;
}

static void draw_op(picture *p, const kmb_trace_op *op) {
  cairo_t *c = p->cairo;
  lane *l = lane_of(p, op);
  double x = x_of(p, op->start_ns), end = x_of(p, op->end_ns);
  if (!l) return;
  if (end - x < 1) {
    /* Within a pixel that is filled already nothing would be seen. */
    if (end <= l->drawn_to) return;
    if (x < l->drawn_to) x = l->drawn_to;
    end = x + 1;
  }
  if (end > l->drawn_to) l->drawn_to = end;
  set_colour(c, colour_of(p, op));
  cairo_rectangle(c, x, l->y + 1, end - x, LANE - 2);
  cairo_fill(c);
  if (end - x < 24) return;
  set_colour(c, (colour){1, 1, 1});
  /* What a name begins with says most, but not this word. */
  const char *text =
      strncmp(op->name, "void ", 5) == 0 ? op->name + 5 : op->name;
  put_text(c, x + 3, l->y + LANE * 0.65, end - x - 6, text);
}

static void draw_ops(picture *p, const trace_options *o) {
  cairo_set_font_size(p->cairo, SMALL);
  for (uint64_t i = 0; i < p->ops; i++) {
    kmb_trace_op op = kmb_trace_op_init();
    if (kmb_trace_get_op(p->trace, i, &op) || !is_wanted(o, &op)) continue;
    draw_op(p, &op);
  }
}

/* A round step, so that there are six to fifteen of them. */
static double step_of(double span) {
  double step = 1;
  while (step * 15 < span)
    step *= 10;
  if (step > 1 && span / (step / 5) <= 15) return step / 5;
  if (step > 1 && span / (step / 2) <= 15) return step / 2;
  return step;
}

static void draw_axis(picture *p) {
  static const struct {
    double ns;
    const char *unit;
  } units[] = {{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}};
  cairo_t *c = p->cairo;
  double span = (double)(p->last - p->first), step = step_of(span);
  double y = p->lanes[p->lane_count - 1].y + LANE + 4;
  int unit = 0;
  while (unit < 3 && span >= units[unit + 1].ns)
    unit++;
  cairo_set_font_size(c, SMALL);
  cairo_set_line_width(c, 1);
  for (int i = 0; i * step <= span; i++) {
    char text[48];
    double t = i * step;
    double x = LEFT + t / span * (WIDTH - LEFT - RIGHT);
    set_colour(c, pale);
    for (size_t k = 0; k < p->lane_count; k++) {
      cairo_move_to(c, x, p->lanes[k].y - LANE_GAP / 2.0);
      cairo_line_to(c, x, p->lanes[k].y + LANE + LANE_GAP / 2.0);
    }
    cairo_stroke(c);
    set_colour(c, ink);
    snprintf(text, sizeof text, "%.6g %s", t / units[unit].ns,
             units[unit].unit);
    put_text(c, x - 2, y + 18, 120, text);
  }
}

static void draw_legend(picture *p) {
  cairo_t *c = p->cairo;
  double y = p->lanes[p->lane_count - 1].y + LANE + AXIS + 8;
  double half = (WIDTH - 32) / 2.0;
  for (int i = 0, shown = 0; i < p->legend_count + 2; i++) {
    int row = shown / 2;
    double x = 16 + (shown % 2) * half, at = y + row * (double)LEGEND;
    bool gap = i == p->legend_count + 1, rest = i == p->legend_count;
    if (rest && !p->others) continue;
    shown++;
    set_colour(c, gap ? gap_colour : rest ? other_colour : palette[i]);
    cairo_rectangle(c, x, at, 14, 12);
    cairo_fill(c);
    set_colour(c, ink);
    put_text(c, x + 20, at + 10, half - 40,
             gap    ? "the device does nothing"
             : rest ? "everything else"
                    : p->legend[i].text);
  }
}

static void draw_title(picture *p, const char *path) {
  char text[300];
  const char *slash = strrchr(path, '/');
  snprintf(text, sizeof text, "%.150s; 0 is %.9f s of its own clock",
           slash ? slash + 1 : path, (double)p->first / 1e9);
  set_colour(p->cairo, ink);
  cairo_set_font_size(p->cairo, LARGE);
  put_text(p->cairo, 16, 22, WIDTH - 32, text);
}

static cairo_status_t write_stream(void *file, const unsigned char *data,
                                   unsigned size) {
  return fwrite(data, 1, size, file) == size ? CAIRO_STATUS_SUCCESS
                                             : CAIRO_STATUS_WRITE_ERROR;
}

static bool ends_with(const char *text, const char *end) {
  size_t size = strlen(text), tail = strlen(end);
  return size > tail && strcmp(text + size - tail, end) == 0;
}

static cairo_surface_t *open_surface(const char *path, double height,
                                     FILE *file) {
  if (ends_with(path, ".svg"))
    return cairo_svg_surface_create_for_stream(write_stream, file, WIDTH,
                                               height);
  if (ends_with(path, ".pdf"))
    return cairo_pdf_surface_create_for_stream(write_stream, file, WIDTH,
                                               height);
  return cairo_image_surface_create(CAIRO_FORMAT_RGB24, 2 * WIDTH,
                                    2 * (int)height);
}

static bool draw(picture *p, const trace_options *o) {
  cairo_select_font_face(p->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         CAIRO_FONT_WEIGHT_NORMAL);
  set_colour(p->cairo, (colour){1, 1, 1});
  cairo_paint(p->cairo);
  draw_title(p, o->path);
  draw_heads(p);
  if (!draw_gaps(p, o)) return false;
  draw_axis(p);
  draw_ops(p, o);
  draw_legend(p);
  return true;
}

static int write_picture(picture *p, const trace_options *o, const char *path) {
  out_file out;
  int code = out_open(&out, path);
  if (code) return code;
  bool image = ends_with(path, ".png");
  cairo_surface_t *surface = open_surface(path, p->height, out.file);
  p->cairo = cairo_create(surface);
  if (image) cairo_scale(p->cairo, 2, 2);
  bool drawn = draw(p, o);
  cairo_status_t status = cairo_status(p->cairo);
  if (drawn && image && !status)
    status = cairo_surface_write_to_png_stream(surface, write_stream, out.file);
  cairo_destroy(p->cairo);
  cairo_surface_finish(surface);
  if (!status) status = cairo_surface_status(surface);
  cairo_surface_destroy(surface);
  /* What the disk says of a failed write is told there. */
  if (drawn && (!status || status == CAIRO_STATUS_WRITE_ERROR))
    return out_close(&out);
  out_abandon(&out);
  fprintf(stderr, "kmb: %s: not drawn: %s\n", path,
          drawn ? cairo_status_to_string(status) : "out of memory");
  return EXIT_FAILED;
}

/* What is there to draw; false if there are too many streams. */
static bool collect(picture *p, const trace_options *o) {
  p->devices = kmb_gaps_device_count(p->gaps);
  p->first = UINT64_MAX;
  choose_legend(p);
  for (uint64_t i = 0; i < p->ops; i++) {
    kmb_trace_op op = kmb_trace_op_init();
    if (kmb_trace_get_op(p->trace, i, &op) || !is_wanted(o, &op)) continue;
    if (op.start_ns < p->first) p->first = op.start_ns;
    if (op.end_ns > p->last) p->last = op.end_ns;
    if (!lane_of(p, &op)) return false;
    p->others = p->others || !in_legend(p, &op);
  }
  place_lanes(p);
  return true;
}

/* A picture in which nothing is marked would say that nothing ran. */
static bool has_target(const trace_options *o, const kmb_gaps *gaps) {
  kmb_gaps_target target = kmb_gaps_target_init();
  for (uint64_t i = 0; i < kmb_gaps_device_count(gaps); i++)
    if (!kmb_gaps_get_target(gaps, i, &target)) return true;
  return !o->gaps.kernel;
}

static int plot(const trace_options *o, const char *path,
                const kmb_trace *trace, kmb_gaps *gaps) {
  picture p = {.trace = trace, .gaps = gaps};
  kmb_trace_info info = kmb_trace_info_init();
  if (!kmb_gaps_device_count(gaps)) {
    fprintf(stderr, "kmb: %s: there are no operations to draw\n", o->path);
    return EXIT_USAGE;
  }
  if (!has_target(o, gaps)) {
    fprintf(stderr, "kmb: %s: no kernel matches \"%s\"\n", o->path,
            o->gaps.kernel);
    return EXIT_USAGE;
  }
  if (kmb_trace_get_info(trace, &info)) return EXIT_FAILED;
  p.ops = info.ops;
  p.lanes = calloc(LANES_MOST, sizeof *p.lanes);
  int code = EXIT_FAILED;
  if (!p.lanes)
    fputs("kmb: out of memory\n", stderr);
  else if (!collect(&p, o))
    fprintf(stderr,
            "kmb: %s: more than %d streams; draw one device with --device\n",
            o->path, (int)LANES_MOST);
  else
    code = write_picture(&p, o, path);
  free(p.lanes);
  return code;
}

static int read_options(int argc, char **argv, trace_options *o,
                        const char **out) {
  o->trace = kmb_trace_params_init();
  o->trace.flags = KMB_TRACE_NO_SHAPES;
  o->gaps = kmb_gaps_params_init();
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i];
    bool output = strcmp(word, "-o") == 0;
    int taken = OPTION_TAKEN;
    if (output || strcmp(word, "--kernel") == 0) {
      const char *value = option_value(name, argc, argv, &i);
      if (!value) return EXIT_USAGE;
      *(output ? out : &o->gaps.kernel) = value;
    } else {
      taken = take_trace_option(name, argc, argv, &i, o);
    }
    if (taken == OPTION_WRONG) return EXIT_USAGE;
    if (taken == OPTION_OTHER)
      return usage(name, "there is no option \"%s\"", word);
  }
  if (!o->path) return usage(name, "a file is needed");
  if (!*out) return usage(name, "-o and a file to write are needed");
  if (!ends_with(*out, ".svg") && !ends_with(*out, ".png") &&
      !ends_with(*out, ".pdf"))
    return usage(name, "\"%s\" ends neither in .svg, .png nor .pdf", *out);
  return EXIT_DONE;
}

int plot_timeline_main(int argc, char **argv) {
  trace_options o = {.path = NULL};
  const char *out = NULL;
  kmb_trace *trace = NULL;
  kmb_gaps *gaps = NULL;
  if (read_options(argc, argv, &o, &out) || !o.path || !out) return EXIT_USAGE;
  int code = load_trace(&o, &trace);
  if (!code) code = report(kmb_gaps_analyse(trace, &o.gaps, &gaps));
  if (!code) code = plot(&o, out, trace, gaps);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
  return code;
}

#else

int plot_timeline_main(int argc, char **argv) {
  (void)argc;
  (void)argv;
  return usage(name, "this kmb was built without cairo; install it (Debian "
                     "package libcairo2-dev) and build again");
}

#endif
