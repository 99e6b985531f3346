/* Sessions on the device's clock: when each mark was reached. */
#include "plan.h"

typedef struct sim_marks {
  void *stream;
  uint32_t count;
  double at[];
} sim_marks;

kmb_status sim_session_open(void *self, void *stream, uint32_t count,
                            void **session) {
  sim_device *device = self;
  const kmb_host *host = &device->host;
  SIM_FAULT(device, session_open);
  sim_marks *m = host->alloc(host->ctx, sizeof *m + count * sizeof(double),
                             _Alignof(sim_marks));
  if (!m)
    return host->fail(host->ctx, KMB_ERR_NOMEM, 0,
                      "simulated device: no memory for marks");
  *m = (sim_marks){.count = count};
  kmb_status status = sim_stream_open(self, stream, &m->stream);
  if (status)
    host->free(host->ctx, m, sizeof *m + count * sizeof(double));
  else
    *session = m;
  return status;
}

kmb_status sim_session_mark(void *self, void *session, uint32_t mark) {
  sim_device *device = self;
  sim_marks *m = session;
  SIM_FAULT(device, session_mark);
  if (mark >= m->count) {
    sim_misuse(device, "session_mark beyond the last one");
    return KMB_ERR_INVALID;
  }
  if (device->clock > device->idle_at) device->idle_at = device->clock;
  m->at[mark] = device->idle_at;
  device->idle_at += device->config.event / 2;
  return KMB_OK;
}

kmb_status sim_session_read(void *self, void *session, uint32_t from,
                            uint32_t to, double *ns) {
  sim_device *device = self;
  const sim_marks *m = session;
  SIM_FAULT(device, session_read);
  if (device->hung) return sim_wait(device);
  if (m->at[to] > device->clock) device->clock = m->at[to];
  *ns = sim_step(device, m->at[to]) - sim_step(device, m->at[from]);
  *ns *= device->config.lie[KMB_TIMER_EVENT];
  return KMB_OK;
}

void sim_session_close(void *self, void *session) {
  sim_device *device = self;
  sim_marks *m = session;
  sim_stream_close(self, m->stream);
  device->host.free(device->host.ctx, m, sizeof *m + m->count * sizeof(double));
}
