/* A canvas over cairo. */
#include "plot.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>

static bool ends_in(const char *text, const char *end) {
  size_t a = strlen(text), b = strlen(end);
  return a > b && strcmp(text + a - b, end) == 0;
}

static int failed(const canvas *c, cairo_status_t status) {
  fprintf(stderr, "kmb: %s: %s\n", c->path, cairo_status_to_string(status));
  return EXIT_FAILED;
}

static cairo_status_t put(void *file, const unsigned char *data,
                          unsigned size) {
  return fwrite(data, 1, size, file) == size ? CAIRO_STATUS_SUCCESS
                                             : CAIRO_STATUS_WRITE_ERROR;
}

typedef enum kind { KIND_PNG, KIND_SVG, KIND_PDF } kind;

static int open_surface(canvas *c, kind k, double width, double height) {
  c->width = width;
  c->height = height;
  c->png = k == KIND_PNG;
  if (k == KIND_PNG)
    c->surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
  else if (k == KIND_SVG)
    c->surface =
        cairo_svg_surface_create_for_stream(put, c->stream, width, height);
  else
    c->surface =
        cairo_pdf_surface_create_for_stream(put, c->stream, width, height);
  cairo_status_t status = cairo_surface_status(c->surface);
  if (status) {
    cairo_surface_destroy(c->surface);
    return failed(c, status);
  }
  if (k == KIND_SVG)
    cairo_svg_surface_set_document_unit(c->surface, CAIRO_SVG_UNIT_PX);
  c->cairo = cairo_create(c->surface);
  cairo_set_source_rgb(c->cairo, 1, 1, 1);
  cairo_paint(c->cairo);
  return EXIT_DONE;
}

int canvas_check(const char *path) {
  if (ends_in(path, ".png") || ends_in(path, ".svg") || ends_in(path, ".pdf"))
    return EXIT_DONE;
  fprintf(stderr, "kmb: \"%s\" ends in none of .svg, .png and .pdf\n", path);
  return EXIT_USAGE;
}

int canvas_open(canvas *c, const char *path, double width, double height) {
  memset(c, 0, sizeof *c);
  c->path = path;
  int code = canvas_check(path);
  if (!code) code = out_open(&c->out, path);
  if (code) return code;
  c->stream = c->out.file;
  code = open_surface(c,
                      ends_in(path, ".png")   ? KIND_PNG
                      : ends_in(path, ".svg") ? KIND_SVG
                                              : KIND_PDF,
                      width, height);
  if (code) out_abandon(&c->out);
  return code;
}

int canvas_open_svg(canvas *c, FILE *stream, double width, double height) {
  memset(c, 0, sizeof *c);
  c->path = "a picture";
  c->stream = stream;
  return open_surface(c, KIND_SVG, width, height);
}

int canvas_close(canvas *c) {
  cairo_status_t status = cairo_status(c->cairo);
  cairo_destroy(c->cairo);
  if (!status && c->png)
    status = cairo_surface_write_to_png_stream(c->surface, put, c->stream);
  cairo_surface_finish(c->surface);
  if (!status) status = cairo_surface_status(c->surface);
  cairo_surface_destroy(c->surface);
  if (c->spoilt) {
    out_abandon(&c->out);
    return EXIT_FAILED;
  }
  if (!c->out.file) return status ? failed(c, status) : EXIT_DONE;
  /* What the disk says of a failed write is told there. */
  if (!status || status == CAIRO_STATUS_WRITE_ERROR) return out_close(&c->out);
  out_abandon(&c->out);
  return failed(c, status);
}

void canvas_spoil(canvas *c) {
  c->spoilt = true;
}

void canvas_colour(canvas *c, rgb colour) {
  cairo_set_source_rgb(c->cairo, colour.red, colour.green, colour.blue);
}

void canvas_line(canvas *c, double x0, double y0, double x1, double y1,
                 double width, bool dashed) {
  const double dashes[] = {8, 5};
  cairo_set_dash(c->cairo, dashes, dashed ? 2 : 0, 0);
  cairo_set_line_width(c->cairo, width);
  cairo_move_to(c->cairo, x0, y0);
  cairo_line_to(c->cairo, x1, y1);
  cairo_stroke(c->cairo);
}

static void set_font(canvas *c, double size, bool bold) {
  cairo_select_font_face(c->cairo, "sans", CAIRO_FONT_SLANT_NORMAL,
                         bold ? CAIRO_FONT_WEIGHT_BOLD
                              : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(c->cairo, size);
}

void canvas_text(canvas *c, double x, double y, double size, bool bold,
                 double angle, const char *text) {
  cairo_save(c->cairo);
  set_font(c, size, bold);
  cairo_move_to(c->cairo, x, y);
  cairo_rotate(c->cairo, angle);
  cairo_show_text(c->cairo, text);
  cairo_restore(c->cairo);
}

double canvas_text_width(canvas *c, double size, bool bold, const char *text) {
  cairo_text_extents_t extents;
  set_font(c, size, bold);
  cairo_text_extents(c->cairo, text, &extents);
  return extents.x_advance;
}

void canvas_fit(canvas *c, double size, double width, char *text) {
  static const char dots[] = "…";
  size_t length = strlen(text);
  if (canvas_text_width(c, size, false, text) <= width) return;
  while (length > 0) {
    /* Back to the start of a character. */
    length--;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
      length--;
    if (length + sizeof dots > strlen(text) + 1) continue;
    char saved[sizeof dots];
    memcpy(saved, text + length, sizeof dots);
    memcpy(text + length, dots, sizeof dots);
    if (canvas_text_width(c, size, false, text) <= width) return;
    memcpy(text + length, saved, sizeof dots);
  }
}

static bool overlaps(const box *a, const box *b) {
  return a->left < b->right && b->left < a->right && a->top < b->bottom &&
         b->top < a->bottom;
}

static bool is_free(const canvas *c, const box *limits, const box *b) {
  if (b->left < limits->left || b->right > limits->right ||
      b->top < limits->top || b->bottom > limits->bottom)
    return false;
  for (int i = 0; i < c->taken_count; i++)
    if (overlaps(b, &c->taken[i])) return false;
  return true;
}

void canvas_take(canvas *c, box b) {
  if (c->taken_count < CANVAS_BOXES) c->taken[c->taken_count++] = b;
}

/* Turned text is covered by squares as high as it. */
bool canvas_take_text(canvas *c, const box *limits, double x, double y,
                      double size, double angle, const char *text) {
  double width = canvas_text_width(c, size, false, text);
  int count = angle != 0 ? (int)(width / size) + 1 : 1;
  double step = width / count;
  box boxes[128];
  if (count > 128) return false;
  for (int i = 0; i < count; i++) {
    double at = i * step, cx = x + at * cos(angle), cy = y + at * sin(angle);
    double far = at + step, fx = x + far * cos(angle),
           fy = y + far * sin(angle);
    boxes[i] = (box){fmin(cx, fx) - 2, fmin(cy, fy) - size, fmax(cx, fx) + 2,
                     fmax(cy, fy) + 0.25 * size};
    if (!is_free(c, limits, &boxes[i])) return false;
  }
  for (int i = 0; i < count; i++)
    canvas_take(c, boxes[i]);
  return true;
}
