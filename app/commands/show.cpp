#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "app/catalogue.h"
#include "app/command.h"
#include "app/named_files.h"
#include "app/options.h"
#include "app/output.h"
#include "app/report/json_text.h"
#include "app/report/paragraph.h"
#include "app/report/terminal.h"
#include "app/report/text_table.h"
#include "language/configs/config_folders.h"
#include "language/core/file_text.h"
#include "language/core/nearest.h"
#include "language/core/stated.h"
#include "language/core/streams.h"
#include "language/core/yaml.h"
#include "language/scenario.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::ordered_json;

/// One that is asked for.
struct Subject {
  const CatalogueKind* kind = nullptr;
  std::string name;
};

/// What the files say of one, and what holds where they say nothing.
struct Told {
  std::vector<Fact> facts;
  std::string file;                      ///< "": the program's own
  std::vector<language::Stated> stated;  ///< without the sources
  std::vector<language::KeyInfo> left_out;
  std::vector<std::pair<std::string, std::string>> sources;  ///< of each file that states something: file, text
};

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

[[noreturn]] void unknown(const std::string& name, const std::string& place, const language::Library& library) {
  std::vector<std::string> all, alike;
  for (const CatalogueKind& kind : catalogue()) {
    for (const std::string& each : kind.names(library)) {
      all.push_back(each);
      if (each.find(name) != std::string::npos) alike.push_back(std::string(kind.name) + "/" + each);
    }
  }
  std::string what = "found " + in_quotes(name) + ", expected a name that 'stepcast list KIND' prints";
  const std::vector<std::string_view> views(all.begin(), all.end());
  if (!alike.empty()) {
    what += "; like it:";
    for (const std::string& each : alike) what += (&each == &alike.front() ? " " : ", ") + each;
  } else {
    what += language::did_you_mean(name, views);
  }
  throw InputError(place, what);
}

bool names_file(const std::string& word) { return word.ends_with(".yaml") || word.ends_with(".yml"); }

/// Top-level keys of a file that a schema knows.
std::size_t known_keys(const language::Node& file, const language::Schema& schema) {
  const std::vector<language::KeyInfo>& keys = schema.keys;
  return static_cast<std::size_t>(std::ranges::count_if(file.entries, [&](const language::Entry& entry) {
    return std::ranges::any_of(keys, [&](const language::KeyInfo& key) {
      return key.path == entry.key || key.path.starts_with(entry.key + ".");
    });
  }));
}

/// A file of one's own: of the kind as which it can be read. Where it can be read as none, or as several, the kind is
/// the one that knows most of its keys.
Subject file_subject(const std::string& word, language::Library& library) {
  const std::filesystem::path path = language::input_named(word);
  const std::string shown = language::shown_path(path);
  const language::Node file = language::parse_yaml(language::read_file(path, shown), shown);
  const CatalogueKind* best = nullptr;
  std::tuple<bool, std::size_t> most{false, 0};
  for (const CatalogueKind& kind : catalogue()) {
    if (kind.schema == nullptr) continue;
    bool reads = true;
    try {
      kind.facts(word, library);
    } catch (const InputError&) {
      reads = false;
    }
    const std::tuple fits{reads, known_keys(file, kind.schema())};
    if (fits > most) {
      most = fits;
      best = &kind;
    }
  }
  if (!std::get<bool>(most) && known_keys(file, language::scenario_schema()) > std::get<std::size_t>(most))
    throw InputError(shown,
                     "found a scenario, which 'stepcast run' forecasts; expected a file of a GPU, node, link, "
                     "fabric, cluster, model, software stack or profile");
  if (best == nullptr)
    throw InputError(shown,
                     "found no key that a GPU, node, link, fabric, cluster, model, software stack or profile has");
  return {best, word};  // its error, if it has one, is told when it is shown
}

/// All that `word` names: "a100-sxm4-80gb", or of one kind, "gpus/a100-sxm4-80gb", or a file.
std::vector<Subject> subjects(const std::string& word, language::Library& library) {
  const std::string place = "stepcast show";
  std::vector<Subject> found;
  if (names_file(word)) return {file_subject(word, library)};
  if (const std::size_t slash = word.find('/'); slash != std::string::npos) {
    const CatalogueKind& kind = catalogue_kind(word.substr(0, slash), place);
    const std::string name = word.substr(slash + 1);
    const std::vector<std::string> names = kind.names(library);
    if (has(names, name)) return {{&kind, name}};
    const std::vector<std::string_view> views(names.begin(), names.end());
    throw InputError(place, "found " + in_quotes(name) + ", expected a name of " + std::string(kind.name) + ": " +
                                language::one_of(name, views, views.size()));
  }
  for (const CatalogueKind& kind : catalogue()) {
    if (kind.name == word) {
      throw InputError(place, "found the kind " + in_quotes(word) + ", expected a name ('stepcast list " + word +
                                  "' prints those of this kind)");
    }
    if (has(kind.names(library), word)) found.push_back({&kind, word});
  }
  if (found.empty()) unknown(word, place, library);
  return found;
}

/// The words behind `source:` of each file that states one of the values.
std::vector<std::pair<std::string, std::string>> sources(const std::vector<language::Stated>& stated) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const language::Stated& each : stated) {
    const std::string& file = each.place.file;
    if (std::ranges::find(all, file, &std::pair<std::string, std::string>::first) != all.end()) continue;
    const language::Node whole = language::parse_yaml(language::read_file(file, file), file);
    const language::Node* source = whole.find("source");
    all.emplace_back(file, source == nullptr ? "" : source->scalar);
  }
  return all;
}

Told tell(const Subject& subject, language::Library& library) {
  const CatalogueKind& kind = *subject.kind;
  Told told;
  if (kind.schema == nullptr) {
    told.facts = kind.details(subject.name);
    return told;
  }
  told.facts = kind.facts(subject.name, library);
  told.file = language::shown_path(names_file(subject.name) ? std::filesystem::path(language::input_named(subject.name))
                                                            : *library.file(kind.name, subject.name));
  const language::Schema& schema = kind.schema();
  told.stated =
      language::stated(library.expand_block(language::make_scalar(subject.name, {"stepcast show", 0, 0}), schema, ""));
  for (const language::KeyInfo& key : schema.keys) {
    const auto says = [&](const language::Stated& each) {
      return each.path.starts_with(key.path) &&
             (each.path.size() == key.path.size() || each.path.find_first_of(".[", key.path.size()) == key.path.size());
    };
    // What is required of other files of the kind is none of this one, which was read.
    if (!key.fallback.empty() && !key.fallback.starts_with(language::kRequired) &&
        std::ranges::none_of(told.stated, says))
      told.left_out.push_back(key);
  }
  told.sources = sources(told.stated);
  std::erase_if(told.stated, [](const language::Stated& each) { return each.path == "source"; });
  return told;
}

const language::KeyInfo* key_of(const language::Schema& schema, const std::string& path) {
  return language::find_key(schema, path.substr(0, path.find('[')));
}

std::string help(const language::Schema& schema, const std::string& path) {
  const language::KeyInfo* key = key_of(schema, path);
  return key == nullptr || path.ends_with(']') ? "" : std::string(key->help);
}

std::string table(const Subject& subject, const Told& told) {
  const std::size_t width = terminal().width;
  std::string out = names_file(subject.name) ? fmt::format("{}: {}\n\n", subject.kind->name, subject.name)
                                             : fmt::format("{}/{}\n\n", subject.kind->name, subject.name);
  std::size_t widest = 4;
  for (const Fact& fact : told.facts)
    if (!fact.text.empty()) widest = std::max(widest, fact.title.size());
  const auto add = [&](std::string_view title, std::string_view text) {
    out += paragraph(fmt::format("  {:<{}}  ", title, widest), text, width);
  };
  if (!told.file.empty()) add("file", told.file);
  for (const Fact& fact : told.facts)
    if (!fact.text.empty()) add(fact.title, fact.text);
  if (told.file.empty()) return out;

  const language::Schema& schema = subject.kind->schema();
  TextTable stated(
      {{"key", TextTable::Align::left}, {"value", TextTable::Align::left}, {"line"}, {"", TextTable::Align::left}});
  for (const language::Stated& each : told.stated) {
    const std::string line = std::to_string(each.place.line);
    const std::string place = each.place.file == told.file ? line : each.place.file + ":" + line;
    stated.add({each.path, each.value, place, help(schema, each.path)});
  }
  out += "\n" + stated.text("  ");
  std::string remarks;
  for (const language::Stated& each : told.stated)
    if (!each.remark.empty()) remarks += paragraph("  " + each.path + ": ", each.remark, width);
  if (!remarks.empty()) out += "\nremarks\n" + remarks;
  for (const auto& [file, source] : told.sources)
    if (!source.empty())
      out += "\nsource" + (told.sources.size() > 1 ? " of " + file : "") + "\n" + paragraph("  ", source, width);
  if (!told.left_out.empty()) {
    TextTable left_out(
        {{"key", TextTable::Align::left}, {"default", TextTable::Align::left}, {"", TextTable::Align::left}});
    for (const language::KeyInfo& key : told.left_out)
      left_out.add({std::string(key.path), std::string(key.fallback), std::string(key.help)});
    out += "\nleft out\n" + left_out.text("  ");
  }
  return out;
}

Json json(const Subject& subject, const Told& told) {
  Json out{{"kind", subject.kind->name}, {"name", subject.name}};
  for (const Fact& fact : told.facts) out[std::string(fact.key)] = fact.value;
  if (told.file.empty()) return out;
  out["file"] = told.file;
  const language::Schema& schema = subject.kind->schema();
  Json& keys = out["keys"] = Json::array();
  for (const language::Stated& each : told.stated) {
    keys.push_back({{"key", each.path}, {"value", each.value}, {"file", each.place.file}, {"line", each.place.line}});
    if (!each.remark.empty()) keys.back()["remark"] = each.remark;
    if (const std::string words = help(schema, each.path); !words.empty()) keys.back()["help"] = words;
  }
  Json& left_out = out["left_out"] = Json::array();
  for (const language::KeyInfo& key : told.left_out)
    left_out.push_back({{"key", key.path}, {"default", key.fallback}, {"help", key.help}});
  Json& from = out["sources"] = Json::array();
  for (const auto& [file, source] : told.sources) from.push_back({{"file", file}, {"source", source}});
  return out;
}

CommandLine show_line() {
  namespace po = boost::program_options;
  po::options_description options("Options");
  options.add_options()("format", po::value<std::string>()->default_value("table"), "table or json")(
      "output", po::value<std::string>()->default_value("", ""), "write to this file instead of standard output");
  return {
      "usage: stepcast show NAME|KIND/NAME|FILE.yaml... [OPTIONS]\n\n"
      "Tells all that is known of a GPU, node, link, fabric, cluster, model, software stack, algorithm or schedule: "
      "every\n"
      "key with its value, where it is written and what its file says of its source. 'stepcast list' prints the "
      "kinds.\n"
      "A file of your own is shown likewise.\n\n"
      "  stepcast show h100-sxm5-80gb\n"
      "  stepcast show models/gpt3-175b --format json",
      options,
      {"table", "json"}};
}

/// "h100-sxm5-80gb" of any kind; behind a slash "gpus/h100-sxm5-80gb".
Candidates names(const std::string& typed) {
  std::vector<std::string> kinds;
  for (const CatalogueKind& kind : catalogue()) kinds.emplace_back(kind.name);
  if (typed.find('/') == std::string::npos) return named_candidates(kinds);
  Candidates all;
  for (const std::string& kind : kinds)
    for (const Candidate& name : named_candidates({kind})) all.push_back({kind + "/" + name.word, {}});
  return all;
}

int show(const std::vector<std::string>& words) {
  const auto values = parse_options(words, show_line());
  if (!values) return kDone;
  const auto names = (*values)["path"].as<std::vector<std::string>>();
  if (names.empty()) throw InputError("stepcast show", "found no name, expected one that 'stepcast list KIND' prints");
  const auto format = (*values)["format"].as<std::string>();
  if (format != "table" && format != "json")
    throw InputError("--format", "found " + in_quotes(format) + ", expected table or json");
  language::Library library(language::config_folders());
  Json all = Json::array();
  std::string tables;
  for (const std::string& name : names) {
    for (const Subject& subject : subjects(name, library)) {
      const Told told = tell(subject, library);
      if (format == "json")
        all.push_back(json(subject, told));
      else
        tables += (tables.empty() ? "" : "\n") + table(subject, told);
    }
  }
  const auto output = (*values)["output"].as<std::string>();
  check_outputs(std::array{named_output(output)}, library.files());
  write_output(output, format == "json" ? json_text(all) : tables);
  return kDone;
}

}  // namespace

extern const Command show_command;
constinit const Command show_command{.name = "show",
                                     .summary = "all that is known of one of them, with its source",
                                     .line = show_line,
                                     .run = show,
                                     .words = names};

}  // namespace stepcast::app
