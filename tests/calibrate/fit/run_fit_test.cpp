// Constants of a stack and a site, planted in scenarios whose forecasts then stand for measurements.

#include "calibrate/fit/run_fit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "calibrate/fit/network_shares.h"
#include "collectives/timing/timer.h"
#include "schedules/forecast.h"
#include "schedules/plan/plan.h"
#include "tests/sanitized.h"
#include "tests/schedules/scenarios.h"
#include "topology/cluster.h"
#include "workload/machines.h"

namespace stepcast::calibrate {
namespace {

using schedules::Scenario;

const Estimate& estimate(const RunFit& fit, const std::string& key) {
  return std::ranges::find(fit.constants, key, &ProfileConstant::key)->estimate;
}

/// Runs of several plans on one node, some with more work for the GPU than for the host, some with less.
std::vector<Scenario> runs() {
  std::vector<Scenario> out;
  for (const std::int64_t layers : {8, 16})
    for (const std::int64_t hidden : {1024, 4096})
      for (const std::uint32_t tensor : {1u, 2u, 4u}) {
        Scenario s = schedules::round_numbers(8);
        s.name = std::to_string(out.size());
        s.model.layers = layers;
        s.model.hidden = hidden;
        s.model.ffn = 4 * hidden;
        s.parallelism.tensor = tensor;
        s.parallelism.pipeline = 1;
        s.parallelism.data = 8 / tensor;
        s.software.host_per_kernel = microseconds(5);
        out.push_back(s);
      }
  return out;
}

/// With what is forecast under `plant` as what was measured.
std::vector<Scenario> measured(std::vector<Scenario> of, void (*plant)(schedules::Software&)) {
  workload::Machines machines;
  for (Scenario& s : of) {
    Scenario real = s;
    plant(real.software);
    s.measured.step_time = schedules::forecast(real, machines).step;
    s.measured.memory_is = schedules::MemoryFigure::reserved;
    s.measured.peak_memory = schedules::plan(real, machines).memory.front().peak();
  }
  return of;
}

void plant(schedules::Software& s) {
  s.compute_share = 0.8;
  s.host_per_kernel = microseconds(60);
  s.activation_overhead = 0.3;
  s.memory_reserve = Bytes{5LL << 30};
}

TEST(RunFit, FindsWhatIsPlanted) {
  if (test::kSanitized) GTEST_SKIP() << "a fit's digits, not memory: checked in release";
  const RunFit fit = fit_runs(measured(runs(), plant), {});
  EXPECT_NEAR(estimate(fit, "compute_share").value, 0.8, 0.01);
  EXPECT_NEAR(estimate(fit, "host_per_kernel").value, 60e-6, 2e-6);
  EXPECT_NEAR(estimate(fit, "activation_overhead").value, 0.3, 0.01);
  EXPECT_NEAR(estimate(fit, "memory_reserve").value, static_cast<double>(5LL << 30), 1e8);
  for (const FittedRun& run : fit.runs) {
    EXPECT_NEAR(*run.predicted_s / *run.measured_s, 1, 0.02) << run.name;
    EXPECT_NEAR(*run.held_out_s / *run.measured_s, 1, 0.05) << run.name;
    EXPECT_NEAR(*run.predicted_bytes / *run.measured_bytes, 1, 0.01) << run.name;
  }
}

TEST(RunFit, SaysWhatNoRunTells) {
  if (test::kSanitized) GTEST_SKIP() << "a fit's digits, not memory: checked in release";
  const RunFit fit = fit_runs(measured(runs(), plant), {});
  EXPECT_FALSE(estimate(fit, "send_delay").identified) << "there is one node";
  EXPECT_FALSE(estimate(fit, "host_per_peer").identified) << "there is one stage";
  EXPECT_TRUE(fit.network_shares.empty());
  const Scenario fitted = with(fit, runs().front());
  EXPECT_EQ(fitted.software.send_delay, Time{});
  EXPECT_EQ(fitted.software.host_per_peer, Time{});
  EXPECT_NEAR(fitted.software.compute_share, 0.8, 0.01);
}

/// Five runs, of which two wait for a host that takes eight times what the stack's file says.
TEST(RunFit, FindsAHostThatFewRunsWaitFor) {
  if (test::kSanitized) GTEST_SKIP() << "a fit's digits, not memory: checked in release";
  std::vector<Scenario> few;
  for (const std::size_t i : {0u, 3u, 6u, 9u, 10u}) few.push_back(runs()[i]);
  const RunFit fit = fit_runs(measured(few, [](schedules::Software& s) { s.host_per_kernel = microseconds(40); }), {});
  EXPECT_TRUE(estimate(fit, "host_per_kernel").identified) << estimate(fit, "host_per_kernel").why;
  EXPECT_NEAR(estimate(fit, "host_per_kernel").value, 40e-6, 1e-6);
}

/// Pipelines on four nodes, of which those wait whose tensor ranks are on two, and on eight, which all do.
TEST(RunFit, TellsWhichSendsWait) {
  if (test::kSanitized) GTEST_SKIP() << "a fit's digits, not memory: checked in release";
  std::vector<Scenario> pipelines;
  for (const std::uint32_t gpus : {32u, 64u})
    for (const std::uint32_t tensor : {1u, 2u, 4u, 8u, 16u}) {
      Scenario s = schedules::round_numbers(gpus);
      s.name = std::to_string(pipelines.size());
      s.model.layers = 2;
      s.training.global_batch = 64;
      s.parallelism.tensor = tensor;
      s.parallelism.pipeline = 2;
      s.parallelism.data = gpus / tensor / 2;
      s.software.host_per_kernel = microseconds(5);
      pipelines.push_back(s);
    }
  const auto wait = [](schedules::Software& s) {
    s.send_delay = milliseconds(20);
    s.send_delay_nodes = 8;
    s.send_delay_tensor_nodes = 2;
  };
  const std::vector<collectives::ShareOverNodes> network{{2, 1}, {8, 1}};
  const RunFit fit = fit_runs(measured(pipelines, wait), network);
  EXPECT_NEAR(estimate(fit, "send_delay").value, 20e-3, 1e-3);
  EXPECT_EQ(estimate(fit, "send_delay_tensor_nodes").value, 2);
  EXPECT_EQ(estimate(fit, "send_delay_nodes").value, 8);
  const Scenario fitted = with(fit, pipelines.front());
  EXPECT_EQ(fitted.software.send_delay_tensor_nodes, 2u);
}

/// Six runs, a third slower than the stack's file says, of plans that feel five constants: with all of them one degree
/// of freedom is left, and no interval says anything. Once peers, delays and the network are given up, the runs tell
/// it.
TEST(RunFit, TellsAShareThatSixRunsAgreeOnThoughTheyFeelMore) {
  if (test::kSanitized) GTEST_SKIP() << "a fit's digits, not memory: checked in release";
  struct Plan {
    std::int64_t hidden;
    std::uint32_t gpus, tensor, pipeline;
    double noise;
  };
  std::vector<Scenario> few;
  std::vector<double> noise;
  for (const Plan& plan : {Plan{1024, 8, 1, 1, 0.97}, Plan{2048, 8, 2, 1, 1.05}, Plan{4096, 8, 4, 1, 0.96},
                           Plan{2048, 16, 1, 2, 1.04}, Plan{4096, 16, 2, 2, 1.02}, Plan{1024, 16, 2, 2, 0.98}}) {
    Scenario s = schedules::round_numbers(plan.gpus);
    s.name = std::to_string(few.size());
    s.model.hidden = plan.hidden;
    s.model.ffn = 4 * plan.hidden;
    s.model.layers = 4;
    s.training.global_batch = 16;
    s.parallelism.tensor = plan.tensor;
    s.parallelism.pipeline = plan.pipeline;
    s.parallelism.data = plan.gpus / plan.tensor / plan.pipeline;
    s.software.host_per_kernel = microseconds(5);
    few.push_back(s);
    noise.push_back(plan.noise);
  }
  few = measured(few, [](schedules::Software& s) { s.compute_share = 0.75; });
  for (std::size_t i = 0; i < few.size(); ++i)
    few[i].measured.step_time = from_seconds(noise[i] * to_seconds(*few[i].measured.step_time));
  const RunFit fit = fit_runs(few, {});
  EXPECT_TRUE(estimate(fit, "compute_share").identified) << estimate(fit, "compute_share").why;
  EXPECT_NEAR(estimate(fit, "compute_share").value, 0.75, 0.04);
  EXPECT_FALSE(estimate(fit, "host_per_peer").identified);
}

/// The stack's share of 0.88 is far from what these runs took: less than kernels take at their rates.
TEST(RunFit, SaysNothingThatAStackMayNot) {
  if (test::kSanitized) GTEST_SKIP() << "a fit's digits, not memory: checked in release";
  std::vector<Scenario> fast = measured(runs(), [](schedules::Software&) {});
  for (Scenario& s : fast) {
    s.measured.step_time = Time{s.measured.step_time->value * 97 / 100};
    s.software.compute_share = 0.88;
  }
  const RunFit fit = fit_runs(fast, {});
  EXPECT_TRUE(estimate(fit, "compute_share").identified) << estimate(fit, "compute_share").why;
  EXPECT_EQ(estimate(fit, "compute_share").value, 1);
  EXPECT_EQ(estimate(fit, "compute_share").high, 1);
}

/// What is written stands under the runs' profile, which goes over a stack's file.
TEST(RunFit, LeavesAloneWhatTheRunsProfileHas) {
  if (test::kSanitized) GTEST_SKIP() << "a fit's digits, not memory: checked in release";
  const std::vector<std::string> profiled{"host_per_kernel"};
  const RunFit fit = fit_runs(measured(runs(), plant), {}, {}, profiled);
  EXPECT_FALSE(estimate(fit, "host_per_kernel").identified);
  EXPECT_EQ(estimate(fit, "host_per_kernel").why, "the runs' profile has it");
  EXPECT_NEAR(estimate(fit, "host_per_kernel").value, 5e-6, 1e-9);
  EXPECT_TRUE(estimate(fit, "compute_share").identified);
  workload::Machines machines;
  Scenario first = with(fit, runs().front());
  EXPECT_NEAR(to_seconds(schedules::forecast(first, machines).step) / *fit.runs.front().predicted_s, 1, 1e-6);
}

/// A benchmark of a network says what it gives, also where no run has used it.
TEST(RunFit, KeepsWhatWasMeasuredOfANetworkThatNoRunUses) {
  std::vector<Scenario> two{runs()[0], runs()[1]};
  const std::vector<collectives::ShareOverNodes> network{{2, 0.5}, {8, 0.25}};
  const RunFit fit = fit_runs(measured(two, plant), network);
  ASSERT_EQ(fit.network_shares.size(), 2u);
  EXPECT_EQ(fit.network_shares.back().nodes, 8u);
  EXPECT_EQ(fit.network_shares.back().share, 0.25);
}

/// Three runs tell nothing of the network: it stays as the stack's file has it, also in their forecasts.
TEST(RunFit, ForecastsWithTheStacksOwnNetworkWhereItIsNotTold) {
  std::vector<Scenario> three;
  for (const std::uint32_t tensor : {1u, 2u, 4u}) {
    Scenario s = schedules::round_numbers(16);
    s.parallelism.tensor = tensor;
    s.parallelism.pipeline = 1;
    s.parallelism.data = 16 / tensor;
    s.software.transport.network_shares = {{2, 0.05}};
    three.push_back(s);
  }
  const RunFit fit = fit_runs(measured(three, [](schedules::Software&) {}), {});
  EXPECT_TRUE(fit.network_shares.empty());
  for (const FittedRun& run : fit.runs) EXPECT_NEAR(*run.predicted_s / *run.measured_s, 1, 1e-3);
}

/// Slow kernels, a slow host: one step, how often it is measured, may be either's.
TEST(RunFit, RefusesRunsOfOnePlan) {
  std::vector<Scenario> same(6, runs().front());
  const RunFit fit = fit_runs(measured(same, plant), {});
  for (const ProfileConstant& c : fit.constants) {
    EXPECT_FALSE(c.estimate.identified) << c.key;
    EXPECT_EQ(c.estimate.why, "all runs are of one plan") << c.key;
  }
  for (const FittedRun& run : fit.runs) EXPECT_LT(*run.predicted_s, *run.measured_s);
}

TEST(RunFit, IsPulledLittleByARunThatIsFarOff) {
  if (test::kSanitized) GTEST_SKIP() << "a fit's digits, not memory: checked in release";
  std::vector<Scenario> all = measured(runs(), plant);
  all[3].measured.step_time = Time{all[3].measured.step_time->value * 5};
  const RunFit fit = fit_runs(all, {});
  EXPECT_NEAR(estimate(fit, "compute_share").value, 0.8, 0.05);
  EXPECT_NEAR(estimate(fit, "host_per_kernel").value, 60e-6, 10e-6);
}

/// Every step waits for something that no constant stands for. Step times alone make slow kernels of that, traces do
/// not.
TEST(RunFit, TakesWhatTracesSayOfComputeForItself) {
  if (test::kSanitized) GTEST_SKIP() << "a fit's digits, not memory: checked in release";
  std::vector<Scenario> all = measured(runs(), plant);
  std::vector<std::optional<Time>> compute;
  workload::Machines machines;
  for (Scenario& s : all) {
    Scenario real = s;
    plant(real.software);
    const schedules::TimeSplit time = schedules::forecast(real, machines).stages.front().time;
    compute.emplace_back(time.compute + time.optimizer);
    s.measured.step_time = Time{s.measured.step_time->value * 6 / 5};
  }
  EXPECT_LT(estimate(fit_runs(all, {}), "compute_share").value, 0.75);
  const RunFit fit = fit_runs(all, {}, compute);
  EXPECT_NEAR(estimate(fit, "compute_share").value, 0.8, 0.02);
  for (const FittedRun& run : fit.runs) EXPECT_GT(*run.predicted_s, 0.7 * *run.measured_s) << run.name;
}

TEST(RunFit, RefusesTooFewRuns) {
  std::vector<Scenario> few = measured(runs(), plant);
  few.resize(3);
  const RunFit fit = fit_runs(few, {});
  for (const ProfileConstant& c : fit.constants) {
    const bool of_memory = c.unit == ConstantUnit::bytes || c.key == "activation_overhead";
    const bool known =
        c.key == "compute_share" || c.key == "host_per_kernel";  // by the stack's file: a measurement more
    EXPECT_TRUE(of_memory || known || !c.estimate.identified) << c.key;
  }
}

/// The bus bandwidths that a transport has under some shares tell these shares.
TEST(NetworkShares, AreThoseUnderWhichTheyWereMeasured) {
  const Scenario s = schedules::round_numbers(64);
  collectives::Transport transport = s.software.transport;
  transport.network_shares = {{2, 0.4}, {8, 0.1}};  // little enough to be what binds
  std::vector<BusBandwidth> measured{{collectives::Operation::all_reduce, 1, 8, 1e9}};  // tells nothing
  for (const std::uint32_t nodes : {2u, 4u, 8u})
    for (const collectives::Operation operation :
         {collectives::Operation::all_reduce, collectives::Operation::all_gather}) {
      const collectives::Timer timer(topology::build_cluster(s.cluster.node, s.cluster.fabric, nodes * 8), transport);
      collectives::Group all;
      for (std::uint32_t gpu = 0; gpu < nodes * 8; ++gpu) all.push_back(topology::GpuId{gpu});
      constexpr Bytes kSize{1LL << 30};
      const Time time = timer.time(operation, kSize, std::span(&all, 1), "library").duration;
      measured.push_back(
          {operation, nodes, nodes * 8,
           collectives::bus_factor(operation, nodes * 8) * static_cast<double>(kSize.value) / to_seconds(time)});
    }
  const std::vector<collectives::ShareOverNodes> found = network_shares(measured, s.cluster, s.software.transport);
  ASSERT_EQ(found.size(), 3u);
  for (const collectives::ShareOverNodes& each : found)
    EXPECT_NEAR(each.share, collectives::network_share_over(transport, each.nodes), 0.01) << each.nodes;
}

TEST(NetworkShares, LieOnAStraightLineOfLogarithmsAndStayBeyondIt) {
  collectives::Transport transport;
  EXPECT_EQ(collectives::network_share_over(transport, 64), 1);
  transport.network_shares = {{2, 0.8}, {8, 0.2}};
  EXPECT_EQ(collectives::network_share_over(transport, 2), 0.8);
  EXPECT_NEAR(collectives::network_share_over(transport, 4), 0.4, 1e-12);
  EXPECT_EQ(collectives::network_share_over(transport, 8), 0.2);
  EXPECT_EQ(collectives::network_share_over(transport, 64), 0.2);
}

}  // namespace
}  // namespace stepcast::calibrate
