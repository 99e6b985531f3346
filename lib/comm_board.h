/* A board: memory that all ranks see, where each has two places to write its
 * records to in turn. It is what joins threads, and processes of one host. */
#ifndef KMB_LIB_COMM_BOARD_H
#define KMB_LIB_COMM_BOARD_H

#include "comm.h"

enum { KMBI_BOARD_LINE = 128, KMBI_BOARD_TEXT = 192 };

typedef struct kmbi_board_place {
  _Atomic uint64_t arrived; /* exchanges that the rank has come to */
  _Atomic uint32_t closed;  /* it has ended its communicator */
  uint32_t reserved;
  _Atomic uint64_t process; /* shared memory: whose rank it is */
  uint64_t unused[13];
  unsigned char records[2][KMB_COMM_RECORD];
} kmbi_board_place;

_Static_assert(sizeof(kmbi_board_place) % KMBI_BOARD_LINE == 0,
               "ranks share no cache line");

/* `places` follow. */
typedef struct kmbi_board {
  _Atomic uint64_t magic;        /* shared memory: last thing that is written */
  _Atomic uint32_t poison_state; /* 0 none, 1 being written, 2 there */
  kmb_status poison;
  int32_t size;
  int32_t poisoner;
  _Atomic uint32_t joined; /* shared memory: ranks that have mapped it */
  _Atomic uint32_t ready;  /* shared memory: all have */
  char text[KMBI_BOARD_TEXT];
  uint64_t reserved[4];
  kmbi_board_place places[];
} kmbi_board;

/* One rank's view of it, the ctx of its functions. */
typedef struct kmbi_seat {
  kmbi_board *board;
  int32_t rank;
  uint64_t sequence;
  const void *sent;
  void *receive;
  size_t bytes;
  /* Whether a rank that has not arrived has ended; NULL: it would say so. */
  bool (*has_ended)(struct kmbi_seat *seat, int32_t rank);
  double looked_ns;
} kmbi_seat;

/* 0 if it would be too large. */
size_t kmbi_board_size(int32_t size);
/* All but the magic. The memory is zero. */
void kmbi_board_init(kmbi_board *board, int32_t size);
/* The functions that work on a seat; `close` only marks it. */
kmb_comm_ops kmbi_board_ops(kmbi_seat *seat, const char *name);
void kmbi_board_leave(kmbi_seat *seat);

#endif
