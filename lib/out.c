/* Output that is written as it comes. */
#define _GNU_SOURCE /* uselocale */
#include "out.h"

#include "error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* From here on, readers that keep numbers as doubles lose digits. */
#define LARGEST_EXACT (1ULL << 53)

kmb_status kmbi_out_begin(kmbi_out *out, kmb_write_fn write, void *user) {
  out->write = write;
  out->user = user;
  out->status = KMB_OK;
  out->used = 0;
  out->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!out->plain) return kmbi_fail(KMB_ERR_NOMEM, "no memory to write");
  return KMB_OK;
}

static void flush(kmbi_out *out) {
  if (out->status || !out->used) return;
  out->status = out->write(out->user, out->buffer, out->used);
  out->used = 0;
  if (out->status < 0)
    kmbi_fail(out->status, "the write callback returned %s",
              kmb_status_name(out->status));
}

kmb_status kmbi_out_end(kmbi_out *out) {
  flush(out);
  freelocale(out->plain);
  return out->status;
}

void kmbi_out_put_n(kmbi_out *out, const char *data, size_t size) {
  while (size && !out->status) {
    size_t room = sizeof out->buffer - out->used;
    size_t part = size < room ? size : room;
    memcpy(out->buffer + out->used, data, part);
    out->used += part;
    data += part;
    size -= part;
    if (out->used == sizeof out->buffer) flush(out);
  }
}

void kmbi_out_put(kmbi_out *out, const char *text) {
  kmbi_out_put_n(out, text, strlen(text));
}

void kmbi_out_format(kmbi_out *out, const char *format, ...) {
  char text[256];
  va_list arguments;
  locale_t callers = uselocale(out->plain);
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  uselocale(callers);
  if (length < 0 || length >= (int)sizeof text)
    out->status = kmbi_fail(KMB_ERR_INTERNAL, "a piece of output is too long");
  else
    kmbi_out_put_n(out, text, (size_t)length);
}

static size_t plain_length(const char *text, size_t size) {
  size_t length = 0;
  while (length < size && (unsigned char)text[length] >= 0x20 &&
         text[length] != '"' && text[length] != '\\' && text[length] != 0x7F)
    length++;
  return length;
}

void kmbi_out_escaped(kmbi_out *out, const char *text, size_t size) {
  for (const char *end = text + size; text < end; text++) {
    size_t length = plain_length(text, (size_t)(end - text));
    kmbi_out_put_n(out, text, length);
    text += length;
    if (text == end) break;
    if (*text == '"' || *text == '\\')
      kmbi_out_format(out, "\\%c", *text);
    else
      kmbi_out_format(out, "\\u%04x", (unsigned)(unsigned char)*text);
  }
}

void kmbi_out_string(kmbi_out *out, const char *text) {
  kmbi_out_put(out, "\"");
  kmbi_out_escaped(out, text, strlen(text));
  kmbi_out_put(out, "\"");
}

void kmbi_out_u64(kmbi_out *out, uint64_t number) {
  const char *quote = number <= LARGEST_EXACT ? "" : "\"";
  kmbi_out_format(out, "%s%llu%s", quote, (unsigned long long)number, quote);
}

void kmbi_out_f64(kmbi_out *out, double number) {
  char text[40];
  /* JSON has no other word for what is no number. */
  if (!isfinite(number)) {
    kmbi_out_put(out, "null");
    return;
  }
  locale_t callers = uselocale(out->plain);
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, number);
    if (strtod(text, NULL) == number) break;
  }
  uselocale(callers);
  kmbi_out_put(out, text);
  if (!strpbrk(text, ".e")) kmbi_out_put(out, ".0");
}

void kmbi_out_key(kmbi_out *out, const char *before, const char *name) {
  kmbi_out_put(out, before);
  kmbi_out_string(out, name);
  kmbi_out_put(out, ": ");
}

void kmbi_out_text_member(kmbi_out *out, const char *before, const char *name,
                          const char *text) {
  kmbi_out_key(out, before, name);
  kmbi_out_string(out, text);
}

void kmbi_out_u64_member(kmbi_out *out, const char *before, const char *name,
                         uint64_t number) {
  kmbi_out_key(out, before, name);
  kmbi_out_u64(out, number);
}

void kmbi_out_f64_member(kmbi_out *out, const char *before, const char *name,
                         double number) {
  kmbi_out_key(out, before, name);
  kmbi_out_f64(out, number);
}
