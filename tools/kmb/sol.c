/* kmb sol: where a time stands below the ceilings of a part. */
#include "kmb.h"

enum { FILES = 16 };

typedef struct question {
  const char *device;
  kmb_work work;
  double time_ns, clock_mhz;
  uint32_t flags; /* of ceilings */
  bool has_flops, has_bytes, has_dtype, json;
  char *files[FILES];
  int file_count;
} question;

typedef struct answer {
  const kmb_part *part;
  kmb_ceiling memory, compute, rate;
  kmb_reference reference;
  bool has_memory, has_compute, has_rate, has_reference;
  kmb_roofline roofline;
  char no_part[256], no_compute[256], no_memory[256], no_rate[256];
} answer;

void sol_help(FILE *to) {
  fputs(
      "usage: kmb sol --device NAME --dtype TYPE --flops F --bytes B --time-ns "
      "T\n"
      "               [--operation gemm|attention|copy] [--clock-mhz MHZ]\n"
      "               [--sparse] [--file CSV]... [--json]\n"
      "\n"
      "Says where a time stands below the datasheet's ceilings of a part: its\n"
      "intensity, what binds, the time at the speed of light, and the share of "
      "it.\n"
      "\n"
      "  --device NAME    the driver's name, the table's, or a label; whole\n"
      "  --dtype TYPE     of the arithmetic: bf16, f16, tf32, f8_e4m3 …\n"
      "  --flops F        counted once for the work (kmb work)\n"
      "  --bytes B        the same: least bytes\n"
      "  --time-ns T      what was measured\n"
      "  --operation OP   finds figures that others reached with the same\n"
      "  --clock-mhz MHZ  an observed clock: adds rate × units × clock\n"
      "  --sparse         against the peak of operands with two zeros in four\n"
      "  --file CSV       adds parts or overrides them; repeatable\n"
      "  --json           JSON instead of text; what is not known is in "
      "\"absent\",\n"
      "                   with the reason\n",
      to);
}

static bool read_operation(const char *text, kmb_operation *operation) {
  static const char *const names[] = {"other", "gemm", "attention", "copy"};
  for (int i = 0; i < 4; i++) {
    if (strcmp(text, names[i]) != 0) continue;
    *operation = i;
    return true;
  }
  return false;
}

/* The value of one option; false if it cannot be. */
static bool set_value(question *q, const char *name, const char *value) {
  if (strcmp(name, "--device") == 0) {
    q->device = value;
    return true;
  }
  if (strcmp(name, "--dtype") == 0)
    return q->has_dtype = read_dtype(value, &q->work.dtype);
  if (strcmp(name, "--flops") == 0)
    return q->has_flops = read_count(value, &q->work.flops);
  if (strcmp(name, "--bytes") == 0)
    return q->has_bytes = read_count(value, &q->work.read_bytes);
  if (strcmp(name, "--time-ns") == 0)
    return read_real(value, &q->time_ns) && q->time_ns > 0;
  if (strcmp(name, "--clock-mhz") == 0)
    return read_real(value, &q->clock_mhz) && q->clock_mhz > 0;
  return read_operation(value, &q->work.operation);
}

static int read_options(question *q, int argc, char **argv) {
  static const char *const valued[] = {
      "--device",  "--dtype",     "--flops",     "--bytes",
      "--time-ns", "--clock-mhz", "--operation", NULL};
  for (int at = 0; at < argc; at++) {
    const char *name = argv[at];
    if (strcmp(name, "--json") == 0) {
      q->json = true;
      continue;
    }
    if (strcmp(name, "--sparse") == 0) {
      q->flags = KMB_CEILING_SPARSE;
      continue;
    }
    bool file = strcmp(name, "--file") == 0;
    int i = 0;
    while (!file && valued[i] && strcmp(name, valued[i]) != 0)
      i++;
    if (!file && !valued[i])
      return usage("sol", "there is no option \"%s\"", name);
    const char *value = option_value("sol", argc, argv, &at);
    if (!value) return EXIT_USAGE;
    if (file && q->file_count == FILES) return usage("sol", "too many files");
    if (file)
      q->files[q->file_count++] = argv[at];
    else if (!set_value(q, name, value))
      return usage("sol", "%s cannot be \"%s\"", name, value);
  }
  if (!q->device || !q->has_dtype || !q->has_flops || !q->has_bytes ||
      !(q->time_ns > 0))
    return usage("sol", "--device, --dtype, --flops, --bytes and --time-ns are "
                        "needed");
  return EXIT_DONE;
}

static void note(char *why, size_t size) {
  snprintf(why, size, "%s", kmb_last_error(NULL, NULL));
}

/* What the part is judged by; what it lacks is no failure. */
static void take_ceilings(const question *q, answer *a) {
  if (q->work.read_bytes) {
    a->memory = kmb_ceiling_init();
    a->has_memory =
        !kmb_part_ceiling(a->part, KMB_CEILING_MEMORY, 0, 0, &a->memory);
    if (!a->has_memory) note(a->no_memory, sizeof a->no_memory);
  }
  if (q->work.flops) {
    a->compute = kmb_ceiling_init();
    a->has_compute =
        !kmb_part_ceiling(a->part, 0, q->work.dtype, q->flags, &a->compute);
    if (!a->has_compute) note(a->no_compute, sizeof a->no_compute);
  }
  if (q->work.flops && q->clock_mhz > 0) {
    a->rate = kmb_ceiling_init();
    a->has_rate =
        !kmb_part_rate(a->part, 0, q->work.dtype, 0, q->clock_mhz, &a->rate);
    if (!a->has_rate) note(a->no_rate, sizeof a->no_rate);
  }
}

static kmb_status evaluate(const question *q, answer *a) {
  kmb_roofline_params params = kmb_roofline_params_init();
  params.work = &q->work;
  params.memory = a->has_memory ? &a->memory : NULL;
  params.compute = a->has_compute ? &a->compute : NULL;
  params.time_ns = q->time_ns;
  params.reference = a->has_reference ? &a->reference : NULL;
  a->roofline = kmb_roofline_init();
  return kmb_roofline_evaluate(&params, &a->roofline);
}

static kmb_status solve(const question *q, const kmb_peaks *peaks, answer *a) {
  if (kmb_peaks_lookup(peaks, q->device, &a->part))
    note(a->no_part, sizeof a->no_part);
  else
    take_ceilings(q, a);
  kmb_status status = evaluate(q, a);
  if (status || !a->part) return status;
  a->reference = kmb_reference_init();
  a->has_reference = !kmb_part_reference_for(
      a->part, &q->work, a->roofline.predicted, &a->reference);
  return a->has_reference ? evaluate(q, a) : KMB_OK;
}

/* Work that counts only one of the two has no bound that could be told. */
static const char *bound_name(const question *q, const answer *a) {
  if (!q->work.flops || !q->work.read_bytes) return "unknown";
  if (a->roofline.predicted == KMB_BOUND_MEMORY) return "memory";
  return a->roofline.predicted == KMB_BOUND_COMPUTE ? "compute" : "unknown";
}

static void add_finding(json_t *list, const char *code, const char *severity,
                        const char *message) {
  json_array_append_new(list,
                        json_pack("{s:s, s:s, s:s}", "code", code, "severity",
                                  severity, "message", message));
}

static json_t *findings_of(const answer *a) {
  json_t *list = json_array();
  const kmb_roofline *r = &a->roofline;
  char message[512];
  if (r->flags & KMB_ROOFLINE_ABOVE_PEAK) {
    snprintf(message, sizeof message, "faster than a ceiling allows; %s",
             kmb_roofline_above_peak_text());
    add_finding(list, "ABOVE_PEAK", "doubt", message);
  }
  const char *const reasons[] = {a->no_part, a->no_memory, a->no_compute};
  for (int i = 0; i < 3; i++)
    if (*reasons[i]) add_finding(list, "UNKNOWN_PEAK", "note", reasons[i]);
  return list;
}

static json_t *ceiling_json(const kmb_ceiling *c) {
  static const char *const kinds[] = {"unnamed",   "measured", "caller's",
                                      "datasheet", "rate",     "reference"};
  json_t *object = json_pack("{s:f, s:s, s:s?}", "value", c->value, "kind",
                             kinds[c->source], "part", c->variant);
  if (c->dtype)
    json_object_set_new(object, "dtype", json_string(kmb_dtype_name(c->dtype)));
  if (c->flags & KMB_CEILING_SPARSE)
    json_object_set_new(object, "sparse", json_true());
  if (c->reference)
    json_object_set_new(object, "source", json_string(c->reference));
  return object;
}

/* The values of the roofline, under the keys of a result. */
static void set_known(const question *q, const answer *a, json_t *object,
                      json_t *absent) {
  const kmb_roofline *r = &a->roofline;
  const char *unknown =
      a->no_part[0] ? "the device is unknown" : "a ceiling is unknown";
  const char *flops = q->work.flops ? unknown : "the work counts no FLOPs";
  const char *bytes = q->work.read_bytes ? unknown : "the work counts no bytes";
  const char *either = !q->work.flops ? flops : bytes;
  const struct {
    const char *key;
    uint32_t bit;
    double number;
    const char *reason;
  } rows[] = {
      {"intensity", KMB_ROOFLINE_INTENSITY, r->intensity, either},
      {"ridge", KMB_ROOFLINE_RIDGE, r->ridge, either},
      {"attainable_flops", KMB_ROOFLINE_ATTAINABLE_FLOPS, r->attainable_flops,
       flops},
      {"sol_time_ns", KMB_ROOFLINE_SOL_TIME, r->sol_time_ns, either},
      {"sol_pct", KMB_ROOFLINE_SOL_PCT, r->sol_pct, either},
      {"achieved_flops", KMB_ROOFLINE_ACHIEVED_FLOPS, r->achieved_flops, flops},
      {"achieved_bytes_per_s", KMB_ROOFLINE_ACHIEVED_BYTES, r->achieved_bytes,
       bytes},
      {"memory_pct", KMB_ROOFLINE_MEMORY_PCT, r->memory_pct, bytes},
      {"compute_pct", KMB_ROOFLINE_COMPUTE_PCT, r->compute_pct, flops},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (r->known & rows[i].bit)
      json_object_set_new(object, rows[i].key, json_real(rows[i].number));
    else
      json_object_set_new(absent, rows[i].key, json_string(rows[i].reason));
  }
}

static void set_rate(const answer *a, json_t *object, json_t *absent) {
  if (a->no_rate[0])
    json_object_set_new(absent, "rate_ceiling", json_string(a->no_rate));
  if (!a->has_rate) return;
  json_object_set_new(object, "rate_ceiling", ceiling_json(&a->rate));
  json_object_set_new(
      object, "rate_pct",
      json_real(100 * a->roofline.achieved_flops / a->rate.value));
}

static json_t *answer_json(const question *q, const answer *a) {
  json_t *object = json_object(), *absent = json_object();
  const char *name = NULL;
  if (a->part && !kmb_part_text(a->part, KMB_PART_NAME, &name))
    json_object_set_new(object, "part", json_string(name));
  json_object_set_new(object, "bound", json_string(bound_name(q, a)));
  set_known(q, a, object, absent);
  if (a->has_memory)
    json_object_set_new(object, "memory_ceiling", ceiling_json(&a->memory));
  if (a->has_compute)
    json_object_set_new(object, "compute_ceiling", ceiling_json(&a->compute));
  set_rate(a, object, absent);
  if (a->roofline.known & KMB_ROOFLINE_REFERENCE_PCT) {
    const kmb_reference *r = &a->reference;
    json_object_set_new(object, "reference_pct",
                        json_real(a->roofline.reference_pct));
    json_object_set_new(object, "reference",
                        json_pack("{s:s, s:s, s:f, s:s, s:s}", "regime",
                                  r->regime, "hardware", r->hardware, "value",
                                  r->value, "kind", r->kind, "source",
                                  r->source));
  }
  json_object_set_new(object, "findings", findings_of(a));
  json_object_set_new(object, "absent", absent);
  return object;
}

static void print_si(double value, const char *unit) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  int i = 0;
  for (; value >= 1000 && i < 6; i++)
    value /= 1000;
  printf("%.4g %s%s", value, prefixes[i], unit);
}

static void print_time(double ns) {
  static const char *const units[] = {"ns", "µs", "ms", "s"};
  int i = 0;
  for (; ns >= 1000 && i < 3; i++)
    ns /= 1000;
  printf("%.4g %s", ns, units[i]);
}

static void print_resource(const char *label, bool known, double achieved,
                           const char *unit, bool has, double percent,
                           const kmb_ceiling *c) {
  if (!known) return;
  printf("  %-10s ", label);
  print_si(achieved, unit);
  if (has) {
    printf(", %.4g%% of ", percent);
    print_si(c->value, unit);
    printf(" (%s%s)",
           c->source == KMB_SOURCE_DATASHEET ? "datasheet" : "caller's file",
           c->flags & KMB_CEILING_SPARSE ? ", sparse" : "");
  }
  putchar('\n');
}

static void print_answer(const question *q, const answer *a) {
  const kmb_roofline *r = &a->roofline;
  const char *name = "unknown device", *source = NULL;
  if (a->part) kmb_part_text(a->part, KMB_PART_NAME, &name);
  printf("%s, %s\n", name, kmb_dtype_name(q->work.dtype));
  printf("  %-10s %s", "bound", bound_name(q, a));
  if (r->known & KMB_ROOFLINE_INTENSITY)
    printf(", intensity %.4g FLOP/B", r->intensity);
  if (r->known & KMB_ROOFLINE_RIDGE) printf(", ridge %.4g", r->ridge);
  putchar('\n');
  print_resource("compute", r->known & KMB_ROOFLINE_ACHIEVED_FLOPS,
                 r->achieved_flops, "FLOP/s", a->has_compute, r->compute_pct,
                 &a->compute);
  print_resource("memory", r->known & KMB_ROOFLINE_ACHIEVED_BYTES,
                 r->achieved_bytes, "B/s", a->has_memory, r->memory_pct,
                 &a->memory);
  if (r->known & KMB_ROOFLINE_SOL_PCT) {
    printf("  %-10s ", "time");
    print_time(r->sol_time_ns);
    printf(" at the speed of light, %.4g%% of it reached\n", r->sol_pct);
  }
  if (a->has_rate) {
    printf("  %-10s %.4g%% of ", "rate",
           100 * r->achieved_flops / a->rate.value);
    print_si(a->rate.value, "FLOP/s");
    printf(" (rate × units × %.0f MHz)\n", q->clock_mhz);
  }
  if (r->known & KMB_ROOFLINE_REFERENCE_PCT)
    printf("  %-10s %.4g%% of %s, %s (%s, no limit)\n", "others",
           r->reference_pct, a->reference.regime, a->reference.hardware,
           a->reference.kind);
  json_t *findings = findings_of(a), *one = NULL;
  size_t i = 0;
  json_array_foreach(findings, i, one)
      printf("  %-10s %s: %s\n", i ? "" : "findings",
             json_string_value(json_object_get(one, "code")),
             json_string_value(json_object_get(one, "message")));
  json_decref(findings);
  if (a->part && !kmb_part_text(a->part, KMB_PART_SOURCE, &source))
    printf("  %-10s %s\n", "source", source);
}

int sol_main(int argc, char **argv) {
  question q = {.work = kmb_work_init()};
  answer a = {0};
  kmb_peaks *peaks = NULL;
  int status = read_options(&q, argc, argv);
  if (!status) status = open_peaks(q.files, q.file_count, &peaks);
  if (!status) status = report(solve(&q, peaks, &a));
  if (!status && q.json) status = print_json(answer_json(&q, &a));
  if (!status && !q.json) print_answer(&q, &a);
  kmb_peaks_destroy(peaks);
  return status;
}
