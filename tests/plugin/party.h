/* Ranks over simulated devices: a thread each, a device each. */
#ifndef KMB_TESTS_PLUGIN_PARTY_H
#define KMB_TESTS_PLUGIN_PARTY_H

#include "engine.h"

#include <pthread.h>
#include <time.h>

enum { PARTY_MOST = 16 };

struct party;

/* One rank: a trial of its own, and what came of it. */
typedef struct guest {
  struct party *party;
  int rank;
  trial t;
  kmb_comm *comm;
  pthread_t thread;
  kmb_status status;
  char words[256];
  double took_s;
} guest;

typedef struct party {
  int size;
  kmb_comm_params params;
  guest guests[PARTY_MOST];
  /* Where devices meet in a collective (meet_all()). */
  pthread_mutex_t lock;
  pthread_cond_t moved;
  int there;
  uint64_t turn;
  double latest, all_ready;
  /* A rank that vanishes: it stops at this stage until it is let go. */
  int lost;
  const char *lost_at;
  bool let_go;
} party;

static inline double party_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Each rank's device has a seed of its own, by which devices are told apart;
 * `specs` are by rank, NULL or the last one for the others. */
static inline void party_begin_on(party *p, const char *plugin, int size,
                                  const char *const *specs, int spec_count) {
  memset(p, 0, sizeof *p);
  p->size = size;
  p->lost = -1;
  p->params = kmb_comm_params_init();
  p->params.skew_samples = 8;
  p->params.deadline_ns = p->params.first_deadline_ns = 20e9;
  REQUIRE_EQ(pthread_mutex_init(&p->lock, NULL), 0);
  REQUIRE_EQ(pthread_cond_init(&p->moved, NULL), 0);
  for (int r = 0; r < size; r++) {
    char spec[512];
    const char *own =
        spec_count ? specs[r < spec_count ? r : spec_count - 1] : "";
    snprintf(spec, sizeof spec, "seed=%d%s%s", r + 1, *own ? "," : "", own);
    p->guests[r].party = p;
    p->guests[r].rank = r;
    begin_on(&p->guests[r].t, plugin, spec);
    p->guests[r].t.p.max_samples = 60;
  }
}

static inline void party_begin(party *p, int size, const char *const *specs,
                               int spec_count) {
  party_begin_on(p, SIM, size, specs, spec_count);
}

static inline void party_join(party *p) {
  kmb_comm *comms[PARTY_MOST];
  REQUIRE_OK(kmb_comm_threads_create(p->size, &p->params, comms));
  for (int r = 0; r < p->size; r++)
    p->guests[r].comm = comms[r];
}

static inline void *party_guest(void *user) {
  guest *g = user;
  double started = party_now();
  g->t.p.comm = g->comm;
  g->status = attempt(&g->t);
  g->took_s = party_now() - started;
  snprintf(g->words, sizeof g->words, "%s",
           g->status ? kmb_last_error(NULL, NULL) : "");
  return NULL;
}

static inline void party_start(party *p) {
  for (int r = 0; r < p->size; r++)
    REQUIRE_EQ(
        pthread_create(&p->guests[r].thread, NULL, party_guest, &p->guests[r]),
        0);
}

static inline void party_let_go(party *p) {
  pthread_mutex_lock(&p->lock);
  p->let_go = true;
  pthread_cond_broadcast(&p->moved);
  pthread_mutex_unlock(&p->lock);
}

/* Waits for all; the lost one last, once the others are done. */
static inline void party_wait(party *p) {
  for (int r = 0; r < p->size; r++)
    if (r != p->lost) REQUIRE_EQ(pthread_join(p->guests[r].thread, NULL), 0);
  party_let_go(p);
  if (p->lost >= 0)
    REQUIRE_EQ(pthread_join(p->guests[p->lost].thread, NULL), 0);
}

static inline void party_run(party *p) {
  if (!p->guests[0].comm) party_join(p);
  party_start(p);
  party_wait(p);
}

static inline void party_ok(party *p) {
  party_run(p);
  for (int r = 0; r < p->size; r++) {
    if (p->guests[r].status)
      fprintf(stderr, "rank %d: %s\n", r, p->guests[r].words);
    REQUIRE_EQ(p->guests[r].status, KMB_OK);
  }
}

static inline void party_fails(party *p, kmb_status want, const char *words) {
  party_run(p);
  for (int r = 0; r < p->size; r++) {
    if (p->guests[r].status != want)
      fprintf(stderr, "rank %d: %s\n", r, p->guests[r].words);
    REQUIRE_EQ(p->guests[r].status, want);
    REQUIRE(p->guests[r].t.r == NULL);
    REQUIRE_HAS(p->guests[r].words, words);
  }
}

static inline void party_part(party *p) {
  for (int r = 0; r < p->size; r++) {
    kmb_comm_destroy(p->guests[r].comm);
    p->guests[r].comm = NULL;
  }
}

static inline void party_end(party *p) {
  party_part(p);
  for (int r = 0; r < p->size; r++)
    finish(&p->guests[r].t);
  pthread_mutex_destroy(&p->lock);
  pthread_cond_destroy(&p->moved);
}

/* The rank stops where the progress hook says that it is at the stage. */
static inline void party_stall(guest *g, const char *stage) {
  party *p = g->party;
  if (g->rank != p->lost || strcmp(stage, p->lost_at) != 0) return;
  pthread_mutex_lock(&p->lock);
  while (!p->let_go)
    pthread_cond_wait(&p->moved, &p->lock);
  pthread_mutex_unlock(&p->lock);
}

/* A collective: nobody is done before the last one is there. `kernel->user` is
 * the operation of a guest's trial. */
static inline double party_meet(party *p, double ready) {
  pthread_mutex_lock(&p->lock);
  uint64_t turn = p->turn;
  if (!p->there || ready > p->latest) p->latest = ready;
  if (++p->there == p->size) {
    p->there = 0;
    p->turn++;
    p->all_ready = p->latest;
    pthread_cond_broadcast(&p->moved);
  }
  while (p->turn == turn)
    pthread_cond_wait(&p->moved, &p->lock);
  double all = p->all_ready;
  pthread_mutex_unlock(&p->lock);
  return all;
}

#endif
