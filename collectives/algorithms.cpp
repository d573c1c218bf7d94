#include "collectives/algorithms.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::collectives {

extern const Algorithm ring, tree, double_binary_tree, hierarchical, direct, send_recv, pairwise, butterfly,
    halving_doubling, naive, parameter_server, sharded_parameter_server, torus_2d, multi_ring, tree_packing,
    pcie_nvlink_split, nvls, nvls_tree, sharp, pat;

namespace {

constexpr std::array kAlgorithms = {&ring,
                                    &tree,
                                    &double_binary_tree,
                                    &hierarchical,
                                    &direct,
                                    &send_recv,
                                    &pairwise,
                                    &butterfly,
                                    &halving_doubling,
                                    &naive,
                                    &parameter_server,
                                    &sharded_parameter_server,
                                    &torus_2d,
                                    &multi_ring,
                                    &tree_packing,
                                    &pcie_nvlink_split,
                                    &nvls,
                                    &nvls_tree,
                                    &sharp,
                                    &pat};

/// Levenshtein's distance: insertions, deletions and replacements.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replace});
    }
  }
  return row.back();
}

}  // namespace

std::span<const Algorithm* const> algorithms() { return kAlgorithms; }

const Algorithm& algorithm(std::string_view name, std::string_view besides) {
  for (const Algorithm* candidate : kAlgorithms) {
    if (candidate->name == name) return *candidate;
  }
  const Algorithm* nearest = *std::ranges::min_element(
      kAlgorithms, {}, [name](const Algorithm* candidate) { return distance(candidate->name, name); });
  std::string allowed;
  for (const Algorithm* candidate : kAlgorithms) allowed += std::string(candidate->name) + ", ";
  const bool near = 2 * distance(nearest->name, name) <= std::max(nearest->name.size(), name.size());
  throw InputError("algorithm", "found " + in_quotes(name) + ", expected one of " + allowed + std::string(besides) +
                                    (near ? "; did you mean '" + std::string(nearest->name) + "'?" : ""));
}

}  // namespace stepcast::collectives
