/* The tests' one tool: state what must hold; a failure names it and the line.
 */
#ifndef KMB_TESTS_REQUIRE_H
#define KMB_TESTS_REQUIRE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)                                            \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

/* Say what was expected and what came, where the values matter. */
#define REQUIRE_EQ(got, want)                                              \
  do {                                                                     \
    long long got_ = (long long)(got), want_ = (long long)(want);          \
    if (got_ != want_) {                                                   \
      fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, \
              #got, got_, want_);                                          \
      exit(1);                                                             \
    }                                                                      \
  } while (0)

#define REQUIRE_NEAR(got, want, tolerance)                               \
  do {                                                                   \
    double got_ = (got), want_ = (want);                                 \
    if (!(got_ - want_ <= (tolerance) && want_ - got_ <= (tolerance))) { \
      fprintf(stderr, "%s:%d: %s is %.17g, not %.17g ± %g\n", __FILE__,  \
              __LINE__, #got, got_, want_, (double)(tolerance));         \
      exit(1);                                                           \
    }                                                                    \
  } while (0)

#define REQUIRE_STR(got, want)                                                 \
  do {                                                                         \
    const char *got_ = (got), *want_ = (want);                                 \
    if (!got_ || strcmp(got_, want_) != 0) {                                   \
      fprintf(stderr, "%s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, \
              #got, got_ ? got_ : "(null)", want_);                            \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

#define REQUIRE_HAS(text, part)                                           \
  do {                                                                    \
    const char *text_ = (text);                                           \
    if (!text_ || !strstr(text_, (part))) {                               \
      fprintf(stderr, "%s:%d: \"%s\" lacks \"%s\"\n", __FILE__, __LINE__, \
              text_ ? text_ : "(null)", (part));                          \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

/* A status, with the library's own words if it is another. */
#define REQUIRE_STATUS(call, want)                                            \
  do {                                                                        \
    kmb_status status_ = (call);                                              \
    if (status_ != (want)) {                                                  \
      fprintf(stderr, "%s:%d: %s gave %s (%s), not %s\n", __FILE__, __LINE__, \
              #call, kmb_status_name(status_), kmb_last_error(NULL, NULL),    \
              kmb_status_name(want));                                         \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

#define REQUIRE_OK(call) REQUIRE_STATUS(call, KMB_OK)

#define RUN(test)             \
  do {                        \
    test();                   \
    printf("ok %s\n", #test); \
  } while (0)

#endif
