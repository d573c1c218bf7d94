#include "search/layouts/stages.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace stepcast::search {
namespace {

constexpr Time kNever{std::numeric_limits<std::int64_t>::max()};

class StageCutting {
 public:
  explicit StageCutting(const StageProblem& problem)
      : p_(problem), most_stages_(std::min(problem.stages.value_or(problem.layers), problem.layers)) {
    unit_ = p_.devices;
    for (const std::uint32_t size : p_.sizes) unit_ = std::gcd(unit_, size);
    devices_ = p_.devices / unit_;
    times_.assign(place(most_stages_ + 1, 0, 0, 0), kNever);
    is_exact_.assign(times_.size(), false);
  }

  /// The best by bounds, until it is one of which no stage is only bounded.
  std::optional<CutStages> best() {
    if (p_.stages && *p_.stages > p_.layers) return std::nullopt;
    for (;;) {
      bound_all();
      std::optional<CutStages> best = best_by_times();
      if (!best || !has_news(*best)) return best;
    }
  }

 private:
  /// Longest stages that answers can have, from one place of a sorted list of times to another.
  struct Longest {
    std::size_t first = 0, end = 0;
  };

  /// Halves what longest stages can be, the shorter ones first. An answer of an interval takes no less than the least
  /// sum of stages no longer than its last one, and its first one for each further micro-batch.
  std::optional<CutStages> best_by_times() {
    std::vector<Time> lengths = times_;
    std::ranges::sort(lengths);
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    if (!lengths.empty() && lengths.back() == kNever) lengths.pop_back();
    std::optional<CutStages> best;
    std::vector<Longest> left{{0, lengths.size()}};
    while (!left.empty()) {
      const Longest here = left.back();
      left.pop_back();
      if (here.first == here.end || !share_out(lengths[here.end - 1])) continue;
      CutStages found = cut();
      Time sum{}, longest{};
      std::vector<Time> times;
      for (const CutStage& stage : found.stages) {
        sum += stage.time;
        longest = std::max(longest, stage.time);
        times.push_back(stage.time);
      }
      found.time = pipeline_time(times, p_.micro_batches);
      if (!best || found.time < best->time) best = std::move(found);
      // Between its longest stage and the last of the interval there is nothing better.
      const std::size_t end = place_of(lengths, longest);
      if (here.first >= end || sum + lengths[here.first] * (p_.micro_batches - 1) >= best->time) continue;
      const std::size_t middle = (here.first + end) / 2;
      left.push_back({middle, end});
      left.push_back({here.first, middle});
    }
    return best;
  }

  static std::size_t place_of(const std::vector<Time>& sorted, Time time) {
    return static_cast<std::size_t>(std::ranges::lower_bound(sorted, time) - sorted.begin());
  }

  /// Whether a stage takes longer than its bound.
  bool has_news(const CutStages& found) {
    bool news = false;
    auto left = static_cast<std::uint32_t>(found.stages.size());
    for (const CutStage& stage : found.stages) {
      const std::size_t at = place(left--, stage.first, stage.first + stage.count, stage.size);
      if (is_exact_[at]) continue;
      times_[at] = p_.time(stage.first, stage.count, stage.size, stage.held).value_or(kNever);
      is_exact_[at] = true;
      news = news || times_[at] != stage.time;
    }
    return news;
  }

  std::uint32_t held(std::uint32_t stages_left) const { return micro_batches_held(stages_left, p_.micro_batches); }
  std::size_t place(std::uint32_t left, std::uint32_t first, std::uint32_t end, std::uint32_t size) const {
    return ((std::size_t{left} * p_.layers + first) * (p_.layers + 1) + end) * p_.sizes.size() + size;
  }

  /// Every stage that can be, by how many there are from it on.
  void bound_all() {
    for (std::uint32_t left = 1; left <= most_stages_; ++left)
      for (std::uint32_t first = 0; first < p_.layers; ++first)
        for (std::uint32_t end = first + 1; end <= p_.layers; ++end) {
          if ((left == 1) != (end == p_.layers) || p_.layers - end + 1 < left) continue;
          for (std::uint32_t size = 0; size < p_.sizes.size(); ++size) {
            const std::size_t at = place(left, first, end, size);
            if (!is_exact_[at]) times_[at] = p_.bound(first, end - first, size, held(left)).value_or(kNever);
          }
        }
  }

  /// The best choice of the first of so many stages that have the layers from one on and so many devices.
  struct StageChoice {
    Time sum = kNever;
    std::uint32_t end = 0, size = 0;
  };
  StageChoice& choice(std::uint32_t left, std::uint32_t first, std::uint32_t devices) {
    return choices_[(std::size_t{left} * (p_.layers + 1) + first) * (devices_ + 1) + devices];
  }

  /// Fills the choices of stages that take no longer than `longest`. Whether all can be shared out.
  bool share_out(Time longest) {
    choices_.assign(std::size_t{most_stages_ + 1} * (p_.layers + 1) * (devices_ + 1), {});
    choice(0, p_.layers, 0).sum = {};
    for (std::uint32_t left = 1; left <= most_stages_; ++left)
      for (std::uint32_t first = 0; first < p_.layers; ++first)
        for (std::uint32_t end = first + 1; end <= p_.layers; ++end)
          for (std::uint32_t size = 0; size < p_.sizes.size(); ++size) {
            const Time time = times_[place(left, first, end, size)];
            if (time <= longest && time != kNever) extend(left, first, end, size, time);
          }
    return first_stages().has_value();
  }

  void extend(std::uint32_t left, std::uint32_t first, std::uint32_t end, std::uint32_t size, Time time) {
    const std::uint32_t own = p_.sizes[size] / unit_;
    for (std::uint32_t devices = own; devices <= devices_; ++devices) {
      const Time behind = choice(left - 1, end, devices - own).sum;
      if (behind == kNever) continue;
      StageChoice& known = choice(left, first, devices);
      if (behind + time < known.sum) known = {behind + time, end, size};
    }
  }

  /// How many stages have the least sum.
  std::optional<std::uint32_t> first_stages() {
    std::optional<std::uint32_t> best;
    for (std::uint32_t left = p_.stages.value_or(1); left <= most_stages_; ++left) {
      const Time sum = choice(left, 0, devices_).sum;
      if (sum != kNever && (!best || sum < choice(*best, 0, devices_).sum)) best = left;
    }
    return best;
  }

  CutStages cut() {
    CutStages out;
    std::uint32_t first = 0, devices = devices_;
    for (std::uint32_t left = *first_stages(); left > 0; --left) {
      const StageChoice& here = choice(left, first, devices);
      out.stages.push_back({.first = first,
                            .count = here.end - first,
                            .size = here.size,
                            .held = held(left),
                            .time = times_[place(left, first, here.end, here.size)]});
      first = here.end;
      devices -= p_.sizes[here.size] / unit_;
    }
    return out;
  }

  const StageProblem& p_;
  const std::uint32_t most_stages_;
  std::uint32_t unit_ = 1, devices_ = 1;  ///< devices are counted in units that all sizes are multiples of
  std::vector<Time> times_;
  std::vector<bool> is_exact_;
  std::vector<StageChoice> choices_;
};

}  // namespace

Time pipeline_time(std::span<const Time> stages, std::int64_t micro_batches) {
  Time sum{}, longest{};
  for (const Time time : stages) {
    sum += time;
    longest = std::max(longest, time);
  }
  return sum + longest * (micro_batches - 1);
}

std::uint32_t micro_batches_held(std::uint32_t stages_left, std::int64_t micro_batches) {
  return static_cast<std::uint32_t>(std::min<std::int64_t>(stages_left, micro_batches));
}

std::optional<CutStages> best_stages(const StageProblem& problem) { return StageCutting(problem).best(); }

}  // namespace stepcast::search
