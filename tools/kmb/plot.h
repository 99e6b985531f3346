/* Drawing: a canvas that becomes an SVG, PNG or PDF file, and the roofline's
 * data. */
#ifndef KMB_TOOLS_PLOT_H
#define KMB_TOOLS_PLOT_H

#include "out.h"

#include <cairo.h>

typedef struct rgb {
  double red, green, blue;
} rgb;

typedef struct box {
  double left, top, right, bottom;
} box;

enum { CANVAS_BOXES = 8192 };

/* Measured in pixels of a PNG; `taken` is where something stands. */
typedef struct canvas {
  cairo_t *cairo;
  cairo_surface_t *surface;
  const char *path;
  out_file out;
  FILE *stream; /* of `out`, or the caller's */
  bool png, spoilt;
  double width, height;
  box taken[CANVAS_BOXES];
  int taken_count;
} canvas;

/* Whether its kind follows from a file's name. An exit status, reported. */
int canvas_check(const char *path);
/* The file's kind follows from its name. An exit status, reported. */
int canvas_open(canvas *c, const char *path, double width, double height);
/* The same as an SVG on a stream, which stays the caller's. */
int canvas_open_svg(canvas *c, FILE *stream, double width, double height);
/* canvas_close() will not write, as was reported. */
void canvas_spoil(canvas *c);
/* Writes the file and frees the canvas. An exit status, reported. */
int canvas_close(canvas *c);
void canvas_colour(canvas *c, rgb colour);
void canvas_line(canvas *c, double x0, double y0, double x1, double y1,
                 double width, bool dashed);
/* Text with its baseline's left end at (x, y), turned by `angle`. */
void canvas_text(canvas *c, double x, double y, double size, bool bold,
                 double angle, const char *text);
double canvas_text_width(canvas *c, double size, bool bold, const char *text);
/* Shortens text with an ellipsis until it fits. */
void canvas_fit(canvas *c, double size, double width, char *text);
/* Reserves the room of such text; false if something stands there or it leaves
 * `limits`. */
bool canvas_take_text(canvas *c, const box *limits, double x, double y,
                      double size, double angle, const char *text);
void canvas_take(canvas *c, box box);

enum { NAME = 192, POINTS = 512, ROOFS = 64, SOURCES = 8, SOURCE = 400 };
/* Between the parts of a point's name: the result's, then each axis. */
#define PART "\x1f"

/* A ceiling of some results. */
typedef struct roof {
  double value;
  bool memory; /* bytes/s; else FLOP/s */
  bool rate;   /* drawn as what follows the clock */
  char name[NAME];
} roof;

typedef struct point {
  double intensity, flops; /* 0: not known, and not drawn */
  double sol_pct;          /* 0: not known */
  double reference_pct;    /* 0: not known */
  bool above;              /* ABOVE_PEAK */
  char name[NAME], bound[16], why[NAME];
} point;

typedef struct chart {
  roof roofs[ROOFS];
  point points[POINTS];
  int roof_count, point_count, source_count;
  char devices[NAME];
  char sources[SOURCES][SOURCE]; /* of datasheets, with how far they are to be
                                    trusted */
} chart;

/* Points that would cover each other share a marker with their numbers. */
typedef struct group {
  double x, y;
  int first, points;
  bool above;
  char numbers[32]; /* from 1: "3, 5–7"; of too many the first */
} group;

typedef struct groups {
  group all[POINTS];
  int of[POINTS]; /* each point's; -1: not drawn */
  int count;
} groups;

/* A point joins the nearest group that it would cover, or founds one. */
void groups_add(groups *g, int index, double x, double y, bool above);
/* Once all are there. */
void groups_number(groups *g, int points);
/* A point's name, without the parts that all points share; and those parts, ""
 * if there are none. */
void chart_brief(const chart *c, int index, char text[NAME]);
void chart_shared(const chart *c, char text[NAME]);
/* False if there is no room. */
bool chart_add(chart *c, const kmb_result *r);
/* As wide as all pictures, and so high. */
double roofline_height(const chart *of);
void draw_roofline(canvas *to, const chart *of);
/* Adds the results of a file. An exit status, reported. */
int chart_read(chart *c, const char *path);

#endif
