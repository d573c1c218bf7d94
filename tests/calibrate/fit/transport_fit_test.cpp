#include "calibrate/fit/transport_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "calibrate/fit/transport_constants.h"
#include "sim/input_error.h"
#include "tests/collectives/fixtures.h"

namespace stepcast::calibrate {
namespace {

using collectives::Operation;
using collectives::Transport;

Transport truth() {
  Transport t;
  t.channels = 16;
  t.launch = microseconds(25);
  t.ramp = microseconds(60);
  t.nvlink_step = nanoseconds(2500);
  t.nvlink_efficiency = 0.93;
  t.issue = picoseconds(1'500'000);
  t.ll.launch = microseconds(7);
  t.ll.nvlink_step = nanoseconds(400);
  t.ll.share = 0.2;
  return t;
}

/// What a log would show with these constants: sizes from 8 B to 1 GiB.
Curve curve(Operation operation, std::uint32_t ranks, const Transport& transport, std::uint32_t gpus_per_process = 1) {
  Curve c{.name = "made",
          .operation = operation,
          .cluster = collectives::test::build({}),
          .group = collectives::test::gpus(ranks),
          .gpus_per_process = gpus_per_process,
          .algorithm = "ring",
          .points = {}};
  for (std::int64_t size = 8; size <= std::int64_t{1} << 30; size *= 2) c.points.push_back({{size}, {}});
  const std::vector<Time> times = predict(c, transport);
  for (std::size_t i = 0; i < times.size(); ++i) c.points[i].time = times[i];
  return c;
}

std::vector<std::string> all_but(std::initializer_list<std::string_view> kept) {
  std::vector<std::string> others;
  for (const std::string_view name : fittable_constants()) {
    if (std::find(kept.begin(), kept.end(), name) == kept.end()) others.emplace_back(name);
  }
  return others;
}

const FittedConstant& find(const TransportFit& fit, std::string_view name) {
  for (const FittedConstant& c : fit.constants) {
    if (c.name == name) return c;
  }
  throw std::runtime_error("no such constant");
}

TEST(Predict, OfManyCurvesIsThatOfEachInTheirOrder) {
  const Transport transport = truth();
  std::vector<Curve> curves;
  for (const std::uint32_t ranks : {8u, 2u, 5u, 3u, 7u, 4u}) {
    curves.push_back(curve(Operation::all_gather, ranks, transport));
  }
  const std::vector<std::vector<Time>> together = predict(curves, transport);
  ASSERT_EQ(together.size(), curves.size());
  for (std::size_t i = 0; i < curves.size(); ++i) EXPECT_EQ(together[i], predict(curves[i], transport));
}

TEST(TransportFit, RecoversTheConstantsThatMadeTheCurves) {
  const std::vector<Curve> curves = {curve(Operation::all_reduce, 8, truth()), curve(Operation::all_reduce, 4, truth()),
                                     curve(Operation::all_gather, 8, truth())};
  Transport start = truth();
  start.launch = microseconds(50);
  start.nvlink_efficiency = 0.7;
  start.ll.launch = microseconds(12);
  start.ll.share = 0.4;
  const TransportFit fit =
      fit_transport(curves, start, all_but({"launch", "nvlink_efficiency", "ll.launch", "ll.share"}));
  EXPECT_LT(fit.mean, 0.01);
  EXPECT_NEAR(find(fit, "launch").value, 25, 2.5);
  EXPECT_NEAR(find(fit, "nvlink_efficiency").value, 0.93, 0.01);
  EXPECT_NEAR(find(fit, "ll.launch").value, 7, 0.5);
  EXPECT_NEAR(find(fit, "ll.share").value, 0.2, 0.03);
  for (const char* name : {"launch", "nvlink_efficiency", "ll.launch", "ll.share"}) {
    const FittedConstant& c = find(fit, name);
    EXPECT_TRUE(c.identified) << name << ": " << c.why;
    EXPECT_LE(c.low, c.value);
    EXPECT_GE(c.high, c.value);
  }
  EXPECT_EQ(find(fit, "ramp").why, "kept fixed");
}

/// LL is quickest to fill its channels and Simple the slowest: a single point cannot lift one above the next.
TEST(TransportFit, KeepsTheProtocolsInOrder) {
  Transport t = truth();
  t.ll128.share = 0.9;
  t.ll.ramp = microseconds(9);
  t.ll128.ramp = microseconds(70);
  t.ramp = microseconds(20);
  put_in_order(t);
  EXPECT_EQ(t.ll.ramp, microseconds(9));
  EXPECT_EQ(t.ll128.ramp, microseconds(70));
  EXPECT_EQ(t.ramp, microseconds(70));
  t.ll128.ramp = microseconds(1);
  put_in_order(t);
  EXPECT_EQ(t.ll128.ramp, microseconds(9));
}

TEST(TransportFit, SaysWhatALogCannotTell) {
  const std::vector<Curve> curves = {curve(Operation::all_reduce, 8, truth())};
  const TransportFit fit =
      fit_transport(curves, truth(), all_but({"nvlink_efficiency", "network_step", "ll128.share"}));
  EXPECT_TRUE(find(fit, "nvlink_efficiency").identified);
  EXPECT_EQ(find(fit, "network_step").why, "no point depends on it");  // one node
  EXPECT_EQ(find(fit, "ll128.share").why, "the stack does not have this protocol");
  EXPECT_EQ(constant(fit.transport, "network_step"), 0);
}

TEST(TransportFit, LaunchAndStepsOfOneRankCountCannotBeToldApart) {
  // 14 steps and a launch of one communicator: only their sum shows.
  Transport plain = truth();
  plain.ll = {};
  plain.ramp = {};
  const std::vector<Curve> curves = {curve(Operation::all_reduce, 8, plain)};
  const TransportFit fit = fit_transport(curves, plain, all_but({"launch", "nvlink_step", "nvlink_efficiency"}));
  EXPECT_LT(fit.mean, 0.01);
  EXPECT_NEAR(constant(fit.transport, "launch") + 14 * constant(fit.transport, "nvlink_step"), 25 + 14 * 2.5, 1.5);
}

TEST(TransportFit, OneProcessForAllGpusShowsTheHost) {
  const Curve slow_host = curve(Operation::all_reduce, 8, truth(), 8);
  EXPECT_EQ(slow_host.points.front().time,
            std::max(curve(Operation::all_reduce, 8, truth()).points.front().time, truth().issue * 8));
  const TransportFit fit =
      fit_transport(std::vector<Curve>{curve(Operation::all_reduce, 8, truth(), 16)}, truth(), all_but({"issue"}));
  EXPECT_NEAR(find(fit, "issue").value, 1.5, 0.05);
}

TEST(TransportFit, TooFewPointsAndUnknownNamesAreErrors) {
  Curve few = curve(Operation::all_reduce, 8, truth());
  few.points.resize(2);
  EXPECT_THROW(fit_transport(std::vector<Curve>{few}, truth()), InputError);
  EXPECT_THROW(fit_transport(std::vector<Curve>{few}, truth(), std::vector<std::string>{"speed"}), InputError);
}

TEST(CurvePoints, AreMediansBySizeAndErrorsNameTheLine) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "stepcast_curve_test.csv";
  const auto write = [&](const char* text) { std::ofstream(path) << text; };
  write("# a comment\nsize_bytes,time_us\n8,10\n0,3\n16,12\n8,14\n8,11\n");
  const std::vector<CurvePoint> points = read_curve_points(path.string());
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].size, Bytes{8});
  EXPECT_EQ(points[0].time, microseconds(11));
  for (const char* bad : {"size,time\n8,1\n", "size_bytes,time_us\n8\n", "size_bytes,time_us\n8,x\n",
                          "size_bytes,time_us\n8,-1\n", "size_bytes,time_us\n", "size_bytes,time_us\n8,1,2\n"}) {
    write(bad);
    EXPECT_THROW(read_curve_points(path.string()), InputError) << bad;
  }
  std::filesystem::remove(path);
  EXPECT_THROW(read_curve_points(path.string()), InputError);
}

}  // namespace
}  // namespace stepcast::calibrate
