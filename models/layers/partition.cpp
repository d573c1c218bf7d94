#include "models/layers/partition.h"

#include <algorithm>
#include <span>
#include <utility>

#include "models/layers/as_double.h"

namespace stepcast::schedules {
namespace {

Partition partition_of(const Scenario& s) { return s.pipeline.partition.value_or(s.software.partition); }

bool ends_as_layers(const Scenario& s) { return s.pipeline.embedding_as_layer || s.pipeline.head_as_layer; }

std::uint32_t all_layers(const Scenario& s) { return static_cast<std::uint32_t>(s.model.layers); }

/// As many each of `layers` and of what counts as one; what is left over goes to chunks in the middle first, which have
/// nothing beside layers.
ChunkLayers evenly(std::uint32_t layers, bool before, bool after, std::uint32_t chunks) {
  const std::uint32_t counted = layers + before + after;
  std::vector<std::uint32_t> of_chunk(chunks, counted / chunks);
  for (std::uint32_t more = 0; more < counted % chunks; ++more) ++of_chunk[(more + 1) % chunks];
  of_chunk.front() -= before;
  of_chunk.back() -= after;
  return with_head_last(std::move(of_chunk));
}

/// How many of `weights` each part gets when the first parts take as many as fit under `most`, but leave one for each
/// part to come. Empty: they do not fit.
std::vector<std::uint32_t> filled(std::span<const double> weights, std::uint32_t parts, double most) {
  std::vector<std::uint32_t> counts;
  std::size_t next = 0;
  for (std::uint32_t part = 0; part < parts; ++part) {
    const std::size_t to_come = parts - part - 1;
    double sum = 0;
    std::uint32_t count = 0;
    while (next + to_come < weights.size() && (count == 0 || sum + weights[next] <= most)) {
      sum += weights[next++];
      ++count;
    }
    if (sum > most) return {};
    counts.push_back(count);
  }
  if (next < weights.size()) return {};
  return counts;
}

/// Consecutive items for each part, none empty, the heaviest part as light as possible: what DeepSpeed's
/// partition_balanced looks for (deepspeed/runtime/utils.py). Requires as many items as parts.
std::vector<std::uint32_t> balanced(std::span<const double> weights, std::uint32_t parts) {
  std::vector<double> sums;  // of all runs of items: the heaviest part is one of them
  for (std::size_t first = 0; first < weights.size(); ++first) {
    double sum = 0;
    for (std::size_t i = first; i < weights.size(); ++i) sums.push_back(sum += weights[i]);
  }
  std::ranges::sort(sums);
  const auto least =
      std::ranges::partition_point(sums, [&](double most) { return filled(weights, parts, most).empty(); });
  return filled(weights, parts, *least);
}

/// Counts of blocks as layers: the first and the last block are the embedding and the head.
ChunkLayers without_ends(std::vector<std::uint32_t> blocks) {
  --blocks.front();
  --blocks.back();
  return with_head_last(std::move(blocks));
}

/// nanotron gives blocks to a stage until what all stages so far hold exceeds their share of the multiplies: of the
/// embedding, each layer, the final norm, the head, the cast of its output, and the loss, in this order
/// (src/nanotron/models/base.py, build_model; src/nanotron/models/llama.py, get_block_compute_costs).
ChunkLayers by_cost(const Model& m, std::uint32_t chunks) {
  const double layer = d(4 * m.hidden * m.hidden + 3 * m.ffn * m.hidden), head = d(m.vocab * m.hidden);
  const double all = d(m.layers) * layer + head;
  ChunkLayers out{std::vector<std::uint32_t>(chunks), {}};
  std::uint32_t chunk = 0;
  double sum = 0;
  const auto put = [&](double cost) {
    const std::uint32_t here = chunk;
    sum += cost;
    if (chunk + 1 < chunks && sum > all * ((chunk + 1.0) / chunks)) ++chunk;
    return here;
  };
  put(0);
  for (std::int64_t i = 0; i < m.layers; ++i) ++out.layers[put(layer)];
  put(0);
  for (const double cost : {head, 0.0, 0.0}) out.behind.push_back(put(cost));
  return is_decoder(m.family) && m.mtp_layers == 0 ? out : with_head_last(std::move(out.layers));
}

}  // namespace

bool has_loss_block(const Scenario& s) {
  return partition_of(s) == Partition::cost && is_decoder(s.model.family) && s.model.mtp_layers == 0 &&
         s.parallelism.layers_per_stage.empty() && s.parallelism.pipeline > 1 && !ends_as_layers(s);
}

ChunkLayers share_out(const Scenario& s, const Blocks& blocks, std::uint32_t chunks) {
  if (!s.parallelism.layers_per_stage.empty()) return with_head_last(s.parallelism.layers_per_stage);
  const std::uint32_t layers = count_layers(blocks);
  const auto own_rule = [&] {
    if (ends_as_layers(s)) return evenly(layers, s.pipeline.embedding_as_layer, s.pipeline.head_as_layer, chunks);
    return evenly(layers, layers % chunks != 0, layers % chunks != 0, chunks);
  };
  if (ends_as_layers(s) || is_network(s.model.family)) return own_rule();
  switch (partition_of(s)) {
    case Partition::layers:
      break;
    case Partition::transformer:
      return with_head_last(balanced(std::vector<double>(layers, 1), chunks));
    case Partition::transformer_and_embedding:
      return without_ends(balanced(std::vector<double>(layers + 2, 1), chunks));
    case Partition::parameters: {
      std::vector<double> weights(1);
      for (std::uint32_t place = 0; place < blocks.order.size(); ++place) {
        const Block& block = blocks.at(place);
        // What is no layer belongs to the one before it, as in cut(), or to the head.
        if (block.layer || place + 1 == blocks.order.size())
          weights.push_back(block.parameters);
        else
          weights.back() += block.parameters;
      }
      return without_ends(balanced(weights, chunks));
    }
    case Partition::cost:
      return chunks == 1 ? own_rule() : by_cost(s.model, chunks);
  }
  return own_rule();
}

std::string partition_problem(const Scenario& s, std::uint32_t chunks) {
  const std::uint32_t layers = all_layers(s);
  const auto text = [](std::int64_t n) { return std::to_string(n); };
  const auto of = [&] { return " over " + text(chunks) + " model chunks"; };
  if (is_network(s.model.family))
    return layers % chunks == 0 ? "" : "model.layers " + text(layers) + " does not split evenly" + of();
  if (ends_as_layers(s)) {
    const std::uint32_t counted = layers + s.pipeline.embedding_as_layer + s.pipeline.head_as_layer;
    if (counted % chunks == 0) return "";
    return "model.layers " + text(layers) + (s.pipeline.embedding_as_layer ? " + embedding" : "") +
           (s.pipeline.head_as_layer ? " + head" : "") + " does not split evenly" + of();
  }
  switch (partition_of(s)) {
    case Partition::transformer:
      if (layers < chunks) return "model.layers " + text(layers) + " are too few to share out" + of();
      return "";
    case Partition::layers:
      if (layers % chunks == 0) return "";
      [[fallthrough]];
    case Partition::transformer_and_embedding:
    case Partition::parameters:
      if (layers + 2 < chunks)
        return "model.layers " + text(layers) + " + embedding and head are too few to share out" + of();
      return "";
    case Partition::cost: {
      if (chunks == 1) return "";
      const ChunkLayers shares = by_cost(s.model, chunks);
      for (std::uint32_t chunk = 0; chunk < chunks; ++chunk)
        if (shares.layers[chunk] == 0 && std::ranges::find(shares.behind, chunk) == shares.behind.end())
          return "chunk " + text(chunk) + " of " + text(chunks) + " would get no layer of the " + text(layers) +
                 " by their cost, which the stack's partition goes by";
      return "";
    }
  }
  return "";
}

}  // namespace stepcast::schedules
