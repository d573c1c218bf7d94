#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "collectives/operation.h"
#include "collectives/timing/timer.h"
#include "sim/units.h"
#include "workload/host_copy.h"

namespace stepcast::workload {

/// A collective as ranks ask for it, whatever machine they are on.
struct Collective {
  collectives::Operation operation{};
  Bytes bytes{};
  /// The first `own` are the groups that ask; the others run the same at the same moment, on links they may share.
  std::shared_ptr<const std::vector<collectives::Group>> groups;
  std::uint32_t own = 1;
  std::string_view algorithm = "library";  ///< of those that live as long as the program: collectives/algorithms.h
  double scale = 1;                        ///< of the time it takes
  std::shared_ptr<const collectives::Details> details{};  ///< none: the usual
};

/// What stands in a program as one task on the network: collectives one after the other; or messages of a rank to
/// several at once, each at the rate that it would have alone; or two collectives of which the second passes on what
/// the first brings as it comes; or copies between GPUs and their hosts.
struct Communication {
  enum class Order : std::uint8_t { one_after_the_other, side_by_side, passed_on };
  std::vector<Collective> collectives;
  Order order = Order::one_after_the_other;
  /// What the receivers then do with it, on links of their own, before it is there.
  std::vector<Collective> at_receiver{};
  Time receivers_compute{};  ///< between two of these
  /// Those of one turn never run at once: they stand on one stream, or in one rank's pass. None: it may meet any other.
  std::optional<std::uint32_t> turn{};
  std::optional<HostCopy> copy{};  ///< instead of collectives
  Time delay{};                    ///< before it begins, while its streams wait
};

/// A place in a list of communications.
enum class CommunicationId : std::uint32_t {};

constexpr std::uint32_t index(CommunicationId id) { return static_cast<std::uint32_t>(id); }

}  // namespace stepcast::workload
