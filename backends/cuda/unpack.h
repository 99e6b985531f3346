/* Our device code, which is text that repeats itself: packed when the library
 * is built, by data/pack_text.py, which says how. */
#ifndef KMB_BACKENDS_CUDA_UNPACK_H
#define KMB_BACKENDS_CUDA_UNPACK_H

#include <stddef.h>

/* Made from kernels.ptx.h and ceilings.ptx.h. */
extern const unsigned char kmbi_cuda_ptx_packed[];
extern const unsigned char kmbi_cuda_ceilings_ptx_packed[];

/* Bytes of the text, its zero included. */
size_t kmbi_cuda_unpacked_size(const unsigned char *packed);
void kmbi_cuda_unpack(const unsigned char *packed, char *text);

#endif
