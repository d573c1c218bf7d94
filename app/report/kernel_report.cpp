#include "app/report/kernel_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "app/report/json_text.h"
#include "app/report/text_table.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using calibrate::DeviceTime;
using calibrate::KernelClass;
using calibrate::KernelTotal;
using nlohmann::ordered_json;

constexpr std::size_t kShownKernels = 25, kShownName = 72;
constexpr std::array kClasses{KernelClass::gemm, KernelClass::attention, KernelClass::elementwise,
                              KernelClass::collective, KernelClass::copy};

/// Names of templates are longer than screens, and a file may hold any bytes.
std::string shown_name(const std::string& name) {
  std::string out = name.substr(0, kShownName);
  for (char& c : out)
    if (c < ' ' || c > '~') c = '?';
  return name.size() > kShownName ? out.substr(0, kShownName - 3) + "..." : out;
}

std::string share_text(Time part, Time whole) {
  return whole == Time{} ? "-" : fmt::format("{:.1f}%", 100 * (part / whole));
}

}  // namespace

std::string kernels_table(const calibrate::KernelTable& table) {
  Time all{};
  for (const KernelTotal& kernel : table.kernels) all += kernel.total;
  TextTable classes({{"class", TextTable::Align::left}, {"runs"}, {"total"}, {"share"}});
  for (const KernelClass kind : kClasses) {
    std::uint64_t count = 0;
    Time total{};
    for (const KernelTotal& kernel : table.kernels) {
      if (kernel.kind != kind) continue;
      count += kernel.count;
      total += kernel.total;
    }
    if (count > 0) classes.add({std::string(name(kind)), std::to_string(count), text(total), share_text(total, all)});
  }
  TextTable devices({{"device", TextTable::Align::left},
                     {"span"},
                     {"compute"},
                     {"collectives"},
                     {"of them beside compute"},
                     {"copies"}});
  for (const DeviceTime& d : table.devices) {
    devices.add({std::to_string(d.device), text(d.span), text(d.compute), text(d.collective),
                 share_text(d.hidden, d.collective), text(d.copy)});
  }
  TextTable kernels(
      {{"kernel", TextTable::Align::left}, {"class", TextTable::Align::left}, {"runs"}, {"total"}, {"median"}});
  for (std::size_t i = 0; i < std::min(table.kernels.size(), kShownKernels); ++i) {
    const KernelTotal& k = table.kernels[i];
    kernels.add(
        {shown_name(k.name), std::string(name(k.kind)), std::to_string(k.count), text(k.total), text(k.median)});
  }
  std::string out = classes.text() + "\n" + devices.text() + "\n" + kernels.text();
  if (table.kernels.size() > kShownKernels)
    out += fmt::format("and {} more: --out or --format csv has all\n", table.kernels.size() - kShownKernels);
  return out;
}

std::string kernels_json(const calibrate::KernelTable& table) {
  ordered_json kernels = ordered_json::array(), devices = ordered_json::array();
  for (const KernelTotal& k : table.kernels) {
    kernels.push_back({{"name", k.name},
                       {"class", name(k.kind)},
                       {"count", k.count},
                       {"total_s", to_seconds(k.total)},
                       {"median_s", to_seconds(k.median)}});
  }
  for (const DeviceTime& d : table.devices) {
    devices.push_back({{"device", d.device},
                       {"span_s", to_seconds(d.span)},
                       {"compute_s", to_seconds(d.compute)},
                       {"collective_s", to_seconds(d.collective)},
                       {"collective_beside_compute_s", to_seconds(d.hidden)},
                       {"copy_s", to_seconds(d.copy)}});
  }
  return json_text({{"kernels", std::move(kernels)}, {"devices", std::move(devices)}});
}

std::string kernels_csv(const calibrate::KernelTable& table) {
  std::string out = csv_line({"name", "class", "count", "total_s", "median_s"});
  for (const KernelTotal& k : table.kernels) {
    out += csv_line({k.name, std::string(name(k.kind)), std::to_string(k.count),
                     fmt::format("{:.9f}", to_seconds(k.total)), fmt::format("{:.9f}", to_seconds(k.median))});
  }
  return out;
}

std::string facts_table(const Facts& facts) {
  TextTable out({{"fact", TextTable::Align::left}, {"value", TextTable::Align::left}});
  for (const auto& [key, value] : facts) out.add({key, shown_name(value)});
  return out.text();
}

std::string facts_json(const Facts& facts) {
  ordered_json out = ordered_json::object();
  for (const auto& [key, value] : facts) out[key] = value;
  return json_text(out);
}

std::string facts_csv(const Facts& facts) {
  std::string out = csv_line({"key", "value"});
  for (const auto& [key, value] : facts) out += csv_line({key, value});
  return out;
}

}  // namespace stepcast::app
