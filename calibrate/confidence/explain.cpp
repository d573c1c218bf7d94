#include "calibrate/confidence/explain.h"

#include <algorithm>
#include <cmath>

#include "calibrate/confidence/terms.h"
#include "schedules/forecast.h"
#include "schedules/results/phases.h"

namespace stepcast::calibrate {
namespace {

using schedules::Forecast;
using schedules::Scenario;
using schedules::StageReport;

constexpr double kMostFactor = 8;
constexpr int kHalvings = 14;        // of ln(64): the factor to 0.03%
constexpr double kWorthwhile = 0.9;  // a change that leaves more of the neighbours' errors than this proves nothing

double predicted_s(Scenario s, const Term& term, double factor) {
  term.scale(s, factor);
  return to_seconds(schedules::forecast(s).step);
}

double measured_s(const Scenario& s) { return to_seconds(*s.measured.step_time); }

/// The factor on a term that makes the prediction right. Predictions rise with the factor.
std::optional<double> closing_factor(const Scenario& row, const Term& term) {
  double low = -std::log(kMostFactor), high = std::log(kMostFactor);
  const double aim = measured_s(row);
  if (predicted_s(row, term, std::exp(low)) > aim || predicted_s(row, term, std::exp(high)) < aim) return std::nullopt;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (predicted_s(row, term, std::exp(middle)) < aim ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

double mean_error(std::span<const Scenario* const> rows, const Term& term, double factor) {
  double sum = 0;
  for (const Scenario* row : rows) sum += std::abs(std::log(predicted_s(*row, term, factor) / measured_s(*row)));
  return sum / static_cast<double>(rows.size());
}

/// What a stated phase is in the forecast, and how often it stands in the step: a layer as often as the stage with the
/// most layers runs one.
PhaseGap phase_gap(const Scenario& s, const Forecast& f, const std::string& name, Time measured) {
  PhaseGap gap{name, 1, measured, {}, 0};
  const schedules::Phase* phase = schedules::find_phase(name);
  if (phase == nullptr) return gap;
  gap.predicted = phase->predicted(f);
  if (phase->of_a_layer) {
    std::int64_t layers = 0;
    for (const StageReport& stage : f.stages) layers = std::max(layers, stage.layers);
    gap.times = static_cast<double>(layers) * micro_batches(s);
  }
  if (gap.predicted) gap.gap_s = (to_seconds(measured) - to_seconds(*gap.predicted)) * gap.times;
  return gap;
}

std::vector<PhaseGap> phase_gaps(const Scenario& s, const Forecast& f) {
  std::vector<PhaseGap> out;
  double left = measured_s(s) - to_seconds(f.step);
  for (const auto& [name, measured] : s.measured.phases) {
    out.push_back(phase_gap(s, f, name, measured));
    left -= out.back().gap_s;
  }
  if (!out.empty()) out.push_back({"all else", 1, {}, {}, left});
  return out;
}

/// Below 1: the change would make the neighbours better, too.
double left_of(const TermGap& term, const Explanation& e) {
  return term.neighbours && e.neighbours_error ? *term.neighbours / *e.neighbours_error : 1;
}

/// How far a factor is past what is plausible; 1: just so.
double strain(const TermGap& term) {
  return term.factor ? std::abs(std::log(*term.factor)) / std::log(term.most) : INFINITY;
}

void judge(Explanation& e) {
  const auto helps = [&](const TermGap& term) { return left_of(term, e) < kWorthwhile; };
  // What makes the neighbours better first; then plausible before not; then by how little has to change.
  std::ranges::stable_sort(e.terms, [&](const TermGap& a, const TermGap& b) {
    if (helps(a) != helps(b)) return helps(a);
    if (a.plausible != b.plausible) return a.plausible;
    if (helps(a) && left_of(a, e) != left_of(b, e)) return left_of(a, e) < left_of(b, e);
    return strain(a) < strain(b);
  });
  if (e.terms.empty()) return;
  const TermGap& first = e.terms.front();
  const std::string name(first.term);
  if (helps(first)) {
    e.suspect = first.term;
    e.verdict = "most likely " + name + ": the same change makes the neighbours better" +
                (first.plausible ? "" : ", though it is further off than is plausible");
  } else if (!first.plausible) {
    e.verdict = "no term alone: each would have to be further off than is plausible, " + name + " the least";
  } else if (e.neighbours == 0) {
    e.suspect = first.term;
    e.verdict = "most likely " + name + ", the smallest change for its uncertainty; no neighbours to ask";
  } else {
    e.verdict = "no term alone: the neighbours contradict each plausible change, first of all " + name +
                "; what is special to this row, or scatter";
  }
}

}  // namespace

Explanation explain(const Scenario& row, std::span<const Scenario* const> neighbours) {
  const Forecast forecast = schedules::forecast(row);
  Explanation out{*row.measured.step_time, forecast.step, phase_gaps(row, forecast), {}, neighbours.size(), {}, {}, {}};
  if (!neighbours.empty()) out.neighbours_error = mean_error(neighbours, terms().front(), 1);
  constexpr double kStep = 1.05;
  for (const Term& term : terms()) {
    TermGap gap{term.name, term.basis, 0, {}, term.most, false, {}};
    gap.share = std::log(predicted_s(row, term, kStep) / predicted_s(row, term, 1 / kStep)) / (2 * std::log(kStep));
    if (gap.share == 0) continue;
    gap.factor = closing_factor(row, term);
    gap.plausible = strain(gap) <= 1;
    if (gap.factor && !neighbours.empty()) gap.neighbours = mean_error(neighbours, term, *gap.factor);
    out.terms.push_back(gap);
  }
  judge(out);
  return out;
}

}  // namespace stepcast::calibrate
