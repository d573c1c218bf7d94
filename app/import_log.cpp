#include "app/import_log.h"

#include "app/output.h"
#include "app/report/kernel_report.h"
#include "calibrate/logs/kernel_table.h"
#include "calibrate/logs/kineto.h"
#include "calibrate/logs/log_bytes.h"
#include "calibrate/logs/nsys.h"
#include "calibrate/logs/nvidia_smi.h"
#include "language/core/file_text.h"
#include "language/core/streams.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

struct Report {
  std::string table, json, csv;
};

Report kernel_report(const calibrate::KernelLog& log) {
  const calibrate::KernelTable table = calibrate::kernel_table(log);
  return {kernels_table(table), kernels_json(table), kernels_csv(table)};
}

/// What can be read but once lies in memory whole.
constexpr std::size_t kLargestStream = std::size_t{4} << 30;

Report read_report(const std::string& file) {
  const std::string shown = language::shown_path(file);
  std::string text;
  if (language::is_stream(file)) {
    text = language::read_file(file, shown, kLargestStream);
    if (calibrate::is_sqlite_text(text)) return kernel_report(calibrate::parse_nsys(text, shown));
    text = calibrate::unpack_log(text, shown);
  } else {
    if (calibrate::is_sqlite(file)) return kernel_report(calibrate::read_nsys(file));
    text = calibrate::read_log(file);
  }
  if (calibrate::is_smi_query(text)) {
    const Facts facts = machine_facts(calibrate::parse_smi_query(text, shown));
    return {facts_table(facts), facts_json(facts), facts_csv(facts)};
  }
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string::npos && (text[begin] == '{' || text[begin] == '['))
    return kernel_report(calibrate::parse_kineto(text, shown));
  throw InputError(shown,
                   "expected a trace of the PyTorch profiler (JSON), an SQLite export of Nsight Systems, or what "
                   "nvidia-smi -q prints");
}

}  // namespace

void import_log(const std::string& file, const std::string& out, Format format) {
  const Report report = read_report(file);
  std::vector<NewFile> files;
  if (!out.empty()) files.push_back({out, report.csv});
  files.push_back({"-", format == Format::json ? report.json : format == Format::csv ? report.csv : report.table});
  write_files(files);
}

}  // namespace stepcast::app
