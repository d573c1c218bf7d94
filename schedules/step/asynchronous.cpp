#include "schedules/step/asynchronous.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "models/cost/optimizer.h"
#include "schedules/data_parallel/compression.h"
#include "schedules/pass_times/buckets.h"
#include "schedules/step/recorded.h"
#include "sim/whole_bytes.h"
#include "workload/recorded_program.h"
#include "workload/run.h"
#include "workload/steady_windows.h"

namespace stepcast::schedules {
namespace {

using collectives::Group;
using collectives::Operation;
using collectives::Timing;
using sim::TaskId;
using workload::SteadyWindow;

/// Gradients that leave together once `backward` is done, in `parts` that servers update, and send back, one by one.
struct Bucket {
  PassTime backward;
  double elements = 0;
  int parts = 1;
  double part() const { return elements / parts; }
};

/// Of one bucket at the most. A tensor may be far larger than a bucket should be, and servers go through it as it
/// comes.
constexpr double kMostParts = 8;

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

class Run {
 public:
  /// `steps`: that each worker makes.
  Run(const StepInput& in, std::span<const std::uint32_t> steps)
      : in_(in),
        s_(in.scenario),
        workers_(s_.parallelism.data),
        sharded_(s_.data_parallel.mode == DataParallelMode::sharded_parameter_server) {
    for (std::uint32_t d = 0; d < workers_; ++d) plan_.push_back(planned(d));
    for (std::uint32_t d = 0; d < workers_; ++d)
      for (const Bucket& bucket : plan_[d].buckets) {
        declare(d, true, bucket.part());
        declare(d, false, bucket.part());
      }
    // Each message by itself: workers are not alike.
    flows_.emplace(in.machine, communications_, workload::Flows::Conditions{.unfolded = true});
    build(steps);
    timeline_ = workload::run(program_, *flows_);
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
    const std::vector<SteadyWindow> windows = workload::steady_windows(updated_);
    double all = 0;
    for (const SteadyWindow& window : windows) all += window.rate;
    f.step = workload::steady_step(windows);
    double compute = 0, tensor = 0, copies = 0, host = 0, compression = 0;
    for (std::uint32_t d = 0; d < workers_; ++d) {
      const SteadyWindow& w = windows[d];
      const double share = w.rate / all / (w.to - w.from);
      for (std::uint32_t k = w.from + 1; k <= w.to; ++k) {
        const WorkerStep& made = made_[d][k];
        compute += share * to_seconds(made.passes.compute);
        tensor += share * to_seconds(made.passes.exposed_tensor);
        copies += share * to_seconds(made.passes.exposed_copy);
        host += share * to_seconds(made.passes.exposed_host);
        compression += share * to_seconds(made.compression);
      }
      for (const auto& [key, communication] : declared_) {
        if (key.worker != d) continue;
        double messages = 0;
        for (const Bucket& bucket : plan_[d].buckets) messages += bucket.part() == key.elements ? bucket.parts : 0;
        const double times = messages * w.rate / all * workers_;
        flows_->each_load(communication, [&](const Timing::Load& load) {
          loads.push_back({load.link, load.bytes * times, load.occupied * times, load.connections});
        });
      }
    }
    TimeSplit& time = f.stages.front().time;
    time = {};
    time.compute = from_seconds(compute);
    time.exposed_tensor = from_seconds(tensor);
    time.offload = from_seconds(copies);
    time.host = from_seconds(host);
    time.compression = from_seconds(compression);
    // A window runs from update to update, which wait for the servers' memory one longer than the other: what that
    // takes off the window is taken off its compute.
    const Time others = f.step - time.exposed_tensor - time.offload - time.host - time.compression;
    time.exposed_data = std::max(others - time.compute, Time{});
    time.compute = std::min(time.compute, others);
    f.staleness = staleness(windows);
  }

  /// All steps of all workers.
  workload::RecordedProgram recorded() const {
    workload::RecordedProgram out{.program = program_, .communications = communications_, .unfolded = true};
    out.slow_node = slow_node(s_);
    for (const std::vector<WorkerStep>& of_worker : made_) {
      auto& updates = out.measure.updates.emplace_back();
      for (const WorkerStep& step : of_worker) updates.push_back(step.updates);
    }
    return out;
  }

 private:
  struct Key {
    std::uint32_t worker = 0;
    bool push = false;
    double elements = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  /// Of one worker in a step, each way.
  std::size_t messages() const {
    std::size_t all = 0;
    for (const Bucket& bucket : plan_.front().buckets) all += static_cast<std::size_t>(bucket.parts);
    return all;
  }
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
    for (Bucket& made : out.buckets) {
      const double bytes = message_bytes(s_, made.elements), size = static_cast<double>(bucket(s_).value);
      made.parts = static_cast<int>(std::clamp(std::ceil(bytes / size), 1.0, kMostParts));
    }
    for (; piece != out.chunk.pieces.rend(); ++piece) out.rest = out.rest + time_of(*piece, PassKind::whole_backward);
    return out;
  }

  /// The worker's tensor ranks, which stand in the program as one.
  Group ranks_of(std::uint32_t worker) const {
    Group ranks;
    for (std::uint32_t t = 0; t < s_.parallelism.tensor; ++t) ranks.push_back(in_.ranks.gpu({t, worker, 0}));
    return ranks;
  }

  /// The tensor ranks' messages from one worker to another run side by side.
  workload::Collective message(std::uint32_t from, std::uint32_t to, double bytes) const {
    std::vector<Group> pairs;
    for (std::uint32_t t = 0; t < s_.parallelism.tensor; ++t)
      pairs.push_back({in_.ranks.gpu({t, from, 0}), in_.ranks.gpu({t, to, 0})});
    return {.operation = Operation::send_recv,
            .bytes = whole_bytes(bytes),
            .groups = std::make_shared<const std::vector<Group>>(std::move(pairs)),
            .own = s_.parallelism.tensor};
  }

  void declare(std::uint32_t worker, bool push, double elements) {
    const Key key{worker, push, elements};
    if (!has_link(worker) || declared_.contains(key)) return;
    const double bytes =
        push ? message_bytes(s_, elements) : elements * static_cast<double>(element_bytes(s_.training.precision));
    const auto one = [&](std::uint32_t server, double size) {
      return push ? message(worker, server, size) : message(server, worker, size);
    };
    workload::Communication all{.collectives = {}, .order = workload::Communication::Order::side_by_side};
    for (std::uint32_t server = 0; server < (sharded_ ? workers_ : 1); ++server)
      if (server != worker) all.collectives.push_back(one(server, sharded_ ? bytes / workers_ : bytes));
    declared_.emplace(key, workload::CommunicationId{static_cast<std::uint32_t>(communications_.size())});
    communications_.push_back(std::move(all));
  }

  /// Of the servers, for one worker's gradients: they go through the optimizer's state once for each.
  Time update_time(double elements) const {
    const Gpu& server = gpu(0);
    Time alone = decompress_time(s_, server, elements, 1);
    alone += optimizer_time(server, s_.software, s_.training.optimizer, elements);
    return sharded_ ? Time{alone.value / workers_} : alone;
  }

  /// A worker's messages of each size, once each way, alone.
  Time messages_alone(std::uint32_t worker) const {
    Time sum{};
    for (const auto& [key, communication] : declared_)
      if (key.worker == worker) sum = sum + flows_->alone(communication);
    return sum;
  }

  void build(std::span<const std::uint32_t> steps) {
    // Updates that come together share the servers' memory bandwidth.
    const workload::EngineId memory = program_.add_engine();
    if (in_.record) program_.remember_ranks();
    std::vector<std::vector<TaskId>> clocks;  // by step and message: all workers have updated it so many times
    if (s_.data_parallel.consistency == Consistency::bounded_staleness)
      for (std::uint32_t k = 0; k < std::ranges::max(steps); ++k)
        std::ranges::generate(clocks.emplace_back(messages()), [&] { return program_.moment(); });
    const Time host =
        s_.software.cuda_graphs == CudaGraphs::step ? Time{} : on_host(s_.software, s_.software.host_per_pass);
    for (std::uint32_t d = 0; d < workers_; ++d) {
      const Group ranks = ranks_of(d);
      const sim::StreamId compute = program_.add_stream(ranks), up = program_.add_stream(ranks),
                          down = program_.add_stream(ranks);
      const Worker& worker = plan_[d];
      const Time cycle = in_a_row(worker.chunk.forward + worker.chunk.backward) * micro_batches(s_) + messages_alone(d);
      program_.kernels(compute, Time{cycle.value / workers_} * d + Time{cycle.value % workers_ * d / workers_});
      std::vector<WorkerStep>& of_worker = made_.emplace_back(steps[d]);
      for (std::uint32_t k = 0; k < steps[d]; ++k) {
        WorkerStep& made = of_worker[k];
        std::uint64_t number = 0;
        const auto launch = [&](const PassTime& pass, Time more = {}) {
          // Each begins with what a server sends, for which the host waits as well.
          const PassTime time = begun_together(of_host(host) + pass);
          made.passes = made.passes + time;
          made.compression = made.compression + more;
          return program_.kernels(compute, time.duration + more);
        };
        const auto run = [&](const PassTime& alone, Time more = {}) {
          return launch(straggling(d, k, number++, alone), more);
        };
        const TaskId first = run(worker.chunk.forward);
        if (in_.stragglers == nullptr) {  // all micro-batches are alike: as one
          if (micro_batches(s_) > 1) run((worker.chunk.backward + worker.chunk.forward) * (micro_batches(s_) - 1));
        } else if (micro_batches(s_) > 1) {  // each has its own chance; the host runs ahead from one to the next
          PassTime all;
          for (std::uint32_t m = 1; m < micro_batches(s_); ++m) {
            all = all + straggling(d, k, number++, worker.chunk.backward);
            all = all + straggling(d, k, number++, worker.chunk.forward);
          }
          launch(all);
        }
        if (k > 0)
          for (const TaskId read : of_worker[k - 1].reads) program_.after(first, read);
        for (const Bucket& bucket : worker.buckets) {
          const TaskId computed = run(bucket.backward, compress_time(s_, gpu(d), bucket.elements));
          for (int part = 0; part < bucket.parts; ++part) {
            TaskId ready = computed;
            if (has_link(d)) {
              const Key push{d, true, bucket.part()};
              ready = program_.communicate(up, declared_.at(push));
              program_.after(ready, computed);
            }
            made.updates.push_back(
                program_.kernels(std::span<const sim::StreamId>{}, memory, update_time(bucket.part())));
            program_.after(made.updates.back(), ready);
          }
        }
        if (worker.rest.duration > Time{}) run(worker.rest);
        for (const Bucket& bucket : worker.buckets)
          for (int part = 0; part < bucket.parts; ++part) {
            const Key pull{d, false, bucket.part()};
            const std::size_t message = made.reads.size();
            made.reads.push_back(has_link(d) ? program_.communicate(down, declared_.at(pull)) : program_.moment());
            program_.after(made.reads.back(), made.updates[message]);
            if (clocks.empty()) continue;
            program_.after(clocks[k][message], made.updates[message]);
            if (k >= *s_.data_parallel.staleness)
              program_.after(made.reads.back(), clocks[k - *s_.data_parallel.staleness][message]);
          }
      }
    }
  }

  PassTime straggling(std::uint32_t worker, std::uint32_t k, std::uint64_t number, const PassTime& alone) const {
    if (in_.stragglers == nullptr) return alone;
    return in_.stragglers->slowed({0, worker, 0}, (std::uint64_t{k} << 32) + number, alone);
  }

  Time last_finish(std::span<const TaskId> tasks) const {
    Time last{};
    for (const TaskId task : tasks) last = std::max(last, timeline_.finish[sim::index(task)]);
    return last;
  }

  /// Message by message, since one is read while gradients of others are still on their way.
  Staleness staleness(std::span<const SteadyWindow> windows) const {
    Staleness out;
    double sum = 0, count = 0;
    for (std::size_t b = 0; b < messages(); ++b) {
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
  std::vector<Worker> plan_;
  std::vector<workload::Communication> communications_;
  std::map<Key, workload::CommunicationId> declared_;
  std::optional<workload::Flows> flows_;
  workload::Program program_;
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
  if (in.record) f.recorded = std::make_shared<const workload::RecordedProgram>(run->recorded());
  return loads;
}

}  // namespace stepcast::schedules
