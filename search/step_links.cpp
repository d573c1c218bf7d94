#include "search/step_links.h"

#include <algorithm>
#include <numeric>

#include "schedules/pipeline/placement.h"

namespace stepcast::search {

using namespace schedules;

Time StepLinks::busiest(const Traffic& traffic, const TrafficTimes& times) {
  carry_inner();
  count_sends(traffic, times);
  for (const Declared& sum : traffic.tied_embeddings) count(sum, 1, times);
  if (weight_copies(p_.s.parallelism) > 1) count_data(traffic, times);
  carry_counted();
  return from_seconds(*std::ranges::max_element(seconds_) * kSurelyCarried);
}

void StepLinks::count(const std::optional<Declared>& declared, std::int64_t runs, const TrafficTimes& times) {
  if (!declared) return;
  times.each_timing(declared->communication, [&](const collectives::Timing& timing, double scale) {
    const auto [place, is_new] = places_.try_emplace(&timing, counted_.size());
    if (is_new) counted_.push_back({&timing});
    counted_[place->second].times += scale * static_cast<double>(runs);
  });
}

void StepLinks::carry_counted() {
  for (const Counted& each : counted_)
    for (const collectives::Timing::Load& load : each.timing->loads)
      seconds_[topology::index(load.link)] +=
          load.occupied * each.times / capacities_[topology::index(load.link)].value;
}

void StepLinks::carry_inner() {
  // Stages at one place in unlike nodes share what they were timed to take, with the links of the first of them.
  for (std::size_t stage = 0; stage < p_.loads.size(); ++stage) {
    const auto first = p_.loads.begin(), own = first + static_cast<std::ptrdiff_t>(stage);
    if (std::find(first, own, *own) != own) continue;
    for (const InnerLoads::InnerLoad& each : p_.loads[stage]->links())
      seconds_[topology::index(each.link)] +=
          std::inner_product(each.seconds.begin(), each.seconds.end(), p_.runs[stage].begin(), 0.0);
  }
}

void StepLinks::count_sends(const Traffic& traffic, const TrafficTimes& times) {
  for (std::uint32_t stage = 0; stage < p_.shape.stages && p_.shape.stages > 1; ++stage)
    for (std::uint32_t v = 0; v < p_.shape.virtual_stages; ++v)
      for (const bool forward : {true, false})
        if (p_.sends({stage, v}, forward))
          count(traffic.sends[stage][goes_down(p_.shape, v) == forward ? 0 : 1], course_.visits(stage, v), times);
}

void StepLinks::count_data(const Traffic& traffic, const TrafficTimes& times) {
  const Scenario& s = p_.s;
  for (std::uint32_t stage = 0; stage < p_.shape.stages; ++stage) {
    const DataPlan& plan = traffic.data[stage];
    count(plan.whole, 1, times);
    if (s.training.optimizer != Optimizer::none) count(plan.spread, 1, times);
    for (std::uint32_t v = 0; v < plan.buckets.size(); ++v) {
      for (const Declared& sum : plan.buckets[v])
        count(sum, sums_each_micro_batch(s) ? course_.visits(stage, v) : 1, times);
      if (v >= plan.gathers.size()) continue;
      for (const Gathers& gathers : plan.gathers[v]) {  // at least for the forward passes, and where it is trained back
        const bool back = !plan.buckets[v].empty() && !begins_frozen(s.training);
        count(gathers.ahead, course_.visits(stage, v) * (back ? 2 : 1), times);
        count(gathers.rest, course_.visits(stage, v) * (back ? 2 : 1), times);
      }
    }
  }
}

}  // namespace stepcast::search
