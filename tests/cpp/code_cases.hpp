/* Captured code in C++, with and without exceptions, on a virtual device that
 * says it has some. */
#ifndef KMB_TESTS_CPP_CODE_CASES_HPP
#define KMB_TESTS_CPP_CODE_CASES_HPP

#include "front.hpp"

#include <cstdio>
#include <unistd.h>

namespace code {

static const char *plugin;

namespace {

void kernels_have_images() {
  kmb::device device = must(kmb::device::open(plugin));
  int calls = 0;
  const kmb::code one = must(kmb::code::capture(device, [&] { calls++; }));
  REQUIRE_EQ(calls, 1);
  REQUIRE(one);
  REQUIRE_EQ(must(one.info()).images, 1);
  const std::vector<kmb_code_kernel> kernels = one.kernels();
  REQUIRE_EQ(kernels.size(), 1);
  REQUIRE_STR(kernels[0].name, "_Z3simv");
  REQUIRE(!kernels[0].flags);
  const auto image = one.image(0);
  char hash[KMB_CODE_HASH_SIZE];
  REQUIRE_STATUS(kmb_code_hash(image.data(), image.size(), hash), KMB_OK);
  REQUIRE_STR(kernels[0].hash, hash);
  REQUIRE(one.image(1).empty());
}

void a_result_lists_it() {
  kmb::device device = must(kmb::device::open(plugin));
  const std::vector<double> ns = {1, 2, 3};
  kmb::result with;
  {
    const kmb::code captured = must(kmb::code::capture(device, [] {}));
    with = must(quick("with").with_code(captured).from_samples(device, ns));
  }
  REQUIRE_EQ(with.code().size(), 1);
  REQUIRE_STR(with.code()[0].arch, "sim_1");
  REQUIRE_STR(with.code()[0].file, "_Z3simv.cubin");
  const kmb::result without = must(quick("without").from_samples(device, ns));
  REQUIRE(without.code().empty() && kmb::result().code().empty());
}

void images_are_saved() {
  kmb::device device = must(kmb::device::open(plugin));
  const kmb::code captured = must(kmb::code::capture(device, [] {}));
  char folder[] = "/tmp/kmb-cpp-code-XXXXXX";
  REQUIRE(mkdtemp(folder));
  const std::string inside = std::string(folder) + "/result.d";
  MUST(captured.save(inside));
  const std::string file = inside + "/_Z3simv.cubin";
  REQUIRE_EQ(std::remove(file.c_str()) + rmdir(inside.c_str()) + rmdir(folder),
             0);
  REQUIRE_EQ(status_of([&] { return captured.save("/nowhere/x"); }),
             KMB_ERR_IO);
}

void what_the_work_returns_comes_back() {
  kmb::device device = must(kmb::device::open(plugin));
  REQUIRE_EQ(status_of([&] {
               return kmb::code::capture(
                   device, []() -> kmb_status { return KMB_ERR_STALE; });
             }),
             KMB_ERR_STALE);
  REQUIRE_EQ(status_of([] {
               kmb::device here = host();
               return kmb::code::capture(here, [] {});
             }),
             KMB_ERR_UNSUPPORTED);
  const kmb::code none;
  REQUIRE(!none && none.kernels().empty() && none.image(0).empty());
  REQUIRE_EQ(status_of([&] { return none.info(); }), KMB_ERR_INVALID);
  REQUIRE_EQ(status_of([&] { return none.save("x"); }), KMB_ERR_INVALID);
}

#ifndef KMB_NO_EXCEPTIONS
void what_the_work_throws_comes_out() {
  kmb::device device = kmb::device::open(plugin);
  int caught = 0;
  try {
    static_cast<void>(kmb::code::capture(device, [] { throw 7; }));
  } catch (int number) {
    caught = number;
  }
  REQUIRE_EQ(caught, 7);
  REQUIRE_EQ(kmb::code::capture(device, [] {}).kernels().size(), 1);
}
#endif

} // namespace

static void all(const char *path) {
  plugin = path;
  RUN(kernels_have_images);
  RUN(a_result_lists_it);
  RUN(images_are_saved);
  RUN(what_the_work_returns_comes_back);
#ifndef KMB_NO_EXCEPTIONS
  RUN(what_the_work_throws_comes_out);
#endif
}

} // namespace code

#endif
