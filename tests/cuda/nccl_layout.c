/* Our declarations of NCCL's interface beside its own header. Everything is
 * checked when this file is compiled; where there is no header, it says so. */
#if !defined __has_include || !__has_include(<nccl.h>) || \
    !__has_include(<cuda_runtime.h>)

#include <stdio.h>

int main(void) {
  puts("SKIPPED: NCCL's header was not found, so that our declarations are not "
       "compared with it");
  return 77;
}

#else

#include <nccl.h>

#include <nccl_api.h>

#define EQUAL(a, b) _Static_assert((long long)(a) == (long long)(b), #b)

EQUAL(KMBI_NCCL_SUCCESS, ncclSuccess);
EQUAL(KMBI_NCCL_IN_PROGRESS, ncclInProgress);
EQUAL(KMBI_NCCL_FLOAT, ncclFloat);
EQUAL(KMBI_NCCL_SUM, ncclSum);
EQUAL(sizeof(kmbi_nccl_id), sizeof(ncclUniqueId));
EQUAL(sizeof(kmbi_nccl_result), sizeof(ncclResult_t));
EQUAL(KMBI_NCCL_UNDEFINED, NCCL_CONFIG_UNDEF_INT);
/* What we know of the configuration is a beginning of it. */
#define MEMBER(ours, theirs) \
  EQUAL(offsetof(kmbi_nccl_config, ours), offsetof(ncclConfig_t, theirs))
MEMBER(size, size);
MEMBER(magic, magic);
MEMBER(version, version);
MEMBER(blocking, blocking);
MEMBER(cga_cluster_size, cgaClusterSize);
MEMBER(min_ctas, minCTAs);
MEMBER(max_ctas, maxCTAs);
MEMBER(net_name, netName);
MEMBER(split_share, splitShare);
#if NCCL_VERSION_CODE >= 22700
MEMBER(traffic_class, trafficClass);
#endif
#define SAME(name) \
  _Static_assert(sizeof(((kmbi_nccl_api *)0)->name) == sizeof(&(name)), #name)
SAME(ncclGetVersion);
SAME(ncclGetUniqueId);
SAME(ncclCommInitRankConfig);
SAME(ncclCommGetAsyncError);
SAME(ncclCommCount);
SAME(ncclCommAbort);
SAME(ncclAllReduce);

int main(void) {
  const ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  return config.magic == KMBI_NCCL_MAGIC ? 0 : 1;
}

#endif
