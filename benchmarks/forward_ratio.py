"""A distance against the bare forward pass of the same rows, with nets in JAX and ONNX Runtime.

Nets [26 + 2 + 26, 256, 256, 1], tanh, float32, on all cores. The distance includes everything: the
transition model of Bouncing Balls in NumPy (its part is in the notes), drawing, gathering,
conversion to JAX, moments. The bare pass calls the same reward on the same number of rows, in
batches made beforehand of the size that the library uses. Both are run in turn, and each ratio is
of neighbours. With one reward nobody shares the cost of the plan; a distance has two.
"""

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import bouncing
from harness import Row, Scale, bare_pass, interleaved, measure, row
from overhead import backends

import dard
from dard.core.placement import Placement
from dard.metrics.plan import TILE_ROWS, Estimator


@dataclass(frozen=True)
class Setting:
    """Transitions of paired and full DARD, hidden units, repetitions of each."""

    paired: int
    full: int
    hidden: int
    paired_repetitions: int
    full_repetitions: int


SETTINGS: dict[Scale, Setting] = {
    "tiny": Setting(400, 20, 16, 1, 1),
    "small": Setting(20_000, 2_000, 256, 3, 1),
    "full": Setting(100_000, 20_000, 256, 5, 1),
}
PAIRED, FULL = 1.3, 1.15


def run(scale: Scale, seed: int) -> list[Row]:
    """Measure."""
    setting = SETTINGS[scale]
    data = bouncing.transitions(-(-setting.paired // bouncing.EPISODE), seed)[: setting.paired]
    rows = []
    for backend, (nets, placement) in backends(setting.hidden).items():
        if backend == "NumPy":
            continue
        for count in (1, 2):
            rewards = Rewards(backend, nets[:count], placement)
            rows.append(_ratio(rewards, data, "paired", PAIRED, setting.paired_repetitions))
        rewards, few = Rewards(backend, nets[:1], placement), data[: setting.full]
        rows.append(_ratio(rewards, few, "full", FULL, setting.full_repetitions))
    return rows


class Rewards(NamedTuple):
    """Rewards, what runs them, and where they want their inputs."""

    backend: str
    functions: list[Any]
    placement: Placement


def _ratio(
    rewards: Rewards, data: dard.Transitions, estimator: Estimator, target: float, repetitions: int
) -> Row:
    model, count = Stopwatch(bouncing.transition_model), len(rewards.functions)
    metric = dard.DARD(model, bouncing.ACTIONS, estimator=estimator)
    plan = metric.plan(data, 0)
    # A first and a last block, so that JAX compiles every shape beforehand.
    warm = plan.block_size + len(data) % plan.block_size
    measure(rewards.functions, data[:warm], metric)()
    distance = measure(rewards.functions, data, metric)
    bare = bare_pass(
        rewards.functions, data, plan.queries, TILE_ROWS["host"], placement=rewards.placement
    )
    model.seconds = 0.0
    seconds = interleaved(repetitions, bare=bare, distance=distance)
    part = 100 * model.seconds / seconds["distance"].sum()
    rate = plan.queries * count / float(seconds["bare"].min()) / 1e6
    return row(
        f"DARD {estimator}, {len(data):,} transitions, {rewards.backend}, "
        f"{count} reward{'s' * (count > 1)}",
        seconds["distance"] / seconds["bare"],
        "times the bare pass",
        target,
        note=f"transition model {part:.1f} % of it; nets {rate:.2f} M rows/s",
    )


class Stopwatch:
    """A transition model that adds up its own time."""

    def __init__(self, model: Any) -> None:
        self.model, self.seconds = model, 0.0

    def __call__(self, state: Any, action: Any, rng: Any) -> Any:
        """Return what the model returns."""
        start = time.perf_counter()
        result = self.model(state, action, rng)
        self.seconds += time.perf_counter() - start
        return result
