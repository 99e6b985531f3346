/* Whether a barrier's own measure of how far apart it releases two GPUs is
 * right: the library's barrier, held against the GPUs' clocks. These drift
 * apart by microseconds a second, so that their distance is found anew before
 * and after each trial, by words that go back and forth. Rank 1 is also held up
 * on purpose.
 *
 * usage: release_skew [OUTPUT.json [TRIALS]]        (400; two GPUs)
 */
#include <cuda.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "../../backends/cuda/kernels.cu"

#define CHECK(call)                                                     \
  do {                                                                  \
    int error_ = (int)(call);                                           \
    if (error_) {                                                       \
      fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, \
              error_);                                                  \
      exit(1);                                                          \
    }                                                                   \
  } while (0)

enum { ROUNDS = 200, BARRIER = 0, STAMPS = 512, CLOCKS = 1024, BYTES = 65536 };

__device__ static void put(u64 to, u64 value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;"
               :
               : "l"(to), "l"(value)
               : "memory");
}

__device__ static u64 get(u64 from) {
  u64 value;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];"
               : "=l"(value)
               : "l"(from)
               : "memory");
  return value;
}

/* Rank 0 writes a number, rank 1 notes its time and answers with both. Each
 * round leaves when rank 0 began and ended it, and rank 1's time. */
__global__ void compare_clocks(u64 mine, u64 theirs, u64 base, int rank,
                               u64 *out) {
  for (int i = 0; i < ROUNDS; i++) {
    u64 number = base + i + 1, begin = now_ns(), end, time;
    if (rank == 0) {
      put(theirs, number);
      while (get(mine) < number) {
      }
      end = now_ns();
      while (!(time = get(mine + 128))) {
      }
      put(mine + 128, 0);
      out[3 * i] = begin;
      out[3 * i + 1] = time;
      out[3 * i + 2] = end;
    } else {
      while (get(mine) < number) {
      }
      time = now_ns();
      put(theirs, number);
      put(theirs + 128, time);
    }
  }
}

__global__ void hold_up(u64 ns) {
  u64 start = now_ns();
  while (now_ns() - start < ns) {
  }
}

/* The library's barrier; stamps when it began. */
__global__ void stamped(const u64 *peers, u64 mine, u64 *out, u32 *bad,
                        u32 rank, u32 sequence) {
  u64 start = now_ns();
  __shared__ unsigned long long most;
  barrier(peers, mine, 1000000000, out, bad, rank, 2, sequence, start, &most);
  if (thread_index() == 0 && out) out[1] = start;
}

struct gpu {
  cudaStream_t stream;
  u64 words, *table, *page; /* in its memory; in the host's */
};

static gpu gpus[2];
static volatile u32 *gate;
static u32 sequence;
static u64 base;

template <typename F> static void on_both(F what) {
  for (int r = 0; r < 2; r++) {
    CHECK(cudaSetDevice(r));
    what(r, gpus[r]);
  }
}

static void wait_for_both() {
  on_both([](int, gpu &g) { CHECK(cudaStreamSynchronize(g.stream)); });
}

static double quantile(std::vector<double> v, double q) {
  std::sort(v.begin(), v.end());
  return v[std::min(v.size() - 1, (size_t)(q * v.size()))];
}

/* Rank 1's clock less rank 0's, ns. */
static double distance() {
  on_both([](int r, gpu &g) {
    compare_clocks<<<1, 1, 0, g.stream>>>(
        g.words + CLOCKS, gpus[1 - r].words + CLOCKS, base, r, g.page + CLOCKS);
    CHECK(cudaGetLastError());
  });
  wait_for_both();
  base += ROUNDS;
  std::vector<double> each;
  const u64 *t = gpus[0].page + CLOCKS;
  for (int i = ROUNDS / 10; i < ROUNDS; i++)
    each.push_back((double)(long long)(t[3 * i + 1] - t[3 * i]) -
                   (double)(t[3 * i + 2] - t[3 * i]) / 2);
  return quantile(each, 0.5);
}

static void align(bool timed) {
  ++sequence;
  on_both([=](int r, gpu &g) {
    u64 *out = timed ? g.page + STAMPS : NULL;
    stamped<<<1, 2, 0, g.stream>>>(g.table, g.words, out,
                                   (u32 *)(g.page + BARRIER), (u32)r, sequence);
    CHECK(cudaGetLastError());
  });
}

struct found {
  std::vector<double> told, clocks, off;
};

static void one_trial(int barriers, u64 late, found *f) {
  double before = distance();
  *gate = 0;
  on_both([](int, gpu &g) {
    void *word = NULL;
    CHECK(cudaHostGetDevicePointer(&word, (void *)gate, 0));
    CHECK(cuStreamWaitValue32((CUstream)g.stream, (CUdeviceptr)word, 1,
                              CU_STREAM_WAIT_VALUE_GEQ));
  });
  for (int i = 0; i < barriers; i++)
    align(false);
  CHECK(cudaSetDevice(1));
  if (late) hold_up<<<1, 1, 0, gpus[1].stream>>>(late);
  align(true);
  *gate = 1;
  wait_for_both();
  double told[2], began[2];
  for (int r = 0; r < 2; r++) {
    if (*(u32 *)(gpus[r].page + BARRIER)) {
      fprintf(stderr, "a rank did not come\n");
      exit(1);
    }
    told[r] = (double)gpus[r].page[STAMPS];
    began[r] = (double)(long long)(gpus[r].page[STAMPS + 1] -
                                   gpus[0].page[STAMPS + 1]);
  }
  double apart = (before + distance()) / 2;
  f->told.push_back(fabs(told[0] - told[1]));
  f->clocks.push_back(fabs(began[1] - apart));
  f->off.push_back(told[0] - told[1] - (began[1] - apart));
}

static void open_gpus() {
  CHECK(cudaSetDevice(0));
  CHECK(cudaHostAlloc((void **)&gate, 4096,
                      cudaHostAllocMapped | cudaHostAllocPortable));
  on_both([](int r, gpu &g) {
    CHECK(cudaDeviceEnablePeerAccess(1 - r, 0));
    CHECK(cudaStreamCreateWithFlags(&g.stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc((void **)&g.words, BYTES));
    CHECK(cudaMemset((void *)g.words, 0, BYTES));
    CHECK(cudaMalloc((void **)&g.table, 2 * sizeof(u64)));
    CHECK(cudaHostAlloc((void **)&g.page, BYTES,
                        cudaHostAllocMapped | cudaHostAllocPortable));
    CHECK(cudaDeviceSynchronize());
  });
  on_both([](int, gpu &g) {
    u64 words[2] = {gpus[0].words, gpus[1].words};
    CHECK(cudaMemcpy(g.table, words, sizeof words, cudaMemcpyHostToDevice));
  });
}

int main(int argc, char **argv) {
  static const struct {
    int barriers;
    u64 late;
  } cases[] = {{0, 0},   {1, 0},    {2, 0},    {3, 0},    {2, 200},
               {2, 500}, {2, 1000}, {2, 2000}, {2, 10000}};
  int count = 0, trials = argc > 2 ? atoi(argv[2]) : 400, driver = 0;
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  if (cudaGetDeviceCount(&count) || count < 2) {
    puts("two GPUs are needed");
    return 77;
  }
  open_gpus();
  FILE *json = argc > 1 ? fopen(argv[1], "w") : NULL;
  cudaDeviceProp about;
  CHECK(cudaGetDeviceProperties(&about, 0));
  CHECK(cuDriverGetVersion(&driver));
  char date[32];
  time_t now = time(NULL);
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  if (json)
    fprintf(json,
            "{\"device\": \"%s\", \"cuda_driver_api\": \"%d.%d\", \"date\": "
            "\"%s\",\n \"trials\": %d, \"cases\": [",
            about.name, driver / 1000, driver % 1000 / 10, date, trials);
  puts("barriers  held up | told p50   p99 | by clocks p50   p99 | told less "
       "clocks p1  p50  p99, ns");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    found f;
    for (int k = 0; k < trials + 20; k++) {
      if (k == 20) f = found();
      one_trial(cases[i].barriers, cases[i].late, &f);
    }
    double q[] = {quantile(f.told, 0.5),   quantile(f.told, 0.99),
                  quantile(f.clocks, 0.5), quantile(f.clocks, 0.99),
                  quantile(f.off, 0.01),   quantile(f.off, 0.5),
                  quantile(f.off, 0.99)};
    printf("%8d %8llu | %8.0f %5.0f | %13.0f %5.0f | %18.0f %4.0f %4.0f\n",
           cases[i].barriers, cases[i].late, q[0], q[1], q[2], q[3], q[4], q[5],
           q[6]);
    if (json)
      fprintf(json,
              "%s\n  {\"barriers\": %d, \"held_up_ns\": %llu, \"told_ns\": "
              "{\"p50\": %.0f, \"p99\": %.0f}, \"clocks_ns\": {\"p50\": %.0f, "
              "\"p99\": %.0f}, \"told_less_clocks_ns\": {\"p1\": %.0f, "
              "\"p50\": %.0f, \"p99\": %.0f}}",
              i ? "," : "", cases[i].barriers, cases[i].late, q[0], q[1], q[2],
              q[3], q[4], q[5], q[6]);
  }
  if (json && (fprintf(json, "\n ]}\n") < 0 || fclose(json))) return 1;
  return 0;
}
