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
  EXPECT_NE(run_program("run scenarios/llama3-8b-lora.yaml").out.find("8.072 billion on 1 GPU, "), std::string::npos);
}

}  // namespace
}  // namespace stepcast::app
