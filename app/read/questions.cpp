#include "app/read/questions.h"

#include <algorithm>
#include <filesystem>

#include "app/read/csv.h"
#include "app/read/file_text.h"
#include "app/read/merge.h"
#include "app/read/nearest.h"
#include "app/read/scenario.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostSettings = 1000;  // each is laid over each scenario
constexpr std::size_t kMostRows = 20'000;    // each is a scenario, held until all are forecast

[[noreturn]] void unknown_key(const Place& place, const std::string& key) {
  const std::vector<std::string> paths = all_paths(scenario_schema());
  const std::vector<std::string_view> views(paths.begin(), paths.end());
  const std::string_view near = nearest(key, views);
  fail(place, "",
       "found the unknown key " + in_quotes(key) + ", expected the path of a key such as 'parallelism.tensor'" +
           (near.empty() ? "" : "; did you mean '" + std::string(near) + "'?"));
}

Node erased(const Place& place) {
  Node node;
  node.place = place;
  node.erased = true;
  return node;
}

/// What stands in a cell of a runs table or behind --set.
Node make_cell(const std::string& path, const std::string& text, const Place& place) {
  const KeyInfo* key = find_key(scenario_schema(), path);
  return key != nullptr && key->type.kind == Type::Kind::list ? make_list(text, place) : make_scalar(text, place);
}

/// A key given in a cell or behind --set.
struct Given {
  std::string path, text;
  Place place;
};

/// Of keys given together: `recompute.every` and `recompute.full_layers` are ways of recompute full, which merging
/// would put in the place of any other that is said. (In a layer over another, a scenario's base or --set over a row,
/// they change it.)
void check_recompute(const std::vector<Given>& given) {
  const Given* said = nullptr;
  for (const Given& each : given)
    if (each.path == "recompute") said = &each;  // of several --set the last one counts
  if (said == nullptr || said->text == "full") return;
  for (const Given& other : given)
    if (other.path.starts_with("recompute."))
      fail(other.place, other.path,
           "found '" + other.text + "' beside recompute '" + said->text +
               "', expected recompute full or one of the two");
}

/// Every --set as one layer, in the order given.
std::vector<Node> read_settings(std::span<const std::string> settings) {
  std::vector<Node> layers;
  std::vector<Given> given;
  if (settings.size() > kMostSettings) {
    throw InputError("--set", "found " + std::to_string(settings.size()) + " of them, expected at most 1000");
  }
  for (const std::string& setting : settings) {
    const Place place{"--set " + setting, 0, 0};
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) fail(place, "", "expected key=value");
    const std::string key = setting.substr(0, equals), value = setting.substr(equals + 1);
    if (find_key(scenario_schema(), key) == nullptr) unknown_key(place, key);
    if (value.empty() && (key == "base" || key == "include")) {
      fail(place, "", "expected a file (what a base brings is taken away key by key: --set key=)");
    }
    if (!value.empty()) {
      checked_text(value, place.file);
      given.push_back({key, value, place});
    }
    layers.push_back(nest(key, value.empty() ? erased(place) : make_cell(key, value, place)));
  }
  check_recompute(given);
  return layers;
}

/// Lays the settings over a scenario; a base or include among them goes underneath.
void set(Node& tree, const std::vector<Node>& settings, Library& library) {
  for (const Node& layer : settings) merge(scenario_schema(), tree, layer);
  tree = library.expand_block(tree, scenario_schema(), "");
}

std::string group_of(const fs::path& file) {
  const fs::path folder = file.parent_path().filename();
  return folder.empty() ? file.stem().string() : folder.string();
}

/// Fills `scenario` and what describes it; what is wrong goes to `error`.
void finish(Question& question, const Node& tree, Library& library) {
  if (const Node* name = tree.find("name"); name != nullptr && name->kind == Node::Kind::scalar) {
    question.name = name->scalar;
  }
  if (const Node* source = tree.find("source"); source != nullptr && source->kind == Node::Kind::scalar) {
    question.source = source->scalar;
  }
  question.scenario = read_scenario(tree, library);
  question.scenario.name = question.name;
  for (const schedules::Problem& problem : schedules::check(question.scenario)) {
    if (!question.error.empty()) question.error += '\n';
    question.error += text(locate(tree, problem.key)) + ": " + problem.key + ": " + problem.text;
  }
}

Question read_scenario_file(const fs::path& file, const std::vector<Node>& settings, Library& library) {
  Question question;
  question.origin = shown_path(file);
  question.name = file.stem().string();
  question.table = group_of(file);
  try {
    Node tree = library.scenario(file, scenario_schema());
    set(tree, settings, library);
    finish(question, tree, library);
  } catch (const InputError& e) {
    question.error = e.what();
  }
  return question;
}

struct Column {
  std::string path;
  std::size_t cell = 0;
};

/// The columns of a header, parents before their children, so that `model` is a base for `model.layers`.
std::vector<Column> read_header(const Record& header) {
  std::vector<Column> columns;
  for (const Cell& cell : header) {
    if (cell.text.empty()) fail(cell.place, "", "found an empty column name, expected the path of a key");
    if (find_key(scenario_schema(), cell.text) == nullptr) unknown_key(cell.place, cell.text);
    for (const Column& column : columns) {
      if (column.path == cell.text) {
        fail(cell.place, "", "found the column " + in_quotes(cell.text) + " a second time, expected it once");
      }
    }
    columns.push_back({cell.text, columns.size()});
  }
  std::stable_sort(columns.begin(), columns.end(), [](const Column& a, const Column& b) {
    return std::count(a.path.begin(), a.path.end(), '.') < std::count(b.path.begin(), b.path.end(), '.');
  });
  return columns;
}

Node read_row(const std::vector<Column>& columns, const Record& row, std::size_t width) {
  Place start = row.front().place;
  start.column = 1;
  if (row.size() != width) {
    fail(row.size() > width ? row[width].place : row.back().place, "",
         "found " + std::to_string(row.size()) + " cells, expected " + std::to_string(width) + " as in the header");
  }
  Node tree = make_mapping(start);
  std::vector<Given> given;
  for (const Column& column : columns) {
    const Cell& cell = row[column.cell];
    if (cell.text.empty()) continue;
    merge(scenario_schema(), tree, nest(column.path, make_cell(column.path, cell.text, cell.place)));
    given.push_back({column.path, cell.text, cell.place});
  }
  check_recompute(given);
  return tree;
}

void read_table(const fs::path& file, const std::vector<Node>& settings, Library& library,
                std::vector<Question>& questions) {
  const std::string shown = shown_path(file);
  const std::vector<Record> records = parse_csv(read_file(file, shown), shown);
  if (records.empty()) throw InputError(shown, "found no header, expected a line of key paths");
  const std::vector<Column> columns = read_header(records.front());
  if (records.size() == 1) throw InputError(shown, "found a header and no row, expected at least one row");
  if (records.size() > kMostRows + 1) {
    throw InputError(text(records[kMostRows + 1].front().place),
                     "found more than 20000 rows, expected fewer in one table");
  }
  for (std::size_t i = 1; i < records.size(); ++i) {
    Question question;
    Place start = records[i].front().place;
    start.column = 1;
    question.origin = text(start);
    question.name = file.stem().string() + ":" + std::to_string(start.line);
    question.table = file.stem().string();
    question.from_table = true;
    try {
      Node row = read_row(columns, records[i], records.front().size());
      Node tree = library.expand_block(row, scenario_schema(), "");
      set(tree, settings, library);
      finish(question, tree, library);
    } catch (const InputError& e) {
      question.error = e.what();
    }
    questions.push_back(std::move(question));
  }
}

bool is_table(const fs::path& file) { return file.extension() == ".csv"; }
bool is_scenario(const fs::path& file) { return file.extension() == ".yaml" || file.extension() == ".yml"; }

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
    if (entry.is_regular_file() && (is_table(entry.path()) || is_scenario(entry.path()))) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) throw InputError(shown_path(folder), "found no .yaml and no .csv file, expected at least one");
  return files;
}

}  // namespace

std::vector<Question> read_questions(std::span<const std::string> paths, std::span<const std::string> settings,
                                     Library& library) {
  const std::vector<Node> set = read_settings(settings);
  std::vector<Question> questions;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::exists(path, error)) throw InputError(path, "no such file or folder" + did_you_mean(path));
    const bool folder = fs::is_directory(path, error);
    if (!folder && !is_table(path) && !is_scenario(path)) {
      throw InputError(path, "expected a scenario (.yaml), a runs table (.csv) or a folder of them");
    }
    for (const fs::path& file : folder ? files_below(path) : std::vector<fs::path>{path}) {
      if (is_table(file)) {
        read_table(file, set, library, questions);
      } else {
        questions.push_back(read_scenario_file(file, set, library));
      }
    }
  }
  return questions;
}

}  // namespace stepcast::app
