#include "schedules/offload/copies.h"

#include <gtest/gtest.h>

#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

constexpr double kPcie = 25e9;  // bytes a second each way, of round_numbers()

/// Two GPUs on each PCIe switch, so a GPU has half of the switch's link to the host.
constexpr double kShared = kPcie / 2;

Scenario offloading(std::uint32_t gpus, OffloadPlan plan) {
  Scenario s = round_numbers(gpus);
  s.parallelism.data = gpus;
  s.offload = plan;
  return s;
}

topology::Cluster cluster_of(const Scenario& s) {
  return topology::build_cluster(s.cluster.node, s.cluster.fabric, s.cluster.gpus);
}

TEST(HostCopies, GpusOfASwitchShareItsLinkToTheHost) {
  const double bytes = 1e9, latency = 2e-6;
  const HostCopies alone(offloading(1, {}), cluster_of(offloading(1, {})));
  EXPECT_NEAR(to_seconds(alone.to_host(bytes, Tier::host)), bytes / kPcie, latency);
  const HostCopies eight(offloading(8, {}), cluster_of(offloading(8, {})));
  EXPECT_NEAR(to_seconds(eight.to_host(bytes, Tier::host)), bytes / kShared, latency);
  EXPECT_NEAR(to_seconds(eight.from_host(bytes, Tier::host)), bytes / kShared, latency);
  EXPECT_EQ(eight.to_host(bytes, Tier::gpu), Time{});
}

TEST(HostCopies, ANodesDrivesAreSharedByItsGpus) {
  const Scenario s = offloading(8, {.nvme_bandwidth = Bandwidth{10e9}});
  const HostCopies copies(s, cluster_of(s));
  EXPECT_NEAR(to_seconds(copies.from_host(1e9, Tier::nvme)), 8 * 1e9 / 10e9, 2e-6);
}

TEST(HostCopies, APassTakesTheLongestOfComputeAndCopiesOrTheirSum) {
  Block block;
  block.parameters = 5e8;  // 1 GB in fp16: 40 ms
  block.saved = 2.5e9;     // 100 ms
  const PassTime alone{milliseconds(60), milliseconds(60), {}};
  Scenario s = offloading(1, {.parameters = Tier::host, .activations = Tier::host});
  const HostCopies copies(s, cluster_of(s));
  EXPECT_NEAR(to_seconds(forward_with_copies(s, block, alone, copies).duration), 0.100, 1e-5);  // out at the same time
  EXPECT_NEAR(to_seconds(backward_with_copies(s, block, alone, copies).duration), 0.140, 1e-5);
  s.offload.overlap = false;
  const PassTime forward = forward_with_copies(s, block, alone, copies);
  EXPECT_NEAR(to_seconds(forward.duration), 0.060 + 0.040 + 0.100, 1e-5);
  EXPECT_EQ(forward.duration, forward.compute + forward.exposed_tensor + forward.exposed_copy);
}

TEST(HostCopies, BringExpertsThatAreSharedAmongTheRanksThatHoldThem) {
  Block block;
  block.parameters = 4e8;
  block.expert_parameters = 3e8;
  const PassTime alone{};
  Scenario s = offloading(8, {.optimizer = Tier::host, .parameters = Tier::host, .overlap = false});
  const HostCopies copies(s, cluster_of(s));
  const auto forward = [&] { return to_seconds(forward_with_copies(s, block, alone, copies).duration); };
  const auto backward = [&] { return to_seconds(backward_with_copies(s, block, alone, copies).duration); };
  s.data_parallel.zero = 3;
  for (const std::uint32_t expert : {2u, 8u}) {  // four ranks hold each expert, or one
    s.parallelism.expert = expert;
    const double shard = 2 * (1e8 / 8 + 3e8 / (8.0 / expert));
    EXPECT_NEAR(forward(), shard / kShared, 1e-5) << expert;
    EXPECT_NEAR(backward(), (shard + 2 * shard) / kShared, 1e-5) << expert;  // their gradients leave in fp32
  }
  s.data_parallel.zero = 2;
  EXPECT_NEAR(forward(), 2 * 4e8 / kShared, 1e-5);
  EXPECT_NEAR(backward(), (2 * 4e8 + 4 * (1e8 / 8 + 3e8)) / kShared, 1e-5);
}

TEST(HostCopies, OfSomeLayersActivationsAreSpreadOverAllLayersPasses) {
  Block block;
  block.saved = 2.5e9;  // 100 ms
  Scenario s = offloading(1, {.activations = Tier::host});
  s.offload.activation_layers = s.model.layers / 4;
  const HostCopies copies(s, cluster_of(s));
  const PassTime alone{milliseconds(10), milliseconds(10), {}};
  EXPECT_NEAR(to_seconds(forward_with_copies(s, block, alone, copies).duration), 0.025, 1e-5);
  EXPECT_NEAR(to_seconds(backward_with_copies(s, block, alone, copies).duration), 0.025, 1e-5);
}

TEST(HostCopies, AreNoFasterThanMeasured) {
  Scenario s = offloading(1, {.optimizer = Tier::host, .overlap = false});
  s.host_link.to_gpu = {microseconds(10), Bandwidth{20e9}};
  s.host_link.to_host = {microseconds(20), Bandwidth{1e12}};  // faster than its link: the link counts
  s.host_link.both = {microseconds(30), Bandwidth{15e9}};
  const HostCopies apart(s, cluster_of(s));
  EXPECT_NEAR(to_seconds(apart.from_host(1e9, Tier::host)), 10e-6 + 1e9 / 20e9, 1e-9);
  EXPECT_NEAR(to_seconds(apart.to_host(1e9, Tier::host)), 20e-6 + 1e9 / kPcie, 1e-9);
  s.offload.overlap = true;
  const HostCopies together(s, cluster_of(s));
  EXPECT_NEAR(to_seconds(together.to_host(1e9, Tier::host)), 30e-6 + 1e9 / 15e9, 1e-9);
  s = offloading(8, {.optimizer = Tier::host});
  s.host_link.both.bandwidth = Bandwidth{15e9};
  const HostCopies shared(s, cluster_of(s));  // two GPUs on a link of 25 GB/s
  EXPECT_NEAR(to_seconds(shared.to_host(1e9, Tier::host)), 1e9 / kShared, 3e-6);
}

TEST(HostCopies, ComputeIsSlowerWhileTheyRun) {
  Block block;
  block.saved = 2.5e9;  // 100 ms
  Scenario s = offloading(1, {.activations = Tier::host});
  s.host_link.slowdown = 0.25;
  const HostCopies copies(s, cluster_of(s));
  const auto pass = [&](int compute) {
    const PassTime alone{milliseconds(compute), milliseconds(compute), {}};
    return to_seconds(forward_with_copies(s, block, alone, copies).duration);
  };
  EXPECT_NEAR(pass(60), 0.100, 1e-5);           // 75 ms of compute, hidden
  EXPECT_NEAR(pass(90), 0.110, 1e-5);           // 80 ms beside them, 10 ms after
  EXPECT_NEAR(pass(200), 0.200 + 0.020, 1e-5);  // of 100 ms of copies compute loses a fifth
}

TEST(UpdateOnHost, IsTheLongestOfUpdateDrivesAndCopies) {
  const Scenario host = offloading(1, {.optimizer = Tier::host, .adam_rate = 4e9});
  const HostCopies copies(host, cluster_of(host));
  EXPECT_NEAR(to_seconds(update_on_host(host, 1e9, copies)), 0.25, 1e-6);
  const Scenario eight = offloading(8, host.offload);
  // Of eight GPUs on the same CPUs.
  EXPECT_NEAR(to_seconds(update_on_host(eight, 1e9, HostCopies(eight, cluster_of(eight)))), 2.0, 1e-6);
  Scenario apart = host;
  apart.offload.overlap = false;
  EXPECT_NEAR(to_seconds(update_on_host(apart, 1e9, copies)), 0.25 + (4e9 + 2e9) / kPcie, 1e-5);
  const Scenario drive = offloading(1, {.optimizer = Tier::nvme, .nvme_bandwidth = Bandwidth{8e9}});
  EXPECT_NEAR(to_seconds(update_on_host(drive, 1e9, copies)), 2 * 12e9 / 8e9, 1e-6);
}

TEST(Offload, MovesTheOptimizerAndItsUpdate) {
  const Scenario s = offloading(1, {.optimizer = Tier::host});
  const Forecast f = forecast(s), before = forecast(offloading(1, {}));
  const MemoryUse &use = f.stages.at(0).memory, &whole = before.stages.at(0).memory;
  EXPECT_EQ(use.optimizer, Bytes{});
  EXPECT_EQ(use.host.optimizer, whole.optimizer);
  // In ZeRO 0 gradients stay on the GPU, and the host gets its own in fp32.
  EXPECT_EQ(static_cast<double>(use.host.gradients.value), 4 * f.parameters);
  EXPECT_EQ(use.peak() + use.host.sum(), whole.peak() + use.host.gradients);
  EXPECT_NEAR(to_seconds(f.stages.at(0).time.optimizer), f.parameters / 4e9, 1e-6);
}

TEST(Offload, ZeroOffloadTrains10BillionParametersOnOneV100) {
  // Ren et al. 2021 (arXiv 2101.06840), fig. 7: 13 billion on one V100 of 32 GB, with PyTorch 1.4 billion.
  Scenario s = offloading(1, {.optimizer = Tier::host});
  s.model = {"10B", Family::gpt, 50, 4096, 32, 32, 4 * 4096, 50304, ""};
  s.training = {.global_batch = 4, .micro_batch = 1, .sequence = 1024, .precision = Precision::fp16};
  s.recompute = Recompute::full;
  s.data_parallel.zero = 2;
  s.cluster.gpu.memory = {32LL << 30};
  EXPECT_FALSE(forecast(s).out_of_memory);
  s.offload = {};
  EXPECT_TRUE(forecast(s).out_of_memory);
}

TEST(Offload, ZeroInfinityKeepsTwoBlocksOfParametersOnTheGpu) {
  Scenario s = offloading(8, {.optimizer = Tier::nvme, .parameters = Tier::host, .nvme_bandwidth = Bandwidth{25e9}});
  s.data_parallel.zero = 3;
  const Forecast f = forecast(s);
  const MemoryUse& use = f.stages.at(0).memory;
  EXPECT_EQ(use.host.parameters.value, static_cast<std::int64_t>(f.parameters * 2 / 8));
  // The shards of the two blocks; the buffers have what is gathered of them. The largest is the embedding.
  EXPECT_EQ(use.parameters.value, 2 * (51200 + 1024) * 2048 * 2 / 8);
  EXPECT_EQ(use.nvme.sum().value, static_cast<std::int64_t>(f.parameters * 12 / 8));
  EXPECT_EQ(use.optimizer, Bytes{});
}

TEST(Offload, LeavesOtherLayersActivationsOnTheGpu) {
  Scenario s = round_numbers(1);
  const auto use = [&] { return forecast(s).stages.at(0).memory; };
  const MemoryUse stay = use();
  s.offload.activations = Tier::host;
  const MemoryUse leave = use();
  s.offload.activation_layers = s.model.layers;
  EXPECT_EQ(use().activations, leave.activations);
  s.offload.activation_layers = s.model.layers / 4;
  const MemoryUse quarter = use();
  EXPECT_NEAR(static_cast<double>(quarter.host.activations.value),
              static_cast<double>(leave.host.activations.value) / 4, 1);
  // Two layers' worth is under way, of the quarter as of all.
  EXPECT_EQ(quarter.host.activations + quarter.activations, leave.host.activations + leave.activations);
  EXPECT_LT(quarter.activations, stay.activations);
}

// A GPU of half the speed computes longer beside copies that take as long as before.
TEST(Offload, ASlowGpuWaitsTheLessForItsCopies) {
  Scenario s = round_numbers(1);
  s.offload = {.activations = Tier::host};
  s.cluster.node.pcie->bandwidth = {1e9};
  const Forecast alone = forecast(s);
  s.imperfections = {.slow_gpu = 0, .gpu_speed = 0.8};
  const Forecast slow = forecast(s);
  ForecastOptions copied;
  copied.transfers = true;
  EXPECT_LT(slow.stages.at(0).time.offload, alone.stages.at(0).time.offload);
  EXPECT_NEAR(slow.step / forecast(s, copied).step, 1, 1e-3);
}

// Of no use to plans that do not fit, if it took more.
TEST(Offload, NeverTakesMoreMemoryOfAGpu) {
  Scenario s = round_numbers(1);
  s.software.gradients_persist = false;
  s.training.global_batch = s.training.micro_batch;
  const Bytes before = forecast(s).stages.at(0).memory.peak();
  for (const OffloadPlan& plan :
       {OffloadPlan{.optimizer = Tier::host}, OffloadPlan{.parameters = Tier::host},
        OffloadPlan{.activations = Tier::host}, OffloadPlan{.optimizer = Tier::host, .activations = Tier::host}})
    for (const int zero : {0, 2}) {
      s.offload = plan;
      s.data_parallel.zero = zero;
      EXPECT_LE(forecast(s).stages.at(0).memory.peak(), before) << zero;
    }
}

TEST(Offload, ActivationsCostNothingWhereComputeHidesThem) {
  Scenario s = round_numbers(1);
  s.offload = {.activations = Tier::host};
  s.cluster.node.pcie->bandwidth = {1e15};
  const Forecast free = forecast(s);
  EXPECT_EQ(free.stages.at(0).time.offload, Time{});
  s.cluster.node.pcie->bandwidth = {1e9};
  const Forecast slow = forecast(s);
  EXPECT_GT(slow.stages.at(0).time.offload, Time{});
  EXPECT_LT(slow.stages.at(0).memory.activations, forecast(round_numbers(1)).stages.at(0).memory.activations);
  EXPECT_EQ(slow.stages.at(0).time.sum(), slow.step);
}

}  // namespace
}  // namespace stepcast::schedules
