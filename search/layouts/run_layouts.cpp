#include "search/layouts/run_layouts.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "schedules/plan/communicators.h"
#include "search/layouts/integer_program.h"
#include "sim/whole_bytes.h"

namespace stepcast::search {

using namespace schedules;

namespace {

using TimeMatrix = std::vector<std::vector<Time>>;

/// A kind of block on a mesh.
struct KindOnMesh {
  std::vector<std::vector<UnitLayout>> layouts;  ///< of each unit
  std::vector<LayoutConversion> inner;           ///< between them, in one block
};

/// Which blocks a run has, and how often one of a kind follows one of another.
struct RunContents {
  std::map<std::uint32_t, std::uint32_t> counts;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> follows;
  friend auto operator<=>(const RunContents&, const RunContents&) = default;
};

RunContents contents_of(const Blocks& blocks, BlockRange run) {
  RunContents out;
  for (std::uint32_t i = 0; i < run.count; ++i) {
    const std::uint32_t kind = blocks.order[run.first + i];
    ++out.counts[kind];
    if (i > 0) ++out.follows[{blocks.order[run.first + i - 1], kind}];
  }
  return out;
}

bool repeats_whole(const Scenario& s, const Block& block) {
  return s.recompute == Recompute::full && !block.recompute.empty();
}

/// Whether work is shared as is held: samples along these axes, and along no other. An axis of one device shares
/// nothing.
bool keeps_to(const UnitLayout& layout, MeshShape shape, SampleAxes axes) {
  const std::array ways = {shape.rows, shape.columns};
  for (std::size_t axis = 0; axis < kMeshAxes; ++axis) {
    const bool shares = axes == SampleAxes::all || (axes == SampleAxes::rows && axis == 0);
    if (ways[axis] > 1 && shares != (layout.work[axis] == WorkSplit::samples)) return false;
  }
  return true;
}

/// Bytes of gradients that travel in one message: a bucket where they travel while backward runs, else all.
double summed_together(const Scenario& s, const Blocks& blocks) {
  if (data_overlap(s)) return static_cast<double>(bucket(s).value);
  const BlockRange all{0, static_cast<std::uint32_t>(blocks.order.size())};
  return parameters(blocks, {&all, 1}) * static_cast<double>(element_bytes(gradient_precision(s)));
}

}  // namespace

/// All kinds of blocks on one mesh, and the graphs of runs.
class ModelOnMesh {
 public:
  ModelOnMesh(const Scenario& s, const Blocks& blocks, const std::vector<BlockUnits>& units, const Mesh& mesh,
              bool splits_tokens, std::optional<SampleAxes> samples)
      : s_(s), blocks_(blocks), units_(units), mesh_(mesh) {
    for (std::uint32_t kind = 0; kind < blocks.kinds.size(); ++kind) {
      KindOnMesh& here = kinds_.emplace_back();
      const BlockContext context{s, blocks.kinds[kind], splits_tokens, summed_together(s, blocks)};
      for (const LayoutUnit& unit : units[kind].units) {
        std::vector<UnitLayout>& layouts = here.layouts.emplace_back(unit_layouts(context, unit, mesh_));
        if (samples) std::erase_if(layouts, [&](const UnitLayout& one) { return !keeps_to(one, shape(), *samples); });
      }
    }
    for (std::uint32_t kind = 0; kind < kinds_.size(); ++kind)
      for (const UnitInput& input : units[kind].inputs)
        kinds_[kind].inner.push_back({input.of, input.reader, conversions(kind, input.of, kind, input.reader)});
  }

  MeshShape shape() const { return mesh_.shape(); }

  LayoutGraph graph(const RunContents& run, std::uint32_t held) {
    LayoutGraph out;
    std::map<std::uint32_t, std::uint32_t> first;  // operator of each kind
    for (const auto& [kind, count] : run.counts) {
      first[kind] = static_cast<std::uint32_t>(out.operators.size());
      const auto place = static_cast<std::uint32_t>(first.size() - 1);
      for (const auto& layouts : kinds_[kind].layouts) {
        out.blocks.push_back(place);
        std::vector<LayoutChoice>& choices = out.operators.emplace_back();
        for (const UnitLayout& layout : layouts) choices.push_back(choice(layout, count, held));
      }
      for (const LayoutConversion& inner : kinds_[kind].inner)
        out.conversions.push_back({inner.from + first[kind], inner.to + first[kind], times(inner.times, count)});
    }
    for (const auto& [pair, count] : run.follows) {
      const auto [before, behind] = pair;
      const auto last = static_cast<std::uint32_t>(units_[before].units.size() - 1);
      const std::vector<std::uint32_t>& entries = units_[behind].entries;
      for (std::size_t i = 0; i < entries.size(); ++i)
        out.conversions.push_back(
            {last + first[before], entries[i] + first[behind], times(between(before, behind)[i], count)});
    }
    // Of the communicators that layouts ask for, that of all GPUs alone is known here.
    const Bytes room = s_.cluster.gpu.memory - s_.software.memory_reserve - CommunicatorBuffers(s_, false).of_stage(0);
    out.limit = std::max(room, Bytes{});
    return out;
  }

  std::vector<BlockLayouts> told(const RunContents& run, const std::vector<std::uint32_t>& choices) const {
    std::vector<BlockLayouts> out;
    std::size_t place = 0;
    for (const auto& [kind, count] : run.counts) {
      BlockLayouts& block = out.emplace_back(BlockLayouts{kind, count, units_[kind].units, {}});
      for (const auto& layouts : kinds_[kind].layouts) block.chosen.push_back(layouts[choices[place++]]);
    }
    std::ranges::sort(out, {}, [&](const BlockLayouts& block) { return std::ranges::find(blocks_.order, block.kind); });
    return out;
  }

 private:
  LayoutChoice choice(const UnitLayout& layout, std::uint32_t count, std::uint32_t held) const {
    const Time each = layout.forward + layout.backward + layout.recomputed;
    const double overhead = 1 + s_.software.activation_overhead, blocks = count;
    return {.time = each * count + Time{layout.once.value * count / micro_batches(s_)},
            .bytes = whole_bytes(layout.kept * blocks + layout.saved * blocks * held * overhead),
            .working = whole_bytes(layout.working * overhead)};
  }

  static TimeMatrix times(TimeMatrix once, std::uint32_t count) {
    for (std::vector<Time>& row : once)
      for (Time& time : row) time = time * count;
    return once;
  }

  /// From what a unit makes to what another one reads, and its gradient back; where the reader's block is repeated once
  /// more.
  TimeMatrix conversions(std::uint32_t from_kind, std::uint32_t from, std::uint32_t to_kind, std::uint32_t to) {
    const LayoutUnit& reader = units_[to_kind].units[to];
    const bool weighs = reader.kind == UnitKind::multiply || reader.kind == UnitKind::convolution;
    const double bytes = weighs ? reader.in_bytes : units_[from_kind].units[from].out_bytes;
    const std::int64_t passes = repeats_whole(s_, blocks_.kinds[to_kind]) ? 2 : 1;
    TimeMatrix out;
    for (const UnitLayout& one : kinds_[from_kind].layouts[from]) {
      std::vector<Time>& row = out.emplace_back();
      for (const UnitLayout& other : kinds_[to_kind].layouts[to])
        row.push_back(converted(one.out, other.in, bytes) * passes + converted(other.in, one.out, bytes));
    }
    return out;
  }

  Time converted(const TensorLayout& from, const TensorLayout& to, double bytes) {
    const auto [known, fresh] = converted_.try_emplace({from, to, bytes});
    if (fresh) known->second = conversion_time(mesh_, from, to, bytes);
    return known->second;
  }

  /// From the last unit of a block to each that reads the next block's input.
  const std::vector<TimeMatrix>& between(std::uint32_t before, std::uint32_t behind) {
    const auto [known, fresh] = between_.try_emplace({before, behind});
    if (fresh)
      for (const std::uint32_t entry : units_[behind].entries)
        known->second.push_back(
            conversions(before, static_cast<std::uint32_t>(units_[before].units.size() - 1), behind, entry));
    return known->second;
  }

  const Scenario& s_;
  const Blocks& blocks_;
  const std::vector<BlockUnits>& units_;
  const Mesh mesh_;
  std::vector<KindOnMesh> kinds_;
  std::map<std::tuple<TensorLayout, TensorLayout, double>, Time> converted_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<TimeMatrix>> between_;
};

struct RunSearch::Impl {
  const Scenario& s;
  const Blocks& blocks;
  const workload::Machine& machine;
  ProgramSolver solver;
  bool splits_tokens;
  HeldMesh held_mesh;
  std::vector<BlockUnits> units{};

  using Key = std::tuple<RunContents, std::uint32_t, std::uint32_t>;
  std::map<std::uint32_t, std::vector<ModelOnMesh>> meshes{};  ///< by devices
  /// Without a limit, whatever is held.
  std::map<std::pair<RunContents, MeshShape>, ChosenLayouts> unlimited{};
  std::map<Key, std::optional<RunLayouts>> known{};
  std::map<std::tuple<RunContents, MeshShape, std::uint32_t>, std::optional<Time>> bounds{};
  std::map<std::pair<std::uint32_t, std::uint32_t>, RunContents> contents_known{};
  std::size_t programs = 0;

  std::vector<ModelOnMesh>& meshes_of(std::uint32_t devices) {
    const auto [found, fresh] = meshes.try_emplace(devices);
    if (!fresh) return found->second;
    const std::vector<MeshShape> all =
        held_mesh.shape ? std::vector{*held_mesh.shape} : mesh_shapes(devices, machine.cluster().gpus_per_node());
    for (const MeshShape& each : all)
      if (each.devices() == devices)
        found->second.emplace_back(s, blocks, units, Mesh(s, machine, each), splits_tokens, held_mesh.samples);
    return found->second;
  }

  std::optional<ChosenLayouts> solve(const LayoutGraph& graph) {
    ++programs;
    return best_layouts(graph, solver);
  }

  /// The best layouts whatever memory they take.
  const ChosenLayouts& without_limit(ModelOnMesh& mesh, const RunContents& run, LayoutGraph graph) {
    const auto [found, fresh] = unlimited.try_emplace({run, mesh.shape()});
    if (fresh) {
      graph.limit.reset();
      found->second = *solve(graph);
    }
    return found->second;
  }

  /// What is known of a run on a mesh: nothing where no layouts fit.
  std::optional<Time> bound_on(ModelOnMesh& mesh, const RunContents& run, std::uint32_t held) {
    const auto [found, fresh] = bounds.try_emplace({run, mesh.shape(), held});
    if (fresh) {
      const LayoutGraph graph = mesh.graph(run, held);
      if (fewest_bytes(graph) <= *graph.limit) found->second = least_time(graph);
    }
    if (!found->second) return std::nullopt;
    const auto free = unlimited.find({run, mesh.shape()});
    return free == unlimited.end() ? *found->second : free->second.time;
  }

  std::optional<Time> bound(const RunContents& run, std::uint32_t devices, std::uint32_t held) {
    if (const auto solved = known.find({run, devices, held}); solved != known.end())
      return solved->second ? std::optional(solved->second->time) : std::nullopt;
    std::optional<Time> least;
    for (ModelOnMesh& mesh : meshes_of(devices))
      if (const std::optional<Time> here = bound_on(mesh, run, held); here && (!least || *here < *least)) least = here;
    return least;
  }

  Bytes missing(const RunContents& run, std::uint32_t devices, std::uint32_t held) {
    std::optional<Bytes> least;
    for (ModelOnMesh& mesh : meshes_of(devices)) {
      const LayoutGraph graph = mesh.graph(run, held);
      const Bytes here = std::max(least_bytes(graph, solver) - *graph.limit, Bytes{});
      if (!least || here < *least) least = here;
    }
    return least.value_or(Bytes{});
  }

  void try_mesh(ModelOnMesh& mesh, const RunContents& run, std::uint32_t held, std::optional<RunLayouts>& best) {
    const auto cannot_win = [&](Time time) { return best && time >= best->time; };
    const std::optional<Time> least = bound_on(mesh, run, held);
    if (!least || cannot_win(*least)) return;
    const LayoutGraph graph = mesh.graph(run, held);
    const ChosenLayouts& free = without_limit(mesh, run, graph);
    if (cannot_win(free.time)) return;
    std::optional<ChosenLayouts> chosen = layouts_of(graph, free.choices);
    if (chosen->bytes > *graph.limit) chosen = solve(graph);
    if (!chosen || cannot_win(chosen->time)) return;
    best = RunLayouts{mesh.shape(), chosen->time, chosen->bytes, mesh.told(run, chosen->choices)};
  }

  const std::optional<RunLayouts>& best(const RunContents& run, std::uint32_t devices, std::uint32_t held) {
    const auto [found, fresh] = known.try_emplace({run, devices, held});
    if (fresh)
      for (ModelOnMesh& mesh : meshes_of(devices)) try_mesh(mesh, run, held, found->second);
    return found->second;
  }

  const RunContents& contents(BlockRange run) {
    const auto [found, fresh] = contents_known.try_emplace({run.first, run.count});
    if (fresh) found->second = contents_of(blocks, run);
    return found->second;
  }
};

RunSearch::RunSearch(const Scenario& scenario, const Blocks& blocks, const workload::Machine& machine,
                     ProgramSolver solver, bool splits_tokens, HeldMesh mesh)
    : impl_(std::make_unique<Impl>(Impl{scenario, blocks, machine, solver, splits_tokens, mesh})) {
  impl_->units.resize(blocks.kinds.size());
  BlockBoundary boundary;
  for (const std::uint32_t kind : blocks.order) {
    if (impl_->units[kind].units.empty()) impl_->units[kind] = layout_units(blocks.kinds[kind], scenario, boundary);
    boundary = result_of(impl_->units[kind]);
  }
}

RunSearch::~RunSearch() = default;

const std::optional<RunLayouts>& RunSearch::best(BlockRange run, std::uint32_t devices, std::uint32_t held) {
  return impl_->best(impl_->contents(run), devices, held);
}

std::optional<Time> RunSearch::bound(BlockRange run, std::uint32_t devices, std::uint32_t held) {
  return impl_->bound(impl_->contents(run), devices, held);
}

Bytes RunSearch::missing(BlockRange run, std::uint32_t devices, std::uint32_t held) {
  return impl_->missing(impl_->contents(run), devices, held);
}

std::size_t RunSearch::programs() const { return impl_->programs; }

}  // namespace stepcast::search
