// The whole step under every pipeline schedule: folding, work, waiting, memory, layers.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "schedules/pipeline/ideal.h"
#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/shape.h"
#include "tests/schedules/free_links.h"

namespace stepcast::schedules {
namespace {

std::uint32_t virtual_stages(std::string_view schedule) {
  return schedule == "interleaved-1f1b" || schedule == "combined-1f1b" ? 2 : 1;
}

/// 32 GPUs, each with a part of its own in the plan: 2 tensor x 4 stages x 4 data ranks.
class EverySchedule : public testing::TestWithParam<const PipelineSchedule*> {
 protected:
  static Scenario on_32_gpus() {
    Scenario s = round_numbers(32);
    s.parallelism = {.tensor = 2, .pipeline = 4, .data = 4};
    s.pipeline.schedule = std::string(GetParam()->name);
    s.pipeline.virtual_stages = virtual_stages(GetParam()->name);
    return s;
  }
};
INSTANTIATE_TEST_SUITE_P(Schedules, EverySchedule, testing::ValuesIn(pipelines().begin(), pipelines().end()),
                         [](const auto& each) {
                           std::string name(each.param->name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(EverySchedule, FoldedEqualsUnfoldedToThePicosecondOn32Gpus) {
  for (const bool overlap : {false, true}) {
    Scenario s = on_32_gpus();
    s.data_parallel.overlap = overlap;
    s.software.pipeline_overlap = overlap ? PipelineOverlap::yes : PipelineOverlap::no;
    ASSERT_TRUE(check(s).empty()) << check(s).front().text;
    const Forecast folded = forecast(s), unfolded = forecast(s, {.unfold = true, .trace = false});
    EXPECT_EQ(folded.step, unfolded.step);
    for (std::size_t i = 0; i < folded.stages.size(); ++i)
      EXPECT_EQ(folded.stages[i].time.sum(), unfolded.stages[i].time.sum()) << "stage " << i;
  }
}

TEST_P(EverySchedule, FoldedEqualsUnfoldedWithMicroBatchesThatTheStagesDoNotDivide) {
  Scenario s = on_32_gpus();
  s.training.global_batch = 36;  // 9 micro-batches
  // These need them to be a multiple.
  if (GetParam()->placement == Placement::opposite || GetParam()->name == "combined-1f1b") return;
  ASSERT_TRUE(check(s).empty()) << check(s).front().text;
  EXPECT_EQ(forecast(s).step, forecast(s, {.unfold = true, .trace = false}).step);
}

TEST_P(EverySchedule, FoldedEqualsUnfoldedWhereEachNodeHoldsAllStages) {
  Scenario s = on_32_gpus();
  s.parallelism.order = {Dimension::tensor, Dimension::context, Dimension::pipeline, Dimension::data};
  EXPECT_EQ(forecast(s).step, forecast(s, {.unfold = true, .trace = false}).step);
}

TEST_P(EverySchedule, DoesTheModelsWorkWhateverTheOrder) {
  Scenario usual = on_32_gpus();
  usual.pipeline = {};
  Time work{}, as_usual{};
  for (const StageReport& stage : forecast(on_32_gpus()).stages) work += stage.time.compute;
  for (const StageReport& stage : forecast(usual).stages) as_usual += stage.time.compute;
  EXPECT_EQ(work, as_usual);
}

/// The order in the words users write.
std::vector<std::string> in_words(const std::vector<StageOrder>& orders) {
  constexpr const char* kLetters[] = {"F", "B", "W", "BW"};
  std::vector<std::string> lines;
  for (const StageOrder& order : orders) {
    std::string& line = lines.emplace_back();
    for (const Pass& pass : order)
      line += kLetters[static_cast<std::size_t>(pass.kind)] + std::to_string(index(pass.micro_batch)) +
              static_cast<char>('a' + static_cast<int>(pass.virtual_stage)) + (pass.with_next ? "&" : " ");
  }
  return lines;
}

// Whoever writes a schedule's order down gets the schedule.
TEST_P(EverySchedule, WrittenAsCustomOrdersIsTheSame) {
  if (GetParam()->updates != Updates::after_flush) return;  // orders end
  const Scenario named = on_32_gpus();
  Scenario written = named;
  const Shape shape = shape_of(*GetParam(), 4, 16, named.pipeline.virtual_stages);
  written.pipeline = {.schedule = "custom",
                      .virtual_stages = shape.virtual_stages,
                      .orders = in_words(orders(*GetParam(), shape)),
                      .placement = shape.placement,
                      .most_in_flight = {}};
  ASSERT_TRUE(check(written).empty()) << check(written).front().text;
  const Forecast as_named = forecast(named), as_written = forecast(written);
  EXPECT_EQ(as_written.step, as_named.step);
  EXPECT_EQ(as_written.stages[0].memory.peak(), as_named.stages[0].memory.peak());
}

// The whole step, links free, is the schedule's ideal run: the one whose closed form the pipeline tests hold it to.
TEST_P(EverySchedule, WithFreeLinksTakesItsIdealTime) {
  if (GetParam()->updates != Updates::after_flush) return;  // PipeDreamStepsAtTheSlowestStagesRate
  const std::uint32_t v = virtual_stages(GetParam()->name);
  Scenario s = equal_stages(GetParam()->name.data(), 4, 16);
  s.pipeline.virtual_stages = v;
  const Shape shape = shape_of(*GetParam(), 4, 16, v);
  Time lengths[4]{}, both{};
  for (const PassSpan& span : forecast(s, {.unfold = false, .trace = true}).passes) {
    if (span.stage != 1 || !span.pass) continue;
    (span.beside ? both : lengths[static_cast<std::size_t>(span.pass->kind)]) = span.duration;
  }
  const IdealTimes ideal = ideal_times(shape, orders(*GetParam(), shape), lengths[0], lengths[1], lengths[2], both);
  // First and last stage also run the embedding and the last norm.
  EXPECT_NEAR(forecast(s).step / ideal.end, 1, 0.01);
}

// Harlap et al. 2018: model parallelism without pipelining uses one GPU of ten at a time.
TEST(StepWithFreeLinks, VanillaModelParallelismOnTenStagesIsATenthUtilised) {
  const Forecast f = forecast(equal_stages("vanilla", 10, 4));
  for (const StageReport& stage : f.stages) EXPECT_NEAR(stage.time.compute / f.step, 0.1, 0.002);
}

// What the schedules are for: the same work, less waiting, in the order of the papers.
TEST(StepWithFreeLinks, TwoWaySchedulesWaitLessThan1F1B) {
  const auto waits = [](const char* schedule) {
    const Forecast f = forecast(equal_stages(schedule, 4, 16));
    double idle = 0;
    for (const StageReport& stage : f.stages) idle += (stage.time.bubble + stage.time.idle) / f.step;
    return idle / static_cast<double>(f.stages.size());
  };
  EXPECT_LT(waits("dualpipe"), waits("1f1b"));
  EXPECT_LT(waits("dualpipe-v"), waits("1f1b"));
  EXPECT_LT(waits("zb-v"), waits("zb-h1"));
  EXPECT_LT(waits("pipedream-2bw"), 0.01);
}

// Narayanan et al. 2021, section 3.2: between two stages an activation and a gradient go each micro-batch. Both ways at
// once they cost one message's time a micro-batch, not two.
TEST(Step, MessagesOfBothDirectionsRunTogether) {
  const auto run = [](Bandwidth nic, std::uint32_t m) {
    Scenario s = equal_stages("1f1b", 2, m);
    s.cluster.node.nic->bandwidth = nic;
    return forecast(s, {.unfold = false, .trace = true});
  };
  const auto per_micro_batch = [&](Bandwidth nic) { return Time{(run(nic, 48).step - run(nic, 16).step).value / 32}; };
  Time message{};
  for (const Span& span : run({2e9}, 16).spans)
    if (span.stage == 0 && span.stream == 1) message = span.duration;
  EXPECT_GT(message, Time{});
  EXPECT_NEAR((per_micro_batch({2e9}) - per_micro_batch({1e30})) / message, 1, 0.02);
}

// arXiv:1806.03377: a micro-batch leaves every forward and backward of the slowest stage, here the last with its head.
TEST(StepWithFreeLinks, PipeDreamStepsAtTheSlowestStagesRate) {
  for (const char* schedule : {"pipedream", "pipedream-2bw"})
    for (const std::uint32_t m : {4u, 16u}) {
      Scenario s = free_links(4, m);
      s.pipeline.schedule = schedule;
      const Forecast f = forecast(s);
      EXPECT_NEAR(f.stages.back().time.compute / f.step, 1, 1e-6) << schedule << ' ' << m;
    }
}

// Wherever it stands, the stage with most work sets the pace; stages before it run ahead only as far as what may be in
// flight, stages after it wait.
TEST(StepWithFreeLinks, PipeDreamKeepsTheSlowestStageBusyWhereverItStands) {
  for (const std::vector<std::uint32_t>& layers :
       {std::vector<std::uint32_t>{20, 12, 16, 16}, {14, 15, 20, 15}, {16, 16, 12, 20}, {17, 16, 16, 15}})
    for (const std::uint32_t m : {4u, 12u}) {
      Scenario s = equal_stages("pipedream-2bw", 4, m);
      s.parallelism.layers_per_stage = layers;
      ASSERT_TRUE(check(s).empty()) << check(s).front().text;
      const Forecast f = forecast(s);
      Time most{};
      for (const StageReport& stage : f.stages) most = std::max(most, stage.time.compute);
      EXPECT_NEAR(most / f.step, 1, 1e-6) << layers[0] << ' ' << layers[1] << ' ' << m;
    }
}

TEST(Step, RefusesToCheckOrdersWithoutEnd) {
  Scenario s = round_numbers(32);
  s.parallelism = {.tensor = 8, .pipeline = 4, .data = 1};
  s.training.global_batch = 100'000'000;
  s.pipeline.most_in_flight = 4;
  EXPECT_EQ(check(s).front().text, "400000000 forward passes are more than can be checked (16777216)");
}

// SOSP 2019, section 3.3, and arXiv:2006.09503, section 3.1: versions of the weights. Chimera, table 2, and DualPipe:
// 2x.
TEST(Step, MemoryHoldsVersionsOfWeightsAndBothCopies) {
  const auto memory = [](const char* schedule, std::uint32_t stage) {
    Scenario s = round_numbers(64);
    s.parallelism = {.tensor = 4, .pipeline = 4, .data = 4};
    s.pipeline.schedule = schedule;
    return forecast(s).stages[stage].memory;
  };
  for (std::uint32_t stage = 1; stage < 3; ++stage) {
    const MemoryUse usual = memory("1f1b", stage), stashing = memory("pipedream", stage),
                    double_buffer = memory("pipedream-2bw", stage);
    EXPECT_EQ(stashing.parameters, usual.parameters * (4 - stage));
    EXPECT_EQ(double_buffer.parameters, usual.parameters * 2);
    EXPECT_EQ(stashing.optimizer, usual.optimizer);
    EXPECT_EQ(stashing.activations, usual.activations);
    for (const char* two_copies : {"chimera", "dualpipe"}) {
      EXPECT_EQ(memory(two_copies, stage).parameters, usual.parameters * 2) << two_copies;
      EXPECT_EQ(memory(two_copies, stage).optimizer, usual.optimizer * 2) << two_copies;
    }
  }
}

// Both copies of a chunk see half of the micro-batches: their gradients are summed although no data rank has another.
TEST(Step, TwoCopiesOfTheModelSumTheirGradients) {
  Scenario s = round_numbers(32);
  s.parallelism = {.tensor = 8, .pipeline = 4, .data = 1};
  s.data_parallel.overlap = false;
  EXPECT_EQ(forecast(s).stages[1].time.exposed_data, Time{});
  s.pipeline.schedule = "chimera";
  EXPECT_GT(forecast(s).stages[1].time.exposed_data, Time{});
}

// Megatron-LM's --account-for-embedding-in-pipeline-split and --account-for-loss-in-pipeline-split.
TEST(Step, EmbeddingAndHeadCountAsLayers) {
  Scenario s = round_numbers(32);
  s.parallelism = {.tensor = 8, .pipeline = 4, .data = 1};
  s.model.layers = 14;
  s.pipeline.embedding_as_layer = s.pipeline.head_as_layer = true;
  ASSERT_TRUE(check(s).empty()) << check(s).front().text;
  std::vector<std::int64_t> layers;
  for (const StageReport& stage : forecast(s).stages) layers.push_back(stage.layers);
  EXPECT_EQ(layers, (std::vector<std::int64_t>{3, 4, 4, 3}));
}

TEST(Step, LayersPerStageAreTheScenarios) {
  Scenario s = round_numbers(32);
  s.parallelism = {.tensor = 8, .pipeline = 4, .data = 1};
  s.parallelism.layers_per_stage = {2, 6, 8, 0};
  ASSERT_TRUE(check(s).empty()) << check(s).front().text;
  const Forecast f = forecast(s);
  EXPECT_EQ(f.stages[2].layers, 8);
  EXPECT_EQ(f.stages[3].layers, 0);
  EXPECT_GT(f.stages[3].time.compute, Time{});  // the head
  s.parallelism.layers_per_stage = {2, 0, 8, 6};
  EXPECT_EQ(check(s).front().text, "found 0 layers, allowed only where the embedding or the head is");
  s.parallelism.layers_per_stage = {2, 6, 8};
  EXPECT_EQ(check(s).front().text, "found 3 numbers, expected 4");
  s.parallelism.layers_per_stage = {2, 6, 8, 1};
  EXPECT_EQ(check(s).front().text, "found 17 layers, expected the 16 of model.layers");
}

// A pipeline that never drains cannot leave ever more of its tied embeddings' sums behind.
TEST(Step, PipelinesThatNeverDrainAreBoundByTheirTiedEmbeddings) {
  for (const char* schedule : {"pipedream", "pipedream-2bw"}) {
    Scenario s = round_numbers(16);
    s.parallelism = {.tensor = 1, .pipeline = 2, .data = 8};
    s.pipeline.schedule = schedule;
    s.model = {"wide", Family::gpt, 2, 256, 4, 4, 1024, 512000, ""};
    s.training.sequence = 64;
    const Forecast f = forecast(s);
    EXPECT_GT(f.busiest_link->utilisation, 0.5) << schedule;
    EXPECT_LT(f.busiest_link->utilisation, 1.001) << schedule;
  }
}

}  // namespace
}  // namespace stepcast::schedules
