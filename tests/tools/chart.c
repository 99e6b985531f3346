/* What a roofline's picture is made of: short names, shared markers, sources.
 */
#include "../../tools/kmb/plot.h"

#include "../../tools/kmb/kmb.h"
#include "require.h"

/* The command's, which reports and ends. */
int report(kmb_status status) {
  (void)status;
  return EXIT_FAILED;
}

int usage(const char *command, const char *format, ...) {
  (void)command;
  (void)format;
  return EXIT_USAGE;
}

static chart c;

static void named(const char *a, const char *b) {
  memset(&c, 0, sizeof c);
  snprintf(c.points[0].name, NAME, "%s", a);
  snprintf(c.points[1].name, NAME, "%s", b);
  c.point_count = *b ? 2 : 1;
}

static const char *brief(int index) {
  static char text[NAME];
  chart_brief(&c, index, text);
  return text;
}

static const char *shared(void) {
  static char text[NAME];
  chart_shared(&c, text);
  return text;
}

static void what_all_points_share_is_said_once(void) {
  named("gemm" PART "n=1" PART "dtype=bf16",
        "gemm" PART "n=12" PART "dtype=bf16");
  REQUIRE_STR(brief(0), "n=1");
  REQUIRE_STR(brief(1), "n=12");
  REQUIRE_STR(shared(), "gemm, dtype=bf16");
  named("gemm" PART "n=1", "copy" PART "n=2");
  REQUIRE_STR(brief(1), "copy, n=2");
  REQUIRE_STR(shared(), "");
}

/* Then the whole name stays. */
static void what_tells_nothing_apart_stays(void) {
  named("gemm" PART "n=1", "gemm" PART "n=1");
  REQUIRE_STR(brief(0), "gemm n=1");
  REQUIRE_STR(shared(), "gemm, n=1");
  named("gemm" PART "n=1", "");
  REQUIRE_STR(brief(0), "gemm n=1");
  REQUIRE_STR(shared(), "");
}

static void close_points_share_a_marker(void) {
  static groups g;
  memset(&g, 0, sizeof g);
  g.of[0] = -1;
  groups_add(&g, 1, 100, 100, false);
  groups_add(&g, 2, 100, 115, false); /* hidden */
  groups_add(&g, 3, 100, 117, false); /* beside it */
  groups_add(&g, 4, 100, 110, false); /* nearer to the second group */
  groups_add(&g, 5, 100, 100, true);  /* above a peak: never hidden */
  groups_add(&g, 6, 123, 100, false);
  groups_add(&g, 7, 124, 100, false);
  groups_number(&g, 8);
  REQUIRE_EQ(g.count, 4);
  REQUIRE_STR(g.all[0].numbers, "2–3, 7");
  REQUIRE_EQ(g.all[0].points, 3);
  REQUIRE_EQ(g.all[0].first, 1);
  REQUIRE_STR(g.all[1].numbers, "4–5");
  REQUIRE_STR(g.all[2].numbers, "6");
  REQUIRE(g.all[2].above);
  REQUIRE_STR(g.all[3].numbers, "8");
}

static void many_numbers_end_with_dots(void) {
  static groups g;
  memset(&g, 0, sizeof g);
  for (int i = 0; i < 60; i++)
    groups_add(&g, i, i % 2 ? 500 : 100, 100, false);
  groups_number(&g, 60);
  REQUIRE_EQ(g.count, 2);
  REQUIRE_STR(g.all[0].numbers, "1, 3, 5, 7, 9, 11, 13, 15…");
  REQUIRE_EQ(g.all[0].points, 30);
}

/* What was measured on a part of the table says where its figures stand. */
static void the_source_of_a_datasheet_is_there(const char *folder) {
  char path[512];
  memset(&c, 0, sizeof c);
  snprintf(path, sizeof path, "%s/gemm-h200.json", folder);
  REQUIRE_EQ(chart_read(&c, path), EXIT_DONE);
  REQUIRE_EQ(c.source_count, 1);
  REQUIRE_HAS(c.sources[0], "H200 SXM: ");
  REQUIRE_HAS(c.sources[0], "[R quoted]");
  REQUIRE_STR(c.devices, "NVIDIA H200");
}

int main(int argc, char **argv) {
  REQUIRE_EQ(argc, 2);
  what_all_points_share_is_said_once();
  what_tells_nothing_apart_stays();
  close_points_share_a_marker();
  many_numbers_end_with_dots();
  the_source_of_a_datasheet_is_there(argv[1]);
  puts("ok chart");
  return 0;
}
