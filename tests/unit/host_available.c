/* Memory limits: sample texts, and whole trees of them. */
#include "available.h"
#include "require.h"

#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static void put(const char *path, const char *text) {
  char full[1024];
  snprintf(full, sizeof full, "%s%s", root, path);
  for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
    *at = '\0';
    mkdir(full, 0700);
    *at = '/';
  }
  FILE *file = fopen(full, "w");
  REQUIRE(file);
  REQUIRE(fputs(text, file) >= 0);
  REQUIRE_EQ(fclose(file), 0);
}

static void new_root(void) {
  snprintf(root, sizeof root, "/tmp/kmb_limits_XXXXXX");
  REQUIRE(mkdtemp(root));
}

static void drop_root(void) {
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", root);
  REQUIRE_EQ(system(command), 0); /* NOLINT(cert-env33-c) */
}

static void meminfo_gives_one_key_in_bytes(void) {
  uint64_t bytes = 7;
  REQUIRE(kmbi_host_parse_meminfo("MemAvailable:   24305352 kB", "MemAvailable",
                                  &bytes));
  REQUIRE_EQ(bytes, 24305352LL * 1024);
  bytes = 7;
  REQUIRE(
      !kmbi_host_parse_meminfo("MemAvailable2: 1 kB", "MemAvailable", &bytes));
  REQUIRE(!kmbi_host_parse_meminfo("MemFree: 1 kB", "MemAvailable", &bytes));
  REQUIRE(
      !kmbi_host_parse_meminfo("MemAvailable: -1 kB", "MemAvailable", &bytes));
  REQUIRE(!kmbi_host_parse_meminfo("MemAvailable: kB", "MemAvailable", &bytes));
  REQUIRE(!kmbi_host_parse_meminfo("MemAvailable: 1", "MemAvailable", &bytes));
  REQUIRE(!kmbi_host_parse_meminfo("MemAvailable: 18446744073709551615 kB",
                                   "MemAvailable", &bytes));
  REQUIRE(!kmbi_host_parse_meminfo("MemAvailable: 99999999999999999999 kB",
                                   "MemAvailable", &bytes));
  REQUIRE_EQ(bytes, 7);
}

static void cgroup_line_of_the_right_hierarchy(void) {
  REQUIRE_STR(kmbi_host_parse_cgroup("0::/user.slice/a", true),
              "/user.slice/a");
  REQUIRE(!kmbi_host_parse_cgroup("0::/user.slice/a", false));
  REQUIRE_STR(kmbi_host_parse_cgroup("4:memory:/docker/x", false), "/docker/x");
  REQUIRE_STR(kmbi_host_parse_cgroup("4:cpu,memory:/a:b", false), "/a:b");
  REQUIRE(!kmbi_host_parse_cgroup("4:memory:/docker/x", true));
  REQUIRE(!kmbi_host_parse_cgroup("5:memoryx,cpu:/a", false));
  REQUIRE(!kmbi_host_parse_cgroup("9:name=systemd:/", false));
  REQUIRE(!kmbi_host_parse_cgroup("10::/a", true));
  REQUIRE(!kmbi_host_parse_cgroup("0:", true));
  REQUIRE(!kmbi_host_parse_cgroup("", true));
}

static void mount_line_gives_root_and_point(void) {
  char top[64];
  char point[64];
  REQUIRE(kmbi_host_parse_mount(
      "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw",
      true, top, point, sizeof top));
  REQUIRE_STR(top, "/");
  REQUIRE_STR(point, "/sys/fs/cgroup/unified");
  REQUIRE(kmbi_host_parse_mount("35 31 0:32 /docker/x /sys/fs/my\\040cgroup rw "
                                "shared:9 - cgroup cgroup rw,memory",
                                false, top, point, sizeof top));
  REQUIRE_STR(top, "/docker/x");
  REQUIRE_STR(point, "/sys/fs/my cgroup");
  REQUIRE(!kmbi_host_parse_mount("32 31 0:29 / /c rw - cgroup cgroup rw,cpu",
                                 false, top, point, sizeof top));
  REQUIRE(!kmbi_host_parse_mount("32 31 0:29 / /c rw - tmpfs tmpfs rw,memory",
                                 false, top, point, sizeof top));
  REQUIRE(!kmbi_host_parse_mount("32 31 - cgroup cgroup rw,memory", false, top,
                                 point, sizeof top));
  REQUIRE(!kmbi_host_parse_mount("32 31 0:29 / /c rw - cgroup2 cgroup2 rw",
                                 true, top, point, 2));
  REQUIRE(!kmbi_host_parse_mount("", true, top, point, sizeof top));
  REQUIRE(!kmbi_host_parse_mount("x - cgroup", false, top, point, sizeof top));
}

static void limit_is_a_number_or_max(void) {
  uint64_t bytes = 0;
  bool unlimited = false;
  REQUIRE(kmbi_host_parse_limit("max", &bytes, &unlimited) && unlimited);
  REQUIRE(kmbi_host_parse_limit("4096", &bytes, &unlimited) && !unlimited);
  REQUIRE_EQ(bytes, 4096);
  REQUIRE(!kmbi_host_parse_limit("4096 x", &bytes, &unlimited));
  REQUIRE(!kmbi_host_parse_limit("-1", &bytes, &unlimited));
  REQUIRE(!kmbi_host_parse_limit("", &bytes, &unlimited));
}

static void lines_of_any_length_are_read(void) {
  static char wide[9000];
  static char text[20000];
  memset(wide, 'x', sizeof wide - 1);
  snprintf(text, sizeof text, "first\n%s\nthird\n\n%s\nlast", wide, wide);
  new_root();
  put("/f", text);
  char path[128];
  kmbi_host_lines lines;
  snprintf(path, sizeof path, "%s/f", root);
  REQUIRE(kmbi_host_lines_open(&lines, path));
  REQUIRE_STR(kmbi_host_lines_next(&lines), "first");
  const char *cut = kmbi_host_lines_next(&lines);
  REQUIRE(cut && strlen(cut) > 1000 && cut[0] == 'x');
  REQUIRE_STR(kmbi_host_lines_next(&lines), "third");
  REQUIRE_STR(kmbi_host_lines_next(&lines), "");
  cut = kmbi_host_lines_next(&lines);
  REQUIRE(cut && strlen(cut) > 1000);
  REQUIRE_STR(kmbi_host_lines_next(&lines), "last");
  REQUIRE(!kmbi_host_lines_next(&lines));
  kmbi_host_lines_close(&lines);
  drop_root();
}

static const char mounts[] =
    "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
    "31 23 0:27 / /sys/fs/cgroup1/memory rw - cgroup cgroup rw,memory\n";

static void without_groups_it_is_mem_available(void) {
  uint64_t bytes = 0;
  new_root();
  REQUIRE(!kmbi_host_available(root, &bytes));
  put("/proc/meminfo", "MemTotal: 9 kB\nMemFree: 8 kB\n");
  REQUIRE(!kmbi_host_available(root, &bytes));
  put("/proc/meminfo", "MemTotal: 9 kB\nMemAvailable: 4000 kB\n");
  REQUIRE(kmbi_host_available(root, &bytes));
  REQUIRE_EQ(bytes, 4096000);
  REQUIRE(kmbi_host_meminfo(root, "MemTotal", &bytes));
  REQUIRE_EQ(bytes, 9216);
  drop_root();
}

/* The tightest of the group, its parents and the kernel's estimate. */
static void v2_takes_the_tightest_ancestor(void) {
  uint64_t bytes = 0;
  new_root();
  put("/proc/meminfo", "MemAvailable: 4000 kB\n");
  put("/proc/self/cgroup", "0::/a/b\n");
  put("/proc/self/mountinfo", mounts);
  put("/sys/fs/cgroup/a/b/memory.max", "max\n");
  put("/sys/fs/cgroup/a/b/memory.current", "1\n");
  put("/sys/fs/cgroup/a/memory.max", "3000000\n");
  put("/sys/fs/cgroup/a/memory.current", "1000000\n");
  REQUIRE(kmbi_host_available(root, &bytes));
  REQUIRE_EQ(bytes, 2000000);
  put("/sys/fs/cgroup/a/b/memory.max", "1500000\n");
  REQUIRE(kmbi_host_available(root, &bytes));
  REQUIRE_EQ(bytes, 1499999);
  /* A usage above the limit leaves nothing. */
  put("/sys/fs/cgroup/a/b/memory.current", "1600000\n");
  REQUIRE(kmbi_host_available(root, &bytes));
  REQUIRE_EQ(bytes, 0);
  /* Reclaimable page cache counts as free. */
  put("/sys/fs/cgroup/a/b/memory.stat",
      "anon 5\nfile 9\ninactive_file 600000\nactive_file 1\n");
  REQUIRE(kmbi_host_available(root, &bytes));
  REQUIRE_EQ(bytes, 500000);
  drop_root();
}

static void top_group_of_the_mount_counts(void) {
  uint64_t bytes = 0;
  new_root();
  put("/proc/meminfo", "MemAvailable: 4000 kB\n");
  put("/proc/self/cgroup", "0::/\n");
  put("/proc/self/mountinfo", mounts);
  put("/sys/fs/cgroup/memory.max", "5000\n");
  put("/sys/fs/cgroup/memory.current", "1000\n");
  REQUIRE(kmbi_host_available(root, &bytes));
  REQUIRE_EQ(bytes, 4000);
  put("/proc/self/cgroup", "0::/gone/deeper\n");
  REQUIRE(kmbi_host_available(root, &bytes));
  REQUIRE_EQ(bytes, 4000);
  /* A group outside this namespace is not looked for outside the mount. */
  put("/sys/fs/outside/memory.max", "50\n");
  put("/sys/fs/outside/memory.current", "1\n");
  put("/proc/self/cgroup", "0::/../outside\n");
  REQUIRE(kmbi_host_available(root, &bytes));
  REQUIRE_EQ(bytes, 4000);
  drop_root();
}

/* Version 1 in a container: the group's path is not below the mount. */
static void v1_under_a_containers_mount(void) {
  uint64_t bytes = 0;
  new_root();
  put("/proc/meminfo", "MemAvailable: 4000 kB\n");
  put("/proc/self/cgroup", "9:cpu:/x\n4:hugetlb,memory:/docker/c1/sub\n0::/\n");
  put("/proc/self/mountinfo",
      "35 31 0:32 /docker/c1 /cg/memory rw - cgroup cgroup rw,memory\n");
  put("/cg/memory/memory.limit_in_bytes", "2000000\n");
  put("/cg/memory/memory.usage_in_bytes", "500000\n");
  put("/cg/memory/memory.stat", "inactive_file 9\ntotal_inactive_file 1000\n");
  put("/cg/memory/sub/memory.limit_in_bytes", "9223372036854771712\n");
  put("/cg/memory/sub/memory.usage_in_bytes", "100\n");
  REQUIRE(kmbi_host_available(root, &bytes));
  REQUIRE_EQ(bytes, 1501000);
  put("/proc/self/cgroup", "4:memory:/elsewhere/../..\n");
  REQUIRE(kmbi_host_available(root, &bytes));
  REQUIRE_EQ(bytes, 1501000);
  put("/cg/memory/memory.limit_in_bytes", "nonsense\n");
  REQUIRE(kmbi_host_available(root, &bytes));
  REQUIRE_EQ(bytes, 4096000);
  drop_root();
}

int main(void) {
  RUN(meminfo_gives_one_key_in_bytes);
  RUN(cgroup_line_of_the_right_hierarchy);
  RUN(mount_line_gives_root_and_point);
  RUN(limit_is_a_number_or_max);
  RUN(lines_of_any_length_are_read);
  RUN(without_groups_it_is_mem_available);
  RUN(v2_takes_the_tightest_ancestor);
  RUN(top_group_of_the_mount_counts);
  RUN(v1_under_a_containers_mount);
  return 0;
}
