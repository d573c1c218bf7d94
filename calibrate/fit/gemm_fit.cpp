#include "calibrate/fit/gemm_fit.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <sstream>
#include <tuple>

#include "calibrate/fit/statistics.h"
#include "calibrate/fit/table_lines.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

using schedules::GemmMachine;
using schedules::GemmModel;

struct Bounds {
  const char* name;
  double GemmModel::*constant;
  double low, high;
};
constexpr std::array<Bounds, 8> kConstants{{{"mainloop", &GemmModel::mainloop, 0.3, 1.0},
                                            {"sustained", &GemmModel::sustained, 0.3, 1.0},
                                            {"tile_128", &GemmModel::tile_128, 0.3, 1.0},
                                            {"tile_64", &GemmModel::tile_64, 0.1, 1.0},
                                            {"fill", &GemmModel::fill, 0.0, 500.0},
                                            {"exposed_write", &GemmModel::exposed_write, 0.0, 1.0},
                                            {"aligned_4", &GemmModel::aligned_4, 0.1, 1.0},
                                            {"aligned_2", &GemmModel::aligned_2, 0.05, 1.0}}};

/// Of the peak. Data sheets state it at a clock that a cool GPU may pass by some per cent; past this, the table's
/// efficiencies are of another GPU or another precision.
constexpr double kFastest = 1.1;

double mape(const std::vector<GemmSample>& samples, const GemmModel& model, const GemmMachine& machine, Time launch) {
  return std::transform_reduce(
             samples.begin(), samples.end(), 0.0, std::plus<>{},
             [&](const GemmSample& s) { return std::abs(gemm_time_ratio(s, model, machine, launch) - 1); }) /
         static_cast<double>(samples.size());
}

}  // namespace

std::vector<Free> gemm_constants(const GemmModel& start) {
  std::vector<Free> constants;
  for (const Bounds& c : kConstants) constants.push_back({c.name, c.low, c.high, start.*c.constant, false});
  return constants;
}

GemmModel gemm_model_of(const std::vector<double>& constants) {
  GemmModel model;
  for (std::size_t i = 0; i < kConstants.size(); ++i) model.*kConstants[i].constant = constants[i];
  return model;
}

std::vector<std::vector<double>> gemm_starts() {
  std::vector<std::vector<double>> starts;
  for (const double mainloop : {0.85, 0.9, 0.95})
    for (const double sustained : {0.75, 0.8, 0.85})
      for (const double tile_128 : {0.75, 0.9})
        starts.push_back({mainloop, sustained, tile_128, 0.5, 100, 0.5, 0.6, 0.3});
  return starts;
}

double gemm_time_ratio(const GemmSample& sample, const GemmModel& model, const GemmMachine& machine, Time launch) {
  const double measured = sample.shape.flops().value / (machine.peak.value * sample.efficiency);
  return to_seconds(schedules::gemm_time(sample.shape, model, machine) + launch) / measured;
}

std::vector<GemmSample> read_gemm_samples(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError(path, "no such file");
  return parse_gemm_samples({std::istreambuf_iterator<char>(file), {}}, path);
}

std::vector<GemmSample> parse_gemm_samples(const std::string& table, const std::string& path) {
  std::vector<GemmSample> samples;
  std::istringstream lines(table);
  parse_table_lines(lines, path, "m,n,k,layout,output_bytes,efficiency",
                    [&](const std::string& line, const std::string& place) {
                      std::vector<std::string> cells(1);
                      for (const char c : line) {
                        if (c == ',')
                          cells.emplace_back();
                        else
                          cells.back() += c;
                      }
                      if (cells.size() != 6)
                        throw InputError(place, "found " + std::to_string(cells.size()) + " cells, expected 6");
                      const auto read = [&](std::size_t column, auto value, const char* expected) {
                        const std::string& cell = cells[column];
                        const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
                        if (error != std::errc{} || end != cell.data() + cell.size() || !(value > 0) ||
                            value > decltype(value){1'000'000'000'000})
                          throw InputError(place, "column " + std::to_string(column + 1) + ": found " +
                                                      in_quotes(cell) + ", expected " + expected);
                        return value;
                      };
                      const auto whole = [&](std::size_t column) {
                        return read(column, std::int64_t{}, "a whole number of at least 1");
                      };
                      GemmSample sample;
                      sample.shape.m = whole(0);
                      sample.shape.n = whole(1);
                      sample.shape.k = whole(2);
                      if (cells[3] != "TN" && cells[3] != "NN" && cells[3] != "NT")
                        throw InputError(place, "column 4: found " + in_quotes(cells[3]) + ", expected TN, NN or NT");
                      sample.shape.by_columns = cells[3] == "NT";
                      sample.shape.output_bytes = whole(4);
                      sample.efficiency = read(5, double{}, "a positive number");
                      if (sample.efficiency > kFastest)
                        throw InputError(place, "column 6: found an efficiency of " + in_quotes(cells[5]) +
                                                    ", faster than the GPU's peak, expected at most 1.1 of it (a "
                                                    "boost clock's share)");
                      samples.push_back(sample);
                    });
  return samples;
}

GemmFit fit_gemm(const std::vector<GemmSample>& samples, const GemmMachine& machine, Time launch,
                 const std::string& path) {
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  std::map<Key, std::size_t> distinct;
  std::vector<GemmSample> fitted, held_out;
  for (const GemmSample& s : samples) {
    const auto [at, fresh] =
        distinct.try_emplace({s.shape.m, s.shape.n, s.shape.k, s.shape.output_bytes}, distinct.size());
    (at->second % 2 == 0 ? fitted : held_out).push_back(s);
  }
  if (distinct.size() < 20)
    throw InputError(path, "found " + std::to_string(distinct.size()) +
                               " distinct shapes, expected at least 20 to fit " + std::to_string(kConstants.size()) +
                               " constants");

  std::vector<double> measured;
  std::vector<std::size_t> groups;
  for (const GemmSample& s : fitted) {
    measured.push_back(s.shape.flops().value / (machine.peak.value * s.efficiency));
    groups.push_back(groups.size());
  }
  const RobustFit constants = fit_robust(
      measured, groups, gemm_constants({}),
      [&](const std::vector<double>& c, std::size_t i) {
        return to_seconds(schedules::gemm_time(fitted[i].shape, gemm_model_of(c), machine) + launch);
      },
      gemm_starts());
  GemmFit best;
  best.model = gemm_model_of(constants.values());
  best.fitted = fitted.size();
  best.held_out = held_out.size();
  best.fitted_mape = mape(fitted, best.model, machine, launch);
  best.held_out_mape = mape(held_out, best.model, machine, launch);
  std::vector<double> errors;
  for (const GemmSample& s : held_out) errors.push_back(std::abs(gemm_time_ratio(s, best.model, machine, launch) - 1));
  best.held_out_median = *median(errors);
  return best;
}

}  // namespace stepcast::calibrate
