#include "schedules/step/host_queue.h"

#include <algorithm>
#include <span>
#include <utility>

namespace stepcast::schedules {

using sim::TaskId;

namespace {

/// What a pass takes at least: its copies may meet less than others of their kind, and end sooner.
Time at_least(const PassTime& pass) { return pass.duration - pass.exposed_copy; }
Time shortest(const PassTime& pass) { return pass.host.behind + at_least(pass); }

}  // namespace

TaskId HostQueue::launch(workload::Program& program, sim::StreamId compute, const PassTime& pass, TaskId kernels,
                         std::uint32_t number) {
  close();
  wait_for_queue();
  last_ = pass;
  number_ = number;
  end_ = kernels;
  return hold_up(program, compute);
}

TaskId HostQueue::prolong(workload::Program& program, sim::StreamId compute, const PassTime& more) {
  const Time before = shortest(*last_);
  last_ = *last_ + more;
  if (!bound_) return hold_up(program, compute);
  program.prolong(*bound_, shortest(*last_) - before);
  return end_;
}

TaskId HostQueue::hold_up(workload::Program& program, sim::StreamId compute) {
  if (last_->host.behind <= lead_) return end_;
  const TaskId launched = written(program, number_);
  bound_ = program.delay(shortest(*last_));
  program.after(*bound_, launched);
  end_ = program.kernels(compute, Time{});
  program.after(end_, *bound_);
  return end_;
}

TaskId HostQueue::written(workload::Program& program, std::uint32_t number) {
  if (!stream_) stream_ = program.add_stream();
  TaskId launched = program.kernels(*stream_, std::exchange(since_, Time{}));
  for (std::optional<Gate>* gate : {&gate_, &own_gate_}) {
    if (!*gate) continue;
    const TaskId done = program.delay((*gate)->since);
    program.after(done, (*gate)->after);
    launched = program.kernels(*stream_, Time{});
    program.after(launched, done);
    passes_back_ = std::max(passes_back_, number - (*gate)->number);
    gate->reset();
  }
  return launched;
}

void HostQueue::close() {
  if (!last_) return;
  lead_ = std::max(lead_, last_->host.behind) + at_least(*last_) - last_->host.time;
  since_ += last_->host.time;
  if (gate_) gate_->since += last_->host.time;
  passes_.push_back({end_, number_, last_->host.launches, at_least(*last_)});
  queued_ += last_->host.launches;
  kernels_queued_ += at_least(*last_);
  own_gate_.reset();
  bound_.reset();
  last_.reset();
}

void HostQueue::wait_for_queue() {
  // The launches of the passes that are left fill the queue, and without the first of them they would not.
  for (; queued_ > kDepth && queued_ - passes_[first_].launches >= kDepth; ++first_) {
    queued_ -= passes_[first_].launches;
    kernels_queued_ = kernels_queued_ - passes_[first_].kernels;
  }
  if (queued_ < kDepth || first_ == 0) return;
  const Gate gate{passes_[first_ - 1].end, passes_[first_ - 1].number, {}};
  if (kernels_queued_ < lead_) {
    lead_ = kernels_queued_;
    gate_ = gate;
  } else {
    own_gate_ = gate;
  }
}

std::optional<TaskId> HostQueue::done(workload::Program& program) {
  close();
  if (lead_ >= Time{}) return std::nullopt;
  return written(program, number_);
}

}  // namespace stepcast::schedules
