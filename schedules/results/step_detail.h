#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/cost/kernel_time.h"
#include "sim/units.h"

namespace stepcast::schedules {

/// What one stretch of a stage's stream is, for those who draw it: work, traffic, or the reason for a wait.
enum class Doing : std::uint8_t {
  forward,
  backward,
  weight,
  together,  ///< a forward and a backward pass at once
  optimizer,
  compression,
  multiplies,  ///< this and the next three: of a recorded step, whose kernels tell their class and not their pass
  attention,
  memory_bound,
  unclassed,  ///< a kernel whose name says nothing
  communication,
  copy,              ///< of a recorded step, between host and GPU or on it
  bubble,            ///< waits for another stage to compute
  exposed_pipeline,  ///< waits for a transfer between stages
  exposed_data,      ///< waits for a collective among data ranks
  host,              ///< waits for the host to launch
  idle,              ///< the rest
};
struct DoingName {
  std::string_view key{}, title{};
};
inline constexpr std::array<DoingName, 17> kDoings = {{{"forward", "forward"},
                                                       {"backward", "backward"},
                                                       {"weight", "weight gradients"},
                                                       {"together", "forward and backward at once"},
                                                       {"optimizer", "optimizer"},
                                                       {"compression", "compression"},
                                                       {"multiplies", "matrix multiplies"},
                                                       {"attention", "fused attention"},
                                                       {"memory_bound", "memory-bound kernels"},
                                                       {"unclassed", "kernels of no known class"},
                                                       {"communication", "communication"},
                                                       {"copy", "memory copies"},
                                                       {"bubble", "bubble: another stage computes"},
                                                       {"exposed_pipeline", "waits for a transfer between stages"},
                                                       {"exposed_data", "waits for a collective of data ranks"},
                                                       {"host", "waits for the host"},
                                                       {"idle", "idle"}}};
static_assert(kDoings.size() == static_cast<std::size_t>(Doing::idle) + 1);

/// One stretch of one stream of a stage's first rank.
struct Stretched {
  std::uint32_t stage = 0, stream = 0;  ///< the stream as Forecast::streams numbers them
  Doing doing{};
  std::uint32_t micro_batch = 0, virtual_stage = 0;  ///< of passes and sends; else a running number
  std::optional<std::uint32_t> traffic{};            ///< place in StepDetail::traffic
  Time start{}, duration{};
};

/// Communications of a step that are alike: the same operation and size among as many ranks, taking the same time.
struct KindOfTraffic {
  std::string name{};       ///< "send", "gradients"; of traffic inside layers the operator's name
  std::string operation{};  ///< "all_reduce"; several joined by " + "
  std::string algorithm{};  ///< "ring / LL128"; empty: nobody chose one
  Bytes bytes{};            ///< as collectives/operation.h counts them
  std::uint32_t ranks = 0;
  std::uint32_t groups = 0;       ///< that do it at the same moment
  Time alone{};                   ///< of each, where nothing else is on its links
  double times = 0;               ///< that it runs in a step, on one rank of each stage together
  std::optional<double> busbw{};  ///< bytes a second, as nccl-tests counts them; nothing: several operations
  std::string busiest_link{};     ///< the link that it occupies longest, while it runs
  bool inside_layers = false;
};

/// What a step's traffic does to one direction of a link.
struct UsedLink {
  struct User {
    std::uint32_t traffic = 0;  ///< place in StepDetail::traffic
    double share = 0;           ///< of the step, in which the link is occupied by it
  };
  std::string from{}, to{}, kind{};
  Bandwidth bandwidth{};
  double utilisation = 0;  ///< share of the step in which it is occupied
  std::vector<User> users{};
};

/// One line of a pass: what one kernel adds to it, and what that comes from.
struct PassLine {
  std::string_view name{};    ///< of the operator
  KernelRating rating{};      ///< of traffic, `source` says what timed it
  int launches = 1;           ///< kernels
  Time compute{}, exposed{};  ///< what it adds to the pass: kernels, and traffic that nothing hides
};

/// The lines of one pass of a block, which add up to it.
struct PassLines {
  std::string_view pass{};  ///< "forward", "recompute", "backward", "weight gradients"
  std::vector<PassLine> lines{};
  Time compute{}, exposed{};  ///< of the whole pass, as the forecast has it
};

/// A kind of block, such as a layer, with all that one micro-batch makes it do on one tensor rank.
struct DerivedBlock {
  std::string_view name{};
  double parameters = 0, saved = 0;  ///< on this rank; bytes kept for backward
  std::vector<PassLines> passes{};
};

/// How a stage's time is made of the passes of its blocks.
struct DerivedStage {
  std::uint32_t stage = 0;
  std::vector<std::uint32_t> blocks{};  ///< of each kind, how many it has
  std::uint32_t micro_batches = 0;      ///< that go through each of them
  Time compute{}, exposed{};            ///< blocks x passes x micro-batches
};

/// All that a report draws of one step beside its numbers.
struct StepDetail {
  std::vector<Stretched> stretches{};  ///< stage by stage, stream by stream, in order of time
  std::vector<KindOfTraffic> traffic{};
  std::vector<UsedLink> links{};  ///< that carry something, the busiest first
  std::vector<DerivedBlock> blocks{};
  std::vector<DerivedStage> stages{};
};

}  // namespace stepcast::schedules
