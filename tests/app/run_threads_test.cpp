#include <gtest/gtest.h>

#include "tests/app/program.h"

namespace stepcast::app {
namespace {

TEST(Asked, ThreadsAreAWholeNumberOfAtLeastOne) {
  for (const char* word : {"-1", "0", "two", "3.5", "99999999999", "4097"}) {
    const Outcome outcome = run_program(std::string("run scenarios/quickstart.yaml --threads=") + word);
    EXPECT_EQ(outcome.status, 2) << word;
    EXPECT_EQ(outcome.err, std::string("--threads: found '") + word + "', expected a whole number from 1 to 4096\n");
    EXPECT_EQ(outcome.out, "");
  }
}

}  // namespace
}  // namespace stepcast::app
