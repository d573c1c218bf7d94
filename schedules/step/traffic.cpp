#include "schedules/step/traffic.h"

#include <algorithm>
#include <cmath>

#include "models/layers/frozen.h"
#include "schedules/data_parallel/compression.h"
#include "schedules/data_parallel/groups.h"
#include "schedules/parallel/expert_nodes.h"
#include "schedules/parallel/inner_groups.h"
#include "schedules/pass_times/buckets.h"
#include "schedules/pipeline/placement.h"
#include "sim/whole_bytes.h"

namespace stepcast::schedules {
namespace {

using collectives::Group;
using collectives::Operation;
using workload::Collective;
using workload::Communication;

using Groups = std::shared_ptr<const std::vector<Group>>;

Groups shared(std::vector<Group> groups) { return std::make_shared<const std::vector<Group>>(std::move(groups)); }

/// Of a piece, what is trained.
Held gradients(const Piece& piece) { return {piece.trained, piece.trained_experts}; }

class Declarer {
 public:
  Declarer(const StepInput& in, const LaneGroups& lanes)
      : in_(in),
        s_(in.scenario),
        shape_(in.pipeline->shape),
        lanes_(lanes),
        stages_(s_.parallelism.pipeline),
        replicas_(lanes.replicas()),
        overlap_(in.exchange == Exchange::gradients && data_overlap(s_)),
        zero_(s_.data_parallel.zero) {}

  Traffic declare_all() {
    declare_chunks();
    declare_sends();
    declare_data();
    declare_tied_embeddings();
    out_.of_the_step = out_.communications.size();
    return std::move(out_);
  }

 private:
  /// A lane's number is the turn of what its passes wait for, of which never two run at once; these are those of its
  /// streams beside compute.
  enum class Turns : std::uint8_t { pipeline = 1, data, parameters };
  std::uint32_t turn(Turns of, std::uint32_t lane) const {
    return static_cast<std::uint32_t>(of) * stages_ * replicas_ + lane;
  }

  bool several_data_ranks() const {
    return in_.exchange != Exchange::nothing && weight_copies(s_.parallelism) * copies(shape_) > 1;
  }

  /// `turn`: that it is one of; none: it may run beside any other.
  Declared declare(Communication communication, std::optional<std::uint32_t> turn, double elements = 0) {
    communication.turn = turn;
    out_.communications.push_back(std::move(communication));
    return {workload::CommunicationId{static_cast<std::uint32_t>(out_.communications.size() - 1)}, elements};
  }

  /// Of the groups of one lane, the first `own`, and their siblings.
  Collective over_data_ranks(Operation operation, Bytes bytes, const Groups& groups, std::size_t own,
                             std::string_view algorithm = "library") const {
    return {operation, bytes, groups, static_cast<std::uint32_t>(own), algorithm, s_.traffic_scale.data};
  }

  /// Bytes of one activation, or of its gradient, that a rank of `parts` sends from a stage to the next or the one
  /// before: the most of any of its chunks. `split`: each sends a part, else all of them the whole.
  double passed_on(std::uint32_t stage, bool down, bool split, std::uint32_t parts) const {
    double most = 0;
    for (std::uint32_t v = 0; v < shape_.virtual_stages; ++v) {
      const bool forward = goes_down(shape_, v) == down;
      const std::optional<ChunkPlace> to = next_place(shape_, {stage, v}, forward);
      if (!to || to->stage == stage) continue;
      const BlockRange& chunk = in_.chunks[stage][v];
      const std::uint32_t end = forward ? chunk.first + chunk.count : chunk.first;
      const Block& block = in_.blocks.at(end - 1);
      most = std::max(most, block.output / (split || block.output_split ? parts : 1));
    }
    return most;
  }

  /// What a send between two ranks waits for before it begins: the software's, where it crosses the network.
  Time delay_of(const collectives::Group& pair) const {
    const topology::Cluster& cluster = in_.machine.cluster();
    if (cluster.node_of(pair.front()) == cluster.node_of(pair.back())) return {};
    const bool waits =
        cluster.nodes() >= s_.software.send_delay_nodes ||
        (s_.software.send_delay_tensor_nodes && nodes_of_row(pair.front()) >= *s_.software.send_delay_tensor_nodes);
    return waits ? s_.software.send_delay : Time{};
  }

  /// That the row of the tensor grid lies on that a rank is in.
  std::size_t nodes_of_row(topology::GpuId gpu) const {
    return by_node(in_.ranks, grid_rows_beside(in_.ranks, in_.ranks.coordinate(topology::index(gpu))).front()).size();
  }

  /// Of the row of the tensor grid that a rank is in.
  std::vector<std::uint32_t> lanes_of_row(Coordinate c) const {
    std::vector<std::uint32_t> out;
    const std::vector<collectives::Group> rows = grid_rows_beside(in_.ranks, c);
    for (const topology::GpuId gpu : rows.front())
      out.push_back(lanes_.lane(in_.ranks.coordinate(topology::index(gpu))));
    return out;
  }

  /// What a lane computes between two messages that come the same way, in the mean: a chunk's passes.
  Time between_messages(std::uint32_t lane) const {
    Time all{};
    for (const Chunk& chunk : out_.data[lane].chunks)
      all = all + chunk.forward.duration + chunk.backward.duration + chunk.weight.duration;
    return {all.value / shape_.virtual_stages};
  }

  void declare_chunks() {
    out_.data.resize(stages_ * replicas_);
    for (std::uint32_t lane = 0; lane < stages_ * replicas_; ++lane) {
      const Coordinate c = lanes_.at(lane);
      for (std::uint32_t v = 0; v < shape_.virtual_stages; ++v)
        out_.data[lane].chunks.push_back(in_.pieces.chunk(c, in_.chunks[c.stage], v));
    }
  }

  /// Stage-to-stage sends: [lane][0: to the next stage, 1: to the one before].
  void declare_sends() {
    out_.sends.resize(stages_ * replicas_);
    out_.senders.resize(stages_ * replicas_);
    if (stages_ == 1) return;
    const std::uint32_t t = grid(s_.parallelism).columns;  // the rows of a grid send what is theirs
    const bool split = t > 1 && (s_.parallelism.sequence || s_.software.scatter_gather);
    const bool gather = split && !s_.parallelism.sequence;
    for (std::uint32_t lane = 0; lane < stages_ * replicas_; ++lane) {
      const Coordinate c = lanes_.at(lane);
      if (gather && (in_.transfers || in_.unfold)) out_.senders[lane] = lanes_of_row(c);
      const std::vector<std::uint32_t>& senders = out_.senders[lane];
      if (!senders.empty() && senders.front() != lane) {
        out_.sends[lane] = out_.sends[senders.front()];
        continue;
      }
      for (const std::uint32_t direction : {0u, 1u}) {
        const double sent = passed_on(c.stage, direction == 0, split, t);
        const Bytes message = whole_bytes(sent);
        const std::uint32_t to = (c.stage + (direction == 0 ? 1 : stages_ - 1)) % stages_;
        const double scale = s_.traffic_scale.stages;
        std::vector<collectives::Group> pairs = in_.ranks.sends_beside(c, to);
        for (std::size_t own = 1; own < senders.size(); ++own) {  // to the front
          const collectives::Group pair = in_.ranks.sends_beside(lanes_.at(senders[own]), to).front();
          std::erase(pairs, pair);
          pairs.insert(pairs.begin() + static_cast<std::ptrdiff_t>(own), pair);
        }
        Communication send{{{.operation = Operation::send_recv,
                             .bytes = message,
                             .groups = shared(std::move(pairs)),
                             .own = static_cast<std::uint32_t>(std::max<std::size_t>(senders.size(), 1)),
                             .scale = scale}}};
        send.delay = delay_of(send.collectives.front().groups->front());
        if (gather) {
          const Coordinate receiver{c.tensor, c.data, to};
          send.at_receiver.push_back({.operation = Operation::all_gather,
                                      .bytes = whole_bytes(sent * t),
                                      .groups = shared(grid_rows_beside(in_.ranks, receiver)),
                                      .scale = scale});
          send.receivers_compute = between_messages(lanes_.lane(receiver));
        }
        out_.sends[lane][direction] =
            declare(std::move(send), pipeline_overlap(s_) ? turn(Turns::pipeline, lane) : lane);
      }
    }
  }

  Bytes bytes_of(double parameters, std::int64_t element) const {
    return whole_bytes(std::ceil(parameters * static_cast<double>(element)));
  }

  void declare_data() {
    const std::int64_t on_wire = element_bytes(gradient_precision(s_));
    // Embedding and head, which keep 16 bits, are counted alike.
    const std::int64_t element = s_.training.eight_bit_parameters ? 1 : element_bytes(s_.training.precision);
    const double full = zero_ == 3 ? 0 : static_cast<double>(bucket(s_).value) / static_cast<double>(on_wire);
    for (std::uint32_t lane = 0; lane < stages_ * replicas_; ++lane) {
      const Coordinate c = lanes_.at(lane);
      DataPlan& plan = out_.data[lane];
      if (!several_data_ranks() || (in_.unfold && c.data != 0))
        continue;  // a group's traffic is kept by its first rank
      const bool twice = copies(shape_) > 1;
      std::optional<std::uint32_t> other;
      if (twice) other = place(shape_, {1, held(shape_, {c.stage, 0}).chunk}).stage;
      const DataGroups groups(in_.ranks, s_, c, other);
      const Groups shards = shared(groups.shards), replicas = shared(groups.replicas), experts = shared(groups.experts);
      const std::uint32_t summing = overlap_ ? turn(Turns::data, lane) : lane,
                          gathering = turn(Turns::parameters, lane);  // beside sums, even if these stop compute
      const auto then_experts = [&](Communication communication, Operation operation, Bytes bytes, std::uint32_t turn) {
        if (bytes.value > 0)
          communication.collectives.push_back(over_data_ranks(operation, bytes, experts, groups.own_experts));
        return declare(std::move(communication), turn);
      };
      const auto gathered = [&](Held held, std::uint32_t turn) {
        return then_experts(
            {{over_data_ranks(Operation::all_gather, bytes_of(held.rest(), element), shards, groups.own_shards)}},
            Operation::all_gather, bytes_of(held.experts, element), turn);
      };
      const auto summed = [&](Held held) {
        if (s_.data_parallel.compression.any()) {
          const auto size = static_cast<std::uint32_t>(groups.shards.front().size());
          const MessageSum sum = sum_of_messages(s_, held.all, size);
          return declare({{over_data_ranks(sum.operation, sum.bytes, shards, groups.own_shards,
                                           algorithm(s_.data_parallel.mode))}},
                         summing, held.all);
        }
        const bool scattered = scatters_gradients(s_);
        const Operation operation = scattered ? Operation::reduce_scatter : Operation::all_reduce;
        Communication sum{{over_data_ranks(operation, bytes_of(held.rest(), on_wire), shards, groups.own_shards,
                                           algorithm(s_.data_parallel.mode))}};
        if (!groups.replicas.empty())
          sum.collectives.push_back(over_data_ranks(
              Operation::all_reduce, bytes_of(held.rest() / shard_ranks(s_), on_wire), replicas, groups.own_replicas));
        return then_experts(std::move(sum), operation, bytes_of(held.experts, on_wire), summing);
      };
      const std::span<const Chunk> kept = std::span(plan.chunks).first(twice ? 1 : plan.chunks.size());
      Held trained = twice ? Held{} : trained_held(in_.blocks, in_.chunks[c.stage]);
      if (twice)
        for (const Piece& piece : kept.front().pieces) trained = trained + gradients(piece);
      if (trained.all == 0 && zero_ < 3) continue;
      if (zero_ == 1 || zero_ == 2) plan.spread = gathered(trained, turn(Turns::data, lane));
      if (!overlap_ && zero_ < 3 && !sums_each_micro_batch(s_)) {
        plan.whole = summed(trained);
        continue;
      }
      for (const Chunk& chunk : kept) {
        plan.bucket_ends.push_back(bucket_ends(chunk.pieces, full));
        auto& sums = plan.buckets.emplace_back();
        std::size_t back = 0;
        for (const std::size_t end : plan.bucket_ends.back()) {
          Held made;
          for (; back <= end; ++back) made = made + gradients(chunk.pieces[chunk.pieces.size() - 1 - back]);
          sums.push_back(summed(made));
        }
        auto& gathers = plan.gathers.emplace_back();
        if (zero_ == 3)
          for (const Piece& piece : chunk.pieces) {
            const double most =
                overlap_ ? static_cast<double>(s_.software.parameter_prefetch.value) / static_cast<double>(element) : 0;
            const double ahead = std::min(piece.stored, std::floor(most)), rest = piece.stored - ahead;
            Gathers& both = gathers.emplace_back();
            const double share = piece.experts / std::max(piece.parameters, 1.0);
            if (ahead > 0) both.ahead = gathered({ahead, ahead * share}, gathering);
            if (rest > 0) both.rest = gathered({rest, rest * share}, gathering);
          }
      }
    }
  }

  /// The embedding and its copy are on different stages, which then sum up what they share.
  void declare_tied_embeddings() {
    const std::optional<std::uint32_t> tied = tied_stage(in_.blocks, in_.chunks);
    if (!tied || copies(shape_) > 1) return;
    out_.tied_stage = *tied;
    for (std::uint32_t r = 0; r < replicas_; ++r) {
      std::vector<Group> pairs = in_.ranks.sends_beside(lanes_.at(r), out_.tied_stage);
      const Bytes bytes = bytes_of(in_.blocks.tied / (zero_ == 3 || sums_each_micro_batch(s_) ? shard_ranks(s_) : 1),
                                   element_bytes(s_.software.main_gradient_precision));
      out_.tied_embeddings.push_back(
          declare({{over_data_ranks(Operation::all_reduce, bytes, shared(std::move(pairs)), 1)}}, std::nullopt));
    }
  }

  const StepInput& in_;
  const Scenario& s_;
  const Shape shape_;
  const LaneGroups& lanes_;
  const std::uint32_t stages_, replicas_;
  const bool overlap_;
  const int zero_;
  Traffic out_;
};

}  // namespace

bool exchanges_in_each_micro_batch(const StepInput& in) {
  return in.exchange == Exchange::gradients && weight_copies(in.scenario.parallelism) > 1 &&
         (in.scenario.data_parallel.zero == 3 || sums_each_micro_batch(in.scenario));
}

workload::Flows flows_of(const StepInput& in, const Traffic& traffic) {
  return workload::Flows(
      in.machine, traffic.communications,
      {.unfolded = in.unfold, .late = in.stragglers != nullptr, .first_siblings = in.first_siblings});
}

Traffic declare_traffic(const StepInput& input, const LaneGroups& lanes) {
  return Declarer(input, lanes).declare_all();
}

}  // namespace stepcast::schedules
