#pragma once

#include <span>
#include <string>

#include "app/report/answer.h"

namespace stepcast::app {

/// One scenario in full, several as one line each.
std::string run_table(std::span<const Answer> answers);
std::string run_csv(std::span<const Answer> answers);

}  // namespace stepcast::app
