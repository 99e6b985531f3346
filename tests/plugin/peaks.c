/* Recognising devices, and judging by their datasheets: over simulated devices
 * that call themselves what real ones do. */
#include "engine.h"

static char spec[512];

/* A device that reports a name, a PCI id (or ""), and so many units. */
static const char *device_spec(const char *name, const char *pci, double units,
                               const char *more) {
  snprintf(spec, sizeof spec, "name=%s%s%s,units=%.0f%s%s", name,
           *pci ? ",pci=" : "", pci, units, *more ? "," : "", more);
  return spec;
}

static const char *part_text(const kmb_part *part, kmb_part_value value) {
  const char *text = NULL;
  return kmb_part_text(part, value, &text) ? "" : text;
}

static double part_f64(const kmb_part *part, kmb_part_value value) {
  double number = 0;
  return kmb_part_f64(part, value, &number) ? 0 : number;
}

/* Opens such a device; the name of the part that it is, or the reason. */
static const char *recognised(const char *name, const char *pci, double units,
                              const char *more) {
  static char answer[256];
  harness h;
  const kmb_part *part = NULL;
  open_sim(&h, device_spec(name, pci, units, more));
  kmb_status status = kmb_peaks_of_device(NULL, h.device, &part);
  REQUIRE(status == KMB_OK || status == KMB_ERR_UNAVAILABLE);
  REQUIRE(!status == !!part);
  snprintf(answer, sizeof answer, "%s",
           status ? kmb_last_error(NULL, NULL)
                  : part_text(part, KMB_PART_NAME));
  close_sim(&h);
  return answer;
}

/* Calls `each` with the items of a list. */
static int each_item(const kmb_part *part, kmb_part_value list,
                     void (*each)(const kmb_part *part, const char *item)) {
  char items[256];
  int count = 0;
  snprintf(items, sizeof items, "%s", part_text(part, list));
  for (char *at = strtok(items, "|"); at; at = strtok(NULL, "|"), count++)
    each(part, at);
  return count;
}

/* Also by what a benchmark on it is judged by. */
static void reached_by_name(const kmb_part *part, const char *name) {
  kmb_work work = kmb_work_init();
  double units = part_f64(part, KMB_PART_UNITS);
  REQUIRE_STR(recognised(name, "", units, ""), part_text(part, KMB_PART_NAME));
  trial t;
  begin(&t, device_spec(name, "", units, ""));
  REQUIRE_OK(kmb_work_copy(1 << 20, &work));
  t.p.work = &work;
  t.p.max_samples = 50;
  t.p.flags = KMB_BENCH_NO_CONFIRM;
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_MEMORY_CEILING),
               part_f64(part, KMB_PART_BANDWIDTH) * 1e9, 1);
  REQUIRE_STR(text(&t, KMB_VALUE_CEILING_SOURCE), "datasheet");
  REQUIRE_HAS(text(&t, KMB_VALUE_MEMORY_CEILING_NAME),
              part_text(part, KMB_PART_NAME));
  REQUIRE(!raised(&t, KMB_FINDING_UNKNOWN_PEAK));
  finish(&t);
}

static void reached_by_pci(const kmb_part *part, const char *pci) {
  char id[32];
  const char *rev = part_text(part, KMB_PART_PCI_REV);
  snprintf(id, sizeof id, "%s%s%s", pci, *rev ? ":" : "", rev);
  REQUIRE_STR(recognised("A new name", id, part_f64(part, KMB_PART_UNITS), ""),
              part_text(part, KMB_PART_NAME));
}

static void every_row_is_reached_by_its_names_and_pci_ids(void) {
  uint64_t count = kmb_peaks_count(NULL);
  REQUIRE_EQ(count, 40);
  for (uint64_t i = 0; i < count; i++) {
    const kmb_part *part = NULL;
    REQUIRE_OK(kmb_peaks_get(NULL, i, &part));
    REQUIRE(each_item(part, KMB_PART_DRIVER_NAMES, reached_by_name) > 0);
    REQUIRE(each_item(part, KMB_PART_PCI_IDS, reached_by_pci) > 0);
    REQUIRE_HAS(part_text(part, KMB_PART_SOURCE), "[");
    REQUIRE_STR(part_text(part, KMB_PART_ORIGIN), "compiled in");
  }
}

/* Field case F31: a name within another is not that other. */
static void f31_only_the_whole_name_counts(void) {
  REQUIRE_STR(recognised("NVIDIA A10", "", 72, ""), "A10");
  REQUIRE_STR(recognised("NVIDIA L4", "", 58, ""), "L4");
  REQUIRE_STR(recognised("NVIDIA L40S", "", 142, ""), "L40S");
  REQUIRE_STR(recognised("NVIDIA H20", "", 78, ""), "H20");
  REQUIRE_STR(recognised("NVIDIA H200", "", 132, ""), "H200 SXM");
  REQUIRE_STR(recognised("NVIDIA B200", "", 148, ""), "B200 SXM");
  REQUIRE_STR(recognised("NVIDIA GB200", "", 152, ""), "GB200 (per GPU)");
  const char *const unknown[] = {"NVIDIA A100", "NVIDIA A10G",  "H200",
                                 "NVIDIA H2",   "NVIDIA H200 ", "nvidia h200"};
  for (int i = 0; i < 6; i++)
    REQUIRE_HAS(recognised(unknown[i], "", 132, ""), "no part with the name");
}

static void the_name_decides_before_the_pci_id(void) {
  REQUIRE_STR(recognised("NVIDIA H200", "10de:2331", 132, ""), "H200 SXM");
  REQUIRE_STR(recognised("NVIDIA H300", "10de:2331", 114, ""), "H100 PCIe");
  REQUIRE_STR(recognised("NVIDIA H300", "10DE:2331", 114, ""), "H100 PCIe");
  REQUIRE_HAS(recognised("NVIDIA H300", "10de:ffff", 132, ""), "10de:ffff");
  REQUIRE_HAS(recognised("NVIDIA H300", "nonsense", 132, ""), "H300");
}

/* 480GB is memory of its CPU. */
static void the_name_of_gh200_is_no_size_of_its_gpu(void) {
  harness h;
  const kmb_part *part = NULL;
  open_sim(&h, device_spec("NVIDIA GH200 480GB", "", 132, ""));
  REQUIRE_OK(kmb_peaks_of_device(NULL, h.device, &part));
  REQUIRE_NEAR(part_f64(part, KMB_PART_MEMORY), 96, 0);
  close_sim(&h);
}

static void parts_that_share_a_pci_id_need_the_revision(void) {
  REQUIRE_STR(recognised("AMD Radeon", "1002:744c:c8", 96, ""),
              "Radeon RX 7900 XTX");
  REQUIRE_STR(recognised("AMD Radeon", "1002:744C:C8", 96, ""),
              "Radeon RX 7900 XTX");
  REQUIRE_HAS(recognised("AMD Radeon", "1002:744c:cc", 84, ""), "no part");
  REQUIRE_HAS(recognised("AMD Radeon", "1002:744c", 96, ""), "no part");
  REQUIRE_STR(recognised("AMD Instinct", "1002:74a1:00", 304, ""),
              "Instinct MI300X");
}

/* By its name, by its UUID, or by the units that it lacks. */
static void slices_are_unknown(void) {
  REQUIRE_HAS(
      recognised("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "10de:20b0", 14, ""),
      "slice");
  REQUIRE_HAS(recognised("NVIDIA A100-SXM4-40GB", "", 108, "uuid=MIG-1234"),
              "MIG");
  REQUIRE_HAS(recognised("NVIDIA A100-SXM4-40GB", "", 14, ""), "14 units");
  REQUIRE_HAS(recognised("AMD Instinct MI300X", "", 38, ""), "partition");
  REQUIRE_HAS(recognised("NVIDIA H200", "", 118, ""), "118 units");
  REQUIRE_STR(recognised("NVIDIA H200", "", 119, ""), "H200 SXM");
}

/* Field case F31: no prediction, and no peak of another part. */
static void f31_an_unknown_device_has_no_peak(void) {
  kmb_work work = kmb_work_init();
  double number = 0;
  trial t;
  begin(&t, device_spec("NVIDIA X9000", "10de:ffff", 132, ""));
  REQUIRE_OK(kmb_work_gemm(512, 512, 512, KMB_BF16, &work));
  t.p.work = &work;
  run(&t);
  REQUIRE(raised(&t, KMB_FINDING_UNKNOWN_PEAK));
  REQUIRE_HAS(message(&t, KMB_FINDING_UNKNOWN_PEAK), "NVIDIA X9000");
  REQUIRE_STATUS(kmb_result_f64(t.r, KMB_VALUE_SOL_PCT, &number),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_STATUS(kmb_result_f64(t.r, KMB_VALUE_COMPUTE_CEILING, &number),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_STR(text(&t, KMB_VALUE_PREDICTED_BOUND), "unknown");
  REQUIRE_HAS(text(&t, KMB_VALUE_READING), "no prediction");
  finish(&t);
}

/* Field case F1: 64 MiB in 13.37 µs, on a part of 1792 GB/s. */
static void f1_a_warm_replay_is_above_the_peak(void) {
  kmb_work work = kmb_work_init();
  trial t;
  work.read_bytes = 64 * MIB;
  work.dtype = KMB_BF16;
  begin(&t, device_spec("NVIDIA GeForce RTX 5090", "", 170,
                        "kernel=13370,tick=1,timers=trace,node=0"));
  t.p.work = &work;
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_TIME), 13370, 5);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_SOL_PCT), 280, 0.5);
  REQUIRE(raised(&t, KMB_FINDING_ABOVE_PEAK));
  REQUIRE_HAS(message(&t, KMB_FINDING_ABOVE_PEAK),
              "check in this order: units");
  REQUIRE_NEAR(figure(&t, KMB_FINDING_ABOVE_PEAK, "memory_pct"), 280, 0.5);
  REQUIRE_HAS(text(&t, KMB_VALUE_READING), "above a ceiling");
  finish(&t);
}

static kmb_work bf16_gemm(void) {
  kmb_work work = kmb_work_init();
  REQUIRE_OK(kmb_work_gemm(8192, 8192, 8192, KMB_BF16, &work));
  return work;
}

/* The whole judgement of a product on an H100: 8192³ in 1.39 ms is 80% of
 * 989.4 TFLOP/s. */
static void a_gpu_is_judged_by_its_datasheet(void) {
  kmb_work work = bf16_gemm();
  trial t;
  begin(&t, device_spec("NVIDIA H100 80GB HBM3", "10de:2330", 132,
                        "kernel=1390000,clock=1830"));
  t.p.work = &work;
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_COMPUTE_CEILING), 989.4e12, 1e6);
  REQUIRE_STR(text(&t, KMB_VALUE_COMPUTE_CEILING_NAME),
              "datasheet matrix bf16 (H100 SXM5 80GB)");
  REQUIRE_STR(text(&t, KMB_VALUE_MEMORY_CEILING_NAME),
              "datasheet memory (H100 SXM5 80GB)");
  REQUIRE_NEAR(f64(&t, KMB_VALUE_RIDGE), 295.34, 0.01);
  REQUIRE_STR(text(&t, KMB_VALUE_PREDICTED_BOUND), "compute");
  REQUIRE_NEAR(f64(&t, KMB_VALUE_SOL_PCT), 79.95, 0.05);
  /* 4096 × 132 × 1830 MHz. */
  REQUIRE_NEAR(f64(&t, KMB_VALUE_RATE_CEILING), 989.43e12, 0.01e12);
  REQUIRE_HAS(text(&t, KMB_VALUE_RATE_CEILING_NAME), "132 units × 1830 MHz");
  REQUIRE_NEAR(f64(&t, KMB_VALUE_RATE_PCT), 79.94, 0.05);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_REFERENCE_PCT), 99.56, 0.05);
  REQUIRE_HAS(text(&t, KMB_VALUE_REFERENCE_NAME), "794.5 TFLOP/s");
  REQUIRE_HAS(text(&t, KMB_VALUE_REFERENCE_NAME), "no limit");
  REQUIRE_STR(text(&t, KMB_VALUE_READING_PREDICTION),
              "compute-bound: 2731 FLOP/B, the ridge is at 295.3");
  REQUIRE_HAS(text(&t, KMB_VALUE_READING_SOL), "(datasheet)");
  REQUIRE_HAS(text(&t, KMB_VALUE_READING_SOL), "of what others reached");
  REQUIRE_HAS(text(&t, KMB_VALUE_READING), "compute-bound as predicted");
  const char *none = NULL;
  REQUIRE_STATUS(kmb_result_text(t.r, KMB_VALUE_READING_OCCUPANCY, &none),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "counters");
  REQUIRE_STATUS(kmb_result_text(t.r, KMB_VALUE_READING_MEMORY, &none),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_OK(kmb_result_metadata_text(t.r, "peaks.source", &none));
  REQUIRE_HAS(none, "[R quoted]");
  finish(&t);
}

/* Field case F30: three parts called H100. */
static void f30_variants_have_their_own_peaks(void) {
  static const struct {
    const char *name;
    double units, peak;
  } parts[] = {{"NVIDIA H100 80GB HBM3", 132, 989.4e12},
               {"NVIDIA H100 PCIe", 114, 756.5e12},
               {"NVIDIA H100 NVL", 132, 835.5e12}};
  kmb_work work = bf16_gemm();
  for (int i = 0; i < 3; i++) {
    trial t;
    begin(&t, device_spec(parts[i].name, "", parts[i].units, "kernel=2e6"));
    t.p.work = &work;
    t.p.max_samples = 50;
    run(&t);
    REQUIRE_NEAR(f64(&t, KMB_VALUE_COMPUTE_CEILING), parts[i].peak, 1e6);
    finish(&t);
  }
}

/* Of a part that is slower than its rates, they say nothing. */
static void what_must_not_be_computed_is_not(void) {
  kmb_work work = bf16_gemm();
  double number = 0;
  trial t;
  begin(&t, device_spec("NVIDIA H20", "", 78, "kernel=1e7"));
  t.p.work = &work;
  run(&t);
  REQUIRE_NEAR(f64(&t, KMB_VALUE_COMPUTE_CEILING), 148e12, 1e6);
  REQUIRE_STATUS(kmb_result_f64(t.r, KMB_VALUE_RATE_CEILING, &number),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "must not be computed");
  finish(&t);
  begin(&t, device_spec("NVIDIA H200", "", 132, "kernel=1e7,telemetry=0"));
  t.p.work = &work;
  run(&t);
  REQUIRE_STATUS(kmb_result_f64(t.r, KMB_VALUE_RATE_CEILING, &number),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "no clock");
  finish(&t);
}

static const char *source_of(const char *more, const kmb_work *work,
                             const kmb_ceiling *memory) {
  static char source[64];
  trial t;
  begin(&t, device_spec("NVIDIA H200", "", 132, more));
  t.p.work = work;
  t.p.memory_ceiling = memory;
  t.p.max_samples = 50;
  run(&t);
  snprintf(source, sizeof source, "%s", text(&t, KMB_VALUE_CEILING_SOURCE));
  finish(&t);
  return source;
}

/* The datasheet's where it has all that is needed, else measured ones: they
 * take time and memory. */
static void measured_and_published_ceilings_are_not_mixed(void) {
  kmb_work gemm = bf16_gemm(), copy = kmb_work_init(), i32 = gemm;
  kmb_ceiling callers = kmb_ceiling_init();
  i32.dtype = KMB_I32; /* the table has no peak of it */
  callers.value = 5e12;
  callers.source = KMB_SOURCE_CALLER;
  REQUIRE_OK(kmb_work_copy(1 << 20, &copy));
  REQUIRE_STR(source_of("kernel=1e7,triad=4e12,matrix=8e14", &gemm, NULL),
              "datasheet");
  REQUIRE_STR(source_of("kernel=1e7,triad=4e12", &gemm, NULL), "datasheet");
  REQUIRE_STR(source_of("kernel=1e7,matrix=8e14", &gemm, NULL), "datasheet");
  REQUIRE_STR(source_of("kernel=1e7", &gemm, NULL), "datasheet");
  REQUIRE_STR(source_of("kernel=1e7,copy=4e12", &copy, NULL), "datasheet");
  REQUIRE_STR(source_of("kernel=1e7,triad=4e12,matrix=8e14", &i32, NULL),
              "measured");
  REQUIRE_STR(source_of("kernel=1e7,triad=4e12", &i32, NULL), "datasheet");
  REQUIRE_STR(source_of("kernel=1e7", &i32, NULL), "datasheet");
  REQUIRE_STR(source_of("kernel=1e7", &gemm, &callers),
              "memory: caller's, compute: datasheet");
  REQUIRE_STR(source_of("kernel=1e7,matrix=8e14", &gemm, &callers),
              "memory: caller's, compute: datasheet");
}

typedef struct file {
  const char *text;
  size_t at;
} file;

static kmb_status read_text(void *user, void *data, size_t size, size_t *got) {
  file *f = user;
  *got = strlen(f->text + f->at);
  if (*got > size) *got = size;
  memcpy(data, f->text + f->at, *got);
  f->at += *got;
  return KMB_OK;
}

/* What the user knows better, or what the table lacks. */
static void a_file_of_ones_own_is_used(void) {
  file mine = {"name,driver_names,mem_bw_gbs,bf16,source\n"
               "mine,NVIDIA H200,4000,800,measured by us\n"
               "new,NVIDIA X9000,100,10,their page\n",
               0};
  kmb_work work = bf16_gemm();
  kmb_peaks *peaks = NULL;
  trial t;
  REQUIRE_OK(kmb_peaks_create(NULL, &peaks));
  REQUIRE_OK(kmb_peaks_read_csv(peaks, "mine.csv", read_text, &mine));
  const char *const names[] = {"NVIDIA H200", "NVIDIA X9000"};
  for (int i = 0; i < 2; i++) {
    begin(&t, device_spec(names[i], "", 132, "kernel=1e7"));
    t.p.work = &work;
    t.p.peaks = peaks;
    run(&t);
    REQUIRE_NEAR(f64(&t, KMB_VALUE_COMPUTE_CEILING), i ? 10e12 : 800e12, 1);
    REQUIRE_STR(text(&t, KMB_VALUE_CEILING_SOURCE), "caller's");
    const char *source = NULL;
    REQUIRE_OK(kmb_result_metadata_text(t.r, "peaks.source", &source));
    REQUIRE_STR(source, i ? "their page" : "measured by us");
    finish(&t);
  }
  kmb_peaks_destroy(peaks);
}

/* What is said of a time that reaches neither ceiling. */
static const char *mismatch(const char *more) {
  static char reading[600];
  kmb_work work = kmb_work_init();
  trial t;
  REQUIRE_OK(kmb_work_copy(1 << 20, &work));
  begin(&t, device_spec("NVIDIA H200", "", 132, more));
  t.p.work = &work;
  run(&t);
  snprintf(reading, sizeof reading, "%s", text(&t, KMB_VALUE_READING));
  REQUIRE_HAS(reading, "does not match the prediction: memory-bound was "
                       "predicted and is not reached");
  REQUIRE_HAS(reading, "only counters could tell");
  finish(&t);
  return reading;
}

static void a_mismatch_names_what_was_seen(void) {
  REQUIRE(!strstr(mismatch("kernel=30000"), "launch and drain"));
  REQUIRE_HAS(mismatch("kernel=3000"), "launch and drain");
  REQUIRE_HAS(mismatch("kernel=30000,throttle=0:2"), "low clocks");
  REQUIRE(!strstr(mismatch("kernel=3000,timers=host"), "launch and drain"));
  REQUIRE_HAS(mismatch("kernel=30000,steal=500"), "others on the machine");
}

static void no_ceilings_looks_nothing_up(void) {
  kmb_work work = bf16_gemm();
  double number = 0;
  trial t;
  begin(&t, device_spec("NVIDIA H200", "", 132, "kernel=1e7"));
  t.p.work = &work;
  t.p.flags = KMB_BENCH_NO_CEILINGS;
  run(&t);
  REQUIRE_STATUS(kmb_result_f64(t.r, KMB_VALUE_COMPUTE_CEILING, &number),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE(!raised(&t, KMB_FINDING_UNKNOWN_PEAK));
  finish(&t);
}

int main(void) {
  RUN(every_row_is_reached_by_its_names_and_pci_ids);
  RUN(f31_only_the_whole_name_counts);
  RUN(the_name_decides_before_the_pci_id);
  RUN(the_name_of_gh200_is_no_size_of_its_gpu);
  RUN(parts_that_share_a_pci_id_need_the_revision);
  RUN(slices_are_unknown);
  RUN(f31_an_unknown_device_has_no_peak);
  RUN(f1_a_warm_replay_is_above_the_peak);
  RUN(a_gpu_is_judged_by_its_datasheet);
  RUN(f30_variants_have_their_own_peaks);
  RUN(what_must_not_be_computed_is_not);
  RUN(measured_and_published_ceilings_are_not_mixed);
  RUN(a_file_of_ones_own_is_used);
  RUN(a_mismatch_names_what_was_seen);
  RUN(no_ceilings_looks_nothing_up);
  return 0;
}
