/* What opening costs, in this fresh process; the driver is loaded before the
 * clock starts. usage: open kmb|driver|steps */
#include <stdio.h>
#include <string.h>

#include "gpu.h"

static kmbi_cu_driver cu;
static double since;

static void step(const char *name) {
  double now = gpu_now();
  printf(", \"%s\": %.3f", name, (now - since) / 1e6);
  since = gpu_now();
}

/* As our own opening does it, step by step. */
static int in_steps(void) {
  char text[256];
  unsigned char uuid[16];
  kmbi_cu_device ordinal = 0;
  kmbi_cu_context context = NULL;
  int number = 0;
  since = gpu_now();
  double start = since;
  printf("{\"steps_ms\": {\"none\": 0");
  int failed = cu.cuDriverGetVersion(&number) != 0;
  step("cuDriverGetVersion");
  failed = failed || cu.cuInit(0);
  step("cuInit");
  failed = failed || cu.cuDeviceGetCount(&number) ||
           cu.cuDeviceGet(&ordinal, 0) ||
           cu.cuDeviceGetName(text, sizeof text, ordinal) ||
           cu.cuDeviceGetPCIBusId(text, sizeof text, ordinal) ||
           cu.cuDeviceGetUuid((struct CUuuid_st *)(void *)uuid, ordinal);
  step("identity");
  failed =
      failed ||
      cu.cuDeviceGetAttribute(&number, KMBI_CU_ATTR_COMPUTE_CAPABILITY_MAJOR,
                              ordinal) ||
      cu.cuDeviceGetAttribute(&number, KMBI_CU_ATTR_COMPUTE_CAPABILITY_MINOR,
                              ordinal) ||
      cu.cuDeviceGetAttribute(&number, KMBI_CU_ATTR_GPU_PCI_DEVICE_ID, ordinal);
  step("attributes");
  failed = failed || cu.cuDevicePrimaryCtxRetain(&context, ordinal);
  step("cuDevicePrimaryCtxRetain");
  printf("}, \"open_steps_ms\": %.3f}\n", (gpu_now() - start) / 1e6);
  return failed;
}

int main(int argc, char **argv) {
  kmb_device *device = NULL;
  kmbi_cu_context context = NULL;
  kmbi_cu_device ordinal = 0;
  const char *what = argc > 1 ? argv[1] : "driver";
  if (!gpu_driver(&cu)) {
    puts("SKIPPED: there is no CUDA driver on this machine");
    return 77;
  }
  if (strcmp(what, "steps") == 0) return in_steps();
  bool ours = strcmp(what, "kmb") == 0;
  double start = gpu_now();
  int failed = ours ? kmb_device_open("cuda:0", NULL, &device) != KMB_OK
                    : cu.cuInit(0) || cu.cuDeviceGet(&ordinal, 0) ||
                          cu.cuDevicePrimaryCtxRetain(&context, ordinal);
  printf("{\"open_%s_ms\": %.3f}\n", ours ? "kmb" : "driver",
         (gpu_now() - start) / 1e6);
  if (failed) fprintf(stderr, "%s\n", kmb_last_error(NULL, NULL));
  return failed;
}
