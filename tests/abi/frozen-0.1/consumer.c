/* A program of 0.1: built against the frozen headers of that release and linked
 * to the library of today, it uses the whole interface. It judges what it gets
 * by its meaning, never by a duration. Not edited once 0.1 is tagged. */
#include "check.h"

enum { N = 1024, BYTES = 4096, SAMPLES = 64, LLC = 16384 };

typedef struct seen {
  uint64_t launches, setups, resets, checks, fills, logs, allocs, devices;
  uint64_t progress;
} seen;

static seen counts;

static void log_line(void *user, kmb_log_level level, const char *message) {
  HOLDS(user == &counts && level >= KMB_LOG_ERROR && message);
  counts.logs++;
}

static void *take(void *user, size_t size, size_t align) {
  HOLDS(user == &counts && align && (align & (align - 1)) == 0);
  counts.allocs++;
  return aligned_alloc(align, (size + align - 1) / align * align);
}

static void give(void *user, void *pointer, size_t size) {
  HOLDS(user == &counts && (pointer || !size));
  free(pointer);
}

static kmb_status device_take(void *user, uint64_t size, uint64_t align,
                              void **pointer) {
  HOLDS(user == &counts);
  counts.devices++;
  *pointer = aligned_alloc(align, (size + align - 1) / align * align);
  return *pointer ? KMB_OK : KMB_ERR_NOMEM;
}

static void device_give(void *user, void *pointer, uint64_t size) {
  HOLDS(user == &counts && (pointer || !size));
  free(pointer);
}

static void progress(void *user, const kmb_progress *p) {
  HOLDS(user == &counts && p->struct_size >= sizeof *p);
  HOLDS(strcmp(p->name, "scale") == 0 && p->stage[0] && p->rounds == 1);
  counts.progress++;
}

static const volatile int32_t never;

static kmb_device *open_device(void) {
  kmb_hooks hooks = kmb_hooks_init();
  hooks.log = log_line;
  hooks.log_user = &counts;
  hooks.alloc = take;
  hooks.free = give;
  hooks.alloc_user = &counts;
  hooks.device_alloc = device_take;
  hooks.device_free = device_give;
  hooks.device_alloc_user = &counts;
  hooks.progress = progress;
  hooks.progress_user = &counts;
  hooks.cancel = &never;
  kmb_device_params params = kmb_device_params_init();
  params.hooks = &hooks;
  params.llc_bytes = LLC;
  params.memory_budget = 64u << 20;
  params.threads = 1;
  kmb_device *device = NULL;
  OK(kmb_device_open("host", &params, &device));
  return device;
}

static const struct {
  kmb_status status;
  const char *name;
} statuses[] = {
#define STATUS(name, value, text) {value, #name},
    KMB_STATUS_MAP(STATUS)};

static const struct {
  kmb_dtype dtype;
  uint32_t bits;
  const char *name;
} dtypes[] = {
#define DTYPE(name, value, bits, text) {value, bits, text},
    KMB_DTYPE_MAP(DTYPE)};

static const struct {
  kmb_finding_code code;
  const char *name;
} findings[] = {
#define FINDING(name, value) {value, #name},
    KMB_FINDING_MAP(FINDING)};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void the_library_says_what_it_is(void) {
  HOLDS(strncmp(kmb_version(), "0.", 2) == 0);
  HOLDS(kmb_abi_major() == KMB_ABI_MAJOR);
  for (size_t i = 0; i < COUNT(statuses); i++) {
    HOLDS(strcmp(kmb_status_name(statuses[i].status), statuses[i].name) == 0);
    HOLDS(kmb_status_text(statuses[i].status)[0]);
  }
  for (size_t i = 0; i < COUNT(dtypes); i++) {
    uint32_t bits = 0;
    HOLDS(strcmp(kmb_dtype_name(dtypes[i].dtype), dtypes[i].name) == 0);
    OK(kmb_dtype_bits(dtypes[i].dtype, &bits));
    HOLDS(bits == dtypes[i].bits);
  }
  char hash[KMB_CODE_HASH_SIZE];
  OK(kmb_code_hash("abc", 3, hash));
  HOLDS(strncmp(hash, "ba7816bf8f01cfea", 16) == 0);
  for (size_t i = 0; i < COUNT(findings); i++)
    HOLDS(strcmp(kmb_finding_name(findings[i].code), findings[i].name) == 0);
}

static void errors_have_a_status_and_words(void) {
  kmb_device *device = NULL;
  kmb_status status = KMB_OK;
  int64_t vendor = -1;
  HOLDS(kmb_device_open(NULL, NULL, &device) == KMB_ERR_INVALID);
  HOLDS(kmb_last_error(&status, &vendor)[0]);
  HOLDS(status == KMB_ERR_INVALID && vendor == 0 && !device);
}

/* Each getter serves the attributes of its kind and refuses the others. */
static kmb_status ask_U64(kmb_device *device, kmb_device_attr attr) {
  uint64_t value = 0;
  return kmb_device_attr_u64(device, attr, &value);
}

static kmb_status ask_F64(kmb_device *device, kmb_device_attr attr) {
  double value = 0;
  return kmb_device_attr_f64(device, attr, &value);
}

static kmb_status ask_TEXT(kmb_device *device, kmb_device_attr attr) {
  const char *value = NULL;
  kmb_status status = kmb_device_attr_text(device, attr, &value);
  HOLDS(status || value);
  return status;
}

static const struct {
  kmb_device_attr attr;
  kmb_status (*ask)(kmb_device *, kmb_device_attr);
} attrs[] = {
#define ATTR(name, value, kind, key) {value, ask_##kind},
    KMB_DEVICE_ATTR_MAP(ATTR)};

static void attributes_keep_their_kinds(kmb_device *device) {
  for (size_t i = 0; i < COUNT(attrs); i++) {
    kmb_status status = attrs[i].ask(device, attrs[i].attr);
    HOLDS(status == KMB_OK || status == KMB_ERR_UNAVAILABLE);
  }
  uint64_t llc = 0;
  OK(kmb_device_attr_u64(device, KMB_DEVICE_LLC_BYTES, &llc));
  HOLDS(llc == LLC);
}

static kmb_status fill_ones(void *user, void *data, uint64_t bytes,
                            uint32_t slot) {
  (void)slot;
  HOLDS(user == &counts && bytes == BYTES);
  counts.fills++;
  for (int i = 0; i < N; i++)
    ((float *)data)[i] = 1;
  return KMB_OK;
}

static kmb_buffers *describe(kmb_device *device) {
  kmb_buffer_desc d[2] = {kmb_buffer_desc_init(), kmb_buffer_desc_init()};
  d[0].name = "x";
  d[0].role = KMB_INPUT;
  d[0].fill = KMB_FILL_CALLBACK;
  d[0].fill_fn = fill_ones;
  d[0].fill_user = &counts;
  d[1].name = "y";
  d[1].role = KMB_OUTPUT;
  d[0].dtype = d[1].dtype = KMB_F32;
  d[0].bytes = d[1].bytes = BYTES;
  kmb_buffers_params params = kmb_buffers_params_init();
  params.slots = 12;
  kmb_buffers *buffers = NULL;
  OK(kmb_buffers_create(device, d, sizeof d[0], 2, &params, &buffers));
  OK(kmb_buffers_prepare(buffers, 12));
  kmb_buffers_info info = kmb_buffers_info_init();
  OK(kmb_buffers_get_info(buffers, &info));
  HOLDS(info.count == 2 && info.slots == 12 &&
        info.touched_bytes == BYTES + BYTES);
  void *first = NULL, *second = NULL;
  OK(kmb_buffers_pointer(buffers, 0, 0, &first));
  OK(kmb_buffers_pointer(buffers, 1, 0, &second));
  HOLDS(first && second && first != second && ((float *)second)[N - 1] == 1);
  return buffers;
}

static kmb_status setup(void *user, uint32_t slot, uint32_t config) {
  HOLDS(user == &counts && slot < 12 && config == 7);
  counts.setups++;
  return KMB_OK;
}

static kmb_status reset(void *user, uint32_t slot, void *stream) {
  HOLDS(user == &counts && slot < 12 && !stream);
  counts.resets++;
  return KMB_OK;
}

static kmb_status scale(void *user, const kmb_launch *l) {
  HOLDS(user == &counts && l->struct_size >= sizeof *l && l->arg_count == 2);
  HOLDS(l->slot < 12 && l->config == 7 && !l->stream);
  const float *x = (const float *)l->args[0];
  float *y = (float *)l->args[1];
  for (int i = 0; i < N; i++)
    y[i] = 2 * x[i];
  counts.launches++;
  return KMB_OK;
}

static kmb_status compare(void *user, kmb_check *c) {
  HOLDS(user == &counts && c->struct_size >= sizeof *c && c->count == 2);
  HOLDS(c->bytes[0] == BYTES && c->tolerance == 0.5 && c->config == 7);
  const float *x = (const float *)c->before[0];
  const float *y = (const float *)c->after[1];
  c->error = 0;
  for (int i = 0; i < N; i++)
    if (y[i] != 2 * x[i]) c->error = 1;
  counts.checks++;
  return c->error <= c->tolerance ? KMB_OK : KMB_ERR_INCORRECT;
}

/* Figures of ours, so that no time is spent on measuring the machine's. */
static void ceilings(kmb_ceiling *memory, kmb_ceiling *compute) {
  *memory = kmb_ceiling_init();
  memory->value = 1e15;
  memory->kind = KMB_CEILING_COPY;
  memory->threads = 1;
  memory->source = KMB_SOURCE_CALLER;
  *compute = *memory;
  compute->kind = KMB_CEILING_FMA;
  compute->dtype = KMB_F32;
}

static kmb_bench_params bench_params(kmb_buffers *buffers) {
  static const kmb_pair axes[] = {{"n", "1024"}};
  static kmb_ceiling memory, compute;
  static kmb_work work;
  static kmb_metadata_params metadata;
  ceilings(&memory, &compute);
  work = kmb_work_init();
  OK(kmb_work_elementwise(N, 1, 1, 1, KMB_F32, &work));
  metadata = kmb_metadata_params_init();
  metadata.commit = "0123abc";
  metadata.pairs = axes;
  metadata.pair_count = 1;
  metadata.tree = KMB_TREE_CLEAN;
  kmb_bench_params p = kmb_bench_params_init();
  p.name = "scale";
  p.axes = axes;
  p.axis_count = 1;
  p.launch = scale;
  p.setup = setup;
  p.reset = reset;
  p.check = compare;
  p.launch_user = p.setup_user = p.reset_user = p.check_user = &counts;
  p.tolerance = 0.5;
  p.buffers = buffers;
  p.work = &work;
  p.memory_ceiling = &memory;
  p.compute_ceiling = &compute;
  p.metadata = &metadata;
  p.min_wall_ns = 1e6;
  p.max_wall_ns = 10e9;
  p.warmup_ns = 1e6;
  p.min_samples = 8;
  p.max_samples = SAMPLES;
  p.seed = 5;
  p.threads = 1;
  p.config = 7;
  p.flags = KMB_BENCH_SEED | KMB_BENCH_REQUIRE_CHECK;
  p.timer = KMB_TIMER_HOST;
  p.launch_mode = KMB_LAUNCH_PLAIN;
  p.cache = KMB_CACHE_ROTATED;
  return p;
}

/* Each value comes from the getter of its kind, or is not known. */
static kmb_status read_F64(const kmb_result *r, kmb_value value) {
  double number = 0;
  return kmb_result_f64(r, value, &number);
}

static kmb_status read_U64(const kmb_result *r, kmb_value value) {
  uint64_t number = 0;
  return kmb_result_u64(r, value, &number);
}

static kmb_status read_TEXT(const kmb_result *r, kmb_value value) {
  const char *text = NULL;
  kmb_status status = kmb_result_text(r, value, &text);
  HOLDS(status || text);
  return status;
}

static const struct {
  kmb_value value;
  kmb_status (*read)(const kmb_result *, kmb_value);
  const char *key; /* in JSON, quotes included */
} values[] = {
#define VALUE(name, number, kind, key, unit) \
  {number, read_##kind, "\"" key "\""},
    KMB_VALUE_MAP(VALUE)};

static uint64_t values_keep_their_kinds(const kmb_result *r) {
  uint64_t known = 0;
  for (size_t i = 0; i < COUNT(values); i++) {
    kmb_status status = values[i].read(r, values[i].value);
    HOLDS(status == KMB_OK || status == KMB_ERR_UNAVAILABLE);
    known += status == KMB_OK;
  }
  return known;
}

static void lists_of_a_result(const kmb_result *r) {
  for (uint64_t i = 0; i < kmb_result_finding_count(r); i++) {
    kmb_finding finding = kmb_finding_init();
    OK(kmb_result_finding(r, i, &finding));
    HOLDS(finding.message[0] && finding.code > 0);
    HOLDS(finding.severity >= KMB_NOTE && finding.severity <= KMB_DOUBT);
    for (uint64_t f = 0; f < finding.figure_count; f++)
      HOLDS(finding.figures[f].name[0]);
  }
  kmb_pair axis = {NULL, NULL};
  HOLDS(kmb_result_axis_count(r) == 1);
  OK(kmb_result_axis(r, 0, &axis));
  HOLDS(strcmp(axis.key, "n") == 0 && strcmp(axis.value, "1024") == 0);
  kmb_op op = kmb_op_init();
  HOLDS(kmb_result_op_count(r) == 0); /* the host's clock sees none */
  HOLDS(kmb_result_op(r, 0, &op) == KMB_ERR_INVALID);
  HOLDS(strcmp(kmb_op_kind_name(KMB_OP_MEMCPY), "memcpy") == 0);
  HOLDS(kmb_result_metadata_count(r) > 0);
  for (uint64_t i = 0; i < kmb_result_metadata_count(r); i++) {
    kmb_metadata_entry entry = kmb_metadata_entry_init();
    OK(kmb_result_metadata(r, i, &entry));
    HOLDS(entry.key[0] && (entry.value || entry.reason));
  }
  const char *text = NULL;
  OK(kmb_result_metadata_text(r, "caller.n", &text));
  HOLDS(strcmp(text, "1024") == 0);
}

static kmb_result *bench(kmb_device *device, kmb_buffers *buffers) {
  kmb_bench_params p = bench_params(buffers);
  kmb_result *r = NULL;
  OK(kmb_bench(device, &p, &r));
  HOLDS(counts.launches && counts.checks && counts.setups && counts.resets);
  HOLDS(counts.fills && counts.allocs && counts.devices && counts.progress);
  double time = 0;
  uint64_t number = 0;
  const char *text = NULL;
  OK(kmb_result_f64(r, KMB_VALUE_TIME, &time));
  HOLDS(time > 0);
  OK(kmb_result_text(r, KMB_VALUE_NAME, &text));
  HOLDS(strcmp(text, "scale") == 0);
  OK(kmb_result_u64(r, KMB_VALUE_SEED, &number));
  HOLDS(number == 5);
  const double *ns = NULL;
  OK(kmb_result_samples(r, &ns, &number));
  HOLDS(ns && number >= 8 && number <= SAMPLES);
  HOLDS(values_keep_their_kinds(r) > 40);
  lists_of_a_result(r);
  return r;
}

/* Output kept in memory, given back in small pieces. */
typedef struct text {
  char data[1 << 20];
  size_t size, taken;
} text;

static kmb_status append(void *user, const void *data, size_t size) {
  text *t = (text *)user;
  HOLDS(size < sizeof t->data - t->size);
  memcpy(t->data + t->size, data, size);
  t->size += size;
  t->data[t->size] = '\0';
  return KMB_OK;
}

static kmb_status give_piece(void *user, void *data, size_t size, size_t *got) {
  text *t = (text *)user;
  size_t left = t->size - t->taken;
  *got = size < 1000 ? size : 1000;
  if (*got > left) *got = left;
  memcpy(data, t->data + t->taken, *got);
  t->taken += *got;
  return KMB_OK;
}

static void written_results_read_back(kmb_result *r) {
  static text first, second, words, table;
  uint64_t known = values_keep_their_kinds(r);
  OK(kmb_result_write_text(r, append, &words));
  HOLDS(strstr(words.data, "scale"));
  OK(kmb_result_write_json(r, append, &first));
  for (size_t i = 0; i < COUNT(values); i++)
    HOLDS(values[i].read(r, values[i].value) ||
          strstr(first.data, values[i].key));
  kmb_results *list = NULL, *copy = NULL;
  OK(kmb_results_create(NULL, &list));
  OK(kmb_results_add(list, r)); /* the list's from here on */
  HOLDS(kmb_results_count(list) == 1);
  OK(kmb_results_write_json(list, append, &second));
  HOLDS(strcmp(first.data, second.data) == 0);
  OK(kmb_results_write_table(list, append, &table));
  HOLDS(strstr(table.data, "1024"));
  OK(kmb_results_read_json(give_piece, &second, NULL, &copy));
  HOLDS(kmb_results_count(copy) == 1);
  const kmb_result *again = NULL;
  OK(kmb_results_get(copy, 0, &again));
  HOLDS(values_keep_their_kinds(again) == known);
  lists_of_a_result(again);
  kmb_results_destroy(copy);
  kmb_results_destroy(list);
}

static void samples_of_ones_own(kmb_device *device) {
  kmb_bench_params p = bench_params(NULL);
  double ns[SAMPLES];
  for (int i = 0; i < SAMPLES; i++)
    ns[i] = 1000 + i % 3;
  kmb_result *r = NULL;
  OK(kmb_result_from_samples(device, &p, ns, SAMPLES, 1, &r));
  double median = 0;
  OK(kmb_result_f64(r, KMB_VALUE_RAW_MEDIAN, &median));
  HOLDS(median == 1001);
  kmb_result_destroy(r);

  kmb_session *session = NULL;
  OK(kmb_session_begin(device, &p, &session));
  for (int i = 0; i < 10; i++) {
    OK(kmb_session_sample_begin(session));
    OK(kmb_session_sample_end(session, 3));
  }
  OK(kmb_session_end(session, &r));
  uint64_t count = 0;
  OK(kmb_result_u64(r, KMB_VALUE_SAMPLES, &count));
  HOLDS(count == 10);
  kmb_result_destroy(r);
  OK(kmb_session_begin(device, &p, &session));
  kmb_session_abandon(session);
}

static void the_roofline_is_evaluated(void) {
  kmb_work work = kmb_work_init(), copy = kmb_work_init();
  OK(kmb_work_gemm(64, 32, 16, KMB_F32, &work));
  HOLDS(work.flops == 2ull * 64 * 32 * 16 && work.convention);
  OK(kmb_work_copy(4096, &copy));
  HOLDS(copy.read_bytes == 4096 && copy.write_bytes == 4096);
  kmb_ceiling memory, compute;
  ceilings(&memory, &compute);
  memory.value = 1e9;
  kmb_roofline_params params = kmb_roofline_params_init();
  params.work = &copy;
  params.memory = &memory;
  params.time_ns = 8192;
  kmb_roofline roofline = kmb_roofline_init();
  OK(kmb_roofline_evaluate(&params, &roofline));
  HOLDS(roofline.known & KMB_ROOFLINE_MEMORY_PCT);
  HOLDS(roofline.memory_pct > 99.9 && roofline.memory_pct < 100.1);
  HOLDS(roofline.observed == KMB_BOUND_MEMORY);
}

static void a_ceiling_is_measured(kmb_device *device) {
  kmb_ceiling ceiling = kmb_ceiling_init();
  OK(kmb_device_ceiling(device, KMB_CEILING_READ, 0, 1, &ceiling));
  HOLDS(ceiling.value > 0 && ceiling.source == KMB_SOURCE_MEASURED);
  HOLDS(ceiling.kind == KMB_CEILING_READ && ceiling.threads == 1);
}

int main(void) {
  the_library_says_what_it_is();
  errors_have_a_status_and_words();
  the_roofline_is_evaluated();
  kmb_device *device = open_device();
  attributes_keep_their_kinds(device);
  kmb_buffers *buffers = describe(device);
  kmb_result *r = bench(device, buffers);
  written_results_read_back(r);
  samples_of_ones_own(device);
  a_ceiling_is_measured(device);
  kmb_buffers_destroy(buffers);
  kmb_device_close(device);
  printf("built with %s, ran with %s\n", KMB_VERSION, kmb_version());
  return 0;
}
