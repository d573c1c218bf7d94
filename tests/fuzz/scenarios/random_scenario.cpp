#include "tests/fuzz/scenarios/random_scenario.h"

#include <algorithm>

#include "tests/fuzz/scenarios/mapping.h"
#include "tests/fuzz/scenarios/random_model.h"

namespace stepcast::test {
namespace {

/// How the work is shared, before it is written.
struct Plan {
  std::string family;
  std::uint64_t tensor = 1, context = 1, pipeline = 1, data = 1;
  std::string context_method = "ring";
  std::string schedule = "1f1b";
  std::uint64_t virtual_stages = 1;  ///< as written; of schedules with two of themselves 1
  std::uint64_t chunks = 1;          ///< model chunks of all stages
  std::uint64_t micro_batch = 1, micro_batches = 1, sequence = 128, layers = 1;
  bool sequence_parallel = false;
  std::uint64_t zero = 0;
  std::string mode = "all_reduce";
  bool careless = false;  ///< writes what contradicts the rest, too

  bool network() const { return is_network(family); }
  bool plain() const { return family == "gpt" || family == "llama" || family == "moe"; }
};

void choose_schedule(Choices& choose, Plan& plan) {
  plan.schedule = choose.of({"1f1b", "vanilla", "gpipe", "interleaved-1f1b", "combined-1f1b", "zb-h1", "zb-h2", "zb-v",
                             "pipedream", "pipedream-2bw", "chimera", "dualpipe", "dualpipe-v", "custom"});
  if (plan.schedule == "interleaved-1f1b" || plan.schedule == "combined-1f1b")
    plan.virtual_stages = 1 + choose.below(3);
  const bool down_and_up = plan.schedule == "zb-v" || plan.schedule == "dualpipe-v";
  plan.chunks = plan.pipeline * (down_and_up ? 2 : plan.virtual_stages);
  plan.micro_batches = choose.one_in(3) ? 1 + choose.below(12) : plan.pipeline * (1 + choose.below(3));
  if (plan.schedule.starts_with("dualpipe")) plan.micro_batches = 2 * plan.pipeline * (1 + choose.below(2));
}

Plan random_plan(Choices& choose, const RandomMachine& machine, const std::string& family) {
  Plan plan;
  plan.family = family;
  plan.careless = choose.one_in(4);
  std::uint64_t rest = machine.gpus;
  const auto take = [&](std::uint64_t most) {
    const std::uint64_t taken = choose.divisor(rest, most);
    rest /= taken;
    return taken;
  };
  if (!choose.one_in(3)) plan.tensor = take(plan.network() ? 4 : machine.gpus_per_node);
  if ((plan.careless || !machine.two_kinds) && choose.one_in(3)) plan.pipeline = take(8);
  if ((plan.careless || plan.plain()) && choose.one_in(5)) plan.context = take(4);
  plan.data = rest;
  plan.context_method = choose.of({"ring", "all-gather", "ulysses"});
  const bool shares_tokens = plan.careless || (!plan.network() && plan.family != "vit");
  plan.sequence_parallel = shares_tokens && plan.tensor > 1 && (plan.family == "moe" || choose.one_in(2));
  if (plan.pipeline > 1)
    choose_schedule(choose, plan);
  else
    plan.micro_batches = 1 + choose.below(4);
  if (plan.network() && plan.tensor > 1) plan.micro_batches = 1;
  plan.micro_batch = choose.of({1, 1, 2, 4, 16}) * (plan.network() ? plan.tensor : 1);
  plan.sequence = 2 * plan.context * plan.tensor * choose.of({8, 64, 256});
  if (choose.one_in(8)) plan.mode = choose.of({"parameter_server", "sharded_parameter_server"});
  if ((plan.careless || plan.mode == "all_reduce") && choose.one_in(2)) plan.zero = choose.below(4);
  return plan;
}

Mapping parallelism(Choices& choose, const Plan& plan) {
  Mapping all;
  if (plan.tensor > 1) all.add("tensor", plan.tensor);
  if (plan.context > 1) {
    all.add("context", plan.context);
    all.add("context_method", plan.context_method);
  }
  if (plan.pipeline > 1) all.add("pipeline", plan.pipeline);
  if (choose.one_in(2)) all.add("data", plan.data);
  if (plan.sequence_parallel) all.add("sequence", true);
  if (plan.family == "moe" && (plan.tensor > 1 || choose.one_in(2))) {
    const std::uint64_t sharers = choose.one_in(3) ? choose.divisor(plan.tensor, 4) : 1;
    all.add("expert", plan.tensor / sharers * choose.divisor(plan.context * plan.data, 8));
    if (sharers > 1) all.add("expert_tensor", sharers);
  }
  if (plan.tensor > 1 && (plan.careless || !plan.sequence_parallel) && choose.one_in(5))
    all.add("tensor_method", choose.of({"megatron", "partition-output", "reduce-output"}));
  const bool takes_a_grid = (plan.family == "gpt" || plan.family == "llama") && !plan.sequence_parallel;
  if (plan.tensor > 1 && (plan.careless || takes_a_grid) && choose.one_in(5)) {
    const std::uint64_t rows = choose.divisor(plan.tensor, plan.tensor);
    all.add("tensor_grid", fmt::format("{}x{}", rows, plan.tensor / rows));
  }
  if (choose.one_in(6))
    all.add("order", choose.of({"[tensor, pipeline]", "[data]", "[pipeline, tensor, data]", "[context, tensor]"}));
  if (plan.pipeline > 1 && choose.one_in(8) && plan.layers >= plan.chunks) {
    std::string layers = std::to_string(plan.layers - plan.chunks + 1);
    for (std::uint64_t chunk = 1; chunk < plan.chunks; ++chunk) layers += ", 1";
    all.add("layers_per_stage", '[' + layers + ']');
  }
  return all;
}

/// GPipe's order by hand, split or not.
std::string orders_by_hand(Choices& choose, const Plan& plan) {
  const bool split = choose.one_in(2);
  std::string all;
  for (std::uint64_t stage = 0; stage < plan.pipeline; ++stage) {
    std::string order;
    for (const char* pass : {"F", "B", "W"})
      for (std::uint64_t m = 0; m < plan.micro_batches && (split || *pass != 'W'); ++m)
        order += fmt::format("{}{}{}", order.empty() ? "" : " ", pass, m);
    all += (all.empty() ? "" : ", ") + order;
  }
  return '[' + all + ']';
}

Mapping pipeline(Choices& choose, const Plan& plan) {
  Mapping all;
  if (plan.pipeline == 1 && !choose.one_in(12)) return all;
  all.add("schedule", plan.schedule);
  if (plan.virtual_stages > 1) all.add("virtual_stages", plan.virtual_stages);
  if (plan.schedule == "custom") all.add("orders", orders_by_hand(choose, plan));
  if (plan.schedule == "interleaved-1f1b" && choose.one_in(4))
    all.add("micro_batch_group", plan.pipeline + choose.below(3));
  if (choose.one_in(8)) all.add("most_in_flight", 1 + choose.below(8));
  if (plan.careless && choose.one_in(4)) all.add("embedding_as_layer", true);
  if (plan.careless && choose.one_in(4)) all.add("head_as_layer", true);
  return all;
}

bool is_low(const std::string& precision) { return precision.ends_with("fp8") || precision == "nvfp4"; }

Mapping training(Choices& choose, const Plan& plan, const RandomMachine& machine) {
  Mapping all;
  all.add("global_batch", plan.micro_batch * plan.data * plan.micro_batches);
  all.add("micro_batch", plan.micro_batch);
  if (!is_network(plan.family) && plan.family != "vit") all.add("sequence", plan.sequence);
  std::vector<std::string> precisions = machine.precisions;
  if (plan.network() && !plan.careless) std::erase_if(precisions, [](const std::string& p) { return is_low(p); });
  const std::string precision = precisions.empty() ? "fp32" : choose.of(precisions);
  all.add("precision", precision);
  const std::string scaling = choose.of({"delayed", "current", "rowwise"});
  if (precision == "fp8") all.add("scaling", scaling);
  const bool gathers_16_bits = precision == "fp8" && scaling == "rowwise";
  if (precision.ends_with("fp8") && (plan.careless || !gathers_16_bits) && choose.one_in(3))
    all.add("eight_bit_parameters", true);
  if (is_low(precision) && plan.layers > 1 && choose.one_in(3)) all.add("bf16_layers_at_start", 1);
  if (choose.one_in(4)) all.add("optimizer", choose.of({"adam", "sgd", "momentum", "none"}));
  if (plan.context > 1)
    all.add("attention", "flash");
  else if (!is_network(plan.family) && choose.one_in(3))
    all.add("attention", choose.of({"unfused", "flash"}));
  if (choose.one_in(6)) all.add("fusion", choose.of({"none", "all"}));
  if (plan.layers > 1 && choose.one_in(8)) all.add("frozen_layers", choose.below(plan.layers));
  if (plan.family == "t5" && choose.one_in(2)) all.add("decoder_sequence", plan.tensor * choose.of({16, 64}));
  if (plan.family == "bert" && choose.one_in(2)) all.add("predictions", 1 + choose.below(plan.sequence));
  if ((plan.careless || machine.two_kinds) && choose.one_in(4)) all.add("balance", "speed");
  if (plan.family != "moe" || !choose.one_in(2)) return all;
  Mapping experts;
  if (choose.one_in(3)) experts.add("capacity", choose.of({0.5, 1.0, 1.25, 4.0}));
  if (choose.one_in(3)) experts.add("spread", choose.of({0.1, 1.0}));
  if (choose.one_in(6)) experts.add("node_limit", 1 + choose.below(4));
  all.add("experts", experts);
  return all;
}

Mapping data_parallel(Choices& choose, const Plan& plan) {
  Mapping all;
  if (plan.zero > 0) all.add("zero", plan.zero);
  if (plan.zero >= 2 && choose.one_in(2)) all.add("sum_once", choose.one_in(2));
  if (plan.mode != "all_reduce") all.add("mode", plan.mode);
  if (choose.one_in(4)) all.add("overlap", choose.one_in(2));
  if (choose.one_in(6)) all.add("bucket", choose.of({"1 MiB", "25 MiB", "1 GiB"}));
  if ((plan.careless || plan.zero > 0) && choose.one_in(5))
    all.add("shard_group", choose.divisor(plan.data, plan.data));
  if (choose.one_in(6)) all.add("gradient_precision", choose.of({"fp32", "fp16", "bf16"}));
  const bool servers = plan.mode != "all_reduce";
  if (plan.careless ? choose.one_in(4) : servers) {
    const std::string consistency = choose.of({"bulk_synchronous", "bounded_staleness", "asynchronous"});
    all.add("consistency", consistency);
    if (consistency == "bounded_staleness") all.add("staleness", choose.below(4));
  }
  const bool whole_state = plan.careless || (plan.zero == 0 && !servers);
  if (whole_state && choose.one_in(8)) all.add("local_steps", 1 + choose.below(6));
  if (!whole_state || !choose.one_in(8)) return all;
  Mapping compression;
  if (choose.one_in(2))
    compression.add("ratio", choose.of({1.0, 7.5}));
  else
    compression.add("top_k", choose.of({0.001, 0.1, 1.0}));
  all.add("compression", compression);
  return all;
}

std::string recompute(Choices& choose, const Plan& plan) {
  switch (choose.below(plan.careless || plan.plain() ? 7 : plan.network() ? 4 : 6)) {
    case 0:
      return "none";
    case 1:
      return "full";
    case 2:
      return fmt::format("{{every: {}}}", 1 + choose.below(plan.layers));
    case 3:
      return fmt::format("{{full_layers: {}}}", 1 + choose.below(plan.layers));
    case 4:
      return "selective";
    case 5:
      return "by-operator";
    default:
      return "{modules: " +
             choose.of({"[core_attn]", "[mlp]", "[core_attn, mla_up_proj]", "[moe_act, mlp]", "[layernorm, moe]",
                        "[shared_experts]"}) +
             "}";
  }
}

Mapping offload(Choices& choose, const Plan& plan) {
  Mapping all;
  bool drives = false, activations = false;
  for (const char* what : {"optimizer", "parameters", "activations"}) {
    if (choose.one_in(2)) continue;
    const std::string tier = choose.of({"host", "host", "nvme", "gpu"});
    drives = drives || tier == "nvme";
    activations = activations || (*what == 'a' && tier != "gpu");
    all.add(what, tier);
  }
  if (drives) all.add("nvme_bandwidth", choose.of({"3 GB/s", "25 GB/s"}));
  if (drives && choose.one_in(2)) all.add("nvme_size", choose.of({"30 GB", "8 TB"}));
  if ((plan.careless || (activations && plan.pipeline == 1)) && choose.one_in(3))
    all.add("activation_layers", 1 + choose.below(plan.layers));
  if (choose.one_in(4)) all.add("overlap", false);
  if (choose.one_in(6)) all.add("adam_rate", "1e9");
  return all;
}

Mapping imperfections(Choices& choose, const RandomMachine& machine) {
  Mapping all;
  if (choose.one_in(2)) {
    all.add("slow_gpu", choose.below(machine.gpus));
    all.add("gpu_speed", choose.of({0.5, 0.91, 1.0}));
  }
  if (machine.nodes > 1 && choose.one_in(2)) {
    all.add("slow_node", choose.below(machine.nodes));
    all.add("network_speed", choose.of({0.1, 0.5}));
  }
  if (choose.one_in(2)) {
    all.add("jitter", choose.of({0.01, 0.2, 2.0}));
    if (choose.one_in(3)) all.add("seed", choose.below(100));
  }
  return all;
}

void add_storage(Choices& choose, Mapping& scenario) {
  if (choose.one_in(10)) {
    Mapping input;
    if (choose.one_in(2)) {
      input.add("bytes_per_sample", choose.of({"8 kB", "110 kB"}));
      input.add("storage_bandwidth", choose.of({"100 MB/s", "31 GB/s"}));
    }
    if (choose.one_in(2)) {
      input.add("preprocessing", choose.of({"7 ms", "1 us"}));
      input.add("workers", 1 + choose.below(16));
    }
    scenario.add("input", input);
  }
  if (!choose.one_in(10)) return;
  Mapping checkpoint;
  checkpoint.add("every", 1 + choose.below(1000));
  checkpoint.add("bandwidth", choose.of({"1 GB/s", "100 GB/s"}));
  if (choose.one_in(2)) {
    checkpoint.add("asynchronous", true);
    checkpoint.add("snapshot_bandwidth", "20 GB/s");
  }
  scenario.add("checkpoint", checkpoint);
}

/// Puts something wrong, or at least odd, into a scenario: another number, a key misspelt, a line away.
std::string spoil(Choices& choose, std::string text) {
  switch (choose.below(3)) {
    case 0: {
      std::vector<std::size_t> numbers;
      const auto digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9'; };
      for (std::size_t i = 1; i < text.size(); ++i)
        if (digit(i) && text[i - 1] == ' ') numbers.push_back(i);
      if (numbers.empty()) return text;
      const std::size_t at = choose.of(numbers);
      std::size_t end = at;
      while (end < text.size() && digit(end)) ++end;
      return text.replace(at, end - at,
                          choose.of({"0", "1", "2", "3", "5", "7", "12", "96", "-1", "1.5", "1e3", "2000"}));
    }
    case 1:
      text.insert(choose.below(text.size()), choose.of({"x", "_", " ", ",", "s"}));
      return text;
    default: {
      const std::size_t start = choose.below(text.size()), end = text.find('\n', start);
      const std::size_t line = text.rfind('\n', start) + 1;  // npos + 1 is the start
      return text.erase(line, end == std::string::npos ? end : end + 1 - line);
    }
  }
}

}  // namespace

std::string random_scenario(Choices& choose, const ConfigNames& names) {
  const RandomMachine machine = random_machine(choose, names);
  const KnownModel known = choose.one_in(10) ? choose.of(names.models) : KnownModel{"", random_family(choose)};
  Plan plan = random_plan(choose, machine, known.family);
  Mapping scenario;
  scenario.add("cluster", machine.cluster);
  if (known.name.empty()) {
    const ModelParts parts{plan.tensor, plan.context, plan.chunks, plan.context_method == "ulysses"};
    scenario.add("model", random_model(choose, plan.family, parts, plan.layers));
  } else {
    scenario.add("model", known.name);
    plan.layers = 8;  // fewer than it has, most often
  }
  scenario.add("training", training(choose, plan, machine));
  scenario.add("parallelism", parallelism(choose, plan));
  scenario.add("pipeline", pipeline(choose, plan));
  scenario.add("data_parallel", data_parallel(choose, plan));
  if (choose.one_in(2)) scenario.add("recompute", recompute(choose, plan));
  if (choose.one_in(6)) scenario.add("offload", offload(choose, plan));
  if (choose.one_in(6)) scenario.add("imperfections", imperfections(choose, machine));
  add_storage(choose, scenario);
  if (choose.one_in(2)) scenario.add("software", choose.of(names.software));
  const std::string text = scenario.lines();
  return choose.one_in(6) ? spoil(choose, text) : text;
}

}  // namespace stepcast::test
