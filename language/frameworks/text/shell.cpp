#include "language/frameworks/text/shell.h"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "language/core/file_text.h"
#include "language/frameworks/text/condition.h"
#include "language/frameworks/text/here_document.h"
#include "language/frameworks/text/named_file.h"
#include "language/frameworks/text/shell_arguments.h"
#include "language/frameworks/text/shell_blocks.h"
#include "language/frameworks/text/shell_text.h"
#include "language/frameworks/text/slurm.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

using ShellWords = std::vector<ShellWord>;

/// More than any script that starts a training has, and few enough for functions that call each other.
constexpr int kMostCalls = 1000;
constexpr int kMostDepth = 20;

bool is_shell(std::string_view command) {
  const std::string_view name = command.substr(command.rfind('/') + 1);
  return name == "bash" || name == "sh";
}
/// A command as far as it is read.
struct ShellCommand {
  ShellWords words{};
  std::string connector{};   ///< what ends it
  bool declares = false;     ///< "export", "local": its assignments stay
  bool parts = false;        ///< a word of a block stands in it
  std::string written_to{};  ///< the file that its output goes to
  std::map<std::string, std::pair<std::optional<ShellWords>, std::optional<std::string>>> replaced{};
};

class ShellScript {
 public:
  ShellScript(std::string_view text, const std::string& file, const ShellStart& start,
              bool (*counts)(const std::string&))
      : text_(text, file), script_(file), start_(start), counts_(counts) {
    for (const auto& [name, value] : slurm_variables(text))
      variables_.known[name] = {{.text = value, .place = {"#SBATCH", 0, 0}}};
    for (const auto& [name, value] : start.environment)
      variables_.known[name] = {{.text = value, .place = {"--env", 0, 0}}};
    ShellWords arguments;
    for (const std::string& each : start.arguments)
      arguments.push_back({.text = each, .place = {"argument " + std::to_string(arguments.size() + 1), 0, 0}});
    set_arguments(variables_, std::move(arguments));
  }

  ShellReading read() {
    while (!text_.ended()) read_command();
    if (!open_documents_.empty()) read_documents();
    if (!blocks_.empty()) refuse_open_block();
    return {std::move(most_flags_), std::move(documents_), {notes_.begin(), notes_.end()}};
  }

  /// That of the script and of the files that it takes in.
  std::string whole_text() const {
    std::string all(text_.cursor().text);
    for (const SourcedFile& file : files_) all += "\n" + file.text;
    return all;
  }

 private:
  using Kind = ShellBlock::Kind;

  [[noreturn]] void refuse_open_block() const {
    throw InputError(language::text(blocks_.back().place),
                     "found " + in_quotes(blocks_.back().opened_by) + ", whose end is missing");
  }

  void read_command() {
    ShellCommand command;
    for (text_.skip_blanks(); !text_.ended(); text_.skip_blanks()) {
      if (read_redirection(command)) continue;
      if (ends(command)) break;
      if (text_.peek() == '(' && !text_.is_at_bare_value() && open_round(command)) return;
      if (command.words.empty() && read_assignment(command)) continue;
      take_back(command);
      ShellWords words = text_.read_word(variables_);
      if (words.size() == 1 && is_number(words[0].text) && (text_.peek() == '<' || text_.peek() == '>'))
        continue;  // the 2 of 2>&1
      for (ShellWord& word : words)
        if (!command.words.empty() || !(is_reserved(word, command) || goes_before(word.text, command)))
          command.words.push_back(std::move(word));
    }
    for (HereDocument& document : open_documents_) {
      if (document.file.empty()) document.file = command.written_to;
      document.is_script |= reads_script(command.words);
    }
    if (command.connector == "\n") read_documents();
    if (in_condition_)
      read_condition(command);
    else
      run(command);
    if (command.connector == ";;" && blocks_.in(Kind::choice)) read_arm();
  }

  /// Passes over what ends a command, if it stands here.
  bool ends(ShellCommand& command) {
    const char c = text_.peek();
    if (c != '\n' && c != ';' && c != '&' && c != '|' && c != ')') return false;
    if (c == ')' && !command.words.empty()) return true;  // closes behind the command
    command.connector = text_.next();
    if (c == ')' && blocks_.in(Kind::subshell)) variables_ = blocks_.close().before;
    if (text_.peek() == c && (c == '&' || c == '|' || c == ';')) command.connector += text_.next();
    return true;
  }

  // Redirections and here-documents.

  bool read_redirection(ShellCommand& command) {
    if (text_.peek() == '&' && text_.peek(1) == '>') text_.next();
    if ((text_.peek() != '<' && text_.peek() != '>') || text_.is_at_bare_value()) return false;
    const Place place = text_.here();
    std::string mark;
    while (std::string_view("<>&|").find(text_.peek()) != std::string_view::npos) mark += text_.next();
    if (mark == "<<" && text_.peek() == '-') mark += text_.next();
    if (text_.peek() == '(') {  // <(command)
      pass_over_round();
      return true;
    }
    // Other words that count are names of files too ("> lr=0.1.log"), but not where a blank follows a lone bracket.
    const bool ends_value = mark == ">" && is_shell_blank(text_.peek());
    text_.skip_blanks();
    const bool expands = std::string_view("'\"\\").find(text_.peek()) == std::string_view::npos;
    const ShellWords target = text_.read_word(variables_);
    const std::string word = target.empty() ? "" : target.front().text;
    const bool begins_document = mark == "<<" || mark == "<<-";
    if (begins_document && target.empty())
      throw InputError(language::text(place),
                       "found " + mark + " without a word, expected the word that ends its lines");
    if (!begins_document && (word.starts_with("--") || (ends_value && counts_(word))) && blocks_.runs() &&
        !only_checks_)
      throw InputError(language::text(place), "found " + in_quotes(mark + " " + word) + ", which a shell takes for a " +
                                                  "file of that name; expected a value in quotes in front of " +
                                                  (word.starts_with("--") ? "the flag" : "it"));
    if (begins_document) open_documents_.push_back({word, place, mark == "<<-", expands});
    if (mark.starts_with('>')) command.written_to = word;
    return true;
  }

  /// Whether a command runs what it reads: "sbatch", and "bash" without the name of another script.
  static bool reads_script(const ShellWords& words) {
    if (words.empty()) return false;
    const auto is_option = [](const ShellWord& word) { return word.text.starts_with('-'); };
    const std::string& name = words.front().text;
    return name == "sbatch" || (is_shell(name) && std::all_of(words.begin() + 1, words.end(), is_option));
  }

  void read_documents() {
    for (const HereDocument& document : std::exchange(open_documents_, {})) {
      const std::string text = read_lines(text_, document, variables_);
      if (!blocks_.runs() || only_checks_) continue;
      if (document.is_script)
        consider(command_in(text, document.place, document.expands ? variables_ : ShellVariables{}));
      else if (!document.file.empty())
        documents_.push_back({document.file, text, document.place});
    }
  }

  /// Passes over (...), whatever is in it, and returns that.
  std::string pass_over_round() {
    std::string inside;
    int depth = 0;
    const Place place = text_.here();
    do {
      if (text_.ended()) throw InputError(language::text(place), "found '(' that does not end, expected )");
      const char c = text_.next();
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      inside += c;
    } while (depth > 0);
    return inside;
  }

  // Blocks.

  /// "(" where a command begins: a subshell, or a sum; "name()" defines a function.
  bool open_round(const ShellCommand& command) {
    const Place place = text_.here();
    if (command.words.empty() && text_.peek(1) == '(') {
      doubt_changed(pass_over_round(), place);
      return false;
    }
    text_.next();
    if (command.words.empty()) {
      blocks_.open(Kind::subshell, "(", place).before = variables_;
      return true;
    }
    text_.skip_blanks();
    if (command.words.size() != 1 || text_.peek() != ')') return false;
    text_.next();
    define(command.words.front());
    return true;
  }

  /// A function, behind its name.
  void define(const ShellWord& name) {
    text_.skip_lines();
    if (text_.peek() != '{')
      throw InputError(language::text(name.place),
                       "found the function " + in_quotes(name.text) + ", expected its commands in { }");
    text_.next();
    blocks_.open(Kind::definition, name.text + "() {", name.place).subject = name.text;
    blocks_.back().runs = Truth::no;
    bodies_[name.text] = text_.cursor();
  }

  void call(const ShellCommand& command) {
    if (++calls_ > kMostCalls)
      throw InputError(language::text(command.words.front().place),
                       "found functions that call each other more than 1000 times");
    const ScriptPosition back = text_.cursor();
    const ShellVariables before = variables_;
    set_arguments(variables_, {command.words.begin() + 1, command.words.end()});
    const std::size_t depth = blocks_.size();
    blocks_.open(Kind::call, command.words.front().text, command.words.front().place);
    text_.go_to(bodies_.at(command.words.front().text));
    while (blocks_.size() > depth && !text_.ended()) read_command();
    text_.go_to(back);
    give_back_arguments(variables_, before);
  }

  // Files that the script takes in: "source FILE", ". FILE".

  /// Throws InputError where a file is no text of a shell: bytes of a program, a quote or a block that does not end.
  /// Nothing of it runs, so that the script goes on as it was where the file cannot be read.
  void check_text(const SourcedFile& file) const {
    if (!file.text.empty()) checked_text(file.text, file.name);
    ShellScript alone(file.text, file.name, {.arguments = {}, .environment = {}}, counts_);
    alone.only_checks_ = true;
    alone.read();
  }

  void take_in(const ShellCommand& command) {
    const ShellWord& name = command.words[1];
    std::optional<SourcedFile> found;
    std::string why = why_not_sourced(name.text);
    try {
      found = sourced_file(name.text, script_);
      if (found) check_text(*found);
    } catch (const InputError& complaint) {
      why = "it cannot be read as a shell script (" + std::string(complaint.what()) + ").";
      found.reset();
    }
    if (!found) {
      notes_.insert("What " + in_quotes(name.text) + " sets (" + language::text(name.place) + ") is not known: " + why);
      return;
    }
    if (++calls_ > kMostCalls)
      throw InputError(language::text(name.place), "found files that take each other in more than 1000 times");
    const SourcedFile& file = files_.emplace_back(std::move(*found));
    const ScriptPosition back = text_.cursor();
    const ShellVariables before = variables_;
    const bool has_arguments = command.words.size() > 2;
    if (has_arguments) set_arguments(variables_, {command.words.begin() + 2, command.words.end()});
    const std::size_t depth = blocks_.size();
    blocks_.open(Kind::file, name.text, name.place);
    text_.go_to({.text = file.text, .file = &file.name});
    while (!text_.ended()) read_command();
    if (!open_documents_.empty()) read_documents();
    if (blocks_.size() != depth + 1) refuse_open_block();
    blocks_.close();
    text_.go_to(back);
    if (has_arguments) give_back_arguments(variables_, before);
  }

  // Arguments.

  /// "shift", "shift 2": what $1 is then.
  void shift(const ShellWords& words) {
    const auto all = variables_.known.find("@");
    const std::string count = words.size() > 1 ? words[1].text : "1";
    if (all == variables_.known.end()) return;
    ShellWords arguments = all->second;
    if (blocks_.may_run() || count.size() > 4 || !is_number(count)) {
      for (const std::string& name : names_of_arguments(variables_))
        doubt(name, "may be shifted at " + language::text(words.front().place));
      return;
    }
    const std::size_t most = std::stoul(count);
    if (most > arguments.size()) return;  // as the shell does
    for (const std::string& name : names_of_arguments(variables_)) blocks_.note_change(name);
    if (most > 0) blocks_.note_shift();
    arguments.erase(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(most));
    set_arguments(variables_, std::move(arguments));
  }

  /// Follows the words that open, part and close blocks; whether the word is one of them.
  bool is_reserved(const ShellWord& word, ShellCommand& command) {
    const std::string& text = word.text;
    const bool parted = std::exchange(command.parts, true);
    if (text == "if") {
      blocks_.open(Kind::branches, text, word.place);
      begin_condition();
    } else if (text == "while" || text == "until") {
      blocks_.open(Kind::loop, text, word.place).before = variables_;
      blocks_.back().begin = text_.cursor();
    } else if (text == "for" || text == "select") {
      blocks_.open(Kind::loop, text, word.place).before = variables_;
      read_loop_variable();
    } else if (text == "case") {
      read_choice(word);
    } else if (text == "{") {
      blocks_.open(Kind::group, text, word.place);
    } else if (text == "function") {
      text_.skip_blanks();
      const ShellWords name = text_.read_word(variables_);
      if (text_.peek() == '(') pass_over_round();
      define(name.empty() ? word : name.front());
    } else {
      command.parts = parts_or_closes(text);
    }
    return std::exchange(command.parts, command.parts || parted);
  }

  bool parts_or_closes(const std::string& text) {
    const bool braced = blocks_.in(Kind::group) || blocks_.in(Kind::definition) || blocks_.in(Kind::call);
    if ((text == "}" && braced) || (text == "esac" && blocks_.in(Kind::choice))) {
      blocks_.close();
    } else if (blocks_.in(Kind::loop) && text == "do") {
      ShellBlock& loop = blocks_.back();
      loop.runs = loop.opened_by == "while"   ? blocks_.last()
                  : loop.opened_by == "until" ? opposite(blocks_.last())
                                              : Truth::yes;
      if (loop.runs == Truth::unknown && loop.decided_by.empty()) loop.decided_by = blocks_.last_decided_by();
    } else if (blocks_.in(Kind::loop) && text == "done") {
      if (!goes_round()) close_loop();
    } else if (blocks_.in(Kind::branches)) {
      return parts_branches(text);
    } else {
      return false;
    }
    return true;
  }

  void begin_condition() {
    in_condition_ = true;
    condition_.reset();
    condition_decided_by_.clear();
  }

  bool parts_branches(const std::string& text) {
    ShellBlock& branch = blocks_.back();
    if (text == "elif") {
      begin_condition();
    } else if (text == "then" && in_condition_) {
      in_condition_ = false;
      const Truth holds = condition_.value_or(Truth::unknown);
      branch.runs = branch.taken == Truth::yes ? Truth::no : holds;
      if (branch.taken != Truth::yes && holds != Truth::no) branch.taken = holds;
      if (holds == Truth::unknown && branch.decided_by.empty()) branch.decided_by = condition_decided_by_;
    } else if (text == "else") {
      branch.runs = opposite(branch.taken);
    } else if (text == "fi") {
      blocks_.close();
    } else {
      return false;
    }
    return true;
  }

  /// [[ a == b ]] of an if, with what follows from the commands before it.
  void read_condition(const ShellCommand& command) {
    if (command.words.empty()) return;
    const Truth now = holds(command.words);
    if (now == Truth::unknown && condition_decided_by_.empty()) condition_decided_by_ = unset_in(command.words);
    condition_ = !condition_ ? now : joined_by_ == "||" ? either(*condition_, now) : both(*condition_, now);
    joined_by_ = command.connector;
  }

  /// "case TEXT in", up to the first pattern's end.
  void read_choice(const ShellWord& word) {
    text_.skip_blanks();
    const ShellWords subject = text_.read_word(variables_);
    text_.skip_lines();
    text_.read_word(variables_);  // in
    blocks_.open(Kind::choice, word.text, word.place).subject = subject.size() == 1 ? subject.front().text
                                                                : subject.empty()   ? ""
                                                                                    : "$";
    if (blocks_.back().decided_by.empty()) blocks_.back().decided_by = unset_in(subject);
    read_arm();
  }

  /// "pattern | pattern )", or "esac".
  void read_arm() {
    ShellBlock& choice = blocks_.back();
    text_.skip_lines();
    if (text_.peek() == '(') text_.next();
    Truth fitting = Truth::no;
    while (!text_.ended() && text_.peek() != ')') {
      const ScriptPosition before = text_.cursor();
      const ShellWords pattern = text_.read_word(variables_);
      if (pattern.size() == 1 && pattern.front().text == "esac") return void(blocks_.close());
      for (const ShellWord& each : pattern) fitting = either(fitting, fits(choice.subject, each.text));
      text_.skip_blanks();
      if (text_.peek() == '|' || text_.cursor().at == before.at) text_.next();
      text_.skip_blanks();
    }
    if (!text_.ended()) text_.next();
    choice.runs = both(opposite(choice.taken), fitting);
    choice.taken = either(choice.taken, fitting);
  }

  /// Behind "for": a loop that takes one word runs once with it.
  void read_loop_variable() {
    ShellBlock& loop = blocks_.back();
    text_.skip_blanks();
    if (text_.peek() == '(') return doubt_changed(pass_over_round(), loop.place);
    const ShellWords name = text_.read_word(variables_);
    text_.skip_lines();
    ShellWords values;
    for (bool in = false; !text_.ended() && text_.peek() != ';' && text_.peek() != '\n'; text_.skip_blanks()) {
      const std::size_t before = text_.cursor().at;
      for (ShellWord& word : text_.read_word(variables_))
        if (in || word.text != "in")
          values.push_back(std::move(word));
        else
          in = true;
      if (text_.cursor().at == before) text_.next();
    }
    if (name.size() != 1 || !blocks_.runs()) return;
    if (values.size() == 1)
      variables_.known[name.front().text] = values;
    else
      doubt(name.front().text, "the loop at " + language::text(loop.place) + " gives several values");
  }

  /// A round that took arguments away ("while [ $# -gt 0 ]; do ... shift; done") is followed by the next, as long as it
  /// is known that it runs; other loops are read once.
  bool goes_round() {
    ShellBlock& loop = blocks_.back();
    const bool repeats =
        loop.opened_by != "for" && loop.opened_by != "select" && !loop.is_left && blocks_.runs() && !blocks_.may_run();
    if (!std::exchange(loop.shifts, false) || !repeats || ++calls_ > kMostCalls) return false;
    loop.is_followed = true;
    text_.go_to(loop.begin);
    return true;
  }

  void close_loop() {
    const ShellBlock loop = blocks_.close();
    const bool is_whole = loop.runs == Truth::no && (loop.is_followed || loop.is_left);
    if (is_whole && loop.opened_by != "for" && loop.opened_by != "select") return;
    const auto alike = [](const ShellWord& a, const ShellWord& b) { return a.text == b.text; };
    for (const std::string& name : loop.changed) {
      const auto then = loop.before.known.find(name);
      const auto now = variables_.known.find(name);
      const bool same = then != loop.before.known.end() && now != variables_.known.end() &&
                        std::ranges::equal(then->second, now->second, alike);
      if (!same && !variables_.doubts.contains(name))
        doubt(name, "the loop at " + language::text(loop.place) + " changes");
    }
  }

  // What runs, and what variables hold.

  /// The first variable in them that nothing sets; "": there is none.
  static std::string unset_in(const ShellWords& words) {
    const auto unset = std::ranges::find_if(words, [](const ShellWord& word) { return !word.unset.empty(); });
    return unset == words.end() ? "" : unset->unset;
  }

  void run(const ShellCommand& command) {
    const ShellWords& words = command.words;
    if (!words.empty() && blocks_.runs() && !only_checks_) {
      if (words.front().text == "shift")
        shift(words);
      else if (words.front().text == "break")
        blocks_.leave_loop();
      else if (words.front().text == "return")
        blocks_.leave_call();
      else if (words.size() > 1 && (words.front().text == "source" || words.front().text == "."))
        take_in(command);
      else if (const ShellWords inside = command_inside(words); !inside.empty())
        consider(inside);
      else if (bodies_.contains(words.front().text))
        call(command);
      else
        consider(words);
    }
    // What the list that it stands in has come to, and whether what follows runs.
    const Truth now = words.empty() && !command.parts && command.connector != ")" ? Truth::yes : holds(words);
    blocks_.follow(!words.empty(), now, unset_in(words), command.connector);
  }

  /// Keeps a command that has more flags than those before it. One that is only shown (echo) before it runs is none,
  /// where it runs.
  void consider(const ShellWords& words) {
    const auto flags = [&](const ShellWords& all) {
      return std::ranges::count_if(all, [&](const ShellWord& word) { return counts_(word.text); });
    };
    const auto now = flags(words), before = flags(most_flags_);
    if (now > before || (now > 0 && now == before && most_flags_.front().text == "echo")) most_flags_ = words;
  }

  /// Of `bash -c "command"` and `eval command` the words of the command; nothing of others.
  ShellWords command_inside(const ShellWords& words) {
    if (words.front().text == "eval" && words.size() > 1) {
      std::string text;
      for (const ShellWord& word : words)
        if (&word != &words.front()) text += word.text + " ";
      return command_in(text, words[1].place, variables_);
    }
    bool shell = false;  // behind its name and its options
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      const std::string& word = words[i].text;
      if (shell && word.starts_with('-') && word.ends_with('c'))
        return command_in(words[i + 1].text, words[i + 1].place, {});
      shell = is_shell(word) || (shell && word.starts_with('-'));
    }
    return {};
  }

  /// Of a text that stands somewhere in this script. `known`: what variables hold that it still names.
  ShellWords command_in(const std::string& text, const Place& place, ShellVariables known) {
    if (++calls_ > kMostCalls || depth_ == kMostDepth) return {};
    ShellScript inside(text, place.file, {.arguments = {}, .environment = start_.environment}, counts_);
    inside.depth_ = depth_ + 1;
    for (auto& [name, values] : inside.variables_.known) known.known.try_emplace(name, std::move(values));
    inside.variables_ = std::move(known);
    inside.calls_ = calls_;
    auto [found, documents, notes] = inside.read();
    notes_.insert(notes.begin(), notes.end());
    std::ranges::move(inside.files_, std::back_inserter(files_));
    calls_ = inside.calls_;
    for (ShellWord& word : found) word.place = place;
    return found;
  }

  void doubt(const std::string& name, const std::string& why) {
    variables_.known.erase(name);
    variables_.doubts[name] = why;
    blocks_.note_change(name);
  }

  /// Of "(( i += 1 ))" what i is.
  void doubt_changed(const std::string& sum, const Place& place) {
    std::string name;
    for (std::size_t i = 0; i < sum.size() && blocks_.runs(); ++i) {
      const std::string_view rest = std::string_view(sum).substr(i);
      if (is_shell_name(sum[i])) {
        name += sum[i];
      } else if (!is_shell_blank(sum[i])) {
        const bool sets =
            (rest[0] == '=' && !rest.starts_with("==")) || rest.starts_with("++") || rest.starts_with("--") ||
            (rest.size() > 1 && rest[1] == '=' && rest[0] != '=' && rest[0] != '<' && rest[0] != '>' && rest[0] != '!');
        if (sets && !name.empty()) doubt(name, "the sum at " + language::text(place) + " changes");
        name.clear();
        if (rest.starts_with("==") || rest.starts_with("++") || rest.starts_with("--")) ++i;
      }
    }
  }

  /// What a variable holds behind an assignment that may not run is not known where it was given something else before:
  /// where it is used, its name is left as it is written.
  bool read_assignment(ShellCommand& command) {
    const Place place = text_.here();
    std::optional<ShellAssignment> read = text_.read_assignment(variables_);
    if (!read) return false;
    if (!blocks_.runs()) return true;
    const std::string& name = read->name;
    const auto before = variables_.known.find(name);
    if (!command.declares) {
      const auto doubted = variables_.doubts.find(name);
      command.replaced.try_emplace(name,
                                   before == variables_.known.end() ? std::nullopt : std::optional(before->second),
                                   doubted == variables_.doubts.end() ? std::nullopt : std::optional(doubted->second));
    }
    blocks_.note_change(name);
    const auto alike = [](const ShellWord& a, const ShellWord& b) { return a.text == b.text; };
    if (!blocks_.may_run() && !read->adds)
      variables_.doubts.erase(name);
    else if (!read->adds && before != variables_.known.end() &&
             !std::ranges::equal(before->second, read->values, alike))
      doubt(name, "may be what " + language::text(place) + " gives it, or what it was before" +
                      because_of(blocks_.decided_by()));
    if (variables_.doubts.contains(name)) return true;
    ShellWords& known = variables_.known[name];
    if (!read->adds) known.clear();
    if (read->is_array)
      variables_.arrays.insert(name);
    else if (!read->adds)
      variables_.arrays.erase(name);
    std::ranges::move(read->values, std::back_inserter(known));
    return true;
  }

  /// Assignments in front of a command hold for it alone.
  void take_back(ShellCommand& command) {
    for (auto& [name, held] : std::exchange(command.replaced, {})) {
      variables_.known.erase(name);
      variables_.doubts.erase(name);
      if (held.first) variables_.known[name] = std::move(*held.first);
      if (held.second) variables_.doubts[name] = std::move(*held.second);
    }
  }

  static bool goes_before(const std::string& word, ShellCommand& command) {
    static constexpr std::array<std::string_view, 5> kDeclares{"export", "local", "declare", "readonly", "typeset"};
    command.declares |= std::ranges::find(kDeclares, word) != kDeclares.end();
    return command.declares || word == "exec" || word == "time" || word == "do";
  }

  ShellText text_;
  const std::string& script_;
  const ShellStart start_;
  bool (*counts_)(const std::string&);
  ShellVariables variables_;
  ShellWords most_flags_;
  ShellBlocks blocks_;
  std::vector<HereDocument> open_documents_;  ///< that begin behind this line
  std::vector<ShellDocument> documents_;
  std::set<std::string> notes_;
  std::deque<SourcedFile> files_;                              ///< their texts stay where they are
  std::map<std::string, ScriptPosition, std::less<>> bodies_;  ///< of functions
  int calls_ = 0;
  bool only_checks_ = false;  ///< no command runs
  int depth_ = 0;             ///< of a command inside of a command: how many it is inside of
  bool in_condition_ = false;
  std::optional<Truth> condition_;
  std::string condition_decided_by_;
  std::string joined_by_;
};

}  // namespace

bool is_shell_flag(const std::string& word) { return word.starts_with("--"); }

std::vector<ShellWord> command_of(std::string_view text, const std::string& file, const ShellStart& start,
                                  bool (*counts)(const std::string&)) {
  return script_of(text, file, start, counts).words;
}

ShellReading script_of(std::string_view text, const std::string& file, const ShellStart& start,
                       bool (*counts)(const std::string&)) {
  ShellScript script(text, file, start, counts);
  ShellReading reading = script.read();
  check_start(start, script.whole_text(), file);
  return reading;
}

}  // namespace stepcast::language
