/* Numbers and lines for people. */
#include "format.h"

#include "error.h"
#include "utf8.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>

/* Decimals that show four significant digits of a value as it is
 * printed: 9.9995 and more is printed as 10.00. */
static int decimals_of(double value) {
  double size = fabs(value), limit = 9.9995;
  int decimals = 3;
  if (size == 0) return 0;
  while (decimals > 0 && size >= limit) {
    decimals--;
    limit *= 10;
  }
  limit = 0.99995;
  while (decimals >= 3 && decimals < 7 && size < limit) {
    decimals++;
    limit /= 10;
  }
  return decimals;
}

void kmbi_put_sig(kmbi_text *to, double value) {
  if (value == 0)
    kmbi_text_put(to, "0"); /* without the sign that a zero may have */
  else if (fabs(value) >= 1e12)
    kmbi_text_format(to, "%.3e", value);
  else
    kmbi_text_format(to, "%.*f", decimals_of(value), value);
}

void kmbi_put_percent(kmbi_text *to, double percent, int decimals) {
  if (fabs(percent) >= 1e6)
    kmbi_put_sig(to, percent);
  else
    kmbi_text_format(to, "%.*f", decimals, percent);
  kmbi_text_put(to, "%");
}

typedef struct scale {
  double factor;
  const char *prefix;
} scale;

static void put_scaled(kmbi_text *to, double value, const scale *scales,
                       size_t count, const char *unit) {
  size_t i = 0;
  while (i + 1 < count && fabs(value) / scales[i].factor >= 999.95)
    i++;
  kmbi_put_sig(to, value / scales[i].factor);
  kmbi_text_format(to, " %s%s", scales[i].prefix, unit);
}

void kmbi_put_time(kmbi_text *to, double ns) {
  static const scale scales[] = {{1, "n"}, {1e3, "µ"}, {1e6, "m"}, {1e9, ""}};
  put_scaled(to, ns, scales, sizeof scales / sizeof scales[0], "s");
}

const char *kmbi_time_string(char text[KMBI_TIME_SIZE], double ns) {
  static const char *const units[] = {"ns", "µs", "ms", "s"};
  size_t i = 0;
  for (; i < 3 && fabs(ns) >= 999.95; i++)
    ns /= 1000;
  snprintf(text, KMBI_TIME_SIZE, "%.*f %s", decimals_of(ns), ns, units[i]);
  return text;
}

const char *kmbi_percent_string(char text[KMBI_PERCENT_SIZE], double percent,
                                int digits) {
  /* %g turns to an exponent where its digits do not reach the unit. */
  double whole = pow(10, digits) - 0.5, size = fabs(percent);
  if (size < whole)
    snprintf(text, KMBI_PERCENT_SIZE, "%.*g%%", digits, percent);
  else
    snprintf(text, KMBI_PERCENT_SIZE, size < 1e12 ? "%.0f%%" : "%.3e%%",
             percent);
  return text;
}

void kmbi_put_si(kmbi_text *to, double value, const char *unit) {
  static const scale scales[] = {{1, ""},    {1e3, "k"},  {1e6, "M"},
                                 {1e9, "G"}, {1e12, "T"}, {1e15, "P"}};
  put_scaled(to, value, scales, sizeof scales / sizeof scales[0], unit);
}

void kmbi_put_bytes(kmbi_text *to, uint64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t i = 0;
  double value = (double)bytes;
  for (; i + 1 < sizeof units / sizeof units[0] && value >= 1023.95; i++)
    value /= 1024;
  if (value == floor(value))
    kmbi_text_format(to, "%.0f %s", value, units[i]);
  else
    kmbi_text_format(to, "%.1f %s", value, units[i]);
}

static bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x2028 ||
         code == 0x2029;
}

void kmbi_put_clean(kmbi_text *to, const char *text) {
  uint32_t code = 0;
  for (size_t length; (length = kmbi_utf8_char(text, &code)); text += length) {
    if (is_control(code))
      kmbi_text_put(to, " ");
    else
      kmbi_text_put_n(to, text, length);
  }
}

void kmbi_put_wrapped(kmbi_text *to, const char *text, size_t column,
                      size_t indent) {
  kmbi_text word;
  bool first = true;
  while (*text) {
    text += strspn(text, " \n");
    size_t length = strcspn(text, " \n");
    if (!length) break;
    kmbi_text_init(&word, to->memory);
    kmbi_text_put_n(&word, text, length);
    size_t width = kmbi_utf8_width(kmbi_text_get(&word));
    if (!first && column + 1 + width > KMBI_LINE_WIDTH) {
      kmbi_text_put(to, "\n");
      kmbi_text_repeat(to, ' ', indent);
      column = indent;
    } else if (!first) {
      kmbi_text_put(to, " ");
      column++;
    }
    kmbi_put_clean(to, kmbi_text_get(&word));
    to->failed = to->failed || word.failed;
    kmbi_text_release(&word);
    column += width;
    text += length;
    first = false;
  }
}

const char *kmbi_severity_name(kmb_severity severity) {
  return severity == KMB_NOTE      ? "note"
         : severity == KMB_WARNING ? "warning"
                                   : "doubt";
}

static kmb_status deliver(const kmbi_text *text, kmb_write_fn write,
                          void *user) {
  if (text->failed)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory to write a result as text");
  kmb_status status = KMB_OK;
  if (text->size) status = write(user, text->data, text->size);
  if (status < 0)
    kmbi_fail(status, "the write callback returned %s",
              kmb_status_name(status));
  return status;
}

kmb_status kmbi_write_plain(const kmbi_memory *memory,
                            void (*build)(kmbi_text *to, const void *subject),
                            const void *subject, kmb_write_fn write,
                            void *user) {
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!plain)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory to write a result as text");
  kmbi_text text;
  kmbi_text_init(&text, memory);
  locale_t callers = uselocale(plain);
  build(&text, subject);
  uselocale(callers);
  freelocale(plain);
  kmb_status status = deliver(&text, write, user);
  kmbi_text_release(&text);
  return status;
}
