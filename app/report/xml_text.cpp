#include "app/report/xml_text.h"

#include "language/core/visible_text.h"

namespace stepcast::app {

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : language::visible(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace stepcast::app
