#pragma once

#include "collectives/operation.h"
#include "scenario/gpu.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Bytes that a rank sends of so many gradients: at the precision of the wire, compressed as the scenario says. With
/// top_k every value has an index of 4 bytes.
double message_bytes(const Scenario& scenario, double elements);

/// The collective that sums messages of `ranks` ranks, and the bytes to give it: an all-reduce of one, or with top_k an
/// all-gather of all, since no two ranks' largest gradients are the same (Renggli et al., "SparCML", SC 2019).
struct MessageSum {
  collectives::Operation operation{};
  Bytes bytes{};
};
MessageSum sum_of_messages(const Scenario& scenario, double elements, std::uint32_t ranks);

/// Time that kernels take to make a message of gradients: one adds what was left out before and finds the scale or the
/// threshold, one reads the sum again and writes the message and what is left out. Bytes over the GPU's streaming rate.
/// Zero without compression.
Time compress_time(const Scenario& scenario, const Gpu& gpu, double elements);

/// Time to turn the sum of `messages` messages into gradients: each gradient is written once; with top_k each value is
/// added where it belongs, a sector of 32 bytes read and written.
Time decompress_time(const Scenario& scenario, const Gpu& gpu, double elements, std::uint32_t messages);

}  // namespace stepcast::schedules
