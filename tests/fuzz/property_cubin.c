/* What must hold of whatever is taken for a cubin. */
#include "../../backends/hip/image.h"
#include "../../tools/kmb/code.h"
#include "fuzz.h"

#include "require.h"

/* The HIP backend's reader, of whatever it is. */
static void backend_reads(const uint8_t *data, size_t size, const char *kernel,
                          uint64_t bytes) {
  kmbi_hip_facts f;
  kmbi_hip_image_read(data, size, kernel, &f);
  REQUIRE(f.offset <= size && f.bytes <= size - f.offset);
  REQUIRE(memchr(f.target, 0, sizeof f.target));
  REQUIRE(f.whole || (!f.bytes && !f.known));
  REQUIRE(!f.bytes || !bytes || f.bytes == bytes);
}

int fuzz_cubin(const uint8_t *data, size_t size) {
  code_image image;
  char why[CODE_WHY] = "", hash[KMB_CODE_HASH_SIZE];
  backend_reads(data, size, "first", 0);
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
    if (amd && i < 16) backend_reads(data, size, k->name, k->code_bytes);
  }
  code_image_free(&image);
  return 1;
}
