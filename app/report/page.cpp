#include "app/report/page.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "app/report/json_text.h"
#include "app/report/page_template.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

constexpr std::string_view kDataMark = "\"stepcast-results\"";

/// JSON as it may stand inside a script element: nothing in it ends that, or begins a comment or another one.
std::string for_html(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else if (c == '&')
      out += "\\u0026";
    else
      out += c;
  }
  return out;
}

std::string quoted_json(const std::string& text) {
  std::string out = json_text(nlohmann::ordered_json(text), -1);
  out.pop_back();  // the line end
  return out;
}

}  // namespace

bool has_page_template() { return !page_template().empty(); }

void check_page(const std::string& file, const std::string& option) {
  if (file.empty()) return;
  if (!file.ends_with(".html"))
    throw InputError(option, "found " + in_quotes(file) + ", expected a file that ends in .html");
  if (!has_page_template())
    throw InputError(
        option,
        "this stepcast was built without the page of reports, which Node.js and npm make: install nodejs and "
        "npm, then cmake --preset release && cmake --build --preset release (docs/report.md)");
}

std::string html_page(std::span<const PagePart> parts) {
  const std::string_view page = page_template();
  const std::size_t at = page.find(kDataMark);
  if (at == page.npos) throw std::logic_error("the page of reports has no place for results");
  std::string data = "{\"stepcast\":" + quoted_json(std::string(page_version())) + ",\"parts\":[";
  for (const PagePart& part : parts) {
    if (&part != &parts.front()) data += ',';
    data += "{\"kind\":" + quoted_json(part.kind) + ",\"title\":" + quoted_json(part.title) +
            ",\"document\":" + part.document + ",\"detail\":" + (part.detail.empty() ? "null" : part.detail) + "}";
  }
  data += "]}";
  return std::string(page.substr(0, at)) + for_html(data) + std::string(page.substr(at + kDataMark.size()));
}

}  // namespace stepcast::app
