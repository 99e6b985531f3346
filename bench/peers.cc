// The same functions through libkmb and through Google Benchmark, alternated
// in one process: neighbours in time share the clock, the memory layout and
// the machine's other work, which fresh processes would not.
#include "chains.h"
#include "quiet.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

struct runs {
  std::vector<double> ours, theirs, their_cpu;
  std::vector<double> our_wall, their_wall;
};

struct kept {
  double ns = 0, cpu_ns = 0;
  bool failed = false;
};

// Keeps what one run says and prints nothing.
class keeper : public benchmark::BenchmarkReporter {
public:
  explicit keeper(kept *to) : to_(to) {}
  bool ReportContext(const Context &) override {
    return true;
  }
  void ReportRuns(const std::vector<Run> &reports) override {
    for (const Run &run : reports) {
      double count = static_cast<double>(run.iterations);
      to_->failed = to_->failed || run.error_occurred;
      to_->ns = run.real_accumulated_time * 1e9 / count;
      to_->cpu_ns = run.cpu_accumulated_time * 1e9 / count;
    }
  }

private:
  kept *to_;
};

// The same function pointer, the same arguments, and the status looked at, as
// libkmb does it.
void google_loop(benchmark::State &state, const chain *c) {
  kmb_launch launch = {};
  launch.struct_size = sizeof launch;
  for (auto _ : state) { // NOLINT(clang-analyzer-deadcode.DeadStores)
    if (__builtin_expect(c->launch(c->user, &launch) != KMB_OK, 0))
      state.SkipWithError("the function failed");
  }
}

void google_run(const chain *c, runs *r) {
  kept got;
  keeper keep(&got);
  double begin = now_ns();
  benchmark::RunSpecifiedBenchmarks(&keep, std::string("^") + c->name + "$");
  r->their_wall.push_back(now_ns() - begin);
  if (got.failed || !(got.ns > 0))
    give_up(c->name, "Google Benchmark measured nothing");
  r->theirs.push_back(got.ns);
  r->their_cpu.push_back(got.cpu_ns);
}

void kmb_run(kmb_device *device, const chain *c, runs *r, canary *quiet) {
  kmb_bench_params params = kmb_bench_params_init();
  params.name = c->name;
  params.launch = c->launch;
  params.launch_user = c->user;
  params.cache = KMB_CACHE_WARM;
  kmb_result *result = nullptr;
  double begin = now_ns();
  must(kmb_bench(device, &params, &result), c->name);
  r->our_wall.push_back(now_ns() - begin);
  double raw = 0;
  must(kmb_result_f64(result, KMB_VALUE_RAW_MEDIAN, &raw), "raw_median_ns");
  canary_result(quiet, result);
  kmb_result_destroy(result);
  r->ours.push_back(raw);
}

middle of(std::vector<double> x) {
  return middle_of(x.data(), x.size());
}

// Of each neighbouring pair: what varies from run to run in both falls out.
middle paired(const std::vector<double> &a, const std::vector<double> &b,
              bool difference) {
  std::vector<double> x;
  for (size_t i = 0; i < a.size(); i++)
    x.push_back(difference ? a[i] - b[i] : a[i] / b[i]);
  return of(x);
}

void add_row(json_t *rows, const char *name, const runs &r) {
  json_t *row = json_object();
  const struct {
    const char *key;
    const std::vector<double> &numbers;
  } columns[] = {{"libkmb_ns", r.ours},
                 {"google_benchmark_ns", r.theirs},
                 {"google_benchmark_cpu_ns", r.their_cpu},
                 {"libkmb_wall_ns", r.our_wall},
                 {"google_benchmark_wall_ns", r.their_wall}};
  json_object_set_new(row, "name", json_string(name));
  for (const auto &column : columns) {
    json_t *list = json_array();
    for (double x : column.numbers)
      json_array_append_new(list, json_real(x));
    json_object_set_new(row, column.key, list);
  }
  json_array_append_new(rows, row);
}

void print_table(const std::vector<runs> &all, report *r) {
  // CPU time, which leaves out what others took, is shown and not judged:
  // libkmb reads the wall clock.
  std::printf("%-14s %12s %12s %8s %12s %8s %8s %9s\n", "function", "libkmb ns",
              "Google ns", "ratio", "Google CPU", "ratio", "wall ms",
              "Google ms");
  json_t *rows = json_array();
  for (int i = 0; i < CHAINS; i++) {
    double a = of(all[i].ours).median, b = of(all[i].theirs).median;
    double cpu = of(all[i].their_cpu).median;
    std::printf("%-14s %12.4f %12.4f %8.4f %12.4f %8.4f %8.1f %9.1f\n",
                chains[i].name, a, b, a / b, cpu, a / cpu,
                of(all[i].our_wall).median / 1e6,
                of(all[i].their_wall).median / 1e6);
    add_row(rows, chains[i].name, all[i]);
  }
  json_object_set_new(r->root, "functions", rows);
}

void print_figures(const std::vector<runs> &all, report *r,
                   const char *why_not) {
  std::vector<double> ours, theirs;
  std::printf("\n");
  for (int i = 0; i < CHAINS; i++) {
    const runs &x = all[i];
    bool empty = i == 0;
    middle pairs = paired(x.ours, x.theirs, empty);
    double a = of(x.ours).median, b = of(x.theirs).median;
    std::string name =
        std::string(chains[i].name) +
        (empty ? ", libkmb - Google Benchmark" : ", libkmb / Google Benchmark");
    figure f = {
        name.c_str(),        empty ? "ns" : "x", empty ? a - b : a / b,
        pairs.low,           pairs.high,         "95% of the paired medians",
        empty ? -0.3 : 0.98, empty ? 0.3 : 1.02};
    report_figure(r, &f, why_not);
    ours.insert(ours.end(), x.our_wall.begin(), x.our_wall.end());
    theirs.insert(theirs.end(), x.their_wall.begin(), x.their_wall.end());
  }
  middle pairs = paired(ours, theirs, false);
  figure f = {"wall time, libkmb / Google Benchmark",
              "x",
              of(ours).median / of(theirs).median,
              pairs.low,
              pairs.high,
              "95% of the paired medians",
              -1e301,
              1.0 / 3};
  report_figure(r, &f, why_not);
}

} // namespace

int main(int argc, char **argv) {
  report r;
  report_open(&r, &argc, argv, "peers");
  report_version(&r, "google_benchmark", BENCHMARK_FOUND);
  unsigned long count = option(argc, argv, "runs", 11);
  int google_argc = 1; // its settings stay at their defaults
  benchmark::Initialize(&google_argc, argv);
  for (const chain &c : chains)
    benchmark::RegisterBenchmark(
        c.name, [&c](benchmark::State &state) { google_loop(state, &c); });
  std::vector<runs> all(CHAINS);
  canary quiet;
  canary_start(&quiet);
  for (unsigned long run = 0; run < count; run++) {
    for (int i = 0; i < CHAINS; i++) {
      kmb_run(r.device, &chains[i], &all[i], &quiet);
      google_run(&chains[i], &all[i]);
      canary_spin(&quiet);
    }
  }
  print_table(all, &r);
  const char *why_not = canary_verdict(&quiet, &r);
  print_figures(all, &r, why_not);
  return report_close(&r);
}
