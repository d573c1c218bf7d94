#include "calibrate/measure/suites/prepare.h"

#include <memory>

#include "calibrate/measure/checks/gemm_check.h"
#include "calibrate/measure/kernels/activation.h"
#include "calibrate/measure/kernels/adam.h"
#include "calibrate/measure/kernels/attention.h"
#include "calibrate/measure/kernels/cross_entropy.h"
#include "calibrate/measure/kernels/dropout.h"
#include "calibrate/measure/kernels/element.h"
#include "calibrate/measure/kernels/embedding.h"
#include "calibrate/measure/kernels/norm.h"
#include "calibrate/measure/kernels/softmax.h"
#include "calibrate/measure/kernels/stream.h"

namespace stepcast::measure {
namespace {

/// Kernels are copied about as std::function: their operands are shared by the copies.
template <class T>
using Shared = std::shared_ptr<Buffer<T>>;

template <class T>
Shared<T> empty(std::int64_t elements) {
  return std::make_shared<Buffer<T>>(elements);
}

template <class T>
Shared<T> random(std::int64_t elements, std::uint64_t seed, cudaStream_t stream) {
  Shared<T> made = empty<T>(elements);
  fill_random(made->data(), elements, 1.0f, seed, stream);
  return made;
}

template <class T>
Shared<T> filled(std::int64_t elements, float value, cudaStream_t stream) {
  Shared<T> made = empty<T>(elements);
  fill_value(made->data(), elements, value, stream);
  return made;
}

PreparedKernel multiply(const KernelCase& one, CublasGemm& gemm, cudaStream_t stream) {
  const CublasShape shape = gemm_shape(one.dtype, one.layout, one.batch, one.m, one.n, one.k);
  const std::int64_t in = element_bytes(one.dtype), out = one.dtype == "fp8" ? 2 : in;
  const auto a = empty<unsigned char>(one.batch * one.m * one.k * in);
  const auto b = empty<unsigned char>(one.batch * one.k * one.n * in);
  const auto c = empty<unsigned char>(one.batch * one.m * one.n * out);
  fill_numbers(shape.in, a->data(), one.batch * one.m * one.k, 1, stream);
  fill_numbers(shape.in, b->data(), one.batch * one.k * one.n, 2, stream);
  return {[=, &gemm](cudaStream_t s) { gemm.run(shape, a->data(), b->data(), c->data(), nullptr, s); },
          [=](cudaStream_t s) { return gemm_error(shape, a->data(), b->data(), c->data(), s); },
          gemm_tolerance(shape.in)};
}

template <class T>
Work attend(const KernelCase& one, cudaStream_t stream) {
  const auto rows = static_cast<int>(one.m);
  const AttentionStrides strides{one.m * one.k, one.m * one.k, one.k};
  const AttentionCall a{one.batch, 1,       rows,    rows,   static_cast<int>(one.k), one.layout == "causal",
                        strides,   strides, strides, strides};
  const std::int64_t elements = one.batch * one.m * one.k;
  const auto q = random<T>(elements, 1, stream), k = random<T>(elements, 2, stream), v = random<T>(elements, 3, stream);
  const auto o = empty<T>(elements);
  const auto log_sum = empty<float>(one.batch * one.m);
  attention_forward(a, q->data(), k->data(), v->data(), o->data(), log_sum->data(), stream);
  if (one.kernel == "forward") {
    return
        [=](cudaStream_t s) { attention_forward(a, q->data(), k->data(), v->data(), o->data(), log_sum->data(), s); };
  }
  const auto d_o = random<T>(elements, 4, stream);
  const auto dq = empty<T>(elements), dk = empty<T>(elements), dv = empty<T>(elements);
  const auto work = empty<float>(attention_work(a));
  return [=](cudaStream_t s) {
    attention_backward(a, q->data(), k->data(), v->data(), o->data(), d_o->data(), log_sum->data(), dq->data(),
                       dk->data(), dv->data(), work->data(), s);
  };
}

template <class T>
Work norm(const KernelCase& one, bool layer, bool backward, cudaStream_t stream) {
  const auto x = random<T>(one.m * one.n, 1, stream), gamma = random<T>(one.n, 2, stream),
             beta = random<T>(one.n, 3, stream), y = empty<T>(one.m * one.n);
  const auto mean = empty<float>(one.m), rstd = empty<float>(one.m);
  const Norm<T> of{one.m,       one.n, gamma->data(), layer ? beta->data() : nullptr, layer ? mean->data() : nullptr,
                   rstd->data()};
  const Work forward = [=, keep = std::make_tuple(gamma, beta, mean, rstd)](cudaStream_t s) {
    norm_forward(of, x->data(), y->data(), s);
  };
  if (!backward) return forward;
  forward(stream);
  const auto dy = random<T>(one.m * one.n, 4, stream);
  const auto dgamma = filled<float>(one.n, 0.0f, stream), dbeta = filled<float>(one.n, 0.0f, stream);
  return [=, keep = std::make_tuple(gamma, beta, mean, rstd)](cudaStream_t s) {
    norm_backward<T>(of, x->data(), dy->data(), nullptr, y->data(), dgamma->data(), dbeta->data(), s);
  };
}

template <class T>
Work embedding(const KernelCase& one, cudaStream_t stream) {
  const std::int64_t m = one.m, n = one.n;
  constexpr std::int32_t kVocab = 50304;
  const auto ids = empty<std::int32_t>(m);
  fill_ids(ids->data(), m, kVocab, 5, stream);
  if (one.kernel == "embedding_gather") {
    const auto table = random<T>(kVocab * n, 1, stream), y = empty<T>(m * n);
    return [=](cudaStream_t s) {
      embedding_gather(table->data(), {0, kVocab}, ids->data(), y->data(), false, m, n, s);
    };
  }
  const auto dy = random<T>(m * n, 1, stream);
  const auto gradient = filled<float>(kVocab * n, 0.0f, stream);
  return [=](cudaStream_t s) { embedding_scatter(dy->data(), ids->data(), gradient->data(), {0, kVocab}, m, n, s); };
}

template <class T>
Work cross_entropy(const KernelCase& one, cudaStream_t stream) {
  const std::int64_t m = one.m, n = one.n, all = m * n;
  const TablePart part{0, static_cast<std::int32_t>(n)};
  const auto logits = random<T>(all, 1, stream);
  const auto targets = empty<std::int32_t>(m);
  fill_ids(targets->data(), m, part.count, 5, stream);
  const auto log_sum = empty<float>(m), hit = empty<float>(m);
  const Work forward = [=](cudaStream_t s) {
    cross_entropy_forward(logits->data(), targets->data(), part, log_sum->data(), hit->data(), m, s);
  };
  if (one.kernel == "cross_entropy") return forward;
  forward(stream);
  const auto gradient = empty<T>(all);
  return [=](cudaStream_t s) {
    cross_entropy_backward(logits->data(), targets->data(), part, log_sum->data(), gradient->data(), 1.0f, m, s);
  };
}

template <class T>
Work elementwise(const KernelCase& one, cudaStream_t stream) {
  const std::string& kernel = one.kernel;
  const std::int64_t m = one.m, n = one.n, all = m * n;
  if (kernel == "layer_norm") return norm<T>(one, true, false, stream);
  if (kernel == "layer_norm_backward") return norm<T>(one, true, true, stream);
  if (kernel == "rms_norm") return norm<T>(one, false, false, stream);
  if (kernel == "rms_norm_backward") return norm<T>(one, false, true, stream);
  if (kernel == "adam") {
    const auto parameters = random<T>(m, 1, stream);
    const auto master = sizeof(T) < sizeof(float) ? random<float>(m, 2, stream) : nullptr;
    const auto first = filled<float>(m, 0.0f, stream), second = filled<float>(m, 0.0f, stream),
               gradient = random<float>(m, 3, stream);
    return [=](cudaStream_t s) {
      adam_step(Adam{}, parameters->data(), master == nullptr ? nullptr : master->data(), first->data(), second->data(),
                gradient->data(), m, s);
    };
  }
  if (kernel == "embedding_gather" || kernel == "embedding_scatter") return embedding<T>(one, stream);
  if (kernel == "cross_entropy" || kernel == "cross_entropy_backward") return cross_entropy<T>(one, stream);
  if (kernel == "swiglu" || kernel == "swiglu_backward") {
    const auto x = random<T>(2 * all, 1, stream);
    if (kernel == "swiglu") {
      const auto y = empty<T>(all);
      return [=](cudaStream_t s) { swiglu_forward(x->data(), y->data(), m, n, s); };
    }
    const auto dy = random<T>(all, 2, stream), dx = empty<T>(2 * all);
    return [=](cudaStream_t s) { swiglu_backward(x->data(), dy->data(), dx->data(), m, n, s); };
  }

  const auto x = random<T>(all, 1, stream);
  if (kernel == "bias_backward") {
    const auto dbias = filled<float>(n, 0.0f, stream);
    return [=](cudaStream_t s) { bias_backward(x->data(), dbias->data(), m, n, s); };
  }
  const auto y = empty<T>(all);
  if (kernel == "softmax") return [=](cudaStream_t s) { softmax_forward(x->data(), y->data(), m, n, s); };
  if (kernel == "gelu") return [=](cudaStream_t s) { gelu_forward(x->data(), y->data(), all, s); };
  if (kernel == "bias_dropout_add" || kernel == "bias_dropout_add_backward") {
    const auto bias = random<T>(n, 2, stream);
    const auto mask = empty<unsigned char>(all);
    const Dropout dropout{0.1f, 1};
    if (kernel == "bias_dropout_add") {
      const auto residual = random<T>(all, 3, stream);
      return [=](cudaStream_t s) {
        bias_dropout_add(x->data(), bias->data(), residual->data(), y->data(), mask->data(), m, n, dropout, s);
      };
    }
    check_cuda(cudaMemsetAsync(mask->data(), 1, static_cast<std::size_t>(all), stream), "cudaMemsetAsync");
    return [=](cudaStream_t s) {
      bias_dropout_add_backward(x->data(), mask->data(), y->data(), m, n, dropout.probability, s);
    };
  }
  const auto dy = random<T>(all, 2, stream);
  if (kernel == "softmax_backward")
    return [=](cudaStream_t s) { softmax_backward(x->data(), dy->data(), y->data(), m, n, s); };
  if (kernel == "gelu_backward")
    return [=](cudaStream_t s) { gelu_backward(x->data(), dy->data(), y->data(), all, s); };
  throw std::logic_error("no kernel " + kernel);
}

Work stream_work(const KernelCase& one, cudaStream_t stream) {
  const bool triad = one.kernel == "triad";
  const std::int64_t elements = one.bytes / (triad ? 3 : 2) / 4;
  const auto from = random<float>(elements, 1, stream), to = empty<float>(elements);
  if (!triad) return [=](cudaStream_t s) { stream_copy(from->data(), to->data(), elements, s); };
  const auto other = random<float>(elements, 2, stream);
  return [=](cudaStream_t s) { stream_triad(from->data(), other->data(), to->data(), elements, s); };
}

}  // namespace

PreparedKernel prepare(const KernelCase& one, CublasGemm& gemm, cudaStream_t stream) {
  if (one.suite == "gemm" || one.suite == "batched_gemm") return multiply(one, gemm, stream);
  if (one.suite == "attention")
    return {one.dtype == "bf16" ? attend<bf16>(one, stream) : attend<half>(one, stream), {}, 0};
  if (one.suite == "elementwise")
    return {one.dtype == "bf16" ? elementwise<bf16>(one, stream) : elementwise<float>(one, stream), {}, 0};
  if (one.suite == "stream") return {stream_work(one, stream), {}, 0};
  if (one.suite == "launch") return {[](cudaStream_t s) { nothing(s); }, {}, 0};
  throw std::logic_error("no suite " + one.suite);
}

}  // namespace stepcast::measure
