#include "calibrate/logs/step_trace.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "schedules/results/share_out.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

bool holds_any(const std::string& text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

/// What a kernel does that is neither a multiply nor attention, by its name alone.
TracePart part_by_name(std::string_view kernel) {
  constexpr std::string_view kOptimizer[] = {
      "adam", "lamb", "adagrad", "sgd", "multi_tensor_apply", "multitensorapply", "optimizer"};
  constexpr std::string_view kMemoryBound[] = {
      "at::native",    "at::cuda",      "cudnn::ops", "cudnn::bn", "batch_norm", "batchnorm",  "bn_fw",     "bn_bw",
      "elementwise",   "reduce",        "norm",       "softmax",   "dropout",    "copy",       "transpose", "nchw",
      "nhwc",          "embedding",     "gelu",       "relu",      "silu",       "swiglu",     "rope",      "rotary",
      "triton_",       "cross_entropy", "nll_loss",   "cast",      "fill",       "scatter",    "gather",    "sort",
      "scan",          "topk",          "permute",    "cub::",     "thrust::",   "index",      "pool",      "bias",
      "tensor_kernel", "concat",        "catarray",   "fused_add", "add_kernel", "mul_kernel", "pad",       "unpad",
      "welford",       "histogram",     "arange",     "mask",      "quant",      "scale",      "im2col",    "col2im"};
  std::string lower(kernel);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  // Many kernels are named after a lambda of C++, which is no LAMB.
  constexpr std::string_view kLambda = "lambda";
  for (std::size_t at = lower.find(kLambda); at != lower.npos; at = lower.find(kLambda, at))
    lower.erase(at, kLambda.size());
  if (holds_any(lower, kOptimizer)) return TracePart::optimizer;
  return holds_any(lower, kMemoryBound) ? TracePart::memory_bound : TracePart::unclassed;
}

TracePart part_of(KernelClass kind, const std::string& name) {
  switch (kind) {
    case KernelClass::gemm:
      return TracePart::multiplies;
    case KernelClass::attention:
      return TracePart::attention;
    case KernelClass::collective:
      return TracePart::communication;
    case KernelClass::copy:
      return TracePart::copy;
    case KernelClass::elementwise:
      break;
  }
  return part_by_name(name);
}

/// The time in which something is launched by an optimizer.
class OptimizerRanges {
 public:
  explicit OptimizerRanges(std::span<const HostMark> marks) {
    for (const HostMark& mark : marks)
      if (mark.kind == HostMark::Kind::optimizer) ranges_.emplace_back(mark.start, mark.start + mark.duration);
    std::ranges::sort(ranges_);
  }
  bool holds(Time at) const {
    const auto next = std::ranges::upper_bound(ranges_, at, {}, &std::pair<Time, Time>::first);
    return next != ranges_.begin() && at < std::prev(next)->second;
  }

 private:
  std::vector<std::pair<Time, Time>> ranges_;
};

/// The spans of one device and where its steps are cut.
class DeviceSpans {
 public:
  DeviceSpans(const KernelLog& log, std::uint32_t device) {
    for (const KernelSpan& span : log.spans)
      if (span.device == device) spans_.push_back(&span);
    std::ranges::stable_sort(spans_, {}, &KernelSpan::start);
    for (const KernelSpan* span : spans_)
      if (span->launched) launches_.emplace_back(*span->launched, span->start);
    std::ranges::sort(launches_);
    for (std::size_t i = launches_.size(); i-- > 1;)
      launches_[i - 1].second = std::min(launches_[i - 1].second, launches_[i].second);
  }

  const std::vector<const KernelSpan*>& all() const { return spans_; }

  /// When the device begins what the host launches from `at` on. Nothing: it launches nothing more.
  std::optional<Time> reached(Time at) const {
    if (launches_.empty()) return at;
    const auto first = std::ranges::lower_bound(launches_, at, {}, &std::pair<Time, Time>::first);
    return first == launches_.end() ? std::nullopt : std::optional(first->second);
  }
  Time end() const {
    Time last{};
    for (const KernelSpan* span : spans_) last = std::max(last, span->start + span->duration);
    return last;
  }

  std::vector<TracedStep> steps(std::span<const HostMark> marks) const {
    std::map<Time, const HostMark*> in_order;
    std::set<std::string_view> names;
    for (const HostMark& mark : marks)
      if (mark.kind == HostMark::Kind::step && names.insert(mark.name).second) in_order.emplace(mark.start, &mark);
    std::vector<TracedStep> out;
    for (const auto& [start, mark] : in_order) {
      const std::optional<Time> from = reached(start), to = reached(start + mark->duration);
      const Time last = to.value_or(std::max(end(), start + mark->duration));
      if (from && *from < last && *from <= end()) out.push_back({mark->name, *from, last});
    }
    if (out.empty()) out.push_back({"", spans_.front()->start, end()});
    return out;
  }

 private:
  std::vector<const KernelSpan*> spans_;         ///< by start
  std::vector<std::pair<Time, Time>> launches_;  ///< when, and when the first of those from then on begins
};

const TracedStep& chosen(const std::vector<TracedStep>& steps, const std::optional<std::string>& name) {
  if (!name) {
    std::vector<const TracedStep*> by_length;
    for (const TracedStep& step : steps) by_length.push_back(&step);
    std::ranges::stable_sort(by_length, {}, [](const TracedStep* step) { return step->to - step->from; });
    return *by_length[(by_length.size() - 1) / 2];
  }
  for (const TracedStep& step : steps)
    if (step.name == *name || step.name == "ProfilerStep#" + *name) return step;
  const std::string has = steps.front().name.empty() ? "a trace without marks of steps"
                                                     : "one of " + steps.front().name + " to " + steps.back().name;
  throw InputError("", "found no step " + in_quotes(*name) + ", expected " + has);
}

/// What ran when, for those who draw it; nothing is kept where nobody asks.
class TracedRows {
 public:
  TracedRows(const KernelLog& log, const TracedStep& step, bool asked) : log_(log), begin_(step.from), asked_(asked) {}

  /// In order of their beginnings. What begins on a stream before the one ahead has ended is told from there on.
  void add(const KernelSpan& span, TracePart part, Time from, Time to) {
    if (!asked_) return;
    std::vector<TracedStretch>& row = streams_[span.stream];
    if (!row.empty()) from = std::max(from, begin_ + row.back().start + row.back().duration);
    if (from >= to) return;
    const auto [known, fresh] = places_.try_emplace(span.name, static_cast<std::uint32_t>(kernels_.size()));
    if (fresh) kernels_.push_back(log_.names[span.name]);
    row.push_back({part, known->second, from - begin_, to - from});
  }
  void add_as_whole(TracePart part, Time from, Time to) {
    if (!asked_) return;
    if (!whole_.empty() && whole_.back().part == part)
      whole_.back().duration += to - from;
    else
      whole_.push_back({part, {}, from - begin_, to - from});
  }
  void move_to(StepTrace& out) {
    if (!asked_) return;
    out.rows.push_back({{}, std::move(whole_)});
    for (auto& [stream, stretches] : streams_) out.rows.push_back({stream, std::move(stretches)});
    out.kernels = std::move(kernels_);
  }

 private:
  const KernelLog& log_;
  const Time begin_;
  const bool asked_;
  std::vector<TracedStretch> whole_;
  std::map<std::uint32_t, std::vector<TracedStretch>> streams_;
  std::map<std::uint32_t, std::uint32_t> places_;  ///< of the log's names among `kernels_`
  std::vector<std::string> kernels_;
};

/// Sweeps over a step and gives each moment to the first part that is at work then.
class Sweep {
 public:
  Sweep(const DeviceSpans& spans, const KernelLog& log, const TracedStep& step, bool rows, StepTrace& out)
      : spans_(spans), log_(log), step_(step), optimizer_(log.marks), rows_(log, step, rows), out_(out) {}

  void run() {
    collect();
    std::ranges::sort(edges_);
    Time now = step_.from;
    for (std::size_t i = 0; i < edges_.size();) {
      const Time at = edges_[i].at;
      give(now, at);
      for (; i < edges_.size() && edges_[i].at == at; ++i) running_[edges_[i].slot] += edges_[i].begins ? 1 : -1;
      now = at;
    }
    give(now, step_.to);
    for (std::size_t i = 0; i < keys_.size(); ++i) out_.collectives[i].exposed = exposed_[i];
    rows_.move_to(out_);
  }

 private:
  /// Of a collective: operation and ranks.
  using Key = std::tuple<int, std::uint32_t>;
  struct SweepEdge {
    Time at{};
    std::uint32_t slot = 0;
    bool begins = false;
    friend auto operator<=>(const SweepEdge&, const SweepEdge&) = default;
  };
  static constexpr std::uint32_t kFirstCollective = static_cast<std::uint32_t>(TracePart::communication);

  static Key key_of(const KernelSpan& span) {
    return {span.operation ? static_cast<int>(*span.operation) : std::numeric_limits<int>::max(), span.ranks};
  }
  TracePart part(const KernelSpan& span) {
    const auto [at, fresh] = parts_by_name_.try_emplace({span.name, span.kind}, TracePart::idle);
    TracePart& known = at->second;
    if (fresh) known = part_of(span.kind, log_.names[span.name]);
    const bool is_compute = known < TracePart::communication;
    return is_compute && span.launched && optimizer_.holds(*span.launched) ? TracePart::optimizer : known;
  }

  void collect() {
    std::vector<std::pair<const KernelSpan*, TracePart>> inside;
    for (const KernelSpan* span : spans_.all()) {
      if (span->start >= step_.to || span->start + span->duration <= step_.from) continue;
      inside.emplace_back(span, part(*span));
      if (inside.back().second == TracePart::communication) keys_.emplace(key_of(*span), 0);
    }
    std::uint32_t next = 0;
    for (auto& [key, number] : keys_) {
      number = next++;
      TracedCollective& one = out_.collectives.emplace_back();
      if (std::get<0>(key) != std::numeric_limits<int>::max())
        one.operation = static_cast<collectives::Operation>(std::get<0>(key));
      one.ranks = std::get<1>(key);
    }
    exposed_.resize(keys_.size());
    running_.resize(kFirstCollective + keys_.size() + 1);
    std::map<std::uint32_t, Time> streams;
    std::map<std::pair<std::uint32_t, KernelClass>, std::vector<Time>> unclassed;
    for (const auto& [span, part] : inside) {
      const Time from = std::max(span->start, step_.from), to = std::min(span->start + span->duration, step_.to);
      std::uint32_t slot = static_cast<std::uint32_t>(part);
      if (part == TracePart::communication) {
        const std::uint32_t number = keys_.at(key_of(*span));
        slot = kFirstCollective + number;
        ++out_.collectives[number].count;
        out_.collectives[number].total += to - from;
      }
      if (part == TracePart::copy) slot = static_cast<std::uint32_t>(running_.size() - 1);
      rows_.add(*span, part, from, to);
      edges_.push_back({from, slot, true});
      edges_.push_back({to, slot, false});
      streams[span->stream] += to - from;
      if (part == TracePart::unclassed) unclassed[{span->name, span->kind}].push_back(to - from);
    }
    for (const auto& [stream, busy] : streams) out_.streams.push_back({stream, busy});
    for (auto& [key, times] : unclassed) {
      std::ranges::sort(times);
      KernelTotal& total = out_.unclassed.emplace_back();
      total = {log_.names[key.first], key.second, times.size(), {}, times[(times.size() - 1) / 2]};
      for (const Time time : times) total.total += time;
    }
    std::ranges::stable_sort(out_.unclassed, std::ranges::greater{}, &KernelTotal::total);
  }

  void give(Time from, Time to) {
    if (from >= to) return;
    const auto first = std::ranges::find_if(running_, [](std::int64_t n) { return n > 0; });
    if (first == running_.end()) {
      add(waits_for_host(from, to) ? TracePart::host : TracePart::idle, from, to);
      return;
    }
    const auto slot = static_cast<std::uint32_t>(first - running_.begin());
    if (slot < kFirstCollective) return add(static_cast<TracePart>(slot), from, to);
    if (slot + 1 == running_.size()) return add(TracePart::copy, from, to);
    exposed_[slot - kFirstCollective] += to - from;
    add(TracePart::communication, from, to);
  }
  void add(TracePart part, Time from, Time to) {
    out_.parts[static_cast<std::size_t>(part)] += to - from;
    rows_.add_as_whole(part, from, to);
  }

  /// Whether what begins first from `to` on was launched after `from`.
  bool waits_for_host(Time from, Time to) const {
    const auto next = std::ranges::lower_bound(spans_.all(), to, {}, &KernelSpan::start);
    return next != spans_.all().end() && (*next)->launched && *(*next)->launched > from;
  }

  const DeviceSpans& spans_;
  const KernelLog& log_;
  const TracedStep& step_;
  const OptimizerRanges optimizer_;
  TracedRows rows_;
  StepTrace& out_;
  std::map<std::pair<std::uint32_t, KernelClass>, TracePart> parts_by_name_;
  std::map<Key, std::uint32_t> keys_;  ///< numbers of the collectives
  std::vector<Time> exposed_;
  std::vector<std::int64_t> running_;  ///< by slot: parts of compute, collectives, copies
  std::vector<SweepEdge> edges_;
};

/// The mean of so many steps that were told as one.
void divide(StepTrace& trace, std::uint32_t steps) {
  if (steps == 1) return;
  trace.length = {trace.length.value / steps};
  const std::vector<Time> parts = schedules::means(trace.length, trace.parts, steps);
  std::ranges::copy(parts, trace.parts.begin());
  std::vector<Time> exposed;
  for (TracedCollective& each : trace.collectives) {
    exposed.push_back(each.exposed);
    each.total = {each.total.value / steps};
  }
  if (!exposed.empty()) exposed = schedules::means(trace.part(TracePart::communication), exposed, steps);
  for (std::size_t i = 0; i < exposed.size(); ++i) trace.collectives[i].exposed = exposed[i];
  for (StreamTime& stream : trace.streams) stream.busy = {stream.busy.value / steps};
  for (KernelTotal& kernel : trace.unclassed) kernel.total = {kernel.total.value / steps};
}

}  // namespace

StepTrace step_trace(const KernelLog& log, const TraceChoice& choice) {
  check_total(log);
  StepTrace out;
  std::set<std::uint32_t> devices;
  for (const KernelSpan& span : log.spans) devices.insert(span.device);
  out.devices.assign(devices.begin(), devices.end());
  if (devices.empty()) throw InputError("", "found nothing that ran on a GPU");
  out.device = choice.device.value_or(out.devices.front());
  if (!devices.contains(out.device))
    throw InputError("", "found nothing on device " + std::to_string(out.device) + ", expected one of " +
                             std::to_string(out.devices.front()) + " to " + std::to_string(out.devices.back()));
  const DeviceSpans spans(log, out.device);
  out.steps = spans.steps(log.marks);
  const TracedStep& step = chosen(out.steps, choice.step);
  out.name = step.name;
  out.length = step.to - step.from;
  const std::uint32_t told_as_one = step.name.empty() ? choice.steps : 1;
  Sweep(spans, log, step, choice.rows && told_as_one == 1, out).run();
  divide(out, told_as_one);
  return out;
}

}  // namespace stepcast::calibrate
