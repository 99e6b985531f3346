/* The backend on a machine without NVIDIA's driver. */
#include <kmb/kmb.h>

#include <dlfcn.h>
#include <stdio.h>

#include "../require.h"

enum { SKIPPED = 77 };

static void opening_says_what_is_missing(void) {
  static const char *const names[] = {"cuda", "cuda:0", "cuda:1:deadline=2"};
  for (int i = 0; i < 3; i++) {
    kmb_device *device = (kmb_device *)&device;
    kmb_status last = KMB_OK;
    REQUIRE_EQ(kmb_device_open(names[i], NULL, &device), KMB_ERR_UNAVAILABLE);
    REQUIRE(device == NULL);
    REQUIRE(strstr(kmb_last_error(&last, NULL), "libcuda.so.1") != NULL);
    REQUIRE_EQ(last, KMB_ERR_UNAVAILABLE);
  }
}

static void a_wrong_name_is_said_first(void) {
  static const char *const names[] = {"cuda:x",           "cuda:-1",
                                      "cuda:1024",        "cuda:0:deadline=0",
                                      "cuda:0:deadline=", "cuda:0:"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    kmb_device *device = NULL;
    REQUIRE_EQ(kmb_device_open(names[i], NULL, &device), KMB_ERR_INVALID);
    REQUIRE(strstr(kmb_last_error(NULL, NULL), "deadline=SECONDS") != NULL);
  }
}

static void binding_is_not_for_it(void) {
  kmb_device_params params = kmb_device_params_init();
  kmb_device *device = NULL;
  params.flags = KMB_DEVICE_BIND;
  REQUIRE_EQ(kmb_device_open("cuda", &params, &device), KMB_ERR_UNSUPPORTED);
}

static void auto_takes_the_host(void) {
  kmb_device *device = NULL;
  const char *backend = "";
  REQUIRE_EQ(kmb_device_open("auto", NULL, &device), KMB_OK);
  REQUIRE_EQ(kmb_device_attr_text(device, KMB_DEVICE_BACKEND, &backend),
             KMB_OK);
  REQUIRE(strcmp(backend, "host") == 0);
  kmb_device_close(device);
}

int main(void) {
  if (dlopen("libcuda.so.1", RTLD_NOW)) {
    puts("SKIPPED: this machine has NVIDIA's driver");
    return SKIPPED;
  }
  RUN(opening_says_what_is_missing);
  RUN(a_wrong_name_is_said_first);
  RUN(binding_is_not_for_it);
  RUN(auto_takes_the_host);
  return 0;
}
