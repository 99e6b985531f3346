/* What hardware counters add to the reading: the memory workload, occupancy,
 * and which of the causes that a time cannot tell apart they speak for. */
#include "format.h"
#include "run.h"

#include <math.h>
#include <stdio.h>

/* Nsight Compute's own borders, for its own percentages. */
#define NCU_HIGH 80.0
#define NCU_LOW 60.0
#define NCU_BALANCED 10.0
/* Traffic that is more than rounding to lines and what a launch reads. */
#define EXCESS 1.2
/* Points between theoretical and achieved occupancy. */
#define WIDE_GAP 20.0

enum { TEXT = 320 };

static bool get(const kmbi_run *run, kmb_value value, double *number) {
  return kmbi_result_get_f64(run->result, value, number);
}

static void add(char *text, size_t size, const char *before,
                const kmbi_run *run, kmb_value value) {
  char percent[KMBI_PERCENT_SIZE];
  size_t used = strlen(text);
  double number = 0;
  if (!get(run, value, &number)) return;
  kmbi_percent_string(percent, number, 3);
  snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", before,
           percent);
}

/* "DRAM 8.39 MB read, 0 MB written", in what time allows a rate of, and as
 * often as the least. */
static void add_traffic(char *text, size_t size, const kmbi_run *run) {
  double in = 0, out = 0, rate = 0;
  double least = (double)run->work.read_bytes;
  if (!get(run, KMB_VALUE_DRAM_READ, &in) ||
      !get(run, KMB_VALUE_DRAM_WRITE, &out))
    return;
  snprintf(text, size, "DRAM %.4g MB read", in / 1e6);
  size_t used = strlen(text);
  if (least > 0)
    snprintf(text + used, size - used, " (%.3g times the least)", in / least);
  used = strlen(text);
  snprintf(text + used, size - used, ", %.4g MB written", out / 1e6);
  used = strlen(text);
  if (get(run, KMB_VALUE_DRAM_RATE, &rate))
    snprintf(text + used, size - used, ", %.4g GB/s over the time", rate / 1e9);
}

static void set_memory(kmbi_run *run) {
  char text[TEXT] = "";
  const char *kernel =
      kmbi_result_get_text(run->result, KMB_VALUE_COUNTER_KERNEL);
  add_traffic(text, sizeof text, run);
  add(text, sizeof text, "L2 hit rate", run, KMB_VALUE_L2_HIT);
  add(text, sizeof text, "ncu's Mem Busy", run, KMB_VALUE_NCU_MEM_BUSY);
  add(text, sizeof text, "Max Bandwidth", run, KMB_VALUE_NCU_BANDWIDTH);
  add(text, sizeof text, "Mem Pipes Busy", run, KMB_VALUE_NCU_MEM_PIPES);
  kmbi_result_format(run->result, KMB_VALUE_READING_MEMORY,
                     "%s; percentages of %.60s", text, kernel);
}

static bool small_grid(const kmbi_run *run, double *waves) {
  return get(run, KMB_VALUE_WAVES, waves) && *waves < 1;
}

/* What follows from a gap between what a launch allows and what it reached. */
static const char *gap(const kmbi_run *run, double allowed, double achieved) {
  double waves = 0;
  if (small_grid(run, &waves)) return "; the grid does not fill the units once";
  if (allowed - achieved >= WIDE_GAP)
    return "; so wide a gap means imbalance between warps or blocks";
  return "";
}

/* "75% is what the launch allows (limited by registers)"; false: not known. */
static bool add_allowed(char *text, size_t size, const kmbi_run *run,
                        double *allowed) {
  char percent[KMBI_PERCENT_SIZE];
  const char *limit =
      kmbi_result_get_text(run->result, KMB_VALUE_OCCUPANCY_LIMIT);
  if (!get(run, KMB_VALUE_THEORETICAL, allowed)) return false;
  kmbi_percent_string(percent, *allowed, 3);
  int words = limit ? (int)strcspn(limit, "(") : 0;
  while (words && limit[words - 1] == ' ')
    words--;
  snprintf(text, size, "%s is what the launch allows, limited by %.*s", percent,
           limit ? words : 7, limit ? limit : "unknown");
  return true;
}

/* Low occupancy alone is a description, not a verdict. */
static void set_occupancy(kmbi_run *run, const char *why) {
  char allowed[TEXT] = "", percent[KMBI_PERCENT_SIZE];
  double achieved = 0, theoretical = 0;
  kmb_result *result = run->result;
  const kmb_value value = KMB_VALUE_READING_OCCUPANCY;
  bool known = add_allowed(allowed, sizeof allowed, run, &theoretical);
  bool counted = get(run, KMB_VALUE_OCCUPANCY, &achieved);
  kmbi_percent_string(percent, achieved, 3);
  if (counted && known)
    kmbi_result_format(result, value, "%s achieved, %s%s", percent, allowed,
                       gap(run, theoretical, achieved));
  else if (counted)
    kmbi_result_format(result, value,
                       "%s achieved; what the launch would allow is not known",
                       percent);
  else if (known)
    kmbi_result_format(result, value, "%s; achieved is not known: %s", allowed,
                       why);
  else
    kmbi_result_absent(result, value, "%s", why);
}

void kmbi_set_reading_counters(kmbi_run *run) {
  const char *kernel =
      kmbi_result_get_text(run->result, KMB_VALUE_COUNTER_KERNEL);
  uint64_t passes = 0;
  if (kernel) {
    set_memory(run);
    set_occupancy(run, "the counters that were read do not tell it");
    return;
  }
  bool some =
      kmbi_result_get_u64(run->result, KMB_VALUE_COUNTER_PASSES, &passes);
  const char *why = some ? "of the hardware counters only DRAM's reads were "
                           "read (KMB_BENCH_CONFIRM_COLD)"
                         : "no hardware counters were read";
  kmbi_result_absent(run->result, KMB_VALUE_READING_MEMORY, "%s", why);
  set_occupancy(run, why);
}

/* As Nsight Compute judges its own two percentages. */
static const char *label(double sm, double memory, const kmbi_run *run) {
  double waves = 0;
  if (sm >= NCU_HIGH || memory >= NCU_HIGH)
    return "a unit is near its own peak (ncu: High Throughput)";
  if (sm < NCU_LOW && memory < NCU_LOW) {
    if (!get(run, KMB_VALUE_WAVES, &waves))
      return "latency, or too small a grid (ncu: Latency Issue or Small Grid, "
             "both below 60%)";
    return waves < 1 ? "the grid fills the units less than once (ncu: Small "
                       "Grid, both below 60%)"
                     : "latency (ncu: Latency Issue, both below 60%)";
  }
  if (fabs(sm - memory) < NCU_BALANCED)
    return "arithmetic and memory are used alike (ncu: Balanced Throughput)";
  return sm > memory ? "the units of arithmetic or issue are busier (ncu: High "
                       "Compute Throughput)"
                     : "the memory system is busier (ncu: High Memory "
                       "Throughput)";
}

const char *kmbi_counters_verdict(const kmbi_run *run) {
  double sm = 0, memory = 0, waves = 0;
  if (!get(run, KMB_VALUE_NCU_COMPUTE, &sm) ||
      !get(run, KMB_VALUE_NCU_MEMORY, &memory) ||
      !get(run, KMB_VALUE_WAVES, &waves) || sm >= NCU_LOW || memory >= NCU_LOW)
    return NULL;
  return waves < 1 ? "too small a grid" : "latency-bound";
}

bool kmbi_counters_cause(const kmbi_run *run, char *text, size_t size) {
  double sm = 0, memory = 0, in = 0, waves = 0;
  double least = (double)run->work.read_bytes;
  if (!get(run, KMB_VALUE_NCU_COMPUTE, &sm) ||
      !get(run, KMB_VALUE_NCU_MEMORY, &memory)) {
    if (!small_grid(run, &waves)) return false;
    snprintf(text, size,
             "too small a grid, it fills the units %.2g times; what else, only "
             "counters could tell",
             waves);
    return true;
  }
  snprintf(text, size, "%s", label(sm, memory, run));
  size_t used = strlen(text);
  if (least > 0 && get(run, KMB_VALUE_DRAM_READ, &in) && in > EXCESS * least)
    snprintf(text + used, size - used,
             "; more traffic than the least: %.3g times as much is read from "
             "DRAM",
             in / least);
  return true;
}
