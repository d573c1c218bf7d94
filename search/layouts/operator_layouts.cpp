#include "search/layouts/operator_layouts.h"

#include <algorithm>
#include <optional>
#include <span>

#include "models/cost/optimizer.h"
#include "models/cost/pass.h"
#include "models/layers/make_block.h"
#include "schedules/pass_times/chunks.h"
#include "schedules/plan/memory.h"
#include "search/layouts/split_kernel.h"
#include "sim/whole_bytes.h"

namespace stepcast::search {

using namespace schedules;

namespace {

using collectives::Operation;

/// What a split of work leaves of the tensors that are read and made.
struct WorkTensors {
  SharedDimension in{}, out{};
};

WorkTensors tensors_of(WorkSplit work) {
  switch (work) {
    case WorkSplit::nothing:
      return {SharedDimension::nothing, SharedDimension::nothing};
    case WorkSplit::samples:
      return {SharedDimension::samples, SharedDimension::samples};
    case WorkSplit::tokens:
      return {SharedDimension::tokens, SharedDimension::tokens};
    case WorkSplit::columns:
      return {SharedDimension::nothing, SharedDimension::features};
    case WorkSplit::gathered_columns:
      return {SharedDimension::tokens, SharedDimension::features};
    case WorkSplit::inner:
      return {SharedDimension::features, SharedDimension::nothing};
    case WorkSplit::scattered_inner:
      return {SharedDimension::features, SharedDimension::tokens};
    case WorkSplit::features:
      return {SharedDimension::features, SharedDimension::features};
    case WorkSplit::experts:
      break;
  }
  return {SharedDimension::experts, SharedDimension::experts};
}

constexpr std::array kWorkSplits = {WorkSplit::nothing,         WorkSplit::samples,          WorkSplit::tokens,
                                    WorkSplit::columns,         WorkSplit::gathered_columns, WorkSplit::inner,
                                    WorkSplit::scattered_inner, WorkSplit::features,         WorkSplit::experts};

bool is_of_tokens(WorkSplit work) {
  return work == WorkSplit::tokens || work == WorkSplit::gathered_columns || work == WorkSplit::scattered_inner;
}

/// Asks of an axis whether it splits work in one way.
auto is(WorkSplit which) {
  return [which](WorkSplit work) { return work == which; };
}

/// What operators of a kind can be shared by.
bool can_share(const LayoutUnit& unit, WorkSplit work) {
  if (work == WorkSplit::nothing || work == WorkSplit::samples) return true;
  switch (unit.kind) {
    case UnitKind::multiply:
      if (work == WorkSplit::experts) return unit.experts > 1;
      return work != WorkSplit::features;
    case UnitKind::convolution:
      if (unit.groups > 1) return work == WorkSplit::features;
      return work == WorkSplit::columns || work == WorkSplit::inner;
    case UnitKind::attention:
      return work == WorkSplit::features;
    case UnitKind::embedding:
      return work == WorkSplit::tokens || work == WorkSplit::features;
    case UnitKind::by_token:
      return work == WorkSplit::tokens;
    case UnitKind::elementwise:
      break;
  }
  return work == WorkSplit::tokens || work == WorkSplit::features;
}

/// Tokens of a sample; 1: it has none.
std::int64_t tokens_of_sample(const Scenario& s) {
  if (is_network(s.model.family)) return 1;
  return s.model.family == Family::vit ? patches(s.model) + 1 : s.training.sequence;
}

/// The times and bytes of one unit on one mesh.
class UnitCost {
 public:
  UnitCost(const BlockContext& context, const LayoutUnit& unit, const Mesh& mesh)
      : s_(context.scenario),
        block_(context.block),
        splits_tokens_(context.splits_tokens),
        message_(context.message),
        unit_(unit),
        mesh_(mesh),
        cost_(cost_of(s_)) {}

  std::vector<UnitLayout> all() const {
    std::vector<UnitLayout> layouts;
    for (const WorkSplit down : kWorkSplits)
      for (const WorkSplit along : kWorkSplits)
        if (is_possible({down, along})) add(layouts, layout({down, along}));
    return layouts;
  }

 private:
  using Work = std::array<WorkSplit, kMeshAxes>;

  std::int64_t ways(std::size_t axis) const { return axis == 0 ? mesh_.shape().rows : mesh_.shape().columns; }
  /// Among how many devices some kinds of work are shared.
  template <class Counts>
  std::int64_t ways_of(const Work& work, const Counts& counts) const {
    std::int64_t all = 1;
    for (std::size_t axis = 0; axis < kMeshAxes; ++axis)
      if (counts(work[axis])) all *= ways(axis);
    return all;
  }
  std::int64_t ways_of_tensor(const TensorLayout& tensor) const {
    std::int64_t all = 1;
    for (std::size_t axis = 0; axis < kMeshAxes; ++axis)
      if (tensor[axis] != SharedDimension::nothing) all *= ways(axis);
    return all;
  }

  bool is_possible(const Work& work) const {
    for (std::size_t axis = 0; axis < kMeshAxes; ++axis) {
      if (ways(axis) == 1 && work[axis] != WorkSplit::nothing) return false;
      if (!can_share(unit_, work[axis]) || (is_of_tokens(work[axis]) && !splits_tokens_)) return false;
    }
    const auto divides = [&](std::int64_t whole, const auto& counts) { return whole % ways_of(work, counts) == 0; };
    return divides(s_.training.micro_batch, [](WorkSplit w) { return w == WorkSplit::samples; }) &&
           divides(tokens_of_sample(s_), is_of_tokens) &&
           divides(unit_.out_features, [](WorkSplit w) { return tensors_of(w).out == SharedDimension::features; }) &&
           divides(unit_.in_features, [](WorkSplit w) { return tensors_of(w).in == SharedDimension::features; }) &&
           divides(unit_.experts, [](WorkSplit w) { return w == WorkSplit::experts; }) &&
           (unit_.kind != UnitKind::convolution || unit_.groups == 1 ||
            divides(unit_.groups, [](WorkSplit w) { return w == WorkSplit::features; }));
  }

  DimensionSplit dimensions(const Work& work) const {
    return {
        .rows = ways_of(work, [](WorkSplit w) { return w == WorkSplit::samples || w == WorkSplit::tokens; }),
        .columns =
            ways_of(work, [](WorkSplit w) { return w == WorkSplit::columns || w == WorkSplit::gathered_columns; }),
        .inner = ways_of(work, [](WorkSplit w) { return w == WorkSplit::inner || w == WorkSplit::scattered_inner; }),
        .batch = ways_of(work, [](WorkSplit w) { return w == WorkSplit::experts || w == WorkSplit::features; })};
  }

  UnitLayout layout(const Work& work) const {
    UnitLayout out{.work = work};
    for (std::size_t axis = 0; axis < kMeshAxes; ++axis) {
      out.in[axis] = tensors_of(work[axis]).in;
      out.out[axis] = tensors_of(work[axis]).out;
    }
    const DimensionSplit split = dimensions(work);
    double parameters = 0;
    for (std::uint32_t place = unit_.first; place < unit_.first + unit_.count; ++place) {
      add_saved(out, place);
      parameters += owned(out, split, place);
    }
    // A network's operators save what they make, none its block's input.
    if (repeats_block() && is_network(s_.model.family) && unit_.first == 0)
      out.saved += block_.saved / static_cast<double>(ways_of_tensor(out.in));
    add_passes(out, split);
    add_weights(out, split, parameters);
    return out;
  }

  /// Whether an operator is the multiply with a weight that its unit begins with.
  bool is_weighted(std::uint32_t place) const {
    return place == unit_.first && (unit_.kind == UnitKind::multiply || unit_.kind == UnitKind::convolution);
  }

  Kernel part(const Kernel& kernel, const UnitLayout& layout, const DimensionSplit& split, std::uint32_t place,
              bool backward) const {
    if (!is_weighted(place)) return shared(kernel, ways_of_tensor(layout.out));
    return of_multiply(kernel, backward, split, block_.operators[place].parameters * element());
  }

  /// Sums and gathers of activations around a multiply: Megatron-LM's f and g (Shoeybi et al. 2019, arXiv 1909.08053,
  /// sec. 3), and with tokens split their counterparts (Korthikanti et al. 2022, arXiv 2205.05198, sec. 4.2.2), along
  /// any axis.
  void add_forward(Kernels& pass, const UnitLayout& layout, const DimensionSplit& split, std::uint32_t place) const {
    if (is_weighted(place))
      exchange(pass, layout.work, is(WorkSplit::gathered_columns), Operation::all_gather, read_bytes(split));
    for (const Kernel& kernel : forward_of(block_, place)) pass.push_back(part(kernel, layout, split, place, false));
    if (!is_weighted(place)) return;
    exchange(pass, layout.work, is(WorkSplit::inner), Operation::all_reduce, made_bytes(split));
    exchange(pass, layout.work, is(WorkSplit::scattered_inner), Operation::reduce_scatter, made_bytes(split));
  }

  /// Where the software overlaps, what comes before a multiply runs under it.
  void add_backward(Kernels& pass, const UnitLayout& layout, const DimensionSplit& split, std::uint32_t place) const {
    const bool overlaps = hides_under_weight_gradients(s_);
    if (is_weighted(place)) {
      exchange(pass, layout.work, is(WorkSplit::scattered_inner), Operation::all_gather, made_bytes(split));
      exchange(pass, layout.work, is(WorkSplit::gathered_columns), Operation::all_gather, read_bytes(split), overlaps);
    }
    for (const Kernel& kernel : backward_of(block_, place)) {
      pass.push_back(part(kernel, layout, split, place, true));
      if (!is_weighted(place) || !makes_input_gradient(kernel)) continue;
      exchange(pass, layout.work, is(WorkSplit::columns), Operation::all_reduce, read_bytes(split), overlaps);
      exchange(pass, layout.work, is(WorkSplit::gathered_columns), Operation::reduce_scatter, read_bytes(split),
               overlaps);
    }
  }

  void add_passes(UnitLayout& out, const DimensionSplit& split) const {
    Kernels forward, repeated, backward;
    for (std::uint32_t place = unit_.first; place < unit_.first + unit_.count; ++place) {
      add_forward(forward, out, split, place);
      if (is_repeated(block_.operators[place])) add_forward(repeated, out, split, place);
    }
    for (std::uint32_t place = unit_.first + unit_.count; place-- > unit_.first;)
      add_backward(backward, out, split, place);
    out.forward = time_of(forward);
    out.recomputed = time_of(repeated);
    out.backward = time_of(backward);
  }

  /// A transformer's multiplies save what they read, all else what it makes.
  void add_saved(UnitLayout& out, std::uint32_t place) const {
    const Operator& op = block_.operators[place];
    const bool as_read = is_weighted(place) && unit_.kind == UnitKind::multiply && op.kind != OperatorKind::linear;
    const auto parts = static_cast<double>(ways_of_tensor(as_read ? out.in : out.out));
    for (const SavedTensor& tensor : saved_of(block_, place))
      (is_kept(tensor) ? out.saved : out.working) += tensor.bytes / parts;
    out.working += op.gradients / parts;
  }

  /// Of the parameters of an operator, those of one device.
  double owned(const UnitLayout& out, const DimensionSplit& split, std::uint32_t place) const {
    std::int64_t owners = split.columns * split.inner * split.batch;
    if (!is_weighted(place)) {
      owners = 1;
      for (std::size_t axis = 0; axis < kMeshAxes; ++axis)
        if (out.out[axis] == SharedDimension::features || out.out[axis] == SharedDimension::experts)
          owners *= ways(axis);
    }
    return block_.operators[place].parameters / static_cast<double>(owners);
  }

  bool repeats_block() const { return s_.recompute == Recompute::full && !block_.recompute.empty(); }
  bool is_repeated(const Operator& op) const {
    return repeats_block() || (block_.layer && overlap(op.modules, repeated_modules(s_)));
  }
  bool is_kept(const SavedTensor& tensor) const {
    if (repeats_block())
      return !is_network(s_.model.family) && &tensor == block_.saved_tensors.data();  // a layer's input
    if (block_.saved == 0) return false;                                              // its backward follows at once
    return !(block_.layer && overlap(tensor.dropped_with, repeated_modules(s_)));
  }

  double element() const { return static_cast<double>(element_bytes(s_.training.precision)); }
  static bool makes_input_gradient(const Kernel& kernel) {
    return (std::holds_alternative<Gemm>(kernel) || std::holds_alternative<Convolution>(kernel)) && !of_weights(kernel);
  }

  /// On a device, of what its multiply reads and makes, as if no axis split what it is gathered or summed over.
  double read_bytes(const DimensionSplit& split) const {
    return unit_.in_bytes / static_cast<double>(split.rows * split.inner * split.batch);
  }
  double made_bytes(const DimensionSplit& split) const {
    return unit_.made_bytes / static_cast<double>(split.rows * split.columns * split.batch);
  }

  /// The axes along which some kind of work is split: both as one where both are.
  template <class Counts>
  static std::vector<MeshAxis> axes_of(const Work& work, const Counts& counts) {
    const bool down = counts(work[0]), along = counts(work[1]);
    if (down && along) return {MeshAxis::all};
    if (down) return {MeshAxis::down_columns};
    return along ? std::vector{MeshAxis::along_rows} : std::vector<MeshAxis>{};
  }

  /// In a pass the groups of an axis go by the names of a grid of tensor ranks.
  static constexpr std::array kAmong = {Among::tensor_column, Among::tensor, Among::tensor_depth};
  template <class Counts>
  void exchange(Kernels& pass, const Work& work, const Counts& counts, Operation operation, double bytes,
                bool under_next = false) const {
    for (const MeshAxis axis : axes_of(work, counts))
      pass.push_back(TensorCollective{block_.operators[unit_.first].kind, operation, whole_bytes(bytes), under_next,
                                      kAmong[static_cast<std::size_t>(axis)]});
  }

  Time time_of(const Kernels& pass) const {
    const auto timed = [&](const TensorCollective& one) {
      const auto axis = std::ranges::find(kAmong, one.among) - kAmong.begin();
      collectives::Timing timing;
      timing.duration = mesh_.time(static_cast<MeshAxis>(axis), one.operation, static_cast<double>(one.bytes.value));
      return std::make_shared<const collectives::Timing>(std::move(timing));
    };
    return pass_time(pass, cost_, timed).duration;
  }

  /// Gradients of weights are summed over devices that share samples or tokens, and ZeRO shards over these what
  /// data_parallel.zero says.
  void add_weights(UnitLayout& out, const DimensionSplit& split, double parameters) const {
    if (parameters == 0) return;
    const int zero = s_.data_parallel.zero;
    const auto shards = static_cast<double>(split.rows);
    const auto copies = [](WorkSplit w) { return w == WorkSplit::samples || w == WorkSplit::tokens; };
    const auto sum = [&](Operation operation, double bytes) {
      // With others' in a message: it takes its share of that one's time.
      const double share = std::min(1.0, bytes / message_);
      Time all{};
      for (const MeshAxis axis : axes_of(out.work, copies)) all += mesh_.time(axis, operation, bytes / share);
      return from_seconds(to_seconds(all) * share);
    };
    const double main = static_cast<double>(element_bytes(s_.software.main_gradient_precision)),
                 wire = static_cast<double>(element_bytes(gradient_precision(s_)));
    const bool scatters = scatters_gradients(s_);
    const Time gradients = sum(scatters ? Operation::reduce_scatter : Operation::all_reduce, parameters * wire);
    const Time gathered = sum(Operation::all_gather, parameters * element());
    (sums_each_micro_batch(s_) ? out.backward : out.once) += gradients;
    if (zero == 1 || zero == 2) out.once += gathered;
    if (zero == 3) {
      out.forward += gathered;
      out.backward += gathered;
    }
    const double updated = parameters / (zero >= 1 ? shards : 1);
    out.once += optimizer_time(s_.cluster.gpu, s_.software, s_.training.optimizer, updated);
    out.kept = parameters * (element() / (zero >= 3 ? shards : 1) + main / (sums_each_micro_batch(s_) ? shards : 1)) +
               updated * optimizer_bytes(s_);
    if (s_.software.autograd_gradients && zero < 2) out.kept += parameters * element();
  }

  static bool is_no_worse(const UnitLayout& a, const UnitLayout& b) {
    return a.in == b.in && a.out == b.out && a.forward <= b.forward && a.backward <= b.backward &&
           a.recomputed <= b.recomputed && a.once <= b.once && a.kept <= b.kept && a.saved <= b.saved &&
           a.working <= b.working;
  }
  static void add(std::vector<UnitLayout>& to, const UnitLayout& one) {
    if (std::ranges::any_of(to, [&](const UnitLayout& other) { return is_no_worse(other, one); })) return;
    std::erase_if(to, [&](const UnitLayout& other) { return is_no_worse(one, other); });
    to.push_back(one);
  }

  const Scenario& s_;
  const Block& block_;
  const bool splits_tokens_;
  const double message_;
  const LayoutUnit& unit_;
  const Mesh& mesh_;
  const KernelCost cost_;
};

/// What the devices along an axis share, in words.
std::string_view shared_words(WorkSplit work, const LayoutUnit& unit) {
  const bool convolves = unit.kind == UnitKind::convolution;
  switch (work) {
    case WorkSplit::nothing:
      break;
    case WorkSplit::samples:
      return "samples";
    case WorkSplit::tokens:
      return "tokens";
    case WorkSplit::columns:
      return convolves ? "channels made" : "columns";
    case WorkSplit::gathered_columns:
      return "columns of gathered tokens";
    case WorkSplit::inner:
      return convolves ? "channels read" : "rows";
    case WorkSplit::scattered_inner:
      return "rows, sums by tokens";
    case WorkSplit::features:
      return unit.kind == UnitKind::attention ? "heads" : unit.groups > 1 ? "groups of channels" : "features";
    case WorkSplit::experts:
      return "experts";
  }
  return "whole";
}

}  // namespace

std::vector<UnitLayout> unit_layouts(const BlockContext& context, const LayoutUnit& unit, const Mesh& mesh) {
  return UnitCost(context, unit, mesh).all();
}

std::string layout_text(const UnitLayout& layout, const LayoutUnit& unit, MeshShape shape) {
  const auto over = [&](WorkSplit work, std::uint32_t ways) {
    return std::string(shared_words(work, unit)) + " over " + std::to_string(ways);
  };
  const auto [down, along] = layout.work;
  if (down == along) return down == WorkSplit::nothing ? "whole" : over(down, shape.devices());
  if (down == WorkSplit::nothing) return over(along, shape.columns);
  if (along == WorkSplit::nothing) return over(down, shape.rows);
  return over(down, shape.rows) + ", " + over(along, shape.columns);
}

}  // namespace stepcast::search
