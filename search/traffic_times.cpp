#include "search/traffic_times.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>

#include "workload/least_timing.h"

namespace stepcast::search {

TrafficTimes::TrafficTimes(std::span<const workload::Communication> communications, const collectives::Timer& timer,
                           TimeWanted answer)
    : communications_(communications), timer_(timer) {
  alone_.reserve(communications.size());
  parts_.reserve(communications.size());
  for (const workload::Communication& each : communications) {
    if (each.copy || each.order != workload::Communication::Order::one_after_the_other)
      throw std::logic_error("a communication of a plan that is no sequence of collectives");
    std::vector<TimedPart>& parts = parts_.emplace_back();
    std::optional<Time>& alone = alone_.emplace_back();
    if (answer == TimeWanted::least) continue;
    for (const workload::Collective& collective : each.collectives) {
      parts.push_back({&together(collective), collective.scale});
      alike_ = alike_ && parts.back().timing->alike();
    }
    alone = time_of(each, Each::together);
  }
}

void TrafficTimes::stand_alone(bool late) {
  for (std::size_t id = 0; id < alone_.size(); ++id)
    alone_[id] = time_of(communications_[id], late ? Each::late : Each::alone);
}

const collectives::Timing& TrafficTimes::together(const workload::Collective& c) const {
  return timer_.time(c.operation, c.bytes, *c.groups, c.algorithm, true,
                     c.details ? *c.details : collectives::Details{});
}

bool TrafficTimes::unlike(workload::CommunicationId id) const {
  return std::ranges::any_of(communications_[workload::index(id)].collectives, [&](const workload::Collective& each) {
    const collectives::Details details = each.details ? *each.details : collectives::Details{};
    return !timer_.time(each.operation, each.bytes, *each.groups, each.algorithm, false, details).alike();
  });
}

Time TrafficTimes::begun_together(std::span<const workload::CommunicationId> ids, const std::vector<bool>& together,
                                  std::span<const Bandwidth> capacities) const {
  Time alone{};
  std::map<topology::LinkId, double> seconds;
  for (const workload::CommunicationId id : ids) {
    alone += this->alone(id);
    for (const workload::Collective& each : communications_[workload::index(id)].collectives) {
      std::vector<collectives::Group> groups;
      std::ranges::copy_if(*each.groups, std::back_inserter(groups), [&](const collectives::Group& group) {
        return std::ranges::any_of(group, [&](topology::GpuId gpu) { return together[topology::index(gpu)]; });
      });
      if (groups.size() <= each.own) continue;
      const collectives::Timing& all = this->together(each);
      const collectives::Timing& theirs =
          groups.size() == each.groups->size()
              ? all
              : timer_.time(each.operation, each.bytes, groups, all.algorithm + "/" + all.protocol, false,
                            each.details ? *each.details : collectives::Details{});
      for (const collectives::Timing::Load& load : theirs.loads)
        seconds[load.link] += load.occupied * each.scale / capacities[topology::index(load.link)].value;
    }
  }
  double busiest = 0;
  for (const auto& [link, of_link] : seconds) busiest = std::max(busiest, of_link);
  constexpr double kRounding = 1e-6;
  return std::max(alone, from_seconds(busiest * (1 - kRounding)));
}

Time TrafficTimes::time_of(const workload::Communication& communication, Each each) const {
  const auto time = [&](const workload::Collective& c) {
    if (each == Each::least)
      return timer_.least(c.operation, c.bytes, *c.groups, c.algorithm,
                          c.details ? *c.details : collectives::Details{});
    const collectives::Timing& timing = together(c);
    const bool late = each == Each::late;
    return late || (each == Each::alone && !timing.alike()) ? workload::least_timing(c, timer_, late).duration
                                                            : timing.duration;
  };
  Time all = communication.delay;
  for (const auto* collectives : {&communication.at_receiver, &communication.collectives})
    for (const workload::Collective& c : *collectives)
      all += c.scale == 1 ? time(c) : from_seconds(to_seconds(time(c)) * c.scale);
  return all;
}

}  // namespace stepcast::search
