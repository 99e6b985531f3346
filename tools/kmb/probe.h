/* Devices, and what each timer says of the smallest thing that can be timed. */
#ifndef KMB_TOOLS_PROBE_H
#define KMB_TOOLS_PROBE_H

#include "kmb.h"

enum { PROBE_WHY = 256, PROBE_READINGS = 6 };

/* An operation that can be launched on a device from here. */
typedef struct probe {
  kmb_device *device;
  kmb_buffers *buffers; /* NULL on the host */
  kmb_launch_fn launch; /* NULL: nothing can be launched; `why` */
  void *symbol;         /* of the vendor's library */
  const char *what;     /* such as "an empty function" */
  char why[PROBE_WHY];
} probe;

void probe_open(kmb_device *device, probe *p);
void probe_close(probe *p);

/* One timer and launch mode. A number counts only if its flag is set. */
typedef struct reading {
  const char *timer_name, *mode_name;
  double raw_ns;             /* median, as the clock said */
  double below_ns, above_ns; /* of its interval */
  double bias_ns, bias_uncertainty_ns;
  double overhead_ns; /* upper bound */
  double tick_ns;     /* of the clock, a sample */
  uint64_t samples, batch;
  kmb_timer timer;
  kmb_launch_mode mode;
  char why[PROBE_WHY];     /* it does not work */
  char no_bias[PROBE_WHY]; /* it is not calibrated */
  char zero[128];
  bool works;
  bool has_raw, has_interval, has_bias, has_overhead, has_tick;
} reading;

/* Reads every timer and launch mode, PROBE_READINGS of them, each for at most
 * `wall_ns`; without `modes` only the first mode of each timer that works. */
int probe_read(probe *p, double wall_ns, bool modes,
               reading readings[PROBE_READINGS]);

/* "cuda:0" for a number, whichever GPU backend has it; else the word itself.
 * An exit status, reported. */
int open_device(const char *word, kmb_device **device);
const char *device_text(kmb_device *device, kmb_device_attr attr);

#endif
