#include "language/sites/iblinkinfo.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "language/core/type.h"
#include "language/sites/line_scanner.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

/// One end of a link, as one line tells it: no line says whether the other end is a switch.
struct LinkEnd {
  std::uint32_t lid = 0, port = 0;
  std::string description;  ///< empty: of the device whose ports are listed
};

struct SeenLink {
  LinkEnd here, there;
  Bandwidth bandwidth{};
  Place place;
};

class LinkInfoReader {
 public:
  explicit LinkInfoReader(const std::string& file) : file_(file) {}

  InfinibandFabric read(std::string_view text) {
    std::uint32_t number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      LineScanner line(text.substr(begin, end - begin), {file_, ++number, 1});
      begin = end + 1;
      one_line(line);
    }
    return fabric();
  }

 private:
  void one_line(LineScanner& line) {
    const Place place = line.line_place();
    if (line.take("Switch: ")) {
      guid(line);
      line.demand(" ");
      start_device(line, true);
    } else if (line.take("CA: ") || line.take("Router: ")) {
      start_device(line, false);
    } else {
      line.blanks();
      if (line.at_end() || line.rest().starts_with('#')) return;
      if (line.place().column == place.column && line.rest().starts_with("0x"))
        line.unexpected("what iblinkinfo prints without --line (-l), whose lines do not say what is a switch");
      one_port(line);
    }
  }

  static void guid(LineScanner& line) {
    if (!line.rest().starts_with("0x")) line.unexpected("a GUID such as 0x0002c9020046c588");
    line.word();
  }

  void start_device(LineScanner& line, bool is_switch) {
    std::string_view name = line.rest();
    while (name.ends_with(' ') || name.ends_with('\t')) name.remove_suffix(1);
    if (!name.ends_with(':')) line.unexpected("a description and a colon");
    name.remove_suffix(1);
    here_ = InfinibandDevice{std::string(name), is_switch, line.line_place()};
  }

  /// [0x0002c903000d81f9]   4    1[  ] ==( 4X   106.25 Gbps Active/  LinkUp)==>   2    3[  ] "leaf01" ( )
  void one_port(LineScanner& line) {
    if (!here_) line.unexpected("a line such as 'Switch: 0x0002c9020046c588 leaf01:' before any port");
    SeenLink link;
    link.place = line.line_place();
    if (line.rest().starts_with("0x")) {
      guid(line);
      line.blanks();
    }
    link.here.lid = line.number();
    link.here.port = port(line);
    if (here_->is_switch)
      know(link.here.lid, *here_);
    else
      adapters_.emplace(std::pair(link.here.lid, link.here.port), *here_);
    line.demand("==(");
    line.blanks();
    if (line.rest().starts_with("Down/") || line.rest().find(" Active/") == std::string_view::npos) return;
    link.bandwidth = bandwidth(line);
    line.demand("Active/");
    while (!line.at_end() && !line.take(")==>")) line.skip();
    line.blanks();
    if (line.rest().starts_with('"')) return;  // "Port not available"
    link.there.lid = line.number();
    link.there.port = port(line);
    link.there.description = std::string(line.quoted());
    links_.push_back(std::move(link));
  }

  /// "   3[  ] ", with the number on a chassis between the brackets.
  static std::uint32_t port(LineScanner& line) {
    line.blanks();
    const std::uint32_t number = line.number();
    line.demand("[");
    while (!line.at_end() && !line.rest().starts_with(']')) line.skip();
    line.demand("]");
    line.blanks();
    return number;
  }

  /// "4X    106.25 Gbps ", and "(FDR10)" behind it.
  static Bandwidth bandwidth(LineScanner& line) {
    const Place place = line.place();
    const std::string_view width = line.word();
    line.blanks();
    const std::string_view lane = line.word();
    line.blanks();
    line.demand("Gbps");
    line.blanks();
    double gbit = 0;
    const char* const end = lane.data() + lane.size();
    const auto [rest, error] = std::from_chars(lane.data(), end, gbit);
    std::optional<std::string_view> speed;
    if (error == std::errc{} && rest == end) speed = infiniband_speed(gbit);
    if (line.take("(FDR10)")) speed = "FDR10";
    line.blanks();
    const std::optional<Bandwidth> known = speed ? infiniband_bandwidth(width, *speed) : std::nullopt;
    if (!known)
      fail(place, "",
           "found a link of " + in_quotes(std::string(width) + " " + std::string(lane)) +
               " Gbps, expected lanes and what InfiniBand's signal, such as 4X 106.25");
    return *known;
  }

  void know(std::uint32_t lid, const InfinibandDevice& device) {
    const auto known = switches_.emplace(lid, device);
    if (known.first->second.place.line != device.place.line)
      fail(device.place, "",
           "found a switch of LID " + std::to_string(lid) + " a second time, expected it once (first on line " +
               std::to_string(known.first->second.place.line) + ")");
  }

  static std::string key_of(std::uint32_t lid) { return "lid" + std::to_string(lid); }

  /// Now that it is known which LIDs are switches'. An adapter's ports have a LID each.
  InfinibandFabric fabric() const {
    InfinibandFabric all;
    for (const auto& [lid, device] : switches_) all.devices.emplace(key_of(lid), device);
    const auto end = [&](const LinkEnd& seen, const Place& place) {
      if (!switches_.contains(seen.lid)) {
        const auto listed = adapters_.find(std::pair(seen.lid, seen.port));
        all.devices.emplace(key_of(seen.lid), listed != adapters_.end()
                                                  ? listed->second
                                                  : InfinibandDevice{seen.description, false, place});
      }
      return InfinibandPort{key_of(seen.lid), seen.port};
    };
    for (const SeenLink& link : links_)
      all.links.push_back({end(link.here, link.place), end(link.there, link.place), link.bandwidth, link.place});
    return all;
  }

  const std::string& file_;
  std::optional<InfinibandDevice> here_;  ///< whose ports are read
  std::map<std::uint32_t, InfinibandDevice> switches_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, InfinibandDevice> adapters_;  ///< by LID and port
  std::vector<SeenLink> links_;
};

}  // namespace

InfinibandFabric read_iblinkinfo(std::string_view text, const std::string& file) {
  InfinibandFabric fabric = LinkInfoReader(file).read(text);
  if (fabric.devices.empty()) throw InputError(file, "found no Switch and no CA, expected what iblinkinfo prints");
  return fabric;
}

}  // namespace stepcast::language
