/* Several ranks and hardware counters in C++, with and without exceptions. */
#ifndef KMB_TESTS_CPP_RANKS_CASES_HPP
#define KMB_TESTS_CPP_RANKS_CASES_HPP

#include "front.hpp"

#include <thread>

namespace ranks {

namespace {

/* What one of two threads has to say. */
void one_of_two(const kmb::communicator &mine, std::vector<double> *samples) {
  kmb::device device = host();
  REQUIRE((must(mine.allgather(10 + mine.rank())) == std::vector<int>{10, 11}));
  const kmb::result result = must(quick("both").ranks(mine).run(device, [] {}));
  REQUIRE(result.get<KMB_VALUE_WORLD_SIZE>() == 2u);
  REQUIRE(result.get<KMB_VALUE_RANK>() ==
          static_cast<std::uint64_t>(mine.rank()));
  REQUIRE_EQ(result.ranks().size(), 2);
  REQUIRE(result.ranks()[1].median_ns > 0);
  samples->assign(result.samples().begin(), result.samples().end());
}

void threads_measure_together() {
  const std::vector<kmb::communicator> all =
      must(kmb::communicator::threads(2));
  REQUIRE(all.size() == 2 && all[0] && all[1].rank() == 1);
  REQUIRE_EQ(all[1].size(), 2);
  std::vector<double> mine, others;
  std::thread other([&] { one_of_two(all[1], &others); });
  one_of_two(all[0], &mine);
  other.join();
  REQUIRE_EQ(mine.size(), 20);
  REQUIRE(mine == others);
}

void what_cannot_be_joined_says_so() {
  for (const std::int32_t size : {-1, 0, 4097})
    REQUIRE_EQ(status_of([&] { return kmb::communicator::threads(size); }),
               KMB_ERR_INVALID);
  REQUIRE_EQ(
      status_of([] { return kmb::communicator::of(kmb_comm_ops_init()); }),
      KMB_ERR_INVALID);
  REQUIRE_EQ(status_of([] { return kmb::communicator::shm("no slash", 0, 1); }),
             KMB_ERR_INVALID);
  const kmb::communicator none;
  REQUIRE(!none && none.rank() == -1 && none.size() == 0);
  REQUIRE_EQ(status_of([&] { return none.allgather(1); }), KMB_ERR_INVALID);
}

/* A communicator of one rank: the exchange is a copy. */
kmb_status start(void *, const void *send, void *receive, std::size_t size,
                 void **request) {
  std::memcpy(receive, send, size);
  *request = receive;
  return KMB_OK;
}
kmb_status test(void *, void *, std::int32_t *done) {
  *done = 1;
  return KMB_OK;
}
void release(void *, void *) {}
void closed(void *ctx) {
  ++*static_cast<int *>(ctx);
}

void functions_of_one_s_own_are_closed_once() {
  int closings = 0;
  kmb_comm_ops ops = kmb_comm_ops_init();
  ops.ctx = &closings;
  ops.start = start;
  ops.test = test;
  ops.release = release;
  ops.close = closed;
  ops.size = 1;
  {
    kmb::communicator alone = must(kmb::communicator::of(ops));
    const kmb::communicator moved = std::move(alone);
    REQUIRE(must(moved.allgather('x')) == std::vector<char>{'x'});
    kmb::device device = host();
    const kmb::result r = must(quick("one").ranks(moved).run(device, [] {}));
    REQUIRE(r.get<KMB_VALUE_WORLD_SIZE>() == 1u);
    REQUIRE_EQ(closings, 0);
  }
  REQUIRE_EQ(closings, 1);
}

void the_host_has_no_counters() {
  kmb::device device = host();
  REQUIRE_EQ(status_of([&] {
               return kmb::counters::of(device, quick("none"), [] {});
             }),
             KMB_ERR_UNSUPPORTED);
  const std::vector<void *> graphs = {&device};
  REQUIRE_EQ(status_of([&] {
               return kmb::counters::of_graphs(device, quick("none"), graphs);
             }),
             KMB_ERR_UNSUPPORTED);
  for (const bool all : {false, true}) {
    kmb::benchmark one = quick("confirmed");
    const kmb::result r = must(
        (all ? one.with_counters() : one.confirm_cold()).run(device, [] {}));
    REQUIRE(!r.get<KMB_VALUE_COUNTER_PASSES>());
    HAS(r.why<KMB_VALUE_COUNTER_PASSES>(), "host");
    if (all) HAS(r.why<KMB_VALUE_NCU_COMPUTE>(), "host");
  }
  const kmb::counters empty;
  REQUIRE(!empty && empty.size() == 0 && empty.name(0).empty());
  REQUIRE(!empty.value(0, KMB_COUNTERS_SOL_L2_HIT));
  HAS(empty.why(0, 0), "NULL");
  REQUIRE_EQ(status_of([&] { return empty.info(); }), KMB_ERR_INVALID);
}

} // namespace

static void all() {
  RUN(threads_measure_together);
  RUN(what_cannot_be_joined_says_so);
  RUN(functions_of_one_s_own_are_closed_once);
  RUN(the_host_has_no_counters);
}

} // namespace ranks

#endif
