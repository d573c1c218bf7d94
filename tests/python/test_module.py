"""The module itself: its page, its hints, threads, and that a loop leaks nothing."""

import ast
import concurrent.futures
import doctest
import inspect
import os
import sys

import pytest

import stepcast

SMALL = {
    "cluster": {"node": "dgx-a100-80gb"},
    "model": "bert-large",
    "training": {"global_batch": 256, "micro_batch": 8, "sequence": 512},
}


def test_the_examples_of_the_page_are_right(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = doctest.testfile(str(source / "docs/python.md"), module_relative=False)
    assert page.attempted > 10
    assert page.failed == 0


def test_the_examples_of_the_docstrings_are_right():
    module = doctest.testmod(stepcast)
    assert module.attempted > 5
    assert module.failed == 0


def test_the_hints_name_the_same_arguments(source):
    hints = ast.parse((source / "python/stepcast/__init__.pyi").read_text())
    told = {node.name: node for node in hints.body if isinstance(node, ast.FunctionDef)}
    public = [name for name in stepcast.__all__ if inspect.isfunction(getattr(stepcast, name))]
    assert sorted(told) == sorted(public)
    for name in public:
        arguments = told[name].args
        assert [each.arg for each in arguments.args + arguments.kwonlyargs] == list(
            inspect.signature(getattr(stepcast, name)).parameters
        )
        assert getattr(stepcast, name).__doc__


def test_threads_have_the_answers_that_one_has():
    scenarios = [{**SMALL, "training.micro_batch": size} for size in (1, 2, 4, 8, 16, 32)] * 4
    alone = [stepcast.run(scenario) for scenario in scenarios]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(stepcast.run, scenarios)) == alone


class Array:
    """As numpy's numbers and arrays are: tolist() makes Python's own of them."""

    def __init__(self, held):
        self.held = held

    def tolist(self):
        return self.held


def test_numbers_and_arrays_of_numpy_are_numbers_and_lists():
    sizes = {"global_batch": Array(256), "micro_batch": Array(8), "sequence": Array(512)}
    assert stepcast.run({**SMALL, "training": sizes}) == stepcast.run(SMALL)
    assert stepcast.run(SMALL, set={"training.micro_batch": Array(4)}) == stepcast.run(
        {**SMALL, "training.micro_batch": 4}
    )
    axes = {"training.micro_batch": [Array(2), Array(4)]}
    assert stepcast.sweep(SMALL, axes)["training.micro_batch"] == [2, 4]
    with pytest.raises(stepcast.InputError, match="micro_batch: found a list"):
        stepcast.run({**SMALL, "training.micro_batch": Array([2, 4])})


def resident_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_loop_leaks_nothing():
    """STEPCAST_PYTHON_RUNS=10000 runs it as often. A leak of one result a run would be 10 KB each."""
    runs = int(os.environ.get("STEPCAST_PYTHON_RUNS", 300))
    wrong = {**SMALL, "training": {"global_batch": "four"}}

    def loop(times):
        for _ in range(times):
            stepcast.run(SMALL)
            with pytest.raises(stepcast.InputError):
                stepcast.run(wrong)

    loop(100)
    before = resident_bytes()
    loop(runs)
    grown = resident_bytes() - before
    print(f"{runs} runs: {grown} bytes more")
    assert grown < (1 << 20) + 1000 * runs
