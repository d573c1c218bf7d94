#include "schedules/plan/staged_model.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "models/layers/frozen.h"
#include "models/layers/partition.h"
#include "models/layers/recompute_groups.h"
#include "schedules/pipeline/placement.h"

namespace stepcast::schedules {
namespace {

std::vector<std::vector<BlockRange>> stage_chunks(const Scenario& s, const Blocks& blocks, Shape shape) {
  const std::vector<BlockRange> cuts = cut(blocks, share_out(s, blocks, chunks(shape)));
  std::vector<std::vector<BlockRange>> stages(shape.stages);
  for (std::uint32_t stage = 0; stage < shape.stages; ++stage)
    for (std::uint32_t v = 0; v < shape.virtual_stages; ++v)
      stages[stage].push_back(cuts[held(shape, {stage, v}).chunk]);
  return stages;
}

}  // namespace

StagedModel staged_model(const Scenario& s, std::vector<Scenario> kinds, SharedParts* shared) {
  SharedParts own;
  SharedParts& parts = shared != nullptr ? *shared : own;
  StagedModel out;
  out.pipeline = parts.pipeline(s);
  const std::shared_ptr<const Blocks> whole = parts.model(s);
  out.chunks = stage_chunks(s, *whole, out.pipeline->shape);
  if (kinds.size() > 1) out.kinds = std::move(kinds);
  if (out.kinds.empty() && !recomputes_in_groups(s)) {
    out.models.push_back(whole);
    return out;
  }
  std::vector<BlockRange> ranges;
  for (const std::vector<BlockRange>& stage : out.chunks) ranges.insert(ranges.end(), stage.begin(), stage.end());
  for (std::size_t number = 0; number < std::max<std::size_t>(out.kinds.size(), 1); ++number) {
    const Scenario& kind = out.kind(s, number);
    Blocks model = with_recomputation(kind, ranges);
    freeze(model, kind.training);
    out.models.push_back(std::make_shared<const Blocks>(std::move(model)));
  }
  return out;
}

}  // namespace stepcast::schedules
