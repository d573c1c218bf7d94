// Any bytes as Chakra traces of some ranks, with what stands beside them: read and run on two machines of eight GPUs,
// or refused. The files stand one behind the other, each before a line "-- NAME": trace, groups or details.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "app/chakra_module/trace_bytes.h"
#include "language/chakra/program_of.h"
#include "language/core/yaml.h"
#include "language/questions.h"
#include "sim/executor.h"
#include "tests/fuzz/refused.h"
#include "workload/run.h"

namespace stepcast::test {
namespace {

constexpr std::size_t kMostTasks = 2000;  // to be run: more take long, and find no more

const workload::Machine& two_nodes() {
  static const workload::Machine machine = [] {
    language::Library library(std::filesystem::path(STEPCAST_SOURCE_DIR "/configs"));
    const schedules::ClusterSpec c =
        language::read_question(language::parse_yaml("cluster: {node: dgx-a100-80gb, nodes: 2}\n"
                                                     "model: gpt2-124m\n"
                                                     "training: {global_batch: 16, micro_batch: 1, sequence: 1024}\n",
                                                     "fuzz"),
                                {}, library)
            .scenario.cluster;
    return workload::Machine({c.node, c.fabric, c.gpus, c.allocation, {}});
  }();
  return machine;
}

/// The files of the input. Throws InputError for a trace that is none.
language::Traces traces_in(std::string_view input) {
  language::Traces traces;
  traces.prefix = "fuzz";
  traces.groups_file = "fuzz.json";
  traces.details_file = "fuzz.stepcast.json";
  const auto take = [&](std::string_view name, std::string_view bytes) {
    std::string why;
    if (name == "groups")
      traces.groups = bytes;
    else if (name == "details")
      traces.details = bytes;
    else if (!stepcast_read_trace(std::string(bytes), traces.traces.emplace_back(), why))
      throw InputError("fuzz", why);
  };
  constexpr std::string_view kNext = "\n-- ";
  while (!input.empty()) {
    const std::size_t end = input.find(kNext);
    if (end == std::string_view::npos) break;
    const std::size_t line = std::min(input.find('\n', end + 1), input.size());
    take(input.substr(end + kNext.size(), line - end - kNext.size()), input.substr(0, end));
    input.remove_prefix(std::min(line + 1, input.size()));
  }
  return traces;
}

void run_traces(std::string_view input) {
  const language::Traces traces = traces_in(input);
  if (traces.traces.empty() || traces.traces.size() > two_nodes().cluster().gpus()) return;
  const language::TracedProgram program = language::program_of(traces);
  if (program.tasks.size() > kMostTasks) return;
  try {
    workload::run(program.recorded, two_nodes());
  } catch (const sim::CyclicTasks& circle) {
    language::throw_circle(traces, program, circle.cycle);
  } catch (const std::overflow_error&) {  // takes too long
  }
}

}  // namespace
}  // namespace stepcast::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  stepcast::test::refused([&] { stepcast::test::run_traces({reinterpret_cast<const char*>(data), size}); });
  return 0;
}
