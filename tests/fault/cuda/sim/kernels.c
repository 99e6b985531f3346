/* Kernels that the device knows by name, at work on the host's memory: the
 * backend's own and those of the tests. */
#include <math.h>
#include <string.h>

#include "costs.h"
#include "inside.h"

bool sim_reaches(struct CUctx_st *context, uint64_t at, uint64_t bytes) {
  for (const sim_object *o = sim_objects(); o; o = o->next) {
    if (o->type != SIM_BLOCK && o->type != SIM_PINNED) continue;
    const struct sim_block *b = (const struct sim_block *)(const void *)o;
    uint64_t from = (uintptr_t)b->memory;
    if (at >= from && at - from <= b->bytes && bytes <= b->bytes - (at - from))
      return true;
  }
  sim_sticky(context, KMBI_CU_ILLEGAL_ADDRESS);
  return false;
}

static void *at(uint64_t pointer) {
  return (void *)(uintptr_t)pointer;
}

static uint64_t reads(struct CUctx_st *c, uint64_t from, uint64_t bytes) {
  if (!sim_reaches(c, from, bytes)) return 0;
  return sim_traffic_ns(sim_access(from, bytes, false));
}

static uint64_t writes(struct CUctx_st *c, uint64_t to, uint64_t bytes) {
  if (!sim_reaches(c, to, bytes)) return 0;
  return sim_traffic_ns(sim_access(to, bytes, true));
}

static uint64_t run_empty(struct CUctx_st *c, const sim_argument *a) {
  (void)c;
  (void)a;
  return 0;
}

static uint64_t run_spin(struct CUctx_st *c, const sim_argument *a) {
  uint64_t ns = (uint64_t)((double)a[0].u64 * 1e6 / SIM_CLOCK_KHZ);
  if (a[1].u64 && sim_reaches(c, a[1].u64, 8))
    memcpy(at(a[1].u64), &a[0].u64, 8);
  return ns;
}

static uint64_t run_tick(struct CUctx_st *c, const sim_argument *a) {
  uint64_t *steps = at(a[0].u64);
  if (!sim_reaches(c, a[0].u64, 8 * (uint64_t)a[1].u32)) return 0;
  for (uint32_t i = 0; i < a[1].u32; i++)
    steps[i] = i % 8 ? SIM_TICK : 2 * SIM_TICK;
  return (uint64_t)a[1].u32 * SIM_TICK;
}

static uint64_t run_sweep(struct CUctx_st *c, const sim_argument *a) {
  return reads(c, a[0].u64, a[1].u64 * 16);
}

static uint64_t run_touch(struct CUctx_st *c, const sim_argument *a) {
  return reads(c, a[0].u64, a[1].u64);
}

static uint64_t run_set(struct CUctx_st *c, const sim_argument *a) {
  uint64_t ns = writes(c, a[0].u64, a[2].u64);
  unsigned char *to = at(a[0].u64);
  for (uint64_t i = 0; !c->error && i < a[2].u64; i++)
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

static uint64_t run_small(struct CUctx_st *c, const sim_argument *a) {
  uint64_t ns = writes(c, a[0].u64, a[1].u64);
  for (uint64_t k = 0; !c->error && k < elements(a[1].u64, a[5].u32); k++) {
    uint64_t word = word_at(a[2].u64, k / 2);
    uint32_t half = (uint32_t)(k % 2 ? word >> 32 : word);
    double u = ((double)half + 0.5) * 0x1p-32;
    store(a[0].u64, k, a[5].u32,
          encode(a[6].u32, between(a[3].f64, a[4].f64, u)));
  }
  return ns;
}

static uint64_t run_f64(struct CUctx_st *c, const sim_argument *a) {
  uint64_t ns = writes(c, a[0].u64, a[1].u64);
  double *to = at(a[0].u64);
  for (uint64_t k = 0; !c->error && k < a[1].u64 / 8; k++) {
    double u = ((double)(word_at(a[2].u64, k) >> 11) + 0.5) * 0x1p-53;
    to[k] = between(a[3].f64, a[4].f64, u);
  }
  return ns;
}

static uint64_t run_int(struct CUctx_st *c, const sim_argument *a) {
  uint64_t ns = writes(c, a[0].u64, a[1].u64);
  for (uint64_t k = 0; !c->error && k < elements(a[1].u64, a[5].u32); k++) {
    __extension__ typedef unsigned __int128 wide;
    uint64_t word = word_at(a[2].u64, k);
    if (a[4].u64 != UINT64_MAX)
      word = (uint64_t)((wide)word * (a[4].u64 + 1) >> 64);
    store(a[0].u64, k, a[5].u32, a[3].u64 + word);
  }
  return ns;
}

/* Between devices: what a rank has for another is 128 bytes long: a number, how
 * long the other waited for the word, and the number of that. */
static uint32_t *word(uint64_t words, uint32_t rank, uint32_t offset) {
  return at(words + (uint64_t)rank * 128 + offset);
}

static uint64_t *waits(uint64_t words, uint32_t rank) {
  return at(words + (uint64_t)rank * 128 + 8);
}

static bool has_come(const uint32_t *word, uint32_t number) {
  uint32_t seen = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  return (int32_t)(seen - number) >= 0;
}

/* Tells a rank once how long we waited for its word. Words are on their way for
 * no time here: one that is there at the first look was waited for by nobody.
 */
static void tell_wait(const sim_op *op, uint64_t theirs, bool first_look) {
  const sim_argument *a = op->a;
  uint32_t *told = word(theirs, a[5].u32, 16);
  if (has_come(told, a[7].u32)) return;
  *waits(theirs, a[5].u32) = (sim_now() - op->tried) << 1 | first_look;
  __atomic_store_n(told, a[7].u32, __ATOMIC_SEQ_CST);
}

static void note_distance(const sim_op *op) {
  const sim_argument *a = op->a;
  int64_t most = 0;
  for (uint32_t r = 0; r < a[6].u32; r++) {
    if (r == a[5].u32) continue;
    uint64_t mine = *waits(((const uint64_t *)at(a[0].u64))[r], a[5].u32);
    uint64_t other = *waits(a[1].u64, r);
    int64_t apart = (int64_t)(mine >> 1) - (int64_t)(other >> 1);
    if (!((mine | other) & 1)) apart /= 2;
    if (apart > most) most = apart;
  }
  *(uint64_t *)at(a[3].u64) = (uint64_t)most;
}

bool sim_barrier_over(struct CUctx_st *c, sim_op *op) {
  const sim_argument *a = op->a;
  uint32_t rank = a[5].u32, size = a[6].u32, number = a[7].u32;
  uint32_t absent = 0;
  bool timed = a[3].u64 != 0, first_look = !op->tried;
  if (!sim_reaches(c, a[0].u64, 8 * (uint64_t)size)) return true;
  if (first_look) op->tried = sim_now();
  for (uint32_t r = 0; r < size; r++) {
    uint64_t theirs = ((const uint64_t *)at(a[0].u64))[r];
    if (r == rank) continue;
    if (!sim_reaches(c, theirs, 128 * (uint64_t)size)) return true;
    if (first_look)
      __atomic_store_n(word(theirs, rank, 0), number, __ATOMIC_SEQ_CST);
    bool came = has_come(word(a[1].u64, r, 0), number);
    if (came && timed) tell_wait(op, theirs, first_look);
    if (!came || (timed && !has_come(word(a[1].u64, r, 16), number)))
      absent = r + 1;
  }
  if (absent && sim_now() - op->tried < a[2].u64) return false;
  if (absent)
    *(uint32_t *)at(a[4].u64) = absent;
  else if (timed)
    note_distance(op);
  return true;
}

bool sim_all_reduce_over(const sim_op *op) {
  const sim_argument *a = op->a;
  uint64_t *arrived = at(a[0].u64);
  if (*(const uint32_t *)at(a[4].u64)) return true;
  arrived[a[2].u32] = a[1].u64;
  for (uint32_t r = 0; r < a[3].u32; r++)
    if (arrived[r] < a[1].u64) return false;
  return true;
}

/* Numbers in bf16. */

static double number_at(uint64_t from, uint64_t i) {
  uint32_t bits = (uint32_t)((const uint16_t *)at(from))[i] << 16;
  float value = 0;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static void put_number(uint64_t to, uint64_t i, double value) {
  float narrow = (float)value;
  uint32_t bits = 0;
  memcpy(&bits, &narrow, sizeof bits);
  ((uint16_t *)at(to))[i] =
      (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Rank by rank, rounded each time. */
static void sum_own(const sim_scatter *s, const sim_argument *a) {
  uint64_t rank = a[1].u32, count = a[4].u64;
  for (uint64_t i = 0; i < count; i++) {
    put_number(a[3].u64, i, number_at(s->from[0], rank * count + i));
    for (uint32_t r = 1; r < s->size; r++)
      put_number(a[3].u64, i,
                 number_at(a[3].u64, i) +
                     number_at(s->from[r], rank * count + i));
  }
}

static bool all_have(const uint64_t *done, uint32_t size, uint64_t number) {
  for (uint32_t r = 0; r < size; r++)
    if (done[r] < number) return false;
  return true;
}

/* Nobody leaves before all have read what it gave. */
bool sim_reduce_scatter_over(struct CUctx_st *c, sim_op *op) {
  const sim_argument *a = op->a;
  sim_scatter *s = at(a[0].u64);
  uint32_t rank = a[1].u32;
  if (*(const uint32_t *)at(a[5].u64)) return true;
  if (!sim_reaches(c, a[2].u64, 2 * a[4].u64 * s->size) ||
      !sim_reaches(c, a[3].u64, 2 * a[4].u64))
    return true;
  if (!op->tried) {
    op->tried = sim_now();
    s->from[rank] = a[2].u64;
    s->came[rank]++;
  }
  uint64_t number = s->came[rank];
  if (!all_have(s->came, s->size, number)) return false;
  if (s->left[rank] < number) sum_own(s, a);
  s->left[rank] = number;
  return all_have(s->left, s->size, number);
}

/* It and the product take as long as much larger ones, so that few samples are
 * enough. */
static uint64_t run_scatter(struct CUctx_st *c, const sim_argument *a) {
  const sim_scatter *s = at(a[0].u64);
  return reads(c, a[2].u64, 2 * a[4].u64 * s->size) +
         writes(c, a[3].u64, 2 * a[4].u64) + 20 * a[4].u64 * s->size;
}

/* weights, in, out; rows, inner, tokens */
static uint64_t run_product(struct CUctx_st *c, const sim_argument *a) {
  uint64_t rows = a[3].u64, inner = a[4].u64, tokens = a[5].u64;
  uint64_t ns = reads(c, a[0].u64, 2 * rows * inner) +
                reads(c, a[1].u64, 2 * tokens * inner) +
                writes(c, a[2].u64, 2 * tokens * rows);
  for (uint64_t t = 0; !c->error && t < tokens; t++)
    for (uint64_t r = 0; r < rows; r++) {
      double sum = 0;
      for (uint64_t k = 0; k < inner; k++)
        sum += number_at(a[0].u64, r * inner + k) *
               number_at(a[1].u64, t * inner + k);
      put_number(a[2].u64, t * rows + r, sum);
    }
  return ns + 2 * rows * inner * tokens;
}

/* The tests'. */

static uint64_t run_copy(struct CUctx_st *c, const sim_argument *a) {
  uint64_t bytes = a[2].u64 * 16;
  uint64_t ns = reads(c, a[0].u64, bytes) + writes(c, a[1].u64, bytes);
  if (!c->error && !sim_set()->empty_copies)
    memcpy(at(a[1].u64), at(a[0].u64), (size_t)bytes);
  return ns;
}

static uint64_t run_read(struct CUctx_st *c, const sim_argument *a) {
  return reads(c, a[0].u64, a[2].u64 * 16);
}

static uint64_t run_fault(struct CUctx_st *c, const sim_argument *a) {
  return writes(c, a[0].u64, 4);
}

static uint64_t run_add(struct CUctx_st *c, const sim_argument *a) {
  uint64_t bytes = 4 * (uint64_t)a[2].u32;
  uint64_t ns = reads(c, a[0].u64, bytes) + writes(c, a[1].u64, bytes);
  const float *from = at(a[0].u64);
  float *to = at(a[1].u64);
  for (uint32_t i = 0; !c->error && i < a[2].u32; i++)
    to[i] = from[i] + 1.0f;
  return ns;
}

static uint64_t run_wide(struct CUctx_st *c, const sim_argument *a) {
  uint64_t ns = (uint64_t)((double)a[0].u64 * 1e6 / SIM_CLOCK_KHZ);
  return ns + writes(c, a[1].u64, 8);
}

/* The grid is not known here: one row's product stands for all. */
static uint64_t run_dot(struct CUctx_st *c, const sim_argument *a) {
  uint64_t ns = reads(c, a[0].u64, 16 * (uint64_t)a[3].u32) +
                reads(c, a[1].u64, 16 * (uint64_t)a[3].u32) +
                writes(c, a[2].u64, 4);
  float sum = 0;
  for (uint32_t i = 0; !c->error && i < 4 * a[3].u32; i++)
    sum += ((const float *)at(a[0].u64))[i] * ((const float *)at(a[1].u64))[i];
  if (!c->error) *(float *)at(a[2].u64) = sum;
  return ns;
}

/* As many operations a clock as an H200's units do; 132 of them. */
static uint64_t fma_ns(const sim_argument *a, double a_clock) {
  double threads = 256.0 * a[SIM_GRID].u32;
  double clocks = 512.0 * (double)a[0].u64 * threads / (132 * a_clock);
  return (uint64_t)(clocks * 1e6 / SIM_CLOCK_KHZ);
}

static uint64_t run_fma(struct CUctx_st *c, const sim_argument *a) {
  (void)c;
  return fma_ns(a, 256);
}

static uint64_t run_fma_f64(struct CUctx_st *c, const sim_argument *a) {
  (void)c;
  return fma_ns(a, 128);
}

/* How long it takes was said when it was launched. */
static uint64_t run_gemm(struct CUctx_st *c, const sim_argument *a) {
  return sim_reaches(c, a[1].u64, 4) ? a[0].u64 : 0;
}

static const sim_kernel kernels[] = {
    {"kmb_read_4", "888", run_sweep},
    {"kmb_read_8", "888", run_sweep},
    {"kmb_copy_2", "888", run_copy},
    {"kmb_copy_4", "888", run_copy},
    {"kmb_fma_f32", "8448", run_fma},
    {"kmb_fma_f64", "8888", run_fma_f64},
    {"kmb_fma_f16", "8448", run_fma},
    {"sim_gemm", "88", run_gemm},
    {"kmb_empty", "", run_empty},
    {"kmb_barrier", "88888444", run_empty},
    {"sim_all_reduce", "8844", run_empty},
    {"sim_reduce_scatter", "848888", run_scatter},
    {"sim_product", "888888", run_product},
    {"kmb_spin", "88", run_spin},
    {"kmb_tick", "84", run_tick},
    {"kmb_sweep", "888", run_sweep},
    {"kmb_touch", "888", run_touch},
    {"kmb_set", "888", run_set},
    {"kmb_random_small", "8888844", run_small},
    {"kmb_random_f64", "88888", run_f64},
    {"kmb_random_int", "888884", run_int},
    {"test_spin", "88", run_spin},
    {"test_copy", "888", run_copy},
    {"test_read", "888", run_read},
    {"test_hang", "8", run_empty},
    {"test_fault", "8", run_fault},
    {"test_add", "884", run_add},
    {"test_wide", "88", run_wide},
    {"test_dot", "8884", run_dot},
};

const sim_kernel *sim_kernel_named(const char *name) {
  for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
    if (strcmp(kernels[i].name, name) == 0) return &kernels[i];
  return NULL;
}
