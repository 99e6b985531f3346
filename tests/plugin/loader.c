/* Loading plugins: what is taken, what is refused, and with which words. */
#include "require.h"

#include "backends.h"
#include "device.h"
#include "loader.h"

#include <kmb/kmb.h>

#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIM SIM_DIR "/kmb-backend-sim.so"
#define BAD(kind) BAD_DIR "/kmb-backend-bad_" kind ".so"

static void refused(const char *name, kmb_status want, const char *words) {
  kmb_device *device = (kmb_device *)&device;
  REQUIRE_STATUS(kmb_device_open(name, NULL, &device), want);
  REQUIRE(device == NULL);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), words);
}

static void a_plugin_opens_by_absolute_path(void) {
  kmb_device *device = NULL;
  const char *text = NULL;
  REQUIRE_OK(kmb_device_open(SIM, NULL, &device));
  REQUIRE_OK(kmb_device_attr_text(device, KMB_DEVICE_BACKEND, &text));
  REQUIRE_STR(text, "sim");
  REQUIRE_OK(kmb_device_attr_text(device, KMB_DEVICE_SPEC, &text));
  REQUIRE_STR(text, "sim");
  kmb_device_close(device);
}

static void what_follows_the_path_is_the_specification(void) {
  kmb_device *device = NULL;
  const char *text = NULL;
  double tick = 0;
  REQUIRE_OK(kmb_device_open(SIM ":tick=7,noise=gauss:0.1", NULL, &device));
  REQUIRE_OK(kmb_device_attr_text(device, KMB_DEVICE_SPEC, &text));
  REQUIRE_STR(text, "sim:tick=7,noise=gauss:0.1");
  REQUIRE_OK(kmb_device_attr_f64(device, KMB_DEVICE_CLOCK_TICK_NS, &tick));
  REQUIRE(tick == 7);
  kmb_device_close(device);
}

static void a_plugin_opens_by_name_in_the_directory(void) {
  const kmb_backend_ops *ops = NULL;
  const char *spec = NULL;
  REQUIRE_OK(kmbi_backend_find("sim:a:b", SIM_DIR, &ops, &spec));
  REQUIRE_STR(ops->name, "sim");
  REQUIRE_STR(spec, "a:b");
  REQUIRE_OK(kmbi_backend_find("sim", SIM_DIR, &ops, &spec));
  REQUIRE_STR(spec, "");
}

static void the_directory_of_plugins_is_absolute(void) {
  REQUIRE(kmbi_plugin_directory()[0] == '/');
  REQUIRE_HAS(kmbi_plugin_directory(), "/kmb/backends");
}

static void a_built_in_name_comes_first(void) {
  const kmb_backend_ops *ops = NULL;
  const char *spec = NULL;
  REQUIRE_OK(kmbi_backend_find("host:x", BAD_DIR, &ops, &spec));
  REQUIRE(ops == kmbi_backend_at(2));
  REQUIRE_STR(ops->name, "host");
  REQUIRE_STR(spec, "x");
}

static void auto_takes_built_in_ones_only(void) {
  kmb_device *device = NULL;
  const char *text = NULL;
  REQUIRE_OK(kmb_device_open("auto", NULL, &device));
  REQUIRE_OK(kmb_device_attr_text(device, KMB_DEVICE_BACKEND, &text));
  REQUIRE(strcmp(text, "host") == 0 || strcmp(text, "cuda") == 0);
  kmb_device_close(device);
}

static void an_unknown_name_is_unsupported(void) {
  refused("nosuch", KMB_ERR_UNSUPPORTED, "kmb-backend-nosuch.so");
  refused("nosuch:0", KMB_ERR_UNSUPPORTED, "kmb-backend-nosuch.so");
}

static void names_are_never_paths(void) {
  refused("../sim", KMB_ERR_INVALID, "[a-z0-9_]+");
  refused("./kmb-backend-sim.so", KMB_ERR_INVALID, "absolute path");
  refused("Sim", KMB_ERR_INVALID, "[a-z0-9_]+");
  refused("sim/x", KMB_ERR_INVALID, "[a-z0-9_]+");
  refused(":spec", KMB_ERR_INVALID, "[a-z0-9_]+");
  refused("", KMB_ERR_INVALID, "empty");
  refused(NULL, KMB_ERR_INVALID, "NULL");
  refused("an_endless_name_of_a_backend_that_nobody_wrote", KMB_ERR_INVALID,
          "at most");
}

static void paths_end_in_so(void) {
  refused("/", KMB_ERR_INVALID, "FILE.so");
  refused("/tmp", KMB_ERR_INVALID, "FILE.so");
  refused("/tmp/x.so.1", KMB_ERR_INVALID, "FILE.so");
  refused("/tmp/x.sofa:spec", KMB_ERR_INVALID, "FILE.so");
}

static void what_cannot_be_loaded_is_unavailable(void) {
  refused("/nowhere/x.so", KMB_ERR_UNAVAILABLE, "no file /nowhere/x.so");
  refused("/dev/null/x.so", KMB_ERR_UNAVAILABLE, "no file");
  refused(BAD("unresolved"), KMB_ERR_UNAVAILABLE, "kmb_test_nobody_has_this");
}

/* Who mistypes a name is told which ones there are. */
static void an_unknown_backend_is_told_the_known_ones(void) {
  refused("nope", KMB_ERR_UNSUPPORTED,
          "no backend \"nope\": those built in are cuda, hip, host");
  refused("nope:3", KMB_ERR_UNSUPPORTED, "/kmb-backend-nope.so");
  refused("CUDA:0", KMB_ERR_INVALID, "built in are cuda, hip, host");
}

static void a_long_path_is_invalid(void) {
  static char path[KMBI_PATH_SIZE + 8];
  memset(path, 'x', sizeof path);
  path[0] = '/';
  memcpy(path + sizeof path - 4, ".so", 4);
  refused(path, KMB_ERR_INVALID, "longer than");
  /* Short enough for us, too long for the system. */
  memcpy(path + 1000, ".so", 4);
  refused(path, KMB_ERR_UNAVAILABLE, "errno");
}

/* Each of these has a name like a plugin's and is none. */
static void files_of_other_kinds_are_unavailable(void) {
  char directory[] = "/tmp/kmb-loader-XXXXXX";
  char path[sizeof directory + 16];
  REQUIRE(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/x.so", directory);
  REQUIRE(mkdir(path, 0700) == 0);
  refused(path, KMB_ERR_UNAVAILABLE, "not a regular file");
  REQUIRE(rmdir(path) == 0);
  /* Opening it would wait for a writer. */
  REQUIRE(mkfifo(path, 0600) == 0);
  refused(path, KMB_ERR_UNAVAILABLE, "not a regular file");
  REQUIRE(unlink(path) == 0);
  FILE *file = fopen(path, "w");
  REQUIRE(file && fputs("hello\n", file) >= 0 && fclose(file) == 0);
  refused(path, KMB_ERR_UNAVAILABLE, "file too short");
  REQUIRE(unlink(path) == 0 && rmdir(directory) == 0);
}

static void a_file_without_an_own_entry_is_malformed(void) {
  refused(BAD("noentry"), KMB_ERR_FORMAT, "exports no kmb_backend_entry_1");
  refused(BAD("data"), KMB_ERR_FORMAT, "is no function");
  refused(BAD("dependency"), KMB_ERR_FORMAT, "library that it depends on");
}

static void an_entry_without_a_table_has_its_own_status(void) {
  refused(BAD("empty"), KMB_ERR_VENDOR, "returned NULL");
}

static void another_abi_is_unsupported_and_named(void) {
  char theirs[64], ours[64];
  snprintf(theirs, sizeof theirs, "built for backend ABI %d,",
           KMB_BACKEND_ABI + 1);
  snprintf(ours, sizeof ours, "this libkmb has %d;", KMB_BACKEND_ABI);
  refused(BAD("abi"), KMB_ERR_UNSUPPORTED, theirs);
  refused(BAD("abi"), KMB_ERR_UNSUPPORTED, ours);
}

static void an_incomplete_table_is_unsupported(void) {
  refused(BAD("slot"), KMB_ERR_UNSUPPORTED, "\"plan_run\"");
  refused(BAD("cut"), KMB_ERR_UNSUPPORTED, "\"stream_wait\"");
  refused(BAD("tiny"), KMB_ERR_UNSUPPORTED, "says 8 bytes");
  refused(BAD("clock"), KMB_ERR_UNSUPPORTED, "\"now\" and not \"sleep\"");
  refused(BAD("group"), KMB_ERR_UNSUPPORTED,
          "\"counters_collect\" and not \"counters_close\"");
}

static void a_table_needs_a_proper_name(void) {
  refused(BAD("name"), KMB_ERR_UNSUPPORTED, "[a-z0-9_]+");
  refused(BAD("nameless"), KMB_ERR_UNSUPPORTED, "[a-z0-9_]+");
  refused(BAD("host"), KMB_ERR_UNSUPPORTED, "built-in");
  refused(BAD("other"), KMB_ERR_UNAVAILABLE, "no device");
  const kmb_backend_ops *ops = NULL;
  const char *spec = NULL;
  REQUIRE_STATUS(kmbi_backend_find("bad_other", BAD_DIR, &ops, &spec),
                 KMB_ERR_UNSUPPORTED);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "calls itself \"another\"");
}

static void a_failing_open_keeps_its_own_status(void) {
  kmb_status status = KMB_OK;
  int64_t vendor = 0;
  refused(BAD("speaks") ":3", KMB_ERR_UNAVAILABLE, "no device \"3\"");
  kmb_last_error(&status, &vendor);
  REQUIRE_EQ(status, KMB_ERR_UNAVAILABLE);
  REQUIRE_EQ(vendor, 35);
  refused(BAD("silent"), KMB_ERR_PERM, "gave no reason");
}

static void a_failure_is_not_remembered(void) {
  char directory[] = "/tmp/kmb-loader-XXXXXX";
  char path[sizeof directory + 16];
  REQUIRE(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/x.so", directory);
  refused(path, KMB_ERR_UNAVAILABLE, "no file");
  REQUIRE(symlink(SIM, path) == 0);
  kmb_device *device = NULL;
  REQUIRE_OK(kmb_device_open(path, NULL, &device));
  kmb_device_close(device);
  REQUIRE(unlink(path) == 0 && rmdir(directory) == 0);
}

static void success_leaves_the_last_error_alone(void) {
  refused("/nowhere/x.so", KMB_ERR_UNAVAILABLE, "no file");
  a_plugin_opens_by_absolute_path();
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "no file");
}

static void *open_often(void *argument) {
  (void)argument;
  for (int i = 0; i < 20; i++) {
    kmb_device *device = NULL;
    REQUIRE_OK(kmb_device_open(SIM, NULL, &device));
    kmb_device_close(device);
    refused(BAD("abi"), KMB_ERR_UNSUPPORTED, "ABI");
  }
  return NULL;
}

static void threads_may_open_at_once(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    REQUIRE(pthread_create(&threads[i], NULL, open_often, NULL) == 0);
  for (int i = 0; i < 4; i++)
    REQUIRE(pthread_join(threads[i], NULL) == 0);
}

static void a_forked_child_opens_anew(void) {
  kmb_device *device = NULL;
  REQUIRE_OK(kmb_device_open(SIM, NULL, &device));
  pid_t child = fork();
  if (child == 0) {
    uint64_t value = 0;
    kmb_device *own = NULL;
    REQUIRE_STATUS(kmb_device_attr_u64(device, KMB_DEVICE_LLC_BYTES, &value),
                   KMB_ERR_FORKED);
    REQUIRE_OK(kmb_device_open(SIM, NULL, &own));
    REQUIRE_OK(kmb_device_attr_u64(own, KMB_DEVICE_LLC_BYTES, &value));
    kmb_device_close(own);
    kmb_device_close(device);
    _exit(0);
  }
  int status = 1;
  REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  kmb_device_close(device);
}

int main(void) {
  RUN(a_plugin_opens_by_absolute_path);
  RUN(what_follows_the_path_is_the_specification);
  RUN(a_plugin_opens_by_name_in_the_directory);
  RUN(the_directory_of_plugins_is_absolute);
  RUN(a_built_in_name_comes_first);
  RUN(auto_takes_built_in_ones_only);
  RUN(an_unknown_name_is_unsupported);
  RUN(names_are_never_paths);
  RUN(paths_end_in_so);
  RUN(what_cannot_be_loaded_is_unavailable);
  RUN(an_unknown_backend_is_told_the_known_ones);
  RUN(a_long_path_is_invalid);
  RUN(files_of_other_kinds_are_unavailable);
  RUN(a_file_without_an_own_entry_is_malformed);
  RUN(an_entry_without_a_table_has_its_own_status);
  RUN(another_abi_is_unsupported_and_named);
  RUN(an_incomplete_table_is_unsupported);
  RUN(a_table_needs_a_proper_name);
  RUN(a_failing_open_keeps_its_own_status);
  RUN(a_failure_is_not_remembered);
  RUN(success_leaves_the_last_error_alone);
  RUN(threads_may_open_at_once);
  RUN(a_forked_child_opens_anew);
  return 0;
}
