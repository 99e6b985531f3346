/* kmb peaks: what the table knows of a part. */
#include "kmb.h"

enum { FILES = 16 };

typedef struct value {
  kmb_part_value value;
  bool is_text;
  const char *key, *unit;
} value;

static const value values[] = {
#define IS_TEXT true
#define IS_F64 false
#define ROW(name, number, kind, key, unit) {number, IS_##kind, key, unit},
    KMB_PART_MAP(ROW)
#undef ROW
#undef IS_F64
#undef IS_TEXT
};
enum { VALUES = sizeof values / sizeof values[0] };

static const char *text_of(const kmb_part *part, kmb_part_value which) {
  const char *text = NULL;
  return kmb_part_text(part, which, &text) ? NULL : text;
}

static double f64_of(const kmb_part *part, kmb_part_value which) {
  double number = 0;
  return kmb_part_f64(part, which, &number) ? 0 : number;
}

void peaks_help(FILE *to) {
  fputs("usage: kmb peaks [--file CSV]... [NAME] [--json]\n"
        "\n"
        "Shows what is known of a part: its datasheet figures, dense and with "
        "32-bit\n"
        "accumulation, where each stands, and what others reached. NAME is the "
        "driver's\n"
        "name, the table's, or a label, always whole. Without NAME, all parts "
        "are\n"
        "listed.\n"
        "\n"
        "  --file CSV  adds parts or overrides them; repeatable\n"
        "  --json      all values, with the keys of the file's columns\n"
        "\n"
        "In a source, [R] is read in the vendor's text, [3] a third party's "
        "page, [M]\n"
        "recalled and unverified, [D] derived.\n",
        to);
}

static bool is_list(kmb_part_value which) {
  return which == KMB_PART_LABELS || which == KMB_PART_DRIVER_NAMES ||
         which == KMB_PART_PCI_IDS || which == KMB_PART_SPARSE ||
         which == KMB_PART_NEVER_FROM_RATES;
}

static json_t *list_json(const char *text) {
  json_t *list = json_array();
  while (text && *text) {
    size_t size = strcspn(text, "|");
    json_array_append_new(list, json_stringn(text, size));
    text += size + (text[size] == '|');
  }
  return list;
}

static json_t *references_json(const kmb_part *part) {
  json_t *list = json_array();
  for (uint64_t i = 0; i < kmb_part_reference_count(part); i++) {
    kmb_reference r = kmb_reference_init();
    if (kmb_part_reference(part, i, &r)) continue;
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:f, s:s, s:s, s:s}", "regime", r.regime,
                        "hardware", r.hardware, "value", r.value, "unit",
                        r.bound == KMB_BOUND_MEMORY ? "B/s" : "FLOP/s", "kind",
                        r.kind, "source", r.source));
  }
  return list;
}

static json_t *part_json(const kmb_part *part) {
  json_t *object = json_object(), *units = json_object();
  for (int i = 0; i < VALUES; i++) {
    const value *v = &values[i];
    const char *text = v->is_text ? text_of(part, v->value) : NULL;
    double number = v->is_text ? 0 : f64_of(part, v->value);
    if (is_list(v->value))
      json_object_set_new(object, v->key, list_json(text));
    else if (text)
      json_object_set_new(object, v->key, json_string(text));
    else if (number > 0)
      json_object_set_new(object, v->key, json_real(number));
    if (!v->is_text) json_object_set_new(units, v->key, json_string(v->unit));
  }
  json_object_set_new(object, "units", units);
  json_object_set_new(object, "references", references_json(part));
  return object;
}

static void print_references(const kmb_part *part) {
  for (uint64_t i = 0; i < kmb_part_reference_count(part); i++) {
    kmb_reference r = kmb_reference_init();
    if (kmb_part_reference(part, i, &r)) continue;
    printf("  %-17s %s, %s: %.4g %s, %s (%s)\n", i ? "" : "reached by others",
           r.regime, r.hardware, r.value / 1e12,
           r.bound == KMB_BOUND_MEMORY ? "TB/s" : "TFLOP/s", r.kind, r.source);
  }
}

static void print_part(const kmb_part *part) {
  printf("%s\n", text_of(part, KMB_PART_NAME));
  for (int i = 0; i < VALUES; i++) {
    const value *v = &values[i];
    double number = 0;
    if (v->value == KMB_PART_NAME) continue;
    if (v->is_text) {
      const char *text = text_of(part, v->value);
      if (text) printf("  %-17s %s\n", v->key, text);
    } else if ((number = f64_of(part, v->value)) > 0) {
      printf("  %-17s %.10g%s%s\n", v->key, number,
             strcmp(v->unit, "1") ? " " : "",
             strcmp(v->unit, "1") ? v->unit : "");
    }
  }
  print_references(part);
}

static void print_row(const kmb_part *part) {
  double bandwidth = f64_of(part, KMB_PART_BANDWIDTH);
  double bf16 = f64_of(part, KMB_PART_BF16), fp8 = f64_of(part, KMB_PART_FP8);
  const char *driver = text_of(part, KMB_PART_DRIVER_NAMES);
  printf("%-28s", text_of(part, KMB_PART_NAME));
  const double figures[] = {bandwidth, bf16, fp8};
  for (int i = 0; i < 3; i++) {
    if (figures[i] > 0)
      printf(" %8.6g", figures[i]);
    else
      printf(" %8s", "-");
  }
  printf("  %s\n", driver ? driver : "");
}

static int list_parts(const kmb_peaks *peaks, bool json) {
  json_t *list = json ? json_array() : NULL;
  if (!json)
    printf("%-28s %8s %8s %8s  %s\n", "part", "GB/s", "bf16", "fp8",
           "the driver's name");
  for (uint64_t i = 0; i < kmb_peaks_count(peaks); i++) {
    const kmb_part *part = NULL;
    if (kmb_peaks_get(peaks, i, &part)) continue;
    if (json)
      json_array_append_new(list, part_json(part));
    else
      print_row(part);
  }
  return json ? print_json(json_pack("{s:o}", "parts", list)) : EXIT_DONE;
}

int peaks_main(int argc, char **argv) {
  char *files[FILES] = {0};
  int file_count = 0;
  const char *name = NULL;
  bool json = false;
  for (int at = 0; at < argc; at++) {
    if (strcmp(argv[at], "--json") == 0) {
      json = true;
    } else if (strcmp(argv[at], "--file") == 0) {
      if (file_count == FILES) return usage("peaks", "too many files");
      if (!option_value("peaks", argc, argv, &at)) return EXIT_USAGE;
      files[file_count++] = argv[at];
    } else if (argv[at][0] == '-') {
      return usage("peaks", "there is no option \"%s\"", argv[at]);
    } else if (name) {
      return usage("peaks", "one name at a time; put it in quotes");
    } else {
      name = argv[at];
    }
  }
  kmb_peaks *peaks = NULL;
  const kmb_part *part = NULL;
  int status = open_peaks(files, file_count, &peaks);
  if (!status && name) status = report(kmb_peaks_lookup(peaks, name, &part));
  if (!status && !name) status = list_parts(peaks, json);
  if (!status && name && json) status = print_json(part_json(part));
  if (!status && name && !json) print_part(part);
  kmb_peaks_destroy(peaks);
  return status;
}
