/* A report of nsys: the program nsys exports it to SQLite. */
#define _GNU_SOURCE /* environ */
#include "error.h"
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

typedef struct job {
  const kmbi_source *source;
  char folder[PATH_SIZE], output[PATH_SIZE + 16];
} job;

static kmb_status make_folder(job *j) {
  const char *parent = getenv("TMPDIR");
  if (!parent || !*parent) parent = "/tmp";
  if (snprintf(j->folder, sizeof j->folder, "%s/kmb-nsys-XXXXXX", parent) >=
      (int)sizeof j->folder)
    return kmbi_fail(KMB_ERR_INVALID, "TMPDIR is too long");
  if (!mkdtemp(j->folder))
    return kmbi_fail(KMB_ERR_IO,
                     "cannot create a folder in %s: errno %d; set TMPDIR",
                     parent, errno);
  snprintf(j->output, sizeof j->output, "%s/trace.sqlite", j->folder);
  return KMB_OK;
}

/* What nsys prints is not the caller's output. */
static int start(const job *j, const char *path, pid_t *child) {
  char option[sizeof j->output + 16];
  posix_spawn_file_actions_t actions;
  snprintf(option, sizeof option, "--output=%s", j->output);
  const char *const words[] = {
      "nsys", "export", "--type=sqlite", "--force-overwrite=true", option,
      path,   NULL};
  if (posix_spawn_file_actions_init(&actions)) return ENOMEM;
  int error =
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  for (int fd = 1; fd <= 2 && !error; fd++)
    error = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null",
                                             O_WRONLY, 0);
  if (!error)
    error = posix_spawnp(child, "nsys", &actions, NULL,
                         (char *const *)(uintptr_t)words, environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/* Waits for the child, and ends it if the caller cancels. */
static kmb_status wait_for(const job *j, pid_t child, int *code) {
  const volatile int32_t *cancel = j->source->cancel;
  bool killed = false;
  for (;;) {
    bool poll = cancel && !killed;
    pid_t done = waitpid(child, code, poll ? WNOHANG : 0);
    if (done == child) break;
    if (done < 0 && errno != EINTR)
      return kmbi_fail(KMB_ERR_IO, "waiting for nsys failed: errno %d", errno);
    if (done || !poll) continue;
    if (*cancel) {
      kill(child, SIGKILL);
      killed = true;
    } else {
      usleep(10000);
    }
  }
  if (killed)
    return kmbi_fail(KMB_ERR_CANCELLED, "loading %s was cancelled",
                     j->source->name);
  return KMB_OK;
}

static kmb_status export_report(const job *j, const char *path) {
  pid_t child = 0;
  int code = 0, error = start(j, path, &child);
  if (error == ENOMEM)
    return kmbi_fail(KMB_ERR_NOMEM, "no memory to start nsys");
  if (error)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "the program nsys is needed to read a .nsys-rep and "
                     "cannot be started (errno %d); put it into PATH, or "
                     "export elsewhere: nsys export --type=sqlite FILE",
                     error);
  kmb_status status = wait_for(j, child, &code);
  if (status) return status;
  if (WIFEXITED(code) && WEXITSTATUS(code) == 127)
    return kmbi_fail(KMB_ERR_UNAVAILABLE,
                     "the program nsys is needed to read a .nsys-rep and "
                     "cannot be started; put it into PATH");
  if (!WIFEXITED(code) || WEXITSTATUS(code))
    return kmbi_source_fail(j->source, 0, 0,
                            "nsys export failed with status %d; run it by hand "
                            "to see why",
                            WIFEXITED(code) ? WEXITSTATUS(code) : -1);
  if (access(j->output, R_OK))
    return kmbi_source_fail(j->source, 0, 0, "nsys export wrote no file");
  return KMB_OK;
}

kmb_status kmbi_load_nsys_rep(kmb_trace *trace, const kmbi_source *source,
                              const char *path) {
  job *j = kmbi_alloc(&source->memory, 1, sizeof *j);
  if (!j) return kmbi_fail(KMB_ERR_NOMEM, "no memory to start nsys");
  j->source = source;
  kmb_status status = make_folder(j);
  if (!status) {
    status = export_report(j, path);
    if (!status)
      status =
          kmbi_load_sqlite(trace, source, j->output, KMB_TRACE_NSYS_SQLITE);
    if (!status) trace->format = KMB_TRACE_NSYS_REP;
    unlink(j->output);
    rmdir(j->folder);
  }
  kmbi_free(&source->memory, j, 1, sizeof *j);
  return status;
}
