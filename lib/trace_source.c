/* Where the bytes of a trace come from: a window over what is read. */
#include "trace.h"

#include "error.h"
#include "scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A scan may look behind the last byte. */
static size_t block_size(size_t capacity) {
  return capacity + KMBI_SCAN_SIZE;
}

static kmb_status grow(kmbi_source *source) {
  if (source->capacity >= KMBI_RECORD_MOST)
    return kmbi_source_fail(source, 0, 0,
                            "one record is longer than %d MiB; is it a trace?",
                            KMBI_RECORD_MOST >> 20);
  size_t capacity = source->capacity ? 2 * source->capacity : KMBI_SOURCE_SIZE;
  char *buffer = kmbi_alloc(&source->memory, block_size(capacity), 1);
  if (!buffer) return kmbi_fail(KMB_ERR_NOMEM, "no memory to read a trace");
  if (source->buffer)
    memcpy(buffer, source->buffer + source->begin, source->end - source->begin);
  kmbi_free(&source->memory, source->buffer, block_size(source->capacity), 1);
  source->buffer = buffer;
  source->capacity = capacity;
  source->end -= source->begin;
  source->begin = 0;
  return KMB_OK;
}

static kmb_status check_limit(const kmbi_source *source) {
  if (!source->limit || source->done <= source->limit) return KMB_OK;
  return kmbi_fail(KMB_ERR_UNSUPPORTED,
                   "%s unpacks to more than %llu bytes; unpack it first, or "
                   "raise unpacked_limit",
                   source->name, (unsigned long long)source->limit);
}

kmb_status kmbi_source_fill(kmbi_source *source) {
  if (source->cancel && *source->cancel)
    return kmbi_fail(KMB_ERR_CANCELLED, "loading %s was cancelled",
                     source->name);
  if (source->begin) {
    memmove(source->buffer, source->buffer + source->begin,
            source->end - source->begin);
    source->end -= source->begin;
    source->begin = 0;
  }
  kmb_status status = KMB_OK;
  if (source->end + 1 >= source->capacity) status = grow(source);
  if (status || source->ended) return status;
  size_t got = 0, room = source->capacity - 1 - source->end;
  status = source->read(source->user, source->buffer + source->end, room, &got);
  if (status) return status;
  if (got > room)
    return kmbi_fail(KMB_ERR_INVALID,
                     "the read callback gave %zu bytes where %zu were asked "
                     "for",
                     got, room);
  source->ended = got == 0;
  source->end += got;
  source->buffer[source->end] = '\0';
  source->done += got;
  if (!source->packed && source->params->progress)
    source->params->progress(source->params->progress_user, source->done,
                             source->total);
  return check_limit(source);
}

void kmbi_source_release(kmbi_source *source) {
  kmbi_free(&source->memory, source->buffer, block_size(source->capacity), 1);
  source->buffer = NULL;
  source->capacity = source->begin = source->end = 0;
}

/* The end of a long path says more than its beginning. */
static const char *short_name(const char *name) {
  enum { MOST = 100 };
  size_t size = strlen(name);
  if (size <= MOST) return name;
  name += size - MOST;
  while (((unsigned char)*name & 0xC0u) == 0x80u)
    name++;
  return name;
}

kmb_status kmbi_source_fail(const kmbi_source *source, uint64_t line,
                            uint64_t column, const char *format, ...) {
  char cause[200], place[64] = "";
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(cause, sizeof cause, format, arguments);
  va_end(arguments);
  if (line && column)
    snprintf(place, sizeof place,
             " line %llu, column %llu:", (unsigned long long)line,
             (unsigned long long)column);
  else if (line)
    snprintf(place, sizeof place, " line %llu:", (unsigned long long)line);
  return kmbi_fail(KMB_ERR_FORMAT, "%s:%s %s", short_name(source->name), place,
                   cause);
}

static kmb_status write_all(int file, const char *data, size_t size,
                            const char *path) {
  while (size) {
    ssize_t done = write(file, data, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0)
      return kmbi_fail(KMB_ERR_IO, "cannot write %s: errno %d", path,
                       done < 0 ? errno : 0);
    data += done;
    size -= (size_t)done;
  }
  return KMB_OK;
}

kmb_status kmbi_source_spool(kmbi_source *source, char *path, size_t size) {
  const char *folder = getenv("TMPDIR");
  if (!folder || !*folder) folder = "/tmp";
  if (snprintf(path, size, "%s/kmb-trace-XXXXXX", folder) >= (int)size)
    return kmbi_fail(KMB_ERR_INVALID, "TMPDIR is too long");
  int file = mkstemp(path);
  if (file < 0)
    return kmbi_fail(KMB_ERR_IO,
                     "cannot create a file in %s: errno %d; set TMPDIR", folder,
                     errno);
  kmb_status status = KMB_OK;
  while (!status) {
    status = write_all(file, source->buffer + source->begin,
                       source->end - source->begin, path);
    source->begin = source->end;
    if (status || source->ended) break;
    status = kmbi_source_fill(source);
  }
  if (close(file) && !status)
    status = kmbi_fail(KMB_ERR_IO, "cannot write %s: errno %d", path, errno);
  if (status) unlink(path);
  return status;
}
