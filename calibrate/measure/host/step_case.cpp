#include "calibrate/measure/host/step_case.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace stepcast::measure {
namespace {

/// Memory of one rank, roughly and not too small: weights, gradients, optimizer state, activations, logits.
double bytes_needed(const StepCase& s) {
  const double own = static_cast<double>(parameters(s)) / s.tensor / s.pipeline;
  const double table = static_cast<double>(s.vocab) * s.hidden / s.tensor;  // on the first and the last stage
  const double states = (own + table) * (s.offload ? 6 : 18);
  const double tokens = static_cast<double>(s.micro_batch) * s.sequence;
  const double per_layer = tokens * s.hidden * (s.recompute == StepRecompute::full ? 2 : 10 + 24.0 / s.tensor);
  const double in_flight = std::min(s.pipeline, s.micro_batches);
  const double activations = per_layer * s.layers / s.pipeline * in_flight + tokens * s.hidden * 60;
  return states + activations + tokens * s.vocab / s.tensor * 4 + 2e9;
}

std::string cell(double seconds) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.6g s", seconds);
  return text.data();
}

/// A phase that did not take place is no measurement.
std::string phase_cell(double seconds) { return seconds > 0 ? cell(seconds) : ""; }

}  // namespace

const char* recompute_name(StepRecompute recompute) {
  switch (recompute) {
    case StepRecompute::none:
      return "none";
    case StepRecompute::selective:
      return "selective";
    case StepRecompute::full:
      return "full";
  }
  throw std::logic_error("no such recomputation");
}

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

std::vector<StepExchange> step_exchanges(const StepCase& step, int stage) {
  const std::vector<StepPass> passes = one_f_one_b(step, stage);
  const bool first = stage == 0, last = stage + 1 == step.pipeline;
  std::vector<StepExchange> exchanges(passes.size() + 1);
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const StepPass& pass = passes[i];
    if (pass.forward && !first) exchanges[i].receive_activation = pass.micro_batch;
    if (pass.forward && !last) exchanges[i + 1].send_activation = pass.micro_batch;
    if (!pass.forward && !last) exchanges[i].receive_gradient = pass.micro_batch;
    if (!pass.forward && !first) exchanges[i + 1].send_gradient = pass.micro_batch;
  }
  return exchanges;
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
  std::vector<std::pair<int, StepCase>> ranked;  // 0: most valuable
  const auto add = [&](int rank, const StepCase& step) {
    if (fault(step).empty() && step.gpus() <= gpus && bytes_needed(step) < 0.92 * static_cast<double>(memory_bytes))
      ranked.emplace_back(rank, step);
  };
  struct ModelSize {
    int layers, hidden, heads, sequence;
  };
  // GPT-3 small to 13B (Brown et al. 2020, arXiv 2005.14165, table 2.1), layers cut where a few say as much.
  constexpr std::array<ModelSize, 6> shapes{{{12, 768, 12, 1024},
                                             {24, 1024, 16, 1024},
                                             {24, 2048, 16, 2048},
                                             {16, 2560, 20, 2048},
                                             {8, 4096, 32, 2048},
                                             {4, 5120, 40, 2048}}};
  constexpr int kVocab = 50304;
  for (const ModelSize& s : shapes) {
    for (int pipeline = 1; pipeline <= gpus; ++pipeline) {
      for (int tensor = 1; tensor * pipeline <= gpus; ++tensor) {
        const int data = gpus / (tensor * pipeline);
        if (data * tensor * pipeline != gpus) continue;
        StepCase step{s.layers, s.hidden, s.heads, kVocab, s.sequence, 4, 1, data, tensor, pipeline};
        for (const int micro_batch : {4, 1, 8}) {
          for (const int micro_batches : {1, 4}) {
            if (pipeline > 1 && micro_batches == 1) continue;
            step.micro_batch = micro_batch;
            step.micro_batches = micro_batches * pipeline;
            const bool usual = micro_batch == 4 && (micro_batches == 1 || pipeline > 1);
            add(usual ? 0 : 2, step);
          }
        }
        step.micro_batches = 2 * pipeline;
        for (const int micro_batch : {4, 8}) {
          step.micro_batch = micro_batch;
          for (const StepRecompute recompute : {StepRecompute::full, StepRecompute::selective}) {
            step.recompute = recompute;
            add(micro_batch == 4 ? 1 : 2, step);
          }
        }
        step.micro_batch = 4;
        step.recompute = StepRecompute::none;
        step.offload = true;
        add(3, step);
      }
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const std::size_t stride = quick ? std::max<std::size_t>(ranked.size() / 6, 1) : 1;
  std::vector<StepCase> plan;
  for (std::size_t i = 0; i < ranked.size(); i += stride) plan.push_back(ranked[i].second);
  return plan;
}

std::string step_name(const StepCase& s) {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "gpt-l%d-h%d-s%d-mb%dx%d-d%dt%dp%d%s%s", s.layers, s.hidden, s.sequence,
                s.micro_batch, s.micro_batches, s.data, s.tensor, s.pipeline,
                s.recompute == StepRecompute::none ? "" : ("-" + std::string(recompute_name(s.recompute))).c_str(),
                s.offload ? "-offload" : "");
  return text.data();
}

namespace {

struct NamedCell {
  const char* name;
  std::string cell;
};

/// The columns and their cells, in one place.
std::vector<NamedCell> columns_of(const StepCase& s, const StepResult& r, const std::string& node,
                                  const std::string& run) {
  const auto whole = [](std::int64_t value) { return std::to_string(value); };
  const StepPhases& p = r.phases;
  const std::string note = "p10 " + cell(r.step.p10) + "; p90 " + cell(r.step.p90) + "; " + whole(r.step.repeats) +
                           " steps; a rank of the last stage: layers forward " + cell(p.layers_forward) +
                           "; layers backward " + cell(p.layers_backward) + "; ends forward " + cell(p.ends_forward) +
                           "; ends backward " + cell(p.ends_backward) + "; pipeline " + cell(p.pipeline) + "; data " +
                           cell(p.data) + "; optimizer " + cell(p.optimizer) + "; GPU memory in use " +
                           whole(r.used_bytes) + " B";
  const auto passes = static_cast<double>(s.micro_batches) * (s.layers / s.pipeline);
  return {{"name", step_name(s)},
          {"source", "stepcast_measure run " + run},
          {"confidence", "stated"},
          {"note", note},
          {"cluster.node", node},
          {"cluster.gpus", whole(s.gpus())},
          {"model.family", "gpt"},
          {"model.layers", whole(s.layers)},
          {"model.hidden", whole(s.hidden)},
          {"model.heads", whole(s.heads)},
          {"model.vocab", whole(s.vocab)},
          {"training.global_batch", whole(std::int64_t{s.micro_batch} * s.micro_batches * s.data)},
          {"training.micro_batch", whole(s.micro_batch)},
          {"training.sequence", whole(s.sequence)},
          {"training.precision", "bf16"},
          {"parallelism.tensor", whole(s.tensor)},
          {"parallelism.pipeline", whole(s.pipeline)},
          {"parallelism.data", whole(s.data)},
          {"pipeline.schedule", s.pipeline > 1 ? "1f1b" : ""},
          {"recompute", recompute_name(s.recompute)},
          {"offload.optimizer", s.offload ? "host" : ""},
          {"offload.overlap", s.offload ? "false" : ""},
          {"software", "stepcast-measure"},
          {"measured.step_time", cell(r.step.median)},
          {"measured.peak_memory", whole(r.peak_bytes) + " B"},
          {"measured.phases.layer_forward", phase_cell(p.layers_forward / passes)},
          {"measured.phases.layer_backward", phase_cell(p.layers_backward / passes)},
          {"measured.phases.exposed_data_communication", s.data > 1 ? phase_cell(p.data) : ""}};
}

}  // namespace

std::vector<std::string> step_table_columns() {
  std::vector<std::string> names;
  for (const NamedCell& column : columns_of(StepCase{}, {}, "", "")) names.emplace_back(column.name);
  return names;
}

std::vector<std::string> step_table_cells(const StepCase& step, const StepResult& result, const std::string& node,
                                          const std::string& run) {
  std::vector<std::string> cells;
  for (NamedCell& column : columns_of(step, result, node, run)) cells.push_back(std::move(column.cell));
  return cells;
}

std::string node_named(const std::string& gpu_name, int gpus) {
  const auto is = [&](const char* part) { return gpu_name.find(part) != std::string::npos; };
  if (is("NVL") || is("PCIe") || is("GH200")) return "";  // other boards with such a chip
  if (is("H200")) return "dgx-h200";
  if (is("H100")) return "dgx-h100";
  if (is("B200") && !is("GB200")) return "dgx-b200";
  if (is("A100") && is("SXM")) return is("80GB") ? "dgx-a100-80gb" : "dgx-a100-40gb";
  if (is("V100") && is("SXM3") && gpus <= 16) return "dgx-2";
  if (is("V100") && is("SXM2")) return is("32GB") ? "dgx-1-v100-32gb" : "dgx-1-v100-16gb";
  return "";
}

}  // namespace stepcast::measure
