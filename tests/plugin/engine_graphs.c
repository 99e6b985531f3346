/* Prebuilt graphs, one a slot, over the simulated device. */
#include "engine.h"

#include "device.h"

enum { GRAPHS = 16, NODES = 2 };

/* A copy from x to y of each slot, then a kernel that touches nothing. */
typedef struct prebuilt {
  sim_kernel nodes[GRAPHS][NODES];
  sim_graph graphs[GRAPHS];
  void *handles[GRAPHS];
  uint64_t runs[GRAPHS]; /* of each graph */
} prebuilt;

typedef struct copying {
  prebuilt *all;
  uint32_t slot;
  uint32_t bytes;
} copying;

static copying copies[GRAPHS];

static void copy_run(const sim_kernel *kernel) {
  copying *c = kernel->user;
  c->all->runs[c->slot]++;
  memcpy(kernel->writes[0].pointer, kernel->reads[0].pointer, c->bytes);
}

static void build(trial *t, prebuilt *p, uint32_t slots) {
  memset(p, 0, sizeof *p);
  REQUIRE_OK(kmb_buffers_create(t->h.device, t->descs, sizeof t->descs[0], 2,
                                &t->rotation, &t->set));
  t->p.buffers = t->set;
  REQUIRE_OK(kmb_buffers_prepare(t->set, slots));
  for (uint32_t s = 0; s < slots; s++) {
    sim_kernel *copy = &p->nodes[s][0];
    copies[s] = (copying){p, s, (uint32_t)t->op.bytes};
    *copy = (sim_kernel){.run = copy_run,
                         .user = &copies[s],
                         .read_count = 1,
                         .write_count = 1,
                         .name = "copy"};
    REQUIRE_OK(kmb_buffers_pointer(t->set, s, 0, &copy->reads[0].pointer));
    REQUIRE_OK(kmb_buffers_pointer(t->set, s, 1, &copy->writes[0].pointer));
    copy->reads[0].bytes = copy->writes[0].bytes = t->op.bytes;
    p->nodes[s][1] = (sim_kernel){.ns = 640, .name = "tail"};
    p->graphs[s] = (sim_graph){p->nodes[s], NODES};
    p->handles[s] = &p->graphs[s];
  }
  t->p.launch = NULL;
  t->p.launch_user = NULL;
  t->p.graphs = p->handles;
  t->p.graph_count = slots;
}

static void begin_graphs(trial *t, prebuilt *p, const char *spec,
                         uint32_t slots) {
  begin(t, spec);
  with_buffers(t, MIB);
  build(t, p, slots);
}

static void a_graph_is_checked_timed_and_confirmed(void) {
  trial t;
  prebuilt p;
  begin_graphs(&t, &p, "kernel=20000", 1);
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_TIMER), "TRACE");
  REQUIRE_STR(text(&t, KMB_VALUE_LAUNCH_MODE), "GRAPH");
  REQUIRE_STR(text(&t, KMB_VALUE_CACHE_STATE), "COLD");
  REQUIRE_STR(text(&t, KMB_VALUE_CHECK), "passed before and after timing");
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 20640, 100);
  REQUIRE_EQ(u64(&t, KMB_VALUE_DEVICE_OPS), 2);
  REQUIRE_EQ(kmb_result_op_count(t.r), 2);
  REQUIRE_HAS(text(&t, KMB_VALUE_CONFIRM_METHOD), "EVENT");
  REQUIRE(!raised(&t, KMB_FINDING_TIMERS_DISAGREE));
  REQUIRE(!raised(&t, KMB_FINDING_FALLBACK_TIMER));
  REQUIRE(p.runs[0] > 50);
  finish(&t);
}

static void each_slot_has_its_graph(void) {
  trial t;
  prebuilt p;
  begin_graphs(&t, &p, "llc=4194304", GRAPHS);
  t.p.cache = KMB_CACHE_ROTATED;
  t.p.flags = KMB_BENCH_REQUIRE_CACHE;
  t.rotation.slots = 0;
  run(&t);
  uint64_t slots = u64(&t, KMB_VALUE_SLOTS);
  REQUIRE(slots > 4 && slots <= GRAPHS);
  for (uint64_t s = 0; s < GRAPHS; s++)
    REQUIRE_EQ(p.runs[s] > 0, s < slots);
  REQUIRE_STR(text(&t, KMB_VALUE_CHECK), "passed before and after timing");
  finish(&t);
}

static void too_few_graphs_are_not_cold(void) {
  trial t;
  prebuilt p;
  begin_graphs(&t, &p, "llc=8388608", 2);
  t.p.cache = KMB_CACHE_ROTATED;
  run(&t);
  REQUIRE_EQ(u64(&t, KMB_VALUE_SLOTS), 2);
  REQUIRE(raised(&t, KMB_FINDING_NOT_COLD));
  t.p.flags = KMB_BENCH_REQUIRE_CACHE;
  fails(&t, KMB_ERR_UNAVAILABLE, "ROTATED is required");
  finish(&t);
}

static void the_timer_graph_is_passed_over_and_why(void) {
  trial t;
  prebuilt p;
  begin_graphs(&t, &p, "", 1);
  t.p.timer = KMB_TIMER_GRAPH;
  t.p.cache = KMB_CACHE_WARM;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_LAUNCH_MODE), "GRAPH");
  REQUIRE(strcmp(text(&t, KMB_VALUE_TIMER), "GRAPH") != 0);
  REQUIRE_HAS(message(&t, KMB_FINDING_FALLBACK_TIMER), "n iterations");
  REQUIRE_HAS(text(&t, KMB_VALUE_TIMER_REASON), "n iterations");
  t.p.flags = KMB_BENCH_REQUIRE_TIMER;
  fails(&t, KMB_ERR_UNAVAILABLE, "n iterations");
  finish(&t);
}

static void every_other_timer_serves(void) {
  static const kmb_timer timers[] = {KMB_TIMER_TRACE, KMB_TIMER_EVENT,
                                     KMB_TIMER_HOST};
  static const char *const names[] = {"TRACE", "EVENT", "HOST"};
  trial t;
  prebuilt p;
  begin_graphs(&t, &p, "nocapture=1", 1);
  t.p.cache = KMB_CACHE_WARM;
  t.p.flags = KMB_BENCH_REQUIRE_TIMER | KMB_BENCH_REQUIRE_LAUNCH;
  t.p.launch_mode = KMB_LAUNCH_GRAPH;
  for (int i = 0; i < 3; i++) {
    t.p.timer = timers[i];
    run(&t);
    REQUIRE_STR(text(&t, KMB_VALUE_TIMER), names[i]);
    REQUIRE_STR(text(&t, KMB_VALUE_LAUNCH_MODE), "GRAPH");
  }
  finish(&t);
}

static void a_graph_that_writes_nothing_is_incorrect(void) {
  trial t;
  prebuilt p;
  begin_graphs(&t, &p, "", 1);
  p.graphs[0].nodes = &p.nodes[0][1];
  p.graphs[0].count = 1;
  fails(&t, KMB_ERR_INCORRECT, "was not written at all");
  finish(&t);
}

/* Both graphs write to slot 1: what is wrong is the graph of slot 0. */
static void a_graph_of_other_memory_is_named_by_its_slot(void) {
  trial t;
  prebuilt p;
  begin_graphs(&t, &p, "", 2);
  copies[0].slot = 1;
  p.nodes[0][0].writes[0] = p.nodes[1][0].writes[0];
  fails(&t, KMB_ERR_INCORRECT, "the graph of slot 0 writes to other memory");
  REQUIRE(!strstr(kmb_last_error(NULL, NULL), "launch->args"));
  finish(&t);
}

/* Without buffers nothing shows whether the graph is empty or only unseen. */
static void a_graph_without_records_is_timed_by_events(void) {
  trial t;
  sim_graph graph = {NULL, 0};
  void *handle = &graph;
  begin(&t, "");
  t.p.launch = NULL;
  t.p.graphs = &handle;
  t.p.graph_count = 1;
  t.p.cache = KMB_CACHE_WARM;
  run(&t);
  REQUIRE_STR(text(&t, KMB_VALUE_TIMER), "EVENT");
  REQUIRE_HAS(message(&t, KMB_FINDING_FALLBACK_TIMER), "sees no operation");
  finish(&t);
}

static void what_cannot_be_meant_is_invalid(void) {
  trial t;
  prebuilt p;
  begin_graphs(&t, &p, "", 2);
  t.p.launch = operation_launch;
  fails(&t, KMB_ERR_INVALID, "no launch beside them");
  t.p.launch = NULL;
  t.p.graph_count = 0;
  fails(&t, KMB_ERR_INVALID, "graphs and their number");
  t.p.graph_count = 2;
  p.handles[1] = NULL;
  fails(&t, KMB_ERR_INVALID, "graph 1 is NULL");
  p.handles[1] = &p.graphs[1];
  t.p.launch_mode = KMB_LAUNCH_PLAIN;
  fails(&t, KMB_ERR_INVALID, "PLAIN");
  t.p.launch_mode = 0;
  t.p.rounds = 2;
  fails(&t, KMB_ERR_INVALID, "rounds");
  t.p.rounds = 0;
  t.p.graphs = NULL;
  fails(&t, KMB_ERR_INVALID, "graphs and their number");
  t.p.graph_count = 0;
  fails(&t, KMB_ERR_INVALID, "launch is NULL");
  finish(&t);
}

static void a_backend_without_the_function_is_unsupported(void) {
  trial t;
  sim_graph graph = {NULL, 0};
  void *handle = &graph;
  begin_on(&t, SIMBARE, "");
  t.p.launch = NULL;
  t.p.graphs = &handle;
  t.p.graph_count = 1;
  fails(&t, KMB_ERR_UNSUPPORTED, "launches no prebuilt graphs");
  finish(&t);
}

static void a_launch_that_fails_ends_it(void) {
  trial t;
  prebuilt p;
  begin_graphs(&t, &p, "fail=graph_launch@1:-8", 1);
  fails(&t, KMB_ERR_LOST, "graph_launch");
  finish(&t);
}

int main(void) {
  RUN(a_graph_is_checked_timed_and_confirmed);
  RUN(each_slot_has_its_graph);
  RUN(too_few_graphs_are_not_cold);
  RUN(the_timer_graph_is_passed_over_and_why);
  RUN(every_other_timer_serves);
  RUN(a_graph_that_writes_nothing_is_incorrect);
  RUN(a_graph_of_other_memory_is_named_by_its_slot);
  RUN(a_graph_without_records_is_timed_by_events);
  RUN(what_cannot_be_meant_is_invalid);
  RUN(a_backend_without_the_function_is_unsupported);
  RUN(a_launch_that_fails_ends_it);
  return 0;
}
