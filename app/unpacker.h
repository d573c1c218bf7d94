#pragma once

#include <string>

#include "calibrate/logs/unpacker.h"

namespace stepcast::app {

/// What unpacks, loaded on first use. Throws std::runtime_error where it cannot be loaded: `shown`, the packed file
/// that it is for, cannot be read then.
calibrate::Unpacker loaded_unpacker(const std::string& shown);

}  // namespace stepcast::app
