/* kmb calibrate: bias and floor of each timer on a device. */
#include "calibrate.h"

#include <math.h>

static const char name[] = "calibrate";
#define WALL_NS 300e6 /* for each way */

void calibrate_help(FILE *to) {
  fputs("usage: kmb calibrate [--device N] [--json] [-o FILE.svg|.png|.pdf]\n"
        "\n"
        "Shows bias and floor of each timer and launch mode: it times the "
        "smallest\n"
        "operation that can be launched from here (an empty function; on a GPU "
        "4 KiB of\n"
        "memory that is set).\n"
        "\n"
        "  bias   what the timer adds against the device's zero, with its "
        "uncertainty;\n"
        "         it is taken off times\n"
        "  floor  the median that the clock said of that operation, with its "
        "99%\n"
        "         interval: shorter work cannot be told from it\n"
        "\n"
        "  --device N  a GPU's number, or a name such as host or cuda:0 (auto: "
        "the\n"
        "              first backend that opens)\n"
        "  --json      JSON instead of text\n"
        "  -o FILE     draws both as SVG, PNG or PDF\n",
        to);
}

typedef struct options {
  const char *device, *out;
  bool json;
} options;

static int read_options(int argc, char **argv, options *o) {
  for (int i = 0; i < argc; i++) {
    bool device = strcmp(argv[i], "--device") == 0;
    if (strcmp(argv[i], "--json") == 0) {
      o->json = true;
    } else if (device || strcmp(argv[i], "-o") == 0) {
      const char *value = option_value(name, argc, argv, &i);
      if (!value) return EXIT_USAGE;
      *(device ? &o->device : &o->out) = value;
    } else {
      return usage(name, "there is no option \"%s\"", argv[i]);
    }
  }
  return EXIT_DONE;
}

static void set_number(json_t *row, bool known, const char *key,
                       double number) {
  if (known) json_object_set_new(row, key, json_real(number));
}

static json_t *reading_json(const reading *r) {
  json_t *row = json_pack("{s:s, s:s, s:b}", "timer", r->timer_name,
                          "launch_mode", r->mode_name, "works", (int)r->works);
  if (!r->works) {
    json_object_set_new(row, "reason", json_string(r->why));
    return row;
  }
  set_number(row, r->has_raw, "floor_ns", r->raw_ns);
  set_number(row, r->has_interval, "floor_low_ns", r->below_ns);
  set_number(row, r->has_interval, "floor_high_ns", r->above_ns);
  set_number(row, r->has_bias, "bias_ns", r->bias_ns);
  set_number(row, r->has_bias, "bias_uncertainty_ns", r->bias_uncertainty_ns);
  if (!r->has_bias)
    json_object_set_new(row, "no_bias", json_string(r->no_bias));
  set_number(row, r->has_overhead, "overhead_upper_ns", r->overhead_ns);
  set_number(row, r->has_tick, "clock_tick_ns", r->tick_ns);
  json_object_set_new(row, "samples", json_integer((json_int_t)r->samples));
  json_object_set_new(row, "batch", json_integer((json_int_t)r->batch));
  if (*r->zero)
    json_object_set_new(row, "zero_reference", json_string(r->zero));
  return row;
}

static int print_document(const char *spec, const char *device,
                          const char *what, const reading *readings,
                          int count) {
  json_t *list = json_array();
  for (int i = 0; i < count; i++)
    json_array_append_new(list, reading_json(&readings[i]));
  return print_json(json_pack("{s:s, s:s, s:s, s:o}", "device", spec, "name",
                              device, "operation", what, "timers", list));
}

static void print_reading(const reading *r) {
  printf("  %-6s %-6s", r->timer_name, r->mode_name);
  if (!r->works) {
    printf(" no: %s\n", r->why);
    return;
  }
  if (r->has_bias)
    printf(" bias %10.1f ± %.1f ns", fabs(r->bias_ns) < 0.05 ? 0 : r->bias_ns,
           r->bias_uncertainty_ns);
  else if (r->has_overhead)
    printf(" bias unknown, at most %.3g ns", r->overhead_ns);
  else
    printf(" bias unknown");
  printf(", floor %.4g ns", r->raw_ns);
  if (r->has_interval) printf(" (%.4g to %.4g)", r->below_ns, r->above_ns);
  if (r->has_tick)
    printf(", clock steps of %.4g ns a sample of %llu", r->tick_ns,
           (unsigned long long)r->batch);
  putchar('\n');
  if (!r->has_bias && *r->no_bias) printf("         %s\n", r->no_bias);
}

static int print_text(const char *spec, const char *device, const char *what,
                      const reading *readings, int count) {
  const char *zero = "";
  printf("%s: %s\nthe operation is %s\n\n", spec, device, what);
  for (int i = 0; i < count; i++) {
    print_reading(&readings[i]);
    /* Where the biases are known, zero is the reference's. */
    if (readings[i].works && (!*zero || readings[i].has_bias))
      zero = readings[i].zero;
  }
  if (*zero) printf("\nzero is %s\n", zero);
  if (!fflush(stdout) && !ferror(stdout)) return EXIT_DONE;
  fputs("kmb: the output could not be written\n", stderr);
  return EXIT_FAILED;
}

static int calibrate(const options *o, kmb_device *device) {
  const char *spec = device_text(device, KMB_DEVICE_SPEC);
  const char *says = device_text(device, KMB_DEVICE_NAME);
  reading readings[PROBE_READINGS];
  probe p;
  probe_open(device, &p);
  if (!p.launch) {
    fprintf(stderr, "kmb: %s: nothing to time: %s\n", spec, p.why);
    probe_close(&p);
    return EXIT_USAGE;
  }
  int count = probe_read(&p, WALL_NS, true, readings);
  int code = o->json ? print_document(spec, says, p.what, readings, count)
                     : print_text(spec, says, p.what, readings, count);
  if (!code && o->out)
    code = draw_calibration(o->out, says, p.what, readings, count);
  probe_close(&p);
  return code;
}

int calibrate_main(int argc, char **argv) {
  options o = {.device = "auto"};
  kmb_device *device = NULL;
  int code = read_options(argc, argv, &o);
  if (!code && o.out) code = check_drawing(o.out);
  if (!code) code = open_device(o.device, &device);
  if (code) return code;
  code = calibrate(&o, device);
  kmb_device_close(device);
  return code;
}

#ifndef KMB_HAS_CAIRO

int check_drawing(const char *path) {
  (void)path;
  return usage(name, "this kmb was built without cairo; install it (Debian "
                     "package libcairo2-dev) and build again, or leave out -o");
}

int draw_calibration(const char *path, const char *device, const char *what,
                     const reading *readings, int count) {
  (void)device;
  (void)what;
  (void)readings;
  (void)count;
  return check_drawing(path);
}

#endif
