// The host as a queue that runs ahead of the GPU, through forecast(): against the queue itself, kernel by kernel.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/cost/kernel_time.h"
#include "models/cost/optimizer.h"
#include "models/layers/model_blocks.h"
#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "schedules/results/time_parts.h"
#include "tests/schedules/free_links.h"

namespace stepcast::schedules {
namespace {

/// One GPU, one sample a micro-batch, and as many micro-batches as said.
Scenario on_one_gpu(std::int64_t micro_batches) {
  Scenario s = round_numbers(1);
  s.cluster.node.gpus = 8;
  s.parallelism = {};
  s.model.layers = 4;
  s.model.hidden = 512;
  s.model.heads = s.model.kv_heads = 8;
  s.model.ffn = 2048;
  s.training.sequence = 256;
  s.training.global_batch = micro_batches;
  return s;
}

struct Ends {
  Time host{}, gpu{};
};

/// A step's kernels in the order in which they are launched, through a queue.
Ends queued(const Scenario& s) {
  const Blocks model = blocks(s);
  const KernelCost cost{s.cluster.gpu, s.software, s.training.precision};
  Ends ends;
  const auto run = [&](const Kernels& kernels) {
    for (const Kernel& kernel : kernels) {
      const int times = launches(kernel);
      for (int i = 0; i < times; ++i) {
        ends.gpu = std::max(ends.gpu, ends.host);
        // A kernel's launches share its time; what the division leaves is the last one's.
        const Time whole = cost.time(kernel), each{whole.value / times};
        ends.gpu += i + 1 < times ? each : whole - each * (times - 1);
        ends.host += s.software.host_per_kernel;
        if (s.software.launch_blocking)
          ends.host = ends.gpu = std::max(ends.host, ends.gpu + s.software.host_per_kernel);
      }
      if (const auto* touch = std::get_if<Elementwise>(&kernel); touch && touch->host_waits)
        ends.host = ends.gpu = std::max(ends.host, ends.gpu);
    }
  };
  for (std::int64_t m = 0; m < s.training.global_batch; ++m) {
    for (const std::uint32_t place : model.order) run(model.kinds[place].forward);
    for (auto place = model.order.rbegin(); place != model.order.rend(); ++place) {
      if (!model.kinds[*place].recompute.empty()) ends.host += s.software.host_per_checkpoint;
      run(model.kinds[*place].recompute);
      run(model.kinds[*place].backward);
    }
  }
  return ends;
}

Time update(const Scenario& s) {
  return optimizer_time(s.cluster.gpu, s.software, s.training.optimizer, forecast(s).parameters) +
         s.software.host_per_step;
}

Time in_parts(const Forecast& f) {
  Time sum{};
  for (const TimePart& part : kTimeParts) sum += f.stages.front().time.*part.time;
  return sum;
}

TEST(Host, AStepOfOneGpuEndsWhenAQueueOfItsKernelsDoes) {
  for (const Recompute recompute : {Recompute::none, Recompute::full})
    for (const std::int64_t micro_batches : {1, 2, 7})
      for (const double each : {0.0, 1.0, 4.0, 9.0, 14.0, 30.0, 80.0}) {
        Scenario s = on_one_gpu(micro_batches);
        s.recompute = recompute;
        s.software.host_per_kernel = from_seconds(each * 1e-6);
        s.software.host_per_checkpoint = microseconds(70);
        const Ends ends = queued(s);
        const Forecast f = forecast(s);
        EXPECT_EQ(f.step, std::max(ends.host, ends.gpu) + update(s)) << each << " us, " << micro_batches;
        EXPECT_EQ(in_parts(f), f.step);
      }
}

// In every layer forward the host waits for the counts of experts' tokens, and has no lead behind them.
TEST(Host, AStepWhoseHostWaitsInEveryLayerEndsWhenThatQueueDoes) {
  Time waited{};
  for (const Recompute recompute : {Recompute::none, Recompute::full})
    for (const std::int64_t micro_batches : {1, 2, 7})
      for (const double each : {0.0, 1.0, 4.0, 9.0, 14.0, 30.0, 80.0}) {
        Scenario s = on_one_gpu(micro_batches);
        s.recompute = recompute;
        s.model.family = Family::moe;
        s.model.experts = {.count = 8, .active = 2, .ffn = 1024};
        s.software.grouped_multiply = true;
        s.software.host_per_kernel = from_seconds(each * 1e-6);
        s.software.host_per_checkpoint = microseconds(70);
        const Time without = forecast(s).step;
        s.software.expert_counts_to_host = true;
        const Ends ends = queued(s);
        const Forecast f = forecast(s);
        EXPECT_EQ(f.step, std::max(ends.host, ends.gpu) + update(s)) << each << " us, " << micro_batches;
        EXPECT_EQ(in_parts(f), f.step);
        EXPECT_GE(f.step, without);
        waited += f.step - without;
        s.software.cuda_graphs = CudaGraphs::step;  // in which no host waits
        EXPECT_EQ(forecast(s).stages.front().time.host, Time{});
      }
  EXPECT_GT(waited, Time{});
}

TEST(Host, OneThatIsFasterThanEveryKernelChangesNothing) {
  Scenario s = on_one_gpu(3);
  const Forecast without = forecast(s);
  s.software.host_per_kernel = nanoseconds(1);
  const Forecast with = forecast(s);
  EXPECT_EQ(with.step, without.step);
  EXPECT_EQ(with.stages.front().time.host, Time{});
}

/// Three micro-batches on each of two GPUs that share parameters out, whose hosts take 50 ms for a layer's hooks:
/// nothing else takes as long.
Scenario gathered_by_two() {
  Scenario s = on_one_gpu(3);
  s.cluster.gpus = 2;
  s.parallelism.data = 2;
  s.training.global_batch = 6;
  s.data_parallel.zero = 3;
  s.software.host_per_gathered_layer = milliseconds(50);
  return s;
}

// Hooks around each of 4 layers whose parameters are gathered: forward, backward, and once more where that is repeated.
TEST(Host, HooksOfGatheredLayersAreInEachPass) {
  for (const Recompute recompute : {Recompute::none, Recompute::full}) {
    Scenario s = gathered_by_two();
    s.recompute = recompute;
    const double passes = recompute == Recompute::none ? 2 : 3, hooks = 3 * passes * 4 * 0.05;
    const double step = to_seconds(forecast(s).step);
    EXPECT_GT(step, hooks);
    EXPECT_LT(step, hooks * 1.05);
    s.data_parallel.zero = 2;
    EXPECT_LT(to_seconds(forecast(s).step), 0.05 * hooks);
  }
}

// Each expert of a loop has three matrices of its own, where a layer's hooks are of five.
TEST(Host, HooksOfExpertsInALoopAreEachItsOwn) {
  Scenario s = gathered_by_two();
  s.model.family = Family::moe;
  s.model.experts = {.count = 8, .active = 2, .ffn = 1024};
  s.software.expert_loop = true;
  const double hooks = 3 * 2 * 4 * 0.05 * (1 + 8 * 3.0 / 5), step = to_seconds(forecast(s).step);
  EXPECT_GT(step, hooks);
  EXPECT_LT(step, hooks * 1.05);
}

TEST(Host, LayersOfExpertsTakeItMoreInEachPassUnlessAGraphHasTheirRouter) {
  Scenario s = on_one_gpu(3);
  s.model.family = Family::moe;
  s.model.experts = {.count = 8, .active = 2, .ffn = 1024};
  s.software.host_per_expert_layer = milliseconds(50);
  const double host = 3 * 2 * 4 * 0.05, step = to_seconds(forecast(s).step);
  EXPECT_GT(step, host);
  EXPECT_LT(step, host * 1.05);
  s.software.cuda_graph_modules.router = true;
  EXPECT_LT(to_seconds(forecast(s).step), 0.05 * host);
  s.software.cuda_graph_modules = {};
  s.model.family = Family::gpt;
  s.model.experts = {};
  EXPECT_LT(to_seconds(forecast(s).step), 0.05 * host);
}

TEST(Host, OneThatIsSlowerThanEveryKernelIsTheStep) {
  Scenario s = on_one_gpu(3);
  s.software.host_per_kernel = milliseconds(5);
  const Forecast f = forecast(s);
  EXPECT_EQ(f.step, queued(s).host + update(s));
  EXPECT_GT(f.stages.front().time.host * 10, f.step * 9);
}

TEST(Host, WithBlockingLaunchesItsTimeIsAddedToEveryKernel) {
  Scenario s = on_one_gpu(2);
  const Forecast without = forecast(s);
  for (const std::int64_t each : {1, 20}) {
    s.software.host_per_kernel = microseconds(each);
    s.software.launch_blocking = true;
    const Forecast f = forecast(s);
    EXPECT_EQ(f.stages.front().time.compute, without.stages.front().time.compute);
    EXPECT_EQ(f.stages.front().time.host, f.step - without.step);
    const Ends ends = queued(s);
    EXPECT_EQ(f.step, ends.gpu + update(s));
  }
}

/// Stages of multiplies alone, whose sends take no time.
Scenario of_stages(std::uint32_t stages, std::uint32_t micro_batches) {
  Scenario s = equal_stages("1f1b", stages, micro_batches);
  s.software.host_per_kernel = milliseconds(1);
  return s;
}

TEST(Host, APipelineOfSlowHostsTakesTheirPassesForItsStages) {
  for (const std::uint32_t stages : {2u, 4u})
    for (const std::uint32_t micro_batches : {4u, 64u}) {
      Scenario s = of_stages(stages, micro_batches);
      s.software.pipeline_sync = true;
      const Forecast f = forecast(s, {.trace = true});
      // The head's launches make the last stage the slowest: it never waits once it has begun.
      std::vector<Time> of_stage(stages);
      for (const PassSpan& pass : f.passes)
        if (pass.pass && index(pass.pass->micro_batch) == 1) of_stage[pass.stage] += pass.duration;
      Time longest = of_stage.back() * micro_batches;
      for (std::uint32_t stage = 0; stage + 1 < stages; ++stage) longest += of_stage[stage];
      EXPECT_GT(of_stage.front(), milliseconds(160));
      // A send over a free link takes a picosecond.
      EXPECT_GE(f.step, longest);
      EXPECT_LE(f.step, longest + picoseconds(2) * (micro_batches + stages));
    }
}

TEST(Host, WhoWaitsForTheGpuAtEachSendHasNoLeadToHideLaunchesUnder) {
  Scenario s = of_stages(4, 32);
  s.software.host_per_kernel = microseconds(150);
  const Forecast ahead = forecast(s);
  s.software.pipeline_sync = true;
  const Forecast waits = forecast(s);
  EXPECT_LT(ahead.step, waits.step);
  // Sends that run beside compute are not waited for.
  s.software.pipeline_overlap = PipelineOverlap::yes;
  const Forecast overlapped = forecast(s);
  s.software.pipeline_sync = false;
  EXPECT_EQ(overlapped.step, forecast(s).step);
}

TEST(Host, AllTimesManyTimesAsLongAreAStepThatManyTimesAsLong) {
  for (const bool sync : {false, true}) {
    Scenario s = of_stages(4, 16);
    s.software.pipeline_sync = sync;
    s.software.host_per_kernel = microseconds(100);
    s.software.host_per_pass = microseconds(300);
    const Time once = forecast(s).step;
    constexpr double kTimes = 8;
    s.software.host_per_kernel = s.software.host_per_kernel * 8;
    s.software.host_per_pass = s.software.host_per_pass * 8;
    for (auto& [precision, rate] : s.cluster.gpu.peak) rate = {rate.value / kTimes};
    s.cluster.gpu.memory_bandwidth = {s.cluster.gpu.memory_bandwidth.value / kTimes};
    EXPECT_NEAR(forecast(s).step / once, kTimes, 1e-6);
  }
}

TEST(Host, OfAStageThatWaitsForOthersGetsNoFurtherAheadThanTheDriverKeepsLaunches) {
  // The first stage has half of the layers; the others' hosts are slower than their GPUs, and ahead of them all the
  // same.
  Scenario s = of_stages(4, 256);
  s.software.host_per_kernel = microseconds(400);
  s.parallelism.layers_per_stage = {40, 8, 8, 8};
  const Forecast f = forecast(s), whole = forecast(s, {.trace = true});
  EXPECT_EQ(f.step, whole.step);
  for (std::size_t stage = 0; stage < 4; ++stage)
    for (const TimePart& part : kTimeParts)
      EXPECT_EQ(f.stages[stage].time.*part.time, whole.stages[stage].time.*part.time) << stage;
}

TEST(Host, FoldedAndUnfoldedStepsAreOne) {
  for (const bool sync : {false, true})
    for (const int zero : {0, 1, 3})
      for (const std::int64_t each : {5, 40}) {
        Scenario s = round_numbers(32);
        s.parallelism = {.tensor = 4, .pipeline = 2, .data = 4};
        s.data_parallel.zero = zero;
        s.data_parallel.overlap = true;
        s.software.pipeline_sync = sync;
        s.software.host_per_kernel = microseconds(each);
        s.software.host_per_collective = microseconds(2 * each);
        EXPECT_EQ(forecast(s).step, forecast(s, {.unfold = true}).step) << sync << zero << each;
      }
}

TEST(Host, TimeOfAStepIsAddedToItAndOfAPassToEachOfThem) {
  Scenario s = on_one_gpu(4);
  const Time without = forecast(s).step;
  s.software.host_per_step = milliseconds(3);
  EXPECT_EQ(forecast(s).step, without + milliseconds(3));
  s.software.host_per_step = {};
  s.software.host_per_pass = milliseconds(50);  // longer than any pass
  EXPECT_EQ(forecast(s).stages.front().time.host, forecast(s).step - without);
  EXPECT_GT(forecast(s).step, milliseconds(400));
}

// In the order of what the host has left to do.
TEST(Host, GraphsOfModulesAreBetweenNoneAndThoseOfLayers) {
  Scenario s = on_one_gpu(4);
  s.software.host_per_kernel = microseconds(500);
  const Time none = forecast(s).step;
  s.software.cuda_graph_modules = {.attention = true};
  const Time attention = forecast(s).step;
  s.software.cuda_graph_modules = {.attention = true, .feed_forward = true};
  const Time both = forecast(s).step;
  EXPECT_LT(attention, none);
  EXPECT_LT(both, attention);
  s.software.cuda_graphs = CudaGraphs::layers;
  ASSERT_EQ(check(s).size(), 1u);
  EXPECT_EQ(check(s).front().key, "software.cuda_graph_modules");
  s.software.cuda_graph_modules = {};
  EXPECT_EQ(forecast(s).step, both);  // a layer has nothing else
}

TEST(Host, AGraphOfTheStepNeedsNoHostAndGraphsOfLayersOneLaunchEach) {
  Scenario s = on_one_gpu(4);
  const Time without = forecast(s).step;
  s.software.host_per_kernel = microseconds(500);
  s.software.host_per_pass = microseconds(500);
  const Time late = forecast(s).step;
  s.software.cuda_graphs = CudaGraphs::layers;
  const Time layers = forecast(s).step;
  s.software.cuda_graphs = CudaGraphs::step;
  EXPECT_EQ(forecast(s).step, without);
  EXPECT_LT(layers * 2, late);
  EXPECT_GT(layers, without);
  s.software.launch_blocking = true;
  const std::vector<Problem> problems = check(s);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems.front().key, "software.cuda_graphs");
}

}  // namespace
}  // namespace stepcast::schedules
