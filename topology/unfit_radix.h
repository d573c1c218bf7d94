#pragma once

#include <string>

#include "sim/input_error.h"
#include "topology/spec.h"

namespace stepcast::topology {

/// A fabric cannot be built of switches of its radix. Whoever knows where that was said can say so there.
class UnfitRadix : public InputError {
 public:
  /// `why`: "is too small for 128 nodes".
  UnfitRadix(const FabricSpec& fabric, const std::string& why)
      : InputError(fabric.name, "radix " + std::to_string(fabric.radix) + " " + why), why_(why) {}
  const std::string& why() const { return why_; }

 private:
  std::string why_;
};

}  // namespace stepcast::topology
