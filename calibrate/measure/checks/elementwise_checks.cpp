#include <numeric>

#include "calibrate/measure/checks/kernel_check.h"
#include "calibrate/measure/kernels/activation.h"
#include "calibrate/measure/kernels/adam.h"
#include "calibrate/measure/kernels/cross_entropy.h"
#include "calibrate/measure/kernels/dropout.h"
#include "calibrate/measure/kernels/embedding.h"
#include "calibrate/measure/kernels/norm.h"
#include "calibrate/measure/kernels/softmax.h"

namespace stepcast::measure {
namespace {

using Doubles = std::vector<double>;

constexpr std::int64_t kRows = 37, kColumns = 1048;  // no whole number of warps' packs

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

template <class T>
struct NormData {
  bool layer;
  RandomInput<T> x, dy, residual, gamma, beta;
  Buffer<float> mean{kRows}, rstd{kRows};
  NormData(bool layer_, cudaStream_t s)
      : layer(layer_),
        x(kRows * kColumns, 1, s, 2.0f),
        dy(kRows * kColumns, 2, s),
        residual(kRows * kColumns, 3, s),
        gamma(kColumns, 4, s),
        beta(kColumns, 5, s) {}
  Norm<T> norm() const {
    return {kRows, kColumns, gamma.data(), layer ? beta.data() : nullptr, layer ? mean.data() : nullptr, rstd.data()};
  }
  double mean_of(std::int64_t r) const {
    if (!layer) return 0;
    double sum = 0;
    for (std::int64_t c = 0; c < kColumns; ++c) sum += x[r * kColumns + c];
    return sum / kColumns;
  }
  double rstd_of(std::int64_t r) const {
    const double m = mean_of(r);
    double sum = 0;
    for (std::int64_t c = 0; c < kColumns; ++c) sum += (x[r * kColumns + c] - m) * (x[r * kColumns + c] - m);
    return 1 / std::sqrt(sum / kColumns + 1e-5);
  }
};

template <class T>
double norm_forward_error(bool layer, cudaStream_t s) {
  const NormData<T> data(layer, s);
  const Buffer<T> y(kRows * kColumns);
  norm_forward(data.norm(), data.x.data(), y.data(), s);
  Doubles want(at(kRows * kColumns));
  for (std::int64_t r = 0; r < kRows; ++r) {
    const double m = data.mean_of(r), d = data.rstd_of(r);
    for (std::int64_t c = 0; c < kColumns; ++c) {
      want[at(r * kColumns + c)] = (data.x[r * kColumns + c] - m) * d * data.gamma[c] + (layer ? data.beta[c] : 0);
    }
  }
  return worst_error(y.values(s), want);
}

template <class T>
double norm_backward_error(bool layer, cudaStream_t s) {
  const NormData<T> data(layer, s);
  const Buffer<T> y(kRows * kColumns), dx(kRows * kColumns);
  const Buffer<float> dgamma(kColumns), dbeta(kColumns);
  fill_value(dgamma.data(), kColumns, 0.5f, s);  // it adds
  fill_value(dbeta.data(), kColumns, 0.0f, s);
  norm_forward(data.norm(), data.x.data(), y.data(), s);
  norm_backward(data.norm(), data.x.data(), data.dy.data(), data.residual.data(), dx.data(), dgamma.data(),
                layer ? dbeta.data() : nullptr, s);
  Doubles want(at(kRows * kColumns)), want_gamma(at(kColumns), 0.5), want_beta(at(kColumns));
  for (std::int64_t r = 0; r < kRows; ++r) {
    const double m = data.mean_of(r), d = data.rstd_of(r);
    double sum = 0, product = 0;
    for (std::int64_t c = 0; c < kColumns; ++c) {
      const double n = (data.x[r * kColumns + c] - m) * d, dy = data.dy[r * kColumns + c], g = dy * data.gamma[c];
      sum += g;
      product += g * n;
      want_gamma[at(c)] += dy * n;
      want_beta[at(c)] += layer ? dy : 0;
    }
    for (std::int64_t c = 0; c < kColumns; ++c) {
      const std::int64_t i = r * kColumns + c;
      const double n = (data.x[i] - m) * d, g = data.dy[i] * data.gamma[c];
      want[at(i)] = d * (g - (layer ? sum / kColumns : 0) - n * product / kColumns) + data.residual[i];
    }
  }
  return std::max({worst_error(dx.values(s), want), worst_error(dgamma.values(s), want_gamma),
                   worst_error(dbeta.values(s), want_beta)});
}

template <class T>
double softmax_error(bool backward, cudaStream_t s) {
  const RandomInput<T> x(kRows * kColumns, 1, s, 4.0f), dy(kRows * kColumns, 2, s);
  const Buffer<T> y(kRows * kColumns), dx(kRows * kColumns);
  softmax_forward(x.data(), y.data(), kRows, kColumns, s);
  softmax_backward(y.data(), dy.data(), dx.data(), kRows, kColumns, s);
  const Doubles rounded = wide(y.values(s));
  Doubles want(at(kRows * kColumns));
  for (std::int64_t r = 0; r < kRows; ++r) {
    double sum = 0, product = 0;
    for (std::int64_t c = 0; c < kColumns; ++c) {
      sum += std::exp(x[r * kColumns + c]);
      product += rounded[at(r * kColumns + c)] * dy[r * kColumns + c];
    }
    for (std::int64_t i = r * kColumns; i < (r + 1) * kColumns; ++i)
      want[at(i)] = backward ? rounded[at(i)] * (dy[i] - product) : std::exp(x[i]) / sum;
  }
  return worst_error(backward ? dx.values(s) : y.values(s), want);
}

double gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
double silu(double x) { return x / (1 + std::exp(-x)); }
/// Central difference: a reference that shares no formula with the kernel.
double slope(double (*f)(double), double x) { return (f(x + 1e-5) - f(x - 1e-5)) / 2e-5; }

template <class T>
double gelu_error(bool backward, cudaStream_t s) {
  const RandomInput<T> x(kRows * kColumns, 1, s, 4.0f), dy(kRows * kColumns, 2, s);
  const Buffer<T> y(kRows * kColumns);
  if (backward) {
    gelu_backward(x.data(), dy.data(), y.data(), kRows * kColumns, s);
  } else {
    gelu_forward(x.data(), y.data(), kRows * kColumns, s);
  }
  Doubles want;
  for (std::int64_t i = 0; i < kRows * kColumns; ++i) want.push_back(backward ? dy[i] * slope(gelu, x[i]) : gelu(x[i]));
  return worst_error(y.values(s), want);
}

template <class T>
double swiglu_error(bool backward, cudaStream_t s) {
  const RandomInput<T> x(2 * kRows * kColumns, 1, s, 4.0f), dy(kRows * kColumns, 2, s);
  const Buffer<T> y((backward ? 2 : 1) * kRows * kColumns);
  if (backward) {
    swiglu_backward(x.data(), dy.data(), y.data(), kRows, kColumns, s);
  } else {
    swiglu_forward(x.data(), y.data(), kRows, kColumns, s);
  }
  Doubles want(at(y.size()));
  for (std::int64_t r = 0; r < kRows; ++r) {
    for (std::int64_t c = 0; c < kColumns; ++c) {
      const std::int64_t gate = 2 * r * kColumns + c, up = gate + kColumns, out = r * kColumns + c;
      if (backward) {
        want[at(gate)] = dy[out] * x[up] * slope(silu, x[gate]);
        want[at(up)] = dy[out] * silu(x[gate]);
      } else {
        want[at(out)] = silu(x[gate]) * x[up];
      }
    }
  }
  return worst_error(y.values(s), want);
}

template <class T>
double dropout_error(bool backward, cudaStream_t s) {
  const Dropout dropout{0.25f, 99};
  const RandomInput<T> x(kRows * kColumns, 1, s), bias(kColumns, 2, s), residual(kRows * kColumns, 3, s);
  const Buffer<T> y(kRows * kColumns), dx(kRows * kColumns);
  const Buffer<unsigned char> mask(kRows * kColumns);
  bias_dropout_add(x.data(), bias.data(), residual.data(), y.data(), mask.data(), kRows, kColumns, dropout, s);
  bias_dropout_add_backward(x.data(), mask.data(), dx.data(), kRows, kColumns, dropout.probability, s);
  const std::vector<unsigned char> flags = mask.values(s);
  Doubles want;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < kRows * kColumns; ++i) {
    const bool keep = kept(dropout, i);
    if (flags[at(i)] != (keep ? 1 : 0)) return INFINITY;
    count += keep ? 1 : 0;
    const double scaled = (backward ? x[i] : x[i] + bias[i % kColumns]) / 0.75;
    want.push_back((keep ? scaled : 0) + (backward ? 0 : residual[i]));
  }
  const double share = static_cast<double>(count) / static_cast<double>(kRows * kColumns);
  if (std::fabs(share - 0.75) > 0.02) return INFINITY;  // 9 deviations of this many draws
  return worst_error(backward ? dx.values(s) : y.values(s), want);
}

template <class T>
double bias_backward_error(cudaStream_t s) {
  const RandomInput<T> dy(kRows * kColumns, 1, s);
  const Buffer<float> dbias(kColumns);
  fill_value(dbias.data(), kColumns, 1.0f, s);
  bias_backward(dy.data(), dbias.data(), kRows, kColumns, s);
  Doubles want(at(kColumns), 1);
  for (std::int64_t i = 0; i < kRows * kColumns; ++i) want[at(i % kColumns)] += dy[i];
  return worst_error(dbias.values(s), want);
}

template <class T>
double embedding_error(bool scatter, cudaStream_t s) {
  constexpr std::int32_t kIds = 50;  // of which this GPU holds 20 .. 44
  const TablePart part{20, 25};
  const RandomInput<T> table(part.count * kColumns, 1, s), dy(kRows * kColumns, 2, s);
  const Buffer<std::int32_t> ids(kRows);
  fill_ids(ids.data(), kRows, kIds, 3, s);
  const std::vector<std::int32_t> id = ids.values(s);
  const Buffer<T> y(kRows * kColumns);
  const Buffer<float> gradient(part.count * kColumns);
  fill_value(y.data(), y.size(), 1.0f, s);
  fill_value(gradient.data(), gradient.size(), 1.0f, s);
  embedding_gather(table.data(), part, ids.data(), y.data(), true, kRows, kColumns, s);
  embedding_scatter(dy.data(), ids.data(), gradient.data(), part, kRows, kColumns, s);
  Doubles rows(at(kRows * kColumns), 1), sums(at(part.count * kColumns), 1);
  for (std::int64_t r = 0; r < kRows; ++r) {
    const std::int64_t row = id[at(r)] - part.first;
    if (row < 0 || row >= part.count) continue;
    for (std::int64_t c = 0; c < kColumns; ++c) {
      rows[at(r * kColumns + c)] += table[row * kColumns + c];
      sums[at(row * kColumns + c)] += dy[r * kColumns + c];
    }
  }
  return scatter ? worst_error(gradient.values(s), sums) : worst_error(y.values(s), rows);
}

/// The vocabulary in two parts, as two tensor-parallel GPUs hold it.
template <class T>
double cross_entropy_error(bool backward, cudaStream_t s) {
  constexpr int kParts = 2;
  const TablePart parts[kParts] = {{0, 2000}, {2000, 1104}};
  constexpr std::int64_t kVocab = 3104;
  const Buffer<std::int32_t> targets(kRows);
  fill_ids(targets.data(), kRows, kVocab, 3, s);
  const std::vector<std::int32_t> target = targets.values(s);
  const Buffer<float> sums(kParts * kRows), hits(kParts * kRows), whole(kRows), loss(1);
  fill_value(loss.data(), 1, 0.0f, s);
  Doubles logits(at(kRows * kVocab));
  std::vector<RandomInput<T>> inputs;
  for (int p = 0; p < kParts; ++p) {
    const TablePart part = parts[p];
    inputs.emplace_back(kRows * part.count, static_cast<std::uint64_t>(10 + p), s, 6.0f);
    for (std::int64_t i = 0; i < kRows * part.count; ++i)
      logits[at(i / part.count * kVocab + part.first + i % part.count)] = inputs.back()[i];
    cross_entropy_forward(inputs.back().data(), targets.data(), part, sums.data() + p * kRows, hits.data() + p * kRows,
                          kRows, s);
  }
  cross_entropy_combine(sums.data(), hits.data(), kParts, kRows, whole.data(), loss.data(), kRows, s);
  Doubles want_whole;
  double want_loss = 0;
  for (std::int64_t r = 0; r < kRows; ++r) {
    double sum = 0;
    for (std::int64_t c = 0; c < kVocab; ++c) sum += std::exp(logits[at(r * kVocab + c)]);
    want_whole.push_back(std::log(sum));
    want_loss += (std::log(sum) - logits[at(r * kVocab + target[at(r)])]) / kRows;
  }
  double error = std::max(worst_error(whole.values(s), want_whole), worst_error(loss.values(s), {want_loss}));
  if (!backward) return error;
  for (int p = 0; p < kParts; ++p) {
    const TablePart part = parts[p];
    const Buffer<T> gradient(kRows * part.count);
    cross_entropy_backward(inputs[at(p)].data(), targets.data(), part, whole.data(), gradient.data(), 0.5f, kRows, s);
    Doubles want;
    for (std::int64_t i = 0; i < kRows * part.count; ++i) {
      const std::int64_t r = i / part.count, c = part.first + i % part.count;
      want.push_back(0.5 * (std::exp(inputs[at(p)][i] - want_whole[at(r)]) - (target[at(r)] == c ? 1 : 0)));
    }
    error = std::max(error, worst_error(gradient.values(s), want));
  }
  return error;
}

template <class T>
double adam_error(cudaStream_t s) {
  constexpr std::int64_t kElements = 4099;
  constexpr bool kNarrow = sizeof(T) < sizeof(float);
  const Adam adam{
      .rate = 0.01f, .beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .decay = 0.1f, .step = 3, .gradient_scale = 0.5f};
  const RandomInput<T> parameters(kElements, 1, s);
  const RandomInput<float> master(kElements, 2, s), first(kElements, 3, s), second_root(kElements, 4, s),
      gradient(kElements, 5, s);
  std::vector<float> squares;
  for (const double x : second_root.host) squares.push_back(static_cast<float>(x * x));
  Buffer<float> second(kElements);
  second.set(squares, s);
  adam_step(adam, parameters.device.data(), kNarrow ? master.device.data() : nullptr, first.device.data(),
            second.data(), gradient.data(), kElements, s);
  Doubles want, want_first, want_second;
  for (std::int64_t i = 0; i < kElements; ++i) {
    const double g = 0.5 * gradient[i], m = 0.9 * first[i] + 0.1 * g, v = 0.95 * squares[at(i)] + 0.05 * g * g;
    const double p = kNarrow ? master[i] : parameters[i];
    const double step = m / (1 - std::pow(0.9, 3)) / (std::sqrt(v / (1 - std::pow(0.95, 3))) + 1e-8);
    want.push_back(p - 0.01 * (step + 0.1 * p));
    want_first.push_back(m);
    want_second.push_back(v);
  }
  double error = std::max(worst_error(first.device.values(s), want_first), worst_error(second.values(s), want_second));
  if (kNarrow) error = std::max(error, worst_error(master.device.values(s), want));
  return std::max(error, worst_error(parameters.device.values(s), want));
}

template <class T>
void add_checks(std::vector<KernelCheck>& checks, const std::string& dtype, double tolerance) {
  const auto add = [&](const char* kernel, std::function<double(cudaStream_t)> error) {
    checks.push_back({"elementwise", kernel, dtype, "-", 0, tolerance, std::move(error)});
  };
  add("layer_norm", [](cudaStream_t s) { return norm_forward_error<T>(true, s); });
  add("layer_norm_backward", [](cudaStream_t s) { return norm_backward_error<T>(true, s); });
  add("rms_norm", [](cudaStream_t s) { return norm_forward_error<T>(false, s); });
  add("rms_norm_backward", [](cudaStream_t s) { return norm_backward_error<T>(false, s); });
  add("softmax", [](cudaStream_t s) { return softmax_error<T>(false, s); });
  add("softmax_backward", [](cudaStream_t s) { return softmax_error<T>(true, s); });
  add("gelu", [](cudaStream_t s) { return gelu_error<T>(false, s); });
  add("gelu_backward", [](cudaStream_t s) { return gelu_error<T>(true, s); });
  add("swiglu", [](cudaStream_t s) { return swiglu_error<T>(false, s); });
  add("swiglu_backward", [](cudaStream_t s) { return swiglu_error<T>(true, s); });
  add("bias_dropout_add", [](cudaStream_t s) { return dropout_error<T>(false, s); });
  add("bias_dropout_add_backward", [](cudaStream_t s) { return dropout_error<T>(true, s); });
  add("bias_backward", [](cudaStream_t s) { return bias_backward_error<T>(s); });
  add("embedding_gather", [](cudaStream_t s) { return embedding_error<T>(false, s); });
  add("embedding_scatter", [](cudaStream_t s) { return embedding_error<T>(true, s); });
  add("cross_entropy", [](cudaStream_t s) { return cross_entropy_error<T>(false, s); });
  add("cross_entropy_backward", [](cudaStream_t s) { return cross_entropy_error<T>(true, s); });
  add("adam", [](cudaStream_t s) { return adam_error<T>(s); });
}

double stream_error(bool triad, cudaStream_t s) {
  constexpr std::int64_t kElements = 4 * 1031;
  const RandomInput<float> a(kElements, 1, s), b(kElements, 2, s);
  const Buffer<float> c(kElements);
  if (triad) {
    stream_triad(a.data(), b.data(), c.data(), kElements, s);
  } else {
    stream_copy(a.data(), c.data(), kElements, s);
  }
  Doubles want;
  for (std::int64_t i = 0; i < kElements; ++i) want.push_back(triad ? a[i] + 3 * b[i] : a[i]);
  return worst_error(c.values(s), want);
}

}  // namespace

std::vector<KernelCheck> elementwise_checks(bool bf16_too) {
  std::vector<KernelCheck> checks;
  checks.push_back({"stream", "copy", "fp32", "-", 0, 1e-6, [](cudaStream_t s) { return stream_error(false, s); }});
  checks.push_back({"stream", "triad", "fp32", "-", 0, 1e-6, [](cudaStream_t s) { return stream_error(true, s); }});
  add_checks<float>(checks, "fp32", 2e-5);
  if (bf16_too) add_checks<bf16>(checks, "bf16", 6e-3);  // half of the last of 8 bits is 2e-3 to 4e-3
  return checks;
}

std::vector<KernelCheck> kernel_checks(int compute_capability) {
  std::vector<KernelCheck> checks = elementwise_checks(compute_capability >= 80);
  for (KernelCheck& check : attention_checks(compute_capability >= 80)) checks.push_back(std::move(check));
  if (compute_capability >= 80) {
    for (KernelCheck& check : step_checks()) checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace stepcast::measure
