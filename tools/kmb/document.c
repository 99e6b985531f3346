/* Markdown and HTML. */
#include "document.h"

static const char style[] =
    "body{font:15px/1.5 sans-serif;max-width:1200px;margin:2em auto;"
    "padding:0 1em;color:#1a1a1a}"
    "table{border-collapse:collapse;margin:1em 0;display:block;"
    "overflow-x:auto}"
    "th,td{border:1px solid #ccc;padding:.25em .6em;text-align:left;"
    "vertical-align:top}"
    "th{background:#f3f3f3}td.n,th.n{text-align:right;"
    "font-variant-numeric:tabular-nums;white-space:nowrap}"
    "pre{overflow-x:auto}img{max-width:100%;height:auto}";

static bool ends_in(const char *text, const char *end) {
  size_t a = strlen(text), b = strlen(end);
  return a > b && strcmp(text + a - b, end) == 0;
}

static void put(document *d, const char *text) {
  fputs(text, d->out.file);
}

static void put_clean(document *d, const char *text) {
  put_marked(d->out.file, d->how, text);
}

static bool is_html(const document *d) {
  return d->how == MARKUP_HTML;
}

/* Whatever else begins ends a list. */
static void begin(document *d) {
  if (!d->in_list) return;
  put(d, is_html(d) ? "</ul>\n" : "\n");
  d->in_list = false;
}

int document_open(document *d, const char *path, const char *title) {
  *d = (document){.how = ends_in(path, ".html") ? MARKUP_HTML : MARKUP_MD};
  if (!is_html(d) && !ends_in(path, ".md"))
    return usage("report", "\"%s\" ends neither in .md nor in .html", path);
  int code = out_open(&d->out, path);
  if (code) return code;
  if (is_html(d)) {
    put(d, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
           "<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    put_clean(d, title);
    fprintf(d->out.file, "</title>\n<style>%s</style>\n</head>\n<body>\n",
            style);
  }
  document_heading(d, 1, title);
  return EXIT_DONE;
}

int document_finish(document *d) {
  begin(d);
  if (is_html(d)) put(d, "</body>\n</html>\n");
  return out_finish(&d->out);
}

void document_heading(document *d, int level, const char *text) {
  begin(d);
  if (is_html(d)) {
    fprintf(d->out.file, "<h%d>", level);
    put_clean(d, text);
    fprintf(d->out.file, "</h%d>\n", level);
    return;
  }
  fprintf(d->out.file, "%.*s ", level, "####");
  put_clean(d, text);
  put(d, "\n\n");
}

void document_paragraph(document *d, const char *text) {
  begin(d);
  put(d, is_html(d) ? "<p>" : "");
  put_clean(d, text);
  put(d, is_html(d) ? "</p>\n" : "\n\n");
}

void document_lines(document *d, const char *text) {
  char line[512];
  begin(d);
  put(d, "<pre>\n");
  while (*text) {
    size_t size = strcspn(text, "\n");
    snprintf(line, sizeof line, "%.*s", (int)size, text);
    put_clean(d, line);
    put(d, "\n");
    text += size + (text[size] == '\n');
  }
  put(d, "</pre>\n");
}

void document_item(document *d, const char *label, const char *text) {
  if (!d->in_list && is_html(d)) put(d, "<ul>\n");
  d->in_list = true;
  put(d, is_html(d) ? "<li><strong>" : "- **");
  put_clean(d, label);
  put(d, is_html(d) ? "</strong>: " : "**: ");
  put_clean(d, text);
  put(d, is_html(d) ? "</li>\n" : "\n");
}

void document_table(document *d, const char *const *columns, int count,
                    int numbers_from, int numbers_to) {
  begin(d);
  d->columns = 0;
  put(d, is_html(d) ? "<table>\n<tr>" : "|");
  for (int i = 0; i < count; i++) {
    bool number = i >= numbers_from && i < numbers_to;
    put(d, !is_html(d) ? " " : number ? "<th class=\"n\">" : "<th>");
    put_clean(d, columns[i]);
    put(d, is_html(d) ? "</th>" : " |");
  }
  put(d, is_html(d) ? "</tr>\n" : "\n|");
  for (int i = 0; i < count && !is_html(d); i++)
    put(d, i >= numbers_from && i < numbers_to ? "---:|" : "---|");
  if (!is_html(d)) put(d, "\n");
}

/* Numbers begin with a digit or are missing. */
static bool is_number(const char *text) {
  return (*text >= '0' && *text <= '9') || strcmp(text, "-") == 0;
}

void document_cell(document *d, const char *text) {
  bool first = d->columns++ == 0;
  if (is_html(d)) {
    put(d, first ? "<tr>" : "");
    put(d, is_number(text) ? "<td class=\"n\">" : "<td>");
    put_clean(d, text);
    put(d, "</td>");
    return;
  }
  put(d, first ? "| " : " ");
  put_clean(d, text);
  put(d, " |");
}

void document_row_end(document *d) {
  put(d, is_html(d) ? "</tr>\n" : "\n");
  d->columns = 0;
}

void document_table_end(document *d) {
  put(d, is_html(d) ? "</table>\n" : "\n");
}

void document_picture(document *d, const char *file, const char *text) {
  begin(d);
  put(d, "![");
  put_clean(d, text);
  put(d, "](");
  for (; *file; file++) {
    unsigned char c = (unsigned char)*file;
    bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                 (c >= 'a' && c <= 'z') || strchr("-._~/", c);
    fprintf(d->out.file, plain ? "%c" : "%%%02X", c);
  }
  put(d, ")\n\n");
}

/* As an image of its own: names within one picture are not those of another. */
void document_svg(document *d, const void *svg, size_t size, const char *text) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
                               "uvwxyz0123456789+/";
  const unsigned char *at = svg;
  begin(d);
  put(d, "<p><img alt=\"");
  put_clean(d, text);
  put(d, "\" src=\"data:image/svg+xml;base64,");
  for (size_t i = 0; i < size; i += 3) {
    size_t left = size - i;
    unsigned long bits = (unsigned long)at[i] << 16;
    if (left > 1) bits |= (unsigned long)at[i + 1] << 8;
    if (left > 2) bits |= at[i + 2];
    const char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                          left > 1 ? digits[bits >> 6 & 63] : '=',
                          left > 2 ? digits[bits & 63] : '='};
    fwrite(four, 1, sizeof four, d->out.file);
  }
  put(d, "\"></p>\n");
}
