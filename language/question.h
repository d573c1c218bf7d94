#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "language/core/library.h"
#include "language/notes.h"
#include "language/plan_keys.h"
#include "scenario/problem.h"
#include "scenario/scenario.h"
#include "schedules/notes.h"

namespace stepcast::language {

/// One scenario asked about: a file, or a row of a runs table.
struct Question {
  std::string name;
  std::string origin;          ///< "a.yaml" or "runs.csv:12:1"
  std::string table;           ///< what validate groups by: the table's name, or the folder of scenario files
  std::filesystem::path file;  ///< that it was read from
  /// A row of a table, or a file found in a folder: that it cannot run does not stop the command. A file that the
  /// command names does.
  bool among_others = false;
  bool of_table = false;  ///< a row
  std::string source;
  Node software{};  ///< what its files, its row and the settings say below that key; `nothing`: nothing
  std::vector<ProfiledKey> profiled{};   ///< what of that its profile has, where `error` is empty
  schedules::Scenario scenario;          ///< can run where `error` is empty
  std::string error;                     ///< why it cannot; one line for each problem, fit for a terminal
  bool refused = false;                  ///< it is read, but its plan contradicts itself or the cluster
  bool internal_error = false;           ///< which is a mistake of stepcast's
  SaidPlanKeys said{};                   ///< what of its plan is no default; of a variant nothing
  std::vector<schedules::Note> notes{};  ///< where `error` is empty; a variant (language/variants.h) has none
};

/// What a command that asks for more than a forecast finds wrong with a scenario.
using MoreChecks = std::function<std::vector<schedules::Problem>(const schedules::Scenario&)>;

/// To be called where an exception was caught that is no InputError: makes it the question's error. Throws it on where
/// the question does not stand among others.
void keep_error(Question& question);

/// Fills the scenario of a question, and what describes it, from a tree whose layers are merged; what contradicts in
/// it, or is found by `more`, goes to its error. Throws InputError for what cannot be read.
void fill(Question& question, const Node& tree, Library& library, const MoreChecks& more = {});

/// Says of a question that was filled from this tree what reading assumed, and what was said, where it can run.
void add_notes(Question& question, const Node& tree, Library& library);

/// The only question, or where a row is named the one of that name. `row_key`: how a row is named there ("--row-a").
/// Throws InputError where there is none or more than one, and where it cannot run.
Question question_of_row(std::vector<Question> questions, const std::string& row, const std::string& row_key);

}  // namespace stepcast::language
