// The whole step through forecast(): folding, conservation of time, scaling, and pipelines with free links.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "schedules/results/time_parts.h"
#include "tests/models/models.h"
#include "tests/schedules/free_links.h"

namespace stepcast::schedules {
namespace {

struct Plan {
  std::string name;
  std::function<void(Scenario&)> set;
};
void PrintTo(const Plan& plan, std::ostream* out) { *out << plan.name; }

Scenario on_64_gpus(const Plan& plan) {
  Scenario s = round_numbers(64);
  s.parallelism = {.tensor = 4, .pipeline = 4, .data = 4};
  plan.set(s);
  return s;
}

void use_experts(Scenario& s) {
  s.model = small_experts();
  s.training.attention = Attention::flash;
}

void interleave(Scenario& s) {
  s.pipeline.schedule = "interleaved-1f1b";
  s.pipeline.virtual_stages = 2;
}

const Plan kPlans[] = {
    {"one_f_one_b", [](Scenario&) {}},
    {"gpipe", [](Scenario& s) { s.pipeline.schedule = "gpipe"; }},
    {"vanilla", [](Scenario& s) { s.pipeline.schedule = "vanilla"; }},
    {"interleaved", interleave},
    {"interleaved_overlapping_everything",
     [](Scenario& s) {
       interleave(s);
       s.software.pipeline_overlap = PipelineOverlap::yes;
       s.software.tensor_overlap = TensorOverlap::backward;
       s.data_parallel.overlap = true;
       s.data_parallel.bucket = Bytes{8 << 20};
       s.software.overlap_slowdown = 0.15;
     }},
    {"zero_bubble_h1", [](Scenario& s) { s.pipeline.schedule = "zb-h1"; }},
    {"zero_bubble_h2_overlapping_everything",
     [](Scenario& s) {
       s.pipeline.schedule = "zb-h2";
       s.software.pipeline_overlap = PipelineOverlap::yes;
       s.software.tensor_overlap = TensorOverlap::backward;
       s.data_parallel.overlap = true;
       s.data_parallel.bucket = Bytes{8 << 20};
     }},
    {"zero_bubble_h1_zero_3",
     [](Scenario& s) {
       s.pipeline.schedule = "zb-h1";
       s.data_parallel.zero = 3;
     }},
    {"zero_bubble_v", [](Scenario& s) { s.pipeline.schedule = "zb-v"; }},
    {"zero_bubble_v_zero_3",
     [](Scenario& s) {
       s.pipeline.schedule = "zb-v";
       s.data_parallel.zero = 3;
     }},
    {"zero_bubble_v_with_frozen_layers",
     [](Scenario& s) {
       s.pipeline.schedule = "zb-v";
       s.training.frozen_layers = 5;
     }},
    {"dualpipe_with_frozen_layers",
     [](Scenario& s) {
       s.pipeline.schedule = "dualpipe";
       s.training.frozen_layers = 6;
       s.data_parallel.overlap = true;
     }},
    {"chimera_with_a_sharded_server",
     [](Scenario& s) {
       s.pipeline.schedule = "chimera";
       s.data_parallel.mode = DataParallelMode::sharded_parameter_server;
     }},
    {"chimera", [](Scenario& s) { s.pipeline.schedule = "chimera"; }},
    {"chimera_overlapping_everything",
     [](Scenario& s) {
       s.pipeline.schedule = "chimera";
       s.software.pipeline_overlap = PipelineOverlap::yes;
       s.software.tensor_overlap = TensorOverlap::backward;
       s.data_parallel.overlap = true;
       s.data_parallel.bucket = Bytes{8 << 20};
       s.software.overlap_slowdown = 0.15;
     }},
    {"chimera_zero_1_without_overlap",
     [](Scenario& s) {
       s.pipeline.schedule = "chimera";
       s.data_parallel.zero = 1;
       s.data_parallel.overlap = false;
     }},
    {"dualpipe", [](Scenario& s) { s.pipeline.schedule = "dualpipe"; }},
    {"dualpipe_without_data_ranks",
     [](Scenario& s) {
       s.pipeline.schedule = "dualpipe";
       s.parallelism = {.tensor = 8, .pipeline = 8, .data = 1};
     }},
    {"dualpipe_v_overlapping_everything",
     [](Scenario& s) {
       s.pipeline.schedule = "dualpipe-v";
       s.software.pipeline_overlap = PipelineOverlap::yes;
       s.data_parallel.overlap = true;
       s.software.overlap_slowdown = 0.15;
     }},
    {"pipedream", [](Scenario& s) { s.pipeline.schedule = "pipedream"; }},
    {"pipedream_without_overlap",
     [](Scenario& s) {
       s.pipeline.schedule = "pipedream";
       s.data_parallel.overlap = false;
     }},
    {"pipedream_2bw", [](Scenario& s) { s.pipeline.schedule = "pipedream-2bw"; }},
    {"custom",
     [](Scenario& s) {
       s.pipeline.schedule = "custom";
       s.parallelism = {.tensor = 8, .pipeline = 2, .data = 4};
       s.training.global_batch = 16;
       s.pipeline.orders = {"F0 F1 BW0 F2 BW1 F3&BW2 B3 W3", "F0 B0 F1 B1 W0 F2 B2 W1 F3 BW3 W2"};
     }},
    {"uneven_stages",
     [](Scenario& s) {
       s.parallelism.layers_per_stage = {3, 5, 5, 3};
     }},
    {"embedding_and_head_on_stages_of_their_own",
     [](Scenario& s) {
       s.parallelism.layers_per_stage = {0, 8, 8, 0};
     }},
    {"experts_inside_a_node",
     [](Scenario& s) {
       use_experts(s);
       s.parallelism = {.tensor = 1, .pipeline = 4, .data = 16, .expert = 4};
       s.data_parallel.zero = 1;
       s.data_parallel.bucket = Bytes{8 << 20};
     }},
    {"experts_across_nodes_uneven",
     [](Scenario& s) {
       use_experts(s);
       s.parallelism = {.tensor = 1, .pipeline = 4, .data = 16, .expert = 16};
       s.training.expert_load.spread = 0.5;
     }},
    {"experts_of_tensor_ranks",
     [](Scenario& s) {
       use_experts(s);
       s.parallelism = {.tensor = 4, .pipeline = 2, .data = 8, .sequence = true, .expert = 8};
       s.data_parallel.overlap = false;
     }},
    {"experts_in_both_copies",
     [](Scenario& s) {
       use_experts(s);
       s.pipeline.schedule = "dualpipe";
       s.parallelism = {.tensor = 1, .pipeline = 4, .data = 16, .expert = 8};
       s.training.global_batch = 128;
       s.data_parallel.overlap = false;
     }},
    {"experts_beside_the_other_pass",
     [](Scenario& s) {
       use_experts(s);
       s.pipeline.schedule = "combined-1f1b";
       s.pipeline.virtual_stages = 2;
       s.parallelism = {.tensor = 1, .pipeline = 4, .data = 16, .expert = 16};
     }},
    {"experts_zero_3",
     [](Scenario& s) {
       use_experts(s);
       s.parallelism = {.tensor = 1, .pipeline = 1, .data = 64, .expert = 8};
       s.data_parallel.zero = 3;
     }},
    {"context_ring",
     [](Scenario& s) {
       s.training.attention = Attention::flash;
       s.parallelism = {.tensor = 2, .pipeline = 2, .data = 4, .sequence = true, .context = 4};
     }},
    {"context_ulysses_across_nodes",
     [](Scenario& s) {
       s.training.attention = Attention::flash;
       s.parallelism = {.tensor = 1, .pipeline = 2, .data = 2, .context = 16, .context_method = ContextMethod::ulysses};
     }},
    {"context_gathered_with_experts",
     [](Scenario& s) {
       use_experts(s);
       s.parallelism = {.tensor = 1,
                        .pipeline = 2,
                        .data = 8,
                        .context = 4,
                        .expert = 16,
                        .context_method = ContextMethod::all_gather};
       s.data_parallel.overlap = false;
     }},
    {"partition_output_zero_bubble",
     [](Scenario& s) {
       s.parallelism.tensor_method = TensorMethod::partition_output;
       s.pipeline.schedule = "zb-h1";
       s.software.tensor_overlap = TensorOverlap::backward;
     }},
    {"reduce_output_selective",
     [](Scenario& s) {
       s.parallelism.tensor_method = TensorMethod::reduce_output;
       s.recompute = Recompute::selective;
     }},
    {"tensor_grid_of_two_dimensions",
     [](Scenario& s) {
       s.parallelism.tensor_grid = TensorGrid{2, 2, 1};
       s.software.scatter_gather = true;
     }},
    {"tensor_grid_of_three_dimensions_zero_bubble",
     [](Scenario& s) {
       s.parallelism.tensor_grid = TensorGrid{1, 2, 2};
       s.training.micro_batch = 2;
       s.pipeline.schedule = "zb-h1";
       s.software.tensor_overlap = TensorOverlap::backward;
     }},
    {"tensor_traffic_in_parts",
     [](Scenario& s) {
       s.parallelism.sequence = true;
       s.software.tensor_overlap = TensorOverlap::all;
       s.software.overlap_slowdown = 0.1;
     }},
    {"no_data_overlap", [](Scenario& s) { s.data_parallel.overlap = false; }},
    {"sequence_parallel_selective",
     [](Scenario& s) {
       s.parallelism.sequence = true;
       s.recompute = Recompute::selective;
     }},
    {"scatter_gather_full",
     [](Scenario& s) {
       s.software.scatter_gather = true;
       s.recompute = Recompute::full;
     }},
    {"recomputing_some_layers",
     [](Scenario& s) {
       interleave(s);
       s.recompute = Recompute::full;
       s.recompute_layers = 1;
     }},
    {"zero_2_in_a_pipeline",
     [](Scenario& s) {
       s.data_parallel.zero = 2;
       s.data_parallel.bucket = Bytes{8 << 20};
     }},
    {"zero_2_in_a_pipeline_summed_once",
     [](Scenario& s) {
       s.data_parallel.zero = 2;
       s.data_parallel.sum_once = true;
       s.data_parallel.bucket = Bytes{8 << 20};
     }},
    {"zero_3_in_an_interleaved_pipeline_summed_once",
     [](Scenario& s) {
       interleave(s);
       s.data_parallel.zero = 3;
       s.data_parallel.sum_once = true;
     }},
    {"zero_3_in_an_interleaved_pipeline",
     [](Scenario& s) {
       interleave(s);
       s.data_parallel.zero = 3;
       s.software.overlap_slowdown = 0.1;
     }},
    {"hybrid_sharding",
     [](Scenario& s) {
       s.parallelism = {.tensor = 2, .pipeline = 1, .data = 32};
       s.data_parallel.zero = 3;
       s.data_parallel.shard_group = 4;
     }},
    {"hybrid_sharding_in_a_pipeline",
     [](Scenario& s) {
       s.parallelism = {.tensor = 1, .pipeline = 4, .data = 16};
       s.data_parallel.zero = 1;
       s.data_parallel.shard_group = 4;
     }},
    {"parameter_server", [](Scenario& s) { s.data_parallel.mode = DataParallelMode::parameter_server; }},
    {"sharded_parameter_server",
     [](Scenario& s) { s.data_parallel.mode = DataParallelMode::sharded_parameter_server; }},
    {"frozen_stage",
     [](Scenario& s) {
       interleave(s);
       s.training.frozen_layers = 5;
       s.data_parallel.bucket = Bytes{8 << 20};
     }},
    {"frozen_layers_zero_3",
     [](Scenario& s) {
       s.parallelism = {.tensor = 4, .pipeline = 1, .data = 16};
       s.data_parallel.zero = 3;
       s.training.frozen_layers = 5;
     }},
    {"zero_1", [](Scenario& s) { s.data_parallel.zero = 1; }},
    {"stages_inside_a_node", [](Scenario& s) { s.parallelism = {.tensor = 1, .pipeline = 16, .data = 4}; }},
    {"two_tensor_ranks", [](Scenario& s) { s.parallelism = {.tensor = 2, .pipeline = 4, .data = 8}; }},
    {"zero_2",
     [](Scenario& s) {
       s.parallelism = {.tensor = 2, .pipeline = 1, .data = 32};
       s.data_parallel.zero = 2;
       s.software.overlap_slowdown = 0.1;
     }},
    {"zero_3",
     [](Scenario& s) {
       s.parallelism = {.tensor = 1, .pipeline = 1, .data = 64};
       s.data_parallel.zero = 3;
       s.software.overlap_slowdown = 0.1;
     }},
    {"zero_3_summed_once",
     [](Scenario& s) {
       s.parallelism = {.tensor = 4, .pipeline = 1, .data = 16};
       s.data_parallel.zero = 3;
       s.data_parallel.sum_once = true;
       s.software.overlap_slowdown = 0.1;
     }},
    {"zero_3_prefetching_little_and_regathering",
     [](Scenario& s) {
       s.parallelism = {.tensor = 4, .pipeline = 1, .data = 16};
       s.data_parallel.zero = 3;
       s.recompute = Recompute::full;
       s.software.gather_for_recompute = true;
       s.software.parameter_prefetch = Bytes{4 << 20};
       s.software.copies_gathered = s.software.block_gradients = true;
     }},
    {"zero_3_without_overlap",
     [](Scenario& s) {
       s.parallelism = {.tensor = 4, .pipeline = 1, .data = 16};
       s.data_parallel.zero = 3;
       s.data_parallel.overlap = false;
     }},
};

struct Step : testing::TestWithParam<Plan> {};
INSTANTIATE_TEST_SUITE_P(Plans, Step, testing::ValuesIn(kPlans), [](const auto& each) { return each.param.name; });

TEST_P(Step, FoldedEqualsUnfoldedToThePicosecond) {
  const Scenario s = on_64_gpus(GetParam());
  ASSERT_TRUE(check(s).empty()) << check(s).front().text;
  const Forecast folded = forecast(s), unfolded = forecast(s, {.unfold = true, .trace = false});
  EXPECT_EQ(folded.step, unfolded.step);
  ASSERT_EQ(folded.stages.size(), unfolded.stages.size());
  for (std::size_t i = 0; i < folded.stages.size(); ++i) {
    EXPECT_EQ(folded.stages[i].time.compute, unfolded.stages[i].time.compute) << "stage " << i;
    EXPECT_EQ(folded.stages[i].time.bubble, unfolded.stages[i].time.bubble) << "stage " << i;
    EXPECT_EQ(folded.stages[i].time.exposed_data, unfolded.stages[i].time.exposed_data) << "stage " << i;
  }
}

TEST_P(Step, PartsOfEachStagesTimeAddUpToTheStep) {
  const Forecast f = forecast(on_64_gpus(GetParam()));
  for (const StageReport& stage : f.stages) {
    EXPECT_EQ(stage.time.sum(), f.step) << "stage " << stage.stage;
    for (const TimePart& part : kTimeParts)
      EXPECT_GE(stage.time.*part.time, Time{}) << "stage " << stage.stage << " " << part.key;
  }
}

TEST_P(Step, TwiceTheRatesAndHalfTheLatenciesHalveIt) {
  const Scenario slow = on_64_gpus(GetParam());
  Scenario fast = slow;
  fast.cluster.gpu.memory_bandwidth = slow.cluster.gpu.memory_bandwidth * 2;
  for (auto& [precision, rate] : fast.cluster.gpu.peak) rate = rate * 2;
  for (auto* link :
       {&fast.cluster.node.nvlink, &fast.cluster.node.pcie, &fast.cluster.node.socket_link, &fast.cluster.node.nic}) {
    (*link)->bandwidth = (*link)->bandwidth * 2;
    (*link)->latency = {(*link)->latency.value / 2};
  }
  collectives::Transport& t = fast.software.transport;
  for (Time* latency : {&t.launch, &t.nvlink_step, &t.network_step}) *latency = {latency->value / 2};
  // Each task rounds to a picosecond; a step is a chain of some thousands.
  EXPECT_NEAR(to_seconds(forecast(fast).step) * 2, to_seconds(forecast(slow).step), 1e-7);
}

TEST_P(Step, TraceSpansOfAStreamDoNotOverlapAndEndWithTheStep) {
  const Forecast f = forecast(on_64_gpus(GetParam()), {.unfold = false, .trace = true});
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::pair<Time, Time>>> tracks;
  Time end{};
  for (const Span& span : f.spans) {
    tracks[{span.stage, span.stream}].emplace_back(span.start, span.start + span.duration);
    end = std::max(end, span.start + span.duration);
  }
  EXPECT_EQ(end, f.step);
  for (auto& [track, spans] : tracks) {
    // Sends that wait on the compute stream appear on both tracks; those of the pipeline track follow the compute
    // order.
    std::ranges::sort(spans);
    for (std::size_t i = 1; i < spans.size(); ++i)
      EXPECT_GE(spans[i].first, spans[i - 1].second) << "stage " << track.first << " stream " << track.second;
  }
}

TEST(PipelineOverlap, InterleavedIsOffInPlain1F1B) {
  Scenario s = round_numbers(1);
  s.software.pipeline_overlap = PipelineOverlap::interleaved;
  s.pipeline.schedule = "1f1b";
  EXPECT_FALSE(pipeline_overlap(s));
  s.pipeline.schedule = "interleaved-1f1b";
  EXPECT_TRUE(pipeline_overlap(s));
  s.software.launch_blocking = true;
  EXPECT_FALSE(pipeline_overlap(s));
}

TEST(StepWithFreeLinks, HasThePublishedBubbleOfEachSchedule) {
  for (const std::uint32_t p : {2u, 4u, 8u})
    for (const std::uint32_t m : {8u, 16u})
      for (const std::uint32_t v : {1u, 2u, 4u}) {
        Scenario s = free_links(p, m);
        s.pipeline.virtual_stages = v;
        s.pipeline.schedule = v > 1 ? "interleaved-1f1b" : "1f1b";
        const Forecast f = forecast(s);
        const Time pass = *f.layer_forward + *f.layer_backward;
        const std::int64_t layers = s.model.layers / p;
        // A middle stage: (p - 1)/v passes of bubble, SC'21 sec. 2.2; the ends also run embedding and head.
        const StageReport& last = f.stages.back();
        EXPECT_LE(last.time.exposed_pipeline, nanoseconds(1));  // a message takes at least 1 ps
        EXPECT_GE(f.step, pass * (layers * m) + Time{pass.value * layers * (p - 1) / v});
        EXPECT_LE(f.step, last.time.compute + Time{pass.value * layers * (p - 1) / v} + pass * (2 * layers));
      }
}

// Qi et al. 2024: with F, B and W of like length zb-h1 waits a third of what 1F1B waits, doing the same work in as much
// memory; zb-h2 waits for nothing but the way down and up, in nearly twice the memory.
TEST(StepWithFreeLinks, ZeroBubbleSchedulesWaitLessForTheSameWork) {
  const auto run = [](const char* schedule) {
    Scenario s = free_links(4, 16);
    s.pipeline.schedule = schedule;
    return forecast(s);
  };
  const Forecast usual = run("1f1b"), h1 = run("zb-h1"), h2 = run("zb-h2");
  for (std::size_t stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(h1.stages[stage].time.compute, usual.stages[stage].time.compute) << stage;
    EXPECT_EQ(h2.stages[stage].time.compute, usual.stages[stage].time.compute) << stage;
  }
  EXPECT_EQ(h1.stages[0].memory.peak(), usual.stages[0].memory.peak());
  EXPECT_EQ(h2.stages[0].in_flight, 7u);
  const StageReport &stage = h1.stages[1], &as_usual = usual.stages[1];
  EXPECT_LT(stage.time.bubble + stage.time.idle, Time{(as_usual.time.bubble + as_usual.time.idle).value * 7 / 10});
  EXPECT_LT(h2.step, h1.step);
  EXPECT_LT(h1.step, usual.step);
}

// ZeRO 3 shards what zero 0 keeps whole; the work is the same, the weights' gradients are made once.
TEST(Step, ZeroBubblePassesRunOnceUnderZero3) {
  Scenario whole = on_64_gpus({"", [](Scenario& s) { s.pipeline.schedule = "zb-h1"; }});
  Scenario sharded = whole;
  sharded.data_parallel.zero = 3;
  EXPECT_EQ(forecast(sharded).stages[1].time.compute, forecast(whole).stages[1].time.compute);
}

TEST(Step, RefusesNothingThatCheckAllows) {
  for (const Plan& plan : kPlans) EXPECT_TRUE(check(on_64_gpus(plan)).empty()) << plan.name;
}

}  // namespace
}  // namespace stepcast::schedules
