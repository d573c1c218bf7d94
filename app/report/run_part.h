#pragma once

#include <span>

#include "app/report/answer.h"
#include "app/report/page.h"

namespace stepcast::app {

/// The part of a page that shows forecasts: one with all that is drawn of its step, where it was asked for with detail;
/// several beside each other.
PagePart run_part(std::span<const Answer> answers);

}  // namespace stepcast::app
