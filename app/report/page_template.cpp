#include "app/report/page_template.h"

#include <cstddef>

// The assembler puts the file between the two names. STEPCAST_PAGE is its path (CMakeLists.txt).
__asm__(
    ".pushsection .rodata\n"
    ".global stepcast_page_begin\n"
    ".global stepcast_page_end\n"
    "stepcast_page_begin:\n"
    ".incbin \"" STEPCAST_PAGE
    "\"\n"
    "stepcast_page_end:\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" {
extern const char stepcast_page_begin[];
extern const char stepcast_page_end[];
}

namespace stepcast::app {

std::string_view page_template() {
  return {stepcast_page_begin, static_cast<std::size_t>(stepcast_page_end - stepcast_page_begin)};
}

std::string_view page_version() { return STEPCAST_VERSION; }

}  // namespace stepcast::app
