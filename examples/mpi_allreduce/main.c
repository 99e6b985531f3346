/* Measures NCCL's all-reduce over all ranks, from 1 KiB to 1 GiB, beside the
 * way in which nccl-tests measures it, in one run. Every value is checked
 * first.
 *
 * usage: mpiexec -n N mpi_allreduce [RESULT.json]      a rank a GPU
 *        allreduce [N [RESULT.json]]    the same without MPI, on one host
 *
 * Algorithm and bus bandwidth are those of nccl-tests: bytes over time, and
 * that times 2(n-1)/n. NVLink multicast is off (NCCL_NVLS_ENABLE=0) unless the
 * variable says otherwise. */
#include "../usage.h"
#include "nccl.h"

#include <kmb/kmb.h>

#ifdef WITH_MPI
#include <mpi.h>

#include <kmb/mpi.h>
#else
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SKIPPED = 77, MOST_DEVICES = 64 };

typedef struct member {
  kmb_comm *comm;
  kmb_device *device;
  nccl *nccl;
  kmb_results *results;
  int rank, size;
} member;

/* The operation: this rank's part. */
typedef struct operation {
  member *r;
  size_t count;
} operation;

static kmb_status launch(void *user, const kmb_launch *l) {
  const operation *o = user;
  return nccl_all_reduce(o->r->nccl, l->stream, l->args[0], l->args[1],
                         o->count);
}

/* Small whole numbers, so that sums are exact in any order; each rank has its
 * own. */
static float value(int rank, size_t i) {
  return (float)((i * 7 + (size_t)rank * 13) % 31) - 15;
}

static kmb_status fill(void *user, void *data, uint64_t bytes, uint32_t slot) {
  const operation *o = user;
  (void)slot;
  for (size_t i = 0; i < bytes / sizeof(float); i++)
    ((float *)data)[i] = value(o->r->rank, i);
  return KMB_OK;
}

/* The sum over ranks repeats after 31 elements. */
static kmb_status check(void *user, kmb_check *c) {
  const operation *o = user;
  float sums[31];
  const float *got = c->after[1];
  double worst = 0;
  for (size_t i = 0; i < 31; i++) {
    sums[i] = 0;
    for (int r = 0; r < o->r->size; r++)
      sums[i] += value(r, i);
  }
  for (size_t i = 0, k = 0; i < o->count; i++, k = k == 30 ? 0 : k + 1) {
    double error = (double)got[i] - (double)sums[k];
    if (error < 0) error = -error;
    if (error > worst || error != error) worst = error == error ? error : 1e30;
  }
  c->error = worst;
  return worst > c->tolerance ? KMB_ERR_INCORRECT : KMB_OK;
}

static kmb_status make_buffers(operation *o, kmb_buffers **buffers) {
  kmb_buffer_desc d[2] = {kmb_buffer_desc_init(), kmb_buffer_desc_init()};
  for (int i = 0; i < 2; i++) {
    d[i].name = i ? "to" : "from";
    d[i].role = i ? KMB_OUTPUT : KMB_INPUT;
    d[i].dtype = KMB_F32;
    d[i].bytes = o->count * sizeof(float);
  }
  d[0].fill = KMB_FILL_CALLBACK;
  d[0].fill_fn = fill;
  d[0].fill_user = o;
  return kmb_buffers_create(o->r->device, d, sizeof d[0], 2, NULL, buffers);
}

/* What nccl-tests would say goes with the result. */
static kmb_status measure(operation *o, double usual_us, kmb_result **result) {
  char size[32], usual[32];
  const kmb_pair axis = {"bytes", size};
  const kmb_pair beside = {"nccl_tests_us", usual};
  kmb_buffers *buffers = NULL;
  snprintf(size, sizeof size, "%zu", o->count * sizeof(float));
  snprintf(usual, sizeof usual, "%.3f", usual_us);
  kmb_metadata_params metadata = kmb_metadata_params_init();
  metadata.pairs = &beside;
  metadata.pair_count = 1;
  kmb_bench_params p = kmb_bench_params_init();
  p.metadata = &metadata;
  p.name = "all_reduce";
  p.axes = &axis;
  p.axis_count = 1;
  p.launch = launch;
  p.launch_user = o;
  p.check = check;
  p.check_user = o;
  p.cache = KMB_CACHE_WARM; /* as nccl-tests: the same buffers again */
  p.flags = KMB_BENCH_TOLERANCE | KMB_BENCH_NO_CONFIRM;
  p.max_wall_ns = 1e9;
  p.comm = o->r->comm;
  p.boundary = "ncclAllReduce";
  kmb_status status = make_buffers(o, &buffers);
  p.buffers = buffers;
  /* A rank without buffers takes part even so, to tell the others. */
  if (status) p.launch = NULL;
  kmb_status measured = kmb_bench(o->r->device, &p, result);
  kmb_buffers_destroy(buffers);
  return status ? status : measured;
}

static void print_row(const operation *o, const kmb_result *result,
                      double usual_us) {
  double ns = 0;
  kmb_collective_work work = kmb_collective_work_init();
  uint64_t bytes = o->count * sizeof(float);
  if (kmb_result_f64(result, KMB_VALUE_TIME, &ns) ||
      kmb_work_collective(KMB_ALL_REDUCE, bytes, (uint32_t)o->r->size, &work))
    return;
  double ours = (double)bytes / ns, theirs = (double)bytes / usual_us / 1e3;
  printf("%12" PRIu64 " %11.2f %9.2f %9.2f %14.2f %9.2f %9.2f %+9.1f%%\n",
         bytes, ns / 1e3, ours, ours * work.bus_factor, usual_us, theirs,
         theirs * work.bus_factor, 100 * (usual_us * 1e3 / ns - 1));
  fflush(stdout);
}

static kmb_status one_size(member *r, size_t bytes) {
  operation o = {r, bytes / sizeof(float)};
  kmb_result *result = NULL;
  double usual_us = 0;
  kmb_status status = nccl_usual_time(r->nccl, r->comm, o.count, 20, &usual_us);
  if (!status) status = measure(&o, usual_us, &result);
  if (status) {
    fprintf(stderr, "rank %d, %zu bytes: %s\n", r->rank, bytes,
            kmb_last_error(NULL, NULL));
    return status;
  }
  if (!r->rank) print_row(&o, result, usual_us);
  status = kmb_results_add(r->results, result);
  if (status) kmb_result_destroy(result);
  return status;
}

static kmb_status all_sizes(member *r) {
  kmb_status status = KMB_OK;
  if (!r->rank)
    printf("%12s %11s %9s %9s %14s %9s %9s %10s\n", "bytes", "us", "algbw",
           "busbw", "nccl-tests us", "algbw", "busbw", "differs");
  for (size_t bytes = 1 << 10; bytes <= (size_t)1 << 30 && !status; bytes *= 4)
    status = one_size(r, bytes);
  return status;
}

static kmb_status write_to(void *file, const void *data, size_t size) {
  return fwrite(data, 1, size, file) == size ? KMB_OK : KMB_ERR_IO;
}

static int report(const member *r, const char *path) {
  if (r->rank) return 0;
  const kmb_result *last = NULL;
  uint64_t count = kmb_results_count(r->results);
  if (count && !kmb_results_get(r->results, count - 1, &last))
    (void)kmb_result_write_text(last, write_to, stdout);
  FILE *file = fopen(path, "w");
  if (!file) {
    perror(path);
    return 1;
  }
  kmb_status status = kmb_results_write_json(r->results, write_to, file);
  if (fclose(file) || status) return 1;
  printf("%s holds all of it\n", path);
  return 0;
}

/* The GPUs of a host are shared out by rank among those of the same host; one
 * rank a GPU. */
static int failed(const member *r, const char *what) {
  fprintf(stderr, "rank %d: %s: %s\n", r->rank, what,
          kmb_last_error(NULL, NULL));
  return 1;
}

static int run(member *r, int device, const char *path) {
  const char *why = NULL;
  char name[32];
  snprintf(name, sizeof name, "cuda:%d", device);
  kmb_status status = kmb_device_open(name, NULL, &r->device);
  r->nccl = status ? NULL : nccl_open(&why);
  /* All ranks measure, or none. */
  int32_t able = r->nccl != NULL, others[MOST_DEVICES];
  if (kmb_comm_allgather(r->comm, &able, others, sizeof able))
    return failed(r, "meeting");
  for (int i = 0; i < r->size; i++)
    able = able && others[i];
  if (!able) {
    if (status) why = kmb_last_error(NULL, NULL);
    if (why) printf("Rank %d has nothing to measure with: %s.\n", r->rank, why);
    return SKIPPED;
  }
  if (nccl_join(r->nccl, r->comm, device)) return failed(r, "NCCL");
  if (kmb_results_create(NULL, &r->results)) return failed(r, "results");
  return all_sizes(r) ? 1 : report(r, path);
}

static void end(member *r) {
  if (r->nccl) nccl_close(r->nccl);
  kmb_results_destroy(r->results);
  kmb_device_close(r->device);
  kmb_comm_destroy(r->comm);
}

static kmb_comm_params params(void) {
  kmb_comm_params p = kmb_comm_params_init();
  const char *multicast = getenv("NCCL_NVLS_ENABLE");
  p.collective = "NCCL";
  p.multicast = multicast && strcmp(multicast, "0") == 0
                    ? KMB_MULTICAST_OFF
                    : KMB_MULTICAST_UNDECLARED;
  return p;
}

#ifdef WITH_MPI

static const char usage[] =
    "usage: mpiexec -n N mpi_allreduce [RESULT.json]\n"
    "A rank a GPU; RESULT.json is mpi_allreduce.json unless given.\n";

int main(int argc, char **argv) {
  int asked = usage_asked(argc, argv, 1, usage);
  if (asked >= 0) return asked;
  member r = {NULL, NULL, NULL, NULL, 0, 0};
  int local = 0;
  MPI_Comm host;
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &r.size);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, r.rank,
                      MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &local);
  kmb_comm_params p = params();
  kmb_status status = kmb_mpi_comm_create(MPI_COMM_WORLD, &p, &r.comm);
  if (status || r.size > MOST_DEVICES) {
    fprintf(stderr, "rank %d: no communicator (%s)\n", r.rank,
            kmb_status_name(status));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  int code = run(&r, local, argc > 1 ? argv[1] : "mpi_allreduce.json");
  /* After a rank was missed nobody may wait for it any more. */
  if (code && code != SKIPPED) MPI_Abort(MPI_COMM_WORLD, code);
  end(&r);
  MPI_Comm_free(&host);
  MPI_Finalize();
  return code;
}

#else

static int one_rank(const char *name, int index, int size, const char *path) {
  member r = {NULL, NULL, NULL, NULL, index, size};
  kmb_comm_params p = params();
  if (kmb_comm_shm_create(name, index, size, &p, &r.comm))
    return failed(&r, "no communicator");
  int code = run(&r, index, path);
  end(&r);
  return code;
}

/* Nothing of CUDA is used before: a process that was forked after could not. */
static const char usage[] =
    "usage: allreduce [RANKS [RESULT.json]]\n"
    "RANKS is 2 unless given; RESULT.json is allreduce.json.\n";

int main(int argc, char **argv) {
  int asked = usage_asked(argc, argv, 2, usage);
  if (asked >= 0) return asked;
  long ranks = 2;
  if (argc > 1 && (!usage_number(argv[1], MOST_DEVICES, &ranks) || ranks < 2))
    return usage_error(usage,
                       "RANKS is \"%s\", not a whole number from 2 to %d",
                       argv[1], MOST_DEVICES);
  int size = (int)ranks;
  const char *path = argc > 2 ? argv[2] : "allreduce.json";
  char name[64];
  int code = 0;
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  snprintf(name, sizeof name, "/allreduce-%ld", (long)getpid());
  for (int i = 0; i < size; i++) {
    pid_t child = fork();
    if (child < 0) return 1;
    if (!child) exit(one_rank(name, i, size, path));
  }
  for (int i = 0; i < size; i++) {
    int status = 0;
    if (wait(&status) < 0) return 1;
    int its = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    if (its && (!code || code == SKIPPED)) code = its;
  }
  return code;
}

#endif
