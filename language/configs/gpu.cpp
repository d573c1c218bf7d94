#include <array>
#include <string>
#include <vector>

#include "language/configs/files.h"
#include "language/core/library.h"
#include "models/cost/elementwise.h"

namespace stepcast::language {
namespace {

using schedules::GemmModel;
using schedules::Gpu;
using schedules::Precision;

template <Precision precision>
void store_peak(Gpu& gpu, const Value& v) {
  gpu.peak[precision] = v.flop_rate;
}

template <auto member>
void store_number(Gpu& gpu, const Value& v) {
  gpu.*member = v.number;
}
template <auto member>
void store_gemm(Gpu& gpu, const Value& v) {
  gpu.gemm.*member = v.number;
}
template <auto member>
void store_simt(Gpu& gpu, const Value& v) {
  gpu.gemm_simt.*member = v.number;
}

template <Precision precision, auto member>
void store_gemm_of(Gpu& gpu, const Value& v) {
  gpu.gemm_of[precision].*member = v.number;
}

/// Of a peak at the data sheet's clock, which cards without a power limit to mind exceed.
Type share_of_sheet() {
  Type share = fraction();
  share.most = 1.5;
  return share;
}

/// What a file of configs/gpus/ states.
std::vector<Key<Gpu>> stated_keys() {
  return {
      {{"name", text_type(), "", "what people call it"}, [](Gpu& g, const Value& v) { g.name = v.text; }},
      {{"compute_capability", whole(10, 999), "", "NVIDIA's, times ten: how NCCL's topologies name a GPU"},
       [](Gpu& g, const Value& v) { g.compute_capability = static_cast<std::uint32_t>(v.whole); }},
      {{"pci_device", text_type(), "", "its PCI device id, likewise"},
       [](Gpu& g, const Value& v) { g.pci_device = v.text; }},
      {{"sms", whole(1, 4096), kRequired, "streaming multiprocessors"},
       [](Gpu& g, const Value& v) { g.sms = static_cast<std::uint32_t>(v.whole); }},
      {{"memory.size", positive_bytes(), kRequired, "capacity"}, [](Gpu& g, const Value& v) { g.memory = v.bytes; }},
      {{"memory.bandwidth", bandwidth_type(), kRequired, "data sheet"},
       [](Gpu& g, const Value& v) { g.memory_bandwidth = v.bandwidth; }},
      {{"memory.efficiency", fraction(), "1", "share of the bandwidth that long streaming kernels reach"},
       store_number<&Gpu::memory_efficiency>},
      {{"memory.ramp", time_type(), "0 ps", "what a kernel bound by memory takes beside its bytes and its launch"},
       [](Gpu& g, const Value& v) { g.memory_ramp = v.time; }},
      {{"peak.fp32", flop_rate_type(), "", "dense peak"}, store_peak<Precision::fp32>},
      {{"peak.tf32", flop_rate_type(), "", "dense peak of the matrix units"}, store_peak<Precision::tf32>},
      {{"peak.fp16", flop_rate_type(), "", "dense peak of the matrix units"}, store_peak<Precision::fp16>},
      {{"peak.bf16", flop_rate_type(), "", "dense peak of the matrix units"}, store_peak<Precision::bf16>},
      {{"peak.fp8", flop_rate_type(), "", "dense peak of the matrix units, one scale for a tensor"},
       store_peak<Precision::fp8>},
      {{"peak.mxfp8", flop_rate_type(), "", "dense peak of the matrix units, one scale for 32 numbers"},
       store_peak<Precision::mxfp8>},
      {{"peak.nvfp4", flop_rate_type(), "", "dense peak of the matrix units, 4 bits with one scale for 16 numbers"},
       store_peak<Precision::nvfp4>},
      {{"gemm.mainloop", share_of_sheet(), "0.9", "rate of an SM on a 256x128 tile, share of a peak that some exceed"},
       store_gemm<&GemmModel::mainloop>},
      {{"gemm.sustained", share_of_sheet(), "0.85", "what the whole chip holds under its power limit, share of peak"},
       store_gemm<&GemmModel::sustained>},
      {{"gemm.tile_128", fraction(), "0.8", "rate of a 128x128 tile over a 256x128 tile's"},
       store_gemm<&GemmModel::tile_128>},
      {{"gemm.tile_64", fraction(), "0.5", "likewise a 128x64 tile's; squared for 64x64"},
       store_gemm<&GemmModel::tile_64>},
      {{"gemm.fill", number(0), "100", "start-up of a tile, in elements of k multiplied in that time"},
       store_gemm<&GemmModel::fill>},
      {{"gemm.exposed_write", number(0, 1), "0.5", "share of writing the results that multiplying does not hide"},
       store_gemm<&GemmModel::exposed_write>},
      {{"gemm.aligned_4", fraction(), "0.61",
        "rate where rows of the matrices begin at multiples of 4 or 8 bytes, over their rate at multiples of 16"},
       store_gemm<&GemmModel::aligned_4>},
      {{"gemm.aligned_2", fraction(), "0.28", "likewise at multiples of 2 bytes: sizes are odd"},
       store_gemm<&GemmModel::aligned_2>},
      {{"gemm_simt.mainloop", fraction(), "0.95", "as gemm.mainloop, for fp32: without matrix units"},
       store_simt<&GemmModel::mainloop>},
      {{"gemm_simt.sustained", fraction(), "0.93", "as gemm.sustained, likewise"}, store_simt<&GemmModel::sustained>},
      {{"gemm_simt.tile_128", fraction(), "1", "as gemm.tile_128, likewise"}, store_simt<&GemmModel::tile_128>},
      {{"gemm_simt.tile_64", fraction(), "0.9", "as gemm.tile_64, likewise"}, store_simt<&GemmModel::tile_64>},
      {{"gemm_simt.fill", number(0), "8", "as gemm.fill, likewise"}, store_simt<&GemmModel::fill>},
      {{"gemm_simt.exposed_write", number(0, 1), "0.5", "as gemm.exposed_write, likewise"},
       store_simt<&GemmModel::exposed_write>},
      {{"gemm_simt.aligned_4", fraction(), "1", "as gemm.aligned_4, likewise"}, store_simt<&GemmModel::aligned_4>},
      {{"gemm_simt.aligned_2", fraction(), "1", "as gemm.aligned_2, likewise"}, store_simt<&GemmModel::aligned_2>},
      {{"fp8_share", fraction(), "1",
        "8-bit multiplies: of the shares of their peak that gemm has of 16-bit ones, what they reach"},
       store_number<&Gpu::fp8_share>},
      {{"fp8_rowwise_share", fraction(), "1",
        "training.scaling rowwise: of the rate of 8-bit multiplies, that of those that scale by row what they write"},
       store_number<&Gpu::fp8_rowwise_share>},
      {{"attention.forward", fraction(), "0.5", "fused causal attention, share of peak"},
       store_number<&Gpu::attention_forward>},
      {{"attention.backward", fraction(), "0.4", "fused causal attention, share of peak"},
       store_number<&Gpu::attention_backward>},
      {{"attention.flash_2", fraction(), "1", "share of these rates that FlashAttention-2 reaches"},
       store_number<&Gpu::attention_flash_2>},
      {{"attention.cudnn", fraction(), "1", "likewise cuDNN"}, store_number<&Gpu::attention_cudnn>},
      {{"attention.fp8_share", fraction(), "1", "as fp8_share, of fused attention in 8 bits"},
       store_number<&Gpu::attention_fp8_share>},
      {{"attention.tile", whole(1, 4096), "128", "query rows that one block of the forward kernel works on"},
       [](Gpu& g, const Value& v) { g.attention_tile = v.whole; }},
      {{"scan_speed", number(0.01, 100), "1", "of one multiprocessor in scans of chunks, over an H100's"},
       store_number<&Gpu::scan_speed>},
      {{"source", text_type(), "", "where the numbers are from"}, [](Gpu& g, const Value& v) { g.source = v.text; }},
  };
}

/// What a running step, and the slowest of a job's GPUs, leave of rates that are measured alone.
void add_step_keys(std::vector<Key<Gpu>>& keys) {
  keys.push_back({{"step_share", fraction(), "1",
                   "in a running step, of all rates measured alone: clocks fall under the power limit"},
                  [](Gpu& g, const Value& v) {
                    g.step_share = v.number;
                    g.low_precision_step_share.reset();  // that of the GPU this one is based on
                  }});
  keys.push_back(
      {{"low_precision_step_share", fraction(), "step_share", "likewise in a step whose multiplies have 8 or 4 bits"},
       [](Gpu& g, const Value& v) { g.low_precision_step_share = v.number; }});
  keys.push_back({{"spread", number(0, 0.2), "0", "standard deviation of multiplies' speed among GPUs, over its mean"},
                  store_number<&Gpu::spread>});
}

/// Multiplies of one precision, for where a calibration measured them apart. `paths`: in the order of GemmModel.
template <Precision precision>
void add_gemm_keys(std::vector<Key<Gpu>>& keys, const std::array<std::string_view, 8>& paths) {
  keys.push_back({{paths[0], fraction(), "0.9", "as gemm.mainloop, of this precision alone instead of gemm"},
                  store_gemm_of<precision, &GemmModel::mainloop>});
  keys.push_back(
      {{paths[1], fraction(), "0.85", "as gemm.sustained, likewise"}, store_gemm_of<precision, &GemmModel::sustained>});
  keys.push_back(
      {{paths[2], fraction(), "0.8", "as gemm.tile_128, likewise"}, store_gemm_of<precision, &GemmModel::tile_128>});
  keys.push_back(
      {{paths[3], fraction(), "0.5", "as gemm.tile_64, likewise"}, store_gemm_of<precision, &GemmModel::tile_64>});
  keys.push_back({{paths[4], number(0), "100", "as gemm.fill, likewise"}, store_gemm_of<precision, &GemmModel::fill>});
  keys.push_back({{paths[5], number(0, 1), "0.5", "as gemm.exposed_write, likewise"},
                  store_gemm_of<precision, &GemmModel::exposed_write>});
  keys.push_back(
      {{paths[6], fraction(), "0.61", "as gemm.aligned_4, likewise"}, store_gemm_of<precision, &GemmModel::aligned_4>});
  keys.push_back(
      {{paths[7], fraction(), "0.28", "as gemm.aligned_2, likewise"}, store_gemm_of<precision, &GemmModel::aligned_2>});
}

void store_elementwise(Gpu& gpu, const Value& v) { gpu.elementwise[v.path.substr(v.path.rfind('.') + 1)] = v.number; }

/// What only a calibration tells.
void add_measured_keys(std::vector<Key<Gpu>>& keys) {
  add_gemm_keys<Precision::tf32>(
      keys, {"gemm_tf32.mainloop", "gemm_tf32.sustained", "gemm_tf32.tile_128", "gemm_tf32.tile_64", "gemm_tf32.fill",
             "gemm_tf32.exposed_write", "gemm_tf32.aligned_4", "gemm_tf32.aligned_2"});
  add_gemm_keys<Precision::fp16>(
      keys, {"gemm_fp16.mainloop", "gemm_fp16.sustained", "gemm_fp16.tile_128", "gemm_fp16.tile_64", "gemm_fp16.fill",
             "gemm_fp16.exposed_write", "gemm_fp16.aligned_4", "gemm_fp16.aligned_2"});
  add_gemm_keys<Precision::bf16>(
      keys, {"gemm_bf16.mainloop", "gemm_bf16.sustained", "gemm_bf16.tile_128", "gemm_bf16.tile_64", "gemm_bf16.fill",
             "gemm_bf16.exposed_write", "gemm_bf16.aligned_4", "gemm_bf16.aligned_2"});
  static const std::vector<std::string> paths = [] {
    std::vector<std::string> made;
    for (const schedules::MeasuredKernel& kernel : schedules::measured_kernels())
      made.push_back("elementwise." + std::string(kernel.key));
    return made;
  }();
  for (const std::string& path : paths) {
    keys.push_back({{path, number(0.001, 10), "the software's",
                     "share of the streaming rate that this kernel reaches, instead of elementwise_efficiency"},
                    store_elementwise});
  }
}

}  // namespace

Names precision_names() { return {"fp32", "tf32", "fp16", "bf16"}; }
Names precisions_later() { return {"fp8", "mxfp8", "nvfp4"}; }
Names training_precision_names() { return {schedules::kPrecisionNames.begin(), schedules::kPrecisionNames.end()}; }

const Table<Gpu>& gpu_table() {
  static const Table<Gpu> table = [] {
    std::vector<Key<Gpu>> keys = stated_keys();
    add_step_keys(keys);
    add_measured_keys(keys);
    return Table<Gpu>("GPU", "gpus", std::move(keys));
  }();
  return table;
}
Gpu read_gpu_named(const std::string& name, const Value& value) {
  Value block = value;
  const Node file = value.library->expand_block(make_scalar(name, value.node->place), gpu_schema(), value.path);
  block.node = &file;
  Gpu gpu = read_block(gpu_table(), block);
  if (gpu.name.empty()) gpu.name = name;
  return gpu;
}

const Schema& gpu_schema() { return gpu_table().schema; }

}  // namespace stepcast::language
