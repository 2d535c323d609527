"""Many rewards under many metrics: matrices, tables, files, pictures."""

import csv
import io
import json
import tracemalloc
from typing import Any

import numpy as np
import pytest

import dard
from dard.core.errors import UndefinedDistanceWarning
from dard.metrics.compare import MetricResult
from dard.metrics.estimate import Estimate
from dard.testing import ShapedReward, SmoothReward

NAMES = ("plain", 'odd, "name" <b>&', "$\\frac{x$ $y^$", "naïve ½", "flat")
METRICS = {"Pearson": dard.Pearson(), "EPIC, short & <sweet> $\\q$": dard.EPIC(samples=2)}


def transitions(n: int = 400) -> dard.Transitions:
    return dard.Transitions(*np.random.default_rng(0).normal(size=(3, n, 2)))


@pytest.fixture(scope="module")
def found() -> dard.Comparison:
    rewards: dict[str, Any] = {name: SmoothReward(k) for k, name in enumerate(NAMES[:3])}
    rewards[NAMES[3]] = ShapedReward(rewards["plain"], scale=3)
    rewards["flat"] = lambda s, a, s2: np.full(len(s), 3.0)
    with pytest.warns(UndefinedDistanceWarning, match="'flat'"):
        return dard.compare(rewards, transitions(), METRICS, seed=7)


def test_a_mapping_of_matrices(found):
    assert list(found) == list(METRICS)
    assert found.names == NAMES
    for result in found.values():
        assert result.names == NAMES
        assert result.distances.shape == result.standard_errors.shape == (5, 5)
        np.testing.assert_array_equal(result.distances, result.distances.T)
        np.testing.assert_array_equal(np.diag(result.distances)[:4], 0)
        assert result.distances[0, 3] < 1e-15
        assert np.isnan(result.distances[:4, 4]).all()
        assert result.estimate("plain", NAMES[1]) is result.estimate(NAMES[1], "plain")
        assert float(result.estimate("plain", NAMES[1])) == result.distances[0, 1]
        assert result.estimate("plain", NAMES[1]).standard_error == result.standard_errors[0, 1]


def test_pairs_that_do_not_exist(found):
    with pytest.raises(KeyError, match=r"no pair .*plain.*fancy.*; rewards are plain, odd"):
        found["Pearson"].estimate("plain", "fancy")
    with pytest.raises(KeyError):
        found["DARD"]


def test_each_pair_is_what_distance_gives():
    rewards = {"a": SmoothReward(1), "b": SmoothReward(2), "c": SmoothReward(3)}
    result = dard.compare(rewards, transitions(), dard.EPIC(), seed=7)["EPIC"]
    for first, second in (("a", "b"), ("a", "c"), ("b", "c")):
        single = dard.distance(rewards[first], rewards[second], transitions(), dard.EPIC(), 7)
        assert result.estimate(first, second).value == pytest.approx(single.value, abs=1e-14)


def test_one_metric_is_named_after_its_class():
    rewards = {"a": SmoothReward(1), "b": SmoothReward(2)}
    assert list(dard.compare(rewards, transitions(), dard.Pearson())) == ["Pearson"]


def test_text(found):
    tables = str(found).split("\n\n")
    assert repr(found) == str(found)
    assert len(tables) == 2
    for table, metric in zip(tables, METRICS, strict=True):
        lines = table.splitlines()
        assert len(lines) == 6
        assert lines[0].startswith(metric)
        for name, line in zip(NAMES, lines[1:], strict=True):
            assert name in lines[0]
            assert line.startswith(name)
        assert "undefined" in lines[-1]
        assert "0 (rounding)" in lines[1]
        assert "±" in lines[2]
        assert "nan" not in table


def test_json(found):
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    rows = json.loads(found.to_json(), parse_constant=refuse)
    assert len(rows) == 2 * 10
    assert {row["metric"] for row in rows} == set(METRICS)
    for row in rows:
        assert row["seed"] == 7
        assert row["transitions"] == 400
        flat = "flat" in (row["reward_a"], row["reward_b"])
        assert flat == ("'flat'" in (row["undefined"] or ""))
        assert all(
            (row[key] is None) == flat for key in ("distance", "standard_error", "low", "high")
        )
        assert flat or 0 <= row["low"] <= row["distance"] <= row["high"] <= 1
    assert rows[0]["evaluations"] == 400
    assert rows[-1]["evaluations"] == 400 * 9


def test_csv_and_frame(found):
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    frame = found.to_frame()
    assert list(rows[0]) == list(frame.columns) == list(found.to_rows()[0])
    assert len(rows) == len(frame) == 20
    assert [row["reward_b"] for row in rows] == frame["reward_b"].tolist()
    assert float(rows[0]["distance"]) == frame["distance"][0] == found.to_rows()[0]["distance"]


def test_html_escapes_names(found):
    page = found._repr_html_()
    assert page.count("<table>") == 2
    assert page.count("<tr>") == 2 * 6
    assert "odd, &quot;name&quot; &lt;b&gt;&amp;" in page
    assert "&lt;sweet&gt;" in page
    assert "<b>" not in page
    assert "nan" not in page.replace("naïve", "")


def test_plot(found, tmp_path):
    pytest.importorskip("matplotlib")
    figure = found.plot(tmp_path / "distances.png")
    assert (tmp_path / "distances.png").read_bytes().startswith(b"\x89PNG")
    *heatmaps, bar = figure.axes
    assert [axis.get_title() for axis in heatmaps] == list(METRICS)
    assert bar.get_ylabel() == "distance"
    for axis, result in zip(heatmaps, found.values(), strict=True):
        assert [label.get_text() for label in axis.get_yticklabels()] == list(NAMES)
        assert [label.get_text() for label in axis.get_xticklabels()] == list(NAMES)
        np.testing.assert_array_equal(axis.images[0].get_array(), result.distances)
        texts = {text.get_position(): text.get_text() for text in axis.texts}
        assert len(texts) == 25
        estimate = result.estimate(NAMES[0], NAMES[1])
        value, interval = texts[1, 0].split("\n")
        low, high = map(float, interval.split(" to "))
        assert float(value) == pytest.approx(estimate.value, abs=1e-4)
        assert (low, high) == pytest.approx(estimate.interval(), abs=1e-4)
        assert texts[4, 0] == "undefined"
        assert texts[0, 0] == "0"


def pair(value: float, error: float, squared: float) -> dard.Comparison:
    details = squared, abs(2 * value * error), 25, 10, 64, 1e-15, (0.5, 0.5), 0, ("a", "b")
    return dard.Comparison({"EPIC": MetricResult(("a", "b"), (Estimate(value, error, *details),))})


def test_numbers_are_shown_as_far_as_they_are_known():
    assert "0.3 ± 0.02" in str(pair(0.3, 0.02, 0.09))
    assert "0.3 ± ?" in str(pair(0.3, float("nan"), 0.09))
    assert "0 (rounding)" in str(pair(1e-17, 0, 1e-34))
    # An estimate that was clipped at 0 says so by its error, not that rounding decided.
    details = -0.001, 0.002, 25, 10, 64, 1e-15, (0.5, 0.5), 0, ("a", "b")
    clipped = MetricResult(("a", "b"), (Estimate(0.0, 0.016, *details),))
    assert "0 ± 0.016" in str(dard.Comparison({"EPIC": clipped}))


def test_progress_names_the_metric():
    rewards = {"a": SmoothReward(1), "b": SmoothReward(2)}
    heard: list[tuple[str, int, int]] = []
    metrics = {"one": dard.Pearson(), "two": dard.EPIC(samples=1)}
    dard.compare(rewards, transitions(9000), metrics, progress=lambda *call: heard.append(call))
    assert heard == [("one", 1, 2), ("one", 2, 2), ("two", 1, 3), ("two", 2, 3), ("two", 3, 3)]


def test_forty_rewards_in_little_memory():
    """780 pairs: what is held at once does not grow with the pairs times the block."""
    weights = np.random.default_rng(0).normal(size=(40, 6))

    def linear(w: np.ndarray) -> Any:
        return lambda s, a, s2: np.tanh(np.concatenate([s, a, s2], axis=1) @ w)

    rewards = {f"r{k}": linear(w) for k, w in enumerate(weights)}
    tracemalloc.start()
    result = dard.compare(rewards, transitions(8192), dard.EPIC(samples=1))["EPIC"]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300e6
    pair = {name: rewards[name] for name in ("r3", "r30")}
    alone = dard.compare(pair, transitions(8192), dard.EPIC(samples=1))["EPIC"]
    assert result.distances[3, 30] == pytest.approx(alone.distances[0, 1], abs=1e-13)
