/* The backend on a machine without an AMD GPU: with HIP's library, as Debian
 * has it, and without. */
#include <kmb/kmb.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

#include "../require.h"

enum { SKIPPED = 77 };

static bool has_library(void) {
  return dlopen("libamdhip64.so.7", RTLD_NOW) ||
         dlopen("libamdhip64.so.6", RTLD_NOW) ||
         dlopen("libamdhip64.so.5", RTLD_NOW);
}

static bool has_device(void) {
  FILE *file = fopen("/dev/kfd", "r");
  if (file) fclose(file);
  return file != NULL;
}

static void opening_says_what_is_missing(void) {
  static const char *const names[] = {"hip", "hip:0", "hip:1:deadline=2"};
  const char *missing =
      has_library() ? "shows 0 devices" : "no HIP: libamdhip64.so.7";
  printf("  HIP's library is %s\n", has_library() ? "here" : "absent");
  for (int i = 0; i < 3; i++) {
    kmb_device *device = (kmb_device *)&device;
    kmb_status last = KMB_OK;
    REQUIRE_STATUS(kmb_device_open(names[i], NULL, &device),
                   KMB_ERR_UNAVAILABLE);
    REQUIRE(device == NULL);
    REQUIRE_HAS(kmb_last_error(&last, NULL), missing);
    REQUIRE_EQ(last, KMB_ERR_UNAVAILABLE);
  }
}

static void a_wrong_name_is_said_first(void) {
  static const char *const names[] = {"hip:x",           "hip:-1",
                                      "hip:1024",        "hip:0:deadline=0",
                                      "hip:0:deadline=", "hip:0:"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    kmb_device *device = NULL;
    REQUIRE_STATUS(kmb_device_open(names[i], NULL, &device), KMB_ERR_INVALID);
    REQUIRE_HAS(kmb_last_error(NULL, NULL), "deadline=SECONDS");
  }
}

static void binding_is_not_for_it(void) {
  kmb_device_params params = kmb_device_params_init();
  kmb_device *device = NULL;
  params.flags = KMB_DEVICE_BIND;
  REQUIRE_STATUS(kmb_device_open("hip", &params, &device), KMB_ERR_UNSUPPORTED);
}

int main(void) {
  if (has_device()) {
    puts("SKIPPED: this machine has an AMD GPU");
    return SKIPPED;
  }
  RUN(opening_says_what_is_missing);
  RUN(a_wrong_name_is_said_first);
  RUN(binding_is_not_for_it);
  return 0;
}
