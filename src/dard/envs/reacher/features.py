"""What a reward model sees of Reacher."""

from typing import Any

from dard.core import arrays

FEATURE_SIZE = 24


def features(state: Any, action: Any, next_state: Any) -> Any:
    """Return state, action and next state side by side, as they are: the paper's choice.

    Six of the columns never vary; whoever standardises them has to guard the division.
    """
    return arrays.namespace(state, action, next_state).concat([state, action, next_state], axis=-1)
