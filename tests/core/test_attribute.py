import subprocess
import sys

import pytest

from dard.core.attribute import load_attribute
from dard.core.errors import ConfigurationError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current directory; modules and path entries of the test are forgotten after it."""
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def error_of(source):
    with pytest.raises(ConfigurationError) as caught:
        load_attribute(source, "reward")
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("reward ")
    return message


def test_an_installed_module_and_a_dotted_attribute():
    import os.path

    assert load_attribute("os:path.join", "reward") is os.path.join


def test_a_module_of_the_current_directory_is_found_last_and_stays_importable(folder):
    (folder / "mine_here.py").write_text("value = 3")
    (folder / "json.py").write_text("raise SystemError('shadows the standard library')")
    assert load_attribute("mine_here:value", "reward") == 3
    assert sys.path[-1] == str(folder)
    import json

    assert load_attribute("json:loads", "reward") is json.loads


def test_a_module_of_the_current_directory_reaches_worker_processes(folder):
    """Spawned workers get the parent's sys.path, so what was loaded must be on it."""
    (folder / "picklable_here.py").write_text("def reward(s, a, t): return s")
    code = (
        "import concurrent.futures as f, multiprocessing as m\n"
        "from dard.core.attribute import load_attribute\n"
        "if __name__ == '__main__':\n"
        "    reward = load_attribute('picklable_here:reward', 'reward')\n"
        "    with f.ProcessPoolExecutor(1, m.get_context('spawn')) as pool:\n"
        "        print(pool.submit(reward, 7, 0, 0).result())\n"
    )
    elsewhere = folder / "scripts"
    elsewhere.mkdir()
    (elsewhere / "main.py").write_text(code)
    command = [sys.executable, str(elsewhere / "main.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.stdout == "7\n", done.stderr


def test_files_of_one_name_do_not_collide(folder):
    for name in "ab":
        (folder / name).mkdir()
        (folder / name / "reward.py").write_text(f"value = {name!r}")
    assert load_attribute("a/reward.py:value", "reward") == "a"
    assert load_attribute(f"{folder}/b/reward.py:value", "reward") == "b"


def test_a_file_runs_once_until_it_changes(folder):
    file = folder / "counted.py"
    file.write_text("value = object()")
    first = load_attribute("counted.py:value", "reward")
    assert load_attribute("counted.py:value", "reward") is first
    file.write_text("value = 'changed'")
    assert load_attribute("counted.py:value", "reward") == "changed"


def test_a_file_may_import_its_neighbours_and_define_dataclasses(folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "neighbour_of_it.py").write_text("value = 5")
    (folder / "sub" / "needs it.py").write_text(
        "from __future__ import annotations\n"
        "import dataclasses, typing, neighbour_of_it\n"
        "@dataclasses.dataclass\nclass C:\n    x: typing.ClassVar[int] = neighbour_of_it.value\n"
    )
    assert load_attribute("sub/needs it.py:C", "reward").x == 5


@pytest.mark.parametrize("source", ["", "module", "module:", ":attribute", ":"])
def test_a_source_without_both_parts(source):
    assert "expected 'module:attribute'" in error_of(source)


def test_no_such_module(folder):
    assert "there is no module 'nowhere_to_be_found'" in error_of("nowhere_to_be_found:reward")
    assert str(folder) in error_of("nowhere_to_be_found.inside:reward")
    assert "there is no module 'json.nothing'" in error_of("json.nothing:reward")


def test_no_such_file():
    assert "there is no file ./nowhere/reward.py" in error_of("./nowhere/reward.py:reward")


def test_no_such_attribute_suggests_one():
    assert "did you mean" in error_of("json:load_s")
    assert "loads" in error_of("json:load_s")
    assert "'loads' has no attribute 'nothing'" in error_of("json:loads.nothing")


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("\n1 / 0", "ZeroDivisionError: division by zero (broken_on_import.py, line 2)"),
        ("import not_installed_at_all", "'not_installed_at_all' (broken_on_import.py, line 1)"),
        ("def f(:", "SyntaxError: invalid syntax (broken_on_import.py, line 1)"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise ValueError('two\\nlines')", "ValueError: two lines"),
        ("open('not there')", "FileNotFoundError"),
    ],
)
@pytest.mark.parametrize("location", ["broken_on_import", "broken_on_import.py"])
def test_an_error_while_importing_shows_its_cause(folder, code, cause, location):
    (folder / "broken_on_import.py").write_text(code)
    message = error_of(f"{location}:reward")
    assert f"importing {location} failed" in message
    assert cause in message
    assert not any(name.startswith("broken_on_import") for name in sys.modules)
