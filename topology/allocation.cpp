#include "topology/allocation.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "topology/text.h"

namespace stepcast::topology {

namespace {

constexpr std::uint32_t kMostOfACount = 10'000'000;  // numbers of nodes and GPUs
constexpr std::uint64_t kMostListed = 100'000;       // GPUs and nodes, which are held one by one
constexpr const char* kTooMany = "found more than 100000 GPUs";

using Range = std::pair<std::uint32_t, std::uint32_t>;  // first and last

/// "4" or "4-7".
std::optional<Range> parse_range(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = parse_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_number(text.substr(dash + 1));
  if (!first || !last || *first > *last || *last >= kMostOfACount) return {};
  return Range(*first, *last);
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& place) : text_(text), place_(place) {}

  Allocation run() {
    for (std::string_view rest = text_;;) {
      const auto comma = rest.find(',');
      item(trim(rest.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    flush();
    return std::move(allocation_);
  }

 private:
  [[noreturn]] void complain(const std::string& what) const {
    throw InputError(place_, "allocation " + in_quotes(text_) + ": " + what +
                                 "; expected GPUs such as '0-2,5' or 'node0:0-3,node2:4-7'");
  }

  void item(std::string_view text) {
    std::string_view gpus = text;
    bool node_alone = false;
    if (text.starts_with("node")) {
      const auto colon = text.find(':');
      const auto nodes = parse_range(text.substr(4, colon == std::string_view::npos ? colon : colon - 4));
      if (!nodes) complain("found " + in_quotes(text));
      flush();
      nodes_ = *nodes;
      node_alone = colon == std::string_view::npos;
      gpus = node_alone ? std::string_view("*") : text.substr(colon + 1);
    }
    if (all_) complain("found " + in_quotes(text) + " behind all GPUs of a node");
    if (gpus == "*") {
      if (!gpus_.empty()) complain("found '*' behind GPUs of the same node");
      all_ = true;
      return;
    }
    const auto range = parse_range(gpus);
    if (!range) complain("found " + in_quotes(text));
    if (range->second - range->first >= kMostListed) complain("found more than 100000 GPUs of one node");
    for (std::uint32_t gpu = range->first; gpu <= range->second; ++gpu) {
      if (!seen_gpus_.insert(gpu).second) complain("GPU " + std::to_string(gpu) + " of a node is listed twice");
      gpus_.push_back(gpu);
    }
  }

  /// Ends the list of the nodes at hand.
  void flush() {
    if (gpus_.empty() && !all_) return;
    listed_ += (std::uint64_t{nodes_.second} - nodes_.first + 1) * std::max<std::uint64_t>(gpus_.size(), 1);
    if (listed_ > kMostListed) complain(kTooMany);
    for (std::uint32_t node = nodes_.first; node <= nodes_.second; ++node) {
      if (!seen_nodes_.insert(node).second) complain("node " + std::to_string(node) + " is listed twice");
      allocation_.nodes.push_back({node, gpus_});
    }
    gpus_.clear();
    seen_gpus_.clear();
    all_ = false;
  }

  std::string_view text_;
  const std::string& place_;
  Allocation allocation_;
  Range nodes_{0, 0};
  std::vector<std::uint32_t> gpus_;
  std::set<std::uint32_t> seen_gpus_, seen_nodes_;
  std::uint64_t listed_ = 0;  ///< GPUs so far, those of "all of a node" as one
  bool all_ = false;
};

}  // namespace

Allocation parse_allocation(std::string_view text, const std::string& place) { return Parser(text, place).run(); }

Allocation resolve(Allocation allocation, std::uint32_t gpus_per_node, const std::string& place) {
  if (allocation.nodes.empty()) throw InputError(place, "allocation: a cluster has at least 1 GPU");
  std::uint32_t last = 0;
  std::uint64_t listed = 0;
  for (AllocatedNode& part : allocation.nodes) {
    last = std::max(last, part.node);
    listed += part.gpus.empty() ? gpus_per_node : part.gpus.size();
    if (listed > kMostListed)
      throw InputError(place,
                       std::string("allocation: ") + kTooMany + ", expected fewer; for whole nodes say how many");
    if (part.gpus.empty()) {
      for (std::uint32_t gpu = 0; gpu < gpus_per_node; ++gpu) part.gpus.push_back(gpu);
    }
    const std::uint32_t most = *std::ranges::max_element(part.gpus);
    if (most >= gpus_per_node) {
      throw InputError(place, "allocation: GPU " + std::to_string(most) + " of a node of " +
                                  std::to_string(gpus_per_node) + " (0 to " + std::to_string(gpus_per_node - 1) + ")");
    }
  }
  if (allocation.of_nodes == 0) allocation.of_nodes = last + 1;
  if (last >= allocation.of_nodes) {
    throw InputError(place, "allocation: node " + std::to_string(last) + " of " + std::to_string(allocation.of_nodes) +
                                " (0 to " + std::to_string(allocation.of_nodes - 1) + ")");
  }
  return allocation;
}

std::uint32_t count(const Allocation& allocation) {
  std::uint32_t gpus = 0;
  for (const AllocatedNode& part : allocation.nodes) gpus += static_cast<std::uint32_t>(part.gpus.size());
  return gpus;
}

}  // namespace stepcast::topology
