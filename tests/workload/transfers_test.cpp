// Communications that begin together, lowered to their transfers, take the time that the timer gives them: both run the
// same plans.

#include "workload/transfers.h"

#include <gtest/gtest.h>

#include "collectives/algorithms.h"
#include "sim/input_error.h"
#include "tests/sanitized.h"
#include "tests/workload/machine_of_boxes.h"

namespace stepcast::workload {
namespace {

using collectives::Group;
using collectives::Operation;

MachineSpec machine_of_cards(std::uint32_t cards) {
  MachineSpec spec = test::boxes(24, cards);
  spec.transport.launch = {5'000'000};
  spec.transport.nvlink_step = {700'000};
  spec.transport.network_step = {4'000'000};
  spec.transport.network_efficiency = 0.9;
  spec.transport.nvlink_efficiency = 0.8;
  spec.transport.tree_efficiency = 0.9;
  spec.transport.ll = {.launch = {4'000'000}, .nvlink_step = {300'000}, .network_step = {2'000'000}, .share = 0.4};
  return spec;
}

std::vector<Group> of_one_place(std::uint32_t first, std::uint32_t stride, std::uint32_t size, std::uint32_t groups) {
  std::vector<Group> out;
  for (std::uint32_t g = 0; g < groups; ++g) {
    Group& group = out.emplace_back();
    for (std::uint32_t i = 0; i < size; ++i) group.push_back(topology::GpuId{first + g + i * stride});
  }
  return out;
}

/// All of the groups at once, each by itself in the program.
Time simulated(const Machine& machine, Operation operation, Bytes bytes, const std::vector<Group>& groups,
               std::string_view algorithm) {
  std::vector<Communication> communications;
  Program program;
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    std::vector<Group> own_first = groups;
    std::swap(own_first.front(), own_first[g]);
    communications.push_back(
        {{{.operation = operation, .bytes = bytes, .groups = test::groups(own_first), .algorithm = algorithm}}});
    program.communicate(std::span<const sim::StreamId>{}, CommunicationId{g});
  }
  return run_transfers(program, communications, machine, nullptr).timeline.end;
}

/// Whether it sends piece behind piece: of many pieces the timer adds a time for each that it does not simulate, the
/// transfers move them at once.
bool in_pieces(const collectives::Algorithm& algorithm, Operation operation) {
  return operation == Operation::broadcast || algorithm.name.find("tree") != std::string_view::npos;
}

class OfOperation : public testing::TestWithParam<Operation> {};

TEST_P(OfOperation, TransfersTakeWhatTheTimerSays) {
  int compared = 0;
  for (const std::uint32_t cards : {1u, 4u, 8u}) {
    if (stepcast::test::kSanitized && cards != 4) continue;
    const Machine on(machine_of_cards(cards));
    for (const std::int64_t bytes : {8, 100'000, 1 << 24, 1 << 28})
      for (const std::vector<Group>& groups :
           {of_one_place(0, 1, 8, 1), of_one_place(0, 1, 24, 1), of_one_place(0, 8, 3, 8), of_one_place(0, 4, 6, 4)})
        for (const collectives::Algorithm* algorithm : collectives::algorithms()) {
          // Its two ways get parts of unlike size, and the timer takes the longer one's time for every piece behind.
          if (algorithm->name == "pcie-nvlink-split") continue;
          Time expected;
          try {
            expected = on.timer().time(GetParam(), {bytes}, groups, algorithm->name, false).duration;
          } catch (const InputError&) {
            continue;  // it does not do that
          }
          const Time found = simulated(on, GetParam(), {bytes}, groups, algorithm->name);
          const double bound = in_pieces(*algorithm, GetParam()) ? 0.1 : 0.005;  // parts that differ by a byte
          EXPECT_NEAR(to_seconds(found), to_seconds(expected), bound * to_seconds(expected))
              << algorithm->name << ", " << cards << " cards, " << bytes << " bytes, " << groups.size() << " groups of "
              << groups.front().size();
          ++compared;
        }
  }
  EXPECT_GT(compared, 20);
}

INSTANTIATE_TEST_SUITE_P(All, OfOperation,
                         testing::Values(Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter,
                                         Operation::all_to_all, Operation::broadcast),
                         [](const auto& of) { return std::string(collectives::name(of.param)); });

}  // namespace
}  // namespace stepcast::workload
