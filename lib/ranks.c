/* Ranks: entering, agreeing, leaving. */
#include "ranks.h"

#include "error.h"
#include "hash.h"
#include "run.h"

#include <stdio.h>
#include <unistd.h>

static uint64_t hash_text(uint64_t hash, const char *text) {
  return kmbi_hash(hash, text ? text : "", text ? strlen(text) + 1 : 1);
}

#define HASH(hash, value) kmbi_hash((hash), &(value), sizeof(value))

static uint64_t hash_point(const kmb_bench_params *p) {
  uint64_t h = hash_text(KMBI_HASH_BEGIN, p->name);
  /* Added up: their order does not count. */
  for (uint64_t i = 0; i < p->axis_count; i++)
    h +=
        hash_text(hash_text(KMBI_HASH_BEGIN, p->axes[i].key), p->axes[i].value);
  return hash_text(h, p->boundary);
}

static uint64_t hash_way(const kmb_bench_params *p, const char *backend) {
  uint64_t h = hash_text(KMBI_HASH_BEGIN, backend);
  h = HASH(h, p->timer);
  h = HASH(h, p->launch_mode);
  h = HASH(h, p->cache);
  h = HASH(h, p->flags);
  h = HASH(h, p->graph_count);
  return HASH(h, p->config);
}

static uint64_t hash_limits(const kmb_bench_params *p) {
  const double times[] = {p->tolerance,   p->target_pct, p->min_wall_ns,
                          p->max_wall_ns, p->warmup_ns,  p->idle_ns};
  const uint64_t counts[] = {p->min_samples, p->max_samples, p->batch, p->seed,
                             p->rounds};
  return HASH(HASH(KMBI_HASH_BEGIN, times), counts);
}

static uint64_t hash_hooks(const kmb_bench_params *p) {
  const bool there[] = {p->launch != NULL, p->setup != NULL, p->reset != NULL,
                        p->check != NULL, p->work != NULL};
  return HASH(KMBI_HASH_BEGIN, there);
}

/* Seeds and ranges of a fill are each rank's own. */
static uint64_t hash_buffers(const kmb_buffers *set) {
  uint64_t h = KMBI_HASH_BEGIN;
  for (uint64_t i = 0; set && i < set->count; i++) {
    const kmb_buffer_desc *d = &set->descs[i];
    h = hash_text(h, d->name);
    h = HASH(h, d->bytes);
    const uint32_t alias = d->flags & KMB_BUFFER_ALIAS;
    h = HASH(h, d->touched_bytes);
    h = HASH(h, d->alignment);
    h = HASH(h, d->pointer_count);
    h = HASH(h, d->alias_offset);
    h = HASH(h, d->alias_of);
    h = HASH(h, alias);
    h = HASH(h, d->role);
    h = HASH(h, d->dtype);
    h = HASH(h, d->residency);
    h = HASH(h, d->fill);
  }
  if (!set) return h;
  h = HASH(h, set->params.slots);
  h = HASH(h, set->params.reuse_factor);
  return HASH(h, set->params.rotation_bytes);
}

static uint64_t hash_comm(const kmb_comm_params *p) {
  uint64_t h = HASH(KMBI_HASH_BEGIN, p->barrier);
  h = HASH(h, p->multicast);
  h = HASH(h, p->skew_samples);
  h = hash_text(h, p->collective);
  const bool nccl = p->nccl != NULL;
  return HASH(h, nccl);
}

/* Hosts with the same name are told apart by their boot. */
static uint64_t hash_host(void) {
  char text[256] = "";
  gethostname(text, sizeof text - 1);
  uint64_t h = hash_text(KMBI_HASH_BEGIN, text);
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
  if (!file) return h;
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  return kmbi_hash(h, text, length);
}

static void copy_attr(kmb_device *device, kmb_device_attr attr, char *to,
                      size_t size) {
  const char *text = NULL;
  if (!*to && !device->ops->attr_text(device->self, attr, &text) && text)
    snprintf(to, size, "%s", text);
}

static void describe(kmbi_run *run, kmbi_entrance *e) {
  const kmb_bench_params *p = &run->p;
  kmbi_error_state before;
  kmbi_error_save(&before);
  e->host = hash_host();
  e->hashes[KMBI_GROUP_POINT] = hash_point(p);
  e->hashes[KMBI_GROUP_WAY] = hash_way(p, run->device->ops->name);
  e->hashes[KMBI_GROUP_LIMITS] = hash_limits(p);
  e->hashes[KMBI_GROUP_HOOKS] = hash_hooks(p);
  e->hashes[KMBI_GROUP_BUFFERS] = hash_buffers(p->buffers);
  e->hashes[KMBI_GROUP_COMM] = hash_comm(&p->comm->params);
  if (run->has_work) {
    e->flops = run->work.flops;
    if (!kmbi_add(run->work.read_bytes, run->work.write_bytes, &e->bytes))
      e->bytes = 0;
  }
  copy_attr(run->device, KMB_DEVICE_NAME, e->name, sizeof e->name);
  /* A PCI id is of a model: without a UUID nothing tells two devices apart. */
  copy_attr(run->device, KMB_DEVICE_UUID, e->id, sizeof e->id);
  kmbi_error_restore(&before);
}

/* Exchanging. */

/* The longer one where something is used for the first time, and where the
 * caller's check runs. */
static double deadline(const kmbi_run *run) {
  const kmb_comm_params *p = &run->ranks.comm->params;
  uint32_t stage = run->ranks.stage;
  if (run->ranks.deadline_ns > 0) return run->ranks.deadline_ns;
  bool longer = stage <= KMBI_CALIBRATE + 1 || stage == KMBI_RECHECK + 1;
  return longer ? p->first_deadline_ns : p->deadline_ns;
}

static kmb_status settled(const kmbi_ranks *ranks) {
  return kmbi_fail(ranks->settled, "%s", ranks->settled_text);
}

static kmb_status settle(kmbi_ranks *ranks, kmb_status status) {
  ranks->settled = status;
  snprintf(ranks->settled_text, sizeof ranks->settled_text, "%s",
           kmb_last_error(NULL, NULL));
  return status;
}

/* The first rank that failed; one that only waited in vain is not the cause if
 * there is another. The number of ranks if there is none. */
static uint32_t culprit(const kmbi_ranks *ranks) {
  uint32_t found = ranks->size;
  for (uint32_t r = 0; r < ranks->size; r++) {
    kmb_status status = ranks->comm->heard[r].status;
    if (status && status != KMB_ERR_TIMEOUT) return r;
    if (status && found == ranks->size) found = r;
  }
  return found;
}

/* What failed; our own words if we have. */
static kmb_status first_failure(kmbi_run *run, kmb_status own) {
  kmbi_ranks *ranks = &run->ranks;
  uint32_t rank = culprit(ranks);
  if (rank == ranks->size) return KMB_OK;
  const kmbi_record *heard = &ranks->comm->heard[rank];
  if (own && (own != KMB_ERR_TIMEOUT || heard->status == own)) return own;
  return kmbi_fail(heard->status,
                   "rank %u failed at step \"%s\", exchange %llu: %s",
                   (unsigned)rank, kmbi_comm_stage(heard->stage),
                   (unsigned long long)heard->sequence, heard->message);
}

/* A rank that ended its step, or never began it, does not hear of what comes
 * in this one. */
static bool has_left(uint32_t say) {
  return say == KMBI_SAY_STEP || say == KMBI_SAY_LEAVE || say == KMBI_SAY_ENTER;
}

static bool have_parted(const kmbi_ranks *ranks, kmbi_say say) {
  bool parted = false;
  for (uint32_t r = 0; r < ranks->size; r++)
    parted |= has_left(ranks->comm->heard[r].say);
  return parted && !has_left(say);
}

static kmb_status disagree(kmbi_run *run, uint32_t rank, const char *what) {
  kmb_comm *comm = run->ranks.comm;
  const kmbi_record *heard = &comm->heard[rank];
  return kmbi_comm_poison(
      comm, KMB_ERR_INTERNAL,
      "ranks %u and %u disagree about %s: step \"%s\" of one, \"%s\" of the "
      "other, exchange %llu; do their callbacks and parameters differ?",
      (unsigned)rank, (unsigned)run->ranks.rank, what,
      kmbi_comm_stage(heard->stage), kmbi_comm_stage(comm->mine.stage),
      (unsigned long long)comm->sequence);
}

static kmb_status compare(kmbi_run *run) {
  const kmb_comm *comm = run->ranks.comm;
  for (uint32_t r = 0; r < run->ranks.size; r++) {
    const kmbi_record *heard = &comm->heard[r];
    if (heard->say != comm->mine.say || heard->stage != comm->mine.stage)
      return disagree(run, r, "what comes next");
    if (heard->same != comm->mine.same)
      return disagree(run, r, "how many samples or iterations to take");
  }
  return KMB_OK;
}

static void listen(kmbi_run *run) {
  kmbi_ranks *ranks = &run->ranks;
  ranks->clock_ns = ranks->comm->heard[0].now_ns;
  for (uint32_t r = 0; r < ranks->size; r++)
    ranks->cancelled |= ranks->comm->heard[r].cancelled != 0;
}

static void speak(kmbi_run *run, kmbi_say say, kmb_status status,
                  const void *payload, size_t bytes, uint64_t same) {
  kmbi_record *mine = &run->ranks.comm->mine;
  memset(mine, 0, sizeof *mine);
  mine->say = say;
  mine->stage = run->ranks.stage;
  mine->same = same;
  mine->status = status;
  mine->cancelled = kmbi_cancel_asked(run->device) != 0;
  /* A backend that failed need not have a clock any more. */
  mine->now_ns = status ? run->ranks.clock_ns : kmbi_now(run->device);
  if (bytes) memcpy(mine->payload, payload, bytes);
  if (status > 0)
    snprintf(mine->message, sizeof mine->message, "a callback returned %d",
             (int)status);
  else if (status)
    snprintf(mine->message, sizeof mine->message, "%.*s", KMBI_COMM_TEXT - 1,
             kmb_last_error(NULL, NULL));
}

/* What a rank meets whose device waits for another one. */
static bool is_consequence(kmb_status status) {
  return status == KMB_ERR_TIMEOUT || status == KMB_ERR_LOST;
}

kmb_status kmbi_ranks_give(kmbi_run *run, kmbi_say say, kmb_status status,
                           const void *payload, size_t bytes, uint64_t same) {
  kmbi_ranks *ranks = &run->ranks;
  if (ranks->settled) return status ? status : settled(ranks);
  kmbi_error_state own;
  kmbi_error_save(&own);
  speak(run, say, status, payload, bytes, same);
  kmb_status met = kmbi_comm_exchange(ranks->comm, deadline(run));
  if (met) {
    settle(ranks, met);
    if (!status) return met;
    if (is_consequence(status))
      return kmbi_fail(status, "%.170s; here: %.80s", ranks->comm->poisoned,
                       own.message);
    kmbi_error_restore(&own);
    return status;
  }
  listen(run);
  status = first_failure(run, status);
  if (status) {
    ranks->failed = true;
    return have_parted(ranks, say) ? settle(ranks, status) : status;
  }
  status = compare(run);
  return status ? settle(ranks, status) : KMB_OK;
}

kmb_status kmbi_all_agree(kmbi_run *run, kmbi_say say, kmb_status status) {
  return kmbi_ranks_give(run, say, status, NULL, 0, 0);
}

const void *kmbi_ranks_given(const kmbi_run *run, uint32_t rank) {
  return run->ranks.comm->heard[rank].payload;
}

/* Entering. */

static kmb_status take_memory(kmbi_run *run) {
  kmbi_ranks *ranks = &run->ranks;
  const kmbi_memory *memory = &run->device->memory;
  ranks->entrances = kmbi_alloc(memory, ranks->size, sizeof *ranks->entrances);
  ranks->block = kmbi_alloc(memory, (size_t)KMBI_BLOCK * ranks->size,
                            sizeof *ranks->block);
  ranks->nodes = kmbi_alloc(memory, ranks->size, sizeof *ranks->nodes);
  if (ranks->entrances && ranks->block && ranks->nodes) return KMB_OK;
  return kmbi_fail(KMB_ERR_NOMEM, "no memory for the records of %u ranks",
                   (unsigned)ranks->size);
}

static void number_nodes(kmbi_ranks *ranks) {
  ranks->node_count = 0;
  for (uint32_t r = 0; r < ranks->size; r++) {
    uint32_t first = 0;
    while (ranks->entrances[first].host != ranks->entrances[r].host)
      first++;
    ranks->nodes[r] = first < r ? ranks->nodes[first] : ranks->node_count++;
  }
}

static kmb_status compare_params(const kmbi_ranks *ranks) {
  static const char *const groups[KMBI_GROUPS] = {
      "name, axes or boundary",
      "backend, timer, launch mode, cache state, flags, config or graphs",
      "limits, batch, seed or rounds",
      "callbacks or work, of which one has some that another lacks",
      "buffers, in their order, names, sizes, places, types or roles",
      "barrier, multicast state or collective",
  };
  for (int g = 0; g < KMBI_GROUPS; g++)
    for (uint32_t r = 1; r < ranks->size; r++)
      if (ranks->entrances[r].hashes[g] != ranks->entrances[0].hashes[g])
        return kmbi_fail(KMB_ERR_INVALID,
                         "ranks 0 and %u were given different parameters: %s; "
                         "every rank measures the same point in the same way",
                         (unsigned)r, groups[g]);
  return KMB_OK;
}

static kmb_status compare_devices(const kmbi_ranks *ranks) {
  for (uint32_t a = 0; a < ranks->size; a++)
    for (uint32_t b = a + 1; b < ranks->size; b++) {
      const kmbi_entrance *x = &ranks->entrances[a], *y = &ranks->entrances[b];
      if (x->id[0] && x->host == y->host && strcmp(x->id, y->id) == 0)
        return kmbi_fail(KMB_ERR_INVALID,
                         "ranks %u and %u have the same device (%s): they "
                         "would wait for each other; give each its own",
                         (unsigned)a, (unsigned)b, x->id);
    }
  return KMB_OK;
}

static kmb_status hold(kmbi_run *run) {
  kmb_comm *comm = run->p.comm;
  kmb_status status = kmbi_comm_enter(comm, "kmb_bench");
  if (status) return status;
  run->ranks.holds = true;
  run->ranks.size = (uint32_t)comm->ops.size;
  run->ranks.rank = (uint32_t)comm->ops.rank;
  if (comm->ops.size > 1) run->ranks.comm = comm;
  return KMB_OK;
}

kmb_status kmbi_all_enter(kmbi_run *run, kmb_status status) {
  kmbi_ranks *ranks = &run->ranks;
  kmb_status held = hold(run);
  if (held) return status ? status : held;
  if (!status) status = take_memory(run);
  kmbi_entrance mine;
  memset(&mine, 0, sizeof mine);
  if (!status) describe(run, &mine);
  if (!ranks->comm) {
    if (status) return status;
    ranks->entrances[0] = mine;
    number_nodes(ranks);
    return KMB_OK;
  }
  run->device->defers_cancel = true;
  status = kmbi_ranks_give(run, KMBI_SAY_ENTER, status, &mine, sizeof mine, 0);
  if (status) return status;
  for (uint32_t r = 0; r < ranks->size; r++)
    memcpy(&ranks->entrances[r], kmbi_ranks_given(run, r), sizeof mine);
  number_nodes(ranks);
  status = compare_params(ranks);
  if (!status) status = compare_devices(ranks);
  ranks->entered = !status;
  run->entered_ns = kmbi_clock(run);
  return status;
}

/* The communicator is all that is looked at. */
void kmbi_all_refuse(kmb_comm *comm, kmb_status status) {
  if (comm->ops.size < 2) return;
  kmbi_error_state own;
  kmbi_error_save(&own);
  if (!kmbi_comm_enter(comm, "kmb_bench")) {
    memset(&comm->mine, 0, sizeof comm->mine);
    comm->mine.say = KMBI_SAY_ENTER;
    comm->mine.status = status;
    snprintf(comm->mine.message, sizeof comm->mine.message, "%.*s",
             KMBI_COMM_TEXT - 1, own.message);
    (void)kmbi_comm_exchange(comm, comm->params.first_deadline_ns);
    kmbi_comm_leave(comm);
  }
  kmbi_error_restore(&own);
}

double kmbi_all_patience(const kmbi_run *run) {
  return 0.9 * deadline(run);
}

kmb_status kmbi_all_step(kmbi_run *run, kmb_status status) {
  if (!run->ranks.settled) return kmbi_all_agree(run, KMBI_SAY_STEP, status);
  return status ? status : settled(&run->ranks);
}

kmb_status kmbi_all_leave(kmbi_run *run, kmb_status status) {
  kmbi_ranks *ranks = &run->ranks;
  ranks->entered = false;
  ranks->stage = KMBI_DONE + 1;
  /* Before the others hear of it and give back what is mapped here. */
  kmbi_all_barrier_close(run);
  return kmbi_all_agree(run, KMBI_SAY_LEAVE, status);
}

void kmbi_all_release(kmbi_run *run) {
  kmbi_ranks *ranks = &run->ranks;
  const kmbi_memory *memory = &run->device->memory;
  size_t size = ranks->size;
  run->device->defers_cancel = false;
  kmbi_free(memory, ranks->entrances, size, sizeof *ranks->entrances);
  kmbi_free(memory, ranks->block, KMBI_BLOCK * size, sizeof *ranks->block);
  kmbi_free(memory, ranks->nodes, size, sizeof *ranks->nodes);
  kmbi_free(memory, ranks->spans, ranks->span_capacity * size,
            sizeof *ranks->spans);
  if (ranks->holds) kmbi_comm_leave(run->p.comm);
}

const kmbi_ranks_ops kmbi_all_ranks = {
    .refuse = kmbi_all_refuse,
    .enter = kmbi_all_enter,
    .step = kmbi_all_step,
    .leave = kmbi_all_leave,
    .release = kmbi_all_release,
    .barrier = kmbi_all_barrier,
    .barrier_close = kmbi_all_barrier_close,
    .agree = kmbi_all_agree,
    .choose = kmbi_all_choose,
    .cache = kmbi_all_cache,
    .bias = kmbi_all_bias,
    .first_use = kmbi_all_first_use,
    .patience = kmbi_all_patience,
    .settle_stream = kmbi_all_settle_stream,
    .take = kmbi_all_take,
    .overdue = kmbi_all_overdue,
    .keep = kmbi_all_keep,
    .close = kmbi_all_close,
    .set = kmbi_all_set,
    .find = kmbi_all_find,
};
