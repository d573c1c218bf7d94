#include "schedules/pipeline/micro_batch_groups.h"

namespace stepcast::schedules {

bool can_group(Shape shape, std::uint32_t size) {
  const std::uint32_t rest = size == 0 ? 0 : shape.micro_batches % size;
  return size >= shape.stages && size <= shape.micro_batches && (rest == 0 || rest >= shape.stages);
}

std::uint32_t group_size(Shape shape) {
  if (shape.micro_batch_group > 0) return shape.micro_batch_group;
  std::uint32_t size = shape.stages;
  while (!can_group(shape, size)) ++size;
  return size;
}

}  // namespace stepcast::schedules
