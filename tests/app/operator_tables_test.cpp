// The cost model beside measured kernels: the tables of calibrate/data that name single operators, under the constants
// that configs/ has. docs/operator-tables.txt is what this test prints.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "calibrate/fit/table_lines.h"
#include "language/configs/files.h"
#include "language/core/library.h"
#include "models/cost/gemm.h"
#include "models/cost/kernel_time.h"
#include "tests/app/program.h"

namespace stepcast::app {
namespace {

using schedules::GemmShape;
using schedules::Gpu;
using schedules::Precision;

constexpr Precision kPrecision = Precision::fp16;
constexpr Time kLaunch = microseconds(3);  // that each measured kernel includes, as `stepcast fit` takes it

/// predicted / measured time of the rows of each kind.
using Ratios = std::map<std::string, std::vector<double>>;

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  return cells;
}

template <class Row>
void each_row(const std::string& table, const std::string& header, const Row& row) {
  calibrate::read_table_lines(STEPCAST_SOURCE_DIR "/calibrate/data/" + table + ".csv", header,
                              [&](const std::string& line, const std::string&) { row(cells_of(line)); });
}

double ratio(Time predicted, double flops, const Gpu& gpu, const std::string& efficiency) {
  return to_seconds(predicted) / (flops / (peak(gpu, kPrecision).value * std::stod(efficiency)));
}

GemmShape shape_of(const std::vector<std::string>& cells, std::size_t m, std::int64_t batch) {
  const auto whole = [&](std::size_t column) { return std::stoll(cells[column]); };
  return {.m = whole(m),
          .n = whole(m + 1),
          .k = whole(m + 2),
          .batch = batch,
          .output_bytes = whole(m + 4),
          .by_columns = cells[m + 3] == "NT"};
}

Time time_of(const GemmShape& shape, const Gpu& gpu) {
  return gemm_time(shape, gemm_model(gpu, kPrecision),
                   {gpu.sms, peak(gpu, kPrecision), gpu.memory_bandwidth, gpu.memory_efficiency});
}

std::string aligned(const GemmShape& shape) {
  return fmt::format("rows at multiples of {:>2} bytes", row_alignment(shape));
}

Ratios multiplies(const std::string& table, const Gpu& gpu) {
  Ratios ratios;
  each_row(table, "m,n,k,layout,output_bytes,efficiency", [&](const std::vector<std::string>& row) {
    const GemmShape shape = shape_of(row, 0, 1);
    ratios[aligned(shape)].push_back(ratio(time_of(shape, gpu) + kLaunch, shape.flops().value, gpu, row[5]));
  });
  return ratios;
}

Ratios batched(const std::string& table, const Gpu& gpu) {
  Ratios ratios;
  each_row(table, "batch,m,n,k,layout,output_bytes,efficiency", [&](const std::vector<std::string>& row) {
    const GemmShape shape = shape_of(row, 1, std::stoll(row[0]));
    ratios[(row[4] == "TN" ? "scores, " : "values, ") + aligned(shape)].push_back(
        ratio(time_of(shape, gpu) + kLaunch, shape.flops().value, gpu, row[6]));
  });
  return ratios;
}

Ratios grouped(const std::string& table, const Gpu& gpu, Time launch) {
  Ratios ratios;
  const std::map<std::string, std::string> passes{
      {"TN", "forward"}, {"NN", "gradient of input"}, {"NT", "gradient of weight"}};
  each_row(table, "experts,m,n,k,layout,output_bytes,efficiency", [&](const std::vector<std::string>& row) {
    const GemmShape shape = shape_of(row, 1, std::stoll(row[0]));
    ratios[passes.at(row[4])].push_back(
        ratio(time_of(shape, gpu) + launch * shape.batch, shape.flops().value, gpu, row[6]));
  });
  return ratios;
}

Ratios attention(const std::string& table, const Gpu& gpu) {
  Ratios ratios;
  each_row(
      table, "pass,batch,sequence,heads,kv_heads,key_width,value_width,efficiency",
      [&](const std::vector<std::string>& row) {
        const auto whole = [&](std::size_t column) { return std::stoll(row[column]); };
        const double rows = static_cast<double>(whole(1) * whole(2) * whole(3));
        const bool backward = row[0] == "backward";
        const double flops = (backward ? 4 : 2) * rows * static_cast<double>(whole(2) * (whole(5) + whole(6)));
        const schedules::FusedAttention kernel{
            .flops = {flops}, .query_rows = rows, .backward = backward, .key_width = whole(5), .value_width = whole(6)};
        Gpu alone = gpu;
        alone.step_share = 1;
        ratios[row[0] + ", keys " + row[5] + " wide"].push_back(
            ratio(schedules::KernelCost{alone, {}, kPrecision}.time(kernel), flops, gpu, row[7]));
      });
  return ratios;
}

double mean_error(const std::vector<double>& ratios) {
  return std::transform_reduce(ratios.begin(), ratios.end(), 0.0, std::plus<>{},
                               [](double r) { return std::abs(r - 1); }) /
         static_cast<double>(ratios.size());
}

double middle(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string line(const std::string& table, const std::string& kind, const std::vector<double>& ratios) {
  std::vector<double> sizes;
  for (const double r : ratios) sizes.push_back(std::abs(r - 1));
  return fmt::format("{:<20} {:<38} {:>4} {:>6.1f}% {:>6.1f}% {:>+7.1f}%\n", table, kind, ratios.size(),
                     100 * mean_error(ratios), 100 * middle(sizes), 100 * (middle(ratios) - 1));
}

struct OperatorTable {
  const char *name, *gpu;
  double most;  ///< mean absolute error of all its rows
};

TEST(OperatorTables, AreAsFarOffAsTheDocsSay) {
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  const language::Node nowhere;
  language::Value configs;
  configs.library = &library;
  configs.node = &nowhere;
  const language::Node stack =
      library.expand_block(language::make_scalar("megatron-core", {}), language::software_schema(), "software");
  const Time launch = language::read_software(stack, "nccl-a100", library).grouped_multiply_launch;
  std::string told =
      "Measured kernels (calibrate/data, each file with its source) beside the cost model under the constants of\n"
      "configs/: mean and median absolute error of the time, and the median of predicted over measured, less one.\n\n" +
      fmt::format("{:<20} {:<38} {:>4} {:>7} {:>7} {:>8}\n", "table", "kernel", "rows", "mean", "median", "bias");
  for (const OperatorTable& t :
       {OperatorTable{"gemm_a100_pcie", "a100-pcie-40gb", 0.04}, OperatorTable{"gemm_a100_sxm4", "a100-sxm4-40gb", 0.1},
        OperatorTable{"gemm_v100", "v100-sxm2-16gb", 0.25}, OperatorTable{"gemm_mi250x", "mi250x-gcd", 0.35},
        OperatorTable{"gemm_h100", "h100-sxm5-80gb", 0.07}, OperatorTable{"gemm_b200", "b200", 0.11},
        OperatorTable{"batched_a100_sxm4", "a100-sxm4-40gb", 0.25},
        OperatorTable{"grouped_a100_pcie", "a100-pcie-40gb", 0.1}, OperatorTable{"grouped_b200", "b200", 0.15},
        OperatorTable{"attention_a100_pcie", "a100-pcie-40gb", 0.04}, OperatorTable{"attention_b200", "b200", 0.09}}) {
    const std::string name = t.name;
    const Gpu gpu = language::read_gpu_named(t.gpu, configs);
    const Ratios ratios = name.starts_with("gemm")      ? multiplies(name, gpu)
                          : name.starts_with("batched") ? batched(name, gpu)
                          : name.starts_with("grouped") ? grouped(name, gpu, launch)
                                                        : attention(name, gpu);
    std::vector<double> all;
    for (const auto& [kind, of_kind] : ratios) {
      told += line(name, kind, of_kind);
      all.insert(all.end(), of_kind.begin(), of_kind.end());
    }
    if (ratios.size() > 1) told += line(name, "all", all);
    EXPECT_LE(mean_error(all), t.most) << t.name;
  }
  expect_golden(STEPCAST_SOURCE_DIR "/docs/operator-tables.txt", told);
}

}  // namespace
}  // namespace stepcast::app
