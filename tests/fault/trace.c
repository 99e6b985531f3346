/* Fail the k-th allocation, for every k, while a trace is loaded, analysed and
 * written: each time NOMEM, nothing leaked; and no pieces are reported.
 *
 * usage: trace FILE... (those named ok-* of the importers' corpora) */
#include "heap.h"

#include <kmb/payoff.h>

static kmb_status nowhere(void *user, const void *data, size_t size) {
  (void)user;
  REQUIRE(data && size);
  return KMB_OK;
}

static kmb_status predict(const kmb_trace *trace, uint32_t flags,
                          const kmb_hooks *hooks) {
  kmb_payoff_params p = kmb_payoff_params_init();
  kmb_payoff_change change = kmb_payoff_change_init();
  kmb_payoff *payoff = NULL;
  p.hooks = hooks;
  p.kernel = ".";
  p.flags = flags;
  change.ratio = 0.5;
  kmb_status status = kmb_payoff_evaluate(trace, &change, &p, &payoff);
  REQUIRE(!status == !!payoff);
  /* No kernel, or graphs whose kernels are not there. */
  if (status == KMB_ERR_UNAVAILABLE) return KMB_OK;
  if (!status) status = kmb_payoff_write_text(payoff, nowhere, NULL);
  if (!status) status = kmb_payoff_write_markdown(payoff, nowhere, NULL);
  if (!status) status = kmb_payoff_write_json(payoff, nowhere, NULL);
  kmb_payoff_destroy(payoff);
  return status;
}

static kmb_status whole_life(const char *path, kmb_trace_format format,
                             const kmb_hooks *hooks) {
  kmb_trace_params t = kmb_trace_params_init();
  kmb_gaps_params g = kmb_gaps_params_init();
  kmb_trace *trace = NULL;
  kmb_gaps *gaps = NULL;
  t.hooks = g.hooks = hooks;
  t.format = format;
  g.kernel = "k";
  kmb_status status = kmb_trace_load(path, &t, &trace);
  REQUIRE(!status == !!trace);
  if (!status) status = kmb_gaps_analyse(trace, &g, &gaps);
  if (!status) {
    g.range = "step";
    kmb_gaps *again = NULL;
    status = kmb_gaps_analyse(trace, &g, &again);
    if (status == KMB_ERR_UNAVAILABLE) status = KMB_OK; /* no ranges */
    kmb_gaps_destroy(again);
  }
  if (!status) status = kmb_gaps_write_text(gaps, nowhere, NULL);
  if (!status) status = kmb_gaps_write_json(gaps, nowhere, NULL);
  if (!status) status = kmb_trace_write_chrome(trace, nowhere, NULL);
  if (!status) status = kmb_trace_write_json(trace, nowhere, NULL);
  if (!status)
    status =
        predict(trace, KMB_PAYOFF_ALL_NAMES | KMB_PAYOFF_ALL_SHAPES, hooks);
  if (!status) status = predict(trace, KMB_PAYOFF_ALL_NAMES, hooks);
  kmb_gaps_destroy(gaps);
  kmb_trace_destroy(trace);
  return status;
}

static uint64_t fail_each(const char *path) {
  kmb_trace_format format =
      strstr(path, "/nvprof/") ? KMB_TRACE_NVPROF : KMB_TRACE_AUTO;
  uint64_t k = 1 - heap_step();
  heap h;
  do {
    h = (heap){.fail_at = k += heap_step()};
    kmb_hooks hooks = heap_hooks(&h);
    kmb_status status = whole_life(path, format, &hooks);
    if (status != (h.failed ? KMB_ERR_NOMEM : KMB_OK) || h.blocks_out ||
        h.bytes_out) {
      fprintf(stderr, "%s: allocation %llu: %s (%s), %lld blocks left\n", path,
              (unsigned long long)k, kmb_status_name(status),
              kmb_last_error(NULL, NULL), (long long)h.blocks_out);
      exit(1);
    }
  } while (h.failed);
  return k - 1;
}

int main(int argc, char **argv) {
  REQUIRE(argc > 1);
  for (int i = 1; i < argc; i++) {
    uint64_t count = fail_each(argv[i]);
    REQUIRE(count > 10);
    printf("%s: each %llu. of %llu allocations failed in turn\n", argv[i],
           (unsigned long long)heap_step(), (unsigned long long)count);
  }
  return 0;
}
