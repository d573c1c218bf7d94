#pragma once

#include <optional>
#include <string>

#include "language/configs/files.h"
#include "scenario/measured_kernels.h"
#include "scenario/scenario.h"

namespace stepcast::language {

/// What `stepcast calibrate` found of a machine (configs/profiles/): its GPUs with the constants measured, what it
/// replaces of a software stack, and copies between GPU and host.
struct Profile {
  std::string name;
  schedules::Gpu gpu;
  std::optional<Node> software;
  schedules::KernelsByMaker kernels;
  schedules::HostLink host_link;
};

const Table<Profile>& profile_table();
const Schema& profile_schema();

/// Replaces the constants of the scenario's GPUs, of their copies from and to the host, and of its software. `place` is
/// where the scenario names the profile. Throws InputError there where its cluster has other GPUs.
void apply(const Profile& profile, const Place& place, Library& library, schedules::Scenario& scenario);

}  // namespace stepcast::language
