#include "app/import_log.h"

#include "app/read/file_text.h"
#include "app/report/kernel_report.h"
#include "calibrate/logs/kernel_table.h"
#include "calibrate/logs/kineto.h"
#include "calibrate/logs/log_bytes.h"
#include "calibrate/logs/nsys.h"
#include "calibrate/logs/nvidia_smi.h"
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

Report read_report(const std::string& file) {
  const std::string shown = shown_path(file);
  if (calibrate::is_sqlite(file)) return kernel_report(calibrate::read_nsys(file));
  const std::string text = calibrate::read_log(file);
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
  if (!out.empty()) write_file(out, report.csv);
  write_output("", format == Format::json ? report.json : format == Format::csv ? report.csv : report.table);
}

}  // namespace stepcast::app
