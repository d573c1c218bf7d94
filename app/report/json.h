#pragma once

#include <span>
#include <string>

#include "app/report/answer.h"
#include "app/report/comparison.h"

namespace stepcast::app {

/// The contracts of docs/results.schema.json: times in seconds, sizes in bytes, keys in a fixed order.
std::string run_json(std::span<const Answer> answers);
std::string validate_json(const Comparison& comparison);

/// Chrome trace events of one forecast's spans: a process per stage, a thread per stream, microseconds. ui.perfetto.dev
/// and chrome://tracing open it.
std::string trace_json(const schedules::Forecast& forecast);

}  // namespace stepcast::app
