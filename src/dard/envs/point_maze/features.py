"""What reward models see."""

from typing import Any

from dard.core import arrays

FEATURE_SIZE = 14


def features(state: Any, action: Any, next_state: Any) -> Any:
    """Return state, action and next state side by side, shape (n, 14), as EPIC's models do."""
    return arrays.namespace(state, action, next_state).concat([state, action, next_state], axis=-1)
