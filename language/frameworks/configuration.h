#pragma once

#include <span>
#include <string>
#include <string_view>

#include "language/core/library.h"
#include "language/frameworks/framework.h"

namespace stepcast::language {

/// A framework's configuration as the text of a scenario file, with a comment on each line that says where it came
/// from or that it was assumed, and in front what of the configuration changes no forecast. `settings` are "key=value",
/// laid over it: what the configuration cannot say, machines for one. Throws InputError for a name that is not known,
/// with the nearest, and for one that is and changes the answer but stands for nothing in a scenario.
std::string scenario_of_configuration(const Framework& framework, std::string_view text, const std::string& file,
                                      std::span<const std::string> settings, Library& library);

}  // namespace stepcast::language
