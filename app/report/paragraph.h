#pragma once

#include <string>
#include <string_view>

namespace stepcast::app {

/// `text` behind `head`, its words wrapped at `width` columns, further lines indented by so many blanks more than the
/// head's own indent. Ends in a newline.
std::string paragraph(std::string_view head, std::string_view text, std::size_t width, std::size_t further = 4);

/// The same where a terminal shows it that is narrower; else one line.
std::string shown_line(std::string_view head, std::string_view text, std::size_t further = 4);

/// The same of every line of a text.
std::string shown_lines(const std::string& text);

}  // namespace stepcast::app
