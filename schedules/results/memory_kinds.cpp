#include "schedules/results/memory_kinds.h"

namespace stepcast::schedules {

Bytes Offloaded::sum() const {
  Bytes all{};
  for (const MemoryKind& kind : kMemoryKinds)
    if (kind.offloaded != nullptr) all += this->*kind.offloaded;
  return all;
}

Bytes MemoryUse::peak() const {
  Bytes all{};
  for (const MemoryKind& kind : kMemoryKinds) all += this->*kind.on_gpu;
  return all;
}

Bytes MemoryUse::counted(MemoryFigure figure) const { return figure == MemoryFigure::allocated ? allocated() : peak(); }

Bytes MemoryUse::allocated() const {
  Bytes all{};
  for (const MemoryKind& kind : kMemoryKinds)
    if (kind.allocated) all += this->*kind.on_gpu;
  return all;
}

}  // namespace stepcast::schedules
