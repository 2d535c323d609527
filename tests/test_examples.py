"""The examples run elsewhere (make docs); here: that figure 1 shows what it says."""

import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FIGURE_1 = Path(__file__).parents[1] / "examples" / "plot_figure_1.py"


@pytest.fixture(scope="module")
def figure_1() -> Iterator[dict[str, Any]]:
    import matplotlib.pyplot as plt

    yield runpy.run_path(str(FIGURE_1), run_name="figure_1")
    plt.close("all")


def test_both_metrics_arrive_at_zero_from_a_reward_that_is_not(figure_1):
    transition = figure_1["transition"]
    raw = figure_1["reward"](transition.state, transition.action, transition.next_state)
    assert abs(raw[0]) > 0.1
    for value, _ in figure_1["found"].values():
        assert abs(value) < 1e-14


def test_epic_asks_across_the_whole_plane(figure_1):
    _, asked = figure_1["found"]["EPIC"]
    from_end, from_start, anywhere = figure_1["by_term"](asked)
    states = np.unique(figure_1["states"])
    assert np.ptp(states) > 4
    np.testing.assert_array_equal(from_end[:, 1], states)
    np.testing.assert_array_equal(from_start[:, 1], states)
    np.testing.assert_array_equal(np.unique(anywhere[:, 0]), states)
    assert len(anywhere) == len(states) ** 2


def test_dard_asks_about_successors_of_both_states(figure_1):
    _, asked = figure_1["found"]["DARD"]
    from_end, from_start, between = figure_1["by_term"](asked)
    steps = figure_1["actions"][:, 0]
    np.testing.assert_allclose(from_end[:, 1], 2 + steps)
    np.testing.assert_allclose(from_start[:, 1], 1 + steps)
    pairs = np.stack(np.meshgrid(1 + steps, 2 + steps, indexing="ij"), axis=-1).reshape(-1, 2)
    np.testing.assert_allclose(between, pairs)


def test_dard_asks_less_about_impossible_transitions(figure_1):
    shares = {
        name: np.mean(np.abs(np.diff(asked)) > 1) for name, (_, asked) in figure_1["found"].items()
    }
    assert shares["DARD"] < 0.4
    assert shares["EPIC"] > 0.6


def test_each_panel_draws_every_question_once(figure_1):
    for axis, (name, (_, asked)) in zip(figure_1["axes"], figure_1["found"].items(), strict=True):
        assert axis.get_title() == name
        drawn = [
            part.get_offsets() for part in axis.collections if part.get_label().startswith("$")
        ]
        np.testing.assert_array_equal(
            np.unique(np.concatenate([*drawn, [[1.0, 2.0]]]), axis=0), asked
        )
        shown = [text.get_text() for text in axis.get_legend().get_texts()]
        assert set(figure_1["TERMS"][name]) < {text.strip("$") for text in shown}


def test_the_script_saves_the_picture(tmp_path):
    picture = tmp_path / "figure-1.png"
    done = subprocess.run(
        [sys.executable, str(FIGURE_1), "--out", str(picture)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "canonical value" in done.stdout
    assert str(picture) in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
