#include "app/report/stretch_rows.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <vector>

#include "app/report/base64.h"

namespace stepcast::app {
namespace {

using schedules::Stretched;
using StretchKind = std::tuple<std::uint32_t, std::uint32_t, std::int64_t, std::int64_t>;

/// Kinds that fewer have are written out where they stand.
constexpr std::uint32_t kFewOfAKind = 4;

std::int64_t nanoseconds(Time time) {
  constexpr std::int64_t kPicoseconds = 1000;
  return (time.value + kPicoseconds / 2) / kPicoseconds;
}

std::int64_t duration_ns(const Stretched& s) { return nanoseconds(s.start + s.duration) - nanoseconds(s.start); }

StretchKind kind_of(const Stretched& s) {
  return {static_cast<std::uint32_t>(s.doing), s.virtual_stage, s.traffic ? std::int64_t{*s.traffic} : -1,
          duration_ns(s)};
}

class StretchPacker {
 public:
  void whole(std::uint64_t value) {
    for (; value > 0x7f; value >>= 7) bytes_.push_back(static_cast<std::uint8_t>(value | 0x80));
    bytes_.push_back(static_cast<std::uint8_t>(value));
  }
  void sign_and_all(std::int64_t value) {
    const auto twice = static_cast<std::uint64_t>(value) << 1;
    whole(value < 0 ? ~twice : twice);
  }
  std::string text() const { return base64(bytes_); }

 private:
  std::vector<std::uint8_t> bytes_;
};

/// Those that many have, the most frequent first: their places are the shortest numbers.
std::vector<StretchKind> frequent_kinds(std::span<const Stretched> stretches) {
  std::map<StretchKind, std::uint32_t> count;
  for (const Stretched& s : stretches) ++count[kind_of(s)];
  std::vector<std::pair<std::uint32_t, StretchKind>> sorted;
  for (const auto& [kind, times] : count)
    if (times >= kFewOfAKind) sorted.emplace_back(times, kind);
  std::ranges::stable_sort(sorted, std::greater<>(), &std::pair<std::uint32_t, StretchKind>::first);
  std::vector<StretchKind> kinds;
  for (const auto& each : sorted) kinds.push_back(each.second);
  return kinds;
}

/// Behind which stretches are left out.
std::optional<Time> horizon(std::span<const Stretched> stretches) {
  if (stretches.size() <= kMostStretches) return std::nullopt;
  std::vector<Time> starts;
  for (const Stretched& s : stretches) starts.push_back(s.start);
  const auto last = starts.begin() + static_cast<std::ptrdiff_t>(kMostStretches);
  std::ranges::nth_element(starts, last);
  return *last;
}

}  // namespace

nlohmann::ordered_json stretch_rows(std::span<const Stretched> all) {
  const std::optional<Time> until = horizon(all);
  std::vector<Stretched> stretches;
  for (const Stretched& s : all)
    if (!until || s.start < *until) stretches.push_back(s);
  const std::vector<StretchKind> kinds = frequent_kinds(stretches);
  std::map<StretchKind, std::uint64_t> place;
  for (std::size_t i = 0; i < kinds.size(); ++i) place[kinds[i]] = i + 1;

  nlohmann::ordered_json out{{"kinds", kinds},
                             {"rows", nlohmann::ordered_json::array()},
                             {"until_ns", until ? nlohmann::ordered_json(nanoseconds(*until)) : nullptr}};
  for (std::size_t i = 0; i < stretches.size();) {
    const std::uint32_t stage = stretches[i].stage, stream = stretches[i].stream;
    StretchPacker packed;
    std::int64_t micro_batch = 0, end = 0;
    for (; i < stretches.size() && stretches[i].stage == stage && stretches[i].stream == stream; ++i) {
      const Stretched& s = stretches[i];
      const StretchKind kind = kind_of(s);
      if (const auto known = place.find(kind); known != place.end()) {
        packed.whole(known->second);
      } else {
        packed.whole(0);
        packed.whole(std::get<0>(kind));
        packed.whole(std::get<1>(kind));
        packed.whole(static_cast<std::uint64_t>(std::get<2>(kind) + 1));
        packed.whole(static_cast<std::uint64_t>(std::get<3>(kind)));
      }
      packed.sign_and_all(std::int64_t{s.micro_batch} - micro_batch);
      packed.sign_and_all(nanoseconds(s.start) - end);
      micro_batch = s.micro_batch;
      end = nanoseconds(s.start + s.duration);
    }
    out["rows"].push_back({{"stage", stage}, {"stream", stream}, {"packed", packed.text()}});
  }
  return out;
}

}  // namespace stepcast::app
