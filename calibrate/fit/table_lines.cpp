#include "calibrate/fit/table_lines.h"

#include <fstream>
#include <istream>

#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {

void read_table_lines(const std::string& path, const std::string& header,
                      const std::function<void(const std::string& line, const std::string& place)>& row) {
  std::ifstream file(path);
  if (!file) throw InputError(path, "no such file");
  parse_table_lines(file, path, header, row);
}

void parse_table_lines(std::istream& table, const std::string& path, const std::string& header,
                       const std::function<void(const std::string& line, const std::string& place)>& row) {
  std::string line;
  bool past_header = false;
  for (int number = 1; std::getline(table, line); ++number) {
    const std::string place = path + ":" + std::to_string(number);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line[0] == '#') continue;
    if (past_header) {
      row(line, place);
    } else if (line == header) {
      past_header = true;
    } else {
      throw InputError(place, "found " + in_quotes(line) + ", expected the header '" + header + "'");
    }
  }
}

}  // namespace stepcast::calibrate
