#include "app/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "collectives/algorithms.h"
#include "language/configs/cluster.h"
#include "language/configs/model.h"
#include "language/configs/profile.h"
#include "language/core/nearest.h"
#include "models/layers/blocks.h"
#include "models/layers/model_blocks.h"
#include "schedules/pipeline/custom.h"
#include "schedules/pipeline/pipelines.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::ordered_json;

Fact fact(std::string_view title, std::string text) { return {title, title, text, text.empty() ? Json() : Json(text)}; }
Fact fact(std::string_view title, std::string_view key, Bytes value) { return {title, key, text(value), value.value}; }
Fact fact(std::string_view title, std::string_view key, Bandwidth value) {
  return {title, key, text(value), value.value};
}
Fact fact(std::string_view title, std::string_view key, Time value) {
  return {title, key, text(value), to_seconds(value)};
}
Fact count(std::string_view title, std::int64_t value) { return {title, title, std::to_string(value), value}; }

/// Calls `read` with the file of that name as the value of a block.
template <class Read>
auto with_file(const std::string& name, const language::Schema& schema, language::Library& library, Read read) {
  const language::Node file = library.expand_block(language::make_scalar(name, {"stepcast", 0, 0}), schema, "");
  language::Value value;
  value.node = &file;
  value.text = name;
  value.library = &library;
  return read(value);
}

Fact peak_of(const schedules::Gpu& gpu, schedules::Precision precision, std::string_view key) {
  const auto known = gpu.peak.find(precision);
  if (known == gpu.peak.end()) return {schedules::name(precision), key, "", Json()};
  return {schedules::name(precision), key, text(known->second), known->second.value};
}

std::vector<Fact> gpu_facts(const std::string& name, language::Library& library) {
  using schedules::Precision;
  const auto gpu = with_file(name, language::gpu_schema(), library,
                             [](auto& v) { return language::read_block(language::gpu_table(), v); });
  return {fact("memory", "memory_bytes", gpu.memory),
          fact("bandwidth", "memory_bandwidth_bytes_per_s", gpu.memory_bandwidth),
          peak_of(gpu, Precision::fp32, "peak_fp32_flops_per_s"),
          peak_of(gpu, Precision::fp16, "peak_fp16_flops_per_s"),
          peak_of(gpu, Precision::bf16, "peak_bf16_flops_per_s"),
          peak_of(gpu, Precision::fp8, "peak_fp8_flops_per_s")};
}

std::uint32_t nics(const topology::NodeSpec& node) {
  if (node.devices.empty()) return node.nics;
  return static_cast<std::uint32_t>(std::ranges::count(node.devices, "nic", &topology::GraphDevice::kind));
}

std::vector<Fact> node_facts(const std::string& name, language::Library& library) {
  const topology::NodeSpec node =
      with_file(name, language::node_schema(), library, [](auto& v) { return language::read_node(v); }).spec;
  std::vector<Fact> facts{count("gpus", node.gpus), fact("gpu", node.gpu),
                          fact("nvlink", node.nvlink ? node.nvlink->name : std::string()), count("nics", nics(node))};
  if (node.nic && nics(node) > 0) {
    facts.push_back(fact("nic", node.nic->name));
    facts.push_back(fact("of one nic", "nic_bandwidth_bytes_per_s", node.nic->bandwidth));
  } else {
    facts.push_back(fact("nic", ""));
    facts.push_back({"of one nic", "nic_bandwidth_bytes_per_s", "", Json()});
  }
  facts.push_back(fact("fabric", node.fabric));
  return facts;
}

std::vector<Fact> link_facts(const std::string& name, language::Library& library) {
  return with_file(name, language::link_schema(), library, [](const language::Value& v) -> std::vector<Fact> {
    const topology::LinkType link = language::read_link(v);
    return {fact("kind", v.node->find("kind")->scalar), fact("bandwidth", "bandwidth_bytes_per_s", link.bandwidth),
            Fact{"efficiency", "efficiency", fmt::format("{}", link.efficiency), link.efficiency},
            fact("latency", "latency_s", link.latency)};
  });
}

std::vector<Fact> fabric_facts(const std::string& name, language::Library& library) {
  const auto fabric = with_file(name, language::fabric_schema(), library,
                                [](auto& v) { return language::read_block(language::fabric_table(), v); });
  return {
      fact("kind", fabric.kind),
      fact("torus", fabric.torus),
      Fact{"oversubscription", "oversubscription", fmt::format("{}", fabric.oversubscription), fabric.oversubscription},
      fact("routing", fabric.routing),
      fact("switch latency", "switch_latency_s", fabric.switch_latency),
      Fact{"in-network sums", "in_network_reduction", fabric.in_network_reduction ? "yes" : "no",
           fabric.in_network_reduction}};
}

std::vector<Fact> cluster_facts(const std::string& name, language::Library& library) {
  const auto cluster = with_file(name, language::cluster_schema(), library, [](const language::Value& v) {
    return language::finish(language::read_block(language::cluster_table(), v), v);
  });
  return {count("gpus", cluster.gpus), fact("gpu", cluster.gpu.name), fact("node", cluster.node.name),
          fact("fabric", cluster.fabric.name)};
}

/// Of a whole model, for samples of the usual length where its positions are learned and not limited.
double model_parameters(const schedules::Model& model) {
  schedules::Scenario scenario;
  scenario.model = model;
  scenario.training.micro_batch = scenario.training.global_batch = 1;
  if (model.family == schedules::Family::t5) scenario.training.decoder_sequence = scenario.training.sequence;
  const schedules::Blocks blocks = schedules::blocks(scenario);
  return parameters(blocks, cut(blocks, 1));
}

std::vector<Fact> model_facts(const std::string& name, language::Library& library) {
  const schedules::Model model = with_file(name, language::model_schema(), library, [](const language::Value& v) {
    return language::finish(language::read_block(language::model_table(), v), v);
  });
  const auto family =
      with_file(name, language::model_schema(), library, [](auto& v) { return v.node->find("family")->scalar; });
  const auto words = [](double n) {
    return n >= 1e9 ? fmt::format("{:.2f} billion", n / 1e9) : fmt::format("{:.1f} million", n / 1e6);
  };
  const double all = model_parameters(model), active = all - idle_parameters(model);
  return {fact("family", family), Fact{"parameters", "parameters", words(all), all},
          Fact{"active", "active_parameters", active < all ? words(active) : "", active}, count("layers", model.layers),
          model.hidden > 0 ? count("hidden", model.hidden) : fact("hidden", "")};
}

std::vector<Fact> software_facts(const std::string& name, language::Library& library) {
  return with_file(name, language::software_schema(), library, [](const language::Value& v) -> std::vector<Fact> {
    const schedules::Software software = language::read_block(language::software_table(), v);
    const bool transport_only = language::is_transport_alone(*v.node);
    const bool has_transport = v.node->find("transport") != nullptr;
    return {
        fact("what", transport_only  ? "transport"
                     : has_transport ? "training and transport"
                                     : "training"),
        fact("attention",
             transport_only ? ""
                            : std::string(language::attention_names()[static_cast<std::size_t>(software.attention)]))};
  });
}

std::vector<Fact> profile_facts(const std::string& name, language::Library& library) {
  const auto profile = with_file(name, language::profile_schema(), library,
                                 [](auto& v) { return language::read_block(language::profile_table(), v); });
  return {fact("gpu", profile.gpu.name)};
}

std::vector<std::string> algorithm_names(const language::Library&) {
  std::vector<std::string> names;
  for (const collectives::Algorithm* each : collectives::algorithms()) names.emplace_back(each->name);
  return names;
}
std::vector<Fact> algorithm_facts(const std::string& name, language::Library&) {
  return {fact("summary", std::string(collectives::algorithm(name).summary))};
}
std::vector<Fact> algorithm_details(const std::string& name) {
  const collectives::Algorithm& algorithm = collectives::algorithm(name);
  return {fact("summary", std::string(algorithm.summary)), fact("needs", std::string(algorithm.needs)),
          fact("source", std::string(algorithm.source))};
}

std::vector<std::string> schedule_names(const language::Library&) {
  std::vector<std::string> names;
  for (const schedules::PipelineSchedule* each : schedules::pipelines()) names.emplace_back(each->name);
  names.emplace_back(schedules::kCustom);
  return names;
}
std::vector<Fact> schedule_details(const std::string& name) {
  if (name == schedules::kCustom)
    return {fact("summary", "the orders that pipeline.orders lists"), fact("source", "yours")};
  const schedules::PipelineSchedule& schedule = *schedules::find_pipeline(name);
  return {fact("summary", std::string(schedule.summary)), fact("source", std::string(schedule.source))};
}
std::vector<Fact> schedule_facts(const std::string& name, language::Library&) {
  return {schedule_details(name).front()};
}

template <const char* folder>
std::vector<std::string> files(const language::Library& library) {
  return library.names(folder);
}

constexpr char kGpus[] = "gpus", kNodes[] = "nodes", kLinks[] = "links", kFabrics[] = "fabrics",
               kClusters[] = "clusters", kModels[] = "models", kSoftware[] = "software", kProfiles[] = "profiles";

}  // namespace

std::span<const CatalogueKind> catalogue() {
  static const std::array all{
      CatalogueKind{kGpus, "accelerators: memory and dense peaks", language::gpu_schema, files<kGpus>, gpu_facts},
      CatalogueKind{kNodes, "machines: GPUs and network cards", language::node_schema, files<kNodes>, node_facts},
      CatalogueKind{kLinks, "cables and traces: what one carries one way", language::link_schema, files<kLinks>,
                    link_facts},
      CatalogueKind{kFabrics, "what joins nodes", language::fabric_schema, files<kFabrics>, fabric_facts},
      CatalogueKind{kClusters, "whole clusters", language::cluster_schema, files<kClusters>, cluster_facts},
      CatalogueKind{kModels, "what is trained", language::model_schema, files<kModels>, model_facts},
      CatalogueKind{kSoftware, "training frameworks, and transports fitted to recorded collectives",
                    language::software_schema, files<kSoftware>, software_facts},
      CatalogueKind{kProfiles, "calibrations of your own (stepcast calibrate)", language::profile_schema,
                    files<kProfiles>, profile_facts},
      CatalogueKind{"algorithms", "of collectives: collective --algorithm", nullptr, algorithm_names, algorithm_facts,
                    algorithm_details},
      CatalogueKind{"schedules", "of pipelines: pipeline.schedule", nullptr, schedule_names, schedule_facts,
                    schedule_details},
  };
  return all;
}

const CatalogueKind& catalogue_kind(const std::string& name, const std::string& place) {
  std::vector<std::string_view> names;
  for (const CatalogueKind& kind : catalogue()) {
    if (kind.name == name) return kind;
    names.push_back(kind.name);
  }
  throw InputError(place, "found " + in_quotes(name) + ", expected " + language::one_of(name, names));
}

}  // namespace stepcast::app
