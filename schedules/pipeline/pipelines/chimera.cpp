#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "schedules/pipeline/placement.h"
#include "schedules/pipeline/shape.h"

namespace stepcast::schedules {
namespace {

/// Units of p micro-batches, half of them down the stages and half up. Where forward and backward are one slot each,
/// the j-th micro-batch of its half is forwarded at slot d + 2j of its unit, d stages from where it came in, and goes
/// back at 2p - 1 - d + 2j: the two ways take slots of different parity on every stage and never meet. The next unit
/// begins 2p slots later ("direct concatenation", section 3.5).
StageOrder chimera_order(Shape shape, StageId stage) {
  const std::uint32_t p = shape.stages, half = p / 2, each_way = shape.micro_batches / 2;
  std::vector<std::pair<std::uint32_t, Pass>> slots;
  slots.reserve(std::size_t{shape.micro_batches} * 2);
  for (const std::uint32_t way : {0u, 1u}) {
    const std::uint32_t from_entry = held(shape, {index(stage), way}).chunk;
    for (std::uint32_t m = 0; m < each_way; ++m) {
      const std::uint32_t unit = m / half * 2 * p, turn = 2 * (m % half);
      const MicroBatchId micro_batch{way * each_way + m};
      slots.emplace_back(unit + from_entry + turn, Pass{PassKind::forward, micro_batch, way});
      slots.emplace_back(unit + 2 * p - 1 - from_entry + turn, Pass{PassKind::backward, micro_batch, way});
    }
  }
  std::ranges::sort(slots, {}, &std::pair<std::uint32_t, Pass>::first);
  StageOrder order;
  order.reserve(slots.size());
  for (const auto& [slot, pass] : slots) order.push_back(pass);
  return order;
}

std::string chimera_supports(Shape shape) {
  if (std::string problem = two_way_problem("chimera", shape); !problem.empty()) return problem;
  if (shape.micro_batches % shape.stages == 0) return "";
  return fmt::format("chimera needs micro-batches ({}) to be a multiple of pipeline stages ({})", shape.micro_batches,
                     shape.stages);
}

}  // namespace

extern const PipelineSchedule chimera;
constinit const PipelineSchedule chimera{
    .name = "chimera",
    .summary = "two pipelines in opposite directions fill each other's bubbles; every stage holds two chunks' weights",
    .source = "Li and Hoefler, Chimera, SC 2021, arXiv:2107.06925, section 3.1, figure 3 and table 2",
    .supports = chimera_supports,
    .order = chimera_order,
    .placement = Placement::opposite,
    .virtual_stages = 2};

}  // namespace stepcast::schedules
