#include "calibrate/measure/checks/step_reference.h"

#include <algorithm>
#include <cmath>

#include "calibrate/measure/host/step_parameters.h"
#include "calibrate/measure/kernels/dropout.h"

namespace stepcast::measure {
namespace {

using Vector = std::vector<double>;
constexpr double kEpsilon = 1e-5, kPi = 3.14159265358979323846;

/// Rows x columns.
struct Matrix {
  std::size_t rows, columns;
  Vector x;
  Matrix(std::size_t rows_, std::size_t columns_) : rows(rows_), columns(columns_), x(rows_ * columns_) {}
  double* row(std::size_t r) { return x.data() + r * columns; }
  const double* row(std::size_t r) const { return x.data() + r * columns; }
};

/// a W^T (+ bias).
Matrix times(const Matrix& a, const Vector& weight, const Vector* bias) {
  Matrix y(a.rows, weight.size() / a.columns);
  for (std::size_t r = 0; r < y.rows; ++r) {
    for (std::size_t c = 0; c < y.columns; ++c) {
      const double *const left = a.row(r), *const right = weight.data() + c * a.columns;
      double sum = bias == nullptr ? 0 : (*bias)[c];
      for (std::size_t k = 0; k < a.columns; ++k) sum += left[k] * right[k];
      y.row(r)[c] = sum;
    }
  }
  return y;
}

Matrix norm(const Matrix& a, const Vector& gamma, const Vector& beta) {
  Matrix y = a;
  const auto n = static_cast<double>(a.columns);
  for (std::size_t r = 0; r < a.rows; ++r) {
    double mean = 0, variance = 0;
    for (std::size_t c = 0; c < a.columns; ++c) mean += a.row(r)[c] / n;
    for (std::size_t c = 0; c < a.columns; ++c) variance += (a.row(r)[c] - mean) * (a.row(r)[c] - mean) / n;
    for (std::size_t c = 0; c < a.columns; ++c)
      y.row(r)[c] = (a.row(r)[c] - mean) / std::sqrt(variance + kEpsilon) * gamma[c] + beta[c];
  }
  return y;
}

/// a += dropout(b + bias).
void add(Matrix& a, const Matrix& b, const Vector& bias, const Dropout& dropout) {
  for (std::size_t i = 0; i < a.x.size(); ++i) {
    if (kept(dropout, static_cast<std::int64_t>(i)))
      a.x[i] += (b.x[i] + bias[i % a.columns]) / (1 - static_cast<double>(dropout.probability));
  }
}

/// Causal, head by head; all three rows x hidden.
Matrix attend(const StepCase& s, const Matrix& q, const Matrix& k, const Matrix& v) {
  Matrix out(q.rows, q.columns);
  const auto length = static_cast<std::size_t>(s.sequence), heads = static_cast<std::size_t>(s.heads);
  const std::size_t head = q.columns / heads;
  Vector weight(length);
  for (std::size_t r = 0; r < q.rows; ++r) {
    const std::size_t begin = r / length * length;
    for (std::size_t at = 0; at < q.columns; at += head) {
      double most = -INFINITY, sum = 0;
      for (std::size_t i = begin; i <= r; ++i) {
        double score = 0;
        for (std::size_t d = at; d < at + head; ++d) score += q.row(r)[d] * k.row(i)[d];
        weight[i - begin] = score / std::sqrt(static_cast<double>(head));
        most = std::max(most, weight[i - begin]);
      }
      for (std::size_t i = begin; i <= r; ++i) {
        weight[i - begin] = std::exp(weight[i - begin] - most);
        sum += weight[i - begin];
      }
      for (std::size_t i = begin; i <= r; ++i) {
        for (std::size_t d = at; d < at + head; ++d) out.row(r)[d] += weight[i - begin] / sum * v.row(i)[d];
      }
    }
  }
  return out;
}

}  // namespace

double reference_loss(const StepCase& s, const WholeParameters& p, float dropout, std::int64_t index) {
  const auto rows = static_cast<std::size_t>(s.micro_batch) * static_cast<std::size_t>(s.sequence);
  const auto hidden = static_cast<std::size_t>(s.hidden);
  const int all = s.micro_batches * s.data;
  double loss = 0;
  for (int m = 0; m < all; ++m) {
    const std::vector<std::int32_t> ids = step_tokens(s, m, false), targets = step_tokens(s, m, true);
    Matrix x(rows, hidden);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < hidden; ++c) {
        const std::size_t place = r % static_cast<std::size_t>(s.sequence);
        x.row(r)[c] =
            p.at("embedding")[static_cast<std::size_t>(ids[r]) * hidden + c] + p.at("positions")[place * hidden + c];
      }
    }
    for (int layer = 0; layer < s.layers; ++layer) {
      const auto of = [&](const char* name) -> const Vector& { return p.at(layer_prefix(layer) + name); };
      const auto linear = [&](const Matrix& a, const std::string& name) {
        return times(a, of((name + " weight").c_str()), &of((name + " bias").c_str()));
      };
      const Matrix n1 = norm(x, of("norm 1 gamma"), of("norm 1 beta"));
      const Matrix mixed = attend(s, linear(n1, "query"), linear(n1, "key"), linear(n1, "value"));
      add(x, times(mixed, of("projection weight"), nullptr), of("projection bias"),
          {dropout, dropout_seed(index, m, layer, 0)});
      Matrix up = linear(norm(x, of("norm 2 gamma"), of("norm 2 beta")), "up");
      for (double& u : up.x) u *= 0.5 * (1 + std::tanh(std::sqrt(2 / kPi) * (u + 0.044715 * u * u * u)));
      add(x, times(up, of("down weight"), nullptr), of("down bias"), {dropout, dropout_seed(index, m, layer, 1)});
    }
    const Matrix logits = times(norm(x, p.at("last norm gamma"), p.at("last norm beta")), p.at("embedding"), nullptr);
    for (std::size_t r = 0; r < rows; ++r) {
      const double* const row = logits.row(r);
      const double most = *std::max_element(row, row + logits.columns);
      double sum = 0;
      for (std::size_t c = 0; c < logits.columns; ++c) sum += std::exp(row[c] - most);
      loss += (most + std::log(sum) - row[targets[r]]) / static_cast<double>(rows) / all;
    }
  }
  return loss;
}

}  // namespace stepcast::measure
