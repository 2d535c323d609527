"""The tables of a terminal."""

import io
import re

import numpy as np
import pytest
from rich.console import Console
from tests.cli.helpers import transitions

import dard
from dard.cli.output import print_tables

DATA = dard.Transitions(**transitions())


def table(rewards, width=100, metric=None) -> str:
    screen = io.StringIO()
    found = dard.compare(rewards, DATA, metric or dard.Pearson())
    print_tables(found, Console(file=screen, width=width, force_terminal=True, _environ={}))
    return screen.getvalue()


def along(angle: float):
    direction = np.array([np.cos(angle), np.sin(angle)])
    return lambda state, action, next_state: action @ direction


def test_a_table_shows_values_and_errors() -> None:
    shown = table({"right": along(0), "[b]up": along(1), "left": along(np.pi)})
    found = dard.distance(along(0), along(1), DATA, dard.Pearson())
    assert f"{found.value:.4f} ± {found.standard_error:.2g}" in shown
    assert "[b]up" in shown  # names are no markup
    assert "1 ± 0" in shown  # opposite rewards


@pytest.mark.filterwarnings("ignore::dard.DardWarning")
def test_what_is_no_number_is_named() -> None:
    same = {"one": along(0), "two": along(0), "none": lambda s, a, t: np.ones(len(s))}
    shown = table(same)
    assert "0 (rounding)" in shown
    assert shown.count("undefined") == 4


def test_no_digit_is_cut_off_on_a_narrow_terminal() -> None:
    rewards = {f"reward-{k}": along(k / 3) for k in range(6)}

    def numbers(width: int) -> list[str]:
        return sorted(re.findall(r"0\.\d+", table(rewards, width)))

    assert len(numbers(200)) == 2 * 30
    assert numbers(70) == numbers(40) == numbers(20) == numbers(200)
