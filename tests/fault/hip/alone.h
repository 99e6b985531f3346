/* Each test in a process of its own: what a process remembers of its
 * libraries, and what it has lost, stays there. */
#ifndef KMB_TESTS_HIP_ALONE_H
#define KMB_TESTS_HIP_ALONE_H

#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../require.h"

static inline int alone(void (*test)(void), const char *name) {
  int status = 0;
  fflush(NULL);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (!child) {
    test();
    exit(0);
  }
  REQUIRE_EQ(waitpid(child, &status, 0), child);
  bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  printf("%s %s\n", good ? "ok" : "FAILED", name);
  return good ? 0 : 1;
}

#define ALONE(test) alone(test, #test)

#endif
