#include "calibrate/bundle/measured_table.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

constexpr std::string_view kFirstLine = "# stepcast measurement 1";
constexpr std::size_t kLongestRun = 64;
constexpr std::size_t kMostRows = 200'000;

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : ",") + std::string(word);
  return text;
}

/// Lines of a text one after the other, without their ends.
class LineReader {
 public:
  LineReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  bool next() {
    if (text_.empty()) return false;
    ++number_;
    const std::size_t end = std::min(text_.find('\n'), text_.size());
    line_ = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    const auto odd = std::ranges::find_if(line_, [](char c) { return c < ' ' || c > '~'; });
    if (odd != line_.end()) fail("found a byte that is no printable ASCII character");
    return true;
  }
  std::string_view line() const { return line_; }
  std::string place() const { return file_ + ":" + std::to_string(number_); }
  [[noreturn]] void fail(const std::string& what) const { throw InputError(place(), what); }

 private:
  std::string_view text_;
  const std::string& file_;
  std::string_view line_{};
  std::uint32_t number_ = 0;
};

bool is_run_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestRun && std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
           c == '.';
  });
}

std::vector<std::string> split(const LineReader& lines, std::size_t columns, bool rest_in_last) {
  std::vector<std::string> cells;
  std::string_view line = lines.line();
  for (;;) {
    std::string cell;
    if (line.starts_with('"')) {
      line.remove_prefix(1);
      for (;;) {
        if (line.empty()) lines.fail("found a quote that never ends");
        const char c = line.front();
        line.remove_prefix(1);
        if (c != '"') {
          cell += c;
        } else if (line.starts_with('"')) {
          cell += c;
          line.remove_prefix(1);
        } else {
          break;
        }
      }
      if (!line.empty() && line.front() != ',') lines.fail("found more after a closing quote, expected a comma");
    } else {
      const bool last = rest_in_last && cells.size() + 1 == columns;
      const std::size_t end = last ? line.size() : std::min(line.find(','), line.size());
      cell = line.substr(0, end);
      line.remove_prefix(end);
    }
    cells.push_back(std::move(cell));
    if (line.empty()) return cells;
    line.remove_prefix(1);
  }
}

/// N of the line "# end N".
std::optional<std::size_t> rows_told(std::string_view line) {
  constexpr std::string_view kEnd = "# end ";
  if (!line.starts_with(kEnd)) return {};
  line.remove_prefix(kEnd.size());
  std::size_t rows = 0;
  const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), rows);
  if (error != std::errc{} || stop != line.data() + line.size()) return {};
  return rows;
}

}  // namespace

MeasuredTable parse_measured_table(std::string_view text, const std::string& file,
                                   std::span<const std::string_view> columns, bool rest_in_last) {
  constexpr std::string_view kRun = "# run ";
  LineReader lines(text, file);
  if (!lines.next() || lines.line() != kFirstLine) {
    throw InputError(file + ":1", "expected the line '" + std::string(kFirstLine) + "'");
  }
  if (!lines.next() || !lines.line().starts_with(kRun) || !is_run_name(lines.line().substr(kRun.size()))) {
    throw InputError(file + ":2", "expected the line '# run ID', the ID of letters, digits, '-', '_' and '.'");
  }
  MeasuredTable table{std::string(lines.line().substr(kRun.size())), {}};
  bool header = false;
  while (lines.next()) {
    if (const std::optional<std::size_t> rows = header ? rows_told(lines.line()) : std::nullopt) {
      if (*rows != table.rows.size()) {
        lines.fail("found " + std::to_string(table.rows.size()) + " rows, expected the " + std::to_string(*rows) +
                   " that this line says");
      }
      if (lines.next()) lines.fail("found more after the line '# end " + std::to_string(*rows) + "'");
      return table;
    }
    if (lines.line().starts_with('#')) continue;
    if (!header) {
      if (lines.line() != joined(columns)) {
        lines.fail("found another header, expected '" + joined(columns) + "'");
      }
      header = true;
      continue;
    }
    if (table.rows.size() == kMostRows) lines.fail("found more than 200000 rows, expected fewer");
    MeasuredRow row{lines.place(), split(lines, columns.size(), rest_in_last)};
    if (row.cells.size() != columns.size()) {
      lines.fail("found " + std::to_string(row.cells.size()) + " cells, expected the header's " +
                 std::to_string(columns.size()));
    }
    table.rows.push_back(std::move(row));
  }
  lines.fail("the file breaks off here, expected the line '# end " + std::to_string(table.rows.size()) + "' last");
}

}  // namespace stepcast::calibrate
