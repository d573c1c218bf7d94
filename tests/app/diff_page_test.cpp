// docs/diff.md: its two commands print what stands below them. STEPCAST_UPDATE_GOLDEN=1 app_tests
// --gtest_filter='DiffPage*' rewrites that.

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/app/page_block.h"
#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

TEST(DiffPage, ItsCommandsPrintWhatItSays) {
  LEFT_TO_RELEASE();
  const std::string start = "    scripts/stepcast ";
  const std::vector<std::string> blocks{"diff", "diff-trace"};
  std::size_t next = 0;
  std::istringstream page(read_text(STEPCAST_SOURCE_DIR "/docs/diff.md"));
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with(start)) continue;
    ASSERT_LT(next, blocks.size());
    const Outcome outcome = run_program(line.substr(start.size()), STEPCAST_SOURCE_DIR, "COLUMNS=110");
    EXPECT_EQ(outcome.status, 0) << line << '\n' << outcome.err;
    std::string block = "\n";
    std::istringstream lines(outcome.out);
    for (std::string printed; std::getline(lines, printed);) block += printed.empty() ? "\n" : "    " + printed + "\n";
    expect_block("docs/diff.md", blocks[next++], block + "\n");
  }
  EXPECT_EQ(next, blocks.size());
}

}  // namespace
}  // namespace stepcast::app
