#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/read/library.h"
#include "schedules/notes.h"
#include "schedules/scenario.h"

namespace stepcast::app {

/// One scenario asked about: a file, or a row of a runs table.
struct Question {
  std::string name;
  std::string origin;       ///< "a.yaml" or "runs.csv:12:1"
  std::string table;        ///< what validate groups by: the table's name, or the folder of scenario files
  bool from_table = false;  ///< a row that cannot run does not stop the command, a file does
  std::string source;
  schedules::Scenario scenario;          ///< can run where `error` is empty
  std::string error;                     ///< why it cannot; one line for each problem
  std::vector<schedules::Note> notes{};  ///< where `error` is empty
};

/// Reads scenario files (.yaml), runs tables (.csv) and folders of both (recursive, sorted by path), in the order
/// given; `settings` are "key=value", laid over each scenario ("key=" takes a key away). What is wrong with one
/// scenario is in its `error`. Throws InputError where no scenario can be told apart: a missing path, an unknown key
/// in a setting or in a table's header, a table that is no CSV.
std::vector<Question> read_questions(std::span<const std::string> paths, std::span<const std::string> settings,
                                     Library& library);

}  // namespace stepcast::app
