#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "language/core/file_text.h"
#include "language/frameworks/text/flags.h"
#include "language/frameworks/text/named_file.h"
#include "language/frameworks/text/sections.h"
#include "language/frameworks/text/shell.h"
#include "language/frameworks/text/syntax.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

// Flags and files: github.com/huggingface/transformers, HfArgumentParser (src/transformers/hf_argparser.py), which
// takes flags, or a file of arguments; github.com/huggingface/accelerate, src/accelerate/commands/launch.py.
namespace stepcast::language {
namespace {

/// As Python spells them; a flag without a value says true.
std::string plain_value(const std::string& text) {
  if (text.empty() || text == "True" || text == "yes") return "true";
  return text == "False" ? "false" : text;
}

/// Keys of a file of arguments: those at its top are flags; those of accelerate's sections lose what they repeat.
Statements arguments_of(Statements statements) {
  constexpr std::string_view kFsdp = "fsdp_config.fsdp_", kParallelism = "parallelism_config.parallelism_config_";
  for (Statement& each : statements) {
    if (each.name.find('.') == each.name.npos) each.name.insert(0, "--");
    for (const std::string_view repeats : {kFsdp, kParallelism})
      if (const std::size_t dot = repeats.find('.'); each.name.starts_with(repeats))
        each.name.erase(dot + 1, repeats.size() - dot - 1);
    each.text = plain_value(each.text);
  }
  return statements;
}

/// The place of a flag in front of its name, where it was read from a file.
std::string named(const Statement& flag) {
  return (flag.place.file.empty() ? "" : text(flag.place) + ": ") + flag.name;
}

/// Keys of the JSON that a flag has as its value. What is wrong with it is said at the flag.
Statements keys_of_value(const Statement& flag) {
  Statements read = json_syntax.read(flag.text, named(flag), {}).statements;
  for (Statement& each : read) each.place = flag.place;
  return read;
}

/// Files that a script writes, or that stand beside it or in a folder above.
class NamedFiles {
 public:
  NamedFiles(std::vector<ShellDocument> documents, const std::string& script)
      : documents_(std::move(documents)), script_(script) {}

  /// The text of the file that a statement names. Throws InputError where there is none.
  std::string text_of(const Statement& statement) const {
    const auto written = std::ranges::find(documents_, statement.text, &ShellDocument::file);
    if (written != documents_.end()) return written->text;
    const bool is_absolute = std::filesystem::path(statement.text).is_absolute();
    const std::optional<std::filesystem::path> near =
        is_absolute ? std::optional<std::filesystem::path>(statement.text) : file_near(statement.text, script_);
    std::error_code error;
    if (!near || !std::filesystem::is_regular_file(*near, error))
      throw InputError(named(statement),
                       "found " + in_quotes(statement.text) +
                           ", but no such file, and no here-document of the script that is written to it");
    return read_file(*near, near->string());
  }

 private:
  std::vector<ShellDocument> documents_;
  const std::string& script_;
};

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// What the file that a flag names says; nothing: the flag names none.
std::optional<Statements> named_by(const Statement& flag, const NamedFiles& files) {
  if (is_one_of(flag.name, {"--deepspeed", "--deepspeed_config", "--deepspeed_config_file",
                            "deepspeed_config.deepspeed_config_file"})) {
    if (!flag.text.ends_with(".json")) return std::nullopt;
    Statements read = json_syntax.read(files.text_of(flag), flag.text, {}).statements;
    // The Trainer fills in what is "auto", from its own arguments.
    std::erase_if(read, [](const Statement& each) {
      return each.text == "auto" && each.name != "zero_optimization.reduce_bucket_size";
    });
    return read;
  }
  if (flag.name == "--fsdp_config") {
    Statements read = flag.text.starts_with('{') ? keys_of_value(flag)
                                                 : json_syntax.read(files.text_of(flag), flag.text, {}).statements;
    for (Statement& each : read) each.name.insert(0, "fsdp_config.");
    return arguments_of(std::move(read));
  }
  return std::nullopt;
}

/// Keys of JSON that a flag has as its value ('{"use_reentrant": false}'), which a file of arguments nests below it.
std::optional<Statements> keys_inside(const Statement& flag) {
  if (!flag.name.ends_with("_kwargs") || !flag.text.starts_with('{')) return std::nullopt;
  Statements read = keys_of_value(flag);
  for (Statement& each : read) each.name.insert(0, flag.name.substr(2) + ".");
  return read;
}

bool is_said(const Statements& given, const Statement& statement) {
  return std::ranges::find(given, statement.name, &Statement::name) != given.end();
}

/// Lays the files of arguments that flags name below the flags, which count more: that of accelerate ("--config_file"),
/// and of TRL's parser ("--config": trl/scripts/utils.py, TrlParser). They may name files themselves.
void add_files_of_arguments(Statements& given, const NamedFiles& files) {
  Statements added;
  for (const Statement& flag : given) {
    if (flag.name != "--config_file" && flag.name != "--config") continue;
    for (Statement& each : arguments_of(yaml_syntax.read(files.text_of(flag), flag.text, {}).statements))
      if (!each.name.starts_with("--") || !is_said(given, each)) added.push_back(std::move(each));
  }
  std::ranges::move(added, std::back_inserter(given));
}

/// A word behind the program that names a file of its arguments.
std::optional<Statement> arguments_file(const std::vector<ShellWord>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& next = words[i + 1].text;
    if (words[i].text.ends_with(".py") && (next.ends_with(".yaml") || next.ends_with(".yml")))
      return Statement{.name = words[i].text, .text = next, .place = words[i + 1].place};
  }
  return std::nullopt;
}

ReadStatements read_trainer(std::string_view text, const std::string& file, const ShellStart& start) {
  Statements given;
  std::vector<std::string> notes;
  std::vector<ShellDocument> documents;
  std::optional<Statement> arguments;
  if (is_yaml(text)) {
    given = arguments_of(yaml_syntax.read(text, file, start).statements);
  } else {
    ShellReading script = script_of(text, file, start);
    ReadStatements flags = flags_of(script.words, file);
    given = std::move(flags.statements);
    notes = std::move(script.notes);
    std::ranges::move(flags.notes, std::back_inserter(notes));
    for (Statement& each : given) each.text = plain_value(each.text);
    documents = std::move(script.documents);
    arguments = arguments_file(script.words);
  }
  const NamedFiles files(std::move(documents), file);
  if (arguments) {
    for (Statement& each : arguments_of(yaml_syntax.read(files.text_of(*arguments), arguments->text, {}).statements))
      if (!is_said(given, each)) given.push_back(std::move(each));
  }
  add_files_of_arguments(given, files);
  Statements out;
  for (const Statement& flag : given) {
    if (std::optional<Statements> keys = keys_inside(flag)) {
      std::ranges::move(*keys, std::back_inserter(out));
      continue;
    }
    std::optional<Statements> inside = named_by(flag, files);
    out.push_back(flag);
    if (!inside) continue;
    for (Statement& each : *inside)
      if (!each.name.starts_with("--") || !is_said(given, each)) out.push_back(std::move(each));
  }
  return {std::move(out), std::move(notes)};
}

std::string write_trainer(const std::vector<std::string>& heading, const Statements& statements) {
  Statements flags, inside;
  std::string file;
  std::vector<std::string> lines = heading;
  const bool has_file = std::ranges::find(statements, "--deepspeed", &Statement::name) != statements.end();
  for (Statement each : statements) {
    if (each.name.empty() || each.name.starts_with("--")) {
      if (each.name == "--deepspeed") file = each.text;
      if (each.text.find(' ') != each.text.npos && !each.name.empty()) each.text = '"' + each.text + '"';
      flags.push_back(std::move(each));
      continue;
    }
    if (!has_file) continue;
    // The Trainer's JSON has no comments.
    lines.push_back("  " + each.name + ": " + each.comment);
    each.comment.clear();
    inside.push_back(std::move(each));
  }
  std::string out = flags_syntax.write(lines, flags);
  if (!inside.empty())
    out.insert(out.find("FLAGS=("), "cat > " + file + " <<'EOT'\n" + json_syntax.write({}, inside) + "EOT\n");
  return out;
}

}  // namespace

constinit const Syntax trainer_syntax{read_trainer, write_trainer, true};

}  // namespace stepcast::language
