/* Each allocation of our own and of jansson fails once, in turn: a clean
 * NOMEM, nothing leaked, and it works again afterwards. */
#include "heap_jansson.h"
#include "samples.h"

static kmb_status build(kmb_results **results) {
  const kmb_hooks hooks = heap_hooks(&json_heap);
  const kmbi_memory memory = kmbi_memory_from(&hooks);
  kmb_status status = kmb_results_create(&hooks, results);
  for (int i = 0; i < 20 && !status; i++) {
    kmb_result *result = NULL;
    status = kmbi_result_create(&memory, &result);
    if (status) break;
    fill_sample(result, i % 2 ? "q_proj" : "k_proj");
    kmbi_result_set_text(result, KMB_VALUE_CHECK, "passed");
    status = kmbi_result_finish(&result);
    REQUIRE(!status == !!result);
    if (!status) status = kmb_results_add(*results, result);
    if (status) kmb_result_destroy(result);
  }
  if (status) {
    kmb_results_destroy(*results);
    *results = NULL;
  }
  return status;
}

typedef kmb_status (*step)(const kmb_results *results, const sink *document);

static kmb_status step_build(const kmb_results *unused, const sink *document) {
  (void)unused;
  (void)document;
  kmb_results *results = NULL;
  kmb_status status = build(&results);
  kmb_results_destroy(results);
  return status;
}

static kmb_status step_json(const kmb_results *results, const sink *document) {
  (void)document;
  sink s = {0};
  kmb_status status = kmb_results_write_json(results, sink_write, &s);
  free(s.data);
  return status;
}

static kmb_status step_text(const kmb_results *results, const sink *document) {
  (void)document;
  const kmb_result *result = NULL;
  sink s = {0};
  REQUIRE_OK(kmb_results_get(results, 0, &result));
  kmb_status status = kmb_result_write_text(result, sink_write, &s);
  REQUIRE(!status == !!s.data);
  free(s.data);
  return status;
}

static kmb_status step_table(const kmb_results *results, const sink *document) {
  (void)document;
  sink s = {0};
  kmb_status status = kmb_results_write_table(results, sink_write, &s);
  REQUIRE(!status == !!s.data);
  free(s.data);
  return status;
}

static kmb_status step_read(const kmb_results *unused, const sink *document) {
  (void)unused;
  const kmb_hooks hooks = heap_hooks(&json_heap);
  source input = {document->data, document->size, 0, 0};
  kmb_results *again = NULL;
  kmb_status status =
      kmb_results_read_json(source_read, &input, &hooks, &again);
  REQUIRE(!status == !!again);
  if (!status) {
    sink s = {0};
    uint64_t armed = json_heap.fail_at;
    json_heap.fail_at = 0;
    REQUIRE_OK(kmb_results_write_json(again, sink_write, &s));
    REQUIRE_STR(s.data, document->data);
    free(s.data);
    json_heap.fail_at = armed;
  }
  kmb_results_destroy(again);
  return status;
}

/* Runs a step with each of its allocations failing, until one run meets no
 * failure any more. */
static void sweep(step run, const kmb_results *results, const sink *document) {
  int64_t base = json_heap.blocks_out;
  uint64_t k = 0;
  for (;; k += heap_step()) {
    json_heap.fail_at = k + 1;
    json_heap.calls = 0;
    json_heap.failed = false;
    kmb_status status = run(results, document);
    REQUIRE_EQ(json_heap.blocks_out, base);
    if (!json_heap.failed) {
      REQUIRE_EQ(status, KMB_OK);
      break;
    }
    REQUIRE_EQ(status, KMB_ERR_NOMEM);
    kmb_status last = KMB_OK;
    REQUIRE_HAS(kmb_last_error(&last, NULL), "no memory");
    REQUIRE_EQ(last, KMB_ERR_NOMEM);
    json_heap.fail_at = 0;
    REQUIRE_OK(run(results, document));
  }
  REQUIRE(k > 0);
}

static void every_allocation_may_fail(void) {
  kmb_results *results = NULL;
  sink document = {0};
  json_heap.fail_at = 0;
  REQUIRE_OK(build(&results));
  REQUIRE_OK(kmb_results_write_json(results, sink_write, &document));
  sweep(step_build, results, &document);
  sweep(step_json, results, &document);
  sweep(step_text, results, &document);
  sweep(step_table, results, &document);
  sweep(step_read, results, &document);
  free(document.data);
  kmb_results_destroy(results);
  REQUIRE_EQ(json_heap.blocks_out, 0);
}

int main(void) {
  /* jansson's allocator belongs to the program; the library never sets it. */
  json_object_seed(1);
  json_set_alloc_funcs(json_alloc, json_release);
  RUN(every_allocation_may_fail);
  return 0;
}
