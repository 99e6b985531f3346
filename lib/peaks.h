/* Parts and their datasheet figures, rates and reference figures. */
#ifndef KMB_LIB_PEAKS_H
#define KMB_LIB_PEAKS_H

#include "memory.h"

#include <kmb/roofline.h>

#define KMBI_PART_ONE(name, number, kind, key, unit) +1
/* Arrays are indexed by KMB_PART_…, which start at 1. */
enum { KMBI_PART_SIZE = 1 KMB_PART_MAP(KMBI_PART_ONE) };
#undef KMBI_PART_ONE

struct kmb_part {
  const char *text[KMBI_PART_SIZE]; /* NULL: not known, or an empty list */
  double number[KMBI_PART_SIZE];    /* 0: not known */
  const struct kmb_part *next;      /* of the same table */
  bool users;                       /* from a caller's file */
};

/* FLOPs a clock and unit; `arch` ends in "g" for GeForce. */
typedef struct kmbi_rate {
  const char *arch;
  const char *source;
  double number[KMBI_PART_SIZE];
} kmbi_rate;

/* What is compiled in. */
typedef struct kmbi_tables {
  const kmb_part *parts; /* the first; never NULL */
  const kmbi_rate *rates;
  size_t rate_count;
  const kmb_reference *references;
  size_t reference_count;
} kmbi_tables;

const kmbi_tables *kmbi_peaks_tables(void);

/* Only for peaks_built_in.c; written by data/make_tables.py. The cells of all
 * rows, each with its zero, packed, and their room; columns, whose lists end in
 * 0; the rows' room. */
extern const unsigned char kmbi_tables_packed[];
extern char kmbi_tables_text[];
extern const unsigned char kmbi_part_texts[], kmbi_part_numbers[];
extern const unsigned char kmbi_rate_numbers[];
extern const unsigned char kmbi_reference_kinds[][3];
extern kmb_part kmbi_parts[];
extern kmbi_rate kmbi_rates[];
extern kmb_reference kmbi_references[];
extern const size_t kmbi_parts_count, kmbi_rates_count, kmbi_references_count;

/* A file that was read; its rows are found before those of older ones. */
typedef struct kmbi_peaks_file {
  struct kmbi_peaks_file *older;
  kmbi_arena arena;
  const kmb_part *parts;
} kmbi_peaks_file;

struct kmb_peaks {
  kmbi_memory memory;
  kmbi_peaks_file *files; /* newest first */
};

typedef struct kmbi_part_info {
  kmb_part_value value;
  bool is_text;
  char key[19];
} kmbi_part_info;

/* KMB_PART_MAP as a table. */
extern const kmbi_part_info kmbi_part_table[];
extern const size_t kmbi_part_table_count;

/* True if an item of a list is `text`. */
bool kmbi_list_is(const char *item, size_t size, const char *text);
/* True if `item` is in a list that "|" separates; NULL is empty. */
bool kmbi_list_has(const char *list, const char *item);
/* Takes the next item of a list, which need not end in a zero; false at its
 * end. */
bool kmbi_list_next(const char **list, const char **item, size_t *size);
/* "vvvv:dddd", with ":rr" if `with_rev`. */
bool kmbi_pci_valid(const char *text, size_t size, bool with_rev);

/* In one table, from its first row on, by a driver's name or by a PCI id;
 * either may be NULL. */
const kmb_part *kmbi_peaks_search(const kmb_part *first, const char *name,
                                  const char *pci_id);

/* kmb_peaks_of_device() for a caller that holds the device. */
kmb_status kmbi_peaks_of_device(const kmb_peaks *peaks, kmb_device *device,
                                const kmb_part **part);

#endif
