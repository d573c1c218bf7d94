#pragma once

#include <string>
#include <string_view>

namespace stepcast::app {

/// `text` as it stands between tags: what XML or a terminal would act on is escaped.
std::string xml_text(std::string_view text);

}  // namespace stepcast::app
