#include "app/commands/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "app/command.h"
#include "app/named_files.h"
#include "app/options.h"
#include "app/output.h"
#include "app/report/how_many.h"
#include "app/report/json_text.h"
#include "app/report/machine_svg.h"
#include "app/report/page.h"
#include "app/report/png.h"
#include "app/report/text_table.h"
#include "app/report_asked.h"
#include "app/setting.h"
#include "app/status_line.h"
#include "language/configs/cluster.h"
#include "language/configs/config_folders.h"
#include "language/core/convert.h"
#include "language/core/file_text.h"
#include "language/core/given.h"
#include "language/core/library.h"
#include "language/core/merge.h"
#include "language/core/nearest.h"
#include "language/core/read_mapping.h"
#include "language/core/streams.h"
#include "language/core/visible_text.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "sim/units_text.h"
#include "topology/cluster.h"
#include "topology/dimensions.h"
#include "topology/exports.h"
#include "topology/import/nccl_xml.h"
#include "topology/import/smi_matrix.h"
#include "topology/link_kind_name.h"
#include "topology/matrix.h"

namespace stepcast::app {
namespace {

using topology::Cluster;
using topology::GpuId;
using topology::LinkId;
using topology::Pair;

constexpr std::uint32_t kMostInMatrix = 32;  // columns that a screen still holds
constexpr std::uint32_t kMostGpus = 10'000'000;
constexpr std::uint32_t kMostInJson = 256;         // GPUs: pairs grow with the square
constexpr std::uint32_t kMostLinksToCut = 50'000;  // maximum flow takes seconds beyond

/// A block that words of the command line name: "cluster" with the flags laid over it.
struct Where {
  schedules::ClusterSpec cluster;
};

const language::Table<Where>& where_table() {
  static const language::Table<Where> table(
      "Topology", "",
      {{{"cluster", block(language::cluster_schema), language::kRequired, "what to show"},
        [](Where& w, const language::Value& v) {
          w.cluster = language::finish(language::read_block(language::cluster_table(), v), v);
        }}});
  return table;
}

topology::LinkType read_link_named(const std::string& name, const std::string& flag, language::Library& library) {
  language::Value value;
  value.path = "";
  value.library = &library;
  const language::Node file =
      library.expand_block(language::make_scalar(name, {flag, 0, 0}), language::link_schema(), "");
  value.node = &file;
  return language::read_link(value);
}

topology::FabricSpec read_fabric_named(const std::string& name, language::Library& library) {
  language::Value value;
  value.library = &library;
  const language::Node file =
      library.expand_block(language::make_scalar(name, {"--fabric", 0, 0}), language::fabric_schema(), "");
  value.node = &file;
  return language::read_block(language::fabric_table(), value);
}

std::uint32_t whole_named(const std::string& text, const std::string& flag) {
  const language::Value value =
      language::convert(language::whole(1, kMostGpus), language::make_scalar(text, {flag, 0, 0}), "");
  return static_cast<std::uint32_t>(value.whole);
}

/// A file of another program: NCCL's XML, or the matrix of nvidia-smi.
schedules::ClusterSpec import_cluster(const std::string& file, const std::string& bytes, bool xml,
                                      const boost::program_options::variables_map& values, language::Library& library) {
  const std::string_view text = language::checked_text(bytes, file);
  schedules::ClusterSpec cluster;
  topology::NodeSpec& node = cluster.node;
  if (xml) {
    node = topology::import_nccl_xml(text, file);
  } else {
    const topology::SmiLinks links{read_link_named(word(values, "nvlink"), "--nvlink", library),
                                   read_link_named(word(values, "pcie"), "--pcie", library),
                                   read_link_named(word(values, "socket-link"), "--socket-link", library)};
    node = topology::import_smi_matrix(text, links, file);
  }
  const std::string fabric_name = word(values, "fabric").empty() ? "one-switch" : word(values, "fabric");
  cluster.fabric = read_fabric_named(fabric_name, library);
  const std::string nodes = word(values, "nodes"), gpus = word(values, "gpus"), allocation = word(values, "allocation");
  if (!allocation.empty() && !gpus.empty())
    throw InputError("--gpus", "found " + in_quotes(gpus) + " beside --allocation, expected one of the two");
  if (!nodes.empty() && !gpus.empty() &&
      whole_named(gpus, "--gpus") != whole_named(nodes, "--nodes") * std::uint64_t{node.gpus})
    throw InputError("--gpus", "found " + in_quotes(gpus) + " beside --nodes '" + nodes + "' of " +
                                   std::to_string(node.gpus) + " GPUs, expected one of the two");
  if (!allocation.empty()) {
    topology::Allocation wanted = topology::parse_allocation(allocation, "--allocation");
    if (!nodes.empty()) wanted.of_nodes = whole_named(nodes, "--nodes");
    cluster.allocation = std::move(wanted);
  } else if (!gpus.empty()) {
    cluster.gpus = whole_named(gpus, "--gpus");
  } else {
    const std::uint64_t all = std::uint64_t{node.gpus} * (nodes.empty() ? 1 : whole_named(nodes, "--nodes"));
    if (all > kMostGpus) throw InputError("--nodes", fmt::format("found {} GPUs, expected at most {}", all, kMostGpus));
    cluster.gpus = static_cast<std::uint32_t>(all);
  }
  return cluster;
}

schedules::ClusterSpec find_cluster(const std::string& name, const boost::program_options::variables_map& values,
                                    language::Library& library) {
  for (const char* link : {"nvlink", "pcie", "socket-link"})
    if (!name.ends_with(".txt") && !values[link].defaulted())
      throw InputError(std::string("--") + link, "found " + in_quotes(word(values, link)) + " beside " +
                                                     in_quotes(name) +
                                                     ", expected it with a matrix of nvidia-smi (.txt) alone");
  if (name.ends_with(".xml") || name.ends_with(".txt"))
    return import_cluster(name, language::read_file(name, name), name.ends_with(".xml"), values, library);
  language::Node tree = language::make_mapping({"stepcast topology", 0, 0});
  std::vector<language::Given> given;
  const auto lay = [&](const std::string& key, const std::string& value, const std::string& flag) {
    if (!value.empty()) given.push_back({key, value, {flag, 0, 0}});
  };
  const std::vector<std::string> clusters = library.names("clusters"), nodes = library.names("nodes");
  if (language::is_stream(name)) {
    const std::string text = language::read_file(name, name);
    const bool xml = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size())).starts_with('<');
    const bool matrix = text.find("GPU0") != std::string::npos;
    if (xml || matrix) return import_cluster(name, text, xml, values, library);
    language::merge(where_table().schema, tree,
                    language::nest("cluster", library.scenario(name, text, language::cluster_schema())));
  } else if (std::ranges::binary_search(clusters, name) || name.ends_with(".yaml") || name.ends_with(".yml")) {
    lay("cluster", name, name);
  } else if (std::ranges::binary_search(nodes, name)) {
    lay("cluster.node", name, name);
  } else {
    std::vector<std::string_view> all(nodes.begin(), nodes.end());
    all.insert(all.end(), clusters.begin(), clusters.end());
    const std::string near = language::did_you_mean(name, all);
    throw InputError("stepcast topology",
                     "found " + in_quotes(name) +
                         ", expected a file (.yaml of a cluster, .xml of NCCL, .txt of nvidia-smi), or a node or "
                         "cluster of configs/" +
                         (near.empty() ? ": " + language::one_of("", all)
                                       : near + " ('stepcast list nodes' and 'stepcast list clusters' name all)"));
  }
  lay("cluster.nodes", word(values, "nodes"), "--nodes");
  lay("cluster.gpus", word(values, "gpus"), "--gpus");
  lay("cluster.allocation", word(values, "allocation"), "--allocation");
  lay("cluster.fabric", word(values, "fabric"), "--fabric");
  Where where;
  language::merge(where_table().schema, tree,
                  language::layer_of(where_table().schema, std::move(given), {"stepcast topology", 0, 0}));
  read(where_table(), tree, "", library, where);
  return where.cluster;
}

/// Nothing where there is no half, and for a large machine of which a part is used.
std::optional<Bandwidth> cut(const Cluster& cluster) {
  if (cluster.gpus() < 2) return {};
  if (cluster.links() > kMostLinksToCut) return bisection_in_closed_form(cluster);
  return bisection(cluster);
}

std::string matrix(const Cluster& cluster, const std::vector<Pair>& all, std::uint32_t shown,
                   const std::function<std::string(const Pair&)>& cell) {
  std::vector<TextTable::Column> heads{{"", TextTable::Align::left}};
  for (std::uint32_t g = 0; g < shown; ++g) heads.push_back({fmt::format("GPU{}", g)});
  TextTable table(heads);
  for (std::uint32_t a = 0; a < shown; ++a) {
    std::vector<std::string> row{fmt::format("GPU{} = {}", a, cluster.name(GpuId{a}))};
    for (std::uint32_t b = 0; b < shown; ++b) row.push_back(a == b ? "X" : cell(all[a * shown + b]));
    table.add(std::move(row));
  }
  return table.text();
}

std::string head(const Cluster& cluster, const std::string& name) {
  const std::optional<Bandwidth> half = cut(cluster);
  return fmt::format("{}: {} on {}, {}\nbisection bandwidth  {}\n", name, how_many(cluster.gpus(), "GPU"),
                     how_many(cluster.nodes(), "node"), how_many(cluster.links(), "link"),
                     half                 ? text(*half)
                     : cluster.gpus() < 2 ? "none of one GPU"
                                          : "not computed for a part of so large a machine");
}

/// The ways between GPUs, each kind once.
std::string way_table(const std::vector<Pair>& all) {
  std::map<std::tuple<std::string, double, std::int64_t, std::uint32_t>, std::size_t> classes;
  for (const Pair& p : all) {
    if (p.kind != "X") ++classes[{p.kind, p.bandwidth.value, p.latency.value, p.hops}];
  }
  TextTable table({{"path", TextTable::Align::left}, {"pairs"}, {"bandwidth"}, {"latency"}, {"hops"}});
  for (const auto& [key, count] : classes) {
    table.add({std::get<0>(key), std::to_string(count / 2), text(Bandwidth{std::get<1>(key)}),
               text(Time{std::get<2>(key)}), std::to_string(std::get<3>(key))});
  }
  return table.text();
}

std::string matrices(const Cluster& cluster, bool whole_story) {
  const std::uint32_t shown = std::min(cluster.gpus(), kMostInMatrix);
  const std::vector<Pair> all = pairs(cluster, shown);
  std::string out;
  if (shown < cluster.gpus()) out += fmt::format("\nthe first {} GPUs\n", shown);
  if (!whole_story) out += "\n" + way_table(all);
  out += "\npath\n" + matrix(cluster, all, shown, [](const Pair& p) { return p.kind; });
  if (!whole_story) return out;
  out += "\nbandwidth of one flow, GB/s\n" +
         matrix(cluster, all, shown, [](const Pair& p) { return fmt::format("{:.1f}", p.bandwidth.value / 1e9); });
  out += "\nlatency, us\n" +
         matrix(cluster, all, shown, [](const Pair& p) { return fmt::format("{:.2f}", to_seconds(p.latency) * 1e6); });
  return out + "\nhops\n" + matrix(cluster, all, shown, [](const Pair& p) { return std::to_string(p.hops); });
}

std::string link_table(const Cluster& cluster) {
  TextTable table({{"link"},
                   {"from", TextTable::Align::left},
                   {"to", TextTable::Align::left},
                   {"kind", TextTable::Align::left},
                   {"bandwidth"},
                   {"latency"}});
  for (std::uint32_t l = 0; l < cluster.links(); ++l) {
    const topology::Link link = cluster.link(LinkId{l});
    table.add({std::to_string(l), link.from, link.to, std::string(topology::name(link.kind)), text(link.bandwidth),
               text(link.latency)});
  }
  return table.text();
}

/// As it stands in the list "links". Each is made text alone: a document of a million takes gigabytes.
std::string link_json(const Cluster& cluster, LinkId id) {
  const topology::Link link = cluster.link(id);
  const std::string text = json_text(nlohmann::ordered_json{{"from", link.from},
                                                            {"to", link.to},
                                                            {"kind", std::string(topology::name(link.kind))},
                                                            {"bandwidth_bytes_per_s", link.bandwidth.value},
                                                            {"latency_s", to_seconds(link.latency)}});
  std::string indented = "    ";
  for (const char c : std::string_view(text).substr(0, text.size() - 1)) {
    indented += c;
    if (c == '\n') indented += "    ";
  }
  return indented;
}

std::string json(const Cluster& cluster, const std::string& name) {
  const std::uint32_t shown = std::min(cluster.gpus(), kMostInJson);
  const std::optional<Bandwidth> half = cut(cluster);
  nlohmann::ordered_json out{{"name", name}, {"gpus", cluster.gpus()}, {"nodes", cluster.nodes()}};
  out["bisection_bytes_per_s"] = half ? nlohmann::ordered_json(half->value) : nlohmann::ordered_json(nullptr);
  out["pairs"] = nlohmann::ordered_json::array();
  const std::vector<Pair> all = pairs(cluster, shown);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const Pair& p = all[i];
    if (i / shown == i % shown) continue;
    out["pairs"].push_back({{"from", i / shown},
                            {"to", i % shown},
                            {"kind", p.kind},
                            {"bandwidth_bytes_per_s", p.bandwidth.value},
                            {"latency_s", to_seconds(p.latency)},
                            {"hops", p.hops}});
  }
  out["links"] = nlohmann::ordered_json::array();
  std::string text = json_text(out);
  if (cluster.links() == 0) return text;
  constexpr std::string_view kEnd = "]\n}\n";
  text.erase(text.size() - kEnd.size());
  for (std::uint32_t l = 0; l < cluster.links(); ++l) text += (l == 0 ? "\n" : ",\n") + link_json(cluster, LinkId{l});
  return text.append("\n  ").append(kEnd);
}

/// Of the torus that is drawn as a grid: the one node's, if all of its GPUs are in use, or the fabric's. Empty: none.
std::vector<std::uint32_t> torus_sides(const schedules::ClusterSpec& spec, const Cluster& cluster) {
  if (cluster.nodes() > 1)
    return spec.fabric.kind == "torus" ? topology::parse_sides(spec.fabric.torus, spec.fabric.name)
                                       : std::vector<std::uint32_t>{};
  if (spec.node.builder != "torus" || cluster.gpus() != spec.node.gpus) return {};
  return topology::parse_sides(spec.node.torus, spec.node.name);
}

/// An option for each export of the whole cluster, or of one node.
void add_exports(boost::program_options::options_description& options, bool one_node) {
  for (const topology::Export* each : topology::exports())
    if (each->one_node == one_node)
      options.add_options()(std::string(each->name).c_str(), std::string(each->summary).c_str());
}

/// The words for what is printed in the place of the machine's ways: --matrix, --links, ...
std::vector<std::string> known_forms() {
  std::vector<std::string> forms{"matrix", "links"};
  const auto add = [&](bool one_node) {
    for (const topology::Export* each : topology::exports())
      if (each->one_node == one_node) forms.emplace_back(each->name);
  };
  add(false);
  forms.emplace_back("json");
  add(true);
  return forms;
}

/// What is printed of a machine in one of these forms; "": the ways between its GPUs.
std::string text_in(const std::string& form, const Cluster& cluster, const std::string& name) {
  if (form == "links") return link_table(cluster);
  if (form == "json") return json(cluster, name);
  for (const topology::Export* each : topology::exports())
    if (each->name == form) return language::visible_lines(each->write(cluster));
  return head(cluster, language::visible(name)) + matrices(cluster, form == "matrix");
}

CommandLine topology_line() {
  namespace po = boost::program_options;
  po::options_description options("Options");
  const auto text_option = [](const char* fallback) {
    return po::value<std::string>()->default_value(fallback, fallback);
  };
  // clang-format off
  options.add_options()
      ("nodes", text_option(""), "nodes of the cluster")
      ("gpus", text_option(""), "GPUs in all; below a node's count: part of one node")
      ("allocation", text_option(""), "GPUs in use: '0-2,5', or 'node0:0-3,node2:4-7'")
      ("fabric", text_option(""), "what joins the nodes: a file of configs/fabrics/")
      ("nvlink", text_option("nvlink3"), "for a matrix of nvidia-smi: its NVLinks, a file of configs/links/")
      ("pcie", text_option("pcie-gen4-x16"), "likewise its PCIe links")
      ("socket-link", text_option("infinity-fabric"), "likewise the link between its processors")
      ("matrix", "path, bandwidth, latency and hops of every pair")
      ("links", "every link");
  add_exports(options, false);
  options.add_options()
      ("plot", text_option(""), "also draw the machine into this file: .svg or .png")
      ("json", "everything for programs");
  add_exports(options, true);
  options.add_options()("output", text_option(""), "write to this file instead of standard output");
  // clang-format on
  add_report_option(options);
  return {
      "usage: stepcast topology X [OPTIONS]\n\n"
      "Shows the links of a machine and the ways between its GPUs. X: a node or a cluster of configs/ by its name, a\n"
      "cluster's .yaml, a topology of NCCL (.xml), or what `nvidia-smi topo -m` prints (.txt).\n\n"
      "  stepcast topology dgx-h100\n"
      "  stepcast topology selene",
      options};
}

/// The one machine that is named.
std::string machine_named(const boost::program_options::variables_map& values) {
  const auto names =
      values.count("path") > 0 ? values["path"].as<std::vector<std::string>>() : std::vector<std::string>{};
  if (names.size() != 1) {
    throw InputError("stepcast topology",
                     "found " + std::to_string(names.size()) + " machines, expected one, such as dgx-a100-80gb");
  }
  return language::input_named(names.front());
}

int show_topology(const std::vector<std::string>& words) {
  const auto values = parse_options(words, topology_line());
  if (!values) return kDone;
  std::vector<std::string> forms;
  for (const std::string& form : known_forms())
    if (values->count(form) > 0) forms.push_back(form);
  if (forms.size() > 1) {
    throw InputError("stepcast topology", "found --" + forms[0] + " and --" + forms[1] + ", expected one of them");
  }
  const std::string form = forms.empty() ? "" : forms.front();
  const std::string name = machine_named(*values), output = (*values)["output"].as<std::string>();
  const std::string page = report_asked(*values), plot = word(*values, "plot");
  if (!plot.empty()) check_picture(plot, "--plot");
  const std::array outputs{named_output(output), NamedFile{"--plot", plot}, NamedFile{"--report", page}};
  check_outputs(outputs, std::array{std::filesystem::path(name)});
  language::Library library(language::config_folders());
  std::optional<StatusLine> line("finding ways");
  const schedules::ClusterSpec spec = find_cluster(name, *values, library);
  const Cluster cluster = build_as_asked(spec, *values);
  check_outputs(outputs, library.files());
  const std::string out = text_in(form, cluster, name);
  std::vector<NewFile> files;
  if (!page.empty()) {
    const PagePart part{.kind = "topology", .title = name, .document = json(cluster, name)};
    files.push_back({page, html_page({&part, 1})});
  }
  if (!plot.empty()) files.push_back({plot, picture(machine_svg(cluster, torus_sides(spec, cluster), name), plot)});
  files.push_back({output, out});
  line.reset();
  write_files(files);
  return kDone;
}

}  // namespace

std::string topology_as_json(const std::vector<std::string>& words) {
  const auto values = parse_options(words, topology_line()).value();
  const std::string name = machine_named(values);
  language::Library library(language::config_folders());
  return json(build_as_asked(find_cluster(name, values, library), values), name);
}

extern const Command topology_command;
constinit const Command topology_command{
    .name = "topology",
    .summary = "the links of a machine and the ways between its GPUs; import and export",
    .line = topology_line,
    .run = show_topology,
    .words = [](const std::string&) {
      return named_candidates({"nodes", "clusters"});
    }};

}  // namespace stepcast::app
