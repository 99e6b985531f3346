// Measures sums of floats in three ways and prints a table: kmb.hpp in use.
//
// usage: cpp_bench [BYTES]   the last-level cache to reckon with; as detected
#include <kmb/kmb.hpp>

#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "usage.h"

namespace {

float one_by_one(const float *x, std::size_t n) {
  float sum = 0;
  for (std::size_t i = 0; i < n; i++)
    sum += x[i];
  return sum;
}

float eight_at_a_time(const float *x, std::size_t n) {
  float sums[8] = {};
  for (std::size_t i = 0; i + 8 <= n; i += 8)
    for (std::size_t k = 0; k < 8; k++)
      sums[k] += x[i + k];
  return std::accumulate(sums, sums + 8, 0.0f);
}

float halved(const float *x, std::size_t n) {
  if (n <= 64) return one_by_one(x, n);
  return halved(x, n / 2) + halved(x + n / 2, n - n / 2);
}

using sum = float (*)(const float *, std::size_t);
constexpr std::pair<const char *, sum> ways[] = {
    {"one by one", one_by_one},
    {"eight at a time", eight_at_a_time},
    {"halved", halved}};

kmb::result measure(kmb::device &device, const char *name, sum way,
                    std::size_t n) {
  // Memory is the library's; inputs are cold in every iteration.
  kmb::buffers buffers = kmb::buffers::create(
      device, {kmb::buffer::input("x", KMB_F32, n * sizeof(float)),
               kmb::buffer::output("sum", KMB_F32, sizeof(float))});
  const auto right = [n](kmb::check &given) {
    double exact = 0;
    for (const float x : given.before<float>(0))
      exact += x;
    const double error = std::fabs(exact - given.after<float>(1)[0]);
    given.error(error);
    return error <= given.tolerance() * std::sqrt(double(n));
  };
  return kmb::benchmark("sum")
      .axis("way", name)
      .axis("n", n)
      .on(buffers)
      .work(kmb::work::elementwise(n, 1, 0, 1, KMB_F32))
      .check(right)
      .tolerance(1e-3)
      .run(device, [way, n](const kmb::launch &l) {
        *l.arg<float>(1) = way(l.arg<const float>(0), n);
      });
}

} // namespace

static const char usage[] =
    "usage: cpp_bench [BYTES]\n"
    "BYTES is the last-level cache to reckon with, as detected unless given.\n";

int main(int count, char **arguments) {
  if (int asked = usage_asked(count, arguments, 1, usage); asked >= 0)
    return asked;
  long bytes = 0;
  if (count > 1 && !usage_number(arguments[1], LONG_MAX, &bytes))
    return usage_error(usage, "BYTES is \"%s\", not a whole number from 1 on",
                       arguments[1]);
  try {
    kmb::device_options options;
    options.llc_bytes = std::uint64_t(bytes);
    options.threads = 1;
    kmb::device device = kmb::device::open("host", std::move(options));
    kmb::results all = kmb::results::create();
    for (const auto &[name, way] : ways)
      all.add(measure(device, name, way, std::size_t(1) << 20));
    std::fputs(all.table().c_str(), stdout);
  } catch (const kmb::error &why) {
    std::fprintf(stderr, "%s: %s\n", kmb_status_name(why.status()), why.what());
    return 1;
  }
}
