#include "calibrate/fit/copy_fits.h"

#include <algorithm>
#include <cmath>
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

/// What each of several GPUs gets of the rate that one has alone, by the largest size that both were measured at.
std::vector<std::string> at_once_notes(const std::vector<const CopyRow*>& alone,
                                       const std::vector<const CopyRow*>& at_once) {
  std::map<std::pair<std::uint32_t, std::int64_t>, Time> slowest;
  for (const CopyRow* row : at_once) {
    Time& most = slowest[{row->at_once, row->bytes.value}];
    most = std::max(most, row->time.median);
  }
  std::map<std::uint32_t, std::string> notes;  // the last of a number of GPUs is its largest size
  for (const auto& [what, time] : slowest) {
    const auto& [gpus, bytes] = what;
    const auto one = std::ranges::find(alone, bytes, [](const CopyRow* row) { return row->bytes.value; });
    if (one == alone.end()) continue;
    notes[gpus] = std::to_string(gpus) + " GPUs at once: the slowest gets " +
                  std::to_string(std::lround(100 * ((*one)->time.median / time))) + " % of one GPU's rate at " +
                  std::to_string(bytes) + " B";
  }
  std::vector<std::string> out;
  for (const auto& [gpus, note] : notes) out.push_back(note);
  return out;
}

/// The constant that says how much longer `slowed` takes; a name outside of the profile's blocks where it has none.
std::string slowdown_key(const std::string& slowed, const std::string& beside) {
  if (slowed == "all_reduce") return "all_reduce_beside_" + beside;
  return beside == "all_reduce" ? "software.overlap_slowdown" : "interference." + beside;
}

FittedModel fit_slowdown(const std::string& name, const std::vector<const InterferenceRow*>& rows) {
  const std::string key = slowdown_key(rows.front()->slowed, rows.front()->beside);
  FittedModel model{name, {{key, ConstantUnit::number, {}, false}}, {}, {}};
  std::vector<double> seconds;
  for (const InterferenceRow* row : rows) {
    seconds.push_back(to_seconds(row->together));
    model.rows.push_back({row->place,
                          row->slowed + " beside " + row->beside + " on GPU " + std::to_string(row->gpu) + ", " +
                              std::to_string(row->bytes.value) + " B",
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
    std::vector<const CopyRow*> alone, at_once;
    for (const CopyRow* row : rows) (row->at_once == 1 ? alone : at_once).push_back(row);
    if (rows.front()->memory != "pinned" || alone.empty()) continue;
    models.push_back(fit_copy(name, alone));
    models.back().notes = at_once_notes(alone, at_once);
  }
  return models;
}

std::vector<FittedModel> fit_interference(const Bundle& bundle) {
  std::vector<FittedModel> models;
  const auto pair = [](const InterferenceRow& row) {
    return (row.slowed == "all_reduce" ? row.slowed : "compute") + " beside " + row.beside;
  };
  for (const auto& [name, rows] : by_name(bundle.interference, pair)) {
    const std::string& beside = rows.front()->beside;
    if (beside != "none" && beside != "copy_p2p") models.push_back(fit_slowdown(name, rows));
  }
  return models;
}

}  // namespace stepcast::calibrate
