/* A program of 0.1 that uses all of sweep.h: built against the frozen headers
 * of that release and linked to the library of today. Not edited once 0.1 is
 * tagged. */
#include "check.h"

#include <unistd.h>

static kmb_result *measure(kmb_device *device, const kmb_pair *axes) {
  const double ns[] = {1, 2, 3, 4, 5, 6, 7, 8};
  kmb_bench_params p = kmb_bench_params_init();
  kmb_result *result = NULL;
  p.name = "copy";
  p.axes = axes;
  p.axis_count = 1;
  OK(kmb_result_from_samples(device, &p, ns, 8, 0, &result));
  return result;
}

int main(void) {
  static const kmb_pair axes[] = {{"n", "1"}};
  char path[] = "/tmp/kmb-frozen-XXXXXX";
  int file = mkstemp(path);
  kmb_device *device = NULL;
  kmb_sweep *sweep = NULL;
  HOLDS(file >= 0 && close(file) == 0);
  OK(kmb_device_open("host", NULL, &device));
  OK(kmb_sweep_open(device, path, &sweep));
  HOLDS(!kmb_sweep_find(sweep, "copy", axes, 1));
  OK(kmb_sweep_add(sweep, measure(device, axes)));
  kmb_sweep_close(sweep);
  OK(kmb_sweep_open(device, path, &sweep));
  HOLDS(kmb_sweep_find(sweep, "copy", axes, 1));
  HOLDS(kmb_results_count(kmb_sweep_results(sweep)) == 1);
  kmb_sweep_close(sweep);
  kmb_device_close(device);
  HOLDS(unlink(path) == 0);
  printf("built with %s, ran with %s\n", KMB_VERSION, kmb_version());
  return 0;
}
