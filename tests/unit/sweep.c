/* Sweeps: going on where an interrupted run stopped, and files that are not
 * what they should be. */
#include "heap.h"
#include "samples.h"

#include <kmb/kmb.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct bed {
  heap memory;
  kmb_device *device;
  char folder[64], path[128], log[512];
} bed;

static void note(void *user, kmb_log_level level, const char *message) {
  bed *b = user;
  (void)level;
  snprintf(b->log, sizeof b->log, "%s", message);
}

static void begin(bed *b) {
  memset(b, 0, sizeof *b);
  kmb_hooks hooks = heap_hooks(&b->memory);
  kmb_device_params params = kmb_device_params_init();
  hooks.log = note;
  hooks.log_user = b;
  params.hooks = &hooks;
  REQUIRE_OK(kmb_device_open("host", &params, &b->device));
  snprintf(b->folder, sizeof b->folder, "/tmp/kmb-sweep-XXXXXX");
  REQUIRE(mkdtemp(b->folder));
  snprintf(b->path, sizeof b->path, "%s/points.jsonl", b->folder);
}

static void finish(bed *b) {
  kmb_device_close(b->device);
  (void)unlink(b->path);
  REQUIRE_EQ(rmdir(b->folder), 0);
  REQUIRE_EQ(b->memory.blocks_out, 0);
}

static kmb_result *measure(bed *b, const char *name, const char *n) {
  const kmb_pair axes[] = {{"n", n}, {"dtype", "f32"}};
  const double ns[] = {1, 2, 3, 4, 5, 6, 7, 8};
  kmb_bench_params p = kmb_bench_params_init();
  kmb_result *r = NULL;
  p.name = name;
  p.axes = axes;
  p.axis_count = 2;
  REQUIRE_OK(kmb_result_from_samples(b->device, &p, ns, 8, 0, &r));
  return r;
}

static kmb_sweep *open_it(bed *b) {
  kmb_sweep *sweep = NULL;
  REQUIRE_OK(kmb_sweep_open(b->device, b->path, &sweep));
  return sweep;
}

static const kmb_result *look(const kmb_sweep *sweep, const char *name,
                              const char *n) {
  const kmb_pair axes[] = {{"n", n}, {"dtype", "f32"}};
  return kmb_sweep_find(sweep, name, axes, 2);
}

/* As a program does it: measures what is not there, and is interrupted after
 * `most` points. Returns how many it measured. */
static int sweep_until(bed *b, int most) {
  static const char *const points[] = {"1", "2", "3", "4", "5"};
  kmb_sweep *sweep = open_it(b);
  int measured = 0;
  for (int i = 0; i < 5 && measured < most; i++) {
    if (look(sweep, "copy", points[i])) continue;
    REQUIRE_OK(kmb_sweep_add(sweep, measure(b, "copy", points[i])));
    measured++;
  }
  if (measured < most) {
    const kmb_results *all = kmb_sweep_results(sweep);
    sink table = {0};
    REQUIRE_EQ(kmb_results_count(all), 5);
    REQUIRE_OK(kmb_results_write_table(all, sink_write, &table));
    REQUIRE_HAS(table.data, "f32");
    free(table.data);
  }
  kmb_sweep_close(sweep);
  return measured;
}

static off_t size_of(const bed *b) {
  struct stat about;
  REQUIRE_EQ(stat(b->path, &about), 0);
  return about.st_size;
}

static void put_file(const bed *b, const char *text, const char *how) {
  FILE *file = fopen(b->path, how);
  REQUIRE(file);
  fputs(text, file);
  REQUIRE_EQ(fclose(file), 0);
}

static void an_interrupted_sweep_goes_on(void) {
  bed b;
  begin(&b);
  REQUIRE_EQ(sweep_until(&b, 2), 2);
  REQUIRE_EQ(sweep_until(&b, 2), 2);
  REQUIRE_EQ(sweep_until(&b, 9), 1);
  REQUIRE_EQ(sweep_until(&b, 9), 0);
  REQUIRE_STR(b.log, "");
  finish(&b);
}

/* Cut anywhere in its last line, the file loses that point alone. */
static void a_line_that_was_cut_is_measured_again(void) {
  bed b;
  begin(&b);
  REQUIRE_EQ(sweep_until(&b, 1), 1);
  off_t one = size_of(&b);
  REQUIRE_EQ(sweep_until(&b, 1), 1);
  off_t two = size_of(&b);
  for (off_t cut = one + 1; cut < two; cut += 97) {
    REQUIRE_EQ(truncate(b.path, cut), 0);
    kmb_sweep *sweep = open_it(&b);
    REQUIRE_HAS(b.log, "cut short");
    REQUIRE(look(sweep, "copy", "1") && !look(sweep, "copy", "2"));
    REQUIRE_EQ(size_of(&b), one);
    REQUIRE_OK(kmb_sweep_add(sweep, measure(&b, "copy", "2")));
    kmb_sweep_close(sweep);
    kmb_sweep_close(open_it(&b));
    two = size_of(&b);
  }
  REQUIRE_EQ(truncate(b.path, one - 1), 0); /* the newline alone */
  kmb_sweep *sweep = open_it(&b);
  REQUIRE_EQ(kmb_results_count(kmb_sweep_results(sweep)), 0);
  kmb_sweep_close(sweep);
  finish(&b);
}

static void what_is_kept_reads_back(void) {
  bed b;
  double time = 0;
  begin(&b);
  kmb_sweep *sweep = open_it(&b);
  REQUIRE_OK(kmb_sweep_add(sweep, measure(&b, "a\nb\xFF\"", "1")));
  kmb_sweep_close(sweep);
  sweep = open_it(&b);
  const kmb_result *r = look(sweep, "a\nb\xFF\"", "1");
  REQUIRE(r != NULL);
  REQUIRE_OK(kmb_result_f64(r, KMB_VALUE_TIME, &time));
  REQUIRE_NEAR(time, 4.5, 0);
  REQUIRE(!look(sweep, "a\nb\"", "1"));
  REQUIRE(!look(sweep, "a\nb\xFF\"c", "1"));
  REQUIRE(!look(sweep, "a", "1"));
  REQUIRE(!look(sweep, "a\nb\xFF\"", "2"));
  REQUIRE(!look(sweep, NULL, "1"));
  const kmb_pair axes[] = {{"n", "1"}, {"dtype", "f32"}};
  const kmb_pair turned[] = {{"dtype", "f32"}, {"n", "1"}};
  const kmb_pair twice[] = {{"n", "1"}, {"n", "1"}};
  const kmb_pair crossed[] = {{"dtype", "1"}, {"n", "f32"}};
  REQUIRE(kmb_sweep_find(sweep, "a\nb\xFF\"", turned, 2) == r);
  REQUIRE(!kmb_sweep_find(sweep, "a\nb\xFF\"", twice, 2));
  REQUIRE(!kmb_sweep_find(sweep, "a\nb\xFF\"", crossed, 2));
  REQUIRE(!kmb_sweep_find(sweep, "a\nb\xFF\"", axes, 1));
  REQUIRE(!kmb_sweep_find(sweep, "a\nb\xFF\"", NULL, 2));
  REQUIRE(!kmb_sweep_find(NULL, "a", axes, 2));
  REQUIRE(kmb_sweep_results(NULL) == NULL);
  kmb_sweep_close(NULL);
  kmb_sweep_close(sweep);
  finish(&b);
}

static void a_point_is_there_once(void) {
  bed b;
  begin(&b);
  kmb_sweep *sweep = open_it(&b);
  REQUIRE_OK(kmb_sweep_add(sweep, measure(&b, "copy", "1")));
  off_t size = size_of(&b);
  kmb_result *again = measure(&b, "copy", "1");
  REQUIRE_STATUS(kmb_sweep_add(sweep, again), KMB_ERR_INVALID);
  REQUIRE_EQ(size_of(&b), size);
  kmb_result_destroy(again);
  REQUIRE_STATUS(kmb_sweep_add(sweep, NULL), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_sweep_add(NULL, NULL), KMB_ERR_INVALID);
  const kmb_result *first = NULL;
  REQUIRE_OK(kmb_results_get(kmb_sweep_results(sweep), 0, &first));
  REQUIRE_STATUS(kmb_sweep_add(sweep, (kmb_result *)(uintptr_t)first),
                 KMB_ERR_INVALID);
  kmb_sweep_close(sweep);
  finish(&b);
}

static void fails(bed *b, kmb_status want, const char *words) {
  kmb_sweep *sweep = NULL;
  REQUIRE_STATUS(kmb_sweep_open(b->device, b->path, &sweep), want);
  REQUIRE(sweep == NULL);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), words);
}

/* Whatever is wrong before the last line is told, and nothing is changed. */
static void a_broken_file_stays_as_it_is(void) {
  bed b;
  begin(&b);
  REQUIRE_EQ(sweep_until(&b, 1), 1);
  off_t one = size_of(&b);
  put_file(&b, "{\"schema\": \"kmb-result\"\n", "a");
  off_t size = size_of(&b);
  fails(&b, KMB_ERR_FORMAT, "line 2");
  REQUIRE_EQ(size_of(&b), size);
  REQUIRE_EQ(truncate(b.path, one), 0);
  put_file(&b,
           "{\"schema\": \"kmb-result\", \"version\": 99, \"results\": []}\n",
           "a");
  fails(&b, KMB_ERR_UNSUPPORTED, "line 2");
  REQUIRE_EQ(truncate(b.path, one), 0);
  put_file(&b, "\n  \n", "a"); /* blank lines are none */
  kmb_sweep_close(open_it(&b));
  REQUIRE_EQ(truncate(b.path, one), 0);
  put_file(&b,
           "{\"schema\": \"kmb-result\", \"version\": 1, \"results\": "
           "[{\"axes\": [], \"absent\": {}, \"findings\": [], \"samples_ns\": "
           "[], \"metadata\": {\"device.name\": \"Abacus\"}, "
           "\"metadata_absent\": {}}]}\n",
           "a");
  fails(&b, KMB_ERR_INVALID, "line 2 was measured on another device");
  finish(&b);
}

static void doubled_points_are_refused(void) {
  bed b;
  char line[1 << 16];
  begin(&b);
  REQUIRE_EQ(sweep_until(&b, 1), 1);
  FILE *file = fopen(b.path, "r");
  REQUIRE(file && fgets(line, sizeof line, file));
  REQUIRE_EQ(fclose(file), 0);
  put_file(&b, line, "a");
  fails(&b, KMB_ERR_INVALID, "line 2 holds a point that is there already");
  finish(&b);
}

static void a_file_is_of_one_sweep_at_a_time(void) {
  bed b;
  begin(&b);
  kmb_sweep *sweep = open_it(&b);
  fails(&b, KMB_ERR_BUSY, "another sweep");
  kmb_sweep_close(sweep);
  kmb_sweep_close(open_it(&b));
  finish(&b);
}

static void places_that_take_nothing_are_told(void) {
  bed b;
  kmb_sweep *sweep = NULL;
  begin(&b);
  REQUIRE_STATUS(kmb_sweep_open(b.device, "/nowhere/points", &sweep),
                 KMB_ERR_IO);
  REQUIRE_STATUS(kmb_sweep_open(b.device, b.folder, &sweep), KMB_ERR_IO);
  REQUIRE_STATUS(kmb_sweep_open(b.device, NULL, &sweep), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_sweep_open(b.device, b.path, NULL), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_sweep_open(NULL, b.path, &sweep), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_sweep_open(b.device, "/dev/null", &sweep),
                 KMB_ERR_INVALID);
  finish(&b);
}

/* A full disk, as a limit: the result stays the caller's, the file whole. */
static void a_full_disk_takes_nothing(void) {
  bed b;
  struct rlimit before, small;
  begin(&b);
  kmb_sweep *sweep = open_it(&b);
  REQUIRE_OK(kmb_sweep_add(sweep, measure(&b, "copy", "1")));
  off_t size = size_of(&b);
  kmb_result *r = measure(&b, "copy", "2");
  REQUIRE(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
  REQUIRE_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = (rlim_t)size + 100;
  REQUIRE_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  REQUIRE_STATUS(kmb_sweep_add(sweep, r), KMB_ERR_IO);
  REQUIRE_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "cannot be written");
  REQUIRE_EQ(size_of(&b), size);
  REQUIRE_EQ(kmb_results_count(kmb_sweep_results(sweep)), 1);
  REQUIRE_OK(kmb_sweep_add(sweep, r));
  kmb_sweep_close(sweep);
  finish(&b);
}

/* Two points that are redacted alike would be one. */
static void points_that_read_as_secrets_are_refused(void) {
  static const kmb_pair axes[] = {{"token", "8"}};
  const double ns[] = {1, 2, 3, 4, 5, 6, 7, 8};
  bed b;
  kmb_bench_params p = kmb_bench_params_init();
  kmb_result *r = NULL;
  begin(&b);
  kmb_sweep *sweep = open_it(&b);
  p.name = "copy";
  p.axes = axes;
  p.axis_count = 1;
  REQUIRE_OK(kmb_result_from_samples(b.device, &p, ns, 8, 0, &r));
  REQUIRE_STATUS(kmb_sweep_add(sweep, r), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "redacted");
  kmb_result_destroy(r);
  r = measure(&b, "token=hunter2", "1");
  REQUIRE_STATUS(kmb_sweep_add(sweep, r), KMB_ERR_INVALID);
  kmb_result_destroy(r);
  REQUIRE_EQ(size_of(&b), 0);
  kmb_sweep_close(sweep);
  finish(&b);
}

/* The child's line would be a second one of the parent's point. */
static void a_forked_child_adds_nothing(void) {
  bed b;
  int status = 0;
  begin(&b);
  kmb_sweep *sweep = open_it(&b);
  kmb_result *r = measure(&b, "copy", "1");
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (!child) {
    int bad = kmb_sweep_add(sweep, r) != KMB_ERR_FORKED;
    kmb_result_destroy(r);
    kmb_sweep_close(sweep);
    kmb_device_close(b.device);
    _exit(bad || b.memory.blocks_out);
  }
  REQUIRE_EQ(waitpid(child, &status, 0), child);
  REQUIRE_EQ(status, 0);
  REQUIRE_EQ(size_of(&b), 0);
  /* The child's close gave nothing of the parent's away. */
  fails(&b, KMB_ERR_BUSY, "another sweep");
  REQUIRE_OK(kmb_sweep_add(sweep, r));
  kmb_sweep_close(sweep);
  finish(&b);
}

static void each_allocation_may_fail(void) {
  bool fired = true;
  for (uint64_t at = 1; fired; at += heap_step()) {
    bed b;
    kmb_sweep *sweep = NULL;
    begin(&b);
    REQUIRE_EQ(sweep_until(&b, 2), 2);
    off_t size = size_of(&b);
    kmb_result *r = measure(&b, "copy", "3");
    b.memory.fail_at = b.memory.calls + at;
    kmb_status status = kmb_sweep_open(b.device, b.path, &sweep);
    if (!status) status = kmb_sweep_add(sweep, r);
    fired = b.memory.failed;
    b.memory.fail_at = 0;
    if (status) {
      REQUIRE_STATUS(status, KMB_ERR_NOMEM);
      REQUIRE_EQ(size_of(&b), size);
      kmb_result_destroy(r);
    }
    kmb_sweep_close(sweep);
    REQUIRE_EQ(sweep_until(&b, 1), 1);
    finish(&b);
    REQUIRE(at < 20000);
  }
}

int main(void) {
  RUN(an_interrupted_sweep_goes_on);
  RUN(a_line_that_was_cut_is_measured_again);
  RUN(what_is_kept_reads_back);
  RUN(a_point_is_there_once);
  RUN(a_broken_file_stays_as_it_is);
  RUN(doubled_points_are_refused);
  RUN(a_file_is_of_one_sweep_at_a_time);
  RUN(places_that_take_nothing_are_told);
  RUN(a_full_disk_takes_nothing);
  RUN(points_that_read_as_secrets_are_refused);
  RUN(a_forked_child_adds_nothing);
  RUN(each_allocation_may_fail);
  return 0;
}
