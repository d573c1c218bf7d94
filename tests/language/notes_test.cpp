#include "language/notes.h"

#include <gtest/gtest.h>

#include <fstream>

#include "language/questions.h"
#include "tests/language/fixtures.h"

namespace stepcast::language {
namespace {

const std::string kQuickstart = STEPCAST_SOURCE_DIR "/scenarios/quickstart.yaml";

/// "key: text" of each note on the quickstart under these settings.
std::string notes(const std::vector<std::string>& settings) {
  Library library = configs();
  const Question question = read_questions(std::vector{kQuickstart}, settings, library).at(0);
  std::string all = question.error;
  for (const schedules::Note& note : question.notes) all += note.key + ": " + note.text + "\n";
  return all;
}

bool has(const std::string& all, const std::string& line) { return all.find(line) != std::string::npos; }

TEST(Notes, SayWhichTransportAndFabricWereTaken) {
  EXPECT_EQ(notes({}),
            "software.transport: nccl-a100's, fitted on such nodes\n"
            "cluster.fabric: rail-fat-tree-hdr, the node's usual one; routing adaptive, so equal paths "
            "share perfectly\n");
  EXPECT_TRUE(has(notes({"cluster.node.nccl="}),
                  "nccl-a100's, as the node names none and its GPUs are of compute capability 8.0\n"));
  EXPECT_TRUE(has(notes({"cluster.node.nic.family=roce"}), "cluster.node.nic.nccl: the median of the "));
  EXPECT_FALSE(has(notes({"cluster.node.nic.family=roce", "software.transport.network_of_links=false"}), "nic.nccl"));
  EXPECT_TRUE(has(notes({"cluster.node.fabric="}), "cluster.fabric: one switch without latency, as neither"));
  EXPECT_FALSE(has(notes({"cluster.fabric=one-switch"}), "cluster.fabric"));
  EXPECT_TRUE(has(notes({"cluster.fabric=ethernet-ecmp"}), "cluster.fabric.routing: hash spreads flows"));
  EXPECT_TRUE(has(notes({"cluster.fabric.kind=fat-tree"}), "cluster.fabric.routing: adaptive, as the fabric does not"));
}

// As the files that Azure hands out (github.com/Azure/azhpc-images, customizations/ndv4.sh): bare PCIe devices.
TEST(Notes, SayThatATopologyOfNcclHasNoNvlinks) {
  const std::string file = testing::TempDir() + "stepcast_bare_gpus.xml";
  const auto node = [&](const std::vector<std::string>& more) {
    std::ofstream(file) << "<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\">"
                        << "<pci busid=\"ff:01.0\" class=\"0x060400\" link_speed=\"16 GT/s\" link_width=\"16\">"
                        << "<pci busid=\"01:00.0\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\">"
                        << "</pci><pci busid=\"02:00.0\" class=\"0x030200\"/></pci></cpu></system>";
    std::vector<std::string> settings{"cluster.node=",
                                      "cluster.node.builder=nccl-xml",
                                      "cluster.node.file=" + file,
                                      "cluster.node.gpu=a100-sxm4-80gb",
                                      "cluster.nodes=1",
                                      "parallelism.tensor=2",
                                      "parallelism.pipeline=1"};
    settings.insert(settings.end(), more.begin(), more.end());
    return notes(settings);
  };
  const std::string note = "cluster.node.nvlink: the file has no NVLinks, so its GPUs are joined by PCIe alone";
  EXPECT_TRUE(has(node({}), note)) << node({});
  EXPECT_FALSE(has(node({"cluster.node.nvlink=nvlink3", "cluster.node.nvlinks_per_gpu=12"}), note));
}

TEST(Notes, SayWhatAFabricWithoutABaseTakesForNothing) {
  EXPECT_TRUE(has(notes({"cluster.fabric.kind=fat-tree"}),
                  "cluster.fabric.switch_latency: 0, and so is cable_latency, as the fabric says neither"));
  EXPECT_FALSE(has(notes({"cluster.fabric.kind=fat-tree", "cluster.fabric.cable_latency=50ns"}), "switch_latency"));
  EXPECT_FALSE(has(notes({"cluster.fabric=rail-fat-tree-ndr-sharp"}), "switch_latency")) << "its base says both";
}

TEST(Notes, SayWhatIsChangedOfTheUsualFabric) {
  const std::string all = notes({"cluster.fabric.oversubscription=2", "cluster.fabric.radix=16"});
  EXPECT_TRUE(has(all,
                  "cluster.fabric: rail-fat-tree-hdr, the node's usual one but for oversubscription, radix; "
                  "routing adaptive, so equal paths share perfectly\n"))
      << all;
  EXPECT_FALSE(has(all, "switch_latency")) << "the usual one's: " << all;
  EXPECT_TRUE(has(notes({"cluster.fabric.routing=hash"}),
                  "cluster.fabric: rail-fat-tree-hdr, the node's usual one but for routing\n"));
  EXPECT_TRUE(
      has(notes({"cluster.node.fabric=", "cluster.fabric.in_network_reduction=false"}), "switch_latency: 0, and"))
      << "over no usual one it is a fabric of its own";
}

TEST(Notes, SayThatLeafSwitchesLeadUpNothing) {
  const std::string told =
      "cluster.fabric.oversubscription: changes nothing: the 8 nodes are on the same leaf switches";
  const std::vector<std::string> rails{"cluster.fabric=rail-fat-tree-hdr", "cluster.fabric.oversubscription=2"};
  EXPECT_TRUE(has(notes(rails), told)) << notes(rails);
  EXPECT_FALSE(has(notes({"cluster.fabric=rail-fat-tree-hdr"}), "oversubscription"));
  std::vector<std::string> many = rails;
  many.insert(many.end(), {"cluster.nodes=64", "training.global_batch=512"});
  EXPECT_FALSE(has(notes(many), "oversubscription")) << notes(many);
  EXPECT_FALSE(
      has(notes({"cluster.fabric.kind=fat-tree", "cluster.fabric.radix=16", "cluster.fabric.oversubscription=2"}),
          "oversubscription"))
      << "a leaf of ten down-links holds one node of eight cards";
}

TEST(Notes, SayWhatNobodyNamed) {
  const std::string all = notes({"software=", "training.precision="});
  EXPECT_TRUE(has(all, "software: megatron-core, as none is named: flash attention, data-parallel traffic under"))
      << all;
  EXPECT_TRUE(has(all, "training.precision: bf16, as none is said\n")) << all;
  EXPECT_TRUE(has(notes({"software=nccl-h100"}), "software: nccl-h100 is a transport alone: "));
  EXPECT_TRUE(has(notes({"software=nccl-h100"}), "software.transport: nccl-h100's, as software names it\n"));
  EXPECT_TRUE(has(notes({"software=deepspeed-2021"}),
                  "software.transport: nccl-a100's, fitted on such nodes; the software's own: most_channels\n"));
  EXPECT_FALSE(has(notes({"software=deepspeed-2021"}), "transport alone"));
}

TEST(Notes, SayWhatAStackWithoutABaseLeavesOut) {
  const std::string bare = testing::TempDir() + "notes_bare.yaml", based = testing::TempDir() + "notes_based.yaml";
  std::ofstream(bare) << "name: bare\nkernel_gap: 1 us\nhost_per_kernel: 9 us\n";
  std::ofstream(based) << "base: torchtitan\nname: based\nkernel_gap: 1 us\n";
  EXPECT_TRUE(has(notes({"software=" + bare}),
                  "software: bare says nothing of optimizer_bytes_per_parameter, elementwise_efficiency, "
                  "overlap_slowdown, memory_reserve: they cost nothing; a base, such as megatron-core, has them\n"))
      << notes({"software=" + bare});
  EXPECT_FALSE(has(notes({"software=" + based}), "says nothing of"));
  EXPECT_FALSE(has(notes({"software.kernel_gap=1 us"}), "says nothing of"));
  EXPECT_FALSE(has(notes({"software=nccl-h100"}), "says nothing of")) << "that it is a transport alone says all of it";
}

TEST(Notes, OneGpuHasNoTransportAndNoFabric) {
  const std::string all = notes({"cluster.nodes=", "cluster.gpus=1", "parallelism.tensor=1", "parallelism.pipeline=1",
                                 "pipeline.schedule=", "pipeline.virtual_stages=", "parallelism.sequence=false"});
  EXPECT_EQ(all, "");
}

TEST(Notes, SayThatAFusedLossKeepsNoCopiesOfTheLogits) {
  const std::string note = "software.fp32_logits: changes nothing: it is of an unfused loss, and this one is fused (";
  EXPECT_TRUE(has(notes({"software.fp32_logits=2", "software.fused_cross_entropy=true"}),
                  note + "software.fused_cross_entropy)\n"));
  EXPECT_FALSE(has(notes({"software.fp32_logits=2", "software.fused_cross_entropy=false"}), note));
  EXPECT_FALSE(has(notes({"software.fused_cross_entropy=true"}), note));
}

TEST(Notes, SayThatOneNodeHasNoUseForItsNetwork) {
  const std::string cards = "cluster.nics_per_node: changes nothing: the job is on one node\n";
  const std::vector<std::string> one{
      "cluster.nodes=1",          "parallelism.tensor=8",    "parallelism.pipeline=1", "pipeline.schedule=",
      "pipeline.virtual_stages=", "cluster.nics_per_node=4", "cluster.fabric.radix=8", "cluster.nic_bandwidth=10 GB/s"};
  const std::string all = notes(one);
  EXPECT_TRUE(has(all, cards)) << all;
  EXPECT_TRUE(has(all, "cluster.fabric: changes nothing: the job is on one node\n")) << all;
  EXPECT_TRUE(has(all, "cluster.nic_bandwidth: changes nothing: the job is on one node\n")) << all;
  EXPECT_FALSE(has(notes({"cluster.nics_per_node=4"}), cards));
}

TEST(Notes, SayWhichHostTimesGraphsLeaveNothingOf) {
  const std::vector<std::string> all{"software.host_per_kernel=20 us", "software.host_per_collective=20 us",
                                     "software.host_per_peer=20 us", "software.host_per_pass=20 us",
                                     "software.host_per_checkpoint=20 us"};
  for (const std::string& setting : all) {
    const std::string told = setting.substr(0, setting.find('=')) + ": changes nothing: cuda_graphs is ";
    EXPECT_TRUE(has(notes({setting, "software.cuda_graphs=step"}), told + "step")) << setting;
    EXPECT_FALSE(has(notes({setting}), told)) << setting;
  }
  EXPECT_FALSE(has(notes({"software.host_per_step=20 us", "software.cuda_graphs=step"}), "host_per_step"))
      << "the host waits at the update all the same";
  EXPECT_TRUE(has(notes({all.back(), "software.cuda_graphs=layers"}),
                  "host_per_checkpoint: changes nothing: cuda_graphs is layers"));
  EXPECT_FALSE(has(notes({all.front(), "software.cuda_graphs=layers"}), "host_per_kernel")) << "of what is no layer";
  EXPECT_FALSE(has(notes({"software.cuda_graphs=step"}), "host_per_")) << "the stack's own";
}

TEST(Notes, SayWhatOfARunIsNotMeasuredOrNoStep) {
  const std::string memory = "measured.memory_is: changes nothing: measured.peak_memory is not said\n";
  EXPECT_TRUE(has(notes({"measured.memory_is=device"}), memory));
  EXPECT_FALSE(has(notes({"measured.memory_is=device", "measured.peak_memory=60 GiB"}), memory));
  EXPECT_TRUE(has(notes({"run.target_batch=512"}), "run.target_batch: changes nothing: none of run.tokens"));
  EXPECT_TRUE(has(notes({"run.target_batch=512", "run.tokens=1e9"}), "run.target_batch: changes nothing: without "));
  EXPECT_TRUE(has(notes({"run.target_batch=512", "run.tokens=1e9", "run.critical_batch=512"}),
                  "run.target_batch: changes no step"));
  EXPECT_FALSE(has(notes({"run.tokens=1e9"}), "run."));
}

TEST(Notes, SayWhatAProfileReplaces) {
  const std::string profile = testing::TempDir() + "notes_profile.yaml";
  std::ofstream(profile) << "gpu: a100-sxm4-80gb\nsoftware: {kernel_gap: 2 us}\n"
                         << "kernels: [{by: cudnn, attention: {forward: 0.7}}, {by: pytorch, host_per_kernel: 9 us}]\n";
  const std::string scenario = testing::TempDir() + "notes_scenario.yaml";
  std::ofstream(scenario) << "base: " << kQuickstart << "\nsoftware: {base: megatron-core, kernel_gap: 1 us}\n"
                          << "cluster: {node: {gpu: {step_share: 0.9}}}\n";
  Library library = configs();
  const Question file = read_questions(std::vector{scenario}, std::vector{"profile=" + profile}, library).at(0);
  EXPECT_EQ(file.error, "");
  std::string all;
  for (const schedules::Note& note : file.notes) all += note.key + ": " + note.text + "\n";
  EXPECT_TRUE(has(all, "software.kernel_gap: changes nothing: the profile has its own, profile.software.kernel_gap\n"));
  EXPECT_TRUE(
      has(all, "cluster.node.gpu.step_share: changes nothing: the profile has its own, profile.gpu.step_share"));
  EXPECT_EQ(notes({"profile=" + profile, "software.kernel_gap=1 us"}),
            "--set software.kernel_gap=1 us: software.kernel_gap: changes nothing beside a profile, which has its own, "
            "expected profile.software.kernel_gap");
  EXPECT_EQ(
      notes({"profile=" + profile, "software.elementwise_by=pytorch", "software.host_per_kernel=1 us"}),
      "--set software.host_per_kernel=1 us: software.host_per_kernel: changes nothing beside a profile, which has "
      "its own, expected profile.kernels[1].host_per_kernel");
  EXPECT_FALSE(has(notes({"profile=" + profile, "software.host_per_kernel=1 us"}), "changes nothing"));
}

}  // namespace
}  // namespace stepcast::language
