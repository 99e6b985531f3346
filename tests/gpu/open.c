/* What opening costs, in this fresh process. usage: open kmb|driver */
#include <stdio.h>

#include "gpu.h"

int main(int argc, char **argv) {
  kmbi_cu_driver cu;
  kmb_device *device = NULL;
  kmbi_cu_context context = NULL;
  kmbi_cu_device ordinal = 0;
  bool ours = argc > 1 && strcmp(argv[1], "kmb") == 0;
  if (!gpu_driver(&cu)) {
    puts("SKIPPED: there is no CUDA driver on this machine");
    return 77;
  }
  double start = gpu_now();
  int failed = ours ? kmb_device_open("cuda:0", NULL, &device) != KMB_OK
                    : cu.cuInit(0) || cu.cuDeviceGet(&ordinal, 0) ||
                          cu.cuDevicePrimaryCtxRetain(&context, ordinal);
  printf("{\"open_%s_ms\": %.3f}\n", ours ? "kmb" : "driver",
         (gpu_now() - start) / 1e6);
  if (failed) fprintf(stderr, "%s\n", kmb_last_error(NULL, NULL));
  return failed;
}
