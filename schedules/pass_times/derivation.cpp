#include "schedules/pass_times/derivation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/units_text.h"

namespace stepcast::schedules {
namespace {

std::uint32_t count_of(std::span<const BlockRange> chunks, const Blocks& blocks, std::uint32_t kind) {
  std::uint32_t count = 0;
  for (const std::uint32_t place : places(chunks)) count += blocks.order[place] == kind ? 1u : 0u;
  return count;
}

}  // namespace

Derivation::Derivation(const Scenario& scenario, const collectives::Timer& timer, const Ranks& ranks,
                       const Blocks& blocks, const std::vector<PieceTimes::TimedPiece>& pieces, bool fold)
    : scenario_(scenario),
      timer_(timer),
      ranks_(ranks),
      blocks_(blocks),
      pieces_(pieces),
      traffic_(scenario, ranks, {}),
      fold_(fold) {
  for (std::size_t kind = 0; kind < pieces.size(); ++kind)
    split_.push_back(pieces[kind].shares.weight.empty() ? SplitBackward{}
                                                        : split_backward(blocks.kinds[kind].backward));
}

std::vector<Derivation::PassOf> Derivation::passes(std::size_t kind) const {
  const Block& block = blocks_.kinds[kind];
  const PieceShares& shares = pieces_[kind].shares;
  const bool split = !shares.weight.empty();
  std::vector<PassOf> all{{"forward", &block.forward, &shares.forward},
                          {"recompute", &block.recompute, &shares.recompute},
                          {"backward", split ? &split_[kind].inputs : &block.backward, &shares.backward}};
  if (split) all.push_back({"weight gradients", &split_[kind].weights, &shares.weight});
  std::erase_if(all, [](const PassOf& pass) { return pass.kernels->empty(); });
  return all;
}

PassLines Derivation::lines(const PassOf& pass, const KernelCost& cost) const {
  PassLines out{.pass = pass.name, .lines = {}};
  for (std::size_t i = 0; i < pass.kernels->size(); ++i) {
    const Kernel& kernel = (*pass.kernels)[i];
    PassLine& line = out.lines.emplace_back();
    line.name = name(kind(kernel));
    line.launches = launches(kernel);
    line.compute = (*pass.shares)[i].compute;
    line.exposed = (*pass.shares)[i].exposed_tensor;
    line.rating = cost.rating(kernel);
    if (const auto* op = std::get_if<TensorCollective>(&kernel)) {
      const collectives::Timing made = timing(*op);
      line.rating.source = fmt::format("{} alone: {}{}", text(made.duration), made.algorithm,
                                       made.protocol.empty() ? "" : " / " + made.protocol);
    }
    out.compute += line.compute;
    out.exposed += line.exposed;
  }
  return out;
}

std::vector<DerivedBlock> Derivation::blocks() const {
  std::vector<DerivedBlock> out;
  for (std::size_t kind = 0; kind < pieces_.size(); ++kind) {
    const Block& block = blocks_.kinds[kind];
    DerivedBlock& made =
        out.emplace_back(DerivedBlock{.name = block.name, .parameters = block.parameters, .saved = block.saved});
    for (const PassOf& pass : passes(kind)) made.passes.push_back(lines(pass, cost_of(scenario_, ranks_, block)));
  }
  return out;
}

std::vector<DerivedStage> Derivation::stages(std::span<const std::vector<BlockRange>> chunks,
                                             std::uint32_t micro_batches) const {
  std::vector<DerivedStage> out;
  for (std::uint32_t stage = 0; stage < chunks.size(); ++stage) {
    DerivedStage& made = out.emplace_back(DerivedStage{.stage = stage, .micro_batches = micro_batches});
    for (std::uint32_t kind = 0; kind < pieces_.size(); ++kind) {
      made.blocks.push_back(count_of(chunks[stage], blocks_, kind));
      const Piece& piece = pieces_[kind].piece;
      const std::int64_t runs = std::int64_t{made.blocks.back()} * micro_batches;
      made.compute += (piece.forward.compute + piece.backward.compute + piece.weight.compute) * runs;
      made.exposed +=
          (piece.forward.exposed_tensor + piece.backward.exposed_tensor + piece.weight.exposed_tensor) * runs;
    }
  }
  return out;
}

void Derivation::add_traffic(std::vector<KindOfTraffic>& traffic, std::uint32_t micro_batches) const {
  std::map<std::tuple<std::string, std::string, std::int64_t, std::uint32_t>, std::size_t> known;
  for (const std::uint32_t kind : blocks_.order) {
    for (const PassOf& pass : passes(kind)) {
      for (const Kernel& kernel : *pass.kernels) {
        const auto* op = std::get_if<TensorCollective>(&kernel);
        if (op == nullptr || op->bytes == Bytes{}) continue;
        const workload::Communication made = traffic_.communication(*op);
        const auto ranks =
            made.collectives.empty() ? 0u : static_cast<std::uint32_t>(made.collectives.front().groups->front().size());
        const std::string of(name(schedules::kind(kernel))), operation(collectives::name(op->operation));
        const auto [at, fresh] = known.try_emplace({of, operation, op->bytes.value, ranks}, traffic.size());
        if (fresh) {
          const collectives::Timing took = timing(*op);
          KindOfTraffic& one = traffic.emplace_back(KindOfTraffic{.name = of, .operation = operation});
          one.algorithm = took.algorithm + (took.protocol.empty() ? "" : " / " + took.protocol);
          one.bytes = op->bytes;
          one.ranks = ranks;
          one.groups =
              made.collectives.empty() ? 0u : static_cast<std::uint32_t>(made.collectives.front().groups->size());
          one.alone = took.duration;
          one.inside_layers = true;
          if (took.duration > Time{} && ranks > 1)
            one.busbw = static_cast<double>(op->bytes.value) / to_seconds(took.duration) *
                        collectives::bus_factor(op->operation, ranks);
        }
        traffic[at->second].times += micro_batches;
      }
    }
  }
}

}  // namespace stepcast::schedules
