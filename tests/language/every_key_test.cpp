#include <gtest/gtest.h>

#include <algorithm>

#include "language/configs/files.h"
#include "language/core/file_text.h"
#include "language/scenario.h"
#include "models/cost/elementwise.h"
#include "tests/language/fixtures.h"

namespace stepcast::language {
namespace {

using schedules::Precision;
using schedules::Scenario;

Node every_key() {
  return parse_yaml(read_file(STEPCAST_SOURCE_DIR "/tests/language/every_key.yaml", "every_key.yaml"),
                    "every_key.yaml");
}

Scenario read_every_key() {
  Library library = configs();
  return read_scenario(every_key(), library);
}

bool is_set(const Node& tree, const std::string& path) {
  const Node* node = &tree;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t dot = std::min(path.find('.', at), path.size());
    node = node->find(std::string_view(path).substr(at, dot - at));
    if (node == nullptr) return false;
    at = dot + 1;
  }
  return true;
}

bool of_some_families(std::string_view path) {
  constexpr std::string_view paths[] = {"model.positions",     "model.decoder_layers", "model.gated",
                                        "model.patch",         "model.classes",        "model.segments",
                                        "model.next_sentence", "training.predictions", "training.decoder_sequence"};
  return std::ranges::find(paths, path) != std::end(paths);
}

/// Those that a torus, the fabric of this test, does not read: OfOtherFabricsIsStored.
bool of_other_fabrics(std::string_view path) {
  constexpr std::string_view paths[] = {"cluster.fabric.radix",
                                        "cluster.fabric.levels",
                                        "cluster.fabric.groups",
                                        "cluster.fabric.oversubscription",
                                        "cluster.fabric.spray_efficiency",
                                        "cluster.fabric.switches",
                                        "cluster.fabric.cables"};
  return std::ranges::find(paths, path) != std::end(paths);
}

/// Keys of nodes and software are looked at in members below, but one more does not have to be there; those of
/// networks, which no transformer has, in network_test.cpp; those that only some families have in families_test.cpp;
/// those of profiles, which replace others, in profile_test.cpp.
TEST(EveryKey, IsInTheFileOfThisTest) {
  const Node tree = every_key();
  for (const std::string& path : all_paths(scenario_schema())) {
    const bool open = (path.starts_with("cluster.node.") && !path.starts_with("cluster.node.gpu.")) ||
                      path.starts_with("cluster.other.gpu.") || path.starts_with("software.") ||
                      path == "cluster.gpus" || path == "cluster.allocation" || path == "cluster.nodelist" ||
                      path.starts_with("model.image.") || path == "model.inputs" || path == "model.network" ||
                      of_some_families(path) || of_other_fabrics(path) || path == "training.fusion" ||
                      path.starts_with("profile");
    if (open) continue;
    EXPECT_TRUE(is_set(tree, path)) << path << " is new: set it in every_key.yaml, look for it in this test";
  }
}

TEST(EveryKey, OfALabelIsStored) {
  const Scenario s = read_every_key();
  EXPECT_EQ(s.name, "scenario name");
  EXPECT_EQ(s.source, "scenario source");
  EXPECT_EQ(s.confidence, "assumed");
  EXPECT_EQ(s.note, "scenario note");
}

TEST(EveryKey, OfTheGpuIsStored) {
  const schedules::Gpu gpu = read_every_key().cluster.gpu;
  EXPECT_EQ(gpu.name, "gpu name");
  EXPECT_EQ(gpu.compute_capability, 91u);
  EXPECT_EQ(gpu.pci_device, "0xabcd");
  EXPECT_EQ(gpu.sms, 101u);
  EXPECT_EQ(gpu.memory.value, 33LL << 30);
  EXPECT_EQ(gpu.memory_bandwidth.value, 1001e9);
  EXPECT_EQ(gpu.memory_efficiency, 0.81);
  EXPECT_EQ(gpu.memory_ramp, nanoseconds(700));
  EXPECT_EQ(gpu.peak.at(Precision::fp32).value, 11e12);
  EXPECT_EQ(gpu.peak.at(Precision::tf32).value, 12e12);
  EXPECT_EQ(gpu.peak.at(Precision::fp16).value, 13e12);
  EXPECT_EQ(gpu.peak.at(Precision::bf16).value, 14e12);
  EXPECT_EQ(gpu.peak.at(Precision::fp8).value, 15e12);
  EXPECT_EQ(gpu.peak.at(Precision::mxfp8).value, 16e12);
  EXPECT_EQ(gpu.peak.at(Precision::nvfp4).value, 17e12);
  EXPECT_EQ(gpu.gemm.mainloop, 0.71);
  EXPECT_EQ(gpu.gemm.sustained, 0.72);
  EXPECT_EQ(gpu.gemm.tile_128, 0.73);
  EXPECT_EQ(gpu.gemm.tile_64, 0.74);
  EXPECT_EQ(gpu.gemm.fill, 75);
  EXPECT_EQ(gpu.gemm.exposed_write, 0.76);
  EXPECT_EQ(gpu.gemm.aligned_4, 0.77);
  EXPECT_EQ(gpu.gemm.aligned_2, 0.78);
  double next = 0.21;
  for (const Precision precision : {Precision::tf32, Precision::fp16, Precision::bf16}) {
    const schedules::GemmModel& own = gpu.gemm_of.at(precision);
    EXPECT_DOUBLE_EQ(own.mainloop, next);
    EXPECT_DOUBLE_EQ(own.sustained, next + 0.01);
    EXPECT_DOUBLE_EQ(own.tile_128, next + 0.02);
    EXPECT_DOUBLE_EQ(own.tile_64, next + 0.03);
    EXPECT_DOUBLE_EQ(own.fill, 100 * next + 4);
    EXPECT_DOUBLE_EQ(own.exposed_write, next + 0.05);
    EXPECT_DOUBLE_EQ(own.aligned_4, next + 0.06);
    EXPECT_DOUBLE_EQ(own.aligned_2, next + 0.07);
    next += 0.1;
  }
  EXPECT_EQ(gpu.elementwise.size(), schedules::measured_kernels().size());
  EXPECT_EQ(gpu.elementwise.at("layer_norm"), 0.51);
  EXPECT_EQ(gpu.elementwise.at("adam"), 0.67);
  EXPECT_EQ(gpu.gemm_simt.mainloop, 0.61);
  EXPECT_EQ(gpu.gemm_simt.sustained, 0.62);
  EXPECT_EQ(gpu.gemm_simt.tile_128, 0.63);
  EXPECT_EQ(gpu.gemm_simt.tile_64, 0.64);
  EXPECT_EQ(gpu.gemm_simt.fill, 65);
  EXPECT_EQ(gpu.gemm_simt.exposed_write, 0.66);
  EXPECT_EQ(gpu.gemm_simt.aligned_4, 0.67);
  EXPECT_EQ(gpu.gemm_simt.aligned_2, 0.68);
  EXPECT_EQ(gpu.attention_forward, 0.61);
  EXPECT_EQ(gpu.attention_backward, 0.62);
  EXPECT_EQ(gpu.attention_flash_2, 0.63);
  EXPECT_EQ(gpu.attention_cudnn, 0.64);
  EXPECT_EQ(gpu.attention_fp8_share, 0.65);
  EXPECT_EQ(gpu.step_share, 0.72);
  EXPECT_EQ(gpu.low_precision_step_share, 0.71);
  EXPECT_EQ(gpu.scan_speed, 1.3);
  EXPECT_EQ(gpu.spread, 0.07);
  EXPECT_EQ(gpu.fp8_share, 0.73);
  EXPECT_EQ(gpu.fp8_rowwise_share, 0.74);
  EXPECT_EQ(gpu.attention_tile, 64);
  EXPECT_EQ(gpu.source, "gpu source");
}

void expect_link(const std::optional<topology::LinkType>& link, const std::string& name, topology::LinkKind kind,
                 int n) {
  ASSERT_TRUE(link) << name;
  EXPECT_EQ(link->name, name);
  EXPECT_EQ(link->kind, kind);
  EXPECT_EQ(link->bandwidth.value, (20 + n) * 1e9) << name;
  EXPECT_DOUBLE_EQ(link->efficiency, 0.5 + 0.01 * n) << name;
  EXPECT_EQ(link->latency, nanoseconds(n)) << name;
  EXPECT_EQ(link->source, name + " source");
}

TEST(EveryKey, OfOtherFabricsIsStored) {
  const auto fabric = [](const std::string& keys) {
    return small_with("cluster: {fabric: {" + keys + "}}").cluster.fabric;
  };
  const topology::FabricSpec tree = fabric("kind: fat-tree, radix: 64, levels: 3, oversubscription: 2.5");
  EXPECT_EQ(tree.radix, 64u);
  EXPECT_EQ(tree.levels, 3u);
  EXPECT_EQ(tree.oversubscription, 2.5);
  EXPECT_EQ(fabric("kind: dragonfly-plus, groups: 7").groups, 7u);
  const topology::FabricSpec graph = fabric(
      "kind: graph, switches: [{name: a, nodes: 'n[0-3]', nics: '0-7'}, {name: b}], "
      "cables: [{from: a, to: b, bandwidth: 25 GB/s, count: 3}]");
  EXPECT_EQ(graph.switches, (std::vector<topology::FabricSwitch>{{"a", "n[0-3]", "0-7"}, {"b", "", ""}}));
  EXPECT_EQ(graph.cables, (std::vector<topology::FabricCables>{{"a", "b", Bandwidth{25e9}, 3}}));
  const topology::FabricSpec sprayed = fabric("kind: fat-tree, routing: spray, spray_efficiency: 0.75");
  EXPECT_EQ(sprayed.routing, "spray");
  EXPECT_EQ(sprayed.spray_efficiency, 0.75);
}

TEST(EveryKey, OfTheClusterIsStored) {
  const schedules::ClusterSpec cluster = read_every_key().cluster;
  const topology::NodeSpec& node = cluster.node;
  EXPECT_EQ(cluster.gpus, 64u);
  EXPECT_EQ(node.name, "node name");
  EXPECT_EQ(node.builder, "pcie");
  EXPECT_EQ(node.cpu, topology::CpuVendor::amd);
  EXPECT_EQ(node.compute_capability, 91u);
  EXPECT_EQ(node.gpu, "gpu name");
  EXPECT_EQ(node.gpus, 4u);
  EXPECT_EQ(node.sockets, 3u);
  EXPECT_EQ(node.gpus_per_pcie_switch, 5u);
  EXPECT_EQ(node.nics, 9u);  // cluster.nics_per_node goes over the node's
  EXPECT_EQ(node.nvlinks_per_gpu, 7u);
  EXPECT_FALSE(node.pcie_p2p);
  EXPECT_EQ(node.socket_links, 6u);
  EXPECT_FALSE(node.nvlink_sharp);
  EXPECT_TRUE(small_with("cluster: {node: {base: dgx-a100-80gb, nvlink_sharp: true}}").cluster.node.nvlink_sharp);
  EXPECT_EQ(node.host_time, 1.5);
  EXPECT_EQ(node.host_memory, Bytes{300ll << 30});
  EXPECT_EQ(node.fabric, "one-switch");
  EXPECT_EQ(node.source, "node source");
  expect_link(node.nvlink, "nv", topology::LinkKind::nvlink, 1);
  expect_link(node.pcie, "pc", topology::LinkKind::pcie, 2);
  expect_link(node.socket_link, "so", topology::LinkKind::socket, 3);
  ASSERT_TRUE(node.nic);
  EXPECT_EQ(node.nic->bandwidth.value, 25e9);  // cluster.nic_bandwidth likewise
  EXPECT_EQ(node.nic->latency, nanoseconds(4));
  EXPECT_EQ(node.nic->family, "ni family");
  EXPECT_EQ(node.nic->nccl.simple, nanoseconds(91));
  EXPECT_EQ(node.nic->nccl.ll128, nanoseconds(92));
  EXPECT_EQ(node.nic->nccl.ll, nanoseconds(93));
  EXPECT_EQ(node.nic->nccl.messages, nanoseconds(94));
  EXPECT_EQ(node.nic->nccl.share, 0.55);
  EXPECT_EQ(node.nic->nccl.ll_share, 0.45);
  EXPECT_EQ(node.nic->nccl.plugin.latency, microseconds(76));
  EXPECT_EQ(node.nic->nccl.plugin.algorithms, std::vector<std::string>{"ring"});
  EXPECT_EQ(node.nic->nccl.plugin.protocols, std::vector<std::string>{"Simple"});
  EXPECT_TRUE(node.nic->nccl.plugin.own_tuner);
  EXPECT_EQ(cluster.fabric.name, "fabric name");
  EXPECT_EQ(cluster.fabric.kind, "torus");
  EXPECT_EQ(cluster.fabric.torus, "4x4");
  EXPECT_EQ(cluster.fabric.routing, "hash");
  EXPECT_EQ(cluster.fabric.seed, 78u);
  EXPECT_TRUE(cluster.fabric.in_network_reduction);
  EXPECT_EQ(cluster.fabric.switch_latency, nanoseconds(5));
  EXPECT_EQ(cluster.fabric.cable_latency, nanoseconds(6));
  EXPECT_EQ(cluster.fabric.source, "fabric source");
}

TEST(EveryKey, OfOffloadIsStored) {
  const schedules::OffloadPlan plan = read_every_key().offload;
  EXPECT_EQ(plan.optimizer, schedules::Tier::host);
  EXPECT_EQ(plan.parameters, schedules::Tier::nvme);
  EXPECT_EQ(plan.activations, schedules::Tier::host);
  EXPECT_EQ(plan.activation_layers, 7u);
  EXPECT_FALSE(plan.overlap);
  EXPECT_EQ(plan.nvme_bandwidth, Bandwidth{34e9});
  EXPECT_EQ(plan.nvme_size, Bytes{35'000'000'000'000});
  EXPECT_EQ(plan.adam_rate, 5e6);
}

TEST(EveryKey, OfImperfectClustersIsStored) {
  const Scenario s = read_every_key();
  ASSERT_TRUE(s.cluster.other);
  EXPECT_EQ(s.cluster.other->gpu.name, "other gpu");
  EXPECT_EQ(s.cluster.other->gpu.sms, 80u);
  EXPECT_EQ(s.cluster.other->first, 64u);
  EXPECT_TRUE(s.training.balance);
  EXPECT_EQ(s.imperfections.slow_gpu, 17u);
  EXPECT_EQ(s.imperfections.gpu_speed, 0.91);
  EXPECT_EQ(s.imperfections.slow_node, 11u);
  EXPECT_EQ(s.imperfections.network_speed, 0.92);
  EXPECT_EQ(s.imperfections.jitter, 0.03);
  EXPECT_EQ(s.imperfections.seed, 44u);
}

TEST(EveryKey, OfTheModelIsStored) {
  const schedules::Model model = read_every_key().model;
  EXPECT_EQ(model.name, "model name");
  EXPECT_EQ(model.family, schedules::Family::moe);
  EXPECT_EQ(model.layers, 12);
  EXPECT_EQ(model.hidden, 256);
  EXPECT_EQ(model.heads, 8);
  EXPECT_EQ(model.kv_heads, 4);
  EXPECT_EQ(model.head_width, 48);
  EXPECT_EQ(model.ffn, 1000);
  EXPECT_EQ(model.vocab, 3000);
  EXPECT_EQ(model.experts.count, 16);
  EXPECT_EQ(model.experts.active, 3);
  EXPECT_EQ(model.experts.ffn, 128);
  EXPECT_EQ(model.experts.shared_ffn, 64);
  EXPECT_EQ(model.experts.dense_layers, 2);
  EXPECT_EQ(model.experts.every, 3);
  EXPECT_EQ(model.latent.kv_rank, 32);
  EXPECT_EQ(model.latent.query_rank, 48);
  EXPECT_EQ(model.latent.head, 24);
  EXPECT_EQ(model.latent.rotary, 8);
  EXPECT_EQ(model.latent.value, 16);
  EXPECT_EQ(model.variations.tied_head, true);
  EXPECT_EQ(model.variations.biases, schedules::Biases::attention);
  EXPECT_TRUE(model.variations.qkv_bias);
  EXPECT_EQ(model.variations.qk_norm, schedules::QueryKeyNorm::all_heads);
  EXPECT_EQ(model.variations.dropout, true);
  EXPECT_EQ(model.variations.activation, schedules::Activation::relu);
  EXPECT_EQ(model.variations.positions, schedules::Positions::alibi);
  EXPECT_EQ(model.variations.parallel_block, schedules::ParallelBlock::two_norms);
  EXPECT_TRUE(model.variations.embedding_norm);
  EXPECT_EQ(model.variations.embedding_width, 192);
  EXPECT_FALSE(model.variations.final_norm);
  EXPECT_EQ(model.mtp_layers, 4);
  EXPECT_TRUE(model.variations.post_norms);
  EXPECT_TRUE(model.variations.head_bias);
  EXPECT_EQ(model.variations.norm_parameters, 0);
  EXPECT_EQ(model.variations.window, 96);
  EXPECT_TRUE(model.variations.window_in_chunks);
  EXPECT_EQ(model.variations.full_attention_every, 5);
  EXPECT_EQ(text_of_pattern(model.variations.pattern), "(GE)M*-");
  EXPECT_TRUE(model.variations.attention_gate);
  EXPECT_EQ(model.experts.latent, 144);
  EXPECT_EQ(model.mamba.heads, 24);
  EXPECT_EQ(model.mamba.head, 40);
  EXPECT_EQ(model.mamba.state, 56);
  EXPECT_EQ(model.mamba.groups, 6);
  EXPECT_EQ(model.mamba.convolution, 7);
  EXPECT_EQ(model.mamba.chunk, 88);
  EXPECT_EQ(model.delta_net.heads, 28);
  EXPECT_EQ(model.delta_net.key_heads, 14);
  EXPECT_EQ(model.delta_net.key, 72);
  EXPECT_EQ(model.delta_net.value, 104);
  EXPECT_EQ(model.delta_net.convolution, 9);
  EXPECT_EQ(model.delta_net.chunk, 120);
  EXPECT_EQ(model.precision, Precision::tf32);
  EXPECT_EQ(model.source, "model source");
}

TEST(EveryKey, OfThePlanIsStored) {
  const Scenario s = read_every_key();
  EXPECT_EQ(s.training.global_batch, 128);
  EXPECT_EQ(s.training.micro_batch, 2);
  EXPECT_EQ(s.training.sequence, 512);
  EXPECT_EQ(s.training.precision, Precision::fp16);
  EXPECT_EQ(s.training.scaling, schedules::Scaling::current);
  EXPECT_TRUE(s.training.eight_bit_parameters);
  EXPECT_EQ(s.training.bf16_layers_at_start, 4);
  EXPECT_EQ(s.training.bf16_layers_at_end, 5);
  EXPECT_EQ(s.training.optimizer, schedules::Optimizer::momentum);
  EXPECT_EQ(s.training.attention, schedules::Attention::unfused);
  EXPECT_EQ(s.parallelism.tensor, 4u);
  EXPECT_EQ(s.parallelism.tensor_method, schedules::TensorMethod::reduce_output);
  EXPECT_EQ(s.parallelism.tensor_grid, (schedules::TensorGrid{2, 1, 2}));
  EXPECT_EQ(s.training.expert_load.capacity, 1.5);
  EXPECT_EQ(s.training.expert_load.spread, 0.3);
  EXPECT_EQ(s.training.expert_load.seed, 9u);
  EXPECT_EQ(s.training.expert_load.node_limit, 12u);
  EXPECT_EQ(s.parallelism.context, 3u);
  EXPECT_EQ(s.parallelism.context_method, schedules::ContextMethod::ulysses);
  EXPECT_EQ(s.parallelism.expert, 6u);
  EXPECT_EQ(s.parallelism.expert_tensor, 4u);
  using enum schedules::Dimension;
  EXPECT_EQ(s.parallelism.order, (std::array{tensor, pipeline, context, data}));
  EXPECT_EQ(s.parallelism.pipeline, 2u);
  EXPECT_EQ(s.parallelism.data, 8u);
  EXPECT_TRUE(s.parallelism.sequence);
  EXPECT_EQ(s.pipeline.schedule, "interleaved-1f1b");
  EXPECT_EQ(s.pipeline.virtual_stages, 3u);
  EXPECT_EQ(s.pipeline.micro_batch_group, 19u);
  EXPECT_EQ(s.data_parallel.mode, schedules::DataParallelMode::sharded_parameter_server);
  EXPECT_EQ(s.pipeline.orders, (std::vector<std::string>{"F0 B0", "F0"}));
  EXPECT_EQ(s.pipeline.placement, schedules::Placement::v_shape);
  EXPECT_EQ(s.pipeline.most_in_flight, 17u);
  EXPECT_EQ(s.pipeline.partition, schedules::Partition::transformer_and_embedding);
  EXPECT_TRUE(s.pipeline.embedding_as_layer);
  EXPECT_TRUE(s.pipeline.head_as_layer);
  EXPECT_EQ(s.parallelism.layers_per_stage, (std::vector<std::uint32_t>{2, 2, 2, 1, 3, 2}));
  EXPECT_EQ(s.data_parallel.zero, 1);
  EXPECT_EQ(s.data_parallel.shard_group, 4u);
  EXPECT_EQ(s.data_parallel.overlap, false);
  EXPECT_EQ(s.data_parallel.sum_once, true);
  EXPECT_EQ(s.data_parallel.bucket, Bytes{17 << 20});
  EXPECT_EQ(s.data_parallel.gradient_precision, Precision::tf32);
  EXPECT_EQ(s.data_parallel.consistency, schedules::Consistency::bounded_staleness);
  EXPECT_EQ(s.data_parallel.staleness, 9u);
  EXPECT_EQ(s.data_parallel.local_steps, 21u);
  EXPECT_EQ(s.data_parallel.compression.ratio, 7.5);
  EXPECT_EQ(s.data_parallel.compression.top_k, 0.125);
  EXPECT_EQ(s.input.bytes_per_sample, Bytes{110'000});
  EXPECT_EQ(s.input.storage_bandwidth->value, 31e9);
  EXPECT_EQ(s.input.preprocessing, milliseconds(7));
  EXPECT_EQ(s.input.workers, 11u);
  EXPECT_EQ(s.checkpoint.every, 13u);
  EXPECT_EQ(s.checkpoint.bandwidth->value, 32e9);
  EXPECT_EQ(s.checkpoint.write_time, milliseconds(14'000));
  EXPECT_TRUE(s.checkpoint.asynchronous);
  EXPECT_EQ(s.checkpoint.snapshot_bandwidth->value, 33e9);
  EXPECT_EQ(s.run.tokens, 3e6);
  EXPECT_EQ(s.run.samples, 4e6);
  EXPECT_EQ(s.run.epochs, 2.5);
  EXPECT_EQ(s.run.dataset_samples, 5e6);
  EXPECT_EQ(s.run.target_batch, 300);
  EXPECT_EQ(s.run.gpu_hour_price->amount, 2.25);
  EXPECT_EQ(s.run.gpu_hour_price->currency, "USD");
  EXPECT_EQ(s.run.kilowatt_hour_price->amount, 0.125);
  EXPECT_EQ(s.run.kilowatt_hour_price->currency, "EUR");
  EXPECT_EQ(s.run.power.computing, Power{410});
  EXPECT_EQ(s.run.power.waiting, Power{210});
  EXPECT_EQ(s.run.power.idle, Power{60});
  EXPECT_EQ(s.run.power.host, Power{1500});
  EXPECT_EQ(s.run.power.usage_effectiveness, 1.25);
  EXPECT_EQ(s.run.failures.gpu_mtbf, hours(50'000));
  EXPECT_EQ(s.run.failures.node_mtbf, days(800));
  EXPECT_EQ(s.run.failures.restart, seconds(660));
  EXPECT_EQ(s.run.critical_batch, 1400);
  EXPECT_EQ(s.run.batch_limit, 8192);
  EXPECT_EQ(s.recompute, schedules::Recompute::full);
  ASSERT_TRUE(s.recomputed_modules);
  EXPECT_TRUE(s.recomputed_modules->latent_ups);
  EXPECT_TRUE(s.recomputed_modules->experts_activation);
  EXPECT_FALSE(s.recomputed_modules->attention_core);
  EXPECT_FALSE(s.recomputed_modules->feed_forward);
  EXPECT_EQ(s.recompute_group, 2u);
  EXPECT_EQ(s.recompute_layers, 5u);
  EXPECT_TRUE(s.training.update_in_backward);
  EXPECT_EQ(s.training.frozen_layers, 3);
  EXPECT_EQ(s.training.lora.rank, 24);
  EXPECT_EQ(s.training.lora.targets,
            (schedules::LoraTargets{.queries = true, .projection = true, .feed_forward_out = true}));
  EXPECT_EQ(s.training.lora.dropout, 0.25);
  EXPECT_EQ(s.training.lora.base, schedules::BaseWeights::nf4);
  EXPECT_EQ(s.training.document_length, 200);
}

TEST(EveryKey, OfTheSoftwareIsStored) {
  const schedules::Software software = read_every_key().software;
  EXPECT_EQ(software.name, "software name");
  EXPECT_EQ(software.attention, schedules::Attention::flash);
  EXPECT_FALSE(software.fused_softmax);
  EXPECT_TRUE(software.fp32_scores);
  EXPECT_TRUE(software.unaligned_heads_on_plain_cores);
  EXPECT_EQ(software.autocast, schedules::Autocast::unsharded);
  EXPECT_EQ(software.cudnn_attention_from, 90u);
  EXPECT_TRUE(software.fp32_loss);
  EXPECT_TRUE(software.copies_by_node);
  EXPECT_EQ(software.fused_cross_entropy, schedules::FusedLoss::in_regions);
  EXPECT_TRUE(software.fused_linear_cross_entropy);
  EXPECT_TRUE(software.fp8_input_store);
  EXPECT_TRUE(software.adapter_all_to_all);
  EXPECT_TRUE(software.fp32_adapters);
  EXPECT_FALSE(software.loss_parallel);
  EXPECT_EQ(software.logit_metrics, 3);
  EXPECT_FALSE(software.biases);
  EXPECT_FALSE(software.dropout);
  EXPECT_TRUE(software.flash_2);
  EXPECT_TRUE(software.repeated_keys_values);
  EXPECT_TRUE(software.fp32_softmax);
  EXPECT_FALSE(software.gather_inputs_again);
  EXPECT_TRUE(software.batch_first);
  EXPECT_TRUE(software.micro_pipeline);
  EXPECT_TRUE(software.copied_keys_values);
  EXPECT_EQ(software.reported_memory, schedules::ReportedMemory::first_stage);
  EXPECT_TRUE(software.context_in_steps);
  EXPECT_EQ(software.attention_efficiency, 0.64);
  EXPECT_EQ(software.attention_by, schedules::KernelMaker::cudnn);
  EXPECT_EQ(software.elementwise_by, schedules::KernelMaker::pytorch);
  EXPECT_FALSE(software.fused_bias_gelu);
  EXPECT_TRUE(software.composite_operators);
  EXPECT_FALSE(software.fused_bias_dropout_add);
  EXPECT_TRUE(software.grouped_multiply);
  EXPECT_EQ(software.grouped_multiply_launch, microseconds(9));
  EXPECT_EQ(software.host_per_linear, microseconds(16));
  EXPECT_EQ(software.host_per_expert, microseconds(15));
  EXPECT_EQ(software.norm_in_convolutions, schedules::NormInConvolutions::all);
  EXPECT_EQ(software.host_time, 1.5);  // of the node
  EXPECT_EQ(software.mamba_rates.forward.value, 21e9);
  EXPECT_EQ(software.mamba_rates.backward.value, 22e9);
  EXPECT_EQ(software.delta_net_rates.forward.value, 23e9);
  EXPECT_EQ(software.delta_net_rates.backward.value, 24e9);
  EXPECT_TRUE(software.expert_counts_to_host);
  EXPECT_TRUE(software.expert_loop);
  EXPECT_TRUE(software.eight_bit_attention);
  EXPECT_EQ(software.vocabulary_multiple, 48);
  EXPECT_TRUE(software.fused_quantization);
  EXPECT_TRUE(software.fused_gradient_accumulation);
  EXPECT_EQ(software.tensor_overlap, schedules::TensorOverlap::all);
  EXPECT_EQ(software.sum_once, schedules::SumOnce::in_pipelines);
  EXPECT_FALSE(software.data_overlap);
  EXPECT_EQ(software.pipeline_overlap, schedules::PipelineOverlap::interleaved);
  EXPECT_TRUE(software.scatter_gather);
  EXPECT_EQ(software.partition, schedules::Partition::parameters);
  EXPECT_FALSE(software.zero_1_overlap);
  EXPECT_TRUE(software.zero_1_all_reduce);
  EXPECT_TRUE(software.zero_2_all_reduce);
  EXPECT_EQ(software.bucket_copies, 3);
  EXPECT_FALSE(software.gradient_as_bucket_view);
  EXPECT_TRUE(software.block_gradients);
  EXPECT_TRUE(software.copies_gathered);
  EXPECT_TRUE(software.autograd_gradients);
  EXPECT_EQ(software.activation_overhead, 0.0625);
  EXPECT_EQ(software.fp32_logits, 5);
  EXPECT_EQ(software.tensor_delay, nanoseconds(87));
  EXPECT_EQ(software.send_delay, nanoseconds(84));
  EXPECT_EQ(software.send_delay_nodes, 85u);
  EXPECT_EQ(software.send_delay_tensor_nodes, 86u);
  EXPECT_EQ(software.activation_hold, nanoseconds(88));
  EXPECT_EQ(software.gradient_hold, nanoseconds(89));
  EXPECT_EQ(software.bucket, Bytes{18 << 20});
  EXPECT_EQ(software.gradient_precision, Precision::fp16);
  EXPECT_EQ(software.main_gradient_precision, Precision::bf16);
  EXPECT_EQ(software.moment_precision, schedules::MomentPrecision::int8);
  EXPECT_FALSE(software.master_weights);
  EXPECT_FALSE(software.gradients_persist);
  EXPECT_EQ(software.optimizer_temporaries, 6);
  EXPECT_EQ(software.optimizer_bytes_per_parameter, 19);
  EXPECT_EQ(software.optimizer, schedules::Optimizer::sgd);
  EXPECT_EQ(software.elementwise_efficiency, 0.41);
  EXPECT_TRUE(software.gather_for_recompute);
  EXPECT_TRUE(software.recompute_fused_attention);
  EXPECT_TRUE(software.recompute_stops_early);
  EXPECT_TRUE(software.partition_activations);
  EXPECT_TRUE(software.dummy_weight_gradients);
  EXPECT_EQ(software.compute_share, 0.44);
  EXPECT_EQ(software.live_parameters, 123);
  EXPECT_EQ(software.parameter_prefetch, Bytes{20 << 20});
  EXPECT_EQ(software.kernel_gap, nanoseconds(21));
  EXPECT_EQ(software.host_per_kernel, nanoseconds(22));
  EXPECT_EQ(software.host_per_collective, nanoseconds(24));
  EXPECT_EQ(software.host_per_checkpoint, nanoseconds(25));
  EXPECT_EQ(software.host_per_gathered_layer, nanoseconds(26));
  EXPECT_EQ(software.host_per_expert_layer, nanoseconds(27));
  EXPECT_EQ(software.host_per_pass, nanoseconds(26));
  EXPECT_EQ(software.host_per_peer, nanoseconds(86));
  EXPECT_EQ(software.host_per_step, nanoseconds(27));
  EXPECT_TRUE(software.launch_blocking);
  EXPECT_TRUE(software.pipeline_sync);
  EXPECT_TRUE(software.compiled);
  EXPECT_EQ(software.cuda_graphs, schedules::CudaGraphs::layers);
  EXPECT_TRUE(software.cuda_graph_modules.attention && software.cuda_graph_modules.mamba);
  EXPECT_FALSE(software.cuda_graph_modules.router || software.cuda_graph_modules.counts ||
               software.cuda_graph_modules.feed_forward);
  EXPECT_EQ(software.overlap_slowdown, 0.42);
  EXPECT_EQ(software.memory_reserve, Bytes{23 << 20});
  EXPECT_EQ(software.transport.nccl_version, "2.19.3");
  EXPECT_EQ(software.transport.launch, nanoseconds(31));
  EXPECT_EQ(software.transport.nvlink_step, nanoseconds(32));
  EXPECT_EQ(software.transport.pcie_step, nanoseconds(33));
  EXPECT_EQ(software.transport.host_step, nanoseconds(34));
  EXPECT_EQ(software.transport.network_step, nanoseconds(35));
  EXPECT_EQ(software.transport.most_channels, 36u);
  EXPECT_EQ(software.transport.chunk, Bytes{37 << 20});
  EXPECT_EQ(software.transport.network_efficiency, 0.43);
  EXPECT_EQ(software.transport.nvlink_efficiency, 0.44);
  EXPECT_EQ(software.transport.tree_efficiency, 0.45);
  EXPECT_EQ(software.transport.host_bridge_efficiency, 0.47);
  EXPECT_EQ(software.transport.host_copy_efficiency, 0.48);
  EXPECT_EQ(software.transport.host_staging_bandwidth, Bandwidth{9e9});
  EXPECT_EQ(software.transport.forced.net_gdr_level, collectives::GdrLevel::phb);
  const collectives::Transport& t = software.transport;
  EXPECT_EQ(t.ramp, nanoseconds(51));
  EXPECT_EQ(t.channels, 52u);
  EXPECT_EQ(t.buffer, Bytes{6 << 20});
  EXPECT_EQ(t.issue, nanoseconds(53));
  EXPECT_EQ(t.nvls.launch, nanoseconds(54));
  EXPECT_EQ(t.nvls.ramp, nanoseconds(55));
  EXPECT_EQ(t.nvls.nvlink_step, nanoseconds(56));
  EXPECT_EQ(t.nvls.share, 0.46);
  EXPECT_EQ(t.ll128.launch, nanoseconds(61));
  EXPECT_EQ(t.ll128.ramp, nanoseconds(62));
  EXPECT_EQ(t.ll128.nvlink_step, nanoseconds(63));
  EXPECT_EQ(t.ll128.pcie_step, nanoseconds(64));
  EXPECT_EQ(t.ll128.host_step, nanoseconds(65));
  EXPECT_EQ(t.ll128.network_step, nanoseconds(66));
  EXPECT_EQ(t.ll128.share, 0.47);
  EXPECT_EQ(t.ll.launch, nanoseconds(71));
  EXPECT_EQ(t.ll.ramp, nanoseconds(72));
  EXPECT_EQ(t.ll.nvlink_step, nanoseconds(73));
  EXPECT_EQ(t.ll.pcie_step, nanoseconds(74));
  EXPECT_EQ(t.ll.host_step, nanoseconds(75));
  EXPECT_EQ(t.ll.network_step, nanoseconds(76));
  EXPECT_EQ(t.ll.share, 0.48);
  EXPECT_EQ(t.ll.network_share, 0.49);
  EXPECT_EQ(t.p2p.launch, nanoseconds(81));
  EXPECT_EQ(t.p2p.ramp, nanoseconds(82));
  EXPECT_EQ(t.p2p.message, nanoseconds(87));
  EXPECT_EQ(t.p2p.nvlink_step, nanoseconds(83));
  EXPECT_EQ(t.p2p.pcie_step, nanoseconds(84));
  EXPECT_EQ(t.p2p.host_step, nanoseconds(85));
  EXPECT_EQ(t.p2p.network_step, nanoseconds(86));
  EXPECT_EQ(t.p2p.share, 0.49);
  EXPECT_TRUE(t.as_nccl_picks);
  EXPECT_TRUE(t.network_of_links);
  EXPECT_EQ(t.network_shares, (std::vector<collectives::ShareOverNodes>{{2, 0.875}, {16, 0.25}}));
  EXPECT_EQ(software.source, "software source");
}

TEST(EveryKey, OfTheMeasurementIsStored) {
  const schedules::Measured measured = read_every_key().measured;
  EXPECT_EQ(measured.step_time, milliseconds(41'000));
  EXPECT_EQ(measured.run_time, days(31));
  EXPECT_EQ(measured.outcome, schedules::RunOutcome::ran);
  EXPECT_EQ(measured.memory_is, schedules::MemoryFigure::reserved);
  EXPECT_EQ(measured.peak_memory, Bytes{42LL << 30});
  EXPECT_EQ(measured.trace, "step.json.gz");
  EXPECT_EQ(measured.trace_steps, 3u);
  EXPECT_EQ(measured.phases, (std::map<std::string, Time>{{"layer_forward", milliseconds(1)},
                                                          {"layer_backward", milliseconds(2)},
                                                          {"exposed_data_communication", milliseconds(3)},
                                                          {"bubble", milliseconds(4)}}));
}

TEST(Graph, DevicesAndLinksAreStored) {
  const Scenario s = small_with(R"(
cluster:
  nodes: 1
  node:
    builder: graph
    gpus: 2
    devices: [{name: a, kind: gpu}, {name: b, kind: gpu}, {name: s, kind: nvswitch}]
    links:
      - {from: a, to: s, link: nvlink3, count: 12}
      - {from: b, to: s, link: {base: nvlink3, latency: 1 us}}
)");
  const topology::NodeSpec& node = s.cluster.node;
  ASSERT_EQ(node.devices.size(), 3u);
  EXPECT_EQ(node.devices[2].name, "s");
  EXPECT_EQ(node.devices[2].kind, "nvswitch");
  ASSERT_EQ(node.links.size(), 2u);
  EXPECT_EQ(node.links[0].from, "a");
  EXPECT_EQ(node.links[0].to, "s");
  EXPECT_EQ(node.links[0].count, 12u);
  EXPECT_EQ(node.links[0].type.name, "nvlink3");
  EXPECT_EQ(node.links[1].count, 1u);
  EXPECT_EQ(node.links[1].type.latency, microseconds(1));
  EXPECT_EQ(node.links[1].type.bandwidth.value, 25e9);
}

}  // namespace
}  // namespace stepcast::language
