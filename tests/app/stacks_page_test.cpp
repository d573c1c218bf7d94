// docs/stacks.md, where a user looks up which file of configs/software/ stands for a framework.

#include <gtest/gtest.h>

#include <string>

#include "tests/app/program.h"
#include "tests/language/fixtures.h"

namespace stepcast::app {
namespace {

TEST(StacksPage, NamesEveryFileOfSoftware) {
  const std::string page = read_text(STEPCAST_SOURCE_DIR "/docs/stacks.md");
  for (const std::string& name : language::configs().names("software"))
    EXPECT_NE(page.find("`" + name + "`"), std::string::npos) << name;
}

}  // namespace
}  // namespace stepcast::app
