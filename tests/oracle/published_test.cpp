// Published measurements that every build must stay near: Korthikanti et al. 2022 (arXiv 2205.05198), table 4, and the
// runs tables of scenarios/published.

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "language/questions.h"
#include "schedules/forecast.h"

namespace stepcast {
namespace {

std::vector<language::Question> published(const std::string& table, const std::vector<std::string>& settings = {}) {
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  return language::read_questions(std::vector<std::string>{STEPCAST_SOURCE_DIR "/scenarios/published/" + table},
                                  settings, library);
}

const language::Question& row(const std::vector<language::Question>& rows, const std::string& name) {
  for (const language::Question& q : rows)
    if (q.name == name) return q;
  throw std::runtime_error("no row " + name);
}

struct LayerTimes {
  bool sequence;
  const char* recompute;
  double forward_ms, backward_ms;
};

class Table4 : public testing::TestWithParam<LayerTimes> {};
INSTANTIATE_TEST_SUITE_P(Rows, Table4,
                         testing::Values(LayerTimes{false, "none", 7.7, 11.9}, LayerTimes{true, "none", 7.2, 11.8},
                                         LayerTimes{false, "full", 7.7, 19.5},
                                         LayerTimes{false, "selective", 7.7, 13.2},
                                         LayerTimes{true, "selective", 7.2, 13.1}));

TEST_P(Table4, LayerTimesAreWithinTwelvePercent) {
  const LayerTimes t = GetParam();
  const auto rows =
      published("korthikanti_2205_05198.csv", {std::string("parallelism.sequence=") + (t.sequence ? "true" : "false"),
                                               std::string("recompute=") + t.recompute});
  const schedules::Forecast f = schedules::forecast(row(rows, "KOR-0001").scenario);
  EXPECT_NEAR(to_seconds(f.layer_forward.value()) * 1e3 / t.forward_ms, 1, 0.12);
  EXPECT_NEAR(to_seconds(f.layer_backward.value()) * 1e3 / t.backward_ms, 1, 0.12);
}

TEST(PublishedTables, MeanErrorIsAtMostTenPercentAndEffectsGoTheRightWay) {
  std::map<std::string, double> predicted;
  double error = 0;
  int rows = 0;
  for (const char* table : {"korthikanti_2205_05198.csv", "megatron_sc21.csv"})
    for (const language::Question& q : published(table)) {
      ASSERT_EQ(q.error, "") << q.name;
      const schedules::Forecast f = schedules::forecast(q.scenario);
      EXPECT_FALSE(f.out_of_memory) << q.name << ": ran on real GPUs of this size";
      predicted[q.name] = to_seconds(f.step);
      error += std::abs(predicted[q.name] / to_seconds(*q.scenario.measured.step_time) - 1);
      ++rows;
    }
  EXPECT_EQ(rows, 20);
  EXPECT_LE(error / rows, 0.10);
  // Selective recomputation with sequence parallelism beats full recomputation, model by model (table 5).
  for (const auto& [full, selective] : {std::pair{"KOR-0001", "KOR-0002"},
                                        {"KOR-0003", "KOR-0004"},
                                        {"KOR-0005", "KOR-0006"},
                                        {"KOR-0007", "KOR-0008"}}) {
    EXPECT_GT(predicted[full] / predicted[selective], 1.2) << full;
    EXPECT_LT(predicted[full] / predicted[selective], 1.45) << full;
  }
}

TEST(PublishedTables, ResNet50OnV100IsWithinTenPercent) {
  double error = 0;
  int rows = 0;
  for (const language::Question& q : published("dlperf_v100_resnet_bert.csv")) {
    if (q.scenario.model.family != schedules::Family::cnn) continue;
    ASSERT_EQ(q.error, "") << q.name;
    const schedules::Forecast f = schedules::forecast(q.scenario);
    EXPECT_FALSE(f.out_of_memory) << q.name << ": ran on real GPUs of this size";
    error += std::abs(f.step / *q.scenario.measured.step_time - 1);
    ++rows;
  }
  EXPECT_EQ(rows, 7);
  EXPECT_LE(error / rows, 0.10);
}

}  // namespace
}  // namespace stepcast
