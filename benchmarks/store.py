"""The transition store with Reacher's columns: 11 + 2 + 11 float32 numbers and an int32 episode.

Open is `load_transitions`, which maps the columns; load copies all of them into memory from there;
minibatches are `data[index]` with 2,048 random rows. All three on files that the system has just
written, so that its cache holds them: the disk is not what is measured.

Writes go to new files, in turn: `numpy.save` of each column; shards of a million transitions by
`StoreWriter`, with their checksums; both once more until the bytes are on the disk (fsync, which
`finish` and `save_transitions` do and `numpy.save` does not). A ratio compares what gives the same
promise.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from harness import Row, Scale, row

import dard
from dard.data import StoreWriter

SIZES: dict[Scale, int] = {"tiny": 20_000, "small": 400_000, "full": 4_000_000}
REPETITIONS: dict[Scale, int] = {"tiny": 2, "small": 5, "full": 9}
SHARD, MINIBATCH, MINIBATCHES, EPISODE = 1 << 20, 2_048, 500, 50
OPEN_MS, LOAD_SECONDS, WRITE_RATIO, ROWS_PER_SECOND = 10.0, 0.5, 0.8, 3e6
COLUMNS = ("state", "action", "next_state", "episode")


def run(scale: Scale, seed: int) -> list[Row]:
    """Measure."""
    data = _transitions(SIZES[scale], seed)
    size = sum(getattr(data, name).nbytes for name in COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        writes = _write(Path(folder), data, REPETITIONS[scale])
        dard.save_transitions(data, Path(folder) / "store")
        reads = _read(Path(folder) / "store", REPETITIONS[scale], seed)
    what = f"{len(data):,} transitions, {size / 1e6:.0f} MB"
    return [*reads, *_rows_of(writes, size, what)]


def _transitions(count: int, seed: int) -> dard.Transitions:
    rng = np.random.default_rng(seed)
    state, action, next_state = (
        rng.random((count, width), dtype=np.float32) for width in (11, 2, 11)
    )
    episode = (np.arange(count) // EPISODE).astype(np.int32)
    return dard.Transitions(state, action, next_state, episode=episode)


def _write(folder: Path, data: dard.Transitions, repetitions: int) -> dict[str, np.ndarray]:
    """Return the seconds of each way to write; what it wrote is removed off the clock."""
    tasks: dict[str, Callable[[Path], None]] = {
        "numpy.save": lambda target: _numpy_save(target, data, False),
        "shards": lambda target: _shards(target, data, False),
        "numpy.save and fsync": lambda target: _numpy_save(target, data, True),
        "shards and finish": lambda target: _shards(target, data, True),
    }
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repetitions):
        for name, task in tasks.items():
            start = time.perf_counter()
            task(folder / "new")
            seconds[name].append(time.perf_counter() - start)
            shutil.rmtree(folder / "new")
    return {name: np.array(values) for name, values in seconds.items()}


def _numpy_save(target: Path, data: dard.Transitions, durable: bool) -> None:
    target.mkdir()
    for name in COLUMNS:
        with (target / f"{name}.npy").open("wb") as file:
            np.save(file, getattr(data, name))
            if durable:
                file.flush()
                os.fsync(file.fileno())


def _shards(target: Path, data: dard.Transitions, durable: bool) -> None:
    origin: dict[str, Any] = {"environment": "reacher", "constants_hash": "0", "policy": "uniform"}
    writer = StoreWriter(target, **origin, seed=0, transitions=len(data))
    for start in range(0, len(data), SHARD):
        writer.append(data[start : start + SHARD])
    if durable:
        writer.finish()


def _read(store: Path, repetitions: int, seed: int) -> list[Row]:
    rng = np.random.default_rng(seed)
    dard.load_transitions(store)
    opened, loaded, rates = [], [], []
    for _ in range(repetitions):
        start = time.perf_counter()
        data = dard.load_transitions(store)
        opened.append(1e3 * (time.perf_counter() - start))
        for name in COLUMNS:
            np.array(getattr(data, name))
        loaded.append(time.perf_counter() - start)
        indices = rng.integers(0, len(data), (MINIBATCHES, MINIBATCH))
        start = time.perf_counter()
        for index in indices:
            data[index]
        rates.append(indices.size / (time.perf_counter() - start))
    return [
        row("open", opened, "ms", OPEN_MS),
        row("load into memory", loaded, "s", LOAD_SECONDS),
        _at_least(f"minibatches of {MINIBATCH:,}", np.array(rates), "rows/s", ROWS_PER_SECOND),
    ]


def _rows_of(seconds: dict[str, np.ndarray], size: int, what: str) -> list[Row]:
    rows = [row(name, size / 1e9 / values, "GB/s", note=what) for name, values in seconds.items()]
    for ours, theirs in (("shards", "numpy.save"), ("shards and finish", "numpy.save and fsync")):
        ratio = seconds[theirs] / seconds[ours]
        rows.append(_at_least(f"{ours}, as a share of {theirs}", ratio, "", WRITE_RATIO))
    return rows


def _at_least(what: str, samples: np.ndarray, unit: str, target: float) -> Row:
    low, median, high = np.quantile(samples, (0, 0.5, 1)).tolist()
    return Row(what, median, unit, target, at_least=True, low=low, high=high)
