/* What the user sees while it runs: one line that is rewritten, on a terminal
 * only. */
#ifndef HOST_GEMM_SCREEN_H
#define HOST_GEMM_SCREEN_H

#include <kmb/kmb.h>

#include <stdbool.h>

typedef struct screen {
  const char *name; /* of the point that runs now */
  unsigned tokens;  /* 0: none */
  unsigned point, points;
  bool terminal;
  bool dirty; /* the line shows something */
} screen;

void screen_open(screen *screen);
/* A kmb_hooks::progress hook; `user` is the screen. */
void screen_progress(void *user, const kmb_progress *progress);
/* Erases the line, before anything else is printed. */
void screen_clear(screen *screen);

#endif
