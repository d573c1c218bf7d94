#include "models/layers/delta_rule.h"

#include <algorithm>

#include "models/layers/as_double.h"
#include "models/layers/recurrent_mixer.h"

namespace stepcast::schedules {
namespace {

using Kind = OperatorKind;

/// Columns of queries and keys on one tensor rank.
std::int64_t query_key_columns(const StackSizes& z, const DeltaNet& n) {
  return 2 * n.key_heads * n.key / z.grid.columns;
}

MixerColumns columns_of(const StackSizes& z, const DeltaNet& n) {
  const std::int64_t ranks = z.grid.columns, inner = n.heads * n.value / ranks, keys = query_key_columns(z, n);
  return {.in = keys + 2 * inner + 2 * n.heads / ranks, .shared = keys, .convolved = keys + inner, .inner = inner};
}

/// Kernels of the delta rule on one rank.
class DeltaScan {
 public:
  explicit DeltaScan(const Writer& w)
      : z_(w.z),
        n_(w.s.model.delta_net),
        chunk_(std::min(n_.chunk, z_.sequence)),
        of_sample_((z_.sequence + chunk_ - 1) / chunk_),
        heads_(n_.heads / (z_.grid.columns * z_.context)) {}

  void forward(PassWriter& w) const {
    copy_heads(w, 2);
    w.touch(4 * keys(), 2);  // norms of queries and keys
    w.touch(numbers() * 3);  // gates and their sums over a chunk
    const ScanPass pass{w, false, 1};
    pass.run(product(n_.key, seen()), keys() + pairs());  // keys with keys; the triangle's inverse is little
    make_states(pass);
    pass.run(product(n_.key, seen() + n_.value) + product(seen(), n_.value),
             2 * keys() + states() + 2 * values() + pairs());
  }

  void backward(PassWriter& w) const {
    const ScanPass again{w, true, 0}, pass{w, true, 2 * forward_flops() / gradient_flops()};
    make_states(again);
    pass.run(product(n_.key, seen()) + product(seen(), n_.value), 2 * keys() + 2 * values());  // inside of chunks
    // From the last chunk on: the gradients of what each begins with.
    pass.run(3 * with_state(), 3 * keys() + 2 * values() + states(), of_sample_);
    pass.run(product(n_.value, seen()) + 3 * with_state() + 2 * product(seen(), n_.key),
             6 * keys() + 3 * values() + 2 * states());
    pass.run(2 * product(chunk_, n_.key + n_.value) + product(n_.key, chunk_), 4 * keys() + 3 * values() + 2 * pairs());
    w.touch(6 * keys(), 2);  // sums of both gradients of the keys
    w.touch(numbers() * 12, 6);
    w.touch(6 * keys(), 2);  // norms of queries and keys
    copy_heads(w, 3);
  }

  /// Queries, keys and values as they enter it, sums of gates, and what pairs of a chunk's tokens are solved to.
  double kept_bytes() const { return 2 * keys() + values() + pairs() + 4 * numbers(); }
  double working_bytes() const { return 2 * states() + 6 * keys() + 5 * values(); }

 private:
  /// Tokens of a block of pairs, of which those above the diagonal are left out.
  static constexpr std::int64_t kBlock = 16;

  std::int64_t seen() const { return (chunk_ + std::min(chunk_, kBlock)) / 2; }
  double tokens() const { return d(z_.samples) * d(z_.sequence) * d(heads_); }
  double keys() const { return tokens() * d(n_.key) * d(z_.element); }
  double values() const { return tokens() * d(n_.value) * d(z_.element); }
  double pairs() const { return tokens() * d(chunk_) * d(z_.element); }
  double numbers() const { return tokens() * kFp32; }
  double states() const { return d(z_.samples * of_sample_ * heads_) * d(n_.key) * d(n_.value) * d(z_.element); }

  void copy_heads(PassWriter& w, double passes) const {
    if (n_.key_heads < n_.heads) w.touch(passes * 2 * keys(), 2);
  }

  struct ScanPass {
    PassWriter& w;
    bool backward;
    double useful;

    void run(double flops, double bytes, std::int64_t steps = 1) const {
      w.run(ChunkProducts{.by = ScanKernels::delta_net,
                          .flops = {flops},
                          .bytes = bytes,
                          .steps = steps,
                          .backward = backward,
                          .useful = useful});
    }
  };

  /// What corrects the values, and the states, chunk after chunk.
  void make_states(const ScanPass& pass) const {
    pass.run(product(chunk_, n_.key + n_.value), 2 * keys() + 2 * values() + pairs());
    pass.run(2 * with_state(), 2 * keys() + 2 * values() + states(), of_sample_);
  }

  /// All of forward, and all of backward but what is made again; the model asks for twice the one in the other.
  double forward_flops() const {
    return product(n_.key, seen()) + product(chunk_, n_.key + n_.value) + 3 * with_state() + product(n_.key, seen()) +
           product(seen(), n_.value);
  }
  double gradient_flops() const {
    return product(n_.key, seen()) + product(seen(), n_.value) + 6 * with_state() + product(n_.value, seen()) +
           2 * product(seen(), n_.key) + 2 * product(chunk_, n_.key + n_.value) + product(n_.key, chunk_);
  }
  /// Multiplies of each token's `k` numbers with `k` x `n` of its chunk and head, or with the chunk's state.
  double product(std::int64_t k, std::int64_t n) const { return 2 * tokens() * d(k) * d(n); }
  double with_state() const { return product(n_.key, n_.value); }

  const StackSizes& z_;
  const DeltaNet& n_;
  const std::int64_t chunk_, of_sample_, heads_;
};

}  // namespace

void delta_rule(Writer& w) {
  const StackSizes& z = w.z;
  const DeltaNet& n = w.s.model.delta_net;
  const MixerColumns columns = columns_of(z, n);
  enter_mixer(w, columns, n.key_heads / z.grid.columns, n.convolution, false);

  const DeltaScan scan(w);
  w.begin(Kind::chunk_scan);
  w.owns(2 * d(n.heads) / d(z.grid.columns));  // of each head: its decay, its gate's offset
  scan.forward(w.forward);
  scan.backward(w.backward);
  w.saves(scan.kept_bytes());
  w.holds_gradients(scan.working_bytes() + d(z.tokens) * d(columns.in) * d(z.element));

  leave_mixer(w, columns, d(n.value));
}

}  // namespace stepcast::schedules
