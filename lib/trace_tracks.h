/* Where a viewer of Chrome JSON draws the parts of a trace.
 *
 * A viewer draws each pair of a process and a thread as one track. Perfetto
 * leaves out, or moves, what overlaps another slice of its track without lying
 * within it; keeps ids in 32 bits; and takes thread 0 of a process for its main
 * thread. So each stream and each thread has a track of its own and, while
 * something overlaps, further ones. Ids stay what they are where they can. */
#ifndef KMB_LIB_TRACE_TRACKS_H
#define KMB_LIB_TRACE_TRACKS_H

#include "trace.h"

typedef struct kmbi_track {
  uint64_t end; /* of the last operation */
  uint32_t pid, tid;
  uint32_t part;  /* of its stream or thread, from 1 on */
  uint32_t next;  /* part; KMBI_NO_ROW */
  uint32_t top;   /* of the host's slices that are open; KMBI_NO_ROW */
  uint32_t depth; /* how many they are */
  bool named;     /* the writer's own */
} kmbi_track;

typedef struct kmbi_tracks {
  const kmb_trace *trace;
  kmbi_arena arena;
  uint32_t *devices;   /* pid of each */
  uint32_t *lanes;     /* tid of each, 0 where it has to be a free one */
  uint32_t *first;     /* track of each lane */
  uint32_t *last;      /* … */
  uint64_t *until;     /* no track of a lane is free before */
  uint32_t *processes; /* pid, of each thread */
  uint32_t *threads;   /* tid of each */
  kmbi_rows ops;       /* tracks of streams */
  kmbi_rows host;      /* tracks of the thread that is being written */
  kmbi_rows open;      /* their slices */
  uint32_t free_slot;  /* in `open` */
  uint32_t thread;     /* that is being written */
  uint64_t host_until; /* no slice that is last on its track ends before */
  uint64_t host_end;   /* none ends after */
  uint32_t next_pid, next_stream, next_thread;
} kmbi_tracks;

/* Release it whatever the status is. */
kmb_status kmbi_tracks_init(kmbi_tracks *tracks, const kmb_trace *trace);
void kmbi_tracks_release(kmbi_tracks *tracks);

/* Operations come in the order of starts, of the host first all of one thread,
 * then all of another, what encloses others before them. NULL without memory.
 */
kmbi_track *kmbi_tracks_op(kmbi_tracks *tracks, const kmbi_op *op);
kmbi_track *kmbi_tracks_host(kmbi_tracks *tracks, uint32_t thread,
                             uint64_t start, uint64_t end);

#endif
