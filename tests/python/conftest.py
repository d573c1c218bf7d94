"""Where things are: told by ctest (tests/CMakeLists.txt), which runs this with the interpreter that the module is for."""

import json
import os
import pathlib
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def source():
    return SOURCE


@pytest.fixture(scope="session")
def program():
    """Runs the command line: (exit status, standard output, standard error)."""

    def run(*words, folder=SOURCE):
        done = subprocess.run([os.environ["STEPCAST_PROGRAM"], *map(str, words)], cwd=folder, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture(scope="session")
def printed(program):
    """What the command line prints as JSON."""
    return lambda *words: json.loads(program(*words)[1])


@pytest.fixture
def scenario():
    return {
        "cluster": {"node": "dgx-a100-80gb", "nodes": 8},
        "model": "gpt3-175b",
        "training": {"global_batch": 64, "micro_batch": 1, "sequence": 2048},
        "parallelism": {"tensor": 8, "pipeline": 8},
        "recompute": "full",
    }
