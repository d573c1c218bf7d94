#include "app/sweep/condition.h"

#include <gtest/gtest.h>

#include <map>

#include "sim/input_error.h"

namespace stepcast::app {
namespace {

using Kind = NamedDatum::Kind;
using Measure = NamedDatum::Measure;

struct NamedValue {
  std::string name;
  NamedDatum datum;
  Datum value;
};
const std::vector<NamedValue>& known_values() {
  static const std::vector<NamedValue> all{
      {"tensor", {Kind::number, Measure::none, {}, 0}, 8.0},
      {"pipeline", {Kind::number, Measure::none, {}, 1}, 4.0},
      {"schedule", {Kind::text, Measure::none, {"1f1b", "interleaved-1f1b"}, 2}, std::string("interleaved-1f1b")},
      {"model", {Kind::text, Measure::none, {}, 3}, std::string("gpt3-175b")},
      {"memory", {Kind::number, Measure::bytes, {}, 4}, 64.0 * (1 << 30)},
      {"step", {Kind::number, Measure::time, {}, 5}, 12.5},
      {"fits", {Kind::flag, Measure::none, {}, 6}, true},
      {"absent", {Kind::number, Measure::none, {}, 7}, Datum{}},
      {"rate", {Kind::number, Measure::bandwidth, {}, 8}, 25e9},
  };
  return all;
}

Vocabulary words_known() {
  Vocabulary all;
  for (const NamedValue& each : known_values()) all.names.push_back(each.name);
  all.find = [](const std::string& name) -> std::optional<NamedDatum> {
    for (const NamedValue& each : known_values())
      if (each.name == name) return each.datum;
    return std::nullopt;
  };
  return all;
}

bool holds(const std::string& text) {
  return Condition(text, words_known()).holds([](std::size_t name) { return known_values()[name].value; });
}

std::string condition_error(const std::string& text) {
  try {
    Condition(text, words_known());
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Condition, NumbersCompareInAllWays) {
  for (const char* text :
       {"tensor=8", "tensor==8", "tensor!=7", "tensor<9", "tensor<=8", "tensor>7.5", "tensor >= 8", "8=tensor"})
    EXPECT_TRUE(holds(text)) << text;
  for (const char* text : {"tensor=7", "tensor!=8", "tensor<8", "tensor<=7", "tensor>8", "tensor>=9"})
    EXPECT_FALSE(holds(text)) << text;
}

TEST(Condition, ProductsBindTighterThanSumsAndBothFromTheLeft) {
  EXPECT_TRUE(holds("tensor + pipeline*2 = 16"));
  EXPECT_TRUE(holds("tensor*pipeline<=32"));
  EXPECT_FALSE(holds("tensor*pipeline<32"));
  EXPECT_TRUE(holds("tensor - pipeline - 1 = 3"));
  EXPECT_TRUE(holds("tensor/pipeline/2 = 1"));
  EXPECT_TRUE(holds("(tensor + pipeline)*2 = 24"));
  EXPECT_TRUE(holds("64 % (tensor*3) = 16"));
}

TEST(Condition, AndBindsTighterThanOr) {
  EXPECT_TRUE(holds("fits or fits and tensor=7"));
  EXPECT_FALSE(holds("(fits or fits) and tensor=7"));
  EXPECT_TRUE(holds("tensor=7 or (pipeline=4 and fits)"));
  EXPECT_FALSE(holds("fits=false"));
  EXPECT_TRUE(holds("fits = (tensor=8)"));
}

TEST(Condition, WordsAreTexts) {
  EXPECT_TRUE(holds("schedule=interleaved-1f1b"));
  EXPECT_FALSE(holds("schedule=1f1b"));
  EXPECT_TRUE(holds("schedule!=1f1b"));
  EXPECT_TRUE(holds("model='gpt3-175b'"));
  EXPECT_TRUE(holds("model!='a b'"));
}

TEST(Condition, QuantitiesHaveTheirUnits) {
  EXPECT_TRUE(holds("memory<=64 GiB"));
  EXPECT_FALSE(holds("memory<=63.9GiB"));
  EXPECT_TRUE(holds("step < 13 s"));
  EXPECT_TRUE(holds("step < 13"));  // seconds
  EXPECT_TRUE(holds("memory>0 and rate>0"));
  EXPECT_EQ(condition_error("memory<60"),
            "--where memory<60: found 'memory' beside 60, expected a unit, such as 60 GiB");
  EXPECT_EQ(condition_error("200<rate"),
            "--where 200<rate: found 'rate' beside 200, expected a unit, such as 200 GB/s");
  EXPECT_TRUE(holds("rate >= 200 Gbit/s and rate<201 Gbit/s"));
  EXPECT_TRUE(holds("step + 500 ms = 13 s"));
}

TEST(Condition, WhatIsAbsentComparesWithNothing) {
  for (const char* text : {"absent=1", "absent!=1", "absent<1", "absent>=1", "absent + 1 > 0", "absent=absent",
                           "tensor/0 > 0", "tensor%0=0"})
    EXPECT_FALSE(holds(text)) << text;
  EXPECT_TRUE(holds("absent=1 or fits"));
}

TEST(Condition, ItKnowsWhatItUses) {
  EXPECT_EQ(Condition("tensor*pipeline<9 and fits", words_known()).uses(), (std::vector<std::size_t>{0, 1, 6}));
}

TEST(Condition, WhatIsWrongIsSaid) {
  const std::map<std::string, std::string> errors{
      {"", "--where : found its end, expected a key, a result or a value"},
      {"tensr=8",
       "--where tensr=8: found the unknown name 'tensr', expected a key or a result; did you mean 'tensor'?"},
      {"tensor", "--where tensor: found 'tensor', expected a comparison, such as parallelism.tensor<=8, or fits"},
      {"tensor=eight", "--where tensor=eight: found the unknown name 'eight', expected a key or a result"},
      {"schedule=1f2b",
       "--where schedule=1f2b: found '1f2b' beside schedule, expected one of 1f1b, interleaved-1f1b; did you mean "
       "'1f1b'?"},
      {"schedule<1f1b", "--where schedule<1f1b: found 'schedule' and '1f1b', which cannot be compared so"},
      {"schedule=8", "--where schedule=8: found 'schedule' and '8', which cannot be compared"},
      {"memory<3 s", "--where memory<3 s: found 'memory' and '3 s', which cannot be compared so"},
      {"memory + step > 0", "--where memory + step > 0: found 'memory' and 'step', which do not add"},
      {"fits + 1 > 0", "--where fits + 1 > 0: found 'fits', expected a number beside '+'"},
      {"tensor and fits", "--where tensor and fits: found 'tensor', expected a comparison there"},
      {"(tensor=8", "--where (tensor=8: found a '(' that never ends, expected a closing ')'"},
      {"tensor=8)", "--where tensor=8): found ')' behind 'tensor=8', expected and, or, an operator or the end"},
      {"1<tensor<9", "--where 1<tensor<9: found '<9' behind '1<tensor', expected and, or, an operator or the end"},
      {"model='gpt", "--where model='gpt: found a quote that never ends, expected a closing one"},
      {"tensor=8 andfits",
       "--where tensor=8 andfits: found 'andfits' behind 'tensor=8', expected and, or, an operator or the end"},
      {"tensor=1e999", "--where tensor=1e999: found '1e999', expected a number that is not as large"},
  };
  for (const auto& [text, error] : errors) EXPECT_EQ(condition_error(text), error);
  EXPECT_NE(condition_error(std::string(60, '(') + "fits" + std::string(60, ')')).find("more than 50 brackets"),
            std::string::npos);
  EXPECT_NE(condition_error(std::string(2001, ' ')).find("more than 2000 characters"), std::string::npos);
}

}  // namespace
}  // namespace stepcast::app
