#include "schedules/checks/too_large.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "models/layers/blocks.h"
#include "models/layers/model_blocks.h"
#include "schedules/data_parallel/groups.h"
#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/planned.h"

namespace stepcast::schedules {
namespace {

/// A task takes about 400 bytes and a microsecond: so many fit into a gigabyte, and into a few seconds.
constexpr double kMostTasks = 2.5e6;
/// Who asks for every rank by --unfold is given four times that: a trillion parameters on 3072 GPUs take 6.3e6.
constexpr double kMostUnfolded = 4 * kMostTasks;

/// In tasks: what a block on a lane takes, what one rank's part in a collective does (its links' loads), and a task
/// that is run and forgotten (one of a round's steps), since only its time counts.
constexpr double kPiece = 0.6, kPart = 0.08, kForgotten = 0.25;
/// A pass that is joined to the one before it: its place in the order alone.
constexpr double kJoinedPass = 0.15;
/// Ranks that traffic beside their kernels slows and that are each as far as chance has it: a collective is told of
/// each of them whenever its rate is worked out anew.
constexpr double kCoupledRank = 0.001;

template <class Whole>
double d(Whole n) {
  return static_cast<double>(n);
}

/// Without a key of its own it grows with the factor that has most.
struct Factor {
  std::string_view key, what;
  double count = 1;
};

/// A number of like things, as the product of its factors.
struct Amount {
  std::string_view of;
  double tasks_each = 1;
  std::vector<Factor> factors;

  double count() const {
    double all = 1;
    for (const Factor& factor : factors) all *= factor.count;
    return all;
  }
  double tasks() const { return tasks_each * count(); }
};

std::string in_words(const Amount& amount) {
  std::string text;
  for (const Factor& factor : amount.factors) {
    if (factor.count == 1) continue;
    text += fmt::format("{}{:.0f} {}", text.empty() ? "" : " x ", factor.count, factor.what);
  }
  return text;
}

/// What part of the most of its factors an amount may keep, of `tasks` in all, so that they are `allowed`.
double kept(const Amount& most, double tasks, double allowed) {
  const auto tied = std::ranges::count_if(most.factors, [](const Factor& factor) { return factor.key.empty(); });
  const double rest = tasks - most.tasks();
  double low = 0, high = 1;
  for (int i = 0; i < 50; ++i) {
    const double part = (low + high) / 2;
    (most.tasks() * std::pow(part, 1 + tied) + rest * part <= allowed ? low : high) = part;
  }
  return low;
}

class Workload {
 public:
  Workload(const Scenario& s, bool unfold)
      : s_(s),
        unfold_(unfold),
        every_rank_(unfold || every_rank_differs(s)),
        asynchronous_(s.data_parallel.consistency != Consistency::bulk_synchronous),
        exchanges_(weight_copies(s.parallelism) > 1) {
    const PipelineSchedule* schedule = find_pipeline(s.pipeline.schedule);
    const Shape shape = planned_shape(s, micro_batches(s));
    stages_ = {"parallelism.pipeline", "stages", d(s.parallelism.pipeline)};
    virtual_stages_ = {"pipeline.virtual_stages", "virtual stages", d(shape.virtual_stages)};
    micro_batches_ = {"training.global_batch", "micro-batches", d(micro_batches(s))};
    if (schedule != nullptr && schedule->updates != Updates::after_flush)
      micro_batches_.count = d(simulated_steps(s).steps) * micro_batches(s);
    ranks_ = {unfold ? "parallelism.data" : why_every_rank(), "ranks of a stage that are simulated one by one",
              every_rank_ ? d(s.parallelism.tensor) * weight_copies(s.parallelism) : 1.0};
    layers_ = {"model.layers", "layers", d(s.model.layers + 2)};
    kinds_ = {"pipeline.schedule", "kinds of passes", shape.splits_backward ? 3.0 : 2.0};
    const bool drains = schedule == nullptr || schedule->updates == Updates::after_flush;
    joined_ = shape.stages == 1 && drains && !s.imperfections.any() && (s.data_parallel.zero < 2 || !exchanges_);
  }

  std::optional<Problem> problem() const {
    const double allowed = unfold_ ? kMostUnfolded : kMostTasks;
    // How many buckets there are is known from the model's parameters, which take longer to count than all else.
    if (tasks_of(amounts(most_collectives())) <= allowed) return {};
    const std::vector<Amount> all = amounts(collectives());
    const double tasks = tasks_of(all);
    if (tasks <= allowed) return {};
    const Amount& most = *std::ranges::max_element(all, {}, &Amount::tasks);
    const Factor& factor = *std::ranges::max_element(most.factors, {}, &Factor::count);
    return Problem{std::string(factor.key),
                   fmt::format("{} is about {:.3g} {} to simulate, allowed are {:.2g}: here up to {:.0f} {}",
                               in_words(most), most.count(), most.of, allowed / most.tasks_each,
                               std::max(factor.count * kept(most, tasks, allowed), 1.0), factor.what)};
  }

 private:
  static double tasks_of(const std::vector<Amount>& amounts) {
    double tasks = 0;
    for (const Amount& amount : amounts) tasks += amount.tasks();
    return tasks;
  }

  std::string_view why_every_rank() const {
    const Imperfections& bad = s_.imperfections;
    if (bad.jitter > 0) return "imperfections.jitter";
    if (bad.slow_gpu) return "imperfections.slow_gpu";
    if (bad.slow_node) return "imperfections.slow_node";
    return s_.cluster.other ? "cluster.other.gpu" : "data_parallel.mode";
  }

  /// `sums`: collectives(), or more.
  std::vector<Amount> amounts(const Factor& sums) const {
    std::vector<Amount> all;
    all.push_back({"passes", joined_ ? kJoinedPass : 1, {stages_, ranks_, micro_batches_, virtual_stages_, kinds_}});
    all.push_back({"layers' times", kPiece, {ranks_, layers_}});
    if (asynchronous_) {
      add_workers(all);
      return all;
    }
    if (s_.data_parallel.local_steps > 1 && s_.imperfections.jitter > 0) {
      const Factor steps{"data_parallel.local_steps", "steps of their own", d(s_.data_parallel.local_steps)};
      all.push_back({"passes", kForgotten, {steps, stages_, ranks_, micro_batches_, virtual_stages_, kinds_}});
    }
    if (!exchanges_) return all;
    const double group = d(weight_copies(s_.parallelism)), groups = d(s_.parallelism.tensor);
    if (unfold_)  // a ring's, say
      all.push_back(
          {"transfers", 0.25, {{"parallelism.data", "ranks of a stage", group * groups}, {"", "steps", 2 * group}}});
    const Factor parts{"parallelism.data", "ranks of a stage",
                       d(s_.parallelism.tensor) * weight_copies(s_.parallelism)};
    all.push_back({"parts in collectives", kPart, {sums, parts}});
    if (s_.imperfections.jitter > 0 && s_.software.overlap_slowdown > 0 &&
        (data_overlap(s_) || s_.data_parallel.zero == 3))
      all.push_back({"changes of a rank's speed", kCoupledRank, {ranks_, sums, {"", "ranks that it slows", group}}});
    if (s_.data_parallel.zero == 3)
      all.push_back({"passes of layers", 3, {ranks_, micro_batches_, layers_, kinds_}});
    else if (sums_each_micro_batch(s_))
      all.push_back({"sums of gradients", 2, {ranks_, micro_batches_, sums}});
    return all;
  }

  /// Of one stage's gradients, or of all layers' parameters, where each is summed by itself.
  Factor most_collectives() const {
    if (s_.data_parallel.zero == 3) return {"model.layers", "gathers and sums of layers", 3 * layers_.count};
    if (!sums_each_micro_batch(s_) && !data_overlap(s_)) return {"parallelism.pipeline", "stages", stages_.count};
    return {"data_parallel.bucket", "buckets of gradients", layers_.count};
  }

  /// The same: those that differ are timed each by itself.
  Factor collectives() const {
    Factor sums = most_collectives();
    const bool in_buckets = s_.data_parallel.zero < 3 && (sums_each_micro_batch(s_) || data_overlap(s_));
    if (asynchronous_ || !exchanges_ || !in_buckets) return sums;
    const double chunks = stages_.count * virtual_stages_.count;
    const double bytes = parameters_of_a_rank() * double(element_bytes(gradient_precision(s_)));
    const double full = std::max(d(bucket(s_).value), 1.0);
    sums.count = std::min(sums.count, bytes / full + chunks);
    return sums;
  }

  /// On all stages together.
  double parameters_of_a_rank() const {
    const Blocks model = blocks(s_);
    return parameters(model, cut(model, 1));
  }

  /// Of servers that workers do not wait for: each worker makes many steps, more of them the faster it is.
  void add_workers(std::vector<Amount>& all) const {
    constexpr double kMostSteps = 128, kMostTimes = 64;
    const Imperfections& bad = s_.imperfections;
    double times = std::max(1 / bad.gpu_speed, 1 / bad.network_speed) * (1 + bad.jitter);
    if (s_.cluster.other) {
      const double one = peak(s_.cluster.gpu, s_.training.precision).value,
                   other = peak(s_.cluster.other->gpu, s_.training.precision).value;
      times *= std::max(one / other, other / one);
    }
    const Factor workers{"parallelism.data", "workers", d(s_.parallelism.data)};
    const Factor steps{"data_parallel.consistency", "steps", kMostSteps * std::min(times, kMostTimes) / 4};
    Factor passes = micro_batches_;
    if (!s_.imperfections.any()) passes.count = 2;
    all.push_back({"passes", kForgotten, {workers, steps, passes, kinds_}});
    all.push_back({"messages", kForgotten, {workers, steps, {"data_parallel.bucket", "buckets", 4 * layers_.count}}});
  }

  const Scenario& s_;
  const bool unfold_, every_rank_, asynchronous_, exchanges_;
  bool joined_ = false;
  Factor stages_, virtual_stages_, micro_batches_, ranks_, layers_, kinds_;
};

}  // namespace

bool every_rank_differs(const Scenario& s) {
  return s.data_parallel.mode == DataParallelMode::parameter_server || s.imperfections.any() || s.cluster.other;
}

std::optional<Problem> too_much_work(const Scenario& s, bool unfold) { return Workload(s, unfold).problem(); }

std::optional<std::string> too_many_parts(const Scenario& s) {
  constexpr double kPartsOfALayer = 16;  // kernels and collectives of one layer, forward and backward, about
  constexpr double kMost = 1 << 24;
  const double layers = static_cast<double>(std::max<std::int64_t>(s.model.layers, 1)) / s.parallelism.pipeline;
  const double parts = kPartsOfALayer * s.cluster.gpus * micro_batches(s) * std::max(layers, 1.0);
  if (parts <= kMost) return std::nullopt;
  return fmt::format(
      "a step of about {:.0f} million parts, of which each collective is many transfers, expected at most {:.0f} "
      "million: fewer GPUs, layers or micro-batches make fewer",
      parts / 1e6, kMost / 1e6);
}

}  // namespace stepcast::schedules
