#include "app/diff/difference.h"

#include <algorithm>

#include "schedules/results/memory_kinds.h"
#include "schedules/results/share_out.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

using schedules::kTimeDetails;
using schedules::kTimeParts;
using schedules::PartGroup;

/// A line of the comparison: a part, a detail of one, or what only a trace has.
struct DiffLine {
  std::string_view key, title;
  PartGroup group;
  Time schedules::TimeSplit::*time;
  Time SideStage::*of_trace = nullptr;

  Time of(const SideStage& stage) const { return of_trace != nullptr ? stage.*of_trace : stage.time.*time; }
};

/// Of all parts those with details as these, where both sides have them; by group.
std::vector<DiffLine> lines(bool detailed) {
  std::vector<DiffLine> all;
  for (const schedules::TimePart& part : kTimeParts) {
    bool has_details = false;
    for (const schedules::TimeDetail& detail : kTimeDetails) {
      if (!detailed || detail.part != part.time) continue;
      all.push_back({detail.key, detail.title, part.group, detail.time});
      has_details = true;
    }
    if (!has_details) all.push_back({part.key, part.title, part.group, part.time});
  }
  all.push_back({"unclassed", "kernels of no known class", PartGroup::compute, nullptr, &SideStage::unclassed});
  all.push_back({"unassigned", "among ranks not known", PartGroup::communication, nullptr, &SideStage::unassigned});
  std::ranges::stable_sort(all, {}, &DiffLine::group);
  return all;
}

std::vector<Time> mean_of(const DiffSide& side, const std::vector<DiffLine>& all, std::optional<std::uint32_t> stage) {
  std::vector<Time> sums(all.size());
  std::int64_t count = 0;
  for (const SideStage& each : side.stages) {
    if (stage && side.stages.size() > 1 && each.stage != *stage) continue;
    ++count;
    for (std::size_t i = 0; i < all.size(); ++i) sums[i] += all[i].of(each);
  }
  if (count == 0)
    throw InputError("--stage", "found " + std::to_string(*stage) + ", expected a stage from 0 to " +
                                    std::to_string(side.stages.size() - 1));
  return schedules::means(side.step, sums, count);
}

std::vector<PartDifference> parts_of(const std::vector<DiffLine>& all, const std::vector<Time>& a,
                                     const std::vector<Time>& b) {
  std::vector<PartDifference> parts;
  for (std::size_t i = 0; i < all.size(); ++i) parts.push_back({all[i].key, all[i].title, all[i].group, a[i], b[i]});
  return parts;
}

const schedules::MemoryUse* fullest(const DiffSide& side) {
  const schedules::MemoryUse* most = nullptr;
  for (const SideStage& stage : side.stages)
    if (stage.memory && (most == nullptr || stage.memory->peak() > most->peak())) most = &*stage.memory;
  return most;
}

std::vector<KeyDifference> differing(const std::map<std::string, std::string>& a,
                                     const std::map<std::string, std::string>& b) {
  std::map<std::string, KeyDifference> all;
  for (const auto& [key, value] : a) all[key] = {key, value, {}};
  for (const auto& [key, value] : b) {
    KeyDifference& one = all[key];
    one.key = key;
    one.b = value;
  }
  std::vector<KeyDifference> out;
  for (auto& [key, each] : all)
    if (each.a != each.b) out.push_back(std::move(each));
  return out;
}

}  // namespace

StepDifference difference(const DiffSide& a, const DiffSide& b, std::optional<std::uint32_t> stage) {
  StepDifference out;
  const std::vector<DiffLine> all = lines(a.detailed && b.detailed);
  out.parts = parts_of(all, mean_of(a, all, stage), mean_of(b, all, stage));
  if (!stage && a.stages.size() == b.stages.size() && a.stages.size() > 1)
    for (std::size_t i = 0; i < a.stages.size(); ++i) {
      std::vector<Time> of_a, of_b;
      for (const DiffLine& line : all) {
        of_a.push_back(line.of(a.stages[i]));
        of_b.push_back(line.of(b.stages[i]));
      }
      out.stages.push_back(parts_of(all, of_a, of_b));
    }
  const schedules::MemoryUse* const of_a = fullest(a);
  const schedules::MemoryUse* const of_b = fullest(b);
  if (of_a != nullptr && of_b != nullptr)
    for (const schedules::MemoryKind& kind : schedules::kMemoryKinds)
      out.memory.push_back({kind.key, kind.title, of_a->*kind.on_gpu, of_b->*kind.on_gpu});
  out.keys_known = a.keys && b.keys;
  if (out.keys_known) out.keys = differing(*a.keys, *b.keys);
  return out;
}

}  // namespace stepcast::app
