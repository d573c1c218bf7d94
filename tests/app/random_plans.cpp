#include "tests/app/random_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <random>

namespace stepcast::app {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : draw_(seed) {}
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }
  std::size_t below(std::size_t end) { return draw_() % end; }
  bool chance(std::size_t percent) { return below(100) < percent; }

 private:
  std::mt19937_64 draw_;
};

struct Place {
  std::string fabric, cluster;  ///< its kind, and the scenario's block
  std::uint32_t gpus = 0;
  bool half = false;      ///< no bf16 there
  bool one_node = false;  ///< whose network cards carry nothing
};

struct Fabric {
  const char *kind, *yaml;
};
constexpr Fabric kFabrics[] = {
    {"one switch", "{base: one-switch}"},
    {"fat tree 1:1", "{base: fat-tree-hdr, radix: 8}"},
    {"fat tree 2:1", "{base: fat-tree-hdr, radix: 12, oversubscription: 2}"},
    {"fat tree 4:1", "{base: fat-tree-hdr, radix: 10, oversubscription: 4}"},
    {"fat tree 8:1", "{base: fat-tree-hdr, radix: 18, oversubscription: 8}"},
    {"hashed ECMP", "{base: ethernet-ecmp, radix: 8}"},
    {"dragonfly+", "{base: dragonfly-plus-hdr, radix: 8}"},
    {"rail only", "{base: rail-only-ndr}"},
    {"rail fat tree", "{base: rail-fat-tree-ndr, radix: 8}"},
};

struct Node {
  const char* name;
  std::uint32_t gpus;
};

Place on_fabric(Dice& dice) {
  const Fabric& fabric = kFabrics[dice.below(std::size(kFabrics))];
  const Node node = dice.one_of<Node>({{"dgx-h100", 8}, {"dgx-a100-80gb", 8}, {"hgx-a100-4gpu", 4}});
  const std::uint32_t nodes = dice.one_of({2u, 4u, 8u});
  std::string yaml = fmt::format("node: {}, fabric: {}", node.name, fabric.yaml);
  if (node.gpus == 8 && fabric.kind != std::string("rail only") && dice.chance(50))
    yaml += fmt::format(", nics_per_node: {}", dice.one_of({1, 2, 4}));
  if (!dice.chance(12)) return {fabric.kind, fmt::format("{}, gpus: {}", yaml, node.gpus * nodes), node.gpus * nodes};
  std::uint32_t all = 0;
  std::string allocation;  // of each node another number of GPUs
  for (std::uint32_t n = 0; n < std::min(nodes, 4u); ++n) {
    const std::uint32_t some = dice.one_of({node.gpus, node.gpus / 2});
    allocation += fmt::format("{}node{}:0-{}", n == 0 ? "" : ",", n, some - 1);
    all += some;
  }
  return {"uneven placement", fmt::format("{}, nodes: {}, allocation: '{}'", yaml, nodes, allocation), all};
}

Place place(Dice& dice) {
  switch (dice.one_of({0, 1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4})) {
    case 0: {
      const Node box = dice.one_of<Node>({{"pcie-8x-a100", 8}, {"pcie-8x-a100-no-p2p", 8}, {"pcie-4x-a100", 4}});
      return {"PCIe box", fmt::format("node: {}, gpus: {}", box.name, box.gpus), box.gpus, false, true};
    }
    case 1: {
      const std::uint32_t gpus = dice.one_of({4u, 6u, 8u});
      return {"part of a DGX-1", fmt::format("node: dgx-1-v100-16gb, gpus: {}", gpus), gpus, true, true};
    }
    case 2:
      return {"torus", "node: gh200-1gpu, gpus: 16, fabric: {base: torus-8x8, torus: 4x4}", 16};
    case 3: {
      const Node node = dice.one_of<Node>({{"aws-g6", 1}, {"pcie-4x-a10", 4}, {"aws-p3.16xlarge", 8}});
      const std::uint32_t gpus = node.gpus * dice.one_of({2u, 4u});
      return {"TCP", fmt::format("node: {}, gpus: {}, fabric: {{base: ethernet-switch}}", node.name, gpus), gpus,
              node.gpus == 8, node.gpus == 1};  // aws-g6 has eight: a part of one
    }
    default:
      return on_fabric(dice);
  }
}

/// A plan for that many GPUs; nothing where what was drawn does not multiply to them.
std::optional<std::string> plan_for(const Place& at, Dice& dice) {
  const std::uint32_t tensor = dice.one_of({1u, 1u, 2u, 4u, 8u, 16u}), pipeline = dice.one_of({1u, 1u, 2u, 4u}),
                      context = dice.one_of({1u, 1u, 1u, 2u, 4u});
  if (at.gpus % (tensor * pipeline * context) != 0) return std::nullopt;
  const std::uint32_t data = at.gpus / (tensor * pipeline * context);
  if (data > 32) return std::nullopt;
  const bool experts = context == 1 && dice.chance(25);
  const std::uint32_t expert = experts ? dice.one_of({2u, 4u, 8u}) : 1;
  if (experts && (tensor * data % expert != 0 || expert % tensor != 0)) return std::nullopt;
  std::string schedule = dice.one_of<const char*>({"1f1b", "1f1b", "gpipe", "interleaved-1f1b", "zb-h1"});
  if (pipeline == 1) schedule = "1f1b";
  const bool interleaved = schedule == "interleaved-1f1b";
  std::uint32_t micro_batches = dice.one_of({1u, 2u, 4u}) * (pipeline > 1 ? 2 : 1);
  if (interleaved) micro_batches = (micro_batches + pipeline - 1) / pipeline * pipeline;
  int zero = dice.one_of({0, 0, 1, 2, 3});
  if (zero >= 2 && pipeline > 1 && dice.chance(70)) zero = 1;
  const bool sequence = tensor > 1 && (experts || dice.chance(50));
  std::string yaml = fmt::format(
      "cluster: {{{}}}\n"
      "model: {{base: {}, layers: {}}}\n"
      "training: {{global_batch: {}, micro_batch: 1, sequence: {}{}}}\n"
      "pipeline: {{schedule: {}, virtual_stages: {}}}\n",
      at.cluster, experts ? "mixtral-8x7b" : dice.one_of<const char*>({"llama2-7b", "llama3-8b"}),
      std::max(4u, interleaved ? 2 * pipeline : pipeline), data * micro_batches, dice.one_of({1024, 2048, 4096}),
      at.half ? ", precision: fp16" : "", schedule, interleaved ? 2 : 1);
  std::string parallelism =
      fmt::format("parallelism: {{tensor: {}, context: {}, expert: {}, pipeline: {}, data: {}, sequence: {}", tensor,
                  context, expert, pipeline, data, sequence);
  std::string data_parallel = fmt::format("data_parallel: {{zero: {}, overlap: {}", zero, dice.chance(50));
  if (dice.chance(30)) yaml += "recompute: full\n";
  if (dice.chance(25))
    yaml += fmt::format("software: {}\n",
                        dice.one_of<const char*>({"megatron-lm-2021", "megatron-lm-2022", "llm-foundry"}));
  if (dice.chance(25))
    yaml += fmt::format("offload: {}\n",
                        dice.one_of<const char*>({"{optimizer: host}", "{optimizer: host, parameters: host}",
                                                  "{activations: host}", "{activations: host, overlap: false}",
                                                  "{optimizer: host, parameters: host, activations: host}",
                                                  "{optimizer: nvme, nvme_bandwidth: 25 GB/s}"}));
  if (dice.chance(20) && zero > 0 && data * context > 2 && data * context % 2 == 0) data_parallel += ", shard_group: 2";
  if (dice.chance(15))
    parallelism += fmt::format(", order: {}", dice.one_of<const char*>({"[data]", "[pipeline]", "[context, data]"}));
  if (dice.chance(15)) {
    const std::string slow_node = "{slow_node: 0, network_speed: 0.5}";
    const std::string some = dice.one_of<std::string>({"{jitter: 0.05}", "{slow_gpu: 1, gpu_speed: 0.8}", slow_node});
    if (some != slow_node || !at.one_node) yaml += fmt::format("imperfections: {}\n", some);
  }
  return yaml + parallelism + "}\n" + data_parallel + "}\n";
}

}  // namespace

RandomPlan random_plan(std::uint64_t seed) {
  Dice dice(seed);
  while (true) {
    const Place at = place(dice);
    for (int tries = 0; tries < 50; ++tries)
      if (std::optional<std::string> yaml = plan_for(at, dice)) return {at.fabric, *std::move(yaml)};
  }
}

}  // namespace stepcast::app
