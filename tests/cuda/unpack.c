/* What the driver is given is the committed PTX, byte for byte. */
#include "unpack.h"

#include "../require.h"
#include "ceilings.ptx.h"
#include "kernels.ptx.h"

static void is_the_same(const unsigned char *packed, const char *text,
                        size_t size) {
  REQUIRE_EQ(kmbi_cuda_unpacked_size(packed), size);
  char *out = malloc(size + 1);
  REQUIRE(out);
  memset(out, '#', size + 1);
  kmbi_cuda_unpack(packed, out);
  REQUIRE_EQ(memcmp(out, text, size), 0);
  REQUIRE_EQ(out[size], '#');
  free(out);
}

static void kernels_are_as_committed(void) {
  is_the_same(kmbi_cuda_ptx_packed, kmbi_cuda_ptx, sizeof kmbi_cuda_ptx);
}

static void ceilings_are_as_committed(void) {
  is_the_same(kmbi_cuda_ceilings_ptx_packed, kmbi_cuda_ceilings_ptx,
              sizeof kmbi_cuda_ceilings_ptx);
}

int main(void) {
  RUN(kernels_are_as_committed);
  RUN(ceilings_are_as_committed);
  return 0;
}
