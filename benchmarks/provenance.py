"""Where a number comes from: the code, the machine and the libraries, without naming the host."""

import datetime as dt
import importlib.metadata
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

LIBRARIES = ("numpy", "array-api-compat", "jax", "onnxruntime", "torch")


def provenance(root: Path, command: str) -> dict[str, Any]:
    """Return what has to be known to judge and repeat a measurement."""
    changes = _git(root, "status", "--porcelain")
    return {
        "command": command,
        "commit": _git(root, "rev-parse", "HEAD"),
        "dirty": None if changes is None else bool(changes),
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count(),
        "gpu": _gpu_model(),
        "python": platform.python_version(),
        "libraries": {name: version for name in LIBRARIES if (version := _version(name))},
    }


def _git(root: Path, *arguments: str) -> str | None:
    """Return what git says, or None where there is no git or no repository."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _cpu_model() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _gpu_model() -> str | None:
    torch: Any = sys.modules.get("torch")
    return torch.cuda.get_device_name() if torch and torch.cuda.is_available() else None


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
