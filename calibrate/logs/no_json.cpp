#include "calibrate/logs/no_json.h"

#include <algorithm>

#include "sim/in_quotes.h"

namespace stepcast::calibrate {

std::string json_place(const std::string& file, std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte == 0 ? 0 : byte - 1);
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return file + ":" + std::to_string(line) + ":" + std::to_string(before.size() - begin + 1);
}

InputError no_json(const std::string& file, std::string_view text, std::size_t byte, std::string_view complaint) {
  const std::string place = json_place(file, text, byte);
  const std::string_view before = text.substr(0, byte == 0 ? 0 : byte - 1);
  if (complaint.find("ill-formed UTF-8") != std::string_view::npos)
    return {place, "found bytes that are not UTF-8, expected UTF-8 text"};
  if (complaint.find("unexpected end of input") != std::string_view::npos || byte > text.size())
    return {place, "found no JSON: the file breaks off here"};
  return {place, "found no JSON: " + in_quotes(text.substr(before.size(), 20)) + " cannot stand here"};
}

}  // namespace stepcast::calibrate
