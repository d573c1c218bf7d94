#include "models/layers/experts.h"

#include "models/layers/adapters.h"
#include "models/layers/as_double.h"
#include "models/layers/expert_load.h"
#include "models/layers/expert_loop.h"
#include "models/layers/feed_forward.h"
#include "models/layers/kept_inputs.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;
using Kind = OperatorKind;

constexpr double kScoreBytes = 4;
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
  bool sorts() const { return ranks * r.sharers > 1 && r.local_experts > 1; }

  const Scenario& s;
  const StackSizes& z;
  const Routing r;
  const Experts& experts;
  const std::uint32_t ranks;
  const int launches;  ///< of a multiply of all local experts
};

// Ranks that share an expert gather what each of them has received, and add up what their parts make of it:
// megatron/core/transformer/moe/token_dispatcher.py, MoEAlltoAllTokenDispatcher.
void send_to_experts(PassWriter& w, const Routed& e) {
  const double received = e.bytes(e.r.received(), e.z.hidden);
  if (e.ranks > 1) w.exchange(Among::dispatch, Operation::all_to_all, e.bytes(e.r.sent, e.z.hidden));
  if (e.r.sharers > 1) w.exchange(Among::expert_tensor, Operation::all_gather, received);
  if (e.sorts()) w.touch(2 * received);
}

void send_back(PassWriter& w, const Routed& e) {
  const double received = e.bytes(e.r.received(), e.z.hidden);
  if (e.sorts()) w.touch(2 * received);
  if (e.r.sharers > 1) w.exchange(Among::expert_tensor, Operation::reduce_scatter, received);
  if (e.ranks > 1) w.exchange(Among::combine, Operation::all_to_all, e.bytes(e.r.received_alone(), e.z.hidden));
}

void choose_experts(Writer& w, const Routed& e) {
  const StackSizes& z = e.z;
  w.begin(Kind::experts_input);
  w.backward.touch((e.experts.shared_ffn > 0 ? 4 : 3) * z.residual * d(z.element));

  w.begin(Kind::router);
  w.owns((d(z.width) + (layer_style(e.s.model).feed_forward_biases ? 1 : 0)) * d(e.experts.count));
  w.forward.product(e.r.tokens, z.hidden, e.experts.count);
  w.backward.product(e.r.tokens, e.experts.count, z.hidden);
  w.backward.product_gradient(e.experts.count, z.hidden, e.r.tokens);

  w.begin(Kind::expert_choice);
  w.forward.touch(e.scores() * (d(z.element) + 6 * kScoreBytes), kRouterKernels);
  w.backward.touch(e.scores() * (d(z.element) + 4 * kScoreBytes), kRouterKernels / 2);
  w.saves(e.scores() * 2 * kScoreBytes);  // scores and where each copy goes
}

/// Reads each token's copies and writes the tokens, or the other way round.
void copy_tokens(Writer& w, const Routed& e, Kind kind) {
  w.begin(kind);
  w.forward.touch(e.bytes(e.r.tokens + e.r.sent, e.z.hidden));
  w.backward.touch(e.bytes(e.r.tokens + e.r.sent, e.z.hidden));
}

/// A multiply of all local experts, or of this rank's part of them, from `in` to `out` columns, which owns its part of
/// the `parameters` of all experts.
void multiply(Writer& w, const Routed& e, Kind kind, std::int64_t in, std::int64_t out, double parameters) {
  const std::int64_t rows = e.r.per_expert, local = e.r.local_experts;
  w.begin(kind);
  const std::uint32_t holders = expert_ranks(e.s.parallelism);
  w.owns_of_experts(parameters / holders, holders > 1);
  w.forward.gemm(rows, in, out, local, e.launches, e.r.useful);
  w.backward.gemm(rows, out, in, local, e.launches, e.r.useful);
  w.backward.weight_gradient(out, in, rows, local, e.launches, e.r.useful);
}

void visit_experts(Writer& w, const Routed& e) {
  const std::int64_t hidden = e.z.hidden, inner = e.experts.ffn / e.r.sharers;
  const double out = d(hidden) * d(e.experts.ffn) * d(e.experts.count);
  w.begin(Kind::experts_dispatch);
  send_to_experts(w.forward, e);
  send_back(w.backward, e);

  multiply(w, e, Kind::experts_in, hidden, 2 * inner, routed_parameters(e.s.model) - out);
  const double in = d(e.r.received()) * d(hidden) * kept_of_expert_input(e.s, Kind::experts_in);
  w.saves(in + d(e.r.received()) * kScoreBytes);
  const ExpertRows rows{e.r.per_expert, e.r.local_experts, e.launches, expert_ranks(e.s.parallelism) > 1};
  adapt_experts(w, Kind::experts_in, rows, hidden, 2 * inner);

  Writer activation = w.inside({.experts_activation = true});
  activation.begin(Kind::swiglu);
  activation.forward.touch(3 * e.bytes(e.r.received(), inner));
  activation.backward.touch(5 * e.bytes(e.r.received(), inner));
  w.saves(2 * e.bytes(e.r.received(), inner));  // gates and ups
  const double products = d(e.r.received()) * d(inner) * kept_of_expert_input(e.s, Kind::experts_out);
  activation.saves(products);

  multiply(w, e, Kind::experts_out, inner, hidden, out);
  w.holds_gradients(e.bytes(e.r.received(), hidden + 3 * inner));
  adapt_experts(w, Kind::experts_out, rows, inner, hidden);

  w.begin(Kind::experts_combine);
  send_back(w.forward, e);
  send_to_experts(w.backward, e);
}

}  // namespace

void expert_block(Writer& w) {
  const Routed e(w);
  choose_experts(w, e);
  if (e.s.software.expert_loop) {
    expert_loop(w, e.r);
  } else {
    copy_tokens(w, e, Kind::expert_copies);
    visit_experts(w, e);
    copy_tokens(w, e, Kind::experts_sum);
  }
  if (e.experts.shared_ffn == 0) return;
  Writer shared = w.inside({.shared_experts = true});
  feed_forward(shared, e.experts.shared_ffn / e.z.tensor, kept_of_expert_input(e.s, Kind::feed_forward_out));
  w.begin(Kind::shared_experts_sum);
  w.forward.touch(3 * e.z.residual * d(e.z.element));
}

}  // namespace stepcast::schedules
