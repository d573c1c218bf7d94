"""What is wrong is an InputError with the text of the command line; what does not fit is a result."""

import pytest

import stepcast


def broken(source):
    return [file for file in sorted((source / "tests/golden/errors").glob("*.yaml")) if file.stem != "cyclic_include_b"]


def test_every_broken_file_has_the_text_of_the_program(source, program, monkeypatch):
    monkeypatch.chdir(source)
    files = broken(source)
    assert len(files) > 100
    same = 0
    for file in files[::5]:  # each starts the program once
        status, _, text = program("run", file)
        if status != 2:
            continue
        with pytest.raises(stepcast.InputError) as error:
            stepcast.run(file)
        assert str(error.value) + "\n" == text
        same += 1
    assert same > 20


def test_an_input_error_is_a_value_error():
    assert issubclass(stepcast.InputError, ValueError)


@pytest.mark.parametrize(
    "change, text",
    [
        ({"training": {"global_batch": "four"}}, "dict: training.global_batch: found 'four', expected a whole number"),
        ({"model": "gpt3-175"}, "did you mean 'gpt3-175b'?"),
        ({"paralelism.tensor": 8}, "did you mean 'parallelism'?"),
        ({"parallelism.tensor": 3}, "dict: parallelism.tensor: tensor 3 x pipeline 8 is 24 GPUs"),
        ({"parallelism.tensor.x": 3}, "dict: parallelism.tensor: found a mapping"),
        ({"note": object()}, "dict: note: found object, expected a text, a number"),
        ({"note": "\ud800"}, "dict: found the text '\\ud800', expected one of Unicode characters"),
        ({"note": {1, 2}}, "dict: note: found set, expected a text, a number"),
        ({"parallelism": {"a..b": 3}}, "dict: parallelism: found the unknown key 'a'"),
        ({3: 4}, "dict: found the key '3', expected a text"),
        ({"training": {"global_batch": float("nan")}}, "found 'nan'"),
        ({"training": [1, 2]}, "dict: training: found a list"),
        ({"training": {"a.b": 1, "a": {"b": 2}}}, "dict: training.a: found twice, expected once"),
    ],
)
def test_a_wrong_dict_is_told_by_its_key(scenario, change, text):
    with pytest.raises(stepcast.InputError) as error:
        stepcast.run({**scenario, **change})
    assert text in str(error.value)


def test_a_dict_that_holds_itself_ends():
    own = {}
    own["cluster"] = own
    with pytest.raises(stepcast.InputError, match="more than 32 levels"):
        stepcast.run(own)


@pytest.mark.parametrize("given", [3, None, 2.5, {1, 2}])
def test_what_is_no_scenario_is_named(given):
    with pytest.raises(stepcast.InputError, match="expected a dict, or the path"):
        stepcast.run(given)


def test_wrong_words_are_named(scenario):
    with pytest.raises(stepcast.InputError, match="simulate: found 'some', expected one of all, fitting, none"):
        stepcast.run(scenario, simulate="some")
    with pytest.raises(stepcast.InputError, match="detail: found 'all'"):
        stepcast.run(scenario, detail="all")
    with pytest.raises(stepcast.InputError, match="did you mean 'parallelism.tensor'"):
        stepcast.sweep(scenario, {"parallelism.tensr": [1]})
    with pytest.raises(stepcast.InputError, match="axes: found none"):
        stepcast.sweep(scenario, {})
    with pytest.raises(stepcast.InputError, match="objective: found 'time'"):
        stepcast.search(scenario, objective="time")
    with pytest.raises(stepcast.InputError, match="expected the path of a key"):
        stepcast.run(scenario, set={"tensor": 1})


def test_what_does_not_fit_is_a_result(scenario):
    scenario["parallelism"] = {"tensor": 1, "pipeline": 1}
    result = stepcast.run(scenario)["results"][0]
    assert result["out_of_memory"]["needed_bytes"] > result["out_of_memory"]["available_bytes"]
    assert result["error"].startswith("out of memory")


def test_a_row_that_cannot_run_stands_beside_the_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = tmp_path / "runs.csv"
    table.write_text(
        "cluster.node,model,training.global_batch,training.micro_batch,training.sequence,parallelism.tensor\n"
        "dgx-a100-80gb,bert-large,256,8,512,1\n"
        "dgx-a100-80gb,bert-large,256,8,512,3\n"
    )
    good, bad = stepcast.run("runs.csv")["results"]
    assert good["error"] is None
    assert bad["error"].startswith("runs.csv:3:")


@pytest.mark.parametrize("asked, words", [
    ({"node": "dgx-h100", "op": "sum"}, ["--node", "dgx-h100", "--op", "sum"]),
    ({"node": "dgx-h1000"}, ["--node", "dgx-h1000"]),
    ({"node": "dgx-h100", "sizes": ["1 parsec"]}, ["--node", "dgx-h100", "--sizes", "1 parsec"]),
    ({"node": "dgx-h100", "set": {"transport.x": 1}}, ["--node", "dgx-h100", "--set", "transport.x=1"]),
    ({"node": "dgx-h100", "gpus_per_process": 3}, ["--node", "dgx-h100", "--gpus-per-process", 3]),
    ({}, []),
])
def test_wrong_options_have_the_text_of_the_program(asked, words, program):
    status, _, text = program("collective", *words)
    assert status == 2
    with pytest.raises(stepcast.InputError) as error:
        stepcast.collective(**asked)
    assert str(error.value) + "\n" == text


def test_a_machine_that_there_is_not_has_the_text_of_the_program(program):
    for machine in ["dgx-h1000", "", "--help"]:
        with pytest.raises(stepcast.InputError) as error:
            stepcast.topology(machine)
        if machine:
            continue
        status, _, text = program("topology", machine)
        assert (status, text) == (2, str(error.value) + "\n")
