/* Code objects: what an image holds. */
#ifndef KMB_TOOLS_CODE_H
#define KMB_TOOLS_CODE_H

#include <kmb/code.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number that the image may leave open. */
typedef struct code_number {
  uint64_t value;
  bool known;
} code_number;

/* Whose GPU code is for. */
typedef enum code_maker { CODE_NVIDIA, CODE_AMD } code_maker;

/* A function that can be launched. `code` points into the image. */
typedef struct code_kernel {
  char *name;
  char *demangled; /* NULL: as `name`, or no demangler is there */
  const uint8_t *code;
  uint64_t code_bytes;
  code_number registers;    /* of a thread; AMD: VGPRs */
  code_number shared_bytes; /* static; what the system reserves is in it */
  code_number local_bytes;
  code_number stack_bytes;
  code_number max_threads; /* of a block; open: as many as the device has */
  /* AMD alone: AGPRs, SGPRs, registers that were spilled, lanes of a wave. */
  code_number accumulators, scalars, spilled, spilled_scalars, wavefront;
  char hash[KMB_CODE_HASH_SIZE]; /* of `code` */
  bool stack_stated;             /* of the whole, not of its own frame alone */
} code_kernel;

typedef struct code_image {
  code_kernel *kernels; /* in the order of their names */
  size_t kernel_count;
  uint64_t bytes;
  code_maker maker;
  char arch[48];                 /* sm_90a, gfx90a:xnack- */
  char hash[KMB_CODE_HASH_SIZE]; /* of the whole image */
} code_image;

enum { CODE_WHY = 256 };

/* Reads an image, which must stay as long as what was read from it. An exit
 * status; if it is not EXIT_DONE, `why` says it in a sentence without a stop,
 * and there is nothing to free. */
int code_image_read(const void *data, size_t size, code_image *image,
                    char why[CODE_WHY]);
void code_image_free(code_image *image);
void code_kernel_free(code_kernel *kernel);

/* A C++ name as people write it, to be freed; NULL if it is none, or without a
 * demangler. */
char *code_demangle(const char *name);

#endif
