#include "app/report/bar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/app/program.h"
#include "tests/app/script.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using schedules::PartGroup;
using testing::HasSubstr;
using testing::Not;

constexpr Terminal kAscii{.width = 80}, kBlocks{.width = 80, .blocks = true},
    kColour{.width = 80, .colour = true, .blocks = true};

const Bar kOfThree{{{2, PartGroup::compute}, {1, PartGroup::communication}, {1, PartGroup::waiting}}};

TEST(Bar, IsAsLongAsItsShareOfTheLongest) {
  EXPECT_EQ(bar_text(plain_bar(5), 10, 8, kAscii), "####    ");
  EXPECT_EQ(bar_text(plain_bar(10), 10, 8, kAscii), "########");
  EXPECT_EQ(bar_text(plain_bar(5.2), 10, 8, kBlocks), "████▏   ");
  EXPECT_EQ(bar_text(plain_bar(0), 10, 4, kBlocks), "    ");
}

TEST(Bar, HasItsPiecesBehindEachOther) {
  EXPECT_EQ(bar_text(kOfThree, 4, 8, kAscii), "####==..");
  EXPECT_EQ(bar_text(kOfThree, 8, 8, kBlocks), "██▒░    ");
  EXPECT_EQ(bar_text(kOfThree, 8, 8, kColour), "\x1b[34m██\x1b[0m\x1b[33m▒\x1b[0m\x1b[90m░\x1b[0m    ");
  EXPECT_EQ(bar_legend(kAscii), "# compute  = communication  . waiting");
}

TEST(Bar, WithoutALengthIsBlank) {
  EXPECT_EQ(bar_text({}, 4, 3, kBlocks), "   ");
  EXPECT_EQ(bar_text(plain_bar(0), 0, 3, kBlocks), "   ");
  EXPECT_EQ(bar_text(plain_bar(-1), 4, 3, kAscii), "   ");
}

TEST(Bar, OfAStepAddsUpToIt) {
  schedules::StageReport stage;
  stage.time.compute = from_seconds(3);
  stage.time.exposed_data = from_seconds(2);
  stage.time.bubble = from_seconds(1);
  const std::vector<schedules::StageReport> stages{stage, stage};
  EXPECT_DOUBLE_EQ(step_bar(stages).length(), 6);
  EXPECT_EQ(bar_text(step_bar(stages), 6, 6, kAscii), "###==.");
}

/// What a pseudo-terminal of 150 columns shows of a command.
std::string shown(const std::string& command, const std::string& environment) {
  return run_script("script -qec 'stty cols 150; env -u NO_COLOR -u COLUMNS " + environment + " \"$stepcast\" " +
                    command + "' /dev/null </dev/null")
      .out;
}

TEST(Bar, IsDrawnByWhatTheTerminalCanShow) {
  const std::string run = "run scenarios/quickstart.yaml";
  const std::string blocks = shown(run, "LC_ALL=C.UTF-8 TERM=xterm"), ascii = shown(run, "LC_ALL=C TERM=xterm");
  EXPECT_THAT(blocks, HasSubstr("\x1b[34m█"));
  EXPECT_THAT(blocks, HasSubstr(" communication"));
  EXPECT_THAT(ascii, HasSubstr("\x1b[34m#"));
  EXPECT_THAT(ascii, Not(HasSubstr("█")));
  for (const char* plain : {"NO_COLOR=1 TERM=xterm", "TERM=dumb"}) {
    const std::string text = shown(run, std::string("LC_ALL=C.UTF-8 ") + plain);
    EXPECT_THAT(text, HasSubstr("█")) << plain;
    EXPECT_THAT(text, Not(HasSubstr("\x1b["))) << plain;
  }
  EXPECT_THAT(shown(run, "LC_ALL=C.UTF-8 TERM=xterm NO_COLOR="), HasSubstr("\x1b[34m"));
}

TEST(Bar, IsBesideTheRowsOfEachCommandOnATerminalAndNowhereElse) {
  LEFT_TO_RELEASE();
  for (const std::string command :
       {"run scenarios/quickstart.yaml scenarios/mlp.yaml",
        "sweep scenarios/quickstart.yaml --axis training.micro_batch=1,2",
        "search scenarios/quickstart.yaml --over training.micro_batch=1,2 --over parallelism.tensor=8 --budget 2",
        "sensitivity scenarios/mlp.yaml", "validate scenarios/quickstart.yaml"}) {
    EXPECT_THAT(shown(command, "LC_ALL=C.UTF-8 TERM=dumb"), HasSubstr("█")) << command;
    const Outcome piped = run_program(command, STEPCAST_SOURCE_DIR, "LC_ALL=C.UTF-8 TERM=xterm");
    EXPECT_THAT(piped.out, Not(HasSubstr("█"))) << command;
    EXPECT_THAT(piped.out, Not(HasSubstr("\x1b["))) << command;
  }
}

}  // namespace
}  // namespace stepcast::app
