/* The compiled-in tables. They are kept as packed text: as structs, with a
 * pointer for each word, they would be seven times as long in every program,
 * and each pointer would be relocated whenever one starts. */
#include "peaks.h"
#include "unpack.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static kmbi_tables tables;

/* The next cell; NULL if it is empty. */
static const char *take(const char **at) {
  const char *cell = *at;
  *at += strlen(cell) + 1;
  return *cell ? cell : NULL;
}

/* Written in thousandths, and 0 if it is empty. */
static double take_number(const char **at) {
  const char *cell = take(at);
  return cell ? (double)strtoull(cell, NULL, 10) / 1000 : 0;
}

static void take_numbers(const char **at, const unsigned char *columns,
                         double *number) {
  for (; *columns; columns++)
    number[*columns] = take_number(at);
}

static void take_parts(const char **at) {
  for (size_t i = 0; i < kmbi_parts_count; i++) {
    kmb_part *part = &kmbi_parts[i];
    for (const unsigned char *column = kmbi_part_texts; *column; column++)
      part->text[*column] = take(at);
    part->text[KMB_PART_ORIGIN] = "compiled in";
    take_numbers(at, kmbi_part_numbers, part->number);
    if (i) kmbi_parts[i - 1].next = part;
  }
}

static void take_rates(const char **at) {
  for (size_t i = 0; i < kmbi_rates_count; i++) {
    kmbi_rates[i].arch = take(at);
    kmbi_rates[i].source = take(at);
    take_numbers(at, kmbi_rate_numbers, kmbi_rates[i].number);
  }
}

static void take_references(const char **at) {
  for (size_t i = 0; i < kmbi_references_count; i++) {
    kmb_reference *r = &kmbi_references[i];
    *r = kmb_reference_init();
    r->regime = take(at);
    r->hardware = take(at);
    r->kind = take(at);
    r->source = take(at);
    r->value = take_number(at);
    r->bound = kmbi_reference_kinds[i][0];
    r->operation = kmbi_reference_kinds[i][1];
    r->dtype = kmbi_reference_kinds[i][2];
  }
}

static void unpack(void) {
  const char *at = kmbi_tables_text;
  kmbi_unpack(kmbi_tables_packed, kmbi_tables_text);
  take_parts(&at);
  take_rates(&at);
  take_references(&at);
  tables = (kmbi_tables){kmbi_parts, kmbi_rates, kmbi_rates_count,
                         kmbi_references, kmbi_references_count};
}

const kmbi_tables *kmbi_peaks_tables(void) {
  pthread_once(&once, unpack);
  return &tables;
}
