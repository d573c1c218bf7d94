#include "calibrate/fit/transport_constants.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace stepcast::calibrate {
namespace {

using collectives::Protocol;
using collectives::Transport;

constexpr TransportConstant of(std::string_view name, Time Transport::*time, double high) {
  return {.name = name, .time = time, .high = high};
}
constexpr TransportConstant of(std::string_view name, double Transport::*share, double low) {
  return {.name = name, .share = share, .low = low};
}
constexpr TransportConstant of(std::string_view name, Protocol Transport::*protocol, Time Protocol::*time,
                               double high) {
  return {.name = name, .protocol = protocol, .protocol_time = time, .high = high};
}
constexpr TransportConstant of(std::string_view name, Protocol Transport::*protocol, double Protocol::*share,
                               double low, double high = 1) {
  return {.name = name, .protocol = protocol, .protocol_share = share, .low = low, .high = high};
}

using collectives::kMostOfLl;
using collectives::kMostOfLl128;
using T = Transport;
using P = Protocol;
constexpr std::array kTransportConstants = {
    of("launch", &T::launch, 150),
    of("ramp", &T::ramp, 400),
    of("nvlink_step", &T::nvlink_step, 20),
    of("pcie_step", &T::pcie_step, 40),
    of("host_step", &T::host_step, 60),
    of("network_step", &T::network_step, 120),
    of("nvlink_efficiency", &T::nvlink_efficiency, 0.3),
    of("network_efficiency", &T::network_efficiency, 0.1),
    of("host_bridge_efficiency", &T::host_bridge_efficiency, 0.3),
    of("tree_efficiency", &T::tree_efficiency, 0.2),
    of("issue", &T::issue, 30),
    of("own_copy", &T::own_copy, 0.0),
    of("ll128.launch", &T::ll128, &P::launch, 100),
    of("ll128.ramp", &T::ll128, &P::ramp, 200),
    of("ll128.nvlink_step", &T::ll128, &P::nvlink_step, 10),
    of("ll128.pcie_step", &T::ll128, &P::pcie_step, 20),
    of("ll128.host_step", &T::ll128, &P::host_step, 40),
    of("ll128.network_step", &T::ll128, &P::network_step, 80),
    of("ll128.share", &T::ll128, &P::share, 0.1, kMostOfLl128),
    of("ll.launch", &T::ll, &P::launch, 60),
    of("ll.ramp", &T::ll, &P::ramp, 200),
    of("ll.nvlink_step", &T::ll, &P::nvlink_step, 10),
    of("ll.pcie_step", &T::ll, &P::pcie_step, 20),
    of("ll.host_step", &T::ll, &P::host_step, 40),
    of("ll.network_step", &T::ll, &P::network_step, 60),
    of("ll.share", &T::ll, &P::share, 0.02, kMostOfLl),
    of("ll.network_share", &T::ll, &P::network_share, 0.05),
    of("nvls.launch", &T::nvls, &P::launch, 100),
    of("nvls.ramp", &T::nvls, &P::ramp, 200),
    of("nvls.nvlink_step", &T::nvls, &P::nvlink_step, 20),
    of("nvls.network_step", &T::nvls, &P::network_step, 60),
    of("nvls.share", &T::nvls, &P::share, 0.3),
    of("p2p.launch", &T::p2p, &P::launch, 100),
    of("p2p.ramp", &T::p2p, &P::ramp, 200),
    of("p2p.message", &T::p2p, &P::message, 3),
    of("p2p.nvlink_step", &T::p2p, &P::nvlink_step, 20),
    of("p2p.pcie_step", &T::p2p, &P::pcie_step, 40),
    of("p2p.host_step", &T::p2p, &P::host_step, 60),
    of("p2p.network_step", &T::p2p, &P::network_step, 120),
    of("p2p.share", &T::p2p, &P::share, 0.3),
};

}  // namespace

double TransportConstant::get(const Transport& t) const {
  if (time != nullptr) return to_seconds(t.*time) * 1e6;
  if (share != nullptr) return t.*share;
  if (protocol_time != nullptr) return to_seconds((t.*protocol).*protocol_time) * 1e6;
  return (t.*protocol).*protocol_share;
}

void TransportConstant::set(Transport& t, double value) const {
  if (time != nullptr) {
    t.*time = from_seconds(value * 1e-6);
  } else if (share != nullptr) {
    t.*share = value;
  } else if (protocol_time != nullptr) {
    (t.*protocol).*protocol_time = from_seconds(value * 1e-6);
  } else {
    (t.*protocol).*protocol_share = value;
  }
}

double TransportConstant::rounded(double value) const {
  const double parts = is_time() ? 1e3 : 1e4;
  return std::round(value * parts) / parts;
}

double TransportConstant::at_logit(double logit) const { return low + (high - low) / (1 + std::exp(-logit)); }

double TransportConstant::logit_of(double value) const {
  const double part = std::clamp((value - low) / (high - low), 1e-3, 1 - 1e-3);
  return std::log(part / (1 - part));
}

double TransportConstant::covers(double logit, double half) const {
  return (at_logit(logit + half) - at_logit(logit - half)) / (high - low);
}

bool TransportConstant::is_in(const Transport& transport) const {
  return protocol == nullptr || (transport.*protocol).share > 0;
}

void put_in_order(Transport& t) {
  const auto no_sooner = [](auto& later, const Protocol& sooner) {
    later.launch = std::max(later.launch, sooner.launch);
    later.ramp = std::max(later.ramp, sooner.ramp);
    later.nvlink_step = std::max(later.nvlink_step, sooner.nvlink_step);
    later.pcie_step = std::max(later.pcie_step, sooner.pcie_step);
    later.host_step = std::max(later.host_step, sooner.host_step);
    later.network_step = std::max(later.network_step, sooner.network_step);
  };
  if (t.ll.share > 0 && t.ll128.share > 0) no_sooner(t.ll128, t.ll);
  if (t.ll.share > 0) no_sooner(t, t.ll);
  if (t.ll128.share > 0) no_sooner(t, t.ll128);
}

double counted_error(Time predicted, Time measured) {
  constexpr double kOdd = 0.1;
  const double error = std::log(predicted / measured), odd = error / kOdd;
  const double cost = kOdd * kOdd * std::log1p(odd * odd);
  return std::copysign(std::sqrt(cost), error);
}

const TransportConstant* constant_named(std::string_view name) {
  const auto found = std::ranges::find(kTransportConstants, name, &TransportConstant::name);
  return found == kTransportConstants.end() ? nullptr : &*found;
}

std::span<const TransportConstant> transport_constants() { return kTransportConstants; }

}  // namespace stepcast::calibrate
