#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/confidence/traits.h"
#include "sim/units.h"

namespace stepcast::calibrate {

/// How far a forecast was from one measured run.
struct Residual {
  std::string table, name;
  Traits traits;
  double error = 0;  ///< predicted / measured - 1
};

/// The share of measured runs that lie in a band.
inline constexpr double kCoverage = 0.8;

/// Where a measurement of the same plan is expected.
struct Band {
  Time low{}, high{};  ///< low <= predicted <= high
  std::size_t rows = 0;
  std::string like;  ///< which measured rows made it: "of megatron-core on b200"
  bool in_range = false;
  std::vector<std::string> out_of_range;  ///< why not, one reason each
};

using Rows = std::span<const Residual* const>;

/// The rows but for one run, or, without a name, but for a whole table. They must outlive the result.
std::vector<const Residual*> without(std::span<const Residual> rows, const std::string& table, const std::string& name);

/// From the errors of measured rows, none of which may be of the run itself (without()).
///
/// Rows of the same software, GPU and model family make the band, each side the order statistic that holds kCoverage of
/// the next row if rows are exchangeable (split conformal prediction: Vovk et al. 2005; Lei et al., JASA 113, 2018):
/// of n errors the floor((n+1)(1-kCoverage)/2)-th from each end, which takes nine rows. With fewer: of the same
/// software and GPU, then of the same GPU, then all; those and what is out of range pool the tables with equal weights,
/// since the next run is like a row of a new table (Dunn, Wasserman and Ramdas, JASA 118, 2023, arXiv 1809.07441, "CDF
/// pooling"). Out of range the band holds both. A band is stretched to its forecast where all rows like it err to one
/// side. Without any row: none.
std::optional<Band> band(Rows rows, const Traits& plan, Time predicted);

/// Why a plan is not like the rows: those of its software and GPU, or else what there is. Empty: it is.
std::vector<std::string> out_of_range(Rows rows, const Traits& plan);

}  // namespace stepcast::calibrate
