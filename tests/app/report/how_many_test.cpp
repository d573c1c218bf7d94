#include "app/report/how_many.h"

#include <gtest/gtest.h>

#include "tests/app/program.h"

namespace stepcast::app {
namespace {

TEST(HowMany, OfOneIsSingular) {
  EXPECT_EQ(how_many(1, "sample"), "1 sample");
  EXPECT_EQ(how_many(0, "sample"), "0 samples");
  EXPECT_EQ(how_many(12, "sample"), "12 samples");
}

TEST(HowMany, IsWhatReportsSayOfOneGpu) {
  const Outcome outcome = run_program(
      "run scenarios/quickstart.yaml --set cluster.nodes= --set cluster.gpus=1 --set model=gpt2-124m --set "
      "parallelism= "
      "--set pipeline=");
  EXPECT_NE(outcome.out.find(" on 1 GPU\n"), std::string::npos) << outcome.out << outcome.err;
}

}  // namespace
}  // namespace stepcast::app
