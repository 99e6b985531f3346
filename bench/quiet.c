/* A chain of dependent integer steps takes the same time each time, whatever
 * the caches hold, unless somebody takes the core or the clock changes. */
#include "quiet.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define SPIN_NS 5e6
/* Longest spin over the shortest. */
#define SPIN_LIMIT 1.05
/* Others' share of the time of all processors. */
#define OTHERS_LIMIT_PCT 5.0

static double spin(uint64_t steps) {
  double begin = now_ns();
  uint64_t x = steps;
  for (uint64_t i = 0; i < steps; i++) {
    x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
    __asm__ volatile("" : "+r"(x));
  }
  return now_ns() - begin;
}

/* User, nice, system, interrupts and steal of all processors. */
static bool read_busy(double *ns) {
  enum { IDLE = 3, WAIT = 4, STEAL = 7 };
  char line[256] = "";
  FILE *file = fopen("/proc/stat", "r");
  bool known =
      file && fgets(line, sizeof line, file) && strncmp(line, "cpu ", 4) == 0;
  if (file) fclose(file);
  char *at = line + 4;
  double tick = 1e9 / (double)sysconf(_SC_CLK_TCK);
  *ns = 0;
  for (int field = 0; known && field <= STEAL; field++) {
    char *end = at;
    unsigned long long value = strtoull(at, &end, 10);
    known = end != at;
    if (field != IDLE && field != WAIT) *ns += (double)value * tick;
    at = end;
  }
  return known;
}

static double seconds_ns(struct timeval t) {
  return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

static double own_time(void) {
  struct rusage self, children;
  getrusage(RUSAGE_SELF, &self);
  getrusage(RUSAGE_CHILDREN, &children);
  return seconds_ns(self.ru_utime) + seconds_ns(self.ru_stime) +
         seconds_ns(children.ru_utime) + seconds_ns(children.ru_stime);
}

void canary_start(canary *c) {
  *c = (canary){.steps = 1000};
  double ns = spin(c->steps);
  while (ns < SPIN_NS / 2) {
    c->steps *= 2;
    ns = spin(c->steps);
  }
  /* The shortest of a few: a disturbed one would make the loop too short. */
  for (int i = 0; i < 5; i++) {
    double again = spin(c->steps);
    if (again < ns) ns = again;
  }
  c->steps = (uint64_t)((double)c->steps * SPIN_NS / ns);
  c->began_ns = now_ns();
  c->has_busy = read_busy(&c->busy_ns);
  c->own_ns = own_time();
  canary_spin(c);
}

void canary_spin(canary *c) {
  double ns = spin(c->steps);
  if (!c->spins || ns < c->low) c->low = ns;
  if (!c->spins || ns > c->high) c->high = ns;
  c->spins++;
}

void canary_result(canary *c, const kmb_result *result) {
  uint64_t count = kmb_result_finding_count(result);
  for (uint64_t i = 0; i < count; i++) {
    kmb_finding finding = kmb_finding_init();
    must(kmb_result_finding(result, i, &finding), "reading a finding");
    if (finding.code == KMB_FINDING_NOT_QUIET) {
      c->unquiet++;
      return;
    }
  }
}

/* Percent of what all processors could do; below zero: not known. */
static double others_pct(const canary *c) {
  double busy = 0, wall = now_ns() - c->began_ns;
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (!c->has_busy || !read_busy(&busy) || processors < 1) return -1;
  double others = busy - c->busy_ns - (own_time() - c->own_ns);
  if (others < 0) others = 0;
  return 100 * others / wall / (double)processors;
}

const char *canary_verdict(const canary *c, report *r) {
  static char why[160];
  double spread = c->high / c->low, others = others_pct(c);
  bool quiet =
      spread <= SPIN_LIMIT && others <= OTHERS_LIMIT_PCT && c->unquiet == 0;
  char share[32] = "unknown";
  if (others >= 0) snprintf(share, sizeof share, "%.1f%%", others);
  snprintf(why, sizeof why,
           "%s: %llu equal spins within %.1f%%, others used %s of the "
           "processors, %llu results found NOT_QUIET",
           quiet ? "quiet" : "NOT_QUIET", (unsigned long long)c->spins,
           100 * (spread - 1), share, (unsigned long long)c->unquiet);
  printf("\nmachine %s\n", why);
  json_t *row =
      json_pack("{s:b, s:f, s:I, s:I}", "quiet", (int)quiet, "spin_spread_pct",
                100 * (spread - 1), "spins", (json_int_t)c->spins,
                "unquiet_results", (json_int_t)c->unquiet);
  if (others >= 0)
    json_object_set_new(row, "others_pct", json_real(others));
  else
    json_object_set_new(row, "others_unknown", json_string("no /proc/stat"));
  json_object_set_new(r->root, "canary", row);
  return quiet ? NULL : why;
}
