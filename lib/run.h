/* One run of the engine: what its steps share. The steps stand in bench.c in
 * the order in which they run; each has a file of its own. */
#ifndef KMB_LIB_RUN_H
#define KMB_LIB_RUN_H

#include "buffers.h"
#include "device.h"
#include "ops.h"
#include "ranks.h"
#include "result.h"
#include "stats.h"
#include "telemetry.h"

#include <kmb/bench.h>

typedef enum kmbi_stage {
  KMBI_PREPARE,
  KMBI_CHECK,
  KMBI_WARM_UP,
  KMBI_CALIBRATE,
  KMBI_MEASURE,
  KMBI_RECHECK,
  KMBI_CONFIRM,
  KMBI_SUMMARISE,
  KMBI_DONE
} kmbi_stage;

typedef enum kmbi_stop {
  KMBI_STOP_NONE, /* samples given by the caller */
  KMBI_STOP_CONVERGED,
  KMBI_STOP_RESOLUTION,
  KMBI_STOP_WALL,
  KMBI_STOP_MAX_SAMPLES,
  KMBI_STOP_CANCELLED
} kmbi_stop;

/* Why prebuilt graphs are not timed by GRAPH. */
#define KMBI_GRAPH_REFUSED \
  "it needs n iterations in one graph, and a prebuilt one holds a single one"

enum {
  KMBI_CHOICES = 8,
  KMBI_BLOCK = 256,
  KMBI_COLUMNS = 4,
  KMBI_PASSED_OVER_SIZE = 448
};

/* Telemetry that findings are made from. */
typedef struct kmbi_watch {
  double clock_mhz, preemptions, steal_ms; /* < 0: not known */
  uint32_t throttle;                       /* KMB_THROTTLE_… */
  bool throttle_known;
} kmbi_watch;

/* What one round measured; times are per iteration. */
typedef struct kmbi_round {
  double *samples; /* kept ones, in order */
  size_t count;
  kmbi_interval interval; /* if has_interval */
  double wall_ns;
  uint64_t dropped, invalid, missing, spoiled, overlapping, iterations, batch;
  double busy_ns, sum_ns, gaps_ns; /* medians; TRACE */
  uint64_t ops;
  kmbi_stop stop;
  bool has_interval;
  kmbi_op_rows rows;      /* TRACE */
  kmbi_rank_stats *ranks; /* one a rank; NULL: one rank alone */
  kmbi_outliers outliers; /* of several ranks */
  kmbi_watch before, after;
} kmbi_round;

/* Whose clock samples were taken by that the caller drove. */
typedef struct kmbi_given {
  kmb_timer timer;    /* EVENT or HOST; AUTO: the caller's own */
  const char *reason; /* why not another one; NULL: asked for, or the best */
  uint64_t invalid;   /* samples that were left out */
} kmbi_given;

typedef struct kmbi_run {
  kmb_device *device;
  kmb_bench_params p;           /* complete: no default is left at 0 */
  kmb_work work;                /* copy, if has_work */
  kmb_metadata_params metadata; /* copy, if p.metadata */
  kmb_result *result;
  double entered_ns;
  const char *stage_name;

  /* Prepare. */
  void *stream;
  bool stream_open;
  kmb_choice choices[KMBI_CHOICES];
  uint32_t choice_count;
  uint32_t choice_index;
  kmb_choice choice;      /* the one in use */
  char passed_over[256];  /* why better ones are not */
  char not_proposed[160]; /* what was asked for, if the backend lacks it */
  uint32_t slots;
  uint32_t slots_set_up;    /* by the setup hook */
  uint32_t allocated_round; /* that the slots were allocated in */
  uint64_t llc_bytes;       /* 0: not needed or not known */
  uint64_t sweep_bytes, reuse_bytes, wanted_slots;
  kmb_buffers_info buffers;
  kmb_span *warm; /* slots × warm_count */
  uint64_t warm_count;
  bool not_cold, scanned;

  /* Ceilings, if there is work. */
  kmb_ceiling memory, compute;
  bool has_work, has_memory, has_compute;
  kmb_bound predicted;
  const kmb_part *part; /* of the device; NULL: unknown */
  char no_part[256];    /* why, if it was looked for */
  kmb_reference reference;
  bool has_reference;

  /* Warm up and calibrate. */
  double estimate_ns; /* of one iteration; 0 until known */
  double tick_ns;     /* of the clock; 0: not known */
  double overhead_ns; /* of a null callback; < 0: not measured */
  uint64_t batch;
  uint64_t warmup_iterations;
  uint64_t device_ops; /* of one launch, once warm; 0: not known */
  bool chosen_again;   /* knowing device_ops */
  uint32_t next_slot;  /* where the next plan begins */

  /* Measure. */
  void *plan;
  kmb_sample *block; /* block_size records */
  kmbi_round *rounds;
  uint32_t round;
  double *scratch; /* 2 × scratch_size */
  size_t scratch_size;
  /* The round that is being taken: samples per iteration, and after them in the
   * same allocation their busy time, their sum and when they ended. */
  double *samples;
  size_t sample_count, sample_capacity;
  size_t sample_first;       /* of those that are kept */
  size_t places[KMBI_BLOCK]; /* of the block's samples; SIZE_MAX: none */
  kmbi_ops ops;
  kmbi_track track; /* telemetry of all rounds, while they were measured */

  /* Check. */
  double check_error; /* < 0: the callback gave none */
  const char *check_text;
  char check_skipped[160]; /* why it was, "" if it was not */

  bool has_launch; /* the result says how its longest kernel was launched */

  kmbi_given given; /* of samples that were not taken by the engine */

  kmbi_ranks ranks;

} kmbi_run;

/* Steps: each does its work and names the step that follows. */
kmb_status kmbi_prepare(kmbi_run *run, kmbi_stage *next);
kmb_status kmbi_check(kmbi_run *run, kmbi_stage *next);
kmb_status kmbi_warm_up(kmbi_run *run, kmbi_stage *next);
kmb_status kmbi_calibrate(kmbi_run *run, kmbi_stage *next);
kmb_status kmbi_measure(kmbi_run *run, kmbi_stage *next);
kmb_status kmbi_recheck(kmbi_run *run, kmbi_stage *next);
kmb_status kmbi_confirm(kmbi_run *run, kmbi_stage *next);
kmb_status kmbi_summarise_run(kmbi_run *run, kmbi_stage *next);

/* Parts of measure, for samples that are taken in turns with other runs':
 * opens the plan; takes up to `want` (at most KMBI_BLOCK) samples more; puts
 * the round together. Telemetry after it is the caller's to read. */
kmb_status kmbi_measure_open(kmbi_run *run);
kmb_status kmbi_measure_take(kmbi_run *run, uint64_t want, double until_ns,
                             uint64_t *got);
kmb_status kmbi_measure_close(kmbi_run *run);

/* A run on a device that the caller holds. `begin` completes the parameters and
 * takes memory; `steps` goes from a step up to another one, which is not run;
 * kmbi_run_release() gives everything back, after failures too. */
kmb_status kmbi_run_begin(kmbi_run *run, kmb_device *device,
                          const kmb_bench_params *params);
kmb_status kmbi_run_steps(kmbi_run *run, kmbi_stage from, kmbi_stage until);
/* kmb_bench() on a device that the caller holds. */
kmb_status kmbi_bench(kmb_device *device, const kmb_bench_params *params,
                      kmb_result **result);

/* Shared by steps. */
/* The run's launches, all but batch and choice. */
void kmbi_plan_describe(kmbi_run *run, kmb_launch_fn launch,
                        kmb_plan_desc *desc);
kmb_status kmbi_plan_open(kmbi_run *run, const kmb_choice *choice,
                          uint64_t batch, kmb_launch_fn launch, void **plan);
/* Takes up to `count` (at most KMBI_BLOCK) samples into run->block. */
kmb_status kmbi_plan_take(kmbi_run *run, void *plan, uint64_t batch,
                          uint64_t count, double until_ns, uint64_t *got);
void kmbi_plan_close(kmbi_run *run, void *plan);
/* Raises what the backend knows against the plan's samples. */
void kmbi_plan_findings(kmbi_run *run, void *plan);
/* Time of an iteration of a sample of `batch` iterations; false if the sample
 * cannot be used. */
bool kmbi_sample_ns(const kmbi_run *run, const kmb_sample *sample,
                    kmb_timer timer, uint64_t batch, double *ns);
/* Bias of a way to measure, for one iteration; a failure says why it is not
 * known. */
kmb_status kmbi_bias(kmbi_run *run, const kmb_choice *choice, uint64_t batch,
                     double *ns, double *uncertainty);
/* The fewest iterations of a replay, whole rings of slots. */
uint64_t kmbi_replay_batch(const kmbi_run *run);
void kmbi_progress(kmbi_run *run, uint64_t samples, double median_ns);
bool kmbi_grow_scratch(kmbi_run *run, size_t samples);
/* Reads telemetry at the beginning or the end of a round. */
void kmbi_watch_read(kmbi_run *run, bool after, kmbi_watch *watch);
/* And while measuring, if enough time has passed. */
void kmbi_track_take(kmbi_run *run);
/* Device operations: begins a round, takes those of the last `got` samples,
 * ends the round; and what the result gets of it. */
kmb_status kmbi_ops_begin(kmbi_run *run);
kmb_status kmbi_ops_take(kmbi_run *run, uint64_t got);
kmb_status kmbi_ops_finish(kmbi_run *run, kmbi_round *round);
void kmbi_set_ops(kmbi_run *run, const kmbi_round *round);
/* How its longest kernel was launched, unless counters said that. */
void kmbi_set_launch_of_ops(kmbi_run *run);
/* One plain launch of a slot, to its end. */
kmb_status kmbi_launch_once(kmbi_run *run, uint32_t slot);
/* The launch callback of prebuilt graphs; `user` is the run. */
kmb_status kmbi_launch_graph(void *user, const kmb_launch *launch);
/* Asks the backend how to measure (prepare), and again once the number of
 * device operations is known. */
kmb_status kmbi_choose(kmbi_run *run);
/* Whether a way has the timer and the launch mode that were asked for. */
bool kmbi_is_asked(const kmb_bench_params *p, const kmb_choice *choice);
/* Why the choice in use is not a better one or the one asked for; "" if it is.
 * Returns `text`. */
const char *kmbi_passed_over(const kmbi_run *run,
                             char text[KMBI_PASSED_OVER_SIZE]);
/* Which ceilings the work needs; measures or copies them (prepare). */
kmb_status kmbi_take_ceilings(kmbi_run *run);
/* A choice failed for a reason that another may not share: go on with the next
 * one, or fail as the first did if there is none. */
bool kmbi_is_local(kmb_status status); /* such a reason */
/* What the machine cannot tell, while the measurement stands. */
bool kmbi_is_reason(kmb_status status);
kmb_status kmbi_next_choice(kmbi_run *run, kmb_status status, kmbi_stage *next);
void kmbi_run_release(kmbi_run *run);

/* Time the same slot again: how much faster is warm? */
kmb_status kmbi_prove_cold(kmbi_run *run);
/* The counters that were asked for, and what they prove (bench_counters.c). */
kmb_status kmbi_take_counters(kmbi_run *run);
/* What they come to over the time. */
void kmbi_set_dram_rate(kmbi_run *run, double time_ns);
/* What DRAM gave, against what the inputs hold (bench_proof.c). */
void kmbi_prove_by_counters(kmbi_run *run, double dram_read);
/* Parts of summarise. `time_ns` is the headline, `round` the one it is of. */
void kmbi_raise_findings(kmbi_run *run, const kmbi_round *round,
                         double time_ns);
void kmbi_set_roofline(kmbi_run *run, const kmbi_round *round, double time_ns);
/* Memory workload and occupancy, by counters (reading_counters.c). */
void kmbi_set_reading_counters(kmbi_run *run);
/* What counters say of a bound that was not reached; false: nothing. */
bool kmbi_counters_cause(const kmbi_run *run, char *text, size_t size);
/* "latency-bound" or "too small a grid", by counters; NULL: neither, or not
 * known. */
const char *kmbi_counters_verdict(const kmbi_run *run);
/* What is predicted, in words and numbers, before anything is measured. */
void kmbi_set_prediction(kmbi_run *run, const kmb_roofline *roofline);

/* kmb_result_from_samples() for a caller that holds the device. */
kmb_status kmbi_from_samples(kmb_device *device, const kmb_bench_params *params,
                             const kmbi_given *given, const double *ns,
                             uint64_t count, double tick_ns, kmb_result **out);
/* Timer of samples that were given, and what is to be said of it. */
void kmbi_set_given(kmbi_run *run);

/* Names for results and messages. */
const char *kmbi_timer_name(kmb_timer timer);
const char *kmbi_launch_mode_name(kmb_launch_mode mode);
const char *kmbi_cache_name(kmb_cache_state cache);
const char *kmbi_stop_name(kmbi_stop stop);
const char *kmbi_bound_name(kmb_bound bound);
const char *kmbi_ceiling_name(kmb_ceiling_kind kind);
const char *kmbi_source_name(kmb_ceiling_source source);
const char *kmbi_fill_name(kmb_buffer_fill fill, kmb_buffer_role role);

/* Completes and checks the parameters of a call. */
kmb_status kmbi_bench_params(const kmb_bench_params *caller, bool launches,
                             kmbi_run *run);

#endif
