#include "calibrate/measure/host/collective_plan.h"

#include <algorithm>
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

std::vector<GpuGroup> gpu_groups(const std::vector<int>& numa, int nodes, bool quick) {
  const int gpus = static_cast<int>(numa.size());
  std::vector<GpuGroup> groups;
  const auto add = [&](GpuGroup group) {
    std::sort(group.begin(), group.end());
    if (static_cast<int>(group.size()) * nodes < 2) return;
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(std::move(group));
  };
  const auto first = [&](int size) {
    GpuGroup group(static_cast<std::size_t>(size));
    std::iota(group.begin(), group.end(), 0);
    return group;
  };
  if (gpus > 0) add(first(gpus));
  if (quick) return groups;
  for (int size = 1; size < gpus; ++size) add(first(size));
  if (gpus < 3) return groups;

  GpuGroup near, far, second;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    const int here = numa[static_cast<std::size_t>(gpu)];
    (here == numa[0] ? near : far).push_back(gpu);
    if (gpu % 2 == 0) second.push_back(gpu);
  }
  if (far.empty()) {
    far.assign(near.begin() + (gpus + 1) / 2, near.end());
    near.resize(static_cast<std::size_t>((gpus + 1) / 2));
  }
  add({near[0], far[0]});
  if (near.size() > 1 && far.size() > 1) add({near[0], near[1], far[0], far[1]});
  add(second);
  add(far);
  return groups;
}

std::string listed(const GpuGroup& group) {
  std::string text;
  for (const int gpu : group) text += (text.empty() ? "" : " ") + std::to_string(gpu);
  return text;
}

std::string group_suffix(const GpuGroup& group) {
  if (group.empty() || group.back() + 1 == static_cast<int>(group.size())) return "";
  std::string text = "-gpus";
  for (const int gpu : group) text += "-" + std::to_string(gpu);
  return text;
}

std::vector<CollectiveCase> collective_plan(const NcclSetting& setting, const std::vector<GpuGroup>& groups) {
  std::vector<CollectiveCase> cases;
  for (const GpuGroup& group : groups) {
    const auto add = [&](const char* collective, const char* redop, bool in_place) {
      cases.push_back({collective, group, redop, in_place});
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
