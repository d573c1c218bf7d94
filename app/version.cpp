#include "app/version.h"

namespace stepcast::app {

std::string_view version() { return STEPCAST_VERSION; }

}  // namespace stepcast::app
