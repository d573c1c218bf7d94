#include "language/questions.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "language/core/file_text.h"
#include "language/core/merge.h"
#include "language/core/streams.h"
#include "language/core/visible_text.h"
#include "language/scenario.h"
#include "language/scenario_file.h"
#include "language/settings.h"
#include "language/tables/runs_table.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

namespace fs = std::filesystem;

/// Lays the settings over a scenario; a base or include among them goes underneath.
void set(Node& tree, const Node& settings, Library& library) {
  merge(scenario_schema(), tree, settings);
  tree = library.expand_block(tree, scenario_schema(), "");
}

std::string group_of(const fs::path& file) {
  const fs::path folder = file.parent_path().filename();
  return folder.empty() ? file.stem().string() : folder.string();
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
  if (const Node* software = tree.find("software")) question.software = *software;
  fill(question, tree, how.library, how.more);
  add_notes(question, tree, how.library);
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
/// In a folder.
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

constexpr std::string_view kExpected =
    "expected a scenario (.yaml, .yml, .json), a runs table (.csv) or a folder of them";

std::string missing(const fs::path& path) {
  const std::string what = "no such file or folder" + did_you_mean(path);
  if (path.extension() != ".svg" && path.extension() != ".png") return what;
  return what + ", " + std::string(kExpected) + " (a picture goes to --schedule-diagram=FILE, with the =)";
}

}  // namespace

std::vector<Question> read_questions(std::span<const std::string> paths, std::span<const std::string> settings,
                                     Library& library, std::vector<Given> options, const MoreChecks& more) {
  const Node over = settings_layer(settings, std::move(options));
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
    } else if (is_scenario_file(path)) {
      questions.push_back(read_scenario_file(path, {}, false, how));
    } else {
      throw InputError(path.string(), std::string(kExpected));
    }
  }
  return questions;
}

Question read_question(const Node& tree, std::span<const std::string> settings, Library& library,
                       const MoreChecks& more) {
  const Node over = settings_layer(settings, {});
  Question question;
  question.origin = question.name = question.table = tree.place.file;
  question.file = tree.place.file;
  try {
    finish(question, library.expand_block(tree, scenario_schema(), ""), {over, library, more});
  } catch (const InputError& e) {
    question.error = visible(e.what());
  } catch (...) {
    keep_error(question);
  }
  return question;
}

}  // namespace stepcast::language
