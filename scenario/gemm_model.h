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
};

}  // namespace stepcast::schedules
