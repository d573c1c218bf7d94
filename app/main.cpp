#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/help.h"
#include "app/output.h"
#include "app/version.h"
#include "sim/input_error.h"

namespace {

namespace app = stepcast::app;

int dispatch(const std::vector<std::string>& words) {
  if (words.empty()) {
    std::fputs(app::help_text().c_str(), stderr);
    return app::kBadInput;
  }
  if (words[0] == "--help" || words[0] == "-h") return app::help({});
  if (words[0] == "--version" || words[0] == "-V") {
    app::write_output("", "stepcast " + std::string(app::version()) + "\n");
    return app::kDone;
  }
  return app::find_command(words[0]).run({words.begin() + 1, words.end()});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return dispatch({argv + 1, argv + argc});
  } catch (const stepcast::InputError& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return stepcast::app::kBadInput;
  } catch (const std::logic_error& e) {
    std::fprintf(stderr, "stepcast: internal error: %s\n", e.what());
    return stepcast::app::kFailed;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "stepcast: %s\n", e.what());
    return stepcast::app::kFailed;
  }
}
