#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "app/command.h"
#include "app/help_text.h"
#include "app/output.h"
#include "app/version.h"
#include "language/core/visible_text.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace {

namespace app = stepcast::app;

int dispatch(const std::vector<std::string>& words) {
  if (words.empty()) {
    std::fputs(app::help_text().c_str(), stderr);
    return app::kBadInput;
  }
  if (words[0] == "--help" || words[0] == "-h") return app::find_command("help").run({words.begin() + 1, words.end()});
  if (words[0] == "--version" || words[0] == "-V") {
    if (words.size() > 1)
      throw stepcast::InputError(words[0], "found " + stepcast::in_quotes(words[1]) + ", expected nothing behind it");
    app::write_output("", "stepcast " + std::string(app::version()) + "\n");
    return app::kDone;
  }
  return app::find_command(words[0]).run({words.begin() + 1, words.end()});
}

/// Closed standard streams would be given to the next files that are opened, which then got what is printed: put there
/// what refuses it.
void keep_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int failed(const std::string& why) {
  std::fprintf(stderr, "stepcast: %s\n", stepcast::language::visible(why).c_str());
  return stepcast::app::kFailed;
}

/// All but running out of memory, of which nothing can be told that takes memory.
int run_and_tell(int argc, char** argv) {
  try {
    const int status = dispatch({argv + 1, argv + argc});
    errno = 0;
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      return failed("cannot write standard output" + (errno == 0 ? "" : ": " + std::generic_category().message(errno)));
    return status;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const stepcast::InputError& e) {
    std::fprintf(stderr, "%s\n", stepcast::language::visible(e.what()).c_str());
    return stepcast::app::kBadInput;
  } catch (const std::overflow_error& e) {  // a time or a size beyond what is counted: of what was asked
    std::fprintf(stderr, "stepcast: %s\n", stepcast::language::visible(e.what()).c_str());
    return stepcast::app::kBadInput;
  } catch (const std::logic_error& e) {
    return failed(std::string("internal error: ") + e.what());
  } catch (const std::exception& e) {
    return failed(e.what());
  }
}

/// For libraries that give up within what may not throw: the listing of a folder in libstdc++ is such a place.
[[noreturn]] void give_up() {
  std::fputs("stepcast: a library gave up, as they do where memory runs out\n", stderr);
  std::_Exit(stepcast::app::kFailed);
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(give_up);
  keep_standard_streams();
  try {
    return run_and_tell(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("stepcast: this computer has too little memory for what was asked\n", stderr);
    return stepcast::app::kFailed;
  }
}
