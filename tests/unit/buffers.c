/* Sets of buffers: refusals that name the buffer, layout, filling, guards. */
#include "require.h"

#include "buffers.h"

#include <kmb/kmb.h>

static kmb_device *device;

static kmb_buffer_desc desc(const char *name, kmb_buffer_role role,
                            uint64_t bytes) {
  kmb_buffer_desc d = kmb_buffer_desc_init();
  d.name = name;
  d.role = role;
  d.dtype = KMB_F32;
  d.bytes = bytes;
  return d;
}

static kmb_status create(const kmb_buffer_desc *d, uint64_t count,
                         const kmb_buffers_params *params, kmb_buffers **set) {
  return kmb_buffers_create(device, d, sizeof *d, count, params, set);
}

static void refused(kmb_buffer_desc d, kmb_status status, const char *why) {
  kmb_buffers *set = (kmb_buffers *)&d;
  REQUIRE_STATUS(create(&d, 1, NULL, &set), status);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), why);
  REQUIRE(set == NULL);
}

static void bad_descriptors_are_named(void) {
  kmb_buffer_desc d = desc("x", 0, 64);
  refused(d, KMB_ERR_INVALID, "\"x\": role");
  d = desc("", KMB_INPUT, 64);
  refused(d, KMB_ERR_INVALID, "name");
  d = desc(NULL, KMB_INPUT, 64);
  refused(d, KMB_ERR_INVALID, "name");
  d = desc("x", KMB_INPUT, 0);
  refused(d, KMB_ERR_INVALID, "bytes is 0");
  d = desc("x", KMB_INPUT, UINT64_MAX);
  refused(d, KMB_ERR_INVALID, "more than any memory");
  d = desc("x", KMB_INPUT, 64);
  d.dtype = 77;
  refused(d, KMB_ERR_INVALID, "dtype 77");
  d = desc("x", KMB_INPUT, 64);
  d.touched_bytes = 65;
  refused(d, KMB_ERR_INVALID, "touched_bytes");
  d = desc("x", KMB_INPUT, 64);
  d.alignment = 48;
  refused(d, KMB_ERR_INVALID, "power of two");
  d = desc("x", KMB_INPUT, 64);
  d.residency = 9;
  refused(d, KMB_ERR_INVALID, "residency");
  d = desc("x", KMB_INPUT, 64);
  d.flags = 1u << 20;
  refused(d, KMB_ERR_UNSUPPORTED, "flags");
  d.struct_size = 4;
  refused(d, KMB_ERR_INVALID, "struct_size");
  d.struct_size = sizeof d + 8; /* beyond the stride */
  refused(d, KMB_ERR_INVALID, "exceeds the stride");
}

static void bad_fills_are_named(void) {
  kmb_buffer_desc d = desc("page table", KMB_INPUT, 64);
  d.dtype = KMB_I32;
  refused(d, KMB_ERR_INVALID, "\"page table\": random i32 needs a range");
  d.flags = KMB_BUFFER_RANGE;
  d.low = 5;
  d.high = 4;
  refused(d, KMB_ERR_INVALID, "range");
  d = desc("x", KMB_INPUT, 66);
  refused(d, KMB_ERR_INVALID, "66 bytes are no whole number of f32");
  d = desc("x", KMB_INPUT, 64);
  d.fill = KMB_FILL_COPY;
  refused(d, KMB_ERR_INVALID, "source");
  d.fill = KMB_FILL_CALLBACK;
  refused(d, KMB_ERR_INVALID, "fill_fn");
  d.fill = KMB_FILL_CALLER;
  refused(d, KMB_ERR_INVALID, "pointers");
  void *none[] = {NULL};
  d.pointers = none;
  d.pointer_count = 1;
  refused(d, KMB_ERR_INVALID, "pointers[0] is NULL");
  d.fill = 99;
  refused(d, KMB_ERR_INVALID, "fill 99");
}

static void bad_aliases_and_calls(void) {
  kmb_buffer_desc d[2] = {desc("base", KMB_INPUT, 64),
                          desc("view", KMB_INPUT, 32)};
  kmb_buffers *set = NULL;
  d[1].flags = KMB_BUFFER_ALIAS;
  d[1].alias_offset = 33;
  REQUIRE_STATUS(create(d, 2, NULL, &set), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "reaches beyond \"base\"");
  d[1].alias_offset = UINT64_MAX;
  REQUIRE_STATUS(create(d, 2, NULL, &set), KMB_ERR_INVALID);
  d[1].alias_offset = 0;
  d[1].alias_of = 1;
  REQUIRE_STATUS(create(d, 2, NULL, &set), KMB_ERR_INVALID);
  d[1].alias_of = 0;
  d[1].fill = KMB_FILL_ZERO;
  REQUIRE_STATUS(create(d, 2, NULL, &set), KMB_ERR_INVALID);
  /* The check poisons outputs: a view that reads would read that. */
  d[1].fill = KMB_FILL_DEFAULT;
  d[0].role = KMB_OUTPUT;
  REQUIRE_STATUS(create(d, 2, NULL, &set), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "reads from the output \"base\"");
  d[0].role = KMB_INPUT;
  REQUIRE_STATUS(create(d, 0, NULL, &set), KMB_ERR_INVALID);
  REQUIRE_STATUS(create(NULL, 1, NULL, &set), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_buffers_create(device, d, 8, 1, NULL, &set),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_buffers_create(device, d, sizeof *d - 8, 1, NULL, &set),
                 KMB_ERR_INVALID);
  REQUIRE_STATUS(create(d, 1, NULL, NULL), KMB_ERR_INVALID);
  kmb_buffers_params params = kmb_buffers_params_init();
  params.reuse_factor = 0.5;
  REQUIRE_STATUS(create(d, 1, &params, &set), KMB_ERR_INVALID);
  params.reuse_factor = 0;
  params.flags = 1;
  REQUIRE_STATUS(create(d, 1, &params, &set), KMB_ERR_UNSUPPORTED);
}

static void two_buffers_whose_sum_overflows(void) {
  kmb_buffer_desc d[3];
  for (int i = 0; i < 3; i++)
    d[i] = desc("big", KMB_INPUT, INT64_MAX / 8 * 4);
  kmb_buffers *set = NULL;
  REQUIRE_STATUS(create(d, 3, NULL, &set), KMB_ERR_INVALID);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "64 bits");
}

static void *at(const kmb_buffers *set, uint32_t slot, uint64_t index) {
  void *pointer = NULL;
  REQUIRE_OK(kmb_buffers_pointer(set, slot, index, &pointer));
  return pointer;
}

static void slots_hold_equal_data_at_different_addresses(void) {
  kmb_buffer_desc d[4] = {
      desc("in", KMB_INPUT, 100), desc("out", KMB_OUTPUT, 7),
      desc("warm", KMB_INPUT, 64), desc("scratch", KMB_SCRATCH, 64)};
  d[0].alignment = 4096;
  d[2].residency = KMB_RESIDENT_WARM;
  kmb_buffers *set = NULL;
  REQUIRE_OK(create(d, 4, NULL, &set));
  REQUIRE_OK(kmb_buffers_prepare(set, 3));
  for (uint32_t s = 0; s < 3; s++) {
    REQUIRE_EQ((uintptr_t)at(set, s, 0) % 4096, 0);
    REQUIRE_EQ(memcmp(at(set, 0, 0), at(set, s, 0), 100), 0);
    REQUIRE_EQ(kmbi_poisoned_bytes(&d[1], at(set, s, 1)), 7);
    REQUIRE(at(set, s, 2) == at(set, 0, 2));
    REQUIRE(at(set, s, 3) == at(set, 0, 3));
  }
  REQUIRE(at(set, 0, 0) != at(set, 1, 0) && at(set, 1, 1) != at(set, 2, 1));
  float *x = at(set, 0, 0);
  for (int i = 0; i < 25; i++)
    REQUIRE(x[i] >= -1 && x[i] <= 1);
  REQUIRE(x[0] != x[1]);
  kmb_buffers_destroy(set);
}

static void aliases_survive_rotation(void) {
  kmb_buffer_desc d[2] = {desc("kv", KMB_INPUT, 4096),
                          desc("values", KMB_INPUT, 1024)};
  d[1].flags = KMB_BUFFER_ALIAS;
  d[1].alias_offset = 2048;
  kmb_buffers *set = NULL;
  REQUIRE_OK(create(d, 2, NULL, &set));
  REQUIRE_OK(kmb_buffers_prepare(set, 2));
  for (uint32_t s = 0; s < 2; s++)
    REQUIRE(at(set, s, 1) == (char *)at(set, s, 0) + 2048);
  kmb_buffers_info info = kmb_buffers_info_init();
  REQUIRE_OK(kmb_buffers_get_info(set, &info));
  REQUIRE_EQ(info.touched_bytes, 4096); /* the view is no second buffer */
  kmb_buffers_destroy(set);
}

static void cold_bytes_are_inputs_or_else_outputs(void) {
  kmb_buffer_desc d[4] = {desc("w", KMB_INPUT, 1000), desc("x", KMB_INPUT, 12),
                          desc("y", KMB_OUTPUT, 100),
                          desc("tmp", KMB_SCRATCH, 5000)};
  d[0].touched_bytes = 400;
  d[1].residency = KMB_RESIDENT_WARM;
  kmb_buffers *set = NULL;
  kmb_buffers_info info = kmb_buffers_info_init();
  REQUIRE_OK(create(d, 4, NULL, &set));
  REQUIRE_OK(kmb_buffers_get_info(set, &info));
  REQUIRE_EQ(info.cold_bytes, 400);
  REQUIRE_EQ(info.touched_bytes, 512);
  REQUIRE_EQ(info.slots, 0);
  REQUIRE_OK(kmb_buffers_prepare(set, 3));
  REQUIRE_OK(kmb_buffers_get_info(set, &info));
  REQUIRE_EQ(info.reuse_bytes, 800);
  kmb_buffers_destroy(set);
  REQUIRE_OK(create(d + 2, 2, NULL, &set));
  REQUIRE_OK(kmb_buffers_get_info(set, &info));
  REQUIRE_EQ(info.cold_bytes, 100);
  kmb_buffers_destroy(set);
}

static void callers_pointers_limit_the_slots(void) {
  char a[64], b[64];
  void *pointers[] = {a, b};
  kmb_buffer_desc d[2] = {desc("mine", KMB_INPUT, 64),
                          desc("ours", KMB_OUTPUT, 64)};
  d[0].fill = KMB_FILL_CALLER;
  d[0].pointers = pointers;
  d[0].pointer_count = 2;
  kmb_buffers *set = NULL;
  REQUIRE_OK(create(d, 2, NULL, &set));
  pointers[0] = NULL; /* copied */
  kmb_buffers_info info = kmb_buffers_info_init();
  REQUIRE_OK(kmb_buffers_get_info(set, &info));
  REQUIRE_EQ(info.slots_limit, 2);
  REQUIRE_STATUS(kmb_buffers_prepare(set, 3), KMB_ERR_INVALID);
  REQUIRE_OK(kmb_buffers_prepare(set, 2));
  REQUIRE(at(set, 0, 0) == a && at(set, 1, 0) == b);
  kmb_buffers_destroy(set);
}

static kmb_status fill_with_slot(void *user, void *data, uint64_t bytes,
                                 uint32_t slot) {
  if (slot == *(uint32_t *)user) return 42;
  memset(data, (int)slot + 1, bytes);
  return KMB_OK;
}

static void copy_zero_and_callback_fills(void) {
  uint32_t failing = 99;
  const char source[16] = "sixteen bytes..";
  kmb_buffer_desc d[3] = {desc("c", KMB_INPUT, 16), desc("z", KMB_INPUT, 16),
                          desc("f", KMB_INPUT, 16)};
  d[0].fill = KMB_FILL_COPY;
  d[0].source = source;
  d[1].fill = KMB_FILL_ZERO;
  d[2].fill = KMB_FILL_CALLBACK;
  d[2].fill_fn = fill_with_slot;
  d[2].fill_user = &failing;
  kmb_buffers *set = NULL;
  REQUIRE_OK(create(d, 3, NULL, &set));
  REQUIRE_OK(kmb_buffers_prepare(set, 2));
  static const char zeros[16];
  REQUIRE_EQ(memcmp(at(set, 1, 0), source, 16), 0);
  REQUIRE_EQ(memcmp(at(set, 1, 1), zeros, 16), 0);
  REQUIRE_EQ(*(char *)at(set, 1, 2), 2);
  /* A callback that fails ends the call with its value; what existed stays. */
  failing = 2;
  REQUIRE_EQ(kmb_buffers_prepare(set, 4), 42);
  kmb_buffers_info info = kmb_buffers_info_init();
  REQUIRE_OK(kmb_buffers_get_info(set, &info));
  REQUIRE_EQ(info.slots, 2);
  failing = 99;
  REQUIRE_OK(kmb_buffers_prepare(set, 4));
  REQUIRE_EQ(*(char *)at(set, 3, 2), 4);
  kmb_buffers_destroy(set);
}

static void guards_catch_writes_on_both_sides(void) {
  kmb_buffer_desc d = desc("y", KMB_OUTPUT, 100);
  kmb_buffers *set = NULL;
  REQUIRE_OK(create(&d, 1, NULL, &set));
  REQUIRE_OK(kmb_buffers_prepare(set, 2));
  REQUIRE_OK(kmbi_buffers_guards(set, 2));
  char *y = at(set, 1, 0);
  char kept = y[100];
  y[100] ^= 1;
  REQUIRE_STATUS(kmbi_buffers_guards(set, 2), KMB_ERR_INCORRECT);
  REQUIRE_HAS(kmb_last_error(NULL, NULL),
              "\"y\" of slot 1 was written outside its bounds, at byte 100");
  REQUIRE_OK(kmbi_buffers_guards(set, 1));
  y[100] = kept;
  y[-1] ^= 1;
  REQUIRE_STATUS(kmbi_buffers_guards(set, 2), KMB_ERR_INCORRECT);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "at byte -1");
  kmb_buffers_destroy(set);
}

static void poison_is_recognised_to_the_byte(void) {
  unsigned char data[20];
  kmb_buffer_desc d = desc("y", KMB_OUTPUT, sizeof data);
  kmb_buffers *set = NULL;
  REQUIRE_OK(create(&d, 1, NULL, &set));
  REQUIRE_OK(kmb_buffers_prepare(set, 1));
  memcpy(data, at(set, 0, 0), sizeof data);
  REQUIRE_EQ(kmbi_poisoned_bytes(&d, data), sizeof data);
  data[0] ^= 1;
  REQUIRE_EQ(kmbi_poisoned_bytes(&d, data), 12);
  data[19] ^= 1;
  REQUIRE_EQ(kmbi_poisoned_bytes(&d, data), 8);
  float as_float = 0;
  memcpy(&as_float, at(set, 0, 0), sizeof as_float);
  REQUIRE(as_float != as_float);
  kmb_buffers_destroy(set);
}

/* In bytes the pattern is a value like any other: only several in a row show
 * that nobody wrote them. Larger elements speak for themselves. */
static void one_byte_that_equals_the_poison_is_no_sign(void) {
  const unsigned char last[9] = {1, 2, 3, 4, 5, 6, 7, 8, 0xf3};
  const unsigned char half[10] = {1, 2, 3, 4, 5, 6, 7, 8, 0xf3, 0xff};
  const unsigned char four[12] = {1, 2, 3,    4,    5,    6,
                                  7, 8, 0xf3, 0xff, 0xf5, 0xff};
  kmb_buffer_desc d = desc("y", KMB_OUTPUT, 9);
  d.dtype = KMB_U8;
  REQUIRE_EQ(kmbi_poisoned_bytes(&d, last), 0);
  d.bytes = 10;
  REQUIRE_EQ(kmbi_poisoned_bytes(&d, half), 0);
  d.dtype = KMB_F16;
  REQUIRE_EQ(kmbi_poisoned_bytes(&d, half), 2);
  d.dtype = KMB_U8;
  d.bytes = 12;
  REQUIRE_EQ(kmbi_poisoned_bytes(&d, four), 4);
  d.bytes = 1;
  REQUIRE_EQ(kmbi_poisoned_bytes(&d, last + 8), 0);
  kmb_buffers *set = NULL;
  for (uint64_t bytes = 1; bytes <= 4; bytes++) {
    d.bytes = bytes;
    REQUIRE_OK(create(&d, 1, NULL, &set));
    REQUIRE_EQ(kmbi_buffers_poisonable(set, 0), bytes == 4);
    kmb_buffers_destroy(set);
  }
}

static void callers_warm_memory_may_be_one_or_one_a_slot(void) {
  char a[64], b[64];
  void *pointers[] = {a, b};
  kmb_buffer_desc d[2] = {desc("x", KMB_INPUT, 64), desc("w", KMB_INPUT, 64)};
  d[1].residency = KMB_RESIDENT_WARM;
  d[1].fill = KMB_FILL_CALLER;
  d[1].pointers = pointers;
  d[1].pointer_count = 2;
  kmb_buffers *set = NULL;
  REQUIRE_OK(create(d, 2, NULL, &set));
  REQUIRE_OK(kmb_buffers_prepare(set, 3));
  REQUIRE(at(set, 0, 1) == a && at(set, 1, 1) == b && at(set, 2, 1) == a);
  kmb_buffers_destroy(set);
}

static void the_budget_is_kept_and_named(void) {
  kmb_device_params params = kmb_device_params_init();
  params.memory_budget = 1 << 20;
  kmb_device *small = NULL;
  REQUIRE_OK(kmb_device_open("host", &params, &small));
  kmb_buffer_desc d = desc("x", KMB_INPUT, 300000);
  kmb_buffers *set = NULL;
  REQUIRE_OK(kmb_buffers_create(small, &d, sizeof d, 1, NULL, &set));
  REQUIRE_STATUS(kmb_buffers_prepare(set, 4), KMB_ERR_NOMEM);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "memory_budget");
  REQUIRE_OK(kmb_buffers_prepare(set, 3));
  REQUIRE_STATUS(kmb_buffers_prepare(set, 4), KMB_ERR_NOMEM);
  kmb_buffers_destroy(set);
  kmb_device_close(small);
}

/* Slots of every set and the sweep share the one budget of their device. */
static void the_budget_is_one_for_all_sets_of_a_device(void) {
  kmb_device_params params = kmb_device_params_init();
  params.memory_budget = 1 << 20;
  kmb_device *small = NULL;
  REQUIRE_OK(kmb_device_open("host", &params, &small));
  kmb_buffer_desc d = desc("x", KMB_INPUT, 300000);
  kmb_buffers *a = NULL, *b = NULL;
  REQUIRE_OK(kmb_buffers_create(small, &d, sizeof d, 1, NULL, &a));
  REQUIRE_OK(kmb_buffers_create(small, &d, sizeof d, 1, NULL, &b));
  REQUIRE_OK(kmb_buffers_prepare(a, 2));
  REQUIRE_STATUS(kmb_buffers_prepare(b, 2), KMB_ERR_NOMEM);
  REQUIRE_OK(kmb_buffers_prepare(b, 1));
  kmb_buffers_destroy(a);
  REQUIRE_OK(kmb_buffers_prepare(b, 3));
  kmb_buffers_destroy(b);
  kmb_device_close(small);
}

int main(void) {
  REQUIRE_OK(kmb_device_open("host", NULL, &device));
  RUN(bad_descriptors_are_named);
  RUN(bad_fills_are_named);
  RUN(bad_aliases_and_calls);
  RUN(two_buffers_whose_sum_overflows);
  RUN(slots_hold_equal_data_at_different_addresses);
  RUN(aliases_survive_rotation);
  RUN(cold_bytes_are_inputs_or_else_outputs);
  RUN(callers_pointers_limit_the_slots);
  RUN(copy_zero_and_callback_fills);
  RUN(guards_catch_writes_on_both_sides);
  RUN(poison_is_recognised_to_the_byte);
  RUN(one_byte_that_equals_the_poison_is_no_sign);
  RUN(callers_warm_memory_may_be_one_or_one_a_slot);
  RUN(the_budget_is_kept_and_named);
  RUN(the_budget_is_one_for_all_sets_of_a_device);
  kmb_device_close(device);
  return 0;
}
