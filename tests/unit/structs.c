/* Every struct that may grow, in every function that takes it: too small, from
 * a newer caller, and never initialised. */
#include "samples.h"

#include "structs.h"

#include <kmb/kmb.h>

/* The first versions' sizes never change. */
static void first_versions_are_pinned(void) {
  if (sizeof(void *) != 8) return;
  REQUIRE_EQ(KMBI_HOOKS_V1, 96);
  REQUIRE_EQ(KMBI_DEVICE_PARAMS_V1, 40);
  REQUIRE_EQ(KMBI_BUFFER_DESC_V1, 136);
  REQUIRE_EQ(KMBI_BUFFERS_PARAMS_V1, 32);
  REQUIRE_EQ(KMBI_BUFFERS_INFO_V1, 56);
  REQUIRE_EQ(KMBI_WORK_V1, 48);
  REQUIRE_EQ(KMBI_CEILING_V1, 64);
  REQUIRE_EQ(KMBI_ROOFLINE_PARAMS_V1, 40);
  REQUIRE_EQ(KMBI_ROOFLINE_V1, 96);
  REQUIRE_EQ(KMBI_METADATA_PARAMS_V1, 112);
  REQUIRE_EQ(KMBI_METADATA_ENTRY_V1, 32);
  REQUIRE_EQ(KMBI_FINDING_V1, 40);
  REQUIRE_EQ(KMBI_BENCH_PARAMS_V1, 256);
}

static kmb_device *device;
static kmb_result *result;
static kmb_buffers *set;

static kmb_status launch(void *user, const kmb_launch *l) {
  (void)user;
  (void)l;
  return 7; /* a struct that passes ends here */
}

/* Calls with the struct under test; what else they take is right. */

static kmb_status open_with(void *params) {
  kmb_device *d = NULL;
  kmb_status status = kmb_device_open("host", params, &d);
  kmb_device_close(d);
  return status;
}

static kmb_status open_with_hooks(void *hooks) {
  kmb_device_params params = kmb_device_params_init();
  params.hooks = hooks;
  return open_with(&params);
}

static kmb_status list_with_hooks(void *hooks) {
  kmb_results *list = NULL;
  kmb_status status = kmb_results_create(hooks, &list);
  kmb_results_destroy(list);
  return status;
}

static kmb_status describe_with(void *params, const kmb_buffer_desc *d) {
  kmb_buffers *buffers = NULL;
  kmb_status status = kmb_buffers_create(device, d, 4096, 1, params, &buffers);
  kmb_buffers_destroy(buffers);
  return status;
}

static kmb_buffer_desc good_desc(void) {
  kmb_buffer_desc d = kmb_buffer_desc_init();
  d.name = "x";
  d.role = KMB_INPUT;
  d.dtype = KMB_F32;
  d.bytes = 64;
  return d;
}

static kmb_status with_desc(void *desc) {
  return describe_with(NULL, desc);
}

static kmb_status with_buffers_params(void *params) {
  kmb_buffer_desc d = good_desc();
  return describe_with(params, &d);
}

static kmb_status bench_with(void *params) {
  kmb_result *r = NULL;
  return kmb_bench(device, params, &r);
}

static kmb_status session_with(void *params) {
  kmb_session *session = NULL;
  kmb_status status = kmb_session_begin(device, params, &session);
  kmb_session_abandon(session);
  return status;
}

static kmb_status samples_with(void *params) {
  const double ns[] = {1};
  kmb_result *r = NULL;
  kmb_status status = kmb_result_from_samples(device, params, ns, 1, 0, &r);
  kmb_result_destroy(r);
  return status;
}

static kmb_bench_params good_bench(void) {
  kmb_bench_params params = kmb_bench_params_init();
  params.launch = launch;
  params.flags = KMB_BENCH_NO_CEILINGS;
  return params;
}

static kmb_status bench_with_work(void *work) {
  kmb_bench_params params = good_bench();
  params.work = work;
  return bench_with(&params);
}

static kmb_status bench_with_metadata(void *metadata) {
  kmb_bench_params params = good_bench();
  params.metadata = metadata;
  return bench_with(&params);
}

static kmb_work good_work(void) {
  kmb_work work = kmb_work_init();
  work.read_bytes = 8;
  work.flops = 8;
  return work;
}

static kmb_ceiling good_ceiling(void) {
  kmb_ceiling ceiling = kmb_ceiling_init();
  ceiling.value = 1e9;
  return ceiling;
}

static kmb_status bench_with_ceiling(void *ceiling) {
  kmb_work work = good_work();
  kmb_bench_params params = good_bench();
  params.work = &work;
  params.memory_ceiling = ceiling;
  return bench_with(&params);
}

static kmb_status evaluate(const kmb_roofline_params *params, void *out) {
  kmb_roofline roofline = kmb_roofline_init();
  return kmb_roofline_evaluate(params, out ? out : &roofline);
}

static kmb_roofline_params good_roofline_params(const kmb_work *work) {
  kmb_roofline_params params = kmb_roofline_params_init();
  params.work = work;
  return params;
}

static kmb_status roofline_with(void *params) {
  return evaluate(params, NULL);
}

static kmb_status roofline_with_work(void *work) {
  kmb_roofline_params params = good_roofline_params(work);
  return evaluate(&params, NULL);
}

static kmb_status roofline_with_ceiling(void *ceiling) {
  kmb_work work = good_work();
  kmb_roofline_params params = good_roofline_params(&work);
  params.compute = ceiling;
  return evaluate(&params, NULL);
}

static kmb_status roofline_into(void *out) {
  kmb_work work = good_work();
  kmb_roofline_params params = good_roofline_params(&work);
  return evaluate(&params, out);
}

static kmb_status work_into(void *out) {
  return kmb_work_gemm(1, 1, 1, KMB_F32, out);
}

static kmb_status more_work_into(void *out) {
  kmb_status status = kmb_work_copy(8, out);
  return status ? status : kmb_work_elementwise(1, 1, 1, 0, KMB_F32, out);
}

static kmb_status info_into(void *out) {
  return kmb_buffers_get_info(set, out);
}

static kmb_status entry_into(void *out) {
  return kmb_result_metadata(result, 0, out);
}

static kmb_status finding_into(void *out) {
  return kmb_result_finding(result, 0, out);
}

/* The struct, with room for what a newer version may add. */
typedef union room {
  size_t struct_size;
  char bytes[4096];
} room;

typedef kmb_status (*call)(void *subject);

/* `want` is what the call gives for a good struct. */
static void try_sizes(call function, const void *good, size_t size, size_t v1,
                      kmb_status want, bool in) {
  room r;
  memset(&r, 0, sizeof r);
  memcpy(&r, good, size);
  REQUIRE_STATUS(function(&r), want);
  REQUIRE_EQ(r.struct_size, size);
  r.struct_size = v1;
  REQUIRE_STATUS(function(&r), want);
  r.struct_size = v1 - 1;
  REQUIRE_STATUS(function(&r), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "struct_size");
  r.struct_size = 0;
  REQUIRE_STATUS(function(&r), KMB_ERR_INVALID);
  r.struct_size = SIZE_MAX / 2;
  REQUIRE_STATUS(function(&r), KMB_ERR_INVALID);
  r.struct_size = size + 16;
  REQUIRE_STATUS(function(&r), want);
  if (!in) return;
  r.bytes[size + 15] = 1;
  REQUIRE_STATUS(function(&r), KMB_ERR_UNSUPPORTED);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "does not know");
}

#define TRY_IN(function, type, v1, good, want)                 \
  do {                                                         \
    type good_ = (good);                                       \
    try_sizes(function, &good_, sizeof good_, v1, want, true); \
  } while (0)
#define TRY_OUT(function, type, v1)                               \
  do {                                                            \
    type good_ = type##_init();                                   \
    try_sizes(function, &good_, sizeof good_, v1, KMB_OK, false); \
  } while (0)

static void what_comes_in_is_checked_everywhere(void) {
  kmb_work work = good_work();
  TRY_IN(open_with, kmb_device_params, KMBI_DEVICE_PARAMS_V1,
         kmb_device_params_init(), KMB_OK);
  TRY_IN(open_with_hooks, kmb_hooks, KMBI_HOOKS_V1, kmb_hooks_init(), KMB_OK);
  TRY_IN(list_with_hooks, kmb_hooks, KMBI_HOOKS_V1, kmb_hooks_init(), KMB_OK);
  TRY_IN(with_desc, kmb_buffer_desc, KMBI_BUFFER_DESC_V1, good_desc(), KMB_OK);
  TRY_IN(with_buffers_params, kmb_buffers_params, KMBI_BUFFERS_PARAMS_V1,
         kmb_buffers_params_init(), KMB_OK);
  TRY_IN(bench_with, kmb_bench_params, KMBI_BENCH_PARAMS_V1, good_bench(), 7);
  TRY_IN(session_with, kmb_bench_params, KMBI_BENCH_PARAMS_V1, good_bench(),
         KMB_OK);
  TRY_IN(samples_with, kmb_bench_params, KMBI_BENCH_PARAMS_V1, good_bench(),
         KMB_OK);
  TRY_IN(bench_with_work, kmb_work, KMBI_WORK_V1, good_work(), 7);
  TRY_IN(bench_with_metadata, kmb_metadata_params, KMBI_METADATA_PARAMS_V1,
         kmb_metadata_params_init(), 7);
  TRY_IN(bench_with_ceiling, kmb_ceiling, KMBI_CEILING_V1, good_ceiling(), 7);
  TRY_IN(roofline_with, kmb_roofline_params, KMBI_ROOFLINE_PARAMS_V1,
         good_roofline_params(&work), KMB_OK);
  TRY_IN(roofline_with_work, kmb_work, KMBI_WORK_V1, good_work(), KMB_OK);
  TRY_IN(roofline_with_ceiling, kmb_ceiling, KMBI_CEILING_V1, good_ceiling(),
         KMB_OK);
}

static void what_goes_out_fits_the_caller_everywhere(void) {
  TRY_OUT(roofline_into, kmb_roofline, KMBI_ROOFLINE_V1);
  TRY_OUT(work_into, kmb_work, KMBI_WORK_V1);
  TRY_OUT(more_work_into, kmb_work, KMBI_WORK_V1);
  TRY_OUT(info_into, kmb_buffers_info, KMBI_BUFFERS_INFO_V1);
  TRY_OUT(entry_into, kmb_metadata_entry, KMBI_METADATA_ENTRY_V1);
  TRY_OUT(finding_into, kmb_finding, KMBI_FINDING_V1);
}

int main(void) {
  kmb_buffer_desc d = good_desc();
  REQUIRE_OK(kmb_device_open("host", NULL, &device));
  REQUIRE_OK(kmb_buffers_create(device, &d, sizeof d, 1, NULL, &set));
  result = make_sample("x");
  RUN(first_versions_are_pinned);
  RUN(what_comes_in_is_checked_everywhere);
  RUN(what_goes_out_fits_the_caller_everywhere);
  kmb_result_destroy(result);
  kmb_buffers_destroy(set);
  kmb_device_close(device);
  return 0;
}
