#include "topology/import/smi_matrix.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "topology/text.h"

namespace stepcast::topology {

namespace {

constexpr std::uint32_t kMostNvlinks = 18;  // of one GPU: H100 and B200
constexpr std::size_t kMostDevices = 1024, kMostSockets = 64;

struct SmiMatrix {
  std::vector<std::string> names;                ///< GPU0, ..., then NICs
  std::vector<std::vector<std::string>> cells;   ///< [row][column]
  std::vector<std::optional<std::string>> numa;  ///< [row]: its NUMA node, where stated
};

bool is_gpu_name(const std::string& name) { return name.starts_with("GPU") && parse_number(name.substr(3)); }

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// 12 of "NV12"; 0 of any other word.
std::uint32_t nvlinks_of(const std::string& word) {
  return word.starts_with("NV") ? parse_number(word.substr(2)).value_or(0) : 0;
}

bool is_path(const std::string& word) {
  static const std::vector<std::string> kinds = {"X", "PIX", "PXB", "PHB", "NODE", "SYS"};
  const std::uint32_t nvlinks = nvlinks_of(word);
  return std::ranges::find(kinds, word) != kinds.end() || (nvlinks > 0 && nvlinks <= kMostNvlinks);
}

/// GPU0, ..., then NICs, each once.
std::vector<std::string> read_head(const std::vector<std::string>& words, const std::string& at) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const std::string& word : words) {
    if (word == "CPU") break;  // "CPU Affinity"
    if (names.size() == kMostDevices) throw InputError(at, "found more than 1024 GPUs and NICs, expected fewer");
    if (!known.insert(word).second) throw InputError(at, "found the column " + in_quotes(word) + " a second time");
    names.push_back(word);
  }
  return names;
}

/// What `names[from]` sees, every word one that is possible there.
void check_row(const std::vector<std::string>& row, const std::vector<std::string>& names, std::size_t from,
               const std::string& at) {
  for (std::size_t to = 0; to < row.size(); ++to) {
    const std::string& word = row[to];
    const std::string found =
        "found " + in_quotes(word) + " between " + in_quotes(names[from]) + " and " + in_quotes(names[to]);
    if (!is_path(word)) {
      throw InputError(at, "found " + in_quotes(word) + ", expected X, NV1 to NV18, PIX, PXB, PHB, NODE or SYS");
    }
    if ((word == "X") != (from == to)) throw InputError(at, found + ", expected X for the device itself and no other");
    if (nvlinks_of(word) > 0 && !(is_gpu_name(names[from]) && is_gpu_name(names[to]))) {
      throw InputError(at, found + ", expected NVLinks between GPUs only");
    }
  }
}

/// nvidia-smi underlines the heading, on whatever it prints to: "\x1b[4mGPU0 ... \x1b[0m".
std::string without_escapes(std::string_view text) {
  std::string plain;
  while (true) {
    const std::size_t escape = text.find("\x1b[");
    plain += text.substr(0, escape);
    if (escape == text.npos) return plain;
    const std::size_t end = text.find_first_not_of("0123456789;", escape + 2);
    if (end == text.npos) return plain;
    text.remove_prefix(end + 1);
  }
}

/// Two devices see each other alike.
void check_symmetric(const SmiMatrix& matrix, const std::string& place) {
  for (std::size_t from = 0; from < matrix.names.size(); ++from) {
    for (std::size_t to = 0; to < from; ++to) {
      const std::string &there = matrix.cells[to][from], &back = matrix.cells[from][to];
      if (there == back) continue;
      throw InputError(place, "found " + in_quotes(there) + " from " + in_quotes(matrix.names[to]) + " to " +
                                  in_quotes(matrix.names[from]) + " and " + in_quotes(back) +
                                  " back, expected the same both ways");
    }
  }
}

SmiMatrix read(std::string_view text, const std::string& place) {
  SmiMatrix matrix;
  std::istringstream in{without_escapes(text)};
  std::size_t number = 0;
  bool numa = false;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) {
      if (!matrix.cells.empty()) break;
      continue;
    }
    if (matrix.names.empty()) {
      if (!is_gpu_name(words[0])) continue;
      matrix.names = read_head(words, place + ":" + std::to_string(number));
      numa = line.find("NUMA Affinity") != std::string::npos;
      continue;
    }
    const std::string at = place + ":" + std::to_string(number);
    if (matrix.cells.size() == matrix.names.size()) break;
    const std::string& expected = matrix.names[matrix.cells.size()];
    if (words[0] != expected)
      throw InputError(at, "found the row " + in_quotes(words[0]) + ", expected " + in_quotes(expected));
    if (words.size() < matrix.names.size() + 1) {
      throw InputError(
          at, "found " + std::to_string(words.size() - 1) + " paths, expected " + std::to_string(matrix.names.size()));
    }
    std::vector<std::string> row(words.begin() + 1,
                                 words.begin() + 1 + static_cast<std::ptrdiff_t>(matrix.names.size()));
    check_row(row, matrix.names, matrix.cells.size(), at);
    // Behind the paths: the processor's cores, then the NUMA node.
    const std::size_t numa_column = matrix.names.size() + 2;
    matrix.numa.push_back(numa && words.size() > numa_column ? std::optional(words[numa_column]) : std::nullopt);
    matrix.cells.push_back(std::move(row));
  }
  if (matrix.names.empty())
    throw InputError(place, "found no row that starts with GPU0, expected what `nvidia-smi topo -m` prints");
  // Some people paste the GPUs' rows alone: a NIC's row is then what the GPUs see, and NICs do not see each other.
  const auto gpus = static_cast<std::size_t>(std::ranges::count_if(matrix.names, is_gpu_name));
  if (matrix.cells.size() == gpus && gpus < matrix.names.size()) {
    for (std::size_t nic = gpus; nic < matrix.names.size(); ++nic) {
      std::vector<std::string> row;
      for (std::size_t other = 0; other < gpus; ++other) row.push_back(matrix.cells[other][nic]);
      row.resize(matrix.names.size(), "NODE");
      row[nic] = "X";
      matrix.cells.push_back(std::move(row));
      matrix.numa.emplace_back();
    }
  }
  if (matrix.cells.size() != matrix.names.size()) {
    throw InputError(place, "found " + std::to_string(matrix.cells.size()) + " rows, expected " +
                                std::to_string(matrix.names.size()));
  }
  check_symmetric(matrix, place);
  return matrix;
}

class MatrixImporter {
 public:
  MatrixImporter(const SmiMatrix& matrix, const SmiLinks& links, const std::string& place)
      : m_(matrix), links_(links), place_(place) {
    node_.name = place;
    node_.builder = "graph";
    node_.gpus = 0;
    node_.source = "nvidia-smi topo -m, " + place;
  }

  NodeSpec run() {
    place_on_sockets();
    for (std::size_t s = 0; s < sockets_; ++s) {
      node_.devices.push_back({cpu(s), "cpu"});
      for (std::size_t other = 0; other < s; ++other) node_.links.push_back({cpu(other), cpu(s), links_.socket, 1});
    }
    hang_devices();
    join_nvlinks();
    node_.sockets = static_cast<std::uint32_t>(sockets_);
    return std::move(node_);
  }

 private:
  static std::string cpu(std::size_t socket) { return "cpu " + std::to_string(socket); }
  std::size_t size() const { return m_.names.size(); }
  bool gpu(std::size_t i) const { return is_gpu_name(m_.names[i]); }

  void place_on_sockets() {
    std::map<std::string, std::size_t> known;
    socket_.assign(size(), 0);
    for (std::size_t i = 0; i < size(); ++i) {
      if (sockets_ > kMostSockets) {
        throw InputError(place_, "found more than 64 processors (NUMA nodes, or devices that are SYS to each other), " +
                                     std::string("expected fewer"));
      }
      if (m_.numa[i]) {
        socket_[i] = known.emplace(*m_.numa[i], known.size()).first->second;
        sockets_ = std::max(sockets_, known.size());
        continue;
      }
      std::vector<bool> far(sockets_ + 1);
      for (std::size_t j = 0; j < i; ++j) {
        if (m_.cells[i][j] == "SYS") far[socket_[j]] = true;
      }
      const auto s = static_cast<std::size_t>(std::ranges::find(far, false) - far.begin());
      socket_[i] = s;
      sockets_ = std::max(sockets_, s + 1);
    }
  }

  /// Devices that see each other as one of `kinds` are one group, named by its first.
  std::vector<std::size_t> groups(const std::vector<std::string>& kinds) const {
    std::vector<std::size_t> group(size());
    for (std::size_t i = 0; i < size(); ++i) {
      group[i] = i;
      for (std::size_t j = 0; j < i; ++j) {
        if (socket_[i] != socket_[j] || std::ranges::find(kinds, m_.cells[i][j]) == kinds.end()) continue;
        const std::size_t from = std::max(group[i], group[j]), to = std::min(group[i], group[j]);
        if (from != to) std::ranges::replace(group, from, to);
      }
    }
    return group;
  }

  void hang_devices() {
    const std::vector<std::size_t> leaf = groups({"PIX"}), root = groups({"PIX", "PXB"});
    std::map<std::size_t, std::string> roots, leaves;
    const auto add_switch = [&](const std::string& above) {
      const std::string name = "pcie switch " + std::to_string(switches_++);
      node_.devices.push_back({name, "pcie-switch"});
      node_.links.push_back({above, name, links_.pcie, 1});
      return name;
    };
    for (std::size_t i = 0; i < size(); ++i) {
      const bool alone = std::ranges::count(root, root[i]) == 1;
      const bool on_cpu = alone && std::ranges::find(m_.cells[i], "PHB") != m_.cells[i].end();
      std::string above = cpu(socket_[i]);
      if (!on_cpu) {
        if (!roots.contains(root[i])) roots[root[i]] = add_switch(above);
        above = roots[root[i]];
        bool two_levels = false;
        for (std::size_t j = 0; j < size(); ++j) two_levels = two_levels || (root[j] == root[i] && leaf[j] != leaf[i]);
        if (two_levels) {
          if (!leaves.contains(leaf[i])) leaves[leaf[i]] = add_switch(above);
          above = leaves[leaf[i]];
        }
      }
      const std::string name = gpu(i) ? "gpu " + m_.names[i].substr(3) : m_.names[i];
      node_.devices.push_back({name, gpu(i) ? "gpu" : "nic"});
      node_.links.push_back({above, name, links_.pcie, 1});
      ++(gpu(i) ? node_.gpus : node_.nics);
    }
  }

  std::uint32_t nvlinks(std::size_t i, std::size_t j) const { return nvlinks_of(m_.cells[i][j]); }

  void join_nvlinks() {
    std::vector<std::uint32_t> all(size()), widest(size());
    for (std::size_t i = 0; i < size(); ++i) {
      for (std::size_t j = 0; j < size(); ++j) {
        all[i] += nvlinks(i, j);
        widest[i] = std::max(widest[i], nvlinks(i, j));
      }
    }
    const bool switched = std::ranges::any_of(all, [](std::uint32_t links) { return links > kMostNvlinks; });
    if (switched) node_.devices.push_back({"nvswitch", "nvswitch"});
    for (std::size_t i = 0; i < size(); ++i) {
      if (switched && widest[i] > 0) node_.links.push_back({name(i), "nvswitch", links_.nvlink, widest[i]});
      for (std::size_t j = i + 1; j < size() && !switched; ++j) {
        if (nvlinks(i, j) > 0) node_.links.push_back({name(i), name(j), links_.nvlink, nvlinks(i, j)});
      }
    }
  }
  std::string name(std::size_t i) const { return "gpu " + m_.names[i].substr(3); }

  const SmiMatrix& m_;
  const SmiLinks& links_;
  const std::string& place_;
  NodeSpec node_;
  std::vector<std::size_t> socket_;
  std::size_t sockets_ = 1, switches_ = 0;
};

}  // namespace

NodeSpec import_smi_matrix(std::string_view text, const SmiLinks& links, const std::string& place) {
  const SmiMatrix matrix = read(text, place);
  NodeSpec node = MatrixImporter(matrix, links, place).run();
  return node;
}

}  // namespace stepcast::topology
