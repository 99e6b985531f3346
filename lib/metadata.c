/* Collecting metadata. What is absent is an entry with its reason. */
#include "metadata.h"

#include "device.h"
#include "error.h"
#include "redact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { COMMAND_LINE_LIMIT = 32 * 1024, FILE_LIMIT = 4096, KEY_SIZE = 160 };

#if defined(__GNUC__) && !defined(__clang__)
#define COMPILER "GCC " __VERSION__
#else
#define COMPILER __VERSION__ /* clang's names itself */
#endif

/* Every entry passes through here, and so through redaction. */
static void meta(kmb_result *result, const char *key, const char *value,
                 const char *reason) {
  if (!value) {
    kmbi_result_meta(result, key, NULL, reason);
    return;
  }
  kmbi_text clean;
  kmbi_text_init(&clean, &result->memory);
  kmbi_redact_value(&clean, key, value);
  if (clean.failed) result->arena.failed = true;
  kmbi_result_meta(result, key, kmbi_text_get(&clean), NULL);
  kmbi_text_release(&clean);
}

static void meta_prefixed(kmb_result *result, const char *prefix,
                          const char *key, const char *value,
                          const char *reason) {
  char full[KEY_SIZE];
  snprintf(full, sizeof full, "%s%s", prefix, key);
  meta(result, full, value, reason);
}

static void meta_errno(kmb_result *result, const char *key, const char *what) {
  char reason[160], text[80] = "";
  if (strerror_r(errno, text, sizeof text) != 0)
    snprintf(text, sizeof text, "error %d", errno);
  snprintf(reason, sizeof reason, "%s: %s", what, text);
  meta(result, key, NULL, reason);
}

/* The beginning of a file, with a zero behind it; false with errno set. */
static bool read_file(const char *path, char *data, size_t limit,
                      size_t *size) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t got = 1;
  *size = 0;
  while (*size + 1 < limit && got > 0) {
    got = read(file, data + *size, limit - 1 - *size);
    if (got < 0 && errno == EINTR)
      got = 1;
    else if (got > 0)
      *size += (size_t)got;
  }
  int error = errno;
  close(file);
  errno = error;
  data[*size] = '\0';
  return got >= 0;
}

/* Host and process. */

static void collect_os(kmb_result *result) {
  char data[FILE_LIMIT];
  size_t size = 0;
  if (!read_file("/etc/os-release", data, sizeof data, &size)) {
    meta_errno(result, "host.os", "/etc/os-release");
    return;
  }
  static const char name[] = "PRETTY_NAME=";
  char *at = strstr(data, name);
  if (!at || (at != data && at[-1] != '\n')) {
    meta(result, "host.os", NULL, "/etc/os-release has no PRETTY_NAME");
    return;
  }
  at += sizeof name - 1;
  at[strcspn(at, "\n")] = '\0';
  size_t length = strlen(at);
  if (length >= 2 && (*at == '"' || *at == '\'') && at[length - 1] == *at) {
    at[length - 1] = '\0';
    at++;
  }
  meta(result, "host.os", at, NULL);
}

static void collect_command_line(kmb_result *result) {
  static const char key[] = "process.command_line";
  char *data = kmbi_alloc(&result->memory, COMMAND_LINE_LIMIT, 1);
  if (!data) {
    result->arena.failed = true;
    return;
  }
  size_t size = 0;
  if (!read_file("/proc/self/cmdline", data, COMMAND_LINE_LIMIT, &size)) {
    meta_errno(result, key, "/proc/self/cmdline");
  } else {
    kmbi_text line;
    kmbi_text_init(&line, &result->memory);
    kmbi_redact_arguments(&line, data, size);
    if (size + 1 == COMMAND_LINE_LIMIT) kmbi_text_put(&line, " [cut]");
    if (line.failed) result->arena.failed = true;
    kmbi_result_meta(result, key, kmbi_text_get(&line), NULL);
    kmbi_text_release(&line);
  }
  kmbi_free(&result->memory, data, COMMAND_LINE_LIMIT, 1);
}

static void collect_time(kmb_result *result) {
  char text[32];
  time_t now = time(NULL);
  struct tm utc;
  if (now == (time_t)-1 || !gmtime_r(&now, &utc) ||
      !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc))
    meta(result, "time.utc", NULL, "the system has no calendar time");
  else
    meta(result, "time.utc", text, NULL);
}

static void collect_environment(kmb_result *result) {
  static const char *const names[] = {"OMP_NUM_THREADS",
                                      "OMP_PROC_BIND",
                                      "OMP_PLACES",
                                      "OPENBLAS_NUM_THREADS",
                                      "OPENBLAS_CORETYPE",
                                      "MKL_NUM_THREADS",
                                      "GOMP_CPU_AFFINITY",
                                      "CUDA_VISIBLE_DEVICES",
                                      "CUDA_MODULE_LOADING",
                                      "CUDA_LAUNCH_BLOCKING",
                                      "HIP_VISIBLE_DEVICES",
                                      "CUDA_DEVICE_MAX_CONNECTIONS",
                                      "ROCR_VISIBLE_DEVICES",
                                      "NCCL_NVLS_ENABLE",
                                      "NCCL_ALGO",
                                      "NCCL_PROTO",
                                      "LD_PRELOAD",
                                      "TORCH_NCCL_BLOCKING_WAIT"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const char *value = getenv(names[i]); // NOLINT(concurrency-mt-unsafe)
    if (value) meta_prefixed(result, "env.", names[i], value, NULL);
  }
}

static void collect_host(kmb_result *result) {
  struct utsname name;
  char kernel[sizeof name.sysname + sizeof name.release + 1];
  meta(result, "kmb.version", KMB_VERSION, NULL);
  snprintf(kernel, sizeof kernel, "%d", KMB_ABI_MAJOR);
  meta(result, "kmb.abi", kernel, NULL);
  meta(result, "kmb.compiler", COMPILER, NULL);
  collect_time(result);
  if (uname(&name) == 0) {
    snprintf(kernel, sizeof kernel, "%s %s", name.sysname, name.release);
    meta(result, "host.kernel", kernel, NULL);
  } else {
    meta_errno(result, "host.kernel", "uname");
  }
  collect_os(result);
  collect_command_line(result);
  collect_environment(result);
}

/* Device. */

typedef struct emitter {
  kmb_result *result;
  const char *prefix;
} emitter;

static void on_emit(void *user, const char *key, const char *value,
                    const char *reason) {
  const emitter *e = user;
  if (key) meta_prefixed(e->result, e->prefix, key, value, reason);
}

/* Digits that the caller's locale cannot change. */
static void print_f64(char *text, size_t size, double value) {
  snprintf(text, size, "%.9g", value);
  for (; *text; text++) {
    if (*text == ',') *text = '.';
  }
}

static void attr_u64(kmb_device *device, kmb_device_attr attr, const char *key,
                     kmb_result *result) {
  uint64_t value = 0;
  char text[32];
  bool known = kmb_device_attr_u64(device, attr, &value) == KMB_OK;
  snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  meta_prefixed(result, "device.", key, known ? text : NULL,
                kmb_last_error(NULL, NULL));
}

static void attr_f64(kmb_device *device, kmb_device_attr attr, const char *key,
                     kmb_result *result) {
  double value = 0;
  char text[40];
  bool known = kmb_device_attr_f64(device, attr, &value) == KMB_OK;
  print_f64(text, sizeof text, value);
  meta_prefixed(result, "device.", key, known ? text : NULL,
                kmb_last_error(NULL, NULL));
}

static void attr_text(kmb_device *device, kmb_device_attr attr, const char *key,
                      kmb_result *result) {
  const char *text = NULL;
  bool known = kmb_device_attr_text(device, attr, &text) == KMB_OK;
  meta_prefixed(result, "device.", key, known ? text : NULL,
                kmb_last_error(NULL, NULL));
}

#define attr_U64 attr_u64
#define attr_F64 attr_f64
#define attr_TEXT attr_text

static void collect_attributes(kmb_device *device, kmb_result *result) {
#define ATTR(name, value, kind, key) attr_##kind(device, value, key, result);
  KMB_DEVICE_ATTR_MAP(ATTR)
#undef ATTR
}

/* Far memory and far devices cost microseconds; sysfs and getcpu cost none. */
static void collect_nearness(kmb_device *device, kmb_result *result) {
  static const char key[] = "device.thread_on_numa_node";
  unsigned cpu = 0, node = 0;
  uint64_t device_node = 0;
  if (kmb_device_attr_u64(device, KMB_DEVICE_NUMA_NODE, &device_node)) {
    meta(result, key, NULL, kmb_last_error(NULL, NULL));
    return;
  }
  if (syscall(SYS_getcpu, &cpu, &node, NULL) != 0) {
    meta_errno(result, key, "getcpu");
    return;
  }
  meta(result, key, node == device_node ? "yes" : "no", NULL);
}

/* The caller. */

static void meta_given(kmb_result *result, const char *key, const char *value) {
  meta(result, key, value, "the caller did not say");
}

static void collect_caller(const kmb_metadata_params *params,
                           kmb_result *result) {
  meta_given(result, "revision.commit", params->commit);
  meta_given(result, "revision.branch", params->branch);
  meta_given(result, "revision.tree",
             params->tree == KMB_TREE_CLEAN   ? "clean"
             : params->tree == KMB_TREE_DIRTY ? "dirty"
                                              : NULL);
  meta_given(result, "build.caller", params->build);
  for (uint64_t i = 0; params->pairs && i < params->pair_count; i++) {
    if (params->pairs[i].key)
      meta_prefixed(result, "caller.", params->pairs[i].key,
                    params->pairs[i].value, "the caller gave no value");
  }
}

static void collect_note(const kmb_metadata_params *params,
                         kmb_result *result) {
  const kmb_pair fields[] = {{"note.question", params->question},
                             {"note.change", params->change},
                             {"note.correctness", params->correctness},
                             {"note.observation", params->observation},
                             {"note.explanation", params->explanation}};
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    if (fields[i].value) meta(result, fields[i].key, fields[i].value, NULL);
  }
  if (params->explanation || params->explanation_artifact)
    meta(result, "note.explanation_artifact", params->explanation_artifact,
         "no artifact: a hypothesis");
  if (params->next) meta(result, "note.next", params->next, NULL);
}

void kmbi_metadata_collect(kmb_device *device,
                           const kmb_metadata_params *params,
                           kmb_result *result) {
  const kmb_metadata_params none = kmb_metadata_params_init();
  kmbi_error_state before;
  kmbi_error_save(&before);
  if (!params) params = &none;
  collect_host(result);
  collect_attributes(device, result);
  collect_nearness(device, result);
  emitter e = {result, ""};
  device->ops->describe(device->self, on_emit, &e);
  collect_caller(params, result);
  collect_note(params, result);
  kmbi_error_restore(&before);
}
