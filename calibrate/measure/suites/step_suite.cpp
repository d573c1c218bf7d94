#include "calibrate/measure/suites/step_suite.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <thread>

#include "calibrate/measure/checks/kernel_check.h"
#include "calibrate/measure/device/machine.h"
#include "calibrate/measure/host/runs_table_file.h"
#include "calibrate/measure/host/time_limit.h"
#include "calibrate/measure/step/training_rank.h"
#include "calibrate/measure/suites/case_guard.h"
#include "calibrate/measure/suites/nccl_peers.h"
#include "calibrate/measure/suites/say.h"

namespace stepcast::measure {
namespace {

constexpr int kWarmUps = 3, kLeast = 7, kMost = 30;
constexpr double kLongest = 4;  // seconds that the timed steps of one case should take together

int host_threads(int ranks_here) { return std::max(1, cores_allowed() / ranks_here); }

/// Runs a function on every GPU of this node, each in its thread. A rank that fails ends the process, which says which
/// rank and of what: the others may wait in NCCL for what will not come, and are not told otherwise.
template <class Function>
void on_every_gpu(const Communicators& comms, CaseGuard& guard, const Function& function) {
  comms.on_every_gpu([&](std::size_t i) {
    try {
      function(i);
    } catch (const std::exception& problem) {
      guard.give_up("rank " + std::to_string(comms.rank(i)) + ": " + problem.what());
    }
  });
}

/// The ranks of a step on this node's GPUs, each made, rehearsed and ended by a thread of its GPU: with that GPU
/// current, as cuBLASLt's handle and NCCL want it.
class StepRanks {
 public:
  StepRanks(const StepCase& step, const TrainingConstants& training, const Communicators& comms, CaseGuard& guard)
      : comms_(comms), guard_(guard), peers_(comms.here()), of_(comms.here()), problems_(comms.here()) {
    on_every_gpu(comms_, guard_, [&](std::size_t i) { peers_[i] = std::make_unique<NcclPeers>(step, comms_, i); });
    on_every_gpu(comms_, guard_, [&](std::size_t i) {
      try {
        of_[i] = std::make_unique<TrainingRank>(step, training, comms_.rank(i), *peers_[i]);
        of_[i]->rehearse();
      } catch (const std::runtime_error& problem) {  // memory: nobody waits for this rank yet
        problems_[i] = problem.what();
        cudaGetLastError();  // out of memory is forgotten; what is worse ends the program
        check_cuda(cudaDeviceSynchronize(), "after the failure");
      }
    });
  }
  StepRanks(const StepRanks&) = delete;
  StepRanks& operator=(const StepRanks&) = delete;
  ~StepRanks() {
    on_every_gpu(comms_, guard_, [&](std::size_t i) { of_[i].reset(); });
    on_every_gpu(comms_, guard_, [&](std::size_t i) { peers_[i].reset(); });
  }

  const std::vector<std::unique_ptr<TrainingRank>>& all() const { return of_; }
  /// Why a rank of this node could not be made; "" if all could.
  std::string problem() const {
    const auto at = std::find_if(problems_.begin(), problems_.end(), [](const std::string& p) { return !p.empty(); });
    return at == problems_.end() ? "" : *at;
  }

 private:
  const Communicators& comms_;
  CaseGuard& guard_;
  std::vector<std::unique_ptr<Peers>> peers_;
  std::vector<std::unique_ptr<TrainingRank>> of_;
  std::vector<std::string> problems_;
};

/// Throws where a node's ranks could not be made: in all processes.
void require_ready(const StepRanks& ranks, const ProcessGroup& cluster) {
  const std::string problem = cluster.first_of(ranks.problem());
  if (!problem.empty()) throw std::runtime_error(problem);
}

/// Mean loss of the first two steps, as all nodes together know it: by then gradients have been summed and used.
double second_loss(const StepCase& step, const TrainingConstants& training, const Communicators& comms,
                   const ProcessGroup& cluster, CaseGuard& guard) {
  const StepRanks ranks(step, training, comms, guard);
  require_ready(ranks, cluster);
  std::vector<double> losses(comms.here(), 0);
  on_every_gpu(comms, guard, [&](std::size_t i) {
    TrainingRank& rank = *ranks.all()[i];
    for (int s = 0; s < 2; ++s) rank.run();
    const StepRank at = step_rank(step, comms.rank(i));
    if (at.stage + 1 == step.pipeline && at.tensor == 0) losses[i] = rank.loss() / step.data;
  });
  return cluster.total(std::accumulate(losses.begin(), losses.end(), 0.0));
}

/// The loss of a tiny model's second step in this split, against one GPU's.
bool split_agrees(const StepCase& of, const Communicators& comms, const ProcessGroup& cluster, CaseGuard& guard) {
  StepCase tiny{.layers = of.pipeline, .hidden = 64 * std::max(2, of.tensor), .heads = std::max(2, of.tensor)};
  tiny.vocab = 64 * of.tensor;
  tiny.sequence = 64;
  tiny.micro_batch = 2;
  StepCase split = tiny;
  split.data = of.data;
  split.tensor = of.tensor;
  split.pipeline = of.pipeline;
  split.micro_batches = of.pipeline;
  StepCase whole = tiny;
  whole.micro_batches = of.pipeline * of.data;
  const TrainingConstants training{.deviation = 0.1f, .adam = {.rate = 0.01f}};
  check_cuda(cudaSetDevice(0), "cudaSetDevice");
  NoPeers nobody;
  TrainingRank one(whole, training, 0, nobody);
  for (int s = 0; s < 2; ++s) one.run();
  const double found = second_loss(split, training, comms, cluster, guard), wanted = one.loss();
  constexpr double kAllowed = 1e-2;  // sums over tensor ranks are rounded to bf16
  const bool agrees = std::fabs(found - wanted) <= kAllowed * wanted;
  if (cluster.node() == 0) {
    say(std::string(agrees ? "passed" : "FAILED") + " step split data " + std::to_string(of.data) + " tensor " +
        std::to_string(of.tensor) + " pipeline " + std::to_string(of.pipeline) + ": loss " + std::to_string(found) +
        ", one GPU's " + std::to_string(wanted));
  }
  return agrees;
}

StepPhases median_of(const std::vector<StepPhases>& samples) {
  StepPhases median;
  for (double StepPhases::*const phase :
       {&StepPhases::layers_forward, &StepPhases::layers_backward, &StepPhases::ends_forward,
        &StepPhases::ends_backward, &StepPhases::pipeline, &StepPhases::data, &StepPhases::optimizer}) {
    std::vector<double> values;
    for (const StepPhases& sample : samples) values.push_back(sample.*phase);
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    median.*phase = values[values.size() / 2];
  }
  return median;
}

std::int64_t used_bytes() {
  std::size_t available = 0, total = 0;
  check_cuda(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
  return static_cast<std::int64_t>(total - available);
}

/// Steps one after the other; the slowest rank's time from when all began counts. `each` runs a function for every
/// local rank at once.
template <class OnEvery>
StepResult time_steps(const StepCase& step, const std::vector<std::unique_ptr<TrainingRank>>& ranks,
                      const ProcessGroup& cluster, int first_rank, const OnEvery& on_every) {
  using Clock = std::chrono::steady_clock;
  const std::size_t here = ranks.size();
  std::vector<double> seconds(here), samples;
  std::vector<std::int64_t> peak(here), used(here);
  std::vector<StepPhases> phases;
  std::size_t last = here;  // a local rank of the last stage
  for (std::size_t i = 0; i < here; ++i) {
    if (step_rank(step, first_rank + static_cast<int>(i)).stage + 1 == step.pipeline) last = std::min(last, i);
  }
  int wanted = kLeast;
  std::barrier meet(static_cast<std::ptrdiff_t>(here));
  on_every([&](std::size_t i) {
    for (int s = 0; s < kWarmUps + wanted; ++s) {
      if (i == 0) cluster.wait_for_all();
      meet.arrive_and_wait();
      const Clock::time_point begin = Clock::now();
      ranks[i]->run();
      seconds[i] = std::chrono::duration<double>(Clock::now() - begin).count();
      if (i == last && s >= kWarmUps) phases.push_back(ranks[i]->phases());
      meet.arrive_and_wait();
      if (i == 0) {
        const double slowest = cluster.most(*std::max_element(seconds.begin(), seconds.end()));
        if (s >= kWarmUps) samples.push_back(slowest);
        if (s == kWarmUps - 1) wanted = std::clamp(static_cast<int>(kLongest / slowest), kLeast, kMost);
      }
      meet.arrive_and_wait();  // `wanted` is told
    }
    peak[i] = ranks[i]->peak_bytes();
    used[i] = used_bytes();
  });
  StepResult result;
  result.step = spread_of(samples);
  if (!phases.empty()) result.phases = median_of(phases);
  const auto most = [&](const std::vector<std::int64_t>& of) {
    return static_cast<std::int64_t>(cluster.most(static_cast<double>(*std::max_element(of.begin(), of.end()))));
  };
  result.peak_bytes = most(peak) + CublasGemm::workspace_bytes();
  result.used_bytes = most(used);
  // Phases of the first node that has a rank of the last stage; others have none.
  for (double StepPhases::*const phase :
       {&StepPhases::layers_forward, &StepPhases::layers_backward, &StepPhases::ends_forward,
        &StepPhases::ends_backward, &StepPhases::pipeline, &StepPhases::data, &StepPhases::optimizer})
    result.phases.*phase = cluster.most(result.phases.*phase);
  return result;
}

class StepTable {
 public:
  StepTable(const std::filesystem::path& folder, const std::string& run, const ProcessGroup& cluster, int gpus)
      : run_(run), writes_(cluster.node() == 0), node_(node_named(gpu_name(), gpus)) {
    if (!writes_) return;
    std::filesystem::create_directories(folder / "steps");
    table_.emplace(folder / "steps" / "stepcast.csv", step_table_columns());
    if (node_.empty()) say("training steps: no file of configs/nodes/ is known for this GPU: cluster.node stays empty");
  }
  /// What process 0 knows, in all.
  bool has(const StepCase& step, const ProcessGroup& cluster) const {
    char done = writes_ && table_->has(step_name(step)) ? 1 : 0;
    cluster.broadcast(&done, 1);
    return done != 0;
  }
  void add(const StepCase& step, const StepResult& result) {
    if (!writes_) return;
    table_->add(step_table_cells(step, result, node_, run_));
    say(step_name(step) + ": " + std::to_string(result.step.median * 1e3) + " ms");
  }

 private:
  std::string run_;
  bool writes_;
  std::string node_;
  std::optional<RunsTableFile> table_;
};

/// Of the training steps of a run, how many there are and how many the time limit left out.
struct PlanCounts {
  std::size_t all = 0, left_out = 0;
};

/// Measures those of a plan that the table has not. The clock of process 0 counts, so that all agree.
template <class Measure>
void measure_plan(const std::vector<StepCase>& plan, const StepTable& table, CaseGuard& guard,
                  const ProcessGroup& cluster, const TimeLimit& limit, PlanCounts& planned, const Measure& measure) {
  const auto over = [&] {
    char yes = limit.over() ? 1 : 0;
    cluster.broadcast(&yes, 1);
    return yes != 0;
  };
  planned.all += plan.size();
  planned.left_out += measure_in_time(
      plan, [&](const StepCase& step) { return table.has(step, cluster) || guard.refused(step_name(step)); }, over,
      [&](const StepCase& step) { guard.measure(step_name(step), [&] { measure(step); }); });
}

void one_gpu(StepTable& table, CaseGuard& guard, const ProcessGroup& cluster, const std::vector<StepCase>& plan,
             const TimeLimit& limit, PlanCounts& planned) {
  check_cuda(cudaSetDevice(0), "cudaSetDevice");
  const TrainingConstants training{.host_threads = host_threads(1)};
  measure_plan(plan, table, guard, cluster, limit, planned, [&](const StepCase& step) {
    NoPeers nobody;
    std::vector<std::unique_ptr<TrainingRank>> ranks;
    ranks.push_back(std::make_unique<TrainingRank>(step, training, 0, nobody));
    table.add(step, time_steps(step, ranks, cluster, 0, [](const auto& function) { function(0); }));
  });
}

/// All splits over several GPUs. Returns how many of them do not agree with one GPU's step.
int several_gpus(StepTable& table, CaseGuard& guard, const ProcessGroup& cluster, int gpus,
                 const std::vector<StepCase>& plan, const TimeLimit& limit, PlanCounts& planned) {
  std::vector<int> here(static_cast<std::size_t>(gpus));
  std::iota(here.begin(), here.end(), 0);
  const Communicators comms(here, cluster);
  const TrainingConstants training{.host_threads = host_threads(gpus)};
  std::set<std::vector<int>> agreed, wrong;
  measure_plan(plan, table, guard, cluster, limit, planned, [&](const StepCase& step) {
    const std::vector<int> split{step.data, step.tensor, step.pipeline};
    if (agreed.count(split) + wrong.count(split) == 0)
      (split_agrees(step, comms, cluster, guard) ? agreed : wrong).insert(split);
    if (wrong.count(split) != 0) return;
    const StepRanks ranks(step, training, comms, guard);
    require_ready(ranks, cluster);
    table.add(step, time_steps(step, ranks.all(), cluster, comms.rank(0),
                               [&](const auto& function) { on_every_gpu(comms, guard, function); }));
  });
  return static_cast<int>(wrong.size());
}

}  // namespace

int run_step_suite(const std::filesystem::path& folder, const std::string& run, const ProcessGroup& cluster, int gpus,
                   bool quick, double time_limit) {
  if (compute_capability() < 80) {
    if (cluster.node() == 0) say("training steps: bf16 needs compute capability 8.0: left out");
    return 0;
  }
  const TimeLimit limit(time_limit);
  PlanCounts planned;
  const std::int64_t memory = gpu_memory();
  StepTable table(folder, run, cluster, gpus);
  CaseGuard guard(folder, run, "steps", cluster);
  int failed = 0;
  if (cluster.nodes() == 1) {
    check_cuda(cudaSetDevice(0), "cudaSetDevice");
    const Stream stream;
    for (const KernelCheck& check : step_checks()) {
      const double error = check.error(stream);
      if (error <= check.tolerance) continue;
      ++failed;
      say("FAILED step " + check.kernel + " recomputing " + check.layout + ": error " + std::to_string(error) +
          ": steps are not timed");
    }
    if (failed > 0) return failed;
    one_gpu(table, guard, cluster, step_plan(1, memory, quick), limit, planned);
  }
  const int all = gpus * cluster.nodes();
  if (all > 1) failed += several_gpus(table, guard, cluster, gpus, step_plan(all, memory, quick), limit, planned);
  if (planned.left_out > 0 && cluster.node() == 0) say(left_out_line(planned.left_out, planned.all, "training steps"));
  guard.finish();
  return failed;
}

}  // namespace stepcast::measure
