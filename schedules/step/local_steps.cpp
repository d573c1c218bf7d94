#include "schedules/step/local_steps.h"

#include <algorithm>

#include "schedules/results/time_parts.h"
#include "schedules/step/recorded.h"
#include "schedules/step/run_step.h"
#include "schedules/step/split.h"

namespace stepcast::schedules {
namespace {

/// What one step took of each data rank's time, and of those parts that are reported.
class Round {
 public:
  explicit Round(const StepInput& last)
      : last_(last),
        behind_(last.unfold ? last.scenario.parallelism.data : 1, Time{}),
        parts_(last.scenario.parallelism.pipeline) {}

  /// `times` steps that are alike, no exchange.
  void add_local(const Stragglers* stragglers, std::uint32_t times) {
    StepInput in = last_;
    in.exchange = Exchange::nothing;
    in.stragglers = stragglers;
    in.trace = false;
    in.record = false;
    const StepRun local = run_whole_step(in);
    std::vector<Time> ended(behind_.size(), Time{});
    for (const Lane& lane : local.step.lanes)
      ended[lane.at.data] = std::max(ended[lane.at.data], local.timeline.finish[sim::index(lane.tasks.back().last)]);
    count(local, ended[0], times);
    for (std::size_t d = 0; d < behind_.size(); ++d) behind_[d] = behind_[d] + ended[d] * times;
  }

  /// The last step, which each data rank begins when it is done with the others: with that, it stands for the round.
  /// Returns the round's length.
  Time add_last(Forecast& f) {
    StepInput in = last_;
    in.begins = behind_;
    in.trace = false;
    const StepRun last = run_whole_step(in);
    if (in.record) f.recorded = recorded(last, in, in.scenario.data_parallel.local_steps);
    count(last, last.timeline.end - behind_[0], 1);
    length_ = last.timeline.end;
    return length_;
  }

  /// By link, over the whole round.
  std::vector<double> busy() const {
    std::vector<double> share = busy_seconds_;
    for (double& link : share) link /= to_seconds(length_);
    return share;
  }

  const TimeSplit& parts(std::uint32_t stage) const { return parts_[stage]; }

 private:
  /// `times` steps that last so long.
  void count(const StepRun& run, Time length, std::uint32_t times) {
    busy_seconds_.resize(run.busy.size(), 0);
    for (std::size_t link = 0; link < run.busy.size(); ++link)
      busy_seconds_[link] += run.busy[link] * to_seconds(run.timeline.end) * times;
    for (const Lane& lane : run.step.lanes) {
      if (!lane.speaks_for_its_stage()) continue;
      parts_[lane.at.stage] = parts_[lane.at.stage] + split_time(lane, run.timeline, length) * times;
    }
  }

  const StepInput& last_;
  std::vector<Time> behind_;  ///< by data rank: the steps that it has made
  std::vector<TimeSplit> parts_;
  std::vector<double> busy_seconds_;  ///< by link
  Time length_{};                     ///< of the round
};

Time divided(Time t, std::uint32_t by) { return {t.value / by}; }

}  // namespace

std::vector<double> average_round(Forecast& f, const StepInput& last) {
  const Scenario& s = last.scenario;
  const std::uint32_t steps = s.data_parallel.local_steps;
  Round round(last);
  if (s.imperfections.jitter > 0)
    for (std::uint32_t step = 1; step < steps; ++step) {
      const Stragglers drawn(s.imperfections, last.ranks, step);
      round.add_local(&drawn, 1);
    }
  else
    round.add_local(last.stragglers, steps - 1);
  f.step = divided(round.add_last(f), steps);
  for (StageReport& stage : f.stages) {
    Time sum{};
    for (const TimePart& part : kTimeParts) {
      stage.time.*part.time = divided(round.parts(stage.stage).*part.time, steps);
      sum = sum + stage.time.*part.time;
    }
    stage.time.idle = stage.time.idle + (f.step - sum);  // what the divisions leave
    stage.time.parameters = divided(round.parts(stage.stage).parameters, steps);
  }
  return round.busy();
}

}  // namespace stepcast::schedules
