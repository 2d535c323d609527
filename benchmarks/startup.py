"""What a user waits for, and what an install brings.

`import dard` is timed inside fresh interpreters, `dard --help` as whole processes, in turn. The
install is `pip install` of this repository without extras in a new virtual environment: the size
of its site-packages, compiled files included, without pip itself.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from harness import Row, Scale, row

ROOT = Path(__file__).parents[1]
REPETITIONS: dict[Scale, int] = {"tiny": 1, "small": 5, "full": 21}
IMPORT_SECONDS, HELP_SECONDS, INSTALL_MEGABYTES = 0.25, 0.4, 120.0


def run(scale: Scale, seed: int) -> list[Row]:
    """Measure; at tiny scale without the install, which needs a package index."""
    tasks: dict[str, Callable[[], float]] = {
        "import dard": lambda: _import_seconds("dard"),
        "import numpy, which is part of it": lambda: _import_seconds("numpy"),
        "dard --help": _help_seconds,
    }
    targets = (IMPORT_SECONDS, None, HELP_SECONDS)
    seconds: dict[str, list[float]] = {what: [] for what in tasks}
    for _ in range(REPETITIONS[scale]):
        for what, task in tasks.items():
            seconds[what].append(task())
    rows = [
        row(what, seconds[what], "s", target) for what, target in zip(tasks, targets, strict=True)
    ]
    if scale != "tiny":
        size, packages = _install()
        rows.append(Row("light install", size, "MB", INSTALL_MEGABYTES, note=packages))
    return rows


def _import_seconds(module: str) -> float:
    code = (
        "import time; start = time.perf_counter(); "
        f"import {module}; print(time.perf_counter() - start)"
    )
    return float(_output(sys.executable, "-c", code))


def _help_seconds() -> float:
    start = time.perf_counter()
    _output(sys.executable, "-c", "from dard.cli import main; main()", "--help")
    return time.perf_counter() - start


def _install() -> tuple[float, str]:
    """Return the megabytes of an install in a new environment, and its largest packages."""
    with tempfile.TemporaryDirectory() as folder:
        _output(sys.executable, "-m", "venv", folder)
        python = str(next(Path(folder).glob("[bS]*/python*")))
        _output(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(ROOT))
        purelib = "import sysconfig; print(sysconfig.get_path('purelib'))"
        packages = Path(_output(python, "-c", purelib).strip())
        sizes = {
            entry.name: sum(file.stat().st_size for file in entry.rglob("*") if file.is_file())
            for entry in packages.iterdir()
            if entry.is_dir() and not entry.name.startswith(("pip", "setuptools"))
        }
    largest = sorted(sizes, key=lambda name: -sizes[name])[:4]
    note = ", ".join(f"{name} {sizes[name] / 1e6:.1f}" for name in largest)
    return sum(sizes.values()) / 1e6, note


def _output(*command: str) -> str:
    """Return what a command prints; what it says when it fails goes into the error."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:4])} failed: {done.stderr.strip()[-2000:]}")
    return done.stdout
