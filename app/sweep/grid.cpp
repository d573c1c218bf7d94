#include "app/sweep/grid.h"

#include <algorithm>
#include <utility>

#include "language/core/nearest.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

constexpr std::size_t kMostPoints = 100'000'000;

std::vector<std::string> keys_of(const std::string& zip) {
  std::vector<std::string> keys(1);
  for (const char c : zip) {
    if (c == ',')
      keys.emplace_back();
    else if (c != ' ')
      keys.back() += c;
  }
  return keys;
}

}  // namespace

SweepGrid::SweepGrid(std::vector<SweepAxis> axes, std::span<const std::string> zips) : axes_(std::move(axes)) {
  for (auto axis = axes_.begin(); axis != axes_.end(); ++axis)
    if (std::ranges::find(axes_.begin(), axis, axis->key, &SweepAxis::key) != axis)
      throw InputError("--axis", "found " + in_quotes(axis->key) + " a second time, expected one axis of a key");
  std::vector<std::size_t> together(axes_.size());  // the axis that stands for those that step with it
  for (std::size_t i = 0; i < axes_.size(); ++i) together[i] = i;
  for (const std::string& zip : zips) {
    const std::vector<std::string> keys = keys_of(zip);
    if (keys.size() < 2)
      throw InputError("--zip", "found " + in_quotes(zip) + ", expected KEY,KEY of two axes or more");
    std::vector<std::size_t> places;
    for (const std::string& key : keys) places.push_back(named(key, zip));
    const std::size_t first = *std::ranges::min_element(places);
    for (const std::size_t place : places) {
      if (together[place] != place || std::ranges::count(places, place) > 1)
        throw InputError("--zip", "found " + in_quotes(axes_[place].key) + " a second time, expected it once");
      if (axes_[place].values.size() != axes_[first].values.size())
        throw InputError("--zip", "found " + std::to_string(axes_[first].values.size()) + " values of " +
                                      axes_[first].key + " and " + std::to_string(axes_[place].values.size()) + " of " +
                                      axes_[place].key + ", expected as many of each");
    }
    for (const std::size_t place : places) together[place] = first;
  }
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (together[i] != i) continue;
    SweepDimension& dimension = dimensions_.emplace_back();
    dimension.size = axes_[i].values.size();
    for (std::size_t other = i; other < axes_.size(); ++other)
      if (together[other] == i) dimension.axes.push_back(other);
    if (points_ > kMostPoints / dimension.size)
      throw InputError("--axis", "found more than 100 million points, expected fewer values");
    points_ *= dimension.size;
  }
}

std::size_t SweepGrid::named(const std::string& key, const std::string& zip) const {
  const auto axis = std::ranges::find(axes_, key, &SweepAxis::key);
  if (axis != axes_.end()) return static_cast<std::size_t>(axis - axes_.begin());
  std::vector<std::string_view> keys;
  for (const SweepAxis& each : axes_) keys.emplace_back(each.key);
  throw InputError("--zip", "found " + in_quotes(zip) + ", of which " + in_quotes(key) + " is no axis, expected " +
                                language::one_of(key, keys));
}

std::vector<std::size_t> SweepGrid::position(std::size_t point) const {
  std::vector<std::size_t> at(dimensions_.size());
  for (std::size_t i = dimensions_.size(); i-- > 0;) {
    at[i] = point % dimensions_[i].size;
    point /= dimensions_[i].size;
  }
  return at;
}

std::vector<std::size_t> SweepGrid::values(std::size_t point) const {
  std::vector<std::size_t> values(axes_.size());
  const std::vector<std::size_t> at = position(point);
  for (std::size_t i = 0; i < at.size(); ++i)
    for (const std::size_t axis : dimensions_[i].axes) values[axis] = at[i];
  return values;
}

std::vector<language::Given> SweepGrid::keys(std::size_t point) const {
  std::vector<language::Given> keys;
  const std::vector<std::size_t> at = values(point);
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const std::string& value = axes_[i].values[at[i]];
    keys.push_back({axes_[i].key, value, {"--set " + axes_[i].key + "=" + value, 0, 0}});
  }
  return keys;
}

}  // namespace stepcast::app
