#include "schedules/step/step_detail.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "schedules/pass_times/derivation.h"
#include "schedules/step/link_loads.h"
#include "schedules/step/split.h"
#include "topology/link_kind_name.h"
#include "workload/link_capacity.h"

namespace stepcast::schedules {
namespace {

Doing doing_of(const LaneTask& task) {
  if (task.beside) return Doing::together;
  switch (task.activity) {
    case Activity::forward:
      return Doing::forward;
    case Activity::backward:
    case Activity::whole_backward:
      return Doing::backward;
    case Activity::weight:
      return Doing::weight;
    case Activity::optimizer:
      return Doing::optimizer;
    case Activity::compression:
      return Doing::compression;
    case Activity::send:
      return Doing::communication;
  }
  return Doing::idle;
}

Doing doing_of(const GapPart& gap) {
  if (gap.of == &TimeSplit::bubble) return Doing::bubble;
  if (gap.of == &TimeSplit::exposed_pipeline) return Doing::exposed_pipeline;
  if (gap.of == &TimeSplit::exposed_data) return Doing::exposed_data;
  return gap.of == &TimeSplit::host ? Doing::host : Doing::idle;
}

/// Communications that are alike, each kind once.
class TrafficKinds {
 public:
  TrafficKinds(const StepInput& input, const StepRun& run) : in_(input), run_(run) {}

  /// `name`: of the kind, where it is seen for the first time.
  std::uint32_t kind_of(workload::CommunicationId id, std::string_view name) {
    const auto [known, fresh] = by_id_.try_emplace(index(id), 0);
    if (fresh) known->second = add(id, name);
    return known->second;
  }
  /// The one kind of copies between GPUs and hosts.
  std::uint32_t copies() {
    if (!copies_) {
      copies_ = static_cast<std::uint32_t>(kinds_.size());
      kinds_.push_back({.name = "copies between GPUs and hosts", .operation = "copy"});
    }
    return *copies_;
  }
  std::uint32_t inside(std::uint32_t block) {
    const auto [known, fresh] = by_block_.try_emplace(block, static_cast<std::uint32_t>(kinds_.size()));
    if (fresh)
      kinds_.push_back({.name = "inside layers: " + std::string(in_.blocks.kinds[block].name),
                        .operation = "collectives inside layers",
                        .inside_layers = true});
    return known->second;
  }
  KindOfTraffic& at(std::uint32_t kind) { return kinds_[kind]; }
  std::vector<KindOfTraffic> take() { return std::move(kinds_); }

 private:
  using Key = std::tuple<std::string, std::string, std::int64_t, std::uint32_t, std::int64_t>;

  std::uint32_t add(workload::CommunicationId id, std::string_view name) {
    const workload::Communication& made = run_.communications[index(id)];
    KindOfTraffic kind{.name = std::string(name)};
    if (made.copy) kind.operation = "copy";
    for (const workload::Collective& each : made.collectives) {
      kind.operation += (kind.operation.empty() ? "" : " + ") + std::string(collectives::name(each.operation));
      kind.bytes += each.bytes;
      kind.ranks = std::max(kind.ranks, static_cast<std::uint32_t>(each.groups->front().size()));
      kind.groups = std::max(kind.groups, static_cast<std::uint32_t>(each.groups->size()));
    }
    if (run_.flows) {
      kind.alone = run_.flows->alone(id);
      choose(kind, made, id);
    }
    const Key key{kind.name, kind.operation, kind.bytes.value, kind.ranks, kind.alone.value};
    const auto [known, fresh] = by_key_.try_emplace(key, static_cast<std::uint32_t>(kinds_.size()));
    if (fresh) kinds_.push_back(std::move(kind));
    return known->second;
  }

  /// Which algorithm was chosen, what busbw that makes, and the link that is occupied longest.
  void choose(KindOfTraffic& kind, const workload::Communication& made, workload::CommunicationId id) const {
    if (made.collectives.size() == 1) {
      const workload::Collective& only = made.collectives.front();
      const collectives::Timing& timing =
          in_.machine.timer().time(only.operation, only.bytes, *only.groups, only.algorithm, !in_.unfold,
                                   only.details ? *only.details : collectives::Details{});
      kind.algorithm = timing.algorithm + (timing.protocol.empty() ? "" : " / " + timing.protocol);
      if (kind.alone > Time{})
        kind.busbw = static_cast<double>(kind.bytes.value) / to_seconds(kind.alone) *
                     collectives::bus_factor(only.operation, kind.ranks);
    }
    const topology::Cluster& cluster = in_.machine.cluster();
    double most = 0;
    run_.flows->each_load(id, [&](const collectives::Timing::Load& load) {
      const double busy = load.occupied / workload::link_capacity(cluster, load.link).value;
      if (busy <= most) return;
      most = busy;
      const topology::Link link = cluster.link(load.link);
      kind.busiest_link = link.from + " -> " + link.to;
    });
  }

  const StepInput& in_;
  const StepRun& run_;
  std::vector<KindOfTraffic> kinds_;
  std::map<std::uint32_t, std::uint32_t> by_id_, by_block_;
  std::map<Key, std::uint32_t> by_key_;
  std::optional<std::uint32_t> copies_;
};

/// Stretches of one lane, counted from the step's begin and cut to it.
class LaneStretches {
 public:
  LaneStretches(const Lane& lane, const StepRun& run, TrafficKinds& kinds, std::vector<Stretched>& out)
      : lane_(lane), run_(run), kinds_(kinds), out_(out), from_(lane_begin(lane, run.timeline)) {}

  void add_all() {
    const std::size_t first = lane_.before_step ? *lane_.before_step + 1 : 0;
    const std::size_t past = lane_.end_of_step ? *lane_.end_of_step + 1 : lane_.tasks.size();
    Time now = from_;
    for (std::size_t i = first; i < past; ++i) {
      const LaneTask& task = lane_.tasks[i];
      const Time start = run_.timeline.start[sim::index(task.task)];
      if (start > now)
        for (const GapPart& part : parts_of_gap(task, run_.timeline, now, start))
          add({.doing = doing_of(part)}, part.from, part.to);
      now = run_.timeline.finish[sim::index(task.last)];
      Stretched stretch{.doing = doing_of(task), .micro_batch = task.micro_batch, .virtual_stage = task.virtual_stage};
      if (const auto id = run_.step.program.communication(task.task); id && task.activity == Activity::send)
        stretch.traffic = seen(*id, "send");
      add(stretch, start, now);
    }
    Time traffic_end = now;
    for (const sim::TaskId task : lane_.after_compute)
      traffic_end = std::max(traffic_end, run_.timeline.finish[sim::index(task)]);
    add({.doing = Doing::exposed_data}, now, traffic_end);
    add({.doing = Doing::idle}, traffic_end, from_ + run_.time);
    for (const LaneTraffic& traffic : lane_.traffic) {
      Stretched stretch{.stream = traffic.stream, .doing = Doing::communication, .micro_batch = traffic.number};
      if (const auto id = run_.step.program.communication(traffic.task)) stretch.traffic = seen(*id, traffic.name);
      add(stretch, run_.timeline.start[sim::index(traffic.task)], run_.timeline.finish[sim::index(traffic.task)]);
    }
  }

 private:
  std::uint32_t seen(workload::CommunicationId id, std::string_view name) {
    const std::uint32_t kind = kinds_.kind_of(id, name);
    kinds_.at(kind).times += 1;
    return kind;
  }

  void add(Stretched stretch, Time start, Time end) {
    start = std::max(start - from_, Time{});
    end = std::min(end - from_, run_.time);
    if (end <= start) return;
    stretch.stage = lane_.at.stage;
    stretch.start = start;
    stretch.duration = end - start;
    out_.push_back(stretch);
  }

  const Lane& lane_;
  const StepRun& run_;
  TrafficKinds& kinds_;
  std::vector<Stretched>& out_;
  const Time from_;
};

/// What each link carries, and of whom, the busiest first.
class UsedLinks {
 public:
  UsedLinks(const StepInput& input, Time length) : in_(input), length_(to_seconds(length)) {}

  void add(topology::LinkId link, double occupied, std::uint32_t traffic) {
    links_[topology::index(link)][traffic] += occupied / (capacity(link) * length_);
  }
  void add_share(topology::LinkId link, double share) {
    if (share > 0) alone_[topology::index(link)] = share;
  }

  std::vector<UsedLink> take() const {
    std::vector<UsedLink> all;
    for (const auto& [link, users] : links_) {
      UsedLink use = empty(link);
      for (const auto& [traffic, share] : users) {
        use.utilisation += share;
        use.users.push_back({traffic, share});
      }
      std::ranges::stable_sort(use.users, std::greater<>(), &UsedLink::User::share);
      all.push_back(std::move(use));
    }
    for (const auto& [link, share] : alone_) {
      all.push_back(empty(link));
      all.back().utilisation = share;
    }
    std::ranges::stable_sort(all, std::greater<>(), &UsedLink::utilisation);
    return all;
  }

 private:
  double capacity(topology::LinkId link) const { return workload::link_capacity(in_.machine.cluster(), link).value; }
  UsedLink empty(std::uint32_t number) const {
    const topology::Link link = in_.machine.cluster().link(topology::LinkId{number});
    return {link.from, link.to, std::string(topology::name(link.kind)), link.bandwidth};
  }

  const StepInput& in_;
  const double length_;
  std::map<std::uint32_t, std::map<std::uint32_t, double>> links_;
  std::map<std::uint32_t, double> alone_;  ///< where nobody knows of whom
};

}  // namespace

StepDetail step_detail(const StepInput& in, const StepRun& run, Time length,
                       std::span<const collectives::Timing::Load> more) {
  StepDetail out;
  TrafficKinds kinds(in, run);
  for (const Lane& lane : run.step.lanes)
    if (lane.speaks_for_its_stage()) LaneStretches(lane, run, kinds, out.stretches).add_all();
  std::ranges::stable_sort(out.stretches, {},
                           [](const Stretched& s) { return std::tuple(s.stage, s.stream, s.start); });
  UsedLinks links(in, length);
  if (run.flows)
    each_link_load(in, run.step, *run.flows, more, [&](topology::LinkId link, double occupied, const LoadOf& of) {
      if (occupied > 0)
        links.add(link, occupied,
                  of.communication ? kinds.kind_of(*of.communication, "traffic beside the first ranks")
                  : of.copy        ? kinds.copies()
                                   : kinds.inside(of.block));
    });
  else
    for (std::uint32_t link = 0; link < run.busy.size(); ++link)
      links.add_share(topology::LinkId{link}, run.busy[link]);
  out.links = links.take();
  out.traffic = kinds.take();
  const Derivation derived(in.scenario, in.machine.timer(), in.ranks, in.blocks, in.pieces.at({}), !in.unfold);
  out.blocks = derived.blocks();
  out.stages = derived.stages(in.chunks, micro_batches(in.scenario) / copies(in.pipeline->shape));
  derived.add_traffic(out.traffic, micro_batches(in.scenario));
  return out;
}

}  // namespace stepcast::schedules
