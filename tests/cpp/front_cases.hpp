/* kmb.hpp on the host backend, with and without exceptions. */
#ifndef KMB_TESTS_CPP_FRONT_CASES_HPP
#define KMB_TESTS_CPP_FRONT_CASES_HPP

#include "front.hpp"

#include <array>
#include <numeric>

#if __cplusplus >= 202002L
#include <span>
#endif

namespace front {

static std::string traces;

static void a_device_says_what_it_is() {
  kmb::device device = host();
  REQUIRE(device.get<KMB_DEVICE_BACKEND>() == "host");
  REQUIRE(device.get<KMB_DEVICE_LLC_BYTES>() == 65536u);
  REQUIRE(*device.get<KMB_DEVICE_CLOCK_TICK_NS>() > 0);
  REQUIRE(!device.get<KMB_DEVICE_UUID>());
  kmb::device moved = std::move(device);
  REQUIRE(moved && !device);
  device = std::move(moved);
  REQUIRE(device && device.get<KMB_DEVICE_BACKEND>() == "host");
}

static void a_failed_open_says_why() {
#ifdef KMB_NO_EXCEPTIONS
  auto got = kmb::device::open("nothing_of_this_name");
  REQUIRE(!got);
  const kmb::error why = got.why();
#else
  kmb::error why(KMB_OK);
  try {
    kmb::device::open("nothing_of_this_name");
  } catch (const kmb::error &caught) {
    why = caught;
  }
#endif
  REQUIRE_STATUS(why.status(), KMB_ERR_UNSUPPORTED);
  REQUIRE_HAS(why.what(), "nothing_of_this_name");
  REQUIRE_EQ(why.vendor(), 0);
}

static void an_error_keeps_no_older_message() {
  REQUIRE(kmb_device_open("nothing_of_this_name", nullptr, nullptr) < 0);
  const kmb::error why(KMB_ERR_LOST);
  REQUIRE_STR(why.what(), kmb_status_text(KMB_ERR_LOST));
  HAS(kmb::error(7).what(), "callback");
}

static void a_lambda_is_measured_with_what_it_captured() {
  kmb::device device = host();
  std::uint64_t calls = 0, last = 0;
  kmb::result result =
      must(quick("count")
               .axis("shape", "none")
               .axis("size", 3)
               .metadata("k", "v")
               .run(device, [&](const kmb::launch &l) {
                 calls++;
                 last = l.iteration();
                 REQUIRE(l.args().empty() && l.slot() == 0 && l.config() == 0);
                 REQUIRE(l.stream() == nullptr);
               }));
  REQUIRE(calls >= 20 && last > 0);
  REQUIRE(result.get<KMB_VALUE_NAME>() == "count");
  REQUIRE_EQ(result.samples().size(), 20);
  REQUIRE(result.get<KMB_VALUE_SAMPLES>() == 20u);
  REQUIRE(must(result.time_ns()) >= 0);
  REQUIRE(result.get<KMB_VALUE_TIMER>() == "HOST");
  REQUIRE(!result.get<KMB_VALUE_SOL_PCT>());
  REQUIRE(!result.why<KMB_VALUE_SOL_PCT>().empty());
  REQUIRE(result.why<KMB_VALUE_TIMER>().empty());
  REQUIRE(result.has(KMB_FINDING_CHECK_SKIPPED));
  REQUIRE(!result.has(KMB_FINDING_ABOVE_PEAK));
  REQUIRE(result.ops().empty());
  REQUIRE_EQ(result.axes().size(), 2);
  REQUIRE_STR(result.axes()[1].key, "size");
  REQUIRE_STR(result.axes()[1].value, "3");
  bool kept = false;
  for (const kmb_metadata_entry &entry : result.metadata())
    kept |= strcmp(entry.key, "caller.k") == 0 && strcmp(entry.value, "v") == 0;
  REQUIRE(kept);
  HAS(must(result.text()), "count");
  HAS(must(result.json()), "\"count\"");
}

static kmb_status plain_calls;
static void plain() {
  plain_calls++;
}

static void every_callable_will_do() {
  kmb::device device = host();
  must(quick("function").run(device, plain));
  REQUIRE(plain_calls >= 20);
  const auto constant = [](const kmb::launch &) -> kmb_status {
    return KMB_OK;
  };
  must(quick("const").run(device, constant));
  int own = 0;
  must(quick("mutable").run(device, [own]() mutable { own++; }));
  REQUIRE_EQ(own, 0);
  must(kmb::bench(device, "defaults", [] {}));
}

static void a_callback_s_own_status_comes_back() {
  kmb::device device = host();
  REQUIRE_EQ(status_of([&] {
               return quick("own").run(
                   device,
                   [](const kmb::launch &) -> kmb_status { return 42; });
             }),
             42);
  must(quick("next").run(device, [] {}));
}

enum { N = 1024 };

static std::vector<kmb::buffer> pair_of_buffers() {
  return {kmb::buffer::input("x", KMB_F32, N * sizeof(float)),
          kmb::buffer::output("y", KMB_F32, N * sizeof(float))};
}

static void scale(const kmb::launch &l) {
  const auto *x = l.arg<const float>(0);
  auto *y = l.arg<float>(1);
  for (int i = 0; i < N; i++)
    y[i] = 2 * x[i];
}

static bool doubled(kmb::check &given) {
  const auto x = given.before<float>(0), y = given.after<float>(1);
  REQUIRE(given.before<float>(1).empty() && given.before<float>(9).empty());
  REQUIRE_EQ(x.size(), N);
  REQUIRE(given.tolerance() == 0.25 && given.config() == 3);
  given.error(0.125);
  for (std::size_t i = 0; i < x.size(); i++)
    if (y[i] != 2 * x[i]) return false;
  return true;
}

static void buffers_rotate_and_outputs_are_checked() {
  kmb::device device = host();
  kmb::buffers set = must(kmb::buffers::create(device, pair_of_buffers()));
  kmb::benchmark one = quick("scale");
  one.params().cache = KMB_CACHE_ROTATED;
  one.params().config = 3;
  one.on(set).check(doubled).tolerance(0.25);
  std::uint32_t highest = 0;
  kmb::result result = must(one.run(device, [&](const kmb::launch &l) {
    highest = std::max(highest, l.slot());
    REQUIRE_EQ(l.args().size(), 2);
    scale(l);
  }));
  const kmb_buffers_info info = must(set.info());
  REQUIRE(info.slots > 16 && highest == info.slots - 1);
  REQUIRE(must(set.pointer<float>(0, 0)) != must(set.pointer<float>(1, 0)));
  REQUIRE(result.get<KMB_VALUE_CACHE_STATE>() == "ROTATED");
  REQUIRE(result.get<KMB_VALUE_CHECK_ERROR>() == 0.125);
  REQUIRE(!result.has(KMB_FINDING_CHECK_SKIPPED));
  REQUIRE(status_of([&] {
            return one.run(device, [](const kmb::launch &l) {
              scale(l);
              l.arg<float>(1)[7] += 1;
            });
          }) == KMB_ERR_INCORRECT);
  REQUIRE(status_of([&] { return set.pointer(9999, 0); }) == KMB_ERR_INVALID);
}

static void buffers_are_filled_as_told() {
  kmb::device device = host();
  const std::array<float, 4> from = {1, 2, 3, 4};
  std::array<float, 4> mine = {5, 6, 7, 8};
  int fills = 0;
  std::vector<kmb::buffer> all = {
      kmb::buffer::input("copied", KMB_F32, sizeof from).copy_of(from.data()),
      kmb::buffer::input("filled", KMB_I32, 16)
          .warm()
          .filled_by([&](void *data, std::uint64_t bytes, std::uint32_t) {
            fills++;
            REQUIRE_EQ(bytes, 16);
            static_cast<std::int32_t *>(data)[3] = 77;
          }),
      kmb::buffer::inout("mine", KMB_F32, sizeof mine).at({mine.data()}),
      kmb::buffer::input("pages", KMB_I32, 64).range(3, 5),
      kmb::buffer::scratch("room", KMB_U8, 32)};
  all[0].desc().alignment = 4096;
  kmb::buffers set = must(kmb::buffers::create(device, std::move(all)));
  kmb::buffers moved = std::move(set);
  MUST(moved.prepare(1));
  REQUIRE(fills == 1);
  const auto *copied = must(moved.pointer<float>(0, 0));
  REQUIRE(copied[3] == 4 &&
          reinterpret_cast<std::uintptr_t>(copied) % 4096 == 0);
  REQUIRE_EQ(must(moved.pointer<std::int32_t>(0, 1))[3], 77);
  REQUIRE(must(moved.pointer(0, 2)) == mine.data());
  for (int i = 0; i < 16; i++) {
    const int page = must(moved.pointer<std::int32_t>(0, 3))[i];
    REQUIRE(page >= 3 && page <= 5);
  }
}

static void setup_and_reset_are_called() {
  kmb::device device = host();
  kmb::buffers set = must(
      kmb::buffers::create(device, {kmb::buffer::inout("x", KMB_F32, 64)}));
  unsigned setups = 0, resets = 0, launches = 0;
  kmb::benchmark one = quick("hooks");
  one.params().config = 5;
  one.params().cache = KMB_CACHE_WARM;
  one.on(set)
      .setup([&](std::uint32_t slot, std::uint32_t config) {
        setups++;
        REQUIRE(slot == 0 && config == 5);
      })
      .reset([&](std::uint32_t, void *stream) -> kmb_status {
        resets++;
        return stream ? 1 : KMB_OK;
      })
      .check([](kmb::check &) -> kmb_status { return KMB_OK; });
  must(one.run(device, [&](const kmb::launch &l) {
    launches++;
    l.arg<float>(0)[0] = 1;
  }));
  REQUIRE_EQ(setups, 1);
  REQUIRE(resets > 0 && launches >= 20);
}

static void samples_from_elsewhere_give_a_result() {
  kmb::device device = host();
  std::vector<double> ns(101);
  std::iota(ns.begin(), ns.end(), 100.0);
  kmb::result result = must(kmb::benchmark("there")
                                .work(must(kmb::work::copy(1000)))
                                .from_samples(device, ns));
  REQUIRE_NEAR(must(result.time_ns()), 150, 0);
  REQUIRE(result.get<KMB_VALUE_READ_BYTES>() == 1000u);
  REQUIRE_EQ(
      status_of([&] { return kmb::benchmark().from_samples(device, {}); }),
      KMB_ERR_INVALID);
}

static void a_session_is_driven_by_the_caller() {
  kmb::device device = host();
  kmb::session session = must(
      kmb::session::begin(device, kmb::benchmark("region").axis("a", "b")));
  REQUIRE_EQ(status_of([&] { return quick("meanwhile").run(device, [] {}); }),
             KMB_ERR_BUSY);
  for (int i = 0; i < 10; i++) {
    MUST(session.sample_begin());
    MUST(session.sample_end(3));
  }
  kmb::result result = must(session.end());
  REQUIRE(!session.get());
  REQUIRE(result.get<KMB_VALUE_SAMPLES>() == 10u);
  REQUIRE_STR(result.axes()[0].value, "b");
  {
    kmb::session dropped = must(kmb::session::begin(device, kmb::benchmark()));
    REQUIRE_EQ(status_of([&] { return dropped.sample_end(); }),
               KMB_ERR_INVALID);
  }
  must(quick("next").run(device, [] {}));
}

static void results_are_kept_written_and_read() {
  kmb::device device = host();
  kmb::results all = must(kmb::results::create());
  for (const char *name : {"first", "second"})
    MUST(all.add(must(quick(name).run(device, [] {}))));
  REQUIRE_EQ(all.size(), 2);
  kmb::results again = must(kmb::results::read_json(must(all.json())));
  REQUIRE(must(again.at(1)).get<KMB_VALUE_NAME>() == "second");
  HAS(must(again.table()), "first");
  REQUIRE_EQ(status_of([&] { return again.at(2); }), KMB_ERR_INVALID);
  REQUIRE_EQ(status_of([] { return kmb::results::read_json("{]"); }),
             KMB_ERR_FORMAT);
  kmb::result empty;
  REQUIRE_EQ(status_of([&] { return all.add(std::move(empty)); }),
             KMB_ERR_INVALID);
  kmb::result one = must(quick("third").run(device, [] {}));
  kmb::result other = std::move(one);
  REQUIRE(!one && other.get<KMB_VALUE_NAME>() == "third");
  one = std::move(other);
  REQUIRE(!other && one.get<KMB_VALUE_NAME>() == "third");
  kmb_result *raw = one.release();
  REQUIRE(raw && !one);
  kmb_result_destroy(raw);
}

static void work_is_counted_as_in_c() {
  namespace work = kmb::work;
  REQUIRE_EQ(must(work::gemm(2, 3, 4, KMB_F32)).flops, 48);
  REQUIRE_EQ(must(work::elementwise(10, 2, 1, 1, KMB_F32)).read_bytes, 80);
  REQUIRE_EQ(must(work::copy(10)).write_bytes, 10);
  REQUIRE_EQ(must(work::softmax(2, 3, KMB_BF16)).read_bytes, 12);
  REQUIRE_EQ(must(work::activation(8, true, KMB_F32)).read_bytes, 64);
  kmb_matmul_shape product = kmb_matmul_shape_init();
  product.m = product.n = product.k = 4;
  product.dtype = KMB_F32;
  REQUIRE_EQ(must(work::matmul(product)).flops, 128);
  kmb_grouped_shape group = kmb_grouped_shape_init();
  group.groups = 2;
  group.n = group.k = group.m = 4;
  group.dtype = KMB_F32;
  REQUIRE_EQ(must(work::grouped(group)).flops, 256);
  kmb_attention_shape a = kmb_attention_shape_init();
  a.batch = a.q_heads = a.q_len = 1;
  a.kv_len = 4;
  a.qk_dim = 8;
  a.dtype = KMB_BF16;
  REQUIRE_EQ(must(work::attention(a)).flops, 2 * 4 * 16);
  const std::uint64_t length = 4;
  a.kv_lens = &length;
  REQUIRE_EQ(must(work::paged_decode(a)).flops, 2 * 4 * 16);
  kmb_mla_shape latent = kmb_mla_shape_init();
  latent.batch = latent.heads = latent.q_len = latent.kv_len = 1;
  latent.ckv_dim = 512;
  latent.kpe_dim = 64;
  latent.dtype = KMB_BF16;
  REQUIRE_EQ(must(work::mla(latent)).flops, 2 * (1024 + 64));
  kmb_moe_shape experts = kmb_moe_shape_init();
  experts.tokens = experts.top_k = experts.experts = 1;
  experts.hidden = experts.intermediate = 4;
  experts.dtype = KMB_BF16;
  REQUIRE_EQ(must(work::moe(experts)).flops, 2 * 4 * 8 + 2 * 4 * 4);
  kmb_norm_shape norm = kmb_norm_shape_init();
  norm.rows = 2;
  norm.hidden = 4;
  norm.norm = KMB_NORM_RMS;
  norm.dtype = KMB_F32;
  REQUIRE_EQ(must(work::norm(norm)).flops, 40);
  REQUIRE_NEAR(must(work::collective(KMB_ALL_REDUCE, 8, 4)).bus_factor, 1.5, 0);
  REQUIRE_EQ(status_of([] { return work::gemm(0, 1, 1, KMB_F32); }),
             KMB_ERR_INVALID);
}

static void the_roofline_of_a_part() {
  kmb::peaks table;
  const kmb::part h200 = must(table.lookup("H200"));
  REQUIRE(*h200.get<KMB_PART_BF16>() > 900);
  REQUIRE(h200.get<KMB_PART_VENDOR>().has_value());
  REQUIRE(!h200.references().empty());
  REQUIRE(must(table.at(0)).get() && table.size() > 30);
  REQUIRE(must(table.find("NVIDIA H200")).get() == h200.get());
  const kmb_ceiling memory = must(h200.ceiling(KMB_CEILING_MEMORY));
  const kmb_ceiling compute = must(h200.ceiling(0, KMB_BF16));
  REQUIRE(must(h200.rate(KMB_CEILING_MATRIX, KMB_BF16, 1000)).value > 0);
  const kmb_work work = must(kmb::work::gemm(4096, 4096, 4096, KMB_BF16));
  const kmb_work copy = must(kmb::work::copy(1 << 28));
  REQUIRE(must(h200.reference_for(copy, KMB_BOUND_MEMORY)).value > 3e12);
  REQUIRE_EQ(
      status_of([&] { return h200.reference_for(copy, KMB_BOUND_COMPUTE); }),
      KMB_ERR_UNAVAILABLE);
  kmb_roofline_params params = kmb_roofline_params_init();
  params.work = &work;
  params.memory = &memory;
  params.compute = &compute;
  REQUIRE(must(kmb::evaluate(params)).predicted == KMB_BOUND_COMPUTE);

  kmb::peaks own = must(kmb::peaks::create());
  MUST(own.read_csv("mine", "name,driver_names,mem_bw_gbs\nM,M,5\n"));
  REQUIRE_NEAR(must(must(own.lookup("M")).ceiling(KMB_CEILING_MEMORY)).value,
               5e9, 0);
  REQUIRE_EQ(status_of([&] { return own.read_csv("mine", "nonsense\n"); }),
             KMB_ERR_FORMAT);
  kmb::device device = host();
  REQUIRE_EQ(status_of([&] { return table.of(device); }), KMB_ERR_UNAVAILABLE);
  REQUIRE_EQ(status_of([&] { return device.ceiling(99); }), KMB_ERR_INVALID);
}

static kmb::gaps gaps_of_a_file() {
  kmb_gaps_params params = kmb_gaps_params_init();
  params.kernel = "flash_fwd";
  const std::string path = traces + "/offload_pipeline.csv";
  return must(must(kmb::trace::load(path.c_str())).gaps(params));
}

static void gaps_outlive_their_trace() {
  const kmb::gaps gaps = gaps_of_a_file();
  REQUIRE_EQ(gaps.devices().size(), 1);
  REQUIRE(gaps.devices()[0].busy_ns <= gaps.devices()[0].span_ns);
  REQUIRE(must(gaps.utilization(0)) > 0);
  REQUIRE_EQ(gaps.transitions(0).size(), gaps.devices()[0].transitions);
  REQUIRE(!gaps.transitions(0).empty() && gaps.transitions(0)[0].from[0]);
  REQUIRE_EQ(gaps.names(0).size(), gaps.devices()[0].names);
  REQUIRE_EQ(gaps.streams(0).size(), gaps.devices()[0].streams);
  REQUIRE_EQ(must(gaps.target(0)).count, 4);
  REQUIRE_EQ(gaps.intervals(0).size(), 3);
  HAS(must(gaps.text()), "flash_fwd");
  HAS(must(gaps.json()), "flash_fwd");
  REQUIRE(gaps.transitions(7).empty() && gaps.intervals(7).empty());
  REQUIRE_EQ(status_of([&] { return gaps.target(7); }), KMB_ERR_INVALID);
  REQUIRE_EQ(status_of([&] { return gaps.latency(0); }), KMB_ERR_UNAVAILABLE);
}

static void a_trace_is_written_and_read() {
  const std::string path = traces + "/offload_pipeline.csv";
  const kmb::trace loaded = must(kmb::trace::load(path.c_str()));
  const kmb_trace_info info = must(loaded.info());
  REQUIRE(info.ops > 4);
  const kmb::trace again = must(kmb::trace::read(must(loaded.json())));
  REQUIRE_EQ(must(again.info()).ops, info.ops);
  REQUIRE_STR(must(again.op(0)).name, must(loaded.op(0)).name);
  REQUIRE_EQ(must(must(kmb::trace::read(must(loaded.chrome()))).info()).ops,
             info.ops);
  REQUIRE_EQ(status_of([&] { return again.op(info.ops); }), KMB_ERR_INVALID);
  REQUIRE_EQ(status_of([&] { return again.call(info.calls); }),
             KMB_ERR_INVALID);
  REQUIRE_EQ(status_of([&] { return again.range(info.ranges); }),
             KMB_ERR_INVALID);
  REQUIRE_EQ(status_of([] { return kmb::trace::load("/nowhere"); }),
             KMB_ERR_IO);
}

static void what_cannot_record_says_so() {
  kmb::device device = host();
  REQUIRE_EQ(status_of([&] { return kmb::recording::begin(device); }),
             KMB_ERR_UNSUPPORTED);
  kmb::recording none;
  REQUIRE_EQ(status_of([&] { return none.range("r", [] {}); }),
             KMB_ERR_INVALID);
  REQUIRE_EQ(status_of([&] { return none.end(); }), KMB_ERR_INVALID);
}

static void a_cancelled_device_stops_until_it_is_taken_back() {
  kmb::device device = host();
  device.cancel();
  REQUIRE_EQ(status_of([&] { return quick("no").run(device, [] {}); }),
             KMB_ERR_CANCELLED);
  device.cancel(false);
  must(quick("yes").run(device, [] {}));
}

static void hooks_are_called_and_outlive_the_device() {
  int progress = 0;
  std::string logged;
  kmb::device_options options;
  options.progress = [&](const kmb_progress &at) {
    progress++;
    REQUIRE(at.struct_size >= sizeof at && at.stage);
  };
  options.log = [&](kmb_log_level level, std::string_view line) {
    REQUIRE(level >= KMB_LOG_ERROR);
    logged += line;
  };
  kmb::device device = host(std::move(options));
  must(quick("seen").run(device, [] {}));
  REQUIRE(progress > 0);
  kmb::buffers set = must(kmb::buffers::create(device, pair_of_buffers()));
  device = kmb::device(); /* too early: logged, through hooks that still live */
  REQUIRE(!logged.empty());
  REQUIRE_EQ(status_of([&] { return set.prepare(1); }), KMB_ERR_INVALID);
}

static void spans_are_what_they_seem() {
  std::vector<int> numbers = {1, 2, 3};
  const kmb::span<int> all(numbers);
  REQUIRE(all.size() == 3 && all[2] == 3 && !all.empty());
  int sum = 0;
  for (const int one : all)
    sum += one;
  REQUIRE_EQ(sum, 6);
  const kmb::span<const int> constant = all;
  REQUIRE(constant.data() == numbers.data());
#if __cplusplus >= 202002L
  const std::span<const int> standard(constant);
  REQUIRE(standard.size() == 3);
#endif
}

static void all(const char *traces_folder) {
  traces = traces_folder;
  RUN(a_device_says_what_it_is);
  RUN(a_failed_open_says_why);
  RUN(an_error_keeps_no_older_message);
  RUN(a_lambda_is_measured_with_what_it_captured);
  RUN(every_callable_will_do);
  RUN(a_callback_s_own_status_comes_back);
  RUN(buffers_rotate_and_outputs_are_checked);
  RUN(buffers_are_filled_as_told);
  RUN(setup_and_reset_are_called);
  RUN(samples_from_elsewhere_give_a_result);
  RUN(a_session_is_driven_by_the_caller);
  RUN(results_are_kept_written_and_read);
  RUN(work_is_counted_as_in_c);
  RUN(the_roofline_of_a_part);
  RUN(gaps_outlive_their_trace);
  RUN(a_trace_is_written_and_read);
  RUN(what_cannot_record_says_so);
  RUN(a_cancelled_device_stops_until_it_is_taken_back);
  RUN(hooks_are_called_and_outlive_the_device);
  RUN(spans_are_what_they_seem);
}

} // namespace front

#endif
