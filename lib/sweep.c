/* A sweep: results in a file of JSON lines. */
#include <kmb/sweep.h>

#include "device.h"
#include "error.h"
#include "redact.h"
#include "result.h"
#include "text.h"
#include "utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST_FILE (UINT64_C(1) << 30)

struct kmb_sweep {
  kmb_device *device;
  kmbi_memory memory;
  char *path;
  size_t path_size;
  kmb_results *results;
  off_t length; /* of the file's whole lines */
  int file;
};

static kmb_status failed(const kmb_sweep *s, const char *what) {
  char text[96] = "";
  if (strerror_r(errno, text, sizeof text) != 0)
    snprintf(text, sizeof text, "error %d", errno);
  return kmbi_fail(KMB_ERR_IO, "%.120s cannot be %s: %s", s->path, what, text);
}

/* Finding. */

/* Results keep valid UTF-8: what is not in a caller's text became U+FFFD. */
static bool same(const char *kept, const char *given) {
  static const char replaced[] = "\xEF\xBF\xBD";
  while (*given) {
    size_t length = kmbi_utf8_char(given, NULL);
    const char *want = length ? given : replaced;
    size_t size = length ? length : sizeof replaced - 1;
    if (strncmp(kept, want, size) != 0) return false;
    kept += size;
    given += length ? length : 1;
  }
  return !*kept;
}

/* A kept axis, whose key no other has, among those given; it mostly stands in
 * the same place. */
static bool is_given(const kmb_pair *kept, const kmb_pair *axes, uint64_t count,
                     uint64_t near_to) {
  for (uint64_t i = 0; i < count; i++) {
    const kmb_pair *axis = &axes[(near_to + i) % count];
    if (same(kept->key, axis->key))
      return same(kept->value, axis->value ? axis->value : "");
  }
  return false;
}

static bool is_point(const kmb_result *result, const char *name,
                     const kmb_pair *axes, uint64_t count) {
  const char *kept = kmbi_result_get_text(result, KMB_VALUE_NAME);
  if (result->axis_count != count || !same(kept ? kept : "", name))
    return false;
  for (uint64_t i = 0; i < count; i++)
    if (!is_given(&result->axes[i], axes, count, i)) return false;
  return true;
}

static const kmb_result *find(const kmb_results *results, const char *name,
                              const kmb_pair *axes, uint64_t count) {
  for (uint64_t i = 0; i < results->count; i++)
    if (is_point(results->items[i], name, axes, count))
      return results->items[i];
  return NULL;
}

static const kmb_result *find_like(const kmb_results *results,
                                   const kmb_result *result) {
  const char *name = kmbi_result_get_text(result, KMB_VALUE_NAME);
  return find(results, name ? name : "", result->axes, result->axis_count);
}

const kmb_result *kmb_sweep_find(const kmb_sweep *sweep, const char *name,
                                 const kmb_pair *axes, uint64_t count) {
  if (!sweep || (count && !axes)) return NULL;
  for (uint64_t i = 0; i < count; i++)
    if (!axes[i].key) return NULL;
  return find(sweep->results, name ? name : "", axes, count);
}

/* Reading. */

/* What a result says of its device, if both know it, is the sweep's. */
static bool same_device(const kmb_sweep *s, const kmb_result *result,
                        kmb_device_attr attr, const char *key) {
  const char *ours = NULL, *theirs = NULL;
  kmbi_error_state before;
  kmbi_error_save(&before);
  bool known = !kmb_device_attr_text(s->device, attr, &ours) &&
               !kmb_result_metadata_text(result, key, &theirs);
  kmbi_error_restore(&before);
  return !known || same(theirs, ours);
}

static kmb_status check_result(const kmb_sweep *s, const kmb_result *result,
                               uint64_t line) {
  if (!same_device(s, result, KMB_DEVICE_BACKEND, "device.backend") ||
      !same_device(s, result, KMB_DEVICE_NAME, "device.name") ||
      !same_device(s, result, KMB_DEVICE_UUID, "device.uuid"))
    return kmbi_fail(KMB_ERR_INVALID,
                     "%.120s: line %llu was measured on another device; use a "
                     "file of its own for each",
                     s->path, (unsigned long long)line);
  if (find_like(s->results, result))
    return kmbi_fail(KMB_ERR_INVALID,
                     "%.120s: line %llu holds a point that is there already",
                     s->path, (unsigned long long)line);
  return KMB_OK;
}

typedef struct piece {
  const char *data;
  size_t size;
} piece;

static kmb_status give(void *user, void *data, size_t size, size_t *got) {
  piece *p = user;
  *got = p->size < size ? p->size : size;
  memcpy(data, p->data, *got);
  p->data += *got;
  p->size -= *got;
  return KMB_OK;
}

static kmb_status read_line(kmb_sweep *s, piece text, uint64_t line) {
  kmb_results *read = NULL;
  kmb_status status =
      kmb_results_read_json(give, &text, &s->device->hooks, &read);
  if (status == KMB_ERR_FORMAT || status == KMB_ERR_UNSUPPORTED) {
    kmbi_error_state said;
    kmbi_error_save(&said);
    return kmbi_fail(status, "%.100s: line %llu: %.120s", s->path,
                     (unsigned long long)line, said.message);
  }
  for (uint64_t i = 0; !status && i < read->count; i++) {
    kmb_result *result = read->items[i];
    status = check_result(s, result, line);
    if (status) break;
    result->listed = false;
    status = kmb_results_add(s->results, result);
    if (status) break;
    /* It has moved: the other list ends before it. */
    read->items[i] = NULL;
  }
  kmb_results_destroy(read);
  return status;
}

static bool is_blank(piece text) {
  for (size_t i = 0; i < text.size; i++)
    if (!strchr(" \t\r", text.data[i])) return false;
  return true;
}

static kmb_status read_lines(kmb_sweep *s, const char *data, size_t size) {
  size_t at = 0;
  for (uint64_t line = 1; at < size; line++) {
    const char *end = memchr(data + at, '\n', size - at);
    if (!end) break;
    piece text = {data + at, (size_t)(end - data) - at};
    kmb_status status = is_blank(text) ? KMB_OK : read_line(s, text, line);
    if (status) return status;
    at += text.size + 1;
  }
  s->length = (off_t)at;
  return KMB_OK;
}

/* What follows the last whole line was cut short. */
static kmb_status drop_rest(kmb_sweep *s, size_t size) {
  char text[200];
  if ((size_t)s->length == size) return KMB_OK;
  if (ftruncate(s->file, s->length)) return failed(s, "shortened");
  snprintf(text, sizeof text,
           "%.100s: the last line was cut short; %zu bytes are taken away and "
           "the point is measured again",
           s->path, size - (size_t)s->length);
  if (s->device->hooks.log)
    s->device->hooks.log(s->device->hooks.log_user, KMB_LOG_WARNING, text);
  return KMB_OK;
}

static kmb_status read_all(kmb_sweep *s, char *data, size_t size) {
  size_t got = 0;
  while (got < size) {
    ssize_t n = read(s->file, data + got, size - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(s, "read");
    if (n == 0) break;
    got += (size_t)n;
  }
  kmb_status status = read_lines(s, data, got);
  return status ? status : drop_rest(s, got);
}

static kmb_status open_file(kmb_sweep *s, size_t *size) {
  struct stat about;
  s->file = open(s->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (s->file < 0) return failed(s, "opened");
  if (flock(s->file, LOCK_EX | LOCK_NB))
    return errno == EWOULDBLOCK
               ? kmbi_fail(KMB_ERR_BUSY, "%.120s: another sweep has it open",
                           s->path)
               : failed(s, "locked");
  if (fstat(s->file, &about)) return failed(s, "looked at");
  if (!S_ISREG(about.st_mode))
    return kmbi_fail(KMB_ERR_INVALID, "%.120s is no regular file", s->path);
  if ((uint64_t)about.st_size > LARGEST_FILE)
    return kmbi_fail(KMB_ERR_FORMAT, "%.120s has more than 1 GiB; split it",
                     s->path);
  *size = (size_t)about.st_size;
  return KMB_OK;
}

static kmb_status load(kmb_sweep *s) {
  size_t size = 0;
  kmb_status status =
      kmbi_results_open(&s->device->hooks, "kmb_sweep_open", &s->results);
  if (!status) status = open_file(s, &size);
  if (status || !size) return status;
  char *data = kmbi_alloc(&s->memory, size, 1);
  if (!data)
    return kmbi_fail(KMB_ERR_NOMEM, "%.120s: no memory for %zu bytes", s->path,
                     size);
  status = read_all(s, data, size);
  kmbi_free(&s->memory, data, size, 1);
  return status;
}

kmb_status kmb_sweep_open(kmb_device *device, const char *path,
                          kmb_sweep **sweep) {
  if (!path || !sweep)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_sweep_open: %s is NULL",
                     path ? "sweep" : "path");
  *sweep = NULL;
  kmb_status status = kmbi_device_check(device, "kmb_sweep_open");
  if (status) return status;
  size_t size = strlen(path) + 1;
  kmb_sweep *s = kmbi_alloc(&device->memory, 1, sizeof *s);
  char *copy = kmbi_alloc(&device->memory, size, 1);
  if (!s || !copy) {
    kmbi_free(&device->memory, s, 1, sizeof *s);
    kmbi_free(&device->memory, copy, size, 1);
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for a sweep");
  }
  memcpy(copy, path, size);
  *s = (kmb_sweep){.device = device,
                   .memory = device->memory,
                   .path = copy,
                   .path_size = size,
                   .file = -1};
  status = load(s);
  if (status)
    kmb_sweep_close(s);
  else
    *sweep = s;
  return status;
}

/* Writing. */

/* A document on one line: within strings a newline is escaped. */
static kmb_status put_flat(void *user, const void *data, size_t size) {
  kmbi_text *line = user;
  const char *from = data;
  while (size) {
    const char *end = memchr(from, '\n', size);
    size_t part = end ? (size_t)(end - from) : size;
    kmbi_text_put_n(line, from, part);
    if (end) kmbi_text_put(line, " ");
    from += part + (end != NULL);
    size -= part + (end != NULL);
  }
  return line->failed ? KMB_ERR_NOMEM : KMB_OK;
}

static kmb_status write_whole(kmb_sweep *s, const char *data, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t n = write(s->file, data + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return failed(s, "written");
    done += (size_t)n;
  }
  /* Not every kind of file can be synchronised. */
  if (fdatasync(s->file) && errno != EINVAL && errno != ENOTSUP)
    return failed(s, "written");
  return KMB_OK;
}

static kmb_status append(kmb_sweep *s, const kmb_result *result) {
  kmbi_text line;
  kmbi_text_init(&line, &s->memory);
  kmb_status status = kmb_result_write_json(result, put_flat, &line);
  kmbi_text_put(&line, "\n");
  if (!status && line.failed)
    status = kmbi_fail(KMB_ERR_NOMEM, "no memory for a line of results");
  if (!status) status = write_whole(s, line.data, line.size);
  if (!status) s->length += (off_t)line.size;
  kmbi_text_release(&line);
  return status;
}

/* A part of a line must not stay: whoever reads on would stumble over it. */
static void take_back(kmb_sweep *s, off_t length) {
  kmbi_error_state said;
  kmbi_error_save(&said);
  if (ftruncate(s->file, length) == 0) s->length = length;
  kmbi_error_restore(&said);
}

static bool is_redacted(const kmb_result *result) {
  const char *name = kmbi_result_get_text(result, KMB_VALUE_NAME);
  if (name && strstr(name, KMBI_REDACTED)) return true;
  for (uint64_t i = 0; i < result->axis_count; i++)
    if (strstr(result->axes[i].value, KMBI_REDACTED)) return true;
  return false;
}

kmb_status kmb_sweep_add(kmb_sweep *sweep, kmb_result *result) {
  if (!sweep || !result)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_sweep_add: %s is NULL",
                     sweep ? "result" : "sweep");
  if (result->listed)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_sweep_add: the result is in a list already");
  kmb_status alive = kmbi_device_check(sweep->device, "kmb_sweep_add");
  if (alive) return alive;
  if (is_redacted(result))
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_sweep_add: the name or an axis reads as a secret and "
                     "is redacted, so that points cannot be told apart; call "
                     "it otherwise");
  if (find_like(sweep->results, result))
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_sweep_add: the point is there already; look with "
                     "kmb_sweep_find() before measuring");
  off_t length = sweep->length;
  kmb_status status = append(sweep, result);
  if (!status) status = kmb_results_add(sweep->results, result);
  if (status) take_back(sweep, length);
  return status;
}

const kmb_results *kmb_sweep_results(const kmb_sweep *sweep) {
  return sweep ? sweep->results : NULL;
}

void kmb_sweep_close(kmb_sweep *sweep) {
  if (!sweep) return;
  kmbi_memory memory = sweep->memory;
  kmb_results_destroy(sweep->results);
  if (sweep->file >= 0) (void)close(sweep->file);
  kmbi_free(&memory, sweep->path, sweep->path_size, 1);
  kmbi_free(&memory, sweep, 1, sizeof *sweep);
}
