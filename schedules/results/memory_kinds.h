#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

#include "schedules/results/results.h"

namespace stepcast::schedules {

/// A kind of memory, as every report and test knows it. Its unit is the byte wherever it is a number.
struct MemoryKind {
  std::string_view key;    ///< inside "memory_bytes" of JSON and of docs/results.schema.json
  std::string_view title;  ///< of its column in the text report
  std::string_view words;  ///< in a sentence: "optimizer state"
  Bytes MemoryUse::*on_gpu;
  Bytes Offloaded::*offloaded = nullptr;  ///< none: it never leaves the GPU
  bool allocated = true;                  ///< by the framework's allocator
};

/// Every kind, in the order in which reports have them. A new kind is a member of MemoryUse and a line here.
inline constexpr MemoryKind kMemoryKinds[] = {
    {"parameters", "parameters", "parameters", &MemoryUse::parameters, &Offloaded::parameters},
    {"gradients", "gradients", "gradients", &MemoryUse::gradients, &Offloaded::gradients},
    {"optimizer", "optimizer", "optimizer state", &MemoryUse::optimizer, &Offloaded::optimizer},
    {"activations", "activations", "activations", &MemoryUse::activations, &Offloaded::activations},
    {"buffers", "buffers", "buffers", &MemoryUse::buffers},
    {"communicators", "NCCL", "NCCL's buffers", &MemoryUse::communicators, nullptr, false},
    {"reserve", "reserve", "reserve", &MemoryUse::reserve, nullptr, false},
};
static_assert(sizeof(MemoryUse) == std::size(kMemoryKinds) * sizeof(Bytes) + 2 * sizeof(Offloaded),
              "a member of MemoryUse has no line here");
static_assert(sizeof(Offloaded) ==
                  std::ranges::count_if(kMemoryKinds,
                                        [](const MemoryKind& kind) { return kind.offloaded != nullptr; }) *
                      sizeof(Bytes),
              "a member of Offloaded has no line here");

}  // namespace stepcast::schedules
