#include "calibrate/measure/host/kernel_plan.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace stepcast::measure {
namespace {

using Cases = std::vector<KernelCase>;

struct Layer {
  std::int64_t out, in;
  int rank;
};

/// Weight matrices as one GPU of a tensor-parallel group holds them.
std::vector<Layer> transformer_layers() {
  struct TransformerSize {
    std::int64_t hidden, ffn, kv;  ///< kv: columns of keys and of values
    bool gated;
    int rank;
  };
  // GPT-2 small and XL, GPT-3 1.3B to 175B, Llama 2 7B and 70B, Llama 3 8B, BERT-large: configs/models and their
  // papers.
  constexpr std::array<TransformerSize, 10> models{{{768, 3072, 768, false, 1},
                                                    {1024, 4096, 1024, false, 0},
                                                    {1600, 6400, 1600, false, 2},
                                                    {2048, 8192, 2048, false, 1},
                                                    {2560, 10240, 2560, false, 2},
                                                    {4096, 16384, 4096, false, 0},
                                                    {4096, 11008, 4096, true, 1},
                                                    {4096, 14336, 1024, true, 1},
                                                    {8192, 28672, 1024, true, 1},
                                                    {12288, 49152, 12288, false, 1}}};
  std::vector<Layer> layers;
  for (const TransformerSize& model : models) {
    for (const std::int64_t tensor : {1, 2, 4, 8}) {
      if (model.hidden / tensor < 256) continue;
      const int rank = tensor == 1 ? model.rank : std::max(model.rank, tensor == 8 ? 1 : 2);
      layers.push_back({(model.hidden + 2 * model.kv) / tensor, model.hidden, rank});
      layers.push_back({model.hidden, model.hidden / tensor, rank});
      layers.push_back({(model.gated ? 2 : 1) * model.ffn / tensor, model.hidden, rank});
      layers.push_back({model.hidden, model.ffn / tensor, rank});
    }
  }
  for (const std::int64_t vocab : {32000, 50304, 128256}) layers.push_back({vocab, 4096, 1});
  layers.push_back({50304, 1024, 1});
  return layers;
}

void add_layer(Cases& cases, const std::string& dtype, const Layer& layer, std::int64_t tokens, int rank) {
  if (dtype == "fp8") {  // one layout and sizes of 16 is what the hardware takes
    for (const auto& [m, n, k] : {std::array{layer.out, tokens, layer.in}, std::array{layer.in, tokens, layer.out},
                                  std::array{layer.in, layer.out, tokens}}) {
      if (m % 16 == 0 && n % 16 == 0 && k % 16 == 0) cases.push_back(gemm_case(dtype, "TN", 1, m, n, k, rank));
    }
    return;
  }
  cases.push_back(gemm_case(dtype, "TN", 1, layer.out, tokens, layer.in, rank));
  cases.push_back(gemm_case(dtype, "NN", 1, layer.in, tokens, layer.out, rank));
  cases.push_back(gemm_case(dtype, "NT", 1, layer.in, layer.out, tokens, rank));
}

void add_transformers(Cases& cases, bool fp8, bool bf16) {
  for (const Layer& layer : transformer_layers()) {
    for (const std::int64_t tokens : {512, 1024, 2048, 4096, 8192, 16384}) {
      const bool usual = tokens == 2048 || tokens == 8192;
      const int rank = std::max(layer.rank, usual ? 0 : tokens == 4096 || tokens == 16384 ? 1 : 2);
      if (bf16) add_layer(cases, "bf16", layer, tokens, rank);
      if (layer.rank <= 1 && usual) {
        const int other = layer.rank == 0 && tokens == 2048 ? 0 : 2;
        add_layer(cases, "fp16", layer, tokens, std::max(other, 1));
        add_layer(cases, "fp32", layer, tokens, other);
        if (bf16) add_layer(cases, "tf32", layer, tokens, other);
        if (fp8) add_layer(cases, "fp8", layer, tokens, std::min(other, layer.rank));
      }
    }
  }
}

/// ResNet-50's convolutions as multiplies of unrolled patches (im2col): out channels, pixels of the batch, patch.
/// Source: He et al. 2015 (arXiv 1512.03385), table 1.
void add_convolutions(Cases& cases, bool bf16) {
  struct ConvolutionSize {
    std::int64_t out, side, patch;
  };
  constexpr std::array<ConvolutionSize, 16> convolutions{{{64, 112, 147},
                                                          {64, 56, 64},
                                                          {64, 56, 576},
                                                          {256, 56, 64},
                                                          {64, 56, 256},
                                                          {128, 56, 256},
                                                          {128, 28, 1152},
                                                          {512, 28, 128},
                                                          {128, 28, 512},
                                                          {256, 28, 512},
                                                          {256, 14, 2304},
                                                          {1024, 14, 256},
                                                          {256, 14, 1024},
                                                          {512, 14, 1024},
                                                          {512, 7, 4608},
                                                          {2048, 7, 512}}};
  for (const ConvolutionSize& c : convolutions) {
    for (const std::int64_t images : {32, 128, 256}) {
      const Layer layer{c.out, c.patch, 1};
      const std::int64_t pixels = images * c.side * c.side;
      const int rank = images == 128 ? 1 : 2;
      add_layer(cases, "fp16", layer, pixels, rank);
      if (bf16) add_layer(cases, "tf32", layer, pixels, 2);
    }
  }
}

/// Squares, and edges of tiles and waves: sizes on both sides of a multiple of 128 and of a full wave.
void add_edges(Cases& cases, bool bf16, bool fp8) {
  std::vector<std::string> dtypes{"fp16", "fp32"};
  if (bf16) dtypes.insert(dtypes.end(), {"bf16", "tf32"});
  if (fp8) dtypes.emplace_back("fp8");
  for (const std::string& dtype : dtypes) {
    for (const std::int64_t n : {256, 512, 1024, 2048, 4096, 8192, 16384}) {
      if (dtype == "fp32" && n > 8192) continue;
      cases.push_back(gemm_case(dtype, "TN", 1, n, n, n, n >= 1024 && n <= 8192 ? 0 : 1));
    }
  }
  const std::string dtype = bf16 ? "bf16" : "fp16";
  for (std::int64_t tiles = 1; tiles <= 24; ++tiles) {  // n in steps of a tile: waves fill and spill
    cases.push_back(gemm_case(dtype, "TN", 1, 4096, 256 * tiles, 4096, tiles % 4 == 0 ? 0 : 1));
    cases.push_back(gemm_case(dtype, "TN", 1, 4096, 256 * tiles - 120, 4096, 2));
  }
  for (const std::int64_t k : {64, 128, 256, 512, 1024, 2048, 8192, 16384, 32768}) {
    cases.push_back(gemm_case(dtype, "TN", 1, 4096, 4096, k, k == 512 || k == 16384 ? 0 : 1));
    cases.push_back(gemm_case(dtype, "NT", 1, 1024, 1024, k, 1));
  }
}

/// The two multiplies of attention that is not fused, and their gradients, per head.
void add_batched(Cases& cases, const std::string& dtype) {
  for (const std::int64_t head : {64, 128}) {
    for (const std::int64_t sequence : {512, 1024, 2048, 4096}) {
      for (const std::int64_t batch : {16, 64, 128}) {
        const int rank = batch == 64 && sequence == 2048 ? 0 : batch == 64 ? 1 : 2;
        cases.push_back(gemm_case(dtype, "TN", batch, sequence, sequence, head, rank));  // scores, and of dO V^T
        cases.push_back(gemm_case(dtype, "NN", batch, head, sequence, sequence, rank));  // P V, and of dS K
        cases.push_back(gemm_case(dtype, "NT", batch, head, sequence, sequence, rank));  // dS^T Q, P^T dO
      }
    }
  }
}

void add_attention(Cases& cases, const std::string& dtype) {
  for (const std::int64_t head : {64, 128}) {
    for (const std::int64_t sequence : {512, 1024, 2048, 4096, 8192, 16384}) {
      for (const std::int64_t tokens_heads : {1 << 16, 1 << 18}) {
        const std::int64_t batch = std::max<std::int64_t>(tokens_heads / sequence, 1);
        for (const bool causal : {true, false}) {
          for (const bool backward : {false, true}) {
            KernelCase one;
            one.suite = "attention";
            one.kernel = backward ? "backward" : "forward";
            one.dtype = dtype;
            one.layout = causal ? "causal" : "full";
            one.batch = batch;
            one.m = one.n = sequence;
            one.k = head;
            one.bytes = batch * sequence * head * element_bytes(dtype) * (backward ? 8 : 4);
            one.flops = attention_flops(backward, causal, batch, sequence, sequence, head);
            one.cold = true;
            one.rank = sequence == 2048 || (sequence == 4096 && causal) ? 0 : causal && head == 128 ? 1 : 2;
            cases.push_back(one);
          }
        }
      }
    }
  }
}

void add_elementwise(Cases& cases, bool bf16) {
  const auto add = [&](const std::string& kernel, const std::string& dtype, std::int64_t rows, std::int64_t columns,
                       bool cold, int rank) {
    KernelCase one = elementwise_case(kernel, dtype, rows, columns);
    one.cold = cold;
    one.rank = rank;
    cases.push_back(one);
  };
  std::vector<std::string> dtypes{"fp32"};
  if (bf16) dtypes.emplace_back("bf16");
  for (const std::string& dtype : dtypes) {
    const int least = bf16 && dtype == "fp32" ? 1 : 0;
    for (const char* kernel : {"layer_norm", "layer_norm_backward", "rms_norm", "rms_norm_backward", "bias_dropout_add",
                               "bias_dropout_add_backward", "bias_backward", "gelu", "gelu_backward", "swiglu",
                               "swiglu_backward", "embedding_gather", "embedding_scatter"}) {
      for (const std::int64_t columns : {1024, 4096, 8192, 12288}) {
        for (const std::int64_t rows : {256, 2048, 8192}) {
          const int rank = columns == 4096 || (columns == 1024 && rows == 2048) ? 0 : 1;
          add(kernel, dtype, rows, columns, true, std::max(rank, least));
          if (rows == 2048) add(kernel, dtype, rows, columns, false, std::max(rank, 1));
        }
      }
    }
    for (const char* kernel : {"softmax", "softmax_backward"}) {
      for (const std::int64_t columns : {512, 1024, 2048, 4096}) {
        for (const std::int64_t rows : {2048, 32768})
          add(kernel, dtype, rows, columns, true, std::max(least, columns == 2048 ? 0 : 1));
      }
    }
    for (const char* kernel : {"cross_entropy", "cross_entropy_backward"}) {
      for (const std::int64_t vocab : {32000, 50304, 128256}) {
        for (const std::int64_t rows : {1024, 4096})
          add(kernel, dtype, rows, vocab, true, std::max(least, rows == 4096 ? 0 : 1));
      }
    }
    for (const std::int64_t parameters : {1 << 16, 1 << 20, 1 << 24, 1 << 28})
      add("adam", dtype, parameters, 1, true, least);
  }
}

void add_streams(Cases& cases) {
  for (const bool triad : {false, true}) {
    for (std::int64_t size = 1 << 16; size <= std::int64_t{1} << 31; size *= 2) {  // of one array
      for (const bool cold : {true, false}) {
        KernelCase one;
        one.suite = "stream";
        one.kernel = triad ? "triad" : "copy";
        one.by = "-";
        one.dtype = "fp32";
        one.bytes = size * (triad ? 3 : 2);
        one.cold = cold;
        one.rank = cold ? 0 : 1;
        cases.push_back(one);
      }
    }
  }
}

void add_launches(Cases& cases) {
  for (const char* kernel : {"stream", "graph", "event_pair"}) {
    KernelCase one;
    one.suite = "launch";
    one.kernel = kernel;
    one.by = "-";
    cases.push_back(one);
  }
}

std::uint64_t hash(const std::string& text) {  // FNV-1a
  std::uint64_t value = 14695981039346656037u;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return value;
}

std::string joined(const std::vector<std::string>& cells) {
  std::string text;
  for (const std::string& cell : cells) text += cell + ",";
  return text;
}

}  // namespace

std::vector<KernelCase> kernel_plan(const PlanLimits& limits) {
  const bool bf16 = limits.compute_capability >= 80, fp8 = limits.compute_capability >= 89;
  Cases cases;
  add_launches(cases);
  add_streams(cases);
  add_transformers(cases, fp8, bf16);
  add_convolutions(cases, bf16);
  add_edges(cases, bf16, fp8);
  add_batched(cases, bf16 ? "bf16" : "fp16");
  add_attention(cases, "fp16");
  if (bf16) add_attention(cases, "bf16");
  add_elementwise(cases, bf16);

  struct Ordered {
    int rank;
    std::uint64_t shuffle;
    KernelCase one;
  };
  std::vector<Ordered> ordered;
  for (KernelCase& one : cases) {
    // What a check and an fp32 copy need beside the operands is below three times their size.
    if (one.bytes > limits.memory_bytes / 4 || (limits.quick && one.rank > 0)) continue;
    if (one.suite == "attention" && one.dtype == "fp16" && bf16) one.rank = 2;  // bf16 is what is trained with
    if (limits.quick && one.rank > 0) continue;
    const std::uint64_t shuffle = one.suite == "launch" ? 0 : hash(joined(key_of(one)));
    ordered.push_back({one.rank, shuffle, std::move(one)});
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const Ordered& a, const Ordered& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.shuffle < b.shuffle;
  });
  Cases plan;
  std::set<std::string> seen;
  for (Ordered& one : ordered) {
    if (seen.insert(joined(key_of(one.one))).second) plan.push_back(std::move(one.one));
  }
  return plan;
}

std::vector<std::int64_t> doubling_sizes(std::int64_t least, std::int64_t most, int step) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = least; size <= most; size <<= step) sizes.push_back(size);
  return sizes;
}

}  // namespace stepcast::measure
