#include "search/axis.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "schedules/pipeline/pipelines.h"
#include "search/layer_cuts.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::search {
namespace {

using schedules::Scenario;
using Values = std::vector<std::int64_t>;

std::uint32_t size(std::int64_t value) { return static_cast<std::uint32_t>(value); }

/// In ascending order.
Values divisors(std::int64_t n) {
  Values small, large;
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    small.push_back(d);
    if (d * d < n) large.push_back(n / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

Values gpu_divisors(const Scenario& s) { return divisors(s.cluster.gpus); }

Values all(std::size_t count) {
  Values values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<std::int64_t>(i));
  return values;
}

/// Powers of two, and the value there is.
Values micro_batch_sizes(const Scenario& s) {
  Values sizes{s.training.micro_batch};
  for (std::int64_t n = 1; n <= s.training.global_batch; n *= 2)
    if (s.training.global_batch % n == 0 && n != s.training.micro_batch) sizes.push_back(n);
  std::ranges::sort(sizes);
  return sizes;
}

std::vector<std::string_view> schedule_names() {
  std::vector<std::string_view> names;
  for (const schedules::PipelineSchedule* schedule : schedules::pipelines()) names.push_back(schedule->name);
  return names;
}

/// One past the last name: the scenario's own orders.
std::int64_t schedule_of(const Scenario& s) {
  const auto known = schedules::pipelines();
  return std::ranges::find(known, s.pipeline.schedule, &schedules::PipelineSchedule::name) - known.begin();
}

void set_schedule(Scenario& s, std::int64_t value) {
  if (schedule_of(s) == value) return;
  s.pipeline.schedule = schedules::pipelines()[static_cast<std::size_t>(value)]->name;
  s.pipeline.orders.clear();
  s.pipeline.placement = {};
  s.pipeline.micro_batch_group.reset();
}

/// Schedules that every stack has which has pipelines at all, and the scenario's own if it has a name.
Values schedules_of_stacks(const Scenario& s) {
  const std::vector<std::string_view> names = schedule_names();
  Values values;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == "1f1b" || names[i] == "interleaved-1f1b" || names[i] == s.pipeline.schedule)
      values.push_back(static_cast<std::int64_t>(i));
  return values;
}

/// What the scenario says of some layers, groups of them, or modules: no value of `recompute` alone says that.
constexpr auto kGivenRecompute = static_cast<std::int64_t>(schedules::kRecomputeNames.size());

std::int64_t recompute_of(const Scenario& s) {
  const schedules::RecomputedModules modules = s.recomputed_modules.value_or(schedules::RecomputedModules{});
  return s.recompute_layers || s.recompute_group > 1 || names_more_than_core(modules)
             ? kGivenRecompute
             : static_cast<std::int64_t>(s.recompute);
}

void set_recompute(Scenario& s, std::int64_t value) {
  if (value == kGivenRecompute || recompute_of(s) == value) return;
  s.recompute = static_cast<schedules::Recompute>(value);
  s.recomputed_modules.reset();
  s.recompute_group = 1;
  s.recompute_layers.reset();
}

Values recomputations(const Scenario& s) {
  Values values = all(3);
  if (const std::int64_t own = recompute_of(s); own > values.back()) values.push_back(own);
  return values;
}

void set_tensor(Scenario& s, std::int64_t value) {
  if (std::exchange(s.parallelism.tensor, size(value)) != value) s.parallelism.tensor_grid.reset();
}

void set_pipeline(Scenario& s, std::int64_t value) {
  if (std::exchange(s.parallelism.pipeline, size(value)) == value) return;
  s.parallelism.layers_per_stage.clear();
  s.pipeline.micro_batch_group.reset();
}

void set_virtual_stages(Scenario& s, std::int64_t value) {
  if (std::exchange(s.pipeline.virtual_stages, size(value)) == value) return;
  s.parallelism.layers_per_stage.clear();
  s.pipeline.micro_batch_group.reset();
}

using Order = decltype(schedules::Parallelism::order);

/// Every order of ranks, in that of the words.
const std::vector<Order>& orders() {
  static const std::vector<Order> all = [] {
    using schedules::Dimension;
    Order order{Dimension::tensor, Dimension::context, Dimension::data, Dimension::pipeline};
    std::vector<Order> each{order};
    while (std::ranges::next_permutation(order).found) each.push_back(order);
    return each;
  }();
  return all;
}

std::vector<std::string_view> order_names() {
  static const std::vector<std::string> names = [] {
    constexpr std::array<std::string_view, schedules::kDimensions> kWords{"tensor", "context", "data", "pipeline"};
    std::vector<std::string> each;
    for (const Order& order : orders()) {
      std::string& name = each.emplace_back();
      for (const schedules::Dimension dimension : order)
        name += (name.empty() ? "" : "-") + std::string(kWords[static_cast<std::size_t>(dimension)]);
    }
    return each;
  }();
  return {names.begin(), names.end()};
}

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;

/// In MiB, rounded up: a scenario's own bucket stays what it is where the axis has the same number.
std::int64_t bucket_of(const Scenario& s) { return (bucket(s).value + kMebibyte - 1) / kMebibyte; }

void set_bucket(Scenario& s, std::int64_t value) {
  if (bucket_of(s) != value) s.data_parallel.bucket = Bytes{value * kMebibyte};
}

std::vector<std::string_view> tier_names() { return {schedules::kTierNames.begin(), schedules::kTierNames.end()}; }

/// An axis of where something is kept.
template <schedules::Tier schedules::OffloadPlan::*kept>
SearchAxis tier_axis(std::string_view key, std::vector<std::string_view> details = {}) {
  return {key,
          "the scenario's",
          [](const Scenario& s) { return static_cast<std::int64_t>(s.offload.*kept); },
          [](Scenario& s, std::int64_t value) { s.offload.*kept = static_cast<schedules::Tier>(value); },
          [](const Scenario& s) { return Values{static_cast<std::int64_t>(s.offload.*kept)}; },
          tier_names,
          std::move(details)};
}

void set_layers(Scenario& s, std::int64_t value) {
  if (value == static_cast<std::int64_t>(LayersPerStage::balanced)) cut_evenly(s);
}

/// Axes that decide what a layer's kernels and their traffic take.
std::vector<SearchAxis> shared_axes() {
  return {
      {"cluster.gpus",
       "the scenario's; with --objective gpus those divisors of it that are whole nodes or less than one",
       [](const Scenario& s) { return std::int64_t{s.cluster.gpus}; },
       [](Scenario& s, std::int64_t value) { s.cluster.gpus = size(value); },
       [](const Scenario& s) { return Values{s.cluster.gpus}; }},
      {"parallelism.tensor",
       "all divisors of the GPUs",
       [](const Scenario& s) { return std::int64_t{s.parallelism.tensor}; },
       set_tensor,
       gpu_divisors,
       nullptr,
       {"parallelism.tensor_grid"}},
      {"parallelism.context", "all divisors of the GPUs",
       [](const Scenario& s) { return std::int64_t{s.parallelism.context}; },
       [](Scenario& s, std::int64_t value) { s.parallelism.context = size(value); }, gpu_divisors},
      {"parallelism.pipeline",
       "all divisors of the GPUs",
       [](const Scenario& s) { return std::int64_t{s.parallelism.pipeline}; },
       set_pipeline,
       gpu_divisors,
       nullptr,
       {"parallelism.layers_per_stage", "pipeline.micro_batch_group"}},
      {"parallelism.expert", "of a model with experts all divisors of the GPUs, else 1",
       [](const Scenario& s) { return std::int64_t{s.parallelism.expert}; },
       [](Scenario& s, std::int64_t value) { s.parallelism.expert = size(value); },
       [](const Scenario& s) { return s.model.experts.count > 0 ? gpu_divisors(s) : Values{s.parallelism.expert}; }},
      {"parallelism.expert_tensor", "the scenario's",
       [](const Scenario& s) { return std::int64_t{s.parallelism.expert_tensor}; },
       [](Scenario& s, std::int64_t value) { s.parallelism.expert_tensor = size(value); },
       [](const Scenario& s) { return Values{s.parallelism.expert_tensor}; }},
      {"training.micro_batch", "powers of two that divide the global batch, and the scenario's",
       [](const Scenario& s) { return s.training.micro_batch; },
       [](Scenario& s, std::int64_t value) { s.training.micro_batch = value; }, micro_batch_sizes},
      {"recompute",
       "none, selective, full; by-operator where the scenario has it, and `given` where it recomputes some layers or "
       "modules",
       recompute_of, set_recompute, recomputations,
       [] {
         std::vector<std::string_view> names(schedules::kRecomputeNames.begin(), schedules::kRecomputeNames.end());
         names.push_back("given");
         return names;
       }},
      {"parallelism.sequence", "false, true", [](const Scenario& s) { return std::int64_t{s.parallelism.sequence}; },
       [](Scenario& s, std::int64_t value) { s.parallelism.sequence = value != 0; },
       [](const Scenario&) { return all(2); },
       [] {
         return std::vector<std::string_view>{"false", "true"};
       }},
      {"parallelism.order",
       "the scenario's",
       [](const Scenario& s) { return std::ranges::find(orders(), s.parallelism.order) - orders().begin(); },
       [](Scenario& s, std::int64_t value) { s.parallelism.order = orders()[static_cast<std::size_t>(value)]; },
       [](const Scenario& s) { return Values{std::ranges::find(orders(), s.parallelism.order) - orders().begin()}; },
       order_names,
       {},
       1,
       1,
       {},
       true},
      tier_axis<&schedules::OffloadPlan::optimizer>("offload.optimizer"),
      tier_axis<&schedules::OffloadPlan::parameters>("offload.parameters"),
      tier_axis<&schedules::OffloadPlan::activations>("offload.activations"),
  };
}

std::vector<SearchAxis> other_axes() {
  return {
      {"pipeline.schedule",
       "1f1b, interleaved-1f1b, and the scenario's unless it is custom",
       schedule_of,
       set_schedule,
       schedules_of_stacks,
       schedule_names,
       {"pipeline.micro_batch_group"}},
      {"pipeline.virtual_stages",
       "all divisors of the layers",
       [](const Scenario& s) { return std::int64_t{s.pipeline.virtual_stages}; },
       set_virtual_stages,
       [](const Scenario& s) { return divisors(s.model.layers); },
       nullptr,
       {"parallelism.layers_per_stage", "pipeline.micro_batch_group"}},
      {"data_parallel.zero",
       "0 to 3",
       [](const Scenario& s) { return std::int64_t{s.data_parallel.zero}; },
       [](Scenario& s, std::int64_t value) { s.data_parallel.zero = static_cast<int>(value); },
       [](const Scenario&) { return all(4); },
       nullptr,
       {},
       0,
       3},
      {"data_parallel.bucket",
       "the scenario's, or its software's",
       bucket_of,
       set_bucket,
       [](const Scenario& s) { return Values{bucket_of(s)}; },
       nullptr,
       {},
       1,
       std::int64_t{1} << 20,
       "MiB"},
      {"parallelism.layers_per_stage",
       "given: as the scenario says, or its partition; balanced: by what layers take",
       [](const Scenario&) { return std::int64_t{0}; },
       set_layers,
       [](const Scenario&) { return all(2); },
       [] {
         return std::vector<std::string_view>{"given", "balanced"};
       },
       {"pipeline.partition", "pipeline.embedding_as_layer", "pipeline.head_as_layer"}},
  };
}

const std::vector<SearchAxis>& table() {
  static const std::vector<SearchAxis> all = [] {
    std::vector<SearchAxis> each = shared_axes();
    for (SearchAxis& axis : other_axes()) each.push_back(std::move(axis));
    return each;
  }();
  return all;
}

}  // namespace

std::span<const SearchAxis> axes() { return table(); }

std::size_t axis_named(std::string_view option, const std::string& key) {
  std::string names;
  for (std::size_t i = 0; i < kAxes; ++i) {
    if (axes()[i].key == key) return i;
    names += (i > 0 ? ", " : "") + std::string(axes()[i].key);
  }
  if (key == "parallelism.data")
    throw InputError(std::string(option), "found parallelism.data, which is what the other sizes leave of the GPUs");
  throw InputError(std::string(option), "found " + in_quotes(key) + ", expected one of " + names);
}

std::string text(const SearchAxis& axis, std::int64_t value) {
  if (axis.names == nullptr) return std::to_string(value) + (axis.unit.empty() ? "" : " ") + std::string(axis.unit);
  const std::vector<std::string_view> names = axis.names();
  const auto place = static_cast<std::size_t>(value);
  return place < names.size() ? std::string(names[place]) : "custom";
}

std::string written(const SearchAxis& axis, std::int64_t value) {
  std::string words = text(axis, value);
  if (!axis.list) return words;
  for (std::size_t at = 0; (at = words.find('-', at)) != words.npos; at += 2) words.replace(at, 1, ", ");
  return "[" + words + "]";
}

std::int64_t read_value(const SearchAxis& axis, std::string_view option, const std::string& written) {
  std::string allowed;
  if (axis.names != nullptr) {
    const std::vector<std::string_view> names = axis.names();
    if (const auto found = std::ranges::find(names, written); found != names.end()) return found - names.begin();
    for (const std::string_view name : names) allowed += (allowed.empty() ? "one of " : ", ") + std::string(name);
  } else {
    std::int64_t value = 0;
    const char* const last = written.data() + written.size();
    const auto [end, error] = std::from_chars(written.data(), last, value);
    std::string_view unit(end, static_cast<std::size_t>(last - end));
    if (unit.starts_with(' ') && !axis.unit.empty()) unit.remove_prefix(1);
    if (error == std::errc{} && unit == axis.unit && value >= axis.least && value <= axis.most) return value;
    allowed = "a whole number from " + std::to_string(axis.least) + " to " + std::to_string(axis.most);
    if (!axis.unit.empty()) allowed += " with the unit " + std::string(axis.unit);
  }
  throw InputError(std::string(option),
                   std::string(axis.key) + ": found " + in_quotes(written) + ", expected " + allowed);
}

}  // namespace stepcast::search
