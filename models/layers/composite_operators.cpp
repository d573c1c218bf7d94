#include "models/layers/composite_operators.h"

#include "models/layers/as_double.h"

namespace stepcast::schedules {
namespace {

/// Whether numbers of so many bytes are cast to fp32 and back.
bool goes_through_fp32(std::int64_t element) { return d(element) < kFp32; }
double casts_there_and_back(std::int64_t element) { return goes_through_fp32(element) ? 2 * (d(element) + kFp32) : 0; }

}  // namespace

void composite_rms_norm(Writer& w, double elements) {
  const std::int64_t element = w.z.residual_element;
  const double e = d(element);
  const int casts = goes_through_fp32(element) ? 2 : 0;
  // Square and product read and write, the mean reads; the weight's product.
  w.forward.touch(elements * (casts_there_and_back(element) + 5 * kFp32 + 2 * e), casts + 6);
  // The weight's product: two products and a sum, of which one product is for its input. The other one: products that
  // move 2 and 3 elements, and a sum. The square: a copy and two products. The sum of the input's two gradients. Root
  // and mean have one number a token, but four launches.
  const bool trained = !trains_adapters(w.s.training);
  w.backward.touch(elements * (casts_there_and_back(element) + 15 * kFp32 + (trained ? 6 : 2) * e),
                   casts + (trained ? 14 : 12));
}

void keep_composite_rms_norm(Writer& w, double elements) {
  if (goes_through_fp32(w.z.residual_element)) w.saves(elements * kFp32);
}

void composite_rotation(Writer& w, double elements) {
  const double bytes = elements * (2 * kFp32 + casts_there_and_back(w.z.element));
  const int kernels = goes_through_fp32(w.z.element) ? 6 : 2;
  w.forward.touch(bytes, kernels);
  w.backward.touch(bytes, kernels);
}

}  // namespace stepcast::schedules
