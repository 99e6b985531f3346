/* What a change is worth in a step, as part of a report. */
#include "report.h"

#include <stdlib.h>

static const char name[] = "report";
enum { LISTED = 20 };

/* A paragraph of Markdown as the library writes it; HTML shows its text. */
static int put_payoff(document *d, const kmb_payoff *payoff) {
  if (d->how == MARKUP_MD) {
    int code =
        report(kmb_payoff_write_markdown(payoff, write_file, d->out.file));
    fputc('\n', d->out.file);
    return code;
  }
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size);
  int code = EXIT_FAILED;
  if (memory) code = report(kmb_payoff_write_text(payoff, write_file, memory));
  if (!memory || fclose(memory) != 0) code = no_memory();
  if (!code) document_lines(d, text);
  free(text);
  return code;
}

static int write_payoff(document *d, const kmb_trace *trace,
                        const kmb_payoff_change *change,
                        const kmb_payoff_params *params) {
  kmb_payoff *payoff = NULL;
  kmb_status status = kmb_payoff_evaluate(trace, change, params, &payoff);
  if (status) {
    fprintf(stderr,
            "kmb: the payoff of \"%s\": ", change->name ? change->name : "?");
    return report_reason(status);
  }
  if (d->how == MARKUP_HTML)
    document_heading(d, 3, change->name ? change->name : "?");
  int code = put_payoff(d, payoff);
  kmb_payoff_destroy(payoff);
  return code;
}

/* Candidates of comparisons. */
typedef struct report_written {
  size_t meant; /* by the options */
  size_t count; /* of these, that have a ratio */
} report_written;

/* Each candidate that is meant and has a ratio. */
static int of_comparison(document *d, const kmb_trace *trace,
                         const report_step *step, const results_file *f,
                         const results_comparison *c, report_written *written) {
  int code = EXIT_DONE;
  for (size_t i = 0; i < c->count && !code; i++) {
    json_t *row = json_array_get(c->rows, i);
    if (!is_row_chosen(f, c, i, &step->choice)) continue;
    written->meant++;
    if (!json_object_get(row, "ratio")) continue;
    kmb_payoff_change change = kmb_payoff_change_init();
    if (++written->count > LISTED) continue;
    code = change_of_row(name, f, c, i, &change);
    if (!code) code = write_payoff(d, trace, &change, &step->params);
  }
  return code;
}

static int of_two(document *d, const report_data *data, const kmb_trace *trace,
                  const report_step *step) {
  kmb_payoff_change change = kmb_payoff_change_init();
  if (data->count != 2 && !is_any_chosen(&step->choice))
    return usage(name,
                 "--step needs comparisons or two results, an old one and a "
                 "new one; there are %zu results: --baseline, --candidate and "
                 "--axis choose of them",
                 data->count);
  int code = change_of_results(name, &step->choice, data->files,
                               data->file_count, true, &change);
  return code ? code : write_payoff(d, trace, &change, &step->params);
}

static int none_meant(const report_data *data) {
  usage(name, "no candidate of the comparisons is meant; --baseline, "
              "--candidate and --axis choose of these");
  list_candidates(data->files, data->file_count);
  return EXIT_USAGE;
}

int report_payoff(document *d, const report_data *data,
                  const report_step *asked) {
  report_step own = *asked;
  const report_step *step = &own;
  kmb_trace *trace = NULL;
  report_written written = {0};
  results_file ran = {.count = 0};
  bool compared = false;
  char text[128];
  if (!step->trace.path) return EXIT_DONE;
  int code = step->choice.code
                 ? read_step_code(step->choice.code, &ran, &own.params)
                 : EXIT_DONE;
  if (!code) code = load_trace(&step->trace, &trace);
  document_heading(d, 2, "Payoff");
  for (int i = 0; i < data->file_count; i++) {
    const results_file *f = &data->files[i];
    for (size_t k = 0; k < f->comparison_count && !code; k++) {
      compared = true;
      code = of_comparison(d, trace, step, f, &f->comparisons[k], &written);
    }
  }
  if (!code && !compared) code = of_two(d, data, trace, step);
  kmb_trace_destroy(trace);
  results_free(&ran);
  if (!code && compared && !written.meant && is_any_chosen(&step->choice))
    code = none_meant(data);
  if (compared && !written.count)
    document_paragraph(d, "No candidate has a ratio.");
  if (written.count <= LISTED) return code;
  snprintf(text, sizeof text, "%zu more candidates are left out.",
           written.count - LISTED);
  document_paragraph(d, text);
  return code;
}
