/* A program of 0.1 that uses all of payoff.h: built against the frozen headers
 * of that release and linked to the library of today. Not edited once 0.1 is
 * tagged. */
#include "check.h"

static const char table[] =
    "Start (ns),Duration (ns),CorrId,Device,Ctx,Strm,Name\n"
    "100,50,1,GPU (2),1,7,target\n"
    "160,20,2,GPU (2),1,7,[CUDA memcpy Host-to-Device]\n"
    "200,50,3,GPU (2),1,7,target\n"
    "260,50,4,GPU (2),1,7,other\n";

static kmb_status give(void *user, void *data, size_t size, size_t *got) {
  size_t *taken = (size_t *)user;
  size_t left = sizeof table - 1 - *taken;
  *got = left < size ? left : size;
  memcpy(data, table + *taken, *got);
  *taken += *got;
  return KMB_OK;
}

static kmb_status count(void *user, const void *data, size_t size) {
  (void)data;
  *(size_t *)user += size;
  return KMB_OK;
}

static void changes_follow_from_results(void) {
  kmb_device *device = NULL;
  kmb_result *results[2] = {NULL, NULL};
  kmb_payoff_change change = kmb_payoff_change_init();
  OK(kmb_device_open("host", NULL, &device));
  for (int i = 0; i < 2; i++) {
    double ns[8];
    kmb_bench_params p = kmb_bench_params_init();
    for (int n = 0; n < 8; n++)
      ns[n] = (i ? 50 : 100) + n % 2;
    p.name = i ? "new" : "old";
    OK(kmb_result_from_samples(device, &p, ns, 8, 0, &results[i]));
  }
  OK(kmb_payoff_change_between(results[0], results[1], &change));
  HOLDS(change.ratio > 0.49 && change.ratio < 0.51);
  HOLDS(change.low <= change.ratio && change.ratio <= change.high);
  HOLDS(change.flags & KMB_PAYOFF_HAS_ISOLATED && change.isolated_ns > 99);
  HOLDS(kmb_payoff_change_compared(NULL, 0, &change) == KMB_ERR_INVALID);
  kmb_result_destroy(results[0]);
  kmb_result_destroy(results[1]);
  kmb_device_close(device);
}

static void a_payoff_is_read_and_written(const kmb_payoff *payoff) {
  kmb_payoff_summary summary = kmb_payoff_summary_init();
  kmb_payoff_candidate candidate;
  size_t text = 0, page = 0, json = 0;
  OK(kmb_payoff_get_summary(payoff, &summary));
  HOLDS(summary.flags & KMB_PAYOFF_MATCHED && summary.candidates == 1);
  HOLDS(!(summary.flags & KMB_PAYOFF_PREDICTED)); /* no calls of the host */
  HOLDS(summary.launches == 2 && summary.steps == 1 && summary.verdict);
  HOLDS(summary.step_ns > 209 && summary.step_ns < 211);
  HOLDS(summary.in_step_ns > 49 && summary.in_step_ns < 51);
  HOLDS(summary.gain_ns > 49 && summary.gain_ns < 51);
  OK(kmb_payoff_get_candidate(payoff, 0, &candidate));
  HOLDS(strcmp(candidate.name, "target") == 0 && candidate.launches == 2);
  HOLDS(candidate.total_ns == 100);
  kmb_payoff_shape shape = kmb_payoff_shape_init();
  OK(kmb_payoff_get_shape(payoff, 0, &shape));
  HOLDS(summary.shapes == 1 && strcmp(shape.name, "target") == 0);
  HOLDS(shape.launches == 2 && shape.total_ns == 100 && !shape.grid_x);
  for (uint64_t i = 0; i < kmb_payoff_note_count(payoff); i++)
    HOLDS(*kmb_payoff_note(payoff, i));
  HOLDS(kmb_payoff_note_count(payoff) > 0);
  OK(kmb_payoff_write_text(payoff, count, &text));
  OK(kmb_payoff_write_markdown(payoff, count, &page));
  OK(kmb_payoff_write_json(payoff, count, &json));
  HOLDS(text && page && json);
}

int main(void) {
  kmb_trace_params from = kmb_trace_params_init();
  kmb_payoff_params params = kmb_payoff_params_init();
  kmb_payoff_change change = kmb_payoff_change_init();
  kmb_trace *trace = NULL;
  kmb_payoff *payoff = NULL;
  size_t taken = 0;
  changes_follow_from_results();
  from.name = "table";
  OK(kmb_trace_read(give, &taken, &from, &trace));
  change.name = "new";
  change.ratio = 0.5;
  change.low = 0.4;
  change.high = 0.6;
  params.kernel = "targ";
  params.flags = KMB_PAYOFF_ALL_NAMES | KMB_PAYOFF_ANY_DEVICE;
  OK(kmb_payoff_evaluate(trace, &change, &params, &payoff));
  a_payoff_is_read_and_written(payoff);
  kmb_payoff_destroy(payoff);
  kmb_trace_destroy(trace);
  printf("built with %s, ran with %s\n", KMB_VERSION, kmb_version());
  return 0;
}
