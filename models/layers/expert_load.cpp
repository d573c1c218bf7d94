#include "models/layers/expert_load.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace stepcast::schedules {
namespace {

/// Steele et al. 2014, "Fast splittable pseudorandom number generators" (SplitMix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// In (0, 1].
  double uniform() { return (static_cast<double>(next() >> 11) + 1) * 0x1p-53; }

  /// Of mean 0 and variance 1 (Box and Muller 1958).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

std::int64_t round_up(double n) { return static_cast<std::int64_t>(std::ceil(n - 1e-9)); }

}  // namespace

std::vector<double> rank_loads(const Scenario& s) {
  const ExpertLoad& load = s.training.expert_load;
  std::vector<double> ranks(s.parallelism.expert, 1);
  if (load.capacity || load.spread == 0) return ranks;
  const double sigma = std::sqrt(std::log1p(load.spread * load.spread));
  Random random(load.seed);
  std::vector<double> experts(static_cast<std::size_t>(s.model.experts.count));
  for (double& expert : experts) expert = std::exp(sigma * random.normal());
  const double mean = std::accumulate(experts.begin(), experts.end(), 0.0) / static_cast<double>(ranks.size());
  const std::size_t each = experts.size() / ranks.size();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto first = experts.begin() + static_cast<std::ptrdiff_t>(rank * each);
    ranks[rank] = std::accumulate(first, first + static_cast<std::ptrdiff_t>(each), 0.0) / mean;
  }
  return ranks;
}

Routing routing(const Scenario& s) {
  const Experts& experts = s.model.experts;
  const Parallelism& plan = s.parallelism;
  Routing r;
  r.tokens = s.training.micro_batch * s.training.sequence / (std::int64_t{plan.tensor} * plan.context);
  r.local_experts = experts.count / plan.expert;
  r.sharers = plan.expert_tensor;
  const auto wanted = static_cast<double>(r.tokens * experts.active);
  const double even = wanted / static_cast<double>(experts.count);
  if (const std::optional<double> capacity = s.training.expert_load.capacity) {
    const std::int64_t from_each_rank = round_up(even * *capacity);
    r.sent = from_each_rank * experts.count;
    r.per_expert = from_each_rank * plan.expert * r.sharers;
    r.kept = std::min(1.0, static_cast<double>(r.sent) / wanted);
    r.useful = std::min(1.0, *capacity);
  } else {
    r.sent = r.tokens * experts.active;
    r.per_expert = round_up(even * plan.expert * std::ranges::max(rank_loads(s))) * r.sharers;
  }
  r.useful *= wanted / static_cast<double>(r.received_alone());
  return r;
}

}  // namespace stepcast::schedules
