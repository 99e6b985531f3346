/* Programs that kmb runs. */
#define _GNU_SOURCE /* pipe2, environ */
#include "code_child.h"
#include "kmb.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUTPUT_MOST = 1 << 28, WORDS_MOST = 160 };

typedef struct child {
  pid_t pid;
  int out, err; /* -1: closed */
  char *text;
  size_t size, room;
  char words[WORDS_MOST]; /* how its complaint begins */
  size_t words_size;
  const char *name;
  char *why;
} child;

static int failed(const child *c, const char *format, ...) KMB_PRINTF(2, 3);
static int failed(const child *c, const char *format, ...) {
  va_list arguments;
  int used = snprintf(c->why, CODE_WHY, "%.80s ", c->name);
  va_start(arguments, format);
  vsnprintf(c->why + used, CODE_WHY - (size_t)used, format, arguments);
  va_end(arguments);
  return CHILD_FAILED;
}

static int spawn(child *c, char *const *argv, const int out[2],
                 const int err[2]) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (posix_spawn_file_actions_init(&actions)) return ENOMEM;
  if (posix_spawnattr_init(&attributes)) {
    posix_spawn_file_actions_destroy(&actions);
    return ENOMEM;
  }
  int error =
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (!error) error = posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  if (!error) error = posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  /* A group of its own, so that what it starts ends with it. */
  if (!error)
    error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  if (!error) error = posix_spawnattr_setpgroup(&attributes, 0);
  if (!error)
    error =
        posix_spawnp(&c->pid, argv[0], &actions, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static int start(child *c, char *const *argv) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC))
    return failed(c, "cannot be started: %s", strerror(errno));
  if (pipe2(err, O_CLOEXEC)) {
    close(out[0]);
    close(out[1]);
    return failed(c, "cannot be started: %s", strerror(errno));
  }
  int error = spawn(c, argv, out, err);
  close(out[1]);
  close(err[1]);
  c->out = out[0];
  c->err = err[0];
  if (!error) return CHILD_RAN;
  close(out[0]);
  close(err[0]);
  failed(c, "cannot be started: %s", strerror(error));
  return error == ENOENT || error == EACCES || error == ENOTDIR ? CHILD_ABSENT
                                                                : CHILD_FAILED;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void close_end(int *fd) {
  close(*fd);
  *fd = -1;
}

static int take_output(child *c) {
  if (c->size == c->room) {
    size_t room = c->room ? 2 * c->room : 1 << 16;
    char *more = room > OUTPUT_MOST ? NULL : realloc(c->text, room);
    if (!more) return failed(c, "printed more than there is room for");
    c->text = more;
    c->room = room;
  }
  ssize_t got = read(c->out, c->text + c->size, c->room - c->size);
  if (got > 0) c->size += (size_t)got;
  if (got == 0) close_end(&c->out);
  if (got < 0 && errno != EINTR)
    return failed(c, "cannot be read: %s", strerror(errno));
  return CHILD_RAN;
}

static void take_words(child *c) {
  char piece[4096];
  ssize_t got = read(c->err, piece, sizeof piece);
  if (got == 0 || (got < 0 && errno != EINTR)) close_end(&c->err);
  for (ssize_t i = 0; i < got && c->words_size < WORDS_MOST - 1; i++) {
    bool plain = (unsigned char)piece[i] >= ' ' && piece[i] != 127;
    c->words[c->words_size++] = plain ? piece[i] : ' ';
  }
}

static int wait_until(child *c, double end) {
  while (c->out >= 0 || c->err >= 0) {
    struct pollfd both[2] = {{c->out, POLLIN, 0}, {c->err, POLLIN, 0}};
    double left = end - now();
    if (left <= 0) return failed(c, "did not end in time");
    int ready = poll(both, 2, left > 1e6 ? 1000000000 : (int)(1e3 * left) + 1);
    if (ready < 0 && errno != EINTR)
      return failed(c, "cannot be waited for: %s", strerror(errno));
    if (ready <= 0) continue;
    if (both[1].revents) take_words(c);
    int code = both[0].revents ? take_output(c) : CHILD_RAN;
    if (code) return code;
  }
  return CHILD_RAN;
}

/* Once it has closed its output it has a little time left to end. */
static int wait_for_end(child *c, int *status, double end) {
  static const struct timespec step = {0, 1000000};
  for (;;) {
    pid_t got = waitpid(c->pid, status, WNOHANG);
    if (got == c->pid) return CHILD_RAN;
    if (got < 0 && errno != EINTR)
      return failed(c, "left no status: %s", strerror(errno));
    if (now() >= end) return failed(c, "did not end in time");
    nanosleep(&step, NULL);
  }
}

static int reap(child *c, int code, double end) {
  int status = 0;
  if (c->out >= 0) close(c->out);
  if (c->err >= 0) close(c->err);
  if (!code) code = wait_for_end(c, &status, end);
  if (code) {
    kill(-c->pid, SIGKILL);
    waitpid(c->pid, &status, 0);
    return code;
  }
  if (WIFSIGNALED(status))
    return failed(c, "was ended by signal %d", WTERMSIG(status));
  while (c->words_size && c->words[c->words_size - 1] == ' ')
    c->words_size--;
  c->words[c->words_size] = '\0';
  if (WEXITSTATUS(status) == 127) {
    failed(c, "cannot be started: %s", c->words);
    return CHILD_ABSENT;
  }
  if (WEXITSTATUS(status))
    return failed(c, "failed with status %d%s%s", WEXITSTATUS(status),
                  c->words_size ? ": " : "", c->words);
  return CHILD_RAN;
}

int child_run(char *const *argv, double seconds, char **text, size_t *size,
              char why[CODE_WHY]) {
  child c = {.out = -1, .err = -1, .name = argv[0]};
  c.why = why;
  *text = NULL;
  *size = 0;
  int code = start(&c, argv);
  if (code) return code;
  double end = now() + seconds;
  code = reap(&c, wait_until(&c, end), end);
  if (!code) {
    *text = c.text;
    *size = c.size;
    return code;
  }
  free(c.text);
  return code;
}
