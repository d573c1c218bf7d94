#include "collectives/timing/timer.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "collectives/algorithms.h"
#include "collectives/nccl/search.h"
#include "collectives/search/chains.h"
#include "collectives/search/view_links.h"
#include "collectives/timing/answers.h"
#include "collectives/timing/candidates.h"
#include "collectives/timing/chooser.h"
#include "collectives/timing/earlier_place.h"
#include "collectives/timing/nccl_pick.h"
#include "collectives/timing/placement.h"
#include "collectives/timing/prepared.h"
#include "collectives/timing/protocols.h"
#include "collectives/timing/remembered.h"
#include "sim/input_error.h"

namespace stepcast::collectives {
namespace {

/// Ranks of all concurrent communicators that are simulated whole where folding changes something; more take minutes
/// and are folded even so. Of trees, which have no more than log2 P transfers a rank, more are.
constexpr std::size_t kMostWhole = 128, kMostWholeOfTrees = 1024;

std::size_t most_whole(const Algorithm& algorithm) { return algorithm.tree ? kMostWholeOfTrees : kMostWhole; }

/// Weights stand in the request as elements, of which the busiest sender has all: Request::resized scales them.
void add(const Details& details, Request& request) {
  request.servers = details.servers;
  if (details.servers >= request.ranks) {
    throw InputError("servers", "found " + std::to_string(details.servers) + ", expected fewer than the " +
                                    std::to_string(request.ranks) + " ranks");
  }
  if (details.pair_weights.empty()) return;
  if (request.operation != Operation::all_to_all) {
    throw InputError("uneven sizes", "only all_to_all has a size for each pair of ranks");
  }
  if (details.pair_weights.size() != std::size_t{request.ranks} * request.ranks) {
    throw InputError("uneven sizes", "found " + std::to_string(details.pair_weights.size()) + " of them, expected " +
                                         std::to_string(request.ranks) + " rows of " + std::to_string(request.ranks));
  }
  request.pair_elements = details.pair_weights;
  for (std::size_t row = 0; row < request.pair_elements.size(); row += request.ranks) {
    const auto first = request.pair_elements.begin() + static_cast<std::ptrdiff_t>(row);
    request.elements = std::max(request.elements, std::accumulate(first, first + request.ranks, std::int64_t{0}));
  }
  if (request.elements == 0) throw InputError("uneven sizes", "all are 0");
  if (request.elements > std::numeric_limits<std::int32_t>::max()) {
    throw InputError("uneven sizes", "found " + std::to_string(request.elements) + " in a row, expected below 2^31");
  }
}

/// The largest of an operation by messages.
Bytes largest_message(const Request& request, Bytes bytes) {
  if (request.operation == Operation::send_recv) return bytes;
  if (request.pair_elements.empty()) return {bytes.value / request.ranks};
  const double most = static_cast<double>(*std::ranges::max_element(request.pair_elements));
  return {static_cast<std::int64_t>(static_cast<double>(bytes.value) * (most / static_cast<double>(request.elements)))};
}

/// About what each takes in memory.
std::size_t bytes_of(const Timing& timing) { return sizeof(timing) + timing.loads.size() * sizeof(Timing::Load); }

std::size_t bytes_of(const LinkView& view) {
  return sizeof(view) + view.hops.size() * sizeof(LinkView::Hop) + view.begin.size() * 2 * sizeof(std::uint32_t);
}

std::size_t bytes_of(const Prepared& prepared) {
  const Wiring& wiring = prepared.wiring;
  std::size_t all = sizeof(prepared) + bytes_of(prepared.request.links);
  all += wiring.routes.bytes() + prepared.paces.size() * sizeof(Pace);
  for (const auto* lists : {&wiring.members, &wiring.aside_links})
    for (const auto& links : *lists) all += sizeof(links) + links.size() * sizeof(topology::LinkId);
  all += wiring.aside.size() * sizeof(Wiring::Aside);
  return all + prepared.resources.size() * sizeof(prepared.resources[0]);
}

std::size_t bytes_of(const Played& played) {
  const Outcome& outcome = played.outcome;
  return sizeof(played) + (outcome.carried.size() + outcome.by_route.size()) * sizeof(double) +
         outcome.transfers.size() * sizeof(std::uint32_t);
}

std::size_t bytes_of(const std::vector<Group>& groups) {
  std::size_t all = 0;
  for (const Group& group : groups) all += sizeof(group) + group.size() * sizeof(topology::GpuId);
  return all;
}

/// How a placement's groups walk: its chains, and its GPUs in the numbers that the chains mean.
struct NumberedChains {
  std::vector<Chain> chains;
  std::vector<Group> groups;
};
std::size_t bytes_of(const NumberedChains& walk) { return sizeof(walk) + bytes_of(walk.groups); }

std::size_t bytes_of(const nccl::Job& job) { return sizeof(job); }

std::size_t bytes_of(const std::optional<EarlierPlace>& place) { return place ? place->bytes() : sizeof(place); }

}  // namespace

struct Timer::Impl {
  topology::Cluster as_it_is;
  topology::Cluster cluster;  ///< without its slow node: what all is planned and chosen for
  Transport transport;
  bool folds_where_exact = false;

  // What has been worked out. Nothing is ever removed, and what was answered stays where it is.
  using Members = std::vector<Group>;
  using PreparedKey = std::tuple<std::size_t, Operation, std::string_view, Proto, Extent, Details>;
  using TimingKey =
      std::tuple<std::size_t, Operation, std::int64_t, std::string, Extent, Details, std::vector<std::uint32_t>>;
  Remembered<std::size_t, std::optional<EarlierPlace>> earlier{bytes_of};  // of placements
  Remembered<std::size_t, NumberedChains> walks{bytes_of};                 // likewise, as searched
  Remembered<std::size_t, nccl::Job> jobs{bytes_of};                       // likewise, as NCCL sees them
  ChainSearches searches{};                                                // of both
  Remembered<Group, LinkView> views{bytes_of};
  Remembered<PreparedKey, Prepared> prepared{bytes_of};
  Remembered<TimingKey, Timing> timings{bytes_of};
  /// Of collectives that some groups ask for, each its own loads: whoever asks, all groups move the same.
  Remembered<std::pair<const Prepared*, std::int64_t>, Played> played{bytes_of};

  std::mutex mutex{};  // guards what follows
  std::size_t more_bytes = 0;
  std::map<Members, std::size_t> placements{};
  TimerAnswers answers{};              // of timings
  std::deque<Timing> bounded{};        // by slow links
  std::deque<Timing> least_timings{};  // what is known of them is their duration
  TimerAnswers least_answers{};        // of these

  std::size_t remembered_bytes() {
    const std::size_t of_tables = earlier.bytes() + walks.bytes() + jobs.bytes() + searches.bytes() + views.bytes() +
                                  prepared.bytes() + timings.bytes() + played.bytes();
    const std::lock_guard lock(mutex);
    return of_tables + more_bytes;
  }

  std::size_t number_of(const Members& groups) {
    const std::lock_guard lock(mutex);
    const auto [at, fresh] = placements.try_emplace(groups, placements.size());
    if (fresh) more_bytes += bytes_of(groups);
    return at->second;
  }

  /// One way to run a collective: what comes of it, and how long all groups take, by which the way is chosen.
  struct Tried {
    Timing timing;
    Time all{};
  };
  Tried tried(const Prepared& ready, Bytes bytes, bool again, std::span<const std::uint32_t> own_groups) {
    const auto play = [&] { return simulate(ready, transport, bytes); };
    const auto of = [&](const Played& ran) {
      return Tried{timing_of(ready, ran, own_groups), ran.before + ran.outcome.end};
    };
    return again ? of(played.of({&ready, bytes.value}, play)) : of(play());
  }

  const NumberedChains& walk_of(std::size_t number, const GroupPlacement& placement) {
    return walks.of(number, [&] {
      NumberedChains found{found_chains(cluster, placement.groups.front(), placement.nodes, searches), {}};
      if (found.chains.size() > transport.most_channels) found.chains.resize(transport.most_channels);
      if (!found.chains.empty()) {
        found.groups = placement.groups;
        walk_alike(cluster, found.groups, placement.nodes, found.chains, searches);
      }
      return found;
    });
  }

  const LinkView& view_of(const Group& group) {
    return views.of(group, [&] { return view_links(cluster, group); });
  }

  const nccl::Job& job_of(std::size_t number, const GroupPlacement& placement) {
    return jobs.of(number, [&] { return nccl::search(cluster, placement.groups.front(), searches); });
  }

  /// "library" is NCCL's own choice where the stack says so, else the fastest.
  Wanted meant_by(std::string_view name) const {
    Wanted wanted = parse_wanted(name);
    if (wanted.algorithm == "library") wanted.algorithm = transport.as_nccl_picks ? "nccl" : "auto";
    return wanted;
  }

  /// What algorithms are asked for, and where; its GPUs are numbered as the request's chains mean them.
  Request request_of(Operation operation, const Details& details, std::size_t number, GroupPlacement& placement) {
    Request request{};
    if (operation == Operation::send_recv) {
      request = request_on(cluster, placement, operation, transport.most_channels, {});
    } else {
      const NumberedChains& walk = walk_of(number, placement);
      request = request_on(cluster, placement, operation, transport.most_channels, walk.chains);
      // Servers and sizes of pairs are those of the GPUs as they were given.
      if (!walk.groups.empty() && details.servers == 0 && details.pair_weights.empty()) placement.groups = walk.groups;
    }
    add(details, request);
    return request;
  }

  /// Worked out once.
  const Timing& timed(Operation operation, Bytes bytes, std::span<const Group> concurrent, std::string_view algorithm,
                      Extent extent, const Details& details) {
    // One order of the groups, whichever of them asks.
    Members groups(concurrent.begin(), concurrent.end());
    std::ranges::sort(groups);
    std::vector<std::uint32_t> own;
    for (const Group& group : concurrent.first(std::min<std::size_t>(details.own, concurrent.size()))) {
      own.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(groups, group) - groups.begin()));
    }
    std::ranges::sort(own);
    Details shared = details;
    shared.own = 0;
    const std::size_t number = number_of(groups);
    const TimingKey key{number, operation, bytes.value, std::string(algorithm), extent, shared, own};
    return timings.of(key, [&] {
      if (extent == Extent::slowed) return fresh(operation, bytes, groups, algorithm, extent, shared, number, own);
      if (const std::uint32_t before = gpus_before_their_node(groups); before > 0) {
        place(cluster, concurrent, operation != Operation::send_recv);  // what is wrong with them is said of them
        const Members on_first = moved(concurrent, before);
        const Timing& there = timed(operation, bytes, on_first, algorithm, extent, details);
        if (crosses_no_network(there)) return moved(there, on_first.front().front(), concurrent.front().front());
      }
      if (const std::optional<EarlierPlace>& there = earlier_place(number, groups, operation)) {
        try {
          return there->timing(timed(operation, bytes, there->groups(concurrent), algorithm, extent, details));
        } catch (const InputError&) {  // what is wrong with them is said of them, by what comes next
        }
      }
      return fresh(operation, bytes, groups, algorithm, extent, shared, number, own);
    });
  }

  /// Throws InputError for groups that cannot be placed.
  const std::optional<EarlierPlace>& earlier_place(std::size_t number, const Members& groups, Operation operation) {
    return earlier.of(number, [&] {
      place(cluster, groups, operation != Operation::send_recv);
      return EarlierPlace::find(cluster, groups);
    });
  }

  // Nodes are alike: what does not leave one of them takes the same time on the first, on links in the same places.

  /// Of groups in one node how many GPUs stand in the nodes before it. 0 for others, and where nodes are not used
  /// alike.
  std::uint32_t gpus_before_their_node(const Members& groups) const {
    if (groups.empty() || groups.front().empty()) return 0;
    const std::uint32_t per_node = cluster.gpus_per_node(), node = index(groups.front().front()) / per_node;
    const auto in_node = [&](topology::GpuId gpu) { return index(gpu) / per_node == node; };
    const bool alike =
        std::ranges::all_of(groups, [&](const Group& group) { return std::ranges::all_of(group, in_node); });
    return alike && (node + 1) * per_node <= cluster.gpus() && per_node < cluster.gpus() ? node * per_node : 0;
  }

  static Members moved(std::span<const Group> groups, std::uint32_t down) {
    Members result(groups.begin(), groups.end());
    for (Group& group : result)
      for (topology::GpuId& gpu : group) gpu = topology::GpuId{index(gpu) - down};
    return result;
  }

  bool crosses_no_network(const Timing& timing) const {
    return std::ranges::none_of(timing.loads, [&](const Timing::Load& load) {
      return cluster.link_traits(load.link).kind == topology::LinkKind::network;
    });
  }

  /// From one GPU's node to another's.
  Timing moved(Timing timing, topology::GpuId from, topology::GpuId to) const {
    const std::uint32_t up = index(cluster.first_link_of_node(to)) - index(cluster.first_link_of_node(from));
    for (Timing::Load& load : timing.loads) load.link = topology::LinkId{index(load.link) + up};
    return timing;
  }

  /// As if no node were slow.
  const Timing& on_whole_links(const TimerQuestion& q, const Details& details) {
    Details all = details;
    all.own = 0;
    if (q.fold || folds_where_exact) {
      const Timing& folded = timed(q.operation, q.bytes, q.concurrent, q.algorithm, Extent::folded, all);
      const bool stand_for_own = details.own == 0 || folded.alike();  // else some of the groups end before the others
      if ((folded.exact && stand_for_own) || ranks_of(q) > most_whole(algorithm(folded.algorithm)))
        return details.own == 0 ? folded
                                : timed(q.operation, q.bytes, q.concurrent, q.algorithm, Extent::folded, details);
      // Over more ranks than all algorithms are simulated whole, the one that is fastest folded is.
      if (ranks_of(q) > kMostWhole)
        return timed(q.operation, q.bytes, q.concurrent, folded.algorithm + "/" + folded.protocol, Extent::whole,
                     details);
    }
    return timed(q.operation, q.bytes, q.concurrent, q.algorithm, Extent::whole, details);
  }

  static std::size_t ranks_of(const TimerQuestion& q) { return q.concurrent.size() * q.concurrent.front().size(); }

  /// What is chosen does not depend on the slow node, what it takes does. Over more ranks than are simulated whole, a
  /// collective takes no less than its busiest slow link needs for its bytes.
  const Timing& answer(const TimerQuestion& q) {
    const Timing& timing = on_whole_links(q, q.details);
    if (!as_it_is.has_slow_node()) return timing;
    Details all = q.details;
    all.own = 0;
    const Timing& of_all = q.details.own == 0 ? timing : on_whole_links(q, all);
    const bool on_slow_links = std::ranges::any_of(
        of_all.loads, [&](const Timing::Load& load) { return as_it_is.link_speed(load.link) != 1; });
    if (!on_slow_links) return timing;
    if (ranks_of(q) > most_whole(algorithm(timing.algorithm))) {
      const std::lock_guard lock(mutex);
      more_bytes += bytes_of(timing);
      return bounded.emplace_back(at_least_of_slow_links(timing, as_it_is));
    }
    return timed(q.operation, q.bytes, q.concurrent, timing.algorithm + "/" + timing.protocol, Extent::slowed,
                 q.details);
  }

  /// The ways that a collective may go, each prepared by the first protocol that it may use. No ways: of one rank.
  struct PreparedWays {
    GroupPlacement placement;
    Request request{};
    Wanted wanted{};
    Proto first{};
    std::vector<const Algorithm*> able;
    std::vector<const Prepared*> prepared;  ///< by first
    std::vector<Prospect> prospects;        ///< likewise
    std::vector<Proto> others;              ///< protocols that algorithms may use besides, but for by_simple() ones

    /// What is known of one of them by another protocol. The other protocols differ in times only: their rates are
    /// shares of Simple's, so most sizes need no wiring.
    Prospect by(Proto proto, std::size_t way, const Transport& stack) const {
      const Protocol protocol = constants_of(stack, meant(proto, request.operation, stack));
      const double share = prepared[way]->protocol.share;
      return {.latency = {},
              .seconds_per_byte = prospects[way].seconds_per_byte * share / protocol.share,
              .fixed = fixed_time(stack, protocol)};
    }
    bool exact() const {
      return std::ranges::all_of(prepared, [](const Prepared* each) { return each->wiring.aside.empty(); });
    }
  };

  const Prepared& ready(const PreparedWays& ways, const Algorithm& algorithm, Proto proto, Extent extent,
                        const Details& details, std::size_t number) {
    proto = meant(proto, ways.request.operation, transport);
    return prepared.of({number, ways.request.operation, algorithm.name, proto, extent, details}, [&] {
      return prepare(algorithm, proto, ways.request, ways.placement, extent == Extent::slowed ? as_it_is : cluster,
                     transport, extent == Extent::folded);
    });
  }

  PreparedWays ways(Operation operation, Bytes bytes, std::span<const Group> concurrent, std::string_view name,
                    Extent extent, const Details& details, std::size_t number) {
    PreparedWays out;
    out.placement = place(cluster, concurrent, operation != Operation::send_recv);
    Wanted& wanted = out.wanted = meant_by(name);
    if (wanted.algorithm != "auto" && wanted.algorithm != "nccl") algorithm(wanted.algorithm);  // unknown: throws
    if (out.placement.ranks == 1) return out;
    Request& request = out.request = request_of(operation, details, number, out.placement);

    const auto view = [&]() -> const LinkView& { return view_of(out.placement.groups.front()); };
    if (wanted.algorithm == "nccl")
      wanted = nccl_tunes(cluster, transport, operation, request.nodes)
                   ? picked_by_nccl(transport, job_of(number, out.placement), request, bytes, wanted.protocol,
                                    name.starts_with("library"), view)
                   : Wanted{"auto", wanted.protocol};
    if (views_links(transport, wanted.algorithm, request)) request.links = view();
    out.able = candidates(transport, wanted.algorithm, request);
    // What is forced on the library (NCCL_PROTO) is forced on its collectives: it does not ask for it of messages.
    const bool messages = by_messages(operation) && transport.p2p.share > 0 && !wanted.protocol;
    // NCCL trusts LL128 on some ways alone; who forces it says that it holds on others too.
    const bool trusted = messages || wanted.protocol || !transport.forced.protocols.empty() ||
                         transport.ll128.share <= 0 || !nccl::has_model(transport.nccl_version) ||
                         nccl::trusts_ll128(nccl::constants(transport.nccl_version), job_of(number, out.placement));
    const auto allowed = [&](Proto proto) {
      if (proto == Proto::ll128 && !trusted) return false;
      return messages ? messages_take(proto, largest_message(request, bytes), request.nodes) &&
                            constants_of(transport, proto).share > 0
                      : may_use(transport, proto);
    };
    const auto usable = std::ranges::find_if(kProtocols, allowed);
    out.first = wanted.protocol.value_or(usable != kProtocols.end() ? *usable : Proto::simple);
    if (constants_of(transport, out.first).share <= 0 || (!wanted.protocol && usable == kProtocols.end())) {
      throw InputError("algorithm",
                       "this software stack has no protocol " +
                           (wanted.protocol ? std::string(name_of(out.first)) : transport.forced.protocols.front()));
    }
    for (const Algorithm* each : out.able) {
      const bool own = each->in_nvswitch && transport.nvls.share > 0;
      out.prepared.push_back(&ready(out, *each, own ? Proto::nvls : out.first, extent, details, number));
      out.prospects.push_back(out.prepared.back()->prospect);
    }
    if (!wanted.protocol)
      std::ranges::copy_if(kProtocols, std::back_inserter(out.others),
                           [&](Proto proto) { return proto != out.first && allowed(proto); });
    return out;
  }

  Timing fresh(Operation operation, Bytes bytes, std::span<const Group> concurrent, std::string_view name,
               Extent extent, const Details& details, std::size_t number, std::span<const std::uint32_t> own_groups) {
    const PreparedWays all = ways(operation, bytes, concurrent, name, extent, details, number);
    if (all.able.empty())
      return {
          .algorithm = std::string(all.wanted.algorithm), .protocol = std::string(name_of(Proto::simple)), .loads = {}};
    // Folded groups stand for each other; what one of them carries is counted afterwards.
    const std::span<const std::uint32_t> simulated_groups =
        extent == Extent::folded ? std::span<const std::uint32_t>{} : own_groups;
    const bool again = !own_groups.empty();  // others of these groups will ask
    std::vector<Tried> outcomes(all.able.size());
    const Choice choice = choose(all.prospects, bytes, [&](std::size_t i) {
      outcomes[i] = tried(*all.prepared[i], bytes, again, simulated_groups);
      return outcomes[i].all;
    });
    Tried& fastest = outcomes[choice.index];
    for (const Proto proto : all.others) {
      for (std::size_t i = 0; i < all.able.size(); ++i) {
        if (by_simple(*all.able[i]) || lower_bound(all.by(proto, i, transport), bytes) >= fastest.all) continue;
        const Prepared& candidate = ready(all, *all.able[i], proto, extent, details, number);
        if (lower_bound(candidate.prospect, bytes) >= fastest.all) continue;
        Tried other = tried(candidate, bytes, again, simulated_groups);
        if (other.all < fastest.all) fastest = std::move(other);
      }
    }
    Timing& best = fastest.timing;
    best.exact = all.exact();
    if (extent == Extent::folded && !own_groups.empty())
      best.loads = loads_of(algorithm(best.algorithm), all.request.resized(bytes.value), all.placement, cluster,
                            transport, own_groups, best.loads);
    return std::move(best);
  }

  /// What timed() answers is no less.
  Time least(const TimerQuestion& q, const Members& groups, bool fold) {
    const Extent extent = fold ? Extent::folded : Extent::whole;
    const PreparedWays all = ways(q.operation, q.bytes, groups, q.algorithm, extent, q.details, number_of(groups));
    if (all.able.empty()) return {};
    // Else some or all of them may be simulated whole.
    const std::size_t ranks = groups.size() * groups.front().size();
    const bool may_be_whole = fold && !all.exact();
    if (may_be_whole && ranks <= kMostWhole) return least(q, groups, false);
    std::optional<Time> least_of_all;
    const auto see = [&](Time time) { least_of_all = std::min(time, least_of_all.value_or(time)); };
    for (std::size_t i = 0; i < all.able.size(); ++i) {
      const Algorithm& each = *all.able[i];
      if (may_be_whole && ranks <= most_whole(each)) {
        TimerQuestion of_it = q;
        of_it.algorithm = each.name;
        see(least(of_it, groups, false));
        continue;
      }
      see(lower_bound(all.prospects[i], q.bytes));
      for (const Proto proto : all.others)
        if (!by_simple(each)) see(lower_bound(all.by(proto, i, transport), q.bytes));
    }
    return *least_of_all;
  }

  Transfers transfers(Operation operation, Bytes bytes, const Members& groups, std::uint32_t group,
                      std::string_view name, const Timing& chosen, const Details& details, std::size_t number) {
    GroupPlacement placement = place(cluster, groups, operation != Operation::send_recv);
    if (placement.ranks == 1) return {};
    Request request = request_of(operation, details, number, placement);
    const std::string_view wanted = meant_by(name).algorithm;
    if (views_links(transport, wanted == "nccl" ? std::string_view(chosen.algorithm) : wanted, request))
      request.links = view_of(placement.groups.front());
    const Algorithm& planned = algorithm(chosen.algorithm);
    const Proto proto =
        planned.in_nvswitch && transport.nvls.share > 0
            ? Proto::nvls
            : meant(*parse_wanted(chosen.algorithm + "/" + chosen.protocol).protocol, operation, transport);
    const Prepared& ready = prepared.of({number, operation, planned.name, proto, Extent::whole, details}, [&] {
      return prepare(planned, proto, request, placement, cluster, transport, false);
    });
    return transfers_of(ready, transport, bytes, cluster, placement.groups[group], group);
  }
};

Timer::Timer(topology::Cluster cluster, Transport transport, bool folds_where_exact)
    : impl_(new Impl{.as_it_is = cluster,
                     .cluster = cluster.without_slow_node(),
                     .transport = std::move(transport),
                     .folds_where_exact = folds_where_exact}) {
  impl_->transport = over(std::move(impl_->transport), impl_->cluster.nic_port().nccl);
}

Timer::~Timer() = default;

const topology::Cluster& Timer::cluster() const { return impl_->as_it_is; }

std::size_t Timer::remembered_bytes() const { return impl_->remembered_bytes(); }

const Timing& Timer::time(Operation operation, Bytes bytes, std::span<const Group> concurrent,
                          std::string_view algorithm, bool fold, const Details& details) const {
  if (bytes.value < 0) throw std::logic_error("a collective of fewer than 0 bytes");
  if (details.own > 0 && fold) throw std::logic_error("some groups' own loads, where groups stand for each other");
  const TimerQuestion question{operation, bytes, concurrent, algorithm, fold, details};
  {
    const std::lock_guard lock(impl_->mutex);
    if (const Timing* const known = impl_->answers.known(question)) return *known;
  }
  const Timing& answer = impl_->answer(question);
  const std::lock_guard lock(impl_->mutex);
  impl_->more_bytes += impl_->answers.remember(question, answer);
  return answer;
}

Time Timer::least(Operation operation, Bytes bytes, std::span<const Group> concurrent, std::string_view algorithm,
                  const Details& details) const {
  const TimerQuestion question{operation, bytes, concurrent, algorithm, true, details};
  {
    const std::lock_guard lock(impl_->mutex);
    if (const Timing* const known = impl_->least_answers.known(question)) return known->duration;
  }
  Impl::Members groups(concurrent.begin(), concurrent.end());
  std::ranges::sort(groups);
  // What stays in a node is timed on the first, once for all of them.
  if (details.own > 0 || impl_->gpus_before_their_node(groups) > 0)
    return time(operation, bytes, concurrent, algorithm, true, details).duration;
  if (const auto& there = impl_->earlier_place(impl_->number_of(groups), groups, operation))
    groups = there->groups(groups);
  const Time least = impl_->least(question, groups, true);
  const std::lock_guard lock(impl_->mutex);
  Timing& answer = impl_->least_timings.emplace_back();
  answer.duration = least;
  impl_->more_bytes += sizeof(answer) + impl_->least_answers.remember(question, answer);
  return least;
}

std::optional<std::string> Timer::picked_for(Operation operation, Bytes bytes, const Group& group) const {
  std::set<std::uint32_t> nodes;
  for (const topology::GpuId gpu : group) nodes.insert(index(gpu) / impl_->cluster.gpus_per_node());
  const auto count = static_cast<std::uint32_t>(nodes.size());
  if (!impl_->transport.as_nccl_picks || !nccl_tunes(impl_->cluster, impl_->transport, operation, count))
    return std::nullopt;
  const Timing& alone = time(operation, bytes, std::span(&group, 1), "library", false);
  return alone.algorithm + "/" + alone.protocol;
}

Transfers Timer::transfers(Operation operation, Bytes bytes, std::span<const Group> concurrent, std::uint32_t group,
                           std::string_view algorithm, const Details& details) const {
  if (bytes.value < 0) throw std::logic_error("a collective of fewer than 0 bytes");
  const Timing& chosen = time(operation, bytes, concurrent, algorithm, true, details);
  Impl::Members groups(concurrent.begin(), concurrent.end());
  const Group own = groups.at(group);
  std::ranges::sort(groups);
  const auto at = static_cast<std::uint32_t>(std::ranges::lower_bound(groups, own) - groups.begin());
  return impl_->transfers(operation, bytes, groups, at, algorithm, chosen, details, impl_->number_of(groups));
}

}  // namespace stepcast::collectives
