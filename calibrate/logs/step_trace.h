#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/logs/kernel_table.h"

namespace stepcast::calibrate {

/// What a GPU does at a moment of a step. Of what runs at once on several streams the first of these counts, so that
/// what compute hides is not told twice.
enum class TracePart : std::uint8_t {
  multiplies,     ///< matrix multiplies and convolutions
  attention,      ///< fused
  memory_bound,   ///< elementwise kernels, norms, reductions, whatever moves memory
  optimizer,      ///< launched inside Optimizer.step, or named after one
  unclassed,      ///< a kernel whose name no pattern knows
  communication,  ///< a collective, and no compute beside it
  copy,           ///< a copy or fill, and neither of these
  host,           ///< nothing runs, and what runs next was not launched yet when that began
  idle,           ///< nothing runs though it was launched: it waits for another stream, or nobody knows
};
inline constexpr std::size_t kTraceParts = 9;

/// Collectives of one operation among so many ranks.
struct TracedCollective {
  std::optional<collectives::Operation> operation{};  ///< none: its name does not say
  std::uint32_t ranks = 0;                            ///< 0: the trace does not say
  std::uint64_t count = 0;
  Time total{}, exposed{};  ///< while it runs; of that, what is told as communication
};

/// A stream, and how long something ran on it.
struct StreamTime {
  std::uint32_t stream = 0;
  Time busy{};
};

/// What ran, or of the GPU as a whole what counted, at a stretch. Its time is counted from the step's beginning.
struct TracedStretch {
  TracePart part{};
  std::optional<std::uint32_t> kernel{};  ///< place in StepTrace::kernels; none: of the GPU as a whole
  Time start{}, duration{};
};

/// A stream, or the GPU as a whole: stretches in order of time, which do not overlap.
struct TracedRow {
  std::optional<std::uint32_t> stream{};  ///< none: the GPU as a whole, each moment told once
  std::vector<TracedStretch> stretches{};
};

/// A step that a trace has whole.
struct TracedStep {
  std::string name;  ///< "ProfilerStep#7"; empty: all of the trace
  Time from{}, to{};
};

/// One step of one device.
struct StepTrace {
  std::uint32_t device = 0;
  std::vector<std::uint32_t> devices;  ///< that the trace has
  std::vector<TracedStep> steps;       ///< likewise, in order of time
  std::string name;                    ///< of the step that is told
  Time length{};
  std::array<Time, kTraceParts> parts{};  ///< by TracePart; they add up to `length` exactly
  std::vector<TracedCollective> collectives;
  std::vector<StreamTime> streams;
  std::vector<KernelTotal> unclassed;  ///< the kernels of that part, largest total first
  std::vector<TracedRow> rows;         ///< where they are asked for: of the GPU as a whole, then of each stream
  std::vector<std::string> kernels;    ///< names of what `rows` has
  Time part(TracePart which) const { return parts[static_cast<std::size_t>(which)]; }
};

/// Which step of a trace is told.
struct TraceChoice {
  std::optional<std::string> step{};      ///< "ProfilerStep#7" or "7"; none: the one of median length
  std::optional<std::uint32_t> device{};  ///< none: the first
  std::uint32_t steps = 1;                ///< that a trace without marks holds: the mean of them is told
  bool rows = false;                      ///< tell what ran when; of a mean there is no such thing
};

/// Where the time of a step of a real run went. A step begins with the first thing on the GPU that was launched after
/// the host's mark ProfilerStep began, and ends likewise, because the GPU runs behind its host. A trace without marks,
/// or of which nothing says when it was launched, is cut at the marks themselves, or is one step. Throws InputError
/// (without a place) for a device or a step that is not there. O(n log n).
StepTrace step_trace(const KernelLog& log, const TraceChoice& choice = {});

}  // namespace stepcast::calibrate
