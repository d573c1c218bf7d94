#include "app/import_log.h"

#include "app/log_file.h"
#include "app/output.h"
#include "app/report/kernel_report.h"
#include "app/status_line.h"
#include "calibrate/logs/kernel_table.h"
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
  const LogFile log = read_log_file(file, [](const std::string& text) { return calibrate::is_smi_query(text); });
  if (log.kernels) return kernel_report(*log.kernels);
  if (!calibrate::is_smi_query(log.text))
    throw InputError(
        log.shown,
        "expected a trace of the PyTorch profiler (JSON), an export of Nsight Systems (SQLite, JSON), or what "
        "nvidia-smi -q prints");
  const Facts facts = machine_facts(calibrate::parse_smi_query(log.text, log.shown));
  return {facts_table(facts), facts_json(facts), facts_csv(facts)};
}

}  // namespace

void import_log(const std::string& file, const std::string& out, Format format) {
  const Report report = said_meanwhile("reading", [&] { return read_report(file); });
  std::vector<NewFile> files;
  if (!out.empty()) files.push_back({out, report.csv});
  files.push_back({"-", format == Format::json ? report.json : format == Format::csv ? report.csv : report.table});
  write_files(files);
}

}  // namespace stepcast::app
