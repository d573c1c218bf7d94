#include "app/report/schedule_diagram.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>

#include "schedules/pipeline/ideal.h"
#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/shape.h"
#include "tests/app/program.h"

namespace stepcast::app {
namespace {

using schedules::PassKind;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kGoldenDiagrams = STEPCAST_SOURCE_DIR "/tests/golden/diagrams/";

/// A step of a schedule whose passes take round times, with an optimizer of 2 us at its end: no cost model moves it.
schedules::Forecast round_step(const char* name, std::uint32_t stages, std::uint32_t micro_batches) {
  const schedules::PipelineSchedule& schedule = *schedules::find_pipeline(name);
  const schedules::Shape shape = schedules::shape_of(schedule, stages, micro_batches, 2);
  const std::vector<schedules::StageOrder> orders = schedules::orders(schedule, shape);
  const bool splits = schedule.splits_backward;
  const Time lengths[] = {microseconds(5), microseconds(splits ? 6 : 10), microseconds(4), microseconds(10)};
  const schedules::IdealTimes times =
      schedules::ideal_times(shape, orders, lengths[0], lengths[1], splits ? lengths[2] : Time{}, microseconds(14));
  schedules::Forecast f;
  f.step = times.end + microseconds(2);
  for (std::uint32_t s = 0; s < stages; ++s) {
    f.stages.emplace_back().stage = s;
    for (std::size_t i = 0; i < orders[s].size(); ++i) {
      const schedules::Pass& pass = orders[s][i];
      if (pass.with_next) {
        f.passes.push_back({s, pass, orders[s][i + 1], times.start[s][i], microseconds(14)});
        ++i;
      } else {
        f.passes.push_back({s, pass, {}, times.start[s][i], lengths[static_cast<std::size_t>(pass.kind)]});
      }
    }
    f.passes.push_back({s, {}, {}, times.end, microseconds(2)});
  }
  return f;
}

TEST(ScheduleDiagram, InTheTerminalIsTheGoldenOne) {
  for (const char* name : {"interleaved-1f1b", "zb-v", "dualpipe"}) {
    const std::string text = schedule_text(round_step(name, 4, 8), {.width = 200, .colour = false});
    expect_golden(kGoldenDiagrams + name + ".txt", text);
  }
  expect_golden(kGoldenDiagrams + "narrow.txt", schedule_text(round_step("interleaved-1f1b", 4, 8), {.width = 60}));
  expect_golden(kGoldenDiagrams + "colour.txt",
                schedule_text(round_step("dualpipe", 4, 8), {.width = 200, .colour = true}));
}

TEST(ScheduleDiagram, AsSvgIsTheGoldenOne) {
  for (const char* name : {"interleaved-1f1b", "dualpipe"})
    expect_golden(kGoldenDiagrams + name + ".svg", schedule_svg(round_step(name, 4, 8), name));
}

TEST(ScheduleDiagram, LinesAreNoWiderThanTheTerminal) {
  for (const std::size_t width : {40u, 77u, 120u, 333u}) {
    std::istringstream lines(schedule_text(round_step("interleaved-1f1b", 12, 24), {.width = width}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), width);
  }
}

// A stage that waits half of the time is drawn so.
TEST(ScheduleDiagram, DrawsTimeToScale) {
  schedules::Forecast f;
  f.step = microseconds(100);
  f.stages.resize(1);
  f.passes = {
      {0, schedules::Pass{PassKind::forward, schedules::MicroBatchId{3}}, {}, microseconds(25), microseconds(50)}};
  EXPECT_EQ(schedule_text(f, {.width = 50}),
            "stage 0 |..........F3------------------..........|\n        0                                  100 us\n");
}

const std::string kPlan = "run scenarios/quickstart.yaml ";

TEST(ScheduleDiagram, FollowsTheReportWithoutColourWhereNobodyLooks) {
  const Outcome plain = run_program(kPlan), drawn = run_program(kPlan + "--schedule-diagram");
  ASSERT_EQ(drawn.status, 0) << drawn.err;
  EXPECT_TRUE(drawn.out.starts_with(plain.out));
  EXPECT_THAT(drawn.out, HasSubstr("\nstage 0 |F"));
  EXPECT_THAT(drawn.out, HasSubstr("\nstage 7 |.F"));
  EXPECT_THAT(drawn.out, Not(HasSubstr("\x1b")));
  // The option takes no word of its own.
  EXPECT_EQ(run_program("run --schedule-diagram" + kPlan.substr(3)).out, drawn.out);
}

TEST(ScheduleDiagram, IsWrittenAsSvgOrPng) {
  const std::string file = testing::TempDir() + "stepcast_diagram";
  ASSERT_EQ(run_program(kPlan + "--schedule-diagram=" + file + ".svg --format json").status, 0);
  EXPECT_TRUE(read_text(file + ".svg").starts_with("<svg"));
  ASSERT_EQ(run_program(kPlan + "--schedule-diagram=" + file + ".png").status, 0);
  EXPECT_TRUE(read_text(file + ".png").starts_with("\x89PNG"));
  for (const char* kind : {".svg", ".png"}) std::filesystem::remove(file + kind);
}

TEST(ScheduleDiagram, SaysWhatItCannotDraw) {
  EXPECT_EQ(run_program(kPlan + "--schedule-diagram --format json").err,
            "--schedule-diagram: found no file, expected =FILE.svg or =FILE.png beside --format json or csv\n");
  const Outcome wrong = run_program(kPlan + "--schedule-diagram=picture.gif");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--schedule-diagram: found"));
  EXPECT_EQ(run_program("run scenarios/textbook --schedule-diagram").err,
            "--schedule-diagram: found 6 scenarios, expected one\n");
}

}  // namespace
}  // namespace stepcast::app
