/* As little as a cubin can hold: make.sh compiles it, once with an old ptxas. */
__global__ void __launch_bounds__(96) tiny(int *to) {
  __shared__ int room[8];
  room[threadIdx.x & 7] = 1;
  __syncthreads();
  to[threadIdx.x] = room[0];
}
