#include "schedules/step/asynchronous.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "models/cost/optimizer.h"
#include "schedules/data_parallel/compression.h"
#include "schedules/pass_times/buckets.h"
#include "schedules/step/wires.h"
#include "sim/executor.h"
#include "sim/whole_bytes.h"

namespace stepcast::schedules {
namespace {

using collectives::Group;
using collectives::Operation;
using collectives::Timing;
using sim::TaskId;

/// Gradients that leave together once `backward` is done.
struct Bucket {
  PassTime backward;
  double elements = 0;
};

/// What one worker does in any of its steps.
struct Worker {
  Chunk chunk;
  std::vector<Bucket> buckets;
  PassTime rest;  ///< of backward, after the last gradients
};

/// One step of one worker: what its time is made of, and when it read and changed the parameters.
struct WorkerStep {
  PassTime passes;
  Time compression{};
  std::vector<TaskId> updates, reads;
};

/// Messages to several servers at once: each at the rate that it would have alone, one after the other.
Timing together(Timing first, const Timing& second) {
  const Time flow = first.duration - first.latency + second.duration - second.latency;
  first.latency = std::max(first.latency, second.latency);
  first.duration = first.latency + flow;
  first.loads.insert(first.loads.end(), second.loads.begin(), second.loads.end());
  return first;
}

class Run {
 public:
  /// `steps`: that each worker makes.
  Run(const StepInput& in, std::span<const std::uint32_t> steps)
      : in_(in),
        s_(in.scenario),
        workers_(s_.parallelism.data),
        sharded_(s_.data_parallel.mode == DataParallelMode::sharded_parameter_server),
        wires_(in.cluster, in.slow_links) {
    for (std::uint32_t d = 0; d < workers_; ++d) plan_.push_back(planned(d));
    for (std::uint32_t d = 0; d < workers_; ++d)
      for (const Bucket& bucket : plan_[d].buckets) {
        declare(d, true, bucket.elements);
        declare(d, false, bucket.elements);
      }
    build(steps);
    timeline_ = sim::run(graph_);
    for (const std::vector<WorkerStep>& of_worker : made_) {
      std::vector<Time>& updated = updated_.emplace_back();
      for (const WorkerStep& step : of_worker) updated.push_back(last_finish(step.updates));
    }
  }

  /// Steps that keep every worker at work as long as the slowest takes for `steps`, or nearly; no more than these where
  /// that is so already.
  std::vector<std::uint32_t> balanced(std::uint32_t steps) const {
    constexpr double kMost = 64;  // times as many
    constexpr double kNearly = 1.25;
    Time slowest{}, fastest = updated_.front().back();
    for (const std::vector<Time>& updated : updated_) {
      slowest = std::max(slowest, updated.back());
      fastest = std::min(fastest, updated.back());
    }
    std::vector<std::uint32_t> more;
    if (slowest / fastest < kNearly) return more;
    for (const std::vector<Time>& updated : updated_)
      more.push_back(static_cast<std::uint32_t>(steps * std::min(kMost, slowest / updated.back())));
    return more;
  }

  void report(Forecast& f, std::vector<Timing::Load>& loads) const {
    std::vector<Window> windows;
    double all = 0;
    for (std::uint32_t d = 0; d < workers_; ++d) all += windows.emplace_back(window(d)).rate;
    f.step = from_seconds(workers_ / all);
    double compute = 0, tensor = 0, copies = 0, compression = 0;
    for (std::uint32_t d = 0; d < workers_; ++d) {
      const Window& w = windows[d];
      const double share = w.rate / all / (w.to - w.from);
      for (std::uint32_t k = w.from + 1; k <= w.to; ++k) {
        const WorkerStep& made = made_[d][k];
        compute += share * to_seconds(made.passes.compute);
        tensor += share * to_seconds(made.passes.exposed_tensor);
        copies += share * to_seconds(made.passes.exposed_copy);
        compression += share * to_seconds(made.compression);
      }
      for (const auto& [key, wire] : declared_) {
        if (key.worker != d) continue;
        const auto buckets = static_cast<double>(std::ranges::count(plan_[d].buckets, key.elements, &Bucket::elements));
        for (const Timing::Load& load : wires_.loads(wire))
          loads.push_back({load.link, load.bytes * buckets * w.rate / all * workers_});
      }
    }
    TimeSplit& time = f.stages.front().time;
    time = {};
    time.compute = from_seconds(compute);
    time.exposed_tensor = from_seconds(tensor);
    time.offload = from_seconds(copies);
    time.compression = from_seconds(compression);
    // A window runs from update to update, which wait for the servers' memory one longer than the other: what that
    // takes off the window is taken off its compute.
    const Time others = f.step - time.exposed_tensor - time.offload - time.compression;
    time.exposed_data = std::max(others - time.compute, Time{});
    time.compute = std::min(time.compute, others);
    f.staleness = staleness(windows);
  }

 private:
  struct Key {
    std::uint32_t worker = 0;
    bool push = false;
    double elements = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  /// A worker's steps after the one numbered `from`, to `to`, and how many it makes a second there.
  struct Window {
    std::uint32_t from = 0, to = 0;
    double rate = 0;
  };

  const Gpu& gpu(std::uint32_t worker) const { return gpu_of(s_.cluster, in_.ranks.gpu({0, worker, 0})); }
  bool has_link(std::uint32_t worker) const { return workers_ > 1 && (sharded_ || worker != 0); }

  Worker planned(std::uint32_t worker) const {
    Worker out;
    const auto virtual_stages = static_cast<std::uint32_t>(in_.chunks.front().size());
    for (std::uint32_t v = 0; v < virtual_stages; ++v) {
      const Chunk chunk = in_.pieces.chunk({0, worker, 0}, in_.chunks.front(), v);
      out.chunk.pieces.insert(out.chunk.pieces.end(), chunk.pieces.begin(), chunk.pieces.end());
      out.chunk.forward = out.chunk.forward + chunk.forward;
      out.chunk.backward = out.chunk.backward + chunk.backward + chunk.weight;
    }
    const double full = data_overlap(s_) ? static_cast<double>(bucket(s_).value) /
                                               static_cast<double>(element_bytes(gradient_precision(s_)))
                                         : std::numeric_limits<double>::infinity();
    auto piece = out.chunk.pieces.rbegin();
    for (const std::size_t end : bucket_ends(out.chunk.pieces, full)) {
      Bucket& made = out.buckets.emplace_back();
      for (; piece <= out.chunk.pieces.rbegin() + static_cast<std::ptrdiff_t>(end); ++piece) {
        made.backward = made.backward + time_of(*piece, PassKind::whole_backward);
        made.elements += piece->trained;
      }
    }
    for (; piece != out.chunk.pieces.rend(); ++piece) out.rest = out.rest + time_of(*piece, PassKind::whole_backward);
    return out;
  }

  /// The tensor ranks' messages from one worker to another run side by side.
  Timing message(std::uint32_t from, std::uint32_t to, double bytes) const {
    std::vector<Group> pairs;
    for (std::uint32_t t = 0; t < s_.parallelism.tensor; ++t)
      pairs.push_back({in_.ranks.gpu({t, from, 0}), in_.ranks.gpu({t, to, 0})});
    const Bytes size = whole_bytes(bytes);
    Timing timing = in_.timer.time(Operation::send_recv, size, pairs, "auto", false);
    return in_.slow_links != nullptr ? in_.slow_links->slowed(std::move(timing)) : timing;
  }

  void declare(std::uint32_t worker, bool push, double elements) {
    const Key key{worker, push, elements};
    if (!has_link(worker) || declared_.contains(key)) return;
    const double bytes =
        push ? message_bytes(s_, elements) : elements * static_cast<double>(element_bytes(s_.training.precision));
    const auto one = [&](std::uint32_t server, double size) {
      return push ? message(worker, server, size) : message(server, worker, size);
    };
    if (!sharded_) {
      const Timing timing = one(0, bytes);
      alone_[worker] = alone_[worker] + timing.duration;
      declared_.emplace(key, wires_.declare(timing));
      return;
    }
    std::optional<Timing> all;
    for (std::uint32_t server = 0; server < workers_; ++server) {
      if (server == worker) continue;
      const Timing timing = one(server, bytes / workers_);
      all = all ? together(std::move(*all), timing) : timing;
    }
    alone_[worker] = alone_[worker] + all->duration;
    declared_.emplace(key, wires_.declare(*all));
  }

  /// Of the servers, for one worker's gradients: they go through the optimizer's state once for each.
  Time update_time(double elements) const {
    const Gpu& server = gpu(0);
    Time alone = decompress_time(s_, server, elements, 1);
    alone += optimizer_time(server, s_.software, s_.training.optimizer, elements);
    return sharded_ ? Time{alone.value / workers_} : alone;
  }

  sim::RouteId route(const Key& key) {
    const auto made = routes_.find(key);
    if (made != routes_.end()) return made->second;
    return routes_.emplace(key, wires_.route(graph_, declared_.at(key), {}, 0)).first->second;
  }

  void build(std::span<const std::uint32_t> steps) {
    wires_.enter(graph_);
    // Updates that come together share the servers' memory bandwidth.
    const sim::ResourceId memory = graph_.add_resource({kPicosecondsPerSecond});
    const sim::RouteId update = graph_.add_route({{{memory, 1.0}}, {}, {kPicosecondsPerSecond}, 1.0});
    std::vector<TaskId> clocks;  // all have updated so many times
    if (s_.data_parallel.consistency == Consistency::bounded_staleness)
      for (std::uint32_t k = 0; k < std::ranges::max(steps); ++k) clocks.push_back(nothing());
    for (std::uint32_t d = 0; d < workers_; ++d) {
      const sim::StreamId compute = graph_.add_stream(), up = graph_.add_stream(), down = graph_.add_stream();
      const Worker& worker = plan_[d];
      const Time cycle = (worker.chunk.forward + worker.chunk.backward).duration * micro_batches(s_) + alone_[d];
      graph_.work(compute, Time{cycle.value / workers_} * d + Time{cycle.value % workers_ * d / workers_});
      std::vector<WorkerStep>& of_worker = made_.emplace_back(steps[d]);
      for (std::uint32_t k = 0; k < steps[d]; ++k) {
        WorkerStep& made = of_worker[k];
        std::uint64_t number = 0;
        const auto run = [&](const PassTime& alone, Time more = {}) {
          const PassTime time = straggling(d, k, number++, alone);
          made.passes = made.passes + time;
          made.compression = made.compression + more;
          return graph_.work(compute, time.duration + more);
        };
        const TaskId first = run(worker.chunk.forward);
        if (in_.stragglers == nullptr) {  // all micro-batches are alike: as one
          if (micro_batches(s_) > 1) run((worker.chunk.backward + worker.chunk.forward) * (micro_batches(s_) - 1));
        } else {
          for (std::uint32_t m = 1; m < micro_batches(s_); ++m) {
            run(worker.chunk.backward);
            run(worker.chunk.forward);
          }
        }
        if (k > 0)
          for (const TaskId read : of_worker[k - 1].reads) graph_.after(first, read);
        for (const Bucket& bucket : worker.buckets) {
          TaskId ready = run(bucket.backward, compress_time(s_, gpu(d), bucket.elements));
          if (has_link(d)) {
            const Key push{d, true, bucket.elements};
            const TaskId sent = graph_.transfer(up, route(push), wires_.amount(declared_.at(push)));
            graph_.after(sent, ready);
            ready = sent;
          }
          made.updates.push_back(graph_.transfer(update, {update_time(bucket.elements).value}));
          graph_.after(made.updates.back(), ready);
        }
        if (worker.rest.duration > Time{}) run(worker.rest);
        for (std::size_t b = 0; b < worker.buckets.size(); ++b) {
          const Key pull{d, false, worker.buckets[b].elements};
          made.reads.push_back(has_link(d) ? graph_.transfer(down, route(pull), wires_.amount(declared_.at(pull)))
                                           : nothing());
          graph_.after(made.reads.back(), made.updates[b]);
          if (clocks.empty()) continue;
          graph_.after(clocks[k], made.updates[b]);
          if (k >= *s_.data_parallel.staleness)
            graph_.after(made.reads.back(), clocks[k - *s_.data_parallel.staleness]);
        }
      }
    }
  }

  TaskId nothing() { return graph_.work(std::span<const sim::StreamId>{}, Time{}); }

  PassTime straggling(std::uint32_t worker, std::uint32_t k, std::uint64_t number, const PassTime& alone) const {
    if (in_.stragglers == nullptr) return alone;
    return in_.stragglers->slowed({0, worker, 0}, (std::uint64_t{k} << 32) + number, alone);
  }

  Time last_finish(std::span<const TaskId> tasks) const {
    Time last{};
    for (const TaskId task : tasks) last = std::max(last, timeline_.finish[sim::index(task)]);
    return last;
  }

  /// Of the time in which all of them are at work, without its first third.
  Window window(std::uint32_t worker) const {
    Time end = updated_[0].back();
    for (const std::vector<Time>& updated : updated_) end = std::min(end, updated.back());
    const std::vector<Time>& updated = updated_[worker];
    Window w;
    while (w.from + 2 < updated.size() && updated[w.from + 1] <= Time{end.value / 3}) ++w.from;
    w.to = w.from + 1;
    while (w.to + 1 < updated.size() && updated[w.to] < end) ++w.to;
    w.rate = (w.to - w.from) / to_seconds(updated[w.to] - updated[w.from]);
    return w;
  }

  /// Bucket by bucket, since one is read while gradients of others are still on their way.
  Staleness staleness(std::span<const Window> windows) const {
    Staleness out;
    double sum = 0, count = 0;
    for (std::size_t b = 0; b < plan_.front().buckets.size(); ++b) {
      std::vector<Time> all;
      for (const std::vector<WorkerStep>& of_worker : made_)
        for (const WorkerStep& step : of_worker) all.push_back(timeline_.finish[sim::index(step.updates[b])]);
      std::ranges::sort(all);
      const auto until = [&](Time t) { return std::ranges::upper_bound(all, t) - all.begin(); };
      for (std::uint32_t d = 0; d < workers_; ++d)
        for (std::uint32_t k = windows[d].from + 1; k <= windows[d].to; ++k) {
          const Time read = timeline_.start[sim::index(made_[d][k - 1].reads[b])];
          const Time changed = timeline_.finish[sim::index(made_[d][k].updates[b])];
          const auto others = static_cast<std::uint32_t>(until(changed) - until(read) - 1);
          sum += others;
          count += 1;
          out.most = std::max(out.most, others);
        }
    }
    out.mean = sum / count;
    return out;
  }

  const StepInput& in_;
  const Scenario& s_;
  const std::uint32_t workers_;
  const bool sharded_;
  Wires wires_;
  std::vector<Worker> plan_;
  std::map<Key, WireId> declared_;
  std::map<std::uint32_t, Time> alone_;  ///< messages of one size each way
  std::map<Key, sim::RouteId> routes_;
  sim::TaskGraph graph_;
  sim::Timeline timeline_;
  std::vector<std::vector<WorkerStep>> made_;
  std::vector<std::vector<Time>> updated_;
};

}  // namespace

std::vector<Timing::Load> run_asynchronously(Forecast& f, const StepInput& in) {
  const DataParallelPlan& plan = in.scenario.data_parallel;
  const std::uint32_t workers = in.scenario.parallelism.data;
  const bool sharded = plan.mode == DataParallelMode::sharded_parameter_server;
  const std::uint32_t affordable = sharded ? 16384 / (workers * workers) : 4096 / workers;  // shards meet on every link
  const std::uint32_t steps = std::clamp(affordable, 16u, 64u) + std::min(plan.staleness.value_or(0), 64u);
  std::optional<Run> run;
  run.emplace(in, std::vector<std::uint32_t>(workers, steps));
  // The first to be done would leave links and servers to the others.
  if (plan.consistency == Consistency::asynchronous) {
    const std::vector<std::uint32_t> balanced = run->balanced(steps);
    if (!balanced.empty()) run.emplace(in, balanced);
  }
  std::vector<Timing::Load> loads;
  run->report(f, loads);
  return loads;
}

}  // namespace stepcast::schedules
