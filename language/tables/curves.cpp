#include "language/tables/curves.h"

#include <algorithm>

#include "collectives/algorithms.h"
#include "language/configs/cluster.h"
#include "language/configs/nccl_release.h"
#include "language/core/file_text.h"
#include "language/core/given.h"
#include "language/core/library.h"
#include "language/core/merge.h"
#include "language/core/read_mapping.h"
#include "language/tables/csv.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

namespace fs = std::filesystem;
using collectives::kOperations;
using collectives::Operation;

Names operation_names() {
  Names names;
  for (const Operation each : kOperations) names.emplace_back(collectives::name(each));
  return names;
}

Names use_names() { return {"fitted", "held out"}; }

struct CurveDraft {
  std::string curve, machine, software, nccl_version, algorithm = "nccl";
  Operation operation = Operation::all_reduce;
  std::uint32_t gpus_per_process = 1;
  bool fitted = false;
  schedules::ClusterSpec cluster;
};

using D = CurveDraft;

const Table<CurveDraft>& curve_table() {
  static const Table<CurveDraft> table(
      "Curve", "",
      {
          {{"curve", text_type(), kRequired, "the file beside the table, without .csv"},
           [](D& d, const Value& v) { d.curve = v.text; }},
          {{"machine", text_type(), "", "the installation, as this source recorded it"},
           [](D& d, const Value& v) { d.machine = v.text; }},
          {{"operation", choice(operation_names), kRequired, "what was timed"},
           [](D& d, const Value& v) { d.operation = kOperations[static_cast<std::size_t>(v.choice)]; }},
          {{"cluster", block(cluster_schema), kRequired, "where"},
           [](D& d, const Value& v) { d.cluster = finish(read_block(cluster_table(), v), v); }},
          {{"gpus_per_process", whole(1, 1024), "1", "nccl-tests' -g times -t"},
           [](D& d, const Value& v) { d.gpus_per_process = static_cast<std::uint32_t>(v.whole); }},
          {{"algorithm", text_type(), "nccl", "what the run was forced to: ring, ring/LL, ..."},
           [](D& d, const Value& v) { d.algorithm = v.text; }},
          {{"nccl_version", text_type(), "the stack's", "the release that ran, whose picks algorithm nccl takes"},
           [](D& d, const Value& v) { d.nccl_version = nccl_release(v); }},
          {{"software", text_type(), kRequired, "the stack that predicts it"},
           [](D& d, const Value& v) { d.software = v.text; }},
          {{"use", choice(use_names), "held out", "whether constants are fitted to it"},
           [](D& d, const Value& v) { d.fitted = v.choice == 0; }},
      });
  return table;
}

}  // namespace

bool is_curve_table(std::string_view content, const std::string& shown) {
  const std::vector<Record> records = parse_csv(content, shown);
  if (records.empty()) return false;
  return std::ranges::any_of(records.front(), [](const Cell& cell) { return cell.text == "curve"; });
}

std::vector<CurveRow> read_curves(const fs::path& table, Library& library) {
  return parse_curves(read_file(table, shown_path(table)), table, library);
}

std::vector<CurveRow> parse_curves(std::string_view content, const fs::path& table, Library& library) {
  const std::string shown = shown_path(table);
  const std::vector<Record> records = parse_csv(content, shown);
  if (!records.empty())
    for (const Cell& column : records.front()) require_key(curve_table().schema, column.text, column.place);
  std::vector<CurveRow> rows;
  for (std::size_t i = 1; i < records.size(); ++i) {
    const Record& record = records[i];
    if (record.size() != records.front().size()) {
      throw InputError(text(record.front().place), "found " + std::to_string(record.size()) + " cells, expected " +
                                                       std::to_string(records.front().size()));
    }
    std::vector<Given> given;
    for (std::size_t c = 0; c < record.size(); ++c)
      if (!record[c].text.empty()) given.push_back({records.front()[c].text, record[c].text, record[c].place});
    const Node row = layer_of(curve_table().schema, std::move(given), record.front().place);
    CurveDraft draft;
    read(curve_table(), row, "", library, draft);
    topology::Cluster cluster =
        topology::build_cluster(draft.cluster.node, draft.cluster.fabric, draft.cluster.gpus, draft.cluster.allocation);
    const std::uint32_t nodes = cluster.nodes();
    collectives::Group group;
    for (std::uint32_t g = 0; g < draft.cluster.gpus; ++g) group.push_back(topology::GpuId{g});
    rows.push_back(
        {.curve = {.name = draft.curve,
                   .operation = draft.operation,
                   .cluster = std::move(cluster),
                   .group = std::move(group),
                   .gpus_per_process = draft.gpus_per_process,
                   .algorithm = draft.algorithm,
                   .nccl_version = draft.nccl_version,
                   .points = calibrate::read_curve_points(beside({shown, 1, 1}, draft.curve + ".csv").string())},
         .software = draft.software,
         .link = nodes > 1 ? draft.cluster.node.nic->name : std::string(),
         .machine = draft.machine.empty() ? draft.curve : draft.machine,
         .fitted = draft.fitted});
  }
  if (rows.empty()) throw InputError(shown, "found no row, expected at least one curve");
  return rows;
}

}  // namespace stepcast::language
