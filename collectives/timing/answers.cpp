#include "collectives/timing/answers.h"

#include <algorithm>

namespace stepcast::collectives {
namespace {

/// Of how many groups there are, and the ends of each: groups that differ elsewhere alone are told apart by comparing.
std::uint64_t hash_of(std::span<const Group> groups) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;  // 2^64 over the golden ratio
  std::uint64_t hash = groups.size();
  for (const Group& group : groups) {
    const std::uint64_t first = group.empty() ? 0 : topology::index(group.front()),
                        last = group.empty() ? 0 : topology::index(group.back());
    hash = (hash ^ (group.size() << 48 ^ first << 24 ^ last)) * kOdd;
    hash ^= hash >> 32;
  }
  return hash;
}

/// The place of those that are these groups, in this order.
auto find(auto& all, std::span<const Group> groups) {
  return std::ranges::find_if(all, [&](const auto& each) { return std::ranges::equal(each.groups, groups); });
}

}  // namespace

const Timing* TimerAnswers::known(const TimerQuestion& question) const {
  const auto alike = by_hash_.find(hash_of(question.concurrent));
  if (alike == by_hash_.end()) return nullptr;
  const auto groups = find(alike->second, question.concurrent);
  if (groups == alike->second.end()) return nullptr;
  const auto sizes = groups->answers.find({question.bytes.value, question.operation, question.fold});
  if (sizes == groups->answers.end()) return nullptr;
  const auto answer = std::ranges::find_if(sizes->second, [&](const TimedBefore& each) {
    return each.algorithm == question.algorithm && each.details == question.details;
  });
  return answer == sizes->second.end() ? nullptr : answer->timing;
}

std::size_t TimerAnswers::remember(const TimerQuestion& question, const Timing& answer) {
  if (known(question) != nullptr) return 0;
  std::size_t bytes = sizeof(Size) + sizeof(TimedBefore);
  std::vector<OfGroups>& alike = by_hash_[hash_of(question.concurrent)];
  auto groups = find(alike, question.concurrent);
  if (groups == alike.end()) {
    groups = alike.insert(groups, OfGroups{{question.concurrent.begin(), question.concurrent.end()}, {}});
    for (const Group& group : groups->groups) bytes += sizeof(group) + group.size() * sizeof(topology::GpuId);
  }
  groups->answers[{question.bytes.value, question.operation, question.fold}].push_back(
      {std::string(question.algorithm), question.details, &answer});
  return bytes;
}

}  // namespace stepcast::collectives
