"""The project itself: sizes of files, what may be committed, dependencies, documentation."""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import dard
import dard.data
import dard.dynamics
import dard.envs
import dard.rewards
import dard.tabular
import dard.testing
from dard.core import errors

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

# Spelled in two parts, so that this file does not find itself.
PRIVATE = [
    re.escape(first + second)
    for first, second in [
        ("pypi", ".org"),
        ("python", "hosted"),
        ("registry.", "npmjs"),
        ("download.", "pytorch"),
        ("/work", "/main"),
        ("/work", "/shared"),
        ("/ro", "ot/"),
        ("DESIGN", ".md"),
        ("reference", "/metrics.md"),
        ("reference", "/experiments.md"),
    ]
] + [r"(?<![\w-])shared" + "/"]


def committed_texts() -> Iterator[tuple[str, str]]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(None, listing.split("\0")):
        path = ROOT / name
        if path.is_file():
            yield name, path.read_bytes().decode("utf-8", errors="replace")


def private_parts(text: str) -> list[str]:
    return [found.group() for pattern in PRIVATE if (found := re.search(pattern, text))]


def test_committed_files_name_no_private_place() -> None:
    texts = dict(committed_texts())
    assert "pyproject.toml" in texts
    found = {name: parts for name, text in texts.items() if (parts := private_parts(text))}
    assert not found


@pytest.mark.parametrize("part", ["see shared" + "/paper", "cd /work" + "/main", "pypi" + ".org"])
def test_a_private_place_would_be_found(part: str) -> None:
    assert private_parts(f"some text, {part}, more text")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_are_short(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 500
    functions = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert not [f.name for f in functions if code_lines(f) > 60]


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of a function; the docstring may take as many as it needs."""
    docstring = function.body[0] if ast.get_docstring(function) else None
    prose = (docstring.end_lineno or 0) - docstring.lineno + 1 if docstring else 0
    return (function.end_lineno or 0) - function.lineno + 1 - prose


def test_every_room_has_tests() -> None:
    rooms = {path.parent.name for path in SOURCES if path.name == "__init__.py"} - {"dard"}
    tested = {path.parent.name for path in (ROOT / "tests").rglob("test_*.py")}
    assert rooms
    assert rooms <= tested


def test_the_installed_version_is_the_one_in_the_source() -> None:
    assert metadata.version("dard") == dard.__version__


def test_every_direct_dependency_is_pinned_within_its_range() -> None:
    pins = {}
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, version = line.partition("==")
            pins[canonicalize_name(name)] = Version(version)
    listed = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    for requirement in (Requirement(text) for group in listed for text in group):
        if requirement.name != "dard":
            assert pins[canonicalize_name(requirement.name)] in requirement.specifier


def test_errors_name_extras_that_exist() -> None:
    named = {extra for path in SOURCES for extra in extras_named_in(path.read_text())}
    assert named <= PROJECT["optional-dependencies"].keys()


def test_an_extra_that_an_error_names_is_seen() -> None:
    assert extras_named_in("raise MissingExtraError('jax', 'learn', 'training')") == {"learn"}


def extras_named_in(source: str) -> set[str]:
    return {
        node.args[1].value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "MissingExtraError"
        and isinstance(node.args[1], ast.Constant)
        and isinstance(node.args[1].value, str)
    }


def test_the_reference_lists_every_public_name() -> None:
    listed = set(re.findall(r"^   (\w+)$", (ROOT / "docs/api.md").read_text(), re.MULTILINE))
    public = {*dard.__all__} - {"__version__", "tabular", "testing"}
    public |= {*dard.tabular.__all__, *dard.testing.__all__}
    public |= {*dard.data.__all__, *dard.rewards.__all__}
    public |= {*dard.dynamics.__all__, "DardEnv", "DardVectorEnv"}
    public |= {name for name in dard.envs.__all__ if isinstance(getattr(dard.envs, name), type)}
    public |= {name for name in vars(errors) if name.endswith(("Error", "Warning"))}
    assert public == listed


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ESCAPES = re.compile(r"^\s*[`~:]{3,}\s*(py|py3|pycon|python3|ipython3?|Python)\b", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_python_blocks_are_marked_so_that_they_run(page: Path) -> None:
    assert not ESCAPES.search(page.read_text())


def test_a_block_that_would_not_run_is_seen() -> None:
    assert ESCAPES.search("text\n```pycon\n>>> 1\n```")
    assert not ESCAPES.search("text\n```python\n1\n```")


def test_public_names_are_documented() -> None:
    assert dard.__all__
    bare = [name for name in dard.__all__ if not (getattr(dard, name).__doc__ or "").strip()]
    assert set(bare) <= {"__version__"}
