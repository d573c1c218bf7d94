#include "search/layouts/layout_unit.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>
#include <variant>

namespace stepcast::search {

using namespace schedules;

std::span<const Kernel> forward_of(const Block& block, std::uint32_t place) {
  const std::size_t begin = block.operators[place].forward;
  const std::size_t end =
      place + 1 < block.operators.size() ? block.operators[place + 1].forward : block.forward.size();
  return std::span(block.forward).subspan(begin, end - begin);
}

std::span<const Kernel> backward_of(const Block& block, std::uint32_t place) {
  const std::size_t all = block.backward.size(), begin = block.operators[place].backward;
  const std::size_t end = place + 1 < block.operators.size() ? block.operators[place + 1].backward : all;
  return std::span(block.backward).subspan(all - end, end - begin);
}

std::span<const SavedTensor> saved_of(const Block& block, std::uint32_t place) {
  const std::size_t begin = block.operators[place].saved;
  const std::size_t end =
      place + 1 < block.operators.size() ? block.operators[place + 1].saved : block.saved_tensors.size();
  return std::span(block.saved_tensors).subspan(begin, end - begin);
}

namespace {

double as_count(std::int64_t n) { return static_cast<double>(n); }

// Every kind of operator stands in one of these three lists; for how they decide, see kind_of().

/// Operators that need all features of a token.
constexpr auto by_token_kinds() {
  using enum OperatorKind;
  return std::array{layer_norm,    rms_norm,      experts_input,    router,          expert_choice,
                    expert_counts, expert_copies, experts_dispatch, experts_combine, experts_sum};
}

/// Operators of attention's core.
constexpr auto attention_kinds() {
  using enum OperatorKind;
  return std::array{
      query_key_norm, head_gradients,    rotary_positions, attention_scores, relative_positions, alibi,
      softmax,        attention_dropout, attention_values, head_join,        key_value_copies,   fused_attention,
      attention_gate, short_convolution, chunk_scan,       gated_norm};
}

/// Operators that are what their kernels are: a multiply, a convolution, or elementwise.
constexpr auto kinds_by_kernels() {
  using enum OperatorKind;
  return std::array{other,
                    embedding,
                    embedding_projection,
                    mtp_join,
                    mtp_projection,
                    positions,
                    segments,
                    embedding_dropout,
                    patches,
                    class_token,
                    head_projection,
                    logits,
                    logit_metrics,
                    logit_cast,
                    cross_entropy,
                    pooler,
                    tanh,
                    next_sentence,
                    masked_words,
                    classes,
                    residual_branch,
                    bias,
                    residual,
                    bias_dropout_residual,
                    halves_sum,
                    query_key_value,
                    attention_projection,
                    latent_input,
                    queries,
                    queries_down,
                    queries_up,
                    keys_values_down,
                    keys_values_up,
                    low_rank_norm,
                    latent_join,
                    cross_queries,
                    cross_keys_values,
                    cross_projection,
                    encoder_output,
                    mixer_in,
                    mixer_out,
                    feed_forward_in,
                    gelu,
                    relu,
                    squared_relu,
                    swiglu,
                    geglu,
                    feed_forward_out,
                    adapter,
                    experts_narrow,
                    experts_wide,
                    experts_in,
                    experts_out,
                    shared_experts_sum,
                    checkpoint_gather,
                    collective_copy,
                    sequence_parts,
                    cast,
                    weight_cast,
                    cast_transpose,
                    product_scale,
                    convolution,
                    linear,
                    batch_norm,
                    dropout,
                    pool,
                    branches,
                    join,
                    gemm,
                    elementwise,
                    optimizer};
}

/// Whether each kind of operator stands in one of the lists, and in no other.
constexpr bool are_all_told() {
  std::array<int, kOperatorNames.size()> lists{};
  for (const OperatorKind kind : by_token_kinds()) ++lists[static_cast<std::size_t>(kind)];
  for (const OperatorKind kind : attention_kinds()) ++lists[static_cast<std::size_t>(kind)];
  for (const OperatorKind kind : kinds_by_kernels()) ++lists[static_cast<std::size_t>(kind)];
  return std::ranges::all_of(lists, [](int count) { return count == 1; });
}
static_assert(are_all_told(), "a new kind of operator belongs into one of the three lists above");

/// What a unit is by one of its kernels; none: elementwise, if no other of its kernels says more. Each kernel has an
/// overload: a new one does not compile before somebody says what it makes of its unit.
struct KindByKernel {
  std::optional<UnitKind> operator()(const Gemm&) const { return UnitKind::multiply; }
  std::optional<UnitKind> operator()(const Convolution&) const { return UnitKind::convolution; }
  std::optional<UnitKind> operator()(const ChunkProducts&) const { return UnitKind::attention; }
  std::optional<UnitKind> operator()(const Elementwise&) const { return std::nullopt; }
  std::optional<UnitKind> operator()(const FusedAttention&) const { return UnitKind::attention; }
  std::optional<UnitKind> operator()(const TensorCollective&) const {
    return std::nullopt;
  }  // an unsplit model has none
};

UnitKind kind_of(const Block& block, std::uint32_t place) {
  const OperatorKind kind = block.operators[place].kind;
  const auto is_in = [&](const auto& kinds) { return std::ranges::find(kinds, kind) != kinds.end(); };
  static constexpr auto kByToken = by_token_kinds();
  static constexpr auto kOfAttention = attention_kinds();
  if (is_in(kByToken)) return UnitKind::by_token;
  if (is_in(kOfAttention)) return UnitKind::attention;
  if (kind == OperatorKind::embedding && !forward_of(block, place).empty()) return UnitKind::embedding;
  for (const Kernel& kernel : forward_of(block, place))
    if (const std::optional<UnitKind> told = std::visit(KindByKernel{}, kernel)) return *told;
  return UnitKind::elementwise;
}

/// Puts the operators of a block into units.
class UnitsOfBlock {
 public:
  UnitsOfBlock(const Block& block, const Scenario& s, BlockBoundary input) : block_(block), s_(s), input_(input) {
    const auto operators = static_cast<std::uint32_t>(block.operators.size());
    for (std::uint32_t place = 0; place < operators; ++place) {
      std::vector<std::uint32_t>& read = read_.emplace_back();
      for (const OperatorInput& one : block.inputs)
        if (one.reader == place) read.push_back(one.of);
      if (read.empty()) read.push_back(place == 0 ? kListInput : place - 1);
    }
    readers_.resize(operators);
    for (const auto& read : read_)
      for (const std::uint32_t of : read)
        if (of != kListInput) ++readers_[of];
    for (std::uint32_t place = 0; place < operators; ++place) add(place);
    for (LayoutUnit& unit : out_.units) unit.out_bytes = unit.made_bytes;
    for (const UnitInput& one : out_.inputs) tell_width(one);
  }

  BlockUnits take() { return std::move(out_); }

 private:
  bool follows(const LayoutUnit& unit, std::uint32_t place, UnitKind kind) const {
    if (read_[place] != std::vector{place - 1} || readers_[place - 1] != 1) return false;
    return kind == UnitKind::elementwise ||
           (kind == unit.kind && (kind == UnitKind::by_token || kind == UnitKind::attention));
  }

  void add(std::uint32_t place) {
    const UnitKind kind = kind_of(block_, place);
    if (place > 0 && follows(out_.units.back(), place, kind)) {
      ++out_.units.back().count;
      unit_of_.push_back(unit_of_.back());
      if (block_.operators[place].kind == OperatorKind::experts_sum) out_.units.back().made_bytes = block_.output;
      return;
    }
    LayoutUnit unit{.kind = kind, .first = place, .count = 1};
    const auto number = static_cast<std::uint32_t>(out_.units.size());
    std::optional<BlockBoundary> from;
    for (const std::uint32_t of : read_[place]) {
      const BlockBoundary one = of == kListInput ? input_ : result(out_.units[unit_of_[of]]);
      if (!from) from = one;
      if (of == kListInput)
        out_.entries.push_back(number);
      else
        out_.inputs.push_back({number, unit_of_[of]});
    }
    set_sizes(unit, *from);
    unit_of_.push_back(number);
    out_.units.push_back(unit);
  }

  static BlockBoundary result(const LayoutUnit& unit) { return {unit.made_bytes, unit.out_features}; }

  void set_sizes(LayoutUnit& unit, BlockBoundary from) const {
    unit.in_bytes = unit.made_bytes = from.bytes;
    unit.in_features = unit.out_features = from.features;
    if (unit.kind == UnitKind::embedding) {
      unit.made_bytes = block_.output;
      unit.in_features = unit.out_features = s_.model.hidden;
    }
    for (const Kernel& kernel : forward_of(block_, unit.first)) {
      if (const auto* gemm = std::get_if<Gemm>(&kernel); gemm != nullptr && unit.kind == UnitKind::multiply) {
        const GemmShape& shape = gemm->shape;
        const double element = static_cast<double>(shape.output_bytes) * as_count(shape.m * shape.batch);
        unit.in_bytes = element * as_count(shape.k);
        unit.made_bytes = element * as_count(shape.n);
        unit.experts = shape.batch;
        unit.out_features = features_made(block_.operators[unit.first].kind, shape.n);
        return;
      }
      if (const auto* convolution = std::get_if<Convolution>(&kernel)) {
        const GemmShape& shape = convolution->shape;
        unit.in_bytes = convolution->read - block_.operators[unit.first].parameters * shape.input_bytes;
        unit.made_bytes = static_cast<double>(shape.output_bytes) * as_count(shape.m * shape.n * shape.batch);
        unit.groups = shape.batch;
        unit.out_features = shape.n * shape.batch;
        return;
      }
    }
  }

  /// Heads are not split, and a gate stays with its half.
  std::int64_t features_made(OperatorKind kind, std::int64_t columns) const {
    if (kind == OperatorKind::query_key_value) return std::gcd(s_.model.heads, kv_heads(s_.model));
    const bool is_in = kind == OperatorKind::feed_forward_in || kind == OperatorKind::experts_in;
    const bool gated = kind == OperatorKind::experts_in || is_gated(layer_style(s_.model).activation);
    return is_in && gated ? columns / 2 : columns;
  }

  /// What follows a multiply elementwise may change its width: the next multiply says what comes to it.
  void tell_width(UnitInput one) {
    const LayoutUnit& reader = out_.units[one.reader];
    if (reader.kind == UnitKind::multiply || reader.kind == UnitKind::convolution)
      out_.units[one.of].out_bytes = reader.in_bytes;
  }

  const Block& block_;
  const Scenario& s_;
  const BlockBoundary input_;
  std::vector<std::vector<std::uint32_t>> read_;  ///< by operator
  std::vector<std::uint32_t> readers_;            ///< how many each has
  std::vector<std::uint32_t> unit_of_;            ///< by operator
  BlockUnits out_;
};

}  // namespace

BlockUnits layout_units(const Block& block, const Scenario& scenario, BlockBoundary input) {
  return UnitsOfBlock(block, scenario, input).take();
}

BlockBoundary result_of(const BlockUnits& units) {
  return {units.units.back().out_bytes, units.units.back().out_features};
}

}  // namespace stepcast::search
