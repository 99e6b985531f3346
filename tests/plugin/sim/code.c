/* Captures of code. The device has no code: its k-th capture gives one kernel,
 * whose instructions are those of the capture before if k is odd, and whose
 * image is never that of another. */
#include "sim.h"

#include <stdio.h>

kmb_status sim_code_begin(void *self, void **capture) {
  sim_device *device = self;
  SIM_FAULT(device, code_begin);
  *capture = device;
  return KMB_OK;
}

kmb_status sim_code_end(void *self, void *capture, const kmb_code_sink *sink) {
  sim_device *device = self;
  char image[40];
  (void)capture;
  SIM_FAULT(device, code_end);
  if (!sink) return KMB_OK;
  unsigned k = device->captures++;
  kmb_code_kernel kernel = kmb_code_kernel_init();
  kmb_code_info info = kmb_code_info_init();
  int bytes = snprintf(image, sizeof image, "image %8u: code %8u", k, k / 2);
  kernel.name = "_Z3simv";
  kernel.arch = "sim_1";
  kernel.launches = 1;
  kernel.code_bytes = 13;
  kernel.code_offset = (uint64_t)bytes - kernel.code_bytes;
  info.images = 1;
  kmb_status status = sink->kernel(sink->ctx, &kernel, image, (uint64_t)bytes);
  if (!status) sink->info(sink->ctx, &info);
  return status;
}
