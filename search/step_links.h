#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "schedules/step/traffic.h"
#include "search/course.h"
#include "search/traffic_times.h"

namespace stepcast::search {

/// What of a link's work is sure: its loads are many, rounded to picoseconds each.
inline constexpr double kSurelyCarried = 1 - 1e-6;

/// How long each link is busy in a step, whatever runs beside what.
class StepLinks {
 public:
  /// `capacities`: of links, by LinkId.
  StepLinks(const Passes& passes, const Course& course, std::span<const Bandwidth> capacities)
      : p_(passes), course_(course), capacities_(capacities), seconds_(capacities.size(), 0) {}

  /// When the busiest of them has carried all of a step's.
  Time busiest(const schedules::Traffic& traffic, const TrafficTimes& times);

 private:
  /// Collectives that are timed alike, in stages or for buckets of one size, are counted, and carried once.
  void count(const std::optional<schedules::Declared>& declared, std::int64_t runs, const TrafficTimes& times);
  void carry_counted();
  void carry_inner();
  void count_sends(const schedules::Traffic& traffic, const TrafficTimes& times);
  void count_data(const schedules::Traffic& traffic, const TrafficTimes& times);

  const Passes& p_;
  const Course& course_;
  std::span<const Bandwidth> capacities_;
  std::vector<double> seconds_;  ///< that each is busy, by LinkId
  struct Counted {
    const collectives::Timing* timing = nullptr;
    double times = 0;
  };
  std::vector<Counted> counted_;                                        ///< in the order in which they were met
  std::unordered_map<const collectives::Timing*, std::size_t> places_;  ///< there
};

}  // namespace stepcast::search
