#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

/// What `stepcast` without a command, and `stepcast --help`, print.
std::string help_text();

/// What a command says of itself, as it is; where a terminal shows it, its paragraphs are as wide as that. Lines that
/// begin with a blank are examples and stand alone.
std::string usage_text(const std::string& usage);

}  // namespace stepcast::app
