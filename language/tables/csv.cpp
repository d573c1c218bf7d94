#include "language/tables/csv.h"

#include "language/core/file_text.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

constexpr std::size_t kMostColumns = 1000, kMostCells = 2'000'000;

/// Walks the text and knows the place of the next character.
class Cursor {
 public:
  Cursor(std::string_view text, const std::string& file) : text_(text), place_{file, 1, 1} {}

  bool done() const { return at_ == text_.size(); }
  char peek() const { return done() ? '\0' : text_[at_]; }
  bool at_line_end() const { return done() || peek() == '\n' || peek() == '\r'; }
  const Place& place() const { return place_; }

  char take() {
    const char c = text_[at_++];
    const bool ends = c == '\n' || (c == '\r' && peek() != '\n');
    if (ends) {
      ++place_.line;
      place_.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xc0u) != 0x80u) {
      ++place_.column;  // once a character, not once a byte
    }
    return c;
  }

  void take_line_end() {
    if (!done() && take() == '\r' && peek() == '\n') take();
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  Place place_;
};

void read_quoted(Cursor& cursor, Cell& cell) {
  cursor.take();
  for (;;) {
    if (cursor.done()) {
      throw InputError(text(cell.place), "found a quote that never ends, expected a closing \"");
    }
    const char c = cursor.take();
    if (c != '"') {
      cell.text += c;
    } else if (cursor.peek() == '"') {
      cell.text += cursor.take();
    } else {
      break;
    }
  }
  if (!cursor.at_line_end() && cursor.peek() != ',') {
    throw InputError(text(cursor.place()),
                     "found more after a closing quote, expected a comma (write \"\" for a quote)");
  }
}

void read_plain(Cursor& cursor, Cell& cell) {
  while (!cursor.at_line_end() && cursor.peek() != ',') {
    if (cursor.peek() == '"') {
      throw InputError(text(cursor.place()), "found a quote inside a cell, expected the whole cell in quotes");
    }
    cell.text += cursor.take();
  }
  const std::size_t first = cell.text.find_first_not_of(" \t");
  if (first == std::string::npos) {
    cell.text.clear();
  } else {
    cell.text = cell.text.substr(first, cell.text.find_last_not_of(" \t") - first + 1);
  }
}

Cell read_cell(Cursor& cursor) {
  Cell cell{{}, cursor.place()};
  if (cursor.peek() == '"') {
    read_quoted(cursor, cell);
  } else {
    read_plain(cursor, cell);
  }
  return cell;
}

}  // namespace

std::vector<Record> parse_csv(std::string_view bytes, const std::string& file) {
  Cursor cursor(checked_text(bytes, file), file);
  std::vector<Record> records;
  std::size_t cells = 0;
  const auto next = [&] {
    if (++cells > kMostCells) throw InputError(text(cursor.place()), "found more than 2000000 cells, expected fewer");
    return read_cell(cursor);
  };
  while (!cursor.done()) {
    if (cursor.at_line_end()) {
      cursor.take_line_end();
      continue;
    }
    Record record{next()};
    while (cursor.peek() == ',') {
      cursor.take();
      if (record.size() == kMostColumns) {
        throw InputError(text(cursor.place()), "found more than 1000 cells in one row, expected fewer");
      }
      record.push_back(next());
    }
    cursor.take_line_end();
    records.push_back(std::move(record));
  }
  return records;
}

std::string csv_cell(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const bool blank_ends = !text.empty() && (kBlanks.find(text.front()) != std::string_view::npos ||
                                            kBlanks.find(text.back()) != std::string_view::npos);
  const bool marked = text.starts_with("\xef\xbb\xbf");  // unquoted at the start of a file it would be skipped
  if (text.find_first_of(",\"\r\n") == std::string_view::npos && !blank_ends && !marked) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace stepcast::language
