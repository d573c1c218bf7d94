#include "app/report/figure.h"

#include <gtest/gtest.h>

namespace stepcast::app {
namespace {

using schedules::Forecast;
using schedules::ReportedQuantity;
using schedules::Unit;

Answer answer_of(const Forecast& forecast) {
  Answer answer;
  answer.forecast = forecast;
  return answer;
}

TEST(Figure, IsReadOffTheForecastOrTheScenarioInBareNumbers) {
  Forecast forecast;
  forecast.step = milliseconds(1500);
  forecast.gpus = 8;
  Answer answer = answer_of(forecast);
  answer.question.scenario.data_parallel.local_steps = 4;
  const auto plain = [&](schedules::Reading read) { return plain_text(figure({"", Unit::count, "", read}, answer)); };
  EXPECT_EQ(plain(&Forecast::step), "1.5");
  EXPECT_EQ(plain(&Forecast::gpus), "8");
  EXPECT_EQ(plain(&Forecast::perfect), "");
  EXPECT_EQ(plain([](const schedules::Scenario& s) { return s.data_parallel.local_steps; }), "4");
  EXPECT_EQ(plain([](const Forecast&) { return Bytes{7}; }), "7");
  answer.forecast.reset();
  EXPECT_EQ(plain(&Forecast::gpus), "");
}

TEST(Figure, ReadsInItsUnit) {
  EXPECT_EQ(text(1.25, Unit::seconds), "1.25 s");
  EXPECT_EQ(text(std::int64_t{3} << 30, Unit::bytes), "3.00 GiB");
  EXPECT_EQ(text(1.5e12, Unit::flops_per_second), "1.5 TFLOP/s");
  EXPECT_EQ(text(0.4125, Unit::share), "41.2%");
  EXPECT_EQ(text(12345.6, Unit::per_second), "12346");
  EXPECT_EQ(text(std::int64_t{512}, Unit::count), "512");
  EXPECT_EQ(text(Figure{}, Unit::seconds), "");
}

}  // namespace
}  // namespace stepcast::app
