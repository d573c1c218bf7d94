#include "workload/received.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "tests/workload/machine_of_boxes.h"
#include "workload/flows.h"

namespace stepcast::workload {
namespace {

using collectives::Operation;
using topology::LinkId;

TEST(Received, NamesTheLinkThatLostBytes) {
  const Machine machine(test::boxes(16, 1));
  const topology::Link link = machine.cluster().link(LinkId{3});
  for (const double carried : {1e9 - 2000, 1e9 + 2000}) {
    std::string said;
    try {
      check_received(machine.cluster(), LinkId{3}, 1e9, carried);
    } catch (const std::logic_error& error) {
      said = error.what();
    }
    EXPECT_NE(said.find(link.from + " -> " + link.to), std::string::npos) << carried << ": " << said;
  }
}

TEST(Received, IsWhatWasHandedOverButForRounding) {
  const Machine machine(test::boxes(16, 1));
  EXPECT_NO_THROW(check_received(machine.cluster(), LinkId{3}, 1e9, 1e9 + 1));
  EXPECT_NO_THROW(check_received(machine.cluster(), LinkId{3}, 0, 0));
}

// Of two messages into one card the link carries each as often as it runs.
TEST(Received, CountsACommunicationAsOftenAsItRuns) {
  const Machine machine(test::boxes(24, 1));
  const auto message = [](std::uint32_t from, std::int64_t bytes) {
    return Communication{{{.operation = Operation::send_recv,
                           .bytes = {bytes},
                           .groups = test::groups({{topology::GpuId{from}, topology::GpuId{8}}})}}};
  };
  const Flows flows(machine, std::vector{message(0, 1 << 26), message(16, 1 << 20)}, {});
  ASSERT_FALSE(flows.shared().empty());
  const std::vector<double> handed = flows.handed(std::vector{1u, 3u});
  ASSERT_EQ(handed.size(), flows.shared().size());
  EXPECT_NEAR(handed.front(), (1 << 26) + 3 * (1 << 20), 1);
}

}  // namespace
}  // namespace stepcast::workload
