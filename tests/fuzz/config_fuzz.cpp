// A file of configs/, or of another user's own: the first line names its kind (cluster, node, gpu, link, fabric,
// software, profile, model), the rest is any bytes. Read, and of machines no larger than 64 GPUs built, or refused with
// an InputError.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "app/read/cluster.h"
#include "app/read/files.h"
#include "app/read/library.h"
#include "app/read/model.h"
#include "app/read/profile.h"
#include "app/read/yaml.h"
#include "tests/fuzz/devices.h"
#include "tests/fuzz/refused.h"
#include "topology/cluster.h"

namespace {

using namespace stepcast;
using app::Value;

constexpr std::uint32_t kMostGpus = 64;

void build(const topology::NodeSpec& node, const topology::FabricSpec& fabric, std::uint32_t gpus) {
  if (gpus <= kMostGpus && node.devices.size() <= 256 && node.nics <= 64) topology::build_cluster(node, fabric, gpus);
}

void read_cluster(const Value& value) {
  const schedules::ClusterSpec cluster = finish(read_block(app::cluster_table(), value), value);
  if (cluster.gpus <= kMostGpus && cluster.node.gpus <= kMostGpus)
    topology::build_cluster(cluster.node, cluster.fabric, cluster.gpus, cluster.allocation);
}

void read_node_file(const Value& value) {
  const topology::NodeSpec node = app::read_node(value).spec;
  build(node, {}, node.gpus);
}

/// Joins four nodes of a known kind by it.
void read_fabric(const Value& value) {
  const topology::FabricSpec fabric = read_block(app::fabric_table(), value);
  static const topology::NodeSpec node = [&] {
    Value known = value;
    const app::Node file = value.library->expand_block(app::make_scalar("dgx-a100-80gb", {}), app::node_schema(), "");
    known.node = &file;
    return app::read_node(known).spec;
  }();
  build(node, fabric, 4 * node.gpus);
}

struct Kind {
  std::string_view name;
  const app::Schema& (*schema)();
  void (*read)(const Value&);
};

constexpr Kind kKinds[] = {
    {"cluster", app::cluster_schema, read_cluster},
    {"node", app::node_schema, read_node_file},
    {"gpu", app::gpu_schema, [](const Value& v) { read_block(app::gpu_table(), v); }},
    {"link", app::link_schema, [](const Value& v) { read_block(app::link_table(), v); }},
    {"fabric", app::fabric_schema, read_fabric},
    {"software", app::software_schema, [](const Value& v) { app::read_software(*v.node, "", *v.library); }},
    {"profile", app::profile_schema, [](const Value& v) { read_block(app::profile_table(), v); }},
    {"model", app::model_schema, [](const Value& v) { finish(read_block(app::model_table(), v), v); }},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(text.find('\n'), size);
  const auto kind = std::ranges::find(kKinds, text.substr(0, end), &Kind::name);
  if (kind == std::end(kKinds) || test::names_devices(text)) return 0;
  static app::Library library(STEPCAST_SOURCE_DIR "/configs");
  test::refused([&] {
    const app::Node file = app::parse_yaml(text.substr(std::min(end + 1, size)), "fuzz.yaml");
    const app::Node whole = library.expand_block(file, kind->schema(), "");
    Value value;
    value.node = &whole;
    value.library = &library;
    kind->read(value);
  });
  return 0;
}
