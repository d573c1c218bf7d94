#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "app/report/json.h"

namespace stepcast::app {
namespace {

using schedules::Forecast;

/// Writes events one after the other: a document in memory would take a hundred times their space.
class TraceWriter {
 public:
  TraceWriter() { text_ += "{\"displayTimeUnit\":\"ms\",\"traceEvents\":["; }

  void name(std::string_view what, std::uint32_t process, std::uint32_t thread, std::string_view text) {
    add(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", what, process, thread, quoted(text));
  }
  void order(std::string_view what, std::uint32_t process, std::uint32_t thread, std::uint32_t at) {
    add(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", what, process, thread, at);
  }
  void span(const schedules::Span& span, std::string_view stream) {
    add(R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{}}})", quoted(span.name), stream,
        span.stage, span.stream, microseconds_text(span.start), microseconds_text(span.duration));
  }
  /// An arrow: where it begins and where it ends, inside the spans that are there then.
  void arrow(const schedules::Arrow& arrow, std::size_t number) {
    add(R"({{"ph":"s","id":{},"name":"send","cat":"pipeline","pid":{},"tid":{},"ts":{}}})", number, arrow.from_stage,
        arrow.from_stream, microseconds_text(arrow.sent));
    add(R"({{"ph":"f","bp":"e","id":{},"name":"send","cat":"pipeline","pid":{},"tid":0,"ts":{}}})", number,
        arrow.to_stage, microseconds_text(arrow.received));
  }
  void memory(const schedules::MemoryPoint& point) {
    add(R"({{"ph":"C","name":"memory, bytes","pid":{},"ts":{},"args":{{"state":{},"activations":{},"total":{}}}}})",
        point.stage, microseconds_text(point.at), point.state.value, point.activations.value,
        (point.state + point.activations).value);
  }
  void link_use(const schedules::LinkPoint& point) {
    constexpr double kPercent = 100;
    add(R"({{"ph":"C","name":"busiest link, %","pid":{},"ts":{},"args":{{"use":{:.3f}}}}})", point.stage,
        microseconds_text(point.at), kPercent * point.use);
  }
  std::string finished() && { return std::move(text_) + "]}\n"; }

 private:
  static std::string quoted(std::string_view text) { return nlohmann::json(text).dump(); }
  /// Every picosecond of it.
  static std::string microseconds_text(Time t) {
    constexpr std::int64_t kMicrosecond = 1'000'000;
    return fmt::format("{}.{:06}", t.value / kMicrosecond, t.value % kMicrosecond);
  }
  template <class... Parts>
  void add(fmt::format_string<const Parts&...> form, const Parts&... parts) {
    if (std::exchange(some_, true)) text_ += ",\n";
    fmt::format_to(std::back_inserter(text_), form, parts...);
  }

  std::string text_;
  bool some_ = false;
};

}  // namespace

std::string trace_json(const Forecast& f) {
  TraceWriter out;
  for (const auto& stage : f.stages) {
    out.name("process_name", stage.stage, 0, "stage " + std::to_string(stage.stage));
    out.order("process_sort_index", stage.stage, 0, stage.stage);
    for (std::uint32_t stream = 0; stream < f.streams.size(); ++stream) {
      out.name("thread_name", stage.stage, stream, f.streams[stream]);
      out.order("thread_sort_index", stage.stage, stream, stream);
    }
  }
  for (const schedules::Span& span : f.spans) out.span(span, f.streams[span.stream]);
  for (std::size_t i = 0; i < f.arrows.size(); ++i) out.arrow(f.arrows[i], i);
  for (const schedules::MemoryPoint& point : f.memory) out.memory(point);
  for (const schedules::LinkPoint& point : f.link_use) out.link_use(point);
  return std::move(out).finished();
}

}  // namespace stepcast::app
