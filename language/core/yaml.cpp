#include "language/core/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "language/core/file_text.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

constexpr std::size_t kDeepest = 32;
constexpr std::size_t kMostNodes = 100'000;  // aliases count as what they stand for, and anchors as a copy kept
constexpr std::size_t kLongestKey = 200;

/// Builds the tree from the parser's events: its own document type takes a key twice and forgets where aliases stand.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string file, std::size_t most_keys) : file_(std::move(file)), most_keys_(most_keys) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node;
    node.place = place(mark);
    add(std::move(node), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) fail(place(mark), "found an alias inside its own anchor");
    Node node = known->second;
    node.place = place(mark);
    nodes_ += count(node);  // before the next copy is made: a chain of aliases grows exponentially
    add(std::move(node), 0);
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, const std::string& value) override {
    if (value.find('\0') != std::string::npos) fail(place(mark), "found a NUL character, expected text");
    add(make_scalar(value, place(mark)), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::list, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::mapping, mark, anchor);
  }
  void OnMapEnd() override { close(); }

  /// Where the list or mapping that is being read begins; nothing outside of all.
  std::optional<Place> open_place() const {
    if (frames_.empty()) return std::nullopt;
    return frames_.back().node.place;
  }

  std::optional<Node> root;

 private:
  struct Frame {
    Node node;
    YAML::anchor_t anchor = 0;
    std::optional<Entry> entry;  // of a mapping: the key read, its value to come
    std::unordered_set<std::string> keys{};
  };

  [[noreturn]] static void fail(const Place& place, const std::string& what) { throw InputError(text(place), what); }

  Place place(const YAML::Mark& mark) const {
    return {file_, static_cast<std::uint32_t>(mark.line + 1), static_cast<std::uint32_t>(mark.column + 1)};
  }

  void open(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (frames_.size() >= kDeepest) fail(place(mark), "found more than 32 levels, expected fewer");
    if (!frames_.empty() && frames_.back().node.kind == Node::Kind::mapping && !frames_.back().entry) {
      fail(place(mark), "found a list or mapping as a key, expected a word");
    }
    Frame frame;
    frame.node.kind = kind;
    frame.node.place = place(mark);
    frame.anchor = anchor;
    frames_.push_back(std::move(frame));
  }

  void close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    add(std::move(frame.node), frame.anchor);
  }

  void add(Node node, YAML::anchor_t anchor) {
    if (++nodes_ > kMostNodes) fail(node.place, "found more than 100000 values, expected fewer");
    if (anchor != 0) {
      nodes_ += count(node);
      anchors_[anchor] = node;
    }
    if (frames_.empty()) {
      root = std::move(node);
      return;
    }
    Frame& parent = frames_.back();
    if (parent.node.kind == Node::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.entry) {
      start_entry(parent, std::move(node));
    } else {
      parent.entry->value = std::move(node);
      parent.node.entries.push_back(std::move(*parent.entry));
      parent.entry.reset();
    }
  }

  void start_entry(Frame& parent, Node key) const {
    if (key.kind != Node::Kind::scalar || key.scalar.empty()) {
      fail(key.place, "found " + found(key) + " as a key, expected a word");
    }
    if (key.scalar.size() > kLongestKey) fail(key.place, "found a key of more than 200 characters, expected fewer");
    if (parent.node.entries.size() == most_keys_) {
      fail(key.place,
           "found " + found(key) + " behind " + std::to_string(most_keys_) + " keys of one mapping, expected fewer");
    }
    if (!parent.keys.insert(key.scalar).second) {
      const auto first = std::ranges::find(parent.node.entries, key.scalar, &Entry::key);
      fail(key.place, "found the key " + found(key) + " a second time, expected it once (first on line " +
                          std::to_string(first->place.line) + ")");
    }
    parent.entry = Entry{key.scalar, key.place, {}};
  }

  std::string file_;
  std::size_t most_keys_;
  std::vector<Frame> frames_;
  std::unordered_map<YAML::anchor_t, Node> anchors_;
  std::size_t nodes_ = 0;
};

/// The first line that begins with blanks and a tab, which YAML forbids and yaml-cpp complains of in other words. 0:
/// none.
std::uint32_t tab_indented_line(std::string_view text) {
  std::uint32_t line = 1;
  for (std::size_t start = 0; start < text.size(); ++line) {
    const std::size_t first = text.find_first_not_of(' ', start);
    if (first != std::string_view::npos && text[first] == '\t') return line;
    const std::size_t end = text.find('\n', start);
    if (end == std::string_view::npos) break;
    start = end + 1;
  }
  return 0;
}

/// What the parser complains of, in words for people who do not know YAML's grammar.
std::string plain_words(const std::string& complaint) {
  const std::pair<std::string_view, std::string_view> words[] = {
      {YAML::ErrorMsg::END_OF_MAP_FLOW,
       "found a '{' that never ends, expected a closing '}', or a comma between two entries"},
      {YAML::ErrorMsg::END_OF_SEQ_FLOW,
       "found a '[' that never ends, expected a closing ']', or a comma between two items"},
      {YAML::ErrorMsg::FLOW_END, "found a closing bracket without its opening one"},
      {YAML::ErrorMsg::END_OF_MAP, "found a line that is no 'key: value', or stands further left than its neighbours"},
      {YAML::ErrorMsg::END_OF_SEQ, "found a line that is no '- item', or stands further left than its neighbours"},
      {YAML::ErrorMsg::MAP_VALUE,
       "found a second ': ' or a line further right than its neighbours, expected one "
       "'key: value' (text with ': ' goes in quotes)"},
      {YAML::ErrorMsg::EOF_IN_SCALAR, "found a quote that never ends, expected a closing one"},
      {YAML::ErrorMsg::UNKNOWN_ANCHOR, "found an alias to an anchor that is not above it"},
  };
  for (const auto& [theirs, ours] : words) {
    if (complaint.starts_with(theirs)) return std::string(ours);
  }
  return "not valid YAML: " + complaint;
}

}  // namespace

Node parse_yaml_document(std::string_view text, const std::string& file, std::size_t most_keys) {
  text = checked_text(text, file);
  // yaml-cpp notices a quote that never ends only where the text ends inside a line.
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  TreeBuilder builder(file, most_keys);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    const std::optional<Node> first = builder.root;
    if (!first || first->kind == Node::Kind::nothing) throw InputError(file, "found no key, expected a mapping");
    if (parser.HandleNextDocument(builder)) {
      throw InputError(language::text(builder.root ? builder.root->place : first->place),
                       "found a second document, expected one");
    }
    return *first;
  } catch (const YAML::Exception& e) {
    Place place{file, 0, 0};
    if (!e.mark.is_null()) {
      place.line = static_cast<std::uint32_t>(e.mark.line + 1);
      place.column = static_cast<std::uint32_t>(e.mark.column + 1);
    }
    if (const std::uint32_t line = tab_indented_line(text); line != 0)
      throw InputError(language::text(Place{file, line, 1}), "found a tab in the indentation, expected blanks");
    const bool never_ends = e.msg == YAML::ErrorMsg::END_OF_MAP_FLOW || e.msg == YAML::ErrorMsg::END_OF_SEQ_FLOW;
    throw InputError(language::text(never_ends ? builder.open_place().value_or(place) : place), plain_words(e.msg));
  }
}

Node parse_yaml(std::string_view text, const std::string& file, std::size_t most_keys) {
  Node document = parse_yaml_document(text, file, most_keys);
  if (document.kind != Node::Kind::mapping)
    throw InputError(language::text(document.place), "found " + found(document) + ", expected a mapping");
  return document;
}

}  // namespace stepcast::language
