/* The backend's own device code. scripts/cuda_ptx.sh makes kernels.ptx.h of it.
 * Only what every architecture since sm_70 has is used. */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

static __device__ __forceinline__ u64 thread_index() {
  return blockIdx.x * (u64)blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ u64 thread_count() {
  return gridDim.x * (u64)blockDim.x;
}

extern "C" __global__ void kmb_empty() {
}

/* Each thread counts clock cycles and says how many it counted. */
extern "C" __global__ void kmb_spin(u64 cycles, u64 *out) {
  long long start = clock64();
  while ((u64)(clock64() - start) < cycles) {
  }
  if (out) out[thread_index()] = (u64)(clock64() - start);
}

__device__ static u64 now_ns() {
  u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/* Awaits `sequence` in a word that a peer writes. Gives how often it looked, 0
 * if the word did not come in time; `seen_at` is when it had looked last: a
 * thread that is done waits for those beside it. */
__device__ static u32 await(u64 word, u32 sequence, u64 until, u64 *seen_at) {
  u32 seen, looks = 0;
  do {
    looks++;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
                 : "=r"(seen)
                 : "l"(word)
                 : "memory");
    *seen_at = now_ns();
  } while ((int)(seen - sequence) < 0 && (long long)(until - *seen_at) > 0);
  return (int)(seen - sequence) < 0 ? 0 : looks;
}

__device__ static void tell(u64 word, u32 sequence) {
  asm volatile("st.release.sys.global.u32 [%0], %1;"
               :
               : "l"(word), "r"(sequence)
               : "memory");
}

/* How long this rank came before a peer, negative if after it, from how long
 * each waited for the other's word. A word is as long on its way in either
 * direction, so that half the difference is the distance. Where a word was there
 * at the first look, nothing was waited for: the whole difference is then the
 * most that the distance can be. */
__device__ static long long before(u64 theirs, u64 ours, u64 waited, u32 looks,
                                   u32 sequence, u64 until) {
  u64 mine = waited << 1 | (looks == 1), other = 0, unused;
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;"
               :
               : "l"(theirs + 8), "l"(mine)
               : "memory");
  tell(theirs + 16, sequence);
  if (!await(ours + 16, sequence, until, &unused)) return 0;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];"
               : "=l"(other)
               : "l"(ours + 8)
               : "memory");
  long long apart = (long long)waited - (long long)(other >> 1);
  return (mine | other) & 1 ? apart : apart / 2;
}

/* Thread 0 gives how long this rank came before the last; `most` is shared. */
__device__ static void barrier(const u64 *peers, u64 mine, u64 limit, u64 *out,
                               u32 *bad, u32 rank, u32 size, u32 sequence,
                               u64 start, unsigned long long *most) {
  u32 peer = (u32)thread_index(), looks = 0;
  u64 theirs = 0, ours = mine + (u64)peer * 128, seen_at = 0;
  if (peer < size && peer != rank) {
    theirs = peers[peer] + (u64)rank * 128;
    tell(theirs, sequence);
    looks = await(ours, sequence, start + limit, &seen_at);
    if (!looks) *bad = peer + 1;
  }
  if (!out) return;
  if (thread_index() == 0) *most = 0;
  __syncthreads();
  if (looks) {
    long long apart =
        before(theirs, ours, seen_at - start, looks, sequence, start + limit);
    if (apart > 0) atomicMax(most, (unsigned long long)apart);
  }
  __syncthreads();
  if (thread_index() == 0) *out = *most;
}

/* A barrier between devices: each rank has 128 bytes for every rank. A thread
 * for each peer writes to the peer's memory and awaits its own. `bad` gets the
 * peer that did not come within `limit` ns, counted from 1. With `out`, the
 * ranks also tell each other how long they waited, and `out` gets how long this
 * one came before the last, in ns. tests/gpu/release_skew.cu holds that against the
 * devices' clocks. */
extern "C" __global__ void kmb_barrier(const u64 *peers, u64 mine, u64 limit,
                                       u64 *out, u32 *bad, u32 rank, u32 size,
                                       u32 sequence) {
  u64 start = now_ns();
  __shared__ unsigned long long most;
  barrier(peers, mine, limit, out, bad, rank, size, sequence, start, &most);
}

/* The steps of the timer that a kernel sees. */
extern "C" __global__ void kmb_tick(u64 *steps, u32 count) {
  u64 last, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(last));
  for (u32 k = 0, tries = 0; k < count && tries < 1u << 22; tries++) {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    if (now != last) steps[k++] = now - last;
    last = now;
  }
}

/* Reads without writing: `sink` is written only if the sum is what no sum of
 * these words is expected to be. */
extern "C" __global__ void kmb_sweep(const uint4 *from, u64 count, u32 *sink) {
  u32 sum = 0;
  for (u64 i = thread_index(); i < count; i += thread_count()) {
    uint4 v = from[i];
    sum ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == 0x6b6d6271u) *sink = sum;
}

/* One byte of each 32-byte sector, whatever the alignment. */
extern "C" __global__ void kmb_touch(const u8 *from, u64 bytes, u32 *sink) {
  u32 sum = 0;
  u64 skew = (u64)from & 31;
  u64 sectors = (bytes + skew + 31) / 32;
  for (u64 i = thread_index(); i < sectors; i += thread_count()) {
    u64 at = i ? i * 32 - skew : 0;
    sum += *(const volatile u8 *)(from + at);
  }
  if (sum == 0xffffffffu) *sink = sum;
}

/* Repeats a 64-bit pattern, little-endian, from the first byte on. */
extern "C" __global__ void kmb_set(u8 *to, u64 pattern, u64 bytes) {
  u64 skew = (u64)to & 7;
  u64 head = skew ? 8 - skew : 0;
  if (head > bytes) head = bytes;
  u64 words = (bytes - head) / 8;
  u64 turn = 8 * (head & 7);
  u64 turned = turn ? pattern >> turn | pattern << (64 - turn) : pattern;
  u64 *body = (u64 *)(to + head);
  for (u64 i = thread_index(); i < words; i += thread_count())
    body[i] = turned;
  if (thread_index() == 0) {
    for (u64 i = 0; i < head; i++)
      to[i] = (u8)(pattern >> (8 * (i & 7)));
    for (u64 i = head + words * 8; i < bytes; i++)
      to[i] = (u8)(pattern >> (8 * (i & 7)));
  }
}

/* Random contents: element k depends on the key and k alone, in the same way
 * as on the host. Every rounding is written out, so that no product and sum are
 * fused. */

static __device__ __forceinline__ u64 mix(u64 x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

static __device__ __forceinline__ u64 word_at(u64 key, u64 index) {
  return mix(key + (index + 1) * 0x9E3779B97F4A7C15ull);
}

static __device__ __forceinline__ double between(double low, double high,
                                                 double u) {
  double value = __dadd_rn(__dmul_rn(low, __dsub_rn(1.0, u)),
                           __dmul_rn(high, u));
  if (value < low) return low;
  return value > high ? high : value;
}

static __device__ __forceinline__ double small_float(double low, double high,
                                                     u32 random) {
  return between(low, high, __dmul_rn(__dadd_rn((double)random, 0.5), 0x1p-32));
}

/* `format` holds mantissa, bias, sign and shift, a byte each. */
static __device__ u32 encode(u32 format, double value) {
  int mantissa = (int)(format & 255), bias = (int)(format >> 8 & 255);
  u32 sign = format >> 16 & 255, shift = format >> 24;
  u64 bits = (u64)__double_as_longlong(value);
  double size = __longlong_as_double((long long)(bits & ~(1ull << 63)));
  int least = 1 - bias;
  int exponent = (int)(bits >> 52 & 2047) - 1023;
  if (exponent < least) exponent = least;
  u64 scale = (u64)(mantissa - exponent + 1023) << 52;
  double units = __dmul_rn(size, __longlong_as_double((long long)scale));
  u32 whole = (u32)(long long)units;
  double rest = __dsub_rn(units, (double)whole);
  whole += rest > 0.5 || (rest == 0.5 && (whole & 1u));
  u32 code = ((u32)(exponent - least) << mantissa) + whole;
  return code << shift | (u32)(bits >> 63) << sign;
}

static __device__ __forceinline__ void store(u8 *to, u64 k, u32 bits, u64 v) {
  if (bits == 8)
    to[k] = (u8)v;
  else if (bits == 16)
    ((u16 *)to)[k] = (u16)v;
  else if (bits == 32)
    ((u32 *)to)[k] = (u32)v;
  else
    ((u64 *)to)[k] = v;
}

/* Floats of at most 32 bits: two elements share a word. */
extern "C" __global__ void kmb_random_small(u8 *to, u64 bytes, u64 key,
                                            double low, double high, u32 bits,
                                            u32 format) {
  u64 count = bits == 4 ? bytes * 2 : bytes / (bits / 8);
  for (u64 i = thread_index(); i * 2 < count; i += thread_count()) {
    u64 word = word_at(key, i);
    u32 a = encode(format, small_float(low, high, (u32)word));
    u32 b = encode(format, small_float(low, high, (u32)(word >> 32)));
    if (bits == 4) {
      to[i] = (u8)((a & 15u) | (b & 15u) << 4);
      continue;
    }
    store(to, i * 2, bits, a);
    if (i * 2 + 1 < count) store(to, i * 2 + 1, bits, b);
  }
}

extern "C" __global__ void kmb_random_f64(double *to, u64 bytes, u64 key,
                                          double low, double high) {
  for (u64 k = thread_index(); k < bytes / 8; k += thread_count()) {
    double u = __dadd_rn((double)(word_at(key, k) >> 11), 0.5);
    to[k] = between(low, high, __dmul_rn(u, 0x1p-53));
  }
}

static __device__ __forceinline__ u64 integer_at(u64 key, u64 k, u64 least,
                                                 u64 extent) {
  u64 word = word_at(key, k);
  if (extent != ~0ull) word = __umul64hi(word, extent + 1);
  return least + word;
}

extern "C" __global__ void kmb_random_int(u8 *to, u64 bytes, u64 key, u64 least,
                                          u64 extent, u32 bits) {
  u64 count = bits == 4 ? bytes : bytes / (bits / 8);
  for (u64 k = thread_index(); k < count; k += thread_count()) {
    if (bits == 4) {
      u64 a = integer_at(key, k * 2, least, extent);
      u64 b = integer_at(key, k * 2 + 1, least, extent);
      to[k] = (u8)((a & 15u) | (b & 15u) << 4);
    } else {
      store(to, k, bits, integer_at(key, k, least, extent));
    }
  }
}
