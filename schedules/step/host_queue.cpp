#include "schedules/step/host_queue.h"

#include <algorithm>
#include <span>
#include <utility>

namespace stepcast::schedules {

using sim::TaskId;

namespace {

/// From the first launch to the end, where copies meet less than others of their kind.
Time shortest(const PassTime& pass) { return pass.host.behind + pass.without_copies(); }

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
  const Written comes = written(program, number_);
  bound_ = program.delay(std::max(shortest(*last_) - comes.earlier, Time{}));
  program.after(*bound_, comes.launched);
  end_ = program.kernels(compute, Time{});
  program.after(end_, *bound_);
  return end_;
}

HostQueue::Written HostQueue::written(workload::Program& program, std::uint32_t number) {
  if (!stream_) stream_ = program.add_stream();
  Time since = std::exchange(since_, Time{});
  TaskId launched = program.kernels(*stream_, std::max(since, Time{}));
  for (std::optional<Gate>* gate : {&gate_, &own_gate_}) {
    if (!*gate) continue;
    since = (*gate)->since;
    const TaskId done = program.delay(std::max(since, Time{}));
    program.after(done, (*gate)->after);
    launched = program.kernels(*stream_, Time{});
    program.after(launched, done);
    passes_back_ = std::max(passes_back_, number - (*gate)->number);
    gate->reset();
  }
  since_ = std::min(since, Time{});
  return {launched, Time{} - since_};
}

void HostQueue::close() {
  if (!last_) return;
  if (last_->host.ahead) {
    lead_ = *last_->host.ahead;
    since_ = Time{};  // the host's last task ends no later than the pass from which it goes on
    gate_ = Gate{end_, number_, Time{} - lead_};
    first_ = passes_.size();
    queued_ = 0;
    kernels_queued_ = Time{};
  } else {
    lead_ = std::max(lead_, last_->host.behind) + last_->without_copies() - last_->host.time;
    since_ += last_->host.time;
    if (gate_) gate_->since += last_->host.time;
  }
  passes_.push_back({end_, number_, last_->host.launches, last_->without_copies()});
  queued_ += last_->host.launches;
  kernels_queued_ += last_->without_copies();
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
  return written(program, number_).launched;
}

}  // namespace stepcast::schedules
