#include "tests/search/random_spaces.h"

#include <algorithm>
#include <initializer_list>
#include <random>

#include "schedules/pipeline/pipelines.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::search {
namespace {

using namespace schedules;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  bool one_in(std::uint32_t n) { return random_() % n == 0; }
  template <class T>
  T of(std::initializer_list<T> choices) {
    return *(choices.begin() + static_cast<std::ptrdiff_t>(random_() % choices.size()));
  }
  /// Up to `most` of them, in their order.
  std::vector<std::int64_t> some(std::vector<std::int64_t> all, std::size_t most) {
    while (all.size() > most) all.erase(all.begin() + static_cast<std::ptrdiff_t>(random_() % all.size()));
    return all;
  }

 private:
  std::mt19937_64 random_;
};

void draw_model(Draw& draw, Scenario& s) {
  s.model.layers = draw.of<std::int64_t>({4, 6, 8, 12});
  s.model.hidden = draw.of<std::int64_t>({512, 1024, 4096});
  s.model.ffn = 4 * s.model.hidden;
  s.model.heads = s.model.kv_heads = 16;
  s.model.vocab = draw.of<std::int64_t>({8192, 51200});
  if (draw.one_in(4)) {
    s.model.family = Family::moe;
    s.model.experts = {.count = 8, .active = 2, .ffn = s.model.hidden, .shared_ffn = 0, .dense_layers = 1};
  } else if (draw.one_in(3)) {
    s.model.family = Family::llama;
  }
  s.training.sequence = draw.of<std::int64_t>({256, 1024, 2048});
  s.training.global_batch = draw.of<std::int64_t>({16, 32, 48, 64});
  s.training.precision = draw.of({Precision::fp16, Precision::bf16});
  s.training.frozen_layers = draw.one_in(6) ? 2 : 0;
  if (draw.one_in(8)) s.training.optimizer = Optimizer::none;
}

void draw_software(Draw& draw, Scenario& s) {
  Software& software = s.software;
  software.pipeline_overlap = draw.one_in(2) ? schedules::PipelineOverlap::yes : schedules::PipelineOverlap::no;
  software.pipeline_sync = draw.one_in(3);
  software.data_overlap = draw.one_in(2);
  software.zero_1_overlap = draw.one_in(2);
  software.zero_1_all_reduce = draw.one_in(3);
  software.scatter_gather = draw.one_in(3);
  software.gather_for_recompute = draw.one_in(2);
  software.parameter_prefetch = draw.of<Bytes>({Bytes{1LL << 40}, Bytes{}, Bytes{1 << 20}});
  software.sum_once = draw.of({SumOnce::no, SumOnce::in_pipelines, SumOnce::yes});
  software.tensor_overlap = draw.of({TensorOverlap::none, TensorOverlap::backward, TensorOverlap::all});
  software.overlap_slowdown = draw.of({0.0, 0.1});
  software.bucket = draw.of<Bytes>({Bytes{1 << 20}, Bytes{25 << 20}, Bytes{1LL << 34}});
  software.host_per_kernel = draw.of<Time>({Time{}, microseconds(5), microseconds(60)});
  software.host_per_pass = draw.of<Time>({Time{}, microseconds(200)});
  software.host_per_step = draw.of<Time>({Time{}, microseconds(500)});
  software.kernel_gap = draw.of<Time>({Time{}, microseconds(2)});
  software.attention = draw.of({Attention::unfused, Attention::flash});
  software.copies_gathered = draw.one_in(2);
  software.block_gradients = draw.one_in(2);
  software.bucket_copies = draw.of({0, 2});
  software.gradient_as_bucket_view = !draw.one_in(3);
  if (draw.one_in(10)) software.launch_blocking = true;
  if (!software.launch_blocking && draw.one_in(8))
    software.cuda_graphs = draw.of({CudaGraphs::layers, CudaGraphs::step});
  else if (!software.launch_blocking && draw.one_in(6))
    software.cuda_graph_modules = {.attention = true, .router = true, .counts = true};
  software.host_per_linear = draw.of<Time>({Time{}, microseconds(30)});
  software.expert_counts_to_host = draw.one_in(2);
  if (draw.one_in(4)) {
    software.send_delay = microseconds(300);
    software.activation_hold = microseconds(200);
    software.gradient_hold = microseconds(100);
  }
}

void draw_costs(Draw& draw, Scenario& s) {
  s.run.gpu_hour_price = Money{draw.of({0.5, 2.0}), "USD"};
  if (draw.one_in(2)) s.run.kilowatt_hour_price = Money{draw.of({0.1, 3.0}), "USD"};
  s.run.power.computing = Power{draw.of({300.0, 700.0})};
  s.run.power.waiting = Power{draw.of({80.0, 500.0})};
  if (draw.one_in(2)) s.run.power.host = Power{1000};
  if (draw.one_in(2)) s.run.power.usage_effectiveness = 1.25;
}

void draw_cluster(Draw& draw, Scenario& s) {
  s.cluster.gpus = draw.of<std::uint32_t>({4, 8, 8, 16, 32});
  if (draw.one_in(40)) s.cluster.gpus = 256;  // more than kMostUnfoldedGpus
  if (draw.one_in(4)) {
    s.cluster.fabric.kind = "fat-tree";
    s.cluster.fabric.routing = draw.of<const char*>({"adaptive", "hash"});
    s.cluster.fabric.radix = 16;
    s.cluster.fabric.oversubscription = draw.of({1.0, 2.0});
  }
  s.cluster.gpu.memory = draw.of<Bytes>({Bytes{2LL << 30}, Bytes{8LL << 30}, Bytes{1LL << 40}});
  s.cluster.node.nic->bandwidth = draw.of<Bandwidth>({{2e9}, {20e9}, {50e9}});
  if (draw.one_in(3)) s.cluster.node.nics = 2;  // that the GPUs of a node share
  if (draw.one_in(6)) {                         // GPUs of a second kind, in half of the nodes or a quarter of the GPUs
    OtherGpus other{s.cluster.gpu, s.cluster.gpus / draw.of<std::uint32_t>({2, 4})};
    const double speed = draw.of({0.5, 2.0, 3.0});
    other.gpu.memory_bandwidth = s.cluster.gpu.memory_bandwidth * speed;
    for (auto& [precision, rate] : other.gpu.peak) rate = rate * speed;
    other.gpu.memory = draw.of<Bytes>({s.cluster.gpu.memory, Bytes{4LL << 30}});
    s.cluster.other = other;
  }
  if (draw.one_in(10)) s.imperfections.jitter = 0.05;
  if (draw.one_in(12)) {
    s.imperfections.slow_gpu = 1;
    s.imperfections.gpu_speed = 0.8;
  }
}

std::vector<std::int64_t> all_schedules() {
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < pipelines().size(); ++i) all.push_back(static_cast<std::int64_t>(i));
  return all;
}

}  // namespace

Space random_space(std::uint64_t seed) {
  Draw draw(seed);
  Scenario s = round_numbers(8);
  draw_cluster(draw, s);
  draw_model(draw, s);
  draw_software(draw, s);
  draw_costs(draw, s);
  Space space = usual_space(s);
  const auto of = [&](const char* key) -> std::vector<std::int64_t>& { return space.values[axis_named("", key)]; };
  of("pipeline.schedule") = draw.one_in(2) ? of("pipeline.schedule") : all_schedules();
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    const bool large = axes()[axis].key == "parallelism.pipeline" || axes()[axis].key == "parallelism.tensor";
    space.values[axis] = draw.some(space.values[axis], large ? 3 : 2);
  }
  if (draw.one_in(3)) of("cluster.gpus") = {s.cluster.gpus / 2, s.cluster.gpus};
  if (draw.one_in(12)) of("parallelism.order") = {0, draw.of<std::int64_t>({1, 4, 7, 23})};
  if (draw.one_in(12)) of("data_parallel.bucket") = {1, draw.of<std::int64_t>({4, 100})};
  if (draw.one_in(20))
    of(draw.of({"offload.optimizer", "offload.parameters", "offload.activations"})) = {
        0, static_cast<std::int64_t>(Tier::host)};
  if (draw.one_in(12)) {
    const bool several = std::ranges::min(of("cluster.gpus")) >= std::int64_t{2} * s.cluster.node.gpus;
    space.start.imperfections.slow_node = several ? draw.of<std::uint32_t>({0, 1}) : 0;
    space.start.imperfections.network_speed = draw.of({0.25, 0.5});
  }
  return space;
}

}  // namespace stepcast::search
