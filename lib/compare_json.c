/* A comparison as JSON. */
#include "compare.h"
#include "out.h"

enum { RATIOS_A_LINE = 8 };

static void key(kmbi_out *out, const char *before, const char *name) {
  kmbi_out_put(out, before);
  kmbi_out_string(out, name);
  kmbi_out_put(out, ": ");
}

static void put_text(kmbi_out *out, const char *before, const char *name,
                     const char *text) {
  key(out, before, name);
  kmbi_out_string(out, text);
}

static void put_u64(kmbi_out *out, const char *before, const char *name,
                    uint64_t value) {
  key(out, before, name);
  kmbi_out_u64(out, value);
}

static void put_f64(kmbi_out *out, const char *before, const char *name,
                    double value) {
  key(out, before, name);
  kmbi_out_f64(out, value);
}

static void put_bool(kmbi_out *out, const char *before, const char *name,
                     bool value) {
  key(out, before, name);
  kmbi_out_put(out, value ? "true" : "false");
}

static void put_arms(kmbi_out *out, const kmb_compare_row *row,
                     const kmb_compare_arm *arms) {
  uint64_t tried = row->configs_measured + row->configs_failed;
  key(out, ",\n    ", "arms");
  kmbi_out_put(out, "[");
  for (uint64_t i = 0; i < tried && !out->status; i++) {
    const kmb_compare_arm *arm = &arms[i];
    put_u64(out, i ? ",\n     {" : "\n     {", "config", arm->config);
    put_text(out, ", ", "text", arm->config_text);
    if (arm->status) {
      put_text(out, ", ", "status", kmb_status_name(arm->status));
      put_text(out, ", ", "reason", arm->reason);
    } else {
      put_f64(out, ", ", "time_ns", arm->ns);
    }
    kmbi_out_put(out, "}");
  }
  kmbi_out_put(out, "]");
}

static void put_tuning(kmbi_out *out, const kmb_compare_row *row,
                       const kmb_compare_arm *arms) {
  put_u64(out, ",\n   \"tuning\": {", "config", row->config);
  put_text(out, ", ", "text", row->config_text);
  put_f64(out, ", ", "time_ns", row->tuned_ns);
  put_u64(out, ",\n    ", "configs", row->configs);
  put_u64(out, ", ", "measured", row->configs_measured);
  put_u64(out, ", ", "failed", row->configs_failed);
  put_bool(out, ", ", "complete", !(row->flags & KMB_ROW_UNTUNED));
  put_arms(out, row, arms);
  kmbi_out_put(out, "}");
}

static void put_ratios(kmbi_out *out, const double *ratios, uint64_t count) {
  key(out, ",\n   ", "ratios");
  for (uint64_t i = 0; i < count && !out->status; i++) {
    kmbi_out_put(out, !i ? "[" : i % RATIOS_A_LINE ? ", " : ",\n    ");
    kmbi_out_f64(out, ratios[i]);
  }
  kmbi_out_put(out, "]");
}

static void put_row(kmbi_out *out, const kmb_comparison *c, uint64_t index) {
  const kmb_compare_row *row = &c->rows[index];
  put_text(out, index ? ",\n  {" : "\n  {", "name", row->name);
  put_text(out, ", ", "verdict", kmb_verdict_name(row->verdict));
  put_text(out, ",\n   ", "reason", row->reason);
  if (row->flags & KMB_ROW_RATIO) {
    put_f64(out, ",\n   ", "ratio", row->ratio);
    put_u64(out, ", ", "cycles", row->cycles);
  }
  if (row->flags & KMB_ROW_INTERVAL) {
    put_f64(out, ",\n   ", "low", row->low);
    put_f64(out, ", ", "high", row->high);
    put_f64(out, ", ", "confidence", row->confidence);
    put_f64(out, ", ", "design_effect", row->design_effect);
  }
  if (row->flags & KMB_ROW_TUNED) put_tuning(out, row, c->arms[index]);
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
  put_text(&out, "{", "schema", "kmb-comparison");
  put_u64(&out, ", ", "version", 1);
  put_text(&out, ",\n \"generator\": {", "name", "libkmb");
  put_text(&out, ", ", "version", KMB_VERSION);
  put_text(&out, "},\n ", "name", comparison->name);
  put_u64(&out, ",\n ", "baseline", comparison->baseline);
  put_f64(&out, ", ", "threshold_pct", comparison->threshold_pct);
  put_u64(&out, ",\n ", "turn_samples", comparison->turn);
  put_u64(&out, ", ", "cycles", comparison->cycles);
  put_u64(&out, ", ", "cycles_lost", comparison->cycles_lost);
  put_text(&out, ", ", "stop_reason", kmbi_stop_name(comparison->stop));
  key(&out, ",\n ", "rows");
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
