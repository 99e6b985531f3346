/* Captures of code: CUPTI says which kernels are launched and which images are
 * loaded, the driver what a kernel needs. Callbacks come on any thread; what
 * they keep is from the C library, and nothing of CUDA is called in them. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cupti_session.h"

typedef struct launch {
  kmbi_cu_function function;
  char *name;
  uint64_t count;
  unsigned grid[3], block[3];
  unsigned shared;
  unsigned unloads; /* of modules, before it was last launched */
} launch;

typedef struct image {
  void *bytes;
  size_t size;
} image;

struct kmbi_cupti_coder {
  kmbi_cu_context context; /* whose launches count */
  launch *launches;
  image *images;
  size_t launch_count, launch_room, image_count, image_room;
  uint64_t graphs, elsewhere;
  unsigned unloads;
  bool no_memory;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kmbi_cupti_coder *active; /* under `lock` */

void kmbi_cupti_code_set(kmbi_cupti_coder *coder) {
  pthread_mutex_lock(&lock);
  active = coder;
  pthread_mutex_unlock(&lock);
}

/* Keeping, under `lock`. */

/* Room for one more of `size` bytes; false, and noted, without memory. */
static bool make_room(kmbi_cupti_coder *c, void **list, size_t *room,
                      size_t count, size_t size) {
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

static void take_launch(kmbi_cupti_coder *c, const launch *seen,
                        const char *name) {
  for (size_t i = 0; i < c->launch_count; i++) {
    launch *l = &c->launches[i];
    if (l->function != seen->function || l->shared != seen->shared ||
        memcmp(l->grid, seen->grid, sizeof l->grid) != 0 ||
        memcmp(l->block, seen->block, sizeof l->block) != 0 ||
        strcmp(l->name, name) != 0)
      continue;
    l->count++;
    l->unloads = c->unloads;
    return;
  }
  void *list = c->launches;
  bool room = make_room(c, &list, &c->launch_room, c->launch_count,
                        sizeof *c->launches);
  c->launches = list;
  char *copy = room ? strdup(name) : NULL;
  if (!copy) {
    c->no_memory = true;
    return;
  }
  c->launches[c->launch_count] = *seen;
  c->launches[c->launch_count].name = copy;
  c->launches[c->launch_count].unloads = c->unloads;
  c->launches[c->launch_count++].count = 1;
}

static void take_image(kmbi_cupti_coder *c, const kmbi_cupti_module *module) {
  if (!module || !module->image || !module->size) return;
  void *list = c->images;
  bool room =
      make_room(c, &list, &c->image_room, c->image_count, sizeof *c->images);
  c->images = list;
  void *copy = room ? malloc(module->size) : NULL;
  if (!copy) {
    c->no_memory = true;
    return;
  }
  memcpy(copy, module->image, module->size);
  c->images[c->image_count++] = (image){copy, module->size};
}

enum { PLAIN, CONFIG, GRAPH, NONE };

static int how_of(uint32_t id) {
  switch (id) {
#define CASE(name, number, how) \
  case number:                  \
    return how;
    KMBI_CUPTI_LAUNCH_CALLS(CASE)
#undef CASE
  default:
    return NONE;
  }
}

static void take_call(kmbi_cupti_coder *c, uint32_t id,
                      const kmbi_cupti_called *call) {
  int how = how_of(id);
  launch seen = {.count = 0};
  if (how == NONE || call->site != KMBI_CUPTI_CALL_ENTER) return;
  if (call->context != c->context) {
    c->elsewhere++;
    return;
  }
  if (how == GRAPH) {
    c->graphs++;
    return;
  }
  const kmbi_cupti_launch_plain *plain = call->parameters;
  const kmbi_cupti_launch_config *config = call->parameters;
  if (how == CONFIG && !config->config) return;
  seen.function = how == PLAIN ? plain->function : config->function;
  memcpy(seen.grid, how == PLAIN ? plain->grid : config->config->grid,
         sizeof seen.grid);
  memcpy(seen.block, how == PLAIN ? plain->block : config->config->block,
         sizeof seen.block);
  seen.shared = how == PLAIN ? plain->shared : config->config->shared;
  take_launch(c, &seen, call->symbol ? call->symbol : "");
}

void kmbi_cupti_called_back(void *user, kmbi_cupti_enum domain, uint32_t id,
                            const void *data) {
  const kmbi_cupti_resource *resource = data;
  (void)user;
  pthread_mutex_lock(&lock);
  kmbi_cupti_coder *c = active;
  if (c && domain == KMBI_CUPTI_DOMAIN_DRIVER) {
    take_call(c, id, data);
  } else if (c && domain == KMBI_CUPTI_DOMAIN_RESOURCE) {
    if (id == KMBI_CUPTI_MODULE_LOADED) take_image(c, resource->described);
    if (id == KMBI_CUPTI_MODULE_UNLOAD) c->unloads++;
  }
  pthread_mutex_unlock(&lock);
}

/* Beginning and end. */

static void destroy(kmbi_cuda *self, kmbi_cupti_coder *c) {
  const kmb_host *host = self->host;
  for (size_t i = 0; i < c->launch_count; i++)
    free(c->launches[i].name);
  for (size_t i = 0; i < c->image_count; i++)
    free(c->images[i].bytes);
  free(c->launches);
  free(c->images);
  host->free(host->ctx, c, sizeof *c);
}

kmb_status kmbi_cuda_code_begin(void *opened, void **capture) {
  kmbi_cuda *self = opened;
  const kmb_host *host = self->host;
  *capture = NULL;
  if (!self->driver->cuFuncGetAttribute)
    return KMBI_CUDA_FAIL(self, KMB_ERR_UNSUPPORTED, 0,
                          "this driver has no cuFuncGetAttribute");
  kmbi_cupti_coder *c =
      host->alloc(host->ctx, sizeof *c, _Alignof(kmbi_cupti_coder));
  if (!c)
    return KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0,
                          "no memory for a capture of code");
  memset(c, 0, sizeof *c);
  c->context = self->space->context;
  kmb_status status = kmbi_cupti_code_begin(self, c);
  if (status)
    destroy(self, c);
  else
    *capture = c;
  return status;
}

/* Handing over. */

/* Where a kernel's name stands as that of a section, as every cubin has it. */
static bool holds(const image *in, const char *name) {
  static const char before[] = ".text.";
  size_t prefix = sizeof before - 1, size = strlen(name) + 1;
  const char *at = in->bytes;
  size_t left = in->size;
  while (left >= prefix + size) {
    const char *next = memchr(at, '.', left - prefix - size + 1);
    if (!next) return false;
    if (memcmp(next, before, prefix) == 0 &&
        memcmp(next + prefix, name, size) == 0)
      return true;
    left -= (size_t)(next + 1 - at);
    at = next + 1;
  }
  return false;
}

/* NULL and the reason where it is not known which one it is. */
static const image *image_of(const kmbi_cupti_coder *c, const launch *l,
                             char why[KMBI_CUDA_TEXT]) {
  const image *found = NULL;
  why[0] = '\0';
  for (size_t i = 0; i < c->image_count && *l->name; i++) {
    const image *other = &c->images[i];
    if (!holds(other, l->name)) continue;
    if (found && (found->size != other->size ||
                  memcmp(found->bytes, other->bytes, found->size) != 0)) {
      snprintf(why, KMBI_CUDA_TEXT,
               "several images that were loaded hold a kernel of this name");
      return NULL;
    }
    found = other;
  }
  if (!found)
    snprintf(why, KMBI_CUDA_TEXT,
             "its image was loaded before the capture: capture its first "
             "launch");
  return found;
}

/* CU_FUNC_ATTRIBUTE_… */
enum { MAX_THREADS = 0, SHARED = 1, LOCAL = 3, REGISTERS = 4, BINARY = 6 };

static bool ask(kmbi_cuda *self, kmbi_cu_function *function, int attribute,
                uint64_t *value) {
  int got = 0;
  kmbi_cu_result result =
      self->driver->cuFuncGetAttribute(&got, attribute, *function);
  if (result || got < 0) return false;
  *value = (uint64_t)got;
  return true;
}

/* What a launch names may be a kernel of a library instead of a function. */
static bool find_function(kmbi_cuda *self, kmbi_cu_function *function) {
  uint64_t value = 0;
  kmbi_cu_function found = NULL;
  if (ask(self, function, REGISTERS, &value)) return true;
  if (!self->driver->cuKernelGetFunction ||
      self->driver->cuKernelGetFunction(&found,
                                        (struct CUkern_st *)(void *)*function))
    return false;
  *function = found;
  return true;
}

static void ask_all(kmbi_cuda *self, const launch *l, kmb_code_kernel *k,
                    char arch[16]) {
  kmbi_cu_function f = l->function;
  uint64_t binary = 0;
  int blocks = 0;
  uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
  if (!find_function(self, &f) || !ask(self, &f, REGISTERS, &k->registers) ||
      !ask(self, &f, SHARED, &k->static_shared_bytes) ||
      !ask(self, &f, LOCAL, &k->local_bytes) ||
      !ask(self, &f, MAX_THREADS, &k->max_threads))
    return;
  k->flags |= KMB_CODE_HAS_ATTRIBUTES;
  if (ask(self, &f, BINARY, &binary) && binary) {
    snprintf(arch, 16, "sm_%u", (unsigned)binary);
    k->arch = arch;
  }
  if (!self->driver->cuOccupancyMaxActiveBlocksPerMultiprocessor ||
      threads > INT32_MAX ||
      self->driver->cuOccupancyMaxActiveBlocksPerMultiprocessor(
          &blocks, f, (int)threads, l->shared) ||
      blocks < 0)
    return;
  k->blocks_per_unit = (uint64_t)blocks;
  k->flags |= KMB_CODE_HAS_OCCUPANCY;
}

static kmb_status give_one(kmbi_cuda *self, const kmbi_cupti_coder *c,
                           const launch *l, const kmb_code_sink *sink) {
  char why[KMBI_CUDA_TEXT], arch[16] = "";
  kmb_code_kernel k = kmb_code_kernel_init();
  const image *found = image_of(c, l, why);
  if (found && !kmbi_cuda_image_find(found->bytes, found->size, l->name,
                                     &k.code_offset, &k.code_bytes))
    k.code_offset = k.code_bytes = 0;
  k.name = l->name;
  k.launches = l->count;
  k.dynamic_shared_bytes = l->shared;
  k.grid_x = l->grid[0], k.grid_y = l->grid[1], k.grid_z = l->grid[2];
  k.block_x = l->block[0], k.block_y = l->block[1], k.block_z = l->block[2];
  /* The function may be one of what was unloaded: it is not touched. */
  bool gone = l->unloads != c->unloads;
  if (!gone) ask_all(self, l, &k, arch);
  if (found && gone)
    snprintf(why, sizeof why,
             "a module was unloaded after its last launch: its attributes were "
             "not asked for");
  else if (found && !(k.flags & KMB_CODE_HAS_ATTRIBUTES))
    snprintf(why, sizeof why, "the driver does not tell its attributes");
  k.reason = why[0] ? why : NULL;
  return sink->kernel(sink->ctx, &k, found ? found->bytes : NULL,
                      found ? found->size : 0);
}

static kmb_status give(kmbi_cuda *self, const kmbi_cupti_coder *c,
                       const kmb_code_sink *sink) {
  kmb_code_info info = kmb_code_info_init();
  kmbi_cu_context before = NULL;
  if (c->no_memory)
    return KMBI_CUDA_FAIL(self, KMB_ERR_NOMEM, 0,
                          "no memory for all of the code that was captured");
  kmb_status status = kmbi_cuda_enter(self, &before);
  if (status) return status;
  for (size_t i = 0; i < c->launch_count && !status; i++)
    status = give_one(self, c, &c->launches[i], sink);
  kmbi_cuda_leave(self, before);
  info.images = c->image_count;
  info.graph_launches = c->graphs;
  info.elsewhere = c->elsewhere;
  if (!status) sink->info(sink->ctx, &info);
  return status;
}

kmb_status kmbi_cuda_code_end(void *opened, void *capture,
                              const kmb_code_sink *sink) {
  kmbi_cuda *self = opened;
  kmbi_cupti_coder *c = capture;
  kmb_status status = KMB_OK;
  /* In a child the session is the parent's. */
  if (self->pid == getpid()) {
    status = kmbi_cupti_code_end(self);
    if (!status && sink) status = give(self, c, sink);
  }
  destroy(self, c);
  return status;
}
