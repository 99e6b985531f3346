/* What must hold of whatever is taken for a cubin. */
#include "../../tools/kmb/code.h"
#include "fuzz.h"

#include "require.h"

int fuzz_cubin(const uint8_t *data, size_t size) {
  code_image image;
  char why[CODE_WHY] = "", hash[KMB_CODE_HASH_SIZE];
  if (code_image_read(data, size, &image, why)) {
    REQUIRE(why[0] && memchr(why, 0, sizeof why));
    REQUIRE(!image.kernels && !image.kernel_count);
    return 0;
  }
  bool amd = image.maker == CODE_AMD;
  REQUIRE(image.bytes == size);
  REQUIRE(strncmp(image.arch, amd ? "gfx" : "sm_", 3) == 0);
  for (size_t i = 0; i < image.kernel_count; i++) {
    const code_kernel *k = &image.kernels[i];
    REQUIRE(k->name && *k->name);
    REQUIRE(!i || strcmp(image.kernels[i - 1].name, k->name) <= 0);
    REQUIRE(k->code_bytes <= size);
    REQUIRE_OK(kmb_code_hash(k->code, k->code_bytes, hash));
    REQUIRE_STR(k->hash, hash);
  }
  code_image_free(&image);
  return 1;
}
