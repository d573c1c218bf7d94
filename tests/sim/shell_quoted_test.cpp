#include "sim/shell_quoted.h"

#include <gtest/gtest.h>

namespace stepcast {
namespace {

TEST(ShellQuoted, LeavesWhatAShellTakesAsItIs) {
  for (const char* word : {"cluster.node=dgx-h100", "/data/a_b,c:d", "--set", "10%", "a@b+c"})
    EXPECT_EQ(shell_quoted(word), word);
}

TEST(ShellQuoted, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("a b"), "'a b'");
  EXPECT_EQ(shell_quoted("[1, 2]"), "'[1, 2]'");
  EXPECT_EQ(shell_quoted("`id`"), "'`id`'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace stepcast
