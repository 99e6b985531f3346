/* A program of 0.1 that counts work and looks parts up. Not edited once 0.1 is
 * tagged. */
#include "check.h"

static void products_are_counted(void) {
  kmb_work work = kmb_work_init();
  kmb_matmul_shape matmul = kmb_matmul_shape_init();
  matmul.m = 2;
  matmul.n = 3;
  matmul.k = 4;
  matmul.dtype = KMB_F32;
  OK(kmb_work_matmul(&matmul, &work));
  HOLDS(work.flops == 48 && work.read_bytes == 80 && work.write_bytes == 24);
  const uint64_t rows[] = {3, 5};
  kmb_grouped_shape grouped = kmb_grouped_shape_init();
  grouped.groups = 2;
  grouped.n = 4;
  grouped.k = 2;
  grouped.rows = rows;
  grouped.dtype = KMB_BF16;
  OK(kmb_work_grouped(&grouped, &work));
  HOLDS(work.flops == 128 && work.convention);
  kmb_moe_shape moe = kmb_moe_shape_init();
  moe.tokens = 2;
  moe.hidden = 16;
  moe.intermediate = 32;
  moe.experts = 8;
  moe.top_k = 2;
  moe.dtype = KMB_BF16;
  OK(kmb_work_moe(&moe, &work));
  HOLDS(work.flops == 12288);
}

static void attention_is_counted(void) {
  const uint64_t lengths[] = {100, 18};
  kmb_work work = kmb_work_init();
  kmb_attention_shape shape = kmb_attention_shape_init();
  shape.batch = 1;
  shape.q_heads = 16;
  shape.q_len = 1024;
  shape.kv_len = 2048;
  shape.qk_dim = 128;
  shape.dtype = KMB_BF16;
  shape.mask = KMB_MASK_CAUSAL_BOTTOM_RIGHT;
  OK(kmb_work_attention(&shape, &work));
  HOLDS(work.flops == 12889096192);
  shape.pairs = KMB_PAIRS_AVERAGE;
  OK(kmb_work_attention(&shape, &work));
  HOLDS(work.flops == 12884901888);
  shape.mask = KMB_MASK_NONE;
  shape.batch = 2;
  shape.q_len = 1;
  shape.kv_lens = lengths;
  OK(kmb_work_paged_decode(&shape, &work));
  HOLDS(work.flops == 2ull * 118 * 16 * 256);
  kmb_mla_shape mla = kmb_mla_shape_init();
  mla.batch = 2;
  mla.heads = 16;
  mla.q_len = 1;
  mla.kv_lens = lengths;
  mla.ckv_dim = 512;
  mla.kpe_dim = 64;
  mla.dtype = KMB_BF16;
  OK(kmb_work_mla(&mla, &work));
  HOLDS(work.flops == 2ull * 118 * 16 * 1088);
}

static void rows_are_counted(void) {
  kmb_work work = kmb_work_init();
  kmb_norm_shape norm = kmb_norm_shape_init();
  norm.rows = 4;
  norm.hidden = 8;
  norm.norm = KMB_NORM_RMS;
  norm.dtype = KMB_BF16;
  OK(kmb_work_norm(&norm, &work));
  HOLDS(work.flops == 160 && work.read_bytes == 80);
  OK(kmb_work_softmax(3, 5, KMB_BF16, KMB_F32, &work));
  HOLDS(work.flops == 0 && work.read_bytes == 30 && work.write_bytes == 60);
  OK(kmb_work_activation(10, 1, KMB_BF16, 0, &work));
  HOLDS(work.read_bytes == 40 && work.write_bytes == 20);
  kmb_collective_work bus = kmb_collective_work_init();
  OK(kmb_work_collective(KMB_ALL_REDUCE, 1000, 8, &bus));
  HOLDS(bus.bytes == 1000 && bus.bus_factor == 1.75);
}

static kmb_status read_text(void *user, void *data, size_t size, size_t *got) {
  const char **text = user;
  *got = strlen(*text) < size ? strlen(*text) : size;
  memcpy(data, *text, *got);
  *text += *got;
  return KMB_OK;
}

static void parts_are_found(void) {
  const char *csv = "name,driver_names,bf16\nmine,Device X,12.5\n";
  kmb_peaks *peaks = NULL;
  const kmb_part *part = NULL, *same = NULL;
  OK(kmb_peaks_create(NULL, &peaks));
  OK(kmb_peaks_read_csv(peaks, "mine.csv", read_text, &csv));
  HOLDS(kmb_peaks_count(peaks) == kmb_peaks_count(NULL) + 1);
  OK(kmb_peaks_get(peaks, 0, &part));
  OK(kmb_peaks_find(peaks, "Device X", NULL, &same));
  HOLDS(part == same);
  OK(kmb_peaks_lookup(peaks, "mine", &same));
  HOLDS(part == same);
  const char *text = NULL;
  double number = 0;
  OK(kmb_part_text(part, KMB_PART_ORIGIN, &text));
  HOLDS(!strcmp(text, "mine.csv"));
  OK(kmb_part_f64(part, KMB_PART_BF16, &number));
  HOLDS(number == 12.5);
  kmb_peaks_destroy(peaks);
}

static void a_part_has_ceilings(void) {
  const kmb_part *part = NULL;
  kmb_ceiling memory = kmb_ceiling_init(), compute = kmb_ceiling_init();
  kmb_ceiling rate = kmb_ceiling_init();
  kmb_work work = kmb_work_init();
  OK(kmb_peaks_find(NULL, "NVIDIA H100 80GB HBM3", "10de:2330", &part));
  OK(kmb_part_ceiling(part, KMB_CEILING_MEMORY, 0, 0, &memory));
  OK(kmb_part_ceiling(part, KMB_CEILING_MATRIX, KMB_BF16, 0, &compute));
  HOLDS(memory.source == KMB_SOURCE_DATASHEET && memory.reference);
  HOLDS(compute.value > 989e12 && compute.value < 990e12);
  OK(kmb_part_rate(part, 0, KMB_BF16, 132, 1830, &rate));
  HOLDS(rate.source == KMB_SOURCE_RATE && rate.value > 989e12);
  kmb_reference reference = kmb_reference_init();
  HOLDS(kmb_part_reference_count(part) > 0);
  OK(kmb_part_reference(part, 0, &reference));
  OK(kmb_work_gemm(8192, 8192, 8192, KMB_BF16, &work));
  OK(kmb_part_reference_for(part, &work, KMB_BOUND_COMPUTE, &reference));
  HOLDS(reference.value > 0 && reference.source && reference.kind);
  kmb_roofline_params params = kmb_roofline_params_init();
  kmb_roofline roofline = kmb_roofline_init();
  params.work = &work;
  params.memory = &memory;
  params.compute = &compute;
  params.reference = &reference;
  params.time_ns = 1.39e6;
  OK(kmb_roofline_evaluate(&params, &roofline));
  HOLDS(roofline.ridge > 295 && roofline.ridge < 296);
  HOLDS(roofline.known & KMB_ROOFLINE_REFERENCE_PCT);
  HOLDS(*kmb_roofline_above_peak_text());
}

static void a_host_is_no_part(void) {
  kmb_device *device = NULL;
  const kmb_part *part = NULL;
  OK(kmb_device_open("host", NULL, &device));
  HOLDS(kmb_peaks_of_device(NULL, device, &part) == KMB_ERR_UNAVAILABLE);
  kmb_device_close(device);
}

int main(void) {
  products_are_counted();
  attention_is_counted();
  rows_are_counted();
  parts_are_found();
  a_part_has_ceilings();
  a_host_is_no_part();
  return 0;
}
