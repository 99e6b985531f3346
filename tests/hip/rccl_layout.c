/* Our declarations of RCCL's interface beside its own header. Everything is
 * checked when this file is compiled; where there is no header, it says so. */
#define __HIP_PLATFORM_AMD__
#if !defined __has_include || !__has_include(<rccl/rccl.h>) || \
    !__has_include(<hip/hip_runtime.h>)

#include <stdio.h>

int main(void) {
  puts("SKIPPED: RCCL's header was not found, so that our declarations are not "
       "compared with it");
  return 77;
}

#else

#include <rccl/rccl.h>

#include <rccl_api.h>

#define EQUAL(a, b) _Static_assert((long long)(a) == (long long)(b), #b)

EQUAL(KMBI_RCCL_SUCCESS, ncclSuccess);
EQUAL(KMBI_RCCL_IN_PROGRESS, ncclInProgress);
EQUAL(KMBI_RCCL_FLOAT, ncclFloat);
EQUAL(KMBI_RCCL_SUM, ncclSum);
EQUAL(sizeof(kmbi_rccl_id), sizeof(ncclUniqueId));
EQUAL(sizeof(kmbi_rccl_result), sizeof(ncclResult_t));
EQUAL(KMBI_RCCL_UNDEFINED, NCCL_CONFIG_UNDEF_INT);
/* What we know of the configuration is a beginning of it. */
#define MEMBER(ours, theirs) \
  EQUAL(offsetof(kmbi_rccl_config, ours), offsetof(ncclConfig_t, theirs))
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
  _Static_assert(sizeof(((kmbi_rccl_api *)0)->name) == sizeof(&(name)), #name)
SAME(ncclGetVersion);
SAME(ncclGetUniqueId);
SAME(ncclCommInitRankConfig);
SAME(ncclCommGetAsyncError);
SAME(ncclCommCount);
SAME(ncclCommAbort);
SAME(ncclAllReduce);

int main(void) {
  const ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  return config.magic == KMBI_RCCL_MAGIC ? 0 : 1;
}

#endif
