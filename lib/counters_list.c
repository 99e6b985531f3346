/* The kernels of an iteration, from one that is traced, and which of them a
 * filter keeps. */
#include "counters.h"

#include "error.h"

#include <regex.h>
#include <stdio.h>

enum { TRIES = 3, LISTED = 150 };

typedef struct listing {
  kmb_counters *c;
  uint64_t seen;   /* kernels, kept or not */
  uint64_t others; /* copies and sets */
} listing;

static void take_in(void *user, const kmb_device_op *op) {
  listing *l = user;
  kmb_counters *c = l->c;
  l->others += op->kind != KMB_OP_KERNEL;
  if (op->kind != KMB_OP_KERNEL) return;
  if (l->seen++ >= KMBI_COUNTER_KERNELS) return;
  const char *name = op->name && *op->name ? op->name : "(no name)";
  c->kernels[c->info.kernels++] = (kmbi_kernel){
      kmbi_arena_copy(&c->arena, name), op->duration_ns, op->stream, op->shape};
}

static kmb_status trace(kmbi_run *run, void *plan, listing *l) {
  const kmb_backend_ops *ops = run->device->ops;
  kmb_status status = KMB_OK;
  /* A sample that is no good has no rows. */
  for (int i = 0; !status && !l->seen && !l->others && i < TRIES; i++) {
    uint64_t got = 0;
    double until = kmbi_now(run->device) + run->p.max_wall_ns;
    status = kmbi_plan_take(run, plan, 1, 1, until, &got);
    if (!status && !got && kmbi_cancelled(run->device))
      return kmbi_fail(KMB_ERR_CANCELLED, "cancelled before counters");
    if (!status) status = ops->plan_ops(run->device->self, plan, take_in, l);
  }
  return status;
}

/* Copies and sets are no ranges of their own, but part of the whole. */
static kmb_status judge(const kmb_counters *c, uint64_t seen, uint64_t others) {
  if (kmbi_arena_failed(&c->arena))
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for the kernels' names");
  if (!seen && others && c->info.replay == KMB_REPLAY_GRAPH) return KMB_OK;
  if (!seen)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "the trace of an iteration shows no kernel whose counters "
                     "could be read");
  if (seen > KMBI_COUNTER_KERNELS)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "an iteration has %llu kernels; counters are read of at "
                     "most %d (KMB_REPLAY_GRAPH reads it as a whole)",
                     (unsigned long long)seen, KMBI_COUNTER_KERNELS);
  return KMB_OK;
}

kmb_status kmbi_counters_list(kmbi_run *run, bool any, kmb_counters *c) {
  kmb_choice choice = {KMB_TIMER_TRACE, KMB_LAUNCH_PLAIN, run->choice.cache, 0};
  listing l = {c, 0, 0};
  void *plan = NULL;
  if (!KMBI_HAS(run->device->ops, plan_ops))
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "backend %s does not tell the kernels of an iteration",
                     run->device->ops->name);
  if (run->p.graphs) choice.launch_mode = KMB_LAUNCH_GRAPH;
  c->kernels =
      kmbi_arena_alloc(&c->arena, KMBI_COUNTER_KERNELS, sizeof *c->kernels);
  if (!c->kernels) return kmbi_fail(KMB_ERR_NOMEM, "no memory for a list");
  kmb_status status = kmbi_plan_open(run, &choice, 1, run->p.launch, &plan);
  kmbi_counters_step(run, c, KMBI_COUNTERS_TRACE_OPEN);
  if (status) return status;
  status = trace(run, plan, &l);
  kmbi_counters_step(run, c, KMBI_COUNTERS_TRACE);
  kmbi_plan_close(run, plan);
  kmbi_counters_step(run, c, KMBI_COUNTERS_TRACE_CLOSE);
  if (!l.seen && l.others && any) c->info.replay = KMB_REPLAY_GRAPH;
  return status ? status : judge(c, l.seen, l.others);
}

/* Ranges come in order of launch, kernels in order of start: the same on one
 * stream. */
static kmb_status check_order(const kmb_counters *c) {
  for (uint64_t i = 1; i < c->info.kernels; i++)
    if (c->kernels[i].stream != c->kernels[0].stream)
      return kmbi_fail(KMB_ERR_UNSUPPORTED,
                       "an iteration has kernels on several streams, so that "
                       "which counters are whose is not known; read the whole "
                       "iteration (KMB_REPLAY_GRAPH)");
  return KMB_OK;
}

static kmb_status whole(kmb_counters *c, const kmb_counters_params *p) {
  if (p->kernel || p->skip || p->count)
    return kmbi_fail(KMB_ERR_UNSUPPORTED,
                     "kernel, skip and count choose among kernels, but here "
                     "the whole iteration is one range (KMB_REPLAY_GRAPH)");
  c->ranges = 1;
  c->info.matched = c->info.kernels;
  c->rows[c->row_count++] = 0;
  return KMB_OK;
}

/* "a, b, …" of what was seen, each name once. */
static void name_all(const kmb_counters *c, char text[LISTED]) {
  size_t used = 0;
  text[0] = '\0';
  for (uint64_t i = 0; i < c->info.kernels; i++) {
    uint64_t first = 0;
    while (strcmp(c->kernels[first].name, c->kernels[i].name) != 0)
      first++;
    if (first < i) continue;
    size_t left = LISTED - used;
    int n = snprintf(text + used, left, "%s%s", used ? ", " : "",
                     c->kernels[i].name);
    if (n < 0 || (size_t)n >= left) {
      size_t at = used < LISTED - 6 ? used : LISTED - 6;
      snprintf(text + at, LISTED - at, "%s…", at ? ", " : "");
      return;
    }
    used += (size_t)n;
  }
}

static kmb_status nothing(const kmb_counters *c, const kmb_counters_params *p) {
  char names[LISTED];
  name_all(c, names);
  if (c->info.matched)
    return kmbi_fail(KMB_ERR_INVALID,
                     "%llu launches match, and skip passes over %llu of them",
                     (unsigned long long)c->info.matched,
                     (unsigned long long)p->skip);
  return kmbi_fail(KMB_ERR_INVALID,
                   "\"%.40s\" matches none of the %llu kernels seen: %s",
                   p->kernel, (unsigned long long)c->info.kernels, names);
}

static void choose(kmb_counters *c, const kmb_counters_params *p,
                   const regex_t *filter) {
  for (uint64_t i = 0; i < c->info.kernels; i++) {
    if (filter && regexec(filter, c->kernels[i].name, 0, NULL, 0)) continue;
    uint64_t place = c->info.matched++;
    if (place < p->skip) continue;
    if (p->count && place - p->skip >= p->count) continue;
    c->rows[c->row_count++] = i;
  }
}

static kmb_status compile(const char *expression, regex_t *filter) {
  char why[96] = "";
  int code = regcomp(filter, expression, REG_EXTENDED | REG_NOSUB);
  if (!code) return KMB_OK;
  (void)regerror(code, NULL, why, sizeof why);
  return kmbi_fail(code == REG_ESPACE ? KMB_ERR_NOMEM : KMB_ERR_INVALID,
                   "kmb_counters_params: kernel \"%.60s\" is no POSIX extended "
                   "regular expression: %s",
                   expression, why);
}

kmb_status kmbi_counters_choose(kmb_counters *c, const kmb_counters_params *p) {
  regex_t filter;
  c->rows = kmbi_arena_alloc(&c->arena, c->info.kernels + 1, sizeof *c->rows);
  if (!c->rows) return kmbi_fail(KMB_ERR_NOMEM, "no memory for a choice");
  if (c->info.replay == KMB_REPLAY_GRAPH) return whole(c, p);
  kmb_status status = check_order(c);
  if (!status && p->kernel) status = compile(p->kernel, &filter);
  if (status) return status;
  c->ranges = c->info.kernels;
  choose(c, p, p->kernel ? &filter : NULL);
  if (p->kernel) regfree(&filter);
  return c->row_count ? KMB_OK : nothing(c, p);
}
