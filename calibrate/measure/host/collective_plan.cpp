#include "calibrate/measure/host/collective_plan.h"

#include <numeric>

namespace stepcast::measure {

std::string nccl_algo(const NcclSetting& setting) {
  if (setting.algorithm == "ring") return "Ring";
  if (setting.algorithm == "tree") return "Tree";
  if (setting.algorithm == "nvls") return "NVLS";
  if (setting.algorithm == "nvls_tree") return "NVLSTree";
  if (setting.algorithm == "pat") return "PAT";
  return "";
}

std::string nccl_proto(const NcclSetting& setting) { return setting.protocol == "auto" ? "" : setting.protocol; }

std::vector<NcclSetting> nccl_settings(bool nvls, int nodes, bool quick) {
  std::vector<NcclSetting> settings{{}};
  for (const char* algorithm : {"ring", "tree"}) {
    for (const char* protocol : {"Simple", "LL128", "LL"}) settings.push_back({algorithm, protocol});
  }
  if (nvls) settings.push_back({"nvls", "Simple"});
  if (nvls && nodes > 1) settings.push_back({"nvls_tree", "Simple"});
  if (quick) settings.resize(1);
  return settings;
}

std::vector<CollectiveCase> collective_plan(const NcclSetting& setting, int gpus, int nodes, bool quick) {
  std::vector<int> sizes;
  if (gpus * nodes > 1) sizes.push_back(gpus);
  for (int size = nodes > 1 ? 1 : 2; size < gpus; ++size) sizes.push_back(size);
  if (quick && sizes.size() > 1) sizes.erase(sizes.begin() + 1, sizes.end());

  std::vector<CollectiveCase> cases;
  for (const int size : sizes) {
    std::vector<int> part(static_cast<std::size_t>(size));
    std::iota(part.begin(), part.end(), 0);
    const auto add = [&](const char* collective, const char* redop, bool in_place) {
      cases.push_back({collective, part, redop, in_place});
    };
    const bool own = setting.algorithm == "auto", ring = setting.algorithm == "ring";
    add("all_reduce", "sum", false);
    if (own) add("all_reduce", "sum", true);
    if (own || ring || setting.algorithm == "nvls") {
      add("all_gather", "-", false);
      add("reduce_scatter", "sum", false);
    }
    if (own || ring) {
      add("broadcast", "-", false);
      add("reduce", "sum", false);
    }
    if (own) {
      add("all_to_all", "-", false);
      add("send_recv", "-", false);
    }
  }
  return cases;
}

double bus_factor(const std::string& collective, int ranks) {
  const double others = (ranks - 1.0) / ranks;
  if (collective == "all_reduce") return 2 * others;
  if (collective == "all_gather" || collective == "reduce_scatter" || collective == "all_to_all") return others;
  return 1;
}

Counts counts_of(const std::string& collective, std::int64_t bytes, std::int64_t element, int ranks) {
  const bool gather = collective == "all_gather", scatter = collective == "reduce_scatter";
  std::int64_t all = bytes / element;
  if (gather || scatter || collective == "all_to_all") all -= all % ranks;
  return {gather ? all / ranks : all, scatter ? all / ranks : all, all * element};
}

}  // namespace stepcast::measure
