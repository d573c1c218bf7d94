#include "schedules/pipeline/shape.h"

#include <fmt/format.h>

namespace stepcast::schedules {
namespace {

constexpr std::uint64_t kMostForwards = 1ull << 30;

}  // namespace

std::string shape_problem(Shape shape) {
  if (shape.stages == 0) return "a pipeline needs at least 1 stage, found 0";
  if (shape.micro_batches == 0) return "a pipeline needs at least 1 micro-batch, found 0";
  if (shape.virtual_stages == 0) return "a pipeline stage needs at least 1 virtual stage, found 0";
  if (shape.placement == Placement::opposite && (shape.virtual_stages != 2 || shape.stages % 2 != 0))
    return fmt::format(
        "two copies of the model in opposite directions need an even number of stages ({}) with 2 virtual stages ({})",
        shape.stages, shape.virtual_stages);
  // By quotients: the product of all three may not fit 64 bits.
  const std::uint64_t chunks = std::uint64_t{shape.stages} * shape.virtual_stages;
  if (chunks > kMostForwards || shape.micro_batches > kMostForwards / chunks) {
    return fmt::format(
        "{} stages x {} micro-batches x {} virtual stages are more passes than can be numbered (2^30 forwards)",
        shape.stages, shape.micro_batches, shape.virtual_stages);
  }
  return "";
}

std::string single_chunk_problem(std::string_view name, Shape shape) {
  if (std::string problem = shape_problem(shape); !problem.empty()) return problem;
  if (shape.virtual_stages == 1) return "";
  return fmt::format("{} has one model chunk per stage, found virtual stages ({}); use interleaved-1f1b for more", name,
                     shape.virtual_stages);
}

std::string two_way_problem(std::string_view name, Shape shape) {
  if (std::string problem = shape_problem(shape); !problem.empty()) return problem;
  if (shape.virtual_stages == 2) return "";
  return fmt::format("{} has two model chunks per stage, found virtual stages ({})", name, shape.virtual_stages);
}

std::vector<StageOrder> orders(const PipelineSchedule& schedule, Shape shape) {
  std::vector<StageOrder> all;
  all.reserve(shape.stages);
  for (std::uint32_t s = 0; s < shape.stages; ++s) all.push_back(schedule.order(shape, StageId{s}));
  return all;
}

}  // namespace stepcast::schedules
