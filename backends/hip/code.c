/* Captures of code: rocprofiler-sdk says which kernels are enqueued and which
 * code objects are loaded, an image's metadata what its kernels need, HIP how
 * many blocks of them fit. Callbacks come on any thread; what they keep is from
 * the C library, and nothing of HIP is called in them. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "image.h"
#include "trace.h"

typedef struct launch {
  uint64_t kernel, count;
  uint32_t grid[3], block[3];
  uint32_t group_bytes, unused;
} launch;

/* A code object that was loaded; its bytes are NULL if it is not in memory. */
typedef struct image {
  uint64_t object;
  void *bytes;
  size_t size;
  kmbi_hip_module module; /* a copy of ours, while HIP is asked */
  bool tried;
} image;

typedef struct coder {
  launch *launches;
  image *images;
  size_t launch_count, launch_room, image_count, image_room;
  uint64_t agent; /* ours, once a launch of our own was told */
  uint64_t elsewhere;
  bool has_agent, counting, no_memory;
} coder;

/* Of the block of a launch of ours that no other launch of ours has. */
enum { PROOF_THREADS = 37 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static coder *active; /* under `lock` */

static void set_active(coder *c) {
  pthread_mutex_lock(&lock);
  active = c;
  pthread_mutex_unlock(&lock);
}

/* Keeping, under `lock`. */

/* Room for one more of `size` bytes; false, and noted, without memory. */
static bool make_room(coder *c, void **list, size_t *room, size_t count,
                      size_t size) {
  if (count < *room) return true;
  size_t wanted = *room ? 2 * *room : 16;
  void *more = wanted > SIZE_MAX / size ? NULL : realloc(*list, wanted * size);
  if (!more) {
    c->no_memory = true;
    return false;
  }
  *list = more;
  *room = wanted;
  return true;
}

static void take_launch(coder *c, const launch *seen) {
  for (size_t i = 0; i < c->launch_count; i++) {
    launch *l = &c->launches[i];
    if (l->kernel != seen->kernel || l->group_bytes != seen->group_bytes ||
        memcmp(l->grid, seen->grid, sizeof l->grid) != 0 ||
        memcmp(l->block, seen->block, sizeof l->block) != 0)
      continue;
    l->count++;
    return;
  }
  void *list = c->launches;
  bool room = make_room(c, &list, &c->launch_room, c->launch_count,
                        sizeof *c->launches);
  c->launches = list;
  if (!room) return;
  c->launches[c->launch_count] = *seen;
  c->launches[c->launch_count++].count = 1;
}

static void take_image(coder *c, const kmbi_prof_object *object) {
  image seen = {.object = object->code_object};
  void *list = c->images;
  bool room =
      make_room(c, &list, &c->image_room, c->image_count, sizeof *c->images);
  c->images = list;
  if (!room) return;
  if (object->size >= sizeof *object && object->base && object->bytes &&
      object->storage == KMBI_PROF_STORED_IN_MEMORY) {
    seen.size = (size_t)object->bytes;
    seen.bytes = malloc(seen.size);
    if (!seen.bytes) {
      c->no_memory = true;
      return;
    }
    memcpy(seen.bytes, (const void *)(uintptr_t)object->base, seen.size);
  }
  c->images[c->image_count++] = seen;
}

void kmbi_hip_code_loaded(const kmbi_prof_object *object) {
  pthread_mutex_lock(&lock);
  if (active) take_image(active, object);
  pthread_mutex_unlock(&lock);
}

/* What rocprofiler counts in threads; the last block may not be full. */
static uint32_t blocks(uint32_t threads, uint32_t block) {
  return block ? threads / block + (threads % block != 0) : 0;
}

/* Before counting begins nothing but a launch of ours says who we are. */
static void take_dispatch(coder *c, const kmbi_prof_dispatch *d) {
  launch seen = {.kernel = d->info.kernel, .group_bytes = d->info.group_bytes};
  const char *name = c->counting ? NULL : kmbi_hip_name_of(d->info.kernel);
  if (name && strcmp(name, "kmb_empty") == 0 &&
      d->info.block[0] == PROOF_THREADS) {
    c->agent = d->info.agent;
    c->has_agent = true;
  }
  if (!c->counting) return;
  if (d->info.agent != c->agent) {
    c->elsewhere++;
    return;
  }
  for (int i = 0; i < 3; i++) {
    seen.block[i] = d->info.block[i];
    seen.grid[i] = blocks(d->info.grid[i], d->info.block[i]);
  }
  take_launch(c, &seen);
}

void kmbi_hip_code_launched(kmbi_prof_event event, void *data, void *user) {
  const kmbi_prof_subject subject = kmbi_hip_subject_of(&event);
  const kmbi_prof_dispatch *d = subject.payload;
  (void)data;
  (void)user;
  if (subject.kind != KMBI_PROF_DISPATCH || subject.phase != KMBI_PROF_ENTER ||
      !d || d->size < sizeof *d)
    return;
  pthread_mutex_lock(&lock);
  if (active) take_dispatch(active, d);
  pthread_mutex_unlock(&lock);
}

/* Beginning and end. */

static void destroy(kmbi_hip *self, coder *c) {
  const kmb_host *host = self->host;
  for (size_t i = 0; i < c->image_count; i++)
    free(c->images[i].bytes);
  free(c->launches);
  free(c->images);
  host->free(host->ctx, c, sizeof *c);
}

/* A launch of ours shows that launches are told of, and as whose. */
static kmb_status prove(kmbi_hip *self, coder *c) {
  kmbi_hip_stream stream = NULL;
  kmb_status status = kmbi_hip_space_stream(self, &stream);
  if (!status)
    status = kmbi_hip_launch(self, stream, KMBI_HIP_empty, PROOF_THREADS, NULL);
  if (!status) status = kmbi_hip_finish(self, stream);
  if (status) return status;
  pthread_mutex_lock(&lock);
  c->counting = c->has_agent;
  pthread_mutex_unlock(&lock);
  if (c->counting) return KMB_OK;
  return KMBI_HIP_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                       "rocprofiler-sdk did not tell of a launch of libkmb's "
                       "own, so that none would be seen");
}

static kmb_status begin(kmbi_hip *self, coder *c) {
  int before = 0;
  kmb_status status = kmbi_hip_enter(self, &before);
  /* Ours are compiled and loaded before anything counts. */
  if (!status) status = kmbi_hip_space_module(self);
  if (!status) status = kmbi_hip_launches_begin(self);
  if (!status) {
    set_active(c);
    status = prove(self, c);
    if (status) {
      set_active(NULL);
      kmbi_hip_launches_end();
    }
  }
  kmbi_hip_leave(self, before);
  return status;
}

kmb_status kmbi_hip_code_begin(void *opened, void **capture) {
  kmbi_hip *self = opened;
  const kmb_host *host = self->host;
  *capture = NULL;
  coder *c = host->alloc(host->ctx, sizeof *c, _Alignof(coder));
  if (!c)
    return KMBI_HIP_FAIL(self, KMB_ERR_NOMEM, 0,
                         "no memory for a capture of code");
  memset(c, 0, sizeof *c);
  kmb_status status = begin(self, c);
  if (status)
    destroy(self, c);
  else
    *capture = c;
  return status;
}

/* Handing over. */

enum { WHY = 512 };

static void add_reason(char why[WHY], const char *format, ...) KMB_PRINTF(2, 3);

static void add_reason(char why[WHY], const char *format, ...) {
  size_t used = strlen(why);
  va_list arguments;
  if (used) used += (size_t)snprintf(why + used, WHY - used, "%s", "; ");
  if (used >= WHY) return;
  va_start(arguments, format);
  vsnprintf(why + used, WHY - used, format, arguments);
  va_end(arguments);
}

/* Whether HIP answered; what it keeps of an error is taken back. */
static bool answered(kmbi_hip *self, kmbi_hip_result result) {
  if (!result) return true;
  if (kmbi_hip_status_of(result) == KMB_ERR_LOST) self->lost = true;
  (void)self->api->hipGetLastError();
  return false;
}

/* The kernel in a copy of its image, which HIP can be asked about. */
static kmbi_hip_function find_function(kmbi_hip *self, image *of,
                                       const char *name) {
  kmbi_hip_function function = NULL;
  if (!of->tried && !self->lost &&
      !answered(self, self->api->hipModuleLoadData(&of->module, of->bytes)))
    of->module = NULL;
  of->tried = true;
  if (!of->module || self->lost ||
      !answered(self,
                self->api->hipModuleGetFunction(&function, of->module, name)))
    return NULL;
  return function;
}

static void unload(kmbi_hip *self, coder *c) {
  for (size_t i = 0; i < c->image_count; i++)
    if (c->images[i].module && !self->lost)
      (void)answered(self, self->api->hipModuleUnload(c->images[i].module));
}

static bool ask(kmbi_hip *self, kmbi_hip_function function,
                kmbi_hip_enum attribute, uint64_t *value) {
  int got = 0;
  if (self->lost || !self->api->hipFuncGetAttribute ||
      !answered(self,
                self->api->hipFuncGetAttribute(&got, attribute, function)) ||
      got < 0)
    return false;
  *value = (uint64_t)got;
  return true;
}

/* What the metadata does not tell. */
static void ask_attributes(kmbi_hip *self, kmbi_hip_function function,
                           kmb_code_kernel *k) {
  if (ask(self, function, KMBI_HIP_FUNC_REGISTERS, &k->registers) &&
      ask(self, function, KMBI_HIP_FUNC_SHARED, &k->static_shared_bytes) &&
      ask(self, function, KMBI_HIP_FUNC_LOCAL, &k->local_bytes) &&
      ask(self, function, KMBI_HIP_FUNC_MAX_THREADS, &k->max_threads))
    k->flags |= KMB_CODE_HAS_ATTRIBUTES;
}

static void ask_occupancy(kmbi_hip *self, kmbi_hip_function function,
                          kmb_code_kernel *k) {
  const kmbi_hip_api *api = self->api;
  uint64_t threads = (uint64_t)k->block_x * k->block_y;
  int blocks_held = 0;
  if (threads > INT32_MAX || threads * k->block_z > INT32_MAX || self->lost ||
      !api->hipModuleOccupancyMaxActiveBlocksPerMultiprocessor ||
      !answered(self, api->hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
                          &blocks_held, function, (int)(threads * k->block_z),
                          (size_t)k->dynamic_shared_bytes)) ||
      blocks_held < 0)
    return;
  k->blocks_per_unit = (uint64_t)blocks_held;
  k->flags |= KMB_CODE_HAS_OCCUPANCY;
}

static bool has(const kmbi_hip_facts *facts, uint32_t which) {
  return (facts->known & which) == which;
}

#define FACT(name) (1u << KMBI_HIP_FACT_##name)

static void take_facts(const kmbi_hip_facts *facts, kmb_code_kernel *k) {
  const uint64_t *n = facts->numbers;
  k->arch = facts->target;
  k->code_offset = facts->offset;
  k->code_bytes = facts->bytes;
  if (has(facts, FACT(VGPRS) | FACT(GROUP) | FACT(PRIVATE) | FACT(THREADS))) {
    k->registers = n[KMBI_HIP_FACT_VGPRS];
    k->static_shared_bytes = n[KMBI_HIP_FACT_GROUP];
    k->local_bytes = n[KMBI_HIP_FACT_PRIVATE];
    k->max_threads = n[KMBI_HIP_FACT_THREADS];
    k->flags |= KMB_CODE_HAS_ATTRIBUTES;
  }
  if (has(facts, FACT(SGPRS))) {
    k->scalar_registers = n[KMBI_HIP_FACT_SGPRS];
    k->flags |= KMB_CODE_HAS_SCALARS;
  }
  if (has(facts, FACT(AGPRS))) {
    k->accumulator_registers = n[KMBI_HIP_FACT_AGPRS];
    k->flags |= KMB_CODE_HAS_ACCUMULATORS;
  }
  if (has(facts, FACT(SPILLED) | FACT(SPILLED_SCALARS))) {
    k->spilled_registers = n[KMBI_HIP_FACT_SPILLED];
    k->spilled_scalar_registers = n[KMBI_HIP_FACT_SPILLED_SCALARS];
    k->flags |= KMB_CODE_HAS_SPILLS;
  }
}

/* Of a kernel with its image. */
static void describe(kmbi_hip *self, image *of, kmbi_hip_facts *facts,
                     kmb_code_kernel *k, char why[WHY]) {
  kmbi_hip_image_read(of->bytes, of->size, k->name, facts);
  if (!facts->whole) {
    add_reason(why, "its image is cut short, or no code object: it was not "
                    "read, and HIP not asked about it");
    return;
  }
  take_facts(facts, k);
  if (facts->grows)
    add_reason(why, "its stack grows: local_bytes is the fixed part");
  if (!(k->flags & KMB_CODE_HAS_ATTRIBUTES))
    add_reason(why, "its image has no metadata of it that can be read");
  kmbi_hip_function function = find_function(self, of, k->name);
  if (!function) {
    add_reason(why, "HIP does not load a copy of its image, to be asked how "
                    "many blocks fit");
    return;
  }
  if (!(k->flags & KMB_CODE_HAS_ATTRIBUTES)) ask_attributes(self, function, k);
  ask_occupancy(self, function, k);
  if (!(k->flags & KMB_CODE_HAS_OCCUPANCY))
    add_reason(why, "HIP does not tell how many blocks fit");
}

static image *image_of(const coder *c, uint64_t object) {
  for (size_t i = 0; i < c->image_count; i++)
    if (c->images[i].object == object) return &c->images[i];
  return NULL;
}

static kmb_status give_one(kmbi_hip *self, const coder *c, const launch *l,
                           const kmb_code_sink *sink) {
  char why[WHY] = "";
  kmbi_hip_facts facts;
  kmbi_hip_symbol symbol = {.name = ""};
  kmb_code_kernel k = kmb_code_kernel_init();
  bool known = kmbi_hip_symbol_of(l->kernel, &symbol);
  image *of = known ? image_of(c, symbol.object) : NULL;
  k.name = symbol.name;
  k.launches = l->count;
  k.grid_x = l->grid[0], k.grid_y = l->grid[1], k.grid_z = l->grid[2];
  k.block_x = l->block[0], k.block_y = l->block[1], k.block_z = l->block[2];
  k.dynamic_shared_bytes = l->group_bytes;
  bool split = known && l->group_bytes >= symbol.group_bytes;
  if (split)
    k.dynamic_shared_bytes -= symbol.group_bytes;
  else
    add_reason(why, "dynamic_shared_bytes holds all of its LDS");
  if (!known)
    add_reason(why, "rocprofiler-sdk did not tell its name");
  else if (!of)
    add_reason(why, "its image was loaded before the capture: capture its "
                    "first launch");
  else if (!of->bytes)
    add_reason(why, "rocprofiler-sdk does not tell where in memory its image "
                    "is");
  else
    describe(self, of, &facts, &k, why);
  k.reason = why[0] ? why : NULL;
  if (self->lost)
    return KMBI_HIP_FAIL(self, KMB_ERR_LOST, 0,
                         "the device was lost while HIP was asked about "
                         "captured code");
  return sink->kernel(sink->ctx, &k, of ? of->bytes : NULL, of ? of->size : 0);
}

static kmb_status give(kmbi_hip *self, coder *c, const kmb_code_sink *sink) {
  kmb_code_info info = kmb_code_info_init();
  int before = 0;
  if (c->no_memory)
    return KMBI_HIP_FAIL(self, KMB_ERR_NOMEM, 0,
                         "no memory for all of the code that was captured");
  kmb_status status = kmbi_hip_enter(self, &before);
  for (size_t i = 0; i < c->launch_count && !status; i++)
    status = give_one(self, c, &c->launches[i], sink);
  unload(self, c);
  kmbi_hip_leave(self, before);
  info.images = c->image_count;
  info.elsewhere = c->elsewhere;
  if (!status) sink->info(sink->ctx, &info);
  return status;
}

kmb_status kmbi_hip_code_end(void *opened, void *capture,
                             const kmb_code_sink *sink) {
  kmbi_hip *self = opened;
  coder *c = capture;
  kmb_status status = KMB_OK;
  /* In a child the tracer is the parent's. */
  if (self->pid == getpid()) {
    set_active(NULL);
    kmbi_hip_launches_end();
    if (sink) status = give(self, c, sink);
  }
  destroy(self, c);
  return status;
}
