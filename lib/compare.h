/* A comparison while it is made: candidates, each with a run of the engine of
 * its own, and what is kept of it. */
#ifndef KMB_LIB_COMPARE_H
#define KMB_LIB_COMPARE_H

#include "error.h"
#include "run.h"

#include <kmb/compare.h>

enum {
  KMBI_CANDIDATES_MAX = 64,
  KMBI_CONFIGS_MAX = 65536,
  KMBI_KNOBS_MAX = 64,
  KMBI_POINTS_MAX = 64,
  KMBI_TURN = 8,
  KMBI_TURN_MAX = 128
};

/* A finished comparison; texts live in the arena. */
struct kmb_comparison {
  kmbi_arena arena;
  kmbi_memory memory; /* that the comparison itself came from */
  const char *name;
  kmb_compare_row *rows;
  kmb_result **results;
  kmb_compare_arm **arms;
  double **ratios; /* NULL: none */
  uint64_t count;
  double threshold_pct;
  uint64_t turn, cycles, cycles_lost;
  kmbi_stop stop;
  uint32_t baseline;
};

typedef struct kmbi_candidate {
  kmb_candidate given;
  kmb_bench_params bench; /* with the configuration to measure */
  kmbi_run run;
  double *turns;    /* medians of the turns, dithered, uncorrected */
  uint64_t configs; /* 0: no knobs */
  double bias, bias_uncertainty;
  bool bias_known, begun, open;
} kmbi_candidate;

typedef struct kmbi_compare {
  kmb_device *device;
  kmb_compare_params p; /* complete */
  kmbi_candidate *candidates;
  uint64_t count;
  double alpha; /* of one interval */
  kmb_comparison *out;
  kmbi_error_state before; /* of the call */
} kmbi_compare;

/* Completes and checks what the caller gave; candidates are copied. */
kmb_status kmbi_compare_params(kmbi_compare *c, const kmb_candidate *candidates,
                               size_t stride, const kmb_compare_params *params);
/* Whether the caller says that candidates do the same: axes and work. */
kmb_status kmbi_compare_declared(const kmbi_compare *c);
/* Prepares all of them and makes them agree on a way to measure. */
kmb_status kmbi_compare_prepare(kmbi_compare *c);
/* Measures the candidate's configurations and keeps the fastest. */
kmb_status kmbi_compare_tune(kmbi_compare *c, uint64_t index);
/* Takes turns until the intervals are narrow enough; finishes the results. */
kmb_status kmbi_compare_measure(kmbi_compare *c);
/* The interval of a candidate's ratio, from the turns taken so far. True if it
 * is known; `*left_open` is the part of its half-width, of the ratio's
 * logarithm, that more cycles do not narrow. */
bool kmbi_compare_interval(const kmbi_compare *c, uint64_t index,
                           kmbi_paired *paired, double *left_open);
/* By the interval of the ratio alone; `threshold` is a share. */
kmb_verdict kmbi_verdict_of(double low, double high, double threshold);
/* A row as far as it needs no verdict: name, configuration, ratios. */
kmb_status kmbi_compare_row(kmbi_compare *c, uint64_t index);

/* A failure of one candidate says which; what a callback returned comes back
 * unchanged. */
kmb_status kmbi_compare_failed(const kmbi_compare *c, uint64_t index,
                               kmb_status status);
/* "block=128, stages=3" in the arena. */
const char *kmbi_config_text(kmbi_arena *arena, const kmb_candidate *candidate,
                             uint32_t config);

kmb_status kmbi_comparison_create(const kmbi_memory *memory, uint64_t count,
                                  kmb_comparison **comparison);

#endif
