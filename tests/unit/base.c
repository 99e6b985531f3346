/* Status names, the last error, and the reconciling of struct sizes. */
#include "require.h"

#include "error.h"
#include "structs.h"

#include <pthread.h>

static void versions_agree(void) {
  REQUIRE_STR(kmb_version(), KMB_VERSION);
  REQUIRE_EQ(kmb_abi_major(), KMB_ABI_MAJOR);
}

static void every_status_has_a_name_and_a_text(void) {
#define CHECK(name, value, text)              \
  REQUIRE_STR(kmb_status_name(value), #name); \
  REQUIRE_STR(kmb_status_text(KMB_##name), text);
  KMB_STATUS_MAP(CHECK)
#undef CHECK
  REQUIRE_STR(kmb_status_name(7), "CALLBACK");
  REQUIRE_STR(kmb_status_name(-999), "UNKNOWN");
}

static void dtype_bits_and_names(void) {
  uint32_t bits = 0;
  REQUIRE_OK(kmb_dtype_bits(KMB_BF16, &bits));
  REQUIRE_EQ(bits, 16);
  REQUIRE_STR(kmb_dtype_name(KMB_F8_E4M3), "f8_e4m3");
  REQUIRE_STR(kmb_dtype_name(0), "unknown");
  REQUIRE_STATUS(kmb_dtype_bits(0, &bits), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_dtype_bits(KMB_F32, NULL), KMB_ERR_INVALID);
}

static void a_long_message_is_cut_at_a_character(void) {
  char text[400];
  for (size_t i = 0; i + 2 < sizeof text; i += 2)
    memcpy(text + i, "é", 2);
  text[398] = '\0';
  kmbi_fail(KMB_ERR_IO, "x%s", text);
  const char *message = kmb_last_error(NULL, NULL);
  REQUIRE(strlen(message) <= 255);
  REQUIRE_EQ(strlen(message) % 2, 1); /* x, then whole two-byte characters */
}

/* Its own words stay, another failure's are replaced, however alike it is. */
static void what_a_callback_says_of_itself_is_kept(void) {
  kmbi_error_state before;
  kmbi_fail(KMB_ERR_IO, "older");
  kmbi_error_save(&before);
  REQUIRE_EQ(kmbi_call_failed(&before, "launch", KMB_ERR_IO, 3), KMB_ERR_IO);
  REQUIRE_STR(kmb_last_error(NULL, NULL),
              "the launch callback returned -14 (ERR_IO) at iteration 3");
  kmbi_error_save(&before);
  kmbi_fail(KMB_ERR_IO, "%s", before.message);
  REQUIRE_EQ(kmbi_call_failed(&before, "reset", KMB_ERR_IO, 4), KMB_ERR_IO);
  REQUIRE_STR(kmb_last_error(NULL, NULL), before.message);
  REQUIRE_EQ(kmbi_call_failed(&before, "reset", 7, 5), 7);
  REQUIRE_STR(kmb_last_error(NULL, NULL),
              "the reset callback returned 7 (CALLBACK) at iteration 5");
  kmbi_error_restore(&before);
  REQUIRE(!kmbi_failed_since(&before));
}

static void *fail_elsewhere(void *unused) {
  (void)unused;
  REQUIRE_STR(kmb_last_error(NULL, NULL), "");
  kmbi_fail(KMB_ERR_PERM, "there");
  return NULL;
}

static void each_thread_has_its_own_error(void) {
  kmbi_fail(KMB_ERR_BUSY, "here %d", 3);
  pthread_t thread;
  REQUIRE_EQ(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
  pthread_join(thread, NULL);
  kmb_status status = KMB_OK;
  int64_t vendor = 1;
  REQUIRE_STR(kmb_last_error(&status, &vendor), "here 3");
  REQUIRE_EQ(status, KMB_ERR_BUSY);
  REQUIRE_EQ(vendor, 0);
}

typedef struct old_params {
  size_t struct_size;
  uint64_t a;
} old_params;

typedef struct new_params {
  size_t struct_size;
  uint64_t a, b;
} new_params;

static void an_older_caller_gets_zeroes(void) {
  old_params caller = {sizeof caller, 5};
  new_params mine = {1, 2, 3};
  REQUIRE_OK(kmbi_copy_in(&mine, sizeof mine, sizeof caller, &caller, "p"));
  REQUIRE_EQ(mine.struct_size, sizeof mine);
  REQUIRE_EQ(mine.a, 5);
  REQUIRE_EQ(mine.b, 0);
}

static void a_newer_caller_may_not_ask_for_more(void) {
  new_params caller = {sizeof caller, 5, 0};
  old_params mine;
  REQUIRE_OK(kmbi_copy_in(&mine, sizeof mine, sizeof mine, &caller, "p"));
  caller.b = 1ULL << 56;
  REQUIRE_STATUS(kmbi_copy_in(&mine, sizeof mine, sizeof mine, &caller, "p"),
                 KMB_ERR_UNSUPPORTED);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "byte 23");
}

static void outputs_stay_within_the_callers_size(void) {
  new_params caller = {sizeof(old_params), 1, 77};
  new_params mine = {sizeof mine, 5, 6};
  REQUIRE_OK(
      kmbi_copy_out(&caller, &mine, sizeof mine, sizeof(old_params), "p"));
  REQUIRE_EQ(caller.struct_size, sizeof(old_params));
  REQUIRE_EQ(caller.a, 5);
  REQUIRE_EQ(caller.b, 77);
  caller.struct_size = 8;
  REQUIRE_STATUS(
      kmbi_copy_out(&caller, &mine, sizeof mine, sizeof(old_params), "p"),
      KMB_ERR_INVALID);
  REQUIRE_STATUS(kmbi_copy_out(NULL, &mine, sizeof mine, 16, "p"),
                 KMB_ERR_INVALID);
}

/* A struct that nobody initialised: its size must not be read up to. */
static void a_size_beyond_every_version_is_garbage(void) {
  old_params caller = {SIZE_MAX / 2, 5};
  new_params mine = {sizeof mine, 5, 6};
  REQUIRE_STATUS(kmbi_copy_in(&mine, sizeof mine, 16, &caller, "p"),
                 KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "_init()");
  REQUIRE_STATUS(kmbi_copy_out(&caller, &mine, sizeof mine, 16, "p"),
                 KMB_ERR_INVALID);
  REQUIRE_EQ(caller.a, 5);
}

int main(void) {
  RUN(versions_agree);
  RUN(every_status_has_a_name_and_a_text);
  RUN(dtype_bits_and_names);
  RUN(what_a_callback_says_of_itself_is_kept);
  RUN(each_thread_has_its_own_error);
  RUN(a_long_message_is_cut_at_a_character);
  RUN(an_older_caller_gets_zeroes);
  RUN(a_newer_caller_may_not_ask_for_more);
  RUN(outputs_stay_within_the_callers_size);
  RUN(a_size_beyond_every_version_is_garbage);
  return 0;
}
