#include "app/report/text_table.h"

#include <algorithm>
#include <utility>

#include "language/core/visible_text.h"
#include "language/tables/csv.h"

namespace stepcast::app {
namespace {

constexpr std::string_view kBetween = "  ";
constexpr std::size_t kBarColumns = 16, kNarrow = 60;  // a terminal that is narrower has no room for bars
constexpr std::size_t kLeastWords = 20;                // columns that words are wrapped in
std::optional<Terminal> shown_on;

/// What fits of `text` into so many columns, cut at a blank where there is one, and taken off its front.
std::string taken_line(std::string& text, std::size_t columns) {
  if (text.size() <= columns) return std::exchange(text, "");
  const std::size_t blank = text.rfind(' ', columns);
  const std::size_t end = blank == text.npos || blank == 0 ? std::min(text.find(' '), text.size()) : blank;
  std::string line = text.substr(0, end);
  text.erase(0, std::min(text.find_first_not_of(' ', end), text.size()));
  return line;
}

}  // namespace

void TextTable::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = language::visible(cell);
  rows_.push_back(std::move(cells));
}

void TextTable::draw_bars(std::size_t beside, std::vector<Bar> bars) {
  beside_ = beside;
  bars_ = std::move(bars);
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(column.title.size());
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  return widths;
}

std::string TextTable::text(std::string_view indent) const {
  const std::vector<std::size_t> width = widths();
  const bool has_bars = shown_on && shown_on->width >= kNarrow && !bars_.empty();
  double longest = 0;
  for (const Bar& bar : bars_) longest = std::max(longest, bar.length());
  std::string out;
  // `row`: whose bar it has; the title line has none.
  const auto line = [&](std::size_t first, std::size_t end, std::optional<std::size_t> row, const auto& cell_at) {
    std::string text(indent);
    const auto add = [&](std::size_t i) {
      const std::string& cell = cell_at(i);
      const std::string blanks(width[i] - cell.size(), ' ');
      text += columns_[i].align == Align::left ? cell + blanks : blanks + cell;
      if (!has_bars || i != beside_) return;
      text += kBetween;
      text += bar_text(row ? bars_[*row] : Bar{}, longest, kBarColumns, *shown_on);
    };
    const std::size_t last = end - 1;
    const auto has_bar = [&](std::size_t i) { return has_bars && i == beside_; };
    std::size_t at = indent.size();  // the column of the terminal
    for (std::size_t i = 0; i < last; i = std::max(i + 1, first)) {
      add(i);
      text += kBetween;
      at += width[i] + kBetween.size() + (has_bar(i) ? kBetween.size() + kBarColumns : 0);
    }
    const bool has_words = last > 0 && columns_[last].align == Align::left && !has_bar(last);
    if (has_words && shown_on && at + kLeastWords <= shown_on->width) {
      std::string words = cell_at(last);
      text += taken_line(words, shown_on->width - at);
      while (!words.empty()) text += "\n" + std::string(at, ' ') + taken_line(words, shown_on->width - at);
    } else {
      add(last);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  if (columns_.empty()) return out;
  for (std::size_t first = 1; first == 1 || first < columns_.size();) {
    std::size_t end = first, wide = indent.size() + width[0];
    while (end < columns_.size()) {
      // What has no title is remarks, which stay where they are.
      if (!columns_[end].title.empty()) wide += kBetween.size() + width[end];
      if (has_bars && end == beside_) wide += kBetween.size() + kBarColumns;
      if (end > first && shown_on && wide > shown_on->width) break;
      ++end;
    }
    if (first > 1) out += "\n";
    line(first, end, std::nullopt, [&](std::size_t i) -> const std::string& { return columns_[i].title; });
    for (std::size_t row = 0; row < rows_.size(); ++row)
      line(first, end, row, [&](std::size_t i) -> const std::string& { return rows_[row][i]; });
    first = std::max(end, first + 1);
  }
  return out;
}

void show_tables_on(std::optional<Terminal> terminal) { shown_on = terminal; }
const std::optional<Terminal>& tables_shown_on() { return shown_on; }

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i)
    line += (i > 0 ? "," : "") + language::csv_cell(language::visible_lines(cells[i]));
  return line + "\n";
}

}  // namespace stepcast::app
