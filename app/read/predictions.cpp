#include "app/read/predictions.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "app/read/csv.h"
#include "app/read/file_text.h"
#include "app/read/type.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

std::vector<OldPrediction> from_json(const std::string& text, const std::string& shown) {
  std::vector<OldPrediction> out;
  try {
    const nlohmann::json all = nlohmann::json::parse(text);
    for (const auto& row : all.at("rows")) {
      const auto& seconds = row.at("predicted_s");
      out.push_back({row.at("table").get<std::string>(), row.at("name").get<std::string>(),
                     seconds.is_null() ? std::nullopt : std::optional(seconds.get<double>())});
    }
  } catch (const nlohmann::json::exception& e) {
    throw InputError(shown, std::string("expected what validate --format json writes: ") + e.what());
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
        fail(row[*predicted].place, "", "found '" + seconds + "', expected seconds");
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
  const bool json = file.extension() == ".json" || (first != std::string::npos && text[first] == '{');
  return json ? from_json(text, shown) : from_csv(text, shown);
}

}  // namespace stepcast::app
