/* Reading files of results. */
#define _GNU_SOURCE /* memmem */
#include "results.h"

#include "results_parts.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

KMB_PRINTF(2, 3)
static bool fail(results_file *f, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(f->wrong, sizeof f->wrong, format, arguments);
  va_end(arguments);
  return false;
}

/* A document as a callback that reads: in pieces that follow each other. */
enum { PIECES = 3, APART = 1 << 16, SOON = 1 << 20 };
typedef struct pieces {
  const char *at[PIECES];
  size_t left[PIECES];
} pieces;

static kmb_status read_pieces(void *user, void *data, size_t size,
                              size_t *got) {
  pieces *p = user;
  *got = 0;
  for (int i = 0; i < PIECES && *got < size; i++) {
    size_t room = size - *got;
    size_t part = p->left[i] < room ? p->left[i] : room;
    if (!part) continue;
    memcpy((char *)data + *got, p->at[i], part);
    p->at[i] += part;
    p->left[i] -= part;
    *got += part;
  }
  return KMB_OK;
}

static bool keep(results_file *f, kmb_results *list) {
  if (f->list_count == f->list_capacity) {
    size_t capacity = f->list_capacity ? 2 * f->list_capacity : 16;
    kmb_results **lists = realloc(f->lists, capacity * sizeof(kmb_results *));
    if (!lists) {
      kmb_results_destroy(list);
      return fail(f, "out of memory");
    }
    f->lists = lists;
    f->list_capacity = capacity;
  }
  f->lists[f->list_count++] = list;
  f->count += (size_t)kmb_results_count(list);
  return true;
}

/* The rows of a comparison must be those of its results. */
static bool check_rows(results_file *f, results_comparison *c) {
  json_t *baseline = json_object_get(c->document, "baseline");
  c->rows = json_object_get(c->document, "rows");
  if (json_array_size(c->rows) != c->count)
    return fail(f, "a comparison has %zu rows for %zu results",
                json_array_size(c->rows), c->count);
  json_int_t index = json_integer_value(baseline);
  if (!json_is_integer(baseline) || index < 0 || (size_t)index >= c->count)
    return fail(f, "baseline: not the place of a row of its comparison");
  c->baseline = (size_t)index;
  return true;
}

/* Where a document of results belongs to a comparison: the list read last. */
static bool keep_comparison(results_file *f, const char *data, size_t size) {
  static const char schema[] = "\"kmb-comparison\"";
  json_error_t error;
  /* Nearly all documents are none, and cost no second look. */
  if (!memmem(data, size, schema, sizeof schema - 1)) return true;
  json_t *document = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error);
  if (!document) return fail(f, "%s", error.text);
  const char *is = json_string_value(json_object_get(document, "schema"));
  size_t count = (size_t)kmb_results_count(f->lists[f->list_count - 1]);
  results_comparison *all = NULL;
  bool compared = is && strcmp(is, "kmb-comparison") == 0;
  if (compared)
    all = realloc(f->comparisons, (f->comparison_count + 1) * sizeof *all);
  if (!all) {
    json_decref(document);
    return !compared || fail(f, "out of memory");
  }
  f->comparisons = all;
  all[f->comparison_count] = (results_comparison){
      .document = document, .first = f->count - count, .count = count};
  return check_rows(f, &all[f->comparison_count++]);
}

static kmb_status read_list(results_file *f, pieces *p, kmb_results **list) {
  kmb_hooks hooks = kmb_hooks_init();
  results_memory_hooks(f->memory, &hooks);
  return kmb_results_read_json(read_pieces, p, &hooks, list);
}

/* The results of a long document one after another, each with what precedes all
 * of them, and what follows them with none: the tree of one is small, that of
 * all is not. False if something is odd, of which the whole then says what. */
static bool read_elements(results_file *f, const char *data, const char *end) {
  static const char closing[] = "]}";
  const char *open = find_elements(data, end), *at = open;
  size_t head = open ? (size_t)(open - data) : 0;
  bool first = true;
  while (at) {
    kmb_results *list = NULL;
    const char *stop = next_element(&at, end, first);
    if (!at || (!stop && end - at > APART)) return false;
    pieces p = {{data, at, closing}, {head, 0, sizeof closing - 1}};
    if (stop)
      p.left[1] = (size_t)(stop - at);
    else
      p = (pieces){{data, at}, {head, (size_t)(end - at)}};
    if (read_list(f, &p, &list) || !keep(f, list)) return false;
    if (!stop) return !first;
    first = false;
    at = stop;
  }
  return false;
}

static bool read_apart(results_file *f, const char *data, size_t size) {
  size_t lists = f->list_count, count = f->count;
  if (size < APART) return false;
  if (read_elements(f, data, data + size)) return true;
  while (f->list_count > lists)
    kmb_results_destroy(f->lists[--f->list_count]);
  f->count = count;
  f->wrong[0] = '\0';
  return false;
}

static bool read_document(results_file *f, const char *data, size_t size,
                          uint64_t line) {
  kmb_results *list = NULL;
  pieces p = {{data}, {size}};
  if (read_apart(f, data, size)) return true;
  if (!read_list(f, &p, &list))
    return keep(f, list) && (!f->compared || keep_comparison(f, data, size));
  if (line == 0) return fail(f, "%s", kmb_last_error(NULL, NULL));
  return fail(f, "the document that starts in line %llu: %s",
              (unsigned long long)line, kmb_last_error(NULL, NULL));
}

/* Documents one after another. */
static bool read_documents(results_file *f, const char *data, size_t size) {
  const char *end = data + size;
  uint64_t line = 1;
  for (const char *at = data; at < end; at++) {
    if (*at == '\n') line++;
    if (strchr(" \t\r\n", *at) && *at) continue;
    if (*at != '{')
      return fail(f, "line %llu: a document of results was expected",
                  (unsigned long long)line);
    uint64_t first = line;
    const char *stop = end_of_container(at, end, &line);
    if (!stop) {
      f->cut_line = first;
      return f->list_count > 0 ||
             fail(f,
                  "cut short: the document that starts in line %llu has no "
                  "end, and none precedes it",
                  (unsigned long long)first);
    }
    if (!read_document(f, at, (size_t)(stop - at), first)) return false;
    at = stop - 1;
  }
  return true;
}

/* A document of which soon another follows: JSON lines. */
static bool has_several(const char *data, size_t size) {
  const char *end = data + size;
  const char *at = skip_space(data, end);
  const char *stop = NULL;
  if (at < end && *at == '{')
    stop = end_of_container(at, end - at > SOON ? at + SOON : end, NULL);
  stop = stop ? skip_space(stop, end) : end;
  return stop < end && *stop == '{';
}

/* A file is mostly one document, which is then looked at once. */
static bool read_text(results_file *f, const char *data, size_t size) {
  if (has_several(data, size)) return read_documents(f, data, size);
  if (read_document(f, data, size, 0)) return true;
  if (f->list_count) return false;
  kmb_status status = KMB_OK;
  kmb_last_error(&status, NULL);
  if (status != KMB_ERR_FORMAT) return false;
  char first[sizeof f->wrong];
  memcpy(first, f->wrong, sizeof first);
  f->wrong[0] = '\0';
  if (!read_documents(f, data, size) || f->list_count > 0)
    return f->wrong[0] == '\0';
  return fail(f, "%s", first);
}

static char *slurp(results_file *f, FILE *file, size_t *size) {
  struct stat about;
  size_t capacity = 1 << 16;
  if (fstat(fileno(file), &about) == 0 && about.st_size > 0)
    capacity = (size_t)about.st_size + 1;
  char *data = malloc(capacity);
  *size = 0;
  while (data) {
    *size += fread(data + *size, 1, capacity - *size, file);
    if (*size < capacity) break;
    char *more = capacity > SIZE_MAX / 2 ? NULL : realloc(data, 2 * capacity);
    if (!more) free(data);
    data = more;
    capacity *= 2;
  }
  f->unreadable = true;
  if (!data) {
    fail(f, "out of memory");
  } else if (ferror(file)) {
    fail(f, "cannot be read: %s", strerror(errno));
    free(data);
    data = NULL;
  } else {
    f->unreadable = false;
  }
  return data;
}

static bool list_items(results_file *f) {
  size_t at = 0;
  if (!f->count) return fail(f, "no results");
  f->items = calloc(f->count, sizeof(const kmb_result *));
  if (!f->items) return fail(f, "out of memory");
  for (size_t i = 0; i < f->list_count; i++) {
    uint64_t count = kmb_results_count(f->lists[i]);
    for (uint64_t k = 0; k < count; k++)
      kmb_results_get(f->lists[i], k, &f->items[at++]);
  }
  return true;
}

static bool read_file(const char *path, bool compared, results_file *f) {
  size_t size = 0;
  *f = (results_file){.path = path, .compared = compared};
  f->memory = results_memory_open();
  if (!f->memory) return fail(f, "out of memory");
  FILE *file = fopen(path, "rb");
  if (!file) {
    f->unreadable = true;
    return fail(f, "%s", strerror(errno));
  }
  char *data = slurp(f, file, &size);
  fclose(file);
  if (!data) return false;
  bool good = read_text(f, data, size);
  free(data);
  return good && list_items(f);
}

bool results_read(const char *path, results_file *f) {
  return read_file(path, false, f);
}

bool results_read_compared(const char *path, results_file *f) {
  return read_file(path, true, f);
}

typedef struct task {
  const char *path;
  results_file *file;
} task;

static void *read_task(void *user) {
  task *t = user;
  results_read(t->path, t->file);
  return NULL;
}

bool results_read_both(const char *a, const char *b, results_file *x,
                       results_file *y) {
  pthread_t thread;
  task other = {b, y};
  bool apart = pthread_create(&thread, NULL, read_task, &other) == 0;
  results_read(a, x);
  if (apart)
    pthread_join(thread, NULL);
  else
    results_read(b, y);
  return !x->wrong[0] && !y->wrong[0];
}

void results_say(const results_file *f) {
  if (f->wrong[0]) fprintf(stderr, "kmb: %s: %s\n", f->path, f->wrong);
  if (f->cut_line && !f->wrong[0])
    fprintf(stderr,
            "kmb: %s: cut short: the document that starts in line %llu has no "
            "end and is left out; the %zu results before it are whole\n",
            f->path, (unsigned long long)f->cut_line, f->count);
}

void results_free(results_file *f) {
  for (size_t i = 0; i < f->list_count; i++)
    kmb_results_destroy(f->lists[i]);
  for (size_t i = 0; i < f->comparison_count; i++)
    json_decref(f->comparisons[i].document);
  free(f->comparisons);
  results_memory_close(f->memory);
  free(f->lists);
  free(f->items);
  *f = (results_file){.path = f->path};
}

const char *result_text(const kmb_result *result, kmb_value value) {
  const char *text = NULL;
  return kmb_result_text(result, value, &text) ? "" : text;
}

double result_f64(const kmb_result *result, kmb_value value) {
  double number = 0;
  return kmb_result_f64(result, value, &number) ? 0 : number;
}

uint64_t result_u64(const kmb_result *result, kmb_value value) {
  uint64_t number = 0;
  return kmb_result_u64(result, value, &number) ? 0 : number;
}

const char *result_meta(const kmb_result *result, const char *key) {
  const char *text = NULL;
  return kmb_result_metadata_text(result, key, &text) ? "" : text;
}

const char *result_name(const kmb_result *result) {
  const char *name = result_text(result, KMB_VALUE_NAME);
  return *name ? name : "?";
}

void point_text(const kmb_result *r, char *text, size_t size) {
  int used = snprintf(text, size, "%s", result_name(r));
  for (uint64_t i = 0; i < kmb_result_axis_count(r); i++) {
    kmb_pair axis = {"", ""};
    kmb_result_axis(r, i, &axis);
    if (used < 0 || (size_t)used >= size) return;
    used += snprintf(text + used, size - (size_t)used, " %s=%s", axis.key,
                     axis.value);
  }
}

bool config_text(const kmb_result *r, char *text, size_t size) {
  kmb_metadata_entry e = kmb_metadata_entry_init();
  uint64_t config = result_u64(r, KMB_VALUE_CONFIG);
  size_t used = 0;
  text[0] = '\0';
  for (uint64_t i = 0; i < kmb_result_metadata_count(r) && used < size; i++) {
    if (kmb_result_metadata(r, i, &e) || !e.value ||
        strncmp(e.key, "config.", 7) != 0)
      continue;
    used += (size_t)snprintf(text + used, size - used, "%s%s=%s",
                             used ? " " : "", e.key + 7, e.value);
  }
  if (!used && config) snprintf(text, size, "%llu", (unsigned long long)config);
  return text[0] != '\0';
}
