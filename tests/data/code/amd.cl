/* Kernels for AMD GPUs whose code is known in advance: copies by width, a
 * matrix product, shared memory, spilled registers. */
typedef float floats __attribute__((ext_vector_type(4)));
typedef half halves __attribute__((ext_vector_type(4)));

#define PLACE \
  (__builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x())
#define BLOCK __attribute__((amdgpu_flat_work_group_size(256, 256)))

BLOCK __kernel void copy_narrow(__global const float *in, __global float *out,
                                int n) {
#pragma unroll 1
  for (int i = PLACE; i < n; i += 65536)
    out[i] = in[i] + 1.0f;
}

BLOCK __kernel void copy_wide(__global const floats *in, __global floats *out,
                              int n) {
#pragma unroll 1
  for (int i = PLACE; i < n; i += 65536)
    out[i] = in[i];
}

BLOCK __kernel void matrix(__global const halves *a, __global const halves *b,
                           __global floats *out, int n) {
  floats sum = {0, 0, 0, 0};
#pragma unroll 1
  for (int i = PLACE; i < n; i += 64)
    sum = __builtin_amdgcn_mfma_f32_16x16x16f16(a[i], b[i], sum, 0, 0, 0);
  out[PLACE] = sum;
}

BLOCK __kernel void turn(__global const float *in, __global float *out) {
  __local float tile[256];
  int i = __builtin_amdgcn_workitem_id_x();
  tile[i] = in[PLACE];
  __builtin_amdgcn_s_barrier();
  out[PLACE] = __builtin_sqrtf(tile[255 - i]);
}

/* More live values than a wavefront may have registers. */
__attribute__((amdgpu_num_vgpr(12))) BLOCK __kernel void
spills(__global const float *in, __global float *out) {
  float v[16];
#pragma unroll
  for (int i = 0; i < 16; i++)
    v[i] = in[PLACE * 16 + i * 7];
  __builtin_amdgcn_s_barrier();
#pragma unroll
  for (int i = 0; i < 16; i++)
    out[PLACE * 16 + i * 5] = v[i] * v[15 - i];
}

/* Named as C++ names it. */
BLOCK __kernel void _Z5scalePff(__global float *out, float by) {
  out[PLACE] *= by;
}
