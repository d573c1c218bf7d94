#include <algorithm>
#include <numeric>

#include "calibrate/measure/checks/kernel_check.h"
#include "calibrate/measure/checks/step_reference.h"
#include "calibrate/measure/step/training_rank.h"

namespace stepcast::measure {
namespace {

/// One rank has nobody to speak to.
class Alone : public Peers {
 public:
  void all_reduce(RankGroup, void*, std::int64_t, Number, cudaStream_t) override { refuse(); }
  void all_gather(float*, std::int64_t, cudaStream_t) override { refuse(); }
  void exchange(const std::vector<Message>&, cudaStream_t) override { refuse(); }

 private:
  static void refuse() { throw std::logic_error("one rank speaks to others"); }
};

/// A second step of a tiny model: by then biases are not zero. What it started from, and what it found.
struct SecondStep {
  StepCase step{
      .layers = 2, .hidden = 128, .heads = 2, .vocab = 96, .sequence = 8, .micro_batch = 2, .micro_batches = 2};
  TrainingConstants training{.deviation = 0.1f, .dropout = 0.1f, .adam = {.rate = 0.02f}};
  WholeParameters before, gradients;
  double loss = 0;

  explicit SecondStep(StepRecompute recompute) {
    step.recompute = recompute;
    Alone alone;
    TrainingRank rank(step, training, 0, alone);
    rank.run();
    const std::vector<double> values = wide(rank.values());
    rank.run();
    loss = rank.loss();
    const std::vector<double> found = wide(rank.gradients());
    for (const ParameterPart& part : rank.parameters().parts) {
      const auto cut = [&](const std::vector<double>& flat) {
        return std::vector<double>(flat.begin() + part.offset, flat.begin() + part.offset + part.rows * part.columns);
      };
      before[part.name] = cut(values);
      gradients[part.name] = cut(found);
    }
  }
  double reference(const WholeParameters& at) const { return reference_loss(step, at, training.dropout, 1); }
};

double loss_error(StepRecompute recompute) {
  const SecondStep second(recompute);
  const double wanted = second.reference(second.before);
  return std::isfinite(second.loss) ? std::fabs(second.loss - wanted) / wanted : INFINITY;
}

/// The reference's loss by central differences: along the gradient found of each tensor, where its slope must be the
/// gradient's length, and along the largest elements. Over slope and a floor, since some gradients are rounding alone
/// (a key's bias moves no softmax).
double gradient_error(StepRecompute recompute) {
  constexpr double kMove = 1e-4;
  constexpr std::size_t kElements = 2;
  const SecondStep second(recompute);
  double squares = 0;
  for (const auto& [name, gradient] : second.gradients)
    squares += std::inner_product(gradient.begin(), gradient.end(), gradient.begin(), 0.0);
  const double floor = 0.02 * std::sqrt(squares / static_cast<double>(second.gradients.size()));
  double worst = 0;
  for (const auto& tensor : second.gradients) {
    const std::string& name = tensor.first;
    const std::vector<double>& gradient = tensor.second;
    const double length = std::sqrt(std::inner_product(gradient.begin(), gradient.end(), gradient.begin(), 0.0));
    if (!std::isfinite(length)) return INFINITY;
    const auto slope = [&](const std::vector<double>& along) {
      double ends[2];
      for (const int side : {0, 1}) {
        WholeParameters moved = second.before;
        std::vector<double>& values = moved.at(name);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] += (side == 1 ? kMove : -kMove) * along[i];
        ends[side] = second.reference(moved);
      }
      return (ends[1] - ends[0]) / (2 * kMove);
    };
    std::vector<double> along = gradient;
    for (double& a : along) a /= length + 1e-30;
    worst = std::max(worst, std::fabs(slope(along) - length) / (length + floor));
    std::vector<std::size_t> order(gradient.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::partial_sort(order.begin(), order.begin() + kElements, order.end(),
                      [&](std::size_t a, std::size_t b) { return std::fabs(gradient[a]) > std::fabs(gradient[b]); });
    for (std::size_t i = 0; i < kElements; ++i) {
      std::fill(along.begin(), along.end(), 0.0);
      along[order[i]] = 1;
      const double wanted = slope(along);
      worst = std::max(worst, std::fabs(gradient[order[i]] - wanted) / (std::fabs(wanted) + floor));
    }
  }
  return worst;
}

}  // namespace

std::vector<KernelCheck> step_checks() {
  std::vector<KernelCheck> checks;
  for (const StepRecompute recompute : {StepRecompute::none, StepRecompute::selective, StepRecompute::full}) {
    const char* const layout = recompute_name(recompute);
    checks.push_back({"step", "loss", "bf16", layout, 0, 5e-3, [=](cudaStream_t) { return loss_error(recompute); }});
    checks.push_back(
        {"step", "gradients", "bf16", layout, 0, 0.05, [=](cudaStream_t) { return gradient_error(recompute); }});
  }
  return checks;
}

}  // namespace stepcast::measure
