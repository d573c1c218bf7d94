#include "app/unpacker.h"

#include <stdexcept>

#include "app/archive_module/unpack.h"
#include "app/modules/module.h"

namespace stepcast::app {

calibrate::Unpacker loaded_unpacker(const std::string& shown) {
  std::string error;
  void* const function = function_of_module("stepcast-archive", "stepcast_unpack", error);
  if (function == nullptr)
    throw std::runtime_error(shown + ": unpacking needs a part of stepcast that cannot be loaded (" + error +
                             "); a log that is unpacked already, or a bundle that is a folder, needs none");
  return reinterpret_cast<decltype(&stepcast_unpack)>(function);
}

}  // namespace stepcast::app
