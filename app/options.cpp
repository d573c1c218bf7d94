#include "app/options.h"

#include <algorithm>
#include <charconv>

#include "app/help_text.h"
#include "app/output.h"
#include "app/report/terminal.h"
#include "app/report/text_table.h"
#include "language/core/nearest.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {

namespace po = boost::program_options;

namespace {

/// Left out, an option has its default; given as nothing, as by a shell's empty variable, it would silently have it
/// too.
void refuse_empty(const po::variables_map& values, const po::options_description& options, bool takes_empty) {
  for (const auto& [name, value] : values) {
    if (value.defaulted()) continue;
    const auto* const words = boost::any_cast<std::vector<std::string>>(&value.value());
    if (name == "path" && !takes_empty) refuse_empty_words(*words, "stepcast");
    const auto* const word = boost::any_cast<std::string>(&value.value());
    const bool takes_value = options.find(name, false).semantic()->max_tokens() > 0;
    if (takes_value && word != nullptr && word->empty())
      throw InputError("--" + name, "found '', expected a value, or the option left out");
  }
}

bool given(const po::variables_map& values, const std::string& option) {
  return values.count(option) != 0 && !values[option].defaulted();
}

void refuse(const po::variables_map& values, std::initializer_list<const char*> options, const std::string& why) {
  for (const char* option : options)
    if (given(values, option)) throw InputError(std::string("--") + option, why);
}

}  // namespace

void refuse_empty_words(std::span<const std::string> words, const std::string& command) {
  if (std::ranges::find(words, "") != words.end())
    throw InputError(command, "found an empty word, expected a name or a file, or the word left out");
}

std::optional<po::variables_map> parse_options(const std::vector<std::string>& words, CommandLine line) {
  constexpr std::size_t kMostWords = 10'000;  // Boost takes time with their square
  if (words.size() > kMostWords) {
    throw InputError("stepcast", "found " + std::to_string(words.size()) +
                                     " words, expected at most 10000 (many files: give their folder)");
  }
  po::options_description& options = line.options;
  options.add_options()("help,h", "this text");
  po::options_description all = options;
  all.add_options()("path", po::value<std::vector<std::string>>()->default_value({}, ""));
  po::positional_options_description positional;
  positional.add("path", -1);
  po::variables_map values;
  try {
    po::store(po::command_line_parser(words)
                  .options(all)
                  .positional(positional)
                  .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
                  .run(),
              values);
    po::notify(values);
  } catch (const po::unknown_option& e) {
    std::vector<std::string> names;
    for (const auto& option : options.options()) names.push_back("--" + option->long_name());
    const std::vector<std::string_view> views(names.begin(), names.end());
    throw InputError("stepcast", "unknown option " + in_quotes(e.get_option_name()) + ", expected " +
                                     language::one_of(e.get_option_name(), views));
  } catch (const po::error& e) {
    throw InputError("stepcast", e.what());
  }
  if (values.count("help") != 0) {
    if (const Terminal shown = terminal(); shown.is_one) show_tables_on(shown);
    write_output("", usage_text(line.usage) + "\n" + options_text(options));
    return std::nullopt;
  }
  refuse_empty(values, all, line.takes_empty);
  if (const Terminal shown = terminal();
      shown.is_one && (values.count("output") == 0 || is_stdout(word(values, "output"))))
    show_tables_on(shown);
  return values;
}

std::string word(const po::variables_map& values, const char* option) { return values[option].as<std::string>(); }

void refuse_beside(const po::variables_map& values, const std::string& option,
                   std::initializer_list<const char*> others) {
  if (given(values, option))
    refuse(values, others, "found beside --" + option + ", which makes nothing of it; expected one of the two");
}

void refuse_with(const po::variables_map& values, const std::string& what, std::initializer_list<const char*> others) {
  refuse(values, others, "found with " + what + ", which makes nothing of it; expected it left out");
}

std::uint32_t parse_count(const std::string& word, const std::string& option, std::uint32_t most) {
  if (word.empty()) return 0;
  std::uint32_t count = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, count);
  if (error != std::errc{} || stop != end || count == 0 || count > most) {
    throw InputError(option,
                     "found " + in_quotes(word) + ", expected a whole number from 1 to " + std::to_string(most));
  }
  return count;
}

}  // namespace stepcast::app
