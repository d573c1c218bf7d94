#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "collectives/timing/timer.h"
#include "models/cost/host_work.h"
#include "models/cost/kernel_time.h"
#include "models/layers/kernels.h"
#include "scenario/offload.h"
#include "topology/host_path.h"

namespace stepcast::schedules {

/// Time of a run of kernels on one tensor rank, and what it is made of: duration = compute + exposed_tensor +
/// exposed_copy + exposed_host. Two of them added are one run and then the other; the order tells.
struct PassTime {
  Time duration{}, compute{}, exposed_tensor{};
  Time exposed_copy{};             ///< of copies to and from the host that nothing hides
  Time exposed_host{};             ///< the GPU waits for a host that has waited for the GPU before it launches more
  Time copies_in{}, copies_out{};  ///< what copies take each way that run beside it
  Time hides_copies{};             ///< of `duration`, what lies beside copies that take longer
  HostWork host{};                 ///< beside it, ahead of the GPU or behind it: not part of `duration`

  /// What the GPU takes at least, whatever copies it waits for: the host may count on no more.
  Time without_copies() const { return duration - exposed_copy; }

  friend PassTime operator+(const PassTime& a, const PassTime& b) {
    const Time held = held_up(a.host, b.host);
    return {a.duration + b.duration + held,
            a.compute + b.compute,
            a.exposed_tensor + b.exposed_tensor,
            a.exposed_copy + b.exposed_copy,
            a.exposed_host + b.exposed_host + held,
            a.copies_in + b.copies_in,
            a.copies_out + b.copies_out,
            a.hides_copies + b.hides_copies,
            then(a.host, a.without_copies(), b.host, b.without_copies())};
  }
  /// So many times, one after the other. Requires n > 0.
  friend PassTime operator*(const PassTime& a, std::int64_t n) {
    const Time held = held_up(a.host, a.host) * (n - 1);
    return {a.duration * n + held,
            a.compute * n,
            a.exposed_tensor * n,
            a.exposed_copy * n,
            a.exposed_host * n + held,
            a.copies_in * n,
            a.copies_out * n,
            a.hides_copies * n,
            repeated(a.host, a.without_copies(), n)};
  }
};

/// Bytes on their way between a GPU and its host.
struct HostTraffic {
  topology::ToHost direction{};
  double bytes = 0;
  Tier tier = Tier::host;  ///< where they are, or go
  friend auto operator<=>(const HostTraffic&, const HostTraffic&) = default;
};

/// A part of a pass, for whoever simulates the traffic in it: kernels one after the other, and then a collective so
/// many times; or both at once. Or copies that begin, and then those that have begun are waited for.
struct PassPart {
  Time kernels{};
  std::optional<TensorCollective> traffic{};
  int times = 1;
  bool at_once = false;
  Time alone{};  ///< of the collective once, if it meets nothing; of copies, what they and `kernels` add to the pass
  std::vector<HostTraffic> copies{};  ///< each way one after the other, beside what follows
  bool awaits_copies = false;
  bool of_copies() const { return !copies.empty() || awaits_copies; }
};
using PassParts = std::vector<PassPart>;

/// What only the host does, while the GPU goes on with what has been launched.
PassTime of_host(Time time);

/// A pass that host and GPU come to at once, because the host has waited for the GPU: it gains no lead.
PassTime begun_together(PassTime pass);

/// Of each of many alike that follow each other: what the GPU takes, or the host where it takes longer.
Time in_a_row(const PassTime& pass);

/// Two passes of one rank that run together, each one's tensor traffic under the other's kernels where there is enough
/// of them: kernels one after the other, traffic one after the other, whichever takes longer. The host launches those
/// of both; while it waits in one of them, the GPU is at kernels of the other. Copies of both run beside all of it,
/// each way one after the other, or where none overlap after it.
PassTime together(const PassTime& a, const PassTime& b);

using TensorTimer = std::function<collectives::SharedTiming(const TensorCollective&)>;

/// What one kernel of a list adds to its pass.
struct KernelShare {
  Time compute{}, exposed_tensor{};
};

/// Kernels one after the other; a tensor collective marked `under_next` runs beside the next kernel, each slowing the
/// other by `overlap_slowdown`. `traffic`, if given, receives each collective's timing, as often as it runs, `parts`
/// what the pass is made of, but for what the host holds up, `shares` what each kernel adds to its compute and its
/// exposed traffic.
PassTime pass_time(const Kernels& kernels, const KernelCost& cost, const TensorTimer& tensor,
                   std::vector<collectives::SharedTiming>* traffic = nullptr, PassParts* parts = nullptr,
                   std::vector<KernelShare>* shares = nullptr);

}  // namespace stepcast::schedules
