#pragma once

#include <span>
#include <string>

#include "calibrate/fit/transport_fit.h"

namespace stepcast::app {

/// A file of configs/software/: the transport, and how well each constant is told. `source`: what was fitted to.
std::string transport_yaml(const std::string& name, const collectives::Transport& transport,
                           std::span<const calibrate::FittedConstant> constants, const std::string& source);

/// "  simple: 3.200 us  # 95 %: 2.9 to 3.5", after `indent`.
std::string constant_line(const std::string& indent, const std::string& key, const calibrate::FittedConstant& constant);

}  // namespace stepcast::app
