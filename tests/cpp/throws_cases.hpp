/* Exceptions out of callbacks: they come back to the caller as they are, and
 * the device works afterwards. Linked with a part that was compiled to return
 * errors instead. */
#ifndef KMB_TESTS_CPP_THROWS_CASES_HPP
#define KMB_TESTS_CPP_THROWS_CASES_HPP

#include "front.hpp"

#include <thread>

kmb_status opens_without_exceptions(const char *name);

namespace throws {

namespace {

struct mine {
  int number;
};

/* Whether `call` throws mine{number}. */
template <class F> bool thrown(int number, F &&call) {
  try {
    static_cast<void>(call());
  } catch (const mine &caught) {
    return caught.number == number;
  }
  return false;
}

void works(kmb::device &device) {
  REQUIRE(quick("next").run(device, [] {}).samples().size() == 20);
}

void out_of_a_launch() {
  kmb::device device = host();
  int calls = 0;
  REQUIRE(thrown(1, [&] {
    return quick("launch").run(device, [&] {
      if (++calls == 7) throw mine{1};
    });
  }));
  REQUIRE_EQ(calls, 7);
  works(device);
}

void out_of_setup_and_reset_and_check() {
  kmb::device device = host();
  kmb::buffers set =
      kmb::buffers::create(device, {kmb::buffer::output("y", KMB_F32, 64)});
  const auto write = [](const kmb::launch &l) {
    for (int i = 0; i < 16; i++)
      l.arg<float>(0)[i] = 1;
  };
  REQUIRE(thrown(2, [&] {
    return quick("setup")
        .on(set)
        .setup([](std::uint32_t, std::uint32_t) { throw mine{2}; })
        .run(device, write);
  }));
  REQUIRE(thrown(3, [&] {
    return quick("reset")
        .on(set)
        .reset([](std::uint32_t, void *) { throw mine{3}; })
        .run(device, write);
  }));
  REQUIRE(thrown(4, [&] {
    return quick("check")
        .on(set)
        .check([](kmb::check &) -> bool { throw mine{4}; })
        .run(device, write);
  }));
  works(device);
}

void out_of_a_fill() {
  kmb::device device = host();
  bool bad = true;
  kmb::buffers set = kmb::buffers::create(
      device, {kmb::buffer::input("x", KMB_F32, 64)
                   .filled_by([&](void *, std::uint64_t, std::uint32_t) {
                     if (bad) throw mine{5};
                   })});
  REQUIRE(thrown(5, [&] {
    set.prepare(1);
    return 0;
  }));
  REQUIRE(thrown(5, [&] { return quick("fill").on(set).run(device, [] {}); }));
  bad = false;
  set.prepare(1);
  works(device);
}

void out_of_a_hook_ends_the_call() {
  kmb::device_options options;
  bool bad = true;
  options.progress = [&](const kmb_progress &) {
    if (bad) throw mine{6};
  };
  kmb::device device = host(std::move(options));
  unsigned calls = 0;
  REQUIRE(thrown(6, [&] {
    kmb::benchmark one("hook");
    one.params().max_wall_ns = 600e9;
    one.params().min_wall_ns = 600e9;
    return one.run(device, [&] { calls++; });
  }));
  bad = false;
  works(device); /* what the hook's exception cancelled is taken back */
}

void a_hook_s_exception_leaves_the_caller_s_cancel() {
  kmb::device_options options;
  bool bad = true;
  kmb::device *self = nullptr;
  options.progress = [&](const kmb_progress &) {
    if (std::exchange(bad, false)) {
      self->cancel();
      throw mine{7};
    }
  };
  kmb::device device = host(std::move(options));
  self = &device;
  REQUIRE(thrown(7, [&] { return quick("hook").run(device, [] {}); }));
  REQUIRE_EQ(status_of([&] { return quick("no").run(device, [] {}); }),
             KMB_ERR_CANCELLED);
}

void while_a_handle_is_freed_it_is_dropped() {
  kmb::device_options options;
  options.log = [](kmb_log_level, std::string_view) { throw mine{8}; };
  kmb::device device = host(std::move(options));
  kmb::buffers set =
      kmb::buffers::create(device, {kmb::buffer::output("y", KMB_F32, 64)});
  device = kmb::device(); /* too early, which is logged */
}

void out_of_a_comparison() {
  kmb::device device = host();
  unsigned calls = 0, last = 0;
  const auto first_throws = [&](const kmb::launch &l) {
    last = l.config();
    if (++calls == 3) throw mine{10};
  };
  REQUIRE(thrown(10, [&] {
    return kmb::compare(device,
                        {{quick("bad"), first_throws}, {quick("good"), [] {}}});
  }));
  REQUIRE_EQ(calls, 3);
  calls = 0;
  REQUIRE(thrown(10, [&] {
    return kmb::compare(device, {kmb::candidate(quick("tuned"), first_throws)
                                     .tune(kmb::knobs{{"k", {"a", "b", "c"}}}),
                                 {quick("good"), [] {}}});
  }));
  REQUIRE_EQ(calls, 3); /* no other configuration is tried */
  REQUIRE_EQ(last, 0);
  works(device);
}

void out_of_one_rank_of_two() {
  const std::vector<kmb::communicator> all = kmb::communicator::threads(2);
  std::thread other([&] {
    kmb::device device = host();
    REQUIRE(thrown(11, [&] {
      return quick("ranks").ranks(all[1]).run(device, [] { throw mine{11}; });
    }));
  });
  kmb::device device = host();
  try {
    static_cast<void>(quick("ranks").ranks(all[0]).run(device, [] {}));
    REQUIRE(false);
  } catch (const kmb::error &why) {
    REQUIRE(why.status() > 0);
    REQUIRE_HAS(why.what(), "rank 1 failed");
  }
  other.join();
}

void calls_within_callbacks_have_their_own() {
  kmb::device device = host();
  int busy = 0;
  quick("inner").run(device, [&] {
    try {
      quick("nested").run(device, [] {});
    } catch (const kmb::error &why) {
      busy += why.status() == KMB_ERR_BUSY;
    }
  });
  REQUIRE(busy >= 20);
  REQUIRE_EQ(status_of([&] {
               return quick("out").run(
                   device, [&] { quick("nested").run(device, [] {}); });
             }),
             KMB_ERR_BUSY);
  kmb::device other = host();
  REQUIRE(thrown(9, [&] {
    return quick("outer").run(device, [&] {
      quick("nested").run(other, [] {});
      throw mine{9};
    });
  }));
  works(device);
  works(other);
}

void an_error_can_be_thrown_through() {
  kmb::device device = host();
  try {
    quick("rethrown").run(device, [] { throw kmb::error(KMB_ERR_PERM); });
    REQUIRE(false);
  } catch (const kmb::error &why) {
    REQUIRE_EQ(why.status(), KMB_ERR_PERM);
  }
}

void both_kinds_of_units_link_together() {
  REQUIRE_EQ(opens_without_exceptions("host"), KMB_OK);
  REQUIRE_EQ(opens_without_exceptions("no_such"), KMB_ERR_UNSUPPORTED);
  REQUIRE_EQ(status_of([] { return kmb::device::open("no_such"); }),
             KMB_ERR_UNSUPPORTED);
}

} // namespace

static void all() {
  RUN(out_of_a_launch);
  RUN(out_of_setup_and_reset_and_check);
  RUN(out_of_a_fill);
  RUN(out_of_a_hook_ends_the_call);
  RUN(a_hook_s_exception_leaves_the_caller_s_cancel);
  RUN(while_a_handle_is_freed_it_is_dropped);
  RUN(out_of_a_comparison);
  RUN(out_of_one_rank_of_two);
  RUN(calls_within_callbacks_have_their_own);
  RUN(an_error_can_be_thrown_through);
  RUN(both_kinds_of_units_link_together);
}

} // namespace throws

#endif
