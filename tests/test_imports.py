"""`import dard` is light, and the light install is enough to compare rewards."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "dard"
HEAVY = [
    "dask",
    "distributed",
    "gymnasium",
    "h5py",
    "hypothesis",
    "jax",
    "matplotlib",
    "minari",
    "mujoco",
    "onnx",
    "onnxruntime",
    "optax",
    "pandas",
    "pyarrow",
    "pytest",
    "safetensors",
    "scipy",
    "torch",
]
START_UP = ["click", "rich", "typer"]

LOADED = "print(*sorted(set(sys.modules) & set({names!r})))"

REFUSE = """
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refuse())
"""

DISTANCES = """
import numpy as np
import dard

rng = np.random.default_rng(0)
state, action = rng.normal(size=(400, 2)), rng.uniform(-1, 1, (400, 1))
data = dard.Transitions(state, action, state + action, episode=np.arange(400) // 20)
metrics = [
    dard.Pearson(),
    dard.EPIC(discount=0.9),
    dard.DARD(lambda s, a, rng: s + a, dard.action_grid([-1], [1], 5), discount=0.9),
]
goal = lambda s, a, t: -np.abs(t).sum(axis=-1)
effort = lambda s, a, t: goal(s, a, t) - np.square(a).sum(axis=-1)
for metric in metrics:
    print(dard.distance(goal, effort, data, metric).value)
"""


def python(script: str) -> list[str]:
    command = [sys.executable, "-W", "error", "-c", f"import sys\n{script}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_importing_dard_loads_nothing_heavy() -> None:
    loaded = LOADED.format(names=[*HEAVY, *START_UP])
    assert python(f"import dard\n{loaded}") == []
    assert python(f"import dard, rich\n{loaded}") == ["rich"]


def test_the_light_install_compares_rewards() -> None:
    values = [float(word) for word in python(REFUSE.format(names=HEAVY) + DISTANCES)]
    assert len(values) == 3
    assert all(0 < value < 1 for value in values)


@pytest.mark.parametrize("name", ["torch", "matplotlib.pyplot"])
def test_the_refused_packages_are_really_out_of_reach(name: str) -> None:
    attempt = f"try:\n    import {name}\nexcept ModuleNotFoundError:\n    print('refused')"
    assert python(REFUSE.format(names=HEAVY) + attempt) == ["refused"]


def imports(node: ast.AST, in_function: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield (module, whether it is imported in a function), without those for type checkers."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    if isinstance(node, ast.Import):
        yield from ((alias.name, in_function) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield "." * node.level + (node.module or ""), in_function
    in_function |= isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    for child in ast.iter_child_nodes(node):
        yield from imports(child, in_function)


# A subclass needs its base at the top of the file; nothing imports these files at start-up.
SUBCLASSES = {"envs/gymnasium.py": {"gymnasium", "gymnasium.vector"}}


def misplaced(source: str, room: str) -> list[str]:
    """Return the imports that belong elsewhere.

    At the top of a file: the standard library, the light dependencies, and our own. In a
    function: third-party packages only; the command line may delay our own.
    """
    light = {"dard", "numpy", "array_api_compat"} | ({"typer", "rich"} if room == "cli" else set())
    wrong: list[str] = []
    for module, in_function in imports(ast.parse(source)):
        package = module.partition(".")[0]
        if in_function:
            fits = room == "cli" or package not in {"dard", ""}
        else:
            fits = package in light or package in sys.stdlib_module_names
        if not fits:
            wrong.append(module)
    return wrong


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: path.name)
def test_imports_are_in_their_place(path: Path) -> None:
    place = path.relative_to(SOURCE)
    wrong = misplaced(path.read_text(), place.parts[0])
    assert set(wrong) <= SUBCLASSES.get(place.as_posix(), set())


@pytest.mark.parametrize(
    "source",
    [
        "import torch",
        "from . import core",
        "import rich",
        "class A:\n    import jax.numpy",
        "def f():\n    from dard import core",
    ],
)
def test_a_misplaced_import_would_be_found(source: str) -> None:
    assert len(misplaced(source, "metrics")) == 1
    assert misplaced(f"if TYPE_CHECKING:\n    import torch\n\n{source}", "metrics") != []
