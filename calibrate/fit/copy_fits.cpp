#include "calibrate/fit/copy_fits.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace stepcast::calibrate {
namespace {

/// Rows with a common name, the names in order of first appearance.
template <class Row, class Name>
std::vector<std::pair<std::string, std::vector<const Row*>>> by_name(const std::vector<Row>& rows, Name name) {
  std::vector<std::pair<std::string, std::vector<const Row*>>> out;
  for (const Row& row : rows) {
    const std::string key = name(row);
    auto at = std::ranges::find(out, key, [](const auto& each) { return each.first; });
    if (at == out.end()) at = out.insert(at, {key, {}});
    at->second.push_back(&row);
  }
  return out;
}

std::vector<std::size_t> each_its_own(std::size_t count) {
  std::vector<std::size_t> groups(count);
  std::iota(groups.begin(), groups.end(), std::size_t{0});
  return groups;
}

FittedModel fit_copy(const std::string& name, const std::vector<const CopyRow*>& rows) {
  FittedModel model{"copies " + name, {}, {}, {}};
  const std::string block = "copies." + name + ".";
  model.constants.push_back({block + "latency", ConstantUnit::seconds, {}, false});
  model.constants.push_back({block + "bandwidth", ConstantUnit::bytes_per_second, {}, false});
  std::vector<double> seconds;
  std::map<std::int64_t, std::size_t> sizes;
  std::vector<std::size_t> groups;
  for (const CopyRow* row : rows) {
    seconds.push_back(to_seconds(row->time.median));
    groups.push_back(sizes.try_emplace(row->bytes.value, sizes.size()).first->second);
    model.rows.push_back({row->place,
                          row->kind + " " + row->memory + " " + row->from + " to " + row->to + ", " +
                              std::to_string(row->bytes.value) + " B",
                          seconds.back()});
  }
  const std::vector<Free> constants{{block + "latency", 1e-7, 1e-2, 1e-5, true},
                                    {block + "bandwidth", 1e7, 1e13, 2e10, true}};
  take(fit_robust(seconds, groups, constants,
                  [&](const std::vector<double>& c, std::size_t i) {
                    return c[0] + static_cast<double>(rows[i]->bytes.value) / c[1];
                  }),
       model);
  return model;
}

FittedModel fit_slowdown(const std::string& with, const std::vector<const InterferenceRow*>& rows) {
  const std::string key = with == "all_reduce" ? "software.overlap_slowdown" : "interference." + with;
  FittedModel model{"compute beside " + with, {{key, ConstantUnit::number, {}, false}}, {}, {}};
  std::vector<double> seconds;
  for (const InterferenceRow* row : rows) {
    seconds.push_back(to_seconds(row->together));
    model.rows.push_back({row->place, row->compute + " beside " + with + ", " + std::to_string(row->bytes.value) + " B",
                          seconds.back()});
  }
  const std::vector<Free> constants{{key, 0, 4, 0.1, false}};
  take(fit_robust(seconds, each_its_own(rows.size()), constants,
                  [&](const std::vector<double>& c, std::size_t i) { return to_seconds(rows[i]->alone) * (1 + c[0]); }),
       model);
  return model;
}

}  // namespace

std::vector<FittedModel> fit_copies(const Bundle& bundle) {
  std::vector<FittedModel> models;
  for (const auto& [name, rows] :
       by_name(bundle.copies, [](const CopyRow& row) { return row.kind + "_" + row.memory; })) {
    if (rows.front()->memory == "pinned") models.push_back(fit_copy(name, rows));
  }
  return models;
}

std::vector<FittedModel> fit_interference(const Bundle& bundle) {
  std::vector<FittedModel> models;
  for (const auto& [with, rows] : by_name(bundle.interference, [](const InterferenceRow& row) { return row.with; })) {
    if (with == "all_reduce" || with == "copy_h2d") models.push_back(fit_slowdown(with, rows));
  }
  return models;
}

}  // namespace stepcast::calibrate
