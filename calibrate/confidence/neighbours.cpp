#include "calibrate/confidence/neighbours.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "calibrate/confidence/traits.h"

namespace stepcast::calibrate {
namespace {

/// A size that a plan does not have is 1: no tensor parallelism is one tensor rank.
double size_of(const Traits& t, const std::string& name) {
  const auto at = t.sizes.find(name);
  return at == t.sizes.end() ? 1 : at->second;
}

double distance(const Traits& a, const Traits& b) {
  std::set<std::string> sizes, kinds(a.kinds.begin(), a.kinds.end());
  for (const Traits* t : {&a, &b})
    for (const auto& [name, size] : t->sizes) sizes.insert(name);
  double sum = 0;
  for (const std::string& name : sizes) sum += std::abs(std::log(size_of(a, name) / size_of(b, name)));
  std::size_t shared = 0;
  for (const std::string& kind : b.kinds) shared += kinds.count(kind);
  const std::size_t differing = a.kinds.size() + b.kinds.size() - 2 * shared + (a.family == b.family ? 0 : 1);
  return sum + static_cast<double>(differing) * std::log(2.0);
}

}  // namespace

std::vector<const schedules::Scenario*> neighbours(const schedules::Scenario& row,
                                                   std::span<const schedules::Scenario* const> others,
                                                   std::size_t most) {
  const Traits own = traits(row);
  std::vector<std::pair<double, const schedules::Scenario*>> near;
  for (const schedules::Scenario* other : others) {
    const Traits t = traits(*other);
    if (t.gpu == own.gpu && t.software == own.software) near.emplace_back(distance(own, t), other);
  }
  std::ranges::stable_sort(near, {}, &std::pair<double, const schedules::Scenario*>::first);
  std::vector<const schedules::Scenario*> out;
  for (std::size_t i = 0; i < std::min(most, near.size()); ++i) out.push_back(near[i].second);
  return out;
}

}  // namespace stepcast::calibrate
