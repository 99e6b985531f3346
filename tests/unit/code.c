/* The identity of code: SHA-256 on the standard's own examples. */
#include <kmb/code.h>

#include "require.h"

static void hash_is(const void *data, uint64_t size, const char *want) {
  char text[KMB_CODE_HASH_SIZE];
  REQUIRE_OK(kmb_code_hash(data, size, text));
  REQUIRE_STR(text, want);
}

static void the_standards_examples(void) {
  static char million[1000000];
  hash_is(NULL, 0,
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  hash_is("abc", 3,
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  hash_is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  memset(million, 'a', sizeof million);
  hash_is(million, sizeof million,
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Where the length still fits into the last block, and where it no longer
 * does: values of Python's hashlib. */
static void lengths_around_a_block(void) {
  static const struct {
    uint64_t size;
    const char *hash;
  } known[] = {
      {55, "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"},
      {56, "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e"},
      {63, "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2"},
      {64, "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"},
      {65, "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9"},
      {119, "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c"},
      {120, "13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98"},
      {128, "24da1b81d0b16df6428eee73c69fcb2a93c76bc6df706f0c6670fe6bfe800464"},
  };
  char x[200];
  memset(x, 'x', sizeof x);
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    hash_is(x, known[i].size, known[i].hash);
}

static void nothing_is_refused(void) {
  char text[KMB_CODE_HASH_SIZE];
  REQUIRE_STATUS(kmb_code_hash("", 0, NULL), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_code_hash(NULL, 1, text), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "image is NULL");
}

int main(void) {
  the_standards_examples();
  lengths_around_a_block();
  nothing_is_refused();
  return 0;
}
