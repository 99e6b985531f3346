/* A comparison as JSON. */
#include "compare.h"
#include "out.h"

enum { RATIOS_A_LINE = 8 };

static void put_bool(kmbi_out *out, const char *before, const char *name,
                     bool value) {
  kmbi_out_key(out, before, name);
  kmbi_out_put(out, value ? "true" : "false");
}

static void put_arms(kmbi_out *out, const kmb_compare_row *row,
                     const kmb_compare_arm *arms) {
  uint64_t tried = row->configs_measured + row->configs_failed;
  kmbi_out_key(out, ",\n    ", "arms");
  kmbi_out_put(out, "[");
  for (uint64_t i = 0; i < tried && !out->status; i++) {
    const kmb_compare_arm *arm = &arms[i];
    kmbi_out_u64_member(out, i ? ",\n     {" : "\n     {", "config",
                        arm->config);
    kmbi_out_text_member(out, ", ", "text", arm->config_text);
    if (arm->status) {
      kmbi_out_text_member(out, ", ", "status", kmb_status_name(arm->status));
      kmbi_out_text_member(out, ", ", "reason", arm->reason);
    } else {
      kmbi_out_f64_member(out, ", ", "time_ns", arm->ns);
    }
    kmbi_out_put(out, "}");
  }
  kmbi_out_put(out, "]");
}

static void put_tuning(kmbi_out *out, const kmb_compare_row *row,
                       const kmb_compare_arm *arms) {
  kmbi_out_u64_member(out, ",\n   \"tuning\": {", "config", row->config);
  kmbi_out_text_member(out, ", ", "text", row->config_text);
  kmbi_out_f64_member(out, ", ", "time_ns", row->tuned_ns);
  kmbi_out_u64_member(out, ",\n    ", "configs", row->configs);
  kmbi_out_u64_member(out, ", ", "measured", row->configs_measured);
  kmbi_out_u64_member(out, ", ", "failed", row->configs_failed);
  put_bool(out, ", ", "complete", !(row->flags & KMB_ROW_UNTUNED));
  put_arms(out, row, arms);
  kmbi_out_put(out, "}");
}

static void put_ratios(kmbi_out *out, const double *ratios, uint64_t count) {
  kmbi_out_key(out, ",\n   ", "ratios");
  for (uint64_t i = 0; i < count && !out->status; i++) {
    kmbi_out_put(out, !i ? "[" : i % RATIOS_A_LINE ? ", " : ",\n    ");
    kmbi_out_f64(out, ratios[i]);
  }
  kmbi_out_put(out, "]");
}

/* Beside the baseline, where code was captured of either. */
static void put_code(kmbi_out *out, const kmb_comparison *c,
                     const kmb_compare_row *row) {
  const kmb_result *base = c->results[c->baseline];
  uint64_t count = kmb_result_code_pair_count(base, row->result);
  if (!count) return;
  kmbi_out_text_member(
      out, ",\n   ", "code",
      kmb_code_match_name(kmb_result_code_match(base, row->result)));
  kmbi_out_key(out, ",\n   ", "kernels");
  for (uint64_t i = 0; i < count && !out->status; i++) {
    kmb_code_pair pair = kmb_code_pair_init();
    if (kmb_result_code_pair(base, row->result, i, &pair)) continue;
    kmbi_out_text_member(out, i ? ",\n    {" : "[\n    {", "code",
                         kmb_code_match_name(pair.match));
    if (pair.a) kmbi_out_text_member(out, ", ", "baseline", pair.a);
    if (pair.b) kmbi_out_text_member(out, ", ", "candidate", pair.b);
    if (pair.reason) kmbi_out_text_member(out, ", ", "reason", pair.reason);
    kmbi_out_put(out, "}");
  }
  kmbi_out_put(out, "]");
}

static void put_row(kmbi_out *out, const kmb_comparison *c, uint64_t index) {
  const kmb_compare_row *row = &c->rows[index];
  kmbi_out_text_member(out, index ? ",\n  {" : "\n  {", "name", row->name);
  kmbi_out_text_member(out, ", ", "verdict", kmb_verdict_name(row->verdict));
  kmbi_out_text_member(out, ",\n   ", "reason", row->reason);
  if (row->flags & KMB_ROW_RATIO) {
    kmbi_out_f64_member(out, ",\n   ", "ratio", row->ratio);
    kmbi_out_u64_member(out, ", ", "cycles", row->cycles);
  }
  if (row->flags & KMB_ROW_INTERVAL) {
    kmbi_out_f64_member(out, ",\n   ", "low", row->low);
    kmbi_out_f64_member(out, ", ", "high", row->high);
    kmbi_out_f64_member(out, ", ", "confidence", row->confidence);
    kmbi_out_f64_member(out, ", ", "design_effect", row->design_effect);
  }
  if (row->flags & KMB_ROW_TUNED) put_tuning(out, row, c->arms[index]);
  if (index != c->baseline) put_code(out, c, row);
  if (c->ratios[index]) put_ratios(out, c->ratios[index], row->cycles);
  kmbi_out_put(out, "}");
}

static kmb_status pass_on(void *user, const void *data, size_t size) {
  kmbi_out *out = user;
  kmbi_out_put_n(out, data, size);
  return out->status;
}

kmb_status kmb_comparison_write_json(const kmb_comparison *comparison,
                                     kmb_write_fn write, void *user) {
  kmbi_out out;
  if (!comparison || !write)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_comparison_write_json: %s is NULL",
                     !comparison ? "comparison" : "write");
  kmb_status status = kmbi_out_begin(&out, write, user);
  if (status) return status;
  kmbi_out_text_member(&out, "{", "schema", "kmb-comparison");
  kmbi_out_u64_member(&out, ", ", "version", 1);
  kmbi_out_text_member(&out, ",\n \"generator\": {", "name", "libkmb");
  kmbi_out_text_member(&out, ", ", "version", KMB_VERSION);
  kmbi_out_text_member(&out, "},\n ", "name", comparison->name);
  kmbi_out_u64_member(&out, ",\n ", "baseline", comparison->baseline);
  kmbi_out_f64_member(&out, ", ", "threshold_pct", comparison->threshold_pct);
  kmbi_out_u64_member(&out, ",\n ", "turn_samples", comparison->turn);
  kmbi_out_u64_member(&out, ", ", "cycles", comparison->cycles);
  kmbi_out_u64_member(&out, ", ", "cycles_lost", comparison->cycles_lost);
  kmbi_out_text_member(&out, ", ", "stop_reason",
                       kmbi_stop_name(comparison->stop));
  kmbi_out_key(&out, ",\n ", "rows");
  kmbi_out_put(&out, "[");
  for (uint64_t i = 0; i < comparison->count && !out.status; i++)
    put_row(&out, comparison, i);
  kmbi_out_put(&out, "],\n \"document\": ");
  if (!out.status)
    status = kmbi_results_write((const kmb_result *const *)comparison->results,
                                comparison->count, pass_on, &out);
  kmbi_out_put(&out, "}\n");
  kmb_status written = kmbi_out_end(&out);
  return written ? written : status;
}
