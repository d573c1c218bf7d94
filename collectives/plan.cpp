#include "collectives/plan.h"

#include <string>

#include "sim/input_error.h"

namespace stepcast::collectives {

void refuse_transfers(std::size_t transfers) {
  throw InputError("algorithm", "a plan of " + std::to_string(transfers) +
                                    " transfers or more is not simulated, allowed are " +
                                    std::to_string(kMostTransfers) +
                                    ": fewer GPUs, as many on every node, or another algorithm make fewer");
}

}  // namespace stepcast::collectives
