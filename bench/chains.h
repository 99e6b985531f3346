/* Functions of known length for the comparison with another harness. */
#ifndef KMB_BENCH_CHAINS_H
#define KMB_BENCH_CHAINS_H

#include <kmb/bench.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct chain {
  const char *name;
  kmb_launch_fn launch;
  void *user; /* its state: each call goes on where the last one stopped */
} chain;

enum { CHAINS = 5 }; /* the first is empty */
extern const chain chains[CHAINS];

#ifdef __cplusplus
}
#endif

#endif
