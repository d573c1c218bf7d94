#include "language/tables/predictions.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "calibrate/logs/json_text.h"
#include "language/core/file_text.h"
#include "language/core/type.h"
#include "language/tables/csv.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

constexpr const char* kWritten = ", expected what validate --format json writes";

std::vector<OldPrediction> from_json(const std::string& text, const std::string& shown) {
  using nlohmann::json;
  calibrate::check_json_text(shown, text);
  const json all = json::parse(text);
  const auto rows = all.is_object() ? all.find("rows") : all.end();
  if (!all.is_object() || rows == all.end() || !rows->is_array())
    throw InputError(shown, std::string("found no list 'rows'") + kWritten);
  std::vector<OldPrediction> out;
  for (const json& row : *rows) {
    const std::string path = "rows[" + std::to_string(out.size()) + "]";
    const auto member = [&](const char* key, bool (json::*fits)() const noexcept, const char* what) {
      const auto at = row.is_object() ? row.find(key) : row.end();
      if (row.is_object() && at != row.end() && ((*at).*fits)()) return *at;
      throw InputError(shown, path + "." + key + ": found no " + what + kWritten);
    };
    OldPrediction old{member("table", &json::is_string, "text"), member("name", &json::is_string, "text"), {}};
    if (!row.contains("predicted_s") || !row["predicted_s"].is_null())
      old.predicted_s = member("predicted_s", &json::is_number, "number").get<double>();
    out.push_back(std::move(old));
  }
  return out;
}

std::vector<OldPrediction> from_csv(const std::string& text, const std::string& shown) {
  const std::vector<Record> records = parse_csv(text, shown);
  if (records.empty()) throw InputError(shown, "found no header, expected the columns name and predicted_s");
  const auto column = [&](std::string_view name) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < records.front().size(); ++i)
      if (records.front()[i].text == name) return i;
    return std::nullopt;
  };
  const auto name = column("name"), predicted = column("predicted_s"), table = column("table");
  if (!name || !predicted)
    fail(records.front().front().place, "",
         "found no columns name and predicted_s, expected what validate --format csv writes");
  std::vector<OldPrediction> out;
  for (std::size_t i = 1; i < records.size(); ++i) {
    const Record& row = records[i];
    if (row.size() != records.front().size())
      fail(row.front().place, "",
           "found " + std::to_string(row.size()) + " cells, expected " + std::to_string(records.front().size()));
    OldPrediction old{table ? row[*table].text : "", row[*name].text, {}};
    const std::string& seconds = row[*predicted].text;
    if (!seconds.empty() && seconds != "-") {
      double value = 0;
      const auto [end, error] = std::from_chars(seconds.data(), seconds.data() + seconds.size(), value);
      if (error != std::errc() || end != seconds.data() + seconds.size())
        fail(row[*predicted].place, "", "found " + in_quotes(seconds) + ", expected seconds");
      old.predicted_s = value;
    }
    out.push_back(std::move(old));
  }
  return out;
}

}  // namespace

std::vector<OldPrediction> read_predictions(const std::filesystem::path& file) {
  const std::string shown = shown_path(file), text = read_file(file, shown);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (file.extension() == ".yaml" || file.extension() == ".yml")
    throw InputError(shown, "found a scenario, expected what validate --format csv or json wrote");
  const bool json = file.extension() == ".json" || (first != std::string::npos && text[first] == '{');
  return json ? from_json(text, shown) : from_csv(text, shown);
}

}  // namespace stepcast::language
