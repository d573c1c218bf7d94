#include "app/report/step_detail_json.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "app/report/json_text.h"
#include "app/report/stretch_rows.h"
#include "schedules/results/memory_kinds.h"
#include "schedules/results/time_parts.h"

namespace stepcast::app {
namespace {

using DetailJson = nlohmann::ordered_json;
using namespace schedules;

/// Links that a report lists at most, the busiest.
constexpr std::size_t kMostLinks = 2000;
/// Moments at which a stage's memory is told at most; in between the fullest moment counts.
constexpr std::size_t kMostMoments = 400, kMostMomentsInAll = 12'000;

template <class Named>
DetailJson names_of(const Named& all) {
  DetailJson out = DetailJson::array();
  for (const auto& each : all) out.push_back({{"key", each.key}, {"title", each.title}});
  return out;
}

DetailJson traffic_json(const KindOfTraffic& kind) {
  return {{"name", kind.name},
          {"operation", kind.operation},
          {"algorithm", kind.algorithm},
          {"bytes", kind.bytes.value},
          {"ranks", kind.ranks},
          {"groups", kind.groups},
          {"alone_s", to_seconds(kind.alone)},
          {"times", kind.times},
          {"busbw_bytes_per_s", kind.busbw ? DetailJson(*kind.busbw) : DetailJson(nullptr)},
          {"busiest_link", kind.busiest_link},
          {"inside_layers", kind.inside_layers}};
}

/// Devices once, links by the places of their ends.
DetailJson links_json(const std::vector<UsedLink>& links) {
  DetailJson devices = DetailJson::array(), rows = DetailJson::array();
  std::map<std::string, std::size_t> place;
  const auto device = [&](const std::string& name) {
    const auto [known, fresh] = place.try_emplace(name, place.size());
    if (fresh) devices.push_back(name);
    return known->second;
  };
  for (const UsedLink& link : std::span(links).first(std::min(links.size(), kMostLinks))) {
    DetailJson users = DetailJson::array();
    for (const UsedLink::User& user : link.users) users.push_back({user.traffic, user.share});
    rows.push_back({{"from", device(link.from)},
                    {"to", device(link.to)},
                    {"kind", link.kind},
                    {"bytes_per_s", link.bandwidth.value},
                    {"utilisation", link.utilisation},
                    {"users", std::move(users)}});
  }
  return {{"devices", std::move(devices)}, {"rows", std::move(rows)}, {"left_out", links.size() - rows.size()}};
}

/// Of each stage, the fullest moment of each of many equal parts of the step, and every moment where there are few.
DetailJson memory_json(const Forecast& forecast) {
  DetailJson out = DetailJson::array();
  const std::size_t most =
      std::min(kMostMoments, kMostMomentsInAll / std::max<std::size_t>(forecast.stages.size(), 1) + 1);
  const double length = std::max(to_seconds(forecast.step), 1e-12);
  for (std::size_t i = 0; i < forecast.memory.size();) {
    const std::uint32_t stage = forecast.memory[i].stage;
    std::size_t end = i;
    while (end < forecast.memory.size() && forecast.memory[end].stage == stage) ++end;
    const bool thin = end - i > most;
    DetailJson at = DetailJson::array(), activations = DetailJson::array();
    const auto tell = [&](const MemoryPoint& point) {
      at.push_back(to_seconds(point.at));
      activations.push_back(point.activations.value);
    };
    while (i < end) {
      const auto part = [&](std::size_t k) {
        return static_cast<std::size_t>(to_seconds(forecast.memory[k].at) / length * static_cast<double>(most));
      };
      const std::size_t here = part(i);
      std::size_t fullest = i;
      for (++i; thin && i < end && part(i) == here; ++i)
        if (forecast.memory[i].state + forecast.memory[i].activations >
            forecast.memory[fullest].state + forecast.memory[fullest].activations)
          fullest = i;
      tell(forecast.memory[fullest]);
    }
    out.push_back({{"stage", stage},
                   {"parts", thin ? DetailJson(most) : DetailJson(nullptr)},
                   {"at_s", std::move(at)},
                   {"activations_bytes", std::move(activations)}});
  }
  return out;
}

DetailJson line_json(const PassLine& line) {
  return {{"name", line.name},
          {"shape", line.rating.shape},
          {"flops", line.rating.flops},
          {"bytes", line.rating.bytes},
          {"launches", line.launches},
          {"compute_s", to_seconds(line.compute)},
          {"exposed_s", to_seconds(line.exposed)},
          {"rated", line.rating.rated > 0 ? DetailJson(line.rating.rated) : DetailJson(nullptr)},
          {"by_bytes", line.rating.by_bytes},
          {"source", line.rating.source}};
}

DetailJson blocks_json(const std::vector<DerivedBlock>& blocks) {
  DetailJson out = DetailJson::array();
  for (const DerivedBlock& block : blocks) {
    DetailJson passes = DetailJson::array();
    for (const PassLines& pass : block.passes) {
      DetailJson lines = DetailJson::array();
      for (const PassLine& line : pass.lines) lines.push_back(line_json(line));
      passes.push_back({{"pass", pass.pass},
                        {"compute_s", to_seconds(pass.compute)},
                        {"exposed_s", to_seconds(pass.exposed)},
                        {"lines", std::move(lines)}});
    }
    out.push_back({{"name", block.name},
                   {"parameters", block.parameters},
                   {"saved_bytes", block.saved},
                   {"passes", std::move(passes)}});
  }
  return out;
}

/// What the passes of a stage take alone, and what the step has more or less of it.
DetailJson stages_json(const Forecast& forecast) {
  DetailJson out = DetailJson::array();
  for (const DerivedStage& stage : forecast.detail->stages) {
    const TimeSplit& split = forecast.stages[stage.stage].time;
    out.push_back({{"stage", stage.stage},
                   {"blocks", stage.blocks},
                   {"micro_batches", stage.micro_batches},
                   {"compute_s", to_seconds(stage.compute)},
                   {"exposed_s", to_seconds(stage.exposed)},
                   {"more_compute_s", to_seconds(split.compute - stage.compute)},
                   {"more_exposed_s", to_seconds(split.exposed_tensor - stage.exposed)}});
  }
  return out;
}

}  // namespace

std::string step_detail_json(const Forecast& forecast, const Scenario& scenario) {
  const StepDetail& detail = *forecast.detail;
  DetailJson traffic = DetailJson::array();
  for (const KindOfTraffic& kind : detail.traffic) traffic.push_back(traffic_json(kind));
  const Gpu& gpu = scenario.cluster.gpu;
  return json_text({{"step_s", to_seconds(forecast.step)},
                    {"streams", forecast.streams},
                    {"doings", names_of(kDoings)},
                    {"time_parts", names_of(kTimeParts)},
                    {"memory_kinds", names_of(kMemoryKinds)},
                    {"schedule", scenario.pipeline.schedule},
                    {"gpu", {{"name", gpu.name}, {"source", gpu.source}, {"memory_bytes", gpu.memory.value}}},
                    {"stretches", stretch_rows(detail.stretches)},
                    {"memory", memory_json(forecast)},
                    {"traffic", std::move(traffic)},
                    {"links", links_json(detail.links)},
                    {"blocks", blocks_json(detail.blocks)},
                    {"stages", stages_json(forecast)}},
                   -1);
}

}  // namespace stepcast::app
