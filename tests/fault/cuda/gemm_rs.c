/* examples/threads_gemm_rs on devices of the virtual GPU machine: each run of
 * the program in a process of its own. */
#include "bed.h"

#include <sys/wait.h>
#include <unistd.h>

#include "patience.h"
#undef main

double longest_wait_s;

enum { SKIPPED = 77, NOT_GIVEN_BACK = 99 };

/* What it said, on either way. */
static char out[1 << 16], err[1 << 16];

static void set_up(void) {
  sim_reset();
  sim_set()->visible = 2;
  sim_set()->shown = 2;
  sim_set()->l2_bytes = 256 << 10;
  longest_wait_s = 1e4;
}

static void look_at(const char *path, char *text, size_t size) {
  FILE *file = fopen(path, "r");
  size_t length = 0;
  if (file) {
    length = fread(text, 1, size - 1, file);
    fclose(file);
  }
  text[length] = 0;
}

/* On a rank's threads, after set_up() and what a test sets beyond. */
static int run(const char *ranks) {
  char *arguments[] = {"threads_gemm_rs", "cuda", (char *)(uintptr_t)ranks,
                       "r.json",          "32",   NULL};
  int status = 0;
  fflush(NULL);
  (void)unlink("r.json");
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (!child) {
    if (!freopen("out", "w", stdout) || !freopen("err", "w", stderr)) exit(98);
    int code = program(5, arguments);
    if (sim_held()) sim_print_held();
    exit(sim_held() ? NOT_GIVEN_BACK : code);
  }
  REQUIRE_EQ(waitpid(child, &status, 0), child);
  look_at("out", out, sizeof out);
  look_at("err", err, sizeof err);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static int expect(int code, int wanted) {
  if (code != wanted)
    fprintf(stderr, "%d, not %d\n%s%s", code, wanted, out, err);
  return code == wanted;
}

static void two_gpus_measure_both_and_each_alone(void) {
  set_up();
  REQUIRE(expect(run("2"), 0));
  REQUIRE_STR(err, "");
  REQUIRE_HAS(out, "2 ranks, 32 x 32 x 32, 16 of the inner dimension each");
  REQUIRE_HAS(out, "passed before and after timing");
  REQUIRE_HAS(out, "TFLOP/s a rank");
  REQUIRE_HAS(out, "busbw");
  REQUIRE_HAS(out, "declares NVLink multicast off");
  static char json[1 << 20];
  look_at("r.json", json, sizeof json);
  REQUIRE_HAS(json, "\"collective\": \"NCCL 2.28.9\"");
  REQUIRE_HAS(json, "\"gemm and reduce-scatter\"");
  REQUIRE_HAS(json, "\"gemm alone\"");
  REQUIRE_HAS(json, "\"reduce-scatter alone\"");
  REQUIRE_HAS(json, "\"world_size\": 2");
  REQUIRE_HAS(json, "\"launch_mode\": \"GRAPH\"");
}

static void one_gpu_is_enough_for_one_rank(void) {
  set_up();
  REQUIRE(expect(run("1"), 0));
  REQUIRE(!strstr(out, "busbw"));
}

static void too_few_gpus_is_a_sentence(void) {
  set_up();
  sim_set()->shown = 1;
  REQUIRE(expect(run("2"), SKIPPED));
  REQUIRE_HAS(out, "Rank 1 has nothing to measure with: ");
  REQUIRE(!strstr(out, "Rank 0"));
  REQUIRE(access("r.json", F_OK));
}

/* The other rank's collective is not left alone, and it ends as well. */
static void a_product_that_fails_ends_all_ranks(void) {
  set_up();
  sim_set()->product_fails = 13; /* of the whole, while it is checked */
  REQUIRE(expect(run("2"), 1));
  REQUIRE_HAS(err, "cublasGemmEx failed with 13");
  REQUIRE_HAS(err, "rank 0: measuring: ");
  REQUIRE_HAS(err, "rank 1: measuring: ");
  REQUIRE_HAS(err, "returned -16 (ERR_VENDOR)");
  REQUIRE(access("r.json", F_OK));
}

/* A rank's device waits for another that never comes: NCCL lets it go. */
static void a_collective_that_a_rank_misses_is_ended(void) {
  set_up();
  longest_wait_s = 5;
  sim_set()->scatter_lost = 19; /* of the whole, in a graph */
  REQUIRE(expect(run("2"), 1));
  REQUIRE_HAS(err, "rank 0: measuring: ");
  REQUIRE_HAS(err, "rank 1: measuring: ");
  REQUIRE_HAS(err, "a device is still at work that needs every rank");
  REQUIRE(access("r.json", F_OK));
}

/* Its host waits in NCCL for another that never comes. */
static void a_rank_that_does_not_join_is_given_up(void) {
  set_up();
  longest_wait_s = 0.1;
  sim_set()->join_lost = 2;
  REQUIRE(expect(run("2"), 1));
  REQUIRE_HAS(err, "ncclCommInitRankConfig did not end within 0.1 s");
  REQUIRE(access("r.json", F_OK));
}

int main(void) {
  char folder[] = "/tmp/gemm_rs.XXXXXX";
  REQUIRE(mkdtemp(folder) && chdir(folder) == 0);
  RUN(two_gpus_measure_both_and_each_alone);
  RUN(one_gpu_is_enough_for_one_rank);
  RUN(too_few_gpus_is_a_sentence);
  RUN(a_rank_that_does_not_join_is_given_up);
  RUN(a_product_that_fails_ends_all_ranks);
  RUN(a_collective_that_a_rank_misses_is_ended);
  (void)unlink("out");
  (void)unlink("err");
  (void)unlink("r.json");
  REQUIRE_EQ(rmdir(folder), 0);
  return 0;
}
