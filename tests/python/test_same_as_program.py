"""Python and the command line print the same."""

import gzip
import os
import random

import pytest

import stepcast


def test_shipped_scenarios_have_the_same_results(source, printed):
    files = sorted(source.glob("scenarios/*.yaml"))
    assert len(files) > 30
    assert stepcast.run([str(file) for file in files]) == printed("run", *files, "--format", "json")


@pytest.mark.skipif("STEPCAST_ALL_RUNS" not in os.environ, reason="a minute; STEPCAST_ALL_RUNS=1 runs it")
def test_all_files_have_the_same_results(source, printed, monkeypatch):
    monkeypatch.chdir(source)  # errors name files from where one is
    folder = source / "scenarios"
    ours = stepcast.run(folder)
    assert len(ours["results"]) > 2000
    assert ours == printed("run", folder, "--format", "json")


def test_a_file_alone_has_the_same_result(source, printed):
    for file in random.Random(20).sample(sorted(source.glob("scenarios/*.yaml")), 6):
        assert stepcast.run(file) == printed("run", file, "--format", "json"), file


def test_options_mean_the_same(source, printed):
    file = source / "scenarios/bert-large.yaml"
    asked = ["run", file, "--format", "json"]
    assert stepcast.run(file, simulate="none") == printed(*asked, "--simulate", "none")
    assert stepcast.run(file, unfold=True) == printed(*asked, "--unfold")
    assert stepcast.run(file, set={"training.precision": "fp32"}) == printed(*asked, "--set", "training.precision=fp32")


def test_a_dict_is_what_its_keys_say(scenario, tmp_path, printed):
    """The same keys by --set over an empty file."""
    empty = tmp_path / "dict.yaml"
    empty.write_text("note: nothing\n")
    words = [
        word
        for key, value in [
            ("cluster.node", "dgx-a100-80gb"), ("cluster.nodes", 8), ("model", "gpt3-175b"),
            ("training.global_batch", 64), ("training.micro_batch", 1), ("training.sequence", 2048),
            ("parallelism.tensor", 8), ("parallelism.pipeline", 8), ("recompute", "full"),
        ]
        for word in ("--set", f"{key}={value}")
    ]
    expected = printed("run", empty, *words, "--format", "json")
    assert expected["results"][0]["step_time_s"] > 0
    assert stepcast.run(scenario) == expected
    flat = {
        "cluster.node": "dgx-a100-80gb", "cluster.nodes": 8, "model": "gpt3-175b", "recompute": "full",
        "training.global_batch": 64, "training.micro_batch": 1, "training.sequence": 2048,
        "parallelism.tensor": 8, "parallelism.pipeline": 8,
    }
    assert stepcast.run(flat) == expected


def test_keys_with_dots_lie_over_the_others(scenario):
    scenario["model.layers"] = 48
    shorter = stepcast.run(scenario)["results"][0]
    del scenario["model.layers"]
    scenario["model"] = {"base": "gpt3-175b", "layers": 48}
    assert stepcast.run(scenario)["results"][0] == shorter


def test_none_under_a_key_with_dots_takes_it_away(scenario):
    least = stepcast.run({**scenario, "parallelism.tensor": None, "parallelism.pipeline": 8}, simulate="none")
    scenario["parallelism"] = {"pipeline": 8}
    assert stepcast.run(scenario, simulate="none") == least


def test_validate_has_the_same_rows(source, printed):
    table = sorted(source.glob("scenarios/published/*.csv"))[0]
    assert stepcast.validate(table) == printed("validate", table, "--format", "json")


def test_sweep_has_the_same_rows(source, program):
    file = source / "scenarios/bert-large.yaml"
    columns = stepcast.sweep(
        file,
        {"training.micro_batch": [1, 2, 4], "training.precision": ["bf16", "fp32"], "cluster.nic_bandwidth": "100 Gbit/s:200 Gbit/s:x2"},
        where="training.micro_batch < 4 or training.precision = fp32",
    )
    status, text, _ = program(
        "sweep", file, "--axis", "training.micro_batch=1,2,4", "--axis", "training.precision=bf16,fp32",
        "--axis", "cluster.nic_bandwidth=100 Gbit/s:200 Gbit/s:x2", "--format", "csv",
        "--where", "training.micro_batch < 4 or training.precision = fp32",
    )
    assert status == 0
    header, *lines = [line.split(",") for line in text.splitlines()]
    assert list(columns) == header[:-1]
    assert len(columns["point"]) == len(lines) == 10
    for title in ("point", "training.micro_batch", "step_time_s", "peak_memory_bytes"):
        assert [str(float(value)) for value in columns[title]] == [
            str(float(line[header.index(title)])) for line in lines
        ]
    assert columns["fits"] == [line[header.index("fits")] == "true" for line in lines]
    assert len({len(column) for column in columns.values()}) == 1


def test_search_has_the_same_plans(source, printed):
    file = source / "scenarios/bert-large.yaml"
    found = stepcast.search(file, over={"parallelism.tensor": [1, 2]}, fix="data_parallel.zero", top=4)
    expected = printed("search", file, "--over", "parallelism.tensor=1,2", "--fix", "data_parallel.zero", "--top", 4, "--format", "json")
    plans, columns = expected.pop("plans"), found.pop("plans")
    for plan in plans:
        plan.update(plan.pop("settings"))
    assert len(plans) == 4
    assert columns == {title: [plan[title] for plan in plans] for title in plans[0]}
    for seconds in ("seconds", "screening_seconds"):
        del found[seconds], expected[seconds]
    assert found == expected


def test_sensitivity_is_the_same(source, printed):
    file = source / "scenarios/bert-large.yaml"
    assert stepcast.sensitivity(file) == printed("sensitivity", file, "--format", "json")


def test_plan_is_the_same(source, printed):
    file = source / "scenarios/resnet-50-p100-256.yaml"
    expected = printed("plan", file, "--set", "run.batch_limit=8192", "--gpus", "8,64", "--format", "json")
    assert expected["runs"]
    assert stepcast.plan(file, set={"run.batch_limit": 8192}, gpus=[64, 8]) == expected
    with pytest.raises(stepcast.InputError, match="simulate_failures: found 1, expected at least 2 runs"):
        stepcast.plan(file, simulate_failures=1)


def test_layouts_are_the_same(source, printed):
    file = source / "scenarios/bert-large.yaml"
    asked = {"mesh": "1x2", "stages": 1, "groups": 4}
    expected = printed("layouts", file, "--mesh", "1x2", "--stages", 1, "--groups", 4, "--format", "json")
    assert without_seconds(stepcast.layouts(file, **asked)) == without_seconds(expected)
    held = {"stages": "12:32:4x8:samples,12:32"}
    expected = printed("layouts", file, "--stages", held["stages"], "--format", "json")
    assert without_seconds(stepcast.layouts(file, **held)) == without_seconds(expected)
    with pytest.raises(stepcast.InputError, match="mesh: found '8', expected AxB"):
        stepcast.layouts(file, mesh="8")


def without_seconds(answer):
    """What does not depend on how fast the machine is."""
    return {key: value for key, value in answer.items() if "seconds" not in key}


def test_collectives_have_the_same_times(printed):
    asked = {"node": "dgx-h100", "nodes": 2, "op": "all_to_all", "sizes": ["1MiB", "64MiB"], "algorithm": "all"}
    words = ["--node", "dgx-h100", "--nodes", 2, "--op", "all_to_all", "--sizes", "1MiB,64MiB", "--algorithm", "all"]
    expected = printed("collective", *words, "--format", "json")
    assert len(expected["rows"]) > 2
    assert stepcast.collective(**asked) == expected
    assert stepcast.collective(**{**asked, "sizes": [1 << 20, 1 << 26]}) == expected
    slow = printed("collective", *words, "--set", "cluster.nic_bandwidth=100 Gbit/s", "--format", "json")
    assert stepcast.collective(**asked, set={"cluster.nic_bandwidth": "100 Gbit/s"}) == slow != expected


def test_machines_have_the_same_links(printed, source):
    assert stepcast.topology("dgx-a100-80gb", nodes=2) == printed("topology", "dgx-a100-80gb", "--nodes", 2, "--json")
    cluster = sorted((source / "configs/clusters").glob("*.yaml"))[0]
    assert stepcast.topology(cluster, gpus=8) == printed("topology", cluster, "--gpus", 8, "--json")


def test_two_steps_differ_the_same(printed, source, scenario, tmp_path, monkeypatch):
    monkeypatch.chdir(source)  # where the program runs: files are named from there
    ours = stepcast.diff(source / "scenarios/bert-large.yaml", set={"training.micro_batch": 4},
                         set_b={"training.precision": "fp32"})
    words = ["diff", source / "scenarios/bert-large.yaml", "--set", "training.micro_batch=4", "--set-b",
             "training.precision=fp32", "--format", "json"]
    assert ours == printed(*words)
    assert {key["key"] for key in ours["keys"]} == {"training.precision"}
    trace, measured = source / "tests/app/logs/kineto.json", source / "scenarios/bert-large.yaml"
    assert stepcast.diff(measured, trace) == printed("diff", measured, trace, "--format", "json")
    packed = tmp_path / "kineto.json.gz"
    packed.write_bytes(gzip.compress(trace.read_bytes()))
    assert stepcast.diff(measured, packed) == printed("diff", measured, packed, "--format", "json")
    told = stepcast.diff(scenario, {**scenario, "training.global_batch": 32})
    assert [key["key"] for key in told["keys"]] == ["training.global_batch"]
