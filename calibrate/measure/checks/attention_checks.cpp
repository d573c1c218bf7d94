#include "calibrate/measure/checks/kernel_check.h"
#include "calibrate/measure/kernels/attention.h"

namespace stepcast::measure {
namespace {

constexpr int kHeads = 2, kSequences = 2, kRows = 136;  // two tiles and an eighth

/// Q, K and V as one multiply makes them: sequences x rows x (q, k, v) x heads x head size.
struct Packed {
  AttentionCall a;
  std::int64_t row, elements;
  Packed(int head, bool causal) : row(3 * kHeads * head), elements(kSequences * kRows * row) {
    const AttentionStrides in{kRows * row, head, row};
    a = {kSequences, kHeads, kRows, kRows, head, causal, in, in, in, {kRows * row / 3, head, row / 3}};
  }
  std::size_t in(std::int64_t which, std::int64_t s, std::int64_t h, std::int64_t r, std::int64_t d) const {
    return static_cast<std::size_t>(s * a.q.sequence + which * kHeads * a.head + h * a.head + r * row + d);
  }
  std::size_t out(std::int64_t s, std::int64_t h, std::int64_t r, std::int64_t d) const {
    return static_cast<std::size_t>(s * a.o.sequence + h * a.head + r * a.o.row + d);
  }
};

/// What the kernels should give, by the definition.
struct Reference {
  std::vector<double> o, log_sum, gradient;  ///< gradient: packed as Q, K and V are
};

Reference reference(const Packed& p, const std::vector<double>& qkv, const std::vector<double>& d_o) {
  const int head = p.a.head;
  const double scale = 1 / std::sqrt(static_cast<double>(head));
  Reference r{std::vector<double>(d_o.size()), {}, std::vector<double>(qkv.size())};
  for (int s = 0; s < kSequences; ++s) {
    for (int h = 0; h < kHeads; ++h) {
      for (int i = 0; i < kRows; ++i) {
        const int keys = p.a.causal ? i + 1 : kRows;
        std::vector<double> weight(static_cast<std::size_t>(keys)), change(static_cast<std::size_t>(keys));
        double sum = 0, delta = 0;
        for (int j = 0; j < keys; ++j) {
          double score = 0;
          for (int d = 0; d < head; ++d) score += qkv[p.in(0, s, h, i, d)] * qkv[p.in(1, s, h, j, d)];
          weight[static_cast<std::size_t>(j)] = std::exp(score * scale);
          sum += weight[static_cast<std::size_t>(j)];
        }
        r.log_sum.push_back(std::log(sum));
        for (int j = 0; j < keys; ++j) {
          double& w = weight[static_cast<std::size_t>(j)];
          double& c = change[static_cast<std::size_t>(j)];
          w /= sum;
          for (int d = 0; d < head; ++d) {
            r.o[p.out(s, h, i, d)] += w * qkv[p.in(2, s, h, j, d)];
            c += d_o[p.out(s, h, i, d)] * qkv[p.in(2, s, h, j, d)];
            r.gradient[p.in(2, s, h, j, d)] += w * d_o[p.out(s, h, i, d)];
          }
          delta += w * c;
        }
        for (int j = 0; j < keys; ++j) {
          const double ds = weight[static_cast<std::size_t>(j)] * (change[static_cast<std::size_t>(j)] - delta) * scale;
          for (int d = 0; d < head; ++d) {
            r.gradient[p.in(0, s, h, i, d)] += ds * qkv[p.in(1, s, h, j, d)];
            r.gradient[p.in(1, s, h, j, d)] += ds * qkv[p.in(0, s, h, i, d)];
          }
        }
      }
    }
  }
  return r;
}

template <class T>
double attention_error(int head, bool causal, bool backward, cudaStream_t s) {
  const Packed p(head, causal);
  const RandomInput<T> qkv(p.elements, 1, s, 2.0f), d_o(p.elements / 3, 2, s);
  const Buffer<T> o(p.elements / 3), gradient(p.elements);
  const Buffer<float> log_sum(kSequences * kHeads * kRows), work(attention_work(p.a));
  const std::int64_t part = kHeads * head;
  attention_forward(p.a, qkv.data(), qkv.data() + part, qkv.data() + 2 * part, o.data(), log_sum.data(), s);
  const Reference want = reference(p, qkv.host, d_o.host);
  if (!backward) return std::max(worst_error(o.values(s), want.o), worst_error(log_sum.values(s), want.log_sum));
  attention_backward(p.a, qkv.data(), qkv.data() + part, qkv.data() + 2 * part, o.data(), d_o.data(), log_sum.data(),
                     gradient.data(), gradient.data() + part, gradient.data() + 2 * part, work.data(), s);
  return worst_error(gradient.values(s), want.gradient);
}

template <class T>
void add_checks(std::vector<KernelCheck>& checks, const std::string& dtype, double tolerance) {
  for (const int head : {64, 128}) {
    for (const bool causal : {false, true}) {
      for (const bool backward : {false, true}) {
        checks.push_back({"attention", backward ? "backward" : "forward", dtype, causal ? "causal" : "full", head,
                          tolerance, [=](cudaStream_t s) { return attention_error<T>(head, causal, backward, s); }});
      }
    }
  }
}

}  // namespace

std::vector<KernelCheck> attention_checks(bool bf16_too) {
  std::vector<KernelCheck> checks;
  add_checks<half>(checks, "fp16", 4e-3);
  if (bf16_too) add_checks<bf16>(checks, "bf16", 5e-2);
  return checks;
}

}  // namespace stepcast::measure
