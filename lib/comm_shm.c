/* Processes of one host as ranks: a board in POSIX shared memory. Each rank
 * locks a byte of the file for as long as it lives: the kernel gives the lock
 * back whatever ends the process, so that the others see it. Rank 0 takes the
 * name away as soon as all are there, and nothing is left behind by any end. */
#include "comm_board.h"

#include "error.h"
#include "steady.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* "KMBS" and the version of the board. */
#define MAGIC UINT64_C(0x4b4d425300000001)
enum { NAME_MOST = 200, TRIES = 3 };

typedef struct booth {
  kmbi_seat seat;
  kmbi_memory memory;
  size_t bytes;
  int fd;
  int32_t size;
  double until_ns; /* to meet */
  char name[NAME_MOST + 1];
} booth;

static void rest(void) {
  const struct timespec t = {0, 200000};
  nanosleep(&t, NULL);
}

static kmb_status refused(const booth *b, const char *call) {
  int error = errno;
  char text[64];
  if (strerror_r(error, text, sizeof text) != 0)
    snprintf(text, sizeof text, "error %d", error);
  kmb_status status = KMB_ERR_UNAVAILABLE;
  if (error == EACCES || error == EPERM) status = KMB_ERR_PERM;
  if (error == ENOMEM || error == ENOSPC) status = KMB_ERR_NOMEM;
  return kmbi_fail(status, "%s of the shared memory \"%s\" failed: %s", call,
                   b->name, text);
}

static struct flock byte_of(int32_t rank) {
  return (struct flock){
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = rank, .l_len = 1};
}

/* Whether another process has the rank's byte; our own does not count. */
static bool is_alive(int fd, int32_t rank) {
  struct flock lock = byte_of(rank);
  return fcntl(fd, F_GETLK, &lock) || lock.l_type != F_UNLCK;
}

static bool has_ended(kmbi_seat *seat, int32_t rank) {
  return !is_alive(((booth *)seat)->fd, rank);
}

/* Tells two ranks of one process, whose locks are one. A child differs from
 * its parent by its number. */
static uint64_t process_id(void) {
  static _Atomic uint64_t random_part;
  uint64_t mine = atomic_load(&random_part);
  uint64_t fresh = 0;
  if (!mine) {
    if (getrandom(&fresh, sizeof fresh, 0) != sizeof fresh) fresh = 1;
    fresh |= 1;
    if (atomic_compare_exchange_strong(&random_part, &mine, fresh))
      mine = fresh;
  }
  return mine ^ (uint64_t)getpid() << 32;
}

static kmb_status take_byte(booth *b) {
  kmbi_board *board = b->seat.board;
  struct flock lock = byte_of(b->seat.rank);
  for (int32_t r = 0; r < b->size; r++)
    if (atomic_load(&board->places[r].process) == process_id())
      return kmbi_fail(KMB_ERR_INVALID,
                       "ranks %d and %d of \"%s\" are in one process; join "
                       "them with kmb_comm_threads_create()",
                       (int)r, (int)b->seat.rank, b->name);
  if (fcntl(b->fd, F_SETLK, &lock))
    return errno == EACCES || errno == EAGAIN
               ? kmbi_fail(KMB_ERR_BUSY, "rank %d of \"%s\" is there already",
                           (int)b->seat.rank, b->name)
               : refused(b, "fcntl");
  atomic_store(&board->places[b->seat.rank].process, process_id());
  return KMB_OK;
}

static kmb_status map(booth *b) {
  void *at = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
  if (at == MAP_FAILED) return refused(b, "mmap");
  b->seat.board = at;
  return KMB_OK;
}

static void detach(booth *b) {
  if (b->seat.board) munmap(b->seat.board, b->bytes);
  if (b->fd >= 0) close(b->fd);
  b->seat.board = NULL;
  b->fd = -1;
}

/* Rank 0. */

/* What a run left that was killed before all had met. */
static kmb_status clear_stale(booth *b) {
  int fd = shm_open(b->name, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return errno == ENOENT ? KMB_OK : refused(b, "shm_open");
  bool used = is_alive(fd, 0);
  close(fd);
  if (used)
    return kmbi_fail(KMB_ERR_BUSY,
                     "\"%s\" is in use; give each run a name of its own",
                     b->name);
  if (shm_unlink(b->name) && errno != ENOENT) return refused(b, "shm_unlink");
  return KMB_OK;
}

static kmb_status create(booth *b) {
  kmb_status status = KMB_OK;
  for (int i = 0; i < TRIES && b->fd < 0 && !status; i++) {
    b->fd = shm_open(b->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (b->fd < 0 && errno != EEXIST) return refused(b, "shm_open");
    if (b->fd < 0) status = clear_stale(b);
  }
  if (status) return status;
  if (b->fd < 0)
    return kmbi_fail(KMB_ERR_BUSY, "somebody else keeps making \"%s\"",
                     b->name);
  /* Pages that are only missing once they are written would end the process. */
  errno = posix_fallocate(b->fd, 0, (off_t)b->bytes);
  if (errno) status = refused(b, "posix_fallocate");
  if (!status) status = map(b);
  if (!status) status = take_byte(b);
  if (status) {
    shm_unlink(b->name);
    return status;
  }
  kmbi_board_init(b->seat.board, b->size);
  atomic_store(&b->seat.board->magic, MAGIC);
  return KMB_OK;
}

static kmb_status some_missing(const booth *b) {
  char list[96] = "";
  size_t used = 0;
  for (int32_t r = 1; r < b->size && used + 16 < sizeof list; r++)
    if (!is_alive(b->fd, r))
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%d",
                               used ? ", " : "", (int)r);
  return kmbi_fail(KMB_ERR_TIMEOUT,
                   "rank %s did not come to \"%s\" in time; it is the longer "
                   "deadline that counts",
                   list, b->name);
}

static kmb_status gather_all(booth *b) {
  kmbi_board *board = b->seat.board;
  kmb_status status = KMB_OK;
  while (atomic_load(&board->joined) + 1 < (uint32_t)b->size && !status) {
    if (kmbi_steady_ns() > b->until_ns)
      status = some_missing(b);
    else
      rest();
  }
  if (!status) atomic_store(&board->ready, 1);
  shm_unlink(b->name);
  return status;
}

/* The other ranks. */

/* The memory, once it is there, whole, and its maker alive. Locks of our own
 * process are not seen: then it is a rank of ours. */
static kmbi_board *attach(booth *b) {
  struct stat s;
  b->fd = shm_open(b->name, O_RDWR | O_CLOEXEC, 0);
  if (b->fd < 0 || fstat(b->fd, &s) || s.st_size < (off_t)sizeof(kmbi_board))
    return NULL;
  b->bytes = (size_t)s.st_size;
  if (map(b)) return NULL;
  kmbi_board *board = b->seat.board;
  if (atomic_load(&board->magic) != MAGIC) return NULL;
  bool ours = b->bytes >= kmbi_board_size(1) &&
              atomic_load(&board->places[0].process) == process_id();
  return ours || is_alive(b->fd, 0) ? board : NULL;
}

static kmb_status wait_ready(booth *b, bool *again) {
  kmbi_board *board = b->seat.board;
  while (!atomic_load(&board->ready)) {
    struct stat s;
    bool gone = !fstat(b->fd, &s) && !s.st_nlink;
    bool alive = is_alive(b->fd, 0);
    /* The last look is at what cannot change any more. */
    if (atomic_load(&board->ready)) break;
    if (gone && !alive) {
      *again = true;
      return KMB_OK;
    }
    if (!alive)
      return kmbi_fail(KMB_ERR_LOST,
                       "rank 0 of \"%s\" ended before all ranks had met",
                       b->name);
    if (kmbi_steady_ns() > b->until_ns)
      return kmbi_fail(KMB_ERR_TIMEOUT,
                       "rank 0 of \"%s\" did not see all %d ranks in time",
                       b->name, (int)b->size);
    rest();
  }
  return KMB_OK;
}

static kmb_status sit_down(booth *b, kmbi_board *board, bool *again) {
  if (board->size != b->size || b->bytes != kmbi_board_size(b->size))
    return kmbi_fail(
        KMB_ERR_INVALID, "rank 0 made \"%s\" for %d ranks, rank %d expects %d",
        b->name, (int)board->size, (int)b->seat.rank, (int)b->size);
  kmb_status status = take_byte(b);
  if (status) return status;
  atomic_fetch_add(&board->joined, 1);
  return wait_ready(b, again);
}

static kmb_status join(booth *b) {
  kmbi_error_state before;
  kmbi_error_save(&before);
  for (;;) {
    bool again = false;
    kmbi_board *board = attach(b);
    if (board) {
      kmb_status status = sit_down(b, board, &again);
      if (status || !again) return status;
    }
    detach(b);
    kmbi_error_restore(&before);
    if (kmbi_steady_ns() > b->until_ns)
      return kmbi_fail(KMB_ERR_TIMEOUT,
                       "rank 0 did not make \"%s\" in time; is it given the "
                       "same name, on the same host?",
                       b->name);
    rest();
  }
}

/* Both. */

static void close_booth(void *ctx) {
  booth *b = ctx;
  kmbi_memory memory = b->memory;
  if (b->seat.board) kmbi_board_leave(&b->seat);
  detach(b);
  kmbi_free(&memory, b, 1, sizeof *b);
}

static kmb_status check_name(const char *name) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  size_t length = name ? strnlen(name, NAME_MOST + 1) : 0;
  if (length >= 2 && length <= NAME_MOST && name[0] == '/' &&
      strspn(name + 1, allowed) == length - 1)
    return KMB_OK;
  return kmbi_fail(KMB_ERR_INVALID,
                   "kmb_comm_shm_create: a name is \"/\" and then up to %d "
                   "letters, digits, \"_\", \".\" or \"-\"",
                   NAME_MOST - 1);
}

static kmb_status check_place(int32_t rank, int32_t size) {
  if (size >= 1 && size <= KMBI_COMM_MOST && rank >= 0 && rank < size)
    return KMB_OK;
  return kmbi_fail(KMB_ERR_INVALID,
                   "kmb_comm_shm_create: rank %d of %d (1 to %d)", (int)rank,
                   (int)size, KMBI_COMM_MOST);
}

static kmb_status make(booth *b, const kmb_comm_params *params,
                       kmb_comm **comm) {
  kmb_status status = b->seat.rank ? join(b) : create(b);
  if (!status && !b->seat.rank) status = gather_all(b);
  if (status) return status;
  kmb_comm_ops ops = kmbi_board_ops(&b->seat, "POSIX shared memory");
  ops.close = close_booth;
  return kmbi_comm_make(&ops, params, &b->memory, comm);
}

kmb_status kmb_comm_shm_create(const char *name, int32_t rank, int32_t size,
                               const kmb_comm_params *caller, kmb_comm **out) {
  kmb_comm_params params;
  kmbi_memory memory;
  if (!out)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_comm_shm_create: comm is NULL");
  *out = NULL;
  kmb_status status = check_name(name);
  if (!status) status = check_place(rank, size);
  if (!status) status = kmbi_comm_params(caller, &params, &memory);
  if (status) return status;
  booth *b = kmbi_alloc(&memory, 1, sizeof *b);
  if (!b) return kmbi_fail(KMB_ERR_NOMEM, "no memory for a communicator");
  b->memory = memory;
  b->fd = -1;
  b->size = size;
  b->bytes = kmbi_board_size(size);
  b->until_ns = kmbi_steady_ns() + params.first_deadline_ns;
  b->seat.rank = rank;
  b->seat.has_ended = has_ended;
  memcpy(b->name, name, strlen(name) + 1);
  status = make(b, &params, out);
  if (status) close_booth(b);
  return status;
}
