"""Canonical rewards of every transition, for looking at them rather than comparing."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dard.core.callables import bind_reward, evaluation_mode
from dard.core.errors import DataError
from dard.core.transitions import Transitions
from dard.metrics.evaluate import evaluate
from dard.metrics.plan import Metric, models_of

Floats = NDArray[np.float64]


def canonical_rewards(
    metric: Metric, reward: Callable[..., Any], data: Transitions, seed: int
) -> Floats:
    """Return the canonical reward of each transition, float64, shape (n,).

    Of paired plans it is the mean of both replicates. Constants that distances do not need are
    included.
    """
    if len(data) == 0:
        raise DataError("data has no transitions")
    with evaluation_mode([reward, *models_of(metric)]):
        bound = bind_reward("reward", reward, data)
        plan = metric.plan(data, seed)
        canonical = np.empty(len(data))
        for number in range(plan.blocks):
            block = plan.block(number, whole=True)
            values = evaluate(block, [bound], plan.replicates)
            canonical[block.index] = values.canonical[:, :, 0].mean(axis=0)
        constant = plan.offset()
        if constant is not None:
            canonical += evaluate(constant, [bound], 1).canonical[0, 0, 0]
    return canonical
