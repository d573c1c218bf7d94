// Micro-batches, their groups, and heads that a framework's own checks refuse are told or refused here.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "language/frameworks/emit.h"
#include "schedules/checks/check.h"
#include "tests/language/frameworks/configurations.h"

namespace stepcast::language {
namespace {

using testing::HasSubstr;
using testing::Not;

/// What emit writes of kSmall under `keys`; its complaint where it refuses.
std::string emitted_small(const std::string& framework, const std::string& keys) {
  std::string text;
  const std::string why = complaint([&] {
    Library library = configs();
    Node tree = parse_yaml(kSmall, "small.yaml");
    merge(scenario_schema(), tree, parse_yaml(keys, "keys.yaml"));
    const schedules::Scenario plan = read_scenario(tree, library);
    EXPECT_TRUE(schedules::check(plan).empty()) << keys;
    text = emit(framework_named(framework, ""), plan, tree).text;
  });
  return why.empty() ? text : why;
}

/// Of four stages with two chunks each on 8 GPUs.
std::string interleaved(int micro_batches, const std::string& more = "") {
  return fmt::format(
      "parallelism: {{pipeline: 4}}\npipeline: {{schedule: interleaved-1f1b, virtual_stages: 2{}}}\n"
      "training: {{global_batch: {}}}\n",
      more, 2 * micro_batches);
}

TEST(MicroBatchGroups, AreToldWhereTheyAreNotTheStages) {
  const std::string flag = "--microbatch-group-size-per-virtual-pipeline-stage";
  EXPECT_THAT(emitted_small("megatron", interleaved(18)), HasSubstr(flag + " 6"));
  EXPECT_THAT(emitted_small("megatron", interleaved(10)), HasSubstr(flag + " 5"));
  EXPECT_THAT(emitted_small("megatron", interleaved(16)), Not(HasSubstr(flag)));
  EXPECT_THAT(emitted_small("megatron", interleaved(16, ", micro_batch_group: 12")), HasSubstr(flag + " 12"));
  for (const char* framework : {"nemo", "megatron-bridge"}) {
    EXPECT_THAT(emitted_small(framework, interleaved(18)), HasSubstr("microbatch_group_size_per_vp_stage: 6"));
    EXPECT_THAT(emitted_small(framework, interleaved(16)), Not(HasSubstr("microbatch_group_size")));
  }
}

TEST(MicroBatchGroups, OfALineThatDoesNotSayThemAreTheStages) {
  const auto line = [](int batch, const std::string& more) {
    return "torchrun --nnodes 1 --nproc-per-node 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 "
           "--num-attention-heads 16 --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 1 --bf16 "
           "--vocab-size 51200 --pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 2 "
           "--global-batch-size " +
           std::to_string(batch) + more;
  };
  EXPECT_FALSE(imported("megatron", line(32, "")).pipeline.micro_batch_group);
  EXPECT_THAT(complaint([&] { imported("megatron", line(36, "")); }),
              AllOf(HasSubstr("given:1:"),
                    HasSubstr("--global-batch-size: found '36', expected another, or "
                              "--microbatch-group-size-per-virtual-pipeline-stage"),
                    HasSubstr("18 micro-batches go in groups of as many as stages, 4"),
                    HasSubstr("Megatron-LM refuses a last group of 2")));
  EXPECT_EQ(imported("megatron", line(36, " --microbatch-group-size-per-virtual-pipeline-stage 6"))
                .pipeline.micro_batch_group,
            6U);
}

/// A plan of Llama 3 8B on 8 GPUs, whose pipelines of four stages run so many micro-batches.
std::string titan(const std::string& schedule, int micro_batches, const std::string& more = "") {
  return fmt::format(
      "model: llama3-8b\nsoftware: torchtitan\nparallelism: {{pipeline: 4}}\ndata_parallel: {{zero: 2}}\n"
      "pipeline: {{schedule: {}{}}}\ntraining: {{global_batch: {}}}\n",
      schedule, more, 2 * micro_batches);
}

TEST(MicroBatches, ThatPytorchsSchedulesRefuseAreNotTold) {
  const std::string chunks = ", virtual_stages: 2";
  for (const int taken : {4, 10, 15, 16})
    EXPECT_THAT(emitted_small("torchtitan", titan("interleaved-1f1b", taken, chunks)), HasSubstr("Interleaved1F1B"));
  for (const int refused : {18, 22})
    EXPECT_THAT(emitted_small("torchtitan", titan("interleaved-1f1b", refused, chunks)),
                AllOf(HasSubstr("training.global_batch: found " + std::to_string(refused)),
                      HasSubstr("torchtitan cannot be told"), HasSubstr("a multiple of its rounds")));
  EXPECT_THAT(emitted_small("torchtitan", titan("1f1b", 3)),
              HasSubstr("training.global_batch: found 3 micro-batches on 4 stages, which torchtitan cannot be told: "
                        "PyTorch's 1f1b needs at least 4"));
  EXPECT_THAT(emitted_small("torchtitan", titan("1f1b", 5)), HasSubstr("\"1F1B\""));
  EXPECT_THAT(emitted_small("torchtitan", titan("gpipe", 3)), HasSubstr("\"GPipe\""));
  EXPECT_THAT(emitted_small("torchtitan", titan("interleaved-1f1b", 16, chunks + ", micro_batch_group: 12")),
              HasSubstr("pipeline.micro_batch_group: found '12'"));
}

TEST(KeyAndValueHeads, FewerThanTensorRanksAreToldWhereRanksShareThem) {
  const auto plan = [](const std::string& more, int heads) {
    return fmt::format("model: {{family: llama, kv_heads: {}, ffn: 2816}}\nparallelism: {{tensor: 4}}\n", heads) + more;
  };
  const std::string why = "parallelism.tensor: found 4 ranks for the 2 key and value heads of model.kv_heads, which ";
  EXPECT_THAT(emitted_small("megatron", plan("", 2)), HasSubstr(why + "Megatron-LM cannot be told"));
  EXPECT_THAT(emitted_small("nemo", plan("", 2)), HasSubstr(why + "NeMo cannot be told"));
  EXPECT_THAT(emitted_small("nanotron", plan("software: nanotron\n", 2)), HasSubstr(why + "nanotron cannot be told"));
  EXPECT_THAT(emitted_small("megatron-bridge", plan("", 2)), HasSubstr("num_query_groups: 2"));
  EXPECT_THAT(emitted_small("megatron", plan("", 8)), HasSubstr("--num-query-groups 8"));
}

TEST(OneStage, WithAnotherOrderOfPassesIsNotTold) {
  for (const Framework* framework : frameworks()) {
    if (framework->name == "hf-trainer" || framework->name == "torchtitan" || framework->name == "nanotron") continue;
    EXPECT_THAT(emitted_small(std::string(framework->name), "pipeline: {schedule: gpipe}"),
                HasSubstr("pipeline.schedule: found 'gpipe' on one stage, which " + std::string(framework->title)));
    EXPECT_THAT(emitted_small(std::string(framework->name), "pipeline: {schedule: zb-h1}"),
                HasSubstr("pipeline.schedule: found 'zb-h1' on one stage"));
    EXPECT_THAT(emitted_small(std::string(framework->name), "pipeline: {schedule: interleaved-1f1b}"),
                Not(HasSubstr("on one stage")));
  }
  // One micro-batch has one order.
  EXPECT_THAT(emitted_small("megatron", "pipeline: {schedule: gpipe}\ntraining: {global_batch: 8}"),
              HasSubstr("--pipeline-model-parallel-size 1"));
  EXPECT_THAT(emitted_small("torchtitan", "model: llama3-8b\nsoftware: torchtitan\npipeline: {schedule: gpipe}"),
              HasSubstr("on one stage, which torchtitan cannot be told"));
}

}  // namespace
}  // namespace stepcast::language
