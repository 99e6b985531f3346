/* gzip, through zlib: a source whose bytes come out of another. */
#include "error.h"
#include "library.h"
#include "trace.h"

KMBI_DLOPEN_NOTE("gzip", "Reads packed traces", "libz.so.1");

/* The part of zlib's interface that is used. */
typedef struct z_stream {
  const unsigned char *next_in;
  unsigned avail_in;
  unsigned long total_in;
  unsigned char *next_out;
  unsigned avail_out;
  unsigned long total_out;
  const char *message;
  void *state;
  void *(*take)(void *opaque, unsigned items, unsigned size);
  void (*give)(void *opaque, void *address);
  void *opaque;
  int data_type;
  unsigned long adler;
  unsigned long reserved;
} z_stream;

enum {
  Z_OK_ = 0,
  Z_STREAM_END_ = 1,
  Z_MEM_ERROR_ = -4,
  Z_BUF_ERROR_ = -5,
  GZIP_BITS = 15 + 16,
  PIECE = 1 << 30 /* zlib counts in 32 bits */
};

typedef struct gunzip {
  kmbi_source *packed;
  void *library;
  z_stream stream;
  int (*start)(z_stream *stream, int bits, const char *version, int size);
  int (*inflate)(z_stream *stream, int flush);
  int (*reset)(z_stream *stream);
  int (*end)(z_stream *stream);
  bool started;
  bool between; /* members */
} gunzip;

/* zlib frees without a size. */
typedef union block {
  size_t size;
  max_align_t align;
} block;

static void *take(void *opaque, unsigned items, unsigned size) {
  const gunzip *g = opaque;
  uint64_t bytes = 0;
  if (!kmbi_mul(items, size, &bytes) ||
      !kmbi_add(bytes, sizeof(block), &bytes) || bytes > SIZE_MAX)
    return NULL;
  block *b = kmbi_alloc(&g->packed->memory, (size_t)bytes, 1);
  if (!b) return NULL;
  b->size = (size_t)bytes;
  return b + 1;
}

static void give(void *opaque, void *address) {
  const gunzip *g = opaque;
  if (!address) return;
  block *b = (block *)address - 1;
  kmbi_free(&g->packed->memory, b, b->size, 1);
}

static kmb_status malformed(const gunzip *g, const char *cause) {
  return kmbi_source_fail(
      g->packed, 0, 0, "gzip, byte %llu: %s",
      (unsigned long long)(g->packed->done -
                           (g->packed->end - g->packed->begin)),
      cause);
}

/* After a member: another one, or the end; zeros pad it. */
static kmb_status next_member(gunzip *g, bool *more) {
  kmbi_source *packed = g->packed;
  *more = false;
  for (;;) {
    while (packed->begin < packed->end && !packed->buffer[packed->begin])
      packed->begin++;
    if (packed->end - packed->begin >= 2 || packed->ended) break;
    kmb_status status = kmbi_source_fill(packed);
    if (status) return status;
  }
  if (packed->begin == packed->end) return KMB_OK;
  if (packed->end - packed->begin < 2 ||
      memcmp(packed->buffer + packed->begin, "\x1F\x8B", 2) != 0)
    return malformed(g, "something follows the packed data");
  if (g->reset(&g->stream) != Z_OK_)
    return kmbi_fail(KMB_ERR_INTERNAL, "zlib's inflateReset() failed");
  g->between = false;
  *more = true;
  return KMB_OK;
}

static kmb_status inflate_some(gunzip *g) {
  kmbi_source *packed = g->packed;
  size_t left = packed->end - packed->begin;
  unsigned given = left < PIECE ? (unsigned)left : (unsigned)PIECE;
  g->stream.next_in = (const unsigned char *)packed->buffer + packed->begin;
  g->stream.avail_in = given;
  int code = g->inflate(&g->stream, 0);
  packed->begin += given - g->stream.avail_in;
  g->between = code == Z_STREAM_END_;
  if (code == Z_MEM_ERROR_)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory to unpack a trace");
  if (code == Z_OK_ || code == Z_STREAM_END_ || code == Z_BUF_ERROR_)
    return KMB_OK;
  return malformed(g, g->stream.message ? g->stream.message : "corrupt");
}

static kmb_status read_plain(void *user, void *data, size_t size, size_t *got) {
  gunzip *g = user;
  kmbi_source *packed = g->packed;
  unsigned room = size < PIECE ? (unsigned)size : (unsigned)PIECE;
  kmb_status status = KMB_OK;
  g->stream.next_out = data;
  g->stream.avail_out = room;
  while (!status && g->stream.avail_out == room) {
    bool more = true;
    if (g->between) status = next_member(g, &more);
    if (!status && !more) break;
    if (!status && packed->begin == packed->end) {
      if (packed->ended)
        return malformed(g, "the file ends within packed data");
      status = kmbi_source_fill(packed);
    }
    if (!status && packed->begin < packed->end) status = inflate_some(g);
  }
  *got = room - g->stream.avail_out;
  return status;
}

static kmb_status open_library(gunzip *g) {
  const kmbi_symbol symbols[] = {{"inflateInit2_", (void *)&g->start},
                                 {"inflate", (void *)&g->inflate},
                                 {"inflateReset", (void *)&g->reset},
                                 {"inflateEnd", (void *)&g->end}};
  return kmbi_library_open("libz.so.1", "zlib1g", symbols,
                           sizeof symbols / sizeof symbols[0], &g->library);
}

kmb_status kmbi_gunzip_open(kmbi_source *packed, kmbi_source *plain) {
  gunzip *g = kmbi_alloc(&packed->memory, 1, sizeof *g);
  if (!g) return kmbi_fail(KMB_ERR_NOMEM, "no memory to unpack a trace");
  g->packed = packed;
  g->stream.take = take;
  g->stream.give = give;
  g->stream.opaque = g;
  *plain = *packed;
  plain->read = read_plain;
  plain->user = g;
  plain->buffer = NULL;
  plain->capacity = plain->begin = plain->end = 0;
  plain->total = plain->done = 0;
  plain->limit = packed->params->unpacked_limit;
  plain->ended = false;
  plain->packed = true;
  kmb_status status = open_library(g);
  if (!status) {
    /* Only the first digit of the version is compared. */
    int code = g->start(&g->stream, GZIP_BITS, "1", (int)sizeof g->stream);
    g->started = code == Z_OK_;
    if (code == Z_MEM_ERROR_)
      status = kmbi_fail(KMB_ERR_NOMEM, "no memory to unpack a trace");
    else if (code)
      status = kmbi_fail(KMB_ERR_UNAVAILABLE,
                         "zlib's inflateInit2_() failed with %d", code);
  }
  if (status) kmbi_gunzip_close(plain);
  return status;
}

void kmbi_gunzip_close(kmbi_source *plain) {
  gunzip *g = plain->user;
  const kmbi_memory memory = g->packed->memory;
  if (g->started) g->end(&g->stream);
  kmbi_library_close(g->library);
  kmbi_free(&memory, g, 1, sizeof *g);
}
