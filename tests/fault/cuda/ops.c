/* A row for each device operation, on the virtual GPU. */
#include "alone.h"
#include "bed.h"
#include "sim/costs.h"

static kmb_op row(const kmb_result *r, uint64_t index) {
  kmb_op op = kmb_op_init();
  REQUIRE_OK(kmb_result_op(r, index, &op));
  return op;
}

/* A kernel, a copy and a set: what each is, in order. */
typedef struct three {
  spin s;
  kmbi_cu_pointer memory;
} three;

static char host_copy[256];

static kmb_status launch_three(void *user, const kmb_launch *l) {
  three *t = user;
  const kmbi_cu_driver *cu = &t->s.b->cu;
  kmb_status status = bed_launch_spin(&t->s, l);
  if (!status &&
      cu->cuMemcpyDtoHAsync(host_copy, t->memory, sizeof host_copy, l->stream))
    status = KMB_ERR_VENDOR;
  if (!status && cu->cuMemsetD32Async(t->memory, 0, 16, l->stream))
    status = KMB_ERR_VENDOR;
  return status;
}

static void measure_three(kmb_launch_mode mode) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  three t = {.s = bed_spin(&b, 5, 2)};
  CU(&b, cuMemAlloc, &t.memory, 4096);
  kmb_bench_params p = bed_params(KMB_TIMER_TRACE, mode, KMB_CACHE_COLD);
  p.launch = launch_three;
  p.launch_user = &t;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  /* The sweep before each iteration is none of them. */
  REQUIRE_EQ(kmb_result_op_count(r), 4);
  for (uint64_t i = 0; i < 2; i++) {
    kmb_op kernel = row(r, i);
    REQUIRE_EQ(kernel.kind, KMB_OP_KERNEL);
    REQUIRE_STR(kernel.name, "test_spin");
    REQUIRE_NEAR(kernel.duration_ns, 5536, 2 * SIM_TICK);
    REQUIRE_EQ(kernel.bytes, 0);
  }
  REQUIRE_NEAR(row(r, 0).start_ns, 0, 0);
  kmb_op copy = row(r, 2), set = row(r, 3);
  REQUIRE_EQ(copy.kind, KMB_OP_MEMCPY);
  REQUIRE_EQ(copy.bytes, sizeof host_copy);
  REQUIRE_STR(copy.name, "");
  REQUIRE_EQ(set.kind, KMB_OP_MEMSET);
  REQUIRE_EQ(set.bytes, 64);
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_OP_SAMPLES), bed_u64(r, KMB_VALUE_SAMPLES));
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_OP_SAMPLES_OTHER), 0);
  REQUIRE_NEAR(bed_f64(r, KMB_VALUE_GAPS),
               bed_f64(r, KMB_VALUE_RAW_MEDIAN) - bed_f64(r, KMB_VALUE_BUSY),
               2 * SIM_TICK);
  kmb_result_destroy(r);
  CU(&b, cuMemFree, t.memory);
  bed_end(&b);
}

static void plain_launches_show_each_operation(void) {
  measure_three(KMB_LAUNCH_PLAIN);
}

static void a_graph_shows_each_operation(void) {
  measure_three(KMB_LAUNCH_GRAPH);
}

/* Three streams fork from the launch's own and join it again. */
enum { BRANCHES = 3 };

typedef struct fork_join {
  bed *b;
  spin s;
  kmbi_cu_stream streams[BRANCHES];
  kmbi_cu_event fork, joins[BRANCHES];
  unsigned (*wait)(kmbi_cu_stream stream, kmbi_cu_event event, unsigned flags);
} fork_join;

static kmb_status launch_fork_join(void *user, const kmb_launch *l) {
  fork_join *f = user;
  const kmbi_cu_driver *cu = &f->b->cu;
  kmb_status status = bed_launch_spin(&f->s, l);
  unsigned failed = cu->cuEventRecord(f->fork, l->stream);
  for (int i = 0; i < BRANCHES && !failed && !status; i++) {
    kmb_launch branch = *l;
    branch.stream = f->streams[i];
    failed = f->wait(f->streams[i], f->fork, 0);
    if (!failed) status = bed_launch_spin(&f->s, &branch);
    if (!failed) failed = cu->cuEventRecord(f->joins[i], f->streams[i]);
    if (!failed) failed = f->wait(l->stream, f->joins[i], 0);
  }
  if (!failed && !status) status = bed_launch_spin(&f->s, l);
  return failed ? KMB_ERR_VENDOR : status;
}

static void fork_begin(bed *b, fork_join *f) {
  *f = (fork_join){.b = b, .s = bed_spin(b, 50, 1), .wait = b->wait_event};
  CU(b, cuEventCreate, &f->fork, 0);
  for (int i = 0; i < BRANCHES; i++) {
    CU(b, cuStreamCreate, &f->streams[i], KMBI_CU_STREAM_NON_BLOCKING);
    CU(b, cuEventCreate, &f->joins[i], 0);
  }
}

static void fork_end(bed *b, fork_join *f) {
  CU(b, cuEventDestroy, f->fork);
  for (int i = 0; i < BRANCHES; i++) {
    CU(b, cuStreamDestroy, f->streams[i]);
    CU(b, cuEventDestroy, f->joins[i]);
  }
}

static void streams_that_fork_and_join_are_traced(void) {
  bed b;
  fork_join f;
  kmb_result *r = NULL;
  bed_start(&b);
  fork_begin(&b, &f);
  kmb_bench_params p =
      bed_params(KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, KMB_CACHE_WARM);
  p.launch = launch_fork_join;
  p.launch_user = &f;
  p.stream = b.stream;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_EQ(kmb_result_op_count(r), BRANCHES + 2);
  /* The middle ones run at the same time, each on a stream of its own. */
  kmb_op first = row(r, 0), last = row(r, BRANCHES + 1);
  REQUIRE_EQ(first.stream, last.stream);
  for (uint64_t i = 1; i <= BRANCHES; i++) {
    kmb_op op = row(r, i);
    REQUIRE(op.stream != first.stream);
    for (uint64_t k = 1; k < i; k++)
      REQUIRE(op.stream != row(r, k).stream);
    REQUIRE(op.start_ns >= first.duration_ns);
    REQUIRE(op.start_ns + op.duration_ns <= last.start_ns + SIM_TICK);
  }
  double busy = bed_f64(r, KMB_VALUE_BUSY), sum = bed_f64(r, KMB_VALUE_SUM);
  REQUIRE_NEAR(sum, 5 * 50536, 10 * SIM_TICK);
  REQUIRE(busy < 0.9 * sum);
  REQUIRE(busy <= bed_f64(r, KMB_VALUE_RAW_MEDIAN));
  kmb_result_destroy(r);
  fork_end(&b, &f);
  bed_end(&b);
}

/* Lost records leave samples out, and the rows are of the others. */
static void rows_are_of_complete_samples(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  sim_set()->lose_every = 11;
  spin s = bed_spin(&b, 3, 2);
  kmb_bench_params p =
      bed_params(KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE(bed_finding(r, KMB_FINDING_RECORDS_MISSING));
  REQUIRE_EQ(kmb_result_op_count(r), 2);
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_OP_SAMPLES_OTHER), 0);
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_OP_SAMPLES), bed_u64(r, KMB_VALUE_SAMPLES));
  kmb_result_destroy(r);
  bed_end(&b);
}

/* More operations than rows, and than a run keeps of all its samples. */
static void many_operations_are_bounded_and_said(void) {
  bed b;
  kmb_result *r = NULL;
  bed_start(&b);
  spin s = bed_spin(&b, 0, 700);
  kmb_bench_params p =
      bed_params(KMB_TIMER_TRACE, KMB_LAUNCH_GRAPH, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_DEVICE_OPS), 700);
  REQUIRE_EQ(kmb_result_op_count(r), 256);
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_OPS_OMITTED), 700 - 256);
  REQUIRE(bed_u64(r, KMB_VALUE_OP_SAMPLES) > 0);
  REQUIRE_EQ(bed_u64(r, KMB_VALUE_OP_SAMPLES_OTHER), 0);
  REQUIRE_STR(row(r, 255).name, "test_spin");
  kmb_result_destroy(r);
  bed_end(&b);
}

int main(void) {
  int failed = ALONE(plain_launches_show_each_operation);
  failed += ALONE(a_graph_shows_each_operation);
  failed += ALONE(streams_that_fork_and_join_are_traced);
  failed += ALONE(rows_are_of_complete_samples);
  failed += ALONE(many_operations_are_bounded_and_said);
  return failed != 0;
}
