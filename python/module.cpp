#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>

#include "app/version.h"
#include "python/calls.h"
#include "python/dict_tree.h"
#include "sim/input_error.h"

namespace stepcast::python {
namespace {

namespace py = pybind11;

Asking asking_of(const py::handle& given) {
  if (py::isinstance<py::dict>(given)) return tree_of(py::reinterpret_borrow<py::dict>(given));
  if (py::hasattr(given, "__fspath__")) return given.attr("__fspath__")().cast<std::string>();
  if (py::isinstance<py::str>(given)) return given.cast<std::string>();
  throw InputError("scenario", "found " + std::string(py::str(py::type::handle_of(given).attr("__name__"))) +
                                   ", expected a dict, or the path of a scenario, a runs table or a folder");
}

std::vector<Asking> all_asked(const py::list& given) {
  std::vector<Asking> all;
  for (const py::handle each : given) all.push_back(asking_of(each));
  return all;
}

/// Calls without the interpreter's lock: other threads of Python go on meanwhile.
template <class Call>
auto unlocked(const Call& call) {
  const py::gil_scoped_release released;
  return call();
}

}  // namespace
}  // namespace stepcast::python

// The names here are for python/stepcast/__init__.py alone, which gives them their defaults and makes objects of JSON.
PYBIND11_MODULE(_stepcast, module) {
  using namespace stepcast::python;
  using Words = std::vector<std::string>;
  module.attr("version") = std::string(stepcast::app::version());
  py::register_exception<stepcast::InputError>(module, "InputError", PyExc_ValueError);

  module.def("text", [](const py::object& value, const std::string& key) { return setting_text(value, key); });
  module.def("run", [](const py::list& asked, const Words& settings, const std::string& simulate, bool unfold,
                       bool transfers, unsigned threads) {
    const std::vector<Asking> all = all_asked(asked);
    return unlocked([&] { return run(all, {settings, simulate, unfold, transfers, threads}); });
  });
  module.def("validate", [](const py::list& asked, const Words& settings, unsigned threads) {
    const std::vector<Asking> all = all_asked(asked);
    return unlocked([&] { return validate(all, settings, threads); });
  });
  module.def("sweep", [](const py::object& asked, const Words& settings, const Words& axes, const Words& zips,
                         const Words& wheres, const std::string& simulate, unsigned threads) {
    const Asking one = asking_of(asked);
    const SweepLines found = unlocked([&] { return sweep(one, {settings, axes, zips, wheres, simulate, threads}); });
    return py::make_tuple(found.titles, found.lines);
  });
  module.def("search", [](const py::object& asked, const Words& settings, const Words& over, const Words& fix,
                          const std::string& objective, std::uint32_t top, std::optional<std::uint64_t> budget,
                          const std::string& within, bool exhaustive, bool front, unsigned threads) {
    const Asking one = asking_of(asked);
    return unlocked([&] {
      return search(one, {settings, over, fix, objective, top, budget, within, exhaustive, front, threads});
    });
  });
  module.def("plan", [](const py::list& asked, const Words& settings, const std::vector<std::uint32_t>& gpus,
                        std::uint32_t simulate_failures, std::uint32_t seed, unsigned threads) {
    const std::vector<Asking> all = all_asked(asked);
    return unlocked([&] { return plan(all, {settings, gpus, simulate_failures, seed, threads}); });
  });
  module.def("layouts", [](const py::object& asked, const Words& settings, const std::string& mesh,
                           const std::string& stages, std::uint32_t groups, unsigned threads) {
    const Asking one = asking_of(asked);
    return unlocked([&] { return layouts(one, {settings, mesh, stages, groups, threads}); });
  });
  module.def("sensitivity", [](const py::object& asked, const Words& settings, unsigned threads) {
    const Asking one = asking_of(asked);
    return unlocked([&] { return sensitivity(one, settings, threads); });
  });
  module.def("diff", [](const py::object& a, const py::object& b, const Words& settings, const Words& settings_a,
                        const Words& settings_b, const std::string& row_a, const std::string& row_b,
                        std::optional<std::uint32_t> stage, std::optional<std::uint32_t> device,
                        const std::string& step, std::uint32_t steps) {
    const Asking of_a = asking_of(a), of_b = asking_of(b);
    return unlocked([&] {
      return diff(of_a, of_b, {settings, settings_a, settings_b, row_a, row_b, stage, device, step, steps});
    });
  });
  module.def("collective", [](const Words& options) { return unlocked([&] { return collective(options); }); });
  module.def("topology", [](const Words& words) { return unlocked([&] { return topology(words); }); });
}
