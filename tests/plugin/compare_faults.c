/* Comparisons in which something fails, with buffers and knobs: a clean
 * status, everything given back, and the next comparison works. */
#include "compare.h"

#include <stdlib.h>

enum { BYTES = 4096 };

static const char *const values[] = {"1", "2"};
static const kmb_knob knobs[] = {{"v", values, 2}};

/* Two candidates over shared buffers, the second one with a knob. */
typedef struct pair {
  match m;
  kmb_buffers *set;
  kmb_bench_params *benches;
  uint64_t wrong_from; /* the check fails from this call on; 0: never */
  uint64_t checks;
} pair;

static kmb_status check_copy(void *user, kmb_check *check) {
  pair *p = user;
  check->error = 0;
  if (p->wrong_from && ++p->checks >= p->wrong_from) return KMB_ERR_INCORRECT;
  return memcmp(check->before[0], check->after[1], BYTES) ? KMB_ERR_INCORRECT
                                                          : KMB_OK;
}

static kmb_status make_set(kmb_device *device, kmb_buffers **set) {
  kmb_buffer_desc d[2] = {kmb_buffer_desc_init(), kmb_buffer_desc_init()};
  d[0].name = "x";
  d[0].role = KMB_INPUT;
  d[1].name = "y";
  d[1].role = KMB_OUTPUT;
  d[0].dtype = d[1].dtype = KMB_F32;
  d[0].bytes = d[1].bytes = BYTES;
  return kmb_buffers_create(device, d, sizeof d[0], 2, NULL, set);
}

static void pair_begin(pair *p, const char *spec) {
  memset(p, 0, sizeof *p);
  match_begin(&p->m, spec, 2);
  p->benches = p->m.benches;
  for (int i = 0; i < 2; i++) {
    p->m.ops[i].bytes = BYTES;
    p->m.ops[i].ns = 20000 + 1000 * i;
    p->benches[i].check = check_copy;
    p->benches[i].check_user = p;
    p->benches[i].warmup_ns = 1e6;
  }
  p->m.candidates[1].knobs = knobs;
  p->m.candidates[1].knob_count = 1;
  p->m.p.min_wall_ns = 1e6;
  p->m.p.max_cycles = 20;
}

static kmb_status pair_try(pair *p) {
  if (!p->set) {
    kmb_status status = make_set(p->m.h.device, &p->set);
    if (status) return status;
  }
  p->benches[0].buffers = p->benches[1].buffers = p->set;
  return match_try(&p->m);
}

static void pair_finish(pair *p) {
  kmb_comparison_destroy(p->m.c);
  kmb_buffers_destroy(p->set);
  close_sim(&p->m.h);
}

static void shared_buffers_are_checked_by_each(void) {
  pair p;
  const char *text = NULL;
  pair_begin(&p, "");
  REQUIRE_OK(pair_try(&p));
  for (uint64_t i = 0; i < 2; i++) {
    REQUIRE_OK(
        kmb_result_text(match_row(&p.m, i).result, KMB_VALUE_CHECK, &text));
    REQUIRE_STR(text, "passed before and after timing");
  }
  REQUIRE_EQ(match_row(&p.m, 1).verdict, KMB_VERDICT_SLOWER);
  pair_finish(&p);
}

/* Each has a layout of its own for the same inputs. */
static void each_may_bring_its_own_buffers(void) {
  pair p;
  kmb_buffers *other = NULL;
  pair_begin(&p, "llc=65536"); /* few slots */
  REQUIRE_OK(make_set(p.m.h.device, &p.set));
  REQUIRE_OK(make_set(p.m.h.device, &other));
  p.benches[0].buffers = p.set;
  p.benches[1].buffers = other;
  for (int i = 0; i < 2; i++)
    p.benches[i].cache = KMB_CACHE_ROTATED;
  match_run(&p.m);
  REQUIRE_EQ(match_row(&p.m, 1).verdict, KMB_VERDICT_SLOWER);
  kmb_comparison_destroy(p.m.c);
  p.m.c = NULL;
  kmb_buffers_destroy(other);
  pair_finish(&p);
}

static void a_wrong_candidate_is_not_compared(void) {
  pair p;
  pair_begin(&p, "");
  p.wrong_from = 1;
  REQUIRE_STATUS(pair_try(&p), KMB_ERR_INCORRECT);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "candidate \"");
  /* Wrong after timing: what the timed plan wrote. */
  p.wrong_from = 0;
  REQUIRE_OK(pair_try(&p));
  p.checks = 0;
  p.wrong_from = UINT64_MAX;
  REQUIRE_OK(pair_try(&p));
  p.wrong_from = p.checks; /* the last one */
  p.checks = 0;
  REQUIRE_STATUS(pair_try(&p), KMB_ERR_INCORRECT);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "candidate \"b\"");
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "by the timed plan");
  pair_finish(&p);
}

/* It would spoil what the other one reads. */
static void spoil(const sim_kernel *kernel) {
  memcpy(kernel->writes[0].pointer, kernel->reads[0].pointer, BYTES);
  memset(kernel->reads[0].pointer, 0, BYTES);
}

static kmb_status launch_spoiling(void *user, const kmb_launch *l) {
  sim_kernel kernel = {.run = spoil, .user = user, .ns = 20000};
  kernel.reads[kernel.read_count++] = (kmb_span){l->args[0], BYTES};
  kernel.writes[kernel.write_count++] = (kmb_span){l->args[1], BYTES};
  return sim_enqueue(l->stream, &kernel);
}

static void a_candidate_that_writes_an_input_is_wrong(void) {
  pair p;
  pair_begin(&p, "");
  p.benches[0].launch = launch_spoiling;
  REQUIRE_STATUS(pair_try(&p), KMB_ERR_INCORRECT);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "candidate \"a\": input \"x\" was "
                                          "written by a plain launch");
  pair_finish(&p);
}

static void each_allocation_may_fail(void) {
  bool fired = true;
  uint64_t worked = 0;
  for (uint64_t at = 1; fired; at += heap_step()) {
    pair p;
    pair_begin(&p, "");
    p.m.h.memory.fail_at = p.m.h.memory.calls + at;
    kmb_status status = pair_try(&p);
    fired = p.m.h.memory.failed;
    if (status) REQUIRE_STATUS(status, KMB_ERR_NOMEM);
    /* Where it is harmless, nothing may be missing. */
    if (!status) {
      REQUIRE_EQ(kmb_comparison_count(p.m.c), 2);
      REQUIRE(match_row(&p.m, 1).flags & KMB_ROW_INTERVAL);
      worked++;
    }
    p.m.h.memory.fail_at = 0;
    REQUIRE_OK(pair_try(&p));
    pair_finish(&p);
    REQUIRE(at < 5000);
  }
  /* A configuration that has no memory is one that failed; anything else
   * fails the call. */
  REQUIRE(worked > 0 || heap_step() > 1);
}

static void each_call_of_the_backend_may_fail(void) {
  pair p;
  char spec[64];
  uint64_t failures = 0;
  for (uint64_t at = 1; at < 3000; at += heap_step() * (1 + at / 25)) {
    snprintf(spec, sizeof spec, "fail=any@%llu:-16", (unsigned long long)at);
    memset(&p, 0, sizeof p);
    harness h;
    if (harness_open(&h, SIM, spec)) {
      REQUIRE_EQ(h.memory.blocks_out, 0);
      continue;
    }
    kmb_device_close(h.device);
    pair_begin(&p, spec);
    kmb_status status = pair_try(&p);
    REQUIRE(status == KMB_OK || status == KMB_ERR_VENDOR);
    failures += status != KMB_OK;
    if (status) REQUIRE_OK(pair_try(&p));
    pair_finish(&p);
  }
  REQUIRE(failures > (heap_step() > 1 ? 2 : 5));
}

static void each_launch_may_fail(void) {
  pair p;
  uint64_t calls = 0;
  pair_begin(&p, "");
  REQUIRE_OK(pair_try(&p));
  calls = p.m.ops[0].calls;
  REQUIRE(calls > 50);
  for (uint64_t at = 1; at <= calls; at += heap_step() * (1 + at / 15)) {
    p.m.ops[0].calls = 0;
    p.m.ops[0].fail_at = at;
    p.m.ops[0].status = 42;
    REQUIRE_EQ(pair_try(&p), 42);
    REQUIRE_HAS(kmb_last_error(NULL, NULL), "candidate \"a\"");
  }
  p.m.ops[0].fail_at = 0;
  REQUIRE_OK(pair_try(&p));
  pair_finish(&p);
}

static void a_kernel_that_never_ends_loses_the_device(void) {
  pair p;
  pair_begin(&p, "hang=40");
  REQUIRE_STATUS(pair_try(&p), KMB_ERR_LOST);
  REQUIRE(p.m.c == NULL);
  pair_finish(&p);
}

/* --- writing ------------------------------------------------------------ */

typedef struct page {
  char text[1 << 20];
  size_t used;
  uint64_t writes, fail_at;
} page;

static kmb_status put(void *user, const void *data, size_t size) {
  page *p = user;
  if (++p->writes == p->fail_at) return 77;
  REQUIRE(p->used + size < sizeof p->text);
  memcpy(p->text + p->used, data, size);
  p->used += size;
  p->text[p->used] = '\0';
  return KMB_OK;
}

static void text_names_all_that_matters(void) {
  static page sheet;
  pair p;
  pair_begin(&p, "");
  p.m.p.name = "copies\033[31m";
  p.m.p.tune_wall_ns = 1;
  REQUIRE_OK(pair_try(&p));
  REQUIRE_OK(kmb_comparison_write_text(p.m.c, put, &sheet));
  REQUIRE_HAS(sheet.text, "copies [31m: 2 candidates\n");
  REQUIRE_HAS(sheet.text, "TRACE on PLAIN launches, cache COLD");
  REQUIRE_HAS(sheet.text, "baseline");
  REQUIRE_HAS(sheet.text, "slower");
  REQUIRE_HAS(sheet.text, "v=1");
  REQUIRE_HAS(sheet.text, "kept configuration 0 of 2");
  REQUIRE_HAS(sheet.text, "UNTUNED");
  REQUIRE_STATUS(kmb_comparison_write_text(NULL, put, &sheet), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_comparison_write_text(p.m.c, NULL, NULL), KMB_ERR_INVALID);
  pair_finish(&p);
}

static kmb_status launch_nothing(void *user) {
  (void)user;
  return KMB_OK;
}

/* Codes of four captures, each kept until the comparison was made. */
static void capture(match *m, kmb_code *codes[4]) {
  for (int i = 0; i < 4; i++) {
    codes[i] = NULL;
    REQUIRE_OK(kmb_code_capture(m->h.device, launch_nothing, NULL, &codes[i]));
  }
}

static void destroy(kmb_code *codes[4]) {
  for (int i = 0; i < 4; i++)
    kmb_code_destroy(codes[i]);
}

/* The second capture has the first one's code in another image. */
static void candidates_are_told_apart_by_their_code(void) {
  static page sheet, document;
  match m;
  kmb_code *codes[4];
  match_begin(&m, "", 4);
  capture(&m, codes);
  for (int i = 0; i < 3; i++)
    m.benches[i].code = codes[i];
  m.p.min_wall_ns = 1e6;
  m.p.max_cycles = 20;
  match_run(&m);
  destroy(codes);
  REQUIRE_OK(kmb_comparison_write_text(m.c, put, &sheet));
  REQUIRE_HAS(sheet.text, "b: same code: _Z3simv same code\n");
  REQUIRE_HAS(sheet.text, "c: different code: _Z3simv different code\n");
  REQUIRE_HAS(sheet.text, "d: unknown code: _Z3simv is the baseline's alone "
                          "(the other result does not list all");
  REQUIRE(!strstr(sheet.text, "a: unknown"));
  REQUIRE_OK(kmb_comparison_write_json(m.c, put, &document));
  REQUIRE_HAS(document.text, "\"code\": \"same code\",\n   \"kernels\": [\n    "
                             "{\"code\": \"same code\", \"baseline\": "
                             "\"_Z3simv\", \"candidate\": \"_Z3simv\"}]");
  REQUIRE_HAS(document.text, "\"code\": \"different code\",");
  REQUIRE_HAS(document.text, "{\"code\": \"unknown code\", \"baseline\": "
                             "\"_Z3simv\", \"reason\": \"the other");
  match_finish(&m);
}

static void each_write_and_allocation_of_writing_may_fail(void) {
  static page sheet;
  pair p;
  kmb_code *codes[4];
  pair_begin(&p, "");
  capture(&p.m, codes);
  p.benches[0].code = codes[0];
  p.benches[1].code = codes[1];
  REQUIRE_OK(pair_try(&p));
  destroy(codes);
  kmb_status (*const writers[])(const kmb_comparison *, kmb_write_fn,
                                void *) = {kmb_comparison_write_text,
                                           kmb_comparison_write_json};
  for (int w = 0; w < 2; w++) {
    memset(&sheet, 0, sizeof sheet);
    REQUIRE_OK(writers[w](p.m.c, put, &sheet));
    uint64_t writes = sheet.writes;
    size_t length = sheet.used;
    for (uint64_t at = 1; at <= writes; at += heap_step()) {
      sheet.used = 0;
      sheet.writes = 0;
      sheet.fail_at = at;
      REQUIRE_EQ(writers[w](p.m.c, put, &sheet), 77);
    }
    sheet.fail_at = 0;
    uint64_t before = p.m.h.memory.calls, calls = 0;
    REQUIRE_OK(writers[w](p.m.c, put, &sheet));
    calls = p.m.h.memory.calls - before;
    for (uint64_t at = 1; at <= calls; at += heap_step()) {
      p.m.h.memory.fail_at = p.m.h.memory.calls + at;
      REQUIRE_STATUS(writers[w](p.m.c, put, &sheet), KMB_ERR_NOMEM);
      sheet.used = 0;
    }
    p.m.h.memory.fail_at = 0;
    sheet.used = 0;
    REQUIRE_OK(writers[w](p.m.c, put, &sheet));
    REQUIRE_EQ(sheet.used, length);
  }
  REQUIRE_STATUS(kmb_comparison_write_json(NULL, put, &sheet), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_comparison_write_json(p.m.c, NULL, NULL), KMB_ERR_INVALID);
  pair_finish(&p);
}

int main(void) {
  RUN(shared_buffers_are_checked_by_each);
  RUN(each_may_bring_its_own_buffers);
  RUN(a_wrong_candidate_is_not_compared);
  RUN(a_candidate_that_writes_an_input_is_wrong);
  RUN(each_allocation_may_fail);
  RUN(each_call_of_the_backend_may_fail);
  RUN(each_launch_may_fail);
  RUN(a_kernel_that_never_ends_loses_the_device);
  RUN(text_names_all_that_matters);
  RUN(candidates_are_told_apart_by_their_code);
  RUN(each_write_and_allocation_of_writing_may_fail);
  return 0;
}
