/* A few threads that run the same function on their parts, again and again. */
#ifndef HOST_GEMM_TEAM_H
#define HOST_GEMM_TEAM_H

typedef struct team team;

/* `number` is below `count`; number 0 is the calling thread. */
typedef void (*team_fn)(void *user, unsigned number, unsigned count);

/* NULL if memory or threads are not to be had. */
team *team_create(unsigned count);
void team_destroy(team *team);
/* Returns once all parts are done. */
void team_run(team *team, team_fn fn, void *user);

#endif
