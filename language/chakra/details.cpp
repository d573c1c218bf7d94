#include "language/chakra/details.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "collectives/algorithms.h"
#include "language/core/nearest.h"
#include "language/core/operation_named.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

using Json = nlohmann::ordered_json;
using collectives::Group;
using workload::Collective;
using workload::Communication;

constexpr std::array<const char*, 3> kOrders{"one_after_the_other", "side_by_side", "passed_on"};

/// Sets of groups that many communications share, numbered as they first come.
class NumberedSets {
 public:
  explicit NumberedSets(NumberedGroups& groups) : groups_(groups) {}
  std::size_t number(const std::shared_ptr<const std::vector<Group>>& set) {
    const auto [at, fresh] = numbers_.try_emplace(set.get(), all_.size());
    if (fresh) {
      Json numbers = Json::array();
      for (const Group& group : *set) numbers.push_back(groups_.number(group));
      all_.push_back(std::move(numbers));
    }
    return at->second;
  }
  const Json& all() const { return all_; }

 private:
  NumberedGroups& groups_;
  std::map<const void*, std::size_t> numbers_;
  Json all_ = Json::array();
};

Json written(const Collective& c, NumberedSets& sets) {
  Json out{{"operation", collectives::name(c.operation)},
           {"bytes", c.bytes.value},
           {"group_set", sets.number(c.groups)},
           {"own", c.own},
           {"algorithm", c.algorithm},
           {"scale", c.scale}};
  if (c.details)
    out["details"] = {
        {"servers", c.details->servers}, {"pair_weights", c.details->pair_weights}, {"own", c.details->own}};
  return out;
}

Json written(std::span<const Collective> collectives, NumberedSets& sets) {
  Json out = Json::array();
  for (const Collective& c : collectives) out.push_back(written(c, sets));
  return out;
}

Json numbers_of(const Group& group) {
  Json out = Json::array();
  for (const topology::GpuId gpu : group) out.push_back(topology::index(gpu));
  return out;
}

Json written(const workload::HostCopy& copy) {
  Json out{{"to_host", copy.direction == topology::ToHost::yes},
           {"bytes", copy.bytes.value},
           {"gpus", numbers_of(copy.gpus)},
           {"own", copy.own}};
  if (copy.latency) out["latency_ps"] = copy.latency->value;
  if (std::isfinite(copy.at_most.value)) out["at_most_bytes_per_s"] = copy.at_most.value;
  return out;
}

Json written(const Communication& c, const workload::Program::Slowdown& slows, NumberedSets& sets) {
  Json out{{"order", kOrders[static_cast<std::size_t>(c.order)]}, {"collectives", written(c.collectives, sets)}};
  if (!c.at_receiver.empty()) out["at_receiver"] = written(c.at_receiver, sets);
  if (c.receivers_compute != Time{}) out["receivers_compute_ps"] = c.receivers_compute.value;
  if (c.turn) out["turn"] = *c.turn;
  if (c.copy) out["copy"] = written(*c.copy);
  if (c.delay != Time{}) out["delay_ps"] = c.delay.value;
  if (slows.engines.empty()) return out;
  for (const workload::EngineId engine : slows.engines) out["engines"].push_back(static_cast<std::uint32_t>(engine));
  out["slowdown"] = slows.slowdown;
  return out;
}

Json written(const workload::StepMeasure& measure) {
  Json out{{"steps", measure.steps}};
  for (const workload::StepMeasure::Lap& lap : measure.laps) {
    Json& made = out["laps"].emplace_back(Json{{"last", sim::index(lap.last)}});
    if (lap.before) made["before"] = sim::index(*lap.before);
  }
  for (const auto& of_worker : measure.updates) {
    Json& worker = out["updates"].emplace_back(Json::array());
    for (const std::vector<sim::TaskId>& of_step : of_worker) {
      Json& step = worker.emplace_back(Json::array());
      for (const sim::TaskId task : of_step) step.push_back(sim::index(task));
    }
  }
  return out;
}

/// A value of the file, and how one comes to it.
class JsonPart {
 public:
  JsonPart(const Json& json, std::string file, std::string path)
      : json_(json), file_(std::move(file)), path_(std::move(path)) {}

  bool has(const char* key) const { return object().contains(key); }
  JsonPart at(const char* key) const {
    const auto found = object().find(key);
    if (found == json_.end()) fail(std::string("expected the key ") + key);
    return {*found, file_, path_.empty() ? key : path_ + "." + key};
  }
  std::vector<JsonPart> items() const {
    if (!json_.is_array()) fail("expected a list");
    std::vector<JsonPart> out;
    for (const Json& item : json_) out.emplace_back(item, file_, path_ + "[" + std::to_string(out.size()) + "]");
    return out;
  }
  std::vector<JsonPart> items(const char* key) const { return has(key) ? at(key).items() : std::vector<JsonPart>{}; }

  /// A whole number from `least` to `most`.
  std::int64_t whole(std::int64_t least, std::int64_t most) const {
    if (!json_.is_number_integer() ||
        (json_.is_number_unsigned() && json_.get<std::uint64_t>() > static_cast<std::uint64_t>(most)) ||
        json_.get<std::int64_t>() < least || json_.get<std::int64_t>() > most)
      fail("expected a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return json_.get<std::int64_t>();
  }
  std::uint32_t below(std::size_t end) const {
    if (end == 0) fail("expected nothing");
    return static_cast<std::uint32_t>(whole(0, static_cast<std::int64_t>(end) - 1));
  }
  double positive() const {
    if (!json_.is_number() || !(json_.get<double>() >= 0) || !std::isfinite(json_.get<double>()))
      fail("expected a number, at least 0");
    return json_.get<double>();
  }
  bool yes() const {
    if (!json_.is_boolean()) fail("expected true or false");
    return json_.get<bool>();
  }
  std::string text() const {
    if (!json_.is_string()) fail("expected a text");
    return json_.get<std::string>();
  }
  [[noreturn]] void fail(const std::string& expected) const {
    constexpr std::size_t kShown = 40;
    std::string found = json_.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (found.size() > kShown) found = found.substr(0, kShown) + "...";
    throw InputError(file_ + (path_.empty() ? "" : ": " + path_), "found " + in_quotes(found) + ", " + expected);
  }
  std::string place() const { return file_ + ": " + path_; }

 private:
  const Json& object() const {
    if (!json_.is_object()) fail("expected a mapping");
    return json_;
  }
  const Json& json_;
  std::string file_, path_;
};

/// Sizes, times and counts of one thing; the sum of some thousands still fits.
constexpr std::int64_t kMostWhole = std::numeric_limits<std::int64_t>::max() / 4096;

class DetailsReader {
 public:
  DetailsReader(const Json& json, const std::string& file) : file_(json, file, "") {}

  ChakraDetails read() {
    constexpr std::int64_t kMostIds = std::numeric_limits<std::uint32_t>::max() / 4;
    ChakraDetails out;
    if (file_.at("format").text() != "stepcast 1") file_.at("format").fail("expected 'stepcast 1'");
    out.ranks = static_cast<std::uint32_t>(file_.at("ranks").whole(1, kMostIds));
    out.tasks = static_cast<std::uint32_t>(file_.at("tasks").whole(1, kMostIds));
    out.engines = static_cast<std::uint32_t>(file_.at("engines").whole(0, kMostIds));
    ranks_ = out.ranks;
    workload::RecordedProgram& recorded = out.recorded;
    recorded.unfolded = file_.at("unfolded").yes();
    recorded.late = file_.at("late").yes();
    recorded.transfers = file_.at("transfers").yes();
    if (file_.has("slow_node")) {
      const JsonPart slow = file_.at("slow_node");
      recorded.slow_node = {slow.at("node").below(out.ranks), slow.at("speed").positive()};
      if (!(recorded.slow_node->speed > 0 && recorded.slow_node->speed <= 1))
        slow.at("speed").fail("expected a number above 0, up to 1");
    }
    read_measure(out);
    for (const JsonPart& group : file_.at("groups").items()) groups_.push_back(gpus_of(group));
    for (const JsonPart& set : file_.at("group_sets").items()) sets_.push_back(set_of(set));
    for (const JsonPart& each : file_.at("communications").items()) {
      recorded.communications.push_back(communication(each));
      workload::Program::Slowdown& slows = out.slowdowns.emplace_back();
      for (const JsonPart& engine : each.items("engines"))
        slows.engines.push_back(workload::EngineId{engine.below(out.engines)});
      if (each.has("slowdown")) slows.slowdown = each.at("slowdown").positive();
    }
    return out;
  }

 private:
  void read_measure(ChakraDetails& out) const {
    const JsonPart from = file_.at("measure");
    workload::StepMeasure& measure = out.recorded.measure;
    const auto task = [&](const JsonPart& part) { return sim::TaskId{part.below(out.tasks)}; };
    measure.steps = static_cast<std::uint32_t>(from.at("steps").whole(1, kMostWhole >> 32));
    for (const JsonPart& lap : from.items("laps")) {
      measure.laps.push_back({{}, task(lap.at("last"))});
      if (lap.has("before")) measure.laps.back().before = task(lap.at("before"));
    }
    for (const JsonPart& worker : from.items("updates")) {
      auto& of_worker = measure.updates.emplace_back();
      for (const JsonPart& step : worker.items()) {
        std::vector<sim::TaskId>& tasks = of_worker.emplace_back();
        for (const JsonPart& each : step.items()) tasks.push_back(task(each));
      }
      if (of_worker.size() < 2) worker.fail("expected two steps at least");
    }
  }

  Group gpus_of(const JsonPart& from) const {
    Group group;
    for (const JsonPart& rank : from.items()) group.push_back(topology::GpuId{rank.below(ranks_)});
    Group sorted = group;
    std::ranges::sort(sorted);
    if (group.empty() || std::ranges::adjacent_find(sorted) != sorted.end()) from.fail("expected ranks, each once");
    return group;
  }

  std::shared_ptr<const std::vector<Group>> set_of(const JsonPart& from) const {
    std::vector<Group> set;
    for (const JsonPart& number : from.items()) set.push_back(groups_[number.below(groups_.size())]);
    if (set.empty()) from.fail("expected a group");
    for (const Group& group : set)
      if (group.size() != set.front().size()) from.fail("expected groups of one size");
    return std::make_shared<const std::vector<Group>>(std::move(set));
  }

  static std::string_view algorithm(const JsonPart& from) {
    const std::string name = from.text();
    std::vector<std::string_view> names{"library", "auto", "nccl"};
    for (const collectives::Algorithm* each : collectives::algorithms()) names.push_back(each->name);
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) from.fail("expected " + one_of(name, names));
    return *found;
  }

  Collective collective(const JsonPart& from) const {
    Collective c;
    c.operation = operation_named(from.at("operation").text(), from.at("operation").place());
    c.bytes = {from.at("bytes").whole(0, kMostWhole)};
    c.groups = sets_.empty() ? nullptr : sets_[from.at("group_set").below(sets_.size())];
    if (!c.groups) from.fail("expected a group set");
    c.own = static_cast<std::uint32_t>(from.at("own").whole(1, static_cast<std::int64_t>(c.groups->size())));
    c.algorithm = algorithm(from.at("algorithm"));
    c.scale = from.at("scale").positive();
    if (!from.has("details")) return c;
    const JsonPart of = from.at("details");
    collectives::Details details;
    details.servers = static_cast<std::uint32_t>(of.at("servers").whole(0, ranks_));
    details.own = static_cast<std::uint32_t>(of.at("own").whole(0, static_cast<std::int64_t>(c.groups->size())));
    for (const JsonPart& weight : of.items("pair_weights")) details.pair_weights.push_back(weight.whole(0, kMostWhole));
    c.details = std::make_shared<const collectives::Details>(std::move(details));
    return c;
  }

  workload::HostCopy copy(const JsonPart& from) const {
    workload::HostCopy copy;
    copy.direction = from.at("to_host").yes() ? topology::ToHost::yes : topology::ToHost::no;
    copy.bytes = {from.at("bytes").whole(0, kMostWhole)};
    copy.gpus = gpus_of(from.at("gpus"));
    copy.own = static_cast<std::uint32_t>(from.at("own").whole(1, static_cast<std::int64_t>(copy.gpus.size())));
    if (from.has("latency_ps")) copy.latency = Time{from.at("latency_ps").whole(0, kMostWhole)};
    if (from.has("at_most_bytes_per_s")) copy.at_most = {from.at("at_most_bytes_per_s").positive()};
    if (!(copy.at_most.value > 0)) from.at("at_most_bytes_per_s").fail("expected a number above 0");
    return copy;
  }

  Communication communication(const JsonPart& from) const {
    Communication c;
    const std::string order = from.at("order").text();
    const auto known = std::ranges::find(kOrders, order);
    if (known == kOrders.end()) from.at("order").fail("expected one_after_the_other, side_by_side or passed_on");
    c.order = static_cast<Communication::Order>(known - kOrders.begin());
    for (const JsonPart& each : from.at("collectives").items()) c.collectives.push_back(collective(each));
    for (const JsonPart& each : from.items("at_receiver")) c.at_receiver.push_back(collective(each));
    if (from.has("receivers_compute_ps"))
      c.receivers_compute = Time{from.at("receivers_compute_ps").whole(0, kMostWhole)};
    if (from.has("turn")) c.turn = static_cast<std::uint32_t>(from.at("turn").whole(0, kMostWhole >> 32));
    if (from.has("copy")) c.copy = copy(from.at("copy"));
    if (from.has("delay_ps")) c.delay = Time{from.at("delay_ps").whole(0, kMostWhole)};
    return c;
  }

  const JsonPart file_;
  std::uint32_t ranks_ = 0;
  std::vector<Group> groups_;
  std::vector<std::shared_ptr<const std::vector<Group>>> sets_;
};

}  // namespace

std::size_t NumberedGroups::number(const Group& group) {
  const auto [at, fresh] = numbers_.try_emplace(group, all_.size());
  if (fresh) all_.push_back(group);
  return at->second;
}

std::string chakra_details(const workload::RecordedProgram& recorded, std::uint32_t ranks, NumberedGroups& groups) {
  NumberedSets sets(groups);
  Json communications = Json::array();
  for (std::uint32_t i = 0; i < recorded.communications.size(); ++i)
    communications.push_back(
        written(recorded.communications[i], recorded.program.slowdown(workload::CommunicationId{i}), sets));
  Json all{{"format", "stepcast 1"},
           {"ranks", ranks},
           {"tasks", recorded.program.tasks()},
           {"engines", recorded.program.engines()},
           {"unfolded", recorded.unfolded},
           {"late", recorded.late},
           {"transfers", recorded.transfers}};
  if (recorded.slow_node) all["slow_node"] = {{"node", recorded.slow_node->node}, {"speed", recorded.slow_node->speed}};
  all["measure"] = written(recorded.measure);
  all["groups"] = Json::array();
  for (const Group& group : groups.all()) all["groups"].push_back(numbers_of(group));
  all["group_sets"] = sets.all();
  all["communications"] = std::move(communications);
  return all.dump() + "\n";
}

ChakraDetails read_chakra_details(const std::string& text, const std::string& file) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& e) {
    throw InputError(file, "byte " + std::to_string(e.byte) + " is not JSON: expected what stepcast wrote");
  }
  return DetailsReader(json, file).read();
}

}  // namespace stepcast::language
