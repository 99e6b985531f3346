/* Hardware counters of a few kernels and of a bf16 product of cuBLAS, where
 * that is, cold and warm: JSON to the file that is named, a table to stdout.
 * With "launch" it launches the same kernels, once each and in the same order,
 * for another profiler to read. With "first" it reads them of one kernel, for
 * the first time in its process and again; with "first cublas" in a process
 * that has cuBLAS too. */
#include "../../examples/cuda_gemm/blas.h"
#include "report.h"

#define MIB (UINT64_C(1) << 20)

enum { ROWS = 4096, INNER = 4096, TOKENS = 2048 }; /* of the product */
enum { TIMES = 3 }; /* everything is read: of each figure the middle counts */

typedef struct shape {
  const char *key, *kernel; /* kernel NULL: the product */
  uint64_t bytes;           /* of the input */
  unsigned grid, block;
  bool writes; /* as much as it reads */
} shape;

static const shape shapes[] = {
    {"read 8 MiB", "test_read", 8 * MIB, 1056, 512, false},
    {"read 512 MiB", "test_read", 512 * MIB, 1056, 512, false},
    {"copy 512 MiB", "test_copy", 512 * MIB, 1056, 512, true},
    {"copy 8 MiB, one block", "test_copy", 8 * MIB, 1, 512, true},
    {"rows 64 MiB", "test_dot", 64 * MIB, 4096, 256, false},
    {"bf16 product", NULL, 2 * (uint64_t)ROWS *INNER, 0, 0, true},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

typedef struct work {
  gpu *g;
  const shape *s;
  kmbi_cu_function kernel;
  kmbi_cu_pointer sink;
} work;

static blas *product; /* NULL: there is no cuBLAS */

static uint64_t written_bytes(const shape *s) {
  if (!s->kernel) return 2 * (uint64_t)TOKENS * ROWS;
  return s->writes ? s->bytes : 0;
}

static kmb_status run(const work *w, void *from, void *to, void *stream) {
  uint64_t count = w->s->bytes / 16;
  uint32_t row = (uint32_t)(count / w->s->grid);
  void *sink = (void *)(uintptr_t)w->sink;
  void *out = w->s->writes ? to : sink;
  void *moves[] = {&from, &out, &count};
  void *dots[] = {&from, &from, &sink, &row};
  bool dot = strcmp(w->s->kernel, "test_dot") == 0;
  return w->g->cu.cuLaunchKernel(w->kernel, w->s->grid, 1, 1, w->s->block, 1, 1,
                                 0, stream, dot ? dots : moves, NULL)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

static kmb_status launch(void *user, const kmb_launch *l) {
  const work *w = user;
  if (!w->s->kernel)
    return blas_project(product, l->stream, l->args[0], l->args[1], l->args[2],
                        ROWS, INNER, TOKENS);
  return run(w, l->args[0], w->s->writes ? l->args[1] : NULL, l->stream);
}

static kmb_buffers *product_buffers(gpu *g) {
  static const char *const names[] = {"weights", "activations", "out"};
  const uint64_t bytes[] = {2 * (uint64_t)ROWS * INNER,
                            2 * (uint64_t)TOKENS * INNER,
                            2 * (uint64_t)TOKENS * ROWS};
  kmb_buffer_desc d[3];
  kmb_buffers *buffers = NULL;
  for (int i = 0; i < 3; i++) {
    d[i] = kmb_buffer_desc_init();
    d[i].name = names[i];
    d[i].dtype = KMB_BF16;
    d[i].role = i < 2 ? KMB_INPUT : KMB_OUTPUT;
    d[i].bytes = bytes[i];
  }
  if (kmb_buffers_create(g->device, d, sizeof d[0], 3, NULL, &buffers))
    fprintf(stderr, "buffers: %s\n", kmb_last_error(NULL, NULL));
  return buffers;
}

/* JSON. */

static void print_string(FILE *json, const char *text) {
  fputc('"', json);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') fputc('\\', json);
    fputc((unsigned char)*text < ' ' ? ' ' : *text, json);
  }
  fputc('"', json);
}

static void print_text(FILE *json, const char *key, const char *text) {
  fprintf(json, ",\n   \"%s\": ", key);
  print_string(json, text);
}

/* Unknown: null. */
static void print_number(FILE *json, const char *key, bool known,
                         double number) {
  if (known)
    fprintf(json, ", \"%s\": %.9g", key, number);
  else
    fprintf(json, ", \"%s\": null", key);
}

/* What the library says of where the time went. */
enum { LINES = 48, LINE = 512 };
static struct {
  char at[LINES][LINE];
  size_t count;
} said;

static void keep_log(void *user, kmb_log_level level, const char *message) {
  (void)user;
  fprintf(stderr, "    log %d: %s\n", (int)level, message);
  if (strncmp(message, "counters", 8) != 0 || said.count == LINES) return;
  snprintf(said.at[said.count++], LINE, "%s", message);
}

static void print_log(FILE *json) {
  fprintf(json, ",\n   \"log\": [");
  for (size_t i = 0; i < said.count; i++) {
    fprintf(json, "%s\n    ", i ? "," : "");
    print_string(json, said.at[i]);
  }
  fputc(']', json);
}

/* One operation in one state: the document has it whatever fails. */
typedef struct row {
  const shape *s;
  const char *state;
  kmb_counters *counters[TIMES];
  double ms[TIMES]; /* of the first call, and of the others, the cheaper ones */
  int calls;        /* that succeeded */
  kmb_counters *kept; /* of a call that took up what another had kept */
  double kept_ms;
  double ratio, time_us;
  bool ratio_known, time_known;
  char error[LINE]; /* the first one; "": none */
} row;

static void fail(row *r, const char *what) {
  const char *why = kmb_last_error(NULL, NULL);
  fprintf(stderr, "%s, %s: %s: %s\n", r->s->key, r->state, what, why);
  if (!r->error[0]) snprintf(r->error, sizeof r->error, "%s: %s", what, why);
}

static void print_info(FILE *json, const row *r) {
  kmb_counters_info info = kmb_counters_info_init();
  const char *name = "";
  if (kmb_counters_get_info(r->counters[0], &info) ||
      kmb_counters_name(r->counters[0], 0, &name))
    return;
  print_text(json, "kernel", name);
  print_text(json, "mode", info.mode);
  fprintf(json, ", \"passes\": %llu, \"taken\": %llu, \"kernels\": %llu",
          (unsigned long long)info.passes, (unsigned long long)info.taken,
          (unsigned long long)info.kernels);
  printf("%-22s %-5s %llu of %llu passes, %.0f then %.0f ms\n", r->s->key,
         r->state, (unsigned long long)info.taken,
         (unsigned long long)info.passes, r->ms[0], r->ms[1]);
}

/* The driver counts blocks as the library does; for kernels of others' making
 * it may know of more that limits them. */
static void print_occupancy(FILE *json, row *r) {
  kmb_occupancy o = kmb_occupancy_init();
  kmb_op op = kmb_op_init();
  if (kmb_counters_launch(r->counters[0], 0, &op) ||
      kmb_counters_occupancy(r->counters[0], 0, &o)) {
    fail(r, "occupancy");
    return;
  }
  bool checked = o.flags & KMB_OCCUPANCY_CHECKED;
  fprintf(json,
          ",\n   \"occupancy\": {\"theoretical_pct\": %.9g, "
          "\"blocks_per_unit\": %llu, \"waves\": %.9g, \"registers\": %u, "
          "\"checked\": %s",
          o.pct, (unsigned long long)o.blocks, o.waves, (unsigned)op.registers,
          checked ? "true" : "false");
  print_text(json, "check", o.check);
  fputc('}', json);
  printf("%-22.22s %.1f%% theoretical occupancy, limited by %s, %.3g waves; "
         "%s\n",
         op.name, o.pct, o.limit ? o.limit : "something else", o.waves,
         o.check);
  if (!checked && r->s->kernel && !r->error[0])
    snprintf(r->error, sizeof r->error, "occupancy: %s", o.check);
}

/* False: not every one of them knows it. */
static bool middle(kmb_counters *const *c, int count, uint64_t metric,
                   double *number) {
  double of[TIMES];
  for (int i = 0; i < count; i++)
    if (kmb_counters_value(c[i], 0, metric, &of[i])) return false;
  *number = median(of, (size_t)count);
  return true;
}

/* The values that are known, by the names of the metrics. */
static void print_values(FILE *json, const char *key, kmb_counters *const *c,
                         int count) {
  int written = 0;
  fprintf(json, ",\n   \"%s\": {", key);
#define PRINT(name, place, metric, unit, text)                             \
  {                                                                        \
    double number = 0;                                                     \
    if (middle(c, count, place, &number))                                  \
      fprintf(json, "%s\n    \"%s\": %.17g", written++ ? "," : "", metric, \
              number);                                                     \
  }
  KMB_COUNTERS_SOL_MAP(PRINT)
#undef PRINT
  fputc('}', json);
}

static void print_row(FILE *json, row *r) {
  static bool second;
  fprintf(json,
          "%s\n  {\"name\": \"%s\", \"state\": \"%s\", \"written_bytes\": %llu",
          second ? "," : "", r->s->key, r->state,
          (unsigned long long)written_bytes(r->s));
  second = true;
  if (r->calls == TIMES) {
    fprintf(json, ", \"wall_ms\": [%.2f, %.2f]", r->ms[0], r->ms[1]);
    print_info(json, r);
    print_occupancy(json, r);
    print_values(json, "metrics", r->counters, TIMES);
  }
  if (r->kept) {
    fprintf(json, ",\n   \"kept_ms\": %.2f", r->kept_ms);
    print_values(json, "metrics_kept", &r->kept, 1);
    printf("%-22s %-5s %.0f ms with a session that was kept\n", r->s->key,
           r->state, r->kept_ms);
  }
  print_log(json);
  print_number(json, "cold_ratio", r->ratio_known, r->ratio);
  print_number(json, "time_us", r->time_known, r->time_us);
  if (r->error[0]) print_text(json, "error", r->error);
  fputc('}', json);
}

/* What the first one made serves the others. */
static void count(gpu *g, row *r, const kmb_bench_params *p) {
  for (r->calls = 0; r->calls < TIMES; r->calls++) {
    double began = gpu_now();
    if (kmb_counters_read(g->device, p, NULL, &r->counters[r->calls])) {
      fail(r, "counters");
      return;
    }
    r->ms[r->calls] = (gpu_now() - began) / 1e6;
  }
}

static void drop(row *r) {
  for (int i = 0; i < TIMES; i++)
    kmb_counters_destroy(r->counters[i]);
  kmb_counters_destroy(r->kept);
}

/* Once to keep a session, in the other cache state where that makes another
 * number of each, and once with what was kept. */
static void count_kept(gpu *g, row *r, kmb_bench_params p) {
  kmb_counters_params params = kmb_counters_params_init();
  kmb_counters *first = NULL;
  kmb_cache_state state = p.cache;
  params.flags = KMB_COUNTERS_KEEP;
  if (r->s->bytes <= 8 * MIB)
    p.cache = state == KMB_CACHE_WARM ? KMB_CACHE_COLD : KMB_CACHE_WARM;
  kmb_status status = kmb_counters_read(g->device, &p, &params, &first);
  kmb_counters_destroy(first);
  p.cache = state;
  double began = gpu_now();
  if (!status) status = kmb_counters_read(g->device, &p, &params, &r->kept);
  r->kept_ms = (gpu_now() - began) / 1e6;
  if (status) fail(r, "counters, kept");
  if (kmb_counters_release(g->device)) fail(r, "release");
}

/* And what a measurement says that confirms its cache state. */
static void confirm(gpu *g, row *r, kmb_bench_params *p) {
  p->flags |= KMB_BENCH_CONFIRM_COLD;
  kmb_result *result = bench(g, p, "confirm");
  r->ratio_known =
      result && !kmb_result_f64(result, KMB_VALUE_COLD_RATIO, &r->ratio);
  if (!r->ratio_known) fail(r, "confirm_cold");
  r->time_known =
      result && !kmb_result_f64(result, KMB_VALUE_TIME, &r->time_us);
  if (!r->time_known) fail(r, "time");
  r->time_us /= 1e3;
  printf("%-22s %-5s %.2f us, cold_ratio ", r->s->key, r->state, r->time_us);
  if (r->ratio_known)
    printf("%.4f\n", r->ratio);
  else
    puts("not known");
  kmb_result_destroy(result);
}

/* What a process's first call takes, and its second. */
static int first(gpu *g) {
  const shape *s = &shapes[0];
  kmb_buffers *buffers = move_buffers(g, s->bytes, s->writes, 0);
  work w = {g, s, gpu_kernel(g, s->kernel), 0};
  row r = {.s = s, .state = "cold"};
  CU(g, cuMemAlloc, &w.sink, 64 << 10);
  kmb_bench_params p = params_for(&modes[0], KMB_CACHE_COLD);
  p.launch = launch;
  p.launch_user = &w;
  p.buffers = buffers;
  kmb_counters_info info = kmb_counters_info_init();
  count(g, &r, &p);
  if (!r.error[0] && kmb_counters_get_info(r.counters[0], &info))
    fail(&r, "info");
  if (!r.error[0]) {
    printf("{\"cublas\": %s, \"passes\": %llu, \"first_ms\": %.1f, "
           "\"second_ms\": %.1f",
           product ? "true" : "false", (unsigned long long)info.taken, r.ms[0],
           r.ms[1]);
    print_log(stdout);
    printf("}\n");
  }
  drop(&r);
  kmb_buffers_destroy(buffers);
  CU(g, cuMemFree, w.sink);
  return r.error[0] != 0;
}

static bool one(gpu *g, FILE *json, const shape *s, bool warm) {
  kmb_buffers *buffers =
      s->kernel ? move_buffers(g, s->bytes, s->writes, 0) : product_buffers(g);
  work w = {g, s, s->kernel ? gpu_kernel(g, s->kernel) : NULL, 0};
  row r = {.s = s, .state = warm ? "warm" : "cold"};
  said.count = 0;
  CU(g, cuMemAlloc, &w.sink, 64 << 10);
  kmb_bench_params p =
      params_for(&modes[0], warm ? KMB_CACHE_WARM : KMB_CACHE_COLD);
  p.launch = launch;
  p.launch_user = &w;
  p.buffers = buffers;
  count(g, &r, &p);
  count_kept(g, &r, p);
  confirm(g, &r, &p);
  print_row(json, &r);
  drop(&r);
  kmb_buffers_destroy(buffers);
  CU(g, cuMemFree, w.sink);
  return !r.error[0];
}

static void wait_for(gpu *g) {
  while (g->cu.cuStreamQuery(g->stream) == KMBI_CU_NOT_READY) {
  }
}

static void launch_product(gpu *g) {
  kmbi_cu_pointer at[3] = {0, 0, 0};
  const size_t bytes[] = {(size_t)2 * ROWS * INNER, (size_t)2 * TOKENS * INNER,
                          (size_t)2 * TOKENS * ROWS};
  if (!product) return;
  for (int i = 0; i < 3; i++) {
    CU(g, cuMemAlloc, &at[i], bytes[i]);
    CU(g, cuMemsetD32Async, at[i], 0x3f803f80, bytes[i] / 4, g->stream);
  }
  if (blas_project(product, g->stream, (void *)(uintptr_t)at[0],
                   (void *)(uintptr_t)at[1], (void *)(uintptr_t)at[2], ROWS,
                   INNER, TOKENS))
    fputs("the product failed\n", stderr);
  wait_for(g);
  for (int i = 0; i < 3; i++)
    CU(g, cuMemFree, at[i]);
}

/* For another profiler: nothing of the library's is launched. */
static int launch_all(gpu *g) {
  for (size_t i = 0; i < SHAPES; i++) {
    const shape *s = &shapes[i];
    if (!s->kernel) continue;
    work w = {g, s, gpu_kernel(g, s->kernel), 0};
    kmbi_cu_pointer from = 0, to = 0;
    CU(g, cuMemAlloc, &w.sink, 64 << 10);
    CU(g, cuMemAlloc, &from, s->bytes);
    CU(g, cuMemAlloc, &to, s->bytes);
    CU(g, cuMemsetD32Async, from, 0x3f800000, s->bytes / 4, g->stream);
    if (run(&w, (void *)(uintptr_t)from, (void *)(uintptr_t)to, g->stream))
      return 1;
    wait_for(g);
    CU(g, cuMemFree, to);
    CU(g, cuMemFree, from);
    CU(g, cuMemFree, w.sink);
  }
  launch_product(g);
  return 0;
}

/* In the device's context, which is current here. */
static void open_product(void) {
  const char *why = "";
  product = blas_open(&why);
  if (product && !blas_prepare(product)) return;
  fprintf(stderr, "no product: %s\n", product ? "cuBLAS does not start" : why);
  blas_close(product);
  product = NULL;
}

int main(int argc, char **argv) {
  gpu g;
  bool good = true;
  bool launches = argc > 1 && strcmp(argv[1], "launch") == 0;
  kmb_hooks hooks = kmb_hooks_init();
  kmb_device_params params = kmb_device_params_init();
  hooks.log = keep_log;
  params.hooks = &hooks;
  gpu_open_quietly(&g, "cuda:0", &params);
  if (argc > 1 && strcmp(argv[1], "first") == 0) {
    if (argc > 2) open_product();
    int code = first(&g);
    blas_close(product);
    gpu_close(&g);
    return code;
  }
  open_product();
  if (launches) {
    int code = launch_all(&g);
    blas_close(product);
    gpu_close(&g);
    return code;
  }
  FILE *json = report_open(&g, argc > 1 ? argv[1] : NULL);
  fprintf(json, " \"counters\": [");
  for (size_t i = 0; i < SHAPES; i++)
    if (shapes[i].kernel || product)
      good = one(&g, json, &shapes[i], false) && good;
  good = one(&g, json, &shapes[0], true) && good;
  fprintf(json, "\n ]}\n");
  int code = report_close(json);
  blas_close(product);
  gpu_close(&g);
  return good ? code : 1;
}
