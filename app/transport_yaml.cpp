#include "app/transport_yaml.h"

#include <fmt/format.h>

#include "language/core/visible_text.h"

namespace stepcast::app {

std::string constant_line(const std::string& indent, const std::string& key, const calibrate::FittedConstant& c) {
  const std::string value = c.microseconds ? fmt::format("{:.3f} us", c.value) : fmt::format("{:.4f}", c.value);
  return fmt::format("{}{}: {}  # {}\n", indent, key, value,
                     c.identified ? fmt::format("95 %: {:.3g} to {:.3g}", c.low, c.high) : "not told: " + c.why);
}

std::string transport_yaml(const std::string& name, const collectives::Transport& transport,
                           std::span<const calibrate::FittedConstant> constants, const std::string& source) {
  std::string yaml = fmt::format("name: {}\ntransport:\n", language::visible(name));
  if (transport.nccl_version != collectives::Transport{}.nccl_version)
    yaml += fmt::format("  nccl_version: {}\n", transport.nccl_version);
  if (transport.buffer.value > 0) yaml += fmt::format("  buffer: {} B\n", transport.buffer.value);
  yaml += fmt::format("  channels: {}\n", transport.channels);
  if (transport.as_nccl_picks) yaml += "  as_nccl_picks: true\n";
  if (transport.network_of_links) yaml += "  network_of_links: true\n";
  if (transport.host_copy_efficiency < 1)
    yaml += fmt::format("  host_copy_efficiency: {:.4g}  # not fitted: docs/nccl.md\n", transport.host_copy_efficiency);
  if (transport.host_staging_bandwidth)
    yaml += fmt::format("  host_staging_bandwidth: {:.4g} GB/s  # not fitted: docs/nccl.md\n",
                        transport.host_staging_bandwidth->value / 1e9);
  std::string block;
  for (const calibrate::FittedConstant& c : constants) {
    std::string key = c.name, indent = "  ";
    if (const std::size_t dot = key.find('.'); dot != std::string::npos) {
      if (c.why == "the stack does not have this protocol") continue;
      if (key.substr(0, dot) != block) yaml += fmt::format("  {}:\n", block = key.substr(0, dot));
      key = key.substr(dot + 1);
      indent = "    ";
    }
    yaml += constant_line(indent, key, c);
  }
  return yaml + fmt::format("  chunk: {} B\nsource: >-\n  {}\n", transport.chunk.value, source);
}

}  // namespace stepcast::app
