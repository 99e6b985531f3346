/* Exchanges over a board. Two places a rank are enough: nobody writes record
 * n + 2 before all have come to n + 1, and then all have read n. */
#include "comm_board.h"

#include "error.h"
#include "steady.h"

#include <stdio.h>

/* How often ranks that are missing are looked after. */
#define LOOK_NS 5e6

size_t kmbi_board_size(int32_t size) {
  return sizeof(kmbi_board) + (size_t)size * sizeof(kmbi_board_place);
}

void kmbi_board_init(kmbi_board *board, int32_t size) {
  board->size = size;
}

static kmb_status board_start(void *ctx, const void *send, void *receive,
                              size_t bytes, void **request) {
  kmbi_seat *seat = ctx;
  kmbi_board_place *place = &seat->board->places[seat->rank];
  if (bytes > KMB_COMM_RECORD)
    return kmbi_fail(KMB_ERR_INTERNAL, "a record of %zu bytes", bytes);
  uint64_t next = ++seat->sequence;
  memcpy(place->records[next & 1], send, bytes);
  seat->receive = receive;
  seat->bytes = bytes;
  atomic_store_explicit(&place->arrived, next, memory_order_release);
  *request = seat;
  return KMB_OK;
}

static bool is_here(kmbi_seat *seat, int32_t rank) {
  return atomic_load_explicit(&seat->board->places[rank].arrived,
                              memory_order_acquire) >= seat->sequence;
}

static void collect(kmbi_seat *seat) {
  kmbi_board *board = seat->board;
  for (int32_t r = 0; r < board->size; r++)
    memcpy((char *)seat->receive + (size_t)r * seat->bytes,
           board->places[r].records[seat->sequence & 1], seat->bytes);
}

static bool looks_now(kmbi_seat *seat) {
  double now = kmbi_steady_ns();
  if (now - seat->looked_ns < LOOK_NS) return false;
  seat->looked_ns = now;
  return true;
}

/* A rank that closed or ended may have come to this exchange before it did. */
static kmb_status look_after(kmbi_seat *seat, int32_t rank, bool looks) {
  const char *how = NULL;
  if (atomic_load(&seat->board->places[rank].closed))
    how = "has closed its communicator";
  else if (looks && seat->has_ended && seat->has_ended(seat, rank))
    how = "has ended";
  if (!how || is_here(seat, rank)) return KMB_OK;
  return kmbi_fail(KMB_ERR_LOST, "rank %d %s", (int)rank, how);
}

static kmb_status board_test(void *ctx, void *request, int32_t *done) {
  kmbi_seat *seat = ctx;
  kmbi_board *board = seat->board;
  (void)request;
  *done = 0;
  int32_t absent = 0;
  for (int32_t r = 0; r < board->size; r++)
    absent += !is_here(seat, r);
  if (!absent) {
    collect(seat);
    *done = 1;
    return KMB_OK;
  }
  if (atomic_load(&board->poison_state) == 2)
    return kmbi_fail(board->poison, "rank %d: %.*s", (int)board->poisoner,
                     KMBI_BOARD_TEXT, board->text);
  bool looks = looks_now(seat);
  for (int32_t r = 0; r < board->size; r++) {
    kmb_status status = is_here(seat, r) ? KMB_OK : look_after(seat, r, looks);
    if (status) return status;
  }
  return KMB_OK;
}

static void board_release(void *ctx, void *request) {
  (void)ctx;
  (void)request;
}

static kmb_status board_arrived(void *ctx, void *request, int32_t rank,
                                int32_t *yes) {
  (void)request;
  *yes = is_here(ctx, rank);
  return KMB_OK;
}

/* The first one to say it is heard. */
static void board_abort(void *ctx, kmb_status why, const char *message) {
  kmbi_seat *seat = ctx;
  kmbi_board *board = seat->board;
  uint32_t none = 0;
  if (!atomic_compare_exchange_strong(&board->poison_state, &none, 1)) return;
  board->poison = why;
  board->poisoner = seat->rank;
  snprintf(board->text, sizeof board->text, "%s", message);
  atomic_store(&board->poison_state, 2);
}

void kmbi_board_leave(kmbi_seat *seat) {
  atomic_store(&seat->board->places[seat->rank].closed, 1);
}

kmb_comm_ops kmbi_board_ops(kmbi_seat *seat, const char *name) {
  kmb_comm_ops ops = kmb_comm_ops_init();
  ops.ctx = seat;
  ops.start = board_start;
  ops.test = board_test;
  ops.release = board_release;
  ops.arrived = board_arrived;
  ops.abort = board_abort;
  ops.name = name;
  ops.rank = seat->rank;
  ops.size = seat->board->size;
  return ops;
}
