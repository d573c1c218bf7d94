#include "schedules/step/asynchronous.h"

#include <gtest/gtest.h>

#include <limits>

#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

/// Workers with a node and a network card each; servers update for nothing unless an optimizer is given.
Scenario workers(std::uint32_t count, Consistency consistency = Consistency::asynchronous) {
  Scenario s = round_numbers(count);
  s.cluster.node.gpus = s.cluster.node.nics = 1;
  s.cluster.node.gpus_per_pcie_switch = 1;
  s.cluster.node.sockets = 1;
  s.parallelism.data = count;
  s.training.optimizer = Optimizer::none;
  s.data_parallel.mode = DataParallelMode::parameter_server;
  s.data_parallel.consistency = consistency;
  s.data_parallel.overlap = false;
  return s;
}

void free_network(Scenario& s) {
  for (auto* link : {&s.cluster.node.nic, &s.cluster.node.pcie}) {
    (*link)->bandwidth = {1e30};
    (*link)->latency = {};
  }
  s.software.transport = {};
}

Time compute(const Scenario& s) { return forecast(s).stages[0].time.compute; }

TEST(Asynchronous, WorkersThatNothingHoldsUpGoAtTheirComputeRate) {
  Scenario s = workers(8);
  free_network(s);
  const Forecast f = forecast(s);
  EXPECT_NEAR(to_seconds(f.step), to_seconds(compute(s)), 1e-9);
  EXPECT_NEAR(f.staleness->mean, 7, 1e-9);  // each other worker once
  EXPECT_EQ(f.staleness->most, 7u);
}

TEST(Asynchronous, AGraphOfTheStepLeavesNothingOfTheHostsTimeForPasses) {
  Scenario s = workers(4);
  const Time eager = forecast(s).step;
  s.software.host_per_pass = from_seconds(0.5);
  EXPECT_GT(forecast(s).step, eager);
  s.software.cuda_graphs = CudaGraphs::step;
  EXPECT_LE(forecast(s).step, eager);
}

// A straggler that is none: the host runs ahead from one micro-batch to the next, whether they are alike or not.
TEST(Asynchronous, AGpuOfFullSpeedIsNoStraggler) {
  Scenario s = workers(4);
  s.training.global_batch = 8 * s.training.global_batch;
  s.software.host_per_kernel = from_seconds(30e-6);
  const Time plain = forecast(s).step;
  s.imperfections = {.slow_gpu = 0, .gpu_speed = 1};
  EXPECT_EQ(forecast(s).step, plain);
}

TEST(Asynchronous, ASlowWorkerCostsItsOwnStepsAlone) {
  // n workers at a rate of 1/c and one at half of it: n c / (n - 1/2). All that wait take 2 c.
  Scenario s = workers(8);
  free_network(s);
  const double c = to_seconds(compute(s));
  s.imperfections = {.slow_gpu = 5, .gpu_speed = 0.5};
  EXPECT_NEAR(to_seconds(forecast(s).step), 8 * c / 7.5, 1e-3 * c);
  s.data_parallel.consistency = Consistency::bulk_synchronous;
  EXPECT_NEAR(to_seconds(forecast(s).step), 2 * c, 1e-3 * c);
}

TEST(Asynchronous, TheServersLinkBindsAllButItsOwnWorker) {
  // Little to compute, 4 bytes of each gradient into one card of 20 GB/s, and nothing that ever leaves it idle.
  Scenario s = workers(8);
  s.training.global_batch = 8;
  s.training.sequence = 128;
  const Forecast f = forecast(s);
  const double link = 20e9 / (4 * f.parameters), own = 1 / to_seconds(f.stages[0].time.compute);
  EXPECT_NEAR(to_seconds(f.step) * (own + link) / 8, 1, 0.03);
  EXPECT_GT(f.busiest_link->utilisation, 0.97);
  EXPECT_LT(f.busiest_link->utilisation, 1.01);
}

TEST(Asynchronous, HalfTheBytesAreTwiceTheRateOfABoundServer) {
  Scenario s = workers(8);
  s.training.global_batch = 8;
  s.training.sequence = 128;
  const auto of_others = [](const Scenario& asked) {
    const Forecast f = forecast(asked);
    return 8 / to_seconds(f.step) - 1 / to_seconds(f.stages[0].time.compute);
  };
  const double plain = of_others(s);
  s.data_parallel.gradient_precision = Precision::fp16;  // as many bytes as parameters coming back
  EXPECT_NEAR(of_others(s) / plain, 2, 0.05);
}

TEST(Asynchronous, ShardsSpreadTheServersLoad) {
  // Of a worker's gradients (4 bytes) and parameters (2 bytes) 7 of 8 shards cross its card; as much of the others'
  // does, since it serves them, at the same time or not.
  Scenario s = workers(8);
  const Time one = forecast(s).step;
  s.data_parallel.mode = DataParallelMode::sharded_parameter_server;
  const Forecast f = forecast(s);
  EXPECT_LT(f.step, one);
  const double compute = to_seconds(f.stages[0].time.compute), messages = 7.0 / 8 * 6 * f.parameters / 20e9;
  EXPECT_GT(to_seconds(f.step), compute + messages);
  EXPECT_LT(to_seconds(f.step), compute + 2 * messages);
}

TEST(Asynchronous, UpdatesOfAllWorkersShareTheServersMemory) {
  // Nothing to wait for but n updates a step: 60 bytes a parameter at 2 TB/s.
  Scenario s = workers(8);
  free_network(s);
  s.training = {.global_batch = 8, .micro_batch = 1, .sequence = 16, .precision = Precision::fp16};
  s.cluster.gpu.memory_bandwidth = {0.1e12};
  const Forecast f = forecast(s);
  EXPECT_NEAR(to_seconds(f.step) / (8 * 60 * f.parameters / 0.1e12), 1, 0.02);
}

TEST(Asynchronous, OverlapSendsBucketsUnderBackward) {
  Scenario s = workers(4);
  const Forecast apart = forecast(s);
  s.data_parallel.overlap = true;
  s.data_parallel.bucket = Bytes{256 << 20};
  const Forecast beside = forecast(s);
  EXPECT_LT(beside.step, apart.step);
  EXPECT_GE(beside.step, beside.stages[0].time.compute);
}

TEST(Asynchronous, ThePartsOfAMeanStepAddUp) {
  Scenario s = workers(8);
  s.imperfections = {.slow_gpu = 5, .gpu_speed = 0.7, .jitter = 0.1};
  const Forecast f = forecast(s);
  EXPECT_EQ(f.stages[0].time.sum(), f.step);
  EXPECT_GT(f.stages[0].time.exposed_data, Time{});
}

TEST(BoundedStaleness, OfNoneWaitsForAll) {
  Scenario s = workers(8, Consistency::bounded_staleness);
  free_network(s);
  s.data_parallel.staleness = 0;
  const double c = to_seconds(compute(s));
  EXPECT_NEAR(to_seconds(forecast(s).step), c, 1e-9);
  s.imperfections = {.slow_gpu = 5, .gpu_speed = 0.5};
  EXPECT_NEAR(to_seconds(forecast(s).step), 2 * c, 1e-6);
}

TEST(BoundedStaleness, WaitsForEachBucketByItself) {
  // Both ways of the server's card at once, as where all workers wait: the first bucket comes back while the last
  // leaves.
  Scenario s = workers(8, Consistency::bounded_staleness);
  s.training.global_batch = 8;
  s.training.sequence = 128;
  s.data_parallel.overlap = true;
  s.data_parallel.bucket = Bytes{64 << 20};
  s.data_parallel.staleness = 0;
  const Time bounded = forecast(s).step;
  s.data_parallel.staleness = {};
  s.data_parallel.consistency = Consistency::bulk_synchronous;
  EXPECT_NEAR(bounded / forecast(s).step, 1, 0.05);
}

TEST(BoundedStaleness, LosesNoTimeToOneTensorThatIsMostOfTheModel) {
  // Its parameters come back in parts while the rest of its gradients leave; what is less strict is no slower.
  Scenario s = workers(8, Consistency::bounded_staleness);
  s.training.global_batch = 8;
  s.training.sequence = 128;
  s.data_parallel.bucket = Bytes{25'000'000};
  Time before{std::numeric_limits<std::int64_t>::max()};
  for (const std::uint32_t staleness : {0u, 1u, 4u}) {
    s.data_parallel.staleness = staleness;
    const Time step = forecast(s).step;
    EXPECT_LE(step / before, 1.001) << staleness;
    before = step;
    if (staleness > 0) continue;
    Scenario all = s;
    all.data_parallel.staleness.reset();
    all.data_parallel.consistency = Consistency::bulk_synchronous;
    EXPECT_NEAR(step / forecast(all).step, 1, 0.15);
  }
}

TEST(BoundedStaleness, GoesAtThePaceOfALastingStraggler) {
  Scenario s = workers(8, Consistency::bounded_staleness);
  free_network(s);
  s.data_parallel.staleness = 3;
  const double c = to_seconds(compute(s));
  s.imperfections = {.slow_gpu = 5, .gpu_speed = 0.5};
  EXPECT_NEAR(to_seconds(forecast(s).step), 2 * c, 1e-2 * c);
}

TEST(BoundedStaleness, HidesJitterBetterTheMoreItAllows) {
  Scenario s = workers(8, Consistency::bounded_staleness);
  free_network(s);
  s.training.global_batch = 8;
  s.imperfections.jitter = 0.3;
  Time before{std::numeric_limits<std::int64_t>::max()};
  for (const std::uint32_t staleness : {0u, 1u, 4u}) {
    s.data_parallel.staleness = staleness;
    const Time step = forecast(s).step;
    EXPECT_LT(step, before) << staleness;
    before = step;
  }
  s.data_parallel.consistency = Consistency::asynchronous;
  s.data_parallel.staleness.reset();
  EXPECT_LE(forecast(s).step, before);
}

}  // namespace
}  // namespace stepcast::schedules
