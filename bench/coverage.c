/* How right the statistics are: simulated runs of a 20 µs kernel on a 32 ns
 * clock, stopped by the library's rule and, as a yardstick, by the rule that
 * nvbench calls stdrel. Prints coverage of the true median, cost, error, and
 * how often two modes and a trend (dropped, or left at the end) are reported.
 *
 *   bench_coverage [--seeds N] [--json FILE] */
#include <jansson.h>
#include <math.h>
#include <stats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CENTRE 20000.0 /* ns */
#define TICK 32.0
#define OVERHEAD 2000.0 /* wall time a sample beside the kernel's */
#define CEILING 2e9
#define MAX_SAMPLES ((size_t)1 << 17)
#define FIRST_LOOK 50

static double samples[MAX_SAMPLES], walls[MAX_SAMPLES], scratch[MAX_SAMPLES];

/* --- random numbers, apart from the library's --------------------------- */

typedef struct source {
  uint64_t bits;
  double wall, ar, sigma;
  /* modes */
  double apart, share, stretch;
  bool high;
} source;

static double uniform(source *s) { /* (0, 1), xorshift* */
  s->bits ^= s->bits >> 12;
  s->bits ^= s->bits << 25;
  s->bits ^= s->bits >> 27;
  return ((double)((s->bits * UINT64_C(2685821657736338717)) >> 11) + 0.5) *
         0x1p-53;
}

static double normal(source *s) {
  double radius = sqrt(-2 * log(uniform(s)));
  return radius * cos(2 * M_PI * uniform(s));
}

/* --- processes ---------------------------------------------------------- */

static double gauss(source *s) {
  return CENTRE * (1 + s->sigma * normal(s));
}

/* 2% of the samples take 1.5 to 4.5 times as long. */
static double tails(source *s) {
  double v = gauss(s);
  return uniform(s) < 0.02 ? v * (1.5 + 3 * uniform(s)) : v;
}

static double warm_up(source *s) {
  return gauss(s) * (1 + 0.2 * exp(-s->wall / 20e6));
}

static double autocorrelated(source *s) {
  s->ar = 0.9 * s->ar + sqrt(1 - 0.81) * normal(s);
  return CENTRE * (1 + s->sigma * s->ar);
}

static double skewed(source *s) {
  return CENTRE * exp(2 * s->sigma * normal(s));
}

/* Spread below the tick, so that most samples tie. */
static double coarse(source *s) {
  return CENTRE + TICK * (s->share + s->stretch * normal(s));
}

static double alternating(source *s) {
  s->high = uniform(s) < s->share;
  return gauss(s) * (s->high ? 1 + s->apart : 1);
}

/* Stretches of geometric length, on average `stretch` in the smaller mode. */
static double in_stretches(source *s) {
  double leave = 1 / s->stretch;
  if (!s->high) leave *= s->share / (1 - s->share);
  if (uniform(s) < leave) s->high = !s->high;
  return gauss(s) * (s->high ? 1 + s->apart : 1);
}

typedef struct process {
  const char *name;
  double (*sample)(source *s);
  double sigma;
  /* The truth, relative to CENTRE; 0: the run has no one median. */
  double median, mean;
} process;

/* Of 98 normal and 2 slower samples, the median is the normal 0.5102 quantile.
 */
static const process processes[] = {
    {"gaussian", gauss, 0.05, 1, 1},
    {"tails", tails, 0.05, 1 + 0.05 * 0.025583, 1 + 0.02 * 2},
    {"warm-up", warm_up, 0.05, 1, 1},
    {"AR(1) 0.9", autocorrelated, 0.05, 1, 1},
    {"lognormal", skewed, 0.05, 1, 1.0050125},
    {"gaussian 1%", gauss, 0.01, 1, 1},
    {"warm-up 1%", warm_up, 0.01, 1, 1},
    {"AR(1) 1%", autocorrelated, 0.01, 1, 1},
    {"coarse tick", coarse, 0, 1, 1},
    {"modes alternating", alternating, 0, 0, 0},
    {"modes in stretches", in_stretches, 0, 0, 0},
};
#define PROCESSES (sizeof processes / sizeof *processes)

static source source_of(const process *p, size_t seed) {
  source s = {.bits = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15)};
  for (int i = 0; i < 8; i++)
    (void)uniform(&s);
  s.sigma = p->sigma;
  s.ar = normal(&s);
  if (p->sample == coarse) {
    s.share = uniform(&s) - 0.5;         /* of the truth in its tick */
    s.stretch = 0.1 + 0.9 * uniform(&s); /* sigma in ticks */
  } else if (p->sigma == 0) {
    s.sigma = 0.005 + 0.005 * uniform(&s);
    s.apart = 0.03 + 0.17 * uniform(&s);
    s.share = 0.1 + 0.4 * uniform(&s);
    s.stretch = 5 + 45 * uniform(&s);
    s.high = uniform(&s) < s.share;
  }
  return s;
}

/* A reading: two stamps of one clock at a phase of its own. */
static double read_clock(const process *p, source *s) {
  double v = p->sample(s);
  double phase = p->sample == coarse ? 0.5 : uniform(s);
  s->wall += v + OVERHEAD;
  return floor(v / TICK + phase) * TICK;
}

/* --- rules -------------------------------------------------------------- */

typedef enum reason { CONVERGED, RESOLUTION, WALL, FULL, REASONS } reason;
static const char *const reason_names[] = {"converged", "resolution", "wall",
                                           "max_samples"};

typedef struct run {
  double estimate, low, high, wall;
  size_t taken, kept;
  reason stopped;
  bool bimodal, drift;
} run;

static void take(const process *p, source *s, size_t *n, size_t until) {
  while (*n < until && s->wall < CEILING) {
    walls[*n] = s->wall;
    samples[*n] = read_clock(p, s);
    ++*n;
  }
}

static run library_rule(const process *p, size_t seed) {
  source s = source_of(p, seed);
  kmbi_rule rule = {.target = 0.005,
                    .tick = TICK,
                    .min_wall_ns = 25e6,
                    .min_samples = FIRST_LOOK,
                    .seed = seed};
  kmbi_interval interval = {0};
  kmbi_modes modes;
  size_t n = 0, from = 0, next = FIRST_LOOK;
  run r = {.stopped = REASONS};
  while (r.stopped == REASONS) {
    take(p, &s, &n, from + next < MAX_SAMPLES ? from + next : MAX_SAMPLES);
    kmbi_verdict v = kmbi_look(&rule, samples + from, n - from,
                               s.wall - walls[from], scratch, &interval);
    if (v == KMBI_CONVERGED)
      r.stopped = CONVERGED;
    else if (v == KMBI_RESOLUTION)
      r.stopped = RESOLUTION;
    else if (s.wall >= CEILING)
      r.stopped = WALL;
    else if (n >= MAX_SAMPLES)
      r.stopped = FULL;
    else if (v == KMBI_DROP_HALF)
      from += (n - from) / 2;
    rule.dropped_wall_ns = walls[from];
    next = kmbi_next_look(n - from);
  }
  r.estimate = interval.median;
  r.low = interval.low;
  r.high = interval.high;
  r.wall = s.wall;
  r.taken = n;
  r.kept = n - from;
  r.bimodal = kmbi_bimodal(samples + from, n - from, TICK, scratch, &modes);
  double relative = 0;
  r.drift = from > 0 ||
            kmbi_drift(samples + from, n - from, TICK, scratch, &relative);
  return r;
}

/* nvbench's default: half a second of kernel time, then a relative standard
 * deviation under 0.5%, or one that its last 512 readings agree on within 5%,
 * asked every 16 samples. */
static run stdrel_rule(const process *p, size_t seed) {
  enum { WINDOW = 512 };
  source s = source_of(p, seed);
  double noise[WINDOW], total = 0, mean = 0, squares = 0;
  run r = {.stopped = FULL};
  for (size_t n = 1; n <= MAX_SAMPLES; n++) {
    double v = read_clock(p, &s), off = v - mean;
    total += v;
    mean += off / (double)n;
    squares += off * (v - mean);
    noise[n % WINDOW] = n > 1 ? sqrt(squares / (double)(n - 1)) / mean : 0;
    r.taken = r.kept = n;
    if (total <= 0.5e9) continue;
    bool done = noise[n % WINDOW] < 0.005;
    if (!done && n % 16 == 0 && n > WINDOW) {
      double sum = 0, spread = 0;
      for (size_t i = 0; i < WINDOW; i++)
        sum += noise[i] / WINDOW;
      for (size_t i = 0; i < WINDOW; i++)
        spread += (noise[i] - sum) * (noise[i] - sum) / (WINDOW - 1);
      done = sqrt(spread) / sum < 0.05;
    }
    if (done) {
      r.stopped = CONVERGED;
      break;
    }
  }
  r.estimate = mean;
  r.wall = s.wall;
  return r;
}

/* --- table -------------------------------------------------------------- */

typedef struct tally {
  size_t seeds, covered, bimodal, drift, stopped[REASONS];
  double *taken, *error, *wall; /* of each seed */
} tally;

static void tally_free(tally *t) {
  free(t->taken);
  free(t->error);
  free(t->wall);
}

static tally tally_of(const process *p, run (*rule)(const process *, size_t),
                      size_t seeds, bool own_mean) {
  tally t = {.seeds = seeds,
             .taken = calloc(seeds, sizeof(double)),
             .error = calloc(seeds, sizeof(double)),
             .wall = calloc(seeds, sizeof(double))};
  if (!t.taken || !t.error || !t.wall) {
    fprintf(stderr, "bench_coverage: no memory for %zu seeds\n", seeds);
    exit(1);
  }
  for (size_t i = 0; i < seeds; i++) {
    run r = rule(p, i);
    double truth = CENTRE * (own_mean ? p->mean : p->median);
    if (p->sample == coarse) {
      source s = source_of(p, i);
      truth += TICK * s.share;
    }
    t.covered += r.low <= truth && truth <= r.high;
    t.bimodal += r.bimodal;
    t.drift += r.drift;
    t.stopped[r.stopped]++;
    t.taken[i] = (double)r.taken;
    t.error[i] = truth > 0 ? 100 * fabs(r.estimate / truth - 1) : 0;
    t.wall[i] = r.wall / 1e6;
  }
  kmbi_sort(t.taken, seeds);
  kmbi_sort(t.error, seeds);
  kmbi_sort(t.wall, seeds);
  return t;
}

static double percent(size_t part, size_t whole) {
  return 100 * (double)part / (double)whole;
}

static json_t *report(const process *p, const char *rule, const tally *t,
                      bool library) {
  double taken = kmbi_quantile(t->taken, t->seeds, 0.5);
  double error = kmbi_quantile(t->error, t->seeds, 0.5);
  double error95 = kmbi_quantile(t->error, t->seeds, 0.95);
  double wall = kmbi_quantile(t->wall, t->seeds, 0.5);
  double longest = t->wall[t->seeds - 1];
  bool truth = p->median > 0;
  json_t *row = json_pack("{s:s, s:s, s:f, s:f, s:f}", "process", p->name,
                          "rule", rule, "median_samples", taken,
                          "median_wall_ms", wall, "max_wall_ms", longest);
  printf("%-19s%-8s", p->name, rule);
  if (truth && library) {
    double covered = percent(t->covered, t->seeds);
    printf("%7.1f", covered);
    json_object_set_new(row, "coverage_percent", json_real(covered));
  } else {
    printf("%7s", "-");
  }
  printf("%9.0f%9.0f%9.0f", taken, wall, longest);
  if (truth) {
    printf("%8.3f%8.3f", error, error95);
    json_object_set_new(row, "median_error_percent", json_real(error));
    json_object_set_new(row, "p95_error_percent", json_real(error95));
  } else {
    printf("%8s%8s", "-", "-");
  }
  json_t *stops = json_object();
  for (int i = 0; i < REASONS; i++)
    json_object_set_new(stops, reason_names[i],
                        json_integer((json_int_t)t->stopped[i]));
  json_object_set_new(row, "stops", stops);
  if (library) {
    double bimodal = percent(t->bimodal, t->seeds);
    double drift = percent(t->drift, t->seeds);
    printf("%8.1f%8.1f", bimodal, drift);
    json_object_set_new(row, "bimodal_percent", json_real(bimodal));
    json_object_set_new(row, "drift_percent", json_real(drift));
  } else {
    printf("%8s%8s", "-", "-");
  }
  for (int i = 0; i < REASONS; i++)
    printf("%s%zu", i ? "/" : "  ", t->stopped[i]);
  printf("\n");
  fflush(stdout);
  return row;
}

static json_t *simulate(size_t seeds) {
  json_t *rows = json_array();
  printf("%-19s%-8s%7s%9s%9s%9s%8s%8s%8s%8s  %s\n", "process", "rule", "cover%",
         "samples", "wall ms", "max ms", "error%", "p95 %", "modes%", "drift%",
         "converged/resolution/wall/max");
  for (size_t i = 0; i < PROCESSES; i++) {
    const process *p = &processes[i];
    tally t = tally_of(p, library_rule, seeds, false);
    json_array_append_new(rows, report(p, "libkmb", &t, true));
    tally_free(&t);
    if (p->median <= 0 || p->sample == coarse) continue;
    t = tally_of(p, stdrel_rule, seeds, true);
    json_array_append_new(rows, report(p, "stdrel", &t, false));
    tally_free(&t);
  }
  return rows;
}

int main(int argc, char **argv) {
  size_t seeds = 100;
  const char *file = NULL;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--seeds") && i + 1 < argc) {
      seeds = strtoul(argv[++i], NULL, 10);
    } else if (!strcmp(argv[i], "--json") && i + 1 < argc) {
      file = argv[++i];
    } else {
      fprintf(stderr, "usage: bench_coverage [--seeds N] [--json FILE]\n");
      return 2;
    }
  }
  if (seeds < 1 || seeds > 1000000) {
    fprintf(stderr, "bench_coverage: --seeds takes 1 to 1000000\n");
    return 2;
  }
  json_t *rows = simulate(seeds);
  char date[sizeof "2000-01-01"] = "";
  time_t now = time(NULL);
  struct tm utc;
  if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%d", &utc);
  json_t *all =
      json_pack("{s:s, s:s, s:I, s:f, s:f, s:f, s:f, s:o}", "bench", "coverage",
                "simulated_on", date, "seeds", (json_int_t)seeds, "centre_ns",
                CENTRE, "tick_ns", TICK, "overhead_ns", OVERHEAD, "ceiling_ns",
                CEILING, "rows", rows);
  int failed = 0;
  if (file &&
      json_dump_file(all, file, JSON_INDENT(1) | JSON_REAL_PRECISION(5)))
    failed = fprintf(stderr, "bench_coverage: cannot write %s\n", file) != 0;
  json_decref(all);
  return failed;
}
