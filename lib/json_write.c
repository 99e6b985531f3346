/* Results as JSON, streamed: one value at a time is held in memory. */
#include "format.h"
#include "result.h"

#include "error.h"

#include <jansson.h>
#include <stdio.h>

enum { BUFFER_SIZE = 4096, SAMPLES_A_LINE = 8 };

/* From here on, readers that keep numbers as doubles lose digits. */
#define LARGEST_EXACT (1ULL << 53)

typedef struct writer {
  kmb_write_fn write;
  void *user;
  kmb_status status;
  size_t used;
  char buffer[BUFFER_SIZE];
} writer;

static void flush(writer *w) {
  if (w->status || !w->used) return;
  w->status = w->write(w->user, w->buffer, w->used);
  w->used = 0;
  if (w->status < 0)
    kmbi_fail(w->status, "the write callback returned %s",
              kmb_status_name(w->status));
}

static void put(writer *w, const char *data, size_t size) {
  while (size && !w->status) {
    size_t room = BUFFER_SIZE - w->used;
    size_t part = size < room ? size : room;
    memcpy(w->buffer + w->used, data, part);
    w->used += part;
    data += part;
    size -= part;
    if (w->used == BUFFER_SIZE) flush(w);
  }
}

static void put_text(writer *w, const char *text) {
  put(w, text, strlen(text));
}

static int on_dump(const char *data, size_t size, void *user) {
  writer *w = user;
  put(w, data, size);
  return w->status ? -1 : 0;
}

/* Takes `value` over; NULL means that there was no memory for it. */
static void put_json(writer *w, json_t *value, size_t flags) {
  flags |= JSON_ENCODE_ANY | JSON_REAL_PRECISION(17);
  if (!w->status &&
      (!value || json_dump_callback(value, on_dump, w, flags) != 0) &&
      !w->status)
    w->status = kmbi_fail(KMB_ERR_NOMEM, "no memory to write a result as JSON");
  json_decref(value);
}

static void put_string(writer *w, const char *text) {
  put_json(w, json_string(text), 0);
}

static void put_u64(writer *w, uint64_t number) {
  char digits[32];
  const char *quote = number <= LARGEST_EXACT ? "" : "\"";
  snprintf(digits, sizeof digits, "%s%llu%s", quote, (unsigned long long)number,
           quote);
  put_text(w, digits);
}

/* Members and items, one a line. `indent` is what precedes each. */
typedef struct list {
  writer *w;
  const char *indent;
  bool started;
} list;

static void next_item(list *items) {
  put_text(items->w, items->started ? ",\n" : "\n");
  put_text(items->w, items->indent);
  items->started = true;
}

static void next_member(list *members, const char *key) {
  next_item(members);
  put_string(members->w, key);
  put_text(members->w, ": ");
}

/* The same of a key of ours, which needs no escapes. */
static void next_plain(list *members, const char *key) {
  next_item(members);
  put_text(members->w, "\"");
  put_text(members->w, key);
  put_text(members->w, "\": ");
}

static void end_list(const list *items, const char *indent, const char *close) {
  if (items->started) {
    put_text(items->w, "\n");
    put_text(items->w, indent);
  }
  put_text(items->w, close);
}

static void put_axes(writer *w, const kmb_result *result) {
  list items = {w, "    ", false};
  put_text(w, "[");
  for (uint64_t i = 0; i < result->axis_count; i++) {
    next_item(&items);
    put_text(w, "{\"key\": ");
    put_string(w, result->axes[i].key);
    put_text(w, ", \"value\": ");
    put_string(w, result->axes[i].value);
    put_text(w, "}");
  }
  end_list(&items, "   ", "]");
}

static void put_values(list *members, const kmb_result *result) {
  for (size_t i = 0; i < kmbi_value_count; i++) {
    const kmbi_value_info *info = &kmbi_value_table[i];
    const kmbi_value *value = &result->values[i];
    if (!value->known) continue;
    next_plain(members, info->key);
    if (info->kind == KMBI_F64)
      put_json(members->w, json_real(value->f64), 0);
    else if (info->kind == KMBI_U64)
      put_u64(members->w, value->u64);
    else
      put_string(members->w, value->text);
  }
}

static void put_absent(writer *w, const kmb_result *result) {
  list members = {w, "    ", false};
  put_text(w, "{");
  for (size_t i = 0; i < kmbi_value_count; i++) {
    const kmbi_value *value = &result->values[i];
    if (value->known || !value->reason) continue;
    next_plain(&members, kmbi_value_table[i].key);
    put_string(w, value->reason);
  }
  end_list(&members, "   ", "}");
}

static void put_finding(writer *w, const kmbi_finding *finding) {
  put_text(w, "{\"code\": ");
  put_string(w,
             finding->name ? finding->name : kmb_finding_name(finding->code));
  put_text(w, ", \"severity\": ");
  put_string(w, kmbi_severity_name(finding->severity));
  put_text(w, ",\n     \"message\": ");
  put_string(w, finding->message);
  put_text(w, ",\n     \"figures\": {");
  for (uint64_t i = 0; i < finding->figure_count; i++) {
    if (i) put_text(w, ", ");
    put_string(w, finding->figures[i].name);
    put_text(w, ": ");
    put_json(w, json_real(finding->figures[i].value), 0);
  }
  put_text(w, "}}");
}

static void put_findings(writer *w, const kmb_result *result) {
  list items = {w, "    ", false};
  put_text(w, "[");
  for (const kmbi_finding *at = result->findings; at; at = at->next) {
    next_item(&items);
    put_finding(w, at);
  }
  end_list(&items, "   ", "]");
}

static void put_sizes(writer *w, uint32_t x, uint32_t y, uint32_t z) {
  const uint32_t sizes[] = {x, y, z};
  for (size_t i = 0; i < 3; i++) {
    put_text(w, i ? ", " : "[");
    put_u64(w, sizes[i]);
  }
  put_text(w, "]");
}

static void put_launch(writer *w, const kmb_op *op) {
  const struct {
    const char *key;
    uint32_t number;
  } numbers[] = {{"registers_per_thread", op->registers},
                 {"local_bytes_per_thread", op->local},
                 {"static_shared_bytes", op->static_shared},
                 {"dynamic_shared_bytes", op->dynamic_shared}};
  put_text(w, ",\n     \"grid\": ");
  put_sizes(w, op->grid_x, op->grid_y, op->grid_z);
  put_text(w, ", \"block\": ");
  put_sizes(w, op->block_x, op->block_y, op->block_z);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    put_text(w, ", ");
    put_string(w, numbers[i].key);
    put_text(w, ": ");
    put_u64(w, numbers[i].number);
  }
}

static void put_op(writer *w, const kmbi_result_op *row) {
  const struct {
    const char *key;
    double number;
  } numbers[] = {
      {"start_ns", row->op.start_ns},   {"duration_ns", row->op.duration_ns},
      {"min_ns", row->op.min_ns},       {"max_ns", row->op.max_ns},
      {"share_pct", row->op.share_pct},
  };
  put_text(w, "{\"kind\": ");
  put_string(w,
             row->kind_name ? row->kind_name : kmb_op_kind_name(row->op.kind));
  put_text(w, ", \"name\": ");
  put_string(w, row->op.name);
  put_text(w, ",\n     \"stream\": ");
  put_u64(w, row->op.stream);
  put_text(w, ", \"bytes\": ");
  put_u64(w, row->op.bytes);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    put_text(w, ", ");
    put_string(w, numbers[i].key);
    put_text(w, ": ");
    put_json(w, json_real(numbers[i].number), 0);
  }
  if (row->op.flags & KMB_OP_HAS_LAUNCH) put_launch(w, &row->op);
  put_text(w, "}");
}

static void put_ops(writer *w, const kmb_result *result) {
  list items = {w, "    ", false};
  put_text(w, "[");
  for (uint64_t i = 0; i < result->op_count; i++) {
    next_item(&items);
    put_op(w, &result->ops[i]);
  }
  end_list(&items, "   ", "]");
}

static void put_rank(writer *w, const kmb_rank *rank) {
  const struct {
    const char *key;
    double number;
  } times[] = {{"median_ns", rank->median_ns},
               {"min_ns", rank->min_ns},
               {"max_ns", rank->max_ns}};
  const struct {
    const char *key;
    uint64_t number;
  } counts[] = {{"slowest", rank->slowest},
                {"flops", rank->flops},
                {"bytes", rank->bytes},
                {"node", rank->node}};
  put_text(w, "{\"device\": ");
  put_string(w, rank->device);
  put_text(w, ", \"id\": ");
  put_string(w, rank->id);
  put_text(w, ",\n    ");
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
    put_text(w, i ? ", " : " ");
    put_string(w, times[i].key);
    put_text(w, ": ");
    put_json(w, json_real(times[i].number), 0);
  }
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    put_text(w, ", ");
    put_string(w, counts[i].key);
    put_text(w, ": ");
    put_u64(w, counts[i].number);
  }
  put_text(w, "}");
}

static void put_ranks(writer *w, const kmb_result *result) {
  list items = {w, "    ", false};
  put_text(w, "[");
  for (uint64_t i = 0; i < result->rank_count; i++) {
    next_item(&items);
    put_rank(w, &result->ranks[i]);
  }
  end_list(&items, "   ", "]");
}

static void put_code_texts(list *members, const kmb_code_kernel *k) {
  const struct {
    const char *key, *text;
  } texts[] = {
      {"name", k->name},
      {"demangled", k->demangled},
      {"architecture", k->arch},
      {"sha256", k->hash},
      {"code_sha256", k->code_hash},
      {"file", k->file},
      {"reason", k->reason},
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    if (!texts[i].text || (i && !*texts[i].text)) continue;
    next_plain(members, texts[i].key);
    put_string(members->w, texts[i].text);
  }
}

/* What is not known has no member. */
static void put_code_counts(list *members, const kmb_code_kernel *k) {
  bool asked = k->flags & KMB_CODE_HAS_ATTRIBUTES;
  bool fits = k->flags & KMB_CODE_HAS_OCCUPANCY;
  bool spills = k->flags & KMB_CODE_HAS_SPILLS;
  const struct {
    const char *key;
    uint64_t count;
    bool known;
  } counts[] = {
      {"launches", k->launches, true},
      {"dynamic_shared_bytes", k->dynamic_shared_bytes, true},
      {"registers", k->registers, asked},
      {"static_shared_bytes", k->static_shared_bytes, asked},
      {"local_bytes", k->local_bytes, asked},
      {"max_threads", k->max_threads, asked},
      {"blocks_per_unit", k->blocks_per_unit, fits},
      {"code_offset", k->code_offset, k->code_bytes != 0},
      {"code_bytes", k->code_bytes, k->code_bytes != 0},
      {"scalar_registers", k->scalar_registers,
       k->flags & KMB_CODE_HAS_SCALARS},
      {"accumulator_registers", k->accumulator_registers,
       k->flags & KMB_CODE_HAS_ACCUMULATORS},
      {"spilled_registers", k->spilled_registers, spills},
      {"spilled_scalar_registers", k->spilled_scalar_registers, spills},
  };
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    if (!counts[i].known) continue;
    next_plain(members, counts[i].key);
    put_u64(members->w, counts[i].count);
  }
}

static void put_kernel(writer *w, const kmb_code_kernel *k) {
  list members = {w, "     ", false};
  put_text(w, "{");
  put_code_texts(&members, k);
  next_plain(&members, "grid");
  put_sizes(w, k->grid_x, k->grid_y, k->grid_z);
  next_plain(&members, "block");
  put_sizes(w, k->block_x, k->block_y, k->block_z);
  put_code_counts(&members, k);
  end_list(&members, "    ", "}");
}

static void put_code(writer *w, const kmb_result *result) {
  list items = {w, "    ", false};
  put_text(w, "[");
  for (uint64_t i = 0; i < result->code_count; i++) {
    next_item(&items);
    put_kernel(w, &result->code[i]);
  }
  end_list(&items, "   ", "]");
}

static void put_samples(writer *w, const kmb_result *result) {
  list lines = {w, "    ", false};
  put_text(w, "[");
  for (uint64_t i = 0; i < result->sample_count && !w->status;) {
    next_item(&lines);
    json_t *line = json_array();
    for (int k = 0; k < SAMPLES_A_LINE && i < result->sample_count; k++, i++) {
      if (line && json_array_append_new(line, json_real(result->samples[i]))) {
        json_decref(line);
        line = NULL;
      }
    }
    put_json(w, line, JSON_EMBED);
  }
  end_list(&lines, "   ", "]");
}

static void put_metadata(writer *w, const kmb_result *result, bool absent) {
  list members = {w, "    ", false};
  put_text(w, "{");
  for (const kmbi_entry *at = result->metadata; at; at = at->next) {
    const char *text = absent ? at->reason : at->value;
    if (!text) continue;
    next_member(&members, at->key);
    put_string(w, text);
  }
  end_list(&members, "   ", "}");
}

static void put_result(writer *w, const kmb_result *result) {
  list members = {w, "   ", false};
  put_text(w, "{");
  next_plain(&members, "axes");
  put_axes(w, result);
  put_values(&members, result);
  next_plain(&members, "absent");
  put_absent(w, result);
  next_plain(&members, "findings");
  put_findings(w, result);
  if (result->op_count) {
    next_plain(&members, "ops");
    put_ops(w, result);
  }
  if (result->rank_count) {
    next_plain(&members, "ranks");
    put_ranks(w, result);
  }
  if (result->code_count) {
    next_plain(&members, "code");
    put_code(w, result);
  }
  next_plain(&members, "samples_ns");
  put_samples(w, result);
  next_plain(&members, "metadata");
  put_metadata(w, result, false);
  next_plain(&members, "metadata_absent");
  put_metadata(w, result, true);
  end_list(&members, "  ", "}");
}

kmb_status kmbi_results_write(const kmb_result *const *results, uint64_t count,
                              kmb_write_fn write, void *user) {
  writer w = {.write = write, .user = user};
  put_text(&w, "{\"schema\": \"kmb-result\", \"version\": 1,\n"
               " \"generator\": {\"name\": \"libkmb\", \"version\": "
               "\"" KMB_VERSION "\"},\n \"results\": [");
  list items = {&w, "  ", false};
  for (uint64_t i = 0; i < count && !w.status; i++) {
    next_item(&items);
    put_result(&w, results[i]);
  }
  end_list(&items, " ", "]}\n");
  flush(&w);
  return w.status;
}

kmb_status kmb_result_write_json(const kmb_result *result, kmb_write_fn write,
                                 void *user) {
  if (!result || !write)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_result_write_json: %s is NULL",
                     !result ? "result" : "write");
  const kmb_result *one[] = {result};
  return kmbi_results_write(one, 1, write, user);
}

kmb_status kmb_results_write_json(const kmb_results *results,
                                  kmb_write_fn write, void *user) {
  if (!results || !write)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_results_write_json: %s is NULL",
                     !results ? "results" : "write");
  return kmbi_results_write((const kmb_result *const *)results->items,
                            results->count, write, user);
}
