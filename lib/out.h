/* Output that is written as it comes, through a small buffer. */
#ifndef KMB_LIB_OUT_H
#define KMB_LIB_OUT_H

#include <kmb/base.h>

#include <locale.h>

typedef struct kmbi_out {
  kmb_write_fn write;
  void *user;
  kmb_status status; /* sticky */
  size_t used;
  locale_t plain;
  char buffer[4096];
} kmbi_out;

/* NOMEM if there is no "C" locale to write numbers in. */
kmb_status kmbi_out_begin(kmbi_out *out, kmb_write_fn write, void *user);
/* Writes what is left; gives the status of the whole. */
kmb_status kmbi_out_end(kmbi_out *out);
void kmbi_out_put(kmbi_out *out, const char *text);
void kmbi_out_put_n(kmbi_out *out, const char *text, size_t size);
/* Short pieces: numbers and keys, at most 255 bytes. */
void kmbi_out_format(kmbi_out *out, const char *format, ...) KMB_PRINTF(2, 3);
/* A JSON string; `text` is valid UTF-8. */
void kmbi_out_string(kmbi_out *out, const char *text);
/* What stands between its quotes. */
void kmbi_out_escaped(kmbi_out *out, const char *text, size_t size);
/* A whole number; as a string where readers that use doubles would lose
 * digits. */
void kmbi_out_u64(kmbi_out *out, uint64_t number);
/* The shortest digits that read back as the same number; null for what is
 * none. */
void kmbi_out_f64(kmbi_out *out, double number);

/* Members of an object: `before` (a comma, say), the key, the value. */
void kmbi_out_key(kmbi_out *out, const char *before, const char *name);
void kmbi_out_text_member(kmbi_out *out, const char *before, const char *name,
                          const char *text);
void kmbi_out_u64_member(kmbi_out *out, const char *before, const char *name,
                         uint64_t number);
void kmbi_out_f64_member(kmbi_out *out, const char *before, const char *name,
                         double number);

#endif
