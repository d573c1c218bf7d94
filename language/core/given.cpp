#include "language/core/given.h"

#include <algorithm>
#include <iterator>

#include "language/core/file_text.h"
#include "language/core/framework_words.h"
#include "language/core/merge.h"
#include "language/core/nearest.h"
#include "sim/in_quotes.h"

namespace stepcast::language {
namespace {

constexpr std::string_view kSet = "--set ";

bool is_set(const Given& given) { return given.place.line == 0 && given.place.file.starts_with(kSet); }

[[noreturn]] void contradiction(const Given& given, const Given& other, const std::string& expected) {
  fail(given.place, given.path,
       "found " + in_quotes(given.text) + " beside " + other.path + " " + in_quotes(other.text) + ", expected " +
           expected);
}

const Given* find(const std::vector<Given>& together, std::string_view path) {
  const auto found = std::ranges::find(together, path, &Given::path);
  return found == together.end() ? nullptr : &*found;
}

void check_details(const Schema& schema, const std::vector<Given>& together) {
  for (const Detail& detail : schema.details) {
    const Given* key = find(together, detail.key);
    if (key == nullptr) continue;
    const Given* of = find(together, detail.of);
    if (of != nullptr && of->text != detail.value)
      contradiction(*key, *of, std::string(detail.of) + ' ' + std::string(detail.value) + " or one of the two");
    for (const Detail& other : schema.details)
      if (const Given* rival = find(together, other.key);
          rival != nullptr && other.of == detail.of && other.value != detail.value)
        contradiction(*key, *rival, "one of the two");
  }
}

/// A file by its name and another one to start from.
void check_bases(const std::vector<Given>& together) {
  for (const Given& given : together)
    if (given.path.ends_with(".base"))
      if (const Given* name = find(together, given.path.substr(0, given.path.size() - 5)); name != nullptr)
        contradiction(given, *name, "one of the two");
}

/// The last of several --set of one key; of two options, or an option and a --set, both must say the same.
std::vector<Given> without_repeats(const std::vector<Given>& together) {
  std::vector<Given> once;
  for (const Given& given : together) {
    const auto before = std::ranges::find(once, given.path, &Given::path);
    if (before == once.end()) {
      once.push_back(given);
    } else if (given.text == before->text || (is_set(given) && is_set(*before))) {
      *before = given;
    } else {
      fail(given.place, given.path,
           "found " + in_quotes(given.text) + " beside " + in_quotes(before->text) + " of " + before->place.file +
               ", expected one of the two");
    }
  }
  return once;
}

Node value_of(const KeyInfo& key, const Given& given) {
  if (given.text.empty()) {
    Node erased;
    erased.place = given.place;
    erased.erased = true;
    return erased;
  }
  if (given.text.starts_with('{') && key.type.kind == Type::Kind::block)
    fail(given.place, given.path,
         "found a mapping in one line, expected a file of configs/" + std::string(key.type.fields().folder) +
             "/ by its name, or its keys one by one, such as " + given.path + '.' +
             std::string(key.type.fields().keys[1].path));  // the first is their name
  if (key.type.kind != Type::Kind::list) return make_scalar(given.text, given.place);
  Node list = make_list(given.text, given.place);
  for (const Node& item : list.items)
    if (item.scalar.starts_with('{') || item.scalar.starts_with('['))
      fail(given.place, given.path,
           "found " + found(item) +
               " in a list of one line, expected words or numbers there; such a list stands in a "
               "file");
  return list;
}

/// "; did you mean 'cluster.node.nic'?" of the keys of that very last name, the shortest first; else the nearest.
std::string key_meant(const std::string& path, const std::vector<std::string_view>& all) {
  constexpr std::size_t kMost = 4;
  const std::string last = path.substr(path.rfind('.') + 1);
  std::vector<std::string_view> same;
  for (const std::string_view each : all)
    if (each == last || each.ends_with("." + last)) same.push_back(each);
  std::ranges::stable_sort(same, {}, &std::string_view::size);
  if (path.find('.') == path.npos || same.empty() || same.size() > kMost) return did_you_mean(path, all);
  std::string text = "; did you mean ";
  for (std::size_t i = 0; i < same.size(); ++i)
    text += (i == 0 ? "" : i + 1 < same.size() ? ", " : " or ") + in_quotes(same[i]);
  return text + '?';
}

}  // namespace

void require_key(const Schema& schema, const std::string& path, const Place& place) {
  if (find_key(schema, path) != nullptr) return;
  const std::vector<std::string> paths = all_paths(schema);
  std::vector<std::string_view> below;
  for (const std::string& each : paths)
    if (each.starts_with(path + '.')) below.push_back(each);
  if (!below.empty())
    fail(place, "", "found " + in_quotes(path) + ", which groups keys, expected " + one_of("", below));
  const std::vector<std::string_view> views(paths.begin(), paths.end());
  const std::string last = path.substr(path.rfind('.') + 1);
  if (const FrameworkWord* const theirs = framework_word(last);
      theirs != nullptr && find_key(schema, theirs->key) != nullptr)
    fail(place, "", "found the unknown key " + in_quotes(path) + ", expected " + written_here(*theirs));
  const std::string near = key_meant(path, views);
  const char* const example = find_key(schema, "parallelism.tensor") != nullptr ? "parallelism.tensor" : "cluster.gpus";
  fail(place, "",
       "found the unknown key " + in_quotes(path) + ", expected the path of a key such as '" + example + "'" +
           (near.empty() ? "; stepcast keys lists them" : near));
}

Given read_set(const Schema& schema, const std::string& setting, const std::string& prefix) {
  const Place place{std::string(kSet) + shortened(setting, 120), 0, 0};
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0)
    fail(place, "", "expected key=value, such as parallelism.tensor=4, or key= to take it away");
  Given given{prefix + setting.substr(0, equals), setting.substr(equals + 1), place};
  require_key(schema, given.path, place);
  if (!given.text.empty()) checked_text(given.text, place.file);
  return given;
}

Node layer_of(const Schema& schema, std::vector<Given> together, const Place& place) {
  together = without_repeats(together);
  std::vector<Given> said;
  std::ranges::copy_if(together, std::back_inserter(said), [](const Given& given) { return !given.text.empty(); });
  check_details(schema, said);
  check_bases(said);
  // Parents before their children, so that `model` is what `model.layers` changes.
  std::ranges::stable_sort(together, {}, [](const Given& given) { return std::ranges::count(given.path, '.'); });
  Node layer = make_mapping(place);
  for (const Given& given : together)
    gather(schema, layer, nest(given.path, value_of(*find_key(schema, given.path), given)));
  return layer;
}

}  // namespace stepcast::language
