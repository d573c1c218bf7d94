// Google's runs of MaxText (scenarios/tpu/maxtext.csv): those of TPU v6e that its step_share has not seen, and those of
// v5e and v5p, of which nothing is fitted.

#include <gtest/gtest.h>

#include <cmath>

#include "language/questions.h"
#include "schedules/forecast.h"

namespace stepcast {
namespace {

TEST(Tpus, RunMaxTextAboutAsFastAsGoogleMeasured) {
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  double unseen = 0, older = 0;
  int of_v6e = 0, unseen_rows = 0, older_rows = 0;
  for (const language::Question& q : language::read_questions(
           std::vector<std::string>{STEPCAST_SOURCE_DIR "/scenarios/tpu/maxtext.csv"}, {}, library)) {
    ASSERT_EQ(q.error, "") << q.name;
    const double error =
        std::abs(to_seconds(schedules::forecast(q.scenario).step) / to_seconds(*q.scenario.measured.step_time) - 1);
    EXPECT_LT(error, 0.15) << q.name;
    if (q.scenario.cluster.gpu.name != "tpu-v6e") {
      older += error;
      ++older_rows;
    } else if (of_v6e++ % 2 == 1) {  // the first, the third, ... are those that it was calibrated on
      unseen += error;
      ++unseen_rows;
    }
  }
  ASSERT_EQ(unseen_rows, 6);
  ASSERT_EQ(older_rows, 6);
  EXPECT_LT(unseen / unseen_rows, 0.05);
  EXPECT_LT(older / older_rows, 0.10);
}

}  // namespace
}  // namespace stepcast
