#include "models/layers/sequence_parts.h"

#include "models/layers/as_double.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

bool is_of_sequence(const TensorCollective& traffic) {
  return gathers_input(traffic) || (traffic.among == Among::tensor && traffic.operation == Operation::reduce_scatter);
}

/// Goes through one pass and writes it anew.
class PartsAdded {
 public:
  PartsAdded(const Scenario& s, bool layer, bool backward)
      : software_(s.software), ranks_(s.parallelism.tensor), layer_(layer), backward_(backward) {}

  Kernels run(const Kernels& pass) {
    for (const Kernel& kernel : pass) {
      const auto* traffic = std::get_if<TensorCollective>(&kernel);
      if (traffic != nullptr && is_of_sequence(*traffic)) {
        add(*traffic);
        continue;
      }
      out_.push_back(kernel);
      add_arrived();
    }
    add_arrived();
    return std::move(out_);
  }

 private:
  void touch(Kernels& out, double bytes) const {
    out.push_back(Elementwise{OperatorKind::sequence_parts, bytes, 1, false, backward_});
  }

  void add(TensorCollective traffic) {
    if (software_.micro_pipeline && !layer_) traffic.parts = 1;
    const double whole = d(traffic.bytes.value), part = whole / ranks_;
    const bool gathers = traffic.operation == Operation::all_gather, in_parts = traffic.parts > 1;
    if (in_parts && software_.micro_pipeline) {
      if (gathers) touch(out_, 2 * part);
      out_.push_back(traffic);
      if (!gathers) touch(out_, whole + part);
    } else if (!in_parts && software_.batch_first) {
      if (!gathers) touch(out_, 2 * whole);
      out_.push_back(traffic);
      if (gathers) touch(traffic.under_next ? arrived_ : out_, 2 * whole);
    } else {
      out_.push_back(traffic);
    }
  }

  /// Copies of what a kernel hid the gather of.
  void add_arrived() {
    out_.insert(out_.end(), arrived_.begin(), arrived_.end());
    arrived_.clear();
  }

  const Software& software_;
  const double ranks_;
  const bool layer_, backward_;
  Kernels out_, arrived_;
};

}  // namespace

void add_sequence_parts(Block& block, const Scenario& s) {
  if (!(s.software.batch_first || s.software.micro_pipeline) || !s.parallelism.sequence || s.parallelism.tensor == 1)
    return;
  const bool layer = block.layer || block.extra_layer;
  block.forward = PartsAdded(s, layer, false).run(block.forward);
  block.recompute = PartsAdded(s, layer, false).run(block.recompute);
  block.backward = PartsAdded(s, layer, true).run(block.backward);
}

}  // namespace stepcast::schedules
