// What a step waits for, beside closed forms.

#include "search/sensitivity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "schedules/results/time_parts.h"
#include "tests/sanitized.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::search {
namespace {

using namespace schedules;

Sensitivity of(const Scenario& s) {
  workload::Machines machines;
  return sensitivity(s, machines);
}

const Elasticity& elasticity(const Sensitivity& s, std::string_view name) {
  for (const ResourceEffect& each : s.effects)
    if (each.resource->name == name) return each.elasticity;
  throw std::logic_error("no resource " + std::string(name));
}

Scenario operators(std::uint32_t gpus, std::vector<NetworkLayer> layers) {
  Scenario s = round_numbers(gpus);
  s.model = {};
  s.model.family = Family::operators;
  s.model.network.layers = std::move(layers);
  s.model.layers = std::ssize(s.model.network.layers);
  s.training = {.global_batch = gpus, .micro_batch = 1, .sequence = 1, .precision = Precision::fp16};
  s.training.optimizer = Optimizer::none;
  s.parallelism.data = gpus;
  s.cluster.gpu.gemm.mainloop = 100;  // of a multiply its flops at the sustained rate are what counts
  return s;
}

/// A square multiply whose backward pass is the same multiply once more.
NetworkLayer multiply(std::int64_t size, double parameters = 0) {
  NetworkLayer layer;
  layer.kind = LayerKind::gemm;
  layer.m = layer.n = layer.k = size;
  layer.parameters = parameters;
  layer.backward.emplace({layer});
  return layer;
}

NetworkLayer copy_of(double bytes) {
  NetworkLayer layer;
  layer.kind = LayerKind::elementwise;
  layer.bytes = bytes;
  layer.parameters = 0;
  layer.backward.emplace({layer});
  return layer;
}

TEST(Sensitivity, OfAMultiplyIsItsFlopsAndTheWritingOfItsResult) {
  constexpr double kSize = 4096;
  const Scenario s = operators(1, {multiply(4096)});
  const double flops = 2 * kSize * kSize * kSize / (300e12 * s.cluster.gpu.gemm.sustained),
               written = s.cluster.gpu.gemm.exposed_write * kSize * kSize * 2 / 2e12;
  const Sensitivity found = of(s);
  EXPECT_NEAR(to_seconds(found.forecast.step), 2 * (flops + written), 1e-9);
  // A straight line through two points of a + b / f lies that far from its slope.
  EXPECT_NEAR(elasticity(found, "gpu_flops").central, -flops / (flops + written), 1e-5);
  EXPECT_NEAR(elasticity(found, "gpu_memory").central, -written / (flops + written), 1e-5);
  EXPECT_EQ(to_seconds(elasticity(found, "gpu_flops").twice), 2 * to_seconds(from_seconds(flops / 2 + written)));
  for (const char* none : {"nvlink", "nvlink_latency", "network", "network_latency", "pcie", "collective_launch"})
    EXPECT_EQ(elasticity(found, none).central, 0) << none;
  EXPECT_EQ(found.forecast.critical_path->compute, found.forecast.step);
}

TEST(Sensitivity, OfTheLauncherIsTheStepWhereTheHostIsLate) {
  Scenario s = operators(1, std::vector<NetworkLayer>(100, multiply(64)));
  s.software.host_per_kernel = microseconds(100);
  const Sensitivity found = of(s);
  EXPECT_NEAR(elasticity(found, "host").central, -1, 0.01);
  EXPECT_NEAR(found.together.central, -1, 1e-6);
  EXPECT_GT(found.forecast.critical_path->host, found.forecast.critical_path->compute);
}

/// On two nodes: the gradients of the second layer are summed while the first one's backward pass runs.
Scenario summed_behind(double bytes) {
  Scenario s = operators(16, {copy_of(bytes), multiply(2048, 4e6)});
  s.software.data_overlap = true;
  s.cluster.node.nic->bandwidth = Bandwidth{9e9};  // unlike NVLink's: no two flows end at once
  return s;
}

TEST(Sensitivity, OfTrafficThatComputeHidesIsNothing) {
  const Sensitivity hidden = of(summed_behind(40e9)), seen = of(summed_behind(1e6));
  for (const char* name : {"network", "network_latency", "nvlink", "nvlink_latency", "collective_launch"}) {
    EXPECT_EQ(elasticity(hidden, name).central, 0) << name;
    EXPECT_EQ(elasticity(hidden, name).twice, hidden.forecast.step) << name;
  }
  EXPECT_EQ(hidden.forecast.critical_path->exposed_data, Time{});
  EXPECT_LT(elasticity(seen, "network").central, -0.1);
  EXPECT_GT(seen.forecast.critical_path->exposed_data, Time{});
  for (const Sensitivity& each : {hidden, seen}) EXPECT_NEAR(each.together.central, -1, 1e-4);
  EXPECT_NEAR(hidden.sum, -1, 1e-4);
}

TEST(Sensitivity, IsAKinkWhereTwoThingsAreEquallyLate) {
  Scenario s = operators(1, {multiply(4096)});
  const Time step = of(s).forecast.step;
  s.input.bytes_per_sample = Bytes{step.value};  // read in the time of the step, to the picosecond
  s.input.storage_bandwidth = Bandwidth{1e12};
  const Sensitivity found = of(s);
  ASSERT_EQ(found.forecast.step, step);
  const Elasticity &storage = elasticity(found, "storage"), &flops = elasticity(found, "gpu_flops");
  EXPECT_TRUE(storage.kink);
  EXPECT_EQ(storage.if_better, 0);
  EXPECT_NEAR(storage.if_worse, -1, 1e-6);
  EXPECT_NEAR(storage.central, -0.5, 1e-6);
  EXPECT_TRUE(flops.kink);
  EXPECT_EQ(flops.better, step);
  EXPECT_FALSE(found.together.kink);
  EXPECT_NEAR(found.together.central, -1, 1e-6);
  s.input.storage_bandwidth = Bandwidth{2e12};
  EXPECT_EQ(elasticity(of(s), "storage").central, 0);
  EXPECT_FALSE(elasticity(of(s), "gpu_flops").kink);
}

/// With every rate and time that a scenario can have.
Scenario of_everything() {
  Scenario s = round_numbers(32);
  s.parallelism = {.tensor = 4, .pipeline = 2, .data = 4};
  s.training.global_batch = 32;
  s.cluster.gpu.memory_ramp = microseconds(3);
  s.cluster.fabric.switch_latency = microseconds(1);
  s.cluster.fabric.cable_latency = nanoseconds(100);
  s.software.kernel_gap = microseconds(2);
  s.software.host_per_kernel = microseconds(20);
  s.software.host_per_collective = microseconds(30);
  s.software.host_per_pass = microseconds(40);
  s.software.host_per_step = milliseconds(2);
  s.software.host_per_peer = microseconds(5);
  s.software.tensor_delay = microseconds(7);
  s.software.send_delay = microseconds(9);
  s.software.activation_hold = microseconds(6);
  s.software.gradient_hold = microseconds(3);
  s.software.transport.ramp = microseconds(8);
  s.checkpoint = {.every = 10, .bandwidth = Bandwidth{20e9}};
  s.input.preprocessing = milliseconds(100);
  return s;
}

TEST(Sensitivity, OfAllTogetherIsTheWholeStep) {
  LEFT_TO_RELEASE();
  Scenario plain = of_everything(), offloaded = of_everything(), slow = of_everything(), full = of_everything(),
           wide = of_everything(), by_hosts = of_everything();
  offloaded.offload.optimizer = Tier::nvme;
  offloaded.offload.nvme_bandwidth = Bandwidth{25e9};
  slow.imperfections.slow_gpu = 3;
  slow.imperfections.gpu_speed = 0.5;
  full.recompute = Recompute::full;
  full.software.host_per_checkpoint = microseconds(50);
  full.data_parallel.zero = 1;
  full.software.send_delay_nodes = 2;
  wide.parallelism = {.tensor = 16, .pipeline = 1, .data = 2};
  wide.software.host_per_kernel = wide.software.host_per_peer = nanoseconds(100);  // the host is ahead
  wide.software.host_per_collective = nanoseconds(100);
  wide.input = {};
  by_hosts.offload.optimizer = Tier::host;
  by_hosts.offload.adam_rate = 2e8;
  for (const Scenario& s : {offloaded, slow, plain, full, wide, by_hosts}) {
    const Sensitivity found = of(s);
    EXPECT_NEAR(found.together.central, -1, 1e-5);
    EXPECT_NEAR(to_seconds(found.together.twice) / to_seconds(found.forecast.step), 0.5, 1e-5);
    EXPECT_NEAR(found.sum, -1, 0.01);
    EXPECT_TRUE(
        std::ranges::is_sorted(found.effects, {}, [](const ResourceEffect& e) { return e.elasticity.central; }));
    EXPECT_EQ(found.forecast.critical_path->sum(), found.forecast.step);
    EXPECT_EQ(found.forecast.step, forecast(s).step);
  }
}

TEST(Sensitivity, KnowsWhichResourcesAScenarioHas) {
  const auto names = [](const Scenario& s) {
    std::string all;
    for (const RatedResource& each : resources())
      if (has(s, each)) all += std::string(each.name) + " ";
    return all;
  };
  EXPECT_EQ(names(round_numbers(1)),
            "gpu_flops gpu_memory nvlink nvlink_latency pcie pcie_latency network network_latency collective_launch ");
  EXPECT_EQ(names(of_everything()),
            "gpu_flops gpu_memory kernel_start host nvlink nvlink_latency pcie pcie_latency network network_latency "
            "collective_launch storage cpu ");
}

}  // namespace
}  // namespace stepcast::search
