#include "calibrate/logs/json_text.h"

#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "calibrate/logs/no_json.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

using nlohmann::json;

/// Goes through a text and counts what was read of it: nlohmann's parser says where it is in its complaints alone.
struct CountedChars {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  std::size_t* read;

  const char& operator*() const { return *at; }
  CountedChars& operator++() {
    ++at;
    ++*read;
    return *this;
  }
  CountedChars operator++(int) {
    CountedChars before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountedChars& a, const CountedChars& b) { return a.at == b.at; }
};

class JsonTextChecker : public nlohmann::json_sax<json> {
 public:
  using OnKey = std::function<void(const std::string& path, std::size_t byte)>;

  JsonTextChecker(const std::string& file, std::string_view text, const OnKey& on_key)
      : file_(file), text_(text), on_key_(on_key) {}

  void run(JsonExtras extras) {
    json::sax_parse(CountedChars{text_.data(), &read_}, CountedChars{text_.data() + text_.size(), &read_}, this,
                    nlohmann::detail::input_format_t::json, /*strict=*/true, extras == JsonExtras::comments);
  }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    JsonLevel& level = levels_.back();
    level.key = key;
    if (!level.keys.insert(key).second) fail(opening_quote(), path() + ": found twice, expected once");
    if (on_key_) on_key_(path(), opening_quote());
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const json::exception& complaint) override {
    if (dynamic_cast<const json::out_of_range*>(&complaint) != nullptr)
      fail(position - token.size() + 1, "found a number that is too large, " + in_quotes(token.substr(0, kShown)) +
                                            ", expected one of at most 1.8e308");
    throw no_json(file_, text_, position, complaint.what());
  }

 private:
  struct JsonLevel {
    std::string key;
    std::set<std::string> keys;
  };
  static constexpr std::size_t kShown = 20;

  bool open() {
    levels_.emplace_back();
    if (levels_.size() > kDeepestJson) throw too_deep_json(json_place(file_, text_, read_));
    return true;
  }
  bool close() {
    levels_.pop_back();
    return true;
  }

  [[noreturn]] void fail(std::size_t byte, const std::string& what) const {
    throw InputError(json_place(file_, text_, byte), what);
  }

  /// Of the key that was just read, from 1.
  std::size_t opening_quote() const {
    std::size_t at = read_ - 1;  // the closing one, from 0
    const auto is_escaped = [&] {
      std::size_t slashes = 0;
      while (slashes < at && text_[at - 1 - slashes] == '\\') ++slashes;
      return slashes % 2 == 1;
    };
    do --at;
    while (text_[at] != '"' || is_escaped());
    return at + 1;
  }

  std::string path() const {
    std::string all;
    for (const JsonLevel& level : levels_)
      if (!level.key.empty()) all += (all.empty() ? "" : ".") + level.key;
    return all;
  }

  const std::string& file_;
  std::string_view text_;
  const OnKey& on_key_;
  std::size_t read_ = 0;
  std::vector<JsonLevel> levels_;
};

}  // namespace

InputError too_deep_json(const std::string& place) {
  return {place,
          "found lists and objects inside each other, expected at most " + std::to_string(kDeepestJson) + " levels"};
}

void check_json_text(const std::string& file, std::string_view text, JsonExtras extras,
                     const std::function<void(const std::string& path, std::size_t byte)>& on_key) {
  JsonTextChecker(file, text, on_key).run(extras);
}

}  // namespace stepcast::calibrate
