#include "schedules/pass_times/derivation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "models/cost/elementwise.h"
#include "models/cost/fused_attention.h"
#include "sim/units_text.h"

namespace stepcast::schedules {
namespace {

/// What a kernel is, and which rate of the machine it is rated at.
class KernelLine {
 public:
  KernelLine(const Scenario& scenario, PassLine& line) : s_(scenario), gpu_(scenario.cluster.gpu), line_(line) {}

  void operator()(const Gemm& k) const {
    line_.bytes = static_cast<double>(k.shape.batch) *
                  (static_cast<double>(k.shape.m + k.shape.n) * static_cast<double>(k.shape.k) * k.shape.input_bytes +
                   static_cast<double>(k.shape.m * k.shape.n * k.shape.output_bytes));
    multiply(k.shape, k.low_precision ? s_.training.precision : beside_low_precision(s_.training.precision));
  }
  void operator()(const Convolution& k) const {
    line_.bytes = k.read + static_cast<double>(k.shape.m * k.shape.n * k.shape.batch * k.shape.output_bytes);
    multiply(k.shape, s_.training.precision);
  }
  void operator()(const Elementwise& k) const {
    const std::optional<double> measured = k.kernels <= 2 ? measured_share(gpu_, k) : std::nullopt;
    line_.bytes = k.bytes;
    line_.rated = gpu_.memory_bandwidth.value;
    line_.by_bytes = true;
    line_.shape = k.kernels > 1 ? fmt::format("{} kernels", k.kernels) : "";
    line_.source = measured ? "gpu.memory.bandwidth x measured share (gpu.elementwise)"
                            : "gpu.memory.bandwidth x software.elementwise_efficiency";
  }
  void operator()(const FusedAttention& k) const {
    const Precision precision = k.low_precision ? s_.training.precision : beside_low_precision(s_.training.precision);
    line_.flops = k.model_flops() - k.skipped_flops();
    line_.rated = peak(gpu_, precision).value;
    line_.shape = fmt::format("{:.0f} rows of scores{}", k.query_rows,
                              !k.causal      ? ""
                              : k.window < 1 ? ", causal: all outside a window is skipped"
                                             : ", causal: half is skipped");
    line_.source = fmt::format("gpu.peak.{} x gpu.attention.{}", name(precision), k.backward ? "backward" : "forward");
  }
  void operator()(const TensorCollective& k) const {
    line_.bytes = static_cast<double>(k.bytes.value);
    line_.by_bytes = true;
    line_.shape = std::string(collectives::name(k.operation)) + (k.under_next ? ", under the next kernel" : "");
  }

 private:
  void multiply(const GemmShape& shape, Precision precision) const {
    line_.flops = shape.flops().value;
    line_.rated = peak(gpu_, precision).value;
    line_.shape = fmt::format("{} x {} x {}", shape.m, shape.k, shape.n);
    if (shape.batch > 1) line_.shape = fmt::format("{} times {}", shape.batch, line_.shape);
    line_.source = fmt::format("gpu.peak.{} x tiles, waves and power (gpu.gemm)", name(precision));
  }

  const Scenario& s_;
  const Gpu& gpu_;
  PassLine& line_;
};

std::uint32_t count_of(std::span<const BlockRange> chunks, const Blocks& blocks, std::uint32_t kind) {
  std::uint32_t count = 0;
  for (const std::uint32_t place : places(chunks)) count += blocks.order[place] == kind ? 1u : 0u;
  return count;
}

}  // namespace

Derivation::Derivation(const Scenario& scenario, const collectives::Timer& timer, const Ranks& ranks,
                       const Blocks& blocks, const std::vector<PieceTimes::TimedPiece>& pieces, bool fold)
    : scenario_(scenario), timer_(timer), blocks_(blocks), pieces_(pieces), traffic_(scenario, ranks, {}), fold_(fold) {
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

PassLines Derivation::lines(const PassOf& pass) const {
  PassLines out{.pass = pass.name, .lines = {}};
  for (std::size_t i = 0; i < pass.kernels->size(); ++i) {
    const Kernel& kernel = (*pass.kernels)[i];
    PassLine& line = out.lines.emplace_back();
    line.name = name(kind(kernel));
    line.launches = launches(kernel);
    line.compute = (*pass.shares)[i].compute;
    line.exposed = (*pass.shares)[i].exposed_tensor;
    std::visit(KernelLine(scenario_, line), kernel);
    if (const auto* op = std::get_if<TensorCollective>(&kernel)) {
      const collectives::Timing made = timing(*op);
      line.source = fmt::format("{} alone: {}{}", text(made.duration), made.algorithm,
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
    for (const PassOf& pass : passes(kind)) made.passes.push_back(lines(pass));
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
