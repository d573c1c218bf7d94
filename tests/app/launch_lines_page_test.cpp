// The tables of docs/launch-lines.md are those of language/frameworks/tables/.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "language/frameworks/frameworks.h"
#include "tests/app/page_block.h"

namespace stepcast::app {
namespace {

std::string values_of_row(const language::FlagRow& row) {
  std::string out;
  if (!row.present.empty()) out = fmt::format("there: {}", row.present);
  for (const language::Spelling& each : row.spellings)
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", each.theirs,
                       each.theirs == each.ours || row.key.starts_with('@') ? "" : fmt::format(" is {}", each.ours));
  if (!row.usual.empty()) out += fmt::format("{}else {}", out.empty() ? "" : "; ", row.usual);
  if (row.only_read) out += out.empty() ? "only read" : "; only read";
  return out;
}

TEST(LaunchLinesPage, HasEveryRowOfEveryTable) {
  std::string all;
  for (const language::Framework* framework : language::frameworks()) {
    all += fmt::format(
        "| {} (`{}`) | {} | {} |\n", framework->title, framework->name,
        framework->name == "megatron"     ? "flags, in a bash script"
        : framework->name == "deepspeed"  ? "configuration, JSON"
        : framework->name == "torchtitan" ? "job configuration, TOML"
        : framework->name == "hf-trainer"
            ? "arguments, in a bash script with DeepSpeed's JSON; also read: YAML of accelerate and of arguments"
        : &framework->syntax == &language::hydra_syntax
            ? "configuration, YAML; also read: a command with words path=value"
            : "configuration, YAML",
        framework->version);
    std::string rows;
    for (const language::FlagRow& row : framework->rows()) {
      const std::string key = !row.remark.empty()        ? std::string(row.remark)
                              : row.key.starts_with('@') ? ""
                                                         : fmt::format("`{}`", row.key);
      rows += fmt::format("| `{}` | {} | {} |\n", row.name, key, values_of_row(row));
    }
    expect_block("docs/launch-lines.md", std::string(framework->name), rows);
  }
  expect_block("docs/launch-lines.md", "frameworks", all);
}

}  // namespace
}  // namespace stepcast::app
