#pragma once

#include "language/chakra/traces.h"
#include "sim/units.h"

namespace stepcast::language {

/// The names of stepcast's own attributes.
inline constexpr const char *kTaskAttribute = "stepcast.task", *kDurationAttribute = "stepcast.duration_ps",
                            *kEngineAttribute = "stepcast.engine", *kCommunicationAttribute = "stepcast.communication",
                            *kAfterAttribute = "stepcast.after";

/// How long a node takes: by stepcast's attribute, else by duration_micros.
Time duration_of(const CheckedTraces& traces, NodePlace at);

}  // namespace stepcast::language
