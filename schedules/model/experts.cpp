#include "schedules/model/experts.h"

#include "schedules/model/expert_load.h"
#include "schedules/model/feed_forward.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

double d(std::int64_t n) { return static_cast<double>(n); }

constexpr double kFloat = 4;
constexpr int kRouterKernels = 8;  // softmax or sigmoid, top-k, weights, map, counts, balance loss; assumed

/// What the functions below all need.
struct Routed {
  explicit Routed(const Writer& writer)
      : s(writer.s),
        z(writer.z),
        r(routing(s)),
        experts(s.model.experts),
        ranks(s.parallelism.expert),
        launches(s.software.grouped_multiply ? 1 : static_cast<int>(r.local_experts)) {}

  double bytes(std::int64_t rows, std::int64_t width) const { return d(rows) * d(width) * d(z.element); }
  double scores() const { return d(r.tokens) * d(experts.count); }
  /// Received copies come by sender; the experts want them by expert.
  bool sorts() const { return ranks > 1 && r.local_experts > 1; }

  const Scenario& s;
  const StackSizes& z;
  const Routing r;
  const Experts& experts;
  const std::uint32_t ranks;
  const int launches;  ///< of a multiply of all local experts
};

void send_to_experts(Writer& w, const Routed& e, std::string_view name) {
  if (e.ranks > 1) w.exchange(name, Among::dispatch, Operation::all_to_all, e.bytes(e.r.sent, e.z.hidden));
  if (e.sorts()) w.touch("sort by expert", 2 * e.bytes(e.r.received(), e.z.hidden));
}

void send_back(Writer& w, const Routed& e, std::string_view name) {
  if (e.sorts()) w.touch("sort by sender", 2 * e.bytes(e.r.received(), e.z.hidden));
  if (e.ranks > 1) w.exchange(name, Among::combine, Operation::all_to_all, e.bytes(e.r.received(), e.z.hidden));
}

}  // namespace

void experts_activation(Writer& w) {
  const Routed e(w);
  w.touch("experts' SwiGLU", 3 * e.bytes(e.r.received(), e.experts.ffn));
}

void expert_block(Writer& w) {
  const Routed e(w);
  const std::int64_t hidden = e.z.hidden, inner = e.experts.ffn, rows = e.r.per_expert, local = e.r.local_experts;
  w.product("router", e.r.tokens, hidden, e.experts.count);
  w.touch("choice of experts", e.scores() * (d(e.z.element) + 6 * kFloat), kRouterKernels);
  w.touch("copies for experts", e.bytes(e.r.tokens + e.r.sent, hidden));
  send_to_experts(w, e, "tokens to experts");
  w.gemm("experts in", rows, hidden, 2 * inner, local, e.launches, e.r.useful);
  experts_activation(w);
  w.gemm("experts out", rows, inner, hidden, local, e.launches, e.r.useful);
  send_back(w, e, "results from experts");
  w.touch("weighted sum of experts", e.bytes(e.r.tokens + e.r.sent, hidden));
  if (e.experts.shared_ffn > 0) {
    feed_forward(w, e.experts.shared_ffn / e.z.tensor);
    w.touch("sum with shared experts", 3 * e.z.residual * d(e.z.element));
  }
}

void expert_block_backward(Writer& w) {
  const Routed e(w);
  const std::int64_t hidden = e.z.hidden, inner = e.experts.ffn, rows = e.r.per_expert, local = e.r.local_experts;
  if (e.experts.shared_ffn > 0) feed_forward_backward(w, e.experts.shared_ffn / e.z.tensor);
  w.touch("weighted sum of experts: gradient", e.bytes(e.r.tokens + e.r.sent, hidden));
  send_to_experts(w, e, "results' gradient to experts");
  w.gemm("experts out: gradient of input", rows, hidden, inner, local, e.launches, e.r.useful);
  w.weight_gradient("experts out: gradient of weight", hidden, inner, rows, local, e.launches, e.r.useful);
  w.touch("experts' SwiGLU gradient", 5 * e.bytes(e.r.received(), inner));
  w.gemm("experts in: gradient of input", rows, 2 * inner, hidden, local, e.launches, e.r.useful);
  w.weight_gradient("experts in: gradient of weight", 2 * inner, hidden, rows, local, e.launches, e.r.useful);
  send_back(w, e, "tokens' gradient from experts");
  w.touch("sum of copies' gradients", e.bytes(e.r.tokens + e.r.sent, hidden));
  w.touch("choice of experts: gradient", e.scores() * (d(e.z.element) + 4 * kFloat), kRouterKernels / 2);
  w.product("router: gradient of input", e.r.tokens, e.experts.count, hidden);
  w.product_gradient("router: gradient of weight", e.experts.count, hidden, e.r.tokens);
  w.touch("sum of the input's gradients", (e.experts.shared_ffn > 0 ? 4 : 3) * e.z.residual * d(e.z.element));
}

double saved_expert_bytes(const Scenario& s, const StackSizes& z, bool activation_repeated) {
  const Routing r = routing(s);
  const Experts& experts = s.model.experts;
  const double router = d(r.tokens) * d(experts.count) * 2 * kFloat;  // scores and where each copy goes
  const std::int64_t inner = activation_repeated ? 2 : 3;             // gates, ups and their products
  const double routed = d(r.received()) * (d(z.hidden + inner * experts.ffn) * d(z.element) + kFloat);
  const double shared = d(z.tokens) * 3 * d(experts.shared_ffn / z.tensor) * d(z.element);
  return router + routed + shared;
}

}  // namespace stepcast::schedules
