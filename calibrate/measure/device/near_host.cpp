#include "calibrate/measure/device/near_host.h"

#include <cuda_runtime.h>
#include <sched.h>

#include <array>
#include <cctype>
#include <fstream>
#include <string>

#include "calibrate/measure/host/cpu_list.h"

namespace stepcast::measure {
namespace {

int numa_node(int gpu) {
  std::array<char, 32> id{};
  if (cudaDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), gpu) != cudaSuccess) return -1;
  std::string device = id.data();
  for (char& c : device) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::ifstream stream("/sys/bus/pci/devices/" + device + "/numa_node");
  int node = -1;
  return stream >> node ? node : -1;
}

}  // namespace

std::vector<int> gpu_numa_nodes(int gpus) {
  std::vector<int> nodes;
  for (int gpu = 0; gpu < gpus; ++gpu) nodes.push_back(numa_node(gpu));
  return nodes;
}

void bind_near(int gpu) {
  const int node = numa_node(gpu);
  if (node < 0) return;
  std::ifstream stream("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist");
  std::string list;
  if (!std::getline(stream, list)) return;
  cpu_set_t allowed, wanted;
  CPU_ZERO(&wanted);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  for (const int cpu : cpus_in(list)) {
    if (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &wanted);
  }
  if (CPU_COUNT(&wanted) > 0) sched_setaffinity(0, sizeof(wanted), &wanted);
}

}  // namespace stepcast::measure
