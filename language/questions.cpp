#include "language/questions.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <new>
#include <optional>
#include <stdexcept>

#include "language/core/convert.h"
#include "language/core/file_text.h"
#include "language/core/given.h"
#include "language/core/merge.h"
#include "language/core/nearest.h"
#include "language/core/streams.h"
#include "language/core/visible_text.h"
#include "language/notes.h"
#include "language/scenario.h"
#include "language/tables/runs_table.h"
#include "schedules/checks/check.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostSettings = 1000;  // each is laid over each scenario

/// All --set and the keys that other options give, as one layer.
Node read_settings(std::span<const std::string> settings, std::vector<Given> given) {
  if (settings.size() > kMostSettings) {
    throw InputError("--set", "found " + std::to_string(settings.size()) + " of them, expected at most 1000");
  }
  for (const std::string& setting : settings) {
    given.push_back(read_set(scenario_schema(), setting));
    if (const auto& [key, value, place] = given.back(); value.empty() && (key == "base" || key == "include"))
      fail(place, "", "expected a file (what a base brings is taken away key by key: --set key=)");
  }
  return layer_of(scenario_schema(), std::move(given), {"--set", 0, 0});
}

/// Lays the settings over a scenario; a base or include among them goes underneath.
void set(Node& tree, const Node& settings, Library& library) {
  merge(scenario_schema(), tree, settings);
  tree = library.expand_block(tree, scenario_schema(), "");
}

std::string group_of(const fs::path& file) {
  const fs::path folder = file.parent_path().filename();
  return folder.empty() ? file.stem().string() : folder.string();
}

/// What files say of where their numbers are from is for `show`: a table would hold it once for each of its rows.
void forget_sources(schedules::Scenario& scenario) {
  const auto forget = [](auto&... of) { ((of.source = {}), ...); };
  topology::NodeSpec& node = scenario.cluster.node;
  forget(scenario, scenario.model, scenario.software, scenario.cluster.gpu, scenario.cluster.fabric, node);
  for (std::optional<topology::LinkType>* link :
       {&node.nvlink, &node.pcie, &node.socket_link, &node.nic, &node.nic_pcie})
    if (*link) forget(**link);
}

/// How every scenario is read: what is laid over it, where configs are, and what else is checked.
struct Reading {
  const Node& settings;
  Library& library;
  const MoreChecks& more;
};

/// Fills `scenario` and what describes it; what is wrong goes to `error`.
void finish(Question& question, Node tree, const Reading& how) {
  set(tree, how.settings, how.library);
  if (const Node* name = tree.find("name"); name != nullptr && name->kind == Node::Kind::scalar) {
    question.name = name->scalar;
  }
  if (const Node* source = tree.find("source"); source != nullptr && source->kind == Node::Kind::scalar) {
    question.source = source->scalar;
  }
  question.scenario = read_scenario(tree, how.library);
  question.scenario.name = question.name;
  forget_sources(question.scenario);
  std::vector<schedules::Problem> problems = schedules::check(question.scenario);
  if (problems.empty() && how.more) problems = how.more(question.scenario);
  for (const schedules::Problem& problem : problems) {
    if (!question.error.empty()) question.error += '\n';
    question.error += visible(text(locate(tree, problem.key)) + ": " + problem.key + ": " + problem.text);
    const KeyInfo* key = find_key(scenario_schema(), problem.key);
    if (key != nullptr && problem.text.starts_with("missing") && problem.text.find("expected") == std::string::npos)
      question.error += "; expected " + expected(key->type);
  }
  question.refused = !question.error.empty();
  if (question.refused) return;
  question.notes = notes_on_defaults(tree, question.scenario, how.library);
  std::ranges::move(schedules::notes(question.scenario), std::back_inserter(question.notes));
}

/// What is said of a file before anything is read of it.
Question question_of(const fs::path& file, bool among_others) {
  Question question;
  question.origin = shown_path(file);
  question.name = file.stem().string();
  question.table = group_of(file);
  question.file = file;
  question.among_others = among_others;
  return question;
}

/// `text`: of a stream, which can be read but once.
Question read_scenario_file(const fs::path& file, const std::optional<std::string>& text, bool among_others,
                            const Reading& how) {
  Question question = question_of(file, among_others);
  try {
    finish(question,
           text ? how.library.scenario(file, *text, scenario_schema()) : how.library.scenario(file, scenario_schema()),
           how);
  } catch (const InputError& e) {
    question.error = visible(e.what());
  } catch (...) {
    keep_error(question);
  }
  return question;
}

void read_table(const fs::path& file, std::string_view content, const Reading& how, std::vector<Question>& questions) {
  const RunsTable table(content, shown_path(file), scenario_schema());
  if (questions.empty()) questions.reserve(table.rows());  // growing, it would be held twice
  for (std::size_t i = 0; i < table.rows(); ++i) {
    Question question;
    const Place start = table.place(i);
    question.origin = text(start);
    question.name = file.stem().string() + ":" + std::to_string(start.line);
    question.table = file.stem().string();
    question.file = file;
    question.among_others = question.of_table = true;
    try {
      finish(question, how.library.expand_block(table.layer(i), scenario_schema(), ""), how);
    } catch (const InputError& e) {
      question.error = visible(e.what());
    } catch (...) {
      keep_error(question);
    }
    questions.push_back(std::move(question));
  }
}

bool is_table(const fs::path& file) { return file.extension() == ".csv"; }
bool is_scenario(const fs::path& file) { return file.extension() == ".yaml" || file.extension() == ".yml"; }

/// A table of a folder that cannot be read, or is none, is told as one row.
void read_table_of_folder(const fs::path& file, const Reading& how, std::vector<Question>& questions) {
  const std::size_t before = questions.size();
  Question whole = question_of(file, true);
  whole.table = file.stem().string();
  try {
    read_table(file, read_file(file, shown_path(file)), how, questions);
    return;
  } catch (const InputError& e) {
    whole.error = visible(e.what());
  } catch (...) {
    keep_error(whole);
  }
  questions.resize(before);
  questions.push_back(std::move(whole));
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error), end;
       entry != end; entry.increment(error)) {
    if (!is_table(entry->path()) && !is_scenario(entry->path())) continue;
    std::error_code unknown;
    const fs::file_type type = entry->status(unknown).type();
    // A link to nothing, or to itself, is told as one that cannot be read.
    if (type == fs::file_type::regular || type == fs::file_type::not_found || type == fs::file_type::none)
      files.push_back(entry->path());
  }
  if (error) throw InputError(shown_path(folder), "cannot be listed: " + error.message());
  std::sort(files.begin(), files.end());
  if (files.empty()) throw InputError(shown_path(folder), "found no .yaml and no .csv file, expected at least one");
  return files;
}

constexpr std::string_view kExpected = "expected a scenario (.yaml, .yml), a runs table (.csv) or a folder of them";

std::string missing(const fs::path& path) {
  const std::string what = "no such file or folder" + did_you_mean(path);
  if (path.extension() != ".svg" && path.extension() != ".png") return what;
  return what + ", " + std::string(kExpected) + " (a picture goes to --schedule-diagram=FILE, with the =)";
}

}  // namespace

void keep_error(Question& question) {
  if (!question.among_others) throw;
  const auto keep = [&](const std::string& what) { question.error = visible(question.origin + ": " + what); };
  try {
    throw;
  } catch (const std::bad_alloc&) {
    keep("this computer has too little memory for it");
  } catch (const std::logic_error& e) {
    question.internal_error = true;
    keep(std::string("internal error: ") + e.what());
  } catch (const std::exception& e) {
    keep(e.what());
  }
}

std::vector<Question> read_questions(std::span<const std::string> paths, std::span<const std::string> settings,
                                     Library& library, std::vector<Given> options, const MoreChecks& more) {
  const Node over = read_settings(settings, std::move(options));
  const Reading how{over, library, more};
  std::vector<Question> questions;
  for (const std::string& word : paths) {
    const fs::path path = input_named(word);
    std::error_code error;
    if (!fs::exists(path, error)) throw InputError(path.string(), missing(path));
    if (fs::is_directory(path, error)) {
      for (const fs::path& file : files_below(path)) {
        if (is_table(file)) {
          read_table_of_folder(file, how, questions);
        } else {
          questions.push_back(read_scenario_file(file, {}, true, how));
        }
      }
    } else if (is_stream(path)) {
      const std::string text = read_file(path, shown_path(path));
      if (looks_like_runs_table(text)) {
        read_table(path, text, how, questions);
      } else {
        questions.push_back(read_scenario_file(path, text, false, how));
      }
    } else if (is_table(path)) {
      read_table(path, read_file(path, shown_path(path)), how, questions);
    } else if (is_scenario(path)) {
      questions.push_back(read_scenario_file(path, {}, false, how));
    } else {
      throw InputError(path.string(), std::string(kExpected));
    }
  }
  return questions;
}

}  // namespace stepcast::language
