"""Progress: what lines and bars say, and when."""

import io
import sys

import pytest
from rich.console import Console
from tests.cli.helpers import Command

from dard.cli.progress import Lines, bars, per_second, progress


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def lines_of(steps) -> list[str]:
    """Return what is said about steps of (seconds, metric, done, total)."""
    clock, said = Clock(), []
    report = Lines({"EPIC": 3_000_000, "DARD": 1000}, said.append, clock)
    for seconds, *step in steps:
        clock.now += seconds
        report(*step)
    return said


def test_short_runs_say_nothing() -> None:
    assert lines_of((0.1, "EPIC", k, 90) for k in range(1, 91)) == []


def test_a_line_every_ten_seconds_at_most() -> None:
    said = lines_of((1, "EPIC", k, 60) for k in range(1, 61))
    assert len(said) == 6
    assert said[0] == "EPIC: 17% done, 50 k evaluations/s, 0:00:50 left"
    assert said[-1].endswith("0:00:00 left")


def test_the_time_of_a_metric_begins_where_the_last_one_ended() -> None:
    said = lines_of([(8, "EPIC", 1, 1), (5, "DARD", 1, 10), (15, "DARD", 4, 10)])
    assert said == [
        "DARD: 10% done, 20 evaluations/s, 0:00:45 left",
        "DARD: 40% done, 20 evaluations/s, 0:00:30 left",
    ]


def test_bars_show_rate_and_time_left_and_vanish() -> None:
    terminal = io.StringIO()
    console = Console(file=terminal, force_terminal=True, width=100, _environ={})
    with bars({"EPIC": 1000, "DARD": 500}, console) as report:
        report("EPIC", 1, 2)
        report("EPIC", 2, 2)
        report("DARD", 1, 4)
    shown = terminal.getvalue()
    assert "EPIC" in shown
    assert "100%" in shown
    assert "DARD" in shown
    assert "evaluations/s" in shown
    assert shown.endswith("\x1b[1A\x1b[2K\x1b[1A\x1b[2K")  # both lines are cleared


def test_a_waiting_metric_has_no_bar_yet() -> None:
    terminal = io.StringIO()
    console = Console(file=terminal, force_terminal=True, width=100, _environ={})
    with bars({"EPIC": 1000, "DARD": 500}, console) as report:
        report("EPIC", 1, 2)
    assert "DARD" not in terminal.getvalue()


def test_what_is_counted_has_a_name() -> None:
    terminal = io.StringIO()
    console = Console(file=terminal, force_terminal=True, width=100, _environ={})
    with bars({"reacher": 1000}, console, "transitions") as report:
        report("reacher", 1, 2)
        report("reacher", 2, 2)
    assert "transitions/s" in terminal.getvalue()
    assert "evaluations" not in terminal.getvalue()


def test_bars_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    with progress({"EPIC": 1}, quiet=False) as report:
        assert isinstance(report, Lines)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress({"EPIC": 1}, quiet=False) as report:
        assert not isinstance(report, Lines)
    with progress({"EPIC": 1}, quiet=True) as report:
        assert report is None


def test_a_slow_comparison_reports_on_standard_error(
    compare: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dard.cli.progress.SECONDS_BETWEEN_LINES", 0.0)
    arguments = ("rewards.py:goal", "rewards.py:effort", "--data", "data.npz")
    ended = compare(*arguments, "--json")
    assert [line.partition(":")[0] for line in ended.err.splitlines()] == ["Pearson", "EPIC"]
    assert compare(*arguments, "--quiet").err == ""


@pytest.mark.parametrize(
    ("rate", "shown"), [(12.34, "12.3 "), (1.5e3, "1.5 k "), (2e6, "2 M "), (3.21e9, "3.21 G ")]
)
def test_rates(rate: float, shown: str) -> None:
    assert per_second(rate) == f"{shown}evaluations/s"
