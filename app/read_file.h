#pragma once

#include <string>

namespace stepcast::app {

/// A file that the command names.
struct ReadFile {
  std::string path, text;
};

}  // namespace stepcast::app
