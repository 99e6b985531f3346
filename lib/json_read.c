/* Results from JSON: strict about what it knows, silent about keys that a later
 * version may add. */
#include "json.h"
#include "result.h"

#include "error.h"

#include <stdio.h>

enum { FIRST_CAPACITY = 64 * 1024, SCHEMA_VERSION = 1 };
#define LARGEST_INPUT ((size_t)1 << 30)

/* Input. */

typedef struct input {
  const kmbi_memory *memory;
  char *data;
  size_t size, capacity;
} input;

static kmb_status reserve(input *in, size_t capacity) {
  char *data = kmbi_alloc(in->memory, capacity, 1);
  if (!data) {
    kmbi_fail(KMB_ERR_NOMEM,
              "kmb_results_read_json: no memory for more than %zu bytes of "
              "input",
              in->size);
    return KMB_ERR_NOMEM;
  }
  if (in->data) memcpy(data, in->data, in->size);
  kmbi_free(in->memory, in->data, in->capacity, 1);
  in->data = data;
  in->capacity = capacity;
  return KMB_OK;
}

/* One piece; `*got` is 0 at the end. */
static kmb_status take(input *in, kmb_read_fn read, void *user, size_t *got) {
  size_t room = in->capacity - in->size - 1;
  kmb_status status = read(user, in->data + in->size, room, got);
  if (status < 0)
    kmbi_fail(status, "the read callback returned %s", kmb_status_name(status));
  if (status) return status;
  if (*got > room)
    return kmbi_fail(KMB_ERR_INVALID,
                     "the read callback gave %zu bytes where %zu were asked "
                     "for",
                     *got, room);
  in->size += *got;
  if (in->size > LARGEST_INPUT)
    return kmbi_fail(KMB_ERR_FORMAT, "more than 1 GiB of JSON; split it");
  return KMB_OK;
}

/* All of the input, a zero behind it. */
static kmb_status slurp(input *in, kmb_read_fn read, void *user) {
  size_t got = 1;
  kmb_status status = reserve(in, FIRST_CAPACITY);
  while (!status && got) {
    got = 0;
    status = take(in, read, user, &got);
    if (!status && in->capacity - in->size < 2)
      status = reserve(in, in->capacity * 2);
  }
  if (!status) in->data[in->size] = '\0';
  return status;
}

/* Reading the tree. Arrays without memory stay empty: kmbi_result_finish()
 * tells. */

typedef struct reader {
  kmb_result *result;
  uint64_t index; /* of the result, for messages */
} reader;

static kmb_status bad(const reader *r, const char *key, const char *what) {
  return kmbi_fail(KMB_ERR_FORMAT, "results[%llu].%.80s: %s",
                   (unsigned long long)r->index, key, what);
}

static kmb_status need(const reader *r, const kmbi_json *object,
                       const char *key, kmbi_json_type type,
                       const kmbi_json **node) {
  *node = kmbi_json_member(object, key);
  if (!*node) return bad(r, key, "missing");
  if ((*node)->type == type) return KMB_OK;
  return bad(r, key,
             type == KMBI_JSON_STRING  ? "not a string"
             : type == KMBI_JSON_ARRAY ? "not an array"
                                       : "not an object");
}

static bool is_number(const kmbi_json *node) {
  return node->type == KMBI_JSON_INTEGER || node->type == KMBI_JSON_REAL;
}

/* A count: an integer, or a string of its digits. */
static bool count_of(const kmbi_json *node, uint64_t *count) {
  *count = 0;
  if (node->type == KMBI_JSON_INTEGER) {
    *count = node->as.u64;
    return !node->negative;
  }
  if (node->type != KMBI_JSON_STRING || !*node->as.text) return false;
  for (const char *at = node->as.text; *at; at++) {
    if (*at < '0' || *at > '9' || !kmbi_mul(*count, 10, count) ||
        !kmbi_add(*count, (uint64_t)(*at - '0'), count))
      return false;
  }
  return true;
}

static kmb_status read_value(const reader *r, const kmbi_value_info *info,
                             const kmbi_json *node) {
  uint64_t count = 0;
  switch (info->kind) {
  case KMBI_F64:
    if (!is_number(node)) return bad(r, info->key, "not a number");
    if (node->number < 0 && !kmbi_value_signed(info))
      return bad(r, info->key, "a time below zero");
    kmbi_result_set_f64(r->result, info->value, node->number);
    return KMB_OK;
  case KMBI_U64:
    if (!count_of(node, &count))
      return bad(r, info->key,
                 "not a whole number from 0 to 2^64 - 1, nor a string of its "
                 "digits");
    kmbi_result_set_u64(r->result, info->value, count);
    return KMB_OK;
  default:
    if (node->type != KMBI_JSON_STRING)
      return bad(r, info->key, "not a string");
    kmbi_result_set_text(r->result, info->value, node->as.text);
    return KMB_OK;
  }
}

/* The place of a key in the table, kmbi_value_count if it is no value's. Looked
 * for from `from` on: members mostly stand in the table's order. */
static size_t place_of(const char *key, size_t from) {
  for (size_t k = 0; k < kmbi_value_count; k++) {
    size_t i = from + k;
    if (i >= kmbi_value_count) i -= kmbi_value_count;
    const char *name = kmbi_value_table[i].key;
    if (name[0] == key[0] && strcmp(name, key) == 0) return i;
  }
  return kmbi_value_count;
}

static void place_members(const kmbi_json *object, const kmbi_json **places) {
  size_t next = 0;
  for (const kmbi_json *at = object->as.child; at; at = at->next) {
    size_t place = place_of(at->key, next);
    if (place == kmbi_value_count) continue;
    places[place] = at;
    next = place + 1 < kmbi_value_count ? place + 1 : 0;
  }
}

static kmb_status read_placed(const reader *r, const kmbi_json *const *given,
                              const kmbi_json *const *reasons) {
  kmb_status status = KMB_OK;
  for (size_t i = 0; i < kmbi_value_count && !status; i++) {
    const kmbi_value_info *info = &kmbi_value_table[i];
    const kmbi_json *node = given[i], *reason = reasons[i];
    if (node && reason) {
      status = bad(r, info->key, "both given and absent");
    } else if (node) {
      status = read_value(r, info, node);
    } else if (reason && reason->type != KMBI_JSON_STRING) {
      status = bad(r, info->key, "its reason in \"absent\" is not a string");
    } else if (reason) {
      kmbi_result_absent(r->result, info->value, "%s", reason->as.text);
    }
  }
  return status;
}

static kmb_status read_values(const reader *r, const kmbi_json *object) {
  const kmbi_json *absent = NULL;
  const kmbi_memory *memory = &r->result->memory;
  kmb_status status = need(r, object, "absent", KMBI_JSON_OBJECT, &absent);
  if (status) return status;
  const kmbi_json **places =
      kmbi_alloc(memory, 2 * kmbi_value_count, sizeof(kmbi_json *));
  if (!places)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory to look at a result's values");
  place_members(object, places);
  place_members(absent, places + kmbi_value_count);
  status = read_placed(r, places, places + kmbi_value_count);
  kmbi_free(memory, places, 2 * kmbi_value_count, sizeof(kmbi_json *));
  return status;
}

static kmb_status reject_twice(const reader *r, const char **keys,
                               uint64_t count) {
  char what[128];
  const char *twice = kmbi_repeated_key(keys, (size_t)count);
  if (!twice) return KMB_OK;
  snprintf(what, sizeof what, "two axes have the key \"%.80s\"", twice);
  return bad(r, "axes", what);
}

/* What no library writes: an interval that ends before it begins, or a time
 * outside of its own. */
static kmb_status check_interval(const reader *r) {
  double low = 0, high = 0, time = 0;
  const kmb_result *result = r->result;
  if (!kmbi_result_get_f64(result, KMB_VALUE_INTERVAL_LOW, &low) ||
      !kmbi_result_get_f64(result, KMB_VALUE_INTERVAL_HIGH, &high))
    return KMB_OK;
  if (low > high) return bad(r, "interval_low_ns", "above interval_high_ns");
  if (kmbi_result_get_f64(result, KMB_VALUE_TIME, &time) &&
      (time < low || time > high))
    return bad(r, "time_ns", "outside of its interval");
  return KMB_OK;
}

static kmb_status read_axes(const reader *r, const kmbi_json *object) {
  const kmbi_json *array = NULL, *key = NULL, *value = NULL;
  kmb_status status = need(r, object, "axes", KMBI_JSON_ARRAY, &array);
  if (status) return status;
  kmbi_arena *arena = &r->result->arena;
  kmb_pair *axes = kmbi_arena_alloc(arena, (size_t)array->count, sizeof *axes);
  const char **keys =
      kmbi_arena_alloc(arena, (size_t)array->count, sizeof *keys);
  if (!axes || !keys) return KMB_OK;
  uint64_t count = 0;
  for (const kmbi_json *at = array->as.child; at; at = at->next) {
    if (at->type != KMBI_JSON_OBJECT) return bad(r, "axes", "not objects");
    status = need(r, at, "key", KMBI_JSON_STRING, &key);
    if (!status) status = need(r, at, "value", KMBI_JSON_STRING, &value);
    if (status)
      return bad(r, "axes",
                 "an axis needs a key and a value, both "
                 "strings");
    keys[count] = key->as.text;
    axes[count++] = (kmb_pair){key->as.text, value->as.text};
  }
  kmbi_result_set_axes(r->result, axes, count);
  return reject_twice(r, keys, count);
}

static kmb_status read_samples(const reader *r, const kmbi_json *object) {
  const kmbi_json *array = NULL;
  kmb_status status = need(r, object, "samples_ns", KMBI_JSON_ARRAY, &array);
  if (status || !array->count) return status;
  double *ns =
      kmbi_arena_alloc(&r->result->arena, (size_t)array->count, sizeof *ns);
  if (!ns) return KMB_OK;
  uint64_t count = 0;
  for (const kmbi_json *at = array->as.child; at; at = at->next) {
    if (!is_number(at)) return bad(r, "samples_ns", "not numbers");
    if (at->number < 0) return bad(r, "samples_ns", "a time below zero");
    ns[count++] = at->number;
  }
  r->result->samples = ns;
  r->result->sample_count = count;
  return KMB_OK;
}

static bool count_32(const kmbi_json *node, uint32_t *to) {
  uint64_t count = 0;
  if (!node || !count_of(node, &count) || count > UINT32_MAX) return false;
  *to = (uint32_t)count;
  return true;
}

static bool three_counts(const kmbi_json *array, uint32_t *const to[3]) {
  if (!array || array->type != KMBI_JSON_ARRAY || array->count != 3)
    return false;
  const kmbi_json *at = array->as.child;
  for (size_t i = 0; i < 3; i++, at = at->next)
    if (!count_32(at, to[i])) return false;
  return true;
}

/* Of an operation that says how it was launched. */
static kmb_status read_launch(const reader *r, const kmbi_json *object,
                              kmb_op *op) {
  static const char *const keys[] = {
      "registers_per_thread", "local_bytes_per_thread", "static_shared_bytes",
      "dynamic_shared_bytes"};
  uint32_t *const numbers[] = {&op->registers, &op->local, &op->static_shared,
                               &op->dynamic_shared};
  uint32_t *const grid[] = {&op->grid_x, &op->grid_y, &op->grid_z};
  uint32_t *const block[] = {&op->block_x, &op->block_y, &op->block_z};
  const kmbi_json *sizes = kmbi_json_member(object, "grid");
  if (!sizes) return KMB_OK;
  bool good = three_counts(sizes, grid) &&
              three_counts(kmbi_json_member(object, "block"), block);
  for (size_t i = 0; good && i < sizeof keys / sizeof keys[0]; i++)
    good = count_32(kmbi_json_member(object, keys[i]), numbers[i]);
  op->flags = KMB_OP_HAS_LAUNCH;
  if (good) return KMB_OK;
  return bad(r, "ops",
             "a launch needs grid and block, three counts each, and the counts "
             "registers_per_thread, local_bytes_per_thread, "
             "static_shared_bytes and dynamic_shared_bytes");
}

static kmb_status read_op(const reader *r, const kmbi_json *object,
                          kmbi_result_op *row) {
  static const char *const keys[] = {"start_ns", "duration_ns", "min_ns",
                                     "max_ns", "share_pct"};
  double *const numbers[] = {&row->op.start_ns, &row->op.duration_ns,
                             &row->op.min_ns, &row->op.max_ns,
                             &row->op.share_pct};
  const kmbi_json *kind = NULL, *name = NULL;
  uint64_t stream = 0;
  row->op = kmb_op_init();
  if (object->type != KMBI_JSON_OBJECT) return bad(r, "ops", "not objects");
  kmb_status status = need(r, object, "kind", KMBI_JSON_STRING, &kind);
  if (!status) status = need(r, object, "name", KMBI_JSON_STRING, &name);
  if (status)
    return bad(r, "ops", "an operation needs a kind and a name, both strings");
  const kmbi_json *streams = kmbi_json_member(object, "stream");
  const kmbi_json *bytes = kmbi_json_member(object, "bytes");
  if (!streams || !count_of(streams, &stream) || stream > UINT32_MAX ||
      !bytes || !count_of(bytes, &row->op.bytes))
    return bad(r, "ops", "an operation needs the counts stream and bytes");
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    const kmbi_json *node = kmbi_json_member(object, keys[i]);
    if (!node || !is_number(node) || node->number < 0)
      return bad(r, "ops",
                 "an operation needs start_ns, duration_ns, min_ns, max_ns and "
                 "share_pct, none below zero");
    *numbers[i] = node->number;
  }
  kmbi_arena *arena = &r->result->arena;
  row->op.stream = (uint32_t)stream;
  row->op.kind = kmbi_op_kind_of(kind->as.text);
  row->op.name = kmbi_arena_copy(arena, name->as.text);
  if (!row->op.kind) row->kind_name = kmbi_arena_copy(arena, kind->as.text);
  return read_launch(r, object, &row->op);
}

/* Documents of versions without rows have none. */
static kmb_status read_ops(const reader *r, const kmbi_json *object) {
  const kmbi_json *array = kmbi_json_member(object, "ops");
  kmb_status status = KMB_OK;
  if (!array) return KMB_OK;
  if (array->type != KMBI_JSON_ARRAY) return bad(r, "ops", "not an array");
  kmbi_result_op *rows =
      kmbi_arena_alloc(&r->result->arena, (size_t)array->count, sizeof *rows);
  if (!rows) return KMB_OK;
  uint64_t count = 0;
  for (const kmbi_json *at = array->as.child; at && !status; at = at->next)
    status = read_op(r, at, &rows[count++]);
  r->result->ops = rows;
  r->result->op_count = count;
  return status;
}

static kmb_status read_rank(const reader *r, const kmbi_json *object,
                            kmb_rank *rank) {
  static const char *const words[] = {"device", "id"};
  static const char *const keys[] = {"median_ns", "min_ns", "max_ns"};
  static const char *const counts[] = {"slowest", "flops", "bytes", "node"};
  const char **const texts[] = {&rank->device, &rank->id};
  double *const times[] = {&rank->median_ns, &rank->min_ns, &rank->max_ns};
  uint64_t *const numbers[] = {&rank->slowest, &rank->flops, &rank->bytes,
                               &rank->node};
  *rank = kmb_rank_init();
  if (object->type != KMBI_JSON_OBJECT) return bad(r, "ranks", "not objects");
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    const kmbi_json *node = kmbi_json_member(object, words[i]);
    if (!node || node->type != KMBI_JSON_STRING)
      return bad(r, "ranks", "a rank needs the strings device and id");
    *texts[i] = kmbi_arena_copy(&r->result->arena, node->as.text);
  }
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    const kmbi_json *node = kmbi_json_member(object, keys[i]);
    if (!node || !is_number(node) || node->number < 0)
      return bad(r, "ranks",
                 "a rank needs median_ns, min_ns and max_ns, none below zero");
    *times[i] = node->number;
  }
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    const kmbi_json *node = kmbi_json_member(object, counts[i]);
    if (!node || !count_of(node, numbers[i]))
      return bad(r, "ranks",
                 "a rank needs the counts slowest, flops, bytes and node");
  }
  return KMB_OK;
}

/* Measurements by one rank alone have none. */
static kmb_status read_ranks(const reader *r, const kmbi_json *object) {
  const kmbi_json *array = kmbi_json_member(object, "ranks");
  kmb_status status = KMB_OK;
  if (!array) return KMB_OK;
  if (array->type != KMBI_JSON_ARRAY) return bad(r, "ranks", "not an array");
  kmb_rank *ranks =
      kmbi_arena_alloc(&r->result->arena, (size_t)array->count, sizeof *ranks);
  if (!ranks) return KMB_OK;
  uint64_t count = 0;
  for (const kmbi_json *at = array->as.child; at && !status; at = at->next)
    status = read_rank(r, at, &ranks[count++]);
  r->result->ranks = ranks;
  r->result->rank_count = count;
  return status;
}

static bool is_hash(const char *text) {
  size_t digits = strspn(text, "0123456789abcdef");
  return digits == KMB_CODE_HASH_SIZE - 1 && !text[digits];
}

/* Hashes that are none, and a file that would lie elsewhere. */
static kmb_status check_code(const reader *r, const kmb_code_kernel *k) {
  if ((k->hash && !is_hash(k->hash)) ||
      (k->code_hash && !is_hash(k->code_hash)))
    return bad(r, "code", "a hash is 64 hexadecimal digits, in small letters");
  if (k->file && (!*k->file || *k->file == '.' || strchr(k->file, '/')))
    return bad(r, "code",
               "a file is named without a folder, from a character "
               "other than a point on");
  if ((k->file || k->code_hash) && !k->hash)
    return bad(r, "code", "a file and code_sha256 need sha256");
  if (k->code_hash && !k->code_bytes)
    return bad(r, "code", "code_sha256 needs code_offset and code_bytes");
  return KMB_OK;
}

/* Of a row of code: texts, most of which may be missing. */
static kmb_status read_code_texts(const reader *r, const kmbi_json *object,
                                  kmb_code_kernel *k) {
  static const char *const keys[] = {"name",   "architecture", "demangled",
                                     "sha256", "code_sha256",  "file",
                                     "reason"};
  const char **const texts[] = {&k->name,  &k->arch,      &k->demangled,
                                &k->hash,  &k->code_hash, &k->file,
                                &k->reason};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    const kmbi_json *node = kmbi_json_member(object, keys[i]);
    if (node ? node->type != KMBI_JSON_STRING : !i)
      return bad(r, "code",
                 "a kernel needs a name; what else it has of texts are "
                 "strings");
    *texts[i] = node ? kmbi_arena_copy(&r->result->arena, node->as.text) : NULL;
  }
  if (!k->arch) k->arch = "";
  return KMB_OK;
}

/* Several that are known together or not at all. */
static bool read_group(const kmbi_json *object, const char *const *keys,
                       uint64_t *const *numbers, size_t count, bool *known) {
  *known = false;
  for (size_t i = 0; i < count; i++) {
    const kmbi_json *node = kmbi_json_member(object, keys[i]);
    if (!i) *known = node != NULL;
    if (*known != (node != NULL)) return false;
    if (node && !count_of(node, numbers[i])) return false;
  }
  return true;
}

static kmb_status read_code_counts(const reader *r, const kmbi_json *object,
                                   kmb_code_kernel *k) {
  static const char *const keys[] = {"launches",
                                     "dynamic_shared_bytes",
                                     "registers",
                                     "static_shared_bytes",
                                     "local_bytes",
                                     "max_threads",
                                     "blocks_per_unit",
                                     "code_offset",
                                     "code_bytes",
                                     "scalar_registers",
                                     "accumulator_registers",
                                     "spilled_registers",
                                     "spilled_scalar_registers"};
  uint64_t *const numbers[] = {&k->launches,
                               &k->dynamic_shared_bytes,
                               &k->registers,
                               &k->static_shared_bytes,
                               &k->local_bytes,
                               &k->max_threads,
                               &k->blocks_per_unit,
                               &k->code_offset,
                               &k->code_bytes,
                               &k->scalar_registers,
                               &k->accumulator_registers,
                               &k->spilled_registers,
                               &k->spilled_scalar_registers};
  /* The first group has to be there; what stands in `flag` says of the others
   * that they are. */
  static const struct {
    size_t count;
    uint32_t flag;
  } groups[] = {{2, 0},
                {4, KMB_CODE_HAS_ATTRIBUTES},
                {1, KMB_CODE_HAS_OCCUPANCY},
                {2, 0},
                {1, KMB_CODE_HAS_SCALARS},
                {1, KMB_CODE_HAS_ACCUMULATORS},
                {2, KMB_CODE_HAS_SPILLS}};
  size_t at = 0;
  for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
    bool known = false;
    if (!read_group(object, keys + at, numbers + at, groups[g].count, &known) ||
        (!g && !known))
      return bad(r, "code",
                 "a kernel needs the counts launches and dynamic_shared_bytes; "
                 "its attributes are there together or not at all");
    if (known) k->flags |= groups[g].flag;
    at += groups[g].count;
  }
  return KMB_OK;
}

/* Results whose code was not captured have none. */
static kmb_status read_code(const reader *r, const kmbi_json *object) {
  const kmbi_json *array = kmbi_json_member(object, "code");
  kmb_status status = KMB_OK;
  if (!array) return KMB_OK;
  if (array->type != KMBI_JSON_ARRAY) return bad(r, "code", "not an array");
  if (array->count > KMBI_CODE_MOST)
    return bad(r, "code", "more than 256 kernels");
  kmb_code_kernel *rows =
      kmbi_arena_alloc(&r->result->arena, (size_t)array->count, sizeof *rows);
  if (!rows) return KMB_OK;
  uint64_t count = 0;
  for (const kmbi_json *at = array->as.child; at && !status; at = at->next) {
    kmb_code_kernel *k = &rows[count++];
    uint32_t *const grid[] = {&k->grid_x, &k->grid_y, &k->grid_z};
    uint32_t *const block[] = {&k->block_x, &k->block_y, &k->block_z};
    *k = kmb_code_kernel_init();
    if (at->type != KMBI_JSON_OBJECT) return bad(r, "code", "not objects");
    if (!three_counts(kmbi_json_member(at, "grid"), grid) ||
        !three_counts(kmbi_json_member(at, "block"), block))
      return bad(r, "code", "a kernel needs grid and block, three counts each");
    status = read_code_texts(r, at, k);
    if (!status) status = read_code_counts(r, at, k);
    if (!status) status = check_code(r, k);
  }
  r->result->code = rows;
  r->result->code_count = count;
  return status;
}

static bool severity_of(const char *name, kmb_severity *severity) {
  static const char *const names[] = {"note", "warning", "doubt"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(names[i], name) == 0) {
      *severity = (kmb_severity)i + KMB_NOTE;
      return true;
    }
  }
  return false;
}

static kmb_status read_figures(const reader *r, const kmbi_json *object,
                               kmb_figure **figures) {
  kmbi_arena *arena = &r->result->arena;
  *figures = kmbi_arena_alloc(arena, (size_t)object->count, sizeof **figures);
  if (!*figures) return KMB_OK;
  uint64_t count = 0;
  for (const kmbi_json *at = object->as.child; at; at = at->next) {
    if (!is_number(at)) return bad(r, "findings", "a figure is not a number");
    (*figures)[count].name = kmbi_arena_copy(arena, at->key);
    (*figures)[count++].value = at->number;
  }
  return KMB_OK;
}

static kmb_status read_finding(const reader *r, const kmbi_json *object) {
  const kmbi_json *code = NULL, *severity = NULL, *message = NULL,
                  *figures = NULL;
  kmb_severity weight = KMB_NOTE;
  if (object->type != KMBI_JSON_OBJECT)
    return bad(r, "findings", "not objects");
  kmb_status status = need(r, object, "code", KMBI_JSON_STRING, &code);
  if (!status)
    status = need(r, object, "severity", KMBI_JSON_STRING, &severity);
  if (!status) status = need(r, object, "message", KMBI_JSON_STRING, &message);
  if (!status) status = need(r, object, "figures", KMBI_JSON_OBJECT, &figures);
  if (status)
    return bad(r, "findings",
               "a finding needs the strings code, severity and message and the "
               "object figures");
  if (!severity_of(severity->as.text, &weight))
    return bad(r, "findings", "severity is not note, warning or doubt");
  kmb_figure *list = NULL;
  status = read_figures(r, figures, &list);
  if (status || kmbi_arena_failed(&r->result->arena)) return status;
  kmbi_result_find_named(r->result, code->as.text, weight, list, figures->count,
                         message->as.text);
  return KMB_OK;
}

static kmb_status read_findings(const reader *r, const kmbi_json *object) {
  const kmbi_json *array = NULL;
  kmb_status status = need(r, object, "findings", KMBI_JSON_ARRAY, &array);
  if (status) return status;
  for (const kmbi_json *at = array->as.child; at && !status; at = at->next)
    status = read_finding(r, at);
  return status;
}

static kmb_status read_entries(const reader *r, const kmbi_json *object,
                               bool absent) {
  for (const kmbi_json *at = object->as.child; at; at = at->next) {
    if (at->type != KMBI_JSON_STRING)
      return bad(r, at->key,
                 absent ? "its reason in \"metadata_absent\" is not a string"
                        : "metadata that is not a string");
    const char *text = at->as.text;
    kmbi_result_meta_new(r->result, at->key, absent ? NULL : text,
                         absent ? text : NULL);
  }
  return KMB_OK;
}

static kmb_status read_metadata(const reader *r, const kmbi_json *object) {
  const kmbi_json *present = NULL, *absent = NULL;
  const char *twice = NULL;
  kmb_status status = need(r, object, "metadata", KMBI_JSON_OBJECT, &present);
  if (!status)
    status = need(r, object, "metadata_absent", KMBI_JSON_OBJECT, &absent);
  if (!status)
    status = kmbi_json_repeated(&r->result->memory, present, absent, &twice);
  if (!status && twice)
    status = bad(r, twice, "metadata both given and absent");
  if (!status) status = read_entries(r, present, false);
  if (!status) status = read_entries(r, absent, true);
  return status;
}

static kmb_status read_result(kmb_results *results, uint64_t index,
                              const kmbi_json *object) {
  reader r = {.index = index};
  if (object->type != KMBI_JSON_OBJECT)
    return kmbi_fail(KMB_ERR_FORMAT, "results[%llu]: not an object",
                     (unsigned long long)index);
  kmb_status status = kmbi_result_create(&results->memory, &r.result);
  if (status) return status;
  status = read_axes(&r, object);
  if (!status) status = read_values(&r, object);
  if (!status) status = check_interval(&r);
  if (!status) status = read_findings(&r, object);
  if (!status) status = read_ops(&r, object);
  if (!status) status = read_ranks(&r, object);
  if (!status) status = read_code(&r, object);
  if (!status) status = read_samples(&r, object);
  if (!status) status = read_metadata(&r, object);
  if (!status) status = kmbi_result_finish(&r.result);
  if (!status) status = kmb_results_add(results, r.result);
  if (status) kmb_result_destroy(r.result);
  return status;
}

static kmb_status check_head(const kmbi_json *root) {
  if (root->type != KMBI_JSON_OBJECT)
    return kmbi_fail(KMB_ERR_FORMAT, "the document is not an object");
  const kmbi_json *schema = kmbi_json_member(root, "schema");
  if (!schema || schema->type != KMBI_JSON_STRING)
    return kmbi_fail(KMB_ERR_FORMAT,
                     "schema: missing or not a string; this is no document of "
                     "kmb_results_write_json()");
  if (strcmp(schema->as.text, "kmb-result") != 0 &&
      strcmp(schema->as.text, "kmb-comparison") != 0)
    return kmbi_fail(KMB_ERR_FORMAT, "schema: \"%.40s\", not \"kmb-result\"",
                     schema->as.text);
  const kmbi_json *version = kmbi_json_member(root, "version");
  if (!version || version->type != KMBI_JSON_INTEGER || version->negative ||
      version->as.u64 == 0)
    return kmbi_fail(KMB_ERR_FORMAT,
                     "version: missing or not a whole number from 1 on");
  if (version->as.u64 > SCHEMA_VERSION)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "version: the document has version %llu of the schema, "
                     "libkmb %s reads up to %d; use a newer libkmb",
                     (unsigned long long)version->as.u64, KMB_VERSION,
                     SCHEMA_VERSION);
  return KMB_OK;
}

/* A comparison holds the document of its results. */
static kmb_status find_results(const kmbi_json **root) {
  kmb_status status = check_head(*root);
  if (status ||
      strcmp(kmbi_json_member(*root, "schema")->as.text, "kmb-result") == 0)
    return status;
  *root = kmbi_json_member(*root, "document");
  if (!*root)
    return kmbi_fail(KMB_ERR_FORMAT, "document: missing in a comparison");
  status = check_head(*root);
  if (!status &&
      strcmp(kmbi_json_member(*root, "schema")->as.text, "kmb-result") != 0)
    status = kmbi_fail(KMB_ERR_FORMAT, "document: a comparison within a "
                                       "comparison");
  return status;
}

static kmb_status read_document(kmb_results *results, const kmbi_json *root) {
  kmb_status status = find_results(&root);
  if (status) return status;
  const kmbi_json *array = kmbi_json_member(root, "results");
  if (!array || array->type != KMBI_JSON_ARRAY)
    return kmbi_fail(KMB_ERR_FORMAT, "results: missing or not an array");
  uint64_t index = 0;
  for (const kmbi_json *at = array->as.child; at && !status; at = at->next)
    status = read_result(results, index++, at);
  return status;
}

kmb_status kmb_results_read_json(kmb_read_fn read, void *user,
                                 const kmb_hooks *hooks, kmb_results **out) {
  if (!read || !out)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_results_read_json: %s is NULL",
                     !read ? "read" : "results");
  kmb_results *results = NULL;
  *out = NULL;
  kmb_status status =
      kmbi_results_open(hooks, "kmb_results_read_json", &results);
  if (status) return status;
  input in = {.memory = &results->memory};
  kmbi_arena tree;
  kmbi_json *root = NULL;
  kmbi_arena_init(&tree, &results->memory);
  status = slurp(&in, read, user);
  if (!status) status = kmbi_json_parse(&tree, in.data, in.size, &root);
  if (!status) status = read_document(results, root);
  kmbi_arena_release(&tree);
  kmbi_free(in.memory, in.data, in.capacity, 1);
  if (status)
    kmb_results_destroy(results);
  else
    *out = results;
  return status;
}
