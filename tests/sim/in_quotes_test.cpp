#include "sim/in_quotes.h"

#include <gtest/gtest.h>

namespace stepcast {
namespace {

TEST(InQuotes, ShowsTheStartOfALongTextAndLeavesControlsToWhoPrints) {
  EXPECT_EQ(in_quotes("two words"), "'two words'");
  EXPECT_EQ(in_quotes("a\x1b[31m\nb"), "'a\x1b[31m\nb'");
  EXPECT_EQ(in_quotes(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
  EXPECT_EQ(in_quotes(std::string(900'000, 'x')), "'" + std::string(60, 'x') + "...'");
}

TEST(InQuotes, NeverCutsACharacterInHalf) {
  std::string text(59, 'x');
  text += "\xc3\xa4\xc3\xa4";
  EXPECT_EQ(in_quotes(text).substr(50), "xxxxxxxxxx...'");
  EXPECT_LT(in_quotes(std::string(1000, '\x80')).size(), 80u);  // no UTF-8 at all
}

}  // namespace
}  // namespace stepcast
