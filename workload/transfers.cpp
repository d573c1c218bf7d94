#include "workload/transfers.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "collectives/timing/lower.h"
#include "sim/input_error.h"
#include "workload/link_capacity.h"
#include "workload/own_algorithm.h"
#include "workload/received.h"

namespace stepcast::workload {
namespace {

using collectives::Transfers;
using sim::ResourceId;
using sim::TaskId;

constexpr std::span<const sim::StreamId> kNoStream{};

class Lowering {
 public:
  Lowering(const Program& program, std::span<const Communication> communications, const Machine& machine,
           const WatchLowered* watch)
      : program_(program),
        communications_(communications),
        machine_(machine),
        watch_(watch),
        host_ways_(machine.cluster()),
        known_(communications.size()),
        resource_of_(machine.cluster().links()) {}

  RunOfTransfers run() {
    if (program_.has_sequences()) throw std::logic_error("traffic in sequences is not lowered to its transfers");
    const sim::TaskGraph& tasks = program_.graph();
    for (const Bandwidth engine : tasks.resources()) graph_.add_resource(engine);
    for (std::size_t route = 0; route < tasks.routes().size(); ++route)
      graph_.add_route(tasks.routes()[route]);  // of engines, as the program numbers them
    refuse_too_many();
    std::vector<TaskRange> ends;
    ends.reserve(tasks.tasks().size());
    for (std::uint32_t t = 0; t < tasks.tasks().size(); ++t) ends.push_back(add(TaskId{t}));
    for (const sim::TaskGraph::Dependency& d : tasks.dependencies())
      graph_.after(ends[sim::index(d.later)].first, ends[sim::index(d.earlier)].last);
    const sim::Timeline all = simulated();
    RunOfTransfers out;
    out.timeline.end = all.end;
    for (const TaskRange& of : ends) {
      out.timeline.start.push_back(all.start[sim::index(of.first)]);
      out.timeline.finish.push_back(all.finish[sim::index(of.last)]);
    }
    out.busy.assign(machine_.cluster().links(), 0);
    for (std::size_t link = 0; link < resource_of_.size(); ++link)
      if (const auto& resource = resource_of_[link])
        out.busy[link] =
            all.carried[sim::index(*resource)] / (capacity_of(link) * std::max(to_seconds(all.end), 1e-12));
    check_links(out.busy);
    check_received(all);
    return out;
  }

 private:
  /// The first and the last of the tasks that one of the program's became.
  struct TaskRange {
    TaskId first{}, last{};
  };
  /// One group's part in a collective.
  struct Part {
    Transfers transfers;
    std::vector<sim::RouteId> routes;  ///< by connection
    std::vector<sim::RouteId> behind;  ///< likewise, of what is behind the plan
  };
  /// A GPU's copy to or from its host.
  struct LoweredCopy {
    topology::Path way;
    sim::RouteId route{};
    Bytes bytes{};
  };
  /// A communication, worked out once however often it runs.
  struct LoweredCommunication {
    std::vector<LoweredCopy> copies;
    std::vector<std::vector<Part>> collectives;
    std::vector<Time> alone, latencies;   ///< of each collective
    std::optional<sim::RouteId> engines;  ///< that are slowed while it runs
  };

  sim::Timeline simulated() {
    if (watch_ == nullptr) return sim::run(graph_);
    const Lowered lowered{graph_.tasks().size(), transfers_};
    (*watch_)(lowered, 0);
    sim::Timeline timeline = sim::run(graph_, [&](std::size_t ended) { (*watch_)(lowered, ended); });
    (*watch_)(lowered, lowered.tasks);
    return timeline;
  }

  /// No link has carried more than it can.
  void check_links(std::span<const double> busy) const {
    constexpr double kRounding = 1e-6;
    const auto most = std::ranges::max_element(busy);
    if (most == busy.end() || *most <= 1 + kRounding) return;
    const topology::Link link =
        machine_.cluster().link(topology::LinkId{static_cast<std::uint32_t>(most - busy.begin())});
    throw std::logic_error("the link " + link.from + " -> " + link.to + " carried more than it can");
  }

  /// What a communication hands to its links, once.
  static void hand_over(const LoweredCommunication& known, double times, std::vector<double>& handed) {
    for (const LoweredCopy& copy : known.copies)
      for (const topology::LinkId link : copy.way.links)
        handed[index(link)] += times * static_cast<double>(copy.bytes.value);
    for (const std::vector<Part>& parts : known.collectives)
      for (const Part& part : parts) {
        const Transfers& of = part.transfers;
        std::vector<double> sent(of.ways.size(), 0);
        for (const collectives::Transfer& transfer : of.plan.transfers)
          sent[index(transfer.connection)] += static_cast<double>(of.plan.elements(transfer.chunk));
        for (std::size_t c = 0; c < of.behind.size(); ++c) sent[c] += static_cast<double>(of.behind[c].bytes.value);
        for (std::size_t c = 0; c < of.ways.size(); ++c)
          for (const Transfers::LinkUse& hop : of.ways[c].hops)
            handed[index(hop.link)] += times * sent[c] * hop.load / hop.share;
      }
  }

  /// Every link has carried what the program's communications handed to it.
  void check_received(const sim::Timeline& all) const {
    const std::vector<std::uint32_t> times = program_.times(0, program_.tasks());
    std::vector<double> handed(resource_of_.size(), 0);
    for (std::size_t c = 0; c < times.size(); ++c)
      if (known_[c]) hand_over(*known_[c], times[c], handed);
    for (std::uint32_t link = 0; link < resource_of_.size(); ++link)
      if (const auto& resource = resource_of_[link])
        workload::check_received(machine_.cluster(), topology::LinkId{link}, handed[link],
                                 all.carried[sim::index(*resource)]);
  }

  /// Before any of them is made.
  void refuse_too_many() {
    constexpr std::size_t kMost = std::size_t{1} << 25;  // of some 150 bytes each
    std::size_t all = program_.tasks();
    for (std::uint32_t t = 0; t < program_.tasks(); ++t)
      if (const std::optional<CommunicationId> communication = program_.communication(TaskId{t}))
        for (const std::vector<Part>& parts : known(*communication).collectives)
          for (const Part& part : parts) all += part.transfers.count();
    if (all > kMost)
      throw InputError("--detail transfers", "a step of " + std::to_string(all / 1'000'000) +
                                                 " million transfers, expected at most " +
                                                 std::to_string(kMost / 1'000'000) +
                                                 " million: fewer GPUs, layers or micro-batches make fewer");
  }

  double capacity_of(std::size_t link) const {
    const topology::LinkId id{static_cast<std::uint32_t>(link)};
    return link_capacity(machine_.cluster(), id).value;
  }

  ResourceId resource(topology::LinkId link) {
    std::optional<ResourceId>& made = resource_of_[index(link)];
    if (!made) made = graph_.add_resource({capacity_of(index(link))});
    return *made;
  }

  const LoweredCommunication& known(CommunicationId id) {
    std::optional<LoweredCommunication>& made = known_[index(id)];
    if (made) return *made;
    made.emplace();
    sim::Route engines = graph_.routes()[sim::index(*program_.route(id))];
    engines.limit = {kPicosecondsPerSecond};
    if (!engines.uses.empty()) made->engines = graph_.add_route(engines);
    const Communication& communication = communications_[index(id)];
    if (communication.copy) add_copies(*communication.copy, made->copies);
    for (const auto* list : {&communication.collectives, &communication.at_receiver})
      for (const Collective& c : *list) {
        const collectives::Details details = c.details ? *c.details : collectives::Details{};
        const std::string algorithm = own_algorithm(c, machine_.timer());
        std::vector<Part>& parts = made->collectives.emplace_back();
        for (std::uint32_t group = 0; group < c.own; ++group) {
          Part& part = parts.emplace_back();
          part.transfers = machine_.timer().transfers(c.operation, c.bytes, *c.groups, group, algorithm, details);
          for (const Transfers::ConnectionRoute& way : part.transfers.ways) {
            sim::Route route{{}, way.latency, way.limit, 1.0};
            for (const Transfers::LinkUse& hop : way.hops)
              route.uses.push_back({resource(hop.link), hop.load / hop.share});
            part.routes.push_back(graph_.add_route(route));
            if (part.transfers.behind.empty()) continue;
            route.latency = {};
            route.limit = part.transfers.behind[part.behind.size()].limit;
            part.behind.push_back(graph_.add_route(route));
          }
        }
        const collectives::Timing& timing =
            machine_.timer().time(c.operation, c.bytes, *c.groups, algorithm, true, details);
        made->alone.push_back(timing.duration);
        made->latencies.push_back(timing.latency);
      }
    return *made;
  }

  void add_copies(const HostCopy& of, std::vector<LoweredCopy>& copies) {
    for (std::uint32_t g = 0; g < of.own; ++g) {
      LoweredCopy& copy = copies.emplace_back(LoweredCopy{host_ways_.way(of.gpus[g], of.direction), {}, of.bytes});
      sim::Route route{{}, of.latency.value_or(copy.way.latency), of.at_most, 1.0};
      for (const topology::LinkId link : copy.way.links) route.uses.push_back({resource(link), 1.0});
      copy.route = graph_.add_route(route);
    }
  }

  TaskRange add(TaskId task) {
    const sim::TaskGraph::Task& of = program_.graph().tasks()[sim::index(task)];
    const std::optional<CommunicationId> communication = program_.communication(task);
    if (!communication) {
      const TaskId same = of.route == sim::TaskGraph::kNoRoute ? graph_.work(kNoStream, {of.amount})
                                                               : graph_.transfer(of.route, {of.amount});
      return {same, same};
    }
    const LoweredCommunication& all = known(*communication);
    const Communication::Order order = communications_[index(*communication)].order;
    const TaskId first = graph_.work(kNoStream, communications_[index(*communication)].delay);
    TaskId begin = first, end = first;
    if (!all.copies.empty()) end = graph_.work(kNoStream, {});
    for (const LoweredCopy& copy : all.copies) {
      const TaskId copied = graph_.transfer(copy.route, copy.bytes);
      graph_.after(copied, first);
      graph_.after(end, copied);
      ++transfers_;
    }
    for (std::size_t c = 0; c < all.collectives.size(); ++c) {
      TaskId ended = graph_.work(kNoStream, {});
      for (const Part& part : all.collectives[c]) add_transfers(part, begin, ended);
      if (all.engines) {  // for as long as it takes alone
        const TaskId beside = graph_.transfer(*all.engines, {all.alone[c].value});
        graph_.after(beside, begin);
        graph_.after(ended, beside);
      }
      graph_.after(ended, begin);
      if (order == Communication::Order::one_after_the_other) {
        begin = end = ended;
        continue;
      }
      if (order == Communication::Order::passed_on && c + 1 < all.collectives.size()) {
        // What the next one is brought first, and what it still has to do with the last of it.
        begin = after_work(begin, all.latencies[c]);
        ended = after_work(ended, all.latencies[c + 1]);
      }
      if (end == first) end = graph_.work(kNoStream, {});
      graph_.after(end, ended);
    }
    return {first, end};
  }

  TaskId after_work(TaskId earlier, Time work) {
    const TaskId task = graph_.work(kNoStream, work);
    graph_.after(task, earlier);
    return task;
  }

  void add_transfers(const Part& part, TaskId begin, TaskId end) {
    const Transfers& of = part.transfers;
    if (of.plan.transfers.empty()) return;
    transfers_ += of.count();
    const TaskId launched = graph_.work(kNoStream, of.before);
    graph_.after(launched, begin);
    std::vector<std::optional<TaskId>> last =
        collectives::add_group(of.plan, {part.routes, of.ahead}, launched, graph_);
    for (std::size_t c = 0; c < of.behind.size(); ++c) {
      const TaskId behind = graph_.transfer(part.behind[c], of.behind[c].bytes);
      graph_.after(behind, last[c].value_or(launched));
      last[c] = behind;
    }
    for (const std::optional<TaskId>& task : last)
      if (task) graph_.after(end, *task);
  }

  const Program& program_;
  const std::span<const Communication> communications_;
  const Machine& machine_;
  const WatchLowered* watch_;
  sim::TaskGraph graph_;
  std::size_t transfers_ = 0;  // in the graph
  HostWays host_ways_;
  std::vector<std::optional<LoweredCommunication>> known_;  // by CommunicationId
  std::vector<std::optional<ResourceId>> resource_of_;      // by link
};

}  // namespace

RunOfTransfers run_transfers(const Program& program, std::span<const Communication> communications,
                             const Machine& machine, const WatchLowered* watch) {
  return Lowering(program, communications, machine, watch).run();
}

}  // namespace stepcast::workload
