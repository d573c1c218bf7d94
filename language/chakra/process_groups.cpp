#include "language/chakra/process_groups.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

using collectives::Group;

/// `place`: of the list, for messages.
Group group_of(const nlohmann::json& ranks, std::uint32_t end, const std::string& place) {
  const std::string expected = "expected a list of ranks below " + std::to_string(end) + ", each once";
  if (!ranks.is_array() || ranks.empty()) throw InputError(place, expected);
  Group group;
  for (const nlohmann::json& rank : ranks) {
    if (!rank.is_number_unsigned() || rank.get<std::uint64_t>() >= end)
      throw InputError(
          place, "found " + in_quotes(rank.is_structured() ? "a list" : rank.dump(-1, ' ', true)) + ", " + expected);
    group.push_back(topology::GpuId{rank.get<std::uint32_t>()});
  }
  Group sorted = group;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) throw InputError(place, "found a rank twice, " + expected);
  return group;
}

}  // namespace

ProcessGroups::ProcessGroups(const CheckedTraces& checked, const Traces& traces)
    : checked_(checked), file_(traces.groups_file), has_file_(traces.groups.has_value()) {
  for (std::uint32_t rank = 0; rank < checked.ranks(); ++rank) all_.push_back(topology::GpuId{rank});
  for (std::uint32_t rank = 0; rank < checked.ranks(); ++rank)
    for (std::size_t n = 0; n < checked.nodes(rank).size(); ++n)
      if (checked.node({rank, n}).type == ChakraType::metadata) read_metadata({rank, n});
  if (traces.groups) read_file(traces);
}

void ProcessGroups::read_file(const Traces& traces) {
  const nlohmann::json json = nlohmann::json::parse(*traces.groups, nullptr, false);
  if (!json.is_object()) throw InputError(file_, "expected JSON with the ranks of each process group: {\"1\": [0, 2]}");
  for (const auto& [name, ranks] : json.items())
    groups_.insert_or_assign(name, group_of(ranks, checked_.ranks(), file_ + ": " + name));
}

void ProcessGroups::read_metadata(NodePlace node) {
  // A list of texts as Python writes it, of one: ['[{"pg_name": "1", "ranks": [0, 2]}]'].
  const std::string& written = checked_.node(node).input_values;
  const std::size_t begin = written.find("[{"), end = written.rfind("}]");
  if (written.find("pg_name") == written.npos || begin == written.npos || end == written.npos || end < begin) return;
  const nlohmann::json json = nlohmann::json::parse(written.substr(begin, end + 2 - begin), nullptr, false);
  if (!json.is_array()) checked_.fail(node, "inputs.values", "expected process groups as PyTorch writes them");
  for (const nlohmann::json& item : json) {
    if (!item.is_object() || !item.contains("pg_name") || !item["pg_name"].is_string() || !item.contains("ranks"))
      checked_.fail(node, "inputs.values", "expected process groups with pg_name and ranks");
    const bool all = item["ranks"].is_array() && item["ranks"].empty();
    groups_.insert_or_assign(
        item["pg_name"].get<std::string>(),
        all ? all_ : group_of(item["ranks"], checked_.ranks(), checked_.place(node) + ": inputs.values"));
  }
}

const Group& ProcessGroups::of(NodePlace node) const {
  const std::string name = checked_.text(node, "pg_name").value_or("");
  const auto known = groups_.find(name);
  if (known == groups_.end()) {
    if (name.empty() || name == "0") return all_;
    checked_.fail(node, "pg_name",
                  "found " + in_quotes(name) +
                      (has_file_ ? ", expected a process group of " + file_
                                 : ", and no file of process groups: " + file_ + " is not there"));
  }
  if (std::ranges::find(known->second, topology::GpuId{node.rank}) == known->second.end())
    checked_.fail(node, "pg_name", "found " + in_quotes(name) + ", a process group that this rank is not in");
  return known->second;
}

}  // namespace stepcast::language
