#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/app/program.h"

namespace stepcast::app {

/// What stands in a page, named from the top folder on, between `<!-- NAME: begin -->` and `<!-- NAME: end -->`.
struct PageBlock {
  std::string path, page;
  std::size_t from = 0, size = 0;

  PageBlock(const std::string& file, const std::string& name) : path(STEPCAST_SOURCE_DIR "/" + file) {
    page = read_text(path);
    const std::string begin = "<!-- " + name + ": begin -->\n", end = "<!-- " + name + ": end -->";
    const std::size_t at = page.find(begin), to = page.find(end);
    if (at == std::string::npos || to == std::string::npos) {
      ADD_FAILURE() << path << " has no block '" << name << "'";
      return;
    }
    from = at + begin.size();
    size = to - from;
  }
  std::string text() const { return page.substr(from, size); }
  void write(const std::string& text) {
    page.replace(from, size, text);
    size = text.size();
    std::ofstream(path) << page;
  }
};

/// The block is `text`; with STEPCAST_UPDATE_GOLDEN set it is made so.
inline void expect_block(const std::string& file, const std::string& name, const std::string& text) {
  PageBlock block(file, name);
  if (std::getenv("STEPCAST_UPDATE_GOLDEN") != nullptr) {
    block.write(text);
  } else {
    EXPECT_EQ(block.text(), text) << file << ", block '" << name << "': STEPCAST_UPDATE_GOLDEN=1 writes it";
  }
}

}  // namespace stepcast::app
