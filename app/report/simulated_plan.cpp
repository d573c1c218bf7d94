#include "app/report/simulated_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace stepcast::app {
namespace {

using schedules::Scenario;

std::string micro_batch_words(const Scenario& s) {
  const std::uint32_t count = micro_batches(s);
  const std::int64_t samples = s.training.micro_batch;
  return fmt::format("{} micro-batch{} of {} sample{}", count, count == 1 ? "" : "es", samples,
                     samples == 1 ? "" : "s");
}

/// In the order of language::kPlanKeys.
std::vector<PlanPart> parts_of(const Scenario& s) {
  const schedules::Parallelism& p = s.parallelism;
  const auto words = [](bool told, std::string text) { return told ? std::move(text) : std::string(); };
  const std::string recompute(name(s.recompute)), precision(name(s.training.precision));
  const std::uint32_t virtual_stages = s.pipeline.virtual_stages;
  return {
      {"parallelism.data", std::int64_t{p.data}, fmt::format("data {}", p.data)},
      {"parallelism.tensor", std::int64_t{p.tensor}, fmt::format("tensor {}", p.tensor)},
      {"parallelism.sequence", p.sequence, words(p.sequence, "sequence parallelism")},
      {"parallelism.context", std::int64_t{p.context}, words(p.context > 1, fmt::format("context {}", p.context))},
      {"parallelism.expert", std::int64_t{p.expert},
       words(p.expert > 1 || s.model.experts.count > 0, fmt::format("expert {}", p.expert))},
      {"parallelism.expert_tensor", std::int64_t{p.expert_tensor},
       words(p.expert_tensor > 1, fmt::format("expert_tensor {}", p.expert_tensor))},
      {"parallelism.pipeline", std::int64_t{p.pipeline}, fmt::format("pipeline {}", p.pipeline)},
      {"pipeline.schedule", s.pipeline.schedule, words(p.pipeline > 1, "schedule " + s.pipeline.schedule)},
      {"pipeline.virtual_stages", std::int64_t{virtual_stages},
       words(virtual_stages > 1, fmt::format("{} virtual stages", virtual_stages))},
      {"training.micro_batch", s.training.micro_batch, micro_batch_words(s)},
      {"data_parallel.zero", std::int64_t{s.data_parallel.zero}, fmt::format("ZeRO {}", s.data_parallel.zero)},
      {"recompute", recompute, "recompute " + recompute},
      {"training.precision", precision, precision},
  };
}

}  // namespace

std::vector<PlanPart> simulated_plan(const language::Question& question) {
  std::vector<PlanPart> plan = parts_of(question.scenario);
  for (std::size_t i = 0; i < plan.size(); ++i) plan[i].by_default = !question.said[i];
  const auto micro_batch = std::ranges::find(plan, "training.micro_batch", &PlanPart::key);
  plan.insert(micro_batch + 1, {"micro_batches", std::int64_t{micro_batches(question.scenario)}, {}, false});
  return plan;
}

std::string plan_words(const std::vector<PlanPart>& plan, bool by_default) {
  std::string words;
  for (const PlanPart& part : plan)
    if (part.by_default == by_default && !part.words.empty()) words += (words.empty() ? "" : ", ") + part.words;
  return words;
}

}  // namespace stepcast::app
