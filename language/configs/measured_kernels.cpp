#include "language/configs/measured_kernels.h"

#include <string>
#include <vector>

#include "language/core/library.h"
#include "language/core/read_mapping.h"
#include "models/cost/elementwise.h"

namespace stepcast::language {
namespace {

using schedules::KernelMaker;
using schedules::MeasuredKernels;

struct MakersKernels {
  KernelMaker by = KernelMaker::unsaid;
  MeasuredKernels measured;
};
using K = MakersKernels;

void store_share(K& k, const Value& v) { k.measured.elementwise[v.path.substr(v.path.rfind('.') + 1)] = v.number; }

void add_shares(std::vector<Key<K>>& keys) {
  static const std::vector<std::string> paths = [] {
    std::vector<std::string> made;
    for (const schedules::MeasuredKernel& kernel : schedules::measured_kernels())
      made.push_back("elementwise." + std::string(kernel.key));
    return made;
  }();
  for (const std::string& path : paths)
    keys.push_back(
        {{path, number(0.001, 10), "", "as gpu.elementwise, of stacks that say elementwise_by so"}, store_share});
}

const Table<K>& measured_kernels_table() {
  static const Table<K> table("An entry of kernels of a profile", "", [] {
    std::vector<Key<K>> keys{
        {{"by", choice(kernel_maker_names), kRequired, "whose kernels these are"},
         [](K& k, const Value& v) { k.by = static_cast<KernelMaker>(v.choice); }},
        {{"attention.forward", fraction(), "", "as gpu.attention.forward, of stacks that say attention_by so"},
         [](K& k, const Value& v) { k.measured.attention_forward = v.number; }},
        {{"attention.backward", fraction(), "", "as gpu.attention.backward, likewise"},
         [](K& k, const Value& v) { k.measured.attention_backward = v.number; }},
        {{"host_per_kernel", time_type(), "", "as software.host_per_kernel, of stacks that say elementwise_by so"},
         [](K& k, const Value& v) { k.measured.host_per_kernel = v.time; }},
        {{"host_per_collective", time_type(), "", "as software.host_per_collective, likewise"},
         [](K& k, const Value& v) { k.measured.host_per_collective = v.time; }},
        {{"host_per_checkpoint", time_type(), "", "as software.host_per_checkpoint, likewise"},
         [](K& k, const Value& v) { k.measured.host_per_checkpoint = v.time; }}};
    add_shares(keys);
    return keys;
  }());
  return table;
}

}  // namespace

Names kernel_maker_names() { return {schedules::kKernelMakers.begin(), schedules::kKernelMakers.end()}; }

schedules::KernelsByMaker read_measured_kernels(const Value& value) {
  schedules::KernelsByMaker all;
  for (std::size_t i = 0; i < value.node->items.size(); ++i) {
    const Node& node = value.node->items[i];
    const std::string here = value.path + '[' + std::to_string(i) + ']';
    MakersKernels one;
    read(measured_kernels_table(), node, here, *value.library, one);
    const auto told = [&](const std::string& what) { fail(locate(node, "by"), here + ".by", "found " + what); };
    const std::string name(schedules::kKernelMakers[static_cast<std::size_t>(one.by)]);
    if (one.by == KernelMaker::unsaid || one.by == KernelMaker::other)
      told("'" + name + "', of which nothing can be measured; expected a maker of kernels");
    if (!all.emplace(one.by, std::move(one.measured)).second) told("'" + name + "' a second time");
  }
  return all;
}

const Schema& measured_kernels_schema() { return measured_kernels_table().schema; }

}  // namespace stepcast::language
