#include "calibrate/fit/curve.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "calibrate/fit/statistics.h"
#include "calibrate/fit/table_lines.h"
#include "calibrate/in_parallel.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {

std::vector<Time> predict(const Curve& curve, const collectives::Transport& transport) {
  collectives::Transport ran = transport;
  if (!curve.nccl_version.empty()) ran.nccl_version = curve.nccl_version;
  collectives::Timer timer(curve.cluster, std::move(ran));
  const std::vector<collectives::Group> groups = {curve.group};
  const Time floor = transport.issue * std::int64_t{curve.gpus_per_process};
  std::vector<Time> times;
  times.reserve(curve.points.size());
  for (const CurvePoint& point : curve.points) {
    times.push_back(std::max(floor, timer.time(curve.operation, point.size, groups, curve.algorithm).interval));
  }
  return times;
}

std::vector<std::vector<Time>> predict(std::span<const Curve> curves, const collectives::Transport& transport) {
  std::vector<std::vector<Time>> times(curves.size());
  in_parallel(curves.size(), [&](std::size_t i) { times[i] = predict(curves[i], transport); });
  return times;
}

Errors errors(const Curve& curve, const std::vector<Time>& predicted, Bytes least, Bytes most) {
  std::vector<double> off;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const CurvePoint& point = curve.points[i];
    if (point.size < least || point.size >= most) continue;
    off.push_back(std::abs(predicted[i] / point.time - 1));
  }
  Errors found;
  found.points = off.size();
  for (const double error : off) found.worst = std::max(found.worst, error);
  found.median = median(off).value_or(0);
  return found;
}

std::vector<CurvePoint> read_curve_points(const std::string& path) {
  std::map<std::int64_t, std::vector<double>> rows;
  read_table_lines(path, "size_bytes,time_us", [&](const std::string& line, const std::string& place) {
    const char* const end = line.data() + line.size();
    std::int64_t size = 0;
    double microseconds = 0;
    const auto [comma, bad_size] = std::from_chars(line.data(), end, size);
    if (bad_size != std::errc{} || comma == end || *comma != ',' || size < 0 || size > std::int64_t{1} << 50)
      throw InputError(place, "found " + in_quotes(line) + ", expected a size in bytes and a time in microseconds");
    const auto [rest, bad_time] = std::from_chars(comma + 1, end, microseconds);
    if (bad_time != std::errc{} || rest != end || !(microseconds > 0) || microseconds > 1e12)
      throw InputError(place, "found " + in_quotes(line) + ", expected a size in bytes and a time in microseconds");
    if (size > 0) rows[size].push_back(microseconds);
  });
  std::vector<CurvePoint> points;
  for (const auto& [size, times] : rows) points.push_back({{size}, from_seconds(*median(times) * 1e-6)});
  if (points.empty()) throw InputError(path, "no rows with a size above 0");
  return points;
}

}  // namespace stepcast::calibrate
