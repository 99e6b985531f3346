#include "team.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct member {
  struct team *team;
  pthread_t thread;
  unsigned number;
} member;

struct team {
  pthread_mutex_t lock;
  pthread_cond_t go, done;
  team_fn fn;
  void *user;
  unsigned long runs; /* started so far */
  unsigned count;     /* the caller of team_run included */
  unsigned started;   /* threads that exist */
  unsigned working;
  bool over;
  member members[];
};

static void *member_main(void *argument) {
  const member *m = argument;
  team *t = m->team;
  pthread_mutex_lock(&t->lock);
  for (unsigned long seen = 0;; seen++) {
    while (t->runs == seen && !t->over)
      pthread_cond_wait(&t->go, &t->lock);
    if (t->over) break;
    pthread_mutex_unlock(&t->lock);
    t->fn(t->user, m->number, t->count);
    pthread_mutex_lock(&t->lock);
    if (--t->working == 0) pthread_cond_signal(&t->done);
  }
  pthread_mutex_unlock(&t->lock);
  return NULL;
}

team *team_create(unsigned count) {
  team *t = calloc(1, sizeof *t + count * sizeof t->members[0]);
  if (!t) return NULL;
  pthread_mutex_init(&t->lock, NULL);
  pthread_cond_init(&t->go, NULL);
  pthread_cond_init(&t->done, NULL);
  t->count = count;
  for (unsigned i = 0; i + 1 < count; i++) {
    member *m = &t->members[i];
    *m = (member){.team = t, .number = i + 1};
    if (pthread_create(&m->thread, NULL, member_main, m)) {
      team_destroy(t);
      return NULL;
    }
    t->started++;
  }
  return t;
}

void team_destroy(team *t) {
  if (!t) return;
  pthread_mutex_lock(&t->lock);
  t->over = true;
  pthread_cond_broadcast(&t->go);
  pthread_mutex_unlock(&t->lock);
  for (unsigned i = 0; i < t->started; i++)
    pthread_join(t->members[i].thread, NULL);
  pthread_cond_destroy(&t->done);
  pthread_cond_destroy(&t->go);
  pthread_mutex_destroy(&t->lock);
  free(t);
}

void team_run(team *t, team_fn fn, void *user) {
  pthread_mutex_lock(&t->lock);
  t->fn = fn;
  t->user = user;
  t->working = t->started;
  t->runs++;
  pthread_cond_broadcast(&t->go);
  pthread_mutex_unlock(&t->lock);
  fn(user, 0, t->count);
  pthread_mutex_lock(&t->lock);
  while (t->working)
    pthread_cond_wait(&t->done, &t->lock);
  pthread_mutex_unlock(&t->lock);
}
