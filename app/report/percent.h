#pragma once

#include <string>

namespace stepcast::app {

/// An error as people read it: "+12.9%", "-4.6%", and "0.0%" without a sign for what rounds to nothing.
std::string signed_percent(double share);

}  // namespace stepcast::app
