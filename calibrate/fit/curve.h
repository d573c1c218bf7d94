#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collectives/timing/timer.h"

namespace stepcast::calibrate {

/// One size of a recorded log.
struct CurvePoint {
  Bytes size{};  ///< as collectives::Operation counts
  Time time{};   ///< of one collective: the mean over the log's repetitions, median of its rows of that size
};

/// One operation over one communicator, as a log has it, and the machine it ran on.
struct Curve {
  std::string name;
  collectives::Operation operation = collectives::Operation::all_reduce;
  topology::Cluster cluster;
  collectives::Group group;
  std::uint32_t gpus_per_process = 1;  ///< nccl-tests' -g times -t
  std::string algorithm = "auto";      ///< as Timer takes it: what the log was forced to, if anything
  std::string nccl_version{};          ///< the release that ran, where it matters; empty: the stack's
  std::vector<CurvePoint> points;      ///< sizes of at least one byte, rising
};

/// What the model says a log of repetitions would show: the collective's interval, but no less than what its process
/// needs to launch it.
std::vector<Time> predict(const Curve& curve, const collectives::Transport& transport);

/// The same of each curve, in their order: on all cores, the same whatever their number.
std::vector<std::vector<Time>> predict(std::span<const Curve> curves, const collectives::Transport& transport);

/// Median of |predicted / measured - 1| over the points from `least` up to, not including, `most`; 0 without points.
struct Errors {
  double median = 0, worst = 0;
  std::size_t points = 0;
};
Errors errors(const Curve& curve, const std::vector<Time>& predicted, Bytes least, Bytes most);

/// Reads a table with the header size_bytes,time_us; lines that start with # are comments. Rows of one size count as
/// their median, sizes of 0 are left out. Throws InputError with file:line for anything else.
std::vector<CurvePoint> read_curve_points(const std::string& path);

}  // namespace stepcast::calibrate
