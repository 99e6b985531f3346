/* What ends a device's use: kernels that never end or write nowhere, no memory;
 * and what is not there at all. */
#include "../../comma.h"
#include "alone.h"
#include "bed.h"
#include "sim/costs.h"

static void start(bed *b, const char *name) {
  sim_reset();
  sim_set()->l2_bytes = 64 << 10;
  sim_set()->mall_bytes = 1 << 20;
  bed_set_up(b);
  REQUIRE_OK(bed_open(b, name));
}

static uint64_t calls_of_hip(void) {
  uint64_t calls = 0;
  for (sim_function f = 0; f < SIM_FUNCTIONS; f++)
    if (sim_is_hip(f)) calls += sim_calls(f);
  return calls;
}

typedef struct bad {
  spin s;
  kmbi_hip_function kernel;
  void *word;
  int calls, bad_at;
} bad;

static kmb_status launch_bad(void *user, const kmb_launch *l) {
  bad *w = user;
  void *arguments[] = {&w->word};
  if (++w->calls < w->bad_at) return bed_launch_spin(&w->s, l);
  return w->s.b->hip.hipModuleLaunchKernel(w->kernel, 1, 1, 1, 1, 1, 1, 0,
                                           l->stream, arguments, NULL)
             ? KMB_ERR_VENDOR
             : KMB_OK;
}

/* Lost once, nothing waits again and nothing more is asked of HIP. */
static void lose(const char *kernel, kmb_timer timer, int bad_at,
                 int64_t code) {
  bed b;
  kmb_result *r = NULL;
  int64_t vendor = 0;
  start(&b, "hip:0:deadline=0.01");
  bad w = {bed_spin(&b, 5, 1), bed_kernel(&b, kernel), (void *)16, 0, bad_at};
  if (!code) {
    HIP(&b, hipMalloc, &w.word, 4);
    memset(w.word, 0, 4);
  }
  kmb_launch_mode mode = bad_at > 1 ? KMB_LAUNCH_PLAIN : KMB_LAUNCH_AUTO;
  kmb_bench_params p = bed_params(timer, mode, KMB_CACHE_WARM);
  p.launch = launch_bad;
  p.launch_user = &w;
  uint64_t before = sim_now();
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_LOST);
  REQUIRE(sim_now() - before < 1000000000);
  REQUIRE_HAS(kmb_last_error(NULL, &vendor), "lost");
  REQUIRE_EQ(vendor, code);
  uint64_t calls = calls_of_hip();
  before = sim_now();
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_LOST);
  bed_close(&b);
  REQUIRE_EQ(calls_of_hip(), calls);
  REQUIRE(sim_now() - before < 1000000);
}

/* What is lost stays so: a process each. */
static struct {
  const char *kernel;
  int64_t code;
  kmb_timer timer;
  int bad_at;
} now;

static void lose_now(void) {
  lose(now.kernel, now.timer, now.bad_at, now.code);
}

static void lose_with_each_timer(const char *kernel, int64_t code) {
  int failed = 0;
  for (kmb_timer t = KMB_TIMER_GRAPH; t <= KMB_TIMER_HOST; t++) {
    char name[64];
    now.kernel = kernel;
    now.code = code;
    now.timer = t;
    for (now.bad_at = 1; now.bad_at <= 40; now.bad_at += 39) {
      /* A replay has captured its launches by then. */
      if (t == KMB_TIMER_GRAPH && now.bad_at > 1) continue;
      snprintf(name, sizeof name, "  %s, timer %d, launch %d", kernel, (int)t,
               now.bad_at);
      failed += alone(lose_now, name);
    }
  }
  REQUIRE_EQ(failed, 0);
}

static void a_kernel_that_never_ends_is_lost(void) {
  lose_with_each_timer("test_hang", 0);
}

static void a_kernel_that_writes_nowhere_is_lost(void) {
  lose_with_each_timer("test_fault", KMBI_HIP_IllegalAddress);
}

static void no_memory_for_the_sweep_is_nomem(void) {
  bed b;
  kmb_result *r = NULL;
  start(&b, "hip:0");
  sim_set()->memory_bytes = 1 << 20; /* the sweep wants 2 MiB */
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p = bed_params(0, 0, KMB_CACHE_COLD);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  REQUIRE_STATUS(kmb_bench(b.device, &p, &r), KMB_ERR_NOMEM);
  p.cache = KMB_CACHE_WARM;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  kmb_result_destroy(r);
  bed_end(&b);
}

static void without_a_device_it_is_unavailable(void) {
  bed b;
  sim_reset();
  memset(&b, 0, sizeof b);
  sim_set()->devices = 0;
  REQUIRE_STATUS(bed_open(&b, "hip:0"), KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "shows 0 devices");
  REQUIRE_EQ(b.memory.bytes_out, 0);
  /* There are some later, but no third one. */
  sim_set()->devices = 2;
  REQUIRE_STATUS(bed_open(&b, "hip:2"), KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "shows 2 devices");
  REQUIRE_OK(bed_open(&b, "hip:1"));
  bed_close(&b);
  REQUIRE_EQ(sim_held(), 0);
}

static void an_unknown_major_version_is_refused(void) {
  static const int versions[] = {40500000, 80000000};
  for (int i = 0; i < 2; i++) {
    bed b;
    sim_reset();
    memset(&b, 0, sizeof b);
    sim_set()->version = versions[i];
    REQUIRE_STATUS(bed_open(&b, "hip:0"), KMB_ERR_UNSUPPORTED);
    REQUIRE_HAS(kmb_last_error(NULL, NULL), i ? "HIP 8" : "HIP 4");
    REQUIRE_HAS(kmb_last_error(NULL, NULL), "ROCm 5 to 7");
    REQUIRE_EQ(b.memory.bytes_out, 0);
  }
}

static void what_hip_lacks_is_named(void) {
  bed b;
  sim_reset();
  memset(&b, 0, sizeof b);
  sim_set()->missing[0] = "hipModuleLaunchKernel";
  REQUIRE_STATUS(bed_open(&b, "hip:0"), KMB_ERR_UNSUPPORTED);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "lacks hipModuleLaunchKernel");
  REQUIRE_EQ(b.memory.bytes_out, 0);
}

/* Both layouts of the properties, and none. */

static void open_lacking(bed *b, const char *first, const char *second,
                         const char *third) {
  sim_reset();
  sim_set()->l2_bytes = 64 << 10;
  sim_set()->mall_bytes = 1 << 20;
  sim_set()->missing[0] = first;
  sim_set()->missing[1] = second;
  sim_set()->missing[2] = third;
  bed_set_up(b);
  REQUIRE_OK(bed_open(b, "hip:0"));
}

static kmb_status measure(bed *b, kmb_timer timer, kmb_launch_mode mode) {
  kmb_result *r = NULL;
  spin s = bed_spin(b, 5, 1);
  kmb_bench_params p = bed_params(timer, mode, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  kmb_status status = kmb_bench(b->device, &p, &r);
  kmb_result_destroy(r);
  return status;
}

static const char *const lacking[3] = {"hipGetDevicePropertiesR0600",
                                       "hipGetDevicePropertiesR0000",
                                       "hipGetDeviceProperties"};

static void properties_lacking(int count, bool known) {
  bed b;
  const char *text = NULL;
  open_lacking(&b, count > 0 ? lacking[0] : NULL, count > 1 ? lacking[1] : NULL,
               count > 2 ? lacking[2] : NULL);
  kmb_status status = kmb_device_attr_text(b.device, KMB_DEVICE_ISA, &text);
  REQUIRE_STATUS(status, known ? KMB_OK : KMB_ERR_UNAVAILABLE);
  if (known) REQUIRE_STR(text, "gfx942:sramecc+:xnack-");
  status = measure(&b, KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH);
  REQUIRE_STATUS(status, known ? KMB_OK : KMB_ERR_UNAVAILABLE);
  if (!known) REQUIRE_HAS(kmb_last_error(NULL, NULL), "cannot be compiled");
  bed_end(&b);
}

static void properties_are_of_rocm_6(void) {
  properties_lacking(0, true);
}

static void properties_are_of_rocm_5_under_their_version(void) {
  properties_lacking(1, true);
}

static void properties_are_of_rocm_5_without_a_version(void) {
  properties_lacking(2, true);
}

static void without_properties_there_are_no_kernels(void) {
  properties_lacking(3, false);
}

static void properties_of_another_layout_are_not_believed(void) {
  bed b;
  const char *text = NULL;
  sim_reset();
  sim_set()->odd_properties = true;
  bed_set_up(&b);
  REQUIRE_OK(bed_open(&b, "hip:0"));
  REQUIRE_STATUS(kmb_device_attr_text(b.device, KMB_DEVICE_ARCH, &text),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "not laid out");
  bed_end(&b);
}

/* hiprtc. */

static void what_the_compiler_says_is_passed_on(void) {
  bed b;
  start(&b, "hip:0");
  sim_set()->compiler_fails = true;
  REQUIRE_STATUS(measure(&b, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN),
                 KMB_ERR_VENDOR);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "error: simulated");
  sim_set()->compiler_fails = false;
  REQUIRE_OK(measure(&b, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN));
  bed_end(&b);
}

static void without_a_compiler_it_is_unavailable(void) {
  bed b;
  open_lacking(&b, "hiprtcCompileProgram", NULL, NULL);
  REQUIRE_STATUS(measure(&b, KMB_TIMER_EVENT, KMB_LAUNCH_PLAIN),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "hiprtc is absent");
  bed_end(&b);
}

/* Each optional function of HIP can be absent. */

static void without_graphs_launches_are_plain(void) {
  bed b;
  open_lacking(&b, "hipGraphLaunch", NULL, NULL);
  REQUIRE_OK(measure(&b, 0, 0));
  REQUIRE_STATUS(measure(&b, KMB_TIMER_GRAPH, KMB_LAUNCH_GRAPH),
                 KMB_ERR_UNAVAILABLE);
  bed_end(&b);
}

/* As in ROCm 5. */
static void without_what_came_later_all_serves(void) {
  bed b;
  double tick = 0;
  open_lacking(&b, "hipGraphUpload", "hipStreamGetDevice", "hipDeviceGetUuid");
  sim_set()->no_fence_flag = true;
  sim_set()->no_wall_clock = true;
  for (kmb_timer t = KMB_TIMER_GRAPH; t <= KMB_TIMER_HOST; t++)
    REQUIRE_OK(measure(&b, t, 0));
  REQUIRE_STATUS(kmb_device_attr_f64(b.device, KMB_DEVICE_CLOCK_TICK_NS, &tick),
                 KMB_ERR_UNAVAILABLE);
  bed_end(&b);
}

static void without_amd_smi_and_sysfs_telemetry_is_absent(void) {
  bed b;
  kmb_result *r = NULL;
  open_lacking(&b, "amdsmi_init", NULL, NULL);
  sim_set()->no_measures = true;
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p = bed_params(0, 0, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE(!bed_metadata(r, "telemetry.before.clock_mhz"));
  REQUIRE(!bed_metadata(r, "telemetry.after.temperature_c"));
  REQUIRE(!bed_finding(r, KMB_FINDING_CLOCK_DRIFT));
  kmb_result_destroy(r);
  bed_end(&b);
}

static void without_amd_smi_sysfs_serves(void) {
  bed b;
  kmb_result *r = NULL;
  open_lacking(&b, "amdsmi_init", NULL, NULL);
  spin s = bed_spin(&b, 5, 1);
  kmb_bench_params p = bed_params(0, 0, KMB_CACHE_WARM);
  p.launch = bed_launch_spin;
  p.launch_user = &s;
  REQUIRE_OK(kmb_bench(b.device, &p, &r));
  REQUIRE_STR(bed_metadata(r, "telemetry.before.clock_mhz"), "2100");
  REQUIRE_STR(bed_metadata(r, "telemetry.after.temperature_c"), "47");
  kmb_result_destroy(r);
  bed_end(&b);
}

static void a_deadline_has_a_point_in_any_locale(void) {
  bed b;
  if (!use_a_comma()) printf("no localedef makes a locale with a comma here\n");
  start(&b, "hip:0:deadline=2.5");
  bed_end(&b);
  bed_set_up(&b);
  REQUIRE_STATUS(bed_open(&b, "hip:0:deadline=2,5"), KMB_ERR_INVALID);
  bed_end(&b);
}

int main(void) {
  int failed = ALONE(a_kernel_that_never_ends_is_lost);
  failed += ALONE(a_kernel_that_writes_nowhere_is_lost);
  failed += ALONE(no_memory_for_the_sweep_is_nomem);
  failed += ALONE(a_deadline_has_a_point_in_any_locale);
  failed += ALONE(without_a_device_it_is_unavailable);
  failed += ALONE(an_unknown_major_version_is_refused);
  failed += ALONE(what_hip_lacks_is_named);
  failed += ALONE(properties_are_of_rocm_6);
  failed += ALONE(properties_are_of_rocm_5_under_their_version);
  failed += ALONE(properties_are_of_rocm_5_without_a_version);
  failed += ALONE(without_properties_there_are_no_kernels);
  failed += ALONE(properties_of_another_layout_are_not_believed);
  failed += ALONE(what_the_compiler_says_is_passed_on);
  failed += ALONE(without_a_compiler_it_is_unavailable);
  failed += ALONE(without_graphs_launches_are_plain);
  failed += ALONE(without_what_came_later_all_serves);
  failed += ALONE(without_amd_smi_sysfs_serves);
  failed += ALONE(without_amd_smi_and_sysfs_telemetry_is_absent);
  return failed != 0;
}
