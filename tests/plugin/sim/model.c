/* Randomness, and how long a kernel takes. */
#include "sim.h"

#include <math.h>

/* xorshift64* */
static uint64_t next(sim_random *random) {
  uint64_t x = random->state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  random->state = x;
  return x * 0x2545f4914f6cdd1dULL;
}

void sim_random_seed(sim_random *random, uint64_t seed) {
  /* Neighbouring seeds must not start alike, and the state is never 0. */
  random->state = (seed + 1) * 0xd1342543de82ef95ULL | 1;
  random->has_spare = false;
  for (int i = 0; i < 16; i++)
    next(random);
}

double sim_uniform(sim_random *random) {
  return (double)(next(random) >> 11) * 0x1p-53;
}

double sim_normal(sim_random *random) {
  if (random->has_spare) {
    random->has_spare = false;
    return random->spare;
  }
  double u = 0, v = 0, s = 0;
  do {
    u = 2 * sim_uniform(random) - 1;
    v = 2 * sim_uniform(random) - 1;
    s = u * u + v * v;
  } while (s >= 1 || s == 0);
  double scale = sqrt(-2 * log(s) / s);
  random->spare = v * scale;
  random->has_spare = true;
  return u * scale;
}

/* The mode is a Markov chain that leaves the slow mode after `dwell` kernels
 * on average and spends the share `p` in it. */
static void step_mode(sim_device *device) {
  const sim_config *c = &device->config;
  double leave = 1 / c->mode_dwell;
  double enter = leave * c->mode_p / (1 - c->mode_p);
  double u = sim_uniform(&device->model.random);
  if (c->mode_dwell <= 1)
    device->model.slow_mode = u < c->mode_p;
  else if (device->model.slow_mode)
    device->model.slow_mode = u >= leave;
  else
    device->model.slow_mode = u < enter;
}

void sim_model_wake(sim_device *device, double start) {
  const sim_config *c = &device->config;
  if (c->idle_ns > 0 && start - device->idle_at >= c->idle_ns)
    device->model.slow_left = c->idle_ramp;
}

void sim_model_work(sim_device *device, double ns) {
  if (device->model.slow_left > 0) device->model.slow_left -= ns;
}

/* What lowers the clock: telemetry shows it. */
static double slowness(sim_device *device, double start) {
  const sim_config *c = &device->config;
  double factor = 1;
  device->throttled =
      start >= c->throttle_at && start - c->throttle_at < c->throttle_for;
  if (device->throttled) factor *= c->throttle_f;
  sim_model_wake(device, start);
  if (device->model.slow_left > 0) factor *= c->idle_f;
  return factor;
}

double sim_model_duration(sim_device *device, double start, double ns) {
  const sim_config *c = &device->config;
  sim_model *m = &device->model;
  if (m->first < 0) m->first = start;
  device->slowness = slowness(device, start);
  ns *= device->slowness;
  if (c->noise > 0) ns *= 1 + c->noise * sim_normal(&m->random);
  if (c->ar_s > 0) {
    m->ar = c->ar_rho * m->ar +
            sqrt(1 - c->ar_rho * c->ar_rho) * sim_normal(&m->random);
    ns *= 1 + c->ar_s * m->ar;
  }
  if (c->tail_p > 0 && sim_uniform(&m->random) < c->tail_p) ns *= c->tail_f;
  if (c->mode_p > 0) {
    step_mode(device);
    if (m->slow_mode) ns *= 1 + c->mode_shift;
  }
  if (c->drift_tau > 0)
    ns *= 1 + c->drift_a * exp(-(start - m->first) / c->drift_tau);
  if (ns < 0) ns = 0;
  sim_model_work(device, ns);
  return ns;
}
