/* Tracks of a viewer: ids, and what fits onto which. */
#include "trace_tracks.h"

#include "error.h"

/* Larger ids are replaced: half of what 32 bits hold is left for others. */
#define MOST_ID (UINT64_C(1) << 31)
/* Perfetto leaves out what lies deeper. */
enum { MOST_DEPTH = 512 };

typedef struct slice {
  uint64_t end;
  uint32_t below;
} slice;

static kmbi_map_key key_of_process(const void *rows, uint32_t index) {
  const kmbi_thread *thread = kmbi_rows_at(rows, index);
  return (kmbi_map_key){thread->process, 0, 0};
}

static kmbi_map_key key_of_stream(const void *rows, uint32_t index) {
  const kmbi_lane *lane = kmbi_rows_at(rows, index);
  return (kmbi_map_key){lane->device, lane->stream, 0};
}

static void widen(uint32_t *next, uint64_t id) {
  if (id <= MOST_ID && id >= *next) *next = (uint32_t)id + 1;
}

/* Free ids lie above all that are kept. */
static void find_free(kmbi_tracks *t) {
  const kmb_trace *trace = t->trace;
  t->next_pid = t->next_stream = t->next_thread = 1;
  for (uint32_t i = 0; i < trace->threads.count; i++) {
    const kmbi_thread *thread = kmbi_rows_at(&trace->threads, i);
    widen(&t->next_pid, thread->process);
    widen(&t->next_thread, thread->thread);
  }
  for (uint32_t i = 0; i < trace->devices.count; i++) {
    const kmbi_trace_device *device = kmbi_rows_at(&trace->devices, i);
    widen(&t->next_pid, device->id);
  }
  for (uint32_t i = 0; i < trace->lanes.count; i++)
    widen(&t->next_stream, kmbi_lane_at(trace, i)->stream);
}

/* False without memory. */
static bool place_threads(kmbi_tracks *t, kmbi_map *processes) {
  const kmb_trace *trace = t->trace;
  for (uint32_t i = 0; i < trace->threads.count; i++) {
    const kmbi_thread *thread = kmbi_rows_at(&trace->threads, i);
    const kmbi_map_key key = {thread->process, 0, 0};
    uint32_t known = kmbi_map_find(processes, key);
    if (known != KMBI_NO_ROW)
      t->processes[i] = t->processes[known];
    else if (!kmbi_map_put(processes, key, i))
      return false;
    else
      t->processes[i] = thread->process <= MOST_ID ? (uint32_t)thread->process
                                                   : t->next_pid++;
    bool kept = thread->thread ? thread->thread <= MOST_ID : !thread->process;
    t->threads[i] = kept ? (uint32_t)thread->thread : t->next_thread++;
  }
  return true;
}

/* The torch profiler gives a device's operations its number for a process. */
static void place_devices(kmbi_tracks *t, const kmbi_map *processes) {
  for (uint32_t i = 0; i < t->trace->devices.count; i++) {
    const kmbi_trace_device *device = kmbi_rows_at(&t->trace->devices, i);
    const kmbi_map_key key = {device->id, 0, 0};
    bool kept =
        device->id <= MOST_ID && kmbi_map_find(processes, key) == KMBI_NO_ROW;
    t->devices[i] = kept ? (uint32_t)device->id : t->next_pid++;
  }
}

/* …and its streams theirs for a thread. */
static bool place_lanes(kmbi_tracks *t, kmbi_map *streams) {
  for (uint32_t i = 0; i < t->trace->lanes.count; i++) {
    const kmbi_lane *lane = kmbi_lane_at(t->trace, i);
    const kmbi_map_key key = {lane->device, lane->stream, 0};
    t->first[i] = t->last[i] = KMBI_NO_ROW;
    if (lane->stream > MOST_ID || kmbi_map_find(streams, key) != KMBI_NO_ROW)
      continue;
    if (!kmbi_map_put(streams, key, i)) return false;
    t->lanes[i] = (uint32_t)lane->stream;
  }
  return true;
}

static kmb_status no_memory(void) {
  return kmbi_fail(KMB_ERR_NOMEM, "no memory to write a trace");
}

kmb_status kmbi_tracks_init(kmbi_tracks *t, const kmb_trace *trace) {
  const kmbi_memory *memory = &trace->memory;
  kmbi_map processes, streams;
  *t = (kmbi_tracks){
      .trace = trace, .free_slot = KMBI_NO_ROW, .thread = KMBI_NO_ROW};
  kmbi_arena_init(&t->arena, memory);
  kmbi_rows_init(&t->ops, memory, sizeof(kmbi_track));
  kmbi_rows_init(&t->host, memory, sizeof(kmbi_track));
  kmbi_rows_init(&t->open, memory, sizeof(slice));
  size_t size = sizeof(uint32_t);
  t->devices = kmbi_arena_alloc(&t->arena, trace->devices.count, size);
  t->lanes = kmbi_arena_alloc(&t->arena, trace->lanes.count, size);
  t->first = kmbi_arena_alloc(&t->arena, trace->lanes.count, size);
  t->last = kmbi_arena_alloc(&t->arena, trace->lanes.count, size);
  t->until = kmbi_arena_alloc(&t->arena, trace->lanes.count, sizeof *t->until);
  t->processes = kmbi_arena_alloc(&t->arena, trace->threads.count, size);
  t->threads = kmbi_arena_alloc(&t->arena, trace->threads.count, size);
  if (kmbi_arena_failed(&t->arena)) return no_memory();
  find_free(t);
  kmbi_map_init(&processes, memory, key_of_process, &trace->threads);
  kmbi_map_init(&streams, memory, key_of_stream, &trace->lanes);
  bool good = place_threads(t, &processes) && place_lanes(t, &streams);
  if (good) place_devices(t, &processes);
  kmbi_map_release(&processes);
  kmbi_map_release(&streams);
  return good ? KMB_OK : no_memory();
}

void kmbi_tracks_release(kmbi_tracks *t) {
  kmbi_rows_release(&t->ops);
  kmbi_rows_release(&t->host);
  kmbi_rows_release(&t->open);
  kmbi_arena_release(&t->arena);
}

static kmbi_track *add_track(kmbi_rows *rows, uint32_t part) {
  kmbi_track *track = kmbi_rows_add(rows);
  if (track)
    *track =
        (kmbi_track){.part = part, .next = KMBI_NO_ROW, .top = KMBI_NO_ROW};
  return track;
}

static kmbi_track *add_op_track(kmbi_tracks *t, uint32_t lane) {
  uint32_t last = t->last[lane], index = t->ops.count, part = 1;
  if (last != KMBI_NO_ROW) {
    const kmbi_track *before = kmbi_rows_at(&t->ops, last);
    part = before->part + 1;
  }
  kmbi_track *track = add_track(&t->ops, part);
  if (!track) return NULL;
  if (last == KMBI_NO_ROW) {
    t->first[lane] = index;
  } else {
    kmbi_track *before = kmbi_rows_at(&t->ops, last);
    before->next = index;
  }
  t->last[lane] = index;
  track->pid = t->devices[kmbi_lane_at(t->trace, lane)->device];
  track->tid = part > 1 || !t->lanes[lane] ? t->next_stream++ : t->lanes[lane];
  return track;
}

/* The first track that is free. Where many overlap most are not, and `until`
 * spares the search. */
kmbi_track *kmbi_tracks_op(kmbi_tracks *t, const kmbi_op *op) {
  uint64_t *until = &t->until[op->lane];
  kmbi_track *track = NULL;
  if (op->start >= *until) {
    *until = UINT64_MAX;
    uint32_t at = t->first[op->lane];
    for (; at != KMBI_NO_ROW; at = track->next) {
      track = kmbi_rows_at(&t->ops, at);
      if (track->end < *until) *until = track->end;
      if (track->end <= op->start) {
        track->end = op->end;
        return track;
      }
    }
  }
  track = add_op_track(t, op->lane);
  if (!track) return NULL;
  track->end = op->end;
  if (op->end < *until) *until = op->end;
  return track;
}

static void close_until(kmbi_tracks *t, kmbi_track *track, uint64_t time) {
  while (track->top != KMBI_NO_ROW) {
    uint32_t top = track->top;
    slice *s = kmbi_rows_at(&t->open, top);
    if (s->end > time) return;
    track->top = s->below;
    track->depth--;
    s->below = t->free_slot;
    t->free_slot = top;
  }
}

static bool fits(const kmbi_tracks *t, const kmbi_track *track, uint64_t end) {
  if (track->top == KMBI_NO_ROW) return true;
  const slice *top = kmbi_rows_at(&t->open, track->top);
  return end <= top->end && track->depth < MOST_DEPTH;
}

/* False without memory. */
static bool put_slice(kmbi_tracks *t, kmbi_track *track, uint64_t end) {
  uint32_t index = t->free_slot;
  if (index == KMBI_NO_ROW) {
    index = t->open.count;
    if (!kmbi_rows_add(&t->open)) return false;
  }
  slice *s = kmbi_rows_at(&t->open, index);
  if (t->free_slot != KMBI_NO_ROW) t->free_slot = s->below;
  *s = (slice){end, track->top};
  track->top = index;
  track->depth++;
  return true;
}

static kmbi_track *find_host(kmbi_tracks *t, uint64_t start, uint64_t end) {
  uint64_t until = UINT64_MAX;
  if (start < t->host_until && end > t->host_end) return NULL;
  for (uint32_t i = 0; i < t->host.count; i++) {
    kmbi_track *track = kmbi_rows_at(&t->host, i);
    close_until(t, track, start);
    if (fits(t, track, end)) return track;
    const slice *top = kmbi_rows_at(&t->open, track->top);
    if (top->end < until) until = top->end;
  }
  t->host_until = until;
  return NULL;
}

kmbi_track *kmbi_tracks_host(kmbi_tracks *t, uint32_t thread, uint64_t start,
                             uint64_t end) {
  if (thread != t->thread) {
    t->thread = thread;
    t->host.count = t->open.count = 0;
    t->free_slot = KMBI_NO_ROW;
    t->host_until = UINT64_MAX;
    t->host_end = 0;
  }
  kmbi_track *track = find_host(t, start, end);
  if (!track) {
    track = add_track(&t->host, t->host.count + 1);
    if (!track) return NULL;
    track->pid = t->processes[thread];
    track->tid = track->part > 1 ? t->next_thread++ : t->threads[thread];
  }
  if (end < t->host_until) t->host_until = end;
  if (end > t->host_end) t->host_end = end;
  return put_slice(t, track, end) ? track : NULL;
}
