#include "app/logged_side.h"

#include <filesystem>

#include "app/log_file.h"
#include "language/core/file_text.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

/// Whether a text is a JSON object whose first key is "results".
bool is_result(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos || text[begin] != '{') return false;
  const std::size_t quote = text.find_first_not_of(" \t\r\n", begin + 1);
  return quote != std::string::npos && text.compare(quote, 9, "\"results\"") == 0;
}

}  // namespace

bool holds_scenarios(const std::string& file) {
  const std::string ending = std::filesystem::path(file).extension().string();
  return ending == ".yaml" || ending == ".yml" || ending == ".csv" || std::filesystem::is_directory(file);
}

DiffSide logged_side(const std::string& file, const std::string& row, const calibrate::TraceChoice& choice,
                     const schedules::Scenario* beside) {
  const std::string shown = language::shown_path(file);
  const LogFile log = read_log_file(file, is_result);
  if (log.kernels) return side_of_trace(step_of(log, choice), shown, beside);
  if (is_result(log.text)) return side_of_result(log.text, shown, row);
  throw InputError(shown,
                   "expected a scenario (.yaml), a table (.csv), a result of run --format json, a trace of the "
                   "PyTorch profiler (JSON) or an export of Nsight Systems (SQLite, JSON)");
}

}  // namespace stepcast::app
