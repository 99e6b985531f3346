#include "unpack.h"

enum { LENGTH_BYTES = 3, REPEATS = 128, SHORTEST = 3, FAR = 128 };

size_t kmbi_cuda_unpacked_size(const unsigned char *packed) {
  return (packed[0] | (size_t)packed[1] << 8 | (size_t)packed[2] << 16) + 1;
}

void kmbi_cuda_unpack(const unsigned char *packed, char *text) {
  char *end = text + kmbi_cuda_unpacked_size(packed) - 1;
  packed += LENGTH_BYTES;
  while (text < end) {
    unsigned byte = *packed++;
    if (byte < REPEATS) {
      *text++ = (char)byte;
      continue;
    }
    unsigned back = *packed++;
    if (back >= FAR) back = (back - FAR) << 8 | *packed++;
    for (unsigned n = byte - REPEATS + SHORTEST; n; n--, text++)
      *text = text[-1 - (ptrdiff_t)back];
  }
  *end = '\0';
}
