#include "app/report/text_table.h"

#include <algorithm>
#include <utility>

#include "language/core/visible_text.h"
#include "language/tables/csv.h"

namespace stepcast::app {
namespace {

constexpr std::string_view kBetween = "  ";
constexpr std::size_t kBarColumns = 16, kNarrow = 60;  // a terminal that is narrower has no room for bars
constexpr std::size_t kLeastWords = 20;                // columns that a panel's last words are wrapped in
constexpr std::size_t kLeastRemark = 30;               // likewise where they can stand below the row
constexpr std::size_t kLeastColumn = 12;               // likewise of words that other columns follow
constexpr std::size_t kFurther = 4;                    // that words below a row stand further right
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

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  return longest;
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

bool TextTable::has_bars() const { return shown_on && shown_on->width >= kNarrow && !bars_.empty(); }

bool TextTable::holds_words(std::size_t column) const {
  return column > 0 && columns_[column].align == Align::left && !(has_bars() && column == beside_);
}

std::size_t TextTable::least_width(std::size_t column, std::size_t natural) const {
  if (!holds_words(column)) return natural;
  std::size_t least = std::max(kLeastColumn, longest_word(columns_[column].title));
  for (const auto& row : rows_) least = std::max(least, longest_word(row[column]));
  return std::min(least, natural);
}

TextTable::Panel TextTable::panel_from(std::size_t first, std::size_t indent,
                                       const std::vector<std::size_t>& natural) const {
  Panel panel{.first = first, .end = first, .widths = natural};
  if (!shown_on) {
    panel.end = columns_.size();
    return panel;
  }
  std::size_t wide = indent + natural[0];
  while (panel.end < columns_.size()) {
    // What has no title is remarks, which stay where they are.
    const bool is_remark = columns_[panel.end].title.empty();
    if (!is_remark) wide += kBetween.size() + least_width(panel.end, natural[panel.end]);
    if (has_bars() && panel.end == beside_) wide += kBetween.size() + kBarColumns;
    if (panel.end > first && !is_remark && wide > shown_on->width) break;
    ++panel.end;
  }
  if (panel.end > first) fit(panel, indent);
  return panel;
}

void TextTable::fit(Panel& panel, std::size_t indent) const {
  const std::size_t screen = shown_on->width, last = panel.end - 1;
  const std::vector<std::size_t> natural = panel.widths;
  std::size_t wide = indent + natural[0];
  for (std::size_t i = panel.first; i < panel.end; ++i)
    wide += kBetween.size() + natural[i] + (has_bars() && i == beside_ ? kBetween.size() + kBarColumns : 0);
  if (wide <= screen) return;
  const bool is_remark = columns_[last].title.empty();
  if (!holds_words(last)) {
    if (!share(panel, panel.end, wide, kLeastColumn)) panel.widths = natural;
    return;
  }
  const std::size_t others = wide - natural[last];
  if (others + kLeastWords <= screen) {
    panel.widths[last] = screen - others;
    return;
  }
  if (share(panel, panel.end, wide, is_remark ? kLeastRemark : kLeastWords)) return;
  panel.widths = natural;
  if (!is_remark || screen < indent + kFurther + kLeastWords) return;
  panel.below = {last};
  wide = others - kBetween.size();
  if (wide <= screen || share(panel, last, wide, kLeastColumn)) return;
  panel.widths = natural;
  panel.below.clear();
  for (std::size_t i = panel.first; i < panel.end; ++i)
    if (holds_words(i)) panel.below.push_back(i);
}

bool TextTable::share(Panel& panel, std::size_t end, std::size_t wide, std::size_t least_of_last) const {
  std::vector<std::pair<std::size_t, std::size_t>> open;  // what a column needs beside its least, and which it is
  std::size_t held = wide;
  for (std::size_t i = panel.first; i < end; ++i) {
    if (!holds_words(i)) continue;
    std::size_t& width = panel.widths[i];
    const std::size_t natural = width, least = least_width(i, natural);
    width = i + 1 == end ? std::min(std::max(least, least_of_last), natural) : least;
    open.emplace_back(natural - width, i);
    held -= natural - width;
  }
  if (held > shown_on->width) return false;
  // Of what is left each has what it needs, or as much as the others that need more.
  std::size_t room = shown_on->width - held;
  std::ranges::sort(open);
  for (std::size_t k = 0; k < open.size(); ++k) {
    const std::size_t given = std::min(open[k].first, room / (open.size() - k));
    panel.widths[open[k].second] += given;
    room -= given;
  }
  return true;
}

std::string TextTable::line(const Panel& panel, std::string_view indent, std::optional<std::size_t> row,
                            double longest_bar) const {
  const auto cell = [&](std::size_t i) { return row ? rows_[*row][i] : columns_[i].title; };
  std::vector<std::size_t> shown{0};
  for (std::size_t i = panel.first; i < panel.end; ++i)
    if (std::ranges::find(panel.below, i) == panel.below.end()) shown.push_back(i);
  std::vector<std::vector<std::string>> lines;
  std::size_t height = 1;
  for (const std::size_t i : shown) {
    std::string words = cell(i);
    std::vector<std::string>& of_cell = lines.emplace_back();
    if (!holds_words(i)) of_cell.push_back(std::exchange(words, ""));
    while (!words.empty()) of_cell.push_back(taken_line(words, panel.widths[i]));
    height = std::max(height, of_cell.size());
  }
  std::string out;
  for (std::size_t k = 0; k < height; ++k) {
    std::string text(indent);
    for (std::size_t at = 0; at < shown.size(); ++at) {
      const std::size_t i = shown[at];
      const std::string part = k < lines[at].size() ? lines[at][k] : "";
      const std::string blanks(std::max(panel.widths[i], part.size()) - part.size(), ' ');
      if (at > 0) text += kBetween;
      text += columns_[i].align == Align::left ? part + blanks : blanks + part;
      if (!has_bars() || i != beside_) continue;
      text += kBetween;
      text += bar_text(row && k == 0 ? bars_[*row] : Bar{}, longest_bar, kBarColumns, *shown_on);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  if (!row) return out;
  for (const std::size_t i : panel.below) {
    std::string words = cell(i);
    if (!words.empty() && !columns_[i].title.empty()) words = columns_[i].title + ": " + words;
    while (!words.empty())
      out += std::string(indent) + std::string(kFurther, ' ') +
             taken_line(words, shown_on->width - indent.size() - kFurther) + "\n";
  }
  return out;
}

std::string TextTable::text(std::string_view indent) const {
  if (columns_.empty()) return "";
  const std::vector<std::size_t> natural = widths();
  double longest_bar = 0;
  for (const Bar& bar : bars_) longest_bar = std::max(longest_bar, bar.length());
  std::string out;
  for (std::size_t first = 1; first == 1 || first < columns_.size();) {
    const Panel panel = panel_from(first, indent.size(), natural);
    if (first > 1) out += "\n";
    out += line(panel, indent, std::nullopt, longest_bar);
    for (std::size_t row = 0; row < rows_.size(); ++row) out += line(panel, indent, row, longest_bar);
    first = std::max(panel.end, first + 1);
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
