/* One program after another, and signals to them. */
#define _GNU_SOURCE /* pipe2, nftw */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

/* Of the process, as signals are. */
static struct sigaction before[NUMBERS];
static volatile sig_atomic_t child, came, passed;

/* What a terminal sends, the program has got as well. Who asks a second time
 * has waited enough. */
static void pass_on(int number, siginfo_t *info, void *context) {
  int saved = errno;
  (void)context;
  if (info->si_code <= 0) {
    if (child > 0) kill(child, passed ? SIGKILL : number);
    passed = 1;
  }
  if (!came) came = number;
  errno = saved;
}

static void block(sigset_t *old) {
  sigset_t set;
  sigemptyset(&set);
  for (int i = 0; i < NUMBERS; i++)
    sigaddset(&set, numbers[i]);
  sigprocmask(SIG_BLOCK, &set, old);
}

static void restore(void) {
  for (int i = 0; i < NUMBERS; i++)
    sigaction(numbers[i], &before[i], NULL);
}

void signals_take(void) {
  struct sigaction action = {.sa_sigaction = pass_on,
                             .sa_flags = SA_SIGINFO | SA_RESTART};
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < NUMBERS; i++)
    sigaddset(&action.sa_mask, numbers[i]);
  for (int i = 0; i < NUMBERS; i++) {
    sigaction(numbers[i], NULL, &before[i]);
    /* nohup, and a shell's job in the background, stay as they are. */
    if (before[i].sa_handler != SIG_IGN) sigaction(numbers[i], &action, NULL);
  }
}

int signals_came(void) {
  return came;
}

void signals_give(void) {
  restore();
  if (came) raise(came);
}

/* In the child; a failure is told through the pipe. */
_Noreturn static void become(char **program, const char *results, int pipe,
                             const sigset_t *mask) {
  restore();
  sigprocmask(SIG_SETMASK, mask, NULL);
  if (setenv("KMB_RESULTS", results, 1) == 0 &&
      dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
    execvp(program[0], program);
  int failure = errno;
  if (write(pipe, &failure, sizeof failure) < 0) _exit(126);
  _exit(127);
}

/* The number of a process that was waited for may be another's: until then it
 * gets signals, from then on none. */
static void reap(pid_t process, int *status) {
  siginfo_t info;
  sigset_t mask;
  while (waitid(P_PID, (id_t)process, &info, WEXITED | WNOWAIT) < 0 &&
         errno == EINTR)
    continue;
  block(&mask);
  child = 0;
  while (waitpid(process, status, 0) < 0 && errno == EINTR)
    continue;
  sigprocmask(SIG_SETMASK, &mask, NULL);
}

bool process_run(char **program, const char *results, process_end *end) {
  int ends[2];
  sigset_t mask;
  *end = (process_end){.status = 0};
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  fflush(NULL);
  block(&mask);
  pid_t process = came ? -1 : fork();
  int error = came ? ECANCELED : errno;
  if (process == 0) become(program, results, ends[1], &mask);
  child = process > 0 ? process : 0;
  sigprocmask(SIG_SETMASK, &mask, NULL);
  close(ends[1]);
  if (process > 0) {
    while (read(ends[0], &end->failure, sizeof end->failure) < 0 &&
           errno == EINTR)
      continue;
    reap(process, &end->status);
  }
  close(ends[0]);
  errno = error;
  return process > 0;
}

static int remove_one(const char *path, const struct stat *about, int kind,
                      struct FTW *place) {
  (void)about;
  (void)kind;
  (void)place;
  remove(path);
  return 0;
}

void remove_folder(const char *path) {
  nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
