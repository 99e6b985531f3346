/* Between-process spread. The median of each process is one draw; nothing is
 * assumed of how they are distributed. */
#include "spread.h"

#include "out.h"

#include <math.h>
#include <stdlib.h>

bool median_places(size_t count, double level, size_t *low, size_t *high,
                   double *confidence) {
  /* Both tails of a binomial (count, 1/2) below and above the two values. */
  double term = ldexp(1, -(int)count), tail = term;
  size_t k = 0;
  if (count < 2 || count > PROCESSES_MOST || 1 - 2 * tail < level) return false;
  while (2 * (k + 1) < count) {
    term = term * (double)(count - k) / (double)(k + 1);
    if (1 - 2 * (tail + term) < level) break;
    tail += term;
    k++;
  }
  *low = k;
  *high = count - 1 - k;
  *confidence = 1 - 2 * tail;
  return true;
}

size_t processes_needed(double level) {
  size_t count = 2;
  while (count < PROCESSES_MOST && 1 - ldexp(1, 1 - (int)count) < level)
    count++;
  return count;
}

typedef struct median {
  double ns;
  const kmb_result *result;
} median;

static int by_time(const void *a, const void *b) {
  const median *x = a, *y = b;
  return (x->ns > y->ns) - (x->ns < y->ns);
}

static bool has_doubt(const kmb_result *result) {
  kmb_finding f = kmb_finding_init();
  for (uint64_t i = 0; i < kmb_result_finding_count(result); i++)
    if (!kmb_result_finding(result, i, &f) && f.severity == KMB_DOUBT)
      return true;
  return false;
}

/* Row after row of `count` medians. */
static void summarise(median *medians, size_t count, double level, spread *s) {
  size_t low = 0, high = 0;
  *s = (spread){.doubted = 0};
  for (size_t i = 0; i < count; i++)
    s->doubted += has_doubt(medians[i].result);
  qsort(medians, count, sizeof *medians, by_time);
  s->result = medians[(count - 1) / 2].result;
  s->median_ns = medians[(count - 1) / 2].ns;
  s->min_ns = medians[0].ns;
  s->max_ns = medians[count - 1].ns;
  s->has_interval = median_places(count, level, &low, &high, &s->confidence);
  s->low_ns = medians[low].ns;
  s->high_ns = medians[high].ns;
}

static bool wrong(size_t process, const kmb_result *r, const char *what) {
  fprintf(stderr, "kmb: process %zu: %s: \"%s\"", process + 1, what,
          result_name(r));
  for (uint64_t i = 0; i < kmb_result_axis_count(r); i++) {
    kmb_pair axis = {"", ""};
    kmb_result_axis(r, i, &axis);
    fprintf(stderr, " %s=%s", axis.key, axis.value);
  }
  fputc('\n', stderr);
  return false;
}

/* Adds the column of one process; the first one's points are the rows. */
static bool add_process(results_file *files, size_t process, size_t count,
                        median *medians) {
  compare_options o = {.different = true};
  comparison_table t;
  char why[256], what[320];
  results_file *f = &files[process];
  bool good = compare_files(&files[0], f, &o, &t);
  if (good && t.only_old_count)
    good = wrong(process, t.only_old[0], "a point is missing");
  if (good && t.only_fresh_count)
    good = wrong(process, t.only_fresh[0],
                 "a point that the first process has not");
  for (size_t i = 0; good && i < t.count; i++) {
    median *m = &medians[i * count + process];
    *m = (median){result_f64(t.rows[i].fresh, KMB_VALUE_TIME), t.rows[i].fresh};
    if (find_difference(t.rows[i].old, m->result, why, sizeof why)) {
      snprintf(what, sizeof what,
               "measured in another way than in the first, "
               "%s",
               why);
      good = wrong(process, m->result, what);
    } else if (!(m->ns > 0)) {
      good = wrong(process, m->result, "no time above 0");
    }
  }
  comparison_table_free(&t);
  return good;
}

bool collect_spread(results_file *files, size_t count, double level,
                    spread **points, size_t *point_count) {
  size_t rows = files[0].count;
  median *medians = calloc(rows * count + 1, sizeof *medians);
  *points = calloc(rows + 1, sizeof **points);
  *point_count = rows;
  bool good = medians && *points;
  if (!good) fputs("kmb: out of memory\n", stderr);
  for (size_t i = 0; good && i < count; i++)
    good = add_process(files, i, count, medians);
  for (size_t i = 0; good && i < rows; i++)
    summarise(&medians[i * count], count, level, &(*points)[i]);
  free(medians);
  return good;
}

/* Writing. */

static void set_meta(json_t *metadata, const char *key, int digits,
                     double number) {
  char text[64];
  snprintf(text, sizeof text, "%.*g", digits, number);
  json_object_set_new(metadata, key, json_string(text));
}

/* A result as the library writes it, and what the processes add. NULL if there
 * is no memory. */
static json_t *result_json(const spread *s, size_t processes, double level) {
  char *data = NULL, text[128];
  size_t size = 0;
  json_t *document = NULL, *result = NULL;
  FILE *memory = open_memstream(&data, &size);
  if (!memory) return NULL;
  kmb_status status = kmb_result_write_json(s->result, write_file, memory);
  if (fclose(memory) == 0 && !status)
    document = json_loadb(data, size, JSON_REJECT_DUPLICATES, NULL);
  free(data);
  result = json_array_get(json_object_get(document, "results"), 0);
  json_t *metadata = json_object_get(result, "metadata");
  json_t *absent = json_object_get(result, "metadata_absent");
  json_incref(result);
  json_decref(document);
  if (!result) return NULL;
  set_meta(metadata, "processes.count", 17, (double)processes);
  set_meta(metadata, "processes.level_pct", 6, 100 * level);
  set_meta(metadata, "processes.min_ns", 17, s->min_ns);
  set_meta(metadata, "processes.max_ns", 17, s->max_ns);
  set_meta(metadata, "processes.doubted", 17, (double)s->doubted);
  if (s->has_interval) {
    set_meta(metadata, "processes.low_ns", 17, s->low_ns);
    set_meta(metadata, "processes.high_ns", 17, s->high_ns);
    set_meta(metadata, "processes.confidence_pct", 6, 100 * s->confidence);
    return result;
  }
  snprintf(text, sizeof text, "%zu processes; %.6g%% need %zu", processes,
           100 * level, processes_needed(level));
  json_object_set_new(absent, "processes.low_ns", json_string(text));
  json_object_set_new(absent, "processes.high_ns", json_string(text));
  return result;
}

int write_spread(const char *path, const spread *points, size_t point_count,
                 size_t processes, double level) {
  out_file out;
  int code = out_open(&out, path);
  if (code) return code;
  json_t *results = json_array();
  bool good = true;
  for (size_t i = 0; i < point_count && good; i++)
    good = json_array_append_new(
               results, result_json(&points[i], processes, level)) == 0;
  json_t *document =
      json_pack("{s:s, s:i, s:{s:s, s:s}, s:o}", "schema", "kmb-result",
                "version", 1, "generator", "name", "kmb run", "version",
                kmb_version(), "results", results);
  good = good && document &&
         json_dumpf(document, out.file,
                    JSON_INDENT(1) | JSON_REAL_PRECISION(17)) == 0;
  json_decref(document);
  if (good || ferror(out.file)) return out_close(&out);
  out_abandon(&out);
  return no_memory();
}

/* Reading. */

bool spread_bounds(const kmb_result *result, double *low, double *high,
                   bool *few) {
  *few = false;
  if (!*result_meta(result, "processes.count")) return false;
  *few = !read_real(result_meta(result, "processes.low_ns"), low) ||
         !read_real(result_meta(result, "processes.high_ns"), high);
  return !*few;
}

bool spread_doubted(const kmb_result *result) {
  const char *doubted = result_meta(result, "processes.doubted");
  return *doubted && strcmp(doubted, "0") != 0;
}
