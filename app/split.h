#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

/// The parts of a text between these characters: one more than there are of them, and empty where two follow each
/// other.
std::vector<std::string> split(const std::string& text, char at);

}  // namespace stepcast::app
