#include "calibrate/measure/kernels/gemm.h"

#include <cublasLt.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "calibrate/measure/kernels/check_cuda.h"

namespace stepcast::measure {
namespace {

constexpr std::size_t kWorkspace = std::size_t{32} << 20;

void check_cublas(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  int device = -1;
  cudaGetDevice(&device);
  throw std::runtime_error(std::string(call) + " on GPU " + std::to_string(device) + ": " +
                           cublasLtGetStatusString(status));
}

cudaDataType type_of(Number number) {
  switch (number) {
    case Number::fp32:
    case Number::tf32:
      return CUDA_R_32F;
    case Number::fp16:
      return CUDA_R_16F;
    case Number::bf16:
      return CUDA_R_16BF;
    case Number::fp8:
      return CUDA_R_8F_E4M3;
  }
  throw std::logic_error("no such number");
}

/// Bytes that an address is a multiple of, up to 256, as cuBLASLt counts alignment; 0 for none.
std::uintptr_t alignment_of(const void* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  return std::min<std::uintptr_t>(address & (~address + 1), 256);
}

/// The algorithm depends on the shape, and on how the bias is aligned.
using Key = std::pair<decltype(CublasShape{}.key()), std::uintptr_t>;

}  // namespace

struct CublasGemm::Library {
  struct Layouts {
    cublasLtMatmulDesc_t multiply = nullptr;
    cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
    cublasLtMatmulAlgo_t algorithm{};
    std::size_t workspace = 0;
    Layouts() = default;
    Layouts(const Layouts&) = delete;
    Layouts& operator=(const Layouts&) = delete;
    ~Layouts() {
      if (a != nullptr) cublasLtMatrixLayoutDestroy(a);
      if (b != nullptr) cublasLtMatrixLayoutDestroy(b);
      if (c != nullptr) cublasLtMatrixLayoutDestroy(c);
      if (multiply != nullptr) cublasLtMatmulDescDestroy(multiply);
    }
  };

  cublasLtHandle_t handle = nullptr;
  void* workspace = nullptr;
  std::map<Key, Layouts> known;

  ~Library() {
    known.clear();
    if (workspace != nullptr) cudaFree(workspace);
    if (handle != nullptr) cublasLtDestroy(handle);
  }

  const Layouts& layouts_of(const CublasShape& shape, const void* bias);
};

const CublasGemm::Library::Layouts& CublasGemm::Library::layouts_of(const CublasShape& shape, const void* bias) {
  const Key key{shape.key(), shape.bias ? alignment_of(bias) : 0};
  if (const auto at = known.find(key); at != known.end()) return at->second;
  const auto made = known.try_emplace(key).first;
  Layouts& l = made->second;
  try {
    const bool tf32 = shape.in == Number::tf32;
    check_cublas(
        cublasLtMatmulDescCreate(&l.multiply, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F),
        "cublasLtMatmulDescCreate");
    const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
      check_cublas(cublasLtMatmulDescSetAttribute(l.multiply, attribute, &value, sizeof(value)),
                   "cublasLtMatmulDescSetAttribute");
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, shape.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, shape.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (shape.bias) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type_of(shape.out));
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);  // the heuristic looks at its alignment
    }
    const auto layout = [&](cublasLtMatrixLayout_t& to, Number number, std::int64_t rows, std::int64_t columns) {
      check_cublas(cublasLtMatrixLayoutCreate(&to, type_of(number), static_cast<std::uint64_t>(rows),
                                              static_cast<std::uint64_t>(columns), rows),
                   "cublasLtMatrixLayoutCreate");
      if (shape.batch == 1) return;
      const auto count = static_cast<std::int32_t>(shape.batch);
      const std::int64_t stride = rows * columns;
      check_cublas(cublasLtMatrixLayoutSetAttribute(to, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)),
                   "cublasLtMatrixLayoutSetAttribute");
      check_cublas(
          cublasLtMatrixLayoutSetAttribute(to, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof(stride)),
          "cublasLtMatrixLayoutSetAttribute");
    };
    layout(l.a, shape.in, shape.transpose_a ? shape.k : shape.m, shape.transpose_a ? shape.m : shape.k);
    layout(l.b, shape.in, shape.transpose_b ? shape.n : shape.k, shape.transpose_b ? shape.k : shape.n);
    layout(l.c, shape.out, shape.m, shape.n);

    cublasLtMatmulPreference_t preference = nullptr;
    check_cublas(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace,
                                         sizeof(kWorkspace));
    cublasLtMatmulHeuristicResult_t found{};
    int results = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle, l.multiply, l.a, l.b, l.c, l.c, preference, 1, &found, &results);
    cublasLtMatmulPreferenceDestroy(preference);
    check_cublas(status, "cublasLtMatmulAlgoGetHeuristic");
    if (results == 0) check_cublas(CUBLAS_STATUS_NOT_SUPPORTED, "cublasLtMatmulAlgoGetHeuristic");
    l.algorithm = found.algo;
    l.workspace = found.workspaceSize;
  } catch (...) {
    known.erase(made);
    throw;
  }
  return l;
}

CublasGemm::CublasGemm() : library_(std::make_unique<Library>()) {
  check_cublas(cublasLtCreate(&library_->handle), "cublasLtCreate");
  check_cuda(cudaMalloc(&library_->workspace, kWorkspace), "cudaMalloc");
}

CublasGemm::~CublasGemm() = default;

std::int64_t CublasGemm::workspace_bytes() { return static_cast<std::int64_t>(kWorkspace); }

void CublasGemm::run(const CublasShape& shape, const void* a, const void* b, void* c, const void* bias,
                     cudaStream_t stream) {
  const Library::Layouts& l = library_->layouts_of(shape, bias);
  if (shape.bias) {
    check_cublas(cublasLtMatmulDescSetAttribute(l.multiply, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias)),
                 "cublasLtMatmulDescSetAttribute");
  }
  const float one = 1.0f, beta = shape.accumulate ? 1.0f : 0.0f;
  check_cublas(cublasLtMatmul(library_->handle, l.multiply, &one, a, l.a, b, l.b, &beta, c, l.c, c, l.c, &l.algorithm,
                              library_->workspace, l.workspace, stream),
               "cublasLtMatmul");
}

}  // namespace stepcast::measure
