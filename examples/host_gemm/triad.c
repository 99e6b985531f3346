#include "triad.h"

#include "reference.h"
#include "team.h"

#include <stdio.h>

static const double factor = 3; /* STREAM's */

typedef struct triad {
  team *team;
  unsigned threads;
  size_t elements;
  const kmb_launch *launch;
} triad;

static void part(void *user, unsigned number, unsigned count) {
  const triad *t = user;
  size_t share = t->elements / count, rest = t->elements % count;
  size_t first = number * share + (number < rest ? number : rest);
  size_t last = first + share + (number < rest);
  const double *b = t->launch->args[0], *c = t->launch->args[1];
  double *restrict a = t->launch->args[2];
  for (size_t i = first; i < last; i++)
    a[i] = b[i] + factor * c[i];
}

static kmb_status launch(void *user, const kmb_launch *l) {
  triad *t = user;
  t->launch = l;
  team_run(t->team, part, t);
  return KMB_OK;
}

static kmb_status check(void *user, kmb_check *c) {
  const triad *t = user;
  c->error = reference_triad(c->after[2], c->before[0], c->before[1], factor,
                             t->elements);
  return c->error <= c->tolerance ? KMB_OK : KMB_ERR_INCORRECT;
}

static kmb_status bench(kmb_device *device, triad *t, kmb_buffers *buffers,
                        const kmb_metadata_params *metadata,
                        kmb_result **result) {
  kmb_work work = kmb_work_init();
  kmb_status status =
      kmb_work_elementwise(t->elements, 2, 1, 2, KMB_F64, &work);
  if (status) return status;
  char shape[32];
  snprintf(shape, sizeof shape, "%zu", t->elements);
  const kmb_pair axes[] = {{"shape", shape}, {"routine", "a=b+3c"}};
  kmb_bench_params params = kmb_bench_params_init();
  params.name = "triad";
  params.axes = axes;
  params.axis_count = sizeof axes / sizeof *axes;
  params.launch = launch;
  params.launch_user = t;
  params.check = check;
  params.check_user = t;
  params.tolerance = reference_triad_tolerance(factor);
  params.buffers = buffers;
  params.work = &work;
  params.metadata = metadata;
  params.threads = t->threads;
  params.cache = KMB_CACHE_ROTATED;
  params.max_wall_ns = 4e9; /* past a large cache one pass takes long */
  params.flags = KMB_BENCH_REQUIRE_CHECK;
  return kmb_bench(device, &params, result);
}

static kmb_status make_buffers(kmb_device *device, size_t elements,
                               kmb_buffers **buffers) {
  static const char *const names[] = {"b", "c", "a"};
  kmb_buffer_desc d[3];
  for (int i = 0; i < 3; i++) {
    d[i] = kmb_buffer_desc_init();
    d[i].name = names[i];
    d[i].dtype = KMB_F64;
    d[i].role = i < 2 ? KMB_INPUT : KMB_OUTPUT;
    d[i].bytes = elements * sizeof(double);
  }
  return kmb_buffers_create(device, d, sizeof d[0], 3, NULL, buffers);
}

kmb_status triad_measure(kmb_device *device, uint64_t llc_bytes,
                         unsigned threads, const kmb_metadata_params *metadata,
                         kmb_result **result) {
  triad t = {.threads = threads, .elements = llc_bytes / sizeof(double) + 1};
  kmb_buffers *buffers = NULL;
  kmb_status status = make_buffers(device, t.elements, &buffers);
  if (status) return status;
  t.team = team_create(threads);
  status =
      t.team ? bench(device, &t, buffers, metadata, result) : KMB_ERR_NOMEM;
  team_destroy(t.team);
  kmb_buffers_destroy(buffers);
  return status;
}
