#pragma once

#include <string>

namespace stepcast::app {

/// A report and its confidence band, apart: the band comes from configs/residuals.csv and so moves with predictions of
/// other runs. Golden reports hold none of it; Run.BandsOfReportsAreGolden has it alone.
struct BandApart {
  std::string report;  ///< without the lines and the column of the band
  std::string band;    ///< these lines and the cells of that column, one a line
};

BandApart band_apart(const std::string& text);

}  // namespace stepcast::app
