/* Comparisons in C++, with and without exceptions. */
#ifndef KMB_TESTS_CPP_COMPARE_CASES_HPP
#define KMB_TESTS_CPP_COMPARE_CASES_HPP

#include "front.hpp"

#include <set>

namespace compare {

namespace {

/* Few cycles, however busy the machine is. */
kmb_compare_params few() {
  kmb_compare_params params = kmb_compare_params_init();
  params.name = "few";
  params.min_wall_ns = 1;
  params.max_wall_ns = params.tune_wall_ns = 600e9;
  params.max_cycles = params.min_cycles = 8;
  params.turn = 1;
  return params;
}

void spend(unsigned count) {
  volatile unsigned sum = 0;
  for (unsigned i = 0; i < count; i++)
    sum = sum + i;
}

void candidates_are_lambdas_and_rows_are_read() {
  kmb::device device = host();
  int plain = 0, other = 0;
  const kmb::comparison c = must(kmb::compare(device,
                                              {{quick("plain"),
                                                [&] {
                                                  plain++;
                                                  spend(20000);
                                                }},
                                               {quick("other"),
                                                [&](const kmb::launch &l) {
                                                  other++;
                                                  REQUIRE_EQ(l.config(), 0);
                                                  spend(20000);
                                                }}},
                                              few()));
  REQUIRE(plain >= 16 && other >= 16);
  const std::vector<kmb_compare_row> rows = c.rows();
  REQUIRE_EQ(rows.size(), 2);
  REQUIRE_STR(rows[0].name, "plain");
  REQUIRE_STR(rows[1].name, "other");
  REQUIRE_EQ(rows[0].verdict, KMB_VERDICT_BASELINE);
  REQUIRE(rows[1].verdict != KMB_VERDICT_BASELINE);
  REQUIRE(rows[1].flags & KMB_ROW_RATIO);
  REQUIRE(rows[1].ratio > 0 && !rows[1].config_text);
  REQUIRE(c.ratios(0).empty());
  REQUIRE_EQ(c.ratios(1).size(), rows[1].cycles);
  REQUIRE(c.ratios(1)[0] > 0);
  REQUIRE(must(c.at(1)).get<KMB_VALUE_NAME>() == "other");
  REQUIRE(c.arms(1).empty());
  HAS(must(c.text()), "few: 2 candidates");
  HAS(must(c.json()), "\"kmb-comparison\"");
  REQUIRE_EQ(status_of([&] { return c.row(2); }), KMB_ERR_INVALID);
  REQUIRE_EQ(status_of([&] { return c.at(2); }), KMB_ERR_INVALID);
  REQUIRE(c.ratios(2).empty() && c.arms(2).empty());
}

kmb::knobs grid() {
  return {{"tile", {"1", "2", "4"}}, {"order", {"ij", "ji"}}};
}

void knobs_count_as_in_c() {
  const char *const tiles[] = {"1", "2", "4"}, *const orders[] = {"ij", "ji"};
  const kmb_knob bare[] = {{"tile", tiles, 3}, {"order", orders, 2}};
  for (std::uint32_t config = 0; config < 6; config++) {
    for (std::size_t i = 0; i < 2; i++)
      REQUIRE_EQ(grid().position(config, i),
                 kmb_knob_value(bare, 2, config, i));
    REQUIRE(grid().value(config, 0) ==
            tiles[kmb_knob_value(bare, 2, config, 0)]);
  }
  kmb::knobs added;
  added.add("a", {"x", "y"});
  REQUIRE(added.size() == 1 && added[0].name == "a");
  REQUIRE(added.value(1, 0) == "y");
}

void a_candidate_is_tuned() {
  kmb::device device = host();
  std::set<std::string> tried;
  const auto launch = [&, knobs = grid()](const kmb::launch &l) -> kmb_status {
    tried.insert(knobs.value(l.config(), 0) + knobs.value(l.config(), 1));
    if (knobs.value(l.config(), 1) == "ji") return 7; /* does not work */
    spend(20000 * static_cast<unsigned>(std::stoi(knobs.value(l.config(), 0))));
    return KMB_OK;
  };
  const kmb::comparison c =
      must(kmb::compare(device,
                        {{quick("plain"), [] { spend(20000); }},
                         kmb::candidate(quick("tuned"), launch).tune(grid())},
                        few()));
  REQUIRE_EQ(tried.size(), 6);
  const kmb_compare_row row = must(c.row(1));
  REQUIRE(row.flags & KMB_ROW_TUNED);
  REQUIRE_EQ(row.configs, 6);
  REQUIRE_EQ(row.configs_failed, 3);
  HAS(row.config_text, "order=ij");
  REQUIRE(grid().value(row.config, 1) == "ij");
  REQUIRE_EQ(c.arms(1).size(), 6);
  for (const kmb_compare_arm &arm : c.arms(1))
    REQUIRE_EQ(arm.status, grid().value(arm.config, 1) == "ij" ? 0 : 7);
}

void tuning_has_points_of_its_own() {
  kmb::device device = host();
  int there = 0, elsewhere = 0;
  const kmb::comparison c = must(
      kmb::compare(device,
                   {{quick("plain"), [] { spend(20000); }},
                    kmb::candidate(quick("tuned"),
                                   [&](const kmb::launch &l) {
                                     there++;
                                     REQUIRE(elsewhere > 0 && l.config() < 6);
                                     spend(20000);
                                   })
                        .tune(grid())
                        .tune_at(quick("small"),
                                 [&] {
                                   elsewhere++;
                                   spend(2000);
                                 })
                        .tune_at(quick("large"), [] { spend(4000); })},
                   few()));
  REQUIRE(there >= 16 && elsewhere >= 6);
  REQUIRE_EQ(must(c.row(1)).configs_measured, 6);
}

void what_cannot_be_compared_says_so() {
  kmb::device device = host(), none;
  REQUIRE_EQ(
      status_of([&] {
        return kmb::compare(device, {{quick("a"), [] {}}, {quick("a"), [] {}}});
      }),
      KMB_ERR_INVALID);
  REQUIRE_EQ(status_of([&] {
               return kmb::compare(device, {{quick("a").axis("n", 1), [] {}},
                                            {quick("b").axis("n", 2), [] {}}});
             }),
             KMB_ERR_INVALID);
  REQUIRE_EQ(
      status_of([&] {
        return kmb::compare(none, {{quick("a"), [] {}}, {quick("b"), [] {}}});
      }),
      KMB_ERR_INVALID);
  const kmb::comparison empty;
  REQUIRE(!empty && empty.rows().empty());
  REQUIRE_EQ(status_of([&] { return empty.text(); }), KMB_ERR_INVALID);
}

void a_callback_s_own_status_comes_back() {
  kmb::device device = host();
  REQUIRE_EQ(status_of([&] {
               return kmb::compare(
                   device, {{quick("a"), [] {}},
                            {quick("b"), []() -> kmb_status { return 9; }}});
             }),
             9);
}

} // namespace

static void all() {
  RUN(candidates_are_lambdas_and_rows_are_read);
  RUN(knobs_count_as_in_c);
  RUN(a_candidate_is_tuned);
  RUN(tuning_has_points_of_its_own);
  RUN(what_cannot_be_compared_says_so);
  RUN(a_callback_s_own_status_comes_back);
}

} // namespace compare

#endif
