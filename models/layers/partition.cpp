#include "models/layers/partition.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "models/layers/as_double.h"

namespace stepcast::schedules {
namespace {

/// Steps of balanced(), some seconds.
constexpr double kMostBalanced = 2e9;

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

/// The first parts get one more where items do not divide. DeepSpeed's partition_balanced makes this of equal weights.
std::vector<std::uint32_t> equal_items(std::uint32_t items, std::uint32_t parts) {
  std::vector<std::uint32_t> counts(parts, items / parts);
  for (std::uint32_t more = 0; more < items % parts; ++more) ++counts[more];
  return counts;
}

/// What the heaviest and the lightest of some parts weigh.
struct Balance {
  double heaviest, lightest;
  double spread() const { return heaviest - lightest; }
};

/// Consecutive items for each part, none empty, the heaviest part as little heavier than the lightest as can be: what
/// DeepSpeed's partition_balanced looks for since its pull request 4312 of 2024 (deepspeed/runtime/utils.py). It goes
/// on from the best way to share out fewer items to fewer parts, and among equal ways its last part is the shortest.
/// Requires as many items as parts. O(items^2 parts).
std::vector<std::uint32_t> balanced(std::span<const double> weights, std::uint32_t parts) {
  const auto items = static_cast<std::uint32_t>(weights.size());
  std::vector<double> before(1);  // what all items before one weigh
  for (const double weight : weights) before.push_back(before.back() + weight);
  std::vector<Balance> fewer;  // by the number of items that one part less shares
  for (std::uint32_t end = 0; end <= items; ++end) fewer.push_back({before[end], before[end]});
  std::vector<std::vector<std::uint32_t>> starts(parts);  // of the last of some parts, by the items that they share
  for (std::uint32_t part = 1; part < parts; ++part) {
    std::vector<Balance> best(fewer.size());
    starts[part].resize(fewer.size());
    for (std::uint32_t end = part + 1; end <= items; ++end)
      for (std::uint32_t start = part; start < end; ++start) {
        const double last = before[end] - before[start];
        const Balance here{std::max(fewer[start].heaviest, last), std::min(fewer[start].lightest, last)};
        if (start > part && here.spread() > best[end].spread()) continue;
        best[end] = here;
        starts[part][end] = start;
      }
    fewer = std::move(best);
  }
  std::vector<std::uint32_t> counts(parts);
  std::uint32_t end = items;
  for (std::uint32_t part = parts; part-- > 0;) {
    const std::uint32_t start = part == 0 ? 0 : starts[part][end];
    counts[part] = end - start;
    end = start;
  }
  return counts;
}

/// As the scenario says. Where it counts layers of multi-token prediction too, they are the last of these.
ChunkLayers given_layers(const Scenario& s) {
  ChunkLayers out = with_head_last(s.parallelism.layers_per_stage);
  if (!places_mtp_layers(s)) return out;
  out.behind.clear();
  auto left = static_cast<std::uint32_t>(s.model.mtp_layers);
  for (auto chunk = static_cast<std::uint32_t>(out.layers.size()); chunk-- > 0;) {
    const std::uint32_t here = std::min(out.layers[chunk], left);
    out.layers[chunk] -= here;
    left -= here;
    out.behind.insert(out.behind.begin(), std::size_t{2} * here, chunk);  // input and layer; heads are with the model's
  }
  out.behind.push_back(static_cast<std::uint32_t>(out.layers.size() - 1));
  return out;
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

bool places_mtp_layers(const Scenario& s) {
  const std::vector<std::uint32_t>& given = s.parallelism.layers_per_stage;
  return s.model.mtp_layers > 0 && std::accumulate(given.begin(), given.end(), std::int64_t{0}) > s.model.layers;
}

bool has_loss_block(const Scenario& s) {
  return partition_of(s) == Partition::cost && is_decoder(s.model.family) && s.model.mtp_layers == 0 &&
         s.parallelism.layers_per_stage.empty() && s.parallelism.pipeline > 1 && !ends_as_layers(s);
}

ChunkLayers share_out(const Scenario& s, const Blocks& blocks, std::uint32_t chunks) {
  if (!s.parallelism.layers_per_stage.empty()) return given_layers(s);
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
      return with_head_last(equal_items(layers, chunks));
    case Partition::transformer_and_embedding:
      return without_ends(equal_items(layers + 2, chunks));
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
      if (partition_of(s) == Partition::parameters && d(layers) * d(layers) * d(chunks - 1) > kMostBalanced)
        return "model.layers " + text(layers) + " are too many to balance by their parameters" + of();
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
