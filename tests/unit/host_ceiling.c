/* Ceilings: the kernels do what they say, and the figures are whole. */
#include "host_fixture.h"
#include "kernels.h"

#include <stdbool.h>

enum { LLC = 64 << 10, BYTES = 2 * KMBI_HOST_GRAIN };

static fixture f;

/* Calls `check` for each kernel of a kind that runs here. */
static int each_kernel(kmb_ceiling_kind kind,
                       void (*check)(const kmbi_host_kernel *kernel)) {
  int count = 0;
  for (int table = 0; table < 2; table++) {
    size_t size = 0;
    const kmbi_host_kernel *k = table ? kmbi_host_kernels_x86(&size)
                                      : kmbi_host_kernels_portable(&size);
    for (size_t i = 0; i < size; i++) {
      if (k[i].kind != kind || k[i].isa > kmbi_host_isa_best()) continue;
      REQUIRE(k[i].name && *k[i].name);
      REQUIRE(!k[i].stream != !k[i].fma);
      check(&k[i]);
      count++;
    }
  }
  return count;
}

static _Alignas(64) unsigned char a[BYTES + 64];
static _Alignas(64) unsigned char b[BYTES + 64];
static _Alignas(64) unsigned char c[BYTES + 64];

static void check_read(const kmbi_host_kernel *kernel) {
  uint64_t one = 1;
  memset(b, 0, sizeof b);
  REQUIRE_EQ(kernel->stream(a, b, c, BYTES), 0);
  for (size_t at = 0; at < BYTES; at += 64) {
    memcpy(b + at, &one, sizeof one);
    REQUIRE_EQ(kernel->stream(a, b, c, BYTES), 1);
    memset(b + at, 0, sizeof one);
  }
  memcpy(b + BYTES, &one, sizeof one);
  REQUIRE_EQ(kernel->stream(a, b, c, BYTES), 0);
}

static void check_copy(const kmbi_host_kernel *kernel) {
  for (size_t i = 0; i < sizeof b; i++)
    b[i] = (unsigned char)(i * 7 + 1);
  memset(a, 0, sizeof a);
  REQUIRE_EQ(kernel->stream(a, b, b, BYTES), 0);
  REQUIRE(!memcmp(a, b, BYTES));
  for (size_t i = BYTES; i < sizeof a; i++)
    REQUIRE_EQ(a[i], 0);
}

static void check_triad(const kmbi_host_kernel *kernel) {
  double *x = (double *)(void *)b;
  double *y = (double *)(void *)c;
  const double *to = (const double *)(const void *)a;
  for (size_t i = 0; i < sizeof b / 8; i++) {
    x[i] = (double)i;
    y[i] = (double)(i * i);
  }
  memset(a, 0, sizeof a);
  REQUIRE_EQ(kernel->stream(a, b, c, BYTES), 0);
  for (size_t i = 0; i < BYTES / 8; i++)
    REQUIRE_NEAR(to[i], x[i] + 0.5 * y[i], 0);
  REQUIRE_NEAR(to[BYTES / 8], 0, 0);
}

/* Each accumulator settles at 1 / (1 - 0.5): their number shows. */
static void check_fma(const kmbi_host_kernel *kernel) {
  double accumulators = kernel->fma(1000) / 2;
  double bytes = strstr(kernel->name, "avx512") ? 64
                 : strstr(kernel->name, "avx2") ? 32
                                                : 16;
  double lanes = bytes / (kernel->dtype == KMB_F32 ? 4 : 8);
  const char *comma = strchr(kernel->name, ',');
  REQUIRE(comma);
  REQUIRE_NEAR(accumulators, strtod(comma + 1, NULL), 0);
  REQUIRE_NEAR(kernel->flops, 4 * 2 * accumulators * lanes, 0);
}

static void kernels_do_what_they_say(void) {
  REQUIRE(each_kernel(KMB_CEILING_READ, check_read) >= 2);
  REQUIRE(each_kernel(KMB_CEILING_COPY, check_copy) >= 2);
  REQUIRE(each_kernel(KMB_CEILING_TRIAD, check_triad) >= 1);
  REQUIRE(each_kernel(KMB_CEILING_FMA, check_fma) >= 4);
}

static void isa_is_named(void) {
  REQUIRE_STR(kmbi_host_isa_name(KMBI_HOST_ISA_BASE), "baseline");
  REQUIRE_STR(kmbi_host_isa_name(KMBI_HOST_ISA_AVX2), "avx2+fma");
  REQUIRE_STR(kmbi_host_isa_name(KMBI_HOST_ISA_AVX512), "avx512f");
}

static void isa_is_the_compilers(void) {
  kmbi_host_isa best = KMBI_HOST_ISA_BASE;
#if defined(__x86_64__) || defined(__i386__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    best = KMBI_HOST_ISA_AVX2;
  if (__builtin_cpu_supports("avx512f")) best = KMBI_HOST_ISA_AVX512;
#endif
  REQUIRE_EQ(kmbi_host_isa_best(), best);
}

static bool in_table(const char *name, kmb_ceiling_kind kind) {
  for (int table = 0; table < 2; table++) {
    size_t size = 0;
    const kmbi_host_kernel *k = table ? kmbi_host_kernels_x86(&size)
                                      : kmbi_host_kernels_portable(&size);
    for (size_t i = 0; i < size; i++)
      if (k[i].name == name && k[i].kind == kind) return true;
  }
  return false;
}

static void one_ceiling(kmb_ceiling_kind kind, kmb_dtype dtype,
                        uint32_t threads) {
  kmb_ceiling ceiling = kmb_ceiling_init();
  uint64_t all = 0;
  REQUIRE_EQ(f.ops->ceiling(f.self, kind, dtype, threads, &ceiling), KMB_OK);
  REQUIRE_EQ(f.ops->attr_u64(f.self, KMB_DEVICE_THREADS, &all), KMB_OK);
  REQUIRE(ceiling.value > 1e6 && ceiling.value < 1e15);
  REQUIRE(ceiling.low > 0 && ceiling.low <= ceiling.high);
  REQUIRE_NEAR(ceiling.value, ceiling.high, 0);
  REQUIRE(in_table(ceiling.variant, kind));
  REQUIRE_EQ(ceiling.kind, kind);
  REQUIRE_EQ(ceiling.dtype, kind == KMB_CEILING_FMA ? dtype : 0);
  REQUIRE_EQ(ceiling.threads, threads ? threads : all);
  REQUIRE_EQ(ceiling.source, KMB_SOURCE_MEASURED);
  REQUIRE_EQ(ceiling.struct_size, sizeof ceiling);
  if (kind == KMB_CEILING_FMA)
    REQUIRE_EQ(ceiling.bytes, 0);
  else
    REQUIRE(ceiling.bytes >= 2ULL * LLC);
}

static void every_kind_is_measured(void) {
  for (uint32_t threads = 0; threads <= 1; threads++) {
    one_ceiling(KMB_CEILING_READ, KMB_F32, threads);
    one_ceiling(KMB_CEILING_COPY, 0, threads);
    one_ceiling(KMB_CEILING_TRIAD, KMB_BF16, threads);
  }
  one_ceiling(KMB_CEILING_FMA, KMB_F32, 0);
  one_ceiling(KMB_CEILING_FMA, KMB_F64, 1);
}

static void bad_ceilings_are_named(void) {
  kmb_ceiling ceiling = kmb_ceiling_init();
#define NO_CEILING(kind, dtype, threads, status, text)                        \
  do {                                                                        \
    REQUIRE_FAILS(&f, f.ops->ceiling(f.self, kind, dtype, threads, &ceiling), \
                  status, text);                                              \
    REQUIRE(ceiling.value == 0 && !ceiling.variant);                          \
  } while (0)
  NO_CEILING(0, 0, 0, KMB_ERR_INVALID, "number 0");
  NO_CEILING(99, 0, 0, KMB_ERR_INVALID, "number 99");
  NO_CEILING(KMB_CEILING_MATRIX, KMB_F32, 0, KMB_ERR_UNSUPPORTED, "matrix");
  NO_CEILING(KMB_CEILING_MEMORY, 0, 0, KMB_ERR_UNSUPPORTED, "interface");
  NO_CEILING(KMB_CEILING_FMA, KMB_BF16, 0, KMB_ERR_UNSUPPORTED, "bf16");
  NO_CEILING(KMB_CEILING_READ, 0, UINT32_MAX, KMB_ERR_INVALID, "4294967295");
  f.cancel_after = 2;
  NO_CEILING(KMB_CEILING_READ, 0, 1, KMB_ERR_CANCELLED, "cancelled");
  f.cancel_after = -1;
}

static void working_set_must_fit(void) {
  static const uint64_t sizes[] = {1ULL << 50, UINT64_MAX / 2, UINT64_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    fixture big;
    kmb_ceiling ceiling = kmb_ceiling_init();
    fixture_init(&big);
    REQUIRE_EQ(fixture_open(&big, sizes[i], 0, 0), KMB_OK);
    for (kmb_ceiling_kind kind = KMB_CEILING_READ; kind <= KMB_CEILING_TRIAD;
         kind++)
      REQUIRE_FAILS(&big, big.ops->ceiling(big.self, kind, 0, 1, &ceiling),
                    KMB_ERR_NOMEM, "free memory");
    fixture_close(&big);
  }
}

static void failing_allocations_are_clean(void) {
  for (long k = 1;; k++) {
    kmb_ceiling ceiling = kmb_ceiling_init();
    fixture_init(&f);
    fixture_hook_device_memory(&f);
    REQUIRE_EQ(fixture_open(&f, 4096, 1, 0), KMB_OK);
    f.memory.fail_at = f.memory.calls + k;
    kmb_status status =
        f.ops->ceiling(f.self, KMB_CEILING_READ, 0, 1, &ceiling);
    bool reached = f.memory.calls >= f.memory.fail_at;
    f.memory.fail_at = 0;
    REQUIRE_EQ(status, reached ? KMB_ERR_NOMEM : KMB_OK);
    if (reached) REQUIRE_EQ(f.last, KMB_ERR_NOMEM);
    REQUIRE_EQ(f.device.blocks_out, 0);
    f.device.fail_at = f.device.calls + 1;
    REQUIRE_EQ(f.ops->ceiling(f.self, KMB_CEILING_READ, 0, 1, &ceiling),
               KMB_ERR_NOMEM);
    REQUIRE_EQ(f.ops->ceiling(f.self, KMB_CEILING_READ, 0, 1, &ceiling),
               KMB_OK);
    fixture_close(&f);
    if (!reached) return;
  }
}

int main(void) {
  fixture_init(&f);
  REQUIRE_EQ(fixture_open(&f, LLC, 0, 0), KMB_OK);
  RUN(kernels_do_what_they_say);
  RUN(isa_is_named);
  RUN(isa_is_the_compilers);
  RUN(every_kind_is_measured);
  RUN(bad_ceilings_are_named);
  RUN(working_set_must_fit);
  fixture_close(&f);
  RUN(failing_allocations_are_clean);
  return 0;
}
