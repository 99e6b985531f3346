/* A program that runs in our place: what ends us ends it. */
#ifndef KMB_TOOLS_PROCESS_H
#define KMB_TOOLS_PROCESS_H

#include "kmb.h"

#include <sys/types.h>

/* From here to signals_give() SIGHUP, SIGINT, SIGQUIT and SIGTERM are passed on
 * to the program that runs, and remembered. */
void signals_take(void);
/* The signal that came first; 0: none. */
int signals_came(void);
/* What was so before; the signal that came then does what it does. */
void signals_give(void);

typedef struct process_end {
  int status;  /* as waitpid() gives it */
  int failure; /* errno of a program that could not be run; 0: it was */
} process_end;

/* Runs a program to its end, KMB_RESULTS set and its output on stderr. False,
 * with errno, if there is no process; ECANCELED if a signal came before. */
bool process_run(char **program, const char *results, process_end *end);

/* Removes a folder and all that is in it. */
void remove_folder(const char *path);

#endif
