#include "models/layers/autocast_kernels.h"

#include "models/layers/as_double.h"
#include "models/layers/autocast.h"

namespace stepcast::schedules {

void cast_for_multiplies(Writer& w, double elements) {
  if (!casts_apart(w.s)) return;
  const double bytes = elements * d(w.z.residual_element + w.z.element);
  w.begin(OperatorKind::cast);
  w.forward.touch(bytes);
  w.backward.touch(bytes);
}

void cast_gradient_of_branch(PassWriter& w) {
  if (casts_apart(w.s))
    w.touch(w.z.residual * d(w.z.residual_element + w.z.element));
  else if (autocasts(w.s))
    w.touch(w.z.residual * d(w.z.element), 0);  // the sum of the stream's gradients writes it too
}

}  // namespace stepcast::schedules
