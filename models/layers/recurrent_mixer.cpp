#include "models/layers/recurrent_mixer.h"

#include <algorithm>

#include "models/layers/adapters.h"
#include "models/layers/as_double.h"
#include "models/layers/kept_inputs.h"
#include "models/layers/multiply_pair.h"
#include "models/layers/shared_operators.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;
using Kind = OperatorKind;

/// Times that context ranks hold what several heads share: where there are more ranks than groups of heads, each has a
/// copy of its group's.
double copies_of_shared(const StackSizes& z, std::int64_t groups) { return d(std::max(groups, z.context)) / d(groups); }

/// Columns that the scan gets, of all context ranks together.
double scan_columns(const StackSizes& z, const MixerColumns& c, std::int64_t groups) {
  return d(c.in - c.shared) + d(c.shared) * copies_of_shared(z, groups);
}

/// Between a part of the sequence for all heads and all of it for some. Parts of the sequence are an early and a late
/// one, and a copy puts them in order.
void swap_parts(PassWriter& w, double columns) {
  if (w.z.context == 1) return;
  const double bytes = d(w.z.tokens) * columns * d(w.z.element);
  w.exchange(Among::context, Operation::all_to_all, bytes);
  w.touch(2 * bytes, 2);
}

}  // namespace

std::int64_t own_groups(const StackSizes& z, std::int64_t groups) {
  return std::max<std::int64_t>(groups / (z.grid.columns * z.context), 1);
}

void enter_mixer(Writer& w, const MixerColumns& c, std::int64_t groups, std::int64_t taps, bool bias) {
  const StackSizes& z = w.z;
  norm_of_half(w, Kind::mixer_in);
  first_multiply(w, Kind::mixer_in, c.in);
  const double columns = scan_columns(z, c, groups);
  w.saves(d(z.tokens) * columns * d(z.element));
  adapt_first(w, Kind::mixer_in, c.in);

  const double convolved = d(z.tokens) * d(c.convolved) * d(z.element);
  w.begin(Kind::short_convolution);
  w.owns(d(c.convolved) * d(taps + (bias ? 1 : 0)));
  swap_parts(w.forward, columns);
  w.forward.touch(2 * convolved);
  // Backward makes its result again, then reads input and gradient and writes the input's.
  w.backward.touch(2 * convolved);
  w.backward.touch(3 * convolved);
  swap_parts(w.backward, columns);
}

void leave_mixer(Writer& w, const MixerColumns& c, double scale) {
  const StackSizes& z = w.z;
  const double bytes = d(z.tokens) * d(c.inner) * d(z.element);
  w.begin(Kind::gated_norm);
  w.owns(scale);
  swap_parts(w.forward, d(c.inner));
  w.forward.touch(2 * bytes);
  w.backward.touch(5 * bytes, 2);
  swap_parts(w.backward, d(c.inner));
  w.saves(bytes);
  second_multiply(w, Kind::mixer_out, c.inner);
  w.saves(d(z.tokens) * d(c.inner) * kept_of_input(w.s, Kind::mixer_out));
  adapt_second(w, Kind::mixer_out, c.inner);
  residual(w, 0);
}

}  // namespace stepcast::schedules
