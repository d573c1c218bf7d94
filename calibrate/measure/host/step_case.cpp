#include "calibrate/measure/host/step_case.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "calibrate/measure/host/table.h"

namespace stepcast::measure {
namespace {

/// Memory of one rank, roughly and not too small: weights, gradients, optimizer state, activations, logits.
double bytes_needed(const StepCase& s) {
  const double own = static_cast<double>(parameters(s)) / s.tensor / s.pipeline;
  const double table = static_cast<double>(s.vocab) * s.hidden / s.tensor;  // on the first and the last stage
  const double states = (own + table) * (s.offload ? 6 : 18);
  const double tokens = static_cast<double>(s.micro_batch) * s.sequence;
  const double per_layer = tokens * s.hidden * (s.recompute ? 2 : 8 + 30.0 / s.tensor);
  const double in_flight = std::min(s.pipeline, s.micro_batches);
  const double activations = per_layer * s.layers / s.pipeline * in_flight + tokens * s.hidden * 60;
  return states + activations + tokens * s.vocab / s.tensor * 4 + 2e9;
}

std::string cell(double seconds) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.6g s", seconds);
  return text.data();
}

}  // namespace

StepRank step_rank(const StepCase& step, int rank) {
  return {rank % step.tensor, rank / step.tensor % step.data, rank / step.tensor / step.data};
}

std::vector<StepPass> one_f_one_b(const StepCase& step, int stage) {
  const int ahead = std::min(step.pipeline - stage - 1, step.micro_batches);
  std::vector<StepPass> order;
  for (int f = 0; f < ahead; ++f) order.push_back({true, f});
  for (int b = 0; b < step.micro_batches; ++b) {
    if (ahead + b < step.micro_batches) order.push_back({true, ahead + b});
    order.push_back({false, b});
  }
  return order;
}

std::string fault(const StepCase& s) {
  for (const int size : {s.layers, s.hidden, s.heads, s.vocab, s.sequence, s.micro_batch, s.micro_batches, s.data,
                         s.tensor, s.pipeline}) {
    if (size < 1) return "a size below 1";
  }
  if (s.hidden % s.heads != 0 || (s.hidden / s.heads != 64 && s.hidden / s.heads != 128)) return "heads of 64 or 128";
  if (s.heads % s.tensor != 0) return "heads over the tensor ranks";
  if (s.vocab % (8 * s.tensor) != 0) return "vocabulary over the tensor ranks, in eights";
  if (s.layers % s.pipeline != 0) return "layers over the stages";
  if (s.sequence % 8 != 0) return "sequence in eights";
  return "";
}

std::int64_t parameters(const StepCase& s) {
  const std::int64_t h = s.hidden;
  return s.layers * (12 * h * h + 13 * h) + (static_cast<std::int64_t>(s.vocab) + s.sequence + 2) * h;
}

std::vector<StepCase> step_plan(int gpus, std::int64_t memory_bytes, bool quick) {
  std::vector<StepCase> plan;
  const auto add = [&](const StepCase& step) {
    if (fault(step).empty() && step.gpus() <= gpus && bytes_needed(step) < 0.92 * static_cast<double>(memory_bytes))
      plan.push_back(step);
  };
  struct Shape {
    int layers, hidden, heads, sequence;
  };
  // GPT-3 small to 13B (Brown et al. 2020, arXiv 2005.14165, table 2.1), layers cut where a few say as much.
  constexpr std::array<Shape, 6> shapes{{{12, 768, 12, 1024},
                                         {24, 1024, 16, 1024},
                                         {24, 2048, 16, 2048},
                                         {16, 2560, 20, 2048},
                                         {8, 4096, 32, 2048},
                                         {4, 5120, 40, 2048}}};
  constexpr int kVocab = 50304;
  for (const Shape& s : shapes) {
    for (int pipeline = 1; pipeline <= gpus; ++pipeline) {
      for (int tensor = 1; tensor * pipeline <= gpus; ++tensor) {
        const int data = gpus / (tensor * pipeline);
        if (data * tensor * pipeline != gpus) continue;
        for (const int micro_batch : {4, 1, 8}) {
          for (const int micro_batches : {1, 4}) {
            if (pipeline > 1 && micro_batches == 1) continue;
            add({s.layers, s.hidden, s.heads, kVocab, s.sequence, micro_batch, micro_batches * pipeline, data, tensor,
                 pipeline});
          }
        }
        StepCase again{s.layers, s.hidden, s.heads, kVocab, s.sequence, 4, 2 * pipeline, data, tensor, pipeline};
        again.recompute = true;
        add(again);
        again.micro_batch = 8;
        add(again);
        again.micro_batch = 4;
        again.recompute = false;
        again.offload = true;
        add(again);
      }
    }
  }
  if (quick && !plan.empty()) {
    std::vector<StepCase> few;
    for (std::size_t i = 0; i < plan.size(); i += std::max<std::size_t>(plan.size() / 6, 1)) few.push_back(plan[i]);
    return few;
  }
  return plan;
}

std::string step_name(const StepCase& s) {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "gpt-l%d-h%d-s%d-mb%dx%d-d%dt%dp%d%s%s", s.layers, s.hidden, s.sequence,
                s.micro_batch, s.micro_batches, s.data, s.tensor, s.pipeline, s.recompute ? "-full" : "",
                s.offload ? "-offload" : "");
  return text.data();
}

std::string step_table_header() {
  return "name,source,confidence,note,cluster.node,cluster.gpus,model.family,model.layers,model.hidden,model.heads,"
         "model.vocab,training.global_batch,training.micro_batch,training.sequence,training.precision,"
         "parallelism.tensor,parallelism.pipeline,parallelism.data,pipeline.schedule,data_parallel.zero,"
         "data_parallel.overlap,data_parallel.gradient_precision,recompute,offload,software,measured.step_time,"
         "measured.peak_memory,measured.phases.layer_forward,measured.phases.layer_backward";
}

std::string step_table_row(const StepCase& s, const StepResult& r, const std::string& node, const std::string& run) {
  const auto whole = [](std::int64_t value) { return std::to_string(value); };
  const std::string note = "p10 " + cell(r.p10_s) + "; p90 " + cell(r.p90_s) + "; of the last stage: forward " +
                           cell(r.forward_s) + "; backward " + cell(r.backward_s) + "; gradients " +
                           cell(r.gradients_s) + "; optimizer " + cell(r.optimizer_s) + "; steps " + whole(r.repeats);
  const std::int64_t passes = static_cast<std::int64_t>(s.micro_batches) * (s.layers / s.pipeline);
  const std::vector<std::string> cells{step_name(s),
                                       "stepcast_measure run " + run,
                                       "stated",
                                       note,
                                       node,
                                       whole(s.gpus()),
                                       "gpt",
                                       whole(s.layers),
                                       whole(s.hidden),
                                       whole(s.heads),
                                       whole(s.vocab),
                                       whole(std::int64_t{s.micro_batch} * s.micro_batches * s.data),
                                       whole(s.micro_batch),
                                       whole(s.sequence),
                                       "bf16",
                                       whole(s.tensor),
                                       whole(s.pipeline),
                                       whole(s.data),
                                       s.pipeline > 1 ? "1f1b" : "",
                                       "0",
                                       "false",
                                       "fp32",
                                       s.recompute ? "full" : "none",
                                       s.offload ? "optimizer" : "",
                                       "stepcast-measure",
                                       cell(r.step_s),
                                       whole(r.peak_bytes) + " B",
                                       cell(r.layers_forward_s / static_cast<double>(passes)),
                                       cell(r.layers_backward_s / static_cast<double>(passes))};
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + quoted(cells[i]);
  return line;
}

std::string node_named(const std::string& gpu_name, int gpus) {
  const auto is = [&](const char* part) { return gpu_name.find(part) != std::string::npos; };
  if (is("H200")) return "dgx-h200";
  if (is("H100") && !is("PCIe")) return "dgx-h100";
  if (is("B200") && !is("GB200")) return "dgx-b200";
  if (is("A100") && is("SXM")) return is("80GB") ? "dgx-a100-80gb" : "dgx-a100-40gb";
  if (is("V100") && is("SXM3") && gpus <= 16) return "dgx-2";
  if (is("V100") && is("SXM2")) return is("32GB") ? "dgx-1-v100-32gb" : "dgx-1-v100-16gb";
  return "";
}

}  // namespace stepcast::measure
