#include "schedules/data_parallel/compression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "collectives/timing/timer.h"
#include "schedules/forecast.h"
#include "schedules/parallel/ranks.h"
#include "tests/schedules/scenarios.h"
#include "topology/cluster.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

Scenario exposed(std::uint32_t gpus) {
  Scenario s = round_numbers(gpus);
  s.parallelism.data = gpus;
  s.data_parallel.overlap = false;
  return s;
}

Time collective(const Scenario& s, Operation operation, double bytes) {
  const topology::Cluster cluster = topology::build_cluster(s.cluster.node, s.cluster.fabric, s.cluster.gpus);
  const Ranks ranks(s.parallelism, cluster.gpus_per_node());
  collectives::Timer timer(cluster, s.software.transport);
  const std::vector<collectives::Group> all{ranks.data_group(0, 0)};
  return timer.time(operation, {static_cast<std::int64_t>(bytes)}, all).duration;
}

TEST(Compression, MessagesOfARatioAreSummedAndSmaller) {
  Scenario s = exposed(16);
  const Forecast plain = forecast(s);
  s.data_parallel.compression.ratio = 8;
  const Forecast f = forecast(s);
  EXPECT_EQ(f.stages[0].time.exposed_data, collective(s, Operation::all_reduce, std::ceil(4 * f.parameters / 8)));
  const double times = plain.stages[0].time.exposed_data / f.stages[0].time.exposed_data;
  EXPECT_NEAR(times, 8, 0.4);  // 4 GB: latency counts for little
}

TEST(Compression, TheLargestGradientsAreGatheredWithTheirIndices) {
  Scenario s = exposed(16);
  s.data_parallel.compression.top_k = 0.01;
  const Forecast f = forecast(s);
  EXPECT_EQ(f.stages[0].time.exposed_data,
            collective(s, Operation::all_gather, std::ceil(f.parameters * 0.01 * (4 + 4) * 16)));
  s.data_parallel.gradient_precision = Precision::fp16;
  EXPECT_EQ(forecast(s).stages[0].time.exposed_data,
            collective(s, Operation::all_gather, std::ceil(f.parameters * 0.01 * (2 + 4) * 16)));
}

TEST(Compression, OfTheLargestIsNoGainWhereManyRanksSendThem) {
  // n k (v + 4) bytes come in at every rank, against 2 v of an all-reduce.
  Scenario s = exposed(64);
  const Time plain = forecast(s).stages[0].time.exposed_data;
  s.data_parallel.compression.top_k = 0.001;
  EXPECT_LT(forecast(s).stages[0].time.exposed_data, plain);
  s.data_parallel.compression.top_k = 0.1;
  EXPECT_GT(forecast(s).stages[0].time.exposed_data, plain);
}

TEST(Compression, TakesKernelsAndWhatIsLeftOut) {
  Scenario s = exposed(16);
  const Forecast plain = forecast(s);
  s.data_parallel.compression.ratio = 4;
  const Forecast f = forecast(s);
  // Five times every gradient and the message once, then the message and every gradient, at 2 TB/s.
  const double gradients = 4 * f.parameters, message = gradients / 4;
  EXPECT_NEAR(to_seconds(f.stages[0].time.compression), (6 * gradients + 2 * message) / 2e12, 1e-9);
  EXPECT_NEAR(static_cast<double>((f.stages[0].memory.buffers - plain.stages[0].memory.buffers).value), gradients, 1);
  EXPECT_EQ(f.step - plain.step,
            f.stages[0].time.compression + f.stages[0].time.exposed_data - plain.stages[0].time.exposed_data);
  s.data_parallel.compression = {.top_k = 0.5};
  const double values = f.parameters * 0.5;
  EXPECT_NEAR(to_seconds(forecast(s).stages[0].time.compression),
              (5 * gradients + 8 * values + gradients + 16 * (8 + 64) * values) / 2e12, 1e-9);
}

TEST(Compression, IsMadeBucketByBucketUnderBackward) {
  Scenario s = exposed(16);
  s.data_parallel.overlap = true;
  s.data_parallel.compression.ratio = 4;
  const Forecast f = forecast(s, {.unfold = false, .trace = true});
  EXPECT_GT(std::ranges::count(f.spans, "compression", &Span::name), 3);
  EXPECT_EQ(f.step, forecast(s, {.unfold = true}).step);
  EXPECT_EQ(f.stages[0].time.sum(), f.step);
}

TEST(WireType, ScalesTheBytesOfGradients) {
  Scenario s = exposed(16);
  for (const auto& [precision, bytes] :
       {std::pair{Precision::fp32, 4.0}, {Precision::bf16, 2.0}, {Precision::fp16, 2.0}}) {
    s.data_parallel.gradient_precision = precision;
    const Forecast f = forecast(s);
    EXPECT_EQ(f.stages[0].time.exposed_data, collective(s, Operation::all_reduce, bytes * f.parameters));
  }
}

}  // namespace
}  // namespace stepcast::schedules
