// Names and files may hold any bytes: none of them acts on a terminal, whatever is printed.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/report/json_text.h"
#include "app/report/xml_text.h"
#include "language/core/visible_text.h"
#include "tests/app/script.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;

bool is_plain(std::string_view text) {
  while (!text.empty()) {
    if (text[0] != '\n' && language::is_control(text)) return false;
    text.remove_prefix(std::max<std::size_t>(language::utf8_length(text), 1));
  }
  return true;
}

TEST(ControlBytes, StandAsEscapes) {
  EXPECT_EQ(language::visible("plain, \xc3\xa9 and \xf0\x9f\x99\x82"), "plain, \xc3\xa9 and \xf0\x9f\x99\x82");
  EXPECT_EQ(language::visible("\x1b[31m\a\n\r\t\x7f"), "\\x1b[31m\\x07\\n\\r\\t\\x7f");
  EXPECT_EQ(language::visible("\xc2\x9b\xe2\x80\xae"), "\\u009b\\u202e");
  EXPECT_EQ(language::visible("\x9b\xff\xc3"), "\\x9b\\xff\\xc3");
  EXPECT_EQ(language::visible_lines("a\nb\x1b\n"), "a\nb\\x1b\n");
  EXPECT_EQ(xml_text("<a&b>\x1b"), "&lt;a&amp;b&gt;\\x1b");
}

TEST(ControlBytes, AreEscapedInJsonAsJsonDoes) {
  const std::string name = "\x1b\x7f\xc2\x9b\xe2\x80\xae\xe2\x80\xa8 \xc3\xa9 \"\\\n";
  const std::string text = json_text({{"name", name}});
  EXPECT_EQ(nlohmann::json::parse(text)["name"], name);
  EXPECT_TRUE(is_plain(text)) << text;
  EXPECT_TRUE(nlohmann::json::accept(json_text({{"name", "\xff\x9b"}})));
}

TEST(ControlBytes, OfNamesReachNeitherResultsNorMessages) {
  const fs::path folder = fs::path(testing::TempDir()) / ("stepcast-control-" + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::string name = "x\\e]0;title\\a\\N\\x9b\\u202e\\ny";
  std::ofstream(folder / "a.yaml") << "base: " STEPCAST_SOURCE_DIR "/scenarios/quickstart.yaml\nname: \"" << name
                                   << "\"\nmeasured: {step_time: 20 s}\n";
  std::ofstream(folder / "b.yaml") << "base: a.yaml\n\"unknown\\e[31m\\nkey\": 1\n";
  std::ofstream(folder / "c.yaml") << "base: a.yaml\nmodel: \"\\e[31m\\x9bgpt\"\n";
  std::ofstream(folder / "t.csv") << "base,name\na.yaml,\"\x1b[31m\x07\nx\"\nnone\x1b.yaml,y\n";
  const std::string odd = "'e\x1b[31m\xc2\x9b.yaml'";
  for (const std::string words :
       {"run a.yaml",
        "run a.yaml --format json",
        "run a.yaml --format csv",
        "run a.yaml --schedule-diagram",
        "run a.yaml --trace t.json --schedule-diagram=d.svg --output /dev/null; cat t.json d.svg",
        "validate a.yaml",
        "run a.yaml --schedule-diagram=d.png",
        "validate a.yaml --format json",
        "validate a.yaml --format csv",
        "validate a.yaml --explain $'x\\e]0;title\\a\\u85\\u9b\\u202e\\ny'",
        "run b.yaml",
        "run c.yaml",
        "run t.csv",
        "run t.csv --format json",
        "run t.csv --format csv",
        "run .",
        "run --format=$'\\e'",
        "run --$'\\e'",
        "$'\\e'",
        "run a.yaml --output $'/no\\e[31m/x'",
        "run a.yaml --set $'name=\\e[31m'",
        "run a.yaml --set $'\\e[31m=1'",
        "show gpus/$'\\e[31m'",
        "topology $'\\e[31m.yaml'",
        "collective --node $'\\e[31m'",
        "collective --node dgx-h100 --algorithm $'\\e[31m'",
        "collective --node dgx-h100 --sizes $'\\e[31m'"}) {
    const Outcome outcome = run_script("$stepcast " + words, folder.string());
    EXPECT_TRUE(is_plain(outcome.out)) << words << '\n' << language::visible_lines(outcome.out);
    EXPECT_TRUE(is_plain(outcome.err)) << words << '\n' << language::visible_lines(outcome.err);
    EXPECT_EQ(outcome.err.find("internal error"), std::string::npos) << outcome.err;
  }
  EXPECT_TRUE(is_plain(run_script("$stepcast run " + odd, folder.string()).err));
  EXPECT_TRUE(run_script("$stepcast run a.yaml", folder.string()).out.starts_with("x\\x1b]0;title\\x07"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace stepcast::app
