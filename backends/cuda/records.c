/* CUPTI's buffers and what is in them. They belong to the process, as the
 * session does, and may be asked for by a thread of CUPTI's: their memory comes
 * from the C library, not from a caller's hook. */
#include "records.h"

#include <pthread.h>
#include <stdlib.h>

/* Large buffers stall whoever asks for one; many records still fit. */
enum { BUFFER_BYTES = 256 << 10, BUFFERS = 256 };

typedef struct buffer {
  struct buffer *next;
  size_t valid;
  uint64_t data[]; /* 8-byte aligned, as CUPTI wants it */
} buffer;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static buffer *spare;
static buffer *full, **full_end = &full;
static unsigned allocated;
/* Guards the recorder and all in it; taken alone. */
static pthread_mutex_t recording = PTHREAD_MUTEX_INITIALIZER;
static kmbi_cupti_recorder *recorder;

void kmbi_cupti_buffer_request(uint8_t **data, size_t *size, size_t *records) {
  pthread_mutex_lock(&lock);
  buffer *b = spare;
  if (b) spare = b->next;
  bool more = !b && allocated < BUFFERS;
  if (more) allocated++;
  pthread_mutex_unlock(&lock);
  if (more) b = malloc(sizeof *b + BUFFER_BYTES);
  if (more && !b) {
    pthread_mutex_lock(&lock);
    allocated--;
    pthread_mutex_unlock(&lock);
  }
  /* Without one CUPTI drops records and counts them. */
  *data = b ? (uint8_t *)b->data : NULL;
  *size = b ? BUFFER_BYTES : 0;
  *records = 0;
}

/* A recorder's is read at once, while the names in it live. True: it was. */
static bool record_buffer(buffer *b) {
  void *at = NULL;
  kmbi_cupti_result result = KMBI_CUPTI_SUCCESS;
  pthread_mutex_lock(&recording);
  kmbi_cupti_recorder *r = recorder;
  while (r && !result) {
    result =
        r->api->cuptiActivityGetNextRecord((uint8_t *)b->data, b->valid, &at);
    if (!result) kmbi_cupti_recorder_take(r, at);
  }
  /* What follows in the buffer is lost, and how much nobody knows. */
  if (r && result != KMBI_CUPTI_MAX_LIMIT_REACHED) r->broken = result;
  pthread_mutex_unlock(&recording);
  return r != NULL;
}

void kmbi_cupti_buffers_record(kmbi_cupti_recorder *to) {
  pthread_mutex_lock(&recording);
  recorder = to;
  pthread_mutex_unlock(&recording);
}

void kmbi_cupti_buffer_complete(kmbi_cu_context context, uint32_t stream,
                                uint8_t *data, size_t size, size_t valid) {
  (void)context;
  (void)stream;
  (void)size;
  if (!data) return;
  buffer *b = (buffer *)(void *)(data - offsetof(buffer, data));
  b->valid = valid;
  if (valid && record_buffer(b)) b->valid = valid = 0;
  b->next = NULL;
  pthread_mutex_lock(&lock);
  if (valid) {
    *full_end = b;
    full_end = &b->next;
  } else {
    b->next = spare;
    spare = b;
  }
  pthread_mutex_unlock(&lock);
}

static buffer *take_full(void) {
  pthread_mutex_lock(&lock);
  buffer *first = full;
  full = NULL;
  full_end = &full;
  pthread_mutex_unlock(&lock);
  return first;
}

static void give_back(buffer *b) {
  pthread_mutex_lock(&lock);
  b->next = spare;
  spare = b;
  pthread_mutex_unlock(&lock);
}

/* Room for one more; false without memory. */
static bool make_room(void **array, size_t count, size_t *capacity,
                      size_t size) {
  if (count < *capacity) return true;
  size_t larger = *capacity ? 2 * *capacity : 1024;
  void *fresh =
      larger > SIZE_MAX / size ? NULL : realloc(*array, larger * size);
  if (!fresh) return false;
  *array = fresh;
  *capacity = larger;
  return true;
}

static void add_link(kmbi_cupti_client *c, uint32_t correlation,
                     uint32_t iteration) {
  void *array = c->links;
  if (make_room(&array, c->link_count, &c->link_capacity, sizeof *c->links)) {
    c->links = array;
    c->links[c->link_count++] = (kmbi_cupti_link){correlation, iteration};
  } else {
    c->no_memory = true;
  }
}

static void add_op(kmbi_cupti_client *c, kmbi_cupti_op op) {
  void *array = c->ops;
  if (make_room(&array, c->op_count, &c->op_capacity, sizeof *c->ops)) {
    c->ops = array;
    op.name = kmbi_cupti_name(&c->names, op.name);
    c->ops[c->op_count++] = op;
  } else {
    c->no_memory = true;
  }
}

/* With one client, what it starts in other contexts is its own too. */
static void route(kmbi_cupti_client *clients, uint32_t context,
                  kmbi_cupti_op op) {
  for (kmbi_cupti_client *c = clients; c; c = c->next)
    if (c->context == context || !clients->next) add_op(c, op);
}

/* A graph's copy can be one that was launched with no blocks. */
static kmb_shape shape_of(const kmbi_cupti_kernel *k) {
  kmb_shape none = {.block_x = 0};
  if (k->grid_x <= 0 || k->grid_y <= 0 || k->grid_z <= 0 || k->block_x <= 0 ||
      k->block_y <= 0 || k->block_z <= 0 || k->static_shared < 0 ||
      k->dynamic_shared < 0)
    return none;
  return (kmb_shape){.grid_x = (uint32_t)k->grid_x,
                     .grid_y = (uint32_t)k->grid_y,
                     .grid_z = (uint32_t)k->grid_z,
                     .block_x = (uint32_t)k->block_x,
                     .block_y = (uint32_t)k->block_y,
                     .block_z = (uint32_t)k->block_z,
                     .registers = k->registers,
                     .local = k->local,
                     .static_shared = (uint32_t)k->static_shared,
                     .dynamic_shared = (uint32_t)k->dynamic_shared};
}

static void read_record(kmbi_cupti_client *clients, const void *record) {
  uint32_t kind = *(const uint32_t *)record;
  const kmbi_cupti_kernel *k = record;
  const kmbi_cupti_copy *m = record;
  const kmbi_cupti_peer *p = record;
  const kmbi_cupti_set *s = record;
  const kmbi_cupti_external *e = record;
  const kmb_shape none = {.block_x = 0};
  switch (kind) {
  case KMBI_CUPTI_KIND_KERNEL:
  case KMBI_CUPTI_KIND_CONCURRENT_KERNEL:
    route(clients, k->context,
          (kmbi_cupti_op){k->start, k->end, 0, k->name, k->correlation,
                          UINT32_MAX, k->stream, KMB_OP_KERNEL, shape_of(k)});
    break;
  case KMBI_CUPTI_KIND_MEMCPY:
    route(clients, m->context,
          (kmbi_cupti_op){m->start, m->end, m->bytes, NULL, m->correlation,
                          UINT32_MAX, m->stream, KMB_OP_MEMCPY, none});
    break;
  case KMBI_CUPTI_KIND_MEMCPY2:
    route(clients, p->context,
          (kmbi_cupti_op){p->start, p->end, p->bytes, NULL, p->correlation,
                          UINT32_MAX, p->stream, KMB_OP_MEMCPY, none});
    break;
  case KMBI_CUPTI_KIND_MEMSET:
    route(clients, s->context,
          (kmbi_cupti_op){s->start, s->end, s->bytes, NULL, s->correlation,
                          UINT32_MAX, s->stream, KMB_OP_MEMSET, none});
    break;
  case KMBI_CUPTI_KIND_EXTERNAL_CORRELATION:
    if (e->external_kind != KMBI_CUPTI_EXTERNAL_CUSTOM2) break;
    for (kmbi_cupti_client *c = clients; c; c = c->next)
      if (c->serial == (uint32_t)(e->id >> 32))
        add_link(c, e->correlation, (uint32_t)e->id);
    break;
  default: /* calls: their correlation is in the external record */
    break;
  }
}

void kmbi_cupti_buffers_read(const kmbi_cupti_api *api,
                             kmbi_cupti_client *clients) {
  buffer *b = take_full();
  while (b) {
    buffer *next = b->next;
    void *record = NULL;
    while (
        !api->cuptiActivityGetNextRecord((uint8_t *)b->data, b->valid, &record))
      read_record(clients, record);
    give_back(b);
    b = next;
  }
}

void kmbi_cupti_buffers_drop(void) {
  buffer *b = take_full();
  while (b) {
    buffer *next = b->next;
    give_back(b);
    b = next;
  }
}
