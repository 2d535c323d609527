"""What the library itself costs: planning, drawing, gathering rows, moments.

Free rewards: a reward that returns a view of one column costs nothing, so the time of a distance
is the library's own. It is divided by the number of queries and of rewards. States have 26
dimensions in float32; DARD's transition model returns the states that it is given, at no cost.

Share: the time of a distance with [256, 256] tanh nets less that of a bare forward pass of the same
number of rows (same batch size, dtype and threads, batches made beforehand, runs interleaved),
over the bare time. The transition model is the free one again: a user's model is not overhead.
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
    """Transitions for each plan, batch of full EPIC, hidden units, repetitions."""

    paired: int
    full: int
    samples: int
    hidden: int
    repetitions: int


SETTINGS: dict[Scale, Setting] = {
    "tiny": Setting(400, 20, 64, 16, 1),
    "small": Setting(20_000, 400, 2_048, 256, 3),
    "full": Setting(100_000, 2_000, 32_768, 256, 5),
}
NANOSECONDS, SHARE = 50.0, 15.0


def run(scale: Scale, seed: int) -> list[Row]:
    """Measure."""
    setting = SETTINGS[scale]
    data = bouncing.transitions(-(-setting.paired // bouncing.EPISODE), seed)[: setting.paired]
    return [*_free(setting, data), *_shares(setting, data)]


def stay(state: Any, action: Any, rng: Any) -> Any:
    """Return the state itself: a transition model that costs nothing."""
    return state


def first_column(state: Any, action: Any, next_state: Any) -> Any:
    """Return a view: a reward that costs nothing."""
    return next_state[:, 0]


def _metrics(setting: Setting, data: dard.Transitions) -> dict[str, tuple[Any, dard.Transitions]]:
    few, actions = data[: setting.full], bouncing.ACTIONS
    # Full EPIC asks batch times transitions; so many fewer make the same number of queries.
    fewer = data[: max(setting.full * 4225 // (2 * setting.samples), 8)]
    return {
        "DARD paired": (dard.DARD(stay, actions), data),
        "DARD full": (dard.DARD(stay, actions, estimator="full"), few),
        "EPIC paired": (dard.EPIC(), data),
        "EPIC full": (dard.EPIC(estimator="full", samples=setting.samples), fewer),
    }


def _free(setting: Setting, data: dard.Transitions) -> list[Row]:
    rows = []
    for name, (metric, part) in _metrics(setting, data).items():
        for count in (1, 2):
            task = measure([first_column] * count, part, metric)
            evaluations = task() * count
            seconds = interleaved(setting.repetitions, task=task)["task"]
            what = f"{name}, {count} free reward{'s' * (count > 1)}"
            rows.append(row(what, 1e9 * seconds / evaluations, "ns per query", NANOSECONDS))
    return rows


def _shares(setting: Setting, data: dard.Transitions) -> list[Row]:
    rows = []
    metrics = _metrics(setting, data)
    tile = TILE_ROWS["host"]
    for backend, (nets, placement) in backends(setting.hidden).items():
        for name in ("DARD paired", "EPIC paired"):
            metric, part = metrics[name]
            distance = measure(nets, part, metric)
            queries = distance()
            bare = bare_pass(nets, part, queries, tile, placement=placement)
            seconds = interleaved(setting.repetitions, bare=bare, distance=distance)
            share = 100 * (seconds["distance"] - seconds["bare"]) / seconds["bare"]
            what = f"{name}, two [{setting.hidden}, {setting.hidden}] nets, {backend}"
            rows.append(row(what, share, "% of the nets' time", SHARE))
    return rows


def backends(hidden: int) -> dict[str, tuple[list[Any], Placement]]:
    """Return two random nets in ONNX Runtime, JAX (compiled) and NumPy, with their placement."""
    import jax

    nets = [bouncing.random_net(hidden, seed) for seed in (1, 2)]
    widths = (bouncing.WIDTH, 2, bouncing.WIDTH)
    return {
        "ONNX Runtime": (
            [bouncing.in_onnx_runtime(net, widths) for net in nets],
            Placement("numpy"),
        ),
        "JAX": ([jax.jit(net) for net in nets], Placement("jax")),
        "NumPy": (nets, Placement("numpy")),
    }
