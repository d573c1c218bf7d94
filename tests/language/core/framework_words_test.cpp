#include "language/core/framework_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "language/scenario.h"
#include "language/settings.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

TEST(FrameworkWords, StandOnceEachForKeysOfScenariosAndAreNone) {
  std::set<std::string_view> words;
  for (const FrameworkWord& each : framework_words()) {
    EXPECT_TRUE(words.insert(each.word).second) << each.word;
    EXPECT_NE(find_key(scenario_schema(), each.key), nullptr) << each.key;
    EXPECT_EQ(framework_word(each.word), &each);
  }
  EXPECT_EQ(framework_word("zzzz"), nullptr);
}

TEST(FrameworkWords, AreToldAsKeysWhereASettingHasOne) {
  try {
    settings_layer(std::vector<std::string>{"training.gradient_accumulation_steps=4"}, {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("found the unknown key 'training.gradient_accumulation_steps', "
                                                 "expected 'training.global_batch' for it: micro-batch x data ranks x "
                                                 "these steps"));
  }
}

}  // namespace
}  // namespace stepcast::language
