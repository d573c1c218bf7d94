// A file of configs/, or of another user's own: the first line names its kind (cluster, node, gpu, link, fabric,
// software, profile, model), the rest is any bytes. Read, and of machines no larger than 64 GPUs built, or refused with
// an InputError.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "language/configs/cluster.h"
#include "language/configs/files.h"
#include "language/configs/model.h"
#include "language/configs/profile.h"
#include "language/core/library.h"
#include "language/core/yaml.h"
#include "tests/fuzz/devices.h"
#include "tests/fuzz/refused.h"
#include "topology/cluster.h"

namespace {

using namespace stepcast;
using language::Value;

constexpr std::uint32_t kMostGpus = 64;

void build(const topology::NodeSpec& node, const topology::FabricSpec& fabric, std::uint32_t gpus) {
  if (gpus <= kMostGpus && node.devices.size() <= 256 && node.nics <= 64) topology::build_cluster(node, fabric, gpus);
}

void read_cluster(const Value& value) {
  const schedules::ClusterSpec cluster = finish(read_block(language::cluster_table(), value), value);
  if (cluster.gpus <= kMostGpus && cluster.node.gpus <= kMostGpus)
    topology::build_cluster(cluster.node, cluster.fabric, cluster.gpus, cluster.allocation);
}

void read_node_file(const Value& value) {
  const topology::NodeSpec node = language::read_node(value).spec;
  build(node, {}, node.gpus);
}

/// Joins four nodes of a known kind by it.
void read_fabric(const Value& value) {
  const topology::FabricSpec fabric = read_block(language::fabric_table(), value);
  static const topology::NodeSpec node = [&] {
    Value known = value;
    const language::Node file =
        value.library->expand_block(language::make_scalar("dgx-a100-80gb", {}), language::node_schema(), "");
    known.node = &file;
    return language::read_node(known).spec;
  }();
  build(node, fabric, 4 * node.gpus);
}

struct Kind {
  std::string_view name;
  const language::Schema& (*schema)();
  void (*read)(const Value&);
};

constexpr Kind kKinds[] = {
    {"cluster", language::cluster_schema, read_cluster},
    {"node", language::node_schema, read_node_file},
    {"gpu", language::gpu_schema, [](const Value& v) { read_block(language::gpu_table(), v); }},
    {"link", language::link_schema, [](const Value& v) { read_block(language::link_table(), v); }},
    {"fabric", language::fabric_schema, read_fabric},
    {"software", language::software_schema,
     [](const Value& v) { language::read_software(*v.node, "nccl-a100", *v.library); }},
    {"profile", language::profile_schema, [](const Value& v) { read_block(language::profile_table(), v); }},
    {"model", language::model_schema, [](const Value& v) { finish(read_block(language::model_table(), v), v); }},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(text.find('\n'), size);
  const auto kind = std::ranges::find(kKinds, text.substr(0, end), &Kind::name);
  if (kind == std::end(kKinds) || test::names_devices(text)) return 0;
  static language::Library library(STEPCAST_SOURCE_DIR "/configs");
  test::refused([&] {
    const language::Node file = language::parse_yaml(text.substr(std::min(end + 1, size)), "fuzz.yaml");
    const language::Node whole = library.expand_block(file, kind->schema(), "");
    Value value;
    value.node = &whole;
    value.library = &library;
    kind->read(value);
  });
  return 0;
}
