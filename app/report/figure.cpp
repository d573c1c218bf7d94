#include "app/report/figure.h"

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <functional>
#include <type_traits>

#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using schedules::Unit;

Figure bare(Time t) { return to_seconds(t); }
Figure bare(Bytes n) { return n.value; }
Figure bare(FlopRate rate) { return rate.value; }
Figure bare(double value) { return value; }
Figure bare(std::unsigned_integral auto count) { return static_cast<std::int64_t>(count); }
template <class T>
Figure bare(const std::optional<T>& value) {
  return value ? bare(*value) : Figure{};
}

std::string number_text(double value, Unit unit) {
  switch (unit) {
    case Unit::seconds:
      return fmt::format("{:.4g} s", value);
    case Unit::bytes:
      return stepcast::text(Bytes{std::llround(value)});
    case Unit::flops_per_second:
      return rounded(value / 1e12, 1) + " TFLOP/s";
    case Unit::share:
      return fmt::format("{:.1f}%", 100 * value);
    case Unit::per_second:
    case Unit::count:
      break;
  }
  return rounded(value, 0);
}

}  // namespace

Figure figure(const schedules::ReportedQuantity& quantity, const Answer& answer) {
  if (!answer.forecast || !(answer.forecast->simulated || quantity.places.planned)) return {};
  const auto read = [&](const auto& how) {
    if constexpr (std::is_invocable_v<decltype(how), const schedules::Scenario&>)
      return bare(how(answer.question.scenario));
    else
      return bare(std::invoke(how, *answer.forecast));
  };
  return std::visit(read, quantity.read);
}

std::string plain_text(const Figure& figure) {
  if (const auto* whole = std::get_if<std::int64_t>(&figure)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&figure)) return fmt::format("{}", *number);
  return {};
}

std::string text(const Figure& figure, Unit unit) {
  if (const auto* whole = std::get_if<std::int64_t>(&figure))
    return unit == Unit::count ? std::to_string(*whole) : number_text(static_cast<double>(*whole), unit);
  if (const auto* number = std::get_if<double>(&figure)) return number_text(*number, unit);
  return {};
}

std::string rounded(double value, int decimals) {
  return value < (decimals == 0 ? 10 : 1) && value > 0 ? fmt::format("{:.2g}", value)
                                                       : fmt::format("{:.{}f}", value, decimals);
}

}  // namespace stepcast::app
