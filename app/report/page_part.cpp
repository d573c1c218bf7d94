#include "app/report/page_part.h"

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "app/report/json_text.h"
#include "calibrate/logs/json_text.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

using PartJson = nlohmann::ordered_json;

/// By which member of its document the result of a command is known.
struct KnownBy {
  std::string_view command, member, of_row{};  ///< of_row: what the first row has too, where several have the member
};
constexpr std::array kKnown{
    KnownBy{"run", "results"},       KnownBy{"validate", "tables"},        KnownBy{"search", "plans", "settings"},
    KnownBy{"plan", "runs", "plan"}, KnownBy{"sensitivity", "resources"},  KnownBy{"collective", "rows", "busbw_GBps"},
    KnownBy{"sweep", "points"},      KnownBy{"topology", "pairs", "kind"}, KnownBy{"diff", "parts", "difference_ps"},
};

bool fits(const PartJson& document, const KnownBy& known) {
  const auto member = document.find(known.member);
  if (member == document.end() || !member->is_array()) return false;
  if (known.of_row.empty() || member->empty()) return true;
  return member->front().is_object() && member->front().contains(known.of_row);
}

/// Throws InputError for lists and objects inside each other that are too many to be written again.
PartJson::parser_callback_t flat(const std::string& place) {
  return [place](int depth, PartJson::parse_event_t, const PartJson&) {
    if (static_cast<std::size_t>(depth) > calibrate::kDeepestJson) throw calibrate::too_deep_json(place);
    return true;
  };
}

/// Lines of --format jsonl, as one document.
PartJson points(const std::string& text, const std::string& shown) {
  PartJson all = PartJson::array();
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    ++line;
    const std::string place = shown + ":" + std::to_string(line);
    PartJson row = PartJson::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                                   text.begin() + static_cast<std::ptrdiff_t>(end), flat(place), false);
    if (!row.is_object()) throw InputError(place, "found no object of JSON, expected a row of a sweep");
    if (row.contains("point")) all.push_back(std::move(row));  // else the line behind the rows of a shard
    at = end + 1;
  }
  return {{"points", std::move(all)}};
}

}  // namespace

PagePart page_part(const std::string& text, const std::string& shown) {
  constexpr std::string_view kExpected =
      "expected what --format json of run, validate, search, sensitivity, plan, collective or diff wrote, --format "
      "jsonl of sweep, or topology --json";
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw InputError(shown, "found an empty file, " + std::string(kExpected));
  PartJson document = PartJson::parse(text, flat(shown), false);
  if (document.is_discarded() || (document.is_object() && document.contains("point"))) document = points(text, shown);
  if (!document.is_object()) throw InputError(shown, "found JSON that is no object, " + std::string(kExpected));
  for (const KnownBy& known : kKnown)
    if (fits(document, known))
      return {.kind = std::string(known.command), .title = shown, .document = json_text(document, -1)};
  throw InputError(shown, "found JSON of another kind, " + std::string(kExpected));
}

}  // namespace stepcast::app
