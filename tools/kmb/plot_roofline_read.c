/* Results into the points and ceilings of a roofline. */
#include "plot.h"
#include "results.h"

#include <math.h>

static double f64_of(const kmb_result *r, kmb_value value) {
  double number = 0;
  return kmb_result_f64(r, value, &number) ? 0 : number;
}

static const char *text_of(const kmb_result *r, kmb_value value) {
  const char *text = NULL;
  return kmb_result_text(r, value, &text) ? "" : text;
}

/* One line without control characters, cut between characters. */
static void add_clean(char *to, size_t size, const char *text) {
  size_t used = strlen(to);
  for (; *text && used + 1 < size; text++)
    to[used++] = (unsigned char)*text < ' ' || *text == 127 ? ' ' : *text;
  to[used] = '\0';
  if (!*text) return;
  while (used > 0 && ((unsigned char)to[used - 1] & 0xc0) == 0x80)
    used--;
  if (used > 0 && (unsigned char)to[used - 1] >= 0xc0) used--;
  to[used] = '\0';
}

static bool has_finding(const kmb_result *r, kmb_finding_code code) {
  for (uint64_t i = 0; i < kmb_result_finding_count(r); i++) {
    kmb_finding f = kmb_finding_init();
    if (!kmb_result_finding(r, i, &f) && f.code == code) return true;
  }
  return false;
}

static bool add_roof(chart *c, double value, bool memory, bool rate,
                     const char *name) {
  if (!(value > 0)) return true;
  for (int i = 0; i < c->roof_count; i++) {
    const roof *r = &c->roofs[i];
    if (r->memory == memory && fabs(r->value / value - 1) < 1e-3 &&
        strncmp(r->name, name, NAME - 1) == 0)
      return true;
  }
  if (c->roof_count == ROOFS) return false;
  roof *r = &c->roofs[c->roof_count++];
  r->value = value;
  r->memory = memory;
  r->rate = rate;
  add_clean(r->name, sizeof r->name, *name ? name : "of unknown kind");
  return true;
}

static void name_point(point *p, const kmb_result *r) {
  const char *name = text_of(r, KMB_VALUE_NAME);
  add_clean(p->name, sizeof p->name, *name ? name : "(no name)");
  for (uint64_t i = 0; i < kmb_result_axis_count(r); i++) {
    kmb_pair axis = {0};
    if (kmb_result_axis(r, i, &axis)) continue;
    strncat(p->name, PART, sizeof p->name - strlen(p->name) - 1);
    add_clean(p->name, sizeof p->name, axis.key);
    add_clean(p->name, sizeof p->name, "=");
    add_clean(p->name, sizeof p->name, axis.value);
  }
}

/* Parts of names. */

/* The part after this one; NULL: there is none. */
static const char *next_part(const char *at) {
  const char *end = strpbrk(at, PART);
  return end ? end + 1 : NULL;
}

static bool has_part(const char *name, const char *part, size_t size) {
  for (const char *at = name; at; at = next_part(at))
    if (strcspn(at, PART) == size && strncmp(at, part, size) == 0) return true;
  return false;
}

static bool is_shared(const chart *c, const char *part, size_t size) {
  for (int i = 0; i < c->point_count; i++)
    if (!has_part(c->points[i].name, part, size)) return false;
  return true;
}

/* The parts that are shared, or those that are not. */
static void join(const chart *c, const char *name, bool shared,
                 char text[NAME]) {
  text[0] = '\0';
  for (const char *at = name; at; at = next_part(at)) {
    int size = (int)strcspn(at, PART);
    size_t used = strlen(text);
    if (is_shared(c, at, (size_t)size) != shared) continue;
    snprintf(text + used, NAME - used, "%s%.*s", used ? ", " : "", size, at);
  }
}

void chart_brief(const chart *c, int index, char text[NAME]) {
  join(c, c->points[index].name, false, text);
  if (*text) return;
  snprintf(text, NAME, "%s", c->points[index].name);
  for (char *at = text; *at; at++)
    if (*at == *PART) *at = ' ';
}

void chart_shared(const chart *c, char text[NAME]) {
  text[0] = '\0';
  if (c->point_count > 1) join(c, c->points[0].name, true, text);
}

static void add_source(chart *c, const kmb_result *r) {
  char text[SOURCE] = "";
  const char *part = NULL, *source = NULL;
  if (kmb_result_metadata_text(r, "peaks.part", &part) ||
      kmb_result_metadata_text(r, "peaks.source", &source))
    return;
  add_clean(text, sizeof text, part);
  add_clean(text, sizeof text, ": ");
  add_clean(text, sizeof text, source);
  for (int i = 0; i < c->source_count; i++)
    if (strcmp(c->sources[i], text) == 0) return;
  if (c->source_count < SOURCES)
    memcpy(c->sources[c->source_count++], text, sizeof text);
}

static void add_device(chart *c, const kmb_result *r) {
  const char *name = NULL;
  if (kmb_result_metadata_text(r, "device.name", &name) || !*name) return;
  if (strstr(c->devices, name)) return;
  if (c->devices[0]) add_clean(c->devices, sizeof c->devices, ", ");
  add_clean(c->devices, sizeof c->devices, name);
}

bool chart_add(chart *c, const kmb_result *r) {
  if (c->point_count == POINTS) return false;
  point *p = &c->points[c->point_count++];
  name_point(p, r);
  add_device(c, r);
  add_source(c, r);
  p->intensity = f64_of(r, KMB_VALUE_INTENSITY);
  p->flops = f64_of(r, KMB_VALUE_ACHIEVED_FLOPS);
  p->sol_pct = f64_of(r, KMB_VALUE_SOL_PCT);
  p->reference_pct = f64_of(r, KMB_VALUE_REFERENCE_PCT);
  p->above = has_finding(r, KMB_FINDING_ABOVE_PEAK);
  add_clean(p->bound, sizeof p->bound, text_of(r, KMB_VALUE_PREDICTED_BOUND));
  uint64_t flops = 0, bytes = 0;
  bool work = !kmb_result_u64(r, KMB_VALUE_FLOPS, &flops);
  kmb_result_u64(r, KMB_VALUE_LEAST_BYTES, &bytes);
  if (!(p->intensity > 0) || !(p->flops > 0))
    add_clean(p->why, sizeof p->why,
              !work    ? "no work was stated"
              : !flops ? "counts no FLOPs"
              : !bytes ? "counts no bytes"
                       : "no time is known");
  return add_roof(c, f64_of(r, KMB_VALUE_MEMORY_CEILING), true, false,
                  text_of(r, KMB_VALUE_MEMORY_CEILING_NAME)) &&
         add_roof(c, f64_of(r, KMB_VALUE_COMPUTE_CEILING), false, false,
                  text_of(r, KMB_VALUE_COMPUTE_CEILING_NAME)) &&
         add_roof(c, f64_of(r, KMB_VALUE_RATE_CEILING), false, true,
                  text_of(r, KMB_VALUE_RATE_CEILING_NAME));
}

int chart_read(chart *c, const char *path) {
  results_file f;
  bool good = results_read(path, &f), fits = true;
  int code = EXIT_DONE;
  results_say(&f);
  if (!good) code = f.unreadable ? EXIT_USAGE : EXIT_FORMAT;
  for (size_t i = 0; good && fits && i < f.count; i++)
    fits = chart_add(c, f.items[i]);
  results_free(&f);
  if (fits) return code;
  return usage("plot roofline", "%s: more than %d results or %d ceilings", path,
               POINTS, ROOFS);
}
