/* Loading a trace: opens the source, looks at its beginning, and hands it to
 * the importer. */
#include "error.h"
#include "structs.h"
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  PATH_SIZE = 4096,
  /* As much as the longest preamble that an importer looks through. */
  LOOK_SIZE = 64 << 10
};
#define UNPACKED_LIMIT (8ULL << 30)

const char *kmb_trace_format_name(kmb_trace_format format) {
  switch (format) {
#define CASE(name, value, text) \
  case value:                   \
    return text;
    KMB_TRACE_FORMAT_MAP(CASE)
#undef CASE
  default:
    return "unknown";
  }
}

/* At a brace: whether libkmb's own key comes first. */
static bool is_ours(const char *at) {
  static const char key[] = "\"kmb_trace\"";
  at += 1 + strspn(at + 1, " \t\r\n");
  return strncmp(at, key, sizeof key - 1) == 0;
}

/* What the beginning says; AUTO for a text that may be a table. */
static kmb_trace_format look(const kmbi_source *source) {
  const char *at = source->buffer + source->begin;
  size_t size = source->end - source->begin;
  if (size >= 16 && memcmp(at, "SQLite format 3", 16) == 0)
    return KMB_TRACE_NSYS_SQLITE;
  if (size >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) at += 3;
  at += strspn(at, " \t\r\n");
  if (*at == '{' && is_ours(at)) return KMB_TRACE_KMB;
  return *at == '{' || *at == '[' ? KMB_TRACE_CHROME_JSON : KMB_TRACE_AUTO;
}

static bool ends_with(const char *text, const char *end) {
  size_t size = strlen(text), tail = strlen(end);
  return size >= tail && strcmp(text + size - tail, end) == 0;
}

static bool is_report(const char *path) {
  return ends_with(path, ".nsys-rep") || ends_with(path, ".qdrep");
}

static bool is_file_format(kmb_trace_format format) {
  return format == KMB_TRACE_NSYS_SQLITE || format == KMB_TRACE_NVPROF ||
         format == KMB_TRACE_NSYS_REP;
}

static kmb_status load_file(kmb_trace *trace, const kmbi_source *source,
                            const char *path, kmb_trace_format format) {
  return format == KMB_TRACE_NSYS_REP
             ? kmbi_load_nsys_rep(trace, source, path)
             : kmbi_load_sqlite(trace, source, path, format);
}

static kmb_status load_as(kmb_trace *trace, kmbi_source *source,
                          kmb_trace_format format) {
  char path[PATH_SIZE];
  if (format == KMB_TRACE_AUTO) format = look(source);
  if (format == KMB_TRACE_CHROME_JSON) return kmbi_load_chrome(trace, source);
  if (format == KMB_TRACE_KMB) return kmbi_load_kmb(trace, source);
  if (!is_file_format(format)) return kmbi_load_csv(trace, source, format);
  if (source->path && !source->packed)
    return load_file(trace, source, source->path, format);
  kmb_status status = kmbi_source_spool(source, path, sizeof path);
  if (status) return status;
  status = load_file(trace, source, path, format);
  unlink(path);
  return status;
}

static bool is_packed(const kmbi_source *source) {
  return source->end - source->begin >= 2 &&
         memcmp(source->buffer + source->begin, "\x1F\x8B", 2) == 0;
}

/* Enough of the beginning to look at. */
static kmb_status begin(kmbi_source *source) {
  kmb_status status = KMB_OK;
  do {
    status = kmbi_source_fill(source);
  } while (!status && !source->ended && source->end < LOOK_SIZE);
  return status;
}

static kmb_status load_packed(kmb_trace *trace, kmbi_source *source,
                              kmb_trace_format format) {
  kmbi_source plain = {0};
  kmb_status status = kmbi_gunzip_open(source, &plain);
  if (status) return status;
  status = begin(&plain);
  if (!status && is_packed(&plain))
    status = kmbi_source_fail(source, 0, 0,
                              "packed with gzip twice; unpack it "
                              "once");
  if (!status) status = load_as(trace, &plain, format);
  kmbi_source_release(&plain);
  kmbi_gunzip_close(&plain);
  return status;
}

static kmb_status load(kmb_trace *trace, kmbi_source *source) {
  kmb_trace_format format = source->params->format;
  if (format == KMB_TRACE_AUTO && source->path && is_report(source->path))
    format = KMB_TRACE_NSYS_REP;
  if (format == KMB_TRACE_NSYS_REP && source->path)
    return kmbi_load_nsys_rep(trace, source, source->path);
  kmb_status status = begin(source);
  if (status) return status;
  return is_packed(source) ? load_packed(trace, source, format)
                           : load_as(trace, source, format);
}

static kmb_status load_source(kmbi_source *source, kmb_trace **out) {
  kmb_trace *trace = NULL;
  kmbi_error_state before;
  kmbi_error_save(&before);
  kmb_status status = kmbi_trace_create(&source->memory, &trace);
  if (!status) status = load(trace, source);
  if (!status) status = kmbi_trace_finish(trace);
  kmbi_source_release(source);
  if (!status) {
    *out = trace;
    return KMB_OK;
  }
  kmb_trace_destroy(trace);
  return kmbi_callback_failed(status, &before);
}

static kmb_status check_params(const kmb_trace_params *params,
                               kmb_trace_params *copy) {
  *copy = kmb_trace_params_init();
  if (params) {
    kmb_status status = kmbi_copy_in(copy, sizeof *copy, KMBI_TRACE_PARAMS_V1,
                                     params, "kmb_trace_params");
    if (status) return status;
  }
  if (copy->flags & ~(uint32_t)KMB_TRACE_NO_SHAPES)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "kmb_trace_params: a flag is set that libkmb %s does not "
                     "know",
                     KMB_VERSION);
  if (strcmp(kmb_trace_format_name(copy->format), "unknown") == 0)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_trace_params: no format has number %d; see "
                     "KMB_TRACE_FORMAT_MAP",
                     (int)copy->format);
  if (!copy->unpacked_limit) copy->unpacked_limit = UNPACKED_LIMIT;
  return KMB_OK;
}

static kmb_status set_up(kmbi_source *source, const kmb_trace_params *params,
                         const char *name, kmb_hooks *hooks) {
  *hooks = kmb_hooks_init();
  if (params->hooks) {
    kmb_status status = kmbi_copy_in(hooks, sizeof *hooks, sizeof *hooks,
                                     params->hooks, "kmb_hooks");
    if (status) return status;
    if (!hooks->alloc != !hooks->free)
      return kmbi_fail(KMB_ERR_INVALID,
                       "kmb_hooks: give both alloc and free, or neither");
  }
  source->memory = kmbi_memory_from(hooks);
  source->cancel = hooks->cancel;
  source->params = params;
  source->name = params->name ? params->name : name;
  return KMB_OK;
}

static kmb_status read_file(void *user, void *data, size_t size, size_t *got) {
  const int *file = user;
  ssize_t count = 0;
  do {
    count = read(*file, data, size);
  } while (count < 0 && errno == EINTR);
  if (count < 0)
    return kmbi_fail(KMB_ERR_IO, "cannot read a trace: errno %d", errno);
  *got = (size_t)count;
  return KMB_OK;
}

static kmb_status open_file(const char *path, int *file, uint64_t *size) {
  struct stat info;
  *file = open(path, O_RDONLY | O_CLOEXEC);
  if (*file < 0)
    return kmbi_fail(KMB_ERR_IO, "cannot open %s: %s", path,
                     errno == ENOENT   ? "there is no such file"
                     : errno == EACCES ? "permission denied"
                                       : "see errno");
  bool good = fstat(*file, &info) == 0;
  if (good && !S_ISDIR(info.st_mode)) {
    *size = S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
    return KMB_OK;
  }
  close(*file);
  return kmbi_fail(KMB_ERR_IO, "cannot read %s: %s", path,
                   good ? "it is a folder" : "fstat() failed");
}

kmb_status kmb_trace_load(const char *path, const kmb_trace_params *params,
                          kmb_trace **trace) {
  kmb_trace_params copy;
  kmb_hooks hooks;
  kmbi_source source = {0};
  int file = -1;
  if (trace) *trace = NULL;
  if (!path || !trace)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_trace_load: %s is NULL",
                     !path ? "path" : "trace");
  kmb_status status = check_params(params, &copy);
  if (!status) status = set_up(&source, &copy, path, &hooks);
  if (!status) status = open_file(path, &file, &source.total);
  if (status) return status;
  source.path = path;
  source.read = read_file;
  source.user = &file;
  status = load_source(&source, trace);
  close(file);
  return status;
}

kmb_status kmb_trace_read(kmb_read_fn read, void *user,
                          const kmb_trace_params *params, kmb_trace **trace) {
  kmb_trace_params copy;
  kmb_hooks hooks;
  kmbi_source source = {0};
  if (trace) *trace = NULL;
  if (!read || !trace)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_trace_read: %s is NULL",
                     !read ? "read" : "trace");
  kmb_status status = check_params(params, &copy);
  if (!status) status = set_up(&source, &copy, "trace", &hooks);
  if (status) return status;
  source.read = read;
  source.user = user;
  return load_source(&source, trace);
}
