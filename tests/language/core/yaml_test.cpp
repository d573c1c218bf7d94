#include "language/core/yaml.h"

#include <gtest/gtest.h>

#include "tests/language/fixtures.h"

namespace stepcast::language {
namespace {

std::string wrong(const std::string& text) {
  return complaint([&] { parse_yaml(text, "a.yaml"); });
}

TEST(Yaml, ScalarsStayTheTextThatWasWritten) {
  const Node tree = parse_yaml("a: 010\nb: yes\nc: '8'\nd: 1e3\n", "a.yaml");
  EXPECT_EQ(tree.find("a")->scalar, "010");
  EXPECT_EQ(tree.find("b")->scalar, "yes");
  EXPECT_EQ(tree.find("c")->scalar, "8");
  EXPECT_EQ(tree.find("d")->scalar, "1e3");
}

TEST(Yaml, OctalNumbersAndYesAreNoValues) {
  EXPECT_EQ(complaint([] { small_with("model: {layers: 010}"); }),
            "keys.yaml:1:17: model.layers: found '010', expected a whole number of at least 1");
  EXPECT_EQ(complaint([] { small_with("parallelism: {sequence: yes}"); }),
            "keys.yaml:1:25: parallelism.sequence: found 'yes', expected true or false");
  for (const char* no : {"0x10", "+8", "8.0", "1_000", "1e3", "''", "~", "-1", "0"}) {
    EXPECT_NE(complaint([&] { small_with("model: {layers: " + std::string(no) + "}"); }), "") << no;
  }
  for (const char* no : {"True", "on", "1", "TRUE", "t"}) {
    EXPECT_NE(complaint([&] { small_with("parallelism: {sequence: " + std::string(no) + "}"); }), "") << no;
  }
}

TEST(Yaml, PlacesCountFromOne) {
  const Node tree = parse_yaml("a: 1\nb:\n  c: x\n", "a.yaml");
  EXPECT_EQ(text(tree.place), "a.yaml:1:1");
  EXPECT_EQ(text(tree.find("b")->find("c")->place), "a.yaml:3:6");
}

TEST(Yaml, AnAliasHasItsOwnPlaceAndTheValueOfItsAnchor) {
  const Node tree = parse_yaml("a: &n 8\nb: *n\n", "a.yaml");
  EXPECT_EQ(tree.find("b")->scalar, "8");
  EXPECT_EQ(text(tree.find("b")->place), "a.yaml:2:4");
}

TEST(Yaml, AKeyTwiceIsRefusedAtAnyDepth) {
  EXPECT_EQ(wrong("a: {b: 1, b: 2}\n"),
            "a.yaml:1:11: found the key 'b' a second time, expected it once (first on line 1)");
}

TEST(Yaml, BombsAreRefusedBeforeTheyGoOff) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = std::to_string(i - 1), now = std::to_string(i);
    bomb.append("a").append(now).append(": &a").append(now).append(" [");
    for (int k = 0; k < 10; ++k) bomb.append(k > 0 ? ", *a" : "*a").append(last);
    bomb.append("]\n");
  }
  EXPECT_NE(wrong(bomb).find("found more than 100000 values"), std::string::npos) << wrong(bomb);
  std::string deep = "a: ";
  deep.append(5000, '[').append(5000, ']');
  EXPECT_EQ(wrong(deep), "a.yaml:1:35: found more than 32 levels, expected fewer");
}

TEST(Yaml, KeysOfAMappingAreFewAndShort) {
  std::string many;
  for (int i = 0; i < 501; ++i) many += "k" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(wrong(many), "a.yaml:501:1: found 'k500' behind 500 keys of one mapping, expected fewer");
  EXPECT_EQ(wrong("? " + std::string(900'000, 'x') + "\n: 1\n"),
            "a.yaml:1:3: found a key of more than 200 characters, expected fewer");
}

TEST(Yaml, AnchorsCountAsTheCopiesThatAreKept) {
  std::string anchors = "a: ", ends;
  for (int i = 0; i < 29; ++i) {
    anchors += "&a" + std::to_string(i) + " [";
    ends += "]";
  }
  std::string items = "1";
  for (int i = 0; i < 9'999; ++i) items += ",1";
  EXPECT_NE(wrong(anchors + items + ends).find("found more than 100000 values"), std::string::npos);
}

TEST(Yaml, ComplaintsAreInPlainWords) {
  EXPECT_EQ(wrong("\ta: 1\n"), "a.yaml:1:1: found a tab in the indentation, expected blanks");
  EXPECT_EQ(wrong("a: {b: 1\n"),
            "a.yaml:1:4: found a '{' that never ends, expected a closing '}', or a comma between two entries");
  EXPECT_EQ(wrong("a: [1\n"),
            "a.yaml:1:4: found a '[' that never ends, expected a closing ']', or a comma between two items");
  EXPECT_NE(wrong("a: b: c\n").find("text with ': ' goes in quotes"), std::string::npos) << wrong("a: b: c\n");
  EXPECT_NE(wrong("a: \"b\n").find("a quote that never ends"), std::string::npos) << wrong("a: \"b\n");
  EXPECT_EQ(wrong("a: \"b\\0c\"\n"), "a.yaml:1:4: found a NUL character, expected text");
  EXPECT_EQ(wrong("\"a\\u0000\": b\n"), "a.yaml:1:1: found a NUL character, expected text");
  EXPECT_NE(wrong("a: *b\n").find("an alias to an anchor"), std::string::npos) << wrong("a: *b\n");
}

TEST(Yaml, OneMappingIsExpected) {
  EXPECT_EQ(wrong("- a\n"), "a.yaml:1:1: found a list, expected a mapping");
  EXPECT_EQ(wrong("# only a remark\n"), "a.yaml: found no key, expected a mapping");
  EXPECT_NE(wrong("a: 1\n---\nb: 2\n").find("found a second document, expected one"), std::string::npos);
  EXPECT_EQ(wrong(""), "a.yaml: the file is empty");
  EXPECT_EQ(wrong(std::string("a: b\0c\n", 7)), "a.yaml:1:5: found a NUL byte, expected text");
  EXPECT_EQ(wrong("a: \xff\n"), "a.yaml:1:4: found bytes that are not UTF-8, expected UTF-8 text");
}

}  // namespace
}  // namespace stepcast::language
