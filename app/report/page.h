#pragma once

#include <span>
#include <string>

namespace stepcast::app {

/// One result on a page of reports: what `--format json` writes of it, and what is drawn besides.
struct PagePart {
  std::string kind;      ///< the command that made it: "run", "validate", ...
  std::string title;     ///< a scenario's name, a file's
  std::string document;  ///< JSON
  std::string detail{};  ///< JSON too; empty: there is none
};

/// One file of HTML that opens anywhere and asks no network. No text of the parts can become a script of it.
/// Requires has_page_template().
std::string html_page(std::span<const PagePart> parts);

/// Whether the page was there when this program was built: making it needs Node.js.
bool has_page_template();

/// Throws InputError where --report names no file that ends in .html, or there is no template.
void check_page(const std::string& file, const std::string& option);

}  // namespace stepcast::app
