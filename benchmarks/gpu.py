"""A distance against the bare forward pass of the same rows, on a GPU with PyTorch.

Data, transition model (Bouncing Balls) and nets [26 + 2 + 26, 256, 256, 1] stay on the device, in
float32; only canonical values come back. The bare pass calls the same nets on the same
number of rows, in batches made beforehand of the size that the library uses. Both are run in turn.

It needs NumPy, PyTorch and array-api-compat only. Without a CUDA device it measures nothing.
"""

from dataclasses import dataclass
from typing import Any

import bouncing
from harness import Row, Scale, bare_pass, interleaved, measure, row

import dard
from dard.core.placement import Placement
from dard.metrics.plan import TILE_ROWS


@dataclass(frozen=True)
class Setting:
    """Transitions of two paired runs and a full one, hidden units, repetitions."""

    paired: tuple[int, int]
    full: int
    hidden: int
    repetitions: int


SETTINGS: dict[Scale, Setting] = {
    "tiny": Setting((400, 800), 20, 16, 1),
    "small": Setting((20_000, 100_000), 2_000, 256, 3),
    "full": Setting((100_000, 2_000_000), 20_000, 256, 7),
}


def run(scale: Scale, seed: int, device: str = "cuda") -> list[Row]:
    """Measure on `device`."""
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        print("  gpu: no CUDA device here; measured nothing")
        return []
    setting = SETTINGS[scale]
    episodes = -(-setting.paired[-1] // bouncing.EPISODE)
    host = bouncing.transitions(episodes, seed)
    put = Placement("torch", torch.device(device)).put
    data = dard.Transitions(*(put(x) for x in (host.state, host.action, host.next_state)))
    name = torch.cuda.get_device_name() if device == "cuda" else device
    plans = [("paired", n) for n in setting.paired] + [("full", setting.full)]
    return [
        _ratio(setting, data[:n], estimator, count, name)
        for estimator, n in plans
        for count in (1, 2)
    ]


def _ratio(setting: Setting, data: dard.Transitions, estimator: Any, count: int, name: str) -> Row:
    rewards = [bouncing.random_net(setting.hidden, seed) for seed in (1, 2)[:count]]
    metric = dard.DARD(bouncing.transition_model, bouncing.ACTIONS, estimator=estimator)
    distance = measure(rewards, data, metric)
    queries = distance()
    bare = bare_pass(rewards, data, queries, TILE_ROWS["device"], wait=_last)
    bare()
    seconds = interleaved(setting.repetitions, bare=bare, distance=distance)
    rate = queries * count / float(seconds["bare"].min()) / 1e6
    return row(
        f"DARD {estimator}, {len(data):,} transitions, {count} reward{'s' * (count > 1)}",
        seconds["distance"] / seconds["bare"],
        "times the bare pass",
        note=f"{name}: {rate:,.0f} M rows/s bare",
    )


def _last(values: Any) -> float:
    """Wait for values by fetching one of them."""
    return float(values[-1])
