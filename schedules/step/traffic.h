#pragma once

#include <array>
#include <optional>
#include <vector>

#include "schedules/step/lane_groups.h"
#include "schedules/step/step.h"
#include "workload/communication.h"
#include "workload/flows.h"

namespace stepcast::schedules {

/// A collective of one lane or one group of lanes, as declared.
struct Declared {
  workload::CommunicationId communication{};
  double elements = 0;  ///< gradients that are compressed for it
};

/// A piece's parameters, in the part that may be gathered while the piece before runs and the part that may not.
struct Gathers {
  std::optional<Declared> ahead, rest;
};

/// Data-parallel traffic of one lane, in the order it runs. Where the stages hold two copies of the model, each chunk's
/// ranks are those of both its stages: the lane of the first copy keeps the traffic of its chunk (virtual stage 0), and
/// the other's is empty.
struct DataPlan {
  std::vector<Chunk> chunks;                          ///< per virtual stage
  std::vector<std::vector<std::size_t>> bucket_ends;  ///< per virtual stage: pieces (from the back) that close a bucket
  std::vector<std::vector<Declared>> buckets;         ///< per virtual stage and bucket: the sum of its gradients
  std::vector<std::vector<Gathers>> gathers;          ///< ZeRO 3, per virtual stage and piece
  std::optional<Declared> whole;                      ///< without overlap: one sum of everything
  std::optional<Declared> spread;                     ///< ZeRO 1, 2: updated parameters back to all
};

/// Every communication of a step; InnerTraffic adds those inside layers.
struct Traffic {
  std::vector<workload::Communication> communications;
  std::size_t of_the_step = 0;                 ///< of these; the others are inside layers
  std::vector<std::array<Declared, 2>> sends;  ///< per lane: to the next stage, to the one before
  /// Per lane: the lanes whose sends are one communication, because what arrives is gathered among them; empty: it
  /// sends by itself.
  std::vector<std::vector<std::uint32_t>> senders;
  std::vector<DataPlan> data;             ///< per lane; without folding a group's traffic is its first rank's
  std::uint32_t tied_stage = 0;           ///< that has a copy of the first one's embedding
  std::vector<Declared> tied_embeddings;  ///< per replica; empty: nothing is tied across stages
};

/// On the input's machine.
workload::Flows flows_of(const StepInput& input, const Traffic& traffic);

/// Whether data ranks exchange gradients or parameters in every micro-batch, not once a step.
bool exchanges_in_each_micro_batch(const StepInput& input);

Traffic declare_traffic(const StepInput& input, const LaneGroups& lanes);

}  // namespace stepcast::schedules
