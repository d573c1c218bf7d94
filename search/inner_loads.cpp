#include "search/inner_loads.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace stepcast::search {
namespace {

/// Of any kind of block, but for rounding.
bool is_no_more(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr double kRounding = 1e-9;
  return std::ranges::equal(a, b, [](double x, double y) { return x <= y * (1 + kRounding); });
}

}  // namespace

InnerLoads::InnerLoads(const std::vector<schedules::PieceTimes::TimedPiece>& kinds,
                       std::span<const Bandwidth> capacities) {
  std::map<topology::LinkId, std::vector<double>> all;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    for (const collectives::SharedTiming& timing : kinds[kind].traffic)
      for (const collectives::Timing::Load& load : timing->loads) {
        std::vector<double>& seconds = all[load.link];
        seconds.resize(kinds.size());
        seconds[kind] += load.occupied / capacities[topology::index(load.link)].value;
      }
  for (auto& [link, seconds] : all) {
    const auto covers = [&own = seconds](const std::vector<double>& other) { return is_no_more(own, other); };
    if (std::ranges::none_of(unlike_, covers)) {
      std::erase_if(unlike_, [&own = seconds](const std::vector<double>& other) { return is_no_more(other, own); });
      unlike_.push_back(seconds);
    }
    links_.push_back({link, std::move(seconds)});
  }
}

double InnerLoads::busiest(std::span<const double> times) const {
  double most = 0;
  for (const std::vector<double>& seconds : unlike_)
    most = std::max(most, std::inner_product(seconds.begin(), seconds.end(), times.begin(), 0.0));
  return most;
}

}  // namespace stepcast::search
