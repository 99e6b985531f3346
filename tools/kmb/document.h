/* A report that is Markdown or HTML. */
#ifndef KMB_TOOLS_DOCUMENT_H
#define KMB_TOOLS_DOCUMENT_H

#include "markup.h"
#include "out.h"

typedef struct document {
  out_file out;
  markup how; /* MD or HTML */
  int columns;
  bool in_list;
} document;

/* The kind follows from the name, .md or .html. An exit status, reported. */
int document_open(document *d, const char *path, const char *title);
/* As out_finish(): `out` is to be replaced then. */
int document_finish(document *d);
void document_heading(document *d, int level, const char *text);
void document_paragraph(document *d, const char *text);
/* Lines as they are, in HTML. */
void document_lines(document *d, const char *text);
/* "label: text", the label in bold; a list ends with the next other thing. */
void document_item(document *d, const char *label, const char *text);
/* Rows of as many cells as there are columns; numbers are to the right. */
void document_table(document *d, const char *const *columns, int count,
                    int numbers_from, int numbers_to);
void document_cell(document *d, const char *text);
void document_row_end(document *d);
void document_table_end(document *d);
/* A picture in a file beside the document. */
void document_picture(document *d, const char *file, const char *text);
/* A picture within an HTML document. */
void document_svg(document *d, const void *svg, size_t size, const char *text);

#endif
