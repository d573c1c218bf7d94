#include "app/report/explanation.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/report/json_text.h"
#include "app/report/percent.h"
#include "app/report/text_table.h"
#include "language/core/visible_text.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using Align = TextTable::Align;
using calibrate::Explanation;
using calibrate::PhaseGap;
using calibrate::TermGap;
using Json = nlohmann::ordered_json;

double gap_s(const Explanation& e) { return to_seconds(e.measured) - to_seconds(e.predicted); }

std::string time_or_none(const std::optional<Time>& t) { return t ? text(*t) : "-"; }

std::string phase_table(const Explanation& e) {
  TextTable table({{"phase", Align::left}, {"measured"}, {"predicted"}, {"times"}, {"gap, s"}, {"of the gap"}});
  for (const PhaseGap& p : e.phases)
    table.add({p.phase, time_or_none(p.measured), time_or_none(p.predicted), fmt::format("{:.0f}", p.times),
               fmt::format("{:+.3g}", p.gap_s), fmt::format("{:.0f}%", 100 * p.gap_s / gap_s(e))});
  return "Phases that the measurement states: what they leave of the gap is all else\n\n" + table.text("  ") + "\n";
}

std::string term_table(const Explanation& e) {
  TextTable table({{"term", Align::left},
                   {"share"},
                   {"to close"},
                   {"plausible", Align::left},
                   {"neighbours"},
                   {"what its limit rests on", Align::left}});
  for (const TermGap& t : e.terms)
    table.add({std::string(t.term), fmt::format("{:.1f}%", 100 * t.share),
               t.factor ? fmt::format("x {:.2f}", *t.factor) : "none",
               fmt::format("{} (to x {})", t.plausible ? "yes" : "no", t.most),
               t.neighbours ? fmt::format("{:.1f}%", 100 * *t.neighbours) : "-", std::string(t.basis)});
  return "Terms changed alone: the factor on a term's time that makes this row right, and the neighbours' error with "
         "it\n\n" +
         table.text("  ");
}

Json seconds_or_null(const std::optional<Time>& time) { return time ? Json(to_seconds(*time)) : Json(nullptr); }

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace

std::string explanation_table(const std::string& name, const Explanation& e) {
  std::string out = fmt::format("{}: measured {:.4g} s, predicted {:.4g} s, error {}\n{}\n\n", language::visible(name),
                                to_seconds(e.measured), to_seconds(e.predicted),
                                signed_percent(e.predicted / e.measured - 1), e.verdict);
  if (!e.phases.empty()) out += phase_table(e);
  out += term_table(e);
  if (e.neighbours_error)
    out += fmt::format("\nneighbours: {} measured rows of the same GPU and software, {:.1f}% mean error as it is\n",
                       e.neighbours, 100 * *e.neighbours_error);
  return out;
}

std::string explanation_json(const std::string& name, const Explanation& e) {
  Json phases = Json::array(), terms = Json::array();
  for (const PhaseGap& p : e.phases)
    phases.push_back({{"phase", p.phase},
                      {"times", p.times},
                      {"measured_s", seconds_or_null(p.measured)},
                      {"predicted_s", seconds_or_null(p.predicted)},
                      {"gap_s", p.gap_s}});
  for (const TermGap& t : e.terms)
    terms.push_back({{"term", t.term},
                     {"share", t.share},
                     {"factor", value_or_null(t.factor)},
                     {"most", t.most},
                     {"plausible", t.plausible},
                     {"neighbours_error", value_or_null(t.neighbours)},
                     {"basis", t.basis}});
  const Json out{{"name", name},
                 {"measured_s", to_seconds(e.measured)},
                 {"predicted_s", to_seconds(e.predicted)},
                 {"error", e.predicted / e.measured - 1},
                 {"suspect", value_or_null(e.suspect)},
                 {"verdict", e.verdict},
                 {"neighbours", e.neighbours},
                 {"neighbours_error", value_or_null(e.neighbours_error)},
                 {"phases", std::move(phases)},
                 {"terms", std::move(terms)}};
  return json_text(out);
}

}  // namespace stepcast::app
