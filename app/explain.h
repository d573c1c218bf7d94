#pragma once

#include <span>
#include <string>

#include "app/answers.h"
#include "calibrate/confidence/explain.h"

namespace stepcast::app {

/// Explains the error of the answer of that name by the others. Throws InputError where there is none of that name (the
/// nearest named), or it has no forecast or no measured step time.
calibrate::Explanation explain(std::span<const Answer> answers, const std::string& name);

}  // namespace stepcast::app
