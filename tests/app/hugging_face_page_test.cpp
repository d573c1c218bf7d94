// The tables of docs/hugging-face.md are those of language/hugging_face/.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "language/hugging_face/model_type.h"
#include "language/hugging_face/translation.h"
#include "tests/app/page_block.h"

namespace stepcast::app {
namespace {

std::string in_a_row(std::span<const std::string_view> words) {
  std::string all;
  for (const std::string_view word : words) all += fmt::format("{}{}", all.empty() ? "" : ", ", word);
  return all;
}

TEST(HuggingFacePage, HasEveryTypeWithItsFields) {
  std::string rows;
  for (const language::ModelType* type : language::model_types()) {
    std::string fields;
    for (const language::ConfigField& field : type->fields)
      fields += fmt::format("{}{} {}", fields.empty() ? "" : ", ", field.name, field.fallback);
    rows += fmt::format("| `{}` | {} | {} | {} |\n", type->name, in_a_row(type->architectures), fields,
                        in_a_row(type->without_effect));
  }
  expect_block("docs/hugging-face.md", "types", rows);
  expect_block("docs/hugging-face.md", "idle", in_a_row(language::fields_without_effect()) + ".\n");
}

}  // namespace
}  // namespace stepcast::app
