#pragma once

namespace stepcast::schedules {

/// Constants of the matrix-multiply model for one GPU. Rates are fractions of the precision's peak.
struct GemmModel {
  double mainloop = 0.9;       ///< what an SM busy on a 256x128 tile reaches
  double sustained = 0.85;     ///< what the whole chip holds under its power limit
  double tile_128 = 0.8;       ///< a 128x128 tile's rate over a 256x128 tile's
  double tile_64 = 0.5;        ///< a 128x64 tile's, likewise; squared for 64x64
  double fill = 100;           ///< start-up of a tile, in elements of k multiplied in that time
  double exposed_write = 0.5;  ///< share of the time to write the results that the multiplying does not hide, [0, 1]
  /// Rate where not every row of the three matrices begins at a multiple of 16 bytes, over the rate where every row
  /// does: for multiples of 4 or 8 bytes, and for those of 2 or 1. The defaults are an A100's (docs/model.md).
  double aligned_4 = 0.61, aligned_2 = 0.28;
};

}  // namespace stepcast::schedules
