#include "screen.h"

#include <stdio.h>
#include <unistd.h>

void screen_open(screen *s) {
  *s = (screen){.terminal = isatty(STDERR_FILENO)};
}

void screen_clear(screen *s) {
  if (!s->dirty) return;
  fputs("\r\033[K", stderr);
  s->dirty = false;
}

void screen_progress(void *user, const kmb_progress *p) {
  screen *s = user;
  if (!s->terminal) return;
  char tokens[32] = "", figures[80] = "";
  if (s->tokens)
    snprintf(tokens, sizeof tokens, ", %u token%s", s->tokens,
             s->tokens == 1 ? "" : "s");
  if (p->samples && p->median_ns > 0)
    snprintf(figures, sizeof figures, ", %llu samples, median %.3f ms",
             (unsigned long long)p->samples, p->median_ns / 1e6);
  fprintf(stderr, "\r\033[K[%u/%u] %s%s: %s%s", s->point, s->points, s->name,
          tokens, p->stage, figures);
  fflush(stderr);
  s->dirty = true;
}
