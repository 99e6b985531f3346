/* Our device code, which is text that repeats itself: packed by pack.py, which
 * says how, when the library is built. */
#ifndef KMB_BACKENDS_CUDA_UNPACK_H
#define KMB_BACKENDS_CUDA_UNPACK_H

#include <stddef.h>

/* Written by pack.py from kernels.ptx.h and ceilings.ptx.h. */
extern const unsigned char kmbi_cuda_ptx_packed[];
extern const unsigned char kmbi_cuda_ceilings_ptx_packed[];

/* Bytes of the text, its zero included. */
size_t kmbi_cuda_unpacked_size(const unsigned char *packed);
void kmbi_cuda_unpack(const unsigned char *packed, char *text);

#endif
