#include "app/chakra_files.h"

#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "app/chakra_module/trace_bytes.h"
#include "app/modules/module.h"
#include "language/chakra/traces_of.h"
#include "language/core/file_text.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;

/// Of the module that speaks protobuf.
void* module_function(const char* name) {
  std::string error;
  void* const function = function_of_module("stepcast-chakra", name, error);
  if (function == nullptr)
    throw std::runtime_error("Chakra traces need a part of stepcast that cannot be loaded (" + error +
                             "); it is built where protobuf is found: install Debian's protobuf-compiler and "
                             "libprotobuf-dev and build stepcast again");
  return function;
}

/// The files of one prefix, by rank.
using Ranks = std::map<std::uint32_t, fs::path>;

/// The prefix and rank of "all_reduce.3.et"; nothing: the name is of another form.
std::optional<std::pair<std::string, std::uint32_t>> parts_of(const std::string& name) {
  if (!name.ends_with(".et")) return std::nullopt;
  const std::string stem = name.substr(0, name.size() - 3);
  const std::size_t dot = stem.rfind('.');
  if (dot == stem.npos || dot + 1 == stem.size()) return std::nullopt;
  std::uint32_t rank = 0;
  const char* const end = stem.data() + stem.size();
  if (const auto [at, error] = std::from_chars(stem.data() + dot + 1, end, rank); error != std::errc{} || at != end)
    return std::nullopt;
  if (std::to_string(rank) != stem.substr(dot + 1)) return std::nullopt;
  return std::pair{stem.substr(0, dot), rank};
}

/// The traces of a folder, by prefix.
std::map<std::string, Ranks> traces_in(const fs::path& folder) {
  std::map<std::string, Ranks> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.empty() ? fs::path(".") : folder, error))
    if (const auto parts = parts_of(entry.path().filename().string()))
      found[parts->first][parts->second] = entry.path();
  return found;
}

std::optional<std::string> text_if_there(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  return language::read_file(path, language::shown_path(path));
}

}  // namespace

std::vector<NewFile> chakra_files(const workload::RecordedProgram& recorded, std::uint32_t ranks,
                                  const std::string& prefix) {
  const auto write = reinterpret_cast<decltype(&stepcast_write_trace)>(module_function("stepcast_write_trace"));
  language::ChakraFiles files = language::traces_of(recorded, ranks);
  const std::vector<std::string> names = chakra_file_names(ranks, prefix);
  std::vector<NewFile> out;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    NewFile& file = out.emplace_back(NewFile{names[rank], {}});
    write(files.traces[rank], file.content);
  }
  out.push_back({names[ranks], std::move(files.groups)});
  out.push_back({names[ranks + 1], std::move(files.details)});
  return out;
}

std::vector<std::string> chakra_file_names(std::uint32_t ranks, const std::string& prefix) {
  std::vector<std::string> names;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) names.push_back(prefix + "." + std::to_string(rank) + ".et");
  names.push_back(prefix + ".json");
  names.push_back(prefix + ".stepcast.json");
  return names;
}

language::Traces read_chakra(const std::string& named, const std::string& groups) {
  std::error_code error;
  const bool is_folder = fs::is_directory(named, error);
  fs::path prefix = named;
  const std::map<std::string, Ranks> there = traces_in(is_folder ? prefix : prefix.parent_path());
  if (is_folder) {
    if (there.empty()) throw InputError(named, "found no traces, expected files PREFIX.0.et, PREFIX.1.et ...");
    if (there.size() > 1)
      throw InputError(named, "found traces of " + in_quotes(there.begin()->first) + " and " +
                                  in_quotes(std::next(there.begin())->first) + ", expected one: name FOLDER/PREFIX");
    prefix /= there.begin()->first;
  } else if (const auto parts = parts_of(prefix.filename().string()); parts && fs::exists(prefix, error)) {
    prefix.replace_filename(parts->first);  // the trace of one rank stands for those of all
  }
  language::Traces traces;
  traces.prefix = language::shown_path(prefix);
  const auto ranks = there.find(prefix.filename().string());
  if (ranks == there.end())
    throw InputError(traces.prefix + ".0.et", "found no such file, expected a trace of each rank, or a folder of them");
  const auto read = reinterpret_cast<decltype(&stepcast_read_trace)>(module_function("stepcast_read_trace"));
  for (const auto& [rank, path] : ranks->second) {
    if (rank != traces.traces.size())
      throw InputError(
          traces.prefix + "." + std::to_string(traces.traces.size()) + ".et",
          "found no such file, expected one for each rank up to " + std::to_string(ranks->second.rbegin()->first));
    const std::string shown = language::shown_path(path);
    std::string why;
    if (!read(language::read_file(path, shown), traces.traces.emplace_back(), why)) throw InputError(shown, why);
  }
  traces.groups_file = groups.empty() ? traces.prefix + ".json" : language::shown_path(groups);
  traces.details_file = traces.prefix + ".stepcast.json";
  if (groups.empty())
    traces.groups = text_if_there(prefix.string() + ".json");
  else
    traces.groups = language::read_file(groups, traces.groups_file);
  traces.details = text_if_there(prefix.string() + ".stepcast.json");
  return traces;
}

}  // namespace stepcast::app
