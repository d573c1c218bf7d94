#include "language/variants.h"

#include <utility>

#include "language/core/file_text.h"
#include "language/core/merge.h"
#include "language/core/streams.h"
#include "language/core/visible_text.h"
#include "language/scenario.h"
#include "language/scenario_file.h"
#include "language/settings.h"
#include "language/tables/runs_table.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

constexpr const char* kExpectedOne = "expected one scenario (.yaml, .yml, .json)";

Node read_tree(const std::filesystem::path& file, Library& library) {
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    throw InputError(file.string(), "no such file" + did_you_mean(file) + ", " + kExpectedOne);
  if (std::filesystem::is_directory(file, error))
    throw InputError(file.string(), "found a folder, " + std::string(kExpectedOne));
  if (is_stream(file)) {
    const std::string text = read_file(file, shown_path(file));
    if (looks_like_runs_table(text))
      throw InputError(shown_path(file), "found a runs table, " + std::string(kExpectedOne));
    return library.scenario(file, text, scenario_schema());
  }
  if (!is_scenario_file(file))
    throw InputError(file.string(), "found " + in_quotes(file.filename().string()) + ", " + kExpectedOne);
  return library.scenario(file, scenario_schema());
}

}  // namespace

Variants::Variants(const std::string& path, std::span<const std::string> settings, std::vector<Given> options,
                   Library library)
    : library_(std::move(library)), file_(input_named(path)), origin_(shown_path(file_)) {
  const Node over = settings_layer(settings, std::move(options));
  tree_ = read_tree(file_, library_);
  lay_over(over);
}

Variants::Variants(Node tree, std::span<const std::string> settings, Library library)
    : library_(std::move(library)), file_(tree.place.file), origin_(tree.place.file) {
  const Node over = settings_layer(settings, {});
  tree_ = library_.expand_block(tree, scenario_schema(), "");
  lay_over(over);
}

void Variants::lay_over(const Node& over) {
  merge(scenario_schema(), tree_, over);
  tree_ = library_.expand_block(tree_, scenario_schema(), "");
}

std::string Variants::name() const {
  const Node* const name = tree_.find("name");
  return name != nullptr && name->kind == Node::Kind::scalar ? name->scalar : file_.stem().string();
}

Question Variants::with(const std::vector<Given>& keys) {
  Question question;
  question.origin = origin_;
  question.name = file_.stem().string();
  question.file = file_;
  question.among_others = true;
  try {
    Node tree = tree_;
    merge(scenario_schema(), tree, layer_of(scenario_schema(), keys, tree.place));
    fill(question, library_.expand_block(tree, scenario_schema(), ""), library_);
  } catch (const InputError& e) {
    question.error = visible(e.what());
  } catch (...) {
    keep_error(question);
  }
  return question;
}

}  // namespace stepcast::language
