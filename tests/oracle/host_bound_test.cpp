// Steps that are as long as the host's launches, published: plans of the Ultra-Scale Playbook with one sample a
// micro-batch on the tensor ranks of one node of 8 H100 (Nanotron 2025, host_bound.csv beside this file). A micro-batch
// takes 70 to 74 ms on 2, 4 and 8 tensor ranks there, though a rank of 8 has a quarter of the work of a rank of 2, and
// twice that in a model of twice as many layers of twice the width. One constant follows from one of these steps: what
// the host needs for a launch. It must tell the others, and must not touch those whose GPUs have enough to do.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "language/questions.h"
#include "schedules/forecast.h"

namespace stepcast {
namespace {

constexpr const char* kTellsTheConstant = "USP-1B-1n-0030";
constexpr const char* kHostBound[] = {"USP-1B-1n-0018", "USP-1B-1n-0020", "USP-1B-1n-0027", "USP-1B-1n-0028",
                                      "USP-8B-1n-1660"};
constexpr const char* kGpuBound[] = {"USP-1B-1n-0001", "USP-1B-1n-0019", "USP-8B-1n-1658"};
/// Of a step that was run twice, the playbook's figures differ by 15% in the median.
constexpr double kRepeats = 0.15;

std::map<std::string, schedules::Scenario> rows() {
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  std::map<std::string, schedules::Scenario> out;
  for (const language::Question& q : language::read_questions(
           std::vector<std::string>{STEPCAST_SOURCE_DIR "/tests/oracle/host_bound.csv"}, {}, library)) {
    EXPECT_EQ(q.error, "") << q.name;
    out.emplace(q.name, q.scenario);
  }
  return out;
}

schedules::Forecast with(schedules::Scenario s, Time host_per_kernel) {
  s.software.host_per_kernel = host_per_kernel;
  return schedules::forecast(s, {.advise = false});
}

double error(const schedules::Scenario& s, const schedules::Forecast& f) { return f.step / *s.measured.step_time - 1; }

/// The host's time for a launch with which a step takes as long as was measured, to the nanosecond.
Time told_by(const schedules::Scenario& s) {
  std::int64_t low = 0, high = 1'000'000;
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (error(s, with(s, nanoseconds(middle))) < 0 ? low : high) = middle;
  }
  return nanoseconds(high);
}

TEST(HostBound, OneConstantOfOneStepTellsTheOthersAndLeavesThoseOfTheGpuAlone) {
  const auto all = rows();
  const Time each = told_by(all.at(kTellsTheConstant));
  RecordProperty("host_per_kernel_ns", static_cast<int>(each.value / 1000));
  EXPECT_GT(each, microseconds(10));  // of a launch as they are counted here, collectives included: some 40 a layer
  for (const char* name : kHostBound) {
    const schedules::Scenario& s = all.at(name);
    const schedules::Forecast f = with(s, each), none = with(s, {});
    EXPECT_LE(std::abs(error(s, f)), kRepeats)
        << name << ": " << error(s, f) << " with " << to_seconds(each) * 1e6 << " us";
    EXPECT_LT(error(s, none), -0.2) << name << " is host-bound";
    EXPECT_GT(f.stages.front().time.host * 5, f.step) << name;
  }
  for (const char* name : kGpuBound) {
    const schedules::Scenario& s = all.at(name);
    const schedules::Forecast f = with(s, each);
    EXPECT_LT(f.step / with(s, {}).step, 1.02) << name;
  }
}

TEST(HostBound, OneGpuWithOneSampleInEagerPyTorchWaitsForItsHostMostOfTheTime) {
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  const auto questions = language::read_questions(
      std::vector<std::string>{STEPCAST_SOURCE_DIR "/tests/oracle/one_sample.yaml"}, {}, library);
  ASSERT_EQ(questions.front().error, "");
  schedules::Scenario s = questions.front().scenario;
  const schedules::Forecast one = schedules::forecast(s);
  EXPECT_GT(one.stages.front().time.host * 2, one.step);
  s.training.micro_batch = s.training.global_batch = 96;
  const schedules::Forecast many = schedules::forecast(s);
  EXPECT_LT(many.stages.front().time.host * 50, many.step);
}

}  // namespace
}  // namespace stepcast
