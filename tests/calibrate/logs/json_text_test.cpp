#include "calibrate/logs/json_text.h"

#include <gtest/gtest.h>

#include <string>

#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

std::string complaint_about(const std::string& text, JsonExtras extras = JsonExtras::none) {
  try {
    check_json_text("a.json", text, extras);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

std::string nested(int levels, const std::string& open, const std::string& close) {
  std::string text;
  for (int i = 0; i < levels; ++i) text += open;
  text += "1";
  for (int i = 0; i < levels; ++i) text += close;
  return text;
}

TEST(JsonText, MayBeThirtyTwoLevelsDeep) {
  EXPECT_EQ(complaint_about(nested(32, "[", "]")), "");
  EXPECT_EQ(complaint_about(nested(32, "{\"a\": ", "}")), "");
  EXPECT_EQ(complaint_about(nested(33, "[", "]")),
            "a.json:1:33: found lists and objects inside each other, expected at most 32 levels");
  EXPECT_EQ(complaint_about(nested(100'000, "[", "]")),
            "a.json:1:33: found lists and objects inside each other, expected at most 32 levels");
  EXPECT_EQ(complaint_about(nested(33, "{\"a\":\n", "}")),
            "a.json:33:1: found lists and objects inside each other, expected at most 32 levels");
}

TEST(JsonText, SaysAKeyOnceInAnObject) {
  EXPECT_EQ(complaint_about(R"({"a": {"b": 1}, "b": {"b": 2}})"), "");
  EXPECT_EQ(complaint_about("{\"zero\": {\"stage\": 3,\n \"stage\": 1}}"),
            "a.json:2:2: zero.stage: found twice, expected once");
  EXPECT_EQ(complaint_about(R"({"a\"b": 1, "a\"b": 2})"), "a.json:1:13: a\"b: found twice, expected once");
}

TEST(JsonText, HasNumbersThatADoubleHolds) {
  EXPECT_EQ(complaint_about("[1e308, -1e308, 1e-400]"), "");
  EXPECT_EQ(complaint_about("{\"a\":\n  1e400}"),
            "a.json:2:3: found a number that is too large, '1e400', expected one of at most 1.8e308");
}

TEST(JsonText, SaysWhereItEndsToBeJson) {
  EXPECT_EQ(complaint_about("{\n\"a\": x}"), "a.json:2:6: found no JSON: 'x}' cannot stand here");
  EXPECT_EQ(complaint_about("[1,"), "a.json:1:4: found no JSON: the file breaks off here");
  EXPECT_EQ(complaint_about("# no"), "a.json:1:1: found no JSON: '# no' cannot stand here");
  EXPECT_EQ(complaint_about("{} // a"), "a.json:1:4: found no JSON: '// a' cannot stand here");
  EXPECT_EQ(complaint_about("{} // a", JsonExtras::comments), "");
}

}  // namespace
}  // namespace stepcast::calibrate
