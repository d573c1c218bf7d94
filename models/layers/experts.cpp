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

// Megatron-Core's dispatcher (megatron/core/transformer/moe/token_dispatcher.py as of core_v0.17.0), which without a
// capacity waits for the counts' copies to the host (_maybe_dtoh_and_synchronize), with Transformer Engine's
// permutation (transformer_engine/pytorch/triton/permutation.py as of v2.12).
constexpr int kCountKernels = 12;  // how many tokens each expert of each rank gets: sums, a gather, copies to the host
constexpr int kMapKernels = 3;     // where each copy goes, before they are made
constexpr int kSortKernels = 2;    // where each chunk goes, and the copies

/// What the functions below all need.
struct Routed {
  explicit Routed(const Writer& writer)
      : s(writer.s),
        z(writer.z),
        r(routing(s)),
        experts(s.model.experts),
        width(expert_width(s.model)),
        ranks(s.parallelism.expert),
        launches(s.software.grouped_multiply ? 1 : static_cast<int>(r.local_experts)) {}

  double bytes(std::int64_t rows, std::int64_t columns) const { return d(rows) * d(columns) * d(z.element); }
  double scores() const { return d(r.tokens) * d(experts.count); }
  /// Received copies come by sender; the experts want them by expert.
  bool sorts() const { return ranks * r.sharers > 1 && r.local_experts > 1; }

  const Scenario& s;
  const StackSizes& z;
  const Routing r;
  const Experts& experts;
  const std::int64_t width;  ///< of a token as the routed experts have it
  const std::uint32_t ranks;
  const int launches;  ///< of a multiply of all local experts
};

// Ranks that share an expert gather what each of them has received, and add up what their parts make of it:
// megatron/core/transformer/moe/token_dispatcher.py, MoEAlltoAllTokenDispatcher.
void send_to_experts(PassWriter& w, const Routed& e, int sort_kernels) {
  const double received = e.bytes(e.r.received(), e.width);
  if (e.ranks > 1) w.exchange(Among::dispatch, Operation::all_to_all, e.bytes(e.r.sent, e.width));
  if (e.r.sharers > 1) w.exchange(Among::expert_tensor, Operation::all_gather, received);
  if (e.sorts()) w.touch(2 * received, sort_kernels);
}

void send_back(PassWriter& w, const Routed& e, int sort_kernels) {
  const double received = e.bytes(e.r.received(), e.width);
  if (e.sorts()) w.touch(2 * received, sort_kernels);
  if (e.r.sharers > 1) w.exchange(Among::expert_tensor, Operation::reduce_scatter, received);
  if (e.ranks > 1) w.exchange(Among::combine, Operation::all_to_all, e.bytes(e.r.received_alone(), e.width));
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

/// How many copies each expert gets, and where each of them goes.
void count_copies(Writer& w, const Routed& e) {
  w.begin(Kind::expert_counts);
  const int kernels = kMapKernels + (e.ranks > 1 ? kCountKernels : 0);
  if (e.s.software.expert_counts_to_host && !e.s.training.expert_load.capacity)
    w.forward.touch_and_wait(0, kernels);
  else
    w.forward.touch(0, kernels);
}

/// Reads each token's copies and writes the tokens, or the other way round.
void copy_tokens(Writer& w, const Routed& e, Kind kind) {
  w.begin(kind);
  w.forward.touch(e.bytes(e.r.tokens + e.r.sent, e.width));
  w.backward.touch(e.bytes(e.r.tokens + e.r.sent, e.width));
}

/// Tokens of this rank to the experts' width, or back from it, by a matrix that every rank has.
void change_width(Writer& w, const Routed& e, Kind kind, std::int64_t in, std::int64_t out) {
  if (e.experts.latent == 0) return;
  w.begin(kind);
  w.owns(d(in) * d(out));
  w.forward.gemm(e.r.tokens, in, out);
  w.backward.gemm(e.r.tokens, out, in);
  w.backward.weight_gradient(out, in, e.r.tokens);
  w.saves(d(e.r.tokens) * d(in) * kept_of_expert_input(e.s, kind));
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

/// Between an expert's two multiplies, of `bytes` that enter the second one.
void activate(Writer& w, const Routed& e, double bytes) {
  Writer activation = w.inside({.experts_activation = true});
  const Activation kind = layer_style(e.s.model).activation;
  if (kind == Activation::clamped_swiglu) {
    clamped_gate(activation, bytes);
    w.saves(2 * bytes);  // as they came in
  } else if (is_gated(kind)) {
    activation.begin(Kind::swiglu);
    activation.forward.touch(3 * bytes);
    activation.backward.touch(5 * bytes);
    w.saves(2 * bytes);  // gates and ups
  } else {
    activation.begin(kind == Activation::gelu ? Kind::gelu : Kind::squared_relu);
    activation.forward.touch(2 * bytes);
    activation.backward.touch(3 * bytes);
    w.saves(bytes);
  }
  activation.saves(bytes / d(e.z.element) * kept_of_expert_input(e.s, Kind::experts_out));
}

/// Biases of the experts' results, each times its tokens' weights, which a loop adds expert by expert in fp32, and
/// whose results are joined and cast (Megatron-Core, megatron/core/transformer/moe/experts.py, TEGroupedMLP._apply_bias
/// as of core_v0.17.0). Biases of the first multiplies are added by these.
void add_biases(Writer& w, const Routed& e) {
  if (!layer_style(e.s.model).feed_forward_biases || !e.s.software.biases) return;
  const double results = d(e.r.received()) * d(e.width), narrow = d(e.z.element);
  const int each = static_cast<int>(e.r.local_experts);
  w.begin(Kind::bias);
  w.forward.touch(results * (narrow + kFp32), 2 * each);
  w.forward.touch(results * (2 * kFp32 + kFp32 + narrow), 2);
  w.backward.touch(results * (narrow + kFp32 + 2 * kFp32), 2 + each);
  w.backward.touch(results * (kFp32 + kFp32 + narrow), 6 * each);
}

void visit_experts(Writer& w, const Routed& e) {
  const std::int64_t hidden = e.width, inner = e.experts.ffn / e.r.sharers;
  const std::int64_t columns = feed_forward_columns(e.s.model, inner);
  const double out = d(hidden) * d(e.experts.ffn) * d(e.experts.count);
  w.begin(Kind::experts_dispatch);
  send_to_experts(w.forward, e, kSortKernels);
  send_back(w.backward, e, 1);

  multiply(w, e, Kind::experts_in, hidden, columns, routed_parameters(e.s.model) - out);
  const double in = d(e.r.received()) * d(hidden) * kept_of_expert_input(e.s, Kind::experts_in);
  w.saves(in + d(e.r.received()) * kScoreBytes);
  const ExpertRows rows{e.r.per_expert, e.r.local_experts, e.launches, expert_ranks(e.s.parallelism) > 1};
  adapt_experts(w, Kind::experts_in, rows, hidden, columns);

  activate(w, e, e.bytes(e.r.received(), inner));

  multiply(w, e, Kind::experts_out, inner, hidden, out);
  w.holds_gradients(e.bytes(e.r.received(), hidden + inner + columns));
  adapt_experts(w, Kind::experts_out, rows, inner, hidden);
  add_biases(w, e);

  w.begin(Kind::experts_combine);
  send_back(w.forward, e, kSortKernels);
  send_to_experts(w.backward, e, 1);
}

}  // namespace

void expert_block(Writer& w) {
  const Routed e(w);
  choose_experts(w, e);
  if (e.s.software.expert_loop) {
    expert_loop(w, e.r);
  } else {
    count_copies(w, e);
    change_width(w, e, Kind::experts_narrow, e.z.hidden, e.width);
    copy_tokens(w, e, Kind::expert_copies);
    visit_experts(w, e);
    copy_tokens(w, e, Kind::experts_sum);
    change_width(w, e, Kind::experts_wide, e.width, e.z.hidden);
  }
  if (e.experts.shared_ffn == 0) return;
  Writer shared = w.inside({.shared_experts = true});
  feed_forward(shared, e.experts.shared_ffn / e.z.tensor, kept_of_expert_input(e.s, Kind::feed_forward_out));
  w.begin(Kind::shared_experts_sum);
  w.forward.touch(3 * e.z.residual * d(e.z.element));
}

}  // namespace stepcast::schedules
