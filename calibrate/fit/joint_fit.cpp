#include "calibrate/fit/joint_fit.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "calibrate/fit/least_squares.h"
#include "calibrate/fit/transport_constants.h"
#include "calibrate/in_parallel.h"

namespace stepcast::calibrate {
namespace {

using collectives::Transport;
using Eigen::Index;
using Eigen::VectorXd;

constexpr double kLeastFelt = 3e-3;  // of the log of a time: moved by less, a curve does not feel a constant
constexpr std::array kEverywhere = {-3.5, -1.0, 1.0, 3.5};  // logits: 3 to 97 % of a range
constexpr int kSweeps = 3;
constexpr double kToOthers = 0.1;  // a logit away from the others of its kind weighs as an error of 10 % at one point
constexpr double kToStart = 0.02;
constexpr double kMostOfMachine = 60;  // a machine counts as at most so many points
/// What is played: curves and points of a machine, and of a curve as many points as its ranks leave.
struct Sampling {
  std::size_t curves, points, points_times_ranks;
};
constexpr Sampling kCoarse{6, 36, 512}, kFine{12, 120, 2048};
constexpr std::size_t kLeastOfCurve = 4;
constexpr std::size_t kRemembered = 96;  // sets of constants a curve's times are known for
constexpr int kLeaveOutSteps = 8;

/// A constant of a network: how the transport of a stack over it calls it, and how its file does.
struct OfLink {
  std::string_view of_transport, of_link;
};
constexpr std::array kOfLinks = {OfLink{"network_step", "simple"},      OfLink{"ll128.network_step", "ll128"},
                                 OfLink{"ll.network_step", "ll"},       OfLink{"p2p.network_step", "messages"},
                                 OfLink{"network_efficiency", "share"}, OfLink{"ll.network_share", "ll_share"}};
constexpr std::string_view kAsSimple = "nvls.network_step";  // NVLS between nodes is Simple's way

const TransportConstant& named(std::string_view name) {
  if (const TransportConstant* const c = constant_named(name)) return *c;
  throw std::logic_error("no constant " + std::string(name));
}

bool of_network(const TransportConstant& c) {
  return c.name == kAsSimple ||
         std::ranges::any_of(kOfLinks, [&](const OfLink& each) { return each.of_transport == c.name; });
}

/// What the fit moves. A constant of one stack or link, or the mean of several that they are drawn to.
struct Unknown {
  const TransportConstant* constant = nullptr;
  std::string owner;  ///< the stack or link; of a mean, whose it is
  bool link = false, mean = false;
  std::optional<std::size_t> drawn_to;  ///< the mean; none: the start
  double start = 0;                     ///< a logit
};

/// A recording as the fit takes it.
struct Sample {
  const Recording* recording = nullptr;
  Curve curve;  ///< with the points that are played
  double weight = 1;
  Index first_row = 0;
  std::vector<std::size_t> felt{};  ///< unknowns, rising
  std::vector<std::pair<std::vector<double>, std::vector<Time>>> remembered{};
};

class JointProblem {
 public:
  JointProblem(std::span<const Recording> recordings, const JointStart& start, const Sampling& sampling,
               const FitProgress& progress)
      : start_(start), progress_(progress) {
    add_unknowns();
    add_samples(recordings, sampling);
    find_felt();
  }

  Index unknowns() const { return static_cast<Index>(unknowns_.size()); }
  Index points() const { return points_; }
  const std::vector<Unknown>& all() const { return unknowns_; }
  const std::vector<Sample>& samples() const { return samples_; }

  VectorXd start() const {
    VectorXd x(unknowns());
    for (std::size_t i = 0; i < unknowns_.size(); ++i) x[static_cast<Index>(i)] = unknowns_[i].start;
    return x;
  }

  /// Rows: the points, then how far each unknown is from what it is drawn to.
  void residuals(const VectorXd& x, VectorXd& out) {
    std::vector<std::size_t> unknown;  // samples whose times at x nobody knows yet
    std::vector<std::vector<double>> keys(samples_.size());
    for (std::size_t s = 0; s < samples_.size(); ++s) {
      keys[s] = key(samples_[s], x);
      if (!recall(samples_[s], keys[s])) unknown.push_back(s);
    }
    std::vector<std::vector<Time>> found(unknown.size());
    in_parallel(unknown.size(), [&](std::size_t i) {
      const Sample& sample = samples_[unknown[i]];
      found[i] = predict(sample.curve, transport(*sample.recording, x));
    });
    for (std::size_t i = 0; i < unknown.size(); ++i) {
      Sample& sample = samples_[unknown[i]];
      if (sample.remembered.size() == kRemembered) sample.remembered.pop_back();
      sample.remembered.insert(sample.remembered.begin(), {keys[unknown[i]], std::move(found[i])});
    }
    for (const Sample& sample : samples_) {
      const std::vector<Time>& times = sample.remembered.front().second;
      for (std::size_t i = 0; i < times.size(); ++i) {
        out[sample.first_row + static_cast<Index>(i)] =
            sample.weight * counted_error(times[i], sample.curve.points[i].time);
      }
    }
    for (std::size_t i = 0; i < unknowns_.size(); ++i) {
      const Unknown& each = unknowns_[i];
      const auto at = static_cast<Index>(i);
      out[points_ + at] =
          each.drawn_to ? kToOthers * (x[at] - x[static_cast<Index>(*each.drawn_to)]) : kToStart * (x[at] - each.start);
    }
    played_ += unknown.size();
    least_ = std::min(least_, out.squaredNorm());
    if (progress_) progress_(played_, least_);
  }

  /// `tolerance`: of the sum of squares, where to stop.
  LeastSquares squares(double tolerance) {
    LeastSquares problem;
    problem.residuals = points_ + unknowns();
    problem.at = [this](const VectorXd& x, VectorXd& out) { residuals(x, out); };
    problem.precision = kLogitStep * kLogitStep;
    problem.most_evaluations = static_cast<int>(40 * unknowns());
    problem.tolerance = tolerance;
    return problem;
  }

  /// The same of the unknowns `free` alone, the others as in `whole`.
  LeastSquares part(const VectorXd& whole, const std::vector<Index>& free, double tolerance) {
    LeastSquares part = squares(tolerance);
    part.at = [this, moved = VectorXd(whole), free](const VectorXd& x, VectorXd& out) mutable {
      moved(free) = x;
      residuals(moved, out);
    };
    part.most_evaluations = static_cast<int>(40 * free.size());
    return part;
  }

  /// What the constants of a stack or a link are, and the means of all.
  std::vector<std::vector<Index>> parts() const {
    std::vector<std::vector<Index>> all;
    for (const auto& [owner, numbers] : of_owner_) all.emplace_back(numbers.begin(), numbers.end());
    std::vector<Index>& means = all.emplace_back();
    for (std::size_t i = 0; i < unknowns_.size(); ++i)
      if (unknowns_[i].mean) means.push_back(static_cast<Index>(i));
    return all;
  }

  /// What a stack says, over the network of the recording where it crosses one.
  Transport transport(const Recording& recording, const VectorXd& x) const {
    Transport t = start_.stacks.at(recording.stack);
    t.network_of_links = false;
    for (const auto& [name, owner] : {std::pair(&recording.stack, false), std::pair(&recording.link, true)}) {
      const auto found = of_owner_.find({owner, *name});
      if (found == of_owner_.end()) continue;
      for (const std::size_t i : found->second) {
        const TransportConstant& c = *unknowns_[i].constant;
        c.set(t, c.at_logit(x[static_cast<Index>(i)]));
      }
    }
    put_in_order(t);
    t.nvls.network_step = t.network_step;
    return left_by(std::move(t), recording.curve.cluster.nic_port().nccl.plugin);
  }

  const std::vector<std::size_t>& of(bool link, const std::string& owner) const { return of_owner_.at({link, owner}); }

 private:
  std::size_t add(Unknown unknown) {
    if (!unknown.mean) of_owner_[{unknown.link, unknown.owner}].push_back(unknowns_.size());
    unknowns_.push_back(std::move(unknown));
    return unknowns_.size() - 1;
  }

  void add_unknowns() {
    const Transport& any = start_.stacks.begin()->second;
    const auto mean_of = [&](const TransportConstant& c, const std::string& whose, bool link,
                             std::optional<std::size_t> drawn_to, const Transport& start) {
      return add({&c, whose, link, true, drawn_to, c.logit_of(c.get(start))});
    };
    for (const TransportConstant& c : transport_constants()) {
      if (of_network(c)) continue;
      std::optional<std::size_t> mean;
      for (const auto& [name, start] : start_.stacks) {
        if (!c.is_in(start)) continue;
        if (!mean) mean = mean_of(c, "stacks", false, std::nullopt, start);
        add({&c, name, false, false, mean, c.logit_of(c.get(start))});
      }
    }
    std::set<std::string> families;
    for (const auto& [link, family] : start_.families) families.insert(family);
    for (const OfLink& each : kOfLinks) {
      const TransportConstant& c = named(each.of_transport);
      const double start = c.logit_of(c.get(any));
      const std::size_t mean = mean_of(c, "links", true, std::nullopt, any);
      for (const std::string& family : families) {
        const std::size_t of_family = mean_of(c, family, true, mean, any);
        for (const auto& [link, its] : start_.families)
          if (its == family) add({&c, link, true, false, of_family, start});
      }
    }
  }

  void add_samples(std::span<const Recording> recordings, const Sampling& sampling) {
    std::map<std::string, std::vector<const Recording*>> machines;
    for (const Recording& each : recordings)
      if (each.fitted) machines[each.machine].push_back(&each);
    for (const auto& [machine, all] : machines) {
      const std::size_t curves = std::min(all.size(), sampling.curves), first = samples_.size();
      std::size_t seen = 0, points = 0, played = 0;
      for (std::size_t c = 0; c < curves; ++c) points += all[c * all.size() / curves]->curve.points.size();
      for (std::size_t c = 0; c < curves; ++c) {
        const Recording& each = *all[c * all.size() / curves];
        const std::size_t own = each.curve.points.size();
        const std::size_t most = std::max(kLeastOfCurve, sampling.points_times_ranks / each.curve.group.size());
        const std::size_t stride = std::max((points + sampling.points - 1) / sampling.points, (own + most - 1) / most);
        Sample sample{.recording = &each, .curve = each.curve};
        sample.curve.points.clear();
        for (const CurvePoint& point : each.curve.points)
          if (seen++ % stride == 0) sample.curve.points.push_back(point);
        if (sample.curve.points.empty()) continue;
        sample.first_row = points_;
        points_ += static_cast<Index>(sample.curve.points.size());
        played += sample.curve.points.size();
        samples_.push_back(std::move(sample));
      }
      for (std::size_t i = first; i < samples_.size(); ++i)
        samples_[i].weight = std::sqrt(std::min(1.0, kMostOfMachine / static_cast<double>(played)));
    }
  }

  /// From one end of its range to the other a constant moves a curve, or no slope of it is ever asked for. Not by
  /// slopes where the fit begins: a protocol that is nowhere the fastest there may be so elsewhere.
  void find_felt() {
    const VectorXd here = start();
    in_parallel(samples_.size(), [&](std::size_t s) {
      Sample& sample = samples_[s];
      const std::vector<Time> base = predict(sample.curve, transport(*sample.recording, here));
      for (const auto& [name, link] :
           {std::pair(&sample.recording->stack, false), std::pair(&sample.recording->link, true)}) {
        const auto found = of_owner_.find({link, *name});
        if (found == of_owner_.end()) continue;
        for (const std::size_t i : found->second) {
          bool felt = false;
          for (const double end : {kEverywhere.front(), kEverywhere.back()}) {
            VectorXd x = here;
            x[static_cast<Index>(i)] = end;
            const std::vector<Time> there = predict(sample.curve, transport(*sample.recording, x));
            for (std::size_t p = 0; p < base.size(); ++p)
              felt = felt || std::abs(std::log(there[p] / base[p])) > kLeastFelt;
            if (felt) break;
          }
          if (felt) sample.felt.push_back(i);
        }
      }
      std::ranges::sort(sample.felt);
    });
  }

  static std::vector<double> key(const Sample& sample, const VectorXd& x) {
    std::vector<double> values;
    values.reserve(sample.felt.size());
    for (const std::size_t i : sample.felt) values.push_back(x[static_cast<Index>(i)]);
    return values;
  }

  /// Brings what is known of these constants to the front.
  static bool recall(Sample& sample, const std::vector<double>& key) {
    const auto found = std::ranges::find(sample.remembered, key, [](const auto& each) { return each.first; });
    if (found == sample.remembered.end()) return false;
    std::rotate(sample.remembered.begin(), found, found + 1);
    return true;
  }

  const JointStart& start_;
  const FitProgress& progress_;
  std::size_t played_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
  std::vector<Unknown> unknowns_;
  std::map<std::pair<bool, std::string>, std::vector<std::size_t>> of_owner_;
  std::vector<Sample> samples_;
  Index points_ = 0;
};

/// How each constant is told: the half-width of its 95 % interval, a logit; or why it is not.
struct ToldConstants {
  std::vector<double> half;
  std::vector<std::string> why;
};

ToldConstants told_by(const JointProblem& problem, const VectorXd& x, const VectorXd& residuals,
                      const Eigen::MatrixXd& slopes) {
  const std::vector<Unknown>& unknowns = problem.all();
  ToldConstants told{std::vector<double>(unknowns.size()), std::vector<std::string>(unknowns.size())};
  const Eigen::MatrixXd of_points = slopes.topRows(problem.points());
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < unknowns.size(); ++i) {
    if (unknowns[i].mean) continue;
    if (of_points.col(static_cast<Index>(i)).norm() > 0) {
      free.push_back(i);
    } else {
      told.why[i] = "no recording depends on it";
    }
  }
  const double freedom = static_cast<double>(std::max<Index>(problem.points() - static_cast<Index>(free.size()), 1));
  const double variance = residuals.head(problem.points()).squaredNorm() / freedom;
  Intervals intervals;
  intervals.half_widths = [&](const Eigen::MatrixXd& of) {
    return VectorXd(kNormal95 * (variance * inverse_diagonal(of)).cwiseSqrt());
  };
  intervals.covers = [&](std::size_t k, double width) {
    told.half[k] = width;
    return unknowns[k].constant->covers(x[static_cast<Index>(k)], width) / kMostOfBounds;
  };
  intervals.give_up = [&](std::size_t k) { told.why[k] = "its interval covers most of its bounds"; };
  give_up_untold(of_points, free, intervals);
  return told;
}

FittedConstant as_told(const JointProblem& problem, std::size_t i, const VectorXd& x, const ToldConstants& told,
                       std::string name) {
  const Unknown& unknown = problem.all()[i];
  const TransportConstant& c = *unknown.constant;
  const double at = x[static_cast<Index>(i)];
  FittedConstant out;
  out.name = std::move(name);
  out.microseconds = c.is_time();
  out.value = out.low = out.high = c.rounded(c.at_logit(at));
  out.identified = told.why[i].empty();
  out.why = told.why[i];
  if (out.identified) {
    out.low = std::min(out.value, c.at_logit(at - told.half[i]));
    out.high = std::max(out.value, c.at_logit(at + told.half[i]));
  }
  return out;
}

/// Where the order of the protocols has moved it.
void move_to(FittedConstant& constant, double value) {
  if (value == constant.value) return;
  constant.value = value;
  constant.low = std::min(constant.low, value);
  constant.high = std::max(constant.high, value);
}

/// Whose times other than the network's are zero.
Transport of_all_protocols() {
  Transport t;
  t.ll.share = t.ll128.share = t.p2p.share = 0.5;
  return t;
}

/// Each stack and each link by itself, the others as they are: of few constants at once it can be seen from afar which
/// way is best. Until the sum of squares falls by less than a hundredth.
VectorXd one_by_one(JointProblem& problem, VectorXd x) {
  double before = std::numeric_limits<double>::infinity();
  VectorXd out(problem.points() + problem.unknowns());
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (const std::vector<Index>& free : problem.parts())
      x(free) = minimize_widely(problem.part(x, free, 1e-4), x(free), kEverywhere, 1).x;
    problem.residuals(x, out);
    const double sum = out.squaredNorm();
    if (sum > before * 0.99) break;
    before = sum;
  }
  return x;
}

/// What is fitted anew where a machine is left out: the constants of its stacks and links. Others feel it only through
/// the means that all are drawn to.
std::vector<Index> of_machine(const JointProblem& problem, const std::string& machine) {
  std::set<Index> unknowns;
  for (const Sample& sample : problem.samples()) {
    if (sample.recording->machine != machine) continue;
    for (const std::size_t i : problem.of(false, sample.recording->stack)) unknowns.insert(static_cast<Index>(i));
    if (sample.recording->link.empty()) continue;
    for (const std::size_t i : problem.of(true, sample.recording->link)) unknowns.insert(static_cast<Index>(i));
  }
  return {unknowns.begin(), unknowns.end()};
}

/// The joint fit without the rows of one machine.
VectorXd without(JointProblem& problem, const std::string& machine, const VectorXd& whole,
                 const Eigen::MatrixXd& all_slopes) {
  const std::vector<Index> free = of_machine(problem, machine);
  const Eigen::MatrixXd slopes = all_slopes(Eigen::all, free);
  VectorXd keep = VectorXd::Ones(slopes.rows());
  for (const Sample& sample : problem.samples()) {
    if (sample.recording->machine == machine)
      keep.segment(sample.first_row, static_cast<Index>(sample.curve.points.size())).setZero();
  }
  const Eigen::MatrixXd kept = keep.asDiagonal() * slopes;
  const Eigen::LDLT<Eigen::MatrixXd> solver(kept.transpose() * kept);
  VectorXd x = whole, out(slopes.rows());
  problem.residuals(x, out);
  double sum = out.cwiseProduct(keep).squaredNorm();
  for (int step = 0; step < kLeaveOutSteps; ++step) {
    const VectorXd by = -solver.solve(kept.transpose() * out.cwiseProduct(keep));
    double length = 1, next = sum;
    VectorXd to = x;
    for (int half = 0; half < 4 && !(next < sum); ++half, length /= 2) {
      to = x;
      to(free) += length * by;
      problem.residuals(to, out);
      next = out.cwiseProduct(keep).squaredNorm();
    }
    if (!(next < sum)) break;
    const bool enough = next > sum * (1 - 1e-3);
    x = to;
    sum = next;
    if (enough) break;
  }
  return x;
}

}  // namespace

JointFit fit_together(std::span<const Recording> recordings, const JointStart& start, bool leave_out,
                      const FitProgress& progress) {
  JointProblem coarse(recordings, start, kCoarse, progress);
  const VectorXd near = minimize(coarse.squares(1e-2), coarse.start()).x;
  JointProblem problem(recordings, start, kFine, progress);
  const LeastSquares squares = problem.squares(1e-3);
  const VectorXd x = minimize(squares, one_by_one(problem, near)).x;
  VectorXd residuals(squares.residuals);
  problem.residuals(x, residuals);
  const Eigen::MatrixXd slopes = squares.slopes(x);
  const ToldConstants told = told_by(problem, x, residuals, slopes);

  JointFit fit;
  for (const Sample& sample : problem.samples()) fit.machines[sample.recording->machine] += sample.curve.points.size();
  for (const auto& [name, from] : start.stacks) {
    StackFit& stack = fit.stacks[name];
    stack.transport = from;
    for (const TransportConstant& c : transport_constants())
      if (of_network(c)) c.set(stack.transport, c.is_time() ? 0 : 1);
    stack.transport.network_of_links = stack.transport.as_nccl_picks = true;
    stack.transport.buffer = {4 << 20};  // NCCL's default
    for (const std::size_t i : problem.of(false, name)) {
      const TransportConstant& c = *problem.all()[i].constant;
      stack.constants.push_back(as_told(problem, i, x, told, std::string(c.name)));
      c.set(stack.transport, stack.constants.back().value);
    }
    put_in_order(stack.transport);
    for (FittedConstant& each : stack.constants) move_to(each, named(each.name).get(stack.transport));
  }
  for (const auto& [name, family] : start.families) {
    LinkFit& link = fit.links[name];
    const std::vector<std::size_t>& numbers = problem.of(true, name);
    Transport ordered = of_all_protocols();
    for (std::size_t k = 0; k < kOfLinks.size(); ++k) {
      link.constants.push_back(as_told(problem, numbers[k], x, told, std::string(kOfLinks[k].of_link)));
      named(kOfLinks[k].of_transport).set(ordered, link.constants.back().value);
    }
    put_in_order(ordered);
    for (std::size_t k = 0; k < kOfLinks.size(); ++k)
      move_to(link.constants[k], named(kOfLinks[k].of_transport).get(ordered));
    const auto time = [&](std::size_t k) { return from_seconds(link.constants[k].value * 1e-6); };
    link.nccl = {time(0), time(1), time(2), time(3), link.constants[4].value, link.constants[5].value};
  }
  fit.predicted.resize(recordings.size());
  in_parallel(recordings.size(), [&](std::size_t r) {
    const Recording& each = recordings[r];
    Transport stack = fit.stacks.at(each.stack).transport;
    if (!each.link.empty()) stack = over(std::move(stack), fit.links.at(each.link).nccl);
    stack.network_of_links = false;
    fit.predicted[r] = predict(each.curve, left_by(std::move(stack), each.curve.cluster.nic_port().nccl.plugin));
  });
  if (!leave_out) return fit;
  fit.left_out.resize(recordings.size());
  for (const auto& left : fit.machines) {
    const std::string& machine = left.first;
    const VectorXd y = without(problem, machine, x, slopes);
    in_parallel(recordings.size(), [&](std::size_t r) {
      const Recording& each = recordings[r];
      if (each.fitted && each.machine == machine) fit.left_out[r] = predict(each.curve, problem.transport(each, y));
    });
  }
  return fit;
}

}  // namespace stepcast::calibrate
