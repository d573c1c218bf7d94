#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "language/core/tree.h"

/// What the functions of Python's module do, without Python: texts in, the JSON of the command line out. Each throws
/// InputError where the command would end with exit status 2. All are safe to call from several threads at once.
namespace stepcast::python {

/// What is asked about: a path (a scenario, a runs table or a folder), or a scenario that was written as a dict.
using Asking = std::variant<std::string, language::Node>;

/// As the options of `stepcast run` of the same names.
struct RunCall {
  std::vector<std::string> settings{};  ///< as --set: "parallelism.tensor=8"
  std::string simulate{};               ///< empty: as the command does without --simulate
  bool unfold = false;
  bool transfers = false;  ///< --detail transfers
  unsigned threads = 0;    ///< 0: as many as the machine has
};

/// `stepcast run --format json`.
std::string run(const std::vector<Asking>& asked, const RunCall& call);

/// `stepcast validate --format json`; of nothing: the published runs.
std::string validate(const std::vector<Asking>& asked, const std::vector<std::string>& settings, unsigned threads);

/// As the options of `stepcast sweep` of the same names.
struct SweepCall {
  std::vector<std::string> settings{}, axes{}, zips{}, wheres{};
  std::string simulate{};
  unsigned threads = 0;
};

/// `stepcast sweep --format jsonl`: a line for each point, and the titles of the columns, axes first.
struct SweepLines {
  std::vector<std::string> titles, lines;
};
SweepLines sweep(const Asking& asked, const SweepCall& call);

/// As the options of `stepcast search` of the same names.
struct SearchCall {
  std::vector<std::string> settings{}, over{}, fix{};
  std::string objective = "step_time";
  std::uint32_t top = 10;
  std::optional<std::uint64_t> budget{};
  std::string within{};  ///< a time, memory, both, or nothing
  bool exhaustive = false, front = false;
  unsigned threads = 0;
};

/// `stepcast search --format json`.
std::string search(const Asking& asked, const SearchCall& call);

/// As the options of `stepcast plan` of the same names.
struct PlanCall {
  std::vector<std::string> settings{};
  std::vector<std::uint32_t> gpus{};
  std::uint32_t simulate_failures = 0, seed = 1;
  unsigned threads = 0;
};

/// `stepcast plan --format json`.
std::string plan(const std::vector<Asking>& asked, const PlanCall& call);

/// As the options of `stepcast layouts` of the same names; 0 and nothing: as the command does without them.
struct LayoutsCall {
  std::vector<std::string> settings{};
  std::string mesh{}, stages{};
  std::uint32_t groups = 0;
  unsigned threads = 0;
};

/// `stepcast layouts --format json`. Throws std::runtime_error where the solver is missing.
std::string layouts(const Asking& asked, const LayoutsCall& call);

/// `stepcast sensitivity --format json`.
std::string sensitivity(const Asking& asked, const std::vector<std::string>& settings, unsigned threads);

/// As the options of `stepcast diff` of the same names, of A and of B.
struct DiffCall {
  std::vector<std::string> settings{}, settings_a{}, settings_b{};
  std::string row_a{}, row_b{};
  std::optional<std::uint32_t> stage{}, device{};
  std::string step{};
  std::uint32_t steps = 1;
};

/// `stepcast diff --format json`.
std::string diff(const Asking& a, const Asking& b, const DiffCall& call);

/// `stepcast collective --format json`, with these options of it ("--node=dgx-h100").
std::string collective(const std::vector<std::string>& options);

/// `stepcast topology --json`, with these words of it ("--nodes=2", "--", "dgx-h100").
std::string topology(const std::vector<std::string>& words);

}  // namespace stepcast::python
