#include "unpack.h"

#include <stddef.h>

enum { LENGTH_BYTES = 3, REPEATS = 128, SHORTEST = 3, FAR = 128 };

void kmbi_unpack(const unsigned char *packed, char *text) {
  const char *end =
      text + (packed[0] | (size_t)packed[1] << 8 | (size_t)packed[2] << 16);
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
}
