#include "language/configs/network_shares.h"

#include <charconv>
#include <string>

#include "language/core/convert.h"
#include "sim/in_quotes.h"

namespace stepcast::language {
namespace {

/// The number that a text is from end to end; else 0, which is neither a share nor a number of nodes.
template <class T>
T whole_text(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : T{};
}

}  // namespace

std::vector<collectives::ShareOverNodes> network_shares(const Value& list) {
  std::vector<collectives::ShareOverNodes> shares;
  for (const Value& item : items(text_type(), list)) {
    const std::string& text = item.text;
    const std::size_t at = text.find(" at ");
    const double share = whole_text<double>(text.substr(0, at));
    const std::uint32_t nodes = at == std::string::npos ? 0 : whole_text<std::uint32_t>(text.substr(at + 4));
    if (!(share > 0 && share <= 1) || nodes < 2)
      fail(item.node->place, item.path,
           "found " + in_quotes(text) +
               ", expected a share above 0, at most 1, and 2 nodes or more, such as '0.4 at 16'");
    if (!shares.empty() && nodes <= shares.back().nodes)
      fail(item.node->place, item.path,
           "found " + std::to_string(nodes) + " nodes behind " + std::to_string(shares.back().nodes) +
               ", expected rising numbers of nodes");
    shares.push_back({nodes, share});
  }
  return shares;
}

}  // namespace stepcast::language
