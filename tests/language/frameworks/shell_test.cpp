#include "language/frameworks/text/shell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sim/input_error.h"

namespace stepcast::language {
namespace {

/// The command's words with '|' between them.
std::string words(const std::string& script, const ShellStart& start = {}) {
  std::string out;
  for (const ShellWord& word : command_of(script, "script.sh", start)) out += (out.empty() ? "" : "|") + word.text;
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

// Words inside of a command whose output is not known are not the flags of the command that it stands in.
TEST(Shell, LeavesACommandInsideAWordInOnePiece) {
  EXPECT_EQ(words("N=$(nvidia-smi --query-gpu=name --format=csv,noheader | wc -l)\nrun --a $N --b"),
            "run|--a|$(nvidia-smi --query-gpu=name --format=csv,noheader | wc -l)|--b");
  EXPECT_EQ(words("N=$(( $(nvidia-smi --query-gpu=name | wc -l) - 2 ))\nO=\"--n $N --m 2\"\nrun $O"),
            "run|--n|$(( $(nvidia-smi --query-gpu=name | wc -l) - 2 ))|--m|2");
  EXPECT_EQ(words("T=`date --iso-8601 +'%y %m'`\nrun --t $T --b `hostname --short`"),
            "run|--t|`date --iso-8601 +'%y %m'`|--b|`hostname --short`");
  EXPECT_EQ(words("O=\"--log ${DIR:?not given} --b\"\nrun $O"), "run|--log|${DIR:?not given}|--b");
  EXPECT_EQ(words("A='$(open'\nB='`half'\nrun --a $A --b $B"), "run|--a|$(open|--b|`half");
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

TEST(Shell, ReadsTheArmOfACaseThatFits) {
  const auto script = [](const std::string& subject) {
    return "A=1\ncase " + subject + " in\n  small|tiny) A=2 ;;\n  (large)\n    A=3\n    ;;\n  *) A=4\nesac\nrun --a $A";
  };
  EXPECT_EQ(words(script("tiny")), "run|--a|2");
  EXPECT_EQ(words(script("\"large\"")), "run|--a|3");
  EXPECT_EQ(words(script("other")), "run|--a|4");
  EXPECT_EQ(words(script("$1")), "run|--a|$A");
}

TEST(Shell, ReadsWhatFollowsOfAListWhereItRuns) {
  EXPECT_EQ(words("A=1\n[ x = x ] && A=2\nrun --a $A"), "run|--a|2");
  EXPECT_EQ(words("A=1\n[ x = y ] && A=2\nrun --a $A"), "run|--a|1");
  EXPECT_EQ(words("A=1\n[ x = y ] || A=2\nrun --a $A"), "run|--a|2");
  EXPECT_EQ(words("A=1\n[ x = y ] && { A=2; B=3; }\nrun --a $A ${B:-4}"), "run|--a|1|4");
  EXPECT_EQ(words("A=1\ngrep x y && A=2\nrun --a $A"), "run|--a|$A");
  EXPECT_EQ(words("if ! [ x = x ]; then A=1; else A=2; fi; run --a $A"), "run|--a|2");
}

TEST(Shell, ReadsTheFirstRoundOfALoop) {
  EXPECT_EQ(words("for T in 4; do\nrun --a $T\ndone"), "run|--a|4");
  EXPECT_EQ(words("for T in 4 8; do\nrun --a $T\ndone"), "run|--a|$T");
  EXPECT_EQ(words("A=1\nwhile true; do\nrun --a $A --b\nA=2\ndone"), "run|--a|1|--b");
  EXPECT_EQ(words("A=1\nwhile false; do\nA=2\ndone\nrun --a $A"), "run|--a|1");
  EXPECT_EQ(words("i=0\nwhile [ $i -lt 4 ]; do\nF+=(--a)\n((i++))\ndone\nrun --n $i"), "run|--n|$i");
  const std::vector<ShellWord> found = command_of("F=()\nfor i in 1 2; do\nF+=(--a)\ndone\nrun --x ${F[@]}", "s.sh");
  EXPECT_EQ(found.back().doubt, "the loop at s.sh:2:1 changes");
}

TEST(Shell, ReadsTheCommandOfAnotherShell) {
  EXPECT_EQ(words("A=4\nsrun --wait=60 --kill bash -c \"run --a $A --b --c 2>&1\" | tee log"), "run|--a|4|--b|--c");
  EXPECT_EQ(words("bash -c \"bash -c 'run --a'\""), "run|--a");
  EXPECT_EQ(words("numactl --membind=0 /bin/bash -c 'run --a --b'"), "run|--a|--b");
}

TEST(Shell, ReadsACommandThatIsKeptInAVariable) {
  const std::string kept = "A=4\nrun_cmd=\"run --a $A --b 2>&1 | tee log\"\n";
  EXPECT_EQ(words(kept + "echo ${run_cmd}\neval ${run_cmd}"), "run|--a|4|--b");
  EXPECT_EQ(words(kept + "eval \"$run_cmd\""), "run|--a|4|--b");
  EXPECT_EQ(words("C='run --a $A'\nA=3\neval $C"), "run|--a|3");
  EXPECT_EQ(words("eval \"$(conda shell.bash hook --x)\"\nrun --a"), "run|--a");
  EXPECT_EQ(words("echo run --a --b"), "echo|run|--a|--b");
  EXPECT_EQ(words("X='eval $X'\neval $X\nrun --a"), "run|--a");  // holds itself
  const std::string doubtful = "if [ $UNKNOWN = 1 ]; then\nE=--x\nelse\nE=--y\nfi\nC='run --a 1 $E'\neval $C";
  EXPECT_NE(command_of(doubtful, "s.sh").back().doubt, "");
}

TEST(Shell, ReadsAScriptThatIsHandedToSlurm) {
  EXPECT_EQ(words("A=4\nsbatch --parsable <<EOT\n#!/bin/bash\n#SBATCH --nodes=2\nsrun --mpi=pmix run --a $A --b\nEOT"),
            "srun|--mpi=pmix|run|--a|4|--b");
  EXPECT_EQ(words("C=\"cd x; run --a 1 --b\"\nsbatch <<EOT\nsrun -l bash -x -c \"${C}\" 2>&1 | tee log\nEOT"),
            "run|--a|1|--b");
  EXPECT_EQ(words("bash other.sh <<EOT\nit's --a --b\nEOT\nrun --a"), "run|--a");
  EXPECT_EQ(words("cat > ds.json <<EOT\nrun --a --b --c\nEOT\nrun --a"), "run|--a");
}

TEST(Shell, IsStartedWithoutWords) {
  EXPECT_EQ(
      words(
          "F=()\nwhile [[ $# -gt 0 ]]; do\n case $1 in\n --x) F+=(--x \"$2\"); shift 2 ;;\n *) F+=(\"$1\"); shift ;;\n "
          "esac\ndone\nrun --a ${F[@]} --b ${1:-c}"),
      "run|--a|--b|c");
  EXPECT_EQ(words("f() {\nrun --n $# --w $2\n}\nf a b"), "run|--n|2|--w|b");
}

TEST(Shell, IsStartedWithArguments) {
  const ShellStart start{.arguments = {"a", "b c", "", "4", "5", "6", "7", "8", "9", "10"}};
  EXPECT_EQ(words("A=$1\nrun --a $A --b \"$2\" --c $3 --d \"$3\" --e ${10} --f $10 --g $#", start),
            "run|--a|a|--b|b c|--c|--d||--e|10|--f|a0|--g|10");
  EXPECT_EQ(words("run --a $(( 2 * $4 )) --b $((2*${10}))", start), "run|--a|8|--b|20");
  EXPECT_EQ(words("run --a ${3:-x} --b ${3-x} --c ${11:-y}", start), "run|--a|x|--b|--c|y");
  EXPECT_EQ(words("run --a \"$@\" --b", {.arguments = {"--x", "1 2"}}), "run|--a|--x|1 2|--b");
  EXPECT_EQ(words("run --a \"$*\" --b $*", {.arguments = {"1", "2"}}), "run|--a|1 2|--b|1|2");
  EXPECT_EQ(words("run --a \"$@\" --b ${@} --c \"x$@\""), "run|--a|--b|--c|x");
  EXPECT_EQ(words("A=$1\nshift\nB=$1; shift 2\nrun --a $A --b \"$B\" --c $1 --d $#", start),
            "run|--a|a|--b|b c|--c|4|--d|7");
  EXPECT_EQ(words("f() {\n shift\n run --a $1 --b $#\n}\nf x y\nother $1", start), "run|--a|y|--b|1");
  EXPECT_EQ(words("f() {\n run --a $2\n}\nf x", start), "run|--a|$2");  // not the script's
  EXPECT_EQ(command_of("A=${11}\nrun --a $A", "s.sh", start).back().unset, "11");
  EXPECT_EQ(words("bash -c 'run --a $1'", start), "run|--a|$1");  // another shell's
  EXPECT_EQ(words("eval run --a $1", start), "run|--a|a");
}

TEST(Shell, FollowsALoopOverItsArguments) {
  const std::string loop =
      "T=1\nF=()\nwhile [[ $# -gt 0 ]]; do\n case $1 in\n  --tp) T=$2; shift 2 ;;\n  --sp) F+=(--sp); shift ;;\n"
      "  --) shift; break ;;\n  *) F+=(\"$1\"); shift ;;\n esac\ndone\nrun --a $T ${F[@]} --n $#";
  EXPECT_EQ(words(loop), "run|--a|1|--n|0");
  EXPECT_EQ(words(loop, {.arguments = {"--sp", "--tp", "4", "x"}}), "run|--a|4|--sp|x|--n|0");
  EXPECT_EQ(words(loop, {.arguments = {"--tp", "4", "--", "x"}}), "run|--a|4|--n|1");
  EXPECT_EQ(words("while [ -n \"$1\" ]; do\nA=$1\nshift\ndone\nrun --a $A", {.arguments = {"1", "2", ""}}),
            "run|--a|2");
  const std::string endless = "while true; do\nshift\nA=1\ndone\nrun --a $A --b $1";
  EXPECT_EQ(words(endless, {.arguments = {"1", "2"}}), "run|--a|$A|--b|$1");
  EXPECT_EQ(words("while [ $# -gt 0 ]; do\nA=1\n(shift)\ndone\nrun --a $A", {.arguments = {"1"}}), "run|--a|$A");
  EXPECT_EQ(words("if [ -f x ]; then shift; fi\nrun --a $1", {.arguments = {"1", "2"}}), "run|--a|$1");
}

TEST(Shell, FitsPatternsAndTakesThemAway) {
  const std::string loop =
      "while [ $# -gt 0 ]; do\n case $1 in\n  --tp=*) T=${1#*=} ;;\n  -?) F+=(--short) ;;\n  --*) F+=(\"$1\") ;;\n "
      "esac\n "
      "shift\ndone\nrun --a $T ${F[@]}";
  EXPECT_EQ(words(loop, {.arguments = {"--tp=4", "-x", "--y"}}), "run|--a|4|--short|--y");
  EXPECT_EQ(words("A=a/b.c.d\nP=.c\nrun --a ${A#*/} --b ${A##*.} --c ${A%.*} --d ${A%%.*} --e ${A%x} --f ${A%$P*}"),
            "run|--a|b.c.d|--b|d|--c|a/b.c|--d|a/b|--e|a/b.c.d|--f|a/b");
  EXPECT_EQ(words("A=(a b)\nB=$X\nrun --a ${#A[@]} --b ${X%.*} --c ${B#*=} --d ${A%[a]}"),
            "run|--a|${#A[@]}|--b|${X%.*}|--c|${B#*=}|--d|${A%[a]}");
  EXPECT_EQ(command_of("B=$X\nrun --a ${B#*=}", "s.sh").back().unset, "X");
  for (const char* fitting : {"*", "a*", "*c", "a?c", "abc", "*b*", "a*c*", "??*"})
    EXPECT_EQ(words("case abc in\n " + std::string(fitting) + ") run --yes ;;\n *) run --no ;;\nesac"), "run|--yes")
        << fitting;
  for (const char* other : {"b*", "*b", "ab", "a?", "????", "a*b", ""})
    EXPECT_EQ(words("case abc in\n '" + std::string(other) + "') run --yes ;;\n *) run --no ;;\nesac"), "run|--no")
        << other;
}

TEST(Shell, IsStartedInAnEnvironment) {
  const std::string script =
      "C='run --a'\nif [ -n \"$KEY\" ]; then\n C=\"$C --key $KEY\"\nelse\n export MODE=off\nfi\n$C --b ${MODE:-on}";
  const auto with = [&](const std::string& key) { return words(script, {.environment = {{"KEY", key}}}); };
  EXPECT_EQ(with(""), "run|--a|--b|off");
  EXPECT_EQ(with("x"), "run|--a|--key|x|--b|on");
  for (const char* condition : {"[[ -n $KEY ]]", "[ \"$KEY\" ]", "[[ $KEY ]]", "[ ! -z \"$KEY\" ]", "! [ -z \"$KEY\" ]",
                                "[[ $KEY == x ]]", "[[ x == $KEY ]]", "[ \"$KEY\" != \"\" ]", "[ -n \"${KEY:-}\" ]"}) {
    const std::string either = "if " + std::string(condition) + "; then run --yes; else run --no; fi";
    EXPECT_EQ(words(either, {.environment = {{"KEY", "x"}}}), "run|--yes") << condition;
    EXPECT_EQ(words(either, {.environment = {{"KEY", ""}}}), "run|--no") << condition;
  }
  EXPECT_EQ(words("run --a ${KEY:-1} --b ${KEY-1} --c ${KEY:?} --d ${NO:-${KEY:-2}}", {.environment = {{"KEY", "3"}}}),
            "run|--a|3|--b|3|--c|3|--d|3");
  EXPECT_EQ(words("bash -c 'run --a $KEY'", {.environment = {{"KEY", "3"}}}), "run|--a|3");
  EXPECT_EQ(words("KEY=4\nrun --a $KEY", {.environment = {{"KEY", "3"}}}), "run|--a|4");
  const std::vector<ShellWord> found = command_of(script, "s.sh");
  EXPECT_EQ(
      found.front().doubt,
      "may be what s.sh:3:2 gives it, or what it was before (what KEY holds is not known: give --env KEY=VALUE, or "
      "--env KEY= where it is empty)");
  for (const char* other : {"[ $KEY = 1 ] && A=2", "case $KEY in\n x) A=2 ;;\nesac",
                            "if [ -f y ] || [ $KEY ]; then A=2; fi", "while [ $KEY ]; do\nA=2\ndone"})
    EXPECT_NE(command_of("A=1\n" + std::string(other) + "\nrun --a $A", "s.sh").back().doubt.find("--env KEY=VALUE"),
              std::string::npos)
        << other;
}

TEST(Shell, PutsDefaultsOfDefaultsInAndKeepsTextsInOnePiece) {
  EXPECT_EQ(words("A=2\nrun --a ${X:-${Y:-3}} --b ${X:-$A} --c \"${X:-4 $A}\" --d ${X:-4 $A} --e ${X:-}"),
            "run|--a|3|--b|2|--c|4 2|--d|4|2|--e");
  EXPECT_EQ(words("C='run --a 1'\nC+=' --b'\nC+=\" 2\"\nbash -c \"$C\""), "run|--a|1|--b|2");
  EXPECT_EQ(words("C=\nC+=4\nA=()\nrun --a \"$C\" --b \"${A[@]}\""), "run|--a|4|--b");
}

TEST(Shell, RefusesWhatAScriptIsStartedWithThatItDoesNotRead) {
  const auto refusal = [](const std::string& script, const ShellStart& start) -> std::string {
    try {
      words(script, start);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("run --a $A", {.environment = {{"KEY", "1"}}}),
            "--env: found 'KEY=1', but script.sh does not name 'KEY'; expected a variable that it reads");
  EXPECT_EQ(refusal("run --a $A ${A} $0", {.arguments = {"1"}}),
            "script.sh: found '1' behind --, but the script reads no argument ($1, \"$@\"); expected none");
  const auto environment = [](const std::vector<std::string>& given) -> std::string {
    try {
      environment_of(given);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(environment({"A=1", "B=", "A=1"}), "");
  EXPECT_EQ(environment({"A"}), "--env: found 'A', expected NAME=VALUE, or NAME= for an empty value");
  EXPECT_EQ(environment({"1A=2"}), "--env: found '1A=2', expected NAME=VALUE, or NAME= for an empty value");
  EXPECT_EQ(environment({"A=1", "A=2"}), "--env: found 'A=2' beside 'A=1', expected one of the two");
}

TEST(Shell, ReadsAFunctionWhereItIsCalled) {
  EXPECT_EQ(words("start() {\n  run --a $A --b $1 --c \"$@\"\n}\nA=2\nstart 3 4\n"), "run|--a|2|--b|3|--c|3|4");
  EXPECT_EQ(words("function set_sizes { A=8; }\nA=4\nset_sizes\nrun --a $A"), "run|--a|8");
  EXPECT_EQ(words("never() {\n run --a --b --c\n}\nrun --d"), "run|--d");
  EXPECT_EQ(words("start() {\n run --a $1\n}\ntime start 3"), "run|--a|3");
  EXPECT_THROW(words("f() {\nf\n}\nf"), InputError);
}

TEST(Shell, ForgetsWhatHoldsForASubshellOrOneCommandAlone) {
  EXPECT_EQ(words("A=1\n(cd x; A=2; run --b $A)\nother --a $A --c"), "other|--a|1|--c");
  EXPECT_EQ(words("A=1\nA=2 other\nrun --a $A"), "run|--a|1");
  EXPECT_EQ(words("B=2 other\nrun --a ${B:-3}"), "run|--a|3");
  EXPECT_EQ(words("declare -a F=(--a 1)\nrun ${F[@]} --b"), "run|--a|1|--b");
}

TEST(Shell, PassesOverRedirectionsAndHereDocuments) {
  EXPECT_EQ(words("run --a 1 2>&1 >log --b 2 &>> x --c 3 < in | tee log"), "run|--a|1|--b|2|--c|3");
  EXPECT_EQ(words("cat <<EOT > config.json\nother --a --b --c \"\nEOT\nrun --d\n"), "run|--d");
  EXPECT_EQ(words("cat <<-'END'\n\tother --a --b\n\tEND\nrun --d"), "run|--d");
  EXPECT_EQ(words("diff <(sort a) b\nrun --d"), "run|--d");
}

// Somebody has to fill it in: of a shell these would be two redirections, the second to a file "--b".
TEST(Shell, KeepsAPlaceholderInOnePiece) {
  EXPECT_EQ(words("run --a <Specify path> --b"), "run|--a|<Specify path>|--b");
  EXPECT_EQ(words("run --a <path>/vocab.json --b=<n> --c"), "run|--a|<path>/vocab.json|--b=<n>|--c");
  EXPECT_EQ(words("D=<Specify path and prefix>_text\nrun --a \"$D\" --b"),
            "run|--a|<Specify path and prefix>_text|--b");
  // A variable that is split is not split there.
  EXPECT_EQ(words("D=\"<some dir>/out\"\nrun --a $D --b"), "run|--a|<some dir>/out|--b");
  EXPECT_EQ(words("T='--t <image> </image>'\nbash -c \"run $T --b\""), "run|--t|<image>|</image>|--b");
  EXPECT_EQ(words("T=\"--t \\<image\\>\"\nbash -c \"run $T --b\""), "run|--t|<image>|--b");
  EXPECT_EQ(words("run --a ([0]*3+[1]*45) --b"), "run|--a|([0]*3+[1]*45)|--b");
  EXPECT_EQ(words("A=( --a ([0]+[1])*24 --b )\nrun ${A[@]}"), "run|--a|([0]+[1])*24|--b");
  EXPECT_EQ(words("run --a <7B model> --b </path/to> --c </path/to>/x --d <a|b> --e"),
            "run|--a|<7B model>|--b|</path/to>|--c|</path/to>/x|--d|<a|b>|--e");
  EXPECT_EQ(words("run --a </dev/null>log --b </dev/null 2>log"), "run|--a|--b");
  EXPECT_EQ(words("run --a <2in >log --b <in 2>log"), "run|--a|--b");
  EXPECT_EQ(words("run --a <in 2>log --b"), "run|--a|--b");
  EXPECT_EQ(words("run --a <in >log --b <in.txt 2>&1"), "run|--a|--b");
}

TEST(Shell, ReadsFilesThatItTakesInWhereTheyStandBesideIt) {
  const std::filesystem::path folder = testing::TempDir() + "stepcast_sourced_files";
  std::filesystem::create_directories(folder / "conf");
  std::ofstream(folder / "sizes.sh") << "T=4\nstart() {\n  run --a $T --b $1\n}\n. ./conf/more.sh 7\n";
  std::ofstream(folder / "conf" / "more.sh") << "M=$1\n";
  const std::string script = (folder / "train.sh").string();
  const auto read = [&](const std::string& text, const ShellStart& start = {}) {
    return script_of(text, script, start);
  };
  for (const char* const taken :
       {"source sizes.sh", ". ./sizes.sh", "source \"$(dirname \"$0\")/sizes.sh\"",
        "D=$(cd $(dirname ${BASH_SOURCE[0]}) && pwd)\nsource $D/sizes.sh", "source ${0%/*}/sizes.sh"}) {
    const ShellReading found = read(std::string(taken) + "\nstart $M", {.arguments = {"x"}});
    ASSERT_EQ(found.words.size(), 5u) << taken;
    EXPECT_EQ(found.words[2].text, "4");
    EXPECT_EQ(found.words[4].text, "7");
    EXPECT_THAT(found.words[2].place.file, testing::EndsWith("sizes.sh"));
    EXPECT_THAT(found.notes, testing::IsEmpty());
  }
  EXPECT_THAT(read("source /etc/profile\nsource env/bin/activate\nrun --a").notes,
              testing::ElementsAre("What '/etc/profile' sets (" + script +
                                       ":1:8) is not known: what stands elsewhere on "
                                       "this machine is not read.",
                                   "What 'env/bin/activate' sets (" + script +
                                       ":2:8) is not known: no such file "
                                       "stands beside the script, or in a folder above."));
  std::ofstream(folder / "endless.sh") << ". ./endless.sh\n";
  EXPECT_THROW(read("source endless.sh\nrun --a"), InputError);
}

/// The values of a command that runs behind a script in a folder of its own, with those notes that it leaves.
struct SourcingScript {
  explicit SourcingScript(const std::string& name) : root(testing::TempDir() + name) {
    std::filesystem::remove_all(root);
    std::filesystem::create_directories(root / "scripts");
  }
  void write(const std::string& file, const std::string& text) const { std::ofstream(root / file) << text; }
  /// Of "run --l VALUE" behind the text; "" where that is not read.
  std::string value(const std::string& text) {
    ShellReading found = script_of(text + "\nrun --l $L", (root / "scripts" / "run.sh").string());
    notes = std::move(found.notes);
    return found.words.size() == 3 ? found.words[2].text : "";
  }
  std::filesystem::path root;
  std::vector<std::string> notes{};
};

TEST(Shell, SaysOfFilesThatAreNoScriptThatWhatTheySetIsNotKnown) {
  SourcingScript script("stepcast_unreadable_files");
  script.write("scripts/block.sh", "L=2\nif true; then\n");
  script.write("scripts/quote.sh", "L=2\nA='open\n");
  script.write("scripts/program", std::string("L=2\n\0\1\n", 7));
  script.write("scripts/large.sh", std::string((std::size_t{1} << 20) + 1, '#'));
  for (const char* const file : {"block.sh", "quote.sh", "program", "large.sh"}) {
    EXPECT_EQ(script.value(std::string("L=1\nsource ") + file), "1") << file;
    EXPECT_THAT(script.notes, testing::ElementsAre(testing::HasSubstr("cannot be read as a shell script"))) << file;
  }
  script.write("scripts/empty.sh", "");
  EXPECT_EQ(script.value("L=1\nsource empty.sh"), "1");
  EXPECT_THAT(script.notes, testing::IsEmpty());
  script.value("source $X");
  EXPECT_THAT(script.notes, testing::ElementsAre(testing::HasSubstr("no file is known that is named so")));
}

TEST(Shell, TakesInTheFileOfTheFolderThatAScriptNames) {
  SourcingScript script("stepcast_folders_above");
  std::filesystem::create_directories(script.root / ".git");
  script.write("config.sh", "L=1\n");
  script.write("scripts/config.sh", "L=2\n");
  script.write("outside.sh", "L=3\n");
  for (const char* const above :
       {"$(cd \"$(dirname \"$0\")/..\" && pwd)", "$(dirname \"$(dirname \"$(readlink -f $0)\")\")", "$(dirname $0)/..",
        "$(cd \"$(dirname \"${BASH_SOURCE[0]}\")/..\" >/dev/null 2>&1 && pwd)"})
    EXPECT_EQ(script.value("R=" + std::string(above) + "\nsource $R/config.sh"), "1") << above;
  EXPECT_EQ(script.value("R=$(cd \"$(dirname \"$0\")\" >/dev/null 2>&1 && pwd)\nsource $R/config.sh"), "2");
  EXPECT_EQ(script.value("R=$(cd \"$(dirname \"$0\")/../conf\" && pwd)\nL=4\nsource $R/config.sh"), "4");
  EXPECT_THAT(script.notes, testing::SizeIs(1));
  // The root of the repository is the last folder that is looked into.
  std::filesystem::create_directories(script.root / "scripts" / ".git");
  EXPECT_EQ(script.value("L=4\nsource outside.sh"), "4");
}

TEST(Shell, LooksAboveAScriptThatIsNamedFromItsOwnFolder) {
  const SourcingScript script("stepcast_own_folder");
  script.write("sizes.sh", "L=16\n");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(script.root / "scripts");
  const std::vector<ShellWord> found = command_of("source sizes.sh\nrun --l $L", "run.sh");
  std::filesystem::current_path(before);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[2].text, "16");
}

TEST(Shell, LeavesAFileAndAFunctionAtReturn) {
  SourcingScript script("stepcast_returns");
  script.write("scripts/plain.sh", "L=8; return 0; L=99\n");
  EXPECT_EQ(script.value("source plain.sh"), "8");
  script.write("scripts/guards.sh",
               "[ \"$SIZE\" = 7b ] && { L=32; return; }\n[ \"$SIZE\" = 1b ] && { L=16; return; }\nL=9\n");
  EXPECT_EQ(script.value("SIZE=7b\nsource guards.sh"), "32");
  EXPECT_EQ(script.value("SIZE=1b\nsource guards.sh"), "16");
  EXPECT_EQ(script.value("SIZE=3b\nsource guards.sh"), "9");
  EXPECT_EQ(script.value("source guards.sh"), "$L");  // which of them is not known
  script.write("scripts/twice.sh", "L=8\n[ -n \"$LOADED\" ] && return\nreturn 0\nL=99\n");
  EXPECT_EQ(script.value("source twice.sh"), "8");
  EXPECT_EQ(words("f() {\nL=8\nreturn\nL=99\n}\nf\nM=3\nrun --l $L --m $M"), "run|--l|8|--m|3");
  EXPECT_EQ(words("f() {\nfor a in 1; do\nL=8\nreturn\ndone\nL=99\n}\nL=8\nf\nrun --l $L"), "run|--l|8");
  EXPECT_EQ(words("return 0\nrun --l 8"), "run|--l|8");  // of a script itself it is none
}

TEST(Shell, MayBeStartedWithVariablesOfFilesThatACommandInsideTakesIn) {
  const SourcingScript script("stepcast_inside_files");
  script.write("scripts/env.sh", "L=${SIZE:-8}\n");
  const ShellReading found = script_of("bash -c \"source env.sh; run --l \\$L\"",
                                       (script.root / "scripts" / "run.sh").string(), {.environment = {{"SIZE", "4"}}});
  ASSERT_EQ(found.words.size(), 3u);
  EXPECT_EQ(found.words[2].text, "4");
}

// What variables hold at once is bounded, not what a long script writes with them.
TEST(Shell, MayWriteMoreThanItsVariablesHold) {
  std::string script = "A='" + std::string(1000, 'a') + "'\n";
  for (int i = 0; i < 2000; ++i) script += "echo $A\n";
  EXPECT_EQ(words(script + "run --a"), "run|--a");
  std::string doubling = "A=aaaa\n";
  for (int i = 0; i < 30; ++i) doubling += "A=$A$A\n";
  EXPECT_THROW(words(doubling + "run --a"), InputError);
}

TEST(Shell, SaysWhatDoesNotEnd) {
  const auto complaint = [](const std::string& script) -> std::string {
    try {
      words(script);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint("run\nwhile true; do\nrun"), "script.sh:2:1: found 'while', whose end is missing");
  EXPECT_EQ(complaint("f() {\nrun"), "script.sh:1:1: found 'f() {', whose end is missing");
  EXPECT_EQ(complaint("(cd x"), "script.sh:1:1: found '(', whose end is missing");
  EXPECT_EQ(complaint("cat <<EOT\nx"), "script.sh:1:5: found a here-document that does not end, expected a line 'EOT'");
  EXPECT_EQ(complaint("run --a >  --b"),
            "script.sh:1:9: found '> --b', which a shell takes for a file of that name; expected a value in quotes in "
            "front of the flag");
  EXPECT_EQ(complaint("f()\nrun"), "script.sh:1:1: found the function 'f', expected its commands in { }");
}

TEST(Shell, SaysWhereAWordIsWritten) {
  const std::vector<ShellWord> found = command_of("F=(\n  --a 1\n)\nrun \"${F[@]}\"\n", "script.sh");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(text(found[1].place), "script.sh:2:3");
  EXPECT_EQ(text(found[2].place), "script.sh:2:7");
}

}  // namespace
}  // namespace stepcast::language
