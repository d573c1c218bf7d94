#include "calibrate/measure/step/host_adam.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

namespace stepcast::measure {

void host_adam(const Adam& adam, bf16* parameters, float* master, float* first, float* second, const bf16* gradient,
               std::int64_t elements, int threads) {
  const auto correction = [&](float beta) { return static_cast<float>(1.0 / (1.0 - std::pow(beta, adam.step))); };
  const float correction1 = correction(adam.beta1), correction2 = correction(adam.beta2);
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const float g = to_float(gradient[i]) * adam.gradient_scale;
      first[i] = adam.beta1 * first[i] + (1.0f - adam.beta1) * g;
      second[i] = adam.beta2 * second[i] + (1.0f - adam.beta2) * g * g;
      const float move = first[i] * correction1 / (std::sqrt(second[i] * correction2) + adam.epsilon);
      master[i] -= adam.rate * (move + adam.decay * master[i]);
      parameters[i] = from_float<bf16>(master[i]);
    }
  };
  const std::int64_t each = (elements + threads - 1) / threads;
  std::vector<std::thread> others;
  for (std::int64_t begin = each; begin < elements; begin += each)
    others.emplace_back(part, begin, std::min(begin + each, elements));
  part(0, std::min(each, elements));
  for (std::thread& other : others) other.join();
}

}  // namespace stepcast::measure
