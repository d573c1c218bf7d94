#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "collectives/patterns.h"

namespace stepcast::collectives {
namespace {

/// Whom each rank sends to. Sattolo's algorithm draws one circle through all ranks, each circle as likely as any other,
/// so nobody sends to itself. Always the same draw for as many ranks: std::mt19937_64 and the modulus are the same
/// everywhere.
std::vector<std::uint32_t> drawn(std::uint32_t ranks) {
  std::vector<std::uint32_t> to(ranks);
  std::iota(to.begin(), to.end(), 0u);
  std::mt19937_64 random(ranks);
  for (std::uint32_t last = ranks - 1; last > 0; --last) std::swap(to[last], to[random() % last]);
  return to;
}

CollectivePlan permutation_flows(std::uint32_t ranks, Bytes bytes) {
  CollectivePlan plan;
  plan.ranks = ranks;
  const ChunkId chunk = plan.add_chunk({0, bytes.value});
  const std::vector<std::uint32_t> to = drawn(ranks);
  for (std::uint32_t sender = 0; sender < ranks; ++sender)
    plan.add({plan.connect(sender, to[sender], 0), chunk, Effect::copy});
  return plan;
}

}  // namespace

extern const Pattern permutation;
constinit const Pattern permutation{
    .name = "permutation",
    .summary = "every GPU sends to one other and receives from one other, drawn at random once for each number of GPUs",
    .source = "Sattolo, An Algorithm to Generate a Random Cyclic Permutation, Information Processing Letters 22, 1986",
    .flows = permutation_flows};

}  // namespace stepcast::collectives
