/* TRACE: what CUPTI's records say of each iteration. An iteration's operations
 * are those whose call carries its external id; sweeps, touches and resets
 * carry none. */
#include "plan.h"

#include <stdlib.h>

/* Iterations between two looks at the records. */
enum { AT_ONCE = 256, RECORDS_AT_ONCE = 16384 };

static int by_correlation(const void *a, const void *b) {
  uint32_t x = ((const kmbi_cupti_link *)a)->correlation;
  uint32_t y = ((const kmbi_cupti_link *)b)->correlation;
  return (x > y) - (x < y);
}

static int by_iteration(const void *a, const void *b) {
  const kmbi_cupti_op *x = a;
  const kmbi_cupti_op *y = b;
  if (x->iteration != y->iteration) return x->iteration < y->iteration ? -1 : 1;
  return (x->start > y->start) - (x->start < y->start);
}

/* Gives each operation its iteration and puts them in order; those of none, or
 * of one before these, come last. */
static void attribute(kmbi_cupti_client *c) {
  qsort(c->links, c->link_count, sizeof *c->links, by_correlation);
  for (size_t i = 0; i < c->op_count; i++) {
    kmbi_cupti_link key = {c->ops[i].correlation, 0};
    const kmbi_cupti_link *link = bsearch(&key, c->links, c->link_count,
                                          sizeof *c->links, by_correlation);
    c->ops[i].iteration = link ? link->iteration - c->first : UINT32_MAX;
  }
  if (c->op_count) qsort(c->ops, c->op_count, sizeof *c->ops, by_iteration);
}

/* Whether each iteration has as many operations as any had before. */
static bool is_complete(kmbi_cupti_client *c, uint64_t count, uint64_t each) {
  uint64_t complete = 0;
  uint64_t run = 0;
  kmbi_cupti_hold();
  if (c->link_count && c->op_count) attribute(c);
  for (size_t i = 0; i < c->op_count; i++) {
    const kmbi_cupti_op *op = &c->ops[i];
    if (op->iteration >= count) continue;
    run = i && op[-1].iteration == op->iteration ? run + 1 : 1;
    complete += run == (each ? each : 1);
  }
  kmbi_cupti_release();
  return complete == count;
}

typedef struct span {
  uint64_t first, last, busy, sum, count;
  bool valid;
} span;

/* The operations of one iteration, which lie together in order of start. */
static span measure(const kmbi_cupti_op *ops, size_t count) {
  span s = {.count = count, .valid = count > 0};
  for (size_t i = 0; i < count; i++) {
    uint64_t start = ops[i].start;
    uint64_t end = ops[i].end;
    if (start == 0 || end < start) {
      s.valid = false;
      return s;
    }
    if (i == 0) s.first = s.last = start;
    s.sum += end - start;
    if (end > s.last) {
      s.busy += end - (start > s.last ? start : s.last);
      s.last = end;
    }
  }
  return s;
}

static void store(kmb_sample *sample, const span *s, double to_now,
                  uint64_t previous_end) {
  sample->span_ns = (double)(s->last - s->first);
  sample->busy_ns = (double)s->busy;
  sample->sum_ns = (double)s->sum;
  sample->ops = s->count;
  sample->end_ns = (double)s->last + to_now;
  if (!s->valid) sample->flags |= KMB_SAMPLE_INVALID;
  if (s->valid && s->first < previous_end) sample->flags |= KMB_SAMPLE_OVERLAP;
}

/* Samples of the records; `to_now` leads from their clock to ours, `before`
 * counts the run's samples up to here. */
static void read_samples(kmbi_cuda_plan *plan, uint64_t before, uint64_t count,
                         double to_now, kmb_sample *samples) {
  kmbi_cupti_client *c = plan->client;
  size_t at = 0;
  uint64_t previous_end = 0;
  kmbi_cupti_hold();
  if (c->link_count) attribute(c);
  for (uint32_t i = 0; i < count; i++) {
    while (at < c->op_count && c->ops[at].iteration < i)
      at++;
    size_t end = at;
    while (end < c->op_count && c->ops[end].iteration == i)
      end++;
    span s = measure(c->ops + at, end - at);
    store(&samples[i], &s, to_now, previous_end);
    if (s.valid) previous_end = s.last;
    if (s.valid) kmbi_cuda_ops_keep(plan, before + i, c->ops + at, end - at);
    at = end;
  }
  kmbi_cupti_release();
}

static kmb_status enqueue(kmbi_cuda_plan *plan, uint32_t index) {
  kmb_status status = kmbi_cuda_before(plan);
  if (!status)
    status =
        kmbi_cupti_push(plan->self, plan->client, plan->client->first + index);
  if (status) return status;
  status = kmbi_cuda_iterate(plan);
  kmb_status popped = kmbi_cupti_pop(plan->self);
  return status ? status : popped;
}

static kmb_status collect(kmbi_cuda_plan *plan, uint64_t before, uint64_t count,
                          kmb_sample *samples) {
  kmbi_cuda *self = plan->self;
  kmbi_cupti_client *client = plan->client;
  double theirs = 0;
  kmb_status status = kmbi_cupti_collect(self, client, false);
  /* How many there are to be is not known at first. */
  if (!status && (!plan->nodes || !is_complete(client, count, plan->nodes)))
    status = kmbi_cupti_collect(self, client, true);
  if (!status) status = kmbi_cuda_ops_reserve(plan);
  if (!status) status = kmbi_cupti_now(self, &theirs);
  if (status) return status;
  read_samples(plan, before, count, kmbi_cuda_now() - theirs, samples);
  for (uint64_t i = 0; i < count; i++)
    if (samples[i].ops > plan->nodes) plan->nodes = samples[i].ops;
  return KMB_OK;
}

static uint64_t at_once(const kmbi_cuda_plan *plan) {
  uint64_t each = plan->nodes + 2 + plan->desc.warm_count;
  uint64_t most = RECORDS_AT_ONCE / each;
  if (most > AT_ONCE) most = AT_ONCE;
  return most ? most : 1;
}

/* Programmatic launches are found out by what they do: the samples of this run
 * are then taken again, apart. */
static bool must_part(kmbi_cuda_plan *plan, const kmb_sample *samples,
                      uint64_t count) {
  bool overlap = false;
  for (uint64_t i = 0; i < count; i++)
    overlap |= samples[i].flags & KMB_SAMPLE_OVERLAP;
  if (!overlap || plan->parted || plan->graph || plan->cold) return false;
  plan->parted = true;
  return true;
}

kmb_status kmbi_cuda_take_traces(kmbi_cuda_run *run) {
  kmbi_cuda_plan *plan = run->plan;
  kmb_status status = KMB_OK;
  while (run->got < run->count) {
    double started = kmbi_cuda_now();
    uint64_t count = kmbi_cuda_portion(run, at_once(plan));
    if (!count) break;
    kmb_sample *samples = run->samples + run->got;
    kmbi_cupti_clear(plan->client);
    plan->client->first = plan->client->next_id;
    plan->client->next_id += (uint32_t)count;
    for (uint32_t i = 0; !status && i < count; i++) {
      samples[i] = (kmb_sample){.slot = plan->slot};
      status = enqueue(plan, i);
      if (!status) kmbi_cuda_advance(plan);
    }
    status = kmbi_cuda_drain(plan, status);
    if (!status) status = collect(plan, run->got, count, samples);
    if (status) break;
    kmbi_cuda_took(plan, count, started);
    run->got += count;
    if (must_part(plan, samples, count)) {
      kmbi_cuda_ops_forget(plan);
      run->got = 0;
    }
  }
  return status;
}
