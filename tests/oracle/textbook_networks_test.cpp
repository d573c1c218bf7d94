// What textbooks and papers say of data-parallel training of convolutional networks.

#include <gtest/gtest.h>

#include "language/questions.h"
#include "schedules/forecast.h"

namespace stepcast {
namespace {

constexpr int kGpusPerNode = 8, kSamplesPerGpu = 32;

schedules::Scenario on_nodes(const std::string& scenario, int nodes, std::vector<std::string> settings = {}) {
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  settings.push_back("cluster.nodes=" + std::to_string(nodes));
  settings.push_back("training.global_batch=" + std::to_string(kSamplesPerGpu * kGpusPerNode * nodes));
  const auto questions = language::read_questions(
      std::vector<std::string>{STEPCAST_SOURCE_DIR "/scenarios/" + scenario + ".yaml"}, settings, library);
  EXPECT_EQ(questions.at(0).error, "");
  return questions.at(0).scenario;
}

/// Throughput of 32 nodes over 32 times that of one, by weak scaling.
double efficiency(const std::string& scenario, const std::vector<std::string>& settings = {}) {
  return schedules::forecast(on_nodes(scenario, 1, settings)).step /
         schedules::forecast(on_nodes(scenario, 32, settings)).step;
}

/// Communication of a step, nothing hidden; `tiny`: of a network with 4,096 weights.
double exposed(int nodes, bool tiny) {
  schedules::Scenario s = on_nodes("resnet-50-p100-256", nodes, {"data_parallel.overlap=false"});
  if (tiny) {
    s.model.network = {{64, 1, 1}, {{.kind = schedules::LayerKind::linear, .out = 64}}};
    s.model.layers = 1;
  }
  return to_seconds(schedules::forecast(s).stages.at(0).time.exposed_data);
}

TEST(Textbook, ResNet50On256GpusScalesAtAbout90Percent) {
  // Goyal et al. 2017 (arXiv 1706.02677), sec. 5.4: from 8 to 256 P100 over 50 Gbit/s Ethernet.
  EXPECT_NEAR(efficiency("resnet-50-p100-256"), 0.90, 0.04);
}

TEST(Textbook, VggScalesWorseThanResNetOnTheSameNetwork) {
  EXPECT_LT(efficiency("vgg-16-p100-256") + 0.15, efficiency("vgg-16-p100-256", {"model=resnet-50"}));
}

TEST(Textbook, DataParallelCommunicationHardlyGrowsWithManyRanksWhileItsLatencyDoes) {
  // 2 (P - 1)/P S/B of volume tends to 2 S/B; the number of hops grows with P.
  EXPECT_LT(exposed(32, false) / exposed(8, false), 1.06);
  EXPECT_GT(exposed(32, true) / exposed(8, true), 1.25);
}

}  // namespace
}  // namespace stepcast
