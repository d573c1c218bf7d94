#include <algorithm>
#include <array>
#include <cstdio>

#include "app/catalogue.h"
#include "app/command.h"
#include "app/format.h"
#include "app/named_files.h"
#include "app/options.h"
#include "app/output.h"
#include "app/report/json_text.h"
#include "app/report/paragraph.h"
#include "app/report/text_table.h"
#include "language/configs/config_folders.h"
#include "language/core/file_text.h"
#include "language/core/visible_text.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::ordered_json;

/// A line of the list.
struct Named {
  std::string name;
  std::vector<Fact> facts;
  std::string file;  ///< "": none
  bool own = false;  ///< the file is not the library's
};

/// What can be read; what cannot goes to `errors`, and is missing.
std::vector<Named> read_all(const CatalogueKind& kind, language::Library& library, std::string& errors) {
  std::string folder;  // where the library's files of the kind are; "": there is no library, all files are the user's
  if (const auto configs = language::found_library_folder()) {
    folder = language::shown_path(*configs / kind.name / "x");
    folder.pop_back();
  }
  std::vector<Named> all;
  for (const std::string& name : kind.names(library)) {
    Named line{name, {}, {}};
    if (kind.schema != nullptr) {
      line.file = language::shown_path(*library.file(kind.name, name));
      line.own = folder.empty() || !line.file.starts_with(folder);
    }
    try {
      line.facts = kind.facts(name, library);
      all.push_back(std::move(line));
    } catch (const InputError& error) {
      errors += language::visible(error.what()) + "\n";
    }
  }
  return all;
}

/// Of numbers, right; of words, left.
TextTable::Align align(const std::vector<Named>& all, std::size_t fact) {
  const auto number = [&](const Named& line) {
    const Json& value = line.facts[fact].value;
    return value.is_number() || value.is_null();
  };
  return std::ranges::all_of(all, number) ? TextTable::Align::right : TextTable::Align::left;
}

std::string table(const std::vector<Named>& all) {
  if (all.empty()) return "none; files of your own can lie over the library's: docs/own-files.md\n";
  const bool some_own = std::ranges::any_of(all, &Named::own);
  std::vector<TextTable::Column> columns{{"name", TextTable::Align::left}};
  for (std::size_t i = 0; i < all.front().facts.size(); ++i)
    columns.push_back({std::string(all.front().facts[i].title), align(all, i)});
  if (some_own) columns.push_back({"your own", TextTable::Align::left});
  TextTable out(columns);
  for (const Named& line : all) {
    std::vector<std::string> cells{line.name};
    for (const Fact& fact : line.facts) cells.push_back(fact.text.empty() ? "-" : fact.text);
    if (some_own) cells.push_back(line.own ? line.file : "");
    out.add(std::move(cells));
  }
  return out.text();
}

Json json(const std::vector<Named>& all) {
  Json out = Json::array();
  for (const Named& line : all) {
    Json object{{"name", line.name}};
    for (const Fact& fact : line.facts) object[std::string(fact.key)] = fact.value;
    if (!line.file.empty()) object["file"] = line.file;
    out.push_back(std::move(object));
  }
  return out;
}

std::string csv(const Json& rows) {
  if (rows.empty()) return "";
  std::vector<std::string> heads;
  for (const auto& cell : rows.front().items()) heads.push_back(cell.key());
  std::string out = csv_line(heads);
  for (const Json& row : rows) {
    std::vector<std::string> cells;
    for (const Json& cell : row)
      cells.push_back(cell.is_string() ? cell.get<std::string>() : cell.is_null() ? "" : cell.dump());
    out += csv_line(cells);
  }
  return out;
}

std::string show(const Json& rows, const std::string& table, Format format) {
  return format == Format::json ? json_text(rows) : format == Format::csv ? csv(rows) : table;
}

int list_kinds(const language::Library& library, Format format, const std::string& output) {
  Json rows = Json::array();
  TextTable table({{"kind", TextTable::Align::left}, {"names"}, {"", TextTable::Align::left}});
  for (const CatalogueKind& kind : catalogue()) {
    const std::size_t names = kind.names(library).size();
    rows.push_back({{"kind", kind.name}, {"names", names}, {"summary", kind.summary}});
    table.add({std::string(kind.name), std::to_string(names), std::string(kind.summary)});
  }
  write_output(output,
               show(rows,
                    table.text() + "\n" +
                        shown_lines("'stepcast list KIND' names them, 'stepcast show NAME' tells all of one.\n"),
                    format));
  return kDone;
}

CommandLine list_line() {
  namespace po = boost::program_options;
  po::options_description options("Options");
  options.add_options()("format", po::value<std::string>()->default_value("table"), "table, json or csv")(
      "output", po::value<std::string>()->default_value("", ""), "write to this file instead of standard output");
  std::string kinds;
  for (const CatalogueKind& kind : catalogue()) kinds += (kinds.empty() ? "" : ", ") + std::string(kind.name);
  return {
      "usage: stepcast list [KIND] [OPTIONS]\n\n"
      "Names what scenarios and options can choose from, with a line each; without a kind, how many there are of "
      "each.\nKinds: " +
          kinds +
          ".\n"
          "Files of your own are listed with the library's (docs/own-files.md). Exit status 1: a file could not be "
          "read.\n\n"
          "  stepcast list gpus\n"
          "  stepcast list models --format json",
      options};
}

int list(const std::vector<std::string>& words) {
  const auto values = parse_options(words, list_line());
  if (!values) return kDone;
  const auto names = (*values)["path"].as<std::vector<std::string>>();
  if (names.size() > 1) throw InputError("stepcast list", "found " + in_quotes(names[1]) + ", expected one kind");
  const Format format = parse_format((*values)["format"].as<std::string>());
  const auto output = (*values)["output"].as<std::string>();
  language::Library library(language::config_folders());
  if (names.empty()) return list_kinds(library, format, output);
  std::string errors;
  const std::vector<Named> all = read_all(catalogue_kind(names.front(), "stepcast list"), library, errors);
  check_outputs(std::array{named_output(output)}, library.files());
  write_output(output, show(json(all), table(all), format));
  std::fputs(errors.c_str(), stderr);
  return errors.empty() ? kDone : kFailed;
}

}  // namespace

extern const Command list_command;
constinit const Command list_command{.name = "list",
                                     .summary = "the GPUs, nodes, models, ... that there are",
                                     .line = list_line,
                                     .run = list,
                                     .words = [](const std::string&) { return kind_candidates(); }};

}  // namespace stepcast::app
