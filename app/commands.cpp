#include <array>

#include "app/calibrate.h"
#include "app/collective.h"
#include "app/command.h"
#include "app/fit.h"
#include "app/keys.h"
#include "app/run.h"
#include "app/topology.h"
#include "app/validate.h"

namespace stepcast::app {

std::span<const Command> commands() {
  static constexpr std::array all{
      Command{"run", "forecast scenarios: step time, where it goes, memory", run},
      Command{"validate", "predicted beside measured for runs that state what they took", validate},
      Command{"topology", "the links of a machine and the ways between its GPUs; import and export", show_topology},
      Command{"collective", "time collectives as nccl-tests prints them, all algorithms, against a log", collective},
      Command{"calibrate", "measure this machine's GPUs, or take a bundle of measurements, and fit a profile to them",
              calibrate_machine},
      Command{"fit", "fit a GPU's multiply model to a table of measured multiplies", fit},
      Command{"keys", "every key of the scenario language", keys},
  };
  return all;
}

}  // namespace stepcast::app
