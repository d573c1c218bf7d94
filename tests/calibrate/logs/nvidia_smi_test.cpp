#include "calibrate/logs/nvidia_smi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

/// The lines that matter of what a driver of release 535 prints, of two GPUs.
std::string output(const std::string& second_limit = "400.00 W") {
  const auto gpu = [](const std::string& bus, const std::string& limit) {
    return "GPU " + bus +
           "\n"
           "    Product Name                          : NVIDIA A100-SXM4-80GB\n"
           "    Product Brand                         : NVIDIA\n"
           "    MIG Mode\n"
           "        Current                           : Disabled\n"
           "        Pending                           : Disabled\n"
           "    PCI\n"
           "        Bus                               : 0x07\n"
           "        Device Id                         : 0x20B210DE\n"
           "        Bus Id                            : 00000000:07:00.0\n"
           "        GPU Link Info\n"
           "            PCIe Generation\n"
           "                Max                       : 4\n"
           "                Current                   : 3\n"
           "            Link Width\n"
           "                Max                       : 16x\n"
           "                Current                   : 16x\n"
           "    FB Memory Usage\n"
           "        Total                             : 81920 MiB\n"
           "        Reserved                          : 634 MiB\n"
           "    BAR1 Memory Usage\n"
           "        Total                             : 131072 MiB\n"
           "    ECC Mode\n"
           "        Current                           : Enabled\n"
           "        Pending                           : Enabled\n"
           "    GPU Power Readings\n"
           "        Power Draw                        : 63.00 W\n"
           "        Current Power Limit               : " +
           limit +
           "\n"
           "    Clocks\n"
           "        SM                                : 210 MHz\n"
           "    Max Clocks\n"
           "        Graphics                          : 1410 MHz\n"
           "        SM                                : 1410 MHz\n"
           "        Memory                            : 1593 MHz\n"
           "    Processes                             : None\n\n";
  };
  return "\n==============NVSMI LOG==============\n\n"
         "Timestamp                                 : Sat Nov 21 10:00:00 2026\n"
         "Driver Version                            : 535.104.05\n"
         "CUDA Version                              : 12.2\n\n"
         "Attached GPUs                             : 2\n" +
         gpu("00000000:07:00.0", "400.00 W") + gpu("00000000:0F:00.0", second_limit);
}

TEST(SmiQuery, GivesTheMachinesFacts) {
  EXPECT_TRUE(is_smi_query(output()));
  EXPECT_THAT(machine_facts(parse_smi_query(output(), "q.txt")),
              ElementsAre(Pair("gpus", "2"), Pair("driver", "535.104.05"), Pair("cuda", "12.2"),
                          Pair("date", "Sat Nov 21 10:00:00 2026"), Pair("gpu_name", "NVIDIA A100-SXM4-80GB"),
                          Pair("memory_bytes", "85899345920"), Pair("clock_sm_mhz_max", "1410"),
                          Pair("clock_mem_mhz_max", "1593"), Pair("power_limit_w", "400.00"), Pair("ecc", "on"),
                          Pair("pci_device", "0x20b2"), Pair("pcie_generation", "4"), Pair("pcie_width", "16x")));
}

TEST(SmiQuery, TellsGpusThatDifferApart) {
  const auto facts = machine_facts(parse_smi_query(output("275.00 W"), "q.txt"));
  EXPECT_THAT(facts, testing::Contains(Pair("power_limit_w[0]", "400.00")));
  EXPECT_THAT(facts, testing::Contains(Pair("power_limit_w[1]", "275.00")));
}

TEST(SmiQuery, OfOutputPrintedAgainTakesTheFirst) {
  EXPECT_EQ(parse_smi_query(output() + output(), "q.txt").gpus.size(), 2u);
}

TEST(SmiQuery, PassesOverWhatIsNotSaid) {
  const auto facts = machine_facts(parse_smi_query(output("N/A"), "q.txt"));
  EXPECT_THAT(facts, testing::Not(testing::Contains(Pair("power_limit_w[1]", testing::_))));
}

std::string complaint_of_smi(const std::string& text) {
  try {
    parse_smi_query(text, "q.txt");
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(SmiQuery, ErrorsNameTheLine) {
  EXPECT_EQ(complaint_of_smi(output("lots")), "q.txt:72: found 'lots', expected a number of W");
  EXPECT_THAT(complaint_of_smi("Driver Version : 1\n"), HasSubstr("q.txt: found no line '==============NVSMI LOG"));
  EXPECT_THAT(complaint_of_smi(output().substr(0, 200)), HasSubstr("q.txt: found no GPU"));
}

}  // namespace
}  // namespace stepcast::calibrate
