"""Memory of a distance on memory-mapped data: DARD, paired, two free rewards.

Transitions of 8 + 2 + 8 float32 numbers with episode ids, saved as a store and loaded as memory
maps in a fresh process. Measured there: the most anonymous memory (what the process itself
allocated; pages of mapped files are the system's to drop) during the distance, above that just
before it. A thread reads it from /proc/self/status every 5 ms, so this needs Linux.

Constant memory means that ten times the data takes no more: the ratio is allowed a quarter.
"""

import json
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from harness import Row, Scale

import dard

SIZES: dict[Scale, tuple[int, int]] = {
    "tiny": (2_000, 20_000),
    "small": (100_000, 1_000_000),
    "full": (1_000_000, 10_000_000),
}
MEBIBYTES, GROWTH = 1024.0, 1.25
STATUS = Path("/proc/self/status")


def run(scale: Scale, seed: int) -> list[Row]:
    """Measure."""
    if not STATUS.exists():
        print("  memory: needs Linux's /proc; measured nothing")
        return []
    peaks = {}
    for transitions in SIZES[scale]:
        with tempfile.TemporaryDirectory() as folder:
            store = str(Path(folder) / "store")
            _in_a_process("write", store, str(transitions), str(seed))
            peaks[transitions] = json.loads(_in_a_process("measure", store))
    few, many = peaks
    return [
        *(
            Row(f"DARD paired, {n:,} transitions, 2 rewards", peak, "MiB", MEBIBYTES)
            for n, peak in peaks.items()
        ),
        Row(f"{many:,} transitions against {few:,}", peaks[many] / peaks[few], "times", GROWTH),
    ]


def write(store: str, transitions: str, seed: str) -> None:
    """Save random transitions."""
    n, rng = int(transitions), np.random.default_rng(int(seed))
    state, next_state = (rng.random((n, 8), np.float32) for _ in range(2))
    data = dard.Transitions(state, rng.random((n, 2), np.float32), next_state, np.arange(n) // 400)
    dard.save_transitions(data, store)


def measure(store: str) -> None:
    """Print the most memory that a distance takes above what was there before, in MiB."""
    warnings.simplefilter("ignore", dard.DardWarning)
    metric = dard.DARD(lambda s, a, rng: s, dard.action_grid([-1, -1], [1, 1], 8))
    data = dard.load_transitions(store)
    dard.distance(_first, _last, data[:1_000], metric)
    before, peak, done = _anonymous(), 0.0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.005):
            peak = max(peak, _anonymous())

    watcher = threading.Thread(target=watch)
    watcher.start()
    dard.distance(_first, _last, data, metric)
    done.set()
    watcher.join()
    print(max(peak, _anonymous()) - before)


def _first(state: Any, action: Any, next_state: Any) -> Any:
    return next_state[:, 0]


def _last(state: Any, action: Any, next_state: Any) -> Any:
    return next_state[:, -1]


def _anonymous() -> float:
    """Return this process's anonymous memory in MiB."""
    line = next(x for x in STATUS.read_text().splitlines() if x.startswith("RssAnon"))
    return int(line.split()[1]) / 1024


def _in_a_process(*arguments: str) -> str:
    command = [sys.executable, __file__, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    {"write": write, "measure": measure}[sys.argv[1]](*sys.argv[2:])
