/* kmb info: devices, their timers, caches and ceilings. */
#include "probe.h"

#include <inttypes.h>

static const char name[] = "info";

void info_help(FILE *to) {
  fputs("usage: kmb info [--device NAME] [--ceilings] [--json]\n"
        "\n"
        "Shows what is here: the devices of each backend, which timers work "
        "and why\n"
        "others do not, caches, and ceilings where they are known.\n"
        "\n"
        "  --device NAME  only this one, such as host, cuda:0 or 0 for the "
        "first GPU\n"
        "  --ceilings     measures them; takes some seconds a device\n"
        "  --json         JSON instead of text\n",
        to);
}

typedef struct options {
  const char *device;
  bool ceilings, json;
} options;

enum { DEVICES = 64 };
#define WALL_NS 20e6 /* for each timer */

/* What a device says of itself. */
typedef struct attribute {
  const char *key;
  kmb_device_attr attr;
  int kind;
} attribute;

static const attribute attributes[] = {
#define KIND_TEXT 0
#define KIND_U64 1
#define KIND_F64 2
#define ROW(name, value, kind, key) {key, value, KIND_##kind},
    KMB_DEVICE_ATTR_MAP(ROW)
#undef ROW
};

static void add_attribute(kmb_device *device, const attribute *a, json_t *known,
                          json_t *absent) {
  const char *text = NULL;
  uint64_t count = 0;
  double number = 0;
  kmb_status status = KMB_OK;
  json_t *value = NULL;
  if (a->kind == KIND_TEXT) {
    status = kmb_device_attr_text(device, a->attr, &text);
    if (!status) value = json_string(text);
  } else if (a->kind == KIND_U64) {
    status = kmb_device_attr_u64(device, a->attr, &count);
    if (!status) value = json_integer((json_int_t)count);
  } else {
    status = kmb_device_attr_f64(device, a->attr, &number);
    if (!status) value = json_real(number);
  }
  if (status)
    json_object_set_new(absent, a->key,
                        json_string(kmb_last_error(NULL, NULL)));
  else
    json_object_set_new(known, a->key, value);
}

static json_t *timers_json(kmb_device *device) {
  json_t *list = json_array();
  reading readings[PROBE_READINGS];
  probe p;
  probe_open(device, &p);
  int count = probe_read(&p, WALL_NS, false, readings);
  for (int i = 0; i < count; i++) {
    const reading *r = &readings[i];
    json_t *row =
        json_pack("{s:s, s:b}", "timer", r->timer_name, "works", (int)r->works);
    if (r->works)
      json_object_set_new(row, "launch_mode", json_string(r->mode_name));
    else
      json_object_set_new(row, "reason", json_string(r->why));
    json_array_append_new(list, row);
  }
  probe_close(&p);
  return list;
}

typedef struct wanted {
  const char *key;
  kmb_ceiling_kind kind;
  kmb_dtype dtype;
} wanted;

static void add_ceiling(json_t *list, const wanted *w, const char *source,
                        kmb_status status, const kmb_ceiling *c) {
  json_t *row = json_pack("{s:s, s:s}", "ceiling", w->key, "source", source);
  if (w->dtype)
    json_object_set_new(row, "dtype", json_string(kmb_dtype_name(w->dtype)));
  if (status) {
    json_object_set_new(row, "reason", json_string(kmb_last_error(NULL, NULL)));
  } else {
    json_object_set_new(row, "value", json_real(c->value));
    json_object_set_new(
        row, "unit",
        json_string(w->kind == KMB_CEILING_FMA || w->kind == KMB_CEILING_MATRIX
                        ? "FLOP/s"
                        : "B/s"));
    if (c->variant)
      json_object_set_new(row, "variant", json_string(c->variant));
  }
  json_array_append_new(list, row);
}

static void add_measured(kmb_device *device, json_t *list) {
  static const wanted kinds[] = {{"read", KMB_CEILING_READ, 0},
                                 {"copy", KMB_CEILING_COPY, 0},
                                 {"fma", KMB_CEILING_FMA, KMB_F32},
                                 {"matrix", KMB_CEILING_MATRIX, KMB_BF16}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    kmb_ceiling c = kmb_ceiling_init();
    kmb_status status =
        kmb_device_ceiling(device, kinds[i].kind, kinds[i].dtype, 0, &c);
    add_ceiling(list, &kinds[i], "measured", status, &c);
  }
}

static void add_datasheet(const kmb_part *part, json_t *list) {
  static const wanted kinds[] = {{"memory", KMB_CEILING_MEMORY, 0},
                                 {"fma", KMB_CEILING_FMA, KMB_F32},
                                 {"matrix", KMB_CEILING_MATRIX, KMB_BF16},
                                 {"matrix", KMB_CEILING_MATRIX, KMB_F8_E4M3}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    kmb_ceiling c = kmb_ceiling_init();
    kmb_status status =
        kmb_part_ceiling(part, kinds[i].kind, kinds[i].dtype, 0, &c);
    add_ceiling(list, &kinds[i], "datasheet", status, &c);
  }
}

static json_t *device_json(kmb_device *device, const options *o) {
  json_t *known = json_object(), *absent = json_object();
  json_t *ceilings = json_array();
  const kmb_part *part = NULL;
  const char *reason = NULL;
  for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
    add_attribute(device, &attributes[i], known, absent);
  if (!kmb_peaks_of_device(NULL, device, &part))
    add_datasheet(part, ceilings);
  else
    reason = kmb_last_error(NULL, NULL);
  json_t *no_part = reason ? json_string(reason) : NULL;
  if (o->ceilings) add_measured(device, ceilings);
  json_t *all =
      json_pack("{s:o, s:o, s:o, s:o}", "attributes", known, "absent", absent,
                "timers", timers_json(device), "ceilings", ceilings);
  if (no_part) json_object_set_new(all, "no_datasheet", no_part);
  json_object_set_new(all, "ceilings_measured", json_boolean(o->ceilings));
  return all;
}

/* Devices of one backend until there is none; the first one's absence has a
 * reason. */
static void add_backend(json_t *list, json_t *absent, const char *backend,
                        const options *o) {
  for (int i = 0; i < DEVICES; i++) {
    char spec[64];
    kmb_device *device = NULL;
    bool host = strcmp(backend, "host") == 0;
    snprintf(spec, sizeof spec, host ? "%s" : "%s:%d", backend, i);
    if (kmb_device_open(spec, NULL, &device)) {
      if (i == 0)
        json_object_set_new(absent, backend,
                            json_string(kmb_last_error(NULL, NULL)));
      return;
    }
    json_array_append_new(list, device_json(device, o));
    kmb_device_close(device);
    if (host) return;
  }
}

/* Text, out of the same document. */

static const char *text_at(json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static void print_bytes(json_t *known, const char *key, const char *label) {
  json_t *value = json_object_get(known, key);
  double bytes = (double)json_integer_value(value);
  if (!value) return;
  if (bytes >= 1 << 30)
    printf("  %-12s %.4g GiB\n", label, bytes / (1 << 30));
  else if (bytes >= 1 << 20)
    printf("  %-12s %.4g MiB\n", label, bytes / (1 << 20));
  else
    printf("  %-12s %.4g KiB\n", label, bytes / 1024);
}

static void print_ceiling(json_t *c) {
  const char *unit = text_at(c, "unit");
  double value = json_real_value(json_object_get(c, "value"));
  const char *dtype = text_at(c, "dtype");
  printf("    %s%s%s, %s: ", text_at(c, "ceiling"), *dtype ? " " : "", dtype,
         text_at(c, "source"));
  if (!*unit)
    printf("unknown: %s\n", text_at(c, "reason"));
  else if (strcmp(unit, "B/s") == 0)
    printf("%.4g GB/s\n", value / 1e9);
  else
    printf("%.4g TFLOP/s\n", value / 1e12);
}

static void print_device(json_t *device) {
  json_t *known = json_object_get(device, "attributes");
  json_t *row = NULL, *count = json_object_get(known, "units");
  size_t i = 0;
  printf("%s: %s\n", text_at(known, "spec"), text_at(known, "name"));
  if (*text_at(known, "arch"))
    printf("  %-12s %s\n", "arch", text_at(known, "arch"));
  if (count)
    printf("  %-12s %" JSON_INTEGER_FORMAT "\n", "units",
           json_integer_value(count));
  print_bytes(known, "memory_bytes", "memory");
  print_bytes(known, "l1_bytes", "L1");
  print_bytes(known, "l2_bytes", "L2");
  print_bytes(known, "llc_bytes", "last level");
  puts("  timers");
  json_array_foreach(json_object_get(device, "timers"), i, row) {
    bool works = json_is_true(json_object_get(row, "works"));
    printf("    %-6s %s%s\n", text_at(row, "timer"),
           works ? "works, launch " : "no: ",
           text_at(row, works ? "launch_mode" : "reason"));
  }
  puts("  ceilings");
  json_array_foreach(json_object_get(device, "ceilings"), i, row) {
    print_ceiling(row);
  }
  if (*text_at(device, "no_datasheet"))
    printf("    no datasheet: %s\n", text_at(device, "no_datasheet"));
  if (!json_is_true(json_object_get(device, "ceilings_measured")))
    puts("    not measured; --ceilings does");
}

static int print_text(json_t *document) {
  json_t *row = NULL;
  const char *key = NULL;
  size_t i = 0;
  json_array_foreach(json_object_get(document, "devices"), i, row) {
    print_device(row);
  }
  json_object_foreach(json_object_get(document, "absent"), key, row) {
    printf("%s: none: %s\n", key, json_string_value(row));
  }
  json_decref(document);
  if (!fflush(stdout) && !ferror(stdout)) return EXIT_DONE;
  fputs("kmb: the output could not be written\n", stderr);
  return EXIT_FAILED;
}

static int read_options(int argc, char **argv, options *o) {
  for (int i = 0; i < argc; i++) {
    if (strcmp(argv[i], "--json") == 0) {
      o->json = true;
    } else if (strcmp(argv[i], "--ceilings") == 0) {
      o->ceilings = true;
    } else if (strcmp(argv[i], "--device") == 0) {
      o->device = option_value(name, argc, argv, &i);
      if (!o->device) return EXIT_USAGE;
    } else {
      return usage(name, "there is no option \"%s\"", argv[i]);
    }
  }
  return EXIT_DONE;
}

int info_main(int argc, char **argv) {
  static const char *const backends[] = {"host", "cuda", "hip"};
  options o = {.json = false};
  kmb_device *device = NULL;
  int code = read_options(argc, argv, &o);
  if (!code && o.device) code = open_device(o.device, &device);
  if (code) return code;
  json_t *devices = json_array(), *absent = json_object();
  if (device) {
    json_array_append_new(devices, device_json(device, &o));
    kmb_device_close(device);
  } else {
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++)
      add_backend(devices, absent, backends[i], &o);
  }
  json_t *document = json_pack("{s:s, s:o, s:o}", "version", kmb_version(),
                               "devices", devices, "absent", absent);
  return o.json ? print_json(document) : print_text(document);
}
