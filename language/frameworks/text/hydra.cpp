#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>

#include "language/core/file_text.h"
#include "language/frameworks/text/launcher_words.h"
#include "language/frameworks/text/sections.h"
#include "language/frameworks/text/shell.h"
#include "language/frameworks/text/syntax.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

// Hydra and OmegaConf: hydra.cc/docs/advanced/override_grammar, omegaconf.readthedocs.io, "Variable interpolation";
// `multiply` is a resolver that NeMo registers (nemo/core/config/hydra_runner.py and its examples).
namespace stepcast::language {
namespace {

/// Where the name of "path.to.key=value", "+key=value" or "~key" ends; 0: it is no such word.
std::size_t override_name_end(std::string_view word) {
  const std::size_t from = std::min(word.find_first_not_of('+'), word.size());
  std::size_t end = from + (word.substr(from).starts_with('~') ? 1 : 0);
  while (end < word.size() && (std::isalnum(static_cast<unsigned char>(word[end])) != 0 || word[end] == '_' ||
                               word[end] == '.' || word[end] == '@'))
    ++end;
  const bool removes = word.substr(from).starts_with('~') && end == word.size();
  return end > from && (removes || (end < word.size() && word[end] == '=')) ? end : 0;
}

bool counts_as_override(const std::string& word) { return word.starts_with("--") || override_name_end(word) > 0; }

std::string unquoted(const std::string& text) {
  if (text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
    return text.substr(1, text.size() - 2);
  return text;
}

/// As YAML 1.1 and Python spell them.
std::string plain(std::string text) {
  if (text == "True" || text == "TRUE") return "true";
  if (text == "False" || text == "FALSE") return "false";
  return text == "None" || text == "~" ? "null" : text;
}

/// Puts in "${path}", "${.sibling}" and "${multiply:a, b}" where they are a whole value and what they name is there.
class Interpolation {
 public:
  explicit Interpolation(Statements& statements) : statements_(statements) {
    for (const Statement& each : statements) texts_[each.name] = each.text;
  }
  void run() {
    for (Statement& each : statements_) each.text = of(each.name, each.text, 0);
  }

 private:
  std::string of(const std::string& name, const std::string& text, int depth) const {
    constexpr int kDeepest = 16, kMost = 10'000;
    if (depth > kDeepest || ++done_ > kMost || !text.starts_with("${") || !text.ends_with('}')) return text;
    std::string inside = text.substr(2, text.size() - 3);
    constexpr std::string_view kMultiply = "multiply:";
    if (inside.starts_with(kMultiply)) return multiplied(name, inside.substr(kMultiply.size()), depth).value_or(text);
    if (inside.starts_with('.')) {
      std::string base = name;
      for (; inside.starts_with('.'); inside.erase(0, 1)) base.erase(std::min(base.rfind('.'), base.size()));
      inside = base.empty() || base == name ? inside : base + "." + inside;
    }
    constexpr std::string_view kGroup = "training.";  // where the launcher puts its files
    auto known = texts_.find(inside);
    if (known == texts_.end() && inside.starts_with(kGroup)) known = texts_.find(inside.substr(kGroup.size()));
    return known == texts_.end() ? text : of(known->first, known->second, depth + 1);
  }

  std::optional<std::string> multiplied(const std::string& name, const std::string& factors, int depth) const {
    std::int64_t all = 1;
    for (std::size_t begin = 0; begin <= factors.size();) {
      const std::size_t end = std::min(factors.find(',', begin), factors.size());
      const std::size_t from = std::min(factors.find_first_not_of(' ', begin), end);
      const std::string factor = of(name, factors.substr(from, end - from), depth + 1);
      std::int64_t value = 0;
      const auto [last, error] = std::from_chars(factor.data(), factor.data() + factor.size(), value);
      if (error != std::errc{} || last != factor.data() + factor.size() || __builtin_mul_overflow(all, value, &all))
        return std::nullopt;
      begin = end + 1;
    }
    return std::to_string(all);
  }

  Statements& statements_;
  std::map<std::string, std::string, std::less<>> texts_;
  mutable int done_ = 0;
};

void lay_over(Statements& statements, Statement statement) {
  std::erase_if(statements, [&](const Statement& each) { return each.name == statement.name; });
  if (statement.text != "null") statements.push_back(std::move(statement));
}

/// The file of --config-file, or of --config-path and --config-name, beside the script that names it.
void read_named_file(const std::map<std::string, Statement, std::less<>>& named, const std::string& file,
                     Statements& out) {
  const auto get = [&](std::string_view name) {
    const auto known = named.find(name);
    return known == named.end() ? std::string() : known->second.text;
  };
  std::filesystem::path path = get("--config-file");
  if (path.empty() && !get("--config-name").empty())
    path = std::filesystem::path(get("--config-path")) / get("--config-name");
  if (path.empty()) return;
  if (path.extension() != ".yaml" && path.extension() != ".yml") path += ".yaml";
  const std::filesystem::path beside = std::filesystem::path(file).parent_path() / path;
  std::error_code error;
  const auto& [name, statement] = *named.begin();
  if (!std::filesystem::is_regular_file(beside, error))
    throw InputError(text(statement.place) + ": " + name,
                     "found " + in_quotes(path.string()) + ", but no such file; expected the file that it starts from");
  for (Statement& each : yaml_syntax.read(read_file(beside, beside.string()), beside.string(), {}).statements)
    lay_over(out, std::move(each));
}

ReadStatements read_overrides(std::string_view text, const std::string& file, const ShellStart& start) {
  static constexpr std::array<std::string_view, 3> kFiles{"--config-file", "--config-name", "--config-path"};
  Statements words;
  std::map<std::string, Statement, std::less<>> named;
  bool takes_value = false;
  ShellReading script = script_of(text, file, start, counts_as_override);
  const std::vector<ShellWord>& command = script.words;
  const std::size_t of_launcher = words_of_launcher(command);
  for (std::size_t i = 0; i < command.size(); ++i) {
    const ShellWord& word = command[i];
    const bool before_program = i < of_launcher;
    if (may_hold_flags(word, takes_value && words.back().text.empty())) script.notes.push_back(unset_note(word));
    Statement each{.name = {},
                   .text = {},
                   .place = word.place,
                   .doubt = word.doubt,
                   .unset = word.unset,
                   .of_launcher = before_program};
    if (const std::size_t end = override_name_end(word.text); end > 0 && !before_program) {
      each.name = word.text.substr(0, end);
      each.name.erase(0, std::min(each.name.find_first_not_of("+~"), each.name.size()));
      each.text = end < word.text.size() ? plain(unquoted(word.text.substr(end + 1))) : "null";
      words.push_back(std::move(each));
      takes_value = false;
    } else if (word.text.starts_with("--") && word.text.size() > 2) {
      const std::size_t equals = std::min(word.text.find('='), word.text.size());
      each.name = word.text.substr(0, equals);
      if (equals < word.text.size()) each.text = word.text.substr(equals + 1);
      takes_value = equals == word.text.size();
      words.push_back(std::move(each));
    } else if (word.text.ends_with(".py") || (i <= of_launcher && is_short_option(word.text))) {
      takes_value = false;
    } else if (takes_value) {
      words.back().text += (words.back().text.empty() ? "" : " ") + word.text;
      if (!word.unset.empty()) words.back().unset = word.unset;
    }
  }
  std::erase_if(words, [&](const Statement& each) {
    const bool names = std::ranges::find(kFiles, each.name) != kFiles.end();
    if (names) named.insert_or_assign(each.name, each);
    return names;
  });
  Statements out;
  if (!named.empty()) read_named_file(named, file, out);
  for (Statement& each : words) lay_over(out, std::move(each));
  if (out.empty())
    throw InputError(file, "found neither keys nor overrides, expected YAML, or words such as model.num_layers=32");
  return {std::move(out), std::move(script.notes)};
}

ReadStatements read_hydra(std::string_view text, const std::string& file, const ShellStart& start) {
  ReadStatements read = is_yaml(text) ? yaml_syntax.read(text, file, start) : read_overrides(text, file, start);
  Statements& out = read.statements;
  for (Statement& each : out) each.text = plain(std::move(each.text));
  std::erase_if(out, [](const Statement& each) { return each.text == "null"; });
  Interpolation(out).run();
  return read;
}

std::string write_hydra(const std::vector<std::string>& heading, const Statements& statements) {
  return yaml_syntax.write(heading, statements);
}

}  // namespace

constinit const Syntax hydra_syntax{read_hydra, write_hydra};

}  // namespace stepcast::language
