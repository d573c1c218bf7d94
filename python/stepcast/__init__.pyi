from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Optional, Union

__version__: str

_Path = Union[str, PathLike[str]]
_Scenario = Union[dict[str, Any], str, PathLike[str]]
_Scenarios = Union[_Scenario, Sequence[_Scenario]]
_Settings = Optional[Union[Mapping[str, Any], Iterable[str]]]
_Values = Union[str, Iterable[Any]]
_Simulate = Optional[Literal["all", "fitting", "none"]]

class InputError(ValueError): ...

def run(
    scenario: _Scenarios,
    *,
    set: _Settings = None,
    simulate: _Simulate = None,
    unfold: bool = False,
    detail: Optional[Literal["transfers"]] = None,
    threads: int = 0,
) -> dict[str, Any]: ...
def validate(scenarios: _Scenarios = (), *, set: _Settings = None, threads: int = 0) -> dict[str, Any]: ...
def sweep(
    scenario: _Scenario,
    axes: Mapping[str, _Values],
    *,
    set: _Settings = None,
    zip: Optional[Union[str, Iterable[str]]] = None,
    where: Optional[Union[str, Iterable[str]]] = None,
    simulate: _Simulate = None,
    threads: int = 0,
) -> dict[str, list[Any]]: ...
def search(
    scenario: _Scenario,
    *,
    set: _Settings = None,
    objective: Literal["step_time", "memory", "gpus", "money", "energy"] = "step_time",
    over: Optional[Mapping[str, _Values]] = None,
    fix: Optional[Union[str, Iterable[str]]] = None,
    top: int = 10,
    budget: Optional[int] = None,
    within: str = "",
    exhaustive: bool = False,
    front: bool = False,
    threads: int = 0,
) -> dict[str, Any]: ...
def plan(
    scenario: _Scenarios,
    *,
    set: _Settings = None,
    gpus: Iterable[int] = (),
    simulate_failures: int = 0,
    seed: int = 1,
    threads: int = 0,
) -> dict[str, Any]: ...
def layouts(
    scenario: _Scenario,
    *,
    set: _Settings = None,
    mesh: str = "",
    stages: Union[int, str] = "",
    groups: int = 0,
    threads: int = 0,
) -> dict[str, Any]: ...
def sensitivity(scenario: _Scenario, *, set: _Settings = None, threads: int = 0) -> dict[str, Any]: ...
def collective(
    *,
    cluster: Optional[_Path] = None,
    node: Optional[_Path] = None,
    nodes: Optional[int] = None,
    gpus: Optional[int] = None,
    allocation: Optional[str] = None,
    op: str = "all_reduce",
    sizes: Optional[Union[str, Sequence[Union[str, int]]]] = None,
    algorithm: Optional[Union[str, Sequence[str]]] = None,
    protocol: Optional[Union[str, Sequence[str]]] = None,
    max_channels: Optional[int] = None,
    servers: Optional[int] = None,
    uneven: Optional[_Path] = None,
    seeds: Optional[int] = None,
    software: Optional[str] = None,
    compare: Optional[_Path] = None,
    gpus_per_process: Optional[int] = None,
    set: _Settings = None,
) -> dict[str, Any]: ...
def diff(
    a: _Scenario,
    b: Optional[_Scenario] = None,
    *,
    set: _Settings = None,
    set_a: _Settings = None,
    set_b: _Settings = None,
    row_a: str = "",
    row_b: str = "",
    stage: Optional[int] = None,
    step: Union[str, int] = "",
    device: Optional[int] = None,
    steps: int = 1,
) -> dict[str, Any]: ...
def topology(
    machine: _Path,
    *,
    nodes: Optional[int] = None,
    gpus: Optional[int] = None,
    allocation: Optional[str] = None,
    fabric: Optional[str] = None,
    nvlink: Optional[str] = None,
    pcie: Optional[str] = None,
    socket_link: Optional[str] = None,
) -> dict[str, Any]: ...
