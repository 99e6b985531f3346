/* Write beside, then rename. */
#include "out.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int failed(const out_file *o, const char *what) {
  fprintf(stderr, "kmb: %s: %s: %s\n", o->path, what, strerror(errno));
  return EXIT_FAILED;
}

static int refused(const char *path, const char *where) {
  fprintf(stderr,
          "kmb: %s: no permission to write %s; choose another place or change "
          "its permissions\n",
          path, where);
  return EXIT_FAILED;
}

static void release(out_file *o) {
  free(o->target);
  free(o->beside);
  *o = (out_file){.path = o->path};
}

static int open_in_place(out_file *o) {
  o->file = fopen(o->path, "wb");
  if (o->file) return EXIT_DONE;
  return errno == EACCES ? refused(o->path, "it")
                         : failed(o, "cannot be written");
}

/* The file behind links, or the path itself if there is none yet. */
static char *target_of(const char *path) {
  char *real = realpath(path, NULL);
  return real || errno != ENOENT ? real : strdup(path);
}

static int open_beside(out_file *o, mode_t mode) {
  static const char end[] = ".XXXXXX";
  size_t size = strlen(o->target);
  o->beside = malloc(size + sizeof end);
  if (!o->beside) return failed(o, "out of memory");
  memcpy(o->beside, o->target, size);
  memcpy(o->beside + size, end, sizeof end);
  int number = mkstemp(o->beside);
  if (number < 0)
    return errno == EACCES || errno == EROFS
               ? refused(o->path, "in its folder, where the new file is "
                                  "written beside the old one")
               : failed(o, "cannot be created");
  if (fchmod(number, mode) == 0) o->file = fdopen(number, "wb");
  if (o->file) return EXIT_DONE;
  int code = failed(o, "cannot be created");
  close(number);
  unlink(o->beside);
  return code;
}

int out_open(out_file *o, const char *path) {
  struct stat about;
  *o = (out_file){.path = path};
  bool there = stat(path, &about) == 0;
  if (there && S_ISDIR(about.st_mode)) {
    errno = EISDIR;
    return failed(o, "cannot be written");
  }
  if (there && !S_ISREG(about.st_mode)) return open_in_place(o);
  if (there && access(path, W_OK) != 0) return refused(path, "it");
  mode_t mask = umask(0);
  umask(mask);
  o->target = target_of(path);
  int code = o->target
                 ? open_beside(o, there ? about.st_mode & 07777 : 0666 & ~mask)
                 : failed(o, "cannot be written");
  if (code) release(o);
  return code;
}

int out_check(const char *path) {
  struct stat about;
  out_file o;
  /* Opening would empty a device, and wait for who reads a pipe. */
  if (stat(path, &about) == 0 && !S_ISREG(about.st_mode) &&
      !S_ISDIR(about.st_mode))
    return access(path, W_OK) == 0 ? EXIT_DONE : refused(path, "it");
  int code = out_open(&o, path);
  if (!code) out_abandon(&o);
  return code;
}

int out_finish(out_file *o) {
  bool good = fflush(o->file) == 0 && !ferror(o->file);
  if (!good && !errno) errno = EIO;
  /* What is renamed must be on the disk first, or a crash leaves nothing. */
  if (good && o->beside && fsync(fileno(o->file)) != 0) good = false;
  int code = good ? EXIT_DONE : failed(o, "not written");
  if (fclose(o->file) != 0 && !code) code = failed(o, "not written");
  o->file = NULL;
  if (code) out_abandon(o);
  return code;
}

int out_replace(out_file *o) {
  int code = EXIT_DONE;
  if (o->beside && rename(o->beside, o->target) != 0)
    code = failed(o, "cannot be replaced");
  if (code)
    out_abandon(o);
  else
    release(o);
  return code;
}

int out_close(out_file *o) {
  int code = out_finish(o);
  return code ? code : out_replace(o);
}

void out_abandon(out_file *o) {
  if (o->file) fclose(o->file);
  if (o->beside) unlink(o->beside);
  release(o);
}
