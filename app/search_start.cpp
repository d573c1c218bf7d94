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

bool is_scenario_file(const std::string& path) {
  return !language::is_stream(path) && std::filesystem::is_regular_file(path) &&
         std::filesystem::path(path).extension() != ".csv";
}

}  // namespace

std::vector<std::string> search_start(std::span<const std::string> paths, const std::vector<std::string>& settings,
                                      language::Library& library) {
  if (paths.size() != 1 || !is_scenario_file(paths.front())) return {};
  const language::Node tree = launch_tree(paths.front(), std::span(&settings, 1), library);
  std::vector<std::string> start;
  if (!language::is_said(tree, "training.micro_batch")) start.push_back("training.micro_batch=1");
  if (std::ranges::any_of(kSizes, [&](std::string_view key) { return language::is_said(tree, key); })) return start;
  const auto read = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = settings;
    all.insert(all.end(), more.begin(), more.end());
    return language::read_questions(paths, all, library).front();
  };
  const language::Question question = read(start);
  if (!question.refused) return start;
  const schedules::ClusterSpec& cluster = question.scenario.cluster;
  for (std::uint32_t pipeline = 1; pipeline <= cluster.gpus; ++pipeline)
    for (std::uint32_t tensor = 1; tensor <= std::min(cluster.node.gpus, cluster.gpus / pipeline); ++tensor) {
      if (cluster.gpus % (pipeline * tensor) != 0) continue;
      std::vector<std::string> sized = start;
      sized.push_back("parallelism.tensor=" + std::to_string(tensor));
      sized.push_back("parallelism.pipeline=" + std::to_string(pipeline));
      if (read(sized).error.empty()) return sized;
    }
  return start;
}

}  // namespace stepcast::app
