/* Kernels that the device knows by name, at work on the host's memory: the
 * backend's own and those of the tests. */
#define _GNU_SOURCE /* memmem */
#include <elf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "costs.h"
#include "inside.h"

static bool is_inside(sim_type type, uint64_t at, uint64_t bytes) {
  for (const sim_object *o = sim_objects(type); o; o = o->next) {
    const struct sim_block *b = (const struct sim_block *)(const void *)o;
    uint64_t from = (uintptr_t)b->memory;
    if (at >= from && at - from <= b->bytes && bytes <= b->bytes - (at - from))
      return true;
  }
  return false;
}

bool sim_reaches(uint64_t at, uint64_t bytes) {
  if (is_inside(SIM_BLOCK, at, bytes) || is_inside(SIM_PINNED, at, bytes))
    return true;
  sim_break(KMBI_HIP_IllegalAddress);
  return false;
}

static void *at(uint64_t pointer) {
  return (void *)(uintptr_t)pointer;
}

static uint64_t reads(uint64_t from, uint64_t bytes) {
  if (!sim_reaches(from, bytes)) return 0;
  return sim_traffic_ns(sim_access(from, bytes, false));
}

static uint64_t writes(uint64_t to, uint64_t bytes) {
  if (!sim_reaches(to, bytes)) return 0;
  return sim_traffic_ns(sim_access(to, bytes, true));
}

static uint64_t run_empty(const sim_argument *a) {
  (void)a;
  return 0;
}

static uint64_t run_spin(const sim_argument *a) {
  return (uint64_t)((double)a[0].u64 * 1e6 / SIM_CLOCK_KHZ);
}

static uint64_t run_sweep(const sim_argument *a) {
  sim_note_sweep(a[1].u64 * 16);
  return reads(a[0].u64, a[1].u64 * 16);
}

static uint64_t run_touch(const sim_argument *a) {
  return reads(a[0].u64, a[1].u64);
}

static uint64_t run_set(const sim_argument *a) {
  uint64_t ns = writes(a[0].u64, a[2].u64);
  unsigned char *to = at(a[0].u64);
  for (uint64_t i = 0; !sim_error() && i < a[2].u64; i++)
    to[i] = (unsigned char)(a[1].u64 >> (8 * (i & 7)));
  return ns;
}

/* Random contents, as the device code makes them. */

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

static uint64_t word_at(uint64_t key, uint64_t index) {
  return mix(key + (index + 1) * UINT64_C(0x9E3779B97F4A7C15));
}

static double between(double low, double high, double u) {
  double a = low * (1.0 - u);
  double b = high * u;
  return fmin(fmax(a + b, low), high);
}

/* Through ldexp and rint, another way than the device's. */
static uint32_t encode(uint32_t format, double value) {
  int mantissa = (int)(format & 255);
  int bias = (int)(format >> 8 & 255);
  int exponent = 0;
  (void)frexp(value, &exponent);
  exponent--;
  if (value == 0 || exponent < 1 - bias) exponent = 1 - bias;
  uint32_t whole = (uint32_t)rint(ldexp(fabs(value), mantissa - exponent));
  uint32_t code = ((uint32_t)(exponent - 1 + bias) << mantissa) + whole;
  uint32_t sign = signbit(value) ? 1u : 0u;
  return code << (format >> 24) | sign << (format >> 16 & 255);
}

static void store(uint64_t to, uint64_t k, uint32_t bits, uint64_t v) {
  unsigned char *bytes = at(to);
  if (bits == 4) {
    bytes[k / 2] =
        (unsigned char)(k % 2 ? (bytes[k / 2] & 15) | (v & 15) << 4 : v & 15);
    return;
  }
  memcpy(bytes + k * (bits / 8), &v, bits / 8);
}

static uint64_t elements(uint64_t bytes, uint32_t bits) {
  return bits == 4 ? bytes * 2 : bytes / (bits / 8);
}

static uint64_t run_small(const sim_argument *a) {
  uint64_t ns = writes(a[0].u64, a[1].u64);
  for (uint64_t k = 0; !sim_error() && k < elements(a[1].u64, a[5].u32); k++) {
    uint64_t word = word_at(a[2].u64, k / 2);
    uint32_t half = (uint32_t)(k % 2 ? word >> 32 : word);
    double u = ((double)half + 0.5) * 0x1p-32;
    store(a[0].u64, k, a[5].u32,
          encode(a[6].u32, between(a[3].f64, a[4].f64, u)));
  }
  return ns;
}

static uint64_t run_f64(const sim_argument *a) {
  uint64_t ns = writes(a[0].u64, a[1].u64);
  double *to = at(a[0].u64);
  for (uint64_t k = 0; !sim_error() && k < a[1].u64 / 8; k++) {
    double u = ((double)(word_at(a[2].u64, k) >> 11) + 0.5) * 0x1p-53;
    to[k] = between(a[3].f64, a[4].f64, u);
  }
  return ns;
}

static uint64_t run_int(const sim_argument *a) {
  uint64_t ns = writes(a[0].u64, a[1].u64);
  for (uint64_t k = 0; !sim_error() && k < elements(a[1].u64, a[5].u32); k++) {
    __extension__ typedef unsigned __int128 wide;
    uint64_t word = word_at(a[2].u64, k);
    if (a[4].u64 != UINT64_MAX)
      word = (uint64_t)((wide)word * (a[4].u64 + 1) >> 64);
    store(a[0].u64, k, a[5].u32, a[3].u64 + word);
  }
  return ns;
}

/* RCCL's. */
bool sim_all_reduce_over(const sim_op *op) {
  const sim_argument *a = op->a;
  uint64_t *arrived = at(a[0].u64);
  if (*(const uint32_t *)at(a[4].u64)) return true;
  arrived[a[2].u32] = a[1].u64;
  for (uint32_t r = 0; r < a[3].u32; r++)
    if (arrived[r] < a[1].u64) return false;
  return true;
}

/* The tests'. */

static uint64_t run_copy(const sim_argument *a) {
  uint64_t bytes = a[2].u64 * 16;
  uint64_t ns = reads(a[0].u64, bytes) + writes(a[1].u64, bytes);
  if (!sim_error()) memcpy(at(a[1].u64), at(a[0].u64), (size_t)bytes);
  return ns;
}

static uint64_t run_read(const sim_argument *a) {
  return reads(a[0].u64, a[2].u64 * 16);
}

static uint64_t run_fault(const sim_argument *a) {
  return writes(a[0].u64, 4);
}

static uint64_t run_add(const sim_argument *a) {
  uint64_t bytes = 4 * (uint64_t)a[2].u32;
  uint64_t ns = reads(a[0].u64, bytes) + writes(a[1].u64, bytes);
  const float *from = at(a[0].u64);
  float *to = at(a[1].u64);
  for (uint32_t i = 0; !sim_error() && i < a[2].u32; i++)
    to[i] = from[i] + 1.0f;
  return ns;
}

static const sim_kernel kernels[] = {
    {"kmb_empty", "", run_empty, true, 0},
    {"sim_all_reduce", "88448", run_empty, false, 0},
    {"kmb_spin", "88", run_spin, false, 0},
    {"kmb_gate", "848", run_empty, false, 0},
    {"kmb_sweep", "888", run_sweep, true, 0},
    {"kmb_touch", "888", run_touch, true, 0},
    {"kmb_set", "888", run_set, false, 0},
    {"kmb_random_small", "8888844", run_small, false, 0},
    {"kmb_random_f64", "88888", run_f64, false, 0},
    {"kmb_random_int", "888884", run_int, false, 0},
    {"test_spin", "8", run_spin, false, 0}, /* which stores something */
    {"test_silent", "8", run_spin, true, 0},
    {"test_copy", "888", run_copy, false, 0},
    {"test_read", "888", run_read, true, 0},
    {"test_hang", "8", run_empty, false, 0},
    {"test_fault", "8", run_fault, false, 0},
    {"test_add", "884", run_add, false, 0},
    /* Of tests/data/code/amd.cl. */
    {"copy_narrow", "884", run_empty, false, 0},
    {"copy_wide", "884", run_empty, false, 0},
    {"matrix", "8884", run_empty, false, 0},
    {"turn", "88", run_empty, false, 1024},
    {"spills", "88", run_empty, false, 0},
    {"_Z5scalePff", "84", run_empty, false, 0},
};

/* Ids count from 1, and on for each code object. */
uint64_t sim_kernel_id(const sim_kernel *kernel, uint64_t code_object) {
  return SIM_IDS * code_object + (uint64_t)(kernel - kernels) + 1;
}

const sim_kernel *sim_kernel_by_id(uint64_t id) {
  return &kernels[id % SIM_IDS - 1];
}

size_t sim_code_size(const void *image) {
  Elf64_Ehdr head;
  memcpy(&head, image, sizeof head);
  return (size_t)(head.e_shoff + (uint64_t)head.e_shnum * head.e_shentsize);
}

bool sim_code_has(const void *image, size_t size, const sim_kernel *kernel) {
  char name[64];
  int length = snprintf(name, sizeof name, "%s.kd", kernel->name);
  return memmem(image, size, name, (size_t)length + 1) != NULL;
}

size_t sim_kernel_count(void) {
  return sizeof kernels / sizeof kernels[0];
}

const sim_kernel *sim_kernel_named(const char *name) {
  for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
    if (strcmp(kernels[i].name, name) == 0) return &kernels[i];
  return NULL;
}

/* Whether a source defines each of the backend's own. */
bool sim_knows_all_of(const char *source) {
  for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
    if (strncmp(kernels[i].name, "kmb_", 4) == 0 &&
        !strstr(source, kernels[i].name))
      return false;
  return true;
}
