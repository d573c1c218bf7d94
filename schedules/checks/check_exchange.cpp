#include "schedules/checks/check_exchange.h"

#include <string>
#include <string_view>

#include "schedules/pipeline/pipelines.h"

namespace stepcast::schedules {
namespace {

std::string_view name(Consistency consistency) { return kConsistencyNames[static_cast<std::size_t>(consistency)]; }

void check_one_rank(const char* what, std::uint32_t ranks, const std::string& key, const std::string& found,
                    std::vector<Problem>& out) {
  if (ranks > 1)
    out.push_back({key, found + " with " + what + " " + std::to_string(ranks) + " is not built; use " + what + " 1"});
}

void check_no_expert_ranks(const Scenario& s, const std::string& key, const std::string& found,
                           std::vector<Problem>& out) {
  check_one_rank("expert", s.parallelism.expert, key, found, out);
  check_one_rank("expert_tensor", s.parallelism.expert_tensor, key, found, out);
}

/// Ranks of one copy of the model share what data ranks here would each do by themselves.
void check_inner_ranks(const Scenario& s, const std::string& key, const std::string& found, std::vector<Problem>& out) {
  check_one_rank("context", s.parallelism.context, key, found, out);
  check_no_expert_ranks(s, key, found, out);
}

void check_consistency(const Scenario& s, std::vector<Problem>& out) {
  const DataParallelPlan& plan = s.data_parallel;
  const std::string found(name(plan.consistency));
  if (plan.staleness && plan.consistency != Consistency::bounded_staleness)
    out.push_back({"data_parallel.staleness",
                   "found a bound with data_parallel.consistency " + found + "; only bounded_staleness has one"});
  if (!plan.staleness && plan.consistency == Consistency::bounded_staleness)
    out.push_back({"data_parallel.staleness", "missing, with data_parallel.consistency bounded_staleness"});
  if (plan.consistency == Consistency::bulk_synchronous) return;
  const std::string key = "data_parallel.consistency";
  if (plan.mode == DataParallelMode::all_reduce)
    out.push_back({key, found +
                            " needs servers that hold the parameters; expected data_parallel.mode parameter_server or "
                            "sharded_parameter_server, found all_reduce"});
  const std::uint32_t most = plan.mode == DataParallelMode::sharded_parameter_server ? 64 : 512;
  if (s.parallelism.data > most)
    out.push_back({key, found + " with data " + std::to_string(s.parallelism.data) +
                            ": every worker is simulated, at most " + std::to_string(most) + " in this mode"});
  if (s.parallelism.pipeline > 1)
    out.push_back(
        {key, found + " with pipeline " + std::to_string(s.parallelism.pipeline) + " is not built; use pipeline 1"});
  if (plan.local_steps > 1)
    out.push_back({key, found + " with local_steps " + std::to_string(plan.local_steps) +
                            ": servers are sent every step's gradients; use one of them"});
  if (s.offload.any()) out.push_back({key, found + " with offload is not built"});
  check_inner_ranks(s, key, found, out);
}

/// Why weights cannot change on each data rank by itself.
std::string not_local(const Scenario& s) {
  const PipelineSchedule* schedule = find_pipeline(s.pipeline.schedule);
  if (placement_of(s.pipeline) == Placement::opposite) return "whose two copies of the model are summed every step";
  if (schedule != nullptr && schedule->updates != Updates::after_flush) return "whose pipeline never drains";
  return "";
}

void check_local_steps(const Scenario& s, std::vector<Problem>& out) {
  const DataParallelPlan& plan = s.data_parallel;
  if (plan.local_steps == 1) return;
  const std::string key = "data_parallel.local_steps", found = "local_steps " + std::to_string(plan.local_steps);
  if (plan.zero > 0)
    out.push_back({key, found + " with zero " + std::to_string(plan.zero) +
                            ": ranks that update by themselves hold all of their state; expected zero 0"});
  if (plan.mode != DataParallelMode::all_reduce)
    out.push_back({key, found + " with a parameter server is not built; expected mode all_reduce"});
  if (plan.overlap.value_or(false))
    out.push_back({"data_parallel.overlap", "true, with " + found +
                                                ": parameters are exchanged after the update, no backward pass is "
                                                "left to hide it"});
  if (const std::string why = not_local(s); !why.empty())
    out.push_back({key, found + " with pipeline.schedule " + s.pipeline.schedule + ", " + why});
  check_inner_ranks(s, key, found, out);
}

void check_compression(const Scenario& s, std::vector<Problem>& out) {
  const DataParallelPlan& plan = s.data_parallel;
  if (!plan.compression.any()) return;
  const std::string key =
      plan.compression.top_k ? "data_parallel.compression.top_k" : "data_parallel.compression.ratio";
  if (plan.compression.ratio && plan.compression.top_k)
    out.push_back({key, "found compression.ratio beside it; expected one of them"});
  check_no_expert_ranks(s, key, "compression", out);
  if (plan.zero > 0)
    out.push_back({key, "compression with zero " + std::to_string(plan.zero) + " is not built; use zero 0"});
  if (plan.compression.top_k && plan.mode != DataParallelMode::all_reduce &&
      plan.consistency == Consistency::bulk_synchronous)
    out.push_back({key, "with a parameter server that waits for all is not built; use compression.ratio"});
}

}  // namespace

void check_exchange(const Scenario& s, std::vector<Problem>& out) {
  check_consistency(s, out);
  check_local_steps(s, out);
  check_compression(s, out);
}

}  // namespace stepcast::schedules
