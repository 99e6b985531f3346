/* The tracer inside the device: records of calls and operations, what happens
 * to them, and how they get into buffers. */
#define _GNU_SOURCE /* memmem */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "costs.h"
#include "inside.h"

/* Stamps are of CLOCK_REALTIME's size. */
#define EPOCH UINT64_C(1700000000000000000)

typedef union record {
  uint32_t kind;
  kmbi_cupti_kernel kernel;
  kmbi_cupti_copy copy;
  kmbi_cupti_set set;
  kmbi_cupti_external external;
  kmbi_cupti_call call;
  unsigned char all[216]; /* as large as a kernel's, CUDA 13.0 */
} record;

static sim_tracer tracer;
static record *records;
static size_t count, capacity;
static size_t held_back; /* of the last flush: those come with the next one */
static uint32_t last_correlation;
static unsigned kernels_seen;
/* Names of kernels as given out: until the next flush, nobody may look at them
 * later. */
static char **names;
static size_t name_count, name_capacity;
static _Thread_local sim_ids ids;

sim_tracer *sim_trace(void) {
  return &tracer;
}

sim_ids *sim_trace_ids(void) {
  return &ids;
}

static void take_names_back(void);

void sim_trace_reset(void) {
  take_names_back();
  free(names);
  names = NULL;
  name_capacity = 0;
  free(records);
  records = NULL;
  count = 0;
  capacity = 0;
  held_back = 0;
  kernels_seen = 0;
  /* A process registers its callbacks once. */
  tracer = (sim_tracer){.request = tracer.request, .complete = tracer.complete};
  ids.depth = 0;
}

bool sim_tracing(void) {
  return tracer.enabled[KMBI_CUPTI_KIND_CONCURRENT_KERNEL];
}

uint64_t sim_trace_clock(void) {
  return sim_now() + EPOCH;
}

size_t sim_record_size(uint32_t kind) {
  switch (kind) {
  case KMBI_CUPTI_KIND_MEMCPY:
    return 96;
  case KMBI_CUPTI_KIND_MEMSET:
    return 88;
  case KMBI_CUPTI_KIND_EXTERNAL_CORRELATION:
    return 24;
  case KMBI_CUPTI_KIND_DRIVER:
    return 40;
  default:
    return 216;
  }
}

static void add(const record *r) {
  if (count == capacity) {
    capacity = capacity ? 2 * capacity : 256;
    record *fresh = realloc(records, capacity * sizeof *records);
    if (!fresh) abort();
    records = fresh;
  }
  records[count++] = *r;
}

bool sim_trace_calls(void) {
  return tracer.enabled[KMBI_CUPTI_KIND_DRIVER];
}

uint32_t sim_trace_call(uint32_t callback_id) {
  uint32_t correlation = ++last_correlation;
  bool single = tracer.driver_calls[callback_id];
  bool all = tracer.enabled[KMBI_CUPTI_KIND_DRIVER];
  if (!single && !all) return correlation;
  /* The id comes before the call's own record. */
  bool external = all || !sim_set()->no_single_calls;
  external = external && tracer.enabled[KMBI_CUPTI_KIND_EXTERNAL_CORRELATION];
  for (unsigned i = 0; external && i < ids.depth; i++) {
    record r = {.external = {.kind = KMBI_CUPTI_KIND_EXTERNAL_CORRELATION,
                             .external_kind = ids.at[i].kind,
                             .id = ids.at[i].id,
                             .correlation = correlation}};
    add(&r);
  }
  uint64_t now = sim_trace_clock();
  record call = {.call = {.kind = KMBI_CUPTI_KIND_DRIVER,
                          .id = callback_id,
                          .start = now - SIM_LAUNCH,
                          .end = now,
                          .process = (uint32_t)getpid(),
                          .thread = (uint32_t)(uintptr_t)pthread_self(),
                          .correlation = correlation}};
  add(&call);
  return correlation;
}

void sim_trace_notify(kmbi_cupti_enum domain, uint32_t id, const void *data) {
  if (tracer.subscribed && tracer.callback && tracer.called[domain][id])
    tracer.callback(tracer.user, domain, id, data);
}

void sim_trace_launch(uint32_t id, const char *function, const void *parameters,
                      const char *kernel, struct CUctx_st *context) {
  kmbi_cupti_called call = {.site = KMBI_CUPTI_CALL_ENTER,
                            .function = function,
                            .parameters = parameters,
                            .symbol = kernel,
                            .context = context};
  sim_trace_notify(KMBI_CUPTI_DOMAIN_DRIVER, id, &call);
  call.site = KMBI_CUPTI_CALL_ENTER + 1;
  sim_trace_notify(KMBI_CUPTI_DOMAIN_DRIVER, id, &call);
}

/* An ELF file with the instructions of three kernels and a serial number. */
typedef struct module_image {
  Elf64_Ehdr head;
  Elf64_Shdr sections[6];
  char names[80];
  char code[3][16]; /* of the kernels */
  char serial[8];
} module_image;

static const char section_names[80] =
    "\0.text.test_spinner\0.text.test_spin\0.text.test_add\0.serial";

static uint32_t name_at(const char *name) {
  const char *at =
      memmem(section_names, sizeof section_names, name, strlen(name) + 1);
  if (!at) abort();
  return (uint32_t)(at - section_names);
}

static void make_image(module_image *m, unsigned serial) {
  static const char *const sections[] = {
      ".text.test_spinner", ".text.test_spin", ".text.test_add", ".serial"};
  *m = (module_image){.head = {.e_machine = 190,
                               .e_shoff = offsetof(module_image, sections),
                               .e_shentsize = sizeof(Elf64_Shdr),
                               .e_shnum = sim_set()->no_sections ? 0 : 6,
                               .e_shstrndx = 5}};
  memcpy(m->head.e_ident, ELFMAG, SELFMAG);
  m->head.e_ident[EI_CLASS] = ELFCLASS64;
  memcpy(m->names, section_names, sizeof m->names);
  snprintf(m->serial, sizeof m->serial, "%u", serial % 1000);
  for (int i = 0; i < 4; i++) {
    size_t at = i < 3 ? offsetof(module_image, code) + 16 * (size_t)i
                      : offsetof(module_image, serial);
    m->sections[i + 1] = (Elf64_Shdr){.sh_name = name_at(sections[i]),
                                      .sh_type = SHT_PROGBITS,
                                      .sh_offset = at,
                                      .sh_size = i < 3 ? 16 : 8};
    if (i < 3)
      snprintf(m->code[i], sizeof m->code[i], "%d of %u", i,
               sim_set()->distinct_code ? serial % 1000 : 0);
  }
  m->sections[5] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                .sh_offset = offsetof(module_image, names),
                                .sh_size = sizeof m->names};
}

/* Gone once it was told. */
void sim_trace_module(uint32_t id, struct CUctx_st *context) {
  static unsigned loaded;
  module_image image;
  if (sim_set()->distinct_images) loaded++;
  make_image(&image, loaded);
  kmbi_cupti_module module = {1, sizeof image, (const char *)&image};
  kmbi_cupti_resource resource = {context, NULL, &module};
  sim_trace_notify(KMBI_CUPTI_DOMAIN_RESOURCE, id, &resource);
}

void sim_trace_waited(uint32_t callback_id, uint64_t start) {
  record call = {.call = {.kind = KMBI_CUPTI_KIND_DRIVER,
                          .id = callback_id,
                          .start = start + EPOCH,
                          .end = sim_trace_clock(),
                          .process = (uint32_t)getpid(),
                          .thread = (uint32_t)(uintptr_t)pthread_self(),
                          .correlation = ++last_correlation}};
  if (tracer.enabled[KMBI_CUPTI_KIND_DRIVER]) add(&call);
}

static bool each(unsigned every) {
  return every && kernels_seen % every == 0;
}

/* Lost, without times, or ending before it starts. */
static bool spoil(uint64_t *start, uint64_t *end) {
  const sim_settings *s = sim_set();
  kernels_seen++;
  if (each(s->zero_every)) *start = *end = 0;
  if (each(s->backwards_every)) *end = *start - 10;
  if (each(s->drop_every)) tracer.dropped++;
  return each(s->drop_every) || each(s->lose_every);
}

void sim_trace_op(const struct CUstream_st *stream, const sim_op *op,
                  uint64_t start, uint64_t end) {
  uint32_t context = stream->object.context->id;
  const kmbi_cupti_launch_plain *l = &op->launch;
  record r = {0};
  start = (start + EPOCH) / SIM_TICK * SIM_TICK;
  end = (end + EPOCH) / SIM_TICK * SIM_TICK;
  /* A graph made unseen shows its copies as kernels. */
  bool kernel = op->kind == KERNEL || (op->in_graph && !op->seen_traced);
  if (kernel) {
    if (!sim_tracing() || spoil(&start, &end)) return;
    unsigned given = sim_set()->given;
    uint16_t registers = (uint16_t)(given ? given : SIM_REGISTERS_GIVEN);
    r.kernel =
        (kmbi_cupti_kernel){.kind = KMBI_CUPTI_KIND_CONCURRENT_KERNEL,
                            .start = start,
                            .end = end,
                            .context = context,
                            .stream = stream->id,
                            .correlation = op->correlation,
                            .registers = registers,
                            .static_shared = SIM_STATIC_SHARED,
                            .dynamic_shared = (int32_t)l->shared,
                            .local = SIM_LOCAL,
                            .grid_x = (int32_t)l->grid[0],
                            .grid_y = (int32_t)l->grid[1],
                            .grid_z = (int32_t)l->grid[2],
                            .block_x = (int32_t)l->block[0],
                            .block_y = (int32_t)l->block[1],
                            .block_z = (int32_t)l->block[2],
                            .name = op->kernel ? op->kernel->name : "copy"};
  } else if (op->kind == COPY) {
    if (!tracer.enabled[KMBI_CUPTI_KIND_MEMCPY]) return;
    r.copy = (kmbi_cupti_copy){.kind = KMBI_CUPTI_KIND_MEMCPY,
                               .copy_kind = op->value ? KMBI_CUPTI_COPY_HTOD
                                                      : KMBI_CUPTI_COPY_DTOH,
                               .bytes = op->bytes,
                               .start = start,
                               .end = end,
                               .context = context,
                               .stream = stream->id,
                               .correlation = op->correlation};
  } else {
    if (!tracer.enabled[KMBI_CUPTI_KIND_MEMSET]) return;
    r.set = (kmbi_cupti_set){.kind = KMBI_CUPTI_KIND_MEMSET,
                             .bytes = op->bytes,
                             .start = start,
                             .end = end,
                             .context = context,
                             .stream = stream->id,
                             .correlation = op->correlation};
  }
  add(&r);
}

/* Into buffers. */

typedef struct writer {
  uint8_t *buffer;
  size_t size, used;
} writer;

static void finish(writer *w) {
  if (w->buffer) tracer.complete(NULL, 0, w->buffer, w->size, w->used);
  *w = (writer){NULL, 0, 0};
}

static const char *lend(const char *name) {
  if (name_count == name_capacity) {
    name_capacity = name_capacity ? 2 * name_capacity : 256;
    char **fresh = realloc(names, name_capacity * sizeof *names);
    if (!fresh) abort();
    names = fresh;
  }
  names[name_count] = strdup(name);
  if (!names[name_count]) abort();
  return names[name_count++];
}

static void take_names_back(void) {
  while (name_count) {
    char *name = names[--name_count];
    memset(name, '?', strlen(name));
    free(name);
  }
}

static void put(writer *w, const record *r) {
  size_t bytes = sim_record_size(r->kind);
  size_t most = 0;
  if (w->buffer && w->used + bytes > w->size) finish(w);
  if (!w->buffer) tracer.request(&w->buffer, &w->size, &most);
  if (!w->buffer || w->used + bytes > w->size) {
    tracer.dropped++;
    return;
  }
  record copy = *r;
  if (r->kind == KMBI_CUPTI_KIND_CONCURRENT_KERNEL)
    copy.kernel.name = lend(r->kernel.name);
  memcpy(w->buffer + w->used, &copy, bytes);
  w->used += bytes;
}

void sim_trace_flush(bool forced) {
  const sim_settings *s = sim_set();
  writer w = {NULL, 0, 0};
  size_t ready = s->late && !forced ? held_back : count;
  if (s->halves && !forced) ready = (count + 1) / 2;
  if (!tracer.request) return;
  take_names_back();
  for (size_t i = 0; i < ready; i++)
    put(&w, &records[s->reversed ? ready - 1 - i : i]);
  finish(&w);
  count -= ready;
  if (ready) memmove(records, records + ready, count * sizeof *records);
  held_back = count;
}
