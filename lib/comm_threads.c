/* Threads of one process as ranks: a board in ordinary memory, which goes with
 * the last of them. */
#include "comm_board.h"

#include "error.h"

typedef struct hall {
  kmbi_memory memory;
  atomic_uint holders;
  int32_t size;
  kmbi_board *board;
  void *base; /* that the board was aligned in */
} hall;

static size_t base_size(int32_t size) {
  return kmbi_board_size(size) + KMBI_BOARD_LINE;
}

static void drop(hall *h) {
  if (atomic_fetch_sub(&h->holders, 1) != 1) return;
  kmbi_memory memory = h->memory;
  kmbi_free(&memory, h->base, base_size(h->size), 1);
  kmbi_free(&memory, h, 1, sizeof *h);
}

/* A seat and the hall that it is in. */
typedef struct guest {
  kmbi_seat seat;
  hall *in;
} guest;

static hall *open_hall(const kmbi_memory *memory, int32_t size) {
  hall *h = kmbi_alloc(memory, 1, sizeof *h);
  if (!h) return NULL;
  h->memory = *memory;
  h->holders = 1;
  h->size = size;
  h->base = kmbi_alloc(memory, base_size(size), 1);
  if (!h->base) {
    drop(h);
    return NULL;
  }
  uintptr_t at = (uintptr_t)h->base + KMBI_BOARD_LINE - 1;
  h->board = (kmbi_board *)(at - at % KMBI_BOARD_LINE);
  kmbi_board_init(h->board, size);
  return h;
}

static void close_guest(void *ctx) {
  guest *g = ctx;
  hall *h = g->in;
  kmbi_memory memory = h->memory;
  kmbi_board_leave(&g->seat);
  kmbi_free(&memory, g, 1, sizeof *g);
  drop(h);
}

static kmb_status add_guest(hall *h, int32_t rank, const kmb_comm_params *p,
                            kmb_comm **comm) {
  guest *g = kmbi_alloc(&h->memory, 1, sizeof *g);
  if (!g) return kmbi_fail(KMB_ERR_NOMEM, "no memory for a communicator");
  g->in = h;
  g->seat.board = h->board;
  g->seat.rank = rank;
  kmb_comm_ops ops = kmbi_board_ops(&g->seat, "threads of one process");
  ops.close = close_guest;
  kmb_status status = kmbi_comm_make(&ops, p, &h->memory, comm);
  if (status)
    kmbi_free(&h->memory, g, 1, sizeof *g);
  else
    atomic_fetch_add(&h->holders, 1);
  return status;
}

kmb_status kmb_comm_threads_create(int32_t size, const kmb_comm_params *caller,
                                   kmb_comm **comms) {
  kmb_comm_params params;
  kmbi_memory memory;
  if (!comms || size < 1 || size > KMBI_COMM_MOST)
    return kmbi_fail(KMB_ERR_INVALID,
                     "kmb_comm_threads_create: comms is NULL, or %d ranks are "
                     "not 1 to %d",
                     (int)size, KMBI_COMM_MOST);
  memset(comms, 0, (size_t)size * sizeof(kmb_comm *));
  kmb_status status = kmbi_comm_params(caller, &params, &memory);
  if (status) return status;
  hall *h = open_hall(&memory, size);
  if (!h)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory for communicators of %d ranks",
                     (int)size);
  int32_t made = 0;
  while (!status && made < size) {
    status = add_guest(h, made, &params, &comms[made]);
    made += !status;
  }
  while (status && made > 0) {
    kmb_comm_destroy(comms[--made]);
    comms[made] = NULL;
  }
  drop(h);
  return status;
}
