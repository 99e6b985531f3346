/* What a code object says of a kernel. Of what is read nothing is trusted. */
#ifndef KMB_BACKENDS_HIP_IMAGE_H
#define KMB_BACKENDS_HIP_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers in a kernel's metadata: X(name, key). */
#define KMBI_HIP_FACT_MAP(X)                \
  X(VGPRS, ".vgpr_count")                   \
  X(AGPRS, ".agpr_count")                   \
  X(SGPRS, ".sgpr_count")                   \
  X(SPILLED, ".vgpr_spill_count")           \
  X(SPILLED_SCALARS, ".sgpr_spill_count")   \
  X(GROUP, ".group_segment_fixed_size")     \
  X(PRIVATE, ".private_segment_fixed_size") \
  X(THREADS, ".max_flat_workgroup_size")

enum {
#define KMBI_HIP_FACT_ENUM(name, key) KMBI_HIP_FACT_##name,
  KMBI_HIP_FACT_MAP(KMBI_HIP_FACT_ENUM)
#undef KMBI_HIP_FACT_ENUM
      KMBI_HIP_FACTS
};

typedef struct kmbi_hip_facts {
  uint64_t numbers[KMBI_HIP_FACTS];
  uint64_t offset, bytes; /* of its instructions; 0: not found */
  uint32_t known;         /* of `numbers`, a bit each */
  bool whole;             /* no part of the image lies beyond its end */
  bool grows;             /* its stack does, beyond PRIVATE */
  char target[64];        /* as "gfx942:sramecc+:xnack-"; "": not known */
} kmbi_hip_facts;

/* image.c */
void kmbi_hip_image_read(const void *bytes, size_t size, const char *kernel,
                         kmbi_hip_facts *facts);

/* metadata.c: the note's content. */
void kmbi_hip_metadata_read(const void *bytes, size_t size, const char *kernel,
                            kmbi_hip_facts *facts);

#endif
