#include "schedules/results/phases.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/app/program.h"

namespace stepcast::app {
namespace {

TEST(Phases, AreThoseThatAScenarioMayState) {
  const std::string begin = "measured.phases.";
  std::set<std::string> stated, known;
  for (const auto& entry : nlohmann::json::parse(run_program("keys --format json").out))
    if (const std::string key = entry["key"]; key.starts_with(begin)) stated.insert(key.substr(begin.size()));
  for (const schedules::Phase& phase : schedules::phases()) known.emplace(phase.name);
  EXPECT_EQ(stated, known);
}

}  // namespace
}  // namespace stepcast::app
