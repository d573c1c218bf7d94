#include "language/configs/network.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "language/core/convert.h"
#include "language/core/names_of.h"
#include "language/core/nearest.h"
#include "language/core/read_mapping.h"

namespace stepcast::language {
namespace {

using schedules::Join;
using schedules::LayerKind;
using schedules::NetworkLayer;

constexpr std::int64_t kMostChannels = 10'000'000;
constexpr std::int64_t kMostOfASide = 10'000;  // of a kernel's side, a stride, a padding
constexpr std::int64_t kMostRepeats = 100'000;
constexpr std::int64_t kLongestSide = 100'000'000;

/// An entry as written.
struct NetworkLayerDraft {
  NetworkLayer layer;
  std::optional<bool> norm, relu, bias;
};
using D = NetworkLayerDraft;

/// What each op is called, what it must be given, what it may be.
struct Op {
  std::string_view name;
  LayerKind kind;
  Names required, optional;
};

const std::vector<Op>& ops() {
  static const std::vector<Op> all{
      {"convolution",
       LayerKind::convolution,
       {"out"},
       {"kernel", "stride", "padding", "groups", "norm", "activation", "bias"}},
      {"linear", LayerKind::linear, {"out"}, {"activation", "bias"}},
      {"max-pool", LayerKind::max_pool, {}, {"kernel", "stride", "padding"}},
      {"average-pool", LayerKind::average_pool, {}, {"kernel", "stride", "padding"}},
      {"batch-norm", LayerKind::batch_norm, {}, {}},
      {"relu", LayerKind::relu, {}, {}},
      {"dropout", LayerKind::dropout, {}, {}},
      {"bottleneck", LayerKind::bottleneck, {"out"}, {"stride", "width", "groups"}},
      {"basic", LayerKind::basic, {"out"}, {"stride"}},
      {"branches", LayerKind::branches, {"branches"}, {"join", "activation"}},
      {"gemm", LayerKind::gemm, {"m", "n", "k"}, {"batch", "parameters", "saved", "backward"}},
      {"elementwise", LayerKind::elementwise, {"bytes"}, {"kernels", "parameters", "saved", "backward"}},
  };
  return all;
}

Names op_names() { return names_in(ops()); }
Names norm_names() { return {"none", "batch"}; }
Names activation_names() { return {"none", "relu"}; }
Names join_names() { return names_of<Join::drop>({"concatenate", "add", "drop"}); }

/// "3", or "1x7": height, then width.
void store_kernel(D& d, const Value& v) {
  const std::string& text = v.text;
  const char* end = text.data() + text.size();
  std::array<std::int64_t, 2> sides{};
  const auto first = std::from_chars(text.data(), end, sides[0]);
  sides[1] = sides[0];
  const char* stop = first.ptr;
  if (first.ec == std::errc{} && stop != end && *stop == 'x') {
    const auto second = std::from_chars(stop + 1, end, sides[1]);
    stop = second.ec == std::errc{} ? second.ptr : text.data();
  }
  if (first.ec != std::errc{} || stop != end || std::ranges::min(sides) < 1 || std::ranges::max(sides) > kMostOfASide)
    fail(v.node->place, v.path,
         "found " + found(*v.node) + ", expected pixels such as 3, or height x width such as 1x7, each 1 to " +
             std::to_string(kMostOfASide));
  d.layer.kernel_height = sides[0];
  d.layer.kernel_width = sides[1];
}

std::vector<NetworkLayer> read_layers(const Node& list, const std::string& path, Library& library);

void store_branches(D& d, const Value& v) {
  for (std::size_t i = 0; i < v.node->items.size(); ++i) {
    const Node& branch = v.node->items[i];
    const std::string path = v.path + '[' + std::to_string(i) + ']';
    if (branch.kind != Node::Kind::list)
      fail(branch.place, path, "found " + found(branch) + ", expected a list of layers");
    d.layer.branches.push_back(read_layers(branch, path, *v.library));
  }
}

template <auto member>
void store_whole(D& d, const Value& v) {
  d.layer.*member = v.whole;
}

const Table<NetworkLayerDraft>& layer_table() {
  static const Table<NetworkLayerDraft> table(
      "An entry of model.network", "",
      {
          {{"op", choice(op_names), kRequired, "what it does"},
           [](D& d, const Value& v) { d.layer.kind = ops()[v.choice].kind; }},
          {{"repeat", whole(1, kMostRepeats), "1", "times in a row; the stride is the first one's only"},
           store_whole<&NetworkLayer::repeat>},
          {{"out", whole(1, kMostChannels), "", "channels of the result; of linear: features"},
           store_whole<&NetworkLayer::out>},
          {{"kernel", text_type(), "1; pooling: the whole image", "pixels, 3 or 1x7 (height x width)"}, store_kernel},
          {{"stride", whole(1, kMostOfASide), "1; pooling: the kernel", "pixels"}, store_whole<&NetworkLayer::stride>},
          {{"padding", whole(0, kMostOfASide), "half the kernel; pooling: 0", "pixels on every side"},
           [](D& d, const Value& v) { d.layer.padding = v.whole; }},
          {{"groups", whole(1, kMostChannels), "1", "of channels, each convolved on its own"},
           store_whole<&NetworkLayer::groups>},
          {{"width", whole(1, kMostChannels), "out / 4", "inner channels of a bottleneck"},
           store_whole<&NetworkLayer::width>},
          {{"norm", choice(norm_names), "batch", "behind a convolution"},
           [](D& d, const Value& v) { d.norm = v.choice == 1; }},
          {{"activation", choice(activation_names), "relu behind convolutions and sums, else none", "behind that"},
           [](D& d, const Value& v) { d.relu = v.choice == 1; }},
          {{"bias", flag(), "true without a norm", "one parameter a channel or feature, added"},
           [](D& d, const Value& v) { d.bias = v.flag; }},
          {{"branches", list_type("[[{op: convolution, out: 64}], []]"), "",
            "lists of layers, each on the same input; an empty one passes it on"},
           store_branches},
          {{"join", choice(join_names), "concatenate", "of the branches' results; drop: an auxiliary head"},
           [](D& d, const Value& v) { d.layer.join = static_cast<Join>(v.choice); }},
          {{"m", whole(1, kLongestSide), "", "gemm, (m x k) times (k x n): one sample's rows"},
           store_whole<&NetworkLayer::m>},
          {{"n", whole(1, kLongestSide), "", "gemm: columns"}, store_whole<&NetworkLayer::n>},
          {{"k", whole(1, kLongestSide), "", "gemm: length of the sums"}, store_whole<&NetworkLayer::k>},
          {{"batch", whole(1, kMostRepeats), "1", "gemm: so many for each sample"}, store_whole<&NetworkLayer::batch>},
          {{"bytes", bytes_type(), "", "elementwise: read and written for one sample"},
           [](D& d, const Value& v) { d.layer.bytes = static_cast<double>(v.bytes.value); }},
          {{"kernels", whole(0, kMostRepeats), "1", "elementwise: launches"},
           [](D& d, const Value& v) { d.layer.kernels = static_cast<int>(v.whole); }},
          {{"parameters", number(0, 1e15), "gemm: n x k; elementwise: 0", "trained; 0: a gemm of two activations"},
           [](D& d, const Value& v) { d.layer.parameters = v.number; }},
          {{"saved", bytes_type(), "gemm: its result; elementwise: 0", "kept for backward, of one sample"},
           [](D& d, const Value& v) { d.layer.saved = static_cast<double>(v.bytes.value); }},
          {{"backward", list_of_mappings("[{op: gemm, m: 8, n: 8, k: 8}]", network_schema), "derived",
            "gemm and elementwise entries to run instead"},
           [](D& d, const Value& v) { d.layer.backward = read_layers(*v.node, v.path, *v.library); }},
      });
  return table;
}

bool has(const Names& names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

void check_keys(const Op& op, const Node& node, const std::string& path) {
  for (const std::string_view key : op.required) {
    if (node.find(key) != nullptr) continue;
    const KeyInfo* info = find_key(network_schema(), key);
    fail(node.place, join(path, key), "missing, expected " + expected(info->type));
  }
  for (const Entry& entry : node.entries) {
    if (entry.key == "op" || entry.key == "repeat" || has(op.required, entry.key) || has(op.optional, entry.key))
      continue;
    Names allowed{"repeat"};
    allowed.insert(allowed.end(), op.required.begin(), op.required.end());
    allowed.insert(allowed.end(), op.optional.begin(), op.optional.end());
    fail(entry.place, join(path, entry.key),
         "found on op '" + std::string(op.name) + "', which takes " + one_of(entry.key, allowed));
  }
}

/// Defaults that depend on the op.
NetworkLayer finish(const NetworkLayerDraft& draft, const Node& node) {
  NetworkLayer layer = draft.layer;
  const bool convolution = layer.kind == LayerKind::convolution;
  const bool pool = layer.kind == LayerKind::max_pool || layer.kind == LayerKind::average_pool;
  layer.norm = convolution && draft.norm.value_or(true);
  layer.relu = draft.relu.value_or(convolution || (layer.kind == LayerKind::branches && layer.join == Join::add));
  layer.bias = draft.bias.value_or((convolution && !layer.norm) || layer.kind == LayerKind::linear);
  layer.whole_image = pool && node.find("kernel") == nullptr;
  if (pool && node.find("stride") == nullptr) layer.stride = std::max(layer.kernel_height, layer.kernel_width);
  return layer;
}

void check_backward(const NetworkLayer& layer, const Node& node, const std::string& path) {
  if (!layer.backward) return;
  for (std::size_t i = 0; i < layer.backward->size(); ++i) {
    const LayerKind kind = (*layer.backward)[i].kind;
    if (kind == LayerKind::gemm || kind == LayerKind::elementwise) continue;
    const Node& item = node.find("backward")->items[i];
    const std::string key = join(path, "backward[" + std::to_string(i) + "].op");
    fail(locate(item, "op"), key, "found " + found(*item.find("op")) + ", expected gemm or elementwise");
  }
}

std::vector<NetworkLayer> read_layers(const Node& list, const std::string& path, Library& library) {
  std::vector<NetworkLayer> layers;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const Node& node = list.items[i];
    const std::string here = path + '[' + std::to_string(i) + ']';
    NetworkLayerDraft draft;
    read(layer_table(), node, here, library, draft);
    const auto op = std::ranges::find(ops(), draft.layer.kind, &Op::kind);
    check_keys(*op, node, here);
    layers.push_back(finish(draft, node));
    check_backward(layers.back(), node, here);
  }
  return layers;
}

}  // namespace

std::vector<NetworkLayer> read_network(const Value& value) {
  if (value.node->items.empty()) fail(value.node->place, value.path, "found an empty list, expected layers");
  return read_layers(*value.node, value.path, *value.library);
}

const Schema& network_schema() { return layer_table().schema; }

}  // namespace stepcast::language
