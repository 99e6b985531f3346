/* Rows of device operations out of many samples. */
#include "require.h"

#include "ops.h"

static long allowed = -1; /* allocations before one fails; -1: none does */
static long live;

static void *limited_alloc(void *user, size_t size, size_t align) {
  (void)user;
  (void)align;
  if (allowed == 0) return NULL;
  if (allowed > 0) allowed--;
  live++;
  return malloc(size);
}

static void limited_free(void *user, void *pointer, size_t size) {
  (void)user;
  (void)size;
  if (pointer) live--;
  free(pointer);
}

static const kmbi_memory memory = {limited_alloc, limited_free, NULL};

static void begin(kmbi_ops *ops) {
  allowed = -1;
  REQUIRE(kmbi_ops_init(ops, &memory));
}

static void end(kmbi_ops *ops, kmbi_op_rows *rows) {
  kmbi_op_rows_release(&memory, rows);
  kmbi_ops_release(ops);
  REQUIRE_EQ(live, 0);
}

static void add(kmbi_ops *ops, const char *name, double start, double takes,
                uint32_t stream) {
  kmb_device_op op = {.name = name,
                      .start_ns = start,
                      .duration_ns = takes,
                      .kind = KMB_OP_KERNEL,
                      .stream = stream};
  kmbi_ops_add(ops, &op);
}

static void add_copy(kmbi_ops *ops, uint64_t bytes, double start,
                     double takes) {
  kmb_device_op op = {.bytes = bytes,
                      .start_ns = start,
                      .duration_ns = takes,
                      .kind = KMB_OP_MEMCPY};
  kmbi_ops_add(ops, &op);
}

static void figures_are_of_all_samples_alike(void) {
  kmbi_ops ops;
  kmbi_op_rows rows;
  begin(&ops);
  const double takes[] = {30, 10, 20, 50, 40};
  for (size_t i = 0; i < 5; i++) {
    add(&ops, "first", 0, takes[i], 7);
    add_copy(&ops, 64, 100 + (double)i, 5);
    REQUIRE(kmbi_ops_end_sample(&ops, i));
  }
  REQUIRE(kmbi_ops_close(&ops, 0, 120, &rows));
  REQUIRE_EQ(rows.count, 2);
  REQUIRE_EQ(rows.samples, 5);
  REQUIRE_EQ(rows.other, 0);
  REQUIRE_EQ(rows.omitted, 0);
  const kmb_op *a = &rows.rows[0], *b = &rows.rows[1];
  REQUIRE_STR(a->name, "first");
  REQUIRE_EQ(a->kind, KMB_OP_KERNEL);
  REQUIRE_EQ(a->stream, 7);
  REQUIRE_NEAR(a->start_ns, 0, 0);
  REQUIRE_NEAR(a->duration_ns, 30, 0);
  REQUIRE_NEAR(a->min_ns, 10, 0);
  REQUIRE_NEAR(a->max_ns, 50, 0);
  REQUIRE_NEAR(a->share_pct, 25, 1e-12);
  REQUIRE_STR(b->name, "");
  REQUIRE_EQ(b->kind, KMB_OP_MEMCPY);
  REQUIRE_EQ(b->bytes, 64);
  REQUIRE_NEAR(b->start_ns, 102, 0);
  end(&ops, &rows);
}

/* Two streams: which of two operations starts first changes. */
static void operations_are_told_apart_by_what_they_are(void) {
  kmbi_ops ops;
  kmbi_op_rows rows;
  begin(&ops);
  for (size_t i = 0; i < 9; i++) {
    bool swapped = i % 3 == 1;
    if (!swapped) add(&ops, "left", 0, 100, 1);
    add(&ops, "right", swapped ? 0 : 2, 7, 2);
    if (swapped) add(&ops, "left", 2, 100, 1);
    REQUIRE(kmbi_ops_end_sample(&ops, i));
  }
  REQUIRE(kmbi_ops_close(&ops, 0, 100, &rows));
  REQUIRE_EQ(rows.other, 0);
  REQUIRE_EQ(rows.samples, 9);
  REQUIRE_STR(rows.rows[0].name, "left");
  REQUIRE_NEAR(rows.rows[0].max_ns, 100, 0);
  REQUIRE_NEAR(rows.rows[0].min_ns, 100, 0);
  REQUIRE_EQ(rows.rows[0].stream, 1);
  REQUIRE_STR(rows.rows[1].name, "right");
  REQUIRE_NEAR(rows.rows[1].max_ns, 7, 0);
  REQUIRE_NEAR(rows.rows[1].start_ns, 2, 0);
  end(&ops, &rows);
}

static void the_same_kernel_twice_has_two_rows(void) {
  kmbi_ops ops;
  kmbi_op_rows rows;
  begin(&ops);
  for (size_t i = 0; i < 3; i++) {
    add(&ops, "k", 0, 10, 1);
    add(&ops, "k", 20, 30, 1);
    REQUIRE(kmbi_ops_end_sample(&ops, i));
  }
  REQUIRE(kmbi_ops_close(&ops, 0, 50, &rows));
  REQUIRE_EQ(rows.count, 2);
  REQUIRE_NEAR(rows.rows[0].duration_ns, 10, 0);
  REQUIRE_NEAR(rows.rows[1].duration_ns, 30, 0);
  REQUIRE_NEAR(rows.rows[1].start_ns, 20, 0);
  end(&ops, &rows);
}

/* `kernels` of one name, or one copy of `bytes`. */
static void sample_of(kmbi_ops *ops, size_t place, int kernels,
                      const char *name, uint64_t bytes) {
  for (int i = 0; i < kernels; i++)
    add(ops, name, 10 * i, 5, 1);
  if (bytes) add_copy(ops, bytes, 1000, 5);
  REQUIRE(kmbi_ops_end_sample(ops, place));
}

static void another_number_name_or_size_is_another_sequence(void) {
  kmbi_ops ops;
  kmbi_op_rows rows;
  begin(&ops);
  for (size_t i = 0; i < 4; i++)
    sample_of(&ops, i, 2, "k", 64);
  sample_of(&ops, 4, 1, "k", 64);
  sample_of(&ops, 5, 2, "j", 64);
  sample_of(&ops, 6, 2, "k", 65);
  sample_of(&ops, 7, 2, "k", 0);
  REQUIRE(kmbi_ops_close(&ops, 0, 100, &rows));
  REQUIRE_EQ(rows.samples, 4);
  REQUIRE_EQ(rows.other, 4);
  REQUIRE_EQ(rows.count, 3);
  end(&ops, &rows);
}

static void rows_are_of_what_is_most_frequent(void) {
  kmbi_ops ops;
  kmbi_op_rows rows;
  begin(&ops);
  sample_of(&ops, 0, 1, "rare", 0);
  for (size_t i = 1; i < 11; i++)
    sample_of(&ops, i, 1, i % 5 ? "often" : "rare", 0);
  REQUIRE(kmbi_ops_close(&ops, 0, 100, &rows));
  REQUIRE_STR(rows.rows[0].name, "often");
  REQUIRE_EQ(rows.other, 3);
  end(&ops, &rows);
}

/* Where each sample is another, the rows are of one of them. */
static void sequences_without_end_are_bounded(void) {
  kmbi_ops ops;
  kmbi_op_rows rows;
  begin(&ops);
  for (size_t i = 0; i < 100; i++)
    sample_of(&ops, i, 1, "k", 1 + i);
  REQUIRE(kmbi_ops_close(&ops, 0, 100, &rows));
  REQUIRE_EQ(rows.samples, 1);
  REQUIRE_EQ(rows.other, 99);
  end(&ops, &rows);
}

static void beyond_the_last_row_operations_are_counted(void) {
  kmbi_ops ops;
  kmbi_op_rows rows;
  begin(&ops);
  for (size_t i = 0; i < 3; i++) {
    sample_of(&ops, i, KMBI_OP_ROWS, "k", 8);
    sample_of(&ops, i, KMBI_OP_ROWS, "k", 9); /* differs without a row */
  }
  sample_of(&ops, 3, KMBI_OP_ROWS, "k", 8);
  REQUIRE(kmbi_ops_close(&ops, 0, 100, &rows));
  REQUIRE_EQ(rows.count, KMBI_OP_ROWS);
  REQUIRE_EQ(rows.omitted, 1);
  REQUIRE_EQ(rows.samples, 4);
  REQUIRE_EQ(rows.other, 3);
  end(&ops, &rows);
}

static void only_the_latest_samples_count(void) {
  kmbi_ops ops;
  kmbi_op_rows rows;
  begin(&ops);
  for (size_t i = 0; i < KMBI_OP_SAMPLES + 100; i++) {
    add(&ops, "k", 0, i < 100 ? 1000 : 10, 1);
    REQUIRE(kmbi_ops_end_sample(&ops, i));
  }
  REQUIRE(kmbi_ops_close(&ops, 0, 100, &rows));
  REQUIRE_EQ(rows.samples, KMBI_OP_SAMPLES);
  REQUIRE_NEAR(rows.rows[0].max_ns, 10, 0);
  end(&ops, &rows);
}

static void dropped_samples_do_not_count(void) {
  kmbi_ops ops;
  kmbi_op_rows rows;
  begin(&ops);
  for (size_t i = 0; i < 10; i++) {
    add(&ops, "k", 0, i < 6 ? 1000 : 10 + (double)i, 1);
    REQUIRE(kmbi_ops_end_sample(&ops, i));
  }
  REQUIRE(kmbi_ops_close(&ops, 6, 100, &rows));
  REQUIRE_EQ(rows.samples, 4);
  REQUIRE_NEAR(rows.rows[0].min_ns, 16, 0);
  REQUIRE_NEAR(rows.rows[0].max_ns, 19, 0);
  REQUIRE_NEAR(rows.rows[0].duration_ns, 17.5, 0);
  end(&ops, &rows);
}

static void names_outlive_those_who_gave_them(void) {
  kmbi_ops ops;
  kmbi_op_rows rows;
  char name[] = "kernel";
  begin(&ops);
  add(&ops, name, 0, 1, 1);
  REQUIRE(kmbi_ops_end_sample(&ops, 0));
  memset(name, 'x', sizeof name - 1);
  REQUIRE(kmbi_ops_close(&ops, 0, 100, &rows));
  kmbi_ops_restart(&ops);
  REQUIRE_STR(rows.rows[0].name, "kernel");
  end(&ops, &rows);
}

static void without_samples_there_are_no_rows(void) {
  kmbi_ops ops;
  kmbi_op_rows rows;
  begin(&ops);
  REQUIRE(kmbi_ops_end_sample(&ops, 0)); /* of no operation */
  REQUIRE(kmbi_ops_close(&ops, 0, 100, &rows));
  REQUIRE_EQ(rows.samples, 0);
  REQUIRE_EQ(rows.count, 0);
  REQUIRE(!rows.rows);
  end(&ops, &rows);
}

/* False if an allocation failed. */
static bool whole(kmbi_ops *ops, kmbi_op_rows *rows) {
  static char names[3][20][16];
  if (!kmbi_ops_init(ops, &memory)) return false;
  for (size_t i = 0; i < 3; i++) {
    for (int k = 0; k < 20; k++) {
      char *name = names[i][k];
      snprintf(name, sizeof names[i][k], "kernel_%d", k + (i ? 7 : 0));
      add(ops, name, k, 1, 1);
    }
    if (!kmbi_ops_end_sample(ops, i)) return false;
  }
  return kmbi_ops_close(ops, 0, 20, rows);
}

static void every_allocation_may_fail(void) {
  long k = 0;
  for (bool done = false; !done; k++) {
    kmbi_ops ops;
    kmbi_op_rows rows = {.rows = NULL};
    allowed = k;
    done = whole(&ops, &rows);
    allowed = -1;
    end(&ops, &rows);
  }
  REQUIRE(k > 8);
}

int main(void) {
  RUN(figures_are_of_all_samples_alike);
  RUN(operations_are_told_apart_by_what_they_are);
  RUN(the_same_kernel_twice_has_two_rows);
  RUN(another_number_name_or_size_is_another_sequence);
  RUN(rows_are_of_what_is_most_frequent);
  RUN(sequences_without_end_are_bounded);
  RUN(beyond_the_last_row_operations_are_counted);
  RUN(only_the_latest_samples_count);
  RUN(dropped_samples_do_not_count);
  RUN(names_outlive_those_who_gave_them);
  RUN(without_samples_there_are_no_rows);
  RUN(every_allocation_may_fail);
  return 0;
}
