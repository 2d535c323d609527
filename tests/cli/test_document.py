"""The page about the command line shows what the command really prints."""

import json
import runpy
from pathlib import Path

from tests.cli.helpers import Command

import dard

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
refreshed = runpy.run_path(str(ROOT / "docs/refresh_cli.py"))["refreshed"]


def test_the_page_is_what_its_commands_print_today() -> None:
    assert refreshed(PAGE) == PAGE


def test_an_old_page_would_be_found() -> None:
    page = "text\n```console\n$ dard --version\ndard 0.0.1\n$ dard \\\n    --no\n```\n"
    today = refreshed(page)
    assert today.startswith(
        f"text\n```console\n$ dard --version\ndard {dard.__version__}\n$ dard \\\n"
    )
    assert "No such option" in today


def test_the_page_shows_the_keys_of_a_row(compare: Command) -> None:
    shown = json.loads(PAGE.partition("```json\n")[2].partition("```")[0])
    ended = compare("rewards.py:goal", "rewards.py:effort", "--data", "data.npz", "--json")
    assert list(shown[0]) == list(json.loads(ended.out)[0])
