/* A machine of one host thread and a few streams, simulated forward. */
#include "sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct writer {
  char *text;
  size_t size, used;
  int first;
} writer;

typedef struct machine {
  const sim *s;
  writer out;
  int device_only;
  double host;                /* where the host is */
  double stream[SIM_STREAMS]; /* when a stream's last operation ends */
  int busy[SIM_STREAMS];      /* it has had one */
  double gate[SIM_STREAMS];   /* before which its next may not start */
  double event[SIM_EVENTS];
  double first, last; /* of the device's work, of a step */
  double total;
  double begun; /* of a range */
  int in_step, steps, id;
} machine;

void sim_init(sim *s) {
  memset(s, 0, sizeof *s);
  s->call = 3000;
  s->launch = 5000;
  s->step = 900;
  s->wait = 1500;
  s->sync = 2500;
}

void sim_add(sim *s, sim_kind kind, int stream, int event, const char *name,
             uint64_t length) {
  if (s->count == SIM_ACTIONS) abort();
  s->actions[s->count++] = (sim_action){kind, stream, event, name, length};
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
put(writer *w, const char *format, ...) {
  va_list arguments;
  if (!w->text) return;
  va_start(arguments, format);
  int size = vsnprintf(w->text + w->used, w->size - w->used, format, arguments);
  va_end(arguments);
  w->used += (size_t)size;
  if (w->used >= w->size) abort();
}

static void put_event(writer *w, const char *category, const char *name,
                      double start, double end, const char *args) {
  put(w,
      "%s{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": 1, "
      "\"tid\": 2, \"ts\": %.3f, \"dur\": %.3f, \"args\": {%s}}",
      w->first ? "" : ",\n", category, name, start / 1e3, (end - start) / 1e3,
      args);
  w->first = 0;
}

static void put_call(machine *m, const char *name, double end) {
  char args[64];
  snprintf(args, sizeof args, "\"correlation\": %d", m->id);
  if (!m->device_only)
    put_event(&m->out, "cuda_runtime", name, m->host, end, args);
}

static double later(double a, double b) {
  return a > b ? a : b;
}

static void extend(machine *m, double start, double end) {
  if (m->first < 0 || start < m->first) m->first = start;
  m->last = later(m->last, end);
}

static void enqueue(machine *m, const sim_action *a, double length) {
  double start = m->host + (double)m->s->launch;
  char args[128];
  int i = a->stream;
  m->id++;
  if (m->busy[i]) start = later(start, m->stream[i] + (double)m->s->step);
  start = later(start, m->gate[i]);
  m->gate[i] = 0;
  m->busy[i] = 1;
  m->stream[i] = start + length;
  extend(m, start, start + length);
  snprintf(args, sizeof args,
           "\"device\": 0, \"context\": 1, \"stream\": %d, \"correlation\": %d",
           7 + i, m->id);
  put_event(&m->out, a->kind == SIM_COPY ? "gpu_memcpy" : "kernel", a->name,
            start, start + length, args);
  double end = m->host + (double)(m->s->call + m->s->added);
  put_call(m, a->kind == SIM_COPY ? "cudaMemcpyAsync" : "cudaLaunchKernel",
           end);
  m->host = end;
}

static void synchronise(machine *m, int stream) {
  double end = m->host + (double)(m->s->sync + m->s->added);
  if (m->busy[stream]) end = later(end, m->stream[stream] + (double)m->s->sync);
  m->id++;
  put_call(m, "cudaStreamSynchronize", end);
  m->host = end;
}

static void call_for_event(machine *m, const sim_action *a) {
  double end = m->host + (double)m->s->call / 2 + (double)m->s->added;
  m->id++;
  if (a->kind == SIM_RECORD)
    m->event[a->event] = m->stream[a->stream];
  else
    m->gate[a->stream] =
        later(m->gate[a->stream], m->event[a->event] + (double)m->s->wait);
  put_call(m, a->kind == SIM_RECORD ? "cudaEventRecord" : "cudaStreamWaitEvent",
           end);
  m->host = end;
}

static void end_step(machine *m) {
  if (!m->device_only)
    put_event(&m->out, "user_annotation", "step", m->begun, m->host, "");
  m->total += m->last - m->first;
  m->steps++;
  m->first = -1;
  m->last = 0;
}

static void act(machine *m, const sim_action *a, const char *name,
                double ratio) {
  double length = (double)a->length;
  switch (a->kind) {
  case SIM_LAUNCH:
  case SIM_COPY:
    if (strcmp(a->name, name) == 0) length *= ratio;
    enqueue(m, a, length);
    break;
  case SIM_RECORD:
  case SIM_WAIT:
    call_for_event(m, a);
    break;
  case SIM_SYNC:
    synchronise(m, a->stream);
    break;
  case SIM_HOST:
    m->host += length;
    break;
  case SIM_BEGIN:
    m->begun = m->host;
    m->first = -1;
    m->last = 0;
    break;
  case SIM_END:
    end_step(m);
    break;
  }
}

double sim_run(const sim *s, const char *name, double ratio, char *text,
               size_t size, int rows) {
  machine m = {.s = s,
               .out = {text, size, 0, 1},
               .device_only = rows,
               .host = 1000,
               .first = -1};
  put(&m.out, "{\"traceEvents\": [\n");
  for (int i = 0; i < s->count; i++)
    act(&m, &s->actions[i], name, ratio);
  put(&m.out, "]}\n");
  return m.steps ? m.total : m.last - m.first;
}
