#include "schedules/plan/staged_model.h"

#include <cstdint>
#include <utility>

#include "models/layers/frozen.h"
#include "models/layers/model_blocks.h"
#include "models/layers/partition.h"
#include "models/layers/recompute.h"
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

StagedModel staged_model(const Scenario& s, std::vector<Scenario> kinds, BriefPipelines* pipelines) {
  StagedModel out;
  out.pipeline = pipelines != nullptr ? pipelines->of(s) : brief_pipeline(s);
  out.chunks = stage_chunks(s, blocks(s), out.pipeline.shape);
  std::vector<BlockRange> ranges;
  for (const std::vector<BlockRange>& stage : out.chunks) ranges.insert(ranges.end(), stage.begin(), stage.end());
  out.kinds = std::move(kinds);
  for (const Scenario& kind : out.kinds) {
    Blocks& model = out.models.emplace_back(with_recomputation(kind, ranges));
    freeze(model, kind.training.frozen_layers);
  }
  return out;
}

}  // namespace stepcast::schedules
