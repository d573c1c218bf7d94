// Scans of chunks beside measured ones (calibrate/data/chunk_scans.csv), under the rates that stacks have unless they
// say others.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "calibrate/fit/table_lines.h"
#include "language/configs/files.h"
#include "language/core/library.h"
#include "models/cost/kernel_time.h"
#include "models/layers/transformer_layer.h"
#include "tests/app/program.h"

namespace stepcast::app {
namespace {

using namespace schedules;

struct MeasuredScan {
  std::string op, gpu;
  std::int64_t samples = 0, sequence = 0, heads = 0, head = 0, state = 0, groups = 0, chunk = 0;
  bool convolution = false;
  double forward_ms = 0, backward_ms = 0;
};

std::vector<MeasuredScan> measured_scans() {
  std::vector<MeasuredScan> out;
  calibrate::read_table_lines(
      STEPCAST_SOURCE_DIR "/calibrate/data/chunk_scans.csv",
      "op,gpu,samples,sequence,heads,head,state,groups,chunk,with,forward_ms,backward_ms,source",
      [&](const std::string& line, const std::string&) {
        std::vector<std::string> cells;
        std::istringstream in(line);
        for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
        const auto whole = [&](std::size_t column) { return std::stoll(cells[column]); };
        out.push_back({cells[0], cells[1], whole(2), whole(3), whole(4), whole(5), whole(6), whole(7), whole(8),
                       !cells[9].empty(), std::stod(cells[10]), cells[11].empty() ? 0 : std::stod(cells[11])});
      });
  return out;
}

Scenario scenario_of(const MeasuredScan& scan) {
  Scenario s;
  const bool mamba = scan.op == "mamba";
  s.model.family = Family::llama;
  s.model.layers = 1;
  s.model.hidden = s.model.vocab = 1024;
  s.model.heads = s.model.kv_heads = 8;
  s.model.variations.pattern = *layer_pattern(mamba ? "M" : "G");
  if (mamba)
    s.model.mamba = {scan.heads, scan.head, scan.state, scan.groups, 4, scan.chunk};
  else
    s.model.delta_net = {scan.heads, scan.heads, scan.head, scan.state, 4, scan.chunk};
  s.training.micro_batch = s.training.global_batch = scan.samples;
  s.training.sequence = scan.sequence;
  s.training.precision = Precision::bf16;
  return s;
}

double milliseconds_of(const Kernels& kernels, const MeasuredScan& scan, const KernelCost& cost) {
  double all = 0;
  for (const Kernel& each : kernels)
    if (kind(each) == OperatorKind::chunk_scan || (scan.convolution && kind(each) == OperatorKind::short_convolution))
      all += to_seconds(cost.time(each)) * 1e3;
  return all;
}

TEST(ChunkScans, TakeAboutWhatMeasuredOnesDo) {
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  const language::Node nowhere;
  language::Value configs;
  configs.library = &library;
  configs.node = &nowhere;
  std::map<std::string, std::vector<double>> errors;
  for (const MeasuredScan& scan : measured_scans()) {
    const Gpu gpu = language::read_gpu_named(scan.gpu, configs);
    const Scenario s = scenario_of(scan);
    const KernelCost cost{gpu, s.software, Precision::bf16};
    const OperatorList layer = layer_operators(s, stack_sizes(s, scan.sequence, true), halves(s.model, 0));
    const auto compare = [&](const char* pass, const Kernels& kernels, double measured) {
      if (measured == 0) return;
      const double error = milliseconds_of(kernels, scan, cost) / measured - 1;
      EXPECT_LT(std::abs(error), 0.6) << scan.op << ' ' << scan.gpu << ' ' << scan.samples << " x " << scan.sequence
                                      << ' ' << scan.heads << ' ' << pass << ": " << error;
      errors[scan.op + ' ' + pass].push_back(error);
    };
    compare("forward", layer.forward, scan.forward_ms);
    compare("backward", backward_pass(layer), scan.backward_ms);
  }
  ASSERT_EQ(errors.size(), 4u);
  for (const auto& [what, each] : errors) {
    double sum = 0;
    for (const double error : each) sum += std::abs(error);
    EXPECT_LT(sum / static_cast<double>(each.size()), 0.25) << what;
  }
}

}  // namespace
}  // namespace stepcast::app
