#pragma once

#include <string>

#include "calibrate/confidence/explain.h"

namespace stepcast::app {

std::string explanation_table(const std::string& name, const calibrate::Explanation& explanation);
std::string explanation_json(const std::string& name, const calibrate::Explanation& explanation);

}  // namespace stepcast::app
