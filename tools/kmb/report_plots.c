/* The pictures of a report: within HTML, beside Markdown. */
#include "report.h"

#ifdef KMB_HAS_CAIRO

#include "plot_samples.h"

#include <stdlib.h>

enum { PATH = 4096 };

typedef struct picture {
  const chart *roofline; /* or */
  const kmb_result *samples;
} picture;

static double height_of(const picture *p) {
  return p->roofline ? roofline_height(p->roofline) : SAMPLES_HEIGHT;
}

static bool draw(canvas *c, const picture *p) {
  if (!p->roofline) return draw_samples(c, p->samples, 0);
  draw_roofline(c, p->roofline);
  return true;
}

/* An SVG in memory, to be freed. */
static int draw_svg(const picture *p, char **svg, size_t *size) {
  canvas *c = calloc(1, sizeof *c);
  FILE *memory = open_memstream(svg, size);
  int code = EXIT_FAILED;
  if (!c || !memory)
    fputs("kmb: out of memory\n", stderr);
  else
    code = canvas_open_svg(c, memory, SAMPLES_WIDTH, height_of(p));
  if (!code) {
    if (!draw(c, p)) canvas_spoil(c);
    code = canvas_close(c);
  }
  if (memory && fclose(memory) != 0 && !code) code = EXIT_FAILED;
  free(c);
  return code;
}

static int put_file(report_pictures *to, const char *path, const char *svg,
                    size_t size) {
  report_picture *items = realloc(to->items, (to->count + 1) * sizeof *items);
  char *name = strdup(path);
  if (items) to->items = items;
  if (!name || !items) {
    free(name);
    return no_memory();
  }
  report_picture *made = &items[to->count++];
  *made = (report_picture){.path = name};
  int code = out_open(&made->out, name);
  if (code) return code;
  fwrite(svg, 1, size, made->out.file);
  return out_finish(&made->out);
}

static int put_beside(document *d, report_pictures *to, const char *path,
                      const char *kind, const char *svg, size_t size,
                      const char *text) {
  char file[PATH];
  size_t stem = strlen(path) - strlen(".md");
  int used = snprintf(file, sizeof file, "%.*s.%s.svg", (int)stem, path, kind);
  if (used < 0 || (size_t)used >= sizeof file)
    return usage("report", "the file's name is too long");
  int code = put_file(to, file, svg, size);
  const char *slash = strrchr(file, '/');
  if (!code) document_picture(d, slash ? slash + 1 : file, text);
  return code;
}

/* Where pictures go: into the document or beside it. */
typedef struct gallery {
  document *d;
  const char *path;
  report_pictures *pictures;
} gallery;

static int put_picture(const gallery *g, const picture *p, const char *kind,
                       const char *text) {
  char *svg = NULL;
  size_t size = 0;
  int code = draw_svg(p, &svg, &size);
  if (!code && g->d->how == MARKUP_HTML)
    document_svg(g->d, svg, size, text);
  else if (!code)
    code = put_beside(g->d, g->pictures, g->path, kind, svg, size, text);
  free(svg);
  return code;
}

/* Only where a result has a place below a ceiling, and all have room. */
static int put_roofline(const gallery *g, const report_data *data) {
  chart *all = calloc(1, sizeof *all);
  bool fits = all != NULL, placed = false;
  int code = EXIT_DONE;
  for (size_t i = 0; i < data->count && fits; i++) {
    fits = chart_add(all, data->items[i]);
    placed = placed || result_f64(data->items[i], KMB_VALUE_INTENSITY) > 0;
  }
  if (fits && placed) {
    picture p = {.roofline = all};
    code = put_picture(g, &p, "roofline", "Results below their ceilings");
  } else if (!fits) {
    document_paragraph(g->d, "There are too many results for one roofline.");
  }
  free(all);
  return code;
}

static bool has_samples(const kmb_result *r) {
  const double *ns = NULL;
  uint64_t count = 0;
  return !kmb_result_samples(r, &ns, &count) && count > 0;
}

int report_plots(document *d, const report_data *data, const char *path,
                 uint64_t most, report_pictures *pictures) {
  char kind[48], label[300], text[340];
  uint64_t drawn = 0, left = 0;
  const gallery g = {d, path, pictures};
  if (!most) return EXIT_DONE;
  document_heading(d, 2, "Plots");
  int code = put_roofline(&g, data);
  for (size_t i = 0; i < data->count && !code; i++) {
    picture p = {.samples = data->items[i]};
    if (!has_samples(p.samples)) continue;
    if (drawn == most) {
      left++;
      continue;
    }
    drawn++;
    snprintf(kind, sizeof kind, "samples-%zu", i + 1);
    point_text(p.samples, label, sizeof label);
    snprintf(text, sizeof text, "Samples of %s", label);
    code = put_picture(&g, &p, kind, text);
  }
  if (!left) return code;
  snprintf(text, sizeof text,
           "The samples of %llu more results are not drawn; --plots says how "
           "many are.",
           (unsigned long long)left);
  document_paragraph(d, text);
  return code;
}

#else

int report_plots(document *d, const report_data *data, const char *path,
                 uint64_t most, report_pictures *pictures) {
  (void)data;
  (void)path;
  (void)pictures;
  if (most)
    document_paragraph(d, "This kmb was built without cairo: no plots.");
  return EXIT_DONE;
}

#endif
