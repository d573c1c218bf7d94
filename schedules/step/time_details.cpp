#include "schedules/step/time_details.h"

#include <array>
#include <span>

#include "schedules/results/share_out.h"

namespace stepcast::schedules {
namespace {

using PieceClasses = PieceTimes::PieceClasses;

/// A detail, and what it is shared out by.
struct Shared {
  Time TimeSplit::*detail;
  Time PieceClasses::*by;
};

void share(TimeSplit& time, Time whole, const PieceClasses& all, const std::array<Shared, 3>& details) {
  std::array<double, 3> weights{};
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = to_seconds(all.*details[i].by);
  const std::vector<Time> shares = share_out(whole, weights);
  for (std::size_t i = 0; i < weights.size(); ++i) time.*details[i].detail = shares[i];
}

}  // namespace

void tell_details(const StepInput& in, std::uint32_t stage, TimeSplit& time) {
  const std::vector<PieceClasses> kinds = in.pieces.classes_at({0, 0, stage});
  constexpr std::array<Shared, 3> kCompute{{{&TimeSplit::multiplies, &PieceClasses::multiplies},
                                            {&TimeSplit::attention, &PieceClasses::attention},
                                            {&TimeSplit::memory_bound, &PieceClasses::memory_bound}}};
  constexpr std::array<Shared, 3> kTraffic{{{&TimeSplit::among_tensor, &PieceClasses::among_tensor},
                                            {&TimeSplit::among_context, &PieceClasses::among_context},
                                            {&TimeSplit::among_experts, &PieceClasses::among_experts}}};
  PieceClasses all;
  for (const std::uint32_t place : places(in.chunks[stage])) {
    const PieceClasses& one = kinds[in.blocks.order[place]];
    for (const std::array<Shared, 3>& details : {kCompute, kTraffic})
      for (const Shared& each : details) all.*each.by += one.*each.by;
  }
  share(time, time.compute, all, kCompute);
  share(time, time.exposed_tensor, all, kTraffic);
  time.gradients = time.exposed_data - time.parameters;
}

}  // namespace stepcast::schedules
