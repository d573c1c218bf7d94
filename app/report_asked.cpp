#include "app/report_asked.h"

#include "app/options.h"
#include "app/report/page.h"

namespace stepcast::app {

void add_report_option(boost::program_options::options_description& options) {
  options.add_options()("report", boost::program_options::value<std::string>()->default_value("", ""),
                        "also write a page that a browser opens, without any network, to this .html file");
}

std::string report_asked(const boost::program_options::variables_map& values) {
  std::string file = word(values, "report");
  check_page(file, "--report");
  return file;
}

}  // namespace stepcast::app
