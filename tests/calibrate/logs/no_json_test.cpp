#include "calibrate/logs/no_json.h"

#include <gtest/gtest.h>

namespace stepcast::calibrate {
namespace {

TEST(NoJson, SaysWhereInPlainWords) {
  EXPECT_STREQ(no_json("a.json", "{\n\"a\": x}", 8, "parse error - invalid literal").what(),
               "a.json:2:6: found no JSON: 'x}' cannot stand here");
  EXPECT_STREQ(no_json("a.json", "[1,", 4, "unexpected end of input").what(),
               "a.json:1:4: found no JSON: the file breaks off here");
  EXPECT_STREQ(no_json("a.json", "[\"\xff\"]", 3, "invalid string: ill-formed UTF-8 byte").what(),
               "a.json:1:3: found bytes that are not UTF-8, expected UTF-8 text");
  EXPECT_STREQ(no_json("a.json", "", 1, "unexpected end of input").what(),
               "a.json:1:1: found no JSON: the file breaks off here");
}

}  // namespace
}  // namespace stepcast::calibrate
