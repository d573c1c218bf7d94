#include "app/search_start.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "app/launch_text.h"
#include "language/core/streams.h"
#include "language/plan_keys.h"
#include "language/questions.h"

namespace stepcast::app {
namespace {

constexpr std::array<std::string_view, 5> kSizes{"parallelism.data", "parallelism.tensor", "parallelism.context",
                                                 "parallelism.expert", "parallelism.pipeline"};

bool says(const language::SaidPlanKeys& said, std::string_view key) {
  const auto at = std::ranges::find(language::kPlanKeys, key);
  return said[static_cast<std::size_t>(at - language::kPlanKeys.begin())];
}

std::vector<std::uint32_t> divisors(std::uint32_t of) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t d = 1; d <= of; ++d)
    if (of % d == 0) all.push_back(d);
  return all;
}

bool is_scenario_file(const std::string& path) {
  return !language::is_stream(path) && std::filesystem::is_regular_file(path) &&
         std::filesystem::path(path).extension() != ".csv";
}

}  // namespace

std::vector<std::string> search_start(std::span<const std::string> paths, const std::vector<std::string>& settings,
                                      language::Library& library) {
  if (paths.size() != 1 || !is_scenario_file(paths.front())) return {};
  const auto read = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = settings;
    all.insert(all.end(), more.begin(), more.end());
    return language::read_questions(paths, all, library).front();
  };
  const language::SaidPlanKeys said =
      language::said_plan_keys(launch_tree(paths.front(), std::span(&settings, 1), library));
  std::vector<std::string> start;
  if (!says(said, "training.micro_batch")) start.push_back("training.micro_batch=1");
  const language::Question question = read(start);
  if (!question.refused || std::ranges::any_of(kSizes, [&](std::string_view key) { return says(said, key); }))
    return start;
  const schedules::ClusterSpec& cluster = question.scenario.cluster;
  for (const std::uint32_t pipeline : divisors(cluster.gpus))
    for (const std::uint32_t tensor : divisors(cluster.gpus / pipeline)) {
      if (tensor > cluster.node.gpus) break;
      std::vector<std::string> sized = start;
      sized.push_back("parallelism.tensor=" + std::to_string(tensor));
      sized.push_back("parallelism.pipeline=" + std::to_string(pipeline));
      if (read(sized).error.empty()) return sized;
    }
  return start;
}

}  // namespace stepcast::app
