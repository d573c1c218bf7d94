#include "app/log_file.h"

#include "app/unpacker.h"
#include "calibrate/logs/kineto.h"
#include "calibrate/logs/log_bytes.h"
#include "calibrate/logs/nsys.h"
#include "calibrate/logs/nsys_json.h"
#include "language/core/file_text.h"
#include "language/core/streams.h"
#include "sim/input_error.h"

namespace stepcast::app {

LogFile read_log_file(const std::string& file, bool (*is_other)(const std::string& text)) {
  LogFile out{language::shown_path(file), {}, {}};
  if (!language::is_stream(file) && calibrate::is_sqlite(file)) {
    out.kernels = calibrate::read_nsys(file);
    return out;
  }
  out.text = language::read_file(file, out.shown, calibrate::kLargestLog);
  if (calibrate::is_sqlite_text(out.text)) {
    out.kernels = calibrate::parse_nsys(out.text, out.shown);
    out.text.clear();
    return out;
  }
  if (calibrate::is_packed(out.text)) out.text = calibrate::unpack_log(out.text, out.shown, loaded_unpacker(out.shown));
  if (is_other != nullptr && is_other(out.text)) return out;
  const std::size_t begin = out.text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos || (out.text[begin] != '{' && out.text[begin] != '[')) return out;
  out.kernels = calibrate::is_nsys_json(out.text) ? calibrate::parse_nsys_json(out.text, out.shown)
                                                  : calibrate::parse_kineto(out.text, out.shown);
  out.text.clear();
  return out;
}

calibrate::StepTrace step_of(const LogFile& log, const calibrate::TraceChoice& choice) {
  try {
    return calibrate::step_trace(*log.kernels, choice);
  } catch (const InputError& error) {
    throw InputError(log.shown, error.what());
  }
}

}  // namespace stepcast::app
