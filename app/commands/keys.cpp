#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/json_schema.h"
#include "app/options.h"
#include "app/output.h"
#include "app/report/json_text.h"
#include "app/report/paragraph.h"
#include "app/report/text_table.h"
#include "language/configs/cluster.h"
#include "language/configs/config_folders.h"
#include "language/configs/files.h"
#include "language/configs/measured_kernels.h"
#include "language/configs/model.h"
#include "language/configs/network.h"
#include "language/configs/profile.h"
#include "language/core/convert.h"
#include "language/core/nearest.h"
#include "language/core/schema.h"
#include "language/scenario.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

/// What `stepcast keys` calls the keys of a scenario, of each kind of file, and of an entry of model.network.
struct KeyBlock {
  std::string_view name;
  const language::Schema& (*schema)();
};

constexpr std::array kBlocks{KeyBlock{"scenario", language::scenario_schema},
                             KeyBlock{"cluster", language::cluster_schema},
                             KeyBlock{"model", language::model_schema},
                             KeyBlock{"node", language::node_schema},
                             KeyBlock{"gpu", language::gpu_schema},
                             KeyBlock{"link", language::link_schema},
                             KeyBlock{"fabric", language::fabric_schema},
                             KeyBlock{"software", language::software_schema},
                             KeyBlock{"profile", language::profile_schema},
                             KeyBlock{"network", language::network_schema},
                             KeyBlock{"kernels", language::measured_kernels_schema}};

/// Keys of one block, as they are written where the block stands.
struct Section {
  KeyBlock block;
  std::vector<std::pair<std::string, const language::KeyInfo*>> keys;
};

Section whole(const KeyBlock& block, const std::string& prefix = "") {
  Section section{block, {}};
  for (const language::KeyInfo& key : block.schema().keys)
    section.keys.emplace_back(language::join(prefix, key.path), &key);
  return section;
}

bool is_or_is_below(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '.');
}

const KeyBlock& block_of(const language::Schema& schema) {
  return *std::ranges::find_if(kBlocks, [&](const KeyBlock& block) { return &block.schema() == &schema; });
}

/// The key `prefix` of a block that stands at `outside` and those below it, those of the block that it may be included.
std::vector<Section> below(const KeyBlock& block, const std::string& outside, const std::string& prefix) {
  std::vector<Section> sections{{block, {}}};
  for (const language::KeyInfo& key : block.schema().keys) {
    const std::string path = language::join(outside, key.path);
    const bool is_block = key.type.kind == language::Type::Kind::block;
    if (is_or_is_below(path, prefix)) sections.front().keys.emplace_back(path, &key);
    if (is_block && path == prefix) sections.push_back(whole(block_of(key.type.fields()), path));
    if (is_block && path != prefix && is_or_is_below(prefix, path))
      return below(block_of(key.type.fields()), path, prefix);
  }
  if (sections.front().keys.empty()) sections.erase(sections.begin());
  return sections;
}

/// What the command takes: every key of a scenario and what it is below, and the kinds of files.
std::vector<std::string> key_prefixes() {
  std::vector<std::string> prefixes;
  const auto add = [&](std::string prefix) {
    if (std::ranges::find(prefixes, prefix) == prefixes.end()) prefixes.push_back(std::move(prefix));
  };
  for (const KeyBlock& block : kBlocks) add(std::string(block.name));
  for (const std::string& path : language::all_paths(language::scenario_schema())) {
    for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1))
      add(path.substr(0, dot));
    add(path);
  }
  return prefixes;
}

/// What `prefix` means: a path of the scenario, or the name of a block with a path inside it. Empty: everything.
std::vector<Section> sections(const std::string& prefix) {
  std::vector<Section> found;
  if (prefix.empty()) {
    for (const KeyBlock& block : kBlocks) found.push_back(whole(block));
    return found;
  }
  found = below(kBlocks.front(), "", prefix);
  for (const KeyBlock& block : kBlocks) {
    if (!found.empty() || !is_or_is_below(prefix, block.name)) continue;
    found = prefix == block.name ? std::vector{whole(block)} : below(block, "", prefix.substr(block.name.size() + 1));
  }
  if (!found.empty()) return found;
  const std::vector<std::string> prefixes = key_prefixes();
  const std::vector<std::string_view> views(prefixes.begin(), prefixes.end());
  std::vector<std::string_view> first;
  for (const std::string_view word : views)
    if (word.find('.') == std::string_view::npos) first.push_back(word);
  throw InputError("stepcast keys",
                   "found " + in_quotes(prefix) + ", expected a path such as 'cluster.node' that begins with " +
                       language::one_of("", first, first.size()) + language::did_you_mean(prefix, views));
}

/// What a key is for, and where not all builders of nodes or kinds of fabrics read it, which do.
std::string help(const Section& section, const language::KeyInfo& key) {
  const language::Schema& schema = section.block.schema();
  const language::Names readers = language::readers_of(schema, key.path);
  if (readers.empty()) return std::string(key.help);
  return fmt::format("{} ({} {})", key.help, schema.reader->key, fmt::join(readers, ", "));
}

/// "|" would end a cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string heading(const Section& section) {
  const language::Schema& schema = section.block.schema();
  return fmt::format("{}{}", schema.title, schema.folder.empty() ? "" : fmt::format(" (configs/{}/)", schema.folder));
}

std::string markdown(const std::vector<Section>& sections) {
  std::string out =
      "# Scenario reference\n\n"
      "Made by `stepcast keys --format markdown` from the tables that read scenarios. Quantities carry their unit: `25 "
      "GB/s`,\n"
      "`200 Gbit/s`, `1.3 us`, `80 GiB`, `312 TFLOP/s` (GB is 1e9 bytes, GiB 2^30). A name where a block may stand is "
      "a file\n"
      "of configs/; `base:` starts from such a file, `include:` merges other files underneath. Files of your own lie "
      "over\n"
      "those of configs/ and take the same keys (docs/own-files.md).\n";
  for (const Section& section : sections) {
    out += "\n## " + heading(section) + "\n\n| key | value | default | |\n|---|---|---|---|\n";
    for (const auto& [path, key] : section.keys)
      out += fmt::format("| `{}` | {} | {} | {} |\n", path, cell(language::expected(key->type)), cell(key->fallback),
                         cell(help(section, *key)));
  }
  return out;
}

std::string table(const std::vector<Section>& sections) {
  if (sections.size() == 1 && sections.front().keys.size() == 1) {
    const auto& [path, key] = sections.front().keys.front();
    std::string out = path + "\n" + shown_line("  value    ", language::expected(key->type), 9);
    if (!key->fallback.empty()) out += shown_line("  default  ", key->fallback, 9);
    return key->help.empty() ? out : out + shown_line("  ", help(sections.front(), *key), 0);
  }
  std::string out;
  for (const Section& section : sections) {
    TextTable keys(
        {{"key", TextTable::Align::left}, {"default", TextTable::Align::left}, {"", TextTable::Align::left}});
    for (const auto& [path, key] : section.keys) keys.add({path, std::string(key->fallback), help(section, *key)});
    if (sections.size() > 1) out += (out.empty() ? "" : "\n") + heading(section) + "\n\n";
    out += keys.text();
  }
  return out;
}

constexpr std::array<std::string_view, 13> kTypes{"text",     "whole", "number",    "flag",      "choice",
                                                  "time",     "bytes", "bandwidth", "flop_rate", "power",
                                                  "duration", "block", "list"};

std::string json(const std::vector<Section>& sections) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Section& section : sections) {
    for (const auto& [path, key] : section.keys) {
      nlohmann::ordered_json one{{"key", path},
                                 {"of", section.block.name},
                                 {"type", kTypes[static_cast<std::size_t>(key->type.kind)]},
                                 {"value", language::expected(key->type)},
                                 {"required", key->fallback == language::kRequired},
                                 {"default", key->fallback},
                                 {"help", key->help}};
      if (const language::Names readers = language::readers_of(section.block.schema(), key->path); !readers.empty())
        one["read_by"] = readers;
      if (key->type.kind == language::Type::Kind::choice) one["choices"] = key->type.names();
      if (key->type.kind == language::Type::Kind::block)
        one["folder"] = "configs/" + std::string(key->type.fields().folder);
      all.push_back(std::move(one));
    }
  }
  return json_text(all);
}

/// What editors complete and check files by.
std::string schema_text(const std::string& prefix) {
  const std::string_view name = prefix.empty() ? kBlocks.front().name : std::string_view(prefix);
  std::vector<std::string_view> files;
  for (const KeyBlock& block : kBlocks)
    if (&block == &kBlocks.front() || !block.schema().folder.empty()) files.push_back(block.name);
  if (std::ranges::find(files, name) == files.end())
    throw InputError("stepcast keys",
                     "found " + in_quotes(prefix) +
                         " with --format json-schema, expected a kind of file: " + language::one_of(prefix, files));
  const auto block = std::ranges::find(kBlocks, name, &KeyBlock::name);
  return json_text(json_schema(block->schema(), language::Library(language::config_folders())));
}

CommandLine keys_line() {
  namespace po = boost::program_options;
  po::options_description options("Options");
  options.add_options()("format", po::value<std::string>()->default_value("table"),
                        "table, json, json-schema or markdown")(
      "output", po::value<std::string>()->default_value("", ""), "write to this file instead of standard output");
  return {
      "usage: stepcast keys [PREFIX] [OPTIONS]\n\n"
      "Prints every key of scenarios and of the files of configs/, or those at and below PREFIX: a path such as\n"
      "parallelism, cluster.node or software.transport, or a kind of file such as gpu or link.\n\n"
      "  stepcast keys parallelism\n"
      "  stepcast keys gpu --format json\n"
      "  stepcast keys --format json-schema --output scenario.schema.json",
      options,
      {"table", "json", "json-schema", "markdown"}};
}

int keys(const std::vector<std::string>& words) {
  const auto values = parse_options(words, keys_line());
  if (!values) return kDone;
  const auto format = (*values)["format"].as<std::string>();
  constexpr std::array<std::string_view, 4> kFormats{"table", "json", "json-schema", "markdown"};
  if (std::ranges::find(kFormats, format) == kFormats.end())
    throw InputError("--format", "found " + in_quotes(format) + ", expected " + language::one_of(format, kFormats));
  const auto prefixes = (*values)["path"].as<std::vector<std::string>>();
  if (prefixes.size() > 1)
    throw InputError("stepcast keys", "found " + in_quotes(prefixes[1]) + ", expected one prefix");
  const std::string prefix = prefixes.empty() ? "" : prefixes.front();
  if (format == "json-schema") {
    write_output((*values)["output"].as<std::string>(), schema_text(prefix));
    return kDone;
  }
  const std::vector<Section> found = sections(prefix);
  write_output((*values)["output"].as<std::string>(), format == "markdown" ? markdown(found)
                                                      : format == "json"   ? json(found)
                                                                           : table(found));
  return kDone;
}

}  // namespace

extern const Command keys_command;
constinit const Command keys_command{
    .name = "keys",
    .summary = "every key of the scenario language",
    .line = keys_line,
    .run = keys,
    .words = [](const std::string& typed) { return next_level(key_prefixes(), typed); }};

}  // namespace stepcast::app
