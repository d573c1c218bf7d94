// Each command's help shows at least two examples of it, with options that it has.

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "app/command.h"
#include "app/options.h"
#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

TEST(HelpExamples, EachCommandHasTwoWithOptionsThatItHas) {
  LEFT_TO_RELEASE();
  for (const Command* command : commands()) {
    if (command->hidden) continue;
    const std::string name(command->name);
    const Outcome help = run_program(name + " --help");
    ASSERT_EQ(help.status, 0) << name << help.err;
    std::size_t examples = 0;
    std::istringstream lines(help.out);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("  stepcast " + name)) continue;
      EXPECT_LE(line.size(), 120u) << line;
      line = line.substr(0, line.find(" -- "));  // what follows is no option of ours
      ++examples;
      std::istringstream words(line);
      for (std::string word; words >> word;)
        if (word.starts_with("--") && word != "--") {
          const std::string option = word.substr(2, word.find('=') - 2);
          EXPECT_NE(command->line().options.find_nothrow(option, false), nullptr) << line << ": " << option;
        }
    }
    EXPECT_GE(examples, 2u) << name;
  }
}

}  // namespace
}  // namespace stepcast::app
