/* A machine of one host thread and a few streams, simulated forward from a
 * program: what waits for what is given, not found. It writes what a profiler
 * would see as JSON of the torch profiler, and knows how long the same program
 * takes with another kernel. It shares nothing with the library. */
#ifndef KMB_TESTS_PAYOFF_SIM_H
#define KMB_TESTS_PAYOFF_SIM_H

#include <stddef.h>
#include <stdint.h>

enum { SIM_ACTIONS = 4096, SIM_STREAMS = 4, SIM_EVENTS = 64 };

typedef enum sim_kind {
  SIM_LAUNCH, /* `name` on `stream` for `length` */
  SIM_COPY,
  SIM_RECORD, /* `event` on `stream` */
  SIM_WAIT,   /* `stream` waits for `event` */
  SIM_SYNC,   /* the host waits for `stream` */
  SIM_HOST,   /* the host does something else for `length` */
  SIM_BEGIN,  /* of a range called "step" */
  SIM_END
} sim_kind;

typedef struct sim_action {
  sim_kind kind;
  int stream, event;
  const char *name;
  uint64_t length;
} sim_action;

typedef struct sim {
  sim_action actions[SIM_ACTIONS];
  int count;
  /* Host time of a call, from a launch to its earliest start, between two
   * operations of a stream, from an event to what waits for it, and from the
   * end of work to that of the synchronisation. */
  uint64_t call, launch, step, wait, sync;
  uint64_t added; /* to each call, while it is recorded */
} sim;

void sim_init(sim *s);
void sim_add(sim *s, sim_kind kind, int stream, int event, const char *name,
             uint64_t length);
/* Length of the device's work with launches of `name` scaled by `ratio`; what a
 * profiler would write goes to `text` unless that is NULL. `rows`: 0 for all of
 * it, 1 for the device's part alone. */
double sim_run(const sim *s, const char *name, double ratio, char *text,
               size_t size, int rows);

#endif
