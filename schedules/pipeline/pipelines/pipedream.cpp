#include <fmt/format.h>

#include "schedules/pipeline/shape.h"

namespace stepcast::schedules {

extern const PipelineSchedule one_f_one_b;

namespace {

/// 1F1B that is never drained: the order of so many steps' micro-batches is 1F1B's over all of them. Backward uses the
/// weights its forward met, so each stage keeps those of every micro-batch in flight, min(m, p - s).
StageOrder endless_one_f_one_b(Shape shape, StageId stage) { return one_f_one_b.order(shape, stage); }

std::uint32_t stashed_versions(Shape shape, StageId stage) { return shape.stages - index(stage); }

/// The one in use and the one that the micro-batches in flight began with: enough as long as a step has as many
/// micro-batches as the pipeline has stages.
std::uint32_t two_versions(Shape shape, StageId) { return shape.stages == 1 ? 1 : 2; }

std::string two_buffers_support(Shape shape) {
  if (std::string problem = single_chunk_problem("pipedream-2bw", shape); !problem.empty()) return problem;
  if (shape.micro_batches >= shape.stages) return "";
  return fmt::format("pipedream-2bw needs at least as many micro-batches ({}) as pipeline stages ({})",
                     shape.micro_batches, shape.stages);
}

}  // namespace

extern const PipelineSchedule pipedream, pipedream_2bw;

constinit const PipelineSchedule pipedream{
    .name = "pipedream",
    .summary = "1f1b that never drains and updates after every backward: no bubble; stashes weights of all in flight",
    .source = "Harlap et al., PipeDream, arXiv:1806.03377, sections 3.2 and 3.3; Narayanan et al., SOSP 2019",
    .supports = [](Shape shape) { return single_chunk_problem("pipedream", shape); },
    .order = endless_one_f_one_b,
    .updates = Updates::each_micro_batch,
    .weight_versions = stashed_versions};

constinit const PipelineSchedule pipedream_2bw{
    .name = "pipedream-2bw",
    .summary = "1f1b that never drains and updates once a step: no bubble; two versions of the weights",
    .source =
        "Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training, ICML 2021, arXiv:2006.09503, section 3.1",
    .supports = two_buffers_support,
    .order = endless_one_f_one_b,
    .updates = Updates::each_step,
    .weight_versions = two_versions};

}  // namespace stepcast::schedules
