#include "language/sites/ibnetdiscover.h"

#include <algorithm>
#include <array>
#include <optional>

#include "language/core/type.h"
#include "language/sites/line_scanner.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

/// "S-0002c9020046c588": a letter for what it is, and its GUID.
bool is_device_key(std::string_view key) {
  return key.size() > 2 && key[1] == '-' && std::string_view("SHR").find(key[0]) != std::string_view::npos &&
         key.find_first_not_of("0123456789abcdefABCDEFx", 2) == std::string_view::npos;
}

/// Some write the GUID with 0x before it, and some without its leading zeros.
std::string same_key_always(std::string_view key) {
  std::string_view guid = key.substr(2);
  if (guid.starts_with("0x")) guid.remove_prefix(2);
  while (guid.size() > 1 && guid[0] == '0') guid.remove_prefix(1);
  return std::string(1, key[0]) + '-' + std::string(guid);
}

/// Lines that say nothing of who is joined to whom.
bool says_nothing(std::string_view line) {
  static constexpr std::array<std::string_view, 9> kOthers{
      "#", "vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid=", "Chassis ", "Hostname: "};
  return line.empty() || line == "Non-Chassis Nodes" ||
         std::ranges::any_of(kOthers, [&](std::string_view other) { return line.starts_with(other); });
}

class DiscoveredReader {
 public:
  explicit DiscoveredReader(const std::string& file) : file_(file) {}

  InfinibandFabric read(std::string_view text) {
    std::uint32_t number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      LineScanner line(text.substr(begin, end - begin), {file_, ++number, 1});
      begin = end + 1;
      one_line(line);
    }
    for (const InfinibandLink& link : fabric_.links)
      if (!fabric_.devices.contains(link.to.device))
        fail(link.place, "", "found a port of " + in_quotes(link.to.device) + ", which no line describes");
    return std::move(fabric_);
  }

 private:
  void one_line(LineScanner& line) {
    if (says_nothing(line.rest())) return;
    if (line.take("["))
      one_port(line);
    else if (line.take("Switch\t") || line.take("Switch ") || line.take("Ca\t") || line.take("Ca ") ||
             line.take("Rt\t") || line.take("Rt "))
      one_device(line);
    else
      line.unexpected("a line that ibnetdiscover prints without --list or --ports");
  }

  std::string device_key(LineScanner& line) {
    const Place place = line.place();
    const std::string_view key = line.quoted();
    if (!is_device_key(key))
      fail(place, "", "found " + in_quotes(std::string(key)) + ", expected a device such as \"S-0002c9020046c588\"");
    return same_key_always(key);
  }

  /// 36 "S-0002c9020046c588"   # "MF0;leaf01:MQM9700/U1" enhanced port 0 lid 1 lmc 0
  void one_device(LineScanner& line) {
    const Place place = line.line_place();
    line.number();
    line.blanks();
    here_ = device_key(line);
    line.blanks();
    line.demand("#");
    line.blanks();
    const std::string description(line.quoted());
    const auto known = fabric_.devices.emplace(here_, InfinibandDevice{description, here_[0] == 'S', place});
    if (!known.second)
      fail(place, "",
           "found " + in_quotes(here_) + " a second time, expected it once (first on line " +
               std::to_string(known.first->second.place.line) + ")");
  }

  /// 1]   "H-946dae0300a1b2c4"[1](946dae0300a1b2c4)   # "gpu001 mlx5_0" lid 22 4xNDR
  void one_port(LineScanner& line) {
    const Place place = line.line_place();
    if (here_.empty()) fail(place, "", "found a port before any Switch or Ca, expected one of these");
    InfinibandLink link;
    link.from.device = here_;
    link.from.number = line.number();
    link.place = place;
    line.demand("]");
    skip_notes(line);
    link.to.device = device_key(line);
    line.demand("[");
    link.to.number = line.number();
    line.demand("]");
    skip_notes(line);
    line.demand("#");
    link.bandwidth = bandwidth(line);
    fabric_.links.push_back(std::move(link));
  }

  /// "[ext 3]", "(946dae0300a1b2c4)" and blanks.
  static void skip_notes(LineScanner& line) {
    for (line.blanks(); line.take("[ext ") || line.take("("); line.blanks()) {
      while (!line.at_end() && !line.take("]") && !line.take(")")) line.skip();
    }
  }

  /// Behind the '#' of a port: its last words but those of --full, s=4 w=2 v=5.
  Bandwidth bandwidth(LineScanner& line) const {
    const auto place_of = [&, all = line.rest()](const char* at) {
      Place place = line.place();
      place.column += static_cast<std::uint32_t>(at - all.data());
      return place;
    };
    std::string_view rest = line.rest();
    if (const std::size_t quote = rest.rfind('"'); quote != std::string_view::npos) rest.remove_prefix(quote + 1);
    for (std::size_t at = 0; at < rest.size();) {
      const std::size_t begin = rest.find_first_not_of(" \t\r", at);
      if (begin == std::string_view::npos) break;
      at = std::min(rest.find_first_of(" \t\r", begin), rest.size());
      const std::string_view word = rest.substr(begin, at - begin);
      const std::size_t x = word.find('x');
      if (x == std::string_view::npos || x == 0 || x + 1 == word.size() || word.find('=') != std::string_view::npos)
        continue;
      if (const std::optional<Bandwidth> known = infiniband_bandwidth(word.substr(0, x + 1), word.substr(x + 1)))
        return *known;
      fail(place_of(word.data()), "",
           "found the link speed " + in_quotes(std::string(word)) +
               ", expected lanes and a speed from SDR to XDR, such as 4xNDR");
    }
    fail(place_of(rest.data() + rest.size()), "",
         "found no link speed, expected lanes and a speed at the line's end, such as 4xNDR");
  }

  const std::string& file_;
  std::string here_;  ///< the device whose ports are read
  InfinibandFabric fabric_;
};

}  // namespace

InfinibandFabric read_ibnetdiscover(std::string_view text, const std::string& file) {
  InfinibandFabric fabric = DiscoveredReader(file).read(text);
  if (fabric.devices.empty()) throw InputError(file, "found no Switch and no Ca, expected what ibnetdiscover prints");
  return fabric;
}

}  // namespace stepcast::language
