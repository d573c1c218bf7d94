#include "language/frameworks/text/shell.h"

#include <gtest/gtest.h>

namespace stepcast::language {
namespace {

/// The command's words with '|' between them.
std::string words(const std::string& script) {
  std::string out;
  for (const ShellWord& word : command_of(script, "script.sh")) out += (out.empty() ? "" : "|") + word.text;
  return out;
}

TEST(Shell, PutsInVariablesArraysAndSums) {
  EXPECT_EQ(words("A=8\nB=\"4\"\nrun --n $A --m ${B} --k $(($A*B+1)) --l ${C:-7}"), "run|--n|8|--m|4|--k|33|--l|7");
  EXPECT_EQ(words("F=( --a 1 # first\n --b '2 3' )\nF+=(--c)\nrun ${F[@]} \"${F[@]}\""),
            "run|--a|1|--b|2|3|--c|--a|1|--b|2 3|--c");
  EXPECT_EQ(words("run --a $1 --b $(hostname) --c ${X} --d \\\n  'e f'"),
            "run|--a|$1|--b|$(hostname)|--c|${X}|--d|e f");
  EXPECT_EQ(words("export A=1; X=2 run --a \"$A\""), "run|--a|1");
}

TEST(Shell, TakesTheCommandWithTheMostFlags) {
  EXPECT_EQ(words("mkdir --parents x\nrun --a --b\necho done"), "run|--a|--b");
}

TEST(Shell, ReadsTheBranchThatRunsWhereItIsKnown) {
  const auto script = [](const std::string& condition) {
    return "A=x\nF=()\nif " + condition + "; then\n F+=(--yes)\nelse\n F+=(--no)\nfi\nrun --all ${F[@]}";
  };
  EXPECT_EQ(words(script("[[ \"$A\" == \"x\" ]]")), "run|--all|--yes");
  EXPECT_EQ(words(script("[[ $A == y ]]")), "run|--all|--no");
  EXPECT_EQ(words(script("[ $A != y ]")), "run|--all|--yes");
  EXPECT_EQ(words(script("[[ $A == y ]] || [[ -n $A ]]")), "run|--all|--yes");
  EXPECT_EQ(words(script("[[ $A == x ]] && [[ -z $A ]]")), "run|--all|--no");
  for (const char* holds :
       {"[ 4 -gt 1 ]", "[ 4 -ge 4 ]", "[ 1 -lt 4 ]", "[ 4 -le 4 ]", "[ 4 -eq 4 ]", "[ 4 -ne 1 ]", "true"})
    EXPECT_EQ(words(script(holds)), "run|--all|--yes") << holds;
  for (const char* fails :
       {"[ 1 -gt 4 ]", "[ 1 -ge 4 ]", "[ 4 -lt 4 ]", "[ 4 -le 1 ]", "[ 4 -eq 1 ]", "[ 4 -ne 4 ]", "false"})
    EXPECT_EQ(words(script(fails)), "run|--all|--no") << fails;
  EXPECT_EQ(words(script("[[ -f $A ]]")), "run|--all|--yes|--no");
  EXPECT_EQ(words(script("[[ $UNKNOWN == x ]]")), "run|--all|--yes|--no");
  EXPECT_EQ(words("if [[ a == a ]]; then\nif [[ a == b ]]; then\nrun --a --b --c\nfi\nrun --d\nfi"), "run|--d");
}

TEST(Shell, LeavesTheNameOfWhatMayHoldOneThingOrAnother) {
  const std::string either = "if [ $UNKNOWN = 1 ]; then\nA=8\nelse\nA=4\nfi\n";
  EXPECT_EQ(words(either + "run --all $A"), "run|--all|$A");
  EXPECT_EQ(words(either + "run --all ${A:-2}"), "run|--all|${A:-2}");
  EXPECT_EQ(words(either + "A=2\nrun --all $A"), "run|--all|2");
  EXPECT_EQ(words("A=4\nif [ $UNKNOWN = 1 ]; then\nA=4\nfi\nrun --all $A"), "run|--all|4");
}

TEST(Shell, SaysWhereAWordIsWritten) {
  const std::vector<ShellWord> found = command_of("F=(\n  --a 1\n)\nrun \"${F[@]}\"\n", "script.sh");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(text(found[1].place), "script.sh:2:3");
  EXPECT_EQ(text(found[2].place), "script.sh:2:7");
}

}  // namespace
}  // namespace stepcast::language
