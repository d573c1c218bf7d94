"""Forecasts of distributed deep-learning training: how long a step takes, where time and memory go.

    >>> import stepcast
    >>> scenario = {
    ...     "cluster": {"node": "dgx-a100-80gb", "nodes": 8},
    ...     "model": "gpt3-175b",
    ...     "training": {"global_batch": 64, "micro_batch": 1, "sequence": 2048},
    ...     "parallelism": {"tensor": 8, "pipeline": 8},
    ...     "recompute": "full",
    ... }
    >>> stepcast.run(scenario)["results"][0]["error"] is None
    True

A scenario is a dict of the same keys as a scenario file, or the path of one. Keys may be nested or have dots in them,
{"parallelism.tensor": 8}; those with dots are laid over the others, as --set does. What is wrong with a scenario is an
InputError, with the text that the command line prints. A plan that does not fit in memory is none: the result says so.
docs/python.md has more.
"""

import json as _json

from . import _stepcast
from ._stepcast import InputError

__version__ = _stepcast.version
__all__ = ["InputError", "collective", "diff", "layouts", "plan", "run", "search", "sensitivity", "sweep", "topology", "validate"]


def _listed(scenarios):
    return list(scenarios) if isinstance(scenarios, (list, tuple)) else [scenarios]


def _settings(given):
    """Words of --set, out of a dict of keys and values or a list of such words."""
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    if hasattr(given, "items"):
        return [f"{key}={_stepcast.text(value, str(key))}" for key, value in given.items()]
    return list(given)


def _in_quotes(text):
    return f'"{text}"' if "," in text and not text.startswith(("[", "{")) else text


def _values(key, values):
    """A word of --axis or --over: values of a list, or a range that stands in a text as the command line has it."""
    if isinstance(values, str):
        return f"{key}={values}"
    return f"{key}=" + ",".join(_in_quotes(_stepcast.text(value, str(key))) for value in values)


def _words(given):
    if given is None:
        return []
    return [given] if isinstance(given, str) else list(given)


def _option(name, value):
    """An option of the command line with its value; none where nothing is given."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        value = ",".join(_stepcast.text(each, name) for each in value)
    elif hasattr(value, "__fspath__"):
        value = value.__fspath__()
    return [f"--{name.replace('_', '-')}={_stepcast.text(value, name)}"]


def _options(**given):
    return [word for name, value in given.items() for word in _option(name, value)]


def run(scenario, *, set=None, simulate=None, unfold=False, detail=None, threads=0):
    """Forecasts one training step: the object that `stepcast run --format json` prints.

    scenario: a dict, the path of a scenario file, a runs table or a folder, or a list of these.
    set: keys laid over every scenario, {"parallelism.tensor": 4} or ["parallelism.tensor=4"]; None takes a key away.
    simulate: "all", "fitting" (not what needs far more memory than there is) or "none" (say only what fits).
    unfold, detail: as the options of the command; detail is None or "transfers".
    threads: scenarios that are forecast at the same time; 0: as many as the machine has.

        >>> import stepcast
        >>> answer = stepcast.run({"cluster.node": "dgx-a100-80gb", "model": "bert-large",
        ...                        "training": {"global_batch": 256, "micro_batch": 8, "sequence": 512}})
        >>> answer["results"][0]["step_time_s"] > 0
        True
    """
    if detail not in (None, "transfers"):
        raise InputError(f"detail: found {detail!r}, expected None or 'transfers'")
    return _json.loads(
        _stepcast.run(_listed(scenario), _settings(set), simulate or "", unfold, detail is not None, threads))


def validate(scenarios=(), *, set=None, threads=0):
    """Puts predicted beside measured, for scenarios with a `measured` block; without scenarios: the published runs.

    Returns the object that `stepcast validate --format json` prints: its "rows" are a list that pandas.DataFrame takes.
    """
    return _json.loads(_stepcast.validate(_listed(scenarios), _settings(set), threads))


def sweep(scenario, axes, *, set=None, zip=None, where=None, simulate=None, threads=0):
    """Forecasts a scenario with every value of each axis: a dict of columns, which pandas.DataFrame takes.

    axes: {"parallelism.tensor": [1, 2, 4, 8]}; a text is a range as --axis takes it, "1:8:x2".
    zip: "KEY,KEY" of axes that step together, or a list of such. where: a condition that points have to meet, or a list.

    Columns are `point` (from 1), the axes, the quantities of a result, `fits` and `error`; None: there is no such value.

        >>> import stepcast
        >>> columns = stepcast.sweep({"cluster.node": "dgx-a100-80gb", "model": "bert-large",
        ...                           "training": {"global_batch": 256, "micro_batch": 8, "sequence": 512}},
        ...                          {"parallelism.tensor": [1, 2, 4]})
        >>> columns["parallelism.tensor"]
        [1, 2, 4]
    """
    axes = [_values(key, values) for key, values in axes.items()]
    titles, lines = _stepcast.sweep(scenario, _settings(set), axes, _words(zip), _words(where), simulate or "", threads)
    columns = {title: [] for title in ["point", *titles]}
    for line in lines:
        row = _json.loads(line)
        row.update(row.pop("settings"))
        for title, column in columns.items():
            column.append(row[title])
    return columns


def search(scenario, *, set=None, objective="step_time", over=None, fix=None, top=10, budget=None, within="",
           exhaustive=False, front=False, threads=0):
    """Finds the best parallel plans of a scenario: a dict with what `stepcast search --format json` prints.

    Its "plans" are a dict of columns, which pandas.DataFrame takes: rank, step_time_s, ..., and a column for each key of
    the plan's settings. over: {"parallelism.tensor": [1, 2, 4, 8]}, the values that are tried. fix: a key, or some, that
    keep the scenario's value. The other arguments are the options of the command.

        >>> import stepcast
        >>> found = stepcast.search({"cluster.node": "dgx-a100-80gb", "model": "bert-large",
        ...                          "training": {"global_batch": 256, "micro_batch": 8, "sequence": 512}},
        ...                         over={"parallelism.tensor": [1, 2]}, top=3)
        >>> found["plans"]["rank"]
        [1, 2, 3]
    """
    over = [_values(key, values) for key, values in (over or {}).items()]
    found = _json.loads(
        _stepcast.search(scenario, _settings(set), over, _words(fix), objective, top, budget, within,
                         exhaustive, front, threads))
    columns = {}
    for number, plan in enumerate(found["plans"]):
        plan.update(plan.pop("settings"))
        for title, value in plan.items():
            columns.setdefault(title, [None] * number).append(value)
        for column in columns.values():
            column.extend([None] * (number + 1 - len(column)))
    found["plans"] = columns
    return found


def plan(scenario, *, set=None, gpus=(), simulate_failures=0, seed=1, threads=0):
    """Plans a whole run, its days, money, failures and checkpoints: the object that `stepcast plan --format json` prints.

    scenario: as for run(); the keys below "run" and "checkpoint" say what is known of the run.
    gpus: numbers of GPUs that are tried besides. simulate_failures: runs whose failures are drawn, with the seed.

        >>> import stepcast
        >>> planned = stepcast.plan({"cluster.node": "dgx-a100-80gb", "model": "bert-large", "run.samples": 10**8,
        ...                          "training": {"global_batch": 256, "micro_batch": 8, "sequence": 512}})
        >>> planned["runs"][0]["error"] is None
        True
    """
    return _json.loads(
        _stepcast.plan(_listed(scenario), _settings(set), list(gpus), simulate_failures, seed, threads))


def layouts(scenario, *, set=None, mesh="", stages="", groups=0, threads=0):
    """Chooses layers for stages and how each operator is split: the object that `stepcast layouts --format json` prints.

    mesh: "AxB", the GPUs of every stage; else the best of all shapes. stages: how many, or which: "8:4:2x2,8:4".
    groups: as the option of the command. "" and 0: as it does without them. Raises RuntimeError where stepcast was built without the solver CBC.
    """
    return _json.loads(_stepcast.layouts(scenario, _settings(set), mesh, "" if stages == 0 else str(stages), groups, threads))


def sensitivity(scenario, *, set=None, threads=0):
    """Says what a step waits for: the object that `stepcast sensitivity --format json` prints."""
    return _json.loads(_stepcast.sensitivity(scenario, _settings(set), threads))


def collective(*, cluster=None, node=None, nodes=None, gpus=None, allocation=None, op="all_reduce", sizes=None,
               algorithm=None, protocol=None, max_channels=None, servers=None, uneven=None, seeds=None, software=None,
               compare=None, gpus_per_process=None, set=None):
    """Times a collective: the object that `stepcast collective --format json` prints.

    cluster or node: a name of configs/, or a file. sizes: "1MiB:1GiB", or a list, whose numbers are bytes. The arguments are the options of the
    command; None: as it does without them. set: keys of the machine and of the stack's transport,
    {"transport.nvlink_step": "1us"}. The "rows" are a list that pandas.DataFrame takes.

        >>> import stepcast
        >>> timed = stepcast.collective(node="dgx-h100", sizes=["1MiB", "1GiB"])
        >>> [row["size_bytes"] for row in timed["rows"]]
        [1048576, 1073741824]
    """
    if isinstance(sizes, (list, tuple)):
        sizes = [f"{size}B" if isinstance(size, int) else size for size in sizes]
    words = _options(cluster=cluster, node=node, nodes=nodes, gpus=gpus, allocation=allocation, op=op, sizes=sizes,
                     algorithm=algorithm, protocol=protocol, max_channels=max_channels, servers=servers, uneven=uneven,
                     seeds=seeds, software=software, compare=compare, gpus_per_process=gpus_per_process)
    return _json.loads(_stepcast.collective(words + [f"--set={word}" for word in _settings(set)]))


def diff(a, b=None, *, set=None, set_a=None, set_b=None, row_a="", row_b="", stage=None, step="", device=None, steps=1):
    """Says how two steps differ: the object that `stepcast diff --format json` prints.

    a, b: each a dict or the path of a scenario, a result of `run --format json`, or a profiler's trace of a real step.
    Without b, it is a with what set_b says. set is laid over both, set_a and set_b over one; the other arguments are the
    options of the command.

        >>> import stepcast
        >>> scenario = {"cluster.node": "dgx-a100-80gb", "model": "bert-large",
        ...             "training": {"global_batch": 256, "micro_batch": 8, "sequence": 512}}
        >>> told = stepcast.diff(scenario, set_b={"recompute": "full"})
        >>> sum(part["difference_ps"] for part in told["parts"]) == told["difference_ps"]
        True
    """
    if b is None and not set_b and not row_b:
        raise InputError("b: missing, expected a second step, or set_b that makes one of the first")
    return _json.loads(
        _stepcast.diff(a, a if b is None else b, _settings(set), _settings(set_a), _settings(set_b), row_a, row_b, stage,
                       device, str(step), steps))


def topology(machine, *, nodes=None, gpus=None, allocation=None, fabric=None, nvlink=None, pcie=None, socket_link=None):
    """Tells the links of a machine and the ways between its GPUs: the object that `stepcast topology --json` prints.

    machine: a node or a cluster of configs/ by its name, a cluster's .yaml, a topology of NCCL (.xml) or what
    `nvidia-smi topo -m` prints (.txt). The other arguments are the options of the command; None: as it does without them.

        >>> import stepcast
        >>> machine = stepcast.topology("dgx-h100")
        >>> machine["gpus"], machine["pairs"][0]["kind"]
        (8, 'NV18')
    """
    machine = machine.__fspath__() if hasattr(machine, "__fspath__") else machine
    words = _options(nodes=nodes, gpus=gpus, allocation=allocation, fabric=fabric, nvlink=nvlink, pcie=pcie,
                     socket_link=socket_link)
    return _json.loads(_stepcast.topology([*words, "--", machine]))
