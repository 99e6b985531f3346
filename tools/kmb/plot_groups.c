/* Which points of a roofline share a marker. */
#include "plot.h"

#include <math.h>

/* Closer than this, a marker would hide another one. */
enum { BESIDE = 24, ABOVE = 16 };

/* The nearest group that is so close; `count` if there is none. */
static int find_group(const groups *g, double x, double y, bool above) {
  int nearest = g->count;
  double least = INFINITY;
  for (int i = 0; i < g->count; i++) {
    double dx = fabs(g->all[i].x - x), dy = fabs(g->all[i].y - y);
    if (dx >= BESIDE || dy >= ABOVE || g->all[i].above != above) continue;
    if (hypot(dx, dy) >= least) continue;
    least = hypot(dx, dy);
    nearest = i;
  }
  return nearest;
}

void groups_add(groups *g, int index, double x, double y, bool above) {
  int at = g->of[index] = find_group(g, x, y, above);
  if (at == g->count)
    g->all[g->count++] =
        (group){.x = x, .y = y, .first = index, .above = above};
  g->all[at].points++;
}

static void number_group(groups *g, int which, int points) {
  group *to = &g->all[which];
  size_t used = 0;
  for (int i = 0; i < points; i++) {
    char piece[32];
    int last = i;
    if (g->of[i] != which) continue;
    while (last + 1 < points && g->of[last + 1] == which)
      last++;
    int size = snprintf(piece, sizeof piece, "%s%d", used ? ", " : "", i + 1);
    if (last > i)
      snprintf(piece + size, sizeof piece - (size_t)size, "–%d", last + 1);
    bool fits = used + strlen(piece) + 4 < sizeof to->numbers;
    used += (size_t)snprintf(to->numbers + used, sizeof to->numbers - used,
                             "%s", fits ? piece : "…");
    if (!fits) return;
    i = last;
  }
}

void groups_number(groups *g, int points) {
  for (int i = 0; i < g->count; i++)
    number_group(g, i, points);
}
