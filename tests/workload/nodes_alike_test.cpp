// Whether a lane that stands for those on other nodes meets there what these do: a tree loads its root's adapter unlike
// its leaves'.

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "tests/workload/machine_of_boxes.h"
#include "workload/flows.h"

namespace stepcast::workload {
namespace {

/// A sum over three boxes, one GPU of each.
Communication sum_over_boxes(std::string_view algorithm) {
  Communication sum{{{.operation = collectives::Operation::all_reduce,
                      .bytes = Bytes{1 << 26},
                      .groups = test::groups({{topology::GpuId{0}, topology::GpuId{8}, topology::GpuId{16}}}),
                      .algorithm = algorithm}}};
  sum.turn = 0;
  return sum;
}

/// A message between two of them.
Communication message_between_boxes(std::uint32_t turn) {
  Communication message{{{.operation = collectives::Operation::send_recv,
                          .bytes = Bytes{1 << 26},
                          .groups = test::groups({{topology::GpuId{1}, topology::GpuId{9}}})}}};
  message.turn = turn;
  return message;
}

TEST(NodesAlike, AreThoseThatARingAndAMessageLoad) {
  const Machine machine(test::boxes(24, 1));
  EXPECT_TRUE(Flows(machine, std::vector{sum_over_boxes("ring"), message_between_boxes(1)}, {}).nodes_alike());
}

TEST(NodesAlike, AreNotThoseWhereATreeMeetsAMessage) {
  const Machine machine(test::boxes(24, 1));
  EXPECT_FALSE(Flows(machine, std::vector{sum_over_boxes("tree"), message_between_boxes(1)}, {}).nodes_alike());
}

TEST(NodesAlike, DoNotMatterWhereATreeMeetsNothing) {
  const Machine machine(test::boxes(24, 1));
  EXPECT_TRUE(Flows(machine, std::vector{sum_over_boxes("tree")}, {}).nodes_alike());
  EXPECT_TRUE(Flows(machine, std::vector{sum_over_boxes("tree"), message_between_boxes(0)}, {}).nodes_alike());
}

}  // namespace
}  // namespace stepcast::workload
