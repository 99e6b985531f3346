/* Metadata of the host. */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>

#include "available.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

static bool cpuid_name(char *name, size_t size) {
  unsigned words[13] = {0};
  unsigned highest = __get_cpuid_max(0x80000000u, NULL);
  if (highest < 0x80000004u) return false;
  unsigned *to = words;
  for (unsigned i = 0; i < 3; i++, to += 4)
    __get_cpuid(0x80000002u + i, &to[0], &to[1], &to[2], &to[3]);
  const char *text = (const char *)words;
  text += strspn(text, " ");
  snprintf(name, size, "%s", text);
  for (size_t n = strlen(name); n && name[n - 1] == ' '; n--)
    name[n - 1] = '\0';
  return name[0] != '\0';
}

/* 1 in a virtual machine, 0 outside, -1 unknown. */
static int virtualized(void) {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return -1;
  return (int)(c >> 31);
}
#else
static bool cpuid_name(char *name, size_t size) {
  (void)name;
  (void)size;
  return false;
}

static int virtualized(void) {
  return -1;
}
#endif

static bool cpuinfo_name(char *name, size_t size) {
  static const char *const keys[] = {"model name", "cpu model", "Model", "cpu"};
  kmbi_host_lines lines;
  bool found = false;
  if (!kmbi_host_lines_open(&lines, "/proc/cpuinfo")) return false;
  for (const char *line; !found && (line = kmbi_host_lines_next(&lines));)
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && !found; i++) {
      size_t length = strlen(keys[i]);
      const char *colon = strchr(line, ':');
      if (strncmp(line, keys[i], length) != 0 || !colon) continue;
      if (line + length + strspn(line + length, " \t") != colon) continue;
      snprintf(name, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
      found = name[0] != '\0';
    }
  kmbi_host_lines_close(&lines);
  return found;
}

const char *kmbi_host_cpu_name(kmbi_host *self) {
  if (self->name[0] || cpuid_name(self->name, sizeof self->name) ||
      cpuinfo_name(self->name, sizeof self->name))
    return self->name;
  return NULL;
}

static void emit_u64(kmb_emit_fn emit, void *user, const char *key,
                     uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  emit(user, key, text, NULL);
}

/* A cache size of the used cores, the same for each of them or absent. */
static void emit_private(const kmbi_host *self, int level, const char *key,
                         kmb_emit_fn emit, void *user) {
  uint64_t first = 0;
  for (uint32_t i = 0; i < self->threads; i++) {
    const kmbi_host_core *core = &self->cores[i];
    uint64_t bytes = level == 1 ? core->l1_bytes : core->l2_bytes;
    if (i == 0) first = bytes;
    if (bytes != first) {
      emit(user, key, NULL, "the used cores differ in it");
      return;
    }
  }
  if (first)
    emit_u64(emit, user, key, first);
  else
    emit(user, key, NULL, "hwloc reports no such cache");
}

static void emit_llc(const kmbi_host *self, kmb_emit_fn emit, void *user) {
  uint64_t bytes = 0;
  if (kmbi_host_llc_known(self, self->threads, &bytes) < 0)
    emit_u64(emit, user, "host.llc_bytes", bytes);
  else
    emit(user, "host.llc_bytes", NULL,
         "no cache is reported; set kmb_device_params.llc_bytes");
}

static void emit_smt(const kmbi_host *self, kmb_emit_fn emit, void *user) {
  int widest = 0;
  for (uint32_t i = 0; i < self->core_count; i++) {
    int pus = hwloc_bitmap_weight(self->cores[i].object->cpuset);
    if (pus > widest) widest = pus;
  }
  emit(user, "host.smt", widest > 1 ? "on" : "off", NULL);
}

/* The chosen word of "always [madvise] never". */
static void emit_hugepages(kmb_emit_fn emit, void *user) {
  char line[128];
  const char *key = "host.hugepages";
  if (!kmbi_host_first_line("/sys/kernel/mm/transparent_hugepage/enabled", line,
                            sizeof line)) {
    emit(user, key, NULL, "the kernel has no transparent huge pages");
    return;
  }
  char *open = strchr(line, '[');
  char *close = open ? strchr(open, ']') : NULL;
  if (close) *close = '\0';
  emit(user, key, close ? open + 1 : line, NULL);
}

static void emit_governor(const kmbi_host *self, kmb_emit_fn emit, void *user) {
  char path[128];
  char line[64];
  snprintf(path, sizeof path,
           "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor",
           (unsigned)self->cores[0].pu);
  if (kmbi_host_first_line(path, line, sizeof line))
    emit(user, "host.governor", line, NULL);
  else
    emit(user, "host.governor", NULL,
         "the kernel offers no cpufreq here (usual in virtual machines)");
}

void kmbi_host_describe(void *opened, kmb_emit_fn emit, void *user) {
  kmbi_host *self = opened;
  const char *name = kmbi_host_cpu_name(self);
  int nodes = hwloc_get_nbobjs_by_type(self->topology, HWLOC_OBJ_NUMANODE);
  int virtual_machine = virtualized();
  emit(user, "host.cpu", name,
       name ? NULL : "neither CPUID nor /proc/cpuinfo names it");
  emit_u64(emit, user, "host.cores", self->core_count);
  emit_private(self, 1, "host.l1_bytes", emit, user);
  emit_private(self, 2, "host.l2_bytes", emit, user);
  emit_llc(self, emit, user);
  if (nodes > 0)
    emit_u64(emit, user, "host.numa_nodes", (uint64_t)nodes);
  else
    emit(user, "host.numa_nodes", NULL, "hwloc reports none");
  emit_smt(self, emit, user);
  emit_hugepages(emit, user);
  emit_governor(self, emit, user);
  if (virtual_machine < 0)
    emit(user, "host.virtualized", NULL, "this processor has no flag for it");
  else
    emit(user, "host.virtualized", virtual_machine ? "yes" : "no", NULL);
}

static void read_frequency(const kmbi_host *self, kmb_telemetry_fn emit,
                           void *user) {
  char path[128];
  char line[64];
  snprintf(path, sizeof path,
           "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq",
           (unsigned)self->cores[0].pu);
  uint64_t khz = 0;
  bool unlimited = false;
  if (!kmbi_host_first_line(path, line, sizeof line) ||
      !kmbi_host_parse_limit(line, &khz, &unlimited) || unlimited)
    emit(user, KMB_TELEMETRY_CORE0_CLOCK, 0,
         "the kernel offers no cpufreq here (usual in virtual machines)");
  else
    emit(user, KMB_TELEMETRY_CORE0_CLOCK, (double)khz / 1000, NULL);
}

/* How long the calling thread, which is the one that measures, was ready and
 * others had the core. How often does not matter: the kernel's own work takes
 * the core often and for some microseconds. */
static void read_steal(kmb_telemetry_fn emit, void *user) {
  const char *path = "/proc/thread-self/schedstat";
  char line[128];
  unsigned long long ran = 0;
  unsigned long long waited = 0;
  if (!kmbi_host_first_line(path, line, sizeof line) ||
      sscanf(line, "%llu %llu", &ran, &waited) != 2) // NOLINT(cert-err34-c)
    emit(user, KMB_TELEMETRY_STEAL, 0,
         "/proc/thread-self/schedstat cannot be read");
  else
    emit(user, KMB_TELEMETRY_STEAL, (double)waited / 1e6, NULL);
}

/* Hundredths, whatever the locale's point is. */
static void read_load(kmb_telemetry_fn emit, void *user) {
  char line[128];
  unsigned whole = 0;
  unsigned hundredths = 0;
  if (!kmbi_host_first_line("/proc/loadavg", line, sizeof line) ||
      sscanf(line, "%u.%2u", &whole, // NOLINT(cert-err34-c)
             &hundredths) != 2)
    emit(user, KMB_TELEMETRY_LOAD, 0, "/proc/loadavg cannot be read");
  else
    emit(user, KMB_TELEMETRY_LOAD, whole + hundredths / 100.0, NULL);
}

void kmbi_host_telemetry(void *opened, kmb_telemetry_fn emit, void *user) {
  read_frequency(opened, emit, user);
  read_steal(emit, user);
  read_load(emit, user);
}
