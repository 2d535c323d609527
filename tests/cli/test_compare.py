"""What `dard compare` computes and where it writes it."""

import csv
import io
import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from tests.cli.helpers import Command, save_npz

import dard
from dard.core.attribute import load_attribute
from dard.rewards import MlpReward

TWO = ("rewards.py:goal", "rewards.py:effort", "--data", "data.npz")
DYNAMICS = ("--transition-model", "rewards.py:dynamics", "--actions", "grid:-1,1,3")
GRID = dard.action_grid([-1, -1], [1, 1], 3)


def load(name):
    return load_attribute(f"rewards.py:{name}", "test")


def from_python(metrics, data, seed=0, rewards=("goal", "effort")):
    return dard.compare({name: load(name) for name in rewards}, data, metrics, seed)


def test_the_numbers_are_those_of_the_library(compare: Command) -> None:
    ended = compare(*TWO, *DYNAMICS, "--json")
    data = dard.load_transitions("data.npz")
    metrics = {
        "Pearson": dard.Pearson(),
        "EPIC": dard.EPIC(),
        "DARD": dard.DARD(load("dynamics"), GRID),
    }
    assert ended.code == 0
    assert json.loads(ended.out) == json.loads(from_python(metrics, data).to_json())


def test_every_option_reaches_its_metric(compare: Command) -> None:
    ended = compare(
        *(*TWO, "--transition-model", "rewards.py:noisy", "--actions", "rewards.py:three_actions"),
        *("--metric", "dard", "--metric", "epic", "--discount", "0.5", "--samples", "2"),
        *("--next-states", "3", "--seed", "7", "--workers", "2", "--limit", "300", "--json"),
    )
    data = dard.load_transitions("data.npz")[:300]
    dynamics, actions = load("noisy"), load("three_actions")
    metrics = {
        "DARD": dard.DARD(dynamics, actions, discount=0.5, next_states=3, action_samples=2),
        "EPIC": dard.EPIC(discount=0.5, samples=2),
    }
    assert json.loads(ended.out) == json.loads(from_python(metrics, data, seed=7).to_json())


def test_full_estimators_use_every_action(compare: Command) -> None:
    ended = compare(*TWO, *DYNAMICS, "--estimator", "full", "--samples", "50", "--json")
    data = dard.load_transitions("data.npz")
    metrics = {
        "Pearson": dard.Pearson(),
        "EPIC": dard.EPIC(estimator="full", samples=50),
        "DARD": dard.DARD(load("dynamics"), GRID, estimator="full"),
    }
    assert json.loads(ended.out) == json.loads(from_python(metrics, data).to_json())


def test_samples_with_a_sampler_of_actions(compare: Command) -> None:
    given = ("--transition-model", "rewards.py:dynamics", "--actions", "rewards.py:sampler")
    ended = compare(
        *(*TWO, *given, "--metric", "dard", "--estimator", "full", "--samples", "3", "--json")
    )
    metric = dard.DARD(load("dynamics"), load("sampler"), estimator="full", action_samples=3)
    found = from_python({"DARD": metric}, dard.load_transitions("data.npz"))
    assert json.loads(ended.out) == json.loads(found.to_json())


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ((), ["Pearson", "EPIC"]),
        (DYNAMICS, ["Pearson", "EPIC", "DARD"]),
        (("--metric", "epic", "--metric", "pearson", "--metric", "epic"), ["EPIC", "Pearson"]),
        ((*DYNAMICS, "--metric", "dard"), ["DARD"]),
    ],
)
def test_which_metrics_are_computed(compare: Command, options, names) -> None:
    rows = json.loads(compare(*TWO, *options, "--json").out)
    assert [row["metric"] for row in rows] == names


def test_without_a_terminal_the_table_is_plain(compare: Command) -> None:
    data = dard.load_transitions("data.npz")
    metrics = {"Pearson": dard.Pearson(), "EPIC": dard.EPIC()}
    assert compare(*TWO).out == f"{from_python(metrics, data)}\n"


def test_a_distance_within_rounding_is_named(compare: Command) -> None:
    ended = compare("rewards.py:goal", "rewards.py:shaped", "--data", "data.npz", *DYNAMICS)
    assert ended.code == 0
    assert ended.out.count("0 (rounding)") == 4


def test_csv_has_the_rows_of_json(compare: Command) -> None:
    from_csv = list(csv.DictReader(io.StringIO(compare(*TWO, "--csv").out)))
    from_json = json.loads(compare(*TWO, "--json").out)
    assert [float(row["distance"]) for row in from_csv] == [row["distance"] for row in from_json]
    assert list(from_csv[0]) == list(from_json[0])


@pytest.mark.parametrize("form", ["--json", "--csv", None])
def test_a_file_holds_what_standard_output_would(compare: Command, form: str | None) -> None:
    arguments = [*TWO, *([form] if form else [])]
    printed = compare(*arguments).out
    ended = compare(*arguments, "--out", "new/result.txt")
    assert ended.out == ""
    assert ended.err == "written to new/result.txt\n"
    assert Path("new/result.txt").read_text(encoding="utf-8") == printed


def test_only_the_result_is_on_standard_output(compare: Command) -> None:
    ended = compare("rewards.py:goal", "rewards.py:talkative", "--data", "data.npz", "--json")
    assert json.loads(ended.out)[0]["reward_b"] == "talkative"
    assert "I am asked" in ended.err


def test_quiet_leaves_notes_out_but_not_warnings(compare: Command) -> None:
    undefined = ("rewards.py:goal", "rewards.py:constant", "--data", "data.npz", "--out", "table")
    ended = compare(*undefined, "--quiet")
    assert ended.err.startswith("warning: ")
    assert "written to table" not in ended.err
    assert "written to table" in compare(*undefined).err


def test_an_undefined_distance_has_its_exit_code(compare: Command) -> None:
    ended = compare("rewards.py:goal", "rewards.py:constant", "--data", "data.npz")
    assert ended.code == 3
    assert ended.out.count("undefined") == 4


def test_a_warning_of_several_metrics_is_shown_once(compare: Command) -> None:
    few = np.load("data.npz")
    save_npz("few.npz", {**few, "episode": np.zeros(len(few["state"]), int)})
    ended = compare("rewards.py:goal", "rewards.py:effort", "--data", "few.npz")
    assert ended.err.count("\n") == 1
    assert ended.err.startswith("warning: the data holds 1 episode;")


def test_a_warning_of_user_code_says_where_it_is_from(compare: Command) -> None:
    Path("warns.py").write_text(
        "import warnings\n"
        "def reward(state, action, next_state):\n"
        "    warnings.warn('so far from home', RuntimeWarning)\n"
        "    return action[:, 0]\n"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # the tests' own setting makes it an error
        ended = compare("rewards.py:goal", "warns.py:reward", "--data", "data.npz")
    assert ended.err == "warning: so far from home (RuntimeWarning, warns.py, line 3)\n"


def test_the_picture_shows_the_distances(compare: Command) -> None:
    opposite = "def reward(state, action, next_state):\n    return -action[:, 0]\n"
    Path("left.py").write_text(opposite)
    Path("right.py").write_text(opposite.replace("-action", "action"))
    given = ("left.py:reward", "right.py:reward", "--data", "data.npz", "--metric", "pearson")
    assert compare(*given, "--plot", "heat.png").code == 0
    pixels = (imread("heat.png")[..., :3] * 255).round().astype(int).reshape(-1, 3)
    near, far = [0, 34, 78], [254, 232, 56]  # the ends of the colour map
    shares = [np.mean(np.abs(pixels - colour).max(axis=1) < 3) for colour in (near, far)]
    assert min(shares) > 0.1  # two of four cells each


def test_onnx_and_safetensors_files_are_rewards(compare: Command) -> None:
    rng = np.random.default_rng(0)
    net = MlpReward(
        [(rng.normal(size=(6, 8)), rng.normal(size=8)), (rng.normal(size=(8, 1)), np.zeros(1))]
    )
    net.save("net.safetensors")
    net.to_onnx("net.onnx")
    rows = json.loads(compare("ours=net.safetensors", "theirs=net.onnx", *TWO[1:], "--json").out)
    by_pair = {(row["metric"], row["reward_a"], row["reward_b"]): row["distance"] for row in rows}
    assert by_pair["EPIC", "ours", "theirs"] == pytest.approx(0, abs=1e-6)
    assert by_pair["EPIC", "ours", "effort"] == pytest.approx(by_pair["EPIC", "theirs", "effort"])


def test_a_store_is_data(compare: Command) -> None:
    dard.save_transitions(dard.load_transitions("data.npz"), "store")
    stored = compare("rewards.py:goal", "rewards.py:effort", "--data", "store", "--json")
    assert stored.out == compare(*TWO, "--json").out


def test_rewards_of_one_attribute_are_told_apart(compare: Command) -> None:
    Path("others.py").write_text("def goal(s, a, t):\n    return a[:, 0]\n")
    rows = json.loads(
        compare("rewards.py:goal", "others.py:goal", "--data", "data.npz", "--json").out
    )
    assert rows[0]["reward_a"] == "rewards.py:goal"
    assert rows[0]["reward_b"] == "others.py:goal"
