#include "models/layers/blocks.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace stepcast::schedules {
namespace {

/// Sum of `count` over the kernels of all blocks, forward and backward.
double of_all_passes(const Blocks& blocks, double (*count)(const Kernel&)) {
  std::vector<double> of_kind;
  for (const Block& block : blocks.kinds) {
    double& sum = of_kind.emplace_back(0);
    for (const Kernels* pass : {&block.forward, &block.backward})
      for (const Kernel& kernel : *pass) sum += count(kernel);
  }
  double all = 0;
  for (const std::uint32_t kind : blocks.order) all += of_kind[kind];
  return all;
}

}  // namespace

std::uint32_t count_layers(const Blocks& blocks) {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(blocks.order, [&](std::uint32_t kind) { return blocks.kinds[kind].layer; }));
}

std::uint32_t tied_place(const Blocks& blocks) {
  if (blocks.tied_place) return *blocks.tied_place;
  for (auto place = static_cast<std::uint32_t>(blocks.order.size()); place-- > 0;)
    if (blocks.at(place).parameters > 0) return place;
  return static_cast<std::uint32_t>(blocks.order.size() - 1);
}

std::optional<std::uint32_t> tied_stage(const Blocks& blocks, std::span<const std::vector<BlockRange>> stages) {
  if (blocks.tied == 0 || !blocks.trains_tied) return std::nullopt;
  const std::uint32_t place = tied_place(blocks);
  const auto has_copy = [&](const std::vector<BlockRange>& chunks) {
    return std::ranges::any_of(
        chunks, [&](const BlockRange& chunk) { return chunk.first <= place && place < chunk.first + chunk.count; });
  };
  const auto stage = static_cast<std::uint32_t>(std::ranges::find_if(stages, has_copy) - stages.begin());
  return stage == 0 ? std::nullopt : std::optional(stage);
}

ChunkLayers with_head_last(std::vector<std::uint32_t> layers) {
  const auto last = static_cast<std::uint32_t>(layers.size() - 1);
  return {std::move(layers), {last}};
}

std::vector<BlockRange> cut(const Blocks& blocks, std::uint32_t chunks) {
  return cut(blocks, with_head_last(std::vector<std::uint32_t>(chunks, count_layers(blocks) / chunks)));
}

std::vector<BlockRange> cut(const Blocks& blocks, const ChunkLayers& shares) {
  const std::vector<std::uint32_t>& layers = shares.layers;
  std::vector<BlockRange> cuts(layers.size());
  std::uint32_t chunk = 0, left = layers[0], to_come = std::accumulate(layers.begin(), layers.end(), 0u);
  const auto begin_next = [&](std::uint32_t place) {
    cuts[++chunk].first = place;
    left = layers[chunk];
  };
  std::size_t behind = 0;  // the last layer: so many blocks so far
  for (std::uint32_t place = 0; place < blocks.order.size(); ++place) {
    if (blocks.at(place).layer) {
      while (left == 0) begin_next(place);
      --left;
      --to_come;
    } else if (to_come == 0) {
      while (chunk < shares.behind[std::min(behind, shares.behind.size() - 1)]) begin_next(place);
      ++behind;
    }
    ++cuts[chunk].count;
  }
  return cuts;
}

double parameters(const Blocks& blocks, std::span<const BlockRange> chunks) {
  double n = 0;
  bool first = false, copy = false;
  const std::uint32_t copy_at = tied_place(blocks);
  for (const std::uint32_t place : places(chunks)) {
    n += blocks.at(place).parameters;
    first = first || place == 0;
    copy = copy || place == copy_at;
  }
  return first && copy ? n - blocks.tied : n;
}

double expert_parameters(const Blocks& blocks, std::span<const BlockRange> chunks) {
  double n = 0;
  for (const std::uint32_t place : places(chunks)) n += blocks.at(place).expert_parameters;
  return n;
}

Flops model_flops(const Blocks& blocks) { return {of_all_passes(blocks, model_flops)}; }

Flops skipped_flops(const Blocks& blocks) { return {of_all_passes(blocks, skipped_flops)}; }

}  // namespace stepcast::schedules
