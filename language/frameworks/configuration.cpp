#include "language/frameworks/configuration.h"

#include <algorithm>
#include <array>

#include "language/core/framework_words.h"
#include "language/core/given.h"
#include "language/core/merge.h"
#include "language/core/nearest.h"
#include "language/core/stated.h"
#include "language/core/visible_text.h"
#include "language/scenario.h"
#include "language/scenario_text.h"
#include "language/settings.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

std::vector<std::string_view> names_in(std::string_view text) {
  std::vector<std::string_view> names;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    names.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::string paragraph_of(const std::vector<std::string>& names) {
  constexpr std::size_t kWidth = 116;
  std::string out, line;
  for (const std::string& name : names) {
    const std::string piece = visible(name) + (&name == &names.back() ? "" : ",");
    if (!line.empty() && line.size() + 1 + piece.size() > kWidth) {
      out += "#   " + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + piece;
  }
  return out + "#   " + line + "\n";
}

/// Reads statements by a framework's rows.
class ConfigurationReader {
 public:
  ConfigurationReader(const Framework& framework, std::span<const std::string> settings, const ImportOptions& options)
      : framework_(framework),
        settings_(settings),
        options_(options),
        rows_(framework.rows()),
        refused_(framework.refused()),
        ignored_(names_in(framework.ignored)) {}

  void read_all(const Statements& statements) {
    check_ignored(statements);
    statements_ = statements;
    for (const Statement& statement : statements) {
      if (is_left_out(statement.name))
        add_once(left_out_, statement.name);
      else
        read(statement);
    }
  }

  void read(const Statement& statement) {
    for (const FlagRow& row : rows_)
      if (row.name == statement.name) return read(row, statement);
    const auto is_ignored = [&](std::string_view pattern) {
      return pattern.ends_with('*') ? statement.name.starts_with(pattern.substr(0, pattern.size() - 1))
                                    : statement.name == pattern;
    };
    const auto refused = std::ranges::find(refused_, statement.name, &RefusedName::name);
    const bool harmless = refused != refused_.end() && is_harmless(*refused, statement);
    if (refused != refused_.end() && !harmless && !refused->instead.empty() && is_set(refused->instead))
      return add_once(replaced_, statement.name);
    if (refused != refused_.end() && !harmless)
      throw InputError(at(statement), (statement.text.empty() ? "" : "found " + in_quotes(statement.text) + ": ") +
                                          std::string(refused->why) + because_of(statement.unset));
    if (!harmless && !statement.of_launcher && !std::ranges::any_of(ignored_, is_ignored)) throw_unknown(statement);
    add_once(without_effect_, statement.name);
  }

  /// What holds where nothing was said.
  void add_usual() {
    for (const FlagRow& row : rows_)
      if (!row.usual.empty() && !words_.contains(row.key))
        say(words_, row.key, std::string(row.usual),
            "assumed, " + std::string(framework_.title) + "'s default: no " + std::string(row.name));
    framework_.read(words_, framework_);
    for (const FixedKey& fixed : framework_.fixed())
      if (!words_.contains(fixed.key)) say(words_, fixed.key, std::string(fixed.text), fixed.why);
    if (!words_.contains("software"))
      say(words_, "software", std::string(framework_.software), "assumed: the stack of this framework's defaults");
    std::erase_if(words_, [](const auto& word) { return word.first.starts_with('@'); });
  }

  /// GPUs, ranks and a bucket, where settings say how many and no row does: what a configuration leaves over may depend
  /// on them.
  void read_sizes() {
    static constexpr std::array<std::string_view, 6> kSizes{"cluster.gpus",        "cluster.nodes",
                                                            "parallelism.tensor",  "parallelism.pipeline",
                                                            "parallelism.context", "data_parallel.bucket"};
    for (const std::string& setting : settings_) {
      const std::string key = setting.substr(0, setting.find('='));
      const bool has_row = std::ranges::find(rows_, key, &FlagRow::key) != rows_.end();
      if (std::ranges::find(kSizes, key) != kSizes.end() && !has_row && key.size() < setting.size())
        say(words_, key, setting.substr(key.size() + 1), "--set");
      if (key == "data_parallel.shard_group") say(words_, "@set_shard_group", "true", "--set");
    }
  }

  /// A variable that nothing sets is an error where its value is a key's, and no setting gives another.
  void check_unset() const {
    for (const auto& [key, word] : words_)
      if (!word.unset.empty() && word.text.find('$') != word.text.npos && !is_set(key))
        throw InputError(text(word.place) + ": " + word.from,
                         "found " + in_quotes(word.text) + ", expected a value" + because_of(word.unset));
  }

  /// The same as `complaint`, in the framework's words, with the file in front where it does not say where it is from.
  InputError placed(const InputError& complaint, const std::string& file) const {
    const std::string_view what = complaint.what();
    const auto begins = [&](const std::string& place) { return !place.empty() && what.starts_with(place); };
    const bool has_place = begins(file) || begins("--set") || std::ranges::any_of(words_, [&](const auto& each) {
                             return begins(each.second.place.file);
                           });
    if (has_place) return {"", std::string(what)};
    // What a framework's own rules say begins with the name that was read.
    const std::string_view name = what.substr(0, what.find(':'));
    const auto read = std::ranges::find_if(
        words_, [&](const auto& each) { return each.second.from == name && each.second.place.line > 0; });
    return {read == words_.end() ? file : text(read->second.place), in_their_words(what)};
  }

  /// A word of this program's own in front ("@model") as the framework calls it.
  std::string in_their_words(std::string_view what) const {
    const std::string_view own = what.substr(0, what.find(':'));
    if (!own.starts_with('@')) return std::string(what);
    return name_in(framework_, own) + std::string(what.substr(own.size()));
  }

  const Words& words() const { return words_; }
  /// Comments on what of the configuration is not in the scenario.
  std::string left_out_text() const {
    std::string out;
    const auto list = [&](const std::string& why, const std::vector<std::string>& names) {
      if (!names.empty()) out += "# " + why + ":\n" + paragraph_of(names);
    };
    list("Changes nothing of the forecast, and was left out", without_effect_);
    list("--set says something in the place of", replaced_);
    list("Left out by wish (--ignore), whatever it changes", left_out_);
    return out;
  }

 private:
  bool is_harmless(const RefusedName& refused, const Statement& statement) const {
    const auto is_equal = [&](const Statement& each) {
      return each.name == refused.equal_to && each.text == statement.text;
    };
    return (!refused.harmless.empty() && refused.harmless == statement.text) ||
           std::ranges::any_of(statements_, is_equal);
  }

  static std::string at(const Statement& statement) { return text(statement.place) + ": " + statement.name; }

  static void add_once(std::vector<std::string>& names, const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }

  /// What a setting gives a key, if it is not taken away ("key=").
  bool is_set(std::string_view key) const { return !setting_of(key).empty(); }

  std::string setting_of(std::string_view key) const {
    for (const std::string& each : settings_)
      if (each.starts_with(key) && each.substr(key.size()).starts_with('=')) return each.substr(key.size() + 1);
    return "";
  }

  static bool names(const std::string& ignored, const std::string& name) {
    return name == ignored || name == "--" + ignored;
  }

  bool is_left_out(const std::string& name) const {
    return std::ranges::any_of(options_.ignored, [&](const std::string& each) { return names(each, name); });
  }

  /// One that is not there is a slip of the pen.
  void check_ignored(const Statements& statements) const {
    for (const std::string& each : options_.ignored) {
      if (std::ranges::any_of(statements, [&](const Statement& one) { return names(each, one.name); })) continue;
      std::vector<std::string_view> all;
      for (const Statement& one : statements) all.push_back(one.name);
      throw InputError("--ignore", "found " + in_quotes(each) + ", expected a name that is there" +
                                       did_you_mean(each.starts_with("--") ? each : "--" + each, all));
    }
  }

  void read(const FlagRow& row, const Statement& statement) {
    std::string value = statement.text;
    const auto spelling = std::ranges::find(row.spellings, value, &Spelling::theirs);
    const bool is_spelled = row.spellings.empty() || spelling != row.spellings.end();
    const bool is_unset = !statement.unset.empty() && value.find('$') != value.npos;
    if ((!statement.doubt.empty() || is_unset || (row.present.empty() && !is_spelled)) && is_set(row.key)) {
      say(words_, row.key, setting_of(row.key), "--set");
      return add_once(replaced_, statement.name);
    }
    if (!statement.doubt.empty())
      throw InputError(at(statement),
                       "found " + in_quotes(value) + ", which " + statement.doubt + "; expected a value that is known");
    if (!row.present.empty()) {
      if (!value.empty())
        throw InputError(at(statement),
                         "found " + in_quotes(value) + ", expected no value" + because_of(statement.unset));
      value = row.present;
    } else if (value.empty()) {
      throw InputError(at(statement), "found no value, expected one");
    } else if (!row.spellings.empty()) {
      if (!is_spelled) {
        std::vector<std::string_view> names;
        for (const Spelling& each : row.spellings) names.push_back(each.theirs);
        throw InputError(at(statement), "found " + in_quotes(value) + ", expected " + one_of(value, names) +
                                            because_of(statement.unset));
      }
      value = spelling->ours;
    }
    const auto [word, is_new] = words_.try_emplace(
        std::string(row.key),
        Word{.text = value, .from = statement.name, .place = statement.place, .unset = statement.unset});
    if (!is_new && word->second.text != value)
      throw InputError(at(statement), "found " + in_quotes(value) + ", but " + word->second.from + " at " +
                                          text(word->second.place) + " says " + in_quotes(word->second.text) +
                                          ", expected one of the two");
  }

  /// "; did you mean '--per_device_train_batch_size'?" of another framework's word for what a row says.
  std::string of_other_framework(std::string_view name) const {
    name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
    const FrameworkWord* const theirs = framework_word(name);
    if (theirs == nullptr) return {};
    const auto row = std::ranges::find_if(
        rows_, [&](const FlagRow& each) { return each.key == theirs->key || each.remark == theirs->key; });
    return row == rows_.end() ? "" : "; did you mean " + in_quotes(row->name) + '?';
  }

  [[noreturn]] void throw_unknown(const Statement& statement) const {
    const std::string other = of_other_framework(statement.name);
    std::vector<std::string_view> names;
    for (const FlagRow& row : rows_) names.push_back(row.name);
    for (const RefusedName& each : refused_) names.push_back(each.name);
    for (const std::string_view each : ignored_)
      if (!each.ends_with('*')) names.push_back(each);
    throw InputError(at(statement), "found a name that is not known of " + std::string(framework_.title) + " (" +
                                        std::string(framework_.version) +
                                        "), and may change the forecast; expected one that is, or --ignore " +
                                        statement.name + " where it changes nothing" +
                                        (other.empty() ? did_you_mean(statement.name, names) : other));
  }

  const Framework& framework_;
  const std::span<const std::string> settings_;
  const ImportOptions& options_;
  const std::vector<FlagRow>& rows_;
  const std::vector<RefusedName> refused_;
  const std::vector<std::string_view> ignored_;
  std::span<const Statement> statements_;
  Words words_;
  std::vector<std::string> without_effect_, replaced_, left_out_;
};

/// The tree's keys in the order that the reference page has them.
void sort_by_schema(Node& tree) {
  std::vector<std::string_view> order;
  for (const KeyInfo& key : scenario_schema().keys) order.push_back(key.path.substr(0, key.path.find('.')));
  std::ranges::stable_sort(tree.entries, {}, [&](const Entry& entry) { return std::ranges::find(order, entry.key); });
}

/// What the comment on a line says: a line is of the imported file, where it names no other.
std::string origin(const Word& word, const std::string& imported) {
  const bool has_line = !word.place.file.empty() && word.place.line > 0;
  const std::string of_other = word.place.file == imported ? "" : " of " + word.place.file;
  return word.from + (has_line ? ", line " + std::to_string(word.place.line) + of_other : "") +
         (word.remark.empty() ? "" : "; " + word.remark);
}

void write_commented(const Node& mapping, const std::string& path, const Words& words, const std::string& imported,
                     const std::string& indent, std::string& out) {
  for (const Entry& entry : mapping.entries) {
    const std::string own = join(path, entry.key);
    if (entry.value.kind == Node::Kind::nothing) continue;
    if (entry.value.kind == Node::Kind::mapping && !entry.value.entries.empty()) {
      out += indent + entry.key + ":\n";
      write_commented(entry.value, own, words, imported, indent + "  ", out);
      continue;
    }
    const std::string_view key = own.ends_with(".base") ? std::string_view(own).substr(0, own.size() - 5) : own;
    const auto word = words.find(key);
    const bool set = entry.value.place.file.starts_with("--set") || word == words.end();
    out += indent + entry.key + ": " +
           (entry.value.kind == Node::Kind::scalar ? quoted(entry.value.scalar) : on_one_line(entry.value)) + "  # " +
           (set ? "--set" : visible(origin(word->second, imported))) + "\n";
  }
}

/// Of a model by its sizes: training scripts name a tokenizer, and not how many words it knows.
void check_vocabulary(const Node& tree, const std::string& file) {
  const Node* const model = tree.find("model");
  if (model == nullptr || model->find("hidden") == nullptr || model->find("base") != nullptr) return;
  if (const Node* const family = model->find("family"); family != nullptr && family->scalar == "vit") return;
  if (const Node* const vocabulary = model->find("vocab");
      vocabulary == nullptr || vocabulary->kind == Node::Kind::nothing)
    throw InputError(file, "model.vocab: missing, because the tokenizer alone knows it, expected --set model.vocab=N");
}

/// Mappings are of the whole file: what they lack, no line of it says.
void place_in(const std::string& file, Node& tree) {
  if (tree.kind != Node::Kind::mapping) return;
  tree.place = {file, 0, 0};
  for (Entry& each : tree.entries) {
    if (each.value.kind == Node::Kind::mapping) each.place = tree.place;
    place_in(file, each.value);
  }
}

/// Whether it says how many GPUs, or names a cluster that does.
bool says_size(const Node& tree) {
  const Node* const cluster = tree.find("cluster");
  if (cluster == nullptr || cluster->kind != Node::Kind::mapping) return true;
  constexpr std::array<std::string_view, 4> kSays{"gpus", "nodes", "allocation", "base"};
  return std::ranges::any_of(kSays, [&](std::string_view key) { return cluster->find(key) != nullptr; });
}

}  // namespace

ImportedScenario scenario_of_configuration(const Framework& framework, std::string_view text, const std::string& file,
                                           std::span<const std::string> settings, Library& library,
                                           const std::filesystem::path& folder, const ImportOptions& options) {
  ConfigurationReader reader(framework, settings, options);
  reader.read_sizes();
  const ReadStatements read = framework.syntax.read(text, file, options.start);
  reader.read_all(read.statements);
  try {
    reader.add_usual();
  } catch (const InputError& complaint) {
    throw reader.placed(complaint, file);
  }
  reader.check_unset();
  const Schema& schema = scenario_schema();
  std::vector<Given> given;
  for (const auto& [key, word] : reader.words())
    given.push_back({key, word.text, word.place.file.empty() ? Place{word.from, 0, 0} : word.place});
  Node tree = layer_of(schema, std::move(given), {file, 0, 0});
  place_in(file, tree);
  merge(schema, tree, settings_layer(settings, {}));
  tree = library.expand_block(tree, schema, "");
  check_vocabulary(tree, file);
  sort_by_schema(tree);
  std::string out = "# Written by stepcast import " + std::string(framework.name) + " from " + visible(file) +
                    ".\n# Behind each line: what says it there (names as in " + std::string(framework.version) + ").\n";
  if (const std::string started = command_text(options.start, file); !started.empty())
    out += "# Read as started by: " + visible(started) + "\n";
  for (const std::string& note : read.notes) out += "# " + visible(note) + "\n";
  out += reader.left_out_text();
  if (!says_size(tree)) out += "# How many GPUs start it is not said: without cluster.gpus it is one node.\n";
  write_commented(with_files_from(tree, folder), "", reader.words(), file, "", out);
  return {std::move(out), std::move(tree)};
}

}  // namespace stepcast::language
